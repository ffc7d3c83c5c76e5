"""D'Alembert's principle: Σ (F − m R̈)·δR = 0 for every virtual displacement that the constraints allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sm

from pfaff import doors
from pfaff.errors import StatementError
from pfaff.principles.principle import Principle
from pfaff.principles.typeset import Step, lines, typeset, vanishing, variation_of
from pfaff.statement.descriptions import check_forces
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.principles.particle_flows import ParticleFormulation


@dataclass(frozen=True, eq=False)
class ParticleEquations(Principle):
    """What d'Alembert's principle and Newton's law share: the particles, their accelerations and displacements."""

    def __post_init__(self) -> None:
        if not self.system.particles:
            raise StatementError(
                f"{self.name} needs the positions: give particles=[Particle(m, (x, y), force)], all masses of "
                f"{self.system.name} with the active forces on them"
            )
        check_forces(self.system)

    @cached_property
    def particle_accelerations(self) -> list[list[sm.Expr]]:
        """R̈ of every particle, in plain symbols."""
        return [[self._rate(self._rate(e)) for e in each.position] for each in self._statement.particles]

    @cached_property
    def displacements(self) -> list[sm.Matrix]:
        """∂R/∂q of every particle, in plain symbols: δR = ∂R/∂q δq."""
        s = self._statement
        return [sm.Matrix([[sm.diff(e, q) for q in s.q] for e in each.position]) for each in s.particles]

    @cached_property
    def formulation(self) -> ParticleFormulation:
        return doors.particle_flows.by_particles(self.system)

    def _particle_steps(self) -> list[Step]:
        s = self._statement
        positions = [(f"R_{{{k}}}", _column(self._stated(sm.Matrix(p.position)))) for k, p in enumerate(s.particles, 1)]
        second = [
            (rf"\ddot{{R}}_{{{k}}}", _column(self._stated(sm.Matrix(a)).applyfunc(sm.expand)))
            for k, a in enumerate(self.particle_accelerations, 1)
        ]
        forces = [(f"F_{{{k}}}", _column(self._stated(sm.Matrix(p.force)))) for k, p in enumerate(s.particles, 1)]
        return [("Positions", lines(positions)), ("Accelerations", lines(second)), ("Active forces", lines(forces))]

    def _displacement_step(self) -> Step:
        delta = sm.Matrix([variation_of(q) for q in self.system.coordinates])
        rows = [(rf"\delta R_{{{k}}}", _column(self._stated(J) * delta)) for k, J in enumerate(self.displacements, 1)]
        return "Virtual displacements", lines(rows)


@dataclass(frozen=True, eq=False)
class DAlembertEquations(ParticleEquations):
    """−Σ (F − m R̈)·∂R/∂q_j + (Aᵀp)_j = 0 and A q̇ + b = 0: the multipliers p restrict δq to A δq = 0."""

    name = "dalembert"

    @property
    def unknowns(self) -> tuple[sm.Expr, ...]:
        return (*self.system.coordinates, *self.multipliers)

    @property
    def dynamical(self) -> int:
        return len(self.system.coordinates)

    @cached_property
    def motion(self) -> sm.Matrix:
        rows = sm.Matrix(self._constraint_forces())
        for each, acceleration, J in zip(
            self._statement.particles, self.particle_accelerations, self.displacements, strict=True
        ):
            rows += J.T * (each.mass * sm.Matrix(acceleration) - sm.Matrix(each.force))
        return self._stated(rows)

    @property
    def equations(self) -> sm.Matrix:
        return self.motion.col_join(self.constraints)

    def steps(self) -> list[Step]:
        return [
            *self._particle_steps(),
            self._displacement_step(),
            (
                "D'Alembert's principle",
                r"\sum_\alpha \left(F_\alpha - m_\alpha \ddot{R}_\alpha\right) \cdot \delta R_\alpha &= 0",
            ),
            *self._constraint_step(),
            ("Equations of motion", vanishing(self.motion)),
        ]


def _column(matrix: sm.Matrix) -> str:
    return typeset(matrix)
