"""Folds and Hopf points of large sparse flows in two parameters, as problems of continuation.

The equations are those of ``singular`` and ``hopfs``; singular matrices are bordered and factorised as sparse ones. The
critical plane is found by inverse iteration about its own eigenvalues: A² would be full, and lose digits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, bordered, in_units, null_vectors, shifted, with_rows
from pfaff.algebra.tolerances import REAL
from pfaff.bifurcation.curves.hopfs import ASIDE, HopfFacts, Hopfs, invariants, plane_about
from pfaff.bifurcation.curves.singular import NO_DEFLATION, CurveFacts, FoldFacts, Folds, Singular
from pfaff.bifurcation.equilibria.many_states.sparse_crossings import crossings
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseNull, SparseRestEquations
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.zero_forms import takens_coefficients
from pfaff.bifurcation.hopf.sparse_hopf import sparse_normal_form
from pfaff.continuation.dense import Spot
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import Asked, Event
from pfaff.continuation.sparse import SparseImplicit
from pfaff.errors import NoBifurcationError
from pfaff.stability.rightmost import Rightmost, rightmost
from pfaff.threads import known_property

NEAR = 1e-3  # largest distance of related events from a Bogdanov–Takens point, relative to the step


class SparseSingular(SparseImplicit, Singular):
    """What both share: one dense row, the gradient of g, below a sparse Jacobian."""

    equations: SparseRestEquations
    dense = 1

    @classmethod
    def at(cls, s: RestEquations, z: np.ndarray) -> Any:
        """The problem with borders found at a point."""
        return cls(s, NO_DEFLATION, np.zeros(0), np.zeros(0)).with_borders(z)

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, Any]:
        F, J = self.equations.evaluated(z)
        g, gradient = self.singularity(z, J)
        return np.append(F, g), with_rows(J, gradient[None])

    def bent(self, z: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        s, free = self.equations, np.zeros(len(z) - self.equations.n)
        return sum((s.bent(z, w, np.append(v, free)) for w, v in zip(left.T, right.T, strict=True)), np.zeros(len(z)))

    def defect(self, z: np.ndarray) -> float:
        J = self.equations.jacobian(z)
        return abs(self.singularity(z, J)[0]) / float(np.linalg.norm(J.data))

    def _takens(self, z: np.ndarray) -> dict[str, float]:
        a, b = takens_coefficients(self.equations.across(z), self.equations.form(z))
        return {"a": a, "b": b}

    def events(self, engine: Any, a: Spot, b: Spot, length: float, last: bool) -> list[Event]:
        """Events, also where other than the critical eigenvalues cross the imaginary axis."""
        found, chord = engine.events(a, b), (b.z - a.z) / a.units**2
        passed = [self._passed(spot) for spot, _ in crossings(engine, a, b, lambda spot: spot.facts.others)]
        # Another zero at a double one is no event.
        double = [event.point.z for event in found if event.kind == Kind.BOGDANOV_TAKENS]
        near = NEAR * float(chord @ (b.z - a.z))
        alone = [each for each in passed if each and not any(abs(chord @ (each.point.z - z)) < near for z in double)]
        return sorted([*found, *alone], key=lambda event: float(chord @ event.point.z))

    def _passed(self, spot: Spot) -> Event | None:
        """The event at a point where the next of the other eigenvalues is on the imaginary axis."""
        raise NotImplementedError


class RightmostFacts(CurveFacts):
    """What is known about a point; ``eigenvalues`` are the rightmost ones."""

    @known_property
    def matrix(self) -> sparse.csc_array:
        return self.problem.equations.state_jacobian(self.z)

    @known_property
    def _rightmost(self) -> Rightmost:
        return rightmost(self.matrix)

    @known_property
    def eigenvalues(self) -> np.ndarray:
        return self._rightmost.values

    def eigenpair(self, value: complex) -> tuple[complex, np.ndarray]:
        """The eigenvalue that is nearest to a number, and its vector."""
        return self._rightmost.nearest(value)


class SparseFoldFacts(RightmostFacts, FoldFacts):
    """What is known about a fold."""


class SparseFolds(SparseSingular, Folds):
    """N is the Jacobian."""

    def _bordered(self, N: sparse.csc_array) -> tuple[np.ndarray, np.ndarray, float]:
        around, unit = bordered(N, self.b[:, None], self.c[None]), np.append(np.zeros(N.shape[0]), 1.0)
        v, w = around.solve(unit), around.solve(unit, transposed=True)
        return v[:-1], w[:-1], float(v[-1])

    def singularity(self, z: np.ndarray, J: sparse.csc_array) -> tuple[float, np.ndarray]:
        v, w, g = self._bordered(J[:, : self.equations.n])
        return g, -self.bent(z, w[:, None], v[:, None])

    def _matrix(self, z: np.ndarray) -> sparse.csc_array:
        return self.equations.state_jacobian(z)

    def with_borders(self, z: np.ndarray) -> Any:
        right, left = null_vectors(self._matrix(z))
        return replace(self, b=left, c=right)

    def null(self, z: np.ndarray) -> SparseNull:
        v, w, _ = self._bordered(self._matrix(z))
        return SparseNull(self._matrix(z), v / np.linalg.norm(v), w / np.linalg.norm(w), len(v))

    def inspected(self, z: np.ndarray, tangent: np.ndarray, J: Any) -> SparseFoldFacts:
        return SparseFoldFacts(self, z)

    def overlap(self, z: np.ndarray, null: SparseNull) -> float:  # type: ignore[override]
        return null.overlap * null.sense

    def tests(self, point: Spot) -> Asked:
        facts = point.facts
        return Asked({Kind.CUSP: lambda: facts.coefficient, Kind.BOGDANOV_TAKENS: lambda: facts.overlap})

    def _passed(self, spot: Spot) -> Event | None:
        values = spot.facts.others
        nearest = values[np.abs(values.real).argmin()]
        if abs(nearest.imag) <= REAL * abs(nearest):
            return None  # another zero: a Bogdanov–Takens point, which has a test of its own
        return Event(Kind.ZERO_HOPF, spot, detail={"omega": abs(float(nearest.imag))})


class SparseHopfFacts(RightmostFacts, HopfFacts):
    """What is known about a Hopf point."""


class SparseHopfs(SparseSingular, Hopfs):
    """b and c are bases of the critical plane of Jᵀ and J, in units of the states."""

    def singularity(self, z: np.ndarray, J: sparse.csc_array) -> tuple[float, np.ndarray]:
        s = self.equations
        V, W, T = self._plane(self._matrix(J[:, : s.n]))
        dual, units = np.linalg.solve(W.T @ V, W.T).T, s.sizes[: s.n, None]
        return invariants(T)[0] / 2, self.bent(z, dual / units, V * units) / 2

    def _matrix(self, J: sparse.csc_array) -> sparse.csc_array:
        units = self.equations.sizes[: self.equations.n]
        return in_units(J, units, units)

    def _plane(self, A: sparse.csc_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return plane_about(A, self.c, self.b, lambda shift: Factors(shifted(A, shift)).solve)

    def with_borders(self, z: np.ndarray) -> Any:
        """The problem with the critical planes of the pair nearest to the imaginary axis."""
        A = self._matrix(self.equations.state_jacobian(z))
        values = rightmost(A).values
        pairs = values[values.imag > REAL * np.abs(values)]
        if not len(pairs):
            raise NoBifurcationError("no pair of eigenvalues oscillates here, so that no curve of Hopf points starts")
        q, p = null_vectors(shifted(A, pairs[np.abs(pairs.real).argmin()]))
        c, b = (np.linalg.qr(np.column_stack([each.real, each.imag]))[0] for each in (q, p))
        return replace(self, b=b, c=c)

    def inspected(self, z: np.ndarray, tangent: np.ndarray, J: Any) -> SparseHopfFacts:
        return SparseHopfFacts(self, z)

    def normal_form(self, z: np.ndarray, square: float) -> Any:
        return sparse_normal_form(self.equations, z, float(np.sqrt(square)))

    def tests(self, point: Spot) -> Asked:
        facts = point.facts
        return Asked({Kind.BOGDANOV_TAKENS: lambda: facts.square, Kind.GENERALISED_HOPF: lambda: facts.coefficient})

    def _passed(self, spot: Spot) -> Event | None:
        values, square = spot.facts.others, spot.facts.square
        if square <= 0:
            return None
        nearest = values[np.abs(values.real).argmin()]
        found = {"omega": float(np.sqrt(square))}
        if abs(nearest.imag) <= REAL * abs(nearest) or abs(nearest) < ASIDE * found["omega"]:
            return Event(Kind.ZERO_HOPF, spot, detail=found)
        return Event(Kind.DOUBLE_HOPF, spot, detail=found | {"omega2": abs(float(nearest.imag))})
