"""A system as stated: its bodies, coordinates, loads, springs and constraints, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.draw.body import draw_body
from pfaff.draw.labels import formula, formulas, groups
from pfaff.draw.scene import Scene, drawing_of, scene_of
from pfaff.draw.space import seen
from pfaff.draw.style import BLUE, GREY, VERMILION, figure, label, title
from pfaff.draw.view import view_of
from pfaff.errors import number_of
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.statement.system import System

BENT = 0.4  # how far coordinates are moved for the picture, in radians or lengths of the system
STEP = 1e-4
APART = 0.3  # least distance of names, relative to the scale
MOST, SEEN = 30, 1e-9  # most Newton steps, and the last one, in radians or lengths: nobody sees more
ARROW = {"arrowstyle": "->", "color": "0.35", "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
WIDTH = 6.4
WORDS = {
    "skate": "skate: no motion across its blade",
    "wheel": "wheel: rolls along, no motion across",
    "bow": "bow: rolls a cylinder that turns about its axis",
    "block": "block: slides on the ground",
}


def draw_structure(case: Case) -> Figure:
    """The system slightly displaced from its reference position, with names of coordinates and loads."""
    drawing = drawing_of(case)
    q, start = configuration(case), _on_constraints(case, np.zeros(len(case.system.coordinates)))
    scene = seen(scene_of(case, np.stack([start, q, *_moved(case, q)], axis=1), np.zeros(2 + len(q))))
    now = seen(scene_of(case, np.stack([start, q], axis=1), np.zeros(2)))
    view = view_of(now)
    fig = figure(WIDTH, float(np.clip(WIDTH * view.size[1] / view.size[0], 1.2, 4.5)) + 0.7)
    axes = fig.add_subplot()
    view.frame(axes, 1)
    for names in (*drawing.links, *drawing.curves):
        axes.plot(*np.transpose([now.points[name][0] for name in names]), color=GREY, lw=1, ls=(0, (4, 3)), zorder=1)
    draw_body(axes, now, 1, BLUE)
    places = _name_coordinates(axes, case.system, scene, q)
    _name_loads(axes, case.system, now)
    _widen(axes, places, 0.15 * scene.scale)
    if drawing.dimension == 3:
        axes.set_axis_off()
    label(axes, "x", "y")
    title(fig, case.system.name)
    fig.supxlabel("\n".join(_legend(case.system)), fontsize="x-small", color="0.3", x=0.01, ha="left")
    return fig


def configuration(case: Case) -> np.ndarray:
    """Coordinates bent a little, on the holonomic constraints."""
    names, shapes = case.system.coordinate_names, _amplitudes(case.system)
    bent = np.linspace(BENT / 2, BENT, len(names))
    for rod in shapes:
        bent[[names.index(name) for name in rod]] = BENT * (np.arange(len(rod)) == 0)
    return _on_constraints(case, bent)


def _amplitudes(system: System) -> list[tuple[str, ...]]:
    """Amplitudes of each rod: coordinates that appear nowhere in a picture."""
    return [rod.coordinate_names for rod in system.rods]


def _on_constraints(case: Case, start: np.ndarray) -> np.ndarray:
    """The nearest position on the holonomic constraints by Newton's method, from other starts if need be."""
    if not case.system.statement.positions:
        return start
    residual = _positions(case.system)

    def step(q: np.ndarray) -> tuple[np.ndarray, float]:
        f, A = (np.array(each, dtype=float) for each in residual(*q, *case.numbers, 0.0))
        change = np.linalg.lstsq(A, f, rcond=None)[0]
        return q - change, np.abs(change).max()

    random = np.random.default_rng(0).uniform(-1, 1, (20, len(start)))
    tried = (newton(step, q, Stopping(MOST, exact=SEEN)) for q in (start, *(start + random)))
    return next((found.at for found in tried if found.ceased), start)


