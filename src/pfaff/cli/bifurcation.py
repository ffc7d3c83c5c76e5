"""Commands about Hopf points, periodic orbits and branches."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pfaff.cli.arguments import (
    COUNT,
    NUMBER,
    SIDE,
    all_rows,
    as_json,
    fix,
    load_parameter,
    plot_into,
    save_into,
    state_values,
    which_case,
)
from pfaff.cli.output import (
    ROWS,
    branch_beside,
    check_complete,
    counting,
    drawn_beside,
    eigenvalue_table,
    known,
    print_json,
    table,
    table_of_interest,
)
from pfaff.cli.statement import case_of
from pfaff.continuation.course import POINTS, STEP
from pfaff.continuation.endings import Reason

within = click.option(
    "--bounds",
    type=SIDE,
    nargs=2,
    metavar="LOW HIGH",
    help="Also end where the parameter leaves these (none: open); by default as far behind the start as --to is.",
)


@click.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=NUMBER, help="Search loads up to this value.")
@click.option("--near", type=NUMBER, help="Take the Hopf point nearest to this load instead of the first.")
@click.option("--second", is_flag=True, help="Also compute the second Lyapunov coefficient.")
@all_rows
@plot_into
@as_json
def hopf(
    fix: tuple[str, ...],
    load_parameter: str | None,
    to: float | None,
    near: float | None,
    second: bool,
    every: bool,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The Hopf point on the equilibrium path: eigenvalues, crossing speed, Lyapunov coefficients and verdict.

    \b
    Example:
      pfaff hopf column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5
    """
    gc.enable()
    case = case_of(**which)
    found = case.hopf(load=load_parameter, to=to, near=near, fixed=state_values(case, fix))
    drawn_beside(plot, found.plot)
    names = ["value", "omega", "crossing_speed", "distance", "l1", "l1_matcont", "V3", *["l2"] * second]
    computed = {name: getattr(found, name) for name in names}
    if as_json:
        words = ("load", "criticality", "status", "simple", "transversal", "structural_zeros", "state")
        vectors = {name: list(getattr(found, name)) for name in ("eigenvalues", "q", "p")}
        return print_json({name: getattr(found, name) for name in words} | computed | vectors)
    meanings = {
        "value": f"load {found.load}",
        "omega": "frequency ω",
        "crossing_speed": f"crossing speed, d Re λ/d{found.load}",
        "distance": "distance of the other eigenvalues from the imaginary axis",
        "l1": "first Lyapunov coefficient l1 (Kuznetsov)",
        "l1_matcont": "the same without 1/ω (MatCont)",
        "V3": "third derivative V'''(0) of Marsden and McCracken, 3π l1",
        "l2": "second Lyapunov coefficient l2, decisive where l1 = 0",
    }
    table("Hopf point", ["what", "value"], [[meanings[name], f"{x:.12g}"] for name, x in computed.items()])
    eigenvalue_table(found.eigenvalues, every)
    print(found.status)


