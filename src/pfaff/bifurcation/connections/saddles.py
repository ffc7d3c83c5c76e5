"""Equilibria that orbits leave and approach: how fast, and along which eigenspaces.

An orbit leaves along the unstable eigenspace, on which the left stable one vanishes, and approaches along the stable
one. Bases of both are functions of the Jacobian that are smooth as long as no eigenvalue meets the imaginary axis: L
with L Rᵀ = 1 for a basis R at a reference (Beyn, IMA J. Numer. Anal. 10 (1990); Champneys, Kuznetsov and Sandstede,
Int. J. Bifurcation Chaos 6 (1996)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pfaff.algebra.tolerances import REAL
from pfaff.continuation.endings import Refused

HYPERBOLIC = 1e-7  # growth rates below this, relative to the largest eigenvalue, are zero
TWINS = 1e-9  # distance of eigenvalues, relative to their size, that are equal and have no separate vectors
SIMILAR = 0.5  # cosine of vectors that belong to one eigenvalue


@dataclass(frozen=True, eq=False)
class Saddle:
    """A hyperbolic equilibrium by its Jacobian; ``stable`` and ``unstable`` are rows that span left eigenspaces."""

    jacobian: np.ndarray
    stable: np.ndarray
    unstable: np.ndarray
    eigenvalues: np.ndarray

    @classmethod
    def about(cls, jacobian: np.ndarray, like: Saddle | None = None) -> Saddle:
        """The saddle of a Jacobian; its bases are as close as possible to those of ``like``, with as many vectors."""
        from scipy.linalg import schur

        values = np.linalg.eigvals(jacobian)
        if np.abs(values.real).min() <= HYPERBOLIC * np.abs(values).max():
            raise Refused("an eigenvalue of the equilibrium is on the imaginary axis")
        sides = []
        for half in ("lhp", "rhp"):
            _, basis, count = schur(jacobian.T, sort=half)
            sides.append(basis[:, :count].T)
        if like is not None:
            if len(sides[0]) != len(like.stable):
                raise Refused("an eigenvalue of the equilibrium has crossed the imaginary axis")
            sides = [
                np.linalg.solve(rows @ kept.T, rows)
                for rows, kept in zip(sides, (like.stable, like.unstable), strict=True)
            ]
        return cls(jacobian, sides[0], sides[1], values[np.lexsort((values.imag, -values.real))])

    @property
    def growing(self) -> np.ndarray:
        """Eigenvalues to the right of the imaginary axis, the slowest first."""
        right = self.eigenvalues[self.eigenvalues.real > 0]
        return right[np.lexsort((-right.imag, right.real))]

    @property
    def decaying(self) -> np.ndarray:
        """Eigenvalues to the left of the imaginary axis, the slowest first."""
        left = self.eigenvalues[self.eigenvalues.real < 0]
        return left[np.lexsort((-left.imag, -left.real))]

    def tail(self, leaving: bool, apart: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The linear motion through a state at time zero, on the eigenspace along which orbits leave, or approach."""
        from scipy.linalg import expm, schur

        _, basis, count = schur(self.jacobian, sort="rhp" if leaving else "lhp")
        Q = basis[:, :count]
        rates, start = Q.T @ self.jacobian @ Q, self._along(Q, leaving) @ apart
        return np.array([Q @ (expm(time * rates) @ start) for time in times])

    def _along(self, Q: np.ndarray, leaving: bool) -> np.ndarray:
        """Coordinates on an eigenspace, along the other one."""
        rows = self.unstable if leaving else self.stable
        return np.linalg.solve(rows @ Q, rows)

    def bending(self, leaving: bool, rates: np.ndarray) -> np.ndarray:
        """How far the manifold of orbits that leave, or approach, is from its eigenspace, to second order, with the
        rates f taken on that: h of ḣ = Λh + r e^{2λt}, λ being the slowest eigenvalue."""
        rows = self.stable if leaving else self.unstable
        slowest = (self.growing if leaving else self.decaying)[0].real
        across = rows @ self.jacobian @ np.linalg.pinv(rows)
        return np.linalg.solve(2 * slowest * np.eye(len(rows)) - across, rows @ rates)


def is_real(value: complex) -> bool:
    return bool(abs(value.imag) <= REAL * abs(value))


class Leading(NamedTuple):
    """Left and right eigenvectors of a simple real eigenvalue, q of unit length and ⟨p, q⟩ = 1."""

    p: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, jacobian: np.ndarray, value: complex) -> Leading | None:
        if not is_real(value):
            return None
        values, right = np.linalg.eig(jacobian)
        order = np.argsort(np.abs(values - value))
        if len(order) > 1 and abs(values[order[1]] - value) <= TWINS * abs(value):
            return None
        q, p = right[:, order[0]].real, np.linalg.inv(right)[order[0]].real
        size = np.linalg.norm(q)
        return cls(p * size, q / size)

    def like(self, other: Leading) -> Leading | None:
        """The vectors oriented like another one's, judged by the more similar of them; None if these differ."""
        cosines = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(self, other, strict=True)]
        told = max(cosines, key=abs)
        if abs(told) < SIMILAR:
            return None
        return self if told > 0 else Leading(-self.p, -self.q)

    def in_units(self, ratio: np.ndarray) -> Leading:
        """The vectors in units of the states that are ``ratio`` times as large."""
        return Leading(self.p * ratio, self.q / ratio)


def bend(values: np.ndarray) -> float:
    """(a − b)² of the two slowest eigenvalues of a side: positive if both are real, negative if they are a pair."""
    if len(values) < 2:
        return 1.0
    a, b = values[:2]
    if is_real(a) != is_real(b):
        return float(abs(a - b) ** 2)
    return float(((a - b) ** 2).real)
