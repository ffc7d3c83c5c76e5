"""A system as it is stated: its bodies, coordinates, loads, springs and constraints, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pfaff.draw.body import draw_body
from pfaff.draw.labels import formula, formulas, groups
from pfaff.draw.scene import Scene, drawing_of, scene_of
from pfaff.draw.space import seen
from pfaff.draw.style import BLUE, GREY, VERMILION, figure, label
from pfaff.draw.view import view_of
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.statement.system import System

BENT = 0.4  # how far coordinates are moved for the picture, in radians or lengths of the system
STEP = 1e-4
NEWTON = 30
WIDTH = 6.4
WORDS = {
    "skate": "skate: no motion across its blade",
    "wheel": "wheel: rolls along, no motion across",
    "bow": "bow: rolls a cylinder that turns about its axis",
    "block": "block: slides on the ground",
}


def draw_structure(case: Case) -> Figure:
    """The system a little out of its way over its reference position, with names of coordinates and loads."""
    drawing = drawing_of(case)
    q, start = configuration(case), _on_constraints(case, np.zeros(len(case.system.coordinates)))
    scene = seen(scene_of(case, np.stack([start, q, *_moved(case, q)], axis=1), np.zeros(2 + len(q))))
    now = seen(scene_of(case, np.stack([start, q], axis=1), np.zeros(2)))
    view = view_of(now)
    fig = figure(WIDTH, float(np.clip(WIDTH * view.size[1] / view.size[0], 1.2, 4.5)) + 0.7)
    axes = fig.add_subplot()
    view.frame(axes, 1)
    for a, b in drawing.links:
        axes.plot(*np.transpose([now.points[a][0], now.points[b][0]]), color=GREY, lw=1, ls=(0, (4, 3)), zorder=1)
    draw_body(axes, now, 1, BLUE)
    _name_coordinates(axes, case.system, scene)
    _name_loads(axes, case.system, now)
    if drawing.dimension == 3:
        axes.set_axis_off()
    label(axes, "x", "y", case.system.name)
    fig.supxlabel("\n".join(_legend(case.system)), fontsize="x-small", color="0.3", x=0.01, ha="left")
    return fig


def configuration(case: Case) -> np.ndarray:
    """Coordinates bent a little, on the holonomic constraints."""
    names = case.system.coordinate_names
    return _on_constraints(case, np.linspace(BENT / 2, BENT, len(names)))


def _on_constraints(case: Case, start: np.ndarray) -> np.ndarray:
    """The nearest position on the holonomic constraints by Newton's method, from other starts if need be."""
    if not case.system.statement.positions:
        return start
    residual = _positions(case.system)
    random = np.random.default_rng(0).uniform(-1, 1, (20, len(start)))
    for q in (start, *(start + random)):
        q = q.copy()
        for _ in range(NEWTON):
            f, A = (np.array(each, dtype=float) for each in residual(*q, *case.numbers, 0.0))
            step = np.linalg.lstsq(A, f, rcond=None)[0]
            q -= step
            if np.abs(step).max() < 1e-9:
                return q
    return start


@once(most=32)
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


def _name_coordinates(axes: Axes, system: System, scene: Scene) -> None:
    """An angle beside the first bar that it turns, a length as an arrow at the first point that it moves."""
    kinds = groups(system, system.coordinate_names)
    angles = {name for kind, names in kinds.items() if kind.startswith("angle") for name in names}
    taken: list[np.ndarray] = []
    for k, name in enumerate(system.coordinate_names):
        row = k + 2
        turned = name in angles
        at = _bar_turned(scene, row) if turned else None
        if at is None:
            at = _mark_turned(scene, row) if turned else None
        if at is None:
            at = _point_moved(axes, scene, row)
        if at is None:
            continue
        while any(np.linalg.norm(at - other) < 0.3 * scene.scale for other in taken):
            at = at + 0.3 * scene.scale * np.array([0.0, 1.0])
        taken.append(at)
        axes.annotate(formula(name), tuple(at), ha="center", va="center", fontsize="medium", zorder=9)


def _bar_turned(scene: Scene, row: int) -> np.ndarray | None:
    for a, b in scene.drawing.links:
        along, moved = (scene.points[b][k] - scene.points[a][k] for k in (1, row))
        if np.linalg.norm(moved - along) > 0.1 * STEP * np.linalg.norm(along):
            across = np.array([-along[1], along[0]]) / (np.linalg.norm(along) or 1.0)
            return scene.points[a][1] + 0.5 * along + 0.22 * scene.scale * across
    return None


def _mark_turned(scene: Scene, row: int) -> np.ndarray | None:
    """Beside a wheel or a blade that it steers."""
    for name, angle in scene.angles.items():
        if abs(angle[row] - angle[1]) > 0.1 * STEP:
            return scene.points[name][1] + 0.35 * scene.scale * np.array([np.sin(angle[1]), -np.cos(angle[1])])
    return None


def _point_moved(axes: Axes, scene: Scene, row: int) -> np.ndarray | None:
    for at in scene.points.values():
        shift = at[row] - at[1]
        size = np.linalg.norm(shift)
        if size > 0.01 * STEP * scene.scale:
            tip = at[1] + 0.6 * scene.scale * shift / size
            style = {"arrowstyle": "->", "color": "0.35", "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", tuple(tip), tuple(at[1]), arrowprops=style, zorder=8)
            return tip + 0.16 * scene.scale * shift / size
    return None


def _name_loads(axes: Axes, system: System, scene: Scene) -> None:
    for name, (tail, tip) in scene.forces.items():
        acting = {
            each.name
            for entry in scene.drawing.arrows[name]
            for each in entry.free_symbols
            if each in system.parameters
        }
        if acting and not np.array_equal(tail[1], tip[1]):
            middle = (tail[1] + tip[1]) / 2 + 0.15 * scene.scale * np.array([0.0, 1.0])
            axes.annotate(", ".join(formulas(sorted(acting))), tuple(middle), color=VERMILION, ha="center", zorder=9)


def _legend(system: System) -> Iterator[str]:
    """What the symbols mean, and how many constraints there are."""
    marks = set(system.drawing.marks.values()) if system.drawing else set()
    yield f"coordinates {', '.join(formulas(system.coordinate_names))}" + "; ".join(
        ["", *(words for mark, words in WORDS.items() if mark in marks)]
    )
    counts = (len(system.nonholonomic_constraints), len(system.holonomic_constraints))
    yield f"{counts[0]} nonholonomic, {counts[1]} holonomic constraint(s); dashed: all coordinates zero"
