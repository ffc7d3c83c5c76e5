"""pfaff on the shell: every analysis as a command, with tables for people and ``--json`` for programs."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfaff.errors import ParameterError, PfaffError, StatementError, nearest
from pfaff.progress import bar

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.motion.result import Motion
    from pfaff.system import System

Command = Callable[..., Any]


def _together(*options: Command) -> Command:
    """Several click decorators as one."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


which_system = _together(
    click.argument("name", metavar="SYSTEM"),
    click.option("--bars", type=int, help="Number of bars of a column."),
    click.option("--constraint", help="End of a column: skate or bow."),
    click.option("--load", help="Loading of a column: dead or spring."),
    click.option("--option", multiple=True, metavar="NAME=VALUE", help="Any other option of the system. Repeat."),
)
which_case = _together(
    which_system,
    click.option("--set", "values", multiple=True, metavar="NAME=VALUE", help="A parameter: k1=50, d=1/2. Repeat."),
)
fix = click.option("--fix", multiple=True, metavar="NAME=VALUE", help="A family coordinate: X=0. Repeat.")
load_parameter = click.option(
    "--load-parameter", metavar="NAME", help="The parameter that grows, if not the declared load."
)
plot_into = click.option(
    "--plot", type=click.Path(path_type=Path), help="Also draw it into this file: .png, .pdf, .svg."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of tables.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def app() -> None:
    """Mechanical systems with Pfaffian constraints: equations, equilibria, stability.

    SYSTEM is a name from `pfaff atlas`.
    """


def main() -> None:
    """Run the program; an error of ours is one line on stderr and exit code 2."""
    # Collecting garbage during a run of a second costs a quarter of it; long commands switch it on again.
    gc.disable()
    try:
        app(standalone_mode=False)
    except PfaffError as problem:
        _fail(f"pfaff: {problem}", 2)
    except click.ClickException as problem:
        _fail(f"pfaff: {problem.format_message()} (see pfaff --help)", 2)
    except (KeyboardInterrupt, click.Abort):
        _fail("pfaff: interrupted", 130)
    gc.freeze()


def _fail(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    gc.freeze()
    sys.exit(code)


@app.command()
@as_json
def atlas(as_json: bool) -> None:
    """List the ready systems.

    \b
    Example:
      pfaff atlas
    """
    from pfaff import atlas as systems

    entries = {topic: {make.__name__: _first_line(make) for make in makes} for topic, makes in systems.TOPICS.items()}
    if as_json:
        facts = {name: {"topic": topic, "what": what} for topic, each in entries.items() for name, what in each.items()}
        return _print_json(facts)
    _grouped(entries)


def _first_line(make: Callable[..., Any]) -> str:
    return (make.__doc__ or "").strip().partition("\n")[0].rstrip(".")


@app.command()
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
    from pfaff.lowering import graph_of
    from pfaff.reduction import ignorable_coordinates, kept_coordinates

    stated = _system(**which)
    if principle:
        return _show_derivation(stated, principle, latex, as_json)
    if latex:
        text = stated.equations("lagrange").latex()
        return _print_json({"latex": text}) if as_json else print(text)
    graph = graph_of(stated)
    facts: dict[str, Any] = {
        "name": stated.name,
        "coordinates": {**kept_coordinates(graph), **ignorable_coordinates(graph)},
        "parameters": {s.name: None if v is None else str(v) for s, v in stated.parameters.items()},
        "load": stated.load.name if stated.load is not None else None,
        "nonholonomic_constraints": [str(c) for c in stated.nonholonomic_constraints],
        "holonomic_constraints": [str(c) for c in stated.holonomic_constraints],
        "reactions": list(stated.reaction_names) if stated.statement.constraints else [],
    }
    if as_json:
        return _print_json(facts)
    _table(stated.name, ["coordinate", "in shape space"], [[k, v] for k, v in facts["coordinates"].items()])
    rows = [[k, v or "to be given", "load" if k == facts["load"] else ""] for k, v in facts["parameters"].items()]
    _table("Parameters", ["name", "default", ""], rows)
    for kind in ("nonholonomic", "holonomic"):
        for row in facts[f"{kind}_constraints"]:
            print(f"{kind}: {row} = 0")


def _show_derivation(stated: System, principle: str, latex: bool, as_json: bool) -> None:
    equations = stated.equations(principle)
    steps = equations.steps()
    if as_json:
        named = [{"title": title, "latex": body} for title, body in steps]
        return _print_json({"principle": principle, "steps": named, "latex": equations.latex()})
    if latex:
        return print(equations.latex())
    for title, body in steps:
        print(f"{title}\n{body}\n")


@app.command()
@which_system
@click.option("--states", default=32, show_default=True, help="Random states to compare at.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random states.")
@plot_into
@as_json
def compare(states: int, seed: int, plot: Path | None, as_json: bool, **which: Any) -> None:
    """The principles of mechanics side by side: sizes, costs, and agreement at random states.

    \b
    Example:
      pfaff compare bottema
    """
    from dataclasses import asdict

    found = _system(**which).compare(states, seed)
    if plot:
        _save(found.plot(), plot)
    if as_json:
        rows = [asdict(row) for row in found.rows]
        return _print_json({"rows": rows, "refused": found.refused, "agree": found.agree, "status": found.status})
    _table("Principles", *found.table())
    for name, reason in found.refused.items():
        print(f"{name} does not apply: {reason}")
    print(found.status)


@app.command()
@which_case
@fix
@click.option("--starts", default=2000, show_default=True, help="Random starts of the search.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random starts.")
@plot_into
@as_json
def equilibria(fix: tuple[str, ...], starts: int, seed: int, plot: Path | None, as_json: bool, **which: Any) -> None:
    """All equilibria that a seeded search finds, with their reactions and family.

    \b
    Example:
      pfaff equilibria column --bars 7 --load spring --set Delta=0.1 --set beta0=0.785 --fix X=0
    """
    case = _case(**which)
    found = case.equilibria(starts=starts, seed=seed, **_numbers(fix))
    if plot:
        _save(found.plot(), plot)
    if as_json:
        entries = [{"coordinates": e.coordinates, "reaction": e.reaction, "residual": e.residual} for e in found]
        return _print_json({"equilibria": entries, "family_dimension": found.family_dimension, "search": found.search})
    names = [*case.system.coordinate_names, *(found[0].reaction if len(found) else ())]
    _table("Equilibria", names, [[f"{x:.8g}" for x in (*e.q, *e.p)] for e in found])
    print(f"{found.status}\nfamily dimension {found.family_dimension}")


@app.command()
@which_case
@fix
@plot_into
@as_json
def spectrum(fix: tuple[str, ...], plot: Path | None, as_json: bool, **which: Any) -> None:
    """Eigenvalues of small motions about the equilibrium near the origin, structural zeros apart.

    \b
    Example:
      pfaff spectrum column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --set F=80
    """
    found = _case(**which).spectrum(None, **_numbers(fix))
    if plot:
        _save(found.plot(), plot)
    if as_json:
        return _print_json(
            {"values": found.values, "zeros": found.zeros, "stable": found.stable, "status": found.status}
        )
    _table("Eigenvalues", ["growth rate", "frequency"], [[f"{x.real:.12g}", f"{x.imag:.12g}"] for x in found.values])
    print(found.status)


@app.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=float, help="Search loads up to this value.")
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
    case = _case(**which)
    if exact:
        kinds = ("flutter", "divergence", "buckling")
        given = _numbers(fix)
        loads = {kind: getattr(case, kind)(load=load_parameter, to=to, exact=True, **given) for kind in kinds}
    else:
        found = case.critical(load=load_parameter, to=to, **_numbers(fix))
        loads = {"flutter": found.flutter, "divergence": found.divergence, "buckling": found.buckling}
    if plot:
        _save(loads["flutter"].plot(), plot)
    if as_json:
        return _print_json({kind: _load_as_json(each) for kind, each in loads.items()} | _searched(loads["flutter"]))
    rows = [
        [kind, str(each.value) if exact else f"{each.value:.12g}", f"{each.frequency:.10g}", each.how] if each
        else [kind, "none", "", f"up to {each.load} = {each.searched[1]:g}"]
        for kind, each in loads.items()
    ]  # fmt: skip
    _table(f"Critical loads, {loads['flutter'].load}", ["kind", "value", "frequency", "how"], rows)


@app.command()
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
    case = _case(**which)
    found = case.paradox(_numbers(direction) or None, load=load_parameter, among=list(among) or None)
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
        return _print_json(facts)
    rows = [["none from the beginning", f"{found.undamped:.12g}"]]
    if found.limit is not None:
        rows.append(["vanishing along the direction", f"{found.limit:.12g}"])
    rows += [[f"{name} alone, vanishing", f"{value:.12g}"] for name, value in found.singles.items()]
    best = ", ".join(f"{name} {share:.6g}" for name, share in found.best.items() if share)
    rows.append([f"vanishing along {best} (best)", f"{found.maximum:.12g}"])
    _table("Vanishing damping", ["damping", f"flutter at {found.load}"], rows)


@app.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=float, help="Search loads up to this value.")
@click.option("--near", type=float, help="Take the Hopf point nearest to this load instead of the first.")
@click.option("--second", is_flag=True, help="Also compute the second Lyapunov coefficient.")
@plot_into
@as_json
def hopf(
    fix: tuple[str, ...],
    load_parameter: str | None,
    to: float | None,
    near: float | None,
    second: bool,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The Hopf point on the equilibrium path: eigenvalues, crossing speed, Lyapunov coefficients and verdict.

    \b
    Example:
      pfaff hopf column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5
    """
    found = _case(**which).hopf(load=load_parameter, to=to, near=near, **_numbers(fix))
    if plot:
        _save(found.plot(), plot)
    names = ["value", "omega", "crossing_speed", "distance", "l1", "l1_matcont", "V3", *["l2"] * second]
    numbers = {name: getattr(found, name) for name in names}
    if as_json:
        words = ("load", "criticality", "status", "simple", "transversal", "structural_zeros", "state")
        vectors = {name: list(getattr(found, name)) for name in ("eigenvalues", "q", "p")}
        finite = {name: x if isfinite(x) else None for name, x in numbers.items()}
        return _print_json({name: getattr(found, name) for name in words} | finite | vectors)
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
    _table("Hopf point", ["what", "value"], [[meanings[name], f"{x:.12g}"] for name, x in numbers.items()])
    rows = [[f"{value.real:.12g}", f"{value.imag:.12g}"] for value in found.eigenvalues]
    _table("Eigenvalues", ["growth rate", "frequency"], rows)
    print(found.status)


@app.command()
@which_case
@fix
@load_parameter
@click.option("--to", type=float, required=True, help="Follow the orbits until the load has this value.")
@click.option("--near", type=float, help="Start at the Hopf point nearest to this load instead of the first.")
@click.option("--points", default=1000, show_default=True, help="Stop after so many orbits.")
@click.option("--accuracy", default=1e-11, show_default=True, help="Relative error that the mesh is adapted to.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the branch as netCDF.")
@plot_into
@as_json
def orbits(
    fix: tuple[str, ...],
    load_parameter: str | None,
    to: float,
    near: float | None,
    points: int,
    accuracy: float,
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
    born = _case(**which).hopf(load=load_parameter, near=near, **_numbers(fix))
    with _counting(f"orbits along {born.load}", quiet=as_json) as progress:
        branch = born.orbits(to=to, points=points, accuracy=accuracy, progress=progress)
    if save:
        branch.save(save)
    if plot:
        _save(branch.plot(), plot)
    if as_json:
        words = ("value", "period", "stable", "symmetric", "amplitude", "advance", "residual", "mesh_error")
        entries = [{w: getattr(each, w) for w in words} | {"multipliers": list(each.multipliers)} for each in branch]
        facts = ("kind", "value", "period", "note")
        special = [{fact: getattr(each, fact) for fact in facts} for each in branch.special]
        return _print_json({"load": branch.load, "status": branch.status, "special": special, "orbits": entries})
    _table(
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
    _table("Orbits", [branch.load, "period", "stability", *(f"advance of {x}" for x in branch[0].advance)], rows)
    print(branch.status)


@app.command()
@which_case
@fix
@click.option("--in", "name_in", metavar="NAME", help="The parameter that changes, if not the declared load.")
@click.option("--to", type=float, required=True, help="Where the branch ends.")
@click.option("--step", default=0.05, show_default=True, help="The largest step, as a share of the range.")
@plot_into
@as_json
def branch(
    fix: tuple[str, ...], name_in: str | None, to: float, step: float, plot: Path | None, as_json: bool, **which: Any
) -> None:
    """Equilibria followed as a parameter changes: folds, branch points and Hopf points on the way.

    \b
    Example:
      pfaff branch column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --to 120
    """
    fixed: dict[str, Any] = {**_numbers(fix)}
    with _counter("equilibria") as progress:
        found = _case(**which).branch(name_in, to, step=step, progress=progress, **fixed)
    if plot:
        _save(found.plot(), plot)
    if as_json:
        special = [_special_as_json(each) | {"coefficient": _finite(each.coefficient)} for each in found.special]
        return _print_json(_followed_as_json(found) | {"parameter": found.parameter, "special": special})
    rows = [[each.kind, f"{each.value:.12g}", _known(each.omega, 10), _known(each.coefficient, 8), each.note]
            for each in found.special]  # fmt: skip
    _table("Special points", ["kind", found.parameter, "frequency", "coefficient", ""], rows)
    print(found.status)


@app.command()
@which_case
@fix
@load_parameter
@click.option("--in", "name_in", metavar="NAME", required=True, help="The second parameter, such as a damping.")
@click.option("--to", type=float, required=True, help="Where the curve ends, in the second parameter.")
@click.option("--near", type=float, help="Start from the Hopf point nearest to this load instead of the first.")
@click.option("--step", default=0.05, show_default=True, help="The largest step, as a share of the range.")
@plot_into
@as_json
def curve(
    fix: tuple[str, ...],
    load_parameter: str | None,
    name_in: str,
    to: float,
    near: float | None,
    step: float,
    plot: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """The curve of Hopf points in the load and a second parameter, with its points of codimension two.

    \b
    Example:
      pfaff curve column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --in c_i --to 30
    """
    start = _case(**which).hopf(load=load_parameter, near=near, **_numbers(fix))
    with _counter("Hopf points") as progress:
        found = start.curve(name_in, to, step=step, progress=progress)
    if plot:
        _save(found.plot(), plot)
    if as_json:
        known = [{name: _finite(x) for name, x in each.coefficients.items()} for each in found.special]
        special = [_special_as_json(each) | {"coefficients": c} for each, c in zip(found.special, known, strict=True)]
        l1 = [_finite(each.coefficient) for each in found]
        return _print_json(_followed_as_json(found) | {"l1": l1, "special": special})
    names = found.parameters
    rows = [
        [each.kind, *(f"{each.values[name]:.12g}" for name in names), _listed(each.coefficients)]
        for each in found.special
    ]  # fmt: skip
    _table("Points of codimension two", ["kind", *names, "coefficients"], rows)
    print(found.status)


def _followed_as_json(found: Any) -> dict[str, Any]:
    points = {name: [each.values[name] for each in found] for name in found.parameters}
    return {"parameters": list(found.parameters), "points": points, "ended": found.ended, "status": found.status}


def _special_as_json(special: Any) -> dict[str, Any]:
    facts = {"kind": special.kind, "value": special.value, "values": special.values, "state": special.state}
    return facts | {"omega": _finite(special.omega), "status": special.status}


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


def _known(number: float, digits: int) -> str:
    """A number for a table; nothing where there is none."""
    return f"{number:.{digits}g}" if isfinite(number) else ""


def _listed(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.8g}" for name, value in numbers.items())


@contextmanager
def _counter(text: str) -> Iterator[Callable[[Any], None]]:
    """What has been followed so far, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda point: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"following {text}") as line:
        yield lambda point: line.update(f"following {text}: {point.value:.6g}")


