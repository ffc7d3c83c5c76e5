# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Many small matrices at once: eigenvalues and solutions, and characteristic polynomials with functions of them that
vanish where stability can change. LAPACK is too slow with one call each.

Entries are by rows and points by columns. All matrices are taken in the balanced units of one reference matrix
(``scale``) and of one frequency (``unit``), so that coefficients are of order one. Coefficients of polynomials are by
power, the highest first.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer, PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer,
    )  # fmt: skip
    from cython.cimports.libc.math import INFINITY, fabs, sqrt

TINY = cython.declare(cython.double, 1e-300)  # so that quotients ...
SMALLEST = cython.declare(cython.double, 1e-140)  # ... and squares are finite
ROUNDING = cython.declare(cython.double, 1.1e-16)  # of every term of a matrix element
MARCHES = cython.declare(cython.int, 400)  # steps towards the first root of a series
SIGNLESS = cython.declare(cython.double, 1e-10)  # values below this, relative to the largest coefficient, have no sign
NOWHERE = cython.declare(cython.int, 0)  # what is known of a first root
FOUND = cython.declare(cython.int, 1)
UNRESOLVED = cython.declare(cython.int, 2)
SIGNLESS_AT_START = cython.declare(cython.int, 3)


def _numbers(array, count):
    """Where an array of this many doubles, or half as many complex numbers, begins."""
    view = cython.declare(Py_buffer)
    PyObject_GetBuffer(array, cython.address(view), PyBUF_C_CONTIGUOUS)
    at: cython.p_void = view.buf
    length: cython.Py_ssize_t = view.len
    PyBuffer_Release(cython.address(view))
    if length != 8 * count:
        raise ValueError(f"{count} numbers row by row are expected, not {array.dtype}{array.shape}")
    return cython.cast(cython.p_double, at)


# Complex numbers


def _size(z):
    """|Re| + |Im|, which is as good as |z| for pivots and units, and needs no root."""
    return fabs(z[0]) + fabs(z[1])


def _times(out, a, b):
    re: cython.double = a[0] * b[0] - a[1] * b[1]
    out[1] = a[0] * b[1] + a[1] * b[0]
    out[0] = re


def _less(out, a, b):
    """out − a b."""
    out[0] -= a[0] * b[0] - a[1] * b[1]
    out[1] -= a[0] * b[1] + a[1] * b[0]


def _less_adjoint(out, a, b):
    """out − ā b."""
    out[0] -= a[0] * b[0] + a[1] * b[1]
    out[1] -= a[0] * b[1] - a[1] * b[0]


def _over(out, a, b):
    """a/b (Smith 1962)."""
    ratio: cython.double
    below: cython.double
    re: cython.double
    if fabs(b[0]) >= fabs(b[1]):
        ratio = b[1] / b[0]
        below = b[0] + b[1] * ratio
        re = (a[0] + a[1] * ratio) / below
        out[1] = (a[1] - a[0] * ratio) / below
    else:
        ratio = b[0] / b[1]
        below = b[0] * ratio + b[1]
        re = (a[0] * ratio + a[1]) / below
        out[1] = (a[1] * ratio - a[0]) / below
    out[0] = re


# Elimination


def _exchange(a, b, count):
    i: cython.Py_ssize_t
    kept: cython.double
    for i in range(count):
        kept = a[i]
        a[i] = b[i]
        b[i] = kept


