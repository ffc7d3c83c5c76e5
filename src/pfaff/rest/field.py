"""The vector field about an equilibrium on a path, as normal forms need it: regular but for structural zeros.

Holonomic constraints are made to attract (φ̇ = −rate φ): the motions on φ = 0 are the same, and leaving it no longer
adds a zero eigenvalue. Remaining zeros belong to families of equilibria or of steady motions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.flow.flow import Flow
from pfaff.flow.freezing import slice_of
from pfaff.flow.jets import LINES_FROM, jets_of
from pfaff.flow.lowering import elimination_order
from pfaff.flow.relative import order_at, sliced
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates
from pfaff.flow.slice import state_on
from pfaff.flow.sparse_jacobian import is_sparse, jacobian_at
from pfaff.rest.flow_paths import FlowPath
from pfaff.rest.path import EquilibriumPath, LoadPath
from pfaff.rest.small_motions import Linearisation
from pfaff.statement.system import System

ILL_SOLVED = 1e-2  # dependent velocities whose coefficients shrink to this, relatively, are exchanged


@dataclass(frozen=True)
class Field:
    """f(x, load) with its Jacobian and multilinear forms; ``zeros`` counts the structural zero eigenvalues."""

    flow: Flow
    load: str
    parameters: np.ndarray
    zeros: int
    held: tuple[int, ...]

    @property
    def loaded(self) -> bool:
        """Whether ``load`` is a parameter; not so where a family is followed."""
        return self.load in self.flow.system.parameter_names

    def numbers(self, load: float) -> np.ndarray:
        numbers = self.parameters.copy()
        if self.loaded:
            numbers[self.flow.system.parameter_names.index(self.load)] = load
        return numbers

    def rhs(self, x: np.ndarray, load: float) -> np.ndarray:
        return self.flow.rhs(x, self.numbers(load))

    def jacobian(self, x: np.ndarray, load: float) -> np.ndarray:
        if len(x) <= LINES_FROM or self.flow.structured:
            return self.flow.jacobian(x, self.numbers(load))
        if is_sparse(self.flow):
            return jacobian_at(self.flow, x, self.numbers(load))
        # For a large flow a few Jacobians are cheaper by evaluation along lines than by derivatives of all entries.
        return np.column_stack([jets_of(self.flow).line(x, self.numbers(load), e, 1)[:, 1] for e in np.eye(len(x))])

    def by_load(self, x: np.ndarray, load: float) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂load and ∂A/∂load."""
        numbers = self.numbers(load)
        return self.flow.parameter_jacobian(x, numbers, [self.load])[:, 0], self.flow.jacobian_by(self.load, x, numbers)

    def form(self, x: np.ndarray, load: float, *vectors: np.ndarray) -> np.ndarray:
        """∂ᵏf/∂xᵏ applied to k directions."""
        return jets_of(self.flow).form(x, self.numbers(load), *vectors)


def field_at(path: EquilibriumPath, load: float, omega: float) -> tuple[Field, np.ndarray]:
    """The field and the equilibrium on a path at a load; a frequency ω sets the time scale."""
    if isinstance(path, FlowPath):
        return Field(path.flow, path.load, path.case.numbers, path.zeros, path.held), path.solution(load)
    assert isinstance(path, LoadPath)
    system, lin = path.case.system, path.linearise(load)
    flow = regular_flow(system, lin, omega)
    x = state_on(flow, lin.q, lin.numbers)
    attracted = len(system.statement.positions)
    zeros = len(x) - attracted - len(lin.spectrum().values)
    held = tuple(flow.states.index(name) for name in path.balance.fixed if name in flow.states)
    return Field(flow, path.load, path.case.numbers, zeros, held), x


def regular_flow(system: System, lin: Linearisation, omega: float) -> Flow:
    """The flow without coordinates of symmetries, with other dependent velocities than those of the shape flow where
    these are ill-conditioned at this equilibrium."""
    settle = float(10.0 ** np.round(np.log10(omega))) if system.statement.positions else 0.0
    names, shape = system.coordinate_names, system.shape
    # Only where it belongs to a family may there be symmetries beyond those that the statement shows.
    family = len(shape.states) - len(system.statement.positions) - len(lin.spectrum().values)
    part = slice_of(system, numbers=lin.numbers) if family else None
    A = lin.A if part is None else lin.A @ np.linalg.inv(part.carrier(lin.q)[:-1, :-1])
    dependent = tuple(name.removesuffix("_dot") for name in shape.dependent)
    columns = [names.index(name) for name in dependent]
    least = np.linalg.svd(A[:, columns])[1].min(initial=np.inf)
    if least < ILL_SOLVED * np.abs(A).max(initial=0.0):
        first = part.names if part else ignorable_coordinates(system)
        columns = dependent_velocities(A, [names.index(name) for name in first])
        dependent = tuple(names[j] for j in columns)
        return sliced(system, dependent, settle, part, None if system.rods else elimination_order(A[:, columns]))
    return sliced(system, dependent, settle, part, order_at(system, A[:, columns]))
