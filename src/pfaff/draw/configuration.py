"""Configurations of a system, drawn from its own points, links and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pfaff.draw.style import CYCLE, GREY, figure, label
from pfaff.errors import StatementError

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.equilibria import Equilibrium


PANELS = 12  # configurations shown, the nearest to the origin first
TOGETHER = 3  # up to so many share one picture


def draw_equilibria(equilibria: Sequence[Equilibrium]) -> Figure:
    """The configurations, a few in one picture or many in panels; without a drawing, coordinates as bars."""
    shown = equilibria[:PANELS]
    if not shown:
        fig = figure(4, 1)
        fig.text(0.5, 0.5, "no equilibrium found", ha="center", va="center")
        return fig
    if shown[0].case.system.drawing is None:
        return _as_bars(shown)
    if len(shown) <= TOGETHER:
        fig = figure(7, 3.4)
        draw_together(fig.add_subplot(), shown)
        return fig
    columns = 4
    rows = -(-len(shown) // columns)
    fig = figure(9, 2.2 * rows)
    panels = np.ravel(fig.subplots(rows, columns))
    for k, (axes, equilibrium) in enumerate(zip(panels, shown, strict=False)):
        draw_configuration(axes, equilibrium.case, equilibrium.q, CYCLE[k % len(CYCLE)])
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(_reactions(equilibrium), fontsize="small")
        axes.tick_params(labelsize="x-small")
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    return fig


def draw_together(axes: Axes, equilibria: Sequence[Equilibrium]) -> None:
    """Several configurations in one picture, told apart by colour and their reactions."""
    for k, equilibrium in enumerate(equilibria):
        draw_configuration(axes, equilibrium.case, equilibrium.q, CYCLE[k % len(CYCLE)], _reactions(equilibrium))
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "x", "y")
    axes.legend(frameon=False, fontsize="small", loc="best")


def _reactions(equilibrium: Equilibrium) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in equilibrium.reaction.items())


def draw_configuration(axes: Axes, case: Case, q: np.ndarray, colour: str, text: str = "") -> None:
    """Links as thick lines, points with their marks."""
    drawing = case.system.drawing
    if drawing is None:
        raise StatementError(f"{case.system.name} has no drawing: give its System a Drawing of points and links")
    points = _numbers(case, q, drawing.points)
    angles = _numbers(case, q, {name: (angle,) for name, angle in drawing.angles.items()})
    scale = max((np.hypot(*(points[a] - points[b])) for a, b in drawing.links), default=1.0)
    for k, (a, b) in enumerate(drawing.links):
        x, y = np.transpose([points[a], points[b]])
        axes.plot(x, y, color=colour, lw=2.5, solid_capstyle="round", label=text if k == 0 and text else None, zorder=2)
    for name, point in points.items():
        _mark(axes, drawing.marks.get(name, ""), point, angles.get(name, np.zeros(1))[0], colour, scale)


def _mark(axes: Axes, mark: str, at: np.ndarray, angle: float, colour: str, scale: float) -> None:
    along = scale * np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-along[1], along[0]])
    if mark == "hinge":
        axes.plot(*at, "o", color="white", mec=colour, ms=5, zorder=3)
    elif mark == "mass":
        axes.plot(*at, "o", color=colour, ms=8, zorder=3)
    elif mark in ("block", "ground"):
        half = 0.22 * scale
        face = "white" if mark == "block" else GREY
        axes.add_patch(Rectangle((at[0] - half, at[1] - half), 2 * half, 2 * half, fc=face, ec=colour, zorder=1))
        axes.axhline(at[1] - half, color=GREY, lw=0.8, zorder=0)
        axes.plot(*at, "o", color="white", mec=colour, ms=5, zorder=3)
    elif mark == "wheel":  # seen from above: it rolls across its axle, which lies along the angle
        ends = np.transpose([at - 0.3 * across, at + 0.3 * across])
        axes.plot(*ends, color="black", lw=4, solid_capstyle="round", zorder=4)
    elif mark == "bow":
        ends = np.transpose([at - 0.5 * across, at + 0.5 * across])
        axes.plot(*ends, color="black", lw=3, zorder=4)


def _numbers(case: Case, q: np.ndarray, expressions: Mapping[str, Any]) -> dict[str, np.ndarray]:
    system = case.system
    known = {
        **dict(zip(system.coordinates, map(float, q), strict=True)),
        **dict(zip(system.parameters, map(float, case.numbers), strict=True)),
    }
    return {
        name: np.array([float(sm.sympify(e).subs(known)) for e in entries]) for name, entries in expressions.items()
    }


def _as_bars(equilibria: Sequence[Equilibrium]) -> Figure:
    fig = figure(6, 3.4)
    axes = fig.add_subplot()
    names = equilibria[0].case.system.coordinate_names
    width = 0.8 / len(equilibria)
    for k, equilibrium in enumerate(equilibria):
        axes.bar(np.arange(len(names)) + k * width, equilibrium.q, width, color=CYCLE[k % len(CYCLE)])
    axes.set_xticks(np.arange(len(names)) + 0.4 - width / 2, names)
    label(axes, "coordinate", "value at rest")
    return fig