@app.command()
@which_case
@click.option("--duration", type=float, required=True, help="How long, from time zero; negative runs backwards.")
@click.option("--start", multiple=True, metavar="NAME=VALUE", help="An initial value: theta1_dot=0.01. Repeat.")
@click.option("--samples", default=1001, show_default=True, help="Times at which the motion is kept.")
@click.option("--project", is_flag=True, help="Change initial values that violate the constraints, and say so.")
@click.option(
    "--method", default="auto", show_default=True, help="auto, taylor, or for stiff systems implicit, cvode, radau."
)
@click.option("--tolerance", type=float, help="Error allowed in each step; by default what the method does best.")
@click.option(
    "--drive", multiple=True, metavar="NAME=f(t)", help="A coordinate or load in time: F=80+sin(2*t). Repeat."
)
@click.option(
    "--event", multiple=True, metavar="EXPRESSION", help="Locate where this vanishes: 'theta1', 'p - 3'. Repeat."
)
@click.option("--stop", multiple=True, metavar="EXPRESSION", help="End the motion where this vanishes. Repeat.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the motion as netCDF.")
@plot_into
@click.option("--film", type=click.Path(path_type=Path), help="Also draw successive configurations: .png, .pdf, .svg.")
@click.option(
    "--animate", type=click.Path(path_type=Path), help="Also write a moving picture: .gif, .html, .mp4 (by ffmpeg)."
)
@click.option("--seconds", default=10.0, show_default=True, help="How long the moving picture lasts.")
@as_json
def simulate(
    duration: float,
    start: tuple[str, ...],
    samples: int,
    project: bool,
    method: str,
    tolerance: float | None,
    drive: tuple[str, ...],
    event: tuple[str, ...],
    stop: tuple[str, ...],
    save: Path | None,
    plot: Path | None,
    film: Path | None,
    animate: Path | None,
    seconds: float,
    as_json: bool,
    **which: Any,
) -> None:
    """The motion from initial values: coordinates, reactions and the balance of energy.

    \b
    Example:
      pfaff simulate column --set M_L=15 --set I_L=15 --set k1=50 --set c_i=1.5 --set F=83.97 \\
          --duration 100 --start theta1_dot=0.01 --start theta2_dot=0.01 --plot cycle.png --animate cycle.gif
    """
    from pfaff.motion.events import Event
    from pfaff.motion.simulate import simulate as integrate

    gc.enable()
    case = _case(**which)
    _check_outputs(save, plot, film, animate)
    if film or animate:
        _check_pictures(case, animate)
    with bar("integrating") as progress:
        motion = integrate(
            case,
            duration,
            _numbers(start),
            samples=samples,
            tolerance=tolerance,
            project=project,
            method=method,
            prescribed=_functions(drive),
            events={**{e: e for e in event}, **{e: Event(e, stop=True) for e in stop}},
            progress=progress,
        )
    if save:
        motion.save(save)
    if plot:
        _save(motion.plot(), plot)
    if film:
        _save(motion.film(), film)
    if animate:
        _animate(motion, animate, seconds)
    if as_json:
        series = {name: motion[name] for name in (*motion.states, *motion.reaction_names)}
        facts: dict[str, Any] = {"status": motion.status, "method": motion.method, "energy_drift": motion.energy.drift}
        facts["events"] = {name: found.t for name, found in motion.events.items()}
        facts["written"] = [str(path) for path in (save, plot, film, animate) if path]
        return _print_json(facts | {"changes": motion.changes, "t": motion.t} | series)
    rows = [
        [name, *(f"{x:.8g}" for x in (motion[name][0], motion[name][-1], motion[name].min(), motion[name].max()))]
        for name in (*motion.states, *motion.reaction_names)
    ]
    _table(f"Motion over {motion.t[-1]:g}", ["name", "first", "last", "least", "greatest"], rows)
    print(f"{motion.status}; {motion.method}; energy balances to {motion.energy.drift:.1e}")
    for name, found in motion.events.items():
        times = ", ".join(f"{t:.12g}" for t in found.t[:8]) + (", …" if len(found) > 8 else "")
        print(f"{name} = 0: {len(found)} times{': t = ' + times if len(found) else ''}")
    for name, change in motion.changes.items():
        print(f"changed to obey the constraints: {name} by {change:.6g}")