def triangulated(A, height, width):
    """Elimination with partial pivoting, in place, of a matrix that may be wider than high; returns the sign of the
    permutation, zero where there is no pivot."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    pivot: cython.Py_ssize_t
    upper: cython.p_double
    row: cython.p_double
    inverse: cython.double
    factor: cython.double
    sign: cython.double = 1.0
    for k in range(height):
        pivot = k
        for i in range(k + 1, height):
            if fabs(A[i * width + k]) > fabs(A[pivot * width + k]):
                pivot = i
        if not fabs(A[pivot * width + k]) > SMALLEST:
            return 0.0
        upper = A + k * width
        if pivot != k:
            sign = -sign
            _exchange(upper + k, A + pivot * width + k, width - k)
        inverse = 1.0 / upper[k]
        for i in range(k + 1, height):
            row = A + i * width
            factor = row[k] * inverse
            if factor != 0.0:
                for j in range(k, width):
                    row[j] -= factor * upper[j]
    return sign


def _determinant(H, size):
    """A determinant, of a matrix that is lost."""
    k: cython.Py_ssize_t
    determinant: cython.double = triangulated(H, size, size)
    for k in range(size):
        determinant *= H[k * size + k]
    return determinant


def factored(A, n, swaps, small):
    """LU of a complex matrix with pivots, in place; vanishing pivots are made small, and their reciprocals are stored
    on the diagonal."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    pivot: cython.Py_ssize_t
    upper: cython.p_double
    row: cython.p_double
    inverse: cython.double
    re: cython.double
    im: cython.double
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if _size(A + 2 * (i * n + k)) > _size(A + 2 * (pivot * n + k)):
                pivot = i
        swaps[k] = pivot
        upper = A + 2 * k * n
        if pivot != k:
            _exchange(upper, A + 2 * pivot * n, 2 * n)
        if _size(upper + 2 * k) < small:
            upper[2 * k], upper[2 * k + 1] = small, 0.0
        inverse = 1.0 / (upper[2 * k] * upper[2 * k] + upper[2 * k + 1] * upper[2 * k + 1])
        upper[2 * k] *= inverse
        upper[2 * k + 1] *= -inverse
        for i in range(k + 1, n):
            row = A + 2 * i * n
            _times(row + 2 * k, row + 2 * k, upper + 2 * k)
            re, im = row[2 * k], row[2 * k + 1]
            for j in range(k + 1, n):
                row[2 * j] -= re * upper[2 * j] - im * upper[2 * j + 1]
                row[2 * j + 1] -= re * upper[2 * j + 1] + im * upper[2 * j]


def solved(A, n, swaps, b):
    """The solution with a factored matrix, which replaces the right side."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for k in range(n):
        if swaps[k] != k:
            _exchange(b + 2 * k, b + 2 * swaps[k], 2)
    for k in range(n):
        for i in range(k + 1, n):
            _less(b + 2 * i, A + 2 * (i * n + k), b + 2 * k)
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            _less(b + 2 * k, A + 2 * (k * n + j), b + 2 * j)
        _times(b + 2 * k, b + 2 * k, A + 2 * (k * n + k))


def solved_adjoint(A, n, swaps, b):
    """The same with the adjoint matrix."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    conjugate = cython.declare(cython.double[2])
    for k in range(n):
        for j in range(k):
            _less_adjoint(b + 2 * k, A + 2 * (j * n + k), b + 2 * j)
        conjugate[0], conjugate[1] = A[2 * (k * n + k)], -A[2 * (k * n + k) + 1]
        _times(b + 2 * k, b + 2 * k, conjugate)
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            _less_adjoint(b + 2 * k, A + 2 * (i * n + k), b + 2 * i)
    for k in range(n - 1, -1, -1):
        if swaps[k] != k:
            _exchange(b + 2 * k, b + 2 * swaps[k], 2)


