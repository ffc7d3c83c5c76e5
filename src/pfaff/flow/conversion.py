"""SymPy's expressions turned into ours: numbers are rounded here, once; what no reader can evaluate is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce

import sympy as sm

from pfaff.errors import StatementError
from pfaff.flow.graph import ARITHMETIC, BUILDERS, FUNCTIONS, ONE, Expression, div, expression, mul, power, sum_of

DIGITS = 25  # of numbers before they are rounded


def convert(whole: sm.Expr, known: Mapping[sm.Basic, Expression]) -> Expression:
    """An expression of SymPy's, with the meanings of its symbols, and of numbers that are none of ours."""
    found, apart = dict(known), any(each.is_number for each in known)
    stack = [whole]
    while stack:
        e = stack[-1]
        number = e.is_number and not (apart and e.args)
        terms = [] if e in found or number else _operands(e, not apart)
        todo = [each for each in terms if each not in found]
        stack.extend(todo[::-1])
        if not todo:
            stack.pop()
            if e not in found:
                found[e] = _number(e) if number else _converted(e, [found[each] for each in terms])
    return found[whole]


def _operands(e: sm.Expr, together: bool) -> list[sm.Expr]:
    """What is converted first; of a product the divisor last, 1 if there is none, and its numbers ``together``, so that
    equal coefficients are rounded alike wherever they stand."""
    if not e.is_Mul:
        return list(e.args)
    numbers = [a for a in e.args if together and a.is_number]
    others = [a for a in e.args if a not in numbers]
    below = [a for a in others if a.is_Pow and a.exp.is_number and a.exp.could_extract_minus_sign()]
    above = [a for a in others if a not in below]
    return [*([sm.Mul(*numbers)] if numbers else []), *above, sm.Mul(*(a.base**-a.exp for a in below))]


def _number(e: sm.Expr) -> Expression:
    try:
        value = float(e.evalf(DIGITS) if e.args else e)
    except (TypeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise StatementError(f"{e} is no finite real number")
    return expression(value)


def _converted(e: sm.Expr, terms: list[Expression]) -> Expression:
    if e.is_Add:
        return sum_of(terms)
    if e.is_Mul:
        return div(reduce(mul, terms[:-1], ONE), terms[-1])
    if e.is_Pow:
        return power(*terms)
    if e.is_Symbol:
        raise StatementError(f"{e} is neither a coordinate nor a parameter nor the time")
    name = e.func.__name__
    if name not in BUILDERS or name in ARITHMETIC:
        raise StatementError(
            f"{e} cannot be evaluated: write it by sums, products, powers and {', '.join(FUNCTIONS)}, atan2"
        )
    return BUILDERS[name](*terms)
