"""The walker: a regular stretch of a branch, taken in one compiled loop until something happens that it cannot treat.

It steps by the same rules as ``continuation.engine``. Where exactly one test changes sign, it locates the point and
goes on; it ends on a bound before which nothing happens. A step that closes the branch, in which more happens, or that
cannot be taken, is left to the engine, as are the details of special points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.bifurcation.equilibria.special_points import LEVEL
from pfaff.bifurcation.equilibria.walking.corrector import FOUND, UNSETTLED, corrected, directed, length, product
from pfaff.bifurcation.equilibria.walking.curve_tests import EVERY, QUICK, TESTS, measured, pair_product, told_by_few
from pfaff.bifurcation.equilibria.walking.decay_bounds import covers
from pfaff.bifurcation.equilibria.walking.eigenframes import FROM
from pfaff.bifurcation.equilibria.walking.locator import sought
from pfaff.bifurcation.equilibria.walking.loop_system import Room, Spectra, room_for, system_of
from pfaff.bifurcation.equilibria.walking.regular import BOUND, BRANCHING, EQUILIBRIA, FOLD, HOPF, TURN
from pfaff.bifurcation.equilibria.walking.spectra import (
    HIDING,
    QUIET,
    at_both,
    compared,
    conduct,
    floor,
    on_axis,
    pairs_sign,
    rounding,
    spectrum,
    watched,
)  # fmt: skip
from pfaff.bifurcation.equilibria.walking.step_tests import happens, reached, returns, turned, turns_between
from pfaff.bifurcation.machine_code.linking import called, loop
from pfaff.continuation.dense import NEAR as ON_BOUND
from pfaff.continuation.problem import Pace

PACE = Pace()
FIRST, SMALLEST, GROWTH, EASY, SHARPEST, STRAYED, RESOLVED = (
    PACE.first, PACE.smallest, PACE.growth, PACE.easy, PACE.sharpest, PACE.strayed, PACE.resolved,
)  # fmt: skip


class Way(NamedTuple):
    """The arguments of a walk."""

    at: np.ndarray  # rows z, tangent, units and bend of its first point
    longest: float
    bounds: np.ndarray
    home: np.ndarray  # z and units of the first point of the branch
    origins: np.ndarray  # values from which the distances are measured with which the units of the last parameters grow
    passable: int  # bit mask of tests whose zeros are located here ...
    place: float  # ... to this accuracy on their chords


class Taken(NamedTuple):
    """What a walk fills: points, rows z, tangent, units, bend and borders; special ones, rows z and tangent; and their
    marks: test, number of points before them, and of eigenvalues."""

    points: np.ndarray
    special: np.ndarray
    marks: np.ndarray


class Step(NamedTuple):
    """A step under way: its end, z and tangent; tests at the point before it, at its ends and in its middle; and new
    borders."""

    end: np.ndarray
    row: np.ndarray
    beside: np.ndarray
    tests: np.ndarray
    borders: np.ndarray
    room: Room


@called
def step_for(system):
    n, N = system.b.shape[1], len(system.units)
    tests, borders = np.full((4, TESTS), np.nan), np.empty((2, len(system.b), n))
    return Step(np.empty((2, N)), np.empty(N), np.empty(N), tests, borders, room_for(system))


@called
def advanced(system, here, h, step):
    """The end of a step. Returns its turn (infinite if there is no end), the sign of the determinant there, and ω² or
    the sign of the bordered determinant."""
    z, beside, N = step.end[0], step.beside, here.shape[1]
    for i in range(N):
        z[i] = beside[i] = here[0, i] + h * here[1, i] + h**2 / 2 * here[3, i]
        step.row[i] = here[1, i] / here[2, i] ** 2
    ended, _ = corrected(system, z, step.row, step.room, True)
    for i in range(N):
        beside[i] -= z[i]
    if ended != FOUND or not length(beside, here[2]) <= STRAYED * h:
        return np.inf, np.nan, np.nan
    # With factors of its own: near branch points those of Newton's last step, taken a little aside, lead elsewhere.
    sign, about = directed(system, z, here[1], step.room, step.end[1])
    return turned(here[1], step.end[1], here[2]) if sign == sign else np.inf, sign, about


@called
def on_branch(system, here, end, h, signs, known, spectra):
    """What happens in a step along equilibria, with ``known`` eigenvalues. Returns their number, whether more may be
    hidden, whether something happens, a bit mask of tests that change sign, and whether that is a single event."""
    n, last, values, slopes = system.b.shape[1], here.shape[1] - 1, spectra.values, spectra.slopes
    if watched(system, end[0], end[1], spectra, 1) != known or (
        known < n and not covers(system.routines, system.frame, spectra.others, h)
    ):
        known = compared(system, here, end, h, spectra)
    k, doubt = known, floor(system, values, known)
    how, crossed = conduct(values[0, :k], slopes[0, :k], values[1, :k], slopes[1, :k], h, doubt)
    a, e, unit = here[1, last] / here[2, last], end[1, last] / system.units[last], system.units[last] * h
    noise = np.spacing(max(abs(here[0, last]), abs(end[0, last]))) / unit
    hides = how == HIDING or turns_between(a, e, (end[0, last] - here[0, last]) / unit, noise)
    changed = (1 << FOLD) * (not a * e > 0) | (1 << BRANCHING) * (not signs[0] * signs[1] > 0)
    changed |= (1 << HOPF) * (how != QUIET and not pairs_sign(values[0, :k]) * pairs_sign(values[1, :k]) > 0)
    alone = min(abs(a), abs(e)) > LEVEL and crossed == 1 if changed == 1 << FOLD else crossed == 2
    return known, hides, how != QUIET or changed > 0, changed, alone


@called
def on_curve(system, here, end, h, about, known, step, spectra):
    """What happens in a step along a curve, where nothing is hidden; returns as ``on_branch`` does."""
    n = system.b.shape[1]
    for a in range(len(system.b)):
        for i in range(n):
            step.borders[0, a, i], step.borders[1, a, i] = step.room.left[a, i], step.room.right[a, i]
    known = told_by_few(system, here, end, h, known, about, spectra, step.tests)
    measured(system, end[0], step.room, about, EVERY if known == n else QUICK, step.tests[2])
    changed, twice = happens(system, here, end[0], end[1], known, step.tests, step.room)
    return known, False, changed > 0, changed, not twice


@called
def single(changed, passable):
    """The only test in a bit mask, if it may be passed; −1 otherwise."""
    for k in range(TESTS):
        if changed == 1 << k and passable & changed:
            return k
    return -1


@called
def marked(system, test, here, way, known, step, spectra, taken, many, special):
    """Locate the special point of a test in a step and mark it, at a Hopf point with its eigenvalues; returns whether
    it was found.

    Where the sum of two real eigenvalues vanishes beside a pair that crosses, the zero may be theirs: no Hopf point."""
    values, equilibria, row, some = spectra.values, system.kind == EQUILIBRIA, 2 + special, 0
    ends, found = (step.tests[1, test], step.tests[2, test]), taken.special[special]
    if equilibria:
        ends = pair_product(values[0, :known], -1, -1), pair_product(values[1, :known], -1, -1)
    which = TURN if equilibria and test == FOLD else test
    at = sought(system, which, 0.0, here, taken.points[many], ends, found, way.place)
    if at != at or reached(here[0], found[0], way.bounds) >= 0:  # where it turns back before its end
        return False
    if equilibria and test == HOPF:
        some = watched(system, found[0], found[1], spectra, row)
        every = some in (0, values.shape[1])
        if some == 0:
            spectrum(system, found[0], found[1], values[row], spectra.slopes[row])
            some = values.shape[1]
        if not on_axis(values[row, :some], rounding(values[row] if every else system.frame.values)):
            return False
    taken.marks[special, 0], taken.marks[special, 1], taken.marks[special, 2] = test, many, some
    return True


@called
def landed(system, here, ahead, bound, way, sign, known, step, spectra):
    """Whether a step ends on a bound that it crosses, with nothing before it; the point ahead is then moved there."""
    N, found, last, row = here.shape[1], np.empty((2, here.shape[1])), np.empty((2, here.shape[1])), step.row
    at = sought(system, BOUND, bound, here, ahead, (np.nan, np.nan), found, way.place)
    for i in range(N):
        last[0, i], row[i] = found[0, i], 0.0
    row[N - 1], last[0, N - 1] = 1.0, bound
    ended, _ = corrected(system, last[0], row, step.room, True) if at == at else (UNSETTLED, np.inf)
    for i in range(N):
        found[0, i] -= last[0, i]
    if ended != FOUND or not length(found[0], system.units) < ON_BOUND:
        return False
    last[0, N - 1] = bound
    there, about = directed(system, last[0], found[1], step.room, last[1])
    for i in range(N):
        found[0, i] = last[0, i] - here[0, i]
    h = length(found[0], here[2])
    if there != there:
        return False
    if system.kind == EQUILIBRIA:
        _, hides, event, _, _ = on_branch(system, here, last, h, (sign, there), known, spectra)
    else:
        _, hides, event, _, _ = on_curve(system, here, last, h, about, known, step, spectra)
    if hides or event:
        return False
    for i in range(N):
        ahead[0, i], ahead[1, i] = last[0, i], last[1, i]
    return True


@called
def noted(system, here, end, beside, point):
    """Record the end of a step as a point."""
    N, (rows, n) = here.shape[1], system.b.shape
    for i in range(N):
        beside[i] = end[0, i] - here[0, i]
    apart, size = length(beside, system.units), length(here[1], system.units)
    for i in range(N):
        point[0, i], point[1, i], point[2, i] = end[0, i], end[1, i], system.units[i]
        point[3, i] = (end[1, i] - here[1, i] / size) / apart
    for a in range(rows):
        for i in range(n):
            point[4 + a, i], point[4 + rows + a, i] = system.b[a, i], system.c[a, i]


@called
def moved_on(system, origins, step, spectra):
    """Make the end of a step the beginning of the next one."""
    for i in range(spectra.values.shape[1]):
        spectra.values[0, i], spectra.slopes[0, i] = spectra.values[1, i], spectra.slopes[1, i]
    if len(spectra.others):
        spectra.others[0, :, :, :] = spectra.others[1]
    if system.frame.many[0] < 0:
        system.frame.many[0] += 1
    for k in range(TESTS):
        step.tests[0, k], step.tests[1, k] = step.tests[1, k], step.tests[2, k]
    orthonormal(step.borders[0], system.b)
    orthonormal(step.borders[1], system.c)
    renew(step.end[0], system.units, system.b.shape[1], origins)


@loop
def walk(parts, way, taken, spectra, h):
    """Points ahead of one, with a first step of length ``h``. Returns:

    the number of points; the number of special points; the length of the next step; its turn if it leads to one more
    point before which something happens, else NaN; a bit mask of the tests that change sign there, −1 if unknown; the
    index of the bound that the last point is on, −1 if none. ``spectra`` then holds eigenvalues at both ends of the
    last step, then at special points."""
    system, way, taken = system_of(parts), Way(*way), Taken(*taken)
    n, step, many, special, known = system.b.shape[1], step_for(system), 0, 0, 0
    spectra = Spectra(spectra[0], spectra[1], np.empty((2 if n >= FROM else 0, 2, n, n)))
    sign, about = directed(system, way.at[0], way.at[1], step.room, step.end[1])
    if system.kind == EQUILIBRIA:
        known = at_both(system, way.at, way.at, 0.0, spectra)
    else:
        measured(system, way.at[0], step.room, about, EVERY, step.tests[1])
    while many < len(taken.points) and h >= SMALLEST:
        here = way.at if many == 0 else taken.points[many - 1]
        turn, ahead, about = advanced(system, here, h, step)
        if not turn < SHARPEST:
            h /= 2
            continue
        side, back = reached(here[0], step.end[0], way.bounds), returns(here[0], step.end[0], way.home[0], way.home[1])
        hides, event, changed, alone = False, True, -1, False
        if system.kind == EQUILIBRIA:
            known, hides, event, changed, alone = on_branch(system, here, step.end, h, (sign, ahead), known, spectra)
        elif side < 0 and not back:
            known, hides, event, changed, alone = on_curve(system, here, step.end, h, about, known, step, spectra)
        if hides and h > RESOLVED:
            h /= 2
            continue
        noted(system, here, step.end, step.beside, taken.points[many])
        if side >= 0 and not back:
            if landed(system, here, taken.points[many], way.bounds[side], way, sign, known, step, spectra):
                return many + 1, special, h, np.nan, 0, side
        elif alone and not back and special < len(taken.marks):
            test = single(changed, way.passable)
            if test >= 0 and marked(system, test, here, way, known, step, spectra, taken, many, special):
                event, special = False, special + 1
        if event or side >= 0 or back:
            if system.kind == EQUILIBRIA and (known < n or side >= 0):
                spectrum(system, here[0], here[1], spectra.values[0], spectra.slopes[0])
                spectrum(system, step.end[0], step.end[1], spectra.values[1], spectra.slopes[1])
            return many, special, h, turn, changed, -1
        moved_on(system, way.origins, step, spectra)
        sign, h, many = ahead, min(way.longest, GROWTH * h if turn < EASY else h), many + 1
    return many, special, h, np.nan, 0, -1


@called
def orthonormal(vectors, rows):
    """Orthonormalise one or two vectors, as new borders."""
    for a in range(len(rows)):
        along = product(rows[0], vectors[a]) if a else 0.0
        for i in range(rows.shape[1]):
            rows[a, i] = vectors[a, i] - (along * rows[0, i] if a else 0.0)
        size = np.sqrt(product(rows[a], rows[a]))
        for i in range(rows.shape[1]):
            rows[a, i] /= size


@called
def renew(z, units, n, origins):
    """Let the units of the states grow with them, together, and those of parameters with their distances from
    origins."""
    N, grown = len(z), 1.0
    for i in range(n):
        grown = max(grown, abs(z[i]) / units[i])
    for i in range(n):
        units[i] *= grown
    for k in range(len(origins)):
        i = N - len(origins) + k
        units[i] = max(units[i], abs(z[i] - origins[k]))