def _units(scale, n, unit, units):
    """What the entries of a matrix are multiplied by."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    of_row: cython.double
    for i in range(n):
        of_row = 1.0 / (scale[i] * unit)
        for j in range(n):
            units[i * n + j] = scale[j] * of_row


# Eigenvalues and solutions


def eigenpairs(J, n: cython.Py_ssize_t, scale, unit: cython.double, shift, value, q, p, error):
    """The eigenvalue nearest to a shift, with ⟨q, q⟩ = ⟨p, q⟩ = 1 in the flow's own states, by inverse iteration with
    both vectors.

    ``error`` is its uncertainty due to rounding.
    """
    many: cython.Py_ssize_t = J.shape[1]
    entries: cython.p_double = _numbers(J, n * n * many)
    scales: cython.p_double = _numbers(scale, n)
    shifts: cython.p_double = _numbers(shift, 2 * many)
    values: cython.p_double = _numbers(value, 2 * many)
    right: cython.p_double = _numbers(q, 2 * n * many)
    left: cython.p_double = _numbers(p, 2 * n * many)
    errors: cython.p_double = _numbers(error, many)
    room = np.empty(4 * n * n + 4 * n)
    units: cython.p_double = _numbers(room, 4 * n * n + 4 * n)
    A: cython.p_double = units + n * n
    L: cython.p_double = A + n * n
    x: cython.p_double = L + 2 * n * n
    y: cython.p_double = x + 2 * n
    places = np.empty(n, dtype=np.intp)
    swaps: cython.pointer[cython.Py_ssize_t] = cython.cast(cython.pointer[cython.Py_ssize_t], _numbers(places, n))
    at = cython.declare(cython.double[2])
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        _units(scales, n, unit, units)
        for k in range(many):
            for i in range(n * n):
                A[i] = entries[i * many + k] * units[i]
            at[0], at[1] = shifts[2 * k] / unit, shifts[2 * k + 1] / unit
            _eigenpair(A, n, at, L, swaps, x, y, values + 2 * k, errors + k)
            values[2 * k] *= unit
            values[2 * k + 1] *= unit
            errors[k] *= unit
            _in_states(x, y, n, scales, right + 2 * k, left + 2 * k, 2 * many)


def _eigenpair(A, n, shift, L, swaps, x, y, value, error):
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    row: cython.double
    re: cython.double
    im: cython.double
    usual: cython.double
    size: cython.double = 0.0
    terms: cython.double = 0.0
    above = cython.declare(cython.double[2])
    below = cython.declare(cython.double[2])
    above[0] = above[1] = below[0] = below[1] = 0.0
    for i in range(n):
        row = 0.0
        for j in range(n):
            L[2 * (i * n + j)], L[2 * (i * n + j) + 1] = A[i * n + j], 0.0
            row += fabs(A[i * n + j])
        L[2 * (i * n + i)] -= shift[0]
        L[2 * (i * n + i) + 1] -= shift[1]
        size = row if row > size else size
        x[2 * i], x[2 * i + 1] = 1.0 + 0.1 * i, 0.0
        y[2 * i], y[2 * i + 1] = 1.0 - 0.2 * i, 0.0
    factored(L, n, swaps, 1e-16 * size + SMALLEST)
    for i in range(2):
        solved(L, n, swaps, x)
        solved_adjoint(L, n, swaps, y)
        _normed(x, n)
        _normed(y, n)
    for i in range(n):
        re, im, usual = 0.0, 0.0, 0.0
        for j in range(n):
            re += A[i * n + j] * x[2 * j]
            im += A[i * n + j] * x[2 * j + 1]
            usual += fabs(A[i * n + j]) * _size(x + 2 * j)
        above[0] += y[2 * i] * re + y[2 * i + 1] * im
        above[1] += y[2 * i] * im - y[2 * i + 1] * re
        below[0] += y[2 * i] * x[2 * i] + y[2 * i + 1] * x[2 * i + 1]
        below[1] += y[2 * i] * x[2 * i + 1] - y[2 * i + 1] * x[2 * i]
        terms += _size(y + 2 * i) * usual
    _over(value, above, below)
    error[0] = ROUNDING * terms / (sqrt(below[0] * below[0] + below[1] * below[1]) + TINY)


def _normed(x, n):
    i: cython.Py_ssize_t
    most: cython.double = 0.0
    for i in range(n):
        most = _size(x + 2 * i) if _size(x + 2 * i) > most else most
    most = 1.0 / most
    for i in range(2 * n):
        x[i] *= most


def _in_states(x, y, n, scale, q, p, apart):
    """Both vectors in the flow's own states, with ⟨q, q⟩ = ⟨p, q⟩ = 1."""
    i: cython.Py_ssize_t
    length: cython.double = 0.0
    inner = cython.declare(cython.double[2])
    one = cython.declare(cython.double[2])
    one[0], one[1] = 1.0, 0.0
    inner[0] = inner[1] = 0.0
    for i in range(n):
        x[2 * i] *= scale[i]
        x[2 * i + 1] *= scale[i]
        length += x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1]
    length = 1.0 / sqrt(length)
    for i in range(n):
        q[i * apart], q[i * apart + 1] = x[2 * i] * length, x[2 * i + 1] * length
        y[2 * i] /= scale[i]
        y[2 * i + 1] /= scale[i]
        inner[0] += y[2 * i] * q[i * apart] + y[2 * i + 1] * q[i * apart + 1]
        inner[1] += y[2 * i] * q[i * apart + 1] - y[2 * i + 1] * q[i * apart]
    inner[1] = -inner[1]
    _over(inner, one, inner)
    for i in range(n):
        _times(p + i * apart, y + 2 * i, inner)


