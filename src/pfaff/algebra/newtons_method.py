"""Newton's method for any unknowns: the caller supplies one step; the loop and its end are here.

It goes on until changes no longer shrink: rounding alone, and no tolerance, limits the number of digits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from pfaff.algebra.tolerances import EXACT, NEWTON_STEPS, RANK, SETTLED, ceased

Unknowns = TypeVar("Unknowns")


class Newton(NamedTuple, Generic[Unknowns]):
    """Where the method ended, the last relative change, and whether changes had ceased to shrink there."""

    at: Unknowns
    change: float
    ceased: bool

    @property
    def settled(self) -> bool:
        """Whether the last change is small, even if rounding has kept it from coming to an end."""
        return self.change < SETTLED


def newton(
    step: Callable[[Unknowns], tuple[Unknowns, float] | None],
    at: Unknowns,
    most: int = NEWTON_STEPS,
    settled: float = SETTLED,
    enough: float = EXACT,
) -> Newton[Unknowns]:
    """Newton steps until their changes cease to shrink, ``most`` at most; ``step`` gives the next iterate and its
    relative change.

    The change is relative to the size of the unknowns; where steps are costly, one with a change below ``enough`` is
    the last. A ``step`` that returns None, for a singular matrix or numbers that are not finite, ends the method.
    """
    change = np.inf
    for _ in range(most):
        taken = step(at)
        if taken is None:
            return Newton(at, np.inf, False)
        before, (at, change) = change, taken
        if ceased(change, before, settled, enough):
            return Newton(at, change, True)
    return Newton(at, change, False)


def newton_columns(
    step: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    at: np.ndarray,
    most: int = NEWTON_STEPS,
    settled: float = SETTLED,
) -> tuple[np.ndarray, np.ndarray]:
    """``newton`` on many columns at once, and which have settled; those that have are left alone.

    ``step`` gives the next columns and the change of each: NaN where there is no step.
    """
    at, going = at.copy(), np.arange(at.shape[1])
    done = np.full(at.shape[1], False)
    for _ in range(most):
        if not len(going):
            break
        led, change = step(at[:, going])
        sane = np.isfinite(change)
        going, led, change = going[sane], led[:, sane], change[sane]
        at[:, going] = led
        done[going[change < settled]] = True
        going = going[change >= settled]
    return at, done


def least_norm(matrix: np.ndarray, right: np.ndarray, rcond: float | None = RANK) -> np.ndarray:
    """The solution of least norm; NaN where the equations are not finite."""
    if np.isfinite(matrix).all() and np.isfinite(right).all():
        with suppress(np.linalg.LinAlgError):
            return np.linalg.lstsq(matrix, right, rcond=rcond)[0]
    return np.full((matrix.shape[1], *right.shape[1:]), np.nan)
