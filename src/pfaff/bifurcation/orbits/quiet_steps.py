"""Quick checks that nothing happens in a step of a branch of orbits, as in most steps."""

from __future__ import annotations

from math import nan

from pfaff.bifurcation.orbits.chords import Point
from pfaff.kernels.step_rules import quiet_step

UNKNOWN = (nan,) * 4


def silent(before: Point | None, a: Point, b: Point, length: float, gone: float, level: bool) -> bool:
    """Whether no multiplier crosses the unit circle in a step, given the length of the one before, and no function
    changes sign or comes near zero; on a level branch the parameter does not move."""
    if a.unstable != b.unstable or a.cycle.mesh is not b.cycle.mesh:
        return False
    first, here, last = UNKNOWN if before is None else before.tests.values(), a.tests.values(), b.tests.values()
    slope, next_slope = a.tangent.scalars[1], b.tangent.scalars[1] / a.metric.norm(b.tangent)
    along = 0.0 if level else length
    return quiet_step(
        tuple(first), tuple(here), tuple(last), gone / length, along * slope, along * next_slope, b.value - a.value
    )
