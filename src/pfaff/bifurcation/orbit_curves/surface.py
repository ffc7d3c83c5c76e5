"""Curves of special orbits in two parameters, by pseudo-arclength on the surface of all orbits.

Orbits near one of them have two coordinates: s along its branch at a fixed value of one parameter, in which folds of
cycles are regular, and q, the value of that parameter. In this plane g(s, q) = 0 is followed, where g is the slope of
the branch at folds, Π(1 + μ) at period doublings and μ μ̄ − 1 at tori. Orbits are solved to rounding for every g, and
the gradient of g is a central difference of such orbits. Where two folds of a branch meet and it breaks in two, the
branch at fixed q is singular, and the parameters change their roles. A cusp of folds has its tangent along s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil

import numpy as np

from pfaff.bifurcation.orbit_curves.resonance import Critical, critical_flip, critical_fold, critical_torus, on_circle
from pfaff.bifurcation.orbits.chords import Point, Stop
from pfaff.bifurcation.orbits.collocation import Cycle
from pfaff.bifurcation.orbits.endings import converge, homoclinic, states_of_rest
from pfaff.bifurcation.orbits.orbits import OrbitProblem
from pfaff.bifurcation.orbits.stepping import ADAPT_EVERY, FEWEST, MOST, Continuation
from pfaff.threads import cached_property

PROBE = 1e-3  # distance of the orbits whose difference is a derivative, at most
CHANGE = 0.01  # of g over this distance
LEAST = 0.01  # of it, where g is steep
NEWTON_STEPS = 12
SETTLED = 1e-10  # the last change of s and q
NOISY = 1e-8  # the same, where steps do not get smaller
ROUNDING = 1e-14  # values of g that are none: near canards it is so small everywhere that s is hardly determined
LARGEST_TURN, EASY_TURN = 0.35, 0.12  # of the tangent in a step, in radians
FIRST, GROWTH, SMALLEST = 0.2, 1.6, 1e-6  # steps: the first, relative to the largest; of one over another; the least
STRAYED = 0.5  # distance of a point from its prediction, relative to the step
STEEP = 3.0  # slope of the curve, in the scales of the parameters, beyond which they change their roles
SMALL = 0.05  # amplitude, relative to the largest, below which an end in an equilibrium is looked for
SHARP = 1e-4  # what is left of a test function at a located point; more is a jump
CLOSED = 1e-6  # distance at which a curve has come back to its start
PLACE = 1e-10  # to which points of codimension two are located on the chord of their step

Coordinates = np.ndarray
Evaluated = tuple[OrbitProblem, Point, Critical]


@dataclass(frozen=True, eq=False)
class Place:
    """A special orbit with the chart around it: ``fixed`` is the parameter q.

    ``drift`` is the change of the orbit with q/span at the same s, ``gradient`` that of g, ``along`` the tangent of
    the curve, of unit length, in s and q/span.
    """

    problem: OrbitProblem
    point: Point
    fixed: str
    critical: Critical
    drift: Cycle = field(repr=False)
    gradient: np.ndarray
    along: np.ndarray

    @property
    def values(self) -> dict[str, float]:
        """Of both parameters."""
        at = self.problem.case.system.parameter_names.index(self.fixed)
        return {self.problem.load: self.point.value, self.fixed: float(self.problem.case.numbers[at])}

    @property
    def tests(self) -> dict[str, float]:
        return self.critical.tests

    @cached_property
    def square(self) -> float:
        """The mean square about the mean, by Gauss's rule: smooth where amplitudes at mesh points are not."""
        _, away, weights = self.problem.collocation.deviations(self.point.cycle)
        return float((away**2).sum(axis=0) @ weights)


@dataclass(frozen=True)
class CurveEvent:
    """A located point of codimension two; the curve ends at a ``last`` one."""

    kind: str
    place: Place
    values: dict[str, float]
    last: bool = False


