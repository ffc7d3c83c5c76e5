"""Small motions as a matrix polynomial P_0 + λ P_1 + λ² P_2, singular at its eigenvalues: K + λ C + λ² M, or λ − J.

Eigenvalues are taken from both ends: the fast ones from the first-order form, the slow ones from its inverse, so that
heavy damping, which parts them by many decades, costs neither their digits. Each is then improved by Newton's method
on the polynomial itself, whose mass matrix is not inverted, and comes with an estimate of its error: how far it moves
when every entry is changed by rounding (Tisseur, Linear Algebra Appl. 309, 2000; Hammarling, Munro and Tisseur, ACM
Trans. Math. Softw. 39, 2013, on what heavy damping does).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pfaff.threads import cached_property

APART = 1e-6  # ratio of moduli beyond which the slow eigenvalues are taken from the inverse
IMPROVEMENTS = 2  # steps of Newton's method for each eigenvalue
NEIGHBOURLY = 0.1  # of the distance to the next eigenvalue, the longest step
ROUNDING = 1e-9  # growth rates below this, relative to their eigenvalue, are none
STIFF = 1e-13  # what the largest eigenvalue leaves uncertain in all others, relative to it
UNCERTAIN = 8 * np.finfo(float).eps  # of the entries
DOUBTFUL = 1e-6  # real or imaginary parts below this, relative to the eigenvalue, are looked at closely
NOISE, SAFE = 1e-13, 4.0  # of an eigenvalue, and of its estimated error: what may be rounding
HEAVY = 1e2  # C²/KM beyond which damping is heavy
SPURIOUS = 4e-16  # entries that are zero but for rounding, relative to what they are made of
EVENED = 4  # sweeps that make rows and columns alike
ALIKE = 1e-9  # relative distance of eigenvalues that are one, and size of singular values that are none


Units = tuple[np.ndarray, np.ndarray]  # of rows and of columns


@dataclass(frozen=True)
class Modes:
    """Eigenvalues, their right and left vectors column by column, and how far rounding may have moved each."""

    values: np.ndarray
    vectors: np.ndarray
    left: np.ndarray
    errors: np.ndarray

    @property
    def on_axis(self) -> np.ndarray:
        """The real parts up to which they may lie on the imaginary axis."""
        return 10 * NOISE * np.abs(self.values) + SAFE * self.errors


@dataclass(frozen=True)
class Pencil:
    """P_0 + λ P_1 (+ λ² P_2), square matrices of one size, the last of them regular."""

    coefficients: tuple[np.ndarray, ...]
    made_of: tuple[np.ndarray, ...] | None = None  # sizes of what the entries are sums of, if more than themselves

    def at(self, value: complex | np.ndarray) -> np.ndarray:
        """The matrix at λ, or a stack of them."""
        return _horner(self.coefficients, value)

    def slope(self, value: complex | np.ndarray) -> np.ndarray:
        """The derivative by λ."""
        return _horner(tuple(k * each for k, each in enumerate(self.coefficients) if k), value)

    def bend(self, value: complex | np.ndarray) -> np.ndarray:
        """The second derivative by λ."""
        twice = tuple(k * (k - 1) * each for k, each in enumerate(self.coefficients) if k > 1)
        return _horner(twice, value) if twice else np.zeros_like(self.coefficients[0])

    def scaled(self, units: Units) -> Pencil:
        """The same with its equations and its coordinates in other units."""
        rows, columns = units
        return Pencil(tuple(rows[:, None] * each * columns for each in self.coefficients))

    def units(self, size: float) -> Units:
        """Units of equations and coordinates in which the entries are alike at eigenvalues of this modulus."""
        rows, columns = self._units(np.array([size]))
        return rows[0], columns[0]

    @cached_property
    def J(self) -> np.ndarray:
        """The first-order form."""
        *lower, last = self.coefficients
        return companion([-np.linalg.solve(last, each) for each in lower])

    @cached_property
    def reversed(self) -> np.ndarray:
        """The first-order form whose eigenvalues are 1/λ: large where those of J are small."""
        first, *higher = self.coefficients
        return companion([-np.linalg.solve(first, each) for each in higher[::-1]])

    @cached_property
    def rough(self) -> np.ndarray:
        """All eigenvalues, before they are improved."""
        values = np.linalg.eigvals(self.J).astype(complex)
        sizes = np.sort(np.abs(values))
        if not len(values) or sizes[0] > APART * sizes[-1]:
            return values
        try:
            reciprocals = np.linalg.eigvals(self.reversed).astype(complex)
        except np.linalg.LinAlgError:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            slow = 1 / reciprocals
            cut = 1 + int(np.diff(np.log(sizes)).argmax())
        joined = np.concatenate([slow[np.argsort(np.abs(slow))[:cut]], values[np.argsort(np.abs(values))[cut:]]])
        closed = np.isfinite(joined).all() and abs(joined.imag.sum()) <= APART * np.abs(joined.imag).min(initial=np.inf)
        return joined if closed else values

    def eigenvalues(self) -> np.ndarray:
        return self.modes().values

    def modes(self) -> Modes:
        """All eigenvalues, improved, with their vectors and errors."""
        turn = self.turn
        if turn is None:
            return self._modes
        found = self.turned(turn)._modes
        return replace(found, vectors=turn[1] @ found.vectors, left=turn[0].T @ found.left)

    @cached_property
    def turn(self) -> Units | None:
        """Combinations of equations and of coordinates by which a heavy damping becomes diagonal.

        It then enters the equations of the coordinates that it holds, and costs the others no digits.
        """
        if len(self.coefficients) < 3:
            return None
        K, C, M = (np.abs(each).max(initial=0.0) for each in self.coefficients)
        return _diagonalising(self.coefficients[1]) if C * C > HEAVY * K * M else None

    def turned(self, turn: Units | None) -> Pencil:
        """The same in such combinations: what cancels is zero, and certain where it cancels to the last digit."""
        if turn is None:
            return self
        sizes = tuple(np.abs(turn[0]) @ np.abs(each) @ np.abs(turn[1]) for each in self.coefficients)
        K, C, M = (turn[0] @ each @ turn[1] for each in self.coefficients)
        held = np.where(np.abs(C) > len(C) * SPURIOUS * sizes[1], C, 0.0)
        return Pencil((K, held, M), (sizes[0], np.where(C, sizes[1], 0.0), sizes[2]))

    @cached_property
    def _modes(self) -> Modes:
        values = self.rough
        if not len(values):
            return Modes(values, np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))
        found = self.improved(values[values.imag >= 0])
        pair = found.values.imag > 0
        return Modes(
            np.concatenate([found.values, found.values[pair].conj()]),
            np.hstack([found.vectors, found.vectors[:, pair].conj()]),
            np.hstack([found.left, found.left[:, pair].conj()]),
            np.concatenate([found.errors, found.errors[pair]]),
        )

    def improved(self, values: np.ndarray) -> Modes:
        """Some of the rough eigenvalues by Newton's method, with their vectors and errors."""
        units = self._units(np.abs(values))
        for _ in range(IMPROVEMENTS):
            left, least, right = self._null_vectors(values, units)
            turn = np.einsum("mi,mij,mj->m", left.conj(), self.slope(values), right)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(values.imag == 0, (-least / turn).real, -least / turn)
            values = np.where(np.abs(step) <= NEIGHBOURLY * _distances(values, self.rough), values + step, values)
        sizes = self._magnitudes(np.abs(values)) if self.made_of is None else _horner(self.made_of, np.abs(values))
        weights = np.einsum("mi,mij,mj->m", np.abs(left), sizes, np.abs(right))
        most = np.sqrt(UNCERTAIN) * np.abs(self.rough).max()  # of a double eigenvalue, which moves by the square root
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.fmin(UNCERTAIN * weights / np.abs(turn), most)
        return Modes(values, right.T, left.T, errors)

    def growing(self) -> tuple[int, int]:
        """How many oscillations grow, and how many exponentials: what rounding may have moved is looked at closely."""
        if self.turn is not None:
            return self.turned(self.turn)._growing()
        return self._growing()

    def _growing(self) -> tuple[int, int]:
        values = self.rough[(self.rough.imag >= 0)]
        size = np.abs(values)
        doubt = DOUBTFUL * size + STIFF * size.max(initial=0.0)
        unsure = (np.abs(values.real) <= doubt) | ((values.real > 0) & (values.imag <= doubt))
        errors = np.zeros(len(values))
        if unsure.any():
            closely = self.improved(values[unsure])
            values = values.copy()
            values[unsure], errors[unsure] = closely.values, closely.errors
        noise = NOISE * np.abs(values) + SAFE * errors
        grows = values.real > noise
        turns = values.imag > noise
        straight = (grows & ~turns & (values.imag == 0)).sum() + 2 * (grows & ~turns & (values.imag > 0)).sum()
        return int((grows & turns).sum()), int(straight)

    def _magnitudes(self, sizes: np.ndarray) -> np.ndarray:
        """The matrices at eigenvalues of these moduli if nothing cancelled."""
        return _horner(tuple(np.abs(each) for each in self.coefficients), sizes)

    def _units(self, sizes: np.ndarray) -> Units:
        """Units of equations and coordinates for each eigenvalue, in which rows and columns are alike."""
        whole = self._magnitudes(sizes)
        rows, columns = np.ones(whole.shape[:2]), np.ones(whole.shape[:2])
        for _ in range(EVENED):
            size = whole * rows[:, :, None] * columns[:, None, :]
            by_row, by_column = size.max(axis=2, initial=0.0), size.max(axis=1, initial=0.0)
            rows = rows / np.sqrt(np.where(by_row, by_row, 1.0))
            columns = columns / np.sqrt(np.where(by_column, by_column, 1.0))
        return rows, columns

    def _null_vectors(self, values: np.ndarray, units: Units) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Left and right vectors with left·P(λ)·right as small as can be, and that number, for each eigenvalue.

        Equal eigenvalues take one null vector each, where there are as many.
        """
        rows, columns = units
        left, sizes, right = np.linalg.svd(self.at(values) * rows[:, :, None] * columns[:, None, :])
        place = -1 - _repeated(values, sizes)
        each = np.arange(len(values))
        return left[each, :, place] * rows, sizes[each, place], right[each, place, :].conj() * columns


def _repeated(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each value, how many equal ones stand before it, as long as their matrices have as many null vectors."""
    same = np.abs(values[:, None] - values[None]) <= ALIKE * np.abs(values)[:, None]
    before = np.tril(same, -1).sum(axis=1)
    nullity = (sizes <= ALIKE * sizes[:, :1]).sum(axis=1)
    return np.where(before < nullity, before, 0)


