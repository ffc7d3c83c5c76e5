"""The periodic response to explicit forcing along a parameter: amplitude, phase and mean of every state.

A branch of orbits of the system with the oscillator that carries the phase (``flow.forcing``), so that resonance curves
are followed round their folds, and tori and period doublings on them are located.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.orbits.conserved import conserves, in_family
from pfaff.bifurcation.orbits.displacement import mean_velocities
from pfaff.bifurcation.orbits.forced import own_states
from pfaff.bifurcation.orbits.neutral import neutral
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import accurate, directed, followed, value_of
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.bifurcation.response.first_responses import check_end, first_response
from pfaff.checks import Check, doubted
from pfaff.continuation.course import POINTS, Bounds, Course
from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.trail import Branch
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError, PfaffError, number_of
from pfaff.flow.forcing import forced_flow
from pfaff.statement.system import System
from pfaff.statement.told import answering, shown_in_notebooks
from pfaff.statement.values import one_of, whole_number
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.bifurcation.modes.families import NormalMode
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbits import Special
    from pfaff.case import Bound

ABSENT = 1e-9  # harmonic, relative to the amplitude, that a state does not have


@answering
@dataclass(frozen=True, eq=False, repr=False)
class ResponsePoint:
    """The response at a value of the parameter; ``orbit`` gives its multipliers, its time course and the way to others.

    ``amplitude`` is half of the range of a state, ``phase`` that of its part at the frequency of the forcing, relative
    to cos ωt, ``mean`` its mean. Velocities of ignorable coordinates are among the means.
    """

    orbit: OrbitPoint

    @property
    def value(self) -> float:
        return self.orbit.value

    @property
    def values(self) -> dict[str, float]:
        return {self.orbit.load: self.value}

    @property
    def case(self) -> Bound:
        return self.orbit.case

    @property
    def frequency(self) -> float:
        """Angular frequency ω of the forcing."""
        return 2 * np.pi * self.orbit.turns / self.orbit.period

    @property
    def stable(self) -> bool:
        return self.orbit.stable

    @property
    def amplitude(self) -> dict[str, float]:
        return self.orbit.amplitude

    @property
    def phase(self) -> dict[str, float]:
        """Phases between −π and π: a state is a cos(ωt + phase) plus other harmonics. NaN of a state without that
        part, as where symmetry leaves even harmonics alone."""
        first, sizes = self.harmonic(1), self.amplitude
        return {name: float(np.angle(h)) if abs(h) > ABSENT * sizes[name] else np.nan for name, h in first.items()}

    @property
    def mean(self) -> dict[str, float]:
        means = {name: float(h.real) for name, h in self.harmonic(0).items()}
        return means | mean_velocities(self.orbit.problem, self.orbit.point.cycle)

    def harmonic(self, k: int) -> dict[str, complex]:
        """The complex amplitudes h of the states' parts Re(h e^{ikωt}); for k = 0, their means."""
        c, cycle, flow = self.orbit.problem.collocation, self.orbit.point.cycle, self.orbit.problem.flow
        names, X, weights = own_states(flow), c.stages(cycle), c.weights(cycle)
        whole_number("k", k, 0, len(weights) // 2, "the orbit is known at too few points for it")
        wave = (X[-2] - 1j * X[-1]) ** k * weights
        parts = (X[: len(names)] @ wave) * (2 if k else 1)
        if cycle.halved:  # the other half adds the same to these waves of a state, or its negative
            parts = np.where(cycle.signs[: len(names)] == (-1) ** k, parts, 0j)
        return dict(zip(names, parts.tolist(), strict=True))

    @property
    def measurable(self) -> tuple[str, ...]:
        """Names as for orbits, with the ``frequency`` of the forcing and ``phase_`` before the name of a state."""
        return self.orbit.measurable

    def measured(self, name: str) -> float:
        """The value that a name stands for in expressions."""
        return self.orbit.measured(name)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What was verified of the orbit."""
        return self.orbit.checks

    @property
    def status(self) -> str:
        return self.orbit.status.replace("orbit", "response", 1)

    def __repr__(self) -> str:
        return f"<{self.status}>"

    def plot(self) -> Figure:
        return self.orbit.plot()


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class Response(Travels, Branch[ResponsePoint, "Special"]):
    """Responses along a parameter. ``response[i]`` is one, ``special`` the folds, tori and period doublings among them.

    ``orbits`` is the branch of orbits itself; ``found`` says how its first one was found.
    """

    orbits: OrbitBranch
    found: str

    @cached_property
    def points(self) -> tuple[ResponsePoint, ...]:
        return tuple(ResponsePoint(orbit) for orbit in self.orbits)

    @property
    def special(self) -> tuple[Special, ...]:  # type: ignore[override]
        return self.orbits.special

    @property
    def ended(self) -> Ending:  # type: ignore[override]
        return self.orbits.ended

    @property
    def load(self) -> str:
        return self.orbits.load

    @property
    def of(self) -> str:
        return "responses"

    @property
    def states(self) -> tuple[str, ...]:
        return own_states(self.orbits.problem.flow)

    @property
    def frequency(self) -> np.ndarray:
        return np.array([point.frequency for point in self])

    @property
    def stable(self) -> np.ndarray:
        return np.array([point.stable for point in self])

    def amplitude(self, name: str) -> np.ndarray:
        """Amplitude of one state along the branch."""
        name = one_of(self.states, name, "no state")
        return np.array([point.amplitude[name] for point in self])

    def phase(self, name: str) -> np.ndarray:
        """Phase of one state along the branch, without jumps by 2π."""
        name = one_of(self.states, name, "no state")
        phases = np.array([point.phase[name] for point in self])
        known = np.isfinite(phases)
        phases[known] = np.unwrap(phases[known])
        return phases

    def beside(self, orbit: OrbitPoint, of: str, name: str) -> float:
        """A measure of an orbit near this branch; of phases that differ by 2π, the one nearest to the branch."""
        value = float(getattr(ResponsePoint(orbit), of)[name])
        if of != "phase":
            return value
        near = self.phase(name)[np.abs(self.values - orbit.value).argmin()]
        return float(value + 2 * np.pi * np.round((near - value) / (2 * np.pi)))

    def mean(self, name: str) -> np.ndarray:
        """Mean of one state along the branch, or of the velocity of an ignorable coordinate."""
        name = one_of(self[0].mean, name, "no state")
        return np.array([point.mean[name] for point in self])

    def at(self, value: float) -> tuple[ResponsePoint, ...]:
        """The responses at a value of the parameter: several between folds."""
        return tuple(ResponsePoint(orbit) for orbit in self.orbits.at(value))

    def peak(self, name: str) -> ResponsePoint:
        """The point with the largest amplitude of a state."""
        return self[int(self.amplitude(name).argmax())]

    def extend(
        self,
        to: float,
        *,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> Response:
        """The response followed on until the parameter is ``to``."""
        last = self.orbits[-1]
        check_end(last.case, self.load, last.value, Course.asked(to, self.orbits.step, points, bounds, progress))
        more = self.orbits.extend(to, points=points, bounds=bounds, progress=progress, events=events)
        return replace(self, orbits=more)

    @property
    def status(self) -> str:
        changes = np.flatnonzero(np.diff(self.stable.astype(int)))
        how = "stable throughout" if self.stable.all() else "unstable throughout" if not self.stable.any() else (
            f"stability changes {number_of(len(changes), 'time')}"
        )  # fmt: skip
        start = f"{number_of(len(self), 'response')} from {self.load} = {self[0].value:.8g}"
        return doubted(f"{start}, {self.found}; {self.counted}; {how}; {self.ended}", self.checks)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What was verified of its orbits."""
        return self.orbits.checks

    def __repr__(self) -> str:
        return f"<{self.status}>"

    @property
    def backbones(self) -> tuple[NormalMode, ...]:
        """Free vibrations of the system without damping and forcing about its equilibrium, with frequencies in the
        range of the forcing; empty for a plain ODE, or where nothing vibrates, which ``unbacked`` explains."""
        return self._backbones[0]

    @property
    def unbacked(self) -> str:
        """Why a mechanical system has no backbones at all, in a few words; empty where it has, or may have."""
        return self._backbones[1]

    @cached_property
    def _backbones(self) -> tuple[tuple[NormalMode, ...], str]:
        case, system = self.orbits.problem.case, self.orbits.problem.case.system
        if not isinstance(system, System):
            return (), ""
        amplitude = max((self.amplitude(x).max() for x in self.states if x in system.coordinate_names), default=0.0)
        span = float(self.frequency.min()), float(self.frequency.max())
        try:
            return doors.families.backbones(system.at().unchecked(**case.values), span, 1.2 * amplitude), ""
        except NoBifurcationError:
            return (), "nothing vibrates about the equilibrium"
        except PfaffError:
            return (), "none was found"

    def to_xarray(self) -> xarray.Dataset:
        """Amplitude, phase and mean of every state by name along the dimension ``point``."""
        import xarray

        columns: dict[str, Any] = {
            "value": ("point", self.values),
            "frequency": ("point", self.frequency),
            "stable": ("point", self.stable.astype(np.int8)),
        }
        for name in self.states:
            columns[f"amplitude_{name}"] = ("point", self.amplitude(name))
            columns[f"phase_{name}"] = ("point", self.phase(name))
        columns |= {f"mean_{name}": ("point", self.mean(name)) for name in self[0].mean}
        multipliers = np.array([point.orbit.multipliers for point in self])
        columns["multiplier_real"] = (("point", "multiplier"), multipliers.real)
        columns["multiplier_imag"] = (("point", "multiplier"), multipliers.imag)
        columns["special_value"] = ("special", np.array([each.value for each in self.special]))
        columns["special_kind"] = ("special", np.array([each.kind for each in self.special], dtype=str))
        notes = {"system": self.orbits.problem.case.system.name, "load": self.load, "status": self.status}
        return xarray.Dataset(columns, attrs=notes)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file with the orbits themselves; ``pfaff.load`` reads it again."""
        return doors.response_archive.save(self, path)

    def plot(self, state: str | None = None, of: str = "amplitude") -> Figure:
        """Amplitude (or ``of="mean"``) and phase of a state against the parameter, solid where stable.

        Along a frequency, amplitudes are drawn beside the backbone curves of the undamped system.
        """
        one_of(("amplitude", "mean"), of, "a response has no")
        return doors.draw.draw_response(
            self, self.states[0] if state is None else one_of(self.states, state, "no state"), of
        )


def respond(
    case: Bound,
    load: str,
    from_: float | None,
    course: Course,
    accuracy: float,
    start: Mapping[str, float],
) -> Response:
    """The response at ``from_``, followed along a course."""
    if from_ is not None:
        case = case.at(**{load: from_})
    value = value_of(case, load)
    check_end(case, load, value, course)
    flow = forced_flow(case)
    n = len(flow.states)
    problem = OrbitProblem(case, flow, load, accurate(accuracy), np.zeros((n, 0)), np.zeros((0, n)))
    try:
        point, found = first_response(problem, value, course.to, start)
        member = in_family(point, course.to - point.value)
    except KeyboardInterrupt:
        where = f"interrupted while the first response was sought, at {load} = {value:.10g}"
        raise KeyboardInterrupt(f"{where}: there is none to keep yet") from None
    branch = _branch(member, course)
    last, moves = branch.points[-1], branch.ended.reason is Reason.DRIFTING
    if member is not point and (moves or not conserves(last)):
        branch = _branch(point, course)  # what seemed to be conserved is not: its orbits are alone
    elif len(member.problem.held) and not moves and not conserves(last):
        raise ConvergenceError(
            f"responses drift too slowly at {load} = {value:.10g} to tell the one that repeats itself from others "
            f"beside it: begin where they drift, as at {load} = {last.value:.10g}, and come from there"
        )
    return Response(branch, found)


def _branch(point: OrbitPoint, course: Course) -> OrbitBranch:
    return followed(directed(neutral(point, course.to), course.to), course)


def check_forced(case: Bound) -> None:
    """Raise for a system without forcing."""
    if case.system.autonomous:  # type: ignore[attr-defined]
        raise ParameterError(
            f"nothing forces {case.system.name}: state an excitation in time, such as forces={{x: F*cos(Omega*t)}}, or "
            "ask for hopf() and its orbits"
        )
