"""Hopf points in two parameters as a problem of continuation.

One scalar equation joins those of the equilibrium: half the trace of the Jacobian on its critical plane, the mean of
the two eigenvalues there. It and their product det J = ω² stay smooth through a Bogdanov–Takens point, beyond which the
eigenvalues are real, those of a neutral saddle. The plane is that of the point before, turned (Govaerts 2000, Sec.
4.4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from pfaff.algebra.structural_zeros import Deflation
from pfaff.algebra.tolerances import EPS, SETTLED
from pfaff.bifurcation.curves.singular import NAN, CurveFacts, Singular
from pfaff.bifurcation.equilibria.eigenvalues import bounded, imaginary, pairs
from pfaff.bifurcation.equilibria.regular import HOPFS
from pfaff.bifurcation.hopf.extended import normal_form_at
from pfaff.bifurcation.hopf.normal_form import VANISHES, Cubic, quintic
from pfaff.continuation.dense import Spot
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import Asked, Event
from pfaff.errors import PfaffError
from pfaff.threads import known_property

ASIDE = 1e-4  # distance from an eigenvalue at which A is factorised, relative to A on its critical plane
SQUARED = 1e-10  # rounding of A², relative to the square of A on its critical plane
TURNS = 12  # most iterations for a plane; once its trace and determinant settle, they err by the square of the change


class HopfFacts(CurveFacts):
    """What is known about a Hopf point or a neutral saddle."""

    @known_property
    def square(self) -> float:
        return self.problem.square(self.z)

    @known_property
    def others(self) -> np.ndarray:
        critical = np.sqrt(complex(-self.square))
        rest = np.delete(self.eigenvalues, np.abs(self.eigenvalues - critical).argmin())
        return np.delete(rest, np.abs(rest + critical).argmin())

    @known_property
    def third(self) -> Cubic | None:
        """The normal form to third order; None where there is none, as at a neutral saddle."""
        if self.square <= 0:
            return None
        try:
            return self.problem.normal_form(self.z, self.square)[1]
        except (PfaffError, np.linalg.LinAlgError):
            return None

    @known_property
    def coefficient(self) -> float:
        return NAN if self.third is None else self.third.c1.real


class Hopfs(Singular):
    """b and c are bases of the critical plane of Jᵀ and J."""

    words = "Hopf point", "l1", "Hopf points"
    kind = HOPFS
    numbers: ClassVar[Mapping[str, int]] = {
        "bogdanov-takens": 0,
        "zero-hopf": 1,
        "double hopf": 2,
        "generalised hopf": 3,
    }
    located_by_number = ("bogdanov-takens", "zero-hopf", "double hopf")
    passable = ("zero-hopf", "double hopf")

    def singularity(self, z: np.ndarray, J: np.ndarray) -> tuple[float, np.ndarray]:
        s = self.equations
        V, W, T = self._plane(self._matrix(J[: s.n, : s.n]))
        dual, units = np.linalg.solve(W.T @ V, W.T).T, s.sizes[: s.n, None]
        gradient = self._deflated_changes(z, dual, V) if s.zeros else self.bent(z, dual / units, V * units)
        return invariants(T)[0] / 2, gradient / 2

    def _deflated_changes(self, z: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """``bent`` for the Jacobian without its structural zeros."""
        s = self.equations
        (after, before), lengths = s.probes(z, np.diag(s.sizes))
        sides = ([self.deflate(side[:, : s.n, j]) for j in range(len(z))] for side in (after, before))
        changes = [np.sum(left * ((a - b) @ right)) for a, b in zip(*sides, strict=True)]
        return np.array(changes) / (2 * lengths) / s.sizes

    def _matrix(self, J: np.ndarray) -> np.ndarray:
        """∂f/∂x without its structural zeros, or in units of the states where there are none."""
        units = self.equations.sizes[: len(J)]
        return self.deflate(J) if self.equations.zeros else J * units / units[:, None]

    def _plane(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return critical_plane(A, self.c, self.b)

    def rebased(self, z: np.ndarray) -> Any:
        if self.equations.zeros:
            deflate = Deflation.about(self.equations.state_jacobian(z), self.equations.zeros)
            return replace(self, equations=self.equations.rebased(z), deflate=deflate).with_borders(z)
        V, W, _ = self._plane(self._matrix(self.equations.state_jacobian(z)))
        return replace(self, equations=self.equations.rebased(z), b=np.linalg.qr(W)[0], c=np.linalg.qr(V)[0])

    def with_borders(self, z: np.ndarray) -> Any:
        """The problem with the critical planes of the two eigenvalues whose sum is nearest to zero."""
        A = self._matrix(self.equations.state_jacobian(z))
        values, (i, j) = np.linalg.eigvals(A), pairs(len(A))
        least = np.abs(values[i] + values[j]).argmin()
        first, second = values[i[least]], values[j[least]]
        left, _, right = np.linalg.svd(_polynomial(A, (first + second).real, (first * second).real))
        return replace(self, b=left[:, -2:], c=right[-2:].T)

    def square(self, z: np.ndarray) -> float:
        """ω² = det J on the critical plane."""
        return invariants(self._plane(self._matrix(self.equations.state_jacobian(z)))[2])[1]

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> HopfFacts:
        return HopfFacts(self, z)

    def normal_form(self, z: np.ndarray, square: float) -> Any:
        s = self.equations
        return normal_form_at(s.field(z), s.x(z), s.free_values(z)[s.free[0]], float(np.sqrt(square)))

    def tests(self, point: Spot) -> Asked:
        facts = point.facts
        tests: dict[str, Any] = {
            Kind.BOGDANOV_TAKENS: lambda: facts.square,
            Kind.ZERO_HOPF: lambda: bounded(facts.zero),
            Kind.DOUBLE_HOPF: lambda: bounded(facts.hopf),
            Kind.GENERALISED_HOPF: lambda: facts.coefficient,
        }
        return Asked(tests)

    def event(self, name: str, point: Spot) -> Event | None:
        found: dict[str, Any] = {
            Kind.BOGDANOV_TAKENS: self._bogdanov_takens,
            Kind.ZERO_HOPF: self._zero_hopf,
            Kind.DOUBLE_HOPF: self._double_hopf,
            Kind.GENERALISED_HOPF: self._generalised_hopf,
        }
        return found[name](point) if name in found else None

    def _bogdanov_takens(self, spot: Spot) -> Event | None:
        detail = partial(self._takens, spot.z)
        return Event(Kind.BOGDANOV_TAKENS, spot, last=True, detail=detail, outranks=(Kind.ZERO_HOPF,))

    def _zero_hopf(self, spot: Spot) -> Event | None:
        square = spot.facts.square
        if square <= 0:
            return None
        return Event(Kind.ZERO_HOPF, spot, detail={"omega": float(np.sqrt(square))}, outranks=(Kind.GENERALISED_HOPF,))

    def _double_hopf(self, spot: Spot) -> Event | None:
        square = spot.facts.square
        if square <= 0:
            return None
        pair = imaginary(spot.facts.others)
        if pair is None:
            return None
        both = {"omega": float(np.sqrt(square)), "omega2": pair.imag}
        return Event(Kind.DOUBLE_HOPF, spot, detail=both, outranks=(Kind.GENERALISED_HOPF,))

    def _generalised_hopf(self, spot: Spot) -> Event | None:
        square = spot.facts.square
        expansion, third = self.normal_form(spot.z, square)
        omega = float(np.sqrt(square))
        try:
            c2, size = quintic(expansion, third)
        except PfaffError:
            c2, size = complex(NAN), 0.0
        if abs(c2.real) <= VANISHES * size:  # centres, along whose curve rounding gives l1 a sign
            return None
        return Event(Kind.GENERALISED_HOPF, spot, detail={"l2": c2.real / omega, "omega": omega})


def critical_plane(A: np.ndarray, V: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bases of the invariant planes of A and Aᵀ near those of V and W, and A on the former.

    Inverse iteration with the polynomial P = A² − tr T A + det T, which vanishes on the plane: quadratic, and as good
    where its eigenvalues meet at zero.
    """
    m = len(A)
    if m == 2:
        return np.eye(2), np.eye(2), A
    size = float(np.abs(A).max()) or 1.0
    if size**2 * EPS > SQUARED * float(np.abs(np.linalg.solve(W.T @ V, W.T @ A @ V)).max()) ** 2:
        return plane_about(A, V, W, partial(_factorised, A))
    A, unit, whole = A / size, np.eye(m + 2)[:, m:], np.zeros((m + 2, m + 2))
    T = np.linalg.solve(W.T @ V, W.T @ A @ V)
    for _ in range(TURNS):
        whole[:m, :m] = _polynomial(A, *invariants(T))
        whole[:m, m:], whole[m:, :m] = W, V.T
        V, W = np.linalg.solve(whole, unit)[:m], np.linalg.solve(whole.T, unit)[:m]
        before, T = T, np.linalg.solve(W.T @ V, W.T @ A @ V)
        if np.abs(np.subtract(invariants(T), invariants(before))).max() < SETTLED:
            break
    return V, W, T * size


