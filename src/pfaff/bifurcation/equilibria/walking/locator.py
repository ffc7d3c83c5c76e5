"""Where a test vanishes in a step, in a compiled loop: trials on planes across the chord, as in the engine."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.walking.corrector import FOUND, corrected, directed, length
from pfaff.bifurcation.equilibria.walking.curve_tests import TESTS, by_eigenvalues, in_frame, measured, pair_product
from pfaff.bifurcation.equilibria.walking.eigenframes import FROM
from pfaff.bifurcation.equilibria.walking.few_eigenvalues import few
from pfaff.bifurcation.equilibria.walking.loop_system import room_for, state_jacobian, system_of
from pfaff.bifurcation.equilibria.walking.regular import BOUND, EQUILIBRIA, TURN
from pfaff.bifurcation.machine_code.addresses import eigen
from pfaff.bifurcation.machine_code.linking import called, loop

TRIALS = 100
LEFT = 4e-15  # relative uncertainty of a place due to rounding
EDGE = 0.05  # distance of the first trial from the ends of a step, relative to it
GUESSES = 4  # steps of Newton's method along a cubic
SHARP = 1e-4  # largest value at a zero, relative to those at the ends of the step; more is a jump


@called
def trial(system, wanted, a, b, s, z, tangent, room, fresh):
    """A test at a fraction of the chord of two points, rows z, tangent and units; NaN if there is no point. ``wanted``
    is the test and a bound. Unless ``fresh``, factors from another point are used."""
    N, (which, bound), way, row = len(z), wanted, np.empty(len(z)), np.empty(len(z))
    for i in range(N):
        way[i] = b[0, i] - a[0, i]
        row[i] = way[i] / a[2, i] ** 2
    chord, size = length(way, a[2]), length(b[1], a[2])
    for i in range(N):
        bow = s * (1 - s) ** 2 * a[1, i] + s**2 * (s - 1) * b[1, i] / size
        z[i] = a[0, i] + s**2 * (3 - 2 * s) * way[i] + chord * bow
    ended, _ = corrected(system, z, row, room, fresh)
    if ended != FOUND:
        return np.nan
    sign, about = directed(system, z, way, room, tangent)
    if sign != sign:
        return np.nan
    if which == BOUND:
        return z[N - 1] - bound
    return tangent[N - 1] if which == TURN else tested(system, which, z, room, about)


@called
def tested(system, which, z, room, about):
    """A test at a point, by the present frame; NaN where that does not serve."""
    n, tests = system.b.shape[1], np.empty(TESTS)
    framed = n >= FROM and system.frame.many[0] > 0
    if system.kind != EQUILIBRIA:
        if not framed or not by_eigenvalues(system.kind, which):
            measured(system, z, room, about, which, tests)
        elif not in_frame(system, room.J, 0, about, tests):
            return np.nan
        return tests[which]
    A = state_jacobian(room.J, n)
    if framed:
        some = np.empty((2, n), dtype=np.complex128)
        many = few(system.routines, system.frame, A, A, False, some[0], some[1], np.empty((1, n, n)))
        return pair_product(some[0, :many], -1, -1) if many else np.nan
    values, _, _ = eigen(system.routines, A, False, False)
    return pair_product(values, -1, -1)


@called
def guessed(which, bound, first, last, f1, f2):
    """A guess of the fraction at which a test with these end values vanishes: on Hermite's cubic of the parameter, if
    that turns or reaches a bound, else on a straight line."""
    N, chord = first.shape[1], 0.0
    for i in range(N):
        chord += ((last[0, i] - first[0, i]) / first[2, i]) ** 2
    rise, fall = np.sqrt(chord) * first[1, N - 1], np.sqrt(chord) * last[1, N - 1]
    s, before, after = f1 / (f1 - f2), first[0, N - 1], last[0, N - 1]
    if which != TURN and which != BOUND:
        return s
    bend, twist = 3 * (after - before) - 2 * rise - fall, 2 * (before - after) + rise + fall
    for _ in range(GUESSES):
        slope, curve = rise + s * (2 * bend + 3 * s * twist), 2 * bend + 6 * s * twist
        value = slope if which == TURN else before - bound + s * (rise + s * (bend + s * twist))
        s -= value / (curve if which == TURN else slope)
    return s if 0 < s < 1 else f1 / (f1 - f2)


@called
def sought(system, which, bound, first, last, ends, found, place):
    """The fraction of the chord of two points where a test vanishes, with the point there in ``found``; NaN if it does
    not vanish or a trial fails. ``ends`` are its values at both ends, if known. Chandrupatla's method (1997)."""
    N, room, wanted = first.shape[1], room_for(system), (which, bound)
    z, tangent, least = np.empty(N), np.empty(N), np.inf
    x1, x2, x3, best = 0.0, 1.0, 0.0, np.nan
    f1, f2, fresh = first[0, N - 1] - bound, last[0, N - 1] - bound, True
    if which == TURN:
        f1, f2 = first[1, N - 1], last[1, N - 1]
    elif which != BOUND and ends[0] * ends[1] < 0:
        f1, f2 = ends
    elif which != BOUND:
        f1 = trial(system, wanted, first, last, x1, z, tangent, room, True)
        f2 = trial(system, wanted, first, last, x2, z, tangent, room, True)
    f3, largest = f1, max(abs(f1), abs(f2))
    if not f1 * f2 < 0:
        return np.nan
    t = min(max(guessed(which, bound, first, last, f1, f2), EDGE), 1 - EDGE)
    for _ in range(TRIALS):
        at = x1 + t * (x2 - x1)
        value = trial(system, wanted, first, last, at, z, tangent, room, fresh)
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
        slack = (LEFT * abs(best) + place) / abs(x2 - x1)
        if slack > 0.5 or value == 0:
            break
        ratio, fall = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        t = 0.5
        if fall**2 < ratio and (1 - fall) ** 2 < 1 - ratio:
            t = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            if abs(t) < slack:  # the zero is closer than the accuracy asked for
                break
        t = min(1 - slack, max(slack, t))
    return best if least <= SHARP * largest else np.nan


@loop
def locate(parts, which, bound, first, last, found, place):
    """``sought`` without known values at the ends."""
    return sought(system_of(parts), which, bound, first, last, (np.nan, np.nan), found, place)
