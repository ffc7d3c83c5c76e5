"""The equations that orbits solve: f, its derivatives and the margin of its chart, at many points by one call."""

from __future__ import annotations

import numpy as np

from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression, par
from pfaff.flow.structured import Matched, StructuredFlow
from pfaff.kernels.meshes import least_share
from pfaff.threads import Own

Function = tuple[Compiled | Matched, int]


class Equations:
    """f, ∂f/∂x and ∂f/∂p at any number of points by one call.

    ``rows`` are the states that have equations of their own; the others follow one of them, q' = v: ``follow`` lists
    them, with the indices of those in ``rows``. ``unfolding`` has a column for each conserved quantity, along which f
    is unfolded.
    """

    def __init__(self, flow: Flow, load: str, numbers: np.ndarray, unfolding: np.ndarray | None = None) -> None:
        n = len(flow.states)
        self.flow, self.load, self.numbers = flow, load, numbers
        self.place = flow.system.parameter_names.index(load)
        self.unfolding = np.zeros((n, 0)) if unfolding is None else unfolding
        followers = {} if self.unfolding.size else _followers(flow)
        rows = [i for i in range(n) if i not in followers]
        self.rows = np.array(rows)
        following = sorted(followers)
        self.follow = np.array([following, [rows.index(followers[i]) for i in following]], dtype=np.int64)
        self._compiled, self._rates = _compiled(flow, load, tuple(rows)), _compiled_rates(flow)
        self._outputs = n + len(flow.pivots)
        self._parameters: Own[dict[int, np.ndarray]] = Own(dict)
        self._values: Own[dict[int, np.ndarray]] = Own(dict)

    @property
    def in_kernels(self) -> tuple[Function, Function]:
        """The equations, and f with the pivots of its chart, each with its number of values at a state."""
        return (self._compiled, len(self.rows) * (len(self.flow.states) + 2)), (self._rates, self._outputs)

    def numbers_at(self, value: float) -> np.ndarray:
        numbers = self.numbers.copy()
        numbers[self.place] = value
        return numbers

    def __call__(self, X: np.ndarray, value: float) -> np.ndarray:
        size = X.shape[1]
        return self._compiled.batch(X, self._columns(size, value), self._room(size))

    def _room(self, size: int) -> np.ndarray:
        """Workspace for f and its derivatives at this many points."""
        values = self._values.own
        if size not in values:
            values.clear()
            values[size] = np.empty((len(self.rows) * (len(self.flow.states) + 2), size))
        return values[size]

    def rates(self, x: np.ndarray, value: float | np.ndarray) -> np.ndarray:
        """f at states given as rows, a column each, at one value of the load or at one for each."""
        return self.rates_of_columns(np.ascontiguousarray(x.T), value)

    def rates_of_columns(self, X: np.ndarray, value: float | np.ndarray) -> np.ndarray:
        return self._evaluated(X, value)[: len(self.flow.states)]

    def rates_on_chart(self, X: np.ndarray, value: float) -> tuple[np.ndarray, float]:
        """f, and the least of the coefficients by which velocities are solved for, relative to the largest."""
        values, n = self._evaluated(X, value), X.shape[0]
        return values[:n], least_share(values[n:])

    def pivots(self, X: np.ndarray, value: float) -> np.ndarray:
        """The coefficients by which velocities are solved for, a column for each state."""
        return self._evaluated(X, value)[X.shape[0] :]

    def bonds(self, x: np.ndarray, value: float) -> np.ndarray:
        """Rows that vanish on the changes that the constraints allow, indexed [state as given, row, component]."""
        return self.flow.bond_rows(np.ascontiguousarray(x.T), self.numbers_at(value))

    def _evaluated(self, X: np.ndarray, value: float | np.ndarray) -> np.ndarray:
        """f and then the pivots of the chart, a column for each state."""
        size = X.shape[1]
        return self._rates.batch(X, self._columns(size, value), np.empty((self._outputs, size)))

    def _columns(self, size: int, value: float | np.ndarray) -> np.ndarray:
        """The parameters at a value of the load, a column for each point."""
        columns = self._parameters.own
        if size not in columns:
            columns[size] = np.repeat(self.numbers[:, None], size, axis=1)
        columns[size][self.place] = value
        return columns[size]


def _followers(flow: Flow) -> dict[int, int]:
    """States whose rate is another state with an equation of its own: positions, and their velocities."""
    if isinstance(flow, StructuredFlow):
        return flow.followers()
    rates = [next((k for k, state in enumerate(flow.variables) if state == f), None) for f in flow.expressions]
    return {i: k for i, k in enumerate(rates) if k is not None and k != i and rates[k] is None}


def _compiled(flow: Flow, load: str, rows: tuple[int, ...]) -> Compiled | Matched:
    if isinstance(flow, StructuredFlow):
        return flow.linearised(load, rows)

    def expressions() -> list[Expression]:

        parameter = par[flow.system.parameter_names.index(load)]
        derivatives = flow.derivatives([*flow.variables, parameter])
        by_all = [derivatives[i] for i in rows]
        by_states = [each for row in by_all for each in row[:-1]]
        return [*(flow.expressions[i] for i in rows), *by_states, *(row[-1] for row in by_all)]

    # Ten bars compile in two seconds this way, and in ten to run four times as fast: a fifth of a branch's time.
    return flow.compiled(("collocation", load, rows), expressions)


def _compiled_rates(flow: Flow) -> Compiled | Matched:
    if isinstance(flow, StructuredFlow):
        return flow.rates_and_pivots()
    return flow.compiled("rates and pivots" if flow.pivots else "rhs", lambda: [*flow.expressions, *flow.pivots])
