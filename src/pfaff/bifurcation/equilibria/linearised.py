"""f, ∂f/∂x and ∂f/∂p at one state or many, in one compiled call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.bordering import WIDEST, Border, bordering
from pfaff.algebra.tolerances import RANK
from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression, par
from pfaff.flow.jets import LINES_FROM, jets_of
from pfaff.kernels.first_rests import regular_units
from pfaff.kernels.readers import Reader
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Bound


class Linearised:
    """Rows of f, ∂f/∂x and ∂f/∂p for parameters by name, for a flow small enough to be compiled as a whole."""

    def __init__(self, flow: Flow, names: tuple[str, ...]) -> None:
        self.flow, self.names = flow, names
        self._shape = (len(flow.states), 1 + len(flow.states) + len(names))
        self._whole: Compiled | None = None
        if not along_lines(flow) and not flow.structured:
            self._whole = flow.compiled(("linearised", names), self._expressions)

    @property
    def reader(self) -> Reader | None:
        """What kernels evaluate; None if the equations are no single tape, or depend on time."""
        return None if self._whole is None or self._whole.tape.timed else self._whole.reader

    def __reduce__(self) -> tuple[Any, ...]:
        return linearised, (self.flow, self.names)

    def _expressions(self) -> list[Expression]:
        known = self.flow.system.parameter_names
        by = [*self.flow.variables, *(par[known.index(name)] for name in self.names)]
        rows = zip(self.flow.expressions, self.flow.derivatives(by), strict=True)
        return [each for f, derivatives in rows for each in (f, *derivatives)]

    def __call__(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Columns f, ∂f/∂x and ∂f/∂p, [:, :, k] for a batch of states x[:, k] and numbers[:, k]."""
        if self._whole is None:
            return self._apart(x, numbers) if x.ndim == 1 else self._each(x, numbers)
        return self._whole(x, numbers).reshape(*self._shape, *x.shape[1:])

    def _apart(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        values = np.empty(self._shape)
        n = len(x)
        values[:, 0], values[:, 1 : n + 1] = self.flow.rhs(x, numbers), jacobian_of(self.flow, x, numbers)
        if self.names:
            values[:, n + 1 :] = self.flow.parameter_jacobian(x, numbers, self.names)
        return values

    def _each(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return np.stack([self._apart(a, b) for a, b in zip(x.T, numbers.T, strict=True)], 2)


@once(most=64)
def linearised(flow: Flow, names: tuple[str, ...]) -> Linearised:
    return Linearised(flow, names)


def along_lines(flow: Flow) -> bool:
    """Whether the Jacobian is faster by evaluation along lines than by compilation: for many states with long
    equations."""
    return len(flow.states) > LINES_FROM and not flow.structured and flow.heavy


def jacobian_of(flow: Flow, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """∂f/∂x; for a large flow along lines, which is faster than compiling it."""
    if not along_lines(flow):
        return flow.jacobian(x, numbers)
    return np.column_stack([jets_of(flow).line(x, numbers, e, 1)[:, 1] for e in np.eye(len(x))])


def linear_about(case: Bound, flow: Flow, name: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, Border]:
    """∂f/∂x, ∂f/∂λ if the name is that of a parameter, and the border of the former."""
    names, n = (name,) if name in case.system.parameter_names else (), len(x)
    if along_lines(flow) or flow.structured:
        J = jacobian_of(flow, x, case.numbers)
        by = flow.parameter_jacobian(x, case.numbers, names) if names else np.zeros((n, 0))
    else:
        values = linearised(flow, names)(x, case.numbers)
        J, by = np.ascontiguousarray(values[:, 1 : n + 1]), values[:, n + 1 :]
    units = regular_units(J, WIDEST, RANK)
    if units is None:
        return J, by, bordering(J)
    none = np.zeros((n, 0))
    return J, by, Border(none, none.T, none, none, units)
