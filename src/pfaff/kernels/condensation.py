# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""The equations of one interval of a periodic orbit, condensed to its ends.

With time s in [0, 1] the equations are x' = T (f(x, p) + D α) and the unknowns of an interval of length h are the
slopes k = x' at its Gauss points. Where a row of f is itself a state, q' = v, its slopes follow from those of v
(Runge–Kutta–Nyström form), so that only the accelerations of a mechanical system are unknowns: solving W δk = right is
an eighth of the work. What remains is x_{j+1} = G_j x_j + g_j (T, p, α), whose G_j multiply to the monodromy matrix.

Intervals are eliminated eight at a time, side by side, without pivoting: W is near 1 on a fine mesh. Where a factor
grows, and where W is large, LAPACK solves one after the other.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import NAN, fabs
    from cython.cimports.libc.string import memset
    from cython.cimports.pfaff.kernels.arrays import larger, numbers, places
    from cython.cimports.pfaff.kernels.condensation import (
        combine_rows, invert_entry, marked, reduce_row, scale_row, sum_products, take_row_off, take_rows_off,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.linear import factorised, substituted

REMEMBERED = cython.declare(cython.int, 30)  # Newton steps for which intervals that needed pivoting get it at once


@cython.cclass
class Scheme:
    """Collocation as kernels take it: a rule of Gauss points with its interpolation and error constant, the states
    ``rows`` that have slopes, those that ``follow`` one of them, with the index of that one in ``rows``, and the
    unfolding D, a column for each conserved quantity."""

    def __init__(self, gauss, rows, follow, unfolding):
        m = gauss.degree
        arrays = [gauss.A, gauss.A2, gauss.b, gauss.bA, gauss.c, gauss.inverse, gauss.highest, unfolding]
        A, A2, b, bA, c, inverse, highest, D = arrays = [np.array(each, order="C") for each in arrays]
        rows, (followers, source) = rows.astype(np.intc), follow.astype(np.intc)
        self._kept = arrays, rows, followers, source
        rule: cython.pointer[Rule] = cython.address(self.rule)
        rule.n, rule.nb = unfolding.shape[0], unfolding.shape[1] + 2
        rule.m, rule.nr, rule.nf = m, len(rows), len(followers)
        rule.A, rule.A2, rule.inverse = numbers(A, m * m), numbers(A2, m * m), numbers(inverse, m * m)
        rule.b, rule.bA, rule.c, rule.highest = numbers(b, m), numbers(bA, m), numbers(c, m), numbers(highest, m)
        rule.constant = gauss.constant
        rule.rows, rule.followers, rule.source = (
            places(rows, rule.nr), places(followers, rule.nf), places(source, rule.nf),
        )  # fmt: skip
        rule.D = numbers(D, rule.n * (rule.nb - 2))


def lines_in(rule):
    """The number of entries of eight lanes that ``Condensed.lines`` has room for."""
    assembling = 2 * rule.nr + 3
    reaching = 2 * rule.m + rule.n + rule.nb + 1
    return max(max(assembling, reaching), rule.m * rule.nr + 1)


def condense(rule, orbit, h, to, G):
    """δk = Z [δx_j, δ(T, p, α), 1] and δx_{j+1} = G δx_j + g [δ(T, p, α), 1] in every interval, g being ``to.ends``.

    Z is indexed [group, slope, column, lane]: intervals lie side by side in groups. ``stiff`` counts for how long a
    group gets pivoting: that is where factors exceed ``grown``, or more slopes than ``large`` are unknown. Returns the
    largest residual of a slope, NaN where W is singular.
    """
    size = rule.m * rule.nr
    columns = rule.n + rule.nb + 1
    worst = 0.0
    for group in range((to.N + 7) // 8):
        count = min(8, to.N - 8 * group)
        Z = to.Z + group * size * columns * 8
        worst = larger(worst, _assemble(rule, orbit, h, to, 8 * group, count))
        known: cython.bint = size > to.large or to.stiff[group] > 0
        if not known and _eliminate(rule, to, Z, count):
            continue
        if not known:
            _assemble(rule, orbit, h, to, 8 * group, count)
            to.stiff[group] = REMEMBERED + 1
        to.stiff[group] -= 1
        for lane in range(count):
            if not _solve_lane(rule, to, lane, Z + lane):
                return NAN
    _reach_ends(rule, orbit, h, to, G)
    return worst


def _assemble(rule, orbit, h, to, low, count):
    """[W | right] of a few intervals side by side; lanes without an interval hold the unit matrix.

    ``values`` holds f, ∂f/∂x (row by row) and ∂f/∂p of the rows that have slopes, at every Gauss point. Returns the
    largest residual of a slope.
    """
    n, m, nr, nb, N = rule.n, rule.m, rule.nr, rule.nb, to.N
    points, size, T, x, a = N * m, m * nr, orbit.scalars[0], orbit.x, to.lanes
    width, scalar = size + n + nb + 1, size + n
    once, twice, step = to.lines, to.lines + 8 * nr, to.lines + 16 * nr
    back, period = step + 8, step + 16
    worst = 0.0
    memset(once, 0, 64 * (2 * nr + 3))
    for lane in range(8):
        period[lane] = T
    for lane in range(count):
        step[lane], back[lane] = T * h[low + lane], -T * h[low + lane]
    if count < 8:
        for row in range(size):
            memset(a + 8 * (row * width + size), 0, 64 * (width - size))
    for i in range(m):
        at = i * N + low
        for r in range(nr):
            line = a + 8 * (i * nr + r) * width
            f = to.values + r * points + at
            by_load = to.values + (nr + nr * n + r) * points + at
            for lane in range(count):
                rate = f[lane]
                for k in range(nb - 2):
                    unfolding = rule.D[rule.rows[r] * (nb - 2) + k]
                    rate += unfolding * orbit.scalars[2 + k]
                    line[8 * (scalar + 2 + k) + lane] = T * unfolding
                residual = T * rate - orbit.K[((low + lane) * m + i) * nr + r]
                worst = larger(worst, fabs(residual))
                line[8 * scalar + lane], line[8 * (scalar + nb) + lane] = rate, residual
                line[8 * (scalar + 1) + lane] = T * by_load[lane]
            slopes = to.values + (nr + r * n) * points + at
            for s in range(nr):
                slope = slopes + rule.rows[s] * points
                state = line + 8 * (size + rule.rows[s])
                if count == 8:
                    scale_row(once + 8 * s, slope, back, 1)
                    scale_row(state, slope, period, 1)
                else:
                    for lane in range(count):
                        once[8 * s + lane] = back[lane] * slope[lane]
                        state[lane] = T * slope[lane]
            if rule.nf:
                memset(twice, 0, 64 * nr)
            for k in range(rule.nf):
                t, s = rule.followers[k], rule.source[k]
                slope = slopes + t * points
                state = line + 8 * (size + rule.rows[s])
                for lane in range(count):
                    twice[8 * s + lane] -= step[lane] * step[lane] * slope[lane]
                    line[8 * (size + t) + lane] = T * slope[lane]
                    state[lane] += T * rule.c[i] * step[lane] * slope[lane]
                    line[8 * scalar + lane] += slope[lane] * (to.X[t * points + at + lane] - x[(low + lane) * n + t])
            for l in range(m):
                combine_rows(line + 8 * l * nr, once, twice, rule.A[i * m + l], rule.A2[i * m + l], nr)
            for lane in range(8):
                line[8 * (i * nr + r) + lane] += 1.0
    return worst


def _eliminate(rule, to, Z, count):
    """Gaussian elimination of all lanes at once, without pivoting: Z = W⁻¹ right. Returns whether no factor exceeds a
    limit; else rows must be exchanged."""
    size = rule.m * rule.nr
    width = size + rule.n + rule.nb + 1
    _reduce(to.lanes, size, width, to.lines, to.grown)
    _substitute(to.lanes, size, width, to.lines, Z)
    return not marked(to.lines + 8 * size, count)


def _reduce(a, size, width, inverses, most):
    """Reduce rows to an upper triangle, two at once, keeping the factors beside it; an odd row is a pair by itself.
    Fills in the inverses of the pivots and, after them, marks of lanes in which a factor has grown."""
    marks = inverses + 8 * size
    memset(marks, 0, 64)
    for i in range(0, size, 2):
        last = min(i + 1, size - 1)
        one, two = a + 8 * i * width, a + 8 * last * width
        for first in range(0, i, 4):  # the factors of four pivots, by those before them
            beyond = min(first + 4, i)
            take_rows_off(one + 8 * first, two + 8 * first, a + 8 * first, one, two, width, first, beyond - first)
            for p in range(first, beyond):
                pivot = a + 8 * p * (width + 1)
                reduce_row(one + 8 * p, pivot, inverses + 8 * p, marks, most, beyond - p - 1)
                if last > i:
                    reduce_row(two + 8 * p, pivot, inverses + 8 * p, marks, most, beyond - p - 1)
        take_rows_off(one + 8 * i, two + 8 * i, a + 8 * i, one, two, width, i, width - i)
        invert_entry(inverses + 8 * i, one + 8 * i)
        if last > i:
            reduce_row(two + 8 * i, one + 8 * i, inverses + 8 * i, marks, most, width - i - 1)
            invert_entry(inverses + 8 * last, two + 8 * last)


def _substitute(a, size, width, inverses, Z):
    """Back substitution, two rows at once."""
    columns = width - size
    right = a + 8 * size
    for i in range(size - 1, -1, -2):
        first = max(i - 1, 0)
        one, two = right + 8 * i * width, right + 8 * first * width
        upper, below = a + 8 * (i * width + i + 1), Z + 8 * (i + 1) * columns
        before = a + 8 * (first * width + i + 1)
        take_rows_off(one, two, below, upper, before, columns, size - 1 - i, columns)
        scale_row(Z + 8 * i * columns, one, inverses + 8 * i, columns)
        if first < i:
            take_row_off(two, Z + 8 * i * columns, before - 8, columns)
            scale_row(Z + 8 * first * columns, two, inverses + 8 * first, columns)


def _solve_lane(rule, to, lane, Z):
    """The solution for one of the intervals side by side, with pivoting; returns whether there is one."""
    size, columns = rule.m * rule.nr, rule.n + rule.nb + 1
    W, right = to.square, to.square + size * size
    for i in range(size):
        row = to.lanes + 8 * i * (size + columns) + lane
        for t in range(size):
            W[t * size + i] = row[8 * t]
        for t in range(columns):
            right[t * size + i] = row[8 * (size + t)]
    if factorised(W, size, to.pivots) == 0.0:
        return False
    substituted(W, size, to.pivots, right, columns, False)
    for i in range(size):
        for t in range(columns):
            Z[8 * (i * columns + t)] = right[t * size + i]
    return True


def stage_states(rule, orbit, h, N, X):
    """States at the Gauss points from states at the mesh points and slopes: point i of interval j is X[:, i N + j]."""
    n, m, nr, T = rule.n, rule.m, rule.nr, orbit.scalars[0]
    for j in range(N):
        x, K = orbit.x + j * n, orbit.K + j * m * nr
        for i in range(m):
            at = X + i * N + j
            for r in range(nr):
                total = 0.0
                for l in range(m):
                    total += rule.A[i * m + l] * K[l * nr + r]
                at[rule.rows[r] * N * m] = x[rule.rows[r]] + h[j] * total
            for k in range(rule.nf):
                s = rule.source[k]
                total = 0.0
                for l in range(m):
                    total += rule.A2[i * m + l] * K[l * nr + s]
                at[rule.followers[k] * N * m] = (
                    x[rule.followers[k]] + h[j] * T * (rule.c[i] * x[rule.rows[s]] + h[j] * total)
                )  # fmt: skip


def _reach_ends(rule, orbit, h, to, G):
    """The states at the ends of all intervals as functions of those at their beginnings and the scalars."""
    n, m, nr, nb = rule.n, rule.m, rule.nr, rule.nb
    columns, T = n + nb + 1, orbit.scalars[0]
    once, twice, found = to.lines, to.lines + 8 * m, to.lines + 16 * m
    for group in range((to.N + 7) // 8):
        low = 8 * group
        count = min(8, to.N - low)
        for i in range(m):
            for lane in range(count):
                once[8 * i + lane] = h[low + lane] * rule.b[i]
                twice[8 * i + lane] = h[low + lane] * h[low + lane] * T * rule.bA[i]
        for r in range(nr + rule.nf):
            second: cython.bint = r >= nr
            s = rule.source[r - nr] if second else r
            end = rule.followers[r - nr] if second else rule.rows[r]
            state = rule.rows[s]
            slopes = to.Z + 8 * (group * m * nr + s) * columns
            for t in range(columns):
                sum_products(found + 8 * t, twice if second else once, slopes + 8 * t, 1, nr * columns, m)
            for lane in range(count):
                j = low + lane
                x, K = orbit.x + j * n, orbit.K + j * m * nr
                row, ends = G + (j * n + end) * n, to.ends + (j * n + end) * (nb + 1)
                for t in range(n):
                    row[t] = found[8 * t + lane] + (1.0 if t == end else 0.0)
                for t in range(nb + 1):
                    ends[t] = found[8 * (n + t) + lane]
                moved = x[state]
                gone = 0.0
                for i in range(m):
                    moved += h[j] * rule.bA[i] * K[i * nr + s]
                    gone += h[j] * rule.b[i] * K[i * nr + s]
                if second:
                    row[state] += h[j] * T
                    ends[0] += h[j] * moved
                    gone = h[j] * T * moved
                ends[nb] += x[end] - x[n + end] + gone


def expand(rule, by, dx, scalars, residuals, dK):
    """Slopes that belong to changes of states and scalars, and to a share of the residuals."""
    n, m, nr, nb = rule.n, rule.m, rule.nr, rule.nb
    columns = n + nb + 1
    changes, slopes = by.lines, by.lines + 8 * columns
    for lane in range(8):
        for t in range(nb):
            changes[8 * (n + t) + lane] = scalars[t]
        changes[8 * (n + nb) + lane] = residuals
    for group in range((by.N + 7) // 8):
        low = 8 * group
        count = min(8, by.N - low)
        for t in range(n):
            for lane in range(count):
                changes[8 * t + lane] = dx[(low + lane) * n + t]
        for i in range(m * nr):
            sum_products(slopes, by.Z + 8 * columns * (group * m * nr + i), changes, 1, 1, columns)
            for lane in range(count):
                dK[(low + lane) * m * nr + i] = slopes[lane]
