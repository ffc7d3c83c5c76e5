"""Branches of equilibria verified: what their points and special points promise, and where one that does not ends it.

A chart may be left unnoticed, and inertia may vanish, between points of a branch. What lies beyond is not of the
system, and the branch is cut there by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.bifurcation.equilibria.eigenvalues import distances
from pfaff.bifurcation.equilibria.full_balance import FullBalance, full_balance
from pfaff.checks import Check, unmade
from pfaff.checks.branch_promises import (
    BALANCED,
    INERT,
    SUM,
    alone,
    at_rest,
    balanced,
    inert,
    met,
    on_axis,
    singular,
    summed,
)
from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.gathering import where
from pfaff.continuation.kinds import MULTIPLE, Kind
from pfaff.errors import ConvergenceError
from pfaff.rest.balance import Balance

Followed = TypeVar("Followed", bound=Any)

MOVED = 1e-3  # how far correction may move a point, in units of its states
SOME = 32  # points of a branch whose rates are evaluated once more
ZERO = (Kind.FOLD, Kind.BRANCH_POINT, Kind.BOGDANOV_TAKENS)  # where the equations are singular


def at_points(points: Sequence[Any]) -> Iterator[Check]:
    """What equilibria promise: all rates vanish, the forces of the whole system balance."""
    some = [points[k] for k in range(0, len(points), max(1, len(points) // SOME))]
    yield at_rest(map(left_over, some))
    whole = _balance(some)
    if whole is not None:
        yield balanced(whole.residuals)
        yield inert(whole.inertias)
    if len(points) == 1:
        yield from _spectrum(points[0])


def of_special(special: Any) -> Iterator[Check]:
    """What a special point promises beside rest: equations that are singular, a pair on the imaginary axis."""
    s, z, kind = special.equations, special.spot.z, special.kind.removeprefix(MULTIPLE)
    values = special.spot.facts.eigenvalues
    if kind in (Kind.HOPF, Kind.ZERO_HOPF):
        J = s.state_jacobian(z)
        yield on_axis(values, special.omega, None if sparse.issparse(J) else J, special.multiplicity)
    if kind == Kind.COALESCENCE:
        yield met(distances(values), values)
    J = s.jacobian(z)
    if kind in ZERO and not sparse.issparse(J):
        rows, units = s.row_sizes(z), s.sizes[: s.n + s.k]
        here = relative_size(J[:, : len(units)] * units, rows)
        yield singular(here, "the Jacobian")
        if kind == Kind.BRANCH_POINT:
            away = NEIGHBOUR * special.spot.tangent
            sides = (s.jacobian(z + side * away)[:, : len(units)] * units for side in (1, -1))
            yield alone(here, max(relative_size(each, rows) for each in sides))
    if kind == Kind.BRANCH_POINT:
        whole = full_balance(s, [z])
        size = None if whole is None else whole.branching(s, z)
        if size is not None:
            yield singular(size)


def relative_size(matrix: np.ndarray, rows: np.ndarray) -> float:
    """The least singular value of a matrix, relative to these sizes of its rows."""
    return float(np.linalg.svd(matrix / np.where(rows, rows, 1.0)[:, None], compute_uv=False)[-1])


def left_over(point: Any) -> float:
    """The largest rate at a point, relative to what the states about it make of it."""
    s, z = point.equations, point.spot.z
    usual = s.row_sizes(z)[: s.n]
    return float((np.abs(s.rates(z)) / np.where(usual, usual, 1.0)).max(initial=0.0))


def verified(branch: Followed) -> Followed:
    """A branch up to the first point at which the whole system does not rest, or has negative inertia."""
    whole = _balance(branch.points)
    if whole is None:
        return branch
    points = list(branch.points)
    for k in np.flatnonzero(~(whole.residuals <= BALANCED)):
        points[k] = _settled(points[k], whole, int(k))
        if points[k] is branch.points[k]:
            break
    if any(a is not b for a, b in zip(points, branch.points, strict=True)):
        branch = replace(branch, points=tuple(points))
        whole = _balance(points) or whole
    bad = ~((whole.residuals <= BALANCED) & (whole.inertias >= INERT))
    if not bad.any():
        return branch
    first = int(bad.argmax())
    why = _fault(branch.points[first], whole, first)
    if not first:
        raise ConvergenceError(f"no equilibrium at {where(branch.points[0])}: {why}; start from another one")
    kept = [k for k, place in enumerate(branch.places) if place < first]
    ended = Ending(Reason.SINGULAR, f"stopped at {where(branch.points[first - 1])}: beyond it {why}")
    return replace(
        branch,
        points=branch.points[:first],
        special=tuple(branch.special[k] for k in kept),
        places=tuple(branch.places[k] for k in kept),
        ended=ended,
    )


def _settled(point: Any, whole: FullBalance, k: int) -> Any:
    """A point corrected in all coordinates, if that hardly moves it: near its edge a chart hides forces that are left,
    by the square of the distance from it."""
    s, problem = point.equations, point.problem
    held = {name: 0.0 for name in s.flow.dropped if name in s.case.system.coordinate_names}
    balance = Balance(point.case, held | {name: point.state[name] for name in s.held_states})
    found, residual = balance.solve(np.concatenate([whole.q[:, k], whole.p[:, k]]), point.case.numbers)
    if not residual <= BALANCED:
        return point
    z = point.spot.z.copy()
    for name, value in zip(s.case.system.coordinate_names, found, strict=False):
        if name in s.flow.states:
            z[s.flow.states.index(name)] = value
    if np.abs((z - point.spot.z) / s.sizes).max() > MOVED:
        return point
    return replace(point, spot=problem.spot(z, point.spot.tangent))


def _balance(points: Sequence[Any]) -> FullBalance | None:
    """The balance of the whole system at points of one chart."""
    s = points[0].equations
    return full_balance(s, (each.spot.z for each in points))


def _fault(point: Any, whole: FullBalance, k: int) -> str:
    """What is wrong at a point, in words."""
    if not whole.inertias[k] >= INERT:
        return f"a motion that the constraints of {point.case.system.name} allow has negative inertia"
    name = point.case.system.coordinate_names[whole.unbalanced(k)]
    return f"the forces along {name} do not balance, though the constraints do not hold it there"


def _spectrum(point: Any) -> Iterator[Check]:
    """Eigenvalues against the trace, where all of them are known."""
    s, values = point.equations, point.eigenvalues
    if len(values) + sum(s.zeros) + s.attracting != s.n:
        yield from unmade("not all eigenvalues are known", SUM)
        return
    J = s.state_jacobian(point.spot.z)
    yield summed(values, float(J.trace()) + s.attracting * s.flow.settle)
