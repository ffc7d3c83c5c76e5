# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Floquet multipliers from the transition matrices of the intervals, accurate where they are large or tiny.

Orthogonal iteration around the chain, G_j Q_j = Q_{j+1} R_j, tends to a periodic Schur form (Bojanczyk, Golub and Van
Dooren 1992): the products of the triangles' diagonals, summed as logarithms, give the multipliers. Those of comparable
size are computed together, as eigenvalues of one block; blocks do not disturb each other. Complex numbers are pairs.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs, sqrt
    from cython.cimports.libc.string import memset
    from cython.cimports.pfaff.kernels.arrays import numbers
    from cython.cimports.pfaff.kernels.chain import padded
    from cython.cimports.pfaff.kernels.condensation import add_row, sum_rows
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm, logarithm_of_one_more
    from cython.cimports.pfaff.kernels.linear import eigen, eigen_room, hypotenuse, ready

SWEEPS = cython.declare(cython.int, 40)
APART = cython.declare(cython.double, 2.302585092994046)  # log of the ratio of sizes of multipliers that are separable
SPREAD = cython.declare(cython.double, 6.907755278982137)  # that beyond which they are separated: rounding in a block
# is relative to its largest
ROUNDING = cython.declare(cython.double, 1e-11)  # coupling below this that no longer shrinks is rounding
TINY = cython.declare(cython.double, -36.841361487904734)  # multipliers with a smaller logarithm are separated ...
ENOUGH = cython.declare(cython.double, 1e-7)  # ... to this only
SMALLEST = cython.declare(cython.double, 1e-300)  # pivots below this make a triangle singular
ROUNDED = cython.declare(cython.double, 1e-14)  # relative imaginary parts that are rounding: pairs may split later
LARGEST = cython.declare(cython.double, 700.0)  # logarithms beyond this overflow


def _modulus(value):
    return hypotenuse(value[0], value[1])


def shrink(values, n):
    """Scaling Π 1/(1 + |μ|) that keeps functions such as Π(μ − 1) of order one, however large multipliers are."""
    total = 0.0
    for i in range(n):
        total += logarithm_of_one_more(_modulus(values + 2 * i))
    return exponential(-min(total, LARGEST))


def test(values, n, structural, room):
    """Test functions without the multipliers that are 1 by structure: how far those are from 1, how many others are
    unstable, and Π(1 + μ) and Π(μ_i μ_j − 1), each factor scaled, which change sign at flips and at tori. The room is
    of 2n numbers."""
    found: Tests
    left: cython.Py_ssize_t = n
    others = room
    found.far, found.unstable = 0.0, 0
    for i in range(2 * n):
        others[i] = values[i]
    for _ in range(structural):
        nearest: cython.Py_ssize_t = 0
        found.far = INFINITY
        for i in range(left):
            away = hypotenuse(others[2 * i] - 1, others[2 * i + 1])
            if not away >= found.far:
                nearest, found.far = i, away
        left -= 1
        for i in range(2 * nearest, 2 * left):
            others[i] = others[i + 2]
    flip, flip_i, torus, torus_i = 1.0, 0.0, 1.0, 0.0
    for i in range(left):
        a, b = others[2 * i], others[2 * i + 1]
        size = hypotenuse(a, b)
        if size > 1:
            found.unstable += 1
        c, d = (1 + a) / (1 + size), b / (1 + size)
        flip, flip_i = flip * c - flip_i * d, flip * d + flip_i * c
        for j in range(i + 1, left):
            c = a * others[2 * j] - b * others[2 * j + 1]
            d = a * others[2 * j + 1] + b * others[2 * j]
            size = hypotenuse(c, d)
            c, d = (c - 1) / (1 + size), d / (1 + size)
            torus, torus_i = torus * c - torus_i * d, torus * d + torus_i * c
    found.flip, found.torus = flip, torus
    return found


def spectrum_room(N, n):
    """How many numbers ``spectrum`` works on."""
    return 2 * N * n * n + 3 * n * padded(n) + 8 * n * n + 5 * n + 8 + eigen_room(n)


