"""Curves of special orbits in two parameters, by pseudo-arclength on the surface of all orbits.

Orbits near one of them have two coordinates: s along its branch at a fixed value of one parameter, in which folds of
cycles are regular, and q, the value of that parameter. In this plane g(s, q) = 0 is followed, where g is the slope of
the branch at folds, Π(1 + μ) at period doublings and μ μ̄ − 1 at tori. Orbits are solved to rounding for every g, and
the gradient of g is a central difference of such orbits. Where two folds of a branch meet and it breaks in two, the
branch at fixed q is singular, and the parameters change their roles. A cusp of folds has its tangent along s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.tolerances import CORRECTIONS
from pfaff.bifurcation.orbit_curves.resonance import Critical, critical_flip, critical_fold, critical_torus
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycle_forms import VANISHES, flip_coefficient, resonant, torus_coefficient
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.bifurcation.orbits.variation import Variation
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind
from pfaff.errors import PfaffError
from pfaff.kernels.step_rules import FEWEST, MOST
from pfaff.threads import cached_property

PROBE = 1e-3  # largest distance of the orbits whose difference is a derivative
CHANGE = 0.01  # largest change of g over this distance
LEAST = 0.01  # least share of this distance, where g is steep
CORRECTED = 1e-10  # last change of s and q
NOISY = 1e-8  # the same, where steps do not get smaller
ROUNDING = 1e-14  # values of g that are zero: near canards g is so small everywhere that s is hardly determined
WATCHED = 600  # number of states at all mesh points beyond which coefficients are not watched along a curve
POLES = ("fold-torus", "fold-flip", "1:2 resonance")  # tests that vanish where coefficients are infinite
LEVEL = 1e-2  # slope of the second parameter along a curve that starts where it turns
STEEP = 3.0  # slope of the curve, in the scales of the parameters, beyond which they change their roles

Coordinates = np.ndarray
Evaluated = tuple[OrbitProblem, Point, Critical]


@dataclass(frozen=True, eq=False)
class Place:
    """A special orbit with the chart around it: ``fixed`` is the parameter q, ``spans`` are the scales of both.

    ``drift`` is the change of the orbit with q/span at the same s, ``gradient`` that of g, ``along`` the tangent of
    the curve, of unit length, in s and q/span.
    """

    problem: OrbitProblem
    point: Point
    fixed: str
    spans: dict[str, float]
    critical: Critical
    drift: Cycle = field(repr=False)
    gradient: np.ndarray
    along: np.ndarray
    reached: np.ndarray = field(default_factory=lambda: np.zeros(2), repr=False)  # in the chart of the place before
    age: int = 0  # steps since its mesh was made

    @property
    def values(self) -> dict[str, float]:
        """Values of both parameters."""
        return values_of(self.problem, self.point, self.fixed)

    @property
    def change(self) -> Cycle:
        """The change of the orbit along the curve."""
        return self.point.tangent.scaled(self.along[0]).moved(self.drift, self.along[1])

    @property
    def span(self) -> float:
        """The scale of q."""
        return self.spans[self.fixed]

    @property
    def continuation(self) -> Continuation:
        return self.problem.continuation(self.spans[self.problem.load])

    @property
    def tests(self) -> dict[str, float]:
        return self.critical.tests

    @cached_property
    def degeneracy(self) -> float:
        """The coefficient of a period doubling or a torus, without its poles; NaN where there is none, or where it
        would take long."""
        problem, cycle, cosine = self.problem, self.point.cycle, self.critical.cosine
        turn = complex(cosine, np.sqrt(max(1 - cosine**2, 0.0)))
        if len(problem.held) or cycle.x.size > WATCHED or problem.flow.heavy or resonant(turn):
            return np.nan
        v, flip = Variation(problem.collocation, cycle), bool(np.isnan(cosine))
        try:
            coefficient, terms = flip_coefficient(v) if flip else torus_coefficient(v, turn)
        except (PfaffError, np.linalg.LinAlgError):
            return np.nan
        return float(coefficient.real * self.pole) if abs(coefficient.real) > VANISHES * terms else 0.0

    @property
    def pole(self) -> float:
        """A function that vanishes where the coefficient of a period doubling or a torus is infinite."""
        return float(np.prod([self.tests[name] for name in POLES if name in self.tests]))

    @cached_property
    def square(self) -> float:
        """The mean square about the mean, by Gauss's rule: smooth where amplitudes at mesh points are not."""
        _, away, weights = self.problem.collocation.deviations(self.point.cycle)
        return float((away**2).sum(axis=0) @ weights)


