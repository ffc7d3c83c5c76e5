"""Where a test vanishes in a step, in a compiled loop: trials on planes across the chord, as the engine has them."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.addresses import eigen
from pfaff.bifurcation.equilibria.corrector import FOUND, blank, directed, length, newton
from pfaff.bifurcation.equilibria.curve_tests import TESTS, by_eigenvalues, in_frame, measured, pair_product
from pfaff.bifurcation.equilibria.few_eigenvalues import FROM, few
from pfaff.bifurcation.equilibria.linking import called, loop
from pfaff.bifurcation.equilibria.regular import BOUND, EQUILIBRIA, TURN

TRIALS = 100
LEFT = 4e-15  # of a place, what rounding leaves uncertain
EDGE = 0.05  # of a step, how far from its ends the first trial is
SHARP = 1e-4  # of a test at the ends of a step, what is left of it where it vanishes and does not jump


@called
def trial(system, which, bound, a, b, s, z, tangent, factors, fresh, J, right, left, tests):
    """A test at a fraction of the chord of two points, rows z, tangent and units; not a number if no point is there.
    Factors at another one serve if they are not to be ``fresh``."""
    n, N, kind = system[6].shape[1], len(z), system[0]
    way, row = np.empty(N), np.empty(N)
    for i in range(N):
        way[i] = b[0, i] - a[0, i]
        row[i] = way[i] / a[2, i] ** 2
    chord, size = length(way, a[2]), length(b[1], a[2])
    for i in range(N):
        bow = s * (1 - s) ** 2 * a[1, i] + s**2 * (s - 1) * b[1, i] / size
        z[i] = a[0, i] + s**2 * (3 - 2 * s) * way[i] + chord * bow
    ended, _ = newton(system, z, row, factors, fresh, J, right, left)
    if ended != FOUND:
        return np.nan
    sign, about = directed(system, z, way, factors, tangent, J, right, left)
    if sign != sign:
        return np.nan
    if which == BOUND:
        return z[N - 1] - bound
    if which == TURN:
        return tangent[N - 1]
    framed = n >= FROM and system[9][0][0] > 0
    if kind != EQUILIBRIA:
        if not framed or not by_eigenvalues(kind, which):
            measured(system, z, J, right, left, about, which, tests)
        elif not in_frame(system, J, 0, about, tests):
            return np.nan
        return tests[which]
    A = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = J[i, j]
    if framed:
        some = np.empty(n, dtype=np.complex128)
        many = few(system[2], system[9], A, A, False, some, some.copy())
        return pair_product(some[:many], -1, -1) if many else np.nan
    values, _, _ = eigen(system[2], A, False, False)
    return pair_product(values, -1, -1)


@called
def sought(system, which, bound, first, last, ends, found, place):
    """The fraction of the chord of two points where a test vanishes, and the point there in ``found``; NaN if it does
    not, or a trial fails. ``ends`` are its values at both, if they are known. By Chandrupatla's method (1997)."""
    N, b = first.shape[1], system[6]
    J, right, left, tests = np.empty((N - 1, N)), np.empty_like(b), np.empty_like(b), np.empty(TESTS)
    z, tangent, factors, least = np.empty(N), np.empty(N), blank(N), np.inf
    x1, x2, x3, best = 0.0, 1.0, 0.0, np.nan
    f1, f2, fresh = first[0, N - 1] - bound, last[0, N - 1] - bound, True
    if which == TURN:
        f1, f2 = first[1, N - 1], last[1, N - 1]
    elif which != BOUND and ends[0] * ends[1] < 0:
        f1, f2 = ends
    elif which != BOUND:
        f1 = trial(system, which, bound, first, last, x1, z, tangent, factors, True, J, right, left, tests)
        f2 = trial(system, which, bound, first, last, x2, z, tangent, factors, True, J, right, left, tests)
    f3, largest = f1, max(abs(f1), abs(f2))
    if not f1 * f2 < 0:
        return np.nan
    t = min(max(f1 / (f1 - f2), EDGE), 1 - EDGE)
    for _ in range(TRIALS):
        at = x1 + t * (x2 - x1)
        value = trial(system, which, bound, first, last, at, z, tangent, factors, fresh, J, right, left, tests)
        fresh = False
        if not abs(value) < np.inf:
            return np.nan
        if abs(value) <= least:
            least, best = abs(value), at
            for i in range(N):
                found[0, i], found[1, i] = z[i], tangent[i]
        if (value > 0) == (f1 > 0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = at, value
        room = (LEFT * abs(best) + place) / abs(x2 - x1)
        if room > 0.5 or value == 0:
            break
        ratio, fall = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        t = 0.5
        if fall**2 < ratio and (1 - fall) ** 2 < 1 - ratio:
            t = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            if abs(t) < room:  # the zero is nearer than it need be known
                break
        t = min(1 - room, max(room, t))
    return best if least <= SHARP * largest else np.nan


@loop
def locate(kind, fn, routines, tape, numbers, places, b, c, units, frame, which, bound, first, last, found, place):
    """The same for a system that is handed over."""
    system = (kind, fn, routines, np.empty(tape), numbers.copy(), places, b, c, units, frame)
    return sought(system, which, bound, first, last, (np.nan, np.nan), found, place)
