"""Functions that compiled loops call by their addresses: readers of equations, and LAPACK.

Addresses are arguments, so that loops are compiled once for all systems. Matrices are handed over by columns, as LAPACK
expects them: transposed arrays.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from pfaff.bifurcation.machine_code.linking import called

ROUTINES = ("dgetrf", "dgetrs", "dgeev", "zgesv", "dgebal", "dpotrf")
FACTORISE, SOLVE, EIGEN, COMPLEX, BALANCE, CHOLESKY = range(len(ROUTINES))
PLAIN, TRANSPOSED, WITHOUT, WITH, SCALED, UPPER = (np.uint8(ord(each)) for each in "NTNVSU")
SMALL = 12  # rows up to which plain loops are faster than a call of LAPACK


@cache
def lapack() -> np.ndarray:
    """Addresses of LAPACK's routines."""
    return np.array([get_cython_function_address("scipy.linalg.cython_lapack", each) for each in ROUTINES])


@intrinsic
def call(context: Any, address: Any, pointers: Any) -> Any:
    """Call the function at an address with pointers, which are addresses too; it returns nothing."""
    many = pointers.count

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        function = builder.inttoptr(values[0], ir.FunctionType(ir.VoidType(), [byte] * many).as_pointer())
        builder.call(function, [builder.inttoptr(builder.extract_value(values[1], k), byte) for k in range(many)])
        return context.get_dummy_value()

    return types.none(address, pointers), generate


@called
def finite(A: np.ndarray) -> bool:
    """Whether all entries are finite."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if not abs(A[i, j]) < np.inf:
                return False
    return True


@called
def eliminated(A: np.ndarray, pivots: np.ndarray) -> float:
    """``factorised`` by Gaussian elimination with partial pivoting, in LAPACK's format."""
    n, sign = len(A), 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[k, i]) > abs(A[k, p]):
                p = i
        pivots[k] = p + 1
        if not A[k, p]:
            return 0.0
        if p != k:
            sign = -sign
            for j in range(n):
                A[j, k], A[j, p] = A[j, p], A[j, k]
        sign *= np.sign(A[k, k])
        for i in range(k + 1, n):
            A[k, i] /= A[k, k]
        for j in range(k + 1, n):
            for i in range(k + 1, n):
                A[j, i] -= A[j, k] * A[k, i]
    return sign


@called
def replaced(A: np.ndarray, pivots: np.ndarray, x: np.ndarray, transposed: bool) -> None:
    """The solution for one right side, which it replaces."""
    n = len(A)
    if not transposed:
        for k in range(n):
            x[k], x[pivots[k] - 1] = x[pivots[k] - 1], x[k]
        for k in range(n):
            for i in range(k + 1, n):
                x[i] -= A[k, i] * x[k]
        for k in range(n - 1, -1, -1):
            x[k] /= A[k, k]
            for i in range(k):
                x[i] -= A[k, i] * x[k]
        return
    for k in range(n):
        for i in range(k):
            x[k] -= A[k, i] * x[i]
        x[k] /= A[k, k]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            x[k] -= A[k, i] * x[i]
    for k in range(n - 1, -1, -1):
        x[k], x[pivots[k] - 1] = x[pivots[k] - 1], x[k]


@called
def factorised(routines: np.ndarray, A: np.ndarray, pivots: np.ndarray) -> float:
    """LU factors of a matrix given by columns, which they replace; returns the sign of its determinant, zero where it
    is singular."""
    if len(A) <= SMALL:
        return eliminated(A, pivots)
    size = np.array([len(A), 0], dtype=np.int32)
    call(
        routines[FACTORISE],
        (
            size.ctypes.data, size.ctypes.data, A.ctypes.data, size.ctypes.data, pivots.ctypes.data,
            size[1:].ctypes.data,
        ),
    )  # fmt: skip
    if size[1]:
        return 0.0
    sign = 1.0
    for i in range(len(A)):
        sign *= np.sign(A[i, i]) * (1.0 if pivots[i] == i + 1 else -1.0)
    return sign


@called
def substituted(
    routines: np.ndarray, A: np.ndarray, pivots: np.ndarray, right: np.ndarray, columns: int, transposed: bool
) -> None:
    """Solutions for several right sides, given by columns, which they replace."""
    if len(A) <= SMALL:
        for k in range(columns):
            replaced(A, pivots, right.reshape(columns, len(A))[k], transposed)
        return
    size = np.array([len(A), columns, 0], dtype=np.int32)
    how = np.array([TRANSPOSED if transposed else PLAIN])
    call(
        routines[SOLVE],
        (
            how.ctypes.data, size.ctypes.data, size[1:].ctypes.data, A.ctypes.data, size.ctypes.data,
            pivots.ctypes.data, right.ctypes.data, size.ctypes.data, size[2:].ctypes.data,
        ),
    )  # fmt: skip
    # Used once more, so that they outlive the call.
    how[0], size[0] = PLAIN, 0


