"""Maps: the flutter load over a grid of parameters; over dampings of two degrees of freedom in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.rest.path import LoadPath
from pfaff.stability.along import checked_end
from pfaff.stability.critical import critical_load
from pfaff.stability.dampings import damping_sources
from pfaff.stability.natural_range import natural_range
from pfaff.statement.told import told
from pfaff.statement.values import numbers_from, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case

MANY = 100_000_000  # points of a map
CHUNK = 16384  # points at a time, so that all intermediates fit in the cache
AFFINE = 1e-12


@told
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
        return doors.draw.draw_map(self)


def closed_map(case: Case, load: str, axes: Mapping[str, np.ndarray], to: float | None) -> FlutterMap | None:
    """The map over dampings in closed form, for two degrees of freedom whose load only stiffens; None for other
    systems."""
    names, points = list(axes), grid_points(axes)
    try:
        damping_sources(case, load, names)
    except ParameterError:
        return None
    to = checked_end(to)
    pencil = AffinePencil(case, load, names, to)
    if not pencil.affine or len(pencil.M) != 2:
        return None
    top = to if to is not None else pencil.natural_range
    values = np.empty(points.shape[1])
    for start in range(0, points.shape[1], CHUNK):
        chunk = slice(start, start + CHUNK)
        with np.errstate(over="ignore", invalid="ignore"):  # where an overflow hides the answer, a search decides
            values[chunk] = pencil.quartic(points[:, chunk], top)
    how = f"closed form of the Hurwitz determinant, up to {load} = {top:g}"
    return FlutterMap(load, axes, values.reshape([len(each) for each in axes.values()]), how)


def checked_axes(case: Case, axes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Values of parameters, checked against the declared signs."""
    if not axes:
        raise ParameterError("a map needs at least one parameter with its values: flutter_map(c_i=values)")
    found = {name: np.atleast_1d(numbers_from(name, values)) for name, values in axes.items()}
    for name, values in found.items():
        case.system.parameter(name)
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise ParameterError(f"{name}: give a one-dimensional array of finite values")
        case.at(**{name: float(values.min())}).at(**{name: float(values.max())})
    whole_number("the number of points", math.prod(map(len, found.values())), 1, MANY, "give fewer values")
    return found


def grid_points(axes: Mapping[str, np.ndarray]) -> np.ndarray:
    """All combinations, one column each."""
    return np.stack([np.ravel(grid) for grid in np.meshgrid(*axes.values(), indexing="ij", copy=False)])


def _one_by_one(case: Case, load: str, names: list[str], points: np.ndarray, to: float) -> np.ndarray:
    """Loads one by one, where the load does more than stiffen about a fixed equilibrium: slow, but right for any
    system."""
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
        D_3 = u1 * b1 - square * d2, u1 * b0 + u0 * b1 - square * d1, u0 * b0 - square * d0
        roots = _quadratic_roots(*D_3)
        first = np.full(c.shape[1], np.nan)
        for F in roots:  # ascending: the later ones must not overwrite an earlier one
            crosses = (F > 0) & (to >= F) & ((b0 + b1 * F) * r1 > 0)
            first = np.where(np.isnan(first) & crosses, F, first)
        if self._undamped is not None:
            first = np.where(r1 == 0, self._undamped, first)
        # Where Hurwitz' conditions fail without load, or the stiffness turns singular first, a search decides.
        stable = (r1 > 0) & (a0 > 0) & (b0 > 0) & (d0 > 0) & (D_3[2] > 0) & np.isfinite(D_3).all(axis=0)
        singular = _quadratic_roots(*(np.full(c.shape[1], d) for d in (d2, d1, d0)))
        sooner = [(root > 0) & (root < np.where(np.isnan(first), to, first)) for root in singular]
        doubtful = (~stable & ~((r1 == 0) & (self._undamped is not None))) | sooner[0] | sooner[1]
        first[doubtful] = _one_by_one(self.case, self.load, self.names, c[:, doubtful], to)
        return first


def _mixed(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """tr A tr B − tr AB for 2 × 2 matrices, Eq. (61)."""
    return A[0, 0] * B[1, 1] + A[1, 1] * B[0, 0] - A[0, 1] * B[1, 0] - A[1, 0] * B[0, 1]


def _quadratic_roots(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Real roots of a x² + b x + c, smaller first; NaN where they are complex. Stable against cancellation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        q = -0.5 * (b + np.where(b < 0, -1.0, 1.0) * np.sqrt(b * b - 4 * a * c))
        first, second = np.where(a == 0, np.nan, q / a), np.where(q == 0, 0.0, c / q)
    return np.fmin(first, second), np.fmax(first, second)
