"""Which components change where A x = wanted demands something: no more than its rank, and of these the lightest.

Rows that are obeyed ask for nothing, unless a component that a violated row needs enters them, too. Of the basic
solutions of a connected set of rows (as many columns as the rank, the others zero) the one of least energy is taken: a
robot runs straight, though to pivot about two of its wheels would leave more of them at rest. The choice depends
neither on units nor on the order of rows and components.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np

from pfaff.errors import ConvergenceError

KEPT = 1e-10  # a given state obeys the constraints if their residual is below this, relative to its terms
ROUNDED = 1e-14  # coefficients below this, relative to their row of A, are zeros
LIGHT = 1e-8  # inertias below this, relative to the largest in units that make them alike, are light
NONE = 1e-11  # contributions to rows below this, relative to what is wanted, are none
REGULAR = 1e-8  # least singular value of a choice of columns, relative to its largest
EQUAL = 1e-9  # values and energies that differ by less than this, relatively, are the same
MANY = 20_000  # choices of columns that are compared; where there are more, all that is connected changes


class Demand:
    """A x = wanted for the components that are free, in units in which inertias and rows are alike."""

    def __init__(self, M: np.ndarray, A: np.ndarray, wanted: np.ndarray, free: np.ndarray) -> None:
        tiny, inertia = np.finfo(float).tiny, np.diag(M)
        held = np.abs(A).max(axis=0, initial=0.0)
        self.units = 1 / np.where(inertia > 0, np.sqrt(np.abs(inertia)), np.where(held > 0, held, 1.0))
        whole, follows = (np.linalg.norm(A * self.units * among, axis=1) for among in (True, free))
        sizes = np.where(follows > ROUNDED * whole, follows, whole)
        sizes = np.where(sizes > tiny, sizes, np.abs(wanted))  # of a row that nothing changes
        self.sizes = np.where(sizes > tiny, sizes, 1.0)
        self.M, self.wanted = M * np.outer(self.units, self.units), wanted / self.sizes
        A = A * self.units / self.sizes[:, None]
        self.A = np.where(np.abs(A) > ROUNDED, A, 0.0)
        self.free = free

    def of(self, wanted: np.ndarray) -> Demand:
        """The same for other right-hand sides."""
        if not np.isfinite(wanted).all():
            raise not_finite()
        other = copy(self)
        other.wanted = wanted / self.sizes
        return other

    def least(self, yielding: bool) -> np.ndarray:
        """The solution of least xᵀM x; where what is free cannot follow and the others are ``yielding``, the least
        change of these comes first."""
        M, A, wanted, free = self.M, self.A, self.wanted, self.free
        x, held = np.zeros(len(M)), ~free
        if yielding and held.any():
            left, values, _ = np.linalg.svd(A[:, free])
            stuck = left[:, int((values > KEPT).sum()) :].T  # combinations of rows that no free component moves
            x[held] = lightest(M[np.ix_(held, held)], stuck @ A[:, held], stuck @ wanted)
        if free.any():
            x[free] = lightest(M[np.ix_(free, free)], A[:, free], wanted - A @ x)
        return self.units * x

    def fewest(
        self, violated: np.ndarray, names: Sequence[str], before: np.ndarray, sparing: bool = False
    ) -> np.ndarray | None:
        """Which components change, from the values ``before``; None if what is free cannot follow.

        ``sparing`` counts the components before the energy.
        """
        changing = np.zeros(len(self.M), dtype=bool)
        for rows, columns in connected((self.A != 0) & self.free, violated):
            left, values, _ = np.linalg.svd(self.A[np.ix_(rows, columns)], full_matrices=False)
            left = left[:, values > KEPT]
            wanted = np.where(violated[rows], self.wanted[rows], 0.0)
            if np.abs(wanted - left @ (left.T @ wanted)).max() > KEPT * np.abs(wanted).max():
                return None
            reduced = left.T @ self.A[np.ix_(rows, columns)]
            chosen = self._chosen(reduced, left.T @ wanted, columns, names, before / self.units, sparing)
            changing[list(chosen)] = True
        return changing

    def cannot_hold(self, last: int, names: Sequence[str]) -> np.ndarray:
        """Which of the ``last`` rows have to be given up beside those before them: no more than need be, and of these
        the ones by which least is missed."""
        left, values, _ = np.linalg.svd(self.A[:, self.free])
        stuck = left[:, int((values > KEPT).sum()) :].T  # combinations of rows that no free component moves
        missed, values, _ = np.linalg.svd(stuck[:, len(self.A) - last :], full_matrices=False)
        among = missed[:, values > KEPT].T
        rows, wanted = among @ stuck[:, len(self.A) - last :], among @ (stuck @ self.wanted)
        violated = np.abs(wanted) > KEPT * np.abs(self.wanted).max(initial=0.0)
        given_up = Demand(np.eye(last), rows, wanted, np.ones(last, dtype=bool)).fewest(violated, names, np.zeros(last))
        assert given_up is not None  # as many independent rows as the rank
        return given_up

    def _chosen(
        self,
        A: np.ndarray,
        wanted: np.ndarray,
        columns: np.ndarray,
        names: Sequence[str],
        before: np.ndarray,
        sparing: bool,
    ) -> tuple[int, ...]:
        """The components of the best basic solution of A x = wanted, A of full rank."""
        rank, many = A.shape
        if comb(many, rank) > MANY:
            return tuple(columns.tolist())
        best: Choice | None = None
        choices = combinations(range(many), rank)
        while chunk := list(islice(choices, 1000)):
            places = np.array(chunk, dtype=int).reshape(len(chunk), rank)
            bases = A[:, places].transpose(1, 0, 2)
            values = np.linalg.svd(bases, compute_uv=False)
            regular = values[:, -1] > REGULAR * values[:, 0] if rank else np.ones(len(places), dtype=bool)
            places, bases = places[regular], bases[regular]
            found = np.linalg.solve(bases, np.broadcast_to(wanted[:, None], (len(bases), rank, 1)))[..., 0]
            felt = np.abs(bases).max(axis=1) * np.abs(found) > NONE * np.abs(wanted).max(initial=0.0)
            for place, x, nonzero in zip(places, found, felt, strict=True):
                which = tuple(columns[place[nonzero]].tolist())
                after = before.copy()
                after[columns[place]] += np.where(nonzero, x, 0.0)
                new = Choice(which, tuple(sorted(names[j] for j in which)), after)
                if best is None or new.better(best, self.M, sparing):
                    best = new
        return best.components if best else tuple(columns.tolist())


class Choice(NamedTuple):
    """Components that change, their names, and all values afterwards."""

    components: tuple[int, ...]
    names: tuple[str, ...]
    after: np.ndarray

    def better(self, other: Choice, M: np.ndarray, sparing: bool) -> bool:
        """Less energy, then fewer components (or first, ``sparing`` them), then by name; what both have in common hides
        no difference of theirs."""
        if sparing and len(self.components) != len(other.components):
            return len(self.components) < len(other.components)
        differs = self.after - other.after
        usual = np.abs(self.after) + np.abs(other.after)
        differs = np.where(np.abs(differs) > EQUAL * usual, differs, 0.0)
        more = differs @ M @ (self.after + other.after)
        if abs(more) > EQUAL * (np.abs(differs) @ np.abs(M) @ usual):
            return bool(more < 0)
        if len(self.components) != len(other.components):
            return len(self.components) < len(other.components)
        return self.names < other.names


def demand(M: np.ndarray, A: np.ndarray, wanted: np.ndarray, free: np.ndarray) -> Demand:
    """A demand of finite numbers."""
    if not (np.isfinite(A).all() and np.isfinite(M).all() and np.isfinite(wanted).all()):
        raise not_finite()
    return Demand(M, A, wanted, free)


def not_finite() -> ConvergenceError:
    return ConvergenceError("the constraints or the inertia are not finite at the start: start elsewhere")


def connected(enters: np.ndarray, violated: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows that share components with violated ones, set by set, and these components; ``enters`` says which rows
    contain which of them."""
    left = violated.copy()
    while left.any():
        rows = np.zeros(len(left), dtype=bool)
        rows[np.flatnonzero(left)[0]] = True
        while True:
            columns = enters[rows].any(axis=0)
            wider = rows | enters[:, columns].any(axis=1)
            if (wider == rows).all():
                break
            rows = wider
        left &= ~rows
        yield np.flatnonzero(rows), np.flatnonzero(columns)


def lightest(M: np.ndarray, A: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The solution x of A x = wanted with least xᵀM x; a direction without inertia counts as light."""
    inertia, axes = np.linalg.eigh(M)
    root = axes / np.sqrt(np.maximum(inertia, LIGHT * inertia[-1] or 1.0))
    return root @ np.linalg.lstsq(A @ root, wanted, rcond=1e-12)[0]
