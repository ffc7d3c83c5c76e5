# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Characteristic polynomials of many small matrices at once, with functions of them that vanish where stability can
change, and the first roots of series.

Matrices and units are those of ``many_matrices``; coefficients are by power, the highest first, and points by columns.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.pfaff.kernels.many_matrices import determinant, exchange, factors_of, numbers

TINY = cython.declare(cython.double, 1e-300)  # so that quotients are finite
MARCHES = cython.declare(cython.int, 400)  # steps towards the first root of a series
SIGNLESS = cython.declare(cython.double, 1e-10)  # values below this, relative to the largest coefficient, have no sign
NOWHERE = cython.declare(cython.int, 0)  # what is known of a first root
FOUND = cython.declare(cython.int, 1)
UNRESOLVED = cython.declare(cython.int, 2)
SIGNLESS_AT_START = cython.declare(cython.int, 3)


def characteristics(J, n: cython.Py_ssize_t, zeros: cython.Py_ssize_t, scale, unit: cython.double, C, slack):
    """det(λ − A)/λ^zeros for every matrix, and how far the structural zeros are from zero."""
    many: cython.Py_ssize_t = J.shape[1]
    m: cython.Py_ssize_t = n - zeros
    if not 0 <= zeros < n:
        raise ValueError(f"{zeros} of {n} eigenvalues are zero")
    entries: cython.p_double = numbers(J, n * n * many)
    scales: cython.p_double = numbers(scale, n)
    found: cython.p_double = numbers(C, (m + 1) * many)
    far: cython.p_double = numbers(slack, many)
    room = np.empty(2 * n * n + (n + 1) * (n + 1))
    units: cython.p_double = numbers(room, 2 * n * n + (n + 1) * (n + 1))
    A: cython.p_double = units + n * n
    rows: cython.p_double = A + n * n
    c: cython.p_double = rows + n * (n + 1)  # the last row, with the lowest power first
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    most: cython.double
    with cython.nogil:
        factors_of(scales, n, unit, units)
        for k in range(many):
            for i in range(n * n):
                A[i] = entries[i * many + k] * units[i]
            characteristic(A, n, rows)
            most = 0.0
            for i in range(m + 1):
                found[i * many + k] = c[n - i]
            for i in range(zeros):
                most = max(most, fabs(c[i]))
            far[k] = most / (fabs(c[zeros]) + fabs(c[zeros + 1]) + TINY)


def characteristic(A, n, rows):
    """det(λ − A), the lowest power first, in the last of n + 1 rows: Hessenberg form by elimination, then its
    recurrence (Wilkinson 1965, Ch. 7). The matrix is lost."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    m: cython.Py_ssize_t
    pivot: cython.Py_ssize_t
    row: cython.p_double
    before: cython.p_double
    factor: cython.double
    product: cython.double
    for m in range(1, n - 1):
        pivot = m
        for i in range(m + 1, n):
            if fabs(A[i * n + m - 1]) > fabs(A[pivot * n + m - 1]):
                pivot = i
        if A[pivot * n + m - 1] == 0.0:
            continue
        if pivot != m:
            exchange(A + pivot * n, A + m * n, n)
            for i in range(n):
                exchange(A + i * n + pivot, A + i * n + m, 1)
        for i in range(m + 1, n):
            factor = A[i * n + m - 1] / A[m * n + m - 1]
            if factor != 0.0:
                for j in range(m - 1, n):
                    A[i * n + j] -= factor * A[m * n + j]
                for j in range(n):
                    A[j * n + m] += factor * A[j * n + i]
    rows[0] = 1.0
    for k in range(1, n + 1):
        before = rows + (k - 1) * (n + 1)
        row = before + n + 1
        row[0] = 0.0
        for j in range(k):
            row[j + 1] = before[j]
        for j in range(k):
            row[j] -= A[(k - 1) * n + k - 1] * before[j]
        product = 1.0
        for i in range(k - 1, 0, -1):
            product *= A[i * n + i - 1]
            factor = A[(i - 1) * n + k - 1] * product
            before = rows + (i - 1) * (n + 1)
            for j in range(i):
                row[j] -= factor * before[j]


def hurwitz(C, out):
    """D_{m−1}: up to a factor the product of all sums of two roots (Orlando)."""
    m: cython.Py_ssize_t = C.shape[0] - 1
    many: cython.Py_ssize_t = C.shape[1]
    c: cython.p_double = numbers(C, (m + 1) * many)
    found: cython.p_double = numbers(out, many)
    room = np.empty(m * m)
    H: cython.p_double = numbers(room, m * m)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    l: cython.Py_ssize_t
    with cython.nogil:
        if m == 4:
            for k in range(many):
                found[k] = (
                    c[many + k] * c[2 * many + k] * c[3 * many + k] - c[k] * c[3 * many + k] * c[3 * many + k]
                    - c[many + k] * c[many + k] * c[4 * many + k]
                )  # fmt: skip
        else:
            for k in range(many):
                for i in range(m - 1):
                    for j in range(m - 1):
                        l = 2 * i - j + 1
                        H[i * (m - 1) + j] = c[l * many + k] if 0 <= l <= m else 0.0
                found[k] = determinant(H, m - 1)


def discriminants(C, out):
    """Up to a factor the product of all squared differences of two roots, by Sylvester's determinant of p and p′."""
    m: cython.Py_ssize_t = C.shape[0] - 1
    many: cython.Py_ssize_t = C.shape[1]
    size: cython.Py_ssize_t = 2 * m - 1
    c: cython.p_double = numbers(C, (m + 1) * many)
    found: cython.p_double = numbers(out, many)
    room = np.empty(size * size)
    S: cython.p_double = numbers(room, size * size)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(many):
            for i in range(size * size):
                S[i] = 0.0
            for i in range(m - 1):
                for j in range(m + 1):
                    S[i * size + i + j] = c[j * many + k]
            for i in range(m):
                for j in range(m):
                    S[(m - 1 + i) * size + i + j] = (m - j) * c[j * many + k]
            found[k] = determinant(S, size)


