# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""The chain of intervals x_{j+1} = G_j x_j + g_j (T, p, α) of a periodic orbit, closed and solved.

Mesh points are eliminated one after the other, with rows of two neighbouring intervals exchanged for the largest pivot
(Ascher, Mattheij and Russell 1988, Sec. 7.2). Products of the G_j, which lose all digits where motions separate
quickly, are never formed.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import NAN, fabs
    from cython.cimports.libc.string import memset
    from cython.cimports.pfaff.kernels.arrays import numbers
    from cython.cimports.pfaff.kernels.condensation import add_row, exchange_rows
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm

REGULAR = cython.declare(cython.double, 1e-300)  # pivots below this are zeros
LARGEST = cython.declare(cython.double, 700.0)  # logarithms beyond this overflow
LEAST = cython.declare(cython.double, 1e-100)  # a product of pivots between these ...
MOST = cython.declare(cython.double, 1e100)  # ... can take one more without overflow


def padded(count):
    """The length of rows in which this many neighbouring numbers fill whole vectors."""
    return (count + 7) // 8 * 8


def chain_room(N, n, nb):
    """How many numbers ``close_chain`` works on."""
    wide = 3 * n + nb + 1
    return (2 * n + nb) * padded(wide) + N * n * (wide + 1) + (n + nb) * (n + nb + 2)


def close_chain(N, n, nb, G, g, borders, scalar_borders, right, x, scalars, signs, dx, dscalars, room):
    """Solve the chain, closed by x_N = signs·x_0, with border rows over all mesh points and over the scalars whose
    values are ``right``.

    Two solutions are computed at once: the first is Newton's step for the residuals in g and in those values, the
    second the response to a unit on the last border row, the tangent. Returns the determinant of all equations, that of
    M − signs with its borders, whichever rows were exchanged: it varies as smoothly as the orbit, and changes sign
    where the tangent is not unique; NaN where there is no solution.
    """
    wide = 3 * n + nb + 1
    row = padded(wide)
    w, kept = room, room + (2 * n + nb) * row
    inverses = kept + N * n * wide
    final = inverses + N * n
    width = n + nb + 2
    product = cython.declare(cython.double, 1.0)  # modulus of the determinant, as a product ...
    size = cython.declare(cython.double, 0.0)  # ... and a logarithm
    sign = 1.0
    memset(w, 0, 8 * (2 * n + nb) * row)
    _put_borders(w, row, borders, scalar_borders, right, x, scalars, N, n, nb)
    for j in range(N):
        _couple(w, row, G, g, borders, j, N, n, nb)
        if j == 0:
            continue
        sign *= _triangulate(w, 2 * n + nb, row, n)
        for i in range(n):
            to, line = kept + (j * n + i) * wide, w + i * row
            for t in range(i + 1, wide):
                to[t] = line[t]
            inverses[j * n + i] = 1.0 / line[i]
            _take(cython.address(product), cython.address(size), fabs(line[i]))
            if line[i] < 0:
                sign = -sign
    memset(final, 0, 8 * (n + nb) * width)
    for i in range(n + nb):  # what remains of all equations: the matrix of x_0 and the scalars, and both right sides
        to, line = final + i * width, w + (n + i) * row
        for t in range(n):
            to[t] = line[n + t] + line[2 * n + t] * signs[t]
        for t in range(nb + 1):
            to[n + t] = line[3 * n + t]
    final[(n + nb) * width - 1] = 1.0
    if n % 2 == 1 and N % 2 == 0:  # sign of moving the columns of the eliminated points to the front
        sign = -sign
    for i in range(n + nb):
        to = final + i * width
        largest = 0.0
        for t in range(n + nb):
            largest = max(largest, fabs(to[t]))
        if not largest > REGULAR:
            return NAN
        _take(cython.address(product), cython.address(size), largest)
        for t in range(width):
            to[t] /= largest
    sign *= _eliminate(final, n + nb, width)
    if not sign * sign > 0.0:
        return NAN
    for i in range(n + nb):
        pivot = final[i * width + i]
        _take(cython.address(product), cython.address(size), fabs(pivot))
        if pivot < 0:
            sign = -sign
    _substitute(kept, inverses, final, signs, dx, dscalars, N, n, nb)
    return sign * exponential(min(size + logarithm(product), LARGEST))


def _eliminate(a, size, width):
    """a = [W | right] becomes [· | W⁻¹ right], the pivots on the diagonal, by partial pivoting; returns the sign of the
    permutation, zero where there is no pivot."""
    sign = 1.0
    for p in range(size):
        pivot = p
        for i in range(p + 1, size):
            if fabs(a[i * width + p]) > fabs(a[pivot * width + p]):
                pivot = i
        if not fabs(a[pivot * width + p]) > REGULAR:
            return 0.0
        row, other = a + p * width, a + pivot * width
        if pivot != p:
            sign = -sign
            for t in range(p, width):
                row[t], other[t] = other[t], row[t]
        inverse = 1.0 / row[p]
        for i in range(p + 1, size):
            other = a + i * width
            factor = other[p] * inverse
            if factor != 0.0:
                for t in range(p, width):
                    other[t] -= factor * row[t]
    for p in range(size - 1, -1, -1):
        row = a + p * width
        for l in range(p + 1, size):
            factor = row[l]
            other = a + l * width
            for t in range(size, width):
                row[t] -= factor * other[t]
        for t in range(size, width):
            row[t] /= row[p]
    return sign


