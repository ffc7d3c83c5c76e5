"""pfaff: mechanical systems with Pfaffian constraints, their stability and motion."""

from __future__ import annotations

import gc
import importlib
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfaff import atlas as atlas
    from pfaff.archive.loading import load as load
    from pfaff.bifurcation.connections.connection_curves import ConnectionCurve as ConnectionCurve
    from pfaff.bifurcation.connections.connections import Connection as Connection
    from pfaff.bifurcation.connections.connections import ConnectionSpecial as ConnectionSpecial
    from pfaff.bifurcation.curves.curves import Curve as Curve
    from pfaff.bifurcation.curves.curves import CurvePoint as CurvePoint
    from pfaff.bifurcation.curves.curves import CurveSpecial as CurveSpecial
    from pfaff.bifurcation.curves.rest_archive import load_curve as load_curve
    from pfaff.bifurcation.curves.rest_archive import load_equilibria as load_equilibria
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch as EquilibriumBranch
    from pfaff.bifurcation.equilibria.branches import EquilibriumPoint as EquilibriumPoint
    from pfaff.bifurcation.equilibria.branches import SpecialPoint as SpecialPoint
    from pfaff.bifurcation.equilibria.many_states.assembled_branches import AssemblyBranch as AssemblyBranch
    from pfaff.bifurcation.equilibria.many_states.assembled_branches import AssemblyPoint as AssemblyPoint
    from pfaff.bifurcation.equilibria.many_states.assembled_branches import SpecialAssemblyPoint as SpecialAssemblyPoint
    from pfaff.bifurcation.hopf.criticality import Criticality as Criticality
    from pfaff.bifurcation.hopf.growth import Growth as Growth
    from pfaff.bifurcation.hopf.hopf import Hopf as Hopf
    from pfaff.bifurcation.modes.families import NormalMode as NormalMode
    from pfaff.bifurcation.modes.vibrations import FreeVibration as FreeVibration
    from pfaff.bifurcation.modes.vibrations import SpecialVibration as SpecialVibration
    from pfaff.bifurcation.orbit_curves.codimension_two import ResonanceForm as ResonanceForm
    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleCurve as CycleCurve
    from pfaff.bifurcation.orbit_curves.cycle_curves import CyclePoint as CyclePoint
    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleSpecial as CycleSpecial
    from pfaff.bifurcation.orbits.cascade import Cascade as Cascade
    from pfaff.bifurcation.orbits.cycle_forms import CycleForm as CycleForm
    from pfaff.bifurcation.orbits.orbit_archive import load_branch as load_branch
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch as OrbitBranch
    from pfaff.bifurcation.orbits.orbit_in_time import Orbit as Orbit
    from pfaff.bifurcation.orbits.orbits import OrbitPoint as OrbitPoint
    from pfaff.bifurcation.orbits.orbits import Special as Special
    from pfaff.bifurcation.response.response import Response as Response
    from pfaff.bifurcation.response.response import ResponsePoint as ResponsePoint
    from pfaff.case import Case as Case
    from pfaff.case import OdeCase as OdeCase
    from pfaff.continuation.endings import Ending as Ending
    from pfaff.continuation.endings import Reason as Reason
    from pfaff.continuation.kinds import Kind as Kind
    from pfaff.continuation.trail import Branch as Branch
    from pfaff.errors import ConstraintError as ConstraintError
    from pfaff.errors import ConvergenceError as ConvergenceError
    from pfaff.errors import NoBifurcationError as NoBifurcationError
    from pfaff.errors import NoSuchNameError as NoSuchNameError
    from pfaff.errors import NotMechanicalError as NotMechanicalError
    from pfaff.errors import ParameterError as ParameterError
    from pfaff.errors import PfaffError as PfaffError
    from pfaff.errors import RankError as RankError
    from pfaff.errors import SingularMassError as SingularMassError
    from pfaff.errors import StatementError as StatementError
    from pfaff.flow.assembly import Assembly as Assembly
    from pfaff.flow.assembly import Rest as Rest
    from pfaff.flow.flow import Flow as Flow
    from pfaff.motion.ensemble import Ensemble as Ensemble
    from pfaff.motion.events import Crossings as Crossings
    from pfaff.motion.events import Event as Event
    from pfaff.motion.locomotion import Friction as Friction
    from pfaff.motion.locomotion import Locomotion as Locomotion
    from pfaff.motion.measures import Energy as Energy
    from pfaff.motion.motion_archive import load_motion as load_motion
    from pfaff.motion.outcomes import Outcome as Outcome
    from pfaff.motion.result import Motion as Motion
    from pfaff.principles import AppellEquations as AppellEquations
    from pfaff.principles import DAlembertEquations as DAlembertEquations
    from pfaff.principles import HamiltonEquations as HamiltonEquations
    from pfaff.principles import LagrangeEquations as LagrangeEquations
    from pfaff.principles import NewtonEquations as NewtonEquations
    from pfaff.principles import Principle as Principle
    from pfaff.principles.comparison import Comparison as Comparison
    from pfaff.principles.comparison import Row as Row
    from pfaff.principles.random_states import States as States
    from pfaff.rest.mechanical import Equilibria as Equilibria
    from pfaff.rest.mechanical import Equilibrium as Equilibrium
    from pfaff.rest.small_motions import Linearisation as Linearisation
    from pfaff.rest.spectrum import Spectrum as Spectrum
    from pfaff.rest.states import SteadyState as SteadyState
    from pfaff.rest.steady_motions import SteadyMotion as SteadyMotion
    from pfaff.stability.critical_load import Cell as Cell
    from pfaff.stability.critical_load import CriticalLoad as CriticalLoad
    from pfaff.stability.critical_load import CriticalLoads as CriticalLoads
    from pfaff.stability.determinant import Determinant as Determinant
    from pfaff.stability.exact import ExactLinearisation as ExactLinearisation
    from pfaff.stability.exact import ExactLoad as ExactLoad
    from pfaff.stability.large import SparseFlutter as SparseFlutter
    from pfaff.stability.maps import FlutterMap as FlutterMap
    from pfaff.stability.paradox import Paradox as Paradox
    from pfaff.stability.rod_characteristic import RodCharacteristic as RodCharacteristic
    from pfaff.stability.rod_characteristic import RodLoad as RodLoad
    from pfaff.statement.classification import Classification as Classification
    from pfaff.statement.drawing import Drawing as Drawing
    from pfaff.statement.odes import Ode as Ode
    from pfaff.statement.odes import ode as ode
    from pfaff.statement.particles import Particle as Particle
    from pfaff.statement.parts import Part as Part
    from pfaff.statement.rods import Rod as Rod
    from pfaff.statement.system import System as System
    from pfaff.studies.points import Points as Points
    from pfaff.studies.points import grid as grid
    from pfaff.studies.points import sobol as sobol
    from pfaff.studies.study import Study as Study
    from pfaff.studies.sweep import open_sweep as open_sweep
    from pfaff.studies.telling import Running as Running
    from pfaff.studies.uncertainty import Indices as Indices
    from pfaff.studies.uncertainty import Probability as Probability

