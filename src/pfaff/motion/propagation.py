"""A compiled integrator propagated over a duration, in pieces between which Ctrl-C is heard."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import heyoka as hy
import numpy as np

from pfaff.motion.dense_output import Flight, Leg, Steps, put
from pfaff.motion.outcomes import COLLAPSED, FINISHED, INTERRUPTED, NO_ADVANCE, NOT_FINITE, TOO_MANY, Outcome, Status
from pfaff.progress import unheard
from pfaff.threads import hand_on

HEARD = 0.1  # seconds between checks for Ctrl-C and reports of progress
SAMPLED, AT_ONCE = 10_000, 800  # steps that are sampled on the way: by count, as digits must not depend on the clock
RELAXED = (200, 3200)  # steps after which the stabilisation follows their length: while it changes; once steady


def fly(
    integrator: Any,
    duration: float,
    *,
    max_steps: int,
    knots: Iterable[float] = (),
    change: Callable[[int], None] = lambda k: None,
    relax: Callable[[float], None] = lambda step: None,
    longest_step: float = np.inf,
    progress: Callable[[float], None] = unheard,
    sampling: Sampling | None = None,
) -> Flight:
    """Propagate to the duration, calling ``change(k)`` at the start of every interval between knots and ``relax(step)``
    now and then with the length of recent steps.

    With ``sampling`` the first legs are sampled, and keep notes in place of their dense output. Ctrl-C, a step that
    collapses and a state that is not finite end the flight; what was computed is kept.
    """
    flight = Flight()
    knots = list(knots)
    try:
        if not knots:
            _to(integrator, duration, max_steps, flight, relax, longest_step, progress, sampling)
        else:
            _through(integrator, [*knots, duration], max_steps, flight, change, progress)
    except KeyboardInterrupt:
        hand_on()
        flight.status = INTERRUPTED
    return flight


def _through(
    integrator: Any,
    targets: list[float],
    max_steps: int,
    flight: Flight,
    change: Callable[[int], None],
    progress: Callable[[float], None],
) -> None:
    """Step by step from knot to knot, keeping the Taylor polynomials of all steps."""
    steps = Steps()
    flight.pieces.append(steps)
    for k, target in enumerate(targets):
        change(k)
        while abs(target - integrator.time) > 1e-15 * abs(target):
            if flight.steps >= max_steps:
                flight.status = TOO_MANY
                return
            outcome, h = integrator.step(max_delta_t=target - integrator.time, write_tc=True)
            flight.steps += 1
            flight.status, flight.event = _status(outcome, h, integrator.time)
            if flight.status.outcome is Outcome.NOT_FINITE:
                return
            steps.add(integrator.time, integrator.tc)
            if not flight.status.finished:
                return
            flight.shortest, flight.longest = min(flight.shortest, abs(h)), max(flight.longest, abs(h))
        integrator.time = target
        progress(abs(target / targets[-1]))


@dataclass
class _Pace:
    """When the stabilisation follows the steps: by their count, so that a motion does not depend on how busy the
    machine is."""

    due: int = RELAXED[0]
    interval: int = RELAXED[0]
    steps: int = 0
    time: float = 0.0
    length: float = np.inf

    def recent(self, flight: Flight) -> float:
        """The length of the steps since the last check; the next one is later if it has hardly changed."""
        length = (flight.end - self.time) / (flight.steps - self.steps)
        steady = 0.8 < length / self.length < 1.25
        self.interval = min(2 * self.interval, RELAXED[1]) if steady else RELAXED[0]
        self.steps, self.time, self.length = flight.steps, flight.end, length
        self.due = self.steps + self.interval
        return length


def _to(
    integrator: Any,
    target: float,
    max_steps: int,
    flight: Flight,
    relax: Callable[[float], None],
    longest_step: float,
    progress: Callable[[float], None],
    sampling: Sampling | None,
) -> None:
    chunk, pace = RELAXED[0], _Pace()
    while integrator.time != target:
        began = time.perf_counter()
        left = max_steps - flight.steps
        if left <= 0:
            flight.status = TOO_MANY
            return
        leg = sampling.leg if sampling and flight.steps < SAMPLED else None
        at_once = min(AT_ONCE if leg else chunk, left, pace.due - flight.steps)
        limits = {"max_steps": at_once, "max_delta_t": longest_step}
        ended = leg(integrator, limits, flight) if leg else None
        outcome, shortest, longest, steps = ended or _dense(integrator, target, limits, flight)
        flight.steps += steps
        flight.shortest, flight.longest = min(flight.shortest, shortest), max(flight.longest, longest)
        flight.status, flight.event = _status(outcome, shortest, integrator.time)
        if flight.event is not None and integrator.time == 0.0:  # a start on the surface of a stop does not count
            flight.status, flight.event = FINISHED, None
            continue
        if not flight.status.finished:
            return
        if flight.steps >= pace.due:
            relax(pace.recent(flight))
        progress(abs(integrator.time / target))
        spent = time.perf_counter() - began
        chunk = int(np.clip(chunk * HEARD / max(spent, 1e-6), chunk, 4 * chunk)) if spent < HEARD else chunk


Ended = tuple[Any, float, float, int]  # outcome, shortest and longest step, steps


def _dense(integrator: Any, target: float, limits: dict[str, Any], flight: Flight) -> Ended:
    """Some steps, with their dense output."""
    outcome, shortest, longest, steps, dense, _ = integrator.propagate_until(target, **limits, c_output=True)
    if dense is not None and dense.bounds[0] != dense.bounds[1]:
        flight.pieces.append(dense)
    return outcome, shortest, longest, steps


@dataclass(frozen=True, eq=False)
class Sampling:
    """The times at which a motion is wanted, from its start to its end, and where to borrow its integrator again."""

    t: np.ndarray
    borrow: Callable[[], AbstractContextManager[Any]]

    def leg(self, integrator: Any, limits: dict[str, Any], flight: Flight) -> Ended | None:
        """Some steps, sampled on the way; None, and nothing changed, if they do not end as they should."""
        start, x, pars = integrator.time, integrator.state.copy(), integrator.pars.copy()
        put(integrator, start, x, pars)  # a time in one float, from which the steps can be repeated exactly
        ahead = self.t[sum(map(len, flight.samples)) :]
        between = int(ahead[0] != start)
        grid = np.concatenate([[start] * between, ahead])
        outcome, shortest, longest, steps, _, samples = integrator.propagate_grid(grid, **limits)
        if outcome not in (hy.taylor_outcome.time_limit, hy.taylor_outcome.step_limit):
            put(integrator, start, x, pars)
            return None
        flight.samples.append(samples[between:])
        flight.pieces.append(Leg(self.borrow, (start, integrator.time), x, pars, float(self.t[-1]), limits))
        return outcome, shortest, longest, steps


def _status(outcome: Any, shortest: float, now: float) -> tuple[Status, int | None]:
    if outcome in (hy.taylor_outcome.time_limit, hy.taylor_outcome.step_limit, hy.taylor_outcome.success):
        collapsed = outcome != hy.taylor_outcome.time_limit and abs(shortest) <= NO_ADVANCE * abs(now)
        return (COLLAPSED if collapsed else FINISHED), None
    if outcome == hy.taylor_outcome.err_nf_state:
        return NOT_FINITE, None
    return Status(Outcome.EVENT, " an event"), -int(outcome) - 1
