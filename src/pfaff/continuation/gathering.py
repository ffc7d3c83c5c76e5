"""What an engine yields, gathered: points in order, the special ones among them, and why there are no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pfaff.continuation.course import Course, Limits
from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.engine import Engine
from pfaff.continuation.measuring import warn_of_unknown, watches
from pfaff.continuation.problem import Event
from pfaff.errors import number_of
from pfaff.threads import hand_on


@dataclass
class Gathered:
    """Results so far; ``places`` are the indices of the points that come next after the special ones."""

    points: list[Any]
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
) -> Gathered:
    """Everything from a start on, until a bound or whatever else ends it; Ctrl-C keeps it.

    ``point`` and ``special`` make results of what the engine yields; ``fresh`` and ``home`` are as for ``follow``.
    """
    kept = Gathered([point(start)])
    watched = watches(course.events, kept.points[0], point)
    engine.watched = watched
    items = engine.follow(start, course.step, limits.bounds, fresh, home)
    try:
        kept.ended = _filled(kept, items, course, limits, point, special)
    except KeyboardInterrupt:
        hand_on()
        kept.ended = Ending(Reason.INTERRUPTED, f"interrupted at {where(kept.points[-1])}")
    warn_of_unknown(watched)
    return kept


def _filled(
    kept: Gathered,
    items: Iterator[Any],
    course: Course,
    limits: Limits,
    point: Callable[[Any], Any],
    special: Callable[[Event[Any]], Any],
) -> Ending:
    """What was kept, with everything that there is to it; and its ending."""
    while len(kept.points) < course.points:
        item = next(items)
        if isinstance(item, Ending):
            return limits.ended(item, kept.points[-1].value)
        result = point(item.point if isinstance(item, Event) else item)
        broken = limits.promises and limits.broken(result.values)
        if broken:
            return Ending(Reason.DECLARED, f"stopped at {where(kept.points[-1])}: {broken}")
        if isinstance(item, Event):
            kept.special.append(special(item))
            kept.places.append(len(kept.points))
            continue
        kept.points.append(result)
        if course.progress is not None:
            course.progress(result)
    return stopped(kept.points)


def stopped(points: Sequence[Any]) -> Ending:
    """The end after as many points as were asked for."""
    words = f"stopped at {where(points[-1])} after {number_of(len(points), 'point')}: ask for more points"
    return Ending(Reason.POINTS, words)


def where(point: Any) -> str:
    """A point by its parameters, in words."""
    return ", ".join(f"{name} = {value:.10g}" for name, value in point.values.items())
