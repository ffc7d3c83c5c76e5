"""Orbits in families that no equilibrium reveals: something is conserved, and a multiplier is 1.

The gradient ψ of a conserved quantity is carried into itself by the linearised flow about an orbit, and vanishes along
it. Its mean selects a member of the family, and along its mean the equations are unfolded, as in ``levels``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.bifurcation.orbits.cycles import Cycle, doubled
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import orbit_at
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError

CONSERVED, ROUGHLY = 1e-6, 1e-2  # largest change of a unit gradient in a period, on an orbit and on a guess
STEADY = 1e-2  # least length of the mean of a unit gradient
ASIDE = 1e-2  # distance from an orbit, relative to its size, at which another member of its family is looked for
DRIFTING = 1e-8  # largest change of that distance in a period, relative to it, that may be an error


def orbit_or_member(problem: OrbitProblem, guess: Cycle, value: float) -> OrbitPoint:
    """The orbit near a guess at a value of the load: isolated or, if none is found, a member of a family."""
    try:
        return orbit_at(problem, guess, value)
    except ConvergenceError:
        whole = doubled(guess, problem.rows) if guess.halved else guess
        family = with_conserved(problem, whole, ROUGHLY)
        if family is problem:
            raise
        found = orbit_at(family, unfolded(problem, family, whole), value)
        if not conserves(found):
            raise
        return found


def in_family(point: OrbitPoint, span: float) -> OrbitPoint:
    """The orbit as a member of its family; unchanged if it is isolated, here or at a load a little aside within a
    span, which has the sign of the side."""
    problem, cycle = point.problem, point.point.cycle
    if len(problem.held):
        return point
    cycle = doubled(cycle, problem.rows) if cycle.halved else cycle
    family = with_conserved(problem, cycle)
    if family is problem:
        return point
    try:
        found = orbit_at(family, unfolded(problem, family, cycle), point.value)
        family.continuation(abs(span)).at_value(found.point.cycle, point.value + NEIGHBOUR * span, found.point)
    except (ConvergenceError, Refused):
        return point  # one of its multipliers is 1 by accident
    return found if conserves(found) else point


def with_conserved(problem: OrbitProblem, cycle: Cycle, error: float = CONSERVED) -> OrbitProblem:
    """The problem with the quantities conserved about an orbit; unchanged if there are none, or if gradients have no
    mean."""
    metric = problem.continuation(1 + abs(cycle.value)).measure(cycle)
    gradients = np.einsum("j,kjn->kn", cycle.mesh.weights, _gradients(problem, cycle, metric.states, error))
    if not len(gradients) or np.linalg.svd(gradients, compute_uv=False).min() < STEADY:
        return problem
    columns, rows = (gradients / metric.states).T, gradients * metric.states
    return replace(problem, unfolding=np.ascontiguousarray(columns), held=np.ascontiguousarray(rows))


def conserves(point: OrbitPoint) -> bool:
    """Whether an orbit a little aside along the family repeats itself as well, as a member does: what belongs to a
    multiplier that is merely near 1 drifts in proportion to its distance."""
    family, cycle = point.problem, point.point.cycle
    c, metric = family.collocation, family.continuation(1 + abs(cycle.value)).measure(cycle)
    load = np.zeros_like(cycle.x), np.eye(len(cycle.scalars))[1]
    pins = c.pins(cycle, metric, load, family.held, cycle)
    right = pins.right.copy()
    right[1:-1] += ASIDE * (np.abs(pins.rows[1:-1]) / metric.states).sum(axis=(1, 2))
    found = c.correct(cycle, pins._replace(right=right), metric)
    if isinstance(found, str):
        return False
    drift = metric.states * (family.unfolding @ (found.cycle.scalars - cycle.scalars)[2:]) * cycle.period
    return bool(np.abs(drift).max() <= ASIDE * max(DRIFTING, family.accuracy))


def unfolded(problem: OrbitProblem, family: OrbitProblem, cycle: Cycle) -> Cycle:
    """An orbit with the slopes and scalars that the problem of its family has."""
    slopes = np.ascontiguousarray(problem.collocation.slopes(cycle)[:, :, family.rows])
    return cycle._replace(K=slopes, scalars=np.append(cycle.scalars[:2], np.zeros(len(family.held))))


def _gradients(problem: OrbitProblem, cycle: Cycle, units: np.ndarray, error: float) -> np.ndarray:
    """Gradients at the mesh points, indexed [quantity, point, state], states in their units; of unit length at the
    first."""
    c = problem.collocation
    bonds = c.equations.bonds(cycle.x, cycle.value) / units
    Q = np.linalg.svd(bonds)[2][:, bonds.shape[1] :]  # changes that the constraints allow
    G = Q[1:] @ (c.linearised(cycle)[0] * (units[:, None] / units)) @ Q[:-1].transpose(0, 2, 1)
    along = Q[0] @ (units * c.equations.rates(cycle.x[:1], cycle.value)[:, 0])
    carried = Q[0] @ Q[-1].T
    for each in G[::-1]:
        carried = carried @ each
    equations = np.vstack([carried.T - np.eye(len(along)), along / np.linalg.norm(along)])
    _, values, right = np.linalg.svd(equations)
    found = right[values < error]
    gradients = np.empty((len(found), cycle.intervals + 1, len(units)))
    at = found @ Q[0] @ Q[-1].T
    gradients[:, -1] = at @ Q[-1]
    for j in reversed(range(cycle.intervals)):
        at = at @ G[j]
        gradients[:, j] = at @ Q[j]
    return gradients
