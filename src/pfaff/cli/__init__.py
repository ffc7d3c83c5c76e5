"""pfaff on the shell: every analysis as a command, with tables for people and ``--json`` for programs."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from contextlib import suppress

import click

from pfaff import __version__
from pfaff.cli.bifurcation import branch, hopf, orbits
from pfaff.cli.curves import curve
from pfaff.cli.motion import simulate
from pfaff.cli.papers import reproduce
from pfaff.cli.stability import critical, equilibria, flutter, paradox, spectrum
from pfaff.cli.steady import steady
from pfaff.cli.studio import studio
from pfaff.cli.sweep import sweep
from pfaff.cli.systems import atlas, compare, export, show
from pfaff.cli.wording import on_shell
from pfaff.errors import PfaffError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pfaff", message="%(prog)s %(version)s")
def app() -> None:
    """Mechanical systems with Pfaffian constraints: equations, equilibria, stability, motion.

    SYSTEM is a name from `pfaff atlas`, or a file of your own with the name of a System in it: my_sleigh.py:sleigh.
    """


STATEMENT, STABILITY = (atlas, show, compare, export), (equilibria, spectrum, flutter, critical, paradox)
BIFURCATION, MOTION = (hopf, orbits, branch, curve), (steady, simulate)
for command in (*STATEMENT, *STABILITY, *BIFURCATION, *MOTION, sweep, studio, reproduce):
    command.short_help = (command.help or "").strip().partition("\n")[0]  # click's own is cut
    app.add_command(command)


def main() -> None:
    """Run the program; an error of ours is one line on stderr and exit code 2, and so is a warning or a full disk."""
    # Collecting garbage during a run of a second costs a quarter of it; long commands switch it on again.
    gc.disable()
    with warnings.catch_warnings():
        warnings.showwarning = _warn  # type: ignore[assignment]
        try:
            _run()
        except PfaffError as problem:
            _fail(f"pfaff: {on_shell(str(problem), _asked())}", 2)
        except click.ClickException as problem:
            where = getattr(problem, "ctx", None)
            _fail(f"pfaff: {problem.format_message()} (see {where.command_path if where else 'pfaff'} --help)", 2)
        except (KeyboardInterrupt, click.Abort):
            _fail("pfaff: interrupted", 130)
        except BrokenPipeError:  # whoever read has seen enough
            _drop_output()
            _fail("", 1)
        except OSError as problem:
            _drop_output()
            _fail(f"pfaff: {'' if problem.filename else 'cannot write the output: '}{problem}", 2)
    gc.freeze()


def _run() -> None:
    """The command, until all that it prints is out."""
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
    return next((app.commands[word] for word in sys.argv[1:] if word in app.commands), None)


def _fail(message: str, code: int) -> None:
    if message:
        _say(message)
    gc.freeze()
    sys.exit(code)


def _say(line: str) -> None:
    with suppress(OSError):  # stderr may be full or closed as well
        print(line, file=sys.stderr, flush=True)
