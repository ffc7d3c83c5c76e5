"""The rightmost eigenvalues of a sparse matrix, all of those that grow among them.

In any units, every eigenvalue lies in the box that the symmetric and the skew part of a matrix span: Re λ ≤ ρ and |Im
λ| ≤ Ω (Bendixson 1902). Arnoldi's method about a shift to the right gives the eigenvalues nearest to it, in a disc:
once that covers the part of the box to the right of the imaginary axis, no growing eigenvalue is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, shifted
from pfaff.algebra.tolerances import REAL, SETTLED, ceased
from pfaff.errors import ConvergenceError
from pfaff.stability.large_modes import largest

FEWEST, MOST = 8, 128  # least and largest number of eigenvalues asked of Arnoldi's method
FEW, AFFORDED = 80, 1000  # states up to which all eigenvalues are computed at once, and up to which they can be
SWEEPS = 30  # sweeps of balancing
SHIFTS, SOLVES = 4, 8  # of inverse iteration, and solutions with the factors about each shift
WIDER = 1.01  # ratio of the disc to the box


@dataclass(frozen=True)
class Rightmost:
    """Eigenvalues in a disc about a real shift, the rightmost first, with their right vectors; ``complete`` says
    whether all that grow are known to be among them."""

    values: np.ndarray
    vectors: np.ndarray
    shift: float
    radius: float
    complete: bool

    def nearest(self, value: complex) -> tuple[complex, np.ndarray]:
        """The eigenvalue that is nearest to a number, and its vector."""
        which = int(np.abs(self.values - value).argmin())
        return complex(self.values[which]), self.vectors[:, which]

    def left_vectors(self, J: sparse.csc_array) -> np.ndarray:
        """Left vectors of the same eigenvalues, in the same order."""
        n = J.shape[0]
        if len(self.values) == n:
            return np.linalg.pinv(self.vectors).T
        factors = Factors(shifted(J, self.shift))
        operator = partial(factors.unrefined, transposed=True)
        inverted, vectors = largest(operator, n, n, min(len(self.values) + 1, n), float)
        nearest = np.abs(self.shift + 1 / inverted[None] - self.values[:, None]).argmin(axis=1)
        return vectors[:, nearest]


def rightmost(J: sparse.csc_array, expected: int = FEWEST) -> Rightmost:
    """Eigenvalues from the right on: ``expected`` ones, or as many as it takes to be sure of those that grow.

    Where eigenvalues crowd about a point, as those of states that are not coupled to their neighbours, Arnoldi's method
    does not separate them: then, and for few states, all are computed.
    """
    n = J.shape[0]
    if n <= FEW or expected >= n:
        return _all(J)
    real, imaginary = box(J)
    shift = max(imaginary, abs(real) / 2) or 1.0
    wanted = WIDER * max(np.hypot(shift, imaginary), real - shift)
    factors, radius = Factors(shifted(J, shift)), 0.0
    for count in _counts(expected):
        values, vectors = _nearest(factors, shift, n, count)
        if len(values) < count:
            break
        radius = float(np.abs(values - shift).max())
        if radius >= wanted:
            break
    if radius < wanted and n <= AFFORDED:
        return _all(J)
    return Rightmost(*_in_order(values, vectors), shift, radius, bool(radius >= wanted))


def followed(J: sparse.csc_array, value: complex, vector: np.ndarray) -> tuple[complex, np.ndarray]:
    """The eigenvalue near a guess whose vector is nearest to a given one, by inverse iteration, and its vector."""
    whole = float(np.abs(J.data).max())
    if abs(value.imag) <= REAL * abs(value):
        value, vector = value.real, vector.real
    vector = vector / np.linalg.norm(vector)
    for _ in range(SHIFTS):
        factors, shift, last = Factors(shifted(J, value)), value, np.inf
        for _ in range(SOLVES):
            ahead = factors.unrefined(vector)
            before, value = value, shift + 1 / np.vdot(vector, ahead)
            vector, change = ahead / np.linalg.norm(ahead), abs(value - before)
            if ceased(change, last, SETTLED * whole, np.spacing(abs(value))):
                return complex(value), vector
            last = change
    raise ConvergenceError("inverse iteration does not settle: other eigenvalues are too near")


def _counts(expected: int) -> Iterator[int]:
    """Numbers of eigenvalues to ask for, one after the other: each twice the one before, up to the most."""
    count = min(max(expected, FEWEST), MOST)
    yield count
    while count < MOST:
        count = min(2 * count, MOST)
        yield count


def _nearest(factors: Factors, shift: float, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """``count`` eigenvalues about a shift, or as many as are found."""
    try:
        inverted, vectors = largest(factors.unrefined, n, n, count, float)
    except ConvergenceError:
        return np.zeros(0, dtype=complex), np.zeros((n, 0), dtype=complex)
    return shift + 1 / inverted, vectors


def _all(J: sparse.csc_array) -> Rightmost:
    values, vectors = np.linalg.eig(J.toarray())
    return Rightmost(*_in_order(values.astype(complex), vectors), 0.0, np.inf, True)


def _in_order(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors, the rightmost first, each with its conjugate."""
    kept = np.flatnonzero(_paired(values))
    kept = kept[np.lexsort((values[kept].imag, -values[kept].real))]
    return values[kept], vectors[:, kept]


def _paired(values: np.ndarray) -> np.ndarray:
    """Which eigenvalues are real, or known with their conjugates: a pair may be cut where the disc ends."""
    if not len(values):
        return np.zeros(0, dtype=bool)
    apart = np.abs(values[:, None] - values.conj()[None]).min(axis=1)
    return apart <= REAL * np.abs(values)


def box(J: sparse.csc_array) -> tuple[float, float]:
    """ρ and Ω: Re λ ≤ ρ, |Im λ| ≤ Ω, by the discs of Gershgorin of both parts of the matrix, in balanced units."""
    balanced = _balanced(J)
    mirrored = balanced.T.tocsr()
    symmetric, skew = (balanced + mirrored) / 2, (balanced - mirrored) / 2
    diagonal = symmetric.diagonal()
    beside = np.asarray(abs(symmetric).sum(axis=1)).ravel() - np.abs(diagonal)
    return float((diagonal + beside).max()), float(np.asarray(abs(skew).sum(axis=1)).max())


def _balanced(J: sparse.csc_array) -> sparse.csr_array:
    """D⁻¹ J D with rows and columns of like size beside the diagonal (Osborne 1960)."""
    entries = sparse.coo_array(J)
    i, j, data = entries.row, entries.col, np.abs(entries.data) * (entries.row != entries.col)
    n, D = J.shape[0], np.ones(J.shape[0])
    for _ in range(SWEEPS):
        sizes = data * D[j] / D[i]
        rows, columns = np.bincount(i, sizes**2, n), np.bincount(j, sizes**2, n)
        known = (rows > 0) & (columns > 0)
        D[known] *= (rows[known] / columns[known]) ** 0.125  # half way, since all rows and columns move at once
    return sparse.csr_array((entries.data * D[j] / D[i], (i, j)), shape=J.shape)
