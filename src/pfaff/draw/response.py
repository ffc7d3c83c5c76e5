"""Forced response: amplitude and phase along a parameter, with the backbone curves of free vibrations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pfaff.draw.diagram import draw_stretches, name_styles, places_of
from pfaff.draw.labels import formula
from pfaff.draw.special import mark_kinds, mark_special
from pfaff.draw.style import BLUE, figure, label, title

if TYPE_CHECKING:
    from pfaff.bifurcation.modes.families import NormalMode
    from pfaff.bifurcation.response.response import Response

GREY = "0.45"
SMALLEST = 1e-300  # whose order of magnitude is told
ABOVE = 1.15  # times the largest amplitude, where a backbone curve is cut


def draw_response(response: Response, state: str, of: str) -> Figure:
    """Amplitude (or mean) and phase of a state: solid where the response is stable, dashed elsewhere."""
    fig = figure(9, 4)
    amplitudes, phases = fig.subplots(1, 2)
    _draw(amplitudes, response, getattr(response, of)(state), lambda each: response.beside(each, of, state))
    angles = response.phase(state) / np.pi
    if np.isfinite(angles).all():
        _draw(phases, response, angles, lambda each: response.beside(each, "phase", state) / np.pi)
    else:
        phases.text(0.5, 0.5, "no part at the frequency of the forcing", ha="center", transform=phases.transAxes)
    if of == "amplitude":
        _draw_backbones(amplitudes, response, state)
    label(amplitudes, formula(response.load), f"{of} of {formula(state)}")
    label(phases, formula(response.load), f"phase of {formula(state)}, in units of π")
    name_styles(amplitudes, list(response.stable))
    title(fig, f"{response.orbits.problem.case.system.name}: {response.status}")
    return fig


def _draw_backbones(axes: Any, response: Response, state: str) -> None:
    """Draw free vibrations, where the parameter is the frequency; the window stays that of the response."""
    across, (_, top) = axes.get_xlim(), axes.get_ylim()
    along_frequency = np.allclose(response.values, response.frequency)
    modes = [mode for mode in response.backbones if state in mode.amplitudes] if along_frequency else []
    for k, mode in enumerate(modes):
        inside = mode.amplitudes[state] <= ABOVE * top
        x, y = mode.frequencies[inside], mode.amplitudes[state][inside]
        axes.plot(x, y, ":", color=GREY, lw=1.3, label="backbone" if k == 0 else None)
    if along_frequency and response.unbacked:
        axes.plot([], [], " ", label=f"no backbone: {response.unbacked}")
    axes.set_xlim(across)
    axes.set_ylim(0, top)


def _draw(axes: Any, response: Response, y: np.ndarray, height: Callable[[Any], float]) -> None:
    """Draw the branch; special points lie between the responses whose parameter and amplitude enclose theirs."""
    points, special = response.orbits, response.special
    places = places_of(*(np.array([(p.value, *p.amplitude.values()) for p in group]) for group in (points, special)))
    marks = [(each.value, height(each)) for each in special]
    line = list(zip(response.values, y, strict=True))
    draw_stretches(axes, line, list(response.stable), marks, places, color=BLUE, lw=1.3)
    mark_special(axes, response, height, size=5)


def draw_mode(mode: NormalMode, state: str) -> Figure:
    """Frequency against energy and amplitude against frequency, dashed where vibrations are unstable."""
    fig = figure(9, 4)
    left, right = fig.subplots(1, 2)
    solid = _told([mode.stable(point) if point.resolved else None for point in mode])
    places = places_of(*(_facts(group) for group in (mode.points, mode.special)))
    logarithmic = bool(mode.energies.min() > 0)
    for axes, facts in (
        (left, lambda each: (np.log10(each.energy) if logarithmic else each.energy, each.frequency)),
        (right, lambda each: (each.frequency, each.amplitude[state])),
    ):
        marks = [facts(each) for each in mode.special]
        draw_stretches(axes, [facts(each) for each in mode], solid, marks, places, color=BLUE, lw=1.3)
        mark_kinds(axes, mode, facts, size=5)
    if logarithmic:
        _decades(left)
    label(left, "energy", "frequency")
    label(right, "frequency", f"amplitude of {formula(state)}")
    name_styles(right, solid)
    title(fig, mode.status)
    return fig


def _facts(vibrations: Sequence[Any]) -> np.ndarray:
    """By which vibrations are known: energies and amplitudes by their orders of magnitude."""
    sizes = [(each.energy, *each.amplitude.values()) for each in vibrations]
    return np.array([(each.frequency, *_orders(row)) for each, row in zip(vibrations, sizes, strict=True)])


def _orders(sizes: tuple[float, ...]) -> np.ndarray:
    return np.log10(np.maximum(np.abs(sizes), SMALLEST))


def _told(stable: list[bool | None]) -> list[bool]:
    """Where stability is not resolved, that of the next vibration at which it is, or of the last one."""
    told, after = [], next((each for each in reversed(stable) if each is not None), True)
    for each in reversed(stable):
        after = after if each is None else each
        told.append(after)
    return told[::-1]


def _decades(axes: Any) -> None:
    """Ticks at powers of ten, along an axis of logarithms."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.xaxis.set_major_formatter(lambda value, _: f"$10^{{{value:.3g}}}$")
