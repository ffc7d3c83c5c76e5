"""Coordinates on φ(q, t) = 0: those that nobody gave change where a violated row contains them, as few as can be.

Of as few, those are taken whose change is least. Where the linearised rows tell them truly, one run of Newton's method
finds them. They do not where a row is stationary, as x² + y² = l² is in y at y = 0, or where a step would be longer
than the rows are straight: there each choice of coordinates is solved for, from the start and from beside it, and the
nearest solution counts; of two that are as near, the one of lower potential energy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, islice, product
from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff.algebra.newtons_method import newton
from pfaff.algebra.tolerances import NEWTON_STEPS
from pfaff.errors import ConstraintError, ConvergenceError
from pfaff.flow.completion import EQUAL, KEPT, REGULAR, ROUNDED, connected, demand
from pfaff.statement.constraints import numbered
from pfaff.statement.evaluation import evaluated
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.flow.initial import Constraints

ROUNDING = 1e-15  # of positions, a step of Newton's method after which there is none
STRAIGHT = 0.5  # share of the residual that a first step may leave where the rows count as straight
SHORTEST = 1e-3  # share of a step of Newton's method below which none lessens the residual
CHOICES = 200  # choices of coordinates that are solved for; where there are more, all that is connected changes
SIGNED = 3  # coordinates of a choice up to which starts lie on all sides
BESIDE = (1.0, 2.5)  # where solutions are sought from, in units of what a coordinate changes alike
DOUBLE = 1e-6  # share of a change that rounding makes where two solutions meet
TURNING = (sm.sin, sm.cos, sm.tan)


def usual_sizes(x: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The size of each component if it had all of xᵀM x: a reference for those that are mere rounding."""
    inertia = np.diag(M)
    return np.maximum(np.abs(x), np.sqrt(np.abs(x @ M @ x) / np.where(inertia > 0, inertia, np.inf)))


def on_positions(
    constraints: Constraints,
    q: np.ndarray,
    v: np.ndarray,
    free: np.ndarray,
    time: float = 0.0,
    yielding: bool = False,
) -> np.ndarray:
    """Newton's method on φ(q, t) = 0 in the free coordinates, with steps of least norm in the metric of the inertia.

    The others change where these cannot follow, if they are ``yielding``.
    """
    if not constraints.holonomic:
        return q
    rows = slice(-constraints.holonomic, None)

    def step(q: np.ndarray) -> tuple[np.ndarray, float]:
        phi, _, A, M = constraints(q, v, time)
        change = demand(M, A[rows], -phi, free).least(yielding)
        return q + change, np.abs(change).max(initial=0.0) / (1 + np.abs(q + change).max())

    # Steps may cease to shrink for a while, where A is singular: those that are no rounding go on.
    q = newton(step, q, settled=0.0, enough=ROUNDING).at
    _check(constraints, q, v, free, time)
    return q


def _check(constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray, time: float) -> None:
    """Raise where a row is violated."""
    phi, _, A, M = constraints(q, v, time)
    left, first = np.abs(phi), constraints.m - constraints.holonomic
    wrong = ~(left <= KEPT * (np.abs(A[first:]) @ usual_sizes(q, M)))
    if wrong.any():  # terms may be large relative to their change
        wrong &= ~(left <= KEPT * constraints.position_terms(q, time))
    if not wrong.any():
        return
    named = numbered(constraints.case.system, [first + int(k) for k in np.flatnonzero(wrong)]).partition(" ")[2]
    remedy = (
        "these rows have no common solution nearby: start elsewhere, or correct them"
        if free.all()
        else "leave some out so that they can follow, or ask for project=True"
    )
    raise ConstraintError(
        f"the initial coordinates violate a holonomic constraint by {left[wrong].max():.2g} (row {named}): {remedy}"
    )


def completed(
    constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray, yielding: bool = False
) -> np.ndarray:
    """The coordinates where the free ones obey the constraints; those that obey them already stay, to the last bit.

    Where the free ones cannot follow, the others change, if they are ``yielding``.
    """
    if not constraints.holonomic:
        return q
    phi, _, A, M = constraints(q, v)
    violated = np.abs(phi) > KEPT * constraints.position_terms(q, 0.0)
    if not violated.any():
        return q
    search = Search(constraints, q, v, free)
    asked = demand(M, A[-constraints.holonomic :], -phi, free)
    chosen = asked.fewest(violated, constraints.case.system.coordinate_names, 0 * q, sparing=True)
    if chosen is not None and search.straight(chosen):
        with suppress(ConstraintError, ConvergenceError):
            return search.cleared(on_positions(constraints, q, v, chosen))
    found, complete = search.nearest(violated)
    if not complete and yielding:
        return search.cleared(on_positions(constraints, found, v, free, yielding=True))
    if not complete:
        with suppress(ConstraintError, ConvergenceError):
            return on_positions(constraints, q, v, free)
    _check(constraints, found, v, free, 0.0)
    return found


