"""The search for loads at which stability changes: all candidates at once, each sharpened, and what grows in between.

Stability can change only where a pair of eigenvalues is on the imaginary axis, where one is zero, or where two meet.
``locating`` finds these loads among ``candidates`` and has them sharpened by ``crossings``; the eigenvalues in between,
each with its error, say what grows there. A change that no candidate explains, as when two pairs cross together, is
bisected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from pfaff.algebra.modes import Growing
from pfaff.algebra.pencil import Pencil
from pfaff.stability.crossings import Crossing, Kind, sharpened
from pfaff.stability.intervals import Change, Counts, Interval, Remembered
from pfaff.stability.locating import LANDED, ONE, PROBES, TWIN, Locator
from pfaff.stability.stretches import Stretch
from pfaff.threads import cached_property

ON_AXIS = 1e-7  # relative distance of a load from that at which a pair is on the axis
STAYS = 1e-6  # rates across the axis below this, relative to those of others on it, are zero
RATED = 1e-13  # relative error of the real part of a rate due to rounding
NEARLY = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # distances before a crossing at which one looks, relative to the way to it
CLOSER, NEARER = 8, 0.03  # how often, and by which factor nearer, the beginning of an interval is probed
EXPLAINED = (6, 12, 20, 30)  # halvings after which the crossing that explains a change is sought in what is left
# Loads, relative to a usual one, below which a crossing happens as soon as there is a load, and below which a change
# that no crossing explains does, since NOISE hides as much of it.
AT_ONCE, UNSEEN = 1e-13, 3e-13
STAGNATED = 1e-3  # relative steps below this that shrink no more are rounding: of a pair under heavy damping
# Growth is first seen where its computed rate exceeds the noise, which includes the error of that rate: the true rate
# is then between zero and twice the noise, and twice the noise over the crossing speed is the distance back to zero.
HIDES = 2.0
BISECTIONS, MOST = 60, 200  # bisections of an interval; most changes in it that no candidate explains
WATCHED, WIDEST = 1.25, 1e4  # ratio of neighbouring loads, and of the last to the first, where growth is watched
LARGE = 64  # states beyond which pencils in the load are too large
TOO_MANY = 40  # states beyond which those for meetings, which are twice as large, are: loads are watched instead
SAMPLES = 400  # loads at which larger systems are probed instead


@dataclass(frozen=True)
class Search:
    """The stability along a path, from zero load on.

    ``source`` gives the stretches of the path, and ``pencil`` the small motions at any load on it, in ``squares`` λ²
    where nothing is damped; ``unit`` is a usual load, ``reach`` the end of the stretches, as far as is known.
    """

    source: Callable[[], Iterator[Stretch]]
    pencil: Callable[[float], Pencil]
    unit: float
    reach: Callable[[], float]
    squares: bool
    _known: dict[float, Growing] = field(default_factory=dict, repr=False)

    @property
    def to(self) -> float:
        """The last load; it moves where more is asked for than was found before it."""
        return self.reach()

    def changes(self, before: float = np.inf) -> Iterator[Change]:
        """Changes of the kind of stability, zero load first; found on demand."""
        for each in self._changes:
            if isinstance(each, Change):
                if each.load <= min(self.to, before):
                    yield each
            elif each >= before:
                return

    def crossings(self, *kinds: Kind) -> Iterator[Crossing]:
        """All crossings of these kinds in order, those that are not sharp included."""
        for stretch in self._stretches:
            last = min(stretch.high, self.to)
            yield from (each for each in self._locator.crossings(stretch, kinds) if each.load <= last)

    def crossing_frequencies(self, load: float) -> np.ndarray:
        """Frequencies of the pairs that are on the imaginary axis at a load and leave it as the load changes."""
        modes, rates = self._stretch(load).moving(load)
        on_axis = np.abs(modes.values.real) <= modes.on_axis + ON_AXIS * load * np.abs(rates.real)
        fastest = np.abs(rates.real[on_axis]).max(initial=0.0)
        moves = np.abs(rates.real) > STAYS * fastest + RATED * modes.light * np.abs(rates)
        moves &= np.abs(rates.real) * load > modes.on_axis  # otherwise it only touches the axis
        return np.sort(modes.values.imag[on_axis & moves & (modes.values.imag > 0)])

    @cached_property
    def _changes(self) -> Remembered[Change | float]:
        return Remembered(self._find_changes())

    @cached_property
    def _stretches(self) -> Remembered[Stretch]:
        return Remembered(self.source())

    @cached_property
    def _locator(self) -> Locator:
        return Locator(self.pencil, self._first.low, self.unit, self.squares)

    @property
    def _first(self) -> Stretch:
        return next(iter(self._stretches))

    def _find_changes(self) -> Iterator[Change | float]:
        """The changes and, between them, loads before which there are no more."""
        start = next(iter(self._stretches), None)
        if start is None:
            return
        last: float | None = start.low
        state = self.counts(start.low)
        yield Change(0.0, *state)
        seen = start.low
        silent: Crossing | None = None  # the last one without a visible effect: growth slower than rounding
        told: Crossing | None = None  # one whose rate showed growth before it is visible
        opened = False  # whether what grows after the first crossing of an interval has been told already
        for interval in self._intervals():
            if opened:
                interval = replace(interval, crossing=None)
            else:
                last = last if interval.crossing is None else None
                if silent is None:
                    yield interval.low
                first = self.counts(interval.places[0])
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
            opened = interval.opening and state == first
            if opened:
                last = seen = interval.places[0]
            if interval.opening:
                continue
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
        """Changes between the last load probed and a crossing that does not explain what grows after it."""
        if interval.explains(before, after):
            return
        for share in NEARLY:
            place = seen + (interval.low - seen) * (1 - share)
            now = self.counts(place)
            if now != before and interval.explains(now, after):
                yield from self._bisected(interval.stretch, seen, before, place, now)
                return

    def _grows(self, crossing: Crossing) -> bool:
        """Whether a pair leaves the axis towards growth, as its rate shows even where rounding hides the growth."""
        if crossing.kind != "hopf" or not crossing.sharp:
            return False
        modes, rates = self._stretch(crossing.load).moving(crossing.load)
        nearest = np.abs(modes.values - crossing.value).argmin()
        return bool(rates[nearest].real > RATED * modes.light[nearest] * abs(rates[nearest]))

    def rounding(self, load: float, value: complex) -> float:
        """How far rounding may have moved a load at which an eigenvalue is zero or double."""
        stretch = self._stretch(load).suited(load)
        return stretch.pencil(load).shaken(value**2 if self.squares else value, stretch.change(load))

    def _stretch(self, load: float) -> Stretch:
        return next(each for each in self._stretches if load <= each.high)

    @property
    def predicts(self) -> bool:
        """Whether the stretches are the path itself: one straight line."""
        return self._first.exact

    def _places(self, part: Interval, before: Counts) -> list[float]:
        """Loads to probe: closer and closer to the beginning, if the counts do not agree with its crossing."""
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
            for each in self._locator.crossings(stretch, self._kinds):
                if not each.sharp:
                    doubtful.append(each.load)
                elif low * (1 + ONE) < each.load <= stretch.high:
                    yield Interval(stretch, low, each.load, crossing, tuple(doubtful))
                    low, crossing, doubtful = each.load, each, []
                    ahead = self._locator.next_candidate(stretch, self._kinds, each) * (1 - LANDED)
                    if stretch.exact and low * (1 + LANDED) < ahead < stretch.high:
                        yield Interval(stretch, low, ahead, crossing, opening=True)
            if stretch.high > low * (1 + ONE) and not self._locator.quiet(stretch, self._kinds):
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
        if len(interval.stretch.pencils[0].J) > TOO_MANY:
            return [interval]
        found = self._locator.crossings(interval.stretch, ("meeting",))
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
        """Numbers of growing oscillations and of growing exponentials."""
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
        return len(self._first.pencils[0].J) > LARGE

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        if self._large:
            return ()
        if self.squares:
            return ("zero", "meeting")
        return ("zero", "hopf", "meeting") if self._locator.always["hopf"] else ("zero", "hopf")

    def _bisected(self, stretch: Stretch, a: float, before: Counts, b: float, after: Counts) -> Iterator[Change]:
        """Changes between two loads that no candidate has explained."""
        for _ in range(MOST):
            if before == after:
                return
            a, then, crossing = self._first_between(stretch, a, before, b, after)
            load = crossing.load if crossing else a
            yield Change(load if load > (AT_ONCE if crossing else UNSEEN) * self.unit else 0.0, *then, crossing)
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
        return high, after, self._hidden(stretch, before, after, high)

    def _explanation(self, stretch: Stretch, before: Counts, after: Counts, low: float, high: float) -> Crossing | None:
        """The crossing by which what grows changes between two loads, if it is a simple one."""
        total = abs(2 * (after[0] - before[0]) + after[1] - before[1])
        kind: Kind = "zero" if total == 1 else "meeting" if total == 0 or self.squares else "hopf"
        found = self._locator.sharpened(stretch, kind, high)
        if found is None or not (found.sharp and found.explains(before, after)):
            return None
        return found if low * (1 - TWIN) <= found.load <= high * (1 + TWIN) else None

    def _hidden(self, stretch: Stretch, before: Counts, after: Counts, seen: float) -> Crossing | None:
        """The crossing of a pair whose growth is seen from a load on: before that load, by no more than rounding hides.

        Newton's method on the pencil is exact to more digits than the eigenvalues are, but may not settle.
        """
        if self.squares or (after[0] - before[0], after[1] - before[1]) != (1, 0):
            return None
        modes, rates = stretch.moving(seen)
        noise = modes.noise[0]
        upper = modes.values.imag > 0
        if not upper.any():
            return None
        newest = int(np.where(upper, np.abs(modes.values.real / noise - 1), np.inf).argmin())  # as large as the noise
        if rates[newest].real <= 0:
            return None
        hides = float(HIDES * noise[newest] / rates[newest].real)
        found = sharpened(stretch, "hopf", complex(modes.values[newest]), seen, hides, STAGNATED)
        return found if found is not None and found.load <= seen else None


def _watched(low: float, high: float) -> list[float]:
    """Loads close to each other, in constant ratio: a growing oscillation may turn into exponentials and back."""
    first = max(low, high / WIDEST)
    return np.geomspace(first, high, 2 + int(np.log(high / first) / np.log(WATCHED)))[1:-1].tolist()
