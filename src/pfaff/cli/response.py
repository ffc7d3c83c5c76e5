"""On the shell: the periodic response to explicit forcing."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import click

from pfaff.cli.arguments import COUNT, NUMBER, all_rows, as_json, plot_into, state_values, which_case
from pfaff.cli.bifurcation import within
from pfaff.cli.output import check_complete, counting, drawn_beside, print_json, table, table_of_interest
from pfaff.cli.statement import case_of
from pfaff.continuation.course import POINTS, STEP
from pfaff.continuation.endings import Reason


@click.command()
@which_case
@click.option("--in", "name_in", metavar="NAME", required=True, help="What changes: a frequency, a force.")
@click.option("--from", "from_", type=NUMBER, help="Where it begins, if not at its value in the case.")
@click.option("--to", type=NUMBER, required=True, help="Where it ends.")
@click.option("--start", multiple=True, metavar="NAME=VALUE", help="Start of a motion that settles on it. Repeat.")
@click.option("--step", default=STEP, show_default=True, help="The largest step, as a share of the range.")
@click.option("--points", type=COUNT, default=POINTS, show_default=True, help="Stop after this many responses.")
@within
@all_rows
@plot_into
@as_json
def response(
    name_in: str,
    from_: float | None,
    to: float,
    start: tuple[str, ...],
    step: float,
    points: int,
    bounds: tuple[float, float] | None,
    every: bool,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The periodic response to explicit forcing as a frequency or another parameter changes, with its special points.

    \b
    Example:
      pfaff response ball_absorber --in Omega --from 0.5 --to 2 --plot response.png
    """
    gc.enable()
    case = case_of(**which)
    initial = state_values(case, start, "--start")
    with counting(f"responses along {name_in}", quiet=as_json) as progress:
        found = case.response(
            name_in, from_, to, step=step, points=points, bounds=bounds, progress=progress, start=initial
        )
    drawn_beside(plot, found.plot)
    print_json(_as_json(found)) if as_json else _print(found, every)
    check_complete(found.ended.reason is Reason.INTERRUPTED)


def _as_json(found: Any) -> dict[str, Any]:
    entries = [
        {"value": each.value, "frequency": each.frequency, "stable": each.stable, "amplitude": each.amplitude,
         "phase": each.phase, "mean": each.mean}
        for each in found
    ]  # fmt: skip
    special = [{"kind": each.kind, "value": each.value, "status": each.status} for each in found.special]
    return {"parameter": found.load, "status": found.status, "special": special, "responses": entries}


def _print(found: Any, every: bool) -> None:
    special = [[each.kind, f"{each.value:.10g}", each.status] for each in found.special]
    table("Special points", ["kind", found.load, ""], special)
    coordinates = getattr(found[0].case.system, "coordinate_names", found.states)
    names = [name for name in found.states if name in coordinates]
    rows = [
        [f"{each.value:.8g}", *(f"{each.amplitude[name]:.6g}" for name in names), "yes" if each.stable else "no"]
        for each in found
    ]
    peaks = [int(found.amplitude(name).argmax()) for name in names]
    spread = range(0, len(rows), max(1, len(rows) // 8))
    table_of_interest("Amplitudes of responses", [found.load, *names, "stable"], rows, [*peaks, *spread], every)
    print(found.status)
