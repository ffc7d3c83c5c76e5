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

from pfaff.algebra.pencil import Pencil
from pfaff.algebra.rounding import REAL
from pfaff.algebra.units import inertial_units, row_units, stiffness_units
from pfaff.errors import RankError
from pfaff.flow.shape import ignorable_coordinates
from pfaff.flow.statics import statics_of
from pfaff.statement.system import System
from pfaff.statement.values import complex_number
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.stability.determinant import Determinant

RANK_TOLERANCE = 1e-9
SYMMETRY_TOLERANCE = 1e-11  # of a stiffness in units in which all are alike: ε over the NOISE of these units
AT_REST = 3e-14  # unbalanced forces below this, relative to those of their row, are rounding
NEIGHBOUR = 1e-3  # distance, relative, at which a constraint that vanishes here shows its usual size
LOST = 1e-6  # constraints that shrink to this, relative to that size, have lost their rank


@dataclass(frozen=True)
class Reduced:
    """First-order form without structural zeros: states y of q = Z y and speeds u of q̇ = N u − D q.

    Where positions and speeds span the same directions, the motions are Lᵀ(M λ² + C λ + K)Z y = 0 with L in ``left``.
    """

    J: np.ndarray
    Z: np.ndarray
    N: np.ndarray
    speeds: np.ndarray
    zeros: dict[str, int]
    left: np.ndarray | None

    @cached_property
    def positions(self) -> list[int]:
        """Coordinates by which the positions are well described."""
        return _independent_rows(self.Z)

    @cached_property
    def equations(self) -> list[int]:
        """The same for the combinations of equations."""
        return self.positions if self.left is None or self.left is self.Z else _independent_rows(self.left)


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of small motions, the structural zeros kept apart.

    ``vectors`` holds, column by column, the coordinates' part of each mode (all states of a plain ODE);
    ``reactions`` the amplitudes of the reactions with it. ``zeros`` counts the structural zeros by their cause,
    ``rounding`` is the real part up to which each eigenvalue may lie on the imaginary axis.
    """

    values: np.ndarray
    vectors: np.ndarray
    reactions: np.ndarray
    zeros: dict[str, int]
    linearisation: Linearisation | None  # none for a plain ODE
    rounding: np.ndarray

    @property
    def structural_zeros(self) -> int:
        return sum(self.zeros.values())

    @property
    def stable(self) -> bool:
        """No eigenvalue to the right of the imaginary axis, beyond rounding."""
        return not (self.values.real > self.rounding).any()

    @property
    def status(self) -> str:
        if self.stable:
            verdict = "stable"
        else:
            growing = self.values[self.values.real > self.rounding]
            turning = np.abs(growing.imag) > REAL * np.abs(growing)
            oscillating, straight = turning.sum() // 2, (~turning).sum()
            parts = [f"{oscillating} growing oscillation(s)"] * bool(oscillating)
            verdict = "unstable: " + " and ".join(parts + [f"{straight} divergent mode(s)"] * bool(straight))
        causes = "; ".join(f"{count} from {cause}" for cause, count in self.zeros.items())
        return verdict + (f" ({self.structural_zeros} structural zero(s) set apart: {causes})" if causes else "")

    def plot(self) -> Figure:
        from pfaff.draw.spectrum import draw_spectrum

        return draw_spectrum(self)


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
    unit: np.ndarray | float = 1.0  # what the matrices measure the coordinates in

    @cached_property
    def inertial(self) -> Linearisation:
        """The same in units in which inertias are alike: what cancels then does so whatever the coordinates' units."""
        d = inertial_units(self.M)
        M, C, K = (matrix * d[:, None] * d for matrix in (self.M, self.C, self.stiffness))
        return replace(self, M=M, C=C, stiffness=K, A=self.A * d, B=self.B * d, unit=d)

    @cached_property
    def K(self) -> np.ndarray:
        """The stiffness without reactions: of the potential and of forces that depend on the position."""
        return statics_of(self.system)(self.q, np.zeros_like(self.p), self.numbers).K

    @cached_property
    def G(self) -> np.ndarray:
        """∂Aᵀ/∂q, the geometric stiffness of a unit reaction."""
        statics = statics_of(self.system)
        each = [statics(self.q, unit, self.numbers).K - self.K for unit in np.eye(len(self.p))]
        return each[0] if len(each) == 1 else np.array(each).reshape(-1, *self.M.shape)

    @property
    def w(self) -> np.ndarray:
        return self.A[0] if len(self.A) == 1 else self.A.T

    @cached_property
    def kernel(self) -> np.ndarray:
        """An orthonormal basis of the velocities that the constraints allow."""
        rows = self._rows_checked
        return _complement((rows * row_units(rows)[:, None]).T) if len(rows) else np.eye(len(self.M))

    @cached_property
    def _rows_checked(self) -> np.ndarray:
        _check_rank(self)
        return self.A

    @cached_property
    def _units(self) -> np.ndarray:
        return stiffness_units(self.stiffness, self.M)

    @cached_property
    def _allowed(self) -> np.ndarray:
        """The same velocities in units of the stiffness: beside a stiff spring others are not rounding."""
        rows = self._rows_checked * self._units
        return _complement((rows * row_units(rows)[:, None]).T) if len(rows) else np.eye(len(self.M))

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
        from pfaff.stability.determinant import determinant

        return determinant(self)

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
        D, N = self._units, self._allowed
        inner = N.T @ (self.stiffness * D[:, None] * D) @ N
        return bool(np.abs(inner - inner.T).max(initial=0.0) < SYMMETRY_TOLERANCE)

    @cached_property
    def reduced(self) -> Reduced:
        """The same without structural zeros, in units of the inertia."""
        return _reduce(self.inertial)

    @property
    def J(self) -> np.ndarray:
        """The first-order form without structural zeros."""
        return self.reduced.J

    def motions(self, beside: Linearisation | None = None) -> Pencil:
        """The small motions without structural zeros, in the directions of this equilibrium or of one beside it."""
        if beside is None:
            return _motions(self.inertial, self.reduced)
        alike = beside.reduced.left is not None and self.moves_like(beside)
        return _motions(self.inertial, beside.reduced if alike else self.reduced, beside.reduced)

    def moves_like(self, other: Linearisation) -> bool:
        """Whether all but the stiffness is the same, so that the directions are."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("M", "C", "A", "B"))

    def eigenvalues(self) -> np.ndarray:
        return self.motions().eigenvalues()

    def spectrum(self) -> Spectrum:
        r = _without_families(self.inertial, self.reduced)
        modes = _motions(self.inertial, r).modes()
        order = np.lexsort((modes.values.imag, -modes.values.real))
        values, vectors = modes.values[order], np.diag(self.inertial.unit) @ _coordinates(r, modes.vectors[:, order])
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        push = -(self.M @ vectors * values**2 + self.C @ vectors * values + self.stiffness @ vectors)
        reactions = np.linalg.lstsq(self.A.T, push, rcond=None)[0] if len(self.A) else push[:0]
        return Spectrum(values, vectors, reactions, r.zeros, self, modes.on_axis[order])

    def polynomial(self) -> np.ndarray:
        """ρ_0 … ρ_m of Eq. (44), highest power first, with ρ_0 > 0."""
        N = self.kernel
        lead = np.linalg.det(N.T @ self.M @ N) * np.linalg.det(self.A @ self.A.T)
        return lead * np.poly(self.eigenvalues()).real

    def hurwitz(self) -> np.ndarray:
        """The Hurwitz determinants D_1 … D_m of Eq. (45); all positive if and only if stable."""
        H = hurwitz_matrix(self.polynomial())
        return np.array([np.linalg.det(H[:i, :i]) for i in range(1, len(H) + 1)])


def hurwitz_matrix(rho: np.ndarray) -> np.ndarray:
    """H of Eq. (45): H[i, j] = ρ_{2i − j + 1}, counting from zero."""
    m = len(rho) - 1
    index = 2 * np.arange(m)[:, None] - np.arange(m)[None, :] + 1
    return np.where((index >= 0) & (index <= m), np.asarray(rho)[np.clip(index, 0, m)], 0.0)


def linearise(system: System, q: np.ndarray, p: np.ndarray, numbers: np.ndarray) -> Linearisation:
    """The small motions about the rest position q with reactions p, at these parameter values."""
    statics = statics_of(system)
    at = statics(q, p, numbers)
    return Linearisation(system, q, p, numbers, at.M, at.C, at.K, at.A, at.B, statics.nonholonomic)


def _check_rank(lin: Linearisation) -> None:
    """The constraints must be independent here, each row and column measured by its size in the neighbourhood."""
    if not len(lin.A):
        return
    uneven = _nearby(lin) * (1 + np.arange(len(lin.q)) % 3) / 3
    statics = statics_of(lin.system)
    near = [np.abs(statics(lin.q + sign * uneven, lin.p, lin.numbers).A * lin.unit) for sign in (-1.0, 1.0)]
    usual = np.nanmax([np.abs(lin.A), *near], axis=0)
    columns = row_units(usual.T)
    scaled = lin.A * columns * row_units(usual * columns)[:, None]
    left, values, _ = np.linalg.svd(scaled)
    if values.min() > LOST * values.max():
        return
    lost = np.abs(left[:, values <= LOST * values.max()]).max(axis=1) if values.any() else np.ones(len(scaled))
    rows = ", ".join(str(k + 1) for k in np.flatnonzero(lost > LOST))
    where = ", ".join(f"{name} = {value:g}" for name, value in zip(lin.system.coordinate_names, lin.q, strict=True))
    raise RankError(
        f"the constraints of {lin.system.name} lose rank (rows {rows}) at {where}: small motions there are not those "
        "of the constrained system; fix a coordinate to take another equilibrium"
    )


def _nearby(lin: Linearisation) -> np.ndarray:
    """Displacements of the coordinates to the neighbourhood: as far as they are, in units of the inertia, and some."""
    d = inertial_units(lin.M) * lin.unit
    return NEIGHBOUR * d * (1 / d.max() + np.abs(lin.q / d).max())


def _kernel(rows: np.ndarray) -> np.ndarray:
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return right[int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum()) :].T


def _reduce(lin: Linearisation) -> Reduced:
    """Restrict to A_c q = 0 for every conserved combination A_c, and drop coordinates that nothing depends on."""
    s, N = lin.nonholonomic, lin.kernel
    plain = not lin.B[:s].any()
    conserved = lin.A[:s] if plain else _kernel(lin.B[:s].T).T @ lin.A[:s]  # ℓᵀA with ℓᵀB = 0
    Z = N if plain else _kernel(np.vstack([conserved, lin.A[s:]]))
    zeros = {"the nonholonomic constraints": len(conserved)} if len(conserved) else {}
    Z, speeds, more = _without_ignorable(lin, Z, N)
    fall = np.zeros_like(lin.M) if plain else _fall(lin)
    # q̇ = N u − fall q, and Nᵀ(M q̈ + C q̇ + K q) = 0 with q̈ = N u̇ − fall q̇
    left = _left(lin, Z, N, speeds) if plain else None
    return Reduced(_first_order(lin, Z, N, speeds, fall), Z, N, speeds, zeros | more, left)


def _fall(lin: Linearisation) -> np.ndarray:
    """What of the velocities follows from the position by constraints A q̇ + B q = 0."""
    rows, s = row_units(lin.A)[:, None], lin.nonholonomic
    return np.linalg.pinv(rows * lin.A) @ np.vstack([rows[:s] * lin.B[:s], 0 * lin.B[s:]])


def _left(lin: Linearisation, Z: np.ndarray, N: np.ndarray, speeds: np.ndarray) -> np.ndarray | None:
    """What multiplies the equations from the left so that steady drifts, which were dropped, take no part in them."""
    if Z.shape[1] != speeds.shape[1]:
        return None
    if speeds.shape[1] == N.shape[1]:
        return Z
    drifts = N @ _complement(N.T @ speeds)
    return N @ _complement(N.T @ lin.M @ drifts)


def _complement(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what is orthogonal to independent columns."""
    return np.linalg.qr(columns, mode="complete")[0][:, columns.shape[1] :]


