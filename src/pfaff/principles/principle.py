"""What every principle of mechanics gives: unknowns, equations, the way to them, and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.checks import Check
from pfaff.flow.flow import numbers_of
from pfaff.flow.statics import all_reactions
from pfaff.flow.verified_accelerations import verified_accelerations
from pfaff.principles.typeset import Step, document, lines, typeset, vanishing
from pfaff.statement import Statement, System
from pfaff.statement.told import answering
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.flow.flow import Flow
    from pfaff.principles.formulation import Formulation

VERIFIED = 4  # random states at which the equations are verified


@answering
@dataclass(frozen=True, eq=False)
class Principle(Travels):
    """The equations of motion of a system by one principle, in the user's own symbols.

    ``equations`` are left-hand sides that vanish, ``unknowns`` the functions of time that they determine; ``dynamical``
    counts those of the equations that contain forces. The reaction p multiplies +A on the left-hand side. Constraints
    that follow from others are left out of the equations; ``solve`` gives the reactions of all.
    """

    system: System
    name: ClassVar[str]

    @property
    def unknowns(self) -> tuple[sm.Expr, ...]:
        raise NotImplementedError

    @property
    def equations(self) -> sm.Matrix:
        raise NotImplementedError

    @property
    def dynamical(self) -> int:
        raise NotImplementedError

    def steps(self) -> list[Step]:
        """The derivation as titles with LaTeX, as a lecture would show it."""
        raise NotImplementedError

    @cached_property
    def formulation(self) -> Formulation:
        """The equations as functions, with ``solve`` for accelerations and reactions."""
        raise NotImplementedError

    @property
    def flow(self) -> Flow:
        """The equations in the states of this principle."""
        return self.formulation.flow

    def solve(
        self, q: Any, v: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and reactions at coordinates and velocities that obey the constraints; redundant ones share
        theirs by least norm."""
        accelerations, p = self.formulation.solve(self.formulation.state(q, v, case, time), case, time)
        if self.system.redundant:
            p = all_reactions(self.system, np.asarray(q, dtype=float), p, numbers_of(case), time)
        return accelerations, p

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What this principle gives at a few random states, put into the balance of forces and into all constraints."""
        at = doors.random_states.random_states(self.system, VERIFIED, 0)
        x = np.concatenate([at.q, at.v])
        return tuple(
            verified_accelerations(self.system, x, at.numbers, at.time, *self.solve(at.q, at.v, at.numbers, at.time))
        )

    def latex(self) -> str:
        """All steps, typeset one after the other."""
        return document(self.steps())

    def _repr_markdown_(self) -> str:
        """In a notebook: the steps, typeset."""
        return "\n\n".join(f"**{title}**\n\n$$\n{latex}\n$$" for title, latex in self.steps())

    @property
    def multipliers(self) -> sm.Matrix:
        """The reactions p of the independent constraints as functions of time."""
        names = self.system.independent_reactions
        return sm.Matrix(len(names), 1, [sm.Function(name)(self.system.time) for name in names])

    @property
    def constraints(self) -> sm.Matrix:
        """The left-hand sides A q̇ + b."""
        s = self._statement
        return self._stated(sm.Matrix(len(s.constraints), 1, list(s.constraints)))

    @property
    def _statement(self) -> Statement:
        return self.system.statement

    @property
    def _accelerations(self) -> list[sm.Symbol]:
        """Plain symbols for q̈."""
        return [sm.Symbol(f"{x.name}_ddot", real=True) for x in self._statement.q]

    def _rate(self, expression: sm.Expr) -> sm.Expr:
        """d/dt in plain symbols, accelerations included."""
        s = self._statement
        pairs = zip((*s.q, *s.v), (*s.v, *self._accelerations), strict=True)
        return sum((sm.diff(expression, x) * rate for x, rate in pairs), sm.diff(expression, s.time))

    def _constraint_forces(self) -> list[sm.Expr]:
        """Aᵀp in plain symbols, p as functions of time."""
        s = self._statement
        return [
            sum((sm.diff(c, v) * p for c, p in zip(s.constraints, self.multipliers, strict=True)), sm.S.Zero)
            for v in s.v
        ]

    def _stated(self, expression: Any) -> Any:
        """From plain symbols back to the user's functions of time."""
        t = self.system.time
        back: dict[sm.Basic, sm.Basic] = {plain: stated for stated, plain in self._statement.to_plain.items()}
        seconds = zip(self._accelerations, self.system.coordinates, strict=True)
        return expression.xreplace(back | {a: q.diff(t, 2) for a, q in seconds})

    def _energy_steps(self) -> list[Step]:
        s, system = self._statement, self.system
        energies = [(r"\mathcal{T}", s.kinetic), (r"\mathcal{V}", s.potential), (r"\mathcal{R}", s.dissipation)]
        forces = [(f"Q_{{{typeset(q)}}}", force) for q, force in zip(system.coordinates, s.forces, strict=True)]
        stated = [(left, self._stated(right)) for left, right in (*energies, *forces) if right != 0]
        return [("Energies, dissipation and generalised forces", lines(stated))]

    def _constraint_step(self) -> list[Step]:
        return [("Constraints", vanishing(self.constraints))] if len(self.constraints) else []

    def _tex(self, name: str) -> str:
        return typeset(sm.Function(name)(self.system.time))
