"""How large coordinates are, and by how much they turn something: references for their changes and for rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff.statement.evaluation import evaluated
from pfaff.statement.system import System
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.flow.initial import Constraints

TURNING = (sm.sin, sm.cos, sm.tan)


def usual_sizes(x: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The size of each component if it had all of xᵀM x: a reference for those that are mere rounding."""
    inertia = np.diag(M)
    return np.maximum(np.abs(x), np.sqrt(np.abs(x @ M @ x) / np.where(inertia > 0, inertia, np.inf)))


@once(most=1)
def _slopes(system: System) -> tuple[np.ndarray, list[int], list[sm.Expr]]:
    """Derivatives of the arguments of sines by coordinates: by how much each changes these by one where that is a
    number, and those that vary, with the numbers of their coordinates."""
    s, which, varying = system.stated, [], []
    turns = np.full(len(s.q), np.inf)
    for node in {node for each in s.positions for node in each.atoms(*TURNING)}:
        for j, x in enumerate(s.q):
            slope = sm.diff(node.args[0], x)
            if slope.free_symbols:
                which.append(j)
                varying.append(slope)
            elif slope:
                turns[j] = min(turns[j], 1 / abs(float(slope)))
    return turns, which, varying


def turns_of(constraints: Constraints, q: np.ndarray) -> np.ndarray:
    """By how much each coordinate changes the argument of a sine by one; infinite for those in none."""
    turns, which, varying = _slopes(constraints.case.system)
    if not varying:
        return turns
    turns, slopes = turns.copy(), np.abs(np.array(evaluated(varying, constraints.known(q, 0.0)), dtype=float))
    with np.errstate(divide="ignore"):
        np.minimum.at(turns, which, 1 / slopes)
    return turns
