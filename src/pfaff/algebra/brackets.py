"""A root of a function between two values of opposite signs, by few evaluations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf

from pfaff.algebra.tolerances import EPS

NODES = 5  # values through which a polynomial is laid
HALVINGS = 50  # of an interval, for the root of a polynomial
STALLED = 0.6  # share of a bracket left after two evaluations, beyond which it is halved
STRAIGHT = 0.8  # ratio of two slopes above which they count as equal
ROUNDED = 4 * EPS  # least tolerance, relative to the bracket's ends
FALLS = 0.1  # ratio of successive values below which they converge to a simple root


def bracketed_root(
    function: Callable[[float], float],
    a: float,
    b: float,
    tolerance: float,
    most: int = 150,
    first: float | None = None,
) -> float:
    """Where a function vanishes, by the polynomial through its last values; it is last evaluated there. ``first`` is a
    guess.

    The order is near 2 without derivatives, and trials never leave the bracket. Raises ArithmeticError where the
    function is not a number, and where its sign does not change. A root is accepted where the function is nearly linear
    about it, or enclosed within the tolerance, which is that of x; it may be zero, for rounding.
    """
    a, b = min(a, b), max(a, b)
    tolerance = max(tolerance, ROUNDED * max(abs(a), abs(b)))
    high, low = (b, _number(function(b))), (a, _number(function(a)))
    if _alike(low[1], high[1]):
        raise ArithmeticError("no change of sign")
    if low[1] == 0.0:
        return a
    if high[1] == 0.0:
        function(b)
        return b
    known, widths = [low, high], [b - a]
    for _ in range(most):
        at = _polynomial_root(known[-NODES:], low, high) if first is None or len(known) > 2 else first
        last = known[-1]
        near = len(known) > 2 and abs(at - last[0]) < tolerance
        if len(known) > 2 and (last[1] == 0.0 or high[0] - low[0] < tolerance):
            return last[0]
        if near and len(known) > 3 and _linear_distance(*known[-4:]) < tolerance:
            return last[0]
        if len(widths) > 2 and widths[-1] > STALLED * widths[-3]:
            at = (low[0] + high[0]) / 2
        at = min(max(at, low[0] + tolerance / 2), high[0] - tolerance / 2)  # beyond an end, to enclose a root there
        found = at, _number(function(at))
        known.append(found)
        if _alike(found[1], low[1]):
            low = found
        else:
            high = found
        widths.append(high[0] - low[0])
    raise ArithmeticError(f"no root after {most} evaluations")


def _linear_distance(*places: tuple[float, float]) -> float:
    """An estimate of the distance of the root from the last of places that converge along a line; infinite if they do
    not."""
    *others, last = places
    slopes = [(value - last[1]) / (at - last[0]) for at, value in others]
    straight = all(slopes) and all(STRAIGHT < slope / slopes[-1] < 1 / STRAIGHT for slope in slopes)
    falling = all(abs(after) < FALLS * abs(before) for (_, before), (_, after) in pairwise(places))
    return abs(last[1] / slopes[-1]) if straight and falling else inf


def _alike(a: float, b: float) -> bool:
    """Whether both have the same sign, though their product may underflow."""
    return (a < 0 and b < 0) or (a > 0 and b > 0)


def _number(value: float) -> float:
    if value != value:
        raise ArithmeticError("not a number")
    return float(value)


def _polynomial_root(nodes: list[tuple[float, float]], low: tuple[float, float], high: tuple[float, float]) -> float:
    """A root in the bracket of the polynomial through nodes and bracket, in Newton's form, by regula falsi."""
    used = list(dict(reversed([*nodes, low, high])).items())  # every place once
    coefficients = [value for _, value in used]
    for k in range(1, len(used)):
        for i in range(len(used) - 1, k - 1, -1):
            coefficients[i] = (coefficients[i] - coefficients[i - 1]) / (used[i][0] - used[i - k][0])

    highest = coefficients.pop()
    others = [(used[i][0], coefficients[i]) for i in range(len(coefficients) - 1, -1, -1)]
    (a, fa), (b, fb) = low, high
    at = a
    for _ in range(HALVINGS):
        before, at = at, (a * fb - b * fa) / (fb - fa) if fa != fb else (a + b) / 2
        value = highest
        for node, coefficient in others:
            value = value * (at - node) + coefficient
        if _alike(value, fa):
            a, fa, fb = at, value, fb / 2  # Illinois
        else:
            b, fb, fa = at, value, fa / 2
        if value == 0.0 or abs(at - before) < 1e-15:
            break
    return at
