"""D'Alembert's principle and Newton's law for the particles, eliminated to accelerations and multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pfaff.flow.conversion import convert
from pfaff.flow.graph import Expression
from pfaff.flow.lagrangian import Graph, dot, graph_of, total_derivative
from pfaff.principles.formulation import Formulation, flow_of
from pfaff.statement import System


@dataclass(frozen=True, eq=False)
class ParticleFormulation(Formulation):
    """In coordinates and velocities, with the reaction N = m R̈ − F on every particle."""

    reaction_components: Sequence[Expression] = field(repr=False)
    balance: Graph = field(repr=False)  # with M and h as the particles make them

    @property
    def graph(self) -> Graph:
        return self.balance

    @property
    def parts(self) -> list[Sequence[Expression]]:
        """And the reactions on the particles, all components of one after the other."""
        return [*super().parts, self.reaction_components]


def by_particles(system: System) -> ParticleFormulation:
    """Σ (F − m R̈)·∂R/∂q_j = (Aᵀp)_j with R̈ = J q̈ + ρ, ρ the part without accelerations."""
    graph, s = graph_of(system), system.statement
    masses = [convert(each.mass, graph.symbols) for each in s.particles for _ in each.position]
    positions = [convert(e, graph.symbols) for each in s.particles for e in each.position]
    forces = [convert(e, graph.symbols) for each in s.particles for e in each.force or ()]
    motion = total_derivative(positions, graph.q, graph.v)[1]  # Ṙ = J q̇ + ∂R/∂t
    J, rho = total_derivative(motion, graph.q, graph.v)
    n = len(graph.q)
    inertia = [m * r - f for m, r, f in zip(masses, rho, forces, strict=True)]
    by_coordinate = [[row[j] for row in J] for j in range(n)]
    weighted = [[m * x for m, x in zip(masses, column, strict=True)] for column in by_coordinate]
    M = [[dot(by_coordinate[i], weighted[j]) for j in range(n)] for i in range(n)]
    balance = replace(graph, M=M, h=[dot(column, inertia) for column in by_coordinate])
    accelerations, p = balance.solve()
    N = [m * dot(row, accelerations) + x for m, row, x in zip(masses, J, inertia, strict=True)]
    speeds = list(system.velocity_names)
    flow = flow_of(system, speeds, accelerations, graph.v, p)
    return ParticleFormulation(flow, graph.v, accelerations, N, balance)
