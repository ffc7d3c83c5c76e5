"""Expressions as a graph: numbers, variables, parameters, time, and about thirty operations on them.

Equal expressions are one object, which lives as long as somebody holds it, so that ``==`` and ``hash`` cost nothing and
shared terms are seen. What is built is simplified at once, by rules that lose no digits: zeros, ones and signs vanish,
numbers and then parameters stand before what moves. Only what IEEE arithmetic rounds correctly is folded into numbers,
infinities and NaN among them.
The order of factors and terms depends on what they are, never on what was built before. Nothing recurs, so that depth
is no limit.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from struct import pack
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

ARITHMETIC = ("add", "sub", "mul", "div", "neg", "square")
FUNCTIONS = (
    *("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "log", "erf", "erfc"),
)
OPERATIONS = {name: k for k, name in enumerate((*ARITHMETIC, *FUNCTIONS, "pow", "atan2"))}
SIGNS = {"add": " + ", "sub": " - ", "mul": "*", "div": "/", "pow": "**"}
ODD = frozenset(("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"))
EVEN = frozenset(("cos", "cosh"))
VALUES = {  # values of functions that are numbers of ours
    **{(name, 0.0): 0.0 for name in ODD},
    **{(name, 0.0): 1.0 for name in ("cos", "cosh", "exp", "erfc")},
    **{(name, 1.0): 0.0 for name in ("log", "acos", "acosh")},
    **{("log", 0.0): -math.inf, ("atanh", 1.0): math.inf, ("atanh", -1.0): -math.inf},
}
DOMAINS = {
    **{"sqrt": (0.0, math.inf), "log": (0.0, math.inf), "acosh": (1.0, math.inf)},
    **dict.fromkeys(("asin", "acos", "atanh"), (-1.0, 1.0)),
}
NORMAL = sys.float_info.min  # of the numbers that have all digits
LONGEST = 1000  # characters of an expression in a message
KNOWN: WeakValueDictionary[tuple, Expression] = WeakValueDictionary()
BUILDING = RLock()


class Expression:
    """A node: an operation on arguments, or a leaf with a value. It never changes.

    ``moving`` is whether it depends on variables or time; ``rank``, a digest of what it is, orders factors and terms: a
    hash of whole numbers, which is the same in every process.
    """

    __slots__ = ("__weakref__", "args", "moving", "op", "rank", "value")
    op: str
    args: tuple[Expression, ...]
    value: Any
    moving: bool
    rank: int

    def __add__(self, other: Any) -> Expression:
        return add(self, expression(other))

    def __radd__(self, other: Any) -> Expression:
        return add(expression(other), self)

    def __sub__(self, other: Any) -> Expression:
        return sub(self, expression(other))

    def __rsub__(self, other: Any) -> Expression:
        return sub(expression(other), self)

    def __mul__(self, other: Any) -> Expression:
        return mul(self, expression(other))

    def __rmul__(self, other: Any) -> Expression:
        return mul(expression(other), self)

    def __truediv__(self, other: Any) -> Expression:
        return div(self, expression(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return div(expression(other), self)

    def __pow__(self, other: Any) -> Expression:
        return power(self, expression(other))

    def __rpow__(self, other: Any) -> Expression:
        return power(expression(other), self)

    def __neg__(self) -> Expression:
        return neg(self)

    def __copy__(self) -> Expression:
        return self

    def __deepcopy__(self, memo: dict) -> Expression:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        nodes = ordered([self])
        place = {e: k for k, e in enumerate(nodes)}
        return _restored, ([(e.op, e.value, *(place[a] for a in e.args)) for e in nodes],)

    def __str__(self) -> str:
        return written(self)

    __repr__ = __str__


def expression(x: Any) -> Expression:
    """A variable by its name, or a number."""
    if isinstance(x, Expression):
        return x
    if isinstance(x, str):
        return _leaf("variable", x)
    number = float(x)
    return _leaf("number", math.nan if math.isnan(number) else number + 0.0)  # one nan, one zero


class _Parameters:
    """``par[k]``: the parameter in place k."""

    def __getitem__(self, k: int) -> Expression:
        return _leaf("parameter", int(k))


def _leaf(op: str, value: Any) -> Expression:
    found = KNOWN.get((op, value))
    if found is not None:
        return found
    letters = pack("<d", value) if op == "number" else str(value).encode()
    rank = int.from_bytes(blake2b(op.encode() + b" " + letters, digest_size=7).digest(), "big")
    return _new((op, value), op, (), value, op in ("variable", "time"), rank)


def _node(op: str, a: Expression, b: Expression | None = None) -> Expression:
    """The operation as it stands."""
    key = (op, a, b)
    found = KNOWN.get(key)
    if found is not None:
        return found
    if b is None:
        return _new(key, op, (a,), None, a.moving, hash((OPERATIONS[op], a.rank)))
    return _new(key, op, (a, b), None, a.moving or b.moving, hash((OPERATIONS[op], a.rank, b.rank)))


def _sorted(op: str, a: Expression, b: Expression) -> Expression:
    return _node(op, a, b) if a.rank <= b.rank else _node(op, b, a)


def _new(key: tuple, op: str, args: tuple[Expression, ...], value: Any, moving: bool, rank: int) -> Expression:
    with BUILDING:  # another thread may have been first
        found = KNOWN.get(key)
        if found is None:
            found = object.__new__(Expression)
            found.op, found.args, found.value, found.moving, found.rank = op, args, value, moving, rank
            KNOWN[key] = found
    return found


def _restored(rows: list[tuple]) -> Expression:
    nodes: list[Expression] = []
    for op, value, *args in rows:
        nodes.append(_node(op, *(nodes[k] for k in args)) if args else _leaf(op, value))
    return nodes[-1]


def add(a: Expression, b: Expression) -> Expression:
    if a.op == "number" and b.op == "number":
        return expression(a.value + b.value)
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    if b.op == "neg":
        return sub(a, b.args[0])
    if a.op == "neg":
        return sub(b, a.args[0])
    return mul(TWO, a) if a is b else _sorted("add", a, b)


def sub(a: Expression, b: Expression) -> Expression:
    if a.op == "number" and b.op == "number":
        return expression(a.value - b.value)
    if b is ZERO:
        return a
    if a is ZERO:
        return neg(b)
    if a is b:
        return ZERO
    if b.op == "neg":
        return add(a, b.args[0])
    return neg(add(a.args[0], b)) if a.op == "neg" else _node("sub", a, b)


def neg(a: Expression) -> Expression:
    if a.op == "number":
        return expression(-a.value)
    if a.op == "neg":
        return a.args[0]
    return _node("sub", a.args[1], a.args[0]) if a.op == "sub" else _node("neg", a)


def mul(a: Expression, b: Expression) -> Expression:
    """A product, with signs outside, numbers before parameters, and these before what moves."""
    if b.op == "number" or (a.moving and not b.moving and a.op != "number"):
        a, b = b, a
    if a.op == "number":
        if b.op == "number":
            return expression(a.value * b.value)
        if a is ZERO:
            return ZERO
        if a is ONE:
            return b
        if a.value < 0:
            return neg(mul(expression(-a.value), b))
    if a.op == "neg":
        return neg(mul(a.args[0], b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    if a is b:
        return _node("square", a)
    for x, y in ((a, b), (b, a)):
        if y.op == "mul" and _before(*y.args) and not _before(y, x):  # x (k z) = k (x z), or (x k) z if x is like k
            k, z = y.args
            if _before(k, x):
                return mul(k, mul(x, z))
            if _before(x, z):
                together = mul(x, k)
                if together.op != "number" or NORMAL <= abs(together.value) < math.inf:
                    return mul(together, z)
    return _node("mul", a, b) if _before(a, b) else _node("mul", b, a) if _before(b, a) else _sorted("mul", a, b)


def _before(a: Expression, b: Expression) -> bool:
    """Whether a stands before b in products: numbers, parameters, what moves."""
    return (a.op == "number" and b.op != "number") or (b.moving and not a.moving)


def div(a: Expression, b: Expression) -> Expression:
    if a.op == b.op == "number":
        return expression(a.value / b.value if b.value else a.value * math.inf)
    if b.op == "number" and b is not ZERO:
        if b.value < 0:
            return neg(div(a, expression(-b.value)))
        if math.frexp(b.value)[0] == 0.5 and math.isfinite(1 / b.value):  # exact
            return mul(expression(1 / b.value), a)
    if a is ZERO and b is not ZERO:
        return ZERO
    if a is b and a is not ZERO:
        return ONE
    if a.op == "neg":
        return neg(div(a.args[0], b))
    return neg(div(a, b.args[0])) if b.op == "neg" else _node("div", a, b)


def power(a: Expression, b: Expression) -> Expression:
    """A power; by products where the exponent is a whole number or a half.

    Products round up to |b| − 1 times, so that x**64 may be wrong by some twenty units of its last digit, and x**-2 is
    zero beyond 1.3e154. But their series are finite at x = 0, where those of ``pow`` are not.
    """
    if b.op != "number" or not (2 * b.value).is_integer():
        if a.op == b.op == "number" and a.value <= 0:
            return expression(math.nan if a.value or math.isnan(b.value) else 0.0 if b.value > 0 else math.inf)
        return ONE if a is ONE else _node("pow", a, b)
    if b.value < 0:
        return div(ONE, power(a, expression(-b.value)))
    whole, half = divmod(int(2 * b.value), 2)
    root = _function("sqrt", a) if half else ONE
    result = ONE
    for digit in bin(whole)[2:] if whole else "":
        result = mul(result, result)
        if digit == "1":
            result = mul(result, a)
    return mul(result, root)


def _function(name: str, x: Any) -> Expression:
    a = expression(x)
    if a.op == "number":
        if (name, a.value) in VALUES:
            return expression(VALUES[name, a.value])
        low, high = DOMAINS.get(name, (-math.inf, math.inf))
        if not low <= a.value <= high:
            return expression(math.nan)
        if name == "sqrt":
            return expression(math.sqrt(a.value))
    if a.op == "neg" and name in ODD:
        return neg(_function(name, a.args[0]))
    return _function(name, a.args[0]) if a.op == "neg" and name in EVEN else _node(name, a)


def atan2(y: Any, x: Any) -> Expression:
    """The angle of the direction (x, y)."""
    return _node("atan2", expression(y), expression(x))


def sum_of(terms: Iterable[Any]) -> Expression:
    """The sum of terms in pairs: rounding errors grow with the logarithm of their number."""
    level = [e for e in map(expression, terms) if e is not ZERO]
    while len(level) > 1:
        pairs = [add(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, level[-1]] if len(level) % 2 else pairs
    return level[0] if level else ZERO


CLOCK = _leaf("time", None)  # the time
par = _Parameters()
ZERO, ONE, TWO = (expression(x) for x in (0.0, 1.0, 2.0))
sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, erf, erfc = (
    partial(_function, name) for name in FUNCTIONS
)
BUILDERS: dict[str, Callable[..., Expression]] = {
    **{"add": add, "sub": sub, "mul": mul, "div": div, "neg": neg, "square": lambda a: mul(a, a)},
    **{"pow": power, "atan2": atan2, **{name: partial(_function, name) for name in FUNCTIONS}},
}


def ordered(roots: Iterable[Expression], ends: Container[Expression] = ()) -> list[Expression]:
    """All nodes below the roots, arguments first, but nothing below ``ends``."""
    done: dict[Expression, None] = {}
    stack = list(roots)[::-1]
    while stack:
        e = stack[-1]
        todo = [] if e in done or e in ends else [a for a in e.args if a not in done]
        if todo:
            stack.extend(todo[::-1])
        else:
            done[stack.pop()] = None
    return list(done)


def variables_in(expressions: Iterable[Expression]) -> list[str]:
    """The names of the variables that occur, sorted."""
    return sorted(e.value for e in ordered(expressions) if e.op == "variable")


def parameters_in(expressions: Iterable[Expression]) -> list[int]:
    """The places of the parameters that occur, sorted."""
    return sorted(e.value for e in ordered(expressions) if e.op == "parameter")


def depends_on_time(expressions: Iterable[Expression]) -> bool:
    return CLOCK in ordered(expressions)


def subs(expressions: Sequence[Expression], by: Mapping[Expression, Any]) -> list[Expression]:
    """The expressions with some of what occurs in them replaced, all at once."""
    known = {e: expression(x) for e, x in by.items()}
    for e in ordered(expressions, known):
        if e not in known:
            args = [known[a] for a in e.args]
            known[e] = e if all(map(operator.is_, args, e.args)) else BUILDERS[e.op](*args)
    return [known[e] for e in expressions]


def written(e: Expression) -> str:
    """An expression in letters, cut where it is long."""
    parts: list[str] = []
    stack: list[Any] = [e]
    while stack and len(parts) < LONGEST:
        x = stack.pop()
        if isinstance(x, str):
            parts.append(x)
        elif not x.args:
            parts.append({"time": "t", "parameter": f"par[{x.value}]"}.get(x.op, str(x.value)))
        elif x.op in SIGNS:
            stack += [")", x.args[1], SIGNS[x.op], x.args[0], "("]
        else:
            stack += [")", *[each for a in x.args[::-1] for each in (a, ", ")][:-1], f"{x.op}("]
    return "".join(parts) + ("…" if stack else "")
