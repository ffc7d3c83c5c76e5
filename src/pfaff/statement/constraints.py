"""Checks of the constraints of a system: they do not contradict each other, and are not integrable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfaff.errors import ConstraintError
from pfaff.statement.integrability import first_integrable, integrable_together
from pfaff.statement.redundancy import Dependence, dependence

if TYPE_CHECKING:
    from pfaff.statement.system import System


def dependent_constraints(system: System) -> Dependence:
    """Which constraints follow from the others, and which of these say nothing at all; contradictory ones raise."""
    found = dependence(system.stated, system.parameters)
    wrong = found.contradictory
    if len(wrong) == 1:
        raise ConstraintError(
            f"{numbered(system, wrong)} contains no velocity once its terms cancel, but does not vanish: correct it, "
            "or state what it demands of the coordinates in holonomic_constraints"
        )
    if wrong:
        raise ConstraintError(
            f"{numbered(system, wrong)} contradict each other, no motion obeys them all: remove or correct one"
        )
    return found


def numbered(system: System, rows: Sequence[int]) -> str:
    """Constraints for a message, by their names or their numbers, counted through both kinds."""
    names = {alias.removeprefix("p_"): p for alias, p in system.reaction_aliases.items()}
    own = {p: repr(name) for name, p in names.items()}
    shown = (own.get(system.reaction_names[row], str(row + 1)) for row in rows)
    return f"constraint{'s' if len(rows) > 1 else ''} {', '.join(shown)}"


def check_integrability(system: System) -> None:
    s = system.statement
    if system.accept_integrable:
        return
    if integrable_together(s, s.nonholonomic):
        raise ConstraintError(
            "the nonholonomic constraints are integrable together (Frobenius), hence holonomic: state their integrals "
            "in holonomic_constraints, or set accept_integrable=True to leave the constants of integration free"
        )
    found = first_integrable(s, s.nonholonomic)
    if found is not None:
        row, integral = found
        title = system.constraint_titles[system.kept[row]]
        back = {plain: original for original, plain in s.to_plain.items()}
        form = f"holonomic_constraints=[{integral.xreplace(back)}]" if integral is not None else "its integrated form"
        raise ConstraintError(
            f"{title} is integrable (Frobenius), hence holonomic: "
            f"state it as {form}, up to a constant, or set accept_integrable=True to leave that constant free"
        )