def _motions(lin: Linearisation, r: Reduced, beside: Reduced | None = None) -> Pencil:
    """K + λ C + λ² M in independent coordinates, those of ``beside`` if given; λ − J if it is not of second order."""
    if r.left is None:
        J = r.J if beside is None else _turned(r, beside)
        return Pencil((-J, np.eye(len(J))))
    like = beside or r
    left, Z = _by_coordinates(r.left, like.equations), _by_coordinates(r.Z, like.positions)
    return Pencil(tuple(left.T @ matrix @ Z for matrix in (lin.stiffness, lin.C, lin.M)))


def _by_coordinates(basis: np.ndarray, rows: list[int]) -> np.ndarray:
    """The basis of the same directions in which each moves one of these coordinates.

    It does not mix a stiff coordinate with the others, and depends on nothing but the directions.
    """
    return np.linalg.solve(basis[rows].T, basis.T).T


def _independent_rows(basis: np.ndarray) -> list[int]:
    """As many rows of a basis as it has columns, chosen one after another so that they are well independent."""
    chosen, rest = [], basis.copy()
    for _ in range(basis.shape[1]):
        sizes = np.einsum("ij,ij->i", rest, rest)
        chosen.append(int(sizes.argmax()))
        row = rest[chosen[-1]] / np.sqrt(sizes[chosen[-1]])
        rest = rest - np.outer(rest @ row, row)
    return chosen


