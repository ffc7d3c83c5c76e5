# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Periodic orbits on their meshes: slopes, derivatives and errors, interpolation on other meshes, and conditions."""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs
    from cython.cimports.pfaff.kernels.arrays import larger, numbers, places
    from cython.cimports.pfaff.kernels.chain import padded
    from cython.cimports.pfaff.kernels.condensation import stage_states, sum_rows
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm
    from cython.cimports.pfaff.kernels.metrics import orbit_of, shape_of, turned
    from cython.cimports.pfaff.kernels.step_rules import LEAST

EVEN = cython.declare(cython.double, 0.2)  # share of a mesh, relative to the rest, that is spread evenly


def mesh_room(rule, N):
    """How many numbers the functions below work on, for orbits of N intervals."""
    n, m = rule.n, rule.m
    return N * m * n + max(N * n + 2 * N + 1, 2 * m * padded(n) + padded(n) + m * m + 3 * m + 1)


def _power(x, exponent):
    """A power by repeated squares."""
    found = 1.0
    while exponent:
        if exponent & 1:
            found *= x
        exponent >>= 1
        x *= x
    return found


def all_slopes(rule, of, about, by_period, h, N, slopes):
    """x' of every state at the Gauss points, of an orbit or of a change of it: for positions T v, or T δv + δT v."""
    n, m, nr, T = rule.n, rule.m, rule.nr, about.scalars[0]
    for j in range(N):
        K, about_K = of.K + j * m * nr, about.K + j * m * nr
        for i in range(m):
            to = slopes + (j * m + i) * n
            for r in range(nr):
                to[rule.rows[r]] = K[i * nr + r]
            for k in range(rule.nf):
                s = rule.source[k]
                v = v0 = 0.0
                for l in range(m):
                    v += rule.A[i * m + l] * K[l * nr + s]
                    v0 += rule.A[i * m + l] * about_K[l * nr + s]
                v = of.x[j * n + rule.rows[s]] + h[j] * v
                to[rule.followers[k]] = T * v + by_period * (about.x[j * n + rule.rows[s]] + h[j] * v0)


def _jumps(slopes, h, N, m, n, highest, scale, signs, derivative, room):
    """|x^(m+1)| in every interval, from the jumps of the highest derivative of the collocation polynomials."""
    top, jump = room, room + N * n
    for j in range(N):
        power = _power(h[j], m - 1)
        for t in range(n):
            total = 0.0
            for i in range(m):
                total += highest[i] * slopes[(j * m + i) * n + t]
            top[j * n + t] = total * scale[t] / power
    for j in range(N + 1):
        before, after = N - 1 if j == 0 else j - 1, 0 if j == N else j
        jump[j] = 0.0
        for t in range(n):
            left = signs[t] * top[before * n + t] if j == 0 else top[before * n + t]
            right = signs[t] * top[after * n + t] if j == N else top[after * n + t]
            jump[j] = larger(jump[j], 2 * fabs(right - left) / (h[before] + h[after]))
    for j in range(N):
        derivative[j] = (jump[j + 1] + jump[j]) / 2


def _error_between(rule, orbit, h, N, scale, signs, room):
    """h^(m+1) |x^(m+1)| where it is largest, with its constant; NaN on intervals too short to tell."""
    slopes = room
    derivative = room + N * rule.m * rule.n
    all_slopes(rule, orbit, orbit, 0.0, h, N, slopes)
    _jumps(slopes, h, N, rule.m, rule.n, rule.highest, scale, signs, derivative, derivative + N)
    largest = 0.0
    for j in range(N):
        largest = larger(largest, derivative[j] * _power(h[j], rule.m + 1))
    return rule.constant * largest


