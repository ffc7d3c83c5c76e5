"""Branches of equilibria of large sparse flows: folds, branch points and Hopf points by a few eigenvalues.

Folds are found as always, where the parameter turns. The rightmost eigenvalues are known, the growing ones among them:
where their number changes, the real part of the next in order passes zero, at a Hopf point or, if it is real and the
branch does not fold, at a branch point. Where too many eigenvalues are needed to be sure of all that grow, branch
points are also located where the bordered Jacobian changes the sign of its determinant, by sparse factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, entries, in_units, with_rows
from pfaff.algebra.tolerances import REAL
from pfaff.bifurcation.equilibria.eigenvalues import Rates, unstable
from pfaff.bifurcation.equilibria.many_states.sparse_branch_points import sparse_polished
from pfaff.bifurcation.equilibria.many_states.sparse_crossings import TOGETHER, crossings
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations
from pfaff.bifurcation.equilibria.special_points import Facts, Rests, turns_between
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import MULTIPLE, Kind
from pfaff.continuation.problem import Asked, Event, Missed
from pfaff.continuation.sparse import SparseImplicit
from pfaff.stability.rightmost import FEWEST, Rightmost, rightmost
from pfaff.threads import known_property

OF_ZERO = (
    Kind.BRANCH_POINT,
    Kind.DIVERGENCE,
)  # what an eigenvalue that passes zero may mean but for a fold
REACH = 2.0  # distance from the imaginary axis, relative to the move of an eigenvalue in a step, that is near


@dataclass(frozen=True, eq=False)
class SparseFacts(Facts):
    """What is known about a point of a branch, for the rightmost eigenvalues only."""

    problem: SparseRests
    jacobian: sparse.csc_array

    @known_property
    def _rightmost(self) -> Rightmost:
        return rightmost(self.matrix, self.problem.expected)

    @property
    def matrix(self) -> sparse.csc_array:
        """The matrix that has these eigenvalues."""
        return self.jacobian[:, : self.problem.equations.n]

    def eigenpair(self, value: complex) -> tuple[complex, np.ndarray]:
        """The eigenvalue that is nearest to a number, and its vector."""
        return self._rightmost.nearest(value)

    @property
    def complete(self) -> bool:
        """Whether all eigenvalues that grow are known."""
        return self._rightmost.complete

    @known_property
    def eigenvalues(self) -> np.ndarray:
        return self._rightmost.values

    @property
    def decisive(self) -> np.ndarray:
        """Values that pass zero, or the imaginary axis, where stability changes, in the order of ``slopes``."""
        return self.eigenvalues

    @known_property
    def slopes(self) -> np.ndarray:
        s, found = self.problem.equations, self._rightmost
        change, V = s.bending(self.z, self.tangent)[:, : s.n], found.vectors
        W = found.left_vectors(self.matrix)
        return np.sum(W * (change @ V), axis=0) / np.sum(W * V, axis=0)

    @known_property
    def singular(self) -> float:
        """A number that passes zero with the determinant of the Jacobian bordered by the tangent."""
        sizes = self.problem.equations.sizes
        try:
            factors = Factors(with_rows(in_units(self.jacobian, sizes), (self.tangent / sizes)[None]), 1)
            sense, vector = factors.sign, factors.solve(self.problem.probe)
        except np.linalg.LinAlgError:
            return 0.0
        return sense / float(np.linalg.norm(vector))


@dataclass(frozen=True, eq=False)
class SparseRests(SparseImplicit, Rests):
    """Equilibria along one free parameter; ``expected`` eigenvalues are computed at first, and branch points are looked
    for ``by_determinant`` where not all that grow are known."""

    equations: SparseRestEquations
    expected: int = FEWEST
    by_determinant: bool = True

    def inspected(self, z: np.ndarray, tangent: np.ndarray, J: sparse.csc_array) -> SparseFacts:
        if not np.isfinite(entries(J)).all():
            raise Refused("the equations are not finite")
        return SparseFacts(self, z, tangent, J)

    @known_property
    def probe(self) -> np.ndarray:
        """A random vector: no vector is orthogonal to it by accident."""
        return np.random.default_rng(1949).uniform(-1, 1, self.equations.n + 1)

    def renewed(self, point: Spot) -> tuple[Any, Spot]:
        facts = point.facts
        problem = replace(self, expected=len(facts.eigenvalues), by_determinant=not facts.complete)
        return problem.rebased(point.z), point

    def tests(self, point: Spot) -> Asked:
        facts = point.facts
        singular: dict[str, Any] = {Kind.BRANCH_POINT: lambda: facts.singular} if self.by_determinant else {}
        return Asked({Kind.FOLD: lambda: facts.turning, **singular})

    def hides(self, a: Spot, b: Spot, length: float) -> bool:
        """Whether a step hides two folds, a growth rate that comes and goes, or one that comes as another goes."""
        first, last, unit = a.facts, b.facts, self.equations.sizes[-1] * length
        rounding = np.spacing(max(abs(a.z[-1]), abs(b.z[-1]))) / unit
        if turns_between(first.turning, last.turning, (b.z[-1] - a.z[-1]) / unit, rounding):
            return True
        rates = _near_axis(first, last, length)
        changes = abs(unstable(last.decisive) - unstable(first.decisive))
        return int(rates.crossed(beyond=False).sum()) > changes or rates.hide()

    def missed(self, a: Spot, b: Spot, found: Any) -> Missed | None:
        return None  # crossings are counted below, simultaneous ones too

    def events(self, engine: Any, a: Spot, b: Spot, length: float, last: bool) -> list[Event]:
        """Folds, and the events of eigenvalues that cross elsewhere."""
        found, chord = engine.events(a, b), (b.z - a.z) / a.units**2
        told = [self._crossed(spot, many) for spot, many in crossings(engine, a, b)]
        crossed = [event for event in told if event is not None]

        def here(event: Event, others: Sequence[Event]) -> bool:
            return any(
                abs(chord @ (event.point.z - each.point.z)) < TOGETHER * (chord @ (b.z - a.z)) for each in others
            )

        if a.facts.complete and b.facts.complete:
            found = [event for event in found if event.kind != Kind.BRANCH_POINT]
        several = [event for event in crossed if event.kind == MULTIPLE + Kind.BRANCH_POINT]
        found = [event for event in found if not here(event, several)]
        crossed = [event for event in crossed if event.kind not in OF_ZERO or not here(event, found)]
        if length > self.pace.resolved and not all(self._crossing(e) for e in crossed if e.kind == Kind.BRANCH_POINT):
            raise Refused("two branches pass each other, and the step may lead from one to the other")
        return self.through(sorted([*found, *crossed], key=lambda event: float(chord @ event.point.z)), a, b)

    def _crossing(self, event: Event) -> bool:
        """Whether branches cross at what seems to be a branch point."""
        return sparse_polished(self.equations, event.point.z)[1]

    def _crossed(self, spot: Spot, many: int) -> Event | None:
        """The event of ``many`` eigenvalues that cross the imaginary axis at one place."""
        values = spot.facts.decisive
        nearest = values[np.argsort(np.abs(values.real))[:many]]
        pairs = nearest[nearest.imag > REAL * np.abs(nearest)]
        if len(pairs) == 1:
            return Event(Kind.HOPF, spot)
        if len(pairs):
            return Event(MULTIPLE + Kind.HOPF, spot, detail=len(pairs))
        return Event(Kind.BRANCH_POINT, spot) if many == 1 else Event(MULTIPLE + Kind.BRANCH_POINT, spot, detail=many)

    def _curvature(self, spot: Spot) -> float:
        s, t = self.equations, spot.tangent
        bent = s.bending(spot.z, t) @ t
        try:
            return float(self.across(s.jacobian(spot.z), t / s.sizes**2, s.sizes).solve(np.append(-bent, 0.0))[-1])
        except np.linalg.LinAlgError:
            return 0.0

    def polished(self, z: np.ndarray) -> np.ndarray:
        return sparse_polished(self.equations, z)[0]


def _near_axis(first: SparseFacts, last: SparseFacts, length: float) -> Rates:
    """Growth rates of the eigenvalues that may reach the imaginary axis in a step."""
    whole = Rates.between(first.decisive, first.slopes, last.decisive, last.slopes, length)
    near = (np.abs(whole.a) <= REACH * np.abs(whole.da)) | (np.abs(whole.b) <= REACH * np.abs(whole.db))
    near |= whole.a * whole.b <= 0
    return whole.only(near)
