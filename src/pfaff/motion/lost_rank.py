"""Where constraints lose their rank along a motion: there the equations end, whatever an integrator makes of them."""

from __future__ import annotations

import numpy as np

from pfaff.algebra.allowed_inertia import allowed_inertia, penalised
from pfaff.flow.initial import Constraints
from pfaff.motion.dense_output import Flight
from pfaff.motion.drive import Driven
from pfaff.motion.outcomes import Outcome, Status
from pfaff.statement.inertia import usual_inertias

SUSPICIOUS = 1e-6  # ratio of the shortest to the longest step
SHORT = 1e-3  # relative to the longest step: singular configurations are looked for at the ends of shorter ones
SINGULAR = 1e-5  # ratio of a constraint to its size at first, or of the singular values of all of them
SUSPECTED = (Outcome.FINISHED, Outcome.COLLAPSED, Outcome.NOT_FINITE, Outcome.TOO_MANY)


def end_where_singular(driven: Driven, flight: Flight) -> Status:
    """The status of a flight; it is cut where the constraints were singular before its steps recovered."""
    status, outcome = flight.status, flight.status.outcome
    constraints = Constraints(driven.case)
    suspicious = flight.shortest < SUSPICIOUS * flight.longest
    if not (suspicious and constraints.m and flight.pieces) or outcome not in SUSPECTED:
        return status
    ends = flight.times
    q, v = np.split(flight(ends[:1])[:, 0], 2)
    at_first = np.linalg.norm(constraints(q, v)[2], axis=1)
    short = 1 + np.flatnonzero(np.abs(np.diff(ends)) < SHORT * flight.longest)
    collapsed = Outcome.COLLAPSED if status.finished else outcome
    for t, x in zip(ends[short], flight(ends[short]).T, strict=True):
        ended = _singular(constraints, t, x, at_first, collapsed) if np.isfinite(x).all() else None
        if ended:
            flight.cut = float(t)
            return ended
    return status


def _singular(
    constraints: Constraints, t: float, x: np.ndarray, at_first: np.ndarray, collapsed: Outcome
) -> Status | None:
    """How a motion ends at a state, if it is singular there."""
    q, v = np.split(x, 2)
    _, _, A, M = constraints(q, v, t)
    kept = list(constraints.case.system.kept)
    A = A[kept]
    small = np.linalg.norm(A, axis=1) <= SINGULAR * at_first[kept]
    if small.any():
        return Status(Outcome.LOST_RANK, f" (row {kept[int(small.argmax())] + 1} vanishes)")
    if allowed_inertia(M, A).lacks(SINGULAR**2):
        return Status(collapsed, ": the mass matrix is singular there")
    inertia, axes = np.linalg.eigh(penalised(M, A, usual_inertias(constraints.case.system))[0])
    whitened = A @ (axes / np.sqrt(np.maximum(inertia, np.finfo(float).tiny)))
    left, sizes, _ = np.linalg.svd(whitened / np.linalg.norm(whitened, axis=1, keepdims=True))
    if sizes[-1] > SINGULAR * sizes[0]:
        return None
    involved = ", ".join(str(kept[k] + 1) for k in np.flatnonzero(np.abs(left[:, -1]) > 0.1))
    rows = f" (rows {involved} become dependent): method='augmented' may go through"
    return Status(Outcome.LOST_RANK, rows)
