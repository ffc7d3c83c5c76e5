"""Coordinates on φ(q, t) = 0: those that nobody gave change where a violated row contains them, as few as can be.

Of as few, those are taken whose change is least. Where the linearised rows tell them truly, one run of Newton's method
finds them. They do not where a row is stationary, as x² + y² = l² is in y at y = 0, or where a step would be longer
than the rows are straight: there each choice of coordinates is solved for, from the start and from beside it, and the
nearest solution counts; of two that are as near, the one of lower potential energy.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.newtons_method import newton
from pfaff.errors import ConstraintError, ConvergenceError
from pfaff.flow.completion import KEPT, demand
from pfaff.flow.coordinate_sizes import turns_of, usual_sizes
from pfaff.flow.nearest_positions import TO_ROUNDING, Search
from pfaff.statement.constraints import numbered

if TYPE_CHECKING:
    from pfaff.flow.initial import Constraints


def on_positions(
    constraints: Constraints,
    q: np.ndarray,
    v: np.ndarray,
    free: np.ndarray,
    time: float = 0.0,
    yielding: bool = False,
) -> np.ndarray:
    """Newton's method on φ(q, t) = 0 in the free coordinates, with steps of least norm in the metric of the inertia.

    The others change where these cannot follow, if they are ``yielding``.
    """
    if not constraints.holonomic:
        return q
    rows = slice(-constraints.holonomic, None)
    turns, before = turns_of(constraints, q), np.abs(q)

    def step(q: np.ndarray) -> tuple[np.ndarray, float]:
        phi, _, A, M = constraints(q, v, time)
        asked = demand(M, A[rows], -phi, free)
        change = asked.least(yielding)
        far = (np.abs(change) / turns).max()
        change = change / far if far > 1 else change
        new = q + change
        size = (np.maximum(np.abs(new), before) / asked.units).max()
        return new, np.abs(change / asked.units).max() / (size or 1.0)

    q = newton(step, q, TO_ROUNDING).at
    _check(constraints, q, v, free, time, turns)
    return q


def _check(
    constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray, time: float, turns: np.ndarray
) -> None:
    """Raise where a row is violated."""
    phi, _, A, M = constraints(q, v, time)
    left, first = np.abs(phi), constraints.m - constraints.holonomic
    sizes = np.minimum(usual_sizes(q, M), turns)  # angles far away make no row larger
    wrong = ~(left <= KEPT * (np.abs(A[first:]) @ sizes))
    if wrong.any():  # terms may be large relative to their change
        wrong &= ~(left <= KEPT * constraints.position_terms(q, time))
    if not wrong.any():
        return
    named = numbered(constraints.case.system, [first + int(k) for k in np.flatnonzero(wrong)]).partition(" ")[2]
    remedy = (
        "these rows have no common solution nearby: start elsewhere, or correct them"
        if free.all()
        else "leave some out so that they can follow, or ask for project=True"
    )
    raise ConstraintError(
        f"the initial coordinates violate a holonomic constraint by {left[wrong].max():.2g} (row {named}): {remedy}"
    )


def completed(
    constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray, yielding: bool = False
) -> np.ndarray:
    """The coordinates where the free ones obey the constraints; those that obey them already stay, to the last bit.

    Where the free ones cannot follow, the others change, if they are ``yielding``.
    """
    if not constraints.holonomic:
        return q
    phi, _, A, M = constraints(q, v)
    violated = np.abs(phi) > KEPT * constraints.position_terms(q, 0.0)
    if not violated.any():
        return q
    search = Search(constraints, q, v, free)
    asked = demand(M, A[-constraints.holonomic :], -phi, free)
    chosen = asked.fewest(violated, constraints.case.system.coordinate_names, 0 * q, sparing=True)
    if chosen is not None and search.straight(chosen):
        with suppress(ConstraintError, ConvergenceError):
            return search.cleared(on_positions(constraints, q, v, chosen))
    found, complete = search.nearest(violated)
    if not complete and yielding:
        return search.cleared(on_positions(constraints, found, v, free, yielding=True))
    if not complete:
        with suppress(ConstraintError, ConvergenceError):
            return on_positions(constraints, q, v, free)
    _check(constraints, found, v, free, 0.0, search.turns)
    return found
