"""The part of the small motions that may change stability on a stretch: an invariant subspace, followed between nodes.

Pairs cross the imaginary axis among the few eigenvalues that are near it. Where these keep away from all others, the
directions of their modes span a subspace that changes smoothly with the load, and J on it is as good a polynomial as J
itself, but much smaller (Stewart and Sun, Matrix Perturbation Theory, 1990, Ch. V).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

AWAY = 4.0  # distance from the axis, relative to its change on a stretch, beyond which nothing can have reached it
PARTED = 1.5  # ratio of distances from the axis beyond which eigenvalues are separated
MANY = 10  # least number of states for which a part pays
TURNED = 1e6  # condition number of the directions at one node in those of another, beyond which they are not followed

Distance = Callable[[np.ndarray], np.ndarray]


def from_axis(values: np.ndarray) -> np.ndarray:
    return np.abs(values.real)


def from_growth(values: np.ndarray) -> np.ndarray:
    """The distance of decaying eigenvalues from the axis; zero for those that grow."""
    return np.maximum(-values.real, 0.0)


def near(matrices: list[np.ndarray], distance: Distance) -> list[np.ndarray]:
    """The matrices at the nodes of a stretch on the subspace of eigenvalues whose distance may vanish between them.

    The matrices are returned as they are where these eigenvalues cannot be told from others, or are most of them.
    """
    if len(matrices[0]) < MANY:
        return matrices
    systems = [np.linalg.eig(each) for each in matrices]
    orders = [np.argsort(distance(values), kind="stable") for values, _ in systems]
    sizes = np.array([distance(values)[order] for (values, _), order in zip(systems, orders, strict=True)])
    inside = _inside(sizes)
    if inside is None:
        return matrices
    values = [values[order[:inside]] for (values, _), order in zip(systems, orders, strict=True)]
    vectors = [vectors[:, order[:inside]] for (_, vectors), order in zip(systems, orders, strict=True)]
    return _in_one_basis(values, vectors, np.linalg.inv(systems[1][1])[orders[1][:inside]]) or matrices


def _inside(sizes: np.ndarray) -> int | None:
    """How many of the eigenvalues, sorted at every node, may reach the axis; None if no gap separates them from
    others."""
    for count in range(2, sizes.shape[1] // 2 + 1):
        before, after = sizes[:, count - 1], sizes[:, count]
        if after.min() > PARTED * before.max() and after.min() > AWAY * np.ptp(after):
            return count
    return None


def _in_one_basis(values: list[np.ndarray], vectors: list[np.ndarray], left: np.ndarray) -> list[np.ndarray] | None:
    """Real matrices with these eigenvalues, in directions measured by the ``left`` vectors of the middle node."""
    count = len(left)
    measured = np.linalg.svd(np.vstack([left.real, left.imag]), full_matrices=False)[2][:count]
    found = []
    for lambda_, each in zip(values, vectors, strict=True):
        seen = measured @ each
        if np.linalg.cond(seen) > TURNED:
            return None
        found.append(np.linalg.solve(seen.T, (seen * lambda_).T).T.real)
    return found
