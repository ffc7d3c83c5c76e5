"""Loops given as data: times, and states by name, of which velocities may be left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError
from pfaff.flow.relative import shape_at
from pfaff.statement.values import numbers_from

if TYPE_CHECKING:
    from pfaff.case import Bound

FEWEST = 8  # samples of a loop
VELOCITY = "_dot"


class Loop(dict[str, np.ndarray]):
    """States by name at times ``t``."""

    def __init__(self, t: np.ndarray, states: Mapping[str, np.ndarray]) -> None:
        super().__init__(states)
        self.t = t


def loop_of(case: Bound, motion: Any, t: Any, given: Mapping[str, Any]) -> Loop:
    """The data as given, with missing velocities from positions."""
    if motion is not None:
        raise ParameterError("give a motion, or times t and states by name, not both")
    if t is None:
        raise ParameterError(f"at which times? Give t=… with {', '.join(given)}")
    names = tuple(dict.fromkeys((*shape_at(case).states, *getattr(case.system, "state_names", ()))))
    for name in given:
        case.system.named(name, names, f"a loop of {case.system.name} is not given by")
    times = _row("t", t)
    if len(times) < FEWEST or not (np.diff(times) > 0).all():
        raise ParameterError(f"t: give at least {FEWEST} times that increase")
    states = {name: _row(name, values) for name, values in given.items()}
    for name, row in states.items():
        if len(row) != len(times):
            raise ParameterError(f"{name} has {len(row)} values, t has {len(times)}: give one for each time")
    for name in names:
        if name not in states and name.removesuffix(VELOCITY) in states:
            states[name] = _rate(times, states[name.removesuffix(VELOCITY)])
    return Loop(times, states)


def _row(name: str, values: Any) -> np.ndarray:
    row = numbers_from(name, values)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ParameterError(f"{name} is not a row of finite numbers: leave out what is not")
    return row


def _rate(t: np.ndarray, row: np.ndarray) -> np.ndarray:
    """The derivative of the cubic spline through the data."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(t, row)(t, 1))