@once(most=1)
def _positions(system: System) -> Any:
    s = system.statement
    rows = sm.Matrix(s.positions)
    return sm.lambdify(
        [*s.q, *system.parameters, s.time], [list(rows), rows.jacobian(list(s.q)).tolist()], "numpy", dummify=True
    )


def _moved(case: Case, q: np.ndarray) -> Iterator[np.ndarray]:
    """The position with one coordinate after the other a little farther."""
    for k in range(len(q)):
        yield q + STEP * (np.arange(len(q)) == k)


def _name_coordinates(axes: Axes, system: System, scene: Scene, q: np.ndarray) -> list[np.ndarray]:
    """An angle as an arc at the first bar that it turns, a length as an arrow at the first point that it moves.

    In space an angle stands beside a bar that it turns. Where the names stand is returned.
    """
    kinds = groups(system, system.coordinate_names)
    angles = [name for kind, names in kinds.items() if kind.startswith("angle") for name in names]
    taken: list[np.ndarray] = []
    told = [name for name in system.coordinate_names if not any(name in rod for rod in _amplitudes(system))]
    for name in sorted(told, key=lambda name: name in angles):  # arcs go where arrows leave room
        k = system.coordinate_names.index(name)
        found = _sense(scene, k + 2, float(q[k]), name in angles)
        free = (sense for sense in found if all(np.linalg.norm(sense.at - o) > APART * scene.scale for o in taken))
        sense = next(free, None) or next(_sense(scene, k + 2, float(q[k]), name in angles), None)
        if sense is None:
            continue  # it moves nothing that is drawn
        _draw_sense(axes, sense)
        taken.append(sense.at)
        text = axes.annotate(formula(name), tuple(sense.at), ha="center", va="center", fontsize="medium", zorder=9)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    return taken


@dataclass(frozen=True)
class Sense:
    """How a coordinate's positive sense is shown: lines that end in an arrow, and the place of its name."""

    at: np.ndarray
    arrow: np.ndarray | None = None
    reference: np.ndarray | None = None


def _sense(scene: Scene, row: int, value: float, turning: bool) -> Iterator[Sense]:
    """Ways to show a coordinate, the best first."""
    seen = False
    for sense in _turning(scene, row, value) if turning else ():
        seen = True
        yield sense
    if not seen:
        yield from _moving(scene, row)


def _turning(scene: Scene, row: int, value: float) -> Iterator[Sense]:
    if scene.drawing.dimension == 2:
        yield from _arcs(scene, row, value)
    else:
        for pivot, along, _ in _turned(scene, row):
            across = np.array([-along[1], along[0]]) / (np.linalg.norm(along) or 1.0)
            yield Sense(pivot + 0.5 * along + 0.22 * scene.scale * across)
    for name, angle in scene.angles.items():  # at a wheel or a blade that it steers
        turn = float(angle[row] - angle[1]) / STEP
        if abs(turn) > 0.1 and scene.drawing.dimension == 2:
            yield _arc(scene, scene.points[name][1], 0.6 * scene.scale, float(angle[1]) - turn * value, float(angle[1]))
        elif abs(turn) > 0.1:
            yield Sense(scene.points[name][1] + 0.35 * scene.scale * np.array([np.sin(angle[1]), -np.cos(angle[1])]))


