"""The motion of a plain ODE: states in time, by Taylor's method, with events; no energies and no reactions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.archive.stored import labels, write
from pfaff.checks import Check, Checked
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.flow.conversion import convert
from pfaff.flow.graph import CLOCK, expression
from pfaff.flow.integrator import Integrator, program
from pfaff.motion.between_steps import Guard
from pfaff.motion.dense_output import Flight
from pfaff.motion.events import Crossings, Watch, numbers_of, parsed_event
from pfaff.motion.motion_archive import TRAJECTORY
from pfaff.motion.outcomes import INTERRUPTED, Status
from pfaff.motion.propagation import fly
from pfaff.motion.sampled import interpolated
from pfaff.motion.simulate import FINEST, check_request, longest_step
from pfaff.motion.steep_functions import steep_functions
from pfaff.progress import unheard
from pfaff.rest.states import start_state
from pfaff.statement.told import answering
from pfaff.statement.values import by_name, heard, number_from, numbers_from, one_of, shown
from pfaff.threads import hand_on

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import OdeCase


STATED = "a plain ODE has neither energies nor a drawing: state it as a pfaff.System, or plot() its states"


@answering
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Checked):
    """Times ``t`` and states ``y``, one column for each time; ``trajectory["x"]`` is a state by name.

    ``trajectory(t)`` evaluates the states at any time, ``events`` says where each event happened, ``status`` how it
    ended. ``case.orbit(trajectory)`` finds the cycle that it has settled on.
    """

    _elsewhere: ClassVar = dict.fromkeys(("animate", "film", "energy", "p", "residual"), STATED)
    t: np.ndarray
    y: np.ndarray
    states: tuple[str, ...]
    ended: Status
    method: str
    system: str
    values: Mapping[str, str]
    events: Mapping[str, Crossings] = field(default_factory=dict)
    dense: Callable[[Any], np.ndarray] | None = None
    case: OdeCase | None = None
    tolerance: float | None = None  # None for a motion from a file, verified when it was made

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} … {self.t[-1]:g}"
        return f"<Trajectory of {self.system}, {span}, {len(self.t)} samples: {self.status}>"

    @property
    def finished(self) -> bool:
        return self.ended.finished

    @property
    def status(self) -> Status:
        """How the motion ended, and what of it could not be verified."""
        return self.ended.doubted(self.checks)

    def _verify(self) -> Iterable[Check]:
        return doors.verification.verified_trajectory(self) if self.tolerance is not None else ()

    def __getitem__(self, name: str) -> np.ndarray:
        return self.y[self.states.index(one_of(self.states, name, "no state"))]

    def __call__(self, t: Any) -> np.ndarray:
        """The states at a time, or one column for each of several: the integrator's own polynomials."""
        times = numbers_from("times", t)
        low, high = sorted((self.t[0], self.t[-1]))
        if not ((times >= low) & (times <= high)).all():
            raise ParameterError(f"t={shown(t)} lies outside the motion, which runs from {low:g} to {high:g}")
        if self.dense is None:
            return interpolated(self.t, self.y, times)
        return self.dense(times) if times.ndim else self.dense(times[None])[:, 0]

    def to_xarray(self) -> xarray.Dataset:
        """Every state by name along the dimension ``t``; a state that is itself called t becomes ``t_``."""
        import xarray

        happened = {name: [found.t.tolist(), found.y.tolist()] for name, found in self.events.items()}
        about = {"states": self.states, "events": happened}
        notes = {**self.status.notes, "method": self.method, "system": self.system}
        notes |= {"values": json.dumps(dict(self.values)), "about": json.dumps(about)}
        columns = {label: ("t", self[name]) for name, label in labels(self.states, ["t"]).items()}
        return xarray.Dataset(columns, {"t": self.t}, notes)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_motion`` reads it again."""
        return write(TRAJECTORY, self.to_xarray(), path)

    def _repr_html_(self) -> str:
        """In a notebook: the states in time."""
        return doors.draw.trajectory_html(self)

    def plot(self, *names: str) -> Figure:
        """Every state, or those named, in time, and the first two of them against each other."""
        return doors.draw.draw_trajectory(self, [one_of(self.states, name, "no state") for name in names])


def trajectory(
    case: OdeCase,
    duration: float,
    initial: Mapping[str, float],
    samples: int,
    tolerance: float | None,
    events: Mapping[str, Any] | None,
    max_steps: int,
    progress: Callable[[float], None] | None,
    max_step: float | None = None,
) -> Trajectory:
    """Integrate from time zero over the duration (backwards if it is negative) and sample evenly."""
    duration = number_from("duration", duration)
    tolerance = check_request(duration, samples, tolerance, len(case.system.state_names), max_steps)
    progress = heard("progress", progress, "print", 0.5)
    x, flow = start_state(case, initial), case.system.flow
    watch = Watch(partial(_lowered, case), by_name("events", events, "{'section': 'x'}"))
    rates = list(zip(flow.variables, flow.expressions, strict=True))
    integrator = Integrator(program(rates, tolerance or FINEST, watch.functions))
    integrator.put(0.0, x, case.numbers)
    flow.rhs(x, case.numbers)  # raises and names what is not finite, if anything is
    guard = _guard(case, integrator, tolerance or FINEST, watch)
    flight = fly(
        integrator,
        duration,
        max_steps=max_steps,
        longest_step=longest_step(max_step),
        progress=progress or unheard,
        guard=guard,
    )
    told = case, flight, integrator, watch, np.linspace(0.0, duration, samples), tolerance or FINEST
    try:
        return _flown(*told)
    except KeyboardInterrupt:  # after the last step: nothing is lost
        hand_on()
        flight.status = INTERRUPTED if flight.event is None else flight.status
        return _flown(*told)


def _guard(case: OdeCase, integrator: Any, tolerance: float, watch: Watch) -> Guard:
    """What steps are judged by: the equations as stated where functions are steep or events happen, else the series."""
    flow, numbers, steep = case.system.flow, case.numbers, steep_functions(case.system, tolerance)
    if steep is None and not watch.events:
        return Guard(integrator.rates, tolerance)
    return Guard(lambda x, t: flow.rates(x, numbers, t), tolerance, steep, lambda t: numbers)


def _flown(case: OdeCase, flight: Flight, integrator: Any, watch: Watch, t: np.ndarray, tolerance: float) -> Trajectory:
    status = flight.status
    if flight.event is not None:
        status = watch.stopped(flight.event, integrator.time)
    if not flight.pieces:
        raise ConvergenceError(f"{case.system.name} could not take a single step: {status}")
    t = t if status.finished else np.linspace(0.0, flight.end, len(t))
    y = flight(t)
    return Trajectory(
        t=t,
        y=y,
        states=case.system.state_names,
        ended=status,
        method=f"Taylor's method, {flight.steps} steps, tolerance {tolerance:g}",
        system=case.system.name,
        values={name: str(value) for name, value in case.values.items()},
        events=watch.crossings(t, y, integrator),
        dense=flight,
        case=case,
        tolerance=tolerance,
    )


def _lowered(case: OdeCase, name: str, written: Any) -> Any:
    """An event's expression in the states and the time, parameters as numbers."""
    system, time = case.system, sm.Symbol("t")
    known = {symbol.name: symbol for symbol in (*system.symbols, *system.parameters)}
    known.setdefault("t", time)
    functions = dict(zip(system.equations, system.symbols, strict=True))
    parsed = parsed_event(name, written, known, functions, case.system.parameters)
    symbols = {x: expression(x.name) for x in system.symbols} | {time: CLOCK} | numbers_of(case)
    return convert(parsed, symbols)
