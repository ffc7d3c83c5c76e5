"""Kernels over the mesh of an orbit: slopes, sizes, derivatives, and interpolation on another mesh."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.machine_code.vectors import LANES, aligned, padded, sum_rows

TURN = 2 * np.pi
CLOSED = 1e-9  # relative gap between the ends of a state, below which it closes
EVEN = 0.2  # share of a mesh, relative to the rest, that is spread evenly


@part
def turned(x, signs, t):
    """The whole turns by which an angle has grown at the end; zero if the state is periodic."""
    gap = x[-1, t] - signs[t] * x[0, t]
    return TURN * np.floor(gap / TURN + 0.5) if abs(gap) > CLOSED * abs(x[-1, t]) else 0.0


@compiled
def whole_turns(x, signs, turns):
    """Fill in the growth of all angles; returns whether any has grown."""
    found = False
    for t in range(x.shape[1]):
        turns[t] = turned(x, signs, t)
        found = found or turns[t] != 0
    return found


@compiled
def amplitudes(x, signs, covered):
    """Half of the range of every state, at the mesh points and their mirror images; returns the largest."""
    largest = 0.0
    for t in range(x.shape[1]):
        low = high = x[0, t]
        for j in range(1, len(x)):
            low, high = min(low, x[j, t]), max(high, x[j, t])
        covered[t] = max(-low, high) if signs[t] < 0 else (high - low) / 2
        largest = max(largest, covered[t])
    return largest


@compiled
def all_slopes(of, orbit, dT, h, rule, slopes):
    """x' of every state at the Gauss points, of an orbit or of a change of it: for positions T v, or T δv + δT v."""
    (x, K, _), (about, about_K, scalars), (nodes, rows, follow, _) = of, orbit, rule
    (N, m, nr), T = K.shape, scalars[0]
    followers, source = follow[0], follow[1]
    for j in range(N):
        for i in range(m):
            for r in range(nr):
                slopes[j, i, rows[r]] = K[j, i, r]
            for k in range(len(followers)):
                s = source[k]
                v, v0 = 0.0, 0.0
                for l in range(m):
                    v += nodes[i, l] * K[j, l, s]
                    v0 += nodes[i, l] * about_K[j, l, s]
                v = x[j, rows[s]] + h[j] * v
                slopes[j, i, followers[k]] = T * v + dT * (about[j, rows[s]] + h[j] * v0)


@compiled
def jumps(slopes, h, highest, scale, signs):
    """|x^(m+1)| in every interval, from the jumps of the highest derivative of the collocation polynomials."""
    N, m, n = slopes.shape
    top, jump = np.empty((N, n)), np.zeros(N + 1)
    for j in range(N):
        for t in range(n):
            total = 0.0
            for i in range(m):
                total += highest[i] * slopes[j, i, t]
            top[j, t] = total * scale[t] / h[j] ** (m - 1)
    for j in range(N + 1):
        before, after = (j - 1) % N, j % N
        for t in range(n):
            left = signs[t] * top[before, t] if j == 0 else top[before, t]
            right = signs[t] * top[after, t] if j == N else top[after, t]
            jump[j] = max(jump[j], 2 * abs(right - left) / (h[before] + h[after]))
    return (jump[1:] + jump[:-1]) / 2


@compiled
def error_between(orbit, h, scale, signs, rule, highest):
    """h^(m+1) |x^(m+1)| where it is largest; NaN on intervals too short to tell."""
    N, m = orbit[1].shape[:2]
    slopes = np.empty((N, m, orbit[0].shape[1]))
    all_slopes(orbit, orbit, 0.0, h, rule, slopes)
    derivative, largest = jumps(slopes, h, highest, scale, signs), 0.0
    for j in range(N):
        error = derivative[j] * h[j] ** (m + 1)
        largest = largest if error <= largest else error
    return largest


