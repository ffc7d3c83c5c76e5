"""Floquet multipliers from the transition matrices of the intervals, accurate where they are large or tiny.

Orthogonal iteration around the chain, G_j Q_j = Q_{j+1} R_j, tends to a periodic Schur form (Bojanczyk, Golub and
Van Dooren 1992): the multipliers are in the products of the triangles' diagonals, which are summed as logarithms.
Those of comparable size are taken together, as eigenvalues of one block; blocks do not disturb each other.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.condensation import sweep
from pfaff.bifurcation.orbits.kernels import compiled

SWEEPS = 40
APART = np.log(10.0)  # multipliers whose sizes have a greater ratio than this can be separated
SPREAD = np.log(1e3)  # of sizes, beyond which they are: rounding in a block is relative to its largest
DECOUPLED, ROUNDING = 1e-14, 1e-11  # what is left of a coupling; below the second, what no longer shrinks is rounding
SMALLEST = 1e-300  # below it a triangle is singular
REAL = 1e-14  # imaginary parts below this, relative, are rounding
LARGEST = 700.0  # logarithms beyond this overflow


def multipliers(
    G: np.ndarray, signs: np.ndarray, start: np.ndarray | None = None, accuracy: float = DECOUPLED
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of signs·G_{N−1}…G_0, the largest first, and the basis of the iteration, a start for the next.

    ``accuracy`` is that of each of them, relative to itself.
    """
    Q = np.eye(G.shape[1]) if start is None else start.copy()
    values = np.empty(len(Q), dtype=np.complex128)
    _multipliers(G, signs, Q, values, max(accuracy, DECOUPLED))
    return values, Q


def sorted_multipliers(values: np.ndarray) -> np.ndarray:
    """The largest first; of a pair, the one above the real axis."""
    return values[np.lexsort((-values.imag, -np.abs(values)))]


@compiled
def _multipliers(G, signs, Q, values, decoupled):
    n = G.shape[1]
    R, H, block = np.empty(G.shape), np.empty((n, n)), np.empty(n, dtype=np.int64)
    _iterate(G, signs, Q, R, H, block, decoupled)
    low = block[0]
    for high in range(1, n + 1):
        if high == n or block[high] != block[low]:
            product, size = _triangles(R, low, high)
            _eigenvalues(H[low:high, low:high], product, np.exp(min(size, LARGEST)), values[low:high])
            low = high
    for k in range(n):
        if abs(values[k].imag) < REAL * abs(values[k]):
            values[k] = complex(values[k].real, 0.0)
        elif values[k].imag > 0:  # of a real product: the conjugate is there too, but for rounding
            mirrored = values[k].conjugate()
            nearest = k
            for l in range(n):
                if abs(values[l] - mirrored) < abs(values[nearest] - mirrored):
                    nearest = l
            values[nearest] = mirrored
    _sort(values)


@compiled
def _sort(values):
    """As ``sorted_multipliers``, in place."""
    for k in range(1, len(values)):
        each, at = values[k], k
        while at > 0:
            before = values[at - 1]
            if not (abs(each) > abs(before) or (abs(each) == abs(before) and each.imag > before.imag)):
                break
            values[at] = before
            at -= 1
        values[at] = each


@compiled
def test_functions(multipliers, structural):
    """Without the multipliers that are 1 by structure: how far those are from 1, how many others are unstable, and
    Π(1 + μ) and Π(μ_i μ_j − 1), each factor scaled, which change their signs at flips and at tori."""
    n = len(multipliers)
    order = np.empty(n, dtype=np.int64)
    for k in range(n):
        order[k] = k
    for k in range(min(structural, n - 1)):  # those nearest to 1 come first
        for i in range(k + 1, n):
            if abs(multipliers[order[i]] - 1) < abs(multipliers[order[k]] - 1):
                order[i], order[k] = order[k], order[i]
    far = abs(multipliers[order[structural - 1]] - 1)
    flip, torus = 1.0 + 0.0j, 1.0 + 0.0j
    unstable = 0
    for i in range(structural, n):
        a = multipliers[order[i]]
        unstable += 1 if abs(a) > 1 else 0
        flip *= (1 + a) / (1 + abs(a))
        for j in range(i + 1, n):
            pair = a * multipliers[order[j]]
            torus *= (pair - 1) / (1 + abs(pair))
    return far, unstable, flip.real, torus.real


