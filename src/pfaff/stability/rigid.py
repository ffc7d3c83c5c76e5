"""Rigid motions that are free under every load, as of a structure that floats: they are left out of a search.

Along them K z = 0 at all loads. The zero eigenvalues this implies, two for each motion that nothing damps, would meet
every other eigenvalue that passes zero, and rounding would split them by its square root, or let them grow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pfaff.rest.outward import Outward
from pfaff.rest.path import LoadPath

LOADED = (0.137, 0.733)  # usual loads under which a motion must be free as well


class Held(Outward):
    """A path parametrised by the distance from its origin, whose small motions exclude some rigid ones."""

    def __init__(self, path: Outward, free: np.ndarray) -> None:
        super().__init__(path.path, path.sign)
        self._free, self._held = free, dict[float, Any]()

    def linearise(self, distance: float) -> Any:
        if distance not in self._held:
            self._held[distance] = replace(super().linearise(distance), free=self._free)
        return self._held[distance]


def without_rigid_motions(path: Outward, unit: float) -> Outward:
    """The path without the rigid motions that are free at all loads; ``unit`` is a usual load."""
    if not isinstance(path.path, LoadPath):
        return path
    free = path.linearise(0.0).rigid
    for share in LOADED:
        if not free.shape[1]:
            return path
        free = path.on_the_way(share, unit).unresisted(free)
    return Held(path, free) if free.shape[1] else path
