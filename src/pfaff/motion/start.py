"""Initial states: values by name, the rest zero or what the constraints demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.compiled import Compiled
from pfaff.errors import ConstraintError, ConvergenceError, ParameterError, SingularMassError, nearest
from pfaff.lowering import graph_of
from pfaff.system import System
from pfaff.threads import once
from pfaff.values import number_from

if TYPE_CHECKING:
    from pfaff.case import Case

NEWTON_STEPS = 50
KEPT = 1e-10  # a given state obeys the constraints if their residual is below this, relative to its terms


@dataclass(frozen=True)
class Start:
    """An initial state that obeys the constraints, and by how much each given value was changed for that."""

    q: np.ndarray
    v: np.ndarray
    changes: dict[str, float]


class Constraints:
    """φ, A v + b, A and M as functions of the state."""

    def __init__(self, case: Case) -> None:
        graph = graph_of(case.system)
        self.case, self.n, self.m = case, len(graph.q), len(graph.A)
        self.holonomic = len(graph.positions)
        self._function = _compiled(case.system)

    def __call__(self, q: np.ndarray, v: np.ndarray, time: float = 0.0) -> tuple[np.ndarray, ...]:
        values = self._function(np.concatenate([q, v]), self.case.numbers, time)
        n, m, h = self.n, self.m, self.holonomic
        phi, rates, rest = values[:h], values[h : h + m], values[h + m :]
        return phi, rates, rest[: m * n].reshape(m, n), rest[m * n :].reshape(n, n)

    def obeyed(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Which columns of states obey all constraints at time zero as they are."""
        if not self.m:
            return np.ones(x.shape[1], dtype=bool)
        values = self._function(x, numbers)
        rates, A = np.split(values[self.holonomic : self.holonomic + self.m * (1 + self.n)], [self.m])
        there = np.abs(values[: self.holonomic]).max(axis=0, initial=0.0) == 0
        terms = row_sizes(A.reshape(self.m, self.n, -1), x[self.n :], rates)
        return there & (np.abs(rates) <= KEPT * terms).all(axis=0)


def row_sizes(A: np.ndarray, v: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """What is large for each row of A v + b: the sum of its terms, b included."""
    terms = A * v[None, :]
    return np.abs(terms).sum(axis=1) + np.abs(rates - terms.sum(axis=1))


@once(most=64)
def _compiled(system: System) -> Compiled:
    graph = graph_of(system)
    rows = [*graph.positions, *graph.constraints, *(e for row in (*graph.A, *graph.M) for e in row)]
    return Compiled(rows, [*graph.q, *graph.v], quick=True)


def initial_state(case: Case, initial: Mapping[str, float], project: bool = False) -> Start:
    """Given values as they are; the others zero, or changed as little as possible to obey the constraints."""
    names = case.system.coordinate_names
    known = [*names, *(f"{name}_dot" for name in names)]
    for name in initial:
        if name not in known:
            raise ParameterError(f"{case.system.name} has no coordinate or velocity {name!r}: {nearest(name, known)}")
    initial = {name: number_from(name, value) for name, value in initial.items()}
    q = np.array([float(initial.get(name, 0.0)) for name in names])
    v = np.array([float(initial.get(f"{name}_dot", 0.0)) for name in names])
    constraints = Constraints(case)
    free_q = np.array([project or name not in initial for name in names])
    free_v = np.array([project or f"{name}_dot" not in initial for name in names])
    new_q = on_positions(constraints, q, v, free_q)
    new_v = on_velocities(constraints, new_q, v, free_v)
    _check_inertia(names, constraints(new_q, new_v)[3])
    before, after = np.concatenate([q, v]), np.concatenate([new_q, new_v])
    changes = {
        name: float(b - a) for name, a, b in zip(known, before, after, strict=True) if name in initial and a != b
    }
    return Start(new_q, new_v, changes)


def _check_inertia(names: Sequence[str], M: np.ndarray) -> None:
    """Massless coordinates may be held by constraints; a negative kinetic energy is a mistake."""
    inertia, directions = np.linalg.eigh(M)
    if inertia[0] < -KEPT * abs(inertia).max():
        along = names[int(np.abs(directions[:, 0]).argmax())]
        raise SingularMassError(
            f"the kinetic energy is negative for motions along {along} at the start: check its sign and the masses"
        )


def on_positions(
    constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray, time: float = 0.0
) -> np.ndarray:
    """Newton's method with steps of least norm on φ(q, t) = 0, in the coordinates that are free."""
    if not constraints.holonomic:
        return q
    q = q.copy()
    for _ in range(NEWTON_STEPS):
        phi, _, A, _ = constraints(q, v, time)
        rows = A[-constraints.holonomic :][:, free]
        step = np.linalg.lstsq(rows, -phi, rcond=1e-12)[0]
        q[free] += step
        if np.abs(step).max(initial=0.0) <= 1e-15 * (1 + np.abs(q).max()):
            break
    left = np.abs(constraints(q, v, time)[0])
    wrong = ~(left <= KEPT * (1 + np.abs(q).max()))
    if wrong.any():
        first = 1 + constraints.m - constraints.holonomic
        named = ", ".join(str(first + k) for k in np.flatnonzero(wrong))
        remedy = (
            "these rows have no common solution nearby: start elsewhere, or correct them"
            if free.all()
            else "leave some out so that they can follow, or ask for project=True"
        )
        raise ConstraintError(
            f"the initial coordinates violate a holonomic constraint by {left[wrong].max():.2g} (row {named}): {remedy}"
        )
    return q


def on_velocities(
    constraints: Constraints,
    q: np.ndarray,
    v: np.ndarray,
    free: np.ndarray,
    time: float = 0.0,
    exactly: bool = False,
) -> np.ndarray:
    """A v + b = 0 by the change of free velocities that costs least kinetic energy.

    Velocities that obey the constraints already stay as they are, unless they shall do so ``exactly``.
    """
    if not constraints.m:
        return v
    _, rates, A, M = constraints(q, v, time)
    if not exactly and (np.abs(rates) <= KEPT * row_sizes(A, v, rates)).all():
        return v
    inertia = np.linalg.inv(M[np.ix_(free, free)]) if free.any() else np.zeros((0, 0))
    units = 1 / np.maximum(np.abs(A).max(axis=1), np.finfo(float).tiny)
    rows = units[:, None] * A[:, free]
    pull = np.linalg.lstsq(rows @ inertia @ rows.T, units * rates, rcond=1e-12)[0]
    new = v.copy()
    new[free] -= inertia @ rows.T @ pull
    left = np.abs(constraints(q, new, time)[1])
    # A row may have nothing but rounding in it: then what its velocities would be with all the kinetic energy counts.
    usual = np.abs(A) @ np.sqrt(np.maximum(new @ M @ new, 0.0) / np.maximum(np.diag(M), np.finfo(float).tiny))
    wrong = left > KEPT * (row_sizes(A, v, rates) + row_sizes(A, new, rates) + usual)
    if wrong.any():
        row = int(wrong.argmax()) + 1
        raise ConstraintError(
            f"the initial velocities violate constraint {row} by {left[row - 1]:.2g}: leave one of its velocities out "
            "so that it can follow, or ask for project=True"
        )
    if not np.isfinite(new).all():
        raise ConvergenceError("the initial velocities could not be made to obey the constraints")
    return new
