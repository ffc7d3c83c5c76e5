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


def in_natural_unit(s: RestEquations, z: np.ndarray) -> RestEquations:
    """The problem with its last parameter measured by no more than its natural change: the one that changes the
    Jacobian as much as a change of the states by their sizes does, or moves the states far. (The Jacobian itself is no
    measure: at a fold of one state it is zero.)"""
    n, J = s.n, s.jacobian(z)[: s.n]
    ways = np.zeros((len(z), 2))
    ways[:n, 0] = s.sizes[:n] * (1 + np.arange(n) % 3) / 3
    whole, pushed = s.norm(J[:, :n]), float(np.linalg.norm(J @ np.eye(1, len(z), len(z) - 1)[0] / s.sizes[:n]))
    for _ in range(LOOKS):
        size = ways[-1, 1] = float(s.sizes[-1])
        by_states, by_last = s.bends(z, ways)
        change = min(ratio(whole + by_states, by_last) * size, FARTHER * ratio(whole + by_states, pushed))
        if not change < size:
            break
        s = s.in_units(np.append(s.sizes[:-1], change))
    return s
