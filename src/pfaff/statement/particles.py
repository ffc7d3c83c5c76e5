"""Material points, the subject of Newton's law and d'Alembert's principle, from which energies follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.parameters import scalar
from pfaff.statement.told import spelt
from pfaff.statement.values import listed, shown


@spelt
@dataclass(frozen=True)
class Particle:
    """A material point of a mass at a position R(q, t), under the sum of all active forces F(q, q̇, t) on it.

    ``position`` and ``force`` have two or three components in one inertial frame. Weight, springs, dampers and drives
    are active; reactions of constraints are not. Without ``force`` no active force acts; a particle without mass
    carries a force only. Text is read in the names of the system that the particle is stated for.
    """

    mass: Any
    position: Sequence[Any]
    force: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        position = _components(self.position, "position")
        force = position[:0] if self.force is None else _components(self.force, "force")
        if force and len(force) != len(position):
            raise StatementError(
                f"a particle with a position of {len(position)} components and a force of {len(force)}: give both in "
                "the same frame"
            )
        mass = _stated(self.mass, "the mass of a particle")
        if not isinstance(mass, str) and mass.is_negative:
            raise StatementError(f"a particle of mass {mass}: a mass is not negative")
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "force", force or (sm.S.Zero,) * len(position))


def _components(given: Any, what: str) -> tuple[Any, ...]:
    components = isinstance(given, Sequence | sm.MatrixBase) and not isinstance(given, str) and len(given) in (2, 3)
    entries = tuple(given) if components else ()
    if not entries:
        raise StatementError(
            f"the {what} of a particle is {shown(given)}: give two or three components, such as (x, y)"
        )
    return tuple(_stated(each, f"the {what} of a particle") for each in entries)


def _stated(given: Any, where: str) -> Any:
    """Text is kept for the system, which knows its names."""
    return given if isinstance(given, str) else scalar(given, where)


def checked_particles(given: Any, known: Mapping[str, sm.Expr]) -> tuple[Particle, ...]:
    """Particles with their texts read in known names."""
    given = listed("particles", given, "[Particle(m, (x, y), force)]", StatementError)
    for each in given:
        if not isinstance(each, Particle):
            raise StatementError(f"{shown(each)} is not a particle: write Particle(m, (x, y), force)")
    return tuple(_read(k + 1, each, known) for k, each in enumerate(given))


def _read(number: int, particle: Particle, known: Mapping[str, sm.Expr]) -> Particle:
    def read(entries: Sequence[Any], what: str) -> tuple[sm.Expr, ...]:
        return tuple(scalar(each, f"{what} particle {number}", known) for each in entries)

    (mass,) = read([particle.mass], "the mass of")
    return Particle(mass, read(particle.position, "the position of"), read(particle.force or (), "the force on"))


def plain_particle(
    number: int, particle: Particle, plain: Callable[[Any, str], sm.Expr], moving: set[sm.Symbol], v: set[sm.Symbol]
) -> Particle:
    """A particle in plain symbols; ``moving`` are coordinates, velocities and time, of which no mass may depend."""
    mass = plain(particle.mass, f"the mass of particle {number}")
    position = [plain(e, f"the position of particle {number}") for e in particle.position]
    if mass.free_symbols & moving:
        raise StatementError(f"the mass of particle {number}, {mass}, varies with the motion: give a constant mass")
    if any(e.free_symbols & v for e in position):
        raise StatementError(f"the position of particle {number} contains velocities: write it in coordinates and time")
    return Particle(mass, position, [plain(e, f"the force on particle {number}") for e in particle.force or ()])


def rate(expression: sm.Expr, q: Sequence[sm.Symbol], v: Sequence[sm.Symbol], time: sm.Symbol) -> sm.Expr:
    """d/dt of a function of q and t, in plain symbols."""
    return sum((sm.diff(expression, x) * w for x, w in zip(q, v, strict=True)), sm.diff(expression, time))


def kinetic_energy(
    particles: Sequence[Particle], q: Sequence[sm.Symbol], v: Sequence[sm.Symbol], time: sm.Symbol
) -> sm.Expr:
    """T = ½ Σ m Ṙ·Ṙ."""
    squares = (each.mass * rate(e, q, v, time) ** 2 for each in particles for e in each.position)
    return sum(squares, sm.S.Zero) / 2


def generalised_forces(particles: Sequence[Particle], q: Sequence[sm.Symbol]) -> tuple[sm.Expr, ...]:
    """Q_j = Σ F·∂R/∂q_j."""
    return tuple(
        sum(
            (f * sm.diff(e, x) for each in particles for f, e in zip(each.force or (), each.position, strict=True)),
            sm.S.Zero,
        )
        for x in q
    )
