"""Small dense linear algebra for many matrices at once, compiled: what LAPACK is too slow for, one call each.

Matrices come as the flow gives them, entries by rows and points by columns. All are taken in the balanced units of
one reference
matrix (``scale``) and of one frequency (``unit``), so that coefficients are of order one.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.sealed import kept

compiled = kept(fastmath={"contract", "nsz"}, error_model="numpy")
MARCHES = 400  # steps towards the first root of a series
NOISE = 1e-10  # of the largest coefficient: values below it have no sign
TINY, SMALLEST = 1e-300, 1e-140  # so that quotients, and squares, are finite
ROUNDING = 1.1e-16  # of every term of a matrix element


@compiled
def _local(J, k, n, scale, unit, A):
    for i in range(n):
        for j in range(n):
            A[i, j] = J[i * n + j, k] * scale[j] / (scale[i] * unit)


@compiled
def _characteristic(A, n, rows, c):
    """det(λ − A), highest power first in c: Hessenberg form by elimination, then its recurrence (Wilkinson 1965, Ch.
    7)."""
    for m in range(1, n - 1):
        pivot = m
        for i in range(m + 1, n):
            if abs(A[i, m - 1]) > abs(A[pivot, m - 1]):
                pivot = i
        if A[pivot, m - 1] == 0.0:
            continue
        if pivot != m:
            for j in range(n):
                A[pivot, j], A[m, j] = A[m, j], A[pivot, j]
            for i in range(n):
                A[i, pivot], A[i, m] = A[i, m], A[i, pivot]
        for i in range(m + 1, n):
            factor = A[i, m - 1] / A[m, m - 1]
            if factor != 0.0:
                for j in range(m - 1, n):
                    A[i, j] -= factor * A[m, j]
                for j in range(n):
                    A[j, m] += factor * A[j, i]
    rows[0, 0] = 1.0  # lowest power first here
    for k in range(1, n + 1):
        for j in range(k + 1):
            rows[k, j] = 0.0
        for j in range(k):
            rows[k, j + 1] += rows[k - 1, j]
            rows[k, j] -= A[k - 1, k - 1] * rows[k - 1, j]
        product = 1.0
        for i in range(k - 1, 0, -1):
            product *= A[i, i - 1]
            factor = A[i - 1, k - 1] * product
            for j in range(i):
                rows[k, j] -= factor * rows[i - 1, j]
    for j in range(n + 1):
        c[j] = rows[n, n - j]


@compiled
def _hurwitz(c, m, H):
    """D_{m−1} of c[0] … c[m]: up to a factor the product of all sums of two roots (Orlando)."""
    if m == 4:
        return c[1] * c[2] * c[3] - c[0] * c[3] * c[3] - c[1] * c[1] * c[4]
    size = m - 1
    for i in range(size):
        for j in range(size):
            k = 2 * i - j + 1
            H[i, j] = c[k] if 0 <= k <= m else 0.0
    det = 1.0
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(H[i, k]) > abs(H[pivot, k]):
                pivot = i
        if H[pivot, k] == 0.0:
            return 0.0
        if pivot != k:
            det = -det
            for j in range(k, size):
                H[pivot, j], H[k, j] = H[k, j], H[pivot, j]
        det *= H[k, k]
        for i in range(k + 1, size):
            factor = H[i, k] / H[k, k]
            for j in range(k + 1, size):
                H[i, j] -= factor * H[k, j]
    return det


@compiled
def tests(J, n, zeros, scale, unit, hopf, zero, slack):
    """At every matrix: D_{m−1}, the last coefficient, and how far the structural zeros are from being so."""
    A, rows, c, H = np.empty((n, n)), np.zeros((n + 1, n + 1)), np.empty(n + 1), np.empty((n, n))
    m = n - zeros
    for k in range(J.shape[1]):
        _local(J, k, n, scale, unit, A)
        _characteristic(A, n, rows, c)
        hopf[k] = _hurwitz(c, m, H) if m > 1 else 1.0
        zero[k] = c[m]
        most = 0.0
        for j in range(m + 1, n + 1):
            most = max(most, abs(c[j]))
        slack[k] = most / (abs(c[m]) + abs(c[m - 1]) + TINY)


@compiled
def routh(J, n, zeros, scale, unit, square, stable):
    """Of every matrix with a pair ±iω: ω² by the last but one row of Routh's array; and whether all roots are to the
    left."""
    A, rows, c = np.empty((n, n)), np.zeros((n + 1, n + 1)), np.empty(n + 1)
    m = n - zeros
    width = m // 2 + 2
    table = np.zeros((m + 1, width))
    for k in range(J.shape[1]):
        _local(J, k, n, scale, unit, A)
        _characteristic(A, n, rows, c)
        table[:] = 0.0
        for j in range(m + 1):
            table[j % 2, j // 2] = c[j]
        good = c[1] > 0.0
        for i in range(2, m + 1):
            for j in range(width - 1):
                table[i, j] = table[i - 2, j + 1] - table[i - 2, 0] * table[i - 1, j + 1] / table[i - 1, 0]
            good = good and table[i, 0] > 0.0
        square[k] = unit * unit * table[m - 2, 1] / table[m - 2, 0]
        stable[k] = good


@compiled
def first_roots(values, to_series, tail, kind, place):
    """Where a function, given at Chebyshev nodes of [−1, 1] column by column, first vanishes from the left.

    kind: 0 nowhere, 1 at ``place``, 2 not resolved by so many nodes, 3 no sign at the left end. The march goes from
    −1 by steps
    within which a parabola with the largest curvature of the series stays on its side of zero: no root is stepped over.
    """
    K = values.shape[0]
    c, d = np.empty(K), np.empty(K + 1)
    for k in range(values.shape[1]):
        largest = 0.0
        for i in range(K):
            total = 0.0
            for j in range(K):
                total += to_series[i, j] * values[j, k]
            c[i] = total
            largest = max(largest, abs(total))
        kind[k] = 2
        place[k] = -1.0
        if not largest > 0.0 or not max(abs(c[K - 1]), abs(c[K - 2])) <= tail * largest:
            continue
        bend = 0.0
        for i in range(2, K):
            bend += abs(c[i]) * i * i * (i * i - 1.0) / 3.0
        d[K], d[K - 1] = 0.0, 0.0
        for i in range(K - 1, 0, -1):  # of the derivative
            d[i - 1] = (d[i + 1] if i + 1 <= K - 1 else 0.0) + 2.0 * i * c[i]
        d[0] *= 0.5
        s, sign = -1.0, 0.0
        for step in range(MARCHES):
            value, slope = _clenshaw(c, K, s), _clenshaw(d, K - 1, s)
            if step == 0:
                sign = 1.0 if value > 0 else -1.0
                if abs(value) <= NOISE * largest:
                    kind[k] = 3
                    break
            value, slope = sign * value, sign * slope
            if value <= NOISE * largest:
                kind[k] = 1 if slope < 0.0 and value < -slope * 1e-3 else 3
                place[k] = s - value / slope if slope < 0.0 else s
                break
            root = np.sqrt(slope * slope + 2.0 * bend * value)
            ahead = 2.0 * value / (root - slope) if root > slope else 2.0
            s += ahead
            if s >= 1.0:
                kind[k] = 0
                break


@compiled
def _clenshaw(c, size, s):
    b1, b2 = 0.0, 0.0
    for i in range(size - 1, 0, -1):
        b1, b2 = c[i] + 2.0 * s * b1 - b2, b1
    return c[0] + s * b1 - b2


@compiled
def _size(z):
    """|Re| + |Im|, which is as good as |z| for pivots and units, and takes no root."""
    return abs(z.real) + abs(z.imag)


@compiled
def _factored(A, n, swaps, small):
    """LU with pivots, in place; pivots that vanish are made small, and their reciprocals stand on the diagonal."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if _size(A[i, k]) > _size(A[pivot, k]):
                pivot = i
        swaps[k] = pivot
        if pivot != k:
            for j in range(n):
                A[pivot, j], A[k, j] = A[k, j], A[pivot, j]
        if _size(A[k, k]) < small:
            A[k, k] = small
        square = A[k, k].real * A[k, k].real + A[k, k].imag * A[k, k].imag
        A[k, k] = np.conj(A[k, k]) * (1.0 / square)
        for i in range(k + 1, n):
            A[i, k] *= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


