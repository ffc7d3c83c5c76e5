"""One rod in numbers: its forces and their first derivatives in closed form, which analyses use most.

The nodes of a rod and its base are points y = (L e^{iθ}, z₀) that all else follows from linearly: its stations and
points are at S y, and it resists with G ÿ + D ẏ there, G = Sᵀ m S. With X = ∂y/∂q, products of matrices give its share
in M = Xᴴ G X, in C = 2 Xᴴ G Ẋ and, with Ẍ, in K; the forces that turn with the nodes are the rest of K. Angles are
linear in the coordinates, θ' = T q', so that X is i y T at the nodes, and Ẋ and Ẍ are that with ẏ and ÿ for y. Higher
derivatives: ``rod_mechanics``; several rods among other things: ``placed``.

The last axis of vectors is the state of a batch, the first one of matrices; *levels* are positions, velocities and
accelerations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.flow.rod_mechanics import Mechanics


class RodNodes:
    """Places of the angles of a rod, of its points and of its base among the coordinates, independent of parameters."""

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
        self.xy = np.array([[names.index(each[i]) for each in self.named] for i in range(2)])
        self.theta = np.array([names.index(each[2]) for each in self.named])
        self.base = [None if name is None else names.index(name) for name in base.names[:2]]
        self.carried = any(name in before for name in base.names[:2])  # by another rod, whose points turn
        self.origin = np.array(base.numbers[:2])[:, None]
        carried = [before[name].columns if name in before else [names.index(name)] for name in base.names[:2] if name]
        self.columns: np.ndarray = np.unique(np.concatenate([np.flatnonzero(turns.any(axis=0)), *carried])).astype(int)
        chosen = as_slice(self.columns.tolist())
        among = isinstance(chosen, list)
        self.block: Any = (slice(None), self.columns[:, None] if among else chosen, chosen)  # of matrices
        self.turning = np.ascontiguousarray(self.turns[:, self.columns])
        self.pairs = (self.turning[:, :, None] * self.turning[:, None, :]).reshape(self.K, -1)
        self.points = np.hstack([self.rod.point_stations, np.ones((len(self.named), 1))])
        self.stations = np.hstack([self.rod.stations, np.ones((len(self.rod.stations), 1))])

    def turn_of(self, name: str) -> np.ndarray:
        return self.point_turns[[each[2] for each in self.named].index(name)]


@dataclass(eq=False)
class Bend:
    """A rod in its present motion, with data computed so far."""

    y: np.ndarray  # [level, direction, node, state], the base being the last node
    spinning: np.ndarray  # θ̈ at the nodes
    pull: Any = None  # on the nodes, [direction, node, state]
    heavy: Any = None  # G X, [node, direction, state, column]
    dragged: Any = None  # D X
    slowed: Any = None  # Xᴴ D X


class RodNumbers:
    """One rod at values of the parameters; G, D and what resists bending, for all states or for each."""

    def __init__(self, nodes: RodNodes, parameters: list[Any]) -> None:
        self.nodes, rod = nodes, nodes.rod
        length, section = rod.sections_at(parameters)
        mass, drag, rotary, bending, delay = map(section, ("mass", "drag", "rotary", "bending", "retardation"))
        bending = bending / np.where(length == 0, np.nan, length)  # undefined without length
        self.length = np.ravel(length)  # one, or one for each state
        self.inertia = _gathered(nodes.stations, mass * length)
        self.drag = None if drag is None else _gathered(nodes.stations, drag * length)
        self.rotary = None if rotary is None else rotary * length
        self.stiffness = _gathered(rod.bends, bending)
        self.damping = None if delay is None else _gathered(rod.bends, bending * delay)

    def place(self, q: np.ndarray, w: np.ndarray) -> Bend:
        """Where it is in configurations q; the positions of its points are put into w [level, coordinate, state]."""
        at, K = self.nodes, self.nodes.K
        angle = at.turns @ q
        angle += at.start
        y = np.zeros((3, 2, K + 1, q.shape[1]))
        np.multiply(self.length, np.cos(angle), out=y[0, 0, :K])
        np.multiply(self.length, np.sin(angle), out=y[0, 1, :K])
        y[0, :, K] = at.origin
        for i, base in enumerate(at.base):
            if base is not None:
                y[0, i, K] += w[0, base]
        w[0, at.xy] = at.points @ y[0]
        w[0, at.theta] = at.point_turns @ q + at.start
        return Bend(y, np.zeros_like(angle))

    def move(self, bend: Bend, rates: np.ndarray, w: np.ndarray) -> None:
        """Set velocities and accelerations [level, coordinate, state]."""
        at, K, y = self.nodes, self.nodes.K, bend.y
        first, second = turning = at.turns @ rates
        (x0, y0), (x1, y1), (x2, y2) = y[:, :, :K]
        np.multiply(y0, -first, out=x1)
        np.multiply(x0, first, out=y1)
        np.subtract(y0 * -second, y1 * first, out=x2)
        np.add(x0 * second, x1 * first, out=y2)
        for i, base in enumerate(at.base):
            if base is not None:
                y[1:, i, K] = w[1:, base]
        w[1:, at.xy] = at.points @ y[1:]
        w[1:, at.theta] = at.point_turns @ rates
        bend.spinning = turning[1]

    def push(self, bend: Bend, q: np.ndarray, v: np.ndarray, g: np.ndarray, left: np.ndarray) -> None:
        """Add its forces, along the coordinates and, at its base, to those of the frame."""
        at, K, y = self.nodes, self.nodes.K, bend.y[0]
        bend.pull = pull = _on_nodes(self.inertia, bend.y[2])
        if self.drag is not None:
            pull += _on_nodes(self.drag, bend.y[1])
        pull += at.points.T @ g[at.xy]
        moment = y[0, :K] * pull[1, :K] - y[1, :K] * pull[0, :K]
        if self.rotary is not None:
            moment += (self.rotary * bend.spinning.T).T
        left += at.turns.T @ moment
        left += at.point_turns.T @ g[at.theta]
        left[at.amplitudes] += _times(self.stiffness, q[at.amplitudes])
        if self.damping is not None:
            left[at.amplitudes] += _times(self.damping, v[at.amplitudes])
        for i, base in enumerate(at.base):
            if base is not None:
                g[base] += pull[i, K]

    def energies(self, bend: Bend, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """T, V and the power dissipated."""
        a, rates, y = q[self.nodes.amplitudes], v[self.nodes.amplitudes], bend.y[1]
        kinetic = (y * _on_nodes(self.inertia, y)).sum(axis=(0, 1)) / 2
        if self.rotary is not None:
            kinetic += (self.rotary * (self.nodes.turns @ v).T ** 2).sum(axis=1) / 2
        dissipated = np.zeros(q.shape[1])
        if self.damping is not None:
            dissipated += (rates * _times(self.damping, rates)).sum(axis=0)
        if self.drag is not None:
            dissipated += (y * _on_nodes(self.drag, y)).sum(axis=(0, 1))
        return kinetic, (a * _times(self.stiffness, a)).sum(axis=0) / 2, dissipated

    def weigh(self, bend: Bend, W: np.ndarray, M: np.ndarray) -> None:
        """Add its inertia to a larger matrix, and the tangents of its points to those of the frame, W[state,
        coordinate, column]."""
        at, K, y, batch = self.nodes, self.nodes.K, bend.y[0], len(W)
        size = len(at.columns)
        self._point_tangents(y, W)
        W[:, at.theta] = at.point_turns
        X = np.zeros((K + 1, 2, batch, size))
        np.multiply(-y[1, :K, :, None], at.turning[:, None], out=X[:K, 0])
        np.multiply(y[0, :K, :, None], at.turning[:, None], out=X[:K, 1])
        for i, base in enumerate(at.base):
            if base is not None:
                X[K, i] = W[:, base, at.columns]
        bend.heavy = _on_tangents(self.inertia, X)
        share = self._share(bend.heavy, y, W)
        if self.drag is not None:
            bend.dragged = _on_tangents(self.drag, X)
            bend.slowed = self._share(bend.dragged, y, W)
        if self.rotary is not None:
            share += (self.rotary @ at.pairs).reshape(-1, size, size)
        M[at.block] += share

    def stiffen(self, bend: Bend, W: np.ndarray, K: np.ndarray, C: np.ndarray) -> None:
        """Add its share in the derivatives with respect to coordinates and velocities, from the rates W[level, state,
        …]."""
        at, (y, first, second) = self.nodes, bend.y
        size, nodes, bases = len(at.columns), slice(at.K), W if at.carried else (None, None)
        for rate, tangents in zip((first, second), W, strict=True):
            self._point_tangents(rate, tangents)
        turned = y[0, nodes] * bend.pull[0, nodes] + y[1, nodes] * bend.pull[1, nodes]  # part that turns with the rod
        by_q = self._share(bend.heavy, second, bases[1]) - (turned.T @ at.pairs).reshape(-1, size, size)
        by_v = 2 * self._share(bend.heavy, first, bases[0])
        if self.drag is not None:
            by_q += self._share(bend.dragged, first, bases[0])
            by_v += bend.slowed
        K[at.block] += by_q
        C[at.block] += by_v
        K[:, at.amplitudes, at.amplitudes] += self.stiffness
        if self.damping is not None:
            C[:, at.amplitudes, at.amplitudes] += self.damping

    def _point_tangents(self, y: np.ndarray, W: np.ndarray) -> None:
        """Fill in the tangents of its points, or their rates, from those of its base."""
        at, K = self.nodes, self.nodes.K
        levers = at.points[:, :K, None]
        for i, lever in enumerate((-y[1, :K] * levers, y[0, :K] * levers)):  # [point, node, state]
            found, base = lever.swapaxes(1, 2) @ at.turning, at.base[i]
            if base is not None:
                found += W[:, base, at.columns]
            W[:, at.xy[i][:, None], at.columns] = found.swapaxes(0, 1)

    def _share(self, heavy: np.ndarray, y: np.ndarray, W: np.ndarray | None) -> np.ndarray:
        """Xᴴ G times the tangents at these y and W, if the base has any, [state, column, column]; G X is given."""
        at, K, batch = self.nodes, self.nodes.K, y.shape[2]
        levered = np.einsum("kibc,ikb->kbc", heavy[:K], np.array([-y[1, :K], y[0, :K]]))
        share = (levered.reshape(K, -1).T @ at.turning).reshape(batch, len(at.columns), -1)
        if W is not None:
            for i, base in enumerate(at.base):
                if base is not None:
                    share += heavy[K, i][:, :, None] * W[:, base, at.columns][:, None]
        return share


def as_slice(places: Sequence[int]) -> Any:
    """Places in an array, as a slice if they are next to each other: that copies nothing."""
    low, high = (places[0], places[-1] + 1) if places else (0, 0)
    return slice(low, high) if list(places) == list(range(low, high)) else list(places)


def _gathered(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """rowsᵀ weights rows, for one or for many rows of weights."""
    return (rows.T * weights[..., None, :]) @ rows


def _times(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """A matrix, or one for each state, times columns."""
    return matrix @ columns if matrix.ndim == 2 else (matrix @ columns.T[:, :, None])[:, :, 0].T


def _on_nodes(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``_times`` in both directions."""
    return matrix @ y if matrix.ndim == 2 else np.stack([_times(matrix, each) for each in y])


def _on_tangents(matrix: np.ndarray, X: np.ndarray) -> np.ndarray:
    if matrix.ndim == 2:
        return (matrix @ X.reshape(len(X), -1)).reshape(X.shape)
    return np.einsum("bkl,ldbc->kdbc", matrix, X)
