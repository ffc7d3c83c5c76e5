"""Eigenvalues along a branch in compiled loops: whether a step may hide that one crosses the imaginary axis.

The rules of ``eigenvalues``, written out for loops.
"""

from __future__ import annotations

import numpy as np

from pfaff.algebra.tolerances import GROWING, STIFF
from pfaff.bifurcation.equilibria.rest_equations import PROBE
from pfaff.bifurcation.equilibria.walking.corrector import length
from pfaff.bifurcation.equilibria.walking.decay_bounds import covers
from pfaff.bifurcation.equilibria.walking.eigenframes import FROM, framed
from pfaff.bifurcation.equilibria.walking.few_eigenvalues import few
from pfaff.bifurcation.equilibria.walking.loop_system import rates, system_of
from pfaff.bifurcation.equilibria.walking.step_cubics import dipping, doubtful
from pfaff.bifurcation.machine_code.addresses import eigen
from pfaff.bifurcation.machine_code.linking import called, loop

QUIET, HIDING, CROSSING = range(3)  # what eigenvalues do in a step
WAIT = 8  # steps without a frame after one that did not serve


@called
def linear(system, z, tangent, A, change):
    """∂f/∂x at a point, and its derivative along the tangent."""
    n, N = len(A), len(z)
    beside, values, h = np.empty(N), np.empty((n, 1 + N)), PROBE / length(tangent, system.units)
    for side in (1, -1, 0):
        for i in range(N):
            beside[i] = z[i] + side * h * tangent[i]
        rates(system.function, beside, values)
        for i in range(n):
            for j in range(n):
                if side == 0:
                    A[i, j] = values[i, 1 + j]
                elif side == 1:
                    change[i, j] = values[i, 1 + j]
                else:
                    change[i, j] = (change[i, j] - values[i, 1 + j]) / (2 * h)


@called
def spectrum(system, z, tangent, values, slopes):
    """Eigenvalues and their derivatives ⟨p, J' q⟩/⟨p, q⟩ along the tangent."""
    n = len(values)
    A, change = np.empty((n, n)), np.empty((n, n))
    linear(system, z, tangent, A, change)
    found, left, right = eigen(system.routines, A, True, True)
    for k in range(n):
        above, below = 0j, 0j
        for i in range(n):
            mapped = 0j
            for j in range(n):
                mapped += change[i, j] * right[k, j]
            above += left[k, i] * mapped
            below += left[k, i] * right[k, i]
        values[k], slopes[k] = found[k], above / below if below else 0j


@called
def watched(system, z, tangent, spectra, row):
    """The relevant eigenvalues and their derivatives by a frame, in a row of ``spectra``; returns their number, 0 where
    the frame does not serve. At an end of a step the others are bounded too."""
    values, slopes, frame = spectra.values[row], spectra.slopes[row], system.frame
    n = len(values)
    if n < FROM or frame.many[0] < 0:
        spectrum(system, z, tangent, values, slopes)
        return n
    if frame.many[0] == 0:
        return 0
    A, change = np.empty((n, n)), np.empty((n, n))
    linear(system, z, tangent, A, change)
    others = spectra.others[row] if row < len(spectra.others) else np.empty((2, n, n))
    return few(system.routines, frame, A, change, True, values, slopes, others)


@called
def compared(system, first, last, step, spectra):
    """The relevant eigenvalues at both ends of a step, rows z and tangent, in a new frame; all of them if none
    serves."""
    values, slopes, frame = spectra.values, spectra.slopes, system.frame
    n = values.shape[1]
    A, change = np.empty((n, n)), np.empty((n, n))
    linear(system, last[0], last[1], A, change)
    framed(system.routines, A, system.units, frame)
    many = frame.many[0]
    if many:
        many = few(system.routines, frame, A, change, True, values[1], slopes[1], spectra.others[1])
    again = watched(system, first[0], first[1], spectra, 0) if many else 0
    if again == 0 or not covers(system.routines, frame, spectra.others, step):
        frame.many[0], many = 0 if again else -WAIT, n
        spectrum(system, first[0], first[1], values[0], slopes[0])
        spectrum(system, last[0], last[1], values[1], slopes[1])
    return many


@loop
def first_spectrum(parts, z):
    """All eigenvalues at a point, whose vectors are the first frame."""
    system = system_of(parts)
    n = system.b.shape[1]
    A, values = np.empty((n, n)), np.empty((n, 1 + len(z)))
    rates(system.function, z, values)
    for i in range(n):
        for j in range(n):
            A[i, j] = values[i, 1 + j]
    framed(system.routines, A, system.units, system.frame)
    return system.frame.values.copy()


@called
def at_both(system, first, last, step, spectra):
    """The relevant eigenvalues at both ends of a step in the present frame, if it serves."""
    many = watched(system, first[0], first[1], spectra, 0)
    again = watched(system, last[0], last[1], spectra, 1) if many else 0
    every = many == spectra.values.shape[1]
    served = many and many == again and (every or covers(system.routines, system.frame, spectra.others, step))
    return many if served else compared(system, first, last, step, spectra)


@called
def floor(system, values, many):
    """The uncertainty that the largest eigenvalue causes in all others, where ``many`` are known at both ends of a
    step."""
    n = values.shape[1]
    return max(rounding(values[0]), rounding(values[1])) if many == n else rounding(system.frame.values)


@called
def rounding(values):
    """The uncertainty that the largest eigenvalue causes in all others."""
    largest = 0.0
    for k in range(len(values)):
        largest = max(largest, abs(values[k]))
    return STIFF * largest


