"""What analyses ask of a system with rods beside its flow: statics, initial states, energies, jets, stiff equations.

Each is the counterpart of a function that is compiled from formulas for other systems, with the same arguments.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from pfaff.errors import PfaffError
from pfaff.flow.jets import Jets
from pfaff.flow.rod_mechanics import Mechanics, coefficients, mechanics_of
from pfaff.flow.series import Series
from pfaff.flow.statics import AtRest, Statics
from pfaff.flow.structured import (
    Matched,
    StructuredFlow,
    accelerated,
    as_columns,
    bordered,
    parameter_list,
    time_column,
)
from pfaff.statement.system import System

HIGHEST = 5  # derivatives that a normal form of fifth order needs


class RodStatics(Statics):
    """Balance, stiffness, damping and inertia at rest; see ``Statics``."""

    def __init__(self, system: System) -> None:
        self.mechanics = m = mechanics_of(system)
        self.n, self.m = m.n, m.m
        self.nonholonomic = len(system.nonholonomic_constraints)
        self.demanding = system.statement.demanding[: self.nonholonomic]

    def __call__(self, q: np.ndarray, multipliers: np.ndarray, parameters: np.ndarray, time: float = 0.0) -> AtRest:
        columns, numbers = as_columns(q), parameter_list(parameters)
        n, m, batch, clock = self.n, self.mechanics, columns.shape[1], time_column(time)
        unit = np.eye(3 * n)[:, None, :]
        starts = (columns[:, :, None], None, None)
        place, speed, change = (Series([start, unit[k * n : (k + 1) * n]], 1) for k, start in enumerate(starts))
        p = Series([as_columns(multipliers)[:, :, None]], 1)
        entries = m.residual(place, speed, change, p, numbers, clock)
        slopes = coefficients(entries, 1, batch, 3 * n)
        K, C, M = (np.moveaxis(slopes[:n, :, k * n : (k + 1) * n], 2, 1) for k in range(3))
        A = np.moveaxis(slopes[n:, :, 2 * n :], 2, 1)
        held, B = self._held(columns, numbers, clock)
        parts = (coefficients(entries, 0, batch, 1)[:n, :, 0], held, M, C, K, A, B)
        return AtRest(*(each[..., 0] if q.ndim == 1 else each for each in parts))

    def _held(self, q: np.ndarray, numbers: list[Any], time: Any) -> tuple[np.ndarray, np.ndarray]:
        """What the constraints demand at rest, and how their velocity form changes with q."""
        m, n, batch = self.mechanics, self.n, q.shape[1]
        place = Series([q[:, :, None], np.eye(n)[:, None, :]], 1)
        rates = m.constraints(place, Series([None], 1), numbers, time)
        positions = coefficients(m.positions(place, numbers, time), 0, batch, 1)[:, :, 0]
        demanded = coefficients(rates, 0, batch, 1)[: self.nonholonomic, :, 0]
        return np.vstack([demanded, positions]), np.moveaxis(coefficients(rates, 1, batch, n), 2, 1)


class RodJets(Jets):
    """Derivatives of the flow along lines and in several directions; see ``Jets``."""

    def __init__(self, flow: StructuredFlow) -> None:
        self.flow, self.states = flow, len(flow.states)

    def line(self, x: np.ndarray, numbers: np.ndarray, direction: np.ndarray) -> np.ndarray:
        return self._lines(x, numbers, direction[:, None], HIGHEST)[:, :, 0].T

    def _lines(self, x: np.ndarray, numbers: np.ndarray, directions: np.ndarray, order: int) -> np.ndarray:
        """dᵏ/dsᵏ f(x + s v), indexed [k, rate, direction]."""
        flow: StructuredFlow = self.flow  # type: ignore[assignment]
        found = flow.along(x, numbers, directions, order)
        shape = (self.states, directions.shape[1])
        rows = np.array([factorial(k) * np.broadcast_to(each[:, 0], shape) for k, each in enumerate(found)])
        if not np.isfinite(rows).all():
            raise PfaffError("the derivatives of the flow are not finite here: the state is singular")
        return rows

    def _polarised_all(self, x: np.ndarray, numbers: np.ndarray, chosen: list[list[np.ndarray]]) -> list[np.ndarray]:
        """All forms at once: their lines are directions of one evaluation."""
        terms = [self.lines_of(vectors) for vectors in chosen]
        order = len(chosen[0])
        values = self._lines(x, numbers, np.column_stack([d for group in terms for _, d in group]), order)[order]
        found, start = [], 0
        for group in terms:
            signs = np.array([sign for sign, _ in group])
            total = values[:, start : start + len(group)] @ signs
            found.append(total / (2 ** (order - 1) * factorial(order)))
            start += len(group)
        return found


def initial_rows(system: System) -> Matched:
    """φ, A v + b, A and M, row by row."""
    m = mechanics_of(system)

    def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        q, v, parameters, clock, batch = _unpacked(m, x, numbers, time)
        matrices = bordered(m, q.c[0], v.c[0], parameters, clock)[1]
        A, M = matrices[:, m.n :, : m.n].reshape(batch, -1).T, matrices[:, : m.n, : m.n].reshape(batch, -1).T
        return np.vstack([_held(m, q, v, parameters, clock, batch), A, M])

    return Matched(values)


def energy_rows(system: System) -> Matched:
    """T, V and Jacobi's energy, then the residual of every constraint: positions first, then velocities."""
    m = mechanics_of(system)

    def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        q, v, parameters, clock, batch = _unpacked(m, x, numbers, time)
        energies = coefficients(list(m.energies(q, v, parameters, clock)[:3]), 0, batch, 1)[:, :, 0]
        return np.vstack([energies, _held(m, q, v, parameters, clock, batch)])

    return Matched(values)


