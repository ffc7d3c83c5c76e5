"""What happens between two points of a branch or a curve, in compiled loops: bounds, turns, and signs of tests.

The rules of ``continuation.engine`` and ``special_points``, written out for loops.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.special_points import FLAT, SLOPES
from pfaff.bifurcation.equilibria.walking.corrector import FOUND, corrected, directed, equations, length
from pfaff.bifurcation.equilibria.walking.curve_tests import EVERY, QUICK, TESTS, in_frame, measured
from pfaff.bifurcation.equilibria.walking.loop_system import room_for, spectra_for, system_of
from pfaff.bifurcation.equilibria.walking.regular import EQUILIBRIA
from pfaff.bifurcation.equilibria.walking.spectra import QUIET, at_both, conduct, floor
from pfaff.bifurcation.machine_code.linking import called, loop
from pfaff.continuation.engine import NEAR, STEADY


@called
def turned(a, b, units):
    """The angle between two tangents."""
    across = 0.0
    for i in range(len(a)):
        across += a[i] * b[i] / units[i] ** 2
    cosine = across / (length(a, units) * length(b, units))
    return np.arccos(min(max(cosine, -1.0), 1.0)) if cosine == cosine else np.inf


@called
def turns_between(a, b, chord, rounding):
    """Whether the parameter, rising or falling at both ends of a step, may turn in between: by Hermite's cubic."""
    least = np.inf
    for k in range(len(SLOPES)):
        least = min(least, np.sign(a) * (SLOPES[k, 0] * chord + SLOPES[k, 1] * a + SLOPES[k, 2] * b))
    return a * b > 0 and least + 1.5 * rounding < FLAT * min(abs(a), abs(b))


@called
def reached(a, b, bounds):
    """The index of the bound that a step reaches; −1 if none."""
    N = len(a)
    for k in range(len(bounds)):
        if (a[N - 1] - bounds[k]) * (b[N - 1] - bounds[k]) < 0 or b[N - 1] == bounds[k]:
            return k
    return -1


@called
def returns(a, b, home, units):
    """Whether a step passes the first point."""
    inner, chord, back = 0.0, 0.0, 0.0
    for i in range(len(a)):
        inner += (home[i] - a[i]) * (b[i] - a[i]) / units[i] ** 2
        chord += ((b[i] - a[i]) / units[i]) ** 2
        back += ((home[i] - a[i]) / units[i]) ** 2
    return 0 < inner <= chord and back <= 4 * chord


@called
def may_dip(earlier, first, last):
    """Whether a test with one sign at both ends of a step may have the other in between."""
    changes = max(abs(last - first), abs(first - earlier) if earlier == earlier else np.inf)
    return first * last > 0 and not changes < STEADY * min(abs(first), abs(last))


@called
def dips_at(first, middle, last):
    """Whether a test with one sign at both ends of a step, and this value in its middle, may change its sign inside."""
    if not middle * first > 0:
        return True
    values, places = np.array([first, middle, last]), np.array([0.0, 0.5, 1.0])
    for i in range(2):  # sorted by size
        for j in range(2 - i):
            if abs(values[j]) > abs(values[j + 1]):
                values[j], values[j + 1] = values[j + 1], values[j]
                places[j], places[j + 1] = places[j + 1], places[j]
    slope, beyond = (values[1] - values[0]) / (places[1] - places[0]), (values[2] - values[1]) / (places[2] - places[1])
    bend = (beyond - slope) / (places[2] - places[0])
    if not bend * values[0] > 0:
        return False
    at = (places[0] + places[1]) / 2 - slope / (2 * bend)
    low = values[0] + slope * (at - places[0]) + bend * (at - places[0]) * (at - places[1])
    return 0 < at < 1 and at != 0.5 and low / first <= NEAR * values[0] / first


