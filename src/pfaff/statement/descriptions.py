"""Energies and particles as two descriptions of one system: where both are stated they must agree.

Particles without any force describe the inertia only; the forces are then those of the energies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.characteristic import identical
from pfaff.statement.particles import generalised_forces, kinetic_energy

if TYPE_CHECKING:
    from pfaff.statement.plain_symbols import Statement
    from pfaff.statement.system import System

LARGE, LONGEST = 100, 200  # numbers and operations beyond which SymPy's simplify takes too long


def check_descriptions(system: System) -> None:
    """Raise unless the inertia and the forces of the particles are those of the energies."""
    if system.kinetic is not None:
        _check_inertia(system)
    if any(component != 0 for each in system.statement.particles for component in each.force or ()):
        check_forces(system)


def check_forces(system: System) -> None:
    """Σ F·∂R/∂q_j against Q_j − ∂V/∂q_j − ∂D/∂q̇_j, coordinate by coordinate."""
    if not system.states_forces:
        return
    s = system.statement
    stated = [
        force - sm.diff(s.potential, q) - sm.diff(s.dissipation, v)
        for force, q, v in zip(s.forces, s.q, s.v, strict=True)
    ]
    of_particles = generalised_forces(s.particles, s.q)
    for name, a, b in zip(system.coordinate_names, stated, of_particles, strict=True):
        if not identical(a, b):
            raise StatementError(
                f"the generalised force on {name} is {_shown(s, a)} by potential, dissipation and forces, but the "
                f"forces on the particles do the virtual work of {_shown(s, b)}: {_shown(s, a - b)} is not accounted "
                "for; add it to the force of a particle, or its opposite to forces, or leave potential, dissipation "
                "and forces out"
            )


def _check_inertia(system: System) -> None:
    s = system.statement
    of_particles = kinetic_energy(s.particles, s.q, s.v, s.time)
    for i, v in enumerate(s.v):
        for w in s.v[i:]:
            share = sm.Rational(1, 2) if v == w else 1
            a, b = (share * sm.diff(T, v, w) for T in (s.kinetic, of_particles))
            if not identical(a, b):
                product = f"{v.name}**2" if v == w else f"{v.name}*{w.name}"
                _complain(s, f"its term with {product}", a, b)
    # Total time derivatives do no harm: contributions to Lagrange's equations are compared.
    for q, v in zip(s.q, s.v, strict=True):
        a, b = (_inertial_force(T, s, q, v) for T in (s.kinetic, of_particles))
        if not identical(a, b):
            _complain(s, f"its terms of lower degree in the velocities, which push {q.name},", a, b)


def _inertial_force(T: sm.Expr, s: Statement, q: sm.Symbol, v: sm.Symbol) -> sm.Expr:
    momentum = sm.diff(T, v)
    rate = sum((sm.diff(momentum, x) * w for x, w in zip(s.q, s.v, strict=True)), sm.diff(momentum, s.time))
    return rate - sm.diff(T, q)


def _complain(s: Statement, part: str, stated: sm.Expr, of_particles: sm.Expr) -> None:
    raise StatementError(
        f"the kinetic energy is not that of the particles: {part} has {_shown(s, stated)} as stated and "
        f"{_shown(s, of_particles)} by the particles; {_shown(s, stated - of_particles)} is not accounted for: add or "
        "change a particle (a rigid body takes at least two), or leave the kinetic energy out"
    )


def _shown(s: Statement, expression: sm.Expr) -> sm.Expr:
    """The expression, simplified if that is quick: SymPy takes large numbers in functions for powers, e^(1000 x) =
    (e^x)^1000."""
    large = any(abs(n) > LARGE for f in expression.atoms(sm.Function) for n in f.atoms(sm.Integer))
    quick = not large and expression.count_ops() <= LONGEST
    return (sm.simplify(expression) if quick else expression).xreplace(
        {plain: stated for stated, plain in s.to_plain.items()}
    )
