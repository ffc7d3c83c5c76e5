"""LaTeX: the equations with their common subexpressions, to be typeset."""

from __future__ import annotations

from typing import Any

import sympy as sm

from pfaff.export.reduced_equations import Equations
from pfaff.flow.program import Node
from pfaff.statement.evaluation import fraction
from pfaff.statement.names import spelled


def files(equations: Equations) -> dict[str, str]:
    """``name.tex``: an align environment, first the abbreviations w_k, then ẋ."""
    states, parameters = _symbols(equations)
    abbreviations, rates = formulas(equations)
    names = {x: _dotted(x.name) if x.name.endswith("_dot") else _letters(x.name) for x in (*states, *parameters)}
    rows = [f"w_{{{k + 1}}} &= {sm.latex(each, symbol_names=names)}" for k, each in enumerate(abbreviations)]
    for x, rate in zip(states, rates, strict=True):
        rows.append(f"{_rate(x.name)} &= {sm.latex(rate, symbol_names=names)}")
    head = f"% {equations.title}: reduced equations of motion, written by pfaff.\n"
    head += "".join(f"% {note}\n" for note in equations.at.warnings)
    body = " \\\\\n".join(rows)
    return {f"{equations.name}.tex": head + "\\begin{align*}\n" + body + "\n\\end{align*}\n"}


def _dotted(velocity: str) -> str:
    return rf"\dot{{{_letters(velocity.removesuffix('_dot'))}}}"


def _letters(name: str) -> str:
    return sm.latex(sm.Symbol(spelled(name).strip("_") or "x"))


def _rate(state: str) -> str:
    if state.endswith("_dot"):
        return _dotted(state).replace(r"\dot", r"\ddot", 1)
    return _dotted(f"{state}_dot")


def formulas(equations: Equations) -> tuple[list[sm.Expr], list[sm.Expr]]:
    """The abbreviations w1, w2, … and the rates of change in SymPy."""
    states, parameters = _symbols(equations)
    abbreviations = [sm.Symbol(f"w{k + 1}") for k in range(len(equations.rates.steps))]

    def expression(node: Node) -> Any:
        operation, *arguments = node
        known = {"state": states, "parameter": parameters, "step": abbreviations}
        if operation in known:
            return known[operation][arguments[0]]
        if operation == "number":
            return fraction(arguments[0]) if _short(arguments[0]) else sm.Float(arguments[0], 17)
        make = OPERATIONS[operation] if operation in OPERATIONS else getattr(sm, operation)
        return make(*(expression(each) for each in arguments))

    program = equations.rates
    return [expression(each) for each in program.steps], [expression(each) for each in program.results]


OPERATIONS: dict[str, Any] = {
    "+": sm.Add,
    "-": lambda a, b: a - b,
    "*": sm.Mul,
    "/": lambda a, b: a / b,
    "^": sm.Pow,
    "neg": lambda a: -a,
}


def _short(value: float) -> bool:
    """Whether a number is a fraction with a small denominator, to the last digit."""
    return float(sm.Rational(value).limit_denominator(10_000)) == value


def _symbols(e: Equations) -> tuple[list[sm.Symbol], list[sm.Symbol]]:
    return [sm.Symbol(name) for name in e.states], [sm.Symbol(name) for name in e.parameters]
