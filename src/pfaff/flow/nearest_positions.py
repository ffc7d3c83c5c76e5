"""The nearest solutions of φ(q) = 0, in as few coordinates as can be, where the linearised rows do not tell them.

Each choice of as many coordinates as the rows determine is solved for, from the start and from beside it. Where no such
choice suffices, or there are too many, all that are connected change, and go back to the start one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.errors import ConvergenceError
from pfaff.flow.completion import EQUAL, KEPT, REGULAR, ROUNDED, connected, demand
from pfaff.flow.coordinate_sizes import turns_of, usual_sizes
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.flow.initial import Constraints

ROUNDING = 1e-15  # of positions, a step of Newton's method after which there is none
TO_ROUNDING = Stopping(exact=ROUNDING, settled=0.0)  # steps that only cease to shrink go on: rows may be singular
STRAIGHT = 0.5  # share of the residual that a first step may leave where the rows count as straight
SHORTEST = 1e-3  # share of a step of Newton's method below which none lessens the residual
CHOICES = 200  # choices of coordinates that are solved for; where there are more, all that is connected may change
SIGNED = 3  # coordinates of a choice up to which starts lie on all sides
SCATTERED = 16  # starts on no particular side where all that is connected changes
APPROACHES = 8  # to lengths, of coordinates whose size nothing tells
ALIKE = 6  # decimals of changes by which coordinates go back first
BESIDE = (1.0, 2.5)  # where solutions are sought from, in units of what a coordinate changes alike
DOUBLE = 1e-6  # share of a change that rounding makes where two solutions meet


class Search:
    """The nearest solutions of φ(q) = 0 in as few of the free coordinates as can be."""

    def __init__(self, constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray) -> None:
        self.constraints, self.q, self.v, self.free = constraints, q, v, free
        self.first = constraints.m - constraints.holonomic
        self.M = constraints(q, v)[3]
        self.turns = turns_of(constraints, q)

    def _rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, _, A, _ = self.constraints(q, self.v)
        return phi, A[self.first :]

    @cached_property
    def beside(self) -> np.ndarray:
        """How far from the start solutions are sought along each coordinate."""
        found = np.where(np.isfinite(self.turns), self.turns, self._lengths())
        return np.where(np.isfinite(found), found, 1.0)

    def _lengths(self) -> np.ndarray:
        """Changes of coordinates that are worth the terms of a row: by its curvature, else by its slope."""
        usual = usual_sizes(self.q, self.M)
        unknown, usual = ~(usual > 0), np.where(usual > 0, usual, 1.0)
        for _ in range(APPROACHES if unknown.any() else 0):  # curvatures as far away as the lengths that they tell
            told = self._lengths_by(usual)
            usual = np.where(unknown & np.isfinite(told), np.sqrt(usual * told), usual)
        return self._lengths_by(usual)

    def _lengths_by(self, usual: np.ndarray) -> np.ndarray:
        terms, A = self.constraints.position_terms(self.q, 0.0)[:, None], np.abs(self._rows(self.q)[1])
        ahead, behind = (
            np.array([self._rows(self.q + sign * at)[1][:, j] for j, at in enumerate(np.diag(usual))]).T
            for sign in (1, -1)
        )
        bends = np.abs(ahead - behind) / (2 * usual)
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(bends * usual > KEPT * A, np.sqrt(2 * terms / bends), terms / A)
        return np.where(np.isfinite(lengths) & (lengths > 0), lengths, np.inf).min(axis=0, initial=np.inf)

    def straight(self, moved: np.ndarray) -> bool:
        """Whether a step of Newton's method does what the linearised rows say, half of it as all of it, and turns
        nothing far."""
        phi, A = self._rows(self.q)
        asked = demand(self.M, A, -phi, moved)
        step = asked.least(False)
        before, half, whole = (
            np.abs(self._rows(self.q + part * step)[0] / asked.sizes).max() for part in (0.0, 0.5, 1.0)
        )
        near = (np.abs(step) <= self.turns).all()
        return bool(near and half <= (1 + STRAIGHT) / 2 * before and whole <= STRAIGHT * before)

    def nearest(self, violated: np.ndarray) -> tuple[np.ndarray, bool]:
        """The coordinates with every set of rows solved that a violated one belongs to, and whether all are."""
        A, q, complete = self._rows(self.q)[1], self.q, True
        enters = (self._contained() | (A != 0)) & self.free
        for rows, columns in connected(enters, violated):
            found = self._found(rows, columns)
            if found:
                best = self._best(found)
                q = np.where(best != self.q, best, q)
            complete = complete and bool(found)
        return q, complete

    def _found(self, rows: np.ndarray, columns: np.ndarray) -> list[np.ndarray]:
        """Solutions in as many of the coordinates as the rank; else in all, as many of which go back as can."""
        rank, found = self._rank(rows, columns) if len(columns) else 0, []
        if rank and comb(len(columns), rank) <= CHOICES:
            found = [at for each in combinations(columns, rank) for at in self._solved(rows, each)]
        if not found and len(columns) > rank:
            starts = (*_sides(len(columns)), *_scattered(len(columns)))
            found = [self._put_back(at, rows, columns) for at in self._solved(rows, columns.tolist(), starts)]
            found = [self._mirrored(at, rows) for at in found]
        return found

    def _put_back(self, at: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """A solution in which no coordinate can return to its start while the others that have changed follow."""
        names = self.constraints.case.system.coordinate_names
        lengths = {j: round(float(abs(at[j] - self.q[j]) / self.beside[j]), ALIKE) for j in columns}
        moved = [j for j in columns if lengths[j]]
        for j in sorted(moved, key=lambda j: (lengths[j], names[j])):
            others = [k for k in moved if k != j]
            start = np.where(np.isin(np.arange(len(at)), others), at, self.q)
            back = self._reached(start, rows, np.array(others, dtype=int)) if others else None
            if back is not None:
                at, moved = back, others
        return self.cleared(at, rows)

    def _mirrored(self, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """A solution that is better than those on the other side of the start in one of the coordinates."""
        moved = np.flatnonzero(at != self.q)
        for j in moved:
            other = self._reached(np.where(np.arange(len(at)) == j, 2 * self.q - at, at), rows, moved)
            at = at if other is None else self._best([at, self.cleared(other, rows)])
        return at

    def _contained(self) -> np.ndarray:
        s = self.constraints.case.system.stated
        entries = [[x in each.free_symbols for x in s.q] for each in s.positions]
        return np.array(entries, dtype=bool).reshape(len(s.positions), len(s.q))

    def _rank(self, rows: np.ndarray, columns: np.ndarray) -> int:
        """The rank of rows beside the start: at it, they may be stationary."""
        rank, generator = 0, np.random.default_rng(1788)
        for _ in range(2):
            q = self.q.copy()
            q[columns] += self.beside[columns] * generator.uniform(-0.5, 0.5, len(columns))
            A = self._rows(q)[1][np.ix_(rows, columns)] * self.beside[columns]
            values = np.linalg.svd(A / np.maximum(np.abs(A).max(axis=1, keepdims=True), 1e-300), compute_uv=False)
            rank = max(rank, int((values > REGULAR * values.max(initial=0.0)).sum()))
        return rank

    def _solved(
        self, rows: np.ndarray, moved: Sequence[int], starts: Sequence[tuple[float, ...]] = ()
    ) -> list[np.ndarray]:
        """Solutions in some of the coordinates, from the start and from beside it."""
        found: list[np.ndarray] = []
        columns = np.array(moved, dtype=int)
        for amount in BESIDE:
            for signs in starts or _sides(len(columns)):
                start = self.q.copy()
                start[columns] += amount * np.array(signs) * self.beside[columns]
                with suppress(ConvergenceError, np.linalg.LinAlgError):
                    at = self._reached(start, rows, columns)
                    found += [] if at is None else [self.cleared(at, rows)]
            if found:
                break
        return found

    def _reached(self, q: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray | None:
        """Newton's method with steps that lessen the residual and turn nothing by more than it changes alike."""
        units, places = self.beside[columns], np.ix_(rows, columns)

        def step(q: np.ndarray) -> tuple[np.ndarray, float] | None:
            phi, A = self._rows(q)
            phi, A = phi[rows], A[places] * units
            scale = np.maximum(np.abs(A).max(axis=1), np.abs(phi))  # the latter where a row is stationary
            scale[scale == 0] = 1.0
            if not np.isfinite(scale).all():
                return None
            change = units * np.linalg.lstsq(A / scale[:, None], -phi / scale, rcond=REGULAR)[0]
            level = np.abs(phi / scale).max()
            share = 1 / max(np.abs(change / self.turns[columns]).max(), 1.0)
            new = q.copy()
            while True:
                new[columns] = q[columns] + share * change
                left = np.abs(self._rows(new)[0][rows] / scale).max()
                if left <= (1 - share / 4) * level or left <= ROUNDING:
                    return new, float((np.abs(change) / np.maximum(np.abs(q[columns]), units)).max())
                share /= 2
                if share < SHORTEST:
                    return q, 0.0

        found = newton(step, q, TO_ROUNDING)
        return found.at if found.ceased and self._solves(found.at, rows) else None

    def _solves(self, q: np.ndarray, rows: np.ndarray) -> bool:
        phi, A = self._rows(q)
        sizes = self.constraints.position_terms(q, 0.0) + np.abs(A) @ np.minimum(np.abs(q), self.turns)
        return bool((np.abs(phi) <= ROUNDED * sizes)[rows].all())

    def cleared(self, q: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Coordinates that rounding alone has moved are put back, where the rows stay as they are."""
        inertia, terms = np.diag(self.M), self.constraints.position_terms(q, 0.0)[rows].max()
        moved = np.abs(q - self.q) * np.where(inertia > 0, np.sqrt(np.abs(inertia)), 1.0)
        for share in (DOUBLE, EQUAL):
            back = np.where(moved > share * moved.max(initial=0.0), q, self.q)
            left, still = (np.abs(self._rows(each)[0][rows]).max() for each in (q, back))
            if still <= left + ROUNDING * terms:
                return back
        return q

    def _best(self, found: list[np.ndarray]) -> np.ndarray:
        """Fewest changes, then the least, then the lowest, then by name."""
        changes = [at - self.q for at in found]
        counts = [np.count_nonzero(each) for each in changes]
        among = [k for k, count in enumerate(counts) if count == min(counts)]
        for measure in (
            lambda k: float(changes[k] @ self.M @ changes[k]),
            lambda k: self.constraints.potential(found[k]),
        ):
            values = {k: measure(k) for k in among}
            least, size = min(values.values()), max(abs(each) for each in values.values())
            among = [k for k in among if values[k] <= least + EQUAL * size]
        names = self.constraints.case.system.coordinate_names

        def by_name(k: int) -> list[tuple[str, bool]]:
            return sorted((name, bool(at < 0)) for name, at in zip(names, changes[k], strict=True) if at)

        return found[min(among, key=by_name)]


def _sides(count: int) -> Iterator[tuple[float, ...]]:
    """The start, then the sides of it."""
    yield (0.0,) * count
    if count <= SIGNED:
        yield from product((1.0, -1.0), repeat=count)
        return
    for sign in (1.0, -1.0):
        yield (sign,) * count
        for k in range(count):
            yield tuple(sign * (j == k) for j in range(count))


def _scattered(count: int) -> Iterator[tuple[float, ...]]:
    """Places beside the start where no row between two coordinates is stationary, as (x − y)² is on the sides."""
    generator = np.random.default_rng(1805)
    return (tuple(generator.uniform(-1, 1, count).tolist()) for _ in range(SCATTERED))
