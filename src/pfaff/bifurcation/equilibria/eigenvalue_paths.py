"""Eigenvalues along a branch of equilibria, at its points and between them, close together where two of them meet."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.tolerances import REAL, turning
from pfaff.bifurcation.equilibria.eigenvalues import side_by_side
from pfaff.continuation.dense import Spot

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch, EquilibriumPoint

BETWEEN = 6  # places in a step
HALVINGS = 30  # halvings of a stretch in which two eigenvalues meet


def eigenvalues_along(branch: EquilibriumBranch) -> tuple[np.ndarray, np.ndarray]:
    """Values of the parameter, and rows of eigenvalues there, the least stable first."""
    points = list(branch.points)
    found = [points[0].spot]
    for a, b in pairwise(points):
        found += _between(a, b)
    made = [type(points[0])(points[0].problem, spot) for spot in found]
    return np.array([each.value for each in made]), side_by_side([each.eigenvalues for each in made])


def _between(a: EquilibriumPoint, b: EquilibriumPoint) -> list[Spot]:
    """Places after a point up to the next: evenly spaced, and halved towards where two eigenvalues meet."""
    chord = b.problem.chord(a.spot, b.spot)
    spots = {0.0: a.spot, **{k / BETWEEN: chord(k / BETWEEN) for k in range(1, BETWEEN)}, 1.0: b.spot}
    for low, high in pairwise(sorted(spots)):
        if _kinds(spots[low]) == _kinds(spots[high]):
            continue
        before = _kinds(spots[low])
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            spots[middle] = chord(middle)
            low, high = (middle, high) if _kinds(spots[middle]) == before else (low, middle)
    return [spots[at] for at in sorted(spots)[1:]]


def _kinds(spot: Spot) -> tuple[int, int]:
    """Numbers of oscillating and of other eigenvalues: both change only where two meet, or one passes 0."""
    values = spot.facts.eigenvalues
    return int(turning(values).sum()), int((np.abs(values.real) > REAL * np.abs(values)).sum())
