"""Test functions along stretches of the load, for many points at once, at Chebyshev nodes.

The equilibrium is carried along from node to node by Newton's method where it moves. Points that cannot be followed are
reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pfaff.kernels import many_matrices

if TYPE_CHECKING:
    from pfaff.studies.frames import Frame

NEWTON = 8  # steps from an extrapolated equilibrium
RESTING = 1e-11  # the last step, relative to 1 + |x|
CLOSE = 1e-6  # the same on the way: the remaining error, about its square, is far below what series resolve
BEHIND = 6  # equilibria from which the next is extrapolated
CONTRACTS = 0.5  # largest ratio of a second step to the first: beyond it, the branch may have been left
SLACK = 1e-6  # coefficients that are structurally zero, relative to their neighbours


@dataclass(frozen=True)
class Distances:
    """Distances from the beginning of each path: nodes of (0, 1) on stretches from ``low``."""

    low: np.ndarray
    length: np.ndarray
    nodes: np.ndarray


@dataclass
class Tested:
    """By node and point: the frame's test function, the last coefficient, the equilibrium; and which points could be
    followed."""

    test: np.ndarray
    zero: np.ndarray
    x: np.ndarray
    followed: np.ndarray


def at_loads(frame: Frame, parameters: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Parameters with these loads, one column each."""
    changed = parameters.copy()
    changed[frame.index] = loads
    return changed


def probed(
    frame: Frame, parameters: np.ndarray, begins: np.ndarray, stretch: Distances, start: np.ndarray | None = None
) -> Tested:
    """The test functions at the nodes of a stretch of each point's path, whose equilibrium begins from ``start``.

    It goes node by node, so that intermediate results stay in the cache.
    """
    K, N = len(stretch.nodes), parameters.shape[1]
    x = np.repeat(frame.x[:, None], N, axis=1) if start is None else start
    test, zero, states, followed = np.empty((K, N)), np.empty((K, N)), [], np.ones(N, dtype=bool)
    low, length = begins + frame.sign * stretch.low, frame.sign * stretch.length
    for k, (J, there, good) in enumerate(_matrices(frame, parameters, low, length, stretch.nodes, x)):
        C, slack = frame.polynomials(J)
        distance = (stretch.low + stretch.length * stretch.nodes[k]) / frame.first
        test[k], zero[k] = frame.test_of(C) / distance**frame.order, C[-1] / distance**frame.zero_order
        followed &= good & (slack <= SLACK)
        states.append(there)
    stays = all(each is states[0] for each in states)
    x = np.broadcast_to(states[0][:, None], (frame.n, K, N)) if stays else np.stack(states, axis=1)
    return Tested(test, zero, x, followed & np.isfinite(test).all(axis=0))


def _matrices(
    frame: Frame, parameters: np.ndarray, low: np.ndarray, length: np.ndarray, nodes: np.ndarray, x: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """∂f/∂x at low + length·node, node after node, with the equilibria, and for which points these are known."""
    own = at_loads(frame, parameters, low)
    if frame.straight(x, own):
        known, (J, change) = np.ones(len(low), dtype=bool), frame.both(x, own)
        yield from ((J + length * node * change, x, known) for node in nodes)
    else:
        for own, there, good in follow(frame, parameters, low, length, nodes, x):
            yield frame.jacobians(there, own), there, good


def follow(
    frame: Frame, parameters: np.ndarray, low: np.ndarray, length: np.ndarray, nodes: np.ndarray, x: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Parameters, equilibria, and for which points these are known, at loads low + length·node, node after node.

    The array of parameters is used again for the next node; so is that of equilibria where they stay.
    """
    own, good = parameters.copy(), np.ones(parameters.shape[1], dtype=bool)
    past: list[np.ndarray] = []
    moving = False
    for k, node in enumerate(nodes):
        own[frame.index] = low + length * node
        moving = moving or frame.moves(x, own)
        if moving:
            guess = np.tensordot(_weights(nodes, k), past, 1) if past else x
            x, good = settled(frame, own, guess, strict=k > 2, still=CLOSE)
        past = [*past[1 - BEHIND :], x]
        yield own, x, good


def _weights(nodes: np.ndarray, k: int) -> np.ndarray:
    """Weights of the last few values in the polynomial through them, at the k-th node."""
    behind = nodes[max(0, k - BEHIND) : k]
    apart = behind[:, None] - behind + np.eye(len(behind))
    ahead = nodes[k] - behind
    return np.prod(ahead) / ahead / apart.prod(axis=1)


def settled(
    frame: Frame, parameters: np.ndarray, x: np.ndarray, strict: bool = True, still: float = RESTING
) -> tuple[np.ndarray, np.ndarray]:
    """The equilibria that Newton's method reaches, and for which points it does so directly.

    This is not ``newton_columns``, which drops settled columns: batches stay whole, and a step that does not contract
    is bad.
    """
    N = x.shape[1]
    x, good, last = x.copy(), np.ones(N, dtype=bool), np.full(N, np.inf)
    for turn in range(NEWTON):
        rates = frame.rates(x, parameters)
        if not rates.any():
            return x, good
        contracts = CONTRACTS if turn and strict else np.inf
        J = frame.jacobians(x, parameters)
        many_matrices.newton_step(
            J, frame.n, frame.scale, frame.unit, frame.columns, frame.rows, rates, contracts, RESTING, x, last, good
        )
        if (last[good] <= still).all():
            break
    return x, good & (last <= still)


@cache
def nodes_of(K: int) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev's nodes in (−1, 1), ascending, and the matrix from values at them to coefficients of the series."""
    angles = (np.arange(K)[::-1] + 0.5) * np.pi / K
    matrix = 2 / K * np.cos(np.outer(np.arange(K), angles))
    matrix[0] /= 2
    return np.cos(angles), matrix
