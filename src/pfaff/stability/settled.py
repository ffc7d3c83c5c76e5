"""Modes of a rod until what is asked for settles: convergence as part of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pfaff.errors import ConvergenceError
from pfaff.statement.rods import refined

if TYPE_CHECKING:
    from pfaff.case import Case

MODES = (6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40)
SETTLED = 1e-10  # change by further modes, relative

Answer = TypeVar("Answer")


def with_modes(
    case: Case, ask: Callable[[Case], Answer], numbers: Callable[[Answer], Sequence[float | None]], noting: bool = True
) -> Answer:
    """The answer; where the number of modes of a rod is left open, with as many as it takes, and both are noted."""
    if not any(rod.refines for rod in case.system.rods):
        return ask(case)
    answer: Any
    answer, modes, change = settled(case, ask, numbers)
    return replace(answer, modes=modes, change=change) if noting else answer


def settled(
    case: Case, ask: Callable[[Case], Answer], numbers: Callable[[Answer], Sequence[float | None]]
) -> tuple[Answer, int, float]:
    """The answer, how many modes it took, and by how much its numbers changed at last, relatively."""
    last: np.ndarray | None = None
    change = np.inf
    for modes in MODES:
        answer = ask(case.of(refined(case.system, modes)))
        found = np.array([np.inf if each is None else each for each in numbers(answer)], dtype=float)
        if last is not None:
            change = _change(last, found)
            if change <= SETTLED:
                return answer, modes, change
        last = found
    raise ConvergenceError(
        f"what was asked of {case.system.name} still changes by {change:.1e} with {MODES[-1]} modes: give a number of "
        "modes and judge yourself"
    )


def _change(before: np.ndarray, after: np.ndarray) -> float:
    if len(before) != len(after) or (np.isinf(before) != np.isinf(after)).any():
        return float("inf")
    there = np.isfinite(after)
    sizes = np.maximum(np.abs(after[there]), np.finfo(float).tiny)
    return float((np.abs(after[there] - before[there]) / sizes).max(initial=0.0))
