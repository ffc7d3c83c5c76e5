"""Expressions evaluated in numbers: in double precision, in many digits, and their sizes as if nothing cancelled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from threading import Lock
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import sympy as sm

from pfaff.threads import Once

SIMPLIFYING = Lock()  # SymPy meanwhile changes the digits of mpmath's common context


class Arithmetic:
    """The numbers and functions used: here those of NumPy, in double precision."""

    modules: Any = ("scipy", "numpy")  # NumPy alone has erf for single numbers only
    # The common functions: to look for others, SymPy imports all of NumPy, which takes a third of a second.
    common: Mapping[Any, Callable[..., Any]] = {
        sm.sin: np.sin, sm.cos: np.cos, sm.tan: np.tan, sm.exp: np.exp, sm.log: np.log,
        sm.sinh: np.sinh, sm.cosh: np.cosh, sm.tanh: np.tanh, sm.Abs: np.abs,
    }  # fmt: skip

    def __init__(self) -> None:
        self._functions: Once[tuple[Any, int], Callable[..., Any]] = Once(most=128)

    def number(self, e: sm.Basic) -> Any:
        """The value of a numeric expression, else None."""
        return float(e) if e.is_number else None

    def function(self, kind: Any, count: int) -> Callable[..., Any]:
        def compiled() -> Callable[..., Any]:
            arguments = sm.symbols(f"x1:{count + 1}")
            return sm.lambdify(arguments, kind(*arguments), list(self.modules))

        return self.common[kind] if kind in self.common and count == 1 else self._functions.get((kind, count), compiled)


class Digits(Arithmetic):
    """Arithmetic in many digits, in a context ``mp`` of its own: mpmath's common one is shared by all threads."""

    common: Mapping[Any, Callable[..., Any]] = {}

    def __init__(self, digits: int) -> None:
        super().__init__()
        self.mp = mpmath.MPContext()
        self.mp.dps = digits
        names = {name: getattr(self.mp, name) for name in dir(self.mp) if not name.startswith("_")}
        self.modules = [names, "mpmath"]

    def number(self, e: sm.Basic) -> Any:
        """The value of a number; functions of numbers are left to the context: SymPy would use the common one."""
        return self.mp.mpf(e.evalf(self.mp.dps)) if e.is_number and e.is_Atom else None


class Single(Arithmetic):
    """Arithmetic of single numbers, whose functions raise where they are not defined."""

    modules: Any = ("math",)
    common: Mapping[Any, Callable[..., Any]] = {
        sm.sin: math.sin, sm.cos: math.cos, sm.tan: math.tan, sm.exp: math.exp, sm.log: math.log,
        sm.sinh: math.sinh, sm.cosh: math.cosh, sm.tanh: math.tanh, sm.Abs: abs,
    }  # fmt: skip


DOUBLE, SINGLE = Arithmetic(), Single()


def fraction(number: float | str) -> sm.Rational:
    """The fraction that a decimal number stands for, to its digits: 0.3333333333333333 is 1/3."""
    with SIMPLIFYING:
        return sm.nsimplify(number, rational=True)


def evaluated(
    expressions: Sequence[sm.Expr], values: Mapping[sm.Basic, Any], arithmetic: Arithmetic = DOUBLE
) -> list[Any]:
    """Expressions at numbers or arrays, common parts once: faster for large trees than printing them."""
    known: dict[sm.Basic, Any] = dict(values)
    with np.errstate(all="ignore"):
        return [_value(e, known, arithmetic) for e in expressions]


def magnitudes(
    expressions: Sequence[sm.Expr], values: Mapping[sm.Basic, Any], usual: Mapping[sm.Basic, Any] | None = None
) -> list[Any]:
    """Sizes of the terms of each expression: sums of absolute values.

    ``usual`` are the sizes of values that may be zero up to rounding.
    """
    known: dict[sm.Basic, Any] = dict(values)
    sizes: dict[sm.Basic, Any] = dict(usual or {})

    def parts(e: sm.Basic) -> Sequence[sm.Basic]:
        return e.args if isinstance(e, sm.Add | sm.Mul) else e.args[:1] if _repeated(e) else ()

    def size(e: sm.Basic, terms: list[Any]) -> Any:
        if isinstance(e, sm.Add):
            return sum(terms)
        if isinstance(e, sm.Mul):
            return math.prod(terms)
        return terms[0] ** int(e.exp) if terms else abs(_value(e, known, DOUBLE))

    with np.errstate(all="ignore"):
        return [_filled(e, sizes, parts, size) for e in expressions]


