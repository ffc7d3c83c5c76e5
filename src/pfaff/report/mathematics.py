"""Mathematics for browsers: LaTeX to MathML, which they typeset by themselves."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from pfaff.errors import ParameterError

ONE_ARGUMENT = "mathbb|mathbf|mathcal|mathsf|mathrm|boldsymbol|tilde|hat|bar|dot|ddot"
INDEXED = re.compile(r"(?<![\w&#./-])([A-Za-zα-ωΑ-Ω]|ℓ)(?:_(\w+(?:,\d)?)|(\d))(?![\w(])")
UNBRACED = re.compile(rf"\\({ONE_ARGUMENT})(?:\s+([A-Za-z])|\s*(\\[A-Za-z]+))(?![A-Za-z])")


@lru_cache(maxsize=512)
def mathml(latex: str, display: bool = True) -> str:
    """The formula as a <math> element."""
    from latex2mathml.converter import convert

    try:
        return convert(_braced(latex), display="block" if display else "inline")
    except Exception as problem:
        raise ParameterError(f"cannot typeset {latex}: {type(problem).__name__} {problem}") from problem


def in_words(text: str) -> str:
    """Text for a page, with its small formulas set as such: c_i, θ1, F_cr and λ_3,4 with their indices below."""
    return INDEXED.sub(lambda m: f"<i>{m[1]}</i><sub>{m[2] or m[3]}</sub>", escape(text))


def _braced(latex: str) -> str:
    """What TeX understands but the converter does not: arguments without braces (\\mathbb K), and aligned."""
    latex = latex.replace(r"\begin{aligned}", r"\begin{array}{rl}").replace(r"\end{aligned}", r"\end{array}")
    return UNBRACED.sub(lambda found: rf"\{found[1]}{{{found[2] or found[3]}}}", latex)
