"""The vector field about an equilibrium on a path, as normal forms need it: regular but for structural zeros.

Holonomic constraints are made to attract (φ̇ = −rate φ): the motions on φ = 0 are the same, and leaving it no longer
adds a zero eigenvalue. Remaining zeros belong to families of equilibria or of steady motions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.flow.flow import Flow, lowered_again
from pfaff.flow.jets import COMPACT_FROM, jets_of
from pfaff.flow.lowering import shape_flow
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates
from pfaff.flow.sparse_jacobian import is_sparse, jacobian_at
from pfaff.rest.flow_paths import FlowPath
from pfaff.rest.path import EquilibriumPath, LoadPath
from pfaff.rest.small_motions import Linearisation
from pfaff.statement.system import System
from pfaff.threads import once

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
        if len(x) <= COMPACT_FROM or self.flow.structured:
            return self.flow.jacobian(x, self.numbers(load))
        if is_sparse(self.flow):
            return jacobian_at(self.flow, x, self.numbers(load))
        # For a large flow a few Jacobians are cheaper by evaluation along lines than by compilation.
        return np.column_stack([jets_of(self.flow).line(x, self.numbers(load), e)[:, 1] for e in np.eye(len(x))])

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
    rest = dict(zip(system.coordinate_names, lin.q, strict=True))
    x = np.array([rest.get(name, 0.0) for name in flow.states])
    attracted = len(system.statement.positions)
    zeros = len(x) - attracted - len(lin.spectrum().values)
    held = tuple(flow.states.index(name) for name in path.balance.fixed if name in flow.states)
    return Field(flow, path.load, path.case.numbers, zeros, held), x


def regular_flow(system: System, lin: Linearisation, omega: float) -> Flow:
    """The shape flow, with other dependent velocities where its own are ill-conditioned at this equilibrium."""
    settle = 10.0 ** np.round(np.log10(omega)) if system.statement.positions else 0.0
    names = system.coordinate_names
    columns = [names.index(name.removesuffix("_dot")) for name in system.shape.dependent]
    least = np.linalg.svd(lin.A[:, columns])[1].min(initial=np.inf)
    if least >= ILL_SOLVED * np.abs(lin.A).max(initial=0.0):
        return _shape(system, system.shape.dependent, float(settle)) if settle else system.shape
    ignorable = [names.index(name) for name in ignorable_coordinates(system)]
    chosen = tuple(f"{names[j]}_dot" for j in dependent_velocities(lin.A, ignorable))
    return _shape(system, chosen, float(settle))


@lowered_again
@once(most=16)
def _shape(system: System, dependent: tuple[str, ...], settle: float) -> Flow:
    return shape_flow(system, [name.removesuffix("_dot") for name in dependent], settle)
