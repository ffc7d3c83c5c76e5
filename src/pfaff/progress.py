"""A progress bar, or a word, on a terminal; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

SCREEN = Lock()  # two bars at once would write over each other


@contextmanager
def bar(text: str) -> Iterator[Callable[[float], None]]:
    """Is told the fraction done."""
    if not sys.stderr.isatty() or not SCREEN.acquire(blocking=False):
        yield lambda fraction: None
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
def patience(text: str, after: float = 2.0) -> Iterator[None]:
    """One line, if what is done takes longer than so many seconds."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    timer = Timer(after, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
