"""Directions that stiffness resists hardly or not at all, told apart beside stiff ones by sums of more digits.

Beside a spring of 1e13 what it couples seems to move freely: in double precision the terms of the soft stiffness cancel
to what may be rounding. Here they are summed with more digits. A sum is zero if the rounding of what it is made of
(parameters, coordinates, reactions) explains it, so that every stiffness is judged by what cancels in its own
direction, once the stiffer ones have given way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.newtons_method import Outcome, Stopping, least_norm, newton
from pfaff.algebra.tolerances import EPS, RANK, UNCERTAIN
from pfaff.algebra.units import row_units
from pfaff.flow.more_digits import CONTEXT, ZERO, product, wide
from pfaff.flow.statics import AtRest
from pfaff.flow.wide_statics import wide_statics_of
from pfaff.statement.system import System
from pfaff.threads import known_property

if TYPE_CHECKING:
    from pfaff.rest.small_motions import Linearisation

SUMMED = 3e-14  # what is left of terms that cancel in double precision, relative to them
WIDER = 1e2 * float(CONTEXT.eps)  # the same with more digits, for each row
MATRICES = ("K", "C", "M")

SHARPENED = Stopping(3, exact=0.0, settled=0.0)  # steps by which an equilibrium gains more digits
NEAR = 1e-6  # largest of these steps, relative to coordinates and reactions

Elimination = tuple[
    np.ndarray, np.ndarray, int
]  # L and R with Lᵀ X R diagonal, the largest first; how many are not zero
Change = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of L and R


@dataclass(frozen=True)
class Numbers:
    """What the matrices at rest are made of: coordinates and reactions, parameters, fractions that were rounded."""

    system: System
    z: np.ndarray
    parameters: np.ndarray

    @known_property
    def at(self) -> AtRest:
        """The matrices with more digits."""
        statics = wide_statics_of(self.system)
        return statics(self.sharp, statics.numbers(self.parameters))

    @known_property
    @np.errstate(all="ignore")  # what overflows in double precision is no equilibrium to sharpen
    def sharp(self) -> np.ndarray:
        """Coordinates and reactions with more digits: those of the equilibrium that they approximate."""
        statics = wide_statics_of(self.system)
        numbers = statics.numbers(self.parameters)

        def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
            at = statics(z, numbers)
            J, left = at.jacobian.astype(float), np.concatenate([at.balance, at.held]).astype(float)
            rows = row_units(J)
            columns = row_units((rows[:, None] * J).T)
            change = columns * least_norm(rows[:, None] * J * columns, rows * left)
            if not (np.abs(change) <= NEAR * (columns * np.abs(self.z / columns).max() + np.abs(self.z))).all():
                return None
            return z - change, float(np.abs(change).max(initial=0.0))

        if not statics.exact:
            return wide(self.z)
        found = newton(step, wide(self.z), SHARPENED)
        return wide(self.z) if found.outcome is Outcome.STEPLESS else found.at  # the former is no equilibrium

    @property
    def exact(self) -> bool:
        """Whether there are more digits."""
        return wide_statics_of(self.system).exact

    def eliminated(self, of: Callable[[AtRest], np.ndarray], terms: np.ndarray) -> Elimination:
        """Elimination in what follows, linearly, from the matrices at rest; ``terms`` are summed in it."""
        within: Change = lambda L, R: sum(np.abs(L.T @ of(each) @ R) for each in self.slopes())  # noqa: E731
        return _eliminated(of(self.at), terms, within if self.exact else None)

    def slopes(self) -> Iterable[AtRest]:
        """What relative changes of every number make of the matrices."""
        return self._slopes if self.exact else self._sloping()

    @known_property
    def _slopes(self) -> list[AtRest]:
        return list(self._sloping())

    def _sloping(self) -> Iterator[AtRest]:
        statics = wide_statics_of(self.system)
        return statics.slopes(self.sharp, statics.numbers(self.parameters))


@dataclass(frozen=True)
class Projection:
    """Matrices at rest between two bases, which are made to obey the constraints with more digits."""

    lin: Linearisation
    numbers: Numbers
    left: np.ndarray
    right: np.ndarray

    @known_property
    def units(self) -> np.ndarray:
        return np.broadcast_to(np.reshape(self.lin.unit, (-1, 1)), (len(self.lin.q), 1))

    @known_property
    def back(self) -> np.ndarray:
        """What takes violations of the constraints back to displacements."""
        rows = row_units(self.lin.A)[:, None]
        return np.linalg.pinv(rows * self.lin.A) * rows.T

    @known_property
    def bases(self) -> list[np.ndarray]:
        """The bases, in the coordinates."""
        if not len(self.lin.A):
            return [wide(self.units * each) for each in (self.left, self.right)]
        bases = [wide(each) for each in (self.left, self.right)]
        back, A = wide(self.back), self.numbers.at.A * self.units.T
        for _ in range(2):
            bases = [each - product(back, product(A, each)) for each in bases]
        return [self.units * each for each in bases]

    def of(self, name: str) -> np.ndarray:
        """Stiffness, damping or inertia."""
        left, right = self.bases
        matrix = getattr(self.numbers.at, name)
        if not matrix.any():
            return wide(np.zeros((left.shape[1], right.shape[1])))
        return product(product(left.T, matrix), right)

    def moved(self, *names: str) -> list[np.ndarray]:
        """The sums of what relative changes of every number make of them: to first order, in double precision."""
        left, right = (each.astype(float) for each in self.bases)
        totals = [np.zeros((left.shape[1], right.shape[1])) for _ in names]
        back = self.units * self.back if len(self.lin.A) else None
        around = [] if back is None else [self._around(name) for name in names]
        for slope in self.numbers.slopes():
            follow = back is not None and slope.A.any()  # the bases obey the constraints
            turns = [back @ (slope.A @ each) for each in (left, right)] if follow else []
            for k, name in enumerate(names):
                change = left.T @ getattr(slope, name) @ right
                if follow:
                    change -= turns[0].T @ around[k][0] + around[k][1] @ turns[1]
                totals[k] += np.abs(change)
        return totals

    def _around(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A matrix times each of the bases, where terms cancel."""
        left, right = self.bases
        matrix = getattr(self.numbers.at, name)
        return product(matrix, right).astype(float), product(left.T, matrix).astype(float)

    def eliminated(self) -> Elimination:
        """Elimination in the stiffness."""
        terms = np.abs(self.left).T @ np.abs(self.lin.stiffness) @ np.abs(self.right)
        within: Change = lambda L, R: replace(self, left=self.left @ L, right=self.right @ R).moved("K")[0]  # noqa: E731
        return _eliminated(self.of("K"), terms, within if self.numbers.exact else None)


