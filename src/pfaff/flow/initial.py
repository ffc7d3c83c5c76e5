"""Initial states: values by name, the others zero or as the constraints demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.algebra.allowed_inertia import nearly_dependent
from pfaff.errors import ConstraintError, ConvergenceError, RankError, SingularMassError
from pfaff.flow.compiled import Compiled
from pfaff.flow.completion import KEPT, demand
from pfaff.flow.coordinate_sizes import usual_sizes
from pfaff.flow.in_quasi_velocities import quasi_rows, quasi_values
from pfaff.flow.lagrangian import stated_graph_of
from pfaff.flow.positions import completed, on_positions
from pfaff.statement.constraints import numbered
from pfaff.statement.evaluation import evaluated, magnitudes
from pfaff.statement.rod_frame import point_values
from pfaff.statement.system import System
from pfaff.statement.values import number_from
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.flow.structured import Matched

FAINT = 1e-6  # terms of a constraint below this, relative to those of the largest coordinate or velocity, are rounded
REFINED = 3  # solutions of the same linear equations, each for the residual of the last


@dataclass(frozen=True)
class Start:
    """An initial state that obeys the constraints, the change of each given value made for that, and the values filled
    in beside the given ones."""

    q: np.ndarray
    v: np.ndarray
    changes: dict[str, float]
    filled: dict[str, float]


class Constraints:
    """φ, A v + b, A and M as functions of the state."""

    def __init__(self, case: Case) -> None:
        s = case.system.stated
        self.case, self.n, self.m = case, len(s.q), len(s.constraints)
        self.holonomic = len(s.positions)
        self._function = _compiled(case.system)

    def __call__(self, q: np.ndarray, v: np.ndarray, time: float = 0.0) -> tuple[np.ndarray, ...]:
        values = self._function(np.concatenate([q, v]), self.case.numbers, time)
        n, m, h = self.n, self.m, self.holonomic
        phi, rates, rest = values[:h], values[h : h + m], values[h + m :]
        return phi, rates, rest[: m * n].reshape(m, n), rest[m * n :].reshape(n, n)

    def check_rank(self, q: np.ndarray, v: np.ndarray) -> None:
        """Raise where rounding decides what nearly dependent constraints allow."""
        _, _, A, M = self(q, v)
        kept = list(self.case.system.kept)
        found = nearly_dependent(M, A[kept])
        if found:
            where = ", ".join(f"{n} = {x:g}" for n, x in zip(self.case.system.coordinate_names, q, strict=True))
            rows = ", ".join(str(kept[k - 1] + 1) for k in found)
            raise RankError(
                f"the constraints lose rank (rows {rows} are dependent, or nearly so) at {where}: rounding decides "
                "what they allow; state what makes them differ as a constraint of its own, or start elsewhere"
            )

    def row_of(self, k: int) -> str:
        return numbered(self.case.system, [k])

    def position_terms(self, q: np.ndarray, time: float) -> np.ndarray:
        """The size of each φ: the sum of the sizes of its terms."""
        return np.array(magnitudes(self.case.system.stated.positions, self.known(q, time)), dtype=float)

    def potential(self, q: np.ndarray) -> float:
        if self.case.system.rods:
            return float(
                doors.structured_views.energy_rows(self.case.system)(np.concatenate([q, 0 * q]), self.case.numbers)[1]
            )
        return float(evaluated([self.case.system.statement.potential], self.known(q, 0.0))[0])

    def known(self, q: np.ndarray, time: float) -> dict[sm.Basic, float]:
        system, s = self.case.system, self.case.system.statement
        known: dict[sm.Basic, float] = dict(zip((*system.parameters, s.time), (*self.case.numbers, time), strict=True))
        if not system.rods:
            return known | dict(zip(s.q, q, strict=True))
        placed = point_values(system, system.stations, q[:, None], self.case.numbers)
        return known | {sm.Symbol(name, real=True): float(value[0]) for name, value in placed.items()}

    def obeyed(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Which columns of states obey all constraints at time zero."""
        if not self.m:
            return np.ones(x.shape[1], dtype=bool)
        values = self._function(x, numbers)
        rates, A = np.split(values[self.holonomic : self.holonomic + self.m * (1 + self.n)], [self.m])
        there = np.abs(values[: self.holonomic]).max(axis=0, initial=0.0) == 0
        terms = row_sizes(A.reshape(self.m, self.n, -1), x[self.n :], rates)
        return there & (np.abs(rates) <= KEPT * terms).all(axis=0)

    def kept(self, x: np.ndarray, numbers: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ and A v + b of many states, one column each, and the sizes of their terms; terms that are zero but for
        rounding have the size of what a row weighs against the largest of all coordinates or velocities, or against
        one where everything rests. Rows that say nothing are left out."""
        n, m, h = self.n, self.m, self.holonomic
        phi, rates, A = np.split(self._function(x, numbers, time)[: h + m * (1 + n)], [h, h + m])
        A = A.reshape(m, n, -1)
        weights, largest = np.abs(A).max(axis=1, initial=0.0), [max(np.abs(each).max(), 1.0) for each in np.split(x, 2)]
        sizes = [np.abs(A[m - h :] * x[None, :n]).sum(axis=1), row_sizes(A, x[n:], rates)]
        least = [FAINT * weights[m - h :] * largest[0], FAINT * weights * largest[1]]
        said = [*range(h), *(h + k for k in range(m) if k not in self.case.system.empty)]
        return np.concatenate([phi, rates])[said], np.maximum(np.concatenate(sizes), np.concatenate(least))[said]


class Asked(Constraints):
    """The constraints, and below them u − value for every quasi-velocity that is prescribed."""

    def __init__(self, case: Case, values: Mapping[str, float]) -> None:
        super().__init__(case)
        self.values = values

    def row_of(self, k: int) -> str:
        return super().row_of(k) if k < self.m else f"the quasi-velocity {list(self.values)[k - self.m]}"

    def __call__(self, q: np.ndarray, v: np.ndarray, time: float = 0.0) -> tuple[np.ndarray, ...]:
        phi, rates, A, M = super().__call__(q, v, time)
        rows = quasi_rows(self.case.system, list(self.values), np.concatenate([q, v]), self.case.numbers, time)
        asked = rows[:, 0] - np.array(list(self.values.values()))
        return phi, np.append(rates, asked), np.vstack([A, rows[:, 1:]]), M


def row_sizes(A: np.ndarray, v: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """The size of each row of A v + b: the sum of the sizes of its terms, b included."""
    terms = A * v[None, :]
    return np.abs(terms).sum(axis=1) + np.abs(rates - terms.sum(axis=1))


@once(most=1)
def _compiled(system: System) -> Compiled | Matched:
    if system.rods:
        return doors.structured_views.initial_rows(system)
    graph = stated_graph_of(system)
    rows = [*graph.positions, *graph.constraints, *(e for row in (*graph.A, *graph.M) for e in row)]
    return Compiled(rows, [*graph.q, *graph.v])


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is told, by those who need it
def initial_state(case: Case, initial: Mapping[str, float], project: bool = False) -> Start:
    """Given values as they are, the others zero or as the constraints demand; given values yield where they must.

    Only those change that a violated constraint contains and cannot do without: no more than it determines, and of
    these choices the nearest coordinates and the velocities with the least kinetic energy. Where a quasi-velocity is
    given, the others of them are zero before velocities are, as far as the constraints and what is given allow. Given
    values stay unless the others cannot follow; then they change, if ``project`` allows that, at least cost in kinetic
    energy.
    """
    names = case.system.coordinate_names
    known, quasi = [*names, *(f"{name}_dot" for name in names)], case.system.quasi_velocities
    for name in initial:
        case.system.check_no_parameter(name)
        case.system.named(name, [*known, *quasi], f"{case.system.name} has no coordinate or velocity")
    initial = {name: number_from(name, value) for name, value in initial.items()}
    asked = {name: initial[name] for name in initial if name in quasi}
    q = np.array([float(initial.get(name, 0.0)) for name in names])
    v = np.array([float(initial.get(f"{name}_dot", 0.0)) for name in names])
    constraints = Constraints(case)
    free_q = np.array([name not in initial for name in names])
    free_v = np.array([f"{name}_dot" not in initial for name in names])
    new_q = _assembled(constraints, q, v, free_q, project)
    if asked:
        constraints = _all_asked(case, asked, new_q, v, free_v)
    new_v = on_velocities(constraints, new_q, v, free_v, yielding=project, names=names)
    _check_inertia(names, constraints(new_q, new_v)[3])
    before, after = np.concatenate([q, v]), np.concatenate([new_q, new_v])
    changed = {name: (float(a), float(b)) for name, a, b in zip(known, before, after, strict=True) if a != b}
    changes = {name: b - a for name, (a, b) in changed.items() if name in initial}
    filled = {name: b for name, (_, b) in changed.items() if name not in initial}
    if isinstance(constraints, Asked):
        known_u = quasi_values(case.system, after, case.numbers)
        filled |= {name: float(known_u[name]) for name in quasi if name not in constraints.values}
    return Start(new_q, new_v, changes, filled)


def _all_asked(case: Case, asked: Mapping[str, float], q: np.ndarray, v: np.ndarray, free: np.ndarray) -> Asked:
    """The constraints with the quasi-velocities that are given and, at zero, those of the others that can be."""
    others = [name for name in case.system.quasi_velocities if name not in asked]
    every = Asked(case, {**asked, **dict.fromkeys(others, 0.0)})
    _, rates, A, M = every(q, v)
    given_up = demand(M, A, -rates, free).cannot_hold(len(others), others) if others else ()
    return Asked(case, {**asked, **{name: 0.0 for name, lost in zip(others, given_up, strict=True) if not lost}})


def _check_inertia(names: Sequence[str], M: np.ndarray) -> None:
    """Raise for a negative kinetic energy; massless coordinates may be held by constraints."""
    inertia, directions = np.linalg.eigh(M)
    if inertia[0] < -KEPT * abs(inertia).max():
        along = names[int(np.abs(directions[:, 0]).argmax())]
        raise SingularMassError(
            f"the kinetic energy is negative for motions along {along} at the start: check its sign and the masses"
        )


def _assembled(constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray, project: bool) -> np.ndarray:
    """Given coordinates as they are while the others can follow; else changed where these cannot, or all alike."""
    try:
        return completed(constraints, q, v, free)
    except (ConstraintError, ConvergenceError):
        if not project:
            raise
    try:
        return completed(constraints, q, v, free, yielding=True)
    except (ConstraintError, ConvergenceError):
        return on_positions(constraints, q, v, np.ones_like(free))


def on_velocities(
    constraints: Constraints,
    q: np.ndarray,
    v: np.ndarray,
    free: np.ndarray,
    time: float = 0.0,
    exactly: bool = False,
    yielding: bool = False,
    names: Sequence[str] = (),
) -> np.ndarray:
    """A v + b = 0 by the change of free velocities that costs least kinetic energy; others may be ``yielding``.

    Velocities that obey the constraints already stay as they are, unless this must hold ``exactly``. With ``names`` as
    few of them change as possible.
    """
    _, rates, A, M = constraints(q, v, time)
    if not len(rates):
        return v
    violated = np.abs(rates) > KEPT * row_sizes(A, v, rates)
    if not exactly and not violated.any():
        return v
    chosen = demand(M, A, -rates, free).fewest(violated, names, v) if names else None
    asked = demand(M, A, -rates, free if chosen is None else chosen)
    new, left = v, rates
    for _ in range(REFINED):
        new = new + asked.least(yielding and chosen is None)
        left = constraints(q, new, time)[1]
        if not left.any():
            break
        asked = asked.of(-left)
    usual = np.abs(A) @ usual_sizes(new, M)
    wrong = ~(np.abs(left) <= KEPT * (row_sizes(A, v, rates) + row_sizes(A, new, left) + usual))
    if wrong.any():
        row = int(wrong.argmax())
        raise ConstraintError(
            f"the initial velocities violate {constraints.row_of(row)} by {abs(left[row]):.2g}: leave one of its "
            "velocities out so that it can follow, or ask for project=True"
        )
    return new
