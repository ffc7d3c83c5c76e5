"""Motion of systems with rods: collocation of high order at Radau's points, on the multiplier form.

The fast modes of a rod are stiff and irrelevant; the method is L-stable, of order 21, and evaluates all its stages at
once, so that steps are few and long. They are the steps of assemblies (``motion.large.steps``) with dense matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.factors import Solve
from pfaff.errors import ConvergenceError, ParameterError, RankError
from pfaff.flow.placed import NodesAt, Placed
from pfaff.flow.rod_mechanics import mechanics_of
from pfaff.flow.rod_series import solved
from pfaff.motion.implicit_methods import SHARPEST
from pfaff.motion.large.simulation import LASTING, is_damped, run
from pfaff.motion.large.steps import Integrator, Sizes, State
from pfaff.motion.measures import Energy, Stored
from pfaff.motion.outcomes import Outcome
from pfaff.motion.result import Motion
from pfaff.motion.rod_events import EndedByEvent, RodWatch, WatchedRecord
from pfaff.statement.system import System

if TYPE_CHECKING:
    from pfaff.motion.simulate import Task

STAGES = 11  # measured: 7 take twice as long, 13 fail more often; all are evaluated at once
MIDDLE = STAGES // 2


class RodEquations:
    """M q̈ + h + Aᵀp = 0 and A q̇ + b = 0 of a system with rods at fixed parameters; z = (q, q̇, q̈, p), a column each."""

    def __init__(self, system: System, numbers: np.ndarray) -> None:
        self.mechanics, self._at = mechanics_of(system), NodesAt(system, numbers)
        self.n, self.m = self._at.n, self._at.m
        self.holonomic = np.arange(self.m) >= system.statement.nonholonomic
        self.ringing = [each.nodes.rod.rod.name for each in self._at.rods if each.damping is None]

    def stack(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([q, v, a, p])

    def _placed(self, z: np.ndarray) -> tuple[Placed, np.ndarray]:
        n = self.n
        placed = self._at.placed(z[:n])
        placed.move(z[n : 2 * n], z[2 * n : 3 * n])
        return placed, z[3 * n :]

    def residual(self, z: np.ndarray) -> np.ndarray:
        placed, p = self._placed(z)
        left = placed.left(p)
        return np.concatenate([left[: self.n], left[self.n + self.m :]])

    def powers(self, z: np.ndarray) -> np.ndarray:
        placed, p = self._placed(z)
        return placed.powers(p)

    def energies(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._configured(q, v).energies()

    def constraints(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ, zero in the rows of nonholonomic constraints, and A q̇ + b."""
        placed = self._configured(q.reshape(self.n, -1), v.reshape(self.n, -1))
        phi = np.zeros((self.m, placed.q.shape[1]))
        if self.holonomic.any():
            phi[self.holonomic] = placed.positions()
        return phi, placed.speeds()

    def _configured(self, q: np.ndarray, v: np.ndarray) -> Placed:
        placed = self._at.placed(q)
        placed.move(v)
        return placed

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        placed = self._configured(q[:, None], v[:, None])
        found = -solved(placed.bordered, placed.left(placed.still)[None, : self.n + self.m])[0, :, 0]
        return found[: self.n], found[self.n :]

    def slopes(self, z: np.ndarray) -> RodSlopes:
        """The derivatives at one instant."""
        placed, p = self._placed(z[:, None])
        placed.left(p)
        by = placed.slopes(p)
        return RodSlopes(placed.M[0], by.C[0], by.K[0], placed.A[0], by.B[0])