class Search:
    """The nearest solutions of φ(q) = 0 in as few of the free coordinates as can be."""

    def __init__(self, constraints: Constraints, q: np.ndarray, v: np.ndarray, free: np.ndarray) -> None:
        self.constraints, self.q, self.v, self.free = constraints, q, v, free
        self.first = constraints.m - constraints.holonomic
        self.M = constraints(q, v)[3]
        self.turns = _turns(constraints, q)

    def _rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, _, A, _ = self.constraints(q, self.v)
        return phi, A[self.first :]

    @cached_property
    def beside(self) -> np.ndarray:
        """How far from the start solutions are sought along each coordinate."""
        found = np.where(np.isfinite(self.turns), self.turns, self._lengths())
        return np.where(np.isfinite(found), found, 1.0)

    def _lengths(self) -> np.ndarray:
        """Changes of coordinates that are worth the terms of a row: by its curvature, else by its slope."""
        usual = usual_sizes(self.q, self.M)
        usual, terms = np.where(usual > 0, usual, 1.0), self.constraints.position_terms(self.q, 0.0)[:, None]
        A = np.abs(self._rows(self.q)[1])
        ahead, behind = (
            np.array([self._rows(self.q + sign * at)[1][:, j] for j, at in enumerate(np.diag(usual))]).T
            for sign in (1, -1)
        )
        bends = np.abs(ahead - behind) / (2 * usual)
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(bends * usual > KEPT * A, np.sqrt(2 * terms / bends), terms / A)
        return np.where(np.isfinite(lengths) & (lengths > 0), lengths, np.inf).min(axis=0, initial=np.inf)

    def straight(self, moved: np.ndarray) -> bool:
        """Whether a step of Newton's method does what the linearised rows say, half of it as all of it, and turns
        nothing far."""
        phi, A = self._rows(self.q)
        step = demand(self.M, A, -phi, moved).least(False)
        terms = np.maximum(np.abs(phi).max() * np.abs(A).max(axis=1), np.finfo(float).tiny)
        before, half, whole = (np.abs(self._rows(self.q + part * step)[0] / terms).max() for part in (0.0, 0.5, 1.0))
        near = (np.abs(step) <= self.turns).all()
        return bool(near and half <= (1 + STRAIGHT) / 2 * before and whole <= STRAIGHT * before)

    def nearest(self, violated: np.ndarray) -> tuple[np.ndarray, bool]:
        """The coordinates with every set of rows solved that a violated one belongs to, and whether all are."""
        A, q, complete = self._rows(self.q)[1], self.q, True
        enters = (self._contained() | (A != 0)) & self.free
        for rows, columns in connected(enters, violated):
            found: list[np.ndarray] = []
            if len(columns):
                rank = self._rank(rows, columns)
                choices = combinations(columns, rank if _few(len(columns), rank) else len(columns))
                found = [at for each in choices for at in self._solved(rows, each)]
            if found:
                best = self._best(found)
                q = np.where(best != self.q, best, q)
            complete = complete and bool(found)
        return q, complete

    def _contained(self) -> np.ndarray:
        s = self.constraints.case.system.stated
        entries = [[x in each.free_symbols for x in s.q] for each in s.positions]
        return np.array(entries, dtype=bool).reshape(len(s.positions), len(s.q))

    def _rank(self, rows: np.ndarray, columns: np.ndarray) -> int:
        """The rank of rows beside the start: at it, they may be stationary."""
        rank, generator = 0, np.random.default_rng(1788)
        for _ in range(2):
            q = self.q.copy()
            q[columns] += self.beside[columns] * generator.uniform(-0.5, 0.5, len(columns))
            A = self._rows(q)[1][np.ix_(rows, columns)] * self.beside[columns]
            values = np.linalg.svd(A / np.maximum(np.abs(A).max(axis=1, keepdims=True), 1e-300), compute_uv=False)
            rank = max(rank, int((values > REGULAR * values.max(initial=0.0)).sum()))
        return rank

    def _solved(self, rows: np.ndarray, moved: Sequence[int]) -> list[np.ndarray]:
        """Solutions in some of the coordinates, from the start and from beside it."""
        found: list[np.ndarray] = []
        columns = np.array(moved, dtype=int)
        for amount in BESIDE:
            for signs in _sides(len(columns)):
                start = self.q.copy()
                start[columns] += amount * np.array(signs) * self.beside[columns]
                with suppress(ConvergenceError, np.linalg.LinAlgError):
                    at = self._reached(start, rows, columns)
                    found += [] if at is None else [self.cleared(at, rows)]
            if found:
                break
        return found

    def _reached(self, q: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray | None:
        """Newton's method with steps that lessen the residual and turn nothing by more than it changes alike."""
        units, places = self.beside[columns], np.ix_(rows, columns)
        for _ in range(NEWTON_STEPS):
            phi, A = self._rows(q)
            phi, A = phi[rows], A[places]
            scale = np.maximum(np.abs(A * units).max(axis=1), np.finfo(float).tiny)
            step = units * np.linalg.lstsq(A * units / scale[:, None], -phi / scale, rcond=REGULAR)[0]
            if not np.isfinite(step).all():
                return None
            level, share = (
                np.abs(phi / scale).max(),
                min(1.0, 1 / max(np.abs(step / self.turns[columns]).max(), 1e-300)),
            )
            new = q.copy()
            while True:
                new[columns] = q[columns] + share * step
                left = np.abs(self._rows(new)[0][rows] / scale).max()
                if left <= (1 - share / 4) * level or left <= ROUNDING:
                    break
                share /= 2
                if share < SHORTEST:
                    return q if self._solves(q, phi, rows) else None
            q = new
            if share == 1.0 and np.abs(step).max() <= ROUNDING * (1 + np.abs(q).max()):
                return q
        return None

    def _solves(self, q: np.ndarray, phi: np.ndarray, rows: np.ndarray) -> bool:
        return bool((np.abs(phi) <= ROUNDED * self.constraints.position_terms(q, 0.0)[rows]).all())

    def cleared(self, q: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Coordinates that rounding alone has moved are put back, where the rows stay as they are."""
        inertia, terms = np.diag(self.M), self.constraints.position_terms(q, 0.0)[rows].max()
        moved = np.abs(q - self.q) * np.where(inertia > 0, np.sqrt(np.abs(inertia)), 1.0)
        for share in (DOUBLE, EQUAL):
            back = np.where(moved > share * moved.max(initial=0.0), q, self.q)
            left, still = (np.abs(self._rows(each)[0][rows]).max() for each in (q, back))
            if still <= left + ROUNDING * terms:
                return back
        return q

    def _best(self, found: list[np.ndarray]) -> np.ndarray:
        """Fewest changes, then the least, then the lowest, then by name."""
        changes = [at - self.q for at in found]
        counts = [np.count_nonzero(each) for each in changes]
        among = [k for k, count in enumerate(counts) if count == min(counts)]
        for measure in (
            lambda k: float(changes[k] @ self.M @ changes[k]),
            lambda k: self.constraints.potential(found[k]),
        ):
            values = {k: measure(k) for k in among}
            least, size = min(values.values()), max(abs(each) for each in values.values())
            among = [k for k in among if values[k] <= least + EQUAL * size]
        names = self.constraints.case.system.coordinate_names

        def by_name(k: int) -> list[tuple[str, bool]]:
            return sorted((name, bool(at < 0)) for name, at in zip(names, changes[k], strict=True) if at)

        return found[min(among, key=by_name)]


@once(most=1)
def _slopes(system: System) -> list[tuple[int, sm.Expr]]:
    """Derivatives of the arguments of sines by coordinates, with the numbers of these."""
    s, found = system.stated, []
    for node in {node for each in s.positions for node in each.atoms(*TURNING)}:
        found += [(j, sm.diff(node.args[0], x)) for j, x in enumerate(s.q) if x in node.free_symbols]
    return found


def _turns(constraints: Constraints, q: np.ndarray) -> np.ndarray:
    """By how much each coordinate changes the argument of a sine by one; infinite for those in none."""
    slopes, turns = _slopes(constraints.case.system), np.full(len(q), np.inf)
    changing = any(slope.free_symbols for _, slope in slopes)
    known = constraints.known(q, 0.0) if changing else {}
    values = evaluated([slope for _, slope in slopes], known) if changing else [slope for _, slope in slopes]
    for (j, _), value in zip(slopes, values, strict=True):
        turns[j] = min(turns[j], 1 / abs(float(value))) if value else turns[j]
    return turns


def _few(many: int, rank: int) -> bool:
    return len(list(islice(combinations(range(many), rank), CHOICES + 1))) <= CHOICES


def _sides(count: int) -> Iterator[tuple[float, ...]]:
    """The start, then the sides of it."""
    yield (0.0,) * count
    if count <= SIGNED:
        yield from product((1.0, -1.0), repeat=count)
        return
    for sign in (1.0, -1.0):
        yield (sign,) * count
        for k in range(count):
            yield tuple(sign * (j == k) for j in range(count))
