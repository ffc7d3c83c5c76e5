"""The command about steady motions."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfaff.cli.arguments import NUMBER, all_rows, as_json, plot_into, save_into, state_values, which_case
from pfaff.cli.bifurcation import branch_as_json, print_branch, within
from pfaff.cli.output import branch_beside, check_complete, counting, drawn_beside, eigenvalue_table, print_json, table
from pfaff.cli.statement import case_of
from pfaff.continuation.endings import Reason
from pfaff.errors import ParameterError

if TYPE_CHECKING:
    from pfaff.rest.steady_motions import SteadyMotion


@click.command()
@which_case
@click.option("--fix", multiple=True, metavar="NAME=VALUE", help="A speed or coordinate: phi_dot=2. Repeat.")
@click.option("--start", multiple=True, metavar="NAME=VALUE", help="Starting value of one that is free. Repeat.")
@click.option("--in", "name_in", metavar="NAME", help="Follow them as this parameter, speed or coordinate changes.")
@click.option("--to", type=NUMBER, help="Where the branch ends, with --in.")
@within
@all_rows
@save_into("branch")
@plot_into
@as_json
def steady(
    fix: tuple[str, ...],
    start: tuple[str, ...],
    name_in: str | None,
    to: float | None,
    bounds: tuple[float, float] | None,
    every: bool,
    save: Path | None,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """A steady motion, such as a wheel that rolls straight or in circles: velocities, reactions, stability.

    With --in and --to, the branch of steady motions through it, with its special points.

    \b
    Examples:
      pfaff steady rolling_disc --fix phi_dot=2
      pfaff steady rolling_disc --fix phi_dot=2 --in phi_dot --to 0.1
    """
    gc.enable()
    if (name_in is None) != (to is None):
        raise ParameterError("--in and --to go together: what changes along the branch, and where it ends")
    if save and name_in is None:
        raise ParameterError("--save writes a branch: ask for one with --in NAME --to VALUE")
    case = case_of(**which)
    found = case.steady(state_values(case, start, "--start"), fixed=state_values(case, fix))
    branch = None
    if name_in is not None:
        with counting("steady motions", quiet=as_json) as progress:
            branch = found.branch(name_in, to, bounds=bounds, progress=progress)
    if branch is not None:
        branch_beside(branch, save, plot)
    else:
        drawn_beside(plot, found.plot)
    if as_json:
        followed = {} if branch is None else {"branch": branch_as_json(branch)}
        print_json(_facts(found) | followed)
    else:
        _print_motion(found, every)
        if branch is not None:
            print_branch(branch, every)
    if branch is not None:
        check_complete(branch.ended.reason is Reason.INTERRUPTED)


def _facts(found: SteadyMotion) -> dict[str, Any]:
    values = ("state", "velocities", "quasi_velocities", "reaction", "eigenvalues")
    return {name: getattr(found, name) for name in (*values, "stable", "family", "residual", "status")}


def _print_motion(found: SteadyMotion, every: bool) -> None:
    values = {**found.state, **found.velocities, **found.quasi_velocities, **found.reaction}
    telling = {name: value for name, value in values.items() if every or value or name in found.fixed}
    rows = [[name, f"{value + 0.0:.12g}"] for name, value in telling.items()]
    table("Steady motion", ["name", "value"], rows)
    if len(telling) < len(values):
        print(f"{len(values) - len(telling)} more are zero; --all shows them")
    eigenvalue_table(found.eigenvalues, every)
    print(found.status)
