"""Units in which rows and columns of a matrix are comparable, so that ranks mean something."""

from __future__ import annotations

import numpy as np


def row_units(rows: np.ndarray) -> np.ndarray:
    """Factors that make the largest entry of each row one; rows of zeros stay. Trailing axes are a batch."""
    largest = np.abs(rows).max(axis=tuple(range(1, rows.ndim)), initial=0.0)
    return 1 / np.where(largest, largest, 1.0)