@dataclass(frozen=True)
class Soft:
    """Combinations of equations and of directions in which stiffness is diagonal, the stiffest first.

    Nothing resists the last of them, ``unresisted`` of the coordinates: there the matrix of so many rows is zero.
    ``sizes`` are those of the terms in entries of stiffness, damping and inertia, as far as the rounding of numbers
    that they are made of changes them.
    """

    left: np.ndarray
    right: np.ndarray
    unresisted: np.ndarray
    sizes: list[np.ndarray]


def graded(lin: Linearisation, left: np.ndarray, right: np.ndarray) -> Soft:
    """The equations and directions of two bases, the stiffest first."""
    found = Projection(lin, _numbers(lin), left, right)
    L, R, k = found.eliminated()
    turned = replace(found, left=left @ L, right=right @ R)
    return Soft(L, R, np.linalg.qr(turned.right[:, k:])[0], turned.moved(*MATRICES))


def in_more_digits(lin: Linearisation, left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """Stiffness, damping and inertia in directions that obey the constraints, summed with more digits."""
    found = Projection(lin, _numbers(lin), left, right)
    return [found.of(name).astype(float) for name in MATRICES]


def without_noise(directions: np.ndarray) -> np.ndarray:
    """Directions, column by column in even units, without components that are rounding."""
    return np.where(np.abs(directions) > len(directions) * EPS, directions, 0.0)


def _numbers(lin: Linearisation) -> Numbers:
    return Numbers(lin.system, np.concatenate([lin.q, lin.p]), lin.numbers)


@np.errstate(all="ignore")
def _eliminated(X: np.ndarray, terms: np.ndarray, changes: Change | None) -> Elimination:
    """Elimination in X with complete pivoting until what is left is zero.

    ``terms`` are the sizes of what is summed in X. Rounding of numbers changes LᵀXR to first order as ``changes`` says;
    without it, terms were rounded in double precision.
    """
    L, R, k = *(np.eye(size) for size in X.shape), 0
    while True:
        block = X[k:, k:].astype(float)
        summed = np.abs(L[:, k:]).T @ terms @ np.abs(R[:, k:])
        block = np.where(np.abs(block) > len(X) * WIDER * summed, block, 0.0)
        if block.any() and (np.abs(block) <= RANK * summed).all():
            doubt = SUMMED * summed if changes is None else UNCERTAIN * changes(L[:, k:], R[:, k:])
            block = np.where(np.abs(block) > doubt, block, 0.0)
        if not block.any():
            return L, R, k
        i, j = np.unravel_index(np.abs(block).argmax(), block.shape)
        _pivot(X, L, R, k, (k + int(i), k + int(j)))
        k += 1


def _pivot(X: np.ndarray, L: np.ndarray, R: np.ndarray, k: int, pivot: tuple[int, int]) -> None:
    """Bring a pivot to row and column k, and leave it alone there; L and R follow in double precision."""
    i, j = pivot
    for each, place in ((X, (i, k)), (L.T, (i, k)), (X.T, (j, k)), (R.T, (j, k))):
        each[list(place)] = each[list(place[::-1])]
    rows, columns = (k + 1 + np.flatnonzero(each) for each in (X[k + 1 :, k], X[k, k + 1 :]))
    down, along = X[rows, k] / X[k, k], X[k, columns] / X[k, k]
    L[:, rows] -= L[:, k : k + 1] * down.astype(float)
    R[:, columns] -= R[:, k : k + 1] * along.astype(float)
    X[np.ix_(rows, columns)] -= down[:, None] * X[k, columns]
    X[rows, k], X[k, columns] = ZERO, ZERO