@compiled
def shares(derivative, h, power):
    """The part of every interval in the integral of derivative^power, with a share of the mean added: a mesh on which
    all parts are equal is adapted."""
    density, mean = np.empty(len(h)), 0.0
    for j in range(len(h)):
        density[j] = derivative[j] ** power
        mean += density[j] * h[j]
    for j in range(len(h)):
        density[j] = (density[j] + EVEN * mean) * h[j] if mean > 0 else h[j]
    return density


@compiled
def spread(orbit, h, scale, signs, rule, highest):
    """The part of every interval in the integral of |x^(m+1)|^(1/(m+1)), and the ratio by which an adapted mesh reduces
    the error, which is of order h^2m."""
    N, m = orbit[1].shape[:2]
    slopes = np.empty((N, m, orbit[0].shape[1]))
    all_slopes(orbit, orbit, 0.0, h, rule, slopes)
    mine = shares(jumps(slopes, h, highest, scale, signs), h, 1 / (m + 1))
    mean, power = mine.sum() / N, 0.0
    for j in range(N):
        power += (mine[j] / mean) ** (2 * m)
    return mine, N / power


@compiled
def carry_stage(at, h, orbit, change, signs, rule, gauss, new_at, new_x, new_K):
    """Fill in an orbit and a change of it on another mesh: states and slopes of both."""
    (x, K, _), rows, inverse, c = orbit, rule[1], gauss[0], gauss[1]
    slopes = np.empty((K.shape[0], K.shape[1], x.shape[1]))
    all_slopes(orbit, orbit, 0.0, h, rule, slopes)
    carry(at, x, slopes, signs, inverse, c, rows, new_at, new_x[0], new_K[0])
    all_slopes(change, orbit, change[2][0], h, rule, slopes)
    carry(at, change[0], slopes, signs, inverse, c, rows, new_at, new_x[1], new_K[1])


@compiled
def equidistributed(shares, at, count):
    """Times that divide an integral equally, given the part of every interval in it."""
    times = np.empty(count + 1)
    each = shares.sum() / count
    j, passed = 0, 0.0  # the interval, and the integral before it
    for k in range(1, count):
        while j < len(shares) - 1 and passed + shares[j] < k * each:
            passed += shares[j]
            j += 1
        times[k] = at[j] + (at[j + 1] - at[j]) * (k * each - passed) / shares[j]
    times[0], times[count] = 0.0, 1.0
    return times


@compiled
def defect_of_oddness(rates, signs, scale, period):
    """max |f(−x) + f(x)|, every component relative to its size; the columns are f at states and at their mirrors.

    ``signs`` are those of mirror images: components that keep theirs count with |f(−x) − f(x)|."""
    n, count = rates.shape[0], rates.shape[1] // 2
    worst = 0.0
    for i in range(n):
        defect, size = 0.0, 1 / (scale[i] * period)
        for j in range(count):
            total = abs(rates[i, count + j] - signs[i] * rates[i, j])
            defect = total if not total <= defect else defect
            size = max(size, abs(rates[i, j]))
        worst = defect / size if not defect / size <= worst else worst
    return worst


@compiled
def least_share(values, first):
    """The least value relative to the largest in any row from the first on; negative if their signs differ."""
    least = np.inf
    for i in range(first, values.shape[0]):
        low = high = values[i, 0]
        for j in range(1, values.shape[1]):
            low, high = min(low, values[i, j]), max(high, values[i, j])
        least = min(least, low / high if abs(low) < abs(high) else high / low)
    return least


