"""What can rest under a load, and be followed as it changes: systems, plain ODEs and assemblies alike.

The linear algebra stays with each of them: a path asks for corrected states and tangents, however they are solved for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from math import copysign, inf
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.engine import Engine
from pfaff.continuation.problem import Event, Pace, Problem

STEPS = 500  # most steps from one load to another; each doubles the last or halves it, so that tens are many


@runtime_checkable
class UnderLoad(Protocol):
    """A state z at rest at any load: coordinates and reactions, or the states of an ODE."""

    end: float | None  # the load beyond which there is no continuation, once one has been met

    def corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        """The state at rest that Newton's method reaches."""

    def tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        """dz/dload, for a step of some span."""

    def size(self, z: np.ndarray, load: float) -> float:
        """The size of a large movement."""

    def linearise(self, load: float) -> Any:
        """The small motions about the state at rest."""


class Loads(Problem[float]):
    """Loads on the way to another, as a problem of continuation: a path takes each step and remembers its state."""

    def __init__(
        self, to: float, shortest: float, take: Callable[[float, float], bool], enough: Callable[[float], bool]
    ) -> None:
        self.to, self.take, self.enough = to, take, enough
        self.pace = Pace(first=1.0, smallest=shortest, growth=2.0)

    def ahead(self, at: float, length: float) -> tuple[float, float]:
        load = self.to if abs(self.to - at) <= length else at + copysign(length, self.to - at)
        if not self.take(at, load):
            raise Refused("the tangents at both ends of the step do not agree with it")
        return load, 0.0

    def value(self, point: float) -> float:
        return point

    def events(self, engine: Any, a: float, b: float, length: float, last: bool) -> list[Event[float]]:
        return []

    def returns(self, a: float, b: float, home: float) -> bool:
        return False

    def ended(self, passed: Sequence[float]) -> tuple[None, Ending] | None:
        far = self.enough(passed[-1])
        return (None, Ending(Reason.SINGULAR, "farther away than any state of interest")) if far else None


def walk(
    here: float,
    load: float,
    take: Callable[[float, float], bool],
    shortest: float,
    enough: Callable[[float], bool] = lambda here: False,
) -> tuple[float, bool]:
    """The last load reached on the way to another, and whether that took too many steps: a refused step is halved, the
    next one doubled.

    The walk ends where steps are shorter than ``shortest``, relatively, or where ``enough`` says so.
    """
    if here == load:
        return here, False
    way, steps = load - here, count(1)
    problem = Loads(load, shortest * max(abs(load), abs(here)), take, lambda here: enough(here) or next(steps) >= STEPS)
    for item in Engine[float](problem).follow(here, abs(way), (load, -copysign(inf, way))):
        here = here if isinstance(item, Ending | Event) else item
    return here, next(steps) > STEPS
