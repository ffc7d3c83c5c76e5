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
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.curves.curves import Curve, CurveSpecial, hopf_of_point
from pfaff.bifurcation.curves.hopfs import Hopfs
from pfaff.bifurcation.curves.singular import Folds, Singular
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.hopf.extended import hopf_near
from pfaff.continuation.course import Course, Limits
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError, PfaffError
from pfaff.statement.values import one_of
from pfaff.threads import part_of_a_whole

if TYPE_CHECKING:
    from pfaff.bifurcation.connections.connections import Connection
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.bifurcation.orbits.orbits import Special

FIRST = 1e-3  # distance from the special point at which a curve of equilibria starts, in the unit of a step
ASIDE = (0.01, 0.03, 0.003, 0.1, 0.001)  # shares of the range at which cycles beside the point are looked at
LOOPS = (*ASIDE, 3e-4, 1e-4)  # shares at which homoclinic orbits are looked for: Hopf points may turn back soon
BEYOND = 12.0  # farthest load at which a fold of cycles is looked for, relative to the prediction by the normal form
PROBE = 1e-5  # step of differences, relative to the ranges of parameters
NEAR = 0.3  # distance of tori from Hopf points, relative to the range of the load by which these differ ...
REACHES = (1.0, 30.0, 1000.0)  # ... and multiples of it, for Hopf points that differ in second order only ...
WITHIN = 0.3  # ... up to this share of the range of the load
ORBITS = 80  # most orbits on which they are looked for
FARTHER = 49 / 25  # distance of the first parameter from its fold, of the homoclinic orbit relative to the Hopf point
REACH, SAMPLES = 6.0, 401  # range and samples of the normal form's homoclinic orbit
ACCURACY = 1e-9  # accuracy of homoclinic orbits


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


def _start(special: CurveSpecial, kind: type[Singular], z: np.ndarray, course: Course) -> tuple[Any, Limits]:
    """The problem of another curve through the point, in units of its own range."""
    s, name = special.equations, special.equations.free[-1]
    limits = course.limits(s.case.system, name, special.value)
    sizes = s.sizes.copy()
    sizes[-1] = limits.span
    s = s.in_units(sizes)
    return kind.at(s, z), limits


def _beside(problem: Any, z: np.ndarray, way: float, length: float = FIRST) -> Spot:
    """A point of a curve a little way from where it starts."""
    start = problem.start(z, 1.0)
    start = replace(start, tangent=start.tangent * way)
    found: Spot = problem.point(problem.corrected(problem.moved(start, length), start), start)
    return found


def _folds(special: CurveSpecial, course: Course) -> Curve:
    problem, limits = _start(special, Folds, special.spot.z, course)
    return Curve.gathered(problem, _beside(problem, special.spot.z, np.sign(course.to - special.value)), course, limits)


def _hopfs(special: CurveSpecial, course: Course) -> Curve:
    """The curve of Hopf points: from a zero-Hopf point towards ``to``, from a Bogdanov–Takens point to where ω² > 0."""
    problem, limits = _start(special, Hopfs, special.spot.z, course)
    first = _beside(problem, special.spot.z, np.sign(course.to - special.value))
    if not first.facts.square > 0:
        raise _other_side(special, "Hopf points", course)
    return Curve.gathered(problem, first, course, limits)


def _other_hopfs(special: CurveSpecial, course: Course) -> Curve:
    """The curve of Hopf points of the other pair at a double Hopf point, from a little way ahead, where it is alone on
    the axis."""
    problem, limits = _start(special, Hopfs, special.spot.z, course)
    ahead = np.sign(course.to - special.value)
    starts = [_other_pair(special, problem, way * FIRST) for way in (1.0, -1.0)]
    z = max(starts, key=lambda each: ahead * each[-1])
    problem = problem.with_borders(z)
    first = problem.start(problem.solved(z, (z - special.spot.z) / problem.units(z) ** 2), ahead)
    away = first.tangent / first.units @ ((z - special.spot.z) / first.units) >= 0
    return Curve.gathered(problem, first if away else replace(first, tangent=-first.tangent), course, limits)


def _other_pair(special: CurveSpecial, problem: Any, length: float) -> np.ndarray:
    """A Hopf point of the other pair at a double Hopf point: at another value of the parameter that moves that pair
    more."""
    s, z = problem.equations, special.spot.z.copy()
    by = _mover(special, s, "omega2")
    other = 1 - by
    z[-2 + other] += length * s.sizes[-2 + other]
    field = replace(s.field(z), load=s.free[by], parameters=s.numbers(z))
    x, value, _ = hopf_near(field, s.border(z), s.x(z), float(z[-2 + by]), 1j * special.coefficients["omega2"])
    z[: s.n], z[-2 + by] = x, value
    return z