@app.command()
@click.argument("paper", required=False)
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("report"), show_default=True, help="Folder for results."
)
@as_json
def reproduce(paper: str | None, output: Path, as_json: bool) -> None:
    """Compute what a paper prints: printed value, computed value and verdict side by side, and its figures.

    \b
    Example:
      pfaff reproduce cazzolli2020 --output report
    """
    from pfaff.papers import PAPERS, reproduce_paper

    gc.enable()
    if paper is None:
        if as_json:
            return _print_json(PAPERS)
        return _table("Papers", ["key", "paper"], [[key, title] for key, title in PAPERS.items()])
    if paper not in PAPERS:
        raise ParameterError(f"no paper {paper!r}: {nearest(paper, PAPERS)}")
    result = reproduce_paper(paper, output, quiet=as_json)
    if not result.complete:
        sys.exit(130)
    if as_json:
        return _print_json(result.as_dict())
    rows = [[i.where, i.what, i.printed_text, i.computed_text, i.verdict] for i in result.items]
    _table(result.title, ["where", "what", "printed", "computed", "verdict"], rows)
    print(f"{result.status}\nwritten: {', '.join(str(path) for path in result.files)}")


def _system(name: str, bars: int | None, constraint: str | None, load: str | None, option: tuple[str, ...]) -> System:
    import inspect

    from pfaff import atlas as systems

    if name not in systems.SYSTEMS:
        raise StatementError(f"no system {name!r} in the atlas: {nearest(name, systems.SYSTEMS)}")
    make = systems.SYSTEMS[name]
    given: dict[str, Any] = {"bars": bars, "constraint": constraint, "load": load}
    given = {key: value for key, value in given.items() if value is not None}
    more = _pairs(option, "--option")
    for key in more:
        if key in given:
            raise StatementError(f"{key} is given twice, by --{key} and by --option: leave one out")
    given |= more
    accepted = inspect.signature(make).parameters
    for key in given:
        if key not in accepted:
            known = f"; it takes {', '.join(accepted)}" if accepted else "; it takes none"
            raise StatementError(f"{name} has no option {key!r}{known}")
    return make(**{key: _plain(value, accepted[key].default) for key, value in given.items()})


