"""Folds in two parameters as a problem of continuation, and what all curves of singular equilibria share.

One scalar equation joins those of the equilibrium: g = 0. For folds it is that of the bordered system N v + b g = 0,
⟨c, v⟩ = 1, where the matrix N, the Jacobian, is singular (Govaerts 2000, Sec. 4.2). Its derivatives −w·N_z v need no
more than those of the Jacobian along v, since second derivatives are symmetric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from pfaff.algebra.structural_zeros import Deflation
from pfaff.bifurcation.equilibria.eigenvalues import bounded, hopf_product, imaginary, signed_log
from pfaff.bifurcation.equilibria.regular import FOLDS, Regular
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.zero_forms import (
    Null,
    cusp_coefficient,
    takens_coefficients,
)
from pfaff.continuation.dense import Spot
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import Asked, Event
from pfaff.threads import known_property

NAN = float("nan")
ZERO = 1e-6  # size of a vector that vanishes, relative to its terms
NO_DEFLATION = Deflation(np.zeros(0), (), np.zeros((0, 0)))
DRIFTS = 1e-6  # component along the family, relative to the second-order terms, that is zero


@dataclass(frozen=True, eq=False)
class CurveFacts:
    """What is known about a point of a curve, each computed on demand.

    ``square`` is ω² (negative at neutral saddles), zero on folds; ``coefficient`` is l1·ω = Re c1 at a Hopf point, ⟨p,
    B(q, q)⟩/2 at a fold; ``others`` are the eigenvalues that are not critical.
    """

    problem: Any
    z: np.ndarray
    suspects = None  # tests that change sign, or may do so twice, in the step that leads to it, if known
    pitchfork = False  # at a branch point: its coefficient is then that of third order

    def tell(self, **known: Any) -> None:
        """Record what kernels know already, by name."""
        self.__dict__.update((name, known[name]) for name in known if name == "suspects")

    @known_property
    def eigenvalues(self) -> np.ndarray:
        return np.linalg.eigvals(self.problem.equations.reduced(self.z))

    @known_property
    def square(self) -> float:
        return 0.0

    @known_property
    def coefficient(self) -> float:
        raise NotImplementedError

    @known_property
    def others(self) -> np.ndarray:
        raise NotImplementedError

    @known_property
    def zero(self) -> tuple[float, float]:
        return signed_log(self.others)

    @known_property
    def hopf(self) -> tuple[float, float]:
        return hopf_product(self.others)


class FoldFacts(CurveFacts):
    """What is known about a fold; ``overlap`` is its ⟨p, q⟩, where an eigenvalue is zero."""

    @known_property
    def null(self) -> Null:
        return self.problem.null(self.z)

    @known_property
    def others(self) -> np.ndarray:
        return np.delete(self.eigenvalues, np.abs(self.eigenvalues).argmin())

    @known_property
    def coefficient(self) -> float:
        null = self.null
        return float(null.p @ self.problem.equations.form(self.z)(null.q, null.q)) / 2

    @known_property
    def overlap(self) -> float:
        zero = self.problem.passes_zero(self.z, self.null.p)
        return self.problem.overlap(self.z, self.null) if zero else NAN


@dataclass(frozen=True, eq=False)
class Singular(Regular):
    """Equilibria with g = 0, as a problem of continuation in z = (x, u, λ1, λ2); b and c are borders."""

    equations: RestEquations
    deflate: Deflation
    b: np.ndarray
    c: np.ndarray
    looks_inside = True
    words: ClassVar[tuple[str, str, str]]  # for one of its points, its coefficient, and several points

    @classmethod
    def at(cls, s: RestEquations, z: np.ndarray) -> Any:
        """The problem with borders found at a point."""
        deflate = Deflation.about(s.state_jacobian(z), s.zeros) if s.zeros else NO_DEFLATION
        return cls(s, deflate, np.zeros(0), np.zeros(0)).with_borders(z)

    @property
    def borders(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ascontiguousarray(np.atleast_2d(self.b.T)), np.ascontiguousarray(np.atleast_2d(self.c.T))

    def at_step(self, units: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
        b, c = b.T.reshape(self.b.shape), c.T.reshape(self.c.shape)
        return type(self)(self.equations.in_units(units), self.deflate, b, c)

    def residual(self, z: np.ndarray) -> np.ndarray:
        return self.evaluated(z)[0]

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        return self.evaluated(z)[1]

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        F, J = self.equations.evaluated(z)
        g, gradient = self.singularity(z, J)
        return np.append(F, g), np.vstack([J, gradient])

    def singularity(self, z: np.ndarray, J: np.ndarray) -> tuple[float, np.ndarray]:
        """g and its derivatives, given the Jacobian of the equilibrium."""
        raise NotImplementedError

    def units(self, z: np.ndarray) -> np.ndarray:
        return self.equations.sizes

    def rebased(self, z: np.ndarray) -> Any:
        """The problem with its borders renewed by the null vectors at a point, which are the best possible."""
        raise NotImplementedError

    def with_borders(self, z: np.ndarray) -> Any:
        """The problem with borders found at a point."""
        raise NotImplementedError

    def defect(self, z: np.ndarray) -> float:
        """How far the matrix is from singular, relative to the Jacobian."""
        J = self.equations.jacobian(z)
        n = self.equations.n
        return abs(self.singularity(z, J)[0]) / float(np.linalg.norm(J[:n, :n]))

    def bent(self, z: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Σ wᵀ(∂J/∂z) v over the columns w, v of two matrices, for every component of z."""
        s = self.equations
        directions = np.zeros((len(z), right.shape[1]))
        directions[: s.n] = right
        (after, before), lengths = s.probes(z, directions)
        change = np.einsum("ia,ija->j", left / (2 * lengths), after - before)
        gradient = np.zeros(len(z))
        gradient[: s.n], gradient[s.n + s.k + np.array(s.varied, dtype=int)] = change[: s.n], change[s.n :]
        return gradient

    def _takens(self, z: np.ndarray) -> dict[str, float]:
        """Coefficients of a Bogdanov–Takens point; empty where its motion drifts along the family."""
        null, form = self.equations.across(z), self.equations.form(z)
        bent, unreached = form(null.q, null.q), null.matrix[null.n :, : null.n]
        drifts = np.abs(unreached @ bent).max(initial=0.0) > DRIFTS * np.linalg.norm(bent)
        a, b = (NAN, NAN) if drifts else takens_coefficients(null, form)
        return {"a": a, "b": b}


