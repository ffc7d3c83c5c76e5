"""Eigenvalues along a branch in compiled loops: whether a step may hide that one crosses the imaginary axis.

The rules of ``eigenvalues``, written out for loops.
"""

from __future__ import annotations

import numpy as np

from pfaff.algebra.tolerances import GROWING, STIFF
from pfaff.bifurcation.equilibria.addresses import called, eigen
from pfaff.bifurcation.equilibria.corrector import length, rates
from pfaff.bifurcation.equilibria.eigenvalues import UNSURE, WILD
from pfaff.bifurcation.equilibria.rest_equations import PROBE

QUIET, HIDING, CROSSING = range(3)  # what eigenvalues do in a step


@called
def spectrum(system, z, tangent, J, values, slopes):
    """Eigenvalues and their derivatives ⟨p, J' q⟩/⟨p, q⟩ along the tangent."""
    _, fn, routines, tape, numbers, places, _, _, units = system
    n, N = len(values), len(z)
    A, beside, change = np.empty((n, n)), np.empty(N), np.empty((2, n, 1 + N))
    h = PROBE / length(tangent, units)
    for side in range(2):
        for i in range(N):
            beside[i] = z[i] + (1 - 2 * side) * h * tangent[i]
        rates(fn, tape, numbers, places, beside, change[side])
    for i in range(n):
        for j in range(n):
            A[i, j] = J[i, j]
    found, left, right = eigen(routines, A, True)
    for k in range(n):
        above, below = 0j, 0j
        for i in range(n):
            mapped = 0j
            for j in range(n):
                mapped += (change[0, i, 1 + j] - change[1, i, 1 + j]) * right[k, j]
            above += left[k, i] * mapped
            below += left[k, i] * right[k, i]
        values[k], slopes[k] = found[k], above / (2 * h * below) if below else 0j


@called
def rounding(values):
    """What the largest eigenvalue leaves uncertain in all others."""
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
def matched(cost):
    """For each row the column of a permutation with the least sum: shortest augmenting paths (Jonker and Volgenant)."""
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
def conduct(a, da, b, db, step):
    """What eigenvalues do between the ends of a step: nothing, cross the imaginary axis, or change so much that more
    may happen than is seen (``Rates`` and ``Rests.hides``); and how many cross."""
    n = len(a)
    cost = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            cost[i, j] = abs(b[j] - a[i] - step * (da[i] + db[j]) / 2) + step / 4 * abs(db[j] - da[i])
            if not np.isfinite(cost[i, j]):
                return CROSSING, 0
    columns, floor = matched(cost), max(rounding(a), rounding(b))
    crossed, hidden, right, beside = 0, False, 0, 0
    for i in range(n):
        j = columns[i]
        first, last, rise, fall = a[i].real, b[j].real, step * da[i].real, step * db[j].real
        noise = GROWING * max(abs(a[i]), abs(b[j])) + floor
        sign = np.sign(first)
        if abs(first) > noise and sign * last <= noise:
            crossed += 1
        wrong = abs(last - first - (rise + fall) / 2)
        if max(wrong, abs(fall - rise) / 8) > WILD * max(abs(first), abs(last)) + noise:
            hidden = True
        same = first * last > 0 and min(abs(first), abs(last)) > noise
        if same and dips(first, rise, last, fall) < max(UNSURE * wrong, -noise):
            hidden = True
        right += (b[j].real > GROWING * abs(b[j]) + floor) - (a[i].real > GROWING * abs(a[i]) + floor)
        beside += (b[j].real >= -GROWING * abs(b[j]) - floor) - (a[i].real >= -GROWING * abs(a[i]) - floor)
    signs = pairs_sign(a) * pairs_sign(b)
    most = 2 if signs < 0 else 1
    if crossed > most or abs(right) > most or hidden:
        return HIDING, crossed
    # Where only the sum of two real ones changes its sign, at a neutral saddle, nothing happens.
    return CROSSING if crossed or right or beside else QUIET, crossed


@called
def dips(first, rise, last, fall):
    """The least value of Hermite's cubic where it is stationary, or at the nearer end, with the sign of its first."""
    bend, twist = 3 * (last - first) - 2 * rise - fall, 2 * (first - last) + rise + fall
    root = bend + (-1.0 if bend < 0 else 1.0) * np.sqrt(max(bend**2 - 3 * twist * rise, 0.0))
    least = np.inf
    for k in range(2):
        s = -rise / root if k == 0 else -root / (3 * twist)
        s = min(max(s, 0.0), 1.0) if s == s else 0.0
        bow = s * (1 - s) ** 2 * rise + s**2 * (s - 1) * fall
        least = min(least, np.sign(first) * (first + s**2 * (3 - 2 * s) * (last - first) + bow))
    return least
