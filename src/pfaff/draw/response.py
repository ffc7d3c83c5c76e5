"""Forced response: amplitude and phase along a parameter, with the backbone curves of free vibrations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from pfaff.continuation.kinds import kind_of
from pfaff.draw.diagram import draw_stretches, name_styles, places_of
from pfaff.draw.labels import formula
from pfaff.draw.special import COLOURS, mark_special
from pfaff.draw.style import BLUE, figure, label, title

if TYPE_CHECKING:
    from pfaff.bifurcation.modes.families import NormalMode
    from pfaff.bifurcation.response.response import Response

GREY = "0.45"
ABOVE = 1.15  # times the largest amplitude, where a backbone curve is cut


def draw_response(response: Response, state: str, of: str) -> Figure:
    """Amplitude (or mean) and phase of a state: solid where the response is stable, dashed elsewhere."""
    fig = figure(9, 4)
    amplitudes, phases = fig.subplots(1, 2)
    _draw(amplitudes, response, getattr(response, of)(state), lambda each: response.beside(each, of, state))
    _draw(phases, response, response.phase(state) / np.pi, lambda each: response.beside(each, "phase", state) / np.pi)
    if of == "amplitude":
        _draw_backbones(amplitudes, response, state)
    label(amplitudes, formula(response.load), f"{of} of {formula(state)}")
    label(phases, formula(response.load), f"phase of {formula(state)}, in units of π")
    name_styles(amplitudes, list(response.stable))
    title(fig, f"{response.orbits.problem.case.system.name}: {response.status}")
    return fig


def _draw_backbones(axes: Any, response: Response, state: str) -> None:
    """Free vibrations, where the parameter is the frequency; the window stays that of the response."""
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
    """Special points lie between those responses between which parameter and amplitude put them."""
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
    stable = [mode.stable(point) for point in mode]
    for steady, run in groupby(range(len(mode)), key=lambda i: stable[i]):
        indices = list(run)
        joined = list(range(max(indices[0] - 1, 0), indices[-1] + 1))
        style = "-" if steady else "--"
        left.plot(mode.energies[joined], mode.frequencies[joined], style, color=BLUE, lw=1.3)
        right.plot(mode.frequencies[joined], mode.amplitudes[state][joined], style, color=BLUE, lw=1.3)
    for special in mode.special:
        kind, several = kind_of(special.kind)
        shown = {"color": COLOURS[kind.colour], "ms": 5, "ls": "none"}
        right.plot(2 * np.pi / special.period, special.amplitude[state], kind.marked(several), **shown)
    if mode.energies.max() > 0:
        left.set_xscale("log")
    label(left, "energy", "frequency")
    label(right, "frequency", f"amplitude of {formula(state)}")
    title(fig, mode.status)
    return fig
