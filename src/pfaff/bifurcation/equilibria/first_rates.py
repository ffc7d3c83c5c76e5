"""How far a linear prediction of the states along a parameter holds.

The states are predicted by their first rate, their derivative with respect to the parameter. The prediction has failed
where the rates that remain there are as large as those that would move the states and, less surely, where the Jacobian
has changed by its own size.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from pfaff.errors import PfaffError

ELSEWHERE = 0.9  # remaining rates, relative to those that move states, beyond which a prediction has failed
ROUNDING = 1e-13  # relative to the terms that balance

Rates = Callable[[float], np.ndarray]


def elsewhere(
    shares: np.ndarray, rates: np.ndarray, moves: np.ndarray, balanced: np.ndarray, groups: np.ndarray,
    bearable: np.ndarray | float = 0.0,
) -> float:  # fmt: skip
    """The first share of a way at which the prediction fails for some group of states: the remaining rates are as large
    as those that move the states, and neither ``bearable`` for the group (a row for each, for all shares or each of
    them) nor rounding relative to the terms that balance at the beginning.

    ``rates`` are those of all states at the beginning and at all shares, one column each; states that act on one
    another form a group. All are in units in which the rates of a group are alike. Infinite if the prediction never
    fails.
    """
    of_states = np.column_stack([np.abs(rates), moves, ROUNDING * balanced])
    if groups.any():
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
        largest = np.maximum.reduceat(of_states[order], starts, axis=0)
    else:
        largest = of_states.max(axis=0, keepdims=True, initial=0.0)
    left, moving, rounding = largest[:, :-2], largest[:, -2:-1], largest[:, -1:]
    most = ELSEWHERE * np.maximum(moving * shares, bearable)
    return _first(shares, ~(left[:, 1:] - left[:, :1] - rounding <= most).all(axis=0))


def changed(shares: np.ndarray, change: Callable[[float], float], size: float) -> float:
    """The first share at which a Jacobian has changed by its own size; infinite if there is none."""
    for share in shares.tolist():
        with np.errstate(all="ignore"):
            try:
                if change(share) < size:
                    continue
            except PfaffError:
                pass
        return float(share)
    return inf


def on_way(shares: np.ndarray, rates: Rates, many: int) -> np.ndarray:
    """Rates at the beginning of a way and at all shares, as columns; NaN where they do not exist."""
    found = np.full((many, len(shares) + 1), np.nan)
    with np.errstate(all="ignore"):
        for column, share in enumerate([0.0, *shares.tolist()]):
            try:
                found[:, column] = rates(share)
            except PfaffError:
                continue
    return found


def _first(shares: np.ndarray, lost: np.ndarray) -> float:
    return float(shares[lost.argmax()]) if lost.any() else inf
