"""Inertia of the velocities that constraints allow: a mass matrix may be singular alone, and regular on these.

What counts is M on the kernel of A: four coordinates of a quaternion have the inertia of three rotations, and its
length, which has none, is held by a constraint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.algebra.tolerances import EPS, RANK, rank
from pfaff.algebra.units import row_units


class Allowed(NamedTuple):
    """The least inertia among velocities that are allowed, beside the largest, and the coordinate that moves most
    then."""

    least: float
    along: int

    def lacks(self, least: float) -> bool:
        """Whether an allowed velocity has no inertia, or a negative one."""
        return not self.least > least


def allowed_inertia(M: np.ndarray, A: np.ndarray) -> Allowed:
    """The least inertia on the kernel of A, in units in which inertias of coordinates are one."""
    d = kinetic_units(M, A)
    scaled, rows = M * d[:, None] * d, A * d
    sizes = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    free = np.eye(len(M))
    if len(rows):
        _, values, right = np.linalg.svd(rows / np.where(sizes > 0, sizes, 1.0))
        free = right[rank(values) :].T
    if not free.shape[1]:
        return Allowed(np.inf, 0)
    inertia, directions = np.linalg.eigh(free.T @ scaled @ free)
    largest = max(np.abs(np.linalg.eigvalsh(scaled)).max(), np.finfo(float).tiny)
    return Allowed(float(inertia[0] / largest), int(np.abs(free @ directions[:, 0]).argmax()))


def nearly_dependent(M: np.ndarray, A: np.ndarray) -> list[int]:
    """Rows, counted from one, that are so nearly dependent that their own rounding decides what they allow.

    If each entry of A changes by its share ε, velocities n that it allows change by |A⁺| |A| |n| ε (Higham, Accuracy
    and Stability of Numerical Algorithms (2002), § 20.1), here in units in which inertias are one: neither units nor
    masses far apart decide. The bound is 1/``RANK``, which leaves six digits.
    """
    if len(A) < 2:
        return []
    rows = A * kinetic_units(M, A)
    rows = rows * row_units(rows)[:, None]
    left, values, right = np.linalg.svd(rows)
    if len(values) < len(A) or not values[0]:
        return []
    back = right[: len(A)].T / np.maximum(values, EPS**2 * values[0]) @ left.T
    reached = np.abs(rows) @ np.abs(right[len(A) :].T)
    moved = np.abs(back) @ reached
    if not moved.max(initial=0.0) > 1 / RANK:
        return []
    i, k = np.unravel_index(moved.argmax(), moved.shape)
    shares = np.abs(back[i]) * reached[:, k]
    return [int(row) + 1 for row in np.flatnonzero(shares > 0.1 * shares.max())]


def kinetic_units(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Units in which inertias of coordinates are one; for one without inertia, those in which its constraints move it
    as far as the others."""
    inertia = np.diag(M)
    heavy = inertia > 0
    d = 1 / np.sqrt(np.where(heavy, inertia, 1.0))
    for j in np.flatnonzero(~heavy):
        rows = np.flatnonzero(A[:, j])
        others = (np.abs(A[rows]) * d)[:, heavy].max(axis=1, initial=0.0)
        moved = (others / np.abs(A[rows, j]))[others > 0]
        d[j] = moved.max() if len(moved) else 1.0
    return d


def penalised(M: np.ndarray, A: np.ndarray, usual: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """M + AᵀS A and the diagonal of S: regular wherever all velocities that A allows have inertia.

    S makes both terms of like size, by the ``usual`` inertias of the coordinates; without them it is zero. The first
    axes may count states.
    """
    if usual is None or not A.shape[-2]:
        return M, np.zeros(A.shape[:-1])
    moved = (A * A / usual).sum(axis=-1)
    mean = (np.diagonal(M, axis1=-2, axis2=-1) / usual).mean(axis=-1)[..., None]
    S = np.where(moved > 0, mean / np.where(moved > 0, moved, 1.0), 0.0)
    return M + np.swapaxes(A, -1, -2) @ (S[..., None] * A), S
