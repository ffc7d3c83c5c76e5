"""Special points in bifurcation diagrams: every kind has its mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pfaff.continuation.kinds import EVENT, kind_of, mark_of
from pfaff.draw.style import GREEN, ORANGE, PURPLE, SKY, VERMILION

COLOURS = {"vermilion": VERMILION, "orange": ORANGE, "green": GREEN, "purple": PURPLE, "sky": SKY}
EVENTS = (VERMILION, GREEN, PURPLE, ORANGE)  # one after the other: the form is the same, and sky's star is a cusp


def mark_special(axes: Any, followed: Any, height: Callable[[Any], float], named: bool = True, size: float = 6) -> None:
    """Mark the special points of a branch or curve; ``height`` gives the ordinate of each."""
    mark_kinds(axes, followed, lambda special: (special.value, height(special)), named, size)


def mark_kinds(
    axes: Any, followed: Any, place: Callable[[Any], tuple[float, float]], named: bool = True, size: float = 6
) -> None:
    """Mark special points at their places, in the order in which kinds appear."""
    names = list(dict.fromkeys(special.kind for special in followed.special))
    events = [name for name in names if name.startswith(EVENT)]
    for name in names:
        kind, several = kind_of(name)
        colour = EVENTS[events.index(name) % len(EVENTS)] if name in events else COLOURS[kind.colour]
        points = [place(special) for special in followed.of_kind(name)]
        shown = {"color": colour, "ms": size, "label": name if named else None}
        axes.plot(*zip(*points, strict=True), mark_of(kind, several), ls="none", **shown)
