"""Records of the walker on a branch of orbits: all in one array, a note of every step, and what is known so far.

A record is an orbit with its tangent, from an offset on; the metric and the basis of multipliers follow it.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled
from pfaff.bifurcation.orbits.solving.meshes import carry_stage
from pfaff.bifurcation.orbits.solving.strides import copy

# What is noted of a step: offsets of mesh and orbit, of both as the next step takes them, intervals, facts, four tests.
MESH, ORBIT, NEXT_MESH, NEXT, INTERVALS, NEXT_INTERVALS, LENGTH, TURNED = range(8)
DETERMINANT, ERROR, RESIDUAL, STEPS, UNSTABLE, TESTS = range(8, 14)
PERIOD, AMPLITUDE, VALUE, MARGIN, NOTES = range(17, 22)
EARLIER, GONE, RATE, AGE, FINER, SHORTEST, GREATEST, FARTHEST, PASSED = range(9)  # what is known of the branch so far


@compiled
def record(store, at, N, sizes):
    """The orbit and its tangent stored from an offset on: states, slopes and scalars, of both."""
    n, m, nr, nb = sizes
    slopes = at + 2 * (N + 1) * n
    scalars = slopes + 2 * N * m * nr
    return (
        store[at:slopes].reshape((2, N + 1, n)),
        store[slopes:scalars].reshape((2, N, m, nr)),
        store[scalars : scalars + 2 * nb].reshape((2, nb)),
    )


@compiled
def length_of(N, sizes):
    """The length of such a record."""
    n, m, nr, nb = sizes
    return 2 * ((N + 1) * n + N * m * nr + nb)


@compiled
def stage(kept, which):
    """The orbit of a record (0), or its tangent (1)."""
    return kept[0][which], kept[1][which], kept[2][which]


@compiled
def measures(store, at, sizes):
    """The metric stored from an offset on, the basis of multipliers, and the offset after them."""
    n, nb = sizes[0], sizes[3]
    squares = at + n + nb
    basis = squares + n + nb
    metric = store[at : at + n], store[at + n : squares], store[squares : squares + n], store[squares + n : basis]
    return metric, store[basis : basis + n * n].reshape((n, n)), basis + n * n


@compiled
def mesh_of(times):
    """Lengths of the intervals of a mesh, and the weights of its points."""
    h, weights = times[1:] - times[:-1], np.zeros(len(times))
    for j in range(len(h)):
        weights[j] += h[j] / 2
        weights[j + 1] += h[j] / 2
    return h, weights


@compiled
def carry_over(times, old, signs, rule, gauss, new_times, new):
    """Fill in a record on another mesh."""
    h = times[1:] - times[:-1]
    carry_stage(times, h, stage(old, 0), stage(old, 1), signs, rule, gauss, new_times, new[0], new[1])
    copy(new[2], old[2])
