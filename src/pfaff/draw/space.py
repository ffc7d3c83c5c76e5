"""A scene in space as a picture on paper shows it: seen from afar, parallel, from one side and a little above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pfaff.draw.scene import Scene
from pfaff.draw.view import FAR

AZIMUTH, ELEVATION = np.radians(-62), np.radians(20)
SQUARES = 12  # of the ground along the longer side of what one sees of it, about
LINES = 40  # on the ground each way at most, however far a system travels
SPOKES = 8


@dataclass(frozen=True)
class Line:
    """A curve of a body at each instant, in the plane of the picture; ``kind`` says how it is drawn."""

    at: np.ndarray
    kind: str  # "rim", "disc", "spoke", "mesh" or "ground"


def axes_of_view() -> np.ndarray:
    """To the right and upwards in the picture, as rows."""
    sine, cosine = np.sin(ELEVATION), np.cos(ELEVATION)
    right = [-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0]
    up = [-sine * np.cos(AZIMUTH), -sine * np.sin(AZIMUTH), cosine]
    return np.array([right, up])


def seen(scene: Scene) -> Scene:
    """The picture of a scene: itself in the plane; points, lines and ground on paper if it is in space."""
    if scene.dimension == 2:
        return replace(scene, meshes={}, lines=tuple(_mesh_lines(scene))) if scene.meshes else scene
    view = axes_of_view()
    lines = [*_ground(scene), *_rounds(scene), *_mesh_lines(scene)]
    return replace(
        scene,
        points={name: at @ view.T for name, at in scene.points.items()},
        arrows={name: arrow @ view.T for name, arrow in scene.arrows.items()},
        angles={name: _seen_angle(angle, view) for name, angle in scene.angles.items()},
        rounds={},
        meshes={},
        lines=tuple(Line(line.at @ view.T, line.kind) for line in lines),
    )


def _seen_angle(angle: np.ndarray, view: np.ndarray) -> np.ndarray:
    """The angle on paper of a direction in the plane z = 0."""
    along = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ view[:, :2].T
    return np.unwrap(np.arctan2(along[:, 1], along[:, 0]))


def _rounds(scene: Scene) -> Iterator[Line]:
    for name, each in scene.rounds.items():
        centre = scene.points[name]
        rim = each.rim(centre)
        yield Line(rim, "rim" if each.spoked else "disc")
        spokes = each.rim(centre, SPOKES) if each.spoked else each.rim(centre, SPOKES)[:, : int(each.turns)]
        for k in range(spokes.shape[1]):
            yield Line(np.stack([centre, spokes[:, k]], axis=1), "spoke")


def _mesh_lines(scene: Scene) -> Iterator[Line]:
    for name, each in scene.meshes.items():
        for line in each.lines(scene.points[name]):
            yield Line(line, "mesh")


def _ground(scene: Scene) -> Iterator[Line]:
    """Squares on the plane z = 0, where the system comes by and a little beyond."""
    if not scene.drawing.ground:
        return
    low, high = (f(scene.moving[..., :2], axis=(0, 1)) for f in (np.nanmin, np.nanmax))
    span, near = (high - low).max(), FAR * scene.extent  # a system that travels farther is followed
    step = _handy(max(min(max(span, scene.extent), near) / SQUARES, span / LINES))
    low, high = (np.floor(low / step) - 1) * step, (np.ceil(high / step) + 1) * step
    for axis in (0, 1):
        other = 1 - axis
        for place in np.arange(low[axis], high[axis] + step / 2, step):
            ends = np.zeros((2, 3))
            ends[:, axis], ends[:, other] = place, (low[other], high[other])
            yield Line(np.broadcast_to(ends, (len(scene.t), 2, 3)), "ground")


def _handy(size: float) -> float:
    """1, 2 or 5 times a power of ten, next above a size."""
    power = 10.0 ** np.floor(np.log10(size or 1.0))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= size))
