"""The rightmost eigenvalues of a sparse matrix, all of those that grow among them.

In whatever units, every eigenvalue lies in the box that the symmetric and the skew part of a matrix span: Re λ ≤ ρ and
|Im λ| ≤ Ω (Bendixson 1902). Arnoldi's method about a shift to the right gives the eigenvalues nearest to it, in a disc:
once that covers what lies of the box to the right of the imaginary axis, none that grows is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, shifted
from pfaff.algebra.tolerances import REAL
from pfaff.stability.large_modes import largest

FEWEST, MOST = 8, 96  # eigenvalues that are looked for
SWEEPS = 30  # of balancing
WIDER = 1.01  # than the box, the disc


@dataclass(frozen=True)
class Rightmost:
    """Eigenvalues in a disc about a real shift, the rightmost first, with their right vectors; ``complete`` tells
    whether all that grow are known to be among them."""

    values: np.ndarray
    vectors: np.ndarray
    shift: float
    radius: float
    complete: bool

    def left_vectors(self, J: sparse.csc_array) -> np.ndarray:
        """Those of the transposed matrix that belong to the same eigenvalues, in the same order."""
        factors = Factors(shifted(J, self.shift))
        inverted, vectors = largest(
            lambda x: factors.unrefined(x, transposed=True), J.shape[0], J.shape[0], len(self.values) + 1, float
        )
        values = self.shift + 1 / inverted
        nearest = np.abs(values[None] - self.values[:, None]).argmin(axis=1)
        return vectors[:, nearest]


def rightmost(J: sparse.csc_array, expected: int = FEWEST) -> Rightmost:
    """Eigenvalues from the right on: so many, or as many as it takes to be sure of those that grow."""
    n = J.shape[0]
    real, imaginary = box(J)
    shift = max(imaginary, abs(real) / 2) or 1.0
    wanted = WIDER * max(np.hypot(shift, imaginary), real - shift)
    factors, count = Factors(shifted(J, shift)), min(max(expected, FEWEST), n)
    while True:
        inverted, vectors = largest(factors.unrefined, n, n, count, float)
        values = shift + 1 / inverted
        radius = float(np.abs(values - shift).max()) if len(values) < n else np.inf
        if radius >= wanted or count >= min(MOST, n):
            break
        count = min(2 * count, MOST, n)
    kept = np.flatnonzero(_paired(values))
    kept = kept[np.lexsort((values[kept].imag, -values[kept].real))]
    return Rightmost(values[kept], vectors[:, kept], shift, radius, bool(radius >= wanted))


def _paired(values: np.ndarray) -> np.ndarray:
    """Which eigenvalues are real, or known with their conjugates: a pair may be cut where the disc ends."""
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
        D[known] *= (rows[known] / columns[known]) ** 0.125  # half of the way, since all move at once
    return sparse.csr_array((entries.data * D[j] / D[i], (i, j)), shape=J.shape)
