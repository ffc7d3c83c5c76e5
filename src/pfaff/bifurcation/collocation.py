"""Periodic orbits of ẋ = f(x; p) by collocation at Gauss points on an adaptive mesh.

De Boor and Swartz (1973); Doedel, Keller and Kernévez, Int. J. Bifurcation and Chaos 1 (1991). Time is scaled to
[0, 1]. With m points in an interval of length h the states at the mesh points, the period and the multipliers are
accurate to order h^2m. Orbits with x(t + T/2) = −x(t) of an odd field are solved on half their period.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pfaff.bifurcation.condensation import close_chain, condense, expand, stage_states
from pfaff.bifurcation.gauss import Gauss
from pfaff.compiled import Compiled
from pfaff.flow import Flow

NEWTON_STEPS = 10
CONVERGED = 1e-11  # the last change, relative; Newton's method then has squared it
SETTLED = 1e-7  # changes below this that no longer shrink are rounding
FARTHEST = 0.7  # the first change, relative to the size of the orbit, beyond which a guess is given up
STILL = 1e-3  # amplitudes below this, relative to the largest, do not set the scale of a state
EVEN = 0.2  # share of the mesh, relative to the rest, that is spread evenly


@dataclass(frozen=True, eq=False)
class Cycle:
    """An orbit, or a change of one: states at the mesh points, slopes x' at the Gauss points, and scalars.

    The scalars are the duration of what the mesh covers, the parameter, and the unfolding of conserved quantities
    (zero on a solution). ``signs`` are those of x(1) = signs·x(0).
    """

    mesh: np.ndarray
    x: np.ndarray
    K: np.ndarray
    scalars: np.ndarray
    signs: np.ndarray

    @property
    def h(self) -> np.ndarray:
        return np.diff(self.mesh)

    @property
    def intervals(self) -> int:
        return len(self.mesh) - 1

    @property
    def halved(self) -> bool:
        """Whether the mesh covers half a period."""
        return bool((self.signs < 0).any())

    @property
    def period(self) -> float:
        return float(self.scalars[0] * (2 if self.halved else 1))

    @property
    def value(self) -> float:
        return float(self.scalars[1])

    @property
    def amplitude(self) -> np.ndarray:
        """Half of what every state covers, at the mesh points."""
        low, high = self.x.min(axis=0), self.x.max(axis=0)
        mirrored = self.signs < 0
        return np.where(mirrored, np.maximum(np.abs(low), np.abs(high)), (high - low) / 2)

    def moved(self, change: Cycle, by: float) -> Cycle:
        return replace(
            self, x=self.x + by * change.x, K=self.K + by * change.K, scalars=self.scalars + by * change.scalars
        )

    def scaled(self, factor: float) -> Cycle:
        return replace(self, x=factor * self.x, K=factor * self.K, scalars=factor * self.scalars)


@dataclass(frozen=True)
class Metric:
    """Sizes by which orbits are compared: every state by its amplitude, the period by itself, the parameter by a range.

    Independent of the units of any of them.
    """

    states: np.ndarray
    scalars: np.ndarray

    @classmethod
    def of(cls, cycle: Cycle, parameter: float) -> Metric:
        amplitude = cycle.amplitude
        states = 1 / np.maximum(amplitude, STILL * amplitude.max())
        unfolding = np.zeros(len(cycle.scalars) - 2)
        return cls(states, np.array([1 / cycle.scalars[0], 1 / parameter, *unfolding]))

    def dual(self, change: Cycle) -> tuple[np.ndarray, np.ndarray]:
        """The row ⟨change, ·⟩, over the mesh points and over the scalars."""
        weights = mean_weights(change.mesh) / len(self.states)
        return weights[:, None] * self.states**2 * change.x, self.scalars**2 * change.scalars

    def dot(self, a: Cycle, b: Cycle) -> float:
        over_states, over_scalars = self.dual(a)
        return float((over_states * b.x).sum() + over_scalars @ b.scalars)

    def norm(self, a: Cycle) -> float:
        return float(np.sqrt(self.dot(a, a)))

    def largest(self, x: np.ndarray, scalars: np.ndarray) -> float:
        return float(max(np.abs(x * self.states).max(), np.abs(scalars * self.scalars).max()))


def mean_weights(mesh: np.ndarray) -> np.ndarray:
    """Weights of the mean over the mesh points, by the trapezoidal rule."""
    h = np.diff(mesh)
    weights = np.zeros(len(mesh))
    weights[:-1] += h / 2
    weights[1:] += h / 2
    return weights


@dataclass(frozen=True)
class Pins:
    """Linear conditions that select one solution: the phase, members of families, and a place on the branch.

    The last is ⟨row, ·⟩ = right: orthogonality to a tangent, or a value of the parameter.
    """

    rows: np.ndarray
    scalars: np.ndarray
    right: np.ndarray

    def residual(self, cycle: Cycle) -> np.ndarray:
        return self.right - np.einsum("kjn,jn->k", self.rows, cycle.x) - self.scalars @ cycle.scalars


@dataclass(frozen=True)
class Solution:
    """A corrected orbit with its tangent (not normalised), transition matrices and what Newton's method did."""

    cycle: Cycle
    tangent: Cycle
    G: np.ndarray
    determinant: float
    residual: float
    steps: int


