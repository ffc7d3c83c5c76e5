"""Large systems stated by repeated parts: each part is compiled once, its copies are evaluated in one batch.

A structure of a thousand bars is stated in absolute coordinates, every joint a constraint whose reaction stays an
unknown. Nothing symbolic grows with the number of copies: the values of each part are scattered into sparse
matrices whose pattern is known beforehand. The multiplier form M q̈ + h + Aᵀp = 0 is never eliminated, because
eliminated coordinates spoil the conditioning of long chains (Benzi, Golub and Liesen 2005, Acta Numerica 14).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from pfaff.case import checked_value
from pfaff.errors import ConvergenceError, ParameterError, RankError, StatementError, nearest
from pfaff.statics import AtRest, Statics, statics_of
from pfaff.system import System

if TYPE_CHECKING:
    from pfaff.stability.sparse import SparseFlutter

NEWTON_STEPS = 30
ACCEPTED = 1e-9  # residual of the balance, relative to its largest force
ROUNDING = 16 * np.finfo(float).eps
BLOCKS = ("M", "C", "K", "reactions", "rows", "moving", "rates")


@dataclass(frozen=True, eq=False)
class Part(System):
    """A fragment of a system, stated like a ``System`` in its own local coordinates.

    It may lack kinetic energy, as a hinge spring does, and is placed in an assembly by ``copies``.
    Explicit time is not accepted: assemblies are studied at rest.
    """

    kinetic: Any = 0
    name: str = "part"

    def __post_init__(self) -> None:
        stated = sm.sympify(self.kinetic)
        placeholder = sm.Add(*(sm.Derivative(q, q.args[0]) ** 2 for q in self.coordinates if q.args))
        object.__setattr__(self, "kinetic", stated + placeholder)  # a System insists on inertia
        super().__post_init__()
        s = self.statement
        bare = s.kinetic - sm.Add(*(v**2 for v in s.v))
        object.__setattr__(self, "kinetic", stated)
        object.__setattr__(self, "statement", replace(s, kinetic=bare))
        stated_terms = (bare, s.potential, s.dissipation, *s.forces, *s.constraints)
        if any(s.time in term.free_symbols for term in stated_terms):
            raise StatementError(f"part {self.name!r} depends on time explicitly: write the excitation as a parameter")

    def copies(self, at: Any, **values: Any) -> Copies:
        """This part repeated: row i of ``at`` lists the global coordinates that copy i's own coordinates are.

        Each parameter takes a number for all copies or an array with one number for each.
        """
        return Copies(self, at, values)

    @cached_property
    def still(self) -> np.ndarray:
        """Which constraints keep A q to first order: the holonomic ones, and those A(q) q̇ = 0 without b(q)."""
        s, nonholonomic = self.statement, len(self.nonholonomic_constraints)
        rest = [c.xreplace({v: sm.Integer(0) for v in s.v}) for c in s.constraints]
        return np.array([k >= nonholonomic or sm.simplify(b) == 0 for k, b in enumerate(rest)], dtype=bool)


@dataclass(frozen=True, eq=False)
class Copies:
    """A part placed ``count`` times; ``values`` hold each parameter as an array over the copies."""

    part: Part
    at: np.ndarray
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _connectivity(self.part, self.at))
        given = {name: self._array(self.part.parameter(name), value) for name, value in self.values.items()}
        object.__setattr__(self, "values", given)

    @property
    def count(self) -> int:
        return len(self.at)

    def table(self, load: str) -> np.ndarray:
        """All parameters, one row each in the part's order and one column for each copy; the load's row is blank."""
        rows = []
        for symbol, default in self.part.parameters.items():
            if symbol.name == load:
                rows.append(np.zeros(self.count))
                continue
            value = self.values.get(symbol.name, default)
            if value is None:
                raise ParameterError(
                    f"parameter {symbol.name!r} of part {self.part.name!r} has no value: "
                    f"give it with copies(…, {symbol.name}=…)"
                )
            rows.append(self._array(symbol, value))
        return np.array(rows).reshape(len(rows), self.count)

    def _array(self, symbol: sm.Symbol, value: Any) -> np.ndarray:
        if np.ndim(value) == 0:
            return np.full(self.count, float(checked_value(symbol, value if np.ndim(value) else _scalar(value))))
        if np.shape(value) != (self.count,):
            raise ParameterError(
                f"{symbol.name} of part {self.part.name!r} has shape {np.shape(value)}: "
                f"give one number, or an array of {self.count} numbers, one for each copy"
            )
        return np.array([float(checked_value(symbol, _scalar(each))) for each in value])


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
        return f"in balance to {self.residual:.1e} after {self.steps} Newton step(s)"


class Pattern:
    """Where the entries of all copies go in the sparse matrix [[K, Aᵀ], [A, 0]], computed once."""

    def __init__(self, size: int, rows: int, places: list[np.ndarray], filled: list[dict[str, np.ndarray]]) -> None:
        self.size, self.rows, self.total = size, rows, size + rows
        self.local = [{name: np.nonzero(mask) for name, mask in masks.items()} for masks in filled]
        keys = [
            _keys(place, entries[name], self.total)
            for place, entries in zip(places, self.local, strict=True)
            for name in BLOCKS
        ]
        unique, position = np.unique(np.concatenate(keys), return_inverse=True)
        self.indices = (unique % self.total).astype(np.int32)
        self.indptr = np.searchsorted(unique, np.arange(self.total + 1) * self.total).astype(np.int32)
        pieces = iter(np.split(position, np.cumsum([len(key) for key in keys])[:-1]))
        scattered: dict[str, list[np.ndarray]] = {name: [] for name in BLOCKS}
        for _ in places:
            for name in BLOCKS:
                scattered[name].append(next(pieces))
        self.position = {name: np.concatenate(parts) for name, parts in scattered.items()}

    def scatter(self, name: str, values: list[np.ndarray]) -> np.ndarray:
        """The sum over all copies of one block, as data of the common pattern."""
        weights = [value[entries[name]].ravel() for value, entries in zip(values, self.local, strict=True)]
        return np.bincount(self.position[name], np.concatenate(weights), minlength=len(self.indices))

    def matrix(self, data: np.ndarray) -> sparse.csc_array:
        full = sparse.csc_array((data, self.indices, self.indptr), shape=(self.total, self.total))
        pruned = full.copy()
        pruned.eliminate_zeros()
        return pruned


@dataclass(frozen=True)
class SparseLinearisation:
    """Small motions of an assembly at rest, as data on the common pattern.

    ``C`` and ``B`` are those of ``pfaff.stability.linear``; ``stiffness`` contains Σ p ∂Aᵀ/∂q. Rows of constraints that
    keep A q to first order stand undifferentiated: the structural zeros of the nonholonomic ones are divided out.
    """

    pattern: Pattern
    nonholonomic: np.ndarray  # of the constraint rows, which are nonholonomic
    data: Mapping[str, np.ndarray]

    @cached_property
    def M(self) -> sparse.csc_array:
        return self._coordinates("M")

    @cached_property
    def C(self) -> sparse.csc_array:
        return self._coordinates("C")

    @cached_property
    def stiffness(self) -> sparse.csc_array:
        return self._coordinates("K")

    @cached_property
    def A(self) -> sparse.csc_array:
        n = self.pattern.size
        return self.pattern.matrix(self.data["rows"] + self.data["moving"])[n:, :n]

    @property
    def reversible(self) -> bool:
        """Neither damping nor gyroscopic forces: the equations contain ω only as ω²."""
        return not (np.any(self.data["C"]) or np.any(self.data["moving"]))

    def pencil(self, omega: complex) -> sparse.csc_array:
        """[[M ω² + C ω + K, Aᵀ], [A, 0]], singular where ω is an eigenvalue."""
        return self.pattern.matrix(self.pencil_data(omega))

    def pencil_data(self, omega: complex) -> np.ndarray:
        d = self.data
        return d["M"] * omega**2 + (d["C"] + d["moving"]) * omega + d["K"] + d["reactions"] + d["rows"] + d["rates"]

    def pencil_of_square(self, square: float) -> sparse.csc_array:
        """The pencil of a reversible assembly at s = ω²."""
        d = self.data
        return self.pattern.matrix(d["M"] * square + d["K"] + d["reactions"] + d["rows"])

    def _coordinates(self, name: str) -> sparse.csc_array:
        n = self.pattern.size
        return self.pattern.matrix(self.data[name])[:n, :n]


@dataclass(frozen=True, eq=False)
class Assembly:
    """Copies of parts on common global coordinates, under one load that all of them share.

    parts
        What ``Part.copies`` returns. Reactions are numbered in this order, copy by copy.
    size
        The number of global coordinates; each must belong to at least one part.
    load
        The name of the parameter that grows; every part that has a parameter of this name feels it.
    start
        The configuration from which equilibria are sought, zero if not given.
    """

    parts: Sequence[Copies]
    size: int
    load: str
    start: Any = None
    name: str = "assembly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        _check_places(self)
        _check_load(self)
        start = np.zeros(self.size) if self.start is None else np.array(self.start, dtype=float)
        if start.shape != (self.size,) or not np.isfinite(start).all():
            raise ParameterError(f"start has shape {start.shape}: give {self.size} finite numbers, one per coordinate")
        object.__setattr__(self, "start", start)

    @property
    def constraints(self) -> int:
        return sum(copies.count * len(copies.part.reaction_names_in_use) for copies in self._placed)

    @cached_property
    def _placed(self) -> tuple[_Placed, ...]:
        """Every part compiled, with the global indices of its coordinates and reactions."""
        placed, first = [], self.size
        for copies in self.parts:
            placed.append(_Placed(copies, first, self.load))
            first += placed[-1].rows.size
        return tuple(placed)

    @cached_property
    def pattern(self) -> Pattern:
        rows = sum(placed.rows.size for placed in self._placed)
        return Pattern(self.size, rows, [p.places for p in self._placed], [p.filled() for p in self._placed])

    @cached_property
    def nonholonomic(self) -> np.ndarray:
        """Which of the constraint rows are nonholonomic."""
        return np.concatenate([np.zeros(0, bool), *(p.nonholonomic for p in self._placed)])

    @cached_property
    def _free_rows(self) -> np.ndarray:
        """The rows of nonholonomic constraints that demand nothing at rest: one family dimension each."""
        still = np.concatenate([np.zeros(0, bool), *(np.tile(p.copies.part.still, p.copies.count) for p in self._placed)])
        return np.nonzero(self.nonholonomic & still)[0]

    def compile(self) -> Assembly:
        """Compile the parts and lay out the sparse pattern now rather than at first use."""
        _ = self.pattern
        return self

    def equilibrium(self, load: float, start: Rest | Any = None, fixed: Sequence[int] = ()) -> Rest:
        """Rest at a load by Newton's method on coordinates and reactions.

        Nonholonomic constraints make families of equilibria. The member reached is the one that a slow motion
        A δq = 0 leads to from ``start``; or list in ``fixed`` as many coordinates, by index, as there are
        nonholonomic constraints, and these keep their starting values.
        """
        z = self._first_guess(start)
        held = self._held(fixed)
        for steps in range(NEWTON_STEPS + 1):
            values = self._evaluate(z, load)
            residual, scale = self._residual(values, z)
            if not np.isfinite(residual).all():
                break
            relative = float(np.abs(residual).max(initial=0.0) / scale)
            if relative <= ROUNDING:
                return self._rest(z, load, relative, steps)
            step = -self._solve(self._linearisation(values), residual, held)
            z = z + step
            if np.abs(step).max() <= ROUNDING * (1 + np.abs(z).max()):
                residual, scale = self._residual(self._evaluate(z, load), z)
                relative = float(np.abs(residual).max(initial=0.0) / scale)
                if relative < ACCEPTED:
                    return self._rest(z, load, relative, steps + 1)
                break
        raise ConvergenceError(
            f"no equilibrium of {self.name} was reached at {self.load} = {load:g} (last relative residual "
            f"{np.abs(residual).max() / scale:.1e}): give a better start, other fixed coordinates or a smaller load"
        )

    def linearise(self, load: float, state: Rest | None = None) -> SparseLinearisation:
        """The sparse M, C, K and A of small motions about a state at rest (by default the one found from the start)."""
        state = state or self.equilibrium(load)
        return self._linearisation(self._evaluate(np.concatenate([state.q, state.p]), load))

    def flutter(
        self, to: float | None = None, modes: int = 8, start: Any = None, fixed: Sequence[int] = ()
    ) -> SparseFlutter:
        """The first load at which one of the lowest modes starts to grow as an oscillation."""
        from pfaff.stability.sparse import flutter_load

        return flutter_load(self, to=to, modes=modes, start=start, fixed=fixed)

    def _rest(self, z: np.ndarray, load: float, residual: float, steps: int) -> Rest:
        return Rest(float(load), z[: self.size], z[self.size :], residual, steps)

    def _first_guess(self, start: Rest | Any) -> np.ndarray:
        if isinstance(start, Rest):
            return np.concatenate([start.q, start.p])
        q = self.start if start is None else np.asarray(start, dtype=float)
        if q.shape != (self.size,):
            raise ParameterError(f"start has shape {q.shape}: give {self.size} numbers, one per coordinate")
        return np.concatenate([q, np.zeros(self.pattern.rows)])

    def _held(self, fixed: Sequence[int]) -> np.ndarray:
        held = np.array([operator.index(i) for i in fixed], dtype=int)
        for i in held:
            if not 0 <= i < self.size:
                raise ParameterError(f"cannot fix coordinate {i}: the coordinates are numbered 0 to {self.size - 1}")
        if len(held) not in (0, len(self._free_rows)):
            raise ParameterError(
                f"{len(held)} coordinates are fixed, but the equilibria of {self.name} form a family of dimension "
                f"{len(self._free_rows)}: fix that many, or none"
            )
        return held

    def _evaluate(self, z: np.ndarray, load: float) -> list[AtRest]:
        return [placed.evaluate(z, load) for placed in self._placed]

    def _residual(self, values: list[AtRest], z: np.ndarray) -> tuple[np.ndarray, float]:
        """h + Aᵀp and what the constraints demand, each divided by its size; the second number is 1 or tiny."""
        total = self.pattern.total
        at = np.concatenate([placed.places[:, : placed.n].T.ravel() for placed in self._placed])
        forces = np.concatenate([value.balance.ravel() for value in values])
        balance = np.bincount(at, forces, minlength=total)
        largest = np.bincount(at, np.abs(forces), minlength=total).max(initial=0.0)
        for placed, value in zip(self._placed, values, strict=True):
            demanded = np.where(np.tile(placed.demanding[:, None], value.held.shape[1]), value.held, 0.0)
            balance[placed.rows.T.ravel()] = demanded.ravel()
        residual = balance
        extent = np.abs(z[: self.size]).max(initial=0.0) or 1.0
        residual[: self.size] /= largest or 1.0
        residual[self.size :] /= extent
        return residual, 1.0
