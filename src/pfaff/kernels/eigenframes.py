# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""The few eigenvalues of a large matrix that lie farthest to the right, from the frame of a matrix near it.

The frame of a matrix has all its eigenvectors. Those of two eigenvalues about to meet are almost parallel, and a frame
of them would not serve for long. In their plane two other vectors are chosen, as far apart as the distance of these
eigenvalues from the imaginary axis allows: there the matrix has a block of two rows, whether they are real or a pair.

In that frame a neighbouring matrix is almost diagonal, B = Λ + E, where E is zero in the diagonal blocks of Λ. Bases of
its invariant subspace near the first few vectors are I + X, on the left I + Y: B_RI + B_RR X = X (B_II + B_IR X), and
likewise for Y, which simple iteration solves where the gap is wide relative to E (Stewart 1973). That is a hundred
times less work than all eigenvalues with their vectors.

The others are those of M = B_RR − X B_IR, and lie left of −e as long as H = −(M + Mᵀ)/2 − e is positive definite
(Bendixson 1902), in units in which their distances from the axis are alike. If H is so at both ends of a step, and on
its tangents there up to the other end, then so is Hermite's cubic between them, since positive definite matrices form a
convex cone.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs, sqrt
    from cython.cimports.pfaff.kernels.corrector import Curve
    from cython.cimports.pfaff.kernels.linear import cholesky, eigen, factorised, finite, multiplied, substituted

MOST = cython.declare(cython.int, 8)  # most eigenvalues that are watched
WIDE = cython.declare(cython.double, 1.0 / 3.0)  # least gap, relative to the widest, after which none are watched
SHARE = cython.declare(cython.double, 0.25)  # largest share of a decay rate that a change of vectors may cost
NARROW = cython.declare(cython.double, 0.5)  # sine of the angle below which two real vectors are replaced
TURNS = cython.declare(cython.int, 12)  # most iterations for subspaces, ...
UNMOVED = cython.declare(cython.double, 1e-6)  # ... and their last change: eigenvalues err by its square
SPARSE = cython.declare(cython.int, 6)  # ratio of all entries to nonzero ones beyond which products use these only
ASIDE = cython.declare(cython.double, 0.5)  # share of the first one's distance from the axis that all must keep


