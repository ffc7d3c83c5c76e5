"""Where eigenvalues of large sparse flows cross the imaginary axis between two points, and how many at each place.

Arnoldi's method tells which eigenvalue is the next from the right, where all growing ones are known. From there it is
followed to the axis by inverse iteration, at a fraction of the cost; on arrival its order is determined again, and if
others have come between, the search goes on with the one that is next now.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pfaff.algebra.tolerances import REAL, ceased
from pfaff.bifurcation.equilibria.eigenvalues import unstable
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.continuation.problem import FAILURES
from pfaff.stability.rightmost import followed

Values = Callable[[Spot], np.ndarray]
Place = tuple[float, Spot]  # as a fraction of the chord between two points

TOGETHER = 1e-5  # share of a step within which eigenvalues cross at one place
ON_AXIS = 1e-8  # growth rates below this, relative to those at the ends of a step, are zero
ROUNDS = 4  # rounds of following, after which all eigenvalues are computed at every trial
TRIALS = 16  # most trials of the secant method
PLACE, SLOW = 1e-14, 1e-9  # changes, relative to the step, that are rounding: in any case, and if they no longer shrink


def decisive(spot: Spot) -> np.ndarray:
    values: np.ndarray = spot.facts.decisive
    return values


def crossings(engine: Any, a: Spot, b: Spot, values: Values = decisive) -> list[tuple[Spot, int]]:
    """Where eigenvalues, or some of them, cross the imaginary axis between two points, and how many at each place."""
    counts = [unstable(values(spot)) for spot in (a, b)]
    found: list[list[Any]] = []
    order = min(counts) + 1
    while order <= max(counts):
        rate = partial(_real_part, values, order)
        place = _arrival(engine.problem.chord(a, b), a, b, values, order) or engine.located(a, b, rate)
        if place is None:
            order += 1
            continue
        at, spot = place
        together = 1 + int(_pair(values(spot), order))  # both of a pair
        if found and abs(found[-1][0] - at) < TOGETHER:
            found[-1][2] += together
        else:
            found.append([at, spot, together])
        order += together
    return [(spot, many) for _, spot, many in found]


def _arrival(between: Callable[[float], Spot], a: Spot, b: Spot, values: Values, order: int) -> Place | None:
    """Where the eigenvalue of this order reaches the axis, by following; None where following does not lead there."""
    low, high = (0.0, a), (1.0, b)
    first, last = (_real_part(values, order, spot) for spot in (a, b))
    if a.facts.matrix is None or not first * last < 0:
        return None
    for _ in range(ROUNDS):
        try:
            at, spot, left = _to_axis(between, low, high, values, order)
        except FAILURES:
            return None
        found = _real_part(values, order, spot)
        if max(abs(found), abs(left)) <= ON_AXIS * max(abs(first), abs(last)):
            return at, spot
        if not found * first * last:
            return None
        low, high = ((at, spot), high) if found * first > 0 else (low, (at, spot))
    return None


def _to_axis(
    between: Callable[[float], Spot], low: Place, high: Place, values: Values, order: int
) -> tuple[float, Spot, float]:
    """Where the eigenvalue that has this order at the nearer end reaches the axis, and its remaining real part there:
    by the secant method."""
    rates = [_real_part(values, order, spot) for _, spot in (low, high)]
    start, spot = min(zip((low, high), rates, strict=True), key=lambda end: abs(end[1]))[0]
    value, vector = spot.facts.eigenpair(_in_order(values(spot), order))
    before, at = (start, value), low[0] + (high[0] - low[0]) * rates[0] / (rates[0] - rates[1])
    guess, shortest = complex(0.0, value.imag), np.inf
    for _ in range(TRIALS):
        spot = between(at)
        value, vector = followed(spot.facts.matrix, guess, vector)
        slope = (value - before[1]) / (at - before[0])
        step = -value.real / slope.real if slope.real else np.inf
        if ceased(abs(step), shortest, SLOW, PLACE):
            return at, spot, value.real
        before, shortest = (at, value), abs(step)
        at, guess = at + step, value + step * slope
        if not low[0] <= at <= high[0]:
            break
    raise Refused("this eigenvalue does not pass the imaginary axis here")


def _in_order(values: np.ndarray, order: int) -> complex:
    """The eigenvalue of this order, counted from the right."""
    return complex(values[np.argsort(-values.real, kind="stable")[order - 1]])


def _real_part(values: Values, order: int, spot: Spot) -> float:
    """The real part of the eigenvalue of this order, counted from the right: continuous, whichever eigenvalues meet."""
    known = np.sort(values(spot).real)
    return float(known[-order]) if len(known) >= order else np.nan


def _pair(values: np.ndarray, order: int) -> bool:
    value = _in_order(values, order)
    return bool(abs(value.imag) > REAL * abs(value))
