"""Orbits verified: their equations between the collocation points, that they close, and the product of multipliers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.checks import Check, Checked, nearest, unmade
from pfaff.checks.multipliers import VOLUMES, volumes
from pfaff.checks.orbit_promises import closed, obeyed
from pfaff.checks.symmetries import alike
from pfaff.flow.alike import broken_along

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.chords import Point
    from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem

ABSENT = 1e-12  # amplitudes below this, relative to the largest, are rounding
TINY = float(np.finfo(float).tiny)
SOME = 6  # orbits of a branch that are verified when its status is asked for
PLACES = 8  # of an orbit at which its symmetries are verified
BETWEEN, WEIGHTS = np.polynomial.legendre.leggauss(9)  # places in an interval other than those of collocation


class Verified(Checked):
    """An orbit that verifies itself when it is first asked for its status."""

    if TYPE_CHECKING:
        problem: OrbitProblem
        point: Point

    def _verify(self) -> Iterator[Check]:
        return of_orbits([self])


def some_of(points: Sequence[Any]) -> list[Any]:
    """Orbits spread over a branch, its last one included."""
    return [points[k] for k in sorted({round(k) for k in np.linspace(0, len(points) - 1, SOME)})]


def of_orbits(points: Sequence[Any]) -> Iterator[Check]:
    """What orbits promise, by the worst of them."""
    found = [_verified(each.problem, each.point) for each in points]
    accuracy = max(each.problem.accuracy for each in points)
    yield obeyed((off for off, _ in found), accuracy)
    yield closed((open_ for _, open_ in found), accuracy)
    broken = [each for point in points for each in _broken(point)]
    if broken:
        yield alike(broken)
    yield nearest(map(_product, points))


def _broken(orbit: Any) -> list[float]:
    """How far the symmetries that were divided out are from holding along an orbit."""
    x, numbers = orbit.point.cycle.x, orbit.problem.numbers_at(orbit.value)
    return broken_along(orbit.problem.flow, x[:: max(1, len(x) // PLACES)].T.copy(), numbers)


def _verified(problem: OrbitProblem, point: Point) -> tuple[float, float]:
    """How far an orbit is from its equations integrated over intervals, and from closing, relative to its
    amplitudes."""
    c, cycle = problem.collocation, point.cycle
    size = cycle.amplitude if cycle.amplitude.any() else np.maximum(np.abs(cycle.x).max(axis=0), TINY)
    size = np.where(size > ABSENT * size.max(), size, size.max())
    x = c.interpolate(cycle, c.slopes(cycle), cycle.mesh.points((BETWEEN + 1) / 2))
    rates = c.equations.rates_of_columns(np.ascontiguousarray(x.T), cycle.value)
    rates = rates.reshape(len(size), cycle.intervals, -1)
    moved = cycle.scalars[0] * np.einsum("njk,k,j->jn", rates, WEIGHTS / 2, cycle.mesh.h)
    off = float((np.abs(np.diff(cycle.x, axis=0) - moved) / size).max())
    gap = cycle.x[-1] - cycle.signs * cycle.x[0] - (0.0 if cycle.halved else cycle.turns)
    return off, float((np.abs(gap) / size).max())


def _product(orbit: Any) -> Check:
    """The product of the multipliers, by Liouville's formula."""
    problem, cycle = orbit.problem, orbit.point.cycle
    if not orbit.resolved:
        return unmade("the multipliers are not resolved", VOLUMES)[0]
    if problem.sparse:
        return unmade("only some multipliers are known of many states", VOLUMES)[0]
    rates = problem.divergence(cycle, orbit.value) @ problem.collocation.weights(cycle)
    return volumes(orbit.multipliers, orbit.period * float(rates))
