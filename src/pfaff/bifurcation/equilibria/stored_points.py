"""Files of equilibria: their tables of eigenvalues, and whether their points solve the equations of a case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfaff.algebra.bordering import row_sizes
from pfaff.algebra.sparse_borders import entries
from pfaff.bifurcation.equilibria.eigenvalues import side_by_side
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.errors import ParameterError

UNMOVED = 1e-6  # residual of a stored point, relative to its terms


def eigenvalue_tables(points: Sequence[Any], special: Sequence[Any]) -> dict[str, Any]:
    """Eigenvalues of all points, in tables of one width."""
    table, columns = side_by_side([p.eigenvalues for p in (*points, *special)]), {}
    halves = (("", "point", table[: len(points)]), ("special_", "special", table[len(points) :]))
    for prefix, dimension, values in halves if special else halves[:1]:
        columns[f"{prefix}eigenvalue_real"] = ((dimension, "eigenvalue"), values.real)
        columns[f"{prefix}eigenvalue_imag"] = ((dimension, "eigenvalue"), values.imag)
    return columns


def check_solves(s: RestEquations, z: np.ndarray, name: str) -> None:
    """Raise unless a stored point solves the equations of the case, up to rounding and differences of computers."""
    units, jacobian = np.maximum(s.sizes, np.abs(z)), s.jacobian(z)
    finite = np.isfinite(entries(jacobian * units)).all() and np.isfinite(units / s.sizes.min()).all()
    if not finite or not (np.abs(s.residual(z)) <= UNMOVED * row_sizes(s.jacobian, z, units)).all():
        raise ParameterError(other_case(name))


def other_case(name: str) -> str:
    return f"the stored {name} does not belong to this case: give the case it was computed for"