def _plain(value: Any, default: Any) -> Any:
    """Text from the shell in the type of the option's default."""
    if not isinstance(value, str) or isinstance(default, str):
        return value
    if isinstance(default, bool):
        if value.lower() not in ("true", "yes", "1", "false", "no", "0"):
            raise StatementError(f"{value!r} is neither true nor false")
        return value.lower() in ("true", "yes", "1")
    try:
        return int(value)
    except ValueError:
        raise StatementError(f"{value!r} is not a whole number") from None


def _case(values: tuple[str, ...], **which: Any) -> Case:
    return _system(**which).at(**_pairs(values, "--set"))


def _pairs(texts: tuple[str, ...], flag: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise ParameterError(f"{flag} {text!r}: write NAME=VALUE, such as k1=50")
        if name.strip() in pairs:
            raise ParameterError(f"{flag} gives {name.strip()} twice: leave one out")
        pairs[name.strip()] = value.strip()
    return pairs


def _numbers(texts: tuple[str, ...]) -> dict[str, float]:
    numbers = {}
    for name, value in _pairs(texts, "NAME=VALUE").items():
        try:
            numerator, _, denominator = value.partition("/")
            numbers[name] = float(numerator) / float(denominator or 1)
        except (ValueError, ZeroDivisionError):
            raise ParameterError(f"{name}={value!r} is not a number") from None
    return numbers


def _load_as_json(load: Any) -> dict[str, Any] | None:
    if not load:
        return None
    exact = {} if isinstance(load.value, float) else {"exact": str(load.value)}
    return {
        "value": float(load.value),
        "frequency": load.frequency,
        "eigenvalue": load.eigenvalue,
        "mode": load.mode,
        "how": load.how,
        **exact,
    }


def _searched(load: Any) -> dict[str, Any]:
    return {"load": load.load, "searched": list(load.searched)}


def _print_json(facts: Any) -> None:
    print(json.dumps(facts, default=_jsonable, ensure_ascii=False))


def _jsonable(value: Any) -> Any:
    if isinstance(value, complex):
        return {"re": value.real, "im": value.imag}
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "items"):
        return dict(value)
    return str(value)


