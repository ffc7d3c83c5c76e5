"""What a shell completes: systems, their parameters, papers and choices.

Switched on once, for bash: ``eval "$(_PFAFF_COMPLETE=bash_source pfaff)"``; for zsh and fish likewise.
"""

from __future__ import annotations

from collections.abc import Callable

import click

from pfaff import doors

Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def one_word(*words: str) -> Completion:
    """One of a few words."""

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
        return [word for word in words if word.startswith(begun)]

    return complete


def systems(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names from the atlas."""
    return [name for name in doors.atlas.SYSTEMS if name.startswith(begun)]


def papers(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    return [key for key in doors.papers.PAPERS if key.startswith(begun)]


def quantities(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Numbers that studies measure."""
    return [name for name in doors.catalogue.offered() if name.startswith(begun)]


def parameters(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Parameters of the system that was named, after a comma too: k1=50,c_i=."""
    words = [context.params.get("name"), *context.args]  # an option without its value leaves words unread
    make = next((doors.atlas.SYSTEMS[word] for word in words if word in doors.atlas.SYSTEMS), None)
    if make is None:
        return []
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}=" for name in make().parameter_names if name.startswith(last)]
