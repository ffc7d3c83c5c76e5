"""A root of a costly function between two values of opposite signs."""

from __future__ import annotations

from collections.abc import Callable

NODES = 5  # values through which a polynomial is laid
HALVINGS = 50  # of an interval, for the root of a polynomial
STALLED = 0.6  # of a bracket left after two evaluations, beyond which it is halved


def bracketed_root(
    function: Callable[[float], float],
    a: float,
    b: float,
    tolerance: float,
    most: int = 60,
    first: float | None = None,
) -> float:
    """Where a function vanishes, by the polynomial through its last values; evaluated there. ``first`` is a guess.

    Of an order near 2 without derivatives, and never outside the bracket; raises ArithmeticError at what is no number.
    """
    low, high = (a, _number(function(a))), (b, _number(function(b)))
    if low[1] * high[1] > 0:
        raise ArithmeticError("no change of sign")
    known, widths = [low, high], [b - a]
    for _ in range(most):
        at = _polynomial_root(known[-NODES:], low, high) if first is None or len(known) > 2 else first
        last = known[-1][0] if len(known) > 2 else None
        if last is not None and (known[-1][1] == 0.0 or abs(at - last) < tolerance or high[0] - low[0] < tolerance):
            return last
        if len(widths) > 2 and widths[-1] > STALLED * widths[-3]:
            at = (low[0] + high[0]) / 2
        found = at, _number(function(at))
        known.append(found)
        if found[1] * low[1] > 0:
            low = found
        else:
            high = found
        widths.append(high[0] - low[0])
    raise ArithmeticError(f"no root after {most} evaluations")


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
        if value * fa > 0:
            a, fa, fb = at, value, fb / 2  # Illinois
        else:
            b, fb, fa = at, value, fa / 2
        if value == 0.0 or abs(at - before) < 1e-15:
            break
    return at
