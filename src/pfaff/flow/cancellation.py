"""Sizes of the results of a program as if nothing cancelled in it: the reference for their rounding errors.

Every step has its value and its size, which is |value| unless larger terms cancelled in it or before it; to first
order, as in Wilkinson's running error analysis (Higham 2002, Accuracy and Stability of Numerical Algorithms, Sec. 3.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import erf

from pfaff.flow.program import Node, Program

Sized = tuple[Any, Any]  # a value and its size
SUMS = ("+", "-", "neg")
INVERSE = {f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")}
ARITHMETIC = {"+": np.add, "-": np.subtract, "neg": np.negative, "*": np.multiply, "/": np.divide, "^": np.power}
FUNCTIONS: dict[str, Callable[..., Any]] = {**ARITHMETIC, **INVERSE, "erf": erf}  # others as NumPy calls them
NEARBY = 1e-6  # step of the difference quotient of a function


def sized(
    program: Program, x: np.ndarray, large: np.ndarray, parameters: np.ndarray, time: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The results of a program and their sizes, for columns of states x of sizes ``large``, and of parameters."""
    leaves: dict[str, Callable[..., Sized]] = {
        "number": lambda value: (value, abs(value)),
        "state": lambda k: (x[k], large[k]),
        "parameter": lambda k: (parameters[k], np.abs(parameters[k])),
        "time": lambda: (time, np.abs(time)),
    }
    steps: list[Sized] = []

    def of(node: Node) -> Sized:
        kind, *arguments = node
        if kind == "step":
            return steps[arguments[0]]
        if kind in leaves:
            return leaves[kind](*arguments)
        return _combined(kind, [of(each) for each in arguments])

    with np.errstate(all="ignore"):
        for step in program.steps:
            steps.append(of(step))
        results = [of(node) for node in program.results]
    columns = np.array([[np.broadcast_to(each, time.shape) for each in pair] for pair in results])
    values, sizes = columns.reshape(len(results), 2, *time.shape).swapaxes(0, 1)
    return values, sizes


def _combined(kind: str, terms: list[Sized]) -> Sized:
    function = FUNCTIONS.get(kind) or getattr(np, kind)
    values = [value for value, _ in terms]
    found = function(*values)
    if kind in SUMS:
        return found, sum(size for _, size in terms)
    total = np.abs(found)
    for k, (value, size) in enumerate(terms):
        excess = size - np.abs(value)
        if np.any(excess):
            step = NEARBY * np.where(value, np.abs(value), 1.0)
            beside = function(*values[:k], value + step, *values[k + 1 :])
            total = total + np.abs((beside - found) / step) * excess
    return found, total
