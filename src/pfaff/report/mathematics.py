"""Mathematics for browsers: LaTeX to MathML, which they typeset by themselves."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from pfaff.errors import ParameterError

ONE_ARGUMENT = "mathbb|mathbf|mathcal|mathsf|mathrm|boldsymbol|tilde|hat|bar|dot|ddot"
LETTER = "[A-Za-zα-ωΑ-Ω]|ℓ"
INDEXED = re.compile(
    rf"(?<![\w&#./-])((?:{LETTER})[\u0300-\u036f]*)(?:_(\w+(?:,\d)?)(?!\w)|(?:(\d)|([₀-₉ₐ-ₜᵢᵣᵤᵥⱼ]+))(?![\w(]))"
)
SYMBOL = re.compile(rf"((?:{LETTER})+[\u0300-\u036f]*)(.*)", re.DOTALL)
BELOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₐₑₒₓₕₖₗₘₙₚₛₜᵢᵣᵤᵥⱼ", "0123456789aeoxhklmnpstiruvj")
FUNCTION = "<mi>(?:sin|cos|tan|cot|arcsin|arccos|arctan|sinh|cosh|tanh|ln|log|exp)</mi>"
NAMED = rf"(?:<msup>{FUNCTION}<m[ni]>[^<]*</m[ni]></msup>|(?<!<msup>)(?<!<msub>){FUNCTION})"
AFTER = re.compile(rf"({NAMED})(?=<(?!/|mo[ >]|mrow><mo[ >]))")
BEFORE = re.compile(rf"(</m(?:i|n|sub|sup|subsup|over|frac|sqrt)>|&#x00029;</mo>)(?={NAMED})")
THIN = r'\1<mspace width="0.17em"/>'
AS_TEX = {  # which gives these no room of their own
    "<mo>&#x02202;</mo>": "<mi>&#x02202;</mi>",
    "<mo>&#x0002F;</mo>": '<mo lspace="0" rspace="0">/</mo>',
}
UNBRACED = re.compile(rf"\\({ONE_ARGUMENT})(?:\s+([A-Za-z])|\s*(\\[A-Za-z]+))(?![A-Za-z])")


@lru_cache(maxsize=512)
def mathml(latex: str, display: bool = True) -> str:
    """The formula as a <math> element."""
    from latex2mathml.converter import convert

    try:
        formula = convert(_braced(latex), display="block" if display else "inline")
    except Exception as problem:
        raise ParameterError(f"cannot typeset {latex}: {type(problem).__name__} {problem}") from problem
    for given, wanted in AS_TEX.items():
        formula = formula.replace(given, wanted)
    return BEFORE.sub(THIN, AFTER.sub(THIN, formula))  # 2 sin θ, as TeX sets it


def in_words(text: str) -> str:
    """Text for a page, with its small formulas set as such: c_i, θ1, F_cr and λ_3,4 with their indices below."""
    return INDEXED.sub(lambda m: _indexed(m[1], m[2] or m[3] or m[4]), escape(text))


def symbol(text: str) -> str:
    """A name that stands alone, as mathematics: its letter slanted, its index below."""
    found = SYMBOL.fullmatch(text)
    return _indexed(found[1], found[2].removeprefix("_")) if found else escape(text)


def _indexed(letter: str, below: str) -> str:
    return f"<i>{letter}</i>" + (f"<sub>{escape(below.translate(BELOW))}</sub>" if below else "")


def _braced(latex: str) -> str:
    """What TeX understands but the converter does not: arguments without braces (\\mathbb K), and aligned."""
    latex = latex.replace(r"\begin{aligned}", r"\begin{array}{rl}").replace(r"\end{aligned}", r"\end{array}")
    return UNBRACED.sub(lambda found: rf"\{found[1]}{{{found[2] or found[3]}}}", latex)
