"""Printed against computed: one item for each number, identity or claim of a paper, and the errata with evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pfaff.errors import number_of
from pfaff.statement.told import told

LEGIBLE = 1e-3  # smaller numbers are written with a power of ten
BOUND = 0.1  # what may be as large is a bound, and no accuracy
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
REPRODUCED, DIFFERS, FAILED = "reproduced", "differs", "failed"


@dataclass(frozen=True)
class Claim:
    """Something a paper prints, and the function that computes it.

    ``printed`` is the number as printed, with its digits, or None for a statement in words or formulas; then
    ``compute`` returns the largest deviation found and ``within`` says how small it must be; or, for a difference that
    must be seen, ``beyond`` how large. ``formula`` is LaTeX. What ``shares`` a long computation under one name is computed in one process.
    """

    where: str
    what: str
    compute: Callable[[], Any]
    printed: str | None = None
    within: float = 0.0
    beyond: float | None = None
    method: str = ""
    formula: str = ""
    shares: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure, or with ``moving`` a film: ``draw`` returns a figure of Matplotlib, or takes a path to write to."""

    name: str
    caption: str
    draw: Callable[..., Any]
    moving: bool = False
    shares: str = ""

    @property
    def title(self) -> str:
        """Figure 7 is one of the paper's, other names say what is seen."""
        kind, _, name = self.name.partition("_")
        if not name[:1].isdigit():
            return f"{kind.capitalize()}: {name.replace('_', ' ')}"
        return f"{'Film of Figure' if self.moving else 'Figure'} {name.replace('_', ', ')}"


@dataclass(frozen=True)
class Section:
    """Some claims and pictures under one title."""

    title: str
    claims: Sequence[Claim]
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Erratum:
    """What is printed, what should be, why; and claims that show it, each of which must hold."""

    where: str
    printed: str
    corrected: str
    why: str
    evidence: Sequence[Claim]


@dataclass(frozen=True)
class Paper:
    """A reproduction to be computed; ``systems`` makes those whose symbols the report explains."""

    key: str
    title: str
    sections: Sequence[Section]
    errata: Sequence[Erratum] = ()
    about: str = ""
    systems: Sequence[Callable[[], Any]] = ()

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in section.claims]

    @property
    def pictures(self) -> list[Picture]:
        return [picture for section in self.sections for picture in section.pictures]

    @property
    def evidence(self) -> list[Claim]:
        return [claim for erratum in self.errata for claim in erratum.evidence]


def _beside(bound: float, value: float, digits: int) -> str:
    """A number in a few digits, or as many more as it takes to stand on its own side of a bound."""
    texts = [f"{value:.{few}g}" for few in range(digits, 18)]
    return next((text for text in texts if (float(text) - bound) * (value - bound) > 0), texts[0])


@dataclass(frozen=True)
class Item:
    """A claim with its computed value and verdict; ``kept`` says that the value is from an earlier run."""

    claim: Claim
    computed: float | None
    seconds: float = 0.0
    kept: bool = False
    error: str = ""

    @property
    def verdict(self) -> str:
        return FAILED if self.computed is None else verdict(self.claim, self.computed)

    @property
    def where(self) -> str:
        return self.claim.where

    @property
    def what(self) -> str:
        return self.claim.what

    @property
    def printed_text(self) -> str:
        return self.claim.printed if self.claim.printed is not None else "holds"

    @property
    def computed_text(self) -> str:
        if self.computed is None:
            return self.error
        if self.claim.printed is not None:
            return f"{self.computed:.12g}"
        holds = self.verdict == REPRODUCED
        if self.claim.beyond is not None:
            least = rounded(self.claim.beyond) if self.claim.beyond < LEGIBLE else f"{self.claim.beyond:g}"
            return f"{_beside(self.claim.beyond, self.computed, 3)}, {f'at least {least}' if holds else f'less than {least}'}"
        if self.claim.within == 0:
            return "holds exactly" if self.computed == 0 else number_of(int(self.computed), "exception")
        if not holds:
            return f"is off by {self.computed:.2g}, where {self.claim.within:g} is allowed"
        if self.claim.within >= BOUND:
            return f"{_beside(self.claim.within, self.computed, 2)}, at most {self.claim.within:g}"
        return f"holds to {rounded(self.computed)}" if self.computed else "holds to the last digit"

    def as_dict(self) -> dict[str, Any]:
        return {
            "where": self.where,
            "what": self.what,
            "formula": self.claim.formula,
            "printed": self.claim.printed,
            "computed": self.computed,
            "within": None if self.claim.printed is not None or self.claim.beyond is not None else self.claim.within,
            "beyond": self.claim.beyond,
            "verdict": self.verdict,
            "method": self.claim.method,
            "seconds": round(self.seconds, 3),
            "kept": self.kept,
            "error": self.error,
        }


@told
@dataclass(frozen=True, repr=False)
class Reproduction:
    """All items of a paper, the evidence for its errata, and the files written."""

    paper: Paper
    items: tuple[Item, ...]
    evidence: tuple[Item, ...] = ()
    files: tuple[Path, ...] = ()
    complete: bool = True
    missing: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.paper.key

    @property
    def title(self) -> str:
        return self.paper.title

    @property
    def differing(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.verdict == DIFFERS)

    @property
    def failed(self) -> tuple[Item, ...]:
        return tuple(item for item in (*self.items, *self.evidence) if item.verdict == FAILED)

    @property
    def kept(self) -> int:
        """How many values are from an earlier run with the same sources."""
        return sum(item.kept for item in (*self.items, *self.evidence))

    @property
    def status(self) -> str:
        reproduced = sum(item.verdict == REPRODUCED for item in self.items)
        text = f"{reproduced} of {len(self.items)} reproduced, {len(self.differing)} differ"
        if self.failed:
            text += f", {len(self.failed)} failed"
        if self.missing:
            text += f"; pictures that failed: {', '.join(self.missing)}"
        if self.kept:
            text += f"; {self.kept} values kept from an earlier run of the same sources"
        return text if self.complete else f"interrupted: {text} so far"

    def as_dict(self) -> dict[str, Any]:
        return {
            "paper": self.key,
            "title": self.title,
            "complete": self.complete,
            "reproduced": sum(item.verdict == REPRODUCED for item in self.items),
            "differs": len(self.differing),
            "failed": len(self.failed),
            "kept": self.kept,
            "items": [item.as_dict() for item in self.items],
            "errata": [{"where": each.where, "why": each.why} for each in self.paper.errata],
            "evidence": [item.as_dict() for item in self.evidence],
            "files": [path.name for path in self.files],
        }


def rounded(size: float) -> str:
    """A small number by its first digit, as one writes it by hand: 0.02, 3·10⁻¹⁶."""
    if size >= LEGIBLE:
        return f"{size:.1g}"
    digit, power = f"{size:.0e}".split("e")
    return f"{digit}·10{str(int(power)).translate(RAISED)}"


def verdict(claim: Claim, computed: float) -> str:
    """A printed number is reproduced if the computed one rounds to it, a statement if it holds within bounds."""
    if claim.beyond is not None:
        return REPRODUCED if computed >= claim.beyond else DIFFERS
    if claim.printed is None:
        return REPRODUCED if 0 <= computed <= claim.within else DIFFERS
    unit = Decimal(1).scaleb(int(Decimal(claim.printed).as_tuple().exponent))
    return REPRODUCED if abs(Decimal(computed) - Decimal(claim.printed)) <= unit * Decimal("0.501") else DIFFERS
