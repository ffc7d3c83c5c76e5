"""Systems with rods evaluated in numbers: residuals of their equations at batches of states, and first derivatives.

Vectors are columns, one for each state of a batch; matrices are indexed [state, row, column].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.flow.compiled_frame import CompiledFrame
from pfaff.flow.rod_mechanics import mechanics_of
from pfaff.flow.rod_nodes import RodNodes, RodNumbers
from pfaff.statement.system import System
from pfaff.threads import Once, once

KEPT = 8  # values of a rod's own parameters whose matrices are kept
SPARED = 2**20  # numbers in a block that is more than a batch needs


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of M q̈ + h + Aᵀp, of A q̈ + γ and of A q̇ + b with respect to q and q̇."""

    K: np.ndarray
    C: np.ndarray
    rates_by_q: np.ndarray
    rates_by_v: np.ndarray
    B: np.ndarray


class Nodes:
    """The rods of a system and its frame."""

    def __init__(self, system: System) -> None:
        self.mechanics = m = mechanics_of(system)
        assert system.frame is not None
        self.frame = CompiledFrame(system.frame)
        self.rods: list[RodNodes] = []
        known: dict[str, RodNodes] = {}
        for k in range(len(m.rods)):
            self.rods.append(RodNodes(m, k, known))
            known |= {name: self.rods[k] for names in m.points[k] for name in names}
        inside = {symbol.name for rod in system.rods for symbol in rod.symbols}
        self._inside = [k for k, name in enumerate(system.parameter_names) if name in inside]
        self._made: Once[bytes, list[RodNumbers]] = Once(KEPT)
        # Having freed a block of this size, the C library on Linux keeps smaller ones for the next batch; otherwise it
        # gives them back and gets them anew page by page, for a third of the time of all that is computed here.
        np.empty(SPARED)

    def at(self, numbers: np.ndarray) -> list[RodNumbers]:
        """The rods at values of the parameters; only their own parameters matter."""
        own = numbers[self._inside]
        if own.ndim == 2 and not (own == own[:, :1]).all():
            return [RodNumbers(each, [row[:, None] for row in numbers]) for each in self.rods]
        first = numbers if numbers.ndim == 1 else numbers[:, 0]
        key, parameters = first[self._inside].tobytes(), first.tolist()
        return self._made.get(key, lambda: [RodNumbers(each, parameters) for each in self.rods])


@once(most=1)
def nodes_of(system: System) -> Nodes:
    return Nodes(system)


class NodesAt:
    """The mechanics of a system with rods at values of its parameters, one for all states or a column for each."""

    def __init__(self, system: System, numbers: np.ndarray) -> None:
        nodes = nodes_of(system)
        self.n, self.m, self.own = nodes.mechanics.n, nodes.mechanics.m, nodes.mechanics.own
        self.frame, self.held = nodes.frame, slice(self.m - nodes.frame.held, self.m)
        self.numbers, self.rods = numbers, nodes.at(numbers)

    def placed(self, q: np.ndarray, time: Any = 0.0) -> Placed:
        """The system in configurations q, a column for each state."""
        return Placed(self, q, time)


