"""Integrals of integrable forms that can be written down at once: ω = f dφ.

A courtesy to the reader of a message, so that nothing is asked of SymPy that may take long: numbers show which
integrating factor f will do, sums are integrated term by term, a term only if it is a product of few functions of
polynomials, and the result is checked in numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from math import prod
from threading import Lock

import numpy as np
import sympy as sm

from pfaff.algebra.tolerances import IDENTITY
from pfaff.statement.evaluation import evaluated, magnitudes

LONGEST = 200  # operations in a form
MOST_TERMS = 60  # of a sum
MOST_FACTORS = 2  # of a term that depend on the variable
HIGHEST = 4  # power of a factor
DEGREE = 2  # of the polynomials in functions
INTEGRATING = Lock()  # SymPy keeps what it is at in one place for all threads

Points = Sequence[Mapping[sm.Symbol, float]]


def integral(form: Sequence[sm.Expr], variables: Sequence[sm.Symbol], points: Points) -> tuple[sm.Expr, sm.Expr] | None:
    """φ and f with dφ = ω/f, where f is 1, a coefficient of ω or a product of two of them."""
    if sum(a.count_ops() for a in form) > LONGEST:
        return None
    for factor in _integrating_factors(form, variables, points):
        exact = [sm.factor_terms(a / factor) for a in form]
        phi = _potential(exact, variables)
        if phi is not None and all(_same(phi.diff(x), a, points) for a, x in zip(exact, variables, strict=True)):
            return phi, factor
    return None


def _integrating_factors(form: Sequence[sm.Expr], variables: Sequence[sm.Symbol], points: Points) -> Iterator[sm.Expr]:
    """Factors f with d(ω/f) = 0 at all points."""
    n = len(form)
    varying = [k for k, a in enumerate(form) if a.free_symbols & set(variables)]
    flat = [*form, *(a.diff(x) for a in form for x in variables)]
    tables = [np.array(evaluated(flat, at), dtype=float) for at in points]
    for chosen in [(), *((k,) for k in varying), *combinations_with_replacement(varying, 2)]:
        if all(_closed(table[:n], table[n:].reshape(n, n), list(chosen)) for table in tables):
            yield sm.Mul(*(form[k] for k in chosen))


def _closed(values: np.ndarray, gradient: np.ndarray, chosen: list[int]) -> bool:
    """Whether f dω = df ∧ ω for the product f of some coefficients: entry by entry, beside its terms."""
    f = prod(values[chosen])
    df = sum((prod(values[chosen[:k] + chosen[k + 1 :]]) * gradient[i] for k, i in enumerate(chosen)), 0 * values)
    terms, turned = f * gradient, np.outer(values, df)
    sizes = np.abs(terms) + np.abs(turned)
    return bool((np.abs(terms - terms.T - turned + turned.T) <= IDENTITY * (sizes + sizes.T)).all())


def _potential(exact: Sequence[sm.Expr], variables: Sequence[sm.Symbol]) -> sm.Expr | None:
    """φ with ∂φ/∂x = a for every variable, one after the other."""
    phi = sm.S.Zero
    for k, (a, x) in enumerate(zip(exact, variables, strict=True)):
        rest = _expanded(a - phi.diff(x))
        for before in rest.free_symbols & set(variables[:k]):  # it does not depend on these, despite its form
            rest = next((e for c in (0, 1) if (e := rest.subs(before, c)).is_finite is not False), sm.nan)
        part = _primitive(_expanded(rest), x)
        if part is None:
            return None
        phi += part
    return phi


def _expanded(e: sm.Expr) -> sm.Expr:
    """Products of sums expanded, as far as they are short."""
    terms = sum(prod(len(sm.Add.make_args(f)) for f in sm.Mul.make_args(term)) for term in sm.Add.make_args(e))
    return sm.expand_mul(e, deep=False) if terms <= MOST_TERMS else e


def _primitive(e: sm.Expr, x: sm.Symbol) -> sm.Expr | None:
    """∫ e dx, term by term."""
    from sympy.integrals.manualintegrate import manualintegrate  # seldom needed, and slow to load

    total = sm.S.Zero
    for term in sm.Add.make_args(e):
        constant, varying = term.as_independent(x, as_Add=False)
        factors = sm.Mul.make_args(varying)
        if len(factors) > MOST_FACTORS or not all(_simple(factor, x) for factor in factors):
            return None
        try:
            with INTEGRATING:
                found = manualintegrate(varying, x)
        except Exception:  # SymPy's algorithms may raise anything
            return None
        if found.has(sm.Integral):
            return None
        total += constant * found.replace(sm.Piecewise, lambda usual, *special: usual[0])
    return total


def _simple(factor: sm.Expr, x: sm.Symbol) -> bool:
    """Whether it is a low power of a polynomial of low degree, or of a function of one."""
    base, exponent = (factor, sm.S.One) if isinstance(factor, sm.exp) else factor.as_base_exp()
    inner = base.args[0] if isinstance(base, sm.Function) and len(base.args) == 1 else base
    low = exponent.is_number and abs(exponent) <= HIGHEST
    return bool(low and inner.is_polynomial(x) and inner.diff(x, DEGREE + 1) == 0)


def _same(a: sm.Expr, b: sm.Expr, points: Points) -> bool:
    for at in points:
        left, right = evaluated([a, b], at)
        if not abs(left - right) <= IDENTITY * sum(magnitudes([a, b], at)):
            return False
    return True
