"""Motions in batches on all cores: members in groups, one integrator for each thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from pfaff.errors import PfaffError
from pfaff.flow.batch_integrator import LANES, Lanes
from pfaff.motion import taylor
from pfaff.motion.between_steps import Guard, lanes_start_well
from pfaff.motion.drive import Driven
from pfaff.motion.lost_rank import SUSPICIOUS, end_where_singular
from pfaff.motion.outcomes import FINISHED, INTERRUPTED, NOT_RUN, Outcome, Status
from pfaff.motion.propagation import fly
from pfaff.motion.steep_functions import steep_functions
from pfaff.threads import hand_on

if TYPE_CHECKING:
    from pfaff.case import Case

HEARD = 100  # steps between two looks for Ctrl-C


class Batches:
    """Members in groups that run together, shared out to one integrator for each thread."""

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
        self.lanes = LANES
        self.numbers, self.x, self.t = numbers, x, t
        self.count = x.shape[1]
        self.workers = max(1, min(os.cpu_count() or 1, -(-self.count // self.lanes)))
        self.y = np.full((len(x), len(t), self.count), np.nan)
        self.outcomes = np.full(self.count, NOT_RUN, dtype=object)
        self.stopped = False  # by Ctrl-C, which only the main thread hears

    def run(self, progress: Callable[[float], None]) -> None:
        """Run all batches; Ctrl-C stops those that run and keeps what is finished."""
        groups, done = self._groups(), 0
        idle: SimpleQueue[Lanes] = SimpleQueue()
        with ThreadPoolExecutor(self.workers) as pool:
            running: set[Future[int]] = set()
            try:
                for _ in range(self.workers):
                    idle.put(taylor.lanes(self.case.system, self.zeros, self.tolerance))
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

    def _batch(self, members: np.ndarray, idle: SimpleQueue[Lanes]) -> int:
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

    def _propagate(self, integrator: Lanes, members: np.ndarray) -> np.ndarray | None:
        """Samples [state, time, lane], or None if one of the lanes did not reach the end."""
        pars = np.array([self.equations.pars(self.numbers[:, k]) for k in members]).T
        integrator.put(0.0, self.x[:, members], pars)
        integrator.advance(self.t[-1], 1, self.max_step)
        first = np.abs(integrator.last_h)
        if (
            not np.isfinite(integrator.state).all()
            or not (first > 0).all()
            or not lanes_start_well(integrator, self.tolerance)
        ):
            return None
        pars[-1] = taylor.stabilisation(np.copysign(first, self.t[-1]))
        integrator.put(0.0, self.x[:, members], pars)
        samples = np.full((len(self.t), *integrator.state.shape), np.nan)
        for taken in range(0, self.max_steps, HEARD):
            done = integrator.advance(self.t[-1], min(HEARD, self.max_steps - taken), self.max_step, self.t, samples)
            if self.stopped or done:
                break
        steady = (integrator.shortest >= SUSPICIOUS * integrator.longest).all()
        good = steady and integrator.reached.all() and np.isfinite(samples).all()
        return samples.transpose(1, 0, 2) if good else None

    def _alone(self, k: int) -> None:
        """Run a member of a failed batch by itself, as far as it gets."""
        with taylor.borrow(self.case.system, self.zeros, self.tolerance) as integrator:
            duration = float(self.t[-1])
            try:
                taylor.set_up(integrator, self.equations, self.x[:, k], self.numbers[:, k], duration)
            except PfaffError as problem:
                self.outcomes[k] = Status(Outcome.FAILED, str(problem))
                self.y[:, 0, k] = self.x[:, k]
                return
            guard = Guard(integrator.rates, self.tolerance)
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
