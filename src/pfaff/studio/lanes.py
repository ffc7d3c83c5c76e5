"""Lanes of work: a live one in a thread, where the latest request wins, and background ones in processes.

Nothing here knows what is computed. A background lane has one process, replaced when it dies or does not stop; orders
of one client wait for their turn, and a newer one of the same kind replaces an older.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread, Timer
from typing import Any, Generic, TypeVar

from pfaff.studio.worker import Order

Item = TypeVar("Item")
BREATH = 1e-3  # seconds in which an answer is sent before the next is computed
GRACE = 3.0  # seconds that a computation has to stop once it is told to end


class Live(Generic[Item]):
    """A thread that works on the newest request only: ``work`` gives answers one by one, and is left if outdated."""

    def __init__(self, work: Callable[[Item], Iterator[None]]) -> None:
        self._work = work
        self._newest: Item | None = None
        self._changed = Condition()
        self._open = True
        Thread(target=self._run, name="pfaff studio: live", daemon=True).start()

    def ask(self, item: Item) -> None:
        with self._changed:
            self._newest = item
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._open, self._newest = False, None
            self._changed.notify()

    def newer(self) -> bool:
        """Whether the current work is outdated."""
        return self._newest is not None or not self._open

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._newest is None and self._open:
                    self._changed.wait()
                if not self._open or self._newest is None:
                    return
                item, self._newest = self._newest, None
            for _ in self._work(item):
                with self._changed:
                    if not self.newer():
                        self._changed.wait(BREATH)
                if self.newer():
                    break


@dataclass
class Job:
    """An order, its client, and the listener: messages while it lasts, then "done", "ended", "failed"."""

    client: Any
    order: Order
    hear: Callable[..., None]
    asked: float
    begun: bool = False  # its process has started it
    dropped: bool = False  # it is to end as soon as it has started
    forced: bool = False  # its process was ended, as it did not stop


class Lane:
    """One process in the background and what waits for it."""

    def __init__(self, name: str, subject: Any) -> None:
        self.name = name
        self._subject = pickle.dumps(subject)
        self._waiting: list[Job] = []
        self._doing: Job | None = None
        self._changed = Condition()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: Thread | None = None
        self._open = True

    def ask(self, client: Any, order: Order, hear: Callable[..., None], patience: float = 0.0) -> None:
        """Take an order in place of older ones of the same client; the current one may go on for some seconds."""
        now = time.monotonic()
        with self._changed:
            older = [job for job in self._waiting if job.client is client and job.order.file is None]
            if order.file is None:
                self._waiting = [job for job in self._waiting if job not in older]
            self._waiting.append(Job(client, order, hear, now))
            doing = self._doing
            outdated = doing is not None and doing.client is client and doing.order.file is None and order.file is None
            if outdated and doing is not None and now - doing.asked >= patience:
                self._interrupt()
            if self._thread is None:
                self._thread = Thread(target=self._run, name=f"pfaff studio: {self.name}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def cancel(self, client: Any) -> None:
        """End the work for a client, and forget what waits."""
        with self._changed:
            self._waiting = [job for job in self._waiting if job.client is not client]
            if self._doing is not None and self._doing.client is client:
                self._interrupt()

    def close(self) -> None:
        with self._changed:
            self._open, self._waiting = False, []
            self._changed.notify()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _interrupt(self) -> None:
        process, job = self._process, self._doing
        if job is None or not job.begun or process is None:
            if job is not None:
                job.dropped = True
            return
        if os.name == "nt":  # no interrupt reaches another process there
            job.forced = True
            return process.kill()
        process.send_signal(signal.SIGINT)

        def insist() -> None:
            if self._doing is job and self._process is process:
                job.forced = True
                process.kill()

        timer = Timer(GRACE, insist)
        timer.daemon = True
        timer.start()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and self._open:
                    self._changed.wait()
                if not self._open:
                    return
                job = self._doing = self._waiting.pop(0)
            started = time.perf_counter()
            last = self._done(job)
            with self._changed:
                self._doing = None
            _told(job, *last, ms=1e3 * (time.perf_counter() - started))

    def _done(self, job: Job) -> tuple[Any, ...]:
        """Pass on the messages of the process, until its last one."""
        try:
            process = self._started()
        except OSError as problem:
            return "failed", f"no process can be started for it ({problem}): ask again"
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(job.order, process.stdin)
            process.stdin.flush()
            while True:
                word, *rest = pickle.load(process.stdout)
                if word == "begun":
                    self._in_hand(job)
                elif word == "said":
                    _told(job, word, *rest)
                else:
                    return word, *rest
        except (EOFError, OSError, pickle.UnpicklingError):
            process.kill()
            process.wait()
            code, self._process = process.returncode, None
            why = "it did not let go and was ended" if job.forced else f"its process died (exit code {code})"
            return "failed", f"{why}: ask again, a new process is started"

    def _in_hand(self, job: Job) -> None:
        """From now on an interrupt is heard."""
        with self._changed:
            job.begun = True
            if job.dropped:
                self._interrupt()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:  # it may have died while idle
            path = [str(Path(__file__).parents[2]), *(each for each in sys.path if each)]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pfaff.studio.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the server
            )
            assert self._process.stdin is not None
            self._process.stdin.write(self._subject)
            self._process.stdin.flush()
        return self._process


def _told(job: Job, *words: Any, **more: Any) -> None:
    with suppress(Exception):  # the client may be gone: the lane serves others too
        job.hear(*words, **more)
