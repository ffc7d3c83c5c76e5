"""Expressions at numbers: in double precision, in many digits, and what they would be if nothing cancelled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import sympy as sm


def evaluated(expressions: Sequence[sm.Expr], values: Mapping[sm.Basic, Any], module: str = "numpy") -> list[Any]:
    """Expressions at numbers or arrays, common parts once: large trees are evaluated sooner than printed.

    With the module ``"mpmath"`` in the digits of its context.
    """
    known: dict[sm.Basic, Any] = dict(values)
    with np.errstate(all="ignore"):
        return [_value(e, known, module) for e in expressions]


def magnitudes(
    expressions: Sequence[sm.Expr], values: Mapping[sm.Basic, Any], usual: Mapping[sm.Basic, Any] | None = None
) -> list[Any]:
    """The sizes of the terms of each expression: sums with the signs of their terms left out.

    ``usual`` are sizes of what may be zero but for rounding.
    """
    known: dict[sm.Basic, Any] = dict(values)
    sizes: dict[sm.Basic, Any] = dict(usual or {})

    def size(e: sm.Basic) -> Any:
        if e not in sizes:
            if isinstance(e, sm.Add):
                sizes[e] = sum(map(size, e.args))
            elif isinstance(e, sm.Mul):
                sizes[e] = math.prod(map(size, e.args))
            elif isinstance(e, sm.Pow) and e.exp.is_Integer and e.exp > 0:
                sizes[e] = size(e.base) ** int(e.exp)
            else:
                sizes[e] = abs(_value(e, known, "numpy"))
        return sizes[e]

    with np.errstate(all="ignore"):
        return [size(e) for e in expressions]


def _value(e: sm.Basic, known: dict[sm.Basic, Any], module: str) -> Any:
    if e in known:
        return known[e]
    value: Callable[[sm.Basic], Any] = lambda part: _value(part, known, module)  # noqa: E731
    if isinstance(e, sm.Add):
        found = sum(map(value, e.args[1:]), value(e.args[0]))
    elif isinstance(e, sm.Mul):
        found = math.prod(map(value, e.args[1:]), start=value(e.args[0]))
    elif isinstance(e, sm.Pow):
        found = value(e.base) ** value(e.exp)
    elif e.is_number:
        found = _number(e, module)
    elif isinstance(e, sm.Function) and all(isinstance(x, sm.Expr) for x in e.args):
        found = _function(e.func, len(e.args), module)(*map(value, e.args))
    else:
        symbols = sorted(e.free_symbols, key=str)
        found = sm.lambdify(symbols, e, module)(*map(value, symbols))
    known[e] = found
    return found


def _number(e: sm.Basic, module: str) -> Any:
    if module == "numpy":
        return float(e)
    return mpmath.mpf(e.evalf(mpmath.mp.dps))


@lru_cache(maxsize=128)
def _function(function: Any, count: int, module: str) -> Callable[..., Any]:
    arguments = sm.symbols(f"x1:{count + 1}")
    return sm.lambdify(arguments, function(*arguments), module)
