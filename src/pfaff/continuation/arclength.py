"""Pseudo-arclength continuation of G(z) = 0 with one more unknown than equations (Keller 1977; Doedel 1991).

Steps follow the turning of the tangent, and a problem may say that a step hides something; it is then halved. So
folds that lie close together are resolved and not jumped over. A step in which a test function changes its sign is
searched by Brent's method, each trial corrected on the plane across the chord.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from pfaff.algebra.bordering import row_sizes
from pfaff.algebra.brackets import vertex
from pfaff.errors import PfaffError

NEWTON_STEPS = 12
SETTLED = 1e-9  # the last change, in units of the metric, of an accepted point
LARGEST_TURN = 0.35  # of the tangent in a step, in radians
EASY_TURN = 0.12  # below which steps grow
STRAYED = 0.3  # distance of a point from its prediction, relative to the step
FIRST, GROWTH = 0.2, 1.6  # of the largest step; of one step over the one before
SMALLEST = 1e-9  # step below which the branch ends
RESOLVED = 1e-5  # step below which nothing is looked for between its ends
SINGULAR = 1e-10  # singular values below this, relative to the largest, are zero at the start
FLAT = 1e-7  # change of the parameter along a unit tangent that is rounding
PLACE = 1e-14  # to which special points are located on the chord of their step
MET = 1e-8  # of a test at both ends of a step, its value at a trial that is as good as its zero
ABOUT = 0.02  # neighbours of the first point, relative to the largest step
HERE = 1e-6  # distance from the first point of an event that is at it
NEAR, DIPS = 0.5, 6  # of a test, its least value in a step that is looked into; how often
SAME = 1e-3  # part of a chord on which events of two kinds are one
RETURNED = 1e-6  # distance at which a branch has come back to its start
CLOSED = "closes: it is back at its first point"


Test = Callable[["Spot"], float]


class Problem(Protocol):
    """What can be followed: equations, units, and what is to be known about every point."""

    def residual(self, z: np.ndarray) -> np.ndarray: ...

    def jacobian(self, z: np.ndarray) -> np.ndarray: ...

    def units(self, z: np.ndarray) -> np.ndarray:
        """Sizes of the unknowns, by which lengths are measured."""

    def value(self, z: np.ndarray) -> float:
        """Of the parameter that says where the branch ends."""

    def rebased(self, z: np.ndarray) -> Problem:
        """The same problem with its borders renewed at a point."""

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> Any: ...

    def tests(self, spot: Spot) -> dict[str, float]:
        """Functions that change their sign at special points."""

    def hides(self, a: Spot, b: Spot, length: float) -> bool:
        """Whether something may happen between two points that does not show at them."""

    looks_inside: bool  # whether tests may vanish twice in a step, which ``hides`` does not say

    def event(self, name: str, spot: Spot) -> Event | None:
        """What a zero of a test function is; none if it is nothing."""

    def missed(self, a: Spot, b: Spot, found: Sequence[Event]) -> Missed | None:
        """What happens between two points that the events found there do not explain."""


@dataclass(frozen=True, eq=False)
class Spot:
    """A point with its tangent, of unit length in its units, and what the problem knows about it."""

    z: np.ndarray
    tangent: np.ndarray
    units: np.ndarray
    facts: Any


@dataclass(frozen=True, eq=False)
class Event:
    """A located special point; the branch ends at a ``last`` one, and others that it ``outranks`` are the same."""

    kind: str
    spot: Spot
    last: bool = False
    detail: Any = None
    outranks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Missed:
    """A function that vanishes where no test changes its sign, and what happens there."""

    test: Callable[[Spot], float]
    event: Callable[[Spot], Event | None]


@dataclass(frozen=True)
class Stop:
    """Why a branch ends."""

    why: str


class Arclength:
    """The solutions through a point, followed."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem

    def corrected(self, guess: np.ndarray, row: np.ndarray) -> np.ndarray | str:
        """The solution near a guess where row·z keeps its value, or why there is none."""
        units = self.problem.units(guess)
        z, last, value = guess.copy(), np.inf, row @ guess
        for _ in range(NEWTON_STEPS):
            try:
                G, J = self.problem.residual(z), self.problem.jacobian(z)
            except (PfaffError, np.linalg.LinAlgError) as problem:
                return str(problem)
            if not (np.isfinite(G).all() and np.isfinite(J).all()):
                return "the equations are not finite"
            step = -_solved(np.vstack([J, row]), np.append(G, row @ z - value), units)
            size = float(np.abs(step / units).max())
            if not np.isfinite(size) or size > 1e6:
                return "Newton's method meets a singular matrix"
            z = z + step
            if size < 1e-15 or (size < SETTLED and size >= last / 4):
                return z
            last = size
        return z if last < SETTLED else f"Newton's method does not settle (last change {last:.1e})"

    def spot(self, z: np.ndarray, towards: np.ndarray) -> Spot:
        """Everything about a solution; its tangent has a positive product with a direction."""
        units = self.problem.units(z)
        J = self.problem.jacobian(z)
        row = towards / units**2 / (np.linalg.norm(towards / units) or 1.0)
        tangent = _solved(np.vstack([J, row]), np.eye(len(z))[-1], units)
        if not np.isfinite(tangent).all():
            tangent = towards
        tangent = tangent / np.linalg.norm(tangent / units)
        return Spot(z, tangent, units, self.problem.inspect(z, tangent))

    def start(self, z: np.ndarray, ahead: float) -> Spot:
        """The first point, its tangent towards larger values of the parameter (or smaller ones, if ahead < 0)."""
        units = self.problem.units(z)
        rows = row_sizes(self.problem.jacobian, z, units)
        scaled = self.problem.jacobian(z) * units / np.where(rows, rows, 1.0)[:, None]
        _, values, right = np.linalg.svd(scaled)
        nulls = right[int((values > SINGULAR * values.max(initial=0.0)).sum()) :] * units
        rises = np.array([self.problem.value(z + null) - self.problem.value(z) for null in nulls])
        # Where branches cross, the one along which the parameter changes most.
        null = rises @ nulls if np.abs(rises).max() > FLAT else nulls[-1]
        rise = self.problem.value(z + null) - self.problem.value(z)
        return self.spot(z, null if rise * ahead >= 0 else -null)

    def follow(
        self, spot: Spot, step: float, bounds: tuple[float, float], fresh: bool = False, home: Spot | None = None
    ) -> Iterator[Spot | Event | Stop]:
        """Points and events in order, until the parameter leaves its bounds; ``step`` is the largest.

        What happens at the first point itself is an event of a ``fresh`` branch, not of one that is followed on from
        a point beyond its ``home``.
        """
        first, ds, steps = home or spot, FIRST * step, 0
        known = self._events_at(spot, ABOUT * step) if fresh else []
        yield from known
        while True:
            ahead = self._step(spot, ds)
            hidden = not isinstance(ahead, str) and ds > RESOLVED and self.problem.hides(spot, ahead, ds)
            if isinstance(ahead, str) or hidden:
                ds /= 2
                if ds < SMALLEST:
                    yield Stop(f"no point was found beyond {self.problem.value(spot.z):.10g}: {ahead}")
                    return
                continue
            landed = self._landed(spot, ahead, bounds)
            ahead, stop = landed or (ahead, None)
            for event in self._events(spot, ahead):
                if known and not steps and _apart(event.spot, first) < HERE:
                    continue
                yield event
                if event.last:
                    yield Stop(f"ends at a {event.kind} point")
                    return
            steps += 1
            if stop is None and steps > 2 and self._closes(spot, ahead, first):
                stop = Stop(CLOSED)
                ahead = first
            yield ahead
            if stop:
                yield stop
                return
            easy = _angle(spot, ahead) < EASY_TURN
            spot, ds = ahead, min(step, GROWTH * ds) if easy else ds
            self.problem = self.problem.rebased(spot.z)

    def _step(self, spot: Spot, ds: float) -> Spot | str:
        guess = spot.z + ds * spot.tangent
        row = spot.tangent / spot.units**2
        z = self.corrected(guess, row)
        if isinstance(z, str):
            return z
        if np.linalg.norm((z - guess) / spot.units) > STRAYED * ds:
            return "the correction is as long as the step"
        try:
            ahead = self.spot(z, spot.tangent)
        except (PfaffError, np.linalg.LinAlgError) as problem:
            return str(problem)
        return ahead if _angle(spot, ahead) < LARGEST_TURN else "the branch turns too sharply"

    def _landed(self, a: Spot, b: Spot, bounds: tuple[float, float]) -> tuple[Spot, Stop] | None:
        """The point on the bound that a step crosses."""
        value = self.problem.value
        for bound, how in zip(bounds, ("reached", "came back to"), strict=True):
            if (value(a.z) - bound) * (value(b.z) - bound) < 0 or value(b.z) == bound:
                stop = Stop(f"{how} {bound:.10g}")
                if value(b.z) == bound:
                    return b, stop
                found = self.located(a, b, partial(_beyond, self.problem, bound))
                return (found[1], stop) if found else (b, stop)
        return None

    def _events_at(self, spot: Spot, ds: float) -> list[Event]:
        """Events at a point, from its neighbours on both sides."""
        before, after = self._step(replace(spot, tangent=-spot.tangent), ds), self._step(spot, ds)
        if isinstance(before, str) or isinstance(after, str):
            return []
        try:
            before = self.spot(before.z, spot.tangent)
        except (PfaffError, np.linalg.LinAlgError):
            return []
        return [event for event in self._events(before, after) if _apart(event.spot, spot) < HERE]

    def _events(self, a: Spot, b: Spot) -> list[Event]:
        before, after = self.problem.tests(a), self.problem.tests(b)
        across, found = cache(partial(self._across, a, b)), []
        for name in (each for each in after if each in before):
            for at, spot in self._zeros(a, b, partial(_tested, self.problem, name), across):
                event = self.problem.event(name, spot)
                found += [(at, event)] if event else []
        missed = self.problem.missed(a, b, [event for _, event in found])
        if missed:
            # Without a change of sign, it is rounding that hides the zero at one of the ends.
            ends = ((0.0, a), (1.0, b))
            at, spot = self.located(a, b, missed.test) or min(ends, key=lambda end: abs(missed.test(end[1])))
            several = missed.event(spot)
            found += [(at, several)] if several else []
        found.sort(key=lambda each: each[0])
        return [
            event for at, event in found
            if not any(event.kind in other.outranks and abs(at - there) < SAME for there, other in found)
        ]  # fmt: skip

    def _zeros(self, a: Spot, b: Spot, test: Test, across: Callable[[float], Spot]) -> Iterator[tuple[float, Spot]]:
        """Where on the chord between two points a test vanishes: once, or twice if it dips below zero."""
        dips = self.problem.looks_inside and test(a) * test(b) > 0
        inner = _dip(lambda at: test(across(at)), test(a), test(b)) if dips else None
        cuts = [(0.0, a), *([] if inner is None else [(inner, across(inner))]), (1.0, b)]
        for (start, first), (end, last) in pairwise(cuts):
            # A zero at the end of a step belongs to the step that ends with it.
            if test(first) * test(last) > 0 or test(first) == 0:
                continue
            place = self.located(first, last, test)
            # Some functions change their sign through infinity: l1, where other eigenvalues are resonant.
            if place is not None and abs(test(place[1])) <= min(abs(test(first)), abs(test(last))):
                yield start + place[0] * (end - start), place[1]

    def _across(self, a: Spot, b: Spot, at: float) -> Spot:
        """The point on the plane across a chord; where it is singular, what the neighbours say."""
        guess = between(a, b, at)
        z = self.corrected(guess, (b.z - a.z) / a.units**2)
        return self.spot(guess if isinstance(z, str) else z, b.z - a.z)

    def located(self, a: Spot, b: Spot, test: Test) -> tuple[float, Spot] | None:
        """Where on the chord between two points a test vanishes, and the point there."""
        from scipy.optimize import brentq

        spots = {0.0: a, 1.0: b}

        def value(at: float) -> float:
            if at not in spots:
                spots[at] = self._across(a, b, at)
            return test(spots[at])

        if not value(0.0) * value(1.0) <= 0:
            return None
        try:
            root = float(brentq(value, 0.0, 1.0, xtol=PLACE, rtol=4e-15, maxiter=100, disp=False))
            value(root)
        except (PfaffError, ValueError, np.linalg.LinAlgError):
            # Trials that meet the singular point itself fail; the one before them is as good as it.
            root = min(spots, key=lambda at: abs(test(spots[at])))
            return (root, spots[root]) if abs(value(root)) < MET * min(abs(value(0.0)), abs(value(1.0))) else None
        nearest = min((at for at in spots if abs(at - root) < 1e-6), key=lambda at: abs(test(spots[at])), default=root)
        return root, spots[nearest]

    def _closes(self, a: Spot, b: Spot, first: Spot) -> bool:
        chord = (b.z - a.z) / a.units
        to_first = (first.z - a.z) / a.units
        share = float(chord @ to_first / (chord @ chord))
        if not 0 < share <= 1 or np.linalg.norm(to_first) > 2 * np.linalg.norm(chord):
            return False
        guess, row = between(a, b, share), chord / a.units
        guess = guess + (row @ (first.z - guess)) / (row @ (b.z - a.z)) * (b.z - a.z)
        z = self.corrected(guess, row)
        return not isinstance(z, str) and bool(np.linalg.norm((z - first.z) / a.units) < RETURNED)


