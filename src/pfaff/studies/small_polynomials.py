"""Characteristic polynomials of many small matrices at once, compiled, with functions of them that vanish where
stability can change.

Matrices and units are those of ``small_matrices``; coefficients are by power, the highest first, and points by columns.
"""

from __future__ import annotations

import numpy as np

from pfaff.studies.small_matrices import TINY, compiled, local

REGULAR = 1e-300  # pivots below this are zeros
MARCHES = 400  # steps towards the first root of a series
SIGNLESS = 1e-10  # values below this, relative to the largest coefficient, have no sign


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
    rows[0, 0] = 1.0  # here the lowest power comes first
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
def _determinant(H, size):
    """A determinant by elimination with partial pivoting, in place."""
    det = 1.0
    for p in range(size):
        pivot = p
        for i in range(p + 1, size):
            if abs(H[i, p]) > abs(H[pivot, p]):
                pivot = i
        if not abs(H[pivot, p]) > REGULAR:
            return 0.0
        if pivot != p:
            det = -det
            for t in range(p, size):
                H[p, t], H[pivot, t] = H[pivot, t], H[p, t]
        inverse = 1.0 / H[p, p]
        for i in range(p + 1, size):
            factor = H[i, p] * inverse
            if factor != 0.0:
                for t in range(p, size):
                    H[i, t] -= factor * H[p, t]
        det *= H[p, p]
    return det


@compiled
def characteristics(J, n, zeros, scale, unit, C, slack):
    """det(λ − A)/λ^zeros for every matrix, and how far the structural zeros are from zero."""
    A, rows, c = np.empty((n, n)), np.zeros((n + 1, n + 1)), np.empty(n + 1)
    m = n - zeros
    for k in range(J.shape[1]):
        local(J, k, n, scale, unit, A)
        _characteristic(A, n, rows, c)
        most = 0.0
        for j in range(m + 1):
            C[j, k] = c[j]
        for j in range(m + 1, n + 1):
            most = max(most, abs(c[j]))
        slack[k] = most / (abs(c[m]) + abs(c[m - 1]) + TINY)


@compiled
def hurwitz(C, out):
    """D_{m−1}: up to a factor the product of all sums of two roots (Orlando)."""
    m = C.shape[0] - 1
    H = np.empty((m, m))
    for k in range(C.shape[1]):
        if m == 4:
            a, b, c, d, e = C[0, k], C[1, k], C[2, k], C[3, k], C[4, k]
            out[k] = b * c * d - a * d * d - b * b * e
            continue
        for i in range(m - 1):
            for j in range(m - 1):
                l = 2 * i - j + 1
                H[i, j] = C[l, k] if 0 <= l <= m else 0.0
        out[k] = _determinant(H, m - 1)


@compiled
def discriminants(C, out):
    """Up to a factor the product of all squared differences of two roots, by Sylvester's determinant of p and p′."""
    m = C.shape[0] - 1
    size = 2 * m - 1
    S = np.empty((size, size))
    for k in range(C.shape[1]):
        for i in range(size):
            for j in range(size):
                S[i, j] = 0.0
        for i in range(m - 1):
            for j in range(m + 1):
                S[i, i + j] = C[j, k]
        for i in range(m):
            for j in range(m):
                S[m - 1 + i, i + j] = (m - j) * C[j, k]
        out[k] = _determinant(S, size)


@compiled
def routh(C, unit, square, stable):
    """ω² of a pair ±iω, where there is one, by the last but one row of Routh's array; and whether all roots are to the
    left."""
    m = C.shape[0] - 1
    width = m // 2 + 2
    table = np.zeros((m + 1, width))
    for k in range(C.shape[1]):
        table[:] = 0.0
        for j in range(m + 1):
            table[j % 2, j // 2] = C[j, k]
        good = C[1, k] > 0.0
        for i in range(2, m + 1):
            for j in range(width - 1):
                table[i, j] = table[i - 2, j + 1] - table[i - 2, 0] * table[i - 1, j + 1] / table[i - 1, 0]
            good = good and table[i, 0] > 0.0
        square[k] = unit * unit * table[m - 2, 1] / table[m - 2, 0] if m > 1 else -1.0
        stable[k] = good


@compiled
def first_roots(values, to_series, tail, kind, place):
    """Where a function, given at Chebyshev nodes of [−1, 1] column by column, first vanishes from the left.

    kind: 0 nowhere, 1 at ``place``, 2 not resolved by these nodes, 3 no sign at the left end. The march goes from −1 by
    steps within which a parabola with the largest curvature of the series stays on its side of zero: no root is stepped
    over.
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
                if abs(value) <= SIGNLESS * largest:
                    kind[k] = 3
                    break
            value, slope = sign * value, sign * slope
            if value <= SIGNLESS * largest:
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
