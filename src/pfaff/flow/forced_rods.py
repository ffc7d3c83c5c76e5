"""The flow of a forced system with rods, its forcing carried by an oscillator beside the states; see ``forcing``.

The frame is stated anew with cos ωt and sin ωt as parameters, which every state of a batch has for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, StatementError
from pfaff.flow.rod_rates import Rates
from pfaff.flow.structured import StructuredFlow
from pfaff.statement.system import System
from pfaff.threads import cached_property

COSINE, SINE = CIRCLE = sm.symbols("forcing_cosine forcing_sine", real=True)


def steady_rods(system: System, angles: Sequence[tuple[sm.Expr, int, sm.Expr]]) -> System:
    """The system with the oscillator's states, as parameters, in place of time in its forces and potential."""
    waves = {}
    for angle, multiple, phase in angles:
        turned = sm.expand((COSINE + sm.I * SINE) ** abs(multiple))
        cosine, sine = sm.re(turned), sm.sign(multiple) * sm.im(turned)
        waves[sm.cos(angle)] = cosine * sm.cos(phase) - sine * sm.sin(phase)
        waves[sm.sin(angle)] = sine * sm.cos(phase) + cosine * sm.sin(phase)
    own = len(system.coordinates) - sum(rod.basis.size for rod in system.rods)
    steady = replace(
        system,
        coordinates=system.coordinates[:own],
        forces={q: force.xreplace(waves) for q, force in system.forces.items()},
        potential=system.potential.xreplace(waves),
        parameters={**system.parameters, COSINE: 0, SINE: 0},
    )
    if not steady.autonomous:
        raise ParameterError(
            f"the forcing of {system.name} is in its kinetic energy, its dissipation or its constraints: systems with "
            "rods have responses to what stands in forces and potentials; simulate it, or state a chain of bars"
        )
    return steady


class ForcedRates:
    """Rates of a system with rods and of the oscillator, whose states are the last two."""

    def __init__(self, flow: ForcedRods, x: np.ndarray, numbers: np.ndarray, time: Any) -> None:
        self.inner = Rates(flow.steady.system, flow.chart, x[:-2], flow.extended(x, numbers), time)  # type: ignore[arg-type]
        self.v, self.p, self.pivots, self.held = self.inner.v, self.inner.p, self.inner.pivots, self.inner.held
        self.flow, self.numbers, (self.c, self.s) = flow, numbers, x[-2:]
        self.omega = flow.frequency(numbers)

    @property
    def _turn(self) -> np.ndarray:
        """Rates of the oscillator in units of ω."""
        left = 1 - self.c**2 - self.s**2
        return np.array([self.c * left - self.s, self.s * left + self.c])

    @property
    def f(self) -> np.ndarray:
        return np.concatenate([self.inner.f, self.omega * self._turn])

    def slopes(self, parameters: Sequence[int] = (), chosen: Any = slice(None)) -> np.ndarray:
        """Derivatives as in ``Rates``."""
        count, n = len(self.flow.system.parameters), self.flow.chart.size
        inner = self.inner.slopes((count, count + 1, *parameters))
        outer, (c, s) = np.zeros((len(inner), 2, inner.shape[2])), (self.c, self.s)
        left = 1 - c**2 - s**2
        outer[:, 0, n], outer[:, 0, n + 1] = self.omega * (left - 2 * c * c), self.omega * (-1 - 2 * c * s)
        outer[:, 1, n], outer[:, 1, n + 1] = self.omega * (1 - 2 * c * s), self.omega * (left - 2 * s * s)
        for k, index in enumerate(parameters):
            outer[:, :, n + 2 + k] = (self.flow.frequency(self.numbers, index) * self._turn).T
        return np.concatenate([inner, outer], axis=1)[:, chosen]


@dataclass(frozen=True, eq=False)
class ForcedRods(StructuredFlow):
    """The flow of a forced system with rods on shape space, with the oscillator."""

    steady: StructuredFlow = field(default=None)  # type: ignore[assignment]
    omega: sm.Expr = sm.S.One

    @cached_property
    def _frequencies(self) -> list[Callable[..., Any]]:
        """ω, then its derivatives with respect to the parameters."""
        symbols = list(self.system.parameters)
        rows = [self.omega, *(sm.diff(self.omega, each) for each in symbols)]
        return [sm.lambdify(symbols, row, "numpy", dummify=True) for row in rows]

    def frequency(self, numbers: np.ndarray, by: int | None = None) -> Any:
        return self._frequencies[0 if by is None else 1 + by](*numbers)

    def extended(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """The parameters of the steady system, a column for each state."""
        own = numbers if numbers.ndim == 2 else numbers[:, None]
        return np.vstack([np.broadcast_to(own, (len(own), x.shape[1])), x[-2:]])

    def _rates(self, x: np.ndarray, numbers: np.ndarray, time: Any) -> Any:
        return ForcedRates(self, x, numbers, time)

    def _by(self, index: int, x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        own = self.steady._by(index, x[:-2], self.extended(x, numbers), time)
        return np.concatenate([own, np.zeros((2, x.shape[1]))])  # rods do not set the frequency

    @cached_property
    def alike(self) -> np.ndarray:
        inner = self.steady.alike
        return np.append(inner, inner.max() + np.array([1, 1]))

    def along(self, *_: Any, **__: Any) -> Any:
        raise StatementError(
            f"normal forms of forced responses of {self.system.name} need higher derivatives, which systems with rods "
            "have without forcing only: follow the branches, or state a chain of bars"
        )