__version__ = "0.5.0.dev0"

# Public names, by the module where each is at home.
_ROOMS = {
    "pfaff.statement.system": "System",
    "pfaff.statement.drawing": "Drawing",
    "pfaff.statement.rods": "Rod",
    "pfaff.statement.particles": "Particle",
    "pfaff.statement.odes": "ode Ode",
    "pfaff.case": "Case OdeCase",
    "pfaff.statement.parts": "Part",
    "pfaff.flow.assembly": "Assembly Rest",
    "pfaff.principles": "Principle LagrangeEquations AppellEquations HamiltonEquations DAlembertEquations "
    "NewtonEquations",
    "pfaff.principles.comparison": "Comparison Row",
    "pfaff.principles.random_states": "States",
    "pfaff.flow.flow": "Flow",
    "pfaff.rest.mechanical": "Equilibrium Equilibria",
    "pfaff.rest.states": "SteadyState",
    "pfaff.rest.steady_motions": "SteadyMotion",
    "pfaff.stability.determinant": "Determinant",
    "pfaff.statement.classification": "Classification",
    "pfaff.rest.small_motions": "Linearisation",
    "pfaff.rest.spectrum": "Spectrum",
    "pfaff.stability.critical_load": "CriticalLoads CriticalLoad Cell",
    "pfaff.stability.exact": "ExactLoad ExactLinearisation",
    "pfaff.stability.rod_characteristic": "RodLoad RodCharacteristic",
    "pfaff.stability.paradox": "Paradox",
    "pfaff.stability.maps": "FlutterMap",
    "pfaff.bifurcation.equilibria.many_states.assembled_branches": "AssemblyBranch AssemblyPoint SpecialAssemblyPoint",
    "pfaff.stability.large": "SparseFlutter",
    "pfaff.studies.points": "grid sobol Points",
    "pfaff.studies.sweep": "open_sweep",
    "pfaff.studies.study": "Study",
    "pfaff.studies.telling": "Running",
    "pfaff.studies.uncertainty": "Probability Indices",
    "pfaff.bifurcation.hopf.hopf": "Hopf",
    "pfaff.bifurcation.hopf.growth": "Growth",
    "pfaff.bifurcation.hopf.criticality": "Criticality",
    "pfaff.continuation.trail": "Branch",
    "pfaff.continuation.endings": "Ending Reason",
    "pfaff.continuation.kinds": "Kind",
    "pfaff.bifurcation.orbits.orbit_branch": "OrbitBranch",
    "pfaff.bifurcation.orbits.orbits": "OrbitPoint Special",
    "pfaff.bifurcation.orbits.orbit_in_time": "Orbit",
    "pfaff.bifurcation.orbits.cycle_forms": "CycleForm",
    "pfaff.bifurcation.orbit_curves.codimension_two": "ResonanceForm",
    "pfaff.bifurcation.orbits.cascade": "Cascade",
    "pfaff.bifurcation.response.response": "Response ResponsePoint",
    "pfaff.bifurcation.modes.families": "NormalMode",
    "pfaff.bifurcation.modes.vibrations": "FreeVibration SpecialVibration",
    "pfaff.bifurcation.equilibria.branches": "EquilibriumBranch EquilibriumPoint SpecialPoint",
    "pfaff.bifurcation.curves.curves": "Curve CurvePoint CurveSpecial",
    "pfaff.bifurcation.orbit_curves.cycle_curves": "CycleCurve CyclePoint CycleSpecial",
    "pfaff.bifurcation.connections.connections": "Connection ConnectionSpecial",
    "pfaff.bifurcation.connections.connection_curves": "ConnectionCurve",
    "pfaff.motion.result": "Motion",
    "pfaff.motion.outcomes": "Outcome",
    "pfaff.motion.measures": "Energy",
    "pfaff.motion.events": "Event Crossings",
    "pfaff.motion.ensemble": "Ensemble",
    "pfaff.motion.locomotion": "Locomotion Friction",
    "pfaff.archive.loading": "load",
    "pfaff.motion.motion_archive": "load_motion",
    "pfaff.bifurcation.orbits.orbit_archive": "load_branch",
    "pfaff.bifurcation.curves.rest_archive": "load_equilibria load_curve",
    "pfaff.errors": "PfaffError StatementError ConstraintError ParameterError SingularMassError ConvergenceError "
    "NoBifurcationError NotMechanicalError NoSuchNameError RankError",
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names.split()}

