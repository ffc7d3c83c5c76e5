"""Points of a branch of orbits, and the chord of a step from one to the next, with the orbits between them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from math import copysign, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.brackets import bracketed_root
from pfaff.bifurcation.orbits.cycles import Cycle, Metric, combination
from pfaff.continuation.endings import Refused

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.stepping import Continuation

PLACE = 1e-11  # accuracy, as a part of the chord, of special points, if that much is asked for
LOCATED = 1e-9  # error of tangents and multipliers at which they are located so
NODES, SEPARATE = 5, 1e-3  # solved points on a chord that improve a guess, and their least distance


@dataclass(frozen=True, eq=False)
class Point:
    """An orbit on a branch: its unit tangent, and the multipliers over the interval that the mesh covers; ``margin`` is
    that of its chart."""

    cycle: Cycle
    tangent: Cycle
    multipliers: np.ndarray
    determinant: float
    error: float
    residual: float
    steps: int
    margin: float
    metric: Metric = field(repr=False)
    basis: np.ndarray = field(repr=False)
    unstable: int
    tests: dict[str, float] = field(repr=False)

    @property
    def value(self) -> float:
        return self.cycle.value

    def carried(self, cycle: Cycle, tangent: Cycle) -> Point:
        """The orbit and its tangent on another mesh."""
        return Point(
            cycle, tangent, self.multipliers, self.determinant, self.error, self.residual, self.steps, self.margin,
            self.metric, self.basis, self.unstable, self.tests,
        )  # fmt: skip


class Chord:
    """Two neighbouring points on one mesh, with the Hermite cubic between them."""

    def __init__(self, continuation: Continuation, a: Point, b: Point) -> None:
        self.continuation, self.b, self.metric = continuation, b, a.metric
        cycle, tangent = continuation.moved_to(a, b.cycle.mesh)
        self.start, self.chord = cycle, b.cycle.moved(cycle, -1.0)
        self.length = self.metric.norm(self.chord)
        self.tangents = [t.scaled(self.length / self.metric.norm(t)) for t in (tangent, b.tangent)]
        self.row = self.metric.dual(self.chord)
        self.off: dict[float, Cycle] = {}  # solved orbits minus the cubic

    def guess(self, at: float) -> Cycle:
        """The cubic, corrected by the nearest points that are solved already."""
        return self._bent(self.cubic(at), at)

    def _bent(self, guess: Cycle, at: float) -> Cycle:
        nodes: list[float] = []
        for each in sorted(self.off, key=lambda each: abs(each - at)):
            if len(nodes) < NODES and all(abs(each - node) > SEPARATE for node in [*nodes, 0.0, 1.0]):
                nodes.append(each)
        for node in nodes:
            share = (at * (at - 1) / (node * (node - 1))) ** 2  # value and slope are those of the cubic at both ends
            for other in nodes:
                share *= (at - other) / (node - other) if other != node else 1.0
            guess = guess.moved(self.off[node], share)
        return guess

    def cubic(self, at: float) -> Cycle:
        first, last = self.tangents
        return self.start.towards(self.b.cycle, at, first, 1.0, last, 1.0)

    def direction(self, at: float) -> Cycle:
        """The unit direction of the cubic: it replaces the tangent of the branch where the equations are singular."""
        rise, (first, last) = 6 * at * (1 - at), self.tangents
        shares = (-rise, rise, (1 - at) * (1 - 3 * at), at * (3 * at - 2))
        along = combination(self.b.cycle.mesh, shares, (self.start, self.b.cycle, first, last))
        return along.scaled(1 / self.metric.norm(along))

    def level(self) -> float | None:
        """Where the parameter of the cubic is stationary, if its slopes at the ends have opposite signs."""
        rise, (first, last) = self.b.value - self.start.value, (float(each.scalars[1]) for each in self.tangents)
        if not first * last < 0:
            return None
        half, square = 3 * rise - 2 * first - last, 3 * (first + last - 2 * rise)  # first + 2 half s + square s² = 0
        stable = -half - copysign(sqrt(max(half * half - square * first, 0.0)), half)
        return next((root for root in (first / stable, stable / (square or nan)) if 0 < root < 1), None)

    def fraction(self, value: float) -> float:
        """Where the cubic has this value of the parameter."""
        first, last = self.start.value, self.b.value
        slopes = [float(tangent.scalars[1]) for tangent in self.tangents]

        def left(at: float) -> float:
            along = first + at**2 * (3 - 2 * at) * (last - first)
            return along + at * (1 - at) ** 2 * slopes[0] + at**2 * (at - 1) * slopes[1] - value

        if left(0.0) * left(1.0) > 0:
            return 0.0 if abs(left(0.0)) < abs(left(1.0)) else 1.0
        return bracketed_root(left, 0.0, 1.0, PLACE)

    def point(self, at: float) -> Point:
        """The orbit on the plane across the chord at a fraction of it."""
        cubic = self.cubic(at)
        solution = self.continuation.corrected(self._bent(cubic, at), self.b, self.row, LOCATED)
        self.off[at] = solution.cycle.moved(cubic, -1.0)
        return self.continuation.point(solution, self.chord, self.b.basis)

    def estimate(self, at: float) -> Point | None:
        """The orbit there by interpolation alone, for where Newton's method fails."""
        c, guess = self.continuation, self.guess(at)
        pins = c.collocation.pins(self.b.cycle, self.b.metric, self.row, c.held, guess)
        with suppress(Refused):
            return c.point(c.evaluated(guess, pins, self.b.metric), self.chord, self.b.basis)
        return None