def solve_many(J, n: cython.Py_ssize_t, scale, unit: cython.double, shift, columns, rows, right, x):
    """x with (J − shift) x = right (up to border columns) and rows·x = 0, for every matrix."""
    many: cython.Py_ssize_t = J.shape[1]
    b: cython.Py_ssize_t = columns.shape[1]
    size: cython.Py_ssize_t = n + b
    entries: cython.p_double = _numbers(J, n * n * many)
    scales: cython.p_double = _numbers(scale, n)
    shifts: cython.p_double = _numbers(shift, 2 * many)
    columns, rows = np.ascontiguousarray(columns), np.ascontiguousarray(rows)
    border: cython.p_double = _numbers(columns, n * b)
    below: cython.p_double = _numbers(rows, b * n)
    right = np.ascontiguousarray(right, dtype=complex)
    given: cython.p_double = _numbers(right, 2 * n * many)
    found: cython.p_double = _numbers(x, 2 * n * many)
    room = np.empty(n * n + 2 * size * (size + 1))
    units: cython.p_double = _numbers(room, n * n + 2 * size * (size + 1))
    L: cython.p_double = units + n * n
    y: cython.p_double = L + 2 * size * size
    places = np.empty(size, dtype=np.intp)
    swaps: cython.pointer[cython.Py_ssize_t] = cython.cast(cython.pointer[cython.Py_ssize_t], _numbers(places, size))
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.p_double
    of_row: cython.double
    with cython.nogil:
        _units(scales, n, unit, units)
        for k in range(many):
            for i in range(2 * size * size):
                L[i] = 0.0
            for i in range(n):
                row = L + 2 * i * size
                of_row = scales[i] * unit
                for j in range(n):
                    row[2 * j] = entries[(i * n + j) * many + k] * units[i * n + j]
                row[2 * i] -= shifts[2 * k] / unit
                row[2 * i + 1] -= shifts[2 * k + 1] / unit
                y[2 * i] = given[2 * (i * many + k)] / of_row
                y[2 * i + 1] = given[2 * (i * many + k) + 1] / of_row
                for j in range(b):
                    row[2 * (n + j)] = border[i * b + j] / scales[i]
                    L[2 * ((n + j) * size + i)] = below[j * n + i] * scales[i]
            for i in range(2 * n, 2 * size):
                y[i] = 0.0
            factored(L, size, swaps, SMALLEST)
            solved(L, size, swaps, y)
            for i in range(n):
                found[2 * (i * many + k)] = y[2 * i] * scales[i]
                found[2 * (i * many + k) + 1] = y[2 * i + 1] * scales[i]


