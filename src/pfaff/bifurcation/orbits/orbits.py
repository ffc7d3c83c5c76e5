"""Periodic orbits: what is known about one, and the branches that lead on or branch off from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.displacement import displacement
from pfaff.bifurcation.orbits.floquet import sorted_multipliers
from pfaff.bifurcation.orbits.forced import own_multipliers, own_states, phase
from pfaff.bifurcation.orbits.orbit_checks import Verified
from pfaff.bifurcation.orbits.orbit_in_time import SAMPLES, Orbit, greatest
from pfaff.bifurcation.orbits.orbit_measures import Measurable
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.checks import doubted
from pfaff.continuation.course import POINTS, STEP, Bounds, Course, checked_way
from pfaff.continuation.kinds import Kind, OfKind
from pfaff.errors import number_of
from pfaff.flow.forcing import forcing_of
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import spelt
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.connections.connections import Connection
    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleCurve, CyclePoint
    from pfaff.bifurcation.orbits.cycle_forms import CycleForm
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.case import Bound


@shown_in_notebooks
@spelt
@dataclass(frozen=True, eq=False, repr=False)
class OrbitPoint(Measurable, Verified, Travels):
    """A periodic orbit at a value of the load, with its Floquet multipliers, and the way to others."""

    problem: OrbitProblem
    point: Point

    @property
    def load(self) -> str:
        return self.problem.load

    @property
    def value(self) -> float:
        """Value of the load."""
        return self.point.value

    @property
    def values(self) -> dict[str, float]:
        """Values of all parameters that vary."""
        return {self.load: self.value}

    @property
    def period(self) -> float:
        return self.point.cycle.period

    @property
    def symmetric(self) -> bool:
        """Whether x(t + T/2) = −x(t), by construction."""
        return self.point.cycle.halved

    @property
    def case(self) -> Bound:
        return self.problem.case.unchecked(**{self.load: self.value})

    @property
    def multipliers(self) -> np.ndarray:
        """Floquet multipliers over the period, the largest first; one of them is 1, unless the time is forced."""
        values, flow = self.point.multipliers, self.problem.flow
        values = sorted_multipliers(values**2) if self.symmetric else values
        return own_multipliers(values, self.turns) if flow.carried else values

    @property
    def turns(self) -> int:
        """Turns of the forcing in a period; zero where nothing forces."""
        flow = self.problem.flow
        return round(self.period * forcing_of(flow.system).value(self.case) / (2 * np.pi)) if flow.carried else 0

    @property
    def natural(self) -> float:
        """The change of the load that changes the rates on the orbit by their own size."""
        return self.problem.collocation.natural_change(self.point.cycle, self.point.metric)

    @property
    def unstable(self) -> int:
        """How many multipliers lie outside the unit circle, those that are 1 by structure left out."""
        return self.point.unstable

    @property
    def resolved(self) -> bool:
        """Whether the multipliers that are 1 by structure come out as 1: if not, rounding hides the others as well."""
        return not np.isnan(self.point.tests[Kind.TORUS])

    @property
    def stable(self) -> bool:
        return self.resolved and self.unstable == 0

    @property
    def residual(self) -> float:
        """Residual of the collocation equations, relative to the largest slope, before the last Newton step."""
        return self.point.residual

    @property
    def mesh_error(self) -> float:
        """Estimate of the relative error of states at mesh points, period and multipliers."""
        return self.point.error

    @property
    def _told(self) -> str:
        outside = f"{number_of(self.unstable, 'multiplier')} outside the unit circle"
        how = "stable" if self.stable else f"unstable ({outside})" if self.resolved else "stability not resolved"
        symmetry = ", symmetric" if self.symmetric else ""
        return f"orbit at {self.load} = {self.value:.10g}, period {self.period:.10g}: {how}{symmetry}"

    @property
    def status(self) -> str:
        return doubted(self._told, self.checks)

    @cached_property
    def amplitude(self) -> dict[str, float]:
        """Half of the range of each state."""
        t = self.orbit.t
        extremes = [(greatest(t, row) + greatest(t, -row)) / 2 for row in self.orbit.x]
        return dict(zip(self.orbit.states, extremes, strict=True))

    @cached_property
    def advance(self) -> dict[str, float]:
        """How far symmetries carry each coordinate in a period, for an orbit that starts where the coordinates that its
        flow does without are zero, and the angles of a rotation."""
        flow, cycle = self.problem.flow, self.point.cycle
        turned = {name: float(by) for name, by in zip(flow.states, cycle.turns, strict=True) if by}
        return displacement(self.problem, cycle) | turned

    @property
    def mean_velocity(self) -> dict[str, float]:
        """The advance divided by the period: the speed of locomotion."""
        return {name: moved / self.period for name, moved in self.advance.items()}

    @cached_property
    def orbit(self) -> Orbit:
        """The orbit in time, sampled evenly in every interval of its mesh, both ends included."""
        cycle, c, flow = self.point.cycle, self.problem.collocation, self.problem.flow
        s = np.append(cycle.mesh.points(np.arange(SAMPLES) / SAMPLES), 1.0)
        x = c.interpolate(cycle, c.slopes(cycle), s)
        if self.symmetric:
            s, x = np.append(s, 1 + s[1:]), np.vstack([x, cycle.signs * x[1:]])
        numbers, own = c.equations.numbers_at(cycle.value), len(own_states(flow))
        t, x = s * cycle.scalars[0], x.T.copy()
        if flow.carried:
            t += phase(flow, x[:, 0]) * self.period / (2 * np.pi * self.turns)
        return Orbit(t, x[:own], flow, numbers, self._told, x[own:])

    def orbits(
        self,
        to: float | None = None,
        load: str | None = None,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> OrbitBranch:
        """The branch through this orbit, until the load (or another parameter) is ``to``; see ``Hopf.orbits``."""
        name = self.case.load_name(self.load if load is None else load)
        course = Course.asked(to, step, points, bounds, progress, name, events)
        start = self if name == self.load else doors.orbit_switching.reparametrised(self, name, course.to)
        return doors.orbit_switching.followed(doors.orbit_switching.directed(start, course.to), course)

    def homoclinic(self, accuracy: float = 1e-9) -> Connection:
        """The homoclinic orbit near this one, at its value of the load: the period is long, and the orbit nearly
        rests."""
        return doors.first_arcs.homoclinic_of(self, doors.orbit_switching.accurate(accuracy))

    def connections(self, accuracy: float = 1e-9) -> tuple[Connection, ...]:
        """The connecting orbits near this one, in their order: several for a heteroclinic cycle."""
        return doors.first_arcs.from_cycle(self, doors.orbit_switching.accurate(accuracy))

    def plot(self) -> Figure:
        """The orbit in time and in phase, and its multipliers on the unit circle."""
        return doors.draw.draw_orbit(self.orbit, self.multipliers if self.resolved else None, self.unstable)

    def film(self, frames: int = 8) -> Figure:
        """Successive configurations over one period, where the system has a drawing."""
        return doors.draw.draw_cycle(self, frames)

    def animate(
        self,
        path: str | Path,
        *,
        periods: int = 3,
        seconds: float = 10.0,
        fps: float = 25.0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Write a film of the cycle, stable or not: ``.html``, ``.gif`` or ``.mp4``; see ``Motion.animate``."""
        return doors.draw.animate_orbit(self, path, periods=periods, seconds=seconds, fps=fps, progress=progress)

    def __repr__(self) -> str:
        return f"<{self.status}>"


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Special(OrbitPoint, OfKind):
    """A special point; ``kind`` is fold, period doubling, torus, symmetry breaking or branch point.

    ``note`` is empty, or says that the point is only near this place.
    """

    kind: str
    note: str = ""

    @property
    def _where(self) -> str:
        where = "near" if self.note else "at"
        note = f" ({self.note})" if self.note else ""
        return f"{self.kind} {where} {self.load} = {self.value:.10g}, period {self.period:.10g}{note}"

    @cached_property
    def normal_form(self) -> CycleForm:
        """The coefficient that tells on which side of a fold, period doubling, symmetry breaking or torus new orbits
        are, and whether they are stable."""
        return doors.cycle_forms.cycle_form(self)

    @property
    def status(self) -> str:
        """What it is and where, with the words of the normal form if it is computed quickly."""
        words = doors.cycle_forms.said(self)
        return doubted(f"{self._where}, {words}" if words else self._where, self.checks)

    def __repr__(self) -> str:
        return f"<{self._where}>"

    def switch(
        self,
        to: float,
        *,
        way: int = 1,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> OrbitBranch:
        """The branch that crosses here, of twice the period or of less symmetry, until the load is ``to``.

        Of its two arms this is the one along which the load at first moves towards ``to``, if one does so; ``way=-1``
        takes the other. Off a period doubling or a broken symmetry both are the same orbits, half a period apart, or
        mirror images of each other.
        """
        course = Course.asked(to, step, points, bounds, progress, self.load, events)
        return doors.orbit_switching.followed(doors.orbit_switching.switched(self, course.to, checked_way(way)), course)

    def curve(
        self,
        name: str,
        to: float,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[CyclePoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> CycleCurve:
        """The curve of such orbits in the load and another parameter, until that parameter is ``to``.

        Folds, period doublings, symmetry breakings and tori have curves. Points of codimension two are located:
        ``curve.of_kind("cusp")``.
        """
        return doors.cycle_curves.curve_of_orbits(
            self, name, Course.asked(to, step, points, bounds, progress, name, events)
        )
