"""An equilibrium followed as a parameter changes, with its small motions at any value on the way."""

from __future__ import annotations

import math
import sys
from bisect import bisect, insort
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.tolerances import CORRECTIONS, NOISE
from pfaff.algebra.units import row_units
from pfaff.errors import ConvergenceError
from pfaff.rest import protocol
from pfaff.rest.mechanical import ACCEPTED
from pfaff.rest.path_starts import beginning, changed_by
from pfaff.statement.values import number_from
from pfaff.threads import cached_property, kept_by

if TYPE_CHECKING:
    from pfaff.case import Bound, Case

CURVED = 0.3  # share of a step by which the tangents at its ends may miss the other end
ASIDE = 0.5  # farthest distance of intermediate points from the chord of two points of a path, relative to it
RESOLUTION = 1e-9  # movements smaller than this, relatively, are ignored
STRAIGHT = 1e-15  # residual of a point that needs no correction
SHORTEST = 1e-13  # shortest step of load, relative to the interval
BARRED = 1e-6  # loads this near, relatively, to one that no step from the origin led towards are not tried either
LAST = (1e-8, 4e-8)  # distances from the end of a path, relative to its load, of points that tell where it folds
DISPLACEMENTS = 61  # displacements tried for one that changes the matrices
NEARING = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 0.0)  # relative distances from the end of a path at which it is told how it ends
FAR = 1e6  # displacements, relative to one that changes the matrices, of an equilibrium that runs to infinity
PROBE = 1e-6  # step of load for the tangent, relative to the step

BEGINNINGS = 64  # beginnings of paths that a system keeps: sliders ask for them again


