"""Motions: time histories, phase portraits, reactions and energies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.style import CYCLE, figure, label

if TYPE_CHECKING:
    from pfaff.motion.result import Motion

NAMED = 16  # curves up to which a legend names them


def draw_motion(motion: Motion) -> Figure:
    """Coordinates against time, phase portraits, reactions and energies in one page."""
    fig = figure(9, 6.5)
    (histories, portraits), (reactions, energies) = fig.subplots(2, 2)
    n = len(motion.names)
    for k, name in enumerate(motion.names):
        colour = CYCLE[k % len(CYCLE)]
        histories.plot(motion.t, motion.y[k], color=colour, lw=1, label=name)
        portraits.plot(motion.y[k], motion.y[n + k], color=colour, lw=0.7, label=name)
    for k, (name, row) in enumerate(zip(motion.reaction_names, motion.p, strict=True)):
        reactions.plot(motion.t, row, color=CYCLE[k % len(CYCLE)], lw=1, label=name)
    parts = {"kinetic": motion.energy.kinetic, "potential": motion.energy.potential}
    parts |= {"dissipated": motion.energy.dissipated, "supplied": motion.energy.supplied}
    for k, (name, row) in enumerate(parts.items()):
        if np.any(row):
            energies.plot(motion.t, row, color=CYCLE[k], lw=1, label=name)
    label(histories, "time", "coordinate")
    label(portraits, "coordinate", "velocity")
    label(reactions, "time", "reaction")
    label(energies, "time", "energy")
    for axes in (histories, portraits, reactions, energies):
        if 0 < len(axes.get_legend_handles_labels()[0]) <= NAMED:
            axes.legend(frameon=False, fontsize="small")
    fig.suptitle(f"{motion.system}: {motion.status}", fontsize="medium")
    return fig
