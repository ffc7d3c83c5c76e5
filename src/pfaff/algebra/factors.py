"""Linear systems with one sparse pattern and many values: factorised in a band where one exists, else by SuperLU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from pfaff.errors import RankError

WIDEST = 100  # diagonals beyond which a band costs more than SuperLU

Solve = Callable[[np.ndarray], np.ndarray]


class Places:
    """Where entries (row, column), repeated ones adding up, stand in the storage of a square matrix.

    Reverse Cuthill–McKee ordering turns chains, rings and other slender structures into a narrow band, whose
    factorisation by LAPACK costs a tenth of a general sparse one.
    """

    def __init__(self, size: int, rows: np.ndarray, columns: np.ndarray) -> None:
        self.size = size
        ones = np.ones(2 * len(rows))
        both = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
        pattern = sparse.csr_array((ones, both), shape=(size, size))
        self.order = reverse_cuthill_mckee(pattern, symmetric_mode=True)
        place = np.empty(size, dtype=np.int64)
        place[self.order] = np.arange(size)
        self._place = place
        self.width = int(np.abs(place[rows] - place[columns]).max(initial=0))
        self.diagonals = 3 * self.width + 1
        self.banded = self.diagonals <= WIDEST
        if not self.banded:
            self._keys = np.unique(columns * size + rows)
            self._indices = (self._keys % size).astype(np.int32)
            self._indptr = np.searchsorted(self._keys, np.arange(size + 1) * size).astype(np.int32)
        self.length = size * self.diagonals if self.banded else len(self._keys)

    def position(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The index in the storage of each entry, which must belong to the pattern."""
        if self.banded:
            i, j = self._place[rows], self._place[columns]
            return j * self.diagonals + 2 * self.width + i - j
        return np.searchsorted(self._keys, columns * self.size + rows)

    def factorised(self, data: np.ndarray) -> Solve:
        """x = solve(right) for one right-hand side or several columns of them."""
        return self._band(data) if self.banded else self._general(data)

    def _band(self, data: np.ndarray) -> Solve:
        w, kind = self.width, "z" if np.iscomplexobj(data) else "d"
        factorise, substitute = getattr(lapack, f"{kind}gbtrf"), getattr(lapack, f"{kind}gbtrs")
        factors, pivots, info = factorise(data.reshape(self.size, self.diagonals).T, w, w)
        if info:
            raise _singular(self.size)

        def solve(right: np.ndarray) -> np.ndarray:
            x = np.empty_like(right, dtype=data.dtype)
            x[self.order] = substitute(factors, w, w, right[self.order], pivots)[0]
            return x

        return solve

    def _general(self, data: np.ndarray) -> Solve:
        matrix = sparse.csc_array((data, self._indices, self._indptr), shape=(self.size, self.size))
        try:
            return splu(matrix).solve
        except RuntimeError as problem:
            raise _singular(self.size) from problem


def _singular(size: int) -> RankError:
    return RankError(
        f"the multiplier matrix of size {size} is singular: a constraint repeats others, or a coordinate has neither "
        "inertia nor constraint; remove the constraint or give it mass"
    )
