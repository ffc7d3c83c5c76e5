"""The arguments of walks along branches of orbits, and the arrays that their steps fill."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled
from pfaff.bifurcation.machine_code.vectors import LANES, aligned


class Terms(NamedTuple):
    """Constants of a walk; ``functions`` are f with and without derivatives, by their addresses."""

    functions: Any
    numbers: np.ndarray
    rule: Any
    gauss: Any
    solver: Any
    signs: np.ndarray
    measures: Any  # measures of points, as ``Continuation`` has them
    accuracy: float
    enough: float  # last change of Newton's method, in a step ...
    converged: float  # ... and on a finer mesh
    ones: int
    level: bool
    mirrored: float
    clear: float
    scale: float
    longest: float
    bounds: tuple[float, float]
    home: tuple[float, ...]


class Room(NamedTuple):
    """Arrays that steps fill on meshes with a given number of intervals."""

    newton: Any
    columns: np.ndarray
    velocities: np.ndarray
    equations: Any
    rates: Any


@compiled
def sizes_of(terms):
    """The numbers of states, of Gauss points in an interval, of states with slopes, and of scalars."""
    return len(terms.signs), len(terms.gauss[1]), len(terms.rule[1]), 2


@compiled
def at_states(function, numbers, many):
    """The equations as compiled loops take them, for ``many`` states."""
    address, code, place, outputs = function
    columns = np.empty((len(numbers), many))
    for i in range(len(numbers)):
        columns[i] = numbers[i]
    return address, code, place, columns, np.empty((outputs, many))


@compiled
def room_for(terms, N):
    """Arrays for N intervals; those of Newton's method are as in ``Workspace.of_newton``."""
    n, m, nr, nb = sizes_of(terms)
    size, groups, ends = m * nr, -(-N // LANES), 2 * N + 2 if terms.signs.min() < 0 else N + 1
    columns = n + nb + 1
    newton = (
        np.empty((n, N * m)), aligned(groups * size * columns * LANES).reshape((groups, size, columns, LANES)),
        np.empty((N, n, nb + 1)), np.empty((2, N + 1, n)), np.empty((2, nb)), np.empty((N, m, nr)),
        aligned(size * (size + columns) * LANES).reshape((size, size + columns, LANES)), np.zeros(N, dtype=np.int64),
    )  # fmt: skip
    equations = at_states(terms.functions[0], terms.numbers, N * m)
    rates = at_states(terms.functions[1], terms.numbers, ends)
    return Room(newton, np.empty((n, ends)), np.empty((n, ends)), equations, rates)
