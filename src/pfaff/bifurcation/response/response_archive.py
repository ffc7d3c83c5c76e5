"""Responses into files and back: the branch of orbits, and how its first one was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pfaff.archive.stored import checked_case, opened, write
from pfaff.bifurcation.orbits.orbit_archive import ORBITS, branch_in
from pfaff.bifurcation.response.response import Response
from pfaff.statement.told import rightly_asked

if TYPE_CHECKING:
    from pfaff.case import Bound

RESPONSE = replace(
    ORBITS, holds="response", otherwise="read it by pfaff.load(path, case)", notes={**ORBITS.notes, "found": str}
)


def save(response: Response, path: str | Path) -> Path:
    """Write a netCDF file."""
    return write(RESPONSE, response.orbits.to_xarray().assign_attrs(found=response.found), path)


@rightly_asked
def load_response(path: str | Path, case: Bound) -> Response:
    """A response that was saved, of the case it was computed for; it can be extended again."""
    case = checked_case(case)
    with opened(path, RESPONSE) as file:
        return Response(branch_in(path, file, case), file.notes["found"])
