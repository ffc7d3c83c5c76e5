"""Remedies that messages give in Python, in the words of the shell."""

from __future__ import annotations

import re
from functools import partial

import click

IN_PYTHON = {"load_parameter": "load", "name_in": "load", "load": "", "values": "", "as_json": ""}
VALUE = r"…|\([^()]*\)|'[^']*'|\{…\}|[-+]?\w+(?:\.\w+)?(?:e[-+]\d+)?"


def on_shell(message: str, command: click.Command | None) -> str:
    """``load='mc'`` becomes ``--load-parameter mc`` where there is one, and ``at(k=…)`` becomes ``--set k=VALUE``."""
    flags = {IN_PYTHON.get(each.name or "", each.name): each.opts[0] for each in getattr(command, "params", ())}
    followed = r"case\.at\((\w+)=…\)\.steady\(\)\.branch\('(\w+)', to=…\)"
    message = re.sub(followed, r"pfaff steady SYSTEM --set \1=VALUE --in \2 --to VALUE", message)
    message = re.sub(r"\b(?:case\.)?at\((\w+)=…\)", r"--set \1=VALUE", message)
    if "fix" in flags:
        message = re.sub(r"\bequilibrium\((\w+=[^)]+)\)", r"--fix \1", message)
    for name, flag in flags.items():
        if name and flag.startswith("--"):
            # what already follows a flag, as in --set step=5, is in the shell's words
            written = rf"(?<![\w-])(?<!--fix )(?<!--set )(?<!--start )(?<!--option ){name}=({VALUE})?"
            message = re.sub(written, partial(_flag, flag), message)
    return message


def _flag(flag: str, found: re.Match[str]) -> str:
    value = found[1] or ""
    value = {"…": "VALUE", "{…}": "NAME=VALUE", "True": ""}.get(value, value.strip("'()").replace(", ", " "))
    return f"{flag} {value}".rstrip()
