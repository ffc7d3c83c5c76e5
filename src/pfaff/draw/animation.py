"""A film of a motion, a cycle or a branch of cycles: .html for the player, .gif and .mp4 for papers and talks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfaff.archive.files import whole, why
from pfaff.draw.footage import FRAMES, Footage, of_branch, of_motion, of_orbit
from pfaff.draw.player import page
from pfaff.draw.scene import PATH, drawing_of
from pfaff.draw.space import seen
from pfaff.errors import ParameterError
from pfaff.statement.values import number_within, pair, path_from, told, whole_number

if TYPE_CHECKING:
    from PIL import Image

    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.motion.result import Motion

Progress = Callable[[int, int], None] | None
PICTURES = 20_000
ENDINGS = (".gif", ".html", ".mp4")


def animate(motion: Motion, path: Any, *, seconds: Any, fps: Any, span: Any, progress: Progress) -> Path:
    """Write the film of a motion; the suffix of the path chooses the format."""
    drawing_of(motion.case)
    start, end = _span(motion, span)
    return _film(lambda count: of_motion(motion, start, end, count), path, seconds, fps, progress)


def animate_orbit(point: OrbitPoint, path: Any, *, periods: Any, seconds: Any, fps: Any, progress: Progress) -> Path:
    """Write the film of a periodic orbit over some periods."""
    turns = whole_number("periods", periods, 1, 1000, "show fewer")
    return _film(lambda count: of_orbit(point, turns, count), path, seconds, fps, progress)


def animate_branch(branch: OrbitBranch, path: Any, *, seconds: Any, fps: Any, progress: Progress) -> Path:
    """Write the film of the cycle that deforms along its branch."""
    return _film(lambda count: of_branch(branch, count), path, seconds, fps, progress)


def _film(footage: Callable[[int], Footage], path: Any, seconds: Any, fps: Any, progress: Progress) -> Path:
    path = path_from("path", path)
    check_suffix(path)
    fps, count = _count(seconds, fps, path)
    told("progress", progress, "print", 1, count)
    try:
        with whole(path) as part:
            if path.suffix.lower() == ".html":
                part.write_text(page(footage(max(FRAMES, count)).data(count / fps)), encoding="utf-8")
                if progress is not None:
                    progress(count, count)
            else:
                _on_paper(footage, path, part, count, fps, progress)
    except OSError as problem:
        raise ParameterError(f"cannot write {path}: {why(problem)}") from problem
    return path


def _on_paper(
    footage: Callable[[int], Footage], path: Path, part: Path, count: int, fps: float, progress: Progress
) -> None:
    from pfaff.draw.pictures import images_of, write_gif, write_mp4  # imported here, as they open Matplotlib

    between = -(-PATH // count)
    shown = footage((count - 1) * between + 1)
    images = images_of(seen(shown.scene), between, shown.title, shown.readings)
    write = write_gif if path.suffix.lower() == ".gif" else write_mp4
    write(_watched(images, count, progress), part, fps)


def check_suffix(path: Path) -> None:
    """Refuse a kind of file that cannot be written, in a list of those that can."""
    suffix = path.suffix.lower()
    if suffix not in ENDINGS:
        raise ParameterError(f"cannot animate into {path}: its name must end in {', '.join(ENDINGS)}")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ParameterError(
            f"{path} needs the program ffmpeg, which is not installed: install it, or write a .gif or .html"
        )


def _span(motion: Motion, span: Any) -> tuple[float, float]:
    """The part of a motion that is shown, in its direction."""
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
    """Pictures in a second, and in total."""
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


def _watched(images: Iterator[Image.Image], count: int, progress: Progress) -> Iterator[Image.Image]:
    for k, image in enumerate(images):
        yield image
        if progress is not None:
            progress(k + 1, count)
