"""Studies on the shell: begun in a store, run in as many pieces as one likes, looked at, tried again, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfaff import doors
from pfaff.cli.arguments import (
    COUNT,
    NUMBER,
    as_json,
    fix,
    load_parameter,
    numbers,
    pairs,
    plot_into,
    state_values,
    which_case,
)
from pfaff.cli.completion import quantities
from pfaff.cli.output import check_complete, draw_into, print_json, table
from pfaff.cli.statement import case_of, system_of
from pfaff.errors import ParameterError

if TYPE_CHECKING:
    from pfaff.studies.study import Study


class Measured(click.Option):
    """The option whose help is the names of everything that can be measured."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = f"{', '.join(doors.catalogue.offered())}. Repeat."
        return super().get_help_record(ctx)


STORE = click.argument("store", type=click.Path(path_type=Path))
SYSTEM = click.option("--system", metavar="FILE.py:NAME", help="The system of the study, where it is not of the atlas.")
TRUST = click.option("--trust", is_flag=True, help="Run the Python files that the store names: if you trust them.")
SHOWN = 20  # failures in a table
MANY = 10**8  # values of one parameter


@click.group(invoke_without_command=True)
@click.pass_context
def sweep(context: click.Context) -> None:
    """Results over parameters, kept in a store that survives whatever happens.

    \b
    Example:
      pfaff sweep new map.zarr column --set k1=50 --set M_L=15 --set I_L=15 --set d=1/2 \\
          --axis c_i=0.25:30:200 --measure hopf --measure l1
      pfaff sweep run map.zarr --workers 4
      pfaff sweep plot map.zarr l1 --plot l1.png
    """
    if context.invoked_subcommand is None:
        raise click.UsageError("say what to do with a study: new, run, status, retry or plot")


@sweep.command()
@STORE
@which_case
@click.option("--axis", multiple=True, metavar="NAME=A:B:N", help="N values from A to B, or a list: 1,2,5. Repeat.")
@click.option("--measure", multiple=True, metavar="NAME", cls=Measured, shell_complete=quantities)
@load_parameter
@fix
@click.option("--to", type=NUMBER, help="Where the search for a load ends.")
@click.option("--chunk", type=COUNT, help="Points that are computed and kept together.")
@as_json
def new(
    store: Path,
    name: str,
    values: tuple[str, ...],
    axis: tuple[str, ...],
    measure: tuple[str, ...],
    load_parameter: str | None,
    fix: tuple[str, ...],
    to: float | None,
    chunk: int | None,
    as_json: bool,
    **which: Any,
) -> None:
    """Begin a study: what is measured, over which values.

    \b
    Example:
      pfaff sweep new map.zarr column --set k1=50 --axis c_i=0.25:30:200 --measure hopf --measure l1
    """
    case = case_of(name, values, **which)
    if not axis:
        example = next((p.name for p in case.system.parameters), "NAME")
        raise ParameterError(
            f"over which values? Give --axis {example}=A:B:N, N values from A to B, or {example}=1,2,5"
        )
    axes = {key: _values(key, text) for key, text in pairs(axis, "--axis").items()}
    source = str(name) if ":" in name else None
    fixed = state_values(case, fix)
    options = {"load": load_parameter, "to": to, "chunk": chunk, "source": source}
    _say(case.sweep(axes, list(measure) or ["flutter"], store, **options, fixed=fixed), as_json)


