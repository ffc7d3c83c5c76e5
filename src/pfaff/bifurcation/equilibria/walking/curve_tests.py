"""Test functions on curves of folds and Hopf points in compiled loops: they change sign at points of codimension two.

The functions of ``curves.singular`` and ``curves.hopfs``. Here the third derivatives of l1 are differences of
Jacobians, accurate enough to see a change of sign; where there is one, the engine evaluates it again.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.walking.corrector import product, restricted
from pfaff.bifurcation.equilibria.walking.decay_bounds import covers
from pfaff.bifurcation.equilibria.walking.eigenframes import FROM
from pfaff.bifurcation.equilibria.walking.few_eigenvalues import few
from pfaff.bifurcation.equilibria.walking.loop_system import rates, state_jacobian
from pfaff.bifurcation.equilibria.walking.regular import FOLDS
from pfaff.bifurcation.equilibria.walking.spectra import compared, watched
from pfaff.bifurcation.equilibria.zero_forms import UNDAMPED
from pfaff.bifurcation.machine_code.addresses import eigen, factorised, solve_complex, substituted
from pfaff.bifurcation.machine_code.linking import called

TESTS, WHOLE, PAIRS = 4, 1, 2  # largest number of tests, and those that need many eigenvalues
EVERY, QUICK = -1, -2  # all tests, or all but those
BESIDE = 1e-4  # distance, in units, for differences of second order
LARGEST = 600.0  # bound on the logarithm of a product


@called
def measured(system, z, room, about, which, tests):
    """Tests of cusp, Bogdanov–Takens and zero-Hopf points on curves of folds; on curves of Hopf points, of
    Bogdanov–Takens, zero-Hopf, double and generalised ones. Either all, or the one asked for with others that cost
    nothing."""
    kind, n, right, left = system.kind, system.b.shape[1], room.right, room.left
    A = state_jacobian(room.J, n)
    if which == EVERY or by_eigenvalues(kind, which):
        values, _, _ = eigen(system.routines, A, False, False)
        told_by(values, kind, about, tests)
    if kind == FOLDS:
        v, w = np.sqrt(product(right[0], right[0])), np.sqrt(product(left[0], left[0]))
        overlap = product(left[0], right[0]) / lengths(right[0], left[0], system.units)
        tests[0] = -product(room.J[n, :n], right[0]) / (2 * w * v**2)
        tests[1] = overlap * about if abs(overlap) > UNDAMPED else 0.0
        tests[3] = 1.0
    else:
        tests[0] = about
        if which in (EVERY, QUICK, 3):
            tests[3] = re_c1(system, z, A, right, left, about)


@called
def by_eigenvalues(kind, which):
    """Whether a test is a function of eigenvalues."""
    return which == PAIRS or (which == WHOLE and kind != FOLDS)


@called
def told_by(values, kind, about, tests):
    """Tests that are functions of eigenvalues, without those of the fold or the Hopf point itself: their product, and
    the sums of two of them. Eigenvalues far to the left may be left out."""
    if kind == FOLDS:
        tests[PAIRS] = pair_product(values, nearest(values, 0j, -1), -1)
        return
    critical = np.sqrt(complex(-about, 0.0))
    first = nearest(values, critical, -1)
    second = nearest(values, -critical, first)
    tests[WHOLE], tests[PAIRS] = whole_product(values, first, second), pair_product(values, first, second)


@called
def in_frame(system, J, many, about, tests):
    """The tests of ``told_by`` from the ``many`` eigenvalues that a frame watches (any number if 0); returns whether
    the frame serves."""
    n = system.b.shape[1]
    A, some = state_jacobian(J, n), np.empty((2, n), dtype=np.complex128)
    found = few(system.routines, system.frame, A, A, False, some[0], some[1], np.empty((1, n, n)))
    if found and found == (many or found):
        told_by(some[0, :found], system.kind, about, tests)
        return True
    return False


@called
def told_by_few(system, first, last, step, known, about, spectra, tests):
    """The tests of ``told_by`` at both ends of a step, rows z and tangent, from as few eigenvalues as decide the step
    between them too; returns their number."""
    kind, n, frame, values = system.kind, system.b.shape[1], system.frame, spectra.values
    if n < FROM or frame.many[0] < 0:
        return n
    serves = known and watched(system, last[0], last[1], spectra, 1) == known
    if not serves or not covers(system.routines, frame, spectra.others, step):
        known = compared(system, first, last, step, spectra)
        told_by(values[0, :known], kind, tests[1, 0], tests[1])
        tests[0, WHOLE] = tests[0, PAIRS] = np.nan  # computed from other eigenvalues
    told_by(values[1, :known], kind, about, tests[2])
    return known


@called
def lengths(q, p, units):
    """Product of the lengths of a null vector and a left one, states in their units."""
    first, second = 0.0, 0.0
    for i in range(len(q)):
        first += (q[i] / units[i]) ** 2
        second += (p[i] * units[i]) ** 2
    return np.sqrt(first) * np.sqrt(second)


@called
def nearest(values, to, without):
    place = -1
    for k in range(len(values)):
        if k != without and (place < 0 or abs(values[k] - to) < abs(values[place] - to)):
            place = k
    return place


@called
def bounded(sign, log):
    return np.sign(sign) * np.exp(min(max(log, -LARGEST), LARGEST))


@called
def whole_product(values, first, second):
    """Product of all eigenvalues but two."""
    unit, log = 1 + 0j, 0.0
    for i in range(len(values)):
        if i != first and i != second:
            size = abs(values[i])
            if not size:
                return 0.0
            unit, log = unit * values[i] * (1 / size), log + np.log(size)
    return bounded(unit.real, log)


@called
def pair_product(values, first, second):
    """Π(λ_i + λ_j)/(|λ_i| + |λ_j|) without two eigenvalues."""
    unit, log = 1 + 0j, 0.0
    for i in range(len(values)):
        for j in range(i):
            if i != first and i != second and j != first and j != second:
                whole, sizes = values[i] + values[j], abs(values[i]) + abs(values[j])
                size = abs(whole)
                if not size:
                    return 0.0
                unit, log = unit * whole * (1 / size), log + np.log(size / sizes)
    return bounded(unit.real, log)


@called
def re_c1(system, z, A, V, W, square):
    """Re ⟨p, C(q, q, q̄) + B(q̄, h20) + 2B(q, h11)⟩/2 with (2iω − A) h20 = B(q, q) and A h11 = −B(q, q̄), where
    ⟨q, q⟩ = ⟨p, q⟩ = 1; V and W are bases of the critical planes, in units."""
    routines, units, n, N = system.routines, system.units, len(A), len(z)
    if not square > 0:
        return np.nan
    omega, shifted = np.sqrt(square), np.empty((n, n), dtype=np.complex128)
    q, p = critical_vectors(A, V, W, units, omega)
    bend, turn = np.zeros((n, n), dtype=np.complex128), np.zeros((n, n))  # DJ(q) and D²J(q, q̄)
    beside, values = z.copy(), np.empty((n, 1 + N))
    size = 0.0
    for i in range(n):
        size += (abs(q[i]) / units[i]) ** 2
    h = BESIDE / np.sqrt(size)
    for part in range(2):
        for side in (1.0, -1.0):
            for i in range(n):
                beside[i] = z[i] + side * h * (q[i].real if part == 0 else q[i].imag)
            rates(system.function, beside, values)
            for i in range(n):
                for j in range(n):
                    bend[i, j] += side * values[i, 1 + j] / (2 * h) * (1 if part == 0 else 1j)
                    turn[i, j] += (values[i, 1 + j] - A[i, j]) / h**2
    pivots, mean, twice = np.empty(n, dtype=np.int32), np.empty(n), np.empty(n, dtype=np.complex128)
    matrix = np.empty((n, n))
    for i in range(n):
        mean[i], twice[i] = 0.0, 0j
        for j in range(n):
            mean[i] -= (bend[i, j] * q[j].conjugate()).real
            twice[i] += bend[i, j] * q[j]
            shifted[j, i] = (2j * omega if i == j else 0j) - A[i, j]
            matrix[j, i] = A[i, j]
    factorised(routines, matrix, pivots)
    substituted(routines, matrix, pivots, mean, 1, False)
    solve_complex(routines, shifted, pivots, twice)
    c1 = 0j
    for i in range(n):
        for j in range(n):
            c1 += p[i] * (turn[i, j] * q[j] + bend[i, j].conjugate() * twice[j] + 2 * bend[i, j] * mean[j]) / 2
    return c1.real


@called
def critical_vectors(A, V, W, units, omega):
    """q and p of iω from the critical planes of A and Aᵀ, with ⟨q, q⟩ = ⟨p, q⟩ = 1; p is not conjugated."""
    n = len(A)
    scaled, dual, T = np.empty((n, n)), np.empty((2, n)), np.empty((2, 2))
    for i in range(n):
        for j in range(n):
            scaled[i, j] = A[i, j] * units[j] / units[i]
    restricted(scaled, V, W, dual, T)
    # Null vectors of T − iω, from the row and the column with the larger entry beside the diagonal.
    upper = abs(T[0, 1]) > abs(T[1, 0])
    first, second = (T[0, 1] + 0j, 1j * omega - T[0, 0]) if upper else (1j * omega - T[1, 1], T[1, 0] + 0j)
    third, fourth = (1j * omega - T[1, 1], T[0, 1] + 0j) if upper else (T[1, 0] + 0j, 1j * omega - T[0, 0])
    overlap = first * third + second * fourth
    inverse = 1 / overlap if overlap else complex(np.nan, np.nan)
    q, p, size = np.empty(n, dtype=np.complex128), np.empty(n, dtype=np.complex128), 0.0
    for i in range(n):
        q[i] = (first * V[0, i] + second * V[1, i]) * units[i]
        p[i] = (third * dual[0, i] + fourth * dual[1, i]) * inverse * (1 / units[i])
        size += abs(q[i]) ** 2
    size = np.sqrt(size)
    for i in range(n):
        q[i], p[i] = q[i] * (1 / size), p[i] * size
    return q, p
