"""Newton's second law for every particle, m R̈ = F + N, with the reactions N as unknowns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.principles.dalembert import ParticleEquations
from pfaff.principles.typeset import Step, vanishing
from pfaff.statement.told import answering
from pfaff.threads import cached_property

if TYPE_CHECKING:
    import numpy as np

    from pfaff.case import Bound

AXES = "xyz"


@answering
@dataclass(frozen=True, eq=False)
class NewtonEquations(ParticleEquations):
    """m R̈ − F − N = 0 with ideal reactions, Σ N·∂R/∂q_j + (Aᵀp)_j = 0, and A q̇ + b = 0."""

    name = "newton"

    @cached_property
    def reactions(self) -> list[sm.Matrix]:
        """N of every particle as functions of time: ``N1_x``, ``N1_y``, …"""
        t = self.system.time
        return [
            sm.Matrix([sm.Function(f"N{k}_{axis}")(t) for axis in AXES[: len(each.position)]])
            for k, each in enumerate(self._statement.particles, 1)
        ]

    @property
    def unknowns(self) -> tuple[sm.Expr, ...]:
        return (*self.system.coordinates, *(N for each in self.reactions for N in each), *self.multipliers)

    @property
    def dynamical(self) -> int:
        return sum(len(each.position) for each in self._statement.particles)

    @cached_property
    def motion(self) -> sm.Matrix:
        """m R̈ − F − N, component by component."""
        rows = [
            self._stated(each.mass * sm.Matrix(acceleration) - sm.Matrix(each.force)) - N
            for each, acceleration, N in zip(
                self._statement.particles, self.particle_accelerations, self.reactions, strict=True
            )
        ]
        return sm.Matrix.vstack(*rows)

    @cached_property
    def ideality(self) -> sm.Matrix:
        """Σ N·∂R/∂q_j + (Aᵀp)_j: reactions do no work but through the constraints that are stated."""
        rows = self._stated(sm.Matrix(self._constraint_forces()))
        for N, J in zip(self.reactions, self.displacements, strict=True):
            rows += self._stated(J).T * N
        return rows

    @property
    def equations(self) -> sm.Matrix:
        return sm.Matrix.vstack(self.motion, self.ideality, self.constraints)

    def particle_reactions(
        self, q: Any, v: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0
    ) -> np.ndarray:
        """N at coordinates and velocities, all components particle by particle."""
        return self.formulation.unknowns(self.formulation.state(q, v, case, time), case, time)[-1]

    def steps(self) -> list[Step]:
        return [
            *self._particle_steps(),
            ("Newton's second law, with reactions", vanishing(self.motion)),
            ("Ideal reactions", vanishing(self.ideality)),
            *self._constraint_step(),
        ]
