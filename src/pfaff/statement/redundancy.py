"""Which constraints follow from the others, and which contradict them.

Where A has the rank r < m, the m − r left null vectors ℓ of A decide: rows are redundant if ℓ·b = 0, so that A and
[A | b] have the same rank, and contradictory if not. Holonomic ones also contradict each other if they have no common
zero although their gradients are dependent everywhere, as x = 0 and x = 1. Redundancy need only hold where the
constraints do: it is tested at random points of φ(q, t) = 0, for random parameters and for the default ones.

A coefficient is zero if it is nothing beside the terms that cancel in it, as they are stated: rows need not be
simplified. Rows and columns are measured in the sizes of these terms, so that units do not matter. Where holonomic
rows touch each other, as φ and φ² do, a point of φ = 0 is known to half the digits only: many digits then decide.
A row that is independent at one of these points is not redundant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.tolerances import IDENTITY, NEWTON_STEPS, TRANSVERSAL
from pfaff.statement.characteristic import LARGEST, characteristic, unit_velocities
from pfaff.statement.dependent_rows import Judged, in_even_units, support
from pfaff.statement.draws import Draws
from pfaff.statement.evaluation import SINGLE, Digits, evaluated, magnitudes, steps
from pfaff.statement.hidden_terms import hidden_terms, places
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.statement.plain_symbols import Statement

TRIALS = 3
KICKS = 8
NEARBY = 1e-3  # distance near a singular point
ASIDE = 0.05  # distance, in characteristic sizes, at which φ² is seen to be no identity
DIGITS = 60  # of a point of φ = 0 where rows touch each other
POLISHED = 200  # most steps to it, each of which may halve the error

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # A, b and φ


@dataclass(frozen=True)
class Dependence:
    """Rows that are combinations of others, and rows that contradict each other, counted from zero."""

    redundant: tuple[int, ...] = ()
    contradictory: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()  # of the redundant ones those that vanish identically


def dependence(statement: Statement, defaults: Mapping[sm.Symbol, Any]) -> Dependence:
    """How the constraints depend on each other, wherever they hold.

    Velocity-level rows are counted after the positions: without one of them the same configurations are left, while a
    position that is left out leaves its constant free.
    """
    if not statement.constraints or _single(statement):
        return Dependence()
    found: list[Found] = []
    for trial in trials(statement, defaults):
        x, holds = trial.zero
        judged, certain = trial.judged(x, holds)
        if holds and certain and not judged.dependent:
            return Dependence()
        found.append(Found(trial, x, holds, certain, judged))
    if not any(each.certain for each in found):
        found = [each if not each.holds else each.in_many_digits() for each in found]
    # the rank is that of most points: at a singular one, or for special parameters, more rows depend on each other
    counted = [each.judged for each in found if each.holds and each.certain]
    counted = counted or [each.judged for each in found if each.certain] or [each.judged for each in found]
    fewest: set[int] = min((judged.dependent for judged in counted), key=len, default=set())
    redundant = tuple(sorted(fewest - _not_implied(found, fewest)))
    at_odds = [each.at_odds for each in found] if redundant else [()]
    empty = set(redundant).intersection(*(judged.empty for judged in counted))
    return Dependence(redundant, at_odds[-1] if all(at_odds) else (), tuple(sorted(empty)))


def _single(statement: Statement) -> bool:
    """Whether there is one row only, with a coefficient that is no rounding at a random point."""
    if len(statement.constraints) > 1:
        return False
    entries = statement.coefficients[0][:-1]
    symbols = sorted(set().union(*(entry.free_symbols for entry in entries)), key=str)
    at = dict(zip(symbols, Draws(1949).uniform(0.2, 1.4, len(symbols)).tolist(), strict=True))
    values, terms = np.array(evaluated(entries, at)), np.array(magnitudes(entries, at), dtype=float)
    real = np.isrealobj(values) and np.isfinite(values.astype(float)).all()
    return bool(real and (np.abs(values) > TRANSVERSAL * terms).any())


def _not_implied(found: list[Found], rows: set[int]) -> set[int]:
    """Holonomic rows without a gradient on φ = 0, as φ² has none, that do not hold where the others do."""
    for each in found:
        s = each.trial.statement
        held = [k for k in rows & each.judged.empty if k >= s.nonholonomic]
        if not (held and each.holds):
            continue
        others = [k for k in range(len(s.positions)) if k + s.nonholonomic not in rows]
        start = each.x + ASIDE * each.trial.starts[0]
        x, holds = _common_zero(each.trial, start, others) if others else (start, True)
        phi, sizes = each.trial.rows(x)[2], each.trial.terms(x)[2]
        return {k for k in held if holds and abs(phi[k - s.nonholonomic]) > TRANSVERSAL * sizes[k - s.nonholonomic]}
    return set()


@dataclass(frozen=True)
class Found:
    """The rows judged at a point of a trial: whether all holonomic ones hold there, and whether its digits suffice."""

    trial: Trial
    x: np.ndarray
    holds: bool
    certain: bool
    judged: Judged

    @property
    def at_odds(self) -> tuple[int, ...]:
        return self.judged.at_odds or (() if self.holds else _without_common_zero(self.trial))

    def in_many_digits(self) -> Found:
        return replace(self, certain=True, judged=self.trial.judged_in_many_digits(self.x))


@dataclass(frozen=True)
class Trial:
    """The constraints with numbers for the parameters at a time, and starts: all x = q/sizes are of order one."""

    statement: Statement
    expressions: list[sm.Expr]  # of A, row by row, of b and of φ
    evaluate: Callable[[list[float]], list[float]]
    parameters: Mapping[sm.Symbol, float]
    sizes: np.ndarray
    time: float
    starts: list[np.ndarray]

    def rows(self, x: np.ndarray) -> Rows:
        q, values = (self.sizes * x).tolist(), list(self.parameters.values())
        return self._split(np.array(self.evaluate([*q, self.time, *values]), dtype=float))

    def _split(self, values: np.ndarray) -> Rows:
        """A in units of the sizes, b and φ."""
        n, m = len(self.sizes), len(self.statement.constraints)
        return values[: m * n].reshape(m, n) * self.sizes, values[m * n : m * n + m], values[m * n + m :]

    def evaluable(self, x: np.ndarray) -> bool:
        try:
            return all((np.abs(each) < LARGEST).all() for each in self.rows(x))
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):
            return False

    def terms(self, x: np.ndarray) -> Rows:
        """The sizes of the terms of A, of b and of φ, before anything cancels: at x, or at a random point if they are
        larger there, since on φ = 0 terms may vanish."""
        here, (A, b, _) = self._terms(x), self._usual
        return np.maximum(here[0], A), np.maximum(here[1], b), here[2]

    @cached_property
    def _usual(self) -> Rows:
        return self._terms(self.starts[0])

    def _terms(self, x: np.ndarray) -> Rows:
        s = self.statement
        at = {**self.parameters, **dict(zip(s.q, self.sizes * x, strict=True)), s.time: self.time}
        return self._split(np.array(magnitudes(self.expressions, at), dtype=float))

    @property
    def order(self) -> list[int]:
        """The rows, holonomic ones first."""
        m, first = len(self.statement.constraints), len(self.statement.constraints) - len(self.statement.positions)
        return [*range(first, m), *range(first)]

    def judged(self, x: np.ndarray, holds: bool) -> tuple[Judged, bool]:
        """The rows at a point, and whether its digits suffice: where rows depend on each other, a point on φ = 0 is
        known only to the root of what is left of φ."""
        A, b, phi = self.rows(x)
        terms, b_terms, phi_terms = self.terms(x)
        found = in_even_units(A, b, terms, b_terms, self.order)
        if not (holds and len(phi)):
            return found, True
        left = np.abs(phi) / np.maximum(phi_terms, _sizes(A)[len(A) - len(phi) :])
        rough = replace(found, least=max(TRANSVERSAL, 10 * left.max() ** 0.5))
        return found, (len(rough.dependent), rough.at_odds) == (len(found.dependent), found.at_odds)

    def judged_in_many_digits(self, x: np.ndarray) -> Judged:
        """The rows at the point of φ = 0 next to x."""
        terms, b_terms, _ = self.terms(x)
        return in_even_units(*_precise_rows(self, x), terms, b_terms, self.order)

    @cached_property
    def zero(self) -> tuple[np.ndarray, bool]:
        """A point x of φ = 0, if one was found; without positions, a random one."""
        for start in self.starts:
            found, holds = _regular_zero(self, start)
            if holds:
                return found, True
        return self.starts[0], False


def trials(statement: Statement, defaults: Mapping[sm.Symbol, Any]) -> Iterator[Trial]:
    """Trials with random parameters first, the default ones last; the usual sizes first, then any."""
    s, n = statement, len(statement.q)
    stated = [*s.constraints, *s.positions]
    coefficients = [*(e for *row, _ in s.coefficients for e in row), *(b for *_, b in s.coefficients)]
    expressions = [*coefficients, *s.positions]
    parameters = sorted(set().union(*(c.free_symbols for c in stated)) - {*s.q, *s.v, s.time}, key=str)
    evaluate = steps(expressions, [*s.q, s.time, *parameters], SINGLE)
    generator, hidden = Draws(1949), hidden_terms(coefficients, (*s.q, s.time), poles=False)
    for k in range(2 * TRIALS):
        values = generator.uniform(0.2, 1.4, len(parameters)).tolist()
        if k >= TRIALS:
            values = [_number(defaults.get(p), value) for p, value in zip(parameters, values, strict=True)]
        named = dict(zip(parameters, values, strict=True))
        found = characteristic(stated, (*s.q, s.time), {**named, **unit_velocities(s)})
        sizes = found.drawn(generator) if k % TRIALS else found.usual
        time = float(sizes[-1] * generator.uniform(0.2, 1.4))
        trial = Trial(s, expressions, evaluate, named, sizes[:-1], time, [])
        starts = (generator.uniform(-size, size, n) for size in (1.4, 0.7, 0.3, 0.1))
        trial.starts.extend(filter(trial.evaluable, starts))
        if not trial.starts:
            continue
        yield trial
        start = dict(zip((*s.q, s.time), (*(trial.starts[0] * sizes[:-1]), time), strict=True))
        usual = dict(zip((*s.q, s.time), sizes.tolist(), strict=True))
        for place in places(hidden, s.positions, start, usual, named):
            x = np.array([place[q] for q in s.q]) / sizes[:-1]
            there = Trial(s, expressions, evaluate, named, sizes[:-1], place[s.time], [x])
            if there.evaluable(x):
                yield there


def _number(value: Any, otherwise: float) -> float:
    try:
        return float(value)
    except TypeError:
        return otherwise


def _regular_zero(trial: Trial, start: np.ndarray) -> tuple[np.ndarray, bool]:
    """A common zero where few rows depend on each other: singular ones attract, and are left again by a kick.

    A kick goes where the rows allow, so that it does not lead far from φ = 0.
    """
    found, holds = _common_zero(trial, start)
    generator, best = Draws(len(start)), _singular(trial, found, holds)
    for _ in range(KICKS if holds and any(best) and trial.statement.positions else 0):
        _, sizes, right = np.linalg.svd(_scaled(trial.rows(found)[0]))
        allowed = right[int((sizes > NEARBY).sum()) :]
        kicked = found + allowed.T @ (allowed @ generator.uniform(-1, 1, len(start)))
        if not trial.evaluable(kicked):
            continue
        other, there = _common_zero(trial, kicked)
        if there and _singular(trial, other, there) < best:
            found, best = other, _singular(trial, other, there)
    return found, holds


def _singular(trial: Trial, x: np.ndarray, holds: bool) -> tuple[bool, int]:
    """How singular a point is: whether its digits do not suffice, and the number of rows that depend on others."""
    judged, certain = trial.judged(x, holds)
    return not certain, len(judged.dependent)


def _common_zero(trial: Trial, x: np.ndarray, chosen: list[int] | None = None) -> tuple[np.ndarray, bool]:
    """A point of φ(q, t) = 0, of all holonomic rows or of those chosen.

    By Levenberg and Marquardt's method with a damping in proportion to |φ|², which converges to a nearby point whatever
    the rank of the rows (Yamashita and Fukushima 2001); φ in units of its change from the start.
    """
    rows = np.arange(len(trial.statement.positions)) if chosen is None else np.array(chosen, dtype=int)
    first = len(trial.statement.constraints) - len(trial.statement.positions)
    sizes = _sizes(trial.rows(x)[0][first:][rows])

    def holonomic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, _, phi = trial.rows(x)
        return A[first:][rows] / sizes[:, None], phi[rows] / sizes

    A, phi = holonomic(x)
    damping, refused = 1.0, 0
    for _ in range(NEWTON_STEPS):
        left = phi @ phi
        if left == 0 or (refused > 2 and left <= IDENTITY**3):
            break
        damped = np.vstack([A, (damping * left) ** 0.5 * np.eye(len(x))])
        new = x - np.linalg.lstsq(damped, np.concatenate([phi, 0 * x]), rcond=None)[0]
        better = trial.evaluable(new) and (holonomic(new)[1] ** 2).sum() < left
        damping *= 0.3 if better else 10.0
        refused = 0 if better else refused + 1
        if better:
            x = new
            A, phi = holonomic(x)
    return x, bool((np.abs(phi) <= IDENTITY * _row_terms(trial, x, sizes, rows)).all())


def _row_terms(trial: Trial, x: np.ndarray, sizes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The size of each holonomic row, in units of its change: this change itself, or its terms."""
    return np.maximum(trial.terms(x)[2][rows] / sizes, 1.0)


