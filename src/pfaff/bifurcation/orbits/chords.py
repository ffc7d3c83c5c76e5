"""Points of a branch of orbits, and the chord of a step from one to the next, with the orbits between them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.brackets import bracketed_root
from pfaff.algebra.cubics import Cubic, slope_shares
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
        rise, first, last = slope_shares(at)
        along = combination(self.b.cycle.mesh, (-rise, rise, first, last), (self.start, self.b.cycle, *self.tangents))
        return along.scaled(1 / self.metric.norm(along))

    def level(self) -> float | None:
        """Where the parameter of the cubic is stationary, if its slopes at the ends have opposite signs."""
        cubic = self._of_parameter
        return next((float(s) for s in cubic.stationary() if 0 < s < 1), None) if cubic.da * cubic.db < 0 else None

    def fraction(self, value: float) -> float:
        """Where the cubic has this value of the parameter."""
        cubic = self._of_parameter
        first, last = cubic.a - value, cubic.b - value
        if first * last > 0:
            return 0.0 if abs(first) < abs(last) else 1.0
        return bracketed_root(lambda at: cubic.at(at) - value, 0.0, 1.0, PLACE)

    @property
    def _of_parameter(self) -> Cubic:
        first, last = (float(each.scalars[1]) for each in self.tangents)
        return Cubic(self.start.value, first, self.b.value, last)

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
