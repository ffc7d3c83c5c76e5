"""Pseudo-arclength continuation of periodic orbits (Keller 1977), with every special point on the way located.

The step follows the turning of the tangent, of the chord and of the corrections, so that folds that lie close
together are resolved and not jumped over. A step in which test functions change their signs is searched for their
roots, each trial corrected on the plane across the chord.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, inf, isnan
from typing import NamedTuple

import numpy as np

from pfaff.bifurcation.orbits.chords import LOCATED, PLACE, Chord, Event, Point, Stop
from pfaff.bifurcation.orbits.collocation import CLEAR, CONVERGED, EDGE, Collocation, Cycle, Mesh, Metric, Solution
from pfaff.bifurcation.orbits.endings import LONG, STILL, at_zero, converge, homoclinic, limit, moments, states_of_rest
from pfaff.bifurcation.orbits.floquet import multipliers, test_functions
from pfaff.bifurcation.orbits.levels import coordinates, free_multipliers, gradients_of, on_level
from pfaff.bifurcation.orbits.special_orbits import MULTIPLE, SpecialOrbits
from pfaff.continuation.arclength import CLOSED, RETURNED

REACH = 3.0  # times what changes the equations, or has been passed, the scale of the parameter at most
TURN = 0.15  # of the tangent in a step, aimed at, in radians
LARGEST_TURN = 0.45  # beyond which a step is repeated with half its length
LOOSEST = 1e-5  # error of tangents and multipliers on the way, if no more accuracy is asked for
DECOUPLED = 1e-3  # share of that error with which multipliers are eigenvalues
FIRST_STEP, SMALLEST_STEP = 0.05, 1e-7
SLOW = 5  # steps of Newton's method, beyond which a step is repeated with half its length
GROWTH = 1.6  # of one step over the one before
ADAPT_EVERY = 4  # steps between new meshes
FEWEST, MOST = 8, 2000  # intervals
RESERVE = 0.02  # share of the accuracy at which the error of a new mesh aims
KEPT = 3e-3, 0.2  # shares between which a mesh keeps its number of intervals
ROUNDING = 1e-10  # errors below this that finer meshes do not reduce
SHARE = 1e-4  # of the accuracy, by which special points may be displaced on their chord
TRUSTED = 1e-3  # distance from 1 of multipliers that are 1 by structure, beyond which none is believed
MERGED = 1e-5  # step within which special points are one
UNSTEADY = 1e-3  # of the accuracy, what the parameter changes by near homoclinic orbits where it does not
TINY = 1e-300  # amplitude of an equilibrium, to which orbits have jumped
VANISHING = 1e-3  # of the largest amplitude of a branch, from which it may end in an equilibrium
AHEAD = 1e-3  # of its tangent, that tells the direction of a branch
NEARER, AT_EDGE = 0.25, 4 * EDGE  # of the margin of a chart, what a step leaves; and at which a branch ends
ENDING = 4  # points from which its end is extrapolated
WITHIN = 4.0  # steps, how near the start must be by its size and period to lie in one


class Passed(NamedTuple):
    """What tells how a branch ends: period, largest amplitude, the parameter relative to its scale, and the margin of
    the chart."""

    period: float
    amplitude: float
    value: float
    margin: float


class Continuation:
    """The branch through an orbit. ``span`` is the parameter's range, ``held`` rows that select members of families;
    ``natural`` is what the parameter must change by, near its ``origin``, to change the equations as a whole; ``level``
    is a branch along which it does not change."""

    def __init__(
        self,
        collocation: Collocation,
        span: float,
        held: np.ndarray,
        accuracy: float,
        natural: float = inf,
        origin: float = 0.0,
        level: bool = False,
    ) -> None:
        self.collocation, self.span, self.held, self.accuracy = collocation, span, held, accuracy
        self.natural, self.origin, self.level = natural, origin, level
        self.structural = 1 + len(held)
        self.ones = self.structural + level  # multipliers that are 1 on all orbits
        self.settled = float(np.clip(accuracy, CONVERGED, LOOSEST))
        self.special = SpecialOrbits(self)
        self.place = float(np.clip(SHARE * accuracy, PLACE, LOCATED))

    def scale(self, value: float) -> float:
        """By which changes of the parameter are measured: its range, but not much more than it has passed already or
        than changes the equations, so that steps do not depend on how far a branch is to go."""
        return min(self.span, REACH * max(self.natural, abs(value - self.origin)))

    # Orbits

    def corrected(
        self,
        guess: Cycle,
        reference: Cycle | Point,
        last: tuple[np.ndarray, np.ndarray],
        converged: float | None = None,
        held: np.ndarray | None = None,
    ) -> Solution | str:
        """The orbit near a guess, in the phase of a reference on the same mesh, where a row keeps its value.

        On families it is on the level of the reference; ``held`` are covectors by which the family is measured.
        """
        cycle = reference.cycle if isinstance(reference, Point) else reference
        metric = reference.metric if isinstance(reference, Point) else Metric.of(cycle, self.scale(cycle.value))
        if self.structural > 1:
            rows = coordinates(self.collocation, cycle, metric, last, self.held) if held is None else held
            return on_level(self.collocation, guess, cycle, cycle, metric, last, rows, converged)
        pins = self.collocation.pins(cycle, metric, last, self.held, guess)
        solution = self.collocation.correct(guess, pins, metric, converged)
        if not isinstance(solution, str) and guess.halved and not self.collocation.mirrored(solution, metric):
            value = solution.cycle.value
            return f"the equations are not odd at {value:.10g}, so that half a period does not give the other half"
        return solution

    def born(self, guess: Cycle, still: Cycle, change: Cycle, metric: Metric) -> Solution | str:
        """The orbit near a guess that differs by a small change from an equilibrium, on its level."""
        last = metric.dual(change)
        if self.structural == 1:
            return self.corrected(guess, guess, last)
        return on_level(self.collocation, guess, still, guess, metric, last, self.held)

    def at_value(self, guess: Cycle, value: float, reference: Point | None = None) -> Solution | str:
        """The orbit at a value of the parameter, on the level of a reference."""
        scalars = guess.scalars.copy()
        scalars[1] = value
        row = np.zeros_like(guess.x), np.eye(len(scalars))[1] / self.span
        solution = self.corrected(guess._replace(scalars=scalars), reference or guess, row)
        if isinstance(solution, Solution):
            solution.cycle.scalars[1] = value  # without the rounding of Newton's last step
        return solution

    def point(self, solution: Solution, towards: Cycle | None = None, basis: np.ndarray | None = None) -> Point:
        """Everything about a corrected orbit; its tangent, now of unit length, points towards a change, or as it is."""
        cycle = solution.cycle
        metric = Metric.of(cycle, self.scale(cycle.value))
        tangent = solution.tangent
        sign = metric.normalise(tangent, tangent if towards is None else towards)
        accuracy = DECOUPLED * self.settled
        if self.structural > 1 and solution.levels is None:
            last = metric.dual(solution.tangent)
            solution = solution._replace(levels=gradients_of(self.collocation, cycle, metric, last, self.held))
        if solution.levels is None:
            values, basis = multipliers(solution.G, cycle.signs, basis if self.structural == 1 else None, accuracy)
        else:
            values, basis = free_multipliers(solution, metric, basis, accuracy)
        error = self.collocation.error(solution, metric)
        determinant, margin = sign * solution.determinant, solution.margin
        residual, steps = solution.residual, solution.steps
        unstable, tests = self._tests(cycle, tangent, values, determinant)
        return Point(
            cycle, tangent, values, determinant, error, residual, steps, margin, metric, basis, unstable, tests
        )  # fmt: skip

    def settled_point(self, point: Point) -> Point:
        """The same with the errors of Newton's method reduced to rounding, where it allows."""
        solution = self.corrected(point.cycle, point, point.metric.dual(point.tangent), 0.0)
        return point if isinstance(solution, str) else self.point(solution, point.tangent, point.basis)

    def adopted(self, point: Point, sign: float = 1.0) -> Point:
        """A point of another continuation, measured by this one, its tangent turned round where the sign is −1."""
        metric = Metric.of(point.cycle, self.scale(point.value))
        tangent = point.tangent.scaled(sign / metric.norm(point.tangent))
        determinant = sign * point.determinant
        unstable, tests = self._tests(point.cycle, tangent, point.multipliers, determinant)
        return replace(point, metric=metric, tangent=tangent, determinant=determinant, unstable=unstable, tests=tests)

    def _tests(
        self, cycle: Cycle, tangent: Cycle, values: np.ndarray, determinant: float
    ) -> tuple[int, dict[str, float]]:
        """How many multipliers are unstable, and functions that change their signs at special points.

        A multiplier −1 of half a period of a symmetric orbit breaks its symmetry; of a whole one it doubles it. Near
        homoclinic orbits rounding hides the multipliers that are 1 by structure: none is believed then.
        """
        far, unstable, flip, torus = test_functions(values, self.ones)
        if not far < TRUSTED:
            flip = torus = np.nan
        turned = "symmetry breaking" if cycle.halved else "period doubling"
        slope = float(tangent.scalars[1]) / self.scale(cycle.value)
        return unstable, {"fold": slope, "branch point": determinant, turned: flip, "torus": torus}

    def refined(self, point: Point) -> Point | str:
        """The same orbit with as many intervals as its accuracy needs."""
        order = 2 * self.collocation.gauss.degree
        for _ in range(8):
            if point.error <= self.accuracy:
                return point
            factor = min(2.0, 1.15 * (point.error / self.accuracy) ** (1 / order))
            intervals = ceil(point.cycle.intervals * factor) + 1
            if intervals > MOST:
                return f"{MOST} intervals do not resolve the orbit (error {point.error:.1e}): ask for less accuracy"
            finer = self.remeshed(point, intervals)
            if isinstance(finer, str):
                return finer
            if finer.error > 0.5 * point.error and point.error < ROUNDING:
                return point
            point = finer
        return point

    def remeshed(self, point: Point, intervals: int) -> Point | str:
        """The same orbit on a mesh adapted to it, corrected where the number of intervals changes."""
        cycle, tangent = self.moved_to(point, self.collocation.adapted(point.cycle, point.metric, intervals))
        if intervals == point.cycle.intervals:
            return replace(point, cycle=cycle, tangent=tangent)
        solution = self.corrected(cycle, cycle, point.metric.dual(tangent))
        return solution if isinstance(solution, str) else self.point(solution, tangent, point.basis)

    def moved_to(self, point: Point, mesh: Mesh) -> tuple[Cycle, Cycle]:
        """Orbit and tangent on another mesh, by interpolation."""
        c = self.collocation
        if mesh is point.cycle.mesh:
            return point.cycle, point.tangent
        cycle = c.carried(point.cycle, c.slopes(point.cycle), mesh)
        return cycle, c.carried(point.tangent, c.changing_slopes(point.cycle, point.tangent), mesh)

    # Steps

    def follow(
        self, point: Point, step: float, bounds: tuple[float, float], home: Point | None = None
    ) -> Iterator[Point | Event | Stop]:
        """Points along the tangent with the special points between them, until a bound of the parameter or a failure.

        The last point lies on the bound, or where the branch comes back to its first one, or to an earlier ``home``.
        """
        ds, before, rate, since = min(FIRST_STEP, step), None, 0.0, 0
        earlier, gone = None, 0.0  # the point before, and the step from there
        hidden: dict[str, list[Event]] = {}
        multiple: set[str] = set()  # kinds of multiple points in the last step, which outrank others there
        passed, home = [self._passed(point)], home or point
        shortest, greatest, *_ = passed[0]
        at_home = self._passed(home)
        farthest = _apart(passed[0], at_home)
        while True:
            if since >= ADAPT_EVERY:
                moved, rate, since = self.remeshed(point, self._intervals(point)), 0.0, 0
                point = point if isinstance(moved, str) else moved
            taken = self.step(point, ds, before)
            if not isinstance(taken, str) and self._strayed(point, taken[0], rate * ds):
                taken = "another branch is near"
            if isinstance(taken, str):
                ds, before = ds / 2, None
                if ds < SMALLEST_STEP:
                    yield self._resting(point, passed) or Stop(f"no orbit beyond {point.value:.10g}: {taken}")
                    return
                continue
            following, turn = taken
            inside = bounds[0] < following.value < bounds[1]
            facts = self._passed(following)
            away = _apart(facts, at_home)
            closing = self._closing(point, following, home) if inside and away < min(farthest, WITHIN * ds) else None
            if closing is not None:
                yield from self._finished(point, closing, Stop(CLOSED), earlier, gone, hidden)
                return
            several = abs(following.unstable - point.unstable) > 1
            found = self.special.events(point, following) if inside or several else []
            if not self.special.accounted(point, following, found):
                if ds > MERGED:
                    ds, before = ds / 2, None
                    continue
                found = self.special.together(point, following, found)
            # The determinant of the first orbit belongs to other pins; on families its size varies with the pivots.
            told = earlier is not None and self.structural == 1
            rate = (following.determinant - point.determinant) / ds if told else 0.0
            if not inside:
                yield from self._landed(point, following, bounds, earlier, gone, hidden)
                return
            yield from self.special.hidden_folds(point, following, ds)
            hidden = {} if earlier is None else self.special.hidden(earlier, point, following, gone / ds, hidden)
            outranked, multiple = multiple, {each.kind[len(MULTIPLE) :] for each in found if MULTIPLE in each.kind}
            if hidden:
                hidden = {kind: pair for kind, pair in hidden.items() if kind not in multiple | outranked}
                yield from (event for pair in hidden.values() for event in pair)
            yield from found
            if following.error > self.accuracy:
                finer = self.refined(following)
                if isinstance(finer, str):
                    yield self._resting(point, passed) or Stop(f"stopped at {following.value:.10g}: {finer}")
                    return
                following, rate, since = finer, 0.0, 0
            yield following
            passed.append(facts)
            period, amplitude, *_ = facts
            shortest, greatest, farthest = min(shortest, period), max(greatest, amplitude), max(farthest, away)
            if period > LONG * shortest or amplitude < VANISHING * greatest or following.margin < AT_EDGE:
                stop = self._ended(following, passed)
                if stop:
                    yield stop
                    return
            point, before, earlier, gone, since = following, point, point, ds, since + 1
            ds = min(step, ds * min(max(TURN / max(turn, 1e-9), 0.5), GROWTH))

    def _landed(
        self,
        a: Point,
        b: Point,
        bounds: tuple[float, float],
        earlier: Point | None,
        gone: float,
        known: dict[str, list[Event]],
    ) -> Iterator[Point | Event | Stop]:
        """The end of a branch on a bound that it crosses between two points; others as for ``SpecialOrbits.hidden``."""
        value = bounds[0] if b.value <= bounds[0] else bounds[1]
        last = self.point_at(a, b, value)
        if last is None:
            yield Stop(f"stopped at {a.value:.10g}: the orbit at {value:.10g} was not found")
            return
        yield from self._finished(a, last, Stop(f"reached {value:.10g}", value), earlier, gone, known)

    def _finished(
        self, a: Point, last: Point, stop: Stop, earlier: Point | None, gone: float, known: dict[str, list[Event]]
    ) -> Iterator[Point | Event | Stop]:
        """The last step of a branch; others as for ``SpecialOrbits.hidden``."""
        length = Chord(self, a, last).length
        yield from self.special.hidden_folds(a, last, length)
        back = gone / length
        hidden = {} if earlier is None else self.special.hidden(earlier, a, last, back, known)
        hidden |= self.special.hidden_last(a, last, set(hidden))
        yield from (event for pair in hidden.values() for event in pair)
        found = self.special.events(a, last)
        yield from found if self.special.accounted(a, last, found) else self.special.together(a, last, found)
        yield last
        yield stop

    def _passed(self, point: Point) -> Passed:
        value = point.value / self.scale(self.origin)
        return Passed(point.cycle.period, point.cycle.largest_amplitude, value, point.margin)

    def _ended(self, last: Point, passed: list[Passed]) -> Stop | None:
        """Whether orbits shrink to an equilibrium, or come to rest at one, or reach the edge of their chart."""
        periods, amplitudes, values, margins = zip(*passed, strict=True)
        rows = [(value,) for value in values]
        if last.margin < AT_EDGE:
            edge = at_zero(margins[-ENDING:], values[-ENDING:]) * self.scale(self.origin)
            return Stop(f"no orbit beyond {edge:.8g}: {self.collocation.off_chart}")
        if amplitudes[-1] < VANISHING * max(amplitudes) and converge(
            [1 / max(each, TINY) for each in amplitudes], rows
        ):
            return Stop(f"the orbits shrink to an equilibrium near {last.value:.8g}: a Hopf point")
        if homoclinic(periods, rows, self._still):
            return self._resting(last, passed)
        return None

    def _resting(self, last: Point, passed: list[Passed]) -> Stop | None:
        """The end of a branch whose orbits nearly come to rest, the longer the more."""
        periods, values = [each.period for each in passed], [each.value for each in passed]
        if periods[-1] < max(max(periods), LONG * min(periods)):
            return None
        rests = states_of_rest(self.collocation, last.cycle)
        if not rests:
            return None
        where = limit(periods, values, self._still) * self.scale(self.origin)
        towards = "homoclinic orbit" if len(rests) == 1 else "heteroclinic cycle"
        return Stop(f"the period grows without bound near {where:.10g}: towards a {towards}")

    @property
    def _still(self) -> float:
        """Changes of the parameter that are none, relative to its scale."""
        return max(STILL, UNSTEADY * self.accuracy)

    def _closing(self, a: Point, b: Point, home: Point) -> Point | None:
        """The orbit between two that is the one at home, whatever its phase."""
        start, before, after = (self._signature(each.cycle, home) for each in (home, a, b))
        ahead = self._signature(home.cycle.moved(home.tangent, AHEAD), home) - start
        chord = after - before
        if not 0 < (start - before) @ chord <= chord @ chord or ahead @ chord < 0:  # or the same way back
            return None
        located = self.special.locate(a, b, lambda each: float((self._signature(each.cycle, home) - start) @ chord))
        if located is None:
            return None
        apart = np.linalg.norm(self._signature(located[1].cycle, home) - start)
        return located[1] if apart < max(RETURNED, self.accuracy) else None

    def _signature(self, cycle: Cycle, home: Point) -> np.ndarray:
        shape = moments(self.collocation, cycle, 1 / home.metric.states)
        return np.array([cycle.value / self.scale(home.value), cycle.period / home.cycle.period, *shape])

    def _intervals(self, point: Point) -> int:
        """As many as the accuracy needs, with a reserve that lasts for a while."""
        share = max(point.error, 1e-14) / self.accuracy
        if KEPT[0] < share < KEPT[1]:
            return point.cycle.intervals
        factor = (share / RESERVE) ** (1 / (2 * self.collocation.gauss.degree))
        return min(max(FEWEST, ceil(point.cycle.intervals * min(max(factor, 0.7), 1.5))), MOST)

    def step(self, point: Point, ds: float, before: Point | None) -> tuple[Point, float] | str:
        """The next point and the turn of the branch; or why it is refused."""
        metric, tangent = point.metric, point.tangent
        guess = point.cycle.moved(tangent, ds) if before is None else self._ahead(before, point, ds)
        solution = self.corrected(guess, point, metric.dual(tangent), self.settled)
        if isinstance(solution, str):
            return solution
        if solution.steps > SLOW:
            return f"Newton's method converges slowly from a step of {ds:.1e}: another branch may be near"
        if solution.margin < min(CLEAR, NEARER * point.margin):
            return self.collocation.off_chart
        turn = metric.turn(point.cycle, solution.cycle, tangent, solution.tangent)
        if turn > LARGEST_TURN:
            return f"the branch turns by {turn:.2f} rad in a step of {ds:.1e}"
        following = self.point(solution, tangent, point.basis)
        if ds > MERGED and not self.special.explained(point, following):
            return "more multipliers cross the unit circle than special points are seen"
        return following, turn

    def _ahead(self, before: Point, point: Point, ds: float) -> Cycle:
        """The cubic through the last two points and their tangents, in the share s of the tangent at the last."""
        metric, tangent = point.metric, point.tangent
        first, slope = self.moved_to(before, point.cycle.mesh)
        s, rise = metric.dot(first, tangent) - metric.dot(point.cycle, tangent), metric.dot(slope, tangent)
        if not (s < 0 and rise > 0):
            return point.cycle.moved(tangent, ds)
        return point.cycle.towards(first, ds / s, tangent, s, slope, s / rise)

    def _strayed(self, a: Point, b: Point, change: float) -> bool:
        """Whether the determinant should have changed its sign and did not: a step onto the other of two branches."""
        if isnan(a.tests["torus"]) or isnan(b.tests["torus"]):  # near homoclinic orbits rounding hides it as well
            return False
        expected = a.determinant * (a.determinant + change) < 0
        return expected and abs(b.determinant) > abs(a.determinant) and a.determinant * b.determinant > 0

    def point_at(self, a: Point, b: Point, value: float) -> Point | None:
        """The orbit at a value of the parameter between two points."""
        between = Chord(self, a, b)
        at = between.fraction(value)
        solution = self.at_value(between.guess(at), value, b)
        if isinstance(solution, str):
            located = self.special.locate(a, b, lambda point: point.value - value)
            return located[1] if located else None
        return self.point(solution, between.chord, b.basis)


def _apart(facts: Passed, home: Passed) -> float:
    """How far an orbit is at least from another, by period, amplitude and parameter alone."""
    sizes = (facts.period / home.period, facts.amplitude / home.amplitude)
    return max(abs(facts.value - home.value), *(abs(each - 1) for each in sizes))
