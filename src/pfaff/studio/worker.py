"""A process for long computations: started as a fresh Python, so that no script need be guarded.

It takes the subject once and then orders, by pickle, and answers with messages while it works and a last one. An
interrupt ends its work, as Ctrl-C does on the shell, and what was found so far is kept.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from pfaff import doors
from pfaff.errors import PfaffError


class Order(NamedTuple):
    """A task for a view; ``files`` says what kind of file is wanted."""

    task: str
    view: Any
    file: tuple[str, str] | None = None


class Interrupts:
    """Hears Ctrl-C while something is computed, but not in the middle of a message."""

    def __init__(self) -> None:
        self.busy = self.speaking = self.waiting = False
        signal.signal(signal.SIGINT, self._heard)

    def _heard(self, *_: Any) -> None:
        if self.speaking:
            self.waiting = True
        elif self.busy:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        self.speaking = True
        try:
            yield
        finally:
            self.speaking = False
        if self.waiting:
            self.waiting = False
            raise KeyboardInterrupt


def main() -> None:
    """Take orders from stdin and answer to where stdout was; what else is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    interrupts = Interrupts()
    if hasattr(os, "nice"):
        os.nice(10)  # live work comes first

    def say(*message: Any) -> None:
        with interrupts.held():
            pickle.dump(message, answers)
            answers.flush()

    try:
        tasks = doors.tasks.Tasks(pickle.load(sys.stdin.buffer))
        while True:
            order = pickle.load(sys.stdin.buffer)
            answer = _obeyed(tasks, order, interrupts, say)
            interrupts.busy = interrupts.waiting = False
            say(*answer)
    except (EOFError, BrokenPipeError):
        return


def _obeyed(tasks: Any, order: Order, interrupts: Interrupts, say: Any) -> tuple[Any, ...]:
    """Carry out an order; returns the last message about it."""
    try:
        interrupts.busy = True
        say("begun")
        if order.file is not None:
            return "done", doors.downloads.written(tasks, order.view, *order.file)
        return "done", tasks.do(order.task, order.view, lambda *words: say("said", *words))
    except KeyboardInterrupt:
        return ("ended",)
    except PfaffError as problem:
        return "failed", str(problem)
    except Exception as problem:  # a fault of ours, or memory is exhausted: the lane goes on
        return "failed", f"{type(problem).__name__}: {problem}"[:500]


if __name__ == "__main__":
    main()
