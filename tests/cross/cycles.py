"""Cycles by harmonic balance, of the equations with their reactions as they stand: no eigenvectors, no normal forms.

q and p are Fourier sums in ωt with unknown coefficients, ω and the load unknown too, the first harmonic of one
coordinate given: M q̈ + h + Aᵀp = 0 and the constraints must hold at as many times as there are unknowns. Coordinates
that are ignorable drift at an unknown speed instead of having a mean.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sm

from cross.dae import Equations
from cross.mechanics import Mechanics, t

NEWTON_STEPS = 30


class NoCycleError(Exception):
    """Newton's method was started too far away."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """A periodic motion: Fourier coefficients of q (mean or speed, cosines, sines) and p, frequency and load."""

    unknowns: np.ndarray
    omega: float
    load: float


@dataclass(frozen=True, eq=False)
class Cycles:
    """The cycles of a system about a rest, with so many harmonics."""

    of: Mechanics
    ignorable: tuple[int, ...] = ()
    harmonics: int = 5

    @cached_property
    def _equations(self) -> Any:
        """Residuals of the equations of motion and of the constraints, by q, q̇, q̈, p and the load."""
        given = Equations(self.of)
        M, h, A, _ = given.matrices
        a = sm.Matrix(sm.symbols(f"a:{len(self.of.q)}", real=True))
        balance = M * a + h + (A.T * sm.Matrix(given.p) if given.p else sm.zeros(len(a), 1))
        rows = [*balance, *self.of.rolling, *self.of.held]
        numbers = {name: value for name, value in self.of.parameters.items() if name != self.of.load}
        rows = [row.subs(numbers).subs(t, 0) for row in rows]
        return sm.lambdify([self.of.q, self.of.v, list(a), given.p, self.of.load], rows, "numpy", cse=True)

    @property
    def _sizes(self) -> tuple[int, int]:
        return len(self.of.q), len(self.of.rolling) + len(self.of.held)

    def _residual(self, unknowns: np.ndarray, omega: Any, load: Any) -> np.ndarray:
        """At 2K + 1 times of a period, in time's unit 1/ω for phases τ."""
        (n, m), K = self._sizes, self.harmonics
        phases = 2 * np.pi * np.arange(2 * K + 1) / (2 * K + 1)
        k = np.arange(1, K + 1)[:, None]
        cosines, sines = np.cos(k * phases), np.sin(k * phases)
        table = unknowns.reshape(n + m, 2 * K + 1)
        mean, c, s = table[:, :1], table[:, 1 : K + 1], table[:, K + 1 :]
        q = mean + c @ cosines + s @ sines
        v = omega * ((s * k.T) @ cosines - (c * k.T) @ sines)
        a = -(omega**2) * ((c * k.T**2) @ cosines + (s * k.T**2) @ sines)
        for i in self.ignorable:
            q[i] -= mean[i]
            v[i] += mean[i]
        rows = self._equations(q[:n], v[:n], a[:n], q[n:], load)
        return np.concatenate([row * np.ones(2 * K + 1) for row in rows])

    def near(self, guess: Cycle, coordinate: int, amplitude: float) -> Cycle:
        """The cycle on which one coordinate has the first harmonic amplitude·cos ωt, by Newton's method."""
        K = self.harmonics
        x = np.concatenate([guess.unknowns, [guess.omega, guess.load]])
        held = [coordinate * (2 * K + 1) + 1, coordinate * (2 * K + 1) + 1 + K]
        free = np.array([j for j in range(len(x)) if j not in held])
        x[held] = amplitude, 0.0
        for _ in range(NEWTON_STEPS):
            residual = self._residual(x[:-2], x[-2], x[-1])
            jacobian = np.array([self._derivative(x, j) for j in free]).T
            units = np.abs(jacobian).max(axis=0)
            step = -np.linalg.lstsq(jacobian / units, residual, rcond=None)[0] / units
            x[free] += step
            if np.abs(step).max() < 1e-13:
                break
        if not np.abs(step).max() < 1e-9:
            raise NoCycleError(f"harmonic balance did not converge at an amplitude of {amplitude}")
        return Cycle(x[:-2], float(x[-2]), float(x[-1]))

    def _derivative(self, x: np.ndarray, j: int) -> np.ndarray:
        """By a complex step: exact to rounding."""
        moved = x.astype(complex)
        moved[j] += 1e-30j
        return self._residual(moved[:-2], moved[-2], moved[-1]).imag / 1e-30

    def at(self, cycle: Cycle, phases: np.ndarray) -> np.ndarray:
        """The coordinates at some phases, one row for each, the drift of ignorable ones left out."""
        (n, m), K = self._sizes, self.harmonics
        table = cycle.unknowns.reshape(n + m, 2 * K + 1)[:n]
        angles = np.arange(1, K + 1)[:, None] * phases
        return table[:, :1] + table[:, 1 : K + 1] @ np.cos(angles) + table[:, K + 1 :] @ np.sin(angles)

    def rates(self, cycle: Cycle, phases: np.ndarray) -> np.ndarray:
        """The velocities at some phases."""
        (n, m), K = self._sizes, self.harmonics
        table, k = cycle.unknowns.reshape(n + m, 2 * K + 1)[:n], np.arange(1, K + 1)
        c, s, angles = table[:, 1 : K + 1] * k, table[:, K + 1 :] * k, k[:, None] * phases
        drift = np.array([table[i, :1] * (i in self.ignorable) for i in range(n)])
        return drift + cycle.omega * (s @ np.cos(angles) - c @ np.sin(angles))

    def born(
        self, z: np.ndarray, mode: np.ndarray, omega: float, load: float, coordinate: int, amplitude: float
    ) -> Cycle:
        """The small cycle at a Hopf point, from the rest z = (q, p) and the mode (q̂, p̂) there."""
        K = self.harmonics
        table = np.zeros((len(z), 2 * K + 1))
        table[:, 0] = z
        table[list(self.ignorable), 0] = 0.0
        mode = mode / mode[coordinate] * amplitude
        table[:, 1], table[:, 1 + K] = mode.real, -mode.imag
        return self.near(Cycle(table.ravel(), omega, load), coordinate, amplitude)


def second_order(small: list[Cycle], amplitude: float, at: tuple[float, float]) -> np.ndarray:
    """d load/d amplitude² and dω/d amplitude² at amplitude zero: Romberg's extrapolation from amplitudes halved."""
    rates = [
        (np.array([cycle.load, cycle.omega]) - np.array(at)) / (amplitude / 2**k) ** 2 for k, cycle in enumerate(small)
    ]
    for order in range(1, len(small)):
        rates = [(4**order * finer - coarser) / (4**order - 1) for coarser, finer in itertools.pairwise(rates)]
    return rates[0]
