"""Gauss's points, the polynomials through values there, and integrals of Legendre's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import legendre

from pfaff.threads import cached_property


@dataclass(frozen=True, eq=False)
class Gauss:
    """Gauss's collocation with m points in [0, 1]: the Runge–Kutta coefficients A, b, c, and A², bᵀA.

    ``inverse`` gives, column by column, the Legendre coefficients of the polynomial that is 1 at one point.
    """

    degree: int
    A: np.ndarray
    A2: np.ndarray
    b: np.ndarray
    bA: np.ndarray
    c: np.ndarray
    inverse: np.ndarray

    def values(self, at: np.ndarray) -> np.ndarray:
        """The polynomials that are 1 at one Gauss point and 0 at the others, one column each."""
        return legendre.legvander(2 * at - 1, self.degree - 1) @ self.inverse

    def integrals(self, at: np.ndarray) -> np.ndarray:
        """Integrals of these polynomials from 0."""
        return legendre_integrals(2 * at - 1, self.degree) @ self.inverse

    @cached_property
    def highest(self) -> np.ndarray:
        """Weights of values at the Gauss points in the highest derivative of the polynomial through them."""
        leading = legendre.leg2poly(np.eye(self.degree)[-1])[-1] * 2.0 ** (self.degree - 1)
        return self.inverse[-1] * leading * np.prod(np.arange(1, self.degree, dtype=float))

    @cached_property
    def constant(self) -> float:
        """The constant max |∫ Π(s − c_i) ds|/m! of the error between mesh points."""
        polynomial = np.polynomial.Polynomial.fromroots(self.c).integ()
        within = polynomial(np.linspace(0.0, 1.0, 401)) - polynomial(0.0)
        return float(np.abs(within).max() / np.prod(np.arange(1, self.degree + 1, dtype=float)))


@lru_cache(maxsize=16)
def gauss(degree: int) -> Gauss:
    points, weights = legendre.leggauss(degree)
    inverse = np.linalg.inv(legendre.legvander(points, degree - 1))
    A, b = legendre_integrals(points, degree) @ inverse, weights / 2
    return Gauss(degree, A, A @ A, b, b @ A, (points + 1) / 2, inverse)


def legendre_integrals(x: np.ndarray, size: int) -> np.ndarray:
    """∫₀^σ P_k(2τ − 1) dτ = (P_{k+1} − P_{k−1})/(2(2k + 1)) at x = 2σ − 1, for k < size; P_{−1} is −1."""
    P = legendre.legvander(x, size)
    before = np.concatenate([-np.ones_like(P[..., :1]), P[..., : size - 1]], axis=-1)
    return (P[..., 1:] - before) / (2 * (2 * np.arange(size) + 1))
