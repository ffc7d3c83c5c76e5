"""One door to every stored result: the reader is chosen by the file's kind."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfaff.archive.stored import content
from pfaff.errors import ParameterError
from pfaff.statement.told import rightly_asked
from pfaff.statement.values import path_from, shown, truth

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.flow.assembly import Assembly

READERS = {
    "motion": ("pfaff.motion.motion_archive", "load_motion"),
    "motion of a plain ODE": ("pfaff.motion.motion_archive", "load_motion"),
    "branch of orbits": ("pfaff.bifurcation.orbits.orbit_archive", "load_branch"),
    "branch of equilibria": ("pfaff.bifurcation.curves.rest_archive", "load_equilibria"),
    "branch of an assembly": ("pfaff.bifurcation.equilibria.many_states.assembled_archive", "load_assembly"),
    "curve": ("pfaff.bifurcation.curves.rest_archive", "load_curve"),
    "curve of special orbits": ("pfaff.bifurcation.curves.rest_archive", "load_curve"),
    "curve of connecting orbits": ("pfaff.bifurcation.connections.connection_archive", "load_connections"),
    "response": ("pfaff.bifurcation.response.response_archive", "load_response"),
    "study": ("pfaff.studies.sweep", "open_sweep"),
}
CASELESS = ("load_motion", "open_sweep")  # readers that need no case


@rightly_asked
def load(path: str | Path, case: Bound | Assembly | None = None, trust: bool = False) -> Any:
    """A result that ``save()`` wrote: a motion, a branch, a curve or a study, with the case (or assembly) it is of.

    Motions and studies can be read without their case; branches and curves need it to be followed on. Studies are also
    read from the folders of their stores. Reading runs nothing that a file names; ``trust=True`` is for studies that
    are gone on with by the Python files they name, as ``pfaff.open_sweep`` says.
    """
    path = path_from("path", path)
    read = None if path.is_dir() else content(path)  # a folder is the store of a study
    holds = read.holds if read else "study"
    if holds not in READERS:
        raise ParameterError(f"{path} holds a {shown(holds)}, which nothing here reads")
    module, reader = READERS[holds]
    if truth("trust", trust) and holds != "study":
        raise ParameterError(f"{path} holds a {holds}, which names no file to be trusted: leave trust out")
    if case is None and reader not in CASELESS:
        raise ParameterError(f"{path} holds a {holds}: give its case, pfaff.load({str(path)!r}, case)")
    read_by = getattr(importlib.import_module(module), reader)
    return read_by(path, case, trust=trust) if holds == "study" else read_by(read, case)
