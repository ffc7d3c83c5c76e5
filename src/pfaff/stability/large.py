"""The first flutter load of an assembly, on the sparse multiplier pencil [[M ω² + C ω + K, Aᵀ], [A, 0]].

Three steps, none in eliminated coordinates. The lowest modes of the unloaded assembly give a small Galerkin model
that predicts the load. Newton's method on the bordered pencil locates it to rounding: where two frequencies meet if
nothing depends on the velocities, where a pair crosses the imaginary axis otherwise (Govaerts 2000, Numerical Methods
for Bifurcations of Dynamical Equilibria). Shift-invert Arnoldi iterations below and above it confirm that it is the
first (Lehoucq, Sorensen and Yang 1998, ARPACK Users' Guide). Nothing here knows how the assembly is connected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from pfaff import doors
from pfaff.errors import ConvergenceError, ParameterError, RankError, number_of
from pfaff.flow.assembly import Assembly
from pfaff.rest.assemblies import AssemblyPath
from pfaff.rest.spectrum import growing_modes
from pfaff.stability.critical_load import ALREADY, CriticalLoad
from pfaff.stability.large_model import Model
from pfaff.stability.large_modes import lowest_squares
from pfaff.stability.large_views import MARGIN, Crossing, Damped, Reversible
from pfaff.statement.told import answering, told
from pfaff.statement.values import MOST, number_within, whole_number
from pfaff.threads import cached_property

UNRESOLVED = 1e-7  # shift-inverted eigenvalues below this, relative to the largest, are rounding
CHECKED = (0.3, 0.6, 0.9)  # shares of the predicted load at which stability is confirmed
SHORTEST = 1e-12  # step of load, relative to it
MARCH = 16  # steps of load where nothing is predicted


@told
@dataclass(frozen=True)
class CheckedLoad:
    """The lowest eigenvalues ω at one load, which of them grow, and how many do as oscillations or exponentials."""

    load: float
    values: np.ndarray
    growing: np.ndarray
    oscillating: int
    divergent: int

    @property
    def status(self) -> str:
        if not (self.oscillating or self.divergent):
            return "stable"
        return growing_modes(self.oscillating, self.divergent)


@answering
@dataclass(frozen=True, repr=False)
class SparseFlutter(CriticalLoad):
    """The first flutter load of an assembly, or None in ``value`` if there is none in the interval searched.

    ``mode`` holds the amplitudes of its coordinates q0, q1, …, ``case`` is the assembly; ``precision`` is the last step
    of Newton's method, relative to the load; ``checked`` are the loads at which at least ``modes`` modes were computed,
    and ``covered`` names these loads.
    """

    precision: float | None = None
    checked: tuple[CheckedLoad, ...] = ()
    modes: int = 0
    covered: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the modes watched show no growing oscillation at any checked load below, and one just above.

        It says nothing of other modes, nor of windows between the checked loads.
        """
        if self.value is None:
            return False
        value = self.value
        below = [c for c in self.checked if c.load < value]
        above = [c for c in self.checked if value < c.load <= value * (1 + 2 * MARGIN)]
        return not any(c.oscillating for c in below) and any(c.oscillating for c in above)

    @property
    def status(self) -> str:
        if self.value is None:
            return f"no flutter of the {self.modes} {self.covered} up to {self.load} = {self.searched[1]:g}: {self.how}"
        looked = ", ".join(f"{c.load:.6g}" for c in self.checked if c.load < self.value)
        return f"{super().status}; no oscillation of the {self.modes} {self.covered} grows at {self.load} = {looked}"

    def plot(self) -> Any:
        """The eigenvalues that were computed, against the load."""
        return doors.draw.draw_checked_loads(self)


def flutter_load(
    assembly: Assembly, to: float | None = None, modes: int = 6, start: Any = None, fixed: Sequence[int] = ()
) -> SparseFlutter:
    """The first load in [0, to] at which one of the lowest ``modes`` modes starts to grow as an oscillation.

    Flutter that joins only higher modes is not seen: where the spectrum is dense, ask for more modes until the load
    stays the same. An assembly of few coordinates is searched with all its modes.

    Without ``to`` the search ends where the load outweighs the stiffness of the highest of these modes.
    """
    if whole_number("modes", modes, 0, MOST, "ask for fewer") < 2:
        raise ParameterError(f"modes={modes}: flutter joins at least two modes, ask for 2 or more")
    if to is not None:
        to = number_within("to", to, lambda x: x > 0, "the load is searched from zero to a positive finite value")
    search = Search(AssemblyPath(assembly, start, fixed), modes, to)
    if search.check(0.0).oscillating:
        return search.result(search.seen(0.0), ALREADY)
    crossing = search.predicted() or search.marched()
    return search.result(crossing, search.describe(crossing))