def _turned(r: Reduced, beside: Reduced) -> np.ndarray:
    """The first-order form in the directions of another, so that neighbours can be compared."""
    positions, speeds = r.Z.T @ beside.Z, r.speeds.T @ beside.speeds
    corner = np.zeros((len(positions), speeds.shape[1]))
    turn = np.block([[positions, corner], [np.zeros((len(speeds), positions.shape[1])), speeds]])
    return np.linalg.solve(turn, r.J @ turn)


def _coordinates(r: Reduced, states: np.ndarray) -> np.ndarray:
    """The coordinates' part of vectors of the motions, column by column; the speeds' of modes that move none."""
    if r.left is not None:
        return _by_coordinates(r.Z, r.positions) @ states
    size = r.Z.shape[1]
    vectors = r.Z @ states[:size] if size else np.zeros((len(r.N), states.shape[1]), dtype=complex)
    still = np.abs(vectors).max(axis=0, initial=0.0) < RANK_TOLERANCE * np.abs(states).max(axis=0, initial=0.0)
    return np.where(still, r.speeds @ states[size:], vectors)


def _first_order(lin: Linearisation, Z: np.ndarray, N: np.ndarray, speeds: np.ndarray, fall: np.ndarray) -> np.ndarray:
    left = np.linalg.solve(N.T @ lin.M @ N, N.T)
    by_u = left @ (lin.M @ fall - lin.C) @ N
    by_q = left @ (lin.C @ fall - lin.M @ fall @ fall - lin.stiffness)
    back = N.T @ speeds
    return np.block([[-Z.T @ fall @ Z, Z.T @ speeds], [back.T @ by_q @ Z, back.T @ by_u @ back]])


