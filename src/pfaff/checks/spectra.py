"""Spectra: eigenvalues of the linearised flow about the motion that the constraints prescribe, by differences of it.

Along q + v t the accelerations a(q, q̇, t) of the equations as stated are differentiated by central differences, in all
coordinates and velocities. Small motions that obey the constraints are among those of δq̈ = ∂a/∂q δq + ∂a/∂q̇ δq̇, so that
every eigenvalue λ of theirs makes this pencil singular.

How far differences are to be trusted is told by differences of other steps. What they leave open is no error of an
eigenvalue, and no growth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pfaff.checks.check import Check, unmade

ASIDE = (1e-4, 1e-5, 1e-6, 1e-7)  # steps of differences, relative to the sizes of coordinates and velocities
KNOWN_BEST = 1e-9  # least singular value of J − λ, relative to J, where differences agree to rounding
DOUBTED = 10.0  # times what differences of other steps tell, where that is more: how far J may be off
MATCHED = 1e-2  # distance of an eigenvalue that grows from the one that was told, relative to it
MANY = 40  # coordinates up to which differences are cheap
TELLING = 1e-3  # bound, relative to J, beyond which differences tell nothing

BELONG = "eigenvalues are those of the linearised flow about the motion that the constraints prescribe"
COMPLETE = "no growing motion is left out"
CRITICAL = "the linearised flow about the motion that the constraints prescribe is critical at this load"
LONG = f"differences in more than {MANY} coordinates take long"
BESIDE = "accelerations are not finite beside it"
UNSETTLED = "differences of accelerations do not settle"

REMEDY = "do not rely on them; compare them with case.simulate from near the motion"

Accelerations = Callable[[np.ndarray, np.ndarray], np.ndarray]  # at coordinates and velocities, a column each


def belonging(
    accelerations: Accelerations, q: np.ndarray, v: np.ndarray, units: np.ndarray, values: np.ndarray
) -> list[Check]:
    """Check that eigenvalues are those of the flow about q + v t; ``units`` are those of the coordinates."""
    rate = float(np.abs(values).max(initial=0.0))
    if not len(values):
        return []
    if len(q) > MANY or not rate:
        return unmade(LONG if rate else "there is no rate to measure differences by", BELONG, COMPLETE)
    J, doubt = linearised(accelerations, q, v, units, rate)
    if not np.isfinite(J).all():
        return unmade(BESIDE, BELONG, COMPLETE)
    size = float(np.linalg.norm(J, 2))
    bound = _known(doubt / size)
    if not bound < TELLING:
        return unmade(UNSETTLED, BELONG, COMPLETE)
    found = np.linalg.eigvals(J)
    growing = np.array([each for each in found if each.real > 0 and _regular(J, 1j * each.imag) > bound * size])
    return [
        Check(
            BELONG,
            max(_regular(J, value) for value in values) / size,
            bound,
            REMEDY,
        ),
        Check(COMPLETE, _missed(growing, values), MATCHED, REMEDY),
    ]


def _known(doubt: float) -> float:
    """How well J is known, relative to it."""
    return max(KNOWN_BEST, DOUBTED * doubt)


def _regular(J: np.ndarray, value: complex) -> float:
    """How far J − λ is from singular: how much J has to change for λ to be an eigenvalue."""
    return float(np.linalg.svd(J - value * np.eye(len(J)), compute_uv=False)[-1])


def _missed(growing: np.ndarray, values: np.ndarray) -> float:
    """How far growing eigenvalues are from those that were told, one for each, relative to them."""
    if not len(growing):
        return 0.0
    if len(growing) > len(values):
        return np.inf
    apart = np.abs(growing[:, None] - values) / np.abs(growing)[:, None]
    nearest = apart.argmin(axis=1)
    if len(np.unique(nearest)) == len(nearest):
        return float(apart[np.arange(len(nearest)), nearest].max())
    from scipy.optimize import linear_sum_assignment  # takes a third of a second to import

    return float(apart[linear_sum_assignment(apart)].max())


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
        return unmade(LONG if mode.any() else "no coordinate moves in the mode", CRITICAL)
    rate = abs(value) or 1.0
    (J, doubt), (beside, more) = (
        linearised(each, q, speeds, units, rate) for each, speeds in ((accelerations, v), unloaded)
    )
    if not (np.isfinite(J).all() and np.isfinite(beside).all()):
        return unmade(BESIDE, CRITICAL)
    if value:
        size = float(np.linalg.norm(J, 2))
        off, bound = _regular(J, value) / size, _known(doubt / size)
    else:
        stiffness, usual = (each[len(q) :, : len(q)] for each in (J, beside))
        size = float(max(np.linalg.norm(each, 2) for each in (stiffness, usual))) or 1.0
        bound = _known(max(doubt, more) / size)
        rigid, push = _rigid(usual, bound * size), stiffness @ (mode / units)
        off = float(np.linalg.norm(push - rigid @ (rigid.T @ push)) / np.linalg.norm(mode / units)) / size
    if not bound < TELLING:
        return unmade(UNSETTLED, CRITICAL)
    return [Check(CRITICAL, off, bound, "do not rely on this load; compare spectra on both sides of it")]


def _rigid(stiffness: np.ndarray, zero: float) -> np.ndarray:
    """An orthonormal basis of the directions that nothing resists: being pushed along them is not being resisted."""
    _, sizes, right = np.linalg.svd(stiffness)
    return right[sizes <= zero].T


def linearised(
    accelerations: Accelerations, q: np.ndarray, v: np.ndarray, units: np.ndarray, rate: float
) -> tuple[np.ndarray, float]:
    """The first-order form of the small motions, in units of coordinates and of a rate, and how far it may be off."""
    n, usual = len(q), units / units.max() + np.abs(q)
    slopes, doubts = (
        each * np.tile(units, 2) / units[:, None] / np.repeat([rate, 1.0], n)
        for each in _slopes(accelerations, q, v, usual, rate * usual + np.abs(v))
    )
    J = np.block([[np.zeros((n, n)), rate * np.eye(n)], [slopes]])
    return J, float(np.linalg.norm(doubts))


def _slopes(
    accelerations: Accelerations, q: np.ndarray, v: np.ndarray, by_q: np.ndarray, by_v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """∂a/∂(q, q̇) by central differences, of several steps for each column the one whose neighbour agrees best, and
    how far this differs."""
    n, sizes = len(q), np.concatenate([by_q, by_v])
    found = []
    for aside in ASIDE:
        steps = np.diag(aside * sizes)
        ahead, behind = (accelerations(q[:, None] + s * steps[:n], v[:, None] + s * steps[n:]) for s in (1, -1))
        found.append((ahead - behind) / (2 * aside * sizes))
    changes, columns = np.abs(np.diff(found, axis=0)), np.arange(2 * n)
    largest = changes.max(axis=1)
    best = np.argmin(np.where(np.isfinite(largest), largest, np.inf), axis=0)
    return np.array(found)[best + 1, :, columns].T, changes[best, :, columns].T
