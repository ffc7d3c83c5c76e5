"""Other curves that start where a curve of folds or Hopf points has a point of codimension two.

| point | curves that meet there |
|---|---|
| Bogdanov–Takens | folds, Hopf points, homoclinic orbits |
| zero-Hopf | folds, Hopf points, and in some cases tori |
| double Hopf | Hopf points of both pairs, and in some cases tori |
| generalised Hopf | Hopf points, folds of cycles |

Kuznetsov, Elements of Applied Bifurcation Theory (3rd ed. 2004), Ch. 8. Cycles are followed from Hopf points beside the
special one until what starts there is met on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.curves.beside import ASIDE, FIRST, beside, mover, other_pair, other_side, through
from pfaff.bifurcation.curves.curves import Curve, CurveSpecial, hopf_of_point
from pfaff.bifurcation.curves.hopfs import Hopfs
from pfaff.bifurcation.curves.loop_starts import homoclinics
from pfaff.bifurcation.curves.singular import Folds
from pfaff.continuation.course import Course
from pfaff.continuation.kinds import Kind
from pfaff.errors import NoBifurcationError, PfaffError
from pfaff.statement.values import one_of
from pfaff.threads import part_of_a_whole

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.bifurcation.orbits.orbits import Special

BEYOND = 12.0  # farthest load at which a fold of cycles is looked for, relative to the prediction by the normal form
NEAR = 0.3  # distance of tori from Hopf points, relative to the range of the load by which these differ ...
REACHES = (1.0, 30.0, 1000.0)  # ... and multiples of it, for Hopf points that differ in second order only ...
WITHIN = 0.3  # ... up to this share of the range of the load
ORBITS = 80  # most orbits on which they are looked for


def switched(special: CurveSpecial, of: str, course: Course, way: int) -> Any:
    """The curve of another kind that starts at a point of codimension two; with way < 0 the other one of two."""
    ways = WAYS.get(special.kind)
    if ways is None:
        raise NoBifurcationError(f"no curve of another kind starts at a {special.kind}")
    one_of(ways, of, f"at a {special.kind} point there starts no curve of kind")
    if special.kind == Kind.BOGDANOV_TAKENS and special.coefficients["a"] == 0:
        raise NoBifurcationError(
            f"the {special.kind} point is degenerate, a = 0, as where equilibria form a line: which curves meet there "
            "its normal form does not tell"
        )
    start = ways[of] if way > 0 else OTHERS.get(special.kind, {}).get(of)
    if start is None:
        raise NoBifurcationError(f"one curve of kind {of} starts at a {special.kind} point: leave out way={way}")
    return start(special, course)


# Equilibria


def _folds(special: CurveSpecial, course: Course) -> Curve:
    problem, limits = through(special, Folds, special.spot.z, course)
    return Curve.gathered(problem, beside(problem, special.spot.z, np.sign(course.to - special.value)), course, limits)


def _hopfs(special: CurveSpecial, course: Course) -> Curve:
    """The curve of Hopf points: from a zero-Hopf point towards ``to``, from a Bogdanov–Takens point to where ω² > 0."""
    problem, limits = through(special, Hopfs, special.spot.z, course)
    first = beside(problem, special.spot.z, np.sign(course.to - special.value))
    if not first.facts.square > 0:
        raise other_side(special, "Hopf points", course)
    return Curve.gathered(problem, first, course, limits)


def _other_hopfs(special: CurveSpecial, course: Course) -> Curve:
    """The curve of Hopf points of the other pair at a double Hopf point, from a little way ahead, where it is alone on
    the axis."""
    problem, limits = through(special, Hopfs, special.spot.z, course)
    ahead = np.sign(course.to - special.value)
    starts = [other_pair(special, problem, way * FIRST) for way in (1.0, -1.0)]
    z = max(starts, key=lambda each: ahead * each[-1])
    problem = problem.with_borders(z)
    first = problem.start(problem.solved(z, (z - special.spot.z) / problem.units(z) ** 2), ahead)
    away = first.tangent / first.units @ ((z - special.spot.z) / first.units) >= 0
    return Curve.gathered(problem, first if away else replace(first, tangent=-first.tangent), course, limits)


# Cycles


def _folds_of_cycles(special: CurveSpecial, course: Course) -> Any:
    """The curve of folds of cycles: where l1 l2 < 0, the branch born at a Hopf point turns at r² = −Re c1/(2 Re c2)."""

    @part_of_a_whole()
    def seen(hopf: Hopf) -> Special | None:
        if hopf.l1 * special.coefficients["l2"] >= 0:
            return None
        moved = hopf.c1.real**2 / (4 * hopf.c2.real * hopf.crossing.real)
        branch = hopf.orbits(to=hopf.value + BEYOND * moved, points=ORBITS)
        return next(iter(branch.of_kind(Kind.FOLD)), None)

    return _from_cycles(special, "folds of cycles", course, seen)


def _tori(special: CurveSpecial, course: Course, other: bool = False) -> Any:
    """The curve of tori, on cycles born beside the point, of either pair, and on either side of their Hopf point."""
    span = abs(course.to - special.value)

    @part_of_a_whole()
    def seen(hopf: Hopf) -> Special | None:
        by_second, by_first = hopf.crossing_by(special.equations.free[-1]).real, hopf.crossing.real
        near = NEAR * span * abs(by_second / by_first) or span
        farthest = max(near, WITHIN * float(special.equations.sizes[special.equations.free.index(hopf.load) - 2]))
        side = 1.0 if hopf.born_above else -1.0
        for reach in (near * times for times in REACHES if near * times <= farthest):
            branch = hopf.orbits(to=hopf.value + side * reach, points=ORBITS)
            if branch.of_kind(Kind.TORUS):
                return branch.of_kind(Kind.TORUS)[0]
        return None

    return _from_cycles(special, "tori", course, seen, other)


def _from_cycles(
    special: CurveSpecial, what: str, course: Course, seen: Callable[[Hopf], Special | None], other: bool = False
) -> Any:
    """The curve of special orbits through the first one seen on cycles beside a point or, if ``other``, on cycles of
    another pair than the first."""
    name = special.equations.free[-1]
    course.limits(special.case.system, name, special.value)
    ahead, elsewhere, first = course.to - special.value, False, None
    for pair, hopf in _hopfs_beside(special, course):
        if pair == first:
            continue
        with suppress(PfaffError, np.linalg.LinAlgError):
            found = seen(hopf)
            if found is None:
                continue
            value = float(found.case.numbers[found.case.system.parameter_names.index(name)])
            if not (value - special.value) * ahead > 0:
                elsewhere = True
            elif other and first is None:
                first = pair
            else:
                found, size = _placed_by(found, special.equations.free[0]), float(special.equations.sizes[-2])
                natural = found.natural  # infinite for cycles that the first parameter does not change
                return doors.cycle_curves.curve_of_orbits(found, name, course, natural if isfinite(natural) else size)
    if elsewhere:
        raise other_side(special, what, course)
    more = "no" if first is None else "no other"
    raise NoBifurcationError(
        f"{more} {what} were met on the cycles beside the {special.kind} point, on either side of it"
    )


def _placed_by(found: Special, load: str) -> Special:
    """The special orbit on the branch along a parameter, if it was met along the other one."""
    if found.load == load:
        return found
    value = doors.orbit_switching.value_of(found.case, load)
    same = doors.orbit_switching.reparametrised(found, load, value + (abs(value) or 1.0))
    return doors.orbits.Special(same.problem, same.point, found.kind, found.note)


def _hopfs_beside(special: CurveSpecial, course: Course) -> Iterator[tuple[str, Hopf]]:
    """Hopf points on the curves through the point, near ones first, on both sides, each with its pair and the parameter
    that moves it: at a double Hopf point, the first one may move only one of both."""
    problem, _ = through(special, Hopfs, special.spot.z, course)
    s = problem.equations
    pairs = [pair for pair in ("omega", "omega2") if "omega2" in special.coefficients]
    by = {pair: mover(special, s, pair) for pair in pairs} or {"omega": 0}
    for share in ASIDE:
        for way in (1.0, -1.0):
            with suppress(PfaffError, np.linalg.LinAlgError):
                spot = beside(problem, special.spot.z, way, share)
                if spot.facts.square > 0:
                    yield "omega", hopf_of_point(s, spot.z, float(np.sqrt(spot.facts.square)), by["omega"])
            if "omega2" in by:
                with suppress(PfaffError, np.linalg.LinAlgError):
                    z = other_pair(special, problem, way * share)
                    yield "omega2", hopf_of_point(s, z, special.coefficients["omega2"], by["omega2"])


WAYS: dict[str, dict[str, Callable[[CurveSpecial, Course], Any]]] = {
    Kind.BOGDANOV_TAKENS: {"hopf": _hopfs, "fold": _folds, "homoclinic": homoclinics},
    Kind.ZERO_HOPF: {"hopf": _hopfs, "fold": _folds, "torus": _tori},
    Kind.DOUBLE_HOPF: {"hopf": _other_hopfs, "torus": _tori},
    Kind.GENERALISED_HOPF: {"fold of cycles": _folds_of_cycles},
}
OTHERS: dict[str, dict[str, Callable[[CurveSpecial, Course], Any]]] = {
    Kind.DOUBLE_HOPF: {"torus": partial(_tori, other=True)},
}