def _diagonalising(C: np.ndarray) -> Units:
    """Elimination with complete pivoting from both sides: left · C · right is diagonal, its large entries first."""
    k = len(C)
    rest, left, right = C.copy(), np.eye(k), np.eye(k)
    for j in range(k):
        i, m = np.unravel_index(np.abs(rest[j:, j:]).argmax(), (k - j, k - j))
        for matrix in (rest, left):
            matrix[[j, j + i]] = matrix[[j + i, j]]
        for matrix in (rest, right):
            matrix[:, [j, j + m]] = matrix[:, [j + m, j]]
        if not rest[j, j]:
            break
        down, across = rest[j + 1 :, j] / rest[j, j], rest[j, j + 1 :] / rest[j, j]
        left[j + 1 :] -= np.outer(down, left[j])
        right[:, j + 1 :] -= np.outer(right[:, j], across)
        rest[j + 1 :, j + 1 :] -= np.outer(rest[j + 1 :, j], across)
        rest[j + 1 :, j] = rest[j, j + 1 :] = 0.0
    return left, right


def _horner(coefficients: tuple[np.ndarray, ...], value: complex | np.ndarray) -> np.ndarray:
    value = np.asarray(value)[..., None, None]
    total = np.zeros_like(coefficients[-1]) + 0 * value + coefficients[-1]
    for each in reversed(coefficients[:-1]):
        total = total * value + each
    return total


def companion(last: list[np.ndarray]) -> np.ndarray:
    """[[0, I], …, last]: the first-order form of x^(d) = Σ last_k x^(k)."""
    k, d = len(last[0]), len(last)
    matrix = np.zeros((d * k, d * k))
    matrix[: (d - 1) * k, k:] = np.eye((d - 1) * k)
    matrix[(d - 1) * k :] = np.hstack(last)
    return matrix


def _distances(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """From each value to the next of the others."""
    apart = np.sort(np.abs(values[:, None] - others[None]), axis=1)
    return apart[:, 1] if apart.shape[1] > 1 else np.full(len(values), np.inf)