class EquilibriumPath:
    """The equilibrium at the origin of a load, continued to any load by tangent and Newton's method.

    A step is accepted where the tangents at both ends agree with it: the path cannot leap to another branch.
    ``end`` is the load beyond which no continuation exists (a fold), once one has been met.
    """

    def __init__(self, case: Bound, load: str, origin: float, z: np.ndarray) -> None:
        self.case, self.load, self.origin = case, load, origin
        self.end: float | None = None
        self._tired = False  # whether it ended because too many steps had been taken
        self._barred: dict[bool, float] = {}  # distances, above and below the origin, at which no path began
        self._known: dict[float, np.ndarray] = {}
        self._loads: list[float] = []
        self._linear: dict[float, Any] = {}
        self._remember(origin, z)

    def solution(self, load: float) -> np.ndarray:
        """The equilibrium at this load."""
        if load in self._known:
            return self._known[load]
        if not math.isfinite(load):
            raise ConvergenceError(f"{self.load} would have to be too large for double precision: use other units")
        z = self._on_line(load)
        if z is None:
            z = self._between(load)
        if z is not None:
            self._remember(load, z)
            return z
        if self.end is not None and (load - self.end) * (self.end - self.origin) > 0:
            raise ConvergenceError(self._no_way(self.end, load))
        upwards, distance = load > self.origin, abs(load - self.origin)
        if distance >= self._barred.get(upwards, math.inf):
            raise ConvergenceError(self._no_way(self.origin, load))
        here, tired = protocol.walk(
            self._nearest(load), load, self._take, SHORTEST, lambda here: self._far(self._known[here])
        )
        if here == load:
            return self._known[load]
        if abs(here - self.origin) <= BARRED * distance and not self._begins(load):
            here = self.origin
            self._loads, self._known = [here], {here: self._known[here]}
        self.end, self._tired = here, tired
        if here == self.origin:
            self._barred[upwards] = BARRED * distance
        raise ConvergenceError(self._no_way(here, load))

    def _take(self, here: float, ahead: float) -> bool:
        z = self._step(here, ahead)
        if z is not None:
            self._remember(ahead, z)
        return z is not None

    def _no_way(self, here: float, load: float) -> str:
        name = self.case.system.name
        if here == self.origin and isinstance(self, LoadPath):
            return (
                f"the equilibrium of {name} at {self.load} = {here:.12g} has no continuation to {load:g}: ask for "
                "others by case.equilibria() or, if the system travels, for its steady motions by case.steady()"
            )
        return f"the equilibrium of {name} {self.ending} and has no continuation to {load:g}"

    @property
    def boundless(self) -> bool:
        """Whether a path that has ended runs to infinity: the nearer to the end, the faster it moves."""
        if self.end is None:
            return False
        away = np.abs(np.array(self._loads) - self.end) / (abs(self.end - self.origin) or 1.0)
        chosen = sorted({int(np.abs(away - share).argmin()) for share in NEARING}, key=lambda k: -away[k])
        points = np.array([self._position(self._known[self._loads[k]]) for k in chosen])
        ways = np.abs(np.diff(points, axis=0)).max(axis=1, initial=0.0)
        return len(ways) > 2 and bool((ways[1:] > ways[:-1]).all())

    @property
    def ending(self) -> str:
        """How and where a path ended, in words."""
        if self._tired:
            return f"cannot be followed beyond {self.load} = {self.end:.12g} in {protocol.STEPS} steps"
        if self.boundless:
            return f"runs to infinity near {self.load} = {self.end:.4g}"
        if self.end == self.origin:
            return f"has no continuation from {self.load} = {self.end:.12g}"
        return f"folds back at {self.load} = {self.end:.12g}"

    def _on_line(self, load: float) -> np.ndarray | None:
        """The point on the line through the two nearest known ones, if it is in balance without correction."""
        if len(self._loads) < 2:
            return None
        place = min(max(bisect(self._loads, load), 1), len(self._loads) - 1)
        z = self._chord(load, *self._loads[place - 1 : place + 1])
        return z if self.residual(z, load) < STRAIGHT else None

    def _chord(self, load: float, a: float, b: float) -> np.ndarray:
        share = (load - a) / (b - a)
        return (1 - share) * self._known[a] + share * self._known[b]

    def _between(self, load: float) -> np.ndarray | None:
        """A point between two known ones that Newton's method reaches from their chord, if it stays near it."""
        place = bisect(self._loads, load)
        if not 0 < place < len(self._loads):
            return None
        a, b = self._loads[place - 1 : place + 1]
        z = self._chord(load, a, b)
        found = self.corrected(z, load)
        chord = np.abs(self._position(self._known[b] - self._known[a])).max(initial=0.0)
        if found is not None and np.abs(self._position(found - z)).max(initial=0.0) <= ASIDE * chord:
            return found
        return z if b - a <= RESOLUTION * max(abs(a), abs(b)) else None  # at a fold itself nothing settles

    def _step(self, here: float, ahead: float) -> np.ndarray | None:
        """The state ahead, if the tangents at both ends of the step agree with it."""
        z, span = self._known[here], ahead - here
        predicted = z + self.tangent(z, here, span) * span
        if not np.isfinite(predicted).all():
            return None
        if self.residual(predicted, ahead) < STRAIGHT:
            return predicted
        found = self.corrected(predicted, ahead)
        if found is None:
            return None
        backward = found - self.tangent(found, ahead, -span) * span
        position = self._position
        moved = np.abs(position(found - z)).max()
        missed = max(np.abs(position(found - predicted)).max(), np.abs(position(backward - z)).max())
        if missed <= CURVED * moved:
            return found
        rounding = max(RESOLUTION * self.size(found, ahead), NOISE * self.changed(found - z))
        if missed <= CURVED * moved + rounding:
            return found
        # Near a load at which nothing resists, the rounding of forces moves far, to one side and the other.
        return found if missed <= CURVED * moved + self.shaken(found, ahead) + self.shaken(z, here) else None

    def _remember(self, load: float, z: np.ndarray) -> None:
        self._known[load] = z
        insort(self._loads, load)

    def _nearest(self, load: float) -> float:
        """The nearest known load on the way: beyond it may be a fold, from which there is no easy way back."""
        place = bisect(self._loads, load)
        return self._loads[place - 1] if load > self.origin else self._loads[place]

    @property
    def fold(self) -> float:
        """Where a path that has ended folds back: the vertex of the parabola through its last points."""
        assert self.end is not None
        away = np.abs(np.array(self._loads) - self.end)
        chosen = {int(away.argmin()), *(int(np.abs(away - share * abs(self.end)).argmin()) for share in LAST)}
        loads = np.array([self._loads[k] for k in sorted(chosen, key=lambda k: away[k])])
        points = np.array([self._known[load] for load in loads])
        along = points[0] - points[-1]
        if len(loads) < 3 or not along.any():
            return self.end
        bent, slope, _ = np.polyfit((points - points[0]) @ along / (along @ along), loads - self.end, 2)
        beyond = -(slope**2) / (4 * bent) if bent else 0.0
        return float(self.end + beyond) if abs(beyond) < LAST[-1] * abs(self.end) else self.end

    def numbers(self, load: float) -> np.ndarray:
        return self.case.numbers_at(self.load, load)

    def linearise(self, load: float) -> Any:
        """The small motions about the equilibrium at this load."""
        if load not in self._linear:
            self._linear[load] = self._linearised(self.solution(load), load)
        return self._linear[load]

    def residual(self, z: np.ndarray, load: float) -> float:
        """How far from balance, each equation relative to its own terms."""
        raise NotImplementedError

    def corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        """The equilibrium that Newton's method reaches."""
        raise NotImplementedError

    def tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        """dz/dload."""
        raise NotImplementedError

    def _position(self, z: np.ndarray) -> np.ndarray:
        """The part of z by which movements are judged."""
        raise NotImplementedError

    def size(self, z: np.ndarray, load: float) -> float:
        """The size of a large movement."""
        raise NotImplementedError

    def changed(self, dz: np.ndarray) -> float:
        """The size of a change, reactions included: they share their rounding with what moves."""
        return float(np.abs(self._position(dz)).max(initial=0.0))

    def shaken(self, z: np.ndarray, load: float) -> float:
        """The largest movement that rounding of the balance may make."""
        return 0.0

    def _begins(self, load: float) -> bool:
        """Whether anything resists a change of the load where the path begins: else rounding alone carries it."""
        return True

    def _far(self, z: np.ndarray) -> bool:
        """Whether the state is farther away than any equilibrium of interest."""
        return False

    def _linearised(self, z: np.ndarray, load: float) -> Any:
        raise NotImplementedError


