"""Special points in the steps of a branch of orbits: detected by functions that change sign, and located.

Each trial is corrected on the plane across the chord of the step. Two points of a kind in one step leave the signs
unchanged; they are looked for where a function comes near zero.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.brackets import bracketed_root
from pfaff.algebra.cubics import Cubic
from pfaff.algebra.tolerances import REAL
from pfaff.bifurcation.orbits.chords import Chord, Point
from pfaff.bifurcation.orbits.parabolas import around, lowest, near_zero
from pfaff.bifurcation.orbits.singular_orbits import ROOM, from_neighbours
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import MULTIPLE, Kind
from pfaff.continuation.problem import Event
from pfaff.kernels.step_rules import NEAR

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.stepping import Continuation

ON_CIRCLE = 1e-5  # distance of a located pair from the unit circle
SINGULAR = 1e-2  # determinant at a fold, relative to its neighbours', that makes it a branch point
TOGETHER = 1e-6  # places on the chord of a step nearer than this are the same
AT_ONE, FAR = 1e-4, 0.5  # distance from 1 of a multiplier at a branch point; and beyond which there is none
ABOUT_ONE = 0.4  # mean of that distance at the ends of a step in which two branch points are looked for
WIDE = 1e-8  # bracket of a root, as a part of the chord, that is to be narrowed
APPROACHES = 40  # most steps of narrowing
FALLS, DIPS = 0.95, 10  # height of a parabola, relative to the one before, below which it is examined again; how often
SMALL = 0.1  # value, relative to its neighbours, that is examined in any case
PROBE = 0.05  # part of a step over which the growth of a function is checked
SAME_VALUE = 4e-15  # change of the parameter, relative to itself, that is rounding
ERRORS = 10.0  # change of the parameter that the error of orbits may cause, relative to that error
FLAT = 1e-8  # relative change of the parameter that may be an error of Newton's method


class SpecialOrbits:
    """The special orbits in the steps of a continuation."""

    def __init__(self, continuation: Continuation) -> None:
        self.continuation = continuation

    def explained(self, a: Point, b: Point) -> bool:
        """Whether the multipliers that cross the unit circle in a step belong to special points that are seen."""
        before, after = a.tests, b.tests
        if a.unstable == b.unstable or isnan(before[Kind.TORUS]) or isnan(after[Kind.TORUS]):
            return True
        crossings = sum(
            2 if kind == Kind.TORUS else 1 for kind in before if before[kind] * after[kind] < 0 and kind != Kind.FOLD
        ) + (before[Kind.FOLD] * after[Kind.FOLD] < 0)
        return abs(a.unstable - b.unstable) <= crossings

    def accounted(self, a: Point, b: Point, found: list[Event]) -> bool:
        """Whether special points account for the multipliers that cross: μ_i μ_j − 1 vanishes for real ones as well."""
        if not self.explained(a, b):
            return False
        if not a.tests[Kind.TORUS] * b.tests[Kind.TORUS] < 0 or any(event.kind == Kind.TORUS for event in found):
            return True
        return abs(a.unstable - b.unstable) <= max(len(found), 1)

    def hidden(
        self, before: Point, a: Point, b: Point, back: float, known: dict[str, list[Event]]
    ) -> dict[str, list[Event]]:
        """Two special points of a kind in one step, where its function has the same sign at both ends.

        They are looked for where the parabola through three points comes near zero, in this step or in the one before
        if none are known there; ``back`` is that step in units of this one.
        """
        found: dict[str, list[Event]] = {}
        for kind, here in a.tests.items():
            first, last = before.tests.get(kind, np.nan), b.tests.get(kind, np.nan)
            if kind == Kind.FOLD or not min(first * here, here * last) > 0:
                continue
            nodes = [(-back, first), (0.0, here), (1.0, last)]
            if abs(here) < NEAR * min(abs(first), abs(last)):
                probe = self._probed(kind, a, b, PROBE)
                nodes = around([*nodes, (PROBE, probe)], 0.0 if probe / here > 1 else PROBE)
            at = lowest(nodes)
            if at is None or (at < 0 and known.get(kind)):
                continue
            start, end = (before, a) if at < 0 else (a, b)
            if at < 0:
                at, nodes = 1 + at / back, [(1 + place / back, value) for place, value in nodes]
            pair = self._pair(kind, start, end, at, nodes)
            found |= {kind: pair} if pair else {}
        return found

    def hidden_last(self, a: Point, last: Point, known: set[str]) -> dict[str, list[Event]]:
        """Two special points of a kind in the last step of a branch, where no further point shows that a function grows
        again."""
        found: dict[str, list[Event]] = {}
        for kind, end in last.tests.items():
            start = a.tests.get(kind, np.nan)
            if kind == Kind.FOLD or kind in known or not (start * end > 0 and abs(end) < NEAR * abs(start)):
                continue
            probe = self._probed(kind, a, last, 1 - PROBE)
            nodes = [(0.0, start), (1 - PROBE, probe), (1.0, end)]
            pair = self._pair(kind, a, last, lowest(nodes), nodes) if probe / end < 1 else []
            found |= {kind: pair} if pair else {}
        return found

    def hidden_folds(self, a: Point, b: Point, ds: float) -> list[Event]:
        """Two folds in a step at both ends of which the parameter moves the same way: looked for where Hermite's cubic
        says that it moves the least between them."""
        first, last = ds * float(a.tangent.scalars[1]), ds * float(b.tangent.scalars[1])
        if not first * last > 0 or self.continuation.level:
            return []
        last /= a.metric.norm(b.tangent)
        middle = Cubic(a.value, first, b.value, last).slope(0.5)
        at = near_zero([(0.0, first), (0.5, middle), (1.0, last)])
        return self._pair(Kind.FOLD, a, b, at, [(0.0, a.tests[Kind.FOLD]), (1.0, b.tests[Kind.FOLD])])

    def _probed(self, kind: str, a: Point, b: Point, at: float) -> float:
        """The value of a function at a place of a step."""
        with suppress(Refused):
            return Chord(self.continuation, a, b).point(at).tests[kind]
        return np.nan

    def _pair(self, kind: str, a: Point, b: Point, at: float | None, nodes: list[tuple[float, float]]) -> list[Event]:
        """Two special points about a place of a step, or about another one found by parabolas through three values,
        where a function has another sign than at both ends."""
        if at is None or (kind == Kind.BRANCH_POINT and (self._off(a) + self._off(b)) / 2 > ABOUT_ONE):
            return []  # determinants vary by orders of magnitude elsewhere too
        between = Chord(self.continuation, a, b)
        for _ in range(DIPS):
            if at is None or not 0 < at < 1:
                return []
            try:
                inner = between.point(at)
            except Refused:
                return []
            if isnan(inner.tests[kind]):
                return []
            if inner.tests[kind] * a.tests[kind] < 0:
                return self.events(a, inner, kind) + self.events(inner, b, kind)
            nodes = [*nodes, (at, inner.tests[kind])]
            nodes = around(nodes, min(nodes, key=lambda node: abs(node[1]))[0])
            # A value that is small beside its neighbours is within the error of the parabola.
            at = lowest(nodes, 1.0 if abs(nodes[1][1]) < SMALL * min(abs(nodes[0][1]), abs(nodes[2][1])) else FALLS)
        return []

    def others(self, point: Point) -> np.ndarray:
        """Multipliers without those that are 1 on all orbits: one for the phase, and one for each conserved
        quantity."""
        order = np.argsort(np.abs(point.multipliers - 1))
        return point.multipliers[np.sort(order[self.continuation.ones :])]

    def events(self, a: Point, b: Point, only: str = "") -> list[Event]:
        """Special points between two, of all kinds or of one, in their order along the branch."""
        before, after = a.tests, b.tests
        kinds = [kind for kind in before if before[kind] * after[kind] < 0 and only in ("", kind)]
        if Kind.FOLD in kinds and not self._turns(a, b):
            kinds.remove("fold")
        if not kinds:
            return []
        found = []
        for kind in kinds:
            located = self.locate(a, b, lambda point, kind=kind: point.tests[kind], kind == Kind.FOLD)  # type: ignore[misc]
            if located is not None and (kind != Kind.TORUS or self._on_circle(located[1])):
                at, point = located
                if kind == Kind.BRANCH_POINT:
                    point = self._polished(a, b, at, point, lambda each: each.determinant)
                    point = replace(point, tangent=Chord(self.continuation, a, b).direction(at))
                if self._rounding(kind, a, b, point):
                    continue
                found.append((at, Event(kind, point, detail=self._doubt(kind, point))))
        if Kind.BRANCH_POINT in kinds and Kind.FOLD in kinds:
            found = self._pitchfork(a, b, found)
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    def together(self, a: Point, b: Point, found: list[Event]) -> list[Event]:
        """Several multipliers that cross the unit circle at one place, as far as steps can tell: this event outranks
        the special points of their kind found there."""
        many, order = abs(a.unstable - b.unstable), max(a.unstable, b.unstable)
        located = self.locate(a, b, lambda point: float(np.sort(np.abs(self.others(point)))[-order]) - 1)
        if located is None:
            return found

        def growth(each: Point) -> float:
            return float(np.log(np.sort(np.abs(self.others(each)))[-order:][:many]).sum())

        point = self._polished(a, b, *located, growth)
        mu = self.others(point)
        critical = mu[np.argsort(np.abs(np.abs(mu) - 1))[:many]]
        turned = Kind.SYMMETRY_BREAKING if a.cycle.halved else Kind.PERIOD_DOUBLING
        real = turned if (critical.real < 0).all() else Kind.BRANCH_POINT
        paired = many > 1 and bool((np.abs(critical.imag) > REAL).all())
        kind = Kind.TORUS if paired else real
        several = MULTIPLE if many > (2 if paired else 1) else ""  # else rounding hides one at the end of the step
        return [each for each in found if each.kind != kind] + [Event(several + kind, point, detail="")]

    def _polished(self, a: Point, b: Point, at: float, point: Point, test: Callable[[Point], float]) -> Point:
        """A point on a chord near which Newton's method is singular, where a function vanishes, from its neighbours."""
        chord = Chord(self.continuation, a, b)
        if chord.length < ROOM:
            c = self.continuation
            try:
                behind, ahead = c.step(c.adopted(a, -1.0), ROOM / 2), c.step(b, ROOM / 2)
            except Refused:
                return point
            short, chord = chord.length, Chord(c, c.adopted(behind[0], -1.0), ahead[0])
            at = (ROOM / 2 + at * short) / (ROOM + short)
        return from_neighbours(chord, at, test) or point

    def _pitchfork(self, a: Point, b: Point, found: list[tuple[float, Event]]) -> list[tuple[float, Event]]:
        """The events with a fold at which the equations are singular besides replaced by a branch point: a pitchfork,
        seen from its tine."""
        small = SINGULAR * max(abs(a.determinant), abs(b.determinant))
        singular = [at for at, event in found if event.kind == Kind.BRANCH_POINT]
        tines = [
            (at, event)
            for at, event in found
            if event.kind == Kind.FOLD
            and (abs(event.point.determinant) < small or any(abs(at - each) < TOGETHER for each in singular))
        ]
        if not tines:
            return found
        others = [e for e in found if e[1].kind not in (Kind.FOLD, Kind.BRANCH_POINT)]
        return others + [(at, Event(Kind.BRANCH_POINT, event.point, detail="")) for at, event in tines]

    def _rounding(self, kind: str, a: Point, b: Point, point: Point) -> bool:
        """Whether a change of sign is rounding, as near homoclinic orbits and canards: at a branch point no
        multiplier is near 1; at a fold none is near 1 and none has crossed it, or the parameter is the same as at both
        neighbours."""
        far = self._off(point) > FAR
        if kind == Kind.FOLD:
            hidden = isnan(a.tests[Kind.TORUS]) or isnan(b.tests[Kind.TORUS])
            told = not hidden and (a.unstable != b.unstable or self._turned_back(a, point, b))
            return self._same(a.value, point.value, b.value) or (far and not told)
        return kind == Kind.BRANCH_POINT and far

    def _turned_back(self, a: Point, fold: Point, b: Point) -> bool:
        """Whether the parameter comes to a fold and goes back by more than errors, though multipliers are so large that
        the one which passes 1 there goes on beyond −1 at once."""
        share = max(FLAT, ERRORS * max(a.error, b.error))
        back = (a.value - fold.value) * (b.value - fold.value) > 0
        return back and not (
            self._same(a.value, fold.value, share=share) or self._same(b.value, fold.value, share=share)
        )

    def _turns(self, a: Point, b: Point) -> bool:
        """Whether the parameter turns between two points, even where it hardly changes, after further Newton steps."""
        if self.continuation.level:
            return False
        if not self._same(*_nearby(a, b), share=FLAT):
            return True
        a, b = self.continuation.settled_point(a), self.continuation.settled_point(b)
        # Near homoclinic orbits, where rounding hides multipliers, meshes of different error make it turn.
        hidden = isnan(a.tests[Kind.TORUS]) and isnan(b.tests[Kind.TORUS])
        share = ERRORS * max(a.error, b.error) if hidden else SAME_VALUE
        return a.tests[Kind.FOLD] * b.tests[Kind.FOLD] < 0 and not self._same(
            *_nearby(a, b), share=max(share, SAME_VALUE)
        )

    def _same(self, *values: float, share: float = SAME_VALUE) -> bool:
        """Whether values of the parameter differ by rounding, relative to them and to the change that alters the
        equations."""
        natural = self.continuation.natural
        size = max(abs(each) for each in values) + (natural if isfinite(natural) else 0.0)
        return max(values) - min(values) <= share * size

    def _off(self, point: Point, place: float = 1.0) -> float:
        """Distance from 1, or from another place, of the nearest multiplier that is not 1 by structure."""
        return float(np.abs(self.others(point) - place).min(initial=np.inf))

    def _doubt(self, kind: str, point: Point) -> str:
        """A note where no multiplier is 1 or −1 besides those of the structure, as one is at special points: the point
        is elsewhere."""
        if kind == Kind.TORUS:
            return ""
        place = 1 if kind in (Kind.FOLD, Kind.BRANCH_POINT) else -1
        off = self._off(point, place)
        near = off < AT_ONE or (kind != Kind.BRANCH_POINT and not off > FAR)
        return "" if near else f"not located: no other multiplier is nearer to {place} than {off:.1e}"

    def _on_circle(self, point: Point) -> bool:
        """Whether a pair is complex and on the unit circle: two real multipliers with product 1 are no bifurcation."""
        mu = self.others(point)
        return bool(((np.abs(np.abs(mu) - 1) < ON_CIRCLE) & (np.abs(mu.imag) > REAL)).any())

    def locate(
        self, a: Point, b: Point, test: Callable[[Point], float], level: bool = False
    ) -> tuple[float, Point] | None:
        """The place on the chord between two points, and the point, where a function vanishes; the parameter may be
        known to be level there."""
        between = Chord(self.continuation, a, b)
        known = {0.0: test(a), 1.0: test(b)}
        points: dict[float, Point] = {}

        def value(at: float) -> float:
            if at not in known:
                point = between.point(at)
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
        """Whether a multiplier of one point is nearer to 1 than those of the other."""
        return self._off(a) < self._off(b)


def _nearby(a: Point, b: Point) -> list[float]:
    """Values of the parameter at two points and a unit ahead of them."""
    return [value for each in (a, b) for value in (each.value, each.value + each.tangent.scalars[1])]
