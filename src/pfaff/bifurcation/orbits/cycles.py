"""Orbits on a mesh, and changes of them: states at the mesh points, slopes at the Gauss points, period and parameter.

``Metric`` says by which sizes they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import acos, sqrt
from typing import NamedTuple

import numpy as np

from pfaff.bifurcation.orbits.meshes import amplitudes, inner_product, sizes, whole_turns
from pfaff.threads import cached_property

STILL = 1e-3  # amplitudes below this, relative to the largest, do not set the scale of a state


@dataclass(frozen=True, eq=False)
class Mesh:
    """Times in [0, 1], the lengths between them, and the weights of the mean by the trapezoidal rule."""

    at: np.ndarray

    def __len__(self) -> int:
        """Of intervals."""
        return len(self.at) - 1

    @cached_property
    def h(self) -> np.ndarray:
        return self.at[1:] - self.at[:-1]

    @cached_property
    def weights(self) -> np.ndarray:
        weights = np.zeros(len(self.at))
        weights[:-1] += self.h / 2
        weights[1:] += self.h / 2
        return weights

    def place(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The interval of each time, and how far in it the time is, from 0 to 1."""
        j = np.clip(np.searchsorted(self.at, times, side="right") - 1, 0, len(self) - 1)
        return j, (times - self.at[j]) / self.h[j]

    def points(self, fractions: np.ndarray) -> np.ndarray:
        """Times at the same fractions of every interval, in order."""
        return (self.at[:-1, None] + self.h[:, None] * fractions).ravel()


class Cycle(NamedTuple):
    """An orbit, or a change of one: states at the mesh points, slopes x' at the Gauss points, and scalars.

    The scalars are the duration of what the mesh covers, the parameter, and the unfolding of conserved quantities
    (zero on a solution). ``signs`` are those of x(1) = signs·x(0): if half a period is known, −1 but for states, such
    as the speed of what walks, that are the same in both halves. Angles may have grown by whole turns as well.
    """

    mesh: Mesh
    x: np.ndarray
    K: np.ndarray
    scalars: np.ndarray
    signs: np.ndarray

    @property
    def intervals(self) -> int:
        return len(self.mesh)

    @property
    def halved(self) -> bool:
        """Whether the mesh covers half a period."""
        return min(self.signs.tolist()) < 0  # of a few numbers, sooner than by NumPy

    @property
    def period(self) -> float:
        return float(self.scalars[0] * (2 if self.halved else 1))

    @property
    def value(self) -> float:
        return float(self.scalars[1])

    @property
    def turns(self) -> np.ndarray:
        """By which angles of a rotation have grown at the end: multiples of 2π, zero for all else."""
        turns = np.empty(self.x.shape[1])
        whole_turns(self.x, self.signs, turns)
        return turns

    @property
    def rotates(self) -> bool:
        """Whether an angle has grown by a turn or more at the end."""
        return bool(whole_turns(self.x, self.signs, np.empty(self.x.shape[1])))

    @property
    def amplitude(self) -> np.ndarray:
        """Half of what every state covers, at the mesh points."""
        covered = np.empty(self.x.shape[1])
        amplitudes(self.x, self.signs, covered)
        return covered

    @property
    def largest_amplitude(self) -> float:
        return amplitudes(self.x, self.signs, np.empty(self.x.shape[1]))

    def copy(self) -> Cycle:
        """With its own states, slopes and scalars, on the same mesh."""
        return Cycle(self.mesh, self.x.copy(), self.K.copy(), self.scalars.copy(), self.signs)

    def moved(self, change: Cycle, by: float) -> Cycle:
        x, K, scalars = self.x + by * change.x, self.K + by * change.K, self.scalars + by * change.scalars
        return Cycle(self.mesh, x, K, scalars, self.signs)

    def towards(self, other: Cycle, at: float, tangent: Cycle, by: float, slope: Cycle, by_slope: float) -> Cycle:
        """Hermite's cubic from here, at 0, to another orbit, at 1: its derivatives are those multiples of changes."""
        chord = at * at * (3 - 2 * at)
        a, b, c, d = 1 - chord, chord, by * at * (1 - at) ** 2, by_slope * at * at * (at - 1)
        x = a * self.x + b * other.x + c * tangent.x + d * slope.x
        K = a * self.K + b * other.K + c * tangent.K + d * slope.K
        scalars = a * self.scalars + b * other.scalars + c * tangent.scalars + d * slope.scalars
        return Cycle(self.mesh, x, K, scalars, self.signs)

    def scaled(self, factor: float) -> Cycle:
        return Cycle(self.mesh, factor * self.x, factor * self.K, factor * self.scalars, self.signs)


