"""Positions of everything that is drawn: points, directions and forces of a system, at many instants at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, StatementError
from pfaff.statement import Drawing, System
from pfaff.statement.rod_frame import drawn_stations, point_values
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.draw.space import Line
    from pfaff.motion.result import Motion

RIM = 48  # points by which a round rim is drawn
PATH = 6000  # instants that a smooth path needs, its corners included
SMALL, LARGE = 1 / 4, 1 / 2  # bounds of the size of symbols, relative to the system, whatever its links
BEYOND = 2.0  # times its own size: a contact farther away than that is left out of the picture
ARROW = 0.45  # the longest force, as a share of the system's size
GAP = 0.25  # between an arrow and its point, as a share of the scale
FARTHEST = 1e30  # places beyond it are nowhere: pictures have 32 bits
APART = ("cylinder", "wall", "contact")  # marks of things that do not move with the system


@dataclass(frozen=True)
class Round:
    """A disc or a wheel: its radius, and the directions of its axle and of a spoke, at each instant."""

    radius: np.ndarray
    axle: np.ndarray
    spoke: np.ndarray
    turns: bool  # whether the spoke was stated, and shows how it turns
    spoked: bool  # a wheel, and no disc

    def rim(self, centre: np.ndarray, points: int = RIM) -> np.ndarray:
        """Points around it, the first on the spoke: instants × points × (x, y, z)."""
        angle = 2 * np.pi * np.arange(points) / points
        across = np.cross(self.axle, self.spoke)
        around = np.cos(angle)[:, None] * self.spoke[:, None] + np.sin(angle)[:, None] * across[:, None]
        return centre[:, None] + self.radius[:, None, None] * around


@dataclass(frozen=True)
class Mesh:
    """A body of lines: its axes at each instant (as columns), and its curves in them."""

    axes: np.ndarray
    curves: tuple[np.ndarray, ...]

    def lines(self, centre: np.ndarray) -> list[np.ndarray]:
        """Each curve at each instant: instants × points × coordinates."""
        return [centre[:, None] + np.einsum("tij,kj->tki", self.axes, curve) for curve in self.curves]


@dataclass(frozen=True)
class Scene:
    """Points and arrows, one row (x, y) or (x, y, z) for each instant of ``t``; angles and radii, one number each."""

    drawing: Drawing
    t: np.ndarray
    points: Mapping[str, np.ndarray]
    angles: Mapping[str, np.ndarray]
    radii: Mapping[str, np.ndarray]
    arrows: Mapping[str, np.ndarray]
    rounds: Mapping[str, Round] = field(default_factory=dict)
    meshes: Mapping[str, Mesh] = field(default_factory=dict)
    lines: tuple[Line, ...] = ()  # lines of bodies, as a picture on paper shows them

    @property
    def dimension(self) -> int:
        return next(iter(self.points.values())).shape[1]

    @cached_property
    def moving(self) -> np.ndarray:
        """All points of the system itself, with the corners about its circles: instants × points × coordinates."""
        marks = self.drawing.marks
        own = [at[:, None] for name, at in self.points.items() if marks.get(name) not in APART]
        for name, radius in self.radii.items():
            own += [(self.points[name] + sign * radius[:, None])[:, None] for sign in (-1, 1)]
        own += [each.rim(self.points[name], 8) for name, each in self.rounds.items()]
        own += [line for name, each in self.meshes.items() for line in each.lines(self.points[name])]
        own += [line.at for line in self.lines if line.kind != "ground"]
        return np.concatenate(own or [at[:, None] for at in self.points.values()], axis=1)

    @cached_property
    def extent(self) -> float:
        """The size of the system where it is stretched most."""
        return float(np.nanmax(np.ptp(self.moving, axis=1)))

    @cached_property
    def scale(self) -> float:
        """The length by which symbols are sized: the longest link, unless that is small or large in the picture."""
        bars = [np.linalg.norm(self.points[a] - self.points[b], axis=1) for a, b in self.drawing.links]
        links = [float(each[np.isfinite(each)][0]) for each in bars if np.isfinite(each).any()]
        size = min(max(*links, SMALL * self.extent, 0.0), LARGE * self.extent)
        return size or SMALL * float(self.span(self.points).max()) or 1.0

    @cached_property
    def reach(self) -> float:
        """Half the length of a bow: enough for its contacts, unless that is more than the system is long."""
        far = [np.linalg.norm(self.points[a] - self.points[b], axis=1) for a, b in self.touches]
        far = [np.where(np.isfinite(each), each, np.inf).max() for each in far]
        return float(np.clip(1.1 * max(far, default=0.0), 0.6 * self.scale, 0.6 * max(self.scale, self.extent)))

    @property
    def touches(self) -> list[tuple[str, str]]:
        """Every bow with every contact."""
        bows, contacts = (
            [name for name, mark in self.drawing.marks.items() if mark == kind] for kind in ("bow", "contact")
        )
        return [(bow, contact) for bow in bows for contact in contacts]

    @cached_property
    def touched(self) -> list[np.ndarray]:
        """The contacts; where they are BEYOND, the ends of their bows."""
        pairs = [(self.points[bow], self.points[contact]) for bow, contact in self.touches]
        room = BEYOND * max(self.extent, self.scale)
        near = [np.linalg.norm(at - end, axis=1, keepdims=True) < room for end, at in pairs]
        return [np.where(close, at, end) for close, (end, at) in zip(near, pairs, strict=True)]

    @cached_property
    def roll(self) -> np.ndarray:
        """How far the bow has turned a cylinder: the distance that its surface moves, across its axis."""
        cylinders = [name for name, mark in self.drawing.marks.items() if mark == "cylinder"]
        if len(self.t) < 2 or not (self.touches and cylinders):
            return np.zeros(len(self.t))
        bow, touched = self.touches[0]
        end, contact = self.points[bow], self.points[touched]
        turn, axis = self.angle(bow), self.angle(cylinders[0])
        arm = (contact - end)[:-1] + np.diff(contact - end, axis=0) / 2
        moved = np.diff(end, axis=0) + np.diff(turn)[:, None] * np.stack([-arm[:, 1], arm[:, 0]], axis=1)
        across = moved[:, 1] * np.cos(axis[:-1]) - moved[:, 0] * np.sin(axis[:-1])
        return np.concatenate([[0.0], np.cumsum(across)])

    def span(self, names: Iterable[str]) -> np.ndarray:
        """Width and height of the region that some points visit."""
        visited = np.concatenate([self.points[name] for name in names])
        return np.nan_to_num(np.fmax.reduce(visited) - np.fmin.reduce(visited))

    def angle(self, name: str) -> np.ndarray:
        return self.angles.get(name, np.zeros(len(self.t)))

    @cached_property
    def forces(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Tail and tip of every arrow, the longest of length ARROW; one that pushes ends at its point."""
        sizes = {name: np.linalg.norm(arrow, axis=1, keepdims=True) for name, arrow in self.arrows.items()}
        longest = max((np.nan_to_num(np.fmax.reduce(size, axis=None)) for size in sizes.values()), default=0.0) or 1.0
        ends = {}
        for name, arrow in self.arrows.items():
            unit = arrow / np.where(sizes[name] > 0, sizes[name], 1.0)
            near = GAP * self.scale * unit
            far = near + ARROW * max(self.extent, self.scale) * arrow / longest
            at = self.points[name]
            ends[name] = (at - far, at - near) if self._pushes(name) else (at + near, at + far)
        return ends

    def _pushes(self, name: str) -> bool:
        """Whether the force at a point points into the system."""
        ends = [pair if pair[0] == name else pair[::-1] for pair in self.drawing.joined if name in pair]
        into = sum(np.nansum((self.points[b] - self.points[a]) * self.arrows[name]) for a, b in ends)
        return bool(into >= 0)


