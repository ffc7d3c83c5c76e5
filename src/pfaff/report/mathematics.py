"""Mathematics for browsers: LaTeX to MathML, which they typeset by themselves."""

from __future__ import annotations

import re
from functools import lru_cache

from pfaff.errors import ParameterError

ONE_ARGUMENT = "mathbb|mathbf|mathcal|mathsf|mathrm|boldsymbol|tilde|hat|bar|dot|ddot"
UNBRACED = re.compile(rf"\\({ONE_ARGUMENT})(?:\s+([A-Za-z])|\s*(\\[A-Za-z]+))(?![A-Za-z])")


@lru_cache(maxsize=512)
def mathml(latex: str, display: bool = True) -> str:
    """The formula as a <math> element."""
    from latex2mathml.converter import convert

    try:
        return convert(_braced(latex), display="block" if display else "inline")
    except Exception as problem:
        raise ParameterError(f"cannot typeset {latex}: {type(problem).__name__} {problem}") from problem


def _braced(latex: str) -> str:
    """What TeX understands but the converter does not: arguments without braces (\\mathbb K), and aligned."""
    latex = latex.replace(r"\begin{aligned}", r"\begin{array}{rl}").replace(r"\end{aligned}", r"\end{array}")
    return UNBRACED.sub(lambda found: rf"\{found[1]}{{{found[2] or found[3]}}}", latex)
