"""Stiff motions of small systems: implicit integration of the stabilised equations, samples projected on the
constraints.

Energies dissipated and supplied are two more states, so that they are as accurate as the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.errors import ConvergenceError
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.graph import expression, par
from pfaff.flow.initial import Constraints, on_velocities
from pfaff.flow.lagrangian import graph_of
from pfaff.flow.positions import on_positions
from pfaff.flow.shape import ignorable_coordinates
from pfaff.motion.between_steps import NEVER, Resolution
from pfaff.motion.implicit_methods import SHARPEST, Integrated, integrate
from pfaff.motion.measures import Energy, Stored, measures, power_expressions
from pfaff.motion.result import Motion
from pfaff.motion.steep_functions import steep_functions
from pfaff.statement import System
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.flow.structured import Matched
    from pfaff.motion.simulate import Task

DECAYS = 100.0  # least number of time constants, within the motion, in which errors of the constraints decay
SHARE = 0.01  # share of the motion: the effect of the first forces in it sets the size of states that start at zero


def stiff_motion(task: Task, tolerance: float, reason: str, backend: str | None) -> Motion:
    """The motion sampled at the task's times, by an implicit method with the analytic Jacobian."""
    case, t = task.driven.case, task.t
    rates, derivatives = compiled(case.system)
    numbers = np.append(case.numbers, DECAYS / t[-1])
    n = len(task.start.q)
    size = 2 * n + 2
    tolerance = max(tolerance, SHARPEST)

    def rhs(time: float, x: np.ndarray) -> np.ndarray:
        return rates(x, numbers, time)

    def jacobian(time: float, x: np.ndarray) -> np.ndarray:
        return derivatives(x, numbers, time).reshape(size, size)

    x0 = np.concatenate([task.x, [0.0, 0.0]])
    resolution = _resolution(task, rates, numbers)
    path = integrate(
        rhs,
        jacobian,
        x0,
        t,
        tolerance=tolerance,
        sizes=_sizes(case, x0, rhs(0.0, x0), SHARE * abs(task.duration)),
        backend=backend,
        max_steps=task.max_steps,
        max_step=task.max_step,
        resolution=resolution,
        progress=task.progress,
    )
    if len(path.t) < 2:
        raise ConvergenceError(f"{case.system.name} could not take a single step: {path.status}")
    y = _set_right(Constraints(case), path.t, path.x[: size - 2])
    here = measures(case.system)(y, case.numbers, path.t)
    dissipated, supplied = path.x[size - 2 :]
    energy = Energy(here[0], here[1], here[2], dissipated, supplied)
    return Motion(
        t=path.t,
        y=y,
        measures=Stored(case.system.flow.reactions(y, case.numbers, path.t), here[3:], energy, path.knots),
        **task.describe(),
        ended=path.status.leaving(resolution.doubtful if resolution else None),
        method=f"{path.method}, tolerance {tolerance:g} ({reason})",
        events={},
        dense=Between(path, lambda t, x: rates(x, numbers, t)[: 2 * n], 2 * n),
        tolerance=tolerance,
    )


def _resolution(task: Task, rates: Compiled | Matched, numbers: np.ndarray) -> Resolution | None:
    """What bounds steps where functions of the statement are steep; None if none are."""
    steep, n = steep_functions(task.driven.case.system, 1.0), 2 * len(task.start.q)
    if steep is None:
        return None

    def f(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return rates(x, numbers, t)

    def arguments(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return steep(x[:n], f(x, t)[:n], task.driven.case.numbers, t)

    return Resolution(steep, arguments, NEVER * abs(task.duration), f)


def _sizes(case: Case, x: np.ndarray, rates: np.ndarray, time: float) -> np.ndarray:
    """The size of each state: the same for all coordinates, and for all velocities, whatever their units.

    Ignorable coordinates do not count, so that the accuracy does not depend on the origin.
    """
    n = (len(x) - 2) // 2
    names = case.system.coordinate_names
    ignorable = ignorable_coordinates(case.system)
    own = np.array([name not in ignorable for name in names])
    acceleration = np.abs(rates[n : 2 * n])
    fast = (np.abs(x[n : 2 * n]) + acceleration * time).max()
    far = (np.abs(x[:n]) + np.abs(x[n : 2 * n]) * time + acceleration * time**2)[own].max(initial=0.0)
    far, fast = far or fast * time or 1.0, fast or far / time or 1.0
    power = np.abs(rates[2 * n :]).max() * time + fast**2 + far**2
    return np.concatenate([np.full(n, far), np.full(n, fast), [power, power]])


def _set_right(constraints: Constraints, t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The samples moved back onto the constraints, by as little as possible."""
    if not constraints.m:
        return y
    n = constraints.n
    free = np.ones(n, dtype=bool)
    right = np.empty_like(y)
    for k, time in enumerate(t):
        q = on_positions(constraints, y[:n, k], y[n:, k], free, time)
        right[:, k] = np.concatenate([q, on_velocities(constraints, q, y[n:, k], free, time, exactly=True)])
    return right


class Between:
    """The state at any time: polynomials through values and rates along the integrator's own steps."""

    def __init__(self, path: Integrated, rates: Callable[[np.ndarray, np.ndarray], np.ndarray], size: int) -> None:
        self._path, self._rates, self._size = path, rates, size

    @cached_property
    def _spline(self) -> Callable[[np.ndarray], np.ndarray]:
        from scipy.interpolate import CubicHermiteSpline

        t, first = np.unique(self._path.knots, return_index=True)
        x = self._path.states[:, first]
        return CubicHermiteSpline(t, x[: self._size], self._rates(t, x), axis=1)

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return self._spline(t)


def spread(case: Case, x: np.ndarray, duration: float) -> float:
    """Ratio of the fastest decay to the slowest change among the modes of the linearised equations; 0 if fast modes
    oscillate.

    As many zeros are left out as the constraints, the ignorable coordinates and the two energies may cause; nothing is
    slower than the duration.
    """
    size, system = len(x) + 2, case.system
    jacobian = compiled(system)[1](np.append(x, [0.0, 0.0]), np.append(case.numbers, 0.0))
    values = np.linalg.eigvals(jacobian.reshape(size, size))
    values = values[np.argsort(np.abs(values))]
    ignorable = len(ignorable_coordinates(system))
    zeros = 2 + system.statement.nonholonomic + 2 * len(system.statement.positions) + 2 * ignorable
    slowest = max(abs(values[min(zeros, size - 1)]), 1 / abs(duration))
    fast = values[np.abs(values) > 0.1 * np.abs(values).max()]
    decay = -np.sign(duration) * fast.real
    return float(decay.max() / slowest) if (decay > 0.05 * np.abs(fast)).all() else 0.0


@once(most=1)
def compiled(system: System) -> tuple[Compiled | Matched, Compiled | Matched]:
    """The stabilised equations with the two powers, and their Jacobian; one parameter more than the system has."""
    if system.rods:
        return doors.structured_views.stiff_rows(system)
    graph = graph_of(system)
    stabilisation = par[len(system.parameters)] if graph.A else None
    accelerations, reactions = graph.solve(stabilisation)
    variables = [*graph.q, *graph.v, expression("energy dissipated"), expression("energy supplied")]
    rates = [*graph.v, *accelerations, *power_expressions(graph, reactions)]
    return Compiled(rates, variables), Compiled(jacobian_entries(rates, variables), variables)
