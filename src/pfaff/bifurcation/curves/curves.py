"""Curves of folds and of Hopf points in two parameters, with the points of codimension two on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pfaff import doors
from pfaff.algebra.one_thread import one_thread
from pfaff.algebra.structural_zeros import Deflation, zero_chain
from pfaff.bifurcation.curves.branchings import BranchPoints
from pfaff.bifurcation.curves.hopfs import Hopfs
from pfaff.bifurcation.curves.singular import Folds, Singular
from pfaff.bifurcation.curves.sparse_singular import SparseFolds, SparseHopfs
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations, sparse_about
from pfaff.bifurcation.equilibria.rest_equations import RestEquations, equations_about
from pfaff.bifurcation.equilibria.rest_points import RestPoint, RestTrail
from pfaff.bifurcation.equilibria.verified_points import SOME, left_over, relative_size
from pfaff.bifurcation.equilibria.zero_forms import (
    fold_coefficient,
)
from pfaff.bifurcation.hopf.criticality import Criticality
from pfaff.bifurcation.hopf.extended import hopf_near, hopf_of
from pfaff.bifurcation.hopf.sparse_hopf import SparseExpansion, sparse_hopf
from pfaff.bifurcation.hopf.verdicts import criticality_of
from pfaff.checks import Check, doubted
from pfaff.checks.branch_promises import at_rest, on_axis, singular
from pfaff.continuation.course import POINTS, STEP, Bounds, Course, checked_way
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind, OfKind
from pfaff.continuation.problem import Event
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.statement.told import answering, shown_in_notebooks
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.equilibria.branches import SpecialPoint
    from pfaff.bifurcation.hopf.hopf import Hopf

NAN = float("nan")
BESIDE = 1e-3  # change of the critical eigenvalue over a search, relative to ω, that is too small to set a scale


@dataclass(frozen=True, eq=False, repr=False)
class CurvePoint(RestPoint):
    """A fold or Hopf point of a curve: ``value`` is that of the second parameter, ``values`` are both."""

    @property
    def omega(self) -> float:
        """The frequency at a Hopf point, zero at a fold."""
        return float(np.sqrt(max(self.spot.facts.square, 0.0)))

    @cached_property
    def coefficient(self) -> float:
        """l1 of a Hopf point, a of a fold where an eigenvalue is zero or of a branch point, c of a pitchfork."""
        if self.spot.facts.pitchfork:
            return self.spot.facts.coefficient
        if isinstance(self.problem, Folds):
            known = np.isfinite(self.spot.facts.overlap)
            return (
                fold_coefficient(self.equations.across(self.spot.z), self.equations.form(self.spot.z)) if known else NAN
            )
        return self.spot.facts.coefficient / self.omega if self.omega else NAN

    @property
    def criticality(self) -> Criticality:
        """What is born at a Hopf point; nothing at a fold, a neutral saddle, or where there is no l1."""
        third = getattr(self.spot.facts, "third", None)
        return Criticality.NOTHING if third is None else criticality_of(third)

    @property
    def attracts(self) -> bool:
        """Whether the cycles born at a Hopf point attract, other modes left aside; so said where there is no l1."""
        return not self.criticality.l1_tells or self.spot.facts.third.attracts

    @cached_property
    def hopf(self) -> Hopf:
        """A Hopf point of the curve as ``case.hopf`` gives it, from which cycles are followed."""
        if isinstance(self.problem, Folds) or not self.omega:
            raise NoBifurcationError(f"a {self._what} at which no cycles are born: take a Hopf point")
        return hopf_of_point(self.equations, self.spot.z, self.omega)

    @property
    def status(self) -> str:
        where = ", ".join(f"{name} = {value:.12g}" for name, value in self.values.items())
        return doubted(f"{self._what} at {where}", self.checks)

    def _verify(self) -> Iterator[Check]:
        yield at_rest([left_over(self)])
        s, z = self.equations, self.spot.z
        if self.omega:
            J = s.state_jacobian(z)
            yield on_axis(self.spot.facts.eigenvalues, self.omega, None if sparse.issparse(J) else J)
        elif not (sparse.issparse(J := s.jacobian(z)) or isinstance(self.problem, Hopfs)):
            N = s.n + s.k
            yield singular(relative_size(J[:, :N] * s.sizes[:N], s.row_sizes(z)), "the Jacobian")

    @property
    def _what(self) -> str:
        kind, letter = ("pitchfork", "c") if self.spot.facts.pitchfork else self.problem.words[:2]
        told = self.criticality.family
        return f"{kind} ({letter} = {self.coefficient:.6g}{f'; {told}' if told else ''})"


@answering
@dataclass(frozen=True, eq=False, repr=False)
class CurveSpecial(CurvePoint, OfKind):
    """A point of codimension two; ``coefficients`` are those of its normal form, by name.

    ``kind`` is generalised hopf, bogdanov-takens, zero-hopf, double hopf or cusp; on curves of branch points pitchfork,
    where their quadratic coefficient vanishes, and degenerate pitchfork, where the cubic one does.
    """

    kind: str
    detail: Any  # the coefficients, or what computes them on demand

    @cached_property
    def coefficients(self) -> dict[str, float]:
        return self.detail() if callable(self.detail) else self.detail or {}

    def switch(
        self,
        of: str,
        to: float,
        *,
        way: int = 1,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Any], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> Any:
        """The curve of another kind that starts here, until the second parameter is ``to``.

        ``of`` is "hopf", "fold" or "homoclinic" at a Bogdanov–Takens point, "hopf", "fold" or "torus" at a zero-Hopf
        point, "hopf" (of the other pair) or "torus" at a double Hopf point, "fold of cycles" at a generalised one. From
        a double Hopf point two curves of tori may lead the same way, on the cycles of either pair: ``way=-1`` takes the
        other one.
        """
        course = Course.asked(to, step, points, bounds, progress, self.equations.free[-1], events)
        return doors.switching.switched(self, of, course, checked_way(way))

    @property
    def _what(self) -> str:
        known = ", ".join(f"{name} = {value:.6g}" for name, value in self.coefficients.items())
        return f"{self.kind} ({known})" if known else self.kind


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class Curve(RestTrail[CurvePoint, CurveSpecial]):
    """Hopf points, folds or branch points in two parameters; ``special`` lists the points of codimension two."""

    _point = staticmethod(CurvePoint)

    @staticmethod
    def _special(problem: Any, event: Event) -> CurveSpecial:
        return CurveSpecial(problem, event.point, str(event.kind), event.detail)

    @property
    def of(self) -> str:
        pitchforks = all(point.spot.facts.pitchfork for point in self.points)
        return "pitchforks" if pitchforks else self.points[0].problem.words[2]

    @property
    def status(self) -> str:
        words = f"{len(self)} {self.of} in ({', '.join(self.parameters)}), {self.counted}; {self.ended}"
        return doubted(words, self.checks)

    def _verify(self) -> Iterator[Check]:
        some = [self.points[k] for k in range(0, len(self), max(1, len(self) // SOME))]
        yield at_rest(map(left_over, some))
        yield from (check for each in some for check in each.checks if not check.passed)

    def plot(self) -> Figure:
        """The curve in the plane of its parameters: solid where cycles are born stable, special points labelled."""
        return doors.draw.draw_curve(self)


def curve_of_hopf(hopf: Hopf, name: str, course: Course) -> Curve:
    """The curve from a Hopf point, with a second parameter freed."""
    around = hopf.around
    if isinstance(hopf.expansion, SparseExpansion):
        return _curve(
            SparseHopfs, *sparse_about(hopf.case, around.flow, hopf.load, hopf.x, _searched(hopf)), name, course
        )
    zeros = zero_chain(around.jacobian(hopf.x, hopf.value), around.zeros)
    held = [around.flow.states[j] for j in around.held]
    s, z = equations_about(hopf.case, around.flow, (hopf.load,), hopf.x, (_searched(hopf),), held, zeros)
    return _curve(Hopfs, s, z, name, course)


def _searched(hopf: Hopf) -> float:
    """How far the load was followed to a Hopf point; if that is too short, the change that would turn λ by the size of
    iω."""
    apart = abs(hopf.value - hopf.origin)
    return apart if apart * abs(hopf.crossing) > BESIDE * hopf.omega else hopf.omega / abs(hopf.crossing)


def hopf_of_point(s: RestEquations, z: np.ndarray, omega: float, by: int = 0) -> Hopf:
    """The Hopf point at z in two parameters, one of which is its load: for sparse equations the first."""
    if isinstance(s, SparseRestEquations):
        return sparse_hopf(s, z, omega, float(z[s.n]))
    around, border, load = replace(s.field(z), load=s.free[by]), s.border(z), s.free_values(z)[s.free[by]]

    def spectrum(x: np.ndarray, load: float) -> np.ndarray:
        J = around.jacobian(x, load)
        return np.linalg.eigvals(Deflation.about(J, s.zeros)(J))

    x, load, omega = hopf_near(around, border, s.x(z), load, 1j * omega)
    asked = {"load": around.load, "near": load}
    return hopf_of(s.case_at(z), around, border, x, load, omega, spectrum, load, asked)


def curve_of_special(special: SpecialPoint, name: str, course: Course) -> Curve:
    """The curve from a fold, branch point or Hopf point of a branch, with a second parameter freed."""
    s = special.equations
    kinds = {"fold": "folds", "hopf": "hopf", "branch point": "branch points"}
    problem = curve_problems(s).get(kinds.get(special.kind, ""))
    if problem is None or not s.parameters:
        raise NoBifurcationError(
            f"no curve starts from a {special.kind} along {special.parameter}: take a fold, a branch point or a "
            "Hopf point of a branch in a parameter"
            + (", or of large sparse equations one of the other two" if special.kind == Kind.BRANCH_POINT else "")
        )
    s = replace(s, case=special.case)
    return _curve(problem, s, special.spot.z, name, course)


def curve_problems(s: RestEquations) -> dict[str, type[Singular]]:
    """Problems that are followed in two parameters, by their names in files."""
    if isinstance(s, SparseRestEquations):
        return {"folds": SparseFolds, "hopf": SparseHopfs}
    return {"folds": Folds, "hopf": Hopfs, "branch points": BranchPoints}


@one_thread
def _curve(kind: type[Singular], s: RestEquations, z: np.ndarray, name: str, course: Course) -> Curve:
    """The curve from a singular equilibrium."""
    system = s.case.system
    name = system.parameter(name).name
    if name in s.free:
        raise ParameterError(f"{name} is the parameter that places the point: name another one for the curve")
    other = float(s.case.numbers[system.parameter_names.index(name)])
    limits = course.limits(system, name, other)
    s, z = s.freed(name, other, limits.span, z)
    singular = kind.at(s, z)
    try:
        start = singular.solved(z, np.eye(len(z))[-1])
    except Refused as why:
        raise ConvergenceError(f"the curve cannot start at {name} = {other:g}: {why}") from why
    first = singular.start(start, course.to - other)
    if isinstance(singular, BranchPoints) and not singular.persists(first):
        raise NoBifurcationError(
            f"the branches come apart as {name} changes: nothing, such as a symmetry, keeps their branch point. "
            "Take the folds beside it"
        )
    return Curve.gathered(singular, first, course, limits)
