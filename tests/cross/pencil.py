"""Equilibria and small motions by brute force: Newton's method, and the determinant of the pencil with many digits.

The pencil is [M λ² + C λ + K, Aᵀ; A λ + B, 0], with Φ_q instead of A λ + B where a row is held. Its determinant is a
polynomial, known by its values on a circle: leading zeros are infinite eigenvalues, trailing ones structural zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sm

from cross.dae import Equations
from cross.mechanics import Mechanics
from cross.rests import Rests

DIGITS = 50
ZERO = mp.mpf(10) ** -30  # coefficients below this, relative to the largest, vanish


@dataclass(frozen=True, eq=False)
class Rest:
    """An equilibrium to fifty digits."""

    q: mp.matrix
    p: mp.matrix
    load: float


@dataclass(frozen=True, eq=False)
class SmallMotions(Rests):
    """Everything about the rests of a system, with the coordinates ``fixed`` by index that select one of a family."""

    of: Mechanics
    fixed: Mapping[int, float]

    @cached_property
    def _functions(self) -> tuple[Any, Any]:
        """Balance, its rows that demand something, K, C, M, A, B: by NumPy and by mpmath."""
        given = Equations(self.of)
        q, v = self.of.q, self.of.v
        M, h, A, _ = given.matrices
        still = dict.fromkeys(v, 0)
        p = sm.Matrix(len(given.p), 1, given.p)
        balance = (h + A.T * p if len(given.p) else h).xreplace(still)
        b = sm.Matrix(len(self.of.rolling), 1, [row.xreplace(still) for row in self.of.rolling])
        demands = sm.Matrix([*b, *self.of.held])
        parts = (
            list(balance),
            list(demands),
            balance.jacobian(q).tolist(),
            h.jacobian(v).xreplace(still).tolist(),
            M.xreplace(still).tolist(),
            A.xreplace(still).tolist(),
            demands.jacobian(q).tolist() if len(demands) else [],
        )
        arguments = [q, given.p, list(self.of.parameters)]
        return tuple(sm.lambdify(arguments, parts, name, cse=True) for name in ("numpy", "mpmath"))  # type: ignore

    def _values(self, load: Any) -> list[Any]:
        values: list[Any] = list(self.of.values)
        if self.of.load is not None:
            values[list(self.of.parameters).index(self.of.load)] = load
        return values

    def parts(self, q: np.ndarray, p: np.ndarray, load: float) -> list[np.ndarray]:
        n = len(q)
        found = [np.asarray(each, dtype=float) for each in self._functions[0](q, p, self._values(load))]
        return [*found[:5], *(each.reshape(-1, n) for each in found[5:])]

    @cached_property
    def _demanding(self) -> np.ndarray:
        """Rows that demand something at rest: what is held, and what rolls with a b(q)."""
        still = dict.fromkeys(self.of.v, 0)
        rolls = [row.xreplace(still) != 0 for row in self.of.rolling]
        return np.array([*rolls, *(True for _ in self.of.held)], dtype=bool)

    @cached_property
    def _free(self) -> np.ndarray:
        size = len(self.of.q) + len(self._demanding)
        return np.array([k for k in range(size) if k not in self.fixed])

    def _newton(self, z: np.ndarray, load: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residual and Jacobian by all unknowns, and the step in those that are free."""
        n = len(self.of.q)
        balance, demands, K, _, _, A, B = self.parts(z[:n], z[n:], load)
        rows = self._demanding
        residual = np.concatenate([balance, demands[rows]])
        jacobian = np.block([[K, A.T], [B[rows], np.zeros((rows.sum(), len(A)))]])
        step = np.zeros_like(z)
        step[self._free] = np.linalg.lstsq(jacobian[:, self._free], -residual, rcond=1e-12)[0]
        return residual, jacobian, step

    def rest(self, z: np.ndarray, load: float) -> np.ndarray:
        """The rest that Newton's method reaches from here."""
        z = z.copy()
        for _ in range(40):
            step = self._newton(z, load)[2]
            z = z + step
            if np.abs(step).max() < 1e-14 * (1 + np.abs(z).max()):
                break
        return z

    def imbalance(self, z: np.ndarray, load: float) -> float:
        return float(np.abs(self._newton(z, load)[0]).max())

    def tangent(self, z: np.ndarray, load: float) -> np.ndarray:
        before, jacobian, _ = self._newton(z, load)
        push = (self._newton(z, load + 1e-6)[0] - before) / 1e-6
        step = np.zeros_like(z)
        step[self._free] = np.linalg.lstsq(jacobian[:, self._free], -push, rcond=1e-12)[0]
        return step

    def stiffness_sign(self, z: np.ndarray, load: float) -> float:
        """Of the determinant of the pencil at λ = 0, the zeros of rows that roll without b(q) divided out."""
        n = len(self.of.q)
        _, _, K, _, _, A, B = self.parts(z[:n], z[n:], load)
        rows = np.where(self._demanding[:, None], B, A)
        return float(np.linalg.slogdet(np.block([[K, A.T], [rows, np.zeros((len(A), len(A)))]]))[0])

    def eigenvalues(self, z: np.ndarray, load: float) -> np.ndarray:
        """By NumPy, the structural zeros included: q̂˙ = N u − A⁺B q̂ and Nᵀ(M q̂¨ + C q̂˙ + K q̂) = 0."""
        n, rolls = len(self.of.q), len(self.of.rolling)
        _, _, K, C, M, A, B = self.parts(z[:n], z[n:], load)
        B = np.vstack([B[:rolls], 0 * B[rolls:]])
        N = np.linalg.svd(A)[2][len(A) :].T if len(A) else np.eye(n)
        D = np.linalg.pinv(A) @ B if len(A) else np.zeros((n, n))
        left = np.linalg.solve(N.T @ M @ N, N.T)
        J = np.block([[-D, N], [left @ (C @ D - M @ D @ D - K), left @ (M @ D - C) @ N]])
        return np.linalg.eigvals(J)

    def as_given(self, z: np.ndarray, load: Any) -> Rest:
        n = len(self.of.q)
        return Rest(mp.matrix(z[:n].tolist()), mp.matrix(z[n:].tolist()) if len(z) > n else mp.matrix(0, 1), load)

    def exactly(self, z: np.ndarray, load: Any) -> Rest:
        """The same rest to many digits."""
        n, m = len(self.of.q), len(self._demanding)
        free, rows = self._free.tolist(), np.flatnonzero(self._demanding).tolist()
        with mp.workdps(DIGITS + 10):
            exact = [mp.mpf(x) for x in z]
            for _ in range(8):
                balance, demands, K, _, _, A, B = self._functions[1](exact[:n], exact[n:], self._values(mp.mpf(load)))
                size = n + len(rows)
                jacobian, residual = mp.zeros(size, n + m), mp.matrix([*balance, *(demands[k] for k in rows)])
                for i in range(n):
                    for j in range(n):
                        jacobian[i, j] = K[i][j]
                    for k in range(m):
                        jacobian[i, n + k] = A[k][i]
                for i, k in enumerate(rows):
                    for j in range(n):
                        jacobian[n + i, j] = B[k][j]
                square = mp.matrix([[jacobian[i, j] for j in free] for i in range(size)])
                step = mp.lu_solve(square, -residual)
                for j, change in zip(free, step, strict=True):
                    exact[j] += change
            assert mp.norm(step) < mp.mpf(10) ** (-DIGITS), f"no rest: {mp.nstr(mp.norm(step))}"
        return Rest(mp.matrix(exact[:n]), mp.matrix(exact[n:]) if m else mp.matrix(0, 1), load)

    def spectrum(self, rest: Rest) -> tuple[np.ndarray, int]:
        """All finite eigenvalues but zeros, as complex numbers with all their digits, and the number of zeros."""
        values, zeros = self.roots(rest)
        return np.array([complex(value) for value in values]), zeros

    def exact_eigenvalues(self, z: np.ndarray, load: float) -> list[Any]:
        return self.roots(self.exactly(z, load))[0]

    def roots(self, rest: Rest) -> tuple[list[Any], int]:
        """The same with many digits."""
        with mp.workdps(DIGITS):
            _, _, K, C, M, A, B = self._functions[1](list(rest.q), list(rest.p), self._values(mp.mpf(rest.load)))
            return roots_of_pencil(M, C, K, A, B, len(self.of.rolling))


