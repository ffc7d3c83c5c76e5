"""The ways on from an orbit: along its branch, in another parameter, and onto a crossing branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.orbits.canard_folds import hidden_at, with_canard_folds
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle, doubled
from pfaff.bifurcation.orbits.following import AT_EDGE, LEFT, Orbits
from pfaff.bifurcation.orbits.newborn import Newborn
from pfaff.bifurcation.orbits.null_vectors import way_off
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.bifurcation.orbits.passage import Passage, leads_out
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.continuation.course import ROUNDING, Course, Limits
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.engine import Engine
from pfaff.continuation.gathering import Gathered, gathered, interrupted, stopped, where
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, ParameterError, number_of
from pfaff.statement.values import number_from, number_within, shown

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.case import Bound

OFF = (0.01, 0.003, 0.03, 0.001, 3e-4, 0.1)  # distances from a branch at which another is looked for
FINEST = 1e-14  # finest accuracy that can be asked for


def value_of(case: Bound, load: str) -> float:
    return float(case.numbers[case.system.parameter_names.index(load)])


def real(name: str, value: Any, remedy: str) -> float:
    """A finite number that was given by name."""
    try:
        return number_from(name, value)
    except ParameterError:
        raise ParameterError(f"{name}={shown(value)}: give {remedy}") from None


def accurate(accuracy: Any) -> float:
    remedy = f"a number between {FINEST:g}, which rounding allows, and less than 1"
    return number_within("accuracy", accuracy, lambda x: FINEST <= x < 1, f"give {remedy}")


def span_of(value: float, to: float, load: str) -> float:
    """The range over which the load is to be followed."""
    to = real("to", to, f"a finite value of {load}")
    if abs(to - value) <= ROUNDING * abs(value):
        raise ParameterError(f"to={to:g} is where the branch starts: give another value of {load}")
    return abs(to - value)


def reparametrised(start: OrbitPoint, load: str, to: float) -> OrbitPoint:
    """The orbit on the branch along another parameter, over its whole period if that parameter breaks the symmetry."""
    problem = replace(start.problem, case=start.case, load=load)
    value = value_of(problem.case, load)
    cycle = start.point.cycle
    if cycle.halved and not problem.odd(np.abs(cycle.x).max(axis=0), to):
        cycle = doubled(cycle, problem.rows)
    scalars = cycle.scalars.copy()
    scalars[1] = value
    return orbit_at(problem, cycle._replace(scalars=scalars), value)


def orbit_at(problem: OrbitProblem, guess: Cycle, value: float) -> OrbitPoint:
    """The orbit near a guess at a value of the load."""
    continuation = problem.continuation(1 + abs(value))
    try:
        point = continuation.refined(continuation.point(continuation.at_value(guess, value)))
        # Refinement keeps the orbit on the branch, not at the value.
        return OrbitPoint(problem, continuation.point(continuation.at_value(point.cycle, value)))
    except Refused as why:
        raise ConvergenceError(f"no orbit at {problem.load} = {value:.10g}: {why}") from why


def directed(start: OrbitPoint, to: float) -> OrbitPoint:
    """The orbit with its tangent towards a value of the load."""
    sign = 1.0 if (to - start.value) * start.point.tangent.scalars[1] >= 0 else -1.0
    continuation = start.problem.continuation(span_of(start.value, to, start.load))
    return OrbitPoint(start.problem, continuation.adopted(start.point, sign))


def switched(special: Special, to: float, way: int) -> OrbitPoint:
    """A first orbit off the branch, along the second null vector of the equations of the (doubled) orbit."""
    if special.kind not in (Kind.PERIOD_DOUBLING, Kind.SYMMETRY_BREAKING, Kind.BRANCH_POINT):
        raise ParameterError(f"no branch of orbits crosses at a {special.kind}: follow another point")
    twice = special.kind != Kind.BRANCH_POINT
    cycle, tangent = special.point.cycle, special.point.tangent
    cycle, tangent = (doubled(each, special.problem.rows) for each in (cycle, tangent)) if twice else (cycle, tangent)
    continuation = special.problem.continuation(span_of(special.value, to, special.load))
    metric = continuation.measure(cycle)
    pins = continuation.collocation.pins(cycle, metric, metric.dual(tangent), special.problem.held, cycle)
    off = way_off(continuation.collocation, cycle, pins)
    off = off.scaled(1 / metric.norm(off))
    why = Refused("")
    for distance in OFF:
        arms: list[Point] = []
        for away in (off, off.scaled(-1.0)):
            try:
                solution = continuation.corrected(
                    cycle.moved(away, distance), cycle, metric.dual(away), held=special.problem.held
                )
                arms.append(continuation.refined(continuation.point(solution, away)))
            except Refused as refused:
                why = refused
        # The first arm is the one towards the end, if any is; the other one may not be found.
        arms.sort(key=lambda arm: not twice and (arm.value - special.value) * (to - special.value) <= 0)
        if arms and (way > 0 or len(arms) > 1):
            return OrbitPoint(special.problem, arms[0 if way > 0 else 1])
    raise ConvergenceError(f"the branch that crosses at {special.load} = {special.value:.10g} was not found: {why}")


def followed(start: OrbitPoint, course: Course, earlier: OrbitBranch | None = None) -> OrbitBranch:
    """The branch from an orbit along its tangent until it returns there; with an earlier part, joined to it, until it
    returns to the beginning of that."""
    limits = course.limits(start.case.system, start.load, start.value)
    problem, home = start.problem, earlier.points[0].point if earlier else None
    leaves = leads_out(problem.flow)
    continuation = problem.continuation(limits.span, start)
    found = _gathered(problem, continuation, start, course, limits, home, LEFT if leaves else AT_EDGE)
    left = replace(course, points=course.points - len(found.points) + 1)
    if earlier:
        found.points = [*earlier.points, *found.points[1:]]
        found.special = [*earlier.special, *hidden_at(found.points, len(earlier) - 1), *found.special]
    if leaves and found.ended.reason is Reason.EDGE:
        found = _beyond(found, start, left, limits)
    ended = _told(found.ended, start, found.points, course)
    born = start.born if isinstance(start, Newborn) else None
    problem = found.points[0].problem
    return doors.orbit_branch.OrbitBranch(problem, found.points, tuple(found.special), ended, course.step, born)


def _gathered(
    problem: OrbitProblem,
    continuation: Continuation,
    start: OrbitPoint,
    course: Course,
    limits: Limits,
    home: Point | None,
    edge: float = AT_EDGE,
) -> Gathered:
    """The branch until it returns home, or until the margin of its chart falls to ``edge``."""
    first = continuation.adopted(start.point)
    orbits = Orbits(continuation, first, home or first, edge)
    found = gathered(
        Engine(orbits),
        first,
        course,
        limits,
        lambda point: OrbitPoint(problem, point),
        lambda event: Special(problem, event.point, str(event.kind), event.detail or ""),
        home=home,
    )
    return with_canard_folds(found, [each.value for each in orbits.passed])


def _beyond(found: Gathered, start: OrbitPoint, course: Course, limits: Limits) -> Gathered:
    """The branch continued in all velocities; in its chart up to its end, where that is not possible."""
    points, special, last = found.points, found.special, found.points[-1]
    try:
        passage = Passage(last.problem, last.point.cycle)
        points, special = ([passage.orbit(each, limits.span) for each in of] for of in (points, special))
    except Refused:
        points, special = found.points, found.special
    except KeyboardInterrupt:
        return replace(found, ended=interrupted(where(last)))
    problem, home = points[0].problem, points[0].point
    more = _gathered(problem, problem.continuation(limits.span, start), points[-1], course, limits, home)
    points, ended = [*points, *more.points[1:]], more.ended
    if ended.reason is Reason.POINTS:
        ended = stopped(points, course.to)
    return Gathered(points, [*special, *more.special], ended=ended)


def _told(ended: Ending, start: OrbitPoint, found: Sequence[OrbitPoint], course: Course) -> Ending:
    """The ending, with what is known about branches that are born at Hopf points."""
    if not isinstance(start, Newborn):
        return ended
    if ended.reason is Reason.POINTS and start.centre:
        family = f"the orbits about a centre are a family, along which {start.load} does not change"
        return Ending(ended.reason, f"stopped after {number_of(len(found), 'point')}: {family}")
    away = all((each.value - start.born) * (course.to - start.born) <= 0 for each in found)
    if ended.reason is Reason.OTHER_SIDE and away:
        side = "above" if course.to < start.born else "below"
        words = (
            f"ended at {found[-1].value:.10g}: cycles exist {side} {start.load} = {start.born:.10g}, away from "
            f"to={course.to:.10g}, and have not turned back until there; give to {side} it, or bounds=(low, high)"
        )
        return Ending(ended.reason, words, ended.bound)
    return ended
