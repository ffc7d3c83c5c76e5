"""A path parametrised by the distance from its origin, for searches outward from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ConvergenceError

if TYPE_CHECKING:
    from pfaff.rest.path import EquilibriumPath


class Outward:
    """A path parametrised by the distance from its origin, towards larger loads or (sign −1) smaller ones."""

    def __init__(self, path: EquilibriumPath, sign: float) -> None:
        self.path, self.sign = path, sign

    def load(self, distance: float) -> float:
        return self.path.origin + self.sign * distance

    def linearise(self, distance: float) -> Any:
        return self.path.linearise(self.load(distance))

    def solution(self, distance: float) -> np.ndarray:
        return self.path.solution(self.load(distance))

    @property
    def end(self) -> float | None:
        """The distance beyond which there is no continuation, once it has been met."""
        return None if self.path.end is None else abs(self.path.end - self.path.origin)

    @property
    def fold(self) -> float:
        """The distance at which a path that has ended folds back."""
        return abs(self.path.fold - self.path.origin)

    def on_the_way(self, share: float, usual: float) -> Any:
        """The small motions at a share of a usual distance, or of the end of the path where it ends before."""
        try:
            return self.linearise(share * min(usual, self.end or math.inf))
        except ConvergenceError:
            if self.end is None:
                raise
            return self.linearise(share * self.end)
