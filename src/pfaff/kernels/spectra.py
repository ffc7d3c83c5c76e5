# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Eigenvalues along a branch: whether a step may hide that one crosses the imaginary axis.

The rules of ``eigenvalues`` of equilibria: eigenvalues at both ends of a step are matched by their slopes, and
Hermite's cubics between them tell what may happen inside.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs, sqrt
    from cython.cimports.pfaff.kernels.corrector import FROM, Curve, Rules, length, rates
    from cython.cimports.pfaff.kernels.eigenframes import covers, few, framed
    from cython.cimports.pfaff.kernels.linear import eigen, modulus, quotient

QUIET = cython.declare(cython.int, 0)  # what eigenvalues do in a step
HIDING = cython.declare(cython.int, 1)
CROSSING = cython.declare(cython.int, 2)
CONDUCT = QUIET, HIDING, CROSSING  # for Python
WAIT = cython.declare(cython.int, 8)  # steps without a frame after one that did not serve


def _linear(s, z, tangent):
    """∂f/∂x at a point, and its derivative along the tangent, in ``A`` and ``change``."""
    n = s.n
    h = s.rules.probe / length(tangent, s.units, s.N)
    for side in range(3):
        for i in range(s.N):
            s.beside[i] = z[i] + (h if side == 0 else -h if side == 1 else 0.0) * tangent[i]
        rates(s, s.beside, s.values)
        for i in range(n):
            row = s.values + i * (1 + s.N) + 1
            for j in range(n):
                if side == 0:
                    s.change[i * n + j] = row[j]
                elif side == 1:
                    s.change[i * n + j] = (s.change[i * n + j] - row[j]) / (2 * h)
                else:
                    s.A[i * n + j] = row[j]


def spectrum(s, z, tangent, values, slopes):
    """Eigenvalues and their derivatives ⟨p, J' q⟩/⟨p, q⟩ along the tangent."""
    n = s.n
    mapped: cython.doublecomplex
    above: cython.doublecomplex
    below: cython.doublecomplex
    _linear(s, z, tangent)
    eigen(s.A, n, values, s.lefts, s.rights, s.work)
    for k in range(n):
        p, q = s.lefts + k * n, cython.cast(cython.p_double, s.rights + k * n)
        above = below = 0.0
        for i in range(n):
            re = im = 0.0
            for j in range(n):
                re += s.change[i * n + j] * q[2 * j]
                im += s.change[i * n + j] * q[2 * j + 1]
            mapped.real, mapped.imag = re, im
            above = above + p[i] * mapped
            mapped.real, mapped.imag = q[2 * i], q[2 * i + 1]
            below = below + p[i] * mapped
        slopes[k] = quotient(above, below)


def watched(s, z, tangent, row):
    """The relevant eigenvalues and their derivatives by a frame, in a row of ``spectra``; returns their number, 0 where
    the frame does not serve. At an end of a step the others are bounded too."""
    n = s.n
    values = s.spectra + row * n
    slopes = s.slopes + row * n
    if n < FROM or s.many < 0:
        spectrum(s, z, tangent, values, slopes)
        return n
    if s.many == 0:
        return 0
    _linear(s, z, tangent)
    return few(s, s.A, s.change, True, values, slopes, s.others + row * 2 * n * n if row < 2 else s.spare)


def compared(s, first, last, step):
    """The relevant eigenvalues at both ends of a step, rows z and tangent, in a new frame; all of them if none
    serves."""
    n = s.n
    N = s.N
    again = 0
    if n >= FROM:
        _linear(s, last, last + N)
        framed(s, s.A)
        many = s.many
        if many:
            many = few(s, s.A, s.change, True, s.spectra + n, s.slopes + n, s.others + 2 * n * n)
        if many:
            again = watched(s, first, first + N, 0)
        if again and covers(s, step):
            return many
        s.many = 0 if again else -WAIT
    spectrum(s, first, first + N, s.spectra, s.slopes)
    spectrum(s, last, last + N, s.spectra + n, s.slopes + n)
    return n


def first_spectrum(curve: Curve, z):
    """All eigenvalues at a point, whose vectors are the first frame where states are many."""
    values = np.empty(curve.n, dtype=complex)
    at = cython.cast(
        cython.p_doublecomplex, cython.cast(cython.size_t, values.ctypes.data))  # fmt: skip
    n = curve.n
    z = np.ascontiguousarray(z)
    curve.begin()
    rates(curve, cython.cast(cython.p_double, cython.cast(cython.size_t, z.ctypes.data)), curve.values)
    for i in range(n):
        for j in range(n):
            curve.A[i * n + j] = curve.values[i * (1 + curve.N) + 1 + j]
    if n < FROM:
        eigen(curve.A, n, at, cython.NULL, cython.NULL, curve.work)
    else:
        framed(curve, curve.A)
        for i in range(n):
            at[i] = curve.frame_values[i]
    return values


def at_both(s, first, last, step):
    """The relevant eigenvalues at both ends of a step in the present frame, if it serves."""
    many = watched(s, first, first + s.N, 0)
    again = watched(s, last, last + s.N, 1) if many else 0
    if many and many == again and (many == s.n or covers(s, step)):
        return many
    return compared(s, first, last, step)


