"""Equilibria: the configurations of a system at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pfaff.draw.body import draw_body
from pfaff.draw.labels import formula, formulas
from pfaff.draw.scene import Scene, scene_of
from pfaff.draw.space import seen
from pfaff.draw.style import CYCLE, figure, label
from pfaff.draw.view import view_of

if TYPE_CHECKING:
    from pfaff.rest.mechanical import Equilibrium


PANELS = 12  # configurations shown, the nearest to the origin first
TOGETHER = 3  # up to this many share one picture


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
    panels = np.ravel(fig.subplots(rows, columns, sharex=True, sharey=True))
    scene = _scene(shown)
    view = view_of(scene)
    for k, (axes, equilibrium) in enumerate(zip(panels, shown, strict=False)):
        draw_body(axes, scene, k, CYCLE[k % len(CYCLE)])
        view.frame(axes, 0)  # one scale for all
        axes.set_title(_told(equilibrium), fontsize="small")
        axes.tick_params(labelsize="x-small")
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    return fig


def draw_together(axes: Axes, equilibria: Sequence[Equilibrium]) -> None:
    """Several configurations of one case in one picture, distinguished by colour and by their reactions or
    coordinates."""
    scene = _scene(equilibria)
    for k, equilibrium in enumerate(equilibria):
        draw_body(axes, scene, k, CYCLE[k % len(CYCLE)], _told(equilibrium))
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "x", "y")
    if axes.get_legend_handles_labels()[0]:  # a system without bars has none
        axes.legend(frameon=False, fontsize="small", loc="best")


def _told(equilibrium: Equilibrium) -> str:
    """Its reactions; for a system without constraints, its coordinates."""
    values = equilibrium.reaction or equilibrium.coordinates
    return ", ".join(f"{formula(name)} = {value:.4g}" for name, value in values.items())


def _scene(equilibria: Sequence[Equilibrium]) -> Scene:
    q = np.stack([equilibrium.q for equilibrium in equilibria], axis=1)
    return seen(scene_of(equilibria[0].case, q, np.zeros(len(equilibria))))


def _as_bars(equilibria: Sequence[Equilibrium]) -> Figure:
    fig = figure(6, 3.4)
    axes = fig.add_subplot()
    names = equilibria[0].case.system.coordinate_names
    width = 0.8 / len(equilibria)
    for k, equilibrium in enumerate(equilibria):
        axes.bar(np.arange(len(names)) + k * width, equilibrium.q, width, color=CYCLE[k % len(CYCLE)])
    axes.set_xticks(np.arange(len(names)) + 0.4 - width / 2, formulas(names))
    label(axes, "coordinate", "value at rest")
    return fig
