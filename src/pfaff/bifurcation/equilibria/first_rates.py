"""How far the first rate of states along a parameter leads: up to where they are elsewhere, or their Jacobian another.

On the way of a parameter states go where their first rate puts them, as long as that is where they are at rest. Rates
that are left there, as large as those that move them, say that they are not; so does, less surely, a Jacobian that has
changed by its own size.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from pfaff.errors import PfaffError

ELSEWHERE = 0.9  # of what moves states, the rates that are left where their first rate puts them, if they are elsewhere
ROUNDING = 1e-13  # of what is balanced

Rates = Callable[[float], np.ndarray]


def elsewhere(
    shares: np.ndarray, rates: np.ndarray, moves: np.ndarray, balanced: np.ndarray, groups: np.ndarray
) -> float:
    """The first share of a way at which states of some group are not where their first rate puts them: the rates that
    are left there are as large as those that move them, and no rounding beside what is balanced at its beginning.

    ``rates`` are those of every state at its beginning and at all shares, one column each; states that act on one
    another are of one group. All in units in which the rates of a group are alike; infinite, if states are never
    elsewhere.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max(initial=-1) + 1))
    of_groups = np.column_stack([np.abs(rates), moves, ROUNDING * balanced])[order]
    largest = np.maximum.reduceat(of_groups, starts, axis=0)
    left, moving, rounding = largest[:, :-2], largest[:, -2:-1], largest[:, -1:]
    return _first(shares, ~(left[:, 1:] - left[:, :1] - rounding <= ELSEWHERE * moving * shares).all(axis=0))


def changed(shares: np.ndarray, change: Callable[[float], float], size: float) -> float:
    """The first share at which a Jacobian of a size has changed by as much; infinite, if it has at none."""
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
    """So many rates at the beginning of a way and at all shares, as columns; not numbers where there are none."""
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
