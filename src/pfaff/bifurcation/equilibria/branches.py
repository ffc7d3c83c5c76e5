"""Branches of equilibria in a parameter, the special points on them with their normal forms, and the ways off them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pfaff import doors
from pfaff.algebra.one_thread import one_thread
from pfaff.bifurcation.equilibria.eigenvalues import always_zero, floor
from pfaff.bifurcation.equilibria.many_states.sparse_equations import sparse_start
from pfaff.bifurcation.equilibria.many_states.sparse_points import SparseRests
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.rest_points import RestPoint, RestTrail
from pfaff.bifurcation.equilibria.special_forms import SpecialForm, form_of
from pfaff.bifurcation.equilibria.special_points import Rests
from pfaff.bifurcation.equilibria.starts import start_equations
from pfaff.bifurcation.equilibria.verified_points import at_points, of_special, verified
from pfaff.bifurcation.equilibria.ways_off import in_units, way_off
from pfaff.checks import Check, doubted
from pfaff.continuation.course import POINTS, STEP, Bounds, Course, Limits, checked_way
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Reason
from pfaff.continuation.engine import Engine
from pfaff.continuation.kinds import MULTIPLE, Kind, OfKind
from pfaff.continuation.problem import FAILURES, Event
from pfaff.continuation.trail import Branch, with_turns
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.statement.told import answering, shown_in_notebooks
from pfaff.statement.values import number_from, one_of
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.curves.curves import Curve
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.case import Bound

ROUNDING = 1e-14  # values of the parameter below this, relative to the range, are zero
PROBED = 1e-2  # distance along the branch, in units, at which structure is looked for a second time

Progress = Callable[["EquilibriumPoint"], Any]


@dataclass(frozen=True, eq=False, repr=False)
class EquilibriumPoint(RestPoint):
    """A point of a branch of equilibria."""

    @property
    def parameter(self) -> str:
        return self.equations.free[0]

    @property
    def status(self) -> str:
        how = "stable" if self.stable else f"unstable ({self.unstable} growing)"
        return doubted(f"equilibrium at {self.parameter} = {self.value:.10g}: {how}", self.checks)

    def _verify(self) -> Iterator[Check]:
        return at_points([self])


@answering
@dataclass(frozen=True, eq=False, repr=False)
class SpecialPoint(EquilibriumPoint, OfKind):
    """A located special point: ``kind`` is fold, branch point, hopf or divergence, or one of the last three with
    ``multiple`` before it, where several eigenvalues (or pairs) cross together, ``multiplicity`` in number; zero-hopf
    where a pair crosses while another eigenvalue passes zero, bogdanov-takens where two are zero together at a fold.

    ``coefficient`` is that of the normal form: a of a fold (ẇ = a w²), l1 of a Hopf point; NaN elsewhere. ``hopf`` is
    the Hopf point as ``case.hopf`` gives it, if a parameter and not a family was followed.
    """

    kind: str
    multiplicity: int = 1

    @cached_property
    def _form(self) -> SpecialForm:
        return form_of(self.problem, self.spot, self.kind, self.multiplicity)

    @property
    def coefficient(self) -> float:
        return self._form.coefficient

    @property
    def omega(self) -> float:
        return self._form.omega

    @property
    def hopf(self) -> Hopf | None:
        return self._form.hopf

    @property
    def note(self) -> str:
        """Further remarks on the point, in words."""
        return self._form.note

    @property
    def status(self) -> str:
        value = self.value if abs(self.value) > ROUNDING * self.equations.sizes[-1] else 0.0
        text = f"{self.kind} at {self.parameter} = {value:.12g}"
        if np.isfinite(self.omega):
            text += f", ω = {self.omega:.8g}"
        letter = "a" if self.kind == Kind.FOLD else "l1" if self.kind == Kind.HOPF else ""
        text += f", {letter} = {self.coefficient:.6g}" if np.isfinite(self.coefficient) else ""
        return doubted(text + (f": {self.note}" if self.note else ""), self.checks)

    def _verify(self) -> Iterator[Check]:
        yield from super()._verify()
        yield from of_special(self)

    @one_thread
    def switch(
        self,
        to: float,
        *,
        way: int = 1,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Progress | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> EquilibriumBranch:
        """The branch that crosses here, until the parameter is ``to``.

        Of its two arms this is the one along which the parameter at first moves towards ``to``, if one does so;
        ``way=-1`` takes the other.
        """
        if self.kind == MULTIPLE + Kind.BRANCH_POINT:
            raise NoBifurcationError(
                f"more than two branches meet at {self.parameter} = {self.value:.10g}, where {self.multiplicity} "
                "eigenvalues pass zero: give one of them a start of its own, case.branch(…, start={…})"
            )
        if self.kind != Kind.BRANCH_POINT:
            raise NoBifurcationError(
                f"one branch only passes the {self.kind} at {self.parameter} = {self.value:.10g}: switch at a branch "
                "point"
            )
        course, way = Course.asked(to, step, points, bounds, progress, self.parameter, events), checked_way(way)
        course.limits(self.case.system, self.parameter, self.value)
        problem = in_units(self, course.to)
        first = way_off(self, problem, course.to, way)
        limits = course.limits(self.case.system, self.parameter, problem.value(first))
        return self._followed(problem, first, course, limits)

    def _followed(self, problem: Any, first: Spot, course: Course, limits: Limits) -> EquilibriumBranch:
        return EquilibriumBranch.gathered(problem, first, course, limits)

    def curve(
        self,
        name: str,
        to: float,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Any], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> Curve:
        """The curve of such folds, branch points or Hopf points in this parameter and another one, until that is
        ``to``."""
        return doors.curves.curve_of_special(self, name, Course.asked(to, step, points, bounds, progress, name, events))


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class EquilibriumBranch(RestTrail[EquilibriumPoint, SpecialPoint], Branch[EquilibriumPoint, SpecialPoint]):
    """Equilibria along a branch. ``branch[i]`` is one of them, ``special`` lists the located points, ``ended`` is the
    ending."""

    _point = staticmethod(EquilibriumPoint)

    @staticmethod
    def _special(problem: Rests, event: Event) -> SpecialPoint:
        return described(problem, event)

    @property
    def of(self) -> str:
        return "equilibria"

    @property
    def parameter(self) -> str:
        return self.parameters[0]

    @property
    def status(self) -> str:
        start = f"{self.parameter} = {self[0].value:.8g}"
        return doubted(f"{len(self)} equilibria from {start}, {self.counted}; {self.ended}", self.checks)

    def _verify(self) -> Iterator[Check]:
        yield from at_points(self.points)
        yield from (check for special in self.special for check in special.checks if not check.passed)

    @classmethod
    def gathered(cls, *of: Any, **how: Any) -> Self:
        return verified(super().gathered(*of, **how))

    def at(self, value: float) -> tuple[EquilibriumPoint, ...]:
        """The equilibria at a value of the parameter, in their order along the branch: several where it folds."""
        value = number_from(self.parameter, value)
        known = with_turns(self.points, self.special, self.places)
        closed = self.ended.reason is Reason.CLOSED  # its last point is the first one again
        found = [known[0]] if known[0].value == value and not closed else []
        for a, b in pairwise(known):
            if b.value == value:
                found.append(b)
            elif (a.value - value) * (b.value - value) < 0:
                place = Engine[Spot](b.problem).located(a.spot, b.spot, lambda spot: float(spot.z[-1]) - value)
                if place is None:
                    raise ConvergenceError(f"no equilibrium was found at {self.parameter} = {value:g}: step less")
                found.append(self._point(b.problem, place[1]))
        if not found and self.ended.bound == value:
            found.append(known[-1])
        if not found:
            low, high = min(each.value for each in known), max(each.value for each in known)
            raise ParameterError(
                f"the branch has no equilibrium at {self.parameter} = {value:g}: it runs from {low:g} to {high:g}"
            )
        return tuple(found)

    def spectra(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the parameter, at the points and between them, and the eigenvalues there; dense where two meet."""
        return doors.eigenvalue_paths.eigenvalues_along(self)

    def plot(self, state: str | None = None) -> Figure:
        """States against the parameter: solid where stable, dashed elsewhere, special points labelled."""
        states = self.points[0].equations.flow.states
        if state is not None:
            state = one_of(states, state, "no state")
        return doors.draw.draw_equilibria_branch(self, state)


