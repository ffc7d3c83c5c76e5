"""Integration by Taylor's method (heyoka): its equations, and the integrators that are compiled for them.

The equations are those of the multiplier form, in all coordinates and velocities: regular wherever the constraints are
independent. Errors of the constraints decay (Baumgarte 1972) at a rate set by the first step.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from pfaff.errors import ConvergenceError
from pfaff.flow.collected import collect
from pfaff.flow.compiled import Compiled, taylor_method
from pfaff.flow.expressions import Expression, par
from pfaff.flow.lagrangian import Graph, graph_of
from pfaff.motion.dense_output import put
from pfaff.motion.drive import SINCE
from pfaff.statement import System
from pfaff.threads import Lent, cached_property, once

DECAY = 5.0  # steps in which an error of the constraints decays to a third
UNROLLED = 16  # states up to which unrolled code, which runs twice as fast, can be compiled at all
SMALL = 128  # operations up to which that takes a second or two; its time grows with their square
LONG = 3e5  # steps of a motion for which a longer compilation pays
SHORT = 2e5  # operations of all steps of a motion that ends before its equations would have been optimised


class Build(Enum):
    """How an integrator is compiled, from what takes longest and runs fastest: with loops, and how optimised."""

    UNROLLED = (False, 1)
    COMPACT = (True, 1)
    QUICK = (True, 0)  # compiled in a seventh of the time, and takes three times as long

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by heyoka's names."""
        return dict(zip(("compact_mode", "opt_level"), self.value, strict=True))


@dataclass(frozen=True, eq=False)
class Equations:
    """First-order equations of all coordinates and velocities, and how their ``par`` follow from the parameters."""

    graph: Graph
    rates: list[tuple[Expression, Expression]]
    reactions: list[Expression]
    numbers: Callable[[np.ndarray], np.ndarray]
    coefficients: int
    lean: bool

    @cached_property
    def operations(self) -> int:
        """Elementary operations of one evaluation."""
        states, rates = zip(*self.rates, strict=True)
        return Compiled(rates, states).operations

    def optimised(self, long: bool = False) -> Build:
        """The build without loops where that pays: for few operations, or for long motions."""
        unrolled = self.lean and len(self.rates) <= UNROLLED and (long or self.operations <= SMALL)
        return Build.UNROLLED if unrolled else Build.COMPACT

    @property
    def first(self) -> Build:
        """How to compile for a single step: large equations quickly."""
        return self.optimised() if self.lean else Build.QUICK

    def built_for(self, steps: float, operations: int) -> Build:
        """How to compile for about this many steps of this many operations."""
        short = not self.lean and steps * operations <= SHORT
        return Build.QUICK if short else self.optimised(steps > LONG)

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
def _integrators(system: System, zeros: frozenset[str], tolerance: float, way: Build) -> Lent[Any]:
    return Lent(build(equations(system, zeros), tolerance, way))


def borrow(system: System, zeros: frozenset[str], tolerance: float, way: Build) -> AbstractContextManager[Any]:
    """A compiled integrator for temporary use; its time, state and parameters are left over from earlier uses."""
    return _integrators(system, zeros, tolerance, way).lend()


def build(eqs: Equations, tolerance: float, way: Build, **events: Any) -> Any:
    return taylor_method(eqs.rates, np.zeros(len(eqs.rates)), tol=tolerance, **way.settings, **events)


def stabilisation(step: Any) -> Any:
    """The rate at which errors of the constraints decay, for steps of this length (or of these lengths)."""
    return 1.0 / (DECAY * step)


def set_up(integrator: Any, eqs: Equations, x: np.ndarray, parameters: np.ndarray, duration: float) -> float:
    """Set state and parameters; returns the length of a first step, on whose scale constraint errors are to decay."""
    put(integrator, 0.0, x, eqs.pars(parameters))
    integrator.step(max_delta_t=duration)
    first = abs(integrator.last_h)
    if not np.isfinite(integrator.state).all() or not first > 0:
        raise ConvergenceError("the motion cannot start: its first step is not finite")
    put(integrator, 0.0, x, eqs.pars(parameters, stabilisation(np.copysign(first, duration))))
    return first
