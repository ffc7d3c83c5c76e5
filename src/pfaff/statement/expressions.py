"""Formulas written as text: read by a small grammar of our own and never executed.

A text consists of numbers, known names, + - * / ** (or ^), signs, parentheses and the functions in ``FUNCTIONS``; it
is read by operator precedence (Pratt 1973), as Python would group it. What it builds is what SymPy builds from the
same operations. Lengths, depths and sizes have limits, so that no text takes long.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import sympy as sm
from sympy.logic.boolalg import BooleanAtom

from pfaff.errors import ParameterError, PfaffError, StatementError, nearest

FUNCTIONS: dict[str, Callable[..., sm.Expr]] = {
    name: getattr(sm, name)
    for name in (
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        *("exp", "log", "erf", "sqrt"),
    )
}
CONSTANTS = {"pi": sm.pi, "π": sm.pi, "E": sm.E}
ALIASES = {"ln": sm.log}
RELATIONS = ("=", "<", ">", "≤", "≥")
CORNERS = ("abs", "Abs", "sign", "sgn", "max", "min", "Max", "Min", "Heaviside", "Piecewise", "step")
BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "sign": 3, "**": 4, "^": 4}
OPERATIONS: dict[str, Callable[[sm.Expr, sm.Expr], sm.Expr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
}
LONGEST = 2000  # characters
DEEPEST = 50  # parentheses, signs and powers within each other
DIGITS = 100  # of one number
LARGEST = 1000  # exponent, of a number or of a power
BITS = 10_000  # of a power of exact numbers
FINITE = sm.Integer(2) ** 1024  # beyond it numbers overflow in double precision
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>\*\*|[-+*/^(),])|(?P<strange>\S))"
)


class Token(NamedTuple):
    kind: str
    text: str
    place: int  # of its first character, counted from one


END = "the end"


def parsed(
    text: str,
    known: Mapping[str, sm.Expr],
    culprit: str,
    refuse: type[PfaffError] = ParameterError,
    *,
    exact: bool = False,
) -> sm.Expr:
    """The expression that a text states in known names; an error starts with the ``culprit``, such as "the event".

    Quotients of whole numbers are exact; decimals are floats, or fractions if ``exact``.
    """

    def fail(why: str) -> NoReturn:
        raise refuse(f"{culprit}: {why}")

    if len(text) > LONGEST:
        fail(f"it has {len(text)} characters, more than {LONGEST}; build a long expression in SymPy")
    return _Reader(text, known, fail, exact).whole()


def expressed(given: Any, known: Mapping[str, sm.Expr], culprit: str, refuse: type[PfaffError] = StatementError) -> Any:
    """SymPy expressions as they are, numbers as SymPy's, and text parsed in known names."""
    if isinstance(given, str):
        return parsed(given, known, f"{culprit}, {shortened(given)}, is not an expression", refuse)
    try:
        found = converted(given)
    except Exception as problem:  # objects of the user's may raise anything when SymPy examines them
        kind = type(given).__name__
        raise refuse(f"{culprit} is of type {kind}, not an expression: give it in SymPy or as text") from problem
    if isinstance(found, BooleanAtom):
        raise refuse(f"{culprit} is {found}, the outcome of a comparison: {COMPARED}")
    if isinstance(found, sm.core.relational.Relational):
        raise refuse(f"{culprit} is {found!s:.60}, {_relation(found, refuse)}")
    return sm.S.Zero if isinstance(found, sm.Float) and found == 0.0 else found  # SymPy tells 0.0 from 0


COMPARED = (
    "left == right compares in Python, and gives True or False; an equation is sympy.Eq(left, right), or what "
    "vanishes, left - right"
)


def _relation(found: sm.core.relational.Relational, refuse: type[PfaffError]) -> str:
    """Why an equation or an inequality is no expression."""
    if isinstance(found, sm.Equality):
        return "an equation: give its right side alone"
    if refuse is ParameterError:
        return f"an inequality: give what vanishes on its boundary, {found.lhs - found.rhs!s:.40}"
    return (
        "an inequality, and constraints that hold on one side only are not supported: state an equation, and end "
        "motions at a stop by an event of simulate"
    )


