"""Appell's equations ∂𝒢/∂u̇ = Q*: the Gibbs function of the accelerations, in quasi-velocities.

Náprstek and Fischer, Lagrange and Appell–Gibbs approaches in problems of non-holonomic dynamic systems, Eqs. (4), (5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.errors import RankError
from pfaff.principles.kinematics import (
    automatic_names,
    checked_quasi_velocities,
    readable,
    simple_basis,
    solved_for_velocities,
)
from pfaff.principles.lagrange import LagrangeEquations
from pfaff.principles.principle import Principle
from pfaff.principles.typeset import Step, bold, lines, shorter, typeset, vanishing
from pfaff.statement.told import answering
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.principles.formulation import Formulation


@answering
@dataclass(frozen=True, eq=False)
class AppellEquations(Principle):
    """k = n − l equations in quasi-velocities u, with q̇ = B u + β and A B = 0.

    ``quasi_velocities`` are chosen by name, ``{"u1": x.diff(t)*cos(phi) + y.diff(t)*sin(phi), …}``, or as a list.
    Without a choice B is one that has full rank wherever the constraints are independent: made without divisions where
    that can be done, else an orthonormal one that the motion carries along (Ḃ with AḂ = −ȦB, BᵀḂ = 0) as further
    unknowns.

    The Gibbs function follows from the kinetic energy: 𝒢 = ½ q̈ᵀM q̈ + q̈ᵀ(d/dt ∂T/∂q̇ − ∂T/∂q − M q̈), up to terms
    without accelerations.
    """

    quasi_velocities: Mapping[str, Any] | None = None
    name = "appell"

    def __post_init__(self) -> None:
        if self.quasi_velocities is not None:
            checked = checked_quasi_velocities(self.system, self.quasi_velocities)
            object.__setattr__(self, "quasi_velocities", checked)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The quasi-velocities by name."""
        if self.quasi_velocities is not None:
            return tuple(self.quasi_velocities)
        return automatic_names(self.system, len(self._statement.q) - len(self._statement.constraints))

    @property
    def unknowns(self) -> tuple[sm.Expr, ...]:
        t = self.system.time
        carried = [sm.Function(e.name)(t) for e in self._kinematics[0]] if self.carried else []
        return (*(sm.Function(name)(t) for name in self.names), *self.system.coordinates, *carried)

    @cached_property
    def carried(self) -> bool:
        """Whether the basis is carried along by the motion, for want of a simple one."""
        return self.quasi_velocities is None and simple_basis(self.system) is None

    @property
    def dynamical(self) -> int:
        return len(self.names)

    @property
    def basis(self) -> sm.Matrix:
        """B, one column for each quasi-velocity."""
        return self._stated(self._kinematics[0])

    @property
    def offset(self) -> sm.Matrix:
        """β: the velocities that the constraints prescribe where u = 0."""
        return self._stated(self._kinematics[1])

    @cached_property
    def gibbs_function(self) -> sm.Expr:
        """𝒢 = ½ u̇ᵀ(BᵀM B) u̇ + u̇ᵀBᵀ(M σ + c): the terms with accelerations, q̈ = B u̇ + σ."""
        inertia, linear = self._gibbs
        rates = self._rates
        return self._stated((rates.T * inertia * rates / 2 + rates.T * linear)[0] if self.names else sm.S.Zero)

    @cached_property
    def _gibbs(self) -> tuple[sm.Matrix, sm.Matrix]:
        """BᵀM B and Bᵀ(M σ + c) in plain symbols, c the inertial forces without accelerations."""
        s, (B, _) = self._statement, self._kinematics
        c = sm.Matrix([self._transport(sm.diff(s.kinetic, v)) - sm.diff(s.kinetic, q) for q, v in self._pairs])
        M = self._on_constraints(sm.hessian(s.kinetic, s.v))
        return self._tidy(B.T * M * B), self._tidy(B.T * (M * self._drift + self._on_constraints(c)))

    @cached_property
    def generalised_forces(self) -> sm.Matrix:
        """Q* = Bᵀ(Q − ∂V/∂q − ∂D/∂q̇), by the power of the forces in virtual velocities."""
        s = self._statement
        active = [
            force - sm.diff(s.potential, q) - sm.diff(s.dissipation, v)
            for (q, v), force in zip(self._pairs, s.forces, strict=True)
        ]
        B = self._kinematics[0]
        return self._stated(self._tidy(B.T * self._on_constraints(sm.Matrix(active))))

    @cached_property
    def motion(self) -> sm.Matrix:
        """∂𝒢/∂u̇ − Q*, one for each quasi-velocity; of the quadratic form 𝒢 that is a product of matrices."""
        inertia, linear = self._gibbs
        return self._stated(inertia * self._rates + linear) - self.generalised_forces

    @cached_property
    def kinematics(self) -> sm.Matrix:
        """q̇ − B u − β, and what a carried basis obeys."""
        B, beta = self._kinematics
        rows = sm.Matrix(list(self._statement.v)) - B * self._u - beta
        if self.carried:
            A = self._constraint_matrix
            drift = self._on_constraints(A.applyfunc(self._transport)) * B + A * self._basis_rates
            rows = rows.col_join(sm.Matrix([*drift, *(B.T * self._basis_rates)]))
        return self._stated(rows)

    @property
    def equations(self) -> sm.Matrix:
        return self.motion.col_join(self.kinematics)

    @cached_property
    def formulation(self) -> Formulation:
        if self.quasi_velocities is not None:
            return doors.appell_flow.of_chosen(self.system, self.names, list(self.quasi_velocities.values()))
        return (
            doors.appell_flow.on_carried_basis(self.system, self.names)
            if self.carried
            else doors.appell_flow.on_basis(self.system, self.names, *self._kinematics)
        )

    def solve(
        self, q: Any, v: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        found = super().solve(q, v, case, time)
        if self.quasi_velocities is not None and not all(np.isfinite(each).all() for each in found):
            raise RankError(
                f"the quasi-velocities {', '.join(self.names)} depend on each other or on the constraints at this "
                "state: choose others, or leave the choice out"
            )
        return found

    def steps(self) -> list[Step]:
        t = self.system.time
        chosen = [(self._tex(name), self._stated(e)) for name, e in (self.quasi_velocities or {}).items()]
        velocities = zip(self.system.coordinates, self._stated(self._velocities), strict=True)
        rows = [(typeset(q.diff(t)), v) for q, v in velocities]
        allowed: list[Step] = [("Velocities that the constraints allow", lines(rows))]
        return [
            *self._energy_steps(),
            *self._constraint_step(),
            *([("Quasi-velocities", lines(chosen))] if chosen else []),
            *(self._carried_steps() if self.carried else [*allowed, *self._motion_steps()]),
            *([("Reactions, afterwards", bold(r"A A^T p &= -A (M \ddot{q} + h)"))] if len(self.constraints) else []),
        ]

    def _motion_steps(self) -> list[Step]:
        forces = zip(self.names, self.generalised_forces, strict=True)
        return [
            ("Gibbs function, up to terms without accelerations", lines([(r"\mathcal{G}", self.gibbs_function)])),
            ("Generalised forces, by virtual power", lines((f"Q^{{*}}_{{{self._tex(x)}}}", f) for x, f in forces)),
            ("Equations of motion", vanishing(self.motion)),
        ]

    def _carried_steps(self) -> list[Step]:
        """In matrices: written out, the entries of B would hide the equations."""
        lagrange = LagrangeEquations(self.system)
        M, h = (typeset(matrix.applyfunc(shorter)) for matrix in (lagrange.mass_matrix, lagrange.forcing))
        moved = any(self._kinematics[1])
        drift = r"\dot{B} u + \dot{\beta}" if moved else r"\dot{B} u"
        allowed = r"B u + \beta, \quad \beta = -A^+ b" if moved else "B u"
        return [
            (
                "Velocities that the constraints allow, in a basis that the motion carries along",
                bold(
                    lines([(r"\dot{q}", allowed), ("A B", "0"), ("B^T B", "1"), (r"\dot{B}", r"-A^+ \dot{A} B")])
                    + r", \quad A^+ = A^T (A A^T)^{-1}"
                ),
            ),
            ("Inertia, and forces with the inertial ones", lines([(bold("M"), M), (bold("h"), h)])),
            (
                "Gibbs function with the power of the forces, up to terms without accelerations",
                bold(
                    r"\mathcal{G} - Q^{*} \cdot \dot{u} &= \tfrac{1}{2} \dot{u}^T B^T M B \dot{u} + "
                    rf"\dot{{u}}^T B^T \left(M ({drift}) + h\right)"
                ),
            ),
            ("Equations of motion", bold(rf"B^T M B \dot{{u}} + B^T \left(M ({drift}) + h\right) &= 0")),
        ]

    @property
    def _pairs(self) -> list[tuple[sm.Symbol, sm.Symbol]]:
        return list(zip(self._statement.q, self._statement.v, strict=True))

    @property
    def _constraint_matrix(self) -> sm.Matrix:
        s = self._statement
        entries = [sm.diff(c, v) for c in s.constraints for v in s.v]
        return sm.Matrix(len(s.constraints), len(s.v), entries)

    @property
    def _u(self) -> sm.Matrix:
        return sm.Matrix(len(self.names), 1, [sm.Symbol(name, real=True) for name in self.names])

    @property
    def _rates(self) -> sm.Matrix:
        return self._u.applyfunc(_rate_symbol)

    @property
    def _basis_rates(self) -> sm.Matrix:
        return self._kinematics[0].applyfunc(_rate_symbol)

    @cached_property
    def _kinematics(self) -> tuple[sm.Matrix, sm.Matrix]:
        """B and β in plain symbols."""
        s = self._statement
        if self.quasi_velocities is not None:
            return solved_for_velocities(s, list(self.quasi_velocities.values()))
        if not self.carried:
            simple = simple_basis(self.system)
            assert simple is not None
            return simple
        A, still = self._constraint_matrix, [c.xreplace(dict.fromkeys(s.v, sm.S.Zero)) for c in s.constraints]
        labels = [f"B_{x.name}_{name}" for x in s.q for name in self.names]
        B = sm.Matrix(len(s.q), len(self.names), [sm.Symbol(label, real=True) for label in labels])
        if not any(still):
            return B, sm.zeros(len(s.q), 1)
        return B, -A.T * (A * A.T).inv("ADJ") * sm.Matrix(still)

    @cached_property
    def _velocities(self) -> sm.Matrix:
        B, beta = self._kinematics
        return B * self._u + beta

    @cached_property
    def _drift(self) -> sm.Matrix:
        """σ of q̈ = B u̇ + σ."""
        if self.carried:
            beta = self._kinematics[1]
            return self._basis_rates * self._u + self._on_constraints(beta.applyfunc(self._transport))
        return self._on_constraints(self._velocities.applyfunc(self._transport))

    def _tidy(self, matrix: sm.Matrix) -> sm.Matrix:
        # With a basis of symbols there is nothing to cancel, and much to expand.
        return matrix if self.carried else matrix.applyfunc(readable)

    def _transport(self, expression: sm.Expr) -> sm.Expr:
        """The part of d/dt without accelerations."""
        return sum((sm.diff(expression, q) * v for q, v in self._pairs), sm.diff(expression, self.system.time))

    def _on_constraints(self, matrix: sm.Matrix) -> sm.Matrix:
        return matrix.xreplace(dict(zip(self._statement.v, self._velocities, strict=True)))

    def _stated(self, expression: Any) -> Any:
        t = self.system.time
        functions = {x: sm.Function(x.name)(t) for x in (*self._u, *(self._kinematics[0] if self.carried else ()))}
        rates = {_rate_symbol(x): f.diff(t) for x, f in functions.items()}
        return super()._stated(expression).xreplace({**functions, **rates})


def _rate_symbol(symbol: sm.Symbol) -> sm.Symbol:
    return sm.Symbol(f"{symbol.name} rate", real=True)
