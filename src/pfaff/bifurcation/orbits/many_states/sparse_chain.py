"""The chain of intervals of an orbit in very many states: carried over by sparse factors, closed by Krylov's method.

Transition matrices of hundreds of states are full, and none is formed: each is applied to a vector by one solution with
the sparse factors of its interval. The monodromy matrix M of a dissipative system has few multipliers that are not
small, so that GMRES (Saad and Schultz 1986) solves the closed chain, 1 − M with its borders, in about as many steps,
and Arnoldi's method gives the leading ones (as in Lust, Roose, Spence and Champneys 1998, SIAM J. Sci. Comput. 19, by
shooting).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, splu

from pfaff.algebra.gauss import Gauss
from pfaff.bifurcation.orbits.cycles import Cycle, Metric
from pfaff.continuation.endings import Refused

SOLVED = 1e-12  # relative residual of GMRES
ROUNDING = 1e-14  # the same relative to the solution, which is large where the equations are nearly singular
INVARIANT = 1e-13  # relative size of a new direction below which a Krylov space is complete
ACCEPTED = 1e-7  # largest accepted residual, relative to either
BASIS = 150  # most vectors of a Krylov space
SMALL = 40  # states up to which all multipliers are computed at once
FEWEST, MOST = 6, 192  # least and largest number of leading multipliers
INSIDE = 0.5  # size from which on all multipliers are known
ARNOLDI = 1e-11  # relative residual of Arnoldi's method
PAIRED = 1e-9  # distance of a multiplier from the conjugate of another within which they are a pair


class Pattern:
    """Positions of the entries of ∂f/∂x in the equations of an interval, 1 − h T A ⊗ ∂f/∂x at all its collocation
    points, and in the contribution of its first state."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, n: int, rule: Gauss) -> None:
        self.n, self.rule, m = n, rule, rule.degree
        points = np.arange(m)
        i, l, e = (each.ravel() for each in np.meshgrid(points, points, np.arange(len(rows)), indexing="ij"))
        size = m * n
        diagonal = np.arange(size)
        keys = np.concatenate([(l * n + columns[e]) * size + i * n + rows[e], diagonal * (size + 1)])
        unique, self._place = np.unique(keys, return_inverse=True)
        self._indices, self._starts = self._compressed(unique, size, size)
        stacked = (columns[None] * size + points[:, None] * n + rows[None]).ravel()
        self._order = np.argsort(stacked)
        self._stack = self._compressed(stacked[self._order], size, n)

    @staticmethod
    def _compressed(keys: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
        starts = np.searchsorted(keys, np.arange(width + 1, dtype=np.int64) * height)
        return (keys % height).astype(np.int32), starts.astype(np.int32)

    def interval(self, entries: np.ndarray, h: float, T: float) -> Interval:
        """The interval with entries at its collocation points, a row each."""
        m, size = self.rule.degree, self.rule.degree * self.n
        inner = -h * T * self.rule.A[:, :, None] * entries[:, None, :]
        data = np.bincount(self._place, np.concatenate([inner.ravel(), np.ones(size)]), len(self._indices))
        W = sparse.csc_array((data, self._indices, self._starts), shape=(size, size))
        pushed = sparse.csc_array((T * entries.ravel()[self._order], *self._stack), shape=(size, self.n))
        try:
            return Interval(splu(W, permc_spec="MMD_AT_PLUS_A"), pushed, h * self.rule.b, m)
        except RuntimeError as problem:
            raise Refused("the equations are singular or not finite on the orbit") from problem


class Interval:
    """The equations of one interval, factorised."""

    def __init__(self, factors: object, pushed: sparse.csc_array, weights: np.ndarray, m: int) -> None:
        self._factors, self._pushed, self._weights, self._m = factors, pushed, weights, m

    def slopes(self, right: np.ndarray) -> np.ndarray:
        """The changes of slopes at its collocation points that match a right-hand side."""
        return self._factors.solve(right)  # type: ignore[attr-defined]

    def after(self, slopes: np.ndarray) -> np.ndarray:
        """The change of the state at the end due to changes of slopes."""
        return np.tensordot(self._weights, slopes.reshape(self._m, -1, *slopes.shape[1:]), 1)

    def moved(self, v: np.ndarray) -> np.ndarray:
        """The changes of slopes due to a change of the state at the beginning."""
        return self.slopes(self._pushed @ v)

    def carried(self, v: np.ndarray) -> np.ndarray:
        """G v: the change of the state at the end due to one at the beginning."""
        return v + self.after(self.moved(v))


@dataclass(frozen=True, eq=False)
class Chain:
    """All intervals of an orbit: δx_{j+1} = G_j δx_j + ends_j (δT, δp, 1), with slopes that change by ``inner``."""

    intervals: tuple[Interval, ...]
    inner: np.ndarray  # [interval, slope, (T, p, 1)]
    ends: np.ndarray  # [interval, state, (T, p, 1)]
    residual: float  # the largest residual of a slope

    def carried(self, v: np.ndarray, scalars: np.ndarray, share: float) -> np.ndarray:
        """States at all mesh points, from the first one, the scalars and a share of the residuals."""
        x = np.empty((len(self.intervals) + 1, len(v)))
        x[0], by = v, np.append(scalars, share)
        for j, interval in enumerate(self.intervals):
            x[j + 1] = interval.carried(x[j]) + self.ends[j] @ by
        return x

    def slopes(self, x: np.ndarray, scalars: np.ndarray, share: float) -> np.ndarray:
        """Slopes that belong to states at the mesh points."""
        by, m = np.append(scalars, share), len(self.inner[0]) // x.shape[1]
        each = [one.moved(x[j]) + self.inner[j] @ by for j, one in enumerate(self.intervals)]
        return np.array(each).reshape(len(each), m, -1)

    def monodromy(self, v: np.ndarray) -> np.ndarray:
        for interval in self.intervals:
            v = interval.carried(v)
        return v


class Closed:
    """A chain closed by x_N = signs x_0, with two border rows over all mesh points and over period and parameter."""

    def __init__(
        self, chain: Chain, rows: np.ndarray, by_scalars: np.ndarray, signs: np.ndarray, metric: Metric
    ) -> None:
        self.chain, self.rows, self.by_scalars, self.signs = chain, rows, by_scalars, signs
        self.units, self.scalar_units = 1 / metric.states, 1 / metric.scalars
        whole = np.abs(rows * self.units).sum(axis=(1, 2)) + np.abs(by_scalars * self.scalar_units).sum(axis=1)
        self.sizes = np.where(whole > 0, whole, 1.0)

    def solve(self, right: np.ndarray, share: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """States at the mesh points and scalars for given values of the border rows and a share of the residuals of the
        chain."""
        n = len(self.units)
        known = self._left(np.zeros(n), np.zeros(2), share) if share else np.zeros(n + 2)
        wanted = np.append(np.zeros(n), right / self.sizes) - known
        y, left = minimal_residual(self._applied, wanted)
        if not left <= ACCEPTED * float(np.linalg.norm(np.append(y, wanted))):
            raise Refused(f"the equations of the orbit are not solved in a Krylov space of {BASIS} dimensions")
        v, scalars = y[:n] * self.units, y[n:] * self.scalar_units
        x = self.chain.carried(v, scalars, share)
        x[-1] = self.signs * x[0]
        return x, scalars

    def _applied(self, y: np.ndarray) -> np.ndarray:
        n = len(self.units)
        return self._left(y[:n] * self.units, y[n:] * self.scalar_units, 0.0)

    def _left(self, v: np.ndarray, scalars: np.ndarray, share: float) -> np.ndarray:
        """The residual of the closing condition, and of the border rows, in units."""
        x = self.chain.carried(v, scalars, share)
        closing = (v - self.signs * x[-1]) / self.units
        x[-1] = self.signs * v
        borders = np.einsum("kjt,jt->k", self.rows, x) + self.by_scalars @ scalars
        return np.append(closing, borders / self.sizes)


def minimal_residual(apply: Callable[[np.ndarray], np.ndarray], right: np.ndarray) -> tuple[np.ndarray, float]:
    """GMRES: the solution in a Krylov space, and its residual. It also ends where that is rounding, or where the space
    is complete: nearly singular equations, as beside branch points, have no better solution."""
    size, most = float(np.linalg.norm(right)), min(BASIS, len(right))
    V, H, unit = np.zeros((most + 1, len(right))), np.zeros((most + 1, most)), np.zeros(most + 1)
    if size == 0:
        return np.zeros_like(right), 0.0
    V[0], unit[0] = right / size, size
    for k in range(most):
        w = apply(V[k])
        for _ in range(2):  # again, for the digits that the first pass leaves
            along = V[: k + 1] @ w
            w, H[: k + 1, k] = w - along @ V[: k + 1], H[: k + 1, k] + along
        H[k + 1, k] = np.linalg.norm(w)
        y = np.linalg.lstsq(H[: k + 2, : k + 1], unit[: k + 2])[0]
        left, whole = float(np.linalg.norm(H[: k + 2, : k + 1] @ y - unit[: k + 2])), float(np.abs(H).max())
        enough = left <= SOLVED * size or left <= ROUNDING * whole * float(np.linalg.norm(y))
        if enough or H[k + 1, k] <= INVARIANT * whole:
            break
        V[k + 1] = w / H[k + 1, k]
    return y @ V[: len(y)], left


def leading_multipliers(
    chain: Chain, cycle: Cycle, metric: Metric, start: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The largest multipliers, all of those beyond a size, largest first; and a start for neighbours."""
    n, count = cycle.x.shape[1], FEWEST

    def turned(v: np.ndarray) -> np.ndarray:
        return ((cycle.signs * metric.states) * chain.monodromy((v.T / metric.states).T).T).T

    if n <= SMALL:
        values = np.linalg.eigvals(turned(np.eye(n))).astype(complex)
        return values[np.lexsort((-values.imag, -np.abs(values)))], np.ones(n)
    operator = LinearOperator((n, n), matvec=turned, dtype=float)
    first = np.random.default_rng(1949).uniform(-1, 1, n) if start is None else start
    while True:
        count = min(count, n - 2)
        try:
            values, vectors = eigs(operator, k=count, which="LM", v0=first, tol=ARNOLDI, ncv=min(2 * count + 8, n))
        except ArpackNoConvergence as partly:
            raise Refused(f"Arnoldi's method finds {len(partly.eigenvalues)} of {count} multipliers") from partly
        if np.abs(values).min() < INSIDE or count >= min(MOST, n - 2):
            break
        count *= 2
    values = values[_paired(values)]
    return values[np.lexsort((-values.imag, -np.abs(values)))], vectors.sum(axis=1).real


def _paired(values: np.ndarray) -> np.ndarray:
    """Which multipliers are real, or known with their conjugates."""
    apart = np.abs(values[:, None] - values.conj()[None]).min(axis=1)
    return apart <= PAIRED * np.maximum(np.abs(values), 1.0)