def converted(given: Any) -> Any:
    """SymPy's object for a number or an expression. Containers are none: SymPy executes the texts that it finds in
    them, however strictly it is asked."""
    if isinstance(given, sm.Basic):
        return given
    if not isinstance(given, sm.MatrixBase) and (isinstance(given, Collection) or getattr(given, "ndim", 0) > 0):
        raise TypeError("a container is no expression")
    return sm.sympify(given, strict=True)


def vanishing(given: Any, known: Mapping[str, sm.Expr], culprit: str, refuse: type[PfaffError] = StatementError) -> Any:
    """The same; an equation becomes lhs − rhs. Sides of one in text are parsed separately, so that errors name the
    side."""
    if isinstance(given, sm.Equality):
        given = given.lhs - given.rhs
    sides = re.split("==?", given) if isinstance(given, str) and len(re.findall("==?", given)) == 1 else [given]
    left, *right = (
        expressed(each.strip() if isinstance(each, str) else each, known, culprit, refuse) for each in sides
    )
    return left - right[0] if right else left


def constant(text: str, culprit: str, refuse: type[PfaffError] = ParameterError) -> sm.Expr:
    """The number that a text states, exactly: 1/3, 0.1, 1e-3, pi/2, sqrt(2)."""
    return parsed(text, {}, culprit, refuse, exact=True)


