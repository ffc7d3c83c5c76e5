"""A motion as a strip of pictures: successive configurations, with the path so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.body import draw_body, draw_path
from pfaff.draw.footage import of_orbit
from pfaff.draw.scene import PATH, Scene, drawing_of, scene_of_motion
from pfaff.draw.space import seen
from pfaff.draw.style import BLUE, figure, label, plain
from pfaff.draw.view import View, view_of
from pfaff.errors import ParameterError
from pfaff.statement.values import numbers_from, whole_number
from pfaff.statement.values import shown as brief

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.motion.result import Motion

WIDTH = 9.0  # of the page
LANDSCAPE = 1.3  # its wanted ratio of width to height
PICTURES = 100  # on one page
MOVING = "a page shows no more, write a moving picture with animate"


def draw_film(motion: Motion, frames: int, times: Sequence[float] | None) -> Figure:
    """Configurations at given times, or at evenly spaced ones from the first instant to the last."""
    drawing_of(motion.case)
    shown = _times(motion, frames, times)
    instants = np.union1d(np.linspace(motion.t[0], max(shown, key=lambda t: abs(t - motion.t[0])), PATH), shown)
    instants = instants if motion.t[-1] >= motion.t[0] else instants[::-1]
    at = np.array([int(np.flatnonzero(instants == t)[0]) for t in shown])
    return _strip(scene_of_motion(motion, instants), at, motion.system)


def draw_cycle(point: OrbitPoint, frames: int) -> Figure:
    """Configurations of a periodic orbit, evenly spaced over its period."""
    count = whole_number("frames", frames, 1, PICTURES, MOVING)
    between = -(-PATH // count)
    shown = of_orbit(point, 1, count * between + 1)
    return _strip(shown.scene, between * np.arange(count), shown.title)


def _strip(whole: Scene, at: np.ndarray, name: str) -> Figure:
    """The pictures of some instants of a scene."""
    scene, shown = seen(whole), whole.t[at]
    view = view_of(scene)
    fig = _page(len(at), view)
    fig.suptitle(plain(name), fontsize="medium")
    digits = decimals(shown)
    for k, axes in zip(range(len(at)), fig.axes, strict=True):
        draw_path(axes, scene, at[k])
        draw_body(axes, scene, at[k], BLUE)
        view.frame(axes, at[k])
        if whole.dimension == 3:  # on paper, coordinates of space have no ticks
            axes.set_axis_off()
        axes.set_title(f"t = {round(shown[k], digits + 1):g}", fontsize="medium", loc="left")
    return fig


def decimals(times: np.ndarray) -> int:
    """Digits after the point that distinguish successive times."""
    steps = np.abs(np.diff(times))
    least = steps[steps > 0].min(initial=np.inf)
    return int(np.clip(np.ceil(-np.log10(least)) + 1, 0, 9)) if np.isfinite(least) else 2


def _times(motion: Motion, frames: int, times: Sequence[float] | None) -> np.ndarray:
    if times is not None:
        shown = numbers_from("times", times)
        if shown.ndim != 1 or not len(shown) or not np.isfinite(shown).all():
            raise ParameterError(f"times={brief(times)}: give a list of instants")
        whole_number("the number of times", len(shown), 1, PICTURES, MOVING)
        return shown
    return np.linspace(motion.t[0], motion.t[-1], whole_number("frames", frames, 1, PICTURES, MOVING))


def _page(count: int, view: View) -> Figure:
    """A page with as many columns as make it nearest to landscape and leave few places empty."""
    ratio = view.size[1] / view.size[0]

    def badness(columns: int) -> float:
        rows = -(-count // columns)
        return abs(np.log(columns / (rows * ratio * LANDSCAPE))) + 2 * (rows * columns - count) / count

    columns = min(range(1, count + 1), key=badness)
    rows = -(-count // columns)
    fig = figure(WIDTH, rows * (ratio * WIDTH / columns + 0.35) + 0.3)
    for k in range(count):
        axes = fig.add_subplot(rows, columns, k + 1)
        label(axes, "", "")
        axes.tick_params(labelsize="small")
    return fig