def routh(C, unit: cython.double, square, stable):
    """ω² of a pair ±iω, where there is one, by the last but one row of Routh's array; and whether all roots are to the
    left."""
    m: cython.Py_ssize_t = C.shape[0] - 1
    many: cython.Py_ssize_t = C.shape[1]
    width: cython.Py_ssize_t = m // 2 + 2
    c: cython.p_double = numbers(C, (m + 1) * many)
    squares: cython.p_double = numbers(square, many)
    left = np.empty(many)
    good: cython.p_double = numbers(left, many)
    room = np.empty((m + 1) * width)
    table: cython.p_double = numbers(room, (m + 1) * width)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.p_double
    with cython.nogil:
        for k in range(many):
            for i in range((m + 1) * width):
                table[i] = 0.0
            for j in range(m + 1):
                table[j % 2 * width + j // 2] = c[j * many + k]
            good[k] = c[many + k] > 0.0
            for i in range(2, m + 1):
                row = table + i * width
                for j in range(width - 1):
                    row[j] = row[j + 1 - 2 * width] - row[-2 * width] * row[j + 1 - width] / row[-width]
                if not row[0] > 0.0:
                    good[k] = 0.0
            row = table + max(m - 2, 0) * width
            squares[k] = unit * unit * row[1] / row[0] if m > 1 else -1.0
    stable[:] = left > 0.0


def first_roots(values, to_series, tail: cython.double, kind, place):
    """Where a function, given at Chebyshev nodes of [−1, 1] column by column, first vanishes from the left.

    kind: 0 nowhere, 1 at ``place``, 2 not resolved by these nodes, 3 no sign at the left end. The march goes from −1 by
    steps within which a parabola with the largest curvature of the series stays on its side of zero: no root is stepped
    over.
    """
    K: cython.Py_ssize_t = values.shape[0]
    many: cython.Py_ssize_t = values.shape[1]
    given: cython.p_double = numbers(values, K * many)
    to_series = np.ascontiguousarray(to_series)
    matrix: cython.p_double = numbers(to_series, K * K)
    kinds: cython.p_longlong = cython.cast(cython.p_longlong, numbers(kind, many))
    places: cython.p_double = numbers(place, many)
    room = np.empty(10 * K + 1)
    c: cython.p_double = numbers(room, 10 * K + 1)  # of eight points
    one: cython.p_double = c + 8 * K
    slope: cython.p_double = one + K
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    first: cython.Py_ssize_t
    with cython.nogil:
        for first in range(0, many, 8):
            _series(given + first, matrix, K, many, min(many - first, 8), c)
            for k in range(min(many - first, 8)):
                for i in range(K):
                    one[i] = c[8 * i + k]
                kinds[first + k] = _first_root(one, slope, K, tail, places + first + k)


def _series(values, matrix, K, apart, count, c):
    """Series of up to eight functions, whose coefficients are neighbours."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    l: cython.Py_ssize_t
    here = cython.declare(cython.double[8])
    by: cython.double
    for i in range(8 * K):
        c[i] = 0.0
    for l in range(8):
        here[l] = 0.0
    for j in range(K):
        for l in range(count):
            here[l] = values[j * apart + l]
        for i in range(K):
            by = matrix[i * K + j]
            for l in range(8):
                c[8 * i + l] += by * here[l]


def _first_root(c, d, K, tail, place):
    i: cython.Py_ssize_t
    step: cython.int
    value: cython.double
    slope: cython.double
    root: cython.double
    largest: cython.double = 0.0
    bend: cython.double = 0.0
    s: cython.double = -1.0
    sign: cython.double = 0.0
    place[0] = -1.0
    for i in range(K):
        largest = fabs(c[i]) if fabs(c[i]) > largest else largest
    if not largest > 0.0 or not max(fabs(c[K - 1]), fabs(c[K - 2])) <= tail * largest:
        return UNRESOLVED
    for i in range(2, K):
        bend += fabs(c[i]) * i * i * (i * i - 1.0) / 3.0
    d[K] = d[K - 1] = 0.0
    for i in range(K - 1, 0, -1):  # of the derivative
        d[i - 1] = (d[i + 1] if i + 1 <= K - 1 else 0.0) + 2.0 * i * c[i]
    d[0] *= 0.5
    for step in range(MARCHES):
        value, slope = _clenshaw(c, K, s), _clenshaw(d, K - 1, s)
        if step == 0:
            sign = 1.0 if value > 0.0 else -1.0
            if fabs(value) <= SIGNLESS * largest:
                return SIGNLESS_AT_START
        value, slope = sign * value, sign * slope
        if value <= SIGNLESS * largest:
            place[0] = s - value / slope if slope < 0.0 else s
            return FOUND if slope < 0.0 and value < -slope * 1e-3 else SIGNLESS_AT_START
        root = sqrt(slope * slope + 2.0 * bend * value)
        s += 2.0 * value / (root - slope) if root > slope else 2.0
        if s >= 1.0:
            return NOWHERE
    return UNRESOLVED


def _clenshaw(c, size, s):
    i: cython.Py_ssize_t
    b: cython.double
    b1: cython.double = 0.0
    b2: cython.double = 0.0
    for i in range(size - 1, 0, -1):
        b = c[i] + 2.0 * s * b1 - b2
        b2 = b1
        b1 = b
    return c[0] + s * b1 - b2
