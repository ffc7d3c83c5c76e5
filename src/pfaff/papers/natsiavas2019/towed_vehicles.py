"""Suitcase and trailer, another chapter of the proceedings: one model, two sets of numbers."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sm

from pfaff import System
from pfaff.atlas import rocking_suitcase, snaking_trailer


def analogues() -> float:
    """Suitcase and trailer have the same equations and other numbers."""
    one, other = rocking_suitcase(), snaking_trailer()
    same = one.equations().motion - other.equations().motion == sm.zeros(3, 1)
    return float(not same or one.defaults == other.defaults)


def towed_nonholonomically() -> float:
    kinds = [make().classification for make in (rocking_suitcase, snaking_trailer)]
    return float(sum(each.holonomic for each in kinds))


def lost_stability(make: Callable[[], System]) -> float:
    """The speed at which straight running begins to oscillate."""
    return float(make().at().flutter(to=100))
