"""The equations of a system and their derivatives at random states that obey the constraints, in any units.

Accelerations and multipliers are solved for by least squares: redundant rows, and masses that only the constraints make
regular, are no obstacle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import gradient, jacobian_entries
from pfaff.flow.graph import Expression, expression, sum_of
from pfaff.flow.lagrangian import dot
from pfaff.flow.uniform_motion import symmetric_graph
from pfaff.statement.characteristic import characteristic, unit_velocities
from pfaff.statement.hidden_terms import hidden_terms, places
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

LOOSE = 1e-11  # a coordinate that matters less than this, relative to the terms, has no size of its own
NEGLIGIBLE = 1e-12  # singular values, and rates, below this, relative to the largest, are rounding
DEPENDENT = 1e-10  # singular values of the constraints, in even units, below which their rows are dependent
ILL_SOLVED = 1e3  # condition number of constraints beyond which they determine coordinates badly
SCALES = (0.1, 3.0, 30.0)  # of states beside the usual ones, from each of which hidden terms are sought
CLOSED = 1e-9  # φ below this, in units of the coordinates, holds

Draw = Callable[[np.random.Generator], np.ndarray]


class State(NamedTuple):
    """A state that obeys the constraints, with accelerations, multipliers, M, A, null(A) and units for the rows."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    multipliers: np.ndarray
    M: np.ndarray
    A: np.ndarray
    N: np.ndarray  # in units of the coordinates
    rows: np.ndarray


Sample = tuple[State, np.ndarray, float, np.random.Generator]  # with parameters, the time, and what draws more


class Equations(NamedTuple):
    """M, h, A, γ, A v + b and φ."""

    M: np.ndarray
    h: np.ndarray
    A: np.ndarray
    gamma: np.ndarray
    rates: np.ndarray
    phi: np.ndarray


