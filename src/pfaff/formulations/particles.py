"""D'Alembert's principle and Newton's law for the particles, eliminated to accelerations and multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.compiled import Compiled
from pfaff.flow import numbers_of
from pfaff.formulations.formulation import Formulation, flow_of
from pfaff.lowering import CLOCK, Expression, convert, dot, graph_of, timed, total_derivative
from pfaff.system import System
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound


@dataclass(frozen=True, eq=False)
class ParticleFormulation(Formulation):
    """In coordinates and velocities, with the reaction N = m R̈ − F on every particle."""

    reaction_components: Sequence[Expression] = field(repr=False, default=())

    def particle_reactions(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """All components of N, particle by particle."""
        return self._components(np.asarray(x, dtype=float), numbers_of(case), time)

    @cached_property
    def _components(self) -> Compiled:
        return Compiled(self.reaction_components, self.flow.variables, quick=True)


def by_particles(system: System) -> ParticleFormulation:
    """Σ (F − m R̈)·∂R/∂q_j = (Aᵀp)_j with R̈ = J q̈ + ρ, ρ the part without accelerations."""
    graph, s = graph_of(system), system.statement
    symbols = {**graph.symbols, s.time: CLOCK}
    masses = [convert(each.mass, symbols) for each in s.particles for _ in each.position]
    positions = [convert(e, symbols) for each in s.particles for e in each.position]
    forces = timed([convert(e, symbols) for each in s.particles for e in each.force or ()])
    motion = total_derivative(positions, graph.q, graph.v)[1]  # Ṙ = J q̇ + ∂R/∂t
    rows, rest = total_derivative(motion, graph.q, graph.v)
    J, rho = [timed(row) for row in rows], timed(rest)
    n = len(graph.q)
    inertia = [m * r - f for m, r, f in zip(masses, rho, forces, strict=True)]
    by_coordinate = [[row[j] for row in J] for j in range(n)]
    weighted = [[m * x for m, x in zip(masses, column, strict=True)] for column in by_coordinate]
    M = [[dot(by_coordinate[i], weighted[j]) for j in range(n)] for i in range(n)]
    accelerations, p = replace(graph, M=M, h=[dot(column, inertia) for column in by_coordinate]).solve()
    N = [m * dot(row, accelerations) + x for m, row, x in zip(masses, J, inertia, strict=True)]
    speeds = [f"{name}_dot" for name in system.coordinate_names]
    flow = flow_of(system, speeds, accelerations, graph.v, p)
    return ParticleFormulation(flow, graph.v, accelerations, N)
