"""The few eigenvalues of a large matrix that lie farthest to the right, from the vectors of a matrix near it.

In the frame of all eigenvectors of a matrix, another one near it is almost diagonal, B = Λ + E. Those of its invariant
subspace near the first few are I + X, on the left I + Y: B_RI + B_RR X = X (B_II + B_IR X), and likewise for Y, which
simple iteration solves where a gap is wide beside E (Stewart 1973). All other eigenvalues are those of B_RR − X B_IR,
and lie in Gershgorin's discs: as long as these stay left of the imaginary axis, at both ends of a step and as far as
they may move in it, none of them matters. That is some
thirty times less work than all eigenvalues with their vectors.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.addresses import eigen, factorised, substituted
from pfaff.bifurcation.equilibria.linking import called

FROM = 16  # states from which a frame is worth its while
MOST = 8  # eigenvalues that are watched
WIDE = 1 / 3  # of the widest gap after so many, one that is wide enough
TURNS, SETTLED = 12, 1e-7  # of subspaces, at most, and their last change: eigenvalues err by its square
ASIDE = 0.5  # of the distance from the imaginary axis that others had, what their discs must keep

# A frame is the number of eigenvalues that are watched (none as long as there is no frame, −1 if all are), the real and
# imaginary parts of right vectors as columns, the rows dual to them, and the eigenvalues, the rightmost first.


@called
def framed(routines, A, frame):
    """A frame of the eigenvectors of a matrix."""
    watched, basis, dual, values = frame
    n, order = len(A), np.empty(len(A), dtype=np.int64)
    found, _, right = eigen(routines, A, True)
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
    if not np.isfinite(A).all() or factorised(routines, factors, pivots) == 0.0:
        return False
    substituted(routines, factors, pivots, columns, n, False)
    for i in range(n):
        for j in range(n):
            inverse[i, j] = columns[j, i]
    return np.isfinite(inverse).all()


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
def in_frame(frame, A, B):
    """A in the complex eigenvectors of a frame, by real products."""
    _, basis, dual, values = frame
    n, M = len(A), np.dot(dual, np.dot(A, basis))
    for r in range(n):
        if values[r].imag < 0:
            continue
        for c in range(n):
            if values[c].imag < 0:
                continue
            if values[r].imag == 0 and values[c].imag == 0:
                B[r, c] = M[r, c]
            elif values[r].imag == 0:
                B[r, c] = complex(M[r, c], M[r, c + 1])
                B[r, c + 1] = B[r, c].conjugate()
            elif values[c].imag == 0:
                B[r, c] = complex(M[r, c], -M[r + 1, c]) / 2
                B[r + 1, c] = B[r, c].conjugate()
            else:
                a, b, d, e = M[r, c], M[r, c + 1], M[r + 1, c], M[r + 1, c + 1]
                B[r, c], B[r, c + 1] = complex(a + e, b - d) / 2, complex(a - e, -b - d) / 2
                B[r + 1, c + 1], B[r + 1, c] = B[r, c].conjugate(), B[r, c + 1].conjugate()


@called
def in_parts(frame, M, real):
    """A matrix in the first complex eigenvectors, in their real and imaginary parts."""
    values = frame[3]
    for r in range(len(M)):
        if values[r].imag < 0:
            continue
        for c in range(len(M)):
            if values[c].imag < 0:
                continue
            if values[r].imag == 0:
                real[r, c] = M[r, c].real
                if values[c].imag > 0:
                    real[r, c + 1] = M[r, c].imag
            elif values[c].imag == 0:
                real[r, c], real[r + 1, c] = 2 * M[r, c].real, -2 * M[r, c].imag
            else:
                sum_, difference = M[r, c] + M[r, c + 1], M[r, c] - M[r, c + 1]
                real[r, c], real[r, c + 1] = sum_.real, difference.imag
                real[r + 1, c], real[r + 1, c + 1] = -sum_.imag, difference.real


@called
def turned_to(first, rest, II, IR, RI, RR, X):
    """Whether X with B_RI + B_RR X = X (B_II + B_IR X) is found, where B has diagonals besides these blocks."""
    for _ in range(TURNS):
        F = RI + np.dot(RR, X) - np.dot(X, II + np.dot(IR, X))
        change, size = 0.0, 1.0
        for r in range(len(rest)):
            for i in range(len(first)):
                new = F[r, i] / (first[i] - rest[r])
                change, size = max(change, abs(new - X[r, i])), max(size, abs(new))
                X[r, i] = new
        if change <= SETTLED * size:
            return True
        if not change < 1 / SETTLED:
            return False
    return False


@called
def beyond(rest, IR, RR, X):
    """How far the discs of Gershgorin of B_RR − X B_IR are beyond what keeps them away from the imaginary axis: below
    zero as long as they are."""
    outer, most, farthest = np.dot(X, IR), ASIDE * rest[0].real, -np.inf
    for r in range(len(rest)):
        edge = (rest[r] + RR[r, r] - outer[r, r]).real - most
        for c in range(len(rest)):
            if c != r:
                edge += abs(RR[r, c] - outer[r, c])
        if not edge <= farthest:
            farthest = edge
    return farthest


@called
def widest(RI, RR):
    """The largest sum of a row."""
    most = 0.0
    for r in range(len(RR)):
        row = 0.0
        for i in range(RI.shape[1]):
            row += abs(RI[r, i])
        for c in range(len(RR)):
            row += abs(RR[r, c])
        most = max(most, row)
    return most


@called
def covers(slopes, step):
    """Whether the discs of all other eigenvalues stay aside between both ends of a step: by how far they are beyond,
    and how fast they move, which ``few`` leaves behind the derivatives."""
    for side in range(2):
        last = slopes[side, slopes.shape[1] - 1]
        if not last.real + step * last.imag <= 0:
            return False
    return True


@called
def few(routines, frame, A, change, sloped, values, slopes):
    """The watched eigenvalues of a matrix, and if need be their derivatives where it changes so: how many; 0 if the
    frame does not serve. Behind the derivatives is left what ``covers`` asks for."""
    p, n, known = frame[0][0], len(A), frame[3]
    first, rest = known[:p], known[p:]
    B = np.empty((n, n), dtype=np.complex128)
    in_frame(frame, A, B)
    for k in range(n):
        B[k, k] -= known[k]
    II, IR, RI, RR = B[:p, :p].copy(), B[:p, p:].copy(), B[p:, :p].copy(), B[p:, p:].copy()
    X, Y = np.zeros((n - p, p), dtype=np.complex128), np.zeros((n - p, p), dtype=np.complex128)
    if not turned_to(first, rest, II, IR, RI, RR, X):
        return 0
    edge, speed = beyond(rest, IR, RR, X), 0.0
    if not edge <= 0:
        return 0
    if not turned_to(first, rest, II.T.copy(), RI.T.copy(), IR.T.copy(), RR.T.copy(), Y):
        return 0
    Y = Y.T.copy()
    moved = np.dot(RR, X) + RI
    for r in range(n - p):
        for i in range(p):
            moved[r, i] += rest[r] * X[r, i]
    inner, overlap = II + np.dot(IR, X) + np.dot(Y, moved), np.dot(Y, X)
    for i in range(p):
        inner[i, i] += first[i]
        overlap[i, i] += 1
    outer = inner
    if sloped:
        in_frame(frame, change, B)
        II, IR, RI, RR = B[:p, :p].copy(), B[:p, p:].copy(), B[p:, :p].copy(), B[p:, p:].copy()
        outer, speed = II + np.dot(IR, X) + np.dot(Y, RI + np.dot(RR, X)), widest(RI, RR)
    slopes[n - 1] = complex(edge, speed)
    return subspace(routines, frame, inner, outer, overlap, values, slopes)


@called
def subspace(routines, frame, inner, outer, overlap, values, slopes):
    """Eigenvalues and their derivatives on an invariant subspace, from products with bases that overlap so."""
    p = len(inner)
    parts, whole, pivots = np.empty((3, p, p)), np.empty((p, p)), np.empty(p, dtype=np.int32)
    in_parts(frame, inner, parts[0])
    in_parts(frame, outer, parts[1])
    in_parts(frame, overlap, parts[2])
    for i in range(p):
        for j in range(p):
            whole[j, i] = parts[2, i, j]
    if factorised(routines, whole, pivots) == 0.0:
        return 0
    for k in range(2):
        columns = parts[k].T.copy()
        substituted(routines, whole, pivots, columns, p, False)
        for i in range(p):
            for j in range(p):
                parts[k, i, j] = columns[j, i]
    found, left, right = eigen(routines, parts[0], True)
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
