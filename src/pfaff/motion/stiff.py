"""Stiff motions of small systems: implicit integration of the stabilised equations, samples set right.

Energies dissipated and supplied are two more states, so that they are as accurate as the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import heyoka as hy
import numpy as np

from pfaff.compiled import Compiled
from pfaff.lowering import graph_of
from pfaff.motion.drive import Driven
from pfaff.motion.implicit import integrate
from pfaff.motion.measures import Energy, Stored, measures, power_expressions
from pfaff.motion.result import Motion
from pfaff.motion.start import Constraints, Start, on_positions, on_velocities
from pfaff.reduction import ignorable_coordinates
from pfaff.system import System

if TYPE_CHECKING:
    from pfaff.case import Case

DECAYS = 100.0  # times that an error of the constraints decays to a third within the motion, at least


def stiff_motion(
    driven: Driven,
    start: Start,
    t: np.ndarray,
    tolerance: float,
    reason: str,
    progress: Callable[[float], None],
    about: dict[str, Any],
    backend: str | None = None,
) -> Motion:
    """The motion sampled at the times t, by an implicit method with the analytic Jacobian."""
    case = driven.case
    rates, derivatives = compiled(case.system)
    numbers = np.append(case.numbers, DECAYS / t[-1])
    size = 2 * len(start.q) + 2

    def rhs(time: float, x: np.ndarray) -> np.ndarray:
        return rates(x, numbers, time)

    def jacobian(time: float, x: np.ndarray) -> np.ndarray:
        return derivatives(x, numbers, time).reshape(size, size)

    x0 = np.concatenate([start.q, start.v, [0.0, 0.0]])
    path = integrate(rhs, jacobian, x0, t, tolerance=tolerance, backend=backend, progress=progress)
    t, y = path.t, _set_right(Constraints(case), path.t, path.x[: size - 2])
    here = measures(case.system)(y, case.numbers, t)
    dissipated, supplied = path.x[size - 2 :]
    energy = Energy(here[0], here[1], here[2], dissipated, supplied)
    return Motion(
        t=t,
        y=y,
        measures=Stored(case.system.flow.reactions(y, case.numbers, t), here[3:], energy),
        **about,
        status=path.status,
        method=f"{path.method} ({reason})",
        events={},
        dense=_between(t, y, np.array([rhs(time, x)[: size - 2] for time, x in zip(t, path.x.T, strict=True)]).T),
    )


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


def _between(t: np.ndarray, y: np.ndarray, rates: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from scipy.interpolate import CubicHermiteSpline

    if t[-1] < t[0]:
        t, y, rates = t[::-1], y[:, ::-1], rates[:, ::-1]
    return CubicHermiteSpline(t, y, rates, axis=1)


def spread(case: Case, x: np.ndarray, duration: float) -> float:
    """The largest to the smallest eigenvalue of the linearised equations, in magnitude; slower than all is the motion.

    As many zeros are left out as the constraints, the ignorable coordinates and the two energies may bring.
    """
    size, system = len(x) + 2, case.system
    jacobian = compiled(system)[1](np.append(x, [0.0, 0.0]), np.append(case.numbers, 0.0))
    sizes = np.sort(np.abs(np.linalg.eigvals(jacobian.reshape(size, size))))
    ignorable = len(ignorable_coordinates(graph_of(system)))
    zeros = 2 + len(system.nonholonomic_constraints) + 2 * len(system.holonomic_constraints) + 2 * ignorable
    slowest = sizes[min(zeros, size - 1)]
    return float(sizes[-1] / max(slowest, 1 / abs(duration)))


@lru_cache(maxsize=32)
def compiled(system: System) -> tuple[Compiled, Compiled]:
    """The stabilised equations with the two powers, and their Jacobian; one parameter more than the system has."""
    graph = graph_of(system)
    stabilisation = hy.par[len(system.parameters)] if graph.A else None
    accelerations, reactions = graph.solve(stabilisation)
    variables = [*graph.q, *graph.v, hy.expression("energy dissipated"), hy.expression("energy supplied")]
    rates = [*graph.v, *accelerations, *power_expressions(graph, reactions)]
    jacobian = hy.diff_tensors(rates, variables, diff_order=1).jacobian
    large = len(graph.q) > 4
    return (
        Compiled(rates, variables, compact=large),
        Compiled(list(np.ravel(jacobian)), variables, compact=large),
    )