def _mover(special: CurveSpecial, s: RestEquations, pair: str) -> int:
    """The index of the parameter that moves a pair at a double Hopf point more, in its range."""
    omega, z = special.coefficients[pair], special.spot.z
    first, second = (abs(_crossing(s, z, name, omega)) * size for name, size in zip(s.free, s.sizes[-2:], strict=True))
    return 0 if first >= second else 1


def _crossing(s: RestEquations, z: np.ndarray, name: str, omega: float) -> float:
    """d Re λ with respect to a parameter, for the eigenvalue iω along the equilibrium: by differences."""
    at = s.free.index(name) - 2
    rates = []
    for way in (1.0, -1.0):
        beside = z.copy()
        beside[at] += way * PROBE * s.sizes[at]
        numbers = s.numbers(beside)
        values = np.linalg.eigvals(s.flow.jacobian(_equilibrium(s, s.x(z), numbers), numbers))
        rates.append(values[np.abs(values - 1j * omega).argmin()].real)
    return float((rates[0] - rates[1]) / (2 * PROBE * s.sizes[at]))


def _other_side(special: CurveSpecial, what: str, course: Course) -> ParameterError:
    side = "above" if course.to < special.value else "below"
    name = special.equations.free[-1]
    return ParameterError(
        f"{what} are {side} {name} = {special.value:.8g}, and to={course.to:g} is not: give to {side} it"
    )


# Homoclinic orbits


def _homoclinics(special: CurveSpecial, course: Course) -> Any:
    """The curve of homoclinic orbits, from that of the normal form, u = 6 tanh² ζ − 4, between the saddle and the focus
    beside the point.

    At a value of the second parameter, the first one is 49/25 times as far from its fold as at its Hopf point, to
    leading order, the time is ζ/ε, and the eigenvalues of the saddle are ±2ε (Kuznetsov, Meijer, Al Hdaibat and
    Govaerts, Int. J. Bifurcation Chaos 24 (2014)).
    """
    s, why, elsewhere = special.equations, PfaffError(""), False
    course.limits(s.case.system, s.free[-1], special.value)
    for look, share in [*product((_near_normal_form,), LOOPS), *product((_near_cycles,), ASIDE)]:
        try:
            fold, hopf = _fold_and_hopf(special, share, course)
            if (hopf[-1] - special.value) * (course.to - special.value) < 0:
                elsewhere = True
                continue
            found = look(special, fold, hopf)
        except (PfaffError, np.linalg.LinAlgError) as refused:
            why = refused if isinstance(refused, PfaffError) else why
            continue
        if found.homoclinic:
            return found.curve(
                s.free[-1], course.to, step=course.step, points=course.points, bounds=course.bounds,
                progress=course.progress, events=course.events,
            )  # fmt: skip
    if elsewhere:
        raise _other_side(special, "homoclinic orbits", course)
    raise ConvergenceError(
        f"no homoclinic orbit was found near the {special.kind} point: {why}. Follow the cycles of a Hopf point beside "
        "it to their homoclinic()"
    )


def _near_normal_form(special: CurveSpecial, fold: np.ndarray, hopf: np.ndarray) -> Connection:
    from pfaff.bifurcation.connections.first_arcs import connection_near

    s, (z, t, x) = special.equations, _saddle_loop(special, fold, hopf)
    return connection_near(s.case_at(z), s.flow, s.free[0], s.free_values(z)[s.free[0]], t, x, ACCURACY)


@part_of_a_whole()
def _near_cycles(special: CurveSpecial, fold: np.ndarray, hopf: np.ndarray) -> Connection:
    """Where the normal form is too far off, as where Hopf points turn back beside it: at the end of the cycles."""
    s = special.equations
    start = hopf_of_point(s, hopf, float(np.sqrt(Hopfs.at(s, hopf).square(hopf))))
    side = 1.0 if start.born_above else -1.0
    reach = BEYOND * (FARTHER - 1) * abs(hopf[s.n + s.k] - fold[s.n + s.k])
    return start.orbits(to=start.value + side * reach).homoclinic(ACCURACY)


