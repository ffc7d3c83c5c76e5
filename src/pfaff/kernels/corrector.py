# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Branches of equilibria, and curves of folds and of Hopf points: their equations, Newton's method and tangents.

The unknowns z are states and one parameter, f(x, λ) = 0; on curves there is one more parameter, and one more equation:
of folds g = 0 in the bordered system J v + b g = 0, ⟨c, v⟩ = 1 (Govaerts 2000, Sec. 4.2), of Hopf points half the
trace of J on its critical plane. ``rates`` evaluates f, ∂f/∂x and ∂f/∂λ together. Lengths are measured in units.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, NAN, fabs, sqrt
    from cython.cimports.libc.string import memcpy
    from cython.cimports.pfaff.kernels.arrays import larger
    from cython.cimports.pfaff.kernels.linear import (
        eigen, eigen_room, factorised, factorised_complex, finite, multiplied, ready, substituted, substituted_complex,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.readers import value

EQUILIBRIA = cython.declare(cython.int, 0)  # kinds
FOLDS = cython.declare(cython.int, 1)
HOPFS = cython.declare(cython.int, 2)
FOUND = cython.declare(cython.int, 0)  # how a correction ends
SINGULAR = cython.declare(cython.int, 1)
UNDEFINED = cython.declare(cython.int, 2)
UNSETTLED = cython.declare(cython.int, 3)
FROM = cython.declare(cython.int, 16)  # minimum number of states for which a frame of eigenvectors pays
KINDS = EQUILIBRIA, FOLDS, HOPFS  # for Python
CHORD = cython.declare(cython.double, 1e-4)  # change, in units, up to which factors are used once more


@cython.cclass
class Rules:
    """Numbers that the engine in Python has too, by name."""

    def __init__(self, slopes_within, **numbers):
        """``slopes_within`` are those of Hermite's cubic inside a step, by those of the chord and of both ends."""
        self.slopes_within = np.ascontiguousarray(slopes_within)
        self.slopes = cython.cast(cython.p_double, cython.cast(cython.size_t, self.slopes_within.ctypes.data))
        self.within = len(slopes_within)
        for name, number in numbers.items():
            setattr(self, name, number)


@cython.cfunc
def _at(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


@cython.cclass
class Curve:
    """A branch or a curve: its equations by their reader, borders as rows, units of z, and room to work in.

    One call at a time works in it: none releases the interpreter's lock.
    """

    def __init__(self, kind, reader, numbers, places, b, c, units, rules):
        """``numbers`` are the values of all parameters, ``places`` those of the free ones among them."""
        ready()
        n: cython.Py_ssize_t = b.shape[1]
        N: cython.Py_ssize_t = len(units)
        r: cython.Py_ssize_t = len(b)
        p: cython.Py_ssize_t = len(numbers)
        own: cython.Py_ssize_t
        self.kind, self.n, self.N, self.rows, self.known, self.rules = kind, n, N, r, p, rules
        room, places, units = reader.room, np.ascontiguousarray(places, dtype=np.int64), np.ascontiguousarray(units)
        numbers, b, c = (np.ascontiguousarray(each) for each in (numbers, b, c))
        own = max(eigen_room(n), 2 * n * n + 8 * n, eigen_room(2))
        size = p + 8 * r * n + 27 * N + 64 + n * (1 + N) + 2 * N * N + 4 * n * n + (n + 2) * (n + 4) + own
        size += 4 * n * n + 21 * n + 5 + (14 * n * n + 40 * n if n >= FROM else 0)
        block, whole = np.empty(size), np.empty(6 * n + 16, dtype=np.int64)
        self.kept = reader, room, numbers, places, b, c, units, block, whole
        self.room, self.numbers_before = _at(room), _at(numbers)
        self.b_before, self.c_before, self.units_before = _at(b), _at(c), _at(units)
        self.places = cython.cast(cython.p_longlong, _at(places))
        at: cython.p_double = _at(block)
        self.numbers, at = at, at + p
        self.b, at = at, at + r * n
        self.c, at = at, at + r * n
        self.right, at = at, at + r * n
        self.left, at = at, at + r * n
        self.dual, at = at, at + r * n
        self.along, at = at, at + r * n
        self.borders, at = at, at + 2 * r * n
        self.units, at = at, at + N
        self.sizes, at = at, at + N
        self.beside, at = at, at + N
        self.G, at = at, at + N
        self.step, at = at, at + N
        self.row, at = at, at + N
        self.end, at = at, at + 2 * N
        self.across, at = at, at + N
        self.apart, at = at, at + N
        self.found, at = at, at + 2 * N
        self.landed, at = at, at + 2 * N
        self.trial, at = at, at + 2 * N
        self.chord, at = at, at + 2 * N
        self.middle, at = at, at + 3 * N
        self.sides, at = at, at + 6 * N
        self.tests, at = at, at + 16
        self.values, at = at, at + n * (1 + N)
        self.J, at = at, at + N * N
        self.factors, at = at, at + N * N
        self.A, at = at, at + n * n
        self.squared, at = at, at + n * n
        self.change, at = at, at + n * n
        self.cost, at = at, at + n * n + 5 * (n + 1)
        self.whole, at = at, at + (n + 2) * (n + 2)
        self.unit, at = at, at + 2 * (n + 2)
        self.some, at = cython.cast(cython.p_doublecomplex, at), at + 8 * n
        self.lefts, at = cython.cast(cython.p_doublecomplex, at), at + 2 * n * n
        self.rights, at = cython.cast(cython.p_doublecomplex, at), at + 2 * n * n
        self.both, at = cython.cast(cython.p_doublecomplex, at), at + 8 * n
        if n >= FROM:
            self.basis, at = at, at + n * n
            self.dual_basis, at = at, at + n * n
            self.B, at = at, at + n * n
            self.C, at = at, at + n * n
            self.product, at = at, at + n * n
            self.there, at = at, at + n * n
            self.others, at = at, at + 4 * n * n
            self.spare, at = at, at + 2 * n * n
            self.basis_right, at = at, at + 8 * n
            self.basis_left, at = at, at + 8 * n
            self.image, at = at, at + 16 * n
            self.own, at = at, at + 4 * n
            self.frame_values, at = cython.cast(cython.p_doublecomplex, at), at + 2 * n
        self.work = at
        self.shifted = cython.cast(cython.p_doublecomplex, at)
        self.turned = cython.cast(cython.p_doublecomplex, at + 2 * n * n)
        self.matching = cython.cast(cython.p_longlong, _at(whole))
        self.blocks = self.matching + 4 * (n + 1)
        self.pivots = cython.cast(cython.p_int, self.blocks + n)

    def begin(self):
        """What calls change as it was."""
        memcpy(self.numbers, self.numbers_before, 8 * self.known)
        memcpy(self.b, self.b_before, 8 * self.rows * self.n)
        memcpy(self.c, self.c_before, 8 * self.rows * self.n)
        memcpy(self.units, self.units_before, 8 * self.N)
        self.spectra, self.slopes = self.both, self.both + 2 * self.n


def length(v, units, count):
    """Length in units."""
    square = 0.0
    for i in range(count):
        square += (v[i] / units[i]) * (v[i] / units[i])
    return sqrt(square)


def product(a, b, count):
    total = 0.0
    for i in range(count):
        total += a[i] * b[i]
    return total


def rates(s, z, values):
    """Evaluate f, ∂f/∂x and ∂f/∂λ into the columns of ``values``."""
    for j in range(s.N - s.n):
        s.numbers[s.places[j]] = z[s.n + j]
    value(values, z, s.numbers, z, s.room)  # nothing depends on time


def _bent(s, z, left, right, factor, gradient):
    """Σ ⟨w, (∂J/∂z) v⟩ over the rows w and v, for every component of z, times a factor."""
    n = s.n
    N = s.N
    memcpy(s.beside, z, 8 * N)
    for j in range(N):
        gradient[j] = 0.0
    for a in range(s.rows):
        h = s.rules.probe / length(right + a * n, s.units, n)
        for side in range(1, -2, -2):
            for i in range(n):
                s.beside[i] = z[i] + side * h * right[a * n + i]
            rates(s, s.beside, s.values)
            for i in range(n):
                weight = factor * side * left[a * n + i] / (2 * h)
                for j in range(N):
                    gradient[j] += weight * s.values[i * (1 + N) + 1 + j]


def _bordered(s, g):
    """v, w and g of J v + b g = 0, ⟨c, v⟩ = 1 and Jᵀw + c g = 0, ⟨b, w⟩ = 1; returns the sign of the determinant."""
    n = s.n
    m = n + 1
    w = s.whole
    for i in range(n):
        for j in range(n):
            w[j * m + i] = s.J[i * s.N + j]
        w[n * m + i], w[i * m + n] = s.b[i], s.c[i]
        s.unit[i] = s.unit[m + i] = 0.0
    w[n * m + n], s.unit[n], s.unit[m + n] = 0.0, 1.0, 1.0
    sign = factorised(w, m, s.pivots)
    substituted(w, m, s.pivots, s.unit, 1, False)
    substituted(w, m, s.pivots, s.unit + m, 1, True)
    memcpy(s.right, s.unit, 8 * n)
    memcpy(s.left, s.unit + m, 8 * n)
    g[0] = s.unit[n]
    return sign


def restricted(A, n, V, W, dual, T):
    """The restriction of A to the plane of V, T = (WᵀV)⁻¹ WᵀA V for bases given as rows, and the dual basis."""
    P = cython.declare(cython.double[4])
    for a in range(2):
        for d in range(2):
            P[2 * a + d], T[2 * a + d] = product(W + a * n, V + d * n, n), 0.0
    det = P[0] * P[3] - P[1] * P[2]
    for i in range(n):
        dual[i] = (P[3] * W[i] - P[1] * W[n + i]) / det
        dual[n + i] = (P[0] * W[n + i] - P[2] * W[i]) / det
    for i in range(n):
        for d in range(2):
            mapped = product(A + i * n, V + d * n, n)
            for a in range(2):
                T[2 * a + d] += dual[a * n + i] * mapped


def _largest(A, count):
    """The largest absolute value, without branches, which would be taken at random."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(0, count - 3, 4):
        a = fabs(A[i]) if fabs(A[i]) > a else a
        b = fabs(A[i + 1]) if fabs(A[i + 1]) > b else b
        c = fabs(A[i + 2]) if fabs(A[i + 2]) > c else c
        d = fabs(A[i + 3]) if fabs(A[i + 3]) > d else d
    for i in range(count - count % 4, count):
        a = fabs(A[i]) if fabs(A[i]) > a else a
    return max(max(a, b), max(c, d))


def _critical_plane(s, trace):
    """Bases (rows) of the invariant planes of A and Aᵀ near ``right`` and ``left``, which they replace, with the dual
    basis of the former; returns the determinant of A there, and its trace.

    Inverse iteration with the polynomial A² − tr T A + det T, which vanishes on the plane, unless A² would lose the
    decisive digits."""
    n = s.n
    m = n + 2
    A = s.A
    V = s.right
    W = s.left
    w = s.whole
    T = cython.declare(cython.double[4])
    if n == 2:
        for i in range(4):
            V[i] = W[i] = s.dual[i] = 1.0 if i == 0 or i == 3 else 0.0
        trace[0] = A[0] + A[3]
        return A[0] * A[3] - A[1] * A[2]
    size = _largest(A, n * n)
    restricted(A, n, V, W, s.dual, T)
    if size * size > s.rules.squared * _largest(T, 4) * _largest(T, 4):
        return _plane_beside(s, trace)
    multiplied(A, False, A, s.squared, n, n, n)
    trace[0], det = T[0] + T[3], T[0] * T[3] - T[1] * T[2]
    scale = size * size
    for _ in range(s.rules.turns):
        for i in range(n):
            for j in range(n):
                w[j * m + i] = (s.squared[i * n + j] - trace[0] * A[i * n + j]) / scale
            w[i * m + i] += det / scale
            for a in range(2):
                w[(n + a) * m + i], w[i * m + n + a] = W[a * n + i], V[a * n + i]
        for a in range(2):
            w[(n + a) * m + n] = w[(n + a) * m + n + 1] = 0.0
        if factorised(w, m, s.pivots) == 0.0:
            trace[0] = NAN
            return NAN
        for k in range(2):
            for i in range(m):
                s.unit[i], s.unit[m + i] = 1.0 if i == n else 0.0, 1.0 if i == n + 1 else 0.0
            substituted(w, m, s.pivots, s.unit, 2, k)
            basis = W if k else V
            memcpy(basis, s.unit, 8 * n)
            memcpy(basis + n, s.unit + m, 8 * n)
        before, det_before = trace[0], det
        restricted(A, n, V, W, s.dual, T)
        trace[0], det = T[0] + T[3], T[0] * T[3] - T[1] * T[2]
        if fabs(trace[0] - before) < s.rules.settled * size and fabs(det - det_before) < s.rules.settled * scale:
            break
    return det


def _plane_beside(s, trace):
    """The same by inverse iteration from both sides, beside an eigenvalue on the plane."""
    n = s.n
    T = cython.declare(cython.double[4])
    pair = cython.declare(cython.doublecomplex[2])
    shift: cython.doublecomplex
    restricted(s.A, n, s.right, s.left, s.dual, T)
    trace[0], det = T[0] + T[3], T[0] * T[3] - T[1] * T[2]
    for _ in range(s.rules.turns):
        eigen(T, 2, pair, cython.NULL, cython.NULL, s.work)
        size = _largest(T, 4)
        shift = pair[0] + s.rules.aside * (size if size else 1.0)
        for i in range(n):
            for j in range(n):
                s.shifted[j * n + i] = s.A[i * n + j]
            s.shifted[i * n + i] = s.shifted[i * n + i] - shift
        if not factorised_complex(s.shifted, n, s.pivots):
            trace[0] = NAN
            return NAN
        for k in range(2):
            basis = s.left if k else s.right
            for i in range(2 * n):
                s.turned[i] = basis[i]
            substituted_complex(s.shifted, n, s.pivots, s.turned, 2, k)
            if not _spanned(cython.cast(cython.p_double, s.turned), n, basis):
                trace[0] = NAN
                return NAN
        before, det_before = trace[0], det
        restricted(s.A, n, s.right, s.left, s.dual, T)
        trace[0], det = T[0] + T[3], T[0] * T[3] - T[1] * T[2]
        size = max(1.0, _largest(T, 4) * _largest(T, 4)) * s.rules.settled
        if fabs(trace[0] - before) < size and fabs(det - det_before) < size:
            break
    return det


def _spanned(X, n, basis):
    """An orthonormal basis (rows) of the plane that real and imaginary parts of two complex vectors span but for small
    parts, which are lost with X; returns whether there is one."""
    for a in range(2):
        best, most = 0, 0.0
        for k in range(4):  # part k % 2 of vector k // 2
            v = X + (k // 2) * 2 * n + k % 2
            square = 0.0
            for i in range(n):
                square += v[2 * i] * v[2 * i]
            if square > most:
                best, most = k, square
        if not 0.0 < most < INFINITY:
            return False
        v = X + (best // 2) * 2 * n + best % 2
        for i in range(n):
            basis[a * n + i] = v[2 * i] / sqrt(most)
        for part in range(2):  # twice is enough
            for k in range(4):
                v = X + (k // 2) * 2 * n + k % 2
                by = 0.0
                for i in range(n):
                    by += basis[a * n + i] * v[2 * i]
                for i in range(n):
                    v[2 * i] -= by * basis[a * n + i]
    return True


def equations(s, z, G, whole):
    """Evaluate the equations G and their Jacobian (its last row only if ``whole``), and null vectors or bases of the
    critical plane; returns the sign of the bordered determinant, or ω²."""
    n = s.n
    N = s.N
    about = 0.0
    trace: cython.double = 0.0
    rates(s, z, s.values)
    for i in range(n):
        G[i] = s.values[i * (1 + N)]
        memcpy(s.J + i * N, s.values + i * (1 + N) + 1, 8 * N)
    if s.kind == FOLDS:
        about = _bordered(s, G + n)
        if whole:
            _bent(s, z, s.left, s.right, -1.0, s.J + n * N)
    elif s.kind == HOPFS:
        for i in range(n):
            for j in range(n):
                s.A[i * n + j] = s.J[i * N + j] * s.units[j] / s.units[i]
        memcpy(s.right, s.c, 16 * n)
        memcpy(s.left, s.b, 16 * n)
        about = _critical_plane(s, cython.address(trace))
        G[n] = trace / 2
        if whole:
            for a in range(2):
                for i in range(n):
                    s.along[a * n + i] = s.right[a * n + i] * s.units[i]
                    s.dual[a * n + i] = s.dual[a * n + i] / s.units[i]
            _bent(s, z, s.dual, s.along, 0.5, s.J + n * N)
    return about


def state_jacobian(s, A):
    """∂f/∂x: the first rows and columns of a larger Jacobian; returns whether it is finite."""
    for i in range(s.n):
        memcpy(A + i * s.n, s.J + i * s.N, 8 * s.n)
    return finite(A, s.n * s.n)


def _bordered_by(s, row):
    """Factorise J with one more row, unknowns in units and rows of like size; returns the sign of the determinant, zero
    if it is singular. Columns of the factors are rows here, hence the transpose."""
    N = s.N
    units = s.units
    for i in range(N):
        w = s.factors + i * N
        source = s.J + i * N if i < N - 1 else row
        for j in range(N):
            w[j] = source[j] * units[j]
        if not finite(w, N):
            return 0.0
        size = _largest(w, N)
        s.sizes[i] = size if size else 1.0
        size = 1 / s.sizes[i]
        for j in range(N):
            w[j] *= size
    return factorised(s.factors, N, s.pivots)


def _solve(s, right):
    """The solution by these factors; it replaces the right side."""
    for i in range(s.N):
        right[i] /= s.sizes[i]
    substituted(s.factors, s.N, s.pivots, right, 1, True)
    for i in range(s.N):
        right[i] *= s.units[i]


def _all_finite(s, G):
    """Whether the equations and their Jacobian are finite."""
    return finite(G, s.N - 1) and finite(s.J, (s.N - 1) * s.N)


def corrected(s, z, row, fresh, last):
    """The solution near z, which it replaces, where row·z keeps its value; returns how the search ended, and the last
    change.

    Factors are kept as long as each change is much smaller than the one before; unless ``fresh``, earlier factors serve
    from the start."""
    N = s.N
    kept = product(row, z, N)
    sign = 1.0
    exact: cython.bint
    used_up: cython.bint
    last[0] = INFINITY
    for _ in range(s.rules.corrections):
        equations(s, z, s.G, fresh)
        s.G[N - 1] = product(row, z, N) - kept
        if fresh:
            sign = _bordered_by(s, row)
        for i in range(N):
            s.step[i] = s.G[i] if sign else NAN
        if sign:
            _solve(s, s.step)
        size = 0.0
        for i in range(N):
            size = larger(size, fabs(s.step[i]) / s.units[i])
        if not size <= s.rules.astray:
            if fresh:
                last[0] = size
                return SINGULAR if _all_finite(s, s.G) else UNDEFINED
            fresh = True
            continue
        for i in range(N):
            z[i] -= s.step[i]
        # Old factors reduce this change by the same ratio as the last one.
        exact = size < s.rules.quadratic * last[0] if fresh else size * size < s.rules.exact * last[0]
        if size < s.rules.settled and (exact or size >= last[0] / 4):
            last[0] = size
            return FOUND
        # Evaluating the equations of folds and Hopf points costs more than factorising.
        used_up = s.kind != EQUILIBRIA if fresh else not size < s.rules.quadratic * last[0]
        fresh = used_up or size > CHORD
        last[0] = size
    return FOUND if last[0] < s.rules.settled else UNSETTLED


def _along(s, sign, towards, tangent):
    """The unit tangent from the factors of the bordered Jacobian, whose determinant has this sign and whose last row
    has the direction ``towards``; or the given vector if the matrix is singular."""
    N = s.N
    regular: cython.bint
    for i in range(N):
        tangent[i] = 1.0 if i == N - 1 else 0.0
    if sign:
        _solve(s, tangent)
    size = length(tangent, s.units, N)
    regular = sign and size < INFINITY
    if not regular:
        size = length(towards, s.units, N)
    for i in range(N):
        tangent[i] = (tangent[i] if regular else towards[i]) / size


def directed(s, z, towards, tangent, about):
    """The unit tangent at a solution, in the direction of another vector, with Jacobian and null vectors; returns the
    sign of the determinant with it, NaN where the equations are not finite, and ω² or the sign of the bordered
    determinant."""
    regular: cython.bint
    about[0] = equations(s, z, tangent, True)
    regular = _all_finite(s, tangent)
    size = length(towards, s.units, s.N)
    for i in range(s.N):
        s.row[i] = towards[i] / (s.units[i] * s.units[i]) / (size if size else 1.0)
    sign = _bordered_by(s, s.row)
    _along(s, sign, towards, tangent)
    return sign if regular else NAN


def placed(curve: Curve, guess, row, towards, correct: cython.bint):
    """The solution near a guess (the guess itself unless ``correct``), with its tangent and Jacobian; how the search
    ended, and its last change."""
    z, tangent, J = guess.copy(), np.empty(len(guess)), np.empty((curve.N - 1, curve.N))
    row, towards = np.ascontiguousarray(row), np.ascontiguousarray(towards)
    ended = FOUND
    size: cython.double = 0.0
    about: cython.double = 0.0
    curve.begin()
    if correct:
        ended = corrected(curve, _at(z), _at(row), True, cython.address(size))
    if ended == FOUND:
        sign = directed(curve, _at(z), _at(towards), _at(tangent), cython.address(about))
        ended = FOUND if sign == sign or correct else UNDEFINED
        memcpy(_at(J), curve.J, 8 * (curve.N - 1) * curve.N)
    return z, tangent, J, ended, size
