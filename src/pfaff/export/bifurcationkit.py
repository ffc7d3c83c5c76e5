"""BifurcationKit.jl (Veltz): right-hand side and Jacobian in plain Julia, and a file that continues equilibria."""

from __future__ import annotations

from pfaff.export.notation import Notation, identifiers
from pfaff.export.reduced_equations import Equations, entries, steps
from pfaff.export.reserved import JULIA


def files(equations: Equations) -> dict[str, str]:
    """``name.jl`` needs nothing but Julia; ``name_continuation.jl`` includes it and calls BifurcationKit."""
    name = equations.name
    return {f"{name}.jl": _source(equations), f"{name}_continuation.jl": _continuation(equations)}


def _notation(e: Equations) -> Notation:
    functions, fields = {"atan2": "atan"}, _fields(e)
    return Notation(
        language="Julia",
        state=lambda k: f"x[{k + 1}]",
        parameter=lambda k: f"p.{fields[k]}",
        power="^",
        functions=functions,
    )


def _fields(e: Equations) -> list[str]:
    """Names of a named tuple."""
    return identifiers(e.parameters, JULIA)


def _source(e: Equations) -> str:
    julia = _notation(e)
    values = zip(_fields(e), e.values, strict=True)
    return "\n".join(
        [
            f"# {e.title}: reduced equations of motion, with the analytic Jacobian. Written by pfaff.",
            *(f"# x[{k + 1}] = {name}" for k, name in enumerate(e.states)),
            *(f"# {note}" for note in e.notes),
            "",
            f"function {e.name}(x, p)",
            *(f"    {step}" for step in steps(e.rates, julia)),
            f"    return [{', '.join(julia.write(node) for node in e.rates.results)}]",
            "end",
            "",
            f"function {e.name}_jacobian(x, p)",
            *(f"    {step}" for step in steps(e.jacobian, julia)),
            f"    J = zeros(eltype(x), {e.size}, {e.size})",
            *(f"    J[{i + 1}, {j + 1}] = {julia.write(node)}" for i, j, node in entries(e.jacobian, e.size)),
            "    return J",
            "end",
            "",
            f"{e.name}_parameters = ({' '.join(f'{name} = {value!r},' for name, value in values)})",
            f"{e.name}_start = [{', '.join(map(repr, e.start))}]",
            "",
        ]
    )


def _continuation(e: Equations) -> str:
    value, end = e.values[e.varied], e.end
    low, high = min(value, end), max(value, end)
    return f"""# {e.title}: equilibria as {e.parameters[e.varied]} goes from {value!r} to {end!r},
# for BifurcationKit 0.4 and newer.
using BifurcationKit
include("{e.name}.jl")

problem = BifurcationProblem(
    {e.name}, {e.name}_start, {e.name}_parameters, (@optic _.{_fields(e)[e.varied]});
    J = {e.name}_jacobian,
)
settings = ContinuationPar(
    p_min = {low!r}, p_max = {high!r}, ds = {(end - value) / 200!r}, dsmax = {abs(end - value) / 50!r},
    max_steps = 1000, n_inversion = 8, detect_bifurcation = 3,
)
branch = continuation(problem, PALC(), settings)
"""