def _triangulate(w, height, wide, n):
    """The same below the diagonal of the first n columns, by whole vectors of padded rows, with pivots among the first
    2n rows only."""
    sign = 1.0
    for p in range(n):
        pivot = p
        for i in range(p + 1, 2 * n):
            if fabs(w[i * wide + p]) > fabs(w[pivot * wide + p]):
                pivot = i
        if not fabs(w[pivot * wide + p]) > REGULAR:
            return 0.0
        first = p // 8  # vectors before this one are finished
        vectors, upper = wide // 8 - first, w + p * wide + 8 * first
        if pivot != p:
            sign = -sign
            exchange_rows(upper, w + pivot * wide + 8 * first, vectors)
        inverse = 1.0 / w[p * wide + p]
        for i in range(p + 1, height):
            entry = w[i * wide + p]
            if entry != 0.0:
                add_row(w + i * wide + 8 * first, upper, -entry * inverse, vectors)
    return sign


def _couple(w, wide, G, g, borders, j, N, n, nb):
    """Put the equation G x_j − x_{j+1} + g = 0 below what remains of those before, A x_0 + B x_j + C = 0, and x_{j+1}
    into the border rows below both.

    Columns are those of x_j, x_0, x_{j+1}, the scalars and the right-hand side.
    """
    at = n if j == 0 else 0  # x_0 itself is the first x_j
    for i in range(n):
        upper, lower, right = w + i * wide, w + (n + i) * wide, g + (j * n + i) * (nb + 1)
        for t in range(n):
            upper[t], upper[n + t], upper[2 * n + t] = lower[2 * n + t], lower[n + t], 0.0
            lower[n + t] = lower[2 * n + t] = 0.0
        for t in range(n):
            lower[at + t] = G[(j * n + i) * n + t]
        lower[2 * n + i] = -1.0
        for t in range(nb + 1):
            upper[3 * n + t], lower[3 * n + t] = lower[3 * n + t], right[t]
        lower[3 * n + nb] = -right[nb]
    for k in range(nb):
        lower = w + (2 * n + k) * wide
        for t in range(n):
            lower[t], lower[2 * n + t] = lower[2 * n + t], borders[(k * (N + 1) + j + 1) * n + t]


def _take(product, size, pivot):
    """One more pivot into a product; the logarithm of a factor is taken out where it might overflow."""
    if not LEAST < pivot < MOST:
        size[0] += logarithm(pivot)
        return
    product[0] *= pivot
    if not LEAST < product[0] < MOST:
        size[0] += logarithm(product[0])
        product[0] = 1.0


def _put_borders(w, wide, borders, scalar_borders, right, x, scalars, N, n, nb):
    """Put the border rows below the equations: coefficients of x_0 and the scalars, and residuals of their values."""
    for k in range(nb):
        line, border = w + (2 * n + k) * wide, borders + k * (N + 1) * n
        left = right[k]
        for j in range((N + 1) * n):
            left -= border[j] * x[j]
        for t in range(n):
            line[n + t] = border[t]
        for t in range(nb):
            line[3 * n + t] = scalar_borders[k * nb + t]
            left -= scalar_borders[k * nb + t] * scalars[t]
        line[3 * n + nb] = left


def _substitute(kept, inverses, final, signs, dx, dscalars, N, n, nb):
    """Fill in both solutions at all mesh points, backwards from x_0 and the scalars."""
    wide, width = 3 * n + nb + 1, n + nb + 2
    for q in range(2):
        first, scalars = dx + q * (N + 1) * n, dscalars + q * nb
        for t in range(n):
            first[t] = final[t * width + n + nb + q]
            first[N * n + t] = signs[t] * first[t]
        for t in range(nb):
            scalars[t] = final[(n + t) * width + n + nb + q]
        for j in range(N - 1, 0, -1):
            here, after = first + j * n, first + (j + 1) * n
            for i in range(n - 1, -1, -1):
                row = kept + (j * n + i) * wide
                total = row[wide - 1] if q == 0 else 0.0
                for t in range(n):
                    total -= row[n + t] * first[t] + row[2 * n + t] * after[t]
                for t in range(nb):
                    total -= row[3 * n + t] * scalars[t]
                for t in range(i + 1, n):
                    total -= row[t] * here[t]
                here[i] = total * inverses[j * n + i]


def solve_chain(G, g, borders, scalar_borders, right, x, scalars, signs, dx, dscalars):
    """``close_chain`` on arrays, of which the last two are filled in."""
    N, n, nb = len(G), len(signs), len(scalars)
    room = np.empty(chain_room(N, n, nb))
    return close_chain(
        N, n, nb, numbers(G, N * n * n), numbers(g, N * n * (nb + 1)), numbers(borders, nb * (N + 1) * n),
        numbers(scalar_borders, nb * nb), numbers(right, nb), numbers(x, (N + 1) * n), numbers(scalars, nb),
        numbers(signs, n), numbers(dx, 2 * (N + 1) * n), numbers(dscalars, 2 * nb), numbers(room, len(room)),
    )  # fmt: skip
