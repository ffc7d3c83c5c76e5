"""How a system is drawn: named points, bars and springs between them, and marks that say what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.expressions import expressed
from pfaff.statement.names import checked_title
from pfaff.statement.values import by_name, listed, one_of

MARKS = ("block", "hinge", "wheel", "bow", "contact", "cylinder", "mass", "ground", "wall")


@dataclass(frozen=True)
class Drawing:
    """How to draw a system: named points, links between them, and marks on points.

    Points are pairs of expressions in the coordinates, parameters and time; ``links`` join them as rigid bars,
    ``springs`` as springs. Marks name a symbol for a point: ``"block"`` (slides on the ground), ``"ground"`` (a
    fixed hinge), ``"wall"``, ``"hinge"``, ``"mass"``, ``"wheel"`` (its axle along the angle), ``"bow"`` (the head of a
    T whose stem has the angle, long enough to reach a ``"contact"``) or ``"cylinder"`` (its axis along the
    angle, rolled by the bow). The angle of a mark, if not zero, is in ``angles``.

    ``circles`` are round bodies about points, by their radii, drawn to scale; ``outlines`` are closed curves through
    points, such as the rim of a wheel in space. ``arrows`` are forces at points, pairs of expressions too. Of the
    points in ``traced`` the path is shown; if there is none, of the last point.
    """

    points: Mapping[str, Any]
    links: Sequence[tuple[str, str]] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    angles: Mapping[str, Any] = field(default_factory=dict)
    springs: Sequence[tuple[str, str]] = ()
    circles: Mapping[str, Any] = field(default_factory=dict)
    outlines: Sequence[Sequence[str]] = ()
    arrows: Mapping[str, Any] = field(default_factory=dict)
    traced: Sequence[str] = ()

    def __post_init__(self) -> None:
        for kind in ("points", "marks", "angles", "circles", "arrows"):
            by_name(kind, getattr(self, kind), "{'end': …}", StatementError)
        if not self.points:
            raise StatementError("a drawing needs at least one point, such as points={'end': (x, y)}")
        for kind in ("links", "springs", "outlines"):
            for group in listed(kind, getattr(self, kind), "[('base', 'end')]", StatementError):
                listed(f"each of {kind}", group, "('base', 'end')", StatementError)
        listed("traced", self.traced, "['end']", StatementError)
        ends = (name for group in (*self.links, *self.springs, *self.outlines) for name in group)
        for name in (*ends, *self.marks, *self.angles, *self.circles, *self.arrows, *self.traced):
            one_of(self.points, name, "the drawing has no point", StatementError)
        for mark in self.marks.values():
            one_of(MARKS, mark, "unknown mark", StatementError)
        for name in self.points:
            checked_title(name, "point of a drawing")
        if not self.traced:
            object.__setattr__(self, "traced", (list(self.points)[-1],))

    def read(self, known: Mapping[str, sm.Expr]) -> Drawing:
        """The same drawing with its texts read in known names."""

        def spelled(given: Any, name: str) -> Any:
            if isinstance(given, str):
                return expressed(given, known, f"the drawing of {name!r}")
            return tuple(spelled(each, name) for each in given) if isinstance(given, list | tuple) else given

        def all_of(group: Mapping[str, Any]) -> dict[str, Any]:
            return {name: spelled(given, name) for name, given in group.items()}

        points, angles, circles, arrows = map(all_of, (self.points, self.angles, self.circles, self.arrows))
        return replace(self, points=points, angles=angles, circles=circles, arrows=arrows)
