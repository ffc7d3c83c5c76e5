"""Integration by Taylor's method (heyoka): the compiled integrator, its propagation in pieces, its dense output.

The equations are those of the multiplier form, in all coordinates and velocities: regular wherever the constraints are
independent. Errors of the constraints decay (Baumgarte 1972) at a rate set by the first step.

A short motion is sampled while it is integrated. Its dense output, which costs as much again, is made when it is first
asked for, by the same steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import heyoka as hy
import numpy as np

from pfaff.errors import ConvergenceError
from pfaff.flow.collected import collect
from pfaff.flow.compiled import Compiled, taylor_method
from pfaff.flow.graph import Expression, Graph, graph_of
from pfaff.motion.drive import SINCE
from pfaff.motion.status import COLLAPSED, FINISHED, INTERRUPTED, NOT_FINITE, TOO_MANY
from pfaff.statement import System
from pfaff.threads import Lent, cached_property, once

DECAY = 5.0  # steps in which an error of the constraints decays to a third
HEARD = 0.1  # seconds between two looks at Ctrl-C and the progress
NO_ADVANCE = 1e-14  # a step shorter than this, relative to the time, no longer advances
RELAXED = (200, 3200)  # steps after which the stabilisation follows their length: while it changes, once it is steady
PULSE = 500  # steps at least where time enters explicitly, lest they leap over a pulse that has not yet begun
UNROLLED = 16  # states up to which unrolled code, which runs twice as fast, can be compiled at all
SMALL = 128  # operations up to which that takes a second or two; its time grows with their square
LONG = 3e5  # steps of a motion for which it pays to wait longer


@dataclass(frozen=True, eq=False)
class Equations:
    """First-order equations of all coordinates and velocities, and how their ``par`` follow from the parameters."""

    graph: Graph
    rates: list[tuple[Expression, Expression]]
    reactions: list[Expression]
    numbers: Callable[[np.ndarray], np.ndarray]
    coefficients: int
    lean: bool

    @cached_property
    def operations(self) -> int:
        """Elementary operations of one evaluation."""
        states, rates = zip(*self.rates, strict=True)
        return Compiled(rates, states, quick=True).operations

    def unrolled(self, long: bool = False) -> bool:
        """Whether to compile without loops: worth it for few operations, or for long motions."""
        return self.lean and len(self.rates) <= UNROLLED and (long or self.operations <= SMALL)

    @cached_property
    def timed(self) -> bool:
        """Whether time enters explicitly."""
        s = self.graph.system.statement
        return any(s.time in e.free_symbols for e in (s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints))

    def pars(self, parameters: np.ndarray, stabilisation: float = 0.0) -> np.ndarray:
        """What the integrator takes: its coefficients, then the rate of stabilisation."""
        return np.append(self.numbers(parameters), stabilisation)


@once(most=64)
def equations(system: System, zeros: frozenset[str]) -> Equations:
    """Collected by monomials if the system is small, else as the graph has them; without what vanishes."""
    # Polynomials about a knot must not be expanded about time zero.
    collected = None if SINCE in system.parameter_names else collect(system, zeros)
    graph = collected.graph if collected else graph_of(system, zeros)
    coefficients = len(collected.coefficients) if collected else len(system.parameters)
    accelerations, reactions = graph.solve(hy.par[coefficients] if graph.A else None)
    rates = [*zip(graph.q, graph.v, strict=True), *zip(graph.v, accelerations, strict=True)]
    numbers = collected.numbers if collected else (lambda parameters: parameters)
    return Equations(graph, rates, reactions, numbers, coefficients, lean=collected is not None)


@once(most=32)
def _integrators(system: System, zeros: frozenset[str], tolerance: float, unrolled: bool) -> Lent[Any]:
    return Lent(build(equations(system, zeros), tolerance, unrolled))


def borrow(system: System, zeros: frozenset[str], tolerance: float, long: bool = False) -> AbstractContextManager[Any]:
    """A compiled integrator, for as long as it is used; its time, state and parameters are whatever they were."""
    return _integrators(system, zeros, tolerance, equations(system, zeros).unrolled(long)).lend()


def build(eqs: Equations, tolerance: float, unrolled: bool, **events: Any) -> Any:
    settings = {"tol": tolerance, "compact_mode": not unrolled, "opt_level": 1}
    return taylor_method(eqs.rates, np.zeros(len(eqs.rates)), **settings, **events)


def stabilisation(step: Any) -> Any:
    """The rate at which errors of the constraints shall decay, for steps of this length (or of these lengths)."""
    return 1.0 / (DECAY * step)


def set_up(integrator: Any, eqs: Equations, x: np.ndarray, parameters: np.ndarray, duration: float) -> float:
    """Set state and parameters; returns the length of a first step, on whose scale constraint errors shall decay."""
    put(integrator, 0.0, x, eqs.pars(parameters))
    integrator.step(max_delta_t=duration)
    first = abs(integrator.last_h)
    if not np.isfinite(integrator.state).all() or not first > 0:
        raise ConvergenceError("the motion cannot start: its first step is not finite")
    put(integrator, 0.0, x, eqs.pars(parameters, stabilisation(np.copysign(first, duration))))
    return first


def put(integrator: Any, time: float, x: np.ndarray, pars: np.ndarray) -> None:
    """Set time, state and parameters; an integrator has exactly the ``par`` up to the last one that occurs."""
    integrator.time, integrator.state[:], integrator.pars[:] = time, x, pars[: len(integrator.pars)]


@dataclass(frozen=True, eq=False)
class Leg:
    """Some steps of a flight: where and how they began. Their dense output is made when it is first asked for."""

    borrow: Callable[[], AbstractContextManager[Any]]
    bounds: tuple[float, float]
    x: np.ndarray
    pars: np.ndarray
    target: float
    limits: dict[str, Any]

    @cached_property
    def dense(self) -> Any:
        with self.borrow() as integrator:
            put(integrator, self.bounds[0], self.x, self.pars)
            return integrator.propagate_until(self.target, **self.limits, c_output=True)[4]

    @property
    def times(self) -> np.ndarray:
        return self.dense.times

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return self.dense(t)


@dataclass
class Flight:
    """What an integrator went through: dense output piece by piece, steps and the reason of its end."""

    pieces: list[Any] = field(default_factory=list)
    samples: list[np.ndarray] = field(default_factory=list)  # states at times asked for, as far as they were taken
    steps: int = 0
    status: str = FINISHED
    event: int | None = None
    shortest: float = np.inf
    longest: float = 0.0
    cut: float | None = None  # where the motion ends although the integrator went on

    @property
    def end(self) -> float:
        if self.cut is not None:
            return self.cut
        return float(self.pieces[-1].bounds[1]) if self.pieces else 0.0

    @property
    def times(self) -> np.ndarray:
        """The ends of all steps."""
        ends = np.concatenate([[0.0], *(np.asarray(piece.times)[1:] for piece in self.pieces)])
        return ends if self.cut is None else ends[np.abs(ends) <= abs(self.cut)]

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """The state, one column for each time: the polynomials of the steps."""
        t = np.atleast_1d(np.asarray(t, dtype=float))
        ends = np.array([piece.bounds[1] for piece in self.pieces])
        which = np.minimum(np.searchsorted(np.abs(ends), np.abs(t)), len(ends) - 1)
        order = np.argsort(which, kind="stable")
        parts = [self.pieces[k](t[which == k]) for k in (np.unique(which) if len(t) else [0])]
        x = np.empty((parts[0].shape[1], len(t)))
        x[:, order] = np.concatenate(parts).T
        return x

    def at(self, t: np.ndarray) -> np.ndarray:
        """The state at the times that were asked for: as it was sampled on the way, else by the polynomials."""
        known = sum(map(len, self.samples))
        rest = [self(t[known:]).T] if known < len(t) else []
        return np.ascontiguousarray(np.concatenate([*self.samples, *rest]).T)


def fly(
    integrator: Any,
    duration: float,
    *,
    max_steps: int,
    knots: Iterable[float] = (),
    change: Callable[[int], None] = lambda k: None,
    relax: Callable[[float], None] = lambda step: None,
    longest_step: float = np.inf,
    progress: Callable[[float], None] = lambda fraction: None,
    sampling: Sampling | None = None,
) -> Flight:
    """Propagate to the duration, calling ``change(k)`` at the start of every interval between knots
    and ``relax(step)`` now and then with the length of recent steps.

    With ``sampling`` the first moments are sampled, and keep notes in the place of their dense output. Ctrl-C, a step
    that collapses and a state that is not finite end the flight; what was computed is kept.
    """
    flight = Flight()
    knots = list(knots)
    try:
        if not knots:
            _to(integrator, duration, max_steps, flight, relax, longest_step, progress, sampling)
        else:
            _through(integrator, [*knots, duration], max_steps, flight, change, progress)
    except KeyboardInterrupt:
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
            if flight.status == NOT_FINITE:
                return
            steps.add(integrator.time, integrator.tc)
            if flight.status != FINISHED:
                return
            flight.shortest, flight.longest = min(flight.shortest, abs(h)), max(flight.longest, abs(h))
        integrator.time = target
        progress(abs(target / targets[-1]))


class Steps:
    """Dense output of single steps: their ends and their Taylor polynomials."""

    def __init__(self) -> None:
        self._ends = [0.0]
        self._polynomials: list[np.ndarray] = []
        self._stacked = np.zeros((0, 0, 0))

    def add(self, end: float, coefficients: np.ndarray) -> None:
        self._ends.append(float(end))
        self._polynomials.append(coefficients.copy())

    @property
    def times(self) -> np.ndarray:
        return np.array(self._ends)

    @property
    def bounds(self) -> tuple[float, float]:
        return self._ends[0], self._ends[-1]

    def __call__(self, t: np.ndarray) -> np.ndarray:
        ends = self.times
        which = np.clip(np.searchsorted(np.abs(ends), np.abs(t), side="right") - 1, 0, len(self._polynomials) - 1)
        since = t - ends[which]
        if len(self._stacked) != len(self._polynomials):
            self._stacked = np.array(self._polynomials)
        coefficients = self._stacked[which]
        value = coefficients[:, :, -1]
        for k in range(coefficients.shape[2] - 2, -1, -1):
            value = coefficients[:, :, k] + since[:, None] * value
        return value


@dataclass
class _Pace:
    """When the stabilisation follows the steps: by their count, lest a motion depend on how busy the machine is."""

    due: int = RELAXED[0]
    interval: int = RELAXED[0]
    steps: int = 0
    time: float = 0.0
    length: float = np.inf

    def recent(self, flight: Flight) -> float:
        """The length of the steps since the last look; the next one is later if it has hardly changed."""
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
    chunk, pace, whole = RELAXED[0], _Pace(), time.perf_counter()
    while integrator.time != target:
        began = time.perf_counter()
        left = max_steps - flight.steps
        if left <= 0:
            flight.status = TOO_MANY
            return
        limits = {"max_steps": min(chunk, left, pace.due - flight.steps), "max_delta_t": longest_step}
        ended = sampling.leg(integrator, limits, flight) if sampling and began - whole < HEARD else None
        outcome, shortest, longest, steps = ended or _dense(integrator, target, limits, flight)
        flight.steps += steps
        flight.shortest, flight.longest = min(flight.shortest, shortest), max(flight.longest, longest)
        flight.status, flight.event = _status(outcome, shortest, integrator.time)
        if flight.event is not None and integrator.time == 0.0:  # a start on the surface of a stop does not count
            flight.status, flight.event = FINISHED, None
            continue
        if flight.status != FINISHED:
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
    """The times at which a motion is wanted, from its start to its end, and whence to borrow its integrator again."""

    t: np.ndarray
    borrow: Callable[[], AbstractContextManager[Any]]

    def leg(self, integrator: Any, limits: dict[str, Any], flight: Flight) -> Ended | None:
        """Some steps, sampled on the way; nothing has happened if they do not end as they should."""
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


def _status(outcome: Any, shortest: float, now: float) -> tuple[str, int | None]:
    if outcome in (hy.taylor_outcome.time_limit, hy.taylor_outcome.step_limit, hy.taylor_outcome.success):
        collapsed = outcome != hy.taylor_outcome.time_limit and abs(shortest) <= NO_ADVANCE * abs(now)
        return (COLLAPSED if collapsed else FINISHED), None
    if outcome == hy.taylor_outcome.err_nf_state:
        return NOT_FINITE, None
    return "stopped by an event", -int(outcome) - 1
