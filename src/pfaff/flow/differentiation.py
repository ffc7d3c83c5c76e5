"""Derivatives of expressions by variables, parameters or the time, as expressions.

A slope is written in the form that keeps most digits: 1/cosh² rather than 1 − tanh².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush

from pfaff.flow import graph as ex
from pfaff.flow.graph import ONE, TWO, ZERO, Expression, div, mul, neg, ordered, power, sum_of

SLOPES: dict[str, Callable[[Expression, Expression], Expression]] = {  # of a function f of a, in forms that keep digits
    "square": lambda a, f: 2 * a,
    "sqrt": lambda a, f: 0.5 / f,
    "sin": lambda a, f: ex.cos(a),
    "cos": lambda a, f: -ex.sin(a),
    "tan": lambda a, f: 1 + f * f,
    "asin": lambda a, f: 1 / ex.sqrt((1 - a) * (1 + a)),
    "acos": lambda a, f: -1 / ex.sqrt((1 - a) * (1 + a)),
    "atan": lambda a, f: 1 / (1 + a * a),
    "sinh": lambda a, f: ex.cosh(a),
    "cosh": lambda a, f: ex.sinh(a),
    "tanh": lambda a, f: power(1 / ex.cosh(a), TWO),
    "asinh": lambda a, f: 1 / ex.sqrt(1 + a * a),
    "acosh": lambda a, f: 1 / (ex.sqrt(a - 1) * ex.sqrt(a + 1)),
    "atanh": lambda a, f: 1 / ((1 - a) * (1 + a)),
    "exp": lambda a, f: f,
    "log": lambda a, f: 1 / a,
    "erf": lambda a, f: 2 / math.sqrt(math.pi) * ex.exp(-(a * a)),
    "erfc": lambda a, f: -2 / math.sqrt(math.pi) * ex.exp(-(a * a)),
}


def gradient(f: Expression, by: Sequence[Expression]) -> list[Expression]:
    """∂f/∂x for each leaf x."""
    return jacobian([f], by)[0]


def jacobian(functions: Sequence[Expression], by: Sequence[Expression]) -> list[list[Expression]]:
    """∂f/∂x for each function f, a row, and leaf x: from the leaves up where they are fewer, else down from each f."""
    nodes = ordered(functions)
    if len(by) < len(functions):
        columns = [_upwards(nodes, x) for x in by]
        return [[column.get(f, ZERO) for column in columns] for f in functions]
    place, leaves = {e: k for k, e in enumerate(nodes)}, set(by)
    for e in nodes:
        if not leaves.isdisjoint(e.args):
            leaves.add(e)  # here: all that depends on leaves
    return [_downwards(f, nodes, place, leaves, by) for f in functions]


def jacobian_entries(functions: Sequence[Expression], by: Sequence[Expression]) -> list[Expression]:
    """∂f/∂x, row after row."""
    return [each for row in jacobian(functions, by) for each in row]


def derivatives(
    functions: Sequence[Expression], by: Sequence[Expression], order: int
) -> Iterator[tuple[tuple[int, ...], Expression]]:
    """The independent derivatives of an order: indices (i, j1 ≤ … ≤ jk) of function and leaves, and the expression."""
    tensor: dict[tuple[int, ...], Expression] = {(i,): f for i, f in enumerate(functions)}
    for _ in range(order):
        rows = jacobian(list(tensor.values()), by)
        tensor = {
            (*index, j): row[j]
            for index, row in zip(tensor, rows, strict=True)
            for j in range(index[-1] if len(index) > 1 else 0, len(by))
        }
    return iter(tensor.items())


def _upwards(nodes: list[Expression], x: Expression) -> dict[Expression, Expression]:
    """The derivatives of all nodes that depend on x."""
    rates = {x: ONE}
    for e in nodes:
        terms = [_times_slope(rates[a], e, k) for k, a in enumerate(e.args) if a in rates]
        if terms:
            rates[e] = sum_of(terms)
    return rates


def _downwards(
    f: Expression,
    nodes: list[Expression],
    place: dict[Expression, int],
    depend: set[Expression],
    by: Sequence[Expression],
) -> list[Expression]:
    """The derivatives of f, from f down to the leaves: what depends on none is left out."""
    found: dict[Expression, Expression] = {}
    terms, heap = {f: [ONE]}, [-place[f]] if f in depend else []
    while heap:
        e = nodes[-heappop(heap)]
        rate = found[e] = sum_of(terms.pop(e))
        for k, a in enumerate(e.args):
            if a in depend:
                if a not in terms:
                    terms[a] = []
                    heappush(heap, -place[a])
                terms[a].append(_times_slope(rate, e, k))
    return [found.get(x, ZERO) for x in by]


def _times_slope(rate: Expression, e: Expression, k: int) -> Expression:
    """The rate times the derivative of a node by its argument k."""
    a, b = e.args[0], e.args[-1]
    match e.op:
        case "add":
            return rate
        case "sub":
            return neg(rate) if k else rate
        case "neg":
            return neg(rate)
        case "mul":
            return mul(rate, e.args[1 - k])
        case "div":
            return neg(mul(div(rate, b), e)) if k else div(rate, b)
        case "pow":
            return mul(rate, e * ex.log(a) if k else b * power(a, b - ONE))
        case "atan2":
            return mul(rate, (-a if k else b) / (a * a + b * b))
        case _:
            return mul(rate, SLOPES[e.op](a, e))
