"""Eigenvalues and modes of small motions, and what they say of stability."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.algebra.tolerances import turning
from pfaff.checks import Check, Checked, doubted
from pfaff.errors import number_of
from pfaff.rest.fed_energy import fed_along
from pfaff.statement.told import told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.rest.small_motions import Linearisation
    from pfaff.rest.steady_motions import SteadyMotion


@told
@dataclass(frozen=True)
class Spectrum(Checked):
    """Eigenvalues of small motions, the structural zeros kept apart.

    ``vectors`` holds, column by column, the coordinates' part of each mode (all states of a plain ODE);
    ``reactions`` the amplitudes of the reactions with it. ``zeros`` counts the structural zeros by their cause,
    ``rounding`` is the real part up to which each eigenvalue may lie on the imaginary axis.
    """

    values: np.ndarray
    vectors: np.ndarray
    reactions: np.ndarray
    zeros: dict[str, int]
    linearisation: Linearisation | None  # None for a plain ODE
    rounding: np.ndarray
    motion: SteadyMotion | None = field(default=None, repr=False, compare=False)  # what it belongs to, if at speed

    @property
    def structural_zeros(self) -> int:
        return sum(self.zeros.values())

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue lies to the right of the imaginary axis, beyond rounding."""
        return not (self.values.real > self.rounding).any()

    @property
    def status(self) -> str:
        if self.stable:
            verdict = "stable"
        else:
            growing = self.values[self.values.real > self.rounding]
            oscillating, straight = turning(growing).sum() // 2, (~turning(growing)).sum()
            verdict = f"unstable: {growing_modes(oscillating, straight)}{self._fed}"
        causes = "; ".join(f"{count} from {cause}" for cause, count in self.zeros.items())
        zeros = number_of(self.structural_zeros, "structural zero")
        return doubted(verdict + (f" ({zeros} set apart: {causes})" if causes else ""), self.checks)

    def _verify(self) -> Iterable[Check]:
        if self.motion is not None:
            return doors.verified_rests.of_steady(self.motion, self.values)
        return (
            [] if self.linearisation is None else doors.verified_rests.of_linearisation(self.linearisation, self.values)
        )

    @property
    def _fed(self) -> str:
        """A word on dissipation that feeds energy in."""
        along = "" if self.linearisation is None else fed_along(self.linearisation)
        return f", fed by the dissipation, which is negative along {along}_dot" if along else ""

    def plot(self) -> Figure:
        return doors.draw.draw_spectrum(self)


def growing_modes(oscillating: int, straight: int) -> str:
    """How many modes grow, in words."""
    told = ((oscillating, "growing oscillation"), (straight, "divergent mode"))
    return " and ".join(number_of(count, what) for count, what in told if count)
