"""All loads at which eigenvalues of a matrix J(load) meet, cancel or vanish: eigenvalues of a larger pencil.

Where J is a polynomial in the load, so are

    X ↦ J X + X Jᵀ on antisymmetric X, singular where λ_i + λ_j = 0 (the bialternate product 2J ⊙ I; Fuller 1968), and
    X ↦ X Jᵀ − (1 + ε) J X, singular where λ_j = (1 + ε) λ_i: just before two eigenvalues meet (the fixed relative
    distance of Jarlebring, Kvaal and Michiels, SIAM J. Matrix Anal. Appl. 32, 2011).

The first form of J = [[0, I], [−A, −D]] leaves of X = [[Y, S], [−Sᵀ, W]] a symmetric S and an antisymmetric Y, as its
first rows say S = Sᵀ and W = Y Aᵀ + S Dᵀ: half as many unknowns, in which it is affine in A (see ``damped_sums``).

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


def damped_sums(A: np.ndarray, D: np.ndarray) -> np.ndarray:
    """A matrix that is singular where ẍ + D ẋ + A x = 0 has eigenvalues λ_i + λ_j = 0, i < j.

    D S − A Y plus its transpose, and (A − D²/2) S + (D A Y + A Y Dᵀ)/2 minus its transpose, on symmetric S and
    antisymmetric Y.
    """
    n, one = len(A), np.eye(len(A))
    places = [(n * i + j, n * j + i) for i, j in (np.triu_indices(n), np.triu_indices(n, 1))]

    def acting(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """X ↦ left X rightᵀ."""
        return (left[:, None, :, None] * right[:, None]).reshape(n * n, n * n)

    def part(whole: np.ndarray, rows: int, columns: int) -> np.ndarray:
        """The result plus its transpose (0) or minus it (1), of symmetric (0) or antisymmetric (1) X."""
        for axis, kind in ((0, rows), (1, columns)):
            above, below = (whole.take(each, axis) for each in places[kind])
            whole = above - below if kind else above + below
        return whole

    crossed = acting(D @ A, one) + acting(A, D)
    return np.block([
        [part(acting(D, one), 0, 0), -part(acting(A, one), 0, 1)],
        [part(acting(A - D @ D / 2, one), 1, 0), part(crossed, 1, 1) / 2],
    ])  # fmt: skip


def near_meetings(J: np.ndarray) -> np.ndarray:
    """I ⊗ J − (1 + ε) J ⊗ I, whose eigenvalues are λ_j − (1 + ε) λ_i."""
    one = np.eye(len(J))
    return np.kron(one, J) - (1 + DISTANCE) * np.kron(J, one)


def all_roots(terms: Sequence[np.ndarray], deficiency: int = 0) -> np.ndarray:
    """All x at which Σ terms_k x^k is singular beyond a ``deficiency`` that it has everywhere."""
    if not len(terms[0]) or deficiency >= len(terms[0]):
        return np.zeros(0, dtype=complex)
    evened = _evened(list(terms))
    return _roots(_projected(evened, deficiency) if deficiency else evened)


def real_among(roots: np.ndarray, exact: bool = True) -> np.ndarray:
    """The real ones of some roots, sorted.

    Those that are complex by rounding, or may be so by the error of a polynomial that is not ``exact``, count as what
    they may have been: their real part and one place on either side of it.
    """
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
