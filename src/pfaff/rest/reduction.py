"""Small motions without their structural zeros: those of constraints, of ignorable coordinates, of families at rest.

Each is divided out by construction, in the directions that belong to it; none is known by its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.algebra.newtons_method import Stopping, least_norm, newton
from pfaff.algebra.pencil import Pencil
from pfaff.algebra.tolerances import NEIGHBOUR, RANK, rank
from pfaff.algebra.units import inertial_units, row_units
from pfaff.errors import RankError
from pfaff.flow.shape import ignorable_coordinates
from pfaff.flow.statics import statics_of
from pfaff.rest.soft import SUMMED, Soft, graded, in_more_digits, without_noise
from pfaff.threads import known_property, once

if TYPE_CHECKING:
    from pfaff.rest.small_motions import Linearisation
    from pfaff.statement.system import System

CANCELLED = 4 * float(np.finfo(float).eps)  # what is left of terms that cancel, relative to their sum
TO_A_NEIGHBOUR = Stopping(8, exact=0.0, settled=0.0)  # on a family


@dataclass(frozen=True)
class Reduced:
    """First-order form without structural zeros: states y of q = Z y and speeds u of q̇ = N u − D q.

    Where positions and speeds span the same directions, the motions are Lᵀ(M λ² + C λ + K)Z y = 0 with L in ``left``.
    """

    of: Linearisation
    Z: np.ndarray
    N: np.ndarray
    speeds: np.ndarray
    fall: np.ndarray  # D
    zeros: dict[str, int]
    left: np.ndarray | None

    @known_property
    def J(self) -> np.ndarray:
        """Nᵀ(M q̈ + C q̇ + K q) = 0 with q̈ = N u̇ − D q̇, solved for the rates of y and u."""
        lin, N, fall = self.of, self.N, self.fall
        left = np.linalg.solve(N.T @ lin.M @ N, N.T)
        by_u = left @ (lin.M @ fall - lin.C) @ N
        by_q = left @ (lin.C @ fall - lin.M @ fall @ fall - lin.stiffness)
        back = N.T @ self.speeds
        top = [-self.Z.T @ fall @ self.Z, self.Z.T @ self.speeds]
        return np.block([top, [back.T @ by_q @ self.Z, back.T @ by_u @ back]])

    @known_property
    def positions(self) -> list[int]:
        """Coordinates that describe the positions well."""
        return _independent_rows(self.Z)

    @known_property
    def equations(self) -> list[int]:
        """Indices of combinations of equations that are well independent."""
        return self.positions if self.left is None or self.left is self.Z else _independent_rows(self.left)

    @known_property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """Bases L and Z in which each direction moves one of these coordinates."""
        return self.bases_by(self)

    def bases_by(self, like: Reduced) -> tuple[np.ndarray, np.ndarray]:
        """The same bases by the coordinates that describe the equilibrium ``like``, with the soft directions there."""
        assert self.left is not None
        Z = _by_coordinates(self.Z, like.positions)
        alike = self.left is self.Z and like.equations is like.positions
        left = Z if alike else _by_coordinates(self.left, like.equations)
        return (left, Z) if like.soft is None else (left @ like.soft.left, Z @ like.soft.right)

    @known_property
    def unresisted(self) -> np.ndarray:
        """An orthonormal basis of the displacements that no stiffness resists."""
        return self._soft[0]

    @property
    def soft(self) -> Soft | None:
        """Combinations of the bases in which stiffness is diagonal, where some of it is lost beside stiffer ones."""
        return self._soft[1]

    @known_property
    def _soft(self) -> tuple[np.ndarray, Soft | None]:
        lin, none = self.of, np.zeros((len(self.Z), 0))
        if self.fall.any() or resists(lin, self.Z):
            return none, None
        D = lin.units[:, None]
        along = D * without_noise(neutral(lin, self.Z) / D)
        if not (np.abs(lin.kernel).T @ np.abs(lin.stiffness) @ np.abs(along)).any():
            return along, None
        left = lin.kernel if self.left is None else _by_coordinates(self.left, self.equations)
        found = graded(lin, left, _by_coordinates(self.Z, self.positions))
        return found.unresisted, None if self.left is None else found


def nearby(lin: Linearisation) -> np.ndarray:
    """Displacements of the coordinates to a neighbour: as far as their own size, in units of the inertia, and some."""
    d = inertial_units(lin.M) * lin.unit
    return NEIGHBOUR * d * (1 / d.max() + np.abs(lin.q / d).max())


def _kernel(rows: np.ndarray) -> np.ndarray:
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return right[rank(values) :].T


def without_structural_zeros(lin: Linearisation) -> Reduced:
    """Restrict to A_c q = 0 for every conserved combination A_c, and drop coordinates that nothing depends on."""
    s, N = lin.nonholonomic, lin.kernel
    plain = not lin.B[:s].any()
    conserved = lin.A[:s] if plain else _kernel(lin.B[:s].T).T @ lin.A[:s]  # ℓᵀA with ℓᵀB = 0
    Z = N if plain else _kernel(np.vstack([conserved, lin.A[s:]]))
    zeros = {"the nonholonomic constraints": len(conserved)} if len(conserved) else {}
    Z, speeds, more = _without_ignorable(lin, Z, N)
    fall = np.zeros_like(lin.M) if plain else _fall(lin)
    left = _left(lin, Z, N, speeds) if plain else None
    return Reduced(lin, Z, N, speeds, fall, zeros | more, left)


def _fall(lin: Linearisation) -> np.ndarray:
    """D: the part of the velocities that constraints A q̇ + B q = 0 derive from the position."""
    rows, s = row_units(lin.A)[:, None], lin.nonholonomic
    return np.linalg.pinv(rows * lin.A) @ np.vstack([rows[:s] * lin.B[:s], 0 * lin.B[s:]])


def _left(lin: Linearisation, Z: np.ndarray, N: np.ndarray, speeds: np.ndarray) -> np.ndarray | None:
    """The left factors of the equations that keep steady drifts, which were dropped, out of them."""
    if Z.shape[1] != speeds.shape[1]:
        return None
    if speeds.shape[1] == N.shape[1]:
        return Z
    drifts = N @ complement(N.T @ speeds)
    return N @ complement(N.T @ lin.M @ drifts)


def complement(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the orthogonal complement of independent columns."""
    if columns.shape[1] != 1 or not columns.any():
        return np.linalg.qr(columns, mode="complete")[0][:, columns.shape[1] :]
    mirror = columns[:, 0] / np.abs(columns).max()  # Householder's, without the overhead of a call
    mirror /= np.sqrt(mirror @ mirror)
    mirror[0] += 1.0 if mirror[0] >= 0 else -1.0
    basis = mirror[:, None] * (-mirror[1:] / abs(mirror[0]))
    basis.ravel()[len(mirror) - 1 :: len(mirror)] += 1.0
    return basis


