"""The equations of variation along a cycle, discretised as the cycle itself is, for normal forms on it.

Functions along the cycle u(τ) are arrays [interval, stage, state]. With L w = ẇ − A w, waves solve L w = g and come
back multiplied by μ. Functions of the cycle's own period are known up to its phase: they solve L w + α u̇ = g with a
rate α of the phase, and have no part along u̇. Solvability is asked of the collocation equations themselves: their
left null vector stands for the adjoint solution.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.flow.jets import jets_of
from pfaff.threads import cached_property

SWEEPS = 3  # of inverse iteration: the first border is random, the last is the null vector


class Variation:
    """Solutions of L w = g about a cycle, and the derivatives of the rates along it."""

    def __init__(self, collocation: Collocation, cycle: Cycle) -> None:
        self.c, self.cycle = collocation, cycle
        e, g = collocation.equations, collocation.gauss
        N, m, n = cycle.intervals, g.degree, cycle.x.shape[1]
        X = collocation.stages(cycle)
        f, J = rates_and_jacobians(e, X, cycle.value)
        self.x = X.reshape(n, m, N).transpose(2, 1, 0)
        self.rates = f.reshape(n, m, N).transpose(2, 1, 0)
        self.jacobians = J.reshape(n, n, m, N).transpose(3, 2, 0, 1)
        self.numbers = e.numbers_at(cycle.value)
        self._steps = cycle.scalars[0] * cycle.mesh.h
        implicit = np.einsum("ik,jkab->jiakb", g.A, self.jacobians).reshape(N, m * n, m * n)
        self._inverse = np.linalg.inv(np.eye(m * n) - self._steps[:, None, None] * implicit)
        self._carried = (self._inverse @ np.tile(np.eye(n), (m, 1))).reshape(N, m, n, n)
        grown = np.einsum("k,jkab,jkbc->jac", g.b, self.jacobians, self._carried)
        self.G = np.eye(n) + self._steps[:, None, None] * grown

    @cached_property
    def weights(self) -> np.ndarray:
        return self.cycle.mesh.h[:, None] * self.c.gauss.b

    # Derivatives of the rates

    def A(self, w: np.ndarray) -> np.ndarray:
        return np.einsum("jkab,jkb->jka", self.jacobians, w)

    def form(self, *vectors: np.ndarray) -> np.ndarray:
        """The derivative of the rates along two or more functions."""
        N, m, n = self.x.shape
        flat = [each.reshape(N * m, n) for each in (self.x, *vectors)]
        return jets_of(self.c.equations.flow).forms(flat[0], self.numbers, *flat[1:]).reshape(N, m, n)

    # Functions along the cycle

    def _particular(self, g: np.ndarray) -> np.ndarray:
        """Stages of w from w = 0 at the start of every interval."""
        N, m, n = self.x.shape
        inner = self._steps[:, None, None] * np.einsum("ik,jka->jia", self.c.gauss.A, g)
        return (self._inverse @ inner.reshape(N, m * n, 1)).reshape(N, m, n)

    def ends(self, g: np.ndarray) -> np.ndarray:
        """What g adds to w at the end of every interval, one after the other."""
        rate = self.A(self._particular(g)) + g
        return (self._steps[:, None] * np.einsum("k,jka->ja", self.c.gauss.b, rate)).ravel()

    def at_stages(self, w: np.ndarray, g: np.ndarray | None = None) -> np.ndarray:
        """A solution at the stages, from its values where the intervals begin."""
        found = np.einsum("jkab,jb->jka", self._carried, w.reshape(-1, self.x.shape[2]))
        return found if g is None else found + self._particular(g)

    def closing(self, multiplier: complex) -> np.ndarray:
        """w_{j+1} − G_j w_j of all intervals, w_N = μ w_0: taken whole, so that nothing that grows drowns the rest."""
        N, n = self.G.shape[:2]
        ends = multiplier * self.cycle.signs
        L = np.zeros((N, n, N, n), dtype=complex if np.iscomplexobj(ends) and np.imag(ends).any() else float)
        following = np.arange(N - 1)
        L[np.arange(N), :, np.arange(N), :] = -self.G
        L[following, :, following + 1, :] = np.eye(n)
        L[N - 1, :, 0, :] += np.diag(ends if np.iscomplexobj(L) else np.real(ends))
        return L.reshape(N * n, N * n)

    def waves(self, multiplier: complex) -> Waves:
        return Waves(self, multiplier)

    @cached_property
    def periodic(self) -> Periodic:
        return Periodic(self)


class Waves:
    """Functions that come back multiplied by μ; where μ is a multiplier, ``wave`` is the one that the linear flow
    carries, of unit mean square."""

    def __init__(self, along: Variation, multiplier: complex) -> None:
        self.along = along
        self.matrix = along.closing(multiplier)

    @cached_property
    def _null(self) -> tuple[np.ndarray, np.ndarray]:
        return null_vectors(self.matrix)

    @cached_property
    def wave(self) -> np.ndarray:
        return normalised(self.along, self.along.at_stages(self._null[0]))

    def solve(self, g: np.ndarray, singular: bool = False) -> np.ndarray:
        """L w = g; where μ is a multiplier, the solution without a part along the wave."""
        right = self.along.ends(g)
        w = within(self.matrix, right, *self._null) if singular else np.linalg.solve(self.matrix, right)
        return self.along.at_stages(w, g)

    def share(self, g: np.ndarray, unit: np.ndarray) -> complex:
        """⟨adjoint, g⟩, normalised by what a unit has."""
        left, v = self._null[1], self.along
        return complex((left @ v.ends(g)) / (left @ v.ends(unit)))


class Periodic:
    """Functions of the cycle's period with rates of its phase; at a fold ``wave`` is the one that is carried, of unit
    mean square, while the phase gains at the rate ``gain``."""

    def __init__(self, along: Variation) -> None:
        self.along = along
        e, cycle = along.c.equations, along.cycle
        velocity = rates_and_jacobians(e, cycle.x[:-1].T, cycle.value)[0].T.ravel()
        column = along.ends(along.rates)
        self._unit = 1 / np.linalg.norm(column)
        row = velocity / np.linalg.norm(velocity)
        self.matrix = np.block([[along.closing(1.0), self._unit * column[:, None]], [row[None], np.zeros((1, 1))]])

    @cached_property
    def _null(self) -> tuple[np.ndarray, np.ndarray]:
        return null_vectors(self.matrix)

    @cached_property
    def _carried(self) -> tuple[np.ndarray, float]:
        w, gain = self._at_stages(self._null[0])
        size = np.sqrt((self.along.weights[:, :, None] * w**2).sum())
        return w / size, gain / size

    @property
    def wave(self) -> np.ndarray:
        return self._carried[0]

    @property
    def gain(self) -> float:
        return self._carried[1]

    def _at_stages(self, solution: np.ndarray, g: np.ndarray | float = 0.0) -> tuple[np.ndarray, float]:
        gain = solution[-1] * self._unit
        return self.along.at_stages(solution[:-1], g - gain * self.along.rates), gain

    def solve(self, g: np.ndarray, singular: bool = False) -> tuple[np.ndarray, float]:
        """w and α with L w + α u̇ = g; at a fold, the solution without a part along the wave."""
        right = np.append(self.along.ends(g), 0.0)
        found = within(self.matrix, right, *self._null) if singular else np.linalg.solve(self.matrix, right)
        return self._at_stages(found, g)

    def share(self, g: np.ndarray, unit: np.ndarray) -> float:
        """⟨adjoint, g⟩, normalised by what a unit has; u̇ has none."""
        left, v = self._null[1][:-1], self.along
        return float((left @ v.ends(g)) / (left @ v.ends(unit)))


def normalised(along: Variation, w: np.ndarray) -> np.ndarray:
    """Of unit mean square."""
    return w / np.sqrt((along.weights[:, :, None] * np.abs(w) ** 2).sum())


def null_vectors(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The right and the left null vector of a matrix of corank one, by bordering."""
    size, generator = len(matrix), np.random.default_rng(0)
    column, row = generator.normal(size=(2, size))
    unit = np.append(np.zeros(size), 1.0)
    for _ in range(SWEEPS):
        factors = lu_factor(bordered(matrix, column, row))
        right, left = lu_solve(factors, unit)[:size], lu_solve(factors, unit, trans=1)[:size]
        right, left = right / np.linalg.norm(right), left / np.linalg.norm(left)
        column, row = left.conj(), right.conj()
    return right, left


def within(matrix: np.ndarray, right: np.ndarray, null: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The solution without a part along the null vector of a singular matrix, its left one being orthogonal to what is
    on the right."""
    return np.linalg.solve(bordered(matrix, left.conj(), null.conj()), np.append(right, 0.0))[:-1]


def bordered(matrix: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    return np.block([[matrix, column[:, None]], [row[None], np.zeros((1, 1))]])


def rates_and_jacobians(equations: Equations, X: np.ndarray, value: float) -> tuple[np.ndarray, np.ndarray]:
    """f and ∂f/∂x of all states, those that follow others included, a column for each state given."""
    e, (n, count) = equations, X.shape
    values = e(np.ascontiguousarray(X), value)
    f, J = np.zeros((n, count)), np.zeros((n, n, count))
    f[e.rows], J[e.rows] = values[: len(e.rows)], values[len(e.rows) :][: len(e.rows) * n].reshape(-1, n, count)
    following, places = e.follow
    f[following], J[following, e.rows[places]] = X[e.rows[places]], 1.0
    return f, J
