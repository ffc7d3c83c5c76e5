"""Floquet multipliers of periodic orbits, from the transition matrices of the intervals."""

from __future__ import annotations

import numpy as np

from pfaff.kernels.periodic_schur import multipliers_of

DECOUPLED = 1e-14  # remaining coupling of blocks
FEW = 4  # states up to which DECOUPLED applies: rounding grows with the square of their number


def multipliers(
    G: np.ndarray,
    signs: np.ndarray,
    start: np.ndarray | None = None,
    accuracy: float = DECOUPLED,
    units: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of signs·G_{N−1}…G_0, the largest first, and the basis of the iteration, a start for the next.

    ``accuracy`` is that of each of them, relative to itself; ``units`` are those of the states.
    """
    n = G.shape[1]
    Q = np.eye(n) if start is None else start.copy()
    return multipliers_of(G, signs, np.ones(n) if units is None else units, Q, coupling(n, accuracy)), Q


def coupling(n: int, accuracy: float) -> float:
    """Largest remaining coupling between blocks of n states, for an accuracy of multipliers."""
    return max(accuracy, DECOUPLED * max(n / FEW, 1.0) ** 2)


def allowed(G: np.ndarray, signs: np.ndarray, bonds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transition matrices, and signs, of the changes that constraints allow: those on which the rows ``bonds`` at all
    mesh points vanish. Others are left out, with their multipliers."""
    Q = np.linalg.svd(bonds)[2][:, bonds.shape[1] :]
    Q[-1] = signs * Q[0]
    return np.ascontiguousarray(Q[1:] @ G @ Q[:-1].transpose(0, 2, 1)), np.ones(Q.shape[1])


def sorted_multipliers(values: np.ndarray) -> np.ndarray:
    """Multipliers, the largest first; of a pair, the one above the real axis."""
    return values[np.lexsort((-values.imag, -np.abs(values)))]
