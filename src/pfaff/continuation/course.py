"""How far a branch or a curve is followed, and how finely: what every method that follows one is asked for.

to
    The value of the parameter at which it ends; at first the parameter moves towards it.
bounds
    ``(low, high)``: it also ends where the parameter leaves them, as on the other side of its start after a fold. None
    leaves a side open. By default it is followed on the other side as far from the start as ``to`` is.
step
    The largest step, as a share of the range from the start to ``to`` and of the size of states, taken together.
points
    How many there are at most.
progress
    Is called with every point. Ctrl-C ends the branch and keeps what was computed; so does an error in it, with a
    warning.
events
    Expressions by name, or equations, that are located where they vanish: ``{"half open": "theta1 = 0.5"}``.

No parameter is taken farther than its declaration allows: a damping declared nonnegative is followed down to zero, and
no farther; a mass declared positive to a millionth of its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.measuring import checked_events
from pfaff.errors import ParameterError
from pfaff.statement.called import name_of
from pfaff.statement.values import (
    LONGEST,
    MOST,
    broken_promise,
    end_from,
    heard,
    number_from,
    number_within,
    shown,
    whole_number,
)
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.statement.parameters import Parametrised

STEP, POINTS = 0.1, 1000  # defaults
ROUNDING = 1e-12  # relative to the range that is followed
BESIDE_ZERO = 1e-6  # least value of a parameter declared positive, relative to its start
LEAST = 1e-9  # step, as a share of the range: points differ in more than their last digits

Bounds = tuple[float | None, float | None] | None
Progress = Callable[[Any], Any] | None


@dataclass(frozen=True)
class Course:
    """The arguments of a method that follows a branch, each checked by itself."""

    to: float
    step: float
    points: int
    bounds: tuple[float, float] | None
    progress: Progress
    events: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def asked(
        cls, to: Any, step: Any, points: Any, bounds: Any, progress: Any, of: Any = "", events: Any = None
    ) -> Course:
        """Check the arguments; ``of`` is the parameter that is followed, which errors name."""
        of = of if isinstance(of := name_of(of), str) and of.isidentifier() and len(of) <= LONGEST else ""
        if to is None:
            raise ParameterError(f"how far? Give the last value of {of or 'the parameter'}: to=…")
        share = f"give the largest step as a share of the range, between {LEAST:g} and 1"
        return cls(
            end_from(f"{of}: to" if of else "to", to),
            number_within("step", step, lambda x: LEAST <= x <= 1, share),
            whole_number("points", points, 1, MOST, "ask for fewer"),
            _ends(bounds),
            heard("progress", progress, "print", None),
            checked_events(events),
        )

    def limits(self, system: Parametrised, name: str, start: float) -> Limits:
        """The limits of the parameter ``name`` that is followed from ``start``."""
        return Limits(system, name, start, self.to, self.bounds)


def checked_way(way: Any) -> int:
    """Which of the two ways off a branch: 1, or −1 for the other one."""
    return int(number_within("way", way, lambda x: x in (1, -1), "1 is one way off the branch and -1 the other"))


def _ends(bounds: Any) -> tuple[float, float] | None:
    if bounds is None:
        return None
    example = "write bounds=(0, 10), with None for a side that is open"
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(f"bounds={shown(bounds)} is no pair: {example}")
    low, high = (
        side if each is None else number_from("bounds", each) for each, side in zip(bounds, (-inf, inf), strict=True)
    )
    if not low < high:
        raise ParameterError(f"bounds={shown(bounds)}: the first must be less than the second, {example}")
    return low, high


@dataclass(frozen=True)
class Limits:
    """The range of a parameter (or a state) that is followed from ``start`` to ``to``, and its declared sign."""

    system: Parametrised
    name: str
    start: float
    to: float
    asked: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.to == self.start:
            raise ParameterError(f"to={self.to:g} is where it starts: give another value of {self.name}")
        if self._floor is not None and self.start <= self._floor and self.to < self._floor:
            raise ParameterError(
                f"to={self.to:g}: {self.name} is declared nonnegative and starts at {self.start:g}, give a larger value"
            )
        for word, value in (("to", self.to), ("the start", self.start)):
            if self.asked is not None and not self.asked[0] <= value <= self.asked[1]:
                low, high = self.asked
                raise ParameterError(
                    f"{self.name} = {value:g}, {word}, is outside of bounds=({low:g}, {high:g}): widen them"
                )

    @property
    def span(self) -> float:
        return abs(self.to - self.start)

    @cached_property
    def _floor(self) -> float | None:
        """Zero if the parameter is declared nonnegative but not positive: it may be reached, not passed; else None."""
        return 0.0 if self._declared("nonnegative") and not self._declared("positive") else None

    @cached_property
    def _least(self) -> float:
        """The least value to which the parameter is followed."""
        if self._floor is not None and self.start > self._floor:
            return self._floor
        return BESIDE_ZERO * self.start if self._declared("positive") and self.start > 0 else -inf

    def _declared(self, sign: str) -> bool:
        symbol: Any = next((each for each in self.system.parameters if each.name == self.name), None)
        return symbol is not None and bool(getattr(symbol, f"is_{sign}"))

    @cached_property
    def promises(self) -> list[Any]:
        """The parameters that are declared to have a sign."""
        return [symbol for symbol in self.system.parameters if symbol.is_nonnegative]

    @cached_property
    def _behind(self) -> float:
        """The bound on the other side of the start, as it was asked for."""
        if self.asked is None:
            return 2 * self.start - self.to
        return self.asked[0] if self.to > self.start else self.asked[1]

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The bounds ahead and behind. A branch that starts at zero may return there."""
        ahead, behind = (each if each > 0 else max(each, self._least) for each in (self.to, self._behind))
        return ahead, behind

    def ended(self, ending: Ending, value: float) -> Ending:
        """The ending at a value; its words give the declaration or the remedy."""
        if self._floor in self.bounds and abs(value) <= ROUNDING * self.span:
            return Ending(Reason.DECLARED, f"{ending}: {self.name} is declared nonnegative", ending.bound)
        if ending.bound == self._least and self._least not in (self.to, self._behind):
            words = f"stopped at {self.name} = {value:.10g}, nearly zero: {self.name} is declared positive"
            return Ending(Reason.DECLARED, words, ending.bound)
        if ending.reason is Reason.OTHER_SIDE and self.asked is None:
            words = f"{ending}, away from to={self.to:.10g} and as far from its start: give bounds=(low, high) to go on"
            return Ending(ending.reason, words, ending.bound)
        return ending

    def broken(self, values: Mapping[str, float]) -> str:
        """Which parameter breaks its declaration at a point, in words; empty if none does."""
        for symbol in self.promises:
            if symbol.name in values:
                slack = 0.0 if symbol.is_positive else ROUNDING * self.span
                promise = broken_promise(symbol, values[symbol.name] + slack)
                if promise:
                    return f"beyond it {symbol.name} is not {promise}, as it is declared"
        return ""