def least_error(rule, velocity, accuracy, orbit, h, N, scale, signs, room):
    """The lesser of two estimates of the error of an orbit: how far the velocity misses the one that the linear flow
    carries, which is known, and what is between the mesh points.

    In stiff systems the first has a floor that no mesh removes. Below ``LEAST`` of the accuracy no mesh gets finer, and
    the second need not be known.
    """
    if velocity <= LEAST * accuracy:
        return velocity
    between = _error_between(rule, orbit, h, N, scale, signs, room)
    return between if between < velocity else velocity


def _shares(derivative, h, N, power, shares):
    """The part of every interval in the integral of derivative^power, with a share of the mean added: a mesh on which
    all parts are equal is adapted."""
    mean = 0.0
    for j in range(N):
        shares[j] = exponential(power * logarithm(derivative[j])) if derivative[j] > 0 else 0.0
        mean += shares[j] * h[j]
    for j in range(N):
        shares[j] = (shares[j] + EVEN * mean) * h[j] if mean > 0 else h[j]


def spread(rule, orbit, h, N, scale, signs, shares, room):
    """Fill in the part of every interval in the integral of |x^(m+1)|^(1/(m+1)); returns the ratio by which an adapted
    mesh reduces the error, which is of order h^2m."""
    slopes = room
    derivative = room + N * rule.m * rule.n
    all_slopes(rule, orbit, orbit, 0.0, h, N, slopes)
    _jumps(slopes, h, N, rule.m, rule.n, rule.highest, scale, signs, derivative, derivative + N)
    _shares(derivative, h, N, 1.0 / (rule.m + 1), shares)
    total = power = 0.0
    for j in range(N):
        total += shares[j]
    mean = total / N
    for j in range(N):
        power += _power(shares[j] / mean, 2 * rule.m)
    return N / power


def equidistribute(shares, at, N, times, count):
    """Fill in times that divide an integral equally, given the part of every interval in it."""
    each = 0.0
    for j in range(N):
        each += shares[j]
    each /= count
    interval: cython.Py_ssize_t = 0
    passed = 0.0  # the integral before that interval
    for k in range(1, count):
        while interval < N - 1 and passed + shares[interval] < k * each:
            passed += shares[interval]
            interval += 1
        times[k] = at[interval] + (at[interval + 1] - at[interval]) * (k * each - passed) / shares[interval]
    times[0], times[count] = 0.0, 1.0


def carry_both(rule, orbit, change, at, h, N, signs, new_at, M, new_orbit, new_change, room):
    """Fill in an orbit and a change of it on another mesh: states and slopes of both."""
    slopes = room
    rest = room + N * rule.m * rule.n
    all_slopes(rule, orbit, orbit, 0.0, h, N, slopes)
    _carry(
        at, N, orbit.x, slopes, signs, rule.inverse, rule.c, rule.m, rule.n, rule.rows, rule.nr, new_at, M,
        new_orbit.x, new_orbit.K, rest,
    )  # fmt: skip
    all_slopes(rule, change, orbit, change.scalars[0], h, N, slopes)
    _carry(
        at, N, change.x, slopes, signs, rule.inverse, rule.c, rule.m, rule.n, rule.rows, rule.nr, new_at, M,
        new_change.x, new_change.K, rest,
    )  # fmt: skip


