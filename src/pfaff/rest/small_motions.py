"""Small motions about an equilibrium: M q̈ + C q̇ + (K + Σ p G) q + w p̂ = 0 with w·q̇ = 0.

Cazzolli et al. (2020), Eqs. (32)–(45); Bottema (1949). The reaction at rest contributes the stiffness
p ∂Aᵀ/∂q, unsymmetric where the constraint is nonholonomic. Every nonholonomic constraint also conserves
w·q to first order: the m zero eigenvalues that this causes are divided out before anything is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.algebra.allowed_inertia import nearly_dependent
from pfaff.algebra.pencil import Pencil
from pfaff.algebra.tolerances import LOST
from pfaff.algebra.units import inertial_units, row_units, stiffness_units
from pfaff.errors import RankError
from pfaff.flow.statics import AtRest, statics_of
from pfaff.rest.reduction import (
    Reduced,
    complement,
    coordinates,
    intersection,
    motions,
    nearby,
    without_directions,
    without_families,
    without_structural_zeros,
)
from pfaff.rest.spectrum import Spectrum
from pfaff.statement.rod_frame import held_bases
from pfaff.statement.system import System
from pfaff.statement.told import answering
from pfaff.statement.values import complex_number, instance
from pfaff.threads import known_property

if TYPE_CHECKING:
    from pfaff.stability.determinant import Determinant

SYMMETRY_TOLERANCE = 1e-11  # for a stiffness in even units: ε over what is SOFT in these units


@answering
@dataclass(frozen=True)
class Linearisation:
    """The matrices of Eq. (32) at an equilibrium.

    ``G`` and ``w`` are a matrix and a vector for one constraint; for several they carry one more axis,
    ``G[k]`` and ``w[:, k]``. Rows of holonomic constraints come after the nonholonomic ones.
    """

    system: System
    q: np.ndarray
    p: np.ndarray
    numbers: np.ndarray
    M: np.ndarray
    C: np.ndarray
    stiffness: np.ndarray  # K + Σ p G: elastic and geometric stiffness together
    A: np.ndarray
    B: np.ndarray
    nonholonomic: int
    unit: np.ndarray | float = 1.0  # units in which the matrices measure the coordinates
    free: np.ndarray | None = None  # rigid motions that are left out, column by column in the coordinates

    def elsewhere(self, q: np.ndarray, p: np.ndarray) -> Linearisation:
        """The linearisation at another configuration, with other reactions."""
        return linearise(self.system, q, p, self.numbers)

    @known_property
    def inertial(self) -> Linearisation:
        """The linearisation in units in which inertias are alike: cancellation then does not depend on the coordinates'
        units."""
        return self._measured_in(self._inertial_units)

    @known_property
    def _inertial_units(self) -> np.ndarray:
        return inertial_units(self.M)

    def _measured_in(self, d: np.ndarray) -> Linearisation:
        M, C, K = (matrix * d[:, None] * d for matrix in (self.M, self.C, self.stiffness))
        rest = self.system, self.q, self.p, self.numbers
        return Linearisation(*rest, M, C, K, self.A * d, self.B * d, self.nonholonomic, d, self.free)

    @known_property
    def K(self) -> np.ndarray:
        """The stiffness without reactions: that of the potential and of position-dependent forces."""
        return statics_of(self.system)(self.q, np.zeros_like(self.p), self.numbers).K

    @known_property
    def G(self) -> np.ndarray:
        """∂Aᵀ/∂q, the geometric stiffness of a unit reaction."""
        statics = statics_of(self.system)
        each = [statics(self.q, unit, self.numbers).K - self.K for unit in np.eye(len(self.p))]
        return each[0] if len(each) == 1 else np.array(each).reshape(-1, *self.M.shape)

    @property
    def w(self) -> np.ndarray:
        return self.A[0] if len(self.A) == 1 else self.A.T

    @known_property
    def kernel(self) -> np.ndarray:
        """An orthonormal basis of the velocities that the constraints allow."""
        rows = self._rows_checked
        return complement((rows * row_units(rows)[:, None]).T) if len(rows) else np.eye(len(self.M))

    @known_property
    def _rows_checked(self) -> np.ndarray:
        _check_rank(self)
        return self.A

    @known_property
    def units(self) -> np.ndarray:
        return stiffness_units(self.stiffness, self._inertial_units)

    @known_property
    def allowed(self) -> np.ndarray:
        """The same velocities in units of the stiffness, so that a stiff spring does not make others look like
        rounding."""
        rows = self._rows_checked * self.units
        return complement((rows * row_units(rows)[:, None]).T) if len(rows) else np.eye(len(self.M))

    def pencil(self, omega: complex | sm.Expr) -> np.ndarray | sm.Matrix:
        """The matrix of Eq. (41) at ω: singular where ω is an eigenvalue. A SymPy symbol gives a SymPy matrix."""
        omega = complex_number("omega", omega)
        top, corner = self.M * omega**2 + self.C * omega + self.stiffness, self._rows(omega)
        if isinstance(omega, sm.Expr):
            zero = sm.zeros(len(self.A))
            return sm.Matrix(sm.BlockMatrix([[sm.Matrix(top), sm.Matrix(self.A.T)], [sm.Matrix(corner), zero]]))
        return np.block([[top, self.A.T], [corner, np.zeros((len(self.A),) * 2)]])

    def _rows(self, omega: complex | sm.Expr) -> np.ndarray:
        s = self.nonholonomic
        return np.concatenate([self.A[:s] * omega + self.B[:s], self.A[s:]])

    def bottema(self, omega: sm.Expr) -> sm.Matrix:
        """Bottema's determinant as a matrix: the pencil with the m zero roots divided out of the last rows."""
        omega = complex_number("omega", omega)
        top = sm.Matrix(self.M * omega**2 + self.C * omega + self.stiffness)
        A = sm.Matrix(self.A)
        return sm.Matrix(sm.BlockMatrix([[top, A.T], [A, sm.zeros(len(self.A))]]))

    def determinant(self) -> Determinant:
        """Bottema's bordered determinant as a polynomial, with the zero roots of the nonholonomic constraints."""
        return doors.determinant.determinant(self)

    @property
    def asymmetry(self) -> float:
        """The part of the stiffness that no elementary transformation makes symmetric, relative to its size.

        Adding multiples of the last m columns and rows changes K + Σ p G only off the kernel of A, so the
        antisymmetric part on that kernel decides: zero for holonomic systems (Bottema 1949).
        """
        inner = self.kernel.T @ self.stiffness @ self.kernel
        size = np.abs(inner).max(initial=0.0)
        return float(np.abs(inner - inner.T).max(initial=0.0) / size) if size else 0.0

    @property
    def symmetrisable(self) -> bool:
        """Whether Bottema's determinant can be made symmetric, as it always can for holonomic systems."""
        D, N = self.units, self.allowed
        inner = N.T @ (self.stiffness * D[:, None] * D) @ N
        return bool(np.abs(inner - inner.T).max(initial=0.0) < SYMMETRY_TOLERANCE)

    @known_property
    def reduced(self) -> Reduced:
        """The small motions without structural zeros, in units of the inertia."""
        found = without_structural_zeros(self.inertial)
        if self.free is None:
            return found
        along = np.linalg.qr(self.free / np.reshape(self.inertial.unit, (-1, 1)))[0]
        return without_directions(self.inertial, found, along)

    @property
    def J(self) -> np.ndarray:
        """The first-order form without structural zeros."""
        return self.reduced.J

    def motions(self, beside: Linearisation | None = None) -> Pencil:
        """The small motions without structural zeros, in the directions of this equilibrium or of one beside it."""
        if beside is None:
            return motions(self.inertial, self.reduced)
        alike = beside.reduced.left is not None and self.moves_like(beside)
        lin = alongside(self, beside)
        return motions(lin.inertial, beside.reduced if alike else lin.reduced, beside.reduced)

    @property
    def rigid(self) -> np.ndarray:
        """Motions that no stiffness resists."""
        return np.reshape(self.inertial.unit, (-1, 1)) * self.reduced.unresisted

    def unresisted(self, along: np.ndarray) -> np.ndarray:
        """The combinations of given motions that no stiffness resists."""
        d = np.reshape(self.inertial.unit, (-1, 1))
        return d * intersection(*(np.linalg.qr(each / d)[0] for each in (along, self.rigid)))

    def moves_like(self, other: Linearisation) -> bool:
        """Whether all but the stiffness is the same, so that the directions are."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("M", "C", "A", "B"))

    def eigenvalues(self) -> np.ndarray:
        return self.motions().eigenvalues()

    def mode(self, value: complex, like: Linearisation | None = None) -> np.ndarray:
        """The amplitudes of the coordinates in the mode of an eigenvalue, the largest of them one."""
        number = isinstance(value, sm.Expr) and value.is_number
        value = complex_number("value", complex(value) if number else value, symbols=False)
        if like is not None:
            instance("like", like, Linearisation, "case.linearise()")
        pencil, r = self.motions(like), (like or self).reduced
        if not len(pencil.coefficients[0]):
            return np.zeros(len(self.q), dtype=complex)
        rows, columns = pencil.units(abs(value) or pencil.largest)
        null = columns * np.linalg.svd(rows[:, None] * pencil.at(value) * columns)[2][-1].conj()
        shape = (like or self).inertial.unit * coordinates(r, null[:, None])[:, 0]
        return np.asarray(shape / (shape[np.abs(shape).argmax()] or 1.0)).astype(complex) + 0  # no signed zeros

    def spectrum(self) -> Spectrum:
        r = without_families(self.inertial, self.reduced)
        modes = motions(self.inertial, r).modes()
        order = np.lexsort((modes.values.imag, -modes.values.real))
        values, vectors = modes.values[order], coordinates(r, modes.vectors[:, order])
        vectors = np.reshape(self.inertial.unit, (-1, 1)) * vectors
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        push = -(self.M @ vectors * values**2 + self.C @ vectors * values + self.stiffness @ vectors)
        return Spectrum(values, vectors, self._balancing(push), r.zeros, self, modes.on_axis[order])

    def _balancing(self, push: np.ndarray) -> np.ndarray:
        """The reactions that balance forces, column by column, as well as reactions can."""
        if len(self.A) == 1 and self.A.any():
            size = np.abs(self.A).max()  # its square may overflow
            row = self.A / size
            return row @ push / (row @ row.T) / size
        return np.linalg.lstsq(self.A.T, push, rcond=None)[0] if len(self.A) else push[:0]

    def polynomial(self) -> np.ndarray:
        """ρ_0 … ρ_m of Eq. (44), highest power first, with ρ_0 > 0."""
        N = self.kernel
        lead = np.linalg.det(N.T @ self.M @ N) * np.linalg.det(self.A @ self.A.T)
        return lead * np.poly(self.eigenvalues()).real

    def hurwitz(self) -> np.ndarray:
        """The Hurwitz determinants D_1 … D_m of Eq. (45); all positive if and only if stable."""
        H = hurwitz_matrix(self.polynomial())
        return np.array([np.linalg.det(H[:i, :i]) for i in range(1, len(H) + 1)])


def alongside(lin: Linearisation, beside: Linearisation) -> Linearisation:
    """The linearisation in the units of another: its own would jump by factors of two where inertias change on the
    way."""
    d = beside.inertial.unit
    if np.array_equal(lin.inertial.unit, d):
        return lin
    other = replace(lin)
    other.__dict__["inertial"] = lin._measured_in(np.asarray(d))
    return other


def hurwitz_matrix(rho: np.ndarray) -> np.ndarray:
    """H of Eq. (45): H[i, j] = ρ_{2i − j + 1}, counting from zero."""
    m = len(rho) - 1
    index = 2 * np.arange(m)[:, None] - np.arange(m)[None, :] + 1
    return np.where((index >= 0) & (index <= m), np.asarray(rho)[np.clip(index, 0, m)], 0.0)


def linearise(
    system: System, q: np.ndarray, p: np.ndarray, numbers: np.ndarray, at: AtRest | None = None
) -> Linearisation:
    """The small motions about the rest position q with reactions p, at these parameter values; ``at`` are the matrices,
    if known."""
    statics = statics_of(system)
    at = statics(q, p, numbers) if at is None else at
    found = Linearisation(system, q, p, numbers, at.M, at.C, at.K, at.A, at.B, statics.nonholonomic)
    found.__dict__["_inertial_units"] = at.inertial_units
    return found


def _check_rank(lin: Linearisation) -> None:
    """Raise unless the constraints are independent here, each row and column measured by its size in the
    neighbourhood."""
    if not len(lin.A) or (len(lin.A) == 1 and lin.A.any()):
        return
    uneven = nearby(lin) * (1 + np.arange(len(lin.q)) % 3) / 3
    around = np.column_stack([lin.q - uneven, lin.q + uneven])
    around = np.abs(statics_of(lin.system)(around, np.column_stack([lin.p, lin.p]), lin.numbers).A)
    usual = np.fmax(np.abs(lin.A), np.fmax(around[..., 0], around[..., 1]) * lin.unit)
    columns = row_units(usual.T)
    scaled = lin.A * columns * row_units(usual * columns)[:, None]
    left, values, _ = np.linalg.svd(scaled)
    close = nearly_dependent(lin.M, lin.A)
    if values.min() > LOST * values.max() and not close:
        return
    lost = (
        np.abs(left[:, values <= LOST * values.max()]).max(axis=1, initial=0.0)
        if values.any()
        else np.ones(len(scaled))
    )
    rows = ", ".join(str(k + 1) for k in np.flatnonzero(lost > LOST)) or ", ".join(map(str, close))
    where = ", ".join(f"{name} = {value:g}" for name, value in zip(lin.system.coordinate_names, lin.q, strict=True))
    held = held_bases(lin.system)
    if held and not lin.A[lost > LOST].any():
        raise RankError(
            f"the base of {' and '.join(held)} cannot slide, which takes constraints of {lin.system.name} their rank "
            f"(rows {rows}): on the straight rod nothing that moves enters them, and the reaction is undetermined; let "
            "the base slide along a coordinate that a stiff spring holds, as in atlas.rod(load='spring')"
        )
    raise RankError(
        f"the constraints of {lin.system.name} lose rank (rows {rows}) at {where}: small motions there are not those "
        "of the constrained system; fix a coordinate to take another equilibrium"
    )
