"""Derivatives of accelerations, obtained without differentiating the elimination of the multipliers.

The solution of M a + h + Aᵀλ = 0, A a + γ = 0 changes by the solution of the same equations, with the derivatives of
their left-hand sides at fixed a and λ in place of h and γ. Differentiated step by step, the elimination of ten bars
takes five times as many operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pfaff.flow.differentiation import jacobian
from pfaff.flow.graph import Expression, expression, subs, sum_of
from pfaff.flow.lagrangian import Graph, dot


@dataclass(frozen=True, eq=False)
class Accelerations:
    """The accelerations of some coordinates, where some velocities are given by expressions in the other variables."""

    graph: Graph
    coordinates: Sequence[int]
    given: Mapping[int, Expression]  # velocities, by the index of their coordinate

    def derivatives(self, by: Sequence[Expression]) -> list[list[Expression]]:
        """∂a/∂by, a row for each coordinate, by states and parameters."""
        graph = self.graph
        places = [graph.v[j] for j in self.given]
        partial = jacobian(self._residuals(), [*by, *places])
        through = jacobian(list(self.given.values()), by)
        n, columns = len(graph.q), []
        for k in range(len(by)):
            change = [
                sum_of([row[k], *(each * rate[k] for each, rate in zip(row[len(by) :], through, strict=True))])
                for row in partial
            ]
            columns.append(graph.elimination(change[:n], change[n:])[0])
        flat = [columns[k][i] for i in self.coordinates for k in range(len(by))]
        replaced = subs(flat, self._values())
        return [replaced[at : at + len(by)] for at in range(0, len(flat), len(by))]

    def _residuals(self) -> list[Expression]:
        """The left-hand sides, with accelerations as variables."""
        graph, a = self.graph, self._unknown()
        balance = [sum_of([dot(row, a), rest]) for row, rest in zip(graph.M, graph.balance, strict=True)]
        return balance + [sum_of([dot(row, a), rest]) for row, rest in zip(graph.A, graph.gamma, strict=True)]

    def _unknown(self) -> list[Expression]:
        return [expression(f"acceleration {name}") for name in self.graph.system.coordinate_names]

    def _values(self) -> dict[Expression, Expression]:
        """Accelerations, multipliers and given velocities as expressions in the other variables."""
        graph = self.graph
        velocities = {graph.v[j]: velocity for j, velocity in self.given.items()}
        a, multipliers = graph.solve()
        solved = subs([*a, *multipliers], velocities)
        return {**dict(zip([*self._unknown(), *graph.multipliers], solved, strict=True)), **velocities}
