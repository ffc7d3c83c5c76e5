"""Hamilton's equations q̇ = ∂H/∂π, π̇ = −∂H/∂q + Qⁿᶜ − Aᵀp in coordinates and momenta."""

from __future__ import annotations

from collections.abc import Sequence

from pfaff.flow.differentiation import gradient
from pfaff.flow.graph import ZERO, Expression, expression, subs, sum_of
from pfaff.flow.lagrangian import back_substitute, dot, factorise, graph_of, total_derivative
from pfaff.principles.formulation import Formulation, flow_of
from pfaff.statement import System


def hamilton(system: System, momenta: Sequence[str]) -> Formulation:
    """H = ½ (π − a)ᵀM⁻¹(π − a) + V − T₀ of T = ½ q̇ᵀM q̇ + aᵀq̇ + T₀, differentiated as it stands.

    The multipliers follow from A q̇ + b = 0 differentiated, with M q̈ = π̇ − (Ṁ q̇ + ȧ). Where M is regular on the
    constraints only, T + ½ cᵀS c with c = A q̇ + b has the same momenta and motions, and a regular M.
    """
    graph = graph_of(system)
    pi = [expression(name) for name in momenta]
    held = zip(graph.elimination.weights, graph.constraints, strict=False)
    kinetic = sum_of([graph.kinetic, *(s * c * c / 2.0 for s, c in held)])
    impulses = gradient(kinetic, graph.v)
    inertia, transport = total_derivative(impulses, graph.q, graph.v)
    *a, T0 = subs([*impulses, kinetic], dict.fromkeys(graph.v, ZERO))
    mass = factorise(inertia if graph.elimination.weights else graph.M)
    relative = [p - x for p, x in zip(pi, a, strict=True)]
    velocities = back_substitute(mass, relative)
    H = sum_of([dot(relative, velocities) / 2.0, -T0, graph.potential])

    def in_momenta(expressions: list[Expression]) -> list[Expression]:
        return subs(expressions, dict(zip(graph.v, velocities, strict=True)))

    drag = gradient(graph.dissipation, graph.v)
    active = in_momenta([force - d for force, d in zip(graph.forces, drag, strict=True)])
    push = [Q - dH for Q, dH in zip(active, gradient(H, graph.q), strict=True)]
    free = back_substitute(mass, [f - x for f, x in zip(push, in_momenta(transport), strict=True)])
    columns = [back_substitute(mass, row) for row in graph.A]
    schur = [[dot(row, column) for column in columns] for row in graph.A]
    excess = [dot(row, free) + g for row, g in zip(graph.A, in_momenta(graph.gamma), strict=True)]
    p = back_substitute(factorise(schur), excess)
    rates = [f - dot([row[j] for row in graph.A], p) for j, f in enumerate(push)]
    accelerations = [x - dot([column[j] for column in columns], p) for j, x in enumerate(free)]
    return Formulation(flow_of(system, momenta, rates, velocities, p), impulses, accelerations)