class Placed:
    """A system with rods in configurations q, a column each, and then in motion. It is mutable: for one thread only."""

    def __init__(self, at: NodesAt, q: np.ndarray, time: Any) -> None:
        self.at, self.q, self.time, batch = at, q, time, q.shape[1]
        size = 3 * at.frame.n
        self._z = np.zeros((size + at.m, batch))  # argument of the frame
        self.w, self._p = self._z[:size].reshape(3, at.frame.n, batch), self._z[size:]  # [level, coordinate, state]
        self.w[0, : at.own] = q[: at.own]
        self._numbers = at.numbers if at.numbers.ndim == 2 else np.repeat(at.numbers[:, None], batch, axis=1)
        self.bends = [rod.place(q, self.w) for rod in at.rods]
        self.v, self.still = np.zeros(q.shape), np.zeros((at.m, batch))
        self._weighed: tuple[np.ndarray, np.ndarray] | None = None

    def move(self, v: np.ndarray, a: np.ndarray | None = None) -> None:
        """Set velocities v and accelerations a, zero by default."""
        self.v, rates = v, np.zeros((2, *v.shape))
        rates[0] = v
        if a is not None:
            rates[1] = a
        self.w[1:, : self.at.own] = rates[:, : self.at.own]
        for rod, bend in zip(self.at.rods, self.bends, strict=True):
            rod.move(bend, rates, self.w)

    def _taken(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        self._p[:] = p
        return self._z, self._numbers, self.time

    def left(self, p: np.ndarray) -> np.ndarray:
        """Residuals M q̈ + h + Aᵀp, A q̈ + γ and A q̇ + b."""
        at, F = self.at, self.at.frame.n
        values = at.frame.values(*self._taken(p))
        left = np.zeros((at.n + len(values) - F, values.shape[1]))
        left[at.n :] = values[F:]
        for rod, bend in zip(reversed(at.rods), reversed(self.bends), strict=True):
            rod.push(bend, self.q, self.v, values, left[: at.n])
        left[: at.own] += values[: at.own]
        return left

    def speeds(self) -> np.ndarray:
        """A q̇ + b."""
        return self.at.frame.values(*self._taken(self.still))[self.at.frame.n + self.at.m :]

    def positions(self) -> np.ndarray:
        """φ of the holonomic constraints, which are the last ones."""
        return self.at.frame.positions(*self._taken(self.still))

    def energies(self) -> np.ndarray:
        """T, V and Jacobi's energy."""
        return self._energies(self.still)[:3]

    def powers(self, p: np.ndarray) -> np.ndarray:
        """Powers dissipated and supplied."""
        return self._energies(p)[3:]

    def _energies(self, p: np.ndarray) -> np.ndarray:
        found = self.at.frame.energies(*self._taken(p))
        for rod, bend in zip(self.at.rods, self.bends, strict=True):
            kinetic, potential, dissipated = rod.energies(bend, self.q, self.v)
            for k, each in enumerate((kinetic, potential, kinetic + potential, dissipated)):
                found[k] += each
        return found

    def _weigh(self) -> tuple[np.ndarray, np.ndarray]:
        """[[M, Aᵀ], [A, 0]] for every state, and the tangents [state, coordinate of the frame, column]."""
        if self._weighed is None:
            at, frame, n, batch = self.at, self.at.frame, self.at.n, self.q.shape[1]
            found, W = np.zeros((batch, n + at.m, n + at.m)), np.zeros((batch, frame.n, n))
            W[:, range(at.own), range(at.own)] = 1.0
            for rod, bend in zip(at.rods, self.bends, strict=True):
                rod.weigh(bend, W, found)
            by_a = frame.slopes(*self._taken(self.still))[:, :, 2 * frame.n :] @ W
            found[:, :n, :n] += W.swapaxes(1, 2) @ by_a[:, : frame.n]
            A = by_a[:, frame.n : frame.n + at.m]
            found[:, n:, :n], found[:, :n, n:] = A, A.swapaxes(1, 2)
            self._weighed = found, W
        return self._weighed

    @property
    def bordered(self) -> np.ndarray:
        return self._weigh()[0]

    @property
    def A(self) -> np.ndarray:
        return self.bordered[:, self.at.n :, : self.at.n]

    @property
    def M(self) -> np.ndarray:
        return self.bordered[:, : self.at.n, : self.at.n]

    def slopes(self, p: np.ndarray) -> Slopes:
        """The derivatives; call it after ``left`` with the same reactions."""
        at, frame, n = self.at, self.at.frame, self.at.n
        still, batch = self._weigh()[1], self.q.shape[1]
        W, K, C = np.zeros((2, batch, frame.n, n)), np.zeros((batch, n, n)), np.zeros((batch, n, n))
        for rod, bend in zip(at.rods, self.bends, strict=True):
            rod.stiffen(bend, W, K, C)
        by = np.zeros((batch, 3, frame.n, 2, n))
        by[:, 0, :, 0] = by[:, 1, :, 1] = still
        by[:, 1, :, 0], by[:, 2, :, 0], by[:, 2, :, 1] = W[0], W[1], 2 * W[0]
        slopes = frame.slopes(*self._taken(p)) @ by.reshape(batch, 3 * frame.n, 2 * n)
        found = still.swapaxes(1, 2) @ slopes[:, : frame.n]
        K += found[:, :, :n]
        C += found[:, :, n:]
        rates, speeds = slopes[:, frame.n : frame.n + at.m], slopes[:, frame.n + at.m :]
        return Slopes(K, C, rates[:, :, :n], rates[:, :, n:], speeds[:, :, :n])

    def by_parameter(self, k: int, p: np.ndarray) -> np.ndarray:
        """Derivatives of the residuals of ``left`` with respect to a parameter that rods do not contain."""
        frame = self.at.frame
        found = frame.by_parameter(k, *self._taken(p))
        forces = found.T[:, None, : frame.n] @ self._weigh()[1]
        return np.concatenate([forces[:, 0].T, found[frame.n :]])