def _carry(at, N, x, slopes, signs, inverse, c, m, n, rows, nr, new_at, M, new_x, new_K, room):
    """States and slopes on another mesh, by the collocation polynomials, whose slopes are sums of Legendre's P_k."""
    wide = padded(n)
    vectors = wide // 8
    mine, terms, found = room, room + m * wide, room + 2 * m * wide
    P = found + wide
    integrals = P + m + 1
    share = integrals + m
    j: cython.Py_ssize_t = 0
    known: cython.Py_ssize_t = -1
    for i in range((2 * m + 1) * wide):
        room[i] = 0.0
    for l in range(m):
        share[l] = 1.0 / (l + 1)
    P[0] = 1.0
    for k in range(M):
        for i in range(-1, m):
            time = new_at[k] if i < 0 else new_at[k] + (new_at[k + 1] - new_at[k]) * c[i]
            while j < N - 1 and time >= at[j + 1]:
                j += 1
            if j != known:
                known = j
                for q in range(m):
                    for t in range(n):
                        mine[q * wide + t] = slopes[(j * m + q) * n + t]
                for l in range(m):
                    sum_rows(terms + wide * l, mine, inverse + m * l, vectors, m, vectors)
            h = at[j + 1] - at[j]
            u = 2 * (time - at[j]) / h - 1
            P[1] = u
            for l in range(1, m):
                P[l + 1] = (2 - share[l]) * u * P[l] - (1 - share[l]) * P[l - 1]
            if i < 0:
                integrals[0] = h / 2 * (P[1] + P[0])
                for l in range(1, m):
                    integrals[l] = h / (4 * l + 2) * (P[l + 1] - P[l - 1])
                sum_rows(found, terms, integrals, vectors, m, vectors)
                for t in range(n):
                    new_x[k * n + t] = x[j * n + t] + found[t]
            else:
                sum_rows(found, terms, P, vectors, m, vectors)
                for r in range(nr):
                    new_K[(k * m + i) * nr + r] = found[rows[r]]
    for t in range(n):
        new_x[M * n + t] = signs[t] * new_x[t] + turned(x, signs, N, n, t)


def oddness(rates, signs, scale, period, n, count):
    """max |f(−x) + f(x)|, every component relative to its size; the columns are f at states and at their mirrors.

    ``signs`` are those of mirror images: components that keep theirs count with |f(−x) − f(x)|."""
    worst = 0.0
    for i in range(n):
        row = rates + 2 * i * count
        defect = 0.0
        size = 1 / (scale[i] * period)
        for j in range(count):
            defect = larger(defect, fabs(row[count + j] - signs[i] * row[j]))
            size = max(size, fabs(row[j]))
        worst = larger(worst, defect / size)
    return worst


def least_among(values, rows, columns):
    """The least value relative to the largest in any row; negative if their signs differ."""
    least = INFINITY
    for i in range(rows):
        low = high = values[i * columns]
        for j in range(1, columns):
            low, high = min(low, values[i * columns + j]), max(high, values[i * columns + j])
        least = min(least, low / high if fabs(low) < fabs(high) else high / low)
    return least


def missed_velocity(G, rates, columns, scale, N, n):
    """How far the velocity f, carried over each interval by G, misses f at its end: summed, relative to the largest."""
    total = largest = 0.0
    for j in range(N):
        worst = 0.0
        for i in range(n):
            missed = -rates[i * columns + j + 1]
            for t in range(n):
                missed += G[(j * n + i) * n + t] * rates[t * columns + j]
            worst = larger(worst, fabs(missed * scale[i]))
            largest = max(largest, fabs(rates[i * columns + j] * scale[i]))
        total += worst
    return total / largest


def pin(N, n, nb, last, of_scalars, h, weights, scale, held, orbit, signs, guess, rows, by_scalars, right):
    """Rows of phase and families before a last one, over mesh points and scalars, and their values: those on an orbit,
    for the last row that on a guess.

    ``held`` are covectors at the mesh points, indexed [family, point, state].
    The phase is along x', by differences of neighbouring states: f itself is far off where a stiff orbit is a guess.
    """
    size = (N + 1) * n
    largest = 0.0
    x = orbit.x
    for j in range(N + 1):
        for t in range(n):
            growth = turned(x, signs, N, n, t) if j == 0 or j == N else 0.0
            before = x[(j - 1) * n + t] if j > 0 else signs[t] * x[(N - 1) * n + t] - growth
            after = x[(j + 1) * n + t] if j < N else signs[t] * x[n + t] + growth
            rows[j * n + t] = (after - before) / (h[N - 1 if j == 0 else j - 1] + h[0 if j == N else j])
            largest = max(largest, fabs(rows[j * n + t] * scale[t]))
    for j in range(N + 1):
        for t in range(n):
            at = j * n + t
            rows[at] *= weights[j] * scale[t] * scale[t] / largest
            for k in range(nb - 2):
                rows[(1 + k) * size + at] = weights[j] * held[k * size + at]
            rows[(nb - 1) * size + at] = last[at]
    for k in range(nb):
        for t in range(nb):
            by_scalars[k * nb + t] = of_scalars[t] if k == nb - 1 else 0.0
    for k in range(nb):
        of = guess if k == nb - 1 else orbit
        right[k] = 0.0
        for i in range(size):
            right[k] += rows[k * size + i] * of.x[i]
        for t in range(nb):
            right[k] += by_scalars[k * nb + t] * of.scalars[t]


