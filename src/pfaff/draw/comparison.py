"""The principles side by side: operations, times, differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.style import BLUE, GREY, ORANGE, VERMILION, figure, label, title

if TYPE_CHECKING:
    from pfaff.principles.comparison import Comparison

FLOOR = 1e-17  # where a difference of zero is drawn


def draw_comparison(comparison: Comparison) -> Figure:
    """Bars for the operations and evaluation times, points for the differences from Lagrange's equations."""
    rows = comparison.rows
    places = np.arange(len(rows))
    names = [row.principle for row in rows]
    fig = figure(9.5, 3.6)
    size, time, difference = fig.subplots(1, 3)
    size.bar(places - 0.2, [row.operations or 0 for row in rows], 0.4, color=BLUE, label="symbolic")
    size.bar(places + 0.2, [row.steps for row in rows], 0.4, color=ORANGE, label="compiled")
    size.margins(y=0.25)
    size.legend(frameon=False, fontsize="small")
    label(size, "", "operations")
    time.bar(places, [1e9 * row.evaluation for row in rows], 0.5, color=BLUE)
    label(time, "", "one evaluation, ns")
    others = rows[1:]  # the first, Lagrange's, is the reference
    difference.semilogy(places[1:] - 0.08, [max(row.accelerations, FLOOR) for row in others], "o", color=BLUE)
    difference.semilogy(places[1:] + 0.08, [max(row.reactions, FLOOR) for row in others], "s", color=VERMILION)
    difference.axhline(1e-12, color=GREY, lw=0.8, ls="--")
    difference.legend(["accelerations", "reactions"], frameon=False, fontsize="small")
    label(difference, "", "difference from Lagrange's")
    for axes in (size, time, difference):
        axes.set_xticks(places, names, rotation=30, ha="right", fontsize="small")
    title(fig, comparison.status)
    return fig
