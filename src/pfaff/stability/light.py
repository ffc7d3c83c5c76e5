"""Lightly damped oscillations: growth rates to digits of their own.

Where damping is light, C = ε C', an oscillation has the eigenvalue ε σ + iω and the vector a + iε b, in which all but ε
is of order one. Real and imaginary parts of (K + λ C + λ² M) x = 0, the latter divided by ε, are

    A a − ε² B b = 0,    A b + B a = 0,    A = K − ω² M + ε² (σ C' + σ² M),    B = ω (C' + 2 σ M),

so that σ follows from them however small ε is. In λ itself, rounding of order ω would hide it: stiffness and mass are
real, and what rounding does to them moves frequencies, not growth rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LIGHT = 1e-3  # damping beside stiffness and inertia, below which it is light
NEWTON_STEPS = 8
SETTLED = 1e-9  # the last change, relative, of an accepted eigenvalue
ROUNDED = 4 * np.finfo(float).eps  # of the equations, what is rounding
NEAR = 1e-2  # how far it may be, relatively, from where it was sought
REAL = 0.1  # the largest imaginary part of an accepted vector, beside its real part

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Light:
    """Some eigenvalues with vectors: their growth rates, how far a rounding of one moves each, and which are right."""

    values: np.ndarray
    vectors: np.ndarray
    moved: np.ndarray
    settled: np.ndarray


def lightness(matrices: Matrices) -> np.ndarray:
    """ε: how large damping is beside stiffness and inertia, of a pencil or of each in a stack, at λ of modulus one."""
    K, C, M = (np.abs(each).max(axis=(-2, -1), initial=0.0) for each in matrices)
    return C / np.maximum(K, M)


def refined(matrices: Matrices, vectors: np.ndarray) -> Light:
    """Eigenvalues near i of lightly damped pencils, one of each of a stack, by Newton's method from their vectors."""
    K, C, M = matrices
    light = lightness(matrices)
    ε = light[:, None, None]
    C = np.divide(C, ε, out=np.zeros_like(C), where=ε > 0)
    a = most_real(vectors).real
    c = a / (a**2).sum(axis=1, keepdims=True)
    b, σ, ω = 0 * a, 0 * light, 1 + 0 * light
    n, change = a.shape[1], np.full(len(light), np.inf)
    for _ in range(NEWTON_STEPS):
        matrix, residual = _bordered(K, C, M, c, a, b, σ, ω, light)
        step = _solved(matrix, -residual)
        a, b, σ, ω = a + step[:, :n], b + step[:, n : 2 * n], σ + step[:, -2], ω + step[:, -1]
        before, change = change, np.abs(step[:, -2:]).max(axis=1)
        if not (change < before / 2).any():
            break
    to_σ = _solved(matrix.transpose(0, 2, 1), np.broadcast_to(np.eye(2 * n + 2)[-2], residual.shape))
    moved = (np.abs(to_σ[:, :-2]) * _sizes(K, C, M, a, b, σ, ω, light)).sum(axis=1)
    settled = (np.abs(step[:, -2]) <= SETTLED * np.abs(σ) + ROUNDED * moved) & (np.abs(step[:, -1]) <= SETTLED)
    settled &= (np.abs(ω - 1) < NEAR) & (light * np.abs(σ) < NEAR)
    settled &= light * np.linalg.norm(b, axis=1) <= REAL * np.linalg.norm(a, axis=1)
    return Light(light * σ + 1j * ω, a + 1j * light[:, None] * b, light * moved, settled)


def most_real(vectors: np.ndarray) -> np.ndarray:
    """The same with phases in which they are as real as can be."""
    if not np.iscomplexobj(vectors):
        return vectors
    return vectors * np.exp(-0.5j * np.angle((vectors**2).sum(axis=-1, keepdims=True)))


def _bordered(
    K: np.ndarray, C: np.ndarray, M: np.ndarray, c: np.ndarray,
    a: np.ndarray, b: np.ndarray, σ: np.ndarray, ω: np.ndarray, ε: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Newton's matrix for a, b, σ, ω with c·a = 1, c·b = 0, and the residual."""
    σ, ω, ε = (each[:, None, None] for each in (σ, ω, ε))
    a, b, c = a[:, :, None], b[:, :, None], c[:, None, :]
    D, zero = C + 2 * σ * M, 0 * c
    A, B = K - ω**2 * M + ε**2 * σ * (C + σ * M), ω * D
    Ma, Mb, Da, Db = M @ a, M @ b, D @ a, D @ b
    upper = np.concatenate([A, -(ε**2) * B, ε**2 * (Da - 2 * ω * Mb), -2 * ω * Ma - ε**2 * Db], axis=2)
    lower = np.concatenate([B, A, ε**2 * Db + 2 * ω * Ma, Da - 2 * ω * Mb], axis=2)
    corner = np.zeros((len(K), 1, 2))
    borders = np.concatenate([c, zero, corner], axis=2), np.concatenate([zero, c, corner], axis=2)
    residual = np.concatenate([A @ a - ε**2 * (B @ b), A @ b + B @ a, c @ a - 1, c @ b], axis=1)
    return np.concatenate([upper, lower, *borders], axis=1), residual[:, :, 0]


def _sizes(
    K: np.ndarray, C: np.ndarray, M: np.ndarray, a: np.ndarray, b: np.ndarray, σ: np.ndarray, ω: np.ndarray, ε: np.ndarray
) -> np.ndarray:
    """What the equations would be if nothing in them cancelled."""
    σ, ω, ε = (each[:, None, None] for each in (np.abs(σ), np.abs(ω), ε))
    K, C, M, a, b = (np.abs(each) for each in (K, C, M, a[:, :, None], b[:, :, None]))
    A, B = K + ω**2 * M + ε**2 * σ * (C + σ * M), ω * (C + 2 * σ * M)
    return np.concatenate([A @ a + ε**2 * (B @ b), A @ b + B @ a], axis=1)[:, :, 0]


def _solved(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of a stack of equations; not a number where there is none."""
    try:
        return np.linalg.solve(matrices, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        found = np.full(right.shape, np.nan)
        for k, matrix in enumerate(matrices):
            if np.linalg.matrix_rank(matrix) == len(matrix):
                found[k] = np.linalg.solve(matrix, right[k])
        return found
