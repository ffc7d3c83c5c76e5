"""Expressions of a point: measured along what is followed, and located as events where they vanish.

Points tell what they can be measured by: ``measurable`` are the names, ``measured(name)`` is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, nearest
from pfaff.statement.expressions import LONGEST, expressed
from pfaff.statement.names import checked_title
from pfaff.statement.values import by_name, shown

Measure = Callable[[Any], float]
EXAMPLE = "{'half open': 'theta1 = 0.5'}"


def checked_events(events: Any) -> dict[str, Any]:
    """Expressions by name, as they were given."""
    found = {} if events is None else by_name("events", events, EXAMPLE)
    for name in found:
        checked_title(name, "name of an event", LONGEST)
    return found


def watches(events: Mapping[str, Any], like: Any, point: Callable[[Any], Any]) -> dict[str, Measure]:
    """What is to vanish, by the name of each event, where ``point`` makes points like one."""

    def of(value: Measure) -> Measure:
        return lambda at: value(point(at))

    return {name: of(measure(expression, like, f"event {name!r}")) for name, expression in events.items()}


def measure(expression: Any, point: Any, culprit: str = "the measure") -> Measure:
    """An expression, in SymPy or text, as a function of points like one; an equation is what it lacks to hold.

    It is not a number where it has no finite value.
    """
    known = {name: sm.Symbol(name) for name in point.measurable}
    formula = _expressed(expression, known, culprit)
    if not isinstance(formula, sm.Expr):
        raise ParameterError(f"{culprit} is {shown(formula)}: give an expression of {_some(known)}")
    used = sorted(formula.free_symbols, key=str)
    for symbol in used:
        if symbol.name not in known:
            raise ParameterError(f"{culprit} contains the unknown {symbol}: {nearest(symbol.name, known)}")
    if not used or formula.atoms(sm.core.function.AppliedUndef):
        raise ParameterError(f"{culprit} is {shown(formula)}: give an expression of {_some(known)}")
    evaluate = sm.lambdify(used, formula, modules="numpy")

    def value(at: Any) -> float:
        with np.errstate(all="ignore"):
            found = float(evaluate(*(np.float64(at.measured(symbol.name)) for symbol in used)))
        return found if np.isfinite(found) else float("nan")

    return value


def _expressed(expression: Any, known: Mapping[str, sm.Symbol], culprit: str) -> sm.Expr:
    """What vanishes where an equation holds; each side of one in text is read, and blamed, by itself."""
    if isinstance(expression, sm.Equality):
        expression = expression.lhs - expression.rhs
    sides = expression.split("=") if isinstance(expression, str) and expression.count("=") == 1 else [expression]
    left, *right = (
        expressed(side.strip() if isinstance(side, str) else side, known, culprit, ParameterError) for side in sides
    )
    return left - right[0] if right else left


def _some(known: Mapping[str, Any]) -> str:
    names = list(known)
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
