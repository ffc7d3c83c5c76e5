"""Recurrences of Taylor coefficients, lowered from a tape: what kernels sweep through, order by order.

With x = Σ x_j s^j the coefficients of a product are a convolution, Σ a_j b_{k−j}; a quotient q = a/b solves b q = a; a
function f(a) with the slope g(a) obeys k f_k = Σ j a_j g_{k−j}. So everything is a sum of numbers times coefficients
and of convolutions: whatever is used once in a sum becomes part of it. Values of order zero are the tape's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pfaff.flow.slopes import (
    ADD,
    DIV,
    FUNCTION,
    MUL,
    NEG,
    OVER,
    PLAIN,
    SQRT,
    SQUARE,
    SUB,
    TIMES,
    Functions,
    Sum,
    written,
)

FORMS = (  # frequent shapes (kind, linear, plus, minus), each with a loop of its own in ``kernels.coefficients``
    *((PLAIN, 0, 1, 0), (TIMES, 0, 1, 0), (PLAIN, 2, 0, 0), (PLAIN, 1, 0, 0), (PLAIN, 0, 2, 0)),
    *((TIMES, 1, 0, 1), (PLAIN, 0, 1, 1), (PLAIN, 1, 1, 0), (PLAIN, 3, 0, 0), (PLAIN, 1, 0, 1)),
)


@dataclass(frozen=True, eq=False)
class Recurrences:
    """Arrays for the kernel: rows of values of order zero; sums in runs of equal shape; where coefficients are kept.

    ``runs`` holds (kind, linear, plus, minus, start in ``code``, count, form); ``left`` and ``right`` are registers
    that are kept as they are and reversed, ``slopes`` those that are kept times their order.
    """

    n: int
    p: int
    size: int
    numbers: np.ndarray  # from register n + 1 + p
    constants: tuple[tuple[int, float], ...]
    prologue: np.ndarray
    prologue_runs: np.ndarray
    rows: np.ndarray
    row_runs: np.ndarray
    runs: np.ndarray
    code: np.ndarray
    forward: np.ndarray  # where in the code places of coefficients stand, kept as they are or times their order, ...
    backward: np.ndarray  # ... and reversed
    left: np.ndarray
    right: np.ndarray
    slopes: np.ndarray
    outputs: np.ndarray

    @property
    def operations(self) -> int:
        return len(self.rows)


def lowered(tape: Any) -> Recurrences:
    """The recurrences of all outputs of a tape."""
    return _Lowering(tape).done()


class _Lowering(Functions):
    """Sums for all registers that move, then their order and arrays."""

    def done(self) -> Recurrences:
        self.rows = [row for op, a, b, out in self.main for row in self._with_slopes(op, a, b, out)]
        moving = set(range(self.tape.n + 1)) | {out for row in self.rows for out in written(row)}
        self.moving = moving | {out for out, found in self.sums.items() if found.kind >= FUNCTION}
        self._count_uses()
        for op, a, b, out in self.rows:
            if out not in self.sums:
                self.sums[out] = self._sum(op, a, b, out)
        order = list(self._scheduled())
        return self._arrays(order)

    def _count_uses(self) -> None:
        used = list(map(int, self.tape.outputs))
        for op, a, b, out in self.rows:
            if out in self.sums:
                used += (
                    self.sums[out].needs if self.sums[out].kind >= FUNCTION else [x for _, x in self.sums[out].linear]
                )
            else:
                used += [a, b] if op in (ADD, SUB, MUL, DIV) else [a, a] if op == SQUARE else [a]
            if op in (DIV, SQRT):
                used += [out, out]
        for found in self.sums.values():
            used += found.needs * 2  # never parts of sums
        for x in used:
            self.uses[x] = self.uses.get(x, 0) + 1

    def _part(self, x: int) -> Sum:
        """What a sum takes for a register: its own terms if nobody else uses it, else its coefficient."""
        if x not in self.moving:
            return Sum()
        found = self.sums.get(x)
        if found and found.kind == PLAIN and self.uses[x] == 1:
            return found
        return Sum([(self._constant(1.0), x)])

    def _negative(self, x: int) -> int:
        """A register with the negative of what does not move."""
        for value, register in self.constants.items():
            if register == x:
                return self._constant(-value)
        if x not in self.negated:
            self.negated[x] = self._new()
            self.prologue.append((NEG, x, x, self.negated[x]))
        return self.negated[x]

    def _minus(self, of: Sum) -> Sum:
        return Sum([(self._negative(c), x) for c, x in of.linear], list(of.minus), list(of.plus))

    def _together(self, a: int, b: int, sign: int) -> Sum:
        """a ± b, in this order but for one of them that is longer: of additions nested on both sides one remains."""
        first, second = self._part(a), self._part(b)
        if first.terms > 1 and second.terms > 1:
            second = Sum([(self._constant(1.0), b)])
        second = second if sign > 0 else self._minus(second)
        head, tail = (second, first) if second.terms > 1 else (first, second)
        return Sum(head.linear + tail.linear, head.plus + tail.plus, head.minus + tail.minus)

    def _sum(self, op: int, a: int, b: int, out: int) -> Sum:
        moves_a, moves_b = a in self.moving, b in self.moving
        if op in (ADD, SUB):
            return self._together(a, b, 1 if op == ADD else -1)
        if op == NEG:
            return self._minus(self._part(a))
        if op == SQUARE:
            return Sum([], [(a, a)])
        if op == MUL:
            if moves_a and moves_b:
                return Sum([], [(a, b)])
            still, x = (b, a) if moves_a else (a, b)
            part = self._part(x)
            if part.terms == 1 and part.linear and self.sums.get(x) is not part:
                return Sum([(still, x)])
            return replace(part, kind=TIMES, by=still)
        if op == DIV:
            part = self._part(a)
            if not moves_b:  # rounded anew each time: the same error at every step would pile up
                return replace(part, kind=OVER, by=b)
            return replace(part, minus=[*part.minus, (b, out)], kind=TIMES, by=self._inverse(1.0, b))
        part = self._part(a)
        return replace(part, minus=[*part.minus, (out, out)], kind=TIMES, by=self._inverse(0.5, out))

    def _inverse(self, one: float, x: int) -> int:
        """A register with one (or a half) over another."""
        if (one, x) not in self.inverses:
            self.inverses[one, x] = self._new()
            self.later.append((DIV, self._constant(one), x, self.inverses[one, x]))
        return self.inverses[one, x]

    def _scheduled(self) -> Iterator[int]:
        """Registers whose sums are needed, in an order with long runs of equal shapes."""
        wanted, stack = set[int](), list(map(int, self.tape.outputs))
        while stack:
            x = stack.pop()
            if x in self.sums and x not in wanted:
                wanted.add(x)
                stack += self.sums[x].needs
        waits, users = dict[int, int](), dict[int, list[int]]()
        for out in sorted(wanted):
            found = self.sums[out]
            now = {found.linear[0][1]} if found.kind >= FUNCTION else set(found.needs) - {out}
            now &= wanted
            waits[out] = len(now)
            for x in now:
                users.setdefault(x, []).append(out)
        ready: dict[tuple[int, ...], list[int]] = {}
        for out in sorted(wanted):
            if not waits[out]:
                ready.setdefault(self.sums[out].shape, []).append(out)
        while ready:
            shape = max(ready, key=lambda shape: (len(ready[shape]), shape))
            queue = ready.pop(shape)
            for out in queue:
                yield out
                for user in users.get(out, ()):
                    waits[user] -= 1
                    if not waits[user]:
                        its = self.sums[user].shape
                        (queue if its == shape else ready.setdefault(its, [])).append(user)

    def _arrays(self, order: list[int]) -> Recurrences:
        places = _Places()
        runs: list[list[int]] = []
        code: list[int] = []
        forward: list[int] = []
        for out in order:
            found = self.sums[out]
            if not runs or tuple(runs[-1][:4]) != found.shape:
                runs.append([*found.shape, len(code), 0, _form(found)])
            runs[-1][5] += 1
            if found.kind >= FUNCTION:
                a, slope = found.plus[0]
                code += [out, a, slope, places.slope(a), places.right(slope)]
                forward.append(len(code) - 2)
                continue
            code += [out, found.by]
            for term in found.linear:
                code += term
            for pair in (*found.plus, *found.minus):
                code += places.of(*pair)
                forward.append(len(code) - 2)
        prologue, rows = (np.array(each, np.int32).reshape(-1, 4) for each in (self.prologue, self.rows + self.later))
        return Recurrences(
            n=self.tape.n,
            p=self.tape.p,
            size=self.size,
            numbers=np.asarray(self.tape.numbers, dtype=float),
            constants=tuple((register, value) for value, register in self.constants.items()),
            prologue=prologue,
            prologue_runs=_runs(prologue),
            rows=rows,
            row_runs=_runs(rows),
            runs=np.array(runs, dtype=np.int32).reshape(-1, 7),
            code=np.array(code, dtype=np.int32),
            forward=np.array(forward, dtype=int),
            backward=np.array(forward, dtype=int) + 1,
            left=np.array(list(places.lefts), dtype=np.int32),
            right=np.array(list(places.rights), dtype=np.int32),
            slopes=np.array(list(places.slopes), dtype=np.int32),
            outputs=np.array(self.tape.outputs, dtype=np.int32),
        )


class _Places:
    """Places of registers among those kept as they are, reversed, and times their order."""

    def __init__(self) -> None:
        self.lefts: dict[int, int] = {}
        self.rights: dict[int, int] = {}
        self.slopes: dict[int, int] = {}

    def slope(self, x: int) -> int:
        return self.slopes.setdefault(x, len(self.slopes))

    def right(self, x: int) -> int:
        return self.rights.setdefault(x, len(self.rights))

    def of(self, a: int, b: int) -> tuple[int, int, int, int]:
        """Registers of a product and their places, turned round where that needs fewer of them."""
        if (b in self.lefts) + (a in self.rights) > (a in self.lefts) + (b in self.rights):
            a, b = b, a
        return a, b, self.lefts.setdefault(a, len(self.lefts)), self.right(b)


def _form(found: Sum) -> int:
    """The number of the loop for sums of this shape: those of FORMS, one for functions, one for all others."""
    if found.shape in FORMS:
        return FORMS.index(found.shape)
    return len(FORMS) + (found.kind < FUNCTION)


def _runs(rows: np.ndarray) -> np.ndarray:
    """Runs of equal operations: (operation, first row, one past the last)."""
    first = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
    return (
        np.column_stack([rows[first, 0], first, [*first[1:], len(rows)][: len(first)]]).astype(np.int32).reshape(-1, 3)
    )
