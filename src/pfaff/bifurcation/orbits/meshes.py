"""Kernels over the mesh of an orbit: slopes, sizes, derivatives, and interpolation on another mesh."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.condensation import inner_product
from pfaff.bifurcation.orbits.kernels import compiled


@compiled
def all_slopes(x, K, h, T, about, about_K, dT, A, rows, follow, source, slopes):
    """x' of every state at the Gauss points, or its change: of positions T v, or T δv + δT v about an orbit."""
    N, m, nr = K.shape
    for j in range(N):
        for i in range(m):
            for r in range(nr):
                slopes[j, i, rows[r]] = K[j, i, r]
            for k in range(len(follow)):
                s = source[k]
                v, v0 = 0.0, 0.0
                for l in range(m):
                    v += A[i, l] * K[j, l, s]
                    v0 += A[i, l] * about_K[j, l, s]
                v = x[j, rows[s]] + h[j] * v
                slopes[j, i, follow[k]] = T * v + dT * (about[j, rows[s]] + h[j] * v0)


@compiled
def amplitudes(x, halved):
    """Half of what every state covers, at the mesh points."""
    n = x.shape[1]
    covered = np.empty(n)
    for t in range(n):
        low = high = x[0, t]
        for j in range(1, len(x)):
            low, high = min(low, x[j, t]), max(high, x[j, t])
        covered[t] = max(-low, high) if halved else (high - low) / 2
    return covered


@compiled
def sizes(x, halved, share):
    """By which states are compared: the amplitude of each, where it is not less than a share of the largest.

    A state that is still beside the others is compared by its own magnitude, up to the largest amplitude, the more so
    the less it moves: along the branch it may move like any other.
    """
    size = amplitudes(x, halved)
    largest = 0.0
    for each in size:
        largest = max(largest, each)
    still = share * largest
    for t in range(len(size)):
        if size[t] < still:
            own = 0.0
            for j in range(len(x)):
                own = max(own, abs(x[j, t]))
            size[t] = max(still, min(own, largest, still * still / max(size[t], share * still)))
    return size


@compiled
def largest_amplitude(x, halved):
    largest = 0.0
    for each in amplitudes(x, halved):
        largest = max(largest, each)
    return largest


@compiled
def measured(x, scalars, signs, share, parameter, of_states, of_scalars, squares, scalar_squares):
    """Fill the factors by which states and scalars are compared, and the weights of their squares."""
    size = sizes(x, signs[0] < 0, share)
    n = len(size)
    for t in range(n):
        of_states[t] = 1 / size[t]
        squares[t] = of_states[t] * of_states[t] / n
    for t in range(len(scalars)):
        of_scalars[t] = 0.0
    of_scalars[0], of_scalars[1] = 1 / scalars[0], 1 / parameter
    for t in range(len(scalars)):
        scalar_squares[t] = of_scalars[t] * of_scalars[t]


@compiled
def normalise(weights, squares, scalar_squares, x, K, c, towards, towards_c):
    """Scale a change of an orbit to unit length and turn it towards another; the sign that turned it."""
    ahead = inner_product(weights, squares, x, towards, scalar_squares, c, towards_c) >= 0
    sign = 1.0 if ahead else -1.0
    factor = sign / np.sqrt(inner_product(weights, squares, x, x, scalar_squares, c, c))
    for j in range(x.shape[0]):
        for t in range(x.shape[1]):
            x[j, t] *= factor
    for j in range(K.shape[0]):
        for i in range(K.shape[1]):
            for r in range(K.shape[2]):
                K[j, i, r] *= factor
    for t in range(len(c)):
        c[t] *= factor
    return sign


@compiled
def dual_row(weights, squares, scalar_squares, x, c, row, scalar_row):
    """The row of products with a change of an orbit, over the mesh points and over the scalars."""
    for j in range(x.shape[0]):
        for t in range(x.shape[1]):
            row[j, t] = weights[j] * squares[t] * x[j, t]
    for t in range(len(c)):
        scalar_row[t] = scalar_squares[t] * c[t]


@compiled
def turned(
    weights, squares, scalar_squares, x, scalars, from_x, from_scalars, along, along_scalars, ahead, ahead_scalars
):
    """Of a step between two orbits: ⟨chord, chord⟩, ⟨chord, along⟩ and ⟨ahead, ahead⟩."""
    chords, shared, longest = 0.0, 0.0, 0.0
    for j in range(len(weights)):
        for t in range(len(squares)):
            square, chord = weights[j] * squares[t], x[j, t] - from_x[j, t]
            chords += square * chord * chord
            shared += square * chord * along[j, t]
            longest += square * ahead[j, t] * ahead[j, t]
    for t in range(len(scalar_squares)):
        square, chord = scalar_squares[t], scalars[t] - from_scalars[t]
        chords += square * chord * chord
        shared += square * chord * along_scalars[t]
        longest += square * ahead_scalars[t] * ahead_scalars[t]
    return chords, shared, longest


