"""Expressions as a graph: numbers, variables, parameters, time, and about thirty operations on them.

Equal expressions are one object, which lives as long as somebody holds it, so that ``==`` and ``hash`` cost nothing and
shared terms are seen. What is built is simplified at once, by rules that lose no digits: zeros, ones and signs vanish,
numbers and then parameters stand before what moves. Only what IEEE arithmetic rounds correctly is folded into numbers.
The order of factors and terms depends on what they are, never on what was built before. Nothing recurs, so that depth
is no limit.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from hashlib import blake2b
from heapq import heappop, heappush
from struct import pack
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

import sympy as sm

from pfaff.errors import StatementError

ARITHMETIC = ("add", "sub", "mul", "div", "neg", "square")
FUNCTIONS = (
    *("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "log", "erf", "erfc"),
)
OPERATIONS = {name: k for k, name in enumerate((*ARITHMETIC, *FUNCTIONS, "pow", "atan2"))}
SIGNS = {"add": " + ", "sub": " - ", "mul": "*", "div": "/", "pow": "**"}
ODD = frozenset(("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"))
EVEN = frozenset(("cos", "cosh"))
EXACT = {  # values of functions that are numbers of ours
    **{(name, 0.0): 0.0 for name in ODD},
    **{(name, 0.0): 1.0 for name in ("cos", "cosh", "exp", "erfc")},
    **{(name, 1.0): 0.0 for name in ("log", "acos", "acosh")},
}
LONGEST = 1000  # characters of an expression in a message
KNOWN: WeakValueDictionary[tuple, Expression] = WeakValueDictionary()
BUILDING = RLock()


class Expression:
    """A node: an operation on arguments, or a leaf with a value. It never changes.

    ``moving`` is whether it depends on variables or time; ``rank`` orders factors and terms.
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
        return pow(self, expression(other))

    def __rpow__(self, other: Any) -> Expression:
        return pow(expression(other), self)

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
    return KNOWN.get((op, value)) or _new((op, value), op, (), value)


def _node(op: str, a: Expression, b: Expression | None = None) -> Expression:
    """The operation as it stands."""
    key = (op, a, b)
    return KNOWN.get(key) or _new(key, op, (a,) if b is None else (a, b), None)


def _sorted(op: str, a: Expression, b: Expression) -> Expression:
    return _node(op, a, b) if a.rank <= b.rank else _node(op, b, a)


def _new(key: tuple, op: str, args: tuple[Expression, ...], value: Any) -> Expression:
    with BUILDING:
        found = KNOWN.get(key)
        if found is not None:
            return found
        new = object.__new__(Expression)
        new.op, new.args, new.value = op, args, value
        if args:
            new.moving = any(a.moving for a in args)
            new.rank = hash((OPERATIONS[op], *(a.rank for a in args)))  # of integers: the same in every process
        else:
            new.moving = op in ("variable", "time")
            letters = pack("<d", value) if op == "number" else str(value).encode()
            new.rank = int.from_bytes(blake2b(op.encode() + b" " + letters, digest_size=7).digest(), "big")
        KNOWN[key] = new
        return new


def _restored(rows: list[tuple]) -> Expression:
    nodes: list[Expression] = []
    for op, value, *args in rows:
        nodes.append(BUILDERS[op](*(nodes[k] for k in args)) if args else _leaf(op, value))
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
                if together.op != "number" or (math.isfinite(together.value) and together is not ZERO):
                    return mul(together, z)
    return _node("mul", a, b) if _before(a, b) else _node("mul", b, a) if _before(b, a) else _sorted("mul", a, b)


def _before(a: Expression, b: Expression) -> bool:
    """Whether a stands before b in products: numbers, parameters, what moves."""
    return (a.op == "number" and b.op != "number") or (b.moving and not a.moving)


def div(a: Expression, b: Expression) -> Expression:
    if b.op == "number" and b is not ZERO:
        if a.op == "number":
            return expression(a.value / b.value)
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


