"""The equations of one interval, condensed to its ends.

With time s in [0, 1] the equations are x' = T (f(x, p) + D α) and the unknowns of an interval of length h are the
slopes k = x' at its Gauss points. Where a row of f is itself a state, q' = v, its slopes follow from those of v
(Runge–Kutta–Nyström form), so that a mechanical system has only its accelerations for unknowns: of W δk = right, an
eighth of the work. What remains is x_{j+1} = G_j x_j + g_j (T, p, α), whose G_j multiply to the monodromy matrix.

In all kernels ``rule`` has the rows of A, A², bᵀ, bᵀA and cᵀ of the Gauss points, ``rows`` the states that have slopes,
and ``follow`` those that follow one of them, with the place of that one in ``rows``. (One array is handed over in half
a microsecond, a named tuple of six in six.)
"""

from __future__ import annotations

from math import ceil

import numpy as np

from pfaff.bifurcation.orbits.kernels import compiled, part, vectorised

WIDTH = 8  # intervals side by side are a multiple of the processor's vectors, ...
ROOM = 65536  # ... and stay in its cache: so many numbers
LARGE = 80  # unknown slopes of an interval from which LAPACK's blocks outdo lanes, which fill the cache
GROWN = 30.0  # factors of elimination beyond this call for pivoting
REMEMBERED = 30  # steps of Newton's method for which intervals that needed it get it at once


