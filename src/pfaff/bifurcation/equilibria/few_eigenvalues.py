"""The few eigenvalues of a large matrix that lie farthest to the right, from the vectors of a matrix near it.

In the frame of all eigenvectors of a matrix, another one near it is almost diagonal, B = Λ + E with nothing on the
diagonal of E. Those of its invariant
subspace near the first few are I + X, on the left I + Y: B_RI + B_RR X = X (B_II + B_IR X), and likewise for Y, which
simple iteration solves where a gap is wide beside E (Stewart 1973). All other eigenvalues are those of B_RR − X B_IR,
and lie in Gershgorin's discs: as long as these stay left of the imaginary axis, at both ends of a step and as far as
they may move in it, none of them matters. Products are of real matrices, in the real and imaginary parts of vectors.
That is a hundred times less work than all eigenvalues with their vectors.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.addresses import eigen, factorised, finite, substituted
from pfaff.bifurcation.equilibria.linking import called
from pfaff.bifurcation.equilibria.step_cubics import doubtful

FROM = 16  # states from which a frame is worth its while
MOST = 8  # eigenvalues that are watched
WIDE = 1 / 3  # of the widest gap after so many, one that is wide enough
TURNS, SETTLED = 20, 1e-7  # of subspaces, at most, and their last change: eigenvalues err by its square
SPARSE = 6  # times fewer entries than a full matrix, with which one is multiplied by them
ASIDE = 0.5  # of the distance from the imaginary axis that others had, what their discs must keep

# A frame is the number of eigenvalues that are watched (none as long as there is no frame, −1 if all are), the real and
# imaginary parts of right vectors as columns, the rows dual to them, and the eigenvalues, the rightmost first.


@called
def framed(routines, A, frame):
    """A frame of the eigenvectors of a matrix."""
    watched, basis, dual, values = frame
    n, order = len(A), np.empty(len(A), dtype=np.int64)
    found, _, right = eigen(routines, A, False, True)
    for k in range(n):
        j = k
        while j > 0 and ahead(found[k], found[order[j - 1]]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    for k in range(n):
        values[k] = found[order[k]]
    watched[0] = before_gap(values)
    for k in range(n):
        q = right[order[k]]
        if values[k].imag < 0:
            continue  # with the one before it
        for i in range(n):
            basis[i, k] = q[i].real
            if values[k].imag > 0:
                basis[i, k + 1] = q[i].imag
    if not inverted(routines, basis, dual):
        watched[0] = 0


@called
def inverted(routines, A, inverse):
    """Whether a matrix has an inverse, and that."""
    n = len(A)
    factors, pivots, columns = A.T.copy(), np.empty(len(A), dtype=np.int32), np.eye(len(A))
    if not finite(A) or factorised(routines, factors, pivots) == 0.0:
        return False
    substituted(routines, factors, pivots, columns, n, False)
    for i in range(n):
        for j in range(n):
            inverse[i, j] = columns[j, i]
    return finite(inverse)


@called
def ahead(a, b):
    """Whether an eigenvalue comes before another: to the right of it, or slower. Equal pairs keep their order, so that
    each stays together."""
    return a.real > b.real or (a.real == b.real and abs(a.imag) < abs(b.imag))


@called
def before_gap(values):
    """How many eigenvalues there are before the first gap that is wide enough, beyond which all decay; 0 if none is."""
    widest, last = 0.0, min(MOST, len(values) // 2)
    for k in range(1, last + 1):
        if values[k].real < 0 and not values[k].imag < 0:
            widest = max(widest, values[k - 1].real - values[k].real)
    for k in range(1, last + 1):
        gap = values[k - 1].real - values[k].real
        if values[k].real < 0 and not values[k].imag < 0 and gap > 0 and gap >= WIDE * widest:
            return k
    return 0


@called
def times(A, basis):
    """A product whose first factor may have few entries, as Jacobians of chains and lattices do."""
    n, entries = len(A), 0
    for i in range(n):
        for j in range(n):
            entries += A[i, j] != 0
    if entries * SPARSE > n * n:
        return np.dot(A, basis)
    image = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if A[i, j] != 0:
                for k in range(n):
                    image[i, k] += A[i, j] * basis[j, k]
    return image


@called
def on_diagonal(known, M):
    """The diagonal of a matrix by complex eigenvectors, and whether its pairs are pairs as those of the eigenvalues."""
    own, alike = np.empty_like(known), True
    for k in range(len(known)):
        if known[k].imag == 0:
            own[k] = M[k, k]
        elif known[k].imag > 0:
            turning = (M[k, k + 1] - M[k + 1, k]) / 2
            own[k] = complex((M[k, k] + M[k + 1, k + 1]) / 2, turning)
            own[k + 1], alike = own[k].conjugate(), alike and turning > 0
    return own, alike


@called
def diagonal(known, M, factor):
    """M with a multiple of the eigenvalues added, in blocks [[α, β], [−β, α]] of pairs α ± iβ."""
    for k in range(len(known)):
        M[k, k] += factor * known[k].real
        if known[k].imag > 0:
            M[k, k + 1] += factor * known[k].imag
            M[k + 1, k] -= factor * known[k].imag


@called
def quotient(above, below):
    """Of complex numbers of a like size."""
    square = below.real**2 + below.imag**2
    return complex(
        (above.real * below.real + above.imag * below.imag) / square,
        (above.imag * below.real - above.real * below.imag) / square,
    )


@called
def divided(known, p, turn, F):
    """X with X Λ_I − Λ_R X = F in its place, Λᵀ for Λ where ``turn`` is −1: each block by its complex parts."""
    for r in range(p, len(known)):
        if known[r].imag < 0:
            continue
        a = complex(known[r].real, turn * known[r].imag)
        for i in range(p):
            if known[i].imag < 0:
                continue
            b, k = complex(known[i].real, turn * known[i].imag), r - p
            if known[r].imag == 0 and known[i].imag == 0:
                F[k, i] /= b.real - a.real
            elif known[r].imag == 0:
                x = quotient(complex(F[k, i], F[k, i + 1]), b - a)
                F[k, i], F[k, i + 1] = x.real, x.imag
            elif known[i].imag == 0:
                x = quotient(complex(F[k, i], -F[k + 1, i]), b - a)
                F[k, i], F[k + 1, i] = x.real, -x.imag
            else:
                x = quotient(complex(F[k, i] + F[k + 1, i + 1], F[k, i + 1] - F[k + 1, i]) / 2, b - a)
                y = quotient(complex(F[k, i] - F[k + 1, i + 1], -F[k, i + 1] - F[k + 1, i]) / 2, b.conjugate() - a)
                F[k, i], F[k, i + 1] = x.real + y.real, x.imag - y.imag
                F[k + 1, i], F[k + 1, i + 1] = -x.imag - y.imag, x.real - y.real


@called
def turned_to(known, E, turn, Z):
    """Whether a basis Z = [I; X] of an invariant subspace of Λ + E is found, of its transpose where ``turn`` is −1."""
    n, p = Z.shape
    for i in range(n):
        for j in range(p):
            Z[i, j] = 1.0 if i == j else 0.0
    for _ in range(TURNS):
        image = np.dot(E, Z) if turn > 0 else np.dot(E.T, Z)
        F = image[p:] - np.dot(Z[p:], image[:p])
        divided(known, p, turn, F)
        change, size = 0.0, 1.0
        for r in range(n - p):
            for i in range(p):
                change, size = max(change, abs(F[r, i] - Z[p + r, i])), max(size, abs(F[r, i]))
                Z[p + r, i] = F[r, i]
        if change <= SETTLED * size:
            return True
        if not change < 1 / SETTLED:
            return False
    return False


@called
def spread(known, M, k, r, start):
    """The sum of a row k of a matrix by complex eigenvectors, the row of eigenvalue r, from a column on: of sizes, and
    the entry on the diagonal with its real part instead."""
    total, whole = 0.0, 0.0
    for c in range(start, len(known)):
        if known[c].imag < 0:
            continue
        if known[r].imag == 0:
            size = abs(M[k, c]) if known[c].imag == 0 else 2 * np.sqrt(M[k, c] ** 2 + M[k, c + 1] ** 2)
            real = M[k, c]
        elif known[c].imag == 0:
            size = np.sqrt(M[k, c] ** 2 + M[k + 1, c] ** 2) / 2
            real = size
        else:
            a, b, d, e = M[k, c], M[k, c + 1], M[k + 1, c], M[k + 1, c + 1]
            size, other = np.sqrt((a + e) ** 2 + (b - d) ** 2) / 2, np.sqrt((a - e) ** 2 + (b + d) ** 2) / 2
            total, whole = total + other, whole + other
            real = (a + e) / 2
        total, whole = total + size, whole + (real if c == r else size)
    return total, whole


@called
def length_aside(known, edge, E, Z, C):
    """How far along the tangent, where the matrix changes by C, the discs of Gershgorin of B_RR − X B_IR stay to the
    left of an edge; below zero if they do not even here, without end if C has no rows."""
    n, p = Z.shape
    others, shortest = E[p:] - np.dot(Z[p:], E[:p]), np.inf
    for r in range(p, n):
        if not known[r].imag < 0:
            room = edge - known[r].real - spread(known, others, r - p, r, p)[1]
            speed = spread(known, C, r, r, 0)[0] if len(C) else 0.0
            length = room / speed if speed else (np.inf if room >= 0 else -np.inf)
            if not length >= shortest:
                shortest = length
    return shortest


@called
def covers(values, slopes, many, step):
    """Whether the discs of all other eigenvalues stay aside between both ends of a step, by what ``few`` leaves behind
    those that are watched: they do so from each end on, and nothing is hidden between their centres."""
    last = values.shape[1] - 1
    if not (slopes[0, last].real >= step and slopes[1, last].real >= step):
        return False
    for r in range(many, last + 1):
        rise, fall = slopes[0, r], slopes[1, r]
        rates = (rise.imag, fall.imag) if r == last else (rise.real, fall.real)
        if doubtful(values[0, r].real, step * rates[0], values[1, r].real, step * rates[1], 0.0):
            return False
    return True


@called
def few(routines, frame, A, change, sloped, values, slopes):
    """The watched eigenvalues of a matrix, and if need be their derivatives where it changes so: how many; 0 if the
    frame does not serve. Behind them are left centres of the discs of all others and how these change, with the last
    one's as an imaginary part beside how far they stay aside, for ``covers``."""
    watched, basis, dual, known = frame
    p, n = watched[0], len(A)
    E, right, left = np.dot(dual, times(A, basis)), np.empty((n, p)), np.empty((n, p))
    C = np.dot(dual, times(change, basis)) if sloped else np.empty((0, n))
    own, alike = on_diagonal(known, E)
    if not alike:
        return 0
    diagonal(own, E, -1.0)
    if not turned_to(own, E, 1, right):
        return 0
    length = length_aside(own, ASIDE * known[p].real, E, right, C)
    if not length >= 0 or not turned_to(own, E, -1, left):
        return 0
    diagonal(own, E, 1.0)
    inner, overlap = np.dot(left.T, np.dot(E, right)), np.dot(left.T, right)
    outer = np.dot(left.T, np.dot(C, right)) if sloped else inner
    moving, _ = on_diagonal(known, C) if sloped else (own, True)
    for r in range(p, n):
        values[r], slopes[r] = own[r], complex(moving[r].real, 0.0)
    slopes[n - 1] = complex(length, moving[n - 1].real)
    return subspace(routines, inner, outer, overlap, values, slopes)


@called
def subspace(routines, inner, outer, overlap, values, slopes):
    """Eigenvalues and their derivatives on an invariant subspace, from products with bases that overlap so."""
    p = len(inner)
    whole, pivots, parts = overlap.T.copy(), np.empty(p, dtype=np.int32), np.empty((2, p, p))
    if factorised(routines, whole, pivots) == 0.0:
        return 0
    for k in range(2):
        columns = (outer if k else inner).T.copy()
        substituted(routines, whole, pivots, columns, p, False)
        for i in range(p):
            for j in range(p):
                parts[k, i, j] = columns[j, i]
    found, left, right = eigen(routines, parts[0], True, True)
    for k in range(p):
        above, below = 0j, 0j
        for i in range(p):
            mapped = 0j
            for j in range(p):
                mapped += parts[1, i, j] * right[k, j]
            above += left[k, i] * mapped
            below += left[k, i] * right[k, i]
        values[k], slopes[k] = found[k], above / below if below else 0j
    return p
