"""The frame of a system with rods, in numbers: its forces, its constraints, and their first derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import gradient, jacobian_entries
from pfaff.flow.graph import ZERO, expression, par, subs, sum_of
from pfaff.flow.lagrangian import dot, graph_of
from pfaff.statement.system import System
from pfaff.threads import Once, cached_property


class CompiledFrame:
    """Balance M ẅ + h + Aᵀp, then A ẅ + γ and A ẇ + b, of states w[level, coordinate]: a column for each state.

    Levels are positions, velocities and accelerations; the last ``held`` constraints are holonomic, φ = 0.
    """

    def __init__(self, frame: System) -> None:
        g = graph_of(frame)
        self.n, self.m, self.held = len(g.q), len(g.A), len(g.positions)
        accelerations = [expression(f"acceleration {k}") for k in range(self.n)]
        self._variables = [*g.q, *g.v, *accelerations, *g.multipliers]
        forces = [[row[i] for row in g.A] for i in range(self.n)]
        self._expressions = [
            *(
                sum_of([dot(row, accelerations), h, dot(column, g.multipliers)])
                for row, h, column in zip(g.M, g.h, forces, strict=True)
            ),
            *(dot(row, accelerations) + gamma for row, gamma in zip(g.A, g.gamma, strict=True)),
            *g.constraints,
        ]
        self._values = Compiled(self._expressions, self._variables)
        self._positions = Compiled(g.positions, self._variables)
        kinetic, potential = g.kinetic, g.potential
        momenta = gradient(kinetic, g.v)
        work = [dot(gradient(g.dissipation, g.v), g.v)]
        unmoved = subs(g.constraints, dict.fromkeys(g.v, ZERO))
        supplied = sum_of([dot(g.forces, g.v), dot(unmoved, g.multipliers), g.explicit])
        energies = [kinetic, potential, dot(momenta, g.v) - kinetic + potential]
        self._energies = Compiled([*energies, *work, supplied], self._variables)
        self._by_parameter: Once[int, Compiled] = Once()

    @cached_property
    def _slopes(self) -> tuple[Compiled, np.ndarray]:
        """The derivatives that do not vanish, and their places among all."""
        flat = jacobian_entries(self._expressions, self._variables[: 3 * self.n])
        at = np.array([k for k, each in enumerate(flat) if each != ZERO], dtype=int)
        return Compiled([flat[k] for k in at], self._variables), at

    # Of columns z, the levels of w one after the other and then the reactions, with columns of parameters:

    def values(self, z: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        return self._values(z, numbers, time)

    def positions(self, z: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        """φ."""
        return self._positions(z, numbers, time) if self.held else np.zeros((0, z.shape[1]))

    def energies(self, z: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        """T, V, Jacobi's energy, and the powers dissipated and supplied."""
        return self._energies(z, numbers, time)

    def slopes(self, z: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        """Derivatives [state, row, level and coordinate]."""
        compiled, at = self._slopes
        found = np.zeros((z.shape[1], len(self._expressions) * 3 * self.n))
        if len(at):
            found[:, at] = compiled(z, numbers, time).T
        return found.reshape(-1, len(self._expressions), 3 * self.n)

    def by_parameter(self, k: int, z: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        """Derivatives with respect to the k-th parameter."""

        def derived() -> Compiled:
            return Compiled(jacobian_entries(self._expressions, [par[k]]), self._variables)

        return self._by_parameter.get(k, derived)(z, numbers, time)
