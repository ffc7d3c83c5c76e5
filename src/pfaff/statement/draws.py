"""Random numbers, the same in every run: few of them, so that importing NumPy's generators would not pay."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np


class Draws:
    """A generator of numbers from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def uniform(self, least: float, most: float, *shape: int) -> np.ndarray:
        """An array of numbers between two; without a shape, a single one."""
        drawn = [self._random.uniform(least, most) for _ in range(prod(shape))]
        return np.array(drawn).reshape(shape)
