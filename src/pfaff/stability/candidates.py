"""All loads at which eigenvalues of a matrix J(load) meet, cancel or vanish: eigenvalues of a larger pencil.

Where J is a polynomial in the load, so are

    X ↦ J X + X Jᵀ on antisymmetric X, singular where λ_i + λ_j = 0 (the bialternate product 2J ⊙ I; Fuller 1968), and
    X ↦ X Jᵀ − (1 + ε) J X, singular where λ_j = (1 + ε) λ_i: just before two eigenvalues meet (the fixed relative
    distance of Jarlebring, Kvaal and Michiels, SIAM J. Matrix Anal. Appl. 32, 2011).

One eigenvalue problem then gives every candidate, none skipped, whatever the interval. A pencil that is singular at
every load, because a mode is never damped, is projected to its normal rank first (Hochstenbach, Mehl and Plestenjak,
SIAM J. Matrix Anal. Appl. 44, 2023). Spurious candidates are sorted out by the caller, who knows the eigenvalues there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pfaff.algebra.polynomials import companion
from pfaff.stability.stretches import moved

DISTANCE = 1e-3  # ε, relative, at which two eigenvalues are about to meet
SUSPECT = 0.05  # the same, relative to its length, on a stretch where the polynomial is a prediction
INFINITE = 1e-13  # reciprocals of roots below this, relative to the largest, belong to roots at infinity
PARTED = 1e-4  # imaginary parts below this, relative to the root, may be rounding: of two close real roots
TOO_NEAR = 1e8  # reciprocal distance of a root from the shift beyond which it spoils the others
EVENED = 4  # sweeps that even out rows and columns
SHIFTS = (0.0, -0.37, -0.73, 1.61)  # about which roots are computed, in usual sizes: the first that is none


def pair_sums(J: np.ndarray) -> np.ndarray:
    """2J ⊙ I, whose eigenvalues are λ_i + λ_j, i < j."""
    i, j = np.triu_indices(len(J), 1)

    def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a[:, None] == b[None]

    return (
        J[np.ix_(i, i)] * same(j, j) - J[np.ix_(i, j)] * same(j, i)
        + J[np.ix_(j, j)] * same(i, i) - J[np.ix_(j, i)] * same(i, j)
    )  # fmt: skip


def near_meetings(J: np.ndarray) -> np.ndarray:
    """I ⊗ J − (1 + ε) J ⊗ I, whose eigenvalues are λ_j − (1 + ε) λ_i."""
    one = np.eye(len(J))
    return np.kron(one, J) - (1 + DISTANCE) * np.kron(J, one)


def real_roots(terms: Sequence[np.ndarray], deficiency: int = 0, exact: bool = True) -> np.ndarray:
    """All real x, sorted, at which Σ terms_k x^k is singular beyond a ``deficiency`` that it has everywhere.

    Roots that are complex by rounding, or may be so by the error of a polynomial that is not ``exact``, count as what
    they may have been: their real part and one place on either side of it.
    """
    if not len(terms[0]) or deficiency >= len(terms[0]):
        return np.zeros(0)
    evened = _evened(list(terms))
    roots = _roots(_projected(evened, deficiency) if deficiency else evened)
    near = roots[np.abs(roots.imag) <= (PARTED * np.abs(roots) if exact else SUSPECT)]
    return np.array(sorted({*near.real.tolist(), *(near.real - near.imag).tolist()}))  # np.unique imports numpy.ma


def _roots(terms: list[np.ndarray]) -> np.ndarray:
    """x = shift + 1/μ with μ the eigenvalues about a shift that is no root itself."""
    best = np.inf, 0.0, np.zeros(0, dtype=complex)
    for shift in SHIFTS:
        about = moved(terms, shift, 1.0)
        try:
            lower = -np.linalg.solve(about[0], np.concatenate(about[:0:-1], axis=1))
        except np.linalg.LinAlgError:
            continue
        if not np.isfinite(lower).all():
            continue
        reciprocals = np.linalg.eigvals(companion(lower)).astype(complex)
        largest = float(np.abs(reciprocals).max(initial=0.0))
        best = min(best, (largest, shift, reciprocals), key=lambda each: each[0])
        if largest < TOO_NEAR:
            break
    largest, shift, reciprocals = best
    return shift + 1 / reciprocals[np.abs(reciprocals) > INFINITE * largest] if largest else np.zeros(0, dtype=complex)


def _evened(terms: list[np.ndarray]) -> list[np.ndarray]:
    """Terms with the same roots, and with rows and columns of like size."""
    whole = sum(np.abs(each) for each in terms)
    rows, columns = np.ones(len(whole)), np.ones(len(whole))
    for _ in range(EVENED):
        size = whole * rows[:, None] * columns
        by_row, by_column = size.max(axis=1), size.max(axis=0)
        rows = rows / np.sqrt(np.where(by_row, by_row, 1.0))
        columns = columns / np.sqrt(np.where(by_column, by_column, 1.0))
    return [each * rows[:, None] * columns for each in terms]


def _projected(terms: list[np.ndarray], deficiency: int) -> list[np.ndarray]:
    """A regular polynomial whose roots include those of a singular one."""
    generator, size = np.random.default_rng(0), len(terms[0])
    left, right = (np.linalg.qr(generator.normal(size=(size, size - deficiency)))[0] for _ in range(2))
    return [left.T @ each @ right for each in terms]
