"""Large systems stated by repeated parts: each part is derived once, its copies are evaluated in one batch.

A structure of a thousand bars is stated in absolute coordinates, every joint a constraint whose reaction stays an
unknown. Nothing symbolic grows with the number of copies: the values of each part are scattered into sparse
matrices whose pattern is known beforehand. The multiplier form M q̈ + h + Aᵀp = 0, numerically a saddle-point problem
(Benzi, Golub and Liesen 2005, Acta Numerica 14), stays as it is: long chains are ill-conditioned once eliminated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm
from scipy import sparse

from pfaff import doors
from pfaff.algebra.newtons_method import newton
from pfaff.algebra.tolerances import EPS
from pfaff.errors import ConvergenceError, ParameterError, number_of
from pfaff.flow.assembly_statement import check_load, check_places, checked_parts
from pfaff.flow.patterns import BLOCKS, Pattern, Placed
from pfaff.flow.sparse_pencil import SparseLinearisation, factorised
from pfaff.flow.statics import AtRest
from pfaff.statement.names import checked_title
from pfaff.statement.parts import Copies
from pfaff.statement.told import spelt, told
from pfaff.statement.values import instance, number_from, numbers_from, shown
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.many_states.assembled_branches import AssemblyBranch
    from pfaff.motion.result import Motion
    from pfaff.stability.large import SparseFlutter

ACCEPTED = 1e-9  # residual of the balance, relative to its largest force
ROUNDING = 16 * EPS  # rounding of forces that are summed over parts
LEFT = 64 * ROUNDING  # residual of them at which Newton's method gets no farther


@told
@dataclass(frozen=True)
class Rest:
    """An assembly at rest: coordinates, reactions of the constraints, and how well the forces balance."""

    load: float
    q: np.ndarray
    p: np.ndarray
    residual: float
    steps: int

    @property
    def status(self) -> str:
        return f"in balance to {self.residual:.1e} after {number_of(self.steps, 'Newton step')}"

    def plot(self) -> Any:
        """Coordinates and reactions by their number."""
        return doors.draw.draw_rest(self)


@spelt
@dataclass(frozen=True, eq=False)
class Assembly(Travels):
    """Copies of parts on common global coordinates, under one load that all of them share.

    parts
        What ``Part.copies`` returns. Reactions are numbered in this order, copy by copy.
    size
        The number of global coordinates; each must belong to at least one part.
    load
        The name of the parameter that grows; every part that has a parameter of this name feels it.
    start
        The configuration from which equilibria are sought; zero if not given.
    """

    parts: Sequence[Copies]
    size: int
    load: str
    start: Any = None
    name: str = "assembly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_title(self.name, "name of an assembly"))
        object.__setattr__(self, "parts", checked_parts(self.parts))
        check_places(self)
        check_load(self)
        object.__setattr__(
            self, "start", self._configuration(np.zeros(self.size) if self.start is None else self.start)
        )

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Every part derived and numbered."""
        placed: list[Placed] = []
        for copies in self.parts:
            placed.append(Placed(copies, self.size + sum(p.rows.size for p in placed), self.load))
        return tuple(placed)

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern(self.size, self.placed)

    @cached_property
    def nonholonomic(self) -> np.ndarray:
        """Which of the constraint rows are nonholonomic."""
        return np.concatenate([p.nonholonomic for p in self.placed])

    @cached_property
    def family_rows(self) -> np.ndarray:
        """The constraint rows that demand nothing at rest: each adds a dimension to the family of equilibria."""
        return np.nonzero(~np.concatenate([np.tile(p.demanding, p.copies.count) for p in self.placed]))[0]

    @cached_property
    def parameters(self) -> dict[sm.Symbol, None]:
        """The parameter that varies: the load."""
        symbols = (symbol for copies in self.parts for symbol in copies.part.parameters)
        return {next(symbol for symbol in symbols if symbol.name == self.load): None}

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return (self.load,)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(f"q{k}" for k in range(self.size))

    @cached_property
    def reaction_names(self) -> tuple[str, ...]:
        return tuple(f"p{k}" for k in range(self.pattern.rows))

    def compile(self) -> Assembly:
        """Derive the parts and lay out the sparse pattern now rather than at first use."""
        _ = self.pattern
        return self

    def equilibrium(self, load: float, start: Rest | Any = None, fixed: Sequence[int] = ()) -> Rest:
        """Rest at a load by Newton's method on coordinates and reactions.

        Nonholonomic constraints make families of equilibria. The member reached is the one that a slow motion
        A δq = 0 leads to from ``start``; or list in ``fixed`` as many coordinates, by index, as there are
        nonholonomic constraints, and these keep their starting values.
        """
        load, z = number_from("load", load), self._first_guess(start)
        return self.settle(load, z, self.selection(z[: self.size], fixed))

    def selection(self, q: np.ndarray, fixed: Sequence[int] = ()) -> sparse.csc_array:
        """The linear conditions that select a member of the family: coordinates that are fixed, or A(q) δq = 0."""
        held = self._held(fixed)
        rows = np.zeros((0, self.size))
        if len(held):
            rows = sparse.coo_array((np.ones(len(held)), (np.arange(len(held)), held)), shape=(len(held), self.size))
        elif len(self.family_rows):
            z = np.concatenate([q, np.zeros(self.pattern.rows)])
            rows = self._linearisation(self._evaluate(z, 0.0)).A[self.family_rows]
        entries = sparse.coo_array(rows)
        where = (self.size + self.family_rows[entries.row], entries.col) if entries.nnz else ([], [])
        return sparse.csc_array((entries.data, where), shape=(self.pattern.total, self.pattern.total))

    def settle(self, load: float, z: np.ndarray, selection: sparse.csc_array) -> Rest:
        """Newton's method from z = (q, p), whose steps obey the conditions that select a member of the family.

        The balance of forces decides when it ends, since soft directions never settle.
        """
        relative = last = np.inf

        def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
            nonlocal relative, last
            values = self._evaluate(z, load)
            before, (residual, relative) = relative, self._residual(values, z)
            still = last <= ROUNDING * (1 + np.abs(z).max()) and relative < ACCEPTED
            settled = still or before / 2 <= relative <= LEFT  # soft directions do not settle farther
            if relative <= ROUNDING or settled:
                return z, 0.0
            if not np.isfinite(relative):
                return None
            matrix = self.constrained(self._linearisation(values), selection)
            change = factorised(matrix).solve(-residual)
            last = np.abs(change).max()
            return z + change, 1.0

        found = newton(step, z)
        if found.ceased:
            q, p = found.at[: self.size], found.at[self.size :]
            return Rest(float(load), q, p, relative, found.steps - 1)
        raise ConvergenceError(
            f"no equilibrium of {self.name} was reached at {self.load} = {load:g} (relative residual {relative:.1e}): "
            "give a better start, other fixed coordinates or a smaller load"
        )

    def balanced(self, load: float, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, SparseLinearisation]:
        """The residual of the balance at z = (q, p), its derivative with respect to the load, and the small motions
        about it.

        The rows that demand nothing at rest are left for the conditions that select a member of the family.
        """
        values = self._evaluate(z, load)
        residual, pushed = self._residual(values, z)[0], np.zeros(self.pattern.total)
        for placed, value in zip(self.placed, values, strict=True):
            if placed.load_row is not None:
                own = placed.pushed(z, load, value)
                np.add.at(pushed, placed.copies.at.T, own[: placed.n])
                pushed[placed.rows.T] = np.where(placed.demanding[:, None], own[placed.n :], 0.0)
        return residual, pushed, self._linearisation(values)

    def constrained(self, lin: SparseLinearisation, selection: sparse.csc_array) -> sparse.csc_array:
        """[[K, Aᵀ], [A, 0]] with the conditions that select a member of the family in the rows that demand nothing."""
        data = lin.pencil_data(0.0)
        data[np.isin(self.pattern.indices, self.size + self.family_rows)] = 0.0
        return self.pattern.matrix(data) + selection

    def linearise(self, load: float, state: Rest | None = None) -> SparseLinearisation:
        """The sparse M, C, K and A of small motions about a state at rest (by default the one found from the start)."""
        load = number_from("load", load)
        rest = "give a state at rest, state=assembly.equilibrium(load)"
        state = self.equilibrium(load) if state is None else instance("state", state, Rest, rest)
        return self._linearisation(self._evaluate(np.concatenate([state.q, state.p]), load))

    def rest_at(self, load: float, z: np.ndarray) -> Rest:
        """The result for a known state at rest z = (q, p)."""
        residual = self._residual(self._evaluate(z, load), z)[1]
        return Rest(float(load), z[: self.size], z[self.size :], residual, 0)

    def branch(
        self,
        to: float,
        *,
        from_: float | None = None,
        start: Rest | Any = None,
        fixed: Sequence[int] = (),
        modes: int = 8,
        step: float = 0.1,
        points: int = 1000,
        bounds: tuple[float | None, float | None] | None = None,
        progress: Callable[[Any], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> AssemblyBranch:
        """States at rest followed over folds until the load is ``to``, with branch points and Hopf points located.

        ``from_``
            The load at the first one; that of a state at rest which is the ``start``, else zero.
        start, fixed
            As for ``equilibrium``.
        modes
            How many are watched for where they lose stability: those of lowest frequency, more or less.
        step, points, bounds, progress, events
            As for ``case.branch``; in expressions coordinates are q0, q1, … and reactions p0, p1, …
        """
        first = number_from("from_", from_) if from_ is not None else start.load if isinstance(start, Rest) else 0.0
        asked = (to, step, points, bounds, progress, self.load, events)
        return doors.assembled_branches.follow_assembly(self, first, start, asked, fixed, modes)

    def flutter(
        self, to: float | None = None, modes: int = 6, start: Any = None, fixed: Sequence[int] = ()
    ) -> SparseFlutter:
        """The first load at which one of the lowest modes starts to grow as an oscillation."""
        return doors.large.flutter_load(self, to=to, modes=modes, start=start, fixed=fixed)

    def simulate(
        self,
        duration: float,
        load: float,
        *,
        samples: int = 1001,
        tolerance: float | None = None,
        start: Rest | Any = None,
        velocities: Any = None,
        progress: Callable[[float], object] | None = None,
        max_step: float | None = None,
        max_steps: int = 1_000_000,
    ) -> Motion:
        """Motion from time zero at a constant load; Ctrl-C ends it and keeps what was computed.

        ``start`` is a configuration (by default the assembly's own), a state at rest, or a mapping from the indices of
        coordinates to values; ``velocities`` an array or such a mapping, zero by default. Arrays must obey the
        constraints; what a mapping leaves out follows from them. ``progress`` is told the part that is done.

        Every oscillation that exceeds ``tolerance``, relative to the largest coordinates and velocities of its kind, is
        resolved; ``max_step`` bounds the steps. Without damping a long chain rings for ever, which takes very many.
        """
        return doors.simulation.simulate(
            self,
            duration,
            load,
            samples=samples,
            tolerance=tolerance,
            start=start,
            velocities=velocities,
            progress=progress,
            max_step=max_step,
            max_steps=max_steps,
        )

    def studio(self, *, port: int = 0, browser: bool = True, wait: bool = True) -> Any:
        """Open the studio for this assembly: its load, modes and motions in a browser; as ``case.studio``."""
        return doors.studio.open_studio(self, port=port, browser=browser, wait=wait)

    def _configuration(self, q: Any) -> np.ndarray:
        numbers = numbers_from("start", q).copy()
        if numbers.shape != (self.size,) or not np.isfinite(numbers).all():
            raise ParameterError(
                f"a start of shape {numbers.shape} for {self.name}: give {self.size} finite numbers, one per coordinate"
            )
        return numbers

    def _first_guess(self, start: Rest | Any) -> np.ndarray:
        if isinstance(start, Rest):
            return np.concatenate([start.q, start.p])
        q = self.start if start is None else self._configuration(start)
        return np.concatenate([q, np.zeros(self.pattern.rows)])

    def _held(self, fixed: Sequence[int]) -> np.ndarray:
        if (
            isinstance(fixed, str | bytes)
            or not isinstance(fixed, Sequence | np.ndarray)
            or getattr(fixed, "ndim", 1) != 1
        ):
            raise ParameterError(f"fixed={shown(fixed)}: give the indices of coordinates, fixed=[0, 3]")
        for i in fixed:
            if not isinstance(i, int | np.integer) or not 0 <= i < self.size:
                raise ParameterError(
                    f"cannot fix coordinate {shown(i)}: the coordinates are numbered 0 to {self.size - 1}"
                )
        held = np.array(fixed, dtype=int)
        if len(held) not in (0, len(self.family_rows)):
            raise ParameterError(
                f"{len(held)} coordinates are fixed, but the equilibria of {self.name} form a family of dimension "
                f"{len(self.family_rows)}: fix that many, or none"
            )
        return held

    def _evaluate(self, z: np.ndarray, load: float) -> list[AtRest]:
        return [placed.evaluate(z, load) for placed in self.placed]

    def _residual(self, values: list[AtRest], z: np.ndarray) -> tuple[np.ndarray, float]:
        """h + Aᵀp and the violations of the constraints; and the largest of these relative to the forces and
        distances."""
        at = np.concatenate([placed.copies.at.T.ravel() for placed in self.placed])
        forces = np.concatenate([value.balance.ravel() for value in values])
        residual = np.bincount(at, forces, minlength=self.pattern.total)
        for placed, value in zip(self.placed, values, strict=True):
            residual[placed.rows.T] = np.where(placed.demanding[:, None], value.held, 0.0)
        force = np.bincount(at, np.abs(forces)).max(initial=0.0) or 1.0
        distance = np.abs(z[: self.size]).max(initial=0.0) or 1.0
        largest = [np.abs(part).max(initial=0.0) for part in np.split(residual, [self.size])]
        return residual, float(max(largest[0] / force, largest[1] / distance))

    def _linearisation(self, values: list[AtRest]) -> SparseLinearisation:
        pairs = list(zip(self.placed, values, strict=True))
        data = {name: self.pattern.scatter(name, [p.gather(name, value) for p, value in pairs]) for name in BLOCKS}
        return SparseLinearisation(self.pattern, self.nonholonomic, data)
