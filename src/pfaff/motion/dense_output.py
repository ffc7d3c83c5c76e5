"""The path of Taylor's method: the polynomials of its steps, piece by piece, evaluated at any time.

A short motion is sampled while it is integrated. Its dense output, which costs as much again, is made on demand, by the
same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pfaff.motion.outcomes import FINISHED, Status
from pfaff.threads import cached_property


def put(integrator: Any, time: float, x: np.ndarray, pars: np.ndarray) -> None:
    """Set time, state and parameters; an integrator has exactly the ``par`` up to the last one that occurs."""
    integrator.time, integrator.state[:], integrator.pars[:] = time, x, pars[: len(integrator.pars)]


@dataclass(frozen=True, eq=False)
class Leg:
    """Some steps of a flight: where and how they began. Their dense output is made on demand."""

    borrow: Callable[[], AbstractContextManager[Any]]
    bounds: tuple[float, float]
    x: np.ndarray
    pars: np.ndarray
    target: float
    limits: dict[str, Any]

    @cached_property
    def dense(self) -> Any:
        with self.borrow() as integrator:
            put(integrator, self.bounds[0], self.x, self.pars)
            return integrator.propagate_until(self.target, **self.limits, c_output=True)[4]

    @property
    def times(self) -> np.ndarray:
        return self.dense.times

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return self.dense(t)


class Steps:
    """Dense output of single steps: their ends and their Taylor polynomials."""

    def __init__(self) -> None:
        self._ends = [0.0]
        self._polynomials: list[np.ndarray] = []
        self._stacked = np.zeros((0, 0, 0))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_stacked": np.zeros((0, 0, 0))}  # to other processes polynomials go once

    def add(self, end: float, coefficients: np.ndarray) -> None:
        self._ends.append(float(end))
        self._polynomials.append(coefficients.copy())

    @property
    def times(self) -> np.ndarray:
        return np.array(self._ends)

    @property
    def bounds(self) -> tuple[float, float]:
        return self._ends[0], self._ends[-1]

    def __call__(self, t: np.ndarray) -> np.ndarray:
        ends = self.times
        which = np.clip(np.searchsorted(np.abs(ends), np.abs(t), side="right") - 1, 0, len(self._polynomials) - 1)
        since = t - ends[which]
        if len(self._stacked) != len(self._polynomials):
            self._stacked = np.array(self._polynomials)
        coefficients = self._stacked[which]
        value = coefficients[:, :, -1]
        for k in range(coefficients.shape[2] - 2, -1, -1):
            value = coefficients[:, :, k] + since[:, None] * value
        return value


@dataclass
class Flight:
    """The path of an integrator: dense output piece by piece, steps and why it ended."""

    pieces: list[Any] = field(default_factory=list)
    samples: list[np.ndarray] = field(default_factory=list)  # states at the times asked for, as far as it got
    steps: int = 0
    status: Status = FINISHED
    event: int | None = None
    shortest: float = np.inf
    longest: float = 0.0
    cut: float | None = None  # where the motion ends although the integrator went on

    @property
    def end(self) -> float:
        if self.cut is not None:
            return self.cut
        return float(self.pieces[-1].bounds[1]) if self.pieces else 0.0

    @property
    def times(self) -> np.ndarray:
        """Times of the ends of all steps."""
        ends = np.concatenate([[0.0], *(np.asarray(piece.times)[1:] for piece in self.pieces)])
        return ends if self.cut is None else ends[np.abs(ends) <= abs(self.cut)]

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """The state, one column for each time: the polynomials of the steps."""
        t = np.atleast_1d(np.asarray(t, dtype=float))
        ends = np.array([piece.bounds[1] for piece in self.pieces])
        which = np.minimum(np.searchsorted(np.abs(ends), np.abs(t)), len(ends) - 1)
        order = np.argsort(which, kind="stable")
        parts = [self.pieces[k](t[which == k]) for k in (np.unique(which) if len(t) else [0])]
        x = np.empty((parts[0].shape[1], len(t)))
        x[:, order] = np.concatenate(parts).T
        return x

    def at(self, t: np.ndarray) -> np.ndarray:
        """The state at the times that were asked for: as sampled on the way, else by the polynomials."""
        known = sum(map(len, self.samples))
        rest = [self(t[known:]).T] if known < len(t) else []
        return np.ascontiguousarray(np.concatenate([*self.samples, *rest]).T)
