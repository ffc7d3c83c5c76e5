"""Rows of constraints at one point: which depend on others, which are empty, and which are at odds.

A coefficient is known to the rounding of the terms that cancel in it, as they are stated. Rows and columns are measured
in the sizes of these terms: neither units nor a factor of a row decide, nor what rounding leaves of a zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.threads import cached_property

NOTHING = 1e-12  # beside the terms that cancel, numbers below this are rounding, of the statement's own numbers too


@dataclass(frozen=True)
class Judged:
    """A and b in units in which the largest of the terms that cancel in them are one."""

    A: np.ndarray
    b: np.ndarray
    b_terms: np.ndarray
    units: np.ndarray  # by which the rows were multiplied
    order: list[int]
    least: float = NOTHING

    @cached_property
    def dependent(self) -> set[int]:
        """Rows that do not raise the rank of those before them, in their order."""
        rows = self.A[self.order]
        tolerance = self.least * max(rows.shape)
        ranks = [0, *(np.linalg.matrix_rank(rows[: k + 1], tol=tolerance) for k in range(len(rows)))]
        return {self.order[k] for k in range(len(rows)) if ranks[k + 1] == ranks[k]}

    @cached_property
    def empty(self) -> set[int]:
        """Rows without a coefficient."""
        return set(np.flatnonzero(np.abs(self.A).max(axis=1, initial=0.0) <= self.least).tolist())

    @cached_property
    def null(self) -> np.ndarray:
        """An orthonormal basis, column by column, of the ℓ with ℓᵀA = 0."""
        left, sizes, _ = np.linalg.svd(self.A)
        return left[:, int((sizes > self.least * max(self.A.shape)).sum()) :]

    @property
    def at_odds(self) -> tuple[int, ...]:
        """Rows of which a combination ℓ has ℓᵀA = 0 but ℓ·b ≠ 0."""
        least = self.least * len(self.A) * self.b_terms.max(initial=0.0)
        return support(self.null @ (self.null.T @ self.b), least)


def in_even_units(A: np.ndarray, b: np.ndarray, terms: np.ndarray, b_terms: np.ndarray, order: list[int]) -> Judged:
    """Rows and columns in units in which the largest terms of each are one."""
    terms = np.maximum(terms, np.abs(A))
    rows, columns = np.ones(len(A)), np.ones(A.shape[1])
    for _ in range(3):
        even = terms * rows[:, None] * columns
        columns = columns / _or_one(even.max(axis=0, initial=0.0))
        even = terms * rows[:, None] * columns
        rows = rows / _or_one(even.max(axis=1, initial=0.0))
    return Judged(A * rows[:, None] * columns, b * rows, np.maximum(b_terms, np.abs(b)) * rows, rows, order)


def _or_one(sizes: np.ndarray) -> np.ndarray:
    return np.where(sizes > 0, sizes, 1.0)


def support(combination: np.ndarray, least: float) -> tuple[int, ...]:
    """The rows that take part in a combination, unless it is nothing."""
    size = np.abs(combination).max(initial=0.0)
    if size <= least:
        return ()
    return tuple(int(k) for k in np.flatnonzero(np.abs(combination) > 1e-3 * size))