def _saddle_loop(
    special: CurveSpecial, fold: np.ndarray, hopf: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unknowns, times and states (a row each) of the homoclinic orbit of the normal form between a fold and a Hopf
    point beside it."""
    s, z0 = special.equations, special.spot.z
    z = fold + FARTHER * (hopf - fold)
    numbers, away = s.numbers(z), np.sqrt(FARTHER) * (hopf - fold)[: s.n]
    saddle, focus = (_equilibrium(s, fold[: s.n] - sign * away, numbers) for sign in (1.0, -1.0))
    values = np.linalg.eigvals(s.flow.jacobian(saddle, numbers))
    critical = values[np.argsort(np.abs(values))[:2]].real
    if not critical.min() < 0 < critical.max():
        raise Refused("the equilibrium beside the point is no saddle")
    rate, null = float(np.ptp(critical)) / 4, s.across(z0)
    zeta = np.linspace(-REACH, REACH, SAMPLES)
    u, slope = 6 * np.tanh(zeta) ** 2 - 4, 12 * np.tanh(zeta) / np.cosh(zeta) ** 2
    quarter = (saddle - focus) / 4
    second = null.solve(null.q) * (null.q @ quarter) * rate
    x = (saddle + focus) / 2 + np.outer(u, quarter) + np.outer(slope, second)
    return z, zeta / rate, x


def _fold_and_hopf(special: CurveSpecial, share: float, course: Course) -> tuple[np.ndarray, np.ndarray]:
    """A Hopf point beside a Bogdanov–Takens point, so far along its curve on the side where ω² > 0, and the fold at the
    same value of the parameter that changes most along the folds, which touch that curve."""
    z0 = special.spot.z
    folds, hopfs = (_start(special, kind, z0, course)[0] for kind in (Folds, Hopfs))
    along = folds.start(z0, 1.0).tangent
    fixed = len(z0) - 2 + int(np.argmax(np.abs(along / folds.units(z0))[-2:]))
    for way in (1.0, -1.0):
        hopf = _beside(hopfs, z0, way, share).z
        if hopfs.square(hopf) > 0:
            guess = z0 + (hopf[fixed] - z0[fixed]) / along[fixed] * along
            guess[fixed] = hopf[fixed]
            return folds.solved(guess, np.eye(len(z0))[fixed]), hopf
    raise Refused("no Hopf points are beside the point")


def _equilibrium(s: RestEquations, guess: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    from pfaff.algebra.bordering import bordered_newton

    found, settled = bordered_newton(lambda y: s.flow.rhs(y, numbers), lambda y: s.flow.jacobian(y, numbers), guess)
    if not settled:
        raise Refused("the equilibria beside the point were not found")
    return found


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
    from pfaff.bifurcation.orbit_curves.cycle_curves import curve_of_orbits

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
                return curve_of_orbits(found, name, course, natural if isfinite(natural) else size)
    if elsewhere:
        raise _other_side(special, what, course)
    more = "no" if first is None else "no other"
    raise NoBifurcationError(
        f"{more} {what} were met on the cycles beside the {special.kind} point, on either side of it"
    )


def _placed_by(found: Special, load: str) -> Special:
    """The special orbit on the branch along a parameter, if it was met along the other one."""
    from pfaff.bifurcation.orbits.orbits import Special
    from pfaff.bifurcation.orbits.ways import reparametrised, value_of

    if found.load == load:
        return found
    value = value_of(found.case, load)
    same = reparametrised(found, load, value + (abs(value) or 1.0))
    return Special(same.problem, same.point, found.kind, found.note)


def _hopfs_beside(special: CurveSpecial, course: Course) -> Iterator[tuple[str, Hopf]]:
    """Hopf points on the curves through the point, near ones first, on both sides, each with its pair and the parameter
    that moves it: at a double Hopf point, the first one may move only one of both."""
    problem, _ = _start(special, Hopfs, special.spot.z, course)
    s = problem.equations
    pairs = [pair for pair in ("omega", "omega2") if "omega2" in special.coefficients]
    by = {pair: _mover(special, s, pair) for pair in pairs} or {"omega": 0}
    for share in ASIDE:
        for way in (1.0, -1.0):
            with suppress(PfaffError, np.linalg.LinAlgError):
                spot = _beside(problem, special.spot.z, way, share)
                if spot.facts.square > 0:
                    yield "omega", hopf_of_point(s, spot.z, float(np.sqrt(spot.facts.square)), by["omega"])
            if "omega2" in by:
                with suppress(PfaffError, np.linalg.LinAlgError):
                    z = _other_pair(special, problem, way * share)
                    yield "omega2", hopf_of_point(s, z, special.coefficients["omega2"], by["omega2"])


WAYS: dict[str, dict[str, Callable[[CurveSpecial, Course], Any]]] = {
    Kind.BOGDANOV_TAKENS: {"hopf": _hopfs, "fold": _folds, "homoclinic": _homoclinics},
    Kind.ZERO_HOPF: {"hopf": _hopfs, "fold": _folds, "torus": _tori},
    Kind.DOUBLE_HOPF: {"hopf": _other_hopfs, "torus": _tori},
    Kind.GENERALISED_HOPF: {"fold of cycles": _folds_of_cycles},
}
OTHERS: dict[str, dict[str, Callable[[CurveSpecial, Course], Any]]] = {
    Kind.DOUBLE_HOPF: {"torus": partial(_tori, other=True)},
}
