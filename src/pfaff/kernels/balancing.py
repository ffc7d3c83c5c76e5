# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Powers of two D for which the rows and columns of D⁻¹ A D are of like length: the same matrix in better units.

Parlett and Reinsch (1969), with lengths in the Euclidean norm, the diagonal included (James, Langou and Lowery 2014):
what LAPACK's ``dgebal`` does without permuting, without SciPy's import, which takes longer than a flutter load.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt

GAIN = cython.declare(cython.double, 0.95)  # ratio of the lengths after a change to those before it that is worth it
LARGE = cython.declare(cython.double, 2.0**970)  # entries and units stay below this, and above its inverse


def scales(matrix):
    """The diagonal of D for a square matrix of finite numbers."""
    A = np.array(matrix, dtype=float, order="C")
    n: cython.Py_ssize_t = len(A)
    scale = np.ones(n)
    entries: cython.size_t = A.ctypes.data
    found: cython.size_t = scale.ctypes.data
    if A.ndim != 2 or A.shape[1] != n:
        raise ValueError("a square matrix is expected")
    if not np.isfinite(A).all():
        raise ValueError("a matrix that is not finite has no units")
    balance(cython.cast(cython.p_double, entries), n, cython.cast(cython.p_double, found))
    return scale


def balance(A, n, scale):
    """Balance a matrix in place; what it holds is multiplied into the scale."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    f: cython.double
    row: cython.double
    column: cython.double
    most_row: cython.double
    most_column: cython.double
    before: cython.double
    settled: cython.bint = False
    while not settled:
        settled = True
        for i in range(n):
            most_row, most_column = _largest(A + i * n, n, 1), _largest(A + i, n, n)
            row, column = _length(A + i * n, n, 1, most_row), _length(A + i, n, n, most_column)
            if row == 0.0 or column == 0.0:
                continue
            before, f = row + column, 1.0
            while column < row / 2 and max(most_column, scale[i] * f) < LARGE and row > 1 / LARGE:
                f, column, most_column, row = 2 * f, 2 * column, 2 * most_column, row / 2
            while row <= column / 2 and max(most_row, 1 / (scale[i] * f)) < LARGE and column > 1 / LARGE:
                f, column, most_row, row = f / 2, column / 2, 2 * most_row, 2 * row
            if not row + column < GAIN * before:
                continue
            settled = False
            scale[i] *= f
            for j in range(n):
                A[i * n + j] /= f
            for j in range(n):
                A[j * n + i] *= f


def _largest(entries, n, apart):
    k: cython.Py_ssize_t
    largest: cython.double = 0.0
    for k in range(n):
        largest = max(largest, fabs(entries[k * apart]))
    return largest


def _length(entries, n, apart, largest):
    """The Euclidean length, without overflow."""
    k: cython.Py_ssize_t
    total: cython.double = 0.0
    if largest == 0.0:
        return 0.0
    for k in range(n):
        total += (entries[k * apart] / largest) * (entries[k * apart] / largest)
    return largest * sqrt(total)
