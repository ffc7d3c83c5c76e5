"""Units in which rows and columns of a matrix are comparable, so that ranks mean something beside a stiff spring."""

from __future__ import annotations

import numpy as np

NOISE = 1e-5  # stiffness below this, relative to the largest, is not made larger than it is beside it


def row_units(rows: np.ndarray) -> np.ndarray:
    """Factors that make the largest entry of each row one; rows of zeros stay. Trailing axes are a batch."""
    largest = np.abs(rows).max(axis=tuple(range(1, rows.ndim)), initial=0.0)
    return 1 / np.where(largest, largest, 1.0)


def stiffness_units(K: np.ndarray) -> np.ndarray:
    """Units d of the coordinates: d_i K_ij d_j has rows and columns of like size, but for those that are rounding."""
    K = np.abs(K).max(axis=tuple(range(2, K.ndim)), initial=0.0)
    sizes = np.maximum(K.max(axis=0, initial=0.0), K.max(axis=1, initial=0.0))
    return 1 / np.sqrt(np.maximum(sizes, NOISE * sizes.max(initial=0.0)) if sizes.any() else np.ones(len(K)))
