"""Bottema's bordered determinant of the small motions, D(p), and the zero roots that stand before it.

For n coordinates and m constraints, q = q̂ eᵖᵗ gives

    D(p) = | M p² + C p + K + Σ p G   Aᵀ |        and the frequency equation pˢ D(p) = 0,
           |          A               0  |

of degree 2(n − m) in p besides s zero roots, one for each nonholonomic constraint (holonomic ones, taken in integrated
form as by Routh, bring none). Bottema (1949). With N a basis of the velocities allowed and H the upper left block,
D = (−1)ᵐ det(A Aᵀ) det(NᵀHN) / det(NᵀN): no root is lost or added by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.algebra.tolerances import GROWING
from pfaff.errors import PfaffError, SingularMassError, number_of
from pfaff.statement.told import told
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.rest.small_motions import Linearisation

p = sm.Symbol("p")


@told
@dataclass(frozen=True)
class Determinant:
    """pˢ D(p), with ``coefficients`` of D from the highest power on, ``zeros`` = s and the other ``roots``.

    ``asymmetry`` is what remains of the antisymmetric part of the stiffness on the velocities allowed, relative to its
    size; where it vanishes, multiples of the last m columns make D symmetric: ``symmetric_stiffness``.
    """

    coefficients: np.ndarray
    zeros: int
    roots: np.ndarray
    asymmetry: float
    symmetrisable: bool
    linearisation: Linearisation

    @property
    def matrix(self) -> sm.Matrix:
        """The bordered matrix in p."""
        return self.linearisation.bottema(p)

    @property
    def frequency_equation(self) -> np.ndarray:
        """The coefficients of pˢ D(p), its zero roots in plain sight."""
        return np.append(self.coefficients, np.zeros(self.zeros))

    def __call__(self, value: complex) -> complex:
        return complex(np.polyval(self.coefficients, value))

    @cached_property
    def columns(self) -> np.ndarray | None:
        """X, m by n: adding Aᵀ X to the stiffness (the last columns to the others) makes it symmetric.

        For an integrable constraint ω = f dφ with the reaction p these are −p ∂(ln f)/∂q, but for multiples of A. None
        where D is essentially unsymmetric.
        """
        if not self.symmetrisable:
            return None
        A, K = self.linearisation.A, self.linearisation.stiffness
        onto, S = np.linalg.pinv(A) @ A, K - K.T  # the projector onto the rows of A
        across = np.eye(len(K)) - onto
        return -np.linalg.pinv(A.T) @ (S @ across + S @ onto / 2)

    @property
    def symmetric_stiffness(self) -> np.ndarray | None:
        """K + Σ p G after these elementary transformations, or None if there are none."""
        return None if self.columns is None else self.linearisation.stiffness + self.linearisation.A.T @ self.columns

    @property
    def status(self) -> str:
        form = "can be made symmetric" if self.symmetrisable else "is essentially unsymmetric"
        return f"{number_of(self.zeros, 'zero root')} and {number_of(len(self.roots), 'other')}; the determinant {form}"

    def plot(self) -> Any:
        """Its roots in the complex plane."""
        growing = self.roots.real > GROWING * np.abs(self.roots).max(initial=0.0)
        zeros = f"{number_of(self.zeros, 'zero root')} of the constraints" if self.zeros else ""
        return doors.draw.draw_roots(self.roots, growing, zeros)


@told
@dataclass(frozen=True)
class ExactDeterminant:
    """The determinant in SymPy: the bordered ``matrix``, D as a ``polynomial`` in p, and the number of zero roots."""

    matrix: sm.Matrix
    polynomial: sm.Poly
    zeros: int
    symmetrisable: bool

    @property
    def frequency_equation(self) -> sm.Expr:
        return p**self.zeros * self.polynomial.as_expr()

    @property
    def status(self) -> str:
        form = "can be made symmetric" if self.symmetrisable else "is essentially unsymmetric"
        return f"p**{self.zeros}*({self.polynomial.as_expr()}) = 0; the determinant {form}"


def determinant(lin: Linearisation) -> Determinant:
    """D(p) about an equilibrium, in numbers."""
    if lin.B[: lin.nonholonomic].any():
        raise PfaffError(
            f"a constraint of {lin.system.name} has a term b(q) beside the velocities, which Bottema's determinant "
            "does not cover: use spectrum()"
        )
    N, A = lin.kernel, lin.A
    M, C, K = (N.T @ matrix @ N for matrix in (lin.M, lin.C, lin.stiffness))
    size = len(M)
    lead = float(np.linalg.det(M)) if size else 1.0
    if not lead > 0:
        raise SingularMassError(f"the mass matrix of {lin.system.name} is singular on the motions allowed")
    first_order = np.block([[np.zeros((size, size)), np.eye(size)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    roots = np.linalg.eigvals(first_order)
    sign = (-1) ** len(A) * (float(np.linalg.det(A @ A.T)) if len(A) else 1.0)
    return Determinant(
        coefficients=sign * lead * np.atleast_1d(np.poly(roots)).real,
        zeros=lin.nonholonomic,
        roots=roots[np.lexsort((roots.imag, -roots.real))],
        asymmetry=lin.asymmetry,
        symmetrisable=lin.symmetrisable,
        linearisation=lin,
    )


def exact_determinant(case: Case) -> ExactDeterminant:
    """D(p) about the origin, for the exact or symbolic values of a case."""
    M, C, K, A = doors.exact.exact_matrices(case)
    N = doors.exact.exact_reduction(A)
    H = M * p**2 + C * p + K
    inner: Any = (N.T * H * N).det(method="berkowitz") if N.cols else sm.Integer(1)
    scale = (-1) ** A.rows * ((A * A.T).det() if A.rows else 1) / ((N.T * N).det() if N.cols else 1)
    skew = (N.T * (K - K.T) * N).applyfunc(sm.simplify)
    corner = sm.zeros(A.rows, A.rows)
    matrix = sm.Matrix(sm.BlockMatrix([[H, A.T], [A, corner]])) if A.rows else H
    polynomial = sm.Poly(sm.expand(sm.simplify(scale) * inner), p)
    return ExactDeterminant(matrix, polynomial, case.system.statement.nonholonomic, skew.is_zero_matrix is True)