@called
def pairs_sign(values):
    """The sign of Π(λ_i + λ_j): only sums of real ones, and of conjugate ones, can be negative alone."""
    sign = 1.0
    for i in range(len(values)):
        if values[i].imag > 0:
            sign *= np.sign(values[i].real)
        elif values[i].imag == 0:
            for j in range(i):
                if values[j].imag == 0:
                    sign *= np.sign(values[i].real + values[j].real)
    return sign


@called
def on_axis(values, doubt):
    """Whether a pair is on the imaginary axis, to within ``doubt``."""
    found = False
    for value in values:
        found = found or (value.imag > doubt and abs(value.real) <= GROWING * abs(value) + doubt)
    return found


@called
def matched(cost):
    """For each row the column of the permutation of least cost: shortest augmenting paths (Jonker and Volgenant)."""
    n = len(cost)
    u, v = np.zeros(n + 1), np.zeros(n + 1)
    row_of, way = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    least, used = np.empty(n + 1), np.empty(n + 1, dtype=np.bool_)
    for row in range(1, n + 1):
        row_of[0], column = row, 0
        for j in range(n + 1):
            least[j], used[j] = np.inf, False
        while row_of[column] != 0:
            used[column] = True
            i, delta, following = row_of[column], np.inf, 0
            for j in range(1, n + 1):
                if not used[j]:
                    reduced = cost[i - 1, j - 1] - u[i] - v[j]
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
    columns = np.empty(n, dtype=np.int64)
    for j in range(1, n + 1):
        columns[row_of[j] - 1] = j - 1
    return columns


@called
def partner(here, k):
    """The eigenvalue conjugate to another; −1 if that is real, or several are."""
    found, many = -1, 0
    for i in range(len(here)):
        if here[k].imag != 0 and here[i] == here[k].conjugate():
            found, many = i, many + 1
    return found if many == 1 else -1


@called
def explained(a, da, b, db, columns, k, step, floor):
    """Whether a doubtful eigenvalue meets another in the step, and neither does more than the ends show: by their sum
    and product (``Rates``)."""
    other, last = partner(a, k), partner(b, columns[k])
    for i in range(len(a)):
        if other < 0 and last >= 0 and columns[i] == last:
            other = i
    if other < 0:
        return False
    p, q, r, s = a[k], a[other], b[columns[k]], b[columns[other]]
    if not (p == q.conjugate() or p.imag == q.imag == 0) or not (r == s.conjugate() or r.imag == s.imag == 0):
        return False
    dp, dq, dr, ds = da[k], da[other], db[columns[k]], db[columns[other]]
    size = max(max(abs(p), abs(q)), max(abs(r), abs(s)))
    noise = 2 * floor + GROWING * (max(abs(p), abs(r)) + max(abs(q), abs(s)))
    before, after = (p * q).real, (r * s).real
    rise, fall = step * (dp * q + p * dq).real, step * (dr * s + r * ds).real
    if doubtful(before, rise, after, fall, noise * size):
        return False
    sums = (p + q).real, (r + s).real
    return sums[0] * sums[1] > 0 and not doubtful(sums[0], step * (dp + dq).real, sums[1], step * (dr + ds).real, noise)


@called
def visits_zero(a, da, b, db, step, noise):
    """Whether a pair at both ends of a step may become two real eigenvalues, one of which passes zero and returns."""
    first, last = abs(a) ** 2, abs(b) ** 2
    rise, fall = 2 * step * (a.real * da.real + a.imag * da.imag), 2 * step * (b.real * db.real + b.imag * db.imag)
    return dipping(first, rise, last, fall, noise * max(abs(a), abs(b)))


@called
def conduct(a, da, b, db, step, floor):
    """What eigenvalues do in a step: nothing, cross the imaginary axis, or change so much that more may happen than is
    seen (``Rates`` and ``Rests.hides``); and how many cross. ``floor`` is their uncertainty."""
    n = len(a)
    cost = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            cost[i, j] = abs(b[j] - a[i] - step * (da[i] + db[j]) / 2) + step / 4 * abs(db[j] - da[i])
            if not cost[i, j] < np.inf:
                return CROSSING, 0
    columns = matched(cost)
    crossed, hidden, right, beside = 0, False, 0, 0
    for i in range(n):
        j = columns[i]
        first, last, rise, fall = a[i].real, b[j].real, step * da[i].real, step * db[j].real
        noise = GROWING * max(abs(a[i]), abs(b[j])) + floor
        sign = np.sign(first)
        if abs(first) > noise and sign * last <= noise:
            crossed += 1
        if doubtful(first, rise, last, fall, noise) and not explained(a, da, b, db, columns, i, step, floor):
            hidden = True
        if a[i].imag > 0 and b[j].imag > 0 and visits_zero(a[i], da[i], b[j], db[j], step, noise):
            hidden = True
        right += (b[j].real > GROWING * abs(b[j]) + floor) - (a[i].real > GROWING * abs(a[i]) + floor)
        beside += (b[j].real >= -GROWING * abs(b[j]) - floor) - (a[i].real >= -GROWING * abs(a[i]) - floor)
    signs = pairs_sign(a) * pairs_sign(b)
    most = 2 if signs < 0 else 1
    if crossed > most or abs(right) > most or hidden:
        return HIDING, crossed
    # Where only the sum of two real ones changes sign, at a neutral saddle, nothing happens.
    return CROSSING if crossed or right or beside else QUIET, crossed