def _without_families(lin: Linearisation, r: Reduced) -> Reduced:
    """Divide out the directions along which the equilibrium belongs to a family that goes on beyond it."""
    along = _neutral(lin, r.Z)
    if not along.shape[1] or lin.B[: lin.nonholonomic].any() or not _goes_on(lin, along):
        return r
    zeros = {"families of equilibria": along.shape[1]}
    drifting = _intersection(r.speeds, along @ _kernel(_damping(lin, along)))
    speeds = r.speeds @ _kernel((r.speeds.T @ drifting).T) if drifting.shape[1] else r.speeds
    if drifting.shape[1]:
        zeros["steady motions along them"] = drifting.shape[1]
    Z = r.Z @ _kernel((r.Z.T @ along).T)
    left = _left(lin, Z, r.N, speeds)
    return Reduced(_first_order(lin, Z, r.N, speeds, 0 * lin.M), Z, r.N, speeds, r.zeros | zeros, left)


def _neutral(lin: Linearisation, Z: np.ndarray) -> np.ndarray:
    """Directions among those of Z along which the balance persists to first order."""
    if not Z.shape[1]:
        return Z
    D = lin._units
    moves = np.linalg.qr(Z / D[:, None])[0]
    inner = lin._allowed.T @ (lin.stiffness * D[:, None] * D) @ moves
    along = moves @ _kernel(inner) if inner.any() else moves
    return np.linalg.qr(D[:, None] * along)[0]


