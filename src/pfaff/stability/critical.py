"""Critical loads: the first flutter, divergence and buckling as a load grows from zero.

All loads at which stability can change are found at once where the small motions are linear in the load, stretch by
stretch along an equilibrium that bends, and each to rounding: see ``search``. No window of instability is skipped, and
how far the search goes does not change what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.tolerances import REAL, SAFE, turning
from pfaff.rest.outward import Outward
from pfaff.rest.path import LoadPath
from pfaff.stability.along import COUNTED, FARTHEST, checked_end, search_along
from pfaff.stability.critical_load import ALREADY, Cell, CriticalLoad, CriticalLoads
from pfaff.stability.intervals import Change
from pfaff.stability.locating import ONE
from pfaff.stability.natural_range import natural_range, rounded_up
from pfaff.stability.search import HIDES
from pfaff.stability.settled import doubt_of_modes

if TYPE_CHECKING:
    from pfaff.algebra.pencil import Pencil
    from pfaff.case import Case
    from pfaff.rest.small_motions import Linearisation

DIFFERENCE = 1e-5  # of the load, relative, for derivatives along a path


def critical_loads(case: Case, load: str, to: float | None, fixed: Mapping[str, float]) -> CriticalLoads:
    """Search [0, to]; without ``to``, as far as anything happens, up to where the load outweighs the stiffness."""
    search = LoadSearch(case, load, to, fixed)
    found = [search.first(kind) for kind in ("flutter", "divergence", "buckling")]
    reach = search.reach(*found)
    flutter, divergence, buckling = (replace(each, searched=(0.0, reach), fixed=dict(fixed)) for each in found)
    return CriticalLoads(flutter, divergence, buckling, search.cells(reach))


def critical_load(case: Case, load: str, kind: str, to: float | None, fixed: Mapping[str, float]) -> CriticalLoad:
    """The first load of one kind: the search goes no farther."""
    search = LoadSearch(case, load, to, fixed)
    found = search.first(kind)
    return replace(found, searched=(0.0, search.reach(found)), fixed=dict(fixed))


class LoadSearch:
    """Critical loads along the equilibrium that starts from zero load."""

    def __init__(self, case: Case, load: str, to: float | None, fixed: Mapping[str, float]) -> None:
        self.path = LoadPath(case, load, fixed)
        self.to = checked_end(to)
        self.natural = natural_range(self.path)
        self.along = search_along(Outward(self.path, 1.0), self.to, self.natural)

    def reach(self, *found: CriticalLoad) -> float:
        """The last load searched: as asked, or far enough to show all that was found."""
        if self.to is not None or self.along.to < FARTHEST * self.natural:
            return self.along.to  # farther away, rounding hides what is elastic
        farthest = max((float(each) for each in found if each), default=0.0)
        return self.natural if farthest <= self.natural else rounded_up(farthest)

    def cells(self, reach: float) -> tuple[Cell, ...]:
        loads, kinds = [], []
        for change in self.along.search.changes(before=reach):
            load = self.along.path.load(change.load)
            if load >= reach:
                break
            loads.append(load)
            kinds.append((change.oscillating, change.divergent))
        cells = (Cell(low, high, *kind) for low, high, kind in zip(loads, [*loads, reach][1:], kinds, strict=True))
        return tuple(cell for cell in cells if cell.high > cell.low * (1 + ONE))

    def first(self, kind: str) -> CriticalLoad:
        if kind == "buckling":
            return self._buckling()
        first = next((change for change in self.along.search.changes() if COUNTED[kind](change)), None)
        return self._absent(kind) if first is None else self._described(kind, first)

    def _buckling(self) -> CriticalLoad:
        search = self.along.search
        if _singular(search.pencil(0.0)) and len(search.pencil(0.0).J) == len(search.pencil(search.unit).J):
            return self._static(0.0, "the tangent stiffness is singular without load")
        for crossing in search.crossings("zero"):
            if not (crossing.sharp and 0 < crossing.load < search.to):
                continue
            rounding = search.rounding(crossing.load, 0j)
            if rounding < crossing.load:  # otherwise the stiffness is singular to rounding, here and elsewhere
                found = self._static(self.along.path.load(crossing.load), "the tangent stiffness is singular")
                return replace(found, rounding=max(rounding, float(np.spacing(crossing.load))))
        if not self.along.ended or self.path.boundless:
            return self._absent("buckling")
        how = "folds back" if self.along.to else "has no continuation: any load sets the system moving, or bends it"
        return replace(self._static(self.along.to, f"the equilibrium path {how}"), value=self.path.fold, about=None)

    def _absent(self, kind: str) -> CriticalLoad:
        member = ", ".join(f"{name} = {value:g}" for name, value in self.path.balance.fixed.items())
        how = (
            f"the equilibrium path {self.path.ending}"
            if self.along.ended
            else "no eigenvalue is seen to cross, as far as rounding shows"
        ) + (f"; equilibria with {member}" if member else "")
        return CriticalLoad(kind, self.path.load, None, None, None, None, (0.0, self.along.to), how, self.path.case)

    def _static(self, value: float, how: str) -> CriticalLoad:
        mode = self._mode(value, 0j)
        how += doubt_of_modes(self.path.case, mode)
        searched, about = (0.0, self.along.to), self.along.path.linearise(value)
        return CriticalLoad(
            "buckling", self.path.load, value, 0.0, 0j, mode, searched, how, self.path.case, about=about
        )

    def _described(self, kind: str, change: Change) -> CriticalLoad:
        value, crossing = self.along.path.load(change.load), change.crossing
        eigenvalue = self._eigenvalue(kind, change)
        crosses = crossing is not None and crossing.kind == "hopf"
        simple = value and (crosses or (crossing is None and kind == "flutter"))
        speed, rounding = self._crosses(change.load, eigenvalue, crosses) if simple else (0.0, 0.0)
        if not speed:
            rounding = self.along.search.rounding(change.load, eigenvalue) if value else 0.0
        mode = self._mode(value, eigenvalue)
        how = _how(kind, change, eigenvalue) if change.load else self._at_once(kind)
        return CriticalLoad(
            kind=kind,
            load=self.path.load,
            value=value,
            frequency=abs(eigenvalue.imag) if kind == "flutter" else 0.0,
            eigenvalue=eigenvalue,
            mode=mode,
            searched=(0.0, self.along.to),
            how=how + doubt_of_modes(self.path.case, mode),
            case=self.path.case,
            crossing_speed=speed if crosses else None,
            rounding=max(rounding, float(np.spacing(value))) if value else 0.0,
            about=self.along.path.linearise(value),
        )

    def _mode(self, value: float, eigenvalue: complex) -> dict[str, complex]:
        lin = self.along.path.linearise(value)
        shape = lin.mode(eigenvalue, _like(self.along.path, lin)).tolist()
        return dict(zip(self.path.case.system.coordinate_names, shape, strict=True))

    def _crosses(self, load: float, eigenvalue: complex, sharp: bool) -> tuple[float, float]:
        """How fast a simple pair crosses the axis, and how far rounding moves the load at which it does so or is seen
        to."""
        path, search = self.along.path, self.along.search
        here = path.linearise(load)
        like = _like(path, here)
        pencil = here.motions(like)
        modes = pencil.modes()
        nearest = int(np.abs(modes.values - eigenvalue).argmin())
        error = SAFE * pencil.growth_error(eigenvalue) if sharp else HIDES * modes.noise[0][nearest]
        if like is None or not search.predicts:
            speed = _crossing_speed(path, load, eigenvalue)
        else:
            lambda_, y, x = modes.values[nearest], modes.left[:, nearest].conj(), modes.vectors[:, nearest]
            change = (pencil.at(lambda_) - like.motions().at(lambda_)) / load
            speed = float(path.sign * (-(y @ change @ x) / (y @ pencil.slope(lambda_) @ x)).real)
        return speed, float(error / abs(speed)) if speed else np.inf

    def _at_once(self, kind: str) -> str:
        unloaded = next(self.along.search.changes())
        return ALREADY if COUNTED[kind](unloaded) else "as soon as there is a load"

    def _eigenvalue(self, kind: str, change: Change) -> complex:
        """The critical eigenvalue: that of the crossing, or of the mode that grows."""
        if change.crossing is not None:
            value = change.crossing.value
            return complex(np.emath.sqrt(value)) if self.along.search.squares else value
        values = self.along.search.pencil(change.load).eigenvalues()
        values = np.emath.sqrt(values).astype(complex) if self.along.search.squares else values
        turns = turning(values)
        wanted = values[turns & (values.imag > 0)] if kind == "flutter" else values[~turns]
        return complex(wanted[wanted.real.argmax()]) if len(wanted) else 0j


def _how(kind: str, change: Change, eigenvalue: complex) -> str:
    met = "" if change.crossing is None else change.crossing.kind
    if met == "zero":
        return "an eigenvalue passes through zero"
    if kind == "divergence":
        return "a growing oscillation turns into two growing exponentials"
    if met == "meeting" and eigenvalue.real > REAL * abs(eigenvalue):
        return "two growing exponentials merge into a growing oscillation"
    if met == "meeting":
        return "two frequencies meet and leave the imaginary axis"
    return "a pair of eigenvalues crosses the imaginary axis"


def _singular(pencil: Pencil) -> bool:
    modes = pencil.modes()
    return bool((np.abs(modes.values) <= modes.errors).any())


def _crossing_speed(path: Outward, distance: float, value: complex) -> float:
    """dRe λ/dF of a simple eigenvalue, from its left and right vectors and the change of the small motions."""
    here, step = path.linearise(distance), DIFFERENCE * distance
    before, after = (path.linearise(distance + side * step).motions(here) for side in (-1.0, 1.0))
    pencil = here.motions()
    left, _, right = np.linalg.svd(pencil.at(value))
    change = (after.at(value) - before.at(value)) / (2 * step)
    y, x = left[:, -1].conj(), right[-1].conj()
    return float(path.sign * (-(y @ change @ x) / (y @ pencil.slope(value) @ x)).real)


def _like(path: Outward, lin: Linearisation) -> Linearisation | None:
    """The small motions without load, if those under load have the same directions: these are known already."""
    start = path.linearise(0.0)
    return start if lin.moves_like(start) else None
