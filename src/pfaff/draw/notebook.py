"""Results in a notebook: their status, tables of their content, equations as formulas, motions that play."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.draw.footage import FRAMES, of_motion
from pfaff.draw.labels import formula, letters
from pfaff.draw.player import frame
from pfaff.errors import number_of
from pfaff.statement.told import without_rounding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.motion.result import Motion
    from pfaff.motion.trajectory import Trajectory

ROWS = 30  # of a table at most
SECONDS = 10.0
LONGEST = 260  # characters of LaTeX that still make a readable formula

Table = tuple[Sequence[str], Iterable[Sequence[Any]]]


def motion_html(motion: Motion) -> str:
    """A film that plays; without a drawing, the histories."""
    words = f"<p>{html.escape(motion.status)}</p>" if not motion.finished else ""
    if motion.case is None or motion.case.system.drawing is None:
        return words + _picture(motion.plot(), f"{motion.system}: {motion.status}")
    film = of_motion(motion, float(motion.t[0]), float(motion.t[-1]), FRAMES)
    return words + frame(film.data(SECONDS))


def trajectory_html(trajectory: Trajectory) -> str:
    """The states of a plain ODE, which has no body to be filmed, in time."""
    return _picture(trajectory.plot(), f"{trajectory.system}: {trajectory.status}")


def system_markdown(system: Any) -> str:
    """The statement: energies and constraints that are short enough to be read, and a table of names."""
    counts = len(system.nonholonomic_constraints), len(system.holonomic_constraints)
    head = f"**{system.name}**: {counts[0]} nonholonomic and {counts[1]} holonomic constraints"
    lines = [head, *(f"$$\n{each}\n$$" for each in formulas(system))]
    kinds = dict.fromkeys(system.coordinate_names, "coordinate")
    kinds |= dict.fromkeys(system.quasi_velocities, "quasi-velocity") | _defaults(system)
    rows = [f"| `{name}` | {kind} | {in_markdown(system.meanings.get(name, ''))} |" for name, kind in kinds.items()]
    return "\n\n".join([*lines, "\n".join(["| name | default | meaning |", "|---|---|---|", *rows])])


def ode_markdown(ode: Any) -> str:
    """The statement: right-hand sides that are short enough to be read, and a table of the parameters."""
    names = {symbol: formula(symbol.name).strip("$") for symbol in (*ode.symbols, *ode.parameters)}
    sides = zip(ode.state_names, ode.right_hand_sides, strict=True)
    lines = [f"{formula(x + '_dot').strip('$')} = {sm.latex(f, symbol_names=names)}" for x, f in sides]
    readable = [f"$$\n{line}\n$$" for line in lines if len(line.replace(r"\mathrm", "")) <= LONGEST][:ROWS]
    rows = [f"| `{name}` | {value} |" for name, value in _defaults(ode).items()]
    table = ["\n".join(["| name | default |", "|---|---|", *rows])] if rows else []
    return "\n\n".join([f"**{ode.name}**: {number_of(len(lines), 'state')}", *readable, *table])


def _defaults(system: Any) -> dict[str, str]:
    """Values of parameters in words, with a note at the load."""
    load = system.load.name if system.load is not None else None
    note = {name: " (load)" if name == load else "" for name in system.defaults}
    return {name: f"{'–' if value is None else value}{note[name]}" for name, value in system.defaults.items()}


def in_markdown(text: str) -> str:
    """A meaning in a cell of a table, with Markdown's signs escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def formulas(system: Any) -> list[str]:
    """Energies and constraints in LaTeX, if they are short enough to be read."""
    from sympy.physics.mechanics import vlatex

    names = {p: formula(p.name).strip("$") for p in system.parameters}  # of two letters is no product
    ends = {
        getattr(rod.end, kind): sm.Function(f"{kind}_end")(system.time)
        for rod in (system.rods if len(system.rods) == 1 else ())  # of several, each has its name
        for kind in ("x", "y", "theta")
    }

    def written(expression: Any) -> str:
        text = vlatex(sm.sympify(expression).xreplace(ends), symbol_names=names)
        return text.replace("_{end}", r"_{\mathrm{end}}")

    s = [("T", system.kinetic), ("V", system.potential), ("D", system.dissipation)]
    lines = [f"{symbol} = {written(energy)}" for symbol, energy in s if energy is not None and energy != 0]
    lines += [f"{formula(name).strip('$')} = {written(e)}" for name, e in system.quasi_velocities.items()]
    lines += [f"{written(c)} = 0" for c in (*system.nonholonomic_constraints, *system.holonomic_constraints)]
    return [line for line in lines if len(line.replace(r"\mathrm", "")) <= LONGEST]


