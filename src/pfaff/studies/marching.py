"""Many points that march along their loads, stretch by stretch, each as far as its own search needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pfaff.kernels import many_polynomials
from pfaff.studies.along_loads import Distances, Tested, at_loads, nodes_of, probed, settled
from pfaff.studies.frames import RESOLVED, Frame

ROUNDS = 16  # stretches, longer or shorter than the first
SHORTEST = 1 / 64  # of the first stretch
ONE = 1e-8  # relative distance of equilibria below which they are one
PAST = 1e-4  # how far behind a root that is not sought the search goes on, relative to the stretch
ASIDE = 1e-6  # share of the first stretch at which it is seen whether a path that begins singular begins stable
NOWHERE, FOUND, UNRESOLVED = 0, 1, 2  # results of ``first_roots``; the third is a function without a sign


@dataclass
class Stretch:
    """One stretch of the points that still march: their numbers, its place for each, and what was seen there."""

    points: np.ndarray
    low: np.ndarray
    length: np.ndarray
    seen: Tested
    nodes: int

    def first(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether a test function vanishes, and the place in [−1, 1] where it first does."""
        kind, place = np.empty(values.shape[1], dtype=np.int64), np.empty(values.shape[1])
        many_polynomials.first_roots(np.ascontiguousarray(values), nodes_of(self.nodes)[1], RESOLVED, kind, place)
        return np.where(self.seen.followed, kind, UNRESOLVED), place

    def left(self, values: np.ndarray) -> np.ndarray:
        """The sign of a function where the stretch begins."""
        series = nodes_of(self.nodes)[1] @ values
        return np.sign(series[::2].sum(axis=0) - series[1::2].sum(axis=0))

    def distances(self, place: np.ndarray) -> np.ndarray:
        return self.low + self.length * (1 + place) / 2

    def equilibria(self, place: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Equilibria at places among nodes, by linear interpolation: Newton's method does the rest."""
        nodes = nodes_of(self.nodes)[0]
        k = np.clip(np.searchsorted(nodes, place[which]), 1, len(nodes) - 1)
        share = np.clip((place[which] - nodes[k - 1]) / (nodes[k] - nodes[k - 1]), -1.0, 2.0)
        points = np.flatnonzero(which)
        return (1 - share) * self.seen.x[:, k - 1, points] + share * self.seen.x[:, k, points]


class March:
    """All points of a batch on their way. ``absent`` are those that reached the last load and found nothing."""

    def __init__(self, frame: Frame, parameters: np.ndarray) -> None:
        N = parameters.shape[1]
        self.frame, self.parameters = frame, parameters
        self.begins = np.full(N, frame.origin) if frame.origin is not None else parameters[frame.index].copy()
        self.start, good = beginnings(frame, at_loads(frame, parameters, self.begins))
        self._near = self.start.copy()  # equilibria near the beginning of the next stretch
        self.absent = np.zeros(N, dtype=bool)
        self._low, self._length = np.zeros(N), np.full(N, frame.first)
        self._farthest = self._ends()
        self._active = np.flatnonzero(good & (self._farthest > 0))
        self._sign = np.zeros(N)  # sign of the test function behind a root that was passed by; 0 where none was

    def _ends(self) -> np.ndarray:
        """How far each point looks; not positive where the end lies in the other direction.

        Without an end, no farther than a single search, which covers all loads where motions are linear in them.
        """
        frame = self.frame
        if frame.to is not None:
            return frame.sign * (frame.to - self.begins)
        if frame.straight(self.start, at_loads(frame, self.parameters, self.begins)):
            return np.full(len(self.begins), frame.farthest)
        return np.minimum(frame.farthest, frame.reach[0] + frame.reach[1] * np.abs(self.begins))

    def begins_stable(self) -> np.ndarray:
        """Whether all eigenvalues are to the left where a path begins."""
        frame = self.frame
        aside = ASIDE if frame.order or frame.zero_order else 0.0
        loads = self.begins + frame.sign * aside * frame.first
        C, _ = frame.polynomials(frame.jacobians(self.start, at_loads(frame, self.parameters, loads)))
        square, stable = np.empty(len(loads)), np.empty(len(loads), dtype=bool)
        many_polynomials.routh(C, frame.unit, square, stable)
        return stable

    def stretches(self) -> Iterator[Stretch]:
        for _ in range(ROUNDS):
            if not len(self._active):
                return
            yield self._stretch()

    def _stretch(self) -> Stretch:
        frame, active = self.frame, self._active
        self._length[active] = np.minimum(self._length[active], self._farthest[active] - self._low[active])
        low, length = self._low[active], self._length[active]
        distances = Distances(low, length, (1 + nodes_of(frame.nodes)[0]) / 2)
        seen = probed(frame, self.parameters[:, active], self.begins[active], distances, self._near[:, active])
        stretch = Stretch(active, low, length, seen, frame.nodes)
        seen.followed &= self._sign[active] * stretch.left(seen.test) >= 0  # otherwise two roots were passed by at once
        return stretch

    def go_on(
        self, stretch: Stretch, empty: np.ndarray, unresolved: np.ndarray, passed: np.ndarray, place: np.ndarray
    ) -> None:
        """Points where nothing was found go on behind the stretch, those that passed a root not sought behind that
        root, and those with an unresolved function take half the stretch."""
        frame, active = self.frame, stretch.points
        farthest = self._farthest[active]
        low = np.where(empty, stretch.low + stretch.length, stretch.low)
        low = np.where(passed, stretch.distances(place) + PAST * stretch.length, low)
        self._sign[active] = np.where(
            passed, -stretch.left(stretch.seen.test), np.where(empty, 0.0, self._sign[active])
        )
        self._near[:, active[empty]] = stretch.seen.x[:, -1, empty]
        self._near[:, active[passed]] = stretch.equilibria(place, passed)
        length = stretch.length * np.where(empty, 2.0, np.where(unresolved, 0.5, 1.0))
        self._low[active], self._length[active] = low, length
        ended = empty & (low >= farthest * (1 - 1e-12))
        self.absent[active] = ended & (frame.to is not None)
        again = passed | empty | (unresolved & (length >= SHORTEST * frame.first))
        self._active = active[again & ~ended]


def beginnings(frame: Frame, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The beginnings of the paths, and for which points a single search would begin there too."""
    start = np.repeat(frame.x[:, None], parameters.shape[1], axis=1)
    if frame.order or frame.zero_order:  # singular where it begins: nothing to correct
        return start, frame.rests(start, parameters)
    start, good = settled(frame, parameters, start)
    if frame.guess is None:
        return start, good
    own, reached = settled(frame, parameters, np.repeat(frame.guess[:, None], parameters.shape[1], axis=1))
    scale = frame.scale[:, None]
    apart = (np.abs(own - start) / scale).max(axis=0) / (1 + (np.abs(start) / scale).max(axis=0))
    return start, good & reached & (apart <= ONE)
