"""What an engine yields, gathered: points in order, the special ones among them, and the ending."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pfaff.algebra.one_thread import one_thread
from pfaff.continuation.course import Course, Limits
from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.engine import Engine
from pfaff.continuation.measuring import warn_of_unknown, watches
from pfaff.continuation.problem import Event
from pfaff.continuation.walked_points import Line, Walked
from pfaff.errors import number_of
from pfaff.threads import hand_on

STILL = 1e-9  # change of the parameter, relative to the way to its end, that counts as none


@dataclass
class Gathered:
    """Results so far; ``places`` are, for each special point, the index of the next point after it."""

    points: Sequence[Any]
    special: list[Any] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    ended: Ending = field(default_factory=lambda: Ending(Reason.POINTS, ""))


def gathered(
    engine: Engine[Any],
    start: Any,
    course: Course,
    limits: Limits,
    point: Callable[[Any], Any],
    special: Callable[[Event[Any]], Any],
    fresh: bool = False,
    home: Any = None,
    walked: Callable[[Any, Any], Any] | None = None,
) -> Gathered:
    """Results from a start to a bound or another ending; Ctrl-C keeps those found so far.

    ``point`` and ``special`` turn what the engine yields into results, ``walked`` does so for the problem and a point
    of a stretch; ``fresh`` and ``home`` are as for ``follow``.
    """
    points = Line([point(start)])
    kept = Gathered(points)
    watched = watches(course.events, points[0], point)
    engine.watched = watched
    items = engine.follow(start, course.step, limits.bounds, fresh, home)
    try:
        with one_thread:
            kept.ended = _filled(kept, points, items, course, limits, point, special, walked)
    except KeyboardInterrupt:
        kept.ended = interrupted(where(points[-1]))
    warn_of_unknown(watched)
    return kept


def _filled(
    kept: Gathered, points: Line[Any], items: Iterator[Any], course: Course, limits: Limits,
    point: Callable[[Any], Any], special: Callable[[Event[Any]], Any], walked: Callable[[Any, Any], Any] | None,
) -> Ending:  # fmt: skip
    """Fill ``kept`` with everything the engine yields; return the ending."""
    promised = any(symbol.name in points[0].values for symbol in limits.promises)
    while len(points) < course.points:
        with np.errstate(over="ignore", invalid="ignore"):  # in trials that lead too far, which are refused
            item = next(items)
        if isinstance(item, Ending):
            return limits.ended(item, points[-1].value)
        if isinstance(item, Walked):
            item = item.part(0, min(len(item), course.points - len(points)))
            if walked and not (promised or course.progress):
                points.extend(item, walked)
                continue
        for result in _results(item, point, walked):
            broken = promised and limits.broken(result.values)
            if broken:
                return Ending(Reason.DECLARED, f"stopped at {where(points[-1])}: {broken}")
            if isinstance(item, Event):
                kept.special.append(special(item))
                kept.places.append(len(points))
                continue
            points.append(result)
            if course.progress is not None:
                course.progress(result)
    return stopped(points, course.to)


def _results(item: Any, point: Callable[[Any], Any], walked: Callable[[Any, Any], Any] | None) -> Iterator[Any]:
    """The results of a point, of an event, or of the points of a stretch one by one."""
    if isinstance(item, Walked) and walked:
        return (walked(*item.made(k)) for k in range(len(item)))
    return iter([point(item.point if isinstance(item, Event) else item)])


def interrupted(place: str) -> Ending:
    """The ending after Ctrl-C, made where it is caught; within a larger analysis the interrupt is raised again."""
    hand_on()
    return Ending(Reason.INTERRUPTED, f"interrupted at {place}")


def stopped(points: Sequence[Any], to: float) -> Ending:
    """The ending after as many points as were asked for."""
    last = points[-1]
    words = f"stopped at {where(last)} after {number_of(len(points), 'point')}"
    if len(points) > 2 and abs(last.value - points[0].value) <= STILL * abs(to - points[0].value):
        name = list(last.values)[-1]
        return Ending(Reason.POINTS, f"{words}: {name} does not change along it, and to={to:g} is not reached")
    return Ending(Reason.POINTS, f"{words}: ask for more points")


def where(point: Any) -> str:
    """A point by its parameters, in words."""
    return ", ".join(f"{name} = {value:.10g}" for name, value in point.values.items())
