"""Dissipation that feeds energy in: Rayleigh's function D is negative along velocities that the constraints allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pfaff.statement.evaluation import evaluated

if TYPE_CHECKING:
    from pfaff.rest.small_motions import Linearisation

NEGLIGIBLE = 1e-9  # negative eigenvalues of D below this, relative to the largest, are rounding


def fed_along(lin: Linearisation) -> str:
    """The coordinate along whose velocity D is negative at a linearisation, or empty where D takes energy out."""
    system, s, n = lin.system, lin.system.statement, len(lin.q)
    if system.rods or s.dissipation == 0:
        return ""
    unit = lin.inertial.unit * np.eye(n)
    i, j = np.triu_indices(n)
    pairs = np.column_stack([np.zeros(n), unit, unit[:, i] + unit[:, j]])
    known = dict(zip((*system.parameters, *s.q, s.time), (*lin.numbers, *lin.q, 0.0), strict=True))
    D = np.broadcast_to(evaluated([s.dissipation], known | dict(zip(s.v, pairs, strict=True)))[0], 1 + n + len(i))
    at_rest, single, both = D[0], D[1 : 1 + n], D[1 + n :]
    H = np.zeros((n, n))  # D = vᵀ H v/2, where it is quadratic
    H[i, j] = H[j, i] = both - single[i] - single[j] + at_rest
    N = np.linalg.svd(lin.inertial.A)[2][np.linalg.matrix_rank(lin.inertial.A) :].T if len(lin.A) else np.eye(n)
    values, vectors = np.linalg.eigh(N.T @ H @ N)
    if not values.size or not values[0] < -NEGLIGIBLE * np.abs(values).max():
        return ""
    return system.coordinate_names[int(np.abs(N @ vectors[:, 0]).argmax())]
