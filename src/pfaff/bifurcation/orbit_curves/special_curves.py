"""Curves of special orbits as a problem of continuation: steps on the surface, points of codimension two, endings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pfaff.bifurcation.orbit_curves.resonance import on_circle
from pfaff.bifurcation.orbit_curves.surface import Coordinates, Place, Surface, heading, rounded
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.orbit_ends import converge, homoclinic, states_of_rest
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import Asked, Event, Pace, Problem
from pfaff.kernels.step_rules import ADAPT_EVERY

DEGENERATE = {  # kinds at which the coefficients of special orbits vanish
    "period doubling": "generalised period doubling",
    "symmetry breaking": "degenerate pitchfork",
    "torus": "chenciner",
}
SMALL = 0.05  # amplitude, relative to the largest, below which an end in an equilibrium is looked for
VANISHED = 4  # places from which such an end is extrapolated

Solution = tuple[Coordinates, Place]


@dataclass(frozen=True, eq=False)
class SpecialCurve(Problem[Place]):
    """Special orbits of one kind, in the coordinates s and q of the chart about each of them."""

    surface: Surface
    pace = Pace(smallest=1e-6, strayed=0.5)
    of = "special orbit"
    place = 1e-10
    sharp = met = 1e-4  # largest value of a test function at a located point; more is a jump

    @property
    def kind(self) -> str:
        return self.surface.kind

    # Places

    def moved(self, at: Place, length: float) -> Coordinates:
        return length * at.along

    def corrected(self, guess: Coordinates, at: Place) -> Solution:
        return self.surface.across(at, guess, at.along)

    def norm(self, solution: Solution, guess: Coordinates, at: Place) -> float:
        return float(np.linalg.norm(solution[0] - guess))

    def point(self, solution: Solution, at: Place) -> Place:
        u, place = solution
        return replace(self.surface.surveyed(place, at), reached=u, age=at.age + 1)

    def turn(self, a: Place, b: Place) -> float:
        before = heading(a, b)
        return float(np.arccos(np.clip(before @ b.along / np.linalg.norm(before), -1, 1)))

    def chord(self, a: Place, b: Place) -> Callable[[float], Place]:
        normal = b.reached / (np.linalg.norm(b.reached) or 1.0)
        return lambda at: self.point(self.surface.across(a, at * b.reached, normal), a)

    def value(self, point: Place) -> float:
        return point.values[self.surface.second]

    def slope(self, point: Place) -> float:
        return float(self.surface.slopes(point) @ point.along)

    def renewed(self, point: Place) -> tuple[SpecialCurve, Place]:
        """The problem and the place with the parameters in the better roles, and on a better mesh; unchanged where that
        fails."""
        with suppress(Refused):
            point = self.surface.exchanged(point)
        if point.age >= ADAPT_EVERY or point.point.error > point.problem.accuracy:
            with suppress(Refused):
                point = self.surface.remeshed(point)
            point = replace(point, age=0)
        return self, point

    # Points of codimension two

    def tests(self, point: Place) -> Mapping[str, float]:
        known: dict[str, Callable[[], float]] = {name: partial(float, each) for name, each in point.tests.items()}
        if self.kind in DEGENERATE:
            known[DEGENERATE[self.kind]] = lambda: point.degeneracy
        return Asked(known)

    def event(self, name: str, point: Place) -> Event[Place] | None:
        met = self.kind != Kind.TORUS and name in (Kind.FOLD_TORUS, Kind.FLIP_TORUS)
        if met and not on_circle(point.critical.others):
            return None
        if name == DEGENERATE.get(self.kind) and abs(point.pole) < self.sharp:
            return None
        last = self.kind == Kind.TORUS and name in (Kind.RESONANCE_1, Kind.RESONANCE_2)  # beyond it are neutral saddles
        return Event(name, point, last, detail=point.values)

    # Endings

    def landed(self, a: Place, b: Place, bound: float) -> Place:
        second, first, last = self.surface.second, self.value(a), self.value(b)
        guess = b.reached * (bound - first) / (last - first)
        try:
            u, near = self._at_bound(a, guess, bound)
            if u @ b.reached > (1 + self.sharp) * (b.reached @ b.reached):
                raise Refused("the bound is crossed a second time")  # beyond where the curve turns
            # Where it is about to turn, the gradient at the start of the step does not make it settle to rounding.
            found = self._at_bound(self.surface.surveyed(near, a), np.zeros(2), bound)[1]
            return rounded(self.point((u, found), a), second, bound)
        except Refused as why:
            raise Refused(f"the special orbit at {second} = {bound:.10g} was not found") from why

    def _at_bound(self, base: Place, guess: Coordinates, bound: float) -> Solution:
        """The place near a guess at which the second parameter has a given value."""
        span, q0, fixed = base.spans[self.surface.second], base.values[base.fixed], base.fixed == self.surface.second

        def left(u: Coordinates, point: Point) -> float:
            return ((q0 + u[1] * span if fixed else point.value) - bound) / span

        return self.surface.solved(base, guess, left, self.surface.slopes(base))

    def signature(self, point: Place, like: Place) -> np.ndarray:
        """Both parameters, the period and the size of the orbit."""
        return np.array([*self._scaled(point), np.log(point.point.cycle.period), np.log(point.square)])

    def ended(self, passed: Sequence[Place]) -> tuple[Event[Place] | None, Ending] | None:
        last = passed[-1]
        if self._shrunk(passed):
            if self.kind == Kind.FOLD and len(passed) >= VANISHED:
                event = self._vanished(passed[-VANISHED:])
                return event, Ending(Reason.SPECIAL, f"ends at a {event.kind} point")
            return None, Ending(Reason.EQUILIBRIUM, f"the orbits shrink to an equilibrium near {self.where(last)}")
        periods = [each.point.cycle.period for each in passed]
        grows = not last.problem.flow.carried and homoclinic(periods, [self._scaled(each) for each in passed])
        if grows and states_of_rest(last.problem.collocation, last.point.cycle):
            words = f"the period grows without bound near {self.where(last)}: towards a homoclinic orbit"
            return None, Ending(Reason.HOMOCLINIC, words)
        return None

    def _shrunk(self, passed: Sequence[Place]) -> bool:
        """Whether orbits shrink to an equilibrium, while both parameters converge."""
        squares = [each.square for each in passed]
        if squares[-1] > SMALL**2 * max(squares):
            return False
        return converge([each**-0.5 for each in squares], [self._scaled(each) for each in passed])

    def _vanished(self, last: Sequence[Place]) -> Event[Place]:
        """The generalised Hopf point to which folds shrink: parameters are smooth in the square of the amplitude."""
        squares = np.array([each.square for each in last])
        values = {
            name: float(np.polyfit(squares / squares[0], [each.values[name] for each in last], len(last) - 1)[-1])
            for name in self.surface.spans
        }
        return Event(Kind.GENERALISED_HOPF, last[-1], last=True, detail=values)

    def _scaled(self, place: Place) -> list[float]:
        return [place.values[name] / span for name, span in self.surface.spans.items()]

    def where(self, at: Place) -> str:
        return ", ".join(f"{name} = {at.values[name]:.10g}" for name in self.surface.spans)
