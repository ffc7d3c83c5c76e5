"""The command that reproduces papers."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import click

from pfaff import doors
from pfaff.cli.arguments import as_json
from pfaff.cli.completion import papers
from pfaff.cli.output import print_json, table
from pfaff.errors import ParameterError, nearest


@click.command()
@click.argument("paper", required=False, shell_complete=papers)
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("report"), show_default=True, help="Folder for results."
)
@click.option("--all", "every", is_flag=True, help="List all results, not only those that differ.")
@click.option("--fresh", is_flag=True, help="Compute everything anew, whatever earlier runs have kept.")
@as_json
def reproduce(paper: str | None, output: Path, every: bool, fresh: bool, as_json: bool) -> None:
    """Compute what a paper prints, as a report: printed value, computed value and verdict, figures, errata.

    Without a paper, list those that can be reproduced.

    \b
    Example:
      pfaff reproduce cazzolli2020 --output report
    """
    gc.enable()
    if paper is None:
        if as_json:
            return print_json(doors.papers.PAPERS)
        return table("Papers", ["key", "paper"], [[key, title] for key, title in doors.papers.PAPERS.items()])
    if paper not in doors.papers.PAPERS:
        raise ParameterError(f"no paper {paper!r}: {nearest(paper, doors.papers.PAPERS)}")
    result = doors.papers.reproduce_paper(paper, output, quiet=as_json, fresh=fresh)
    if not result.complete:
        sys.exit(130)
    if as_json:
        return print_json(result.as_dict())
    shown = result.items if every else [*result.failed, *result.differing]
    rows = [[i.where, i.what, i.printed_text, i.computed_text, i.verdict] for i in shown]
    if rows:
        heading = result.title if every else f"{result.title}: what differs"
        table(heading, ["where", "what", "printed", "computed", "verdict"], rows)
    print(f"{result.status}\nopen {output / 'index.html'} (and {len(result.files) - 1} files beside it)")
    if result.failed or result.missing:
        sys.exit(1)
