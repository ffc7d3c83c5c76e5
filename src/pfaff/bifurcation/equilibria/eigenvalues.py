"""Functions of eigenvalues that show where stability changes, and whether a step may hide such a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

import numpy as np

from pfaff.algebra.cubics import Cubic
from pfaff.algebra.tolerances import GROWING, REAL, STIFF

ALWAYS = 1e-9  # sums of two eigenvalues below this, relative to the two, may be zero by structure
WILD = 0.25  # largest deviation of growth rates in a step from a straight line, relative to them
MEETING = 1e-4  # distance, relative to their size, within which eigenvalues are equal
UNSURE = 0.125  # error of a cubic, relative to that of the trapezoidal rule


def side_by_side(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Eigenvalues of several points as rows of a matrix, padded with NaN where fewer are known."""
    table = np.full((len(rows), max(map(len, rows), default=0)), np.nan, dtype=complex)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def floor(values: np.ndarray) -> float:
    """The rounding of the largest eigenvalue, below which nothing is known about the others."""
    return STIFF * float(np.abs(values).max(initial=0.0))


@lru_cache(maxsize=64)
def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of all pairs i < j among n."""
    i, j = np.triu_indices(n, 1)
    return i, j


def pair_sums(values: np.ndarray) -> np.ndarray:
    i, j = pairs(len(values))
    return values[i] + values[j]


def always_zero(values: np.ndarray) -> int:
    """How many sums of two eigenvalues vanish: for undamped modes at every load, else at bifurcations only."""
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
    return sign * exp(min(max(log, -600.0), 600.0))


def hopf_product(values: np.ndarray, without: int = 0) -> tuple[float, float]:
    """Π(λ_i + λ_j)/(|λ_i| + |λ_j|) without the smallest factors, as sign and logarithm: it changes its sign at Hopf
    points, and changes little elsewhere, however many factors there are.

    It changes sign at neutral saddles too; see ``imaginary``.
    """
    sums, sizes = pair_sums(values), pair_sums(np.abs(values))
    kept = np.argsort(np.abs(sums))[without:] if without else slice(None)
    return signed_log((sums / np.where(sizes, sizes, 1.0))[kept])


def imaginary(values: np.ndarray, without: int = 0, slopes: np.ndarray | None = None) -> complex | None:
    """The pair on the imaginary axis where Π(λ_i + λ_j) vanishes; None at a neutral saddle, and where two undamped
    pairs become real.

    Where ``without`` other sums vanish everywhere, the pair is the one that changes; ``slopes`` are those of the
    eigenvalues.
    """
    i, j = pairs(len(values))
    if len(i) <= without:
        return None
    sums = np.abs(values[i] + values[j])
    smallest = np.argsort(sums)[: without + 1] if without else np.array([sums.argmin()])
    changes = np.zeros(len(smallest)) if slopes is None else np.abs((slopes[i] + slopes[j])[smallest].real)
    first = values[i[smallest[changes.argmax() if changes.any() else without]]]
    pair = complex(abs(first.real), abs(first.imag))
    return pair if pair.imag > max(REAL * abs(first) + floor(values), pair.real) else None


def axis_pairs(values: np.ndarray, many: int) -> np.ndarray:
    """The frequencies of the pairs among the ``many`` eigenvalues nearest to the imaginary axis."""
    nearest = values[np.argsort(np.abs(values.real))[:many]]
    return np.sort(nearest.imag[nearest.imag > REAL * np.abs(nearest) + floor(values)])


def met(values: np.ndarray) -> np.ndarray:
    """The frequencies of pairs that coincide with another pair."""
    turning = _turning(values)
    return np.sort(turning.imag[distances(values) < MEETING * np.abs(turning) + floor(values)])


def distances(values: np.ndarray) -> np.ndarray:
    """The distances of pairs from their nearest neighbours."""
    turning = _turning(values)
    apart = np.abs(turning[:, None] - turning)
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1, initial=np.inf)


def _turning(values: np.ndarray) -> np.ndarray:
    """One eigenvalue of each pair."""
    return values[values.imag > REAL * np.abs(values) + floor(values)]


def unstable(values: np.ndarray) -> int:
    """How many eigenvalues lie to the right of the imaginary axis, beyond rounding, or are unknown."""
    return int((~(values.real <= GROWING * np.abs(values) + floor(values))).sum())


def not_left(values: np.ndarray) -> int:
    """How many eigenvalues lie to the right of the imaginary axis or on it."""
    return int((values.real >= -GROWING * np.abs(values) - floor(values)).sum())


def physical(values: np.ndarray, settle: float, count: int) -> np.ndarray:
    """Indices of all but ``count`` eigenvalues −settle, by which holonomic constraints attract."""
    return np.sort(np.argsort(np.abs(values + settle))[count:])


def slopes(values: np.ndarray, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Derivatives ⟨p, J' q⟩/⟨p, q⟩ of eigenvalues with their vectors."""
    try:
        return np.diag(np.linalg.solve(q, change @ q))
    except np.linalg.LinAlgError:
        return np.zeros_like(values)


