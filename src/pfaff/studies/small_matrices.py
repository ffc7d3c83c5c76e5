"""Small dense linear algebra for many matrices at once, compiled: LAPACK is too slow with one call each.

Matrices come as the flow gives them, entries by rows and points by columns. All are taken in the balanced units of
one reference matrix (``scale``) and of one frequency (``unit``), so that coefficients are of order one.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.kernel_cache import kept

compiled = kept(fastmath={"contract", "nsz"}, error_model="numpy")
TINY, SMALLEST = 1e-300, 1e-140  # so that quotients, and squares, are finite
ROUNDING = 1.1e-16  # of every term of a matrix element


@compiled
def local(J, k, n, scale, unit, A):
    for i in range(n):
        of_row = 1.0 / (scale[i] * unit)
        for j in range(n):
            A[i, j] = J[i * n + j, k] * (scale[j] * of_row)


@compiled
def _size(z):
    """|Re| + |Im|, which is as good as |z| for pivots and units, and needs no root."""
    return abs(z.real) + abs(z.imag)


@compiled
def _factored(A, n, swaps, small):
    """LU with pivots, in place; vanishing pivots are made small, and their reciprocals are stored on the diagonal."""
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
    """The eigenvalue nearest to a shift, with ⟨q, q⟩ = ⟨p, q⟩ = 1 in the flow's own states, by inverse iteration with
    both vectors.

    ``error`` is its uncertainty due to rounding.
    """
    A, L, swaps = np.empty((n, n)), np.empty((n, n), dtype=np.complex128), np.empty(n, dtype=np.int64)
    x, y = np.empty(n, dtype=np.complex128), np.empty(n, dtype=np.complex128)
    for k in range(J.shape[1]):
        local(J, k, n, scale, unit, A)
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
        local(J, k, n, scale, unit, A)
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
def newton_step(J, n, scale, unit, columns, rows, rates, contracts, still, x, last, good):
    """x − J⁻¹ rates in place of x, for every matrix, with rows·step = 0 (up to border columns).

    ``last`` is the size of the step before, and then of this one, relative to 1 + |x| in balanced units. A step that
    is not finite, or neither contracts nor is still, is not good.
    """
    b = columns.shape[1]
    size = n + b
    L, swaps, y = np.empty((size, size)), np.empty(size, dtype=np.int64), np.empty(size)
    for k in range(J.shape[1]):
        local(J, k, n, scale, unit, L)
        for i in range(n):
            y[i] = rates[i, k] / (scale[i] * unit)
            for j in range(b):
                L[i, n + j] = columns[i, j] / scale[i]
                L[n + j, i] = rows[j, i] * scale[i]
        for i in range(n, size):
            y[i] = 0.0
            for j in range(n, size):
                L[i, j] = 0.0
        _factored(L, size, swaps, SMALLEST)
        _solved(L, size, swaps, y)
        moved, place = 0.0, 0.0
        for i in range(n):
            if not abs(y[i]) < np.inf:
                moved = np.inf
            moved, place = max(moved, abs(y[i])), max(place, abs(x[i, k]) / scale[i])
        if moved == np.inf:
            good[k] = False
            continue
        moved /= 1.0 + place
        good[k] = good[k] and (moved <= contracts * last[k] or moved <= still)
        last[k] = moved
        for i in range(n):
            x[i, k] -= y[i] * scale[i]


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
