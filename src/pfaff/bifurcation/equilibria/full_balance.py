"""The balance of the whole system at points of a branch at rest: every coordinate, every reaction, every constraint.

A branch is followed in a chart, whose equations are those of the system times its inertia, without the coordinates that
it drops and the velocities that it solves for. At its edge these may vanish, or be singular, where the system is not at
rest, or rests without branching; and so they may where inertia vanishes. h + Aᵀp = 0 and φ = 0 contain neither chart
nor inertia.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.flow.structured_views import RodStatics
from pfaff.statement.system import System

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.rest_equations import RestEquations

MOVING = 1e-9  # velocities above this, relative to usual ones, are no rest
PROBE = 1e-6  # step of differences by the parameter, relative to its unit


@dataclass(frozen=True, eq=False)
class FullBalance:
    """A system at rest in configurations, a column each, with the reactions that balance its forces best."""

    statics: Statics
    q: np.ndarray
    p: np.ndarray
    at: AtRest
    usual: np.ndarray  # sizes of the coordinates on the branch

    @property
    def residuals(self) -> np.ndarray:
        """The largest forces that nothing balances, relative to the largest that take part, and violated constraints,
        relative to displacements."""
        at, d, q = self.at, self.at.stiffness_units, np.maximum(np.abs(self.q), NEIGHBOUR * self.usual[:, None])
        forces = np.abs(at.balance - _by_columns(at.A, self.p)) + np.einsum("ijk,jk->ik", np.abs(at.K), q)
        forces += _by_columns(np.abs(at.A), np.abs(self.p))
        largest = (d * forces).max(axis=0, initial=0.0)
        off = (d * np.abs(at.balance)).max(axis=0, initial=0.0) / np.where(largest, largest, 1.0)
        if not at.held.any():
            return off
        s = at.nonholonomic
        rows = np.concatenate([np.maximum(np.abs(at.A[:s]), np.abs(at.B[:s])), np.abs(at.A[s:])])
        usual = np.einsum("ijk,jk->ik", rows, q + d * largest)
        return np.maximum(off, (np.abs(at.held) / np.where(usual, usual, 1.0)).max(axis=0))

    @property
    def inertias(self) -> np.ndarray:
        """The least inertia of motions that the constraints allow, relative to the greatest, in units of the
        coordinates in which theirs are one; negative where the kinetic energy is."""
        d, m = self.at.inertial_units, len(self.at.A)
        M = np.moveaxis(self.at.M * d[:, None] * d, 2, 0)
        if m:
            rows = np.moveaxis(self.at.A * d, 2, 0)
            allowed = np.linalg.svd(rows)[2][:, m:]
            M = allowed @ M @ allowed.swapaxes(1, 2)
        values = np.linalg.eigvalsh(M)
        greatest = np.abs(values).max(axis=1, initial=0.0)
        return values.min(axis=1, initial=np.inf) / np.where(greatest, greatest, 1.0)

    def margin(self, dependent: Sequence[str], names: Sequence[str]) -> float:
        """How well the constraints determine velocities that are solved for, in the first configuration: the least
        singular value of their coefficients, relative to the largest of all; infinite if there are none."""
        A, d = self.at.A[..., 0], self.at.inertial_units[:, 0]
        columns = [names.index(name.removesuffix("_dot")) for name in dependent]
        values = np.linalg.svd((A * d)[:, columns], compute_uv=False)
        return float(values.min(initial=np.inf) / (np.abs(A * d).max(initial=0.0) or 1.0))

    def unbalanced(self, k: int) -> int:
        """The index of the coordinate whose forces balance least in a configuration."""
        return int((self.at.stiffness_units[:, k] * np.abs(self.at.balance[:, k])).argmax())

    def branching(self, s: RestEquations, z: np.ndarray) -> float | None:
        """The least singular value of the balance in all coordinates, reactions and the parameter, in the first
        configuration: zero where solutions branch. None where more is held than it leaves free.

        Rows and columns are measured by their sizes in the neighbourhood: at a branch point a row may be mere rounding.
        """
        units = _at_columns(self.statics, *self._around(s, z)).units.min(axis=1)
        here, *around = (
            self._matrix(s, z, side) * units[:, None] * np.append(units, s.sizes[-1]) for side in (0, 1, -1)
        )
        selecting = _selecting(s, units)
        rows = np.full(len(units), True)
        rows[self.statics.n : self.statics.n + self.statics.nonholonomic] = self.statics.demanding
        if rows.sum() + len(selecting) > len(units):
            return None
        sizes = np.linalg.norm(np.stack([here, *around]), axis=2).max(axis=0)
        matrix = np.vstack([(here / np.where(sizes, sizes, 1.0)[:, None])[rows], selecting])
        return float(np.linalg.svd(matrix, compute_uv=False)[-1])

    def _around(self, s: RestEquations, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, reactions and parameters about the first configuration, on both sides of it."""
        away = NEIGHBOUR * (1 + np.abs(self.q[:, 0])) * (1 + np.arange(len(self.q)) % 3) / 3
        q = self.q[:, :1] + away[:, None] * np.array([1.0, -1.0])
        p = self.p[:, :1] * (1 + NEIGHBOUR * np.array([1.0, -1.0]))
        return q, p, np.column_stack([_numbers(s, z, NEIGHBOUR * side) for side in (1.0, -1.0)])

    def _matrix(self, s: RestEquations, z: np.ndarray, side: int) -> np.ndarray:
        """Derivatives of the balance by coordinates, reactions and the parameter, here or on one side of it."""
        q, p, shift = self.q[:, 0], self.p[:, 0], 0.0
        if side:
            q, p = (each[:, int(side < 0)] for each in self._around(s, z)[:2])
            shift = NEIGHBOUR * side
        jacobian = self.statics(q, p, _numbers(s, z, shift)).jacobian
        if not s.parameters:
            return np.column_stack([jacobian, np.zeros(len(jacobian))])
        there = [self.statics(q, p, _numbers(s, z, shift + PROBE * each)) for each in (1.0, -1.0)]
        after, before = (np.concatenate([each.balance, each.held]) for each in there)
        return np.column_stack([jacobian, (after - before) / (2 * PROBE * s.sizes[-1])])


