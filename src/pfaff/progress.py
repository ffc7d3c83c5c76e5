"""A progress bar on a terminal, or words in a notebook; elsewhere lines of the logger ``pfaff``, at INFO.

Nothing is logged for a program that does not listen, and of short work nothing at all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

SCREEN = Lock()  # two bars at once would write over each other
INFO = 20  # of logging
LOGGED = 10.0  # seconds between lines of a log
ERASED = "\r\x1b[K"  # the line on a terminal, and the cursor at its beginning


def unheard(fraction: float) -> None:
    """Progress that nobody asked for."""


@contextmanager
def bar(text: str) -> Iterator[Callable[[float], None]]:
    """Is told the fraction done; where there is no bar, it is written in words."""
    line = _line()
    if line is None or not SCREEN.acquire(blocking=False):
        yield unheard
        return
    if not isinstance(line, _OnTerminal):
        try:
            yield lambda fraction: line.show(f"{text}: {100 * fraction:.0f} %")
        finally:
            line.remove()
            SCREEN.release()
        return
    from rich.console import Console
    from rich.progress import Progress

    try:
        with Progress(console=Console(stderr=True), transient=True) as shown:
            task = shown.add_task(text, total=1.0)
            yield lambda fraction: shown.update(task, completed=fraction)
    finally:
        SCREEN.release()


@contextmanager
def counted(what: str, total: int) -> Iterator[Callable[[int, str], None] | None]:
    """A bar that is told how many of a total are done, and what to say beside it; elsewhere only the words."""
    line = _line()
    if line is None or not SCREEN.acquire(blocking=False):
        yield None
        return
    if not isinstance(line, _OnTerminal):
        try:
            yield lambda done, text: line.show(text)
        finally:
            line.remove()
            SCREEN.release()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    try:
        with Progress(
            BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True
        ) as shown:
            task = shown.add_task(f"0 of {total} {what}", total=total)
            yield lambda done, text: shown.update(task, completed=done, description=text)
    finally:
        SCREEN.release()


class _OnTerminal:
    shown = False

    def show(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)
        self.shown = True

    def remove(self) -> None:
        if self.shown:
            print(ERASED, end="", file=sys.stderr, flush=True)


class _InNotebook:
    handle: Any = None
    text = ""

    def show(self, text: str) -> None:
        from IPython.display import display

        if self.handle is None:
            self.handle = display({"text/plain": text}, raw=True, display_id=True)
        elif text != self.text:
            self.handle.update({"text/plain": text}, raw=True)
        self.text = text

    def remove(self) -> None:
        if self.handle is not None:
            nothing = {"text/html": "", "text/plain": ""}  # as text alone, pages would keep an empty box
            self.handle.update(nothing, raw=True)


class _InLog:
    """Lines of a log, the first one after a second."""

    def __init__(self, logger: Any) -> None:
        self.logger, self.begun = logger, time.monotonic()
        self.next = self.begun + 1.0
        self.logged = False

    def show(self, text: str) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + LOGGED
            self.logged = True
            self.logger.info("%s", text)

    def remove(self) -> None:
        if self.logged:
            self.logger.info("that took %.0f s", time.monotonic() - self.begun)


def _line() -> _OnTerminal | _InNotebook | _InLog | None:
    """Where a word can be shown, if anywhere."""
    if sys.stderr is not None and sys.stderr.isatty():
        return _OnTerminal()
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _InNotebook()
    logging = sys.modules.get("logging")  # who has not imported it does not listen
    logger = None if logging is None else logging.getLogger("pfaff")
    return _InLog(logger) if logger is not None and logger.isEnabledFor(INFO) else None
