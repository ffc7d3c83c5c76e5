"""Accelerations and reactions put back into M q̈ + h + Aᵀp = 0 and A q̈ + γ = 0, with every constraint as stated."""

from __future__ import annotations

import numpy as np

from pfaff.checks import Check
from pfaff.checks.dynamics import obeyed_equations
from pfaff.flow.compiled import Compiled
from pfaff.flow.lagrangian import stated_graph_of
from pfaff.statement.system import System
from pfaff.threads import once


def verified_accelerations(
    system: System,
    x: np.ndarray,
    numbers: np.ndarray,
    time: float | np.ndarray,
    accelerations: np.ndarray,
    reactions: np.ndarray,
) -> list[Check]:
    """The checks at columns of states, of the reactions of all constraints."""
    n, m = len(system.coordinates), len(system.stated.constraints)
    values = stated_balances(system)(x, numbers, time).T
    M, h, A, gamma = np.split(values, np.cumsum([n * n, n, m * n]), axis=1)
    matrices = M.reshape(-1, n, n), h.T, A.reshape(-1, m, n), gamma.T
    return obeyed_equations(*matrices, accelerations, reactions)


@once(most=1)
def stated_balances(system: System) -> Compiled:
    """M, h, A and γ of Lagrange's equations, with all constraints that are stated."""
    graph = stated_graph_of(system)
    rows = [*(e for row in graph.M for e in row), *graph.h, *(e for row in graph.A for e in row), *graph.gamma]
    return Compiled(rows, [*graph.q, *graph.v])