def _dip(value: Callable[[float], float], first: float, last: float) -> float | None:
    """A place in (0, 1) where a function has another sign than at both ends, by parabolas through its least values."""
    known, at = {0.0: first, 1.0: last}, 0.5
    for _ in range(DIPS):
        try:
            known[at] = value(at)
        except (PfaffError, np.linalg.LinAlgError):
            return None
        if not known[at] * first > 0:
            return at if known[at] * first < 0 else None
        nodes = sorted(known.items(), key=lambda each: abs(each[1]))[:3]
        at, low = vertex(nodes) or (np.nan, np.nan)
        if not 0 < at < 1 or at in known or low / first > NEAR * nodes[0][1] / first:
            return None
    return None


def _beyond(problem: Problem, bound: float, spot: Spot) -> float:
    return problem.value(spot.z) - bound


def _tested(problem: Problem, name: str, spot: Spot) -> float:
    return problem.tests(spot).get(name, np.nan)


def between(a: Spot, b: Spot, at: float) -> np.ndarray:
    """The cubic of Hermite between two points."""
    length = np.linalg.norm((b.z - a.z) / a.units)
    end = b.tangent / np.linalg.norm(b.tangent / a.units)
    bow = at * (1 - at) ** 2 * a.tangent + at**2 * (at - 1) * end
    return a.z + at**2 * (3 - 2 * at) * (b.z - a.z) + length * bow


def _apart(a: Spot, b: Spot) -> float:
    return float(np.linalg.norm((a.z - b.z) / b.units))


def _angle(a: Spot, b: Spot) -> float:
    first, second = a.tangent / a.units, b.tangent / a.units
    cosine = first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.arccos(np.clip(cosine, -1, 1)))


def _solved(matrix: np.ndarray, right: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The solution with unknowns in their units and rows of like size."""
    scaled = matrix * units
    rows = np.abs(scaled).max(axis=1)
    rows = np.where(rows, rows, 1.0)
    if not np.isfinite(rows).all():
        return np.full(len(right), np.nan)
    try:
        return np.linalg.solve(scaled / rows[:, None], right / rows) * units
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)
