"""Lightly damped oscillations: growth rates to digits of their own.

Where damping is light, C = ε C', an oscillation has the eigenvalue ε σ + iω and the vector a + iε b, in which all but ε
is of order one. Real and imaginary parts of (K + λ C + λ² M) x = 0, the latter divided by ε, are

    A a − ε² B b = 0,    A b + B a = 0,    A = K − ω² M + ε² (σ C' + σ² M),    B = ω (C' + 2 σ M),

so that σ follows from them however small ε is. In λ itself, rounding of order ω would hide it: stiffness and mass are
real, and what rounding does to them moves frequencies, not growth rates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.algebra.newtons_method import Stopping, each_solved, newton
from pfaff.algebra.tolerances import EPS, SETTLED

LIGHT = 1e-3  # damping beside stiffness and inertia, below which it is light
REFINEMENTS = 8  # steps of Newton's method, on a stack of which each has settled when none is halved any more
ROUNDED = 4 * EPS  # residual of the equations, relative to their terms, that is rounding
NEAR = 1e-2  # relative distance from where it was sought within which an eigenvalue is accepted
UPRIGHT = 0.1  # the largest imaginary part of an accepted vector, beside its real part


class Stack(NamedTuple):
    """Stiffness, damping and mass of many pencils, or of one."""

    K: np.ndarray
    C: np.ndarray
    M: np.ndarray

    @property
    def light(self) -> np.ndarray:
        """ε: how large damping is beside stiffness and inertia at eigenvalues of modulus one."""
        K, C, M = (np.abs(each).max(axis=(-2, -1), initial=0.0) for each in self)
        return np.asarray(C / np.maximum(K, M))

    @property
    def transposed(self) -> Stack:
        return Stack(*(each.swapaxes(-1, -2) for each in self))

    def of(self, places: np.ndarray) -> Stack:
        return Stack(*(each[places] for each in self))


class Light(NamedTuple):
    """Eigenvalues with vectors: how far a rounding of one would move each growth rate, and which are right."""

    values: np.ndarray
    vectors: np.ndarray
    moved: np.ndarray
    settled: np.ndarray


def most_real(vectors: np.ndarray) -> np.ndarray:
    """The vectors, each with the phase in which it is as real as possible."""
    if not np.iscomplexobj(vectors):
        return vectors
    return vectors * np.exp(-0.5j * np.angle((vectors**2).sum(axis=-1, keepdims=True)))


def refined(pencils: Stack, vectors: np.ndarray) -> Light:
    """Eigenvalues near i of lightly damped pencils, one for each pencil, by Newton's method from their vectors."""
    with np.errstate(over="ignore", invalid="ignore"):  # where Newton's method runs away, nothing settles
        light = pencils.light
        form = _Form(*_in_units_of_damping(pencils, light), light[:, None, None])
        a = most_real(vectors).real
        c = a / (a**2).sum(axis=1, keepdims=True)
        n, here = a.shape[1], _Mode(a, 0 * a, 0 * light, 1 + 0 * light)
        change, matrix, last = np.full(len(light), np.inf), np.empty(0), np.empty(0)

        def step(here: _Mode) -> tuple[_Mode, float]:
            nonlocal change, matrix, last
            matrix, residual = form.newton(here, c)
            last = each_solved(matrix, -residual[:, :, None])[:, :, 0]
            before, change = change, np.abs(last[:, -2:]).max(axis=1)
            return here.moved(last), float((change < before / 2).any())

        here = newton(step, here, Stopping(REFINEMENTS)).at
        unit = np.broadcast_to(np.eye(2 * n + 2)[:, [-2]], (*last.shape, 1))
        to_σ = each_solved(matrix.transpose(0, 2, 1), unit)[:, :, 0]
        moved = (np.abs(to_σ[:, :-2]) * form.sizes(here)).sum(axis=1)
        settled = (np.abs(last[:, -2]) <= SETTLED * np.abs(here.σ) + ROUNDED * moved) & (np.abs(last[:, -1]) <= SETTLED)
        settled &= (np.abs(here.ω - 1) < NEAR) & (light * np.abs(here.σ) < NEAR)
        settled &= light * np.linalg.norm(here.b, axis=1) <= UPRIGHT * np.linalg.norm(here.a, axis=1)
        return Light(light * here.σ + 1j * here.ω, here.a + 1j * light[:, None] * here.b, light * moved, settled)


class _Mode(NamedTuple):
    """Vectors a + iε b and eigenvalues ε σ + iω."""

    a: np.ndarray
    b: np.ndarray
    σ: np.ndarray
    ω: np.ndarray

    def moved(self, step: np.ndarray) -> _Mode:
        n = self.a.shape[1]
        return _Mode(self.a + step[:, :n], self.b + step[:, n:-2], self.σ + step[:, -2], self.ω + step[:, -1])

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        return self.a[:, :, None], self.b[:, :, None], self.σ[:, None, None], self.ω[:, None, None]


class _Form(NamedTuple):
    """The equations for a, b, σ, ω."""

    K: np.ndarray
    C: np.ndarray
    M: np.ndarray
    ε: np.ndarray

    def newton(self, mode: _Mode, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Newton's matrix, with c·a = 1 and c·b = 0 below, and the residual."""
        (K, C, M, ε), (a, b, σ, ω) = self, mode.columns
        c = c[:, None, :]
        D, zero = C + 2 * σ * M, 0 * c
        A, B = K - ω**2 * M + ε**2 * σ * (C + σ * M), ω * D
        Ma, Mb, Da, Db = M @ a, M @ b, D @ a, D @ b
        upper = np.concatenate([A, -(ε**2) * B, ε**2 * (Da - 2 * ω * Mb), -2 * ω * Ma - ε**2 * Db], axis=2)
        lower = np.concatenate([B, A, ε**2 * Db + 2 * ω * Ma, Da - 2 * ω * Mb], axis=2)
        corner = np.zeros((len(K), 1, 2))
        borders = np.concatenate([c, zero, corner], axis=2), np.concatenate([zero, c, corner], axis=2)
        residual = np.concatenate([A @ a - ε**2 * (B @ b), A @ b + B @ a, c @ a - 1, c @ b], axis=1)
        return np.concatenate([upper, lower, *borders], axis=1), residual[:, :, 0]

    def sizes(self, mode: _Mode) -> np.ndarray:
        """Sizes of the equations if nothing in them cancelled."""
        (K, C, M, ε), (a, b, σ, ω) = map(np.abs, self), map(np.abs, mode.columns)
        A, B = K + ω**2 * M + ε**2 * σ * (C + σ * M), ω * (C + 2 * σ * M)
        return np.concatenate([A @ a + ε**2 * (B @ b), A @ b + B @ a], axis=1)[:, :, 0]


def _in_units_of_damping(pencils: Stack, light: np.ndarray) -> Stack:
    """The pencils with C / ε for C."""
    ε = light[:, None, None]
    return pencils._replace(C=np.divide(pencils.C, ε, out=np.zeros_like(pencils.C), where=ε > 0))
