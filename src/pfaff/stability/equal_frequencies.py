"""Frequencies of an undamped system that are equal: always, or at a load at which they cross and do not interact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ALIKE = 1e-8  # relative distance below which frequencies are equal: a double one splits by √ε
LOADS = 81  # loads at which frequencies are compared
GOLDEN = (5**0.5 - 1) / 2
NARROWED = 70  # steps that shrink an interval to rounding


def clusters(squares: np.ndarray) -> list[np.ndarray]:
    """Indices of modes whose frequencies are the same but for rounding."""
    order = np.argsort(squares.real)
    breaks = np.nonzero(np.diff(squares.real[order]) > ALIKE * np.abs(squares.real[order][1:]))[0] + 1
    return np.split(order, breaks)


def crossings(squares: Callable[[float], np.ndarray], top: float) -> list[float]:
    """Loads between zero and ``top`` at which two frequencies are equal that are not so elsewhere."""

    def gaps(load: float) -> np.ndarray:
        values = np.sort(squares(load).real)
        return np.diff(values) / np.maximum(np.abs(values[1:]), np.finfo(float).tiny)

    loads = np.linspace(0.0, top, LOADS)
    apart, found = np.array([gaps(load) for load in loads]), []
    for k, row in enumerate(apart.T):
        for j in np.flatnonzero((row[1:-1] < row[:-2]) & (row[1:-1] <= row[2:])) + 1:
            load = _least(gaps, k, float(loads[j - 1]), float(loads[j + 1]))
            if gaps(load)[k] < ALIKE < np.median(row):
                found.append(load)
    return sorted(found)


def _least(gaps: Callable[[float], np.ndarray], k: int, low: float, high: float) -> float:
    """Where one of the gaps has its only minimum, by golden sections; even a kink, as of |x|, is found to rounding."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = gaps(a)[k], gaps(b)[k]
    for _ in range(NARROWED):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = gaps(a)[k]
        else:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = gaps(b)[k]
    return a if at_a < at_b else b
