"""A list of expressions compiled into one function of variables, parameters and time."""

from __future__ import annotations

from collections.abc import Sequence

import heyoka as hy
import numpy as np

from pfaff.lowering import Expression


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
        settings = {"opt_level": 0} if quick else {}
        self._function = hy.cfunc(list(expressions), list(variables), compact_mode=compact, **settings)
        self._inputs, self._outputs = len(variables), len(expressions)
        # heyoka wants exactly the parameters up to the last one that occurs.
        used = hy.get_params(list(expressions))
        self._parameters = 1 + max((int(str(p)[1:]) for p in used), default=-1)

    @property
    def operations(self) -> int:
        """Elementary operations of one evaluation; common subexpressions are evaluated once."""
        decomposition = self._function.dc
        return len(decomposition) - self._inputs - self._outputs

    def batch(self, x: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The same for a batch with columns of parameters, without time, into a given array: for inner loops."""
        return self._function(x, out, pars=parameters[: self._parameters])

    def __call__(self, x: np.ndarray, parameters: np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        x = np.ascontiguousarray(x, dtype=float)
        parameters = parameters[: self._parameters]
        if x.ndim == 1:
            return self._function(x, pars=np.ascontiguousarray(parameters), time=time)
        size = x.shape[1]
        if parameters.ndim == 1:
            parameters = np.repeat(parameters[:, None], size, axis=1)
        pars = np.ascontiguousarray(parameters)
        if not self._function.is_time_dependent:
            return self._function(x, pars=pars)
        return self._function(x, pars=pars, time=np.broadcast_to(np.asarray(time, dtype=float), size).copy())
