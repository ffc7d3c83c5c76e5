"""Commands about the statement: what there is, and what it consists of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pfaff import doors
from pfaff.cli.arguments import (
    COUNT,
    NUMBER,
    as_json,
    load_parameter,
    plot_into,
    state_values,
    which_case,
    which_system,
)
from pfaff.cli.output import drawn_beside, grouped, print_json, table
from pfaff.cli.statement import case_of, mechanical, system_of

if TYPE_CHECKING:
    from pfaff.statement.odes import Ode
    from pfaff.statement.system import System


@click.command()
@as_json
def atlas(as_json: bool) -> None:
    """List the ready systems.

    \b
    Example:
      pfaff atlas
    """
    entries = {
        topic: {make.__name__: _first_line(make) for make in makes} for topic, makes in doors.atlas.TOPICS.items()
    }
    if as_json:
        facts = {name: {"topic": topic, "what": what} for topic, each in entries.items() for name, what in each.items()}
        return print_json(facts)
    grouped(entries)


def _first_line(make: Callable[..., Any]) -> str:
    return (make.__doc__ or "").strip().partition("\n")[0].rstrip(".")


@click.command()
@which_system
@click.option("--latex", is_flag=True, help="Print the equations of motion as LaTeX.")
@click.option("--principle", help="Derive them by lagrange, appell, hamilton, dalembert or newton, step by step.")
@as_json
def show(latex: bool, principle: str | None, as_json: bool, **which: Any) -> None:
    """What a system consists of: coordinates, parameters, constraints, what may be dropped.

    \b
    Examples:
      pfaff show column --bars 2 --constraint bow
      pfaff show bottema --principle appell
    """
    stated = system_of(**which)
    if principle:
        return _show_derivation(_mechanical_system(stated), principle, latex, as_json)
    if latex:
        text = _ode_latex(stated) if isinstance(stated, doors.odes.Ode) else stated.equations("lagrange").latex()
        return print_json({"latex": text}) if as_json else print(text)
    facts = _facts_of_ode(stated) if isinstance(stated, doors.odes.Ode) else _facts_of_system(stated)
    facts |= {
        "parameters": {s.name: None if v is None else str(v) for s, v in stated.parameters.items()},
        "load": stated.load.name if stated.load is not None else None,
        "meanings": dict(getattr(stated, "meanings", {})),
    }
    if as_json:
        return print_json(facts)
    first = "equations" if isinstance(stated, doors.odes.Ode) else "coordinates"
    heads = ["state", "rate of change"] if isinstance(stated, doors.odes.Ode) else ["coordinate", "in shape space"]
    meanings = facts["meanings"]
    told = [*heads, "meaning"] if meanings.keys() & facts[first].keys() else heads
    table(stated.name, told, [[k, v, meanings.get(k, "")][: len(told)] for k, v in facts[first].items()])
    rows = [
        [k, v or "to be given", "load" if k == facts["load"] else "", meanings.get(k, "")]
        for k, v in facts["parameters"].items()
    ]
    table("Parameters", ["name", "default", "", "meaning" if meanings else ""], rows)
    for name, speed in facts.get("quasi_velocities", {}).items():
        print(f"quasi-velocity: {name} = {speed}" + (f", {meanings[name]}" if name in meanings else ""))
    for symmetry in facts.get("symmetries", ()):
        print(f"symmetry: {symmetry}")
    if not isinstance(stated, doors.odes.Ode):
        _print_constraints(stated)


def _print_constraints(stated: System) -> None:
    """With velocities as they are written elsewhere, x_dot, and reactions by the names that were given to them."""
    plain = dict(stated.statement.to_plain)
    own = {name: f"{alias} ({name})" for alias, name in stated.reaction_aliases.items()}
    for kind in ("nonholonomic", "holonomic"):
        for expression in getattr(stated, f"{kind}_constraints"):
            print(f"{kind}: {expression.xreplace(plain)} = 0")
    rows = [[own.get(c.reaction, c.reaction), *c.words[1:]] for c in stated.classification.constraints]
    if rows:
        table("Constraints", ["reaction", "kind", "time", "displacements", ""], rows)
    print(stated.classification.status)


def _mechanical_system(stated: System | Ode) -> System:
    mechanical(stated.at(), "a principle of mechanics")
    return cast("System", stated)


def _show_derivation(stated: System, principle: str, latex: bool, as_json: bool) -> None:
    equations = stated.equations(principle)
    steps = equations.steps()
    if as_json:
        named = [{"title": title, "latex": body} for title, body in steps]
        return print_json({"principle": principle, "steps": named, "latex": equations.latex()})
    if latex:
        return print(equations.latex())
    for title, body in steps:
        print(f"{title}\n{body}\n")


@click.command()
@which_system
@click.option("--states", type=COUNT, default=32, show_default=True, help="Random states to compare at.")
@click.option("--seed", type=COUNT, default=0, show_default=True, help="Seed of the random states.")
@plot_into
@as_json
def compare(states: int, seed: int, plot: Path | None, as_json: bool, **which: Any) -> None:
    """The principles of mechanics side by side: sizes, costs, and agreement at random states.

    \b
    Example:
      pfaff compare bottema
    """
    from dataclasses import asdict

    found = _mechanical_system(system_of(**which)).compare(states, seed)
    drawn_beside(plot, found.plot)
    if as_json:
        rows = [asdict(row) for row in found.rows]
        return print_json({"rows": rows, "refused": found.refused, "agree": found.agree, "status": found.status})
    table("Principles", *found.table())
    for name, reason in found.refused.items():
        print(f"{name} does not apply: {reason}")
    print(found.status)


def _facts_of_system(stated: System) -> dict[str, Any]:
    coordinates, part = (
        {**doors.shape.kept_coordinates(stated), **doors.shape.ignorable_coordinates(stated)},
        doors.freezing.slice_of(stated),
    )
    return {
        "name": stated.name,
        "coordinates": {**part.kept(coordinates), **part.dropped} if part else coordinates,
        "symmetries": doors.symmetries.symmetries(stated).told(stated.coordinate_names),
        "quasi_velocities": {name: str(speed) for name, speed in stated.quasi_velocities.items()},
        "nonholonomic_constraints": [str(c) for c in stated.nonholonomic_constraints],
        "holonomic_constraints": [str(c) for c in stated.holonomic_constraints],
        "reactions": list(stated.reaction_names) if stated.statement.constraints else [],
        "classification": stated.classification.to_dict(),
    }


def _facts_of_ode(stated: Ode) -> dict[str, Any]:
    rates = zip(stated.state_names, stated.right_hand_sides, strict=True)
    return {"name": stated.name, "equations": {name: str(rate) for name, rate in rates}}


def _ode_latex(stated: Ode) -> str:
    rates = zip(stated.symbols, stated.right_hand_sides, strict=True)
    rows = [rf"\dot{{{doors.typeset.typeset(x)}}} &= {doors.typeset.typeset(rate)}" for x, rate in rates]
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


@click.command()
@which_case
@load_parameter
@click.option("--to", required=True, metavar="PROGRAM", help="auto, matcont, bifurcationkit, c, numpy or latex.")
@click.option("--until", type=NUMBER, help="Where a continuation in the load ends.")
@click.option("--start", multiple=True, metavar="NAME=VALUE", help="Where to look for the equilibrium: x=0.1. Repeat.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the files; printed if not given.")
@as_json
def export(
    load_parameter: str | None,
    to: str,
    until: float | None,
    start: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The reduced equations with their derivatives, for AUTO-07p, MatCont, BifurcationKit, C, NumPy or LaTeX.

    \b
    Example:
      pfaff export column --set k1=50 --set c_i=1.5 --to auto --until 120 --output column
    """
    case = case_of(**which)
    near = state_values(case, start, "--start") or None
    exported = case.export(to, output, load=load_parameter, until=until, start=near)
    if as_json:
        return print_json({"to": to, "files": exported.files, "written": list(exported.written)})
    if output is None:
        return print("\n".join(exported.files.values()))
    print(exported.status)
