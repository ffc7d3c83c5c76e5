"""The chain of intervals x_{j+1} = G_j x_j + g_j (T, p, α), closed to an orbit and solved.

Mesh points are eliminated one after the other, rows of two neighbouring intervals exchanged for the largest pivot
(Ascher, Mattheij and Russell 1988, Sec. 7.2): products of G_j, in which rounding drowns where motions separate
quickly, are never formed.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.kernels import compiled, part

REGULAR = 1e-300  # pivots below this are zeros


@part
def triangulate(w, columns, pivots):
    """Elimination below the diagonal of the first columns of w, applied to all, with pivots from the first rows: the
    sign of the permutation, zero where there is no pivot."""
    height, width = w.shape
    sign = 1.0
    for p in range(columns):
        pivot = p
        for i in range(p + 1, pivots):
            if abs(w[i, p]) > abs(w[pivot, p]):
                pivot = i
        if not abs(w[pivot, p]) > REGULAR:
            return 0.0
        upper = w[p]
        if pivot != p:
            sign = -sign
            lower = w[pivot]
            for t in range(p, width):
                upper[t], lower[t] = lower[t], upper[t]
        if upper[p] < 0.0:
            sign = -sign
        inverse = 1.0 / upper[p]
        for i in range(p + 1, height):
            lower = w[i]
            factor = lower[p] * inverse
            if factor != 0.0:
                for t in range(p, width):
                    lower[t] -= factor * upper[t]
    return sign


@part
def _begin(w, borders, scalar_borders, right, x, scalars):
    """The equations before the first interval: x_j − x_0 = 0, and the border rows, Newton's residuals on the right."""
    nb, points, n = borders.shape
    w[:] = 0.0
    for i in range(n):
        w[n + i, n + i] = -1.0
        w[n + i, 2 * n + i] = 1.0
    for k in range(nb):
        row, left = w[2 * n + k], right[k]
        for j in range(points):
            for t in range(n):
                left -= borders[k, j, t] * x[j, t]
        for t in range(n):
            row[2 * n + t] = borders[k, 0, t]
        for t in range(nb):
            row[3 * n + t] = scalar_borders[k, t]
            left -= scalar_borders[k, t] * scalars[t]
        row[3 * n + nb] = left


@part
def _couple(before, w, G, g, borders, j):
    """Put the equation G x_j − x_{j+1} + g = 0 below what is left of those before, A x_0 + B x_j + C = 0, and the
    border rows below both. Columns are those of x_j, x_0, x_{j+1}, the scalars and the right-hand side."""
    n, width = g.shape
    last = 3 * n + width - 1
    for i in range(len(w)):
        row = w[i]
        if n <= i < 2 * n:
            for t in range(n):
                row[t], row[n + t], row[2 * n + t] = G[i - n, t], 0.0, 0.0
            for t in range(width):
                row[3 * n + t] = g[i - n, t]
            row[n + i], row[last] = -1.0, -row[last]
            continue
        left = before[n + i if i < n else i]
        for t in range(n):
            row[t], row[n + t], row[2 * n + t] = left[2 * n + t], left[n + t], 0.0
        for t in range(3 * n, last + 1):
            row[t] = left[t]
        if i >= n:
            for t in range(n):
                row[2 * n + t] = borders[i - 2 * n, j + 1, t]


@part
def _substitute(kept, signs, dx, dc, residuals):
    """The points between, from the first and the scalars, and from a share of the residuals."""
    N, n, nb = len(kept), len(signs), len(dc)
    for t in range(n):
        dx[N, t] = signs[t] * dx[0, t]
    for j in range(N - 1, 0, -1):
        for i in range(n - 1, -1, -1):
            row = kept[j, i]
            total = residuals * row[3 * n + nb]
            for t in range(n):
                total -= row[n + t] * dx[0, t] + row[2 * n + t] * dx[j + 1, t]
            for t in range(nb):
                total -= row[3 * n + t] * dc[t]
            for t in range(i + 1, n):
                total -= row[t] * dx[j, t]
            dx[j, i] = total / row[i]


@compiled
def close_chain(G, g, borders, scalar_borders, right, x, scalars, signs, dx, dc):
    """Solve the chain, closed by x_N = signs·x_0, with border rows over all mesh points and over the scalars
    that have the values ``right``.

    Two solutions at once: ``dx[0]``, ``dc[0]`` is Newton's step for the residuals in g and in those values, ``dx[1]``,
    ``dc[1]`` the response to a unit on the last border row, the tangent. Returns the determinant of the condensed
    matrix, its rows scaled to unit size: it changes its sign where the tangent is not unique.
    """
    N, n, width = g.shape
    nb = width - 1
    size = n + nb
    first, kept = np.empty((n + size, 3 * n + width)), np.empty((N, n + size, 3 * n + width))
    _begin(first, borders, scalar_borders, right, x, scalars)
    sign = -1.0 if n % 2 == 1 and N % 2 == 0 else 1.0  # of moving the columns of the eliminated points to the front
    for j in range(N):
        _couple(kept[j - 1] if j > 0 else first, kept[j], G[j], g[j], borders, j)
        sign *= triangulate(kept[j], n, 2 * n)
    final = np.empty((size, size + 2))
    for i in range(size):
        row, left = final[i], kept[N - 1, n + i]
        for t in range(n):
            row[t] = left[n + t] + left[2 * n + t] * signs[t]
        for t in range(width):
            row[n + t] = left[3 * n + t]
        row[size + 1] = 1.0 if i == size - 1 else 0.0
        largest = 0.0
        for t in range(size):
            largest = max(largest, abs(row[t]))
        if not largest > REGULAR:
            return np.nan
        for t in range(size + 2):
            row[t] /= largest
    determinant = sign * triangulate(final, size, size)
    if determinant == 0.0:
        return np.nan
    for q in range(2):
        for i in range(size - 1, -1, -1):
            total = final[i, size + q]
            for t in range(i + 1, size):
                total -= final[i, t] * (dx[q, 0, t] if t < n else dc[q, t - n])
            if i < n:
                dx[q, 0, i] = total / final[i, i]
            else:
                dc[q, i - n] = total / final[i, i]
        _substitute(kept, signs, dx[q], dc[q], 1.0 - q)
    for i in range(size):
        determinant *= abs(final[i, i])
    return determinant