def _table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _grouped(entries: dict[str, dict[str, str]]) -> None:
    """Names and what they stand for under headings, in columns that line up."""
    from rich.console import Console
    from rich.table import Table

    width = max(len(name) for group in entries.values() for name in group)
    console = Console()
    for k, (heading, group) in enumerate(entries.items()):
        table = Table(title=("\n" if k else "") + heading, title_justify="left", box=None, show_header=False)
        table.add_column(width=width, no_wrap=True)
        table.add_column(overflow="fold")
        for row in group.items():
            table.add_row(*row)
        console.print(table)


@contextmanager
def _counting(what: str, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A line on a terminal that counts points and shows the load."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as line:
        seen = count(1)
        yield lambda point: line.update(f"{what}: {next(seen)}, at {point.value:.6g}")


def _save(figure: Any, path: Path) -> None:
    try:
        figure.savefig(path)
    except (OSError, ValueError) as problem:
        raise ParameterError(f"cannot draw into {path}: {problem}") from problem
    print(f"drawn: {path}", file=sys.stderr)


def _check_pictures(case: Case, animate: Path | None) -> None:
    """What would fail after a long integration fails before it."""
    from pfaff.draw.animation import writer_for
    from pfaff.draw.scene import drawing_of

    drawing_of(case)
    if animate:
        writer_for(animate)


def _check_outputs(*paths: Path | None) -> None:
    """Folders that exist, before anything long is computed."""
    for path in paths:
        if path and not path.resolve().parent.is_dir():
            raise ParameterError(f"cannot write {path}: there is no folder {path.parent}")


def _animate(motion: Motion, path: Path, seconds: float) -> None:
    with bar(f"drawing {path.name}") as progress:
        motion.animate(path, seconds=seconds, progress=lambda done, every: progress(done / every))
    print(f"drawn: {path}", file=sys.stderr)


def _functions(given: tuple[str, ...]) -> dict[str, Any]:
    """Functions of time from text, by name."""
    functions = {}
    for text in given:
        name, found, formula = text.partition("=")
        if not found:
            raise ParameterError(f"--drive {text!r}: write NAME=f(t), such as F=80+sin(2*t)")
        functions[name.strip()] = formula
    return functions


if __name__ == "__main__":
    main()
