"""Frobenius' test: which Pfaffian constraints are holonomic in disguise.

A single form ω = a·dq + b dt is integrable where ω ∧ dω = 0: its exterior derivative vanishes on
its own kernel. The test is made at random configurations with random parameters, where an
identity fails with probability one if it fails at all; an integral is then sought symbolically.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import ConstraintError

if TYPE_CHECKING:
    from pfaff.system import Statement

TRIALS = 3
STEP = 1e-4  # of the central differences; the random points are O(1)
TOLERANCE = 1e-6  # well above the STEP² of the differences, relative to the entries

Forms = Callable[[np.ndarray], np.ndarray]  # of one point, or of many with a trailing axis


def integrable_rows(statement: Statement, nonholonomic: int) -> list[bool]:
    """Which nonholonomic rows are integrable on their own."""
    integrable = np.full(nonholonomic, True)
    for point, forms in _trials(statement) if nonholonomic else ():
        values, gradients = forms(point), _differences(forms, point)
        integrable &= [_closed_on_kernel(values[row], gradients[row]) for row in range(nonholonomic)]
    return [bool(each) for each in integrable]


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
    if nonholonomic < 2:
        return False
    for point, forms in _trials(statement):
        values, gradients = forms(point)[:nonholonomic], _differences(forms, point)[:nonholonomic]
        _, sizes, right = np.linalg.svd(values)
        kernel = right[int((sizes > TOLERANCE).sum()) :].T
        twist = [kernel.T @ (gradient - gradient.T) @ kernel for gradient in gradients]
        if np.abs(twist).max(initial=0.0) >= TOLERANCE * (1 + np.abs(gradients).max()):
            return False
    return True


def _trials(statement: Statement) -> Iterator[tuple[np.ndarray, Forms]]:
    """Random configurations (q, t), each with the coefficients (a, b) of all forms as a function."""
    parameters = sorted(
        set().union(*(c.free_symbols for c in statement.constraints)) - {*statement.q, *statement.v, statement.time},
        key=str,
    )
    generator = np.random.default_rng(1949)
    n = len(statement.q)
    units = np.hstack([np.eye(n), np.zeros((n, 1))])[..., None]
    for _ in range(TRIALS):
        values = dict(zip(parameters, generator.uniform(0.2, 1.4, len(parameters)), strict=True))

        def forms(x: np.ndarray, values: dict[sm.Symbol, float] = values) -> np.ndarray:
            many = x.reshape(n + 1, -1)
            q, v = dict(zip(statement.q, many[:-1], strict=True)), dict(zip(statement.v, units, strict=True))
            found = evaluated(statement.constraints, {**values, **q, **v, statement.time: many[-1]})
            rows = np.array([np.broadcast_to(each, (n + 1, many.shape[1])) for each in found])
            return np.hstack([rows[:, :-1] - rows[:, -1:], rows[:, -1:]]).reshape(-1, *x.shape)

        yield _admissible(forms, generator, n), forms


def evaluated(expressions: Sequence[sm.Expr], values: Mapping[sm.Symbol, Any]) -> list[Any]:
    """Expressions at numbers or arrays, common parts once: large trees are evaluated sooner than printed."""
    known: dict[sm.Basic, Any] = dict(values)

    def value(e: sm.Basic) -> Any:
        if e not in known:
            if isinstance(e, sm.Add):
                known[e] = sum(map(value, e.args[1:]), value(e.args[0]))
            elif isinstance(e, sm.Mul):
                known[e] = math.prod(map(value, e.args[1:]), start=value(e.args[0]))
            elif isinstance(e, sm.Pow):
                known[e] = value(e.base) ** value(e.exp)
            elif e.is_number:
                known[e] = float(e)
            elif isinstance(e, sm.Function) and all(isinstance(x, sm.Expr) for x in e.args):
                known[e] = _function(e.func, len(e.args))(*map(value, e.args))
            else:
                symbols = sorted(e.free_symbols, key=str)
                known[e] = sm.lambdify(symbols, e, "numpy")(*map(value, symbols))
        return known[e]

    with np.errstate(all="ignore"):
        return [value(e) for e in expressions]


@lru_cache(maxsize=64)
def _function(function: Any, count: int) -> Callable[..., Any]:
    arguments = sm.symbols(f"x1:{count + 1}")
    return sm.lambdify(arguments, function(*arguments), "numpy")


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


def _closed_on_kernel(form: np.ndarray, gradient: np.ndarray) -> bool:
    exterior = gradient - gradient.T
    kernel = np.linalg.svd(form.reshape(1, -1))[2][1:].T
    return bool(np.abs(kernel.T @ exterior @ kernel).max(initial=0.0) < TOLERANCE * (1 + np.abs(gradient).max()))


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