def spectrum(G, N, n, signs, units, Q, decoupled, values, room):
    """Fill in the multipliers, the largest first, of a pair the one above the real axis; Q is the basis of the
    iteration."""
    scaled, blocks = room, room + N * n * n
    block, sizes = blocks + n * n, blocks + 2 * n * n
    bounds = cython.cast(cython.pointer[cython.Py_ssize_t], sizes + n)
    rest = sizes + 2 * n + 1
    for j in range(N):
        for i in range(n):
            for t in range(n):
                scaled[(j * n + i) * n + t] = G[(j * n + i) * n + t] * units[i] / units[t]
    memset(blocks, 0, 8 * n * n)
    count = _blocks(scaled, N, n, signs, Q, decoupled, blocks, sizes, bounds, rest)
    for k in range(count):
        low, high = bounds[k], bounds[k + 1]
        for i in range(low, high):
            for t in range(low, high):
                block[(i - low) * (high - low) + t - low] = blocks[i * n + t]
        _eigenvalues(block, high - low, values + 2 * low, rest)
        factor = exponential(min(sizes[low], LARGEST))
        for i in range(2 * low, 2 * high):
            values[i] *= factor
    for i in range(1, n):
        a, b = values[2 * i], values[2 * i + 1]
        size = hypotenuse(a, b)
        at: cython.Py_ssize_t = i
        while at > 0:
            before = _modulus(values + 2 * at - 2)
            if not (size > before or (size == before and b > values[2 * at - 1])):
                break
            values[2 * at], values[2 * at + 1] = values[2 * at - 2], values[2 * at - 1]
            at -= 1
        values[2 * at], values[2 * at + 1] = a, b


def _eigenvalues(block, n, values, work):
    """Eigenvalues of a block; of one or two rows in closed form."""
    values[1] = 0.0
    if n == 1:
        values[0] = block[0]
    elif n == 2:
        a, b, c, d = block[0], block[1], block[2], block[3]
        half = (a + d) / 2
        square = ((a - d) / 2) * ((a - d) / 2) + b * c
        root = sqrt(fabs(square))
        if square < 0:
            values[0], values[1], values[2], values[3] = half, root, half, -root
        else:
            larger = half + root if half > 0 else half - root
            values[0], values[2], values[3] = larger, (a * d - b * c) / larger if larger != 0 else 0.0, 0.0
    else:
        eigen(
            block, n, cython.cast(cython.pointer[cython.doublecomplex], values), cython.NULL, cython.NULL, work
        )  # fmt: skip
        for i in range(n):
            if fabs(values[2 * i + 1]) < ROUNDED * _modulus(values + 2 * i):
                values[2 * i + 1] = 0.0


def _blocks(G, N, n, signs, Q, decoupled, blocks, sizes, bounds, room):
    """Sweep until Q is carried into itself as far as sizes separate it; returns the number of blocks, and where they
    begin.

    The blocks on the diagonal, times the exponential of their size, have the multipliers as eigenvalues.
    """
    wide = padded(n)
    R, H = room, room + N * n * n
    Q0, rows = H + n * n, H + 2 * n * n  # rows of Q, padded
    rest = rows + n * wide
    count: cython.Py_ssize_t = 1
    last = INFINITY
    memset(rows, 0, 8 * n * wide)
    for i in range(n):
        for t in range(n):
            rows[i * wide + t] = Q[i * n + t]
    for _ in range(SWEEPS):
        for i in range(n):
            for t in range(n):
                Q0[i * n + t] = rows[i * wide + t]
        _sweep(G, N, n, rows, wide, R, rest)
        for i in range(n):
            total = 0.0
            for j in range(N):
                total += logarithm(max(R[(j * n + i) * n + i], SMALLEST))
            sizes[i] = total
            for t in range(n):
                rows[i * wide + t] *= signs[i]
        for i in range(n):
            for t in range(n):
                total = 0.0
                for l in range(n):
                    total += Q0[l * n + i] * rows[l * wide + t]
                H[i * n + t] = total
        bounds[0], count = 0, 1
        left = 0.0
        for p in range(1, n):
            if sizes[p - 1] - sizes[p] > APART and sizes[bounds[count - 1]] - sizes[p] > SPREAD:
                bounds[count] = p
                count += 1
            for t in range(bounds[count - 1]):
                if sizes[t] > TINY or fabs(H[p * n + t]) > ENOUGH:
                    left = max(left, fabs(H[p * n + t]))
        bounds[count] = n
        if left < decoupled or (last / 2 < left < ROUNDING):
            break
        last = left
    for i in range(n):
        for t in range(n):
            Q[i * n + t] = rows[i * wide + t]
    for k in range(count):
        _multiply(H, R, N, n, bounds[k], bounds[k + 1], blocks, sizes, rest)
    return count


