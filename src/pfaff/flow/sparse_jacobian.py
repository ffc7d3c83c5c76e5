"""Jacobians of plain flows with many states, whose rates depend on few of them each: the structurally nonzero entries.

The graph of expressions tells which states a rate depends on. Only these entries are differentiated, as
one list in the order of a sparse matrix: a thousand states take microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.flow.differentiation import gradient, jacobian_entries
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression, par, variables_in
from pfaff.statement.odes import Ode
from pfaff.threads import once

if TYPE_CHECKING:
    from scipy import sparse

MANY = 110  # states from which branches and curves are faster with sparse factors than with dense ones
FULL = 0.2  # share of nonzero entries beyond which sparsity does not pay


class SparseLinearised:
    """f, ∂f/∂x and ∂f/∂p for parameters by name, in one call."""

    def __init__(self, flow: Flow, names: tuple[str, ...]) -> None:
        self.flow, self.names, n = flow, names, len(flow.states)
        places = sorted((j, i) for i, states in enumerate(_dependencies(flow)) for j in states)
        columns, self._rows = (np.array(each, dtype=np.int32) for each in zip(*places, strict=True))
        self._starts = np.searchsorted(columns, np.arange(n + 1)).astype(np.int32)
        beside = np.arange(1, len(names) + 1, dtype=np.int32) * n
        self._wide_rows = np.concatenate([self._rows, *[np.arange(n, dtype=np.int32)] * len(names)])
        self._wide_starts = np.concatenate([self._starts, self._starts[-1] + beside])
        self._places = places
        self._compiled = flow.compiled(("sparse", names), self._expressions)

    def __reduce__(self) -> tuple[Any, ...]:
        return sparse_linearised, (self.flow, self.names)

    def _expressions(self) -> list[Expression]:
        rates, states, known = self.flow.expressions, self.flow.variables, self.flow.system.parameter_names
        entries = [gradient(rates[i], [states[j]])[0] for j, i in self._places]
        columns = (jacobian_entries(rates, [par[known.index(name)]]) for name in self.names)
        return [*rates, *entries, *(each for column in columns for each in column)]

    def __call__(self, x: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, sparse.csc_array]:
        """f, and the columns ∂f/∂x and ∂f/∂p."""
        from scipy import sparse

        n, values = len(x), self._compiled(x, numbers)
        shape = (n, n + len(self.names))
        return values[:n], sparse.csc_array((values[n:], self._wide_rows, self._wide_starts), shape=shape)

    @property
    def pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries of ∂f/∂x that are not zero by structure, column by column."""
        return self._rows, np.repeat(np.arange(len(self.flow.states)), np.diff(self._starts))

    def at_many(self, X: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f, those entries, and ∂f/∂p for one parameter, at states given as columns."""
        n, values = len(X), self._compiled(X, numbers)
        return values[:n], values[n : n + len(self._rows)], values[n + len(self._rows) :]

    def jacobian(self, x: np.ndarray, numbers: np.ndarray) -> sparse.csc_array:
        """∂f/∂x alone."""
        from scipy import sparse

        n, values = len(x), self._compiled(x, numbers)
        return sparse.csc_array((values[n : n + len(self._rows)], self._rows, self._starts), shape=(n, n))


@once(most=64)
def sparse_linearised(flow: Flow, names: tuple[str, ...] = ()) -> SparseLinearised:
    return SparseLinearised(flow, names)


def _dependencies(flow: Flow) -> list[list[int]]:
    """Which states each rate depends on."""
    index = {name: j for j, name in enumerate(flow.states)}
    return [[index[name] for name in variables_in([f]) if name in index] for f in flow.expressions]


@once(most=1)
def is_sparse(flow: Flow) -> bool:
    """Whether a flow is large and its Jacobian mostly zero: only for a plain ODE, since bodies in generalised
    coordinates are coupled through the mass matrix."""
    n = len(flow.states)
    if n < MANY or not isinstance(flow.system, Ode):
        return False
    return sum(map(len, _dependencies(flow))) <= FULL * n**2


def sparse_flow(system: Any) -> bool:
    """Whether the flow of a statement is large and sparse; a mechanical system's is not even made."""
    return isinstance(system, Ode) and len(system.state_names) >= MANY and is_sparse(system.flow)


def jacobian_at(flow: Flow, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """∂f/∂x as a full matrix, by the faster way."""
    return sparse_linearised(flow).jacobian(x, numbers).toarray() if is_sparse(flow) else flow.jacobian(x, numbers)
