"""A branch of periodic orbits: points in order, the special ones among them, and why it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.stored import write
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.orbit_checks import of_orbits, some_of
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import followed, real
from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.checks import Check, Checked, doubted
from pfaff.continuation.course import POINTS, Bounds, Course
from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.trail import Branch, tallied, with_turns
from pfaff.errors import ConvergenceError, ParameterError, PfaffError, number_of
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import one_of, spelt, whole_number
from pfaff.threads import cached_property, part_of_a_whole

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.bifurcation.connections.connections import Connection
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.bifurcation.orbits.cascade import Cascade


@shown_in_notebooks
@spelt
@dataclass(frozen=True, eq=False, repr=False)
class OrbitBranch(Checked, Branch[OrbitPoint, Special]):
    """Orbits along a branch. ``branch[i]`` is one of them, ``special`` lists the located points, ``ended`` is the
    ending."""

    problem: OrbitProblem
    points: Sequence[OrbitPoint]
    special: tuple[Special, ...]
    ended: Ending
    step: float
    born: float | None = None  # load of the Hopf point from which its first orbit comes

    def __repr__(self) -> str:
        return f"<{self.status}>"

    @property
    def load(self) -> str:
        return self.problem.load

    @property
    def periods(self) -> np.ndarray:
        return np.array([point.period for point in self.points])

    @property
    def status(self) -> str:
        start = f"{self.load} = {self.points[0].value:.8g}"
        hidden = sum(not each.resolved for each in self.points)
        told = f", the stability of {hidden} not resolved" if hidden else ""
        words = f"{number_of(len(self), 'orbit')} from {start}, {self.counted}{told}; {self.ended}"
        return doubted(words, self.checks)

    def _verify(self) -> Iterator[Check]:
        return of_orbits([*some_of(self.points), *self.special])

    @property
    def counted(self) -> str:
        return tallied(special.kind + (" (not located)" if special.note else "") for special in self.special)

    def at(self, value: float) -> tuple[OrbitPoint, ...]:
        """The orbits of the branch at a value of the load, in their order along it: several where it folds."""
        value = real("value", value, f"a finite value of {self.load}")
        line = with_turns(self.points, self.special, self._gaps)
        found = [line[0]] if line[0].value == value else []
        for a, b in pairwise(line):
            if b.value == value:
                found.append(b)
            elif (a.value - value) * (b.value - value) < 0:
                found.append(OrbitPoint(self.problem, self._between(a, b, value)))
        if not found and self.ended.bound == value:  # reached but for the rounding of the orbit's own
            found.append(line[-1])
        if not found:
            low, high = (end(each.value for each in line) for end in (min, max))
            raise ParameterError(
                f"the branch has no orbit at {self.load} = {value:g}: it runs from {low:g} to {high:g}"
            )
        return tuple(found)

    @cached_property
    def _gaps(self) -> tuple[int, ...]:
        """For each special point the index of the point after it: where it makes the branch, by value, period and
        amplitudes, longer by least."""
        if len(self) < 2:
            return (1,) * len(self.special)
        rows = np.array([_traits(each) for each in self.points])
        unit = np.ptp(rows, axis=0)
        unit[unit == 0.0] = np.inf
        steps = np.linalg.norm(np.diff(rows, axis=0) / unit, axis=1)
        away = [np.linalg.norm((rows - _traits(each)) / unit, axis=1) for each in self.special]
        return tuple(int((each[:-1] + each[1:] - steps).argmin()) + 1 for each in away)

    def _between(self, a: OrbitPoint, b: OrbitPoint, value: float) -> Point:
        """The orbit at a value of the load between two; beside a fold it is located along the branch, since two orbits
        with this value are near."""
        continuation = self.problem.continuation(abs(self.values - value).max() or 1.0)
        first, last = (continuation.adopted(each.point) for each in (a, b))
        if isinstance(a, Special) or isinstance(b, Special):
            place = continuation.special.locate(first, last, lambda point: point.value - value)
            found = None if place is None else place[1]
        else:
            found = continuation.point_at(first, last, value)
        if found is None:
            raise ConvergenceError(f"the orbit at {self.load} = {value:g} was not found: follow with less step")
        return found

    @part_of_a_whole()
    def rest(self, low: float, high: float) -> tuple[EquilibriumBranch, ...]:
        """The branch of equilibria between two loads, both ways from the Hopf point; empty where none is found."""
        if self.born is None:
            return ()
        first = self.points[0].orbit
        start = dict(zip(first.states, ((row.max() + row.min()) / 2 for row in first.x), strict=True))
        try:
            case = self.problem.case.at(**{self.load: self.born})
            return tuple(case.branch(self.load, end, start=start) for end in (low, high))
        except PfaffError:
            return ()

    def extend(
        self,
        to: float,
        *,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> OrbitBranch:
        """The branch followed on from its last orbit, in its direction, until the load is ``to``."""
        course = Course.asked(to, self.step, points, bounds, progress, self.load, events)
        if self.ended.reason is Reason.CLOSED:
            raise ParameterError("these orbits lie on a closed line, which is complete: nothing follows")
        more = followed(self.points[-1], course, self)
        return replace(self, problem=more.problem, points=more.points, special=more.special, ended=more.ended)

    def cascade(self, to: float | None = None, doublings: int = 5) -> Cascade:
        """Period doublings one after the other: each branch of twice the period is followed to where it doubles again.

        It begins with the first doubling of this branch, goes towards ``to`` (where the branch ends, by default), and
        has at most ``doublings``.
        """
        end = self.points[-1].value if to is None else real("to", to, f"a finite value of {self.load}")
        return doors.cascade.cascade(
            self, end, whole_number("doublings", doublings, 1, 12, "the orbits become too long beyond that")
        )

    def homoclinic(self, accuracy: float = 1e-9) -> Connection:
        """The homoclinic orbit that the branch approaches: from its orbit of the longest period."""
        return max(self.points, key=lambda point: point.period).homoclinic(accuracy)

    def connections(self, accuracy: float = 1e-9) -> tuple[Connection, ...]:
        """The connecting orbits that it approaches: several for a heteroclinic cycle."""
        return max(self.points, key=lambda point: point.period).connections(accuracy)

    def to_xarray(self) -> xarray.Dataset:
        """Everything by name along the dimension ``point``; orbits at their mesh points, padded with NaN."""
        return doors.orbit_archive.dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_branch`` reads it again."""
        return write(doors.orbit_archive.ORBITS, self.to_xarray(), path)

    def plot(self, state: str | None = None) -> Figure:
        """The bifurcation diagram: period and amplitude against the load, solid where orbits are stable."""
        states = self.problem.flow.states
        if state is not None:
            state = one_of(states, state, "no state")
        return doors.draw.draw_branch(self, state or states[0])

    def animate(
        self,
        path: str | Path,
        *,
        seconds: float = 20.0,
        fps: float = 25.0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Write a film of the cycle as it deforms along the branch: ``.html``, ``.gif`` or ``.mp4``."""
        return doors.draw.animate_branch(self, path, seconds=seconds, fps=fps, progress=progress)


def _traits(orbit: OrbitPoint) -> np.ndarray:
    """Numbers by which orbits of a branch are told apart."""
    return np.array([orbit.value, np.log(orbit.period), *orbit.point.cycle.amplitude])
