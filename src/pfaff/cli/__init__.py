"""pfaff on the shell: every analysis as a command, with tables for people and ``--json`` for programs.

Commands are in ``systems`` (SYSTEM itself is read by ``statement``), ``stability``, ``bifurcation``, ``curves``,
``response``, ``steady``, ``motion``, ``sweep``, ``studio``, ``papers``. They share ``arguments``, ``output`` and
``wording``; ``completion`` is for the shell.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from threading import current_thread, main_thread

import click

from pfaff import __version__
from pfaff.cli.output import INTERRUPTED
from pfaff.cli.wording import on_shell
from pfaff.errors import PfaffError, nearest

ROOMS = {
    "systems": ("atlas", "show", "compare", "export"),
    "stability": ("equilibria", "spectrum", "flutter", "critical", "paradox"),
    "bifurcation": ("hopf", "orbits", "branch"),
    "response": ("response",),
    "curves": ("curve",),
    "steady": ("steady",),
    "motion": ("simulate",),
    "sweep": ("sweep",),
    "studio": ("studio",),
    "papers": ("reproduce",),
}
TERMINATED = 128 + signal.SIGTERM  # exit code
HOMES = {command: room for room, commands in ROOMS.items() for command in commands}


class Commands(click.Group):
    """Commands whose rooms are opened when they are asked for: others take time to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(HOMES)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command:
        if cmd_name not in HOMES:
            raise click.UsageError(f"no command {cmd_name!r}: {nearest(cmd_name, HOMES)}")
        command: click.Command = getattr(import_module(f"pfaff.cli.{HOMES[cmd_name]}"), cmd_name)
        command.short_help = (command.help or "").strip().partition("\n")[0]  # click's own is cut
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pfaff", message="%(prog)s %(version)s")
@click.option("--verbose", is_flag=True, help="Say how far long work is where there is no terminal: lines on stderr.")
def app(verbose: bool = False) -> None:
    """Mechanical systems with Pfaffian constraints: equations, equilibria, stability, motion.

    SYSTEM is a name from `pfaff atlas`, or a file of your own with the name of a System in it: my_sleigh.py:sleigh.
    """
    if verbose:
        import logging

        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
        logging.getLogger("pfaff").setLevel(logging.INFO)


def main() -> None:
    """Run the program; an error of ours is one line on stderr and exit code 2, and so is a warning or a full disk."""
    with _told_to_end(), warnings.catch_warnings():
        warnings.showwarning = _warn  # type: ignore[assignment]
        try:
            _run()
        except PfaffError as problem:
            _fail(f"pfaff: {on_shell(str(problem), _asked())}", 2)
        except click.exceptions.NoArgsIsHelpError as problem:
            _fail(problem.format_message(), 2)
        except click.ClickException as problem:
            where = getattr(problem, "ctx", None)
            _fail(f"pfaff: {problem.format_message()} (see {where.command_path if where else 'pfaff'} --help)", 2)
        except (KeyboardInterrupt, click.Abort):
            _fail("pfaff: interrupted", INTERRUPTED)
        except BrokenPipeError:  # whoever read has seen enough
            _drop_output()
            _fail("", 1)
        except OSError as problem:
            _drop_output()
            _fail(f"pfaff: {'' if problem.filename else 'cannot write the output: '}{problem}", 2)
    gc.freeze()


@contextmanager
def _told_to_end() -> Iterator[None]:
    """SIGTERM, by which schedulers end jobs, does as Ctrl-C does: what was computed is kept. A second one kills."""

    def end(*about: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise KeyboardInterrupt

    if current_thread() is not main_thread():  # which alone hears signals
        yield
        return
    usual = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except SystemExit as exit:
        told = signal.getsignal(signal.SIGTERM) is not end
        raise SystemExit(TERMINATED if told and exit.code == INTERRUPTED else exit.code) from None
    finally:
        signal.signal(signal.SIGTERM, usual)


def _run() -> None:
    """The command, until all that it prints is out; letters that an encoding lacks are escaped, as on stderr."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=False)
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def _drop_output() -> None:
    """What could not be printed is not tried again when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(message: Warning | str, *where: object) -> None:
    _say(f"pfaff: {message}")


def _asked() -> click.Command | None:
    """The command on the command line."""
    return next((app.get_command(None, word) for word in sys.argv[1:] if word in HOMES), None)


def _fail(message: str, code: int) -> None:
    if message:
        _say(message)
    gc.freeze()
    sys.exit(code)


def _say(line: str) -> None:
    with suppress(OSError):  # stderr may be full or closed as well
        print(line, file=sys.stderr, flush=True)
