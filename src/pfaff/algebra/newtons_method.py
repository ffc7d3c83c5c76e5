"""Newton's method for any unknowns: the caller supplies one step; the loop and its end are here.

By default it goes on until changes no longer shrink: rounding alone, and no tolerance, limits the number of digits.
A ``Stopping`` says where it ends otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from pfaff.algebra.tolerances import EXACT, NEWTON_STEPS, RANK, SETTLED, ceased

Unknowns = TypeVar("Unknowns")


@dataclass(frozen=True)
class Stopping:
    """When Newton's method ends. Changes are relative to the size of the unknowns, which the caller's step measures."""

    most: int = NEWTON_STEPS  # steps
    exact: float = EXACT  # change after which no further step is worth its cost
    settled: float = SETTLED  # change below which one that hardly shrinks any more is rounding
    shrinks: float = 0.5  # ratio of successive changes from which they hardly shrink
    quadratic: float = 0.0  # the same below which a settled change is the last: the next one would be rounding
    grows: float = np.inf  # the same beyond which steps lead away
    floor: float = 0.0  # change up to which growth is rounding
    first: float = np.inf  # the first change beyond which a guess is given up
    astray: float = np.inf  # the same of every later one

    def ceased(self, change: Any, before: Any) -> Any:
        """Whether changes have come to an end."""
        return ceased(change, before, self.settled, self.exact, self.shrinks, self.quadratic)

    def limit(self, before: Any) -> Any:
        """The change beyond which a step leads away, from that of the one before."""
        if self.grows == np.inf:
            return self.astray
        return np.minimum(np.maximum(self.grows * before, self.floor), self.astray)


class Outcome(Enum):
    """How Newton's method ended."""

    CEASED = "changes have come to an end"
    UNFINISHED = "the most steps were taken"
    ASTRAY = "a step led away or was no number"
    STEPLESS = "there was no step: a singular matrix, or numbers that are not finite"


class Newton(NamedTuple, Generic[Unknowns]):
    """Where the method ended, the last relative change, how it ended, and after how many steps.

    A step that leads away is not taken; the last change is its length.
    """

    at: Unknowns
    change: float
    outcome: Outcome
    steps: int

    @property
    def ceased(self) -> bool:
        """Whether changes have come to an end."""
        return self.outcome is Outcome.CEASED

    @property
    def settled(self) -> bool:
        """Whether the last change is small, even if rounding has kept it from coming to an end."""
        return self.change < SETTLED


def newton(
    step: Callable[[Unknowns], tuple[Unknowns, float] | None], at: Unknowns, stopping: Stopping = Stopping()
) -> Newton[Unknowns]:
    """Newton steps up to their end; ``step`` gives the next iterate and its change relative to the unknowns.

    A ``step`` that returns None, for a singular matrix or numbers that are not finite, ends the method. One that judges
    an iterate by itself, as by what is left of the equations, gives it back with a change of 0 if it is good, else the
    next one with a change of 1.
    """
    change, limit = np.inf, stopping.first
    for steps in range(stopping.most):
        taken = step(at)
        if taken is None:
            return Newton(at, np.inf, Outcome.STEPLESS, steps)
        before, (ahead, change) = change, taken
        if not change <= limit or change == np.inf:
            return Newton(at, change, Outcome.ASTRAY, steps)
        at, limit = ahead, stopping.limit(change)
        if stopping.ceased(change, before):
            return Newton(at, change, Outcome.CEASED, steps + 1)
    return Newton(at, change, Outcome.UNFINISHED, stopping.most)


def newton_columns(
    step: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], at: np.ndarray, stopping: Stopping
) -> tuple[np.ndarray, np.ndarray]:
    """``newton`` on many columns at once, and whose changes have come to an end; those are left alone, as are columns
    that were led away.

    ``step`` gives the next columns and the change of each, NaN where there is no step, from the columns that go on and
    their numbers.
    """
    at, going = at.copy(), np.arange(at.shape[1])
    change, done, limit = np.full(at.shape[1], np.inf), np.full(at.shape[1], False), stopping.first
    for _ in range(stopping.most):
        if not len(going):
            break
        before, (ahead, change) = change, step(at[:, going], going)
        sane = np.isfinite(change) & (change <= limit)
        ended = sane & stopping.ceased(change, before)
        at[:, going[sane]] = ahead[:, sane]
        done[going[ended]] = True
        on = sane & ~ended
        going, change = going[on], change[on]
        limit = stopping.limit(change)
    return at, done


def least_norm(matrix: np.ndarray, right: np.ndarray, rcond: float | None = RANK) -> np.ndarray:
    """The solution of least norm; NaN where the equations are not finite."""
    if np.isfinite(matrix).all() and np.isfinite(right).all():
        with suppress(np.linalg.LinAlgError):
            return np.linalg.lstsq(matrix, right, rcond=rcond)[0]
    return np.full((matrix.shape[1], *right.shape[1:]), np.nan)


def each_solved(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solutions of a stack of equations, which may have several columns; NaN where one is singular."""
    try:
        return np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:
        found = np.full_like(right, np.nan)
        for k, matrix in enumerate(matrices):
            with suppress(np.linalg.LinAlgError):
                found[k] = np.linalg.solve(matrix, right[k])
        return found
