"""The column of rigid bars in plain arrays: its matrices about the bent or straight rest, for any number of bars.

Cazzolli, Dal Corso and Bigoni (2020). Angles θ_i and the block's X; joints at X + Σ l cos θ, Σ l sin θ. The rows are
the velocity of the end along the last bar turned by β0 (skate), or of the point of the last bar that touches the bow.
Arrays hold floats or mpmath's numbers: the formulas are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from cross.rests import Rests

DIGITS = 40
MANY = np.vectorize(mp.mpf, otypes=[object])


def sin(x: Any) -> Any:
    return np.vectorize(mp.sin, otypes=[object])(x) if np.asarray(x).dtype == object else np.sin(x)


def cos(x: Any) -> Any:
    return np.vectorize(mp.cos, otypes=[object])(x) if np.asarray(x).dtype == object else np.cos(x)


@dataclass(frozen=True)
class Chain(Rests):
    """All bars alike, of length 1/N and mass 1/N at d/N; stiffnesses k1 at the block and 1 elsewhere."""

    bars: int
    constraint: str
    M_L: float = 0.0
    I_L: float = 0.0
    M_X: float = 0.0
    k1: float = 1.0
    d: float = 0.5
    beta0: float = 0.0
    c_i: float = 0.0
    c_e: float = 0.0
    c_t: float = 0.0
    c_r: float = 0.0

    @property
    def parameters(self) -> dict[str, float]:
        return {name: value for name, value in vars(self).items() if name not in ("bars", "constraint")}

    @property
    def damped(self) -> bool:
        return bool(self.c_i or self.c_e or self.c_t or self.c_r)

    def row(self, theta: np.ndarray) -> np.ndarray:
        """A(θ), the coefficient of Ẋ last: (Ẋ − Σ l sin θ θ̇, Σ l cos θ θ̇) along the blade or the bow."""
        l, one = (theta[0] * 0 + 1) / self.bars, theta[0] * 0 + 1
        if self.constraint == "skate":
            turned = theta[-1] + self.beta0
            return np.append(l * sin(turned - theta), cos(turned))
        beta = one * self.beta0
        across, up = 1 - (l * cos(theta[:-1])).sum(), -(l * sin(theta[:-1])).sum()  # lever, X left out as in print
        return np.concatenate([l * sin(beta - theta[:-1]), [across * sin(beta) - up * cos(beta), cos(beta)]])

    def row_by_angles(self, theta: np.ndarray) -> np.ndarray:
        """∂A/∂θ, a row for each entry of A."""
        N, l, one = self.bars, (theta[0] * 0 + 1) / self.bars, theta[0] * 0 + 1
        table = np.zeros((N + 1, N)) * one
        if self.constraint == "skate":
            turned = theta[-1] + self.beta0
            table[:N, N - 1] += l * cos(turned - theta)
            table[range(N), range(N)] -= l * cos(turned - theta)
            table[N, N - 1] -= sin(turned)
            return table
        beta, bars = one * self.beta0, range(N - 1)
        table[bars, bars] -= l * cos(beta - theta[:-1])
        table[N - 1, bars] += l * cos(theta[:-1]) * cos(beta) + l * sin(theta[:-1]) * sin(beta)
        return table

    def hinges(self, first: float) -> np.ndarray:
        """Σ k (θ_i − θ_{i−1})² as a matrix, with k = 1 but at the block."""
        bends = np.eye(self.bars) - np.eye(self.bars, k=-1)
        return bends.T @ np.diag([first] + [1.0] * (self.bars - 1)) @ bends

    def moments(self, theta: np.ndarray, load: Any) -> tuple[np.ndarray, np.ndarray]:
        """Moments at rest with X held and the reaction p = F/A_X, and their derivatives by the angles."""
        A, slope, K = self.row(theta), self.row_by_angles(theta), self.hinges(self.k1)
        arms, push = A[:-1], load / A[-1]
        by_angles = K + push * slope[:-1] - np.outer(arms, slope[-1]) * push / A[-1]
        return K @ theta + push * arms, by_angles

    def rest(self, z: np.ndarray, load: float) -> np.ndarray:
        """The angles at rest near some."""
        for _ in range(30):
            moments, slopes = self.moments(z, load)
            step = np.linalg.solve(slopes, moments)
            z = z - step
            if np.abs(step).max() < 1e-15:
                break
        return z

    def tangent(self, z: np.ndarray, load: float) -> np.ndarray:
        A = self.row(z)
        return -np.linalg.solve(self.moments(z, load)[1], A[:-1] / A[-1])

    def imbalance(self, z: np.ndarray, load: float) -> float:
        return float(np.abs(self.moments(z, load)[0]).max())

    def matrices(self, theta: np.ndarray, load: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K + p ∂Aᵀ/∂q and A in the coordinates (θ, X)."""
        N, one = self.bars, theta[0] * 0 + 1
        l = one / N
        M, C, K = (np.zeros((N + 1, N + 1)) * one for _ in range(3))

        across, up = l * sin(theta), l * cos(theta)

        def velocity(bar: int, share: float) -> np.ndarray:
            """Of a point of a bar, as coefficients of the rates."""
            arms = np.array([1.0] * bar + [share] + [0.0] * (N - bar - 1))
            return np.array([np.append(-arms * across, one), np.append(arms * up, 0 * one)])

        for bar in range(N):
            centre, u, w = (velocity(bar, share) for share in (self.d, 0.0, 1.0))
            M += centre.T @ centre * l
            C += self.c_e * l / 3 * (u.T @ u + (u.T @ w + w.T @ u) / 2 + w.T @ w)
        end = velocity(N - 1, 1.0)
        M += self.M_L * (end.T @ end)
        C += self.c_t * (end.T @ end)
        M[N - 1, N - 1] += self.I_L
        C[N - 1, N - 1] += self.c_r
        M[N, N] += self.M_X
        C[:N, :N] += self.c_i * self.hinges(1.0)
        A = self.row(theta)
        K[:N, :N] += self.hinges(self.k1)
        K[:, :N] += load / A[N] * self.row_by_angles(theta)
        return M, C, K, A

    def accelerations(self, q: np.ndarray, v: np.ndarray, load: float) -> tuple[np.ndarray, float]:
        """q̈ and p of any motion: M q̈ + (∂M/∂q·v) v − ∂(vᵀMv/2)/∂q + C v + forces + Aᵀp = 0, A q̈ + Ȧ v = 0."""
        N = self.bars
        M, C, _, A = self.matrices(q[:N], load)
        slopes = np.zeros((N + 1, N + 1, N + 1))  # ∂M/∂q_k, by complex steps
        for k in range(N):
            slopes[k] = self.matrices(q[:N] + 1e-30j * np.eye(N)[k], load)[0].imag / 1e-30
        h = np.einsum("kij,j,k->i", slopes, v, v) - np.einsum("ijk,j,k->i", slopes, v, v) / 2 + C @ v
        h[:N] += self.hinges(self.k1) @ q[:N]
        h[N] -= load
        turning = self.row_by_angles(q[:N]) @ v[:N] @ v
        whole = np.block([[M, A[:, None]], [A[None], np.zeros((1, 1))]])
        solved = np.linalg.solve(whole, -np.append(h, turning))
        return solved[:-1], float(solved[-1])

    def first_order(self, theta: np.ndarray, load: float) -> np.ndarray:
        """In angles and their rates: Ẋ follows from the row, X moves nothing."""
        N = self.bars
        M, C, K, A = self.matrices(theta, load)
        S = np.vstack([np.eye(N), -A[:N] / A[N]])
        left = np.linalg.inv(S.T @ M @ S)
        return np.block([[np.zeros((N, N)), np.eye(N)], [-left @ S.T @ K[:, :N], -left @ S.T @ C @ S]])

    def eigenvalues(self, z: np.ndarray, load: float) -> np.ndarray:
        return np.linalg.eigvals(self.first_order(z, load))

    def stiffness_sign(self, z: np.ndarray, load: float) -> float:
        return float(np.linalg.slogdet(self.first_order(z, load))[0])

    def exact_eigenvalues(self, z: np.ndarray, load: Any) -> list[Any]:
        """All eigenvalues but the zeros with many digits: NumPy's, corrected by λ − yᴴPx/yᴴP'x until they stay."""
        with mp.workdps(DIGITS):
            angles, load = MANY(z), mp.mpf(load)
            for _ in range(4):
                moments, slopes = self.moments(angles, load)
                angles = angles - np.array(list(mp.lu_solve(mp.matrix(slopes.tolist()), mp.matrix(moments.tolist()))))
            matrices = self.matrices(angles, load)
            values = self.eigenvalues(z, float(load))
            found = [_corrected(mp.mpc(value), *matrices) for value in values if value.imag >= 0]
            return [*found, *(value.conjugate() for value in found if value.imag)]


def _corrected(s: Any, M: np.ndarray, C: np.ndarray, K: np.ndarray, A: np.ndarray) -> Any:
    """The eigenvalue of the pencil near s; vectors to double precision leave an error of their product."""
    m, c, k, a = (each.astype(float) for each in (M, C, K, A))
    for _ in range(3):
        z = complex(s)
        left, _, right = np.linalg.svd(np.block([[m * z * z + c * z + k, a[:, None]], [a[None], np.zeros((1, 1))]]))
        x, y = (np.vectorize(mp.mpc, otypes=[object])(each) for each in (right[-1].conj(), left[:, -1].conj()))
        inertia, damping, stiffness = (y[:-1] @ each @ x[:-1] for each in (M, C, K))
        reaction = y[:-1] @ A * x[-1] + y[-1] * (A @ x[:-1])
        step = (inertia * s * s + damping * s + stiffness + reaction) / (2 * inertia * s + damping)
        s = s - step
        if abs(step) < mp.mpf(10) ** (-0.6 * DIGITS) * abs(s):
            break
    return s
