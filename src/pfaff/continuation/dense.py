"""Curves G(z) = 0 with one more unknown than equations, by dense matrices: Newton's method, tangents, first points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pfaff.algebra.bordering import row_sizes
from pfaff.algebra.cubics import Cubic
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.sparse_borders import entries
from pfaff.algebra.tolerances import CORRECTIONS
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.problem import Problem
from pfaff.errors import PfaffError

SINGULAR = 1e-10  # singular values below this, relative to the largest, are zero at the start
FLAT = 1e-7  # change of the parameter along a unit tangent that is rounding
NEAR = 1e-6  # units: how far the point on a bound may be from the one that was located near it
QUADRATIC = 1e-3  # ratio of successive Newton steps that marks quadratic convergence: what is left is rounding
NEAR_A_GUESS = Stopping(CORRECTIONS, exact=0.0, shrinks=0.25, quadratic=QUADRATIC)  # points are many
STILL = 1e-12  # change of the parameter, in its unit, that counts as none
GROWN = 2.0  # factor by which the units of states grow meanwhile
ASTRAY = 1e6  # units: a Newton step this long leads nowhere


@dataclass(frozen=True, eq=False)
class Spot:
    """A solution z, its unit tangent in the units of the unknowns, and what the problem knows about it.

    ``bend`` is the change of the tangent on the way to it.
    """

    z: np.ndarray
    tangent: np.ndarray
    units: np.ndarray
    facts: Any
    bend: np.ndarray | None = None


class Implicit(Problem[Spot]):
    """Equations G(z) = 0, the last unknown being the parameter that says where the branch ends."""

    def residual(self, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual and Jacobian; overridden where computing both together is cheaper."""
        return self.residual(z), self.jacobian(z)

    def bordered(self, J: Any, row: np.ndarray, right: np.ndarray, units: np.ndarray) -> np.ndarray:
        """The solution of the Jacobian with one more row; NaN where that matrix is singular."""
        return _solved(J, row, right, units)

    def units(self, z: np.ndarray) -> np.ndarray:
        """Sizes of the unknowns, by which lengths are measured."""
        raise NotImplementedError

    def rebased(self, z: np.ndarray) -> Any:
        """The problem with its borders and units renewed at a point."""
        raise NotImplementedError

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> Any:
        """What the problem wants to know about a solution."""
        raise NotImplementedError

    # What the engine asks for

    def value(self, point: Spot) -> float:
        return float(point.z[-1])

    def slope(self, point: Spot) -> float:
        return float(point.tangent[-1])

    def moved(self, at: Spot, length: float) -> np.ndarray:
        ahead = at.z + length * at.tangent
        return ahead if at.bend is None else ahead + length**2 / 2 * at.bend

    def corrected(self, guess: np.ndarray, at: Spot) -> np.ndarray:
        return self.solved(guess, at.tangent / at.units**2)

    def norm(self, solution: np.ndarray, guess: np.ndarray, at: Spot) -> float:
        return float(np.linalg.norm((solution - guess) / at.units))

    def point(self, solution: np.ndarray, at: Spot) -> Spot:
        spot = self.spot(solution, at.tangent)
        apart = self.norm(spot.z, at.z, spot)
        before = at.tangent / np.linalg.norm(at.tangent / spot.units)
        return replace(spot, bend=(spot.tangent - before) / apart) if apart else spot

    def turn(self, a: Spot, b: Spot) -> float:
        first, second = a.tangent / a.units, b.tangent / a.units
        cosine = first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
        return float(np.arccos(np.clip(cosine, -1, 1)))

    def signature(self, point: Spot, like: Spot) -> np.ndarray:
        return point.z / like.units

    def renewed(self, point: Spot) -> tuple[Any, Spot]:
        return self.rebased(point.z), point

    def chord(self, a: Spot, b: Spot) -> Callable[[float], Spot]:
        """Points on planes across the chord; where the equations are singular there, interpolated between the
        neighbours."""

        length = np.linalg.norm((b.z - a.z) / a.units)
        cubic = Cubic(a.z, length * a.tangent, b.z, length / np.linalg.norm(b.tangent / a.units) * b.tangent)

        def between(at: float) -> Spot:
            guess = np.asarray(cubic.at(at))
            try:
                z = self.solved(guess, (b.z - a.z) / a.units**2)
            except Refused:
                z = guess
            return self.spot(z, b.z - a.z)

        return between

    def on_bound(self, point: Spot, bound: float) -> Spot:
        guess = np.append(point.z[:-1], bound)
        try:
            z = np.append(self.solved(guess, np.eye(len(guess))[-1])[:-1], bound)
        except Refused:
            return point
        near = self.norm(z, point.z, point) < NEAR
        return self.spot(z, point.tangent) if near else point

    def stuck(self, at: Spot, why: Refused, passed: Sequence[Spot]) -> Ending:
        if not _outgrown(passed):
            return super().stuck(at, why, passed)
        words = f"the states grow on and on, as the parameter tends to {self.where(at)}"
        return Ending(Reason.OUTGROWN, words)

    # Solutions

    def solved(self, guess: np.ndarray, row: np.ndarray) -> np.ndarray:
        """The solution near a guess where row·z keeps its value."""
        units, value, right = self.units(guess), row @ guess, np.empty(len(guess))

        def step(z: np.ndarray) -> tuple[np.ndarray, float]:
            try:
                right[:-1], J = self.evaluated(z)
            except (PfaffError, np.linalg.LinAlgError) as problem:
                raise Refused(str(problem)) from problem
            right[-1] = row @ z - value
            change = self.bordered(J, row, right, units)
            size = float(np.abs(change / units).max())
            if not size <= ASTRAY:
                finite = np.isfinite(right).all() and np.isfinite(entries(J)).all()
                raise Refused("Newton's method meets a singular matrix" if finite else "the equations are not finite")
            return z - change, size

        found = newton(step, guess, NEAR_A_GUESS)
        if found.settled:
            return found.at
        raise Refused(f"Newton's method does not settle (last change {found.change:.1e})")

    def spot(self, z: np.ndarray, towards: np.ndarray) -> Spot:
        """Everything about a solution; its tangent has a positive product with a direction."""
        units = self.units(z)
        J = self.jacobian(z)
        row = towards / units**2 / (np.linalg.norm(towards / units) or 1.0)
        unit = np.zeros(len(z))
        unit[-1] = 1.0
        tangent = self.bordered(J, row, unit, units)
        if not np.isfinite(tangent).all():
            tangent = towards
        tangent = tangent / np.linalg.norm(tangent / units)
        return Spot(z, tangent, units, self.inspected(z, tangent, J))

    def inspected(self, z: np.ndarray, tangent: np.ndarray, J: Any) -> Any:
        """What the problem wants to know about a solution, given its Jacobian."""
        if not np.isfinite(J).all():
            raise Refused("the equations are not finite")
        return self.inspect(z, tangent)

    def start(self, z: np.ndarray, ahead: float) -> Spot:
        """The first point, its tangent towards larger values of the parameter (or smaller ones, if ahead < 0)."""
        units = self.units(z)
        J = self.jacobian(z)
        rows = row_sizes(self.jacobian, z, units, J)
        scaled = J * units / np.where(rows, rows, 1.0)[:, None]
        _, values, right = np.linalg.svd(scaled)
        nulls = right[int((values > SINGULAR * values.max(initial=0.0)).sum()) :] * units
        rises = nulls[:, -1]
        # Where branches cross, choose the one along which the parameter changes most.
        null = rises @ nulls if np.abs(rises).max() > FLAT else nulls[-1]
        return self.spot(z, null if null[-1] * ahead >= 0 else -null)


def _outgrown(passed: Sequence[Spot]) -> bool:
    """Whether states outgrew their units while the parameter no longer changed: as after the fold of Bratu's problem,
    where the parameter vanishes like u exp(−u) until numbers overflow.

    Where the parameter never changed, the points are a family at one value of it.
    """
    last = passed[-1]
    still = STILL * last.units[-1]
    if abs(passed[0].z[-1] - last.z[-1]) <= still:
        return False
    for k in range(len(passed) - 2, -1, -1):
        if abs(passed[k].z[-1] - last.z[-1]) > still:
            return False
        if last.units[0] >= GROWN * passed[k].units[0]:
            return True
    return False


def _solved(J: np.ndarray, row: np.ndarray, right: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The solution of the Jacobian with one more row; unknowns in their units, rows scaled to like size."""
    scaled = np.empty((len(right), len(right)))
    np.multiply(J, units, out=scaled[:-1])
    np.multiply(row, units, out=scaled[-1])
    rows = np.abs(scaled).max(axis=1)
    if not np.isfinite(rows).all():
        return np.full(len(right), np.nan)
    rows[rows == 0] = 1.0
    scaled /= rows[:, None]
    try:
        return np.linalg.solve(scaled, right / rows) * units
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)
