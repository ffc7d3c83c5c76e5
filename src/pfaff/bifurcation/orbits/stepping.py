"""Periodic orbits near others, by collocation on the plane across a tangent (Keller 1977): corrected, refined, a step
ahead, or at a value of the parameter."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf

import numpy as np

from pfaff.bifurcation.orbits.chords import LOCATED, PLACE, Chord, Point
from pfaff.bifurcation.orbits.collocation import CLEAR, CONVERGED, Collocation
from pfaff.bifurcation.orbits.cycles import UNBOUNDED, Cycle, Mesh, Metric, combination
from pfaff.bifurcation.orbits.floquet import allowed, coupling, multipliers
from pfaff.bifurcation.orbits.forced import kinds_of, numbers
from pfaff.bifurcation.orbits.levels import coordinates, free_multipliers, gradients_of, on_level
from pfaff.bifurcation.orbits.solutions import Pins, Solution, unsolved
from pfaff.bifurcation.orbits.special_orbits import SpecialOrbits
from pfaff.continuation.endings import Refused
from pfaff.kernels.metrics import Comparison
from pfaff.kernels.orbit_steps import REACH, SOLVED, Measures, predicted
from pfaff.kernels.periodic_schur import shrunk, test_functions
from pfaff.kernels.step_rules import (
    LARGEST_TURN,
    MERGED,
    MOST,
    SLOW,
    TRUSTED,
    finer_intervals,
    wanted_intervals,
    worn,
)

LOOSEST = 1e-5  # error of tangents and multipliers on the way, if no more accuracy is asked for
DECOUPLED = 1e-3  # remaining coupling of multipliers, as a share of that error
ROUNDING = 1e-10  # errors below this that finer meshes do not reduce
SHARE = 1e-4  # error in the place of special points on their chord, relative to the accuracy
NEARER = 0.25  # share of the margin of a chart that a step keeps


Stage = tuple[Cycle, Cycle]  # an orbit and its tangent


class Continuation:
    """The branch through an orbit. ``span`` is the parameter's range, ``held`` rows select members of families;
    ``natural`` is the change of the parameter, near its ``origin``, that alters the equations as a whole; on a
    ``level`` branch the parameter does not change; ``least`` are the least sizes by which states are measured."""

    def __init__(
        self,
        collocation: Collocation,
        span: float,
        held: np.ndarray,
        accuracy: float,
        natural: float = inf,
        origin: float = 0.0,
        level: bool = False,
        least: np.ndarray = UNBOUNDED,
    ) -> None:
        self.collocation, self.span, self.held, self.accuracy = collocation, span, held, accuracy
        self.natural, self.origin, self.level = natural, origin, level
        self.structural = 1 + len(held)
        self.ones = self.structural + level  # multipliers that are 1 on all orbits
        self.settled = float(np.clip(accuracy, CONVERGED, LOOSEST))
        flow = collocation.equations.flow
        self._comparison, decoupled = Comparison(kinds_of(flow), numbers(flow.alike), least), DECOUPLED * self.settled
        self.measures = Measures(
            self._comparison, span, REACH * natural, origin, coupling(len(flow.states), decoupled), accuracy
        )
        self.plain = self.structural == 1 and not flow.bonds  # neither families nor bonds
        self.place = float(np.clip(SHARE * accuracy, PLACE, LOCATED))

    @property
    def special(self) -> SpecialOrbits:
        """The special orbits, made on demand: a reference cycle would keep megabytes until Python collects such
        garbage."""
        return SpecialOrbits(self)

    def scale(self, value: float) -> float:
        """The unit of changes of the parameter: its range, but not much more than the distance already covered or than
        what alters the equations, so that steps do not depend on how far a branch is to go."""
        return min(self.span, REACH * max(self.natural, abs(value - self.origin)))

    def measure(self, cycle: Cycle, parameter: float | None = None) -> Metric:
        """The metric of an orbit; the parameter's size is its range by default."""
        return Metric.of(cycle, self.span if parameter is None else parameter, self._comparison)

    # Orbits

    def corrected(
        self,
        guess: Cycle,
        reference: Cycle | Point,
        last: tuple[np.ndarray, np.ndarray],
        converged: float | None = None,
        held: np.ndarray | None = None,
    ) -> Solution:
        """The orbit near a guess, in the phase of a reference on the same mesh, where a row keeps its value.

        On families it is on the level of the reference; ``held`` are covectors by which the family is measured.
        """
        cycle = reference.cycle if isinstance(reference, Point) else reference
        metric = reference.metric if isinstance(reference, Point) else self.measure(cycle, self.scale(cycle.value))
        if self.structural > 1:
            rows = coordinates(self.collocation, cycle, metric, last, self.held) if held is None else held
            return on_level(self.collocation, guess, cycle, cycle, metric, last, rows, converged)
        pins = self.collocation.pins(cycle, metric, last, self.held, guess)
        solution = self.collocation.correct(guess, pins, metric, converged)
        self._odd(solution.cycle, solution.rates, metric)
        return solution

    def evaluated(self, cycle: Cycle, pins: Pins, metric: Metric) -> Solution:
        """An orbit without correction."""
        return self.collocation.evaluated(cycle, pins, metric)

    def born(self, guess: Cycle, still: Cycle, change: Cycle, metric: Metric) -> Solution:
        """The orbit near a guess that differs by a small change from an equilibrium, on its level."""
        last = metric.dual(change)
        if self.structural == 1:
            return self.corrected(guess, guess, last)
        return on_level(self.collocation, guess, still, guess, metric, last, self.held)

    def given(self, cycle: Cycle, tangent: Cycle, within: float) -> Solution:
        """An orbit from elsewhere: corrected if that hardly moves it, or as it is if the equations hold."""
        metric = self.measure(cycle)
        row = metric.dual(tangent)
        with suppress(Refused):
            solution = self.corrected(cycle, cycle, row)
            if metric.norm(solution.cycle.moved(cycle, -1.0)) < within:
                return solution
        # At a branch point the equations are singular, but they hold.
        solution = self.evaluated(cycle, self.collocation.pins(cycle, metric, row, self.held, cycle), metric)
        if not solution.residual < within:
            raise Refused(f"the orbit does not solve the equations: {solution.residual:.1e} is left of them")
        return solution

    def at_value(self, guess: Cycle, value: float, reference: Point | None = None) -> Solution:
        """The orbit at a value of the parameter, on the level of a reference."""
        scalars = guess.scalars.copy()
        scalars[1] = value
        row = np.zeros_like(guess.x), np.eye(len(scalars))[1] / self.span
        solution = self.corrected(guess._replace(scalars=scalars), reference or guess, row)
        solution.cycle.scalars[1] = value  # without the rounding of Newton's last step
        return solution

    def point(self, solution: Solution, towards: Cycle | None = None, basis: np.ndarray | None = None) -> Point:
        """The point of a corrected orbit; its tangent, now of unit length, points towards a change, or keeps its
        direction."""
        cycle, tangent = solution.cycle, solution.tangent
        metric = self.measure(cycle, self.scale(cycle.value))
        sign = metric.normalise(tangent, tangent if towards is None else towards)
        error = self.collocation.error(solution, metric)
        values, basis = self._multipliers(solution, metric, error, basis)
        determinant, margin = sign * solution.determinant * shrunk(values), solution.margin
        residual, steps = solution.residual, solution.steps
        unstable, tests = self._tests(cycle, tangent, values, determinant)
        return Point(
            cycle, tangent, values, determinant, error, residual, steps, margin, metric, basis, unstable, tests
        )  # fmt: skip

    def _multipliers(
        self, solution: Solution, metric: Metric, error: float, basis: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The multipliers of an orbit, and the basis in which they are computed, from that of a neighbour."""
        cycle, accuracy, units = solution.cycle, DECOUPLED * self.settled, metric.states
        if self.structural > 1 and solution.levels is None:
            last = metric.dual(solution.tangent)
            solution = solution._replace(levels=gradients_of(self.collocation, cycle, metric, last, self.held))
        bonds = self.collocation.equations.bonds(cycle.x, cycle.value)
        if solution.levels is not None:
            return free_multipliers(solution, metric, basis, accuracy, bonds)
        start = basis if self.structural == 1 else None
        if bonds.size:
            return multipliers(*allowed(metric.measured(solution.G), cycle.signs, bonds / units), start, accuracy)
        return multipliers(solution.G, cycle.signs, start, accuracy, units)

    def settled_point(self, point: Point) -> Point:
        """The point with the errors of Newton's method reduced to rounding, where it allows."""
        try:
            solution = self.corrected(point.cycle, point, point.metric.dual(point.tangent), 0.0)
        except Refused:
            return point
        return self.point(solution, point.tangent, point.basis)

    def adopted(self, point: Point, sign: float = 1.0) -> Point:
        """A point of another continuation, measured by this one; its tangent is reversed if the sign is −1."""
        metric = self.measure(point.cycle, self.scale(point.value))
        tangent = point.tangent.scaled(sign / metric.norm(point.tangent))
        determinant = sign * point.determinant
        unstable, tests = self._tests(point.cycle, tangent, point.multipliers, determinant)
        return replace(point, metric=metric, tangent=tangent, determinant=determinant, unstable=unstable, tests=tests)

    def _tests(
        self, cycle: Cycle, tangent: Cycle, values: np.ndarray, determinant: float
    ) -> tuple[int, dict[str, float]]:
        """The number of unstable multipliers, and functions that change sign at special points.

        A multiplier −1 of half a period of a symmetric orbit breaks its symmetry; of a whole period it doubles it. Near
        homoclinic orbits rounding hides the multipliers that are 1 by structure: then none is trusted.
        """
        far, unstable, flip, torus = test_functions(values, self.ones)
        if not far < TRUSTED:
            flip = torus = np.nan
        turned = "symmetry breaking" if cycle.halved else "period doubling"
        slope = float(tangent.scalars[1]) / self.scale(cycle.value)
        return unstable, {"fold": slope, "branch point": determinant, turned: flip, "torus": torus}

    def refined(self, point: Point) -> Point:
        """The orbit with as many intervals as its accuracy needs."""
        order = 2 * self.collocation.gauss.degree
        for _ in range(8):
            if point.error <= self.accuracy:
                return point
            intervals = finer_intervals(point.cycle.intervals, point.error, self.accuracy, order)
            if intervals > MOST:
                raise Refused(
                    f"{MOST} intervals do not resolve the orbit (error {point.error:.1e}): ask for less accuracy"
                )
            try:
                finer = self.remeshed(point, intervals)
            except Refused:  # from interpolation on a few more intervals
                finer = self.remeshed(point, min(2 * intervals, MOST))
            if finer.error > 0.5 * point.error and point.error < ROUNDING:
                return point
            point = finer
        return point

    def remeshed(self, point: Point, intervals: int) -> Point:
        """The orbit on a mesh adapted to it, corrected where the number of intervals changes."""
        moved = self._on_mesh(point, self.collocation.adapted(point.cycle, point.metric, lambda _: intervals))
        if intervals == point.cycle.intervals:
            return moved
        return self._solved_ahead(moved, 0.0, (moved.cycle, moved.tangent), self.collocation.converged)[0]

    def adapted(self, point: Point, length: float) -> Point:
        """The orbit on a mesh of as many intervals as the accuracy needs, adapted to the next orbit after a step of
        this length, by interpolation alone: so is the point before it, and a guess from both has no kink."""

        def intervals(gain: float) -> int:
            order = 2 * self.collocation.gauss.degree
            return wanted_intervals(point.cycle.intervals, gain, point.error, point.residual, self.accuracy, order)

        ahead = combination(point.cycle.mesh, (1.0, length), (point.cycle, point.tangent))
        return self._on_mesh(point, self.collocation.adapted(point.cycle, point.metric, intervals, ahead))

    def worn(self, point: Point) -> bool:
        """Whether the error of an orbit comes near the accuracy, due to its mesh and not to the residual of Newton's
        method."""
        return worn(point.error, point.residual, self.accuracy)

    def _on_mesh(self, point: Point, mesh: Mesh) -> Point:
        return point.carried(*self.moved_to(point, mesh))

    def moved_to(self, point: Point, mesh: Mesh) -> Stage:
        """Orbit and tangent on another mesh, by interpolation."""
        if mesh is point.cycle.mesh:
            return point.cycle, point.tangent
        return self.collocation.both_carried(point.cycle, point.tangent, mesh)

    # Steps

    def step(self, point: Point, ds: float, before: Stage | None = None) -> tuple[Point, float]:
        """The next point and the turn of the branch, predicted with a point before on the same mesh; raises Refused."""
        following, turn = self._solved_ahead(point, ds, before or (point.cycle, point.tangent), self.settled)
        if following.steps > SLOW:
            raise Refused(f"Newton's method converges slowly from a step of {ds:.1e}: another branch may be near")
        if following.margin < min(CLEAR, NEARER * point.margin):
            raise Refused(self.collocation.off_chart)
        if turn > LARGEST_TURN:
            raise Refused(f"the branch turns by {turn:.2f} rad in a step of {ds:.1e}")
        if ds > MERGED and not self.special.explained(point, following):
            raise Refused("more multipliers cross the unit circle than special points account for")
        return following, turn

    def _solved_ahead(self, point: Point, ds: float, before: Stage, enough: float) -> tuple[Point, float]:
        """The point a step ahead and the turn up to it."""
        cycle, tangent = point.cycle, point.tangent
        stages = cycle, tangent, *before
        if self.plain and self.collocation.dense:
            return self._strode(point, ds, stages, enough)
        x, K, scalars = predicted(cycle.mesh.weights, point.metric, stages, ds)
        guess = Cycle(cycle.mesh, x, K, scalars, cycle.signs)
        solution = self.corrected(guess, point, point.metric.dual(tangent), enough)
        turn = point.metric.turn(cycle, solution.cycle, tangent, solution.tangent)
        return self.point(solution, tangent, point.basis), turn

    def _strode(self, point: Point, ds: float, stages: tuple[Cycle, ...], enough: float) -> tuple[Point, float]:
        """The same by one call of a kernel."""
        mesh, signs, c = point.cycle.mesh, point.cycle.signs, self.collocation
        w = c.workspace(point.cycle)
        cycle, along = point.cycle.copy(), point.tangent.copy()
        sizes = Metric(*(np.empty(each.shape) for each in point.metric))
        values, basis = np.empty(len(signs), dtype=complex), point.basis.copy()
        (how, steps, size), (residual, determinant, margin, turn, velocity) = w.stride(
            mesh, signs, point.metric, stages, ds, enough, self.measures, (cycle, along, sizes, values, basis)
        )
        if how != SOLVED:
            raise Refused(unsolved(how, size))
        self._odd(cycle, w.velocities, point.metric)
        error, margin = c.error_by(velocity, cycle, sizes), c.margin(cycle, margin)
        unstable, tests = self._tests(cycle, along, values, determinant)
        return Point(
            cycle, along, values, determinant, error, residual, steps, margin, sizes, basis, unstable, tests
        ), turn  # fmt: skip

    def _odd(self, cycle: Cycle, rates: np.ndarray, metric: Metric) -> None:
        """Raise Refused for half an orbit where the equations are not odd."""
        if cycle.halved and not self.collocation.mirrored(cycle, rates, metric):
            raise Refused(
                f"the equations are not odd at {cycle.value:.10g}, so that half a period does not give the other half"
            )

    def point_at(self, a: Point, b: Point, value: float) -> Point | None:
        """The orbit at a value of the parameter between two points."""
        between = Chord(self, a, b)
        at = between.fraction(value)
        try:
            solution = self.at_value(between.guess(at), value, b)
        except Refused:
            located = self.special.locate(a, b, lambda point: point.value - value)
            return located[1] if located else None
        return self.point(solution, between.chord, b.basis)
