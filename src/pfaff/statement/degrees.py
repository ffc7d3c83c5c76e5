"""Degrees in the velocities: kinetic energies are at most quadratic, Pfaffian constraints linear."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff.algebra.tolerances import IDENTITY
from pfaff.errors import ConstraintError, StatementError
from pfaff.statement.characteristic import characteristic
from pfaff.statement.draws import Draws
from pfaff.statement.evaluation import evaluated

if TYPE_CHECKING:
    from pfaff.statement.system import System


BESIDE = (0.999, 1.001)  # shares of velocities between which dissipation is compared
DRAWN = 8  # random states at which the sign of the dissipation is looked at


def polynomial_degree(expression: sm.Expr, variables: Iterable[sm.Symbol]) -> float:
    """The degree of an expression in some variables, read off its tree; infinite if not polynomial."""
    return _degree(expression, frozenset(variables), max, float("inf")) or 0


def lowest_degree(expression: sm.Expr, variables: Iterable[sm.Symbol]) -> float:
    """The lowest degree of a term in some variables; zero if not polynomial, infinite if there is no term."""
    # One factor such as 1/√(q̇²) spoils a whole product.
    degree = _degree(expression, frozenset(variables), min, -float("inf")) or 0
    return float("inf") if expression == 0 else max(0, degree)


def _degree(
    e: sm.Basic, wanted: frozenset[sm.Symbol], of_terms: Callable[..., float], otherwise: float
) -> float | None:
    """The degree; None for what does not depend on the variables at all."""
    if e in wanted:
        return 1
    degrees = [_degree(each, wanted, of_terms, otherwise) for each in e.args]
    known = [degree for degree in degrees if degree is not None]
    if not known:
        return None
    if isinstance(e, sm.Add):
        return of_terms(degree or 0 for degree in degrees)
    if isinstance(e, sm.Mul):
        return sum(known)
    if isinstance(e, sm.Pow) and e.exp.is_Integer and e.exp > 0:
        return int(e.exp) * known[0]
    return otherwise


def _true_degree(expression: sm.Expr, variables: tuple[sm.Symbol, ...], allowed: int) -> float:
    """The degree; where the tree overestimates it, by numbers: higher differences vanish along any line."""
    degree = polynomial_degree(expression, variables)
    if degree <= allowed:
        return degree
    symbols = sorted(expression.free_symbols, key=str)
    sizes, generator = characteristic([expression], symbols, {}).usual, Draws(1949)
    steps, vanishing = np.arange(allowed + 2), set(range(allowed + 1))
    seen = False
    for size in (1.4, 0.7, 0.3, 0.1):
        x, along = sizes * generator.uniform(0.2 * size, size, 2, len(symbols))
        at = {e: x[k] + along[k] * steps * (e in variables) for k, e in enumerate(symbols)}
        (values,) = evaluated([expression], at)
        if np.isfinite(values).all():
            seen, least = True, IDENTITY * np.abs(values).max()
            vanishing = {d for d in vanishing if np.abs(np.diff(values, d + 1)).max() <= least}
    return min(vanishing, default=float("inf")) if seen else degree


def _check_dissipation(D: sm.Expr, v: tuple[sm.Symbol, ...]) -> None:
    """Raise for a term linear in a velocity, which would be a constant force and no dissipation."""
    if D != 0 and not D.free_symbols & set(v):
        raise StatementError("the dissipation contains no velocity: write it with coordinate.diff(t), c*x.diff(t)**2/2")
    for velocity in v:
        if polynomial_degree(D, [velocity]) == 1 and not sm.diff(D, velocity).free_symbols & set(v):
            raise StatementError(
                f"the dissipation is linear in {velocity}, which is a constant force: write c*x.diff(t)**2/2 for a "
                "damper, or put the force into forces"
            )


def _warn_of_feeding(system: System) -> None:
    """Warn of a dissipation that takes energy out nowhere, at the default values, but feeds it in."""
    s, values = system.statement, system.parameters
    if s.dissipation == 0 or any(not isinstance(value, Number | sm.Number) for value in values.values()):
        return
    moving, generator = (*s.q, *s.v, s.time), Draws(1873)
    sizes = np.geomspace(0.01, 100.0, DRAWN)  # far out a self-excited oscillator is damped
    at = dict(zip(moving, sizes * generator.uniform(-1.0, 1.0, len(moving), DRAWN), strict=True))
    numbers = {symbol: float(value) for symbol, value in values.items()}
    slower, faster = (
        evaluated([s.dissipation], {**numbers, **at, **{v: share * at[v] for v in s.v}})[0] for share in BESIDE
    )
    power = np.broadcast_to(faster - slower, DRAWN)  # of the sign of v·∂D/∂v
    if np.isfinite(power).all() and (power <= 0).all() and power.any():
        warnings.warn(
            f"the dissipation of {system.name} is negative at its default values, so that it feeds energy in: a damper "
            "is c*x.diff(t)**2/2 with a positive c",
            stacklevel=7,
        )


def _with_velocities(system: System, kinetic: sm.Expr) -> str:
    """How velocities come into a kinetic energy that has none."""
    name = system.coordinate_names[0]
    if kinetic == 0:
        return (
            f"it is 0, as where {name}.diff(t) is 0 since {name} is a plain Symbol, or t another symbol than the time "
            f"of the coordinates; write {name} = dynamicsymbols('{name}'), t = dynamicsymbols._t and {name}.diff(t)"
        )
    return f"write it with .diff(t), as {_velocity(system, kinetic)}"


def _velocity(system: System, expression: sm.Expr) -> str:
    """How the velocity of a coordinate in an expression is written."""
    names = [q.name for q in system.statement.q if q in expression.free_symbols] or system.coordinate_names
    return f"{names[0]}.diff(t), in text {names[0]}_dot"


def check_degrees(system: System) -> None:
    s = system.statement
    if _true_degree(s.kinetic, s.v, 2) > 2:
        raise StatementError("the kinetic energy is not quadratic in the velocities: check its terms in q̇")
    if system.needs_inertia and polynomial_degree(s.kinetic, s.v) < 1:
        raise StatementError(f"the kinetic energy contains no velocity: {_with_velocities(system, s.kinetic)}")
    if s.potential.free_symbols & set(s.v):
        raise StatementError("the potential contains velocities: put velocity-dependent terms in forces or dissipation")
    _check_dissipation(s.dissipation, s.v)
    _warn_of_feeding(system)
    titles = system.constraint_titles
    for k, constraint in enumerate(s.constraints[: s.nonholonomic]):
        degree = _true_degree(constraint, s.v, 1)
        if degree > 1:
            raise ConstraintError(
                f"{titles[k]} is not linear in the velocities: only Pfaffian constraints "
                "A(q, t) q̇ + b(q, t) = 0 are ideal in the sense of d'Alembert"
            )
        if degree == 0:
            raise ConstraintError(
                f"{titles[k]} contains coordinates and no velocity: if a velocity is meant, write it with .diff(t), "
                f"as {_velocity(system, constraint)}; a relation between coordinates belongs in holonomic_constraints"
            )
