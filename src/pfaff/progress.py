"""A progress bar, or a word, on a terminal, or a word in a notebook; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

SCREEN = Lock()  # two bars at once would write over each other
ERASED = "\r\x1b[K"  # the line on a terminal, and the cursor at its beginning


def unheard(fraction: float) -> None:
    """Progress that nobody asked for."""


@contextmanager
def bar(text: str) -> Iterator[Callable[[float], None]]:
    """Is told the fraction done; in a notebook it is written in a line that goes away."""
    line = _line()
    if line is None or not SCREEN.acquire(blocking=False):
        yield unheard
        return
    if isinstance(line, _InNotebook):
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
    """A bar that is told how many of a total are done, and what to say beside it; in a notebook only the words."""
    line = _line()
    if line is None or not SCREEN.acquire(blocking=False):
        yield None
        return
    if isinstance(line, _InNotebook):
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


@contextmanager
def patience(text: str, after: float = 1.0) -> Iterator[None]:
    """One line, if what is done takes longer than so many seconds, that goes away when it is done."""
    line = _line()
    if line is None or not SCREEN.acquire(blocking=False):
        yield
        return
    timer = Timer(after, line.show, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        line.remove()
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


def _line() -> _OnTerminal | _InNotebook | None:
    """Where a word can be shown and removed, if anywhere."""
    if sys.stderr.isatty():
        return _OnTerminal()
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _InNotebook() if getattr(shell, "kernel", None) is not None else None