class Metric(NamedTuple):
    """Sizes by which orbits are compared: every state by its amplitude, the period by itself, the parameter by a range.

    Independent of the units of any of them. A state that is still on the orbit is compared by its own magnitude, and
    those of one kind, such as the amplitudes of a rod, by the largest of them.
    """

    states: np.ndarray
    scalars: np.ndarray
    squares: np.ndarray
    scalar_squares: np.ndarray

    @classmethod
    def of(
        cls, cycle: Cycle, parameter: float, alike: np.ndarray | None = None, positions: np.ndarray | None = None
    ) -> Metric:
        """``alike`` numbers the kinds of states; ``positions`` are those that are no velocities, if there are any."""
        size = sizes(cycle.x, cycle.signs, STILL, positions, cycle.period)
        if cycle.rotates:  # and may hardly change its speed
            size = np.where(cycle.turns == 0, np.maximum(size, np.abs(cycle.x).max(axis=0)), size)
        states = 1 / size
        scalars = np.zeros(len(cycle.scalars))
        if alike is not None:
            least = np.full(alike.max() + 1, np.inf)
            np.minimum.at(least, alike, states)
            states = least[alike]
        scalars[0], scalars[1] = 1 / cycle.scalars[0], 1 / parameter
        return cls(states, scalars, states * states / len(states), scalars * scalars)

    def measured(self, G: np.ndarray) -> np.ndarray:
        """Transition matrices of states that are measured by their sizes."""
        return G * (self.states[:, None] / self.states)

    def dual(self, change: Cycle) -> tuple[np.ndarray, np.ndarray]:
        """The row ⟨change, ·⟩, over the mesh points and over the scalars."""
        return change.mesh.weights[:, None] * self.squares * change.x, self.scalar_squares * change.scalars

    def dot(self, a: Cycle, b: Cycle) -> float:
        return inner_product(a.mesh.weights, self.squares, a.x, b.x, self.scalar_squares, a.scalars, b.scalars)

    def norm(self, a: Cycle) -> float:
        return sqrt(self.dot(a, a))

    def normalise(self, change: Cycle, towards: Cycle) -> float:
        """Scale a change to unit length and turn it towards another, in place; the sign that turned it."""
        sign = 1.0 if self.dot(change, towards) >= 0 else -1.0
        factor = sign / self.norm(change)
        for each in (change.x, change.K, change.scalars):
            each *= factor
        return sign

    def turn(self, a: Cycle, b: Cycle, tangent: Cycle, ahead: Cycle) -> float:
        """The larger of two angles with the tangent at a, of unit length: of the chord to b and of the direction ahead,
        whose product with the tangent is 1."""
        chord = Cycle(a.mesh, b.x - a.x, a.K, b.scalars - a.scalars, a.signs)  # its slopes do not count
        return acos(max(-1.0, min(1.0, self.dot(chord, tangent) / self.norm(chord), 1 / self.norm(ahead))))


def doubled(cycle: Cycle, rows: np.ndarray) -> Cycle:
    """The same orbit (or change) once more around: of twice the period, or unfolded from half a period to a whole.

    ``rows`` are the states whose slopes it has.
    """
    mesh = Mesh(np.concatenate([cycle.mesh.at, 1 + cycle.mesh.at[1:]]) / 2)
    x = np.vstack([cycle.x, cycle.signs * cycle.x[1:] + cycle.turns])
    K = np.concatenate([2 * cycle.K, 2 * cycle.K * cycle.signs[rows]])
    scalars = cycle.scalars * np.array([2.0, *[1.0] * (len(cycle.scalars) - 1)])
    return Cycle(mesh, x, K, scalars, np.ones_like(cycle.signs))
