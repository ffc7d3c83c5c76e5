"""Appell's equations ∂𝒢/∂u̇ = Q* in coordinates and quasi-velocities: q̇ = B u + β with A B = 0.

With q̈ = B u̇ + σ they are (BᵀM B) u̇ + Bᵀ(M σ + h) = 0. Three ways to B: a basis without divisions, quasi-velocities
that the user chose, and an orthonormal basis that moves with the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.flow.compiled import Compiled
from pfaff.flow.conversion import convert
from pfaff.flow.differentiation import jacobian
from pfaff.flow.flow import numbers_of
from pfaff.flow.graph import CLOCK, ZERO, Expression, expression, subs, sum_of
from pfaff.flow.lagrangian import Graph, back_substitute, dot, factorise, graph_of, total_derivative
from pfaff.principles.formulation import Formulation, flow_of
from pfaff.statement import System
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound

Matrix = list[list[Expression]]


def on_basis(system: System, names: Sequence[str], basis: sm.Matrix, offset: sm.Matrix) -> Formulation:
    """B(q, t) and β(q, t) as expressions, of full rank wherever the constraints are."""
    graph = graph_of(system)
    u = [expression(name) for name in names]
    B = [[convert(e, graph.symbols) for e in basis.row(i)] for i in range(basis.rows)]
    beta = [convert(e, graph.symbols) for e in offset]
    velocities = [sum_of([dot(row, u), b]) for row, b in zip(B, beta, strict=True)]
    slopes = jacobian(velocities, [*graph.q, CLOCK])
    sigma = [sum_of([dot(row[:-1], velocities), row[-1]]) for row in slopes]
    # u of BᵀM B u = BᵀM (q̇ − β): in the metric of the inertia, whatever the units of the coordinates
    relative = [v - b for v, b in zip(graph.v, beta, strict=True)]
    heavy = [[dot(row, column) for row in graph.M] for column in zip(*B, strict=True)]  # M B, column by column
    square = [[dot(a, b) for b in heavy] for a in zip(*B, strict=True)]
    speeds = back_substitute(factorise(square), [dot(column, relative) for column in heavy])
    return _formulation(graph, names, B, velocities, sigma, speeds)


def of_chosen(system: System, names: Sequence[str], quasi_velocities: Sequence[sm.Expr]) -> Formulation:
    """u = W q̇ + w as chosen; with A q̇ + b = 0 it is solved for q̇ by the factors of G Gᵀ, G = [W; A]."""
    graph = graph_of(system)
    u = [expression(name) for name in names]
    chosen = [convert(e, graph.symbols) for e in quasi_velocities]
    W, rates = total_derivative(chosen, graph.q, graph.v)
    G = [*(row for row in W), *graph.A]
    factors = factorise([[dot(a, b) for b in G] for a in G])

    def solved(right: list[Expression]) -> list[Expression]:
        pulls = back_substitute(factors, right)
        return [dot([row[j] for row in G], pulls) for j in range(len(graph.v))]

    speeds = chosen
    still = subs([*speeds, *graph.constraints], dict.fromkeys(graph.v, ZERO))
    shifted = [x - s for x, s in zip([*u, *[ZERO] * len(graph.A)], still, strict=True)]
    velocities = solved(shifted)
    unit = [[expression(float(i == r)) for i in range(len(G))] for r in range(len(u))]
    B = [list(row) for row in zip(*(solved(column) for column in unit), strict=True)]
    rest = subs([-r for r in (*rates, *graph.gamma)], dict(zip(graph.v, velocities, strict=True)))
    return _formulation(graph, names, B, velocities, solved(list(rest)), speeds)


@dataclass(frozen=True, eq=False)
class CarriedBasis(Formulation):
    """An orthonormal basis B of the velocities that the constraints allow, as part of the state."""

    @cached_property
    def _constraints(self) -> Compiled:
        return Compiled([e for row in self.graph.A for e in row], self.graph.q)

    def state(self, q: Any, v: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """q, u = Bᵀq̇ and B, the null space of A at q by its singular vectors."""
        qv = self.coordinates_and_velocities(q, v)
        n, m = len(self.graph.q), len(self.graph.A)
        rows = self._constraints(qv[:n], numbers_of(case), time).reshape(m, n, -1)
        B = np.linalg.svd(np.moveaxis(rows, 2, 0))[2][:, m:]  # [state, r, coordinate]
        u = np.einsum("srj,js->rs", B, qv[n:].reshape(n, -1))
        carried = np.moveaxis(B, 0, 2).transpose(1, 0, 2).reshape(n * (n - m), -1)
        return np.concatenate([qv[:n], *(each.reshape(-1, *qv.shape[1:]) for each in (u, carried))])


def on_carried_basis(system: System, names: Sequence[str]) -> CarriedBasis:
    """Ḃ = −A⁺Ȧ B keeps A B = 0 and BᵀB = 1 along every motion, and needs nothing but the full rank of A.

    No basis that depends on the configuration alone does so in general: on a sphere every field of directions has a
    zero. With u = Bᵀq̇: q̇ = B u − A⁺b and q̈ = B u̇ − B Ḃᵀq̇ − A⁺γ.
    """
    graph = graph_of(system)
    n, k = len(graph.q), len(names)
    u = [expression(name) for name in names]
    labels = [[f"B_{coordinate}_{name}" for name in names] for coordinate in system.coordinate_names]
    B = [[expression(label) for label in row] for row in labels]
    A, _ = total_derivative(graph.constraints, graph.q, graph.v)
    rates = total_derivative([e for row in A for e in row], graph.q, graph.v)[1]
    A_dot = [rates[i * n : (i + 1) * n] for i in range(len(A))]
    factors = factorise([[dot(a, b) for b in graph.A] for a in graph.A])

    def pseudo_inverse(right: list[Expression]) -> list[Expression]:
        pulls = back_substitute(factors, right)
        return [dot([row[j] for row in graph.A], pulls) for j in range(n)]

    still = subs(graph.constraints, dict.fromkeys(graph.v, ZERO))
    velocities = [dot(row, u) - x for row, x in zip(B, pseudo_inverse(still), strict=True)]
    moving = dict(zip(graph.v, velocities, strict=True))
    A_dot = [subs(row, moving) for row in A_dot]
    turned = [pseudo_inverse([dot(row, column) for row in A_dot]) for column in zip(*B, strict=True)]
    B_dot = [[-turned[r][j] for r in range(k)] for j in range(n)]
    drift = [dot([row[r] for row in B_dot], velocities) for r in range(k)]  # Ḃᵀq̇
    along = pseudo_inverse(subs(graph.gamma, moving))
    sigma = [-(dot(row, drift) + x) for row, x in zip(B, along, strict=True)]
    found = _formulation(graph, names, B, velocities, sigma, [])
    flow = flow_of(
        system,
        [*names, *(label for row in labels for label in row)],
        [*found.flow.expressions[n:], *(e for row in B_dot for e in row)],
        velocities,
        found.flow.reaction_expressions,
    )
    return CarriedBasis(flow, [], found.acceleration_expressions)


def _formulation(
    graph: Graph,
    names: Sequence[str],
    B: Matrix,
    velocities: list[Expression],
    sigma: list[Expression],
    speeds: list[Expression],
) -> Formulation:
    """(BᵀM B) u̇ = −Bᵀ(M σ + h); afterwards p from A Aᵀp = −A(M q̈ + h)."""
    h = subs(graph.h, dict(zip(graph.v, velocities, strict=True)))
    columns = [list(column) for column in zip(*B, strict=True)]
    inertia = [[dot(row, column) for row in graph.M] for column in columns]  # M B, column by column
    push = [sum_of([dot(row, sigma), x]) for row, x in zip(graph.M, h, strict=True)]
    reduced = [[dot(a, b) for b in inertia] for a in columns]
    rates = back_substitute(factorise(reduced), [-dot(column, push) for column in columns])
    accelerations = [sum_of([dot(row, rates), s]) for row, s in zip(B, sigma, strict=True)]
    balance = [sum_of([dot(row, accelerations), x]) for row, x in zip(graph.M, h, strict=True)]
    square = [[dot(a, b) for b in graph.A] for a in graph.A]
    p = back_substitute(factorise(square), [-dot(row, balance) for row in graph.A])
    return Formulation(flow_of(graph.system, names, rates, velocities, p), speeds, accelerations)
