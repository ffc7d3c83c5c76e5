"""Executors of a study: this process, several others, or a Dask cluster. All store a chunk as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from queue import Empty, Queue
from typing import Any

from pfaff.archive.files import why
from pfaff.errors import PfaffError
from pfaff.studies.block import CRASHED, TIMED_OUT, Block, Job, Outcome, compute
from pfaff.studies.points import Chunks
from pfaff.studies.stores import EVERY, Store
from pfaff.studies.workers import CRASHES, Order, Worker, parcel

LOOK = 0.2  # seconds between looks at the clock
UNASKED = 10  # processes that may die before their first answer


@dataclass(frozen=True)
class Task:
    """Chunks to compute, and where they go. ``known`` holds outcomes to keep, by chunk, where only some points are
    computed again."""

    job: Job
    chunks: Chunks
    store: Store
    todo: list[int]
    known: dict[int, dict[int, Outcome]]

    def order(self, k: int, **more: Any) -> Order:
        return Order(k, self.chunks.places(k), dict(self.known[k]) if k in self.known else self._aside(k), **more)

    def _aside(self, k: int) -> dict[int, Outcome]:
        """Single points that were put aside; those that are none of this chunk are computed again."""
        size, names = self.chunks.size(k), set(self.job.names)
        return {j: each for j, each in self.store.kept(k).items() if 0 <= j < size and set(each.values) == names}


Progress = Callable[[int, Block], None]


def serial(task: Task, progress: Progress) -> None:
    """One chunk after another, in this process."""
    for k in task.todo:
        aside = Aside(task.store, task.order(k))
        try:
            block = compute(task.job, aside.order.places, aside.order.known, after=aside.put)
        except KeyboardInterrupt:
            aside.save()
            raise
        written(task.store, k, block)
        progress(k, block)


class Aside:
    """Single points of an unfinished chunk: saved now and then, and when the run is interrupted."""

    def __init__(self, store: Store, order: Order) -> None:
        self.store, self.order, self.outcomes = store, order, dict(order.known)
        self._saved = time.monotonic()

    def put(self, k: int, outcome: Outcome) -> None:
        self.outcomes[k] = outcome
        if time.monotonic() - self._saved > EVERY:
            self.save()

    def save(self) -> None:
        self._saved = time.monotonic()
        if self.order.k in self.store.finished():  # points computed again: earlier results stay until all are done
            return
        try:
            self.store.keep(self.order.k, self.outcomes)
        except OSError as problem:
            raise full(self.store, problem) from problem


def written(store: Store, k: int, block: Block) -> None:
    try:
        store.write(k, block)
    except OSError as problem:
        raise full(store, problem) from problem


def full(store: Store, problem: Any) -> PfaffError:
    return PfaffError(
        f"{store.path} cannot be written ({why(problem)}): the last chunk is not marked as done. Make room, and run "
        "again"
    )


class Processes:
    """Several workers; those that hang or die are replaced."""

    def __init__(self, task: Task, workers: int, timeout: float | None, progress: Progress) -> None:
        self.task, self.timeout, self.progress = task, timeout, progress
        self.events: Any = Queue()
        self.waiting: Iterator[Order] = iter([task.order(k) for k in task.todo])
        self.crashes: dict[tuple[int, int | None], int] = {}
        self.unasked = 0
        self.numbers = count()  # never reused: a message of an ended worker is not taken for its successor's
        self.workers: dict[int, Worker] = {}
        self.aside: dict[int, Aside] = {}  # by chunk
        self.hired = min(workers, len(task.todo))
        self.parcel = parcel(task.job, task.store if task.store.shared else None)

    def run(self) -> None:
        try:
            for _ in range(self.hired):
                self._hire(next(self.waiting))
            while self.workers:
                try:
                    number, message = self.events.get(timeout=LOOK)
                    self._hear(number, message)
                except Empty:
                    pass
                self._look_at_the_clock()
        except KeyboardInterrupt:
            for aside in self.aside.values():
                aside.save()
            raise
        finally:
            for worker in self.workers.values():
                worker.end()

    def _hire(self, order: Order) -> None:
        worker = Worker(next(self.numbers), self.parcel, self.events)
        self.workers[worker.number] = worker
        worker.give(order)

    def _hear(self, number: int, message: Any) -> None:
        worker = self.workers.get(number)
        if worker is None:  # a late message of an ended worker
            return
        if message is None:
            self._died(worker)
            return
        word, *rest = message
        if word == "at":
            worker.reached(rest[0], self.timeout)
        elif word == "got":
            self._keep(worker, *rest)
        elif word == "full":
            raise full(self.task.store, rest[0])
        else:
            self._finished(worker, rest[0])

    def _keep(self, worker: Worker, k: int, outcome: Outcome) -> None:
        assert worker.order is not None
        worker.order.known[k] = outcome
        chunk = worker.order.k
        if chunk not in self.aside:
            self.aside[chunk] = Aside(self.task.store, self.task.order(chunk))
        self.aside[chunk].put(k, outcome)
        worker.deadline = None

    def _finished(self, worker: Worker, block: Block) -> None:
        assert worker.order is not None
        k = worker.order.k
        self.aside.pop(k, None)
        if not self.task.store.shared:
            written(self.task.store, k, block)
        self.progress(k, block)
        order = next(self.waiting, None)
        if order is not None:
            worker.give(order)
        else:
            worker.end()
            del self.workers[worker.number]

    def _died(self, worker: Worker) -> None:
        """Try the chunk again; a point that has ended several processes is left out."""
        order = worker.order
        assert order is not None
        self._dismiss(worker)
        if worker.fresh and not order.known:
            self.unasked += 1
            if self.unasked > UNASKED:
                raise PfaffError(
                    "worker processes end as soon as they start: run with workers=0 to see why, in this process"
                )
        key = (order.k, worker.at)
        self.crashes[key] = self.crashes.get(key, 0) + 1
        if self.crashes[key] < CRASHES:
            return self._hire(order)
        if worker.at is None:  # in a batch: single points will show which one it is
            return self._hire(Order(order.k, order.places, order.known, batched=False))
        self._leave_out(order, worker.at, Outcome({}, CRASHED, f"the process died {CRASHES} times at this point"))

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        for worker in list(self.workers.values()):
            if (
                worker.deadline is not None
                and now > worker.deadline
                and worker.at is not None
                and worker.order is not None
            ):
                self._dismiss(worker)
                late = Outcome({}, TIMED_OUT, f"no result after {self.timeout:g} s")
                self._leave_out(worker.order, worker.at, late)

    def _dismiss(self, worker: Worker) -> None:
        worker.end()
        del self.workers[worker.number]

    def _leave_out(self, order: Order, k: int, outcome: Outcome) -> None:
        self._hire(Order(order.k, order.places, {**order.known, k: outcome}, order.batched))
