"""The bodies of a system at one instant of a scene: bars with their width, hinges, supports, springs and forces.

All sizes are shares of the scene's scale.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon, Rectangle

from pfaff.draw.scene import Scene
from pfaff.draw.style import GREY, VERMILION

BAR = 0.055  # half the width of a bar
SLIM = 0.4  # ratio of that, in space and for bent bodies
HINGE = 0.05
BLOCK = 0.22  # half the side
WHEEL = 0.2  # half the length
CYLINDER = 0.14  # the radius
COILS = 7
BETWEEN = 6  # places on a curve from point to point
GAP = np.full((1, 2), np.nan)
GENERATORS = 6  # lines on a cylinder that show how it turns


def draw_body(axes: Axes, scene: Scene, k: int, colour: str, text: str = "") -> None:
    """The system at the instant ``scene.t[k]``; text is for the legend."""
    drawing, scale = scene.drawing, scene.scale
    width = (SLIM if drawing.dimension == 3 else 1.0) * BAR * scale
    for kind in STROKES:  # all of one kind as one line with gaps: many times faster
        strokes = [part for line in scene.lines if line.kind == kind for part in (line.at[k], GAP)]
        if strokes:
            STROKES[kind](axes, np.concatenate(strokes), colour)
    for line in scene.lines:
        if line.kind in FACES:
            FACES[line.kind](axes, line.at[k], colour)
    for a, b in drawing.springs:
        _spring(axes, scene.points[a][k], scene.points[b][k], scale)
    for name, radii in scene.radii.items():
        face = (*pale(colour), 0.35) if scene.drawing.dimension == 3 else "none"
        _put(axes, Circle(scene.points[name][k], radii[k], fc=face, ec=colour, lw=1, zorder=2.5))
    for names in drawing.outlines:
        outline = np.array([scene.points[name][k] for name in names])
        _put(axes, Polygon(outline, fc="none", ec=colour, lw=1.4, zorder=2.5, label="" if drawing.joined else text))
    if drawing.links:  # all bars at once, for the same reason
        outlines = [_capsule(scene.points[a][k], scene.points[b][k], width) for a, b in drawing.links]
        _put(axes, PolyCollection(outlines, fc=[pale(colour)], ec=colour, lw=1, zorder=3, label=text))
    for number, names in enumerate(drawing.curves):
        outline = _ribbon(np.array([scene.points[name][k] for name in names]), SLIM * BAR * scale)
        words = text if number == 0 and not drawing.links else ""
        _put(axes, Polygon(outline, fc=pale(colour), ec=colour, lw=1, zorder=3, label=words))
    for name, mark in drawing.marks.items():
        MARKS[mark](axes, scene, name, k, colour)
    for tails, tips in scene.forces.values():
        _arrow(axes, tails[k], tips[k])


def draw_path(axes: Axes, scene: Scene, upto: int, colour: str = GREY, since: int = 0) -> None:
    """Draw where the traced points have been."""
    been = [part for name in scene.drawing.traced for part in (scene.points[name][since : upto + 1], GAP)]
    _put(axes, Line2D(*np.concatenate(been[:-1]).T, color=colour, lw=1, zorder=1))


def _put(axes: Axes, what: Patch | Line2D | PolyCollection) -> None:
    """Put an artist on the page; where limits are set already, it need not be measured."""
    if not axes.get_autoscale_on():
        axes.add_artist(what)
    elif isinstance(what, Line2D):
        axes.add_line(what)
    elif isinstance(what, PolyCollection):
        axes.add_collection(what)
    else:
        axes.add_patch(what)


def pale(colour: str) -> tuple[float, float, float]:
    """The same colour for the face of a body."""
    red, green, blue = (1 - 0.45 * (1 - share) for share in to_rgb(colour))
    return red, green, blue


def _filled(axes: Axes, at: np.ndarray, colour: str) -> None:
    _put(axes, Polygon(at, fc=(*pale(colour), 0.55), ec=colour, lw=1.6, zorder=2.4))


def _ring(axes: Axes, at: np.ndarray, colour: str) -> None:
    _put(axes, Polygon(at, fc="none", ec=colour, lw=2.2, zorder=2.5))


def _stroke(width: float, colour: str = "", order: float = 2.6) -> Callable[[Axes, np.ndarray, str], None]:
    def draw(axes: Axes, at: np.ndarray, own: str) -> None:
        _put(axes, Line2D(*at.T, color=colour or own, lw=width, zorder=order))

    return draw


FACES: dict[str, Callable[[Axes, np.ndarray, str], None]] = {"disc": _filled, "rim": _ring}
STROKES: dict[str, Callable[[Axes, np.ndarray, str], None]] = {
    "spoke": _stroke(0.7),
    "mesh": _stroke(0.9),
    "ground": _stroke(0.6, "0.8", 0.1),
}


def _capsule(a: np.ndarray, b: np.ndarray, half_width: float) -> np.ndarray:
    """The outline of a bar from a to b with round ends."""
    direction = np.arctan2(*(b - a)[::-1])
    half_turn = direction + np.linspace(-np.pi / 2, np.pi / 2, 13)
    cap = half_width * np.column_stack([np.cos(half_turn), np.sin(half_turn)])
    return np.concatenate([b + cap, a - cap])


def _ribbon(points: np.ndarray, half_width: float) -> np.ndarray:
    """The outline of a body that bends along a smooth curve, with round ends."""
    curve = smooth(points)
    along = np.gradient(curve, axis=0)
    angle = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
    side = half_width * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    half_turn = np.linspace(np.pi / 2, -np.pi / 2, 9)
    ahead = curve[-1] + half_width * np.stack([np.cos(angle[-1] + half_turn), np.sin(angle[-1] + half_turn)], axis=1)
    behind = curve[0] - half_width * np.stack([np.cos(angle[0] + half_turn), np.sin(angle[0] + half_turn)], axis=1)
    return np.concatenate([curve + side, ahead, (curve - side)[::-1], behind])


def smooth(points: np.ndarray) -> np.ndarray:
    """A curve through points with their chords as tangents (Catmull and Rom 1974)."""
    slope = np.gradient(points, axis=0)
    s = np.linspace(0, 1, BETWEEN, endpoint=False)[:, None, None]
    a, b, da, db = points[:-1], points[1:], slope[:-1], slope[1:]
    pieces = a + s * da + s**2 * (3 * (b - a) - 2 * da - db) + s**3 * (2 * (a - b) + da + db)
    return np.concatenate([np.swapaxes(pieces, 0, 1).reshape(-1, points.shape[1]), points[-1:]])


def _hinge(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    _put(axes, Circle(scene.points[name][k], HINGE * scene.scale, fc="white", ec=colour, lw=1, zorder=5))


def _mass(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    _put(axes, Circle(scene.points[name][k], 2 * HINGE * scene.scale, fc=colour, ec=colour, zorder=5))


def _contact(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    _put(axes, Circle(scene.points[name][k], HINGE * scene.scale, fc=VERMILION, ec="white", lw=0.5, zorder=6))


def _support(face: str) -> Callable[[Axes, Scene, str, int, str], None]:
    def draw(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
        (x, y), half = scene.points[name][k], BLOCK * scene.scale
        axes.axhline(y - half, color=GREY, lw=1.2, zorder=0)
        _put(axes, Rectangle((x - half, y - half), 2 * half, 2 * half, fc=face, ec=colour, lw=1, zorder=2))
        _hinge(axes, scene, name, k, colour)

    return draw


def _wall(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    (x, y), half = scene.points[name][k], BLOCK * scene.scale
    solid = Rectangle((x - half, y - 2 * half), half, 4 * half, fc="white", ec=GREY, lw=0, hatch="////", zorder=1)
    _put(axes, solid)
    axes.plot([x, x], [y - 2 * half, y + 2 * half], color="black", lw=1.2, zorder=2)


def _wheel(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    """A wheel seen from above: it rolls along its angle."""
    at, half = scene.points[name][k], WHEEL * scene.scale * _along(scene, name, k)
    _put(axes, Polygon(_capsule(at - half, at + half, 1.2 * BAR * scene.scale), color="black", lw=0, zorder=6))


def _skate(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    """A blade along its angle, pointed at both ends."""
    at, along = scene.points[name][k], _along(scene, name, k)
    tip, side = 1.1 * WHEEL * scene.scale * along, 0.7 * BAR * scene.scale * np.array([-along[1], along[0]])
    _put(axes, Polygon([at - tip, at + side, at + tip, at - side], color="black", lw=0.8, zorder=6))


def _bow(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    """The head of the T; a line leads on to a contact that lies beyond it."""
    at, half = scene.points[name][k], scene.reach * _across(scene, name, k)
    for bow, contact in scene.touches:
        if bow == name:
            axes.plot(*np.transpose([at, scene.points[contact][k]]), color=colour, lw=1.2, zorder=2.5)
    outline = _capsule(at - half, at + half, BAR * scene.scale)
    _put(axes, Polygon(outline, fc=pale(colour), ec=colour, lw=1, zorder=4))


def _cylinder(axes: Axes, scene: Scene, name: str, k: int, colour: str) -> None:
    """A strip along its axis, as long as the contacts need; the lines on it pass as it turns."""
    radius, across = CYLINDER * scene.scale, _across(scene, name, k)
    along = np.array([across[1], -across[0]])
    ends = scene.points[name][k] + np.outer(_contacts(scene, name, k), along)
    outline = [*(ends - radius * across), *(ends + radius * across)[::-1]]
    _put(axes, Polygon(outline, fc="0.94", ec=GREY, lw=1.2, zorder=0.6))
    turned = scene.roll[k] / radius + 2 * np.pi * np.arange(GENERATORS) / GENERATORS
    for sine in np.sin(turned[np.cos(turned) > 0]):
        axes.plot(*(ends + sine * radius * across).T, color=GREY, lw=0.7, zorder=0.7)


def _contacts(scene: Scene, name: str, k: int) -> np.ndarray:
    """The range along its axis in which a cylinder is touched, and a little more."""
    across = _across(scene, name, k)
    places = (np.concatenate([scene.points[name], *scene.touched]) - scene.points[name][k]) @ [across[1], -across[0]]
    return np.array([np.nanmin(places), np.nanmax(places)]) + 0.8 * scene.scale * np.array([-1, 1])


def _across(scene: Scene, name: str, k: int) -> np.ndarray:
    angle = scene.angle(name)[k]
    return np.array([-np.sin(angle), np.cos(angle)])


def _along(scene: Scene, name: str, k: int) -> np.ndarray:
    angle = scene.angle(name)[k]
    return np.array([np.cos(angle), np.sin(angle)])


def _spring(axes: Axes, a: np.ndarray, b: np.ndarray, scale: float) -> None:
    along = b - a
    across = 0.5 * BLOCK * scale * np.array([-along[1], along[0]]) / (np.hypot(*along) or 1.0)
    shares = np.concatenate([[0, 0.1], np.linspace(0.1, 0.9, 4 * COILS + 1)[1:-1:2], [0.9, 1]])
    swing = np.concatenate([[0, 0], (-1.0) ** np.arange(2 * COILS), [0, 0]])
    axes.plot(*(a + np.outer(shares, along) + np.outer(swing, across)).T, color="black", lw=1, zorder=1.5)


def _arrow(axes: Axes, tail: np.ndarray, tip: np.ndarray) -> None:
    if np.array_equal(tail, tip):
        return
    style = {"arrowstyle": "-|>", "color": VERMILION, "lw": 1.8, "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(tip), tuple(tail), arrowprops=style, zorder=7)
    axes.update_datalim([tail, tip])


MARKS: dict[str, Callable[[Axes, Scene, str, int, str], None]] = {
    "hinge": _hinge,
    "mass": _mass,
    "contact": _contact,
    "block": _support("white"),
    "ground": _support("lightgrey"),
    "wall": _wall,
    "wheel": _wheel,
    "skate": _skate,
    "bow": _bow,
    "cylinder": _cylinder,
}
