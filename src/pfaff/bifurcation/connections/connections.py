"""Homoclinic and heteroclinic orbits: what is known about one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.connections.arc_equations import ArcEquations
from pfaff.bifurcation.connections.arcs import at_times
from pfaff.bifurcation.connections.joins import Join
from pfaff.bifurcation.orbits.orbit_checks import BETWEEN, PLACES, WEIGHTS
from pfaff.bifurcation.orbits.orbit_in_time import EXTREMES, SAMPLES, Orbit
from pfaff.checks import Check, Checked, doubted
from pfaff.checks.branch_promises import at_rest
from pfaff.checks.orbit_promises import obeyed
from pfaff.checks.symmetries import alike
from pfaff.continuation.course import POINTS, STEP, Bounds, Course
from pfaff.continuation.kinds import OfKind
from pfaff.flow.alike import broken_along
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import one_of, spelt
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.connections.connection_curves import ConnectionCurve
    from pfaff.case import Bound
    from pfaff.flow.flow import Flow


@shown_in_notebooks
@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Connection(Checked):
    """An orbit that leaves an equilibrium and approaches the same one (homoclinic) or another (heteroclinic).

    ``value`` is that of the last parameter that varies, ``values`` are all of them.
    """

    equations: ArcEquations
    join: Join
    accuracy: float

    @property
    def flow(self) -> Flow:
        return self.equations.flow

    @property
    def values(self) -> dict[str, float]:
        """Values of all parameters that vary."""
        return dict(zip(self.equations.parameters, self.join.arc.scalars.tolist(), strict=True))

    @property
    def value(self) -> float:
        return float(self.join.arc.scalars[-1])

    @property
    def load(self) -> str:
        """The first parameter that varies: the one in which the orbit was located."""
        return self.equations.parameters[0]

    @property
    def case(self) -> Bound:
        return self.equations.case.unchecked(**self.values)

    @property
    def homoclinic(self) -> bool:
        """Whether it returns to the equilibrium that it leaves."""
        return self.join.homoclinic

    @property
    def of(self) -> str:
        return "homoclinic orbit" if self.homoclinic else "heteroclinic orbit"

    @property
    def rest(self) -> dict[str, float]:
        """The equilibrium that it leaves."""
        return dict(zip(self.flow.states, self.join.arc.rests[0].tolist(), strict=True))

    @property
    def end(self) -> dict[str, float]:
        """The equilibrium that it approaches."""
        return dict(zip(self.flow.states, self.join.arc.rests[-1].tolist(), strict=True))

    @property
    def growing(self) -> np.ndarray:
        """Unstable eigenvalues of the equilibrium that it leaves, the slowest (leading) first."""
        return self.join.facts.saddles[0].growing

    @property
    def decaying(self) -> np.ndarray:
        """Stable eigenvalues of the equilibrium that it approaches, the slowest (leading) first."""
        return self.join.facts.saddles[1].decaying

    @property
    def saddle_quantity(self) -> float:
        """Shil'nikov's σ, the sum of the growth rates of the leading eigenvalues.

        If σ < 0, one stable cycle is born of a homoclinic orbit. If σ > 0, the cycle is unstable, and there are
        infinitely many if a leading eigenvalue is complex (Shil'nikov 1965).
        """
        return self.join.saddle_quantity

    @property
    def duration(self) -> float:
        """Duration of the computed part; beyond it, the orbit is taken to be linear about its equilibria."""
        return self.join.arc.duration

    @property
    def truncation(self) -> dict[str, float]:
        """Estimated effect of this truncation on each parameter: the manifolds bend away from their eigenspaces."""
        shifts = np.abs(self.join.facts.shift).tolist()
        return dict(zip(self.equations.parameters, shifts, strict=True))

    @property
    def mesh_error(self) -> float:
        """Estimate of the relative error of states at mesh points."""
        return self.join.facts.error

    @property
    def residual(self) -> float:
        """Residual of the collocation equations, relative to the largest slope."""
        return self.join.facts.residual

    @cached_property
    def orbit(self) -> Orbit:
        """The orbit in time; time is zero where it is fastest relative to the ranges of its states."""
        arc, gauss = self.join.arc, self.equations.gauss
        s = np.append(arc.mesh.points(np.arange(SAMPLES) / SAMPLES), 1.0)
        x, numbers = at_times(arc, s, gauss), self.equations.numbers(arc.scalars)
        speeds = np.abs(self.equations.rates(x, arc.scalars) / arc.size).max(axis=1)
        t = (s - s[speeds.argmax()]) * arc.duration
        return Orbit(t, x.T.copy(), self.flow, numbers, self.status, np.zeros((0, len(t))))

    @property
    def _where(self) -> str:
        return ", ".join(f"{name} = {value:.10g}" for name, value in self.values.items())

    @property
    def _about(self) -> str:
        if not self.homoclinic:
            return f"{self.of} at {self._where}"
        saddle = "saddle" if not self.growing[0].imag and not self.decaying[0].imag else "saddle-focus"
        return f"{self.of} of a {saddle} at {self._where}, σ = {self.saddle_quantity:.6g}"

    @property
    def status(self) -> str:
        return doubted(f"{self._about}: {self._nearby}" if self._nearby else self._about, self.checks)

    def _verify(self) -> Iterator[Check]:
        arc, count = self.join.arc, self.join.arc.intervals
        x = at_times(arc, arc.mesh.points((BETWEEN + 1) / 2), self.equations.gauss)
        rates = self.equations.rates(x, arc.scalars).reshape(count, len(BETWEEN), -1)
        moved = arc.duration * np.einsum("jkn,k,j->jn", rates, WEIGHTS / 2, arc.mesh.h)
        yield obeyed([float((np.abs(np.diff(arc.x, axis=0) - moved) / arc.size).max())], self.accuracy)
        rests = self.equations.rates(arc.rests, arc.scalars) / arc.size
        broken = broken_along(self.flow, arc.x[:: max(1, count // PLACES)].T.copy(), self.case.numbers)
        if broken:
            yield alike(broken)
        yield at_rest([float(np.abs(rests).max() / (np.abs(rates / arc.size).max() or 1.0))])

    @property
    def _nearby(self) -> str:
        """What is near a homoclinic orbit, by its saddle quantity, in words."""
        if not self.homoclinic:
            return ""
        sigma, size = self.saddle_quantity, abs(self.growing[0].real) + abs(self.decaying[0].real)
        if abs(sigma) <= 1e-9 * size:
            return "what is born depends on terms of higher order"
        if sigma < 0:
            return "a stable cycle is born of it" if len(self.growing) == 1 else "one cycle is born of it"
        complex_ = bool(self.growing[0].imag or self.decaying[0].imag)
        return "infinitely many cycles are near it" if complex_ else "an unstable cycle is born of it"

    @property
    def measurable(self) -> tuple[str, ...]:
        """Names that expressions of a connecting orbit may contain: parameters, the states that it leaves, the extreme
        values of states, and the saddle quantity."""
        extremes = (f"{kind}_{name}" for name in self.flow.states for kind in ("max", "min"))
        return (*self.case.system.parameter_names, *self.flow.states, *extremes, "saddle_quantity")

    def measured(self, name: str) -> float:
        """The value that a name stands for in expressions."""
        one_of(self.measurable, name, "no expression contains")
        names = self.case.system.parameter_names
        if name in names:
            return float(self.case.numbers[names.index(name)])
        if name == "saddle_quantity":
            return self.saddle_quantity
        if name in self.flow.states:
            return self.rest[name]
        kind, _, state = name.partition("_")
        return EXTREMES[kind](self.orbit.t, self.orbit[state])

    def __repr__(self) -> str:
        return f"<{self._about}>"

    def __getitem__(self, name: str) -> float:
        return self.values[one_of(list(self.values), name, "no parameter that varies here is called")]

    def curve(
        self,
        name: str,
        to: float,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Connection], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> ConnectionCurve:
        """The curve of such orbits in the load and another parameter, until that parameter is ``to``.

        Located on the way: a neutral saddle (σ = 0), where a saddle becomes a saddle-focus, orbit flips and inclination
        flips.
        """
        return doors.connection_curves.curve_of_connections(
            self, name, Course.asked(to, step, points, bounds, progress, name, events)
        )

    def lengthened(self, accuracy: float) -> Connection:
        """The orbit to another accuracy: its ends nearer to the equilibria, on a finer mesh."""
        accuracy = doors.orbit_switching.accurate(accuracy)
        scalars = self.join.arc.scalars
        equations = replace(self.equations, case=self.case, parameters=self.equations.parameters[:1])
        arc = self.join.arc.with_scalars(scalars[:1])
        _, join = doors.first_arcs.settled(equations, accuracy, arc)
        return Connection(equations, join, accuracy)

    def plot(self) -> Figure:
        """The orbit in time and in phase, and the eigenvalues of its equilibria."""
        return doors.draw.draw_connection(self)


@dataclass(frozen=True, eq=False, repr=False)
class ConnectionSpecial(Connection, OfKind):
    """A special connecting orbit: ``kind`` is neutral saddle, saddle-focus, orbit flip or inclination flip.

    ``side`` says at which end, where there are two: leaving or coming.
    """

    kind: str
    side: str = ""

    @property
    def status(self) -> str:
        side = f" ({self.side})" if self.side else ""
        return f"{self.kind}{side} of a {self.of} at {self._where}"

    def __repr__(self) -> str:
        return f"<{self.status}>"
