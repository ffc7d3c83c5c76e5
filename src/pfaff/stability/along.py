"""Searches along a path of equilibria: how far they go, in which units, and what is on the imaginary axis there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import merge
from itertools import pairwise

import numpy as np

from pfaff.algebra.pencil import Pencil
from pfaff.algebra.tolerances import turning
from pfaff.errors import ConvergenceError
from pfaff.rest.outward import Outward
from pfaff.rest.path import LoadPath
from pfaff.stability.intervals import Change
from pfaff.stability.locating import ONE
from pfaff.stability.natural_range import USUAL, rounded_up
from pfaff.stability.rigid import without_rigid_motions
from pfaff.stability.search import LARGE, Search
from pfaff.stability.stretches import Stretch, beside, straight, stretches
from pfaff.statement.values import end_from, number_within

SPREAD = 1e100  # largest ratio of a range to the least load that is looked for in it
WITHIN = 0.37  # end of the first stretch of a straight line, relative to the load that the softest spring bears
FARTHEST = 1e6  # end of a search of all loads, relative to the natural range
ALL = 1e16  # end of a search of all values of a parameter of which nothing is known, relative to a usual value
FORESEEN = 1e3  # farthest load at which the prediction by a straight line is believed, relative to the natural range
NEARBY = 1e-3  # loads from which a straight line is drawn, relative to a usual load
WIDER = 1.2  # margin on the load foreseen
ON_THE_WAY = (1.37e-3, 7.33e-3)  # usual loads at which it is checked whether anything is damped
IMAGINARY = 1e-3  # real parts below this, relative to the eigenvalue, may be on the axis where a search ended
COUNTED: dict[str, Callable[[Change], int]] = {
    "flutter": lambda change: change.oscillating,
    "divergence": lambda change: change.divergent,
}
DECADES = 1e3  # ratio of the ends of successive stretches of a straight line
STANDING = 1e-12  # least load, in usual loads, for a system whose constraints move it as soon as there is a load


@dataclass(frozen=True)
class Along:
    """A search along a path, parametrised by the distance from its origin."""

    search: Search
    path: Outward

    @property
    def ended(self) -> bool:
        """Whether the path was found to end before the search does."""
        return self.path.end is not None and self.path.end < self.search.to

    @property
    def to(self) -> float:
        """The last load of the search."""
        return self.path.load(self.path.end if self.ended and self.path.end is not None else self.search.to)


def search_along(path: Outward, to: float | None, natural: float) -> Along:
    """The search along a path to a distance ``to``; ``natural`` is its natural range.

    Without ``to`` all loads are searched if the motions are linear in the load; otherwise the natural range and, where
    that is not enough, as far as a straight line foresees flutter and divergence.
    """
    endless = to is None or isinstance(path.path, LoadPath)
    unit = natural / USUAL if endless or to is None else min(natural / USUAL, to)
    path = without_rigid_motions(path, unit)
    start = _start(path, unit)
    line = None if start else straight(beside(path, 0.0), unit, to=None if endless else to)
    if line is not None:
        return Along(_on_line(line, unit, to or FARTHEST * natural), path)
    ends = [natural if to is None else to]
    squares = _undamped(path.on_the_way(share, unit).motions() for share in ON_THE_WAY)
    seen = _squared if squares else lambda pencil: pencil

    def source() -> Iterator[Stretch]:
        # A load is followed in whole stretches, so that the end of a search does not change what is found before it.
        last = start
        for each in stretches(path, start, FARTHEST * natural if endless else ends[0], unit):
            yield each.of(seen)
            last = each.high
            if each.high >= ends[-1] and len(ends) == 1 and to is None and path.end is None:
                farther = _foreseen(beside(path, start), start, natural)
                ends.extend([farther] if farther > natural else [])
            if each.high >= ends[-1]:
                return
        if path.end is None:
            ends.append(last)  # loads beyond the last stretch are left out

    def small(distance: float) -> Pencil:
        return seen(path.linearise(distance).motions())

    return Along(Search(source, small, min(unit, path.end or np.inf), lambda: ends[-1], squares), path)


def search_line(path: Outward, usual: float) -> Along | None:
    """The search of all values of a parameter, if the small motions are linear in it; ``usual`` is one of them."""
    line = straight(beside(path, 0.0), usual)
    return None if line is None else Along(_on_line(line, usual, ALL * usual), path)


def _on_line(line: Stretch, unit: float, to: float) -> Search:
    """The search along a straight line, a few decades at a time, so that what is near is resolved as well as what is
    far.

    The last decades are searched whole, so that the end of a search does not change what is found before it.
    """
    squares = _undamped(line.pencils)
    whole = line.of(_squared) if squares else line
    softest = min(_least(line), unit)
    first = max(WITHIN * softest, to / SPREAD)
    ends = [first * DECADES**k for k in range(1 + max(0, math.ceil(math.log(to / first, DECADES))))]
    if len(whole.pencils[0].J) > LARGE:
        ends[-1] = to  # the samples of a large system are for what was asked

    def source() -> Iterator[Stretch]:
        return (replace(whole, low=low, high=high) for low, high in pairwise([line.low, *ends]))

    return Search(source, whole.pencil, softest, lambda: to, squares)


def _least(line: Stretch) -> float:
    """The load whose geometric stiffness is that of the softest spring, so that stiff springs do not hide soft ones."""
    (low, high), (soft, loaded) = line.nodes, (each.coefficients[0] for each in line.pencils)
    change = (loaded - soft) / (high - low)
    try:
        most = np.linalg.norm(np.linalg.solve(soft, change), 2) if len(soft) else 0.0
    except np.linalg.LinAlgError:
        most = 0.0
    return float(1 / most) if most and np.isfinite(most) else np.inf


def _undamped(pencils: Iterable[Pencil]) -> bool:
    """Whether the motions are M q̈ + K q = 0, so that λ² may replace λ."""
    return all(len(each.coefficients) == 3 and not each.coefficients[1].any() for each in pencils)


def _squared(pencil: Pencil) -> Pencil:
    (stiffness, _, mass), sizes = pencil.coefficients, pencil.made_of
    return Pencil((stiffness, mass), None if sizes is None else (sizes[0], sizes[2]))


def _start(path: Outward, unit: float) -> float:
    """Zero, or a small load where the constraints move the system as soon as there is one, so that it has more
    states."""
    if isinstance(path.path, LoadPath) and not any(path.path.balance.statics.demanding):
        return 0.0
    beside = STANDING * unit
    return 0.0 if len(path.linearise(0.0).motions().J) == len(path.linearise(beside).motions().J) else beside


def _foreseen(there: Callable[[float], Pencil], start: float, natural: float) -> float:
    """The natural range, or as far as a straight line through the first loads foresees flutter and divergence."""
    nodes = start, start + NEARBY * natural / USUAL
    try:
        pencils = there(nodes[0]), there(nodes[1])
    except ConvergenceError:
        return natural
    mass = pencils[0].coefficients[-1]  # kept: extrapolated, it would not stay positive
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
    return end_from("to", number_within("to", to, lambda x: x > 0, remedy))


def hopf_points(search: Search) -> Iterator[tuple[float, np.ndarray]]:
    """Loads at which pairs of eigenvalues cross the imaginary axis, in order, with the frequencies of all that do.

    Without damping the whole spectrum may lie there, and eigenvalues that meet leave it both ways: none crosses it.
    """
    if search.squares:
        return
    sharp = (each.load for each in search.crossings("hopf") if each.sharp)
    changes = (each.load for each in search.changes() if not _meet(each))
    last = 0.0
    for load in merge(sharp, changes):
        if load <= last * (1 + ONE):
            continue
        frequencies = search.crossing_frequencies(load)
        if len(frequencies):
            last = load
            yield load, frequencies


def _meet(change: Change) -> bool:
    return change.crossing is not None and change.crossing.kind == "meeting"


def frequencies_meet(search: Search) -> bool:
    """Whether stability changes where eigenvalues meet on the imaginary axis."""
    values = (each.crossing.value for each in search.changes() if each.crossing is not None and _meet(each))
    return search.squares or any(value.imag for value in values)


def imaginary_pairs(values: np.ndarray) -> np.ndarray:
    """The eigenvalues with positive imaginary part that lie on the imaginary axis, the nearest to it first."""
    near = np.abs(values.real) <= IMAGINARY * np.abs(values)
    upper = values[near & turning(values) & (values.imag > 0)]
    return upper[np.argsort(np.abs(upper.real / upper.imag))]
