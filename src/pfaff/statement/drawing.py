"""How a system is drawn, stated with it: points, bars, wheels and bodies in the plane or in space."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.expressions import converted, expressed
from pfaff.statement.names import checked_title
from pfaff.statement.values import LISTED, by_name, listed, one_of, shown, spelt, truth, whole_number

MARKS = ("block", "hinge", "wheel", "skate", "bow", "contact", "cylinder", "mass", "ground", "wall")
IN_SPACE = ("hinge", "mass", "contact", "skate")  # marks that have a meaning in space

Formula = Callable[[Any, str], Any]  # a function of an expression and the point that it belongs to


@spelt
@dataclass(frozen=True)
class Drawing:
    """How to draw a system: named points, links between them, and marks on points.

    Points are pairs (x, y), or for a drawing in space triples (x, y, z) with z upwards, of expressions in the
    coordinates, parameters and time. ``links`` join them as rigid bars, ``springs`` as springs. Marks name a symbol for
    a point: ``"block"`` (slides on the ground), ``"ground"`` (a fixed hinge), ``"wall"``, ``"hinge"``, ``"mass"``,
    ``"wheel"`` (seen from above; it rolls in the direction of its angle), ``"skate"`` (a blade along its angle),
    ``"bow"`` (the head of a T whose stem has the angle, long enough to reach a ``"contact"``) or ``"cylinder"`` (its
    axis along the angle, rolled by the bow). The angle of a mark, if not zero, is in ``angles``, from x towards y.

    ``curves`` are bodies that bend: smooth lines through points, in their order. ``circles`` are round bodies about
    points, by their radii, drawn to scale: balls, in space. ``outlines`` are closed curves through points. ``arrows``
    are forces at points, vectors like these. Of the points in ``traced`` the path is shown; if there is none, of the
    last point.

    In space, ``discs`` are flat and round, ``wheels`` have a rim and spokes: each is ``(radius, axle)`` about its
    point, or ``(radius, axle, spoke)``, with the directions of its axle and of a spoke, by which one sees it turn.
    ``bodies`` are meshes of lines, ``(axes, curves)`` about a point: ``axes`` is the matrix whose columns are the
    directions of the body's own axes, ``curves`` are lists of points in these. ``ground=True`` shows the plane z = 0.
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
    discs: Mapping[str, Any] = field(default_factory=dict)
    wheels: Mapping[str, Any] = field(default_factory=dict)
    bodies: Mapping[str, Any] = field(default_factory=dict)
    ground: bool = False
    curves: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for kind in ("points", "marks", "angles", "circles", "arrows", "discs", "wheels", "bodies"):
            object.__setattr__(self, kind, by_name(kind, getattr(self, kind), "{'end': …}", StatementError))
        if not self.points:
            raise StatementError("a drawing needs at least one point, such as points={'end': (x, y)}")
        for kind in ("links", "springs", "outlines", "curves"):
            for group in listed(kind, getattr(self, kind), "[('base', 'end')]", StatementError):
                listed(f"each of {kind}", group, "('base', 'end')", StatementError)
        listed("traced", self.traced, "['end']", StatementError)
        ends = (name for group in (*self.links, *self.springs, *self.outlines, *self.curves) for name in group)
        about = (*self.marks, *self.angles, *self.circles, *self.arrows, *self.discs, *self.wheels, *self.bodies)
        for name in (*ends, *about, *self.traced):
            one_of(self.points, name, "the drawing has no point", StatementError)
        for names in self.curves:
            whole_number(
                "the number of points of a curve", len(names), 2, LISTED, "name where it leads", StatementError
            )
        for mark in self.marks.values():
            one_of(MARKS, mark, "unknown mark", StatementError)
        for name in self.points:
            checked_title(name, "point of a drawing")
        truth("ground", self.ground)
        if not self.traced:
            object.__setattr__(self, "traced", (list(self.points)[-1],))
        self._check_dimensions()

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space: as many as the first point has coordinates."""
        return len(tuple(next(iter(self.points.values()))))

    @property
    def joined(self) -> list[tuple[str, str]]:
        """Pairs of points that one body holds together: bars, and pieces of curves."""
        return [*self.links, *(pair for names in self.curves for pair in pairwise(names))]

    def _check_dimensions(self) -> None:
        """Raise unless everything lies in one plane or one space, and has the documented shape."""
        keep = object.__setattr__
        first = next(iter(self.points))
        size = len(_vector(first, self.points[first], None))
        for kind in ("points", "arrows"):
            keep(self, kind, {name: _vector(name, given, size) for name, given in getattr(self, kind).items()})
        for kind in ("discs", "wheels"):
            keep(self, kind, {name: _round(name, given) for name, given in getattr(self, kind).items()})
        keep(self, "bodies", {name: _body(name, given, size) for name, given in self.bodies.items()})
        if size == 2 and (self.discs or self.wheels or self.ground):
            raise StatementError(
                "discs, wheels and ground are for drawings in space, and the points are pairs (x, y): give triples, or "
                "in the plane circles={'hub': r} and marks={'hub': 'wheel'}"
            )
        for name, mark in self.marks.items():
            if size == 3 and mark not in IN_SPACE:
                raise StatementError(
                    f"mark {mark!r} of {name!r} is for the plane, and the points are triples (x, y, z): in space there "
                    f"are {', '.join(IN_SPACE)}, and discs, wheels, circles and bodies"
                )

    def entries(self) -> Iterator[tuple[str, Any]]:
        """Every expression with the point that it belongs to, always in the same order."""
        found: list[tuple[str, Any]] = []
        self.mapped(lambda expression, name: found.append((name, expression)))
        return iter(found)

    def mapped(self, become: Formula) -> Drawing:
        """The same drawing with every expression replaced."""

        def of(name: str, given: Any) -> Any:
            return tuple(of(name, each) for each in given) if isinstance(given, tuple) else become(given, name)

        kinds = ("points", "angles", "circles", "arrows", "discs", "wheels", "bodies")
        changed: dict[str, Any] = {
            kind: {name: of(name, given) for name, given in getattr(self, kind).items()} for kind in kinds
        }
        return replace(self, **changed)

    def read(self, known: Mapping[str, sm.Expr]) -> Drawing:
        """The drawing with its texts parsed in known names."""
        return self.mapped(lambda given, name: expressed(given, known, f"the drawing of {name!r}"))

    def check_symbols(self, to_plain: Mapping[sm.Basic, sm.Basic], known: set[sm.Symbol], system: str) -> None:
        """Raise for symbols other than coordinates, parameters and time."""
        for name, entry in self.entries():
            if entry.has(sm.nan, sm.oo, -sm.oo, sm.zoo, sm.I):
                raise StatementError(f"the drawing of {name!r} contains {shown(entry)}: give finite real expressions")
            plain = entry.xreplace(dict(to_plain))
            functions = plain.atoms(sm.core.function.AppliedUndef)
            for symbol in sorted({*functions, *plain.free_symbols} - known, key=str):
                raise StatementError(
                    f"the drawing of {name!r} contains {symbol}, which is neither a coordinate nor a parameter of "
                    f"{system}: write it in those"
                )


def _vector(name: str, given: Any, size: int | None) -> tuple[Any, ...]:
    """A pair in the plane or a triple in space; ``size`` says which, if it is known."""
    either = "give a pair (x, y) or a triple (x, y, z)"
    if isinstance(given, str) or not hasattr(given, "__getitem__"):
        raise StatementError(f"the drawing of {name!r} is {shown(given)}: {either}")
    entries = tuple(given)
    if size is None and len(entries) in (2, 3):
        return entries
    if size is None:
        raise StatementError(f"the drawing of {name!r} has {len(entries)} entries: {either}")
    if len(entries) != size:
        wanted = {2: "a pair (x, y)", 3: "a triple (x, y, z)"}[size]
        raise StatementError(f"the drawing of {name!r} has {len(entries)} entries: give {wanted}, as for other points")
    return entries


def _round(name: str, given: Any) -> tuple[Any, ...]:
    """A radius, the direction of the axle, and perhaps that of a spoke."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) not in (2, 3):
        raise StatementError(
            f"disc or wheel {name!r} is {shown(given)}: give (radius, axle) or (radius, axle, spoke), with triples for "
            "the directions of axle and spoke"
        )
    return (given[0], *(_vector(name, direction, 3) for direction in given[1:]))


def _body(name: str, given: Any, size: int) -> tuple[Any, ...]:
    """Axes as rows of a matrix, and curves as lists of points in these axes."""
    wrong = f"body {name!r} must be (axes, curves): a {size} × {size} matrix, and lists of points in its axes"
    if not isinstance(given, Sequence) or len(given) != 2:
        raise StatementError(wrong)
    axes, curves = given
    rows = tuple(map(tuple, axes.tolist() if hasattr(axes, "tolist") else axes))
    if len(rows) != size or any(len(row) != size for row in rows):
        raise StatementError(wrong)
    groups = listed(f"the curves of {name!r}", curves, "[[(0, 0, 0), (1, 0, 0)]]", StatementError)
    return rows, tuple(tuple(_vector(name, point, size) for point in curve) for curve in groups)


def replaced(drawing: Drawing | None, values: Mapping[sm.Basic, sm.Basic]) -> Drawing | None:
    """A drawing with some symbols replaced, such as loads by functions of time."""
    if drawing is None:
        return None
    return drawing.mapped(lambda given, name: converted(given).xreplace(dict(values)))
