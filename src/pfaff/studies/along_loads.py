"""Test functions along stretches of the load, for many points at once, at Chebyshev nodes.

The equilibrium is carried along from node to node by Newton's method where it moves. Points that do not follow are
told.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pfaff.studies import small_matrices

if TYPE_CHECKING:
    from pfaff.studies.frames import Frame

NEWTON = 8  # steps from an extrapolated equilibrium
SETTLED = 1e-11  # the last step, relative to 1 + |x|
CONTRACTS = 0.5  # what a second step may be of the first: a larger one may have left the branch
SLACK = 1e-6  # coefficients that are structurally zero, relative to their neighbours


@dataclass
class Tested:
    """By node and point: the frame's test function, the last coefficient, the equilibrium; and which points were
    followed."""

    test: np.ndarray
    zero: np.ndarray
    x: np.ndarray
    followed: np.ndarray


def at_loads(frame: Frame, parameters: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Parameters with these loads: one column each."""
    changed = parameters.copy()
    changed[frame.index] = loads
    return changed


def probed(
    frame: Frame, parameters: np.ndarray, distances: np.ndarray, begins: np.ndarray, start: np.ndarray | None = None
) -> Tested | None:
    """The test functions at distances (by node and point) along the path of each point, from ``start`` at its
    beginning."""
    K, N = distances.shape
    n = frame.n
    loads = begins + frame.sign * distances
    many = np.tile(parameters, (1, K))
    many[frame.index] = loads.ravel()
    x0 = np.repeat(frame.x[:, None], N, axis=1) if start is None else start
    x = np.tile(x0, (1, K))
    followed = np.ones(N, dtype=bool)
    J = frame.jacobians(x, many)
    if not np.isfinite(J).all():
        return None
    if frame.moves(x, many, J):
        x, followed = follow(frame, parameters, loads, x0)
        J = frame.jacobians(x, many)
    C, slack = frame.polynomials(J)
    test = frame.test_of(C).reshape(K, N)
    followed &= (slack.reshape(K, N) <= SLACK).all(axis=0) & np.isfinite(test).all(axis=0)
    test = test / (distances / frame.first) ** frame.order
    zero = C[-1].reshape(K, N) / (distances / frame.first) ** frame.zero_order
    return Tested(test, zero, x.reshape(n, K, N), followed)


def follow(frame: Frame, parameters: np.ndarray, loads: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The equilibria at all loads, node after node, extrapolated from those before."""
    K, N = loads.shape
    found = np.empty((frame.n, K, N))
    followed = np.ones(N, dtype=bool)
    for k in range(K):
        guess = x if k == 0 else _extrapolated(found[:, :k], loads, k)
        found[:, k], good = settled(frame, at_loads(frame, parameters, loads[k]), guess, strict=k > 2)
        followed &= good
    return found.reshape(frame.n, K * N), followed


def _extrapolated(found: np.ndarray, loads: np.ndarray, k: int) -> np.ndarray:
    """By the polynomial through the last three equilibria, or as many as there are."""
    first = max(0, k - 4)
    nodes = loads[first:k]
    total = np.zeros_like(found[:, 0])
    for i in range(len(nodes)):
        others = [j for j in range(len(nodes)) if j != i]
        weight = np.prod([(loads[k] - nodes[j]) / (nodes[i] - nodes[j]) for j in others], axis=0) if others else 1.0
        total += weight * found[:, first + i]
    return total


def settled(frame: Frame, parameters: np.ndarray, x: np.ndarray, strict: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The equilibria that Newton's method reaches, and for which points it does, at once and without detour."""
    N = x.shape[1]
    shift, step = np.zeros(N, dtype=complex), np.empty((frame.n, N), dtype=complex)
    good, last = np.ones(N, dtype=bool), np.full(N, np.inf)
    x = x.copy()
    for turn in range(NEWTON):
        right = frame.rates(x, parameters)
        if not right.any():
            return x, good
        J = frame.jacobians(x, parameters)
        small_matrices.solve_many(J, frame.n, frame.scale, frame.unit, shift, frame.columns, frame.rows, right, step)
        moved = np.nan_to_num(step.real, nan=0.0)
        good &= np.isfinite(step).all(axis=0)
        size = (np.abs(moved) / frame.scale[:, None]).max(axis=0) / (1 + (np.abs(x) / frame.scale[:, None]).max(axis=0))
        if turn and strict:
            good &= (size <= CONTRACTS * last) | (size <= SETTLED)
        x -= moved
        last = size
        if (size[good] <= SETTLED).all():
            break
    return x, good & (last <= SETTLED)


@cache
def nodes_of(K: int) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev's nodes in (−1, 1), ascending, and the matrix from values at them to coefficients of the series."""
    angles = (np.arange(K)[::-1] + 0.5) * np.pi / K
    matrix = 2 / K * np.cos(np.outer(np.arange(K), angles))
    matrix[0] /= 2
    return np.cos(angles), matrix


def series(
    frame: Frame, parameters: np.ndarray, low: np.ndarray, length: np.ndarray, begins: np.ndarray
) -> np.ndarray | None:
    """Coefficients of the test function on a stretch, for a look at how many it needs."""
    nodes, matrix = nodes_of(frame.nodes)
    found = probed(frame, parameters, low + length * (1 + nodes[:, None]) / 2, begins)
    return None if found is None or not found.followed.all() else matrix @ found.test[:, 0]
