"""A document as one HTML file that needs nothing else: style, mathematics and pictures are inside."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from pfaff.report.document import Document, Entry, Image, Section, anchor
from pfaff.report.mathematics import in_words, mathml, symbol
from pfaff.report.stylesheet import CSS, SCRIPT

KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".gif": "image/gif"}


def page(document: Document) -> str:
    """The whole page."""
    counts = "".join(f"<li><b>{count}</b><span>{escape(name)}</span></li>" for name, count in document.counts.items())
    contents = "".join(
        f'<li><a href="#{anchor(s.title)}">{escape(s.title)}</a>{_figures(s)}</li>' for s in document.sections
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            f'<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{escape(document.title)}</title><link rel="icon" href="data:,"><style>{CSS}</style></head>',
            '<body data-show="all">',
            f'<nav aria-label="Contents"><h2>Contents</h2>{_filter(document)}<ol>{contents}</ol></nav>',
            f'<div class="page"><header><h1>{escape(document.title)}</h1><p>{in_words(document.about)}</p>',
            f'<ul class="counts">{counts}</ul></header>',
            "<main>",
            *(_section(section) for section in document.sections),
            "</main>",
            f"<footer><p>{escape(document.footer)}</p></footer></div>",
            f"<script>{SCRIPT}</script>",
            "</body></html>",
        ]
    )  # fmt: skip


def _filter(document: Document) -> str:
    """Everything, what differs, what is reproduced, or pictures alone."""
    verdicts = {entry.verdict for section in document.sections for entry in section.entries}
    words = {"all": "everything", "differs": "what differs", "reproduced": "what is reproduced", "figures": "figures"}
    shown = {key: text for key, text in words.items() if key in ("all", "figures") or key in verdicts}
    options = "".join(f'<option value="{key}">{text}</option>' for key, text in shown.items())
    return f'<label class="filter">Show <select>{options}</select></label>'


def _figures(section: Section) -> str:
    links = ", ".join(f'<a href="#{anchor(image.title)}">{escape(image.title)}</a>' for image in section.images)
    return f'<br><span class="where">{links}</span>' if links else ""


def _section(section: Section) -> str:
    text = f"<p>{in_words(section.text)}</p>" if section.text else ""
    entries = "".join(_entry(entry) for entry in section.entries)
    images = "".join(_image(image) for image in section.images)
    return f'<section id="{anchor(section.title)}"><h2>{in_words(section.title)}</h2>{text}{images}{entries}</section>'


def _entry(entry: Entry, inside: bool = False) -> str:
    colour = "good" if entry.good else "bad"
    badge = f'<span class="badge {colour}">{escape(entry.verdict)}</span>' if entry.verdict else ""
    where = f'<div class="where">{escape(entry.where)}</div>' if entry.where else ""
    facts = [_row(in_words(name), value) for name, value in entry.facts.items()]
    facts += [_row(symbol(name), value) for name, value in entry.symbols.items()]
    formulas = [
        f'<div class="named"><span>{escape(name)}</span>{_formula(each)}</div>' for name, each in entry.formulas.items()
    ]
    here = "" if inside else f' <a class="here" href="#{entry.anchor}" aria-label="link to this entry">#</a>'
    see = ", ".join(f'<a href="#{place}">{in_words(text)}</a>' for text, place in entry.see.items())
    pieces = [
        f'<div class="head"><div>{where}<h3>{in_words(entry.title)}{here}</h3></div>{badge}</div>',
        _formula(entry.formula) if entry.formula else "",
        f'<p class="remark">{in_words(entry.remark)}</p>' if entry.remark else "",
        *formulas,
        f"<table>{''.join(facts)}</table>" if facts else "",
        f'<p class="see">See {see}.</p>' if see else "",
        f"<details><summary>code</summary><pre><code>{escape(entry.code)}</code></pre></details>" if entry.code else "",
        f'<div class="parts">{"".join(_entry(part, inside=True) for part in entry.parts)}</div>' if entry.parts else "",
    ]
    place = f' id="{entry.anchor}"' if entry.first else ""
    named = "" if inside else f'{place} data-verdict="{escape(entry.verdict)}"'
    return f"<article{named}>{''.join(pieces)}</article>"


def _row(name: str, text: str) -> str:
    return f"<tr><th>{name}</th><td>{in_words(text)}</td></tr>"


def _formula(latex: str) -> str:
    """A formula that scrolls by itself where it is wider than the page."""
    return f'<div class="formula">{mathml(latex)}</div>'


def _image(image: Image) -> str:
    others = ", ".join(f'<a href="{escape(path.name)}">{escape(path.suffix[1:].upper())}</a>' for path in image.others)
    beside = f" ({others})" if others else ""
    title, caption = escape(image.title), escape(image.caption)
    if image.path.suffix == ".html":
        film = escape(image.path.read_text(encoding="utf-8"), quote=True)
        picture = f'<iframe title="{title}: {caption}" loading="lazy" srcdoc="{film}"></iframe>'
    else:
        picture = f'<img src="{_embedded(image.path)}" alt="{title}: {caption}">'
        picture = f'<a href="{escape(image.path.name)}">{picture}</a>'  # large, on a small screen
    words = f"<figcaption><b>{title}.</b> {in_words(image.caption)}{beside}</figcaption>"
    return f'<figure id="{anchor(image.title)}">{picture}{words}</figure>'


def _embedded(path: Path) -> str:
    return f"data:{KINDS[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