def newton_step(
    J, n: cython.Py_ssize_t, scale, unit: cython.double, columns, rows, rates, contracts: cython.double,
    still: cython.double, x, last, good,
):  # fmt: skip
    """x − J⁻¹ rates in place of x, for every matrix, with rows·step = 0 (up to border columns).

    ``last`` is the size of the step before, and then of this one, relative to 1 + |x| in balanced units. A step that
    is not finite, or neither contracts nor is still, is not good.
    """
    many: cython.Py_ssize_t = J.shape[1]
    b: cython.Py_ssize_t = columns.shape[1]
    size: cython.Py_ssize_t = n + b
    entries: cython.p_double = _numbers(J, n * n * many)
    scales: cython.p_double = _numbers(scale, n)
    columns, rows = np.ascontiguousarray(columns), np.ascontiguousarray(rows)
    border: cython.p_double = _numbers(columns, n * b)
    below: cython.p_double = _numbers(rows, b * n)
    given: cython.p_double = _numbers(rates, n * many)
    states: cython.p_double = _numbers(x, n * many)
    before: cython.p_double = _numbers(last, many)
    fine = np.empty(many)
    finite: cython.p_double = _numbers(fine, many)
    room = np.empty(n * n + size * (size + 1))
    units: cython.p_double = _numbers(room, n * n + size * (size + 1))
    A: cython.p_double = units + n * n
    width: cython.Py_ssize_t = size + 1  # with the right side
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.p_double
    moved: cython.double
    place: cython.double
    regular: cython.bint
    with cython.nogil:
        _units(scales, n, unit, units)
        for k in range(many):
            for i in range(n * width, size * width):
                A[i] = 0.0
            for i in range(n):
                row = A + i * width
                for j in range(n):
                    row[j] = entries[(i * n + j) * many + k] * units[i * n + j]
                row[size] = given[i * many + k] / (scales[i] * unit)
                for j in range(b):
                    row[n + j] = border[i * b + j] / scales[i]
                    A[(n + j) * width + i] = below[j * n + i] * scales[i]
            regular = triangulated(A, size, width) != 0.0
            moved, place = 0.0, 0.0
            for i in range(size - 1, -1, -1):
                row = A + i * width
                for j in range(i + 1, size):
                    row[size] -= row[j] * A[j * width + size]
                row[size] /= row[i]
                if i < n:
                    regular = regular and fabs(row[size]) < INFINITY
                    moved = max(moved, fabs(row[size]))
                    place = max(place, fabs(states[i * many + k]) / scales[i])
            if not regular:
                finite[k] = 0.0
                continue
            moved /= 1.0 + place
            finite[k] = moved <= contracts * before[k] or moved <= still
            before[k] = moved
            for i in range(n):
                states[i * many + k] -= A[i * width + size] * scales[i]
    good &= fine > 0.0


def products(J, n: cython.Py_ssize_t, p, q, out):
    """⟨p, J q⟩ for every matrix."""
    many: cython.Py_ssize_t = J.shape[1]
    entries: cython.p_double = _numbers(J, n * n * many)
    left: cython.p_double = _numbers(p, 2 * n * many)
    right: cython.p_double = _numbers(q, 2 * n * many)
    found: cython.p_double = _numbers(out, 2 * many)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    entry: cython.double
    re: cython.double
    im: cython.double
    with cython.nogil:
        for k in range(many):
            found[2 * k] = found[2 * k + 1] = 0.0
            for i in range(n):
                re, im = 0.0, 0.0
                for j in range(n):
                    entry = entries[(i * n + j) * many + k]
                    re += entry * right[2 * (j * many + k)]
                    im += entry * right[2 * (j * many + k) + 1]
                found[2 * k] += left[2 * (i * many + k)] * re + left[2 * (i * many + k) + 1] * im
                found[2 * k + 1] += left[2 * (i * many + k)] * im - left[2 * (i * many + k) + 1] * re