@compiled
def _solved(A, n, swaps, b):
    for k in range(n):
        if swaps[k] != k:
            b[swaps[k]], b[k] = b[k], b[swaps[k]]
    for k in range(n):
        for i in range(k + 1, n):
            b[i] -= A[i, k] * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] *= A[k, k]


@compiled
def _solved_adjoint(A, n, swaps, b):
    for k in range(n):
        for j in range(k):
            b[k] -= np.conj(A[j, k]) * b[j]
        b[k] *= np.conj(A[k, k])
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            b[k] -= np.conj(A[i, k]) * b[i]
    for k in range(n - 1, -1, -1):
        if swaps[k] != k:
            b[swaps[k]], b[k] = b[k], b[swaps[k]]


@compiled
def eigenpairs(J, n, scale, unit, shift, value, q, p, error):
    """The eigenvalue next to a shift, with ⟨q, q⟩ = ⟨p, q⟩ = 1 in the flow's own states, by inverse iteration with
    both vectors.

    ``error`` is what rounding may move it by.
    """
    A, L, swaps = np.empty((n, n)), np.empty((n, n), dtype=np.complex128), np.empty(n, dtype=np.int64)
    x, y = np.empty(n, dtype=np.complex128), np.empty(n, dtype=np.complex128)
    for k in range(J.shape[1]):
        _local(J, k, n, scale, unit, A)
        size = 0.0
        for i in range(n):
            row = 0.0
            for j in range(n):
                L[i, j] = A[i, j]
                row += abs(A[i, j])
            L[i, i] -= shift[k] / unit
            size = max(size, row)
            x[i], y[i] = 1.0 + 0.1 * i, 1.0 - 0.2 * i
        _factored(L, n, swaps, 1e-16 * size + SMALLEST)
        for _ in range(2):
            _solved(L, n, swaps, x)
            _solved_adjoint(L, n, swaps, y)
            _normed(x, n)
            _normed(y, n)
        above, below, terms = 0.0j, 0.0j, 0.0
        for i in range(n):
            image, usual = 0.0j, 0.0
            for j in range(n):
                image += A[i, j] * x[j]
                usual += abs(A[i, j]) * _size(x[j])
            above += np.conj(y[i]) * image
            terms += _size(y[i]) * usual
            below += np.conj(y[i]) * x[i]
        value[k] = unit * above / below
        error[k] = ROUNDING * terms * unit / (abs(below) + TINY)
        length = 0.0
        for i in range(n):
            q[i, k] = x[i] * scale[i]
            length += q[i, k].real ** 2 + q[i, k].imag ** 2
        length = np.sqrt(length)
        inner = 0.0j
        for i in range(n):
            q[i, k] *= 1.0 / length
            p[i, k] = y[i] / scale[i]
            inner += np.conj(p[i, k]) * q[i, k]
        inner = 1.0 / np.conj(inner)
        for i in range(n):
            p[i, k] *= inner