class Equations:
    """f, ∂f/∂x and ∂f/∂p at any number of points by one call.

    ``rows`` are the states that have equations of their own; the others follow one of them, q' = v. ``unfolding``
    has a column for each conserved quantity, along which f is unfolded.
    """

    def __init__(self, flow: Flow, load: str, numbers: np.ndarray, unfolding: np.ndarray | None = None) -> None:
        n = len(flow.states)
        self.flow, self.load, self.numbers = flow, load, numbers
        self.place = flow.system.parameter_names.index(load)
        self.unfolding = np.zeros((n, 0)) if unfolding is None else unfolding
        followers = {} if self.unfolding.size else _followers(flow)
        rows = [i for i in range(n) if i not in followers]
        self.rows = np.array(rows)
        self.follow = np.array(sorted(followers), dtype=np.int64)
        self.source = np.array([rows.index(followers[i]) for i in sorted(followers)], dtype=np.int64)
        self._compiled = _compiled(flow, load, tuple(rows))
        self._parameters = np.zeros((len(numbers), 0))
        self._values = np.zeros((0, 0))

    def numbers_at(self, value: float) -> np.ndarray:
        numbers = self.numbers.copy()
        numbers[self.place] = value
        return numbers

    def __call__(self, X: np.ndarray, value: float) -> np.ndarray:
        size = X.shape[1]
        if self._parameters.shape[1] != size:
            self._parameters = np.repeat(self.numbers[:, None], size, axis=1)
            self._values = np.empty((len(self.rows) * (len(X) + 2), size))
        self._parameters[self.place] = value
        return self._compiled(X, self._parameters, out=self._values)

    def rates(self, x: np.ndarray, value: float) -> np.ndarray:
        """f at states given as rows."""
        return self.flow._evaluate("rhs", lambda: self.flow.expressions, x.T, self.numbers_at(value), 0.0).T


def _followers(flow: Flow) -> dict[int, int]:
    """States whose rate is another state that has an equation of its own: positions, and their velocities."""
    names = {str(variable): k for k, variable in enumerate(flow.variables)}
    rates = [names.get(str(expression)) for expression in flow.expressions]
    return {i: k for i, k in enumerate(rates) if k is not None and k != i and rates[k] is None}


def _compiled(flow: Flow, load: str, rows: tuple[int, ...]) -> Compiled:
    key = ("collocation", load, rows)
    if key not in flow._compiled:
        import heyoka as hy

        f = [flow.expressions[i] for i in rows]
        parameter = hy.par[flow.system.parameter_names.index(load)]
        by_states = hy.diff_tensors(f, flow.variables, diff_order=1).jacobian
        by_load = hy.diff_tensors(f, [parameter], diff_order=1).jacobian
        flow._compiled[key] = Compiled(
            [*f, *np.ravel(by_states), *np.ravel(by_load)], flow.variables, compact=flow._large
        )
    return flow._compiled[key]


