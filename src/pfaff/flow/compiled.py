"""Expressions as one function of variables, parameters and time: their tape, read by kernels, at once and as rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfaff.flow.graph import Expression
from pfaff.flow.tape import Tape, tape_of
from pfaff.kernels.readers import Reader
from pfaff.threads import cached_property


class Compiled:
    """values = f(x; parameters, time), for one column x or for a batch x[:, k]."""

    def __init__(self, expressions: Sequence[Expression], variables: Sequence[Expression]) -> None:
        self._made_of = list(expressions), list(variables)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.tape,)

    @cached_property
    def tape(self) -> Tape:
        """The program, made at the first call."""
        return tape_of(*self.__dict__.pop("_made_of"))

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.tape)

    @property
    def operations(self) -> int:
        """Elementary operations of one evaluation; common subexpressions are evaluated once."""
        return self.tape.size - self.tape.n - 1 - self.tape.p - len(self.tape.numbers)

    def batch(self, x: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Evaluate a batch with columns of parameters, without time, into a given array: for inner loops."""
        self.reader.batch(x, parameters, np.zeros(x.shape[1]), out)
        return out

    def __call__(self, x: np.ndarray, parameters: np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        x, parameters = np.ascontiguousarray(x, dtype=float), np.asarray(parameters, dtype=float)
        if x.ndim == 1:
            return self.reader(x, np.ascontiguousarray(parameters), float(time))
        size = x.shape[1]
        if parameters.ndim == 1:
            parameters = np.repeat(parameters[:, None], size, axis=1)
        out, times = np.empty((len(self.tape.outputs), size)), np.broadcast_to(np.asarray(time, dtype=float), size)
        self.reader.batch(x, np.ascontiguousarray(parameters), np.ascontiguousarray(times), out)
        return out


def _restored(tape: Tape) -> Compiled:
    compiled = Compiled([], [])
    compiled.tape = tape
    return compiled
