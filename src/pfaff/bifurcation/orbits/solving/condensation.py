"""The equations of one interval, condensed to its ends.

With time s in [0, 1] the equations are x' = T (f(x, p) + D α) and the unknowns of an interval of length h are the
slopes k = x' at its Gauss points. Where a row of f is itself a state, q' = v, its slopes follow from those of v
(Runge–Kutta–Nyström form), so that only the accelerations of a mechanical system are unknowns: solving W δk = right is
an eighth of the work. What remains is x_{j+1} = G_j x_j + g_j (T, p, α), whose G_j multiply to the monodromy matrix.

In all kernels ``cycle`` is an orbit, (x, K, scalars, signs, h), and ``rule`` is (nodes, rows, follow, D): ``nodes``
holds the rows of A, A², bᵀ, bᵀA and cᵀ of the Gauss points, ``rows`` the states that have slopes, ``follow`` those that
follow one of them, with the index of that one in ``rows``, and D is the unfolding. ``room`` is ``Workspace.of_newton``.
(Plain tuples of arrays are passed as fast as arrays, named ones are not.)
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.addresses import factorised, substituted
from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.machine_code.vectors import (
    LANES,
    TILE,
    aligned,
    combine,
    dot,
    invert,
    reduce,
    scaled,
    take_off,
    take_rows_off,
)

LARGE = 150  # unknown slopes of an interval from which LAPACK's blocks are faster than lanes, which fill the cache
GROWN = 30.0  # factors of elimination beyond this require pivoting
REMEMBERED = 30  # Newton steps for which intervals that needed pivoting get it at once


@compiled
def condense(values, cycle, rule, room, solver, G):
    """δk = Z [δx_j, δ(T, p, α), 1] and δx_{j+1} = G δx_j + g [δ(T, p, α), 1] in every interval.

    Z is indexed [group, slope, column, lane]: intervals lie side by side in groups. In ``room``, ``a`` is workspace for
    intervals side by side; ``stiff`` counts for how long groups of them get pivoting; the limits of the solver are
    ``GROWN`` and ``LARGE``. Returns the largest residual of a slope, NaN where W is singular.
    """
    X, Z, g, _, _, _, a, stiff = room
    N, size, (most, large), routines = len(cycle[4]), a.shape[0], solver[0], solver[1]
    worst = 0.0
    lines, inverses = rows_of(2 * len(rule[1]) + 3), rows_of(size + 1)
    for group in range((N + LANES - 1) // LANES):
        low = group * LANES
        count = min(LANES, N - low)
        residual = assemble(a, low, count, values, cycle, rule, X, lines)
        worst = worst if residual <= worst else residual
        known = size > large or stiff[group] > 0
        if known or not eliminate_lanes(a, count, most, inverses, Z[group]):
            if not known:
                assemble(a, low, count, values, cycle, rule, X, lines)
                stiff[group] = REMEMBERED + 1
            stiff[group] -= 1
            for lane in range(count):
                if not solve_lane(a, lane, routines, Z[group, :, :, lane]):
                    return np.nan
    ends(cycle, rule, Z, G, g)
    return worst


@part
def rows_of(count):
    """Workspace for this many rows of lanes."""
    return aligned(count * LANES).reshape((count, LANES))


@part
def solve_lane(a, lane, routines, Z):
    """The solution for one of the intervals side by side, by LAPACK with pivoting; returns whether there is one."""
    size, width = a.shape[0], a.shape[1]
    columns, right, pivots = np.empty((size, size)), np.empty((width - size, size)), np.empty(size, dtype=np.int32)
    for i in range(size):
        for t in range(width):
            if t < size:
                columns[t, i] = a[i, t, lane]
            else:
                right[t - size, i] = a[i, t, lane]
    regular = factorised(routines, columns, pivots) != 0.0
    if regular:
        substituted(routines, columns, pivots, right, width - size, False)
        for i in range(size):
            for t in range(width - size):
                Z[i, t] = right[t, i]
    return regular


@compiled
def stage_states(cycle, rule, X):
    """States at the Gauss points from states at the mesh points and slopes: point i of interval j is X[:, i N + j]."""
    (x, K, scalars, _, h), (nodes, rows, follow, _) = cycle, rule
    N, m, nr = K.shape
    A, A2, c, T = nodes[:m], nodes[m : 2 * m], nodes[2 * m + 2], scalars[0]
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


@part
def _put_scalars(a, low, count, values, cycle, rule, i, r, worst):
    """Put the columns of T, p and α, and the right-hand side, of a slope at Gauss point i; returns the largest residual
    so far."""
    (x, K, scalars, _, _), (_, rows, _, D) = cycle, rule
    (N, m, nr), n = K.shape, x.shape[1]
    at, row, first, T = i * N + low, i * nr + r, m * nr + n, scalars[0]
    for lane in range(count):
        rate = values[r, at + lane]
        for k in range(len(scalars) - 2):
            rate += D[rows[r], k] * scalars[2 + k]
            a[row, first + 2 + k, lane] = T * D[rows[r], k]
        residual = T * rate - K[low + lane, i, r]
        worst = worst if abs(residual) <= worst else abs(residual)
        a[row, first, lane], a[row, first + len(scalars), lane] = rate, residual
        a[row, first + 1, lane] = T * values[nr + nr * n + r, at + lane]
    return worst


@compiled
def assemble(a, low, count, values, cycle, rule, X, lines):
    """[W | right] of a few intervals side by side; lanes without an interval hold the unit matrix.

    ``values`` holds f, ∂f/∂x (row by row) and ∂f/∂p of the rows that have slopes, at every Gauss point; ``lines`` is
    workspace for rows of lanes. Returns the largest residual of a slope.
    """
    (x, K, scalars, _, h), (nodes, rows, follow, _) = cycle, rule
    N, m, nr = K.shape
    n = x.shape[1]
    A, A2, c = nodes[:m], nodes[m : 2 * m], nodes[2 * m + 2]
    followers, source = follow[0], follow[1]
    T = scalars[0]
    size, lanes = m * nr, a.shape[2]
    worst = 0.0
    once, twice = lines[:nr], lines[nr : 2 * nr]
    step, back, period = lines[2 * nr], lines[2 * nr + 1], lines[2 * nr + 2]
    lines[:], period[:] = 0.0, T
    for lane in range(count):
        step[lane], back[lane] = T * h[low + lane], -T * h[low + lane]
    # Addresses are computed from these: slicing arrays in loops takes longer than the work on the slices.
    entry, line, given = 8 * lanes, 8 * lanes * a.shape[1], 8 * values.shape[1]
    to, by, first, second = a.ctypes.data, values.ctypes.data, once.ctypes.data, twice.ctypes.data
    backwards, whole = back.ctypes.data, period.ctypes.data
    for row in range(size):
        for t in range(size, size + n + len(scalars) + 1):
            for lane in range(count, lanes):
                a[row, t, lane] = 0.0
    for i in range(m):
        at = i * N + low
        for r in range(nr):
            row = i * nr + r
            worst = _put_scalars(a, low, count, values, cycle, rule, i, r, worst)
            for s in range(nr):
                of, state = nr + r * n + rows[s], size + rows[s]
                if count == LANES:
                    scaled(first + entry * s, by + given * of + 8 * at, backwards, 1)
                    scaled(to + line * row + entry * state, by + given * of + 8 * at, whole, 1)
                    continue
                for lane in range(count):
                    once[s, lane] = back[lane] * values[of, at + lane]
                    a[row, state, lane] = T * values[of, at + lane]
            if len(followers):
                twice[:] = 0.0
            for k in range(len(followers)):
                of, f, s = nr + r * n + followers[k], followers[k], source[k]
                for lane in range(count):
                    slope = values[of, at + lane]
                    twice[s, lane] -= step[lane] * step[lane] * slope
                    a[row, size + f, lane] = T * slope
                    a[row, size + rows[s], lane] += T * c[i] * step[lane] * slope
                    a[row, size + n, lane] += slope * (X[f, at + lane] - x[low + lane, f])
            for l in range(m):
                combine(to + line * row + entry * l * nr, first, second, A[i, l], A2[i, l], nr)
            for lane in range(lanes):
                a[row, row, lane] += 1.0
    return worst


@compiled
def eliminate_lanes(a, count, most, inverses, Z):
    """Gaussian elimination of all lanes at once, without pivoting: Z = W⁻¹ right. Returns whether no factor exceeds a
    limit; else rows must be exchanged. W is near 1 on a fine mesh. ``inverses`` is workspace for those of pivots, and
    for marks after them.
    """
    grown = inverses[-1]
    grown[:] = 0.0
    eliminate_forward(a, inverses, grown, most)
    substitute_back(a, inverses, Z)
    total = 0.0
    for lane in range(count):
        total += grown[lane]
    return total == 0.0


@part
def eliminate_forward(a, inverses, grown, most):
    """Reduce rows to an upper triangle, two at once, keeping the factors beside it; an odd row is a pair by itself.
    Fills in the inverses of the pivots, and marks lanes in which a factor has grown."""
    size, width, lanes = a.shape
    at, row, entry = a.ctypes.data, 8 * width * lanes, 8 * lanes
    pivots, marks = inverses.ctypes.data, grown.ctypes.data
    for i in range(0, size, 2):
        last = min(i + 1, size - 1)
        one, two = at + i * row, at + last * row
        for first in range(0, i, TILE):  # the factors of a few pivots, by those before them
            beyond, column = min(first + TILE, i), first * entry
            take_rows_off(one + column, two + column, at + column, one, two, width, first, beyond - first)
            for p in range(first, beyond):
                above, inverse = at + p * (row + entry), pivots + p * entry
                reduce(one + p * entry, above, inverse, marks, most, beyond - p - 1)
                if last > i:
                    reduce(two + p * entry, above, inverse, marks, most, beyond - p - 1)
        column = i * entry
        take_rows_off(one + column, two + column, at + column, one, two, width, i, width - i)
        invert(pivots + column, one + column, 1)
        if last > i:
            reduce(two + column, one + column, pivots + column, marks, most, width - i - 1)
            invert(pivots + column + entry, two + column + entry, 1)


@part
def substitute_back(a, inverses, Z):
    """Back substitution, two rows at once."""
    size, width, lanes = a.shape
    columns = width - size
    row, entry = 8 * width * lanes, 8 * lanes
    at, right, solution, pivots = a.ctypes.data, a.ctypes.data + size * entry, Z.ctypes.data, inverses.ctypes.data
    for i in range(size - 1, -1, -2):
        first = max(i - 1, 0)
        one, two, factors, below = i * row, first * row, at + (i + 1) * entry, solution + (i + 1) * columns * entry
        take_rows_off(right + one, right + two, below, factors + one, factors + two, columns, size - 1 - i, columns)
        scaled(solution + i * columns * entry, right + one, pivots + i * entry, columns)
        if first < i:
            take_off(right + two, solution + i * columns * entry, at + two + i * entry, columns)
            scaled(solution + first * columns * entry, right + two, pivots + first * entry, columns)


@compiled
def ends(cycle, rule, Z, G, g):
    """The states at the ends of all intervals as functions of those at their beginnings and the scalars."""
    (x, K, scalars, _, h), (nodes, rows, follow, _) = cycle, rule
    N, m, nr = K.shape
    n, columns, T = x.shape[1], Z.shape[2], scalars[0]
    b, bA = nodes[2 * m], nodes[2 * m + 1]
    followers, source = follow[0], follow[1]
    weights, found = rows_of(2 * m).reshape((2, m, LANES)), rows_of(columns)
    entry, by, to, solved = 8 * LANES, weights.ctypes.data, found.ctypes.data, Z.ctypes.data
    for group in range(len(Z)):
        low = group * LANES
        count = min(LANES, N - low)
        for i in range(m):
            for lane in range(count):
                weights[0, i, lane] = h[low + lane] * b[i]
                weights[1, i, lane] = h[low + lane] * h[low + lane] * T * bA[i]
        for r in range(nr + len(followers)):
            second = r >= nr
            end, s = (followers[r - nr], source[r - nr]) if second else (rows[r], r)
            by_slope = by + (entry * m if second else 0)
            for t in range(columns):
                slope = solved + entry * ((group * m * nr + s) * columns + t)
                dot(to + entry * t, by_slope, slope, 1, nr * columns, m)
            for lane in range(count):
                j = low + lane
                for t in range(n):
                    G[j, end, t] = found[t, lane] + (1.0 if t == end else 0.0)
                for t in range(n, columns):
                    g[j, end, t - n] = found[t, lane]
                moved, gone = x[j, rows[s]], 0.0
                for i in range(m):
                    moved += h[j] * bA[i] * K[j, i, s]
                    gone += h[j] * b[i] * K[j, i, s]
                if second:
                    G[j, end, rows[s]] += h[j] * T
                    g[j, end, 0] += h[j] * moved
                    gone = h[j] * T * moved
                g[j, end, columns - n - 1] += x[j, end] - x[j + 1, end] + gone


@compiled
def expand(Z, dx, dc, residuals, dK):
    """Slopes that belong to changes of states and scalars, and to a share of the residuals."""
    N, m, nr = dK.shape
    n, nb, columns = dx.shape[1], len(dc), Z.shape[2]
    changes, slopes = rows_of(columns), aligned(LANES)
    for lane in range(LANES):
        for t in range(nb):
            changes[n + t, lane] = dc[t]
        changes[n + nb, lane] = residuals
    by, to, solved = changes.ctypes.data, slopes.ctypes.data, Z.ctypes.data
    for group in range(len(Z)):
        low = group * LANES
        count = min(LANES, N - low)
        for t in range(n):
            for lane in range(count):
                changes[t, lane] = dx[low + lane, t]
        for i in range(m):
            for r in range(nr):
                dot(to, solved + 8 * LANES * columns * ((group * m + i) * nr + r), by, 1, 1, columns)
                for lane in range(count):
                    dK[low + lane, i, r] = slopes[lane]
