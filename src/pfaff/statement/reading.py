"""What a system is given, read and checked: parameters, forces, constraints, meanings and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.expressions import expressed
from pfaff.statement.names import checked_name, checked_title
from pfaff.statement.parameters import checked_parameters
from pfaff.statement.values import listed, one_of, shown

if TYPE_CHECKING:
    from pfaff.statement.system import System


def read_parameters(system: System) -> dict[sm.Symbol, Any]:
    parameters = checked_parameters(system.parameters, system.state_names, "a coordinate or velocity")
    if system.time in parameters:
        raise StatementError(f"parameter {system.time.name!r} is the time: rename it")
    return parameters


def read_forces(system: System) -> dict[sm.Expr, sm.Expr]:
    if not isinstance(system.forces, Mapping):
        raise StatementError("forces must be given by coordinate: forces={theta: -F*sin(theta)}")
    return {q: expressed(force, system.words, f"the force on {shown(q)}") for q, force in system.forces.items()}


class Relations(tuple[sm.Expr, ...]):
    """Expressions that vanish, and what each is called; nothing where it has no name."""

    labels: tuple[str, ...]


def read_relations(system: System, kind: str) -> Relations:
    """Expressions that vanish; an equation counts as left side minus right side."""
    given = getattr(system, f"{kind}_constraints")
    labels = getattr(given, "labels", None)
    if isinstance(given, Mapping):
        labels = tuple(checked_name(label, f"{kind} constraint") for label in given)
        given = list(given.values())
    given = listed(f"{kind}_constraints", given, "[expression]", StatementError)
    relations = [expressed(each, system.words, f"{kind} constraint {k + 1}") for k, each in enumerate(given)]
    found = Relations(each.lhs - each.rhs if isinstance(each, sm.Equality) else each for each in relations)
    found.labels = labels if labels is not None else ("",) * len(found)
    return found


def read_meanings(system: System) -> dict[str, str]:
    """By name, of parameters and coordinates that there are."""
    if not isinstance(system.meanings, Mapping):
        raise StatementError("meanings must be given by name: meanings={F: 'dead load [N]'}")
    known = (*system.parameter_names, *system.coordinate_names)
    found = {}
    for key, text in system.meanings.items():
        name = key if isinstance(key, str) else getattr(key, "name", None) or type(key).__name__
        one_of(known, name, "meanings names", StatementError)
        found[name] = checked_title(text, f"meaning of {name}")
    return found


def check_names(system: System) -> None:
    """Reactions are called p, or p1, p2, …: nothing else may be, where there are constraints."""
    if not (system.nonholonomic_constraints or system.holonomic_constraints):
        return
    for name in (*system.coordinate_names, *system.parameter_names):
        if name in system.reaction_names or name in system.reaction_aliases:
            raise StatementError(f"{name!r} is the name of a reaction: rename the coordinate or parameter")
