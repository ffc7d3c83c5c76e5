"""Special points in the steps of a branch of orbits: found by functions that change their signs, and located.

Each trial is corrected on the plane across the chord of the step. Two points of a kind in one step leave the signs as
they are; they are looked for where a function comes near zero.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.chords import SEPARATE, Chord, Event, Point
from pfaff.bifurcation.roots import bracketed_root, vertex
from pfaff.bifurcation.singular import ROOM, from_neighbours

if TYPE_CHECKING:
    from pfaff.bifurcation.continuation import Continuation

ON_CIRCLE = 1e-5  # distance of a located pair from the unit circle
REAL = 1e-9  # imaginary parts below this, relative, are rounding
SINGULAR = 1e-2  # determinant at a fold, relative to its neighbours', that makes it a branch point
TOGETHER = 1e-6  # places on the chord of a step nearer than this are the same
AT_ONE, FAR = 1e-4, 0.5  # distances from 1 of a multiplier at a branch point, and of one that is none
WIDE = 1e-8  # bracket of a root on the chord of a step that is to be narrowed
APPROACHES = 40  # steps by which it is
NEAR, DIPS = 0.5, 4  # of a function, its least value in a step that is looked into; how often
PROBE = 0.05  # of a step, over which it is seen whether a function grows
LEVEL = 1e-12  # share of the parameter in a tangent that is rounding
SAME_VALUE = 4e-15  # change of the parameter, relative to itself, that is rounding
MULTIPLE = "multiple "


class SpecialOrbits:
    """Those in the steps of a continuation."""

    def __init__(self, continuation: Continuation) -> None:
        self.continuation = continuation

    def explained(self, a: Point, b: Point) -> bool:
        """Whether the multipliers that cross the unit circle in a step belong to special points that are seen."""
        before, after = a.tests, b.tests
        if a.unstable == b.unstable or isnan(before["torus"]) or isnan(after["torus"]):
            return True
        crossings = sum(
            2 if kind == "torus" else 1 for kind in before if before[kind] * after[kind] < 0 and kind != "fold"
        ) + (before["fold"] * after["fold"] < 0)
        return abs(a.unstable - b.unstable) <= crossings

    def accounted(self, a: Point, b: Point, found: list[Event]) -> bool:
        """Whether special points account for the multipliers that cross: μ_i μ_j − 1 vanishes for real ones as well."""
        if not self.explained(a, b):
            return False
        if not a.tests["torus"] * b.tests["torus"] < 0 or any(event.kind == "torus" for event in found):
            return True
        return abs(a.unstable - b.unstable) <= max(len(found), 1)

    def hidden(
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
                probe = Chord(self.continuation, a, b).point(PROBE)
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

    def hidden_last(self, a: Point, last: Point, known: set[str]) -> dict[str, list[Event]]:
        """The same in the last step of a branch, where no further point shows that a function grows again."""
        found = {}
        for kind, end in last.tests.items():
            start = a.tests.get(kind, np.nan)
            if kind == "fold" or kind in known or not (start * end > 0 and abs(end) < NEAR * abs(start)):
                continue
            probe = Chord(self.continuation, a, last).point(1 - PROBE)
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
        between = None if at is None else Chord(self.continuation, a, b)
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
        return point.multipliers[np.sort(order[self.continuation.structural :])]

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
                doubtful = kind == "branch point" or (kind == "fold" and self._off(point) > FAR)
                note = self._doubt(point) if doubtful else ""
                found.append((at, Event(kind, point, note)))
        if "branch point" in kinds and "fold" in kinds:
            found = self._pitchfork(a, b, found)
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    def together(self, a: Point, b: Point, found: list[Event]) -> list[Event]:
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
        chord = Chord(self.continuation, a, b)
        if chord.length < ROOM:
            c = self.continuation
            behind, ahead = c.step(c.adopted(a, -1.0), ROOM / 2, None), c.step(b, ROOM / 2, None)
            if isinstance(behind, str) or isinstance(ahead, str):
                return point
            short, chord = chord.length, Chord(c, c.adopted(behind[0], -1.0), ahead[0])
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
        """At branch points and folds a multiplier besides those of the structure is 1: if none is, it is elsewhere."""
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
        between = Chord(self.continuation, a, b)
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
            at = bracketed_root(value, 0.0, 1.0, self.continuation.place, first=between.level() if level else None)
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


def _lowest(nodes: list[tuple[float, float]]) -> float | None:
    """Where in (0, 1) the parabola through three values of one sign is nearest to zero or beyond, if it comes near."""
    (t0, _), (t1, f1), (t2, f2) = nodes
    at, low = vertex(nodes) or (np.nan, np.nan)
    if not max(t0, 0.0) < at < min(t2, 1.0):
        return None
    near = low * f1 < NEAR * abs(f1) * min(abs(f1), abs(f2))
    return at if near and min(abs(at - t0), abs(at - t1), abs(at - t2)) > SEPARATE else None


def _around(nodes: list[tuple[float, float]], at: float) -> list[tuple[float, float]]:
    """The node at a place and its neighbours."""
    ordered = sorted(nodes)
    k = [t for t, _ in ordered].index(at)
    return ordered[k - 1 : k + 2]
