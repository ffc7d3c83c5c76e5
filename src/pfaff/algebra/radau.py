"""Collocation at Radau's points: coefficients for any number of stages.

Hairer and Wanner (1996), Solving Ordinary Differential Equations II, IV.5 and IV.8. With s stages the method has order
2s − 1 at the end of a step and s in between; it is L-stable, and its last stage is the end of the step, so that
constraints hold there. Polynomials are written in Legendre's basis, where no number of stages is ill-conditioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre

from pfaff.algebra.gauss import Gauss, legendre_integrals


@dataclass(frozen=True, eq=False)
class Collocation:
    """Nodes c in (0, 1], the matrix A = (a_ij), and A⁻¹ = T diag(λ) T⁻¹ with one real eigenvalue, first in order."""

    nodes: np.ndarray
    matrix: np.ndarray
    eigenvalues: np.ndarray  # the real one, then one of each complex pair
    forward: np.ndarray  # rows of T⁻¹ for these eigenvalues
    backward: np.ndarray  # columns of T, doubled for the pairs: x = Re(backward @ (forward @ x))
    _to_basis: np.ndarray

    @property
    def stages(self) -> int:
        return len(self.nodes)

    def values(self, at: np.ndarray) -> np.ndarray:
        """Weights of the stages for the value of their polynomial at the points ``at``, one row for each."""
        return _basis(np.atleast_1d(at), self.stages) @ self._to_basis

    def integrals(self, at: np.ndarray) -> np.ndarray:
        """Weights of the stages for the integral of their polynomial from 0 to the points ``at``."""
        return legendre_integrals(2 * np.atleast_1d(at) - 1, self.stages) @ self._to_basis


@cache
def radau(stages: int) -> Collocation:
    """The nodes are the zeros of P_s−1 − P_s, moved to (0, 1]; an odd number of stages has one real eigenvalue."""
    difference = np.zeros(stages + 1)
    difference[-2:] = 1, -1
    nodes = (1 + np.sort(legendre.legroots(difference).real)) / 2
    nodes[-1] = 1.0
    to_basis = np.linalg.inv(_basis(nodes, stages))
    matrix = legendre_integrals(2 * nodes - 1, stages) @ to_basis
    eigenvalues, T = np.linalg.eig(np.linalg.inv(matrix))
    inverse = np.linalg.inv(T)
    real = int(np.abs(eigenvalues.imag).argmin())
    pairs = [k for k in np.argsort(eigenvalues.imag) if eigenvalues[k].imag > 0 and k != real]
    chosen = [real, *pairs]
    doubled = T[:, chosen] * np.array([1] + [2] * len(pairs))
    return Collocation(nodes, matrix, eigenvalues[chosen], inverse[chosen], doubled, to_basis)


@cache
def radau_rule(stages: int) -> Gauss:
    """The Radau rule as a ``Gauss``, for what takes Gauss's points."""
    rule = radau(stages)
    A, b = rule.matrix, rule.matrix[-1]
    return Gauss(stages, A, A @ A, b, b @ A, rule.nodes, rule._to_basis)


def _basis(at: np.ndarray, size: int) -> np.ndarray:
    return legendre.legvander(2 * at - 1, size - 1)
