"""Arrays that Newton steps for orbits fill again and again, and other arguments of compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.bifurcation.machine_code.addresses import lapack
from pfaff.bifurcation.machine_code.vectors import LANES, aligned
from pfaff.bifurcation.orbits.orbit_equations import Equations, InLoops
from pfaff.bifurcation.orbits.solving import condensation


class Workspace(NamedTuple):
    """Arrays that Newton steps fill: states at Gauss points, condensed equations, changes, and states at the mesh
    points, a column each, without and with their mirror images."""

    X: np.ndarray
    Z: np.ndarray
    ends: np.ndarray
    dx: np.ndarray
    dc: np.ndarray
    dK: np.ndarray
    once: np.ndarray
    both: np.ndarray
    lanes: np.ndarray  # intervals eliminated side by side
    stiff: np.ndarray  # groups of them whose elimination needs pivoting

    @classmethod
    def of(cls, N: int, m: int, equations: Equations) -> Workspace:
        (n, k), nr = equations.unfolding.shape, len(equations.rows)
        nb, size = 2 + k, m * nr
        width, groups = size + n + nb + 1, -(-N // LANES)
        shapes = (
            (n, N * m), (groups, size, n + nb + 1, LANES), (N, n, nb + 1), (2, N + 1, n), (2, nb), (N, m, nr),
            (n, N + 1), (n, 2 * N + 2), (size, width, LANES),
        )  # fmt: skip
        arrays = [aligned.py_func(int(np.prod(shape))).reshape(shape) for shape in shapes]
        return cls._make([*arrays, np.zeros(N, dtype=int)])

    @property
    def of_newton(self) -> tuple[np.ndarray, ...]:
        """The arrays that Newton's method needs."""
        return self.X, self.Z, self.ends, self.dx, self.dc, self.dK, self.lanes, self.stiff

    def columns(self, halved: bool) -> np.ndarray:
        """The array for the states at the mesh points."""
        return self.both if halved else self.once


class Loops(NamedTuple):
    """Arguments of compiled loops: f with its derivatives, and f with the pivots of its chart, by their addresses;
    states at the mesh points and f there; the rule and the states; a workspace; and how intervals are eliminated."""

    equations: InLoops
    rates: InLoops
    columns: np.ndarray
    f: np.ndarray
    rule: tuple[np.ndarray, ...]
    room: tuple[np.ndarray, ...]
    solver: tuple[tuple[float, int], np.ndarray]


def solver() -> tuple[tuple[float, int], np.ndarray]:
    """The limits of elimination in lanes, and LAPACK's routines beyond them."""
    return (condensation.GROWN, condensation.LARGE), lapack()
