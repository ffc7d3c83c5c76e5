"""Which constraints follow from the others, and which contradict them.

Where A has the rank r < m, the m − r left null vectors ℓ of A decide: rows are redundant if ℓ·b = 0, so that A and
[A | b] have the same rank, and contradictory if not. Holonomic ones also contradict each other if they have no common
zero although their gradients are dependent everywhere, as x = 0 and x = 1. Redundancy need only hold where the
constraints do: it is tested at random points of φ(q, t) = 0, for random parameters and for the default ones.

Units do not matter: coordinates are measured in their characteristic sizes, and zero is relative to the terms of a row.
A row that is independent at one of these points is not redundant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.algebra.tolerances import IDENTITY, NEWTON_STEPS, TRANSVERSAL
from pfaff.statement.characteristic import LARGEST, characteristic, unit_velocities
from pfaff.statement.draws import Draws
from pfaff.statement.evaluation import magnitudes
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.statement.plain_symbols import Statement

TRIALS = 3
KICKS = 8
NEARBY = 1e-3  # distance near a singular point

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # A, b and φ


@dataclass(frozen=True)
class Dependence:
    """Rows that are combinations of others, and rows that contradict each other, counted from zero."""

    redundant: tuple[int, ...] = ()
    contradictory: tuple[int, ...] = ()


def dependence(statement: Statement, defaults: Mapping[sm.Symbol, Any]) -> Dependence:
    """How the constraints depend on each other, wherever they hold.

    Velocity-level rows are counted after the positions: without one of them the same configurations are left, while a
    position that is left out leaves its constant free.
    """
    if len(statement.constraints) < 2:
        return Dependence()
    dependent: list[tuple[bool, set[int]]] = []
    at_odds: list[tuple[int, ...]] = []
    for trial in trials(statement, defaults):
        x, holds = trial.zero
        A, b, _ = trial.rows(x)
        rows = trial.dependent(x, holds)
        if holds and not rows:
            return Dependence()
        dependent.append((holds, rows))
        null, sizes = _left_null(A, trial.columns), _sizes(A)
        wrong = _support(null @ (null.T @ (b / sizes)), TRANSVERSAL * (trial.terms(x)[0] / sizes).max())
        if not holds and not wrong:
            wrong = _without_common_zero(trial)
        at_odds.append(wrong)
    # the rank is that of most points: at a singular one, or for special parameters, more rows depend on each other
    counted = [rows for holds, rows in dependent if holds] or [rows for _, rows in dependent]
    fewest: set[int] = min(counted, key=len, default=set())
    redundant = tuple(sorted(fewest))
    return Dependence(redundant, at_odds[-1] if redundant and all(at_odds) else ())


@dataclass(frozen=True)
class Trial:
    """The constraints with numbers for the parameters at a time, and starts: all x = q/sizes are of order one."""

    statement: Statement
    evaluate: Callable[..., list[float]]
    parameters: Mapping[sm.Symbol, float]
    sizes: np.ndarray
    time: float
    starts: list[np.ndarray]

    def rows(self, x: np.ndarray) -> Rows:
        n, m = len(x), len(self.statement.constraints)
        units = [*np.eye(n).tolist(), [0.0] * n]
        q, values = (self.sizes * x).tolist(), list(self.parameters.values())
        table = np.array([self.evaluate(q, unit, self.time, values) for unit in units], dtype=float).T
        b = table[:m, -1]
        return (table[:m, :-1] - b[:, None]) * self.sizes, b, table[m:, -1]

    def evaluable(self, x: np.ndarray) -> bool:
        try:
            return all((np.abs(each) < LARGEST).all() for each in self.rows(x))
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):
            return False

    def terms(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sizes of the terms of b and of φ."""
        s, q = self.statement, self.sizes * x
        at = {**self.parameters, **dict(zip(s.q, q, strict=True)), **dict.fromkeys(s.v, 0.0), s.time: self.time}
        found = np.array(magnitudes([*s.constraints, *s.positions], at), dtype=float)
        return found[: len(s.constraints)], found[len(s.constraints) :]

    def dependent(self, x: np.ndarray, holds: bool) -> set[int]:
        """Rows that depend on others at a point, holonomic ones counted first.

        Where they do, a point on φ = 0 is known only to the root of what is left of φ.
        """
        A, _, phi = self.rows(x)
        first = len(A) - len(phi)
        left = np.abs(phi) / np.maximum(self.terms(x)[1], _sizes(A)[first:])
        least = max(TRANSVERSAL, 10 * left.max() ** 0.5) if holds and len(phi) else TRANSVERSAL
        return _dependent_rows(A, self.columns, [*range(first, len(A)), *range(first)], least)

    @cached_property
    def columns(self) -> np.ndarray:
        """The sizes of the columns of A at a random point, its rows scaled to one: not all coordinates have a size."""
        sizes = np.linalg.norm(_scaled(self.rows(self.starts[0])[0]), axis=0)
        return np.where(sizes > 0, sizes, 1.0)

    @cached_property
    def zero(self) -> tuple[np.ndarray, bool]:
        """A point x of φ = 0, if one was found; without positions, a random one."""
        for start in self.starts:
            found, holds = _regular_zero(self, start)
            if holds:
                return found, True
        return self.starts[0], False


