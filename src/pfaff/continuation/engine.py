"""The one engine: a curve of solutions is followed by steps, and special points on the way are located.

Pseudo-arclength continuation (Keller 1977; Doedel 1991) of any problem: a guess along the tangent is corrected on the
plane across it. Steps follow the turning of the tangent; one that is refused, or in which a problem says that something
hides, is halved. So folds that lie close together are resolved and not jumped over. A step in which a test function
changes its sign is searched for its zero, each trial a solution on the plane across the chord.

Where a problem has a walker (``Problem.walked``), the walker takes the stretches on which nothing unusual happens, by
the same rules but faster, and leaves every other step to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, Generic

import numpy as np

from pfaff.algebra.cubics import vertex
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.kinds import EVENT, Kind
from pfaff.continuation.problem import FAILURES, TURNING, Event, P, Problem, Stretch
from pfaff.continuation.walked_points import Line, Walked

ABOUT = 0.02  # distance of the neighbours of the first point, relative to the largest step
HERE = 1e-6  # distance, in the problem's own measure, within which an event is at the first point
NEAR = 0.5  # least value of a test predicted by a parabola, relative to the least known: above it no dip is expected
DIPS = 6  # trials in the search for a dip
STEADY = 0.25  # relative change of a test from point to point below which a step is not searched for dips
ONE_EVENT = 1e-3  # part of a chord within which events of two kinds are one
BESIDE = 1e-6  # part of a chord within which the best of several trials is taken
CLOSED = Ending(Reason.CLOSED, "closes: it is back at its first point")

Test = Callable[[Any], float]


class Engine(Generic[P]):
    """The curve of solutions of a problem through a point; the problem is renewed on the way."""

    def __init__(self, problem: Any) -> None:
        self.problem: Problem[P] = problem
        self._before: P | None = None  # the point before the step
        self.watched: Mapping[str, Test] = {}  # test functions of the user's events, by name

    def follow(
        self, at: P, step: float, bounds: tuple[float, float], fresh: bool = False, home: P | None = None
    ) -> Iterator[P | Event[P] | Ending]:
        """Points and events in order, then the ending; ``step`` is the largest, ``bounds`` are those ahead and behind.
        Points of a stretch come together, as ``Walked``, and are made on demand.

        An event at the first point itself counts on a ``fresh`` branch, not on one that is followed on from a point
        beyond its ``home``.
        """
        pace = self.problem.pace
        first, length, passed = home or at, pace.first * step, Line([at])
        known = self._events_at(at, ABOUT * step) if fresh else []
        yield from known
        while True:
            at, length, known_ahead, ending = yield from self._walked(at, length, step, bounds, first, passed)
            if ending:
                yield ending
                return
            try:
                ahead, turn = known_ahead or self.problem.ahead(at, length)
                ahead, ending = self._cut(at, ahead, bounds, first if len(passed) > 2 else None)
                events = self.problem.events(self, at, ahead, length, ending is not None)
                turned = None if ending else self._turned(at, ahead, events, bounds)
                if turned:
                    ahead, ending = turned
                    events = self.problem.events(self, at, ahead, length, True)
                events = [*self._watched(at, ahead), *events]
            except Refused as why:
                length /= 2
                if length < pace.smallest:
                    yield self.problem.stuck(at, why, passed)
                    return
                continue
            for event in events:
                if known and len(passed) == 1 and self._apart(event.point, at) < HERE:
                    continue
                yield event
                if event.last:
                    yield Ending(Reason.SPECIAL, f"ends at a {event.kind} point")
                    return
            try:
                ahead = self.problem.kept(ahead)
            except Refused as why:
                yield self.problem.stuck(at, why, passed)
                return
            yield ahead
            passed.append(ahead)
            if not ending:
                vanished, ending = self.problem.ended(passed) or (None, None)
                if vanished:
                    yield vanished
            if ending:
                yield ending
                return
            length, self._before = min(step, self.problem.paced(length, turn)), at
            self.problem, at = self.problem.renewed(ahead)

    # Steps

    def _walked(
        self, at: P, length: float, step: float, bounds: tuple[float, float], first: P, passed: Line[P]
    ) -> Generator[Any, None, tuple[P, float, tuple[P, float] | None, Ending | None]]:
        """Stretches taken by the problem's walker, if it has one. Returns where it stops, the length of the next step,
        the point ahead if that is known, and the ending if there is one."""
        more = not self.watched
        stretch = None
        while more:
            stretch = self.problem.walked(at, length, step, bounds, first)
            if stretch is None:
                break
            at, points = yield from self._taken(at, stretch)
            passed.extend(points, _point_alone)
            length, more = stretch.length, stretch.more
            if stretch.reached is not None:
                return at, length, None, _on_bound(stretch.reached, bounds)
        return at, length, None if stretch is None else stretch.ahead, None

    def _taken(self, at: P, stretch: Stretch[P]) -> Generator[Any, None, tuple[P, Walked[P]]]:
        """Yield the points and events of a stretch; return its last point and all its points."""
        points, done = stretch.points, 0
        for before, problem, event in stretch.events:
            if before > done:
                yield points.part(done, before)
            self.problem, done = problem, before
            yield event
        if len(points) > done:
            yield points.part(done, len(points))
        if len(points) and stretch.reached is None:
            self._before = points.made(len(points) - 2)[1] if len(points) > 1 else at
            self.problem, at = points.made(len(points) - 1)
            self.problem, at = self.problem.renewed(at)
        return at, points

    def _cut(self, a: P, b: P, bounds: tuple[float, float], home: P | None) -> tuple[P, Ending | None]:
        """The end of a step, moved back to the bound that it crosses or to the first point of a closed branch; and the
        ending."""
        first, last = self.problem.value(a), self.problem.value(b)
        for which, bound in enumerate(bounds):
            if (first - bound) * (last - bound) < 0 or last == bound:
                return b if last == bound else self._landed(a, b, bound), _on_bound(which, bounds)
        closing = None if home is None else self._closing(a, b, home)
        return (b, None) if closing is None else (closing, CLOSED)

    def _turned(self, a: P, b: P, events: list[Event[P]], bounds: tuple[float, float]) -> tuple[P, Ending] | None:
        """The end of a step that crosses the bound twice within one step, turning back at a fold beyond it."""
        slope = self.problem.slope
        if not slope(a) * slope(b) < 0:
            return None
        fold = next((event.point for event in events if event.kind == Kind.FOLD), None)
        place = (0.0, fold) if fold is not None else self.problem.zero(TURNING, a, b) or self.located(a, b, slope)
        landed, ending = (b, None) if place is None else self._cut(a, place[1], bounds, None)
        return None if ending is None else (landed, ending)

    def _landed(self, a: P, b: P, bound: float) -> P:
        problem = self.problem
        found = problem.landed(a, b, bound)
        if found is None:
            place = self.located(a, b, lambda point: problem.value(point) - bound)
            found = b if place is None else problem.on_bound(place[1], bound)
        return found

    def _closing(self, a: P, b: P, home: P) -> P | None:
        """The point of a step at which the branch returns to its first point."""
        if not self.problem.returns(a, b, home):
            return None
        read = partial(self.problem.signature, like=home)
        start, before, after = read(home), read(a), read(b)
        chord, back = after - before, start - before
        if not 0 < back @ chord <= chord @ chord or np.linalg.norm(back) > 2 * np.linalg.norm(chord):
            return None
        place = self.located(a, b, lambda point: float((read(point) - start) @ chord))
        near = place is not None and np.linalg.norm(read(place[1]) - start) < self.problem.returned
        return self.problem.closed(place[1], home) if near and place is not None else None

    # Special points

    def events(self, a: P, b: P, names: Sequence[str] | None = None) -> list[Event[P]]:
        """Special points between two, in their order along the branch; for all tests, or for those in ``names``."""
        problem = self.problem
        before, after = problem.tests(a), problem.tests(b)
        between, found = cache(problem.chord(a, b)), []
        for name in (each for each in after if each in before and (names is None or each in names)):
            for at, point in self._zeros(a, b, partial(_tested, problem, name), between, name):
                event = problem.event(name, point)
                found += [(at, event)] if event else []
        missed = problem.missed(a, b, [event for _, event in found])
        if missed:
            # Without a change of sign, it is rounding that hides the zero at one of the ends.
            ends = ((0.0, a), (1.0, b))
            at, point = self.located(a, b, missed.test) or min(ends, key=lambda end: abs(missed.test(end[1])))
            several = missed.event(point)
            found += [(at, several)] if several else []
        found.sort(key=lambda each: each[0])
        return [
            event for at, event in found
            if not any(event.kind in other.outranks and abs(at - there) < ONE_EVENT for there, other in found)
        ]  # fmt: skip

    def _watched(self, a: P, b: P) -> list[Event[P]]:
        """The user's events between two points."""
        if not self.watched:
            return []
        between = cache(self.problem.chord(a, b))
        found = [
            (at, Event(f"{EVENT}{name}", point))
            for name, test in self.watched.items()
            for at, point in self._zeros(a, b, cache(test), between)
        ]
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    def _events_at(self, at: P, length: float) -> list[Event[P]]:
        """Events at a point, found from its neighbours on both sides."""
        problem = self.problem
        if problem.is_quiet_about(at, length):
            return []
        try:
            before, after = (
                problem.point(problem.corrected(problem.moved(at, side), at), at) for side in (-length, length)
            )
        except FAILURES:
            return []
        if problem.is_quiet(before, after):
            return []
        return [event for event in self.events(before, after) if self._apart(event.point, at) < HERE]

    def _apart(self, a: P, b: P) -> float:
        return float(np.linalg.norm(self.problem.signature(a, b) - self.problem.signature(b, b)))

    def _zeros(
        self, a: P, b: P, test: Test, between: Callable[[float], P], name: str = ""
    ) -> Iterator[tuple[float, P]]:
        """Where on the chord between two points a test vanishes: once, or twice if it dips through zero and back."""
        dips = self.problem.looks_inside and self._may_dip(test, a, b)
        inner = dip(lambda at: test(between(at)), test(a), test(b)) if dips else None
        cuts = [(0.0, a), *([] if inner is None else [(inner, between(inner))]), (1.0, b)]
        for (start, first), (end, last) in pairwise(cuts):
            ends = test(first), test(last)
            # A zero at the end of a step belongs to the step that ends with it.
            if ends[0] * ends[1] > 0 or ends[0] == 0:
                continue
            place = self.problem.zero(name, first, last) or self.located(first, last, test)
            if place is None:
                continue

            def along(share: float, start: float = start, end: float = end) -> float:
                return start + share * (end - start)

            at, value = place[0], abs(test(place[1])) / self.problem.sharp
            least, most = sorted(map(abs, ends))
            # Some functions change their sign through infinity: l1, where other eigenvalues are resonant.
            if value <= least or (value <= most and value < abs(test(between(along(inside(at)))))):
                yield along(at), place[1]

    def _may_dip(self, test: Test, a: P, b: P) -> bool:
        """Whether a test with one sign at both ends of a step may have the other in between: its relative change in
        this step, or in the one before, is large enough."""
        first, last = test(a), test(b)
        if not first * last > 0:
            return False
        earlier = np.nan if self._before is None else test(self._before)
        changes = max(abs(last - first), abs(first - earlier))
        return not changes < STEADY * min(abs(first), abs(last))

    def located(self, a: P, b: P, test: Test) -> tuple[float, P] | None:
        """Where on the chord between two points a test vanishes, and the point there."""
        points, between = {0.0: a, 1.0: b}, self.problem.chord(a, b)
        tested: dict[float, float] = {}

        def value(at: float) -> float:
            if at not in points:
                points[at] = between(at)
            tested[at] = test(points[at])
            return tested[at]

        if not value(0.0) * value(1.0) <= 0:
            return None
        left = min(map(abs, tested.values()))
        try:
            root = self.problem.root(value, self.problem.place)
        except FAILURES:
            # Trials that hit the singular point itself fail; the one before them is as good.
            root = min(tested, key=lambda at: abs(tested[at]))
            return (root, points[root]) if abs(tested[root]) < self.problem.met * left else None
        nearest = min((at for at in tested if abs(at - root) < BESIDE), key=lambda at: abs(tested[at]))
        return root, points[nearest]


