"""The part of the plane that a picture shows: all of it, or a window that follows a travelling system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.draw.scene import Scene

if TYPE_CHECKING:  # the player needs no Matplotlib, which takes half a second to open
    from matplotlib.axes import Axes

MARGIN = 0.35  # of the scale: room for symbols
FAR = 3.0  # times its own size: a system that travels farther is followed
ROOM = 1.5  # the window that follows it, in the same measure


@dataclass(frozen=True)
class View:
    """A window of one size, and its lower left corner for each instant."""

    size: np.ndarray
    corners: np.ndarray

    def frame(self, axes: Axes, k: int) -> None:
        (left, bottom), (width, height) = self.corners[k], self.size
        axes.set(xlim=(left, left + width), ylim=(bottom, bottom + height))
        axes.set_aspect("equal")


def view_of(scene: Scene) -> View:
    """The whole region, unless the system travels far; a mere point has no size to compare with."""
    low, high = _extent(scene)
    far = FAR if scene.extent else np.inf
    tracks = [_track(low[:, axis], high[:, axis], far) for axis in range(scene.dimension)]
    return View(np.array([size for size, _ in tracks]), np.stack([corner for _, corner in tracks], axis=1))


def _extent(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Lower left and upper right corners of the system with its symbols and forces, at each instant."""
    margin = MARGIN * scene.scale
    corners = [np.fmin.reduce(scene.moving, axis=1), np.fmax.reduce(scene.moving, axis=1), *scene.touched]
    corners += [end for ends in scene.forces.values() for end in ends]
    for name, mark in scene.drawing.marks.items():
        at, angle = scene.points[name], scene.angle(name)
        if mark == "bow":
            head = scene.reach * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
            corners += [at - head, at + head]
        near = scene.span([name, *scene.drawing.traced]).max() < FAR * scene.extent or not scene.extent
        if mark == "wall" and near:
            corners.append(at)
    return np.fmin.reduce(corners) - margin, np.fmax.reduce(corners) + margin


def _track(low: np.ndarray, high: np.ndarray, far: float) -> tuple[float, np.ndarray]:
    """Size and lower edges of a window in one direction; a window that follows is pushed by its content."""
    own, travel = np.nanmax(high - low), np.nanmax(high) - np.nanmin(low)
    if travel <= far * own:
        return float(travel), np.full(len(low), np.nanmin(low))
    size, edge, edges = ROOM * own, low[0], []
    for bottom, top in zip(low, high, strict=True):
        edge = min(max(edge, top - size), bottom) if np.isfinite(bottom + top) else edge
        edges.append(edge)
    return float(size), np.array(edges)