class Folds(Singular):
    """N is the bordered Jacobian [[J, C], [R, 0]]."""

    words = "fold", "a", "folds"
    kind: int | None = FOLDS
    numbers: ClassVar[Mapping[str, int]] = {"cusp": 0, "bogdanov-takens": 1, "zero-hopf": 2}
    located_by_number: ClassVar[Sequence[str]] = tuple(numbers)
    passable = located_by_number

    def singularity(self, z: np.ndarray, J: np.ndarray) -> tuple[float, np.ndarray]:
        n = self.equations.n
        v, w, g = self._bordered(J[:, : len(J)])
        return g, -self.bent(z, w[:n, None], v[:n, None])

    def _bordered(self, N: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """v, w and g of N v + b g = 0, ⟨c, v⟩ = 1 and Nᵀw + c g = 0, ⟨b, w⟩ = 1."""
        whole, unit = _with_border(N, self.b, self.c), np.zeros(len(N) + 1)
        unit[-1] = 1.0
        v, w = np.linalg.solve(whole, unit), np.linalg.solve(whole.T, unit)
        return v[:-1], w[:-1], float(v[-1])

    def _matrix(self, z: np.ndarray) -> np.ndarray:
        J = self.equations.jacobian(z)
        return J[:, : len(J)]

    def rebased(self, z: np.ndarray) -> Any:
        v, w, _ = self._bordered(self._matrix(z))
        return replace(self, equations=self.equations.rebased(z), b=w / np.linalg.norm(w), c=v / np.linalg.norm(v))

    def with_borders(self, z: np.ndarray) -> Any:
        left, _, right = np.linalg.svd(self._matrix(z))
        return replace(self, b=left[:, -1], c=right[-1])

    def null(self, z: np.ndarray) -> Null:
        n, N = self.equations.n, self._matrix(z)
        v, w, _ = self._bordered(N)
        return Null(N, v / np.linalg.norm(v[:n]), w / np.linalg.norm(w[:n]), n, self.equations.sizes[: len(N)])

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> FoldFacts:
        return FoldFacts(self, z)

    def passes_zero(self, z: np.ndarray, p: np.ndarray) -> bool:
        """Whether an eigenvalue is zero: pᵀJ = 0. Elsewhere the branch turns on its family of equilibria."""
        if not self.equations.k:
            return True
        units = self.equations.sizes[: self.equations.n]
        J, p = self.equations.state_jacobian(z) * units / units[:, None], p * units
        return bool(np.abs(p @ J).max() <= ZERO * np.abs(p).max() * np.abs(J).max())

    def overlap(self, z: np.ndarray, null: Null) -> float:
        """⟨p, q⟩ across the family, with a sign that does not depend on those of p and q."""
        null = self.equations.across(z) if self.equations.k else null
        return null.overlap * float(np.linalg.slogdet(_with_border(null.matrix, null.left, null.right))[0])

    def tests(self, point: Spot) -> Asked:
        facts = point.facts
        tests: dict[str, Any] = {Kind.CUSP: lambda: facts.coefficient}
        s = self.equations
        if len(s.zeros) < 2 and (not s.k or np.isfinite(facts.overlap)):
            tests |= {Kind.BOGDANOV_TAKENS: lambda: facts.overlap, Kind.ZERO_HOPF: lambda: bounded(facts.hopf)}
        return Asked(tests)

    def event(self, name: str, point: Spot) -> Event | None:
        found: dict[str, Any] = {
            Kind.CUSP: self._cusp,
            Kind.BOGDANOV_TAKENS: self._bogdanov_takens,
            Kind.ZERO_HOPF: self._zero_hopf,
        }
        return found[name](point) if name in found else None

    def _cusp(self, spot: Spot) -> Event | None:
        return Event(Kind.CUSP, spot, detail=partial(self._cubic, spot.z))

    def _cubic(self, z: np.ndarray) -> dict[str, float]:
        return {"c": NAN if self.equations.k else cusp_coefficient(self.null(z), self.equations.form(z))}

    def _bogdanov_takens(self, spot: Spot) -> Event | None:
        return Event(Kind.BOGDANOV_TAKENS, spot, detail=partial(self._takens, spot.z))

    def _zero_hopf(self, spot: Spot) -> Event | None:
        values = spot.facts.eigenvalues
        pair = imaginary(np.delete(values, np.abs(values).argmin()))
        return Event(Kind.ZERO_HOPF, spot, detail={"omega": pair.imag}) if pair is not None else None


def _with_border(N: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    whole = np.zeros((len(N) + 1, len(N) + 1))
    whole[:-1, :-1], whole[:-1, -1], whole[-1, :-1] = N, column, row
    return whole
