"""Motion of systems with rods: collocation of high order at Radau's points, on the multiplier form.

The fast modes of a rod are stiff and mean nothing; the method is L-stable, of order 13, and evaluates all its stages
at once, so that steps are few and long. They are the steps of assemblies (``motion.large.steps``) with dense matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.factors import Solve
from pfaff.errors import ConvergenceError, ParameterError, RankError
from pfaff.flow.rod_mechanics import coefficients, mechanics_of
from pfaff.flow.series import Series
from pfaff.flow.structured import bordered, parameter_list, solve
from pfaff.motion.implicit_methods import SHARPEST
from pfaff.motion.large.simulation import LASTING, Record, is_damped, run
from pfaff.motion.large.steps import STAGES, Integrator, Sizes, State
from pfaff.motion.measures import Energy, Stored
from pfaff.motion.outcomes import Outcome
from pfaff.motion.result import Motion
from pfaff.statement.system import System

if TYPE_CHECKING:
    from pfaff.motion.simulate import Task


class RodEquations:
    """M q̈ + h + Aᵀp = 0 and A q̇ + b = 0 of a system with rods at fixed parameters; z = (q, q̇, q̈, p), a column each."""

    def __init__(self, system: System, numbers: np.ndarray) -> None:
        self.mechanics = m = mechanics_of(system)
        self.n, self.m = m.n, m.m
        self.parameters = parameter_list(numbers)
        self.holonomic = np.arange(m.m) >= len(system.nonholonomic_constraints)

    def stack(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([q, v, a, p])

    def _parts(self, z: np.ndarray) -> list[np.ndarray]:
        n = self.n
        return [z[part, :, None] for part in (slice(n), slice(n, 2 * n), slice(2 * n, 3 * n), slice(3 * n, None))]

    def residual(self, z: np.ndarray) -> np.ndarray:
        q, v, a, p = self._parts(z)
        entries = self.mechanics.residual(q, v, a, p, self.parameters, 0.0, speeds=True)
        return coefficients(entries, 0, z.shape[1], 1)[:, :, 0]

    def powers(self, z: np.ndarray) -> np.ndarray:
        q, v, _, p = self._parts(z)
        m = self.mechanics
        found = [m.energies(q, v, self.parameters, 0.0)[3], m.supplied(q, v, p, self.parameters, 0.0)]
        return coefficients(found, 0, z.shape[1], 1)[:, :, 0]

    def energies(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = self.mechanics.energies(q[:, :, None], v[:, :, None], self.parameters, 0.0)[:3]
        return coefficients(list(found), 0, q.shape[1], 1)[:, :, 0]

    def constraints(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ, zero in the rows of nonholonomic constraints, and A q̇ + b."""
        q, v = q.reshape(self.n, -1, 1), v.reshape(self.n, -1, 1)
        batch = q.shape[1]
        phi = np.zeros((self.m, batch))
        phi[self.holonomic] = coefficients(self.mechanics.positions(q, self.parameters, 0.0), 0, batch, 1)[:, :, 0]
        return phi, coefficients(self.mechanics.constraints(q, v, self.parameters, 0.0), 0, batch, 1)[:, :, 0]

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        right, matrices = bordered(self.mechanics, q[:, None, None], v[:, None, None], self.parameters, 0.0)
        found = -solve(matrices, right)[:, 0, 0]
        return found[: self.n], found[self.n :]

    def slopes(self, z: np.ndarray) -> RodSlopes:
        """The derivatives at one instant."""
        n, parts = self.n, self._parts(z[:, None])
        unit = np.eye(3 * n)[:, None, :]
        q, v, a = (Series([parts[k], unit[k * n : (k + 1) * n]], 1) for k in range(3))
        entries = self.mechanics.residual(q, v, a, Series([parts[3]], 1), self.parameters, 0.0, speeds=True)
        found = coefficients(entries, 1, 1, 3 * n)[:, 0]
        K, C, M = (found[:n, k * n : (k + 1) * n] for k in range(3))
        return RodSlopes(M, C, K, found[n:, n : 2 * n], found[n:, :n])


class RodSlopes:
    """M, C, K, A and B at one instant."""

    def __init__(self, M: np.ndarray, C: np.ndarray, K: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        self._matrices = {"M": M, "C": C, "K": K, "A": A, "B": B}

    def matrix(self, name: str) -> np.ndarray:
        return self._matrices[name]

    def pencil(self, omega: complex) -> Solve:
        """The factors of [[M ω² + C ω + K, Aᵀ], [A + B/ω, 0]], reactions in the unit of the largest force."""
        M, C, K, A, B = self._matrices.values()
        forces = M * omega**2 + C * omega + K
        unit, n = np.abs(forces).max() or 1.0, len(M)
        matrix = np.block([[forces / unit, A.T], [A + B / omega, np.zeros((len(A), len(A)))]])
        try:
            inverse = np.linalg.inv(matrix)  # small, and applied many times
        except np.linalg.LinAlgError as problem:
            raise RankError("the multiplier matrix is singular: a constraint repeats others") from problem
        inverse[:, :n] /= unit
        inverse[n:] *= unit
        return lambda right: inverse @ right


class RodSizes(Sizes):
    """Sizes by kind: every coordinate of the frame by itself, all amplitudes of a rod alike."""

    def __init__(self, equations: RodEquations, duration: float) -> None:
        m = equations.mechanics
        amplitudes = [np.full(rows.stop - rows.start, m.own + k) for k, rows in enumerate(m.rows)]
        self._kind = np.concatenate([np.arange(m.own), *amplitudes])
        self._largest = np.zeros((2, self._kind.max() + 1))
        self._duration = abs(duration)


def rod_motion(task: Task, tolerance: float, reason: str) -> Motion:
    """The motion sampled at the task's times."""
    case, duration = task.driven.case, task.duration
    equations: Any = RodEquations(case.system, case.numbers)
    tolerance = max(tolerance, SHARPEST)
    q, v = task.start.q, task.start.v
    a, p = equations.accelerations(q, v)
    state = State(0.0, q, v, a, p, np.zeros(2))
    if not np.isfinite(state.a).all():
        case.system.flow.rhs(task.x, case.numbers)  # says what is singular
    if duration < 0 and is_damped(equations, state):
        raise ParameterError(f"{case.system.name} is damped: backwards its fast modes would explode; run it forwards")
    for sharp in (tolerance, 10 * tolerance, 100 * tolerance):  # rounding of stiff forces may let no step succeed
        integrator = Integrator(equations, RodSizes(equations, duration), sharp)
        record = Record(equations, task.t, state)
        status = run(integrator, record, state, duration, task.max_steps, task.progress)
        if status.outcome is not Outcome.COLLAPSED or record.steps > LASTING:
            break
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
        status=status,
        method=f"Radau collocation of order {2 * STAGES - 1}, {record.steps} steps, tolerance {sharp:g} ({reason})",
        events={},
        dense=record.dense if record.dense.complete and status.finished else None,
    )
