"""Loads of a stretch at which stability may change: candidates, each sharpened, in order and each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from pfaff.algebra.modes import Modes
from pfaff.algebra.pencil import Pencil
from pfaff.algebra.tolerances import SAFE
from pfaff.stability.candidates import DISTANCE, all_roots, damped_sums, near_meetings, pair_sums, real_among
from pfaff.stability.crossings import Crossing, Kind, several_zeros, sharpened
from pfaff.stability.intervals import Remembered
from pfaff.stability.stretches import Stretch
from pfaff.stability.subspaces import AWAY, from_axis, from_growth, near
from pfaff.threads import cached_property

PROBES = (1.37e-3, 0.137, 0.311, 0.733)  # usual loads at which structure is looked for: at far ones rounding hides it
TWIN = 1e-9  # relative distance within which a meeting and a passage through zero coincide
ONE = 1e-12  # relative distance within which crossings are one
NEAR_AXIS = 1e-2  # real parts below this, relative to the eigenvalue, of pairs that may cross at a candidate
AHEAD = 1e-2  # how far ahead, relatively, candidates are sharpened: they may change places
FAINT, AUDIBLE = 1e-6, 1e-3  # damping ratios that make candidates inexact, and those that replace them
LANDED = 0.05  # farthest relative distance of a crossing from its candidate
APART, ASIDE = 0.2, 1e-2  # of two eigenvalues that are about to meet: their distance, and that from the axes, relative


@dataclass(frozen=True)
class Locator:
    """Crossings on the stretches of a path; ``pencil`` gives the small motions, or their squares, at any load from
    ``low`` on."""

    pencil: Callable[[float], Pencil]
    low: float
    unit: float
    squares: bool

    @cached_property
    def always(self) -> dict[Kind, int]:
        """How many eigenvalues, and how many sums of two, are zero at every load."""
        zeros = sums = np.inf
        for load in (self.low, *(share * self.unit for share in PROBES)):
            modes = self.pencil(load).modes()
            zeros, sums = min(zeros, _zeros(modes)), min(sums, _zero_sums(modes))
            if not (zeros or sums):
                break
        return {"zero": int(zeros), "hopf": int(sums), "meeting": int(zeros)}

    @cached_property
    def _crossings_of(self) -> dict[tuple[float, tuple[Kind, ...]], Remembered[Crossing]]:
        return {}

    @cached_property
    def _lines(self) -> dict[Kind, tuple[float, np.ndarray]]:
        """Where the last stretch of a straight line began for which roots were computed, and their distances."""
        return {}

    @cached_property
    def _candidates_of(self) -> dict[tuple[float, Kind], np.ndarray]:
        return {}

    def _candidates(self, stretch: Stretch, kind: Kind) -> np.ndarray:
        """Loads of the stretch where eigenvalues vanish, cancel or are about to meet."""
        key = stretch.low, kind
        if key not in self._candidates_of:
            self._candidates_of[key] = self._found_candidates(stretch, kind)
        return self._candidates_of[key]

    def next_candidate(self, stretch: Stretch, kinds: tuple[Kind, ...], crossing: Crossing) -> float:
        """The first candidate beyond a sharp crossing, which is itself the one nearest to it of its kind."""
        loads = {kind: sorted(self._candidates(stretch, kind).tolist()) for kind in kinds}
        own = loads[crossing.kind]
        own.remove(min(own, key=lambda load: abs(load - crossing.load)))
        return min((load for each in loads.values() for load in each if load > crossing.load), default=np.inf)

    def _found_candidates(self, stretch: Stretch, kind: Kind) -> np.ndarray:
        if kind != "meeting" and _quiet(stretch):
            return np.zeros(0)
        if not (stretch.exact and stretch.fold is None):
            shares = real_among(self._roots(stretch, kind), stretch.exact)
            return stretch.load(shares[(shares > 0) & (shares <= 1)])
        loads = self._on_line(stretch, kind)  # some of them may lie beyond an end
        return loads[(loads > max(0.0, (1 - AHEAD) * stretch.low)) & (loads <= (1 + AHEAD) * stretch.high)]

    def quiet(self, stretch: Stretch, kinds: tuple[Kind, ...]) -> bool:
        """Whether a straight line has no root, complex ones included, as near to the beginning of a stretch as its
        end."""
        lines = [self._lines.get(kind, (np.nan, np.zeros(0))) for kind in kinds]
        return bool(lines) and all(
            low == stretch.low and (np.abs(found) > stretch.high - low).all() for low, found in lines
        )

    def _on_line(self, stretch: Stretch, kind: Kind) -> np.ndarray:
        """Candidates on a whole straight line; those of the stretch before are resolved as well where none of its
        roots, complex ones included, is nearer to its beginning than this stretch.

        Zeros are cheap, and found anew: beside stiff springs no step that sharpens them is better than they are.
        """
        low, found = self._lines.get(kind, (0.0, None))
        suits = kind != "zero" and stretch.suited(stretch.low or stretch.usual) is stretch
        if found is None or not suits or (np.abs(found) < stretch.low - low).any():
            low, found = stretch.low, stretch.load(self._roots(stretch, kind)) - stretch.low
            self._lines[kind] = low, found
        return low + real_among(found)

    def _roots(self, stretch: Stretch, kind: Kind) -> np.ndarray:
        """Where something of this kind happens, in the variable of the stretch."""
        seen = stretch.suited(stretch.low or stretch.usual) if kind != "zero" else stretch
        seen = _audible(seen) if kind == "hopf" else seen
        return all_roots(seen.polynomial(self._singular(seen, kind)), self.always[kind])

    def _singular(self, stretch: Stretch, kind: Kind) -> list[np.ndarray]:
        """Matrices at the nodes of a stretch that are singular where something of this kind happens."""
        if kind == "zero":
            return [each.coefficients[0] for each in stretch.pencils]
        forms = [each.J for each in stretch.pencils]
        if kind == "hopf" and _evenly_damped(stretch):
            n = len(forms[0]) // 2
            return [damped_sums(-each[n:, :n], -forms[0][n:, n:]) for each in forms]
        if not (stretch.exact or self.squares or self.always["hopf"]):  # else eigenvalues off the axis take part
            forms = near(forms, from_axis if kind == "hopf" else from_growth)
        return [pair_sums(each) if kind == "hopf" else near_meetings(each) for each in forms]

    def crossings(self, stretch: Stretch, kinds: tuple[Kind, ...]) -> Iterator[Crossing]:
        """Crossings in order, found on demand and once."""
        key = stretch.low, kinds
        if key not in self._crossings_of:
            self._crossings_of[key] = Remembered(self._find_crossings(stretch, kinds))
        return iter(self._crossings_of[key])

    def _find_crossings(self, stretch: Stretch, kinds: tuple[Kind, ...]) -> Iterator[Crossing]:
        """Crossings in order, each sharpened shortly before it is needed."""
        ahead: list[tuple[float, int, Crossing]] = []
        done = 0.0
        candidates = sorted((load, kind) for kind in kinds for load in self._candidates(stretch, kind).tolist())
        for place, (load, kind) in enumerate([*candidates, (np.inf, None)]):
            while ahead and ahead[0][0] < load * (1 - AHEAD):
                _, _, first = heappop(ahead)
                if ahead and ahead[0][2].kind == "zero" and ahead[0][0] <= first.load * (1 + TWIN):
                    _, _, first = heappop(ahead)  # two eigenvalues that meet at zero
                if not first.sharp or first.load > done * (1 + ONE):
                    yield first
                    done = max(done, first.load)
            found = None if kind is None else self._sharpened_candidate(stretch, kind, load)
            if found is not None:
                heappush(ahead, (found.load, place, found))

    def _sharpened_candidate(self, stretch: Stretch, kind: Kind, load: float) -> Crossing | None:
        """The crossing of a candidate; one that belongs to another candidate is not sharp."""
        found = self.sharpened(stretch, kind, load)
        others = self._candidates(stretch, kind)
        if found is not None and (np.abs(others - found.load) < abs(load - found.load)).any():
            return Crossing(kind, load, found.value, sharp=False)
        return found

    def sharpened(self, stretch: Stretch, kind: Kind, load: float) -> Crossing | None:
        value = 0j if kind == "zero" else self._critical(stretch, kind, load)
        if value is None:
            return Crossing(kind, load, 0j, sharp=False) if kind == "meeting" else None  # by rounding: to be examined
        near = LANDED * max(abs(load), DISTANCE * self.unit)
        found = sharpened(stretch, kind, value, load, near)
        if found is None and kind == "zero" and stretch.exact and not self.always["zero"]:
            found = several_zeros(stretch, load, near)
        return found or Crossing(kind, load, value, sharp=False)

    def _critical(self, stretch: Stretch, kind: Kind, load: float) -> complex | None:
        """The eigenvalue to which a candidate belongs; None if the candidate is two real ones of opposite sign."""
        if kind == "hopf":
            return _crossing_pair(*stretch.moving(load))
        values = stretch.pencil(load).rough
        anywhere = self.squares or self.always["hopf"]
        return _meeting_pair(values if anywhere else values[values.real > 0])


def _evenly_damped(stretch: Stretch) -> bool:
    """Whether only the stiffness changes with the load, and no damping is so heavy that its square costs digits."""
    first = stretch.pencils[0].coefficients
    return (
        stretch.exact
        and len(first) == 3
        and all(each.turn is None for each in stretch.pencils)
        and all(np.array_equal(each.coefficients[k], first[k]) for each in stretch.pencils for k in (1, 2))
    )


def _audible(stretch: Stretch) -> Stretch:
    """The stretch with damping that rounding does not hide: where it is light, loads depend on its square."""
    modes = stretch.pencils[0].modes()
    light = (modes.light < 1) & (modes.values.real != 0)
    heaviest = float(np.abs(modes.values[light].real / modes.values[light]).max(initial=0.0))
    if not 0 < heaviest < FAINT:
        return stretch
    return stretch.of(lambda pencil: pencil.damped(AUDIBLE / heaviest))


def _quiet(stretch: Stretch) -> bool:
    """Whether all eigenvalues stay away from the imaginary axis by more than they move on the stretch."""
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
    """The pair near the imaginary axis that, to first order, reaches it at the nearest load."""
    near = (modes.values.imag > 0) & (np.abs(modes.values.real) <= NEAR_AXIS * np.abs(modes.values))
    if not near.any():
        return None
    values, rates = modes.values[near], rates[near]
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(values.real / rates.real)  # NaN for a pair that stays on the axis
    return complex(values[np.nan_to_num(distance, nan=np.inf).argmin()])


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
