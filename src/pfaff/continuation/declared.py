"""Declared ranges of parameters: what is followed ends where a parameter would break its declaration.

A damping declared nonnegative is followed down to zero, and no farther; a mass declared positive as long as it is so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pfaff.errors import ParameterError
from pfaff.statement.values import broken_promise
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.statement.parameters import Parametrised

ROUNDING = 1e-12  # of the range that is followed


@dataclass(frozen=True)
class Declared:
    """A parameter (or a state) that is followed from a start until it is ``to``, and no farther than it may."""

    system: Parametrised
    name: str
    start: float
    to: float

    def __post_init__(self) -> None:
        if self._floor is not None and self.start <= self._floor and self.to < self._floor:
            raise ParameterError(
                f"to={self.to:g}: {self.name} is declared nonnegative and starts at {self.start:g}, give a larger value"
            )

    @cached_property
    def _floor(self) -> float | None:
        """Zero, if it may be reached and not be passed."""
        symbol: Any = next((each for each in self.system.parameters if each.name == self.name), None)
        return 0.0 if symbol is not None and symbol.is_nonnegative and not symbol.is_positive else None

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Where it ends, and as far on the other side of its start: what starts at zero may touch it again."""
        other = 2 * self.start - self.to
        if self._floor is None or self.start <= self._floor:
            return self.to, other
        return max(self.to, self._floor), max(other, self._floor)

    def ended(self, why: str, value: float) -> str:
        """Why it ended at a value, with the declaration if that is the reason."""
        if self._floor in self.bounds and abs(value) <= ROUNDING * abs(self.to - self.start):
            return f"{why}: {self.name} is declared nonnegative"
        return why

    def broken(self, values: Mapping[str, float]) -> str:
        """Which parameter breaks its declaration at a point, in words; nothing if none does."""
        for symbol in self.system.parameters:
            if symbol.name in values:
                slack = 0.0 if symbol.is_positive else ROUNDING * abs(self.to - self.start)
                promise = broken_promise(symbol, values[symbol.name] + slack)
                if promise:
                    return f"beyond it {symbol.name} is not {promise}, as it is declared"
        return ""
