"""One door to every stored result: what a file holds says who reads it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfaff.archive.stored import content
from pfaff.errors import ParameterError
from pfaff.statement.told import rightly_asked
from pfaff.statement.values import shown

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.flow.assembly import Assembly

READERS = {
    "motion": ("pfaff.motion.motion_archive", "load_motion"),
    "motion of a plain ODE": ("pfaff.motion.motion_archive", "load_motion"),
    "branch of orbits": ("pfaff.bifurcation.orbits.orbit_archive", "load_branch"),
    "branch of equilibria": ("pfaff.bifurcation.curves.rest_archive", "load_equilibria"),
    "branch of an assembly": ("pfaff.bifurcation.equilibria.assembled_archive", "load_assembly"),
    "curve": ("pfaff.bifurcation.curves.rest_archive", "load_curve"),
    "curve of special orbits": ("pfaff.bifurcation.curves.rest_archive", "load_curve"),
    "curve of connecting orbits": ("pfaff.bifurcation.connections.connection_archive", "load_connections"),
}


@rightly_asked
def load(path: str | Path, case: Bound | Assembly | None = None) -> Any:
    """A result that ``save()`` wrote: a motion, a branch or a curve, with the case (or assembly) it was computed for.

    Motions can be read without their case; branches and curves need it to be followed on.
    """
    read = content(path)
    holds = read.holds
    if holds == "study":
        raise ParameterError(f"{path} holds a study: open it by pfaff.open_sweep({str(path)!r})")
    if holds not in READERS:
        raise ParameterError(f"{path} holds a {shown(holds)}, which nothing here reads")
    module, reader = READERS[holds]
    if case is None and reader != "load_motion":
        raise ParameterError(f"{path} holds a {holds}: give its case, pfaff.load({str(path)!r}, case)")
    return getattr(importlib.import_module(module), reader)(read, case)
