"""Worker processes that can be replaced: if one hangs or dies, only its current point is lost.

A worker is a fresh Python started with this module, so that a script that asks for a study need not be guarded. It
computes one chunk at a time, reports the point it is at, and writes into the store itself where that is allowed.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import numpy as np

from pfaff.archive.files import why
from pfaff.errors import ParameterError
from pfaff.studies.block import Job, Outcome, compute

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
GRACE = 20.0  # seconds more for the first point of a process, which loads all that it needs
MAIN = b"__main__"  # where functions that are typed in say they are
CRASHES = 3  # crashes at the same point after which it is left out


@dataclass(frozen=True)
class Order:
    """A chunk to compute: its number, its places, outcomes that are known, and whether batches are allowed."""

    k: int
    places: np.ndarray
    known: dict[int, Outcome] = field(default_factory=dict)
    batched: bool = True


def parcel(job: Job, store: Any) -> bytes:
    """A job and its store for other processes. Functions that no file holds, such as lambdas, go as cloudpickle writes
    them, where it is installed."""
    typed_in = [each for each in job.measures if each.about["kind"] == "function" and "file" not in each.about]
    try:
        import cloudpickle
    except ImportError:
        cloudpickle = None
    writer = cloudpickle if cloudpickle is not None and typed_in else pickle
    problem: Exception | None = None
    for each in dict.fromkeys([writer, cloudpickle or pickle]):
        try:
            sent: bytes = each.dumps((job, store))
        except Exception as found:  # objects of the user's may raise anything when they are pickled
            problem = found
        else:
            if each is not pickle or MAIN not in sent:  # what is typed in is not found again by its name
                return sent
    names = [name for each in typed_in for name in each.names]
    what = f"what measures {', '.join(names)}" if names else f"{job.case.system.name}, of which this study is,"
    raise ParameterError(
        f"{what} cannot be sent to other processes{f' ({why(problem)})' if problem else ''}: write its functions with "
        "def at the top of a file, run it here, without workers=, or install cloudpickle, which sends functions that "
        "are typed in"
    ) from problem


class Worker:
    """A process, its current point, and its deadline."""

    def __init__(self, number: int, parcel: bytes, events: Queue[tuple[int, Any]]) -> None:
        self.number, self.fresh = number, True
        self.order: Order | None = None
        self.at: int | None = None
        self.deadline: float | None = None
        environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": os.pathsep.join(_search_path())}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pfaff.studies.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the one who asked
        )
        self._send(parcel)
        Thread(target=self._listen, args=(events,), daemon=True).start()

    def give(self, order: Order) -> None:
        self.order, self.at, self.deadline = order, None, None
        self._send(pickle.dumps(order))

    def reached(self, k: int, timeout: float | None) -> None:
        self.at = k
        self.deadline = None if timeout is None else time.monotonic() + timeout + (GRACE if self.fresh else 0.0)
        self.fresh = False

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(message)
            self.process.stdin.flush()
        except OSError:  # a broken pipe, or on Windows an invalid argument
            pass  # it has died, as its silence shows

    def _listen(self, events: Queue[tuple[int, Any]]) -> None:
        try:
            while True:
                events.put((self.number, pickle.load(self.process.stdout)))  # type: ignore[arg-type]
        except (EOFError, OSError, pickle.UnpicklingError):
            events.put((self.number, None))


def _search_path() -> list[str]:
    """Where this process finds modules, so that a worker finds the same."""
    ours = str(Path(__file__).parents[2])
    return [ours, *(each for each in sys.path if each and each != ours)]


def main() -> None:
    """Take orders from stdin and answer to where stdout was; what else is printed goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def say(*message: Any) -> None:
        pickle.dump(message, answers)
        answers.flush()

    try:
        job, store = pickle.load(sys.stdin.buffer)
        while True:
            _obey(pickle.load(sys.stdin.buffer), job, store, say)
    except (EOFError, BrokenPipeError):
        return


def _obey(order: Order, job: Job, store: Any, say: Any) -> None:
    from dataclasses import replace

    job = job if order.batched else replace(job, batched=False)
    block = compute(job, order.places, order.known, lambda k: say("at", k), lambda k, outcome: say("got", k, outcome))
    if store is None:
        return say("done", block)
    try:
        store.write(order.k, block)
    except OSError as problem:
        return say("full", why(problem))
    block.values = {}
    say("done", block)


if __name__ == "__main__":
    main()