def shortened(text: str) -> str:
    """A text for a message, in quotes and on one line."""
    return repr(text if len(text) <= 40 else f"{text[:37]}…")


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, known: Mapping[str, sm.Expr], fail: Callable[[str], NoReturn], exact: bool) -> None:
        self.known, self.fail, self.exact = known, fail, exact
        self.tokens = _tokens(text)
        self.next = next(self.tokens)
        self.depth = 0

    def whole(self) -> sm.Expr:
        found = self.formula(0)
        if self.next.text in RELATIONS:
            self._unexpected("give an expression, of a relation what vanishes, left side minus right side")
        if self.next.text in (".", "'"):
            self._unexpected("a velocity is written x_dot")
        if self.next.kind != END:
            # Where no names are known, a number is expected.
            unit = self.next.kind == "name" and not self.known and self.next.text not in CONSTANTS
            factors = "write * between factors" if self.next.kind in ("number", "name") else ""
            self._unexpected("give the number alone, without a unit" if unit else factors)
        return found

    def formula(self, around: int) -> sm.Expr:
        """Operands and operators, as long as these bind more tightly than those around."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"it is nested more than {DEEPEST} deep at {_at(self.next)}; write it flatter, or in SymPy")
        left = self.operand()
        while self.next.kind == "operator" and BINDING.get(self.next.text, 0) > around:
            sign = self.take()
            binding = BINDING[sign.text]
            right = self.formula(binding - 1 if sign.text in ("**", "^") else binding)
            left = self.combined(left, sign, right)
        self.depth -= 1
        return left

    def operand(self) -> sm.Expr:
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.called(token) if self.next.text == "(" else self.named(token)
        if token.text in ("+", "-"):
            value = self.formula(BINDING["sign"])
            return -value if token.text == "-" else value
        if token.text == "(":
            inner = self.formula(0)
            self.expect(")")
            return inner
        return self._unexpected("", token)

    def number(self, token: Token) -> sm.Expr:
        mantissa, _, exponent = token.text.lower().partition("e")
        if len(mantissa) > DIGITS or abs(int(exponent[:9] or 0)) > LARGEST:
            self.fail(f"the number {_at(token)} has more than {DIGITS} digits or an exponent beyond {LARGEST}")
        if token.text.isdigit() or self.exact:
            return self.finite(sm.Rational(token.text), token)
        return self.finite(sm.Float(token.text), token)

    def named(self, token: Token) -> sm.Expr:
        name = unicodedata.normalize("NFKC", token.text)  # as Python reads names
        for found in (self.known.get(token.text), self.known.get(name), CONSTANTS.get(name)):
            if found is not None:
                return found
        if name in FUNCTIONS:
            self.fail(f"the function {_at(token)} has no argument; write {name}(…)")
        near = nearest(token.text, {*self.known, "pi", "E"})
        return self.fail(f"unknown {token.text} (character {token.place}), {near}")

    def called(self, token: Token) -> sm.Expr:
        function = FUNCTIONS.get(token.text) or ALIASES.get(token.text)
        if function is None:
            if token.text in ("Derivative", "diff", "Diff"):
                self.fail(f"no function {_at(token)}, a velocity is written x_dot")
            if token.text in CORNERS:
                self.fail(f"no function {_at(token)}, write a smooth one, as sqrt(x**2 + 1e-6) or tanh(x/1e-3)")
            product = (
                f"write {token.text}*(…) for a product or {token.text} alone, " if token.text in self.known else ""
            )
            self.fail(f"no function {_at(token)}, {product}{nearest(token.text, FUNCTIONS)}")
        self.expect("(")
        arguments = [self.formula(0)]
        while self.next.text == ",":
            self.take()
            arguments.append(self.formula(0))
        self.expect(")")
        wanted = 2 if token.text == "atan2" else 1
        if len(arguments) != wanted:
            self.fail(f"the function {_at(token)} has {len(arguments)} arguments; give {wanted}")
        return self.finite(function(*arguments), token)

    def combined(self, left: sm.Expr, sign: Token, right: sm.Expr) -> sm.Expr:
        operator = "**" if sign.text == "^" else sign.text
        if operator == "/" and right == 0:
            self.fail(f"division by zero at {_at(sign)}")
        if operator == "**":
            self.check_power(left, sign, right)
        found = self.finite(OPERATIONS[operator](left, right), sign)
        if operator == "**" and found.is_Pow:
            self.check_power(found.base, sign, found.exp)
        return found

    def check_power(self, base: sm.Expr, sign: Token, exponent: sm.Expr) -> None:
        """Refuse powers that SymPy would multiply out for ages."""
        if not exponent.is_number:
            return
        size = abs(float(exponent))
        if size > LARGEST:
            self.fail(f"an exponent beyond {LARGEST} at {_at(sign)}; use other units")
        bits = max((max(r.p.bit_length(), r.q.bit_length()) for r in base.atoms(sm.Rational)), default=0)
        if base.is_number and bits * size > BITS:
            self.fail(f"a power of too many digits at {_at(sign)}; write a decimal number")

    def finite(self, value: sm.Expr, token: Token) -> sm.Expr:
        """Raise unless a number is real and finite in double precision, so that the next step is quick too."""
        if not value.is_number:
            if value.has(sm.nan, sm.zoo, sm.oo, sm.I):
                self.fail(f"what ends at {_at(token)} is not finite or not real")
            return value
        number = value if value.is_Rational or value.is_Float else value.evalf(15)
        if not (number.is_Rational or number.is_Float) or number.is_infinite:
            self.fail(f"no finite real number at {_at(token)}; check the arguments of roots, logarithms and inverses")
        if abs(number) >= FINITE:
            self.fail(f"a number beyond double precision at {_at(token)}; use other units")
        return value

    def take(self) -> Token:
        token = self.next
        if token.kind != END:
            self.next = next(self.tokens)
        return token

    def expect(self, text: str) -> None:
        token = self.take()
        if token.text != text:
            self._unexpected(f"expected {text!r}", token)

    def _unexpected(self, remedy: str, token: Token | None = None) -> NoReturn:
        token = token or self.next
        why = "it ends too early" if token.kind == END else f"unexpected {_at(token)}"
        self.fail(f"{why}; {remedy}" if remedy else why)


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while found := TOKEN.match(text, place):
        kind = str(found.lastgroup)
        yield Token(kind, found[kind], found.start(kind) + 1)
        place = found.end()
    yield Token(END, "", len(text) + 1)


def _at(token: Token) -> str:
    return "its end" if token.kind == END else f"{shortened(token.text)} (character {token.place})"


def warn_of_no_number(event: str) -> None:
    """Warn of an event whose expression was never a number: that it was not found means nothing."""
    warnings.warn(
        f"event {event!r} was looked for in vain: at no point is its expression a real, finite number; check its "
        "roots, logarithms and divisors",
        stacklevel=2,
    )