class RodSlopes:
    """M, C, K, A and B at one instant."""

    def __init__(self, M: np.ndarray, C: np.ndarray, K: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        self._matrices = {"M": M, "C": C, "K": K, "A": A, "B": B}

    def matrix(self, name: str) -> np.ndarray:
        return self._matrices[name]

    def inverses(self, omegas: np.ndarray) -> np.ndarray:
        """Inverses of [[M ω² + C ω + K, Aᵀ], [A + B/ω, 0]], reactions in the unit of the largest force."""
        M, C, K, A, B = self._matrices.values()
        n, m, w = len(M), len(A), omegas[:, None, None]
        matrices = np.zeros((len(omegas), n + m, n + m), dtype=complex)
        forces = (M * w + C) * w + K
        unit = np.abs(forces).max() or 1.0
        matrices[:, :n, :n], matrices[:, :n, n:], matrices[:, n:, :n] = forces / unit, A.T, A + B / w
        try:
            found = np.linalg.inv(matrices)  # small, and applied many times
        except np.linalg.LinAlgError as problem:
            raise RankError("the multiplier matrix is singular: a constraint repeats others") from problem
        found[:, :, :n] /= unit
        found[:, n:] *= unit
        return found


class RodIntegrator(Integrator):
    """All pencils of a step inverted and applied together."""

    stages = STAGES

    def _slopes(self, state: State, h: float, a: np.ndarray, p: np.ndarray) -> Any:
        """The derivatives in the middle of the step, as predicted: rods turn far in one step."""
        v = state.v[:, None] + h * a @ self.method.matrix.T
        q = state.q + h * v @ self.method.matrix[MIDDLE]
        return self.equations.slopes(np.concatenate([q, v[:, MIDDLE], a[:, MIDDLE], p[:, MIDDLE]]))

    def _factors(self, slopes: Any, omegas: np.ndarray) -> list[Solve]:
        self._inverses = slopes.inverses(omegas)
        first = self._inverses[0].real
        return [lambda right: first @ right]

    def _solved(self, residual: np.ndarray, solves: list[Solve], omegas: np.ndarray) -> np.ndarray:
        right = -residual @ self.method.forward.T
        right[self.equations.n :] /= omegas
        return (self._inverses @ right.T[:, :, None])[:, :, 0].T


class RodSizes(Sizes):
    """Sizes by kind: every coordinate of the frame by itself, all amplitudes of a rod together."""

    def __init__(self, equations: RodEquations, duration: float) -> None:
        m = equations.mechanics
        self._kind = m.kinds
        self._first = np.array([*range(m.own), *(rows.start for rows in m.rows)])
        self._largest = np.zeros((2, self._kind.max() + 1))
        self._duration = abs(duration)

    def reached(self, q: np.ndarray, v: np.ndarray) -> Sizes:
        larger = copy(self)
        found = np.maximum.reduceat(np.abs([q, v]).max(axis=2), self._first, axis=1)
        larger._largest = np.maximum(self._largest, found)
        return larger


def rod_motion(task: Task, tolerance: float, reason: str, events: Mapping[str, Any] | None = None) -> Motion:
    """The motion sampled at the task's times."""
    case, duration = task.driven.case, task.duration
    equations: Any = RodEquations(case.system, case.numbers)
    tolerance = max(tolerance, SHARPEST)
    q, v = task.start.q, task.start.v
    a, p = equations.accelerations(q, v)
    state = State(0.0, q, v, a, p, np.zeros(2))
    if not np.isfinite(state.a).all():
        case.system.flow.rhs(task.x, case.numbers)  # raises and names what is singular
    if duration < 0 and is_damped(equations, state):
        raise ParameterError(f"{case.system.name} is damped: backwards its fast modes would explode; run it forwards")
    for sharp in (tolerance, 10 * tolerance, 100 * tolerance):  # rounding of stiff forces may let no step succeed
        integrator = RodIntegrator(equations, RodSizes(equations, duration), sharp)
        watch = RodWatch(case, events) if events else None
        record = WatchedRecord(equations, task.t, state, watch=watch)
        try:
            status = run(integrator, record, state, duration, task.max_steps, task.progress, task.max_step)
        except EndedByEvent as end:
            status = end.status
        if status.outcome is not Outcome.COLLAPSED or record.steps > LASTING:
            break
    if equations.ringing:
        reason += (
            f"; the fast modes of {', '.join(equations.ringing)} ring on, and steps follow them: a small retardation "
        )
        reason += "or fewer modes make these longer"
    if not record.steps:
        raise ConvergenceError(f"{case.system.name} could not be integrated: {status}; give a larger tolerance")
    recorded = record.recorded(status)
    t, q, v, p, work = (np.concatenate(each, axis=-1) for each in zip(*recorded, strict=True))
    phi, rates = equations.constraints(q, v)
    return Motion(
        t=t,
        y=np.concatenate([q, v]),
        measures=Stored(p, np.concatenate([phi[equations.holonomic], rates]), Energy(*equations.energies(q, v), *work)),
        **task.describe(),
        ended=status,
        method=f"Radau collocation of order {2 * STAGES - 1}, {record.steps} steps, tolerance {sharp:g} ({reason})",
        events=watch.crossings(2 * equations.n) if watch else {},
        dense=record.dense if record.dense.complete and status.finished else None,
        tolerance=sharp,
    )
