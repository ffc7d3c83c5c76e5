"""Forces of systems with rods and their first derivatives in closed form, for numbers: what analyses ask for most.

The nodes of a rod and its base are points y = (L e^{iθ}, z₀) that all else follows from linearly: its stations and
points are at S y, and it resists with G ÿ + D ẏ there, G = Sᵀ m S. With X = ∂y/∂q, products of matrices give its share
in M = Xᴴ G X, in C = 2 Xᴴ G Ẋ and, with Ẍ, in K; the forces that turn with the nodes are the rest of K. Angles are
linear in the coordinates, so that Ẋ and Ẍ are X with ẏ and ÿ for y. Higher derivatives: ``rod_mechanics``.

The first axis of arrays is the state of a batch; *levels* are positions, velocities and accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.flow.compiled_frame import CompiledFrame
from pfaff.flow.rod_mechanics import Mechanics, mechanics_of
from pfaff.statement.system import System
from pfaff.threads import cached_property, once


class RodNodes:
    """One rod: where its angles, its points and its base are among the coordinates, whatever the parameters."""

    def __init__(self, m: Mechanics, k: int, before: dict[str, RodNodes]) -> None:
        self.rod, names = m.rods[k], m.frame.names
        self.K, self.amplitudes, base = self.rod.nodes, m.rows[k], self.rod.base
        carrier = before.get(base.names[2] or "")
        self.start: float = base.numbers[2] + (carrier.start if carrier else 0.0)
        turns = np.zeros((len(self.rod.angles), m.n))
        if base.names[2] is not None:
            turns += carrier.turn_of(base.names[2]) if carrier else np.eye(m.n)[names.index(base.names[2])]
        turns[:, self.amplitudes] += self.rod.angles
        self.turns, self.point_turns = turns[: self.K], turns[self.K :]
        self.named = m.points[k]
        self.x, self.y, self.theta = (np.array([names.index(each[i]) for each in self.named]) for i in range(3))
        self.base = [None if name is None else names.index(name) for name in base.names[:2]]
        self.origin = base.numbers[:2]
        carried = [before[name].columns if name in before else [names.index(name)] for name in base.names[:2] if name]
        self.columns: np.ndarray = np.unique(np.concatenate([np.flatnonzero(turns.any(axis=0)), *carried])).astype(int)
        self.turning = self.turns[:, self.columns]
        self.pairs = (self.turning[:, :, None] * self.turning[:, None, :]).reshape(self.K, -1)
        self.points = np.hstack([self.rod.point_stations, np.ones((len(self.named), 1))])
        self.stations = np.hstack([self.rod.stations, np.ones((len(self.rod.stations), 1))])

    def turn_of(self, name: str) -> np.ndarray:
        return self.point_turns[[each[2] for each in self.named].index(name)]


class RodNumbers:
    """One rod at values of the parameters; G, D and what resists bending, for all states or for each."""

    def __init__(self, nodes: RodNodes, parameters: list[Any]) -> None:
        self.nodes, rod = nodes, nodes.rod
        self.length, section = rod.sections_at(parameters)
        mass, drag, rotary, bending, delay = map(section, ("mass", "drag", "rotary", "bending", "retardation"))
        mass = np.zeros(len(rod.stations)) if mass is None else mass
        bending = np.zeros(len(rod.bends)) if bending is None else bending
        bending = bending / np.where(self.length == 0, np.nan, self.length)  # without length nothing is said
        self.inertia = _gathered(nodes.stations, mass * self.length)
        self.drag = None if drag is None else _gathered(nodes.stations, drag * self.length)
        self.rotary = None if rotary is None else rotary * self.length
        self.stiffness = _gathered(rod.bends, bending)
        self.damping = None if delay is None else _gathered(rod.bends, bending * delay)

    def place(self, q: np.ndarray, w: np.ndarray) -> Bend:
        """Where it is in configurations q; the positions of its points are put into w [state, level, coordinate]."""
        at, K = self.nodes, self.nodes.K
        angle = q @ at.turns.T + at.start
        y = np.zeros((3, len(q), K + 1, 2))
        y[0, :, :K, 0], y[0, :, :K, 1] = self.length * np.cos(angle), self.length * np.sin(angle)
        y[0, :, K] = at.origin
        for i, base in enumerate(at.base):
            if base is not None:
                y[0, :, K, i] += w[:, 0, base]
        points = at.points @ y[0]
        w[:, 0, at.x], w[:, 0, at.y] = points[:, :, 0], points[:, :, 1]
        w[:, 0, at.theta] = q @ at.point_turns.T + at.start
        return Bend(y, np.zeros_like(angle))

    def move(self, bend: Bend, rates: np.ndarray, w: np.ndarray) -> None:
        """With velocities and accelerations [state, level, coordinate]."""
        at, K, y = self.nodes, self.nodes.K, bend.y
        turning = rates @ at.turns.T
        first, second = turning[:, 0, :, None], turning[:, 1, :, None]
        ahead, across = y[0, :, :K], np.empty_like(y[0, :, :K])
        across[:, :, 0], across[:, :, 1] = -ahead[:, :, 1], ahead[:, :, 0]
        y[1, :, :K] = across * first
        y[2, :, :K] = across * second - ahead * (first * first)
        for i, base in enumerate(at.base):
            if base is not None:
                y[1:, :, K, i] = w[:, 1:, base].T
        points = at.points @ y[1:]
        w[:, 1:, at.x], w[:, 1:, at.y] = points[..., 0].transpose(1, 0, 2), points[..., 1].transpose(1, 0, 2)
        w[:, 1:, at.theta] = rates @ at.point_turns.T
        bend.spinning = turning[:, 1]

    def push(self, bend: Bend, q: np.ndarray, v: np.ndarray, g: np.ndarray, left: np.ndarray) -> None:
        """Add what it resists with, along the coordinates and, at its base, to what the frame does."""
        at, K, y = self.nodes, self.nodes.K, bend.y[0]
        pull = self.inertia @ bend.y[2]
        if self.drag is not None:
            pull = pull + self.drag @ bend.y[1]
        pull = pull + at.points.T @ np.stack([g[:, at.x], g[:, at.y]], axis=2)
        moment = y[:, :K, 0] * pull[:, :K, 1] - y[:, :K, 1] * pull[:, :K, 0]
        if self.rotary is not None:
            moment = moment + self.rotary * bend.spinning
        left += moment @ at.turns + g[:, at.theta] @ at.point_turns
        left[:, at.amplitudes] += _times(self.stiffness, q[:, at.amplitudes])
        if self.damping is not None:
            left[:, at.amplitudes] += _times(self.damping, v[:, at.amplitudes])
        for i, base in enumerate(at.base):
            if base is not None:
                g[:, base] += pull[:, K, i]
        bend.pull = pull

    def energies(self, bend: Bend, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """T, V and the power dissipated."""
        a, rates, y = q[:, self.nodes.amplitudes], v[:, self.nodes.amplitudes], bend.y[1]
        kinetic = (y * (self.inertia @ y)).sum(axis=(1, 2)) / 2
        if self.rotary is not None:
            kinetic = kinetic + (self.rotary * (v @ self.nodes.turns.T) ** 2).sum(axis=1) / 2
        dissipated = np.zeros(len(q))
        if self.damping is not None:
            dissipated = dissipated + (rates * _times(self.damping, rates)).sum(axis=1)
        if self.drag is not None:
            dissipated = dissipated + (y * (self.drag @ y)).sum(axis=(1, 2))
        return kinetic, (a * _times(self.stiffness, a)).sum(axis=1) / 2, dissipated

    def tangents(self, y: np.ndarray, W: np.ndarray) -> np.ndarray:
        """X or its rates, [state, node and direction, level and column], for these levels; W gets those of points."""
        at, K, (count, batch) = self.nodes, self.nodes.K, y.shape[:2]
        X = np.zeros((batch, K + 1, 2, count, len(at.columns)))
        for level in range(count):
            np.multiply(-y[level, :, :K, 1, None], at.turning, out=X[:, :K, 0, level])
            np.multiply(y[level, :, :K, 0, None], at.turning, out=X[:, :K, 1, level])
        for i, base in enumerate(at.base):
            if base is not None:
                X[:, K, i] = W[:, :, base, at.columns]
        points = (at.points @ X.reshape(batch, K + 1, -1)).reshape(batch, -1, 2, count, len(at.columns))
        for i, rows in enumerate((at.x, at.y)):
            W[:, :, rows[:, None], at.columns] = points[:, :, i].transpose(0, 2, 1, 3)
        return X.reshape(batch, 2 * (K + 1), -1)

    def weigh(self, bend: Bend, W: np.ndarray, M: np.ndarray) -> None:
        """Add its inertia to a larger matrix; the tangents W of the frame at rest get those of its points."""
        at, batch = self.nodes, len(W)
        X = self.tangents(bend.y[:1], W)
        W[:, 0, at.theta] = at.point_turns
        size = len(at.columns)
        beside = X.reshape(batch, at.K + 1, 2 * size)
        bend.heavy = (self.inertia @ beside).reshape(X.shape).swapaxes(1, 2)
        if self.drag is not None:
            bend.dragged = (self.drag @ beside).reshape(X.shape).swapaxes(1, 2)
            bend.slowed = bend.dragged @ X
        share = bend.heavy @ X
        if self.rotary is not None:
            share = share + (self.rotary @ at.pairs).reshape(-1, size, size)
        M[:, at.columns[:, None], at.columns] += share

    def stiffen(self, bend: Bend, W: np.ndarray, K: np.ndarray, C: np.ndarray) -> None:
        """Add its share in the derivatives by coordinates and velocities, from the rates of W."""
        at, size = self.nodes, len(self.nodes.columns)
        X = self.tangents(bend.y[1:], W)
        share = bend.heavy @ X
        turned = (bend.y[0, :, :-1] * bend.pull[:, :-1]).sum(axis=2)  # forces along the rod turn with it
        by_q = share[:, :, size:] - (turned @ at.pairs).reshape(-1, size, size)
        by_v = 2 * share[:, :, :size]
        if self.drag is not None:
            by_q = by_q + bend.dragged @ X[:, :, :size]
            by_v = by_v + bend.slowed
        K[:, at.columns[:, None], at.columns] += by_q
        C[:, at.columns[:, None], at.columns] += by_v
        K[:, at.amplitudes, at.amplitudes] += self.stiffness
        if self.damping is not None:
            C[:, at.amplitudes, at.amplitudes] += self.damping


def _gathered(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """rowsᵀ weights rows, for one or for many rows of weights."""
    return (rows.T * weights[..., None, :]) @ rows


def _times(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A symmetric matrix, or one for each row, times rows."""
    return rows @ matrix if matrix.ndim == 2 else (matrix @ rows[:, :, None])[:, :, 0]