@one_thread
def follow_equilibria(
    case: Bound, name: str, start: Any, course: Course, fixed: Mapping[str, float]
) -> EquilibriumBranch:
    """The branch through an equilibrium of a case, towards a value of a parameter or of a family coordinate."""
    fixed = {each: number_from(each, value) for each, value in fixed.items()}
    sparse = sparse_start(case, name, course.to, start, fixed)
    at: Any
    at, z = sparse or start_equations(case, name, course.to, start, fixed)
    limits = course.limits(case.system, name, float(z[-1]))
    problem = SparseRests(at.measured(z), 0) if sparse else _with_undamped(at.measured(z), z, course.to)
    return EquilibriumBranch.gathered(problem, problem.start(z, course.to - z[-1]), course, limits, fresh=True)


def _with_undamped(at: RestEquations, z: np.ndarray, to: float) -> Rests:
    """The problem with the numbers of undamped modes and of eigenvalues that are rounding, both here and farther on."""
    problem = Rests(at, 0)

    def vanishing(z: np.ndarray) -> tuple[int, int]:
        values = problem.spectrum_at(z)
        return always_zero(values), int((np.abs(values) <= floor(values)).sum())

    here = vanishing(z)
    if not any(here):
        return problem
    try:
        start = problem.start(z, to - z[-1])
        there = problem.corrected(problem.moved(start, PROBED), start)
    except FAILURES:  # the branch itself will say why
        there = z
    return Rests(at, *map(min, here, vanishing(there)))


def described(problem: Rests, event: Event) -> SpecialPoint:
    """A special point; its normal form is computed on demand."""
    spot, many = event.point, event.detail if event.several else 1
    if event.kind == Kind.BRANCH_POINT:
        spot = replace(spot, z=problem.polished(spot.z))
    return SpecialPoint(problem, spot, str(event.kind), many)