@compiled
def _iterate(G, signs, Q, R, H, block, decoupled):
    """Sweeps until Q is carried into itself as far as sizes separate it, into blocks; H = Q_0ᵀ signs Q_N."""
    N, n = G.shape[:2]
    sizes, Q0 = np.empty(n), np.empty((n, n))
    block[0] = 0
    last = np.inf
    for _ in range(SWEEPS):
        for i in range(n):
            for t in range(n):
                Q0[i, t] = Q[i, t]
        sweep(G, Q, R)
        for i in range(n):
            sizes[i] = 0.0
            for t in range(n):
                Q[i, t] *= signs[i]
            for j in range(N):
                sizes[i] += np.log(max(R[j, i, i], SMALLEST))
        left = 0.0
        for i in range(n):
            for t in range(n):
                H[i, t] = 0.0
                for l in range(n):
                    H[i, t] += Q0[l, i] * Q[l, t]
        first = 0
        for p in range(1, n):
            apart = sizes[p - 1] - sizes[p] > APART and sizes[first] - sizes[p] > SPREAD
            block[p] = block[p - 1] + (1 if apart else 0)
            first = p if apart else first
        for i in range(1, n):
            for t in range(i):
                if block[t] < block[i]:
                    left = max(left, abs(H[i, t]))
        if left < decoupled or (last / 2 < left < ROUNDING):
            break
        last = left


@compiled
def _eigenvalues(H, product, scale, values):
    """Those of scale·H·product; of one or two in closed form."""
    count = len(values)
    if count > 2:
        block = np.empty((count, count), dtype=np.complex128)
        for i in range(count):
            for t in range(count):
                block[i, t] = 0.0
                for l in range(count):
                    block[i, t] += H[i, l] * product[l, t]
        found = np.linalg.eigvals(block)
        for k in range(count):
            values[k] = found[k] * scale
        return
    if count == 1:
        values[0] = H[0, 0] * product[0, 0] * scale
        return
    a, b = H[0, 0] * product[0, 0], H[0, 0] * product[0, 1] + H[0, 1] * product[1, 1]
    c, d = H[1, 0] * product[0, 0], H[1, 0] * product[0, 1] + H[1, 1] * product[1, 1]
    half, square = (a + d) / 2, ((a - d) / 2) ** 2 + b * c
    if square < 0:
        values[0], values[1] = complex(half, np.sqrt(-square)) * scale, complex(half, -np.sqrt(-square)) * scale
        return
    larger = half + np.sqrt(square) if half > 0 else half - np.sqrt(square)
    values[0] = larger * scale
    values[1] = (a * d - b * c) / larger * scale if larger != 0 else 0.0


@compiled
def _triangles(R, low, high):
    """The product of the blocks on the diagonals, scaled to unit size, and the logarithm of the scale."""
    size, count = 0.0, high - low
    product, following = np.empty((count, count)), np.empty((count, count))
    for i in range(count):
        for t in range(count):
            product[i, t] = 1.0 if i == t else 0.0
    for j in range(len(R)):
        scale = 0.0
        for i in range(count):
            for t in range(count):
                following[i, t] = 0.0
                for l in range(i, count):
                    following[i, t] += R[j, low + i, low + l] * product[l, t]
                scale = max(scale, abs(following[i, t]))
        scale = max(scale, SMALLEST)
        for i in range(count):
            for t in range(count):
                product[i, t] = following[i, t] / scale
        size += np.log(scale)
    return product, size
