"""The chain of intervals x_{j+1} = G_j x_j + g_j (T, p, α), closed to an orbit and solved.

Mesh points are eliminated one after the other, with rows of two neighbouring intervals exchanged for the largest pivot
(Ascher, Mattheij and Russell 1988, Sec. 7.2). Products of the G_j, which lose all digits where motions separate
quickly, are never formed.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.machine_code.vectors import LANES, add_multiple, aligned, exchange, padded

REGULAR = 1e-300  # pivots below this are zeros
LARGEST = 700.0  # logarithms beyond this overflow
WITHIN = 1e-100, 1e100  # range in which a product of pivots can take one more without overflow


@part
def triangulate(w, columns):
    """Elimination with partial pivoting below the diagonal of the first columns of w, applied to all; returns the sign
    of the permutation, zero where there is no pivot."""
    height, width = w.shape
    sign = 1.0
    for p in range(columns):
        pivot = p
        for i in range(p + 1, height):
            if abs(w[i, p]) > abs(w[pivot, p]):
                pivot = i
        if not abs(w[pivot, p]) > REGULAR:
            return 0.0
        if pivot != p:
            sign = -sign
            for t in range(p, width):
                w[p, t], w[pivot, t] = w[pivot, t], w[p, t]
        inverse = 1.0 / w[p, p]
        for i in range(p + 1, height):
            factor = w[i, p] * inverse
            if factor != 0.0:
                for t in range(p, width):
                    w[i, t] -= factor * w[p, t]
    return sign


@part
def eliminate(a, size):
    """a = [W | right] becomes [· | W⁻¹ right], the pivots on the diagonal; returns the sign of the permutation, or
    zero."""
    width = a.shape[1]
    sign = triangulate(a, size)
    if sign != 0.0:
        for p in range(size - 1, -1, -1):
            for l in range(p + 1, size):
                factor = a[p, l]
                for t in range(size, width):
                    a[p, t] -= factor * a[l, t]
            for t in range(size, width):
                a[p, t] /= a[p, p]
    return sign


@part
def _triangulate_rows(w, columns, pivoted):
    """``triangulate`` by whole vectors of padded rows, with pivots among the first rows only."""
    height, width = w.shape
    at, sign = w.ctypes.data, 1.0
    for p in range(columns):
        pivot = p
        for i in range(p + 1, pivoted):
            if abs(w[i, p]) > abs(w[pivot, p]):
                pivot = i
        if not abs(w[pivot, p]) > REGULAR:
            return 0.0
        first = p // LANES  # vectors before this one are finished
        start, vectors = at + 8 * LANES * first, width // LANES - first
        upper = start + 8 * width * p
        if pivot != p:
            sign = -sign
            exchange(upper, start + 8 * width * pivot, vectors)
        inverse = 1.0 / w[p, p]
        for i in range(p + 1, height):
            if w[i, p] != 0.0:
                add_multiple(start + 8 * width * i, upper, -w[i, p] * inverse, vectors)
    return sign


@part
def _couple(w, G, g, borders, j):
    """Put the equation G x_j − x_{j+1} + g = 0 below what remains of those before, A x_0 + B x_j + C = 0, and x_{j+1}
    into the border rows below both.

    Columns are those of x_j, x_0, x_{j+1}, the scalars and the right-hand side.
    """
    n, width = g.shape[1:]
    at = 0 if j > 0 else n  # x_0 itself is the first x_j
    for i in range(n):
        for t in range(n):
            w[i, t], w[i, n + t], w[i, 2 * n + t] = w[n + i, 2 * n + t], w[n + i, n + t], 0.0
            w[n + i, n + t] = w[n + i, 2 * n + t] = 0.0
        for t in range(n):
            w[n + i, at + t] = G[j, i, t]
        w[n + i, 2 * n + i] = -1.0
        for t in range(width):
            w[i, 3 * n + t], w[n + i, 3 * n + t] = w[n + i, 3 * n + t], g[j, i, t]
        w[n + i, 3 * n + width - 1] = -g[j, i, width - 1]
    for k in range(len(borders)):
        for t in range(n):
            w[2 * n + k, t], w[2 * n + k, 2 * n + t] = w[2 * n + k, 2 * n + t], borders[k, j + 1, t]


@part
def _times(product, size, pivot):
    """A product of pivots with one more, and the logarithm of the factor taken out to avoid overflow."""
    if not WITHIN[0] < pivot < WITHIN[1]:
        return product, size + np.log(pivot)
    product *= pivot
    if WITHIN[0] < product < WITHIN[1]:
        return product, size
    return 1.0, size + np.log(product)


@part
def _put_borders(w, borders, scalar_borders, right, x, scalars):
    """Put the border rows below the equations: coefficients of x_0 and the scalars, and residuals of their values."""
    nb, points, n = borders.shape
    for k in range(nb):
        border, left = w[2 * n + k], right[k]
        for j in range(points):
            for t in range(n):
                left -= borders[k, j, t] * x[j, t]
        for t in range(n):
            border[n + t] = borders[k, 0, t]
        for t in range(nb):
            border[3 * n + t] = scalar_borders[k, t]
            left -= scalar_borders[k, t] * scalars[t]
        border[3 * n + nb] = left


@part
def _closed(w, signs, nb):
    """What remains of all equations with x_N = signs·x_0: the matrix of x_0 and the scalars, and both right-hand
    sides, Newton's and a unit on the last border row."""
    n = len(signs)
    final = np.zeros((n + nb, n + nb + 2))
    for i in range(n + nb):
        for t in range(n):
            final[i, t] = w[n + i, n + t] + w[n + i, 2 * n + t] * signs[t]
        for t in range(nb + 1):
            final[i, n + t] = w[n + i, 3 * n + t]
    final[n + nb - 1, n + nb + 1] = 1.0
    return final


