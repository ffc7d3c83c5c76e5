"""Compiled dynamics of a part: the contributions of its copies to the equations of an assembly, and their derivatives.

Nothing is eliminated: M q̈ + h + Aᵀp and A q̇ + b are functions of coordinates, velocities, accelerations and reactions.
"""

from __future__ import annotations

import numpy as np

from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import gradient, jacobian
from pfaff.flow.graph import ZERO, Expression, expression, subs, sum_of
from pfaff.flow.lagrangian import Graph, dot, graph_of
from pfaff.statement import System
from pfaff.threads import once


class Dynamics:
    """Functions of (q, q̇, q̈, p; parameters), one row for each value and one column for each copy.

    residual
        M q̈ + h + Aᵀp, then the constraints A q̇ + b.
    slopes
        The entries of M, C = ∂h/∂q̇, K = ∂(M q̈ + h + Aᵀp)/∂q, A and B = ∂(A q̇ + b)/∂q that are not zero for good;
        ``entries`` says where they stand.
    powers
        What is dissipated and what is supplied, per unit of time; None if neither ever is.
    constraints, energies
        Of (q, q̇): φ, then A q̇ + b; the energies T, V and Jacobi's v·∂T/∂v − T + V.
    """

    def __init__(self, graph: Graph) -> None:
        self.n, self.m, self.holonomic = len(graph.q), len(graph.A), len(graph.positions)
        accelerations = [expression(f"acceleration of {q}") for q in graph.q]
        balance = [sum_of([force, dot(row, accelerations)]) for force, row in zip(graph.balance, graph.M, strict=True)]
        unknowns = [*graph.q, *graph.v, *accelerations, *graph.multipliers]
        by_q, by_v = ([list(row) for row in jacobian(balance, of)] for of in (graph.q, graph.v))
        blocks = {"M": graph.M, "C": by_v, "K": by_q, "A": graph.A, "B": jacobian(graph.constraints, graph.q)}
        filled = {
            name: [(i, j) for i, row in enumerate(rows) for j, e in enumerate(row) if e != ZERO]
            for name, rows in blocks.items()
        }
        self.entries = {name: np.array(places, dtype=int).reshape(-1, 2).T for name, places in filled.items()}
        slopes = [blocks[name][i][j] for name, places in filled.items() for i, j in places]
        total = sum_of([dot(gradient(graph.kinetic, graph.v), graph.v), -graph.kinetic, graph.potential])
        state, powers = [*graph.q, *graph.v], _powers(graph)
        self.residual = Compiled([*balance, *graph.constraints], unknowns)
        self.slopes = Compiled(slopes or [ZERO], unknowns)
        self.powers = Compiled(powers, unknowns) if any(power != ZERO for power in powers) else None
        self.constraints = Compiled([*graph.positions, *graph.constraints], state) if self.m else None
        self.energies = Compiled([graph.kinetic, graph.potential, total], state)


def _powers(graph: Graph) -> list[Expression]:
    """The powers taken by dampers and supplied by forces and moving constraints."""
    still = subs(graph.constraints, dict.fromkeys(graph.v, ZERO))
    dissipated = dot(gradient(graph.dissipation, graph.v), graph.v)
    return [dissipated, sum_of([dot(graph.forces, graph.v), dot(graph.multipliers, still)])]


@once(most=1)
def dynamics_of(system: System) -> Dynamics:
    return Dynamics(graph_of(system))
