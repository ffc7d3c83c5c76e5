"""The flow of a system with rods and its first derivatives at batches of states, from the mechanics of nodes.

The derivatives of accelerations and reactions solve the equations' own matrix: M δa + Aᵀδp = −(K δq + C δv), and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfaff.flow.placed import NodesAt, Slopes
from pfaff.flow.rod_nodes import as_slice
from pfaff.flow.rod_series import Chart, solved
from pfaff.statement.system import System


class Rates:
    """f at states x, a column each, with accelerations, reactions and the determinant of what is solved for."""

    def __init__(self, system: System, chart: Chart, x: np.ndarray, numbers: np.ndarray, time: Any) -> None:
        self.chart, self.at = chart, NodesAt(system, numbers)
        self._shaped, self._free, self._solved = map(as_slice, (chart.shaped, chart.free, chart.solved))
        n, split = self.at.n, len(chart.shaped)
        q, v = np.zeros((2, n, x.shape[1]))
        q[self._shaped], v[self._free] = x[:split], x[split:]
        self.placed = self.at.placed(q, time)
        self.placed.move(v)
        if chart.solved:
            demanded = self.placed.speeds()
            if chart.settle:
                demanded[self.at.held] += chart.settle * self.placed.positions()
            v[self._solved] = -solved(self._pivots, demanded.T[:, :, None])[:, :, 0].T
            self.placed.move(v)
        left = self.placed.left(self.placed.still)[: n + self.at.m]
        found = -solved(self.placed.bordered, left.T[:, :, None])[:, :, 0].T
        self.v, self.a, self.p = v, found[:n], found[n:]

    @property
    def _pivots(self) -> np.ndarray:
        return self.placed.A[:, :, self._solved]

    @property
    def held(self) -> np.ndarray:
        """Derivatives of the holonomic constraints by all coordinates, [state, row, coordinate]."""
        return self.placed.A[:, self.at.held]

    @property
    def f(self) -> np.ndarray:
        """f, a column for each state."""
        return np.concatenate([self.v[self._shaped], self.a[self._free]])

    @property
    def pivots(self) -> np.ndarray:
        return np.linalg.det(self._pivots)

    def slopes(self, parameters: Sequence[int] = (), chosen: Any = slice(None)) -> np.ndarray:
        """Derivatives [state, rate, column] of chosen rates with respect to the states, then to parameters not in
        rods."""
        at, chart, placed, batch = self.at, self.chart, self.placed, self.v.shape[1]
        n, split, size = at.n, len(chart.shaped), chart.size
        placed.move(self.v, self.a)
        placed.left(self.p)
        by = placed.slopes(self.p)
        wide = size + len(parameters)
        by_numbers = np.zeros((batch, n + 2 * at.m, len(parameters)))
        for k, each in enumerate(parameters):
            by_numbers[:, :, k] = placed.by_parameter(each, self.p).T
        right, follow = np.zeros((batch, n + at.m, wide)), np.zeros((batch, 0, wide))
        right[:, :n, :split], right[:, n:, :split] = by.K[:, :, self._shaped], by.rates_by_q[:, :, self._shaped]
        right[:, :n, split:size], right[:, n:, split:size] = by.C[:, :, self._free], by.rates_by_v[:, :, self._free]
        right[:, :, size:] = by_numbers[:, : n + at.m]
        if chart.solved:
            follow = self._following(by, by_numbers[:, n + at.m :])
            right[:, :n] += _combined(by.C[:, :, self._solved], follow)
            right[:, n:] += _combined(by.rates_by_v[:, :, self._solved], follow)
        changes = -solved(placed.bordered, right)[:, self._free]
        if chosen == slice(split, size):
            return changes
        V = np.zeros((batch, n, wide))
        V[:, chart.free, range(split, size)] = 1.0
        V[:, self._solved] = follow
        return np.concatenate([V[:, self._shaped], changes], axis=1)[:, chosen]

    def _following(self, by: Slopes, by_numbers: np.ndarray) -> np.ndarray:
        """Derivatives of the velocities that are solved for."""
        at, chart, A = self.at, self.chart, self.placed.A
        split = len(chart.shaped)
        right = np.concatenate([by.B[:, :, self._shaped], A[:, :, self._free], by_numbers], axis=2)
        if chart.settle:
            right[:, at.held, :split] += chart.settle * A[:, at.held][:, :, self._shaped]
        return -solved(self._pivots, right)


def _combined(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The product for every state; faster for a single column and row, the most common case."""
    return columns * rows if rows.shape[1] == 1 else columns @ rows
