"""A tape: expressions as a straight-line program that is data, for readers that are compiled ahead of time.

Registers hold variables, the time, parameters, numbers, then what depends on these two alone (the prologue), then the
rest. An instruction is a row (op, a, b, out); one argument stands twice, and the sine of SINCOS goes to out, its
cosine to b. Rows are read in order; they are sorted into runs of equal operations, so that readers decide once for
many. Equal statements make equal tapes, in every process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from hashlib import sha256
from operator import index
from typing import Any

import numpy as np

from pfaff.errors import PfaffError
from pfaff.flow.graph import CLOCK, Expression, ordered
from pfaff.threads import cached_property


class Op(IntEnum):
    """The operations by the numbers that all readers know."""

    ADD, SUB, MUL, DIV, NEG, SQUARE, SQRT, SIN, COS, SINCOS, TAN, ASIN, ACOS = range(13)
    ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH, EXP, LOG, ERF, POW, ATAN2, ERFC = range(13, 26)


OPS = tuple(Op.__members__)


TWO_ARGUMENTS = frozenset((Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.POW, Op.ATAN2))
NUMPY: dict[int, Callable[..., Any]] = {
    **{Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply, Op.DIV: np.divide, Op.NEG: np.negative},
    **{Op.SQUARE: np.square, Op.SQRT: np.sqrt, Op.SIN: np.sin, Op.COS: np.cos, Op.TAN: np.tan, Op.ASIN: np.arcsin},
    **{Op.ACOS: np.arccos, Op.ATAN: np.arctan, Op.SINH: np.sinh, Op.COSH: np.cosh, Op.TANH: np.tanh},
    **{Op.ASINH: np.arcsinh, Op.ACOSH: np.arccosh, Op.ATANH: np.arctanh, Op.EXP: np.exp, Op.LOG: np.log},
    **{Op.ERF: np.vectorize(math.erf, [float]), Op.ERFC: np.vectorize(math.erfc, [float])},
    **{Op.POW: np.power, Op.ATAN2: np.arctan2},
}
DAMAGED = "this program of the equations is damaged: make it anew from the statement"
Row = tuple[Op, tuple[Expression, ...], tuple[Expression, ...]]  # operation, arguments, results


@dataclass(frozen=True, eq=False)
class Tape:
    """The program; whoever makes one, from a file too, gets it checked."""

    rows: np.ndarray  # int32[:, 4]: op, a, b, out
    runs: np.ndarray  # int32[:, 3]: op, first row, one past the last row
    prologue_runs: int  # how many of them depend on parameters and numbers alone
    numbers: np.ndarray
    n: int  # variables
    p: int  # parameters
    fixed: int  # registers before those of the main rows
    size: int  # registers
    outputs: np.ndarray  # int32[:]: registers of the results

    def __post_init__(self) -> None:
        try:
            for name, kind in (("rows", np.int32), ("runs", np.int32), ("numbers", float), ("outputs", np.int32)):
                array = np.ascontiguousarray(getattr(self, name), dtype=kind)
                array.flags.writeable = False
                object.__setattr__(self, name, array)
            for name in ("prologue_runs", "n", "p", "fixed", "size"):
                object.__setattr__(self, name, index(getattr(self, name)))
        except (TypeError, ValueError, OverflowError) as error:
            raise PfaffError(DAMAGED) from error
        self.check()

    def __reduce__(self) -> tuple[Any, ...]:
        return Tape, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def prologue_rows(self) -> int:
        return int(self.runs[self.prologue_runs - 1, 2]) if self.prologue_runs else 0

    @cached_property
    def key(self) -> str:
        """A digest of all that the tape is."""
        arrays = (self.rows, self.runs, self.numbers, self.outputs)
        head = repr((self.prologue_runs, self.n, self.p, self.fixed, self.size, *(a.shape for a in arrays)))
        return sha256(b"".join([head.encode(), *(a.tobytes() for a in arrays)])).hexdigest()

    @cached_property
    def timed(self) -> bool:
        """Whether results depend on the time."""
        two = np.isin(self.rows[:, 0], list(TWO_ARGUMENTS))
        return bool(
            (self.outputs == self.n).any() or (self.rows[:, 1] == self.n).any() or (self.rows[two, 2] == self.n).any()
        )

    def check(self) -> None:
        """Refuse a tape whose readers would touch what is not theirs, or read what is not yet written."""
        if not self._sound():
            raise PfaffError(DAMAGED)

    def _sound(self) -> bool:
        rows, runs, size, inputs = self.rows, self.runs, self.size, self.n + 1 + self.p + len(self.numbers)
        if rows.shape[1:] != (4,) or runs.shape[1:] != (3,) or self.numbers.ndim != 1 or self.outputs.ndim != 1:
            return False
        if min(self.n, self.p) < 0 or not inputs <= self.fixed <= size or not 0 <= self.prologue_runs <= len(runs):
            return False
        ops, first, last = runs.T
        ends = np.concatenate([[0], last])
        if (first != ends[:-1]).any() or (first >= last).any() or ends[-1] != len(rows):
            return False
        if (rows[:, 0] != np.repeat(ops, last - first)).any() or not _within(ops, 0, len(OPS)):
            return False
        return _within(rows[:, 1:], 0, size) and _within(self.outputs, 0, size) and self._in_order(inputs)

    def _in_order(self, inputs: int) -> bool:
        """Whether every register is written once, in the part that is its own, before it is read."""
        op, a, b, out = self.rows.T
        order, first_main = np.arange(len(op)), self.prologue_rows
        pairs = op == Op.SINCOS
        results, makers = np.concatenate([out, b[pairs]]), np.concatenate([order, order[pairs]])
        early = makers < first_main
        if not (_within(results[early], inputs, self.fixed) and _within(results[~early], self.fixed, self.size)):
            return False
        if len(results) != self.size - inputs:
            return False
        made = np.full(self.size, len(op))
        made[:inputs] = -1
        made[results] = makers
        read = np.where(pairs, a, b)
        constant = (np.minimum(a, read) > self.n)[:first_main].all()  # the prologue reads neither variables nor time
        once = np.bincount(results, minlength=1).max() <= 1  # np.unique imports numpy.ma
        return bool(once and constant and (made[a] < order).all() and (made[read] < order).all())

    def value(self, x: Any, parameters: Any = (), time: Any = 0.0) -> np.ndarray:
        """The results for one column x or for many, x[:, k]: what every reader must give, in the precision of x."""
        x, parameters = np.asarray(x), np.asarray(parameters)
        kind = np.result_type(x, parameters, float)
        w: list[Any] = [np.zeros(x.shape[1:], kind)] * self.size
        inputs = [
            *x.astype(kind),
            np.asarray(time, kind),
            *parameters[: self.p].astype(kind),
            *self.numbers.astype(kind),
        ]
        w[: len(inputs)] = inputs
        with np.errstate(all="ignore"):
            for op, a, b, out in self.rows.tolist():
                if op == Op.SINCOS:
                    w[out], w[b] = np.sin(w[a]), np.cos(w[a])
                else:
                    w[out] = NUMPY[op](w[a], w[b]) if op in TWO_ARGUMENTS else NUMPY[op](w[a])
        shape = np.broadcast_shapes(*(np.shape(each) for each in inputs))
        return np.array([np.broadcast_to(w[k], shape) for k in self.outputs], kind).reshape(-1, *shape)


def _within(array: np.ndarray, low: int, high: int) -> bool:
    # As Python's integers: NumPy before 2.2.6 may crash where it compares an array with one that it cannot hold.
    return not array.size or (low <= int(array.min()) and int(array.max()) < high)


def tape_of(expressions: Sequence[Expression], variables: Sequence[Expression]) -> Tape:
    """The tape of expressions in these variables, parameters and the time."""
    nodes, known, n = ordered(expressions), set(variables), len(variables)
    p = 1 + max((e.value for e in nodes if e.op == "parameter"), default=-1)
    numbers = [e for e in nodes if e.op == "number"]
    unknown = [e.value for e in nodes if e.op == "variable" and e not in known]
    if unknown:
        raise PfaffError(f"the equations depend on {', '.join(unknown)}: no value is given for it")
    place = {x: k for k, x in enumerate(variables)} | {CLOCK: n}
    place |= {e: n + 1 + e.value for e in nodes if e.op == "parameter"}
    place |= {e: n + 1 + p + k for k, e in enumerate(numbers)}
    size, parts, ends = n + 1 + p + len(numbers), [], []
    for moving in (False, True):
        rows = _scheduled(_paired([e for e in nodes if e.args and e.moving is moving]))
        for each in [each for _, _, results in rows for each in results]:
            place[each] = size
            size += 1
        parts.append(
            [
                (op, place[args[0]], place[(args if len(results) == 1 else results)[-1]], place[results[0]])
                for op, args, results in rows
            ]
        )
        ends.append(size)
    table = np.array([row for part in parts for row in part], np.int32).reshape(-1, 4)
    begins = np.diff(table[:, 0], prepend=-1) != 0
    begins[len(parts[0]) :][:1] = True  # no run goes on from the prologue into the rest
    cuts = np.flatnonzero(begins)
    runs = np.column_stack([table[cuts, 0], cuts, [*cuts[1:], len(table)][: len(cuts)]])
    return Tape(
        rows=table,
        runs=runs.reshape(-1, 3),
        prologue_runs=int(np.searchsorted(cuts, len(parts[0]))),
        numbers=np.array([e.value for e in numbers], float),
        n=n,
        p=p,
        fixed=ends[0],
        size=size,
        outputs=np.array([place[e] for e in expressions], np.int32),
    )


def _paired(nodes: list[Expression]) -> list[Row]:
    """The operations, with sine and cosine of one argument together."""
    cosines = {e.args[0]: e for e in nodes if e.op == "cos"}
    sines = {e.args[0] for e in nodes if e.op == "sin"}
    rows: list[Row] = []
    for e in nodes:
        if e.op == "sin" and e.args[0] in cosines:
            rows.append((Op.SINCOS, e.args, (e, cosines[e.args[0]])))
        elif e.op != "cos" or e.args[0] not in sines:
            rows.append((Op[e.op.upper()], e.args, (e,)))
    return rows


def _scheduled(rows: list[Row]) -> list[Row]:
    """The rows in an order with long runs of equal operations: always the one of which most are ready."""
    maker = {each: k for k, (_, _, results) in enumerate(rows) for each in results}
    users: list[list[int]] = [[] for _ in rows]
    waits = []
    for k, (_, args, _) in enumerate(rows):
        makers = {maker[a] for a in args if a in maker}
        waits.append(len(makers))
        for each in makers:
            users[each].append(k)
    ready: dict[Op, list[int]] = {op: [] for op in Op}
    for k, (op, *_) in enumerate(rows):
        if not waits[k]:
            ready[op].append(k)
    order: list[Row] = []
    while len(order) < len(rows):
        run = max(ready.values(), key=len)
        for k in run:  # grows while it is read
            order.append(rows[k])
            for user in users[k]:
                waits[user] -= 1
                if not waits[user]:
                    ready[rows[user][0]].append(user)
        run.clear()
    return order
