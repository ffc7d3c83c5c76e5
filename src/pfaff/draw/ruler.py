"""Grid and numbers of a window that follows a system, without Matplotlib's own: these take ten times as long."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import findfont
from matplotlib.lines import Line2D
from PIL import Image, ImageDraw, ImageFont

from pfaff.draw.view import View

APART = 70  # pixels between two numbers, about
MARK = 4  # pixels of a tick, and half the way from the axis to its number
DPI, POINTS = 100, 10  # of the page, and of letters
STEPS = (1, 2, 5, 10)  # times a power of ten


class Ruler:
    """Lines at round numbers in both directions; the page below it keeps the room that numbers need."""

    def __init__(self, axes: Axes, view: View) -> None:
        self.axes, self.view = axes, view
        axes.grid(False)
        axes.tick_params(colors="white")  # they keep their room, so that the names of the axes do not move
        self.steps = np.ones(2)

    def settle(self) -> None:
        """Choose the distance of the lines, once the axes have their place."""
        box = self.axes.get_window_extent()
        for axis, pixels in enumerate((box.width, box.height)):
            least = self.view.size[axis] * APART / pixels
            power = 10.0 ** np.floor(np.log10(least))
            self.steps[axis] = power * next(step for step in STEPS if step * power >= least * (1 - 1e-9))

    def ticks(self, axis: int, at: int) -> np.ndarray:
        low, step = self.view.corners[at, axis], self.steps[axis]
        return step * np.arange(np.ceil(low / step), np.floor((low + self.view.size[axis]) / step) + 1)

    def draw_lines(self, at: int) -> None:
        """Draw all lines as one line with gaps."""
        (left, low), (width, height) = self.view.corners[at], self.view.size
        upright = [((x, low), (x, low + height), (np.nan, np.nan)) for x in self.ticks(0, at)]
        level = [((left, y), (left + width, y), (np.nan, np.nan)) for y in self.ticks(1, at)]
        points = np.array([*upright, *level]).reshape(-1, 2)
        self.axes.add_artist(Line2D(*points.T, color="#b0b0b0", alpha=0.25, lw=0.8, zorder=0.5))

    def write_numbers(self, image: Image.Image, at: int) -> None:
        pen, corner = ImageDraw.Draw(image), self.view.corners[at]
        for axis, anchor, way in ((0, "mt", (0, 1)), (1, "rm", (-1, 0))):
            digits = max(0, int(np.ceil(-np.log10(self.steps[axis]) - 1e-9)))
            for value in self.ticks(axis, at):
                place = np.where(np.arange(2) == axis, value, corner)
                x, y = self.axes.transData.transform(place)
                foot = np.array([x, image.height - y])
                pen.line([*foot, *(foot + MARK * np.array(way))], fill="black")
                text = f"{value + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}")
                pen.text(tuple(foot + 2 * MARK * np.array(way)), text, "black", _font(), anchor=anchor)


@lru_cache(maxsize=1)
def _font() -> Any:
    """A font as large as Matplotlib's numbers."""
    return ImageFont.truetype(findfont("DejaVu Sans"), POINTS * DPI / 72)
