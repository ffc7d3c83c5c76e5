"""Which parameters are dampings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfaff.errors import ParameterError
from pfaff.statement.degrees import polynomial_degree
from pfaff.statement.values import named, one_of

if TYPE_CHECKING:
    from pfaff.case import Case


def damping_sources(case: Case, load: str, among: Sequence[str] | None) -> tuple[str, ...]:
    """The damping parameters: they enter the dissipation, linearly, and nothing else. The load, as a speed, is not
    one."""
    s = case.system.statement
    elsewhere = set().union(*(e.free_symbols for e in (s.kinetic, s.potential, *s.forces, *s.constraints)))
    dampings = tuple(
        symbol.name
        for symbol in case.system.parameters
        if symbol in s.dissipation.free_symbols and symbol not in elsewhere and symbol.name != load
    )
    chosen = named("among", among, "['c_i', 'c_e']")
    for name in chosen:
        one_of(dampings, name, f"{{}} is not a damping of {case.system.name}")
    sources = chosen or dampings
    if not sources:
        raise ParameterError(f"{case.system.name} has no damping parameter: put one into the dissipation")
    if polynomial_degree(s.dissipation, [case.system.parameter(name) for name in sources]) > 1:
        raise ParameterError(
            f"the dissipation of {case.system.name} is not linear in {', '.join(sources)}: "
            "name those that are, among=['c_i', 'c_e']"
        )
    return sources
