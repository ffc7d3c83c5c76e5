"""Quick checks that nothing happens in a step of a branch of orbits, as in most steps."""

from __future__ import annotations

from math import nan

from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.orbits.chords import Point

NEAR = 0.5  # height of the parabola through three values of a function, relative to them, below which it is examined
UNKNOWN = (nan,) * 4


def silent(before: Point | None, a: Point, b: Point, length: float, gone: float, level: bool) -> bool:
    """Whether no multiplier crosses the unit circle in a step, given the length of the one before, and no function
    changes sign or comes near zero; on a level branch the parameter does not move."""
    if a.unstable != b.unstable or a.cycle.mesh is not b.cycle.mesh:
        return False
    first, here, last = UNKNOWN if before is None else before.tests.values(), a.tests.values(), b.tests.values()
    slope, next_slope = a.tangent.scalars[1], b.tangent.scalars[1] / a.metric.norm(b.tangent)
    moved = (0.0, 0.0) if level else (length * slope, length * next_slope)
    return quiet(tuple(first), tuple(here), tuple(last), gone / length, *moved, b.value - a.value)


@compiled
def quiet(first, here, last, back, slope, next_slope, rise):
    """Whether functions, that of folds first, neither change sign in a step nor come near zero in it or in the one
    before, whose length is ``back`` in units of this one; and whether Hermite's cubic of the parameter, with these
    slopes and rise in the step, does not come near level."""
    middle = 1.5 * rise - (slope + next_slope) / 4
    if slope * next_slope > 0 and dips(0.0, slope, 0.5, middle, 1.0, next_slope):
        return False
    for k in range(len(here)):
        if here[k] * last[k] < 0:
            return False
        if k > 0 and first[k] * here[k] > 0 and here[k] * last[k] > 0:
            low = abs(here[k]) < NEAR * min(abs(first[k]), abs(last[k]))
            if low or dips(-back, first[k], 0.0, here[k], 1.0, last[k]):
                return False
    return True


@part
def dips(t0, f0, t1, f1, t2, f2):
    """Whether the parabola through three values comes near zero, or crosses it, between them."""
    slope, next_slope = (f1 - f0) / (t1 - t0), (f2 - f1) / (t2 - t1)
    bend = (next_slope - slope) / (t2 - t0)
    if not bend * f0 > 0:
        return False
    at = (t0 + t1) / 2 - slope / (2 * bend)
    low = f0 + slope * (at - t0) + bend * (at - t0) * (at - t1)
    return low * f0 < NEAR * abs(f0) * min(abs(f1), abs(f2)) and t0 < at < t2
