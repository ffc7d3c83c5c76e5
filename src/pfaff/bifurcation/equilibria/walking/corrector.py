"""Equilibria, folds and Hopf points by Newton's method, in loops that are compiled once for all systems.

The equations of ``rest_equations``, ``curves.singular`` and ``curves.hopfs`` for problems without families and
structural zeros. The formulas are explained there; here they are written out for z = (x, λ), and one compiled function
gives rates, Jacobian and derivatives with respect to λ.
"""

from __future__ import annotations

import numpy as np

from pfaff.algebra.tolerances import CORRECTIONS, EXACT, SETTLED
from pfaff.bifurcation.equilibria.rest_equations import PROBE
from pfaff.bifurcation.equilibria.walking.loop_system import rates, room_for, system_of
from pfaff.bifurcation.equilibria.walking.regular import EQUILIBRIA, FOLDS, HOPFS
from pfaff.bifurcation.machine_code.addresses import factorised, finite, substituted
from pfaff.bifurcation.machine_code.linking import called, loop
from pfaff.continuation.dense import ASTRAY, QUADRATIC

FOUND, SINGULAR, UNDEFINED, UNSETTLED = range(4)  # how a correction ends
CHORD = 1e-4  # change, in units, up to which factors are used once more
TURNS, STILL = 12, 1e-9  # most iterations for a critical plane, and their last change


@called
def length(vector, units):
    """Length in the problem's units."""
    square = 0.0
    for i in range(len(vector)):
        square += (vector[i] / units[i]) ** 2
    return np.sqrt(square)


