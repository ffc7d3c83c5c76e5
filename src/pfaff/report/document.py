"""What a report consists of, before it is given a form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


def anchor(title: str) -> str:
    """A place on the page to jump to."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


@dataclass(frozen=True)
class Image:
    """A picture file, its title and caption; other files hold the same in other formats."""

    path: Path
    title: str
    caption: str
    others: Sequence[Path] = ()


@dataclass(frozen=True)
class Entry:
    """One result: where it stands, in words, as a formula, facts by name, a verdict, remarks and code."""

    title: str
    where: str = ""
    formula: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    verdict: str = ""
    good: bool = True
    remark: str = ""
    code: str = ""
    formulas: Mapping[str, str] = field(default_factory=dict)  # further ones, each with its name
    parts: Sequence[Entry] = ()
    see: Mapping[str, str] = field(default_factory=dict)  # other entries, by their anchors
    symbols: Mapping[str, str] = field(default_factory=dict)  # in words

    place: str = ""
    first: bool = True  # what is shown a second time has its anchor at the first

    @property
    def anchor(self) -> str:
        """A place on the page to jump to."""
        return self.place or anchor(f"{self.where} {self.title}")


@dataclass(frozen=True)
class Section:
    title: str
    entries: Sequence[Entry] = ()
    images: Sequence[Image] = ()
    text: str = ""


@dataclass(frozen=True)
class Document:
    """The whole: ``counts`` stand on top, as numbers with their names."""

    title: str
    about: str
    counts: Mapping[str, int]
    sections: Sequence[Section]
    footer: str = ""
