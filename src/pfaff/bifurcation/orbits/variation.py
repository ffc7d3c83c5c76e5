"""The variational equations along a cycle, discretised as the cycle itself, for its normal forms.

Functions along the cycle u(τ) are arrays [interval, stage, state]. With L w = ẇ − A w, waves solve L w = g and come
back multiplied by μ. Functions with the cycle's own period are known up to its phase: they solve L w + α u̇ = g with a
rate α of the phase, and have no part along u̇. Solvability refers to the collocation equations themselves: their left
null vector replaces the adjoint solution.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, bordered, null_vectors, with_columns, with_rows
from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.flow.jets import jets_of
from pfaff.threads import cached_property


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

    def closing(self, multiplier: complex) -> sparse.csc_array:
        """w_{j+1} − G_j w_j for all intervals, with w_N = μ w_0: kept as one matrix, so that growing parts do not drown
        the rest."""
        N, n = self.G.shape[:2]
        ends = multiplier * self.cycle.signs
        ends = ends if np.imag(ends).any() else np.real(ends)
        own, following = np.arange(N * n).reshape(N, n), np.arange(n, N * n)
        rows = np.broadcast_to(own[:, :, None], self.G.shape), following - n, own[-1]
        columns = np.broadcast_to(own[:, None, :], self.G.shape), following, own[0]
        data, i, j = (
            np.concatenate([each.ravel() for each in parts])
            for parts in ((-self.G, np.ones(len(following)), ends), rows, columns)
        )
        return sparse.csc_array(sparse.coo_array((data, (i, j)), shape=(N * n, N * n)))

    def waves(self, multiplier: complex) -> Waves:
        return Waves(self, multiplier)

    @cached_property
    def periodic(self) -> Periodic:
        return Periodic(self)


class Waves:
    """Functions that come back multiplied by μ; where μ is a multiplier, ``wave`` is the one carried by the linear
    flow, of unit mean square."""

    def __init__(self, along: Variation, multiplier: complex) -> None:
        self.along = along
        self._matrix = Singular(along.closing(multiplier))

    @cached_property
    def wave(self) -> np.ndarray:
        return normalised(self.along, self.along.at_stages(self._matrix.null[0]))

    def solve(self, g: np.ndarray, singular: bool = False) -> np.ndarray:
        """L w = g; where μ is a multiplier, the solution without a part along the wave."""
        return self.along.at_stages(self._matrix.solve(self.along.ends(g), singular), g)

    def share(self, g: np.ndarray, unit: np.ndarray) -> complex:
        """⟨adjoint, g⟩, normalised by its value on ``unit``."""
        left, v = self._matrix.null[1], self.along
        return complex((left @ v.ends(g)) / (left @ v.ends(unit)))


class Periodic:
    """Functions with the cycle's period and rates of its phase; at a fold ``wave`` is the one carried by the linear
    flow, of unit mean square, while the phase gains at the rate ``gain``."""

    def __init__(self, along: Variation) -> None:
        self.along = along
        e, cycle = along.c.equations, along.cycle
        velocity = rates_and_jacobians(e, cycle.x[:-1].T, cycle.value)[0].T.ravel()
        column = along.ends(along.rates)
        self._unit = 1 / np.linalg.norm(column)
        row = velocity / np.linalg.norm(velocity)
        wide = with_columns(along.closing(1.0), self._unit * column[:, None])
        self._matrix = Singular(with_rows(wide, np.append(row, 0.0)[None]), dense=1)

    @cached_property
    def _carried(self) -> tuple[np.ndarray, float]:
        w, gain = self._at_stages(self._matrix.null[0])
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
        return self._at_stages(self._matrix.solve(np.append(self.along.ends(g), 0.0), singular), g)

    def share(self, g: np.ndarray, unit: np.ndarray) -> float:
        """⟨adjoint, g⟩, normalised by its value on ``unit``; it vanishes on u̇."""
        left, v = self._matrix.null[1][:-1], self.along
        return float((left @ v.ends(g)) / (left @ v.ends(unit)))


class Singular:
    """A matrix of corank one where there is a wave, regular elsewhere; its last rows are dense."""

    def __init__(self, matrix: sparse.csc_array, dense: int = 0) -> None:
        self._matrix, self._dense = matrix, dense

    @cached_property
    def null(self) -> tuple[np.ndarray, np.ndarray]:
        """Its right and left null vectors."""
        right, left = null_vectors(self._matrix, self._dense)
        return right, left.conj()

    def solve(self, given: np.ndarray, singular: bool) -> np.ndarray:
        """The solution; for a singular matrix the one without a part along its null vector, if the left one is
        orthogonal to the right-hand side."""
        if not singular:
            return Factors(self._matrix, self._dense).solve(given)
        right, left = self.null
        around = bordered(self._matrix, left.conj()[:, None], right.conj()[None], self._dense)
        return around.solve(np.append(given, 0.0))[:-1]


def normalised(along: Variation, w: np.ndarray) -> np.ndarray:
    """A function scaled to unit mean square."""
    return w / np.sqrt((along.weights[:, :, None] * np.abs(w) ** 2).sum())


def rates_and_jacobians(equations: Equations, X: np.ndarray, value: float) -> tuple[np.ndarray, np.ndarray]:
    """f and ∂f/∂x of all states, those that follow others included, a column for each state given."""
    e, (n, count) = equations, X.shape
    values = e(np.ascontiguousarray(X), value)
    f, J = np.zeros((n, count)), np.zeros((n, n, count))
    f[e.rows], J[e.rows] = values[: len(e.rows)], values[len(e.rows) :][: len(e.rows) * n].reshape(-1, n, count)
    following, places = e.follow
    f[following], J[following, e.rows[places]] = X[e.rows[places]], 1.0
    return f, J
