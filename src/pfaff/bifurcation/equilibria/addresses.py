"""Functions that compiled loops call by their addresses: equations as heyoka compiled them, and LAPACK.

Addresses are arguments, so that loops are compiled once for all systems. Matrices are handed over by columns, as LAPACK
has them: transposed arrays.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import get_cython_function_address, intrinsic

from pfaff.bifurcation.orbits.kernels import OPTIONS

# Called by kernels only, and compiled once for each of those that call them.
called = njit(**OPTIONS, no_cpython_wrapper=True)

ROUTINES = ("dgetrf", "dgetrs", "dgeev", "zgesv")
FACTORISE, SOLVE, EIGEN, COMPLEX = range(len(ROUTINES))
PLAIN, TRANSPOSED, WITHOUT, WITH = (np.uint8(ord(each)) for each in "NTNV")


@cache
def lapack() -> np.ndarray:
    """Addresses of LAPACK's routines."""
    return np.array([get_cython_function_address("scipy.linalg.cython_lapack", each) for each in ROUTINES])


@intrinsic
def call(context: Any, address: Any, pointers: Any) -> Any:
    """The function at an address with pointers, which are addresses too, and no result."""
    many = pointers.count

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        function = builder.inttoptr(values[0], ir.FunctionType(ir.VoidType(), [byte] * many).as_pointer())
        builder.call(function, [builder.inttoptr(builder.extract_value(values[1], k), byte) for k in range(many)])
        return context.get_dummy_value()

    return types.none(address, pointers), generate


@called
def factorised(routines: np.ndarray, A: np.ndarray, pivots: np.ndarray) -> float:
    """LU of a matrix, given by columns, in its place; the sign of its determinant, zero where it is singular."""
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
    """The solution for so many right sides, given by columns, in their place."""
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
    """The solution with a complex matrix, given by columns, in place of the right side."""
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
def eigen(routines: np.ndarray, A: np.ndarray, vectors: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of a matrix given by rows, left vectors ⟨p, A = λ⟨p and right ones A q = λ q as rows; NaN if none.

    LAPACK takes it for its transpose, and left vectors for right ones.
    """
    n = len(A)
    parts, rows = np.empty((2, n)), n if vectors else 1
    left, right, work = np.empty((rows, n)), np.empty((rows, n)), np.empty(34 * n)
    size, how = np.array([n, 34 * n, 0], dtype=np.int32), np.array([WITH if vectors else WITHOUT])
    copy = A.copy()
    call(
        routines[EIGEN],
        (
            how.ctypes.data, how.ctypes.data, size.ctypes.data, copy.ctypes.data, size.ctypes.data,
            parts.ctypes.data, parts[1:].ctypes.data, right.ctypes.data, size.ctypes.data, left.ctypes.data,
            size.ctypes.data, work.ctypes.data, size[1:].ctypes.data, size[2:].ctypes.data,
        ),
    )  # fmt: skip
    values = np.empty(n, dtype=np.complex128)
    for i in range(n):
        values[i] = complex(parts[0, i], parts[1, i]) if size[2] == 0 else complex(np.nan, np.nan)
    how[0], work[0], copy[0, 0] = WITHOUT, 0.0, 0.0  # used once more, so that they outlive the call
    p, q = np.empty((rows, n), dtype=np.complex128), np.empty((rows, n), dtype=np.complex128)
    for i in range(rows if vectors else 0):
        # Of a pair, rows i and i + 1 are the real and the imaginary part of the first.
        first = i - 1 if parts[1, i] < 0 else i
        sign = -1.0 if parts[1, i] < 0 else 1.0
        for j in range(n):
            if parts[1, i] == 0:
                p[i, j], q[i, j] = left[i, j], right[i, j]
            else:
                p[i, j] = complex(left[first, j], sign * left[first + 1, j])
                q[i, j] = complex(right[first, j], -sign * right[first + 1, j])
    return values, p, q
