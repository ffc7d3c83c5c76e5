"""A Hopf point: its eigenvalues, and the cycles that its normal form predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.labels import counted, formula, readable
from pfaff.draw.spectrum import leave_out_fast
from pfaff.draw.style import BLUE, CYCLE, GREY, VERMILION, figure, label, legend_above, title

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.hopf import Hopf

REACH = 0.05  # of the load, relative, over which cycles are predicted


def draw_hopf(hopf: Hopf) -> Figure:
    """The spectrum at the point, and amplitudes against the load: solid where cycles are stable, dashed elsewhere."""
    fig = figure(8.5, 4)
    plane, growth = fig.subplots(1, 2)
    plane.axvline(0, color=GREY, lw=0.8)
    plane.plot(hopf.eigenvalues.real, hopf.eigenvalues.imag, "o", color=BLUE)
    plane.plot([0, 0], [-hopf.omega, hopf.omega], "s", color=VERMILION, label=f"±{hopf.omega:.6g}i")
    leave_out_fast(plane.set_xlim, plane, hopf.eigenvalues)
    label(plane, "growth rate", "frequency")
    legend_above(plane)
    growth.axvline(hopf.value, color=GREY, lw=0.8, ls="--")
    label(growth, formula(hopf.load), "amplitude predicted")
    if not (hopf.drifts or hopf.undecided or hopf.degenerate):
        _draw_cycles(growth, hopf)
    title(fig, hopf.status)
    return fig


def _draw_cycles(axes: Any, hopf: Hopf) -> None:
    reach = REACH * (abs(hopf.value) or 1.0)
    side = 1.0 if hopf.born_above else -1.0
    loads = hopf.value + side * reach * np.linspace(0, 1, 101) ** 2
    amplitudes = [hopf.amplitude(float(load)) for load in loads]
    style = {True: "-", False: "--", None: ":"}[hopf.stable_cycles]
    rows = {name: np.array([each[name] for each in amplitudes]) for name in hopf.states}
    shown = readable(rows)
    for name, colour in zip(shown, CYCLE, strict=False):
        axes.plot(loads, rows[name], style, color=colour, label=formula(name))
    label(axes, formula(hopf.load), counted("amplitude predicted", shown, hopf.states))
    legend_above(axes, columns=6)