@part
def _substitute(kept, inverses, final, signs, dx, dc):
    """Fill in both solutions at all mesh points, backwards from x_0 and the scalars."""
    N, n, wide = kept.shape
    nb = wide - 3 * n - 1
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
                dx[q, j, i] = total * inverses[j, i]


@compiled
def close_chain(G, g, borders, scalar_borders, right, x, scalars, signs, dx, dc):
    """Solve the chain, closed by x_N = signs·x_0, with border rows over all mesh points and over the scalars whose
    values are ``right``.

    Two solutions are computed at once: ``dx[0]``, ``dc[0]`` is Newton's step for the residuals in g and in those
    values, ``dx[1]``, ``dc[1]`` the response to a unit on the last border row, the tangent. Returns the determinant of
    all equations, that of M − signs with its borders, whichever rows were exchanged: it varies as smoothly as the
    orbit, and changes sign where the tangent is not unique.
    """
    N, n, width = g.shape
    nb = width - 1
    wide = 3 * n + width
    kept, w = np.empty((N, n, wide)), aligned((2 * n + nb) * padded(wide)).reshape((2 * n + nb, padded(wide)))
    inverses = np.empty((N, n))
    _put_borders(w, borders, scalar_borders, right, x, scalars)
    sign, product, size = 1.0, 1.0, 0.0  # sign of the determinant; its modulus as a product and a logarithm
    for j in range(N):
        _couple(w, G, g, borders, j)
        if j == 0:
            continue
        sign *= _triangulate_rows(w, n, 2 * n)
        for i in range(n):
            for t in range(i + 1, wide):
                kept[j, i, t] = w[i, t]
            inverses[j, i] = 1.0 / w[i, i]
            product, size = _times(product, size, abs(w[i, i]))
            if w[i, i] < 0:
                sign = -sign
    final = _closed(w, signs, nb)
    if n % 2 == 1 and N % 2 == 0:  # sign of moving the columns of the eliminated points to the front
        sign = -sign
    for i in range(n + nb):
        largest = 0.0
        for t in range(n + nb):
            largest = max(largest, abs(final[i, t]))
        if not largest > REGULAR:
            return np.nan
        product, size = _times(product, size, largest)
        for t in range(n + nb + 2):
            final[i, t] /= largest
    sign *= eliminate(final, n + nb)
    if not sign * sign > 0.0:
        return np.nan
    for i in range(n + nb):
        product, size = _times(product, size, abs(final[i, i]))
        if final[i, i] < 0:
            sign = -sign
    _substitute(kept, inverses, final, signs, dx, dc)
    return sign * np.exp(min(size + np.log(product), LARGEST))
