"""Orbits passed by the walker, made into points of their branch on demand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.collocation import CLEAR, MIRRORED
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh, Metric
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.kernels.orbit_walks import Walker, record_length, step_room

STRETCH, ROOM = 64, 4e6  # points walked at once, and numbers kept for them: Ctrl-C is heard between


class Walk:
    """A stretch from a point on, given the one before it: ``many`` points are passed, and it ended in one of three ways
    with the length of the next step. ``known`` is what is known of the branch, as the walker leaves it."""

    def __init__(
        self, continuation: Continuation, at: Point, before: Point | None, known: dict[str, float],
        home: dict[str, float], scale: float, course: tuple[float, float, tuple[float, float]], most: int,
    ) -> None:  # fmt: skip
        c, (n, nb), cycle, start = continuation, continuation.collocation.shape, at.cycle, before or at
        self.at, self._sizes = at, (n, cycle.K.shape[1] * cycle.K.shape[2], nb)
        size = record_length(cycle.intervals, *self._sizes)
        many = max(min(most, STRETCH, int(ROOM / size)), 1)
        meshes = [cycle.intervals, start.cycle.intervals]
        wide = sum(record_length(each + 1, *self._sizes) for each in meshes)
        room = wide + 3 * many * size + step_room(cycle.intervals, *self._sizes)
        self._store, self._spectra = np.empty(room), np.empty((many, n), dtype=complex)
        self._meshes: dict[int, Mesh] = {}
        self._points: dict[int, Point] = {}
        self._renewed: dict[int, Point] = {}
        length, longest, (lower, upper) = course
        terms = {
            "enough": c.settled, "converged": c.collocation.converged, "ones": c.ones, "level": c.level,
            "mirrored": MIRRORED, "clear": CLEAR, "scale": scale, "longest": longest, "lower": lower, "upper": upper,
        }  # fmt: skip
        self._walker = Walker(
            lambda intervals: c.collocation.workspace_of(intervals, cycle.halved), meshes, cycle.signs, c.measures,
            terms | home, known, self._store, self._spectra, many,
        )  # fmt: skip
        free = self._keep(-1, at, 0)
        if before is not None:
            free = self._keep(-2, before, free)
        self.many, self.ended, self.length = self._walker.walk(length, at.metric, at.basis, free, many)
        self.known = self._walker.remembered
        noted = [self._walker.note(k) for k in range(self.many)]
        self.facts = [[each[of] for of in ("period", "amplitude", "value", "margin")] for each in noted]

    def _keep(self, k: int, point: Point, at: int) -> int:
        """Put a point into the store and into the notes; returns the offset after it."""
        (mesh, *orbit, _), tangent = point.cycle, point.tangent[1:4]
        where = next((place for place, known in self._meshes.items() if known is mesh), at)
        if where == at:
            self._meshes[at] = mesh
            self._store[at : at + len(mesh.at)] = mesh.at
            at += len(mesh.at)
        self._walker.begin(k, where, at, len(mesh), point.determinant, point.unstable, list(point.tests.values()))
        for pair in zip(orbit, tangent, strict=True):
            for each in pair:
                self._store[at : at + each.size] = each.ravel()
                at += each.size
        return at

    def point(self, k: int) -> Point:
        """The k-th point passed or, after the last, the one that is handed over."""
        if k not in self._points:
            note, (n, _, nb) = self._walker.note(k), self._sizes
            N, at = note["intervals"], note["orbit"]
            sizes = n, nb, n, nb, n * n
            ends = at + record_length(N, *self._sizes) + np.cumsum((0, *sizes))
            *scales, basis = (self._store[low:high] for low, high in pairwise(ends))
            self._points[k] = Point(
                *self._stage(note["mesh"], at, N), self._spectra[k], note["determinant"], note["error"],
                note["residual"], note["steps"], note["margin"], Metric(*scales), basis.reshape(n, n),
                note["unstable"], dict(zip(self.at.tests, note["tests"], strict=True)),
            )  # fmt: skip
        return self._points[k]

    def renewed(self, k: int) -> Point:
        """The k-th point passed as the next step takes it; before all of them, the first."""
        if k < 0:
            return self.at
        point, note = self.point(k), self._walker.note(k)
        if note["next_orbit"] == note["orbit"]:
            return point
        if k not in self._renewed:
            self._renewed[k] = point.carried(
                *self._stage(note["next_mesh"], note["next_orbit"], note["next_intervals"])
            )
        return self._renewed[k]

    def step(self, k: int) -> tuple[float, float]:
        """The length and the turn of the step that leads to a point."""
        note = self._walker.note(k)
        return note["length"], note["turned"]

    def _stage(self, mesh: int, at: int, N: int) -> tuple[Cycle, Cycle]:
        """An orbit and its tangent from the store."""
        known, signs = self._meshes.get(mesh), self.at.cycle.signs
        if known is None:
            known = self._meshes.setdefault(mesh, Mesh(self._store[mesh : mesh + N + 1]))
        n, slopes, nb = self._sizes
        m = self.at.cycle.K.shape[1]
        ends = np.cumsum((at, 2 * (N + 1) * n, 2 * N * slopes, 2 * nb))
        x, K, scalars = (self._store[low:high] for low, high in pairwise(ends))
        x, K, scalars = x.reshape(2, N + 1, n), K.reshape(2, N, m, -1), scalars.reshape(2, nb)
        return Cycle(known, x[0], K[0], scalars[0], signs), Cycle(known, x[1], K[1], scalars[1], signs)
