"""An equilibrium followed as a load grows, with its small motions at any load on the way."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pfaff.equilibria import ACCEPTED, Balance, equilibrium_near
from pfaff.errors import ConvergenceError

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.stability.linear import Linearisation

CURVED = 0.3  # share of a step by which the tangents at its ends may miss the other end
RESOLUTION = 1e-9  # movements smaller than this, relatively, are not looked at
STRAIGHT = 1e-15  # residual of a point that needs no correction
SHORTEST = 1e-13  # of the load, relative to the interval
PROBE = 1e-6  # of the load, relative to the step, for the tangent


class LoadPath:
    """The equilibrium at zero load, continued to any load by tangent and Newton's method.

    A step is accepted where the tangents at both ends agree with it: the path cannot leap to another branch.
    ``end`` is the load beyond which no continuation exists (a fold), once one has been met.
    """

    def __init__(self, case: Case, load: str, fixed: Mapping[str, float]) -> None:
        self.case, self.load = case, load
        # The load starts from zero even where its symbol is declared positive.
        origin = equilibrium_near(case.unchecked(**{load: 0.0}), fixed)
        z = np.concatenate([origin.q, origin.p])
        self.balance = self._held(fixed, origin.fixed, z)
        self.end: float | None = None
        self._known: dict[float, np.ndarray] = {}
        self._loads: list[float] = []
        self._linear: dict[float, Linearisation] = {}
        self._remember(0.0, z)

    def _held(self, fixed: Mapping[str, float], at_zero: Mapping[str, float], z: np.ndarray) -> Balance:
        """Family coordinates held along the path: those of the loaded system, if it has fewer than the unloaded one."""
        loaded = Balance(self.case.unchecked(**{self.load: 1.0}), fixed).pinned(z)
        chosen = loaded.fixed if len(loaded.fixed) < len(at_zero) else at_zero
        return Balance(self.case, chosen)

    def solution(self, load: float) -> np.ndarray:
        """(q, p) at this load."""
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
                raise ConvergenceError(
                    f"the equilibrium of {self.case.system.name} ends at {self.load} = {here:.12g}: "
                    f"it folds back there and has no continuation to {load:g}"
                )
        return self._known[load]

    def _between(self, load: float) -> np.ndarray | None:
        """Where the path is straight, a point between two known ones balances as it is."""
        place = bisect(self._loads, load)
        if not 0 < place < len(self._loads):
            return None
        a, b = self._loads[place - 1 : place + 1]
        share = (load - a) / (b - a)
        z = (1 - share) * self._known[a] + share * self._known[b]
        return z if self.balance.relative_residual(z, self.numbers(load)) < STRAIGHT else None

    def _step(self, here: float, ahead: float) -> np.ndarray | None:
        """The state ahead, if the tangents at both ends of the step agree with it."""
        z, span = self._known[here], ahead - here
        predicted = z + self._tangent(z, here, span) * span
        if not np.isfinite(predicted).all():
            return None
        found, residual = self.balance.solve(predicted, self.numbers(ahead))
        if not residual < ACCEPTED:
            return None
        n = self.balance.statics.n
        backward = found - self._tangent(found, ahead, -span) * span
        moved = np.abs(found[:n] - z[:n]).max()
        missed = max(np.abs(found[:n] - predicted[:n]).max(), np.abs(backward[:n] - z[:n]).max())
        return found if missed <= CURVED * moved + RESOLUTION * self._size(found, ahead) else None

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

    def _remember(self, load: float, z: np.ndarray) -> None:
        self._known[load] = z
        insort(self._loads, load)

    def _nearest(self, load: float) -> float:
        place = bisect(self._loads, load)
        return min(self._loads[max(place - 1, 0) : place + 1], key=lambda known: abs(known - load))

    def numbers(self, load: float) -> np.ndarray:
        return self.case.numbers_at(self.load, load)

    def linearise(self, load: float) -> Linearisation:
        from pfaff.stability.linear import linearise

        if load not in self._linear:
            z, n = self.solution(load), self.balance.statics.n
            self._linear[load] = linearise(self.case.system, z[:n], z[n:], self.numbers(load))
        return self._linear[load]
