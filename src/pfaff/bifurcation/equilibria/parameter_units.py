"""Units of parameters: by the change that changes the equations, and by the distance from where a branch began."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.rest_equations import RestEquations

FARTHER = 1e3  # largest unit of a parameter, relative to the change that moves the states by their sizes
LOOKS = 5  # most estimates of a parameter's unit, each by a shorter step


def ratio(whole: float, part: float) -> float:
    """The ratio of two norms; infinite where either is zero."""
    return whole / part if whole > 0 and part > 0 else inf


def grow_with_distance(sizes: np.ndarray, z: np.ndarray, origins: Sequence[float]) -> None:
    """Let the units of parameters, the last ones of z, grow with their distances from origins."""
    for j, origin in enumerate(reversed(origins), start=1):
        sizes[-j] = max(sizes[-j], abs(z[-j] - origin))


def in_natural_unit(equations: RestEquations, z: np.ndarray) -> RestEquations:
    """The problem with its last parameter measured by no more than its natural change."""
    for _ in range(LOOKS):
        change = natural_change(equations, z)
        if not change < equations.sizes[-1]:
            break
        equations = equations.in_units(np.append(equations.sizes[:-1], change))
    return equations


def natural_change(equations: RestEquations, z: np.ndarray) -> float:
    """The change of the last parameter that changes the Jacobian as much as a change of the states by their sizes
    does, or moves the states far. (The Jacobian itself is no measure: at a fold of one state it is zero.)"""
    s, n, last = equations, equations.n, np.eye(1, len(z), len(z) - 1)[0]
    states = np.append(s.sizes[:n] * (1 + np.arange(n) % 3) / 3, np.zeros(len(z) - n))
    by_states, by_last = (s.norm(s.bending(z, way)[:n, :n]) for way in (states, last * s.sizes[-1]))
    whole = s.norm(s.state_jacobian(z)) + by_states
    pushed = float(np.linalg.norm(s.jacobian(z)[:n] @ last / s.sizes[:n]))
    return min(ratio(whole, by_last) * float(s.sizes[-1]), FARTHER * ratio(whole, pushed))