def floor(s, many):
    """The uncertainty that the largest eigenvalue causes in all others, where ``many`` are known at both ends of a
    step."""
    if many == s.n:
        return max(rounding(s, s.spectra, s.n), rounding(s, s.spectra + s.n, s.n))
    return rounding(s, s.frame_values, s.n)


def rounding(s, values, n):
    """The uncertainty that the largest eigenvalue causes in all others."""
    largest = 0.0
    for k in range(n):
        largest = max(largest, modulus(values[k]))
    return s.rules.stiff * largest


def sign_of(x):
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x


def pairs_sign(values, n):
    """The sign of Π(λ_i + λ_j): only sums of real ones, and of conjugate ones, can be negative alone."""
    sign = 1.0
    for i in range(n):
        if values[i].imag > 0.0:
            sign *= sign_of(values[i].real)
        elif values[i].imag == 0.0:
            for j in range(i):
                if values[j].imag == 0.0:
                    sign *= sign_of(values[i].real + values[j].real)
    return sign


def on_axis(s, values, n, doubt):
    """Whether a pair is on the imaginary axis, to within ``doubt``."""
    for k in range(n):
        if values[k].imag > doubt and fabs(values[k].real) <= s.rules.growing * modulus(values[k]) + doubt:
            return True
    return False


def _match(cost, n, room):
    """For each row the column of the permutation of least cost, first in ``room``: shortest augmenting paths (Jonker
    and Volgenant)."""
    u = cost + n * n
    v = u + n + 1
    least = v + n + 1
    row_of = room + n + 1
    way = row_of + n + 1
    used = way + n + 1
    for j in range(n + 1):
        u[j] = v[j] = 0.0
        row_of[j] = way[j] = 0
    for row in range(1, n + 1):
        row_of[0], column = row, 0
        for j in range(n + 1):
            least[j], used[j] = INFINITY, 0
        while row_of[column] != 0:
            used[column] = 1
            i, delta, following = row_of[column], INFINITY, 0
            for j in range(1, n + 1):
                if not used[j]:
                    reduced = cost[(i - 1) * n + j - 1] - u[i] - v[j]
                    if reduced < least[j]:
                        least[j], way[j] = reduced, column
                    if least[j] < delta:
                        delta, following = least[j], j
            for j in range(n + 1):
                if used[j]:
                    u[row_of[j]] += delta
                    v[j] -= delta
                else:
                    least[j] -= delta
            column = following
        while column:
            row_of[column] = row_of[way[column]]
            column = way[column]
    for j in range(1, n + 1):
        room[row_of[j] - 1] = j - 1


def _partner(here, n, k):
    """The eigenvalue conjugate to another; −1 if that is real, or several are."""
    found = -1
    many = 0
    for i in range(n):
        if here[k].imag != 0.0 and here[i].real == here[k].real and here[i].imag == -here[k].imag:
            found, many = i, many + 1
    return found if many == 1 else -1


def _explained(rules, a, da, b, db, n, columns, k, step, floor):
    """Whether a doubtful eigenvalue meets another in the step, and neither does more than the ends show: by their sum
    and product (``Rates``)."""
    other = _partner(a, n, k)
    last = _partner(b, n, columns[k])
    p: cython.doublecomplex
    q: cython.doublecomplex
    r: cython.doublecomplex
    t: cython.doublecomplex
    for i in range(n):
        if other < 0 and last >= 0 and columns[i] == last:
            other = i
    if other < 0:
        return False
    p, q, r, t = a[k], a[other], b[columns[k]], b[columns[other]]
    if not (p.real == q.real and p.imag == -q.imag) and not p.imag == q.imag == 0.0:
        return False
    if not (r.real == t.real and r.imag == -t.imag) and not r.imag == t.imag == 0.0:
        return False
    size = max(max(modulus(p), modulus(q)), max(modulus(r), modulus(t)))
    noise = 2 * floor + rules.growing * (max(modulus(p), modulus(r)) + max(modulus(q), modulus(t)))
    rise = step * (da[k] * q + p * da[other]).real
    fall = step * (db[columns[k]] * t + r * db[columns[other]]).real
    if _doubtful(rules, (p * q).real, rise, (r * t).real, fall, noise * size):
        return False
    first, after = p.real + q.real, r.real + t.real
    rise, fall = step * (da[k].real + da[other].real), step * (db[columns[k]].real + db[columns[other]].real)
    return first * after > 0.0 and not _doubtful(rules, first, rise, after, fall, noise)


def _visits_zero(rules, a, da, b, db, step, noise):
    """Whether a pair at both ends of a step may become two real eigenvalues, one of which passes zero and returns."""
    first = a.real * a.real + a.imag * a.imag
    last = b.real * b.real + b.imag * b.imag
    rise = 2 * step * (a.real * da.real + a.imag * da.imag)
    fall = 2 * step * (b.real * db.real + b.imag * db.imag)
    return _dipping(rules, first, rise, last, fall, noise * max(modulus(a), modulus(b)))


