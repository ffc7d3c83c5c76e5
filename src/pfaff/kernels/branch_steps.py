# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Regular stretches of branches and curves, step by step until something happens that has to be looked at.

Steps follow the rules of ``continuation.engine``. Where exactly one test changes sign, its zero is located and steps go
on; they end on a bound before which nothing happens. A step that closes the branch, in which more happens, or that
cannot be taken, is left to the engine, as are the details of special points.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, NAN, fabs, nextafter, sqrt
    from cython.cimports.libc.string import memcpy
    from cython.cimports.pfaff.kernels.branch_tests import (
        EVERY, QUICK, TESTS, by_eigenvalues, happens, in_frame, measured, pair_product, reached, returns, told_by_few,
        turned, turns_between,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.corrector import (
        EQUILIBRIA, FOUND, FROM, Curve, corrected, directed, length, product, state_jacobian,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.eigenframes import covers, few
    from cython.cimports.pfaff.kernels.linear import eigen
    from cython.cimports.pfaff.kernels.spectra import (
        HIDING, QUIET, at_both, compared, conduct, floor, on_axis, pairs_sign, rounding, spectrum, watched,
    )  # fmt: skip

BOUND = cython.declare(cython.int, -1)  # located by number beside tests: a value of the parameter, ...
TURN = cython.declare(cython.int, -2)  # ... and where it turns
FOLD = cython.declare(cython.int, 0)  # tests on branches of equilibria
BRANCHING = cython.declare(cython.int, 1)
HOPF = cython.declare(cython.int, 2)
LOCATED = BOUND, TURN, FOLD, BRANCHING, HOPF  # for Python
TRIALS = cython.declare(cython.int, 100)
LEFT = cython.declare(cython.double, 4e-15)  # relative uncertainty of a place due to rounding
EDGE = cython.declare(cython.double, 0.05)  # distance of the first trial from the ends of a step, relative to it
GUESSES = cython.declare(cython.int, 4)  # steps of Newton's method along a cubic


def _trial(s, which, bound, a, b, at, fresh):
    """A test at a fraction of the chord of two points, rows z, tangent and units; NaN if there is no point. Unless
    ``fresh``, factors from another point are used."""
    N = s.N
    z = s.trial
    tangent = s.trial + N
    way = s.chord
    row = s.chord + N
    units = a + 2 * N
    about: cython.double = 0.0
    last: cython.double = 0.0
    for i in range(N):
        way[i] = b[i] - a[i]
        row[i] = way[i] / (units[i] * units[i])
    chord, size = length(way, units, N), length(b + N, units, N)
    for i in range(N):
        bow = at * ((1 - at) * (1 - at)) * a[N + i] + at * at * (at - 1) * b[N + i] / size
        z[i] = a[i] + at * at * (3 - 2 * at) * way[i] + chord * bow
    if corrected(s, z, row, fresh, cython.address(last)) != FOUND:
        return NAN
    sign = directed(s, z, way, tangent, cython.address(about))
    if sign != sign:
        return NAN
    if which == BOUND:
        return z[N - 1] - bound
    return tangent[N - 1] if which == TURN else _tested(s, which, z, about)


def _tested(s, which, z, about):
    """A test at a point, by the present frame; NaN where that does not serve."""
    n = s.n
    tests = cython.declare(cython.double[4])
    framed: cython.bint = n >= FROM and s.many > 0
    if s.kind != EQUILIBRIA:
        if not framed or not by_eigenvalues(s.kind, which):
            measured(s, z, about, which, tests)
        elif not in_frame(s, 0, about, tests):
            return NAN
        return tests[which]
    state_jacobian(s, s.A)
    if framed:
        many = few(s, s.A, s.A, False, s.some, s.some, s.spare)
        return pair_product(s.some, many, -1, -1) if many else NAN
    eigen(s.A, n, s.some, cython.NULL, cython.NULL, s.work)
    return pair_product(s.some, n, -1, -1)


def _guessed(s, which, bound, first, last, f1, f2):
    """A guess of the fraction at which a test with these end values vanishes: on Hermite's cubic of the parameter, if
    that turns or reaches a bound, else on a straight line."""
    N = s.N
    chord = 0.0
    at = f1 / (f1 - f2)
    before = first[N - 1]
    after = last[N - 1]
    if which != TURN and which != BOUND:
        return at
    for i in range(N):
        chord += ((last[i] - first[i]) / first[2 * N + i]) * ((last[i] - first[i]) / first[2 * N + i])
    rise, fall = sqrt(chord) * first[2 * N - 1], sqrt(chord) * last[2 * N - 1]
    bend, twist = 3 * (after - before) - 2 * rise - fall, 2 * (before - after) + rise + fall
    for _ in range(GUESSES):
        slope, curve = rise + at * (2 * bend + 3 * at * twist), 2 * bend + 6 * at * twist
        if which == TURN:
            at -= slope / curve
        else:
            at -= (before - bound + at * (rise + at * (bend + at * twist))) / slope
    return at if 0.0 < at < 1.0 else f1 / (f1 - f2)


def _sought(s, which, bound, first, last, one, other, found, place):
    """The fraction of the chord of two points where a test vanishes, with the point there in ``found``; NaN if it does
    not vanish or a trial fails. ``one`` and ``other`` are its values at both ends, if known. Chandrupatla's method
    (1997)."""
    N = s.N
    x1 = 0.0
    x2 = 1.0
    x3 = 0.0
    best = NAN
    least = INFINITY
    f1 = first[N - 1] - bound
    f2 = last[N - 1] - bound
    if which == TURN:
        f1, f2 = first[2 * N - 1], last[2 * N - 1]
    elif which != BOUND and one * other < 0.0:
        f1, f2 = one, other
    elif which != BOUND:
        f1 = _trial(s, which, bound, first, last, x1, True)
        f2 = _trial(s, which, bound, first, last, x2, True)
    f3, small, large = f1, min(fabs(f1), fabs(f2)), max(fabs(f1), fabs(f2))
    if not f1 * f2 < 0.0:
        return NAN
    t = min(max(_guessed(s, which, bound, first, last, f1, f2), EDGE), 1 - EDGE)
    for k in range(TRIALS):
        at = x1 + t * (x2 - x1)
        value = _trial(s, which, bound, first, last, at, k == 0)
        if not fabs(value) < INFINITY:
            return NAN
        if fabs(value) <= least:
            least, best = fabs(value), at
            memcpy(found, s.trial, 16 * N)
        if (value > 0.0) == (f1 > 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = at, value
        slack = (LEFT * fabs(best) + place) / fabs(x2 - x1)
        if slack > 0.5 or value == 0.0:
            break
        ratio, fall = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        t = 0.5
        if fall * fall < ratio and (1 - fall) * (1 - fall) < 1 - ratio:
            t = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            if fabs(t) < slack:  # the zero is closer than the accuracy asked for
                break
        t = min(1 - slack, max(slack, t))
    # A function may change its sign through infinity; one that vanishes is larger half way to the farther end.
    if least <= s.rules.sharp * small:
        return best
    if not least <= s.rules.sharp * large:
        return NAN
    at = best / 2 if best > 0.5 else (1 + best) / 2
    return best if least < s.rules.sharp * fabs(_trial(s, which, bound, first, last, at, True)) else NAN


def _advanced(s, here, h, sign, about):
    """The end of a step from a point, rows z, tangent, units and bend. Returns its turn (infinite if there is no end),
    the sign of the determinant there, and ω² or the sign of the bordered determinant."""
    N = s.N
    last: cython.double = 0.0
    z = s.end
    units = here + 2 * N
    for i in range(N):
        z[i] = s.apart[i] = here[i] + h * here[N + i] + h * h / 2 * here[3 * N + i]
        s.across[i] = here[N + i] / (units[i] * units[i])
    if corrected(s, z, s.across, True, cython.address(last)) != FOUND:
        return INFINITY
    for i in range(N):
        s.apart[i] -= z[i]
    if not length(s.apart, units, N) <= s.rules.strayed * h:
        return INFINITY
    # With factors of its own: near branch points those of Newton's last step, taken a little aside, lead elsewhere.
    sign[0] = directed(s, z, here + N, s.end + N, about)
    return turned(here + N, s.end + N, units, N) if sign[0] == sign[0] else INFINITY


def _on_branch(s, here, end, h, before, after, known, hides, event, changed, alone):
    """What happens in a step along equilibria, with ``known`` eigenvalues. Returns their number, whether more may be
    hidden, whether something happens, a bit mask of tests that change sign, and whether that is a single event."""
    n = s.n
    last = s.N - 1
    crossed: cython.int = 0
    if watched(s, end, end + s.N, 1) != known or (known < n and not covers(s, h)):
        known = compared(s, here, end, h)
    how = conduct(s, known, h, floor(s, known), cython.address(crossed))
    a, e, unit = here[s.N + last] / here[2 * s.N + last], end[s.N + last] / s.units[last], s.units[last] * h
    noise = max(fabs(here[last]), fabs(end[last]))
    noise = (nextafter(noise, INFINITY) - noise) / unit
    hides[0] = how == HIDING or turns_between(s, a, e, (end[last] - here[last]) / unit, noise)
    changed[0] = 0
    if not a * e > 0.0:
        changed[0] |= 1 << FOLD
    if not before * after > 0.0:
        changed[0] |= 1 << BRANCHING
    if how != QUIET and not pairs_sign(s.spectra, known) * pairs_sign(s.spectra + n, known) > 0.0:
        changed[0] |= 1 << HOPF
    event[0] = how != QUIET or changed[0] > 0
    if changed[0] == 1 << FOLD:
        alone[0] = min(fabs(a), fabs(e)) > s.rules.level and crossed == 1
    else:
        alone[0] = crossed == 2
    return known


def _on_curve(s, here, end, h, about, known, event, changed, alone):
    """What happens in a step along a curve, where nothing is hidden; returns as ``_on_branch`` does."""
    twice: cython.bint = False
    size = s.rows * s.n
    memcpy(s.borders, s.left, 8 * size)
    memcpy(s.borders + size, s.right, 8 * size)
    known = told_by_few(s, here, end, h, known, about)
    measured(s, end, about, EVERY if known == s.n else QUICK, s.tests + 2 * TESTS)
    changed[0] = happens(s, here, end, end + s.N, known, cython.address(twice))
    event[0] = changed[0] > 0
    alone[0] = not twice
    return known


def _single(changed, passable):
    """The only test in a bit mask, if it may be passed; −1 otherwise."""
    for k in range(TESTS):
        if changed == 1 << k and passable & changed:
            return k
    return -1


def _marked(s, test, here, ahead, bounds, sides, place, known, found, row, some):
    """Locate the special point of a test in a step, at a Hopf point with its eigenvalues in a row of ``spectra``;
    returns whether it was found.

    Where the sum of two real eigenvalues vanishes beside a pair that crosses, the zero may be theirs: no Hopf point."""
    n = s.n
    N = s.N
    every: cython.bint
    equilibria: cython.bint = s.kind == EQUILIBRIA
    one = s.tests[TESTS + test]
    other = s.tests[2 * TESTS + test]
    values = s.spectra + row * n
    which = TURN if equilibria and test == FOLD else test
    some[0] = 0
    if equilibria:
        one, other = pair_product(s.spectra, known, -1, -1), pair_product(s.spectra + n, known, -1, -1)
    at = _sought(s, which, 0.0, here, ahead, one, other, found, place)
    if at != at or reached(here[N - 1], found[N - 1], bounds, sides) >= 0:  # where it turns back before its end
        return False
    if equilibria and test == HOPF:
        some[0] = watched(s, found, found + N, row)
        every = some[0] == 0 or some[0] == n
        if some[0] == 0:
            spectrum(s, found, found + N, values, s.slopes + row * n)
            some[0] = n
        return on_axis(s, values, some[0], rounding(s, values if every else s.frame_values, n))
    return True


def _landed(s, here, ahead, bound, place, sign, known):
    """Whether a step ends on a bound that it crosses, with nothing before it; the point ahead is then moved there."""
    N = s.N
    changed: cython.int = 0
    hides: cython.bint = False
    event: cython.bint = False
    alone: cython.bint = False
    about: cython.double = 0.0
    change: cython.double = 0.0
    found = s.found
    last = s.landed
    h = _sought(s, BOUND, bound, here, ahead, NAN, NAN, found, place)
    if h != h:
        return False
    memcpy(last, found, 8 * N)
    for i in range(N):
        s.across[i] = 1.0 if i == N - 1 else 0.0
    last[N - 1] = bound
    if corrected(s, last, s.across, True, cython.address(change)) != FOUND:
        return False
    for i in range(N):
        found[i] -= last[i]
    if not length(found, s.units, N) < s.rules.on_bound:
        return False
    last[N - 1] = bound
    there = directed(s, last, found + N, last + N, cython.address(about))
    if there != there:
        return False
    for i in range(N):
        found[i] = last[i] - here[i]
    h = length(found, here + 2 * N, N)
    if s.kind == EQUILIBRIA:
        _on_branch(
            s, here, last, h, sign, there, known, cython.address(hides), cython.address(event),
            cython.address(changed), cython.address(alone))  # fmt: skip
    else:
        _on_curve(
            s, here, last, h, about, known, cython.address(event), cython.address(changed),
            cython.address(alone))  # fmt: skip
    if hides or event:
        return False
    memcpy(ahead, last, 16 * N)
    return True


def _noted(s, here, point):
    """Record the end of a step as a point, rows z, tangent, units, bend and borders."""
    n = s.n
    N = s.N
    for i in range(N):
        s.apart[i] = s.end[i] - here[i]
    apart, size = length(s.apart, s.units, N), length(here + N, s.units, N)
    memcpy(point, s.end, 16 * N)
    memcpy(point + 2 * N, s.units, 8 * N)
    for i in range(N):
        point[3 * N + i] = (s.end[N + i] - here[N + i] / size) / apart
    for a in range(s.rows):
        memcpy(point + (4 + a) * N, s.b + a * n, 8 * n)
        memcpy(point + (4 + s.rows + a) * N, s.c + a * n, 8 * n)


def _move_on(s, origins, many):
    """Make the end of a step the beginning of the next one: the units of the states grow with them, together, and those
    of the last parameters with their distances from their origins."""
    n = s.n
    grown = 1.0
    memcpy(s.spectra, s.spectra + n, 16 * n)
    memcpy(s.slopes, s.slopes + n, 16 * n)
    if n >= FROM:
        memcpy(s.others, s.others + 2 * n * n, 16 * n * n)
    if s.many < 0:
        s.many += 1
    memcpy(s.tests, s.tests + TESTS, 8 * TESTS)
    memcpy(s.tests + TESTS, s.tests + 2 * TESTS, 8 * TESTS)
    _orthonormal(s.borders, s.b, s.rows, n)
    _orthonormal(s.borders + s.rows * n, s.c, s.rows, n)
    for i in range(n):
        grown = max(grown, fabs(s.end[i]) / s.units[i])
    for i in range(n):
        s.units[i] *= grown
    for k in range(many):
        i = s.N - many + k
        s.units[i] = max(s.units[i], fabs(s.end[i] - origins[k]))


def _orthonormal(vectors, rows, many, n):
    """Orthonormalise one or two vectors, as new borders."""
    for a in range(many):
        along = product(rows, vectors + a * n, n) if a else 0.0
        for i in range(n):
            rows[a * n + i] = vectors[a * n + i] - (along * rows[i] if a else 0.0)
        size = sqrt(product(rows + a * n, rows + a * n, n))
        for i in range(n):
            rows[a * n + i] /= size


@cython.cfunc
def _at(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


def locate(curve: Curve, which: cython.Py_ssize_t, bound: cython.double, first, last, found, place: cython.double):
    """The fraction of the chord of two points, rows z, tangent and units, where a test vanishes, with the point there
    in ``found``; NaN if it does not vanish or a trial fails."""
    curve.begin()
    first, last = np.ascontiguousarray(first), np.ascontiguousarray(last)
    return _sought(curve, which, bound, _at(first), _at(last), NAN, NAN, _at(found), place)


def walk(
    curve: Curve, at, longest: cython.double, bounds, home, origins, passable: cython.int, place: cython.double,
    points, special, marks, spectra, h: cython.double,
):  # fmt: skip
    """Points ahead of one, rows z, tangent, units and bend, with a first step of length ``h``; ``home`` is z and units
    of the first point of the branch, ``origins`` are those of the units of the last parameters. Zeros of the
    ``passable`` tests are located, to an accuracy of ``place`` on their chords. Returns:

    the number of points; the number of special points; the length of the next step; its turn if it leads to one more
    point before which something happens, else NaN; a bit mask of the tests that change sign there, −1 if unknown; the
    index of the bound that the last point is on, −1 if none. ``points`` then holds rows z, tangent, units, bend and
    borders; ``special`` rows z and tangent; ``marks`` tests, numbers of points before them, and of eigenvalues;
    ``spectra`` eigenvalues and their slopes at both ends of the last step, then at special points."""
    s: Curve = curve
    N = s.N
    n = s.n
    many = 0
    specials = 0
    known = 0
    some: cython.Py_ssize_t = 0
    most = len(points)
    most_special = len(marks)
    sides = len(bounds)
    origin_count = len(origins)
    wide = (4 + 2 * s.rows) * N
    changed: cython.int = 0
    back: cython.bint
    hides: cython.bint = False
    event: cython.bint = False
    alone: cython.bint = False
    ahead: cython.double = NAN
    about: cython.double = 0.0
    at, bounds, home, origins = (np.ascontiguousarray(each, dtype=float) for each in (at, bounds, home, origins))
    here = _at(at)
    edges = _at(bounds)
    first = _at(home)
    from_there = _at(origins)
    out = _at(points)
    zeros = _at(special)
    noted = cython.cast(cython.p_longlong, _at(marks))
    s.begin()
    s.spectra = cython.cast(cython.p_doublecomplex, _at(spectra[0]))
    s.slopes = cython.cast(cython.p_doublecomplex, _at(spectra[1]))
    for test in range(4 * TESTS):
        s.tests[test] = NAN
    sign = directed(s, here, here + N, s.end + N, cython.address(about))
    if s.kind == EQUILIBRIA:
        known = at_both(s, here, here, 0.0)
    else:
        measured(s, here, about, EVERY, s.tests + TESTS)
    while many < most and h >= s.rules.smallest:
        turn = _advanced(s, here, h, cython.address(ahead), cython.address(about))
        if not turn < s.rules.sharpest:
            h /= 2
            continue
        side = reached(here[N - 1], s.end[N - 1], edges, sides)
        back = returns(here, s.end, first, first + N, N)
        hides, event, changed, alone = False, True, -1, False
        if s.kind == EQUILIBRIA:
            known = _on_branch(
                s, here, s.end, h, sign, ahead, known, cython.address(hides), cython.address(event),
                cython.address(changed), cython.address(alone))  # fmt: skip
        elif side < 0 and not back:
            known = _on_curve(
                s, here, s.end, h, about, known, cython.address(event), cython.address(changed),
                cython.address(alone))  # fmt: skip
        if hides and h > s.rules.resolved:
            h /= 2
            continue
        _noted(s, here, out + many * wide)
        if side >= 0 and not back:
            if _landed(s, here, out + many * wide, edges[side], place, sign, known):
                return many + 1, specials, h, NAN, 0, side
        elif alone and not back and specials < most_special:
            test = _single(changed, passable)
            if test >= 0 and _marked(
                s, test, here, out + many * wide, edges, sides, place, known, zeros + 2 * specials * N, 2 + specials,
                cython.address(some),
            ):  # fmt: skip
                noted[3 * specials], noted[3 * specials + 1], noted[3 * specials + 2] = test, many, some
                event, specials = False, specials + 1
        if event or side >= 0 or back:
            if s.kind == EQUILIBRIA and (known < n or side >= 0):
                spectrum(s, here, here + N, s.spectra, s.slopes)
                spectrum(s, s.end, s.end + N, s.spectra + n, s.slopes + n)
            return many, specials, h, turn, changed, -1
        _move_on(s, from_there, origin_count)
        here = out + many * wide
        sign, h, many = ahead, min(longest, s.rules.growth * h if turn < s.rules.easy else h), many + 1
    return many, specials, h, NAN, 0, -1
