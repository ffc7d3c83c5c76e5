"""The frame of a system with rods as functions of numbers or power series: for derivatives of any order."""

from __future__ import annotations

import sympy as sm

from pfaff.flow.series import lambdified
from pfaff.statement.system import System


class FrameMechanics:
    """Balance, constraints and energies of the frame by SymPy: functions of states, reactions, parameters, time."""

    def __init__(self, frame: System) -> None:
        s = frame.statement
        self.names = frame.coordinate_names
        accelerations = [sm.Dummy() for _ in s.q]
        reactions = [sm.Dummy() for _ in s.constraints]

        def rate(expression: sm.Expr) -> sm.Expr:
            by_q = (sm.diff(expression, q) * v for q, v in zip(s.q, s.v, strict=True))
            by_v = (sm.diff(expression, v) * a for v, a in zip(s.v, accelerations, strict=True))
            return sm.Add(*by_q, *by_v, sm.diff(expression, s.time))

        balance = [
            rate(sm.diff(s.kinetic, v))
            - sm.diff(s.kinetic - s.potential, q)
            + sm.diff(s.dissipation, v)
            - force
            + sm.Add(*(p * sm.diff(c, v) for p, c in zip(reactions, s.constraints, strict=True)))
            for q, v, force in zip(s.q, s.v, s.forces, strict=True)
        ]
        still = dict.fromkeys(s.v, sm.S.Zero)
        supplied = sm.Add(
            *(force * v for force, v in zip(s.forces, s.v, strict=True)),
            *(p * c.xreplace(still) for p, c in zip(reactions, s.constraints, strict=True)),
            sm.diff(s.potential - s.kinetic, s.time),
        )
        jacobi = sm.Add(*(v * sm.diff(s.kinetic, v) for v in s.v)) - s.kinetic + s.potential
        dissipated = sm.Add(*(v * sm.diff(s.dissipation, v) for v in s.v))
        numbers = [*frame.parameters, s.time]
        self.balance = lambdified(
            [*s.q, *s.v, *accelerations, *reactions, *numbers], [*balance, *map(rate, s.constraints)]
        )
        self.constraints = lambdified([*s.q, *s.v, *numbers], s.constraints)
        self.positions = lambdified([*s.q, *numbers], s.positions)
        self.energies = lambdified([*s.q, *s.v, *numbers], [s.kinetic, s.potential, jacobi, dissipated])
        self.supplied = lambdified([*s.q, *s.v, *reactions, *numbers], [supplied])
        self.resists = [k for k, each in enumerate(balance) if each != 0]
