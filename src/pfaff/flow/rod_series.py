"""Power series of the flow of a system with rods along curves of states: derivatives of any order.

M q̈ + h + Aᵀp = 0 and A q̈ + γ = 0 are linear in q̈ and p, so that along a curve the coefficients of their series follow
one order after another, from one and the same matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.algebra.newtons_method import each_solved
from pfaff.flow.rod_mechanics import Mechanics, coefficients
from pfaff.flow.series import Series


def as_columns(x: np.ndarray) -> np.ndarray:
    return x[:, None] if x.ndim == 1 else x


def parameter_list(numbers: np.ndarray) -> list[Any]:
    """The parameters, each a number, or a column [state, direction] where every state has its own."""
    return [number[:, None] if number.ndim else float(number) for number in np.asarray(numbers, dtype=float)]


def time_column(time: float | np.ndarray) -> Any:
    return np.asarray(time, dtype=float)[:, None] if np.ndim(time) else float(time)


def solved(matrices: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """x[state, row, column] for a matrix for every state; NaN where it is singular."""
    if matrices.shape[-1] == 1:
        return sides / np.where(matrices == 0, np.nan, matrices)
    return each_solved(matrices, sides)


def solve(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``solved``, indexed [row, state, column]."""
    return np.moveaxis(solved(matrices, np.moveaxis(right, 1, 0)), 0, 1)


@dataclass(frozen=True)
class Chart:
    """Which coordinates and velocities are states, and which velocities follow from the constraints.

    Holonomic constraints that are not met are approached at the rate ``settle``.
    """

    shaped: tuple[int, ...]
    free: tuple[int, ...]
    solved: tuple[int, ...]
    settle: float

    @property
    def size(self) -> int:
        return len(self.shaped) + len(self.free)


@dataclass(frozen=True, eq=False)
class Moving:
    """Series of a state: coordinates, velocities, accelerations, reactions."""

    q: Series
    v: Series
    a: Series
    p: Series


def bordered(m: Mechanics, q: Any, v: Any, parameters: list[Any], time: Any) -> tuple[np.ndarray, np.ndarray]:
    """h and γ as rows, and [[M, Aᵀ], [A, 0]] for every state of a batch."""
    size, batch = m.n + m.m, q.shape[1]
    unit = np.eye(size)[:, None, :]
    a, p = (Series([None, rows], 1) for rows in (unit[: m.n], unit[m.n :]))
    entries = m.residual(Series([q], 1), Series([v], 1), a, p, parameters, time)
    right = coefficients(entries, 0, batch, 1)
    return right, np.moveaxis(coefficients(entries, 1, batch, size), 1, 0)


def accelerated(m: Mechanics, q: Series, v: Series, parameters: list[Any], time: Any) -> Moving:
    """Accelerations and reactions along a curve of states, one order after another."""
    order, batch = q.order, q.c[0].shape[1]
    still = [_leading(each) for each in parameters]
    right, matrices = bordered(m, q.c[0], v.c[0], still, time)
    found: list[np.ndarray] = []
    for k in range(order + 1):
        if k:
            at = _truncated(q, k), _truncated(v, k)
            a, p = (Series([each[rows] for each in found], k) for rows in (slice(m.n), slice(m.n, None)))
            entries = m.residual(*at, a, p, [_shortened(each, k) for each in parameters], time)
            right = coefficients(entries, k, batch, _directions(entries, k))
        found.append(-solve(matrices, right))
    return Moving(q, v, *(Series([each[rows] for each in found], order) for rows in (slice(m.n), slice(m.n, None))))


def _directions(entries: list[Any], k: int) -> int:
    shapes = [np.shape(each.coefficient(k))[-1:] for each in entries if isinstance(each, Series)]
    return max((shape[0] for shape in shapes if shape), default=1)


def _leading(parameter: Any) -> Any:
    return parameter.c[0] if isinstance(parameter, Series) else parameter


def _truncated(x: Series, order: int) -> Series:
    return Series(x.c, order)


def _shortened(parameter: Any, order: int) -> Any:
    return Series(parameter.c, order) if isinstance(parameter, Series) else parameter


def state_along(m: Mechanics, chart: Chart, x: Series, parameters: list[Any], time: Any) -> tuple[Series, Series]:
    """All coordinates and velocities along a curve of states; dropped ones are zero."""
    q, v = (Series([np.zeros((m.n, *each.shape[1:])) for each in x.c], x.order) for _ in range(2))
    split = len(chart.shaped)
    for k, each in enumerate(x.c):
        q.c[k][list(chart.shaped)] = each[:split]
        v.c[k][list(chart.free)] = each[split:]
    if chart.solved:
        _solve_velocities(m, chart, q, v, parameters, time)
    return q, v


def _solve_velocities(m: Mechanics, chart: Chart, q: Series, v: Series, parameters: list[Any], time: Any) -> None:
    chosen, batch = list(chart.solved), q.c[0].shape[1]
    unit = Series([None, np.eye(m.n)[:, None, chosen]], 1)
    entries = m.constraints(Series([q.c[0]], 1), unit, [_leading(each) for each in parameters], time)
    matrices = np.moveaxis(coefficients(entries, 1, batch, len(chosen)), 1, 0)
    for k in range(q.order + 1):
        if k >= len(v.c):
            v.c.append(np.zeros_like(v.c[0]))
        at = _truncated(q, k), _truncated(v, k)
        short = [_shortened(each, k) for each in parameters]
        entries = m.constraints(*at, short, time)
        right = coefficients(entries, k, batch, max(v.c[k].shape[2], _directions(entries, k)))
        phi = m.positions(at[0], short, time) if chart.settle else []
        if phi:
            right = right.copy()
            right[m.m - len(phi) :] += chart.settle * coefficients(phi, k, *right.shape[1:])
        there = np.array(np.broadcast_to(v.c[k], (m.n, *right.shape[1:])))
        there[chosen] = -solve(matrices, right)
        v.c[k] = there


def rates_along(m: Mechanics, chart: Chart, x: Series, parameters: list[Any], time: Any) -> Series:
    """f along a curve of states."""
    moving = accelerated(m, *state_along(m, chart, x, parameters, time), parameters, time)
    shaped, free = list(chart.shaped), list(chart.free)
    found = []
    for k in range(x.order + 1):
        v, a = moving.v.coefficient(k), moving.a.coefficient(k)
        shape = np.broadcast_shapes(v.shape[1:] if np.ndim(v) else (), a.shape[1:])
        parts = (np.broadcast_to(v, (len(a), *shape))[shaped], np.broadcast_to(a, (len(a), *shape))[free])
        found.append(np.concatenate(parts))
    return Series(found, x.order)
