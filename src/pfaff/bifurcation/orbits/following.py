"""A branch of periodic orbits as a problem of continuation: its steps, its special points, and how it ends.

The step follows the turning of the tangent, of the chord and of the corrections, so that folds that lie close
together are resolved and not jumped over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pfaff.algebra.brackets import bracketed_root
from pfaff.bifurcation.orbits.chords import Chord, Point
from pfaff.bifurcation.orbits.collocation import EDGE
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.lost_rows import vanishing_row
from pfaff.bifurcation.orbits.orbit_ends import (
    STILL,
    at_zero,
    beyond_bounds,
    converge,
    homoclinic,
    limit,
    moments,
    relative_sizes,
    settled_digits,
    slows_evenly,
    states_of_rest,
)
from pfaff.bifurcation.orbits.quiet_steps import silent
from pfaff.bifurcation.orbits.saddle_nodes import saddle_node_near
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.kinds import MULTIPLE
from pfaff.continuation.problem import Event, Pace, Problem
from pfaff.kernels.step_rules import (
    ADAPT_EVERY,
    COARSE,
    GROWTH,
    LONG,
    LONGER,
    MERGED,
    OUTGROWN,
    VANISHING,
    WITHIN,
    apart,
    lengthens,
    paced,
    strays,
)

UNSTEADY = 1e-3  # change of the parameter, relative to the accuracy, that is none near homoclinic orbits
AHEAD = 1e-3  # share of its tangent that determines the direction of a branch
AT_EDGE = 4 * EDGE  # margin of a chart at which a branch ends
LEFT = 0.1  # margin at which it is left for one without an edge
ENDING = 4  # points from which the end is extrapolated
QUICK = 0.05  # period, relative to that at the start, below which growing orbits may have no bound
DIGITS = 15  # digits of a limit, relative to the scale of the load
ON_ORBIT = 0.1  # farthest extrapolated load from a saddle-node, relative to the way to it


class Passed(NamedTuple):
    """Data that tell how a branch ends: period, largest amplitude, the parameter relative to its scale, and the margin
    of the chart."""

    period: float
    amplitude: float
    value: float
    margin: float


class Orbits(Problem[Point]):
    """The branch through an orbit, followed once: data of the last steps are kept for the next."""

    pace = Pace(first=0.5, smallest=1e-7, growth=GROWTH)
    of = "orbit"

    def __init__(self, continuation: Continuation, start: Point, home: Point, edge: float = AT_EDGE) -> None:
        self.continuation, self.special = continuation, continuation.special
        self.place, self.returned = continuation.place, max(self.returned, continuation.accuracy)
        self.edge = edge  # margin of the chart at which the branch ends
        self.tried: Point | None = None  # the point from which a step was refused
        self.earlier: Point | None = None  # the point before, ...
        self.gone, self.rate = 0.0, 0.0  # ... the step from there, and the determinant's change in it
        self.age = ADAPT_EVERY  # age of the mesh, in steps: the first orbit's mesh is not its own
        self.length, self.finer = 0.0, False  # length of the last step, and whether it needed a finer mesh
        self.finest: Point | None = None  # the last point on its own mesh, where it was given a coarser one
        self.hidden: dict[str, list[Event[Point]]] = {}
        self.multiple: set[str] = set()  # kinds of multiple points in the last step, which outrank others there
        self._told: tuple[Point, Passed] | None = None  # the last point that was asked for, and its data
        self.passed = [self._passed(start)]
        self.shortest, self.greatest, *_ = self.passed[0]
        self.at_home = self._passed(home)
        self.farthest = apart(*self.passed[0][:3], *self.at_home[:3])

    # Steps

    def ahead(self, at: Point, length: float) -> tuple[Point, float]:
        before = None if self.tried is at else self.earlier
        self.tried, self.length = at, length
        try:
            following, turn = self._stepped(at, length, before)
            coarse = following.error > COARSE * self.continuation.accuracy
        except Refused:
            coarse = True
            if self.finest is None:
                raise
        if coarse and self.finest is not None:
            following, turn = self._stepped(self.finest, length, before)
        if self._strays(at, following, length):
            raise Refused("another branch is near")
        return following, turn

    def _strays(self, at: Point, ahead: Point, length: float) -> bool:
        """Whether a step leads onto another branch, by the determinant."""
        change, resolved = self.rate * length, (at.tests["torus"], ahead.tests["torus"])
        return strays(at.determinant, change, ahead.determinant, *resolved)

    def _stepped(self, at: Point, length: float, before: Point | None) -> tuple[Point, float]:
        c = self.continuation
        return c.step(at, length, None if before is None else c.moved_to(before, at.cycle.mesh))

    def paced(self, length: float, turn: float) -> float:
        return paced(length, turn)

    def kept(self, point: Point) -> Point:
        """The point on a finer mesh where its accuracy needs one."""
        if point.error <= self.continuation.accuracy:
            return point
        self.finer = True
        return self.continuation.refined(point)

    def renewed(self, point: Point) -> tuple[Orbits, Point]:
        at = self.tried
        told = self.earlier is not None and not self.finer  # the determinant of the first orbit belongs to other pins
        self.rate = (point.determinant - at.determinant) / self.length if told and at is not None else 0.0
        self.earlier, self.gone, self.age = at, self.length, 1 if self.finer else self.age + 1
        self.finer, self.finest = False, None
        if self.age >= ADAPT_EVERY or self.continuation.worn(point):
            self.rate, self.age, fine = 0.0, 0, point
            point = self.continuation.adapted(point, self.length)
            self.finest = fine if fine.cycle.intervals > point.cycle.intervals else None
        return self, point

    # Places on a chord

    def value(self, point: Point) -> float:
        return point.value

    def slope(self, point: Point) -> float:
        return 0.0 if self.continuation.level else float(point.tangent.scalars[1])

    def chord(self, a: Point, b: Point) -> Callable[[float], Point]:
        return Chord(self.continuation, a, b).point

    def root(self, function: Callable[[float], float], place: float) -> float:
        """A root by few evaluations, since each solves for an orbit."""
        return bracketed_root(function, 0.0, 1.0, place)

    def landed(self, a: Point, b: Point, bound: float) -> Point:
        found = self.continuation.point_at(a, b, bound)
        if found is None:
            raise Refused(f"the orbit at {bound:.10g} was not found")
        return found

    # Special points

    def events(self, engine: Any, a: Point, b: Point, length: float, last: bool) -> list[Event[Point]]:
        if not last and silent(self.earlier, a, b, length, self.gone, self.continuation.level):
            self.hidden, self.multiple = {}, set()
            return []
        found = self.special.events(a, b)
        if not self.special.accounted(a, b, found):
            if length > MERGED:
                raise Refused("more multipliers cross the unit circle than special points account for")
            found = self.special.together(a, b, found)
        length = Chord(self.continuation, a, b).length if last else length
        folds = self.special.hidden_folds(a, b, length)
        known, self.hidden = self.hidden, {}
        if self.earlier is not None:
            self.hidden = self.special.hidden(self.earlier, a, b, self.gone / length, known)
        if last:
            self.hidden |= self.special.hidden_last(a, b, set(self.hidden))
        outranked, self.multiple = self.multiple, {e.kind[len(MULTIPLE) :] for e in found if MULTIPLE in e.kind}
        self.hidden = {kind: two for kind, two in self.hidden.items() if kind not in self.multiple | outranked}
        return [*folds, *(event for two in self.hidden.values() for event in two), *found]

    # Endings

    def returns(self, a: Point, b: Point, home: Point) -> bool:
        away = apart(*self._passed(b)[:3], *self.at_home[:3])
        if not away < min(self.farthest, WITHIN * self.length):
            return False
        start, before, after = (self.signature(each, home) for each in (home, a, b))
        ahead = self._signature(home.cycle.moved(home.tangent, AHEAD), home) - start
        return bool(ahead @ (after - before) >= 0)  # not the same way back

    def signature(self, point: Point, like: Point) -> np.ndarray:
        return self._signature(point.cycle, like)

    def _signature(self, cycle: Cycle, like: Point) -> np.ndarray:
        shape = moments(self.continuation.collocation, cycle, 1 / like.metric.states)
        scale = self.continuation.scale(like.value)
        return np.array([cycle.value / scale, cycle.period / like.cycle.period, *shape])

    def closed(self, found: Point, home: Point) -> Point:
        return found  # it may be in another phase

    def _passed(self, point: Point) -> Passed:
        if self._told is None or self._told[0] is not point:
            facts = Passed(point.cycle.period, point.cycle.largest_amplitude, point.value / self._scale, point.margin)
            self._told = point, facts
        return self._told[1]

    def ended(self, passed: Sequence[Point]) -> tuple[None, Ending] | None:
        """The ending where orbits shrink to an equilibrium, come to rest at one, or reach the edge of their chart."""
        last, facts = passed[-1], self._passed(passed[-1])
        self.passed.append(facts)
        self.farthest = max(self.farthest, apart(*facts[:3], *self.at_home[:3]))
        self.shortest, self.greatest = min(self.shortest, facts.period), max(self.greatest, facts.amplitude)
        forced = bool(self.continuation.collocation.equations.flow.carried)  # then there is none to shrink to
        small = not forced and facts.amplitude < VANISHING * self.greatest
        long = lengthens(facts.period, self.shortest, last.tests["torus"])
        # Orbits whose period stays may grow to any size and go on, forced ones until damping, however small, counts.
        if not forced and min(facts.period, self.shortest) < QUICK * self.at_home.period and self._outgrown:
            return None, self._outgrown
        if not (small or long or last.margin < self.edge):
            return None
        periods, _, values, margins = zip(*self.passed, strict=True)
        rows = [(value,) for value in values]
        if last.margin < self.edge:
            edge = at_zero(margins[-ENDING:], values[-ENDING:]) * self._scale
            off = self.continuation.collocation.off_chart
            return None, Ending(Reason.EDGE, f"no orbit beyond {edge:.8g}: {off}")
        if small and self._shrinks(passed):
            words = f"the orbits shrink to an equilibrium near {last.value:.8g}: a Hopf point"
            return None, Ending(Reason.EQUILIBRIUM, words)
        resting = self._resting(last) if long and homoclinic(periods, rows, self._still, hidden=True) else None
        return (None, resting) if resting else None

    def _shrinks(self, passed: Sequence[Point]) -> bool:
        """Whether all states of orbits come to rest together, while the parameter converges."""
        sizes = relative_sizes(np.array([each.cycle.amplitude for each in passed]))
        rows = [(each.value / self._scale,) for each in passed]
        return bool(sizes[-1] < VANISHING * sizes.max() and converge((1 / sizes).tolist(), rows))

    def stuck(self, at: Point, why: Refused, passed: Sequence[Point]) -> Ending:
        if known := self._outgrown or self._resting(at):
            return known
        vanishing = self._vanishing(at)
        reason = Reason.SINGULAR if vanishing else why.reason
        return Ending(reason, f"no orbit beyond {at.value:.10g}: {vanishing or why}")

    def _vanishing(self, at: Point) -> str:
        """Which constraint nearly vanishes on an orbit, in words; empty if none does."""
        c, equations = self.continuation.collocation, self.continuation.collocation.equations
        return vanishing_row(equations.flow, c.stages(at.cycle), equations.numbers_at(at.value))

    @property
    def _outgrown(self) -> Ending | None:
        """The end of a branch whose orbits have grown by orders of magnitude, while the parameter tends to a value."""
        amplitudes = [each.amplitude for each in self.passed]
        if amplitudes[-1] <= OUTGROWN * self.at_home.amplitude:
            return None
        where = beyond_bounds(amplitudes, [each.value for each in self.passed])
        words = f"the orbits grow without bound near {where * self._scale:.6g}" if where is not None else ""
        return Ending(Reason.OUTGROWN, words) if words else None

    def _resting(self, last: Point) -> Ending | None:
        """The ending where orbits nearly come to rest, the longer the more; for free orbits only, since a forcing
        prescribes its period."""
        if self.continuation.collocation.equations.flow.carried:
            return None
        periods, values = [each.period for each in self.passed], [each.value for each in self.passed]
        growth = periods[-1] / min(periods)
        if periods[-1] < max(periods) or growth < LONGER:
            return None
        if growth < LONG and not converge(periods, [(value,) for value in values], self._still):
            return None
        rests = states_of_rest(self.continuation.collocation, last.cycle)
        if not rests and not slows_evenly(self.continuation.collocation, last.cycle):
            return None
        where, error = (each * self._scale for each in limit(periods, values, self._still))
        towards = ("curve of equilibria", "homoclinic orbit", "heteroclinic cycle")[min(len(rests), 2)]
        node = self._saddle_node(last, rests, where)
        if node is not None:
            where, error, towards = node, 0.0, "saddle-node of equilibria on the orbit"
        where = self._scale * round(where / self._scale, DIGITS) + 0.0  # no negative zero
        words = f"the period grows without bound near {settled_digits(where, error)}: towards a {towards}"
        return Ending(Reason.HOMOCLINIC, words)

    def _saddle_node(self, last: Point, rests: Sequence[np.ndarray], where: float) -> float | None:
        """The load at which equilibria appear on orbits that slow down, if the load converges to it."""
        equations, cycle = self.continuation.collocation.equations, last.cycle
        if not rests or len(self.continuation.held):
            return None
        size = np.where(cycle.amplitude > 0, cycle.amplitude, 1.0)
        numbers = equations.numbers_at(cycle.value)
        node = saddle_node_near(equations.flow, equations.load, numbers, rests[0] * size, size, self._scale)
        if node is None or not abs(node.value - where) < ON_ORBIT * abs(node.value - cycle.value):
            return None
        return node.value

    @property
    def _scale(self) -> float:
        return self.continuation.scale(self.continuation.origin)

    @property
    def _still(self) -> float:
        """Changes of the parameter that count as none, relative to its scale."""
        return max(STILL, UNSTEADY * self.continuation.accuracy)
