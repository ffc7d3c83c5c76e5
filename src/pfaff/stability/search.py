"""The search for loads at which stability changes: all candidates at once, each sharpened, and what grows in between.

Stability can change only where a pair of eigenvalues is on the imaginary axis, where one is zero, or where two meet.
``candidates`` finds these loads, ``crossings`` sharpens them, and the eigenvalues in between, each with its error, say
what grows there. What they show and no candidate explains (two pairs that cross together, say) is bisected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import Generic, TypeVar

import numpy as np

from pfaff.algebra.pencil import Growing, Modes, Pencil
from pfaff.algebra.tolerances import SAFE
from pfaff.stability.candidates import DISTANCE, near_meetings, pair_sums, real_roots
from pfaff.stability.crossings import Crossing, Kind, several_zeros, sharpened
from pfaff.stability.stretches import Stretch
from pfaff.threads import cached_property

PROBES = (1.37e-3, 0.137, 0.311, 0.733)  # usual loads at which structure is looked for: rounding hides it at far ones
SHARES = (0.02, 0.5, 0.98)  # of an interval without crossings, where it is probed
TWIN = 1e-9  # what meets and passes zero closer than this, relatively, does so at once
ONE = 1e-12  # crossings closer than this, relatively, are one
NEAR_AXIS = 1e-2  # real parts below this, relative to the eigenvalue, of pairs that may cross at a candidate
AHEAD = 1e-2  # how far ahead, relatively, candidates are sharpened: they may change places
ON_AXIS = 1e-7  # distance of a load, relative, from that at which a pair is on the axis
STAYS = 1e-6  # rates across the axis, beside those of the others, that are none
FAINT, AUDIBLE = 1e-6, 1e-3  # damping ratios that make candidates inexact, and those which are taken instead
RATED = 1e-13  # of a rate, what rounding makes of its real part
LANDED = 0.05  # how far from its candidate, relatively, a crossing may be
AWAY = 4.0  # times what the distance from the axis changes on a stretch, where nothing can have reached it
APART, ASIDE = 0.2, 1e-2  # of two eigenvalues that are about to meet: their distance, and that from the axes, relative
NEARLY = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # of the way to a crossing, how far before it one looks
CLOSER, NEARER = 8, 0.03  # how often, and how much nearer, the beginning of an interval is looked at
EXPLAINED = (6, 12, 20, 30)  # halvings after which the crossing that explains a change is sought in what is left
AT_ONCE = 1e-13  # usual loads, below which what happens does so as soon as there is a load
BISECTIONS, MOST = 60, 200  # of an interval; changes in it that no candidate explains
WATCHED, WIDEST = 1.25, 1e4  # ratio of neighbouring loads, and of the last to the first, where something grows
LARGE = 64  # states beyond which pencils in the load are too large
SAMPLES = 400  # loads at which larger systems are probed instead

SINGULAR: dict[Kind, Callable[[Pencil], np.ndarray]] = {
    "zero": lambda pencil: pencil.coefficients[0],
    "hopf": lambda pencil: pair_sums(pencil.J),
    "meeting": lambda pencil: near_meetings(pencil.J),
}

Counts = tuple[int, int]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Change:
    """A load from which so many oscillations and exponentials grow, and what happens there, if it is known."""

    load: float
    oscillating: int
    divergent: int
    crossing: Crossing | None = None


@dataclass(frozen=True)
class Interval:
    """Loads between neighbouring crossings or the ends of a stretch; ``doubtful`` are loads where more may happen."""

    stretch: Stretch
    low: float
    high: float
    crossing: Crossing | None
    doubtful: tuple[float, ...] = ()

    @property
    def places(self) -> list[float]:
        """Where to probe it: also near its beginning, if it is long."""
        inner = [load for load in self.doubtful if self.low < load < self.high]
        if not (self.stretch.exact or inner) and (self.low, self.high) == (self.stretch.low, self.stretch.high):
            return list(self.stretch.nodes[1:])  # what is known there already
        middles = [(a + b) / 2 for a, b in pairwise([self.low, *inner, self.high])] if inner else []
        width = self.high - self.low
        widths = {width, min(width, max(self.low, self.stretch.usual))}
        return sorted({*(self.low + share * each for share in SHARES for each in widths), *middles})

    def explains(self, before: Counts, after: Counts) -> bool:
        """Whether its first crossing does just this."""
        return before == after if self.crossing is None else before == after or self.crossing.explains(before, after)


@dataclass(frozen=True)
class Search:
    """The stability along a path, from zero load on.

    ``source`` gives the stretches of the path and ``pencil`` the small motions at any load on it, in ``squares`` λ²
    where nothing is damped; ``unit`` is a usual load, ``reach`` tells how far the stretches go, as far as is known.
    """

    source: Callable[[], Iterator[Stretch]]
    pencil: Callable[[float], Pencil]
    unit: float
    reach: Callable[[], float]
    squares: bool
    _known: dict[float, Growing] = field(default_factory=dict, repr=False)

    @property
    def to(self) -> float:
        """The last load; it may be moved when more is asked for than was found before it."""
        return self.reach()

    def changes(self) -> Iterator[Change]:
        """Where the kind of stability changes, zero load first; found as far as they are asked for."""
        return iter(self._changes)

    def crossings(self, *kinds: Kind) -> Iterator[Crossing]:
        """All crossings of these kinds in order, what is not sharp included."""
        for stretch in self._stretches:
            yield from (each for each in self._crossings(stretch, kinds) if each.load <= stretch.high)

    def crossing_frequencies(self, load: float) -> np.ndarray:
        """Of the pairs that are on the imaginary axis at a load and leave it as the load changes."""
        modes, rates = self._stretch(load).moving(load)
        on_axis = np.abs(modes.values.real) <= modes.on_axis + ON_AXIS * load * np.abs(rates.real)
        moves = np.abs(rates.real) > STAYS * np.abs(rates.real).max(initial=0.0) + RATED * modes.light * np.abs(rates)
        moves &= np.abs(rates.real) * load > modes.on_axis  # or it only touches the axis
        return np.sort(modes.values.imag[on_axis & moves & (modes.values.imag > 0)])

    @cached_property
    def _changes(self) -> _Remembered[Change]:
        return _Remembered(self._find_changes())

    @cached_property
    def _stretches(self) -> _Remembered[Stretch]:
        return _Remembered(self.source())

    def _find_changes(self) -> Iterator[Change]:
        start = next(iter(self._stretches), None)
        if start is None:
            return
        last: float | None = start.low
        state = self.counts(start.low)
        yield Change(0.0, *state)
        seen = start.low
        silent: Crossing | None = None  # the last one of which nothing was seen: growth that is slower than rounding
        told: Crossing | None = None  # one whose rate has told before the growth is seen
        for interval in self._intervals():
            first = self.counts(interval.places[0])
            last = last if interval.crossing is None else None
            for change in self._just_before(interval, seen, state, first):
                yield change
                state = change.oscillating, change.divergent
            if last is None and interval.explains(state, first):
                if first != state:
                    yield Change(interval.low, *first, interval.crossing)
                silent = interval.crossing if first == state else None
                if silent is not None and self._grows(silent):
                    told = silent
                    yield Change(silent.load, state[0] + 1, state[1], silent)
                state = first
            for part in self._parts(interval):
                last = last if part.crossing is None else None
                for place in self._places(part, state) if last is None else part.places:
                    now = self.counts(place)
                    if now != state and self._hides(place, state):
                        continue
                    if now != state and told is not None and told.explains(state, now):
                        told = silent = None
                    elif now != state and last is None:
                        yield Change(part.low, *now, part.crossing)
                    elif now != state and silent is not None and silent.explains(state, now):
                        yield Change(silent.load, *now, silent)
                        silent = None
                    elif now != state and last is not None:
                        yield from self._bisected(part.stretch, last, state, place, now)
                    state, last, seen = now, place, place

    def _just_before(self, interval: Interval, seen: float, before: Counts, after: Counts) -> Iterator[Change]:
        """Changes between the last load that was probed and a crossing that does not explain what grows after it."""
        if interval.explains(before, after):
            return
        for share in NEARLY:
            place = seen + (interval.low - seen) * (1 - share)
            now = self.counts(place)
            if now != before and interval.explains(now, after):
                yield from self._bisected(interval.stretch, seen, before, place, now)
                return

    def _grows(self, crossing: Crossing) -> bool:
        """Whether a pair leaves the axis for growth, as its rate tells also where rounding hides it."""
        if crossing.kind != "hopf" or not crossing.sharp:
            return False
        modes, rates = self._stretch(crossing.load).moving(crossing.load)
        nearest = np.abs(modes.values - crossing.value).argmin()
        return bool(rates[nearest].real > RATED * modes.light[nearest] * abs(rates[nearest]))

    def rate(self, load: float, value: complex) -> complex:
        """How fast an eigenvalue moves with the load, as its stretch predicts."""
        modes, rates = self._stretch(load).moving(load)
        return complex(rates[np.abs(modes.values - value).argmin()])

    def rounding(self, load: float, value: complex) -> float:
        """How far rounding may have moved a load at which an eigenvalue is zero or double."""
        stretch = self._stretch(load)
        return stretch.pencil(load).shaken(value**2 if self.squares else value, stretch.change(load))

    def _stretch(self, load: float) -> Stretch:
        return next(each for each in self._stretches if load <= each.high)

    @property
    def predicts(self) -> bool:
        """Whether the stretches are the path itself: one straight line."""
        return next(iter(self._stretches)).exact

    def _places(self, part: Interval, before: Counts) -> list[float]:
        """Where to probe: closer and closer to its beginning, if what is seen is not what its crossing does."""
        places = part.places
        for _ in range(CLOSER):
            if part.explains(before, self.counts(places[0])):
                break
            places = [part.low + NEARER * (places[0] - part.low), *places]
        return places if part.explains(before, self.counts(places[0])) else part.places

    def _intervals(self) -> Iterator[Interval]:
        low, crossing = 0.0, None
        for stretch in self._stretches:
            doubtful: list[float] = []
            for each in self._crossings(stretch, self._kinds):
                if not each.sharp:
                    doubtful.append(each.load)
                elif low * (1 + ONE) < each.load <= stretch.high:
                    yield Interval(stretch, low, each.load, crossing, tuple(doubtful))
                    low, crossing, doubtful = each.load, each, []
            if stretch.high > low * (1 + ONE):
                samples = self._samples(low, stretch.high)
                yield Interval(stretch, low, stretch.high, crossing, (*doubtful, *samples))
                low, crossing = stretch.high, None

    def _samples(self, low: float, high: float) -> list[float]:
        """Loads to probe where there are no candidates because the system is large."""
        return np.linspace(low, high, SAMPLES + 2)[1:-1].tolist() if self._large else []

    def _parts(self, interval: Interval) -> list[Interval]:
        """The interval cut where growing eigenvalues meet: an oscillation turns into two exponentials, or back."""
        if self.squares or "meeting" in self._kinds or self._large or max(map(self._grow, interval.places)) < 2:
            return [interval]
        interval = replace(interval, doubtful=(*interval.doubtful, *_watched(interval.low, interval.high)))
        found = self._crossings(interval.stretch, ("meeting",))
        inside = [each for each in found if each.sharp and interval.low * (1 + ONE) < each.load < interval.high]
        ends = [*(each.load for each in inside), interval.high]
        starts: list[tuple[float, Crossing | None]] = [(interval.low, interval.crossing)]
        starts += [(each.load, each) for each in inside]
        return [
            replace(interval, low=low, high=high, crossing=crossing)
            for (low, crossing), high in zip(starts, ends, strict=True)
        ]

    def _grow(self, load: float) -> int:
        oscillating, divergent = self.counts(load)
        return 2 * oscillating + divergent

    def counts(self, load: float) -> Counts:
        """How many oscillations grow, and how many exponentials."""
        growing = self._growing(load)
        return growing.oscillating, growing.divergent

    def _growing(self, load: float) -> Growing:
        if load not in self._known:
            pencil = self.pencil(load)
            self._known[load] = pencil.growing_squares if self.squares else pencil.growing()
        return self._known[load]

    def _hides(self, load: float, before: Counts) -> bool:
        """Whether rounding at a load explains that less grows than before."""
        oscillating, divergent, hidden = self._growing(load)
        fewer = 2 * (before[0] - oscillating) + before[1] - divergent
        return 0 < fewer <= hidden - self._always_hidden

    @cached_property
    def _always_hidden(self) -> int:
        """How many eigenvalues are on the imaginary axis at every load."""
        return min(self._growing(share * self.unit).hidden for share in PROBES)

    @cached_property
    def _large(self) -> bool:
        return len(self.pencil(PROBES[0] * self.unit).J) > LARGE

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        if self._large:
            return ()
        if self.squares:
            return ("zero", "meeting")
        return ("zero", "hopf", "meeting") if self._always["hopf"] else ("zero", "hopf")

    @cached_property
    def _always(self) -> dict[Kind, int]:
        """How many eigenvalues are zero, and sums of two, at every load."""
        zeros = sums = np.inf
        for share in PROBES:
            modes = self.pencil(share * self.unit).modes()
            zeros, sums = min(zeros, _zeros(modes)), min(sums, _zero_sums(modes))
            if not (zeros or sums):
                break
        return {"zero": int(zeros), "hopf": int(sums), "meeting": int(zeros)}

    @cached_property
    def _crossings_of(self) -> dict[tuple[float, tuple[Kind, ...]], _Remembered[Crossing]]:
        return {}

    def _candidates(self, stretch: Stretch, kind: Kind) -> np.ndarray:
        """Loads of the stretch where eigenvalues vanish, cancel or are about to meet."""
        if kind != "meeting" and _quiet(stretch):
            return np.zeros(0)
        seen = _audible(stretch) if kind == "hopf" else stretch
        shares = real_roots(seen.polynomial(SINGULAR[kind]), self._always[kind], exact=stretch.exact)
        endless = stretch.exact and stretch.fold is None
        last = 1 + AHEAD if endless else 1.0  # what is about to meet beyond the end may have met before
        return stretch.load(shares[(shares > 0) & (shares <= last)])

    def _crossings(self, stretch: Stretch, kinds: tuple[Kind, ...]) -> Iterator[Crossing]:
        """In order; found as far as they are asked for, and once."""
        key = stretch.low, kinds
        if key not in self._crossings_of:
            self._crossings_of[key] = _Remembered(self._find_crossings(stretch, kinds))
        return iter(self._crossings_of[key])

    def _find_crossings(self, stretch: Stretch, kinds: tuple[Kind, ...]) -> Iterator[Crossing]:
        """Each sharpened shortly before it is needed."""
        ahead: list[tuple[float, int, Crossing]] = []
        done = 0.0
        for place, (load, found) in enumerate(chain(self._sharpened_candidates(stretch, kinds), [(np.inf, None)])):
            while ahead and ahead[0][0] < load * (1 - AHEAD):
                _, _, first = heappop(ahead)
                if ahead and ahead[0][2].kind == "zero" and ahead[0][0] <= first.load * (1 + TWIN):
                    _, _, first = heappop(ahead)  # two that meet at zero
                if not first.sharp or first.load > done * (1 + ONE):
                    yield first
                    done = max(done, first.load)
            if found is not None:
                heappush(ahead, (found.load, place, found))

    def _sharpened_candidates(
        self, stretch: Stretch, kinds: tuple[Kind, ...]
    ) -> Iterator[tuple[float, Crossing | None]]:
        """Candidates in order, each with its crossing; one whose crossing belongs to another is not sharp."""
        by_kind = {kind: self._candidates(stretch, kind) for kind in kinds}
        for load, kind in sorted((float(load), kind) for kind, loads in by_kind.items() for load in loads):
            found = self._sharpened(stretch, kind, load)
            if found is not None and (np.abs(by_kind[kind] - found.load) < abs(load - found.load)).any():
                found = Crossing(kind, load, found.value, sharp=False)
            yield load, found

    def _sharpened(self, stretch: Stretch, kind: Kind, load: float) -> Crossing | None:
        value = 0j if kind == "zero" else self._critical(stretch, kind, load)
        if value is None:
            return None
        near = LANDED * max(abs(load), DISTANCE * self.unit)
        found = sharpened(stretch, kind, value, load, near)
        if found is None and kind == "zero" and stretch.exact and not self._always["zero"]:
            found = several_zeros(stretch, load, near)
        return found or Crossing(kind, load, value, sharp=False)

    def _critical(self, stretch: Stretch, kind: Kind, load: float) -> complex | None:
        """The eigenvalue to which a candidate belongs: none if it is two real ones of opposite sign that cancel."""
        if kind == "hopf":
            return _crossing_pair(*stretch.moving(load))
        values = stretch.pencil(load).rough
        anywhere = self.squares or self._always["hopf"]
        return _meeting_pair(values if anywhere else values[values.real > 0])

    def _bisected(self, stretch: Stretch, a: float, before: Counts, b: float, after: Counts) -> Iterator[Change]:
        """Changes between two loads that no candidate has explained."""
        for _ in range(MOST):
            if before == after:
                return
            a, then, crossing = self._first_between(stretch, a, before, b, after)
            load = crossing.load if crossing else a
            yield Change(load if load > AT_ONCE * self.unit else 0.0, *then, crossing)
            before = then

    def _first_between(
        self, stretch: Stretch, low: float, before: Counts, high: float, after: Counts
    ) -> tuple[float, Counts, Crossing | None]:
        """A load after the first change, what grows there, and what has changed if it is a simple crossing."""
        for halved in range(BISECTIONS):
            middle = (low + high) / 2
            now = self.counts(middle)
            low, high, after = (middle, high, after) if now == before else (low, middle, now)
            crossing = self._explanation(stretch, before, after, low, high) if halved in EXPLAINED else None
            if crossing is not None:
                return high, after, crossing
        return high, after, None

    def _explanation(self, stretch: Stretch, before: Counts, after: Counts, low: float, high: float) -> Crossing | None:
        """The crossing by which what grows changes between two loads, if it is a simple one."""
        total = abs(2 * (after[0] - before[0]) + after[1] - before[1])
        kind: Kind = "zero" if total == 1 else "meeting" if total == 0 or self.squares else "hopf"
        found = self._sharpened(stretch, kind, high)
        if found is None or not (found.sharp and found.explains(before, after)):
            return None
        return found if low * (1 - TWIN) <= found.load <= high * (1 + TWIN) else None


class _Remembered(Generic[Item]):
    """What an iterator gives, kept for the next time."""

    def __init__(self, source: Iterator[Item]) -> None:
        self._source, self._known = source, list[Item]()

    def __iter__(self) -> Iterator[Item]:
        place = 0
        while True:
            if place == len(self._known):
                more = next(self._source, None)
                if more is None:
                    return
                self._known.append(more)
            yield self._known[place]
            place += 1


def _watched(low: float, high: float) -> list[float]:
    """Loads close to each other, by ratios: what grows may turn from an oscillation into exponentials and back."""
    first = max(low, high / WIDEST)
    return np.geomspace(first, high, 2 + int(np.log(high / first) / np.log(WATCHED)))[1:-1].tolist()


def _audible(stretch: Stretch) -> Stretch:
    """With damping that rounding does not hide: where it is light, loads depend on its square."""
    modes = stretch.pencils[0].modes()
    light = (modes.light < 1) & (modes.values.real != 0)
    heaviest = float(np.abs(modes.values[light].real / modes.values[light]).max(initial=0.0))
    if not 0 < heaviest < FAINT:
        return stretch
    return stretch.of(lambda pencil: pencil.damped(AUDIBLE / heaviest))


def _quiet(stretch: Stretch) -> bool:
    """Whether all eigenvalues stay away from the imaginary axis, by more than they move on the stretch."""
    if stretch.exact:
        return False
    distances = [float(np.abs(each.rough.real).min(initial=np.inf)) for each in stretch.pencils]
    return min(distances) > AWAY * (max(distances) - min(distances))


def _zeros(modes: Modes) -> int:
    return int((np.abs(modes.values) <= SAFE * modes.errors).sum())


def _zero_sums(modes: Modes) -> int:
    i, j = np.triu_indices(len(modes.values), 1)
    sums, (real, imaginary) = modes.values[i] + modes.values[j], modes.noise
    return int(((np.abs(sums.real) <= real[i] + real[j]) & (np.abs(sums.imag) <= imaginary[i] + imaginary[j])).sum())


def _crossing_pair(modes: Modes, rates: np.ndarray) -> complex | None:
    """The pair near the imaginary axis that reaches it at the load which is nearest, to first order."""
    near = (modes.values.imag > 0) & (np.abs(modes.values.real) <= NEAR_AXIS * np.abs(modes.values))
    if not near.any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(near, np.abs(modes.values.real / rates.real), np.inf)
    return complex(modes.values[np.nan_to_num(distance, nan=np.inf).argmin()])


def _meeting_pair(values: np.ndarray) -> complex | None:
    """The middle of the two eigenvalues, both real or both imaginary, that are about to meet."""
    i, j = np.triu_indices(len(values), 1)
    if not len(i):
        return None
    with np.errstate(invalid="ignore"):
        apart = np.abs(values[i] - values[j]) / np.maximum(np.abs(values[i]), np.abs(values[j]))
    best = int(np.nan_to_num(apart, nan=np.inf).argmin())
    middle = complex(values[i[best]] + values[j[best]]) / 2
    aside = min(abs(middle.real), abs(middle.imag))
    return middle if apart[best] < APART and aside < ASIDE * abs(middle) else None
