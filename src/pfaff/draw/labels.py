"""Names as mathematics: θ₁ for theta1, as LaTeX for figures and as letters for the player; and what shares an axis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sm
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from pfaff.threads import once

GREEK = ("alpha", "beta", "gamma", "delta", "theta", "phi", "psi", "chi")  # letters for angles
ANGULAR = ("rad", "°", "deg")  # units of angles
READABLE = 6  # curves on one axis at most
DOTS = {"ddot": "\u0308", "dot": "\u0307"}
PARTS = re.compile(r"^(?P<stem>[^\W\d_]+?)_?(?P<below>\d+|(?<=_)\w+)?$")


def _split(name: str) -> tuple[str, str, str]:
    """Stem, index and dots of a name: theta1_dot is theta, 1, dot."""
    dots = next((word for word in DOTS if name.endswith(f"_{word}")), "")
    bare = name.removesuffix(f"_{dots}") if dots else name
    found = PARTS.match(bare)
    return (found["stem"], found["below"] or "", dots) if found else (bare, "", dots)


@once(most=4096)
def formula(name: str) -> str:
    r"""A name for a figure: ``theta1_dot`` as ``$\dot{\theta}_{1}$``; what is no name stays as it is."""
    stem, below, dots = _split(name)
    if not stem.isidentifier():
        return name.replace("$", r"\$")
    letter = sm.latex(sm.Symbol(stem))
    if letter == stem and len(stem) > 1:
        letter = rf"\mathrm{{{stem}}}"
    letter = rf"\{dots}{{{letter}}}" if dots else letter
    below = ", ".join(_below(part) for part in below.split("_") if part)
    return f"${letter}_{{{below}}}$" if below else f"${letter}$"


def _below(part: str) -> str:
    letter = sm.latex(sm.Symbol(part)) if part.isidentifier() else part
    return rf"\mathrm{{{part}}}" if letter == part and len(part) > 1 and not part.isdigit() else letter


@once(most=4096)
def letters(name: str) -> str:
    """A name in plain letters: ``theta1_dot`` as θ̇₁."""
    stem, below, dots = _split(name)
    written = pretty_symbol(f"{stem}_{below}" if below and not below.isdigit() else f"{stem}{below}")
    if dots and len(pretty_symbol(stem)) > 1:
        return name  # a dot on the first letter of a word would be read as part of it
    return written[0] + DOTS[dots] + written[1:] if dots else written


def formulas(names: Iterable[str]) -> list[str]:
    return [formula(name) for name in names]


def groups(system: Any, names: Sequence[str]) -> dict[str, list[str]]:
    """Names of coordinates by the label of their axis: by stated units, else angles apart from others."""
    turning = _angles(system) if system is not None else frozenset()
    meanings = getattr(system, "meanings", {})
    sorted_out: dict[str, list[str]] = {}
    for name in names:
        unit = unit_of(meanings.get(name, ""))
        kind = "angle" if unit in ANGULAR or (not unit and name in turning) else "coordinate"
        sorted_out.setdefault(f"{kind} [{unit}]" if unit else kind, []).append(name)
    return dict(sorted(sorted_out.items()))


def unit_of(meaning: str) -> str:
    """The unit in brackets at the end of a meaning: m for "contact [m]"."""
    text, _, unit = meaning.rstrip().removesuffix("]").rpartition("[")
    return unit if text and meaning.rstrip().endswith("]") else ""


@once(most=1)
def _angles(system: Any) -> frozenset[str]:
    """Coordinates that appear as they are in a sine or cosine, stated or drawn.

    For one on which nothing depends, such as the integral of a ball's spin, only its name tells.
    """
    s = getattr(system, "statement", None)
    if s is None:
        return frozenset()
    drawn = [entry for _, entry in system.drawing.entries()] if system.drawing is not None else []
    stated = [
        s.kinetic,
        s.potential,
        s.dissipation,
        *s.forces,
        *s.constraints,
        *(e.xreplace(dict(s.to_plain)) for e in drawn),
    ]
    inside = {function.args[0] for each in stated for function in each.atoms(sm.sin, sm.cos, sm.tan)}
    appearing = set().union(*(each.free_symbols for each in stated))
    turning = {q.name for q in s.q if any(argument.diff(q).is_number and argument.has(q) for argument in inside)}
    return frozenset(turning | {q.name for q in s.q if q not in appearing and _split(q.name)[0] in GREEK})


def moving_most(rows: dict[str, np.ndarray], most: int = READABLE) -> list[str]:
    """The names of the curves with the largest ranges, in their order: no more than one can read."""
    sizes = {
        name: float(np.ptp(row[np.isfinite(row)])) if np.isfinite(row).any() else 0.0 for name, row in rows.items()
    }
    chosen = sorted(sizes, key=lambda name: -sizes[name])[:most]
    return [name for name in rows if name in chosen]


def readable(rows: dict[str, np.ndarray]) -> list[str]:
    """All states, if one can read them together; else the coordinates with the largest ranges."""
    coordinates = {name: row for name, row in rows.items() if not name.endswith("_dot")}
    return list(rows) if len(rows) <= READABLE else moving_most(coordinates)


def counted(what: str, shown: Sequence[str], every: Sequence[str]) -> str:
    """The label of an axis, with the total number if not all are shown."""
    return what if len(shown) == len(every) else f"{what} ({len(shown)} of {len(every)} states)"
