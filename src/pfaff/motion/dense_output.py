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

from pfaff.flow.integrator import Dense, Integrator
from pfaff.motion.outcomes import FINISHED, Status
from pfaff.threads import cached_property


@dataclass(frozen=True, eq=False)
class Leg:
    """Some steps of a flight: where and how they began. Their dense output is made on demand."""

    borrow: Callable[[], AbstractContextManager[Integrator]]
    bounds: tuple[float, float]
    x: np.ndarray
    pars: np.ndarray
    target: float
    limits: dict[str, Any]

    @cached_property
    def dense(self) -> Any:
        with self.borrow() as integrator:
            integrator.put(self.bounds[0], self.x, self.pars)
            return integrator.advance(self.target, **self.limits, dense=True).dense

    @property
    def times(self) -> np.ndarray:
        return self.dense.times

    @property
    def tcs(self) -> np.ndarray:
        return self.dense.tcs

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return self.dense(t)


class Steps:
    """Dense output of single steps: their ends and their Taylor polynomials."""

    def __init__(self, start: float = 0.0) -> None:
        self._ends = [start]
        self._polynomials: list[np.ndarray] = []
        self._stacked = np.zeros((0, 0, 0))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_stacked": np.zeros((0, 0, 0))}  # to other processes polynomials go once

    @classmethod
    def until(cls, end: float, times: np.ndarray, coefficients: np.ndarray, last: int) -> Steps:
        """The steps before the one numbered ``last``, and that one up to a time within it."""
        found = cls(float(times[0]))
        for k in range(last):
            found.add(times[k + 1], coefficients[k])
        if end != times[last]:
            found.add(end, coefficients[last])
        return found

    def add(self, end: float, coefficients: np.ndarray) -> None:
        self._ends.append(float(end))
        self._polynomials.append(coefficients.copy())

    @property
    def times(self) -> np.ndarray:
        return np.array(self._ends)

    @property
    def tcs(self) -> np.ndarray:
        """The coefficients, indexed [step, state, power]."""
        if len(self._stacked) != len(self._polynomials):
            self._stacked = np.array(self._polynomials)
        return self._stacked

    @property
    def bounds(self) -> tuple[float, float]:
        return self._ends[0], self._ends[-1]

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return Dense(self.times, self.tcs, np.zeros(len(self._ends)))(t)


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

    def polynomials(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Starts, lengths and Taylor coefficients of at most so many steps before the end, evenly spread."""
        each = max(1, most // max(1, len(self.pieces)))
        every = max(1, len(self.pieces) // most)
        found = []
        for piece in self.pieces[::every]:
            times = np.asarray(piece.times)
            times = times if self.cut is None else times[np.abs(times) <= abs(self.cut)]
            some = np.unique(np.linspace(0, max(len(times) - 2, 0), each).astype(int))
            if len(times) > 1:
                found.append((times[some], np.diff(times)[some], np.asarray(piece.tcs)[some]))
        found = found or [(np.zeros(0), np.zeros(0), np.zeros((0, 1, 1)))]
        starts, lengths, coefficients = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return starts, lengths, coefficients

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
