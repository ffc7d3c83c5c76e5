"""Curves of special orbits in two parameters, with the points of codimension two on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.equilibria.rest_points import check_following
from pfaff.bifurcation.orbit_curves.resonance import first_cosine
from pfaff.bifurcation.orbit_curves.surface import CurveContinuation, CurveEvent, Place
from pfaff.bifurcation.orbits.chords import Stop
from pfaff.bifurcation.orbits.orbits import Orbit, Special
from pfaff.continuation.declared import Declared
from pfaff.continuation.trail import Trail
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.statement.values import number_from, told

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Bound

KINDS = {
    "fold": "folds of cycles",
    "period doubling": "period doublings",
    "symmetry breaking": "symmetry breakings",
    "torus": "tori",
}


@dataclass(frozen=True, eq=False, repr=False)
class CyclePoint:
    """A special orbit on a curve: ``value`` is that of the second parameter, ``values`` are both.

    ``special`` is the orbit itself, from which branches lead on; ``angle`` that of a torus' pair of multipliers.
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
    def _what(self) -> str:
        return self.special.kind

    @property
    def status(self) -> str:
        return f"{self._what} at {self._where}, period {self.period:.10g}"

    @property
    def _where(self) -> str:
        return ", ".join(f"{name} = {value:.10g}" for name, value in self.values.items())

    def plot(self) -> Figure:
        return self.orbit.plot()

    def __repr__(self) -> str:
        return f"<{self.status}>"

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            raise ParameterError(f"no parameter {name!r} varies on this curve: take one of {', '.join(self.values)}")
        return self.values[name]


@dataclass(frozen=True, eq=False, repr=False)
class CycleSpecial(CyclePoint):
    """A point of codimension two.

    ``kind`` is cusp, generalised hopf (where the orbits vanish: its values are extrapolated, its orbit is the last),
    a resonance from 1:1 to 1:4, fold-flip, fold-torus or flip-torus; of symmetric orbits, those of half a period.
    """

    kind: str

    @property
    def _what(self) -> str:
        return self.kind

    @property
    def status(self) -> str:
        return f"{self.kind} at {self._where}" if self.kind == "generalised hopf" else super().status


@dataclass(frozen=True, eq=False, repr=False)
class CycleCurve(Trail[CyclePoint, CycleSpecial]):
    """Special orbits in two parameters. ``curve[i]`` is one of them, ``special`` lists the points of codimension two,
    ``ended`` says why there are no more."""

    kind: str
    points: tuple[CyclePoint, ...]
    special: tuple[CycleSpecial, ...]
    ended: str
    step: float
    spans: dict[str, float]

    @property
    def of(self) -> str:
        return KINDS[self.kind]

    @property
    def status(self) -> str:
        return f"{len(self)} {self.of} in ({', '.join(self.parameters)}), {self.counted}; {self.ended}"

    def to_xarray(self) -> xarray.Dataset:
        """Both parameters, periods, multipliers, residuals and mesh errors along the dimension ``point``."""
        from pfaff.bifurcation.orbit_curves.cycle_archive import dataset

        return dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_curve`` reads it again."""
        from pfaff.archive.stored import write
        from pfaff.bifurcation.orbit_curves.cycle_archive import CYCLES

        return write(CYCLES, self.to_xarray(), path)

    def extend(
        self, to: float, *, points: int = 1000, progress: Callable[[CyclePoint], Any] | None = None
    ) -> CycleCurve:
        """The same, followed on from the last point in its direction until the second parameter is ``to``."""
        last, name = self.points[-1], self.parameters[-1]
        to = check_following(name, last.value, to, self.step, points)
        ahead = last.value - self.points[-2].value if len(self) > 1 else to - last.value
        spans = self.spans | {name: max(self.spans[name], abs(to - last.value))}
        continuation = CurveContinuation(self.kind, spans, name)
        first = continuation.start(last.special.problem, last.special.point, float(np.cos(last.angle)), ahead)
        if isinstance(first, str):
            raise ConvergenceError(f"the curve cannot go on from {name} = {last.value:g}: {first}")
        more = _gathered(continuation, first, self.parameters, self.step, to, points, progress)
        return replace(
            self, points=self.points + more.points[1:], special=self.special + more.special, ended=more.ended
        )

    def plot(self) -> Figure:
        """The curve in the plane of its parameters, special points labelled."""
        from pfaff.draw.branches import draw_cycle_curve

        return draw_cycle_curve(self)


def curve_of_orbits(
    special: Special, name: str, to: float, step: float, points: int, progress: Callable[[CyclePoint], Any] | None
) -> CycleCurve:
    """From a special point of a branch of orbits, with a second parameter freed."""
    if special.kind not in KINDS:
        raise NoBifurcationError(f"no curve starts from a {special.kind}: take one of {', '.join(KINDS)}")
    case = special.case
    name = case.system.parameter(name).name
    if name == special.load:
        raise ParameterError(f"{name} is the parameter that places the point: name another one for the curve")
    value = float(case.numbers[case.system.parameter_names.index(name)])
    to = check_following(name, value, to, step, points)
    parameters = (special.load, name)
    spans = {special.load: float(1 / special.point.metric.scalars[1]), name: abs(to - value)}
    continuation = CurveContinuation(special.kind, spans, name)
    cosine = first_cosine(special.point.multipliers, 1 + len(special.problem.held))
    first = continuation.start(special.problem, special.point, cosine, to - value)
    if isinstance(first, str):
        raise ConvergenceError(f"the curve cannot start at {name} = {value:g}: {first}")
    return _gathered(continuation, first, parameters, step, to, points, progress)


def _gathered(
    continuation: CurveContinuation,
    first: Place,
    parameters: tuple[str, ...],
    step: float,
    to: float,
    points: int,
    progress: Callable[[CyclePoint], Any] | None,
) -> CycleCurve:
    """Everything from a place on, until the second parameter is ``to`` or as far on the other side; Ctrl-C keeps it."""
    told("progress", progress, "print", None)
    step = number_from("step", step)
    kind, start = continuation.kind, first.values[continuation.second]
    kept, found = [_point(first, kind, parameters)], []
    declared = Declared(first.problem.case.system, continuation.second, start, to)
    ended = f"stopped after {points} points: ask for more points"
    try:
        for each in continuation.follow(first, step, declared.bounds) if points > 1 else ():
            if isinstance(each, Stop):
                ended = declared.ended(each.why, kept[-1].values[continuation.second])
            elif broken := declared.broken(each.values):
                ended = f"stopped at {kept[-1].status}: {broken}"
                break
            elif isinstance(each, CurveEvent):
                at = _point(each.place, kind, parameters)
                values = {name: each.values[name] for name in parameters}
                found.append(CycleSpecial(at.special, values, at.angle, each.kind))
            else:
                kept.append(_point(each, kind, parameters))
                if progress is not None:
                    progress(kept[-1])
                if len(kept) >= points:
                    break
    except KeyboardInterrupt:
        ended = f"interrupted at {kept[-1].status}"
    return CycleCurve(kind, tuple(kept), tuple(found), ended, step, continuation.spans)


def _point(place: Place, kind: str, parameters: tuple[str, ...]) -> CyclePoint:
    special = Special(place.problem, place.point, kind)
    angle = float(np.arccos(np.clip(place.critical.cosine, -1, 1)))
    return CyclePoint(special, {name: place.values[name] for name in parameters}, angle)
