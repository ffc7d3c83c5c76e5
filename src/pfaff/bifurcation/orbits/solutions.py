"""An orbit as Newton's method gives it, and the conditions that select one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.algebra.tolerances import CORRECTIONS
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.kernels.orbit_steps import GROWS, SINGULAR

NOT_FINITE = "the equations are singular or not finite on the orbit"


class Pins(NamedTuple):
    """Linear conditions that select one solution: the phase, members of families, and a place on the branch.

    The last is ⟨row, ·⟩ = right: orthogonality to a tangent, or a value of the parameter.
    """

    rows: np.ndarray
    scalars: np.ndarray
    right: np.ndarray


class Solution(NamedTuple):
    """A corrected orbit with its tangent (not normalised yet), its transition matrices, and data of Newton's method.

    ``rates`` are f at the mesh points, a column each, and then at their mirror images if half a period is known.
    """

    cycle: Cycle
    tangent: Cycle
    G: np.ndarray
    rates: np.ndarray
    determinant: float
    residual: float
    steps: int
    margin: float  # of the chart: the least coefficient by which a velocity is solved for, relative to the largest
    levels: np.ndarray | None = None  # gradients of conserved quantities, on families


def unsolved(how: int, size: float) -> str:
    """Why Newton's method finds no orbit, in words."""
    if how == SINGULAR:
        return NOT_FINITE
    if how == GROWS:
        return f"Newton's method does not converge: its steps grow to {size:.1e} of the orbit"
    return f"Newton's method did not converge in {CORRECTIONS} steps"
