"""Which constraints follow from the others, and which contradict them.

Where A has the rank r < m, the m − r left null vectors ℓ of A decide: rows are redundant if ℓ·b = 0, so that A and
[A | b] have the same rank, and contradictory if not. Holonomic ones also contradict each other if they have no common
zero although their gradients are dependent everywhere, as x = 0 and x = 1. Redundancy need only hold where the
constraints do: it is tested at random points of φ(q, t) = 0, for random parameters and for the default ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

if TYPE_CHECKING:
    from pfaff.system import Statement

TRIALS = 3
NEWTON_STEPS = 60
KICKS = 8
RANK = 1e-6  # of singular values of rows scaled to one
ZERO = 1e-9  # what remains of a constraint at a point that was found

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # A, b and φ


@dataclass(frozen=True)
class Dependence:
    """Rows that are combinations of earlier ones, and rows that contradict each other, counted from zero."""

    redundant: tuple[int, ...] = ()
    contradictory: tuple[int, ...] = ()


def dependence(statement: Statement, defaults: Mapping[sm.Symbol, Any]) -> Dependence:
    """How the constraints depend on each other, wherever they hold."""
    if len(statement.constraints) < 2:
        return Dependence()
    dependent: list[set[int]] = []
    at_odds: list[tuple[int, ...]] = []
    for rows, q, t in _trials(statement, defaults):
        found, holds = _regular_zero(rows, q, t)
        A, b, _ = rows(found if holds else q, t)
        dependent.append(_dependent_rows(A))
        null, b = _left_null(A), b / _sizes(A)
        wrong = _support(null @ (null.T @ b), b)
        if not holds and not wrong:
            wrong = _without_common_zero(rows, q, t)
        at_odds.append(wrong)
    # the rank is that of most points: at a singular one, or for special parameters, more rows depend on each other
    fewest: set[int] = min(dependent, key=len, default=set())
    redundant = tuple(sorted(fewest))
    return Dependence(redundant, at_odds[-1] if redundant and all(at_odds) else ())


def _trials(
    statement: Statement, defaults: Mapping[sm.Symbol, Any]
) -> Iterator[tuple[Callable[..., Rows], Any, float]]:
    """(A, b, φ) as functions of q and t, with a random configuration to start from; the default parameters last."""
    expressions = [*statement.constraints, *statement.positions]
    free = set().union(*(c.free_symbols for c in expressions)) - {*statement.q, *statement.v, statement.time}
    parameters = sorted(free, key=str)
    evaluate = sm.lambdify([statement.q, statement.v, statement.time, parameters], expressions, "math")
    n, m = len(statement.q), len(statement.constraints)
    units = [*np.eye(n).tolist(), [0.0] * n]
    generator = np.random.default_rng(1949)
    for trial in range(2 * TRIALS):
        values = generator.uniform(0.2, 1.4, len(parameters)).tolist()
        if trial >= TRIALS:
            values = [_number(defaults.get(p), value) for p, value in zip(parameters, values, strict=True)]

        def rows(q: np.ndarray, t: float, values: list[float] = values) -> Rows:
            table = np.array([evaluate(q.tolist(), unit, t, values) for unit in units], dtype=float).T
            b = table[:m, -1]
            return table[:m, :-1] - b[:, None], b, table[m:, -1]

        for size in (1.4, 0.7, 0.3, 0.1):
            q, t = generator.uniform(-size, size, n), float(generator.uniform(0.2, 1.4))
            if _evaluable(rows, q, t):
                yield rows, q, t
                break


def _number(value: Any, otherwise: float) -> float:
    try:
        return float(value)
    except TypeError:
        return otherwise


def _evaluable(rows: Callable[..., Rows], q: np.ndarray, t: float) -> bool:
    try:
        return all(np.isfinite(each).all() for each in rows(q, t))
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        return False


def _regular_zero(rows: Callable[..., Rows], q: np.ndarray, t: float) -> tuple[np.ndarray, bool]:
    """A common zero where few rows depend on each other: singular ones attract, and are left again by a kick."""
    found, holds = _common_zero(rows, q, t)
    A, _, phi = rows(found, t)
    excess = len(_dependent_rows(A))
    generator = np.random.default_rng(len(q))
    for _ in range(KICKS if holds and excess and len(phi) else 0):
        kicked = found + generator.uniform(-0.7, 0.7, len(q))
        if not _evaluable(rows, kicked, t):
            continue
        other, there = _common_zero(rows, kicked, t)
        fewer = len(_dependent_rows(rows(other, t)[0]))
        if there and fewer < excess:
            found, excess = other, fewer
    return found, holds


def _common_zero(
    rows: Callable[..., Rows], q: np.ndarray, t: float, chosen: list[int] | None = None
) -> tuple[np.ndarray, bool]:
    """A point of φ(q, t) = 0, of all holonomic rows or of those chosen.

    By Levenberg and Marquardt's method with a damping in proportion to |φ|², which converges to a nearby point whatever
    the rank of the rows (Yamashita and Fukushima 2001).
    """

    def holonomic(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, _, phi = rows(q, t)
        A = A[len(A) - len(phi) :]
        return (A, phi) if chosen is None else (A[chosen], phi[chosen])

    A, phi = holonomic(q)
    damping = 1.0
    for _ in range(NEWTON_STEPS):
        left = phi @ phi
        if left <= ZERO**3:
            break
        damped = np.vstack([A, (damping * left) ** 0.5 * np.eye(len(q))])
        trial = q - np.linalg.lstsq(damped, np.concatenate([phi, 0 * q]), rcond=None)[0]
        better = _evaluable(rows, trial, t) and (holonomic(trial)[1] ** 2).sum() < left
        damping *= 0.3 if better else 10.0
        if better:
            q = trial
            A, phi = holonomic(q)
    return q, bool(phi @ phi <= ZERO**2)


def _sizes(A: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(A, axis=1)
    return np.where(sizes > 0, sizes, 1.0)


def _scaled(A: np.ndarray) -> np.ndarray:
    return A / _sizes(A)[:, None]


def _dependent_rows(A: np.ndarray) -> set[int]:
    """Rows that do not raise the rank of those before them."""
    rows = _scaled(A)
    ranks = [0, *(np.linalg.matrix_rank(rows[: k + 1], tol=RANK) for k in range(len(rows)))]
    return {k for k in range(len(rows)) if ranks[k + 1] == ranks[k]}


def _left_null(A: np.ndarray) -> np.ndarray:
    """An orthonormal basis, column by column, of the ℓ with ℓᵀA = 0, the rows of A scaled to one."""
    left, sizes, _ = np.linalg.svd(_scaled(A))
    return left[:, int((sizes > RANK).sum()) :]


def _support(combination: np.ndarray, values: np.ndarray) -> tuple[int, ...]:
    size = np.abs(combination).max(initial=0.0)
    if size <= RANK * max(1.0, np.abs(values).max(initial=0.0)):
        return ()
    return tuple(int(k) for k in np.flatnonzero(np.abs(combination) > 1e-3 * size))


def _without_common_zero(rows: Callable[..., Rows], q: np.ndarray, t: float) -> tuple[int, ...]:
    """Holonomic rows whose gradients are dependent but which do not vanish where the independent ones do."""
    A, _, phi = rows(q, t)
    first = len(A) - len(phi)
    null = _left_null(A[first:])
    dependent = _dependent_rows(A[first:])
    if not dependent:
        return ()
    found, holds = _common_zero(rows, q, t, [k for k in range(len(phi)) if k not in dependent])
    left = rows(found, t)[2] / _sizes(A[first:])
    if not holds or np.abs(left).max() <= 1e3 * ZERO:
        return ()
    return tuple(first + k for k in _support(null @ (null.T @ left), left))
