"""Modes of a rod, increased until the answer settles: convergence is part of the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pfaff.errors import ConvergenceError
from pfaff.statement.rod_frame import refined, with_rods

if TYPE_CHECKING:
    from pfaff.case import Case

MODES = (6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40)
MOST_DIGITS = 12  # printed digits of loads
UNCHANGED = 1e-10  # relative change by further modes
UNRESOLVED = 1.0  # share of the last two modes in a shape, times their number, above which more are needed

Answer = TypeVar("Answer")


def with_modes(
    case: Case, ask: Callable[[Case], Answer], numbers: Callable[[Answer], Sequence[float | None]]
) -> Answer:
    """The answer; where the number of modes of a rod is left open, with as many as it needs, and both are noted."""
    if not any(rod.refines for rod in case.system.rods):
        return ask(case)
    answer: Any
    answer, modes, change = settled(case, ask, numbers)
    return replace(answer, modes=modes, change=change)


def settled(
    case: Case, ask: Callable[[Case], Answer], numbers: Callable[[Answer], Sequence[float | None]]
) -> tuple[Answer, int, float]:
    """The answer, the number of modes it took, and the last relative change of its numbers."""
    last: np.ndarray | None = None
    change = np.inf
    for modes in MODES:
        answer = ask(case.of(refined(case.system, modes)))
        found = np.array([np.inf if each is None else each for each in numbers(answer)], dtype=float)
        if last is not None:
            change = _change(last, found)
            if change <= UNCHANGED:
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


def change_with_fewer(case: Case, value: float, again: Callable[[Case], float | None]) -> float:
    """The relative change of a value by the last two modes of the rods; zero if they are of bars."""
    rods = [replace(rod, modes=max(1, rod.basis.size - 2)) if rod.bars is None else rod for rod in case.system.rods]
    if all(rod.bars is not None for rod in rods):
        return 0.0
    other = again(case.of(with_rods(case.system, rods)))
    return 1.0 if other is None else abs(other - value) / max(abs(value), float(np.finfo(float).tiny))


def settled_digits(change: float) -> int:
    """How many digits of a value are printed that changes relatively by so much."""
    return MOST_DIGITS if change == 0 else int(min(max(1, math.floor(-math.log10(min(change, 1.0)))), MOST_DIGITS))


def doubt_of_modes(case: Case, shape: Mapping[str, complex]) -> str:
    """A warning in words, where the last modes of a rod contribute so much that the motion may be theirs and not the
    rod's; else empty."""
    for rod in case.system.rods:
        if rod.bars is not None or rod.refines:
            continue
        sizes = np.array([abs(shape[f"{rod.name}{k + 1}"]) for k in range(rod.basis.size)])
        if len(sizes) * sizes[-2:].max(initial=0.0) > UNRESOLVED * sizes.max(initial=0.0):
            return f"; {len(sizes)} modes do not resolve its shape: give more of them, or modes='auto'"
    return ""
