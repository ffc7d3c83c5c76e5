"""Integration by Taylor's method: its equations, and integrators for them.

The equations are those of the multiplier form, in all coordinates and velocities: regular wherever the constraints are
independent. Errors of the constraints decay (Baumgarte 1972) at a rate set by the first step.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.errors import ConvergenceError
from pfaff.flow.batch_integrator import Lanes
from pfaff.flow.collected import collect
from pfaff.flow.graph import Expression, par
from pfaff.flow.integrator import Integrator, Program, program
from pfaff.flow.lagrangian import Graph, graph_of
from pfaff.motion.drive import SINCE
from pfaff.statement import System
from pfaff.threads import Lent, once

DECAY = 5.0  # steps in which an error of the constraints decays to a third


@dataclass(frozen=True, eq=False)
class Equations:
    """First-order equations of all coordinates and velocities, and how their ``par`` follow from the parameters."""

    graph: Graph
    rates: list[tuple[Expression, Expression]]
    reactions: list[Expression]
    numbers: Callable[[np.ndarray], np.ndarray]
    coefficients: int
    lean: bool

    def pars(self, parameters: np.ndarray, stabilisation: float = 0.0) -> np.ndarray:
        """The arguments of the integrator: its coefficients, then the rate of stabilisation."""
        return np.append(self.numbers(parameters), stabilisation)


@once(most=64)
def equations(system: System, zeros: frozenset[str]) -> Equations:
    """The equations, collected by monomials if the system is small, else as in the graph; without vanishing terms."""
    # Polynomials about a knot must not be expanded about time zero.
    collected = None if SINCE in system.parameter_names else collect(system, zeros)
    graph = collected.graph if collected else graph_of(system, zeros)
    coefficients = len(collected.coefficients) if collected else len(system.parameters)
    accelerations, reactions = graph.solve(par[coefficients] if graph.A else None)
    rates = [*zip(graph.q, graph.v, strict=True), *zip(graph.v, accelerations, strict=True)]
    numbers = collected.numbers if collected else (lambda parameters: parameters)
    return Equations(graph, rates, graph.shared(reactions), numbers, coefficients, lean=collected is not None)


@once(most=32)
def _program(system: System, zeros: frozenset[str], tolerance: float) -> Program:
    return program(equations(system, zeros).rates, tolerance)


@once(most=32)
def _integrators(system: System, zeros: frozenset[str], tolerance: float) -> Lent[Integrator]:
    return Lent(Integrator(_program(system, zeros, tolerance)))


def borrow(system: System, zeros: frozenset[str], tolerance: float) -> AbstractContextManager[Integrator]:
    """An integrator for temporary use; its time, state and parameters are left over from earlier uses."""
    return _integrators(system, zeros, tolerance).lend()


def lanes(system: System, zeros: frozenset[str], tolerance: float) -> Lanes:
    """An integrator of several motions at once."""
    return Lanes(_program(system, zeros, tolerance))


def stabilisation(step: Any) -> Any:
    """The rate at which errors of the constraints decay, for steps of this length (or of these lengths)."""
    return 1.0 / (DECAY * step)


def set_up(integrator: Integrator, eqs: Equations, x: np.ndarray, parameters: np.ndarray, duration: float) -> float:
    """Set state and parameters; returns the length of a first step, on whose scale constraint errors are to decay."""
    integrator.put(0.0, x, eqs.pars(parameters))
    integrator.step(duration)
    first = abs(integrator.last_h)
    if not np.isfinite(integrator.state).all() or not first > 0:
        raise ConvergenceError("the motion cannot start: its first step is not finite")
    integrator.put(0.0, x, eqs.pars(parameters, stabilisation(np.copysign(first, duration))))
    return first
