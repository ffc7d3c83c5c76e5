"""Units in which rows and columns of a matrix are comparable, so that ranks mean something beside a stiff spring.

Those of the inertia come first: in them a small stiffness is a slow motion, whatever coordinates are measured in.
Trailing axes of matrices are a batch, each of whose members has units of its own.
"""

from __future__ import annotations

import numpy as np

SOFT = 1e-5  # stiffness below this, relative to the largest where inertias are one, stays smaller than others


def row_units(rows: np.ndarray) -> np.ndarray:
    """Factors that make the largest entry of each row one; rows of zeros stay."""
    largest = np.maximum.reduce(np.abs(rows), axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    return 1 / largest


def inertial_units(M: np.ndarray) -> np.ndarray:
    """Units d of the coordinates in which inertias d_i² M_ii are about one: powers of two, which round nothing."""
    inertia = np.moveaxis(M.diagonal(), -1, 0) if M.ndim > 2 else M.diagonal()
    known = (inertia > 0) & (inertia < np.inf)
    return np.exp2(-np.rint(np.log2(np.where(known, inertia, 1.0)) / 2))


def stiffness_units(K: np.ndarray, inertial: np.ndarray) -> np.ndarray:
    """Units d of the coordinates: d_i K_ij d_j has rows and columns of like size, but for those that are rounding.

    What is rounding is judged in the units of the inertia.
    """
    d = inertial
    K = np.abs(K) * d[:, None] * d
    sizes = np.maximum(*(np.maximum.reduce(K, axis=axis, initial=0.0) for axis in (0, 1)))
    sizes = np.maximum(sizes, SOFT * np.maximum.reduce(sizes, axis=0, initial=0.0))
    sizes[sizes == 0.0] = 1.0
    return d / np.sqrt(sizes)
