"""Points in order, built lazily: those of walked stretches are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar, overload

P = TypeVar("P")
Q = TypeVar("Q")


class Walked(Generic[P]):
    """The points of a stretch; ``make`` gives one by its number, with the problem that it belongs to."""

    def __init__(self, many: int, make: Callable[[int], tuple[Any, P]], first: int = 0) -> None:
        self._many, self._make, self._first = many, make, first

    def __len__(self) -> int:
        return self._many

    def made(self, k: int) -> tuple[Any, P]:
        """The problem of the k-th point, and the point."""
        return self._make(self._first + k)

    def part(self, first: int, last: int) -> Walked[P]:
        """The points from ``first`` up to, without, ``last``."""
        return Walked(last - first, self._make, self._first + first)


class Line(Sequence[Q]):
    """Points in order; those of walked stretches become results by a function of problem and point."""

    def __init__(self, points: Iterable[Q] = ()) -> None:
        self._points: list[Any] = list(points)

    def append(self, point: Q) -> None:
        self._points.append(point)

    def extend(self, walked: Walked[P], result: Callable[[Any, P], Q]) -> None:
        """Append points that are made when they are first asked for."""
        self._points.extend(zip(repeat((walked, result)), range(len(walked))))

    def __len__(self) -> int:
        return len(self._points)

    @overload
    def __getitem__(self, index: int) -> Q: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Q, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(len(self))[index])
        found = self._points[index]
        if type(found) is tuple:
            (walked, result), k = found
            found = self._points[index] = result(*walked.made(k))
        return found

    def __iter__(self) -> Iterator[Q]:
        return (self[k] for k in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Line, (tuple(self),)
