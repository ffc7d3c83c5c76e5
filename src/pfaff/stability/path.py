"""An equilibrium followed as a load grows, with its small motions at any load on the way."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping

import numpy as np

from pfaff.case import Case
from pfaff.equilibria import ACCEPTED, Balance, equilibrium_near
from pfaff.errors import ConvergenceError
from pfaff.stability.linear import Linearisation, linearise

FARTHEST = 0.3  # the largest change of any coordinate accepted in one step
SHORTEST = 1e-13  # of the load, relative to the interval


class LoadPath:
    """The equilibrium at zero load, continued to any load by Newton's method in steps that cannot jump.

    ``end`` is the load beyond which no continuation exists (a fold), once one has been met.
    """

    def __init__(self, case: Case, load: str, fixed: Mapping[str, float]) -> None:
        self.case, self.load = case, load
        # The load starts from zero even where its symbol is declared positive.
        origin = equilibrium_near(Case(case.system, {**case.values, load: 0.0}), fixed)
        self.balance = Balance(case, origin.fixed)
        self.end: float | None = None
        self._known: dict[float, np.ndarray] = {}
        self._loads: list[float] = []
        self._remember(0.0, np.concatenate([origin.q, origin.p]))

    def solution(self, load: float) -> np.ndarray:
        """(q, p) at this load."""
        if load in self._known:
            return self._known[load]
        here = self._nearest(load)
        z, step, span = self._known[here], load - here, max(abs(load), abs(here))
        while here != load:
            ahead = load if abs(load - here) <= abs(step) else here + step
            candidate, residual = self.balance.solve(z, self.numbers(ahead))
            if residual < ACCEPTED and self._near(candidate, z):
                here, z = ahead, candidate
                self._remember(here, z)
                step *= 2
                continue
            step /= 2
            if abs(step) < SHORTEST * span:
                self.end = here
                raise ConvergenceError(
                    f"the equilibrium of {self.case.system.name} ends at {self.load} = {here:.12g}: "
                    f"it folds back there and has no continuation to {load:g}"
                )
        return z

    def _remember(self, load: float, z: np.ndarray) -> None:
        self._known[load] = z
        insort(self._loads, load)

    def _nearest(self, load: float) -> float:
        place = bisect(self._loads, load)
        return min(self._loads[max(place - 1, 0) : place + 1], key=lambda known: abs(known - load))

    def _near(self, candidate: np.ndarray, z: np.ndarray) -> bool:
        n = self.balance.statics.n
        return bool(np.abs(candidate[:n] - z[:n]).max() <= FARTHEST)

    def numbers(self, load: float) -> np.ndarray:
        return self.case.numbers_at(self.load, load)

    def linearise(self, load: float) -> Linearisation:
        z, n = self.solution(load), self.balance.statics.n
        return linearise(self.case.system, z[:n], z[n:], self.numbers(load))
