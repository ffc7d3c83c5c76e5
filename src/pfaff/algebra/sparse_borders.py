"""Sparse matrices with a few dense rows and columns around them: assembled, factorised, and their null vectors.

A matrix that is singular, as at a bifurcation, is regular with a border of its null vectors (Govaerts, Numerical
Methods for Bifurcations of Dynamical Equilibria, 2000, Ch. 3). Rows of a border are dense: as a pivot, one would fill
all that is left of the factors, so that they are made small and come last, unless nothing else will do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

LATE = 2.0**-30  # scale of dense rows as pivots, relative to all others; refinement restores the digits that this costs
TURNS = 4  # inverse iterations, each of which squares the error of null vectors


class Factors:
    """LU factors of a square matrix whose last ``dense`` rows are dense. Rows are scaled to like size."""

    def __init__(self, matrix: sparse.csc_array, dense: int = 0) -> None:
        rows = largest_in_rows(matrix)
        if not np.isfinite(rows).all():
            raise np.linalg.LinAlgError("the matrix is not finite")
        rows[rows == 0] = 1.0
        rows[len(rows) - dense :] /= LATE
        self._matrix, self._rows = matrix, rows
        scaled = sparse.csc_array((matrix.data / rows[matrix.indices], matrix.indices, matrix.indptr), matrix.shape)
        try:
            self._factors = splu(scaled)
        except RuntimeError as problem:
            raise np.linalg.LinAlgError("the matrix is singular") from problem

    def solve(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        """The solution, refined once; real factors take complex right-hand sides part by part."""
        if np.iscomplexobj(right) and not np.iscomplexobj(self._matrix.data):
            return self.solve(right.real, transposed) + 1j * self.solve(right.imag, transposed)
        right = right.astype(self._matrix.dtype)
        matrix = self._matrix.T if transposed else self._matrix
        x = self.unrefined(right, transposed)
        return x + self.unrefined(right - matrix @ x, transposed)

    def unrefined(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        """The solution without refinement, for inner loops with matrices that are far from singular."""
        rows = self._rows if right.ndim == 1 else self._rows[:, None]
        return self._factors.solve(right, "T") / rows if transposed else self._factors.solve(right / rows)

    @property
    def sign(self) -> float:
        """Sign of the determinant."""
        pivots = np.sign(self._factors.U.diagonal().real).prod()
        return float(pivots * _parity(self._factors.perm_r) * _parity(self._factors.perm_c))


def _parity(order: np.ndarray) -> int:
    """Parity of a permutation: even if elements exceed cycles by an even number."""
    n = len(order)
    graph = sparse.csr_array((np.ones(n), (np.arange(n), order)), shape=(n, n))
    return 1 - 2 * ((n - connected_components(graph, directed=False, return_labels=False)) % 2)


def entries(matrix: Any) -> np.ndarray:
    """The entries of a dense matrix, or those of a sparse one that are not zero by structure."""
    return matrix.data if sparse.issparse(matrix) else matrix


def largest_in_rows(matrix: sparse.csc_array) -> np.ndarray:
    rows = np.zeros(matrix.shape[0])
    np.maximum.at(rows, matrix.indices, np.abs(matrix.data))
    return rows


def with_columns(matrix: sparse.csc_array, columns: np.ndarray) -> sparse.csc_array:
    """A matrix and dense columns to its right."""
    n, k = columns.shape
    data = np.concatenate([matrix.data, columns.T.ravel()])
    indices = np.concatenate([matrix.indices, np.tile(np.arange(n, dtype=np.int32), k)])
    starts = np.concatenate([matrix.indptr, matrix.indptr[-1] + n * np.arange(1, k + 1, dtype=np.int32)])
    return sparse.csc_array((data, indices, starts), shape=(n, matrix.shape[1] + k))


def with_rows(matrix: sparse.csc_array, rows: np.ndarray) -> sparse.csc_array:
    """A matrix and dense rows below it."""
    n, (k, m) = matrix.shape[0], rows.shape
    ends = np.repeat(matrix.indptr[1:], k)
    data = np.insert(matrix.data.astype(np.result_type(matrix.data, rows)), ends, rows.T.ravel())
    indices = np.insert(matrix.indices, ends, np.tile(np.arange(n, n + k, dtype=np.int32), m))
    return sparse.csc_array((data, indices, matrix.indptr + k * np.arange(m + 1, dtype=np.int32)), shape=(n + k, m))


def bordered(matrix: sparse.csc_array, columns: np.ndarray, rows: np.ndarray, dense: int = 0) -> Factors:
    """Factors of [[matrix, columns], [rows, 0]]; the last ``dense`` rows of the matrix itself may be dense."""
    k = len(rows)
    return Factors(with_rows(with_columns(matrix, columns), np.hstack([rows, np.zeros((k, k))])), k + dense)


def in_units(matrix: sparse.csc_array, units: np.ndarray, of_rows: Any = None) -> sparse.csc_array:
    """The matrix with its columns multiplied by ``units`` and its rows divided by ``of_rows``."""
    data = matrix.data * np.repeat(units, np.diff(matrix.indptr))
    if of_rows is not None:
        data = data / of_rows[matrix.indices]
    return sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def shifted(matrix: sparse.csc_array, shift: complex) -> sparse.csc_array:
    """matrix − shift."""
    return sparse.csc_array(matrix - shift * sparse.eye_array(matrix.shape[0], format="csc"))


def null_vectors(matrix: sparse.csc_array, dense: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit right and left vectors that a nearly singular matrix, and its transpose, take to nearly nothing.

    Each is the border by which the other is solved for, from random ones on. The last ``dense`` rows may be dense.
    """
    n, generator = matrix.shape[0], np.random.default_rng(1949)
    unit = np.append(np.zeros(n), 1.0)
    right, left = (_unit(generator.uniform(-1, 1, n)) for _ in range(2))
    for _ in range(TURNS):
        around = bordered(matrix, left[:, None], right.conj()[None], dense)
        right, left = _unit(around.solve(unit)[:n]), _unit(around.solve(unit, transposed=True)[:n].conj())
    return right, left


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
