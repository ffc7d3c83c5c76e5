"""Hermite's cubics between the ends of a step, in compiled loops: what they may hide. The rules of ``Cubics``."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.eigenvalues import UNSURE, WILD
from pfaff.bifurcation.machine_code.linking import called


@called
def doubtful(first, rise, last, fall, noise):
    """Whether a function with one sign at both ends of a step may have the other in between, or changes too much to
    know."""
    wrong = abs(last - first - (rise + fall) / 2)
    wild = max(wrong, abs(fall - rise) / 8) > WILD * max(abs(first), abs(last)) + noise
    return wild or dipping(first, rise, last, fall, noise)


@called
def dipping(first, rise, last, fall, noise):
    """Whether a function with one sign at both ends of a step may have the other in between."""
    wrong = abs(last - first - (rise + fall) / 2)
    same = first * last > 0 and min(abs(first), abs(last)) > noise
    return same and dips(first, rise, last, fall) < max(UNSURE * wrong, -noise)


@called
def dips(first, rise, last, fall):
    """The least value of Hermite's cubic where it is stationary, or at the nearer end, relative to the sign of its
    first."""
    bend, twist = 3 * (last - first) - 2 * rise - fall, 2 * (first - last) + rise + fall
    root = bend + (-1.0 if bend < 0 else 1.0) * np.sqrt(max(bend**2 - 3 * twist * rise, 0.0))
    least = np.inf
    for k in range(2):
        s = -rise / root if k == 0 else -root / (3 * twist)
        s = min(max(s, 0.0), 1.0) if s == s else 0.0
        bow = s * (1 - s) ** 2 * rise + s**2 * (s - 1) * fall
        least = min(least, np.sign(first) * (first + s**2 * (3 - 2 * s) * (last - first) + bow))
    return least
