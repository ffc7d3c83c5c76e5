"""Kernels over the mesh of an orbit: slopes, sizes, derivatives, and interpolation on another mesh."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.kernels import compiled, part

TURN = 2 * np.pi
CLOSED = 1e-9  # of a state, what is left between the ends of an orbit that closes
EVEN = 0.2  # share of a mesh, relative to the rest, that is spread evenly
STUCK = 1e-9  # of the way that the largest velocity goes in a period, what a position moves at least


@part
def turned(x, signs, t):
    """By which whole turns an angle has grown at the end; none, of what closes."""
    gap = x[-1, t] - signs[t] * x[0, t]
    return TURN * np.floor(gap / TURN + 0.5) if abs(gap) > CLOSED * abs(x[-1, t]) else 0.0


@compiled
def whole_turns(x, signs, turns):
    """Fill in what all angles have grown by; whether any has."""
    found = False
    for t in range(x.shape[1]):
        turns[t] = turned(x, signs, t)
        found = found or turns[t] != 0
    return found


@compiled
def amplitudes(x, signs, covered):
    """Half of what every state covers, at the mesh points and their mirror images; the largest of them."""
    largest = 0.0
    for t in range(x.shape[1]):
        low = high = x[0, t]
        for j in range(1, len(x)):
            low, high = min(low, x[j, t]), max(high, x[j, t])
        covered[t] = max(-low, high) if signs[t] < 0 else (high - low) / 2
        largest = max(largest, covered[t])
    return largest


def sizes(x: np.ndarray, signs: np.ndarray, share: float, positions: np.ndarray | None, period: float) -> np.ndarray:
    """By which states are compared: the amplitude of each, where it is not less than a share of the largest.

    A state that is still beside the others is compared by its own magnitude, up to the largest amplitude, the more so
    the less it moves: along the branch it may move like any other. Positions are compared with positions, velocities
    with velocities: how large these are beside each other is a matter of the unit of time.
    """
    size = np.empty(x.shape[1])
    largest = np.full(len(size), amplitudes(x, signs, size))
    if positions is not None:
        reach = size[positions].max(initial=0.0), size[~positions].max(initial=0.0)
        largest = np.where(positions, max(reach[0], STUCK * period * reach[1]), reach[1])
    still = share * largest
    for t in np.flatnonzero(size < still).tolist():
        own, least = np.abs(x[:, t]).max(), still[t]
        size[t] = max(least, min(own, largest[t], least * least / max(size[t], share * least)))
    return size


@compiled
def all_slopes(x, K, h, T, about, about_K, dT, rule, rows, follow, slopes):
    """x' of every state at the Gauss points, or its change: of positions T v, or T δv + δT v about an orbit."""
    N, m, nr = K.shape
    followers, source = follow[0], follow[1]
    for j in range(N):
        for i in range(m):
            for r in range(nr):
                slopes[j, i, rows[r]] = K[j, i, r]
            for k in range(len(followers)):
                s = source[k]
                v, v0 = 0.0, 0.0
                for l in range(m):
                    v += rule[i, l] * K[j, l, s]
                    v0 += rule[i, l] * about_K[j, l, s]
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


def shares(derivative: np.ndarray, h: np.ndarray, power: float) -> np.ndarray:
    """What every interval has of the integral of derivative^power, with a share of its mean added: a mesh on which all
    have the same is adapted."""
    density = derivative**power
    mean = density @ h
    return (density + EVEN * mean) * h if mean > 0 else h


@compiled
def equidistributed(shares, at, count):
    """Times between which the integral is the same of which every interval has these shares."""
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
    """Of the rows from the first on, the least value relative to the largest, negative if their signs differ."""
    least = np.inf
    for i in range(first, values.shape[0]):
        low = high = values[i, 0]
        for j in range(1, values.shape[1]):
            low, high = min(low, values[i, j]), max(high, values[i, j])
        least = min(least, low / high if abs(low) < abs(high) else high / low)
    return least


@compiled
def inner_product(weights, squares, a, b, scalar_squares, a_scalars, b_scalars):
    """Σ w_j ⟨a_j, b_j⟩ over the mesh points, plus that of the scalars, each component by the square of its scale."""
    total = 0.0
    for j in range(len(weights)):
        at = 0.0
        for t in range(len(squares)):
            at += squares[t] * a[j, t] * b[j, t]
        total += weights[j] * at
    for t in range(len(scalar_squares)):
        total += scalar_squares[t] * a_scalars[t] * b_scalars[t]
    return total


@compiled
def carry(at, x, slopes, signs, inverse, c, rows, new_at, new_x, new_K):
    """States and slopes on another mesh, by the collocation polynomials, whose slopes are sums of Legendre's P_k."""
    N, m, n = slopes.shape
    P, terms = np.empty(m + 1), np.empty((m, n))
    P[0] = 1.0
    j, known = 0, -1
    for k in range(len(new_at) - 1):
        for i in range(-1, m):
            time = new_at[k] if i < 0 else new_at[k] + (new_at[k + 1] - new_at[k]) * c[i]
            while j < N - 1 and time >= at[j + 1]:
                j += 1
            if j != known:
                known = j
                for l in range(m):
                    for t in range(n):
                        total = 0.0
                        for q in range(m):
                            total += inverse[l, q] * slopes[j, q, t]
                        terms[l, t] = total
            h = at[j + 1] - at[j]
            u = 2 * (time - at[j]) / h - 1
            P[1] = u
            for l in range(1, m):
                P[l + 1] = ((2 * l + 1) * u * P[l] - l * P[l - 1]) / (l + 1)
            if i < 0:
                for t in range(n):
                    total = (P[1] + P[0]) / 2 * terms[0, t]
                    for l in range(1, m):
                        total += (P[l + 1] - P[l - 1]) / (2 * (2 * l + 1)) * terms[l, t]
                    new_x[k, t] = x[j, t] + h * total
            else:
                for r in range(len(rows)):
                    total = 0.0
                    for l in range(m):
                        total += P[l] * terms[l, rows[r]]
                    new_K[k, i, r] = total
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
def pinned(rows, scalars, right, h, weights, scale, held, x, signs, of_scalars, guess, of_guess):
    """Fill the rows of the phase and of families; all rows have the values of an orbit, the last those of a guess.

    ``held`` are covectors at the mesh points, indexed [family, point, state].
    The phase is along x', by differences of neighbouring states: f itself is far off where a stiff orbit is a guess.
    """
    N, n = len(h), len(scale)
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
    for k in range(len(right)):
        states, others = (guess, of_guess) if k == len(right) - 1 else (x, of_scalars)
        right[k] = 0.0
        for j in range(N + 1):
            for t in range(n):
                right[k] += rows[k, j, t] * states[j, t]
        for t in range(len(others)):
            right[k] += scalars[k, t] * others[t]
