"""Small motions of an assembly at rest: sparse matrices and the pencil [[M ω² + C ω + K, Aᵀ], [A, 0]]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from pfaff.errors import RankError
from pfaff.flow.patterns import Pattern
from pfaff.statement.told import answering
from pfaff.statement.values import complex_number, number_from


@answering
@dataclass(frozen=True)
class SparseLinearisation:
    """Small motions of an assembly at rest, as data on the common pattern.

    ``C`` and ``B`` are those of ``pfaff.rest.small_motions``; ``stiffness`` contains Σ p ∂Aᵀ/∂q. Rows of constraints
    that keep A q to first order stand undifferentiated: the structural zeros of the nonholonomic ones are divided out.
    """

    pattern: Pattern
    nonholonomic: np.ndarray  # which constraint rows are nonholonomic
    data: Mapping[str, np.ndarray]

    @property
    def M(self) -> sparse.csc_array:
        return self._among_coordinates("M")

    @property
    def C(self) -> sparse.csc_array:
        return self._among_coordinates("C")

    @property
    def stiffness(self) -> sparse.csc_array:
        return self._among_coordinates("K")

    @property
    def A(self) -> sparse.csc_array:
        n = self.pattern.size
        return self.pattern.matrix(self.data["rows"] + self.data["moving"])[n:, :n]

    @property
    def reversible(self) -> bool:
        """Whether there are neither damping nor gyroscopic forces: the equations contain ω only as ω²."""
        return not (np.any(self.data["C"]) or np.any(self.data["moving"]))

    def pencil(self, omega: complex) -> sparse.csc_array:
        """[[M ω² + C ω + K, Aᵀ], [A, 0]], singular where ω is an eigenvalue."""
        return self.pattern.matrix(self.pencil_data(complex_number("omega", omega, symbols=False)))

    def wide_pencil(self, omega: complex) -> sparse.csc_array:
        """The pencil with more digits: inertia is small relative to the stiffness of many parts."""
        return self.pattern.wide_matrix(self.pencil_data(complex_number("omega", omega, symbols=False)))

    def pencil_data(self, omega: complex) -> np.ndarray:
        d = self.data
        return d["M"] * omega**2 + (d["C"] + d["moving"]) * omega + d["K"] + d["reactions"] + d["rows"] + d["rates"]

    def pencil_of_square(self, square: float) -> sparse.csc_array:
        """The pencil of a reversible assembly at s = ω²."""
        return self.pattern.matrix(self._data_of_square(square))

    def wide_pencil_of_square(self, square: float) -> sparse.csc_array:
        return self.pattern.wide_matrix(self._data_of_square(square))

    def _data_of_square(self, square: float) -> np.ndarray:
        d, square = self.data, number_from("square", square)
        return d["M"] * square + d["K"] + d["reactions"] + d["rows"]

    def block(self, name: str) -> sparse.csc_array:
        """One of the blocks, in the rows and columns of the whole pencil."""
        return self.pattern.matrix(self.data[name])

    def _among_coordinates(self, name: str) -> sparse.csc_array:
        n = self.pattern.size
        return self.block(name)[:n, :n]


def factorised(matrix: sparse.csc_array) -> SuperLU:
    """The sparse LU factors, or an error that says what makes a multiplier matrix singular."""
    try:
        return splu(matrix)
    except RuntimeError as problem:
        raise RankError(
            f"the multiplier matrix of size {matrix.shape[0]} is singular: a constraint repeats others, or the "
            "assembly can move without strain at this load; remove the constraint or support the assembly"
        ) from problem
