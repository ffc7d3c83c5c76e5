"""What commands give: tables, JSON, pictures, and a line that counts while they work."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from math import isfinite
from pathlib import Path
from typing import Any

import click

from pfaff.archive.files import whole, why
from pfaff.continuation.endings import Reason
from pfaff.errors import ParameterError, PfaffError

ROWS = 16  # of a table, unless all are asked for
INTERRUPTED = 130  # exit code, as of what Ctrl-C ends


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not rows:
        print(f"{title}: none")
        return
    told = [k for k, column in enumerate(columns) if column or any(row[k] for row in rows)]
    shown = Table(title=escape(title), title_justify="left")
    for k in told:
        shown.add_column(columns[k], overflow="fold")
    for row in rows:
        shown.add_row(*(escape(row[k]) for k in told))
    Console().print(shown)


def table_of_interest(
    title: str, columns: list[str], rows: list[list[str]], telling: Iterable[int], every: bool
) -> None:
    """A table that fits on a screen: of many rows the most telling ones, the first and the last; all with --all."""
    shown = list(range(len(rows)))
    if len(rows) > ROWS and not every:
        shown = sorted(islice(dict.fromkeys([0, len(rows) - 1, *telling]), ROWS))
    table(title, columns, [rows[k] for k in shown])
    if len(shown) < len(rows):
        print(f"{len(shown)} of {len(rows)} rows; --all shows the rest")


def eigenvalue_table(values: Any, every: bool) -> None:
    """The least stable first."""
    order = sorted(values, key=lambda each: (-each.real, abs(each.imag), -each.imag))
    rows = [[f"{each.real:.12g}", f"{each.imag:.12g}"] for each in order]
    table_of_interest("Eigenvalues", ["growth rate", "frequency"], rows, range(len(rows)), every)


def print_json(facts: Any) -> None:
    print(json.dumps(_plain(facts), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """In the words of JSON, which has none for what is not a number: null."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, complex):
        return {"re": _plain(value.real), "im": _plain(value.imag)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def known(number: float, digits: int) -> str:
    """A number for a table; nothing where there is none."""
    return f"{number:.{digits}g}" if isfinite(number) else ""


def draw_into(figure: Any, path: Path) -> None:
    try:
        with whole(path) as part:
            figure.savefig(part)
    except (OSError, ValueError) as problem:
        raise ParameterError(f"cannot draw into {path}: {why(problem)}") from problem
    print(f"drawn: {path}", file=sys.stderr)


def beside(path: Path | None, write: Callable[[Path], Any], heard: Callable[[], Any] | None = None) -> list[Path]:
    """A file beside what is printed, if one is wanted; that it cannot be written is told last, and loses no result."""
    if path is None:
        return []
    try:
        with (heard or EARS.open)():
            write(path)
    except (PfaffError, KeyboardInterrupt) as problem:
        click.get_current_context().call_on_close(partial(_raise, problem))
        return []
    return [path]


def saved_beside(path: Path | None, save: Callable[[Path], Any]) -> list[Path]:
    """A result in a file: a second Ctrl-C, while what the first one left is written, does not lose it."""
    with EARS.shut():
        written = beside(path, save, EARS.shut)
    for each in written:
        print(f"saved: {each}", file=sys.stderr)
    return written


def branch_beside(branch: Any, save: Path | None, plot: Path | None) -> None:
    """A branch or curve in its files; Ctrl-C is answered first, for writing what it left may take a while."""
    if branch.ended.reason is Reason.INTERRUPTED and (save or plot):
        print("interrupted: what was found is being written", file=sys.stderr)
    saved_beside(save, branch.save)
    drawn_beside(plot, branch.plot)


class Ears:
    """Hears Ctrl-C and SIGTERM while what was computed is printed, and answers by the exit code when that is done."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.opened = True

    def hear(self, number: int, frame: object) -> None:
        """Remember the signal; a second one of its kind ends at once."""
        self.told.append(number)
        signal.signal(number, signal.SIG_DFL)
        if self.opened:
            raise KeyboardInterrupt

    @contextmanager
    def open(self) -> Iterator[None]:
        """What takes long and is not the result itself may be interrupted."""
        before, self.opened = self.opened, True
        try:
            yield
        finally:
            self.opened = before

    @contextmanager
    def shut(self) -> Iterator[None]:
        """What is done here is not interrupted; by other threads than the main one signals are never heard."""
        before, self.opened = self.opened, False
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.told = [] if before else self.told
        usual = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
        for number, handler in usual.items():
            if handler not in (signal.SIG_DFL, self.hear):  # who was told before is not told again
                signal.signal(number, self.hear)
        try:
            yield
        finally:
            self.opened = before
            for number, handler in usual.items():
                if number == signal.SIGINT or number not in self.told:
                    signal.signal(number, handler)
            if self.told and before:
                click.get_current_context().call_on_close(partial(_raise, KeyboardInterrupt()))


EARS = Ears()
undisturbed = EARS.shut


def drawn_beside(path: Path | None, plot: Callable[[], Any]) -> list[Path]:
    return beside(path, lambda path: draw_into(plot(), path))


def _raise(problem: BaseException) -> None:
    raise problem


def grouped(entries: dict[str, dict[str, str]]) -> None:
    """Names and what they stand for under headings, in columns that line up."""
    from rich.console import Console
    from rich.table import Table

    width = max(len(name) for group in entries.values() for name in group)
    console = Console()
    for k, (heading, group) in enumerate(entries.items()):
        table = Table(title=("\n" if k else "") + heading, title_justify="left", box=None, show_header=False)
        table.add_column(width=width, no_wrap=True)
        table.add_column(overflow="fold")
        for row in group.items():
            table.add_row(*row)
        console.print(table)


def check_output(path: Path, flag: str, endings: tuple[str, ...]) -> None:
    """A folder that exists, a file that may be written, and an ending that says what goes into it."""
    if path.suffix.lower() not in endings:
        ending = f"the ending {path.suffix!r} is unknown" if path.suffix else "the name has no ending"
        raise ParameterError(f"{flag} {path}: {ending}, write one of {', '.join(endings)}")
    if not path.resolve().parent.is_dir():
        raise ParameterError(f"{flag} {path}: cannot write it, there is no folder {path.parent}")
    if path.is_dir() or not os.access(path if path.exists() else path.resolve().parent, os.W_OK):
        raise ParameterError(f"{flag} {path}: cannot write it, name a file in a folder of your own")


def check_complete(interrupted: bool, cut_short: bool = False) -> None:
    """What Ctrl-C or a failure left unfinished has been printed; the exit code still says so."""
    if interrupted or cut_short:
        sys.exit(INTERRUPTED if interrupted else 1)


@contextmanager
def counting(what: str, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A line on a terminal that counts points and shows the parameter."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as line:
        seen = count(1)
        yield lambda point: line.update(f"{what}: {next(seen)}, at {point.value:.6g}")
