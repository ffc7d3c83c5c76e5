"""Units in which states act on one another alike, and groups of such states: compiled ahead, else run as plain
Python."""

from __future__ import annotations

from statistics import median

import numpy as np
from numba.extending import overload, register_jitable

from pfaff.algebra.tolerances import REAL
from pfaff.bifurcation.machine_code.addresses import BALANCE, SCALED, call, factorised, substituted
from pfaff.bifurcation.machine_code.linking import PARTS, called, loop

SWEEPS, EVEN = 50, 1e-3  # most sweeps towards even units, and their last change; its square is the error
LOOSE = 1e-12  # added to the diagonal of the Laplacian, relatively: it is singular, as separate groups share no unit

alike = register_jitable(**PARTS)  # compiled where compiled loops call it, else plain Python


def scales(routines: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Powers of two D, one in their middle, for which D⁻¹ matrix D has rows and columns of like size: by ``dgebal``."""
    from scipy.linalg.lapack import dgebal

    scale = dgebal(matrix, scale=1)[3]
    return scale / 2.0 ** round(median(np.log2(scale).tolist()))


def solution(routines: np.ndarray, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of linear equations."""
    return np.linalg.solve(matrix, right)


@overload(scales, jit_options=PARTS)
def _scales(routines, matrix):
    def by_address(routines, matrix):
        n, columns = len(matrix), np.empty_like(matrix)
        for i in range(n):
            for j in range(n):
                columns[j, i] = matrix[i, j]
        scale, size = np.empty(n), np.empty(5, dtype=np.int32)
        size[0], size[1], size[2], size[3], size[4] = n, 1, n, 0, SCALED
        at = size.ctypes.data
        call(routines[BALANCE], (at + 16, at, columns.ctypes.data, at, at + 4, at + 8, scale.ctypes.data, at + 12))
        columns[0, 0], size[0] = 0.0, 0  # used once more, so that they outlive the call
        low, high = ranked(scale, (n - 1) // 2), ranked(scale, n // 2)
        return scale / 2.0 ** round((np.log2(low) + np.log2(high)) / 2)

    return by_address


@called
def ranked(numbers, place):
    """The element of rank ``place``, counted from the smallest as 0."""
    found = numbers[0]
    for each in numbers:
        less, alike = 0, 0
        for other in numbers:
            less, alike = less + (other < each), alike + (other == each)
        if less <= place < less + alike:
            found = each
    return found


@overload(solution, jit_options=PARTS)
def _solution(routines, matrix, right):
    def by_address(routines, matrix, right):
        n, x, pivots = len(matrix), right.copy(), np.empty(len(matrix), dtype=np.int32)
        columns = np.empty_like(matrix)
        for i in range(n):
            for j in range(n):
                columns[j, i] = matrix[i, j]
        factorised(routines, columns, pivots)
        substituted(routines, columns, pivots, x, 1, False)
        return x

    return by_address


def closure(acts: np.ndarray) -> np.ndarray:
    """Which states act on which, each on itself, directly or through others (Warshall)."""
    reached: np.ndarray = acts | np.eye(len(acts), dtype=bool)
    for k in range(len(acts)):
        reached |= reached[:, k, None] & reached[k]
    return reached


@overload(closure, jit_options=PARTS)
def _closure(acts):
    def by_loops(acts):
        n, reached = len(acts), acts.copy()
        for k in range(n):
            reached[k, k] = True
            for i in range(n):
                if reached[i, k]:
                    for j in range(n):
                        reached[i, j] |= reached[k, j]
        return reached

    return by_loops


@alike
def mutual(acts):
    """The group number of each state: states of a group act on one another, directly or through others."""
    n, reached = len(acts), closure(acts)
    groups, many = np.full(n, -1), 0
    for i in range(n):
        if groups[i] < 0:
            groups = np.where(reached[i] & reached[:, i], many, groups)
            many += 1
    return groups


@alike
def even_units(routines, J):
    """Units D in which each state acts on others as much as they act on it: rows and columns of D⁻¹ J D have equal sums
    apart from the diagonal, which units do not affect (Osborne 1960).

    There the sum of all entries is least, a convex function of log D whose second derivative is a Laplacian. Newton's
    method begins with units in which rows and columns are alike within a factor.
    """
    n, matrix = len(J), np.abs(J)
    for i in range(n):
        matrix[i, i] = 0.0
    D = scales(routines, matrix)
    matrix = matrix * D / np.expand_dims(D, 1)
    for _ in range(SWEEPS):
        laplacian, uneven = -(matrix + matrix.T), np.empty(n)
        for i in range(n):
            row, column = matrix[i].sum(), matrix[:, i].sum()
            uneven[i] = row - column
            laplacian[i, i] = (row + column) * (1 + LOOSE) if row + column > 0 else 1.0
        step = solution(routines, laplacian, uneven)
        factors = np.exp(np.minimum(np.maximum(step, -1.0), 1.0))
        D, matrix = D * factors, matrix * factors / np.expand_dims(factors, 1)
        if np.abs(step).max() < EVEN:
            break
    return D


@loop
def grouped(routines, J):
    """Units in which states that act on one another do so alike, and the group number of each state; entries of the
    matrix are the strengths of the actions."""
    n = len(J)
    if n < 2:
        return np.ones(n), np.zeros(n, dtype=np.int64)
    whole = mutual(J > 0)  # one-way action gives no even units
    inner = J * (np.expand_dims(whole, 1) == whole)
    D = even_units(routines, inner)
    matrix, usual = inner * D / np.expand_dims(D, 1), np.empty(n)
    for i in range(n):
        usual[i] = np.sqrt(max(matrix[i].max(), matrix[:, i].max()))
    # Of two actions whose product is rounding, one is below √ε.
    groups = mutual(matrix > REAL * np.expand_dims(usual, 1) * usual)
    if groups.max() != whole.max():
        D = even_units(routines, J * (np.expand_dims(groups, 1) == groups))
    return D, groups