def inside(at: float) -> float:
    """A place in (0, 1) half way from another to the farther end: a function that vanishes there is larger here."""
    return at / 2 if at > 0.5 else (1 + at) / 2


def _on_bound(which: int, bounds: tuple[float, float]) -> Ending:
    """The ending on the bound ahead (0) or behind (1)."""
    reason, how = ((Reason.REACHED, "reached"), (Reason.OTHER_SIDE, "came to"))[which]
    return Ending(reason, f"{how} {bounds[which]:.10g}", bounds[which])


def _point_alone(problem: Any, point: P) -> P:
    return point


def dip(value: Callable[[float], float], first: float, last: float) -> float | None:
    """A place in (0, 1) where a function has another sign than at both ends, by parabolas through its least values."""
    known, at = {0.0: first, 1.0: last}, 0.5
    for _ in range(DIPS):
        try:
            known[at] = value(at)
        except FAILURES:
            return None
        if not known[at] * first > 0:
            return at if known[at] * first < 0 else None
        nodes = sorted(known.items(), key=lambda each: abs(each[1]))[:3]
        at, low = vertex(nodes) or (np.nan, np.nan)
        if not 0 < at < 1 or at in known or low / first > NEAR * nodes[0][1] / first:
            return None
    return None


def _tested(problem: Problem[P], name: str, point: P) -> float:
    return problem.tests(point).get(name, np.nan)
