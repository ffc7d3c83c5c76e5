"""What periodic and connecting orbits promise: equations that hold everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from pfaff.checks.check import Check, worst

SOLVED = 1e-6  # error of an orbit over an interval, relative to its amplitudes, if no less accuracy is asked for
ACCURACIES = 100.0  # errors that are allowed, in units of the accuracy asked for


def obeyed(off: Iterable[float], accuracy: float) -> Check:
    """The equations hold between the points at which they were solved: states change over every interval of the mesh by
    the integral of their rates."""
    bound = max(SOLVED, ACCURACIES * accuracy)
    return Check("the equations hold between collocation points", worst(off), bound, "ask for more accuracy")


def closed(gaps: Iterable[float], accuracy: float) -> Check:
    """The orbit ends where it begins, or at the mirror image, or turns of a rotation farther."""
    return Check("the orbit closes", worst(gaps), max(SOLVED, ACCURACIES * accuracy), "ask for more accuracy")
