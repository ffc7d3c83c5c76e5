"""pfaff: mechanical systems with Pfaffian constraints, their stability and motion."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfaff import atlas
    from pfaff.archive.loading import load
    from pfaff.bifurcation.curves.rest_archive import load_curve, load_equilibria
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.bifurcation.orbits.orbit_archive import load_branch
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.case import Case
    from pfaff.continuation.endings import Ending, Reason
    from pfaff.continuation.kinds import Kind
    from pfaff.continuation.trail import Branch
    from pfaff.errors import PfaffError
    from pfaff.flow.assembly import Assembly
    from pfaff.motion.motion_archive import load_motion
    from pfaff.motion.outcomes import Outcome
    from pfaff.motion.result import Motion
    from pfaff.statement.drawing import Drawing
    from pfaff.statement.odes import Ode, ode
    from pfaff.statement.particles import Particle
    from pfaff.statement.parts import Part
    from pfaff.statement.rods import Rod
    from pfaff.statement.system import System
    from pfaff.studies.points import grid, sobol
    from pfaff.studies.study import Study
    from pfaff.studies.sweep import open_sweep

__version__ = "0.1.0"

_HOMES = {
    "Assembly": "pfaff.flow.assembly",
    "Branch": "pfaff.continuation.trail",
    "Ending": "pfaff.continuation.endings",
    "Reason": "pfaff.continuation.endings",
    "Kind": "pfaff.continuation.kinds",
    "EquilibriumBranch": "pfaff.bifurcation.equilibria.branches",
    "OrbitBranch": "pfaff.bifurcation.orbits.orbit_branch",
    "Case": "pfaff.case",
    "Drawing": "pfaff.statement.drawing",
    "Event": "pfaff.motion.events",
    "Motion": "pfaff.motion.result",
    "Outcome": "pfaff.motion.outcomes",
    "load": "pfaff.archive.loading",
    "load_branch": "pfaff.bifurcation.orbits.orbit_archive",
    "load_curve": "pfaff.bifurcation.curves.rest_archive",
    "load_equilibria": "pfaff.bifurcation.curves.rest_archive",
    "load_motion": "pfaff.motion.motion_archive",
    "Ode": "pfaff.statement.odes",
    "Part": "pfaff.statement.parts",
    "Particle": "pfaff.statement.particles",
    "PfaffError": "pfaff.errors",
    "Rod": "pfaff.statement.rods",
    "System": "pfaff.statement.system",
    "Study": "pfaff.studies.study",
    "grid": "pfaff.studies.points",
    "ode": "pfaff.statement.odes",
    "open_sweep": "pfaff.studies.sweep",
    "sobol": "pfaff.studies.points",
}

__all__ = [
    "Assembly",
    "Branch",
    "Case",
    "Drawing",
    "Ending",
    "EquilibriumBranch",
    "Event",
    "Kind",
    "Motion",
    "Ode",
    "OrbitBranch",
    "Outcome",
    "Part",
    "Particle",
    "PfaffError",
    "Reason",
    "Rod",
    "Study",
    "System",
    "__version__",
    "atlas",
    "grid",
    "load",
    "load_branch",
    "load_curve",
    "load_equilibria",
    "load_motion",
    "ode",
    "open_sweep",
    "sobol",
]


def __dir__() -> list[str]:
    """The front door, and nothing else."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Rooms open when they are entered: importing pfaff costs nothing."""
    if name == "atlas" or name in _HOMES:
        home = _opened(_HOMES.get(name, "pfaff.atlas"))
        return home if name == "atlas" else getattr(home, name)
    from pfaff.errors import nearest

    raise AttributeError(f"module 'pfaff' has no attribute {name!r}: {nearest(name, __all__)}")


def _opened(room: str) -> Any:
    """A room, imported without collecting garbage: SymPy makes many objects, all of which stay.

    No later collection goes through these again, nor the one that ends the process.
    """
    collected, fresh = gc.isenabled(), "sympy" not in sys.modules
    if fresh:
        gc.collect()  # what is garbage by now is not to stay as well
    gc.disable()
    try:
        return importlib.import_module(room)
    finally:
        if fresh and "sympy" in sys.modules:
            gc.freeze()
        if collected:
            gc.enable()