def motions(lin: Linearisation, r: Reduced, beside: Reduced | None = None) -> Pencil:
    """K + λ C + λ² M in independent coordinates, those of ``beside`` if given; λ − J if it is not of second order."""
    if beside is not None:
        check_alike(*((each.Z.shape[1], each.speeds.shape[1]) for each in (r, beside)))
    if r.left is None:
        J = r.J if beside is None else _turned(r, beside)
        return Pencil((-J, np.eye(len(J))))
    left, Z = r.bases if beside is None or beside is r else r.bases_by(beside)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported by the pencil
        soft = (beside or r).soft
        if soft is not None:
            K, C, M = in_more_digits(lin, left, Z)
            free = len(K) - (r.unresisted.shape[1] if beside is None else 0)
            K[free:, free:] = 0.0
            sizes = (np.maximum(np.abs(each), size) for each, size in zip((K, C, M), soft.sizes, strict=True))
            return Pencil((K, C, M), tuple(sizes))
        return Pencil(tuple(_projected(left, matrix, Z) for matrix in (lin.stiffness, lin.C, lin.M)))


def _projected(left: np.ndarray, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """LᵀM R; entries whose terms cancel, but for rounding, are zero."""
    found = left.T @ matrix @ right
    if left.shape[0] == left.shape[1]:
        return found
    terms = np.abs(left).T @ np.abs(matrix) @ np.abs(right)
    return np.where((np.abs(found) <= CANCELLED * terms) & np.isfinite(terms), 0.0, found)


def check_alike(here: tuple[int, ...], there: tuple[int, ...]) -> None:
    """Raise unless small motions have as many directions at one equilibrium as at another, in whose they are taken."""
    if here != there:
        raise RankError(
            f"the small motions have {sum(here)} states here and {sum(there)} there, and no common directions: compare "
            "equilibria at which the same constraints move, or take each by itself"
        )


def _by_coordinates(basis: np.ndarray, rows: list[int]) -> np.ndarray:
    """The basis of the same directions in which each moves one of these coordinates.

    It does not mix a stiff coordinate with the others, and depends on nothing but the directions.
    """
    return np.linalg.solve(basis[rows].T, basis.T).T


def _independent_rows(basis: np.ndarray) -> list[int]:
    """As many rows of a basis as it has columns, chosen greedily to be well independent."""
    chosen, rest = [], basis.copy()
    for _ in range(basis.shape[1]):
        sizes = np.add.reduce(rest * rest, axis=1)
        chosen.append(int(sizes.argmax()))
        row = rest[chosen[-1]]
        rest = rest - (rest @ row / sizes[chosen[-1]])[:, None] * row
    return chosen


def _turned(r: Reduced, beside: Reduced) -> np.ndarray:
    """The first-order form in the directions of another, so that neighbours can be compared."""
    positions, speeds = r.Z.T @ beside.Z, r.speeds.T @ beside.speeds
    corner = np.zeros((len(positions), speeds.shape[1]))
    turn = np.block([[positions, corner], [np.zeros((len(speeds), positions.shape[1])), speeds]])
    return np.linalg.solve(turn, r.J @ turn)


def coordinates(r: Reduced, states: np.ndarray) -> np.ndarray:
    """The coordinates' part of vectors of the motions, column by column; the speeds' part for modes that move no
    coordinate."""
    if r.left is not None:
        return r.bases[1] @ states
    size = r.Z.shape[1]
    vectors = r.Z @ states[:size] if size else np.zeros((len(r.N), states.shape[1]), dtype=complex)
    still = np.abs(vectors).max(axis=0, initial=0.0) < RANK * np.abs(states).max(axis=0, initial=0.0)
    return np.where(still, r.speeds @ states[size:], vectors)


def without_families(lin: Linearisation, r: Reduced) -> Reduced:
    """Divide out the directions along which the equilibrium belongs to a family that goes on beyond it."""
    along = r.unresisted
    if not along.shape[1] or not (_goes_on(lin, along) or _symmetric(lin, along)):
        return r
    return without_directions(lin, r, along)


def without_directions(lin: Linearisation, r: Reduced, along: np.ndarray) -> Reduced:
    """Without displacements along some directions; and without speeds along them, where nothing damps these."""
    zeros = {"families of equilibria": along.shape[1]}
    drifting = intersection(r.speeds, along @ _kernel(_damping(lin, along)))
    speeds = r.speeds @ _kernel((r.speeds.T @ drifting).T) if drifting.shape[1] else r.speeds
    if drifting.shape[1]:
        zeros["steady motions along them"] = drifting.shape[1]
    Z = r.Z @ _kernel((r.Z.T @ along).T)
    left = _left(lin, Z, r.N, speeds)
    return Reduced(lin, Z, r.N, speeds, 0 * lin.M, r.zeros | zeros, left)


def resists(lin: Linearisation, Z: np.ndarray) -> bool:
    """Whether the stiffness has full rank on these directions, in units of the inertia; then it has so in better
    ones."""
    return rank(np.linalg.svd(lin.kernel.T @ lin.stiffness @ Z, compute_uv=False)) == Z.shape[1]


def neutral(lin: Linearisation, Z: np.ndarray) -> np.ndarray:
    """Directions among those of Z along which the balance persists to first order."""
    if not Z.shape[1]:
        return Z
    D = lin.units
    moves = np.linalg.qr(Z / D[:, None])[0]
    inner = lin.allowed.T @ (lin.stiffness * D[:, None] * D) @ moves
    along = moves @ _kernel(inner) if inner.any() else moves
    return np.linalg.qr(D[:, None] * along)[0]


def _symmetric(lin: Linearisation, along: np.ndarray) -> bool:
    """Whether symmetries carry the equilibrium in these directions."""
    carried = doors.symmetries.symmetries(lin.system).along(lin.q, lin.A[lin.nonholonomic :]) / lin.units[:, None]
    return intersection(np.linalg.qr(along / lin.units[:, None])[0], _orthonormal(carried)).shape[1] == along.shape[1]


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of some columns."""
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, : rank(values)]


def _goes_on(lin: Linearisation, along: np.ndarray) -> bool:
    """Whether neighbouring equilibria exist and are neutral too: a family, not the accident of a bifurcation."""
    statics, n, s = statics_of(lin.system), len(lin.q), lin.nonholonomic
    length = nearby(lin)

    def step(z: np.ndarray) -> tuple[np.ndarray, float]:
        at, m = statics(z[:n], z[n:], lin.numbers), len(z) - n
        rows = np.block([[at.K, at.A.T], [at.A[s:], np.zeros((m - s, m))]])
        d = at.stiffness_units
        e = row_units(at.A * d)
        left, right = np.concatenate([d, e[s:]]), np.concatenate([d, e])
        residual = np.concatenate([at.balance, at.held[s:]])
        change = least_norm(rows * left[:, None] * right, -left * residual) * right
        return z + change, float(np.abs(change).max(initial=0.0))

    for direction in along.T:
        z = newton(step, np.concatenate([lin.q + length * direction, lin.p]), TO_A_NEIGHBOUR).at
        q, p = z[:n], z[n:]
        at, moved = statics(q, p, lin.numbers), lin.elsewhere(q, p).inertial
        away = (np.abs(q - lin.q) > 0.1 * length * np.abs(direction).max()).any()
        forces = np.abs(at.K) @ (np.abs(q) + length / NEIGHBOUR) + np.abs(at.A.T) @ np.abs(p)
        still = (np.abs(at.balance) <= SUMMED * forces).all()
        if not (away and still and neutral(moved, moved.kernel).shape[1] >= along.shape[1]):
            return False
    return True


def _without_ignorable(
    lin: Linearisation, Z: np.ndarray, N: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Positions and speeds without the directions along which ignorable coordinates move freely."""
    free = intersection(Z, _ignorable_directions(lin.system))
    if not free.shape[1]:
        return Z, N, {}
    zeros = {"ignorable coordinates": free.shape[1]}
    drifting = intersection(N, free @ _kernel(_damping(lin, free)))  # their speeds persist where nothing damps them
    if drifting.shape[1]:
        zeros["undamped ignorable speeds"] = drifting.shape[1]
        N = N @ _kernel((N.T @ drifting).T)
    return Z @ _kernel((Z.T @ free).T), N, zeros


@once(most=1)
def _ignorable_directions(system: System) -> np.ndarray:
    names = system.coordinate_names
    return np.eye(len(names))[:, [names.index(name) for name in ignorable_coordinates(system)]]


def _damping(lin: Linearisation, directions: np.ndarray) -> np.ndarray:
    """Damping forces of velocities along directions, on what can move, relative to their terms: rounding is set to
    zero."""
    N = lin.kernel
    forces, usual = N.T @ lin.C @ directions, np.abs(N.T) @ np.abs(lin.C) @ np.abs(directions)
    rows = usual.max(axis=1, initial=0.0, keepdims=True)
    return np.where(np.abs(forces) > RANK * usual, forces, 0.0) / np.where(rows, rows, 1.0)


def intersection(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the common part of two spans with orthonormal columns."""
    between = first.T @ second
    if not between.size or np.einsum("ij,ij->", between, between) < 1 - 3 * RANK:  # no cosine is as large as one
        return np.zeros((len(first), 0))
    left, cosines, _ = np.linalg.svd(between)
    return first @ left[:, : len(cosines)][:, cosines > 1 - RANK]
