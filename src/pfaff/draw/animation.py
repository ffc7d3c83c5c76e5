"""A motion as a moving picture: .gif, .html or .mp4."""

from __future__ import annotations

import base64
import html
import io
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from pfaff.archive.files import whole
from pfaff.draw.body import draw_body, draw_path, pale
from pfaff.draw.film import decimals
from pfaff.draw.scene import PATH, Scene, scene_of_motion
from pfaff.draw.space import seen
from pfaff.draw.style import BLUE, GREY, VERMILION, figure, label
from pfaff.draw.view import View, view_of
from pfaff.errors import ParameterError
from pfaff.statement.values import number_within, pair, path_from, told

if TYPE_CHECKING:
    from pfaff.motion.result import Motion

Images = Iterator[Image.Image]
Writer = Callable[[Images, Path, float, str], None]
WIDTH = 8.0
DPI = 100
SHADES = 12  # of each colour, from itself to white: enough for lines on white, and small files
PICTURES = 20_000
RECENT = 0.04  # of the motion: the part of the path that is highlighted


def animate(
    motion: Motion,
    path: str | Path,
    *,
    seconds: float,
    fps: float,
    span: tuple[float, float] | None,
    progress: Callable[[int, int], None] | None,
) -> Path:
    """Write the film of a motion; the suffix of the path chooses the format."""
    path = path_from("path", path)
    write = writer_for(path)
    fps, count = _count(seconds, fps, path)
    start, end = _span(motion, span)
    told("progress", progress, "print", 1, count)
    between = -(-PATH // count)
    scene = seen(scene_of_motion(motion, np.linspace(start, end, (count - 1) * between + 1)))
    images = _watched(_images(scene, between, motion.system), count, progress)
    try:
        with whole(path) as part:
            write(images, part, fps, path.stem)
    except OSError as problem:
        raise ParameterError(f"cannot write {path}: {problem}") from problem
    return path


def writer_for(path: Path) -> Writer:
    """The way to write this kind of file, or an error that lists the kinds."""
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise ParameterError(f"cannot animate into {path}: its name must end in {', '.join(WRITERS)}")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ParameterError(
            f"{path} needs the program ffmpeg, which is not installed: install it, or write a .gif or .html"
        )
    return WRITERS[suffix]


def _span(motion: Motion, span: Any) -> tuple[float, float]:
    """The part of a motion that is shown, in the direction in which it runs."""
    first, last = float(motion.t[0]), float(motion.t[-1])
    if span is None:
        return first, last
    start, end = pair("span", span, f"({first:g}, {last:g})")
    forward = 1.0 if last > first else -1.0
    if not forward * first <= forward * start < forward * end <= forward * last:
        raise ParameterError(
            f"span=({start:g}, {end:g}) runs backwards or lies outside the motion, which goes from {first:g} to "
            f"{last:g}: give two times of it, the earlier first"
        )
    return start, end


def _count(seconds: Any, fps: Any, path: Path) -> tuple[float, int]:
    """Pictures in a second, and in all."""
    seconds, fps = (
        number_within(name, value, lambda x: x > 0, "give a positive number")
        for name, value in (("seconds", seconds), ("fps", fps))
    )
    if path.suffix.lower() == ".gif" and fps > 50:
        raise ParameterError(f"fps={fps}: viewers show at most 50 pictures of a .gif in a second")
    if seconds * fps > PICTURES:
        raise ParameterError(
            f"seconds={seconds} at fps={fps} is more than {PICTURES} pictures, which take hours to draw: give less of "
            "either, or a part of the motion with span=(…, …)"
        )
    count = round(seconds * fps)
    if count < 2:
        raise ParameterError(f"seconds={seconds} at fps={fps} is less than two pictures: give more of either")
    return fps, count


def _images(scene: Scene, between: int, title: str) -> Images:
    """The pictures, one after the other; only what moves is drawn anew."""
    shown = range(0, len(scene.t), between)
    view = view_of(scene)
    fig = figure(WIDTH, _height(view))
    fig.set_dpi(DPI)
    fig.set_layout_engine("constrained", w_pad=0.15)  # inches, for labels of ticks that wander to the edge
    canvas = FigureCanvasAgg(fig)
    axes = fig.add_subplot()
    label(axes, "x", "y", title)
    digits = decimals(scene.t[[0, between]])
    still = set(axes.get_children())
    for at in shown:
        view.frame(axes, at)
        draw_path(axes, scene, at)
        draw_path(axes, scene, at, VERMILION, since=max(0, at - int(RECENT * len(scene.t))))
        draw_body(axes, scene, at, BLUE)
        axes.text(0.99, 0.97, f"t = {scene.t[at]:.{digits}f}", transform=axes.transAxes, ha="right", va="top")
        canvas.draw()
        fig.set_layout_engine("none")  # the first picture has settled where the axes stand
        yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        for artist in set(axes.get_children()) - still:
            artist.remove()


def _height(view: View) -> float:
    """Inches, such that the pixels are even in number, as films want."""
    ratio = float(np.clip(view.size[1] / view.size[0], 0.2, 1.0))
    return 2 * round(((WIDTH - 0.9) * ratio + 0.9) * DPI / 2) / DPI


def _watched(images: Images, count: int, progress: Callable[[int, int], None] | None) -> Images:
    for k, image in enumerate(images):
        yield image
        if progress is not None:
            progress(k + 1, count)


def _few_colours(image: Image.Image) -> Image.Image:
    return image.quantize(palette=_palette(), dither=Image.Dither.NONE)


@lru_cache(maxsize=1)
def _palette() -> Image.Image:
    """The colours of the style on white: the same for all pictures, lest they flicker."""
    own = np.array([to_rgb(colour) for colour in ("black", GREY, BLUE, pale(BLUE), VERMILION)])
    shades = own + np.linspace(0, 1, SHADES)[:, None, None] * (1 - own)
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.rint(255 * shades).astype(np.uint8).ravel().tolist())
    return palette


