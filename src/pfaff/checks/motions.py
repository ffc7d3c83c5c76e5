"""What a motion promises: it obeys its equations between its steps, balances its energy and keeps its constraints.

Integrators look at the ends of their steps and at derivatives there. These functions look in between, at what was
computed, and know nothing of how.
"""

from __future__ import annotations

import numpy as np

from pfaff.checks.check import Check

FINE = 1e-12  # error within a step, relative to the state and to its change in the step, beyond rounding
PER_STEP = 30.0  # error within a step in units of the tolerance, which bounds what the first neglected terms add to it
OBEYED = 1e-8  # largest error within a step, relative likewise, of a motion that is called integrated
ENERGETIC = 1e-8  # imbalance relative to the largest of the energies at the sharpest tolerances
STEPS_ADD = 1e4  # imbalance in units of the tolerance: errors of the steps of a motion add up
KEPT = 1e-8  # residual of a constraint, relative to the size of its terms

SMALLER_STEPS = "give a max_step shorter than the narrowest feature, or a smaller tolerance"


def step_errors(
    x: np.ndarray, slopes: np.ndarray, rates: np.ndarray, length: np.ndarray, tolerance: float
) -> np.ndarray:
    """Errors |ẋ − f(x)| h within steps of length h, in units of what a step may leave, the largest of all states.

    ``x`` and ``slopes`` are the states, one column each, that an integrator gives and their derivatives; ``rates`` is
    f(x). Taylor's method has an error relative to the largest state, and absolute where that is below one.
    """
    length = np.abs(length)
    largest = np.maximum(np.abs(x).max(axis=0), 1.0)
    allowed = FINE * (np.abs(x) + np.abs(rates) * length) + PER_STEP * tolerance * largest
    with np.errstate(invalid="ignore", over="ignore"):
        errors = (np.abs(slopes - rates) * length / allowed).max(axis=0)
    return np.where(np.isnan(errors), np.inf, errors)


def between_steps(x: np.ndarray, slopes: np.ndarray, rates: np.ndarray, length: np.ndarray, tolerance: float) -> Check:
    """A motion obeys its equations at points within its steps which the integrator did not use."""
    worst = float(step_errors(x, slopes, rates, length, tolerance).max(initial=0.0))
    claim = "the motion obeys its equations between its steps"
    return Check(claim, unit(tolerance) * worst, largest_error(tolerance), SMALLER_STEPS)


def unit(tolerance: float) -> float:
    """What a step may leave, relative to the state."""
    return FINE + PER_STEP * tolerance


def largest_error(tolerance: float) -> float:
    """The largest error within a step of a motion that is called integrated."""
    return max(OBEYED, 10 * unit(tolerance))


def energy_balance(balance: np.ndarray, energies: np.ndarray, least: float, tolerance: float) -> Check:
    """Stored plus dissipated minus supplied energy stays what it was, relative to the largest of the changes of these
    energies, or to the ``least`` that is more than rounding."""
    scale = max(float(np.abs(energies).max(initial=0.0)), least)
    measured = np.abs(balance).max(initial=0.0) / scale if scale else 0.0
    bound = max(ENERGETIC, STEPS_ADD * tolerance)
    return Check("the energy balances", float(measured), bound, SMALLER_STEPS)


def constraints_kept(residual: np.ndarray, sizes: np.ndarray, tolerance: float) -> Check:
    """Every constraint holds, relative to the size of its terms, row by row."""
    scale = np.abs(sizes).max(axis=1, initial=0.0)
    off = np.abs(residual).max(axis=1, initial=0.0)
    relative = np.divide(off, scale, out=np.zeros_like(off), where=scale > 0)
    bound = max(KEPT, STEPS_ADD * tolerance)
    return Check("the constraints hold", float(relative.max(initial=0.0)), min(bound, 1e-2), SMALLER_STEPS)
