"""Equilibria as regular equations: f(x, λ) + C u = 0 with R x = held, in one or two free parameters λ.

Where equilibria come in families, the rows R select a member, and the columns C, which span the complement of the
Jacobian's range, let u absorb the surplus equations: u vanishes at every solution. Any remaining singularity is a
bifurcation. Eigenvalues are those on the range of the Jacobian, without the structural zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Self

import numpy as np

from pfaff.algebra.bordering import Border, at_rest, bordering, row_sizes
from pfaff.bifurcation.equilibria.linearised import Linearised, linear_about, linearised
from pfaff.bifurcation.equilibria.parameter_units import FARTHER, grow_with_distance, in_natural_unit, ratio
from pfaff.bifurcation.equilibria.state_sizes import state_sizes
from pfaff.bifurcation.equilibria.zero_forms import Null, null_of
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.flow.flow import Flow
from pfaff.kernels.readers import Reader
from pfaff.rest.field import Field
from pfaff.threads import known_property

if TYPE_CHECKING:
    from pfaff.case import Bound

PROBE = 1e-5  # step of differences of analytic Jacobians, relative to the units


@dataclass(frozen=True, eq=False)
class RestEquations:
    """The problem in z = (x, u, λ). ``free`` names the λ: parameters, or one coordinate of the family itself."""

    case: Bound
    flow: Flow
    free: tuple[str, ...]
    zeros: tuple[int, ...]
    columns: np.ndarray
    rows: np.ndarray
    held: np.ndarray
    pull: np.ndarray  # R x = held + pull λ: how a free coordinate of the family moves
    sizes: np.ndarray  # sizes of z
    origins: tuple[float, ...] = ()  # origins of the last free names: their units grow with the distance from there
    reach: float = inf  # change of the branch's parameter that changes the Jacobian as a whole

    @known_property
    def n(self) -> int:
        return len(self.flow.states)

    @known_property
    def k(self) -> int:
        return len(self.rows)

    @property
    def attracting(self) -> int:
        """The number of holonomic constraints that attract the flow."""
        return len(self.case.system.statement.positions) if self.flow.settle else 0  # type: ignore[attr-defined]

    @known_property
    def parameters(self) -> tuple[str, ...]:
        """The free names that are parameters."""
        return tuple(name for name in self.free if name in self.case.system.parameter_names)

    @known_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Indices of the varying parameters: among the numbers of the case, and among the free names."""
        names = self.case.system.parameter_names
        return [names.index(name) for name in self.parameters], [self.free.index(name) for name in self.parameters]

    @property
    def structural(self) -> bool:
        """Whether equilibria come in families, or constraints attract the flow."""
        return bool(self.k or self.zeros or self.attracting or len(self.parameters) < len(self.free))

    @property
    def reader(self) -> Reader | None:
        """The reader of f, ∂f/∂x and ∂f/∂λ together, for kernels."""
        return self._linearised.reader

    @known_property
    def free_places(self) -> np.ndarray:
        """Indices of the free parameters among the numbers of the case."""
        return np.array(self._places[0], dtype=np.int64)

    @property
    def varied(self) -> list[int]:
        """Indices of parameters among the free names."""
        return self._places[1]

    @known_property
    def _linearised(self) -> Linearised:
        return linearised(self.flow, self.parameters)

    def x(self, z: np.ndarray) -> np.ndarray:
        return z[: self.n]

    def free_values(self, z: np.ndarray) -> dict[str, float]:
        return dict(zip(self.free, z[self.n + self.k : self.n + self.k + len(self.free)].tolist(), strict=True))

    def numbers(self, z: np.ndarray) -> np.ndarray:
        numbers, (places, among) = self.case.numbers.copy(), self._places
        for place, j in zip(places, among, strict=True):
            numbers[place] = z[self.n + self.k + j]
        return numbers

    def case_at(self, z: np.ndarray) -> Bound:
        values = self.free_values(z)
        return self.case.unchecked(**{name: values[name] for name in self.parameters})

    def state_jacobian(self, z: np.ndarray) -> np.ndarray:
        """∂f/∂x."""
        return self._linearised(self.x(z), self.numbers(z))[:, 1 : self.n + 1]

    def rates(self, z: np.ndarray) -> np.ndarray:
        """f itself, without the part that u absorbs."""
        return self.flow.rhs(self.x(z), self.numbers(z))

    def reactions(self, z: np.ndarray) -> dict[str, float]:
        values = self.flow.reactions(self.x(z), self.numbers(z))
        return dict(zip(getattr(self.case.system, "reaction_names", ()), values.tolist(), strict=False))

    def check_rest(self, z: np.ndarray) -> None:
        """Raise unless u vanishes, as it does at equilibria; elsewhere it hides that f does not."""
        taken = self.columns @ z[self.n : self.n + self.k]
        if at_rest(taken, np.abs(self.state_jacobian(z)) @ self.sizes[: self.n]):
            return
        if not at_rest(taken, self.row_sizes(z)[: self.n]):
            raise ConvergenceError(
                f"the family of equilibria ends here: a rate of {np.abs(taken).max():.1e} is left; "
                "start from another equilibrium"
            )

    def row_sizes(self, z: np.ndarray) -> np.ndarray:
        """Sizes of the rows of the Jacobian about z, in units: at a branch point a row itself may be mere rounding."""
        return row_sizes(self.jacobian, z, self.sizes)

    def residual(self, z: np.ndarray) -> np.ndarray:
        return self.evaluated(z)[0]

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        return self.evaluated(z)[1]

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual and Jacobian."""
        n, k, (_, among) = self.n, self.k, self._places
        values = self._linearised(z[:n], self.numbers(z))
        if not np.isfinite(values[:, 0]).all():
            self.rates(z)  # which raises and names what is singular
        if not k and len(among) == len(self.free):
            return values[:, 0], values[:, 1:]
        J = np.zeros((n + k, n + k + len(self.free)))
        J[:n, :n] = values[:, 1 : n + 1]
        for column, j in enumerate(among):
            J[:n, n + k + j] = values[:, n + 1 + column]
        if not k:
            return values[:, 0], J
        J[:n, n : n + k], J[n:, :n], J[n:, n + k :] = self.columns, self.rows, -self.pull
        family = self.rows @ z[:n] - self.held - self.pull @ z[n + k : n + k + len(self.free)]
        return np.concatenate([values[:, 0] + self.columns @ z[n : n + k], family]), J

    def rebased(self, z: np.ndarray) -> RestEquations:
        """The problem with its columns, and the sizes of the states, renewed at a point."""
        sizes = self.sizes.copy()
        # States grow together: one that is small beside the others is not measured in its own size.
        sizes[: self.n] *= max(1.0, float((np.abs(z) / sizes)[: self.n].max(initial=0.0)))
        grow_with_distance(sizes, z, self.origins)
        if not self.k:
            return self.in_units(sizes)
        D = sizes[: self.n, None]
        return replace(self, sizes=sizes, columns=_turned(self.reached(z)[2], self.columns / D) * D)

    def measured(self, z: np.ndarray) -> Self:
        """The problem with the parameter measured by what changes the Jacobian as a whole, or by its distance from z if
        that is larger: steps then do not depend on how far a branch is to go, and none leads over to another branch."""
        if not self.parameters:
            return self
        known = replace(self, origins=(float(z[-1]),), reach=min(self.jacobian_changes(z), self.reach))
        return known.reaching(z, float(self.sizes[-1]), 0.0)

    def jacobian_changes(self, z: np.ndarray) -> float:
        """The change of the last parameter that changes the Jacobian as a whole."""
        n, size = self.n, float(self.sizes[-1])
        numbers = self.numbers(z)[:, None].repeat(3, axis=1)
        numbers[self._places[0][-1]] += PROBE * size * np.array([0.0, 1.0, -1.0])
        here, after, before = self._linearised(z[:n, None].repeat(3, axis=1), numbers)[:, 1 : n + 1].transpose(2, 0, 1)
        return ratio(self.norm(here), self.norm((after - before) / (2 * PROBE))) * size

    def reaching(self, z: np.ndarray, span: float, least: float) -> Self:
        """The problem with a range of the parameter that measures its steps at z, no smaller than before."""
        sizes = self.sizes.copy()
        sizes[-1] = max(least, min(span, max(self.reach, abs(z[-1] - (self.origins[-1] if self.origins else 0.0)))))
        return self.in_units(sizes)

    def in_units(self, sizes: np.ndarray) -> Self:
        """The problem with other sizes. Derived data do not depend on them and stay known."""
        if sizes.tobytes() == self.sizes.tobytes():
            return self
        same = object.__new__(type(self))
        vars(same).update(vars(self), sizes=sizes)
        return same

    def freed(self, name: str, value: float, span: float, z: np.ndarray) -> tuple[RestEquations, np.ndarray]:
        """The problem with one more free parameter, and its z. If the parameter is to change by more than itself, it is
        measured by what changes the equations, so that steps do not depend on how far a curve goes."""
        pull = np.column_stack([self.pull, np.zeros(self.k)])
        origins, sizes, z = (float(z[-1]), value), np.append(self.sizes, span), np.append(z, value)
        fresh = replace(self, free=(*self.free, name), pull=pull, sizes=sizes, origins=origins, reach=inf)
        return fresh if span <= abs(value) else in_natural_unit(fresh, z), z

    def norm(self, matrix: np.ndarray) -> float:
        """The norm of ∂f/∂x, or of a change of it, in the units of the states."""
        units = self.sizes[: self.n]
        return float(np.linalg.norm(matrix * units / units[:, None]))

    def reached(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∂f/∂x in the units of the states, and bases there of what states and parameters reach, and of its complement.

        The complement belongs to the family: at a fold the states alone do not reach all the rest.
        """
        columns = [*range(self.n), *range(self.n + self.k, len(z))]
        wide = self.jacobian(z)[: self.n, columns] * self.sizes[columns] / self.sizes[: self.n, None]
        left = np.linalg.svd(wide)[0]
        return wide[:, : self.n], left[:, : self.n - self.k], left[:, self.n - self.k :]

    def reduced(self, z: np.ndarray) -> np.ndarray:
        """∂f/∂x without its structural zeros, at bifurcations too."""
        if not self.k:
            return self.state_jacobian(z)
        matrix, kept, _ = self.reached(z)
        matrix = kept.T @ matrix @ kept
        for k in self.zeros[1:]:
            kept = np.linalg.svd(matrix)[0][:, : len(matrix) - k]
            matrix = kept.T @ matrix @ kept
        return matrix

    def across(self, z: np.ndarray) -> Null:
        """The null vectors of a bifurcation: q in the range, and p orthogonal to motions t along the family.

        For no other q has J q1 = q a solution, and for no other p has Jᵀp0 = p. Where zeros form blocks, they are
        bordered ones.
        """
        units = self.sizes[: self.n + self.k]
        if not self.k or len(self.zeros) > 1:
            return null_of(self.jacobian(z)[:, : self.n + self.k], self.n, units)
        J, P = self.state_jacobian(z), np.linalg.qr(self.reached(z)[2] / self.sizes[: self.n, None])[0]
        blank = np.zeros((self.k, self.k))
        q = null_of(np.block([[J, P], [P.T, blank]]), self.n, units).q
        null = np.linalg.svd(J)[2][self.n - self.k - 1 :]
        t = np.linalg.svd(null - np.outer(null @ q, q))[2][: self.k].T  # all null vectors but q
        return null_of(np.block([[J, _turned(t, P)], [P.T, blank]]), self.n, units)

    def branching(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At a branch point: the left null vector of the Jacobian, and a basis of its null space, in units."""
        rows = self.row_sizes(z) + np.finfo(float).tiny
        left, _, right = np.linalg.svd(self.jacobian(z) * self.sizes / rows[:, None])
        return left[:, -1] / rows, right[-2:]

    def probes(self, z: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂x and ∂f/∂λ on both sides of z along each column of directions, [side, :, :, column], and half the
        distances."""
        n, k, m = self.n, self.k, directions.shape[1]
        lengths = PROBE / np.linalg.norm(directions / self.sizes[: len(directions), None], axis=0)
        around = np.concatenate([lengths * directions, -lengths * directions], axis=1)
        numbers, (places, among) = np.repeat(self.case.numbers[:, None], 2 * m, axis=1), self._places
        for place, j in zip(places, among, strict=True):
            numbers[place] = z[n + k + j] + around[n + k + j]
        sides = self._linearised(z[:n, None] + around[:n], numbers)[:, 1:]
        return np.stack([sides[..., :m], sides[..., m:]]), lengths

    def bending(self, z: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """The change of the whole Jacobian along a direction, by differences of analytic ones."""
        h = PROBE / float(np.linalg.norm(direction / self.sizes))
        return (self.jacobian(z + h * direction) - self.jacobian(z - h * direction)) / (2 * h)

    def bends(self, z: np.ndarray, directions: np.ndarray) -> list[float]:
        """Norms of the changes of ∂f/∂x along the columns of directions, a change being by one of them as a whole."""
        (after, before), lengths = self.probes(z, directions)
        return [self.norm(each) for each in np.moveaxis((after - before)[:, : self.n] / (2 * lengths), 2, 0)]

    def second(self, z: np.ndarray, left: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
        """⟨left, G_zz(v, w)⟩."""
        return float(left @ self.bending(z, v) @ w)

    def field(self, z: np.ndarray) -> Field:
        """The flow as normal forms need it, with the first free name as its load."""
        held = tuple(self.flow.states.index(name) for name in self.held_states)
        return Field(self.flow, self.free[0], self.numbers(z), sum(self.zeros), held)

    @property
    def held_states(self) -> list[str]:
        """Names of the family coordinates that are held."""
        return [self.flow.states[int(np.abs(row).argmax())] for row in self.rows if (np.abs(row) > 0).sum() == 1]

    def form(self, z: np.ndarray) -> Callable[..., np.ndarray]:
        """Derivatives of f with respect to the states, applied to directions."""
        return partial(self.field(z).form, self.x(z), self.free_values(z)[self.free[0]])

    def border(self, z: np.ndarray) -> Border:
        J = self.state_jacobian(z)
        at = bordering(J, self.k)
        return Border(self.columns, self.rows, at.left, at.right, at.scale)


def _turned(columns: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Columns turned among themselves as others are, so that determinants keep their sign."""
    left, _, right = np.linalg.svd(columns.T @ like)
    return columns @ left @ right


def equations_about(
    case: Bound, flow: Flow, free: tuple[str, ...], x: np.ndarray, spans: Sequence[float], fixed: Sequence[str],
    zeros: tuple[int, ...], known: tuple[np.ndarray, np.ndarray, Border] | None = None,
) -> tuple[RestEquations, np.ndarray]:  # fmt: skip
    """The problem about an equilibrium with these structural zeros, and its z there; ``known`` is the result of
    ``linear_about``."""
    J, by, whole = known or linear_about(case, flow, free[0], x)
    k = zeros[0] if zeros else 0
    moving, kept = ([flow.states.index(name) for name in names if name in flow.states] for names in (free, fixed))
    across = flow.frame.across(x, case.numbers) if flow.frame else ()
    border = whole if whole.regular else bordering(J, k, kept, first=[*across, *np.eye(len(x))[moving]])
    rows = border.rows
    pull = np.zeros((k, len(free)))
    values = np.array([value_of(case, flow, x, name) for name in free])
    for j in moving:
        alone = np.flatnonzero((np.abs(rows) > 0).sum(axis=1) * (rows[:, j] != 0) == 1)
        if not len(alone):
            raise ParameterError(f"{free[0]} is no coordinate of a family of equilibria here: vary a parameter")
        pull[alone[0], 0] = rows[alone[0], j]
    span = np.abs(np.asarray(spans, dtype=float))
    states, share = state_sizes(whole, J, by, x, flow, case, free[0], span[0])
    # Beyond, the parameter would be less accurate than the states allow.
    reach = FARTHER * share * span[0]
    span[0] = min(span[0], reach)
    sizes, z = np.concatenate([states, np.ones(k), span]), np.concatenate([x, np.zeros(k), values])
    held = rows @ x - pull @ values
    return RestEquations(case, flow, free, zeros, border.columns, rows, held, pull, sizes, reach=reach), z


def value_of(case: Bound, flow: Flow, x: np.ndarray, name: str) -> float:
    if name in flow.states:
        return float(x[flow.states.index(name)])
    return float(case.numbers[case.system.parameter_names.index(name)])
