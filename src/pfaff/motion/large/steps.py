"""Steps of an assembly's motion: collocation at Radau's points on the multiplier form, one sparse pencil per stage.

Every stage obeys M q̈ + h + Aᵀp = 0 and A q̇ + b = 0 (index 2), and q and q̇ are projected on the constraints after each
step (Hairer and Wanner 1996, VII.2). With A⁻¹ = T diag(λ) T⁻¹ the linear systems of the stages fall apart into pencils
at ω = λ/h (IV.8), those of small motions and as sparse. Nothing is eliminated, so that stiffness costs no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pfaff.algebra.factors import Solve
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.radau import Collocation, radau
from pfaff.algebra.tolerances import CORRECTIONS, EPS
from pfaff.errors import RankError
from pfaff.flow.assembly_equations import Equations, Slopes

if TYPE_CHECKING:
    from pfaff.flow.assembly import Assembly

STAGES = 7  # measured: 9 take as long, 5 half as long again, 3 several times longer
AIM = 0.15  # rate of convergence of Newton's method at which steps are cheapest
NEWTON_SHARE = 0.02  # share of the tolerance left to Newton's method
HOPELESS = 2.0  # growth of Newton's corrections that ends an attempt
FLOOR = 1e-4  # sizes below this part of the largest do not count when errors are weighted
SHRINK, GROW, SAFETY = 0.1, 4.0, 0.85
FAR = 3.0  # ratio of step lengths up to which a step is predicted by the one before
PROJECTIONS = 40
BETWEEN = np.array([0.137, 0.381, 0.618, 0.829])  # parts of a step at which it is looked at between its stages
MISSED = 20.0  # what may be left there, in units of the tolerance: of smooth motions it is about one


@dataclass(frozen=True)
class State:
    """An instant of a motion, with the energies dissipated and supplied so far."""

    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    p: np.ndarray
    work: np.ndarray

    @property
    def z(self) -> np.ndarray:
        return np.concatenate([self.q, self.v, self.a, self.p])


@dataclass(frozen=True)
class Step:
    """A step of length h from a state: accelerations, velocities, reactions and powers at the stages."""

    start: State
    h: float
    method: Collocation
    a: np.ndarray
    v: np.ndarray
    p: np.ndarray
    powers: np.ndarray

    def path(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and q̇ at times within the step, by the polynomials of the collocation."""
        areas = self.h * self.method.integrals(self._part(t)).T
        return self.start.q[:, None] + self.v @ areas, self.start.v[:, None] + self.a @ areas

    @property
    def stages(self) -> tuple[np.ndarray, np.ndarray]:
        """q and q̇ at the stages."""
        areas = self.h * self.method.matrix.T
        return self.start.q[:, None] + self.v @ areas, self.v

    def yields(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The reactions, and the work done so far."""
        c = self._part(t)
        work = self.powers @ (self.h * self.method.integrals(c).T)
        return self.p @ self.method.values(c).T, self.start.work[:, None] + work

    def ahead(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and reactions predicted at the stages of a next step of length h."""
        weights = self.method.values(1 + h / self.h * self.method.nodes).T
        return self.a @ weights, self.p @ weights

    def _part(self, t: np.ndarray) -> np.ndarray:
        return (t - self.start.t) / self.h


class Sizes:
    """The largest values so far among coordinates of a kind: errors are weighted by them, whatever the units."""

    def __init__(self, assembly: Assembly, duration: float) -> None:
        self._kind = alike(assembly)
        self._largest = np.zeros((2, self._kind.max() + 1))  # for coordinates and for velocities
        self._duration = abs(duration)

    def reached(self, q: np.ndarray, v: np.ndarray) -> Sizes:
        """The sizes updated by these values, one column for each instant."""
        larger = copy(self)
        larger._largest = self._largest.copy()
        for largest, x in zip(larger._largest, (q, v), strict=True):
            np.maximum.at(largest, self._kind, np.abs(x).max(axis=1))
        return larger

    def weigh(self, q: np.ndarray, v: np.ndarray) -> float:
        """The largest of some changes or errors of coordinates and velocities, relative to their sizes."""
        far, fast = self._largest.max(axis=1)
        floors = FLOOR * far or 1.0, FLOOR * max(fast, far / self._duration) or 1.0
        return max(
            float((np.abs(x).T / np.maximum(largest, floor)[self._kind]).max())
            for x, largest, floor in zip((q, v), self._largest, floors, strict=True)
        )


def alike(assembly: Assembly) -> np.ndarray:
    """A number for every coordinate, the same for the same coordinate of copies of one part."""
    first = np.concatenate([np.repeat(copies.at[:1], copies.count, axis=0).ravel() for copies in assembly.parts])
    other = np.concatenate([copies.at.ravel() for copies in assembly.parts])
    links = sparse.coo_array((np.ones(len(first)), (first, other)), shape=(assembly.size, assembly.size))
    return connected_components(links, directed=False)[1]


class Integrator:
    """Takes steps as long as the tolerance allows."""

    stages = STAGES

    def __init__(self, equations: Equations, sizes: Sizes, tolerance: float) -> None:
        self.equations, self.sizes, self.tolerance = equations, sizes, tolerance
        self.method = radau(self.stages)
        self._known: tuple[State, Slopes] | None = None
        self._rate = 0.0  # last rate of convergence of Newton's method
        self.finite = True  # whether the last attempt met finite values only
        self._before = self.method.values(np.zeros(1))[0]  # weights of the stages at the start of the step

    def advance(self, state: State, h: float, last: Step | None, shortest: float) -> tuple[Step, Solve, float] | None:
        """The next step, the factors of its real pencil, and a length for the one after; None if h collapses."""
        shrink, again = 0.5, last is None
        while abs(h) > shortest:
            error = np.inf
            attempt = self._attempt(state, h, last)
            if attempt is not None:
                step, solve = attempt
                sizes = self.sizes.reached(*step.stages)
                error = self._error(step, solve, sizes, again)
                error = max(error, self._between(step, solve, sizes) / MISSED) if error <= 1 else error
                if error <= 1:
                    self.sizes = sizes
                    return step, solve, h * min(GROW, self._factor(error), AIM / max(self._rate, AIM / GROW))
            h, shrink, again = h * min(shrink, self._factor(error)), 0.3, True
        return None

    def _factor(self, error: float) -> float:
        return max(SHRINK, SAFETY * max(error, 1e-12) ** (-1 / (self.stages + 1)))

    def _attempt(self, state: State, h: float, last: Step | None) -> tuple[Step, Solve] | None:
        """Newton's method with derivatives at one instant; None if it does not converge."""
        omegas = self.method.eigenvalues / h
        a, p = self._guess(state, h, last)
        try:
            solves = self._factors(self._slopes(state, h, a, p), omegas)
        except RankError:
            return None
        rows, sums = self.method.backward.T, h * self.method.matrix.T
        n, sizes, enough = self.equations.n, [], NEWTON_SHARE * self.tolerance

        def ahead(at: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[np.ndarray, np.ndarray], float] | None:
            a, p = at
            v = state.v[:, None] + a @ sums
            q = state.q[:, None] + v @ sums
            residual = self.equations.residual(np.concatenate([q, v, a, p]))
            self.finite = bool(np.isfinite(residual).all())
            if not self.finite:
                return None
            x = self._solved(residual, solves, omegas)
            dq, dv = ((x[:n] * omegas**power @ rows).real for power in (0, 1))
            a = a + (x[:n] * omegas**2 @ rows).real
            p = p + (x[n:] @ rows).real
            sizes.append(self.sizes.reached(q, v).weigh(dq, dv))
            before, size = sizes[-2:] if len(sizes) > 1 else (np.inf, sizes[0])
            rate = size / before if before else 0.0
            left = size * min(1.0, rate / max(1 - rate, 1e-3) if len(sizes) > 1 else 1.0)
            return ((a, p), left) if rate <= HOPELESS or left <= enough else None

        found = newton(ahead, (a, p), Stopping(CORRECTIONS, exact=enough, settled=0.0))
        if not found.ceased:
            return None
        k = found.steps - 1
        self._rate = (sizes[-1] / sizes[0]) ** (1 / k) if k and sizes[0] > 0 else 0.0
        return self._step(state, h, *found.at), solves[0]

    def _slopes(self, state: State, h: float, a: np.ndarray, p: np.ndarray) -> Slopes:
        """The derivatives at the start of the step, independent of its length."""
        if self._known is None or self._known[0] is not state:
            self._known = state, self.equations.slopes(state.z)
        return self._known[1]

    def _factors(self, slopes: Slopes, omegas: np.ndarray) -> list[Solve]:
        return [slopes.pencil(omegas[0].real), *(slopes.pencil(omega) for omega in omegas[1:])]

    def _step(self, state: State, h: float, a: np.ndarray, p: np.ndarray) -> Step:
        v = state.v[:, None] + h * a @ self.method.matrix.T
        q = state.q[:, None] + h * v @ self.method.matrix.T
        return Step(state, h, self.method, a, v, p, self.equations.powers(np.concatenate([q, v, a, p])))

    def _guess(self, state: State, h: float, last: Step | None) -> tuple[np.ndarray, np.ndarray]:
        if last is not None and h / last.h < FAR:
            return last.ahead(h)
        return tuple(np.repeat(x[:, None], self.stages, axis=1) for x in (state.a, state.p))  # type: ignore[return-value]

    def _solved(self, residual: np.ndarray, solves: list[Solve], omegas: np.ndarray) -> np.ndarray:
        """Newton's corrections of q and p, still in the eigenvectors of A⁻¹."""
        right = -residual @ self.method.forward.T
        right[self.equations.n :] /= omegas
        columns = [
            solves[0](right[:, 0].real),
            *(solve(column) for solve, column in zip(solves[1:], right[:, 1:].T, strict=True)),
        ]
        return np.column_stack(columns)

    def _error(self, step: Step, solve: Solve, sizes: Sizes, again: bool) -> float:
        """The embedded formula of order s, filtered by the real pencil (IV.8.19), twice after a failure (IV.8.20)."""
        omega = float(self.method.eigenvalues[0].real) / step.h
        q = (step.start.v - step.v @ self._before) / omega
        v = (step.start.a - step.a @ self._before) / omega
        q, v = self._filtered(step.start, solve, omega, q, v)
        error = sizes.weigh(q, v) / self.tolerance
        if again and error > 1:
            error = sizes.weigh(*self._filtered(step.start, solve, omega, q, v)) / self.tolerance
        return error if np.isfinite(error) else np.inf

    def _between(self, step: Step, solve: Solve, sizes: Sizes) -> float:
        """What the equations leave at points between the stages, as changes of coordinates and velocities, in units of
        the tolerance: the stages do not see a bump or a jump that lies between them."""
        n, omega = self.equations.n, float(self.method.eigenvalues[0].real) / step.h
        t, weights = step.start.t + BETWEEN * step.h, self.method.values(BETWEEN).T
        z = np.concatenate([*step.path(t), step.a @ weights, step.p @ weights])
        right = -self.equations.residual(z)
        right[n:] /= omega
        x = np.column_stack([solve(column)[:n] for column in right.T])
        left = sizes.weigh(x, omega * x) / self.tolerance
        return left if np.isfinite(left) else np.inf

    def _filtered(
        self, state: State, solve: Solve, omega: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(1 − J/ω)⁻¹ (q, v), with the products M v and K q as differences of the equations' residual."""
        n = self.equations.n
        moved = np.concatenate([state.q + q, state.v, state.a - omega * v, state.p])
        residual = self.equations.residual(np.column_stack([state.z, moved]))
        right = residual[:, 0] - residual[:, 1]
        right[n:] /= omega
        x = solve(right)[:n]
        return q + x, omega * x


class Projection:
    """q, then q̇, moved onto the constraints at the least cost in the energy of a step's pencil.

    Violations that are rounding relative to the terms of a constraint stay: in short steps the cheapest way to remove
    them is a jolt of the lightest parts.
    """

    def __init__(self, equations: Equations, q: np.ndarray, v: np.ndarray) -> None:
        at = equations.stack(q, v, np.zeros(equations.n), np.zeros(equations.m))
        self._constraints, self._any = equations.constraints, equations.m > 0
        self._positions = bool(np.any(equations.holonomic))
        self._terms = EPS * abs(equations.slopes(at).matrix("A"))

    def __call__(self, solve: Solve, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self._any:
            return q, v
        if self._positions:
            q = _settled(lambda q: self._constraints(q, v)[0], solve, q, self._terms @ np.abs(q))
        return q, _settled(lambda v: self._constraints(q, v)[1], solve, v, self._terms @ np.abs(v))


def _settled(left: Callable[[np.ndarray], np.ndarray], solve: Solve, x: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Newton's method with the given factors until rounding ends the progress."""
    before = np.inf

    def step(x: np.ndarray) -> tuple[np.ndarray, float]:
        nonlocal before
        rest = left(x)
        last, before = before, np.abs(rest).max()
        if (np.abs(rest) <= rounding).all() or not before < 0.5 * last:
            return x, 0.0
        return x + solve(np.concatenate([np.zeros_like(x), -rest]))[: len(x)], 1.0

    return newton(step, x, Stopping(PROJECTIONS)).at
