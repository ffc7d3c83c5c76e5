"""Equilibria and steady motions: every equation of balance, and every constraint, now and later."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pfaff.checks.check import Check

UNMOVED = 1e-7  # forces that do not balance, relative to the largest that take part
HELD = 1e-7  # violations of constraints, relative to their terms
STAYS = 1e-6  # movement of a shape that is to stay, relative to its size, and to what its speeds would move
STEPS = 16  # of Runge and Kutta's method, over a time in which speeds move a tenth of the sizes

BALANCE = "forces and reactions balance in every equation"
HOLD = "the constraints hold, now and later"
STAY = "shape and speeds stay as they are"


def in_balance(imbalance: np.ndarray, forces: np.ndarray, units: np.ndarray) -> Check:
    """Check that forces and reactions balance in every equation; ``forces`` are those that take part in each."""
    largest = float((units * forces).max(initial=0.0)) or 1.0
    return Check(
        BALANCE,
        float((units * np.abs(imbalance)).max(initial=0.0) / largest),
        UNMOVED,
        "this is no equilibrium; start the search elsewhere",
    )


def held(violations: np.ndarray, terms: np.ndarray) -> Check:
    """Check that constraints hold, in positions and velocities and at all times looked at."""
    return Check(
        HOLD,
        float((np.abs(violations) / np.where(terms > 0, terms, 1.0)).max(initial=0.0)),
        HELD,
        "the constraints move it away from there; state it in coordinates that move along",
    )


def stays(
    rates: Callable[[np.ndarray, float], np.ndarray], x: np.ndarray, kept: np.ndarray, sizes: np.ndarray, time: float
) -> Check:
    """Check that states ``kept`` of ẋ = rates(x, t) stay, by an integration over a time.

    The rates are those of all coordinates and velocities.
    """
    h, y = time / STEPS, x
    for k in range(STEPS):
        t = k * h
        k1 = rates(y, t)
        k2 = rates(y + h / 2 * k1, t + h / 2)
        k3 = rates(y + h / 2 * k2, t + h / 2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(y + h * k3, t + h))
    return Check(
        STAY,
        float((np.abs(y - x) / sizes)[kept].max(initial=0.0)),
        STAYS,
        "this is no steady motion; give start= nearer to one",
    )
