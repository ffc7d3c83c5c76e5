"""An equilibrium followed as a parameter changes, with its small motions at any value on the way."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.equilibria import ACCEPTED, Balance, check_rests, equilibrium_near
from pfaff.errors import ConvergenceError, PfaffError, SingularMassError

if TYPE_CHECKING:
    from pfaff.case import Bound, Case, OdeCase

CURVED = 0.3  # share of a step by which the tangents at its ends may miss the other end
RESOLUTION = 1e-9  # movements smaller than this, relatively, are not looked at
STRAIGHT = 1e-15  # residual of a point that needs no correction
SHORTEST = 1e-13  # of the load, relative to the interval
NEARBY, NEARER = 1e-3, 8  # a neighbouring load, relative; how often it is looked for at a quarter of that
LAST = (1e-8, 4e-8)  # distances from the end of a path, relative to its load, of points that tell where it folds
PROBE = 1e-6  # of the load, relative to the step, for the tangent


class Path:
    """The equilibrium at the origin of a load, continued to any load by tangent and Newton's method.

    A step is accepted where the tangents at both ends agree with it: the path cannot leap to another branch.
    ``end`` is the load beyond which no continuation exists (a fold), once one has been met.
    """

    def __init__(self, case: Bound, load: str, origin: float, z: np.ndarray) -> None:
        self.case, self.load, self.origin = case, load, origin
        self.end: float | None = None
        self._known: dict[float, np.ndarray] = {}
        self._loads: list[float] = []
        self._linear: dict[float, Any] = {}
        self._remember(origin, z)

    def solution(self, load: float) -> np.ndarray:
        """The equilibrium at this load."""
        if load in self._known:
            return self._known[load]
        between = self._between(load)
        if between is not None:
            self._remember(load, between)
            return between
        here = self._nearest(load)
        step, span = load - here, max(abs(load), abs(here))
        while here != load:
            ahead = load if abs(load - here) <= abs(step) else here + step
            z = self._step(here, ahead)
            if z is not None:
                here, step = ahead, 2 * step
                self._remember(here, z)
                continue
            step /= 2
            if abs(step) < SHORTEST * span:
                self.end = here
                raise ConvergenceError(self._no_way(here, load))
        return self._known[load]

    def _no_way(self, here: float, load: float) -> str:
        name = self.case.system.name
        if here == self.origin and isinstance(self, LoadPath):
            return (
                f"the equilibrium of {name} at {self.load} = {here:.12g} has no continuation to {load:g}: nothing "
                "rests near it there. If the system travels, ask for its steady motions by case.steady()"
            )
        return (
            f"the equilibrium of {name} ends at {self.load} = {here:.12g}: it folds back there and has no continuation "
            f"to {load:g}"
        )

    def _between(self, load: float) -> np.ndarray | None:
        """Where the path is straight, a point between two known ones is in balance as it is."""
        place = bisect(self._loads, load)
        if not 0 < place < len(self._loads):
            return None
        a, b = self._loads[place - 1 : place + 1]
        share = (load - a) / (b - a)
        z = (1 - share) * self._known[a] + share * self._known[b]
        return z if self._residual(z, load) < STRAIGHT else None

    def _step(self, here: float, ahead: float) -> np.ndarray | None:
        """The state ahead, if the tangents at both ends of the step agree with it."""
        z, span = self._known[here], ahead - here
        predicted = z + self._tangent(z, here, span) * span
        if not np.isfinite(predicted).all():
            return None
        found = self._corrected(predicted, ahead)
        if found is None:
            return None
        backward = found - self._tangent(found, ahead, -span) * span
        position = self._position
        moved = np.abs(position(found - z)).max()
        missed = max(np.abs(position(found - predicted)).max(), np.abs(position(backward - z)).max())
        return found if missed <= CURVED * moved + RESOLUTION * self._size(found, ahead) else None

    def _remember(self, load: float, z: np.ndarray) -> None:
        self._known[load] = z
        insort(self._loads, load)

    def _nearest(self, load: float) -> float:
        place = bisect(self._loads, load)
        return min(self._loads[max(place - 1, 0) : place + 1], key=lambda known: abs(known - load))

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

    def _residual(self, z: np.ndarray, load: float) -> float:
        """How far from balance, relatively."""
        raise NotImplementedError

    def _corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        """The equilibrium that Newton's method reaches."""
        raise NotImplementedError

    def _tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        """dz/dload."""
        raise NotImplementedError

    def _position(self, z: np.ndarray) -> np.ndarray:
        """The part of z by which movements are judged."""
        raise NotImplementedError

    def _size(self, z: np.ndarray, load: float) -> float:
        """What counts as a large movement."""
        raise NotImplementedError

    def _linearised(self, z: np.ndarray, load: float) -> Any:
        raise NotImplementedError


