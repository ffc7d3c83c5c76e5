"""Equilibria of large sparse flows, by Newton's method with sparse factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pfaff.algebra.bordering import FARTHEST
from pfaff.algebra.newtons_method import Outcome, newton
from pfaff.algebra.sparse_borders import Factors, null_vectors
from pfaff.errors import ConvergenceError
from pfaff.flow.sparse_jacobian import sparse_linearised

if TYPE_CHECKING:
    from pfaff.case import Bound

REGULAR = 1e-11  # |J q| for a unit q, relative to the largest entry, below which q is a null vector


def sparse_rest(case: Bound, x: np.ndarray) -> np.ndarray | None:
    """The equilibrium that Newton's method reaches; None where it meets singular matrices, as on a family."""
    evaluate, numbers = sparse_linearised(case.system.flow), case.numbers  # type: ignore[attr-defined]

    def step(x: np.ndarray) -> tuple[np.ndarray, float] | None:
        rates, J = evaluate(x, numbers)
        try:
            change = -Factors(J).solve(rates)
        except np.linalg.LinAlgError:
            return None
        size = float(np.abs(change).max() / (1 + np.abs(x).max()))
        return (x + change * min(1.0, FARTHEST / size if size else 1.0), size) if np.isfinite(size) else None

    found = newton(step, x.copy())
    if found.outcome is Outcome.STEPLESS:
        return None
    if not found.settled:
        raise ConvergenceError(
            f"no equilibrium of {case.system.name} was reached from this start: give values of the states by name, "
            "nearer to one"
        )
    return found.at


def in_families(J: sparse.csc_array) -> bool:
    """Whether an equilibrium with this Jacobian belongs to a family."""
    try:
        q, _ = null_vectors(J)
    except np.linalg.LinAlgError:
        return True
    return bool(np.linalg.norm(J @ q) <= REGULAR * np.abs(J.data).max())