def _turned(scene: Scene, row: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Bars that a coordinate turns: where each begins, the bar, and by how much, for a unit of the coordinate."""
    for a, b in scene.drawing.links:
        along, moved = (scene.points[b][k] - scene.points[a][k] for k in (1, row))
        if np.linalg.norm(moved - along) > 0.1 * STEP * np.linalg.norm(along):
            turn = float(along[0] * moved[1] - along[1] * moved[0]) / float(along @ along) / STEP
            yield scene.points[a][1], along, turn


def _arcs(scene: Scene, row: int, value: float) -> Iterator[Sense]:
    """An arc from where the bar would point if the angle were zero to where it points, near its end or farther in."""
    found = next(_turned(scene, row), None)
    for share in (0.75, 0.5, 1.0) if found else ():
        pivot, along, turn = found  # type: ignore[misc]
        length, end = float(np.linalg.norm(along)), float(np.arctan2(along[1], along[0]))
        yield _arc(scene, pivot, share * min(length, 2 * scene.scale), end - turn * value, end)


def _arc(scene: Scene, pivot: np.ndarray, radius: float, start: float, end: float) -> Sense:
    at = np.linspace(start, end, 33)
    arc = pivot + radius * np.stack([np.cos(at), np.sin(at)], axis=1)
    reference = np.array([pivot, pivot + 1.15 * (arc[0] - pivot)])
    middle = (start + end) / 2
    return Sense(pivot + (radius + 0.16 * scene.scale) * np.array([np.cos(middle), np.sin(middle)]), arc, reference)


def _moving(scene: Scene, row: int) -> Iterator[Sense]:
    """An arrow at the first point that moves; a longer one where names would collide."""
    for at in scene.points.values():
        shift = at[row] - at[1]
        size = np.linalg.norm(shift)
        if size > 0.01 * STEP * scene.scale:
            for length in (0.6, 1.0, 1.4):
                tip = at[1] + length * scene.scale * shift / size
                yield Sense(tip + 0.16 * scene.scale * shift / size, np.array([at[1], tip]))
            return


def _draw_sense(axes: Axes, sense: Sense) -> None:
    if sense.reference is not None:
        axes.plot(*sense.reference.T, color="0.35", lw=1.1, ls=":", zorder=8)
    if sense.arrow is not None:
        axes.plot(*sense.arrow[:-1].T, color="0.35", lw=1.1, zorder=8)
        back = sense.arrow[max(-4, -len(sense.arrow))]
        axes.annotate("", tuple(sense.arrow[-1]), tuple(back), arrowprops=ARROW, zorder=8, annotation_clip=False)


def _widen(axes: Axes, places: list[np.ndarray], room: float) -> None:
    """Widen the window to contain the names."""
    if places:
        low, high = np.min(places, axis=0) - room, np.max(places, axis=0) + room
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        axes.set(xlim=(min(left, low[0]), max(right, high[0])), ylim=(min(bottom, low[1]), max(top, high[1])))


def _name_loads(axes: Axes, system: System, scene: Scene) -> None:
    for name, (tail, tip) in scene.forces.items():
        acting = {
            each.name
            for entry in scene.drawing.arrows[name]
            for each in entry.free_symbols
            if each in system.parameters
        }
        if acting and not np.array_equal(tail[1], tip[1]):
            along = (tip[1] - tail[1]) / np.linalg.norm(tip[1] - tail[1])
            middle = (tail[1] + tip[1]) / 2 + 0.15 * scene.scale * np.array([-along[1], along[0]])
            axes.annotate(", ".join(formulas(sorted(acting))), tuple(middle), color=VERMILION, ha="center", zorder=9)


def _legend(system: System) -> Iterator[str]:
    """What the symbols mean, and how many constraints there are."""
    marks = set(system.drawing.marks.values()) if system.drawing else set()
    shapes = _amplitudes(system)
    placed = [name for name in system.coordinate_names if not any(name in rod for rod in shapes)]
    told = [f"coordinates {', '.join(formulas(placed))}"] * bool(placed)
    told += [f"shape of a rod {formula(rod[0])} … {formula(rod[-1])}" for rod in shapes]
    yield "; ".join([*told, *(words for mark, words in WORDS.items() if mark in marks)])
    counts = {"nonholonomic": len(system.nonholonomic_constraints), "holonomic": len(system.holonomic_constraints)}
    stated = [number_of(count, f"{kind} constraint") for kind, count in counts.items() if count]
    yield "; ".join([*stated, "dashed: all coordinates zero"])
