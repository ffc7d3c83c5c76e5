"""The problem of orbits: the equations of a case, the parameter that varies, and the accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.gauss import gauss
from pfaff.algebra.radau import radau_rule
from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import UNBOUNDED, Cycle
from pfaff.bifurcation.orbits.forced import own_states
from pfaff.bifurcation.orbits.many_states.sparse_collocation import SparseCollocation, SparseEquations
from pfaff.bifurcation.orbits.many_states.sparse_stepping import SparseContinuation
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.bifurcation.orbits.variation import rates_and_jacobians
from pfaff.errors import ParameterError
from pfaff.flow.flow import Flow
from pfaff.flow.sparse_jacobian import is_sparse
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.case import Bound

DEGREE = 6  # Gauss points in an interval: the cheapest for errors of 1e-9 and less
RADAU = 7  # Radau points, with which fast decay, as between narrow cells, stays decay on any mesh
INTERVALS = 20  # first number of intervals of a period
AT_ORIGIN = 1e-12  # states of an equilibrium below this, relative to those of orbits, are zero but for rounding
MOST = 150  # states with full Jacobians: a step of 100 takes seconds and half a gigabyte
LARGEST = 5000  # states with sparse ones: a step of 2000 takes eight seconds and two thirds of a gigabyte
SMALL = 1e-3  # least sizes of states of forced orbits, relative to those at the start
ODD = 1e-11  # f(−x) + f(x) below this, relative to each component, vanishes


@dataclass(frozen=True, eq=False)
class OrbitProblem(Travels):
    """The problem of orbits: a case, the flow and the parameter that varies, and the accuracy.

    Columns of ``unfolding`` and rows of ``held`` belong to conserved quantities: orbits come in families, and the rows
    select a member. ``mirror`` gives the signs of states in their mirror images: −1 for all by default.
    """

    case: Bound
    flow: Flow
    load: str
    accuracy: float
    unfolding: np.ndarray
    held: np.ndarray
    mirror: np.ndarray | None = None

    @cached_property
    def signs(self) -> np.ndarray:
        """The signs of states in mirror images."""
        return np.full(len(self.flow.states), -1.0) if self.mirror is None else self.mirror

    def numbers_at(self, value: float) -> np.ndarray:
        """The parameters, at a value of the load."""
        return self.collocation.equations.numbers_at(value)

    @property
    def rows(self) -> np.ndarray:
        """The states that have equations of their own."""
        return self.collocation.equations.rows

    def __post_init__(self) -> None:
        n = len(self.flow.states)
        if self.sparse and n > LARGEST:
            raise ParameterError(
                f"orbits in {n} states: the sparse factors of all intervals of their mesh take gigabytes, and fit for "
                f"some {LARGEST}; state fewer, as on coarser cells"
            )
        if n > MOST and not self.sparse:
            raise ParameterError(
                f"orbits in {n} states: dense matrices take the cube of that in every interval of their mesh, which is "
                f"feasible for some {MOST}; state fewer, as on coarser cells"
            )

    @cached_property
    def sparse(self) -> bool:
        """Whether states are very many, each depends on few others, and orbits are isolated."""
        return is_sparse(self.flow) and not self.unfolding.size

    @cached_property
    def collocation(self) -> Collocation:
        if self.sparse:
            linear = SparseEquations(self.flow, self.load, self.case.numbers)
            return SparseCollocation(linear, radau_rule(RADAU), self.accuracy)
        equations = Equations(self.flow, self.load, self.case.numbers, self.unfolding)
        return Collocation(equations, gauss(DEGREE), self.accuracy)

    def continuation(self, span: float, start: OrbitPoint | None = None) -> Continuation:
        """The continuation over a range of the load; from a start, with steps that do not depend on the range."""
        if start is None:
            return self.kind(self.collocation, span, self.held, self.accuracy)
        level = getattr(start, "centre", False)  # a newborn orbit knows
        least = SMALL / start.point.metric.states if self.flow.carried else UNBOUNDED  # a response may pass zero
        known = start.natural, start.value, level, least
        return self.kind(self.collocation, span, self.held, self.accuracy, *known)

    @property
    def kind(self) -> type[Continuation]:
        return SparseContinuation if self.sparse else Continuation

    def divergence(self, cycle: Cycle, value: float) -> np.ndarray:
        """Rates at which volumes of motions that obey the constraints grow, at the Gauss points of an orbit."""
        own = len(own_states(self.flow))
        _, J = rates_and_jacobians(self.collocation.equations, self.collocation.stages(cycle), value)
        return np.trace(J[:own, :own]) + len(self.flow.bonds) * self.flow.settle  # bonds decay beside them

    def odd(self, size: np.ndarray, to: float | None = None) -> bool:
        """Whether f(−x) = −f(x), every component by itself, at states and values of the load chosen at random.

        Where some states keep their signs, −x is the mirror image. The states are of a given size and less, each in its
        own unit: beyond, other terms hide what is not odd.
        """
        random = np.random.default_rng(0)
        size = np.where(size > AT_ORIGIN * size.max(), size, size.max())
        x = random.normal(size=(16, len(self.flow.states))) * np.logspace(-2, 0, 16)[:, None] * size
        value = float(self.case.numbers[self.collocation.equations.place])
        end = value if to is None else to
        generic = [*(value + (end - value) * random.uniform(-1, 2, 4)), *(value * random.uniform(0.3, 3, 3))]
        values = [value, end, *generic, *random.normal(size=3)]
        states, loads = np.tile(np.vstack([x, self.signs * x]), (len(values), 1)), np.repeat(values, 2 * len(x))
        rates = self.collocation.equations.rates(states, loads).reshape(len(x.T), len(values), 2, -1)
        finite = np.isfinite(rates).all(axis=(0, 2))
        seen = finite.sum(axis=1) > 4  # values of the load at which f is hardly ever finite say nothing
        there, mirrored = np.where(finite, rates.transpose(2, 0, 1, 3), 0.0)
        odd = np.abs(mirrored - self.signs[:, None, None] * there).max(axis=-1) <= ODD * np.abs(there).max(axis=-1)
        return bool(seen.any() and odd[:, seen].all())
