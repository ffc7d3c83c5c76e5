"""Null vectors of the linearised equations of an orbit: the direction of a crossing branch, and the gradients of
conserved quantities."""

from __future__ import annotations

from math import isfinite

import numpy as np

from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.many_states.sparse_collocation import SparseCollocation
from pfaff.bifurcation.orbits.solutions import Pins
from pfaff.kernels.chain import solve_chain


def way_off(c: Collocation, cycle: Cycle, pins: Pins) -> Cycle:
    """The change that the linearised equations hardly see, by one inverse iteration: at a branch point, the direction
    off the branch to whose tangent the last pin belongs."""
    if isinstance(c, SparseCollocation):
        return c.way_off(cycle, pins)
    n, nb = c.shape
    G, w = c.linearised(cycle)
    w.ends[:, :, nb] = np.random.default_rng(0).normal(size=(cycle.intervals, n)) * np.abs(cycle.x).max()
    at_zero = np.zeros_like(cycle.x), np.zeros(nb)
    solve_chain(G, w.ends, pins.rows, pins.scalars, at_zero[1], *at_zero, cycle.signs, w.dx, w.dscalars)
    return Cycle(cycle.mesh, w.dx[0].copy(), w.expanded(), w.dscalars[0].copy(), cycle.signs)


def conserved_gradients(c: Collocation, cycle: Cycle, pins: Pins) -> np.ndarray | None:
    """Gradients of conserved quantities at the mesh points of an orbit, indexed [quantity, point, state]; None if the
    equations are singular.

    ψ with ψ_j = ψ_{j+1} G_j, orthogonal to the changes by period and parameter, and of unit mean along the unfolding:
    the rows of the inverse of all equations that belong to α, by the transposed chain. They do not depend on the pins.
    Muñoz-Almaraz, Freire, Galán, Doedel and Vanderbauwhede, Physica D 181 (2003).
    """
    n, nb = c.shape
    G, w = c.linearised(cycle)
    at_nodes = pins.rows[:, :-1].copy()
    at_nodes[:, 0] += pins.rows[:, -1]
    N, back = cycle.intervals, np.ascontiguousarray(G[::-1].transpose(0, 2, 1))
    columns, rows = np.zeros((N, n, nb + 1)), np.zeros((nb, N + 1, n))
    columns[:, :, :nb] = at_nodes[:, ::-1].transpose(1, 2, 0)
    rows[:, :N] = w.ends[::-1, :, :nb].transpose(2, 0, 1)
    found, at_zero = np.empty((nb - 2, N + 1, n)), (np.zeros_like(cycle.x), np.zeros(nb))
    for k, gradient in enumerate(found):
        by_scalars, right = np.ascontiguousarray(pins.scalars.T), np.eye(nb)[2 + k]
        if not isfinite(solve_chain(back, columns, rows, by_scalars, right, *at_zero, cycle.signs, w.dx, w.dscalars)):
            return None
        gradient[:] = w.dx[0, ::-1]
    return found
