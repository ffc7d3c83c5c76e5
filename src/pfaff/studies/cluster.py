"""A study on a Dask cluster: one task for each chunk, whose worker writes it into the store itself.

Nothing depends on the scheduler staying alive: what is in the store is done. A task first checks whether its chunk is
there.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from typing import Any

from pfaff.archive.files import why
from pfaff.errors import ParameterError, PfaffError
from pfaff.statement.values import shown
from pfaff.studies.block import CRASHED, Block, Job, Outcome, compute
from pfaff.studies.executors import Aside, Progress, Task, written
from pfaff.studies.workers import Order

AHEAD = 4  # tasks for each thread of the cluster that are submitted at a time


def on_cluster(task: Task, client: Any, progress: Progress) -> None:
    """Submit chunks as tasks, a few ahead of the workers; a chunk whose worker died too often is recorded as
    crashed."""
    try:
        from distributed import Client, as_completed
    except ImportError as problem:
        raise ParameterError("a Dask cluster needs the extra: pip install 'pfaff[sweep]'") from problem
    if not isinstance(client, Client):
        raise ParameterError(f"client={shown(client)} is no client of Dask: give distributed.Client(…)")
    store = task.store if task.store.shared else None
    jobs = [client.scatter(task.job, broadcast=True, hash=False)]
    orders = [task.order(k) for k in reversed(task.todo)]
    running: dict[Any, Order] = {}  # by future
    queue = as_completed([])

    def submit() -> None:
        if not orders:
            return
        if jobs[0].cancelled():  # the workers that had it are gone
            jobs[0] = client.scatter(task.job, broadcast=True, hash=False)
        order = orders.pop()
        future = client.submit(computed, jobs[0], store, order, pure=False, retries=1)
        running[future] = order
        queue.add(future)

    try:
        for _ in range(AHEAD * max(1, sum(client.nthreads().values()))):
            submit()
        for future in queue:
            order = running.pop(future)
            block = None if future.cancelled() else _result(future, task, order.k)
            if block is None:
                orders.append(order)
            else:
                if store is None or block.values:
                    written(task.store, order.k, block)
                progress(order.k, block)
            future.release()
            submit()
    finally:  # an interrupted run begins nothing more; a worker finishes and stores what it has in hand
        client.cancel(list(running))


def computed(job: Job, store: Any, order: Order) -> Block:
    """The task of a worker of the cluster; only results that are not in a store are returned."""
    after = Aside(store, order).put if store is not None else lambda k, outcome: None
    block = compute(job, order.places, order.known, after=after)
    if store is not None:
        store.write(order.k, block)
        block.values = {}
    return block


def _result(future: Any, task: Task, k: int) -> Block | None:
    """What a task has computed; None if it is cancelled meanwhile, as its worker is gone."""
    from distributed.scheduler import KilledWorker

    try:
        block: Block = future.result()
        return block
    except CancelledError:
        return None
    except KilledWorker as problem:
        block = Block.empty(task.job.names, task.chunks.size(k))
        for j in range(len(block.state)):
            block.put(j, Outcome({}, CRASHED, f"workers died with this chunk: {problem}"))
        return block
    except OSError as problem:
        raise PfaffError(
            f"a worker cannot write into {task.store.path} ({why(problem)}): give a folder that all share"
        ) from problem
