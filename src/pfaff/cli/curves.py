"""The command about curves in two parameters: of Hopf points, and of special orbits."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import click

from pfaff.cli.arguments import (
    COUNT,
    NUMBER,
    all_rows,
    as_json,
    fix,
    load_parameter,
    plot_into,
    save_into,
    state_values,
    which_case,
)
from pfaff.cli.bifurcation import followed_as_json, print_points, special_as_json, within
from pfaff.cli.output import branch_beside, check_complete, counting, known, print_json, table
from pfaff.cli.statement import case_of
from pfaff.continuation.course import POINTS, STEP
from pfaff.continuation.endings import Reason
from pfaff.errors import NoBifurcationError, ParameterError
from pfaff.threads import part_of_a_whole


@click.command()
@which_case
@fix
@load_parameter
@click.option("--in", "name_in", metavar="NAME", required=True, help="The second parameter, such as a damping.")
@click.option("--to", type=NUMBER, required=True, help="Where the curve ends, in the second parameter.")
@click.option("--near", type=NUMBER, help="Start from the Hopf point nearest to this load instead of the first.")
@click.option("--step", default=STEP, show_default=True, help="The largest step, as a share of the range.")
@click.option("--points", type=COUNT, default=POINTS, show_default=True, help="Stop after this many points.")
@within
@click.option("--of", "kind", metavar="KIND", help="Follow such special orbits instead: fold, torus, period doubling…")
@click.option("--orbits-to", type=NUMBER, help="The load to which orbits are searched for the first of that kind.")
@all_rows
@save_into("curve")
@plot_into
@as_json
def curve(
    fix: tuple[str, ...],
    load_parameter: str | None,
    name_in: str,
    to: float,
    near: float | None,
    step: float,
    points: int,
    bounds: tuple[float, float] | None,
    kind: str | None,
    orbits_to: float | None,
    every: bool,
    save: Path | None,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The curve of Hopf points, or of special orbits, in the load and a second parameter, with its special points.

    \b
    Examples:
      pfaff curve column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --in c_i --to 30
      pfaff curve column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --of fold --orbits-to 90 --in c_i --to 2
    """
    gc.enable()
    if (kind is None) != (orbits_to is None):
        raise ParameterError("--of and --orbits-to go together: the kind of orbit, and how far to search for it")
    case = case_of(**which)
    start: Any = case.hopf(load=load_parameter, near=near, fixed=state_values(case, fix))
    if kind is not None:
        start = _special_orbit(start, kind, orbits_to, as_json)
    with counting("points", quiet=as_json) as progress:
        found = start.curve(name_in, to, step=step, points=points, bounds=bounds, progress=progress)
    branch_beside(found, save, plot)
    if kind is not None:
        _print_cycle_curve(found, every, as_json)
    else:
        _print_curve(found, every, as_json)
    check_complete(found.ended.reason is Reason.INTERRUPTED)


def _print_curve(found: Any, every: bool, as_json: bool) -> None:
    if as_json:
        special = [special_as_json(each) | {"coefficients": each.coefficients} for each in found.special]
        l1 = [each.coefficient for each in found]
        return print_json(followed_as_json(found) | {"l1": l1, "special": special})
    names = found.parameters
    rows = [
        [each.kind, *(f"{each.values[name]:.12g}" for name in names), _listed(each.coefficients)]
        for each in found.special
    ]  # fmt: skip
    table("Points of codimension two", ["kind", *names, "coefficients"], rows)
    print_points(found, every, "l1", lambda each: known(each.coefficient, 8))
    print(found.status)


def _special_orbit(hopf: Any, kind: str, to: float | None, quiet: bool) -> Any:
    """The first special orbit of a kind on the branch that is born at a Hopf point."""
    with counting(f"orbits along {hopf.load}", quiet=quiet) as progress, part_of_a_whole():
        orbits = hopf.orbits(to=to, progress=progress)
    found = orbits.of_kind(kind)
    if not found:
        raise NoBifurcationError(f"--of {kind!r}: there is none on this branch ({orbits.status})")
    return found[0]


def _print_cycle_curve(found: Any, every: bool, as_json: bool) -> None:
    facts = [{"kind": s.kind, "values": s.values, "period": s.period, "status": s.status} for s in found.special]
    if as_json:
        periods = [each.period for each in found]
        return print_json(followed_as_json(found) | {"of": found.of, "periods": periods, "special": facts})
    rows = [[s["kind"], *(f"{x:.10g}" for x in s["values"].values()), f"{s['period']:.10g}"] for s in facts]
    table("Points of codimension two", ["kind", *found.parameters, "period"], rows)
    print_points(found, every, "period", lambda each: f"{each.period:.10g}")
    print(found.status)


def _listed(coefficients: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.8g}" for name, value in coefficients.items())
