"""The equations M q̈ + h + Aᵀp = 0, A q̈ + γ = 0 by SymPy's derivatives, and their integration by SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sm
from scipy.integrate import solve_ivp

from cross.mechanics import Mechanics, t


@dataclass(frozen=True, eq=False)
class Equations:
    """Lagrange's equations of the first kind, written out; numbers by NumPy or, with many digits, by mpmath."""

    of: Mechanics
    library: str = "numpy"

    def function(self, *expressions: Any, p: bool = False) -> Any:
        """A function of q, v, (p,) the parameters' values and time."""
        reactions = [self.p] if p else []
        given = [self.of.q, self.of.v, *reactions, list(self.of.parameters), t]
        return sm.lambdify(given, list(expressions), self.library, cse=True)

    @cached_property
    def p(self) -> list[sm.Symbol]:
        return list(sm.symbols(f"p:{len(self.rows)}", real=True))

    @cached_property
    def rows(self) -> list[sm.Expr]:
        """A v + b: what rolls first, then φ̇."""
        q, v = self.of.q, self.of.v
        rates = [phi.diff(t) + sum(phi.diff(x) * rate for x, rate in zip(q, v, strict=True)) for phi in self.of.held]
        return [*self.of.rolling, *rates]

    @cached_property
    def matrices(self) -> tuple[sm.Matrix, sm.Matrix, sm.Matrix, sm.Matrix]:
        """M, h, A and γ = (A q̇ + b)˙ without its accelerations."""
        of, q, v = self.of, self.of.q, sm.Matrix(self.of.v)
        momentum = sm.Matrix([of.kinetic.diff(rate) for rate in v])
        h = momentum.jacobian(q) * v + momentum.diff(t)
        for i, (x, rate) in enumerate(zip(q, v, strict=True)):
            h[i] += (of.potential - of.kinetic).diff(x) + of.dissipation.diff(rate) - of.forces.get(x, 0)
        rows = sm.Matrix(len(self.rows), 1, self.rows)
        A = sm.Matrix(len(rows), len(q), lambda i, j: rows[i].diff(v[j]))
        gamma = sm.Matrix(
            len(rows), 1, lambda i, _: rows[i].diff(t) + sum(rows[i].diff(x) * u for x, u in zip(q, v, strict=False))
        )
        return momentum.jacobian(v), h, A, gamma

    @cached_property
    def _motion(self) -> Any:
        of, v = self.of, sm.Matrix(self.of.v)
        still = dict.fromkeys(of.v, 0)
        lost = sum(of.dissipation.diff(rate) * rate for rate in v)
        given = sum(force * v[of.q.index(x)] for x, force in of.forces.items()) + (of.potential - of.kinetic).diff(t)
        b = sm.Matrix(len(self.rows), 1, [row.xreplace(still) for row in self.rows])
        return self.function(*self.matrices, lost, given, b)

    @cached_property
    def _energies(self) -> Any:
        T, v = self.of.kinetic, self.of.v
        jacobi = sum(T.diff(rate) * rate for rate in v) - T + self.of.potential
        return self.function(T, self.of.potential, jacobi, sm.Matrix(len(self.rows), 1, self.rows))

    def accelerations(self, q: np.ndarray, v: np.ndarray, time: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """q̈ and p."""
        return self._solved(self._motion(q, v, self.of.values, time)[:4])

    def row(self, q: np.ndarray) -> np.ndarray:
        """A of a single constraint."""
        return np.asarray(self._motion(q, 0 * q, self.of.values, 0.0)[2], dtype=float).ravel()

    def _solved(self, parts: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        M, h, A, gamma = (np.asarray(each, dtype=float) for each in parts)
        n, m = len(M), len(A)
        whole = np.block([[M, A.T.reshape(n, m)], [A.reshape(m, n), np.zeros((m, m))]])
        solved = np.linalg.solve(whole, -np.concatenate([h.ravel(), gamma.ravel()]))
        return solved[:n], solved[n:]

    def _rates(self, time: float, y: np.ndarray) -> np.ndarray:
        n = len(self.of.q)
        *parts, lost, given, b = self._motion(y[:n], y[n : 2 * n], self.of.values, time)
        a, p = self._solved(parts)
        return np.concatenate([y[n : 2 * n], a, [lost, given + p @ np.asarray(b, dtype=float).ravel()]])

    def start(self, seed: int, size: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
        """A random state that obeys the constraints."""
        rng, n = np.random.default_rng([seed, 5]), len(self.of.q)
        q, v = rng.uniform(-size, size, n), rng.uniform(-size, size, n)
        held = sm.lambdify([self.of.q, list(self.of.parameters)], list(self.of.held))
        for _ in range(50):
            A = np.asarray(self._motion(q, v, self.of.values, 0.0)[2], dtype=float).reshape(-1, n)
            if self.of.held:
                q = q - np.linalg.pinv(A[len(self.of.rolling) :]) @ np.array(held(q, self.of.values), dtype=float)
        rows = np.asarray(self._energies(q, v, self.of.values, 0.0)[3], dtype=float).ravel()
        return q, v - (np.linalg.pinv(A) @ rows if len(rows) else 0)

    def motion(self, q: np.ndarray, v: np.ndarray, times: np.ndarray, tolerance: float = 1e-13) -> Motion:
        """States, reactions and energies at some times, by Dormand and Prince's method of eighth order."""
        n = len(q)
        found = solve_ivp(
            self._rates,
            (times[0], times[-1]),
            np.concatenate([q, v, [0, 0]]),
            method="DOP853",
            t_eval=times,
            rtol=tolerance,
            atol=tolerance,
        )
        assert found.success, found.message
        y = found.y
        p = np.array([self.accelerations(x[:n], x[n : 2 * n], time)[1] for time, x in zip(times, y.T, strict=True)])
        energies = [
            self._energies(x[:n], x[n : 2 * n], self.of.values, at)[:3] for at, x in zip(times, y.T, strict=False)
        ]
        return Motion(y[:n], y[n : 2 * n], p.T, *np.array(energies, dtype=float).T, *y[2 * n :])


@dataclass(frozen=True, eq=False)
class Motion:
    """One column, or one number, for each time."""

    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    total: np.ndarray
    dissipated: np.ndarray
    supplied: np.ndarray
