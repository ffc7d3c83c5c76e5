"""Expressions of a point: measured along a branch or curve, and located as events where they vanish.

Points say what they can be measured by: ``measurable`` are the names, ``measured(name)`` is a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isnan, nan
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, nearest
from pfaff.statement.called import in_symbols
from pfaff.statement.expressions import LONGEST, vanishing, warn_of_no_number
from pfaff.statement.names import checked_title
from pfaff.statement.values import by_name, shown

Measure = Callable[[Any], float]
EXAMPLE = "{'half open': 'theta1 = 0.5'}"


def checked_events(events: Any) -> dict[str, Any]:
    """The expressions by name, as given; names are checked."""
    found = {} if events is None else by_name("events", events, EXAMPLE)
    for name in found:
        checked_title(name, "name of an event", LONGEST)
    return found


class Watch:
    """The test function of an event; ``point`` makes the point that it is measured at. ``known`` is None until it is
    evaluated, then whether it was ever a number."""

    def __init__(self, value: Measure, point: Callable[[Any], Any]) -> None:
        self._value, self._point = value, point
        self.known: bool | None = None

    def __call__(self, at: Any) -> float:
        value = self._value(self._point(at))
        self.known = bool(self.known) or not isnan(value)
        return value


def watches(events: Mapping[str, Any], like: Any, point: Callable[[Any], Any]) -> dict[str, Watch]:
    """Test functions by the name of each event; ``point`` makes points that can be measured like ``like``."""
    return {name: Watch(measure(expression, like, f"event {name!r}"), point) for name, expression in events.items()}


def warn_of_unknown(watched: Mapping[str, Watch]) -> None:
    """Warn of events whose expression was evaluated and was never a number."""
    for name, watch in watched.items():
        if watch.known is False:
            warn_of_no_number(name)


def measure(expression: Any, point: Any, culprit: str = "the measure") -> Measure:
    """An expression, in SymPy or text, as a function of points like ``point``; an equation becomes lhs − rhs.

    It is NaN where it has no finite real value.
    """
    known = {name: sm.Symbol(name) for name in point.measurable}
    _check_names(expression, known, culprit, point)
    formula = vanishing(expression, known, culprit, ParameterError)
    if not isinstance(formula, sm.Expr):
        raise ParameterError(f"{culprit} is {shown(formula)}: give an expression of {_some(known)}")
    formula = in_symbols(formula)
    used = sorted(formula.free_symbols, key=str)
    for symbol in used:
        if symbol.name not in known:
            raise ParameterError(f"{culprit} contains the unknown {symbol}: {nearest(symbol.name, known)}")
    if not used or formula.atoms(sm.core.function.AppliedUndef):
        raise ParameterError(f"{culprit} is {shown(formula)}: give an expression of {_some(known)}")
    evaluate = sm.lambdify(used, formula, modules="numpy")

    def value(at: Any) -> float:
        with np.errstate(all="ignore"):
            found = complex(evaluate(*(np.float64(at.measured(symbol.name)) for symbol in used)))
        return found.real if np.isfinite(found) and found.imag == 0 else nan

    return value


def _check_names(expression: Any, known: Mapping[str, Any], culprit: str, point: Any) -> None:
    """Refuse a state of an orbit, which has many values, for the names of its extreme and mean ones, and other names of
    the system for where they are used."""
    written = str(expression) if isinstance(expression, str | sm.Basic) else ""
    for name in re.findall(r"[^\W\d]\w*", written):
        if name not in known and f"max_{name}" in known:
            words = " or ".join(f"{of}_{name}" for of in ("max", "min", "mean", "amplitude") if f"{of}_{name}" in known)
            raise ParameterError(f"{culprit} contains {name}, which varies along an orbit: write {words}")
        if name not in known and (use := _use_of(point, name)):
            raise ParameterError(f"{culprit} contains the unknown {name}: {use}; here {_some(known)} are known")


def _some(known: Mapping[str, Any]) -> str:
    names = list(known)
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


def _use_of(point: Any, name: str) -> str:
    """Where a name of the system is used; empty for any other, and where the system is an assembly."""
    use_of = getattr(point.case.system, "use_of", None)
    return "" if use_of is None else str(use_of(name))
