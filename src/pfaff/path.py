"""An equilibrium followed as a load grows, with its small motions at any load on the way."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pfaff.case import Case
from pfaff.equilibria import ACCEPTED, Balance, equilibrium_near
from pfaff.errors import ConvergenceError

if TYPE_CHECKING:
    from pfaff.stability.linear import Linearisation

CURVED = 0.2  # the corrector may move the coordinates by this share of what the tangent predicts
RESOLUTION = 1e-9  # movements smaller than this, relative to the largest coordinate, are not looked at
SHORTEST = 1e-13  # of the load, relative to the interval
PROBE = 1e-6  # of the load, relative to the step, for the tangent


class LoadPath:
    """The equilibrium at zero load, continued to any load by tangent and Newton's method.

    A step is accepted where the corrector hardly changes what the tangent predicts: the path cannot leap to
    another branch. ``end`` is the load beyond which no continuation exists (a fold), once one has been met.
    """

    def __init__(self, case: Case, load: str, fixed: Mapping[str, float]) -> None:
        self.case, self.load = case, load
        # The load starts from zero even where its symbol is declared positive.
        origin = equilibrium_near(Case(case.system, {**case.values, load: 0.0}), fixed)
        z = np.concatenate([origin.q, origin.p])
        self.balance = self._held(fixed, origin.fixed, z)
        self.end: float | None = None
        self._known: dict[float, np.ndarray] = {}
        self._loads: list[float] = []
        self._remember(0.0, z)

    def _held(self, fixed: Mapping[str, float], at_zero: Mapping[str, float], z: np.ndarray) -> Balance:
        """Family coordinates held along the path: those of the loaded system, if it has fewer than the unloaded one."""
        loaded = Balance(Case(self.case.system, {**self.case.values, self.load: 1.0}), fixed).pinned(z)
        chosen = loaded.fixed if len(loaded.fixed) < len(at_zero) else at_zero
        return Balance(self.case, chosen)

    def solution(self, load: float) -> np.ndarray:
        """(q, p) at this load."""
        if load in self._known:
            return self._known[load]
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
        return z

    def _step(self, here: float, ahead: float) -> np.ndarray | None:
        z = self._known[here]
        predicted = z + self._tangent(here, ahead) * (ahead - here)
        if not np.isfinite(predicted).all():
            return None
        found, residual = self.balance.solve(predicted, self.numbers(ahead))
        if not residual < ACCEPTED:
            return None
        n = self.balance.statics.n
        moved, corrected = (np.abs(a[:n] - b[:n]).max() for a, b in ((predicted, z), (found, predicted)))
        small = RESOLUTION * np.abs(found[:n]).max(initial=0.0)
        return found if corrected <= CURVED * moved + small else None

    def _tangent(self, here: float, ahead: float) -> np.ndarray:
        """dz/dload, from the change of the balance with the load at a state that stays."""
        z, delta = self._known[here], PROBE * (ahead - here)
        before, after = (self.balance.evaluate(z, self.numbers(x))[0] for x in (here, here + delta))
        return self.balance.newton_step(z, self.numbers(here), (after - before) / delta)

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

        z, n = self.solution(load), self.balance.statics.n
        return linearise(self.case.system, z[:n], z[n:], self.numbers(load))
