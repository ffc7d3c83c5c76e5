"""Curves of connecting orbits in two parameters, from one of them on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.connections.arc_equations import ArcEquations
from pfaff.bifurcation.connections.arcs import Arc
from pfaff.bifurcation.connections.connections import Connection, ConnectionSpecial
from pfaff.bifurcation.connections.joining import Joining
from pfaff.bifurcation.connections.joins import Join
from pfaff.bifurcation.orbits.orbit_checks import some_of
from pfaff.checks import Check, Checked, doubted
from pfaff.continuation.course import POINTS, Bounds, Course, Limits
from pfaff.continuation.endings import Ending, Refused
from pfaff.continuation.engine import Engine
from pfaff.continuation.gathering import gathered
from pfaff.continuation.trail import Trail
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.statement.told import shown_in_notebooks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

LEAST = 1e-3  # range of a parameter that hardly varies, relative to the change that alters the rates by their own size


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class ConnectionCurve(Checked, Trail[Connection, ConnectionSpecial]):
    """Connecting orbits in two parameters. ``curve[i]`` is one of them, ``special`` lists the special ones, ``ended``
    says why there are no more."""

    points: tuple[Connection, ...]
    special: tuple[ConnectionSpecial, ...]
    ended: Ending
    step: float
    spans: tuple[float, float]
    places: tuple[int, ...]

    @property
    def of(self) -> str:
        return f"{self.points[0].of}s"

    @property
    def status(self) -> str:
        words = f"{len(self)} {self.of} in ({', '.join(self.parameters)}), {self.counted}; {self.ended}"
        return doubted(words, self.checks)

    def _verify(self) -> Iterator[Check]:
        return (check for each in some_of(self.points) for check in each.checks)

    @property
    def saddle_quantities(self) -> np.ndarray:
        """Saddle quantities σ along the curve."""
        return np.array([point.saddle_quantity for point in self.points])

    def extend(
        self,
        to: float,
        *,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Connection], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> ConnectionCurve:
        """The curve followed on from the last point, in its direction, until the second parameter is ``to``."""
        last, name = self.points[-1], self.parameters[-1]
        course = Course.asked(to, self.step, points, bounds, progress, name, events)
        limits = self._limits(course)
        spans = (self.spans[0], max(self.spans[1], limits.span))
        problem = Joining.about(last.equations, last.accuracy, np.array(spans), last.join.arc)
        problem, start = problem.renewed(last.join)
        more = _gathered(problem, start, course, limits, self.points[0].join)
        return self._joined(more, places=self._places(more))

    def to_xarray(self) -> xarray.Dataset:
        """Both parameters, saddle quantities, eigenvalues and errors along the dimension ``point``, and the orbits."""
        return doors.connection_archive.dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load`` reads it again."""
        return doors.stored.write(doors.connection_archive.CONNECTIONS, self.to_xarray(), path)

    def plot(self) -> Figure:
        """The curve in the plane of its parameters, special points labelled."""
        return doors.draw.draw_connection_curve(self)


def curve_of_connections(start: Connection, name: str, course: Course) -> ConnectionCurve:
    """The curve from a connecting orbit, with a second parameter freed."""
    case = start.case
    name = case.system.parameter(name).name
    load = start.load
    if name == load:
        raise ParameterError(f"{name} is the parameter that places the orbit: name another one for the curve")
    names = case.system.parameter_names
    scalars = np.array([start.values[load], float(case.numbers[names.index(name)])])
    limits = course.limits(case.system, name, float(scalars[1]))
    equations = replace(start.equations, case=case, parameters=(load, name))
    arc = start.join.arc.with_scalars(scalars)
    try:
        span = _reach(equations, start.accuracy, arc, limits)
        problem = Joining.about(equations, start.accuracy, np.array([span, limits.span]), arc)
        at = problem.joined(problem.solved(arc, arc, problem.held(arc)), None)
        problem, at = problem.renewed(_ahead(at, course.to - limits.start))
    except Refused as why:
        raise ConvergenceError(f"the curve cannot start at {name} = {scalars[1]:g}: {why}") from why
    return _gathered(problem, at, course, limits, None)


def _reach(equations: ArcEquations, accuracy: float, arc: Arc, limits: Limits) -> float:
    """The range of the first parameter: its change over the range of the second, by its slope, if that is not
    negligible."""
    natural = equations.natural(arc)
    problem = Joining.about(equations, accuracy, np.array([natural, limits.span]), arc)
    at = problem.joined(problem.solved(arc, arc, problem.held(arc)), None)
    first, second = at.direction.scalars
    return float(max(abs(first / second) * limits.span if second else 0.0, LEAST * natural))


def _ahead(at: Join, way: float) -> Join:
    return at if at.direction.scalars[-1] * way >= 0 else replace(at, tangent=at.direction.scaled(-1.0))


def _gathered(problem: Joining, start: Join, course: Course, limits: Limits, home: Join | None) -> ConnectionCurve:
    equations, accuracy, engine = problem.equations, problem.accuracy, Engine[Join](problem)
    found = gathered(
        engine,
        start,
        course,
        limits,
        lambda join: Connection(equations, join, accuracy),
        lambda event: ConnectionSpecial(equations, event.point, accuracy, str(event.kind), event.detail or ""),
        home=home,
    )
    reached: Any = engine.problem
    spans = (float(reached.spans[0]), float(reached.spans[1]))
    return ConnectionCurve(
        tuple(found.points), tuple(found.special), found.ended, course.step, spans, tuple(found.places)
    )
