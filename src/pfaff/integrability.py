"""Frobenius' test: which Pfaffian constraints are holonomic in disguise.

A single form ω = a·dq + b dt is integrable where ω ∧ dω = 0: its exterior derivative vanishes on
its own kernel. The test is made at random configurations with random parameters, where an
identity fails with probability one if it fails at all, and confirmed there in many digits; an integral is then sought
symbolically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import sympy as sm

from pfaff.errors import ConstraintError
from pfaff.evaluation import evaluated

if TYPE_CHECKING:
    from pfaff.system import Statement

TRIALS = 3
STEP = 1e-4  # of the central differences; the random points are O(1)
TOLERANCE = 1e-6  # well above the STEP² of the differences, relative to the gradient
NOISE = 1e-10  # of differences, relative to the entries: rounding over STEP
DIGITS = 60  # of the confirmation
CONFIRMED = 1e-12  # numbers that were stated are rounded themselves

Forms = Callable[[np.ndarray], np.ndarray]  # of one point, or of many with a trailing axis


@dataclass(frozen=True)
class Trial:
    """A random configuration (q, t) with random parameters: coefficients (a, b) of all forms, and their gradients."""

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
    with mpmath.workdps(DIGITS):
        forms = precise_forms(statement, rows, trial.parameters)
        x = [mpmath.mpf(float(each)) for each in trial.point]
        values, step = forms(x), mpmath.mpf(10) ** (-DIGITS // 2)
        kernel = kernel_projection(values)
        moved = [forms([*x[:j], x[j] + step, *x[j + 1 :]]) for j in range(len(x))]
        for k in range(len(rows)):
            gradient = mpmath.matrix(len(x), len(x))  # ∂a_i/∂x_j
            for i, j in product(range(len(x)), repeat=2):
                gradient[i, j] = (moved[j][k, i] - values[k, i]) / step
            twist = kernel * (gradient - gradient.T) * kernel
            size, tiny = mpmath.norm(gradient, mpmath.inf), mpmath.norm(values, mpmath.inf) * step**0.8
            if mpmath.norm(twist, mpmath.inf) > CONFIRMED * size + tiny:
                return False
    return True


def precise_forms(statement: Statement, rows: Sequence[int], parameters: Mapping[sm.Symbol, float]) -> Any:
    """(a, b) of some rows at (q, t) as a matrix in the digits of mpmath's context."""
    chosen = [_form(statement, row) for row in rows]
    flat = [e for form in chosen for e in form]
    known = {symbol: mpmath.mpf(value) for symbol, value in parameters.items()}

    def forms(x: Sequence[Any]) -> Any:
        at = dict(zip((*statement.q, statement.time), x, strict=True))
        found = evaluated(flat, {**known, **at}, "mpmath")
        return mpmath.matrix(np.array(found, dtype=object).reshape(len(chosen), len(x)).tolist())

    return forms


def kernel_projection(values: Any) -> Any:
    """1 − A⁺A, the orthogonal projection on the kernel of the rows; those that depend on others are left out."""
    units = _unit_rows(np.array(values.tolist(), dtype=float))
    kept: list[int] = []
    for k in range(len(units)):
        if np.linalg.matrix_rank(units[[*kept, k]], tol=TOLERANCE) > len(kept):
            kept.append(k)
    rows = mpmath.matrix([[values[k, j] / mpmath.norm(values[k, :]) for j in range(values.cols)] for k in kept])
    return mpmath.eye(values.cols) - rows.T * mpmath.inverse(rows * rows.T) * rows


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
        yield Trial(values, point, forms(point), _differences(forms, point))


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