@called
def product(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@called
def bent(system, z, left, right, factor, gradient):
    """Σ ⟨w, (∂J/∂z) v⟩ over the rows w and v, for every component of z, times a factor."""
    n, N = system.b.shape[1], len(z)
    beside, values = z.copy(), np.empty((n, 1 + N))
    for j in range(N):
        gradient[j] = 0.0
    for a in range(len(right)):
        h = PROBE / length(right[a], system.units)
        for side in (1.0, -1.0):
            for i in range(n):
                beside[i] = z[i] + side * h * right[a, i]
            rates(system.function, beside, values)
            for i in range(n):
                weight = factor * side * left[a, i] / (2 * h)
                for j in range(N):
                    gradient[j] += weight * values[i, 1 + j]


@called
def bordered(routines, J, b, c, right, left):
    """v, w and g of J v + b g = 0, ⟨c, v⟩ = 1 and Jᵀw + c g = 0, ⟨b, w⟩ = 1; g and the sign of the determinant."""
    n = b.shape[1]
    whole, pivots, unit = np.empty((n + 1, n + 1)), np.empty(n + 1, dtype=np.int32), np.empty((2, n + 1))
    for i in range(n):
        for j in range(n):
            whole[j, i] = J[i, j]
        whole[n, i], whole[i, n] = b[0, i], c[0, i]
        unit[0, i] = unit[1, i] = 0.0
    whole[n, n], unit[0, n], unit[1, n] = 0.0, 1.0, 1.0
    sign = factorised(routines, whole, pivots)
    substituted(routines, whole, pivots, unit[0], 1, False)
    substituted(routines, whole, pivots, unit[1], 1, True)
    for i in range(n):
        right[0, i], left[0, i] = unit[0, i], unit[1, i]
    return unit[0, n], sign


@called
def restricted(A, V, W, dual, T):
    """The restriction of A to the plane of V, T = (WᵀV)⁻¹ WᵀA V for bases given as rows, and the dual basis; returns
    its trace and determinant."""
    n, P = len(A), np.empty((2, 2))
    for a in range(2):
        for d in range(2):
            P[a, d], T[a, d] = product(W[a], V[d]), 0.0
    det = P[0, 0] * P[1, 1] - P[0, 1] * P[1, 0]
    for i in range(n):
        dual[0, i] = (P[1, 1] * W[0, i] - P[0, 1] * W[1, i]) / det
        dual[1, i] = (P[0, 0] * W[1, i] - P[1, 0] * W[0, i]) / det
    for i in range(n):
        for d in range(2):
            mapped = product(A[i], V[d])
            for a in range(2):
                T[a, d] += dual[a, i] * mapped
    return T[0, 0] + T[1, 1], T[0, 0] * T[1, 1] - T[0, 1] * T[1, 0]


@called
def critical_plane(routines, A, V, W, dual):
    """Bases (rows) of the invariant planes of A and Aᵀ near V and W, which they replace, with the dual basis of the
    former; returns trace and determinant of A there."""
    n, T = len(A), np.empty((2, 2))
    if n == 2:
        for i in range(2):
            for j in range(2):
                V[i, j] = W[i, j] = dual[i, j] = 1.0 if i == j else 0.0
        return A[0, 0] + A[1, 1], A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    size = 0.0
    for i in range(n):
        for j in range(n):
            size = max(size, abs(A[i, j]))
    squared = np.dot(A, A)
    whole, pivots, unit = np.empty((n + 2, n + 2)), np.empty(n + 2, dtype=np.int32), np.empty((2, n + 2))
    trace, det = restricted(A, V, W, dual, T)
    for _ in range(TURNS):
        for i in range(n):
            for j in range(n):
                whole[j, i] = (squared[i, j] - trace * A[i, j]) / size**2
            whole[i, i] += det / size**2
            for a in range(2):
                whole[n + a, i], whole[i, n + a] = W[a, i], V[a, i]
        for a in range(2):
            whole[n + a, n] = whole[n + a, n + 1] = 0.0
        if factorised(routines, whole, pivots) == 0.0:
            return np.nan, np.nan
        for transposed in (False, True):
            for i in range(n + 2):
                unit[0, i], unit[1, i] = 1.0 if i == n else 0.0, 1.0 if i == n + 1 else 0.0
            substituted(routines, whole, pivots, unit, 2, transposed)
            basis = W if transposed else V
            for i in range(n):
                basis[0, i], basis[1, i] = unit[0, i], unit[1, i]
        before, product_before = trace, det
        trace, det = restricted(A, V, W, dual, T)
        if abs(trace - before) < STILL * size and abs(det - product_before) < STILL * size**2:
            break
    return trace, det


@called
def equations(system, z, G, room, whole):
    """Evaluate the equations G and their Jacobian (its last row only if ``whole``), and null vectors or bases of the
    critical plane; returns the sign of the bordered determinant, or ω²."""
    J, units, about, n, N = room.J, system.units, 0.0, system.b.shape[1], len(z)
    values = np.empty((n, 1 + N))
    rates(system.function, z, values)
    for i in range(n):
        G[i] = values[i, 0]
        for j in range(N):
            J[i, j] = values[i, 1 + j]
    if system.kind == FOLDS:
        G[n], about = bordered(system.routines, J, system.b, system.c, room.right, room.left)
        if whole:
            bent(system, z, room.left, room.right, -1.0, J[n])
    elif system.kind == HOPFS:
        A, dual, along = np.empty((n, n)), np.empty_like(system.b), np.empty_like(system.b)
        for i in range(n):
            for j in range(n):
                A[i, j] = J[i, j] * units[j] / units[i]
            for a in range(2):
                room.right[a, i], room.left[a, i] = system.c[a, i], system.b[a, i]
        trace, about = critical_plane(system.routines, A, room.right, room.left, dual)
        G[n] = trace / 2
        if whole:
            for i in range(n):
                for a in range(2):
                    along[a, i], dual[a, i] = room.right[a, i] * units[i], dual[a, i] / units[i]
            bent(system, z, dual, along, 0.5, J[n])
    return about


@called
def bordered_by(system, row, room):
    """Factorise J with one more row, unknowns in units and rows of like size; returns the sign of the determinant, zero
    if it is singular. LAPACK reads rows as columns, hence the transpose."""
    whole, N = room.factors, len(row)
    for i in range(N):
        size = 0.0
        for j in range(N):
            whole[i, j] = (room.J[i, j] if i < N - 1 else row[j]) * system.units[j]
            if not abs(whole[i, j]) <= size:
                size = abs(whole[i, j])
        if not size < np.inf:
            return 0.0
        room.sizes[i] = size if size else 1.0
        shrunk = 1 / room.sizes[i]
        for j in range(N):
            whole[i, j] *= shrunk
    return factorised(system.routines, whole, room.pivots)


@called
def solution(system, room, right):
    """The solution by these factors; it replaces the right side."""
    for i in range(len(right)):
        right[i] /= room.sizes[i]
    substituted(system.routines, room.factors, room.pivots, right, 1, True)
    for i in range(len(right)):
        right[i] *= system.units[i]


@called
def all_finite(G, J):
    """Whether the equations and their Jacobian are finite."""
    for i in range(len(J)):
        if not abs(G[i]) < np.inf:
            return False
    return finite(J)


@called
def corrected(system, z, row, room, fresh):
    """The solution near z, which it replaces, where row·z keeps its value; returns how the search ended, and the last
    change.

    Factors are kept as long as each change is much smaller than the one before; unless ``fresh``, earlier factors serve
    from the start."""
    units, N = system.units, len(z)
    last, kept, step, G, sign = np.inf, product(row, z), np.empty(len(z)), np.empty(len(z)), 1.0
    for _ in range(CORRECTIONS):
        equations(system, z, G, room, fresh)
        G[N - 1] = product(row, z) - kept
        if fresh:
            sign = bordered_by(system, row, room)
        for i in range(N):
            step[i] = G[i] if sign else np.nan
        if sign:
            solution(system, room, step)
        size = 0.0
        for i in range(N):
            if not abs(step[i]) / units[i] <= size:
                size = abs(step[i]) / units[i]
        if not size <= ASTRAY:
            if fresh:
                return SINGULAR if all_finite(G, room.J) else UNDEFINED, size
            fresh = True
            continue
        for i in range(N):
            z[i] -= step[i]
        # Old factors reduce this change by the same ratio as the last one.
        exact = size < QUADRATIC * last if fresh else size**2 < EXACT * last
        if size < SETTLED and (exact or size >= last / 4):
            return FOUND, size
        # Evaluating the equations of folds and Hopf points costs more than factorising.
        used_up = system.kind != EQUILIBRIA if fresh else not size < QUADRATIC * last
        fresh, last = used_up or size > CHORD, size
    return FOUND if last < SETTLED else UNSETTLED, last


@called
def along(system, room, sign, towards, tangent):
    """The unit tangent from the factors of the bordered Jacobian, whose determinant has this sign and whose last row
    has the direction ``towards``; or the given vector if the matrix is singular."""
    units, N = system.units, len(tangent)
    for i in range(N):
        tangent[i] = 1.0 if i == N - 1 else 0.0
    if sign:
        solution(system, room, tangent)
    size = length(tangent, units)
    regular = sign and size < np.inf
    size = size if regular else length(towards, units)
    for i in range(N):
        tangent[i] = (tangent[i] if regular else towards[i]) / size


@called
def directed(system, z, towards, room, tangent):
    """The unit tangent at a solution, in the direction of another vector, with Jacobian and null vectors; returns the
    sign of the determinant with it, NaN where the equations are not finite, and ω² or the sign of the bordered
    determinant."""
    units, N, row = system.units, len(z), np.empty(len(z))
    about = equations(system, z, tangent, room, True)
    finite = all_finite(tangent, room.J)
    size = length(towards, units)
    for i in range(N):
        row[i] = towards[i] / units[i] ** 2 / (size if size else 1.0)
    sign = bordered_by(system, row, room)
    along(system, room, sign, towards, tangent)
    return sign if finite else np.nan, about


@loop
def placed(parts, guess, row, towards, correct):
    """The solution near a guess (the guess itself unless ``correct``), with its tangent and Jacobian; how the search
    ended, and its last change."""
    system = system_of(parts)
    z, tangent, room, ended, size = guess.copy(), np.empty(len(guess)), room_for(system), FOUND, 0.0
    if correct:
        ended, size = corrected(system, z, row, room, True)
    if ended == FOUND:
        sign, _ = directed(system, z, towards, room, tangent)
        ended = FOUND if sign == sign or correct else UNDEFINED
    return z, tangent, room.J, ended, size
