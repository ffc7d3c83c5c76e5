"""The equations as they are stated, in numbers: no chart, no elimination, no coordinates that move along.

Other routes are verified by them: accelerations solve M a + h + Aᵀλ = 0, A a + γ = 0 as one dense system.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.flow.compiled import Compiled
from pfaff.flow.lagrangian import graph_of
from pfaff.statement.system import System
from pfaff.threads import once

EVENED = 6  # passes, each of which takes the square root of what is left


@dataclass(frozen=True)
class Stated:
    """Values at states and a time; a trailing axis has one entry for each state."""

    M: np.ndarray
    h: np.ndarray
    A: np.ndarray
    gamma: np.ndarray
    rates: np.ndarray
    positions: np.ndarray

    def accelerations(self) -> np.ndarray:
        """The accelerations, a column for each state; not finite where these are singular."""
        n, m, count = len(self.h), len(self.gamma), self.h.shape[1] if self.h.ndim > 1 else 1
        M, A = (each.reshape(-1, n, count).transpose(2, 0, 1) for each in (self.M, self.A))
        matrix = np.zeros((count, n + m, n + m))
        matrix[:, :n, :n], matrix[:, n:, :n], matrix[:, :n, n:] = M, A, A.transpose(0, 2, 1)
        scale = _evened(np.abs(matrix).max(axis=0, initial=0.0))
        right = -np.concatenate([self.h.reshape(n, count), self.gamma.reshape(m, count)]).T
        try:
            found = np.linalg.solve(matrix * scale[:, None] * scale, (right * scale)[..., None])[..., 0] * scale
        except np.linalg.LinAlgError:
            return np.full((n, count), np.nan)
        return found[:, :n].T


def _evened(sizes: np.ndarray) -> np.ndarray:
    """Factors of rows and columns alike that make the largest entry of each about one (Ruiz 2001): inertias may vanish
    where constraints have entries."""
    scale = np.ones(len(sizes))
    for _ in range(EVENED):
        rows = (sizes * scale).max(axis=1, initial=0.0) * scale
        scale = scale / np.sqrt(np.where((rows > 0) & np.isfinite(rows), rows, 1.0))
    return scale


class StatedEquations:
    """M, h, A, γ, A v + b and φ as functions of coordinates and velocities."""

    def __init__(self, system: System) -> None:
        graph = graph_of(system)
        n, m = len(graph.q), len(graph.A)
        self.shapes = [(n, n), (n,), (m, n), (m,), (m,), (len(graph.positions),)]
        matrices = [e for row in graph.M for e in row], [e for row in graph.A for e in row]
        rows = [*matrices[0], *graph.h, *matrices[1], *graph.gamma, *graph.constraints, *graph.positions]
        self._function = Compiled(rows, [*graph.q, *graph.v])

    def __call__(self, q: np.ndarray, v: np.ndarray, numbers: np.ndarray, time: float = 0.0) -> Stated:
        values = self._function(np.concatenate([q, v]), numbers, time)
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        parts = np.split(values, ends)
        return Stated(*(p.reshape(shape + values.shape[1:]) for p, shape in zip(parts, self.shapes, strict=True)))


@once(most=1)
def stated_equations(system: System) -> StatedEquations:
    return StatedEquations(system)
