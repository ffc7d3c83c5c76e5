"""Quasi-velocities that a system states by name: combinations W(q, t) q̇ + w(q, t), such as a forward speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.called import renamed
from pfaff.statement.degrees import polynomial_degree
from pfaff.statement.expressions import expressed
from pfaff.statement.names import checked_name
from pfaff.statement.parameters import check_symbols, scalar
from pfaff.statement.values import shown

if TYPE_CHECKING:
    from pfaff.statement.system import System

EXAMPLE = "quasi_velocities={'v': x.diff(t)*cos(phi) + y.diff(t)*sin(phi)}"


def stated_quasi_velocities(system: System, words: Mapping[str, sm.Expr]) -> dict[str, sm.Expr]:
    """Quasi-velocities by name, as stated; text is parsed in the words of the system."""
    if not isinstance(system.quasi_velocities, Mapping):
        raise StatementError(f"quasi_velocities={shown(system.quasi_velocities)}: give them by name, {EXAMPLE}")
    if system.quasi_velocities and isinstance(system.rods, tuple | list) and system.rods:
        raise StatementError(
            f"{system.name} has rods, whose velocities are not written out: leave out quasi_velocities"
        )
    found = {}
    for name, expression in renamed(system.quasi_velocities, StatementError).items():
        if checked_name(name, "quasi-velocity") in words:
            raise StatementError(f"quasi-velocity {name!r} has the name of something else that is stated: rename it")
        found[name] = expressed(expression, words, f"the quasi-velocity {name}")
    return found


def linear_form(system: System, name: str, expression: Any) -> sm.Expr:
    """A quasi-velocity in plain symbols, linear in the velocities."""
    s, where = system.statement, f"the quasi-velocity {name}"
    plain = scalar(expression, where, system.words).doit().xreplace(dict(s.to_plain))
    check_symbols(plain, {*s.q, *s.v, *system.parameters, s.time}, system.parameters, where, system.state_names)
    if polynomial_degree(plain, s.v) != 1 and polynomial_degree(sm.expand(plain), s.v) != 1:
        raise StatementError(f"{where} is not linear in the velocities: write it as W(q, t) q̇ + w(q, t)")
    return plain
