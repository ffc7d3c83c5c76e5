"""Zeros of functions within steps of Taylor's method: isolated by Bernstein's form of their polynomials, then located.

A function that has changed its sign at the end of a step vanishes there, even if rounding hides it from both
polynomials that meet; one that changes it to and fro within rounding does not. Where a function has no series its
values at a few times are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import comb
from typing import Any

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton

LAST_DIGIT = 2.0**-52
BRACKETED = Stopping(200, exact=LAST_DIGIT, settled=0.0)  # where steps fail, the bracket is halved
DOUBTFUL = 64 * LAST_DIGIT  # of a polynomial's values, relative to the sum of its terms
FINEST = 2.0**-50  # parts of a step that are not divided again
CLOSE = 1e-6  # parts of a step between two crossings that may be rounding
PARTS = np.linspace(0, 1, 33)  # of a step, at which a function without a series is compared
NUDGE = 2.0**-26  # relative: what a state is changed by to see what its rounding does


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

    def __init__(
        self,
        functions: tuple[Function, ...],
        coefficients: np.ndarray,
        values: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> None:
        """``values`` are those of all functions at several states and times, one column each."""
        self.functions, self._coefficients, self._values = functions, coefficients, values
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
            series = self._coefficients[k]
            if not np.isfinite(series).all():
                roots, after[k] = crossings_of_values(partial(self._along, sweeper, h, k), before[k])
            else:
                roots, after[k] = crossings(series, h, before[k])
                if roots and np.abs(series) @ np.abs(h) ** np.arange(len(series)) <= self._noise(sweeper)[k]:
                    roots, after[k] = [], before[k]  # in all of the step the function is rounding
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

    def _along(self, sweeper: Any, h: float, k: int, parts: np.ndarray) -> np.ndarray:
        """Values of a function at parts of the step."""
        states = np.empty((len(parts), sweeper.n))
        for s, state in zip(parts * h, states, strict=True):
            sweeper.at(s, state)
        return self._values(states.T, sweeper.time + (parts * h + sweeper.rest))[k]

    def _noise(self, sweeper: Any) -> Any:
        """What the last digits of the state make of each function."""
        state = np.empty(sweeper.n)
        sweeper.at(0.0, state)
        states = np.column_stack([state, state[:, None] * (1 + NUDGE * np.eye(sweeper.n))])
        values = self._values(states, np.full(sweeper.n + 1, sweeper.time))
        with np.errstate(invalid="ignore"):  # of a function that is infinite here
            return LAST_DIGIT / NUDGE * np.abs(values[:, 1:] - values[:, :1]).sum(axis=1)


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


def crossings_of_values(
    values: Callable[[np.ndarray], np.ndarray], before: float
) -> tuple[list[tuple[float, int]], float]:
    """The same of a function that is known by its values alone: zeros between two of them of different signs.

    None is where it is no number between them, nor where it jumps or has a pole.
    """
    found: list[tuple[float, int]] = []
    last = (0.0, before, before) if before else None  # part, value, sign
    for s, value in zip(PARTS.tolist(), values(PARTS).tolist(), strict=True):
        if np.isnan(value):
            last = None
        elif value:
            sign = float(np.sign(value))
            if last and last[2] != sign:
                root = _bisected(values, last[0], s, sign, min(abs(last[1]), abs(value)))
                found += [(root, int(sign))] if root is not None else []
            last = (s, value, sign)
    return found, last[2] if last else 0.0


def _bisected(
    values: Callable[[np.ndarray], np.ndarray], low: float, high: float, sign: float, least: float
) -> float | None:
    """Where a function gets a sign, if that is a zero: nearer to it than both ends."""
    value = 0.0
    while low < (middle := (low + high) / 2) < high and high - low > LAST_DIGIT:
        value = float(values(np.array([middle]))[0])
        if np.isnan(value):
            return None
        low, high = (low, middle) if sign * value >= 0 else (middle, high)
    return high if abs(value) <= least else None


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

    def step(s: float) -> tuple[float, float]:
        nonlocal low, high
        value = _value(terms, s)
        if value == 0 or not low < s < high:
            return s, 0.0
        low, high = (s, high) if sign * value < 0 else (low, s)
        slope = _value(slopes, s)
        new = s - value / slope if slope else low
        if not low < new < high:
            new = (low + high) / 2
        return new, abs(new - s) / s

    return newton(step, (low + high) / 2, BRACKETED).at


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
