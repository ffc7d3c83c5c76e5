"""Small motions as a matrix polynomial P_0 + λ P_1 + λ² P_2, singular at its eigenvalues: K + λ C + λ² M, or λ − J.

Eigenvalues of all ``scales`` are improved by Newton's method on the polynomial itself, whose mass matrix is not
inverted. Each comes with an estimate of its error: how far it moves when every entry is changed by rounding (Tisseur,
Linear Algebra Appl. 309, 2000; Hammarling, Munro and Tisseur, ACM Trans. Math. Softw. 39, 2013, on what heavy damping
does).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pfaff.algebra.light import LIGHT, Stack, refined
from pfaff.algebra.modes import Growing, Modes
from pfaff.algebra.polynomials import (
    ALIKE,
    Units,
    any_alike,
    by_modulus,
    companion,
    diagonalising,
    distances,
    eigenvalues_of,
    evened,
    horner,
    nearly_null,
    repeated,
)
from pfaff.algebra.scales import by_scales
from pfaff.algebra.tolerances import EXACT, NOISE, SAFE, STIFF, UNCERTAIN
from pfaff.errors import ConvergenceError
from pfaff.threads import known_property

IMPROVEMENTS, IMPROVED = 6, 1e-11  # Newton steps for each eigenvalue; relative size of the last
NEIGHBOURLY = 0.1  # longest step, as a share of the distance to the next eigenvalue
UNSURE, TRIED, COARSER = 1e-7, 31, 5  # relative errors above this are examined, at distances by half decades
AROUND = np.exp(0.25j * np.pi * np.arange(8))  # unit directions
CLOSE = 1e-3  # relative distance of neighbours below which it is examined whether they have met
NOTHING = 1e-30  # eigenvalues below this, relative to the largest, are zero but for rounding: of a singular matrix
DOUBTFUL = 1e-6  # real or imaginary parts below this, relative to the eigenvalue, are examined
HEAVY = 10.0  # C/√(KM) beyond which damping is heavy
LARGEST = 1e306  # bound on the powers of an eigenvalue in the polynomial
BEYOND = "eigenvalues of the small motions, or their squares, are too large for double precision: use other units"


@dataclass(frozen=True)
class Pencil:
    """P_0 + λ P_1 (+ λ² P_2), square matrices of one size, the last of them regular."""

    coefficients: tuple[np.ndarray, ...]
    made_of: tuple[np.ndarray, ...] | None = None  # sizes of the terms summed in the entries, if larger

    def at(self, value: complex | np.ndarray) -> np.ndarray:
        """The matrix at λ, or a stack of them."""
        return horner(self.coefficients, value)

    def slope(self, value: complex | np.ndarray) -> np.ndarray:
        """The derivative with respect to λ."""
        return horner(tuple(k * each for k, each in enumerate(self.coefficients) if k), value)

    def bend(self, value: complex | np.ndarray) -> np.ndarray:
        """The second derivative with respect to λ."""
        twice = tuple(k * (k - 1) * each for k, each in enumerate(self.coefficients) if k > 1)
        return horner(twice, value) if twice else np.zeros_like(self.coefficients[0])

    def scaled(self, units: Units) -> Pencil:
        """The pencil with its equations and its coordinates in other units."""
        rows, columns = units
        return Pencil(tuple(rows[:, None] * each * columns for each in self.coefficients))

    def units(self, size: float) -> Units:
        """Units of equations and coordinates in which the entries are alike at eigenvalues of this modulus."""
        rows, columns = evened(self._magnitudes(np.array([size])))
        return rows[0], columns[0]

    def light(self, size: float) -> float:
        """Ratio of damping to stiffness and inertia at eigenvalues of this modulus, at most one."""
        if len(self.coefficients) < 3:
            return 1.0
        return min(1.0, float(Stack(*self.of_modulus(size)).light)) or 1.0

    def of_modulus(self, size: float) -> list[np.ndarray]:
        """The coefficients in the unit of λ in which eigenvalues of this modulus have modulus one."""
        return [size**k * each for k, each in enumerate(self.coefficients)]

    def damped(self, times: float) -> Pencil:
        """The pencil with its damping multiplied by a factor."""
        K, C, M = self.coefficients
        sizes = self.made_of
        return Pencil((K, times * C, M), None if sizes is None else (sizes[0], abs(times) * sizes[1], sizes[2]))

    @property
    def reversed(self) -> Pencil:
        """The pencil of the inverse eigenvalues."""
        return Pencil(self.coefficients[::-1])

    @known_property
    def J(self) -> np.ndarray:
        """The matrix of the first-order form."""
        *lower, last = self.coefficients
        return companion(-np.linalg.solve(last, np.concatenate(lower, axis=1)))

    @known_property
    def plain(self) -> np.ndarray:
        """All eigenvalues of the first-order form; the largest are accurate, whatever the others are."""
        try:
            values = by_modulus(eigenvalues_of(self.J))
        except np.linalg.LinAlgError:
            raise ConvergenceError(BEYOND) from None
        if len(values) and not abs(values[-1]) < LARGEST ** (1 / (len(self.coefficients) - 1)):
            raise ConvergenceError(BEYOND)
        return values

    @property
    def largest(self) -> float:
        return float(np.abs(self.plain).max(initial=0.0))

    @known_property
    def rough(self) -> np.ndarray:
        """All eigenvalues, before they are improved."""
        return by_scales(self)

    def eigenvalues(self) -> np.ndarray:
        return self.modes().values

    def modes(self) -> Modes:
        """All eigenvalues, improved, with their vectors and errors."""
        turn = self.turn
        if turn is None:
            return self._modes
        found = self.turned(turn)._modes
        return replace(found, vectors=turn[1] @ found.vectors, left=turn[0].T @ found.left)

    @known_property
    def turn(self) -> Units | None:
        """Combinations of equations and of coordinates by which a heavy damping becomes diagonal.

        It then enters the equations of the coordinates that it holds, and costs the others no digits.
        """
        if len(self.coefficients) < 3:
            return None
        K, C, M = (np.abs(each).max(initial=0.0) for each in self.coefficients)
        return diagonalising(self.coefficients[1]) if HEAVY * np.sqrt(K) * np.sqrt(M) < C else None

    def turned(self, turn: Units | None) -> Pencil:
        """The pencil in such combinations: entries that cancel are zero, and certain where they cancel to the last
        digit."""
        if turn is None:
            return self
        made_of = self.made_of or self.coefficients
        sizes = tuple(np.abs(turn[0]) @ np.abs(each) @ np.abs(turn[1]) for each in made_of)
        K, C, M = (turn[0] @ each @ turn[1] for each in self.coefficients)
        held = np.where(np.abs(C) > len(C) * EXACT * sizes[1], C, 0.0)
        return Pencil((K, held, M), (sizes[0], np.where(C, sizes[1], 0.0), sizes[2]))

    @known_property
    def _modes(self) -> Modes:
        values = self.rough
        if not len(values):
            return Modes(values, np.zeros((0, 0)), np.zeros((0, 0)), *np.zeros((3, 0)))
        found = self.improved(values[values.imag >= 0])
        pair = found.values.imag > 0
        return Modes(
            np.concatenate([found.values, found.values[pair].conj()]),
            np.concatenate([found.vectors, found.vectors[:, pair].conj()], axis=1),
            np.concatenate([found.left, found.left[:, pair].conj()], axis=1),
            *(np.concatenate([each, each[pair]]) for each in (found.errors, found.growth_errors, found.light)),
        )

    def improved(self, values: np.ndarray) -> Modes:
        """Some of the rough eigenvalues by Newton's method, with their vectors and errors.

        This is not ``newton_columns``: equal eigenvalues share their null vectors, so that all move while any does.
        """
        sizes, apart = self._magnitudes(np.abs(values)), distances(values, self.rough)
        units = evened(sizes)
        left, turn, right, wanted = self._newton(values, units)
        moving, values = np.arange(len(values)), values.copy()
        for _ in range(IMPROVEMENTS - 1):
            step = np.where(np.abs(wanted) <= NEIGHBOURLY * apart, wanted, 0.0)[moving]
            values[moving] += step
            moving = moving[np.abs(step) > IMPROVED * np.abs(values[moving])]
            if not len(moving):
                break
            moving = np.arange(len(values)) if any_alike(values) else moving  # equal ones share their null vectors
            again = self._newton(values[moving], (units[0][moving], units[1][moving]))
            left[moving], turn[moving], right[moving], wanted[moving] = again
        sizes = sizes if self.made_of is None else self._sizes(np.abs(values))
        weights = np.einsum("mi,mij,mj->m", np.abs(left), sizes, np.abs(right))
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.maximum(UNCERTAIN * weights / np.abs(turn), np.abs(wanted))  # for those that were not improved
        errors[np.isnan(errors)] = np.inf
        for k in np.flatnonzero(errors > UNSURE * np.abs(values)):
            errors[k] = min(errors[k], self._reach(values[k], sizes[k], (units[0][k], units[1][k])))
        return self._lightly_damped(Modes(values, right.T, left.T, errors, errors, np.ones(len(values))), units)

    def _newton(self, values: np.ndarray, units: Units) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Null vectors left and right of each eigenvalue, left·P'·right between them, and Newton's step."""
        left, least, right = self._null_vectors(values, units)
        turn = np.einsum("mi,mij,mj->m", left.conj(), self.slope(values), right)
        with np.errstate(divide="ignore", invalid="ignore"):
            return left, turn, right, np.where(values.imag == 0, (-least / turn).real, -least / turn)

    def _lightly_damped(self, modes: Modes, units: Units) -> Modes:
        """The modes with growth rates to digits of their own where damping is light."""
        turning = np.flatnonzero(np.abs(modes.values.real) < LIGHT * modes.values.imag)
        if len(self.coefficients) < 3 or not len(turning) or not self.coefficients[1].any():
            return modes
        pencils = self._in_units_of(modes.values.imag[turning], (units[0][turning], units[1][turning]))
        light = pencils.light < LIGHT
        if not light.any():
            return modes
        pencils, turning = pencils.of(light), turning[light]
        rows, columns, sizes = units[0][turning], units[1][turning], modes.values.imag[turning]
        ahead = refined(pencils, modes.vectors.T[turning] / columns)
        back = refined(pencils.transposed, modes.left.T[turning].conj() / rows)
        right = ahead.settled & back.settled & (UNCERTAIN * sizes * ahead.moved < modes.errors[turning])
        place = turning[right]
        found = replace(modes, **{name: getattr(modes, name).copy() for name in Modes.__dataclass_fields__})
        found.values[place] = (sizes * ahead.values)[right]
        found.vectors[:, place] = (columns * ahead.vectors)[right].T
        found.left[:, place] = (rows * back.vectors)[right].conj().T
        found.growth_errors[place] = (UNCERTAIN * sizes * ahead.moved)[right]
        found.light[place] = pencils.light[right]
        return found

    def _in_units_of(self, sizes: np.ndarray, units: Units) -> Stack:
        """The pencil with eigenvalues, equations and coordinates in these units, one for each eigenvalue."""
        rows, columns = units[0][:, :, None], units[1][:, None, :]
        return Stack(*(sizes[:, None, None] ** k * (rows * each * columns) for k, each in enumerate(self.coefficients)))

    def shaken(self, value: complex, by_load: Pencil) -> float:
        """How far rounding may move the load at which the matrix is singular at λ, whether λ moves with the load or
        not."""
        left, _, right = self._null_vectors(np.array([value]), evened(self._magnitudes(np.array([abs(value)]))))
        pushed = np.einsum("mi,ij,mj->", left.conj(), by_load.at(value), right)
        weight = np.einsum("mi,mij,mj->", np.abs(left), self._sizes(np.array([abs(value)])), np.abs(right))
        return float(SAFE * UNCERTAIN * weight / abs(pushed)) if pushed else np.inf

    def growth_error(self, value: complex) -> float:
        """How far rounding may have moved a growth rate: entries are real, so that their changes may move the frequency
        only.

        To first order, plus the square of the whole error over the distance to the next eigenvalue.
        """
        seen = self.turned(self.turn)
        modes = seen._modes
        k = int(np.abs(modes.values - value).argmin())
        at, left, right = modes.values[k], modes.left[:, k].conj(), modes.vectors[:, k]
        apart, turn = float(distances(at[None], modes.values)[0]), left @ seen.slope(at) @ right
        if not (apart and turn):
            return float(modes.growth_errors[k])
        sizes = tuple(np.abs(each) for each in seen.coefficients) if seen.made_of is None else seen.made_of
        moved = np.outer(left, right) / turn
        first = UNCERTAIN * sum(float((size * np.abs((at**j * moved).real)).sum()) for j, size in enumerate(sizes))
        return min(float(modes.growth_errors[k]), first + float(modes.errors[k]) ** 2 / apart)

    def _sizes(self, moduli: np.ndarray) -> np.ndarray:
        """Sizes of the terms that the matrices are sums of, at eigenvalues of these moduli."""
        return self._magnitudes(moduli) if self.made_of is None else horner(self.made_of, moduli)

    def _reach(self, value: complex, size: np.ndarray, units: Units) -> float:
        """How far around an eigenvalue rounding may make the matrix singular, in any direction. A first-order estimate
        is too large at a multiple eigenvalue, which moves by a root."""
        rows, columns = units
        away = max(abs(value), STIFF * self.largest) * np.logspace(-15, 0, TRIED)
        doubt = UNCERTAIN * len(size) * np.linalg.norm(size * rows[:, None] * columns, 2)

        def regular(distances: np.ndarray) -> np.ndarray:
            """Whether the matrix is regular at each distance, in every direction."""
            around = self.at(value + np.outer(AROUND, distances).ravel()) * rows[:, None] * columns
            least = np.linalg.svd(around, compute_uv=False)[:, -1].reshape(len(AROUND), -1)
            return np.asarray((least > doubt).all(axis=0))

        coarse = regular(away[::COARSER])
        if coarse[0] or not coarse.any():
            return float(away[-1])  # there is no eigenvalue, or it may be anywhere
        first = COARSER * int(coarse.argmax())
        finer = regular(away[first - COARSER + 1 : first])
        return float(away[first - len(finer) + int(finer.argmax())] if finer.any() else away[first])

    def growing(self) -> Growing:
        """How many modes grow; eigenvalues near the axis, within what rounding may have moved them, are examined."""
        return self._growing if self.turn is None else self.turned(self.turn)._growing

    @known_property
    def _growing(self) -> Growing:
        values = self.rough[(self.rough.imag >= 0)]
        size = np.abs(values)
        doubt = DOUBTFUL * size + STIFF * size.max(initial=0.0)
        unsure = (np.abs(values.real) <= doubt) | ((values.real > 0) & (values.imag <= doubt))
        values, noise = self._looked_at(values, unsure)
        values = np.where(np.abs(values) > NOTHING * size.max(initial=0.0), values, 0.0)
        grows, hidden = values.real > noise[0], np.abs(values.real) <= noise[0]
        turns, counted = values.imag > noise[1], np.where(values.imag > 0, 2, 1)
        return Growing(int((grows & turns).sum()), int(counted[grows & ~turns].sum()), int(counted[hidden].sum()))

    @known_property
    def growing_squares(self) -> Growing:
        """How many modes grow where eigenvalues are λ²: a complex pair as an oscillation, positive ones as
        exponentials."""
        values = self.rough[self.rough.imag >= 0]
        size = np.abs(values)
        doubt = DOUBTFUL * size + STIFF * size.max(initial=0.0)
        unsure = (size <= doubt) | ((values.imag != 0) & (values.imag <= doubt))
        unsure |= distances(values, self.rough) <= CLOSE * size  # two that rounding may have kept from separating
        values, (_, noise) = self._looked_at(values, unsure)
        turns = values.imag > noise
        straight, counted = ~turns & (values.real > noise), np.where(values.imag > 0, 2, 1)
        hidden = ~turns & (np.abs(values.real) <= noise)
        return Growing(int(turns.sum()), int(counted[straight].sum()), int(counted[hidden].sum()))

    def _looked_at(self, values: np.ndarray, unsure: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rough eigenvalues, the unsure ones improved, and what may be rounding in their real and imaginary parts."""
        noise = np.tile(NOISE * np.abs(values), (2, 1))
        if not unsure.any():
            return values, noise
        closely, values = self.improved(values[unsure]), values.copy()
        values[unsure], noise[:, unsure] = closely.values, closely.noise
        return values, noise

    def _magnitudes(self, sizes: np.ndarray) -> np.ndarray:
        """The matrices at eigenvalues of these moduli as if nothing cancelled."""
        return horner(tuple(np.abs(each) for each in self.coefficients), sizes)

    def _null_vectors(self, values: np.ndarray, units: Units) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Left and right vectors that make left·P(λ)·right smallest, and that number, for each eigenvalue.

        Equal eigenvalues take one null vector each, where there are as many, paired so that left·P'·right is one for
        each and zero between them.
        """
        rows, columns = units
        matrices = self.at(values)
        scaled = matrices * rows[:, :, None] * columns[:, None, :]
        known = None if any_alike(values) else nearly_null(scaled)
        if known is not None:
            left, least, right = known
            return left * rows, least, right * columns
        left, sizes, right = np.linalg.svd(scaled)
        first, before = repeated(values, sizes)
        left, right = left[first, :, -1 - before] * rows[first], right[first, -1 - before].conj() * columns[first]
        least = sizes[first, -1 - before].astype(complex)
        for k in sorted(set(first[before > 0].tolist())):
            equal = np.flatnonzero(first == k)
            between = left[equal].conj() @ self.slope(values[k]) @ right[equal].T
            if np.linalg.cond(between) < 1 / ALIKE:
                right[equal] = np.linalg.solve(between.T, right[equal])
                least[equal] = np.einsum("mi,mij,mj->m", left[equal].conj(), matrices[equal], right[equal])
        return left, least, right
