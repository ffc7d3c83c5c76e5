"""Cascades of period doublings: amplitudes along their branches, and how the doublings approach a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.diagram import draw_stretches, name_styles
from pfaff.draw.labels import formula
from pfaff.draw.style import BLUE, CYCLE, GREEN, figure, label, title

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.cascade import Cascade


def draw_cascade(cascade: Cascade) -> Figure:
    """Amplitudes of the first state, and distances from the limit in a logarithmic scale."""
    fig = figure(9, 4)
    diagram, approach = fig.subplots(1, 2)
    state = cascade.doublings[0].orbit.states[0]
    for k, branch in enumerate(cascade.branches):
        points, special = (
            [(each.value, each.amplitude[state]) for each in group] for group in (branch, branch.special)
        )
        stable, colour = [each.stable for each in branch], CYCLE[k % len(CYCLE)]
        draw_stretches(diagram, points, stable, special, color=colour, lw=1.2, label=f"period {2**k}")
    marks = [(each.value, each.amplitude[state]) for each in cascade.doublings]
    diagram.plot(*zip(*marks, strict=True), "s", color=GREEN, ms=5, label="period doubling")
    label(diagram, formula(cascade.load), f"amplitude of {formula(state)}")
    name_styles(diagram, [each.stable for branch in cascade.branches for each in branch])
    number = np.arange(1, len(cascade) + 1)
    if len(cascade) > 1:
        approach.semilogy(number, np.abs(cascade.limit - cascade.values), "s-", color=BLUE, lw=1)
    approach.set_xticks(number)
    label(approach, "doubling", f"distance of {formula(cascade.load)} from its limit")
    title(fig, cascade.status)
    return fig
