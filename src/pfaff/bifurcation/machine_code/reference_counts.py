"""References to arrays that need not be counted.

numba counts references to arrays, atomically, in each function that receives one; in small functions that takes as long
as their work. A caller keeps what it lends: a function need not count references to its arguments, nor to variables
that can only be one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

VALUE = r'(?:%"[^"]+"|%[\w.$-]+)'  # a value in LLVM's language
FUNCTION = re.compile(r"^define .*?^}$", re.MULTILINE | re.DOTALL)
COUNTED = re.compile(rf"call void @NRT_(?:in|de)cref\(ptr ({VALUE})\)")
DEFINED = re.compile(rf"^\s*({VALUE}) = (?:tail )?(\w+)")
CHOSEN = re.compile(rf"\[ ({VALUE}), %|ptr ({VALUE})")  # chosen by a phi or a select
POINTER = re.compile(r"call [^@(]*\bptr @")  # a function that may return its argument
USED = re.compile(VALUE)


def uncounted(module: str) -> str:
    """A module in which no function counts references to what is lent to it."""
    return FUNCTION.sub(lambda function: "\n".join(_uncounted(function[0].split("\n"))), module)


def _uncounted(lines: list[str]) -> Iterator[str]:
    lent = _lent(*lines)
    for line in lines:
        counted = COUNTED.search(line)
        if not counted or counted[1] not in lent:
            yield line


def _lent(head: str, *body: str) -> set[str]:
    """Arguments, and values chosen among them, that are passed to functions and compared, but never kept."""
    known, kept = {each: each for each in USED.findall(head)}, set()

    def origin(value: str) -> str:
        while known.setdefault(value, value) != value:
            value = known[value]
        return value

    for line in body:
        defined = DEFINED.match(line)
        name, how = defined.groups() if defined else ("", "")
        if how in ("phi", "select") and " ptr " in line:
            for choice in CHOSEN.findall(line):
                known[origin(choice[0] or choice[1])] = origin(name)
        elif how == "call" or " call " in line:
            kept |= set(USED.findall(line)) if POINTER.search(line) else {name} if name else set()
        elif how != "icmp":
            kept |= set(USED.findall(line))
    owned = {origin(each) for each in kept}
    return {each for each in list(known) if origin(each) not in owned}
