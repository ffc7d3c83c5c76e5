"""Commands about the statement: what there is, and what it consists of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfaff.cli.arguments import as_json, load_parameter, which_case, which_system
from pfaff.cli.output import print_json, table
from pfaff.cli.statement import case_of, system_of

if TYPE_CHECKING:
    from pfaff.odes import Ode
    from pfaff.system import System


@click.command()
@as_json
def atlas(as_json: bool) -> None:
    """List the ready systems.

    \b
    Example:
      pfaff atlas
    """
    from pfaff import atlas as systems

    entries = {name: (getattr(systems, name).__doc__ or "").strip().splitlines()[0] for name in systems.SYSTEMS}
    if as_json:
        return print_json(entries)
    table("Systems", ["name", "what it is"], [[name, text] for name, text in entries.items()])


@click.command()
@which_system
@click.option("--latex", is_flag=True, help="Print the equations of motion as LaTeX.")
@as_json
def show(latex: bool, as_json: bool, **which: Any) -> None:
    """What a system consists of: coordinates, parameters, constraints, what may be dropped.

    \b
    Example:
      pfaff show column --bars 2 --constraint bow
    """
    from pfaff.odes import Ode

    stated = system_of(**which)
    if latex:
        text = _ode_latex(stated) if isinstance(stated, Ode) else stated.equations("lagrange").latex()
        return print_json({"latex": text}) if as_json else print(text)
    facts = _facts_of_ode(stated) if isinstance(stated, Ode) else _facts_of_system(stated)
    facts |= {
        "parameters": {s.name: None if v is None else str(v) for s, v in stated.parameters.items()},
        "load": stated.load.name if stated.load is not None else None,
    }
    if as_json:
        return print_json(facts)
    first = "equations" if isinstance(stated, Ode) else "coordinates"
    heads = ["state", "rate of change"] if isinstance(stated, Ode) else ["coordinate", "in shape space"]
    table(stated.name, heads, [[k, v] for k, v in facts[first].items()])
    rows = [[k, v or "to be given", "load" if k == facts["load"] else ""] for k, v in facts["parameters"].items()]
    table("Parameters", ["name", "default", ""], rows)
    for kind in ("nonholonomic", "holonomic"):
        for row in facts.get(f"{kind}_constraints", ()):
            print(f"{kind}: {row} = 0")


def _facts_of_system(stated: System) -> dict[str, Any]:
    from pfaff.lowering import graph_of
    from pfaff.reduction import ignorable_coordinates, kept_coordinates

    graph = graph_of(stated)
    return {
        "name": stated.name,
        "coordinates": {**kept_coordinates(graph), **ignorable_coordinates(graph)},
        "nonholonomic_constraints": [str(c) for c in stated.nonholonomic_constraints],
        "holonomic_constraints": [str(c) for c in stated.holonomic_constraints],
        "reactions": list(stated.reaction_names) if stated.statement.constraints else [],
    }


def _facts_of_ode(stated: Ode) -> dict[str, Any]:
    rates = zip(stated.state_names, stated.right_hand_sides, strict=True)
    return {"name": stated.name, "equations": {name: str(rate) for name, rate in rates}}


def _ode_latex(stated: Ode) -> str:
    import sympy as sm

    rates = zip(stated.symbols, stated.right_hand_sides, strict=True)
    rows = [rf"\dot{{{sm.latex(x)}}} &= {sm.latex(rate)}" for x, rate in rates]
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


@click.command()
@which_case
@load_parameter
@click.option("--to", required=True, metavar="PROGRAM", help="auto, matcont, bifurcationkit, c, numpy or latex.")
@click.option("--until", type=float, help="Where a continuation in the load ends.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the files; printed if not given.")
@as_json
def export(
    load_parameter: str | None, to: str, until: float | None, output: Path | None, as_json: bool, **which: Any
) -> None:
    """The reduced equations with their derivatives, for AUTO-07p, MatCont, BifurcationKit, C, NumPy or LaTeX.

    \b
    Example:
      pfaff export column --set k1=50 --set c_i=1.5 --to auto --until 120 --output column
    """
    exported = case_of(**which).export(to, output, load=load_parameter, until=until)
    if as_json:
        return print_json({"to": to, "files": exported.files, "written": list(exported.written)})
    if output is None:
        return print("\n".join(exported.files.values()))
    print(exported.status)
