"""MatCont (Dhooge, Govaerts, Kuznetsov): a system file in MATLAB's language, which Octave reads too."""

from __future__ import annotations

from pfaff.export.notation import Notation
from pfaff.export.reduced_equations import Equations, entries, steps
from pfaff.flow.program import Program

MATLAB = Notation(
    language="MATLAB",
    state=lambda k: f"x({k + 1})",
    parameter=lambda k: f"p({k + 1})",
    power="^",
)


def files(equations: Equations) -> dict[str, str]:
    """``name.m``: MatCont takes the handle @name."""
    return {f"{equations.name}.m": _source(equations)}


def _source(e: Equations) -> str:
    names = [f"% x({k + 1}) = {name}" for k, name in enumerate(e.states)]
    names += [f"% p({k + 1}) = {name}, here {value!r}" for k, (name, value) in enumerate(_given(e))]
    return "\n".join(
        [
            f"function out = {e.name}",
            f"% {e.title}: reduced equations of motion for MatCont, with analytic Jacobians. Written by pfaff.",
            *names,
            *(f"% {note}" for note in e.notes),
            f"% x = [{'; '.join(map(repr, e.start))}]",
            f"% p = {{{', '.join(map(repr, e.values))}}}",
            "out{1} = @init;",
            "out{2} = @fun_eval;",
            "out{3} = @jacobian;",
            "out{4} = @jacobianp;",
            *(f"out{{{k}}} = [];" for k in range(5, 10)),
            "end",
            "",
            "function dydt = fun_eval(t, x, varargin)",
            "p = [varargin{:}];",
            *steps(e.rates, MATLAB, "{} = {};"),
            f"dydt = zeros({e.size}, 1);",
            *(f"dydt({k + 1}) = {MATLAB.write(node)};" for k, node in enumerate(e.rates.results)),
            "end",
            "",
            *_jacobian("jacobian", e.jacobian, e.size, e.size),
            "",
            *_jacobian("jacobianp", e.parameter_jacobian, e.size, len(e.parameters)),
            "",
            "function [tspan, y0, options] = init",
            f"handles = feval(@{e.name});",
            f"y0 = [{'; '.join(map(repr, e.start))}];",
            "options = odeset('Jacobian', handles(3));",
            "tspan = [0 10];",
            "end",
            "",
        ]
    )


def _given(e: Equations) -> list[tuple[str, float]]:
    return list(zip(e.parameters, e.values, strict=True))


def _jacobian(name: str, program: Program, rows: int, columns: int) -> list[str]:
    return [
        f"function J = {name}(t, x, varargin)",
        "p = [varargin{:}];",
        *steps(program, MATLAB, "{} = {};"),
        f"J = zeros({rows}, {columns});",
        *(f"J({i + 1}, {j + 1}) = {MATLAB.write(node)};" for i, j, node in entries(program, columns)),
        "end",
    ]
