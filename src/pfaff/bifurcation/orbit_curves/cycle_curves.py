"""Curves of special orbits in two parameters, with the points of codimension two on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.orbit_curves.resonance import first_cosine
from pfaff.bifurcation.orbit_curves.special_curves import SpecialCurve
from pfaff.bifurcation.orbit_curves.surface import Place, Surface
from pfaff.bifurcation.orbits.following import LEFT
from pfaff.bifurcation.orbits.orbit_checks import of_orbits, some_of
from pfaff.bifurcation.orbits.orbit_in_time import Orbit
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.bifurcation.orbits.passage import Passage, leads_out
from pfaff.checks import Check, Checked, doubted
from pfaff.continuation.course import POINTS, STEP, Bounds, Course, Limits, checked_way
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.engine import Engine
from pfaff.continuation.gathering import gathered
from pfaff.continuation.kinds import Kind, OfKind
from pfaff.continuation.problem import Event
from pfaff.continuation.trail import Trail
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.statement.told import answering, shown_in_notebooks
from pfaff.statement.values import one_of
from pfaff.threads import cached_property

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.bifurcation.orbit_curves.codimension_two import ResonanceForm
    from pfaff.case import Bound

KINDS: dict[str, str] = {
    Kind.FOLD: "folds of cycles",
    Kind.PERIOD_DOUBLING: "period doublings",
    Kind.SYMMETRY_BREAKING: "symmetry breakings",
    Kind.TORUS: "tori",
}


@answering
@dataclass(frozen=True, eq=False, repr=False)
class CyclePoint:
    """A special orbit on a curve: ``value`` is that of the second parameter, ``values`` are both.

    ``special`` is the orbit itself, from which branches lead on; ``angle`` that of the multipliers of a torus.
    """

    special: Special = field(repr=False)
    values: dict[str, float]
    angle: float

    @property
    def value(self) -> float:
        return list(self.values.values())[-1]

    @property
    def period(self) -> float:
        return self.special.period

    @property
    def multipliers(self) -> np.ndarray:
        """Floquet multipliers over the period, the largest first."""
        return self.special.multipliers

    @property
    def residual(self) -> float:
        return self.special.residual

    @property
    def mesh_error(self) -> float:
        return self.special.mesh_error

    @property
    def case(self) -> Bound:
        return self.special.case

    @property
    def orbit(self) -> Orbit:
        return self.special.orbit

    @property
    def measurable(self) -> tuple[str, ...]:
        """Names as for orbits."""
        return self.special.measurable

    def measured(self, name: str) -> float:
        """The value that a name stands for in expressions."""
        one_of(self.measurable, name, "no expression contains")
        return self.values[name] if name in self.values else self.special.measured(name)

    @property
    def _what(self) -> str:
        return self.special.kind

    @property
    def _told(self) -> str:
        return f"{self._what} at {self._where}, period {self.period:.10g}"

    @property
    def checks(self) -> tuple[Check, ...]:
        """What was verified of the orbit."""
        return self.special.checks

    @property
    def status(self) -> str:
        return doubted(self._told, self.checks)

    @property
    def _where(self) -> str:
        return ", ".join(f"{name} = {value:.10g}" for name, value in self.values.items())

    def plot(self) -> Figure:
        return self.orbit.plot()

    def __repr__(self) -> str:
        return f"<{self._told}>"

    def __getitem__(self, name: str) -> float:
        return self.values[one_of(self.values, name, "on this curve there varies no parameter")]


@answering
@dataclass(frozen=True, eq=False, repr=False)
class CycleSpecial(CyclePoint, OfKind):
    """A point of codimension two.

    ``kind`` is cusp, generalised hopf (where the orbits vanish: its values are extrapolated, its orbit is the last), a
    resonance from 1:1 to 1:4, fold-flip, fold-torus or flip-torus; for symmetric orbits, in terms of half a period.
    Where the coefficient of a period doubling, a symmetry breaking or a torus vanishes, it is generalised period
    doubling, degenerate pitchfork or chenciner.
    """

    kind: str
    spans: dict[str, float]

    @property
    def _what(self) -> str:
        return self.kind

    def switch(
        self,
        of: str,
        to: float,
        *,
        way: int = 1,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[CyclePoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> CycleCurve:
        """The curve of another kind that passes or starts here, until the second parameter is ``to``.

        ``of`` is "torus" or "fold" at a 1:1 resonance and where both meet, "torus" or "period doubling" at a 1:2
        resonance, and likewise where other kinds meet; "fold" at a generalised period doubling, where folds of the
        doubled orbits start. For symmetric orbits it is "symmetry breaking" instead of "period doubling". There is one
        curve of each kind: the other way, ``way=-1``, is refused.
        """
        name = list(self.values)[-1]
        course = Course.asked(to, step, points, bounds, progress, name, events)
        return doors.crossing_curves.switched(self, of, course, checked_way(way))

    @cached_property
    def normal_form(self) -> ResonanceForm:
        """What happens about a cusp, a generalised period doubling or a resonance, by the coefficients of its normal
        form."""
        return doors.codimension_two.normal_form(self)

    @property
    def status(self) -> str:
        """What it is and where, with the words of the normal form if it is computed quickly."""
        words = doors.codimension_two.said(self)
        return doubted(f"{self._placed}; {words}" if words else self._placed, self.checks)

    @property
    def _placed(self) -> str:
        return f"{self.kind} at {self._where}" if self.kind == Kind.GENERALISED_HOPF else self._told

    def __repr__(self) -> str:
        return f"<{self._placed}>"


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class CycleCurve(Checked, Trail[CyclePoint, CycleSpecial]):
    """Special orbits in two parameters. ``curve[i]`` is one of them, ``special`` lists the points of codimension two,
    ``ended`` says why there are no more."""

    kind: str
    points: tuple[CyclePoint, ...]
    special: tuple[CycleSpecial, ...]
    ended: Ending
    step: float
    spans: dict[str, float]

    @property
    def of(self) -> str:
        return KINDS[self.kind]

    @property
    def status(self) -> str:
        words = f"{len(self)} {self.of} in ({', '.join(self.parameters)}), {self.counted}; {self.ended}"
        return doubted(words, self.checks)

    def _verify(self) -> Iterator[Check]:
        return of_orbits([each.special for each in some_of(self.points)])

    def to_xarray(self) -> xarray.Dataset:
        """Both parameters, periods, multipliers, residuals and mesh errors along the dimension ``point``."""
        return doors.cycle_archive.dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_curve`` reads it again."""
        return doors.stored.write(doors.cycle_archive.CYCLES, self.to_xarray(), path)

    def extend(
        self,
        to: float,
        *,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[CyclePoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> CycleCurve:
        """The curve followed on from the last point, in its direction, until the second parameter is ``to``."""
        last, name = self.points[-1], self.parameters[-1]
        course = Course.asked(to, self.step, points, bounds, progress, name, events)
        limits = self._limits(course)
        ahead = last.value - self.points[-2].value if len(self) > 1 else course.to - last.value
        surface = Surface(self.kind, self.spans, name, self.points[0].values)
        first = started(surface, last.special, float(np.cos(last.angle)), ahead)
        more = followed(surface, first, course, limits)
        if more.points[0].special.problem.flow is last.special.problem.flow:
            return self._joined(more)
        mine, special = self._out_of_chart(last.special)
        return replace(self, points=mine + more.points[1:], special=special + more.special, ended=more.ended)

    def _out_of_chart(self, near: Special) -> tuple[tuple[CyclePoint, ...], tuple[CycleSpecial, ...]]:
        """The same points in all velocities."""
        passage, span = Passage(near.problem, near.point.cycle), self.spans[near.load]
        points = tuple(replace(each, special=passage.orbit(each.special, span)) for each in self.points)
        return points, tuple(replace(each, special=passage.orbit(each.special, span)) for each in self.special)

    def plot(self) -> Figure:
        """The curve in the plane of its parameters, special points labelled."""
        return doors.draw.draw_cycle_curve(self)


def curve_of_orbits(special: Special, name: str, course: Course, reach: float = 0.0) -> CycleCurve:
    """The curve from a special point of a branch of orbits, with a second parameter freed; ``reach`` is the range of
    the load, if it is another than that of the branch."""
    if special.kind not in KINDS:
        raise NoBifurcationError(f"no curve starts from a {special.kind}: take one of {', '.join(KINDS)}")
    case = special.case
    name = case.system.parameter(name).name
    if name == special.load:
        raise ParameterError(f"{name} is the parameter that places the point: name another one for the curve")
    value = float(case.numbers[case.system.parameter_names.index(name)])
    limits = course.limits(case.system, name, value)
    load = reach or float(1 / special.point.metric.scalars[1])
    spans = {special.load: load, name: second_span(special, name, limits)}
    cosine = first_cosine(special.point.multipliers, 1 + len(special.problem.held))
    surface = Surface(special.kind, spans, name, {special.load: special.value, name: value})
    return followed(surface, started(surface, special, cosine, course.to - value), course, limits)


def second_span(special: Special, name: str, limits: Limits) -> float:
    """The first unit of the second parameter of a curve: its range, but not much more than what alters the equations,
    so that the curve does not depend on how far it is to go."""
    problem, cycle = special.problem, special.point.cycle
    if name != special.load:
        problem = replace(problem, case=problem.case.unchecked(**{special.load: special.value}), load=name)
        cycle = cycle.copy()
        cycle.scalars[1] = limits.start
    return min(limits.span, problem.collocation.natural_change(cycle, special.point.metric))


def started(surface: Surface, special: Special, cosine: float, ahead: float) -> Place:
    """The first place of a curve through a special orbit, the second parameter moving ahead."""
    try:
        return surface.start(special.problem, special.point, cosine, ahead)
    except Refused as why:
        raise ConvergenceError(f"the curve of {KINDS[surface.kind]} cannot start: {why}") from why


def followed(surface: Surface, first: Place, course: Course, limits: Limits) -> CycleCurve:
    """The curve from its first place on."""
    kind, parameters = surface.kind, tuple(surface.spans)

    def at_event(event: Event[Place]) -> CycleSpecial:
        at = _point(event.point, kind, parameters)
        values = event.detail or event.point.values
        placed = {name: values[name] for name in parameters}
        return CycleSpecial(at.special, placed, at.angle, str(event.kind), surface.spans)

    problem = SpecialCurve(surface)
    engine: Engine[Place] = Engine(problem)
    found = gathered(engine, first, course, limits, lambda place: _point(place, kind, parameters), at_event)
    stuck = found.ended.reason is Reason.SINGULAR and found.points[-1].special.point.margin < LEFT
    if stuck and leads_out(first.problem.flow):
        with suppress(ConvergenceError):
            special, load = Special(first.problem, first.point, kind), first.problem.load
            same = Passage(first.problem, first.point.cycle).orbit(special, surface.spans[load])
            again = started(surface, same, first.critical.cosine, problem.slope(first))
            return followed(surface, again, course, limits)
    return CycleCurve(kind, tuple(found.points), tuple(found.special), found.ended, course.step, surface.spans)


def _point(place: Place, kind: str, parameters: tuple[str, ...]) -> CyclePoint:
    special = Special(place.problem, place.point, kind)
    angle = float(np.arccos(np.clip(place.critical.cosine, -1, 1)))
    return CyclePoint(special, {name: place.values[name] for name in parameters}, angle)