class Collocation:
    """Newton's method for orbits, errors and meshes, for one set of equations."""

    def __init__(self, equations: Equations, rule: Gauss) -> None:
        self.equations, self.gauss = equations, rule

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return self.equations.unfolding.shape[0], 2 + self.equations.unfolding.shape[1]

    def stages(self, cycle: Cycle) -> np.ndarray:
        """The states at the Gauss points, one column each."""
        e, g = self.equations, self.gauss
        X = np.empty((self._shape[0], cycle.intervals * g.degree))
        stage_states(cycle.x, cycle.K, cycle.h, cycle.scalars[0], g.A, g.A2, g.c, e.rows, e.follow, e.source, X)
        return X

    def correct(self, cycle: Cycle, pins: Pins, metric: Metric) -> Solution | str:
        """The orbit that Newton's method finds under the conditions, or in words why it finds none."""
        last = np.inf
        for steps in range(1, NEWTON_STEPS + 1):
            solution = self.step(cycle, pins, metric, steps)
            if isinstance(solution, str):
                return solution
            moved, size = solution
            if size < CONVERGED or last / 2 < size < SETTLED:
                return moved
            if size > (FARTHEST if steps == 1 else last):
                return f"Newton's method does not converge: its steps grow to {size:.1e} of the orbit"
            cycle, last = moved.cycle, size
        return f"Newton's method did not converge in {NEWTON_STEPS} steps"

    def step(self, cycle: Cycle, pins: Pins, metric: Metric, steps: int = 1) -> tuple[Solution, float] | str:
        """One step of Newton's method, and its size."""
        e, g = self.equations, self.gauss
        (n, nb), N = self._shape, cycle.intervals
        X, h = self.stages(cycle), cycle.h
        values = e(X, cycle.value)
        Z, G, ends = np.empty((N, cycle.K[0].size, n + nb + 1)), np.empty((N, n, n)), np.empty((N, n, nb + 1))
        residual = condense(
            values, cycle.x, cycle.K, X, h, cycle.scalars, e.unfolding,
            g.A, g.A2, g.b, g.bA, g.c, e.rows, e.follow, e.source, Z, G, ends,
        )  # fmt: skip
        if not np.isfinite(residual):
            return "the equations are singular or not finite on the orbit"
        dx, dc = np.empty((2, N + 1, n)), np.empty((2, nb))
        determinant = close_chain(G, ends, pins.rows, pins.scalars, pins.residual(cycle), cycle.signs, dx, dc)
        if not np.isfinite(determinant):
            return "the equations of the orbit are singular"
        dK = np.empty((2, *cycle.K.shape))
        expand(Z, dx[0], dc[0], True, dK[0])
        expand(Z, dx[1], dc[1], False, dK[1])
        step = Cycle(cycle.mesh, dx[0], dK[0], dc[0], cycle.signs)
        tangent = Cycle(cycle.mesh, dx[1], dK[1], dc[1], cycle.signs)
        size = metric.largest(dx[0], dc[0])
        if not np.isfinite(size):
            return "a step of Newton's method is not finite"
        residual = residual / (np.abs(cycle.K).max() or 1.0)
        return Solution(cycle.moved(step, 1.0), tangent, G, determinant, residual, steps), size

    def kernel(self, cycle: Cycle, pins: Pins) -> Cycle:
        """The change that the linearised equations hardly see, by one inverse iteration: at a branch point, the way
        off the branch to whose tangent the last pin belongs."""
        e, g = self.equations, self.gauss
        (n, nb), N = self._shape, cycle.intervals
        X = self.stages(cycle)
        values = e(X, cycle.value)
        Z, G, ends = np.empty((N, cycle.K[0].size, n + nb + 1)), np.empty((N, n, n)), np.empty((N, n, nb + 1))
        condense(
            values, cycle.x, cycle.K, X, cycle.h, cycle.scalars, e.unfolding,
            g.A, g.A2, g.b, g.bA, g.c, e.rows, e.follow, e.source, Z, G, ends,
        )  # fmt: skip
        ends[:, :, nb] = np.random.default_rng(0).normal(size=(N, n)) * np.abs(cycle.x).max()
        dx, dc, dK = np.empty((2, N + 1, n)), np.empty((2, nb)), np.empty_like(cycle.K)
        close_chain(G, ends, pins.rows, pins.scalars, np.zeros(nb), cycle.signs, dx, dc)
        expand(Z, dx[0], dc[0], False, dK)
        return Cycle(cycle.mesh, dx[0], dK, dc[0], cycle.signs)

    def pins(self, cycle: Cycle, metric: Metric, last: tuple[np.ndarray, np.ndarray], held: np.ndarray) -> Pins:
        """The phase of a reference orbit, the members of families that it is on, and a last row to which it belongs.

        The phase makes the distance to the reference stationary, ∫⟨x, x'⟩ = ∫⟨reference, x'⟩.
        """
        n, nb = self._shape
        weights = mean_weights(cycle.mesh)
        rows, scalars = np.zeros((nb, len(cycle.mesh), n)), np.zeros((nb, nb))
        rates = self.equations.rates(cycle.x, cycle.value)
        rates = rates / (np.abs(rates * metric.states).max() or 1.0)
        rows[0] = weights[:, None] * metric.states**2 * rates
        for k, each in enumerate(held):
            rows[1 + k] = weights[:, None] * each
        rows[-1], scalars[-1] = last
        pins = Pins(rows, scalars, np.zeros(nb))
        return replace(pins, right=-pins.residual(cycle))

    def slopes(self, cycle: Cycle) -> np.ndarray:
        """x' of every state at the Gauss points, indexed [interval, point, state]."""
        e = self.equations
        K = np.empty((cycle.intervals, self.gauss.degree, self._shape[0]))
        K[:, :, e.rows] = cycle.K
        if len(e.follow):
            X = self.stages(cycle).T.reshape(K.shape)
            K[:, :, e.follow] = cycle.scalars[0] * X[:, :, e.rows[e.source]]
        return K

    def changing_slopes(self, cycle: Cycle, change: Cycle) -> np.ndarray:
        """The same for a change of an orbit."""
        e, g = self.equations, self.gauss
        K = np.empty((cycle.intervals, g.degree, self._shape[0]))
        K[:, :, e.rows] = change.K
        if len(e.follow):
            v = e.rows[e.source]
            along = np.einsum("il,jlr->jir", g.A, change.K[:, :, e.source]) * change.h[:, None, None]
            X = self.stages(cycle).T.reshape(K.shape)
            K[:, :, e.follow] = cycle.scalars[0] * (change.x[:-1, None, v] + along) + change.scalars[0] * X[:, :, v]
        return K

    def interpolate(self, cycle: Cycle, K: np.ndarray, at: np.ndarray) -> np.ndarray:
        """States at any times in [0, 1], one row each, by the collocation polynomials with slopes K."""
        j = np.clip(np.searchsorted(cycle.mesh, at, side="right") - 1, 0, cycle.intervals - 1)
        h = cycle.h[j]
        weights = self.gauss.integrals((at - cycle.mesh[j]) / h)
        return cycle.x[j] + h[:, None] * np.einsum("al,aln->an", weights, K[j])

    def carried(self, cycle: Cycle, K: np.ndarray, mesh: np.ndarray) -> Cycle:
        """An orbit, or a change with slopes K, on another mesh."""
        g = self.gauss
        points = (mesh[:-1, None] + np.diff(mesh)[:, None] * g.c).ravel()
        j = np.clip(np.searchsorted(cycle.mesh, points, side="right") - 1, 0, cycle.intervals - 1)
        values = g.values((points - cycle.mesh[j]) / cycle.h[j])
        slopes = np.einsum("al,aln->an", values, K[j][:, :, self.equations.rows])
        x = self.interpolate(cycle, K, mesh)
        x[-1] = cycle.signs * x[0]
        return Cycle(mesh, x, slopes.reshape(len(mesh) - 1, g.degree, -1), cycle.scalars, cycle.signs)

    def adapted(self, cycle: Cycle, metric: Metric, intervals: int) -> np.ndarray:
        """A mesh on which |x^(m+1)|^(1/(m+1)) h is the same in all intervals, as far as differences tell."""
        m, h = self.gauss.degree, cycle.h
        K = self.slopes(cycle) * metric.states
        top = np.einsum("l,jln->jn", self.gauss.highest, K) / h[:, None] ** (m - 1)
        before, after = np.vstack([top[-1] * cycle.signs, top]), np.vstack([top, top[0] * cycle.signs])
        spacing = np.append(h, h[0]) / 2 + np.insert(h, 0, h[-1])[: len(h) + 1] / 2
        jumps = np.abs(after - before).max(axis=1) / spacing
        density = ((jumps[:-1] + jumps[1:]) / 2) ** (1 / (m + 1))
        density = density + EVEN * (density @ h) if density.any() else np.ones_like(density)
        total = np.concatenate([[0.0], np.cumsum(density * h)])
        mesh = np.interp(np.linspace(0.0, total[-1], intervals + 1), total, cycle.mesh)
        mesh[0], mesh[-1] = 0.0, 1.0
        return mesh

    def error(self, solution: Solution, metric: Metric) -> float:
        """How far the velocity f, carried over each interval by G, misses f at its end, summed: of order h^2m.

        The exact linearised flow carries f(x(t)) into itself, so that this is the error of the transition matrices
        and, in size, of the states at the mesh points and of the period, relative.
        """
        cycle = solution.cycle
        rates = self.equations.rates(cycle.x, cycle.value) * metric.states
        G = solution.G * metric.states[:, None] / metric.states
        missed = np.einsum("jik,jk->ji", G, rates[:-1]) - rates[1:]
        return float(np.abs(missed).max(axis=1).sum() / np.abs(rates).max())


def doubled(cycle: Cycle) -> Cycle:
    """The same orbit (or change) once more around: of twice the period, or unfolded from half a period to a whole."""
    mesh = np.concatenate([cycle.mesh, 1 + cycle.mesh[1:]]) / 2
    x = np.vstack([cycle.x, cycle.signs * cycle.x[1:]])
    K = np.concatenate([2 * cycle.K, 2 * cycle.K * (-1.0 if cycle.halved else 1.0)])
    scalars = cycle.scalars * np.array([2.0, *[1.0] * (len(cycle.scalars) - 1)])
    return Cycle(mesh, x, K, scalars, np.ones_like(cycle.signs))
