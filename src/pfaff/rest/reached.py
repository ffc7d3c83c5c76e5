"""Where a case rests: at the end of the path of its declared load, or near the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ConvergenceError, ParameterError, SingularMassError
from pfaff.rest.balance import Balance
from pfaff.rest.mechanical import Equilibrium, check_rest, equilibrium_at, rest_near
from pfaff.rest.path import LoadPath
from pfaff.rest.small_motions import Linearisation, linearise
from pfaff.statement.values import instance, shown

if TYPE_CHECKING:
    from pfaff.case import Case


def path_of(case: Case, load: str, fixed: Mapping[str, float]) -> LoadPath:
    """The path of a load from zero; from the value of the case where there is no rest without it, as for a mass or a
    spring."""
    try:
        return LoadPath(case, load, fixed)
    except (ConvergenceError, SingularMassError):
        if not case.values[load]:
            raise
        return LoadPath(case, load, fixed, float(case.values[load]))


def equilibrium_of(case: Case, fixed: Mapping[str, float]) -> Equilibrium:
    reached = _reached(case, fixed)
    if reached is None:
        return equilibrium_at(*rest_near(case, fixed))
    balance, z = reached
    return equilibrium_at(balance.pinned(z), z)


def _reached(case: Case, fixed: Mapping[str, float]) -> tuple[Balance, np.ndarray] | None:
    """The equilibrium at the end of the path of the declared load, if there is one."""
    load = case.system.load
    if load is None or not case.values[load.name]:
        return None
    path = path_of(case, load.name, fixed)
    return path.balance, path.solution(float(case.values[load.name]))


def linearised(case: Case, fixed: Mapping[str, float]) -> Linearisation:
    """The small motions about where the case rests."""
    balance, z = _reached(case, fixed) or rest_near(case, fixed)
    check_rest(balance, z)
    n = balance.statics.n
    return linearise(case.system, z[:n], z[n:], case.numbers, balance.at(z, case.numbers))


def linearised_about(case: Case, about: Any, fixed: Mapping[str, float]) -> Linearisation:
    """The small motions about an equilibrium that was given."""
    about = instance("about", about, Equilibrium, "give an equilibrium, about=case.equilibrium()")
    if fixed:
        raise ParameterError(f"about= says where: leave out {', '.join(fixed)}")
    if len(about.q) != len(case.system.coordinates):
        raise ParameterError(f"about={shown(about)} is of another system: give an equilibrium of this case")
    return linearise(case.system, about.q, about.p, case.numbers)
