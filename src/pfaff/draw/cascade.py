"""Cascades of period doublings: amplitudes along their branches, and how the doublings approach a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.diagram import draw_stretches, name_styles
from pfaff.draw.labels import formula
from pfaff.draw.style import BLUE, CYCLE, GREEN, GREY, figure, label, title

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.cascade import Cascade


def draw_cascade(cascade: Cascade) -> Figure:
    fig = figure(9, 4)
    diagram, approach = fig.subplots(1, 2)
    state = cascade.doublings[0].orbit.states[0]
    for k, branch in enumerate(cascade.branches):
        points = [(each.value, each.amplitude[state]) for each in branch]
        stable = [each.stable for each in branch]
        draw_stretches(diagram, points, stable, color=CYCLE[k % len(CYCLE)], lw=1.2, label=f"period {2**k}")
    marks = [(each.value, each.amplitude[state]) for each in cascade.doublings]
    diagram.plot(*zip(*marks, strict=True), "s", color=GREEN, ms=5, label="period doubling")
    label(diagram, formula(cascade.load), f"amplitude of {formula(state)}")
    name_styles(diagram, [each.stable for branch in cascade.branches for each in branch])
    away = np.abs(cascade.limit - cascade.values)
    approach.semilogy(np.arange(1, len(away) + 1), away, "s-", color=BLUE, lw=1)
    approach.grid(color=GREY, alpha=0.3)
    label(approach, "doubling", f"distance of {formula(cascade.load)} from its limit")
    title(fig, cascade.status)
    return fig
