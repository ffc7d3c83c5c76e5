"""How far an orbit is carried by the symmetries that its flow does without, over one period.

The orbit closes where they have carried it back; the configuration goes on from g q, with ġ = g Σ μ_a ξ_a along the
orbit and g = 1 at its start. For translations this integrates velocities. Where the heading changes as well, velocities
are those seen from the moving system, and their integrals are no displacement.
"""

from __future__ import annotations

import numpy as np

from pfaff.algebra.gauss import Gauss
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.statement.system import System


def displacement(problem: OrbitProblem, cycle: Cycle) -> dict[str, float]:
    """Changes in a period of the coordinates that symmetries move: those that the flow does without, then others."""
    flow, c = problem.flow, problem.collocation
    system = flow.system
    if not flow.dropped or not isinstance(system, System):
        return {}
    names = system.coordinate_names
    if flow.slice is None:
        means, period = mean_velocities(problem, cycle), cycle.scalars[0] * (2 if cycle.halved else 1)
        return {name: float(period * means[f"{name}_dot"]) for name in flow.dropped}
    start = dict(zip(flow.states, cycle.x[0], strict=True))
    q = np.array([start.get(name, 0.0) for name in names])
    g = np.eye(len(q) + 1)
    for v in _velocities(problem, cycle):
        g = g @ group_element(flow.slice.fields(v), cycle.scalars[0] * cycle.mesh.h, c.gauss)
    moved = flow.slice.placed(g, q, c.equations.numbers_at(cycle.value)) - q
    return {name: float(moved[names.index(name)]) for name in (*flow.slice.names, *flow.slice.moved)}


def mean_velocities(problem: OrbitProblem, cycle: Cycle) -> dict[str, float]:
    """Means of the velocities of coordinates that the flow does without; as seen from the system, where it turns."""
    if not problem.flow.dropped or not isinstance(problem.flow.system, System):
        return {}
    weights, names = problem.collocation.weights(cycle), problem.flow.system.coordinate_names
    mean = np.mean([v @ weights for v in _velocities(problem, cycle)], axis=0)
    return {f"{name}_dot": float(mean[names.index(name)]) for name in problem.flow.dropped}


def _velocities(problem: OrbitProblem, cycle: Cycle) -> list[np.ndarray]:
    """The velocities of all coordinates at the points of the mesh; for an orbit of two halves, in each of them."""
    c = problem.collocation
    numbers, X = c.equations.numbers_at(cycle.value), c.stages(cycle)
    halves = [X, cycle.signs[:, None] * X] if cycle.halved else [X]
    return [problem.flow.velocities(half, numbers) for half in halves]


def group_element(fields: np.ndarray, h: np.ndarray, rule: Gauss) -> np.ndarray:
    """g(T) of ġ = g F(t), g(0) = 1, by Gauss's method, of twice the order of its degree.

    ``fields`` are F at the points of all intervals: the first points, then the second …
    """
    size, count = fields.shape[-1], len(h)
    F = fields.reshape(rule.degree, count, size, size)
    # Rows k_i of the stages of each interval, in units of g there: k_i − h Σ a_ij k_j F_i = the row of F_i.
    coupled = np.einsum("ij,m,imab->mjaib", rule.A, h, F)
    wide = rule.degree * size
    matrices = np.eye(wide) - coupled.reshape(count, wide, wide)
    right = F.transpose(1, 2, 0, 3).reshape(count, size, wide)
    stages = np.linalg.solve(matrices.transpose(0, 2, 1), right.transpose(0, 2, 1)).transpose(0, 2, 1)
    slopes = np.einsum("i,m,maib->mab", rule.b, h, stages.reshape(count, size, rule.degree, size))
    g = np.eye(size)
    for step in slopes:
        g = g + g @ step
    return g
