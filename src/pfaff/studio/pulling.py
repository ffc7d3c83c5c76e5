"""A structure held by one of its points: the configuration nearest to the equilibrium that brings it to the mouse."""

from __future__ import annotations

from typing import Any

import numpy as np

from pfaff import doors
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.draw.scene import scene_of
from pfaff.errors import ParameterError
from pfaff.flow.shape import kept_coordinates
from pfaff.statement.values import one_of

A_FEW = Stopping(12, exact=1e-6, settled=0.0)  # steps for every move of the mouse, relative to the structure
PROBE = 1e-6  # displacement for derivatives, in radians or lengths
SOFT = 1e-2  # resistance of displacements, relative to the derivatives: a point out of reach is approached
HOLDS = 1e3  # weight of a constraint on positions, relative to the mouse
LONGEST = 0.4  # longest step of a coordinate


def pulled(case: Any, point: str, at: np.ndarray) -> tuple[np.ndarray, str]:
    """Coordinates at which a drawn point is at a place, or as near to it as possible; ignorable ones stay."""
    names = list(case.system.coordinate_names)
    drawing = case.system.drawing
    one_of(drawing.points, point, "the drawing has no point")
    kept = [name for name in names if name in kept_coordinates(case.system)] or names
    free = [names.index(name) for name in kept]
    q = _rest(case)
    reach = scene_of(case, q[:, None], np.zeros(1))
    if len(at) != reach.dimension:
        raise ParameterError(f"a place of {len(at)} numbers in a drawing of {reach.dimension} dimensions")
    size = reach.extent or reach.scale

    def step(q: np.ndarray) -> tuple[np.ndarray, float]:
        there, slope = _moved(case, point, q, free)
        held, tied = _positions(case, q, free)
        rows = np.vstack([slope, HOLDS * tied, SOFT * np.linalg.norm(slope) * np.eye(len(free))])
        gap = np.concatenate([at - there, -HOLDS * held, np.zeros(len(free))])
        change = np.linalg.lstsq(rows, gap, rcond=None)[0]
        change *= min(1.0, LONGEST / (np.abs(change).max() or 1.0))
        ahead = q.copy()
        ahead[free] += change
        return ahead, float(np.abs(slope @ change).max(initial=0.0) / size)

    return newton(step, _rest(case), A_FEW).at, f"held at {point}"


def _rest(case: Any) -> np.ndarray:
    try:
        return np.array(case.equilibrium().q)
    except doors.errors.PfaffError:
        return np.zeros(len(case.system.coordinates))


def _moved(case: Any, point: str, q: np.ndarray, free: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The position of the point, and its derivatives with respect to the coordinates."""
    probes = np.repeat(q[:, None], len(free) + 1, axis=1)
    for k, i in enumerate(free):
        probes[i, k + 1] += PROBE
    places = scene_of(case, probes, np.zeros(len(free) + 1)).points[point]
    return places[0], ((places[1:] - places[0]) / PROBE).T


def _positions(case: Any, q: np.ndarray, free: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Residuals of the constraints on positions, and their derivatives."""
    statics = doors.statics.statics_of(case.system)
    at = statics(q, np.zeros(statics.m), case.numbers)
    rows = slice(statics.nonholonomic, None)
    return np.asarray(at.held)[rows], np.asarray(at.A)[rows][:, free]
