"""A system in plain symbols, as every derivation takes it: functions of time and their derivatives are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.errors import ConstraintError, StatementError
from pfaff.statement.parameters import check_smooth, check_symbols, scalar
from pfaff.statement.particles import Particle, generalised_forces, kinetic_energy, plain_particle
from pfaff.statement.values import shown

if TYPE_CHECKING:
    from pfaff.statement.system import System


@dataclass(frozen=True)
class Statement:
    """A system in plain symbols: q for coordinates, v for velocities, time as itself.

    ``constraints`` are velocity-level expressions c(q, v, t) = A v + b: the nonholonomic ones
    first, then the time derivatives of the holonomic ``positions`` φ(q, t). Energies and forces that were left out
    are those of the ``particles``.
    """

    q: tuple[sm.Symbol, ...]
    v: tuple[sm.Symbol, ...]
    time: sm.Symbol
    kinetic: sm.Expr
    potential: sm.Expr
    dissipation: sm.Expr
    forces: tuple[sm.Expr, ...]
    constraints: tuple[sm.Expr, ...]
    positions: tuple[sm.Expr, ...]
    particles: tuple[Particle, ...]
    to_plain: Mapping[sm.Basic, sm.Basic]

    @property
    def nonholonomic(self) -> int:
        """The number of rows that are no time derivatives of positions."""
        return len(self.constraints) - len(self.positions)

    @property
    def demanding(self) -> tuple[bool, ...]:
        """Which constraints A v + b have a b, and so demand something at rest."""
        rest = dict.fromkeys(self.v, sm.S.Zero)
        return tuple(constraint.xreplace(rest) != 0 for constraint in self.constraints)

    def without(self, rows: Sequence[int]) -> Statement:
        """The statement without some of its constraints."""
        if not rows:
            return self
        kept = [c for k, c in enumerate(self.constraints) if k not in rows]
        held = [phi for k, phi in enumerate(self.positions, start=self.nonholonomic) if k not in rows]
        return replace(self, constraints=tuple(kept), positions=tuple(held))


@dataclass(frozen=True)
class RodStatement(Statement):
    """The statement of a system with rods: formulas in the coordinates of its frame, energies of the rods by name
    only."""

    frame: Statement

    @property
    def demanding(self) -> tuple[bool, ...]:
        return self.frame.demanding


def _check_forces(system: System) -> None:
    for coordinate in system.forces:
        if coordinate not in system.coordinates:
            names = ", ".join(system.coordinate_names)
            raise StatementError(
                f"forces names {shown(coordinate)}, which is not a coordinate; the coordinates are {names}"
            )


def _check_positions(phi: tuple[sm.Expr, ...], q: set[sm.Symbol], v: set[sm.Symbol]) -> None:
    """Holonomic constraints say something of coordinates, and nothing of velocities."""
    for k, expression in enumerate(phi, 1):
        if expression.free_symbols & v:
            raise ConstraintError(f"holonomic constraint {k} contains velocities: move it to nonholonomic_constraints")
        if not expression.free_symbols & q:
            raise ConstraintError(f"holonomic constraint {k}, {expression}, contains no coordinate: remove it")


def in_plain_symbols(system: System) -> Statement:
    t = system.time
    plain_q = tuple(sm.Symbol(name, real=True) for name in system.coordinate_names)
    plain_v = tuple(sm.Symbol(name, real=True) for name in system.velocity_names)
    velocities = {sm.Derivative(q, t): v for q, v in zip(system.coordinates, plain_v, strict=True)}
    positions = dict(zip(system.coordinates, plain_q, strict=True))
    known = {*plain_q, *plain_v, *system.parameters, t}

    def plain(expression: Any, where: str) -> sm.Expr:
        expression = scalar(expression, where)
        if any(d not in velocities for d in expression.atoms(sm.Derivative)):
            expression = expression.doit()
        expression = expression.xreplace(velocities).xreplace(positions)
        for leftover in sorted(expression.atoms(sm.Derivative, sm.core.function.AppliedUndef), key=str):
            raise StatementError(
                f"{where} contains {leftover}, which is neither a coordinate nor a velocity of this system: "
                "add it to the coordinates, or write it as an expression in time"
            )
        check_symbols(expression, known, system.parameters, where)
        check_smooth(expression, where, "energies, forces and constraints are real")
        return expression

    _check_forces(system)
    phi = tuple(plain(c, f"holonomic constraint {k + 1}") for k, c in enumerate(system.holonomic_constraints))
    _check_positions(phi, set(plain_q), set(plain_v))
    rates = tuple(sum((sm.diff(f, q) * v for q, v in zip(plain_q, plain_v, strict=True)), sm.diff(f, t)) for f in phi)
    pfaffian = tuple(
        plain(c, f"nonholonomic constraint {k + 1}") for k, c in enumerate(system.nonholonomic_constraints)
    )
    moving = {*plain_q, *plain_v, t}
    particles = tuple(plain_particle(k + 1, p, plain, moving, set(plain_v)) for k, p in enumerate(system.particles))
    derived = system.kinetic is None
    kinetic = kinetic_energy(particles, plain_q, plain_v, t) if derived else plain(system.kinetic, "the kinetic energy")
    stated_forces = tuple(
        plain(system.forces.get(q, 0), f"the force on {name}")
        for q, name in zip(system.coordinates, system.coordinate_names, strict=True)
    )
    return Statement(
        q=plain_q,
        v=plain_v,
        time=t,
        kinetic=kinetic,
        potential=plain(system.potential, "the potential"),
        dissipation=plain(system.dissipation, "the dissipation"),
        forces=stated_forces if system.states_forces else generalised_forces(particles, plain_q),
        constraints=pfaffian + rates,
        positions=phi,
        particles=particles,
        to_plain={**velocities, **positions},
    )
