"""Both principles together: the same motion, and how many operations it takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pfaff import System
from pfaff.atlas import ball_in_cavity, chaplygin_sleigh, nonholonomic_particle, rolling_disc, slider_crank
from pfaff.papers.naprstek2018.equations_counted import at_random, derived, stated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.principles.comparison import Comparison


def same_accelerations(make: Callable[[], System]) -> float:
    """Appell's accelerations and reactions against Lagrange's at random states, relative to the largest."""
    at, worst = at_random(stated(make)), 0.0
    found, expected = (derived(make, name).solve(at.q, at.v, at.numbers, at.time) for name in ("appell", "lagrange"))
    for one, other in zip(found, expected, strict=True):
        worst = max(worst, float((np.abs(one - other) / np.abs(other).max(initial=1e-2)).max()))
    return worst


@cache
def compared(make: Callable[[], System]) -> Comparison:
    return stated(make).compare(states=4)


def operations(make: Callable[[], System]) -> float:
    """Operations of Lagrange's symbolic equations over those of Appell's."""
    lagrange, appell = (compared(make)[principle].operations for principle in ("lagrange", "appell"))
    assert lagrange is not None
    assert appell is not None  # these systems are small
    return lagrange / appell


def compiled_operations(make: Callable[[], System]) -> float:
    """The same of the compiled right-hand sides, with all that is needed for the accelerations."""
    found = compared(make)
    return found["lagrange"].steps / found["appell"].steps


COUNTED = (ball_in_cavity, chaplygin_sleigh, nonholonomic_particle, rolling_disc, slider_crank)


def longer_by_appell() -> float:
    """Systems of which Appell's symbolic equations have more operations than Lagrange's."""
    return float(sum(operations(make) < 1 for make in COUNTED))


def draw_comparison() -> Figure:
    return compared(ball_in_cavity).plot()