def _sweep(G, N, n, Q, wide, R, room):
    """Factorise G_j Q_j = Q_{j+1} R_j around the chain, R_j upper triangular with positive diagonal; Q becomes Q_N.
    Rows of Q are padded."""
    w, along, v = room, room + n * wide, room + (n + 1) * wide
    betas = v + n * n
    vectors = wide // 8
    for j in range(N):
        for i in range(n):
            sum_rows(w + wide * i, Q, G + n * (j * n + i), vectors, n, vectors)
        for p in range(n):
            betas[p] = _householder(w, wide, v, n, p)
            if betas[p] != 0.0:
                _reflect(w, wide, along, v, betas[p], p, n)
        for i in range(n):
            for t in range(n):
                Q[i * wide + t] = 1.0 if i == t else 0.0
        for p in range(n - 1, -1, -1):  # from the last: before it is still the unit matrix
            if betas[p] != 0.0:
                _reflect(Q, wide, along, v, betas[p], p, n)
        for i in range(n):
            flip = -1.0 if w[i * wide + i] < 0 else 1.0
            for t in range(n):
                R[(j * n + i) * n + t] = flip * w[i * wide + t] if t >= i else 0.0
                Q[t * wide + i] *= flip


def _reflect(at, wide, room, v, beta, low, n):
    """Apply the Householder reflection with this row of v, M − β v (v M), to the rows and columns from ``low`` on of a
    matrix of padded rows. Columns of the same vector before ``low`` hold nothing but rounding in these rows."""
    first = low // 8
    vectors = wide // 8
    sum_rows(
        room, at + 8 * first + wide * low, v + (n + 1) * low, vectors, n - low, vectors - first
    )  # fmt: skip
    for i in range(low, n):
        add_row(at + 8 * first + wide * i, room, -beta * v[low * n + i], vectors - first)


def _householder(w, wide, v, n, p):
    """The factor β of the reflection that clears a column of w below the diagonal, zero where it is clear; its vector
    is filled in as a row of v."""
    row = v + p * n
    below = 0.0
    for i in range(p, n):
        row[i] = w[i * wide + p]
        if i > p:
            below += row[i] * row[i]
    if below == 0.0:
        return 0.0
    norm = sqrt(below + row[p] * row[p])
    row[p] += norm if row[p] > 0 else -norm
    return 2.0 / (below + row[p] * row[p])


def _multiply(H, R, N, n, low, high, blocks, sizes, room):
    """A block of H times the blocks of all R, scaled to unit size; its size becomes the logarithm of the scale."""
    count = high - low
    product, following = room, room + count * count
    size = 0.0
    for i in range(count):
        for t in range(count):
            product[i * count + t] = 1.0 if i == t else 0.0
    for j in range(N + 1):
        by = (R + j * n * n if j < N else H) + low * (n + 1)
        scale = SMALLEST
        for i in range(count):
            for t in range(count):
                total = 0.0
                for l in range(count):
                    total += by[i * n + l] * product[l * count + t]
                following[i * count + t] = total
                scale = max(scale, fabs(total))
        for i in range(count * count):
            product[i] = following[i] / scale
        size += logarithm(scale)
    for i in range(count):
        sizes[low + i] = size
        for t in range(count):
            blocks[(low + i) * n + low + t] = product[i * count + t]


# For Python


def multipliers_of(G, signs, units, Q, decoupled: cython.double):
    """The multipliers of transition matrices, the largest first; Q, the basis of the iteration, is renewed."""
    ready()
    N, n = len(G), len(signs)
    values, room = np.empty(2 * n), np.empty(spectrum_room(N, n))
    spectrum(
        numbers(G, N * n * n), N, n, numbers(signs, n), numbers(units, n), numbers(Q, n * n), decoupled,
        numbers(values, 2 * n), numbers(room, len(room)),
    )  # fmt: skip
    return values.view(complex)


def shrunk(values):
    """Scaling Π 1/(1 + |μ|) that keeps functions such as Π(μ − 1) of order one, however large multipliers are."""
    return shrink(numbers(values.view(float), 2 * len(values)), len(values))


def test_functions(values, structural: cython.Py_ssize_t):
    """Test functions without the multipliers that are 1 by structure: how far those are from 1, how many others are
    unstable, and the products that change sign at flips and at tori."""
    n, room = len(values), np.empty(2 * len(values))
    found = test(numbers(values.view(float), 2 * n), n, structural, numbers(room, 2 * n))
    return found.far, found.unstable, found.flip, found.torus
