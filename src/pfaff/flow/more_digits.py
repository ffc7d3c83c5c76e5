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
ZERO = CONTEXT.mpf(0)
BITS = 400  # of the largest entry of a matrix in a product: those that are smaller by 1e80 keep all digits
ARITHMETIC: dict[int, Callable[..., Any]] = {
    **{Op.ADD: CONTEXT.fadd, Op.SUB: CONTEXT.fsub, Op.MUL: CONTEXT.fmul, Op.DIV: CONTEXT.fdiv, Op.NEG: CONTEXT.fneg},
    **{Op.SQUARE: lambda a: a * a, Op.POW: CONTEXT.power, Op.SINCOS: lambda a: (CONTEXT.sin(a), CONTEXT.cos(a))},
}
FUNCTIONS = [ARITHMETIC.get(op) or getattr(CONTEXT, name.lower()) for op, name in enumerate(OPS)]


def wide(values: Any) -> np.ndarray:
    """An array of the same numbers, with which NumPy computes in more digits."""
    given = np.asarray(values)
    return np.array([CONTEXT.mpf(each) for each in given.ravel().tolist()], dtype=object).reshape(given.shape)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two matrices of such numbers, summed in integers, with which Python computes much faster."""
    (left, up), (right, down) = _whole(a), _whole(b)
    if left is None or right is None:
        return np.asarray(a @ b)
    sums = left @ right
    found = [CONTEXT.mpf((each, up + down)) if each else ZERO for each in sums.ravel().tolist()]
    return np.array(found, dtype=object).reshape(sums.shape)


def _whole(matrix: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Integers and an exponent of two: the same numbers, the largest of them with so many bits; none if one is not
    finite."""
    parts = [(each < 0, *each.man_exp, each.bc) for each in matrix.ravel().tolist()]
    if any(exponent and not mantissa for _, mantissa, exponent, _ in parts):
        return None, 0
    least = max((exponent + bits for _, mantissa, exponent, bits in parts if mantissa), default=0) - BITS
    whole = [
        (-1 if sign else 1) * (mantissa << exponent - least if exponent >= least else mantissa >> least - exponent)
        for sign, mantissa, exponent, _ in parts
    ]
    return np.array(whole, dtype=object).reshape(matrix.shape), least


def wide_values(tape: Tape, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """The results at one state, at time zero; NaN for what has no value."""
    w = wide_registers(tape, x, parameters)
    return np.array([w[k] for k in tape.outputs], dtype=object)


def wide_registers(tape: Tape, x: np.ndarray, parameters: np.ndarray) -> list[Any]:
    """All that a tape computes at one state, at time zero."""
    w: list[Any] = [*wide(x), ZERO, *wide(parameters[: tape.p]), *wide(tape.numbers)]
    w += [None] * (tape.size - len(w))
    for instruction in tape.rows.tolist():
        _obey(w, *instruction)
    return w


def wide_change(tape: Tape, registers: list[Any], place: int, value: Any) -> np.ndarray:
    """How the results change, in double precision, where one input has another value."""
    w, moved = registers.copy(), {place}
    w[place] = value
    for op, a, b, out in tape.rows.tolist():
        if a in moved or (b in moved and op in TWO_ARGUMENTS):
            _obey(w, op, a, b, out)
            moved.update((out, b) if op == Op.SINCOS else (out,))
    return np.array([float(w[k] - registers[k]) if k in moved else 0.0 for k in tape.outputs.tolist()])


def _obey(w: list[Any], op: int, a: int, b: int, out: int) -> None:
    arguments = (w[a], w[b]) if op in TWO_ARGUMENTS else (w[a],)
    if op == Op.SINCOS:
        w[out], w[b] = _value(op, arguments, (CONTEXT.nan, CONTEXT.nan))
    else:
        w[out] = _value(op, arguments, CONTEXT.nan)


def _value(op: int, arguments: tuple[Any, ...], otherwise: Any) -> Any:
    try:
        value = FUNCTIONS[op](*arguments)
    except (ValueError, ZeroDivisionError, OverflowError):
        return otherwise
    return otherwise if isinstance(value, CONTEXT.mpc) else value