# Characteristic polynomials


def characteristics(J, n: cython.Py_ssize_t, zeros: cython.Py_ssize_t, scale, unit: cython.double, C, slack):
    """det(λ − A)/λ^zeros for every matrix, and how far the structural zeros are from zero."""
    many: cython.Py_ssize_t = J.shape[1]
    m: cython.Py_ssize_t = n - zeros
    if not 0 <= zeros < n:
        raise ValueError(f"{zeros} of {n} eigenvalues are zero")
    entries: cython.p_double = _numbers(J, n * n * many)
    scales: cython.p_double = _numbers(scale, n)
    found: cython.p_double = _numbers(C, (m + 1) * many)
    far: cython.p_double = _numbers(slack, many)
    room = np.empty(2 * n * n + (n + 1) * (n + 1))
    units: cython.p_double = _numbers(room, 2 * n * n + (n + 1) * (n + 1))
    A: cython.p_double = units + n * n
    rows: cython.p_double = A + n * n
    c: cython.p_double = rows + n * (n + 1)  # the last row, with the lowest power first
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    most: cython.double
    with cython.nogil:
        _units(scales, n, unit, units)
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
            _exchange(A + pivot * n, A + m * n, n)
            for i in range(n):
                _exchange(A + i * n + pivot, A + i * n + m, 1)
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
    c: cython.p_double = _numbers(C, (m + 1) * many)
    found: cython.p_double = _numbers(out, many)
    room = np.empty(m * m)
    H: cython.p_double = _numbers(room, m * m)
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
                found[k] = _determinant(H, m - 1)


def discriminants(C, out):
    """Up to a factor the product of all squared differences of two roots, by Sylvester's determinant of p and p′."""
    m: cython.Py_ssize_t = C.shape[0] - 1
    many: cython.Py_ssize_t = C.shape[1]
    size: cython.Py_ssize_t = 2 * m - 1
    c: cython.p_double = _numbers(C, (m + 1) * many)
    found: cython.p_double = _numbers(out, many)
    room = np.empty(size * size)
    S: cython.p_double = _numbers(room, size * size)
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
            found[k] = _determinant(S, size)


def routh(C, unit: cython.double, square, stable):
    """ω² of a pair ±iω, where there is one, by the last but one row of Routh's array; and whether all roots are to the
    left."""
    m: cython.Py_ssize_t = C.shape[0] - 1
    many: cython.Py_ssize_t = C.shape[1]
    width: cython.Py_ssize_t = m // 2 + 2
    c: cython.p_double = _numbers(C, (m + 1) * many)
    squares: cython.p_double = _numbers(square, many)
    left = np.empty(many)
    good: cython.p_double = _numbers(left, many)
    room = np.empty((m + 1) * width)
    table: cython.p_double = _numbers(room, (m + 1) * width)
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


# Roots of series


def first_roots(values, to_series, tail: cython.double, kind, place):
    """Where a function, given at Chebyshev nodes of [−1, 1] column by column, first vanishes from the left.

    kind: 0 nowhere, 1 at ``place``, 2 not resolved by these nodes, 3 no sign at the left end. The march goes from −1 by
    steps within which a parabola with the largest curvature of the series stays on its side of zero: no root is stepped
    over.
    """
    K: cython.Py_ssize_t = values.shape[0]
    many: cython.Py_ssize_t = values.shape[1]
    given: cython.p_double = _numbers(values, K * many)
    to_series = np.ascontiguousarray(to_series)
    matrix: cython.p_double = _numbers(to_series, K * K)
    kinds: cython.p_longlong = cython.cast(cython.p_longlong, _numbers(kind, many))
    places: cython.p_double = _numbers(place, many)
    room = np.empty(10 * K + 1)
    c: cython.p_double = _numbers(room, 10 * K + 1)  # of eight points
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
