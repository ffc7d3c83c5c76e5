"""What rounding leaves uncertain about eigenvalues: one notion for spectra, steady motions and branches.

Computed eigenvalues are exact for a matrix within ``STIFF`` ‖J‖ of J, so one that such a change can bring to the
imaginary axis is not known to grow. It can where J − s is singular to that distance, σ_min(J − s) ≤ ``STIFF`` ‖J‖, all
the way from the eigenvalue to the axis: the pseudospectrum, Trefethen and Embree, Spectra and Pseudospectra (2005),
Ch. 2. A defective pair on the axis splits by √ε and passes; a slow growth beside a stiff mode does not.
"""

from __future__ import annotations

import numpy as np

from pfaff.algebra.bordering import balanced
from pfaff.algebra.tolerances import GROWING, STIFF

WAY = np.array([0.0, 0.25, 0.5, 0.75])  # places between the axis and an eigenvalue


def axis_rounding(J: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each eigenvalue of J, the largest real part that may be rounding."""
    if not len(values):
        return np.zeros(0)
    matrix, _ = balanced(J)
    floor = STIFF * float(np.linalg.norm(matrix, 2))
    known = GROWING * np.abs(values) + floor
    for k in np.flatnonzero(values.real > known):
        between = WAY * values[k].real + 1j * values[k].imag
        distances = np.linalg.svd(matrix - between[:, None, None] * np.eye(len(J)), compute_uv=False)[:, -1]
        if distances.max() <= floor:
            known[k] = values[k].real
    return known
