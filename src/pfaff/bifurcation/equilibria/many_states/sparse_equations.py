"""Equilibria of large sparse flows as equations f(x, λ) = 0: those of ``rest_equations`` without families.

Jacobians are sparse arrays, and nothing is computed that takes the cube of the number of states.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, bordered, entries, in_units, null_vectors
from pfaff.bifurcation.equilibria.first_rates import changed, elsewhere, on_way
from pfaff.bifurcation.equilibria.parameter_units import FARTHER, ratio
from pfaff.bifurcation.equilibria.rest_equations import PROBE, RestEquations, value_of
from pfaff.bifurcation.equilibria.state_sizes import FEW, SHARES
from pfaff.bifurcation.equilibria.zero_forms import Null
from pfaff.errors import ParameterError
from pfaff.flow.flow import Flow
from pfaff.flow.sparse_jacobian import SparseLinearised, sparse_flow, sparse_linearised
from pfaff.rest.sparse_states import in_families, sparse_rest
from pfaff.rest.states import SteadyState, start_state
from pfaff.threads import known_property

if TYPE_CHECKING:
    from pfaff.case import Bound


class SparseNull(Null):
    """Null vectors of a sparse Jacobian."""

    def solve(self, right: np.ndarray) -> np.ndarray:
        around = bordered(self.matrix, self.left[:, None], self.right[None])
        return around.solve(np.append(right, 0.0))[: self.n]

    def solve_left(self, right: np.ndarray) -> np.ndarray:
        around = bordered(self.matrix, self.left[:, None], self.right[None])
        return around.solve(np.append(right, 0.0), transposed=True)[: self.n]

    @property
    def sense(self) -> float:
        """The sign of the determinant of the bordered Jacobian."""
        return bordered(self.matrix, self.left[:, None], self.right[None]).sign


def sparse_null(matrix: sparse.csc_array) -> SparseNull:
    """The null vectors, those of the smallest singular value."""
    q, p = null_vectors(matrix)
    q = q * (np.sign(q[np.abs(q).argmax()]) or 1.0)
    return SparseNull(matrix, q, p * (np.sign(p @ q) or 1.0), len(q))


class SparseRestEquations(RestEquations):
    """The problem in z = (x, λ), with sparse Jacobians."""

    reader = None  # kernels are for dense matrices

    @known_property
    def _sparse(self) -> SparseLinearised:
        return sparse_linearised(self.flow, self.parameters)

    def state_jacobian(self, z: np.ndarray) -> sparse.csc_array:
        return self._sparse.jacobian(self.x(z), self.numbers(z))

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, sparse.csc_array]:
        rates, J = self._sparse(z[: self.n], self.numbers(z))
        if not np.isfinite(rates).all():
            self.rates(z)  # which raises and names what is singular
        return rates, J

    def row_sizes(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(abs(in_units(self.jacobian(z), self.sizes)).sum(axis=1)).ravel()

    def jacobian_changes(self, z: np.ndarray) -> float:
        change = self.bending(z, np.eye(1, len(z), len(z) - 1)[0] * self.sizes[-1])[:, : self.n]
        return ratio(self.norm(self.state_jacobian(z)), self.norm(change)) * float(self.sizes[-1])

    def bends(self, z: np.ndarray, directions: np.ndarray) -> list[float]:
        return [self.norm(self.bending(z, each)[: self.n, : self.n]) for each in directions.T]

    def norm(self, matrix: Any) -> float:
        units = self.sizes[: self.n]
        return float(np.linalg.norm(entries(in_units(sparse.csc_array(matrix), units, units))))

    def across(self, z: np.ndarray) -> SparseNull:
        return sparse_null(self.state_jacobian(z))

    def bent(self, z: np.ndarray, left: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """wᵀ(∂J/∂z) d for every component of z, J with respect to states and parameters: by the change of wᵀJ along d,
        since second derivatives are symmetric."""
        h = PROBE / float(np.linalg.norm(direction / self.sizes))
        return (left @ self.jacobian(z + h * direction) - left @ self.jacobian(z - h * direction)) / (2 * h)

    def second(self, z: np.ndarray, left: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
        """⟨left, G_zz(v, w)⟩ by derivatives of f along lines: differences of large entries would hide it."""
        n, unit = self.n, np.zeros(len(z))
        unit[-1] = 1.0
        *by_states, by_itself = self.bent(z, left, unit)
        mixed = by_states @ (v[-1] * w[:n] + w[-1] * v[:n]) + by_itself * v[-1] * w[-1]
        return float(left @ self.form(z)(v[:n], w[:n]) + mixed)

    def branching(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scaled = in_units(self.state_jacobian(z), self.sizes[: self.n], self.row_sizes(z))
        q, p = null_vectors(scaled)
        wide = in_units(self.jacobian(z), self.sizes, self.row_sizes(z))
        along = bordered(scaled, p[:, None], q[None]).solve(np.append(-wide[:, [-1]].toarray()[:, 0], 0.0))[:-1]
        ahead = np.append(along, 1.0)
        return p / self.row_sizes(z), np.stack([np.append(q, 0.0), ahead / np.linalg.norm(ahead)])


def sparse_start(
    case: Bound, name: str, to: float, start: Any, fixed: Mapping[str, float]
) -> tuple[SparseRestEquations, np.ndarray] | None:
    """The problem at an equilibrium of a large sparse flow; None if the flow is not one, or if its equilibria form a
    family, which dense matrices treat better."""
    if not sparse_flow(case.system):
        return None
    flow: Flow = case.system.flow  # type: ignore[attr-defined]
    if name not in case.system.parameter_names:
        raise ParameterError(f"{name} is a state, and equilibria do not form a family along it: vary a parameter")
    x = sparse_rest(case, _first_guess(case, start, fixed))
    if x is None or in_families(sparse_linearised(flow).jacobian(x, case.numbers)):
        return None
    return sparse_about(case, flow, name, x, abs(to - value_of(case, flow, x, name)) or 1.0)


def _first_guess(case: Bound, start: Any, fixed: Mapping[str, float]) -> np.ndarray:
    if isinstance(start, SteadyState) or hasattr(start, "equations"):
        return np.asarray(start.x)
    given = start if isinstance(start, Mapping) else {}
    return start_state(case, {**fixed, **given})  # type: ignore[arg-type]


def sparse_about(
    case: Bound, flow: Flow, name: str, x: np.ndarray, span: float
) -> tuple[SparseRestEquations, np.ndarray]:
    """The problem about an equilibrium, and its z there."""
    n = len(x)
    states, share = _sizes(case, flow, name, x, span)
    reach = FARTHER * share * span
    blank = np.zeros((n, 0)), np.zeros((0, n)), np.zeros(0), np.zeros((0, 1))
    s = SparseRestEquations(case, flow, (name,), (), *blank, np.append(states, min(span, reach)), reach=reach)
    return s, np.append(x, value_of(case, flow, x, name))


def _sizes(case: Bound, flow: Flow, name: str, x: np.ndarray, span: float) -> tuple[np.ndarray, float]:
    """Sizes of the states: their own, or those the parameter gives them, as in ``state_sizes``; and the share of the
    parameter's way on which it does so."""
    n, linear, numbers = len(x), sparse_linearised(flow, (name,)), case.numbers
    wide = linear(x, numbers)[1]
    J, push = wide[:, :n], wide[:, [n]].toarray()[:, 0]
    try:
        way = -Factors(J).solve(push) * span
    except np.linalg.LinAlgError:
        way = np.zeros_like(x)
    share = _straight(linear, case, x, way, span, J) if np.isfinite(way).all() and way.any() else 0.0
    moved = float(np.abs(way).max()) * share if share else 0.0
    return np.full(n, (max(float(np.abs(x).max()), moved) or 1.0) * max(1.0, sqrt(n / FEW))), share or 1.0


def _straight(
    linear: SparseLinearised, case: Bound, x: np.ndarray, way: np.ndarray, span: float, J: sparse.csc_array
) -> float:
    """The share of a way from x on which a first-order prediction holds."""
    n, numbers, size = len(x), case.numbers, float(np.linalg.norm(J.data))
    place = case.system.parameter_names.index(linear.names[0])

    def rates(share: float) -> np.ndarray:
        there = numbers.copy()
        there[place] += share * span
        return linear(x + share * way, there)[0]

    def change(share: float) -> float:
        return float(np.linalg.norm(linear.jacobian(x + share * way, numbers).data - J.data))

    moves, balanced, together = np.abs(J @ way), abs(J) @ np.abs(x), np.zeros(n, dtype=int)
    led = elsewhere(SHARES, on_way(SHARES, rates, n), moves, balanced, together)
    return min(1.0, led, changed(SHARES, change, size))
