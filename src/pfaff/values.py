"""Values of parameters: exact numbers stay exact, everything else is a finite float in its declared range."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, PfaffError
from pfaff.expressions import constant, shortened

LONGEST = 30  # characters of a number in a message
SMALLEST = sys.float_info.min  # numbers below it have lost digits, and the inverses of many are not finite


def checked_value(symbol: sm.Symbol, value: Any) -> Any:
    """The value as it is kept: exact numbers exact, everything else a finite float in its declared range."""
    name = symbol.name
    if isinstance(value, str):
        value = constant(value, f"{name}={shortened(value)} is not a number such as 1.5, 3/2 or 1e-3")
    if isinstance(value, bool) or not isinstance(value, (Real, sm.Expr, np.number)):
        raise ParameterError(f"{name}={value!r} is not a number: write 1.5, Fraction(3, 2) or a SymPy number")
    if isinstance(value, (int, Fraction)):
        value = sm.Rational(value)
    if isinstance(value, sm.Expr) and value.free_symbols:
        return value
    try:
        number = complex(value)
    except (TypeError, OverflowError):
        raise ParameterError(f"{name} is not a finite real number") from None
    if not (math.isfinite(number.real) and number.imag == 0):
        raise ParameterError(f"{name}={shown(value)} is not a finite real number")
    if symbol.is_positive and value > 0 and number.real < SMALLEST:
        raise ParameterError(f"{name}={shown(value)} has no finite inverse in double precision: use other units")
    for promise, kept in (("positive", number.real > 0), ("nonnegative", number.real >= 0)):
        if getattr(symbol, f"is_{promise}") and not kept:
            raise ParameterError(
                f"{name}={shown(value)} breaks the declaration that {name} is {promise}: give a {promise} value"
            )
    return value if isinstance(value, sm.Expr) else float(value)


def number_from(name: str, value: Any) -> float:
    """A finite number from a number, a fraction or text such as 1/2."""
    if isinstance(value, str):
        value = constant(value, f"{name}={shortened(value)} is not a number")
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        hint = "; many at once go into ensemble" if np.ndim(value) else ""
        raise ParameterError(f"{name}={value!r} is not a number: write 0.1, '1/10' or 'pi/2'{hint}") from None
    except OverflowError:
        number = math.inf
    if not np.isfinite(number):
        raise ParameterError(f"{name}={shown(value)} is not finite: give a number")
    return number


def numbers_from(name: str, values: Any) -> np.ndarray:
    """Numbers in an array of any shape; finite or not is for whoever asks to say."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"{name} must be numbers: {str(problem)[:100]}") from problem


def whole_number(
    name: str, value: Any, least: int, most: int, remedy: str, refuse: type[PfaffError] = ParameterError
) -> int:
    """A count within limits: beyond them it would take hours or more memory than there is."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise refuse(f"{name}={value!r} is no whole number: give one from {least} up")
    if value < least:
        raise refuse(f"{name}={shown(value)}: give a whole number from {least} up")
    if value > most:
        raise refuse(f"{name}={shown(value)} is more than {most}: {remedy}")
    return int(value)


def shown(value: Any) -> str:
    """A number for a message; those of very many digits by their size."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"{'-' if value < 0 else ''}10^{int(value.bit_length() * math.log10(2))}"
    text = str(value)
    if len(text) <= LONGEST:
        return text
    return str(sm.N(value, 6)) if isinstance(value, sm.Basic) else f"{text[:LONGEST]}…"
