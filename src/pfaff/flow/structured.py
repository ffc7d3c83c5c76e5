"""The flow of a system with rods: rates, reactions and their derivatives of any order, from structured mechanics.

M q̈ + h + Aᵀp = 0 and A q̈ + γ = 0 are linear in q̈ and p, so that along a curve the coefficients of their series follow
one order after another, from one and the same matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError, RankError
from pfaff.flow.flow import Flow, numbers_of
from pfaff.flow.rod_mechanics import Mechanics, coefficients, mechanics_of
from pfaff.flow.series import Series
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates, kept_coordinates
from pfaff.statement.system import System
from pfaff.statement.values import named, numbers_from, whole_number
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound

HIGHEST = 5  # derivatives that are ever asked for
NEAR = 0.3  # amplitudes at which constraints that lose rank on straight rods are looked at


class Matched:
    """Numbers for one state or a batch of columns, from a function of columns: what ``Compiled`` is for formulas."""

    def __init__(self, function: Any, operations: int = 10**5) -> None:
        self._function, self.operations = function, operations

    def __call__(self, x: np.ndarray, parameters: np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        values = self._function(as_columns(x), parameters, time)
        return values[:, 0] if np.ndim(x) == 1 else values

    def batch(self, x: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> np.ndarray:
        out[:] = self._function(x, parameters, 0.0)
        return out


def as_columns(x: np.ndarray) -> np.ndarray:
    return x[:, None] if x.ndim == 1 else x


def parameter_list(numbers: np.ndarray) -> list[Any]:
    """Each a number, or a column [state, direction] where every state has its own."""
    return [number[:, None] if number.ndim else float(number) for number in np.asarray(numbers, dtype=float)]


def time_column(time: float | np.ndarray) -> Any:
    return np.asarray(time, dtype=float)[:, None] if np.ndim(time) else float(time)


def solve(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """x[row, state, direction] of a matrix for every state; not a number where it is singular."""
    sides = np.moveaxis(right, 1, 0)
    try:
        found = np.linalg.solve(matrices, sides)
    except np.linalg.LinAlgError:
        found = np.full(sides.shape, np.nan)
        for k, matrix in enumerate(matrices):
            try:
                found[k] = np.linalg.solve(matrix, sides[k])
            except np.linalg.LinAlgError:
                continue
    return np.moveaxis(found, 0, 1)


@dataclass(frozen=True, eq=False)
class Moving:
    """Series of a state: coordinates, velocities, accelerations, reactions."""

    q: Series
    v: Series
    a: Series
    p: Series


def bordered(m: Mechanics, q: Any, v: Any, parameters: list[Any], time: Any) -> tuple[np.ndarray, np.ndarray]:
    """h and γ as rows, and [[M, Aᵀ], [A, 0]] for every state of a batch."""
    size, batch = m.n + m.m, q.shape[1]
    unit = np.eye(size)[:, None, :]
    a, p = (Series([None, rows], 1) for rows in (unit[: m.n], unit[m.n :]))
    entries = m.residual(Series([q], 1), Series([v], 1), a, p, parameters, time)
    right = coefficients(entries, 0, batch, 1)
    return right, np.moveaxis(coefficients(entries, 1, batch, size), 1, 0)


def accelerated(
    m: Mechanics, q: Series, v: Series, parameters: list[Any], time: Any, stabilisation: Any = None
) -> Moving:
    """Accelerations and reactions along a curve of states, one order after another.

    With a rate of stabilisation the constraints obey ċ + α c + α²φ/4 = 0 (Baumgarte 1972).
    """
    order, batch = q.order, q.c[0].shape[1]
    still = [_leading(each) for each in parameters]
    right, matrices = bordered(m, q.c[0], v.c[0], still, time)
    found: list[np.ndarray] = []
    for k in range(order + 1):
        if k:
            at = _truncated(q, k), _truncated(v, k)
            a, p = (Series([each[rows] for each in found], k) for rows in (slice(m.n), slice(m.n, None)))
            entries = m.residual(*at, a, p, [_shortened(each, k) for each in parameters], time)
            right = coefficients(entries, k, batch, _directions(entries, k))
        if stabilisation is not None:
            right = right.copy()
            right[m.n :] += _drift(m, q, v, parameters, time, stabilisation, k, right.shape)
        found.append(-solve(matrices, right))
    return Moving(q, v, *(Series([each[rows] for each in found], order) for rows in (slice(m.n), slice(m.n, None))))


def _drift(
    m: Mechanics, q: Series, v: Series, parameters: list[Any], time: Any, rate: Any, k: int, shape: tuple[int, ...]
) -> np.ndarray:
    at = _truncated(q, k), _truncated(v, k)
    short = [_shortened(each, k) for each in parameters]
    drift = rate * coefficients(m.constraints(*at, short, time), k, *shape[1:])
    phi = m.positions(at[0], short, time)
    if phi:
        drift[m.m - len(phi) :] += rate**2 / 4 * coefficients(phi, k, *shape[1:])
    return drift


def _directions(entries: list[Any], k: int) -> int:
    shapes = [np.shape(each.coefficient(k))[-1:] for each in entries if isinstance(each, Series)]
    return max((shape[0] for shape in shapes if shape), default=1)


def _leading(parameter: Any) -> Any:
    return parameter.c[0] if isinstance(parameter, Series) else parameter


def _truncated(x: Series, order: int) -> Series:
    return Series(x.c, order)


def _shortened(parameter: Any, order: int) -> Any:
    return Series(parameter.c, order) if isinstance(parameter, Series) else parameter


@dataclass(frozen=True, eq=False)
class StructuredFlow(Flow):
    """The flow of a system with rods, in full or on shape space; see ``Flow``."""

    shaped: tuple[int, ...] = ()  # coordinates among the states
    free: tuple[int, ...] = ()  # velocities among the states
    solved: tuple[int, ...] = ()  # velocities that follow from the constraints
    structured = True
    mechanics: Mechanics = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanics", mechanics_of(self.system))  # type: ignore[arg-type]

    @property
    def operations(self) -> int:
        return 10**5

    @cached_property
    def heavy(self) -> bool:
        return True

    # Series along curves of states

    def state(self, x: Series, parameters: list[Any], time: Any) -> tuple[Series, Series]:
        """All coordinates and velocities along a curve of states; those that were dropped rest at zero."""
        n = self.mechanics.n
        q, v = (Series([np.zeros((n, *each.shape[1:])) for each in x.c], x.order) for _ in range(2))
        split = len(self.shaped)
        for k, each in enumerate(x.c):
            q.c[k][list(self.shaped)] = each[:split]
            v.c[k][list(self.free)] = each[split:]
        if self.solved:
            self._solve_velocities(q, v, parameters, time)
        return q, v

    def _solve_velocities(self, q: Series, v: Series, parameters: list[Any], time: Any) -> None:
        m, chosen, batch = self.mechanics, list(self.solved), q.c[0].shape[1]
        matrices = self._pivot_matrices(q.c[0], [_leading(each) for each in parameters], time)
        for k in range(q.order + 1):
            if k >= len(v.c):
                v.c.append(np.zeros_like(v.c[0]))
            at = _truncated(q, k), _truncated(v, k)
            short = [_shortened(each, k) for each in parameters]
            entries = m.constraints(*at, short, time)
            right = coefficients(entries, k, batch, max(v.c[k].shape[2], _directions(entries, k)))
            phi = m.positions(at[0], short, time) if self.settle else []
            if phi:
                right = right.copy()
                right[m.m - len(phi) :] += self.settle * coefficients(phi, k, *right.shape[1:])
            there = np.array(np.broadcast_to(v.c[k], (m.n, *right.shape[1:])))
            there[chosen] = -solve(matrices, right)
            v.c[k] = there

    def _pivot_matrices(self, q: np.ndarray, parameters: list[Any], time: Any) -> np.ndarray:
        """The columns of A for the dependent velocities, for every state."""
        m, unit = self.mechanics, np.eye(self.mechanics.n)[:, None, list(self.solved)]
        v = Series([None, unit], 1)
        entries = m.constraints(Series([q], 1), v, parameters, time)
        return np.moveaxis(coefficients(entries, 1, q.shape[1], len(self.solved)), 1, 0)

    def rates(self, x: Series, parameters: list[Any], time: Any) -> tuple[Series, Moving]:
        """f along a curve of states."""
        moving = accelerated(self.mechanics, *self.state(x, parameters, time), parameters, time)
        shaped, free = list(self.shaped), list(self.free)
        found = []
        for k in range(x.order + 1):
            v, a = moving.v.coefficient(k), moving.a.coefficient(k)
            shape = np.broadcast_shapes(v.shape[1:] if np.ndim(v) else (), a.shape[1:])
            parts = (np.broadcast_to(v, (len(a), *shape))[shaped], np.broadcast_to(a, (len(a), *shape))[free])
            found.append(np.concatenate(parts))
        return Series(found, x.order), moving

    # What analyses ask for

    def columns(self, x: Any, case: Bound | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = numbers_of(case)
        x = numbers_from("x", x) if type(x) is not np.ndarray or x.dtype != float else x
        if x.shape[:1] != (len(self.states),):
            raise ParameterError(f"a state has {len(self.states)} components ({', '.join(self.states)}), not {x.shape}")
        return as_columns(x), numbers

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
        return self.rates(curve, parameters, time_column(time))[0].c

    def rhs(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        columns, numbers = self.columns(x, case)
        found, _ = self.rates(Series([columns[:, :, None]], 0), parameter_list(numbers), time_column(time))
        values = found.c[0][:, :, 0]
        if not np.isfinite(values).all():
            self.diagnose(columns, numbers, values)
        return values[:, 0] if np.ndim(x) == 1 else values

    def jacobian(self, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        return self.tensor(1, x, case, time)

    def tensor(self, order: int, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        whole_number("order", order, 1, 1, "the higher derivatives of rods are had along lines, by their jets")
        found = np.moveaxis(self.along(x, case, np.eye(len(self.states)), 1, time)[1], 2, 1)
        return found[:, :, 0] if np.ndim(x) == 1 else found

    def parameter_jacobian(
        self, x: Any, case: Bound | np.ndarray, names: Sequence[str] | None = None, time: float = 0.0
    ) -> np.ndarray:
        chosen = named("names", names, "['F']") if names is not None else self.system.parameter_names
        still = np.zeros((len(self.states), 1))
        found = np.stack(
            [self.along(x, case, still, 1, time, (self._index(name), [1.0]))[1][:, :, 0] for name in chosen], axis=1
        )
        return found[:, :, 0] if np.ndim(x) == 1 else found

    def jacobian_by(self, name: str, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        """From second derivatives along (x + s e, p ± s): their difference is twice the mixed one."""
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
        _, v = self.state(Series([columns[:, :, None]], 0), parameter_list(numbers), time_column(time))
        return v.c[0][:, 0, 0] if np.ndim(x) == 1 else v.c[0][:, :, 0]

    def reactions(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        columns, numbers = self.columns(x, case)
        _, moving = self.rates(Series([columns[:, :, None]], 0), parameter_list(numbers), time_column(time))
        return moving.p.c[0][:, 0, 0] if np.ndim(x) == 1 else moving.p.c[0][:, :, 0]

    def followers(self) -> dict[int, int]:
        """States whose rate is another state: coordinates, and their velocities."""
        places = {j: len(self.shaped) + k for k, j in enumerate(self.free)}
        return {i: places[j] for i, j in enumerate(self.shaped) if j in places}

    def linearised(self, load: str, rows: Sequence[int]) -> Matched:
        """f, ∂f/∂x and ∂f/∂load of some rows, for batches."""
        n, index, chosen = len(self.states), self._index(load), list(rows)
        directions, change = np.hstack([np.eye(n), np.zeros((n, 1))]), np.append(np.zeros(n), 1.0)

        def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
            f, slopes = self.along(x, numbers, directions, 1, time, (index, change))
            by_state = np.moveaxis(slopes[chosen], 2, 1)
            flat = by_state[:, :n].reshape(len(chosen) * n, -1)
            return np.concatenate([f[chosen][:, :, 0], flat, by_state[:, n]])

        return Matched(values)

    def rates_and_pivots(self) -> Matched:
        """f, and the determinant of the coefficients of dependent velocities if there are any."""

        def values(x: np.ndarray, numbers: np.ndarray, time: Any) -> np.ndarray:
            parameters, at = parameter_list(numbers), time_column(time)
            found, moving = self.rates(Series([x[:, :, None]], 0), parameters, at)
            rows = found.c[0][:, :, 0]
            if not self.pivots:
                return rows
            pivots = np.linalg.det(self._pivot_matrices(moving.q.c[0], parameters, at))
            return np.vstack([rows, np.broadcast_to(pivots, rows.shape[1])])

        return Matched(values)

    def _inertia_and_rows(self, q: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m, at = self.mechanics, q[:, None, None]
        _, matrices = bordered(m, at, 0 * at, parameter_list(numbers), 0.0)
        return matrices[0][: m.n, : m.n], matrices[0][m.n :, : m.n]


def full_structured(system: System) -> StructuredFlow:
    """All coordinates and velocities."""
    names = system.coordinate_names
    every = tuple(range(len(names)))
    return StructuredFlow(
        system=system,
        states=(*names, *(f"{name}_dot" for name in names)),
        dropped={},
        kept=dict.fromkeys(names, "kept: all coordinates are states of the full flow"),
        dependent=(),
        expressions=(),
        velocity_expressions=(),
        reaction_expressions=(),
        shaped=every,
        free=every,
    )


def shape_structured(system: System, chosen: Sequence[int] | None, settle: float) -> StructuredFlow:
    """Coordinates that matter and independent velocities."""
    system.check_independent()
    names, dropped = system.coordinate_names, ignorable_coordinates(system)
    first = [names.index(name) for name in dropped]
    columns = list(chosen) if chosen is not None else dependent_velocities(reference_rows(system), first)
    shaped = tuple(j for j, name in enumerate(names) if name not in dropped)
    free = tuple(j for j in range(len(names)) if j not in columns)
    return StructuredFlow(
        system=system,
        states=(*(names[j] for j in shaped), *(f"{names[j]}_dot" for j in free)),
        dropped=dropped,
        kept=kept_coordinates(system),
        dependent=tuple(f"{names[j]}_dot" for j in columns),
        expressions=(),
        velocity_expressions=(),
        reaction_expressions=(),
        settle=settle,
        pivots=("determinant",) if columns else (),
        shaped=shaped,
        free=free,
        solved=tuple(columns),
    )


def reference_rows(system: System) -> np.ndarray:
    """A on straight rods with the default parameters (1 where there is none), or nearby if it is degenerate there."""
    m, generator = mechanics_of(system), np.random.default_rng(0)
    if not m.m:
        return np.zeros((0, m.n))
    parameters = parameter_list(np.array([1.0 if each is None else float(each) for each in system.parameters.values()]))
    for size in (0.0, NEAR, NEAR, NEAR):
        q = generator.uniform(-size, size, (m.n, 1, 1))
        rows = bordered(m, q, 0 * q, parameters, 0.0)[1][0][m.n :, : m.n]
        if np.isfinite(rows).all() and np.linalg.matrix_rank(rows) == m.m:
            return rows
    raise RankError(f"the constraints of {system.name} are dependent near the origin: choose dependent velocities")