# For Python


def stages_of(scheme: Scheme, cycle, h):
    """The states at the Gauss points of an orbit, one column each: the first points of all intervals, then the second
    …"""
    shape, rule = shape_of(cycle), cython.address(scheme.rule)
    orbit, X = orbit_of(cycle, cython.address(shape)), np.empty((rule.n, shape.N * rule.m))
    stage_states(rule, cython.address(orbit), numbers(h, shape.N), shape.N, numbers(X, X.size))
    return X


def slopes_of(scheme: Scheme, cycle, h):
    """x' of every state of an orbit at the Gauss points, indexed [interval, point, state]."""
    shape = shape_of(cycle)
    orbit, rule = orbit_of(cycle, cython.address(shape)), cython.address(scheme.rule)
    slopes = np.empty((shape.N, rule.m, rule.n))
    all_slopes(
        rule, cython.address(orbit), cython.address(orbit), 0.0, numbers(h, shape.N), shape.N,
        numbers(slopes, slopes.size),
    )  # fmt: skip
    return slopes


def error_of(scheme: Scheme, velocity: cython.double, accuracy: cython.double, cycle, h, scale):
    """The lesser of two estimates of the error of an orbit, given that by its velocity."""
    shape, rule = shape_of(cycle), cython.address(scheme.rule)
    orbit, room = orbit_of(cycle, cython.address(shape)), np.empty(mesh_room(rule, shape.N))
    return least_error(
        rule, velocity, accuracy, cython.address(orbit), numbers(h, shape.N), shape.N, numbers(scale, shape.n),
        numbers(cycle.signs, shape.n), numbers(room, len(room)),
    )  # fmt: skip


def spread_of(scheme: Scheme, cycle, h, scale):
    """The part of every interval in the integral of |x^(m+1)|^(1/(m+1)), and the ratio by which an adapted mesh reduces
    the error, which is of order h^2m."""
    shape, rule = shape_of(cycle), cython.address(scheme.rule)
    orbit, room = orbit_of(cycle, cython.address(shape)), np.empty(mesh_room(rule, shape.N))
    shares = np.empty(shape.N)
    gain = spread(
        rule, cython.address(orbit), numbers(h, shape.N), shape.N, numbers(scale, shape.n),
        numbers(cycle.signs, shape.n), numbers(shares, shape.N), numbers(room, len(room)),
    )  # fmt: skip
    return shares, gain


def parts(slopes, h, highest, scale, signs):
    """The same parts of any curve, from its slopes at the Gauss points."""
    N, m, n = slopes.shape
    shares, room = np.empty(N), np.empty(N * n + 2 * N + 1)
    derivative = numbers(room, len(room))
    _jumps(
        numbers(slopes, N * m * n), numbers(h, N), N, m, n, numbers(highest, m), numbers(scale, n), numbers(signs, n),
        derivative, derivative + cython.cast(cython.Py_ssize_t, N),
    )  # fmt: skip
    _shares(derivative, numbers(h, N), N, 1.0 / (m + 1), numbers(shares, N))
    return shares


def equidistributed(shares, at, count: cython.Py_ssize_t):
    """Times that divide an integral equally, given the part of every interval in it."""
    N, times = len(shares), np.empty(count + 1)
    equidistribute(numbers(shares, N), numbers(at, N + 1), N, numbers(times, count + 1), count)
    return times


