"""Zeros of functions within steps of Taylor's method: isolated by Bernstein's form of their polynomials, then located.

A function that has changed its sign at the end of a step vanishes there, even if rounding hides it from both
polynomials that meet; one that changes it to and fro within rounding does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any

import numpy as np

LAST_DIGIT = 2.0**-52
DOUBTFUL = 64 * LAST_DIGIT  # of a polynomial's values, relative to the sum of its terms
FINEST = 2.0**-50  # parts of a step that are not divided again
CLOSE = 1e-6  # parts of a step between two crossings that may be rounding


@dataclass(frozen=True)
class Function:
    """How zeros are taken: rising ones (1), falling ones (−1) or both (0), and whether the first ends the motion."""

    direction: int = 0
    stop: bool = False


@dataclass(frozen=True, eq=False)
class Crossing:
    """Where a function vanished: its place among all, the time, the state."""

    function: int
    time: float
    state: np.ndarray


class Lookout:
    """Looks for zeros in steps in which functions may vanish, by their coefficients, and notes them."""

    def __init__(self, functions: tuple[Function, ...], coefficients: np.ndarray) -> None:
        self.functions, self._coefficients = functions, coefficients
        self.found: list[Crossing] = []
        self.forget()

    def forget(self) -> None:
        """What follows does not continue what was."""
        self._signs = np.zeros(len(self.functions))
        self._next = -1

    def __call__(self, sweeper: Any) -> tuple[float, int | None]:
        """The length of the step, up to the first function that ends the motion, and that one."""
        h, time = sweeper.h, (sweeper.time, sweeper.rest)
        before = self._signs if sweeper.taken == self._next else np.zeros(len(self.functions))
        zeros: list[tuple[float, int]] = []
        ends: list[tuple[float, int]] = []
        after = np.zeros(len(self.functions))
        for k, function in enumerate(self.functions):
            if not np.isfinite(self._coefficients[k]).all():
                continue
            roots, after[k] = crossings(self._coefficients[k], h, before[k])
            for s, sign in roots:
                if sign * function.direction >= 0:
                    (ends if function.stop else zeros).append((s * h, k))
        first = min(ends, key=lambda each: abs(each[0]), default=None)
        if first is not None:
            h = first[0]
            zeros = [each for each in zeros if abs(each[0]) < abs(h)]
        for s, k in sorted(zeros + ([first] if first else []), key=lambda each: abs(each[0])):
            state = np.empty(sweeper.n)
            sweeper.at(s, state)
            self.found.append(Crossing(k, time[0] + (s + time[1]), state))
        self._signs, self._next = after, sweeper.taken + 1
        return h, None if first is None else first[1]


def crossings(coefficients: np.ndarray, h: float, before: float) -> tuple[list[tuple[float, int]], float]:
    """Parts of a step at which a polynomial changes its sign, with the new signs, and the sign at the end.

    ``before`` is the sign at the end of the step before, 0 if there was none.
    """
    terms = coefficients * h ** np.arange(len(coefficients))
    noise = DOUBTFUL * np.abs(terms).sum()
    bernstein = _to_bernstein(len(terms) - 1) @ terms
    if before and bernstein[0] * before <= 0 and abs(bernstein[0]) <= noise:
        bernstein[0] = before * np.finfo(float).tiny
    found: list[tuple[float, int]] = []
    _isolate(bernstein, 0.0, 1.0, terms, found)
    if len(found) > 1 and before and found[1][0] < CLOSE and abs(_value(terms, found[1][0] / 2)) <= noise:
        del found[:2]
    signs = np.sign(bernstein[bernstein != 0])
    return found, float(signs[-1]) if len(signs) else 0.0


def _isolate(b: np.ndarray, low: float, high: float, terms: np.ndarray, found: list[tuple[float, int]]) -> None:
    """Zeros between two parts of a step, in order: one where coefficients change their sign once."""
    signs = np.sign(b[b != 0])
    changes = int((signs[1:] != signs[:-1]).sum())
    if not changes:
        return
    if changes == 1:
        found.append((_located(terms, low, high, float(signs[-1])), int(signs[-1])))
        return
    if high - low <= FINEST:
        if signs[0] != signs[-1]:
            found.append((high, int(signs[-1])))
        return
    left, right = _halves(len(b) - 1)
    middle = (low + high) / 2
    _isolate(left @ b, low, middle, terms, found)
    other = right @ b
    last = np.sign((left @ b)[-1])
    if other[0] == 0 and last == 0:  # a zero in the very middle belongs to the second half
        kept = left @ b
        kept = kept[kept != 0]
        other[0] = np.sign(kept[-1]) * np.finfo(float).tiny if len(kept) else 0.0
    _isolate(other, middle, high, terms, found)


def _located(terms: np.ndarray, low: float, high: float, sign: float) -> float:
    """The one zero between two parts of a step, after which the polynomial has a sign: to rounding."""
    slopes = terms[1:] * np.arange(1, len(terms))
    if sign * _value(terms, low) >= 0:
        return low
    if sign * _value(terms, high) <= 0:
        return high
    s = (low + high) / 2
    for _ in range(200):
        value = _value(terms, s)
        if value == 0 or not low < s < high:
            break
        low, high = (s, high) if sign * value < 0 else (low, s)
        slope = _value(slopes, s)
        new = s - value / slope if slope else low
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - s) <= LAST_DIGIT * abs(s):
            return new
        s = new
    return s


def _value(terms: np.ndarray, s: float) -> float:
    value = 0.0
    for term in terms[::-1].tolist():
        value = value * s + term
    return value


@cache
def _to_bernstein(p: int) -> np.ndarray:
    """From coefficients of powers on [0, 1] to Bernstein's, b_i = Σ C(i, k)/C(p, k) a_k."""
    return np.array([[comb(i, k) / comb(p, k) for k in range(p + 1)] for i in range(p + 1)])


@cache
def _halves(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Bernstein's coefficients on both halves of an interval (de Casteljau)."""
    left = np.array([[comb(i, k) / 2**i for k in range(p + 1)] for i in range(p + 1)])
    return left, left[::-1, ::-1].copy()