@dataclass(frozen=True)
class CurveContinuation:
    """Curves of one kind of special orbits; ``spans`` are the scales of both parameters, ``second`` says where it
    ends."""

    kind: str
    spans: dict[str, float]
    second: str

    def start(self, problem: OrbitProblem, point: Point, cosine: float, ahead: float) -> Place | str:
        """The first point, the second parameter growing (or shrinking, if ahead < 0)."""
        point = self._continuation(problem).adopted(point)
        critical, still = self._critical(problem, point, cosine), point.cycle.scaled(0.0)
        given = Place(problem, point, self.second, critical, still, np.ones(2), np.ones(2))
        place = self._surveyed(given, np.array([0.0, ahead]))
        if isinstance(place, str):
            return place
        found = self._across(place, np.zeros(2), np.array([0.0, 1.0]))
        if isinstance(found, str):  # at a cusp
            found = self._across(place, np.zeros(2), place.along)
        if isinstance(found, str):
            return found
        q = place.values[self.second]
        return self._surveyed(_rounded(found[1], self.second, q), place.along)

    # Orbits by their coordinates

    def _continuation(self, problem: OrbitProblem) -> Continuation:
        return problem.continuation(self.spans[problem.load])

    def _critical(self, problem: OrbitProblem, point: Point, cosine: float) -> Critical:
        structural = 1 + len(problem.held)
        values, slope = point.multipliers, point.tests["fold"]
        if self.kind == "torus":
            return critical_torus(values, structural, slope, cosine)
        return (critical_fold if self.kind == "fold" else critical_flip)(values, structural, slope)

    def _at(self, base: Place, u: Coordinates) -> Evaluated | str:
        """The orbit with coordinates s, q/span relative to a base, and g there."""
        point = base.point
        value = base.values[base.fixed] + u[1] * self.spans[base.fixed]
        problem = replace(base.problem, case=base.problem.case.unchecked(**{base.fixed: value}))
        continuation = self._continuation(problem)
        guess = point.cycle.moved(point.tangent, u[0]).moved(base.drift, u[1])
        solution = continuation.corrected(guess, point, point.metric.dual(point.tangent))
        if isinstance(solution, str):
            return solution
        found = continuation.point(solution, point.tangent, point.basis)
        critical = self._critical(problem, found, base.critical.cosine)
        return (problem, found, critical) if np.isfinite(critical.defect) else "multipliers are not to be trusted"

    def _surveyed(self, given: Place, towards: np.ndarray) -> Place | str:
        """A place with its drift, gradient and tangent, by central differences."""
        by_q, by_s = self._difference(given, 1), self._difference(given, 0)
        if isinstance(by_q, str) or isinstance(by_s, str):
            return by_q if isinstance(by_q, str) else str(by_s)
        drift, gradient = by_q[0], np.array([by_s[1], by_q[1]])
        along = np.array([-gradient[1], gradient[0]]) / (np.linalg.norm(gradient) or 1.0)
        if along @ towards < 0:
            along = -along
        tests = given.tests | ({"cusp": along[1]} if self.kind == "fold" else {})
        critical = replace(given.critical, tests=tests)
        return replace(given, critical=critical, drift=drift, gradient=gradient, along=along)

    def _difference(self, given: Place, axis: int) -> tuple[Cycle, float] | str:
        """The derivatives of the orbit and of g along a coordinate, over a distance on which g changes little."""
        length = float(np.clip(CHANGE / (abs(given.gradient[axis]) or 1.0), LEAST * PROBE, PROBE))
        why = ""
        while length >= LEAST * PROBE:
            u = length * np.eye(2)[axis]
            ahead, behind = self._at(given, u), self._at(given, -u)
            if not isinstance(ahead, str) and not isinstance(behind, str):
                slope = (ahead[2].defect - behind[2].defect) / (2 * length)
                if abs(slope) * length < 4 * CHANGE or length == LEAST * PROBE:
                    return ahead[1].cycle.moved(behind[1].cycle, -1.0).scaled(0.5 / length), slope
            why = ahead if isinstance(ahead, str) else behind if isinstance(behind, str) else why
            length = length / 4 if length > 4 * LEAST * PROBE or length == LEAST * PROBE else LEAST * PROBE
        return why

    def _solved(
        self, base: Place, u: Coordinates, left: Callable[[Coordinates, Point], float], row: np.ndarray
    ) -> tuple[Coordinates, Place] | str:
        """Where g and another function vanish, by Newton's method with Broyden's updates; ``row`` is its gradient."""
        J, change, before = np.array([base.gradient, row]), np.zeros(2), np.zeros(2)
        for step in range(NEWTON_STEPS):
            found = self._at(base, u)
            if isinstance(found, str):
                return found
            problem, point, critical = found
            values = np.array([critical.defect, left(u, point)])
            if step:
                J = J + np.outer(values - before - J @ change, change) / (change @ change)
                # Where multipliers are large, rounding in g keeps the steps from settling further.
                settled = np.abs(change).max() < (SETTLED if step < NEWTON_STEPS // 2 else NOISY)
                if settled or np.abs(values).max() < ROUNDING:
                    return u, replace(base, problem=problem, point=point, critical=critical)
            try:
                change, before = -np.linalg.solve(J, values), values
            except np.linalg.LinAlgError:
                return "the equations of the curve are singular"
            if not np.abs(change).max() < 10:
                return "Newton's method leaves the curve"
            u = u + change
            if not change.any():
                return u, replace(base, problem=problem, point=point, critical=critical)
        return f"Newton's method did not converge in {NEWTON_STEPS} steps (last change {np.abs(change).max():.1e})"

    def _across(self, base: Place, guess: Coordinates, normal: np.ndarray) -> tuple[Coordinates, Place] | str:
        """The point of the curve on the line through a guess across a direction."""
        return self._solved(base, guess, lambda u, _: float(normal @ (u - guess)), normal)

    def _settled(self, place: Place) -> Place | str:
        """The same place with g = 0 to rounding."""
        found = self._across(place, np.zeros(2), place.along)
        return found if isinstance(found, str) else self._surveyed(found[1], place.along)

    # Meshes and charts

    def _remeshed(self, place: Place) -> Place | str:
        """On a mesh adapted to the orbit, as fine as its accuracy needs."""
        continuation, point = self._continuation(place.problem), place.point
        accuracy, order = place.problem.accuracy, 2 * continuation.collocation.gauss.degree
        factor = float(np.clip(1.1 * (max(point.error, 1e-14) * 10 / accuracy) ** (1 / order), 0.7, 1.5))
        intervals = point.cycle.intervals if 0.85 < factor < 1 else ceil(point.cycle.intervals * factor)
        moved = continuation.remeshed(point, min(max(FEWEST, intervals), MOST))
        moved = moved if isinstance(moved, str) else continuation.refined(moved)
        return moved if isinstance(moved, str) else self._on(place, moved)

    def _on(self, place: Place, point: Point) -> Place | str:
        """The same place with its orbit on another mesh."""
        fresh = self._surveyed(replace(place, point=point, drift=point.cycle.scaled(0.0)), place.along)
        return fresh if isinstance(fresh, str) else self._settled(fresh)

    def _exchanged(self, place: Place) -> Place | str:
        """The same fold on the branch along the other parameter: both branches have one tangent there."""
        load, fixed, point = place.problem.load, place.fixed, place.point
        slope = place.drift.scalars[1] / self.spans[load]
        if self.kind != "fold" or abs(slope) < STEEP:
            return place
        problem = replace(place.problem, case=place.problem.case.unchecked(**{load: point.value}), load=fixed)
        continuation = self._continuation(problem)
        scalars, turned = point.cycle.scalars.copy(), point.tangent.scalars.copy()
        scalars[1], turned[1] = place.values[fixed], 0.0
        cycle, tangent = point.cycle._replace(scalars=scalars), point.tangent._replace(scalars=turned)
        solution = continuation.corrected(cycle, cycle, point.metric.dual(tangent))
        if isinstance(solution, str):
            return solution
        found = continuation.point(solution, tangent, point.basis)
        critical = self._critical(problem, found, place.critical.cosine)
        still = found.cycle.scaled(0.0)
        other = replace(place, problem=problem, point=found, fixed=load, critical=critical, drift=still)
        return self._surveyed(other, np.array([place.along[0], slope * place.along[1]]))

    # Steps

    def follow(self, place: Place, step: float, bounds: tuple[float, float]) -> Iterator[Place | CurveEvent | Stop]:
        """Points and events in order, until the second parameter leaves its bounds; ``step`` is the largest."""
        ds, since, passed = FIRST * step, 0, [place]
        while True:
            if since >= ADAPT_EVERY or place.point.error > place.problem.accuracy:
                finer = self._remeshed(place)
                place, since = (place if isinstance(finer, str) else finer), 0
            taken = self._step(place, ds)
            if isinstance(taken, str):
                ds /= 2
                if ds < SMALLEST:
                    yield Stop(f"no special orbit was found beyond {self._where(place)}: {taken}")
                    return
                continue
            u, ahead = taken
            landed = self._landed(place, u, ahead, bounds)
            if isinstance(landed, str):
                yield Stop(f"stopped at {self._where(place)}: {landed}")
                return
            u, ahead, stop = landed
            for event in self._events(place, ahead, u):
                yield event
                if event.last:
                    yield Stop(f"ends at a {event.kind}")
                    return
            if stop is None and len(passed) > 2 and self._closes(place, u, ahead, passed[0]):
                yield passed[0]
                yield Stop("closes")
                return
            yield ahead
            passed.append(ahead)
            vanished = self._vanished(passed)
            if vanished:
                yield vanished
                stop = Stop(f"ends at a {vanished.kind}")
            stop = stop or self._ended(passed)
            if stop:
                yield stop
                return
            turn = _angle(place.along, ahead.along)
            ds, since = (min(step, GROWTH * ds) if turn < EASY_TURN else ds), since + 1
            exchanged = self._exchanged(ahead)
            place = ahead if isinstance(exchanged, str) else exchanged

    def _step(self, place: Place, ds: float) -> tuple[Coordinates, Place] | str:
        guess = ds * place.along
        found = self._across(place, guess, place.along)
        if isinstance(found, str):
            return found
        u, ahead = found
        if np.linalg.norm(u - guess) > STRAYED * ds:
            return "the correction is as long as the step"
        surveyed = self._surveyed(ahead, place.along)
        if isinstance(surveyed, str):
            return surveyed
        if _angle(place.along, surveyed.along) > LARGEST_TURN:
            return "the curve turns too sharply"
        return u, surveyed

    def _landed(
        self, a: Place, u: Coordinates, b: Place, bounds: tuple[float, float]
    ) -> tuple[Coordinates, Place, Stop | None] | str:
        """The step cut off at the bound that it crosses, if it does."""
        first, last = a.values[self.second], b.values[self.second]
        for bound, how in zip(bounds, ("reached", "came back to"), strict=True):
            if (first - bound) * (last - bound) > 0 or first == bound:
                continue
            span, q0 = self.spans[self.second], a.values[a.fixed]

            def left(u: Coordinates, point: Point, bound: float = bound, q0: float = q0, span: float = span) -> float:
                value = q0 + u[1] * span if a.fixed == self.second else point.value
                return (value - bound) / span

            row = np.array([a.point.tangent.scalars[1], a.drift.scalars[1]]) / span
            row = np.array([0.0, 1.0]) if a.fixed == self.second else row
            found = self._solved(a, u * (bound - first) / (last - first), left, row)
            surveyed = found if isinstance(found, str) else self._surveyed(found[1], a.along)
            if isinstance(found, str) or isinstance(surveyed, str):
                return f"the special orbit at {self.second} = {bound:.10g} was not found"
            return found[0], _rounded(surveyed, self.second, bound), Stop(f"{how} {bound:.10g}")
        return u, b, None

    def _ended(self, passed: list[Place]) -> Stop | None:
        last = passed[-1]
        if self._shrunk(passed):
            return Stop(f"the orbits shrink to an equilibrium near {self._where(last)}")
        periods = [each.point.cycle.period for each in passed]
        grows = homoclinic(periods, self._scaled(passed))
        if grows and states_of_rest(last.problem.collocation, last.point.cycle):
            return Stop(f"the period grows without bound near {self._where(last)}: towards a homoclinic orbit")
        return None

    def _shrunk(self, passed: list[Place]) -> bool:
        """Whether orbits shrink to an equilibrium: both parameters converge while they do."""
        squares = [each.square for each in passed]
        if squares[-1] > SMALL**2 * max(squares):
            return False
        return converge([each**-0.5 for each in squares], self._scaled(passed))

    def _scaled(self, passed: list[Place]) -> list[list[float]]:
        return [[each.values[name] / span for name, span in self.spans.items()] for each in passed]

    def _where(self, place: Place) -> str:
        return ", ".join(f"{name} = {place.values[name]:.10g}" for name in self.spans)

    # Points of codimension two

    def _events(self, a: Place, b: Place, end: Coordinates) -> list[CurveEvent]:
        found = []
        for kind in a.tests:
            before, after = a.tests[kind], b.tests.get(kind, np.nan)
            if not before * after < 0:
                continue
            located = self._located(a, b, end, partial(_tested, kind))
            if located is None or not abs(_tested(kind, located[1])) < SHARP * max(abs(before), abs(after)):
                continue
            at, place = located
            if kind.endswith("-torus") and self.kind != "torus" and not on_circle(place.critical.others):
                continue
            last = self.kind == "torus" and kind in ("1:1 resonance", "1:2 resonance")  # neutral saddles follow
            found.append((at, CurveEvent(kind, place, place.values, last)))
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    def _located(
        self, a: Place, b: Place, end: Coordinates, test: Callable[[Place], float]
    ) -> tuple[float, Place] | None:
        """The place between two, on the chord of their step, where a function vanishes."""
        from scipy.optimize import brentq

        places = {0.0: a, 1.0: b}

        def value(at: float) -> float:
            if at not in places:
                found = self._across(a, at * end, end / np.linalg.norm(end))
                place = found if isinstance(found, str) else self._surveyed(found[1], a.along)
                if isinstance(place, str):
                    raise ArithmeticError(place)
                places[at] = place
            return test(places[at])

        try:
            root = float(brentq(value, 0.0, 1.0, xtol=PLACE, rtol=1e-14, maxiter=60, disp=False))
            value(root)
        except (ArithmeticError, ValueError):
            inner = [at for at in places if 0 < at < 1]
            if not inner:
                return None
            root = min(inner, key=lambda at: abs(test(places[at])))
        return root, places[root]

    def _closes(self, a: Place, end: Coordinates, b: Place, first: Place) -> bool:
        """Whether the curve has come back to its start, by both parameters, the period and the size of the orbit."""
        start, before, after = (self._signature(each) for each in (first, a, b))
        chord, back = after - before, start - before
        if not 0 < back @ chord <= chord @ chord or np.linalg.norm(back) > 2 * np.linalg.norm(chord):
            return False
        located = self._located(a, b, end, lambda each: float((self._signature(each) - start) @ chord))
        return located is not None and bool(np.linalg.norm(self._signature(located[1]) - start) < CLOSED)

    def _signature(self, place: Place) -> np.ndarray:
        values = [place.values[name] / span for name, span in self.spans.items()]
        return np.array([*values, np.log(place.point.cycle.period), np.log(place.square)])

    def _vanished(self, passed: list[Place]) -> CurveEvent | None:
        """The generalised Hopf point to which folds shrink: parameters are smooth in the square of the amplitude."""
        if self.kind != "fold" or len(passed) < 4 or not self._shrunk(passed):
            return None
        squares = np.array([each.square for each in passed[-4:]])
        values = {
            name: float(np.polyfit(squares / squares[0], [each.values[name] for each in passed[-4:]], 3)[-1])
            for name in self.spans
        }
        return CurveEvent("generalised hopf", passed[-1], values, last=True)


def _tested(kind: str, place: Place) -> float:
    return place.tests.get(kind, np.nan)


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.arccos(np.clip(a @ b, -1, 1)))


def _rounded(place: Place, name: str, value: float) -> Place:
    """With the value of a parameter free of the rounding of Newton's method."""
    if place.fixed == name:
        return replace(place, problem=replace(place.problem, case=place.problem.case.unchecked(**{name: value})))
    place.point.cycle.scalars[1] = value
    return place