def roots_of_pencil(M: Any, C: Any, K: Any, A: Any, B: Any, rolls: int) -> tuple[list[Any], int]:
    """The finite eigenvalues other than zero, and how many zeros there are, in mpmath's precision."""
    n, m = len(M), len(A)

    def determinant(s: Any) -> Any:
        pencil = mp.zeros(n + m, n + m)
        for i in range(n):
            for j in range(n):
                pencil[i, j] = M[i][j] * s * s + C[i][j] * s + K[i][j]
        for k in range(m):
            for j in range(n):
                pencil[j, n + k] = A[k][j]
                pencil[n + k, j] = A[k][j] * s + B[k][j] if k < rolls else B[k][j]
        return mp.det(pencil)

    size = 2 * n + 1
    circle = [mp.expjpi(mp.mpf(2) * k / size) for k in range(size)]
    values = [determinant(s) for s in circle]
    coefficients = [
        mp.fsum(value * circle[(-j * k) % size] for k, value in enumerate(values)).real / size for j in range(size)
    ]
    largest = max(abs(each) for each in coefficients)
    kept = [k for k, each in enumerate(coefficients) if abs(each) > ZERO * largest]
    zeros, degree = kept[0], kept[-1]
    polynomial = [coefficients[k] for k in range(degree, zeros - 1, -1)]
    if len(polynomial) < 2:
        return [], zeros
    return mp.polyroots(polynomial, maxsteps=400, extraprec=400), zeros


def family(of: Mechanics, load: float = 0.0) -> list[int]:
    """Coordinates that select an equilibrium of a family near the origin: those that move most along it."""
    motions = SmallMotions(of, {})
    n, size = len(of.q), len(of.q) + len(motions._demanding)
    jacobian = motions._newton(np.zeros(size), load)[1]
    _, values, right = np.linalg.svd(jacobian)
    along = right[int((values > 1e-9 * values.max()).sum()) :].T.copy()
    chosen: list[int] = []
    for _ in range(along.shape[1]):
        weight = np.linalg.norm(along[:n], axis=1)
        best = int(weight.argmax())
        chosen.append(best)
        direction = along[best] / weight[best]
        along = along - np.outer(along @ direction, direction)
    return chosen
