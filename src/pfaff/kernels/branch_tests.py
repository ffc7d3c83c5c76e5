# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""What happens between two points of a branch or a curve: bounds, turns, and tests that change sign.

The rules of ``continuation.engine`` and ``special_points``; on curves the test functions of ``curves.singular`` and
``curves.hopfs``, which change sign at points of codimension two. Here the third derivatives of l1 are differences of
Jacobians, accurate enough to see a change of sign; where there is one, the engine evaluates it again.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, NAN, fabs, sqrt
    from cython.cimports.pfaff.kernels.hyperbolic import acos
    from cython.cimports.pfaff.kernels.corrector import (
        EQUILIBRIA, FOLDS, FOUND, FROM, Curve, corrected, directed, equations, length, product, rates, restricted,
        state_jacobian,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.eigenframes import covers, few
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm
    from cython.cimports.pfaff.kernels.linear import eigen, factorised, modulus, quotient, solve_complex, substituted
    from cython.cimports.pfaff.kernels.spectra import QUIET, at_both, compared, conduct, floor, sign_of, watched

TESTS = cython.declare(cython.int, 4)  # largest number of tests, ...
WHOLE = cython.declare(cython.int, 1)  # ... and those that need many eigenvalues
PAIRS = cython.declare(cython.int, 2)
EVERY = cython.declare(cython.int, -1)  # all tests, ...
QUICK = cython.declare(cython.int, -2)  # ... or all but those
BESIDE = cython.declare(cython.double, 1e-4)  # distance, in units, for differences of second order
LARGEST = cython.declare(cython.double, 600.0)  # bound on the logarithm of a product


def measured(s, z, about, which, tests):
    """Tests of cusp, Bogdanov–Takens and zero-Hopf points on curves of folds; on curves of Hopf points, of
    Bogdanov–Takens, zero-Hopf, double and generalised ones. Either all, or the one asked for with others that cost
    nothing."""
    n = s.n
    first = 0.0
    second = 0.0
    state_jacobian(s, s.A)
    if which == EVERY or by_eigenvalues(s.kind, which):
        eigen(s.A, n, s.some, cython.NULL, cython.NULL, s.work)
        _told_by(s, s.some, n, about, tests)
    if s.kind == FOLDS:
        v, w = product(s.right, s.right, n), sqrt(product(s.left, s.left, n))
        for i in range(n):
            first += (s.right[i] / s.units[i]) * (s.right[i] / s.units[i])
            second += (s.left[i] * s.units[i]) * (s.left[i] * s.units[i])
        overlap = product(s.left, s.right, n) / (sqrt(first) * sqrt(second))
        tests[0] = -product(s.J + n * s.N, s.right, n) / (2 * w * v)
        tests[1] = overlap * about if fabs(overlap) > s.rules.undamped else 0.0
        tests[3] = 1.0
    else:
        tests[0] = about
        if which == EVERY or which == QUICK or which == 3:
            tests[3] = _re_c1(s, z, about)


def by_eigenvalues(kind, which):
    """Whether a test is a function of eigenvalues."""
    return which == PAIRS or (which == WHOLE and kind != FOLDS)


def _told_by(s, values, n, about, tests):
    """Tests that are functions of eigenvalues, without those of the fold or the Hopf point itself: their product, and
    the sums of two of them. Eigenvalues far to the left may be left out."""
    critical: cython.doublecomplex
    critical.real = critical.imag = 0.0
    if s.kind == FOLDS:
        tests[PAIRS] = pair_product(values, n, _nearest(values, n, critical, -1), -1)
        return
    if about > 0.0:
        critical.imag = sqrt(about)
    else:
        critical.real = sqrt(-about)
    first = _nearest(values, n, critical, -1)
    second = _nearest(values, n, -critical, first)
    tests[WHOLE], tests[PAIRS] = _whole_product(values, n, first, second), pair_product(values, n, first, second)


def in_frame(s, many, about, tests):
    """The tests of ``_told_by`` from the ``many`` eigenvalues that a frame watches (any number if 0); returns whether
    the frame serves."""
    state_jacobian(s, s.A)
    found = few(s, s.A, s.A, False, s.some, s.some, s.spare)
    if found and (many == 0 or found == many):
        _told_by(s, s.some, found, about, tests)
        return True
    return False


def told_by_few(s, first, last, step, known, about):
    """The tests of ``_told_by`` at both ends of a step, rows z and tangent, from as few eigenvalues as decide the step
    between them too; returns their number."""
    n = s.n
    t = s.tests
    serves: cython.bint
    if n < FROM or s.many < 0:
        return n
    serves = known and watched(s, last, last + s.N, 1) == known
    if not serves or not covers(s, step):
        known = compared(s, first, last, step)
        _told_by(s, s.spectra, known, t[TESTS], t + TESTS)
        t[WHOLE] = t[PAIRS] = NAN  # computed from other eigenvalues
    _told_by(s, s.spectra + n, known, about, t + 2 * TESTS)
    return known


def _nearest(values, n, to, without):
    place = -1
    least = INFINITY
    for k in range(n):
        if k != without and (place < 0 or modulus(values[k] - to) < least):
            place, least = k, modulus(values[k] - to)
    return place


def _bounded(sign, log):
    return sign_of(sign) * exponential(min(max(log, -LARGEST), LARGEST))


def _whole_product(values, n, first, second):
    """Product of all eigenvalues but two."""
    log = 0.0
    unit: cython.doublecomplex = 1.0
    for i in range(n):
        if i != first and i != second:
            size = modulus(values[i])
            if size == 0.0:
                return 0.0
            unit = unit * values[i] * (1 / size)
            log += logarithm(size)
    return _bounded(unit.real, log)


def pair_product(values, n, first, second):
    """Π(λ_i + λ_j)/(|λ_i| + |λ_j|) without two eigenvalues."""
    log = 0.0
    whole: cython.doublecomplex
    unit: cython.doublecomplex = 1.0
    for i in range(n):
        for j in range(i):
            if i != first and i != second and j != first and j != second:
                whole, sizes = values[i] + values[j], modulus(values[i]) + modulus(values[j])
                size = modulus(whole)
                if size == 0.0:
                    return 0.0
                unit = unit * whole * (1 / size)
                log += logarithm(size / sizes)
    return _bounded(unit.real, log)


def _re_c1(s, z, square):
    """Re ⟨p, C(q, q, q̄) + B(q̄, h20) + 2B(q, h11)⟩/2 with (2iω − A) h20 = B(q, q) and A h11 = −B(q, q̄), where
    ⟨q, q⟩ = ⟨p, q⟩ = 1; ``right`` and ``left`` are bases of the critical planes, in units."""
    n = s.n
    size = 0.0
    re = 0.0
    q = s.some + n
    p = s.some + 2 * n
    twice = s.some + 3 * n
    bend = s.lefts  # DJ(q)
    turn = s.squared  # D²J(q, q̄)
    mean = s.G
    term: cython.doublecomplex
    if not square > 0.0:
        return NAN
    omega = sqrt(square)
    _critical_vectors(s, omega, q, p)
    for i in range(n):
        size += (q[i].real * q[i].real + q[i].imag * q[i].imag) / (s.units[i] * s.units[i])
    h = BESIDE / sqrt(size)
    for i in range(n * n):
        bend[i] = 0.0
        turn[i] = 0.0
    for i in range(s.N):
        s.beside[i] = z[i]
    for part in range(2):
        for side in range(1, -2, -2):
            for i in range(n):
                s.beside[i] = z[i] + side * h * (q[i].imag if part else q[i].real)
            rates(s, s.beside, s.values)
            for i in range(n):
                row = s.values + i * (1 + s.N) + 1
                for j in range(n):
                    change = side * row[j] / (2 * h)
                    if part:
                        bend[i * n + j].imag = bend[i * n + j].imag + change
                    else:
                        bend[i * n + j].real = bend[i * n + j].real + change
                    turn[i * n + j] += (row[j] - s.A[i * n + j]) / (h * h)
    for i in range(n):
        mean[i] = 0.0
        twice[i] = 0.0
        for j in range(n):
            mean[i] -= bend[i * n + j].real * q[j].real + bend[i * n + j].imag * q[j].imag
            twice[i] = twice[i] + bend[i * n + j] * q[j]
            s.shifted[j * n + i] = -s.A[i * n + j]
            s.change[j * n + i] = s.A[i * n + j]
        s.shifted[i * n + i].imag = 2 * omega
    if factorised(s.change, n, s.pivots) == 0.0:
        return NAN
    substituted(s.change, n, s.pivots, mean, 1, False)
    solve_complex(s.shifted, n, s.pivots, twice)
    for i in range(n):
        term = 0.0
        for j in range(n):
            term = term + turn[i * n + j] * q[j] + bend[i * n + j].conjugate() * twice[j]
            term = term + 2 * mean[j] * bend[i * n + j]
        re += (p[i] * term).real / 2
    return re


def _critical_vectors(s, omega, q, p):
    """q and p of iω from the critical planes of A and Aᵀ, with ⟨q, q⟩ = ⟨p, q⟩ = 1; p is not conjugated."""
    n = s.n
    T = cython.declare(cython.double[4])
    size = 0.0
    square: cython.doublecomplex
    low: cython.doublecomplex
    first: cython.doublecomplex
    second: cython.doublecomplex
    third: cython.doublecomplex
    fourth: cython.doublecomplex
    inverse: cython.doublecomplex
    for i in range(n):
        for j in range(n):
            s.whole[i * n + j] = s.A[i * n + j] * s.units[j] / s.units[i]
    restricted(s.whole, n, s.right, s.left, s.dual, T)
    # Null vectors of T − iω, from the row and the column with the larger entry beside the diagonal.
    square.real, square.imag = -T[0], omega
    low.real, low.imag = -T[3], omega
    if fabs(T[1]) > fabs(T[2]):
        first, second, third, fourth = T[1], square, low, T[1]
    else:
        first, second, third, fourth = low, T[2], T[2], square
    inverse = first * third + second * fourth
    if inverse == 0.0:
        inverse.real = inverse.imag = NAN
    else:
        inverse = quotient(1.0, inverse)
    for i in range(n):
        q[i] = (first * s.right[i] + second * s.right[n + i]) * s.units[i]
        p[i] = (third * s.dual[i] + fourth * s.dual[n + i]) * inverse * (1 / s.units[i])
        size += q[i].real * q[i].real + q[i].imag * q[i].imag
    size = sqrt(size)
    for i in range(n):
        q[i] = q[i] * (1 / size)
        p[i] = p[i] * size


def turned(a, b, units, count):
    """The angle between two tangents."""
    across = 0.0
    for i in range(count):
        across += a[i] * b[i] / (units[i] * units[i])
    cosine = across / (length(a, units, count) * length(b, units, count))
    return acos(min(max(cosine, -1.0), 1.0)) if cosine == cosine else INFINITY


def turns_between(s, a, b, chord, rounding):
    """Whether the parameter, rising or falling at both ends of a step, may turn in between: by Hermite's cubic."""
    least = INFINITY
    by = s.rules.slopes
    for k in range(s.rules.within):
        least = min(least, sign_of(a) * (by[3 * k] * chord + by[3 * k + 1] * a + by[3 * k + 2] * b))
    return a * b > 0.0 and least + 1.5 * rounding < s.rules.flat * min(fabs(a), fabs(b))


def reached(a, b, bounds, count):
    """The index of the bound that a step reaches; −1 if none."""
    for k in range(count):
        if (a - bounds[k]) * (b - bounds[k]) < 0.0 or b == bounds[k]:
            return k
    return -1


def returns(a, b, home, units, count):
    """Whether a step passes the first point."""
    inner = 0.0
    chord = 0.0
    back = 0.0
    for i in range(count):
        inner += (home[i] - a[i]) * (b[i] - a[i]) / (units[i] * units[i])
        chord += ((b[i] - a[i]) / units[i]) * ((b[i] - a[i]) / units[i])
        back += ((home[i] - a[i]) / units[i]) * ((home[i] - a[i]) / units[i])
    return 0.0 < inner <= chord and back <= 4 * chord


def _may_dip(s, earlier, first, last):
    """Whether a test with one sign at both ends of a step may have the other in between."""
    changes = fabs(last - first)
    changes = max(changes, fabs(first - earlier) if earlier == earlier else INFINITY)
    return first * last > 0.0 and not changes < s.rules.steady * min(fabs(first), fabs(last))


def _dips_at(s, first, middle, last):
    """Whether a test with one sign at both ends of a step, and this value in its middle, may change its sign inside."""
    values = cython.declare(cython.double[3])
    places = cython.declare(cython.double[3])
    if not middle * first > 0.0:
        return True
    values[0], values[1], values[2] = first, middle, last
    places[0], places[1], places[2] = 0.0, 0.5, 1.0
    for i in range(2):  # sorted by size
        for j in range(2 - i):
            if fabs(values[j]) > fabs(values[j + 1]):
                values[j], values[j + 1] = values[j + 1], values[j]
                places[j], places[j + 1] = places[j + 1], places[j]
    slope = (values[1] - values[0]) / (places[1] - places[0])
    bend = ((values[2] - values[1]) / (places[2] - places[1]) - slope) / (places[2] - places[0])
    if not bend * values[0] > 0.0:
        return False
    at = (places[0] + places[1]) / 2 - slope / (2 * bend)
    low = values[0] + slope * (at - places[0]) + bend * (at - places[0]) * (at - places[1])
    return 0.0 < at < 1.0 and at != 0.5 and low / first <= s.rules.near * values[0] / first


def happens(s, here, z, tangent, known, twice):
    """Bit mask of the tests that change sign in a step, and whether one may do so twice. Rows of ``tests`` belong to
    the point before the step, to its ends and to its middle, which is evaluated only if a test may dip; ``known`` is
    the number of eigenvalues in use."""
    N = s.N
    changed = 0
    looks: cython.bint = False
    last: cython.double
    t = s.tests
    middle = s.middle
    row = middle + N
    way = row + N
    units = here + 2 * N
    twice[0] = False
    for k in range(TESTS):
        if not t[TESTS + k] * t[2 * TESTS + k] > 0.0:
            changed |= 1 << k
        looks = looks or _may_dip(s, t[k], t[TESTS + k], t[2 * TESTS + k])
    if not looks:
        return changed
    for i in range(N):
        way[i] = z[i] - here[i]
        row[i] = way[i] / (units[i] * units[i])
    chord, size = length(way, units, N), length(tangent, units, N)
    for i in range(N):
        middle[i] = (here[i] + z[i]) / 2 + chord * (here[N + i] - tangent[i] / size) / 8
    if corrected(s, middle, row, True, cython.address(last)) != FOUND:
        twice[0] = True
        return (1 << TESTS) - 1
    about = equations(s, middle, row, True)
    measured(s, middle, about, EVERY if known == s.n else QUICK, t + 3 * TESTS)
    if known < s.n and not in_frame(s, known, about, t + 3 * TESTS):
        twice[0] = True
        return (1 << TESTS) - 1
    for k in range(TESTS):
        if _may_dip(s, t[k], t[TESTS + k], t[2 * TESTS + k]):
            if _dips_at(s, t[TESTS + k], t[3 * TESTS + k], t[2 * TESTS + k]):
                changed |= 1 << k
                twice[0] = True
    return changed


def _calm_curve(s, first, last):
    """Whether nothing happens between two points of a curve, rows z, tangent and units."""
    N = s.N
    about: cython.double = 0.0
    twice: cython.bint = False
    for k in range(4 * TESTS):
        s.tests[k] = NAN
    directed(s, first, first + N, s.apart, cython.address(about))
    measured(s, first, about, EVERY, s.tests + TESTS)
    directed(s, last, last + N, s.apart, cython.address(about))
    measured(s, last, about, EVERY, s.tests + 2 * TESTS)
    return happens(s, first, last, last + N, s.n, cython.address(twice)) == 0


def _calm_branch(s, first, last, before, after):
    """Whether nothing happens between two equilibria, rows z, tangent and units, whose determinants have these
    signs."""
    N = s.N
    crossed: cython.int = 0
    for i in range(N):
        s.apart[i] = last[i] - first[i]
    apart = length(s.apart, first + 2 * N, N)
    k = at_both(s, first, last, apart)
    if conduct(s, k, apart, floor(s, k), cython.address(crossed)) != QUIET:
        return False
    return first[2 * N - 1] * last[2 * N - 1] > 0.0 and before * after > 0.0


def _neighbour(s, at, length, found):
    """Compute the point at a distance along the tangent of another, rows z, tangent and units; returns the sign of the
    determinant there, NaN if there is no such point."""
    N = s.N
    last: cython.double = 0.0
    about: cython.double = 0.0
    for i in range(N):
        found[i], found[2 * N + i] = at[i] + length * at[N + i], at[2 * N + i]
        s.across[i] = at[N + i] / (at[2 * N + i] * at[2 * N + i])
    if corrected(s, found, s.across, True, cython.address(last)) != FOUND:
        return NAN
    return directed(s, found, at + N, found + N, cython.address(about))


@cython.cfunc
def _at(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


def quiet_about(curve: Curve, at, distance: cython.double):
    """Whether nothing happens between the neighbours of a point, rows z, tangent and units, on both sides."""
    first = curve.sides
    last = curve.sides + 3 * curve.N
    curve.begin()
    at = np.ascontiguousarray(at)
    before = _neighbour(curve, _at(at), -distance, first)
    after = _neighbour(curve, _at(at), distance, last)
    if before != before or after != after:
        return False
    if curve.kind == EQUILIBRIA:
        return _calm_branch(curve, first, last, before, after)
    return _calm_curve(curve, first, last)


def quiet(curve: Curve, first, last):
    """Whether nothing happens between two points, rows z, tangent and units."""
    about: cython.double = 0.0
    N = curve.N
    curve.begin()
    first, last = np.ascontiguousarray(first), np.ascontiguousarray(last)
    if curve.kind != EQUILIBRIA:
        return _calm_curve(curve, _at(first), _at(last))
    before = directed(curve, _at(first), _at(first) + N, curve.apart, cython.address(about))
    after = directed(curve, _at(last), _at(last) + N, curve.apart, cython.address(about))
    return _calm_branch(curve, _at(first), _at(last), before, after)