def _goes_on(lin: Linearisation, along: np.ndarray) -> bool:
    """Whether neighbouring equilibria exist and are as neutral: a family, not the accident of a bifurcation."""
    statics, n, s = statics_of(lin.system), len(lin.q), lin.nonholonomic
    step = _nearby(lin)
    for direction in along.T:
        q, p = lin.q + step * direction, lin.p.copy()
        for _ in range(8):
            at = statics(q, p, lin.numbers)
            rows = np.block([[at.K, at.A.T], [at.A[s:], np.zeros((len(p) - s, len(p)))]])
            d = stiffness_units(at.K, at.M)
            e = row_units(at.A * d)
            left, right = np.concatenate([d, e[s:]]), np.concatenate([d, e])
            residual = np.concatenate([at.balance, at.held[s:]])
            change = np.linalg.lstsq(rows * left[:, None] * right, -left * residual, rcond=RANK_TOLERANCE)[0] * right
            q, p = q + change[:n], p + change[n:]
        moved = linearise(lin.system, q, p, lin.numbers).inertial
        away = (np.abs(q - lin.q) > 0.1 * step * np.abs(direction).max()).any()
        forces = np.abs(at.K) @ (np.abs(q) + step / NEIGHBOUR) + np.abs(at.A.T) @ np.abs(p)
        still = (np.abs(statics(q, p, lin.numbers).balance) <= AT_REST * forces).all()
        if not (away and still and _neutral(moved, moved.kernel).shape[1] >= along.shape[1]):
            return False
    return True


def _without_ignorable(
    lin: Linearisation, Z: np.ndarray, N: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Positions and speeds without the directions along which ignorable coordinates move freely."""
    names = lin.system.coordinate_names
    ignorable = [names.index(name) for name in ignorable_coordinates(lin.system)]
    free = _intersection(Z, np.eye(len(names))[:, ignorable])
    if not free.shape[1]:
        return Z, N, {}
    zeros = {"ignorable coordinates": free.shape[1]}
    drifting = _intersection(N, free @ _kernel(_damping(lin, free)))  # their speeds persist where nothing damps them
    if drifting.shape[1]:
        zeros["undamped ignorable speeds"] = drifting.shape[1]
        N = N @ _kernel((N.T @ drifting).T)
    return Z @ _kernel((Z.T @ free).T), N, zeros


def _damping(lin: Linearisation, directions: np.ndarray) -> np.ndarray:
    """The forces of velocities along directions on what can move, in units of what makes them up: without rounding."""
    N = lin.kernel
    forces, usual = N.T @ lin.C @ directions, np.abs(N.T) @ np.abs(lin.C) @ np.abs(directions)
    rows = usual.max(axis=1, initial=0.0, keepdims=True)
    return np.where(np.abs(forces) > RANK_TOLERANCE * usual, forces, 0.0) / np.where(rows, rows, 1.0)


def _intersection(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the common part of two spans with orthonormal columns."""
    if not first.shape[1] or not second.shape[1]:
        return np.zeros((len(first), 0))
    left, cosines, _ = np.linalg.svd(first.T @ second)
    return first @ left[:, : len(cosines)][:, cosines > 1 - RANK_TOLERANCE]
