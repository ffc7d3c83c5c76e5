"""Taylor's method on tapes: steps as long as the series allow, dense output, and events located by the polynomials.

The order follows from the tolerance; each step from the last two coefficients (Jorba & Zou 2005). Nothing is compiled
for a system: ``flow.recurrences`` lowers its tape, and ``kernels`` sweeps through. Threads have integrators of their
own: copies share what does not change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from pfaff.flow.graph import Expression
from pfaff.flow.recurrences import Recurrences, lowered
from pfaff.flow.sign_changes import Crossing, Function, Lookout
from pfaff.flow.tape import Tape, tape_of
from pfaff.kernels.coefficients import evaluated
from pfaff.kernels.readers import Reader
from pfaff.kernels.taylor_steps import Sweeper
from pfaff.threads import cached_property

ROOM = 2**18  # numbers in a block of polynomials that are kept
NEVER = np.zeros(0)


class End(IntEnum):
    """Why steps ended; the first three by the kernel's numbers."""

    REACHED = 0
    STEPS = 1
    NOT_FINITE = 2
    EVENT = 3


@dataclass(frozen=True, eq=False)
class Dense:
    """Polynomials of steps [step, state, power], and the times between which they hold, with what these are less."""

    times: np.ndarray
    tcs: np.ndarray
    rests: np.ndarray

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.times[0]), float(self.times[-1])

    def __call__(self, t: Any) -> np.ndarray:
        """The states, a row for each time."""
        t = np.asarray(t, dtype=float)
        at = np.atleast_1d(t)
        which = np.minimum(np.searchsorted(np.abs(self.times[1:]), np.abs(at)), len(self.tcs) - 1)
        later = (at == self.times[which + 1]) & (self.rests[which + 1] * (self.times[-1] - self.times[0]) < 0)
        which = np.minimum(which + later, len(self.tcs) - 1).astype(np.int32)
        since = (at - self.times[which]) - self.rests[which]
        out = np.empty((len(which), self.tcs.shape[1]))
        evaluated(self.tcs, which, since, out)
        return out if t.ndim else out[0]


@dataclass
class Advance:
    """Some steps: why they ended, with which function if that ended them, their lengths; what was asked for of them."""

    end: End
    event: int | None = None
    steps: int = 0
    shortest: float = np.inf
    longest: float = 0.0
    samples: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    dense: Dense | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """What integrators of one set of equations share: tape and recurrences, rates first, then functions."""

    tape: Tape
    recurrences: Recurrences
    tolerance: float
    functions: tuple[Function, ...] = ()

    @property
    def order(self) -> int:
        """The order that is the cheapest for the tolerance."""
        return max(2, math.ceil(1 - math.log(self.tolerance) / 2))

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.tape)


def program(
    rates: Sequence[tuple[Expression, Expression]], tolerance: float, events: Sequence[tuple[Expression, Function]] = ()
) -> Program:
    """The program of dx/dt = rates, given as pairs, and of functions whose zeros are events."""
    variables, slopes = zip(*rates, strict=True)
    tape = tape_of([*slopes, *(expression for expression, _ in events)], list(variables))
    return Program(tape, lowered(tape), tolerance, tuple(function for _, function in events))