def _write_gif(images: Images, path: Path, fps: float, title: str) -> None:
    few = map(_few_colours, images)
    next(few).save(path, format="GIF", save_all=True, append_images=few, duration=1000 / fps, loop=0)


def _write_html(images: Images, path: Path, fps: float, title: str) -> None:
    frames = []
    for image in images:
        png = io.BytesIO()
        _few_colours(image).save(png, format="PNG", optimize=True)
        frames.append(base64.b64encode(png.getvalue()).decode())
    values = {
        "TITLE": html.escape(title),
        "FRAMES": json.dumps(frames),
        "PAUSE": f"{1000 / fps:g}",
    }
    text = PLAYER
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    path.write_text(text, encoding="utf-8")


def _write_mp4(images: Images, path: Path, fps: float, title: str) -> None:
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


WRITERS: dict[str, Writer] = {
    ".gif": _write_gif,
    ".html": _write_html,
    ".mp4": _write_mp4,
}

PLAYER = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>@TITLE@</title>
<style>
  body { font: 1rem sans-serif; max-width: 800px; margin: 1rem auto; }
  img { width: 100%; display: block; }
  div { display: flex; gap: 1rem; align-items: center; }
  input { flex: 1; }
</style>
<img id="picture" alt="@TITLE@">
<div><button id="play"></button><input id="place" type="range" min="0" value="0" aria-label="time"></div>
<script>
const frames = @FRAMES@;
const picture = document.getElementById("picture");
const play = document.getElementById("play");
const place = document.getElementById("place");
let running = !matchMedia("(prefers-reduced-motion: reduce)").matches;
place.max = frames.length - 1;
function show() {
  picture.src = "data:image/png;base64," + frames[place.value];
  play.textContent = running ? "Pause" : "Play";
}
play.onclick = () => { running = !running; show(); };
place.oninput = () => { running = false; show(); };
setInterval(() => {
  if (!running) return;
  place.value = (Number(place.value) + 1) % frames.length;
  show();
}, @PAUSE@);
show();
</script>
</html>
"""