@dataclass(frozen=True)
class Cubics(Cubic):
    """Hermite's cubics in a step with the uncertainty of their values at its ends."""

    noise: np.ndarray

    def crossed(self, beyond: bool) -> np.ndarray:
        """Which change sign; one that is zero at the end has crossed, unless it must be ``beyond``."""
        end = np.sign(self.a) * self.b
        return (np.abs(self.a) > self.noise) & (end < -self.noise if beyond else end <= self.noise)

    def doubtful(self) -> np.ndarray:
        """Which have one sign at both ends and may have the other in between, or change too much to know.

        The error of the cubic is a fraction of that of the trapezoidal rule; neither can be trusted where that error or
        the cubic's bow is large relative to the values.
        """
        bow, size = np.abs(self.db - self.da) / 8, np.maximum(np.abs(self.a), np.abs(self.b))
        doubtful: np.ndarray = (np.maximum(self._wrong, bow) > WILD * size + self.noise) | self.dipping()
        return doubtful

    def dipping(self) -> np.ndarray:
        """Which have one sign at both ends and may have the other in between."""
        a, b, sign = self.a, self.b, np.sign(self.a)
        same = (a * b > 0) & (np.minimum(np.abs(a), np.abs(b)) > self.noise)
        lowest = np.minimum(*(sign * each for each in self.extremes()))
        dipping: np.ndarray = same & (lowest < np.maximum(UNSURE * self._wrong, -self.noise))
        return dipping

    @property
    def _wrong(self) -> np.ndarray:
        return np.abs(self.b - self.a - (self.da + self.db) / 2)


@dataclass(frozen=True)
class Rates(Cubics):
    """Growth rates of eigenvalues that are matched at both ends of a step; ``values`` and ``slopes`` are theirs."""

    values: tuple[np.ndarray, np.ndarray]
    slopes: tuple[np.ndarray, np.ndarray]

    @classmethod
    def between(cls, a: np.ndarray, da: np.ndarray, b: np.ndarray, db: np.ndarray, length: float) -> Rates:
        """From eigenvalues and their derivatives, matched by where the mean derivative takes them."""
        from scipy.optimize import linear_sum_assignment

        cost = np.abs(b[None] - a[:, None] - length * (da[:, None] + db[None]) / 2)
        cost = cost + length / 4 * np.abs(db[None] - da[:, None])  # for two that pass each other, ends and slopes agree
        rows, columns = linear_sum_assignment(cost) if np.isfinite(cost).all() else (np.zeros(0, int),) * 2
        noise = GROWING * np.maximum(np.abs(a[rows]), np.abs(b[columns])) + max(floor(a), floor(b))
        values, slopes = (a[rows], b[columns]), (length * da[rows], length * db[columns])
        return cls(values[0].real, slopes[0].real, values[1].real, slopes[1].real, noise, values, slopes)

    def only(self, some: np.ndarray) -> Rates:
        """The rates of some of the eigenvalues."""
        (a, b), (da, db) = self.values, self.slopes
        values, slopes = (a[some], b[some]), (da[some], db[some])
        return Rates(self.a[some], self.da[some], self.b[some], self.db[some], self.noise[some], values, slopes)

    def hide(self) -> bool:
        """Whether a rate may cross zero and come back, or changes too much to know."""
        return self._visit_zero() or not all(self._explained(int(k)) for k in np.flatnonzero(self.doubtful()))

    def _visit_zero(self) -> bool:
        """Whether a pair at both ends may become two real eigenvalues, one of which passes zero and returns: judged by
        |λ|², their product."""
        (a, b), (da, db) = self.values, self.slopes
        pairs = (a.imag > 0) & (b.imag > 0)
        a, b, da, db = a[pairs], b[pairs], da[pairs], db[pairs]
        rise, fall = (2 * (value.conjugate() * slope).real for value, slope in ((a, da), (b, db)))
        noise = self.noise[pairs] * np.maximum(np.abs(a), np.abs(b))
        return bool(Cubics(np.abs(a) ** 2, rise, np.abs(b) ** 2, fall, noise).dipping().any())

    def _explained(self, k: int) -> bool:
        """Whether a doubtful eigenvalue meets another in the step, and neither does more than the ends show.

        Where two real ones become a pair, or a pair two real ones, they change like square roots; their sum and their
        product are smooth. Both stay on their side of the axis as long as the product is positive and the sum keeps its
        sign.
        """
        other = self._partner(k)
        if other is None:
            return False
        (a, b), (da, db), two = self.values, self.slopes, [k, other]
        size = max(np.abs(a[two]).max(), np.abs(b[two]).max())
        noise = self.noise[two].sum() * np.array([1.0, size])
        both = Cubics(*_sum_and_product(a[two], da[two]), *_sum_and_product(b[two], db[two]), noise)
        return bool(not both.doubtful().any() and both.a[0] * both.b[0] > 0)

    def _partner(self, k: int) -> int | None:
        """The eigenvalue that is conjugate to one at an end of the step, if both are so, or real, at the other end."""
        a, b = self.values
        for here, there in ((a, b), (b, a)):
            conjugate = np.flatnonzero((here == here[k].conjugate()) & (here.imag != 0))
            if len(conjugate) == 1:
                other = int(conjugate[0])
                real = there[k].imag == there[other].imag == 0
                return other if real or there[other] == there[k].conjugate() else None
        return None


def _sum_and_product(values: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum and product of two real or conjugate eigenvalues, and their derivatives."""
    change = slopes[0] * values[1] + values[0] * slopes[1]
    return np.array([values.sum().real, values.prod().real]), np.array([slopes.sum().real, change.real])
