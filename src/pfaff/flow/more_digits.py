"""Numbers with more digits than double precision has, as arrays of mpmath's, and the values of tapes in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np

from pfaff.flow.tape import OPS, TWO_ARGUMENTS, Op, Tape

DIGITS = 40
CONTEXT = mpmath.MPContext()
CONTEXT.dps = DIGITS
ARITHMETIC: dict[int, Callable[..., Any]] = {
    **{Op.ADD: CONTEXT.fadd, Op.SUB: CONTEXT.fsub, Op.MUL: CONTEXT.fmul, Op.DIV: CONTEXT.fdiv, Op.NEG: CONTEXT.fneg},
    **{Op.SQUARE: lambda a: a * a, Op.POW: CONTEXT.power, Op.SINCOS: lambda a: (CONTEXT.sin(a), CONTEXT.cos(a))},
}
FUNCTIONS = [ARITHMETIC.get(op) or getattr(CONTEXT, name.lower()) for op, name in enumerate(OPS)]


def wide(values: Any) -> np.ndarray:
    """An array of the same numbers, with which NumPy computes in more digits."""
    given = np.asarray(values)
    return np.array([CONTEXT.mpf(each) for each in given.ravel().tolist()], dtype=object).reshape(given.shape)


def wide_values(tape: Tape, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """The results at one state, at time zero; NaN for what has no value."""
    w: list[Any] = [*wide(x), CONTEXT.mpf(0), *wide(parameters[: tape.p]), *wide(tape.numbers)]
    w += [None] * (tape.size - len(w))
    for op, a, b, out in tape.rows.tolist():
        arguments = (w[a], w[b]) if op in TWO_ARGUMENTS else (w[a],)
        if op == Op.SINCOS:
            w[out], w[b] = _value(op, arguments, (CONTEXT.nan, CONTEXT.nan))
        else:
            w[out] = _value(op, arguments, CONTEXT.nan)
    return np.array([w[k] for k in tape.outputs], dtype=object)


def _value(op: int, arguments: tuple[Any, ...], otherwise: Any) -> Any:
    try:
        value = FUNCTIONS[op](*arguments)
    except (ValueError, ZeroDivisionError, OverflowError):
        return otherwise
    return otherwise if isinstance(value, CONTEXT.mpc) else value
