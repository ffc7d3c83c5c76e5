"""The first orbit of a branch, beside the Hopf point at which it is born."""

from __future__ import annotations

from dataclasses import dataclass

from pfaff.bifurcation.orbits.orbits import OrbitPoint


@dataclass(frozen=True, eq=False, repr=False)
class Newborn(OrbitPoint):
    """The first orbit of the branch that is born at a Hopf point, at this value of the load.

    ``disturbing`` is the change of the load that changes the critical eigenvalue there by its own size. About a
    ``centre`` orbits are a family along which the load does not change.
    """

    born: float
    disturbing: float
    centre: bool

    @property
    def natural(self) -> float:
        return self.disturbing