class LoadPath(Path):
    """The coordinates and reactions (q, p) of a mechanical system, from zero load or another value of it."""

    case: Case

    def __init__(self, case: Case, load: str, fixed: Mapping[str, float], origin: float = 0.0) -> None:
        # The load starts from zero even where its symbol is declared positive.
        try:
            first = equilibrium_near(case.unchecked(**{load: origin}), fixed)
        except (ConvergenceError, SingularMassError) as problem:
            raise type(problem)(
                f"{problem}; this is at {load} = {origin:g}, where the path of the load begins"
            ) from None
        z = np.concatenate([first.q, first.p])
        super().__init__(case, load, origin, z)
        self.balance = self._held(fixed, first.fixed, z)

    def _held(self, fixed: Mapping[str, float], at_zero: Mapping[str, float], z: np.ndarray) -> Balance:
        """Family coordinates held along the path: those of the loaded system, if it has fewer than the unloaded one."""
        if self.origin:
            return Balance(self.case, at_zero)
        loaded = Balance(self.case.unchecked(**{self.load: 1.0}), fixed)
        check_rests(loaded, z, self.load)
        loaded = loaded.pinned(z)
        chosen = loaded.fixed if len(loaded.fixed) < len(at_zero) else at_zero
        return Balance(self.case, chosen)

    def _residual(self, z: np.ndarray, load: float) -> float:
        return self.balance.relative_residual(z, self.numbers(load))

    def _corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        found, residual = self.balance.solve(z, self.numbers(load))
        return found if residual < ACCEPTED else None

    def _position(self, z: np.ndarray) -> np.ndarray:
        return z[: self.balance.statics.n]

    def _size(self, z: np.ndarray, load: float) -> float:
        """What counts as a large displacement: the configuration itself, or what its forces do to its stiffness."""
        n = self.balance.statics.n
        at = self.balance.statics(z[:n], z[n:], self.numbers(load))
        force, stiffness = np.abs(at.A.T @ z[n:]).max(initial=0.0), np.abs(at.K).max()
        return float(max(np.abs(z[:n]).max(), force / stiffness if stiffness else 0.0))

    def _tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        """dz/dload, from the change of the balance with the load at a state that stays."""
        delta = PROBE * span
        if load + delta == load:
            return np.zeros_like(z)
        before, after = (self.balance.evaluate(z, self.numbers(x))[0] for x in (load, load + delta))
        return self.balance.newton_step(z, self.numbers(load), (after - before) / delta)

    def _linearised(self, z: np.ndarray, load: float) -> Any:
        from pfaff.stability.linear import linearise

        n = self.balance.statics.n
        return linearise(self.case.system, z[:n], z[n:], self.numbers(load))


class StatePath(Path):
    """The states of a plain ODE, from the value that its parameter has."""

    case: OdeCase

    def __init__(self, case: OdeCase, load: str, start: Mapping[str, float]) -> None:
        from pfaff.steady import steady_near

        self.flow = case.system.flow
        origin = float(case.numbers[case.system.parameter_names.index(load)])
        super().__init__(case, load, origin, steady_near(case, start).x)

    def _residual(self, z: np.ndarray, load: float) -> float:
        J = self.flow.jacobian(z, self.numbers(load))
        return float(np.abs(self.flow.rhs(z, self.numbers(load))).max() / (np.abs(J).max() * np.abs(z).max() or 1.0))

    def _corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        from pfaff.steady import newton

        numbers = self.numbers(load)
        try:
            found, settled = newton(lambda x: self.flow.rhs(x, numbers), lambda x: self.flow.jacobian(x, numbers), z)
        except (np.linalg.LinAlgError, PfaffError):
            return None
        return found if settled else None

    def _position(self, z: np.ndarray) -> np.ndarray:
        return z

    def _size(self, z: np.ndarray, load: float) -> float:
        return float(1 + np.abs(z).max())

    def _tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        from pfaff.steady import bordering

        numbers = self.numbers(load)
        J = self.flow.jacobian(z, numbers)
        return -bordering(J).solve(J, self.flow.parameter_jacobian(z, numbers, [self.load])[:, 0])

    @cached_property
    def zeros(self) -> int:
        """Zero eigenvalues that persist as the load changes: of families of equilibria, not of a bifurcation."""
        from pfaff.steady import bordering

        solutions = [(self._known[load], self.numbers(load)) for load in (self.origin, self._beside())]
        return min(bordering(self.flow.jacobian(*each)).right.shape[1] for each in solutions)

    def _beside(self) -> float:
        """A neighbouring load that one step reaches, on either side: near a fold a very near one."""
        apart = NEARBY * (1 + abs(self.origin))
        for load in (self.origin + side * apart / 4**k for k in range(NEARER) for side in (1, -1)):
            z = self._step(self.origin, load)
            if z is not None:
                self._remember(load, z)
                return load
        return self.origin

    def _linearised(self, z: np.ndarray, load: float) -> Any:
        from pfaff.steady import linearise_flow

        return linearise_flow(self.flow.jacobian(z, self.numbers(load)), self.zeros)


class Outward:
    """A path by the distance from its origin, towards larger loads or (sign −1) smaller ones."""

    def __init__(self, path: Path, sign: float) -> None:
        self.path, self.sign = path, sign

    def load(self, distance: float) -> float:
        return self.path.origin + self.sign * distance

    def linearise(self, distance: float) -> Any:
        return self.path.linearise(self.load(distance))

    def solution(self, distance: float) -> np.ndarray:
        return self.path.solution(self.load(distance))

    @property
    def end(self) -> float | None:
        return None if self.path.end is None else abs(self.path.end - self.path.origin)
