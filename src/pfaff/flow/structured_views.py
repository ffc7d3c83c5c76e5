"""Further views of a system with rods: statics, initial states, energies, jets, stiff equations.

Each is the counterpart of a function of formulas for other systems, with the same arguments.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from pfaff.errors import PfaffError
from pfaff.flow.jets import Jets
from pfaff.flow.placed import NodesAt, Placed
from pfaff.flow.rod_mechanics import Mechanics, coefficients, mechanics_of
from pfaff.flow.rod_series import as_columns, parameter_list, solved, time_column
from pfaff.flow.series import Series
from pfaff.flow.statics import AtRest, Statics
from pfaff.flow.structured import Matched, StructuredFlow
from pfaff.statement.system import System

HIGHEST = 5  # derivatives that a normal form of fifth order needs


class RodStatics(Statics):
    """Balance, stiffness, damping and inertia at rest; see ``Statics``."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.n, self.m = len(system.coordinates), len(system.statement.constraints)
        self.nonholonomic = system.statement.nonholonomic
        self.demanding = system.statement.demanding[: self.nonholonomic]

    @np.errstate(all="ignore")  # what overflows is diagnosed where it is used
    def __call__(self, q: np.ndarray, multipliers: np.ndarray, parameters: np.ndarray, time: float = 0.0) -> AtRest:
        placed = NodesAt(self.system, parameters).placed(as_columns(q), time)
        p = as_columns(multipliers)
        left = placed.left(p)
        by = placed.slopes(p)
        speeds = left[self.n + self.m :][: self.nonholonomic]
        vectors = (left[: self.n], np.concatenate([speeds, placed.positions()]))
        matrices = (placed.M, by.C, by.K, placed.A, by.B)
        alone = q.ndim == 1
        balance, held = (each[:, 0] if alone else each for each in vectors)
        M, C, K, A, B = (each[0] if alone else np.moveaxis(each, 0, -1) for each in matrices)
        return AtRest(balance, held, M, C, K, A, B, self.nonholonomic)

    def at(self, z: np.ndarray, parameters: np.ndarray, time: float = 0.0) -> AtRest:
        return self(z[: self.n], z[self.n :], parameters, time)


class RodJets(Jets):
    """Derivatives of the flow along lines and in several directions; see ``Jets``."""

    def __init__(self, flow: StructuredFlow) -> None:
        self.flow, self.states = flow, len(flow.states)

    def line(self, x: np.ndarray, numbers: np.ndarray, direction: np.ndarray, order: int = HIGHEST) -> np.ndarray:
        return self._lines(x, numbers, direction[:, None], order)[:, :, 0].T

    def lines(self, x: np.ndarray, numbers: np.ndarray, directions: np.ndarray, order: int) -> np.ndarray:
        each = zip(x, directions, strict=True)
        return np.array([self._lines(at, numbers, way[:, None], order)[order, :, 0] for at, way in each])

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

    def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        placed = _moving(system, x, numbers, time)
        matrices = (each.reshape(x.shape[1], -1).T for each in (placed.A, placed.M))
        return np.concatenate([placed.positions(), placed.speeds(), *matrices])

    return Matched(values)


def energy_rows(system: System) -> Matched:
    """T, V and Jacobi's energy, then the residual of every constraint: positions first, then velocities."""

    def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        placed = _moving(system, x, numbers, time)
        return np.concatenate([placed.energies(), placed.positions(), placed.speeds()])

    return Matched(values)


def power_rows(system: System) -> Matched:
    """Powers dissipated and supplied."""

    def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        placed = _moving(system, x, numbers, time)
        left = placed.left(placed.still)[: placed.at.n + placed.at.m]
        return placed.powers(-solved(placed.bordered, left.T[:, :, None])[:, placed.at.n :, 0].T)

    return Matched(values)


def _moving(system: System, x: np.ndarray, numbers: np.ndarray, time: Any) -> Placed:
    n = len(system.coordinates)
    placed = NodesAt(system, numbers).placed(x[:n], time)
    placed.move(x[n : 2 * n])
    return placed


def stiff_rows(system: System) -> tuple[Matched, Matched]:
    """The stabilised equations with the two powers, and their Jacobian; the last parameter is the stabilisation α.

    The constraints c obey ċ + α c + α²φ/4 = 0 (Baumgarte 1972).
    """
    m = mechanics_of(system)
    n = m.n

    def moving(x: np.ndarray, numbers: np.ndarray, time: Any) -> tuple[Placed, np.ndarray, np.ndarray]:
        placed, rate = _moving(system, x, numbers[:-1], time), numbers[-1]
        left = placed.left(placed.still)
        right = left[: n + m.m]
        right[n:] += rate * left[n + m.m :]
        right[n:][placed.at.held] += rate**2 / 4 * placed.positions()
        found = -solved(placed.bordered, right.T[:, :, None])[:, :, 0].T
        return placed, found[:n], found[n:]

    def rates(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        placed, a, p = moving(x, numbers, time)
        return np.vstack([x[n : 2 * n], a, placed.powers(p)])

    def jacobian(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        placed, a, p = moving(x, numbers, time)
        rate, batch, held = np.reshape(numbers[-1], (-1, 1, 1)), x.shape[1], placed.at.held
        placed.move(placed.v, a)
        placed.left(p)
        by = placed.slopes(p)
        right = np.concatenate(
            [np.concatenate([by.K, by.C], axis=2), np.concatenate([by.rates_by_q, by.rates_by_v], axis=2)], axis=1
        )
        right[:, n:] += rate * np.concatenate([by.B, placed.A], axis=2)
        right[:, n:, :n][:, held] += rate**2 / 4 * placed.A[:, held]
        changes = -solved(placed.bordered, right)
        found = np.zeros((len(x), len(x), batch))
        found[range(n), range(n, 2 * n)] = 1.0
        found[n : 2 * n, : 2 * n] = np.moveaxis(changes[:, :n], 0, -1)
        found[2 * n :, : 2 * n] = _power_slopes(m, x, p, changes[:, n:], numbers[:-1], time)
        return found.reshape(len(x) ** 2, batch)

    return Matched(rates), Matched(jacobian)


def _power_slopes(
    m: Mechanics, x: np.ndarray, p: np.ndarray, changes: np.ndarray, numbers: np.ndarray, time: Any
) -> np.ndarray:
    """Derivatives [power, column, state] of the two powers; ``changes`` are those of the reactions."""
    n, unit = m.n, np.eye(2 * m.n)[:, None, :]
    q, v = (Series([x[part, :, None], unit[part]], 1) for part in (slice(n), slice(n, 2 * n)))
    reactions = Series([p[:, :, None], np.moveaxis(changes, 0, 1)], 1)
    parameters, clock = parameter_list(numbers), time_column(time)
    found = [m.energies(q, v, parameters, clock)[3], m.supplied(q, v, reactions, parameters, clock)]
    return np.moveaxis(coefficients(found, 1, x.shape[1], 2 * n), 2, 1)
