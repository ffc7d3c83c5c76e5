"""The walker: a regular stretch of a branch, taken in one compiled loop until something happens that it does not know.

It steps as ``continuation.engine`` does, by the same rules. Where one test alone changes its sign, it finds the place
and goes on; it ends on a bound before which nothing happens. A step that closes the branch, on which more happens, or
that cannot be taken, is left to the engine, and so is what there is to say about special points.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.between import calm, happens, reached, returns, turned, turns_between
from pfaff.bifurcation.equilibria.corrector import FOUND, blank, directed, length, newton, product
from pfaff.bifurcation.equilibria.curve_tests import EVERY, QUICK, TESTS, measured, pair_product, told_by_few
from pfaff.bifurcation.equilibria.few_eigenvalues import covers
from pfaff.bifurcation.equilibria.linking import called, loop
from pfaff.bifurcation.equilibria.locator import sought
from pfaff.bifurcation.equilibria.regular import BOUND, BRANCHING, EQUILIBRIA, FOLD, HOPF, TURN
from pfaff.bifurcation.equilibria.special_points import LEVEL
from pfaff.bifurcation.equilibria.spectra import (
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
from pfaff.continuation.dense import NEAR as ON_BOUND
from pfaff.continuation.problem import Pace

PACE = Pace()
FIRST, SMALLEST, GROWTH, EASY, SHARPEST, STRAYED, RESOLVED = (
    PACE.first, PACE.smallest, PACE.growth, PACE.easy, PACE.sharpest, PACE.strayed, PACE.resolved,
)  # fmt: skip


@called
def single(changed, passable):
    """The test that alone has a bit, if that may be passed; −1 if there is none, or more than one."""
    for k in range(TESTS):
        if changed == 1 << k and passable & changed:
            return k
    return -1


@called
def marked(system, test, here, ahead, ends, place, special, values, slopes):
    """The special point of a test between two points, where it has known values, z and tangent, at a Hopf point
    eigenvalues: whether it is found, and how many of them.

    Where the sum of two real eigenvalues vanishes beside a pair that crosses, it may be theirs: not a Hopf point."""
    turns = system[0] == EQUILIBRIA and test == FOLD
    at = sought(system, TURN if turns else test, 0.0, here, ahead, ends, special, place)
    if not (system[0] == EQUILIBRIA and test == HOPF and at == at):
        return at == at, 0
    many = watched(system, special[0], special[1], values, slopes)
    if many == 0:
        spectrum(system, special[0], special[1], values, slopes)
        many = len(values)
    doubt = rounding(values) if many == len(values) else rounding(system[9][3])
    return on_axis(values[:many], doubt), many


@called
def landed(system, here, ahead, bound, place):
    """Whether a step ends on a bound that it crosses, with nothing before it; the point ahead is then there."""
    N, b = here.shape[1], system[6]
    J, right, left, tangent = np.empty((N - 1, N)), np.empty_like(b), np.empty_like(b), np.empty(N)
    found, row, z, factors = np.empty((2, N)), np.zeros(N), np.empty(N), blank(N)
    at = sought(system, BOUND, bound, here, ahead, (np.nan, np.nan), found, place)
    if at != at:
        return False
    for i in range(N):
        z[i] = found[0, i]
    row[N - 1], z[N - 1] = 1.0, bound
    ended, _ = newton(system, z, row, factors, True, J, right, left)
    for i in range(N):
        found[0, i] -= z[i]
    if ended != FOUND or not length(found[0], system[8]) < ON_BOUND:
        return False
    z[N - 1] = bound
    sign, _ = directed(system, z, found[1], factors, tangent, J, right, left)
    if sign != sign:
        return False
    last = ahead.copy()
    for i in range(N):
        last[0, i], last[1, i] = z[i], tangent[i]
    if not calm(system, here, last):
        return False
    for i in range(N):
        ahead[0, i], ahead[1, i] = z[i], tangent[i]
    return True


@loop
def walk(
    kind,
    fn,
    routines,
    tape,
    numbers,
    places,
    b,
    c,
    units,
    frame,
    at,
    step,
    longest,
    bounds,
    home,
    origin,
    passable,
    place,
    found,
    special,
    marks,
    values,
    slopes,
):
    """Points ahead of one, rows (z, tangent, units, bend, borders) of ``found`` as of it. What is given back:

    how many there are; how many special points, rows (z, tangent) of ``special``, tests, numbers of points before them
    and of eigenvalues as rows of ``marks``; the length of the step that is next; its turn if it leads to one more
    point, before which something happens, else NaN; which tests change their signs there, as bits, −1 if that is not
    known; which bound the last point is on, −1 if none.

    ``home`` are z and units of the first point, ``origin`` the value from which the parameter is measured, not a number
    where its units stay; ``passable`` the tests, as bits, whose points are found here, to a ``place`` on their chords.
    ``values`` and ``slopes`` of eigenvalues are left as at both ends of the last step, then at special points."""
    n, N, h, many, special_ones = b.shape[1], at.shape[1], step, 0, 0
    b, c, units = b.copy(), c.copy(), units.copy()
    system = (kind, fn, routines, np.empty(tape), numbers.copy(), places, b, c, units, frame)
    z, tangent, guess, row = np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    J, right, left, factors = np.empty((N - 1, N)), np.empty_like(b), np.empty_like(b), blank(N)
    ends, ahead_of, known = np.empty((2, len(b), n)), np.empty((2, N)), 0  # of the step: new borders, its end
    tests = np.full((4, TESTS), np.nan)
    sign, about = directed(system, at[0], at[1], factors, tangent, J, right, left)
    if kind == EQUILIBRIA:
        known = at_both(system, at, at, 0.0, values, slopes)
    else:
        measured(system, at[0], J, right, left, about, EVERY, tests[1])
    while many < len(found) and h >= SMALLEST:
        here = at if many == 0 else found[many - 1]
        for i in range(N):
            z[i] = guess[i] = here[0, i] + h * here[1, i] + h**2 / 2 * here[3, i]
            row[i] = here[1, i] / here[2, i] ** 2
        ended, _ = newton(system, z, row, factors, True, J, right, left)
        for i in range(N):
            guess[i] -= z[i]
        if ended != FOUND or not length(guess, here[2]) <= STRAYED * h:
            h /= 2
            continue
        # By factors of its own: near branch points those of Newton's last step, a little aside, lead elsewhere.
        ahead, about = directed(system, z, here[1], factors, tangent, J, right, left)
        turn = turned(here[1], tangent, here[2])
        if not turn < SHARPEST or ahead != ahead:
            h /= 2
            continue
        side, back = reached(here[0], z, bounds), returns(here[0], z, home[0], home[1])
        event, changed, test = side >= 0 or back, -1, -1
        if kind == EQUILIBRIA:
            a, e, unit = here[1, N - 1] / here[2, N - 1], tangent[N - 1] / units[N - 1], units[N - 1] * h
            noise = np.spacing(max(abs(here[0, N - 1]), abs(z[N - 1]))) / unit
            ahead_of[0], ahead_of[1] = z, tangent
            if watched(system, z, tangent, values[1], slopes[1]) != known or (
                known < n and not covers(values, slopes, known, h)
            ):
                known = compared(system, here, ahead_of, h, values, slopes)
            k, doubt = known, floor(system, values, known)
            how, crossed = conduct(values[0, :k], slopes[0, :k], values[1, :k], slopes[1, :k], h, doubt)
            if h > RESOLVED and (how == HIDING or turns_between(a, e, (z[N - 1] - here[0, N - 1]) / unit, noise)):
                h /= 2
                continue
            changed = (1 << FOLD) * (not a * e > 0) | (1 << BRANCHING) * (not sign * ahead > 0)
            changed |= (1 << HOPF) * (how != QUIET and not pairs_sign(values[0, :k]) * pairs_sign(values[1, :k]) > 0)
            alone = min(abs(a), abs(e)) > LEVEL and crossed == 1 if changed == 1 << FOLD else crossed == 2
            test = single(changed, passable) if alone and not event else -1
            event = event or how != QUIET or changed > 0
        elif not event:
            for a in range(len(b)):
                for i in range(n):
                    ends[0, a, i], ends[1, a, i] = left[a, i], right[a, i]
            ahead_of[0], ahead_of[1] = z, tangent
            known = k = told_by_few(system, here, ahead_of, h, known, about, values, slopes, tests)
            measured(system, z, J, right, left, about, EVERY if k == n else QUICK, tests[2])
            changed, twice = happens(system, here, z, tangent, k, tests, J, right, left)
            event, test = changed > 0, -1 if twice else single(changed, passable)
        for i in range(N):
            guess[i] = z[i] - here[0, i]
        apart, size = length(guess, units), length(here[1], units)
        for i in range(N):
            found[many, 0, i], found[many, 1, i], found[many, 2, i] = z[i], tangent[i], units[i]
            found[many, 3, i] = (tangent[i] - here[1, i] / size) / apart
        for a in range(len(b)):
            for i in range(n):
                found[many, 4 + a, i], found[many, 4 + len(b) + a, i] = b[a, i], c[a, i]
        if test >= 0 and special_ones < len(marks):
            k, ends_of = special_ones, (tests[1, test], tests[2, test])
            if kind == EQUILIBRIA:
                ends_of = pair_product(values[0, :known], -1, -1), pair_product(values[1, :known], -1, -1)
            seen, some = marked(
                system, test, here, found[many], ends_of, place, special[k], values[2 + k], slopes[2 + k]
            )
            event = not seen or reached(here[0], special[k, 0], bounds) >= 0  # and turns back before its end
            if not event:
                marks[k, 0], marks[k, 1], marks[k, 2], special_ones = test, many, some, special_ones + 1
        if side >= 0 and not back and landed(system, here, found[many], bounds[side], place):
            return many + 1, special_ones, h, np.nan, 0, side
        if event:
            if kind == EQUILIBRIA and known < n:
                spectrum(system, here[0], here[1], values[0], slopes[0])
                spectrum(system, z, tangent, values[1], slopes[1])
            return many, special_ones, h, turn, changed, -1
        for i in range(n):
            values[0, i], slopes[0, i] = values[1, i], slopes[1, i]
        for k in range(TESTS):
            tests[0, k], tests[1, k] = tests[1, k], tests[2, k]
        sign, h, many = ahead, min(longest, GROWTH * h if turn < EASY else h), many + 1
        orthonormal(ends[0], b)
        orthonormal(ends[1], c)
        renew(z, units, n, origin)
    return many, special_ones, h, np.nan, 0, -1


@called
def orthonormal(vectors, rows):
    """One or two vectors as new borders."""
    for a in range(len(rows)):
        along = product(rows[0], vectors[a]) if a else 0.0
        for i in range(rows.shape[1]):
            rows[a, i] = vectors[a, i] - (along * rows[0, i] if a else 0.0)
        size = np.sqrt(product(rows[a], rows[a]))
        for i in range(rows.shape[1]):
            rows[a, i] /= size


@called
def renew(z, units, n, origin):
    """Units of the states grow with them, together; that of the parameter with its distance from an origin."""
    N, grown = len(z), 1.0
    for i in range(n):
        grown = max(grown, abs(z[i]) / units[i])
    for i in range(n):
        units[i] *= grown
    if origin == origin:
        units[N - 1] = max(units[N - 1], abs(z[N - 1] - origin))
