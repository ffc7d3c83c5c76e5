"""Flutter loads over damping: surfaces, sections and the limits of vanishing damping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.labels import formula, formulas
from pfaff.draw.style import BLUE, CYCLE, GREY, VERMILION, figure, label

if TYPE_CHECKING:
    from pfaff.stability.maps import FlutterMap
    from pfaff.stability.paradox import Paradox


def draw_map(flutter_map: FlutterMap) -> Figure:
    """A curve for one damping, filled contours for two."""
    fig = figure(6, 4.2)
    axes = fig.add_subplot()
    names = list(flutter_map.axes)
    if len(names) == 1:
        axes.plot(flutter_map.axes[names[0]], flutter_map.values, color=BLUE)
        label(axes, formula(names[0]), f"flutter load {formula(flutter_map.load)}")
        return fig
    section = flutter_map.values.reshape(*flutter_map.values.shape[:2], -1)[:, :, 0]
    x, y = flutter_map.axes[names[0]], flutter_map.axes[names[1]]
    filled = axes.contourf(x, y, np.ma.masked_invalid(section.T), levels=24, cmap="viridis")
    fig.colorbar(filled, label=f"flutter load {formula(flutter_map.load)}")
    label(axes, *formulas(names[:2]))
    return fig


def draw_paradox(paradox: Paradox) -> Figure:
    """The limits for each source alone beside the undamped load and the best direction."""
    fig = figure(6, 3.4)
    axes = fig.add_subplot()
    values = [*paradox.singles.values(), paradox.maximum]
    axes.barh([*formulas(paradox.singles), "best"], values, color=[CYCLE[0]] * len(paradox.singles) + [CYCLE[2]])
    axes.axvline(paradox.undamped, color=VERMILION, ls="--", label="no damping from the beginning")
    if paradox.limit is not None:
        axes.axvline(paradox.limit, color=GREY, label="along the direction")
    label(axes, f"flutter load {formula(paradox.load)} as damping vanishes", "")
    fig.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    return fig
