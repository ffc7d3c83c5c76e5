"""Rows of a tape with those of the slopes of its functions: what their recurrences need.

A function f(a) with the slope g(a) obeys k f_k = Σ j a_j g_{k−j}; g is another function, or follows by algebra.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pfaff.flow.tape import OPS

(
    ADD, SUB, MUL, DIV, NEG, SQUARE, SQRT, SIN, COS, SINCOS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH,
    ASINH, ACOSH, ATANH, EXP, LOG, ERF, POW, ATAN2, ERFC,
) = range(len(OPS))  # fmt: skip
PLAIN, TIMES, OVER, FUNCTION, MINUS_FUNCTION = range(5)  # what becomes of a sum
TWO_OVER_ROOT_PI = 1.1283791670955126

Row = tuple[int, int, int, int]


@dataclass
class Sum:
    """Σ w[c] u[x] + Σ ± a b, then what becomes of it, with another register; or ± the function of a with slope g."""

    linear: list[tuple[int, int]] = field(default_factory=list)
    plus: list[tuple[int, int]] = field(default_factory=list)
    minus: list[tuple[int, int]] = field(default_factory=list)
    kind: int = PLAIN
    by: int = 0

    @property
    def terms(self) -> int:
        return len(self.linear) + len(self.plus) + len(self.minus)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return self.kind, len(self.linear), len(self.plus), len(self.minus)

    @property
    def needs(self) -> list[int]:
        """Registers whose coefficients are needed: for functions those of the same order, then of lower ones."""
        pairs = [each for pair in (*self.plus, *self.minus) for each in pair]
        return [x for _, x in self.linear] + pairs


class Functions:
    """Rows of values, the recurrences of functions among them, and new registers for what these need."""

    def __init__(self, tape: Any) -> None:
        self.tape, self.size = tape, int(tape.size)
        first = int(tape.runs[tape.prologue_runs - 1, 2]) if tape.prologue_runs else 0
        self.prologue = [tuple(row) for row in tape.rows[:first].tolist()]
        self.main = [tuple(row) for row in tape.rows[first:].tolist()]
        self.constants: dict[float, int] = {}
        self.negated: dict[int, int] = {}
        self.inverses: dict[tuple[float, int], int] = {}
        self.later: list[Row] = []  # rows of values that only recurrences need
        self.sums: dict[int, Sum] = {}
        self.uses: dict[int, int] = {}

    def _new(self) -> int:
        self.size += 1
        return self.size - 1

    def _constant(self, value: float) -> int:
        if value not in self.constants:
            self.constants[value] = self._new()
        return self.constants[value]

    def _function(self, out: int, a: int, slope: int, sign: int = 1) -> None:
        self.sums[out] = Sum([(0, a)], [(a, slope)], [], FUNCTION if sign > 0 else MINUS_FUNCTION)

    def _with_slopes(self, op: int, a: int, b: int, out: int) -> Iterator[Row]:
        """The row with those of its slope, whose registers are new; notes the recurrence of a function."""
        new, one = self._new, self._constant
        if op <= SQRT:
            yield op, a, b, out
        elif op in (SIN, COS, SINCOS):
            sine = new() if op == COS else out
            cosine = out if op == COS else b if op == SINCOS else new()
            yield SINCOS, a, cosine, sine
            self._function(sine, a, cosine)
            self._function(cosine, a, sine, -1)
        elif op in (SINH, COSH):
            other = new()
            yield op, a, a, out
            yield SINH + COSH - op, a, a, other
            self._function(out, a, other)
            self._function(other, a, out)
        elif op == EXP:
            yield op, a, a, out
            self._function(out, a, out)
        elif op == POW and b not in self._still:
            yield POW, a, b, out
            logarithm, slope, product = new(), new(), new()
            yield LOG, a, a, logarithm
            yield DIV, one(1.0), a, slope
            yield MUL, b, logarithm, product
            self._function(logarithm, a, slope)
            self._function(out, product, out)
        elif op == ATAN2:
            squares, sides, parts = [new(), new()], [new(), new()], [new(), new()]
            total = new()
            yield ATAN2, a, b, out
            yield SQUARE, a, a, squares[0]
            yield SQUARE, b, b, squares[1]
            yield ADD, squares[0], squares[1], total
            yield DIV, b, total, sides[0]
            yield DIV, a, total, sides[1]
            self._function(parts[0], a, sides[0])
            self._function(parts[1], b, sides[1])
            plus, minus = one(1.0), one(-1.0)
            self.sums[out] = Sum([(plus, parts[0]), (minus, parts[1])])
        else:
            yield op, a, b, out
            slope = yield from self._slope(op, a, b, out)
            self._function(out, a, slope, -1 if op in (ACOS, ERFC) else 1)

    @property
    def _still(self) -> range | set[int]:
        """Registers that do not move."""
        if not hasattr(self, "_still_known"):
            known = set(range(self.tape.n + 1, self.tape.n + 1 + self.tape.p + len(self.tape.numbers)))
            self._still_known = known | {out for row in self.prologue for out in written(row)}
        return self._still_known

    def _slope(self, op: int, a: int, b: int, out: int) -> Generator[Row, None, int]:
        """Rows of the slope of a function of one argument by algebra; returns its register."""
        one, rows = self._constant(1.0), []

        def put(op: int, a: int, b: int | None = None) -> int:
            rows.append((op, a, a if b is None else b, self._new()))
            return rows[-1][-1]

        if op == LOG:
            slope = put(DIV, one, a)
        elif op == POW:
            slope = put(DIV, put(MUL, b, out), a)
        elif op == TAN:
            slope = put(ADD, one, put(SQUARE, out))
        elif op == TANH:
            slope = put(DIV, one, put(SQUARE, put(COSH, a)))  # 1 − f² has no digits where f is nearly one
            self._function(slope, a, put(MUL, self._constant(-2.0), put(MUL, out, slope)))
        elif op in (ERF, ERFC):
            factor, exponent = self._constant(TWO_OVER_ROOT_PI), put(NEG, put(SQUARE, a))
            power = put(EXP, exponent)
            self._function(power, exponent, power)
            slope = put(MUL, factor, power)
        else:
            if op in (ATAN, ASINH):
                below = put(ADD, one, put(SQUARE, a))
            else:
                difference = put(SUB, a, one) if op == ACOSH else put(SUB, one, a)
                below = put(MUL, difference, put(ADD, one, a))
            slope = put(DIV, one, below if op in (ATAN, ATANH) else put(SQRT, below))
        yield from rows
        return slope


def written(row: Iterable[int]) -> tuple[int, ...]:
    """The registers that a row writes."""
    op, _, b, out = row
    return (out, b) if op == SINCOS else (out,)