@compiled
def carry(at, x, slopes, signs, inverse, c, rows, new_at, new_x, new_K):
    """States and slopes on another mesh, by the collocation polynomials, whose slopes are sums of Legendre's P_k."""
    N, m, n = slopes.shape
    vectors, line = padded(n) // LANES, 8 * padded(n)
    mine, terms = aligned(m * padded(n)).reshape((m, padded(n))), aligned(m * padded(n))
    P, integrals, share, found = np.empty(m + 1), np.empty(m), 1 / np.arange(1.0, m + 1), aligned(padded(n))
    by, to, of_terms, out = np.empty((m, m)), mine.ctypes.data, terms.ctypes.data, found.ctypes.data
    by[:], P[0] = inverse, 1.0
    factors, of_slopes, of_states = by.ctypes.data, P.ctypes.data, integrals.ctypes.data
    j, known = 0, -1
    for k in range(len(new_at) - 1):
        for i in range(-1, m):
            time = new_at[k] if i < 0 else new_at[k] + (new_at[k + 1] - new_at[k]) * c[i]
            while j < N - 1 and time >= at[j + 1]:
                j += 1
            if j != known:
                known = j
                for q in range(m):
                    for t in range(n):
                        mine[q, t] = slopes[j, q, t]
                for l in range(m):
                    sum_rows(of_terms + line * l, to, factors + 8 * m * l, vectors, m, vectors)
            h = at[j + 1] - at[j]
            u = 2 * (time - at[j]) / h - 1
            P[1] = u
            for l in range(1, m):
                P[l + 1] = (2 - share[l]) * u * P[l] - (1 - share[l]) * P[l - 1]
            if i < 0:
                integrals[0] = h / 2 * (P[1] + P[0])
                for l in range(1, m):
                    integrals[l] = h / (4 * l + 2) * (P[l + 1] - P[l - 1])
                sum_rows(out, of_terms, of_states, vectors, m, vectors)
                for t in range(n):
                    new_x[k, t] = x[j, t] + found[t]
            else:
                sum_rows(out, of_terms, of_slopes, vectors, m, vectors)
                for r in range(len(rows)):
                    new_K[k, i, r] = found[rows[r]]
    by[0, 0] = terms[0] = 0.0  # used once more, so that they outlive the calls
    for t in range(n):
        new_x[-1, t] = signs[t] * new_x[0, t] + turned(x, signs, t)


@compiled
def carried_velocity(G, rates, scale):
    """How far the velocity f, carried over each interval by G, misses f at its end: summed, relative to the largest."""
    N, n = G.shape[:2]
    total, largest = 0.0, 0.0
    for j in range(N):
        worst = 0.0
        for i in range(n):
            missed = -rates[i, j + 1]
            for t in range(n):
                missed += G[j, i, t] * rates[t, j]
            worst = max(worst, abs(missed * scale[i]))
            largest = max(largest, abs(rates[i, j] * scale[i]))
        total += worst
    return total / largest


@compiled
def pinned(row, mesh, scale, held, orbit, signs, guess):
    """Rows of phase and families before a last one, over mesh points and scalars, and their values: those on an orbit,
    for the last row that on a guess, each given by its states and scalars.

    ``held`` are covectors at the mesh points, indexed [family, point, state].
    The phase is along x', by differences of neighbouring states: f itself is far off where a stiff orbit is a guess.
    """
    (last, of_scalars), (h, weights), (x, scalars) = row, mesh, orbit
    N, n, nb = len(h), len(scale), len(scalars)
    rows, by_scalars, right = np.empty((nb, N + 1, n)), np.zeros((nb, nb)), np.zeros(nb)
    largest = 0.0
    for j in range(N + 1):
        for t in range(n):
            before = x[j - 1, t] if j > 0 else signs[t] * x[N - 1, t] - turned(x, signs, t)
            after = x[j + 1, t] if j < N else signs[t] * x[1, t] + turned(x, signs, t)
            rows[0, j, t] = (after - before) / (h[j - 1] + h[j % N])
            largest = max(largest, abs(rows[0, j, t] * scale[t]))
    for j in range(N + 1):
        for t in range(n):
            rows[0, j, t] *= weights[j] * scale[t] * scale[t] / largest
            for k in range(len(held)):
                rows[1 + k, j, t] = weights[j] * held[k, j, t]
            rows[nb - 1, j, t] = last[j, t]
    for t in range(nb):
        by_scalars[nb - 1, t] = of_scalars[t]
    for k in range(nb):
        states, others = guess if k == nb - 1 else orbit
        for j in range(N + 1):
            for t in range(n):
                right[k] += rows[k, j, t] * states[j, t]
        for t in range(nb):
            right[k] += by_scalars[k, t] * others[t]
    return rows, by_scalars, right
