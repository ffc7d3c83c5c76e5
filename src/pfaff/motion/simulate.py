"""The motion from an initial state: the method that suits it, its run, and what was computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError, nearest
from pfaff.motion import taylor
from pfaff.motion.drive import Driven, prescribe
from pfaff.motion.events import Watch
from pfaff.motion.measures import Measured
from pfaff.motion.result import Motion
from pfaff.motion.singular import end_where_singular
from pfaff.motion.start import Start, initial_state
from pfaff.motion.stiff import spread, stiff_motion

if TYPE_CHECKING:
    from pfaff.case import Case

METHODS = ("auto", "taylor", "implicit", "cvode", "radau")
BACKENDS = {"cvode": "sundials", "radau": "scipy"}
STIFF = 3e5  # first steps of Taylor's method in a motion, beyond which it may be stiff
APART = 1e3  # the fastest to the slowest time scale of a motion that is stiff


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
    max_steps: int = 1_000_000,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Motion:
    """Integrate from time zero over the duration (backwards if it is negative) and sample the motion evenly."""
    _check(duration, samples, tolerance, method)
    driven = prescribe(case, prescribed or {}, float(duration))
    start = initial_state(driven.case, initial, project)
    t = np.linspace(0.0, float(duration), samples)
    if method not in ("auto", "taylor"):
        return _stiff(driven, start, t, tolerance, events, "as asked", progress, BACKENDS.get(method))
    eqs = taylor.equations(driven.case.system, vanishing(driven))
    watch = Watch(driven.case, eqs, events or {})
    integrator = (
        taylor.build(eqs, tolerance or 1e-15, **watch.options)
        if watch.events
        else taylor.integrator(driven.case.system, vanishing(driven), tolerance or 1e-15)
    )
    x = np.concatenate([start.q, start.v])
    first = taylor.set_up(integrator, eqs, x, driven.case.numbers, float(duration))
    watch.forget()
    expected = abs(duration) / first
    free = method == "auto" and not watch.events and not driven.changing
    if free and expected > STIFF and (apart := spread(driven.case, x, float(duration))) > APART:
        reason = f"stiff: time scales a factor {apart:.1e} apart, {expected:.1e} explicit steps would be needed"
        return _stiff(driven, start, t, tolerance, events, reason, progress)
    stabilisation = integrator.pars[eqs.coefficients] if eqs.graph.A else 0.0

    def change(k: int) -> None:
        integrator.pars[:] = eqs.pars(driven.on(k), stabilisation)[: len(integrator.pars)]

    flight = taylor.fly(
        integrator, float(duration), max_steps=max_steps, knots=driven.knots, change=change, progress=progress
    )
    reason = "as asked" if method == "taylor" else f"not stiff: a first step of {first:.2g}"
    return _flown(driven, start, flight, integrator, watch, t, reason)


def _check(duration: float, samples: int, tolerance: float | None, method: str) -> None:
    if not (np.isfinite(duration) and duration != 0):
        raise ParameterError(f"duration={duration}: give a finite time other than zero")
    if samples < 2:
        raise ParameterError(f"samples={samples}: a motion needs at least two")
    if tolerance is not None and not 0 < tolerance < 1:
        raise ParameterError(f"tolerance={tolerance}: give a number between 0 and 1")
    if method not in METHODS:
        raise ParameterError(f"unknown method {method!r}: {nearest(method, METHODS)}")


def vanishing(driven: Driven) -> frozenset[str]:
    """Parameters that are zero: the integrator is compiled without their terms."""
    numbers = zip(driven.case.system.parameter_names, driven.case.numbers, strict=True)
    return frozenset(name for name, number in numbers if number == 0 and name not in driven.changing)


def _flown(
    driven: Driven, start: Start, flight: taylor.Flight, integrator: Any, watch: Watch, t: np.ndarray, reason: str
) -> Motion:
    status = end_where_singular(driven, flight)
    if flight.event is not None and flight.cut is None:
        status = watch.stopped(flight.event, integrator.time, integrator.state)
    if not flight.pieces:
        raise ParameterError(f"{driven.case.system.name} could not take a single step: {status}")
    if status != taylor.FINISHED:
        t = np.linspace(0.0, flight.end, len(t))
    y = flight(t)
    return Motion(
        t=t,
        y=y,
        measures=Measured(driven, t, y, flight.times, flight),
        **describe(driven, start),
        status=status,
        method=f"Taylor's method of heyoka, {flight.steps} steps ({reason})",
        events=watch.crossings(len(y)),
        dense=flight,
    )


def describe(driven: Driven, start: Start) -> dict[str, Any]:
    """What a motion says about where it comes from."""
    case = driven.case
    return {
        "names": tuple(case.system.coordinate_names),
        "reaction_names": case.system.reaction_names if case.system.statement.constraints else (),
        "changes": start.changes,
        "system": case.system.name,
        "values": {name: str(value) for name, value in case.values.items()},
        "case": case,
    }


def _stiff(
    driven: Driven,
    start: Start,
    t: np.ndarray,
    tolerance: float | None,
    events: Mapping[str, Any] | None,
    reason: str,
    progress: Callable[[float], None],
    backend: str | None = None,
) -> Motion:
    if events:
        raise ParameterError("events are located by Taylor's method only: ask for method='taylor'")
    if driven.changing:
        raise ParameterError("sampled functions need Taylor's method: ask for method='taylor', or give expressions")
    about = describe(driven, start)
    return stiff_motion(driven, start, t, tolerance or 1e-8, reason, progress, about, backend)