def plane_about(
    A: Any, V: np.ndarray, W: np.ndarray, factorised: Callable[[complex], Callable[[np.ndarray, bool], np.ndarray]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``critical_plane`` where A² would lose the decisive digits: inverse iteration from both sides, beside an
    eigenvalue on the plane.

    ``factorised`` gives the solutions with A minus a shift, or its transpose.
    """
    T = np.linalg.solve(W.T @ V, W.T @ (A @ V))
    for _ in range(TURNS):
        critical = complex(np.linalg.eigvals(T)[0])
        solve = factorised(critical + ASIDE * (float(np.abs(T).max()) or 1.0))
        V, W = _plane_of(solve(V, False)), _plane_of(solve(W, True))
        before, T = T, np.linalg.solve(W.T @ V, W.T @ (A @ V))
        size = max(1.0, float(np.abs(T).max()) ** 2)
        if np.abs(np.subtract(invariants(T), invariants(before))).max() < SETTLED * size:
            break
    return V, W, T


def _plane_of(X: np.ndarray) -> np.ndarray:
    """The plane nearest to real and imaginary parts."""
    return np.linalg.svd(np.hstack([X.real, X.imag]), full_matrices=False)[0][:, :2]


def _factorised(A: np.ndarray, shift: complex) -> Callable[[np.ndarray, bool], np.ndarray]:
    from scipy.linalg import lu_factor, lu_solve

    factors = lu_factor(A - shift * np.eye(len(A)))
    return lambda right, transposed: lu_solve(factors, right.astype(complex), trans=int(transposed))


def invariants(T: np.ndarray) -> tuple[float, float]:
    """Trace and determinant of a matrix of two rows."""
    (a, b), (c, d) = T.tolist()
    return a + d, a * d - b * c


def _polynomial(A: np.ndarray, trace: float, determinant: float) -> np.ndarray:
    """A² − trace A + determinant."""
    P = A @ A - trace * A
    P.flat[:: len(A) + 1] += determinant
    return P
