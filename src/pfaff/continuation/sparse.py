"""Curves G(z) = 0 whose Jacobian is sparse but for a few rows and columns: the steps of ``dense``, with sparse
factors."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, in_units, with_rows
from pfaff.continuation.dense import Implicit, Spot
from pfaff.errors import ConvergenceError


class SparseImplicit(Implicit):
    """Equations whose Jacobian is a sparse array; ``dense`` is the number of its last rows that are full."""

    dense = 0

    def bordered(self, J: sparse.csc_array, row: np.ndarray, right: np.ndarray, units: np.ndarray) -> np.ndarray:
        try:
            return self.across(J, row, units).solve(right) * units
        except np.linalg.LinAlgError:
            return np.full(len(right), np.nan)

    def across(self, J: sparse.csc_array, row: np.ndarray, units: np.ndarray) -> Factors:
        """The Jacobian with one more row, unknowns in their units."""
        return Factors(with_rows(in_units(J, units), (row * units)[None]), self.dense + 1)

    def start(self, z: np.ndarray, ahead: float) -> Spot:
        unit, units = np.zeros(len(z)), self.units(z)
        unit[-1] = 1.0
        tangent = self.bordered(self.jacobian(z), np.copysign(unit, ahead) / units, unit, units)
        if not np.isfinite(tangent).all():
            raise ConvergenceError("the branch is singular where it starts: start beside this point")
        return self.spot(z, tangent)
