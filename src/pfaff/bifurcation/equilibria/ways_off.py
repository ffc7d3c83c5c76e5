"""The ways off a branch point of equilibria: the first point on one of the two arms of the branch that crosses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.equilibria.branch_points import crossing_direction
from pfaff.bifurcation.equilibria.special_points import Rests
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.branches import SpecialPoint

OFF = (1e-2, 1e-3, 5e-2)  # first steps tried on a crossing branch, in units of the states and the range
INSIDE, HARDLY = 0.1, 1e-6  # largest and smallest change of the parameter in a first step, relative to the range
TRIALS = 24  # trials for units of the states


def in_units(special: SpecialPoint, to: float) -> Rests:
    """The problem in units of the states in which a small step on the crossing branch moves the parameter slightly but
    measurably (|Δλ| ∝ |Δx|² as a rule); unchanged if the parameter does not move.

    Where all states vanish, only the branch itself tells how large they become.
    """
    problem, z, span = special.problem, special.spot.z, abs(to - special.value)
    sizes = problem.equations.sizes.copy()
    sizes[-1] = min(sizes[-1], span)
    for _ in range(TRIALS):
        problem = replace(problem, equations=problem.equations.in_units(sizes.copy()))
        along = crossing_direction(problem.equations, z, special.spot.tangent)
        try:
            taken = abs(problem.solved(z + OFF[0] * along, along / sizes**2)[-1] - z[-1]) / span
        except Refused:
            taken = np.inf
        if HARDLY <= taken <= INSIDE:
            return problem
        sizes[: problem.equations.n] *= (
            10.0 if taken < HARDLY else OFF[0] / np.sqrt(taken) if np.isfinite(taken) else 0.1
        )
    return special.problem


def way_off(special: SpecialPoint, problem: Rests, to: float, way: int) -> Spot:
    """The first point on one of the two ways off a branch point."""
    along = crossing_direction(problem.equations, special.spot.z, special.spot.tangent)
    arms = [_arm(special, problem, sign * along, to) for sign in (1.0, -1.0)]
    ahead = [not isinstance(arm, Refused) and (arm.z[-1] - special.value) * (to - special.value) > 0 for arm in arms]
    arm = arms[int(ahead == [False, True]) ^ int(way < 0)]
    if isinstance(arm, Refused):
        raise ConvergenceError(
            f"no branch was found off the branch point at {special.parameter} = {special.value:.10g}: {arm}"
        ) from arm
    return arm


def _arm(special: SpecialPoint, problem: Rests, direction: np.ndarray, to: float) -> Spot | Refused:
    """The nearest point found along a direction, or why there is none."""
    why = Refused("")
    unit = direction / np.linalg.norm(direction / problem.equations.sizes)
    for share in OFF:
        try:
            z = problem.solved(special.spot.z + share * unit, unit / problem.equations.sizes**2)
        except Refused as refused:
            why = refused
            continue
        if abs(z[-1] - special.value) < abs(to - special.value):
            return problem.spot(z, unit)
        why = Refused(f"it is beyond {to:g} at once")
    return why
