"""Points in order along a branch or a curve, and what both of them offer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.kinds import EVENT, MULTIPLE, NAMES
from pfaff.continuation.measuring import measure
from pfaff.errors import ParameterError
from pfaff.statement.told import answering
from pfaff.statement.values import one_of, place, shown

if TYPE_CHECKING:
    from pfaff.continuation.course import Course, Limits

Point = TypeVar("Point", bound=Any)
Special = TypeVar("Special", bound=Any)


@answering
class Trail(Generic[Point, Special]):
    """``trail[i]`` is a point, ``special`` lists the located ones, ``ended`` says why there are no more."""

    points: Sequence[Point]
    special: tuple[Special, ...]
    ended: Ending

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> Point:
        if isinstance(index, str):
            raise ParameterError(
                f"points are counted, [0] is the first: to_xarray()[{shown(index)}] gives it for all of them"
            )
        return self.points[place(index)]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __repr__(self) -> str:
        rows = [point.values for point in self.points]
        columns = {name: [row[name] for row in rows] for name in self.parameters}
        spans = ", ".join(f"{name} = {min(each):.6g} … {max(each):.6g}" for name, each in columns.items())
        return f"<{len(self)} {self.of} of {self.points[0].case.system.name}, {spans}: {self.counted}; {self.ended}>"

    @property
    def of(self) -> str:
        """What the points are, in words."""
        raise NotImplementedError

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that vary; the last one is that whose bounds end the curve."""
        return tuple(self.points[0].values)

    @property
    def values(self) -> np.ndarray:
        """Values of the last parameter at all points."""
        return np.array([point.value for point in self.points])

    @property
    def counted(self) -> str:
        """The special points by kind, in words."""
        return tallied([special.kind for special in self.special])

    def _limits(self, course: Course) -> Limits:
        """The range of the last parameter, for following on from the last point."""
        last, name = self.points[-1], self.parameters[-1]
        limits = course.limits(last.case.system, name, last.value)
        if self.ended.reason is Reason.CLOSED:
            raise ParameterError(f"these {self.of} lie on a closed line, which is complete: nothing follows")
        if self.ended.reason is Reason.SPECIAL:
            raise ParameterError(f"nothing follows, {self.ended}: .special[-1].switch(…) gives what meets it there")
        return limits

    def _joined(self, more: Self, **others: Any) -> Self:
        """This and its continuation ``more``, which begins with the last point; ``others`` are further changed
        fields."""
        points, special = (*self.points, *more.points[1:]), self.special + more.special
        return replace(self, points=points, special=special, ended=more.ended, **others)  # type: ignore[type-var]

    def _places(self, more: Self) -> tuple[int, ...]:
        """Indices of the special points of both in the joined trail."""
        return self.places + tuple(len(self) - 1 + place for place in more.places)  # type: ignore[attr-defined]

    def measure(self, expression: Any) -> np.ndarray:
        """An expression of parameters, states and other measurable quantities, evaluated at every point.

        Orbits offer ``period``, and ``max_``, ``min_``, ``mean_`` and ``amplitude_`` before the name of a state. The
        value is NaN where it is not finite.
        """
        value = measure(expression, self.points[0])
        return np.array([value(point) for point in self.points])

    def of_kind(self, kind: str) -> tuple[Special, ...]:
        """The special points of one kind: ``branch.of_kind("fold")``; of an event: ``of_kind("event: half open")``."""
        if isinstance(kind, str) and kind.startswith(EVENT):
            return tuple(special for special in self.special if special.kind == kind)
        several = isinstance(kind, str) and kind.startswith(MULTIPLE)
        one_of(NAMES, kind.removeprefix(MULTIPLE) if several else kind, "no special points are of the kind")
        return tuple(special for special in self.special if special.kind == kind)


class Branch(Trail[Point, Special]):
    """What is followed in one parameter: equilibria, steady motions or periodic orbits."""


def with_turns(points: Sequence[Any], special: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """Points in order, and between them the special ones at which the parameter turns; ``places`` are, for each of
    these, the index of the next point after it."""
    line = [points[0]]
    for k in range(1, len(points) + 1):
        between = [each for each, place in zip(special, places, strict=True) if place == k]
        ahead = list(points[k : k + 1])
        line += [*_turns([line[-1], *between, *ahead], last=not ahead), *ahead]
    return line


def _turns(chain: Sequence[Any], last: bool) -> list[Any]:
    """The points inside a chain at which the parameter turns; with the ``last`` one, if nothing comes after it."""
    apart = [b for a, b in pairwise(chain) if b.value != a.value]
    inner = [
        b
        for a, b, c in zip([chain[0], *apart], apart, apart[1:], strict=False)
        if (b.value - a.value) * (c.value - b.value) < 0
    ]
    return [*inner, *(apart[-1:] if last else [])]


def tallied(kinds: Iterable[str]) -> str:
    """How many there are of each kind, in words."""
    numbers = Counter(kinds)
    return ", ".join(f"{n} × {kind}" if n > 1 else kind for kind, n in numbers.items()) or "no special points"