class Probe:
    """The equations of a system and their derivatives, at random states."""

    def __init__(self, system: System) -> None:
        self.system, self.graph = system, symmetric_graph(system)
        self.n, self.m, self.held = len(self.graph.q), len(self.graph.A), len(self.graph.positions)

    @cached_property
    def _values(self) -> Compiled:
        g = self.graph
        return Compiled([*_flat(g.M), *g.h, *_flat(g.A), *g.gamma, *g.constraints, *g.positions], [*g.q, *g.v])

    @cached_property
    def _changes(self) -> Compiled:
        """Derivatives of R, A a + γ, A v + b and φ by coordinates and velocities, then those of T(q, w) by
        coordinates."""
        g = self.graph
        a, w = ([expression(f"{what} {k}") for k in range(self.n)] for what in ("acceleration", "direction"))
        balance = [sum_of([dot(row, a), rest]) for row, rest in zip(g.M, g.balance, strict=True)]
        held = [sum_of([dot(row, a), rest]) for row, rest in zip(g.A, g.gamma, strict=True)]
        rows = [*balance, *held, *g.constraints, *g.positions]
        changes = jacobian_entries(rows, [*g.q, *g.v])
        energy = dot(w, [dot(row, w) for row in g.M]) / 2.0
        slopes = gradient(energy, g.q)
        return Compiled([*changes, *slopes], [*g.q, *g.v, *a, *g.multipliers, *w])

    def at(self, q: np.ndarray, v: np.ndarray, numbers: np.ndarray, time: float) -> Equations:
        n, m = self.n, self.m
        sizes = np.cumsum([n * n, n, m * n, m, m])
        M, h, A, gamma, rates, phi = np.split(self._values(np.concatenate([q, v]), numbers, time), sizes)
        return Equations(M.reshape(n, n), h, A.reshape(m, n), gamma, rates, phi)

    def holonomic(self, q: np.ndarray, v: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """φ_q, φ̇ and φ at columns of states, indexed by the state first."""
        n, m, held = self.n, self.m, self.held
        values = self._values(np.concatenate([q, v]), numbers)[n * n + n :]
        A, rates, phi = values[: m * n].reshape(m, n, -1), values[m * n + m : m * n + 2 * m], values[m * n + 2 * m :]
        return A[m - held :].transpose(2, 0, 1), rates[m - held :].T, phi.T

    def changes(
        self, at: State, w: np.ndarray, numbers: np.ndarray, time: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of all rows by coordinates, by velocities, and ∂T(q, w)/∂q."""
        values = self._changes(np.concatenate([at.q, at.v, at.a, at.multipliers, w]), numbers, time)
        J = values[: -self.n].reshape((len(values) - self.n) // (2 * self.n), 2 * self.n)
        return J[:, : self.n], J[:, self.n :], values[-self.n :]

    def alike(self, numbers: np.ndarray) -> np.ndarray:
        """Velocities of equal energies; one each if some coordinate has no inertia."""
        generator = np.random.default_rng(1894)
        for reach in 1e-3 * np.arange(1, 6):
            q = reach * generator.uniform(-1, 1, self.n)
            inertia = np.diag(self.at(q, 0 * q, numbers, 1.0).M)
            if np.isfinite(inertia).all() and (inertia > 0).all():
                return np.asarray(1 / np.sqrt(inertia))
        return np.ones(self.n)

    def sizes(self, numbers: np.ndarray, speed: float = 1.0) -> np.ndarray:
        """Characteristic sizes of the coordinates, for velocities of equal energies."""
        s, unit = self.system.statement, speed * self.alike(numbers)
        stated = [s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions]
        speeds = {v: d * column for (v, column), d in zip(unit_velocities(s).items(), unit, strict=True)}
        values = {**dict(zip(self.system.parameters, numbers.tolist(), strict=True)), **speeds, s.time: 1.0}
        return np.asarray(characteristic(stated, s.q, values).usual, dtype=float)

    def state(
        self, numbers: np.ndarray, time: float, S: np.ndarray, tau: float, generator: np.random.Generator
    ) -> State | None:
        """A random state on the constraints, at velocities S/τ; None if none is reached."""
        q, v = S * generator.uniform(-1, 1, self.n), S / tau * generator.uniform(-1, 1, self.n)
        return self.near(q, v, numbers, time, S)

    def near(self, q: np.ndarray, v: np.ndarray, numbers: np.ndarray, time: float, S: np.ndarray) -> State | None:
        """The state on the constraints near given coordinates and velocities; None if none is reached."""
        n, m, still = self.n, self.m, np.zeros(self.n)

        def step(q: np.ndarray) -> tuple[np.ndarray, float] | None:
            at = self.at(q, still, numbers, time)
            if not np.isfinite(at.A).all():
                return None
            change = np.linalg.pinv(at.A[m - self.held :] * S) @ at.phi
            return q - S * change, float(np.abs(change).max())

        if self.held:
            q = newton(step, q, Stopping(30, exact=1e-15, settled=0.0)).at
        for _ in range(3 if m else 0):
            at = self.at(q, v, numbers, time)
            if not all(np.isfinite(each).all() for each in at):
                return None
            v = v - S * (np.linalg.pinv(at.A * S) @ at.rates)
        at = self.at(q, v, numbers, time)
        rows = 1 / np.maximum(np.abs(at.A * S).max(axis=1, initial=0.0), 1e-300)
        A = at.A * S * rows[:, None]
        if not all(np.isfinite(each).all() for each in (*at, A)):
            return None
        if self.held and np.abs(np.linalg.pinv(A[m - self.held :]) @ (rows[m - self.held :] * at.phi)).max() > CLOSED:
            return None
        M = at.M * S[:, None] * S
        unit = np.abs(M).max() or 1.0
        K = np.block([[M / unit, A.T], [A, np.zeros((m, m))]])
        solved = np.linalg.lstsq(K, -np.concatenate([at.h * S / unit, rows * at.gamma]), rcond=NEGLIGIBLE)[0]
        _, values, right = np.linalg.svd(A) if m else (None, np.zeros(0), np.eye(n))
        N = right[int((values > DEPENDENT).sum()) :].T
        return State(q, v, S * solved[:n], unit * rows * solved[n:], at.M, at.A, N, rows)

    def period(self, numbers: np.ndarray, time: float, S: np.ndarray, generator: np.random.Generator) -> float:
        """The time in which accelerations from rest move coordinates by their sizes; one if nothing is accelerated."""
        rate = self.rate(numbers, time, S, generator)
        return float(np.clip(1 / rate, 1e-9, 1e9)) if rate else 1.0

    def rate(self, numbers: np.ndarray, time: float, S: np.ndarray, generator: np.random.Generator) -> float:
        """The inverse of that time."""
        at = self.state(numbers, time, S, np.inf, generator)
        rates = np.abs(at.a / S) if at else np.zeros(0)
        rates = rates[rates > NEGLIGIBLE * rates.max(initial=0.0)]
        return float(np.sqrt(np.median(rates))) if len(rates) else 0.0

    def states(self, draw: Draw, S: np.ndarray, count: int, seed: int) -> Iterator[Sample]:
        """Random states at random parameters and times: as many as can be reached, up to a count."""
        generator, found = np.random.default_rng(seed), 0
        for _ in range(10 * count):
            numbers, time = draw(generator), float(generator.uniform(0, 3))
            tau = self.period(numbers, time, S, generator) * 10 ** generator.uniform(-0.3, 0.3)
            at = self.state(numbers, time, S, tau, generator)
            if at is None:
                continue
            yield at, numbers, time, generator
            found += 1
            if found == count:
                return

    def elsewhere(self, moved: np.ndarray, draw: Draw, S: np.ndarray, seed: int) -> Iterator[Sample]:
        """States at other scales, and where terms come to light that contain coordinates ``moved`` and are hidden at
        usual ones."""
        s, generator, frame = self.system.statement, np.random.default_rng(seed), bool(self.graph.drift)
        stated = [s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints]
        terms = hidden_terms(stated, [x for x, its in zip(s.q, moved, strict=True) if its])
        variables = (*s.q, *s.v) if frame else (*s.q, *s.v, s.time)
        for scale in SCALES:
            numbers, time = draw(generator), 0.0 if frame else float(generator.uniform(0, 3))
            tau = self.period(numbers, time, S, generator)
            if (at := self.state(numbers, time, scale * S, scale * tau, generator)) is not None:
                yield at, numbers, time, generator
            if (at := self.state(numbers, time, S, tau, generator)) is None:
                continue
            start = dict(zip(variables, (*at.q, *at.v, time), strict=False))
            units = dict(zip(variables, (*S, *(S / tau), tau), strict=False))
            given = {**dict(zip(self.system.parameters, numbers.tolist(), strict=True)), s.time: 0.0}
            for place in places(terms, [*s.positions, *s.constraints], start, units, given):
                q, v = (np.array([place[x] for x in each]) for each in (s.q, s.v))
                if (there := self.near(q, v, numbers, place.get(s.time, 0.0), S)) is not None:
                    yield there, numbers, place.get(s.time, 0.0), generator

    def settled_sizes(self, draw: Draw, S: np.ndarray) -> np.ndarray:
        """The sizes, but from the inertia for coordinates that nothing depends on."""
        n, share, inertia = self.n, np.zeros(self.n), np.zeros(self.n)
        for at, numbers, time, _ in self.states(draw, S, 4, 1894):
            by_q, by_v, _ = map(np.abs, self.changes(at, S, numbers, time))
            by_a = np.vstack([np.abs(at.M), np.abs(at.A), np.zeros((len(by_q) - n - self.m, n))])
            terms = by_q @ np.maximum(np.abs(at.q), S) + by_v @ np.abs(at.v) + by_a @ np.abs(at.a)
            with np.errstate(invalid="ignore"):
                share = np.fmax(share, (by_q * S / np.maximum(terms, 1e-300)[:, None]).max(axis=0))
            inertia = np.fmax(inertia, np.abs(np.diag(at.M)))
        loose, heavy = share < LOOSE, inertia > 0
        unit = 1 / np.sqrt(np.where(heavy, inertia, 1.0))
        tight = heavy & ~loose
        usual = np.median(S[tight] / unit[tight]) if tight.any() else 1 / unit.max()
        return np.where(loose & heavy, usual * unit, S)


@once(most=1)
def probe_of(system: System) -> Probe:
    """The probe of a system, made once."""
    return Probe(system)


def _flat(rows: Sequence[Sequence[Expression]]) -> list[Expression]:
    return [each for row in rows for each in row]


class Lift(NamedTuple):
    """How fields on free coordinates continue to all: ξ = E ξ_f, ξ̇ = E ξ̇_f + G ξ_f, ξ̈ = E ξ̈_f + H ξ̇_f + K ξ_f, and
    ``along`` as G for the velocities of a direction."""

    free: list[int]
    E: np.ndarray
    G: np.ndarray
    H: np.ndarray
    K: np.ndarray
    along: np.ndarray


def lifted(
    probe: Probe,
    at: State,
    S: np.ndarray,
    by_q: np.ndarray,
    by_v: np.ndarray,
    along: np.ndarray,
    dependent: tuple[int, ...],
) -> Lift | None:
    """The continuation of fields to dependent coordinates, by φ_q ξ = 0 and its derivatives in time, in units S.

    ``along`` are derivatives by coordinates at the velocities of a direction. None where the constraints determine the
    dependent coordinates badly."""
    n, m, held = probe.n, probe.m, probe.held
    free = [k for k in range(n) if k not in dependent]
    E = np.eye(n)[:, free]
    if not dependent:
        nothing = np.zeros((n, n))
        return Lift(free, E, nothing, nothing, nothing, nothing)
    A, units = (at.A * S)[m - held :], at.rows[m - held :, None]
    own = units * A[:, list(dependent)]
    if np.linalg.cond(own) > ILL_SOLVED:
        return None
    inverse = np.linalg.inv(own)

    def follow(rows: np.ndarray) -> np.ndarray:
        found = np.zeros((n, len(free)))
        found[list(dependent)] = -inverse @ (units * rows)
        return found

    E = E + follow(A[:, free])
    held_rows, rate_rows = slice(n + m - held, n + m), slice(n + 2 * m - held, n + 2 * m)
    G = follow(by_q[rate_rows] @ E)
    return Lift(
        free,
        E,
        G,
        follow(by_v[held_rows] @ E),
        follow(by_q[held_rows] @ E + by_v[held_rows] @ G),
        follow(along[rate_rows] @ E),
    )
