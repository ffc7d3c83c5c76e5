"""The few eigenvalues of a large matrix that lie farthest to the right, from the frame of a matrix near it.

In that frame it is almost diagonal, B = Λ + E, where E is zero in the diagonal blocks of Λ. Bases of its invariant
subspace near the first few vectors are I + X, on the left I + Y: B_RI + B_RR X = X (B_II + B_IR X), and likewise for Y,
which simple iteration solves where the gap is wide relative to E (Stewart 1973). That is a hundred times less work than
all eigenvalues with their vectors. The others are those of B_RR − X B_IR; ``unwatched`` decides whether any of them
matters.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.walking.decay_bounds import definite, room_left
from pfaff.bifurcation.machine_code.addresses import eigen, factorised, substituted
from pfaff.bifurcation.machine_code.linking import called

TURNS, UNMOVED = 12, 1e-6  # most iterations for subspaces, and their last change: eigenvalues err by its square
SPARSE = 6  # ratio of all entries to nonzero ones beyond which a product uses the latter only


@called
def times(A, basis):
    """A product whose first factor may be sparse, as Jacobians of chains and lattices are."""
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
def taken_out(blocks, M):
    """The rows of the diagonal blocks of a matrix, which are set to zero there."""
    own = np.zeros((len(M), 2))
    for k in range(len(M)):
        for i in range(blocks[k]):
            for j in range(blocks[k]):
                own[k + i, j], M[k + i, k + j] = M[k + i, k + j], 0.0
    return own


@called
def put_back(blocks, own, M):
    for k in range(len(M)):
        for i in range(blocks[k]):
            for j in range(blocks[k]):
                M[k + i, k + j] = own[k + i, j]


@called
def of_two(a, b, c, d, f, g):
    """The solution of two linear equations."""
    det = a * d - b * c
    return (d * f - b * g) / det, (a * g - c * f) / det


@called
def block(own, k, turn):
    """Entries of a block of two rows, or of its transpose."""
    return (own[k, 0], own[k, 1], own[k + 1, 0], own[k + 1, 1]) if turn > 0 else (
        own[k, 0], own[k + 1, 0], own[k, 1], own[k + 1, 1])  # fmt: skip


@called
def divided(blocks, own, p, turn, F):
    """X with X Λ_I − Λ_R X = F in its place, Λᵀ for Λ where ``turn`` is −1.

    Of blocks of two rows (Λ_R² − Λ_R tr Λ_I + det Λ_I) X = F tr Λ_I − F Λ_I − Λ_R F, by Cayley and Hamilton."""
    for i in range(p):
        for r in range(p, len(own)):
            k = r - p
            if blocks[i] == 0 or blocks[r] == 0:
                continue
            if blocks[i] == 1 and blocks[r] == 1:
                F[k, i] /= own[i, 0] - own[r, 0]
            elif blocks[i] == 1:
                a, b, c, d = block(own, r, turn)
                x = own[i, 0]
                F[k, i], F[k + 1, i] = of_two(x - a, -b, -c, x - d, F[k, i], F[k + 1, i])
            elif blocks[r] == 1:
                a, b, c, d = block(own, i, turn)
                x = own[r, 0]
                F[k, i], F[k, i + 1] = of_two(a - x, c, b, d - x, F[k, i], F[k, i + 1])
            else:
                a, b, c, d = block(own, i, turn)
                e, f, g, h = block(own, r, turn)
                q, s, t, u = F[k, i], F[k, i + 1], F[k + 1, i], F[k + 1, i + 1]
                trace, det = a + d, a * d - b * c
                upper, lower = e * e + f * g - trace * e + det, g * f + h * h - trace * h + det
                beside, below = f * (e + h - trace), g * (e + h - trace)
                first = trace * q - (q * a + s * c) - (e * q + f * t), trace * t - (t * a + u * c) - (g * q + h * t)
                last = trace * s - (q * b + s * d) - (e * s + f * u), trace * u - (t * b + u * d) - (g * s + h * u)
                F[k, i], F[k + 1, i] = of_two(upper, beside, below, lower, first[0], first[1])
                F[k, i + 1], F[k + 1, i + 1] = of_two(upper, beside, below, lower, last[0], last[1])


@called
def turned_to(blocks, own, E, turn, Z):
    """Whether the iteration finds a basis Z = [I; X] of an invariant subspace of Λ + E; of its transpose where ``turn``
    is −1."""
    n, p = Z.shape
    for i in range(n):
        for j in range(p):
            Z[i, j] = 1.0 if i == j else 0.0
    for _ in range(TURNS):
        image = np.dot(E, Z) if turn > 0 else np.dot(E.T, Z)
        F = image[p:] - np.dot(Z[p:], image[:p])
        divided(blocks, own, p, turn, F)
        change, size = 0.0, 1.0
        for r in range(n - p):
            for i in range(p):
                if not abs(F[r, i]) < np.inf:
                    return False
                change, size = max(change, abs(F[r, i] - Z[p + r, i])), max(size, abs(F[r, i]))
                Z[p + r, i] = F[r, i]
        if change <= UNMOVED * size:
            return True
        if not change < 1 / UNMOVED:
            return False
    return False


@called
def few(routines, frame, A, change, sloped, values, slopes, room):
    """The watched eigenvalues of a matrix and, if ``sloped``, their derivatives for its ``change``; returns their
    number, 0 if the frame does not serve. ``room`` receives what ``covers`` needs about all others, with its
    derivative; without slopes these must be to the left."""
    p, n, blocks = frame.many[0], len(A), frame.blocks
    B, right, left = np.dot(frame.dual, times(A, frame.basis)), np.empty((n, p)), np.empty((n, p))
    own = taken_out(blocks, B)
    if not turned_to(blocks, own, B, 1, right) or not turned_to(blocks, own, B, -1, left):
        return 0
    across = np.dot(right[p:], B[:p])
    put_back(blocks, own, B)
    room_left(frame, B[p:] - across, 1.0, room[0])
    if not sloped and not definite(routines, room[0], room[0], 0.0, 0.0, n - p):
        return 0
    inner, overlap, outer = np.dot(left.T, np.dot(B, right)), np.dot(left.T, right), np.empty((p, p))
    if sloped:
        C = np.dot(frame.dual, times(change, frame.basis))
        image = np.dot(C, right)
        outer = np.dot(left.T, image)
        turning = image[p:] - np.dot(right[p:], image[:p])
        divided(blocks, own, p, 1, turning)  # derivative of X, up to second order in E
        room_left(frame, C[p:] - np.dot(right[p:], C[:p]) - np.dot(turning, B[:p]), 0.0, room[1])
    return subspace(routines, inner, outer, overlap, values, slopes)


@called
def subspace(routines, inner, outer, overlap, values, slopes):
    """Eigenvalues and derivatives on an invariant subspace, from products with bases of this ``overlap``."""
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