def conduct(s, n, step, floor, crossed):
    """What the first eigenvalues at both ends of a step do in it."""
    return _conduct(
        s.rules, s.spectra, s.slopes, s.spectra + s.n, s.slopes + s.n, n, step, floor, s.cost, s.matching,
        crossed)  # fmt: skip


def _conduct(rules, a, da, b, db, n, step, floor, cost, room, crossed):
    """What eigenvalues do in a step: nothing, cross the imaginary axis, or change so much that more may happen than is
    seen (``Rates`` and ``Rests.hides``); and how many cross. ``floor`` is their uncertainty."""
    hidden: cython.bint = False
    right: cython.int = 0
    beside: cython.int = 0
    apart: cython.doublecomplex
    crossed[0] = 0
    for i in range(n):
        for j in range(n):
            apart.real = b[j].real - a[i].real - step * (da[i].real + db[j].real) / 2
            apart.imag = b[j].imag - a[i].imag - step * (da[i].imag + db[j].imag) / 2
            cost[i * n + j] = modulus(apart)
            apart.real, apart.imag = db[j].real - da[i].real, db[j].imag - da[i].imag
            cost[i * n + j] += step / 4 * modulus(apart)
            if not cost[i * n + j] < INFINITY:
                return CROSSING
    _match(cost, n, room)
    for i in range(n):
        j = room[i]
        first, last, rise, fall = a[i].real, b[j].real, step * da[i].real, step * db[j].real
        here, there = rules.growing * modulus(a[i]) + floor, rules.growing * modulus(b[j]) + floor
        noise = max(here, there)
        if fabs(first) > noise and sign_of(first) * last <= noise:
            crossed[0] += 1
        if _doubtful(rules, first, rise, last, fall, noise):
            if not _explained(rules, a, da, b, db, n, room, i, step, floor):
                hidden = True
        if a[i].imag > 0.0 and b[j].imag > 0.0 and _visits_zero(rules, a[i], da[i], b[j], db[j], step, noise):
            hidden = True
        right += (last > there) - (first > here)
        beside += (last >= -there) - (first >= -here)
    most = 2 if pairs_sign(a, n) * pairs_sign(b, n) < 0.0 else 1
    if crossed[0] > most or abs(right) > most or hidden:
        return HIDING
    # Where only the sum of two real ones changes sign, at a neutral saddle, nothing happens.
    return CROSSING if crossed[0] or right or beside else QUIET


def conduct_of(a, da, b, db, step: cython.double, floor: cython.double, rules: Rules):
    """``conduct`` for Python: what eigenvalues do, and how many cross."""
    n = len(a)
    cost, room = np.empty(n * n + 5 * n + 5), np.empty(4 * n + 4, dtype=np.int64)
    crossed: cython.int = 0
    at = [np.ascontiguousarray(each, dtype=complex) for each in (a, da, b, db)]
    places = cython.declare(cython.p_doublecomplex[4])
    for i in range(4):
        places[i] = cython.cast(cython.p_doublecomplex, cython.cast(cython.size_t, at[i].ctypes.data))
    how = _conduct(
        rules, places[0], places[1], places[2], places[3], n, step, floor,
        cython.cast(cython.p_double, cython.cast(cython.size_t, cost.ctypes.data)),
        cython.cast(cython.p_longlong, cython.cast(cython.size_t, room.ctypes.data)),
        cython.address(crossed))  # fmt: skip
    return how, crossed


# Hermite's cubics between the ends of a step: what they may hide (``Cubics``)


def _doubtful(rules, first, rise, last, fall, noise):
    """Whether a function with one sign at both ends of a step may have the other in between, or changes too much to
    know."""
    wrong = fabs(last - first - (rise + fall) / 2)
    wild = max(wrong, fabs(fall - rise) / 8)
    if wild > rules.wild * max(fabs(first), fabs(last)) + noise:
        return True
    return _dipping(rules, first, rise, last, fall, noise)


def _dipping(rules, first, rise, last, fall, noise):
    """Whether a function with one sign at both ends of a step may have the other in between."""
    wrong = fabs(last - first - (rise + fall) / 2)
    if not (first * last > 0.0 and min(fabs(first), fabs(last)) > noise):
        return False
    return _dips(first, rise, last, fall) < max(rules.unsure * wrong, -noise)


def _dips(first, rise, last, fall):
    """The least value of Hermite's cubic where it is stationary, or at the nearer end, relative to the sign of its
    first."""
    bend = 3 * (last - first) - 2 * rise - fall
    twist = 2 * (first - last) + rise + fall
    root = sqrt(max(bend * bend - 3 * twist * rise, 0.0))
    least = INFINITY
    root = bend + (-root if bend < 0.0 else root)
    for k in range(2):
        s = -rise / root if k == 0 else -root / (3 * twist)
        s = min(max(s, 0.0), 1.0) if s == s else 0.0
        bow = s * ((1 - s) * (1 - s)) * rise + s * s * (s - 1) * fall
        least = min(least, sign_of(first) * (first + s * s * (3 - 2 * s) * (last - first) + bow))
    return least