@compiled
def _normed(x, n):
    most = 0.0
    for i in range(n):
        most = max(most, _size(x[i]))
    for i in range(n):
        x[i] *= 1.0 / most


@compiled
def solve_many(J, n, scale, unit, shift, columns, rows, right, x):
    """x with (J − shift) x = right (up to border columns) and rows·x = 0, for every matrix."""
    b = columns.shape[1]
    size = n + b
    A, L, swaps = np.empty((n, n)), np.empty((size, size), dtype=np.complex128), np.empty(size, dtype=np.int64)
    y = np.empty(size, dtype=np.complex128)
    for k in range(J.shape[1]):
        _local(J, k, n, scale, unit, A)
        for i in range(size):
            for j in range(size):
                L[i, j] = 0.0
        for i in range(n):
            for j in range(n):
                L[i, j] = A[i, j]
            L[i, i] -= shift[k] / unit
            y[i] = right[i, k] / (scale[i] * unit)
            for j in range(b):
                L[i, n + j] = columns[i, j] / scale[i]
                L[n + j, i] = rows[j, i] * scale[i]
        for j in range(b):
            y[n + j] = 0.0
        _factored(L, size, swaps, SMALLEST)
        _solved(L, size, swaps, y)
        for i in range(n):
            x[i, k] = y[i] * scale[i]


@compiled
def products(J, n, p, q, out):
    """⟨p, J q⟩ for every matrix."""
    for k in range(J.shape[1]):
        total = 0.0j
        for i in range(n):
            row = 0.0j
            for j in range(n):
                row += J[i * n + j, k] * q[j, k]
            total += np.conj(p[i, k]) * row
        out[k] = total
