"""From orbits in the velocities of a chart to the same orbits in all velocities, which need no chart.

A chart ends where the constraints do not determine the velocities that it solves for, though nothing happens there. The
curve of orbits is the same in other states, and so are periods, multipliers and special points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pfaff.bifurcation.orbits.cycles import Cycle, doubled
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.flow.all_velocities import in_all_velocities
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression

Of = TypeVar("Of", bound=OrbitPoint)

EVEN = 1e-9  # difference of a velocity and its mirror image, relative to the largest, that is none
ROUNDING = 1e-13  # change of the load, relative to its range, that is none
NEARLY = 100.0, 1e-5  # how far an orbit may move when solved in other states: times the accuracy, or at least


class Passage:
    """The passage out of the chart of a problem, near one of its orbits; ``problem`` is the same one in all
    velocities."""

    def __init__(self, chart: OrbitProblem, near: Cycle) -> None:
        self.chart = chart
        self._embedded, self._slope = _embedding(chart.flow)
        # As fast as the orbit: neither stiff nor hidden by rounding.
        rate = 10.0 ** np.round(np.log10(2 * np.pi / near.period))
        self.flow = in_all_velocities(chart.flow, float(rate))
        numbers = chart.numbers_at(near.value)
        here, there = (self._embedded(np.ascontiguousarray(x.T), numbers) for x in (near.x, chart.signs * near.x))
        least = EVEN * np.abs(here).max(axis=1)
        odd, even = (np.abs(there - sign * here).max(axis=1) <= least for sign in (-1.0, 1.0))
        self.mirrored = bool((odd | even).all())
        slope = self._slopes(near.x[:1], numbers)[0]
        self.problem = replace(
            chart,
            flow=self.flow,
            unfolding=np.ascontiguousarray(slope @ chart.unfolding),
            held=_from_left(chart.held, slope),
            mirror=np.where(even & ~odd, 1.0, -1.0),
        )

    def state(self, x: np.ndarray, changes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A state in all velocities, and columns of small changes of it."""
        numbers = self.chart.case.numbers
        return self._embedded(x, numbers), self._slopes(x[None], numbers)[0] @ changes

    def orbit(self, orbit: Of, span: float) -> Of:
        """The orbit, of any kind, in all velocities, with its tangent in the same direction; refused if it turns out
        another one."""
        chart, problem, point = orbit.problem, self.problem, orbit.point
        if chart is not self.chart:
            problem = replace(problem, case=chart.case, load=chart.load)
        cycle, tangent = point.cycle, point.tangent
        if cycle.halved and not self.mirrored:
            cycle, tangent = (doubled(each, chart.rows) for each in (cycle, tangent))
        cycle, tangent = self._moved(chart, problem, cycle, tangent)
        continuation = problem.continuation(span)
        solution = continuation.given(cycle, tangent, max(NEARLY[0] * problem.accuracy, NEARLY[1]))
        if abs(solution.cycle.value - point.value) < ROUNDING * span:
            solution.cycle.scalars[1] = point.value
        found = continuation.refined(continuation.point(solution, tangent))
        return replace(orbit, problem=problem, point=found)

    def _moved(self, chart: OrbitProblem, problem: OrbitProblem, cycle: Cycle, tangent: Cycle) -> tuple[Cycle, Cycle]:
        """An orbit and a tangent in the new states; the tangent at the mesh points alone."""
        numbers, (old, new) = chart.numbers_at(cycle.value), (chart.collocation, problem.collocation)
        x = self._embedded(np.ascontiguousarray(cycle.x.T), numbers).T.copy()
        inner = self._embedded(old.stages(cycle), numbers)
        rates = cycle.scalars[0] * new.equations.rates_of_columns(inner, cycle.value)[problem.rows]
        K = np.ascontiguousarray(rates.reshape(len(rates), -1, cycle.intervals).transpose(2, 1, 0))
        change = np.einsum("jin,jn->ji", self._slopes(cycle.x, numbers), tangent.x, order="C")
        signs = problem.signs if cycle.halved else np.ones(x.shape[1])
        return (
            Cycle(cycle.mesh, x, K, cycle.scalars, signs),
            Cycle(cycle.mesh, change, np.zeros_like(K), tangent.scalars, signs),
        )

    def _slopes(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Derivatives of the new states with respect to those of the chart, at states given as rows."""
        return self._slope(np.ascontiguousarray(x.T), numbers).T.reshape(len(x), len(self.flow.states), -1)


def _from_left(rows: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Rows on the new states that agree with these on changes of the old ones."""
    return np.ascontiguousarray(rows @ np.linalg.pinv(slope)) if len(rows) else np.zeros((0, len(slope)))


def leads_out(flow: Flow) -> bool:
    """Whether a flow solves for velocities that constraints may not determine, and could do without."""
    return flow.unsolved is not None and len(flow.pivots) > 0


def _embedding(flow: Flow) -> tuple[Compiled, Compiled]:
    """All velocities in the states of a chart, after its coordinates and before the carrier of a forcing; and their
    derivatives."""
    names = flow.system.coordinate_names

    def states() -> list[Expression]:
        known = dict(zip(flow.states, flow.variables, strict=True))
        shape = [known[name] for name in names if name in known]
        return [*shape, *flow.velocity_expressions, *(known[name] for name in flow.carried)]

    def slopes() -> Sequence[Expression]:
        return jacobian_entries(states(), flow.variables)

    return flow.compiled("all velocities", states), flow.compiled("slopes of all velocities", slopes)
