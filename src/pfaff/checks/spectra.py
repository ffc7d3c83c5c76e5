"""Spectra: eigenvalues of the linearised flow about the motion that the constraints prescribe, by differences of it.

Along q + v t the accelerations a(q, q̇, t) of the equations as stated are differentiated by central differences, in all
coordinates and velocities. Small motions that obey the constraints are among those of δq̈ = ∂a/∂q δq + ∂a/∂q̇ δq̇, so that
every eigenvalue λ of theirs makes this pencil singular.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pfaff.checks.check import Check

ASIDE = (1e-4, 1e-5, 1e-6, 1e-7)  # steps of differences, relative to the sizes of coordinates and velocities
SINGULAR = 1e-5  # least singular value of J − λ, relative to J: differences are good to about 1e-9
GROWS = 1e-2  # growth, relative to the largest eigenvalue, beyond what differences make of defective zeros
MATCHED = 1e-2  # distance of an eigenvalue that grows from the nearest that was told, relative to it
MANY = 40  # coordinates up to which differences are cheap

REMEDY = "do not rely on them; compare them with case.simulate from near the motion"

Accelerations = Callable[[np.ndarray, np.ndarray], np.ndarray]  # at coordinates and velocities, a column each


def belonging(
    accelerations: Accelerations, q: np.ndarray, v: np.ndarray, units: np.ndarray, values: np.ndarray
) -> list[Check]:
    """Check that eigenvalues are those of the flow about q + v t; ``units`` are those of the coordinates."""
    rate = float(np.abs(values).max(initial=0.0))
    if not len(values) or len(q) > MANY or not rate:
        return []
    J = linearised(accelerations, q, v, units, rate)
    if not np.isfinite(J).all():
        return []  # a singular configuration is next to this one
    size = np.linalg.norm(J, 2)
    off = [np.linalg.svd(J - value * np.eye(len(J)), compute_uv=False)[-1] for value in distinct(values)]
    found = np.linalg.eigvals(J)
    growing = found[found.real > GROWS * rate]
    missed = [np.abs(values - value).min() / abs(value) for value in growing]
    return [
        Check(
            "eigenvalues are those of the linearised flow about the motion that the constraints prescribe",
            float(max(off) / size),
            SINGULAR,
            REMEDY,
        ),
        Check("no growing motion is left out", float(max(missed, default=0.0)), MATCHED, REMEDY),
    ]


def critical(
    accelerations: Accelerations,
    q: np.ndarray,
    v: np.ndarray,
    units: np.ndarray,
    value: complex,
    mode: np.ndarray,
    unloaded: tuple[Accelerations, np.ndarray],
) -> list[Check]:
    """Check that a motion q + v t is critical: with the eigenvalue, or, if that is zero, with a mode that nothing
    resists.

    ``unloaded`` are accelerations and velocities under a smaller load, which tell what stiffnesses are usual.
    """
    if len(q) > MANY or not mode.any():
        return []
    rate = abs(value) or 1.0
    J, beside = linearised(accelerations, q, v, units, rate), linearised(unloaded[0], q, unloaded[1], units, rate)
    if not (np.isfinite(J).all() and np.isfinite(beside).all()):
        return []
    if value:
        off = np.linalg.svd(J - value * np.eye(len(J)), compute_uv=False)[-1] / np.linalg.norm(J, 2)
    else:
        stiffness, usual = (each[len(q) :, : len(q)] for each in (J, beside))
        size = max(np.linalg.norm(each, 2) for each in (stiffness, usual)) * np.linalg.norm(mode / units)
        push = stiffness @ (mode / units)
        off = np.linalg.norm(push - _rigid(usual) @ (_rigid(usual).T @ push)) / (size or 1.0)
    return [
        Check(
            "the linearised flow about the motion that the constraints prescribe is critical at this load",
            float(off),
            SINGULAR,
            "do not rely on this load; compare spectra on both sides of it",
        )
    ]


def _rigid(stiffness: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the directions that nothing resists: being pushed along them is not being resisted."""
    _, sizes, right = np.linalg.svd(stiffness)
    return right[sizes <= SINGULAR * sizes[0]].T


def distinct(values: np.ndarray) -> np.ndarray:
    """One of each pair of conjugate eigenvalues."""
    return values[values.imag >= 0]


def linearised(
    accelerations: Accelerations, q: np.ndarray, v: np.ndarray, units: np.ndarray, rate: float
) -> np.ndarray:
    """The first-order form of the small motions, in units of coordinates and of a rate."""
    n, usual = len(q), units / units.max() + np.abs(q)
    slopes = _slopes(accelerations, q, v, usual, rate * usual + np.abs(v))
    J = np.zeros((2 * n, 2 * n))
    J[:n, n:] = rate * np.eye(n)
    J[n:, :n] = slopes[:, :n] * units / units[:, None] / rate
    J[n:, n:] = slopes[:, n:] * units / units[:, None]
    return J


def _slopes(
    accelerations: Accelerations, q: np.ndarray, v: np.ndarray, by_q: np.ndarray, by_v: np.ndarray
) -> np.ndarray:
    """∂a/∂(q, q̇) by central differences: of several steps, for each column the one whose neighbour agrees best."""
    n, sizes = len(q), np.concatenate([by_q, by_v])
    found = []
    for aside in ASIDE:
        steps = np.diag(aside * sizes)
        ahead, behind = (accelerations(q[:, None] + s * steps[:n], v[:, None] + s * steps[n:]) for s in (1, -1))
        found.append((ahead - behind) / (2 * aside * sizes))
    changes = np.abs(np.diff(found, axis=0)).max(axis=1)
    best = np.nanargmin(np.where(np.isfinite(changes), changes, np.inf), axis=0) + 1
    return np.array(found)[best, :, np.arange(2 * n)].T