@sweep.command()
@STORE
@click.option("--workers", type=COUNT, default=0, help="Processes; none is this one.")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler: tcp://host:8786.")
@click.option("--part", metavar="I/N", help="The I-th of N shares, for job arrays.")
@click.option("--timeout", type=NUMBER, help="Seconds for a point.")
@click.option("--accept", is_flag=True, help="Go on with a store of another version of pfaff.")
@SYSTEM
@TRUST
@as_json
def run(
    store: Path,
    workers: int,
    scheduler: str | None,
    part: str | None,
    timeout: float | None,
    accept: bool,
    system: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Compute what is missing.

    A system of the atlas is made again. Any other is named by --system, or taken from the Python file that the store
    names, which is run only with --trust.

    \b
    Example:
      pfaff sweep run map.zarr --workers 4
      pfaff sweep run mine.zarr --system my_sleigh.py:sleigh
      pfaff sweep run mine.zarr --trust
    """
    study = _opened(store, system, trust, accept)
    if scheduler is None:
        return _say(study.run(workers, part=part, timeout=timeout), as_json)
    try:
        from distributed import Client
    except ImportError as problem:
        raise ParameterError("--scheduler needs the extra: pip install 'pfaff[sweep]'") from problem
    with Client(scheduler) as client:
        _say(study.run(client=client, part=part), as_json)


@sweep.command()
@STORE
@as_json
def status(store: Path, as_json: bool) -> None:
    """How far it is, and what failed.

    \b
    Example:
      pfaff sweep status map.zarr
    """
    study = doors.sweep.open_sweep(store)
    _say(study, as_json)
    if not as_json and study.failures:
        rows = [
            [", ".join(f"{name} = {value:g}" for name, value in each["point"].items()), each["state"], each["reason"]]
            for each in study.failures[:SHOWN]
        ]
        table("Failures", ["point", "state", "reason"], rows)


@sweep.command()
@STORE
@click.argument("which", default="failed")
@click.option("--workers", type=COUNT, default=0, help="Processes; none is this one.")
@click.option("--timeout", type=NUMBER, help="Seconds for a point.")
@SYSTEM
@TRUST
@as_json
def retry(
    store: Path, which: str, workers: int, timeout: float | None, system: str | None, trust: bool, as_json: bool
) -> None:
    """Compute points again that failed, timed out, crashed, or all of these.

    \b
    Example:
      pfaff sweep retry map.zarr timed-out --timeout 60
      pfaff sweep retry mine.zarr --system my_sleigh.py:sleigh
    """
    _say(_opened(store, system, trust).retry(which.replace("-", " "), workers, timeout=timeout), as_json)


@sweep.command()
@STORE
@click.argument("measure", required=False)
@click.option("--at", multiple=True, metavar="NAME=VALUE", help="Where other axes are held. Repeat.")
@plot_into
def plot(store: Path, measure: str | None, at: tuple[str, ...], plot: Path | None) -> None:
    """Draw a measure into a file.

    \b
    Example:
      pfaff sweep plot map.zarr l1 --plot l1.png
    """
    if plot is None:
        raise ParameterError("into which file? Give --plot map.png")
    study = doors.sweep.open_sweep(store)
    draw_into(study.plot(measure, **numbers(at, "--at")), plot)


def _opened(store: Path, system: str | None, trust: bool, accept: bool = False) -> Study:
    """A study to go on with: of the atlas, of the system that is named here, or of the files that the store names."""
    given = None if system is None else system_of(system, bars=None, constraint=None, load=None, option=())
    study = doors.sweep.open_sweep(store, given, accept=accept, trust=trust)
    measured = [each for each in study.recipe["measures"] if "file" in each]
    if study.runs and not trust and (given is None or measured):
        named = "" if measured else f" Give the system yourself, --system {study.runs[0]}, or"
        raise ParameterError(
            f"to go on with {store} this would run {' and '.join(study.runs)}.{named or ' Say'} --trust, if you trust "
            "them; pfaff sweep status and plot only read numbers"
        )
    return study


def _say(study: Study, as_json: bool) -> None:
    if as_json:
        print_json({"status": study.status, "counts": study.counts, "points": study.points.size})
    elif not study.interrupted:  # else it has been said
        print(study.status)
    check_complete(study.interrupted)


def _values(name: str, text: str) -> list[float]:
    """0.25:30:100, or 1,2,5."""
    import numpy as np

    wrong = f"--axis {name}={text[:40]}: write first:last:count, {name}=0.1:2:50, or values, {name}=1,2,5"
    parts = text.split(":")
    if len(parts) == 3 and parts[2].strip().isdigit() and int(parts[2]) > 1:
        first, last = (float(doors.expressions.constant(each, wrong)) for each in parts[:2])
        many = doors.values.whole_number(f"the number of values of {name}", int(parts[2]), 2, MANY, "ask for fewer")
        return [float(each) for each in np.linspace(first, last, many)]
    if len(parts) != 1:
        raise ParameterError(wrong)
    return [float(doors.expressions.constant(each, wrong)) for each in text.split(",")]