def drawing_of(case: Bound | None) -> Drawing:
    """The drawing of a case's system, or an error that says how to give one."""
    if case is None:
        raise ParameterError(
            "this motion knows no case to draw: read files with load_motion(path, case); assemblies have no drawing"
        )
    drawing: Drawing | None = getattr(case.system, "drawing", None)
    if drawing is None:
        raise StatementError(
            f"{case.system.name} has no drawing: give its System one of points and links, "
            "drawing=Drawing(points={'a': (0, 0), 'b': (x, y)}, links=[('a', 'b')])"
        )
    return drawing


def scene_of(case: Bound | None, q: np.ndarray, t: np.ndarray, numbers: np.ndarray | None = None) -> Scene:
    """Everything at coordinates q (one column for each instant), with the case's parameters or given ones."""
    drawing = drawing_of(case)
    assert case is not None
    with np.errstate(all="ignore"):
        rows = _formulas(cast("System", case.system))(
            *np.asarray(q, dtype=float), *(case.numbers if numbers is None else numbers), t
        )
    values = iter([np.broadcast_to(_drawable(row), np.shape(t)) for row in rows])
    filled = drawing.mapped(lambda given, name: next(values))
    scene = Scene(
        drawing,
        np.asarray(t),
        points={name: np.stack(point, axis=1) for name, point in filled.points.items()},
        angles=dict(filled.angles),
        radii=dict(filled.circles),
        arrows={name: np.stack(arrow, axis=1) for name, arrow in filled.arrows.items()},
        rounds={
            name: _round(*given, spoked=spoked)
            for group, spoked in ((filled.discs, False), (filled.wheels, True))
            for name, given in group.items()
        },
        meshes={name: _mesh(*given) for name, given in filled.bodies.items()},
    )
    if not np.isfinite(scene.moving).all(axis=(1, 2)).any():
        lost = [name for name, at in scene.points.items() if not np.isfinite(at).all(axis=1).any()]
        raise StatementError(
            f"nothing to draw: at no instant here are all points of {case.system.name} finite"
            + (f", {' and '.join(lost)} never" if lost else "")
            + "; check the roots, logarithms and divisors of its drawing"
        )
    return scene