@click.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=NUMBER, required=True, help="Follow the orbits until the load has this value.")
@click.option("--near", type=NUMBER, help="Start at the Hopf point nearest to this load instead of the first.")
@click.option("--step", default=STEP, show_default=True, help="The largest step, as a share of the range.")
@click.option("--points", type=COUNT, default=POINTS, show_default=True, help="Stop after this many orbits.")
@within
@click.option("--accuracy", default=1e-11, show_default=True, help="Relative error that the mesh is adapted to.")
@all_rows
@save_into("branch")
@plot_into
@as_json
def orbits(
    fix: tuple[str, ...],
    load_parameter: str | None,
    to: float,
    near: float | None,
    step: float,
    points: int,
    bounds: tuple[float, float] | None,
    accuracy: float,
    every: bool,
    save: Path | None,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The branch of periodic orbits from the Hopf point: periods, stability, folds, doublings, broken symmetries.

    \b
    Example:
      pfaff orbits column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --to 100 --plot cycles.png
    """
    gc.enable()
    case = case_of(**which)
    born = case.hopf(load=load_parameter, near=near, fixed=state_values(case, fix))
    with counting(f"orbits along {born.load}", quiet=as_json) as progress:
        branch = born.orbits(to=to, step=step, points=points, bounds=bounds, accuracy=accuracy, progress=progress)
    branch_beside(branch, save, plot)
    _orbits_as_json(branch) if as_json else _print_orbits(branch, every)
    check_complete(branch.ended.reason is Reason.INTERRUPTED)


def _orbits_as_json(branch: Any) -> None:
    words = ("value", "period", "stable", "symmetric", "amplitude", "advance", "residual", "mesh_error")
    entries = [{w: getattr(each, w) for w in words} | {"multipliers": list(each.multipliers)} for each in branch]
    facts = ("kind", "value", "period", "note")
    special = [{fact: getattr(each, fact) for fact in facts} for each in branch.special]
    print_json({"load": branch.load, "status": branch.status, "special": special, "orbits": entries})


def _print_orbits(branch: Any, every: bool) -> None:
    table(
        "Special points",
        ["kind", branch.load, "period"],
        [
            [f"{each.kind} (not located)" if each.note else each.kind, f"{each.value:.10g}", f"{each.period:.10g}"]
            for each in branch.special
        ],
    )
    rows = [
        [f"{each.value:.8g}", f"{each.period:.8g}", "stable" if each.stable else f"unstable ({each.unstable})",
         *(f"{moved:.6g}" for moved in each.advance.values())]
        for each in branch
    ]  # fmt: skip
    heads = [branch.load, "period", "stability", *(f"advance of {x}" for x in branch[0].advance)]
    table_of_interest("Orbits", heads, rows, _telling(branch), every)
    print(branch.status)


def _telling(branch: Any) -> list[int]:
    """Orbits on both sides of where the stability changes, then some along the way."""
    stable = [each.stable for each in branch]
    changes = [k for k in range(1, len(stable)) if stable[k] != stable[k - 1]]
    along = [round(k * (len(stable) - 1) / (ROWS // 2)) for k in range(1, ROWS // 2)]
    return list(dict.fromkeys([*(at for k in changes for at in (k - 1, k)), *along]))


def print_points(found: Any, every: bool, head: str, told: Callable[[Any], str]) -> None:
    """With --all, every point that was followed; else the special ones say enough."""
    if every:
        rows = [[*(f"{each.values[name]:.10g}" for name in found.parameters), told(each)] for each in found]
        table("Points", [*found.parameters, head], rows)


@click.command()
@which_case
@fix
@click.option("--in", "name_in", metavar="NAME", help="The parameter that changes, if not the declared load.")
@click.option("--to", type=NUMBER, required=True, help="Where the branch ends.")
@click.option("--step", default=STEP, show_default=True, help="The largest step, as a share of the range.")
@click.option("--points", type=COUNT, default=POINTS, show_default=True, help="Stop after this many points.")
@within
@all_rows
@save_into("branch")
@plot_into
@as_json
def branch(
    fix: tuple[str, ...],
    name_in: str | None,
    to: float,
    step: float,
    points: int,
    bounds: tuple[float, float] | None,
    every: bool,
    save: Path | None,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """Equilibria followed as a parameter changes: folds, branch points and Hopf points on the way.

    \b
    Example:
      pfaff branch column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --to 120
    """
    gc.enable()
    with counting("equilibria", quiet=as_json) as progress:
        case = case_of(**which)
        fixed = state_values(case, fix)
        found = case.branch(name_in, to, step=step, points=points, bounds=bounds, progress=progress, fixed=fixed)
    branch_beside(found, save, plot)
    print_json(branch_as_json(found)) if as_json else print_branch(found, every)
    check_complete(found.ended.reason is Reason.INTERRUPTED)


def branch_as_json(found: Any) -> dict[str, Any]:
    special = [special_as_json(each) | {"coefficient": each.coefficient} for each in found.special]
    return followed_as_json(found) | {"parameter": found.parameter, "special": special}


def print_branch(found: Any, every: bool) -> None:
    rows = [[each.kind, f"{each.value:.12g}", known(each.omega, 10), known(each.coefficient, 8), each.note]
            for each in found.special]  # fmt: skip
    table("Special points", ["kind", found.parameter, "frequency", "coefficient", ""], rows)
    print_points(found, every, "stable", lambda each: "yes" if each.stable else "no")
    print(found.status)


def followed_as_json(found: Any) -> dict[str, Any]:
    points = {name: [each.values[name] for each in found] for name in found.parameters}
    return {"parameters": list(found.parameters), "points": points, "ended": found.ended, "status": found.status}


def special_as_json(special: Any) -> dict[str, Any]:
    facts = {"kind": special.kind, "value": special.value, "values": special.values, "state": special.state}
    return facts | {"omega": special.omega, "status": special.status}
