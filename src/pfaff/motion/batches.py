"""Motions in SIMD batches on all cores: members in groups, one integrator for each thread."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import heyoka as hy
import numpy as np

from pfaff.errors import PfaffError
from pfaff.flow.compiled import taylor_method
from pfaff.motion import taylor
from pfaff.motion.between_steps import Guard, lanes_start_well, rates_by
from pfaff.motion.drive import Driven
from pfaff.motion.lost_rank import SUSPICIOUS, end_where_singular
from pfaff.motion.outcomes import FINISHED, INTERRUPTED, NOT_RUN, Outcome, Status
from pfaff.motion.propagation import fly
from pfaff.motion.steep_functions import steep_functions
from pfaff.statement import System
from pfaff.threads import hand_on, once

if TYPE_CHECKING:
    from pfaff.case import Case

MANY = 1000  # members for which a longer compilation pays


class Batches:
    """Members in groups as wide as the processor's vectors, shared out to one integrator for each thread."""

    def __init__(
        self,
        case: Case,
        numbers: np.ndarray,
        x: np.ndarray,
        t: np.ndarray,
        tolerance: float,
        max_steps: int,
        max_step: float = np.inf,
    ) -> None:
        system = case.system
        zeros = frozenset(name for name, row in zip(system.parameter_names, numbers, strict=True) if not np.any(row))
        self.case, self.zeros, self.tolerance, self.max_steps = case, zeros, tolerance, max_steps
        self.max_step, self.steep = max_step, steep_functions(system, tolerance)
        self.equations = taylor.equations(system, zeros)
        self.lanes = hy.recommended_simd_size()
        self.numbers, self.x, self.t = numbers, x, t
        self.count = x.shape[1]
        self.workers = max(1, min(os.cpu_count() or 1, -(-self.count // self.lanes)))
        self.y = np.full((len(x), len(t), self.count), np.nan)
        self.outcomes = np.full(self.count, NOT_RUN, dtype=object)
        self.stopped = False  # by Ctrl-C, which only the main thread hears

    def run(self, progress: Callable[[float], None]) -> None:
        """Run all batches; Ctrl-C stops those that run and keeps what is finished."""
        groups, done = self._groups(), 0
        idle: SimpleQueue[Any] = SimpleQueue()
        try:  # compilation takes seconds
            for _ in range(self.workers):
                compiled = _batch_integrator(self.case.system, self.zeros, self.tolerance, self.count > MANY)
                idle.put(copy.deepcopy(compiled))
        except KeyboardInterrupt:
            hand_on()
            return
        with ThreadPoolExecutor(self.workers) as pool:
            running: set[Future[int]] = set()
            try:
                for group in groups:
                    running.add(pool.submit(self._batch, group, idle))
                    if len(running) >= 2 * self.workers:
                        finished, running = wait(running, return_when=FIRST_COMPLETED)
                        done += sum(future.result() for future in finished)
                        progress(done / self.count)
                for future in running:
                    done += future.result()
                    progress(done / self.count)
            except KeyboardInterrupt:
                self.stopped = True
                for future in running:
                    future.cancel()
                hand_on()

    def _groups(self) -> Iterator[np.ndarray]:
        """Members of each batch; the last one is filled up by repeating its last member."""
        for start in range(0, self.count, self.lanes):
            yield np.minimum(np.arange(start, start + self.lanes), self.count - 1)

    def _batch(self, members: np.ndarray, idle: SimpleQueue[Any]) -> int:
        integrator = idle.get()
        try:  # each motion past steep functions has steps of its own
            samples = None if self.steep else self._propagate(integrator, members)
        finally:
            idle.put(integrator)
        own = np.unique(members)
        if self.stopped:
            self.outcomes[own], self.y[:, 0, own] = INTERRUPTED, self.x[:, own]
        elif samples is None:
            for k in own:
                self._alone(int(k))
        else:
            self.y[:, :, own] = samples[:, :, : len(own)]
            self.outcomes[own] = FINISHED
        return len(own)

    def _propagate(self, integrator: Any, members: np.ndarray) -> np.ndarray | None:
        """Samples [state, time, lane], or None if one of the lanes did not reach the end."""
        pars = np.array([self.equations.pars(self.numbers[:, k]) for k in members]).T
        self._reset(integrator, members, pars)
        integrator.step(
            np.full(self.lanes, np.copysign(min(self.max_step, abs(self.t[-1])), self.t[-1])), write_tc=True
        )
        first = np.abs(integrator.last_h)
        if (
            not np.isfinite(integrator.state).all()
            or not (first > 0).all()
            or not lanes_start_well(integrator, self.tolerance)
        ):
            return None
        pars[-1] = taylor.stabilisation(np.copysign(first, self.t[-1]))
        self._reset(integrator, members, pars)
        grid = np.repeat(self.t[:, None], self.lanes, axis=1)
        limits = {"max_steps": self.max_steps, "max_delta_t": np.full(self.lanes, self.max_step)}
        _, samples = integrator.propagate_grid(grid, **limits, callback=lambda _: not self.stopped)
        good = all(
            outcome == hy.taylor_outcome.time_limit and shortest >= SUSPICIOUS * longest
            for outcome, shortest, longest, _ in integrator.propagate_res
        )
        return samples.transpose(1, 0, 2) if good and np.isfinite(samples).all() else None

    def _reset(self, integrator: Any, members: np.ndarray, pars: np.ndarray) -> None:
        integrator.set_time(0.0)
        integrator.state[:] = self.x[:, members]
        integrator.pars[:] = pars[: len(integrator.pars)]

    def _alone(self, k: int) -> None:
        """Run a member of a failed batch by itself, as far as it gets."""
        with taylor.borrow(self.case.system, self.zeros, self.tolerance, self.equations.optimised()) as integrator:
            duration = float(self.t[-1])
            try:
                taylor.set_up(integrator, self.equations, self.x[:, k], self.numbers[:, k], duration)
            except PfaffError as problem:
                self.outcomes[k] = Status(Outcome.FAILED, str(problem))
                self.y[:, 0, k] = self.x[:, k]
                return
            guard = Guard(rates_by(integrator), self.tolerance)
            if self.steep:
                numbers, flow = self.numbers[:, k], self.case.system.flow
                guard = Guard(lambda x, t: flow.rates(x, numbers, t), self.tolerance, self.steep, lambda t: numbers)
            flight = fly(
                integrator,
                duration,
                max_steps=self.max_steps,
                longest_step=self.max_step,
                progress=self._heard,
                guard=guard,
            )
        values = zip(self.case.system.parameter_names, map(float, self.numbers[:, k]), strict=True)
        self.outcomes[k] = end_where_singular(Driven(self.case.unchecked(**dict(values))), flight)
        reached = np.abs(self.t) <= abs(flight.end)
        if flight.pieces:
            self.y[:, reached, k] = flight(self.t[reached])

    def _heard(self, share: float) -> None:
        if self.stopped:
            raise KeyboardInterrupt


@once(most=16)
def _batch_integrator(system: System, zeros: frozenset[str], tolerance: float, many: bool) -> Any:
    equations = taylor.equations(system, zeros)
    lanes = hy.recommended_simd_size()
    settings = equations.optimised(long=many).settings
    return taylor_method(equations.rates, np.zeros((len(equations.rates), lanes)), tol=tolerance, **settings)
