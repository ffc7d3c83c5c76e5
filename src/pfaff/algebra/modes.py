"""Eigenvalues with their vectors and errors, and how many of them grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pfaff.algebra.tolerances import NOISE, SAFE


class Growing(NamedTuple):
    """How many oscillations grow, how many exponentials, and of how many eigenvalues rounding hides what they do."""

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
        """The real parts up to which they may lie on the imaginary axis."""
        return 10 * NOISE * self.light * np.abs(self.values) + SAFE * self.growth_errors

    @property
    def noise(self) -> tuple[np.ndarray, np.ndarray]:
        """The real and the imaginary parts that may be rounding."""
        sizes = NOISE * np.abs(self.values)
        return self.light * sizes + SAFE * self.growth_errors, sizes + SAFE * self.errors
