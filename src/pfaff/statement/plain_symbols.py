"""A system in plain symbols, as every derivation takes it: functions of time and their derivatives are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.errors import ConstraintError, StatementError
from pfaff.statement.parameters import check_no_delay, check_smooth, check_symbols, scalar
from pfaff.statement.particles import Particle, generalised_forces, kinetic_energy, plain_particle
from pfaff.threads import cached_property

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

    @cached_property
    def coefficients(self) -> tuple[tuple[sm.Expr, ...], ...]:
        """The rows (A, b) of the constraints A v + b."""
        moving = (*self.q, self.time)
        return (
            *(_linear(row, self.v) for row in self.constraints[: self.nonholonomic]),
            *(tuple(sm.diff(phi, x) for x in moving) for phi in self.positions),
        )

    @property
    def demanding(self) -> tuple[bool, ...]:
        """Which constraints A v + b have a b, and so demand something at rest."""
        return tuple(b != 0 for *_, b in self.coefficients)

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


def _linear(row: sm.Expr, v: Sequence[sm.Symbol]) -> tuple[sm.Expr, ...]:
    """(a, b) of a·v + b: values at unit velocities where b is zero, which take less time than derivatives."""
    rest = dict.fromkeys(v, sm.S.Zero)
    b = row.xreplace(rest)
    units = [row.xreplace({**rest, x: sm.S.One}) for x in v] if b == 0 else [sm.nan]
    return (*([sm.diff(row, x) for x in v] if any(a.has(sm.nan, sm.zoo) for a in units) else units), b)


def _foreign(leftover: sm.Basic, system: System) -> str:
    """Why a function of time or a derivative cannot stand in a statement, and what to do about it."""
    of = leftover.expr if isinstance(leftover, sm.Derivative) else leftover
    own = isinstance(of, sm.Symbol) and of.name in system.coordinate_names
    if isinstance(leftover, sm.Derivative) and own:
        name = of.name
        return (
            "an acceleration: energies, forces and constraints contain coordinates and velocities only. A force "
            f"-m*{name}'' is an inertia, m*{name}.diff(t)**2/2 in the kinetic energy; a relation between accelerations "
            "is stated as its integral"
        )
    return (
        "which is neither a coordinate nor a velocity of this system: add it to the coordinates, write it as an "
        "expression in time, or make it a parameter, which simulate(…, prescribed={…}) changes in time"
    )


def _check_positions(phi: tuple[sm.Expr, ...], q: set[sm.Symbol], v: set[sm.Symbol], titles: Sequence[str]) -> None:
    """Holonomic constraints say something of coordinates, and nothing of velocities."""
    for title, expression in zip(titles, phi, strict=True):
        if expression.free_symbols & v:
            raise ConstraintError(f"{title} contains velocities: move it to nonholonomic_constraints")
        if not expression.free_symbols & q:
            raise ConstraintError(f"{title}, {expression}, contains no coordinate: remove it")


def in_plain_symbols(system: System) -> Statement:
    t = system.time
    plain_q = tuple(sm.Symbol(name, real=True) for name in system.coordinate_names)
    plain_v = tuple(sm.Symbol(name, real=True) for name in system.velocity_names)
    velocities = {sm.Derivative(q, t): v for q, v in zip(system.coordinates, plain_v, strict=True)}
    positions = dict(zip(system.coordinates, plain_q, strict=True))
    known = {*plain_q, *plain_v, *system.parameters, t}

    def plain(expression: Any, where: str) -> sm.Expr:
        expression = scalar(expression, where)
        check_no_delay(expression, {q.func.__name__: q for q in system.coordinates}, where)
        if any(d not in velocities for d in expression.atoms(sm.Derivative)):
            expression = expression.doit()
        expression = expression.xreplace(velocities).xreplace(positions)
        for leftover in sorted(expression.atoms(sm.Derivative, sm.core.function.AppliedUndef), key=str):
            raise StatementError(f"{where} contains {leftover}, {_foreign(leftover, system)}")
        check_symbols(expression, known, system.parameters, where, system.state_names)
        check_smooth(expression, where, "energies, forces and constraints are real")
        return expression

    titles = system.constraint_titles
    own = len(system.nonholonomic_constraints)
    phi = tuple(plain(c, title) for c, title in zip(system.holonomic_constraints, titles[own:], strict=True))
    _check_positions(phi, set(plain_q), set(plain_v), titles[own:])
    rates = tuple(sum((sm.diff(f, q) * v for q, v in zip(plain_q, plain_v, strict=True)), sm.diff(f, t)) for f in phi)
    pfaffian = tuple(plain(c, title) for c, title in zip(system.nonholonomic_constraints, titles, strict=False))
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
