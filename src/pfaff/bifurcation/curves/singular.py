"""Folds and Hopf points in two parameters as problems of continuation.

One scalar equation joins those of the equilibrium: g = 0 in the bordered system N v + b g = 0, ⟨c, v⟩ = 1, where the
matrix N is singular (Govaerts 2000, Secs. 4.2, 5.2): the Jacobian itself for folds, and for Hopf points its bialternate
product V ↦ J V + V Jᵀ on antisymmetric matrices, whose eigenvalues are the sums λ_i + λ_j. Its null vector spans the
critical plane, on which det J = ω² stays smooth through a Bogdanov–Takens point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.structural_zeros import Deflation
from pfaff.bifurcation.equilibria.eigenvalues import bounded, hopf_product, imaginary, near_axis, signed_log
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.zero_forms import (
    Null,
    cusp_coefficient,
    null_of,
    takens_coefficients,
)
from pfaff.bifurcation.hopf.extended import normal_form_at
from pfaff.bifurcation.hopf.normal_form import VANISHES, quintic
from pfaff.continuation.dense import Implicit, Spot
from pfaff.continuation.problem import Event
from pfaff.errors import PfaffError

if TYPE_CHECKING:
    pass

NAN = float("nan")
ZERO = 1e-6  # of the terms that it is made of, what is left of a vector that vanishes
DRIFTS = 1e-6  # of the second-order terms, a share along the family that is none


@dataclass(frozen=True)
class CurveFacts:
    """What is known about a point of a curve: ``square`` is ω² (negative at neutral saddles), zero on folds."""

    eigenvalues: np.ndarray
    square: float
    coefficient: float  # l1·ω = Re c1 of a Hopf point, ⟨p, B(q, q)⟩/2 of a fold
    overlap: float  # ⟨p, q⟩ of a fold
    zero: tuple[float, float]
    hopf: tuple[float, float]
    pitchfork: bool = False  # of a branch point: its coefficient is then that of the third order


@dataclass(frozen=True, eq=False)
class Singular(Implicit):
    """Equilibria with g = 0, as a problem of continuation in z = (x, u, λ1, λ2)."""

    equations: RestEquations
    deflate: Deflation
    b: np.ndarray
    c: np.ndarray
    looks_inside = True

    def residual(self, z: np.ndarray) -> np.ndarray:
        return np.append(self.equations.residual(z), self._bordered(z)[2])

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        v, w, _ = self._bordered(z)
        # g_z = −w·N_z v, the derivatives of N as differences of analytic Jacobians.
        gradient = np.array([-w @ change for change in self._changes(z, v)])
        return np.vstack([self.equations.jacobian(z), gradient])

    def units(self, z: np.ndarray) -> np.ndarray:
        return self.equations.sizes

    def rebased(self, z: np.ndarray) -> Any:
        """With the borders b, c renewed by the null vectors at a point, which makes them as good as can be."""
        v, w, _ = self._bordered(z)
        fresh = replace(self, equations=self.equations.rebased(z), b=w / np.linalg.norm(w), c=v / np.linalg.norm(v))
        return fresh._deflated_at(z) if self.equations.zeros else fresh

    def _deflated_at(self, z: np.ndarray) -> Any:
        return self

    def _bordered(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """v, w and g of N v + b g = 0, ⟨c, v⟩ = 1 and Nᵀw + c g = 0, ⟨b, w⟩ = 1."""
        N = self._matrix(z)
        whole = np.block([[N, self.b[:, None]], [self.c[None], np.zeros((1, 1))]])
        unit = np.eye(len(whole))[-1]
        v, w = np.linalg.solve(whole, unit), np.linalg.solve(whole.T, unit)
        return v[:-1], w[:-1], float(v[-1])

    def defect(self, z: np.ndarray) -> float:
        """How far the matrix is from singular, relative to the Jacobian that it is made of."""
        return abs(self._bordered(z)[2]) / float(np.linalg.norm(self.equations.state_jacobian(z)))

    def with_borders(self, z: np.ndarray) -> Any:
        left, _, right = np.linalg.svd(self._matrix(z))
        return replace(self, b=left[:, -1], c=right[-1])

    def _matrix(self, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _changes(self, z: np.ndarray, v: np.ndarray) -> Iterator[np.ndarray]:
        """N_z v for every component of z."""
        raise NotImplementedError

    def _takens(self, z: np.ndarray) -> dict[str, float]:
        """Coefficients of a Bogdanov–Takens point; none where its motion drives one along the family."""
        null, form = self.equations.across(z), self.equations.form(z)
        bent, unreached = form(null.q, null.q), null.matrix[null.n :, : null.n]
        drifts = np.abs(unreached @ bent).max(initial=0.0) > DRIFTS * np.linalg.norm(bent)
        a, b = (NAN, NAN) if drifts else takens_coefficients(null, form)
        return {"a": a, "b": b}


class Folds(Singular):
    """N is the bordered Jacobian [[J, C], [R, 0]]."""

    def _matrix(self, z: np.ndarray) -> np.ndarray:
        s = self.equations
        return s.jacobian(z)[:, : s.n + s.k]

    def _changes(self, z: np.ndarray, v: np.ndarray) -> Iterator[np.ndarray]:
        s = self.equations
        changes = s.jacobian_along(z, np.diag(s.sizes)) / s.sizes
        for change in np.moveaxis(changes, 2, 0):
            yield np.concatenate([change @ v[: s.n], np.zeros(s.k)])

    def null(self, z: np.ndarray) -> Null:
        s = self.equations
        like = Null(np.zeros((0, 0)), self.c, self.b, s.n)
        return null_of(self._matrix(z), s.n, like)

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> CurveFacts:
        s, null = self.equations, self.null(z)
        values, form = np.linalg.eigvals(s.reduced(z)), s.form(z)
        others = np.delete(values, np.abs(values).argmin())
        a = float(null.p @ form(null.q, null.q)) / 2
        overlap = self._overlap(z) if self._passes_zero(z, null.p) else NAN
        return CurveFacts(values, 0.0, a, overlap, signed_log(others), hopf_product(others))

    def _passes_zero(self, z: np.ndarray, p: np.ndarray) -> bool:
        """Whether an eigenvalue is zero: pᵀJ = 0. Elsewhere the branch turns on its family of equilibria."""
        units = self.equations.sizes[: self.equations.n]
        J, p = self.equations.state_jacobian(z) * units / units[:, None], p * units
        return bool(np.abs(p @ J).max() <= ZERO * np.abs(p).max() * np.abs(J).max())

    def _overlap(self, z: np.ndarray) -> float:
        """⟨p, q⟩ across the family, with a sign that does not depend on those of p and q."""
        null = self.equations.across(z)
        whole = np.block([[null.matrix, null.left[:, None]], [null.right[None], np.zeros((1, 1))]])
        return null.overlap * float(np.linalg.slogdet(whole)[0])

    def tests(self, point: Spot) -> dict[str, float]:
        facts = point.facts
        of_zero = {"bogdanov-takens": facts.overlap, "zero-hopf": bounded(facts.hopf)}
        return {"cusp": facts.coefficient} | (
            of_zero if np.isfinite(facts.overlap) and len(self.equations.zeros) < 2 else {}
        )

    def event(self, name: str, point: Spot) -> Event | None:
        found = {"cusp": self._cusp, "bogdanov-takens": self._bogdanov_takens, "zero-hopf": self._zero_hopf}
        return found[name](point) if name in found else None

    def _cusp(self, spot: Spot) -> Event | None:
        c = NAN if self.equations.k else cusp_coefficient(self.null(spot.z), self.equations.form(spot.z))
        return Event("cusp", spot, detail={"c": c})

    def _bogdanov_takens(self, spot: Spot) -> Event | None:
        return Event("bogdanov-takens", spot, detail=self._takens(spot.z))

    def _zero_hopf(self, spot: Spot) -> Event | None:
        values = spot.facts.eigenvalues
        pair = imaginary(np.delete(values, np.abs(values).argmin()))
        return Event("zero-hopf", spot, detail={"omega": pair.imag}) if pair is not None else None


class Hopfs(Singular):
    """N is the bialternate product of the Jacobian without its structural zeros."""

    def _matrix(self, z: np.ndarray) -> np.ndarray:
        return bialternate(self.deflate(self.equations.state_jacobian(z)))

    def _changes(self, z: np.ndarray, v: np.ndarray) -> Iterator[np.ndarray]:
        s = self.equations
        (after, before), lengths = s.probes(z, np.diag(s.sizes))
        m = len(self.deflate.scale) - sum(s.zeros)
        basis = _antisymmetric(m)
        V = (basis @ v).reshape(m, m)
        for j, size in enumerate(s.sizes):
            change = (self.deflate(after[..., j]) - self.deflate(before[..., j])) / (2 * lengths[j]) / size
            yield basis.T @ (change @ V + V @ change.T).ravel()

    def _deflated_at(self, z: np.ndarray) -> Any:
        deflate = Deflation.about(self.equations.state_jacobian(z), self.equations.zeros)
        return replace(self, deflate=deflate).with_borders(z)

    def square(self, z: np.ndarray) -> float:
        """ω² = det J on the critical plane, which the null vector of N spans.

        At a double Hopf point N has two: the eigenvalues tell it, of the pair whose plane is nearest to the last one.
        """
        J = self.deflate(self.equations.state_jacobian(z))
        values, vectors = np.linalg.eig(J)
        pairs = near_axis(values)
        basis = _antisymmetric(len(J))
        if len(pairs) > 1:
            planes = [basis.T @ np.outer(q.imag, q.real).ravel() for q in vectors[:, pairs].T]
            return float(values[pairs[np.argmax([abs(self.c @ w) / np.linalg.norm(w) for w in planes])]].imag ** 2)
        v = self._bordered(z)[0]
        plane = np.linalg.svd((basis @ v).reshape(len(J), len(J)))[0][:, :2]
        return float(np.linalg.det(plane.T @ J @ plane))

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> CurveFacts:
        values, square = np.linalg.eigvals(self.equations.reduced(z)), self.square(z)
        critical = np.sqrt(complex(-square))
        first = np.abs(values - critical).argmin()
        rest = np.delete(values, first)
        others = np.delete(rest, np.abs(rest + critical).argmin())
        return CurveFacts(values, square, self._re_c1(z, square), NAN, signed_log(others), hopf_product(others))

    def _re_c1(self, z: np.ndarray, square: float) -> float:
        if square <= 0:
            return NAN
        try:
            return self.normal_form(z, square)[1].c1.real
        except (PfaffError, np.linalg.LinAlgError):
            return NAN

    def normal_form(self, z: np.ndarray, square: float) -> Any:
        s = self.equations
        return normal_form_at(s.field(z), s.x(z), s.free_values(z)[s.free[0]], float(np.sqrt(square)))

    def tests(self, point: Spot) -> dict[str, float]:
        facts = point.facts
        tests = {
            "bogdanov-takens": facts.square,
            "zero-hopf": bounded(facts.zero),
            "double hopf": bounded(facts.hopf),
        }
        return tests | ({"generalised hopf": facts.coefficient} if np.isfinite(facts.coefficient) else {})

    def event(self, name: str, point: Spot) -> Event | None:
        found = {
            "bogdanov-takens": self._bogdanov_takens,
            "zero-hopf": self._zero_hopf,
            "double hopf": self._double_hopf,
            "generalised hopf": self._generalised_hopf,
        }
        return found[name](point) if name in found else None

    def _bogdanov_takens(self, spot: Spot) -> Event | None:
        return Event("bogdanov-takens", spot, last=True, detail=self._takens(spot.z), outranks=("zero-hopf",))

    def _zero_hopf(self, spot: Spot) -> Event | None:
        square = spot.facts.square
        if square <= 0:
            return None
        return Event("zero-hopf", spot, detail={"omega": float(np.sqrt(square))}, outranks=("generalised hopf",))

    def _double_hopf(self, spot: Spot) -> Event | None:
        values, square = spot.facts.eigenvalues, spot.facts.square
        if square <= 0:
            return None
        critical = 1j * np.sqrt(square)
        rest = np.delete(values, np.abs(values - critical).argmin())
        pair = imaginary(np.delete(rest, np.abs(rest + critical).argmin()))
        if pair is None:
            return None
        both = {"omega": float(np.sqrt(square)), "omega2": pair.imag}
        return Event("double hopf", spot, detail=both, outranks=("generalised hopf",))

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
        return Event("generalised hopf", spot, detail={"l2": c2.real / omega, "omega": omega})


@lru_cache(maxsize=32)
def _antisymmetric(m: int) -> np.ndarray:
    """Orthonormal antisymmetric matrices, flattened, one a column."""
    i, j = np.triu_indices(m, 1)
    basis = np.zeros((m, m, len(i)))
    k = np.arange(len(i))
    basis[i, j, k], basis[j, i, k] = np.sqrt(0.5), -np.sqrt(0.5)
    return basis.reshape(m * m, -1)


def bialternate(J: np.ndarray) -> np.ndarray:
    """V ↦ J V + V Jᵀ on antisymmetric V: Stéphanos' product 2J ⊙ I, with eigenvalues λ_i + λ_j, i < j."""
    m = len(J)
    basis = _antisymmetric(m)
    V = basis.reshape(m, m, -1)
    image = np.einsum("ij,jkl->ikl", J, V) + np.einsum("ijl,kj->ikl", V, J)
    return basis.T @ image.reshape(m * m, -1)
