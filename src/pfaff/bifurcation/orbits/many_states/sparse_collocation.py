"""Orbits of plain ODEs with hundreds of states, whose Jacobians are sparse: the same collocation with other algebra."""

from __future__ import annotations

from math import inf, isfinite
from typing import cast

import numpy as np
from scipy import sparse

from pfaff.algebra.gauss import Gauss
from pfaff.algebra.newtons_method import Outcome, Stopping, newton
from pfaff.algebra.tolerances import CORRECTIONS, UNCERTAIN
from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle, Metric
from pfaff.bifurcation.orbits.many_states.sparse_chain import Chain, Closed, Pattern
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.bifurcation.orbits.solutions import NOT_FINITE, Pins, Solution, unsolved
from pfaff.continuation.endings import Refused
from pfaff.errors import ParameterError
from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.sparse_jacobian import sparse_linearised
from pfaff.kernels.orbit_steps import DROWNED, FARTHEST, GROWS, UNFINISHED
from pfaff.threads import Own


class SparseEquations(Equations):
    """f and its sparse derivatives at many points; every state has an equation of its own."""

    def __init__(self, flow: Flow, load: str, numbers: np.ndarray) -> None:
        n = len(flow.states)
        self.flow, self.load, self.numbers = flow, load, numbers
        self.place = flow.system.parameter_names.index(load)
        self.unfolding, self.rows, self.follow = np.zeros((n, 0)), np.arange(n), np.zeros((2, 0), dtype=np.int64)
        self.linearised = sparse_linearised(flow, (load,))
        self._rates: Compiled = flow.compiled("rhs", lambda: list(flow.expressions))
        self._outputs = n
        self._parameters: Own[dict[int, np.ndarray]] = Own(dict)

    def __call__(self, X: np.ndarray, value: float) -> np.ndarray:
        raise ParameterError(
            f"normal forms and curves of orbits in {len(self.rows)} states take full matrices at every point of their "
            "mesh: state fewer, as on coarser cells, or follow branches at several values of the other parameter"
        )

    def derivatives(self, X: np.ndarray, value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f, the entries of ∂f/∂x, and ∂f/∂p, a column for each point."""
        return self.linearised.at_many(X, self._columns(X.shape[1], value))


class SparseCollocation(Collocation):
    """Newton's method for orbits in very many states."""

    equations: SparseEquations
    dense = False

    def __init__(self, equations: SparseEquations, rule: Gauss, accuracy: float = 0.0) -> None:
        super().__init__(equations, rule, accuracy)
        self.pattern = Pattern(*equations.linearised.pattern, len(equations.rows), rule)

    def chain(self, cycle: Cycle) -> Chain:
        """The equations about an orbit, linearised and factorised interval by interval."""
        N, m, n = cycle.K.shape
        T, h = cycle.scalars[0], cycle.mesh.h
        f, entries, by_load = self.equations.derivatives(self.stages(cycle), cycle.value)
        if not (np.isfinite(f).all() and np.isfinite(entries).all()):
            raise Refused(NOT_FINITE)
        f, entries, by_load = (each.reshape(-1, m, N).transpose(2, 1, 0) for each in (f, entries, by_load))
        left = T * f - cycle.K
        right = np.stack([f, T * by_load, left], axis=-1).reshape(N, m * n, 3)
        intervals = tuple(self.pattern.interval(entries[j], h[j], T) for j in range(N))
        inner = np.array([one.slopes(right[j]) for j, one in enumerate(intervals)])
        ends = np.array([one.after(inner[j]) for j, one in enumerate(intervals)])
        ends[:, :, 2] += cycle.x[:-1] - cycle.x[1:] + h[:, None] * np.tensordot(cycle.K, self.gauss.b, (1, 0))
        return Chain(intervals, inner, ends, float(np.abs(left).max()))

    def correct(self, cycle: Cycle, pins: Pins, metric: Metric, converged: float | None = None) -> Solution:
        enough = self.converged if converged is None else converged
        linearised: list[tuple[Cycle, Chain, Closed]] = []

        def step(cycle: Cycle) -> tuple[Cycle, float]:
            chain = self.chain(cycle)
            closed = Closed(chain, pins.rows, pins.scalars, cycle.signs, metric)
            linearised[:] = [(cycle, chain, closed)]
            moved, size = self._moved(cycle, pins, metric, chain, closed)
            if not isfinite(size):
                raise Refused(NOT_FINITE)
            return moved, size

        floor = max(enough, DROWNED)
        found = newton(step, cycle, Stopping(CORRECTIONS, enough, DROWNED, grows=1.0, floor=floor, first=FARTHEST))
        if not found.ceased:
            raise Refused(unsolved(GROWS if found.outcome is Outcome.ASTRAY else UNFINISHED, found.change))
        ((last, chain, closed),) = linearised
        return self._solved(found.at, chain, closed, _share(chain, last), found.steps)

    def evaluated(self, cycle: Cycle, pins: Pins, metric: Metric) -> Solution:
        chain = self.chain(cycle)
        closed = Closed(chain, pins.rows, pins.scalars, cycle.signs, metric)
        return self._solved(cycle, chain, closed, _share(chain, cycle), 1)

    def _moved(self, cycle: Cycle, pins: Pins, metric: Metric, chain: Chain, closed: Closed) -> tuple[Cycle, float]:
        """An orbit after a Newton step, and the size of that step."""
        values = np.einsum("kjt,jt->k", pins.rows, cycle.x) + pins.scalars @ cycle.scalars
        dx, dc = closed.solve(pins.right - values, 1.0)
        step = Cycle(cycle.mesh, dx, chain.slopes(dx, dc, 1.0), dc, cycle.signs)
        size = max(float(np.abs(dx * metric.states).max()), float(np.abs(dc * metric.scalars).max()))
        return cycle.moved(step, 1.0), size

    def _solved(self, cycle: Cycle, chain: Chain, closed: Closed, residual: float, steps: int) -> Solution:
        """The solution with its tangent, the response to a unit on the last border row."""
        x, scalars = closed.solve(np.array([0.0, 1.0]))
        tangent = Cycle(cycle.mesh, x, chain.slopes(x, scalars, 0.0), scalars, cycle.signs)
        states = np.vstack([cycle.x, cycle.signs * cycle.x]) if cycle.halved else cycle.x
        rates = self.equations.rates(states, cycle.value)
        return Solution(cycle, tangent, chain, rates, np.nan, residual, steps, inf)  # type: ignore[arg-type]

    def way_off(self, cycle: Cycle, pins: Pins) -> Cycle:
        """The change that the linearised equations hardly see, by one inverse iteration."""
        chain = self.chain(cycle)
        noise = np.random.default_rng(0).normal(size=chain.ends.shape[:2]) * np.abs(cycle.x).max()
        chain.ends[:, :, 2], chain.inner[:, :, 2] = noise, 0.0
        metric = Metric.of(cycle, abs(cycle.value) or 1.0)
        x, scalars = Closed(chain, pins.rows, pins.scalars, cycle.signs, metric).solve(np.zeros(2), 1.0)
        return Cycle(cycle.mesh, x, chain.slopes(x, scalars, 0.0), scalars, cycle.signs)

    def error(self, solution: Solution, metric: Metric) -> float:
        """The error as for few states; but rates that are differences of large terms, as of narrow cells, are trusted
        only to the rounding of these."""
        cycle, chain = solution.cycle, cast(Chain, solution.G)
        rates = np.ascontiguousarray(solution.rates[:, : len(cycle.x)].T)
        missed = np.array([one.carried(rates[j]) - rates[j + 1] for j, one in enumerate(chain.intervals)])
        beyond = np.maximum(np.abs(missed) - UNCERTAIN * self._terms(cycle)[1:], 0.0) * metric.states
        velocity = float(beyond.max(axis=1).sum() / np.abs(rates * metric.states).max())
        return self.error_by(velocity, cycle, metric)

    def _terms(self, cycle: Cycle) -> np.ndarray:
        """Σ|∂f/∂x||x| at the mesh points, a row each: the size of the terms of the rates."""
        X = np.ascontiguousarray(cycle.x.T)
        entries, (rows, columns) = self.equations.derivatives(X, cycle.value)[1], self.equations.linearised.pattern
        sums = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(len(X), len(rows)))
        return (sums @ np.abs(entries * X[columns])).T

    def natural_change(self, cycle: Cycle, metric: Metric) -> float:
        f, _, by_load = self.equations.derivatives(self.stages(cycle), cycle.value)
        weights = self.weights(cycle)
        rates, by = (((metric.states[:, None] * each) ** 2 @ weights).sum() for each in (f, by_load))
        return float(np.sqrt(rates / by)) if by > 0 else inf


def _share(chain: Chain, cycle: Cycle) -> float:
    """The residual of slopes, relative to the largest of them."""
    return chain.residual / (float(np.abs(cycle.K).max()) or 1.0)
