"""An orbit in time: its states over one period, sampled, and their extreme values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.algebra.cubics import parabola
from pfaff.bifurcation.orbits.forced import own_states
from pfaff.flow.flow import Flow
from pfaff.statement.told import answering
from pfaff.statement.values import one_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = 12  # samples of an interval, for extreme values and plots
EXTREMES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {  # functionals of a sampled function
    "max": lambda t, row: greatest(t, row),
    "min": lambda t, row: -greatest(t, -row),
    "amplitude": lambda t, row: (greatest(t, row) + greatest(t, -row)) / 2,
}


@answering
@dataclass(frozen=True, eq=False, repr=False)
class Orbit:
    """One period in time: ``t`` and states ``x`` (one column for each time).

    ``orbit["theta"]`` is one of them, or a velocity that the constraints determine or whose coordinate is ignorable.
    """

    t: np.ndarray
    x: np.ndarray
    flow: Flow
    numbers: np.ndarray
    title: str
    carried: np.ndarray  # rows of the oscillator that carries the phase of a forcing

    @property
    def states(self) -> tuple[str, ...]:
        return own_states(self.flow)

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the velocities of all coordinates; a plain ODE has none."""
        return tuple(f"{name}_dot" for name in getattr(self.flow.system, "coordinate_names", ()))

    def __getitem__(self, name: str) -> np.ndarray:
        one_of(dict.fromkeys(self.states + self.velocities), name, "no state")
        if name in self.states:
            return self.x[self.states.index(name)]
        return self.flow.velocities(np.vstack([self.x, self.carried]), self.numbers)[self.velocities.index(name)]

    @property
    def status(self) -> str:
        return self.title

    def __repr__(self) -> str:
        return f"<{self.title}; {', '.join(self.states)} at {len(self.t)} times>"

    def plot(self) -> Figure:
        return doors.draw.draw_orbit(self)


def greatest(t: np.ndarray, row: np.ndarray) -> float:
    """The greatest value of a sampled function, by the parabola through the largest sample and its neighbours."""
    k = int(np.clip(row.argmax(), 1, len(row) - 2))
    _, top, bend = parabola(*zip(t[k - 1 : k + 2], row[k - 1 : k + 2], strict=True))
    return float(top) if bend < 0 else float(row.max())
