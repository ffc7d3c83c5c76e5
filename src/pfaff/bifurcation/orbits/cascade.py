"""Cascades of period doublings: each branch of twice the period is followed to where it doubles again.

The distances between successive doublings shrink by a factor that tends to 4.669… (Feigenbaum, J. Stat. Phys. 19
(1978)), so that they have a limit, beyond which chaos begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.continuation.endings import Reason
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, NoBifurcationError
from pfaff.statement.told import shown_in_notebooks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch

FEIGENBAUM = 4.669201609102990671853
REACH = 0.7  # range in which the next doubling is looked for, relative to the last distance between doublings


@shown_in_notebooks
@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """Period doublings, each on the branch that was born at the one before; ``ended`` says why there are no more."""

    doublings: tuple[Special, ...]
    branches: tuple[OrbitBranch, ...]
    ended: str

    def __len__(self) -> int:
        return len(self.doublings)

    @property
    def load(self) -> str:
        return self.doublings[0].load

    @property
    def values(self) -> np.ndarray:
        """Loads at the doublings."""
        return np.array([each.value for each in self.doublings])

    @property
    def periods(self) -> np.ndarray:
        """Periods of the orbits that double."""
        return np.array([each.period for each in self.doublings])

    @property
    def ratios(self) -> np.ndarray:
        """Ratios of successive distances between doublings, which tend to Feigenbaum's 4.669…"""
        apart = np.diff(self.values)
        return apart[:-1] / apart[1:]

    @property
    def limit(self) -> float:
        """Where the doublings accumulate, by the last two and the universal ratio; NaN if there is only one."""
        if len(self) < 2:
            return float("nan")
        first, last = self.values[-2:]
        return float(last + (last - first) / (FEIGENBAUM - 1))

    @property
    def status(self) -> str:
        many = f"{len(self)} period doubling{'s' if len(self) > 1 else ''} from {self.load} = {self.values[0]:.8g}"
        ratio = f", the last distances in the ratio {self.ratios[-1]:.4g}" if len(self) > 2 else ""
        limit = f", towards {self.limit:.8g}" if len(self) > 1 else ""
        return f"{many}{limit}{ratio}; {self.ended}"

    def __repr__(self) -> str:
        return f"<{self.status}>"

    def plot(self) -> Figure:
        """Amplitudes along the branches, and how the doublings approach their limit."""
        return doors.draw.draw_cascade(self)


def cascade(branch: OrbitBranch, to: float, doublings: int) -> Cascade:
    """The cascade from the first period doubling of a branch on: as many as were asked for, or are found up to a
    load."""
    located = [each for each in branch.of_kind(Kind.PERIOD_DOUBLING) if not each.note]
    if not located:
        raise NoBifurcationError(f"no period doubling is on this branch: {branch.status}")
    found, branches, ended = located[:1], [branch], "as many as were asked for"
    while len(found) < doublings:
        last = found[-1]
        ahead = REACH * (last.value - found[-2].value) if len(found) > 1 else to - last.value
        try:
            doubled = last.switch(to=last.value + ahead)
        except ConvergenceError as why:
            ended = str(why)
            break
        following = next((each for each in doubled.of_kind(Kind.PERIOD_DOUBLING) if not each.note), None)
        branches.append(doubled)
        if doubled.ended.reason is Reason.INTERRUPTED:
            ended = str(doubled.ended)
            break
        if following is None:
            ended = f"the orbits of period {doubled[-1].period:.6g} do not double again: {doubled.ended}"
            break
        found.append(following)
    return Cascade(tuple(found), tuple(branches), ended)
