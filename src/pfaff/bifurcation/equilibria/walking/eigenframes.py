"""The frame of a matrix: all its eigenvectors, in which a neighbouring matrix is almost diagonal.

Eigenvectors of two eigenvalues about to meet are almost parallel, and a frame of them would not serve for long. In
their plane two other vectors are chosen, as far apart as the distance of these eigenvalues from the imaginary axis
allows: there the matrix has a block of two rows, whether they are real or a pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.bifurcation.machine_code.addresses import eigen, factorised, finite, substituted
from pfaff.bifurcation.machine_code.linking import called

FROM = 16  # minimum number of states for which a frame pays
MOST = 8  # most eigenvalues that are watched
WIDE = 1 / 3  # least gap, relative to the widest, after which eigenvalues are not watched
SHARE = 1 / 4  # largest share of the decay rate that a change of vectors in a plane may cost
NARROW = 1 / 2  # sine of the angle below which two real vectors are replaced in their plane


class Frame(NamedTuple):
    """The frame of a matrix, whose eigenvalues are ordered, the rightmost first."""

    many: np.ndarray  # number watched; 0 while there is no frame, below 0: all, for as many steps
    basis: np.ndarray  # columns: real vectors, real and imaginary parts of others
    dual: np.ndarray
    values: np.ndarray
    blocks: np.ndarray  # per column: 1 or 2 where a block begins, else 0


def no_frame(n: int) -> tuple[np.ndarray, ...]:
    """An empty frame, as Python hands it over."""
    many, blocks = np.zeros(1, dtype=np.int64), np.empty(n, dtype=np.int64)
    return many, np.empty((n, n)), np.empty((n, n)), np.empty(n, dtype=complex), blocks


@called
def framed(routines, A, units, frame):
    """Fill in a frame of the eigenvectors of a matrix, lengths and angles by units of states."""
    n, k, order = len(A), 0, np.empty(len(A), dtype=np.int64)
    basis, values, blocks = frame.basis, frame.values, frame.blocks
    found, _, right = eigen(routines, A, False, True)
    for k in range(n):
        j = k
        while j > 0 and ahead(found[k], found[order[j - 1]]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    for k in range(n):
        values[k] = found[order[k]]
    frame.many[0] = before_gap(values)
    for k in range(n):
        if values[k].imag < 0:
            continue  # done with its conjugate
        q, blocks[k] = right[order[k]], 1
        for i in range(n):
            basis[i, k] = q[i].real
        if values[k].imag > 0:
            for i in range(n):
                basis[i, k + 1] = q[i].imag
            blocks[k], blocks[k + 1] = 2, 0
            part_pair(basis, k, units, values[k], k < frame.many[0])
        else:
            normalise(basis, k, units)
            if k > 0 and blocks[k - 1] == 1 and k != frame.many[0]:
                part_real(basis, k - 1, units, values, k < frame.many[0], blocks)
    if not inverted(routines, basis, frame.dual):
        frame.many[0] = 0


@called
def ahead(a, b):
    """Whether an eigenvalue comes before another: farther right, or slower. Equal pairs keep their order, so that each
    stays together."""
    return a.real > b.real or (a.real == b.real and abs(a.imag) < abs(b.imag))


@called
def before_gap(values):
    """The number of eigenvalues before the first gap that is wide enough, after which all decay; 0 if there is none."""
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
def inner(basis, j, k, units):
    """The scalar product of two columns, in units."""
    total = 0.0
    for i in range(len(basis)):
        total += basis[i, j] * basis[i, k] / units[i] ** 2
    return total


@called
def normalise(basis, k, units):
    size = np.sqrt(inner(basis, k, k, units))
    for i in range(len(basis)):
        basis[i, k] /= size


@called
def part_pair(basis, k, units, value, watched):
    """Make real and imaginary part orthogonal and of equal length, unless that costs too much of the decay rate: for
    unwatched blocks [[α, ρβ], [−β/ρ, α]] the symmetric part matters."""
    a, b, across = inner(basis, k, k, units), inner(basis, k + 1, k + 1, units), inner(basis, k, k + 1, units)
    turn = np.arctan2(-2 * across, a - b) / 2
    cosine, sine = np.cos(turn), np.sin(turn)
    for i in range(len(basis)):
        x, y = basis[i, k], basis[i, k + 1]
        basis[i, k], basis[i, k + 1] = cosine * x - sine * y, sine * x + cosine * y
    size, narrow = np.sqrt(inner(basis, k, k, units)), np.sqrt(inner(basis, k + 1, k + 1, units))
    ratio, allowed = size / narrow, SHARE * abs(value.real) / value.imag
    if not watched:
        ratio = min(ratio, allowed + np.sqrt(allowed**2 + 1))
    for i in range(len(basis)):
        basis[i, k] /= size
        basis[i, k + 1] *= ratio / size


@called
def part_real(basis, k, units, values, watched, blocks):
    """Replace the second of two almost parallel real unit vectors by its part across the first, of unit length, unless
    that costs too much of the decay rate."""
    cosine, first, last = inner(basis, k, k + 1, units), values[k].real, values[k + 1].real
    sine = np.sqrt(max(1 - cosine**2, 0.0))
    if not 0 < sine < NARROW:
        return
    longer, apart = 1 / sine, abs(cosine) * (first - last)
    if not watched and apart > 0:
        longer = min(longer, 2 * SHARE * abs(first) / apart)
    if longer > 1:
        blocks[k], blocks[k + 1] = 2, 0
        for i in range(len(basis)):
            basis[i, k + 1] = longer * (basis[i, k + 1] - cosine * basis[i, k])


@called
def inverted(routines, A, inverse):
    """Invert a matrix; returns whether it has an inverse."""
    n = len(A)
    factors, pivots, columns = A.T.copy(), np.empty(len(A), dtype=np.int32), np.eye(len(A))
    if not finite(A) or factorised(routines, factors, pivots) == 0.0:
        return False
    substituted(routines, factors, pivots, columns, n, False)
    for i in range(n):
        for j in range(n):
            inverse[i, j] = columns[j, i]
    return finite(inverse)
