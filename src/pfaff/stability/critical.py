"""Critical loads: the first flutter, divergence and buckling as a load grows from zero.

All loads at which stability can change are found at once where the small motions are linear in the load, stretch by
stretch along an equilibrium that bends, and each to rounding: see ``search``. No window of instability is skipped, and
how far the search goes does not change what it finds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import merge
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.pencil import SAFE, Pencil
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.rest.path import LoadPath, Outward
from pfaff.stability.search import ONE, Change, Search
from pfaff.stability.stretches import Stretch, beside, straight, stretches
from pfaff.statement.expressions import constant
from pfaff.statement.values import number_within, shown

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.rest.small_motions import Linearisation

STIFFENED = 1e-14  # change of the stiffness, relative, that is more than rounding
WITHIN = 0.37  # of the load that the softest spring bears, where the first stretch of a straight line ends
FARTHEST = 1e6  # times the natural range of loads, where a search of all loads ends
FORESEEN = 1e3  # times the natural range of loads, where what a straight line predicts is still believed
USUAL = 4.0  # natural ranges are so many times a usual load
NEARBY = 1e-3  # usual loads, from which a straight line is drawn
WIDER = 1.2  # times what is foreseen
ON_THE_WAY = (1.37e-3, 7.33e-3)  # usual loads at which it is seen whether anything is damped, and how heavily
NOTED = 1e-9  # uncertainty of a load, relative, that is said
IMAGINARY = 1e-3  # real parts below this, relative to the eigenvalue, may be on the axis where a search ended
TURNING = 1e-6  # imaginary parts above this, relative to the eigenvalue, are no rounding
COUNTED: dict[str, Callable[[Change], int]] = {
    "flutter": lambda change: change.oscillating,
    "divergence": lambda change: change.divergent,
}
DECADES = 1e3  # how much farther a stretch of a straight line goes than the one before it
BEYOND_ALL = 1e100  # a load to which nothing is searched: products of it are not finite
STANDING = 1e-12  # usual loads, where a system is looked at whose constraints move it as soon as there is a load
DIFFERENCE = 1e-5  # of the load, relative, for derivatives along a path


@dataclass(frozen=True)
class CriticalLoad:
    """The first load of a kind, or the honest absence of one in the interval searched.

    ``frequency`` is the angular frequency of the critical mode, zero where it does not oscillate;
    ``mode`` its amplitudes by coordinate; ``crossing_speed`` the derivative of its growth rate by the load
    where a simple pair crosses the imaginary axis, and ``rounding`` how far rounding may have moved the load.
    """

    kind: str
    load: str
    value: float | None
    frequency: float | None
    eigenvalue: complex | None
    mode: Mapping[str, complex] | None
    searched: tuple[float, float]
    how: str
    case: Case
    crossing_speed: float | None = None
    rounding: float = 0.0
    modes: int | None = None  # of a rod that settled the load, and by how much the last ones changed it, relatively
    change: float | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.status}>"

    def __bool__(self) -> bool:
        return self.value is not None

    def __float__(self) -> float:
        if self.value is None:
            raise ParameterError(f"there is no {self.kind} load up to {self.load} = {self.searched[1]:g}")
        return float(self.value)

    @property
    def status(self) -> str:
        if self.value is None:
            return f"no {self.kind} up to {self.load} = {self.searched[1]:g} ({self.how})"
        if self.rounding <= NOTED * abs(self.value):
            return f"{self.kind} at {self.load} = {self.value:.12g}: {self.how}"
        digits = max(1, math.ceil(-math.log10(self.rounding / abs(self.value)))) if self.value else 1
        return (
            f"{self.kind} near {self.load} = {self.value:.{digits}g}, known to ±{self.rounding:.1g} because of "
            f"rounding: {self.how}"
        )

    def plot(self) -> Any:
        from pfaff.draw.spectrum import draw_spectrum_path

        return draw_spectrum_path(self.case, self.load, self.searched[1])


@dataclass(frozen=True)
class Cell:
    """An interval of loads in which the kind of stability does not change."""

    low: float
    high: float
    oscillating: int
    divergent: int

    @property
    def kind(self) -> str:
        if self.oscillating and self.divergent:
            return "flutter and divergence"
        return "flutter" if self.oscillating else "divergence" if self.divergent else "stable"


@dataclass(frozen=True)
class CriticalLoads:
    """Flutter, divergence and buckling of one search, and the cells of stability between the loads found."""

    flutter: CriticalLoad
    divergence: CriticalLoad
    buckling: CriticalLoad
    cells: tuple[Cell, ...]

    @property
    def status(self) -> str:
        return "; ".join(each.status for each in (self.flutter, self.divergence, self.buckling))

    def plot(self) -> Any:
        return self.flutter.plot()


def critical_loads(case: Case, load: str, to: float | None, fixed: Mapping[str, float]) -> CriticalLoads:
    """Search [0, to]; without ``to``, as far as anything happens, and up to where the load outweighs the stiffness."""
    search = LoadSearch(case, load, to, fixed)
    found = [search.first(kind) for kind in ("flutter", "divergence", "buckling")]
    reach = search.reach(*found)
    flutter, divergence, buckling = (replace(each, searched=(0.0, reach)) for each in found)
    return CriticalLoads(flutter, divergence, buckling, search.cells(reach))


def critical_load(case: Case, load: str, kind: str, to: float | None, fixed: Mapping[str, float]) -> CriticalLoad:
    """The first load of one kind: the search goes no farther."""
    search = LoadSearch(case, load, to, fixed)
    found = search.first(kind)
    return replace(found, searched=(0.0, search.reach(found)))


class LoadSearch:
    """Critical loads along the equilibrium that starts from zero load."""

    def __init__(self, case: Case, load: str, to: float | None, fixed: Mapping[str, float]) -> None:
        self.path = LoadPath(case, load, fixed)
        self.to = checked_end(to)
        self.natural = natural_range(self.path)
        self.along = search_along(Outward(self.path, 1.0), self.to, self.natural)

    def reach(self, *found: CriticalLoad) -> float:
        """How far was searched: as asked, or what shows all that was found."""
        if self.to is not None or self.along.to < FARTHEST * self.natural:
            return self.along.to  # beyond that, rounding hides what is elastic
        farthest = max((float(each) for each in found if each), default=0.0)
        return self.natural if farthest <= self.natural else rounded_up(farthest)

    def cells(self, reach: float) -> tuple[Cell, ...]:
        loads, kinds = [], []
        for change in self.along.search.changes():
            load = self.along.path.load(change.load)
            if load >= reach:
                break
            loads.append(load)
            kinds.append((change.oscillating, change.divergent))
        cells = (Cell(low, high, *kind) for low, high, kind in zip(loads, [*loads[1:], reach], kinds, strict=True))
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
            if rounding < crossing.load:  # or the stiffness is singular but for rounding, here and elsewhere
                found = self._static(self.along.path.load(crossing.load), "the tangent stiffness is singular")
                return replace(found, rounding=max(rounding, float(np.spacing(crossing.load))))
        if not self.along.ended or self.path.boundless:
            return self._absent("buckling")
        return replace(self._static(self.along.to, "the equilibrium path folds back"), value=self.path.fold)

    def _absent(self, kind: str) -> CriticalLoad:
        member = ", ".join(f"{name} = {value:g}" for name, value in self.path.balance.fixed.items())
        how = (
            f"the equilibrium path {self.path.ending}"
            if self.along.ended
            else "no eigenvalue is seen to cross, as far as rounding shows"
        ) + (f"; equilibria with {member}" if member else "")
        return CriticalLoad(kind, self.path.load, None, None, None, None, (0.0, self.along.to), how, self.path.case)

    def _static(self, value: float, how: str) -> CriticalLoad:
        mode = _mode(self.path, value, 0j)
        return CriticalLoad("buckling", self.path.load, value, 0.0, 0j, mode, (0.0, self.along.to), how, self.path.case)

    def _described(self, kind: str, change: Change) -> CriticalLoad:
        value, crossing = self.along.path.load(change.load), change.crossing
        eigenvalue = self._eigenvalue(kind, change)
        crosses = crossing is not None and crossing.kind == "hopf"
        simple = crosses or (crossing is None and kind == "flutter" and value)
        speed = self._speed(change.load, eigenvalue) if simple else None
        if speed:
            rounding = _uncertainty(self.path, value, eigenvalue, speed, sharp=crosses)
        else:
            rounding = self.along.search.rounding(change.load, eigenvalue) if value else 0.0
        return CriticalLoad(
            kind=kind,
            load=self.path.load,
            value=value,
            frequency=abs(eigenvalue.imag) if kind == "flutter" else 0.0,
            eigenvalue=eigenvalue,
            mode=_mode(self.path, value, eigenvalue),
            searched=(0.0, self.along.to),
            how=_how(kind, change, eigenvalue) if change.load else self._at_once(kind),
            case=self.path.case,
            crossing_speed=speed if crosses else None,
            rounding=max(rounding, float(np.spacing(value))),
        )

    def _speed(self, load: float, eigenvalue: complex) -> float:
        """How fast a simple pair crosses the axis."""
        if self.along.search.predicts and not self.along.search.squares:
            return self.along.path.sign * self.along.search.rate(load, eigenvalue).real
        return _crossing_speed(self.path, self.along.path.load(load), eigenvalue)

    def _at_once(self, kind: str) -> str:
        unloaded = next(self.along.search.changes())
        return "already at zero load" if COUNTED[kind](unloaded) else "as soon as there is a load"

    def _eigenvalue(self, kind: str, change: Change) -> complex:
        """The critical eigenvalue: that of the crossing, or of what grows."""
        if change.crossing is not None:
            value = change.crossing.value
            return complex(np.emath.sqrt(value)) if self.along.search.squares else value
        values = self.along.search.pencil(change.load).eigenvalues()
        values = np.emath.sqrt(values).astype(complex) if self.along.search.squares else values
        turning = np.abs(values.imag) > TURNING * np.abs(values)
        wanted = values[turning & (values.imag > 0)] if kind == "flutter" else values[~turning]
        return complex(wanted[wanted.real.argmax()]) if len(wanted) else 0j


def _how(kind: str, change: Change, eigenvalue: complex) -> str:
    met = "" if change.crossing is None else change.crossing.kind
    if met == "zero":
        return "an eigenvalue passes through zero"
    if kind == "divergence":
        return "a growing oscillation turns into two growing exponentials"
    if met == "meeting" and eigenvalue.real > TURNING * abs(eigenvalue):
        return "two growing exponentials merge into a growing oscillation"
    if met == "meeting":
        return "two frequencies meet and leave the imaginary axis"
    return "a pair of eigenvalues crosses the imaginary axis"


@dataclass(frozen=True)
class Along:
    """A search along a path, by the distance from its origin."""

    search: Search
    path: Outward

    @property
    def ended(self) -> bool:
        """Whether the path has been found to end before the search does."""
        return self.path.end is not None and self.path.end < self.search.to

    @property
    def to(self) -> float:
        """The last load."""
        return self.path.load(self.path.end if self.ended and self.path.end is not None else self.search.to)


def search_along(path: Outward, to: float | None, natural: float) -> Along:
    """The search along a path to a distance ``to``; ``natural`` is its natural range.

    Without ``to`` all loads are searched if the motions are linear in the load; otherwise the natural range and, where
    that is not enough, as far as a straight line foresees flutter and divergence.
    """
    unit = natural / USUAL if to is None else min(natural / USUAL, to)
    start = _start(path, unit)
    line = None if start else straight(beside(path, 0.0), unit, to=None if isinstance(path.path, LoadPath) else to)
    if line is not None:
        return Along(_on_line(line, unit, to or FARTHEST * natural), path)
    ends = [natural if to is None else to]
    probed = [path.linearise(share * min(unit, path.end or np.inf)).motions() for share in ON_THE_WAY]
    squares, turn = _undamped(probed), probed[-1].turn
    seen = _squared if squares else lambda pencil: pencil.turned(turn)

    def source() -> Iterator[Stretch]:
        yield from (each.of(seen) for each in stretches(path, start, ends[0], unit))
        farther = 0.0 if to is not None or path.end is not None else _foreseen(beside(path, start), start, natural)
        if farther > natural:
            ends.append(farther)
            yield from (each.of(seen) for each in stretches(path, natural, farther, unit))

    def small(distance: float) -> Pencil:
        return seen(path.linearise(distance).motions())

    return Along(Search(source, small, unit, lambda: ends[-1], squares), path)


def _on_line(line: Stretch, unit: float, to: float) -> Search:
    """Along a straight line, a few decades at a time, so that what is near is resolved as well as what is far."""
    squares = _undamped(line.pencils)
    turn = line.pencils[-1].turn
    whole = line.of(_squared) if squares else line.of(lambda pencil: pencil.turned(turn))
    softest = min(_least(line), unit)
    first = min(WITHIN * softest, to)
    ends = [first * DECADES**k for k in range(1 + math.ceil(math.log(to / first, DECADES)))]

    def source() -> Iterator[Stretch]:
        return (replace(whole, low=low, high=min(high, to)) for low, high in pairwise([line.low, *ends[:-1], to]))

    return Search(source, whole.pencil, min(softest, to), lambda: to, squares)


def _least(line: Stretch) -> float:
    """The load whose geometric stiffness is that of the softest spring: what is stiff does not hide what is not."""
    (low, high), (soft, loaded) = line.nodes, (each.coefficients[0] for each in line.pencils)
    change = (loaded - soft) / (high - low)
    try:
        most = np.linalg.norm(np.linalg.solve(soft, change), 2) if len(soft) else 0.0
    except np.linalg.LinAlgError:
        most = 0.0
    return float(1 / most) if most and np.isfinite(most) else np.inf


def _undamped(pencils: Iterable[Pencil]) -> bool:
    """Whether the motions are M q̈ + K q = 0, so that λ² may stand for λ."""
    return all(len(each.coefficients) == 3 and not each.coefficients[1].any() for each in pencils)


def _squared(pencil: Pencil) -> Pencil:
    stiffness, _, mass = pencil.coefficients
    return Pencil((stiffness, mass))


def _start(path: Outward, unit: float) -> float:
    """Zero; a little more where the constraints move the system as soon as there is a load, and it has more states."""
    if isinstance(path.path, LoadPath) and not any(path.path.balance.statics.demanding):
        return 0.0
    beside = STANDING * unit
    return 0.0 if len(path.linearise(0.0).motions().J) == len(path.linearise(beside).motions().J) else beside


def _foreseen(there: Callable[[float], Pencil], start: float, natural: float) -> float:
    """The natural range, or as far as flutter and divergence are foreseen by a straight line from the first loads."""
    nodes = start, start + NEARBY * natural / USUAL
    try:
        pencils = there(nodes[0]), there(nodes[1])
    except ConvergenceError:
        return natural
    mass = pencils[0].coefficients[-1]  # stays: drawn out, it would not stay positive
    line = Stretch(start, np.inf, nodes, pencils, there, exact=True).of(
        lambda pencil: Pencil((*pencil.coefficients[:-1], mass))
    )
    search = _on_line(line, natural / USUAL, FORESEEN * natural)
    first = [next((each.load for each in search.changes() if count(each)), 0.0) for count in COUNTED.values()]
    return max(natural, rounded_up(WIDER * max(first)))


def checked_end(to: float | None) -> float | None:
    if to is None:
        return None
    remedy = "the load is searched from zero to a positive finite value"
    number = constant(to, f"to={to[:40]}: {remedy}") if isinstance(to, str) else to
    end = number_within("to", number, lambda x: x > 0, remedy)
    if end > BEYOND_ALL:
        raise ParameterError(f"to={shown(to)} is more than {BEYOND_ALL:g}: give a nearer end, or use other units")
    return end


def natural_range(path: LoadPath) -> float:
    """Four times the load at which geometric stiffness equals elastic stiffness, rounded up to 1, 2 or 5.

    Where the load stiffens nothing, but moves the equilibrium, that at which the matrices have changed with it.
    """
    start = path.linearise(0.0)
    inner = _stiffness(start, start)
    for probe in (1.0, 1e-3, 1e-6):
        try:
            change = _stiffness(path.linearise(probe), start) - inner
        except ConvergenceError:
            continue
        size, more = np.linalg.norm(inner, 2), np.linalg.norm(change, 2) / probe
        if more * probe > STIFFENED * size > 0:  # less is rounding: a speed, say, that stiffens nothing
            return rounded_up(float(USUAL * size / more))
        moved = path.moved(probe) / probe
        if moved and np.isfinite(path.large):
            return rounded_up(USUAL * path.large / moved)
    return 200.0


def _stiffness(lin: Linearisation, like: Linearisation) -> np.ndarray:
    """On the velocities that the constraints allow, in the directions of another place on the path."""
    lin, like = lin.inertial, like.inertial
    N = like.kernel if lin.moves_like(like) else lin.kernel @ (lin.kernel.T @ like.kernel)
    return N.T @ lin.stiffness @ N


def rounded_up(load: float) -> float:
    """To 1, 2 or 5 times a power of ten."""
    if not load:
        return 0.0
    decade = 10.0 ** np.floor(np.log10(load))
    return float(next(decade * digit for digit in (1, 2, 5, 10) if decade * digit >= load))


def hopf_points(search: Search) -> Iterator[tuple[float, np.ndarray]]:
    """Loads at which pairs of eigenvalues cross the imaginary axis, in order, with the frequencies of all that do.

    Without damping the whole spectrum may lie there: that is no such point, and none is found.
    """
    if search.squares:
        return
    sharp = (each.load for each in search.crossings("hopf") if each.sharp)
    last = 0.0
    for load in merge(sharp, (each.load for each in search.changes())):
        if load <= last * (1 + ONE):
            continue
        frequencies = search.crossing_frequencies(load)
        if len(frequencies):
            last = load
            yield load, frequencies


def imaginary_pairs(values: np.ndarray) -> np.ndarray:
    """The eigenvalues with positive imaginary part that lie on the imaginary axis, the nearest to it first."""
    near = np.abs(values.real) <= IMAGINARY * np.abs(values)
    upper = values[near & (values.imag > TURNING * np.abs(values))]
    return upper[np.argsort(np.abs(upper.real / upper.imag))]


def _singular(pencil: Pencil) -> bool:
    modes = pencil.modes()
    return bool((np.abs(modes.values) <= modes.errors).any())


def _crossing_speed(path: LoadPath, load: float, value: complex) -> float:
    """dRe λ/dF of a simple eigenvalue, from its left and right vectors and the change of the small motions."""
    here, step = path.linearise(load), DIFFERENCE * load
    before, after = (path.linearise(load + side * step).motions(here) for side in (-1.0, 1.0))
    pencil = here.motions()
    left, _, right = np.linalg.svd(pencil.at(value))
    change = (after.at(value) - before.at(value)) / (2 * step)
    y, x = left[:, -1].conj(), right[-1].conj()
    return float((-(y @ change @ x) / (y @ pencil.slope(value) @ x)).real)


def _uncertainty(path: LoadPath, load: float, value: complex, speed: float, sharp: bool) -> float:
    """How far rounding moves the load at which an eigenvalue reaches the axis with this speed, or is seen to cross."""
    modes = path.linearise(load).motions().modes()
    nearest = np.abs(modes.values - value).argmin()
    return float((SAFE * modes.growth_errors[nearest] if sharp else modes.noise[0][nearest]) / abs(speed))


def _mode(path: LoadPath, load: float, eigenvalue: complex) -> dict[str, complex]:
    """The amplitudes by coordinate, scaled so that the largest is one: the null vector of the pencil."""
    lin = path.linearise(load)
    n = len(lin.M)
    if eigenvalue == 0 or not lin.B.any():
        N = lin.kernel
        pencil = N.T @ (lin.M * eigenvalue**2 + lin.C * eigenvalue + lin.stiffness) @ N
        mode = N @ np.linalg.svd(pencil)[2][-1].conj() if N.shape[1] else np.zeros(n, dtype=complex)
    else:
        mode = np.linalg.svd(lin.pencil(eigenvalue))[2][-1][:n].conj()
    mode = mode / (mode[np.abs(mode).argmax()] or 1.0)
    return dict(zip(path.case.system.coordinate_names, (complex(x) for x in mode), strict=True))
