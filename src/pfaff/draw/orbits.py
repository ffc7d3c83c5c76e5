"""Branches of periodic orbits as bifurcation diagrams, and single orbits in time and in phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from pfaff.draw.diagram import CONSTANT, draw_stretches, name_styles, places_of
from pfaff.draw.labels import counted, formula, formulas, readable
from pfaff.draw.special import mark_special
from pfaff.draw.style import BLUE, CYCLE, GREY, VERMILION, figure, label, named, title

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbit_in_time import Orbit

FLAT = 0.03  # range of a state, relative to the largest in its picture, below which it is drawn larger


def draw_branch(branch: OrbitBranch, state: str) -> Figure:
    """Period and amplitude against the load: solid where orbits are stable, dashed elsewhere, special points marked."""
    fig = figure(9, 4)
    periods, amplitudes = fig.subplots(1, 2)
    _draw(periods, branch, lambda each: each.period)
    if np.ptp(branch.periods) < CONSTANT * branch.periods.max():  # that of the forcing, of which rounding is not shown
        periods.set_ylim(*(share * branch.periods.max() for share in (0.9, 1.1)))
    _draw(amplitudes, branch, lambda each: each.amplitude[state])
    _draw_birth(amplitudes, branch, state)
    label(periods, formula(branch.load), "period")
    label(amplitudes, formula(branch.load), f"amplitude of {formula(state)}")
    for axes in (periods, amplitudes):
        name_styles(axes, [each.stable for each in branch])
    title(fig, f"{branch.problem.case.system.name}: {branch.status}")
    return fig


def _draw(axes: Any, branch: OrbitBranch, height: Any) -> None:
    """Draw the branch; special points lie between the orbits whose load, period and amplitudes enclose theirs."""
    places = places_of(*(_measures(group) for group in (branch, branch.special)))
    points, special = ([(each.value, height(each)) for each in group] for group in (branch, branch.special))
    draw_stretches(axes, points, [each.stable for each in branch], special, places, color=BLUE, lw=1.3)
    mark_special(axes, branch, height, size=5)


def _measures(points: Any) -> np.ndarray:
    """Also amplitudes: where time is forced, all orbits may have one period."""
    return np.array([(each.value, each.period, *each.amplitude.values()) for each in points])


def _draw_birth(axes: Any, branch: OrbitBranch, state: str) -> None:
    """The rest state, dashed where it is unstable, and the Hopf point at which the first orbit was born.

    Amplitudes grow like the root of the distance from there to the first orbit.
    """
    if branch.born is None:
        return
    first, part = branch[0], np.linspace(0, 1, 20)
    loads, heights = branch.born + (first.value - branch.born) * part**2, first.amplitude[state] * part
    axes.plot(loads, heights, "-" if first.stable else "--", color=BLUE, lw=1.3)
    axes.plot([branch.born], [0], "o", mfc="white", color=VERMILION, ms=6, label="hopf")
    low, high = axes.get_xlim()
    for k, rest in enumerate(branch.rest(low, high)):
        points, special = ([(each.value, 0.0) for each in group] for group in (rest, rest.special))
        stable = [each.stable for each in rest]
        stable[:1] = stable[1:2] or stable  # at the Hopf point itself rounding decides
        style = {"color": GREY, "lw": 1, "zorder": 1, "label": None if k else "rest state"}
        draw_stretches(axes, points, stable, special, rest.places, **style)
    axes.set_xlim(low, high)


def draw_orbit(orbit: Orbit, multipliers: np.ndarray | None = None, unstable: int = 0) -> Figure:
    """States against time, phase portraits (of pairs where there are no velocities), multipliers on the unit circle, of
    which this many are unstable."""
    fig = figure(9 if multipliers is None else 12, 4)
    histories, portraits, *more = fig.subplots(1, 2 if multipliers is None else 3)
    if multipliers is not None:
        _draw_multipliers(more[0], multipliers, unstable)
    draw_time_and_phase(histories, portraits, orbit)
    title(fig, orbit.title)
    return fig


def draw_time_and_phase(histories: Any, portraits: Any, orbit: Orbit) -> None:
    """States against time, and phase portraits; of very many states, the coordinates that move most."""
    shown = readable({name: orbit[name] for name in orbit.states})
    drawn = [pair for pair in pairs(orbit.states) if pair[0] in shown][: len(CYCLE)]
    sizes = {name: float(np.ptp(orbit[name])) for name in shown}
    for name, colour in zip(shown, CYCLE, strict=False):
        times = _magnified(sizes[name], max(sizes.values()))
        words = f"{times:g} {formula(name)}" if times > 1 else formula(name)
        histories.plot(orbit.t, times * orbit[name], color=colour, lw=1, label=words)
    for k, (first, second) in enumerate(drawn):
        portraits.plot(
            orbit[first], orbit[second], color=CYCLE[k % len(CYCLE)], lw=1, label=f"{formula(first)}, {formula(second)}"
        )
    label(histories, "time", counted(named(formulas(shown), "state"), shown, orbit.states))
    firsts, seconds = zip(*drawn, strict=True) if drawn else ((), ())
    label(portraits, named(formulas(firsts), "coordinate"), named(formulas(seconds), "velocity"))
    for axes in (histories, portraits):  # above the panel, where curves stay uncovered, away from powers of ten
        axes.legend(
            frameon=False,
            fontsize="small",
            loc="lower right",
            bbox_to_anchor=(1, 1),
            ncols=4 if axes is histories else 2,
        )


def _magnified(size: float, largest: float) -> float:
    """The power of ten by which a history is drawn larger that would be flat beside others."""
    return 10.0 ** np.floor(np.log10(largest / size)) if 0 < size < FLAT * largest else 1.0


def _draw_multipliers(axes: Any, multipliers: np.ndarray, unstable: int) -> None:
    """Inside and outside the unit circle; one at 1 is the orbit itself, which rounding may have moved outside."""
    axes.add_patch(Circle((0, 0), 1, fc="none", ec=GREY, lw=1))
    distances = np.where(np.abs(multipliers) > 1, np.abs(multipliers - 1), -1.0)
    outside = np.isin(np.arange(len(multipliers)), np.argsort(-distances, kind="stable")[:unstable])
    for these, colour, mark, words in ((~outside, BLUE, "o", "inside or on"), (outside, VERMILION, "s", "outside")):
        if these.any():
            axes.plot(multipliers[these].real, multipliers[these].imag, mark, color=colour, label=words)
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "Re μ", "Im μ", "multipliers")
    axes.legend(frameon=False, fontsize="small")


def pairs(states: tuple[str, ...]) -> list[tuple[str, str]]:
    """Which states a phase portrait shows against each other."""
    mechanical = [(name, f"{name}_dot") for name in states if f"{name}_dot" in states]
    return mechanical or [(states[k], states[k + 1]) for k in range(len(states) - 1)]
