"""The flow of a system with rods and its first derivatives at batches of states, from the mechanics of nodes.

The derivatives of accelerations and reactions solve the equations' own matrix: M δa + Aᵀδp = −(K δq + C δv), and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pfaff.flow.rod_nodes import NodesAt
from pfaff.flow.rod_series import Chart, solved
from pfaff.statement.system import System


class Rates:
    """f at states x, a column each, with accelerations, reactions and the determinant of what is solved for."""

    def __init__(self, system: System, chart: Chart, x: np.ndarray, numbers: np.ndarray, time: Any) -> None:
        self.chart, self.at = chart, NodesAt(system, numbers)
        n, split = self.at.n, len(chart.shaped)
        q, v = np.zeros((2, x.shape[1], n))
        q[:, chart.shaped], v[:, chart.free] = x[:split].T, x[split:].T
        self.placed = self.at.placed(q, time)
        self.placed.move(v, np.zeros_like(v))
        if chart.solved:
            demanded = self.placed.speeds()
            demanded[:, self.at.held] += chart.settle * self.placed.positions()
            v[:, chart.solved] = -solved(self._pivots, demanded[:, :, None])[:, :, 0]
            self.placed.move(v, np.zeros_like(v))
        left = self.placed.left(self.placed.still)[:, : n + self.at.m]
        found = -solved(self.placed.bordered, left[:, :, None])[:, :, 0]
        self.v, self.a, self.p = v, found[:, :n], found[:, n:]

    @property
    def _pivots(self) -> np.ndarray:
        return self.placed.A[:, :, self.chart.solved]

    @property
    def f(self) -> np.ndarray:
        """A column for each state."""
        return np.hstack([self.v[:, self.chart.shaped], self.a[:, self.chart.free]]).T

    @property
    def pivots(self) -> np.ndarray:
        return np.linalg.det(self._pivots)

    def slopes(self, parameter: int | None = None) -> np.ndarray:
        """Derivatives [state, rate, column] by the states and, if it is given, by a parameter without rods."""
        at, chart, placed = self.at, self.chart, self.placed
        n, split, size = at.n, len(chart.shaped), chart.size
        placed.move(self.v, self.a)
        placed.left(self.p)
        by = placed.slopes(self.p)
        wide = size + (parameter is not None)
        V = np.zeros((len(self.v), n, wide))
        V[:, chart.free, range(split, size)] = 1.0
        by_number = None if parameter is None else placed.by_parameter(parameter, self.p)
        if chart.solved:
            right = np.zeros((len(self.v), at.m, wide))
            right[:, :, :split] = by.B[:, :, chart.shaped]
            right[:, :, split:size] = placed.A[:, :, chart.free]
            if by_number is not None:
                right[:, :, size] = by_number[:, n + at.m :]
            right[:, at.held, :split] += chart.settle * placed.A[:, at.held][:, :, chart.shaped]
            V[:, chart.solved] = -solved(self._pivots, right)
        right = np.concatenate([by.C, by.rates_by_v], axis=1) @ V
        right[:, :n, :split] += by.K[:, :, chart.shaped]
        right[:, n:, :split] += by.rates_by_q[:, :, chart.shaped]
        if by_number is not None:
            right[:, :, size] += by_number[:, : n + at.m]
        changes = -solved(placed.bordered, right)
        return np.concatenate([V[:, chart.shaped], changes[:, chart.free]], axis=1)
