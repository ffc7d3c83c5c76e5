"""Equations as a straight-line program: each step one short formula of states, parameters and earlier steps.

Steps used only once are put back in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pfaff.flow.graph import Expression, ordered

Node = tuple  # (operation, *arguments): ("+", a, b), ("sin", a), ("number", 0.5), ("state", 0), ("step", 3)
LEAVES = ("number", "state", "parameter", "time", "step")
NAMES = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^"}
LARGEST = 12  # operations in one formula: longer ones are left in steps of their own


@dataclass(frozen=True)
class Program:
    """Steps in the order in which they are computed, then the results in terms of them."""

    steps: tuple[Node, ...]
    results: tuple[Node, ...]


def program_of(expressions: Sequence[Expression], variables: Sequence[Expression]) -> Program:
    """The program of expressions in these variables."""
    nodes = ordered(expressions)
    uses = Counter([*expressions, *(a for e in nodes for a in e.args)])
    formulas: dict[Expression, Node] = {x: ("state", k) for k, x in enumerate(variables)}
    steps: list[Node] = []
    for e in nodes:
        if e in formulas:
            continue
        formula = _formula(e, formulas)
        if e.args and (uses[e] > 1 or _size(formula) >= LARGEST):
            steps.append(formula)
            formula = ("step", len(steps) - 1)
        formulas[e] = formula
    return Program(tuple(steps), tuple(formulas[e] for e in expressions))


def _formula(e: Expression, known: dict[Expression, Node]) -> Node:
    if e.op == "square":
        return ("^", known[e.args[0]], ("number", 2.0))
    if e.args:
        return (NAMES.get(e.op, e.op), *(known[a] for a in e.args))
    return ("time",) if e.op == "time" else (e.op, e.value)


def _size(node: Node) -> int:
    return 0 if node[0] in LEAVES else 1 + sum(_size(each) for each in node[1:])