def framed(s, A):
    """Fill in the frame of the eigenvectors of a matrix, lengths and angles in units of states; the eigenvalues are
    ordered, the rightmost first."""
    n = s.n
    order = s.matching
    found = s.some
    eigen(A, n, found, cython.NULL, s.rights, s.work)
    for k in range(n):
        j = k
        while j > 0 and _ahead(found[k], found[order[j - 1]]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    for k in range(n):
        s.frame_values[k] = found[order[k]]
    s.many = _before_gap(s.frame_values, n)
    for k in range(n):
        if s.frame_values[k].imag < 0.0:
            continue  # done with its conjugate
        q, s.blocks[k] = s.rights + order[k] * n, 1
        for i in range(n):
            s.basis[i * n + k] = q[i].real
        if s.frame_values[k].imag > 0.0 and k + 1 < n:
            for i in range(n):
                s.basis[i * n + k + 1] = q[i].imag
            s.blocks[k], s.blocks[k + 1] = 2, 0
            _part_pair(s, k, s.frame_values[k], k < s.many)
        else:
            size = sqrt(_inner(s, k, k))
            for i in range(n):
                s.basis[i * n + k] /= size
            if k > 0 and s.blocks[k - 1] == 1 and k != s.many:
                _part_real(s, k - 1, k < s.many)
    if not _inverted(s):
        s.many = 0


def _ahead(a, b):
    """Whether an eigenvalue comes before another: farther right, or slower. Equal pairs keep their order, so that each
    stays together."""
    return a.real > b.real or (a.real == b.real and fabs(a.imag) < fabs(b.imag))


def _before_gap(values, n):
    """The number of eigenvalues before the first gap that is wide enough, after which all decay; 0 if there is none."""
    last = min(MOST, n // 2)
    widest = 0.0
    for k in range(1, last + 1):
        if values[k].real < 0.0 and not values[k].imag < 0.0:
            widest = max(widest, values[k - 1].real - values[k].real)
    for k in range(1, last + 1):
        gap = values[k - 1].real - values[k].real
        if values[k].real < 0.0 and not values[k].imag < 0.0 and gap > 0.0 and gap >= WIDE * widest:
            return k
    return 0


def _inner(s, j, k):
    """The scalar product of two columns, in units."""
    n = s.n
    total = 0.0
    for i in range(n):
        total += s.basis[i * n + j] * s.basis[i * n + k] / (s.units[i] * s.units[i])
    return total


def _part_pair(s, k, value, watched):
    """Make real and imaginary part orthogonal and of equal length, unless that costs too much of the decay rate: for
    unwatched blocks [[α, ρβ], [−β/ρ, α]] the symmetric part matters."""
    n = s.n
    a = _inner(s, k, k)
    b = _inner(s, k + 1, k + 1)
    across = _inner(s, k, k + 1)
    double = sqrt((a - b) * (a - b) + 4 * across * across)
    cosine = 1.0
    sine = 0.0
    if double > 0.0:  # of half the angle whose cosine is (a − b)/double and whose sine is −2 across/double
        cosine = sqrt((1 + fabs(a - b) / double) / 2)
        sine = fabs(across) / double / cosine
        if a < b:
            cosine, sine = sine, cosine
        if across > 0.0:
            sine = -sine
    for i in range(n):
        x, y = s.basis[i * n + k], s.basis[i * n + k + 1]
        s.basis[i * n + k], s.basis[i * n + k + 1] = cosine * x - sine * y, sine * x + cosine * y
    size = sqrt(_inner(s, k, k))
    ratio = size / sqrt(_inner(s, k + 1, k + 1))
    allowed = SHARE * fabs(value.real) / value.imag
    if not watched:
        ratio = min(ratio, allowed + sqrt(allowed * allowed + 1))
    for i in range(n):
        s.basis[i * n + k] /= size
        s.basis[i * n + k + 1] *= ratio / size


def _part_real(s, k, watched):
    """Replace the second of two almost parallel real unit vectors by its part across the first, of unit length, unless
    that costs too much of the decay rate."""
    n = s.n
    cosine = _inner(s, k, k + 1)
    first = s.frame_values[k].real
    sine = sqrt(max(1 - cosine * cosine, 0.0))
    if not 0.0 < sine < NARROW:
        return
    longer = 1 / sine
    apart = fabs(cosine) * (first - s.frame_values[k + 1].real)
    if not watched and apart > 0.0:
        longer = min(longer, 2 * SHARE * fabs(first) / apart)
    if longer > 1.0:
        s.blocks[k], s.blocks[k + 1] = 2, 0
        for i in range(n):
            s.basis[i * n + k + 1] = longer * (s.basis[i * n + k + 1] - cosine * s.basis[i * n + k])


def _inverted(s):
    """Whether the basis has an inverse, which is its dual."""
    n = s.n
    if not finite(s.basis, n * n):
        return False
    for i in range(n):
        for j in range(n):
            s.B[j * n + i] = s.basis[i * n + j]
            s.C[i * n + j] = 1.0 if i == j else 0.0
    if factorised(s.B, n, s.pivots) == 0.0:
        return False
    substituted(s.B, n, s.pivots, s.C, n, False)
    for i in range(n):
        for j in range(n):
            s.dual_basis[i * n + j] = s.C[j * n + i]
    return finite(s.dual_basis, n * n)


def _times(A, basis, image, n):
    """A product whose first factor may be sparse, as Jacobians of chains and lattices are."""
    entries: cython.Py_ssize_t = 0
    for i in range(n * n):
        entries += A[i] != 0.0
    if entries * SPARSE > n * n:
        multiplied(A, False, basis, image, n, n, n)
        return
    for i in range(n):
        for k in range(n):
            image[i * n + k] = 0.0
        for j in range(n):
            by = A[i * n + j]
            if by != 0.0:
                for k in range(n):
                    image[i * n + k] += by * basis[j * n + k]


def _take_out(s, M):
    """Keep the rows of the diagonal blocks of a matrix, and set them to zero there."""
    n = s.n
    for k in range(n):
        for i in range(s.blocks[k]):
            for j in range(s.blocks[k]):
                s.own[2 * (k + i) + j], M[(k + i) * n + k + j] = M[(k + i) * n + k + j], 0.0


def _put_back(s, M):
    n = s.n
    for k in range(n):
        for i in range(s.blocks[k]):
            for j in range(s.blocks[k]):
                M[(k + i) * n + k + j] = s.own[2 * (k + i) + j]


def _of_two(a, b, c, d, f, g, x, y):
    """The solution of two linear equations."""
    det = a * d - b * c
    x[0], y[0] = (d * f - b * g) / det, (a * g - c * f) / det


def _block(own, k, turn, out):
    """Entries of a block of two rows, or of its transpose."""
    out[0], out[3] = own[2 * k], own[2 * k + 3]
    out[1] = own[2 * k + 1] if turn > 0 else own[2 * k + 2]
    out[2] = own[2 * k + 2] if turn > 0 else own[2 * k + 1]


def _divide(blocks, own, n, p, turn, F):
    """X with X Λ_I − Λ_R X = F in its place, Λᵀ for Λ where ``turn`` is −1.

    Of blocks of two rows (Λ_R² − Λ_R tr Λ_I + det Λ_I) X = F tr Λ_I − F Λ_I − Λ_R F, by Cayley and Hamilton."""
    beside: cython.double
    u = cython.declare(cython.double[4])
    v = cython.declare(cython.double[4])
    f = cython.declare(cython.double[4])
    g = cython.declare(cython.double[4])
    for i in range(p):
        for r in range(p, n):
            k = (r - p) * p + i
            if blocks[i] == 0 or blocks[r] == 0:
                continue
            if blocks[i] == 1 and blocks[r] == 1:
                F[k] /= own[2 * i] - own[2 * r]
            elif blocks[i] == 1:
                _block(own, r, turn, v)
                x = own[2 * i]
                _of_two(x - v[0], -v[1], -v[2], x - v[3], F[k], F[k + p], F + k, F + k + p)
            elif blocks[r] == 1:
                _block(own, i, turn, u)
                x = own[2 * r]
                _of_two(u[0] - x, u[2], u[1], u[3] - x, F[k], F[k + 1], F + k, F + k + 1)
            else:
                _block(own, i, turn, u)
                _block(own, r, turn, v)
                f[0], f[1], f[2], f[3] = F[k], F[k + 1], F[k + p], F[k + p + 1]
                trace, det = u[0] + u[3], u[0] * u[3] - u[1] * u[2]
                upper = v[0] * v[0] + v[1] * v[2] - trace * v[0] + det
                lower = v[2] * v[1] + v[3] * v[3] - trace * v[3] + det
                beside, below = v[1] * (v[0] + v[3] - trace), v[2] * (v[0] + v[3] - trace)
                g[0] = trace * f[0] - (f[0] * u[0] + f[1] * u[2]) - (v[0] * f[0] + v[1] * f[2])
                g[1] = trace * f[1] - (f[0] * u[1] + f[1] * u[3]) - (v[0] * f[1] + v[1] * f[3])
                g[2] = trace * f[2] - (f[2] * u[0] + f[3] * u[2]) - (v[2] * f[0] + v[3] * f[2])
                g[3] = trace * f[3] - (f[2] * u[1] + f[3] * u[3]) - (v[2] * f[1] + v[3] * f[3])
                _of_two(upper, beside, below, lower, g[0], g[2], F + k, F + k + p)
                _of_two(upper, beside, below, lower, g[1], g[3], F + k + 1, F + k + p + 1)


def _turned_to(blocks, own, E, n, p, turn, Z, image, F):
    """Whether the iteration finds a basis Z = [I; X] of an invariant subspace of Λ + E; of its transpose where ``turn``
    is −1."""
    m = (n - p) * p
    for i in range(n * p):
        Z[i] = 1.0 if i // p == i % p else 0.0
    for _ in range(TURNS):
        multiplied(E, turn < 0, Z, image, n, n, p)
        multiplied(Z + p * p, False, image, F, n - p, p, p)
        for i in range(m):
            F[i] = image[p * p + i] - F[i]
        _divide(blocks, own, n, p, turn, F)
        change, size = 0.0, 1.0
        for i in range(m):
            if not fabs(F[i]) < INFINITY:
                return False
            change, size = max(change, fabs(F[i] - Z[p * p + i])), max(size, fabs(F[i]))
            Z[p * p + i] = F[i]
        if change <= UNMOVED * size:
            return True
        if not change < 1 / UNMOVED:
            return False
    return False


def few(s, A, change, sloped, values, slopes, room):
    """The watched eigenvalues of a matrix and, if ``sloped``, their derivatives for its ``change``; returns their
    number, 0 if the frame does not serve. ``room`` receives what ``covers`` needs about all others, with its
    derivative; without slopes these must be to the left."""
    n = s.n
    p = s.many
    rest = (n - p) * n
    B = s.B
    C = s.C
    M = s.product
    right = s.basis_right
    left = s.basis_left
    image = s.image
    F = s.image + n * p
    inner = cython.declare(cython.double[64])
    overlap = cython.declare(cython.double[64])
    outer = cython.declare(cython.double[64])
    _times(A, s.basis, C, n)
    multiplied(s.dual_basis, False, C, B, n, n, n)
    _take_out(s, B)
    if not _turned_to(s.blocks, s.own, B, n, p, 1, right, image, F):
        return 0
    if not _turned_to(s.blocks, s.own, B, n, p, -1, left, image, F):
        return 0
    multiplied(right + p * p, False, B, M, n - p, p, n)
    _put_back(s, B)
    for i in range(rest):
        M[i] = B[p * n + i] - M[i]
    _room_left(s, M, 1.0, room)
    if not sloped and not _definite(s, room, room, 0.0, 0.0, n - p):
        return 0
    multiplied(B, False, right, image, n, n, p)
    multiplied(left, True, image, inner, p, n, p)
    multiplied(left, True, right, overlap, p, n, p)
    if sloped:
        _times(change, s.basis, M, n)
        multiplied(s.dual_basis, False, M, C, n, n, n)
        multiplied(C, False, right, image, n, n, p)
        multiplied(left, True, image, outer, p, n, p)
        multiplied(right + p * p, False, image, F, n - p, p, p)
        for i in range((n - p) * p):
            F[i] = image[p * p + i] - F[i]
        _divide(s.blocks, s.own, n, p, 1, F)  # derivative of X, up to second order in E
        multiplied(F, False, B, M, n - p, p, n)
        for i in range(rest):
            C[p * n + i] -= M[i]
        multiplied(right + p * p, False, C, M, n - p, p, n)
        for i in range(rest):
            M[i] = C[p * n + i] - M[i]
        _room_left(s, M, 0.0, room + n * n)
    return _subspace(s, p, sloped, inner, outer, overlap, values, slopes)


def _subspace(s, p, sloped, inner, outer, overlap, values, slopes):
    """Eigenvalues and derivatives on an invariant subspace, from products with bases of this ``overlap``."""
    whole = cython.declare(cython.double[64])
    columns = cython.declare(cython.double[64])
    part = cython.declare(cython.double[64])
    mapped: cython.doublecomplex
    above: cython.doublecomplex
    below: cython.doublecomplex
    for i in range(p):
        for j in range(p):
            whole[j * p + i], columns[j * p + i] = overlap[i * p + j], inner[i * p + j]
    if factorised(whole, p, s.pivots) == 0.0:
        return 0
    substituted(whole, p, s.pivots, columns, p, False)
    for i in range(p):
        for j in range(p):
            part[i * p + j] = columns[j * p + i]
    eigen(part, p, values, s.lefts, s.rights, s.work)
    if not sloped:
        return p
    for i in range(p):
        for j in range(p):
            columns[j * p + i] = outer[i * p + j]
    substituted(whole, p, s.pivots, columns, p, False)
    for k in range(p):
        above = below = 0.0
        for i in range(p):
            mapped = 0.0
            for j in range(p):
                mapped = mapped + columns[j * p + i] * s.rights[k * p + j]
            above = above + s.lefts[k * p + i] * mapped
            below = below + s.lefts[k * p + i] * s.rights[k * p + i]
        slopes[k] = above / below if below != 0.0 else 0.0
    return p


def _room_left(s, M, share, room):
    """H of the last columns of a matrix, with this share of e: 1, or 0 for a derivative."""
    n = s.n
    p = s.many
    edge = ASIDE * fabs(s.frame_values[p].real) * share
    for i in range(n - p):
        for j in range(i + 1):
            weight = sqrt(s.frame_values[p + i].real * s.frame_values[p + j].real)
            room[i * n + j] = -((M[i * n + p + j] + M[j * n + p + i]) / 2 + (edge if i == j else 0.0)) / weight


def _definite(s, H, change, length, doubt, rows):
    """Whether H, moved by a length along its change, is positive definite beyond doubt."""
    n = s.n
    for i in range(rows):
        for j in range(i + 1):
            s.there[i * rows + j] = H[i * n + j] + length * change[i * n + j]
        s.there[i * rows + i] -= doubt
    return cholesky(s.there, rows)


def covers(s, step):
    """Whether all unwatched eigenvalues stay to the left in a step, by ``others`` at both ends."""
    n = s.n
    rows = n - s.many
    wrong = 0.0
    H = s.others
    errors = s.own + 2 * n
    bows = s.own + 3 * n
    for i in range(rows):
        errors[i] = bows[i] = 0.0
    for i in range(rows):
        for j in range(i + 1):
            rise, fall = step * H[n * n + i * n + j], step * H[3 * n * n + i * n + j]
            error = fabs(H[2 * n * n + i * n + j] - H[i * n + j] - (rise + fall) / 2)
            bow = fabs(fall - rise) / 8
            errors[i] += error
            bows[i] += bow
            if i != j:
                errors[j] += error
                bows[j] += bow
    for i in range(rows):
        wrong = max(wrong, errors[i])
        if not (errors[i] <= s.rules.wild and bows[i] <= s.rules.wild):
            return False
    for side in range(2):
        for way in range(2):
            rise = 0.0 if way == 0 else (step if side == 0 else -step)
            if not _definite(s, H + 2 * side * n * n, H + (2 * side + 1) * n * n, rise, s.rules.unsure * wrong, rows):
                return False
    return True


# For Python


@cython.cfunc
def _at(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


def few_of(curve: Curve, frame_of, matrices, changes, step: cython.double):
    """The watched eigenvalues of one matrix, or of those at both ends of a step, with their derivatives for its change,
    by the frame of a matrix; none if that does not serve, or the others do not stay to the left (in the step)."""
    n = curve.n
    many = 0
    values, slopes = np.zeros((2, n), dtype=complex), np.zeros((2, n), dtype=complex)
    frame_of = np.ascontiguousarray(frame_of)
    curve.begin()
    framed(curve, _at(frame_of))
    for side in range(len(matrices)):
        A, change = np.ascontiguousarray(matrices[side]), np.ascontiguousarray(changes[side])
        if curve.many:
            many = few(
                curve, _at(A), _at(change), True, cython.cast(cython.p_doublecomplex, _at(values[side])),
                cython.cast(cython.p_doublecomplex, _at(slopes[side])), curve.others + 2 * side * n * n)  # fmt: skip
        if many == 0:
            return values[:, :0], slopes[:, :0]
    if len(matrices) == 1:
        many *= _definite(curve, curve.others, curve.others + n * n, 0.0, 0.0, n - many)
    elif not covers(curve, step):
        many = 0
    return values[:, :many], slopes[:, :many]


def divided(blocks, own, p: cython.Py_ssize_t, turn: cython.int, F):
    """``_divide`` for arrays."""
    _divide(cython.cast(cython.p_longlong, _at(blocks)), _at(own), len(own), p, turn, _at(F))


def turned_to(blocks, own, E, turn: cython.int, Z):
    """``_turned_to`` for arrays."""
    n = len(Z)
    room = np.empty((2, Z.size))
    return _turned_to(
        cython.cast(cython.p_longlong, _at(blocks)), _at(own), _at(E), n, Z.size // n, turn, _at(Z), _at(room),
        _at(room[1]))  # fmt: skip