def carried(at, x, slopes, signs, gauss, rows, new_at):
    """States and slopes on another mesh, the latter of some rows."""
    N, m, n = slopes.shape
    M, nr = len(new_at) - 1, len(rows)
    wide, rows = padded(n), rows.astype(np.intc)
    new_x, new_K, room = np.empty((M + 1, n)), np.empty((M, m, nr)), np.empty((2 * m + 1) * wide + 3 * m + 1)
    inverse = np.ascontiguousarray(gauss.inverse)
    _carry(
        numbers(at, N + 1), N, numbers(x, (N + 1) * n), numbers(slopes, N * m * n), numbers(signs, n),
        numbers(inverse, m * m), numbers(gauss.c, m), m, n, places(rows, nr), nr, numbers(new_at, M + 1), M,
        numbers(new_x, new_x.size), numbers(new_K, new_K.size), numbers(room, len(room)),
    )  # fmt: skip
    return new_x, new_K


def both_carried(scheme: Scheme, cycle, change, at, h, new_at):
    """An orbit and a change of it on another mesh: states of both, slopes of both."""
    shape, rule = shape_of(cycle), cython.address(scheme.rule)
    orbit, along = orbit_of(cycle, cython.address(shape)), orbit_of(change, cython.address(shape))
    M, room = len(new_at) - 1, np.empty(mesh_room(rule, shape.N))
    x, K = np.empty((2, M + 1, rule.n)), np.empty((2, M, rule.m, rule.nr))
    to: Orbit
    next: Orbit
    to.x, to.K = numbers(x, x.size), numbers(K, K.size)
    next.x, next.K = to.x + (M + 1) * rule.n, to.K + M * rule.m * rule.nr
    carry_both(
        rule, cython.address(orbit), cython.address(along), numbers(at, shape.N + 1), numbers(h, shape.N), shape.N,
        numbers(cycle.signs, shape.n), numbers(new_at, M + 1), M, cython.address(to), cython.address(next),
        numbers(room, len(room)),
    )  # fmt: skip
    return x, K


def defect_of_oddness(rates, signs, scale, period: cython.double):
    """max |f(−x) + f(x)|, every component relative to its size; the columns are f at states and at their mirrors."""
    n, count = len(signs), rates.shape[1] // 2
    return oddness(numbers(rates, 2 * n * count), numbers(signs, n), numbers(scale, n), period, n, count)


def least_share(values):
    """The least value relative to the largest in any row; negative if their signs differ."""
    rows, columns = values.shape
    return least_among(numbers(values, rows * columns), rows, columns)


def carried_velocity(G, rates, scale):
    """How far the velocity f, carried over each interval by G, misses f at its end: summed, relative to the largest."""
    N, n, columns = len(G), len(scale), rates.shape[1]
    return missed_velocity(numbers(G, N * n * n), numbers(rates, n * columns), columns, numbers(scale, n), N, n)


def pinned(last, h, weights, scale, held, cycle, guess):
    """Rows of phase and families before a last one, over mesh points and over scalars, and their values."""
    shape = shape_of(cycle)
    N, n, nb = shape.N, shape.n, shape.nb
    orbit, ahead = orbit_of(cycle, cython.address(shape)), orbit_of(guess, cython.address(shape))
    rows, by_scalars, right = np.empty((nb, N + 1, n)), np.empty((nb, nb)), np.empty(nb)
    pin(
        N, n, nb, numbers(last[0], (N + 1) * n), numbers(last[1], nb), numbers(h, N), numbers(weights, N + 1),
        numbers(scale, n), numbers(held, (nb - 2) * (N + 1) * n), cython.address(orbit), numbers(cycle.signs, n),
        cython.address(ahead), numbers(rows, rows.size), numbers(by_scalars, nb * nb), numbers(right, nb),
    )  # fmt: skip
    return rows, by_scalars, right
