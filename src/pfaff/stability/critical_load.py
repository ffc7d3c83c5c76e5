"""What a search for critical loads gives: the first load of each kind, and the cells of stability between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pfaff import doors
from pfaff.checks import Check, Checked, doubted, unmade
from pfaff.checks.spectra import CRITICAL
from pfaff.errors import ParameterError
from pfaff.stability.settled import MOST_DIGITS, settled_digits
from pfaff.statement.told import answering, told
from pfaff.threads import cached_property

ALREADY = "already at zero load"  # how something grows that does so without load
NOTED = 1e-9  # relative uncertainty of a load above which it is reported


@answering
@dataclass(frozen=True)
class CriticalLoad(Checked):
    """The first load of a kind, or None in ``value`` if there is none in the interval searched.

    ``frequency`` is the angular frequency of the critical mode, zero where it does not oscillate; ``mode`` its
    amplitudes by coordinate; ``crossing_speed`` the derivative of its growth rate with respect to the load where a
    simple pair crosses the imaginary axis; ``rounding`` how far rounding may have moved the load. A load smaller than
    that counts as found: growth is seen beyond it, only its beginning is not known. ``fixed`` are the family
    coordinates that were asked for.
    """

    kind: str
    load: str
    value: float | None
    frequency: float | None
    eigenvalue: complex | None
    mode: Mapping[str, complex] | None
    searched: tuple[float, float]
    how: str
    case: Any  # a Case; for a large system the Assembly
    crossing_speed: float | None = None
    rounding: float = 0.0
    modes: int | None = None  # number of rod modes at which the load converged; ``change`` is the last relative change
    change: float | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    about: Any = field(default=None, repr=False, compare=False)  # the Linearisation there, by which it is verified

    def _verify(self) -> list[Check]:
        if not self.value:
            return []
        if self.about is None or self.mode is None:
            return unmade("no small motions are kept with it", CRITICAL)
        if self.rounding > NOTED * abs(float(self.value)):
            return unmade("rounding hides where it is", CRITICAL)
        mode = np.real(np.array(list(self.mode.values())))
        return doors.verified_rests.of_critical(self.about, self.load, complex(self.eigenvalue or 0.0), mode)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.status}>"

    def __bool__(self) -> bool:
        return self.value is not None

    def __float__(self) -> float:
        if self.value is None:
            raise ParameterError(f"there is no {self.kind} load up to {self.load} = {self.searched[1]:g}")
        return float(self.value)

    @property
    def status(self) -> str:
        return doubted(self._found, self.checks)

    @property
    def _found(self) -> str:
        if self.value is None:
            return f"no {self.kind} up to {self.load} = {self.searched[1]:g} ({self.how})"
        if self.rounding <= NOTED * abs(self.value):
            told = "" if self.digits == MOST_DIGITS else f", settled to {self.digits} digits by the modes of its rods"
            return f"{self.kind} at {self.load} = {self.value:.{self.digits}g}{told}: {self.how}"
        if self.rounding >= abs(self.value):  # growth is known to have begun beyond it
            last = f"{self.load} = {abs(self.value) + self.rounding:.1g}"
            return f"{self.kind} begins before {last}, rounding hides where: {self.how}"
        digits = max(1, math.ceil(-math.log10(self.rounding / abs(self.value))))
        return (
            f"{self.kind} near {self.load} = {self.value:.{digits}g}, known to ±{self.rounding:.1g} because of "
            f"rounding: {self.how}"
        )

    @cached_property
    def digits(self) -> int:
        """How many digits of the load are printed: of a rod's, those that its last two modes do not change."""
        if self.value is None or not getattr(getattr(self.case, "system", None), "rods", ()):
            return MOST_DIGITS
        change = self.change if self.change is not None else doors.first.change_by_modes(self)
        return settled_digits(change)

    def plot(self) -> Any:
        return doors.draw.draw_critical(self.case, self.load, self.searched[1], self.fixed)


@dataclass(frozen=True)
class Cell:
    """An interval of loads in which the kind of stability does not change."""

    low: float
    high: float
    oscillating: int
    divergent: int

    @property
    def kind(self) -> str:
        if self.oscillating and self.divergent:
            return "flutter and divergence"
        return "flutter" if self.oscillating else "divergence" if self.divergent else "stable"


@told
@dataclass(frozen=True)
class CriticalLoads(Checked):
    """Flutter, divergence and buckling of one search, and the cells of stability between the loads found."""

    flutter: CriticalLoad
    divergence: CriticalLoad
    buckling: CriticalLoad
    cells: tuple[Cell, ...]
    modes: int | None = None  # number of rod modes at which the lowest load converged; ``change`` is the last change
    change: float | None = None

    @property
    def status(self) -> str:
        return "; ".join(each.status for each in (self.flutter, self.divergence, self.buckling))

    def _verify(self) -> list[Check]:
        return [check for each in (self.flutter, self.divergence, self.buckling) for check in each.checks]

    def plot(self) -> Any:
        return self.flutter.plot()
