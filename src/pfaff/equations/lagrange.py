"""Lagrange's equations with multipliers: d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q + ∂D/∂q̇ − Q + Aᵀp = 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sm
from sympy.simplify.fu import TR8

from pfaff.system import System


@dataclass(frozen=True)
class LagrangeEquations:
    """M q̈ + h + Aᵀp = 0 with A q̈ + γ = 0, as SymPy matrices in the user's own symbols.

    The reaction p multiplies +A on the left-hand side: the generalised force that the constraints
    exert on the system is −Aᵀp.
    """

    system: System

    @cached_property
    def mass_matrix(self) -> sm.Matrix:
        s = self.system.statement
        return self._stated(sm.hessian(s.kinetic, s.v))

    @cached_property
    def forcing(self) -> sm.Matrix:
        """h: everything in the equations of motion but the accelerations and reactions."""
        s = self.system.statement
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
        s = self.system.statement
        rows = [[sm.diff(c, v) for v in s.v] for c in s.constraints]
        return self._stated(sm.Matrix(len(rows), len(s.v), [e for row in rows for e in row]))

    @cached_property
    def constraint_forcing(self) -> sm.Matrix:
        """γ of A q̈ + γ = 0, the time derivative of the constraints."""
        s = self.system.statement
        rows = [
            sum((sm.diff(c, q) * v for q, v in zip(s.q, s.v, strict=True)), sm.diff(c, s.time)) for c in s.constraints
        ]
        return self._stated(sm.Matrix(len(rows), 1, rows))

    @cached_property
    def multipliers(self) -> sm.Matrix:
        t = self.system.time
        names = self.system.reaction_names if self.system.statement.constraints else ()
        return sm.Matrix(len(names), 1, [sm.Function(name)(t) for name in names])

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
    def constraints(self) -> sm.Matrix:
        """The left-hand sides A q̇ + b."""
        s = self.system.statement
        return self._stated(sm.Matrix(len(s.constraints), 1, list(s.constraints)))

    def latex(self) -> str:
        """The equations of motion and the constraints, each equal to zero, as an ``align*`` block."""
        from sympy.physics.vector import vlatex

        lines = [rf"{vlatex(_short(e))} &= 0 \\" for e in (*self.motion, *self.constraints)]
        return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])

    def _stated(self, matrix: sm.Matrix) -> sm.Matrix:
        return matrix.xreplace({plain: stated for stated, plain in self.system.statement.to_plain.items()})


def _short(expression: sm.Expr) -> sm.Expr:
    """Products of sines and cosines as those of sums of angles: what a chain of bars asks for, and quick."""
    return sm.expand(TR8(sm.expand(expression)))