@dataclass(eq=False)
class Bend:
    """A rod in its present motion, and what is known of it as yet."""

    y: np.ndarray  # [level, state, node, direction], the base being the last node
    spinning: np.ndarray  # θ̈ at the nodes
    pull: Any = None  # on the nodes
    heavy: Any = None  # Xᴴ G
    dragged: Any = None  # Xᴴ D
    slowed: Any = None  # Xᴴ D X


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of M q̈ + h + Aᵀp, of A q̈ + γ and of A q̇ + b by q and q̇, each [state, row, column]."""

    K: np.ndarray
    C: np.ndarray
    rates_by_q: np.ndarray
    rates_by_v: np.ndarray
    B: np.ndarray


class Nodes:
    """The rods of a system and its compiled frame."""

    def __init__(self, system: System) -> None:
        self.mechanics = m = mechanics_of(system)
        assert system.frame is not None
        self.frame = CompiledFrame(system.frame)
        self.rods: list[RodNodes] = []
        known: dict[str, RodNodes] = {}
        for k in range(len(m.rods)):
            self.rods.append(RodNodes(m, k, known))
            known |= {name: self.rods[k] for names in m.points[k] for name in names}


@once(most=64)
def nodes_of(system: System) -> Nodes:
    return Nodes(system)


class NodesAt:
    """The mechanics of a system with rods at values of its parameters."""

    def __init__(self, system: System, numbers: np.ndarray) -> None:
        nodes = nodes_of(system)
        if numbers.ndim == 2 and (numbers == numbers[:, :1]).all():
            numbers = np.ascontiguousarray(numbers[:, 0])
        self.n, self.m, self.own = nodes.mechanics.n, nodes.mechanics.m, nodes.mechanics.own
        self.frame, self.held, self.numbers = nodes.frame, slice(self.m - nodes.frame.held, self.m), numbers
        parameters = [each[:, None] if each.ndim else float(each) for each in numbers]
        self.rods = [RodNumbers(each, parameters) for each in nodes.rods]

    def placed(self, q: np.ndarray, time: Any = 0.0) -> Placed:
        """In configurations q, a row for each state of a batch."""
        return Placed(self, q, time)


class Placed:
    """A system with rods in configurations q, a row each, and then in motion. For one thread: it changes."""

    def __init__(self, at: NodesAt, q: np.ndarray, time: Any) -> None:
        self.at, self.q, self.time = at, q, time
        self.w = np.zeros((len(q), 3, at.frame.n))  # [state, level, coordinate]
        self.w[:, 0, : at.own] = q[:, : at.own]
        self.bends = [rod.place(q, self.w) for rod in at.rods]
        self.v, self.still = np.zeros_like(q), np.zeros((len(q), at.m))

    def move(self, v: np.ndarray, a: np.ndarray) -> None:
        """At velocities v, with accelerations a."""
        self.v, rates = v, np.stack([v, a], axis=1)
        self.w[:, 1:, : self.at.own] = rates[:, :, : self.at.own]
        for rod, bend in zip(self.at.rods, self.bends, strict=True):
            rod.move(bend, rates, self.w)

    def left(self, p: np.ndarray) -> np.ndarray:
        """M q̈ + h + Aᵀp, A q̈ + γ and A q̇ + b, a row for each state."""
        at, frame = self.at, self.at.frame
        values = frame.values(self.w, p, at.numbers, self.time)
        g, left = np.ascontiguousarray(values[:, : frame.n]), np.zeros((len(values), at.n))
        for rod, bend in zip(reversed(at.rods), reversed(self.bends), strict=True):
            rod.push(bend, self.q, self.v, g, left)
        left[:, : at.own] += g[:, : at.own]
        return np.hstack([left, values[:, frame.n :]])

    def speeds(self) -> np.ndarray:
        """A q̇ + b."""
        at = self.at
        return at.frame.values(self.w, self.still, at.numbers, self.time)[:, at.frame.n + at.m :]

    def positions(self) -> np.ndarray:
        """φ of the holonomic constraints, which are the last ones."""
        return self.at.frame.positions(self.w, self.still, self.at.numbers, self.time)

    def energies(self) -> np.ndarray:
        """T, V and Jacobi's energy, a row for each state."""
        return self._energies(self.still)[:, :3]

    def powers(self, p: np.ndarray) -> np.ndarray:
        """What is dissipated and what is supplied per unit of time, a row for each state."""
        return self._energies(p)[:, 3:]

    def _energies(self, p: np.ndarray) -> np.ndarray:
        found = self.at.frame.energies(self.w, p, self.at.numbers, self.time)
        for rod, bend in zip(self.at.rods, self.bends, strict=True):
            kinetic, potential, dissipated = rod.energies(bend, self.q, self.v)
            found = found + np.column_stack([kinetic, potential, kinetic + potential, dissipated, 0 * kinetic])
        return found

    @cached_property
    def _bordered(self) -> tuple[np.ndarray, np.ndarray]:
        """[[M, Aᵀ], [A, 0]] for every state, and the tangents [state, level 0, coordinate of the frame, column]."""
        at, frame, n = self.at, self.at.frame, self.at.n
        found, W = np.zeros((len(self.q), n + at.m, n + at.m)), np.zeros((len(self.q), 1, frame.n, n))
        W[:, 0, range(at.own), range(at.own)] = 1.0
        for rod, bend in zip(at.rods, self.bends, strict=True):
            rod.weigh(bend, W, found)
        by_a = frame.slopes(self.w, self.still, at.numbers, self.time)[:, :, 2 * frame.n :] @ W[:, 0]
        found[:, :n, :n] += W[:, 0].swapaxes(1, 2) @ by_a[:, : frame.n]
        A = by_a[:, frame.n : frame.n + at.m]
        found[:, n:, :n], found[:, :n, n:] = A, A.swapaxes(1, 2)
        return found, W

    @property
    def bordered(self) -> np.ndarray:
        return self._bordered[0]

    @property
    def A(self) -> np.ndarray:
        return self.bordered[:, self.at.n :, : self.at.n]

    @property
    def M(self) -> np.ndarray:
        return self.bordered[:, : self.at.n, : self.at.n]

    def slopes(self, p: np.ndarray) -> Slopes:
        """To be asked for after ``left`` with the same reactions."""
        at, frame, n = self.at, self.at.frame, self.at.n
        still, batch = self._bordered[1], len(self.q)
        W = np.zeros((batch, 2, frame.n, n))
        K, C = np.zeros((2, batch, n, n))
        for rod, bend in zip(at.rods, self.bends, strict=True):
            rod.stiffen(bend, W, K, C)
        by = np.zeros((batch, 3, frame.n, 2, n))
        by[:, 0, :, 0] = by[:, 1, :, 1] = still[:, 0]
        by[:, 1, :, 0], by[:, 2, :, 0], by[:, 2, :, 1] = W[:, 0], W[:, 1], 2 * W[:, 0]
        slopes = frame.slopes(self.w, p, at.numbers, self.time) @ by.reshape(batch, 3 * frame.n, 2 * n)
        found = still[:, 0].swapaxes(1, 2) @ slopes[:, : frame.n]
        K += found[:, :, :n]
        C += found[:, :, n:]
        rates, speeds = slopes[:, frame.n : frame.n + at.m], slopes[:, frame.n + at.m :]
        return Slopes(K, C, rates[:, :, :n], rates[:, :, n:], speeds[:, :, :n])

    def by_parameter(self, k: int, p: np.ndarray) -> np.ndarray:
        """Derivatives of what ``left`` gives by a parameter that rods do not contain."""
        at, frame = self.at, self.at.frame
        found = frame.by_parameter(k, self.w, p, at.numbers, self.time)
        forces = found[:, None, : frame.n] @ self._bordered[1][:, 0]
        return np.hstack([forces[:, 0], found[:, frame.n :]])
