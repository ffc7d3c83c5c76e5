"""Critical loads by a dense scan of the load: is every cell of stability what the eigenvalues say it is?"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cross.rests import Counts, Rests

SCANNED = 161  # loads
SHARP = 1e-9  # distance from an edge, relative to the interval, at which both sides must be of their kinds
GROWING = 1e-7  # rate, relative to the spectrum, that NumPy's eigenvalues show without doubt


@dataclass(frozen=True, eq=False)
class Cells:
    """The rests from zero load to another, in the old words."""

    motions: Rests
    start: np.ndarray
    to: float

    @cached_property
    def loads(self) -> np.ndarray:
        return np.linspace(0.0, self.to, SCANNED)

    @cached_property
    def path(self) -> list[np.ndarray]:
        return self.motions.along(self.start, self.loads)

    def rest(self, load: float) -> np.ndarray:
        """From the nearest load that was scanned: a short way."""
        near = min(int(np.abs(self.loads - load).argmin()), len(self.path) - 1)
        return self.motions.along(self.path[near], np.array([self.loads[near], load]))[-1]

    def roughly(self, z: np.ndarray, load: float) -> Counts:
        values = self.motions.eigenvalues(z, load)
        size = np.abs(values).max()
        growing = values[values.real > GROWING * size]
        turning = np.abs(growing.imag) > GROWING * size
        return int(turning.sum()) // 2, int((~turning).sum())

    def exactly(self, load: float) -> Counts:
        return self.motions.growing(self.rest(load), load)

    def agree(self, found: Any, unit: float = 1.0, time: float = 1.0) -> None:
        """Cells, edges and loads of a search whose loads are these divided by a unit, and whose times are, too."""
        cells = [(cell.low * unit, cell.high * unit, (cell.oscillating, cell.divergent)) for cell in found.cells]
        reach = cells[-1][1]
        self._reaches(reach)
        for load, z in zip(self.loads[1:], self.path[1:], strict=False):
            (said,) = [counts for low, high, counts in cells if low <= load < high] or [None]
            near = min(abs(load - edge) for low, high, _ in cells for edge in (low, high)) < SHARP * self.to
            if said is not None and not near and said != self.roughly(z, load):
                assert said == self.exactly(load), f"at {load}"
        for (low, edge, before), (_, high, after) in itertools.pairwise(cells):
            if before != after and min(edge - low, high - edge) > 4 * SHARP * self.to:
                assert self.exactly(edge - SHARP * self.to) == before, f"below {edge}"
                assert self.exactly(edge + SHARP * self.to) == after, f"above {edge}"
        self._first(found, cells, unit)
        self._crosses(found.flutter, unit, time)
        self._buckles(found.buckling, unit)

    def _reaches(self, reach: float) -> None:
        """A path that ends does so for all, where its stiffness turns singular."""
        last = self.loads[len(self.path) - 1]
        step = self.loads[1]
        if reach < self.to * (1 - 1e-9):
            assert last <= reach * (1 + 1e-6), f"ends at {reach}, not {last}"
            assert reach < last + step * (1 + 1e-6), f"ends at {reach}, not {last}"
        else:
            assert len(self.path) == len(self.loads), f"the path ends at {last}"

    def _first(self, found: Any, cells: list[tuple[float, float, Counts]], unit: float) -> None:
        for kind, place in (("flutter", 0), ("divergence", 1)):
            lows = [low for low, _, counts in cells if counts[place]]
            value = getattr(found, kind).value
            assert (value is None) == (not lows), kind
            if lows:
                assert value * unit == lows[0], kind

    def _crosses(self, flutter: Any, unit: float, time: float) -> None:
        """Frequency and crossing speed of a pair that passes the imaginary axis."""
        if flutter.crossing_speed is None:
            return
        load, step, pair = flutter.value * unit, 1e-6 * self.to, 1j * flutter.frequency / time
        low, here, high = (
            complex(min(self.motions.exact_eigenvalues(self.rest(x), x), key=lambda value: abs(value - pair)))
            for x in (load - step, load, load + step)
        )
        assert abs(here - pair) < 1e-9 * abs(pair), "frequency"
        slope = ((high - low) / (2 * step)).real
        assert abs(flutter.crossing_speed / unit / time - slope) < 1e-6 * abs(high - low) / step, "crossing speed"

    def _buckles(self, buckling: Any, unit: float) -> None:
        """Where the determinant of the tangent stiffness first changes sign, and nowhere else but at folds."""
        signs = [self.motions.stiffness_sign(z, load) for load, z in zip(self.loads, self.path, strict=False)]
        changes = [k for k in range(1, len(signs)) if signs[k] * signs[k - 1] < 0]
        if buckling.value is None or "folds back" in buckling.how:
            assert not changes, f"the stiffness turns singular at {[self.loads[k] for k in changes]}"
        else:
            value = buckling.value * unit
            below, above = (self._sign(value + side * SHARP * self.to) for side in (-1, 1))
            assert below * above < 0, f"nothing turns singular at {value}"
            assert not changes or value < self.loads[changes[0]], f"it does so before {self.loads[changes[0]]} already"

    def _sign(self, load: float) -> float:
        return self.motions.stiffness_sign(self.rest(load), load)
