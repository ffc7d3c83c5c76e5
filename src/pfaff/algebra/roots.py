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
ROUNDING = 1e-6  # a tail larger than this is never taken for rounding
SPREAD = 18.0  # e-folds that a function may vary on one subinterval, so that rounding hides no root
DEEPEST = 10  # halvings of the interval
EDGE, AXIS = 1e-9, 1e-12  # how far beyond an end, and off the axis, rounding moves roots (in half-widths)
NEGLIGIBLE = 1e-15  # last coefficients, relative to the largest, that are rounding
CLOSEST = 1e-6  # smallest relative surroundings in which a suspect is examined
NEAR = 0.02  # a complex root this close to the axis (in half-widths) is a suspect

SignedLog = tuple[np.ndarray, np.ndarray, np.ndarray]  # sign, logarithm and logarithm of the error of each function

NODES = chebyshev.chebpts1(POINTS)
TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(NODES, POINTS - 1))


def all_roots(functions: Callable[[float], SignedLog], a: float, b: float) -> list[np.ndarray]:
    """The real roots in [a, b] of each of several functions given by sign, logarithm and error."""
    found: list[set[float]] = [set() for _ in functions(a)[0]]
    _search(functions, a, b, 0, np.full(len(found), np.inf), found)
    return [np.array(sorted(roots)) for roots in found]


def _search(
    functions: Callable[[float], SignedLog], a: float, b: float, depth: int, parent: np.ndarray, found: list[set[float]]
) -> None:
    middle, half = (a + b) / 2, (b - a) / 2
    samples = zip(*(functions(middle + half * x) for x in NODES), strict=True)
    signs, logs, errors = (np.array(part) for part in samples)
    coefficients = TO_COEFFICIENTS @ _scaled(signs, logs)
    tails = np.abs(coefficients[-3:]).max(axis=0) / np.maximum(np.abs(coefficients).max(axis=0), np.finfo(float).tiny)
    # Halving shrinks the small tail of a smooth function at once; one that stays is rounding, not structure.
    threshold = np.maximum(RESOLVED, np.exp(np.minimum(errors.max(axis=0) - logs.max(axis=0), 0.0)))
    unresolved = (tails > threshold) & ((tails > ROUNDING) | (tails < 0.1 * parent))
    if (unresolved.any() or _spread(logs) > SPREAD) and depth < DEEPEST:
        _search(functions, a, middle, depth + 1, tails, found)
        _search(functions, middle, b, depth + 1, tails, found)
        return
    suspects: list[tuple[float, float]] = []
    for k, column in enumerate(coefficients.T):
        roots = chebyshev.chebroots(_trimmed(column)) if np.any(column) else np.zeros(0)
        inside = roots[np.abs(roots.real) <= 1 + EDGE]
        real = np.abs(inside.imag) < AXIS
        found[k].update((middle + half * np.clip(inside[real].real, -1, 1)).tolist())
        suspects.extend((x.real, x.imag) for x in inside[~real] if 0 < x.imag < NEAR)
    for centre, distance in suspects:
        reach = max(8 * distance, CLOSEST)
        low, high = max(centre - reach, -1.0), min(centre + reach, 1.0)
        if depth <= DEEPEST and high - low < 1.0:
            _search(functions, middle + half * low, middle + half * high, DEEPEST + 1, tails, found)


def _scaled(signs: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """The functions' values, each divided by its largest modulus on the interval."""
    top = logs.max(axis=0)
    return np.where(np.isfinite(logs), signs * np.exp(logs - np.where(np.isfinite(top), top, 0.0)), 0.0)


def _spread(logs: np.ndarray) -> float:
    """The largest variation in e-folds, the node nearest to a root left out of each function."""
    ordered = np.sort(np.where(np.isfinite(logs), logs, -745.0), axis=0)
    return float((ordered[-1] - ordered[2]).max())


def _trimmed(coefficients: np.ndarray) -> np.ndarray:
    large = np.nonzero(np.abs(coefficients) > NEGLIGIBLE * np.abs(coefficients).max())[0]
    return coefficients[: large[-1] + 1]