def html_of(result: Any) -> str:
    """The status, and a table for results that are one."""
    names = [each.__name__ for each in type(result).__mro__]
    make = next((TABLES[name] for name in names if name in TABLES), None)
    status = getattr(result, "status", "") or getattr(getattr(result, "system", None), "name", "")
    words = f"<p>{html.escape(status)}</p>" if status else ""
    return f"<div>{words}{table(*make(result)) if make else ''}</div>"


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with numbers to the right; of very many rows the first and the last."""
    every = [[_cell(each) for each in row] for row in rows]
    if not every:
        return ""
    left_out = len(every) - ROWS
    if left_out > 0:
        gap = [f'<td colspan="{len(heads)}" style="text-align: center">… {left_out} more …</td>']
        every = [*every[: ROWS // 2], gap, *every[-ROWS // 2 :]]
    top = "".join(f"<th>{html.escape(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in every)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f'<td style="text-align: right">{_number(float(value))}</td>'
    return f'<td style="text-align: left">{html.escape(str(value))}</td>'


def _number(value: float) -> str:
    return f"{value:.8g}".replace("-", "−")


def _picture(fig: Figure, text: str) -> str:
    png = io.BytesIO()
    fig.savefig(png, format="png")
    data = base64.b64encode(png.getvalue()).decode()
    return f'<img alt="{html.escape(text)}" style="max-width: 100%" src="data:image/png;base64,{data}">'


def _case(case: Any) -> Table:
    meanings = getattr(case.system, "meanings", {})
    rows = [(letters(name), "–" if v is None else v, meanings.get(name, "")) for name, v in case.values.items()]
    told = 3 if any(row[2] for row in rows) else 2
    return ("parameter", "value", "meaning")[:told], [row[:told] for row in rows]


def _orbit(orbit: Any) -> Table:
    rows = [(letters(orbit.load), float(orbit.value)), ("period", float(orbit.period))]
    rows += [(f"amplitude of {letters(name)}", float(size)) for name, size in orbit.amplitude.items()]
    rows += [(f"advance of {letters(name)}", float(moved)) for name, moved in orbit.advance.items()]
    rows.append(("largest |multiplier|", float(np.abs(orbit.multipliers).max(initial=0.0))))
    return ("", "value"), rows


def _steady(motion: Any) -> Table:
    every = {**motion.state, **motion.velocities, **motion.quasi_velocities, **motion.reaction}
    return ("", "value"), [(letters(name), float(value)) for name, value in every.items() if value]


def _study(study: Any) -> Table:
    """Statistics of each measure over the points that have it."""
    data, rows = study.dataset, []
    for name in study.names:
        values = data[name].to_numpy()
        known = values[np.isfinite(values)]
        ends = (float(known.min()), float(known.max())) if known.size else ("–", "–")
        rows.append((name, known.size, *ends))
    return ("measure", "points", "least", "greatest"), rows


def _spectrum(spectrum: Any) -> Table:
    values = sorted(np.asarray(spectrum.values), key=lambda each: (-each.real, abs(each.imag), -each.imag))
    return ("growth rate", "frequency"), [(float(each.real), float(each.imag)) for each in values]


def _critical(loads: Any) -> Table:
    found = [each for each in (loads.flutter, loads.divergence, loads.buckling) if each]
    return ("", loads.flutter.load), [(each.kind, float(each)) for each in found]


def _equilibria(equilibria: Any) -> Table:
    if not len(equilibria):
        return (), ()
    first = equilibria[0]
    names = [*first.coordinates, *first.reaction]
    heads = ["", *map(letters, names)]
    kinds = ([[*getattr(each, kind).values()] for each in equilibria] for kind in ("coordinates", "reaction"))
    rows = zip(*map(without_rounding, kinds), strict=True)
    return heads, [[k, *q, *p] for k, (q, p) in enumerate(rows)]


def _equilibrium(equilibrium: Any) -> Table:
    return _equilibria([equilibrium])


def _orbit_branch(branch: Any) -> Table:
    heads = ("", letters(branch.load), "period", "stable")
    ends = [("first orbit", branch[0]), *((each.kind, each) for each in branch.special), ("last orbit", branch[-1])]
    return heads, [(kind, each.value, each.period, _yes(each.stable)) for kind, each in ends]


def _response(response: Any) -> Table:
    """The amplitude of each state at the ends and at the special points, where stability changes."""
    ends = [("first", response[0]), *((each.kind, each) for each in response.special), ("last", response[-1])]
    stable = [_yes(response[0].stable), *("" for _ in response.special), _yes(response[-1].stable)]
    heads = ("", letters(response.load), *(f"amplitude of {letters(name)}" for name in response.states), "stable")
    swings = [[float(each.amplitude[name]) for name in response.states] for _, each in ends]
    rows = zip(ends, swings, stable, strict=True)
    return heads, [(kind, float(each.value), *swing, word) for (kind, each), swing, word in rows]


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _equilibrium_branch(branch: Any) -> Table:
    ends = [("first", branch[0]), *((each.kind, each) for each in branch.special), ("last", branch[-1])]
    return ("", letters(branch.parameter)), [(kind, float(each.value)) for kind, each in ends]


def _curve(curve: Any) -> Table:
    ends = [("first", curve[0]), *((each.kind, each) for each in curve.special), ("last", curve[-1])]
    return ("", *map(letters, curve.parameters)), [
        (kind, *(float(each[p]) for p in curve.parameters)) for kind, each in ends
    ]


def _cascade(cascade: Any) -> Table:
    rows = [(k + 1, float(each.value), float(each.period)) for k, each in enumerate(cascade.doublings)]
    return ("doubling", letters(cascade.load), "period"), rows


def _connection(connection: Any) -> Table:
    rows = [(letters(name), float(value)) for name, value in connection.values.items()]
    rows += [("σ", float(connection.saddle_quantity))] if connection.homoclinic else []
    return ("", "value"), rows


def _hopf(hopf: Any) -> Table:
    rows = [(letters(hopf.load), float(hopf.value)), ("ω", float(hopf.omega)), ("l₁", float(hopf.l1))]
    rows.append(("crossing speed", float(hopf.crossing_speed)))
    return ("", "value"), rows


def _classification(found: Any) -> Table:
    return ("reaction", "constraint", "time", "displacements", ""), [each.words for each in found.constraints]


def _reproduction(found: Any) -> Table:
    rows = [(each.where, each.what, each.printed_text, each.computed_text) for each in found.differing]
    return ("where", "what differs", "printed", "computed"), rows


TABLES: dict[str, Callable[[Any], Table]] = {
    "Spectrum": _spectrum,
    "CriticalLoads": _critical,
    "Bound": _case,
    "OrbitPoint": _orbit,
    "SteadyMotion": _steady,
    "Study": _study,
    "Equilibria": _equilibria,
    "Equilibrium": _equilibrium,
    "OrbitBranch": _orbit_branch,
    "Response": _response,
    "EquilibriumBranch": _equilibrium_branch,
    "Curve": _curve,
    "CycleCurve": _curve,
    "ConnectionCurve": _curve,
    "Connection": _connection,
    "Cascade": _cascade,
    "Hopf": _hopf,
    "Classification": _classification,
    "Reproduction": _reproduction,
}