class Search:
    """The search for the first flutter load on one path: what was predicted, located and checked."""

    def __init__(self, path: AssemblyPath, modes: int, to: float | None) -> None:
        self.path, self.modes = path, modes
        self.checked: dict[float, CheckedLoad] = {}
        origin, probe = path.linearise(0.0), path.linearise(path.probe)
        self.view: Reversible | Damped = Reversible() if origin.reversible and probe.reversible else Damped()
        squares, vectors = lowest_squares(origin, modes)
        if isinstance(self.view, Reversible):
            self._note(0.0, squares)
        shapes = linalg.orth(np.hstack([vectors.real, vectors.imag]), rcond=UNRESOLVED)
        self.model = Model(path, self.view, shapes)
        self.reach = path.reachable(self.model.reach if to is None else float(to))
        path.straighten(self.reach)

    @cached_property
    def guess(self) -> Crossing | None:
        """What the small model predicts."""
        return self.model.first(self.reach)

    def at_risk(self, load: float) -> complex:
        """The frequency of the mode that will grow, below the load predicted for that; the least damped mode may be
        another."""
        if self.guess is not None and load < self.guess.load:
            return self.guess.eigenvalue
        return self.model.oscillation(load).eigenvalue

    def check(self, load: float, near: complex | None = None) -> CheckedLoad:
        """The eigenvalues of the modes at risk: near a frequency, by default the one that the small model suspects."""
        if load not in self.checked:
            near = near or self.at_risk(load)
            self._note(load, self.view.lowest(self.path.linearise(load), self.modes, near)[0])
        return self.checked[load]

    def predicted(self) -> Crossing | None:
        """Newton's method from the prediction of the small model, if what it finds is confirmed as the first."""
        guess = self.guess
        if guess is None or any(self.check(share * guess.load).oscillating for share in CHECKED):
            return None
        return self._confirmed(guess, CHECKED[-1] * guess.load, np.inf)

    def marched(self) -> Crossing | None:
        """The lowest modes from load to load; where an oscillation grows, halve the step until Newton succeeds."""
        low = high = 0.0
        for load in [0.0, *self._loads()]:
            if self.check(load).oscillating:
                high = load
                break
            low = load
        if not high:
            return None
        while high - low > SHORTEST * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.check(middle).oscillating else (middle, high)
            crossing = self._confirmed(self.seen(high), low, high)
            if crossing:
                return crossing
        return replace(self.seen(high), precision=SHORTEST)

    def seen(self, load: float) -> Crossing:
        """The growing oscillation at a load, as a start for Newton's method."""
        values, vectors = self.view.lowest(self.path.linearise(load), self.modes, self.at_risk(load))
        k = self.view.critical(values)
        return Crossing(float(load), complex(self.view.omega(values)[k]), vectors[:, k], np.nan)

    def describe(self, crossing: Crossing | None) -> str:
        if crossing is None:
            ended = self.path.end is not None
            return "the equilibrium ends there" if ended else f"looked at {number_of(len(self.checked), 'load')}"
        if crossing.precision == SHORTEST:
            return "bracketed by the lowest modes only"
        return self.view.event

    def result(self, crossing: Crossing | None, how: str) -> SparseFlutter:
        checked = tuple(self.checked[load] for load in sorted(self.checked))
        found = SparseFlutter(
            kind="flutter",
            load=self.path.assembly.load,
            value=None,
            frequency=None,
            eigenvalue=None,
            mode=None,
            searched=(0.0, self.reach),
            how=how,
            case=self.path.assembly,
            checked=checked,
            modes=min(len(check.values) for check in checked),
            covered=self.view.covered,
        )
        if crossing is None:
            return found
        amplitudes = (crossing.mode / crossing.mode[np.abs(crossing.mode).argmax()]).tolist()
        return replace(
            found,
            value=crossing.load,
            frequency=abs(crossing.eigenvalue.imag),
            eigenvalue=crossing.eigenvalue,
            mode={f"q{k}": complex(each) for k, each in enumerate(amplitudes)},
            precision=crossing.precision,
            rounding=float(np.nan_to_num(crossing.precision) * crossing.load),
        )

    def _note(self, load: float, values: np.ndarray) -> None:
        oscillating, divergent = (int(mask.sum()) for mask in self.view.growing(values))
        growing = np.logical_or(*self.view.growing(values.real + 1j * np.abs(values.imag)))  # both of every pair
        self.checked[load] = CheckedLoad(load, self.view.omega(values), growing, oscillating, divergent)

    def _loads(self) -> np.ndarray:
        """Loads to look at one by one: evenly up to twice the prediction, then in growing steps."""
        fine = self.reach if self.guess is None else min(2 * self.guess.load, self.reach)
        known = [load for load in self.checked if 0 < load <= self.reach]
        return np.unique([*known, *np.linspace(0, fine, MARCH + 1)[1:], *np.geomspace(fine, self.reach, MARCH)])

    def _confirmed(self, guess: Crossing, low: float, high: float) -> Crossing | None:
        """Newton's method from a guess; accepted between the limits if growth starts there and not before."""
        try:
            crossing = self.view.locate(self.path, guess)
        except (ConvergenceError, RankError, np.linalg.LinAlgError):
            return None
        if not low < crossing.load < min(high, self.reach):
            return None
        if self.path.bent(crossing.load):
            self.checked.clear()
            return None
        before = self.check(crossing.load * (1 - MARGIN), crossing.eigenvalue)
        after = self.check(crossing.load * (1 + MARGIN), crossing.eigenvalue)
        return crossing if after.oscillating > before.oscillating == 0 else None
