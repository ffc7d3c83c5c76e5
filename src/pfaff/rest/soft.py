"""Directions that stiffness resists hardly or not at all, told apart beside stiff ones by sums of more digits.

Beside a spring of 1e13 what it couples seems to move freely: in double precision the terms of the soft stiffness cancel
to what may be rounding. Here they are summed with more digits. A sum is zero if the rounding of what it is made of
(parameters, coordinates, reactions) explains it, so that every stiffness is judged by what cancels in its own
direction, once the stiffer ones have given way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.newtons_method import least_norm
from pfaff.algebra.tolerances import EPS, RANK, UNCERTAIN
from pfaff.algebra.units import row_units
from pfaff.flow.more_digits import wide
from pfaff.flow.statics import AtRest
from pfaff.flow.wide_statics import wide_statics_of
from pfaff.statement.system import System
from pfaff.threads import known_property

if TYPE_CHECKING:
    from pfaff.rest.small_motions import Linearisation

SUMMED = 3e-14  # what is left of terms that cancel in double precision, relative to them
WIDER = 1e-30  # the same with more digits, relative to the largest
STEP = 2.0**-20  # relative change of a number that tells what its rounding does

SHARPENED = 3  # Newton steps by which an equilibrium gains more digits
NEAR = 1e-6  # largest of these steps, relative to coordinates and reactions

Pivots = list[tuple[int, int]]


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
        z, numbers = wide(self.z), statics.numbers(self.parameters)
        for _ in range(SHARPENED if statics.exact else 0):
            at = statics(z, numbers)
            J, left = at.jacobian.astype(float), np.concatenate([at.balance, at.held]).astype(float)
            rows = row_units(J)
            columns = row_units((rows[:, None] * J).T)
            step = columns * least_norm(rows[:, None] * J * columns, rows * left)
            if not (np.abs(step) <= NEAR * (columns * np.abs(self.z / columns).max() + np.abs(self.z))).all():
                return wide(self.z)  # this is no equilibrium
            z = z - step
        return z

    def moved(self, of: Callable[[AtRest], list[np.ndarray]]) -> list[np.ndarray]:
        """The sums of what relative changes of every number make of what follows ``of`` the matrices at rest."""
        statics, n = wide_statics_of(self.system), len(self.z)
        numbers = np.concatenate([self.sharp, wide(statics.numbers(self.parameters))])
        here = of(statics(numbers[:n], numbers[n:]))
        moved = [np.zeros(each.shape) for each in here]
        for k in np.flatnonzero(numbers.astype(float)):
            beside = numbers.copy()
            beside[k] *= 1 + STEP
            for total, there, each in zip(moved, of(statics(beside[:n], beside[n:])), here, strict=True):
                total += np.abs((there - each).astype(float)) / STEP
        return moved

    @np.errstate(all="ignore")
    def eliminated(self, of: Callable[[AtRest], np.ndarray], terms: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Elimination with complete pivoting until what is left of a matrix is zero; ``terms`` are summed in it.

        Returned are L and R with Lᵀ K R diagonal, the largest entries first, and how many are not zero.
        """
        K, pivots = of(self.at), Pivots()
        while True:
            X, L, R = _eliminated(K, pivots)
            k = len(pivots)
            block = X[k:, k:].astype(float)
            summed = np.abs(L[:, k:]).T @ terms @ np.abs(R[:, k:])
            block = np.where(np.abs(block) > WIDER * terms.max(), block, 0.0)
            if block.any() and (np.abs(block) <= RANK * summed).all():
                block = np.where(np.abs(block) > self._doubt(of, pivots, summed), block, 0.0)
            if not block.any():
                return L, R, k
            i, j = np.unravel_index(np.abs(block).argmax(), block.shape)
            pivots.append((k + int(i), k + int(j)))

    def _doubt(self, of: Callable[[AtRest], np.ndarray], pivots: Pivots, summed: np.ndarray) -> np.ndarray:
        """What rounding of numbers, or of terms in double precision, may have left of a matrix after elimination."""
        if not wide_statics_of(self.system).exact:
            return SUMMED * summed
        k = len(pivots)
        return UNCERTAIN * self.moved(lambda at: [_eliminated(of(at), pivots)[0][k:, k:]])[0]


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
    numbers = _numbers(lin)
    terms = np.abs(left).T @ np.abs(lin.stiffness) @ np.abs(right)
    L, R, k = numbers.eliminated(lambda at: _projected(lin, at, left, right)[0], terms)
    turned = left @ L, right @ R
    return Soft(L, R, np.linalg.qr(turned[1][:, k:])[0], numbers.moved(lambda at: _projected(lin, at, *turned)))


def in_more_digits(lin: Linearisation, left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """Stiffness, damping and inertia in directions that obey the constraints, summed with more digits."""
    return [each.astype(float) for each in _projected(lin, _numbers(lin).at, left, right)]


def without_noise(directions: np.ndarray) -> np.ndarray:
    """Directions, column by column in even units, without components that are rounding."""
    return np.where(np.abs(directions) > len(directions) * EPS, directions, 0.0)


def _numbers(lin: Linearisation) -> Numbers:
    return Numbers(lin.system, np.concatenate([lin.q, lin.p]), lin.numbers)


def _projected(lin: Linearisation, at: AtRest, left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    d = np.broadcast_to(np.reshape(lin.unit, (-1, 1)), (len(lin.q), 1))
    bases = [wide(each) for each in (left, right)]
    if len(lin.A):
        rows = row_units(lin.A)[:, None]
        back = wide(np.linalg.pinv(rows * lin.A) * rows.T)
        for _ in range(2):
            bases = [each - back @ ((at.A * d.T) @ each) for each in bases]
    return [bases[0].T @ (each * d * d.T) @ bases[1] for each in (at.K, at.C, at.M)]


def _eliminated(K: np.ndarray, pivots: Pivots) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lᵀ K R, with the rows and columns of pivots first and alone, and L and R."""
    X, (L, R) = K.copy(), (wide(np.eye(size)) for size in K.shape)
    for k, (i, j) in enumerate(pivots):
        for each, place in ((X, (i, k)), (L.T, (i, k)), (X.T, (j, k)), (R.T, (j, k))):
            each[list(place)] = each[list(place[::-1])]
        down, along = X[k + 1 :, k] / X[k, k], X[k, k + 1 :] / X[k, k]
        L[:, k + 1 :] -= L[:, k : k + 1] * down
        R[:, k + 1 :] -= R[:, k : k + 1] * along
        X[k + 1 :, k + 1 :] -= down[:, None] * X[k, k + 1 :]
        X[k + 1 :, k], X[k, k + 1 :] = 0, 0
    return X, L.astype(float), R.astype(float)
