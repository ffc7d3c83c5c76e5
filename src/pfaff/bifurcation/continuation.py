"""Pseudo-arclength continuation of periodic orbits (Keller 1977), with every special point on the way located.

The step follows the turning of the tangent, of the chord and of the corrections, so that folds that lie close
together are resolved and not jumped over. A step in which test functions change their signs is searched for their
roots, each trial corrected on the plane across the chord.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil, isnan

import numpy as np

from pfaff.bifurcation.arclength import CLOSED, RETURNED
from pfaff.bifurcation.chords import LOCATED, PLACE, SEPARATE, Chord
from pfaff.bifurcation.collocation import CONVERGED, Collocation, Cycle, Mesh, Metric, Solution
from pfaff.bifurcation.endings import LONG, converge, homoclinic, moments
from pfaff.bifurcation.floquet import multipliers, test_functions
from pfaff.bifurcation.levels import coordinates, free_multipliers, on_level
from pfaff.bifurcation.roots import bracketed_root
from pfaff.bifurcation.singular import ROOM, from_neighbours

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
SHARE = 1e-4  # of the accuracy, by which they may be displaced
ON_CIRCLE = 1e-5  # distance of a located pair from the unit circle
REAL = 1e-9  # imaginary parts below this, relative, are rounding
TRUSTED = 1e-3  # distance from 1 of multipliers that are 1 by structure, beyond which none is believed
MERGED = 1e-5  # step within which special points are one
SINGULAR = 1e-2  # determinant at a fold, relative to its neighbours', that makes it a branch point
TOGETHER = 1e-6  # places on the chord of a step nearer than this are the same
AT_ONE, FAR = 1e-4, 0.5  # distances from 1 of a multiplier at a branch point, and of one that is none
WIDE = 1e-8  # bracket of a root on the chord of a step that is to be narrowed
APPROACHES = 40  # steps by which it is
NEAR, DIPS = 0.5, 4  # of a function, its least value in a step that is looked into; how often
PROBE = 0.05  # of a step, over which it is seen whether a function grows
LEVEL = 1e-12  # share of the parameter in a tangent that is rounding
SAME_VALUE = 4e-15  # change of the parameter, relative to itself, that is rounding
TINY = 1e-300  # amplitude of an equilibrium, to which orbits have jumped
VANISHING = 1e-3  # of the largest amplitude of a branch, from which it may end in an equilibrium
MULTIPLE = "multiple "
AHEAD = 1e-3  # of its tangent, that tells the direction of a branch
WITHIN = 4.0  # steps, how near the start must be by its size and period to lie in one


@dataclass(frozen=True, eq=False)
class Point:
    """An orbit on a branch: its tangent of unit length, and the multipliers over what the mesh covers."""

    cycle: Cycle
    tangent: Cycle
    multipliers: np.ndarray
    determinant: float
    error: float
    residual: float
    steps: int
    metric: Metric = field(repr=False)
    basis: np.ndarray = field(repr=False)
    unstable: int
    tests: dict[str, float] = field(repr=False)

    @property
    def value(self) -> float:
        return self.cycle.value


@dataclass(frozen=True)
class Event:
    """A special point; a note says what is wrong with its place."""

    kind: str
    point: Point
    note: str = ""


@dataclass(frozen=True)
class Stop:
    """Why a branch ends; if on a bound of the parameter, on which."""

    why: str
    bound: float | None = None


class Continuation:
    """The branch through an orbit. ``span`` is the parameter's scale, ``held`` rows that select members of families."""

    def __init__(self, collocation: Collocation, span: float, held: np.ndarray, accuracy: float) -> None:
        self.collocation, self.span, self.held, self.accuracy = collocation, span, held, accuracy
        self.structural = 1 + len(held)
        self.settled = float(np.clip(accuracy, CONVERGED, LOOSEST))
        self.place = float(np.clip(SHARE * accuracy, PLACE, LOCATED))

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
        metric = reference.metric if isinstance(reference, Point) else Metric.of(cycle, self.span)
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
        metric = Metric.of(cycle, self.span)
        tangent = solution.tangent
        sign = metric.normalise(tangent, tangent if towards is None else towards)
        accuracy = DECOUPLED * self.settled
        if self.structural > 1 and solution.levels is None:
            solution = self._with_levels(solution, metric)
        if solution.levels is None:
            values, basis = multipliers(solution.G, cycle.signs, basis if self.structural == 1 else None, accuracy)
        else:
            values, basis = free_multipliers(solution, metric, basis, accuracy)
        error = self.collocation.error(solution, metric)
        determinant, residual, steps = sign * solution.determinant, solution.residual, solution.steps
        unstable, tests = self._tests(cycle, tangent, values, determinant)
        return Point(cycle, tangent, values, determinant, error, residual, steps, metric, basis, unstable, tests)

    def _with_levels(self, solution: Solution, metric: Metric) -> Solution:
        """An orbit in a family that is taken as it is, with the gradients of what is conserved, if they are known."""
        c, cycle = self.collocation, solution.cycle
        pins = c.pins(cycle, metric, metric.dual(solution.tangent), self.held, cycle)
        return solution._replace(levels=c.gradients(cycle, pins))

    def adopted(self, point: Point, sign: float = 1.0) -> Point:
        """A point of another continuation, measured by this one, its tangent turned round where the sign is −1."""
        metric = Metric.of(point.cycle, self.span)
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
        far, unstable, flip, torus = test_functions(values, self.structural)
        if not far < TRUSTED:
            flip = torus = np.nan
        turned = "symmetry breaking" if cycle.halved else "period doubling"
        slope = float(tangent.scalars[1]) / self.span
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
        shortest, greatest, _ = passed[0]
        farthest = self._away(passed[0], home)
        while True:
            if since >= ADAPT_EVERY:
                moved, rate, since = self.remeshed(point, self._intervals(point)), 0.0, 0
                point = point if isinstance(moved, str) else moved
            taken = self._step(point, ds, before)
            if not isinstance(taken, str) and self._strayed(point, taken[0], rate * ds):
                taken = "another branch is near"
            if isinstance(taken, str):
                ds, before = ds / 2, None
                if ds < SMALLEST_STEP:
                    yield Stop(f"no orbit beyond {point.value:.10g}: {taken}")
                    return
                continue
            following, turn = taken
            inside = bounds[0] < following.value < bounds[1]
            facts = self._passed(following)
            away = self._away(facts, home)
            closing = self._closing(point, following, home) if inside and away < min(farthest, WITHIN * ds) else None
            if closing is not None:
                yield from self._finished(point, closing, Stop(CLOSED), earlier, gone, hidden)
                return
            several = abs(following.unstable - point.unstable) > 1
            found = self.events(point, following) if inside or several else []
            if not self._accounted(point, following, found):
                if ds > MERGED:
                    ds, before = ds / 2, None
                    continue
                found = self._together(point, following, found)
            # The determinant of the first orbit belongs to other pins; on families its size varies with the pivots.
            told = earlier is not None and self.structural == 1
            rate = (following.determinant - point.determinant) / ds if told else 0.0
            if not inside:
                yield from self._landed(point, following, bounds, earlier, gone, hidden)
                return
            hidden = {} if earlier is None else self._hidden(earlier, point, following, gone / ds, hidden)
            multiple, outranked = {each.kind[len(MULTIPLE) :] for each in found if MULTIPLE in each.kind}, multiple
            hidden = {kind: pair for kind, pair in hidden.items() if kind not in multiple | outranked}
            yield from (event for pair in hidden.values() for event in pair)
            yield from found
            if following.error > self.accuracy:
                finer = self.refined(following)
                if isinstance(finer, str):
                    yield Stop(f"stopped at {following.value:.10g}: {finer}")
                    return
                following, rate, since = finer, 0.0, 0
            yield following
            passed.append(facts)
            period, amplitude, _ = facts
            shortest, greatest, farthest = min(shortest, period), max(greatest, amplitude), max(farthest, away)
            if period > LONG * shortest or amplitude < VANISHING * greatest:
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
        """The end of a branch on a bound that it crosses between two points; others as for ``_hidden``."""
        value = bounds[0] if b.value <= bounds[0] else bounds[1]
        last = self.point_at(a, b, value)
        if last is None:
            yield Stop(f"stopped at {a.value:.10g}: the orbit at {value:.10g} was not found")
            return
        yield from self._finished(a, last, Stop(f"reached {value:.10g}", value), earlier, gone, known)

    def _finished(
        self, a: Point, last: Point, stop: Stop, earlier: Point | None, gone: float, known: dict[str, list[Event]]
    ) -> Iterator[Point | Event | Stop]:
        """The last step of a branch; others as for ``_hidden``."""
        back = gone / Chord(self, a, last).length
        hidden = {} if earlier is None else self._hidden(earlier, a, last, back, known)
        hidden |= self._hidden_last(a, last, set(hidden))
        yield from (event for pair in hidden.values() for event in pair)
        found = self.events(a, last)
        yield from found if self._accounted(a, last, found) else self._together(a, last, found)
        yield last
        yield stop

    def _passed(self, point: Point) -> tuple[float, float, float]:
        """What tells how a branch ends: period, largest amplitude and the parameter, relative to its range."""
        return point.cycle.period, point.cycle.largest_amplitude, point.value / self.span

    def _away(self, facts: tuple[float, float, float], home: Point) -> float:
        """How far an orbit is at least from the one at home, by these facts alone."""
        period, amplitude, value = facts
        longer, larger = period / home.cycle.period, amplitude / home.cycle.largest_amplitude
        return max(abs(value - home.value / self.span), abs(longer - 1), abs(larger - 1))

    def _ended(self, last: Point, passed: list[tuple[float, float, float]]) -> Stop | None:
        """Whether orbits shrink to an equilibrium, or come to rest at one."""
        periods, amplitudes, values = zip(*passed, strict=True)
        rows = [(value,) for value in values]
        if amplitudes[-1] < VANISHING * max(amplitudes) and converge(
            [1 / max(each, TINY) for each in amplitudes], rows
        ):
            return Stop(f"the orbits shrink to an equilibrium near {last.value:.8g}: a Hopf point")
        if homoclinic(self.collocation, last.cycle, periods, rows):
            return Stop(f"the period grows without bound near {last.value:.10g}: towards a homoclinic orbit")
        return None

    def _closing(self, a: Point, b: Point, home: Point) -> Point | None:
        """The orbit between two that is the one at home, whatever its phase."""
        start, before, after = (self._signature(each.cycle, home) for each in (home, a, b))
        ahead = self._signature(home.cycle.moved(home.tangent, AHEAD), home) - start
        chord = after - before
        if not 0 < (start - before) @ chord <= chord @ chord or ahead @ chord < 0:  # or the same way back
            return None
        located = self.locate(a, b, lambda each: float((self._signature(each.cycle, home) - start) @ chord))
        if located is None:
            return None
        apart = np.linalg.norm(self._signature(located[1].cycle, home) - start)
        return located[1] if apart < max(RETURNED, self.accuracy) else None

    def _signature(self, cycle: Cycle, home: Point) -> np.ndarray:
        shape = moments(self.collocation, cycle, 1 / home.metric.states)
        return np.array([cycle.value / self.span, cycle.period / home.cycle.period, *shape])

    def _intervals(self, point: Point) -> int:
        """As many as the accuracy needs, with a reserve that lasts for a while."""
        share = max(point.error, 1e-14) / self.accuracy
        if KEPT[0] < share < KEPT[1]:
            return point.cycle.intervals
        factor = (share / RESERVE) ** (1 / (2 * self.collocation.gauss.degree))
        return min(max(FEWEST, ceil(point.cycle.intervals * min(max(factor, 0.7), 1.5))), MOST)

    def _step(self, point: Point, ds: float, before: Point | None) -> tuple[Point, float] | str:
        """The next point and the turn of the branch; or why it is refused."""
        metric, tangent = point.metric, point.tangent
        guess = point.cycle.moved(tangent, ds) if before is None else self._ahead(before, point, ds)
        solution = self.corrected(guess, point, metric.dual(tangent), self.settled)
        if isinstance(solution, str):
            return solution
        if solution.steps > SLOW:
            return f"Newton's method converges slowly from a step of {ds:.1e}: another branch may be near"
        turn = metric.turn(point.cycle, solution.cycle, tangent, solution.tangent)
        if turn > LARGEST_TURN:
            return f"the branch turns by {turn:.2f} rad in a step of {ds:.1e}"
        following = self.point(solution, tangent, point.basis)
        if ds > MERGED and not self._explained(point, following):
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
        expected = a.determinant * (a.determinant + change) < 0
        return expected and abs(b.determinant) > abs(a.determinant) and a.determinant * b.determinant > 0

    def _explained(self, a: Point, b: Point) -> bool:
        """Whether the multipliers that cross the unit circle in a step belong to special points that are seen."""
        before, after = a.tests, b.tests
        if a.unstable == b.unstable or isnan(before["torus"]) or isnan(after["torus"]):
            return True
        crossings = sum(
            2 if kind == "torus" else 1 for kind in before if before[kind] * after[kind] < 0 and kind != "fold"
        ) + (before["fold"] * after["fold"] < 0)
        return abs(a.unstable - b.unstable) <= crossings

    def _accounted(self, a: Point, b: Point, found: list[Event]) -> bool:
        """Whether special points account for the multipliers that cross: μ_i μ_j − 1 vanishes for real ones as well."""
        if not self._explained(a, b):
            return False
        if not a.tests["torus"] * b.tests["torus"] < 0 or any(event.kind == "torus" for event in found):
            return True
        return abs(a.unstable - b.unstable) <= max(len(found), 1)

    # Special points

    def _hidden(
        self, before: Point, a: Point, b: Point, back: float, known: dict[str, list[Event]]
    ) -> dict[str, list[Event]]:
        """Two special points of a kind in one step, where its function has the same sign at both ends.

        They are looked for where the parabola through three points comes near zero, in this step or, if the function is
        least at its beginning, also in the one before if none are known there; ``back`` is that step in units of this
        one.
        """
        found = {}
        for kind, here in a.tests.items():
            first, last = before.tests.get(kind, np.nan), b.tests.get(kind, np.nan)
            if kind == "fold" or not min(first * here, here * last) > 0:  # folds turn the tangent, which steps follow
                continue
            nodes = [(-back, first), (0.0, here), (1.0, last)]
            start, end, inner = a, b, None
            if abs(here) < NEAR * min(abs(first), abs(last)):
                probe = Chord(self, a, b).point(PROBE)
                value = np.nan if isinstance(probe, str) else probe.tests[kind]
                nodes = [(0.0, here), (PROBE, value), (1.0, last)]
                if value / here < 0 and not isinstance(probe, str):
                    inner = probe
                elif value / here > 1 and not known.get(kind):
                    start, end = before, a
                    nodes = [(0.0, first), (1.0, here), (1.0 + PROBE / back, value)]
            inner = inner or self._dip(kind, start, end, nodes)
            if inner is not None:
                found[kind] = self.events(start, inner, kind) + self.events(inner, end, kind)
        return found

    def _hidden_last(self, a: Point, last: Point, known: set[str]) -> dict[str, list[Event]]:
        """The same in the last step of a branch, where no further point shows that a function grows again."""
        found = {}
        for kind, end in last.tests.items():
            start = a.tests.get(kind, np.nan)
            if kind == "fold" or kind in known or not (start * end > 0 and abs(end) < NEAR * abs(start)):
                continue
            probe = Chord(self, a, last).point(1 - PROBE)
            value = np.nan if isinstance(probe, str) else probe.tests[kind]
            if isinstance(probe, str) or not value / end < 1:
                continue
            nodes = [(0.0, start), (1 - PROBE, value), (1.0, end)]
            inner = probe if value / end < 0 else self._dip(kind, a, last, nodes)
            if inner is not None:
                found[kind] = self.events(a, inner, kind) + self.events(inner, last, kind)
        return found

    def _dip(self, kind: str, a: Point, b: Point, nodes: list[tuple[float, float]]) -> Point | None:
        """A point of a step where a function has another sign than at both ends, by parabolas through three values."""
        at = _lowest(nodes)
        between = None if at is None else Chord(self, a, b)
        for _ in range(DIPS):
            inner = "" if at is None or between is None else between.point(at)
            if at is None or isinstance(inner, str) or isnan(inner.tests[kind]):
                return None
            if inner.tests[kind] * a.tests[kind] < 0:
                return inner
            nodes = _around([*nodes, (at, inner.tests[kind])], at)
            at = _lowest(nodes)
        return None

    def others(self, point: Point) -> np.ndarray:
        """Multipliers without those that are 1 by structure: of the phase, and of each conserved quantity."""
        order = np.argsort(np.abs(point.multipliers - 1))
        return point.multipliers[np.sort(order[self.structural :])]

    def events(self, a: Point, b: Point, only: str = "") -> list[Event]:
        """Special points between two, of all kinds or of one, in their order along the branch."""
        before, after = a.tests, b.tests
        kinds = [kind for kind in before if before[kind] * after[kind] < 0 and only in ("", kind)]
        if max(abs(before["fold"]), abs(after["fold"])) < LEVEL:
            kinds = [kind for kind in kinds if kind != "fold"]
        if not kinds:
            return []
        found = []
        for kind in kinds:
            located = self.locate(a, b, lambda point, kind=kind: point.tests[kind], kind == "fold")  # type: ignore[misc]
            if located is not None and (kind != "torus" or self._on_circle(located[1])):
                at, point = located
                if kind == "branch point":
                    point = self._polished(a, b, at, point, lambda each: each.determinant)
                if self._rounding(kind, a, b, point):
                    continue
                note = self._doubt(point) if kind == "branch point" else ""
                found.append((at, Event(kind, point, note)))
        if "branch point" in kinds and "fold" in kinds:
            found = self._pitchfork(a, b, found)
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    def _together(self, a: Point, b: Point, found: list[Event]) -> list[Event]:
        """Several multipliers that cross the unit circle at one place, as near as steps can tell: this outranks the
        special points of their kind that are found there."""
        many, order = abs(a.unstable - b.unstable), max(a.unstable, b.unstable)
        located = self.locate(a, b, lambda point: float(np.sort(np.abs(self.others(point)))[-order]) - 1)
        if located is None:
            return found

        def growth(each: Point) -> float:
            return float(np.log(np.sort(np.abs(self.others(each)))[-order:][:many]).sum())

        point = self._polished(a, b, *located, growth)
        mu = self.others(point)
        critical = mu[np.argsort(np.abs(np.abs(mu) - 1))[:many]]
        turned = "symmetry breaking" if a.cycle.halved else "period doubling"
        real = turned if (critical.real < 0).all() else "branch point"
        kind = "torus" if many > 1 and (np.abs(critical.imag) > REAL).all() else real
        return [each for each in found if each.kind != kind] + [Event(MULTIPLE + kind, point)]

    def _polished(self, a: Point, b: Point, at: float, point: Point, test: Callable[[Point], float]) -> Point:
        """A point on a chord near which Newton's method is singular, where a function vanishes, from its neighbours."""
        chord = Chord(self, a, b)
        if chord.length < ROOM:
            behind, ahead = self._step(self.adopted(a, -1.0), ROOM / 2, None), self._step(b, ROOM / 2, None)
            if isinstance(behind, str) or isinstance(ahead, str):
                return point
            short, chord = chord.length, Chord(self, self.adopted(behind[0], -1.0), ahead[0])
            at = (ROOM / 2 + at * short) / (ROOM + short)
        return from_neighbours(chord, at, test) or point

    def _pitchfork(self, a: Point, b: Point, found: list[tuple[float, Event]]) -> list[tuple[float, Event]]:
        """A fold where the equations are singular besides is the branch point: a pitchfork, seen from its tine."""
        small = SINGULAR * max(abs(a.determinant), abs(b.determinant))
        singular = [at for at, event in found if event.kind == "branch point"]
        tines = [
            (at, event)
            for at, event in found
            if event.kind == "fold"
            and (abs(event.point.determinant) < small or any(abs(at - each) < TOGETHER for each in singular))
        ]
        if not tines:
            return found
        others = [e for e in found if e[1].kind not in ("fold", "branch point")]
        return others + [(at, Event("branch point", event.point)) for at, event in tines]

    def _rounding(self, kind: str, a: Point, b: Point, point: Point) -> bool:
        """Whether a change of sign is rounding, as near homoclinic orbits and canards: at a branch point no multiplier
        is anywhere near 1, at a fold the parameter is the same as at both neighbours."""
        if kind == "fold":
            values = a.value, point.value, b.value
            return max(values) - min(values) <= SAME_VALUE * max(abs(each) for each in values)
        return kind == "branch point" and self._off(point) > FAR

    def _off(self, point: Point) -> float:
        """How far the nearest multiplier besides those of the structure is from 1."""
        return float(np.abs(self.others(point) - 1).min(initial=np.inf))

    def _doubt(self, point: Point) -> str:
        """At a branch point a multiplier besides those of the structure is 1: if none is, it is elsewhere."""
        off = self._off(point)
        return "" if off < AT_ONE else f"not located: no other multiplier is nearer to 1 than {off:.1e}"

    def _on_circle(self, point: Point) -> bool:
        """Whether a pair is complex and on the unit circle: two real multipliers with product 1 are no bifurcation."""
        mu = self.others(point)
        return bool(((np.abs(np.abs(mu) - 1) < ON_CIRCLE) & (np.abs(mu.imag) > REAL)).any())

    def locate(
        self, a: Point, b: Point, test: Callable[[Point], float], level: bool = False
    ) -> tuple[float, Point] | None:
        """The place on the chord between two points, and the point, where a function vanishes; it may be known that the
        parameter is level there."""
        between = Chord(self, a, b)
        known = {0.0: test(a), 1.0: test(b)}
        points: dict[float, Point] = {}

        def value(at: float) -> float:
            if at not in known:
                point = between.point(at)
                if isinstance(point, str):
                    raise ArithmeticError(point)
                points[at], known[at] = point, test(point)
            return known[at]

        with suppress(ArithmeticError):
            at = bracketed_root(value, 0.0, 1.0, self.place, first=between.level() if level else None)
            return at, points[at]
        solved = {at: test for at, test in known.items() if np.isfinite(test)}
        before = max((at for at, test in solved.items() if test * known[0.0] > 0), default=0.0)
        after = min((at for at, test in solved.items() if test * known[0.0] <= 0 and at > before), default=1.0)
        if after - before > WIDE and 0.0 in solved and 1.0 in solved:  # multipliers fail near a homoclinic orbit
            before, after = self._approached(value, known, before, after)
        nearest = min(points, key=lambda each: (max(before - each, each - after, 0.0), abs(known[each])), default=None)
        if after - before > WIDE:
            root = (before * known[after] - after * known[before]) / (known[after] - known[before])
            between_them = between.estimate(float(root))
            if between_them is not None and (nearest is None or self._nearer(between_them, points[nearest])):
                return float(root), between_them
        return None if nearest is None or not np.isfinite(known[nearest]) else (nearest, points[nearest])

    def _approached(
        self, value: Callable[[float], float], known: dict[float, float], before: float, after: float
    ) -> tuple[float, float]:
        """A narrower bracket of a root near which Newton's method fails: from both sides, as near as it allows."""
        for _ in range(APPROACHES):
            width = after - before
            for share in (0.5, 0.25, 0.75, 0.05, 0.95):
                with suppress(ArithmeticError):
                    at = before + share * width
                    before, after = (at, after) if value(at) * known[0.0] > 0 else (before, at)
                    break
            if not WIDE < after - before < width:
                break
        return before, after

    def _nearer(self, a: Point, b: Point) -> bool:
        """Whether a multiplier of one is nearer to 1 than of the other."""
        return self._off(a) < self._off(b)

    def point_at(self, a: Point, b: Point, value: float) -> Point | None:
        """The orbit at a value of the parameter between two points."""
        between = Chord(self, a, b)
        at = between.fraction(value)
        solution = self.at_value(between.guess(at), value, b)
        if isinstance(solution, str):
            located = self.locate(a, b, lambda point: point.value - value)
            return located[1] if located else None
        return self.point(solution, between.chord, b.basis)


def _lowest(nodes: list[tuple[float, float]]) -> float | None:
    """Where in (0, 1) the parabola through three values of one sign is nearest to zero or beyond, if it comes near."""
    (t0, f0), (t1, f1), (t2, f2) = nodes
    slope, next_slope = (f1 - f0) / (t1 - t0), (f2 - f1) / (t2 - t1)
    bend = (next_slope - slope) / (t2 - t0)
    if not bend * f1 > 0:
        return None
    at = (t0 + t1) / 2 - slope / (2 * bend)
    if not max(t0, 0.0) < at < min(t2, 1.0):
        return None
    low = f0 + slope * (at - t0) + bend * (at - t0) * (at - t1)
    near = low * f1 < NEAR * abs(f1) * min(abs(f1), abs(f2))
    return at if near and min(abs(at - t0), abs(at - t1), abs(at - t2)) > SEPARATE else None


def _around(nodes: list[tuple[float, float]], at: float) -> list[tuple[float, float]]:
    """The node at a place and its neighbours."""
    ordered = sorted(nodes)
    k = [t for t, _ in ordered].index(at)
    return ordered[k - 1 : k + 2]
