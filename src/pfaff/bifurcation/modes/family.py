"""Families of conservative orbits as a problem of continuation: multipliers without those of the structure, and what
happens along a family.

The energy is conserved, so that two multipliers are 1 by structure, in a Jordan block in which errors are large. The
others are those of motions on the level of the energy across the orbit, and as accurate as the orbit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pfaff.algebra.cubics import Cubic
from pfaff.bifurcation.modes.undamped import Energy
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle, Metric
from pfaff.bifurcation.orbits.floquet import multipliers, sorted_multipliers
from pfaff.bifurcation.orbits.following import Orbits
from pfaff.bifurcation.orbits.levels import across_orbit, gradients_of
from pfaff.bifurcation.orbits.neutral import OUTSIDE, Neutral
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.bifurcation.orbits.parabolas import near_zero
from pfaff.bifurcation.orbits.solutions import NOT_FINITE, Solution
from pfaff.bifurcation.orbits.special_orbits import FAR, SpecialOrbits
from pfaff.bifurcation.orbits.stepping import DECOUPLED
from pfaff.bifurcation.orbits.variation import rates_and_jacobians
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import Event
from pfaff.kernels.step_rules import TRUSTED
from pfaff.threads import cached_property

ERRORS = 10.0  # times the error of an orbit, that of the matrix whose eigenvalues its multipliers are
ROUNDING = 1e-13  # of that matrix, for each state
LARGE = 1e6  # entries of that matrix beside which rounding hides others: multipliers are taken as they are
FINE, COARSE = 2.0, 3.0  # radians of a vibration in an interval of a mesh that resolves it, and of one that does not
MOST = 160  # intervals that are spent on it
SIDES: dict[str, float] = {
    Kind.BRANCH_POINT: 1.0,
    Kind.PERIOD_DOUBLING: -1.0,
    Kind.SYMMETRY_BREAKING: -1.0,
}  # what multipliers pass


@dataclass(frozen=True, eq=False)
class FamilyProblem(OrbitProblem):
    """What orbits of a family are asked for, about an equilibrium of a family of ``zeros`` dimensions, or alone."""

    zeros: int = 0
    frequencies: np.ndarray = field(default_factory=lambda: np.zeros(0))  # of all small vibrations

    @cached_property
    def energy(self) -> Energy:
        return Energy(self.case, self.flow)  # type: ignore[arg-type]

    def continuation(self, span: float, start: OrbitPoint | None = None) -> Family:
        return Family(self, span)


class Family(Neutral):
    """Along a family of conservative orbits, on which no parameter changes; frequencies are measured by a usual one.

    Beside an orbit that is symmetric about an equilibrium of a family there are orbits about its neighbours. Half a
    period turns them over: their multipliers are −1 all along, and break no symmetry. Multipliers that errors hide are
    1, or −1, and what they mean is not resolved: functions that would tell are zero.
    """

    def __init__(self, problem: FamilyProblem, usual: float) -> None:
        super().__init__(problem.collocation, usual, problem.held, problem.accuracy, usual, 0.0, True)
        self.turned_over, self.energy, self.frequencies = problem.zeros, problem.energy, problem.frequencies
        self.plain = False  # compiled loops know all multipliers, and not those on the level of the energy

    @property
    def special(self) -> SpecialInFamily:
        return SpecialInFamily(self)

    def _multipliers(
        self, solution: Solution, metric: Metric, error: float, basis: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        cycle = solution.cycle
        _, chain, along = self.across(solution, metric)
        values, basis = multipliers(chain, np.ones(chain.shape[1]), basis, DECOUPLED * self.settled)
        for sign in (1.0, -1.0):
            values = self._at(sign, values, chain, error, self.turned_over if sign == cycle.signs.min() else 0)
        return sorted_multipliers(np.concatenate([values, [along], np.ones(self.structural)])), basis

    def across(self, solution: Solution, metric: Metric) -> tuple[np.ndarray, np.ndarray, float]:
        """Motions across an orbit, on the level of the energy and of what else is conserved."""
        cycle, levels = solution.cycle, solution.levels
        bonds = self.collocation.equations.bonds(cycle.x, cycle.value)
        energy = self.energy.gradients(np.ascontiguousarray(cycle.x.T)).T[None]
        if self.structural > 1 and levels is None:
            levels = gradients_of(self.collocation, cycle, metric, metric.dual(solution.tangent), self.held)
            if levels is None:
                raise Refused(NOT_FINITE)
        return across_orbit(solution, energy if levels is None else np.vstack([energy, levels]), metric, bonds)

    def _at(self, sign: float, values: np.ndarray, chain: np.ndarray, error: float, known: int) -> np.ndarray:
        """Multipliers, those at ±1 that are so within the error of their matrix, but for some that are known to be."""
        whole = _product(chain)
        size = float(np.abs(whole).max(initial=1.0))
        limit = (ERRORS * error + ROUNDING * len(whole)) * size
        if not size < LARGE:
            return values
        hidden = int((np.linalg.svd(whole - sign * np.eye(len(whole)), compute_uv=False) < limit).sum()) - known
        if hidden <= 0:
            return values
        values, nearest = values.copy(), np.argsort(np.abs(values - sign))
        values[nearest[known : known + hidden + hidden % 2]] = sign  # of a Jordan block, all of it
        return values

    def _tests(
        self, cycle: Cycle, tangent: Cycle, values: np.ndarray, determinant: float
    ) -> tuple[int, dict[str, float]]:
        far, others = self._others(cycle, values)
        above, below = (float(np.prod((1 - side * others) / (1 + np.abs(others))).real) for side in (1, -1))
        turned = Kind.SYMMETRY_BREAKING if cycle.halved else Kind.PERIOD_DOUBLING
        trusted = far < TRUSTED
        unstable = _outside(others, above) + _outside(-others, below)
        return unstable, {
            Kind.FOLD: self.rise(cycle, tangent),
            Kind.BRANCH_POINT: determinant if above else 0.0,
            turned: below if trusted else np.nan,
            Kind.TORUS: 1.0 if trusted and above and below and not self.is_coarse(cycle) else np.nan,
        }

    def _others(self, cycle: Cycle, values: np.ndarray) -> tuple[float, np.ndarray]:
        """Multipliers without those that are known by structure; and how far these are off."""
        off, rest = np.abs(values - 1), values
        order = np.argsort(off, kind="stable")
        far, rest = float(off[order[self.ones - 1]]), values[np.sort(order[self.ones :])]
        side = cycle.signs.min()
        for _ in range(self.turned_over):
            k = int(np.abs(rest - side).argmin())
            rest = np.delete(rest, k) if abs(rest[k] - side) < TRUSTED else rest
        return far, rest

    def fewest(self, duration: float) -> int:
        """Intervals in which a mesh resolves all small vibrations, but for those that take too many."""
        wanted = np.ceil(self.frequencies * duration / FINE)
        return int(wanted[wanted <= MOST].max(initial=1.0))

    def is_coarse(self, cycle: Cycle) -> bool:
        """Whether a mesh does not resolve the quickest of the small vibrations: their multipliers are not right."""
        return bool(self.frequencies.max(initial=0.0) * cycle.scalars[0] * cycle.mesh.h.max() > COARSE)

    def adapted(self, point: Point, length: float) -> Point:
        found, fewest = super().adapted(point, length), self.fewest(point.cycle.scalars[0])
        if found.cycle.intervals >= fewest:
            return found
        return self._on_mesh(point, self.collocation.adapted(point.cycle, point.metric, lambda _: fewest))

    def rise(self, cycle: Cycle, change: Cycle) -> float:
        """The rate of the energy along a change of an orbit."""
        return float(self.energy.gradients(np.ascontiguousarray(cycle.x[0]))[:, 0] @ change.x[0])


def _product(chain: np.ndarray) -> np.ndarray:
    """The product of transition matrices; the first is the last factor."""
    whole = np.eye(chain.shape[1])
    for each in chain:
        whole = each @ whole
    return whole


def _outside(values: np.ndarray, product: float) -> int:
    """How many real numbers are beyond 1: as many as there are clearly, if the sign of Π(1 − μ) does not tell that it
    is one more or less."""
    real = values[np.abs(values.imag) < OUTSIDE].real
    count = int((real > 1 + OUTSIDE).sum())
    if product == 0.0 or (product < 0) == bool(count % 2):
        return count
    return count - 1 if count else 1


class Vibrations(Orbits):
    """A family from one of its orbits on."""

    def _strays(self, at: Point, ahead: Point, length: float) -> bool:
        """Where the energy turns the determinant may touch zero: at an orbit that is several turns of a shorter one."""
        return at.tests[Kind.FOLD] * ahead.tests[Kind.FOLD] > 0 and super()._strays(at, ahead, length)


class SpecialInFamily(SpecialOrbits):
    """Those in the steps of a family: it turns where its energy does."""

    continuation: Family

    def events(self, a: Point, b: Point, only: str = "") -> list[Event[Any]]:
        return [event for event in super().events(a, b, only) if not self._is_aliased(event)]

    def _is_aliased(self, event: Event[Any]) -> bool:
        """Whether what passes ±1 is a vibration so quick that the mesh does not resolve it, and passes elsewhere."""
        c, point, side = self.continuation, event.point, SIDES.get(event.kind, 0.0)
        if not side or not c.is_coarse(point.cycle):
            return False
        cycle, metric = point.cycle, point.metric
        pins = c.collocation.pins(cycle, metric, metric.dual(point.tangent), c.held, cycle)
        Q, chain, _ = c.across(c.evaluated(cycle, pins, metric), metric)
        whole = _product(chain)
        v = [np.linalg.svd(whole - side * np.eye(len(whole)))[2][-1]]
        for each in chain:
            v.append(each @ v[-1])
        change = np.einsum("jki,jk->ij", Q, v)[:, :-1] / metric.states[:, None]
        _, J = rates_and_jacobians(c.collocation.equations, np.ascontiguousarray(cycle.x[:-1].T), cycle.value)
        rates = metric.states[:, None] * np.einsum("ikj,kj->ij", J, change) * (cycle.mesh.h * cycle.scalars[0])
        return float(np.linalg.norm(rates)) > COARSE * float(np.linalg.norm(metric.states[:, None] * change))

    def hidden_folds(self, a: Point, b: Point, ds: float) -> list[Event[Any]]:
        """By Hermite's cubic of the energy."""
        c = self.continuation
        first, last = ds * a.tests[Kind.FOLD], ds * b.tests[Kind.FOLD] / a.metric.norm(b.tangent)
        if not first * last > 0:
            return []
        states = np.ascontiguousarray(np.column_stack([a.cycle.x[0], b.cycle.x[0]]))
        energies = c.energy(states)
        middle = float(Cubic(energies[0], first, energies[1], last).slope(0.5))
        at = near_zero([(0.0, first), (0.5, middle), (1.0, last)])
        return self._pair(Kind.FOLD, a, b, at, [(0.0, a.tests[Kind.FOLD]), (1.0, b.tests[Kind.FOLD])])

    def locate(self, a: Point, b: Point, test: Any, level: bool = False) -> tuple[float, Point] | None:
        return super().locate(a, b, test)

    def _turns(self, a: Point, b: Point) -> bool:
        return True

    def _rounding(self, kind: str, a: Point, b: Point, point: Point) -> bool:
        """At a fold and at a branch point a multiplier is near 1."""
        return kind in (Kind.FOLD, Kind.BRANCH_POINT) and self._off(point) > FAR
