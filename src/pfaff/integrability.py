"""Frobenius' test: which Pfaffian constraints are holonomic in disguise.

A single form ω = a·dq + b dt is integrable where ω ∧ dω = 0: its exterior derivative vanishes on
its own kernel. The test is made at random configurations with random parameters, where an
identity fails with probability one if it fails at all, and confirmed there in many digits; an integral is then sought
symbolically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import ConstraintError
from pfaff.evaluation import Digits, evaluated

if TYPE_CHECKING:
    from pfaff.system import Statement

TRIALS = 3
STEP = 1e-4  # of the central differences; the random points are O(1)
TOLERANCE = 1e-6  # well above the STEP² of the differences, relative to the gradient
NOISE = 1e-10  # of differences, relative to the entries: rounding over STEP
DIGITS = 60  # of the confirmation
BRACKET_DIGITS, BRACKET_STEP = 300, 1e-40  # every bracket costs as many digits as its step has: seven are possible
CONFIRMED = 1e-12  # numbers that were stated are rounded themselves

Forms = Callable[[np.ndarray], np.ndarray]  # of one point, or of many with a trailing axis
Field = Callable[[Any], tuple[Any, Any]]  # a vector of (q, t) as a difference of two


@dataclass(frozen=True)
class Trial:
    """A random configuration (q, t) with random parameters: coefficients (a, b) of all forms, and their gradients.

    Coordinates are measured in units of the columns of the coefficients.
    """

    parameters: Mapping[sm.Symbol, float]
    point: np.ndarray
    values: np.ndarray
    gradients: np.ndarray  # ∂(a, b)_i/∂x_j of every form, indexed [form, i, j]


def integrable_rows(statement: Statement, nonholonomic: int) -> list[bool]:
    """Which nonholonomic rows are integrable on their own."""
    trials = list(_trials(statement)) if nonholonomic else []
    return [_integrable(statement, [row], trials) for row in range(nonholonomic)]


def integral_of(statement: Statement, row: int) -> tuple[sm.Expr, sm.Expr] | None:
    """φ and f with ω = f dφ for an integrable row, if one is found."""
    return _integral(_form(statement, row), (*statement.q, statement.time))


def first_integrable(statement: Statement, nonholonomic: int) -> tuple[int, sm.Expr | None] | None:
    """The first nonholonomic row that is integrable on its own, with its integral if one is found."""
    integrable = integrable_rows(statement, nonholonomic)
    if not any(integrable):
        return None
    row = integrable.index(True)
    found = integral_of(statement, row)
    return row, found[0] if found else None


def closure(
    statement: Statement, rows: Sequence[int], point: Sequence[float], parameters: Mapping[sm.Symbol, float]
) -> int:
    """The dimension of the smallest integrable distribution in (q, t) that contains the kernel K of some rows.

    What vanishes on it is the largest integrable subsystem of the forms, the end of their derived flag. It is the
    dimension of K with all its Lie brackets [X, Y] = Y′X − X′Y, X of K and Y of those found last. At a point of the
    holonomic constraints the differentials of these are among the rows, and all fields are tangent to them.
    """
    digits = Digits(BRACKET_DIGITS)
    mp = digits.mp
    forms, start = _precise_forms(digits, statement, rows, parameters, point)
    projection = lru_cache(maxsize=None)(lambda x: _kernel_projection(mp, forms(x)))
    x = mp.matrix(start)
    basis: list[Any] = []
    kernel = _raising(mp, basis, [_projected(mp, projection, j) for j in range(len(x))], x)
    last = kernel
    while last and len(basis) < len(x):
        last = _raising(mp, basis, [_bracket(mp, X, Y) for X in kernel for Y in last if X is not Y], x)
    return len(basis)


def combined_integrals(statement: Statement, rows: Sequence[int]) -> list[sm.Expr]:
    """Integrals of combinations of rows with constant coefficients, as far as there are such."""
    trials = [trial.gradients[list(rows)] / np.abs(trial.values).max() for trial in _trials(statement)]
    twists = np.concatenate([(g - g.transpose(0, 2, 1)).reshape(len(rows), -1) for g in trials], axis=1)
    left, sizes, _ = np.linalg.svd(twists)
    closed = left[:, int((sizes > TOLERANCE * sizes.max(initial=0.0)).sum()) :].T
    for k in range(len(closed)):
        pivot = int(np.abs(closed[k]).argmax())
        closed[k] /= closed[k, pivot]
        closed -= np.outer(np.where(np.arange(len(closed)) == k, 0.0, closed[:, pivot]), closed[k])
    variables, found = (*statement.q, statement.time), []
    for combination in closed:
        coefficients = [sm.nsimplify(c, rational=True, tolerance=TOLERANCE) for c in combination.round(7)]
        forms = [[c * a for a in _form(statement, row)] for c, row in zip(coefficients, rows, strict=True)]
        pair = _integral([sm.simplify(sum(terms)) for terms in zip(*forms, strict=True)], variables)
        found += [pair[0]] if pair else []
    return found


def _raising(mp: Any, basis: list[Any], fields: Sequence[Field], x: Any) -> list[Field]:
    """Those fields that are independent at x of an orthonormal basis and of each other; the basis grows by them."""
    found = []
    for field in fields:
        plus, minus = field(x)
        size = mp.norm(plus) + mp.norm(minus)
        vector = plus - minus
        for e in basis:
            vector -= (e.T * vector)[0] * e
        left = mp.norm(vector)
        # relative to the two parts of a bracket, which are large or small with the units
        if left > CONFIRMED * size and size > BRACKET_STEP**0.5:
            basis.append(vector / left)
            found.append(field)
    return found


def _projected(mp: Any, projection: Callable[..., Any], j: int) -> Field:
    """The projection of the unit vector j on the kernel."""
    return lambda x: (projection(tuple(x))[:, j], mp.matrix(len(x), 1))


def _bracket(mp: Any, X: Field, Y: Field) -> Field:
    """The two parts Y′X and X′Y of a bracket."""

    def value(field: Field, x: Any) -> Any:
        plus, minus = field(x)
        return plus - minus

    def field(x: Any) -> tuple[Any, Any]:
        step = mp.mpf(BRACKET_STEP)
        here, there = value(X, x), value(Y, x)
        return (value(Y, x + step * here) - there) / step, (value(X, x + step * there) - here) / step

    return field


def integrable_together(statement: Statement, nonholonomic: int) -> bool:
    """Whether all nonholonomic rows form an integrable system although none may be integrable on its own.

    Frobenius: every dω vanishes on the common kernel of all the forms.
    """
    return nonholonomic > 1 and _integrable(statement, list(range(nonholonomic)), list(_trials(statement)))


def _integrable(statement: Statement, rows: list[int], trials: Sequence[Trial]) -> bool:
    """Whether every dω of some rows vanishes on their common kernel: seen in differences, confirmed in many digits."""
    for trial in trials:
        values, gradients = trial.values[rows], trial.gradients[rows]
        _, sizes, right = np.linalg.svd(_unit_rows(values))
        kernel = right[int((sizes > TOLERANCE).sum()) :].T
        for value, gradient in zip(values, gradients, strict=True):
            # relative to the gradient, so that neither units nor a factor of the row decide
            allowed = TOLERANCE * np.abs(gradient).max() + NOISE * np.abs(value).max()
            if np.abs(kernel.T @ (gradient - gradient.T) @ kernel).max(initial=0.0) > allowed:
                return False
    return all(_confirmed(statement, rows, trial) for trial in trials)


def _unit_rows(values: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.where(sizes > 0, sizes, 1.0)


def _confirmed(statement: Statement, rows: list[int], trial: Trial) -> bool:
    """The same with DIGITS, in which differences over a tiny step are derivatives."""
    digits = Digits(DIGITS)
    mp = digits.mp
    forms, x = _precise_forms(digits, statement, rows, trial.parameters, trial.point.tolist())
    values, step = forms(x), mp.mpf(10) ** (-DIGITS // 2)
    kernel = _kernel_projection(mp, values)
    moved = [forms([*x[:j], x[j] + step, *x[j + 1 :]]) for j in range(len(x))]
    for k in range(len(rows)):
        gradient = mp.matrix(len(x), len(x))  # ∂a_i/∂x_j
        for i, j in product(range(len(x)), repeat=2):
            gradient[i, j] = (moved[j][k, i] - values[k, i]) / step
        twist = kernel * (gradient - gradient.T) * kernel
        size, tiny = mp.norm(gradient, mp.inf), mp.norm(values, mp.inf) * step**0.8
        if mp.norm(twist, mp.inf) > CONFIRMED * size + tiny:
            return False
    return True


def _precise_forms(
    digits: Digits,
    statement: Statement,
    rows: Sequence[int],
    parameters: Mapping[sm.Symbol, float],
    point: Sequence[float] | np.ndarray,
) -> tuple[Callable[..., Any], list[Any]]:
    """(a, b) of some rows as a matrix in so many digits, and a point, in units of their columns."""
    flat = [e for row in rows for e in _form(statement, row)]
    mpf = digits.mp.mpf
    known = {symbol: mpf(value) for symbol, value in parameters.items()}

    def table(x: Sequence[Any]) -> np.ndarray:
        at = dict(zip((*statement.q, statement.time), x, strict=True))
        return np.array(evaluated(flat, {**known, **at}, digits), dtype=object).reshape(len(rows), len(x))

    start = [mpf(float(each)) for each in point]
    units = [mpf(float(each)) for each in _columns(table(start).astype(float))]

    def forms(x: Sequence[Any]) -> Any:
        return digits.mp.matrix((table([e / u for e, u in zip(x, units, strict=True)]) / units).tolist())

    return forms, [e * u for e, u in zip(start, units, strict=True)]


def _columns(values: np.ndarray) -> np.ndarray:
    """The sizes of the columns of rows scaled to one: units of the coordinates in which all of them matter alike."""
    sizes = np.linalg.norm(_unit_rows(values), axis=0)
    return np.where(sizes > 0, sizes, 1.0)


def _kernel_projection(mp: Any, values: Any) -> Any:
    """1 − A⁺A, the orthogonal projection on the kernel of the rows; those that depend on others are left out."""
    units = _unit_rows(np.array(values.tolist(), dtype=float))
    kept: list[int] = []
    for k in range(len(units)):
        if np.linalg.matrix_rank(units[[*kept, k]], tol=TOLERANCE) > len(kept):
            kept.append(k)
    rows = mp.matrix([[values[k, j] / mp.norm(values[k, :]) for j in range(values.cols)] for k in kept])
    return mp.eye(values.cols) - rows.T * mp.inverse(rows * rows.T) * rows


def _parameters(statement: Statement, generator: np.random.Generator) -> dict[sm.Symbol, float]:
    symbols = set().union(*(c.free_symbols for c in statement.constraints))
    names = sorted(symbols - {*statement.q, *statement.v, statement.time}, key=str)
    return dict(zip(names, generator.uniform(0.2, 1.4, len(names)).tolist(), strict=True))


def _trials(statement: Statement) -> Iterator[Trial]:
    generator = np.random.default_rng(1949)
    n = len(statement.q)
    units = np.hstack([np.eye(n), np.zeros((n, 1))])[..., None]
    for _ in range(TRIALS):
        values = _parameters(statement, generator)

        def forms(x: np.ndarray, values: dict[sm.Symbol, float] = values) -> np.ndarray:
            many = x.reshape(n + 1, -1)
            q, v = dict(zip(statement.q, many[:-1], strict=True)), dict(zip(statement.v, units, strict=True))
            found = evaluated(statement.constraints, {**values, **q, **v, statement.time: many[-1]})
            rows = np.array([np.broadcast_to(each, (n + 1, many.shape[1])) for each in found])
            return np.hstack([rows[:, :-1] - rows[:, -1:], rows[:, -1:]]).reshape(-1, *x.shape)

        point = _admissible(forms, generator, n)
        found, gradients = forms(point), _differences(forms, point)
        columns = _columns(found)
        yield Trial(values, point, found / columns, gradients / np.multiply.outer(columns, columns))


def _admissible(forms: Forms, generator: np.random.Generator, n: int) -> np.ndarray:
    """A random configuration where the constraints can be evaluated: √(1 − x²) wants a small x."""
    for size in (1.4, 0.7, 0.3, 0.1, 10.0):
        point = generator.uniform(0.2 * size, size, n + 1)
        try:
            if np.isfinite(forms(point)).all():
                return point
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
    raise ConstraintError("the constraints could not be evaluated at any configuration tried: check their functions")


def _differences(forms: Forms, point: np.ndarray) -> np.ndarray:
    """∂(a, b)_i/∂x_j of every form, by central differences: indexed [form, i, j]."""
    steps = STEP * np.eye(len(point))
    return (forms(point[:, None] + steps) - forms(point[:, None] - steps)) / (2 * STEP)


def _form(statement: Statement, row: int) -> list[sm.Expr]:
    """(a, b) of ω = a·dq + b dt."""
    constraint = statement.constraints[row]
    return [
        *(sm.diff(constraint, v) for v in statement.v),
        constraint.xreplace({v: sm.Integer(0) for v in statement.v}),
    ]


def _integral(form: list[sm.Expr], variables: tuple[sm.Symbol, ...]) -> tuple[sm.Expr, sm.Expr] | None:
    """φ and f with dφ = ω/f, where f is 1, a coefficient of ω or a product of two of them."""
    varying = [a for a in form if a.free_symbols & set(variables)]
    products = [a * b for a, b in combinations_with_replacement(varying, 2)]
    factors = [sm.Integer(1), *varying, *products]
    for factor in factors:
        exact = [sm.simplify(a / factor) for a in form]
        phi = sm.Integer(0)
        for a, x in zip(exact, variables, strict=True):
            phi += sm.integrate(a - sm.diff(phi, x), x)
        if phi.has(sm.Integral):
            continue
        if all(sm.simplify(sm.diff(phi, x) - a) == 0 for a, x in zip(exact, variables, strict=True)):
            return sm.simplify(phi), factor
    return None
