"""Commands about equilibria and their linear stability."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pfaff.cli.arguments import (
    COUNT,
    NUMBER,
    all_rows,
    as_json,
    fix,
    is_ode,
    load_parameter,
    numbers,
    plot_into,
    state_values,
    which_case,
)
from pfaff.cli.output import check_complete, drawn_beside, eigenvalue_table, print_json, table, table_of_interest
from pfaff.cli.statement import case_of
from pfaff.statement.told import without_rounding


@click.command()
@which_case
@fix
@click.option("--starts", type=COUNT, default=2000, show_default=True, help="Random starts of the search.")
@click.option("--seed", type=COUNT, default=0, show_default=True, help="Seed of the random starts.")
@all_rows
@plot_into
@as_json
def equilibria(
    fix: tuple[str, ...], starts: int, seed: int, every: bool, plot: Path | None, as_json: bool, **which: Any
) -> None:
    """All equilibria that a seeded search finds, with their reactions and family; of an ODE the one that is near.

    \b
    Example:
      pfaff equilibria column --bars 7 --load spring --set Delta=0.1 --set beta0=0.785 --fix X=0
    """
    case = case_of(**which)
    if is_ode(case):
        return _equilibrium_of_ode(case, fix, plot, as_json)
    found = case.equilibria(starts=starts, seed=seed, fixed=state_values(case, fix))
    drawn_beside(plot, found.plot)
    if as_json:
        entries = [{"coordinates": e.coordinates, "reaction": e.reaction, "residual": e.residual} for e in found]
        print_json({"equilibria": entries, "family_dimension": found.family_dimension, "search": found.search})
        return check_complete(found.interrupted)
    names = [*case.system.coordinate_names, *(found[0].reaction if len(found) else ())]
    kinds = (without_rounding([e.q for e in found]), without_rounding([list(e.reaction.values()) for e in found]))
    rows = [[f"{x:.8g}" for x in (*q, *p)] for q, p in zip(*kinds, strict=True)]
    table_of_interest("Equilibria", names, rows, range(len(rows)), every)
    print(f"{found.status}\nfamily dimension {found.family_dimension}")
    check_complete(found.interrupted)


def _equilibrium_of_ode(case: Any, fix: tuple[str, ...], plot: Path | None, as_json: bool) -> None:
    """That which Newton's method reaches from the values in --fix, zero where none is given."""
    found = case.equilibrium(start=state_values(case, fix))
    drawn_beside(plot, found.plot)
    if as_json:
        return print_json({"state": found.state, "residual": found.residual, "status": found.status})
    table("Equilibrium", ["state", "value"], [[name, f"{value:.12g}"] for name, value in found.state.items()])
    print(found.status)


@click.command()
@which_case
@fix
@all_rows
@plot_into
@as_json
def spectrum(fix: tuple[str, ...], every: bool, plot: Path | None, as_json: bool, **which: Any) -> None:
    """Eigenvalues of small motions about the equilibrium near the origin, structural zeros apart.

    \b
    Example:
      pfaff spectrum column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --set F=80
    """
    case = case_of(**which)
    found = case.spectrum(None, values=state_values(case, fix))
    drawn_beside(plot, found.plot)
    if as_json:
        return print_json(
            {"values": found.values, "zeros": found.zeros, "stable": found.stable, "status": found.status}
        )
    eigenvalue_table(found.values, every)
    print(found.status)


@click.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=NUMBER, help="Search loads up to this value.")
@plot_into
@as_json
def flutter(
    fix: tuple[str, ...], load_parameter: str | None, to: float | None, plot: Path | None, as_json: bool, **which: Any
) -> None:
    """The first flutter load as the load grows from zero; the search goes no farther.

    \b
    Example:
      pfaff flutter column --set d=1/2,M_L=15,I_L=15,k1=50,c_i=1.5
    """
    case = case_of(**which)
    found = case.flutter(load=load_parameter, to=to, fixed=state_values(case, fix))
    drawn_beside(plot, found.plot)
    if as_json:
        facts = {"flutter": _load_as_json(found), "load": found.load, "searched": list(found.searched)}
        return print_json(facts | {"status": found.status})
    print(found.status)


