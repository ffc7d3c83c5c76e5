"""Orbits passed by the walker, made into points of their branch on demand."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.collocation import CLEAR, MIRRORED
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh, Metric
from pfaff.bifurcation.orbits.solving.orbit_records import (
    DETERMINANT,
    ERROR,
    INTERVALS,
    LENGTH,
    MARGIN,
    MESH,
    NEXT,
    NEXT_INTERVALS,
    NEXT_MESH,
    NOTES,
    ORBIT,
    PERIOD,
    RESIDUAL,
    STEPS,
    TESTS,
    TURNED,
    UNSTABLE,
    length_of,
    measures,
    record,
)
from pfaff.bifurcation.orbits.solving.orbit_walker import NEEDED, walk
from pfaff.bifurcation.orbits.solving.walk_terms import Terms
from pfaff.bifurcation.orbits.solving.workspaces import solver
from pfaff.bifurcation.orbits.stepping import Continuation

STRETCH, ROOM = 64, 4e6  # points walked at once, and numbers kept for them: Ctrl-C is heard between


class Walk:
    """A stretch from a point on, given the one before it: ``many`` points are passed, and it ended in one of three ways
    with the length of the next step. ``known`` is what is known of the branch, as the walker leaves it."""

    def __init__(
        self, continuation: Continuation, at: Point, before: Point | None, known: list[float], home: tuple[float, ...],
        scale: float, course: tuple[float, float, tuple[float, float]], most: int,
    ) -> None:  # fmt: skip
        c, (n, nb), cycle = continuation, continuation.collocation.shape, at.cycle
        self.at, self.known = at, np.array(known)
        self._sizes = n, c.collocation.gauss.degree, cycle.K.shape[2], nb
        size = length_of.py_func(cycle.intervals, self._sizes)
        many = max(min(most, STRETCH, int(ROOM / size)), 1)
        stages = [(1, at)] if before is None else [(1, at), (0, before)]
        wide = sum(length_of.py_func(each.cycle.intervals + 1, self._sizes) for _, each in stages)
        self._store = np.empty(wide + (3 * many + NEEDED) * size)
        self._spectra, self._notes = np.empty((many, n), dtype=complex), np.full((many + 2, NOTES), np.nan)
        self._meshes: dict[int, Mesh] = {}
        self._points: dict[int, Point] = {}
        self._renewed: dict[int, Point] = {}
        free = 0
        for row, each in stages:
            free = self._keep(row, each, free)
        length, longest, bounds = course
        equations = cast(tuple[Any, np.ndarray, Any, Any], c.collocation.in_walks)  # where branches are walked
        terms = Terms(
            *equations, solver(), cycle.signs, c.measures, c.accuracy, c.settled, c.collocation.converged,
            c.ones, c.level, MIRRORED, CLEAR, scale, longest, bounds, home,
        )  # fmt: skip
        self.many, self.ended, self.length = walk(
            terms, length, (tuple(at.metric), at.basis), self.known, free, self._store, self._spectra, self._notes
        )
        self.facts = self._notes[2 : 2 + self.many, PERIOD : MARGIN + 1].tolist()  # period, amplitude, value, margin

    def _keep(self, row: int, point: Point, at: int) -> int:
        """Put a point into the store and into the notes; returns the offset after it."""
        (mesh, *orbit, _), tangent, note = point.cycle, point.tangent[1:4], self._notes[row]
        where = next((place for place, known in self._meshes.items() if known is mesh), at)
        if where == at:
            self._meshes[at] = mesh
            self._store[at : at + len(mesh.at)] = mesh.at
            at += len(mesh.at)
        note[[NEXT_MESH, NEXT, NEXT_INTERVALS]] = where, at, len(mesh)
        note[[DETERMINANT, UNSTABLE]] = point.determinant, point.unstable
        note[TESTS : TESTS + 4] = list(point.tests.values())
        for pair in zip(orbit, tangent, strict=True):
            for each in pair:
                self._store[at : at + each.size] = each.ravel()
                at += each.size
        return at

    def point(self, k: int) -> Point:
        """The k-th point passed or, after the last, the one that is handed over."""
        if k not in self._points:
            note = self._notes[k + 2]
            N, at, like = int(note[INTERVALS]), int(note[ORBIT]), self.at.tests
            scales, basis, _ = measures.py_func(self._store, at + length_of.py_func(N, self._sizes), self._sizes)
            error, residual, steps, margin = note[[ERROR, RESIDUAL, STEPS, MARGIN]].tolist()
            tests = dict(zip(like, note[TESTS : TESTS + 4].tolist(), strict=True))
            self._points[k] = Point(
                *self._stage(int(note[MESH]), at, N), self._spectra[k], float(note[DETERMINANT]), error, residual,
                int(steps), margin, Metric(*scales), basis, int(note[UNSTABLE]), tests,
            )  # fmt: skip
        return self._points[k]

    def renewed(self, k: int) -> Point:
        """The k-th point passed as the next step takes it; before all of them, the first."""
        if k < 0:
            return self.at
        point, note = self.point(k), self._notes[k + 2]
        if note[NEXT] == note[ORBIT]:
            return point
        if k not in self._renewed:
            self._renewed[k] = point.carried(
                *self._stage(int(note[NEXT_MESH]), int(note[NEXT]), int(note[NEXT_INTERVALS]))
            )
        return self._renewed[k]

    def step(self, k: int) -> tuple[float, float]:
        """The length and the turn of the step that leads to a point."""
        return float(self._notes[k + 2, LENGTH]), float(self._notes[k + 2, TURNED])

    def _stage(self, mesh: int, at: int, N: int) -> tuple[Cycle, Cycle]:
        """An orbit and its tangent from the store."""
        known, signs = self._meshes.get(mesh), self.at.cycle.signs
        if known is None:
            known = self._meshes.setdefault(mesh, Mesh(self._store[mesh : mesh + N + 1]))
        x, K, scalars = record.py_func(self._store, at, N, self._sizes)
        return Cycle(known, x[0], K[0], scalars[0], signs), Cycle(known, x[1], K[1], scalars[1], signs)
