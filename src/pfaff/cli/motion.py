"""The command that integrates in time."""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfaff import doors
from pfaff.cli.arguments import (
    COUNT,
    NUMBER,
    all_rows,
    animate_into,
    as_json,
    film_into,
    functions,
    is_ode,
    plot_into,
    save_into,
    state_values,
    which_case,
)
from pfaff.cli.output import (
    beside,
    check_complete,
    drawn_beside,
    print_json,
    saved_beside,
    table_of_interest,
    undisturbed,
)
from pfaff.cli.statement import case_of, mechanical
from pfaff.errors import number_of
from pfaff.progress import bar

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.motion.result import Motion


@click.command()
@which_case
@click.option("--duration", type=NUMBER, required=True, help="How long, from time zero; negative runs backwards.")
@click.option("--start", multiple=True, metavar="NAME=VALUE", help="An initial value: theta1_dot=0.01. Repeat.")
@click.option("--samples", type=COUNT, default=1001, show_default=True, help="Times at which the motion is kept.")
@click.option("--project", is_flag=True, help="Change initial values that violate the constraints, and say so.")
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto, taylor, for stiff systems implicit, cvode, radau, through singular configurations augmented.",
)
@click.option("--step", type=NUMBER, help="Equal steps of this length, with --method augmented.")
@click.option("--max-step", type=NUMBER, help="The longest time that one step may take.")
@click.option("--tolerance", type=NUMBER, help="Error allowed in each step; by default what the method does best.")
@click.option(
    "--drive", multiple=True, metavar="NAME=f(t)", help="A coordinate or load in time: F=80+sin(2*t). Repeat."
)
@click.option(
    "--event", multiple=True, metavar="EXPRESSION", help="Locate where this vanishes: 'theta1', 'p - 3'. Repeat."
)
@click.option("--stop", multiple=True, metavar="EXPRESSION", help="End the motion where this vanishes. Repeat.")
@all_rows
@save_into("motion")
@plot_into
@film_into
@animate_into
@click.option("--seconds", type=NUMBER, default=10.0, show_default=True, help="How long the moving picture lasts.")
@as_json
def simulate(
    duration: float,
    start: tuple[str, ...],
    samples: int,
    project: bool,
    method: str,
    step: float | None,
    max_step: float | None,
    tolerance: float | None,
    drive: tuple[str, ...],
    event: tuple[str, ...],
    stop: tuple[str, ...],
    every: bool,
    save: Path | None,
    plot: Path | None,
    film: Path | None,
    animate: Path | None,
    seconds: float,
    as_json: bool,
    **which: Any,
) -> None:
    """The motion from initial values: coordinates, reactions and the balance of energy.

    Formulas of --event, --stop and --drive have coordinates, velocities (x_dot), reactions, parameters, the time t,
    numbers, + - * / **, parentheses, pi, E, and sin, cos, tan, their inverses (asin, atan2) and hyperbolic ones (sinh,
    asinh), exp, log, sqrt and erf. A drive has the time only.

    \b
    Example:
      pfaff simulate column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --set F=83.97 \\
          --duration 100 --start theta1_dot=0.01 --start theta2_dot=0.01 --plot cycle.png --animate cycle.gif
    """
    gc.enable()
    case = case_of(**which)
    if film or animate:
        mechanical(case, "a drawing")
        _check_pictures(case, animate)
    events = {**{e: e for e in event}, **{e: doors.events.Event(e, stop=True) for e in stop}}
    options: dict[str, Any] = {"samples": samples, "tolerance": tolerance, "events": events, "max_step": max_step}
    special = {"project": project, "method": method, "step": step, "prescribed": functions(drive)}
    if project or drive or step is not None or method != "auto" or not is_ode(case):
        mechanical(case, "--project, --method, --step or --drive")
        options |= special
    with ExitStack() as late:
        with bar("integrating") as progress:
            motion = case.simulate(duration, **options, progress=progress, **state_values(case, start, "--start"))
            late.enter_context(undisturbed())  # what was computed is printed, whatever is told from now on
        written = [
            *saved_beside(save, motion.save),
            *drawn_beside(plot, motion.plot),
            *drawn_beside(film, lambda: motion.film()),  # which a plain ODE does not have
            *beside(animate, lambda path: _animate(motion, path, seconds)),
        ]
        _motion_as_json(motion, written) if as_json else _print_motion(motion, every)
        sys.stdout.flush()
    ended = motion.status.outcome
    check_complete(
        ended is doors.outcomes.Outcome.INTERRUPTED,
        ended not in (doors.outcomes.Outcome.FINISHED, doors.outcomes.Outcome.EVENT),
    )


def _names(motion: Any) -> tuple[str, ...]:
    """Coordinates, velocities, and of a mechanical system quasi-velocities and reactions."""
    return (*motion.states, *getattr(motion, "quasi_velocities", ()), *getattr(motion, "reaction_names", ()))


def _motion_as_json(motion: Any, written: list[Path]) -> None:
    facts: dict[str, Any] = {"status": motion.status, "method": motion.method}
    if hasattr(motion, "energy"):
        facts["energy_drift"] = motion.energy.drift
    facts["events"] = {name: found.t for name, found in motion.events.items()}
    facts["written"] = [str(path) for path in written]
    facts |= {"changes": getattr(motion, "changes", {}), "t": motion.t}
    print_json(facts | {label: motion[name] for name, label in doors.stored.labels(_names(motion), facts).items()})


def _print_motion(motion: Any, every: bool) -> None:
    """Print a table of the motion; of very many names, those that move most."""
    histories = {name: motion[name] for name in _names(motion)}
    rows = [
        [name, *(f"{x + 0.0:.8g}" for x in (row[0], row[-1], row.min(), row.max()))] for name, row in histories.items()
    ]
    moved = [float(row.max() - row.min()) for row in histories.values()]
    order = sorted(range(len(rows)), key=lambda k: -moved[k])
    heads = ["name", "first", "last", "least", "greatest"]
    table_of_interest(f"Motion over {motion.t[-1]:g}", heads, rows, order, every)
    drift = f"; energy balances to {motion.energy.drift:.1e}" if hasattr(motion, "energy") else ""
    print(f"{motion.status}; {motion.method}{drift}")
    for name, found in motion.events.items():
        times = ", ".join(f"{t:.12g}" for t in found.t[:8]) + (", …" if len(found) > 8 else "")
        print(f"{name} = 0: {number_of(len(found), 'time')}{': t = ' + times if len(found) else ''}")
    for name, change in getattr(motion, "changes", {}).items():
        print(f"changed to obey the constraints: {name} by {change:.6g}")


def _check_pictures(case: Case, animate: Path | None) -> None:
    """What would fail after a long integration fails before it."""
    doors.draw.drawing_of(case)
    if animate:
        doors.draw.check_suffix(animate)


def _animate(motion: Motion, path: Path, seconds: float) -> None:
    with bar(f"drawing {path.name}") as progress:
        motion.animate(path, seconds=seconds, progress=lambda done, every: progress(done / every))
    print(f"drawn: {path}", file=sys.stderr)