def _sizes(A: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(A, axis=1)
    return np.where(sizes > 0, sizes, 1.0)


def _scaled(A: np.ndarray) -> np.ndarray:
    return A / _sizes(A)[:, None]


def _precise_rows(trial: Trial, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A and b at the point of φ = 0 next to x, sought in many digits."""
    digits, s = Digits(3 * DIGITS), trial.statement  # a damping of φ² is to be seen
    mp, n, m, h = digits.mp, len(x), len(s.constraints), len(s.positions)
    known = {symbol: mp.mpf(value) for symbol, value in trial.parameters.items()} | {s.time: mp.mpf(trial.time)}
    sizes = [mp.mpf(float(size)) for size in trial.sizes]

    def values(point: Any, expressions: Sequence[sm.Expr]) -> list[Any]:
        at = known | {q: size * each for q, size, each in zip(s.q, sizes, point, strict=True)}
        return evaluated(list(expressions), at, digits)

    def matrix(point: Any, rows: range) -> Any:
        """Some rows of A."""
        found = values(point, trial.expressions[rows.start * n : rows.stop * n])
        return mp.matrix([[found[k * n + j] * sizes[j] for j in range(n)] for k in range(len(rows))])

    point, each = (
        mp.matrix([float(each) for each in x]),
        mp.diag([1 / mp.mpf(size) for size in _sizes(trial.terms(x)[0])[m - h :]]),
    )

    def step(point: Any) -> tuple[Any, float]:
        phi = each * mp.matrix(values(point, s.positions))
        left = mp.norm(phi)
        if left <= mp.mpf(10) ** -DIGITS:
            return point, 0.0
        A = each * matrix(point, range(m - h, m))
        return point - mp.lu_solve(A.T * A + left**2 * mp.eye(n), A.T * phi), 1.0

    point = newton(step, point, Stopping(POLISHED)).at
    A, b = matrix(point, range(m)), values(point, trial.expressions[m * n : m * n + m])
    return np.array(A.tolist(), dtype=float).reshape(m, n), np.array(b, dtype=float)


def _without_common_zero(trial: Trial) -> tuple[int, ...]:
    """Holonomic rows whose gradients are dependent but which do not vanish where the independent ones do."""
    start = trial.starts[0]
    A, _, phi = trial.rows(start)
    first = len(A) - len(phi)
    terms, b_terms, _ = trial.terms(start)
    every = list(range(len(phi)))
    judged = in_even_units(A[first:], phi, terms[first:], b_terms[first:], every)
    if not judged.dependent:
        return ()
    found, holds = _common_zero(trial, start, [k for k in every if k not in judged.dependent])
    left, sizes = trial.rows(found)[2] * judged.units, _sizes(A[first:])
    least = IDENTITY * (judged.units * sizes * _row_terms(trial, found, sizes, np.array(every))).max()
    return tuple(first + k for k in support(judged.null @ (judged.null.T @ left), least)) if holds else ()
