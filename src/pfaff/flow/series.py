"""Truncated power series of arrays: the arithmetic in which a formula gives all its derivatives along a curve.

Griewank and Walther (2008), Evaluating Derivatives, ch. 13. A missing coefficient is zero: a constant along the curve
costs no more than a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import StatementError

PLAIN = (int, float, complex)


class Series:
    """c₀ + c₁ s + … up to an order; coefficients are arrays that broadcast against each other, or None for zero."""

    __slots__ = ("c", "order")
    __array_ufunc__ = None  # an array times a series is a series

    def __init__(self, coefficients: Sequence[Any], order: int) -> None:
        self.c, self.order = list(coefficients[: order + 1]), order

    def __len__(self) -> int:
        return len(self.c)

    def coefficient(self, k: int) -> Any:
        return self.c[k] if k < len(self.c) and self.c[k] is not None else 0.0

    def mapped(self, linear: Callable[[Any], Any]) -> Series:
        """A linear function of all coefficients."""
        return Series([None if each is None else linear(each) for each in self.c], self.order)

    def __getitem__(self, rows: Any) -> Series:
        return Series([None if each is None else each[rows] for each in self.c], self.order)

    def __add__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return Series([_sum(self.c[0], other), *self.c[1:]], self.order)
        a, b = (self, other) if len(self.c) >= len(other.c) else (other, self)
        both = len(b.c)
        return Series(list(map(_sum, a.c, b.c)) + a.c[both:], max(self.order, other.order))

    __radd__ = __add__

    def __neg__(self) -> Series:
        return self.mapped(lambda each: -each)

    def __sub__(self, other: Any) -> Series:
        return self + (-other)

    def __rsub__(self, other: Any) -> Series:
        return (-self) + other

    def __mul__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return self.mapped(lambda each: each * other)
        a, b, order = self.c, other.c, max(self.order, other.order)
        top = min(order, len(a) + len(b) - 2)
        return Series([_convolved(a, b, k) for k in range(top + 1)], order)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return self.mapped(lambda each: each / other)
        return self * other.inverse()

    def __rtruediv__(self, other: Any) -> Series:
        return self.inverse() * other

    def inverse(self) -> Series:
        self = _filled(self)
        lead = 1 / self.c[0]
        found = [lead]
        for k in range(1, self.order + 1 if len(self.c) > 1 else 1):
            found.append(-lead * sum(self.c[j] * found[k - j] for j in range(1, min(k, len(self.c) - 1) + 1)))
        return Series(found, self.order)

    def __pow__(self, exponent: Any) -> Series:
        if isinstance(exponent, Series):
            if len(exponent.c) > 1:
                return exp(exponent * log(self))
            exponent = exponent.c[0]
        if np.ndim(exponent) == 0 and float(exponent) == int(exponent):
            return _whole_power(self, int(exponent))
        return _power(self, exponent)

    def __rpow__(self, base: Any) -> Series:
        return exp(self * np.log(base))


def _sum(a: Any, b: Any) -> Any:
    if a is None:
        return None if type(b) in PLAIN and b == 0 else b
    return a if b is None else a + b


def _convolved(a: list[Any], b: list[Any], k: int) -> Any:
    total = None
    for j in range(max(0, k - len(b) + 1), min(k, len(a) - 1) + 1):
        if a[j] is not None and b[k - j] is not None:
            total = a[j] * b[k - j] if total is None else total + a[j] * b[k - j]
    return total


def _filled(x: Series) -> Series:
    """The series with zeros in place of missing coefficients, for nonlinear functions."""
    return Series([0.0 if each is None else each for each in x.c], x.order)


def _whole_power(base: Series, exponent: int) -> Series:
    if exponent < 0:
        return _whole_power(base, -exponent).inverse()
    result: Any = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        base, exponent = base * base if exponent > 1 else base, exponent >> 1
    return Series([1.0], base.order) if result is None else result


def _power(base: Series, exponent: Any) -> Series:
    """y = xᵃ from x y' = a x' y."""
    base = _filled(base)
    y = [base.c[0] ** exponent]
    for k in range(1, base.order + 1 if len(base.c) > 1 else 1):
        inner = sum((exponent * j - (k - j)) * base.c[j] * y[k - j] for j in range(1, min(k, len(base.c) - 1) + 1))
        y.append(inner / (k * base.c[0]))
    return Series(y, base.order)


def _slopes(x: Series) -> list[Any]:
    return [j * x.c[j] for j in range(1, len(x.c))]


def sine_and_cosine(x: Any) -> tuple[Any, Any]:
    if not isinstance(x, Series):
        return np.sin(x), np.cos(x)
    x = _filled(x)
    s, c = [np.sin(x.c[0])], [np.cos(x.c[0])]
    slopes = _slopes(x)
    for k in range(1, x.order + 1 if slopes else 1):
        reach = range(min(k, len(slopes)))
        s.append(sum(slopes[j] * c[k - 1 - j] for j in reach) / k)
        c.append(-sum(slopes[j] * s[k - 1 - j] for j in reach) / k)
    return Series(s, x.order), Series(c, x.order)


def unit_circle(x: Any) -> Any:
    """exp(iθ) of an angle."""
    if not isinstance(x, Series):
        found = np.empty(np.shape(x), dtype=complex)
        found.real, found.imag = np.cos(x), np.sin(x)
        return found
    e, slopes = [unit_circle(x.c[0])], [None if each is None else 1j * j * each for j, each in enumerate(x.c)][1:]
    for k in range(1, x.order + 1 if slopes else 1):
        total = _convolved(slopes, e, k - 1)
        e.append(None if total is None else total / k)
    return Series(e, x.order)


def real(x: Any) -> Any:
    return x.mapped(np.real) if isinstance(x, Series) else np.real(x)


def imaginary(x: Any) -> Any:
    return x.mapped(np.imag) if isinstance(x, Series) else np.imag(x)


def conjugate(x: Any) -> Any:
    return x.mapped(np.conj) if isinstance(x, Series) else np.conj(x)


def exp(x: Any) -> Any:
    if not isinstance(x, Series):
        return np.exp(x)
    x = _filled(x)
    y, slopes = [np.exp(x.c[0])], _slopes(x)
    for k in range(1, x.order + 1 if slopes else 1):
        y.append(sum(slopes[j] * y[k - 1 - j] for j in range(min(k, len(slopes)))) / k)
    return Series(y, x.order)


def log(x: Any) -> Any:
    """The logarithm, from x y' = x'."""
    if not isinstance(x, Series):
        return np.log(x)
    x = _filled(x)
    y = [np.log(x.c[0])]
    for k in range(1, x.order + 1 if len(x.c) > 1 else 1):
        known = sum(j * y[j] * x.coefficient(k - j) for j in range(1, k))
        y.append((x.coefficient(k) - known / k) / x.c[0])
    return Series(y, x.order)


def sqrt(x: Any) -> Any:
    return _power(x, 0.5) if isinstance(x, Series) else np.sqrt(x)


def absolute(x: Any) -> Any:
    return x * np.sign(x.coefficient(0)) if isinstance(x, Series) else np.abs(x)


def hyperbolic_tangent(x: Any) -> Any:
    return 1 - 2 / (exp(2 * x) + 1)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": lambda x: sine_and_cosine(x)[0],
    "cos": lambda x: sine_and_cosine(x)[1],
    "tan": lambda x: (lambda pair: pair[0] / pair[1])(sine_and_cosine(x)),
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "sinh": lambda x: (exp(x) - exp(-x)) / 2,
    "cosh": lambda x: (exp(x) + exp(-x)) / 2,
    "tanh": hyperbolic_tangent,
    "Abs": absolute,
}


def lambdified(arguments: Sequence[Any], expressions: Sequence[sm.Expr]) -> Callable[..., list[Any]]:
    """SymPy's expressions as a function of series or arrays, common subexpressions computed once."""
    for each in expressions:
        for function in each.atoms(sm.Function):
            if type(function).__name__ not in FUNCTIONS:
                raise StatementError(
                    f"{function} cannot be differentiated beside a rod: write it with {', '.join(sorted(FUNCTIONS))}"
                )
    numbers = {sm.pi: sm.Float(np.pi, 17), sm.E: sm.Float(np.e, 17)}
    stated = [each.xreplace(numbers) for each in expressions]
    return sm.lambdify(list(arguments), stated, [FUNCTIONS], cse=True, dummify=True)
