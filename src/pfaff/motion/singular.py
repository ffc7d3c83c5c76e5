"""Where constraints lose their rank along a motion: there the equations end, whatever an integrator makes of them."""

from __future__ import annotations

import numpy as np

from pfaff.motion.drive import Driven
from pfaff.motion.start import Constraints
from pfaff.motion.taylor import COLLAPSE, FINISHED, Flight

SUSPICIOUS = 1e-6  # of the shortest to the longest step
SINGULAR = 1e-5  # of a constraint to what it was at first, or of singular values of all of them


def end_where_singular(driven: Driven, flight: Flight) -> str:
    """The status of a flight; it is cut where the constraints were singular before its steps recovered."""
    status = flight.status
    if status == FINISHED and not flight.shortest < SUSPICIOUS * flight.longest:
        return status
    constraints = Constraints(driven.case)
    if not constraints.m or not flight.pieces:
        return status
    states = flight(flight.times)
    q, v = np.split(states[:, 0], 2)
    first = constraints(q, v)[2]
    for t, x in zip(flight.times, states.T, strict=True):
        words = _singular(constraints, t, x, np.linalg.norm(first, axis=1))
        if words:
            flight.cut = float(t)
            return f"{COLLAPSE if status == FINISHED else status}: {words}"
    return status


def _singular(constraints: Constraints, t: float, x: np.ndarray, at_first: np.ndarray) -> str:
    if not np.isfinite(x).all():
        return ""
    q, v = np.split(x, 2)
    _, _, A, M = constraints(q, v, t)
    small = np.linalg.norm(A, axis=1) <= SINGULAR * at_first
    if small.any():
        return f"the constraints lose rank there (row {int(small.argmax()) + 1} vanishes)"
    inertia = np.linalg.eigvalsh(M)
    if inertia[0] <= SINGULAR**2 * inertia[-1]:
        return "the mass matrix is singular there"
    whitened = np.linalg.solve(np.linalg.cholesky(M), A.T).T
    left, sizes, _ = np.linalg.svd(whitened / np.linalg.norm(whitened, axis=1, keepdims=True))
    if sizes[-1] > SINGULAR * sizes[0]:
        return ""
    involved = ", ".join(str(k + 1) for k in np.flatnonzero(np.abs(left[:, -1]) > 0.1))
    return f"the constraints lose rank there (rows {involved} become dependent)"