@dataclass(frozen=True)
class Surface:
    """The orbits about special ones of one kind; ``spans`` are the scales of both parameters at the ``origin`` of the
    curve; the ``second`` parameter ends it."""

    kind: str
    spans: dict[str, float]
    second: str
    origin: dict[str, float]

    def start(self, problem: OrbitProblem, point: Point, cosine: float, ahead: float) -> Place:
        """The first point, the second parameter growing (or shrinking, if ahead < 0)."""
        (fixed,) = (name for name in self.spans if name != problem.load)
        spans = self._reached(values_of(problem, point, fixed))
        point = problem.continuation(spans[problem.load]).adopted(point)
        critical, still = self._critical(problem, point, cosine), point.cycle.scaled(0.0)
        place = self.surveyed(Place(problem, point, fixed, spans, critical, still, np.ones(2), np.ones(2)))
        place = place if self.slopes(place) @ place.along * ahead >= 0 else replace(place, along=-place.along)
        level = abs(self.slopes(place) @ place.along) < LEVEL * np.linalg.norm(self.slopes(place))  # as at a cusp
        _, found = self.across(place, np.zeros(2), place.along if level else self.slopes(place))
        return self.surveyed(found if level else rounded(found, self.second, place.values[self.second]), place)

    def slopes(self, place: Place) -> np.ndarray:
        """Derivatives of the second parameter with respect to s and q, all in their scales."""
        if place.fixed == self.second:
            return np.array([0.0, 1.0])
        changes = np.array([place.point.tangent.scalars[1], place.drift.scalars[1]])
        return changes / place.spans[self.second]

    def _reached(self, values: dict[str, float]) -> dict[str, float]:
        """The scales of parameters at these values: at least their distances from the origin."""
        return {name: max(span, abs(values[name] - self.origin[name])) for name, span in self.spans.items()}

    # Orbits by their coordinates

    def _critical(self, problem: OrbitProblem, point: Point, cosine: float) -> Critical:
        structural = 1 + len(problem.held)
        values, slope = point.multipliers, point.tests[Kind.FOLD]
        if self.kind == Kind.TORUS:
            return critical_torus(values, structural, slope, cosine)
        return (critical_fold if self.kind == Kind.FOLD else critical_flip)(values, structural, slope)

    def _at(self, base: Place, u: Coordinates) -> Evaluated:
        """The orbit with coordinates s, q/span relative to a base, and g there."""
        point = base.point
        value = base.values[base.fixed] + u[1] * base.span
        problem = replace(base.problem, case=base.problem.case.unchecked(**{base.fixed: value}))
        continuation = problem.continuation(base.spans[problem.load])
        guess = point.cycle.moved(point.tangent, u[0]).moved(base.drift, u[1])
        solution = continuation.corrected(guess, point, point.metric.dual(point.tangent))
        found = continuation.point(solution, point.tangent, point.basis)
        critical = self._critical(problem, found, base.critical.cosine)
        if not np.isfinite(critical.defect):
            raise Refused("multipliers are not to be trusted")
        return problem, found, critical

    def surveyed(self, given: Place, like: Place | None = None) -> Place:
        """A place with its drift, gradient and tangent, by central differences; its tangent as at another one."""
        by_q, by_s = self._difference(given, 1), self._difference(given, 0)
        drift, gradient = by_q[0], np.array([by_s[1], by_q[1]])
        along = np.array([-gradient[1], gradient[0]]) / (np.linalg.norm(gradient) or 1.0)
        found = replace(given, drift=drift, gradient=gradient, along=along)
        if like is not None and along @ heading(like, found) < 0:
            along = -along
        tests = given.tests | ({"cusp": along[1]} if self.kind == Kind.FOLD else {})
        return replace(found, critical=replace(given.critical, tests=tests), along=along)

    def _difference(self, given: Place, axis: int) -> tuple[Cycle, float]:
        """The derivatives of the orbit and of g along a coordinate, over a distance on which g changes little."""
        length = float(np.clip(CHANGE / (abs(given.gradient[axis]) or 1.0), LEAST * PROBE, PROBE))
        why = Refused("")
        while length >= LEAST * PROBE:
            u = length * np.eye(2)[axis]
            try:
                ahead, behind = self._at(given, u), self._at(given, -u)
                slope = (ahead[2].defect - behind[2].defect) / (2 * length)
                if abs(slope) * length < 4 * CHANGE or length == LEAST * PROBE:
                    return ahead[1].cycle.moved(behind[1].cycle, -1.0).scaled(0.5 / length), slope
            except Refused as refused:
                why = refused
            length = length / 4 if length > 4 * LEAST * PROBE or length == LEAST * PROBE else LEAST * PROBE
        raise why

    def solved(
        self, base: Place, u: Coordinates, left: Callable[[Coordinates, Point], float], row: np.ndarray
    ) -> tuple[Coordinates, Place]:
        """Where g and another function vanish, by Newton's method with Broyden's updates; ``row`` is its gradient."""
        J, change, before, steps = np.array([base.gradient, row]), np.zeros(2), np.zeros(2), 0

        def step(at: tuple[Coordinates, Place]) -> tuple[tuple[Coordinates, Place], float]:
            nonlocal J, change, before, steps
            u, (problem, point, critical) = at[0], self._at(base, at[0])
            here = replace(base, problem=problem, point=point, critical=critical)
            values = np.array([critical.defect, left(u, point)])
            if steps:
                J = J + np.outer(values - before - J @ change, change) / (change @ change)
                # Where multipliers are large, rounding in g keeps the steps from settling further.
                settled = np.abs(change).max() < (CORRECTED if steps < CORRECTIONS // 2 else NOISY)
                if settled or np.abs(values).max() < ROUNDING:
                    return (u, here), 0.0
            try:
                change, before, steps = -np.linalg.solve(J, values), values, steps + 1
            except np.linalg.LinAlgError:
                raise Refused("the equations of the curve are singular") from None
            if not np.abs(change).max() < 10:
                raise Refused("Newton's method leaves the curve")
            return (u + change, here), float(change.any())

        found = newton(step, (u, base), Stopping(CORRECTIONS))
        if found.ceased:
            return found.at
        last = np.abs(change).max()
        raise Refused(f"Newton's method did not converge in {CORRECTIONS} steps (last change {last:.1e})")

    def across(self, base: Place, guess: Coordinates, normal: np.ndarray) -> tuple[Coordinates, Place]:
        """The point of the curve on the line through a guess across a direction."""
        return self.solved(base, guess, lambda u, _: float(normal @ (u - guess)), normal)

    def _settled(self, place: Place) -> Place:
        """The place with g = 0 to rounding."""
        return self.surveyed(self.across(place, np.zeros(2), place.along)[1], place)

    # Meshes and charts

    def remeshed(self, place: Place) -> Place:
        """The place on a mesh adapted to the orbit, as fine as its accuracy needs, in scales that the parameters have
        reached."""
        there = replace(place, spans=self._reached(place.values), age=0)
        continuation = there.continuation
        point = continuation.adopted(place.point)
        accuracy, order = place.problem.accuracy, 2 * continuation.collocation.gauss.degree
        factor = float(np.clip(1.1 * (max(point.error, 1e-14) * 10 / accuracy) ** (1 / order), 0.7, 1.5))
        intervals = point.cycle.intervals if 0.85 < factor < 1 else ceil(point.cycle.intervals * factor)
        point = continuation.refined(continuation.remeshed(point, min(max(FEWEST, intervals), MOST)))
        return self._settled(self.surveyed(replace(there, point=point, drift=point.cycle.scaled(0.0)), place))

    def exchanged(self, place: Place) -> Place:
        """The same fold on the branch along the other parameter: both branches have one tangent there."""
        load, fixed, point = place.problem.load, place.fixed, place.point
        slope = place.drift.scalars[1] / place.spans[load]
        if self.kind != Kind.FOLD or abs(slope) < STEEP:
            return place
        problem = replace(place.problem, case=place.problem.case.unchecked(**{load: point.value}), load=fixed)
        continuation = problem.continuation(place.spans[fixed])
        scalars, turned = point.cycle.scalars.copy(), point.tangent.scalars.copy()
        scalars[1], turned[1] = place.values[fixed], 0.0
        cycle, tangent = point.cycle._replace(scalars=scalars), point.tangent._replace(scalars=turned)
        solution = continuation.corrected(cycle, cycle, point.metric.dual(tangent))
        found = continuation.point(solution, tangent, point.basis)
        critical = self._critical(problem, found, place.critical.cosine)
        still = found.cycle.scaled(0.0)
        other = replace(place, problem=problem, point=found, fixed=load, critical=critical, drift=still)
        return self.surveyed(other, place)


def values_of(problem: OrbitProblem, point: Point, fixed: str) -> dict[str, float]:
    """Values of the parameter along a branch, and of the one that is fixed on it."""
    at = problem.case.system.parameter_names.index(fixed)
    return {problem.load: point.value, fixed: float(problem.case.numbers[at])}


def heading(of: Place, chart: Place) -> np.ndarray:
    """The direction of the curve at a place, in the coordinates of the chart about another one near it.

    The change of the orbit without its drift with q is along s, up to a shift of the phase, which charts treat
    differently.
    """
    problem, metric, tangent, cycle = chart.problem, chart.point.metric, chart.point.tangent, chart.point.cycle
    change = of.change
    rates = {of.problem.load: float(change.scalars[1]), of.fixed: float(of.along[1]) * of.span}
    if of.point.cycle.mesh is not cycle.mesh:
        change = problem.collocation.both_carried(of.point.cycle, change, cycle.mesh)[1]
    scalars, q = change.scalars.copy(), rates[chart.fixed] / chart.span
    scalars[1] = rates[problem.load]
    left = change._replace(scalars=scalars).moved(chart.drift, -q)
    velocity = problem.collocation.equations.rates(cycle.x, cycle.value).T.copy()
    shift = left._replace(x=velocity, scalars=np.zeros_like(scalars))
    inner = np.array([[metric.dot(a, b) for b in (tangent, shift)] for a in (tangent, shift)])
    s, _ = np.linalg.solve(inner, [metric.dot(each, left) for each in (tangent, shift)])
    return np.array([s, q])


def rounded(place: Place, name: str, value: float) -> Place:
    """The place with the value of a parameter free of the rounding of Newton's method."""
    if place.fixed == name:
        return replace(place, problem=replace(place.problem, case=place.problem.case.unchecked(**{name: value})))
    place.point.cycle.scalars[1] = value
    return place
