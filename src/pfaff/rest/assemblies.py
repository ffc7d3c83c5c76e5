"""The equilibrium of an assembly followed as its load grows, with its sparse matrices at any load on the way."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pfaff.errors import ConvergenceError, RankError
from pfaff.flow.assembly import Assembly, Rest
from pfaff.flow.sparse_pencil import SparseLinearisation
from pfaff.rest import protocol
from pfaff.threads import cached_property

FARTHEST = 0.3  # largest change of any coordinate in one step of load, relative to all
SHORTEST = 1e-12  # step of load, relative to it
STEP = 1e-5  # step of the differences with respect to the load, relative to it
REPRODUCED = 1e-14  # relative error of entries up to which interpolation reproduces them
INSIDE = 0.3819  # where between its ends an interpolation is tested
REMEMBERED = 8  # sets of assembled matrices


class AssemblyPath:
    """The equilibrium at zero load, continued to any load in steps that cannot jump.

    ``end`` is the load beyond which no continuation exists, once one has been met.
    """

    def __init__(self, assembly: Assembly, start: Any, fixed: Sequence[int]) -> None:
        self.assembly = assembly
        origin = assembly.equilibrium(0.0, start, fixed)
        self.selection = assembly.selection(origin.q, fixed)
        self.end: float | None = None
        self._known: dict[float, np.ndarray] = {0.0: _unknowns(origin)}
        self._loads = [0.0]
        self._linear: dict[float, SparseLinearisation] = {}
        self._chord: Chord | None = None

    @property
    def affine(self) -> bool:
        """Whether all matrices are known to be affine in the load."""
        return self._chord is not None

    @cached_property
    def probe(self) -> float:
        """A load that the equilibrium can reach, of no particular size."""
        for load in (1.0, 1e-3, 1e-6):
            try:
                self.rest(load)
                return load
            except (ConvergenceError, RankError):
                self.end = None
        raise ConvergenceError(
            f"the equilibrium of {self.assembly.name} cannot be continued from {self.assembly.load} = 0: "
            "support the assembly, fix other coordinates or give another start"
        )

    def reachable(self, to: float) -> float:
        try:
            self.rest(to)
        except ConvergenceError:
            return float(self.end or 0.0)
        return to

    def rest(self, load: float) -> np.ndarray:
        """(q, p) at this load."""
        if load in self._known:
            return self._known[load]
        here, tired = protocol.walk(self._nearest(load)[0], load, self._take, SHORTEST)
        if here == load:
            return self._known[load]
        self.end = here
        name, where = self.assembly.name, f"{self.assembly.load} = {here:.12g}"
        if tired:
            raise ConvergenceError(
                f"the equilibrium of {name} cannot be followed beyond {where} in {protocol.STEPS} steps on its way to "
                f"{load:g}: ask for a smaller load, or give a start nearer to it"
            )
        raise ConvergenceError(f"the equilibrium of {name} ends at {where}: it has no continuation to {load:g}")

    def _take(self, here: float, ahead: float) -> bool:
        z = self._attempt(here, ahead)
        if z is not None:
            self._known[ahead] = z
            insort(self._loads, ahead)
        return z is not None

    def linearise(self, load: float) -> SparseLinearisation:
        return self.assembled(load) if self._chord is None else self._chord.at(load)

    def assembled(self, load: float) -> SparseLinearisation:
        if load not in self._linear:
            z, n = self.rest(load), self.assembly.size
            if len(self._linear) >= REMEMBERED:
                self._linear.pop(next(iter(self._linear)))
            self._linear[load] = self.assembly.linearise(load, Rest(load, z[:n], z[n:], 0.0, 0))
        return self._linear[load]

    def straighten(self, to: float) -> None:
        """Interpolate the matrices from now on if they are affine in the load between zero and ``to``."""
        chord = Chord(self.assembled(0.0), self.assembled(to), to)
        if chord.agrees(self.assembled(INSIDE * to), INSIDE * to):
            self._chord = chord

    def bent(self, load: float) -> bool:
        """Whether interpolated matrices are wrong at this load; they are assembled from then on."""
        if self._chord is None or self._chord.agrees(self.assembled(load), load):
            return False
        self._chord = None
        return True

    def slope(self, load: float) -> SparseLinearisation:
        """The derivative of all matrices with respect to the load along the path; by central differences if not
        affine."""
        if self._chord is not None:
            return self._chord.slope
        h = STEP * (abs(load) or 1.0)
        below, above = self.linearise(load - h), self.linearise(load + h)
        data = {name: (above.data[name] - below.data[name]) / (2 * h) for name in above.data}
        return replace(above, data=data)

    def _attempt(self, here: float, ahead: float) -> np.ndarray | None:
        nearest = self._nearest(ahead)[0]
        known = self._known[nearest]
        z = self.corrected(known + self.tangent(known, nearest, ahead - nearest) * (ahead - nearest), ahead)
        if z is None:
            return None
        n, before = self.assembly.size, self._known[here]
        return z if np.abs(z[:n] - before[:n]).max() <= FARTHEST * self.size(before, here) else None

    def corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        """The equilibrium that Newton's method reaches."""
        try:
            return _unknowns(self.assembly.settle(load, z, self.selection))
        except (ConvergenceError, RankError):
            return None

    def tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        """dz/dload from the nearest known states; zero at the first one."""
        others = [known for known in self._nearest(load + span) if known != load]
        return sum(((self._known[b] - z) / (b - load) for b in others), np.zeros_like(z))

    def size(self, z: np.ndarray, load: float) -> float:
        """What counts as a large movement: the configuration itself."""
        return float(1 + np.abs(z[: self.assembly.size]).max())

    def _nearest(self, load: float) -> list[float]:
        place = bisect(self._loads, load)
        around = self._loads[max(place - 2, 0) : place + 2]
        return sorted(around, key=lambda known: abs(known - load))[:2]


class Chord:
    """Matrices that are affine in the load, as they are where the configuration does not change with it."""

    def __init__(self, origin: SparseLinearisation, end: SparseLinearisation, load: float) -> None:
        self.origin = origin
        self.slope = replace(end, data={k: (end.data[k] - origin.data[k]) / load for k in end.data})

    def at(self, load: float) -> SparseLinearisation:
        data = {
            k: value if k in self._constant else value + load * self.slope.data[k]
            for k, value in self.origin.data.items()
        }
        return replace(self.origin, data=data)

    def agrees(self, lin: SparseLinearisation, load: float) -> bool:
        mine = self.at(load).data
        return all(
            np.abs(mine[k] - lin.data[k]).max(initial=0.0) <= REPRODUCED * np.abs(mine[k]).max(initial=0.0)
            for k in mine
        )

    @cached_property
    def _constant(self) -> set[str]:
        return {k for k, value in self.slope.data.items() if not value.any()}


def _unknowns(rest: Rest) -> np.ndarray:
    return np.concatenate([rest.q, rest.p])
