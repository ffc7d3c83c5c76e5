"""Directions of damping that keep modes stable form a cone; linear programmes find one as far inside as possible."""

from __future__ import annotations

import numpy as np


def longest_prefix(held: list[np.ndarray], rows: list[np.ndarray]) -> tuple[int, np.ndarray | None]:
    """How many of the rows, in order, some direction satisfies together with those held; and that direction."""
    low, high, best = -1, len(rows), None
    while high - low > 1:
        middle = (low + high) // 2
        point = cone_point(np.vstack(held + rows[: middle + 1]), None)
        if point is None:
            high = middle
        else:
            low, best = middle, point
    return low, best


def cone_point(rows: np.ndarray, cancel: np.ndarray | None) -> np.ndarray | None:
    """A direction with rows · c ≥ 0, as far inside as possible, and cancel · c = 0 if asked; None if there is none."""
    from scipy.optimize import linprog

    k = rows.shape[1]
    equal, value = [[1.0] * k + [0.0]], [1.0]
    if cancel is not None:
        equal.append([*(cancel / np.abs(cancel).max()), 0.0])
        value.append(0.0)
    answer = linprog(
        [0.0] * k + [-1.0],
        A_ub=np.hstack([-rows, np.ones((len(rows), 1))]),
        b_ub=np.zeros(len(rows)),
        A_eq=equal,
        b_eq=value,
        bounds=[(0, None)] * k + [(None, 1.0)],
    )
    if not answer.success or answer.x[-1] < 0:
        return None
    return answer.x[:k] / np.linalg.norm(answer.x[:k])
