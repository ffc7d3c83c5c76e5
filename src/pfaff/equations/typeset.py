"""Equations as a lecture writes them: titled steps in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sm
from sympy.simplify.fu import TR8

Step = tuple[str, str]


def short(expression: sm.Expr) -> sm.Expr:
    """Products of sines and cosines as those of sums of angles: what a chain of bars asks for, and quick."""
    return sm.expand(TR8(sm.expand(expression)))


def shorter(expression: sm.Expr) -> sm.Expr:
    """As it stands or expanded with angles collected, whichever has fewer operations."""
    return min((expression, short(expression)), key=sm.count_ops)


def typeset(expression: sm.Basic) -> str:
    """LaTeX with dots for time derivatives."""
    from sympy.physics.vector import vlatex

    return vlatex(expression)


def variation_of(symbol: sm.Basic) -> sm.Symbol:
    """δq as a symbol that prints so."""
    return sm.Symbol(rf"\delta {{{typeset(symbol)}}}")


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
