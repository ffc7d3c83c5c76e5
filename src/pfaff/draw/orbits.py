"""Branches of periodic orbits as bifurcation diagrams, and single orbits in time and in phase."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.special import mark_special
from pfaff.draw.style import BLUE, CYCLE, figure, label, named, title

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


def draw_orbit(orbit: Orbit) -> Figure:
    """States against time, and the phase portraits of coordinates with their velocities (of pairs otherwise)."""
    fig = figure(9, 4)
    histories, portraits = fig.subplots(1, 2)
    for k, name in enumerate(orbit.states):
        histories.plot(orbit.t, orbit[name], color=CYCLE[k % len(CYCLE)], lw=1, label=name)
    for k, (first, second) in enumerate(_pairs(orbit.states)):
        portraits.plot(orbit[first], orbit[second], color=CYCLE[k % len(CYCLE)], lw=1, label=f"{first}, {second}")
    label(histories, "time", named(orbit.states, "state"))
    firsts, seconds = zip(*_pairs(orbit.states), strict=True) if len(orbit.states) > 1 else ((), ())
    label(portraits, named(firsts, "coordinate"), named(seconds, "velocity"))
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


def _pairs(states: tuple[str, ...]) -> list[tuple[str, str]]:
    mechanical = [(name, f"{name}_dot") for name in states if f"{name}_dot" in states]
    return mechanical or [(states[k], states[k + 1]) for k in range(len(states) - 1)]