@called
def happens(system, here, z, tangent, known, tests, room):
    """Bit mask of the tests that change sign in the step, and whether one may do so twice. Rows of ``tests`` belong to
    the point before the step, to its ends and to its middle, which is evaluated only if a test may dip; ``known`` is
    the number of eigenvalues in use."""
    N, n, looks, changed, twice = len(z), system.b.shape[1], False, 0, False
    for k in range(TESTS):
        if not tests[1, k] * tests[2, k] > 0:
            changed |= 1 << k
        looks = looks or may_dip(tests[0, k], tests[1, k], tests[2, k])
    if not looks:
        return changed, twice
    middle, row, way = np.empty(N), np.empty(N), np.empty(N)
    for i in range(N):
        way[i] = z[i] - here[0, i]
        row[i] = way[i] / here[2, i] ** 2
    chord, size = length(way, here[2]), length(tangent, here[2])
    for i in range(N):
        middle[i] = (here[0, i] + z[i]) / 2 + chord * (here[1, i] - tangent[i] / size) / 8
    ended, _ = corrected(system, middle, row, room, True)
    if ended != FOUND:
        return (1 << TESTS) - 1, True
    about = equations(system, middle, row, room, True)
    measured(system, middle, room, about, EVERY if known == n else QUICK, tests[3])
    if known < n and not in_frame(system, room.J, known, about, tests[3]):
        return (1 << TESTS) - 1, True
    for k in range(TESTS):
        if may_dip(tests[0, k], tests[1, k], tests[2, k]) and dips_at(tests[1, k], tests[3, k], tests[2, k]):
            changed, twice = changed | 1 << k, True
    return changed, twice


@called
def calm_curve(system, first, last):
    """Whether nothing happens between two points of a curve, rows z, tangent and units."""
    room, aside, tests = room_for(system), np.empty(first.shape[1]), np.full((4, TESTS), np.nan)
    for side in range(2):
        here = first if side == 0 else last
        _, about = directed(system, here[0], here[1], room, aside)
        measured(system, here[0], room, about, EVERY, tests[1 + side])
    changed, _ = happens(system, first, last[0], last[1], system.b.shape[1], tests, room)
    return changed == 0


@called
def calm_branch(system, first, last, signs):
    """Whether nothing happens between two equilibria, rows z, tangent and units, whose determinants have these
    signs."""
    N, spectra, way = first.shape[1], spectra_for(system.b.shape[1]), np.empty(first.shape[1])
    for i in range(N):
        way[i] = last[0, i] - first[0, i]
    apart = length(way, first[2])
    k = at_both(system, first, last, apart, spectra)
    values, slopes, doubt = spectra.values, spectra.slopes, floor(system, spectra.values, k)
    how, _ = conduct(values[0, :k], slopes[0, :k], values[1, :k], slopes[1, :k], apart, doubt)
    return how == QUIET and first[1, N - 1] * last[1, N - 1] > 0 and signs[0] * signs[1] > 0


@called
def neighbour(system, at, length, found):
    """Compute the point at a distance along the tangent of another, rows z, tangent and units; returns the sign of the
    determinant there, NaN if there is no such point."""
    N, room, row = at.shape[1], room_for(system), np.empty(at.shape[1])
    for i in range(N):
        found[0, i], found[2, i] = at[0, i] + length * at[1, i], at[2, i]
        row[i] = at[1, i] / at[2, i] ** 2
    ended, _ = corrected(system, found[0], row, room, True)
    return directed(system, found[0], at[1], room, found[1])[0] if ended == FOUND else np.nan


@loop
def quiet_about(parts, at, length):
    """Whether nothing happens between the neighbours of a point on both sides."""
    system, ends = system_of(parts), np.empty((2, 3, at.shape[1]))
    signs = neighbour(system, at, -length, ends[0]), neighbour(system, at, length, ends[1])
    if signs[0] != signs[0] or signs[1] != signs[1]:
        return False
    branch = system.kind == EQUILIBRIA
    return calm_branch(system, ends[0], ends[1], signs) if branch else calm_curve(system, ends[0], ends[1])


@loop
def quiet(parts, first, last):
    """Whether nothing happens between two points, rows z, tangent and units."""
    system, aside = system_of(parts), np.empty(first.shape[1])
    if system.kind != EQUILIBRIA:
        return calm_curve(system, first, last)
    room = room_for(system)
    before, _ = directed(system, first[0], first[1], room, aside)
    after, _ = directed(system, last[0], last[1], room, aside)
    return calm_branch(system, first, last, (before, after))