def containing(expressions: Iterable[sm.Basic], symbols: AbstractSet[sm.Basic]) -> dict[sm.Basic, bool]:
    """All parts of expressions, each once and before what it stands in: whether they contain some of the symbols."""
    found: dict[sm.Basic, bool] = dict.fromkeys(symbols, True)
    for e in expressions:
        _filled(e, found, lambda part: part.args, lambda part, of: any(of))
    return found


def _repeated(e: sm.Basic) -> bool:
    """Whether it is a power that is a product."""
    return bool(isinstance(e, sm.Pow) and e.exp.is_Integer and e.exp > 0)


def steps(
    expressions: Iterable[sm.Basic], symbols: Sequence[sm.Symbol], arithmetic: Arithmetic
) -> Callable[[Iterable[Any]], list[Any]]:
    """Expressions as a function of the values of symbols, step by step, common parts once: for many calls."""
    program: list[tuple[Callable[..., Any], list[int]]] = []
    places: dict[sm.Basic, Any] = {x: k for k, x in enumerate(symbols)}

    def step(e: sm.Basic, of: list[int]) -> int:
        program.append((_operation(e, arithmetic), of))
        return len(symbols) + len(program) - 1

    found = [_filled(e, places, _operands, step) for e in expressions]

    def evaluate(values: Iterable[Any]) -> list[Any]:
        known = list(values)
        for operation, of in program:
            known.append(operation(*[known[k] for k in of]))
        return [known[k] for k in found]

    return evaluate


def _value(e: sm.Basic, known: dict[sm.Basic, Any], arithmetic: Arithmetic) -> Any:
    return _filled(e, known, _operands, lambda part, terms: _operation(part, arithmetic)(*terms))


def _operands(e: sm.Basic) -> Sequence[sm.Basic]:
    if isinstance(e, sm.Add | sm.Mul | sm.Pow) or _plain(e):
        return e.args
    if isinstance(e, sm.Symbol):
        raise KeyError(f"{e} has no value")
    return sorted(e.free_symbols, key=str)


def _operation(e: sm.Basic, arithmetic: Arithmetic) -> Callable[..., Any]:
    """What makes a value of those of the operands."""
    if isinstance(e, sm.Add):
        return lambda first, *more: sum(more, first)
    if isinstance(e, sm.Mul):
        return lambda first, *more: math.prod(more, start=first)
    if isinstance(e, sm.Pow):
        return pow
    if _plain(e):
        return arithmetic.function(e.func, len(e.args))
    operands = _operands(e)
    if not operands and (number := arithmetic.number(e)) is not None:
        return lambda: number
    return sm.lambdify(operands, e, list(arithmetic.modules), dummify=True)


def _plain(e: sm.Basic) -> bool:
    return isinstance(e, sm.Function) and all(isinstance(x, sm.Expr) for x in e.args)


def _filled(
    whole: sm.Basic,
    known: dict[sm.Basic, Any],
    parts: Callable[[sm.Basic], Sequence[sm.Basic]],
    made: Callable[[sm.Basic, list[Any]], Any],
) -> Any:
    """What is made of an expression and of what is known of its parts: without recursion, however deep they are."""
    stack: list[tuple[sm.Basic, Sequence[sm.Basic] | None]] = [(whole, None)]
    while stack:
        e, terms = stack.pop()
        if e in known:
            continue
        if terms is None:
            terms = parts(e)
            stack.append((e, terms))
            stack.extend((each, None) for each in terms if each not in known)
        else:
            known[e] = made(e, [known[each] for each in terms])
    return known[whole]
