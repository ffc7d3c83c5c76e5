"""Derived quantities of a motion: reactions, residuals of the constraints, energies and their balance.

The energy is Jacobi's, v·∂T/∂v − T + V; its rate is −v·∂D/∂v + Q·v + p·b + ∂(V − T)/∂t. The powers are integrated
by Gauss's rule on the integrator's own steps, as exactly as these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import gradient
from pfaff.flow.graph import Expression, expression, subs, sum_of
from pfaff.flow.lagrangian import Graph, dot, graph_of, stated_graph_of
from pfaff.motion.dense_output import Flight
from pfaff.motion.drive import Driven
from pfaff.statement import System
from pfaff.statement.told import answering
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.flow.structured import Matched

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
AT_ONCE = 20_000  # steps whose nodes are evaluated together


@answering
@dataclass(frozen=True)
class Energy:
    """Energies along a motion: kinetic, potential, their Jacobi sum, and the energies dissipated and supplied so
    far."""

    kinetic: np.ndarray
    potential: np.ndarray
    total: np.ndarray
    dissipated: np.ndarray
    supplied: np.ndarray

    @property
    def balance(self) -> np.ndarray:
        """Stored plus dissipated minus supplied, since the start: zero but for the error of the integration."""
        return self.total - self.total[0] + self.dissipated - self.supplied

    @property
    def drift(self) -> float:
        """The largest imbalance, relative to the largest of these energies."""
        sizes = (self.kinetic, self.potential, self.dissipated, self.supplied)
        scale = max(np.abs(each).max(initial=0.0) for each in sizes)
        return float(np.abs(self.balance).max(initial=0.0) / scale) if scale else 0.0


@dataclass(frozen=True)
class Stored:
    """Reactions, residuals and energies that are known already."""

    p: np.ndarray
    residual: np.ndarray
    energy: Energy
    steps: np.ndarray | None = None  # the ends of the integrator's steps, if they are known


@dataclass(frozen=True, eq=False)
class Measured:
    """Reactions, residuals and energies of a motion, computed when first asked for."""

    driven: Driven
    t: np.ndarray
    y: np.ndarray
    dense: Flight

    @cached_property
    def steps(self) -> np.ndarray:
        """The ends of the integrator's steps."""
        return self.dense.times

    @cached_property
    def p(self) -> np.ndarray:
        return self.driven.case.system.flow.reactions(self.y, self.driven.numbers(self.t), self.t)

    @cached_property
    def _here(self) -> np.ndarray:
        return measures(self.driven.case.system)(self.y, self.driven.numbers(self.t), self.t)

    @property
    def residual(self) -> np.ndarray:
        return self._here[3:]

    @cached_property
    def energy(self) -> Energy:
        dissipated, supplied = self._work()
        kinetic, potential, total = self._here[:3]
        return Energy(kinetic, potential, total, dissipated, supplied)

    def _work(self) -> np.ndarray:
        """The integrals of both powers from the start to every sample: over whole steps, then over part of one."""
        if not has_power(self.driven.case.system):
            return np.zeros((2, len(self.t)))
        before = np.clip(np.searchsorted(np.abs(self.steps), np.abs(self.t), side="right") - 1, 0, len(self.steps) - 1)
        whole = self._integrals(self.steps[:-1], self.steps[1:])
        so_far = np.concatenate([np.zeros((2, 1)), np.cumsum(whole, axis=1)], axis=1)
        return so_far[:, before] + self._integrals(self.steps[before], self.t) + self._jumps()

    def _jumps(self) -> np.ndarray:
        """Energy supplied at once where a load jumps from one interval to the next."""
        jumps = np.zeros((2, len(self.t)))
        knots = self.driven.knots[self.driven.knots < self.t[-1]]
        energies = measures(self.driven.case.system)
        states = self.dense(knots) if len(knots) else np.zeros((len(self.y), 0))
        for k, (knot, x) in enumerate(zip(knots, states.T, strict=True)):
            before, after = (energies(x, self.driven.on(j), knot)[2] for j in (k, k + 1))
            jumps[1, self.t >= knot] += after - before
        return jumps

    def _integrals(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        parts = [
            self._gauss(start[k : k + AT_ONCE], end[k : k + AT_ONCE]) for k in range(0, max(len(start), 1), AT_ONCE)
        ]
        return np.concatenate(parts, axis=1)

    def _gauss(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        half = (end - start)[:, None] / 2
        times = (start[:, None] + half * (1 + NODES)).ravel()
        power = powers(self.driven.case.system)(self.dense(times), self.driven.numbers(times), times)
        return np.einsum("pij,j,i->pi", power.reshape(2, len(start), len(NODES)), WEIGHTS, half[:, 0])


@once(most=1)
def measures(system: System) -> Compiled | Matched:
    """T, V and Jacobi's energy, then the residual of every constraint: positions first, then velocities."""
    if system.rods:
        return doors.structured_views.energy_rows(system)
    graph = stated_graph_of(system)
    total = sum_of([dot(gradient(graph.kinetic, graph.v), graph.v), -graph.kinetic, graph.potential])
    rows = [graph.kinetic, graph.potential, total, *graph.positions, *graph.constraints]
    return Compiled(rows, [*graph.q, *graph.v])


@once(most=1)
def powers(system: System) -> Compiled | Matched:
    """Powers dissipated and supplied."""
    if system.rods:
        return doors.structured_views.power_rows(system)
    graph = graph_of(system)
    reactions = graph.solve()[1] if system.redundant else system.flow.reaction_expressions
    return Compiled(power_expressions(graph, reactions), [*graph.q, *graph.v])


def power_expressions(graph: Graph, reactions: Sequence[Expression]) -> list[Expression]:
    still = subs(graph.constraints, {v: expression(0.0) for v in graph.v})
    supplied = sum_of([dot(graph.forces, graph.v), dot(reactions, still), graph.explicit])
    return [dot(gradient(graph.dissipation, graph.v), graph.v), supplied]


def has_power(system: System) -> bool:
    """Whether anything is dissipated or supplied at all."""
    s = system.statement
    explicit = any(s.time in e.free_symbols for e in (s.kinetic, s.potential, *s.constraints))
    moving = any(c.xreplace(dict.fromkeys(s.v, 0)) != 0 for c in s.constraints)
    return s.dissipation != 0 or any(f != 0 for f in s.forces) or explicit or moving
