"""Checks of the constraints of a system: independent unless redundant ones are accepted, and not integrable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfaff.errors import ConstraintError
from pfaff.statement.integrability import first_integrable, integrable_together
from pfaff.statement.redundancy import dependence

if TYPE_CHECKING:
    from pfaff.statement.system import System


def redundant_constraints(system: System) -> tuple[int, ...]:
    s = system.statement
    n, m = len(s.q), len(s.constraints)
    found = dependence(s, system.parameters)
    if found.contradictory:
        raise ConstraintError(
            f"{numbered(found.contradictory, system)} contradict each other, no motion obeys them all: remove or "
            "correct one"
        )
    if not found.redundant or system.accept_redundant:
        return found.redundant
    keep = "set accept_redundant=True to keep it (simulated by method='augmented', reactions not unique)"
    if m > n:
        raise ConstraintError(
            f"{m} constraints on {n} coordinates: at most {n} can be independent, remove {m - n} or more of "
            f"{numbered(found.redundant, system)}, or {keep}"
        )
    raise ConstraintError(
        f"{numbered(found.redundant, system)} is a combination of the others wherever they hold: remove it, or {keep}"
    )


def numbered(rows: Sequence[int], system: System) -> str:
    """Constraints for a message, by their names or their numbers, counted through both kinds."""
    names = {alias.removeprefix("p_"): p for alias, p in system.reaction_aliases.items()}
    own = {p: repr(name) for name, p in names.items()}
    shown = (own.get(system.reaction_names[row], str(row + 1)) for row in rows)
    return f"constraint{'s' if len(rows) > 1 else ''} {', '.join(shown)}"


def check_integrability(system: System) -> None:
    s = system.statement
    if system.accept_integrable:
        return
    if integrable_together(s, len(system.nonholonomic_constraints)):
        raise ConstraintError(
            "the nonholonomic constraints are integrable together (Frobenius), hence holonomic: state their integrals "
            "in holonomic_constraints, or set accept_integrable=True to leave the constants of integration free"
        )
    found = first_integrable(s, len(system.nonholonomic_constraints))
    if found is not None:
        row, integral = found
        title = system.constraint_titles[row]
        back = {plain: original for original, plain in s.to_plain.items()}
        form = f"holonomic_constraints=[{integral.xreplace(back)}]" if integral is not None else "its integrated form"
        raise ConstraintError(
            f"{title} is integrable (Frobenius), hence holonomic: "
            f"state it as {form}, up to a constant, or set accept_integrable=True to leave that constant free"
        )
