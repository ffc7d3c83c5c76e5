"""What flows by the principles have in common: their own states, accelerations and reactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError
from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow, numbers_of
from pfaff.flow.graph import Expression
from pfaff.flow.lagrangian import Graph, graph_of
from pfaff.statement import System
from pfaff.statement.values import numbers_from
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound


@dataclass(frozen=True, eq=False)
class Formulation:
    """A principle as a flow whose states are the coordinates and ``speeds``: velocities, momenta, quasi-velocities.

    Its reactions are those of the independent constraints. ``speeds`` are expressions in coordinates and velocities,
    ``acceleration_expressions`` in the states of the flow.
    """

    flow: Flow
    speeds: Sequence[Expression] = field(repr=False)
    acceleration_expressions: Sequence[Expression] = field(repr=False)

    @property
    def graph(self) -> Graph:
        assert isinstance(self.flow.system, System)
        return graph_of(self.flow.system)

    def state(self, q: Any, v: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """The state of this flow at given coordinates and velocities (columns of a batch, if there are two axes)."""
        qv = self.coordinates_and_velocities(q, v)
        return np.concatenate([qv[: len(self.graph.q)], _values(self._speeds, qv, case, time)])

    def solve(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations q̈ and reactions p at a state of this flow, or at a batch of columns."""
        _, accelerations, reactions, *_ = self.unknowns(x, case, time)
        return accelerations, reactions

    @property
    def parts(self) -> list[Sequence[Expression]]:
        """The rates of the states, the accelerations and the reactions."""
        return [self.flow.expressions, self.acceleration_expressions, self.flow.reaction_expressions]

    def unknowns(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> list[np.ndarray]:
        """All ``parts`` at a state or a batch of columns, evaluated together: so that they are rounded alike."""
        values = _values(self._unknowns, numbers_from("x", x), case, time)
        return np.split(values, np.cumsum([len(part) for part in self.parts[:-1]]))

    def coordinates_and_velocities(self, q: Any, v: Any) -> np.ndarray:
        q, v = numbers_from("q", q), numbers_from("v", v)
        n = len(self.graph.q)
        if q.shape != v.shape or q.shape[:1] != (n,):
            raise ParameterError(f"{n} coordinates and {n} velocities are needed, not shapes {q.shape}, {v.shape}")
        return np.concatenate([q, v])

    @cached_property
    def _speeds(self) -> Compiled | None:
        return Compiled(self.speeds, [*self.graph.q, *self.graph.v]) if self.speeds else None

    @cached_property
    def _unknowns(self) -> Compiled:
        return Compiled(
            [e for part in self.parts for e in part],
            self.flow.variables,
        )


def _values(function: Compiled | None, x: np.ndarray, case: Bound | np.ndarray, time: float | np.ndarray) -> np.ndarray:
    if function is None:
        return np.zeros((0, *x.shape[1:]))
    return function(x, numbers_of(case), time)


def flow_of(
    system: System,
    speeds: Sequence[str],
    rates: Sequence[Expression],
    velocities: Sequence[Expression],
    reactions: Sequence[Expression],
) -> Flow:
    """The flow of all coordinates and the speeds of a principle."""
    names = system.coordinate_names
    return Flow(
        system=system,
        states=(*names, *speeds),
        dropped={},
        kept=dict.fromkeys(names, "kept: all coordinates are states"),
        dependent=(),
        expressions=[*velocities, *rates],
        velocity_expressions=velocities,
        reaction_expressions=reactions,
    )


def lagrange(system: System) -> Formulation:
    """Coordinates and velocities: the full flow."""
    graph, flow = graph_of(system), system.flow
    if system.redundant:
        flow = replace(flow, reaction_expressions=graph.solve()[1])
    return Formulation(flow, graph.v, flow.expressions[len(graph.q) :])
