"""Branch points of orbits, where Newton's method is singular, from neighbouring orbits.

Orbits at a distance d from a branch point are uncertain by rounding/d: those very near it do not tell where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.orbits.orbit_ends import at_zero
from pfaff.continuation.endings import Refused

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.chords import Chord, Point

FARTHEST, NEARER, NEAREST = 2e-3, 4.0, 2e-5  # distances of neighbours along the branch: first, ratio, least
NEIGHBOURS = np.array([-3, -2, -1, 1, 2, 3])  # places of neighbours, in units of that distance
ROOM = 12 * FARTHEST  # length of a chord that contains them
STRAIGHT = 2.0  # ratio of a function's slopes there, up to which it is nearly linear
AGREEING = 1e-9  # distance along the branch within which the roots of two polynomials agree; the second is then exact


def from_neighbours(chord: Chord, near: float, test: Callable[[Point], float]) -> Point | None:
    """The orbit near a place of a chord where a function vanishes, by polynomials through its neighbours; None if they
    do not tell."""
    apart = FARTHEST
    while apart > NEAREST:
        nodes = near + NEIGHBOURS * apart / chord.length
        values = _values(chord, nodes, test)
        if values is not None:
            cubic, quintic = at_zero(values[1:-1], nodes[1:-1]), at_zero(values, nodes)
            if abs(quintic - cubic) * chord.length < AGREEING:
                return chord.estimate(quintic)
        apart /= NEARER
    return None


def _values(chord: Chord, nodes: np.ndarray, test: Callable[[Point], float]) -> np.ndarray | None:
    """The function at neighbours, if it is nearly linear."""
    try:
        values = np.array([test(chord.point(float(node))) for node in nodes])
    except Refused:
        return None
    slopes = values / NEIGHBOURS
    straight = slopes.min() * slopes.max() > 0 and np.abs(slopes).max() < STRAIGHT * np.abs(slopes).min()
    return values if straight else None
