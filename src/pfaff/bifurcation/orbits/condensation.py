"""The linear algebra of collocation: every interval condensed to its ends, then the chain of intervals to one.

With time s in [0, 1] the equations are x' = T (f(x, p) + D α) and the unknowns of an interval of length h are the
slopes k = x' at its Gauss points. Where a row of f is itself a state, q' = v, its slopes follow from those of v
(Runge–Kutta–Nyström form), so that a mechanical system has only its accelerations for unknowns: of W δk = right, an
eighth of the work. What remains is x_{j+1} = G_j x_j + g_j (T, p, α), whose G_j multiply to the monodromy matrix.

The chain is reduced by eliminating mesh points one after the other, rows of two neighbouring intervals exchanged for
the largest pivot (Ascher, Mattheij and Russell 1988, Sec. 7.2): products of G_j, in which rounding drowns where motions
separate quickly, are never formed.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.kernels import compiled

REGULAR = 1e-300  # pivots below this are zeros
LANES, WIDTH = 32, 8  # at most, intervals that are eliminated side by side; a multiple of the processor's vectors
GROWN = 30.0  # factors of elimination beyond this call for pivoting


@compiled
def stage_states(x, K, h, T, A, A2, c, rows, follow, source, X):
    """States at the Gauss points from states at the mesh points and slopes: point i of interval j is X[:, i N + j]."""
    N, m, nr = K.shape
    for j in range(N):
        for i in range(m):
            at = i * N + j
            for r in range(nr):
                total = 0.0
                for l in range(m):
                    total += A[i, l] * K[j, l, r]
                X[rows[r], at] = x[j, rows[r]] + h[j] * total
            for k in range(len(follow)):
                s = source[k]
                total = 0.0
                for l in range(m):
                    total += A2[i, l] * K[j, l, s]
                X[follow[k], at] = x[j, follow[k]] + h[j] * T * (c[i] * x[j, rows[s]] + h[j] * total)


@compiled
def eliminate(a, size):
    """Gauss's elimination with partial pivoting: a = [W | right] becomes [· | W⁻¹ right]; False where W is singular."""
    width = a.shape[1]
    for p in range(size):
        pivot = p
        for i in range(p + 1, size):
            if abs(a[i, p]) > abs(a[pivot, p]):
                pivot = i
        if not abs(a[pivot, p]) > REGULAR:
            return False
        if pivot != p:
            for t in range(p, width):
                a[p, t], a[pivot, t] = a[pivot, t], a[p, t]
        for i in range(p + 1, size):
            factor = a[i, p] / a[p, p]
            if factor != 0.0:
                for t in range(p + 1, width):
                    a[i, t] -= factor * a[p, t]
    for p in range(size - 1, -1, -1):
        for l in range(p + 1, size):
            factor = a[p, l]
            if factor != 0.0:
                for t in range(size, width):
                    a[p, t] -= factor * a[l, t]
        for t in range(size, width):
            a[p, t] /= a[p, p]
    return True