class Integrator:
    """A trajectory: ``time``, ``state`` and ``pars`` are its own and may be set."""

    def __init__(self, program: Program) -> None:
        self.program, self.order = program, program.order
        n, count = program.tape.n, self.order + 1
        self.state, self.pars = np.zeros(n), np.zeros(program.tape.p)
        self._x, self._f = aligned(n * count), aligned(len(program.functions) * count)
        self._sweeper = Sweeper(program.recurrences, self.order, self.state, self.pars, self._x, self._f, aligned)
        self._polynomials = self._x.reshape(n, count)
        series = self._f[: len(program.functions) * count].reshape(-1, count)
        self._lookout = Lookout(program.functions, series, lambda x, t: self.values(x, t)[n:])
        self.last_h = 0.0

    def __deepcopy__(self, memo: Any) -> Integrator:
        other = Integrator(self.program)
        other.put(self.time, self.state, self.pars)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return Integrator, (self.program,)

    @property
    def operations(self) -> int:
        """Elementary operations of one evaluation."""
        return len(self.program.tape.rows)

    @property
    def time(self) -> float:
        return self._sweeper.time

    @time.setter
    def time(self, time: float) -> None:
        self._sweeper.time, self._sweeper.rest = time, 0.0

    @property
    def tc(self) -> np.ndarray:
        """The coefficients [state, power] of the last step."""
        return self._polynomials

    @property
    def happened(self) -> list[Crossing]:
        """Where functions vanished, in order."""
        return self._lookout.found

    def withdraw(self, t: float) -> None:
        """Forget what happened after a time, in a step that is taken again."""
        self._lookout.found = [each for each in self._lookout.found if abs(each.time) <= abs(t)]

    def put(self, time: float, x: np.ndarray, pars: np.ndarray) -> None:
        """Set time, state and parameters, of which there may be more than occur; what functions did is forgotten."""
        self.time = time
        self.state[:], self.pars[:] = x, pars[: len(self.pars)]
        self._lookout.forget()

    def rates(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """f(x) at several states, one column each."""
        return self.values(x, t)[: len(x)]

    def values(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Rates, then functions, at several states, one column each."""
        count, pars = x.shape[1], np.repeat(self.pars[:, None], x.shape[1], axis=1)
        out = np.empty((len(self.program.tape.outputs), count))
        self.program.reader.batch(np.ascontiguousarray(x), pars, np.array(np.broadcast_to(t, count), dtype=float), out)
        return out

    def series(self) -> np.ndarray:
        """The coefficients at the state, [state, power]."""
        self._sweeper.series()
        return self._polynomials

    def step(self, longest: float) -> Advance:
        """One step of at most this length, backwards if that is negative."""
        taken = self.advance(self.time + longest, 1, abs(longest))
        self.last_h = self._sweeper.h
        return taken

    def advance(
        self,
        target: float,
        most: int,
        longest: float = np.inf,
        *,
        grid: np.ndarray | None = None,
        dense: bool = False,
    ) -> Advance:
        """At most so many steps towards a target, sampled at the times of a grid that they pass, with dense output."""
        sweeper, n, count = self._sweeper, len(self.state), self.order + 1
        grid = NEVER if grid is None else np.ascontiguousarray(grid, dtype=float)
        samples, sampled = np.empty((len(grid), n)), 0
        block = min(most, max(16, ROOM // (n * count))) if dense else most
        ends, polynomials = [np.array([[sweeper.time, sweeper.rest]])], list[np.ndarray]()
        found, forced = Advance(End.STEPS), np.nan
        stop: int | None = None
        while found.steps < most and found.end is End.STEPS:
            room = None
            if dense:
                room = np.empty((block, 2)), np.empty((block, n, count))
            allowed = min(block, most - found.steps) if stop is None else 1
            code = sweeper.advance(target, allowed, longest, forced, grid[sampled:], samples[sampled:], room)
            forced = np.nan
            found.steps += sweeper.steps
            sampled += sweeper.sampled
            found.shortest, found.longest = min(found.shortest, sweeper.shortest), max(found.longest, sweeper.longest)
            if room and sweeper.steps:
                whole = sweeper.steps == block
                ends.append(room[0] if whole else room[0][: sweeper.steps].copy())
                polynomials.append(room[1] if whole else room[1][: sweeper.steps].copy())
            if stop is not None and code != End.NOT_FINITE:
                found.end, found.event = End.EVENT, stop
            elif code == End.EVENT:  # the kernel's sign that a function may vanish in the next step
                forced, stop = self._lookout(sweeper)
            else:
                found.end = End(code)
        found.samples = samples[:sampled]
        if dense and polynomials:
            times, rests = np.concatenate(ends).T.copy()
            found.dense = Dense(times, np.concatenate(polynomials), rests)
        return found


def aligned(count: int) -> np.ndarray:
    """Zeros that begin where vectors of a processor do, at least one."""
    raw = np.zeros(max(1, count) + 8)
    first = (-raw.ctypes.data // 8) % 8
    return raw[first : first + max(1, count)]