@click.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=NUMBER, help="Search loads up to this value.")
@click.option("--exact", is_flag=True, help="Closed forms, about the origin.")
@plot_into
@as_json
def critical(
    fix: tuple[str, ...],
    load_parameter: str | None,
    to: float | None,
    exact: bool,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The first flutter, divergence and buckling loads as the load grows from zero.

    \b
    Example:
      pfaff critical column --bars 2 --set d=1/2 --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5
    """
    case = case_of(**which)
    if exact:
        kinds = ("flutter", "divergence", "buckling")
        given = state_values(case, fix)
        loads = {kind: getattr(case, kind)(load=load_parameter, to=to, exact=True, fixed=given) for kind in kinds}
    else:
        found = case.critical(load=load_parameter, to=to, fixed=state_values(case, fix))
        loads = {"flutter": found.flutter, "divergence": found.divergence, "buckling": found.buckling}
    drawn_beside(plot, loads["flutter"].plot)
    if as_json:
        return print_json(
            {kind: _load_as_json(each) for kind, each in loads.items()}
            | {"load": loads["flutter"].load, "searched": list(loads["flutter"].searched)}
        )
    form = "{0.value} ≈ {1:.12g}" if exact else "{1:.{0.digits}g}"
    rows = [
        [kind, form.format(each, float(each)), f"{each.frequency:.10g}", each.how] if each
        else [kind, "none", "", f"up to {each.load} = {each.searched[1]:g}"]
        for kind, each in loads.items()
    ]  # fmt: skip
    table(f"Critical loads, {loads['flutter'].load}", ["kind", "value", "frequency", "how"], rows)


@click.command()
@which_case
@click.option("--direction", multiple=True, metavar="NAME=VALUE", help="Share of a damping: c_i=1. Repeat.")
@click.option("--among", multiple=True, metavar="NAME", help="Only this damping. Repeat.")
@load_parameter
@as_json
def paradox(
    direction: tuple[str, ...], among: tuple[str, ...], load_parameter: str | None, as_json: bool, **which: Any
) -> None:
    """The flutter load as damping vanishes: along a direction, for each source alone, and at best.

    \b
    Example:
      pfaff paradox column --set M_L=15 --set I_L=15 --set k1=50 --direction c_i=1 --direction c_e=2
    """
    case = case_of(**which)
    found = case.paradox(numbers(direction, "--direction") or None, load=load_parameter, among=list(among) or None)
    facts = {
        "load": found.load,
        "undamped": found.undamped,
        "direction": found.direction,
        "limit": found.limit,
        "recovered": found.recovered if found.limit is not None else None,
        "singles": found.singles,
        "minimum": found.minimum,
        "maximum": found.maximum,
        "best": found.best,
        "recoverable": found.recoverable,
    }
    if as_json:
        return print_json(facts)
    rows = [["none from the beginning", f"{found.undamped:.12g}"]]
    if found.limit is not None:
        rows.append(["vanishing along the direction", f"{found.limit:.12g}"])
    rows += [[f"{name} alone, vanishing", f"{value:.12g}"] for name, value in found.singles.items()]
    best = ", ".join(f"{name} {share:.6g}" for name, share in found.best.items() if share)
    rows.append([f"vanishing along {best} (best)", f"{found.maximum:.12g}"])
    table("Vanishing damping", ["damping", f"flutter at {found.load}"], rows)


def _load_as_json(load: Any) -> dict[str, Any] | None:
    if not load:
        return None
    exact = {} if isinstance(load.value, float) else {"exact": str(load.value)}
    facts = {name: getattr(load, name) for name in ("frequency", "eigenvalue", "mode", "how")}
    return {"value": float(load.value), **facts, **exact}
