"""From orbits in the velocities of a chart to the same orbits in all velocities, which need no chart.

A chart ends where the constraints do not determine the velocities that it solves for, though nothing happens there.
The curve of orbits is the same in other states, and so are periods, multipliers and special points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import heyoka as hy
import numpy as np

from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle, doubled
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.flow.all_velocities import in_all_velocities
from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression

EVEN = 1e-9  # difference of a velocity and its mirror image, relative to the largest, that is none
SAME = 100.0  # times the accuracy, how far an orbit moves that is solved again in other states


class Passage:
    """Out of the chart of a problem, near one of its orbits; ``problem`` is the same one in all velocities."""

    def __init__(self, chart: OrbitProblem, near: Point) -> None:
        self.chart = chart
        x, flow = near.cycle.x, chart.flow
        self._embedded, self._slope = _embedding(flow)
        # As fast as the orbit: neither stiff nor hidden by rounding.
        rate = 10.0 ** np.round(np.log10(2 * np.pi / near.cycle.period))
        self.flow = in_all_velocities(flow, float(rate))
        numbers = chart.collocation.equations.numbers_at(near.value)
        here, there = (self._embedded(np.ascontiguousarray(each.T), numbers) for each in (x, chart.signs * x))
        least = EVEN * np.abs(here).max(axis=1)
        odd, even = (np.abs(there - sign * here).max(axis=1) <= least for sign in (-1.0, 1.0))
        self.mirrored = bool((odd | even).all())
        slope = self._slopes(x[:1], numbers)[0]
        self.problem = replace(
            chart,
            flow=self.flow,
            unfolding=np.ascontiguousarray(slope @ chart.unfolding),
            held=np.ascontiguousarray(chart.held @ np.linalg.pinv(slope)),
            mirror=np.where(even & ~odd, 1.0, -1.0),
        )

    def orbit(self, orbit: OrbitPoint, span: float) -> OrbitPoint:
        """The same orbit, of whatever kind it is, its tangent the same way; it is refused if it is another one."""
        return replace(orbit, problem=self.problem, point=self._point(orbit.point, span))

    def _point(self, point: Point, span: float) -> Point:
        cycle, tangent = point.cycle, point.tangent
        if cycle.halved and not self.mirrored:
            cycle, tangent = (doubled(each, self.chart.rows) for each in (cycle, tangent))
        cycle, tangent = self._moved(cycle, tangent)
        continuation = self.problem.continuation(span)
        solution = continuation.given(cycle, tangent, SAME * self.chart.accuracy)
        return continuation.refined(continuation.point(solution, tangent))

    def _moved(self, cycle: Cycle, tangent: Cycle) -> tuple[Cycle, Cycle]:
        """An orbit and a tangent in the new states: of the tangent, those at the mesh points alone."""
        numbers, c = self.chart.collocation.equations.numbers_at(cycle.value), self.problem.collocation
        x = self._embedded(np.ascontiguousarray(cycle.x.T), numbers).T.copy()
        inner = self._embedded(self.chart.collocation.stages(cycle), numbers)
        rates = cycle.scalars[0] * c.equations.rates_of_columns(inner, cycle.value)[c.equations.rows]
        K = np.ascontiguousarray(rates.reshape(len(rates), -1, cycle.intervals).transpose(2, 1, 0))
        signs = self.problem.signs if cycle.halved else np.ones(x.shape[1])
        change = np.einsum("jin,jn->ji", self._slopes(cycle.x, numbers), tangent.x)
        return Cycle(cycle.mesh, x, K, cycle.scalars, signs), Cycle(
            cycle.mesh, change, np.zeros_like(K), tangent.scalars, signs
        )

    def _slopes(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Of the new states by those of the chart, at states given as rows."""
        return self._slope(np.ascontiguousarray(x.T), numbers).T.reshape(len(x), len(self.flow.states), -1)


def leads_out(flow: Flow) -> bool:
    """Whether a flow solves for velocities that constraints may not determine, and could do without."""
    return flow.unsolved is not None and len(flow.pivots) > 0


def _embedding(flow: Flow) -> tuple[Compiled, Compiled]:
    """All velocities in the states of a chart, after its coordinates and before what carries a forcing; derivatives."""
    names = flow.system.coordinate_names  # type: ignore[union-attr]

    def states() -> list[Expression]:
        known = dict(zip(flow.states, flow.variables, strict=True))
        shape = [known[name] for name in names if name in known]
        return [*shape, *flow.velocity_expressions, *(known[name] for name in flow.carried)]

    def slopes() -> Sequence[Expression]:
        return list(np.ravel(hy.diff_tensors(states(), flow.variables, diff_order=1).jacobian))

    return flow.compiled("all velocities", states), flow.compiled("slopes of all velocities", slopes, quick=True)
