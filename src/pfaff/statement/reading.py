"""The arguments of a system, read in order and checked: parameters, forces, constraints, meanings and names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff import doors
from pfaff.errors import StatementError
from pfaff.statement.called import renamed
from pfaff.statement.constraints import check_integrability, dependent_constraints
from pfaff.statement.coordinates import checked_coordinates
from pfaff.statement.degrees import check_degrees
from pfaff.statement.drawing import Drawing
from pfaff.statement.expressions import expressed, vanishing
from pfaff.statement.names import checked_name, checked_title
from pfaff.statement.parameters import checked_load, checked_parameters
from pfaff.statement.particles import checked_particles
from pfaff.statement.plain_symbols import in_plain_symbols
from pfaff.statement.quasi_velocities import linear_form, stated_quasi_velocities
from pfaff.statement.values import listed, one_of, shown, truth

if TYPE_CHECKING:
    from pfaff.statement.system import System


ENERGIES = {"kinetic": "the kinetic energy", "potential": "the potential", "dissipation": "the dissipation"}


def read(system: System) -> None:
    """Complete a system without rods: its arguments are read, put into plain symbols once, and checked."""
    normalise = object.__setattr__
    normalise(system, "name", checked_title(system.name, "name of a system"))
    normalise(system, "coordinates", checked_coordinates(system.coordinates))
    normalise(system, "parameters", read_parameters(system))
    normalise(system, "quasi_velocities", stated_quasi_velocities(system, system._own_words()))
    normalise(system, "nonholonomic_constraints", read_relations(system, "nonholonomic"))
    normalise(system, "holonomic_constraints", read_relations(system, "holonomic"))
    normalise(system, "particles", checked_particles(system.particles, system.words))
    check_names(system)
    normalise(system, "kinetic", read_inertia(system))
    for energy, where in ENERGIES.items():
        given = getattr(system, energy)
        if given is not None or energy != "kinetic":
            normalise(system, energy, expressed(0 if given is None else given, system.words, where))
    normalise(system, "forces", read_forces(system))
    normalise(system, "meanings", read_meanings(system))
    truth("accept_integrable", system.accept_integrable)
    truth("accept_redundant", system.accept_redundant)
    normalise(system, "drawing", read_drawing(system))
    normalise(system, "load", checked_load(system.load, system.parameters))
    normalise(system, "stated", in_plain_symbols(system))
    normalise(system, "statement", system.stated)
    forms = {name: linear_form(system, name, each) for name, each in system.quasi_velocities.items()}
    normalise(system, "quasi_forms", forms)
    if system.drawing is not None:
        known = {*system.statement.q, *system.parameters, system.time}
        system.drawing.check_symbols(system.statement.to_plain, known, system.name)
    check_degrees(system)
    found = dependent_constraints(system)
    normalise(system, "redundant", found.redundant)
    normalise(system, "empty", found.empty)
    normalise(system, "statement", system.stated.without(found.redundant))
    check_integrability(system)
    if system.particles:
        doors.descriptions.check_descriptions(system)


def read_parameters(system: System) -> dict[sm.Symbol, Any]:
    parameters = checked_parameters(system.parameters, system.state_names, "a coordinate or velocity")
    if any(symbol.name == system.time.name for symbol in parameters):
        raise StatementError(
            f"parameter {system.time.name!r} is the time: rename it, or leave it out and write the time of the "
            "coordinates, dynamicsymbols._t"
        )
    return parameters


def read_inertia(system: System) -> Any:
    """The kinetic energy as given; None where particles supply it."""
    if system.kinetic is not None or system.particles:
        return system.kinetic
    if system.needs_inertia:
        raise StatementError("the system has no inertia: state the kinetic energy, or particles to derive it from")
    return sm.S.Zero


def read_drawing(system: System) -> Drawing | None:
    if system.drawing is None:
        return None
    if not isinstance(system.drawing, Drawing):
        raise StatementError(f"drawing={shown(system.drawing)}: give a pfaff.Drawing, or leave it out")
    return system.drawing.read(system.words)


def read_forces(system: System) -> dict[sm.Expr, sm.Expr]:
    """Forces by coordinate, which may be named in text."""
    if system.forces is None:
        return {}
    names = system.coordinate_names
    if not isinstance(system.forces, Mapping):
        raise StatementError(
            f"forces={shown(system.forces)}: give forces by coordinate, forces={{{names[0]}: -k*{names[0]}}}, in SymPy "
            f"or as text, forces={{'{names[0]}': '-k*{names[0]}'}}"
        )
    found = {}
    for name, force in renamed(system.forces, StatementError).items():
        if isinstance(name, str) and name.removesuffix("_dot") in names and name not in names:
            raise StatementError(
                f"forces names the velocity {name}: a force acts on a coordinate, forces={{'{name[:-4]}': …}}, and may "
                f"contain {name}"
            )
        one_of(names, name, "forces names {}, which is no coordinate", StatementError)
        found[system.coordinates[names.index(name)]] = expressed(force, system.words, f"the force on {name}")
    return found


class Relations(tuple[sm.Expr, ...]):
    """Expressions that vanish, and the name of each; empty where it has none."""

    labels: tuple[str, ...]

    def without(self, rows: Collection[int]) -> Relations:
        """The others, under their own names."""
        kept = [k for k in range(len(self)) if k not in rows]
        found = Relations(self[k] for k in kept)
        found.labels = tuple(self.labels[k] for k in kept)
        return found

    def changed(self, by: Callable[[sm.Expr], sm.Expr], more: Sequence[sm.Expr] = ()) -> Relations:
        """Each changed in the same way, under its own name, and more without names after them."""
        found = Relations([*map(by, self), *more])
        found.labels = (*self.labels, *("" for _ in more))
        return found


def read_relations(system: System, kind: str) -> Relations:
    """Expressions that vanish; an equation counts as left side minus right side."""
    given = getattr(system, f"{kind}_constraints")
    labels = getattr(given, "labels", None)
    if isinstance(given, Mapping):
        given = renamed(given, StatementError)
        labels = tuple(checked_name(label, f"{kind} constraint") for label in given)
        given = list(given.values())
    given = listed(f"{kind}_constraints", () if given is None else given, "[expression]", StatementError)
    labels = labels if labels is not None else ("",) * len(given)
    titles = (titled(kind, k, label) for k, label in enumerate(labels))
    found = Relations(vanishing(each, system.words, title) for each, title in zip(given, titles, strict=True))
    found.labels = labels
    return found


def titled(kind: str, k: int, label: str) -> str:
    """A constraint for a message, by its name or its number."""
    return f"{kind} constraint {label!r}" if label else f"{kind} constraint {k + 1}"


def read_meanings(system: System) -> dict[str, str]:
    """Meanings by name, of existing parameters and coordinates."""
    if not isinstance(system.meanings, Mapping):
        raise StatementError("meanings must be given by name: meanings={F: 'dead load [N]'}")
    known = (*system.parameter_names, *system.coordinate_names, *system.quasi_velocities)
    found = {}
    for key, text in system.meanings.items():
        name = one_of(known, key, "meanings names", StatementError)
        found[name] = checked_title(text, f"meaning of {name}")
    return found


def check_names(system: System) -> None:
    """Raise for names p, or p1, p2, …, where there are constraints: these are the names of reactions."""
    if not (system.nonholonomic_constraints or system.holonomic_constraints):
        return
    for name in (*system.coordinate_names, *system.parameter_names, *system.quasi_velocities):
        if name in system.reaction_names or name in system.reaction_aliases:
            raise StatementError(
                f"{name!r} is the name of a reaction: rename the coordinate, parameter or quasi-velocity"
            )
