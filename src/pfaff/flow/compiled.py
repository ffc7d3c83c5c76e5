"""Expressions compiled by heyoka: a list of them into one function of variables, parameters and time, or as rates.

Compiled code is kept on disk (see ``caches``). heyoka reads through all of it at the first lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import heyoka as hy
import numpy as np

from pfaff.flow.caches import open_database
from pfaff.flow.graph import Expression
from pfaff.progress import patience
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.flow.pointers import Columns

WIDE = getattr(hy, "real128", np.longdouble)  # the type of numbers with the most digits that is quick
KEPT = 512 * 2**20  # bytes on disk
FEW, LITTLE = 64, 1e6  # values, and terms written out, that compile faster than the disk is searched
UNSEARCHED = Lock()


class Compiled:
    """values = f(x; parameters, time), for one column x or for a batch x[:, k].

    ``quick`` prefers quick compilation to quick evaluation; ``compact`` avoids unrolling, for large expressions.
    """

    def __init__(
        self,
        expressions: Sequence[Expression],
        variables: Sequence[Expression],
        quick: bool = False,
        compact: bool = False,
    ) -> None:
        self._expressions, self._variables = list(expressions), list(variables)
        self._quick, self._compact = quick, compact
        self._inputs, self._outputs = len(variables), len(expressions)
        # heyoka requires exactly the parameters up to the last one that occurs.
        used = hy.get_params(self._expressions)
        self._parameters = 1 + max((int(str(p)[1:]) for p in used), default=-1)

    def __reduce__(self) -> tuple[Any, ...]:
        return Compiled, (self._expressions, self._variables, self._quick, self._compact)

    @cached_property
    def function(self) -> Any:
        """The compiled function, made at the first call."""
        return self._made(**({"opt_level": 0} if self._quick else {}))

    @cached_property
    def _in_wide(self) -> Any:
        return self._made(opt_level=0, fp_type=WIDE)

    def _made(self, **settings: Any) -> Any:
        soon = self._quick and self._outputs <= FEW and sum(map(len, self._expressions)) <= LITTLE
        with compiling("equations"), _unsearched() if soon else _searched():
            return hy.cfunc(self._expressions, self._variables, compact_mode=self._compact, **settings)

    def wide(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The values for one column at time zero, with more digits."""
        time = WIDE(0)
        return self._in_wide(x.astype(WIDE), pars=parameters[: self._parameters].astype(WIDE), time=time)

    @cached_property
    def in_lanes(self) -> Columns | None:
        """The function for neighbouring columns, for compiled loops, if it can be linked."""
        from pfaff.flow.pointers import linked_in_lanes

        return linked_in_lanes(self)

    @property
    def operations(self) -> int:
        """Elementary operations of one evaluation; common subexpressions are evaluated once."""
        decomposition = self.function.dc
        return len(decomposition) - self._inputs - self._outputs

    def batch(self, x: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Evaluate a batch with columns of parameters, without time, into a given array: for inner loops."""
        return self.function(x, out, pars=parameters[: self._parameters])

    def __call__(self, x: np.ndarray, parameters: np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        x = np.ascontiguousarray(x, dtype=float)
        parameters = parameters[: self._parameters]
        if x.ndim == 1:
            return self.function(x, pars=np.ascontiguousarray(parameters), time=time)
        size = x.shape[1]
        if parameters.ndim == 1:
            parameters = np.repeat(parameters[:, None], size, axis=1)
        pars = np.ascontiguousarray(parameters)
        if not self.function.is_time_dependent:
            return self.function(x, pars=pars)
        return self.function(x, pars=pars, time=np.broadcast_to(np.asarray(time, dtype=float), size).copy())


def taylor_method(rates: Sequence[tuple[Expression, Expression]], x: np.ndarray, **settings: Any) -> Any:
    """Taylor's method for dx/dt = rates; for a batch if x has columns."""
    with compiling("equations of motion"), _searched():
        method = hy.taylor_adaptive if x.ndim == 1 else hy.taylor_adaptive_batch
        return method(list(rates), x, **settings)


def compiling(what: str) -> AbstractContextManager[None]:
    """Report what is being compiled, if it takes long."""
    return patience(f"compiling {what}: once, then kept on disk")


@contextmanager
def _searched() -> Iterator[None]:
    """Look for compiled code on disk, and keep it there."""
    _open()
    yield


@cache
def _open() -> None:
    open_database(KEPT)


@contextmanager
def _unsearched() -> Iterator[None]:
    """Neither look for compiled code on disk nor keep it there."""
    with UNSEARCHED:
        searched = hy.llvm_state.get_diskcache_enabled()
        hy.llvm_state.set_diskcache_enabled(False)
        try:
            yield
        finally:
            hy.llvm_state.set_diskcache_enabled(searched)
