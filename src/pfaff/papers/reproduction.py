"""Printed against computed: one item for each number, identity or claim of a paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from pfaff.errors import ParameterError

REPRODUCED, DIFFERS = "reproduced", "differs"


@dataclass(frozen=True)
class Claim:
    """Something a paper prints, and the function that computes it.

    ``printed`` is the number as printed, with its digits, or None for a statement in words or formulas; then
    ``compute`` returns the largest deviation found and ``within`` says how small it must be.
    """

    where: str
    what: str
    compute: Callable[[], Any]
    printed: str | None = None
    within: float = 0.0
    method: str = ""


@dataclass(frozen=True)
class Item:
    """A claim with its computed value and verdict."""

    claim: Claim
    computed: float
    verdict: str

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
        return f"{self.computed:.12g}" if self.claim.printed is not None else f"to {self.computed:.1e}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "where": self.where,
            "what": self.what,
            "printed": self.claim.printed,
            "computed": self.computed,
            "within": None if self.claim.printed is not None else self.claim.within,
            "verdict": self.verdict,
            "method": self.claim.method,
        }


@dataclass(frozen=True)
class Reproduction:
    """All items of a paper and the files written."""

    key: str
    title: str
    items: tuple[Item, ...]
    files: tuple[Path, ...] = field(default=())
    complete: bool = True

    @property
    def differing(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.verdict == DIFFERS)

    @property
    def status(self) -> str:
        count = len(self.items)
        text = f"{count - len(self.differing)} of {count} reproduced, {len(self.differing)} differ"
        return text if self.complete else f"interrupted: {text} so far"

    def as_dict(self) -> dict[str, Any]:
        return {
            "paper": self.key,
            "title": self.title,
            "complete": self.complete,
            "reproduced": len(self.items) - len(self.differing),
            "differs": len(self.differing),
            "items": [item.as_dict() for item in self.items],
            "files": [path.name for path in self.files],
        }


def verdict(claim: Claim, computed: float) -> str:
    """A printed number is reproduced if the computed one rounds to it, a statement if it holds within bounds."""
    if claim.printed is None:
        return REPRODUCED if 0 <= computed <= claim.within else DIFFERS
    unit = Decimal(1).scaleb(int(Decimal(claim.printed).as_tuple().exponent))
    return REPRODUCED if abs(Decimal(computed) - Decimal(claim.printed)) <= unit * Decimal("0.501") else DIFFERS


def reproduced(
    key: str, title: str, claims: Sequence[Claim], figures: dict[str, Callable[[], Any]], folder: Path, quiet: bool
) -> Reproduction:
    """Compute all claims, draw all figures; an interruption keeps what is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ParameterError(f"cannot write into {folder}: {problem}") from problem
    items: list[Item] = []
    files: list[Path] = []
    complete = False
    try:
        for claim in _progress(claims, "computing", quiet):
            computed = float(claim.compute())
            items.append(Item(claim, computed, verdict(claim, computed)))
        for name, draw in _progress(list(figures.items()), "drawing", quiet):
            drawn = draw()
            for ending in ("png", "pdf"):
                files.append(folder / f"{name}.{ending}")
                drawn.savefig(files[-1])
        complete = True
    except KeyboardInterrupt:
        print("interrupted: keeping what was computed", file=sys.stderr)
    path = folder / "reproduction.json"
    result = Reproduction(key, title, tuple(items), (*files, path), complete)
    path.write_text(json.dumps(result.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return result


def _progress(entries: Sequence[Any], text: str, quiet: bool) -> Iterator[Any]:
    if quiet:
        return iter(entries)
    from rich.console import Console
    from rich.progress import track

    return iter(track(entries, description=text, console=Console(stderr=True), transient=True))
