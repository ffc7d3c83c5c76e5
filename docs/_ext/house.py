"""The picture of the rooms, drawn from ``rooms.toml`` before each build: who imports whom, and who opens a door."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from textwrap import fill, wrap
from typing import Any

import numpy as np
from matplotlib.patches import FancyBboxPatch
from sphinx.application import Sphinx

import pfaff
from pfaff.draw.style import BLUE, GREY, VERMILION, figure

WIDE, HIGH = 2.55, 1.0  # of a room
ACROSS, DOWN = 2.8, 1.5  # from room to room, from level to level
LETTERS = 34  # of a line in a room


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_picture(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_generated"
    folder.mkdir(parents=True, exist_ok=True)
    table = tomllib.loads((Path(app.srcdir) / "rooms.toml").read_text(encoding="utf-8"))
    draw_house(table["rooms"], table["doors"]).savefig(folder / "rooms.svg")


def draw_house(rooms: dict[str, list[str]], doors: dict[str, list[str]]) -> Any:
    """Rooms as boxes, level by level, with arrows to those that import them, but none that others imply."""
    basics = [name for name, may in rooms.items() if not may]
    may = {name: [each for each in above if each not in basics] for name, above in rooms.items() if name not in basics}
    place = places(may)
    bottom, width = min(y for _, y in place.values()), max(x for x, _ in place.values())
    fig = figure(10, 0.72 * (2.6 - bottom))
    axes = fig.add_subplot()
    for name, above in may.items():
        for each in above:
            if not any(each in reached(may, other) for other in above):
                arrow(axes, place[each], place[name])
    for name, (x, y) in place.items():
        box(axes, x, y, name, sorted({module.split(".")[0] for module, behind in doors.items() if name in behind}))
    words = f"every room may use {', '.join(basics)}; cli and papers may enter every room"
    axes.text(0, 0.95, words, ha="center", va="center", color=GREY, fontsize="small")
    axes.set(xlim=(-width - 1.4, width + 1.4), ylim=(bottom - 0.7, 1.2))
    axes.set_axis_off()
    return fig


def reached(may: dict[str, list[str]], room: str) -> set[str]:
    """All that a room imports, and what those import."""
    return {each for above in may[room] for each in (above, *reached(may, above))}


def places(may: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    """A level for each room, below all that it imports; in a level, each as near as can be to what is above it."""
    level: dict[str, int] = {}
    for name, above in may.items():  # the table is in order
        level[name] = max((level[each] + 1 for each in above), default=0)
    for name in reversed(may):  # not higher than those below it need it
        level[name] = min((level[each] - 1 for each in may if name in may[each]), default=level[name])
    place: dict[str, tuple[float, float]] = {}
    for number in range(max(level.values()) + 1):
        row = [name for name in may if level[name] == number]
        wanted = {name: np.mean([place[each][0] for each in may[name]] or [0.0]) for name in row}
        for k, name in enumerate(sorted(row, key=lambda name: wanted[name])):
            place[name] = ACROSS * (k - (len(row) - 1) / 2), -DOWN * number
    return place


def box(axes: Any, x: float, y: float, name: str, opened_by: list[str]) -> None:
    """A room: its name, what its door says of it, and whose methods open it."""
    shape = {"boxstyle": "round,pad=0,rounding_size=0.12", "facecolor": "white", "edgecolor": BLUE}
    axes.add_patch(FancyBboxPatch((x - WIDE / 2, y - HIGH / 2), WIDE, HIGH, zorder=3, **shape))
    centred = {"x": x, "ha": "center", "va": "center", "zorder": 4}
    axes.text(y=y + 0.28, s=name, weight="bold", fontsize="small", **centred)
    axes.text(y=y - 0.02, s=holds(name), fontsize=6.5, linespacing=1.1, **centred)
    if opened_by:
        axes.text(y=y - 0.36, s=f"opened by {', '.join(opened_by)}", fontsize=6.5, color=VERMILION, **centred)


def holds(room: str) -> str:
    """The first line of a room's door, as many of its phrases as fit into two lines."""
    folder = Path(pfaff.__file__).parent
    path = folder / room / "__init__.py" if (folder / room).is_dir() else folder / f"{room}.py"
    first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()[0].replace("``", "")
    ends = [k for k, sign in enumerate(first) if sign in ":,." and len(wrap(first[:k], LETTERS)) <= 2]
    return fill(first[: ends[-1]], LETTERS)


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Paler if it passes behind other rooms."""
    alpha = 0.4 if start[1] - end[1] > 1.5 * DOWN else 1.0
    style = {"arrowstyle": "-|>", "color": BLUE, "lw": 1.0, "alpha": alpha, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (end[0], end[1] + HIGH / 2), (start[0], start[1] - HIGH / 2), arrowprops=style, zorder=2)
