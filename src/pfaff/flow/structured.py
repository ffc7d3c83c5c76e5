"""The flow of a system with rods: rates, reactions and their derivatives, from structured mechanics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError
from pfaff.flow.flow import Flow, numbers_of
from pfaff.flow.placed import NodesAt
from pfaff.flow.rod_mechanics import Mechanics, mechanics_of
from pfaff.flow.rod_nodes import as_slice
from pfaff.flow.rod_rates import Rates
from pfaff.flow.rod_series import Chart, as_columns, parameter_list, rates_along, state_along, time_column
from pfaff.flow.series import Series
from pfaff.statement.values import named, numbers_from, whole_number
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound

CHUNK = 144  # states at once: their data fit in the cache


class Matched:
    """Numbers for one state or a batch of columns, from a function of columns: the counterpart of ``Compiled``.

    ``made`` names the call by which other processes make it again.
    """

    operations = 10**5
    reader = None  # it has no tape

    def __init__(self, function: Callable[[np.ndarray, np.ndarray, Any], np.ndarray], *made: Any) -> None:
        # Overflow is diagnosed where it matters, as for functions of formulas.
        self._function, self._made = np.errstate(all="ignore")(function), made

    def __reduce__(self) -> tuple[Any, ...]:
        make, *arguments = self._made
        return make, tuple(arguments)

    def __call__(self, x: np.ndarray, parameters: np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        return (
            self._chunks(as_columns(x), parameters, time)[:, 0]
            if np.ndim(x) == 1
            else self._chunks(x, parameters, time)
        )

    def batch(self, x: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> np.ndarray:
        for part in _parts(x.shape[1]):
            out[:, part] = self._function(x[:, part], parameters[:, part], 0.0)
        return out

    def _chunks(self, x: np.ndarray, parameters: np.ndarray, time: Any) -> np.ndarray:
        if x.shape[1] <= CHUNK:
            return self._function(x, parameters, time)
        numbers, at = np.ndim(parameters) == 2, np.ndim(time) == 1
        return np.hstack(
            [
                self._function(x[:, part], parameters[:, part] if numbers else parameters, time[part] if at else time)
                for part in _parts(x.shape[1])
            ]
        )


def _parts(size: int) -> list[slice]:
    count = -(-size // CHUNK)
    return [slice(k * size // count, (k + 1) * size // count) for k in range(count)]


@dataclass(frozen=True, eq=False)
class StructuredFlow(Flow):
    """The flow of a system with rods, in full or on shape space; see ``Flow``."""

    chart: Chart = field(default=Chart((), (), (), 0.0))
    structured = True

    @property
    def mechanics(self) -> Mechanics:
        return mechanics_of(self.system)  # type: ignore[arg-type]

    @property
    def operations(self) -> int:
        return 10**5

    @cached_property
    def alike(self) -> np.ndarray:
        """Kinds of states: all amplitudes of a rod are of one kind, and so are their velocities."""
        kinds = self.mechanics.kinds
        return np.array([*(kinds[j] for j in self.chart.shaped), *(len(kinds) + kinds[j] for j in self.chart.free)])

    @cached_property
    def heavy(self) -> bool:
        return True

    def columns(self, x: Any, case: Bound | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = numbers_of(case)
        x = numbers_from("x", x) if type(x) is not np.ndarray or x.dtype != float else x
        if x.shape[:1] != (len(self.states),):
            raise ParameterError(f"a state has {len(self.states)} components ({', '.join(self.states)}), not {x.shape}")
        return as_columns(x), numbers

    # Along curves of states: derivatives of any order

    def state(self, x: Series, parameters: list[Any], time: Any) -> tuple[Series, Series]:
        """All coordinates and velocities along a curve of states; dropped ones are zero."""
        return state_along(self.mechanics, self.chart, x, parameters, time)

    def along(
        self, x: Any, case: Bound | np.ndarray, directions: np.ndarray, order: int, time: Any = 0.0, changes: Any = None
    ) -> list[np.ndarray]:
        """Coefficients [rate, state, direction] of f along lines x + s d, of orders 0 to ``order``.

        ``changes`` says by direction how a parameter changes with s: its index and a row of numbers.
        """
        columns, numbers = self.columns(x, case)
        parameters = parameter_list(numbers)
        if changes is not None:
            index, row = changes
            parameters[index] = Series([parameters[index], np.asarray(row, dtype=float)[None, :]], order)
        curve = Series([columns[:, :, None], directions[:, None, :]], order)
        return rates_along(self.mechanics, self.chart, curve, parameters, time_column(time)).c

    # At states: rates and first derivatives

    def _rates(self, x: np.ndarray, numbers: np.ndarray, time: Any) -> Rates:
        return Rates(self.system, self.chart, x, numbers, time)  # type: ignore[arg-type]

    @cached_property
    def _values(self) -> dict[str, Matched]:
        def slopes(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
            return self._rates(x, numbers, time).slopes().reshape(x.shape[1], -1).T

        return {
            "f": Matched(lambda x, numbers, time: self._rates(x, numbers, time).f),
            "v": Matched(lambda x, numbers, time: self._rates(x, numbers, time).v),
            "p": Matched(lambda x, numbers, time: self._rates(x, numbers, time).p),
            "J": Matched(slopes),
        }

    def rates(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        columns, numbers = self.columns(x, case)
        values = self._values["f"](columns, numbers, time)
        return values[:, 0] if np.ndim(x) == 1 else values

    def jacobian(self, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        return self.tensor(1, x, case, time)

    def tensor(self, order: int, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        whole_number("order", order, 1, 1, "higher derivatives of rods are available along lines only, by their jets")
        columns, numbers = self.columns(x, case)
        found = self._values["J"](columns, numbers, time).reshape(len(self.states), len(self.states), -1)
        return found[:, :, 0] if np.ndim(x) == 1 else found

    def parameter_jacobian(
        self, x: Any, case: Bound | np.ndarray, names: Sequence[str] | None = None, time: float = 0.0
    ) -> np.ndarray:
        chosen = named("names", names, "['F']") if names is not None else self.system.parameter_names
        columns, numbers = self.columns(x, case)
        found = np.stack([self._by(self._index(name), columns, numbers, time) for name in chosen], axis=1)
        return found[:, :, 0] if np.ndim(x) == 1 else found

    def _by(self, index: int, x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
        still = np.zeros((len(self.states), 1))
        return np.broadcast_to(self.along(x, numbers, still, 1, time, (index, [1.0]))[1][:, :, 0], x.shape)

    def jacobian_by(self, name: str, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        """∂²f/∂x∂parameter from second derivatives along (x + s e, p ± s): their difference is twice the mixed one."""
        n = len(self.states)
        both = np.hstack([np.eye(n), np.eye(n)])
        signs = np.repeat([1.0, -1.0], n)
        second = self.along(x, case, both, 2, time, (self._index(name), signs))[2]
        found = np.moveaxis((second[:, :, :n] - second[:, :, n:]) / 2, 2, 1)
        return found[:, :, 0] if np.ndim(x) == 1 else found

    def _index(self, name: str) -> int:
        return self.system.parameter_names.index(self.system.parameter(name).name)

    def velocities(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        columns, numbers = self.columns(x, case)
        found = self._values["v"](columns, numbers, time)
        return found[:, 0] if np.ndim(x) == 1 else found

    def reactions(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        columns, numbers = self.columns(x, case)
        found = self._values["p"](columns, numbers, time)
        return found[:, 0] if np.ndim(x) == 1 else found

    def followers(self) -> dict[int, int]:
        """States whose rate is another state: coordinates, and their velocities."""
        places = {j: len(self.chart.shaped) + k for k, j in enumerate(self.chart.free)}
        return {i: places[j] for i, j in enumerate(self.chart.shaped) if j in places}

    def linearised(self, load: str, rows: Sequence[int]) -> Matched:
        """f, ∂f/∂x and ∂f/∂load of some rows, for batches."""
        n, index, chosen = len(self.states), self._index(load), as_slice(rows)
        inside = any(symbol.name == load for rod in self.system.rods for symbol in rod.symbols)

        def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
            rates, batch = self._rates(x, numbers, time), x.shape[1]
            slopes = rates.slopes(() if inside else (index,), chosen)
            by_load = self._by(index, x, numbers, time)[chosen] if inside else slopes[:, :, n].T
            return np.concatenate([rates.f[chosen], slopes[:, :, :n].reshape(batch, -1).T, by_load])

        return Matched(values, self.linearised, load, rows)

    def rates_and_pivots(self) -> Matched:
        """f, and the determinant of the coefficients of dependent velocities if there are any."""

        def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
            rates = self._rates(x, numbers, time)
            return np.vstack([rates.f, rates.pivots]) if self.pivots else rates.f

        return Matched(values, self.rates_and_pivots)

    def bond_rows(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        rows = np.zeros((x.shape[1], len(self.bonds), len(self.states)))
        if self.bonds:
            rates = self._rates(x, numbers, 0.0)
            rows[:, :, : len(self.chart.shaped)] = rates.held[:, :, as_slice(self.chart.shaped)]
        return rows

    def _inertia_and_rows(self, q: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        placed = NodesAt(self.system, numbers).placed(q[:, None])  # type: ignore[arg-type]
        return placed.M[0], placed.A[0]