def power_rows(system: System) -> Matched:
    """What is dissipated and what is supplied per unit of time."""
    m = mechanics_of(system)

    def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        q, v, parameters, clock, batch = _unpacked(m, x, numbers, time)
        p = accelerated(m, q, v, parameters, clock).p
        powers = [m.energies(q, v, parameters, clock)[3], m.supplied(q, v, p, parameters, clock)]
        return coefficients(powers, 0, batch, 1)[:, :, 0]

    return Matched(values)


def stiff_rows(system: System) -> tuple[Matched, Matched]:
    """The stabilised equations with the two powers, and their Jacobian; the last parameter is the stabilisation."""
    m = mechanics_of(system)
    n = m.n

    def along(x: np.ndarray, numbers: np.ndarray, time: Any, directions: np.ndarray | None) -> list[np.ndarray]:
        rows = [x[:, :, None]] if directions is None else [x[:, :, None], directions[:, None, :]]
        order, parameters, clock = len(rows) - 1, parameter_list(numbers), time_column(time)
        rate = parameters[-1] if m.m else None
        q, v = (Series([each[part] for each in rows], order) for part in (slice(n), slice(n, 2 * n)))
        moving = accelerated(m, q, v, parameters[:-1], clock, rate)
        power = m.energies(q, v, parameters[:-1], clock)[3]
        supplied = m.supplied(q, v, moving.p, parameters[:-1], clock)
        shape = x.shape[1], 1 if directions is None else directions.shape[1]
        return [
            coefficients([v, moving.a, power, supplied], k, *(shape if k else (shape[0], 1))) for k in range(order + 1)
        ]

    def rates(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        return along(x, numbers, time, None)[0][:, :, 0]

    def jacobian(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        slopes = along(x, numbers, time, np.eye(2 * n + 2))[1]
        return np.moveaxis(slopes, 2, 1).reshape(len(x) ** 2, -1)

    return Matched(rates), Matched(jacobian)


def _unpacked(
    m: Mechanics, x: np.ndarray, numbers: np.ndarray, time: Any
) -> tuple[Series, Series, list[Any], Any, int]:
    q, v = (Series([x[part, :, None]], 0) for part in (slice(m.n), slice(m.n, 2 * m.n)))
    return q, v, parameter_list(numbers), time_column(time), x.shape[1]


def _held(m: Mechanics, q: Series, v: Series, parameters: list[Any], time: Any, batch: int) -> np.ndarray:
    rows = [*m.positions(q, parameters, time), *m.constraints(q, v, parameters, time)]
    return coefficients(rows, 0, batch, 1)[:, :, 0]
