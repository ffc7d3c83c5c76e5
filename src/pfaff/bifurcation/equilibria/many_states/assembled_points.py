"""Branches of assemblies at rest: folds, branch points and Hopf points by the modes that are watched.

Folds are where the load turns, branch points where the bordered Jacobian changes the sign of its determinant, as with
any sparse flow. The eigenvalues are those of the multiplier pencil about a shift beside the origin: where one passes
zero and the branch goes straight on, as it may on a family of equilibria, that is a divergence. Where nothing depends
on the velocities their squares are watched: pairs stay on the imaginary axis, and no Hopf point is met.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import entries
from pfaff.bifurcation.equilibria.many_states.assembled_equations import AssembledEquations
from pfaff.bifurcation.equilibria.many_states.sparse_points import SparseFacts, SparseRests
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import MULTIPLE, Kind, kind_of
from pfaff.continuation.problem import Event
from pfaff.stability.watched_modes import Watched, natural_shift, watched
from pfaff.threads import known_property

ON_AXIS = 1e-5  # distance from the imaginary axis, relative to the eigenvalue or the shift, of what is located on it
ASIDE = 1e-3  # distance, in units, at which it is checked whether anything depends on the velocities


@dataclass(frozen=True, eq=False)
class AssembledFacts(SparseFacts):
    """What is known about a point: the modes that are watched."""

    problem: AssembledRests

    @known_property
    def _watched(self) -> Watched:
        p = self.problem
        return watched(p.equations.linearisation(self.z), p.reversible, p.shift, p.expected)

    complete = False
    matrix = None  # the eigenvalues are those of a pencil, and none is followed by itself

    @property
    def frequency(self) -> float:
        """The frequency up to which all pairs that cross the imaginary axis are known."""
        return self._watched.frequency

    @known_property
    def eigenvalues(self) -> np.ndarray:
        return self._watched.eigenvalues

    @property
    def _told(self) -> np.ndarray:
        """Which of the values decide about stability: for squares, the real ones."""
        values = self._watched.values
        return values.imag == 0 if self.problem.reversible else np.ones(len(values), dtype=bool)

    @known_property
    def decisive(self) -> np.ndarray:
        return self._watched.values[self._told]

    @known_property
    def slopes(self) -> np.ndarray:
        return self._watched.slopes(self.problem.equations.along(self.z, self.tangent))[self._told]


@dataclass(frozen=True, eq=False)
class AssembledRests(SparseRests):
    """Assemblies at rest along their load; ``modes`` eigenvalues are watched about a shift, or their squares where the
    assembly is ``reversible``."""

    equations: AssembledEquations
    reversible: bool = False
    shift: float = 1.0

    @classmethod
    def about(cls, s: AssembledEquations, z: np.ndarray, modes: int) -> AssembledRests:
        """The problem with the shift of an equilibrium, at which the kind of assembly is determined."""
        reversible = _reversible(s, z)
        shift = natural_shift(s.linearisation(z), reversible)
        return cls(s, 0, expected=modes if reversible else 2 * modes, reversible=reversible, shift=shift)

    def inspected(self, z: np.ndarray, tangent: np.ndarray, J: sparse.csc_array) -> AssembledFacts:
        if not np.isfinite(entries(J)).all():
            raise Refused("the equations are not finite")
        return AssembledFacts(self, z, tangent, J)

    def renewed(self, point: Spot) -> tuple[Any, Spot]:
        return self.rebased(point.z), point

    def _crossed(self, spot: Spot, many: int) -> Event | None:
        """The event at a crossing; None where a value merely enters or leaves the disc."""
        values = spot.facts.decisive
        nearest = values[np.argsort(np.abs(values.real))[:many]]
        if (np.abs(nearest.real) > ON_AXIS * np.maximum(np.abs(nearest), self.shift)).any():
            return None
        found = super()._crossed(spot, many)
        if found is None or not self.equations.family or kind_of(found.kind)[0] is not Kind.BRANCH_POINT:
            return found
        return replace(found, kind=MULTIPLE + Kind.DIVERGENCE if found.several else Kind.DIVERGENCE)


def _reversible(s: AssembledEquations, z: np.ndarray) -> bool:
    """Whether nothing depends on the velocities, at z and beside it."""
    aside = ASIDE * s.sizes * np.random.default_rng(1949).uniform(-1, 1, len(z))
    return all(s.linearisation(at).reversible for at in (z, z + aside))