@compiled
def condense(values, x, K, X, h, scalars, D, A, A2, b, bA, c, rows, follow, source, Z, G, g):
    """δk = Z [δx_j, δ(T, p, α), 1] and δx_{j+1} = G δx_j + g [δ(T, p, α), 1] in every interval.

    ``values`` holds f, ∂f/∂x (row by row) and ∂f/∂p of the rows that have slopes, at every Gauss point. Intervals are
    eliminated side by side, in lanes, without exchanging rows, as W is near 1 on a fine mesh; those in which a
    factor grows are done again with partial pivoting. Returns the largest residual of a slope, NaN where W is singular.
    """
    N, m, nr = K.shape
    size = m * nr
    width = size + Z.shape[2]
    lanes = min(LANES, (N + WIDTH - 1) // WIDTH * WIDTH)
    a, single, grown = np.empty((size, width, lanes)), np.empty((size, width)), np.empty(lanes)
    worst = 0.0
    for low in range(0, N, lanes):
        count = min(lanes, N - low)
        for attempt in range(2):
            _assemble(a, low, count, values, x, K, X, h, scalars, D, A, A2, c, rows, follow, source)
            if attempt == 0:
                for row in range(size):
                    for lane in range(count):
                        residual = abs(a[row, width - 1, lane])
                        worst = worst if residual <= worst else residual
                _eliminate_lanes(a, size, grown)
            left = 0
            for lane in range(count):
                if grown[lane] < GROWN:
                    for row in range(size if attempt == 0 else 0):
                        for t in range(width - size):
                            Z[low + lane, row, t] = a[row, size + t, lane]
                    continue
                left += 1
                if attempt == 1:
                    for row in range(size):
                        for t in range(width):
                            single[row, t] = a[row, t, lane]
                    if not eliminate(single, size):
                        return np.nan
                    for row in range(size):
                        for t in range(width - size):
                            Z[low + lane, row, t] = single[row, size + t]
            if left == 0:
                break
    for j in range(N):
        _ends(j, x, K, h, scalars[0], b, bA, rows, follow, source, Z, G, g)
    return worst


@compiled
def _assemble(a, low, count, values, x, K, X, h, scalars, D, A, A2, c, rows, follow, source):
    """[W | right] of a few intervals side by side; lanes without an interval hold the unit matrix."""
    N, m, nr = K.shape
    n = x.shape[1]
    nb = len(scalars)
    T = scalars[0]
    size, lanes = m * nr, a.shape[2]
    last = size + n + nb
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
                a[row, last, lane] = T * by_period[lane] - K[low + lane, i, r]
                a[row, size + n + 1, lane] = T * values[nr + nr * n + r, at + lane]
            for s in range(nr):
                by = values[nr + r * n + rows[s], at:]
                direct, by_state = once[s], a[row, size + rows[s]]
                for lane in range(count):
                    direct[lane] = -step[lane] * by[lane]
                    by_state[lane] = T * by[lane]
                for lane in range(lanes):
                    twice[s, lane] = 0.0
            for k in range(len(follow)):
                by = values[nr + r * n + follow[k], at:]
                through, by_state, moved = (
                    twice[source[k]],
                    a[row, size + rows[source[k]]],
                    X[follow[k], at:],
                )
                for lane in range(count):
                    through[lane] -= step[lane] * step[lane] * by[lane]
                    a[row, size + follow[k], lane] = T * by[lane]
                    by_state[lane] += T * c[i] * step[lane] * by[lane]
                    by_period[lane] += by[lane] * (moved[lane] - x[low + lane, follow[k]])
            for l in range(m):
                for s in range(nr):
                    entry, direct, through = a[row, l * nr + s], once[s], twice[s]
                    first, second = A[i, l], A2[i, l]
                    for lane in range(lanes):
                        entry[lane] = first * direct[lane] + second * through[lane]
            for lane in range(lanes):
                a[row, row, lane] += 1.0


@compiled
def _eliminate_lanes(a, size, grown):
    """The same as ``eliminate`` for all lanes at once, without pivoting; the largest factor of each lane."""
    width, lanes = a.shape[1:]
    inverse = np.empty(lanes)
    factor = np.empty(lanes)
    for lane in range(lanes):
        grown[lane] = 0.0
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


@compiled
def _ends(j, x, K, h, T, b, bA, rows, follow, source, Z, G, g):
    """The state at the end of an interval, by that at its beginning and the scalars."""
    m, nr = K.shape[1:]
    n = x.shape[1]
    width = Z.shape[2] - n
    for i in range(n):
        for t in range(n):
            G[j, i, t] = 0.0
        for t in range(width):
            g[j, i, t] = 0.0
    for r in range(nr):
        end = rows[r]
        G[j, end, end] = 1.0
        g[j, end, width - 1] = x[j, end] - x[j + 1, end]
        for i in range(m):
            weight = h[j] * b[i]
            g[j, end, width - 1] += weight * K[j, i, r]
            for t in range(n):
                G[j, end, t] += weight * Z[j, i * nr + r, t]
            for t in range(width):
                g[j, end, t] += weight * Z[j, i * nr + r, n + t]
    for k in range(len(follow)):
        end, s = follow[k], source[k]
        G[j, end, end] = 1.0
        G[j, end, rows[s]] += h[j] * T
        moved = x[j, rows[s]]
        for i in range(m):
            moved += h[j] * bA[i] * K[j, i, s]
            weight = h[j] * h[j] * T * bA[i]
            for t in range(n):
                G[j, end, t] += weight * Z[j, i * nr + s, t]
            for t in range(width):
                g[j, end, t] += weight * Z[j, i * nr + s, n + t]
        g[j, end, 0] += h[j] * moved
        g[j, end, width - 1] += x[j, end] + h[j] * T * moved - x[j + 1, end]


@compiled
def triangulate(w, columns):
    """Elimination with partial pivoting below the diagonal of the first columns of w, applied to all; the sign of
    the permutation."""
    height, width = w.shape
    sign = 1.0
    for p in range(columns):
        pivot = p
        for i in range(p + 1, height):
            if abs(w[i, p]) > abs(w[pivot, p]):
                pivot = i
        if pivot != p:
            sign = -sign
            for t in range(p, width):
                w[p, t], w[pivot, t] = w[pivot, t], w[p, t]
        inverse = 1.0 / w[p, p]
        upper = w[p]
        for i in range(p + 1, height):
            factor = w[i, p] * inverse
            if factor != 0.0:
                lower = w[i]
                for t in range(p, width):
                    lower[t] -= factor * upper[t]
    return sign


@compiled
def reflect(w, columns, v, along):
    """Householder's reflections that make the first columns of w upper triangular, applied to all.

    ``v`` and ``along`` are room for a column and a row.
    """
    height, width = w.shape
    for p in range(columns):
        norm = 0.0
        for i in range(p, height):
            v[i] = w[i, p]
            norm += v[i] * v[i]
        below = norm - v[p] * v[p]
        if below == 0.0:
            continue
        norm = np.sqrt(norm)
        head = v[p]
        v[p] += norm if head > 0 else -norm
        beta = 2.0 / (below + v[p] * v[p])
        for t in range(p, width):
            along[t] = 0.0
        for i in range(p, height):
            for t in range(p, width):
                along[t] += v[i] * w[i, t]
        for i in range(p, height):
            factor = beta * v[i]
            for t in range(p, width):
                w[i, t] -= factor * along[t]


@compiled
def close_chain(G, g, borders, scalar_borders, right, signs, dx, dc):
    """Solve the chain, closed by x_N = signs·x_0, with border rows over all mesh points and over the scalars.

    Two solutions at once: ``dx[0]``, ``dc[0]`` is Newton's step for the residuals in g and ``right``, ``dx[1]``,
    ``dc[1]`` the response to a unit on the last border row, the tangent. Returns the determinant of the condensed
    matrix, its rows scaled to unit size: it changes its sign where the tangent is not unique.
    """
    N, n, width = g.shape
    nb = width - 1
    wide = 3 * n + width
    kept, w = np.empty((N, n, wide)), np.empty((2 * n, wide))
    rows, by_scalars = np.empty((nb, N + 1, n)), np.empty((nb, width))
    for k in range(nb):
        for j in range(N + 1):
            for t in range(n):
                rows[k, j, t] = borders[k, j, t]
        for t in range(nb):
            by_scalars[k, t] = scalar_borders[k, t]
        by_scalars[k, nb] = right[k]
    sign = 1.0
    for j in range(N):
        _couple(w, G[j], g[j], j)
        if j == 0:
            continue
        sign *= triangulate(w, n)
        for i in range(n):
            for t in range(wide):
                kept[j, i, t] = w[i, t]
            if w[i, i] < 0:
                sign = -sign
        _carry(rows, by_scalars, kept[j], j, n)
    final = np.empty((n + nb, n + nb + 2))
    for i in range(n + nb):
        final[i, n + nb + 1] = 0.0
    for i in range(n):
        for t in range(n):
            final[i, t] = w[n + i, n + t] + w[n + i, 2 * n + t] * signs[t]
        for t in range(width):
            final[i, n + t] = w[n + i, 3 * n + t]
    for k in range(nb):
        for t in range(n):
            final[n + k, t] = rows[k, 0, t] + rows[k, N, t] * signs[t]
        for t in range(width):
            final[n + k, n + t] = by_scalars[k, t]
    final[n + nb - 1, n + nb + 1] = 1.0
    if n % 2 == 1 and N % 2 == 0:  # of moving the columns of the eliminated points to the front
        sign = -sign
    determinant = sign * _scaled_determinant(final, n + nb)
    if determinant == 0.0 or not eliminate(final, n + nb):
        return np.nan
    for q in range(2):
        for t in range(n):
            dx[q, 0, t] = final[t, n + nb + q]
            dx[q, N, t] = signs[t] * dx[q, 0, t]
        for t in range(nb):
            dc[q, t] = final[n + t, n + nb + q]
        for j in range(N - 1, 0, -1):
            for i in range(n - 1, -1, -1):
                total = kept[j, i, wide - 1] if q == 0 else 0.0
                for t in range(n):
                    total -= kept[j, i, n + t] * dx[q, 0, t] + kept[j, i, 2 * n + t] * dx[q, j + 1, t]
                for t in range(nb):
                    total -= kept[j, i, 3 * n + t] * dc[q, t]
                for t in range(i + 1, n):
                    total -= kept[j, i, t] * dx[q, j, t]
                dx[q, j, i] = total / kept[j, i, i]
    return determinant


@compiled
def _couple(w, G, g, j):
    """Put the equation G x_j − x_{j+1} + g = 0 below what is left of those before, A x_0 + B x_j + C = 0.

    Columns are those of x_j, x_0, x_{j+1}, the scalars and the right-hand side.
    """
    n, width = g.shape
    for i in range(n):
        for t in range(n):
            if j > 0:
                w[i, t] = w[n + i, 2 * n + t]
                w[i, n + t] = w[n + i, n + t]
                w[i, 2 * n + t] = 0.0
                w[n + i, t] = G[i, t]
                w[n + i, n + t] = 0.0
            else:
                w[n + i, n + t] = G[i, t]
            w[n + i, 2 * n + t] = -1.0 if i == t else 0.0
        for t in range(width):
            if j > 0:
                w[i, 3 * n + t] = w[n + i, 3 * n + t]
            w[n + i, 3 * n + t] = g[i, t] if t < width - 1 else -g[i, t]


@compiled
def _carry(rows, by_scalars, kept, j, n):
    """Take x_j out of the border rows, by the equation that was kept for it."""
    nb, width = by_scalars.shape
    y = np.empty(n)
    for k in range(nb):
        for i in range(n):
            total = rows[k, j, i]
            for t in range(i):
                total -= y[t] * kept[t, i]
            y[i] = total / kept[i, i]
        for i in range(n):
            for t in range(n):
                rows[k, 0, t] -= y[i] * kept[i, n + t]
                rows[k, j + 1, t] -= y[i] * kept[i, 2 * n + t]
            for t in range(width):
                by_scalars[k, t] -= y[i] * kept[i, 3 * n + t]


@compiled
def _scaled_determinant(matrix, size):
    """The determinant of the leading block with rows scaled to unit size (the rows stay scaled)."""
    for i in range(size):
        largest = 0.0
        for t in range(size):
            largest = max(largest, abs(matrix[i, t]))
        if not largest > REGULAR:
            return 0.0
        for t in range(matrix.shape[1]):
            matrix[i, t] /= largest
    a = np.empty((size, size))
    for i in range(size):
        for t in range(size):
            a[i, t] = matrix[i, t]
    determinant = 1.0
    for p in range(size):
        pivot = p
        for i in range(p + 1, size):
            if abs(a[i, p]) > abs(a[pivot, p]):
                pivot = i
        if pivot != p:
            determinant = -determinant
            for t in range(size):
                a[p, t], a[pivot, t] = a[pivot, t], a[p, t]
        determinant *= a[p, p]
        if a[p, p] == 0.0:
            return 0.0
        for i in range(p + 1, size):
            factor = a[i, p] / a[p, p]
            for t in range(p, size):
                a[i, t] -= factor * a[p, t]
    return determinant


@compiled
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
def conclude(Z, dx, dc, x, halved, tangent, slopes, scalars, states):
    """Fill the tangent, its slopes and scalars from a step of Newton's; and the states after it, a column each, with
    its mirror image beside it if half a period is known."""
    N, n = x.shape
    expand(Z, dx[1], dc[1], 0.0, slopes)
    for j in range(N):
        for t in range(n):
            tangent[j, t] = dx[1, j, t]
            if halved:
                states[t, 2 * j], states[t, 2 * j + 1] = x[j, t], -x[j, t]
            else:
                states[t, j] = x[j, t]
    for t in range(len(scalars)):
        scalars[t] = dc[1, t]


@compiled
def move(x, K, X, h, scalars, A, A2, c, rows, follow, source, of_states, of_scalars, Z, dx, dc, dK):
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
    stage_states(x, K, h, scalars[0], A, A2, c, rows, follow, source, X)
    return size, largest


@compiled
def sweep(G, Q, R):
    """G_j Q_j = Q_{j+1} R_j around the chain, R_j upper triangular with positive diagonal; Q becomes Q_N."""
    N, n = G.shape[:2]
    w, v, along = np.empty((n, 2 * n)), np.empty(n), np.empty(2 * n)
    for j in range(N):
        for i in range(n):
            for t in range(n):
                w[i, t] = 0.0
                w[i, n + t] = 1.0 if t == i else 0.0
            for l in range(n):
                for t in range(n):
                    w[i, t] += G[j, i, l] * Q[l, t]
        reflect(w, n, v, along)
        for i in range(n):
            flip = -1.0 if w[i, i] < 0 else 1.0
            for t in range(n):
                R[j, i, t] = flip * w[i, t] if t >= i else 0.0
                Q[t, i] = flip * w[i, n + t]


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
            before = x[j - 1, t] if j > 0 else signs[t] * x[N - 1, t]
            after = x[j + 1, t] if j < N else signs[t] * x[1, t]
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
