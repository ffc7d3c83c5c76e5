"""The motion from an initial state: the method that suits it, its run, and what was computed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.errors import ConstraintError, ConvergenceError, ParameterError
from pfaff.flow.initial import Constraints, Start, initial_state
from pfaff.flow.integrator import Integrator, program
from pfaff.motion import taylor
from pfaff.motion.between_steps import Guard
from pfaff.motion.dense_output import Flight
from pfaff.motion.drive import Driven, prescribe
from pfaff.motion.events import Watch, lower_event
from pfaff.motion.lost_rank import end_where_singular
from pfaff.motion.measures import Measured
from pfaff.motion.outcomes import INTERRUPTED
from pfaff.motion.propagation import Sampling, fly
from pfaff.motion.result import Motion
from pfaff.motion.steep_functions import steep_functions
from pfaff.motion.stiff import spread, stiff_motion
from pfaff.progress import unheard
from pfaff.statement.values import (
    MEMORY,
    SMALLEST,
    by_name,
    heard,
    number_from,
    number_within,
    one_of,
    truth,
    whole_number,
)
from pfaff.threads import hand_on

if TYPE_CHECKING:
    from pfaff.case import Case

METHODS = ("auto", "taylor", "implicit", "cvode", "radau", "augmented")
BACKENDS = {"cvode": "sundials", "radau": "scipy"}
SHORTEST = 1e-100  # shortest duration whose powers, as Taylor's method forms them, do not underflow
FINEST, USUAL, COARSE = (
    1e-15,
    1e-8,
    1e-5,
)  # tolerances of Taylor's, of implicit and of the augmented method, unless told
SHARP = 1e-10  # tolerance for rods, whose steps are of high order
COUNTABLE = 1e15  # most equal steps that add up to the duration
MANY_STEPS = 3e5  # first steps of Taylor's method in a motion, beyond which it may be stiff
APART = 1e3  # ratio of the fastest decay to the slowest time scale of a stiff motion


@lru_cache(maxsize=1000, typed=True)
def written(value: Any) -> str:
    """A value as text; SymPy's takes as long as a step."""
    return str(value)


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be integrated: a driven case, its start and its sampling."""

    driven: Driven
    start: Start
    t: np.ndarray
    tolerance: float | None
    max_steps: int
    progress: Callable[[float], None]
    max_step: float = np.inf

    @property
    def x(self) -> np.ndarray:
        return np.concatenate([self.start.q, self.start.v])

    @property
    def duration(self) -> float:
        return float(self.t[-1])

    @property
    def filled(self) -> dict[str, float]:
        """Initial values that nobody gave or prescribed and that constraints demand."""
        asked = {each for name in self.driven.prescribed for each in (name, f"{name}_dot")}
        return {name: value for name, value in self.start.filled.items() if name not in asked}

    @property
    def vanishing(self) -> frozenset[str]:
        """Parameters that are zero: the equations are those without their terms."""
        numbers = zip(self.driven.case.system.parameter_names, self.driven.case.numbers, strict=True)
        return frozenset(name for name, number in numbers if number == 0 and name not in self.driven.changing)

    def describe(self) -> dict[str, Any]:
        """What a motion records about its origin."""
        case = self.driven.case
        return {
            "names": tuple(case.system.coordinate_names),
            "reaction_names": case.system.reaction_names if case.system.stated.constraints else (),
            "changes": self.start.changes | self.filled,
            "system": case.system.name,
            "values": {name: written(value) for name, value in case.values.items()},
            "case": case,
        }


def simulate(
    case: Case,
    duration: float,
    initial: Mapping[str, float],
    *,
    samples: int = 1001,
    tolerance: float | None = None,
    project: bool = False,
    method: str = "auto",
    prescribed: Mapping[str, Any] | None = None,
    events: Mapping[str, Any] | None = None,
    step: float | None = None,
    max_step: float | None = None,
    max_steps: int = 1_000_000,
    progress: Callable[[float], None] | None = None,
) -> Motion:
    """Integrate from time zero over the duration (backwards if it is negative) and sample the motion evenly."""
    duration = number_from("duration", duration)
    tolerance = check_request(duration, samples, tolerance, 2 * len(case.system.coordinates), max_steps)
    progress = heard("progress", progress, "print", 0.5)
    prescribed = by_name("prescribed", prescribed, "{'F': '80 + sin(2*t)'}")
    events, project = by_name("events", events, "{'section': 'theta1'}"), truth("project", project)
    one_of(METHODS, method, "unknown method")
    if step is not None:
        step = _checked_step(step, method, duration)
    for name in prescribed:
        if name in initial or f"{name}_dot" in initial:
            raise ConstraintError(f"{name} is prescribed: leave out its initial value")
    driven = prescribe(case, prescribed, initial, duration)
    start = initial_state(driven.case, initial, project)
    if method != "augmented" and not case.system.rods:
        Constraints(driven.case).check_rank(start.q, start.v)
    t = np.linspace(0.0, duration, samples)
    task = Task(driven, start, t, tolerance, max_steps, progress or unheard, longest_step(max_step))
    if method == "augmented":
        return _augmented(task, events, step)
    if method not in ("auto", "taylor"):
        return _implicit(task, events, "as asked", BACKENDS.get(method))
    if case.system.rods:
        if method == "taylor":
            raise ParameterError(
                f"{case.system.name} has rods, which are stiff, and Taylor's method needs their equations written out: "
                "leave out method='taylor'"
            )
        return _implicit(task, events, "rods are stiff", None)
    return _explicit(task, events, insist=method == "taylor")


def check_request(
    duration: float, samples: int, tolerance: float | None, states: int, max_steps: int, motions: int = 1
) -> float | None:
    """Refuse what cannot be computed before anything is; returns the tolerance as a number, if there is one."""
    if abs(duration) < SMALLEST:
        raise ParameterError(f"duration={duration:g}: give a finite time other than zero")
    if abs(duration) < SHORTEST or abs(duration) > 1 / SHORTEST:
        raise ParameterError(
            f"duration={duration:g} leaves no digits for its powers in double precision: use other units"
        )
    fitting = int(MEMORY / (8 * max(1, states) * motions))
    what = f"{motions} motions" if motions > 1 else "it"
    whole_number("samples", samples, 2, max(2, fitting), f"{what} would need more memory than there is, ask for fewer")
    whole_number("max_steps", max_steps, 1, sys.maxsize, "ask for fewer")
    if tolerance is None:
        return None
    return number_within("tolerance", tolerance, lambda x: 1e-18 <= x < 1, "give a number from 1e-18 to 1")


def longest_step(max_step: float | None) -> float:
    """The bound of all steps that was asked for; infinite if none was."""
    if max_step is None:
        return np.inf
    return number_within("max_step", max_step, lambda x: x > 0, "give the longest time that one step may take")


def _checked_step(step: float, method: str, duration: float) -> float:
    if method != "augmented":
        raise ParameterError("step= is for method='augmented': the other methods choose their steps, give a tolerance")
    step = number_within("step", step, lambda x: x > 0, "give a positive time")
    if not abs(duration) / step < COUNTABLE:
        raise ParameterError(f"step={step:g} is nothing beside duration={duration:g}: give a longer step")
    return step


def _explicit(task: Task, events: Mapping[str, Any], insist: bool) -> Motion:
    """The motion by Taylor's method, or by an implicit one if it turns out to be stiff and nothing speaks against
    that."""
    system, numbers = task.driven.case.system, task.driven.case.numbers
    eqs = taylor.equations(system, task.vanishing)
    tolerance = task.tolerance or FINEST
    borrow = partial(taylor.borrow, system, task.vanishing, tolerance)
    with borrow() as integrator:
        try:
            first = taylor.set_up(integrator, eqs, task.x, numbers, task.duration)
        except ConvergenceError:
            system.flow.rhs(task.x, numbers)  # raises and names what is singular, if anything is
            raise
        reason, switch = _choice(task, first, events, insist)
        if switch:
            return _implicit(task, events, reason, None)
        pars = integrator.pars.copy()
    watch = Watch(partial(lower_event, task.driven, eqs), events)
    if watch.events:
        watching = Integrator(program(eqs.rates, tolerance, watch.functions))
        watching.put(0.0, task.x, pars)
        return _flown(task, _fly(task, watching, eqs, watch=watch), watching, watch, reason)
    with borrow() as integrator:
        integrator.put(0.0, task.x, pars)
        return _flown(task, _fly(task, integrator, eqs, Sampling(task.t, borrow)), integrator, watch, reason)


def _choice(task: Task, first: float, events: Mapping[str, Any], insist: bool) -> tuple[str, bool]:
    """Why Taylor's method is used, or why an implicit one instead."""
    expected = abs(task.duration) / first
    if insist:
        return "as asked", False
    if events or task.driven.changing:
        return f"it locates {'events' if events else 'knots'}", False
    if expected <= MANY_STEPS:
        return f"not stiff: a first step of {first:.2g}", False
    apart = spread(task.driven.case, task.x, task.duration)
    if apart <= APART:
        return "not stiff: no fast mode decays", False
    return f"stiff: a mode decays {apart:.1e} times as fast as others change", True


