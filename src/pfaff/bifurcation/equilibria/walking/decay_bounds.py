"""Eigenvalues that are not watched: whether all of them stay left of the imaginary axis in a step.

They are those of a matrix M, and lie left of −e as long as H = −(M + Mᵀ)/2 − e is positive definite (Bendixson 1902),
in units in which their distances from the axis are alike. If H is so at both ends of a step, and on its tangents there
up to the other end, then so is Hermite's cubic between them, since positive definite matrices form a convex cone.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.eigenvalues import UNSURE, WILD
from pfaff.bifurcation.machine_code.addresses import cholesky
from pfaff.bifurcation.machine_code.linking import called

ASIDE = 0.5  # share of the first one's distance from the imaginary axis that all must keep


@called
def room_left(frame, M, share, room):
    """H of the last columns of a matrix, with this share of e: 1, or 0 for a derivative."""
    p, n = frame.many[0], len(frame.values)
    edge = ASIDE * abs(frame.values[p].real) * share
    for i in range(n - p):
        for j in range(i + 1):
            weight = np.sqrt(frame.values[p + i].real * frame.values[p + j].real)
            room[i, j] = -((M[i, p + j] + M[j, p + i]) / 2 + (edge if i == j else 0.0)) / weight


@called
def definite(routines, H, change, length, doubt, rows):
    """Whether H, moved by a length along its change, is positive definite beyond doubt."""
    there = np.empty((rows, rows))
    for i in range(rows):
        for j in range(i + 1):
            there[i, j] = H[i, j] + length * change[i, j]
        there[i, i] -= doubt
    return cholesky(routines, there)


@called
def covers(routines, frame, room, step):
    """Whether all unwatched eigenvalues stay to the left in a step, by ``room`` at both ends."""
    rows, wrong, sums = len(frame.values) - frame.many[0], 0.0, np.zeros((2, len(frame.values)))
    for i in range(rows):
        for j in range(i + 1):
            rise, fall = step * room[0, 1, i, j], step * room[1, 1, i, j]
            error, bow = abs(room[1, 0, i, j] - room[0, 0, i, j] - (rise + fall) / 2), abs(fall - rise) / 8
            sums[0, i], sums[1, i] = sums[0, i] + error, sums[1, i] + bow
            if i != j:
                sums[0, j], sums[1, j] = sums[0, j] + error, sums[1, j] + bow
    for i in range(rows):
        wrong = max(wrong, sums[0, i])
        if not (sums[0, i] <= WILD and sums[1, i] <= WILD):
            return False
    for side in range(2):
        for length in (0.0, step if side == 0 else -step):
            if not definite(routines, room[side, 0], room[side, 1], length, UNSURE * wrong, rows):
                return False
    return True
