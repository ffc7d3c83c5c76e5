"""Eigenvalues of many scales, those of each scale to their own digits.

Where heavy damping or large loads part the eigenvalues of a pencil by many decades, those of each decade are taken from
a first-order form in units of its own, in which they are of order one: none costs the others their digits. Two forms
are enough for fewer decades: the inverse has the small eigenvalues to as many digits as the form itself has the large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.polynomials import by_modulus, closed, companion
from pfaff.algebra.tolerances import STIFF
from pfaff.errors import ConvergenceError

if TYPE_CHECKING:
    from pfaff.algebra.pencil import Pencil

BOTH = 1e-12  # ratio of moduli beyond which the two ends do not meet with all their digits
APART = 1e-7  # ratio of moduli beyond which eigenvalues are taken scale by scale
SCALE = 10.0  # ratio of neighbouring moduli beyond which they belong to different scales
PASSES, STEADY = 5, 1e-3  # passes until the scales settle; their relative change by then


def by_scales(pencil: Pencil) -> np.ndarray:
    """All eigenvalues of a pencil, from one form or from one for each of their scales."""
    values = pencil.plain
    if not values.any() or abs(values[0]) > APART * abs(values[-1]):
        return values
    both = _from_both_ends(pencil, values)
    if both is not None:
        return both
    found, known = values, dict[float, np.ndarray]()
    for _ in range(PASSES):  # scales of their first estimates may be wrong, and part pairs
        before, found = found, _again(pencil, found, known)
        if not np.isfinite(found).all():
            return values
        if _steady(found, before):
            break
    return found if closed(found) else values


def _from_both_ends(pencil: Pencil, values: np.ndarray) -> np.ndarray | None:
    """The eigenvalues, smaller ones as inverses of those of the inverse; None if that does not settle them."""
    try:
        inverse = pencil.reversed.plain[::-1]
    except (np.linalg.LinAlgError, ConvergenceError):
        return None
    if not abs(values[-1] * inverse[0]) < 1 / BOTH:
        return None
    small = np.abs(inverse) ** 2 * abs(values[-1]) > abs(inverse[0])
    found = np.where(small, 1 / inverse, values)
    return found if _steady(found, values) else None


def _steady(found: np.ndarray, before: np.ndarray) -> bool:
    """Whether complex values come in pairs, and moduli have hardly changed."""
    return closed(found) and bool((np.abs(np.abs(found) - np.abs(before)) <= STEADY * np.abs(found)).all())


def _again(pencil: Pencil, values: np.ndarray, known: dict[float, np.ndarray]) -> np.ndarray:
    """The eigenvalues again, those of each scale from a form in its own unit, which has as many below and above it.

    Scales are powers of two; forms already ``known`` at one of them are not computed again.
    """
    sizes = np.maximum(np.abs(values), STIFF * abs(values[-1]) * STIFF)
    groups = np.split(np.arange(len(values)), 1 + np.flatnonzero(sizes[1:] > SCALE * sizes[:-1]))
    parts = []
    for group in groups:
        size = float(np.exp2(np.round(np.log2(sizes[group]).mean())))
        if size not in known:
            known[size] = _at_scale(pencil, size)
        parts.append(known[size][group])
    return by_modulus(np.concatenate(parts))


def _at_scale(pencil: Pencil, size: float) -> np.ndarray:
    """All eigenvalues from the first-order form in which those of this modulus are of order one."""
    from scipy.linalg import eigvals

    *lower, last = pencil.scaled(pencil.units(size)).of_modulus(size)
    inertia = np.eye(len(lower) * len(last))
    inertia[-len(last) :, -len(last) :] = last
    with np.errstate(all="ignore"):
        first_order = companion(-np.concatenate(lower, axis=1))
        return by_modulus(size * eigvals(first_order, inertia, check_finite=False))
