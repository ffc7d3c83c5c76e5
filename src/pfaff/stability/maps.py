"""Maps: the flutter load over a grid of two or more damping (or other) parameters, a million points at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ConvergenceError, ParameterError
from pfaff.rest.path import LoadPath
from pfaff.stability.along import checked_end, natural_range
from pfaff.stability.critical import critical_load
from pfaff.stability.paradox import damping_sources
from pfaff.statement.values import numbers_from, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case

MANY = 100_000_000  # points of a map
CHUNK = 16384  # points at a time, so that all intermediates stay in the cache
AFFINE = 1e-12
NOISE, UNIT = 1e-13, 1e-15  # growth rates that are rounding, relative to the eigenvalue and to the largest


@dataclass(frozen=True)
class FlutterMap:
    """The flutter load over all combinations of parameter values; NaN where there is none.

    ``values`` has one axis for each parameter of ``axes``, in that order.
    """

    load: str
    axes: Mapping[str, np.ndarray]
    values: np.ndarray
    how: str

    @property
    def status(self) -> str:
        return f"{self.values.size} points, {int(np.isnan(self.values).sum())} without flutter: {self.how}"

    def plot(self) -> Figure:
        from pfaff.draw.stability import draw_map

        return draw_map(self)


def flutter_map(case: Case, load: str, axes: Mapping[str, np.ndarray], to: float | None = None) -> FlutterMap:
    """The first flutter load for every combination of damping values."""
    axes = {name: _values(name, values) for name, values in axes.items()}
    names = list(axes)
    if not names:
        raise ParameterError("a map needs at least one damping with its values: flutter_map(c_i=values)")
    damping_sources(case, names)
    for name, values in axes.items():
        if values.ndim != 1 or not values.size or not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            raise ParameterError(f"{name}: give a one-dimensional array of finite, non-negative values")
    count = math.prod(values.size for values in axes.values())
    whole_number("the number of points", count, 1, MANY, "give fewer values")
    grids = np.meshgrid(*axes.values(), indexing="ij", copy=False)
    points = np.stack([np.ravel(grid) for grid in grids])
    to = checked_end(to)
    pencil = AffinePencil(case, load, names, to)
    top = to if to is not None else pencil.natural_range
    if not pencil.affine:
        values, how = _one_by_one(case, load, names, points, top), "a search at every point"
    else:
        closed = len(pencil.M) == 2
        solve = pencil.quartic if closed else pencil.bisection
        values = np.empty(points.shape[1])
        for start in range(0, points.shape[1], CHUNK):
            chunk = slice(start, start + CHUNK)
            values[chunk] = solve(points[:, chunk], top)
        how = "closed form of the Hurwitz determinant" if closed else "eigenvalues in steps of the load, bisected"
    return FlutterMap(load, axes, values.reshape(grids[0].shape), f"{how}, up to {load} = {top:g}")


def _one_by_one(case: Case, load: str, names: list[str], points: np.ndarray, to: float) -> np.ndarray:
    """Where the load does more than stiffen about an equilibrium that stays: slow, but right for any system."""
    found = [
        critical_load(case.at(**dict(zip(names, map(float, point), strict=True))), load, "flutter", to, {}).value
        for point in points.T
    ]
    return np.array([np.nan if value is None else value for value in found])


class AffinePencil:
    """M ω² + (C_0 + Σ c_j C_j) ω + K_0 + F K_1 on the allowed velocities, about an equilibrium that stays put.

    ``affine`` says whether the system is of this form at all.
    """

    def __init__(self, case: Case, load: str, names: list[str], to: float | None = None) -> None:
        self.case, self.load, self.names = case, load, names
        bare = case.unchecked(**dict.fromkeys(names, 0.0))
        path = LoadPath(bare, load, {})
        self.natural_range = natural_range(path)
        top = to if to is not None else self.natural_range
        try:
            lin, probe, far = (path.linearise(x) for x in (0.0, top / 2, top))
        except ConvergenceError:
            self.affine = False  # the equilibrium ends on the way
            return
        N = lin.kernel
        inner = [N.T @ each.stiffness @ N for each in (lin, probe, far)]
        curved = np.abs(inner[2] - 2 * inner[1] + inner[0]).max() > AFFINE * np.abs(inner).max()
        fixed = all(
            np.abs(getattr(each, x) - getattr(lin, x)).max(initial=0.0)
            <= AFFINE * np.abs(getattr(lin, x)).max(initial=0.0)
            for each in (probe, far)
            for x in ("M", "C", "A", "B")
        )
        self.affine = fixed and not curved and not lin.B.any()
        self.M, self.K0, self.K1 = N.T @ lin.M @ N, inner[0], (inner[2] - inner[0]) / top
        self.C0 = N.T @ lin.C @ N
        self.C = np.array([N.T @ (bare.unchecked(**{name: 1.0}).linearise().C - lin.C) @ N for name in names])
        self._undamped = critical_load(bare, load, "flutter", None, {}).value if not np.any(self.C0) else None

    def quartic(self, c: np.ndarray, to: float) -> np.ndarray:
        """Two degrees of freedom: D_3 of Eq. (64) is quadratic in the load, Eq. (61) gives its coefficients."""
        M, K0, K1 = self.M, self.K0, self.K1
        C = self.C0[:, :, None] + np.tensordot(self.C, c, axes=(0, 0))
        det_c = C[0, 0] * C[1, 1] - C[0, 1] * C[1, 0]
        r0, r1 = np.linalg.det(M), _mixed(M, C)
        a0, a1 = _mixed(M, K0) + det_c, _mixed(M, K1)  # ρ_2 = a0 + a1 F
        b0, b1 = _mixed(C, K0), _mixed(C, K1)  # ρ_3 = b0 + b1 F
        d0, d1, d2 = np.linalg.det(K0), _mixed(K0, K1), np.linalg.det(K1)  # ρ_4
        u0, u1 = r1 * a0 - r0 * b0, r1 * a1 - r0 * b1
        square = r1 * r1
        roots = _quadratic_roots(u1 * b1 - square * d2, u1 * b0 + u0 * b1 - square * d1, u0 * b0 - square * d0)
        first = np.full(c.shape[1], np.nan)
        for F in roots:  # ascending: the later ones must not overwrite an earlier one
            crosses = (F > 0) & (to >= F) & ((b0 + b1 * F) * r1 > 0)
            first = np.where(np.isnan(first) & crosses, F, first)
        if self._undamped is not None:
            first = np.where(r1 == 0, self._undamped, first)
        # Where Hurwitz' conditions fail without load, or the stiffness turns singular first, a search decides.
        stable = (r1 > 0) & (a0 > 0) & (b0 > 0) & (d0 > 0) & (u0 * b0 - square * d0 > 0)
        singular = _quadratic_roots(*(np.full(c.shape[1], d) for d in (d2, d1, d0)))
        sooner = [(root > 0) & (root < np.where(np.isnan(first), to, first)) for root in singular]
        doubtful = (~stable & ~((r1 == 0) & (self._undamped is not None))) | sooner[0] | sooner[1]
        first[doubtful] = _one_by_one(self.case, self.load, self.names, c[:, doubtful], to)
        return first

    def bisection(self, c: np.ndarray, to: float, steps: int = 200) -> np.ndarray:
        """Any number of degrees of freedom: eigenvalues on a grid of loads, then bisection to rounding."""
        C = self.C0 + np.tensordot(c.T, self.C, axes=1)
        size = c.shape[1]
        low, high = np.zeros(size), np.full(size, np.nan)
        at_once = self._unstable(C, low)
        high[at_once] = 0.0
        for F in np.linspace(0, to, steps + 1)[1:]:
            open_ = np.isnan(high)
            if not open_.any():
                break
            unstable = np.zeros(size, dtype=bool)
            unstable[open_] = self._unstable(C[open_], np.full(open_.sum(), F))
            high[unstable] = F
            low[open_ & ~unstable] = F
        found = ~np.isnan(high)
        for _ in range(60):
            middle = (low[found] + high[found]) / 2
            unstable = self._unstable(C[found], middle)
            high[found] = np.where(unstable, middle, high[found])
            low[found] = np.where(unstable, low[found], middle)
        return high

    def _unstable(self, C: np.ndarray, F: np.ndarray) -> np.ndarray:
        d = len(self.M)
        K = self.K0 + F[:, None, None] * self.K1
        J = np.zeros((len(F), 2 * d, 2 * d))
        J[:, :d, d:] = np.eye(d)
        J[:, d:, :d], J[:, d:, d:] = -np.linalg.solve(self.M, K), -np.linalg.solve(self.M, C)
        values = np.linalg.eigvals(J)
        noise = NOISE * np.abs(values) + UNIT * np.abs(values).max(axis=1, keepdims=True)
        return ((values.real > noise) & (np.abs(values.imag) > noise)).any(axis=1)


def _values(name: str, values: Any) -> np.ndarray:
    return np.atleast_1d(numbers_from(name, values))


def _mixed(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """tr A tr B − tr AB for 2 × 2 matrices, Eq. (61)."""
    return A[0, 0] * B[1, 1] + A[1, 1] * B[0, 0] - A[0, 1] * B[1, 0] - A[1, 0] * B[0, 1]


def _quadratic_roots(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Real roots of a x² + b x + c, smaller first; NaN where they are complex. Stable against cancellation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        q = -0.5 * (b + np.where(b < 0, -1.0, 1.0) * np.sqrt(b * b - 4 * a * c))
        first, second = np.where(a == 0, np.nan, q / a), np.where(q == 0, 0.0, c / q)
    return np.fmin(first, second), np.fmax(first, second)
