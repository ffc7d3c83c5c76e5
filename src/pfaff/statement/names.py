"""Which names are allowed: they appear in formulas, programs, files and pages.

A name of a coordinate, state or parameter is an identifier in any alphabet, which no language takes for anything else.
A title, such as the name of a system, is one line of printable characters; each language escapes it in its own way.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from pfaff.errors import StatementError
from pfaff.statement.values import shown

LONGEST = 100  # characters of a name or title


def checked_name(name: Any, what: str) -> str:
    """A name that formulas can be written with; ``what`` is the kind of thing, such as a coordinate. Those with
    __ before them are Python's own."""
    if not isinstance(name, str) or not name.isidentifier() or f"{name}_".startswith("__") or len(name) > LONGEST:
        example = re.sub(r"\W+", "_", name).strip("_0123456789")[:20] if isinstance(name, str) else ""
        raise StatementError(
            f"the {what} {shown(name)} has no proper name: write letters, digits and underscores, such as "
            f"{example or 'x'!r}"
        )
    return name


def checked_title(title: Any, what: str, longest: int = LONGEST) -> str:
    """A title on one line."""
    if not isinstance(title, str) or not title.strip() or not title.isprintable() or len(title) > longest:
        raise StatementError(
            f"the {what} {shown(title)} is no title: write at most {longest} printable characters on one line"
        )
    return title


def spelled(name: str) -> str:
    """The name in the letters of ASCII: Greek ones by their names, others without their accents or as underscores."""
    return "".join(map(_spelled, unicodedata.normalize("NFKD", name)))


def _spelled(letter: str) -> str:
    if letter.isascii():
        return letter
    script, *_, last = unicodedata.name(letter, "? ?").lower().split()
    if script == "greek" and last.isalpha():
        last = {"lamda": "lambda"}.get(last, last)  # as everybody but Unicode spells it
        return last.capitalize() if letter.isupper() else last
    return "" if unicodedata.combining(letter) else "_"