@called
def solve_complex(routines: np.ndarray, A: np.ndarray, pivots: np.ndarray, right: np.ndarray) -> None:
    """The solution with a complex matrix, given by columns; it replaces the right side."""
    size = np.array([len(A), 1, 0], dtype=np.int32)
    call(
        routines[COMPLEX],
        (
            size.ctypes.data, size[1:].ctypes.data, A.ctypes.data, size.ctypes.data, pivots.ctypes.data,
            right.ctypes.data, size.ctypes.data, size[2:].ctypes.data,
        ),
    )  # fmt: skip
    size[0] = 0  # used once more, so that it outlives the call


@called
def cholesky(routines: np.ndarray, A: np.ndarray) -> bool:
    """Whether a symmetric matrix, given by its lower half row by row, is positive definite; its factor replaces it."""
    size = np.array([len(A), 0], dtype=np.int32)
    how = np.array([UPPER])
    call(
        routines[CHOLESKY],
        (how.ctypes.data, size.ctypes.data, A.ctypes.data, size.ctypes.data, size[1:].ctypes.data),
    )
    how[0] = PLAIN  # used once more, so that it outlives the call
    return size[1] == 0


@called
def eigen_of_two(A: np.ndarray, values: np.ndarray) -> None:
    """Eigenvalues of a matrix of two rows: the one farther from the mean first, the other from their product, without
    cancellation."""
    half, across = (A[0, 0] - A[1, 1]) / 2, A[0, 1] * A[1, 0]
    square = half**2 + across
    if square < 0:
        values[0] = complex((A[0, 0] + A[1, 1]) / 2, np.sqrt(-square))
        values[1] = values[0].conjugate()
    else:
        far = half + (np.sqrt(square) if half > 0 else -np.sqrt(square))
        values[0], values[1] = complex(A[1, 1] + far, 0.0), complex(A[1, 1] - (across / far if far else 0.0), 0.0)


@called
def vectors_of_two(A: np.ndarray, values: np.ndarray, p: np.ndarray, q: np.ndarray) -> None:
    """Left and right eigenvectors of a matrix of two rows, from the row and the column with the larger entries."""
    (a, b), (c, d) = (A[0, 0], A[0, 1]), (A[1, 0], A[1, 1])
    for k in range(2):
        upper, lower = values[k] - a, values[k] - d
        if abs(upper) > abs(lower):
            q[k, 0], q[k, 1], p[k, 0], p[k, 1] = b, upper, c, upper
        elif lower or b or c:
            q[k, 0], q[k, 1], p[k, 0], p[k, 1] = lower, c, lower, b
            if not lower:  # a double eigenvalue without a second vector
                q[k, 0], p[k, 0] = b, c
        else:
            q[k, 0] = p[k, 0] = 1 - k
            q[k, 1] = p[k, 1] = k


@called
def eigen(routines: np.ndarray, A: np.ndarray, lefts: bool, rights: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of a matrix given by rows and, if asked for, left vectors ⟨p, A = λ⟨p and right ones A q = λ q as
    rows; NaN if it has none.

    LAPACK reads the transpose, and takes left vectors for right ones.
    """
    n, values = len(A), np.empty(len(A), dtype=np.complex128)
    if n == 2:
        p, q = np.empty((2, 2), dtype=np.complex128), np.empty((2, 2), dtype=np.complex128)
        eigen_of_two(A, values)
        if lefts or rights:
            vectors_of_two(A, values, p, q)
        return values, p, q
    parts, work = np.empty((2, n)), np.empty(34 * n)
    left, right = np.empty((n if lefts else 1, n)), np.empty((n if rights else 1, n))
    size = np.array([n, 34 * n, 0], dtype=np.int32)
    how, copy = np.array([WITH if rights else WITHOUT, WITH if lefts else WITHOUT]), A.copy()
    call(
        routines[EIGEN],
        (
            how.ctypes.data, how[1:].ctypes.data, size.ctypes.data, copy.ctypes.data, size.ctypes.data,
            parts.ctypes.data, parts[1:].ctypes.data, right.ctypes.data, size.ctypes.data, left.ctypes.data,
            size.ctypes.data, work.ctypes.data, size[1:].ctypes.data, size[2:].ctypes.data,
        ),
    )  # fmt: skip
    for i in range(n):
        values[i] = complex(parts[0, i], parts[1, i]) if size[2] == 0 else complex(np.nan, np.nan)
    how[0], work[0], copy[0, 0] = WITHOUT, 0.0, 0.0  # used once more, so that they outlive the call
    return values, joined(left, parts[1], 1.0), joined(right, parts[1], -1.0)


@called
def joined(rows: np.ndarray, imaginary: np.ndarray, turn: float) -> np.ndarray:
    """Complex vectors from real rows: for a pair, rows i and i + 1 are the real and the imaginary part of the first."""
    vectors = np.empty(rows.shape, dtype=np.complex128)
    for i in range(len(rows) if len(rows) == len(imaginary) else 0):
        first, sign = (i - 1, -turn) if imaginary[i] < 0 else (i, turn)
        for j in range(len(imaginary)):
            vectors[i, j] = complex(rows[first, j], sign * rows[first + 1, j]) if imaginary[i] else rows[i, j]
    return vectors
