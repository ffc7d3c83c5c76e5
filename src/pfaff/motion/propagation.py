"""An integrator propagated over a duration, in pieces between which Ctrl-C is heard."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pfaff.flow.integrator import Advance, End, Integrator
from pfaff.motion.between_steps import Guard, Polynomials
from pfaff.motion.dense_output import Flight, Leg, Steps
from pfaff.motion.outcomes import COLLAPSED, FINISHED, INTERRUPTED, NO_ADVANCE, NOT_FINITE, TOO_MANY, Outcome, Status
from pfaff.progress import unheard
from pfaff.threads import hand_on

HEARD = 0.1  # seconds between checks for Ctrl-C and reports of progress
SAMPLED, AT_ONCE = 10_000, 800  # steps that are sampled on the way: by count, as digits must not depend on the clock
RELAXED = (200, 3200)  # steps after which the stabilisation follows their length: while it changes; once steady
FIRST = 2  # steps from a start that are looked at in any case: where a symmetric state leaves gaps in the series, ...
LEAP = (
    6.0  # ... or where a step is this much longer than others are on average, two coefficients do not tell its length
)


def fly(
    integrator: Integrator,
    duration: float,
    *,
    max_steps: int,
    knots: Iterable[float] = (),
    change: Callable[[int], None] = lambda k: None,
    relax: Callable[[float], None] = lambda step: None,
    longest_step: float = np.inf,
    progress: Callable[[float], None] = unheard,
    sampling: Sampling | None = None,
    guard: Guard,
) -> Flight:
    """Propagate to the duration, calling ``change(k)`` at the start of every interval between knots and ``relax(step)``
    now and then with the length of recent steps.

    With ``sampling`` the first legs are sampled, and keep notes in place of their dense output. ``guard`` judges the
    first steps, those that leap, and all of them where functions are steep. Ctrl-C, a step that
    collapses and a state that is not finite end the flight; what was computed is kept.
    """
    flight = Flight()
    knots = list(knots)
    try:
        if not knots:
            _to(integrator, duration, max_steps, flight, relax, longest_step, progress, sampling, guard)
        else:
            _through(integrator, [*knots, duration], max_steps, flight, change, longest_step, progress, guard)
    except KeyboardInterrupt:
        hand_on()
        flight.status = INTERRUPTED
    flight.status = flight.status.leaving(guard.doubtful)
    return flight


def _through(
    integrator: Integrator,
    targets: list[float],
    max_steps: int,
    flight: Flight,
    change: Callable[[int], None],
    longest_step: float,
    progress: Callable[[float], None],
    guard: Guard,
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
            start, left = integrator.time, target - integrator.time
            most = min(abs(left), longest_step, guard.room or np.inf)
            taken = integrator.step(np.copysign(most, left))
            h = integrator.last_h
            flight.steps += 1
            flight.status, flight.event = _status(taken, integrator.time)
            if flight.status.outcome is Outcome.NOT_FINITE:
                return
            end, polynomials = integrator.time, integrator.tc.copy()
            if h and (guard.steep or flight.steps <= FIRST):
                failure = guard.judge(np.array([start, end]), polynomials[None])
                if failure:
                    x = Polynomials(np.array([start]), np.array([end - start]), polynomials[None]).at(failure.good)
                    end = failure.good
                    _return_to(integrator, end, x)
                    flight.status, flight.event = FINISHED, None
            if end != start:
                steps.add(end, polynomials)
            if not flight.status.finished:
                return
            flight.shortest, flight.longest = min(flight.shortest, abs(h)), max(flight.longest, abs(h))
        integrator.time = target
        progress(abs(target / targets[-1]))


def _return_to(integrator: Integrator, t: float, x: np.ndarray) -> None:
    """Set the integrator back to a time and state up to which its last step was good."""
    integrator.put(t, x, integrator.pars.copy())
    integrator.withdraw(t)


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
        steady = 0.8 * abs(self.length) < abs(length) < 1.25 * abs(self.length)
        self.interval = min(2 * self.interval, RELAXED[1]) if steady else RELAXED[0]
        self.steps, self.time, self.length = flight.steps, flight.end, length
        self.due = self.steps + self.interval
        return length


def _to(
    integrator: Integrator,
    target: float,
    max_steps: int,
    flight: Flight,
    relax: Callable[[float], None],
    longest_step: float,
    progress: Callable[[float], None],
    sampling: Sampling | None,
    guard: Guard,
) -> None:
    chunk, pace, failures = RELAXED[0], _Pace(), 0
    looked_at = 0 if sampling and _starts_well(integrator, target, longest_step, guard) else FIRST
    while integrator.time != target:
        began = time.perf_counter()
        left = max_steps - flight.steps
        if left <= 0:
            flight.status = TOO_MANY
            return
        every = flight.steps < looked_at or guard.room is not None
        watched = guard.steep is not None or every
        leg = sampling.leg if sampling and flight.steps < SAMPLED and not every else None
        at_once = min(AT_ONCE if leg else chunk, left, pace.due - flight.steps)
        if watched:
            at_once = min(at_once, 1 if guard.room else RELAXED[0] if guard.steep else FIRST)
        limits = {"most": at_once, "longest": min(longest_step, guard.room or np.inf)}
        ended = leg(integrator, limits, flight, guard) if leg else None
        if isinstance(ended, Doubt):
            limits["most"] = ended.steps
            ended = None
        taken = ended or _dense(integrator, target, limits, flight, guard, watched, every)
        if sampling and not ended:
            sampling.catch_up(flight)
        flight.steps += taken.steps
        flight.shortest, flight.longest = min(flight.shortest, taken.shortest), max(flight.longest, taken.longest)
        flight.status, flight.event = _status(taken, integrator.time)
        if flight.event is not None and integrator.time == 0.0:  # a start on the surface of a stop does not count
            flight.status, flight.event = FINISHED, None
            continue
        if not flight.status.finished:
            return
        if guard.failures > failures:  # steps are shorter from now on
            failures, pace.due = guard.failures, min(pace.due, flight.steps + FIRST)
        if flight.steps >= pace.due:
            length = pace.recent(flight)
            if not length and guard.room is None:
                flight.status = COLLAPSED
                return
            if length:  # else shorter steps are tried
                relax(length)
        progress(abs(integrator.time / target))
        spent = time.perf_counter() - began
        chunk = int(np.clip(chunk * HEARD / max(spent, 1e-6), chunk, 4 * chunk)) if spent < HEARD else chunk
        chunk = min(chunk, max_steps)


def _starts_well(integrator: Integrator, target: float, longest_step: float, guard: Guard) -> bool:
    """Whether the first steps obey the equations in between; the integrator stays where it was."""
    start = integrator.time, integrator.state.copy(), integrator.pars.copy()
    times, polynomials = [start[0]], list[np.ndarray]()
    while len(polynomials) < FIRST and times[-1] != target and np.isfinite(integrator.state).all():
        left = target - integrator.time
        integrator.step(np.copysign(min(abs(left), longest_step), left))
        times.append(integrator.time)
        polynomials.append(integrator.tc.copy())
    integrator.put(*start)
    return replace(guard).judge(np.array(times), np.array(polynomials)) is None


class Doubt(NamedTuple):
    """So many steps, of which the last one does not obey the equations."""

    steps: int


def _dense(
    integrator: Integrator,
    target: float,
    limits: dict[str, Any],
    flight: Flight,
    guard: Guard,
    watched: bool,
    every: bool,
) -> Advance:
    """Some steps, with their dense output; only those before the first one that fails, where they are judged."""
    taken = integrator.advance(target, **limits, dense=True)
    dense = taken.dense
    if dense is None or dense.bounds[0] == dense.bounds[1]:
        return taken
    ends = taken.end is End.NOT_FINITE  # steps shorten without limit on the way to infinity
    every = every or (not ends and _leaps(dense.bounds, taken.longest, taken.steps))
    failure = guard.judge(dense.times, dense.tcs, every) if watched or every else None
    if failure is None:
        flight.pieces.append(dense)
        return taken
    piece = Steps.until(failure.good, dense.times, dense.tcs, failure.step)
    _return_to(integrator, failure.good, dense(failure.good))
    if not len(piece.times) > 1:
        return Advance(End.STEPS, steps=1)  # counts, so that it ends
    flight.pieces.append(piece)
    lengths = np.abs(np.diff(piece.times))
    return Advance(End.STEPS, None, len(lengths), lengths.min(), lengths.max())


def _leaps(bounds: tuple[float, float], longest: float, steps: int) -> bool:
    return steps > FIRST and longest * steps > LEAP * abs(bounds[1] - bounds[0])


@dataclass(frozen=True, eq=False)
class Sampling:
    """The times at which a motion is wanted, from its start to its end, and where to borrow its integrator again."""

    t: np.ndarray
    borrow: Callable[[], AbstractContextManager[Integrator]]

    def catch_up(self, flight: Flight) -> None:
        """Sample the last piece, which was not sampled on the way."""
        known = sum(map(len, flight.samples))
        reached = self.t[known : np.searchsorted(np.abs(self.t), abs(flight.end), side="right")]
        if len(reached) and flight.pieces:
            flight.samples.append(np.array(flight.pieces[-1](reached)))

    def leg(
        self, integrator: Integrator, limits: dict[str, Any], flight: Flight, guard: Guard
    ) -> Advance | Doubt | None:
        """Some steps, sampled on the way; None, and nothing changed, if they do not end as they should, or a doubt if
        past something steep one does not obey the equations in between."""
        start, x, pars = integrator.time, integrator.state.copy(), integrator.pars.copy()
        integrator.put(start, x, pars)  # a time in one float, from which the steps can be repeated exactly
        ahead = self.t[sum(map(len, flight.samples)) :]
        taken = integrator.advance(float(self.t[-1]), **limits, grid=ahead, dense=guard.steep is not None)
        end, dense, doubt = integrator.time, taken.dense, None
        whole = taken.end is not End.NOT_FINITE and not _leaps((start, end), taken.longest, taken.steps)
        if whole and dense is not None:
            states = np.vstack([dense.tcs[:, :, 0], integrator.state])
            doubt = guard.first_doubt(dense.times, states.T, dense.tcs.__getitem__)
        if not whole or doubt is not None:
            integrator.put(start, x, pars)
            return None if doubt is None else Doubt(doubt + 1)
        flight.samples.append(taken.samples)
        flight.pieces.append(Leg(self.borrow, (start, end), x, pars, float(self.t[-1]), limits))
        return taken


def _status(taken: Advance, now: float) -> tuple[Status, int | None]:
    if taken.end is End.NOT_FINITE:
        return NOT_FINITE, None
    if taken.end is End.EVENT:
        return Status(Outcome.EVENT, " an event"), taken.event
    collapsed = taken.end is not End.REACHED and taken.shortest <= NO_ADVANCE * abs(now)
    return (COLLAPSED if collapsed else FINISHED), None
