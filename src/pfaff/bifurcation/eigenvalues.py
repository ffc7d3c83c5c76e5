"""Functions of eigenvalues that tell where stability changes, and whether a step may hide such a place."""

from __future__ import annotations

import numpy as np

from pfaff.stability.rounding import REAL, ROUNDING, STIFF

ALWAYS = 1e-9  # sums of two eigenvalues below this, relative to the two, may be zero by structure
DIPS = 33  # places between two points at which growth rates are looked at


def floor(values: np.ndarray) -> float:
    """The rounding of the largest eigenvalue, below which nothing is known about the others."""
    return STIFF * float(np.abs(values).max(initial=0.0))


def pair_sums(values: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(len(values), 1)
    return values[i] + values[j]


def always_zero(values: np.ndarray) -> int:
    """How many sums of two eigenvalues vanish: of undamped modes at every load, else at bifurcations only."""
    return int((np.abs(pair_sums(values)) <= ALWAYS * pair_sums(np.abs(values)) + floor(values)).sum())


def signed_log(factors: np.ndarray) -> tuple[float, float]:
    """Sign and logarithm of a product of real factors and conjugate pairs."""
    sizes = np.abs(factors)
    if not sizes.all():
        return 0.0, -np.inf
    return float(np.sign(np.prod(factors / sizes).real)), float(np.log(sizes).sum())


def bounded(product: tuple[float, float]) -> float:
    """A product from its sign and logarithm, without overflow."""
    sign, log = product
    return sign * float(np.exp(np.clip(log, -600.0, 600.0)))


def hopf_product(values: np.ndarray, without: int = 0) -> tuple[float, float]:
    """Π(λ_i + λ_j) without the smallest factors, as sign and logarithm: it changes its sign at Hopf points.

    At neutral saddles too; see ``imaginary``.
    """
    sums = pair_sums(values)
    return signed_log(sums[np.argsort(np.abs(sums))[without:]])


def imaginary(values: np.ndarray, without: int = 0) -> complex | None:
    """The pair on the imaginary axis where Π(λ_i + λ_j) vanishes; none at a neutral saddle."""
    i, j = np.triu_indices(len(values), 1)
    order = np.argsort(np.abs(values[i] + values[j]))
    if len(order) <= without:
        return None
    first = values[i[order[without]]]
    pair = complex(abs(first.real), abs(first.imag))
    return pair if pair.imag > REAL * abs(first) + floor(values) else None


def axis_pairs(values: np.ndarray, many: int) -> np.ndarray:
    """The frequencies of the pairs among the eigenvalues, so many in number, that are nearest to the imaginary axis."""
    nearest = values[np.argsort(np.abs(values.real))[:many]]
    return np.sort(nearest.imag[nearest.imag > REAL * np.abs(nearest) + floor(values)])


def unstable(values: np.ndarray) -> int:
    """How many eigenvalues lie to the right of the imaginary axis, beyond rounding."""
    return int((values.real > ROUNDING * np.abs(values) + floor(values)).sum())


def not_left(values: np.ndarray) -> int:
    """How many lie to the right of the imaginary axis or on it."""
    return int((values.real >= -ROUNDING * np.abs(values) - floor(values)).sum())


def physical(values: np.ndarray, settle: float, count: int) -> np.ndarray:
    """Indices without those of the eigenvalues −settle by which so many holonomic constraints attract."""
    return np.sort(np.argsort(np.abs(values + settle))[count:])


def slopes(J: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and their derivatives ⟨p, J' q⟩/⟨p, q⟩."""
    values, q = np.linalg.eig(J)
    try:
        return values, np.diag(np.linalg.solve(q, change @ q))
    except np.linalg.LinAlgError:
        return values, np.zeros_like(values)


def dips(a: np.ndarray, da: np.ndarray, b: np.ndarray, db: np.ndarray, length: float) -> bool:
    """Whether a growth rate of one sign at both ends of a step has the other in between, by Hermite's cubics."""
    from scipy.optimize import linear_sum_assignment

    cost = np.abs(b[None] - a[:, None] - length * (da[:, None] + db[None]) / 2)
    if not np.isfinite(cost).all():
        return False
    rows, columns = linear_sum_assignment(cost)
    s = np.linspace(0, 1, DIPS)[:, None]
    noise = ROUNDING * np.maximum(np.abs(a[rows]), np.abs(b[columns])) + max(floor(a), floor(b))
    a, da, b, db = a[rows].real, da[rows].real * length, b[columns].real, db[columns].real * length
    cubic = a + s**2 * (3 - 2 * s) * (b - a) + s * (1 - s) ** 2 * da + s**2 * (s - 1) * db
    same = (a * b > 0) & (np.minimum(np.abs(a), np.abs(b)) > noise)
    return bool((same & (cubic * np.sign(a) < -noise).any(axis=0)).any())
