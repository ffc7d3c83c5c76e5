"""Numbers drawn at random, the same in every run: few of them, so that NumPy's generators would cost their import."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np


class Draws:
    """Draws from a seed on."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def uniform(self, least: float, most: float, *shape: int) -> np.ndarray:
        """An array of numbers between two; without a shape, a single one."""
        drawn = [self._random.uniform(least, most) for _ in range(prod(shape))]
        return np.array(drawn).reshape(shape)