def full_balance(s: Any, points: Iterable[np.ndarray]) -> FullBalance | None:
    """The balance at points of a branch; None where nothing is known beyond the equations themselves, as for plain
    ODEs, or where the system moves."""
    system = getattr(getattr(s, "case", None), "system", None)
    if not isinstance(system, System):
        return None
    points = list(points)  # which are made only here
    x = np.column_stack([s.x(z) for z in points])
    numbers = np.column_stack([s.numbers(z) for z in points])
    coordinates, states = system.coordinate_names, list(s.flow.states)
    statics, speeds = statics_of(system), [j for j, name in enumerate(states) if name not in coordinates]
    usual = float(s.sizes[speeds].max(initial=0.0)) or 1.0
    # Near the edge of a chart velocities that it solves for are rounding times infinity.
    velocities = s.flow.velocities(x, numbers) if any(statics.demanding) else x[speeds]
    if not np.abs(velocities).max(initial=0.0) <= MOVING * usual:
        return None
    q, sizes = np.zeros((len(coordinates), len(points))), np.zeros(len(coordinates))
    for i, name in enumerate(coordinates):
        if name in states:
            q[i], sizes[i] = x[states.index(name)], s.sizes[states.index(name)]
    bare = _at_columns(statics, q, np.zeros((statics.m, len(points))), numbers)
    d = bare.stiffness_units
    p = np.zeros((statics.m, len(points)))
    if statics.m:
        columns = np.moveaxis(bare.A * d, 2, 0).swapaxes(1, 2)  # [point, coordinate, reaction]
        p = -(np.linalg.pinv(columns) @ (d * bare.balance).T[..., None])[..., 0].T
    return FullBalance(statics, q, p, _at_columns(statics, q, p, numbers), sizes)


def _numbers(s: RestEquations, z: np.ndarray, shift: float) -> np.ndarray:
    """The parameters at a point, the last free one shifted by a share of its unit."""
    return s.numbers(z + shift * s.sizes[-1] * np.eye(len(z))[-1])


def _at_columns(statics: Statics, q: np.ndarray, p: np.ndarray, numbers: np.ndarray) -> AtRest:
    """The matrices at rest of all configurations, each with its own parameters."""
    if not isinstance(statics, RodStatics):
        return statics(q, p, numbers)
    each = [statics(*columns) for columns in zip(q.T, p.T, numbers.T, strict=True)]
    names = ("balance", "held", "M", "C", "K", "A", "B")
    balance, held, M, C, K, A, B = (np.stack([getattr(at, name) for at in each], -1) for name in names)
    return AtRest(balance, held, M, C, K, A, B, each[0].nonholonomic)


def _by_columns(rows: np.ndarray, reactions: np.ndarray) -> np.ndarray:
    """Aᵀp, column by column."""
    return np.einsum("mik,mk->ik", rows, reactions)


def _selecting(s: RestEquations, units: np.ndarray) -> np.ndarray:
    """Rows that select a member of the family: coordinates on which nothing depends, and what the branch holds."""
    names = list(s.case.system.coordinate_names)  # type: ignore[attr-defined]
    columns = len(units) + 1
    rows = [np.eye(columns)[names.index(name)] for name in s.flow.dropped if name in names]
    for row, pull in zip(s.rows, s.pull, strict=True):
        held = np.zeros(columns)
        for j, name in enumerate(s.flow.states):
            if name in names:
                held[names.index(name)] = row[j] * units[names.index(name)]
        held[-1] = -pull[-1] * s.sizes[-1]
        rows += [held] if held.any() else []
    return np.array(rows).reshape(-1, columns)
