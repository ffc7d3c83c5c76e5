"""Floquet multipliers on curves of special orbits: which are critical, and what else happens there.

Multipliers that meet are known to the square root of rounding only, their sums and products to rounding. So what is
known exactly is taken out of sums: of multipliers near 1 those that are 1, of a pair at −1 the one that is −1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pfaff.continuation.kinds import Kind

CLUSTER = 0.1  # distance within which multipliers are corrected together
ROUNDED = 1e-9  # imaginary parts below this, relative, are rounding: pairs near strong resonances are narrow
ON_CIRCLE = 1e-3  # distance of a located pair from the unit circle
TURNED = 1e-2  # least imaginary part of a pair on the circle
STRONG = {"1:1 resonance": 1.0, "1:2 resonance": -1.0, "1:3 resonance": -0.5, "1:4 resonance": 0.0}  # cos θ


@dataclass(frozen=True)
class Critical:
    """``defect`` vanishes on the curve; ``tests`` change sign at points of codimension two.

    ``cosine`` is that of the angle of a torus, ``others`` are the multipliers that are neither critical nor 1 by
    structure.
    """

    defect: float
    tests: dict[str, float]
    cosine: float
    others: np.ndarray


def critical_fold(values: np.ndarray, structural: int, slope: float) -> Critical:
    """Critical data at a fold: the slope of the parameter along the branch vanishes, and one more multiplier is 1."""
    ones, others = _apart(values, 1.0, structural + 1)
    met = _met(ones, others, 1.0)
    tests = {"1:1 resonance": _product(met - 1), "fold-flip": _product(others + 1), "fold-torus": _pairs(others)}
    return Critical(slope, tests, np.nan, others)


def critical_flip(values: np.ndarray, structural: int, slope: float) -> Critical:
    """Critical data at a period doubling: a multiplier is −1."""
    others = _apart(values, 1.0, structural)[1]
    one, rest = _apart(others, -1.0, 1)
    met = _met(one, rest, -1.0)
    tests: dict[str, float] = {
        Kind.RESONANCE_2: _product(met + 1),
        Kind.FOLD_FLIP: slope,
        Kind.FLIP_TORUS: _pairs(rest),
    }
    return Critical(_product(others + 1), tests, np.nan, rest)


def critical_torus(values: np.ndarray, structural: int, slope: float, cosine: float) -> Critical:
    """Critical data at a torus: two multipliers have the product 1; of all pairs the one nearest to that and to a known
    angle."""
    ones, others = _apart(values, 1.0, structural)
    near = np.abs(ones - 1).max() < CLUSTER
    excess, factor = ((ones - 1).sum().real, ones.prod().real) if near else (0.0, 1.0)
    best, found = np.inf, Critical(np.nan, {}, np.nan, others)
    for i, j in combinations(range(len(others)), 2):
        a, b = others[i], others[j]
        total, product = (a + b).real + excess, (a * b).real * factor
        far = abs(a * b * factor - 1) + abs(total / 2 - cosine) + abs((a + b).imag)
        if far < best:
            rest = np.delete(others, [i, j])
            tests = {name: total / 2 - at for name, at in STRONG.items()}
            tests |= {Kind.FOLD_TORUS: slope, Kind.FLIP_TORUS: _product(rest + 1)}
            best, found = far, Critical(product - 1, tests, total / 2, rest)
    return found


def on_circle(values: np.ndarray) -> bool:
    """Whether a pair is complex and on the unit circle: two real multipliers with product 1 are no bifurcation."""
    return bool(((np.abs(np.abs(values) - 1) < ON_CIRCLE) & (np.abs(values.imag) > TURNED)).any())


def first_cosine(values: np.ndarray, structural: int) -> float:
    """Cosine of the angle of the pair nearest to the unit circle."""
    others = _apart(values, 1.0, structural)[1]
    pairs = others[others.imag > ROUNDED * np.abs(others)]
    if not len(pairs):
        return 0.0
    nearest = pairs[np.abs(np.abs(pairs) - 1).argmin()]
    return float(nearest.real / abs(nearest))


def _apart(values: np.ndarray, centre: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The multipliers nearest to a number, and the others."""
    order = np.argsort(np.abs(values - centre), kind="stable")
    return values[order[:count]], values[order[count:]]


def _met(known: np.ndarray, others: np.ndarray, centre: float) -> np.ndarray:
    """The others (the nearest first), the nearest corrected by what is known of those it meets."""
    if not len(others) or abs(others[0] - centre) > CLUSTER:
        return others
    total = known.sum() + others[0] - len(known) * centre
    return np.append(total.real, others[1:]) if abs(total.imag) < ROUNDED else others


def _product(factors: np.ndarray) -> float:
    """A product of scaled factors."""
    return float((factors / (1 + np.abs(factors))).prod().real)


def _pairs(values: np.ndarray) -> float:
    """Π(μ_i μ_j − 1), i < j."""
    products = np.array([a * b for a, b in combinations(values, 2)], dtype=complex)
    return _product(products - 1)
