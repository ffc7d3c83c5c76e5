"""Loads between neighbouring crossings: where they are probed, and what changes from one interval to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

from pfaff.stability.crossings import Crossing
from pfaff.stability.stretches import Stretch

SHARES = (0.02, 0.5, 0.98)  # shares of an interval without crossings at which it is probed

Counts = tuple[int, int]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Change:
    """A load, the numbers of oscillations and exponentials that grow from there on, and the crossing there, if
    known."""

    load: float
    oscillating: int
    divergent: int
    crossing: Crossing | None = None


@dataclass(frozen=True)
class Interval:
    """Loads between neighbouring crossings or the ends of a stretch; ``doubtful`` are loads where more may happen.

    An ``opening`` is the beginning of one whose end is not known yet: its first place is that of the whole.
    """

    stretch: Stretch
    low: float
    high: float
    crossing: Crossing | None
    doubtful: tuple[float, ...] = ()
    opening: bool = False

    @property
    def places(self) -> list[float]:
        """Loads at which to probe it: also near its beginning, if it is long."""
        inner = [load for load in self.doubtful if self.low < load < self.high]
        if not (self.stretch.exact or inner) and (self.low, self.high) == (self.stretch.low, self.stretch.high):
            return list(self.stretch.nodes[1:])  # these are known already
        middles = [(a + b) / 2 for a, b in pairwise([self.low, *inner, self.high])] if inner else []
        width = self.high - self.low
        widths = {width, min(width, max(self.low, self.stretch.usual))}
        return sorted({*(self.low + share * each for share in SHARES for each in widths), *middles})

    def explains(self, before: Counts, after: Counts) -> bool:
        """Whether its first crossing explains this change."""
        return before == after if self.crossing is None else before == after or self.crossing.explains(before, after)


class Remembered(Generic[Item]):
    """The items of an iterator, kept for the next time."""

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