def _drawable(row: Any) -> np.ndarray:
    """Numbers with NaN for those that no picture can hold, as it does where a point is nowhere."""
    numbers = np.asarray(row, dtype=float)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(numbers) < FARTHEST, numbers, np.nan)


def _round(radius: np.ndarray, axle: Sequence[np.ndarray], *spoke: Sequence[np.ndarray], spoked: bool) -> Round:
    """Directions of unit length, the spoke across the axle; any spoke where none was stated."""
    axis = _unit(np.stack(axle, axis=1))
    given = np.stack(spoke[0], axis=1) if spoke else np.eye(3)[np.abs(axis).argmin(axis=1)]
    across = given - (given * axis).sum(axis=1, keepdims=True) * axis
    return Round(radius, axis, _unit(across), bool(spoke), spoked)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _mesh(axes: Any, curves: Any) -> Mesh:
    """A body of lines. Bodies are rigid: their curves are those of the first instant."""
    turned = np.stack([np.stack(row, axis=1) for row in axes], axis=1)
    return Mesh(turned, tuple(np.array([[float(each[0]) for each in point] for point in curve]) for curve in curves))


def scene_of_motion(motion: Motion, times: np.ndarray) -> Scene:
    drawing_of(motion.case)
    return scene_of(motion.case, motion(times)[: len(motion.names)], times, motion.numbers_at(times))


@once(most=1)
def _formulas(system: System) -> Callable[..., list[Any]]:
    """All expressions of the drawing, in its order: one function of the coordinates, parameters and time."""
    drawing, s = system.drawing, system.statement
    assert drawing is not None
    points = [sm.Symbol(name, real=True) for station in drawn_stations(system) for name in station.names]
    plain = dict(s.to_plain) | {sm.Function(point.name)(system.time): point for point in points}
    expressions = [entry.xreplace(plain) for _, entry in drawing.entries()]
    known = [*s.q, *system.parameters, s.time, *points]
    formulas = sm.lambdify(known, expressions, "numpy", cse=True, dummify=True)  # a parameter may be called sin
    return partial(_with_points, system, formulas) if points else formulas


def _with_points(system: System, formulas: Callable[..., list[Any]], *values: Any) -> list[Any]:
    """Formulas that contain coordinates of points of rods, which follow from those of the system."""
    n, stations = len(system.coordinates), drawn_stations(system)
    placed = point_values(system, stations, np.atleast_2d(np.asarray(values[:n], dtype=float)), values[n:-1])
    return formulas(*values, *(placed[name] for station in stations for name in station.names))
