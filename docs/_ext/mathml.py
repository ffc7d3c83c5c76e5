"""Formulas become MathML when the site is built: browsers draw it without scripts, fonts or network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number

from pfaff.report.mathematics import mathml as converted


class UnknownCommandError(ValueError):
    """A formula uses a command of LaTeX that the converter does not know."""


def mathml(latex: str, display: bool) -> str:
    """One formula; commands and alignment marks that would be printed as they are raise an error instead."""
    formula = converted(latex, display)
    if left := re.search(r"<m[io]>(\\[A-Za-z]+|&|\\)</m[io]>", formula):
        raise UnknownCommandError(f"MathML has no {left[1]} of the formula {latex}")
    return formula


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), display=False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """A displayed formula with its number, which is a link to itself."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(mathml(node.astext(), display=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