def pow(a: Expression, b: Expression) -> Expression:
    """A power; by products where the exponent is a whole number or a half."""
    if b.op != "number" or not (2 * b.value).is_integer():
        return ONE if a is ONE else _node("pow", a, b)
    if b.value < 0:
        return div(ONE, pow(a, expression(-b.value)))
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
        if (name, a.value) in EXACT:
            return expression(EXACT[name, a.value])
        if name == "sqrt" and a.value >= 0:
            return expression(math.sqrt(a.value))
    if a.op == "neg" and name in ODD:
        return neg(_function(name, a.args[0]))
    return _function(name, a.args[0]) if a.op == "neg" and name in EVEN else _node(name, a)


def atan2(y: Any, x: Any) -> Expression:
    """The angle of the direction (x, y)."""
    return _node("atan2", expression(y), expression(x))


def sum(terms: Iterable[Any]) -> Expression:
    """The sum of terms in pairs: rounding errors grow with the logarithm of their number."""
    level = [e for e in map(expression, terms) if e is not ZERO]
    while len(level) > 1:
        pairs = [add(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, level[-1]] if len(level) % 2 else pairs
    return level[0] if level else ZERO


time = _leaf("time", None)
par = _Parameters()
ZERO, ONE, TWO = (expression(x) for x in (0.0, 1.0, 2.0))
sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, erf, erfc = (
    partial(_function, name) for name in FUNCTIONS
)
BUILDERS: dict[str, Callable[..., Expression]] = {
    **{"add": add, "sub": sub, "mul": mul, "div": div, "neg": neg, "square": lambda a: mul(a, a)},
    **{"pow": pow, "atan2": atan2, **{name: partial(_function, name) for name in FUNCTIONS}},
}
SLOPES: dict[str, Callable[[Expression, Expression], Expression]] = {  # of a function f of a, in forms that keep digits
    "square": lambda a, f: 2 * a,
    "sqrt": lambda a, f: 0.5 / f,
    "sin": lambda a, f: cos(a),
    "cos": lambda a, f: -sin(a),
    "tan": lambda a, f: 1 + f * f,
    "asin": lambda a, f: 1 / sqrt((1 - a) * (1 + a)),
    "acos": lambda a, f: -1 / sqrt((1 - a) * (1 + a)),
    "atan": lambda a, f: 1 / (1 + a * a),
    "sinh": lambda a, f: cosh(a),
    "cosh": lambda a, f: sinh(a),
    "tanh": lambda a, f: pow(1 / cosh(a), TWO),
    "asinh": lambda a, f: 1 / sqrt(1 + a * a),
    "acosh": lambda a, f: 1 / (sqrt(a - 1) * sqrt(a + 1)),
    "atanh": lambda a, f: 1 / ((1 - a) * (1 + a)),
    "exp": lambda a, f: f,
    "log": lambda a, f: 1 / a,
    "erf": lambda a, f: 2 / math.sqrt(math.pi) * exp(-(a * a)),
    "erfc": lambda a, f: -2 / math.sqrt(math.pi) * exp(-(a * a)),
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


def subs(expressions: Sequence[Expression], by: Mapping[Expression, Any]) -> list[Expression]:
    """The expressions with some of what occurs in them replaced, all at once."""
    known = {e: expression(x) for e, x in by.items()}
    for e in ordered(expressions, known):
        if e not in known:
            args = [known[a] for a in e.args]
            known[e] = e if all(map(operator.is_, args, e.args)) else BUILDERS[e.op](*args)
    return [known[e] for e in expressions]


def jacobian(functions: Sequence[Expression], by: Sequence[Expression]) -> list[list[Expression]]:
    """∂f/∂x for each function f, a row, and leaf x: from the leaves up where they are fewer, else down from each f."""
    nodes = ordered(functions)
    if len(by) < len(functions):
        columns = [_upwards(nodes, x) for x in by]
        return [[column.get(f, ZERO) for column in columns] for f in functions]
    place, leaves = {e: k for k, e in enumerate(nodes)}, set(by)
    for e in nodes:
        if not leaves.isdisjoint(e.args):
            leaves.add(e)  # here: all that depends on leaves
    return [_downwards(f, nodes, place, leaves, by) for f in functions]


def _upwards(nodes: list[Expression], x: Expression) -> dict[Expression, Expression]:
    """The derivatives of all nodes that depend on x."""
    rates = {x: ONE}
    for e in nodes:
        terms = [_times_slope(rates[a], e, k) for k, a in enumerate(e.args) if a in rates]
        if terms:
            rates[e] = sum(terms)
    return rates


def _downwards(
    f: Expression,
    nodes: list[Expression],
    place: dict[Expression, int],
    depend: set[Expression],
    by: Sequence[Expression],
) -> list[Expression]:
    """The derivatives of f, from f down to the leaves: what depends on none is left out."""
    found: dict[Expression, Expression] = {}
    terms, heap = {f: [ONE]}, [-place[f]] if f in depend else []
    while heap:
        e = nodes[-heappop(heap)]
        rate = found[e] = sum(terms.pop(e))
        for k, a in enumerate(e.args):
            if a in depend:
                if a not in terms:
                    terms[a] = []
                    heappush(heap, -place[a])
                terms[a].append(_times_slope(rate, e, k))
    return [found.get(x, ZERO) for x in by]


def _times_slope(rate: Expression, e: Expression, k: int) -> Expression:
    """The rate times the derivative of a node by its argument k."""
    a, b = e.args[0], e.args[-1]
    match e.op:
        case "add":
            return rate
        case "sub":
            return neg(rate) if k else rate
        case "neg":
            return neg(rate)
        case "mul":
            return mul(rate, e.args[1 - k])
        case "div":
            return neg(mul(div(rate, b), e)) if k else div(rate, b)
        case "pow":
            return mul(rate, e * log(a) if k else b * pow(a, b - 1))
        case "atan2":
            return mul(rate, (-a if k else b) / (a * a + b * b))
        case _:
            return mul(rate, SLOPES[e.op](a, e))


def derivatives(
    functions: Sequence[Expression], by: Sequence[Expression], order: int
) -> Iterator[tuple[tuple[int, ...], Expression]]:
    """The independent derivatives of an order: indices (i, j1 ≤ … ≤ jk) of function and leaves, and the expression."""
    tensor: dict[tuple[int, ...], Expression] = {(i,): f for i, f in enumerate(functions)}
    for _ in range(order):
        rows = jacobian(list(tensor.values()), by)
        tensor = {
            (*index, j): row[j]
            for index, row in zip(tensor, rows, strict=True)
            for j in range(index[-1] if len(index) > 1 else 0, len(by))
        }
    return iter(tensor.items())


def from_sympy(expression_: sm.Expr, known: Mapping[sm.Basic, Expression]) -> Expression:
    """A SymPy expression, with the meanings of its symbols."""
    found, stack = dict(known), [expression_]
    while stack:
        e = stack[-1]
        terms = [] if e in found or e.is_number else _operands(e)
        todo = [each for each in terms if each not in found]
        stack.extend(todo[::-1])
        if not todo:
            stack.pop()
            if e not in found:
                found[e] = _number(e) if e.is_number else _converted(e, [found[each] for each in terms])
    return found[expression_]


def _operands(e: sm.Expr) -> list[sm.Expr]:
    """What is converted first; of a product the divisor last, 1 if there is none."""
    if not e.is_Mul:
        return list(e.args)
    below = [a for a in e.args if a.is_Pow and a.exp.is_number and a.exp.could_extract_minus_sign()]
    return [*(a for a in e.args if a not in below), sm.Mul(*(a.base**-a.exp for a in below))]


def _number(e: sm.Expr) -> Expression:
    try:
        value = float(e)
    except (TypeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise StatementError(f"{e} is no finite real number")
    return expression(value)


def _converted(e: sm.Expr, terms: list[Expression]) -> Expression:
    if e.is_Add:
        return sum(terms)
    if e.is_Mul:
        return div(reduce(mul, terms[:-1], ONE), terms[-1])
    if e.is_Pow:
        return pow(*terms)
    name = e.func.__name__
    if e.is_Symbol or name not in BUILDERS or name in ARITHMETIC:
        raise StatementError(
            f"{e} cannot be evaluated: write it by sums, products, powers and {', '.join(FUNCTIONS)}, atan2"
        )
    return BUILDERS[name](*terms)


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
