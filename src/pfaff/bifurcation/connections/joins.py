"""A connecting orbit as a point of a curve: with its tangent, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.bifurcation.connections.arcs import Arc
from pfaff.bifurcation.connections.saddles import Saddle
from pfaff.continuation.endings import Refused


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known about a connecting orbit."""

    saddles: tuple[Saddle, Saddle]
    flips: dict[str, float]  # components along leading vectors, relative to those of the reference
    shift: np.ndarray  # error of the parameters due to the truncated ends
    error: float
    residual: float


@dataclass(frozen=True, eq=False)
class Join:
    """A connecting orbit with its tangent, if it is on a curve."""

    arc: Arc
    tangent: Arc | None
    facts: Facts

    @property
    def direction(self) -> Arc:
        """The tangent of the curve, which an orbit has only in two parameters."""
        if self.tangent is None:
            raise Refused("the orbit is on no curve")
        return self.tangent

    @property
    def homoclinic(self) -> bool:
        return len(self.arc.rests) == 1

    @property
    def saddle_quantity(self) -> float:
        """σ: the sum of the leading growth and decay rates."""
        leaving, coming = self.facts.saddles
        return float(leaving.growing[0].real + coming.decaying[0].real)
