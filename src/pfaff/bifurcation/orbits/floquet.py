"""Floquet multipliers from the transition matrices of the intervals, accurate where they are large or tiny.

Orthogonal iteration around the chain, G_j Q_j = Q_{j+1} R_j, tends to a periodic Schur form (Bojanczyk, Golub and Van
Dooren 1992): the products of the triangles' diagonals, summed as logarithms, give the multipliers. Those of comparable
size are computed together, as eigenvalues of one block; blocks do not disturb each other.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.addresses import eigen, lapack
from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.machine_code.vectors import LANES, add_multiple, aligned, padded, sum_rows

SWEEPS = 40
APART = np.log(10.0)  # multipliers whose sizes have a greater ratio than this can be separated
SPREAD = np.log(1e3)  # ratio of sizes beyond which they are separated: rounding in a block is relative to its largest
DECOUPLED = 1e-14  # remaining coupling of blocks
ROUNDING = 1e-11  # coupling below this that no longer shrinks is rounding
FEW = 4  # states up to which DECOUPLED applies: rounding grows with the square of their number
TINY, ENOUGH = np.log(1e-16), 1e-7  # multipliers smaller than the first in size are separated to the second only
SMALLEST = 1e-300  # pivots below this make a triangle singular
ROUNDED = 1e-14  # imaginary parts below this, relative, are rounding by LAPACK: pairs may split later
LARGEST = 700.0  # logarithms beyond this overflow


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
    return spectrum(G, signs, np.ones(n) if units is None else units, Q, coupling(n, accuracy), lapack()), Q


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


@compiled
def shrunk(multipliers):
    """Scaling Π 1/(1 + |μ|) that keeps functions such as Π(μ − 1) of order one, however large multipliers are."""
    total = 0.0
    for each in multipliers:
        total += np.log1p(abs(each))
    return np.exp(-min(total, LARGEST))


@compiled
def test_functions(multipliers, structural):
    """Test functions without the multipliers that are 1 by structure: how far those are from 1, how many others are
    unstable, and Π(1 + μ) and Π(μ_i μ_j − 1), each factor scaled, which change sign at flips and at tori."""
    n, far, unstable = len(multipliers), 0.0, 0
    others = np.ones(n, dtype=np.bool_)
    for _ in range(structural):
        nearest, far = 0, np.inf
        for i in range(n):
            if others[i] and not abs(multipliers[i] - 1) >= far:
                nearest, far = i, abs(multipliers[i] - 1)
        others[nearest] = False
    flip, torus = complex(1.0), complex(1.0)
    for i in range(n):
        if others[i]:
            unstable += abs(multipliers[i]) > 1
            flip *= (1 + multipliers[i]) / (1 + abs(multipliers[i]))
            for j in range(i + 1, n):
                if others[j]:
                    pair = multipliers[i] * multipliers[j]
                    torus *= (pair - 1) / (1 + abs(pair))
    return far, unstable, flip.real, torus.real


@compiled
def spectrum(G, signs, units, Q, decoupled, routines):
    """The multipliers, the largest first, of a pair the one above the real axis; Q is the basis of the iteration."""
    N, n = G.shape[:2]
    scaled = np.empty((N, n, n))
    for j in range(N):
        for i in range(n):
            for t in range(n):
                scaled[j, i, t] = G[j, i, t] * units[i] / units[t]
    blocks, sizes, bounds = np.zeros((n, n)), np.empty(n), np.empty(n + 1, dtype=np.int64)
    count = _blocks(scaled, signs, Q, decoupled, blocks, sizes, bounds)
    values = np.empty(n, dtype=np.complex128)
    for k in range(count):
        low, high = bounds[k], bounds[k + 1]
        _eigenvalues(blocks[low:high, low:high].copy(), routines, values[low:high])
        for i in range(low, high):
            values[i] *= np.exp(min(sizes[low], LARGEST))
    for i in range(1, n):
        value, at = values[i], i
        while at > 0 and _before(value, values[at - 1]):
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    return values


@part
def _before(a, b):
    return abs(a) > abs(b) or (abs(a) == abs(b) and a.imag > b.imag)


@part
def _eigenvalues(block, routines, values):
    """Eigenvalues of a block; of one or two rows in closed form."""
    if len(block) > 2:
        found, _, _ = eigen(routines, block, False, False)
        for i in range(len(block)):
            real = abs(found[i].imag) < ROUNDED * abs(found[i])
            values[i] = complex(found[i].real) if real else found[i]
    elif len(block) == 1:
        values[0] = complex(block[0, 0])
    else:
        a, b, c, d = block[0, 0], block[0, 1], block[1, 0], block[1, 1]
        half, square = (a + d) / 2, ((a - d) / 2) ** 2 + b * c
        root = np.sqrt(abs(square))
        if square < 0:
            values[0], values[1] = complex(half, root), complex(half, -root)
        else:
            larger = half + root if half > 0 else half - root
            values[0], values[1] = complex(larger), complex((a * d - b * c) / larger if larger != 0 else 0.0)


@part
def reflect(at, room, column, v, beta, low, n, vectors):
    """Apply the Householder reflection with this row of v, M − β v (v M), to the rows and columns from ``low`` on of a
    matrix of padded rows.

    The matrix, workspace for a row, and v are also given by their addresses, since looking these up takes as long.
    Columns of the same vector before ``low`` hold nothing but rounding in these rows.
    """
    first, wide = low // LANES, 8 * LANES * vectors
    at, room = at + 8 * LANES * first, room + 8 * LANES * first
    sum_rows(room, at + wide * low, column + 8 * (n + 1) * low, vectors, n - low, vectors - first)
    for i in range(low, n):
        add_multiple(at + wide * i, room, -beta * v[low, i], vectors - first)


@part
def sweep(G, Q, R):
    """Factorise G_j Q_j = Q_{j+1} R_j around the chain, R_j upper triangular with positive diagonal; Q becomes Q_N.
    Rows of Q are padded."""
    N, n = G.shape[:2]
    w, v, betas, along = aligned(Q.size).reshape(Q.shape), np.empty((n, n)), np.empty(n), aligned(Q.shape[1])
    vectors, wide = Q.shape[1] // LANES, 8 * Q.shape[1]
    at, by, given, column, room = w.ctypes.data, Q.ctypes.data, G.ctypes.data, v.ctypes.data, along.ctypes.data
    for j in range(N):
        for i in range(n):
            sum_rows(at + wide * i, by, given + 8 * n * (j * n + i), vectors, n, vectors)
        for p in range(n):
            betas[p] = householder(w, v, p)
            if betas[p] != 0.0:
                reflect(at, room, column, v, betas[p], p, n, vectors)
        for i in range(n):
            for t in range(n):
                Q[i, t] = 1.0 if i == t else 0.0
        for p in range(n - 1, -1, -1):  # from the last: before it is still the unit matrix
            if betas[p] != 0.0:
                reflect(by, room, column, v, betas[p], p, n, vectors)
        for i in range(n):
            flip = -1.0 if w[i, i] < 0 else 1.0
            for t in range(n):
                R[j, i, t] = flip * w[i, t] if t >= i else 0.0
                Q[t, i] *= flip
    along[0] = 0.0  # used once more, so that it outlives the calls


@part
def householder(w, v, p):
    """The factor β of the reflection that clears a column of w below the diagonal, zero where it is clear; its vector
    is filled in as a row of v."""
    n, below = len(w), 0.0
    for i in range(p, n):
        v[p, i] = w[i, p]
        below += w[i, p] * w[i, p] if i > p else 0.0
    if below == 0.0:
        return 0.0
    norm = np.sqrt(below + v[p, p] * v[p, p])
    v[p, p] += norm if v[p, p] > 0 else -norm
    return 2.0 / (below + v[p, p] * v[p, p])


@part
def _multiply(H, R, low, high, blocks, sizes):
    """A block of H times the blocks of all R, scaled to unit size; returns the logarithm of the scale."""
    size, count = 0.0, high - low
    product, following = np.empty((count, count)), np.empty((count, count))
    for i in range(count):
        for t in range(count):
            product[i, t] = 1.0 if i == t else 0.0
    for j in range(len(R) + 1):
        scale = SMALLEST
        for i in range(count):
            for t in range(count):
                total = 0.0
                for l in range(count):
                    by = R[j, low + i, low + l] if j < len(R) else H[low + i, low + l]
                    total += by * product[l, t]
                following[i, t] = total
                scale = max(scale, abs(total))
        for i in range(count):
            for t in range(count):
                product[i, t] = following[i, t] / scale
        size += np.log(scale)
    for i in range(count):
        sizes[low + i] = size
        for t in range(count):
            blocks[low + i, low + t] = product[i, t]


@part
def _blocks(G, signs, Q, decoupled, blocks, sizes, bounds):
    """Sweep until Q is carried into itself as far as sizes separate it; returns the number of blocks, and where they
    begin.

    The blocks on the diagonal, times the exponential of their size, have the multipliers as eigenvalues.
    """
    N, n = G.shape[:2]
    R, H, Q0 = np.empty((N, n, n)), np.empty((n, n)), np.empty((n, n))
    rows = aligned(n * padded(n)).reshape((n, padded(n)))  # rows of Q
    rows[:, :n] = Q
    count, last = 1, np.inf
    for _ in range(SWEEPS):
        for i in range(n):
            for t in range(n):
                Q0[i, t] = rows[i, t]
        sweep(G, rows, R)
        for i in range(n):
            total = 0.0
            for j in range(N):
                total += np.log(max(R[j, i, i], SMALLEST))
            sizes[i] = total
            for t in range(n):
                rows[i, t] *= signs[i]
        for i in range(n):
            for t in range(n):
                total = 0.0
                for l in range(n):
                    total += Q0[l, i] * rows[l, t]
                H[i, t] = total
        bounds[0], count, left = 0, 1, 0.0
        for p in range(1, n):
            if sizes[p - 1] - sizes[p] > APART and sizes[bounds[count - 1]] - sizes[p] > SPREAD:
                bounds[count] = p
                count += 1
            for t in range(bounds[count - 1]):
                if sizes[t] > TINY or abs(H[p, t]) > ENOUGH:
                    left = max(left, abs(H[p, t]))
        bounds[count] = n
        if left < decoupled or (last / 2 < left < ROUNDING):
            break
        last = left
    Q[:] = rows[:, :n]
    for k in range(count):
        _multiply(H, R, bounds[k], bounds[k + 1], blocks, sizes)
    return count
