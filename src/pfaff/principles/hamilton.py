"""Hamilton's principle ∫(δT − δV + δWⁿᶜ) dt = 0, carried out, and Hamilton's equations in momenta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sm

from pfaff import doors
from pfaff.errors import StatementError
from pfaff.principles.principle import Principle
from pfaff.principles.typeset import Step, lines, simplified, sum_of, typeset, vanishing, variation_of
from pfaff.statement.inertia import singular_alone
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.principles.formulation import Formulation


@dataclass(frozen=True, eq=False)
class HamiltonEquations(Principle):
    """π = ∂T/∂q̇, π̇ = ∂(T − V)/∂q + Qⁿᶜ − Aᵀp: Hamilton's equations, where ∂L/∂q at constant q̇ is −∂H/∂q at constant π.

    ``euler_lagrange`` are the same with the momenta eliminated, as the variation gives them; ``hamiltonian`` is
    H(q, π, t) with M inverted. Momenta are called ``pi_`` and the coordinate; p stays the reaction.
    """

    name = "hamilton"

    def __post_init__(self) -> None:
        system = self.system
        for name in (*system.coordinate_names, *system.parameter_names):
            if name in self.momentum_names:
                raise StatementError(f"{name!r} is the name of a momentum: rename the coordinate or parameter")

    @property
    def momentum_names(self) -> tuple[str, ...]:
        return tuple(f"pi_{name}" for name in self.system.coordinate_names)

    @property
    def momenta(self) -> sm.Matrix:
        return sm.Matrix([sm.Function(name)(self.system.time) for name in self.momentum_names])

    @property
    def unknowns(self) -> tuple[sm.Expr, ...]:
        return (*self.system.coordinates, *self.momenta, *self.multipliers)

    @property
    def dynamical(self) -> int:
        return len(self.system.coordinates)

    @cached_property
    def variations(self) -> tuple[list[sm.Expr], list[sm.Expr]]:
        """Coefficients of δq and δq̇ in δ(T − V) = d/dε (T − V)(q + ε δq, q̇ + ε δq̇, t) at ε = 0, in plain symbols."""
        s, epsilon = self._statement, sm.Dummy("epsilon")
        eta = [sm.Dummy(f"delta_{x.name}") for x in (*s.q, *s.v)]
        varied = {x: x + epsilon * d for x, d in zip((*s.q, *s.v), eta, strict=True)}
        variation = sm.diff((s.kinetic - s.potential).xreplace(varied), epsilon).xreplace({epsilon: sm.S.Zero})
        coefficients = [sm.diff(variation, d) for d in eta]
        return coefficients[: len(s.q)], coefficients[len(s.q) :]

    @cached_property
    def virtual_work(self) -> list[sm.Expr]:
        """Qⁿᶜ_j of δWⁿᶜ = Σ Qⁿᶜ_j δq_j: what has no potential, dissipation included; in plain symbols."""
        s = self._statement
        return [force - sm.diff(s.dissipation, v) for force, v in zip(s.forces, s.v, strict=True)]

    @cached_property
    def euler_lagrange(self) -> sm.Matrix:
        """The factors of δq_j after integration by parts, the constraints A δq = 0 adjoined by p; they vanish."""
        along, across = self.variations
        rows = zip(along, across, self.virtual_work, self._constraint_forces(), strict=True)
        return self._stated(sm.Matrix([self._rate(b) - a - work + pull for a, b, work, pull in rows]))

    @cached_property
    def equations(self) -> sm.Matrix:
        t = self.system.time
        along, across = self.variations
        momenta = self.momenta - self._stated(sm.Matrix(across))
        rows = zip(self.momenta, along, self.virtual_work, self._constraint_forces(), strict=True)
        forces = sm.Matrix([pi.diff(t) - self._stated(a + work - pull) for pi, a, work, pull in rows])
        return sm.Matrix.vstack(momenta, forces, self.constraints)

    @cached_property
    def hamiltonian(self) -> sm.Expr:
        """H = ½ (π − a)ᵀM⁻¹(π − a) + V − T₀."""
        s = self._statement
        if singular_alone(self.system):
            raise StatementError(
                f"the mass matrix of {self.system.name} is singular without its constraints: momenta alone determine "
                "no velocities, and there is no Hamiltonian; the equations, which contain the constraints, hold"
            )
        rest = dict.fromkeys(s.v, sm.S.Zero)
        relative = self.momenta - sm.Matrix([sm.diff(s.kinetic, v) for v in s.v]).xreplace(rest)
        M = sm.hessian(s.kinetic, s.v)
        velocities = M.inv("ADJ") * relative if len(s.v) < 4 else M.LUsolve(relative)
        H = (relative.T * velocities)[0] / 2 + s.potential - s.kinetic.xreplace(rest)
        return self._stated(H)

    @property
    def canonical(self) -> sm.Matrix:
        """q̇ − ∂H/∂π, then π̇ + ∂H/∂q − Qⁿᶜ + Aᵀp, with q̇ = ∂H/∂π in them."""
        t, q = self.system.time, self.system.coordinates
        velocities = [sm.diff(self.hamiltonian, pi) for pi in self.momenta]
        known = {x.diff(t): v for x, v in zip(q, velocities, strict=True)}
        works = [
            self._stated(work - pull) for work, pull in zip(self.virtual_work, self._constraint_forces(), strict=True)
        ]
        return sm.Matrix(
            [x.diff(t) - v for x, v in zip(q, velocities, strict=True)]
            + [
                pi.diff(t) + sm.diff(self.hamiltonian, x) - work.xreplace(known)
                for pi, x, work in zip(self.momenta, q, works, strict=True)
            ]
        )

    @cached_property
    def formulation(self) -> Formulation:
        return doors.hamilton_flow.hamilton(self.system, self.momentum_names)

    def steps(self) -> list[Step]:
        along, across = (self._stated(sm.Matrix(e)) for e in self.variations)
        delta, delta_dot = self._delta
        work = zip(self._stated(sm.Matrix(self.virtual_work)), delta, strict=True)
        variations = [*zip(along, delta, strict=True), *zip(across, delta_dot, strict=True)]
        return [
            *self._energy_steps(),
            (
                "Hamilton's principle",
                r"\int_{t_1}^{t_2} \left(\delta \mathcal{T} - \delta \mathcal{V} + \delta W^{nc}\right) dt &= 0",
            ),
            (
                "Variations",
                lines([(r"\delta (\mathcal{T} - \mathcal{V})", sum_of(variations)), (r"\delta W^{nc}", sum_of(work))]),
            ),
            ("Momenta", lines((self._tex(n), b) for n, b in zip(self.momentum_names, across, strict=True))),
            self._parts_step(),
            *self._allowed_steps(),
            ("Equations of motion", vanishing(self.euler_lagrange)),
            *self._canonical_steps(),
        ]

    @property
    def _delta(self) -> tuple[list[sm.Symbol], list[sm.Symbol]]:
        t, q = self.system.time, self.system.coordinates
        return [variation_of(x) for x in q], [variation_of(x.diff(t)) for x in q]

    def _parts_step(self) -> Step:
        """∫ π δq̇ dt = [π δq] − ∫ π̇ δq dt, and δq vanishes at the ends."""
        rows = []
        for pi, dq, dv in zip(self.momenta, *self._delta, strict=True):
            momentum, rate, d = typeset(pi), typeset(pi.diff(self.system.time)), typeset(dq)
            whole = rf"\int_{{t_1}}^{{t_2}} {momentum} \, {typeset(dv)} \, dt"
            rows += [
                (whole, rf"\left[{momentum} \, {d}\right]_{{t_1}}^{{t_2}} - \int_{{t_1}}^{{t_2}} {rate} \, {d} \, dt"),
                (f"{d}(t_1) = {d}(t_2)", "0"),
            ]
        return "Integration by parts", lines(rows)

    def _allowed_steps(self) -> list[Step]:
        s = self._statement
        rows = [
            (sum_of((self._stated(sm.diff(c, v)), d) for v, d in zip(s.v, self._delta[0], strict=True)), "0")
            for c in s.constraints
        ]
        return [*self._constraint_step(), ("Variations that the constraints allow", lines(rows))] if rows else []

    def _canonical_steps(self) -> list[Step]:
        s = self._statement
        general = (
            "Hamilton's equations",
            r"\mathcal{H} &= \pi \cdot \dot{q} - (\mathcal{T} - \mathcal{V}), \quad "
            r"\dot{q} = \frac{\partial \mathcal{H}}{\partial \pi}, \quad "
            r"\dot{\pi} = -\frac{\partial \mathcal{H}}{\partial q} + Q^{nc}" + (" - A^T p" if s.constraints else ""),
        )
        # The inverse of a full mass matrix of many coordinates fills pages and says nothing.
        if singular_alone(self.system) or (len(s.v) > 2 and not sm.hessian(s.kinetic, s.v).is_diagonal()):
            return [general]
        return [
            general,
            ("Hamiltonian", lines([(r"\mathcal{H}", simplified(self.hamiltonian))])),
            ("Hamilton's equations, written out", vanishing(self.canonical.applyfunc(simplified))),
        ]
