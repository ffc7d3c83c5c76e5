"""The equations of motion as functions ẋ = f(x; parameters), in full or on shape space.

``lowering`` makes them. The full flow has all coordinates and velocities as states; it is regular wherever the
constraints are independent. The shape flow drops ignorable coordinates and the velocities that the constraints
determine: a chart, regular where those velocities can be solved for. ``all_velocities`` leads out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from itertools import permutations
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from pfaff.algebra.allowed_inertia import allowed_inertia, kinetic_units
from pfaff.algebra.tolerances import LOST, NOISE
from pfaff.algebra.units import row_units
from pfaff.errors import ParameterError, PfaffError, RankError, SingularMassError
from pfaff.flow.accelerations import Accelerations
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import derivatives, jacobian, jacobian_entries
from pfaff.flow.graph import Expression, expression, par
from pfaff.flow.lagrangian import Graph, graph_of
from pfaff.statement.called import unfolded
from pfaff.statement.odes import Ode
from pfaff.statement.system import System
from pfaff.statement.values import huge, named, numbers_from, one_of, shown, whole_number
from pfaff.threads import Once, cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.flow.moving_frames import Frame
    from pfaff.flow.slice import Slice

Lowering = TypeVar("Lowering", bound=Callable[..., "Flow"])

LONG_FROM = 1500  # operations of the right-hand side beyond which derivatives along lines are faster than a Jacobian
HIGHEST, ENTRIES = 12, 1_000_000  # highest order, and most entries, of derivatives that can be derived
LOWERED = "_lowered"  # how a flow was made, where not by its system


@dataclass(frozen=True, eq=False)
class Flow(Travels):
    """ẋ = f(x; parameters): values, derivatives of any order, reactions, for one state or a batch of columns.

    ``states`` names the components of x; ``dropped`` says which coordinates are not among them and why, ``dependent``
    which velocities follow from the constraints, ``settle`` the rate at which holonomic ones attract. ``pivots`` are
    the coefficients by which dependent velocities are solved for: where one vanishes, the chart ends. If the last
    expressions are ``accelerations``, they are differentiated as such. ``carried`` are states that replace time.
    ``unsolved`` are the equations before any velocity was solved for; ``bonds`` vanish on motions, if not by
    construction, and decay elsewhere. A ``slice`` says by which symmetries coordinates were dropped that appear in the
    equations, a ``frame`` along which others it is seen to move.
    """

    system: System | Ode
    states: tuple[str, ...]
    dropped: Mapping[str, str]
    kept: Mapping[str, str]
    dependent: tuple[str, ...]
    expressions: Sequence[Expression] = field(repr=False)
    velocity_expressions: Sequence[Expression] = field(repr=False)
    reaction_expressions: Sequence[Expression] = field(repr=False)
    settle: float = 0.0
    pivots: Sequence[Expression] = field(default=(), repr=False)
    accelerations: Accelerations | None = field(default=None, repr=False)
    carried: tuple[str, ...] = ()
    unsolved: Graph | None = field(default=None, repr=False)
    bonds: Sequence[Expression] = field(default=(), repr=False)
    slice: Slice | None = field(default=None, repr=False)
    frame: Frame | None = field(default=None, repr=False)
    structured: ClassVar[bool] = False  # evaluated by structure, not from expressions
    _compiled: Once[Any, Compiled] = field(init=False, repr=False, default_factory=Once)
    _indices: Once[int, list[tuple[tuple[int, ...], Expression]]] = field(init=False, repr=False, default_factory=Once)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """To other processes goes how it was lowered, which is done again there: its expressions are much larger."""
        name = next((name for name in ("shape", "flow") if vars(self.system).get(name) is self), None)
        if name:
            return getattr, (self.system, name)
        made = vars(self).get(LOWERED)
        return made or super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        left = f"; without {', '.join(self.dropped)}" if self.dropped else ""
        return f"<Flow of {self.system.name!r}: states {', '.join(self.states)}{left}>"

    @cached_property
    def variables(self) -> list[Expression]:
        return [expression(name) for name in self.states]

    @property
    def alike(self) -> np.ndarray | None:
        """A number for each state, the same for those of one kind; None if every state is a kind of its own."""
        return None

    @cached_property
    def positions(self) -> np.ndarray | None:
        """Which states are coordinates of a mechanical system rather than velocities; None if none are, or all."""
        names = getattr(self.system, "coordinate_names", ())
        found = np.array([name in names for name in self.states], dtype=bool)
        return found if found.any() and not found.all() else None

    @cached_property
    def heavy(self) -> bool:
        """Whether its equations are long."""
        return self.operations > LONG_FROM

    def rhs(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """f(x). A state where the mass matrix or the constraints are singular raises an error that says so."""
        values = self.rates(x, case, time)
        if not np.isfinite(values).all():
            self.diagnose(np.asarray(x, dtype=float), numbers_of(case), values)
        return values

    def rates(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """f(x) without a check that it is finite."""
        return self._evaluate("rhs", lambda: self.expressions, x, case, time)

    def bond_rows(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Derivatives of the bonds at states given as columns: rows that vanish on the changes which constraints allow,
        indexed [state as given, row, component]."""
        n, count = x.shape
        if not self.bonds:
            return np.zeros((count, 0, n))
        rows = self.compiled("bonds", lambda: jacobian_entries(self.bonds, self.variables))
        return rows(x, numbers).T.reshape(count, -1, n)

    @property
    def operations(self) -> int:
        """Elementary operations of one evaluation of the right-hand side."""
        return self.compiled("rhs", lambda: self.expressions).operations

    def jacobian(self, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        """∂f/∂x, indexed [i, j]."""
        return self.tensor(1, x, case, time)

    def tensor(self, order: int, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        """The symmetric derivative tensor ∂ᵏf/∂xᵏ of any order, indexed [i, j1 … jk] (then the batch)."""
        n = len(self.states)
        whole_number("order", order, 1, HIGHEST, "its derivatives are too many to derive")
        if n * comb(n + order - 1, order) > ENTRIES:
            raise ParameterError(
                f"the derivatives of order {order} of {n} rates have more than {ENTRIES} entries: ask for a lower order"
            )
        entries = self._indices.get(order, lambda: self._entries(order))
        values = self._evaluate(("tensor", order), lambda: [e for _, e in entries], x, case, time)
        if order == 1:
            return values.reshape(n, n, *values.shape[1:])
        tensor = np.zeros((n,) * (order + 1) + values.shape[1:])
        for (index, _), value in zip(entries, values, strict=True):
            for place in set(permutations(index[1:])):
                tensor[(index[0], *place)] = value
        return tensor

    def parameter_jacobian(
        self, x: Any, case: Bound | np.ndarray, names: Sequence[str] | None = None, time: float = 0.0
    ) -> np.ndarray:
        """∂f/∂parameter, one column for each name (all parameters by default)."""
        chosen = named("names", names, "['F']") if names is not None else self.system.parameter_names
        if not chosen:
            raise ParameterError(f"names={shown(names)} is empty: name at least one parameter of {self.system.name}")
        index = [self.system.parameter_names.index(self.system.parameter(name).name) for name in chosen]

        def derivatives() -> list[Expression]:
            return [each for row in self.derivatives([par[i] for i in index]) for each in row]

        values = self._evaluate(("parameters", chosen), derivatives, x, case, time)
        return values.reshape(len(self.states), len(chosen), *values.shape[1:])

    def jacobian_by(self, name: str, x: Any, case: Bound | np.ndarray, time: float = 0.0) -> np.ndarray:
        """∂²f/∂x∂parameter, indexed [i, j]: how the Jacobian changes with one parameter. For few calls."""
        index = self.system.parameter_names.index(self.system.parameter(name).name)

        def derivatives() -> list[Expression]:
            entries = [each for row in self.derivatives(self.variables) for each in row]
            return jacobian_entries(entries, [par[index]])

        values = self._evaluate(("jacobian by", name), derivatives, x, case, time)
        return values.reshape(len(self.states), len(self.states), *values.shape[1:])

    def velocities(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """All the coordinates' velocities, those that were dropped or are dependent included."""
        return self._evaluate("velocities", lambda: self.velocity_expressions, x, case, time)

    def reactions(self, x: Any, case: Bound | np.ndarray, time: float | np.ndarray = 0.0) -> np.ndarray:
        """The reactions p of all constraints; p multiplies +A on the left-hand side."""
        if not self.reaction_expressions:
            return np.zeros((0, *np.shape(x)[1:]))
        return self._evaluate("reactions", lambda: self.reaction_expressions, x, case, time)

    def reconstruct(self, t: np.ndarray, x: np.ndarray, case: Bound, /, **start: Any) -> dict[str, np.ndarray]:
        """The dropped coordinates along a sampled motion x[:, k] = x(t[k]), from their starting values (0 by default),
        and those that symmetries move with them.

        Integrates the cubic spline of velocities: fourth order in the sampling step.
        """
        from scipy.interpolate import CubicSpline

        t, x = numbers_from("t", t), numbers_from("x", x)
        if t.ndim != 1 or x.shape != (len(self.states), len(t)) or len(t) < 2 or not (np.diff(t) > 0).all():
            raise ParameterError(
                f"times of shape {t.shape} and states of shape {x.shape}: give increasing times and one column of "
                f"{len(self.states)} states for each"
            )
        start = unfolded("start", start)
        for name in start:
            one_of(self.dropped, name, "{} was not dropped")
        if isinstance(self.system, Ode):
            return {}
        if self.slice is not None:
            states, velocities = dict(zip(self.states, x, strict=True)), self.velocities(x, case, t)
            return self.slice.paths(t, velocities, states, start, numbers_of(case))
        index = [self.system.coordinate_names.index(name) for name in self.dropped]
        speeds = self.velocities(x, case, t)[index]
        return {
            name: start.get(name, 0.0) + CubicSpline(t, speed).antiderivative()(t)
            for name, speed in zip(self.dropped, speeds, strict=True)
        }

    def derivatives(self, by: Sequence[Expression]) -> list[list[Expression]]:
        """∂f/∂by as expressions, a row for each state, by states and parameters."""
        implicit = self.accelerations.derivatives(by) if self.accelerations else []
        direct = list(self.expressions[: len(self.states) - len(implicit)])
        return [*jacobian(direct, by), *implicit]

    def _entries(self, order: int) -> list[tuple[tuple[int, ...], Expression]]:
        """Independent entries (i, j1 ≤ … ≤ jk) of the derivative tensor."""
        if order == 1:
            rows = self.derivatives(self.variables)
            return [((i, j), each) for i, row in enumerate(rows) for j, each in enumerate(row)]
        return list(derivatives(self.expressions, self.variables, order))

    def _evaluate(
        self,
        key: Any,
        expressions: Callable[[], Sequence[Expression]],
        x: Any,
        case: Bound | np.ndarray,
        time: float | np.ndarray,
    ) -> np.ndarray:
        if type(x) is not np.ndarray or x.dtype != float:
            x = numbers_from("x", x)
        if x.shape[:1] != (len(self.states),):
            raise ParameterError(f"a state has {len(self.states)} components ({', '.join(self.states)}), not {x.shape}")
        return self.compiled(key, expressions)(x, numbers_of(case), time)

    def compiled(self, key: Any, expressions: Callable[[], Sequence[Expression]]) -> Compiled:
        """Expressions in the states, made once for all analyses that use the same key."""
        return self._compiled.get(key, lambda: Compiled(expressions(), self.variables))

    def diagnose(self, x: np.ndarray, numbers: np.ndarray, values: np.ndarray) -> None:
        """Raise an error that names what is singular at the (first) state where the right-hand side is not finite."""
        if x.ndim == 2:
            column = int((~np.isfinite(values)).any(axis=0).argmax())
            x = x[:, column]
            numbers = numbers[:, column] if numbers.ndim == 2 else numbers
        where = ", ".join(f"{name} = {value:g}" for name, value in zip(self.states, x, strict=True))
        if not np.isfinite(x).all():
            raise PfaffError(f"the state is not finite: {where}")
        if isinstance(self.system, Ode):
            raise PfaffError(f"the right-hand side of {self.system.name} is not finite at {where}: start elsewhere")
        q = np.array([x[self.states.index(n)] if n in self.states else 0.0 for n in self.system.coordinate_names])
        M, A = self._inertia_and_rows(q, numbers)
        m = len(A)
        if not (np.isfinite(M).all() and np.isfinite(A).all()):
            raise PfaffError(f"inertia or constraints of {self.system.name} are not finite at {where}: start elsewhere")
        found = allowed_inertia(M, A)
        if found.lacks(NOISE):
            along = self.system.coordinate_names[found.along]
            beside = " on the motions that the constraints allow" if m else ""
            raise SingularMassError(
                f"the mass matrix is singular{beside}, mostly along {along}, at {where}: give {along} inertia, or, if "
                "it has some, let masses differ by less"
            )
        rows = _dependent(A * kinetic_units(M, A)) if m else []
        if rows:
            raise RankError(
                f"the constraints lose rank (rows {', '.join(map(str, rows))} are dependent, or nearly so) at {where}: "
                "leave out what follows from the others, or start elsewhere"
            )
        if not self.dependent:
            culprits = huge(self.system.parameter_names, numbers)
            remedy = f"use other units: {culprits}" if culprits else "start elsewhere or use other units"
            raise PfaffError(f"the accelerations of {self.system.name} are not finite at {where}: {remedy}")
        raise RankError(
            f"the velocities {', '.join(self.dependent)} cannot be solved for at {where}: use the full flow, "
            "or choose other dependent velocities"
        )

    def _inertia_and_rows(self, q: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M and A at a configuration."""
        assert isinstance(self.system, System)
        graph = graph_of(self.system)
        n, m = len(graph.q), len(graph.A)
        matrices = Compiled([e for row in (*graph.M, *graph.A) for e in row], graph.q)(q, numbers)
        return matrices[: n * n].reshape(n, n), matrices[n * n :].reshape(m, n)


def _dependent(A: np.ndarray) -> list[int]:
    """Numbers of the rows that are dependent, or nearly so, counted from one."""
    left, values, _ = np.linalg.svd(A * row_units(A)[:, None])
    lost = left[:, int((values > LOST * values.max(initial=0.0)).sum()) :]
    return [int(k) + 1 for k in np.flatnonzero(np.abs(lost).max(axis=1, initial=0.0) > LOST)]


def lowered_again(lower: Lowering) -> Lowering:
    """A function that makes flows of what it is given; where one arrives in another process, it is called again."""

    @wraps(lower)
    def lowered(*given: Any, **named: Any) -> Flow:
        flow = lower(*given, **named)
        vars(flow)[LOWERED] = partial(lowered, **named), given
        return flow

    return lowered  # type: ignore[return-value]


def numbers_of(case: Bound | np.ndarray) -> np.ndarray:
    """The parameters of a case, or the numbers given instead."""
    if isinstance(case, np.ndarray):
        return case
    if not hasattr(case, "numbers"):
        raise ParameterError(f"case={shown(case)} is no case: give the system with its values, system.at(…)")
    return case.numbers
