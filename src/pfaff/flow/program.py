"""Equations as a straight-line program: each step one short formula of states, parameters and earlier steps.

heyoka decomposes expressions into elementary operations with common subexpressions shared; the decomposition is read
from there, so that the Jacobian of five bars takes seconds, and steps used only once are put back in place.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import heyoka as hy

from pfaff.errors import StatementError
from pfaff.flow.graph import Expression

Node = tuple  # (operation, *arguments): ("+", a, b), ("sin", a), ("number", 0.5), ("state", 0), ("step", 3)
LEAVES = ("number", "state", "parameter", "time", "step")
PARSING = Lock()  # Python 3.11 counts the depth of trees for all threads together
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^"}
NAMES = {"sub": "-", "div": "/", "pow": "^", "combined_sin": "sin", "combined_cos": "cos"}
LARGEST = 12  # operations in one formula: longer ones are left in steps of their own


@dataclass(frozen=True)
class Program:
    """Steps in the order in which they are computed, then the results in terms of them."""

    steps: tuple[Node, ...]
    results: tuple[Node, ...]


def program_of(expressions: Sequence[Expression], variables: Sequence[Expression]) -> Program:
    """The program of expressions in these variables."""
    if not expressions:
        return Program((), ())
    # Only without compact mode is every entry of the decomposition elementary.
    compiled = hy.cfunc(list(expressions), list(variables), compact_mode=False, opt_level=0)
    entries = compiled.dc
    states, count = len(variables), len(entries) - len(expressions)
    nodes = [_node(str(entry), states) for entry in entries[states:]]
    return _folded(nodes[: count - states], nodes[count - states :])


def _node(text: str, states: int) -> Node:
    """One entry of heyoka's decomposition; its text reads as a Python expression."""
    if "..." in text:
        raise StatementError(f"a sum or product of the equations is too long to be read: {text[:60]}")
    with PARSING:
        tree = ast.parse(text, mode="eval")
    return _read(tree.body, states)


def _read(tree: ast.AST, states: int) -> Node:
    if isinstance(tree, ast.Constant):
        return ("number", float(tree.value))  # type: ignore[arg-type]
    if isinstance(tree, ast.Name):
        return _leaf(tree.id, states)
    if isinstance(tree, ast.BinOp):
        return (OPERATORS[type(tree.op)], _read(tree.left, states), _read(tree.right, states))
    if isinstance(tree, ast.UnaryOp):
        inner = _read(tree.operand, states)
        return ("number", -inner[1]) if inner[0] == "number" else ("neg", inner)
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    return (NAMES.get(tree.func.id, tree.func.id), *(_read(each, states) for each in tree.args))


def _leaf(name: str, states: int) -> Node:
    if name == "π":
        return ("number", math.pi)
    if name == "t":
        return ("time",)
    if name.startswith("u_"):
        k = int(name[2:])
        return ("state", k) if k < states else ("step", k - states)
    return ("parameter", int(name[1:]))


def _folded(steps: list[Node], results: list[Node]) -> Program:
    """Steps used once put where they are used, the others numbered anew."""
    uses = Counter(k for node in (*steps, *results) for k in _steps_in(node))
    kept: list[Node] = []
    known: dict[int, Node] = {}

    def resolved(node: Node) -> Node:
        if node[0] == "step":
            return known[node[1]]
        return node if node[0] in LEAVES else (node[0], *(resolved(each) for each in node[1:]))

    for k, step in enumerate(steps):
        node = resolved(step)
        if node[0] in LEAVES or (uses[k] == 1 and _size(node) < LARGEST):
            known[k] = node
        elif uses[k]:
            known[k] = ("step", len(kept))
            kept.append(node)
    return Program(tuple(kept), tuple(resolved(node) for node in results))


def _steps_in(node: Node) -> list[int]:
    if node[0] == "step":
        return [node[1]]
    return [] if node[0] in LEAVES else [k for each in node[1:] for k in _steps_in(each)]


def _size(node: Node) -> int:
    return 0 if node[0] in LEAVES else 1 + sum(_size(each) for each in node[1:])