__all__ = sorted(["__version__", "atlas", *_HOMES])


def __dir__() -> list[str]:
    """The front door, and nothing else."""
    return __all__


if not TYPE_CHECKING:  # by which any name would pass

    def __getattr__(name: str) -> Any:
        """A room opens when it is entered: importing pfaff costs nothing."""
        if name == "atlas" or name in _HOMES:
            home = _opened(_HOMES.get(name, "pfaff.atlas"))
            return home if name == "atlas" else getattr(home, name)
        from pfaff.errors import nearest

        raise AttributeError(f"module 'pfaff' has no attribute {name!r}: {nearest(name, __all__)}")


def _nothing_made() -> bool:
    """Whether the main program has no objects but modules, functions, classes and constants, and all others are of
    types of Python's own library."""
    plain = (ModuleType, FunctionType, BuiltinFunctionType, type, str, int, float, NoneType)
    main = vars(sys.modules.get("__main__", object)) if "__main__" in sys.modules else {}
    if not all(isinstance(value, plain) for name, value in main.items() if not name.startswith("__")):
        return False
    known = {*sys.stdlib_module_names, "numpy", "pfaff", "_distutils_hack"}  # the last one is in every environment
    return all(type(each).__module__.partition(".")[0] in known for each in gc.get_objects())


def _opened(room: str) -> Any:
    """A room, imported without collecting garbage: SymPy makes many objects, all of which stay.

    Where nothing but imports came before, no later collection goes through these again, nor the one that ends the
    process. Objects that somebody else has made by now could become garbage, and would then stay as well.
    """
    collected, fresh = gc.isenabled(), "sympy" not in sys.modules and _nothing_made()
    gc.disable()
    try:
        return importlib.import_module(room)
    finally:
        if fresh and "sympy" in sys.modules:
            gc.freeze()
        if collected:
            gc.enable()
