"""Equilibria of a plain flow ẋ = f(x; parameters), by Newton's method, on families of equilibria too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.bordering import bordered_newton, bordering
from pfaff.algebra.pencil import Pencil
from pfaff.algebra.rounding import axis_rounding
from pfaff.algebra.structural_zeros import Deflation
from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.checks import Check, Checked, doubted
from pfaff.checks.branch_promises import at_rest
from pfaff.errors import ConvergenceError, PfaffError
from pfaff.flow.sparse_jacobian import is_sparse, jacobian_at, sparse_linearised
from pfaff.rest.reduction import check_alike
from pfaff.statement.evaluation import evaluated, magnitudes
from pfaff.statement.told import told
from pfaff.statement.values import number_from, one_of

if TYPE_CHECKING:
    from pfaff.case import OdeCase
    from pfaff.rest.spectrum import Spectrum


@told
@dataclass(frozen=True)
class SteadyState(Checked):
    """An equilibrium of a plain ODE."""

    case: OdeCase
    x: np.ndarray
    family_dimension: int
    residual: float

    @property
    def state(self) -> dict[str, float]:
        return dict(zip(self.case.system.state_names, self.x.tolist(), strict=True))

    @property
    def status(self) -> str:
        family = f"on a {self.family_dimension}-dimensional family" if self.family_dimension else "isolated"
        return doubted(f"at rest to {self.residual:.1e}, {family}", self.checks)

    def _verify(self) -> list[Check]:
        """The rates as they are stated, relative to their terms."""
        ode = self.case.system
        symbols, numbers = (*ode.symbols, *ode.parameters, ode.time), (*self.x, *self.case.numbers, 0.0)
        known = dict(zip(symbols, map(float, numbers), strict=True))
        rates, terms = (each(ode.right_hand_sides, known) for each in (evaluated, magnitudes))
        pairs = zip(rates, terms, strict=True)
        return [at_rest(abs(float(rate)) / (float(size) or 1.0) for rate, size in pairs)]

    def __getitem__(self, name: str) -> float:
        return self.state[one_of(self.state, name, "no state")]

    def plot(self) -> Any:
        """A picture of its spectrum: a plain ODE has none of its own."""
        return spectrum_of(self).plot()


def start_state(case: OdeCase, start: Mapping[str, float]) -> np.ndarray:
    """Starting values by name, zero where none is given."""
    names = case.system.state_names
    for name in start:
        case.system.check_no_parameter(name)
        case.system.named(name, names, f"{case.system.name} has no state")
    given = {name: number_from(name, value) for name, value in start.items()}
    return np.array([given.get(name, 0.0) for name in names])


def steady_near(case: OdeCase, start: Mapping[str, float]) -> SteadyState:
    """The equilibrium that Newton's method reaches from the starting values."""
    flow, numbers = case.system.flow, case.numbers
    x0 = start_state(case, start)
    if is_sparse(flow):
        found = _sparse_steady(case, x0)
        if found is not None:
            return found
    try:
        x, settled = bordered_newton(lambda x: flow.rhs(x, numbers), lambda x: flow.jacobian(x, numbers), x0)
    except (np.linalg.LinAlgError, PfaffError) as problem:
        raise ConvergenceError(f"no equilibrium of {case.system.name} from this start: {problem}") from problem
    if not settled:
        raise ConvergenceError(
            f"no equilibrium of {case.system.name} was reached from {_where(case, x0)}: give starting values of the "
            "states by name, nearer to one"
        )
    J = flow.jacobian(x, numbers)
    residual = float(np.abs(flow.rhs(x, numbers)).max() / (np.abs(J).max() * (1 + np.abs(x).max()) or 1.0))
    family = _family_dimension(lambda x: flow.rhs(x, numbers), lambda x: flow.jacobian(x, numbers), x)
    return SteadyState(case, x, family, residual)


def _sparse_steady(case: OdeCase, start: np.ndarray) -> SteadyState | None:
    """The equilibrium of a large sparse flow; None where it belongs to a family or is singular."""
    x = doors.sparse_states.sparse_rest(case, start)
    if x is None:
        return None
    rates, J = sparse_linearised(case.system.flow)(x, case.numbers)
    residual = float(np.abs(rates).max() / (np.abs(J.data).max() * (1 + np.abs(x).max()) or 1.0))
    return None if doors.sparse_states.in_families(J) else SteadyState(case, x, 0, residual)


def _family_dimension(
    rhs: Callable[[np.ndarray], np.ndarray], jacobian: Callable[[np.ndarray], np.ndarray], x: np.ndarray
) -> int:
    """The number of null directions along which equilibria continue: none at an isolated fold or branch point."""
    null = bordering(jacobian(x)).right
    count = 0
    for q in (null / np.linalg.norm(null, axis=0)).T:
        away = NEIGHBOUR * (1 + np.abs(x).max()) * q
        try:
            y, settled = bordered_newton(rhs, jacobian, x + away)
        except (np.linalg.LinAlgError, PfaffError):
            continue
        stays = np.linalg.norm(y - x) > np.linalg.norm(away) / 2 and bordering(jacobian(y)).right.shape[1] > 0
        count += settled and stays
    return int(count)


def _where(case: OdeCase, x: np.ndarray) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in zip(case.system.state_names, x, strict=True))


@dataclass(frozen=True)
class FlowLinearisation:
    """The Jacobian at an equilibrium of a plain flow, in the directions allowed, and without its structural zeros."""

    inner: np.ndarray
    allowed: np.ndarray  # the directions in which it acts, column by column
    without: Deflation | None

    @property
    def J(self) -> np.ndarray:
        return self.inner if self.without is None else self.without.reference

    def eigenvalues(self) -> np.ndarray:
        return self.motions().eigenvalues()

    def motions(self, beside: FlowLinearisation | None = None) -> Pencil:
        """λ − J, in the directions of this equilibrium or of one beside it.

        What is divided out beside is so here, too: by itself, where an eigenvalue passes zero, any null vector may be.
        """
        J = self.J
        if beside is not None and beside is not self:
            check_alike(J.shape[1:], beside.J.shape[1:])
            turn = np.linalg.lstsq(self.allowed, beside.allowed, rcond=None)[0]
            J = np.linalg.solve(turn, self.inner @ turn)
            J = J if beside.without is None else beside.without(J)
        return Pencil((-J, np.eye(len(J))))


def linearise_flow(J: np.ndarray, chain: Sequence[int], allowed: np.ndarray | None = None) -> FlowLinearisation:
    """J, in the directions allowed, restricted to its own range: what its left null vectors leave.

    Zeros of families form a ``chain`` where J on its range is singular again.
    """
    J, allowed = (J, np.eye(len(J))) if allowed is None else (allowed.T @ J @ allowed, allowed)
    return FlowLinearisation(J, allowed, Deflation.about(J, chain) if chain else None)


def spectrum_of(at: SteadyState) -> Spectrum:
    J = jacobian_at(at.case.system.flow, at.x, at.case.numbers)
    values, vectors = np.linalg.eig(J)
    zeros = {"families of equilibria": at.family_dimension} if at.family_dimension else {}
    kept = np.sort(np.argsort(np.abs(values))[at.family_dimension :])
    order = kept[np.lexsort((values[kept].imag, -values[kept].real))]
    values, vectors = values[order], vectors[:, order]
    return doors.spectrum.Spectrum(values, vectors, np.zeros((0, len(order))), zeros, None, axis_rounding(J, values))