class LoadPath(EquilibriumPath):
    """The coordinates and reactions (q, p) of a mechanical system, from zero load or another value of it."""

    case: Case

    def __init__(self, case: Case, load: str, fixed: Mapping[str, float], origin: float = 0.0) -> None:
        fixed = {name: number_from(name, value) for name, value in fixed.items()}
        numbers = case.numbers_at(load, origin)
        z, balance = kept_by(case.system, "beginnings of paths", BEGINNINGS).get(
            (load, numbers.tobytes(), *sorted(fixed.items())), lambda: beginning(case, load, fixed, origin)
        )
        super().__init__(case, load, origin, z)
        self.balance = balance.of(case)
        self._units = balance.at(z, numbers).units  # in which stiffnesses and levers are alike

    def residual(self, z: np.ndarray, load: float) -> float:
        return self.balance.residual_by_rows(z, self.numbers(load))

    def corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        found, residual = self.balance.solve(z, self.numbers(load), CORRECTIONS, self._units)
        return found if residual < ACCEPTED else None

    def _position(self, z: np.ndarray) -> np.ndarray:
        return z[: self.balance.statics.n] / self._unit

    def size(self, z: np.ndarray, load: float) -> float:
        """The size of a large displacement: that of the configuration, or one that changes the stiffness."""
        return float(max(np.abs(self._position(z)).max(), self.large))

    def changed(self, dz: np.ndarray) -> float:
        return float(np.abs(dz / self._units).max(initial=0.0))

    def shaken(self, z: np.ndarray, load: float) -> float:
        return float(self._position(self.balance.shaken(z, self.numbers(load), self._units)).max(initial=0.0))

    def _begins(self, load: float) -> bool:
        pushed = self.balance.pushed(self._known[self.origin], self.load, self.origin, load - self.origin)
        return self.balance.resists(self._known[self.origin], self.numbers(self.origin), pushed)

    @property
    def _unit(self) -> np.ndarray:
        """Units of the coordinates."""
        return self._units[: self.balance.statics.n]

    def _far(self, z: np.ndarray) -> bool:
        away = np.abs(self._position(z - self._known[self.origin])).max(initial=0.0)
        return bool(away > FAR * max(self.large, np.abs(self._position(self._known[self.origin])).max(initial=0.0)))

    def moved(self, load: float) -> float:
        """How far the equilibrium is from that at the origin, in units of the coordinates."""
        return float(np.abs(self._position(self.solution(load) - self._known[self.origin])).max(initial=0.0))

    @cached_property
    def large(self) -> float:
        """The displacement, in units of the coordinates, that changes the matrices; infinite if the system is
        linear."""
        z, d, n = self._known[self.origin], self._unit, self.balance.statics.n
        sizes = np.logspace(-15, 15, DISPLACEMENTS)
        q = z[:n, None] + (d * (1 + np.arange(n) % 3) / 3)[:, None] * np.append(0.0, sizes)
        with np.errstate(all="ignore"):
            at = self.balance.statics(q, np.repeat(z[n:, None], q.shape[1], axis=1), self.numbers(self.origin))
            changed = np.any([changed_by(each, d, d) for each in (at.K, at.M, at.C)], axis=0)
            changed |= changed_by(at.A, row_units(at.A[..., 0] * d), d)
        return float(sizes[changed.argmax()]) if changed.any() else np.inf

    def tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        """dz/dload, from the change of the balance with the load at a fixed state."""
        delta = math.copysign(max(PROBE * abs(span), RESOLUTION * abs(load), sys.float_info.min), span)
        pushed = self.balance.pushed(z, self.load, load, delta)
        return self.balance.newton_step(z, self.numbers(load), pushed, self._units)

    def _linearised(self, z: np.ndarray, load: float) -> Any:
        n, numbers = self.balance.statics.n, self.numbers(load)
        return doors.small_motions.linearise(self.case.system, z[:n], z[n:], numbers, self.balance.at(z, numbers))
