"""Branches of assemblies at rest along their load, and the ways off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.equilibria.branches import EquilibriumBranch, EquilibriumPoint, SpecialPoint
from pfaff.bifurcation.equilibria.eigenvalues import axis_pairs
from pfaff.bifurcation.equilibria.many_states.assembled_equations import AssembledEquations, assembled_start
from pfaff.bifurcation.equilibria.many_states.assembled_points import AssembledRests
from pfaff.bifurcation.equilibria.special_forms import SpecialForm
from pfaff.continuation.course import Course, Limits
from pfaff.continuation.dense import Spot
from pfaff.continuation.kinds import Kind, kind_of
from pfaff.continuation.problem import Event
from pfaff.errors import ParameterError
from pfaff.flow.assembly import Assembly, Rest
from pfaff.statement.told import answering, shown_in_notebooks
from pfaff.statement.values import shown, whole_number
from pfaff.threads import cached_property

if TYPE_CHECKING:
    import xarray

MODES = 60  # most modes that are watched


@answering
@dataclass(frozen=True, eq=False, repr=False)
class AssemblyPoint(EquilibriumPoint):
    """An assembly at rest: coordinates ``q``, reactions ``p``, and the eigenvalues of the modes watched."""

    @property
    def equations(self) -> AssembledEquations:
        return self.problem.equations

    @property
    def q(self) -> np.ndarray:
        return self.x

    @property
    def p(self) -> np.ndarray:
        return self.spot.z[self.equations.assembly.size : -1]

    @property
    def rest(self) -> Rest:
        """The state as ``assembly.equilibrium`` gives it, from which motions and branches start."""
        return self.equations.rest(self.spot.z)

    def branch(self, parameter: str, to: float, **options: Any) -> AssemblyBranch:
        """The branch through this point along the load; options as in ``assembly.branch``."""
        assembly = self.equations.assembly
        if not isinstance(parameter, str) or parameter != assembly.load:
            raise ParameterError(f"{assembly.name} has one parameter that varies, its load: branch({assembly.load!r})")
        return assembly.branch(to, start=self.rest, **options)


@answering
@dataclass(frozen=True, eq=False, repr=False)
class SpecialAssemblyPoint(AssemblyPoint, SpecialPoint):
    """A located special point: fold, branch point, divergence or hopf. ``omega`` is known at Hopf points; coefficients
    of normal forms are not computed."""

    @cached_property
    def _form(self) -> SpecialForm:
        if kind_of(self.kind)[0] is not Kind.HOPF:
            return SpecialForm(note=f"{self.multiplicity} eigenvalues pass zero" if self.multiplicity > 1 else "")
        pairs = axis_pairs(self.spot.facts.eigenvalues, 2 * self.multiplicity)
        return SpecialForm(omega=float(pairs[0]) if len(pairs) else float("nan"))

    def curve(self, name: str, to: float, **options: Any) -> Any:
        raise ParameterError(
            f"{self.equations.assembly.name} has one parameter that varies, its load: follow the branches of several "
            f"assemblies instead of a curve in {shown(name)}"
        )

    def _followed(self, problem: Any, first: Spot, course: Course, limits: Limits) -> AssemblyBranch:
        return AssemblyBranch.gathered(problem, first, course, limits)


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class AssemblyBranch(EquilibriumBranch):
    """States at rest of an assembly along its load. ``branch[i]`` is one of them, ``special`` lists the located
    points."""

    _point = staticmethod(AssemblyPoint)

    @staticmethod
    def _special(problem: Any, event: Event) -> SpecialAssemblyPoint:
        spot = event.point
        if event.kind == Kind.BRANCH_POINT:
            spot = replace(spot, z=problem.polished(spot.z))
        many = event.detail if event.several else 1
        return SpecialAssemblyPoint(problem, spot, str(event.kind), many)

    @property
    def status(self) -> str:
        return f"{super().status}; {self.watched}"

    @property
    def watched(self) -> str:
        """The modes by which stability was judged, in words."""
        frequency = min(point.spot.facts.frequency for point in self.points)
        words = f"modes up to the frequency {frequency:.4g} were watched"
        return words + (", undamped ones by their squares" if self.points[0].problem.reversible else "")

    def to_xarray(self) -> xarray.Dataset:
        """Load, coordinates, reactions and eigenvalues along the dimension ``point``."""
        return doors.assembled_archive.dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load(path, assembly)`` reads it again."""
        return doors.assembled_archive.save(self, path)


def follow_assembly(
    assembly: Assembly, load: float, start: Any, asked: tuple[Any, ...], fixed: Sequence[int], modes: Any
) -> AssemblyBranch:
    """The branch through the equilibrium at a load; ``asked`` are the arguments of a ``Course``."""
    course, modes = Course.asked(*asked), whole_number("modes", modes, 1, MODES, "watch fewer")
    limits = course.limits(assembly, assembly.load, load)  # type: ignore[arg-type]
    s, z = assembled_start(assembly, load, course.to, start, fixed)
    problem = AssembledRests.about(s.measured(z), z, modes)
    return AssemblyBranch.gathered(problem, problem.start(z, course.to - load), course, limits, fresh=True)
