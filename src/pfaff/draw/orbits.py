"""Branches of periodic orbits as bifurcation diagrams, and single orbits in time and in phase."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from pfaff.draw.labels import formula, formulas
from pfaff.draw.special import mark_special
from pfaff.draw.style import BLUE, CYCLE, GREY, VERMILION, figure, label, named, title

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbits import Orbit


def draw_branch(branch: OrbitBranch, state: str) -> Figure:
    """Period and amplitude against the load: solid where orbits are stable, dashed elsewhere, special points marked."""
    fig = figure(9, 4)
    periods, amplitudes = fig.subplots(1, 2)
    _draw(periods, branch, lambda each: each.period)
    _draw(amplitudes, branch, lambda each: each.amplitude[state])
    label(periods, branch.load, "period")
    label(amplitudes, branch.load, f"amplitude of {state}")
    if branch.special:
        periods.legend(frameon=False, fontsize="small")
    title(fig, f"{branch.problem.case.system.name}: {branch.status}")
    return fig


def _draw(axes: Any, branch: OrbitBranch, height: Any) -> None:
    x, y = branch.values, np.array([height(each) for each in branch])
    for stable, run in groupby(range(len(branch)), key=lambda i: branch[i].stable):
        indices = list(run)
        joined = range(max(indices[0] - 1, 0), indices[-1] + 1)  # each piece starts where the one before ends
        axes.plot(x[list(joined)], y[list(joined)], "-" if stable else "--", color=BLUE, lw=1.3)
    mark_special(axes, branch, height, size=5)


def draw_orbit(orbit: Orbit, multipliers: np.ndarray | None = None) -> Figure:
    """States against time, phase portraits (of pairs where there are no velocities), multipliers on the unit circle."""
    fig = figure(9 if multipliers is None else 12, 4)
    histories, portraits, *more = fig.subplots(1, 2 if multipliers is None else 3)
    if multipliers is not None:
        _draw_multipliers(more[0], multipliers)
    for k, name in enumerate(orbit.states):
        histories.plot(orbit.t, orbit[name], color=CYCLE[k % len(CYCLE)], lw=1, label=formula(name))
    for k, (first, second) in enumerate(_pairs(orbit.states)):
        portraits.plot(
            orbit[first], orbit[second], color=CYCLE[k % len(CYCLE)], lw=1, label=f"{formula(first)}, {formula(second)}"
        )
    label(histories, "time", named(formulas(orbit.states), "state"))
    firsts, seconds = zip(*_pairs(orbit.states), strict=True) if len(orbit.states) > 1 else ((), ())
    label(portraits, named(formulas(firsts), "coordinate"), named(formulas(seconds), "velocity"))
    for axes in (histories, portraits):  # above the panel: curves stay uncovered
        axes.legend(
            frameon=False,
            fontsize="small",
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=4 if axes is histories else 2,
        )
    title(fig, orbit.title)
    return fig


def _draw_multipliers(axes: Any, multipliers: np.ndarray) -> None:
    """Inside and outside the unit circle; one at 1 is the orbit itself."""
    axes.add_patch(Circle((0, 0), 1, fc="none", ec=GREY, lw=1))
    outside = np.abs(multipliers) > 1 + 1e-6
    for these, colour, mark, words in ((~outside, BLUE, "o", "inside or on"), (outside, VERMILION, "s", "outside")):
        if these.any():
            axes.plot(multipliers[these].real, multipliers[these].imag, mark, color=colour, label=words)
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "Re μ", "Im μ", "multipliers")
    axes.legend(frameon=False, fontsize="small")


def _pairs(states: tuple[str, ...]) -> list[tuple[str, str]]:
    mechanical = [(name, f"{name}_dot") for name in states if f"{name}_dot" in states]
    return mechanical or [(states[k], states[k + 1]) for k in range(len(states) - 1)]
