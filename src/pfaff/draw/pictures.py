"""Moving pictures for papers and talks, drawn one by one on paper: .gif and .mp4."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from pfaff.draw.body import draw_body, draw_path, pale
from pfaff.draw.film import decimals
from pfaff.draw.ruler import DPI, Ruler
from pfaff.draw.scene import Scene
from pfaff.draw.style import BLUE, GREY, VERMILION, figure, label
from pfaff.draw.view import View, view_of
from pfaff.errors import ParameterError

Images = Iterator[Image.Image]
WIDTH = 8.0
SHADES = 12  # of each colour, from itself to white: enough for lines on white, and small files
RECENT = 0.04  # share of the motion whose path is highlighted


class Stage:
    """A page on which only moving parts are redrawn: static ones are kept as printed."""

    def __init__(self, scene: Scene, title: str) -> None:
        self.scene, self.view = scene, view_of(scene)
        self.fig = figure(WIDTH, _height(self.view))
        self.fig.set_dpi(DPI)
        self.fig.set_layout_engine("constrained", w_pad=0.15)  # inches, for labels of ticks that wander to the edge
        self.canvas = FigureCanvasAgg(self.fig)
        self.axes = self.fig.add_subplot()
        label(self.axes, "x", "y", title)
        if scene.drawing.dimension == 3:  # on paper, coordinates of space have no ticks
            self.axes.set_axis_off()
        self.follows = bool(np.ptp(self.view.corners, axis=0).any())
        self.ruler = Ruler(self.axes, self.view) if self.follows and self.axes.axison else None
        self.text = self.axes.text(0.99, 0.97, "", transform=self.axes.transAxes, ha="right", va="top", zorder=9)
        self.still = set(self.axes.get_children())
        self.printed: Any = None
        self.upto = 0  # the path printed so far

    def prepare(self, at: int) -> None:
        """Restore the static parts: all of them if the view does not follow, and then the path so far too."""
        if self.printed is None:
            self._print(at)
        else:
            self.canvas.restore_region(self.printed)
        if self.follows:
            self.view.frame(self.axes, at)
        if self.ruler is not None:
            ruler = self.ruler
            self.show(lambda: ruler.draw_lines(at))
        if self.follows:
            self.show(lambda: draw_path(self.axes, self.scene, at, since=self._in_view(at)))
        else:
            self.show(lambda: draw_path(self.axes, self.scene, at, since=self.upto))
            self.printed, self.upto = self.canvas.copy_from_bbox(self.fig.bbox), at

    def _print(self, at: int) -> None:
        """Print the static parts, with room for the longest numbers if these change."""
        lengths = [len(f"{y:.0f}") for y in self.view.corners[:, 1]]
        self.view.frame(self.axes, lengths.index(max(lengths)) if self.ruler else at)
        self.canvas.draw()
        self.fig.set_layout_engine("none")  # the first picture has settled where the axes stand
        self.printed = self.canvas.copy_from_bbox(self.fig.bbox)
        if self.ruler is not None:
            self.ruler.settle()

    def _in_view(self, at: int) -> int:
        """The first instant since which some traced point has been near the window that follows the system."""
        corner, size = self.view.corners[at], self.view.size
        inside = np.zeros(at + 1, dtype=bool)
        for name in self.scene.drawing.traced:
            off = np.abs(self.scene.points[name][: at + 1] - corner - size / 2)
            inside |= (off < size).all(axis=1)
        return int(inside.argmax())

    def show(self, draw: Callable[[], None]) -> None:
        """Draw some artists on the page as it is, and forget them."""
        draw()
        fresh = set(self.axes.get_children()) - self.still
        for artist in sorted(fresh, key=lambda artist: artist.get_zorder()):
            self.axes.draw_artist(artist)
        for artist in fresh:
            artist.remove()

    def picture(self, at: int, text: str) -> Image.Image:
        scene, axes = self.scene, self.axes

        def moving() -> None:
            draw_path(axes, scene, at, VERMILION, since=max(0, at - int(RECENT * len(scene.t))))
            draw_body(axes, scene, at, BLUE)

        self.text.set_text("")
        self.prepare(at)
        self.show(moving)
        self.text.set_text(text)
        axes.draw_artist(self.text)
        size = self.canvas.get_width_height()
        pixels = self.canvas.buffer_rgba().cast("B")  # opaque: their fourth byte says nothing
        image = Image.frombytes("RGB", size, pixels, "raw", "RGBX", 0, 1)
        if self.ruler is not None:
            self.ruler.write_numbers(image, at)
        return image


def images_of(scene: Scene, between: int, title: str, readings: Mapping[str, np.ndarray]) -> Images:
    """Pictures at every ``between``-th instant, one after the other."""
    stage, digits = Stage(scene, title), decimals(scene.t[[0, between]])
    for at in range(0, len(scene.t), between):
        told = "".join(f", {name} = {row[at]:.5g}" for name, row in readings.items())
        yield stage.picture(at, f"t = {scene.t[at]:.{digits}f}{told}")


def _height(view: View) -> float:
    """Inches such that the number of pixels is even, as films require."""
    ratio = float(np.clip(view.size[1] / view.size[0], 0.2, 1.0))
    return 2 * round(((WIDTH - 0.9) * ratio + 0.9) * DPI / 2) / DPI


def _few_colours(image: Image.Image) -> Image.Image:
    return image.quantize(palette=_palette(), dither=Image.Dither.NONE)


@lru_cache(maxsize=1)
def _palette() -> Image.Image:
    """The colours of the style on white, the same for all pictures, lest they flicker."""
    own = np.array([to_rgb(colour) for colour in ("black", GREY, BLUE, pale(BLUE), VERMILION)])
    shades = own + np.linspace(0, 1, SHADES)[:, None, None] * (1 - own)
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.rint(255 * shades).astype(np.uint8).ravel().tolist())
    return palette


def write_gif(images: Images, path: Path, fps: float) -> None:
    few = map(_few_colours, images)
    next(few).save(path, format="GIF", save_all=True, append_images=few, duration=1000 / fps, loop=0)


def write_mp4(images: Images, path: Path, fps: float) -> None:
    first = next(images)
    size = f"{first.width}x{first.height}"
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{fps:g}", "-i", "-"]
    command = ["ffmpeg", "-y", "-loglevel", "error", *source, "-pix_fmt", "yuv420p", "-crf", "20", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ffmpeg:
        assert ffmpeg.stdin is not None
        assert ffmpeg.stderr is not None
        with suppress(BrokenPipeError):  # ffmpeg has given up and says why below
            for image in chain([first], images):
                ffmpeg.stdin.write(image.tobytes())
        with suppress(BrokenPipeError):
            ffmpeg.stdin.close()
        complaint = ffmpeg.stderr.read().decode(errors="replace").strip()
    if ffmpeg.returncode:
        raise ParameterError(f"ffmpeg cannot write {path}: {complaint.splitlines()[-1] if complaint else 'no reason'}")
