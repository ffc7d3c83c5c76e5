"""The modes of an assembly that are watched along a branch: the eigenvalues of its pencil about a real shift.

Arnoldi's method about a shift to the right of the origin gives the eigenvalues in a disc. As long as the disc contains
the origin, every passage through zero is seen, and every crossing of the imaginary axis at a frequency that the disc
reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from scipy import sparse

from pfaff.algebra.tolerances import NEARLY_REAL
from pfaff.flow.sparse_pencil import SparseLinearisation, factorised
from pfaff.stability.large_modes import largest, lowest_squares
from pfaff.threads import known_property

MOST = 128  # most eigenvalues asked for
BEYOND = 1.05  # least radius of the disc, relative to its distance from the origin
LOWEST = 8  # modes among which the fastest growing one is looked for
BESIDE = np.array([1.0, 1.3, 1.7])  # shifts tried beside its square, where no eigenvalue may be


@dataclass(frozen=True, eq=False)
class Watched:
    """Eigenvalues ω, or their squares s where nothing depends on the velocities, in a disc about a shift.

    The nearest come first; ``vectors`` are their columns (q, p).
    """

    pencil: WatchedPencil
    shift: float
    values: np.ndarray
    vectors: np.ndarray

    @property
    def radius(self) -> float:
        return float(np.abs(self.values - self.shift).max(initial=0.0))

    @property
    def frequency(self) -> float:
        """The frequency up to which all pairs on the imaginary axis are known."""
        if self.pencil.reversible:
            return sqrt(max(self.radius - self.shift, 0.0))
        return sqrt(max(self.radius**2 - self.shift**2, 0.0))

    @known_property
    def left(self) -> np.ndarray:
        """The left vectors, in the same order."""
        values, vectors = self.pencil.nearest(self.shift, len(self.values) + 1, transposed=True)
        return vectors[:, np.abs(values[None] - self.values[:, None]).argmin(axis=1)]

    def slopes(self, change: SparseLinearisation) -> np.ndarray:
        """How the eigenvalues change with the matrices: −wᵀ(dP)v / wᵀ(∂P/∂ω)v."""
        V, W, moved = self.vectors, self.left, WatchedPencil(change, self.pencil.reversible)
        pushed = sum(part @ V * self.values**k for k, part in enumerate(moved.parts))
        turned = sum(k * (part @ V) * self.values ** (k - 1) for k, part in enumerate(self.pencil.parts) if k)
        with np.errstate(divide="ignore", invalid="ignore"):
            return -np.sum(W * pushed, axis=0) / np.sum(W * turned, axis=0)

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues ω: for squares, both roots of each."""
        if not self.pencil.reversible:
            return self.values
        roots = np.sqrt(self.values)
        return np.concatenate([roots, -roots])


@dataclass(frozen=True, eq=False)
class WatchedPencil:
    """[[M ω² + C ω + K, Aᵀ], [A, 0]] as a polynomial in ω; in s = ω² where it is ``reversible``."""

    lin: SparseLinearisation
    reversible: bool

    @known_property
    def parts(self) -> tuple[sparse.csc_array, ...]:
        """The coefficients of the polynomial, that of degree zero first."""
        d, matrix = self.lin.data, self.lin.pattern.matrix
        still, M = matrix(self.lin.pencil_data(0.0)), matrix(d["M"])
        return (still, M) if self.reversible else (still, matrix(d["C"] + d["moving"]), M)

    @property
    def finite(self) -> int:
        """The number of its eigenvalues; each row A q̇ + B q = 0 adds one."""
        n, rows = self.lin.pattern.size, self.lin.pattern.rows
        if self.reversible:
            return n - rows
        return 2 * (n - rows) + len(np.unique(self.lin.pattern.indices[self.lin.data["moving"] != 0]))

    def nearest(self, shift: float, count: int, transposed: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """``count`` eigenvalues about a shift, the nearest first, and their vectors (q, p), right or left ones."""
        factors = factorised(self.lin.pattern.matrix(_at(self, shift)))
        parts = tuple(part.T if transposed else part for part in self.parts)
        solve, total = partial(factors.solve, trans="T" if transposed else "N"), self.lin.pattern.total
        inverse = (_inverse_of_squares if self.reversible else _inverse)(solve, parts, shift)
        size = total if self.reversible else 2 * total
        inverted, vectors = largest(inverse, size, self.finite, min(count, self.finite), float)
        return shift + 1 / inverted, vectors[:total]


def _at(pencil: WatchedPencil, shift: float) -> np.ndarray:
    if pencil.reversible:
        return pencil.lin.pencil_data(0.0) + pencil.lin.data["M"] * shift
    return pencil.lin.pencil_data(shift)


Solve = Callable[[np.ndarray], np.ndarray]


def _inverse_of_squares(solve: Solve, parts: tuple[sparse.csc_array, ...], shift: float) -> Solve:
    return lambda x: -solve(parts[1] @ x)


def _inverse(solve: Solve, parts: tuple[sparse.csc_array, ...], shift: float) -> Solve:
    """The shift-inverted operator on (x, ω x): P(σ) y = −(M ω + M σ + C) x gives y = x/(ω − σ), and ω y = σ y + x."""
    _, C, M = parts

    def inverse(z: np.ndarray) -> np.ndarray:
        x, u = np.split(z, 2)
        y = -solve(M @ (u + shift * x) + C @ x)
        return np.concatenate([y, shift * y + x])

    return inverse


def watched(lin: SparseLinearisation, reversible: bool, shift: float, count: int) -> Watched:
    """``count`` eigenvalues about a shift, or as many as it takes to reach beyond the origin."""
    pencil = WatchedPencil(lin, reversible)
    while True:
        found = Watched(pencil, shift, *pencil.nearest(shift, count))
        if found.radius >= BEYOND * shift or count >= min(MOST, pencil.finite):
            break
        count = min(2 * count, MOST)
    values = np.where(np.abs(found.values.imag) <= NEARLY_REAL * np.abs(found.values), found.values.real, found.values)
    return Watched(pencil, shift, values, found.vectors)


def natural_shift(lin: SparseLinearisation, reversible: bool) -> float:
    """A shift: the size of the lowest frequency, or its square, or that of the fastest of the lowest modes that grow.
    It lies to the right of the origin, near it, and away from every mode."""
    modes = min(LOWEST, lin.pattern.size - lin.pattern.rows)
    squares = lowest_squares(lin, modes)[0]
    shifts = BESIDE * max(float(np.abs(squares).min()), float(squares.real.max()))
    roots = squares if reversible else np.sqrt(squares.astype(complex))
    shifts = shifts if reversible else np.sqrt(shifts)
    apart = np.abs(roots - shifts[:, None]).min(axis=1) / shifts
    return float(shifts[apart.argmax()])
