"""Taylor's method along eight trajectories at once, each with its own steps and parameters."""

from __future__ import annotations

import numpy as np

from pfaff.flow.integrator import Program, aligned
from pfaff.kernels.taylor_lanes import LaneSweeper

LANES = 8


class Lanes:
    """Eight trajectories to one target; ``state`` and ``pars`` have a column for each."""

    def __init__(self, program: Program) -> None:
        self.program, order, n = program, program.order, program.tape.n
        self.state, self.pars = np.zeros((n, LANES)), np.zeros((program.tape.p, LANES))
        self._x = aligned(n * (order + 1) * LANES)
        self.tc = self._x.reshape(n, order + 1, LANES)
        self._sweeper = LaneSweeper(program.recurrences, order, self.state, self.pars, self._x, aligned)
        self.put(0.0, self.state, self.pars)

    def put(self, time: float, x: np.ndarray, pars: np.ndarray) -> None:
        """Set time, states and parameters, of which there may be more than occur; counts begin anew."""
        self.state[:], self.pars[:] = x, pars[: len(self.pars)]
        self._sweeper.take_parameters()
        self._clocks, self._counts = np.zeros((5, LANES)), np.zeros((2, LANES), np.int32)
        self._clocks[0], self._clocks[3] = time, np.inf

    @property
    def last_h(self) -> np.ndarray:
        return self._clocks[2]

    @property
    def shortest(self) -> np.ndarray:
        return self._clocks[3]

    @property
    def longest(self) -> np.ndarray:
        return self._clocks[4]

    @property
    def reached(self) -> np.ndarray:
        """Which lanes are at the target."""
        return self._counts[1] == 1

    def rates(self, lane: int, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """f(x) with the parameters of one lane at several states, one column each."""
        count = x.shape[1]
        pars, times = np.repeat(self.pars[:, lane : lane + 1], count, axis=1), np.broadcast_to(t, count).astype(float)
        out = np.empty((len(self.program.tape.outputs), count))
        self.program.reader.batch(np.ascontiguousarray(x), pars, times, out)
        return out[: len(x)]

    def advance(
        self,
        target: float,
        most: int,
        longest: float = np.inf,
        grid: np.ndarray | None = None,
        samples: np.ndarray | None = None,
    ) -> bool:
        """At most so many steps of each lane, sampled at the times of a grid that they pass, [time, state, lane];
        whether all have ended."""
        if grid is None or samples is None:
            grid, samples = np.zeros(0), np.zeros((0, len(self.state), LANES))
        return bool(self._sweeper.advance(self._clocks, self._counts, target, most, longest, grid, samples))
