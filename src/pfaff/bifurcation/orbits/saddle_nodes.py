"""Saddle-nodes on orbits: where a cycle slows down at two equilibria that are about to appear on it.

The period then grows as 1/√(p − p₀), with p₀ the fold of equilibria, and there is no homoclinic orbit to a saddle. The
fold solves f = 0, J v = 0 with |v| = 1 (Moore and Spence, SIAM J. Numer. Anal. 17 (1980)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.algebra.newtons_method import newton
from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.errors import PfaffError
from pfaff.flow.flow import Flow

NEARBY = 0.25  # distance of a fold from a slow state, relative to the orbit, that is near


class SaddleNode(NamedTuple):
    """A fold of equilibria: its state, and the value of the load."""

    x: np.ndarray
    value: float


def saddle_node_near(
    flow: Flow, load: str, numbers: np.ndarray, x: np.ndarray, size: np.ndarray, span: float
) -> SaddleNode | None:
    """The saddle-node near a slow state of an orbit, if there is one; ``size`` and ``span`` are units of states and
    load."""
    n, place = len(x), flow.system.parameter_names.index(load)
    scale = np.concatenate([size, np.ones(n), [span]])

    def at(value: float) -> np.ndarray:
        found = numbers.copy()
        found[place] = value
        return found

    def jacobian(y: np.ndarray, value: float) -> np.ndarray:
        return flow.jacobian(y, at(value)) * size / size[:, None]

    def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
        y, v, value = z[:n], z[n:-1], float(z[-1])
        h = NEIGHBOUR * size * v
        J = jacobian(y, value)
        bent = (jacobian(y + h, value) - jacobian(y - h, value)) / (2 * NEIGHBOUR)
        drifts = NEIGHBOUR * span
        pushed = (jacobian(y, value + drifts) - jacobian(y, value - drifts)) @ v / (2 * NEIGHBOUR)
        by = flow.parameter_jacobian(y, at(value), (load,))[:, 0] * span / size
        matrix = np.block(
            [
                [J, np.zeros((n, n)), by[:, None]],
                [bent, J, pushed[:, None]],
                [np.zeros((1, n)), 2 * v[None], np.zeros((1, 1))],
            ]
        )
        try:
            missed = np.concatenate([flow.rhs(y, at(value)) / size, J @ v, [v @ v - 1]])
            change = np.linalg.solve(matrix, -missed)
        except (PfaffError, np.linalg.LinAlgError):
            return None
        if not np.isfinite(change).all():
            return None
        return z + change * scale, float(np.abs(change).max())

    start = np.linalg.svd(jacobian(x, numbers[place]))[2][-1]
    found = newton(step, np.concatenate([x, start, [numbers[place]]]))
    near = np.abs((found.at[:n] - x) / size).max() < NEARBY
    return SaddleNode(found.at[:n], float(found.at[-1])) if found.settled and near else None
