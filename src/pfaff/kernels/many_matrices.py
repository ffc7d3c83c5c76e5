# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Eigenvalues and solutions of many small matrices at once: LAPACK is too slow with one call each.

Matrices come as the flow gives them, entries by rows and points by columns. All are taken in the balanced units of one
reference matrix (``scale``) and of one frequency (``unit``), so that coefficients are of order one.
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


def numbers(array, count):
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


def exchange(a, b, count):
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
            exchange(upper + k, A + pivot * width + k, width - k)
        inverse = 1.0 / upper[k]
        for i in range(k + 1, height):
            row = A + i * width
            factor = row[k] * inverse
            if factor != 0.0:
                for j in range(k, width):
                    row[j] -= factor * upper[j]
    return sign


def determinant(H, size):
    """A determinant, of a matrix that is lost."""
    k: cython.Py_ssize_t
    product: cython.double = triangulated(H, size, size)
    for k in range(size):
        product *= H[k * size + k]
    return product


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
            exchange(upper, A + 2 * pivot * n, 2 * n)
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
            exchange(b + 2 * k, b + 2 * swaps[k], 2)
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
            exchange(b + 2 * k, b + 2 * swaps[k], 2)


def factors_of(scale, n, unit, units):
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
    entries: cython.p_double = numbers(J, n * n * many)
    scales: cython.p_double = numbers(scale, n)
    shifts: cython.p_double = numbers(shift, 2 * many)
    values: cython.p_double = numbers(value, 2 * many)
    right: cython.p_double = numbers(q, 2 * n * many)
    left: cython.p_double = numbers(p, 2 * n * many)
    errors: cython.p_double = numbers(error, many)
    room = np.empty(4 * n * n + 4 * n)
    units: cython.p_double = numbers(room, 4 * n * n + 4 * n)
    A: cython.p_double = units + n * n
    L: cython.p_double = A + n * n
    x: cython.p_double = L + 2 * n * n
    y: cython.p_double = x + 2 * n
    places = np.empty(n, dtype=np.intp)
    swaps: cython.pointer[cython.Py_ssize_t] = cython.cast(cython.pointer[cython.Py_ssize_t], numbers(places, n))
    at = cython.declare(cython.double[2])
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        factors_of(scales, n, unit, units)
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
    entries: cython.p_double = numbers(J, n * n * many)
    scales: cython.p_double = numbers(scale, n)
    shifts: cython.p_double = numbers(shift, 2 * many)
    columns, rows = np.ascontiguousarray(columns), np.ascontiguousarray(rows)
    border: cython.p_double = numbers(columns, n * b)
    below: cython.p_double = numbers(rows, b * n)
    right = np.ascontiguousarray(right, dtype=complex)
    given: cython.p_double = numbers(right, 2 * n * many)
    found: cython.p_double = numbers(x, 2 * n * many)
    room = np.empty(n * n + 2 * size * (size + 1))
    units: cython.p_double = numbers(room, n * n + 2 * size * (size + 1))
    L: cython.p_double = units + n * n
    y: cython.p_double = L + 2 * size * size
    places = np.empty(size, dtype=np.intp)
    swaps: cython.pointer[cython.Py_ssize_t] = cython.cast(cython.pointer[cython.Py_ssize_t], numbers(places, size))
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.p_double
    of_row: cython.double
    with cython.nogil:
        factors_of(scales, n, unit, units)
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
    entries: cython.p_double = numbers(J, n * n * many)
    scales: cython.p_double = numbers(scale, n)
    columns, rows = np.ascontiguousarray(columns), np.ascontiguousarray(rows)
    border: cython.p_double = numbers(columns, n * b)
    below: cython.p_double = numbers(rows, b * n)
    given: cython.p_double = numbers(rates, n * many)
    states: cython.p_double = numbers(x, n * many)
    before: cython.p_double = numbers(last, many)
    fine = np.empty(many)
    finite: cython.p_double = numbers(fine, many)
    room = np.empty(n * n + size * (size + 1))
    units: cython.p_double = numbers(room, n * n + size * (size + 1))
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
        factors_of(scales, n, unit, units)
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
    entries: cython.p_double = numbers(J, n * n * many)
    left: cython.p_double = numbers(p, 2 * n * many)
    right: cython.p_double = numbers(q, 2 * n * many)
    found: cython.p_double = numbers(out, 2 * many)
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
