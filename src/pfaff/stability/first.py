"""The first load of a kind as it was asked for: in closed form, or by the search with as many modes as it needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pfaff import doors
from pfaff.errors import ParameterError
from pfaff.stability.critical import critical_load, critical_loads
from pfaff.stability.critical_load import CriticalLoad, CriticalLoads
from pfaff.stability.settled import change_with_fewer, with_modes
from pfaff.statement.values import by_name, shown, truth

if TYPE_CHECKING:
    from pfaff.case import Case


def first_load(
    case: Case, kind: str, load: str, to: float | None, exact: Any, near: Any, fixed: Mapping[str, float]
) -> CriticalLoad:
    if truth("exact", exact):
        if fixed:
            raise ParameterError(f"closed forms are about the origin: leave out {', '.join(fixed)}")
        return doors.exact.exact_load(case, load, kind, by_name("near", near, "{'k': 1.5}"), to)
    if near is not None:
        raise ParameterError(f"near={shown(near)} chooses among closed forms: leave it out, or add exact=True")
    return with_modes(case, lambda each: critical_load(each, load, kind, to, fixed), lambda found: [found.value])


def all_loads(case: Case, load: str, to: float | None, fixed: Mapping[str, float]) -> CriticalLoads:
    return with_modes(case, lambda each: critical_loads(each, load, to, fixed), _lowest)


def change_by_modes(found: CriticalLoad) -> float:
    """The relative change of a load by the last two modes of the rods; zero if they are of bars."""

    def again(fewer: Case) -> float | None:
        other = critical_load(fewer, found.load, found.kind, found.searched[1], found.fixed).value
        return None if other is None else float(other)

    assert found.value is not None
    return change_with_fewer(found.case, float(found.value), again)


def _lowest(found: CriticalLoads) -> list[float]:
    loads = (found.flutter.value, found.divergence.value, found.buckling.value)
    return [min((load for load in loads if load is not None), default=math.inf)]
