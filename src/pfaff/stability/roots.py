"""All real roots of smooth functions on an interval, none skipped: Chebyshev proxies and their companion.

Each function is interpolated at Chebyshev points on subintervals so short that the interpolant is exact
to rounding (for a polynomial: exact, period). Its roots are then eigenvalues (Boyd 2002; Trefethen,
Approximation Theory and Approximation Practice, ch. 18). Complex roots close to the axis are looked at
again on a shorter interval, so that two roots that nearly meet are told from none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

POINTS = 33
RESOLVED = 1e-10  # the last coefficients, relative to the largest
DEEPEST = 40  # halvings of the interval
NEAR = 0.02  # a complex root this close to the axis (in half-widths) is a suspect

SignedLog = tuple[np.ndarray, np.ndarray]  # sign and logarithm of each function


def all_roots(functions: Callable[[float], SignedLog], a: float, b: float) -> list[np.ndarray]:
    """The real roots in [a, b] of each of several functions given by sign and logarithm."""
    found: list[list[float]] = []
    _search(functions, a, b, 0, found)
    return [np.array(sorted(roots)) for roots in found]


def _search(functions: Callable[[float], SignedLog], a: float, b: float, depth: int, found: list[list[float]]) -> None:
    middle, half = (a + b) / 2, (b - a) / 2
    nodes = chebyshev.chebpts1(POINTS)
    signs, logs = (np.array(part) for part in zip(*(functions(middle + half * x) for x in nodes), strict=True))
    if not found:
        found.extend([] for _ in range(signs.shape[1]))
    with np.errstate(invalid="ignore"):
        top = logs.max(axis=0)
        values = np.where(np.isfinite(logs), signs * np.exp(logs - np.where(np.isfinite(top), top, 0.0)), 0.0)
    coefficients = np.linalg.solve(chebyshev.chebvander(nodes, POINTS - 1), values)
    unresolved = np.abs(coefficients[-3:]).max(axis=0) > RESOLVED * np.abs(coefficients).max(axis=0)
    if unresolved.any() and depth < DEEPEST:
        _search(functions, a, middle, depth + 1, found)
        _search(functions, middle, b, depth + 1, found)
        return
    suspects: list[tuple[float, float]] = []
    for k, column in enumerate(coefficients.T):
        roots = chebyshev.chebroots(_trimmed(column)) if np.any(column) else np.zeros(0)
        inside = roots[np.abs(roots.real) <= 1 + 1e-9]
        real = np.abs(inside.imag) < 1e-12
        found[k].extend(middle + half * np.clip(inside[real].real, -1, 1))
        suspects.extend((x.real, abs(x.imag)) for x in inside[~real & (np.abs(inside.imag) < NEAR)] if x.imag > 0)
    if depth < DEEPEST:
        for centre, distance in suspects:
            reach = max(8 * distance, 1e-6)
            low, high = max(centre - reach, -1.0), min(centre + reach, 1.0)
            if high - low < 1.0:
                _search(functions, middle + half * low, middle + half * high, DEEPEST, found)


def _trimmed(coefficients: np.ndarray) -> np.ndarray:
    large = np.nonzero(np.abs(coefficients) > 1e-15 * np.abs(coefficients).max())[0]
    return coefficients[: large[-1] + 1]


def bracketed_root(f: Callable[[float], float], a: float, b: float) -> float:
    """A root between points of opposite sign, to rounding (the Illinois method)."""
    fa, fb = f(a), f(b)
    for _ in range(200):
        if fb == 0 or abs(b - a) <= 4e-16 * max(abs(a), abs(b)):
            break
        c = b - fb * (b - a) / (fb - fa)
        fc = f(c)
        if (fc < 0) != (fb < 0):
            a, fa = b, fb
        else:
            fa /= 2
        b, fb = c, fc
    return b
