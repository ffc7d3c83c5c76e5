"""What all points of a study share, taken from one of them: the flow, its structural zeros, units, and how far to
look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pfaff.flow.flow import Flow
from pfaff.kernels import many_polynomials
from pfaff.studies.derivatives import functions_of
from pfaff.threads import cached_property

RESOLVED = 1e-9  # last coefficients of a series, relative to the largest
HEAVY = 3000  # operations of a right-hand side beyond which third derivatives take too long to compile
STILL = 1e-13  # rates, relative to their terms, of an equilibrium that does not move


@dataclass(frozen=True, eq=False)
class Frame:
    """What all points share. Loads are distances from the beginning of the path: ``origin``, or the value of each
    point."""

    flow: Flow
    load: str
    origin: float | None
    first: float  # end of the first stretch
    x: np.ndarray
    zeros: int
    columns: np.ndarray
    rows: np.ndarray
    scale: np.ndarray
    unit: float
    farthest: float = np.inf
    single: Callable[[], tuple[float, float]] = lambda: (np.inf, 0.0)  # makes ``reach``
    to: float | None = None  # the last load, if one was given
    sign: float = 1.0  # direction in which loads are sought
    order: int = 0  # order to which the test function vanishes where the path begins
    zero_order: int = 0  # the same for the last coefficient
    nodes: int = 0
    test: str = "hopf"  # what vanishes at the loads that are sought: D_{m−1}, the discriminant or the last coefficient
    guess: np.ndarray | None = None  # start of the search for one point's equilibrium, where x is another one

    @property
    def n(self) -> int:
        return len(self.flow.states)

    @property
    def index(self) -> int:
        """The row of parameters that holds the load: one more than there are if it is a speed or a coordinate."""
        names = self.flow.system.parameter_names
        return names.index(self.load) if self.load in names else len(names)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """How far single searches go at least if no end is given: a load, and a multiple of the value with which a path
        begins."""
        return self.single()

    @property
    def has_forms(self) -> bool:
        """Whether normal forms are available: not on families, nor where they take too long to compile."""
        return not self.zeros and self.flow.operations <= HEAVY

    def jacobians(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return functions_of(self.flow, self.load).jacobian(x, parameters)

    def both(self, x: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂x and its derivative with respect to the load."""
        values = functions_of(self.flow, self.load).both(x, parameters)
        return values[: self.n**2], values[self.n**2 :]

    def polynomials(self, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Characteristic polynomials without the structural zeros, and how far these are from zero."""
        C, slack = np.empty((self.n - self.zeros + 1, J.shape[1])), np.empty(J.shape[1])
        many_polynomials.characteristics(J, self.n, self.zeros, self.scale, self.unit, C, slack)
        return C, slack

    def test_of(self, C: np.ndarray) -> np.ndarray:
        """The test function of characteristic polynomials."""
        if self.test == "zero":
            return C[-1]
        values = np.empty(C.shape[1])
        (many_polynomials.hurwitz if self.test == "hopf" else many_polynomials.discriminants)(C, values)
        return values

    def rates(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return functions_of(self.flow, self.load).rates(x, parameters)

    def by_load(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return functions_of(self.flow, self.load).by_load(x, parameters)

    def second(self, x: np.ndarray, along: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The second derivative of f along a direction, column by column."""
        return functions_of(self.flow, self.load).second(np.concatenate([x, along]), parameters)

    def second_and_third(
        self, x: np.ndarray, along: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        values = functions_of(self.flow, self.load).second_and_third(np.concatenate([x, along]), parameters)
        return values[: self.n], values[self.n :]

    def rests(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """For which points nothing moves at x, beyond rounding."""
        return ~self._felt(self.rates(x, parameters), x, parameters)

    def moves(self, x: np.ndarray, parameters: np.ndarray) -> bool:
        """Whether anything moves at x, beyond rounding."""
        return bool(self._felt(self.rates(x, parameters), x, parameters).any())

    def straight(self, x: np.ndarray, parameters: np.ndarray) -> bool:
        """Whether x rests at all loads, and small motions about it are linear in the load."""
        affine = functions_of(self.flow, self.load).affine
        return affine and not (self.moves(x, parameters) or self.pushed(x, parameters))

    def pushed(self, x: np.ndarray, parameters: np.ndarray) -> bool:
        """Whether the load moves an equilibrium x, beyond rounding."""
        rates = self.by_load(x, parameters) * self.first
        return bool(self._felt(rates, x, parameters).any())

    def _felt(self, rates: np.ndarray, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """For which points rates exceed the rounding of their own terms: points, and states, differ by decades."""
        if not rates.any():
            return np.zeros(rates.shape[1], dtype=bool)
        J = self.jacobians(x, parameters)
        sizes = np.maximum(np.abs(x), self.scale[:, None])
        terms = (np.abs(J).reshape(self.n, self.n, -1) * sizes).sum(axis=1)
        return (np.abs(rates) > STILL * terms).any(axis=0)