def side_by_side(N: int, entries: int) -> int:
    """How many of N intervals, of so many entries each, are eliminated at once: as many in every group."""
    most = max(ROOM // (entries * WIDTH), 1) * WIDTH
    each = ceil(N / ceil(N / most))
    return ceil(each / WIDTH) * WIDTH


def condense(values, x, K, X, h, scalars, D, rule, rows, follow, a, stiff, Z, G, g):
    """δk = Z [δx_j, δ(T, p, α), 1] and δx_{j+1} = G δx_j + g [δ(T, p, α), 1] in every interval.

    ``a`` is room for intervals side by side; ``stiff`` counts for how long groups of them get pivoting. Returns the
    largest residual of a slope, NaN where W is singular.
    """
    N, size, lanes = len(h), a.shape[0], a.shape[2]
    worst = 0.0
    for low in range(0, N, lanes):
        count = min(lanes, N - low)
        residual = assemble(a, low, count, values, x, K, X, h, scalars, D, rule, rows, follow)
        worst = worst if residual <= worst else residual
        known = size > LARGE or stiff[low // lanes] > 0
        if known or eliminate_lanes(a, low, count, GROWN, Z):
            if not known:
                assemble(a, low, count, values, x, K, X, h, scalars, D, rule, rows, follow)
                stiff[low // lanes] = REMEMBERED + 1
            stiff[low // lanes] -= 1
            W = a[:, :, :count].transpose(2, 0, 1)
            try:
                Z[low : low + count] = np.linalg.solve(W[:, :, :size], W[:, :, size:])
            except np.linalg.LinAlgError:
                return np.nan
    ends(x, K, h, scalars[0], rule, rows, follow, Z, G, g)
    return worst


@compiled
def stage_states(x, K, h, T, rule, rows, follow, X):
    """States at the Gauss points from states at the mesh points and slopes: point i of interval j is X[:, i N + j]."""
    N, m, nr = K.shape
    A, A2, c = rule[:m], rule[m : 2 * m], rule[2 * m + 2]
    followers, source = follow[0], follow[1]
    for j in range(N):
        for i in range(m):
            at = i * N + j
            for r in range(nr):
                total = 0.0
                for l in range(m):
                    total += A[i, l] * K[j, l, r]
                X[rows[r], at] = x[j, rows[r]] + h[j] * total
            for k in range(len(followers)):
                s = source[k]
                total = 0.0
                for l in range(m):
                    total += A2[i, l] * K[j, l, s]
                X[followers[k], at] = x[j, followers[k]] + h[j] * T * (c[i] * x[j, rows[s]] + h[j] * total)


@vectorised
def assemble(a, low, count, values, x, K, X, h, scalars, D, rule, rows, follow):
    """[W | right] of a few intervals side by side; lanes without an interval hold the unit matrix.

    ``values`` holds f, ∂f/∂x (row by row) and ∂f/∂p of the rows that have slopes, at every Gauss point. Returns the
    largest residual of a slope.
    """
    N, m, nr = K.shape
    n = x.shape[1]
    A, A2, c = rule[:m], rule[m : 2 * m], rule[2 * m + 2]
    followers, source = follow[0], follow[1]
    nb = len(scalars)
    T = scalars[0]
    size, lanes = m * nr, a.shape[2]
    last = size + n + nb
    worst = 0.0
    step = np.zeros(lanes)
    for lane in range(count):
        step[lane] = T * h[low + lane]
    once, twice = np.zeros((nr, lanes)), np.zeros((nr, lanes))
    for row in range(size):
        for t in range(size, last + 1):
            for lane in range(count, lanes):
                a[row, t, lane] = 0.0
    for i in range(m):
        at = i * N + low
        for r in range(nr):
            row = i * nr + r
            by_period = a[row, size + n]
            for lane in range(count):
                by_period[lane] = values[r, at + lane]
                for k in range(nb - 2):
                    by_period[lane] += D[rows[r], k] * scalars[2 + k]
                    a[row, size + n + 2 + k, lane] = T * D[rows[r], k]
                residual = T * by_period[lane] - K[low + lane, i, r]
                a[row, last, lane] = residual
                worst = worst if abs(residual) <= worst else abs(residual)
                a[row, size + n + 1, lane] = T * values[nr + nr * n + r, at + lane]
            for s in range(nr):
                by = values[nr + r * n + rows[s], at:]
                direct, by_state = once[s], a[row, size + rows[s]]
                for lane in range(count):
                    direct[lane] = -step[lane] * by[lane]
                    by_state[lane] = T * by[lane]
                for lane in range(lanes):
                    twice[s, lane] = 0.0
            for k in range(len(followers)):
                by = values[nr + r * n + followers[k], at:]
                through, by_state, moved = (
                    twice[source[k]],
                    a[row, size + rows[source[k]]],
                    X[followers[k], at:],
                )
                for lane in range(count):
                    through[lane] -= step[lane] * step[lane] * by[lane]
                    a[row, size + followers[k], lane] = T * by[lane]
                    by_state[lane] += T * c[i] * step[lane] * by[lane]
                    by_period[lane] += by[lane] * (moved[lane] - x[low + lane, followers[k]])
            for l in range(m):
                for s in range(nr):
                    entry, direct, through = a[row, l * nr + s], once[s], twice[s]
                    first, second = A[i, l], A2[i, l]
                    for lane in range(lanes):
                        entry[lane] = first * direct[lane] + second * through[lane]
            for lane in range(lanes):
                a[row, row, lane] += 1.0
    return worst


@vectorised
def eliminate_lanes(a, low, count, most, Z):
    """Gauss's elimination of all lanes at once, without pivoting: Z = W⁻¹ right; in how many lanes factors grow beyond
    a limit, so that rows must be exchanged. W is near 1 on a fine mesh.
    """
    size, width, lanes = a.shape
    inverse, factor, grown = np.empty(lanes), np.empty(lanes), np.zeros(lanes)
    for p in range(size):
        for lane in range(lanes):
            inverse[lane] = 1.0 / a[p, p, lane]
        for i in range(p + 1, size):
            for lane in range(lanes):
                factor[lane] = a[i, p, lane] * inverse[lane]
                grown[lane] = max(grown[lane], abs(factor[lane]))
            for t in range(p + 1, width):
                for lane in range(lanes):
                    a[i, t, lane] -= factor[lane] * a[p, t, lane]
    for p in range(size - 1, -1, -1):
        for l in range(p + 1, size):
            for t in range(size, width):
                for lane in range(lanes):
                    a[p, t, lane] -= a[p, l, lane] * a[l, t, lane]
        for lane in range(lanes):
            inverse[lane] = 1.0 / a[p, p, lane]
        for t in range(size, width):
            for lane in range(lanes):
                a[p, t, lane] *= inverse[lane]
            for lane in range(count):
                Z[low + lane, p, t - size] = a[p, t, lane]
    left = 0
    for lane in range(count):
        left += 0 if grown[lane] < most else 1
    return left


@compiled
def ends(x, K, h, T, rule, rows, follow, Z, G, g):
    """The states at the ends of all intervals, by those at their beginnings and the scalars."""
    N, m, nr = K.shape
    n = x.shape[1]
    b, bA = rule[2 * m], rule[2 * m + 1]
    followers, source = follow[0], follow[1]
    width = Z.shape[2] - n
    for j in range(N):
        for i in range(n):
            for t in range(n):
                G[j, i, t] = 1.0 if i == t else 0.0
            for t in range(width):
                g[j, i, t] = x[j, i] - x[j + 1, i] if t == width - 1 else 0.0
        for r in range(nr + len(followers)):
            second = r >= nr
            end, s = (followers[r - nr], source[r - nr]) if second else (rows[r], r)
            by_state, by_scalar, last = G[j, end], g[j, end], g[j, end, width - 1]
            moved = x[j, rows[s]]
            for i in range(m):
                moved += h[j] * bA[i] * K[j, i, s]
                last += 0.0 if second else h[j] * b[i] * K[j, i, s]
                weight = h[j] * h[j] * T * bA[i] if second else h[j] * b[i]
                line = Z[j, i * nr + s]
                for t in range(n):
                    by_state[t] += weight * line[t]
                for t in range(width - 1):
                    by_scalar[t] += weight * line[n + t]
                last += weight * line[n + width - 1]
            if second:
                by_state[rows[s]] += h[j] * T
                by_scalar[0] += h[j] * moved
                last += h[j] * T * moved
            by_scalar[width - 1] = last


@part
def expand(Z, dx, dc, residuals, dK):
    """Slopes that belong to the changes of states and scalars, and to a share of the residuals."""
    N, m, nr = dK.shape
    n = dx.shape[1]
    nb = len(dc)
    for j in range(N):
        for i in range(m):
            for r in range(nr):
                row = i * nr + r
                total = residuals * Z[j, row, n + nb]
                for t in range(n):
                    total += Z[j, row, t] * dx[j, t]
                for t in range(nb):
                    total += Z[j, row, n + t] * dc[t]
                dK[j, i, r] = total


@compiled
def conclude(Z, dx, dc, x, signs, halved, tangent, slopes, scalars, states):
    """Fill the tangent, its slopes and scalars from a step of Newton's; and the states after it, a column each, with
    its mirror image beside it if half a period is known."""
    N, n = x.shape
    expand(Z, dx[1], dc[1], 0.0, slopes)
    for j in range(N):
        for t in range(n):
            tangent[j, t] = dx[1, j, t]
            if halved:
                states[t, 2 * j], states[t, 2 * j + 1] = x[j, t], signs[t] * x[j, t]
            else:
                states[t, j] = x[j, t]
    for t in range(len(scalars)):
        scalars[t] = dc[1, t]


@compiled
def move(x, K, X, h, scalars, rule, rows, follow, of_states, of_scalars, Z, dx, dc, dK):
    """Change x, K and scalars by a step of Newton's method: its size, and the largest slope before it.

    ``of_states`` and ``of_scalars`` scale the size. X become the states at the Gauss points after the step.
    """
    expand(Z, dx[0], dc[0], 1.0, dK)
    size = 0.0
    for j in range(x.shape[0]):
        for t in range(x.shape[1]):
            change = abs(dx[0, j, t] * of_states[t])
            size = change if not change <= size else size
            x[j, t] += dx[0, j, t]
    for t in range(len(scalars)):
        change = abs(dc[0, t] * of_scalars[t])
        size = change if not change <= size else size
        scalars[t] += dc[0, t]
    largest = 0.0
    for j in range(K.shape[0]):
        for i in range(K.shape[1]):
            for r in range(K.shape[2]):
                largest = max(largest, abs(K[j, i, r]))
                K[j, i, r] += dK[j, i, r]
    stage_states(x, K, h, scalars[0], rule, rows, follow, X)
    return size, largest