@compiled
def cubic(shares, x, K, c, x1, K1, c1, dx, dK, dc, dx1, dK1, dc1, states, slopes, scalars):
    """Four orbits or changes of orbits, each times its share, added: states, slopes and scalars."""
    a, b, d, e = shares
    for j in range(x.shape[0]):
        for t in range(x.shape[1]):
            states[j, t] = a * x[j, t] + b * x1[j, t] + d * dx[j, t] + e * dx1[j, t]
    for j in range(K.shape[0]):
        for i in range(K.shape[1]):
            for r in range(K.shape[2]):
                slopes[j, i, r] = a * K[j, i, r] + b * K1[j, i, r] + d * dK[j, i, r] + e * dK1[j, i, r]
    for t in range(len(c)):
        scalars[t] = a * c[t] + b * c1[t] + d * dc[t] + e * dc1[t]


@compiled
def jumps(slopes, h, highest, scale, signs, derivative):
    """|x^(m+1)| in every interval, from the jumps of the highest derivative of the collocation polynomials."""
    N, m, n = slopes.shape
    top = np.empty((N + 2, n))
    for j in range(N):
        for t in range(n):
            total = 0.0
            for l in range(m):
                total += highest[l] * slopes[j, l, t]
            top[j + 1, t] = total * scale[t] / h[j] ** (m - 1)
    for t in range(n):
        top[0, t], top[N + 1, t] = signs[t] * top[N, t], signs[t] * top[1, t]
    before = 0.0
    for j in range(N + 1):
        jump = 0.0
        for t in range(n):
            jump = max(jump, abs(top[j + 1, t] - top[j, t]))
        jump *= 2 / (h[j % N] + h[j - 1])
        if j > 0:
            derivative[j - 1] = (before + jump) / 2
        before = jump


@compiled
def equidistribute(derivative, h, at, power, even, times):
    """Fill the times between which the integral of derivative^power, with a share of its mean added, is the same."""
    N, count = len(h), len(times) - 1
    density, mean = np.empty(N), 0.0
    for j in range(N):
        density[j] = derivative[j] ** power
        mean += density[j] * h[j]
    total = 0.0
    for j in range(N):
        density[j] = density[j] + even * mean if mean > 0 else 1.0
        total += density[j] * h[j]
    j, before = 0, 0.0  # the integral until the interval
    for k in range(1, count):
        aim = total * k / count
        while j < N - 1 and before + density[j] * h[j] < aim:
            before += density[j] * h[j]
            j += 1
        times[k] = at[j] + (aim - before) / density[j]
    times[0], times[count] = 0.0, 1.0


@compiled
def polynomials(s, inverse, values, integrals):
    """At s in [0, 1]: the polynomials that are 1 at one Gauss point and 0 at the others, and their integrals from 0."""
    m = len(values)
    P = np.empty(m + 1)
    u = 2 * s - 1
    P[0], P[1] = 1.0, u
    for k in range(1, m):
        P[k + 1] = ((2 * k + 1) * u * P[k] - k * P[k - 1]) / (k + 1)
    for l in range(m):
        value, integral = P[0] * inverse[0, l], (P[1] + P[0]) / 2 * inverse[0, l]
        for k in range(1, m):
            value += P[k] * inverse[k, l]
            integral += (P[k + 1] - P[k - 1]) / (2 * (2 * k + 1)) * inverse[k, l]
        values[l], integrals[l] = value, integral


@compiled
def carry(at, x, slopes, signs, inverse, c, rows, new_at, new_x, new_K):
    """States and slopes on another mesh, by the collocation polynomials."""
    N, m, n = slopes.shape
    values, integrals = np.empty(m), np.empty(m)
    j = 0
    for k in range(len(new_at) - 1):
        for i in range(-1, m):
            time = new_at[k] if i < 0 else new_at[k] + (new_at[k + 1] - new_at[k]) * c[i]
            while j < N - 1 and time >= at[j + 1]:
                j += 1
            h = at[j + 1] - at[j]
            polynomials((time - at[j]) / h, inverse, values, integrals)
            if i < 0:
                for t in range(n):
                    total = 0.0
                    for l in range(m):
                        total += integrals[l] * slopes[j, l, t]
                    new_x[k, t] = x[j, t] + h * total
            else:
                for r in range(len(rows)):
                    total = 0.0
                    for l in range(m):
                        total += values[l] * slopes[j, l, rows[r]]
                    new_K[k, i, r] = total
    for t in range(n):
        new_x[-1, t] = signs[t] * new_x[0, t]


@compiled
def defect_of_oddness(rates, scale, period):
    """max |f(−x) + f(x)|, every component relative to its size; the columns are f at states and at their mirrors."""
    n, count = rates.shape[0], rates.shape[1] // 2
    worst = 0.0
    for i in range(n):
        defect, size = 0.0, 1 / (scale[i] * period)
        for j in range(count):
            total = abs(rates[i, j] + rates[i, count + j])
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
