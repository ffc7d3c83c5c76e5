# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Where branches begin: Newton's method of ``algebra.bordering`` where no Jacobian is singular, and units of states.

Singular values decide whether a Jacobian is singular; here its inverse does, where it leaves no doubt. In doubtful
cases no answer is given.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs, sqrt
    from cython.cimports.pfaff.kernels.elementary import exponential
    from cython.cimports.pfaff.kernels.linear import even_scales, factorised, finite, ready, substituted
    from cython.cimports.pfaff.kernels.readers import value

SWEEPS = cython.declare(cython.int, 50)  # most sweeps towards even units, ...
EVEN = cython.declare(cython.double, 1e-3)  # ... and their last change; its square is the error
LOOSE = cython.declare(cython.double, 1e-12)  # relative addition to the diagonal of a Laplacian, which is singular


@cython.cfunc
def _at(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


def _surely_solved(J, n, right, D, work, pivots, widest, rank):
    """Whether a matrix is regular beyond doubt, in units D, which are found; the solution then replaces the right side:
    |σ_min| ≥ 1/‖M⁻¹‖ and |σ_max| ≤ ‖M‖ in Frobenius' norm."""
    columns = work
    inverse = work + n * n
    size = 0.0
    small = 0.0
    if n == 0 or not (finite(right, n) and finite(J, n * n)):
        return False
    even_scales(J, n, D, work)
    for i in range(n):
        if D[i] > widest or 1 / D[i] > widest:
            return False
        for j in range(n):
            columns[j * n + i] = J[i * n + j] * D[j] / D[i]
            size += columns[j * n + i] * columns[j * n + i]
            inverse[i * n + j] = 1.0 if i == j else 0.0
    if factorised(columns, n, pivots) == 0.0:
        return False
    substituted(columns, n, pivots, inverse, n, False)
    for i in range(n * n):
        small += inverse[i] * inverse[i]
    if not sqrt(size) * sqrt(small) * rank < 1.0:
        return False
    for i in range(n):
        right[i] /= D[i]
    substituted(columns, n, pivots, right, 1, False)
    for i in range(n):
        right[i] *= D[i]
    return True


def regular_units(J, widest: cython.double, rank: cython.double):
    """Units in which a matrix is regular, as ``bordering`` chooses them; None where that is in doubt."""
    n = len(J)
    ready()
    J = np.ascontiguousarray(J)
    D, work, right, pivots = np.empty(n), np.empty(2 * n * n), np.zeros(n), np.empty(n, dtype=np.int32)
    sure: cython.bint = _surely_solved(
        _at(J), n, _at(right), _at(D), _at(work), cython.cast(cython.p_int, _at(pivots)), widest, rank)  # fmt: skip
    return D if sure else None


def rested(
    reader, numbers, free: cython.Py_ssize_t, x, steps: cython.int, settled: cython.double, exact: cython.double,
    far: cython.double, widest: cython.double, rank: cython.double,
):  # fmt: skip
    """Whether Newton's method settles at a regular equilibrium, which replaces x; no step is longer than ``far``,
    relative to 1 + |x|. The reader gives rates, their derivatives, and those with respect to ``free`` parameters."""
    n = len(x)
    wide = 1 + n + free
    change = INFINITY
    ready()
    room, numbers, z = reader.room, np.ascontiguousarray(numbers), x.copy()
    block, pivots = np.empty(n * wide + 3 * n * n + 2 * n), np.empty(n, dtype=np.int32)
    values = _at(block)
    J = values + n * wide
    work = J + n * n
    step = work + 2 * n * n
    D = step + n
    at = _at(z)
    p = _at(numbers)
    w = _at(room)
    for _ in range(steps):
        value(values, at, p, at, w)  # nothing depends on time
        before, change, most = change, 0.0, 0.0
        for i in range(n):
            step[i] = values[i * wide]
            most = max(most, fabs(at[i]))
            for j in range(n):
                J[i * n + j] = values[i * wide + 1 + j]
        if not _surely_solved(J, n, step, D, work, cython.cast(cython.p_int, _at(pivots)), widest, rank):
            return False
        for i in range(n):
            change = max(change, fabs(step[i]) / (1 + most))
        for i in range(n):
            at[i] -= step[i] * min(1.0, far / change if change else 1.0)
        if change <= exact or (change < settled and change >= before / 2):
            break
    if not change < settled:
        return False
    x[:] = z
    return True


def _mutual(acts, n, groups):
    """The group number of each state: states of a group act on one another, directly or through others (Warshall);
    returns the number of groups."""
    many = 0
    for k in range(n):
        acts[k * n + k] = 1
        groups[k] = -1
        for i in range(n):
            if acts[i * n + k]:
                for j in range(n):
                    acts[i * n + j] |= acts[k * n + j]
    for i in range(n):
        if groups[i] < 0:
            for j in range(n):
                if acts[i * n + j] and acts[j * n + i]:
                    groups[j] = many
            many += 1
    return many


def _even_units(matrix, n, D, work, pivots):
    """Units D in which each state acts on others as much as they act on it: rows and columns of D⁻¹ J D, which replaces
    a matrix of positive numbers, have equal sums apart from the diagonal, which units do not affect (Osborne 1960).

    There the sum of all entries is least, a convex function of log D whose second derivative is a Laplacian. Newton's
    method begins with units in which rows and columns are alike within a factor."""
    laplacian = work
    step = work + n * n
    for i in range(n):
        matrix[i * n + i] = 0.0
    even_scales(matrix, n, D, work)
    for i in range(n):
        for j in range(n):
            matrix[i * n + j] *= D[j] / D[i]
    for _ in range(SWEEPS):
        for i in range(n):
            row = column = 0.0
            for j in range(n):
                row += matrix[i * n + j]
                column += matrix[j * n + i]
                laplacian[i * n + j] = -(matrix[i * n + j] + matrix[j * n + i])
            step[i] = row - column
            laplacian[i * n + i] = (row + column) * (1 + LOOSE) if row + column > 0.0 else 1.0
        if factorised(laplacian, n, pivots) == 0.0:
            break
        substituted(laplacian, n, pivots, step, 1, False)
        most = 0.0
        for i in range(n):
            most = max(most, fabs(step[i]))
            step[i] = exponential(min(max(step[i], -1.0), 1.0))
            D[i] *= step[i]
        for i in range(n):
            for j in range(n):
                matrix[i * n + j] *= step[j] / step[i]
        if most < EVEN:
            break


def grouped(strengths, rounding: cython.double):
    """Units in which states that act on one another do so alike, and the group number of each state; entries of a
    matrix are the strengths of the actions. A product of two that is ``rounding``, relative to the usual ones squared,
    is none."""
    n = len(strengths)
    ready()
    J = np.ascontiguousarray(strengths)
    if n < 2:
        return np.ones(n), np.zeros(n, dtype=np.int64)
    block, pivots, acting = np.empty(2 * n * n + 2 * n), np.empty(n, dtype=np.int32), np.empty(n * n, dtype=np.int8)
    units, whole, groups = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    a = _at(J)
    matrix = _at(block)
    usual = matrix + n * n
    work = usual + n
    D = _at(units)
    p = cython.cast(cython.p_int, _at(pivots))
    acts = cython.cast(cython.p_char, _at(acting))
    of = cython.cast(cython.p_longlong, _at(whole))
    part = cython.cast(cython.p_longlong, _at(groups))
    for i in range(n * n):
        acts[i] = a[i] > 0.0
    many = _mutual(acts, n, of)  # one-way action gives no even units
    for i in range(n):
        for j in range(n):
            matrix[i * n + j] = a[i * n + j] if of[i] == of[j] else 0.0
    diagonal = J.diagonal().copy()
    own = _at(diagonal)
    _even_units(matrix, n, D, work, p)
    for i in range(n):
        usual[i] = own[i]
        for j in range(n):
            usual[i] = max(usual[i], max(matrix[i * n + j], matrix[j * n + i]))
        usual[i] = sqrt(usual[i])
    # Of two actions whose product is rounding, one is below its root.
    for i in range(n):
        for j in range(n):
            acts[i * n + j] = matrix[i * n + j] > rounding * usual[i] * usual[j]
    if _mutual(acts, n, part) != many:
        for i in range(n):
            for j in range(n):
                matrix[i * n + j] = a[i * n + j] if part[i] == part[j] else 0.0
        _even_units(matrix, n, D, work, p)
    return units, groups
