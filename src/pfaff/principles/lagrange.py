"""Lagrange's equations with multipliers: d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q + ∂D/∂q̇ − Q + Aᵀp = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sm

from pfaff import doors
from pfaff.principles.principle import Principle
from pfaff.principles.typeset import Step, lines, short, typeset, vanishing
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.principles.formulation import Formulation


@dataclass(frozen=True, eq=False)
class LagrangeEquations(Principle):
    """M q̈ + h + Aᵀp = 0 with A q̈ + γ = 0, as SymPy matrices in the user's own symbols.

    The reaction p multiplies +A on the left-hand side: the generalised force that the constraints
    exert on the system is −Aᵀp.
    """

    name = "lagrange"

    @property
    def unknowns(self) -> tuple[sm.Expr, ...]:
        return (*self.system.coordinates, *self.multipliers)

    @property
    def equations(self) -> sm.Matrix:
        return self.motion.col_join(self.constraints)

    @property
    def dynamical(self) -> int:
        return len(self.system.coordinates)

    @cached_property
    def mass_matrix(self) -> sm.Matrix:
        s = self._statement
        return self._stated(sm.hessian(s.kinetic, s.v))

    @cached_property
    def forcing(self) -> sm.Matrix:
        """h: everything in the equations of motion but the accelerations and reactions."""
        s = self._statement
        T, V, D = s.kinetic, s.potential, s.dissipation
        momenta = [sm.diff(T, v) for v in s.v]
        rows = [
            sum((sm.diff(p, x) * v for x, v in zip(s.q, s.v, strict=True)), sm.diff(p, s.time))
            - sm.diff(T, q)
            + sm.diff(V, q)
            + sm.diff(D, w)
            - force
            for p, q, w, force in zip(momenta, s.q, s.v, s.forces, strict=True)
        ]
        return self._stated(sm.Matrix(rows))

    @cached_property
    def constraint_matrix(self) -> sm.Matrix:
        """A, one row for each constraint, the nonholonomic ones first."""
        s = self._statement
        rows = [[sm.diff(c, v) for v in s.v] for c in s.constraints]
        return self._stated(sm.Matrix(len(rows), len(s.v), [e for row in rows for e in row]))

    @cached_property
    def constraint_forcing(self) -> sm.Matrix:
        """γ of A q̈ + γ = 0, the time derivative of the constraints."""
        s = self._statement
        rows = [
            sum((sm.diff(c, q) * v for q, v in zip(s.q, s.v, strict=True)), sm.diff(c, s.time)) for c in s.constraints
        ]
        return self._stated(sm.Matrix(len(rows), 1, rows))

    @cached_property
    def accelerations(self) -> sm.Matrix:
        t = self.system.time
        return sm.Matrix([q.diff(t, 2) for q in self.system.coordinates])

    @cached_property
    def reaction_forces(self) -> sm.Matrix:
        """−Aᵀp: the generalised forces of the constraints on the system."""
        return -self.constraint_matrix.T * self.multipliers

    @cached_property
    def motion(self) -> sm.Matrix:
        """The left-hand sides M q̈ + h + Aᵀp, one for each coordinate."""
        return self.mass_matrix * self.accelerations + self.forcing - self.reaction_forces

    @cached_property
    def formulation(self) -> Formulation:
        return doors.formulation.lagrange(self.system)

    def steps(self) -> list[Step]:
        s = self._statement
        derivatives: list[tuple[str, sm.Expr]] = []
        for q, x, v in zip(self.system.coordinates, s.q, s.v, strict=True):
            tex, dot = typeset(q), typeset(q.diff(self.system.time))
            momentum = sm.diff(s.kinetic, v)
            derivatives += [
                (rf"\frac{{\partial \mathcal{{T}}}}{{\partial {dot}}}", self._stated(momentum)),
                (
                    rf"\frac{{d}}{{dt}} \frac{{\partial \mathcal{{T}}}}{{\partial {dot}}}",
                    self._stated(self._rate(momentum)),
                ),
                (rf"\frac{{\partial \mathcal{{T}}}}{{\partial {tex}}}", self._stated(sm.diff(s.kinetic, x))),
                (rf"\frac{{\partial \mathcal{{V}}}}{{\partial {tex}}}", self._stated(sm.diff(s.potential, x))),
            ]
        return [
            *self._energy_steps(),
            ("Derivatives", lines(derivatives)),
            *self._constraint_step(),
            ("Equations of motion", vanishing(self.motion)),
        ]

    def latex(self) -> str:
        """The equations of motion and the constraints, each equal to zero, as an ``align*`` block."""
        rows = [rf"{typeset(short(e))} &= 0 \\" for e in (*self.motion, *self.constraints)]
        return "\n".join([r"\begin{align*}", *rows, r"\end{align*}"])
