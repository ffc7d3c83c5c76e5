"""Periodic orbits of ẋ = f(x; p) by collocation at Gauss points on an adaptive mesh.

De Boor and Swartz (1973); Doedel, Keller and Kernévez, Int. J. Bifurcation and Chaos 1 (1991). Time is scaled to
[0, 1]. With m points in an interval of length h the states at the mesh points, the period and the multipliers are
accurate to order h^2m. Orbits with x(t + T/2) = −x(t) of an odd field are solved on half their period.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

import numpy as np

from pfaff.algebra.cubics import vertex
from pfaff.algebra.gauss import Gauss
from pfaff.algebra.tolerances import CORRECTIONS
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh, Metric
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.bifurcation.orbits.solutions import NOT_FINITE, Pins, Solution, unsolved
from pfaff.continuation.endings import Refused
from pfaff.kernels.condensation import Scheme
from pfaff.kernels.meshes import (
    both_carried,
    carried,
    carried_velocity,
    defect_of_oddness,
    equidistributed,
    error_of,
    pinned,
    slopes_of,
    spread_of,
    stages_of,
)
from pfaff.kernels.orbit_steps import SOLVED, Workspace
from pfaff.threads import Own, cached_property

CONVERGED, ROUGHLY = 1e-11, 1e-7  # last relative change, at most and at least: Newton's method has squared it by then
MIRRORED = 1e-9  # relative size of f(−x) + f(x) on an orbit below which it vanishes
CLEAR, FINE = 0.5, 12  # margin at mesh points below which it is also checked between them; places per interval
EDGE = 2.5e-4  # margin at which a chart ends


class Collocation:
    """Newton's method for orbits, errors and meshes, for one set of equations."""

    dense = True  # their derivatives are full matrices

    def __init__(self, equations: Equations, rule: Gauss, accuracy: float = 0.0) -> None:
        self.equations, self.gauss, self.accuracy = equations, rule, accuracy
        self.converged = float(np.clip(accuracy, CONVERGED, ROUGHLY))
        self._workspaces: Own[dict[tuple[int, bool], Workspace]] = Own(dict)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The numbers of states and of scalars: period, parameter and unfolding of conserved quantities."""
        return self.equations.unfolding.shape[0], 2 + self.equations.unfolding.shape[1]

    def stages(self, cycle: Cycle) -> np.ndarray:
        """The states at the Gauss points, one column each: the first points of all intervals, then the second …"""
        return stages_of(self.scheme, cycle, cycle.mesh.h)

    def weights(self, cycle: Cycle) -> np.ndarray:
        """Weights of the states at the Gauss points in a mean over the interval that the mesh covers."""
        return (self.gauss.b[:, None] * cycle.mesh.h).ravel()

    def deviations(self, cycle: Cycle) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean of an orbit, the deviations from it at the Gauss points, and the weights of those.

        For the angles of a rotation the uniform growth is subtracted.
        """
        X, weights = self.stages(cycle), self.weights(cycle)
        if cycle.rotates:
            X -= np.outer(cycle.turns, cycle.mesh.points(self.gauss.c).reshape(cycle.intervals, -1).T)
        mean = np.where(cycle.signs < 0, 0.0, X @ weights)
        return mean, X - mean[:, None], weights

    def correct(self, cycle: Cycle, pins: Pins, metric: Metric, converged: float | None = None) -> Solution:
        """The orbit that Newton's method finds under the conditions; refused where it finds none.

        The change that counts as converged is the error of tangent and multipliers; that of the orbit is its square.
        """
        enough = self.converged if converged is None else converged
        cycle, h, w, G = cycle.copy(), cycle.mesh.h, self.workspace(cycle), self._transitions(cycle)
        how, steps, size, residual, determinant = w.correct(cycle, h, pins, metric, G, enough)
        if how == SOLVED:
            return self._solution(cycle, G, determinant, residual, steps, w)
        raise Refused(unsolved(how, size))

    def evaluated(self, cycle: Cycle, pins: Pins, metric: Metric) -> Solution:
        """A cycle taken as a solution, uncorrected, with tangent and transition matrices; refused if it is none."""
        w, G = self.workspace(cycle), self._transitions(cycle)
        _, _, size, residual, determinant = w.correct(cycle.copy(), cycle.mesh.h, pins, metric, G, inf, CORRECTIONS - 1)
        if not isfinite(size):
            raise Refused(NOT_FINITE)
        return self._solution(cycle, G, determinant, residual, 1, w)

    def _transitions(self, cycle: Cycle) -> np.ndarray:
        """An array for the transition matrices of all intervals."""
        return np.empty((cycle.intervals, self.shape[0], self.shape[0]))

    @cached_property
    def scheme(self) -> Scheme:
        """The rule of the Gauss points, and the states, as kernels take them."""
        e = self.equations
        return Scheme(self.gauss, e.rows, e.follow, e.unfolding)

    def _solution(
        self, cycle: Cycle, G: np.ndarray, determinant: float, residual: float, steps: int, w: Workspace
    ) -> Solution:
        """The solution with the tangent that the last step left in the workspace; refused if it leaves the chart."""
        (x, K, scalars), rates, margin = w.conclude(cycle)
        margin = self.margin(cycle, margin)
        if margin < EDGE:
            raise Refused(self.off_chart)
        tangent = Cycle(cycle.mesh, x, K, scalars, cycle.signs)
        return Solution(cycle, tangent, G, rates, determinant, residual, steps, margin)

    @property
    def off_chart(self) -> str:
        """Why an orbit leaves the chart, in words."""
        solved = ", ".join(self.equations.flow.dependent)
        what = f"do not determine {solved}" if solved else "are not independent"
        return f"orbits there reach positions where the constraints {what}"

    def margin(self, cycle: Cycle, at_points: float) -> float:
        """The least coefficient by which a velocity is solved for, relative to the largest; also between the mesh
        points, if it is not clear at these. Negative if it changes sign."""
        if at_points > CLEAR:
            return at_points
        slopes, once = self.slopes(cycle), cycle.mesh.points(np.arange(FINE) / FINE)

        def pivots(times: np.ndarray) -> np.ndarray:
            turns = np.floor(times)
            x = self.interpolate(cycle, slopes, times - turns) * cycle.signs ** turns[:, None]
            return self.equations.pivots(np.ascontiguousarray(x.T), cycle.value)

        rounds = 2 if cycle.halved else 1
        times = np.concatenate([once, 1 + once]) if cycle.halved else once
        values = pivots(times)
        largest = values[np.arange(len(values)), np.abs(values).argmax(axis=1)]
        row, k = np.unravel_index((values / largest[:, None]).argmin(), values.shape)
        beside = np.concatenate([[times[-1] - rounds], times, [times[0] + rounds]])
        about = np.linspace(beside[k], beside[k + 2], 2 * FINE + 1)
        shares = pivots(about)[row] / largest[row]
        k = int(np.clip(shares.argmin(), 1, len(shares) - 2))
        low = vertex([(float(at), float(shares[at])) for at in (k - 1, k, k + 1)])
        return float(min(shares.min(), low[1] if low else inf))

    def workspace(self, cycle: Cycle) -> Workspace:
        """The arrays that are filled for orbits on meshes of this size."""
        return self.workspace_of(cycle.intervals, cycle.halved)

    def workspace_of(self, intervals: int, halved: bool) -> Workspace:
        """The same for a number of intervals, of half a period or a whole one."""
        workspaces = self._workspaces.own
        if (intervals, halved) not in workspaces:
            if len(workspaces) == 2:
                workspaces.pop(next(iter(workspaces)))
            e = self.equations
            workspaces[intervals, halved] = Workspace(
                self.scheme, intervals, halved, *e.in_kernels, e.numbers, e.place, CORRECTIONS
            )
        return workspaces[intervals, halved]

    def linearised(self, cycle: Cycle) -> tuple[np.ndarray, Workspace]:
        """Transition matrices, and a workspace that holds the other condensed equations."""
        w, G = self.workspace(cycle), self._transitions(cycle)
        w.condense(cycle, cycle.mesh.h, G)
        return G, w

    def pins(
        self, cycle: Cycle, metric: Metric, last: tuple[np.ndarray, np.ndarray], held: np.ndarray, guess: Cycle
    ) -> Pins:
        """The phase of a reference orbit, the members of families that it is on, and a last row as on a guess.

        ``held`` are covectors that select the members, one for all mesh points or one for each.

        The phase makes the distance to the reference stationary, ∫⟨x, x'⟩ = ∫⟨reference, x'⟩.
        """
        mesh = cycle.mesh
        if held.ndim == 2:
            held = np.repeat(held[:, None], len(cycle.x), axis=1) if len(held) else held[:, None]
        return Pins(*pinned(last, mesh.h, mesh.weights, metric.states, held, cycle, guess))

    def slopes(self, cycle: Cycle) -> np.ndarray:
        """x' of every state at the Gauss points, indexed [interval, point, state]."""
        return slopes_of(self.scheme, cycle, cycle.mesh.h)

    def interpolate(self, cycle: Cycle, K: np.ndarray, times: np.ndarray) -> np.ndarray:
        """States at any times in [0, 1], one row each, by the collocation polynomials with slopes K."""
        j, within = cycle.mesh.place(times)
        return cycle.x[j] + cycle.mesh.h[j, None] * np.einsum("al,aln->an", self.gauss.integrals(within), K[j])

    def carried(self, cycle: Cycle, K: np.ndarray, mesh: Mesh) -> Cycle:
        """An orbit, or a change with slopes K, on another mesh."""
        x, slopes = carried(cycle.mesh.at, cycle.x, K, cycle.signs, self.gauss, self.equations.rows, mesh.at)
        return Cycle(mesh, x, slopes, cycle.scalars, cycle.signs)

    def both_carried(self, cycle: Cycle, change: Cycle, mesh: Mesh) -> tuple[Cycle, Cycle]:
        """An orbit and a change of it on another mesh."""
        signs = cycle.signs
        x, K = both_carried(self.scheme, cycle, change, cycle.mesh.at, cycle.mesh.h, mesh.at)
        return Cycle(mesh, x[0], K[0], cycle.scalars, signs), Cycle(mesh, x[1], K[1], change.scalars, signs)

    def adapted(
        self, cycle: Cycle, metric: Metric, intervals: Callable[[float], int], ahead: Cycle | None = None
    ) -> Mesh:
        """A mesh on which |x^(m+1)|^(1/(m+1)) h, of an orbit or of a guess ahead, is the same in all intervals. Their
        number may depend on the ratio by which such a mesh reduces the error, of order h^2m, at equal number."""
        shares, gain = spread_of(self.scheme, cycle, cycle.mesh.h, metric.states)
        if ahead is not None:
            shares, _ = spread_of(self.scheme, ahead, cycle.mesh.h, metric.states)
        return Mesh(equidistributed(shares, cycle.mesh.at, intervals(gain)))

    def error(self, solution: Solution, metric: Metric) -> float:
        """The lesser of two estimates, relative to the orbit, of the error of states at the mesh points and period.

        How far the velocity f, carried over each interval by G, misses f at its end, of order h^2m: the exact
        linearised flow carries f(x(t)) into itself. And the error between the mesh points, h^(m+1) |x^(m+1)| with its
        constant, which bounds the other in stiff systems, where velocities are hardly determined by states.
        """
        return self.error_by(carried_velocity(solution.G, solution.rates, metric.states), solution.cycle, metric)

    def error_by(self, velocity: float, cycle: Cycle, metric: Metric) -> float:
        """The error, where the first estimate is known."""
        return error_of(self.scheme, velocity, self.accuracy, cycle, cycle.mesh.h, metric.states)

    def natural_change(self, cycle: Cycle, metric: Metric) -> float:
        """The change of the parameter that changes f on an orbit by its own size, in the mean."""
        nr, unit = len(self.equations.rows), metric.states[self.equations.rows, None]
        values, weights = self.equations(self.stages(cycle), cycle.value), self.weights(cycle)
        rates, by_parameter = (((unit * values[at]) ** 2 @ weights).sum() for at in (slice(nr), slice(-nr, None)))
        return float(np.sqrt(rates / by_parameter)) if by_parameter > 0 else inf

    def mirrored(self, cycle: Cycle, rates: np.ndarray, metric: Metric) -> bool:
        """Whether f(−x) = −f(x) along an orbit of which half is known, by f at its states and at their images."""
        return defect_of_oddness(rates, cycle.signs, metric.states, cycle.period) <= MIRRORED
