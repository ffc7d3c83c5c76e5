"""Equations as a lecture writes them: titled steps in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.printing.conventions import split_super_sub
from sympy.printing.latex import translate
from sympy.simplify.fu import TR5, TR8

Step = tuple[str, str]
LONG = 3000  # nodes beyond which expanding takes seconds and helps nobody
NAME = re.compile(r"[A-Za-z]\w*")
MATRICES = re.compile(r"(?<![\\A-Za-z])([ABMbhpqu])(?![A-Za-z])")
ANGLES = 4  # factors beyond which collecting angles does
MULTIPLE = 12  # largest multiple of an angle beside others that is worth expanding


def short(expression: sm.Expr) -> sm.Expr:
    """Products of sines and cosines as those of sums of angles: what a chain of bars asks for, and quick."""
    return sm.expand(TR8(sm.expand(expression)))


def shorter(expression: sm.Expr) -> sm.Expr:
    """As it stands, expanded, with sin² + cos² = 1, or with angles collected: whichever has fewest operations."""
    if longer_than(LONG, expression):
        return expression
    expanded = sm.expand(expression)
    if longer_than(LONG, expanded) or max(map(_angles, sm.Add.make_args(expanded))) > ANGLES:
        return expression
    return min((expression, expanded, sm.expand(TR5(expanded)), short(expanded)), key=sm.count_ops)


def simplified(expression: sm.Expr) -> sm.Expr:
    """SymPy's simplest form; angles are measured in multiples that occur, since it expands sin(n x) n times."""
    angles = [e.args[0] for e in expression.atoms(sm.sin, sm.cos, sm.tan)]
    multiples: dict[sm.Basic, list[sm.Rational]] = {}
    for term in {term for angle in angles for term in sm.Add.make_args(angle)}:
        number, rest = term.as_coeff_Mul()
        if number.is_Rational and rest.is_Symbol:
            multiples.setdefault(rest, []).append(number)
    units = {x: _common(numbers) for x, numbers in multiples.items()}
    if any(abs(number / units[x]) > MULTIPLE for x, numbers in multiples.items() for number in numbers):
        return expression
    inner = {x: sm.Dummy(x.name, **x.assumptions0) for x, unit in units.items() if unit != 1}
    measured = expression.xreplace({x: each / units[x] for x, each in inner.items()})
    return sm.simplify(measured).xreplace({each: units[x] * x for x, each in inner.items()})


def _common(numbers: list[sm.Rational]) -> sm.Rational:
    """The largest number of which all are multiples."""
    return sm.Rational(sm.igcd(*(n.p for n in numbers), 0), sm.ilcm(*(n.q for n in numbers), 1))


def longer_than(nodes: int, expression: sm.Expr) -> bool:
    """Whether a tree has more nodes; counted no further, since a tree may be far larger than its memory."""
    return sum(1 for _ in islice(sm.preorder_traversal(expression), nodes + 1)) > nodes


def _angles(term: sm.Expr) -> int:
    """How many sines and cosines are multiplied in a term; their product has two to that power terms in sums."""
    powers = term.as_powers_dict().items()
    return sum(int(abs(k)) if k.is_Integer else 1 for e, k in powers if isinstance(e, sm.sin | sm.cos))


def typeset(expression: sm.Basic) -> str:
    """LaTeX with dots for time derivatives; names of several letters stand upright, since italics are a product."""
    from sympy.physics.vector import vlatex

    upright: dict[sm.Basic, sm.Basic] = {}
    for each in expression.atoms(sm.Symbol, AppliedUndef):
        name = _upright(each.name if isinstance(each, sm.Symbol) else each.func.__name__)
        if name:
            assumed = each.assumptions0 if isinstance(each, sm.Symbol) else {}
            upright[each] = sm.Symbol(name, **assumed) if isinstance(each, sm.Symbol) else sm.Function(name)(*each.args)
    return vlatex(expression.xreplace(upright))


def _upright(name: str) -> str:
    """The name in LaTeX if its stem has several letters and is no Greek one, else nothing."""
    if not NAME.fullmatch(name):
        return ""
    stem, above, below = split_super_sub(name)
    if len(stem) < 2 or translate(stem) != stem:
        return ""
    indices = [f"{sign}{{{' '.join(map(translate, given))}}}" for sign, given in (("_", below), ("^", above)) if given]
    return rf"\mathrm{{{stem}}}" + "".join(indices)


def bold(formula: str) -> str:
    """A formula of matrices and vectors with these in bold: none is then taken for a coordinate or a parameter."""
    return MATRICES.sub(r"\\mathbf{\1}", formula)


def variation_of(symbol: sm.Basic) -> sm.Symbol:
    """δq as a symbol that prints so."""
    return sm.Symbol(rf"\delta {{{typeset(symbol)}}}")


def sum_of(terms: Iterable[tuple[sm.Expr, sm.Symbol]]) -> str:
    """Σ coefficient · symbol with every coefficient in brackets."""
    kept = [(shorter(coefficient), symbol) for coefficient, symbol in terms]
    rows = [rf"\left({typeset(c)}\right) {typeset(symbol)}" for c, symbol in kept if c != 0]
    return " + ".join(rows) or "0"


def lines(pairs: Iterable[tuple[str, sm.Expr | str]]) -> str:
    """left &= right, line by line; nothing on the right of a blank."""
    rows = [f"{left} &= {right if isinstance(right, str) else typeset(shorter(right))}" for left, right in pairs]
    return " \\\\\n".join(rows)


def vanishing(expressions: Iterable[sm.Expr]) -> str:
    """Left-hand sides, each equal to zero."""
    return lines((typeset(shorter(e)), "0") for e in expressions)


def document(steps: Sequence[Step]) -> str:
    """All steps, one after the other, each under its title."""
    return "\n\n".join(f"\\paragraph{{{title}}}\n\\begin{{align*}}\n{body}\n\\end{{align*}}" for title, body in steps)
