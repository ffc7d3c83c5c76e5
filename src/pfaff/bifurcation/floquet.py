"""Floquet multipliers from the transition matrices of the intervals, accurate where they are large or tiny.

Orthogonal iteration around the chain, G_j Q_j = Q_{j+1} R_j, tends to a periodic Schur form (Bojanczyk, Golub and
Van Dooren 1992): the multipliers are in the products of the triangles' diagonals, which are summed as logarithms.
Those of comparable size are taken together, as eigenvalues of one block; blocks do not disturb each other.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pfaff.bifurcation.condensation import sweep

SWEEPS = 40
APART = np.log(10.0)  # multipliers whose sizes have a greater ratio than this are separated
DECOUPLED = 1e-14  # what is left of a coupling
SMALLEST = 1e-300  # below it a triangle is singular
LARGEST = 700.0  # logarithms beyond this overflow


def multipliers(G: np.ndarray, signs: np.ndarray, start: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of signs·G_{N−1}…G_0, the largest first, and the basis of the iteration, a start for the next."""
    n = G.shape[1]
    Q, R, H = (np.eye(n) if start is None else start.copy()), np.empty_like(G), np.empty((n, n))
    sizes = _iterate(G, signs, Q, R, H)
    cuts = [p for p in range(1, n) if sizes[p - 1] - sizes[p] > APART]
    blocks = zip([0, *cuts], [*cuts, n], strict=True)
    values = np.concatenate([_block(H, R, low, high) for low, high in blocks])
    return sorted_multipliers(values), Q


def sorted_multipliers(values: np.ndarray) -> np.ndarray:
    """The largest first; of a pair, the one above the real axis."""
    return values[np.lexsort((-values.imag, -np.abs(values)))]


def _block(H: np.ndarray, R: np.ndarray, low: int, high: int) -> np.ndarray:
    product, size = _triangles(R, low, high)
    return np.linalg.eigvals(H[low:high, low:high] @ product) * np.exp(min(size, LARGEST))


@njit(cache=True)
def _iterate(G, signs, Q, R, H):
    """Sweeps until Q is carried into itself as far as sizes separate it; H = Q_0ᵀ signs Q_N. Returns log sizes."""
    N, n = G.shape[:2]
    sizes = np.zeros(n)
    for _ in range(SWEEPS):
        Q0 = Q.copy()
        sweep(G, Q, R)
        sizes[:] = 0.0
        for i in range(n):
            for t in range(n):
                Q[i, t] *= signs[i]
            for j in range(N):
                sizes[i] += np.log(max(R[j, i, i], SMALLEST))
        H[:, :] = Q0.T @ Q
        left = 0.0
        for p in range(1, n):
            if sizes[p - 1] - sizes[p] > APART:
                left = max(left, np.abs(H[p:, :p]).max())
        if left < DECOUPLED:
            break
    return sizes


@njit(cache=True)
def _triangles(R, low, high):
    """The product of the blocks on the diagonals, scaled to unit size, and the logarithm of the scale."""
    size = 0.0
    product = np.eye(high - low)
    for j in range(len(R)):
        product = np.ascontiguousarray(R[j, low:high, low:high]) @ product
        scale = np.abs(product).max()
        product /= scale
        size += np.log(scale)
    return product, size