def _fly(
    task: Task, integrator: Any, eqs: taylor.Equations, sampling: Sampling | None = None, watch: Watch | None = None
) -> Flight:
    """The flight, with parameters that change at knots and a stabilisation that follows the steps."""
    has_rows = bool(eqs.graph.A)

    def change(k: int) -> None:
        rate = integrator.pars[eqs.coefficients] if has_rows else 0.0
        integrator.pars[:] = eqs.pars(task.driven.on(k), rate)[: len(integrator.pars)]

    def relax(step: float) -> None:
        if has_rows and step:
            integrator.pars[eqs.coefficients] = taylor.stabilisation(step)

    return fly(
        integrator,
        task.duration,
        max_steps=task.max_steps,
        knots=task.driven.knots,
        change=change,
        relax=relax,
        longest_step=task.max_step,
        progress=task.progress,
        sampling=sampling,
        guard=_guard(task, integrator, watch),
    )


def _guard(task: Task, integrator: Any, watch: Watch | None) -> Guard:
    """What steps are judged by: the equations as stated where functions are steep or events happen, else the series."""
    driven, tolerance = task.driven, task.tolerance or FINEST
    steep = steep_functions(driven.case.system, tolerance)
    if steep is None and watch is None:
        return Guard(integrator.rates, tolerance)

    def rates(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return driven.case.system.flow.rates(x, driven.numbers(t), t)

    return Guard(rates, tolerance, steep, driven.numbers)


def _flown(task: Task, flight: Flight, integrator: Any, watch: Watch, reason: str) -> Motion:
    """The motion that was flown; Ctrl-C after the last step loses nothing."""
    try:
        return _sampled(task, flight, integrator, watch, reason)
    except KeyboardInterrupt:
        hand_on()
        flight.status = INTERRUPTED if flight.event is None else flight.status
        return _sampled(task, flight, integrator, watch, reason)


def _sampled(task: Task, flight: Flight, integrator: Any, watch: Watch, reason: str) -> Motion:
    status = end_where_singular(task.driven, flight)
    if flight.event is not None:
        status = watch.stopped(flight.event, integrator.time)
    if not flight.pieces:
        raise ConvergenceError(f"{task.driven.case.system.name} could not take a single step: {status}")
    t = task.t if status.finished else np.linspace(0.0, flight.end, len(task.t))
    y = flight.at(t) if status.finished else flight(t)
    return Motion(
        t=t,
        y=y,
        measures=Measured(task.driven, t, y, flight),
        **task.describe(),
        ended=status,
        method=f"Taylor's method, {flight.steps} steps, tolerance {task.tolerance or FINEST:g} ({reason})"
        + ("; reactions of least norm" if task.driven.case.system.redundant else "")
        + "".join(f"; {how}" for how in task.driven.said),
        events=watch.crossings(t, y, integrator),
        dense=flight,
        tolerance=task.tolerance or FINEST,
    )


def _check_plain(task: Task, events: Mapping[str, Any] | None) -> None:
    if events:
        raise ParameterError("events are located by Taylor's method only: ask for method='taylor'")
    if task.driven.changing:
        raise ParameterError("sampled functions need Taylor's method: ask for method='taylor', or give expressions")


def _augmented(task: Task, events: Mapping[str, Any] | None, step: float | None) -> Motion:
    _check_plain(task, events)
    return doors.augmented.augmented_motion(task, task.tolerance or COARSE, step, "as asked")


def _implicit(task: Task, events: Mapping[str, Any] | None, reason: str, backend: str | None) -> Motion:
    system = task.driven.case.system
    if system.rods and system.autonomous and backend is None:
        return doors.rod_motion.rod_motion(task, task.tolerance or SHARP, reason, events)
    if system.rods and events:
        raise ParameterError(
            f"events of {system.name} are located by the method for rods, which wants equations without time: leave "
            "out method= and what is prescribed"
        )
    _check_plain(task, events)
    return stiff_motion(task, task.tolerance or USUAL, reason, backend)
