"""Parabolas through three values, and Hermite's cubics between two with their slopes.

A cubic goes from s = 0 to s = 1; slopes are those per step. Numbers may be arrays, one cubic for each entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


def shares(s: Any) -> tuple[Any, Any, Any]:
    """What a cubic is made of at s, beside its first value: the shares of its chord and of both slopes."""
    return s * s * (3 - 2 * s), s * (1 - s) ** 2, s * s * (s - 1)


def slope_shares(s: Any) -> tuple[Any, Any, Any]:
    """The same of its derivative."""
    return 6 * s * (1 - s), (1 - s) * (1 - 3 * s), s * (3 * s - 2)


@dataclass(frozen=True)
class Cubic:
    """Hermite's cubic from ``a`` to ``b``."""

    a: Any
    da: Any
    b: Any
    db: Any

    def at(self, s: Any) -> Any:
        chord, first, last = shares(s)
        return self.a + chord * (self.b - self.a) + (first * self.da + last * self.db)

    def slope(self, s: Any) -> Any:
        chord, first, last = slope_shares(s)
        return chord * (self.b - self.a) + first * self.da + last * self.db

    def stationary(self) -> tuple[Any, Any]:
        """Both places where the slope vanishes, or where it is nearest to zero; infinite or NaN where there is but one,
        or none."""
        chord = self.b - self.a  # the slope is da + 2 half s + square s²
        half, square = 3 * chord - 2 * self.da - self.db, 3 * (self.da + self.db - 2 * chord)
        root = half + np.copysign(np.sqrt(np.maximum(half**2 - square * self.da, 0.0)), half)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(-self.da, root), np.divide(-root, square)

    def extremes(self) -> tuple[Any, Any]:
        """The values where it is stationary, in the step or at its nearer end."""
        first, second = (np.clip(np.nan_to_num(s), 0.0, 1.0) for s in self.stationary())
        return self.at(first), self.at(second)


def parabola(*nodes: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Where the parabola through three places with their values is stationary, its value there, and how it bends."""
    (t0, f0), (t1, f1), (t2, f2) = nodes
    slope, next_slope = (f1 - f0) / (t1 - t0), (f2 - f1) / (t2 - t1)
    bend = (next_slope - slope) / (t2 - t0)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (t0 + t1) / 2 - np.divide(slope, 2 * bend)
        return at, f0 + slope * (at - t0) + bend * (at - t0) * (at - t1), bend


def vertex(nodes: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Where the parabola through three values, the first and the last of one sign, is nearest to zero or beyond it, and
    its value there; None if it bends towards zero."""
    at, value, bend = parabola(*nodes)
    return (float(at), float(value)) if bend * nodes[0][1] > 0 else None