def trials(statement: Statement, defaults: Mapping[sm.Symbol, Any]) -> Iterator[Trial]:
    """Trials with random parameters first, the default ones last; the usual sizes first, then any."""
    s, n = statement, len(statement.q)
    expressions = [*s.constraints, *s.positions]
    parameters = sorted(set().union(*(c.free_symbols for c in expressions)) - {*s.q, *s.v, s.time}, key=str)
    evaluate = sm.lambdify([s.q, s.v, s.time, parameters], expressions, "math", dummify=True)
    generator = Draws(1949)
    for k in range(2 * TRIALS):
        values = generator.uniform(0.2, 1.4, len(parameters)).tolist()
        if k >= TRIALS:
            values = [_number(defaults.get(p), value) for p, value in zip(parameters, values, strict=True)]
        named = dict(zip(parameters, values, strict=True))
        found = characteristic(expressions, (*s.q, s.time), {**named, **unit_velocities(s)})
        sizes = found.drawn(generator) if k % TRIALS else found.usual
        time = float(sizes[-1] * generator.uniform(0.2, 1.4))
        trial = Trial(s, evaluate, named, sizes[:-1], time, [])
        starts = (generator.uniform(-size, size, n) for size in (1.4, 0.7, 0.3, 0.1))
        trial.starts.extend(filter(trial.evaluable, starts))
        if trial.starts:
            yield trial


def _number(value: Any, otherwise: float) -> float:
    try:
        return float(value)
    except TypeError:
        return otherwise


def _regular_zero(trial: Trial, start: np.ndarray) -> tuple[np.ndarray, bool]:
    """A common zero where few rows depend on each other: singular ones attract, and are left again by a kick.

    A kick goes where the rows allow, so that it does not lead far from φ = 0.
    """
    found, holds = _common_zero(trial, start)
    excess = len(trial.dependent(found, holds))
    generator = Draws(len(start))
    for _ in range(KICKS if holds and excess and trial.statement.positions else 0):
        _, sizes, right = np.linalg.svd(_scaled(trial.rows(found)[0]))
        allowed = right[int((sizes > NEARBY).sum()) :]
        kicked = found + allowed.T @ (allowed @ generator.uniform(-1, 1, len(start)))
        if not trial.evaluable(kicked):
            continue
        other, there = _common_zero(trial, kicked)
        fewer = len(trial.dependent(other, there))
        if there and fewer < excess:
            found, excess = other, fewer
    return found, holds


def _common_zero(trial: Trial, x: np.ndarray, chosen: list[int] | None = None) -> tuple[np.ndarray, bool]:
    """A point of φ(q, t) = 0, of all holonomic rows or of those chosen.

    By Levenberg and Marquardt's method with a damping in proportion to |φ|², which converges to a nearby point whatever
    the rank of the rows (Yamashita and Fukushima 2001); φ in units of its change from the start.
    """
    rows = np.arange(len(trial.statement.positions)) if chosen is None else np.array(chosen, dtype=int)
    first = len(trial.statement.constraints) - len(trial.statement.positions)
    sizes = _sizes(trial.rows(x)[0][first:][rows])

    def holonomic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, _, phi = trial.rows(x)
        return A[first:][rows] / sizes[:, None], phi[rows] / sizes

    A, phi = holonomic(x)
    damping, refused = 1.0, 0
    for _ in range(NEWTON_STEPS):
        left = phi @ phi
        if left == 0 or (refused > 2 and left <= IDENTITY**3):
            break
        damped = np.vstack([A, (damping * left) ** 0.5 * np.eye(len(x))])
        new = x - np.linalg.lstsq(damped, np.concatenate([phi, 0 * x]), rcond=None)[0]
        better = trial.evaluable(new) and (holonomic(new)[1] ** 2).sum() < left
        damping *= 0.3 if better else 10.0
        refused = 0 if better else refused + 1
        if better:
            x = new
            A, phi = holonomic(x)
    return x, bool((np.abs(phi) <= IDENTITY * _row_terms(trial, x, sizes, rows)).all())


def _row_terms(trial: Trial, x: np.ndarray, sizes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The size of each holonomic row, in units of its change: this change itself, or its terms."""
    return np.maximum(trial.terms(x)[1][rows] / sizes, 1.0)


def _sizes(A: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(A, axis=1)
    return np.where(sizes > 0, sizes, 1.0)


def _scaled(A: np.ndarray) -> np.ndarray:
    return A / _sizes(A)[:, None]


def _dependent_rows(A: np.ndarray, columns: np.ndarray, order: list[int], least: float = TRANSVERSAL) -> set[int]:
    """Rows that do not raise the rank of those before them, in some order."""
    rows = _scaled(A / columns)[order]
    ranks = [0, *(np.linalg.matrix_rank(rows[: k + 1], tol=least) for k in range(len(rows)))]
    return {order[k] for k in range(len(rows)) if ranks[k + 1] == ranks[k]}


def _left_null(A: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis, column by column, of the ℓ with ℓᵀA = 0, the rows of A scaled to one."""
    left, sizes, _ = np.linalg.svd(_scaled(A) / columns)
    return left[:, int((sizes > TRANSVERSAL).sum()) :]


def _support(combination: np.ndarray, least: float) -> tuple[int, ...]:
    size = np.abs(combination).max(initial=0.0)
    if size <= least:
        return ()
    return tuple(int(k) for k in np.flatnonzero(np.abs(combination) > 1e-3 * size))


def _without_common_zero(trial: Trial) -> tuple[int, ...]:
    """Holonomic rows whose gradients are dependent but which do not vanish where the independent ones do."""
    start = trial.starts[0]
    A, _, phi = trial.rows(start)
    first = len(A) - len(phi)
    A, every = A[first:], list(range(len(phi)))
    dependent = _dependent_rows(A, trial.columns, every)
    if not dependent:
        return ()
    found, holds = _common_zero(trial, start, [k for k in every if k not in dependent])
    null, sizes = _left_null(A, trial.columns), _sizes(A)
    left = trial.rows(found)[2] / sizes
    least = IDENTITY * _row_terms(trial, found, sizes, np.array(every)).max()
    return tuple(first + k for k in _support(null @ (null.T @ left), least)) if holds else ()
