"""A scene for the player: data that ``web/player.js`` plays in any browser, and pages that hold both."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from pfaff.draw.scene import Scene
from pfaff.draw.view import view_of

MODULES = ("scene", "camera", "paint", "histories", "player")  # in order of dependence
LINKING = re.compile(r"^(?:import .*;\n|export (?=class|function|const))", re.MULTILINE)

Panel = tuple[str, Mapping[str, np.ndarray]]  # label of an axis, and its curves by name


def scene_data(
    scene: Scene,
    *,
    title: str,
    text: str,
    seconds: float,
    panels: Sequence[Panel] = (),
    readings: Mapping[str, np.ndarray] | None = None,
) -> dict[str, Any]:
    """The argument of ``mount(element, scene)``: arrays as base64 of 32-bit floats, frame by frame."""
    drawing, view = scene.drawing, view_of(scene)
    return {
        "title": title,
        "text": text,
        "seconds": seconds,
        "dimension": scene.dimension,
        "scale": scene.scale,
        "reach": scene.reach if scene.touches else 0.0,
        "t": _packed(scene.t),
        "size": view.size.tolist(),
        "corners": _packed(view.corners),
        "points": {name: _packed(at) for name, at in scene.points.items()},
        "links": [list(pair) for pair in drawing.links],
        "springs": [list(pair) for pair in drawing.springs],
        "curves": [list(names) for names in drawing.curves],
        "outlines": [list(names) for names in drawing.outlines],
        "marks": dict(drawing.marks),
        "angles": {name: _packed(angle) for name, angle in scene.angles.items()},
        "balls": {name: _packed(radius) for name, radius in scene.radii.items()},
        "rounds": [
            {
                "at": name,
                "wheel": each.spoked,
                "turns": each.turns,
                "radius": _packed(each.radius),
                "axle": _packed(each.axle),
                "spoke": _packed(each.spoke),
            }
            for name, each in scene.rounds.items()
        ],
        "meshes": [
            {"at": name, "axes": _packed(each.axes), "curves": [curve.tolist() for curve in each.curves]}
            for name, each in scene.meshes.items()
        ],
        "arrows": [{"tail": _packed(tail), "tip": _packed(tip)} for tail, tip in scene.forces.values()],
        "touches": [list(pair) for pair in scene.touches],
        "roll": _packed(scene.roll),
        "traced": list(drawing.traced),
        "ground": drawing.ground,
        "histories": [
            {"title": name, "curves": [{"name": curve, "values": _packed(row)} for curve, row in curves.items()]}
            for name, curves in panels
        ],
        "readings": [{"name": name, "values": _packed(row)} for name, row in (readings or {}).items()],
    }


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(np.nan_to_num(numbers), dtype="<f4").tobytes()).decode()


@cache
def script() -> str:
    """The player as one script: its modules, one after the other, without imports and exports."""
    room = files("pfaff.draw") / "web"
    return "\n".join(LINKING.sub("", (room / f"{name}.js").read_text(encoding="utf-8")) for name in MODULES)


def page(data: Mapping[str, Any]) -> str:
    """A whole page with one film, which needs nothing else."""
    return PAGE.format(title=html.escape(data["title"]), film=element(data, "film"))


def element(data: Mapping[str, Any], name: str) -> str:
    """A film as part of another page, under a name that no other element of it has."""
    return ELEMENT.format(name=html.escape(name), script=script(), data=embedded(data))


def frame(data: Mapping[str, Any], height: int = 560) -> str:
    """The same page inside another one, such as a notebook: neither sees the other's names and styles."""
    inside = html.escape(page(data), quote=True)
    style = f"width: 100%; max-width: 52em; height: {height}px; border: 0; color-scheme: normal"
    return f'<iframe title="{html.escape(data["title"])}" style="{style}" srcdoc="{inside}"></iframe>'


def embedded(data: Any) -> str:
    """JSON that may stand in a script of a page."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ max-width: 52em; margin: 0 auto; padding: 4px; }}
</style>
{film}<script>
const room = () => {{ if (frameElement) frameElement.style.height = `${{document.body.offsetHeight}}px`; }};
new ResizeObserver(room).observe(document.body); // a frame is as high as the film in it
</script>
</html>
"""

ELEMENT = """<div id="{name}"><noscript>This film is played by a script, which is switched off.</noscript></div>
<script type="module">
{script}
mount(document.getElementById("{name}"), {data});
</script>
"""
