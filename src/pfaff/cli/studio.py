"""The studio on the shell."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import click

from pfaff import doors
from pfaff.cli.arguments import pairs, which_case
from pfaff.cli.statement import stated


@click.command()
@which_case
@click.option("--store", type=click.Path(path_type=Path), help="A sweep whose maps are shown, too: map.zarr.")
@click.option("--port", type=int, default=0, help="Where to listen on 127.0.0.1; any free port by default.")
@click.option("--host", default="127.0.0.1", help="Another address of this machine: whoever knows the token gets in.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
def studio(
    name: str,
    values: tuple[str, ...],
    store: Path | None,
    port: int,
    host: str,
    no_browser: bool,
    **which: Any,
) -> None:
    """The whole analysis interactively, in a browser. Ctrl-C ends it.

    \b
    Examples:
      pfaff studio column --set d=1/2,M_L=15,I_L=15,k1=50,c_i=1.5,F=70
      pfaff studio my_sleigh.py:sleigh
    """
    gc.enable()
    found = stated(name, **which, assemblies=True)
    given = found if isinstance(found, doors.assembly.Assembly) else found.at(**pairs(values, "--set"))
    source = name if ":" in name else None
    doors.studio.open_studio(given, port=port, host=host, browser=not no_browser, store=store, stated=source)
