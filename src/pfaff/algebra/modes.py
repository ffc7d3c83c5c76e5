"""Eigenvalues with their vectors and errors, and how many of them grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pfaff.algebra.tolerances import NOISE, SAFE


class Growing(NamedTuple):
    """Numbers of growing oscillations, of growing exponentials, and of eigenvalues about which rounding leaves it
    open."""

    oscillating: int
    divergent: int
    hidden: int


@dataclass(frozen=True)
class Modes:
    """Eigenvalues, their right and left vectors column by column, and how far rounding may have moved each.

    Growth rates of lightly damped oscillations have smaller errors than frequencies, as ``light`` is smaller than one.
    """

    values: np.ndarray
    vectors: np.ndarray
    left: np.ndarray
    errors: np.ndarray
    growth_errors: np.ndarray
    light: np.ndarray

    @property
    def on_axis(self) -> np.ndarray:
        """The real part up to which each eigenvalue may lie on the imaginary axis."""
        return 10 * NOISE * self.light * np.abs(self.values) + SAFE * self.growth_errors

    @property
    def noise(self) -> tuple[np.ndarray, np.ndarray]:
        """The real and the imaginary part, for each eigenvalue, that may be rounding."""
        sizes = NOISE * np.abs(self.values)
        return self.light * sizes + SAFE * self.growth_errors, sizes + SAFE * self.errors
