"""Orbits on a mesh, and changes of them: states at the mesh points, slopes at the Gauss points, period and parameter.

``Metric`` holds the sizes by which they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from pfaff.algebra.cubics import shares
from pfaff.kernels.metrics import (
    Comparison,
    amplitudes,
    combined,
    dual_row,
    inner_product,
    normalise,
    turned_by,
    whole_turns,
)
from pfaff.threads import known_property

NONE, UNBOUNDED = np.zeros(0, dtype=int), np.zeros(0)
PLAIN = Comparison(NONE, NONE, UNBOUNDED)  # of states of unknown kinds


@dataclass(frozen=True, eq=False)
class Mesh:
    """Times in [0, 1], the lengths between them, and the weights of the mean by the trapezoidal rule."""

    at: np.ndarray

    def __len__(self) -> int:
        """The number of intervals."""
        return len(self.at) - 1

    @known_property
    def h(self) -> np.ndarray:
        return self.at[1:] - self.at[:-1]

    @known_property
    def weights(self) -> np.ndarray:
        weights = np.zeros(len(self.at))
        weights[:-1] += self.h / 2
        weights[1:] += self.h / 2
        return weights

    def place(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The interval of each time, and its place in it, from 0 to 1."""
        j = np.clip(np.searchsorted(self.at, times, side="right") - 1, 0, len(self) - 1)
        return j, (times - self.at[j]) / self.h[j]

    def points(self, fractions: np.ndarray) -> np.ndarray:
        """Times at the same fractions of every interval, in order."""
        return (self.at[:-1, None] + self.h[:, None] * fractions).ravel()


class Cycle(NamedTuple):
    """An orbit, or a change of one: states at the mesh points, slopes x' at the Gauss points, and scalars.

    The scalars are the duration of the interval that the mesh covers, the parameter, and the unfolding of conserved
    quantities (zero on a solution). ``signs`` are those of x(1) = signs·x(0): if half a period is known, −1 but for
    states, such as the speed of a walking system, that are the same in both halves. Angles may have grown by whole
    turns as well.
    """

    mesh: Mesh
    x: np.ndarray
    K: np.ndarray
    scalars: np.ndarray
    signs: np.ndarray

    @property
    def intervals(self) -> int:
        return len(self.mesh.at) - 1

    @property
    def halved(self) -> bool:
        """Whether the mesh covers half a period."""
        return min(self.signs.tolist()) < 0  # for a few numbers faster than NumPy

    @property
    def period(self) -> float:
        return float(self.scalars[0] * (2 if self.halved else 1))

    @property
    def value(self) -> float:
        return float(self.scalars[1])

    @property
    def turns(self) -> np.ndarray:
        """Growth of each angle at the end, multiples of 2π; zero for all other states."""
        turns = np.empty(self.x.shape[1])
        whole_turns(self.x, self.signs, turns)
        return turns

    @property
    def rotates(self) -> bool:
        """Whether an angle has grown by a turn or more at the end."""
        return bool(whole_turns(self.x, self.signs, np.empty(self.x.shape[1])))

    @property
    def amplitude(self) -> np.ndarray:
        """Half of the range of every state, at the mesh points."""
        covered = np.empty(self.x.shape[1])
        amplitudes(self.x, self.signs, covered)
        return covered

    @property
    def largest_amplitude(self) -> float:
        return amplitudes(self.x, self.signs, np.empty(self.x.shape[1]))

    def copy(self) -> Cycle:
        """A copy with its own states, slopes and scalars, on the same mesh."""
        return Cycle(self.mesh, self.x.copy(), self.K.copy(), self.scalars.copy(), self.signs)

    def moved(self, change: Cycle, by: float) -> Cycle:
        x, K, scalars = self.x + by * change.x, self.K + by * change.K, self.scalars + by * change.scalars
        return Cycle(self.mesh, x, K, scalars, self.signs)

    def towards(self, other: Cycle, at: float, tangent: Cycle, by: float, slope: Cycle, by_slope: float) -> Cycle:
        """Hermite's cubic from this orbit, at 0, to another, at 1, with these multiples of changes as derivatives."""
        chord, first, last = shares(at)
        return combination(self.mesh, (1 - chord, chord, by * first, by_slope * last), (self, other, tangent, slope))

    def scaled(self, factor: float) -> Cycle:
        return Cycle(self.mesh, factor * self.x, factor * self.K, factor * self.scalars, self.signs)


def combination(mesh: Mesh, shares: tuple[float, ...], cycles: tuple[Cycle, ...]) -> Cycle:
    """A linear combination of orbits, or of changes of them, on a mesh."""
    x, K, scalars = combined(shares, cycles)
    return Cycle(mesh, x, K, scalars, cycles[0].signs)


class Metric(NamedTuple):
    """Sizes by which orbits are compared: each state by its amplitude, the period by itself, the parameter by a range.

    It is independent of all units. A state that is constant on the orbit is compared by its own magnitude, and states
    of one kind, such as the amplitudes of a rod, by the largest of them.
    """

    states: np.ndarray
    scalars: np.ndarray
    squares: np.ndarray
    scalar_squares: np.ndarray

    @classmethod
    def of(cls, cycle: Cycle, parameter: float, comparison: Comparison = PLAIN) -> Metric:
        """The metric of an orbit, whose states are compared by kinds where these are known."""
        return cls(*comparison.scales(cycle, cycle.period, parameter))

    def measured(self, G: np.ndarray) -> np.ndarray:
        """Transition matrices of states in units of their sizes."""
        return G * (self.states[:, None] / self.states)

    def dual(self, change: Cycle) -> tuple[np.ndarray, np.ndarray]:
        """The row ⟨change, ·⟩, over the mesh points and over the scalars."""
        return dual_row(change.mesh.weights, self, change)

    def dot(self, a: Cycle, b: Cycle) -> float:
        return inner_product(a.mesh.weights, self, a, b)

    def norm(self, a: Cycle) -> float:
        return sqrt(self.dot(a, a))

    def normalise(self, change: Cycle, towards: Cycle) -> float:
        """Scale a change to unit length and turn it towards another, in place; returns the sign that turned it."""
        return normalise(change.mesh.weights, self, change, towards)

    def turn(self, a: Cycle, b: Cycle, tangent: Cycle, ahead: Cycle) -> float:
        """The larger of two angles with the unit tangent at a: that of the chord to b, and that of the direction ahead,
        whose product with the tangent is 1."""
        return turned_by(a.mesh.weights, self, a, b, tangent, ahead)


def doubled(cycle: Cycle, rows: np.ndarray) -> Cycle:
    """The orbit (or change) once more around: of twice the period, or unfolded from half a period to a whole one.

    ``rows`` are the states that have slopes.
    """
    mesh = Mesh(np.concatenate([cycle.mesh.at, 1 + cycle.mesh.at[1:]]) / 2)
    x = np.vstack([cycle.x, cycle.signs * cycle.x[1:] + cycle.turns])
    K = np.concatenate([2 * cycle.K, 2 * cycle.K * cycle.signs[rows]])
    scalars = cycle.scalars * np.array([2.0, *[1.0] * (len(cycle.scalars) - 1)])
    return Cycle(mesh, x, K, scalars, np.ones_like(cycle.signs))
