"""The equations of motion, by the principles of mechanics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfaff.equations.lagrange import LagrangeEquations

if TYPE_CHECKING:
    from pfaff.system import System

PRINCIPLES = {"lagrange": LagrangeEquations}


def derive(system: System, principle: str) -> LagrangeEquations:
    return PRINCIPLES[principle](system)


__all__ = ["PRINCIPLES", "LagrangeEquations", "derive"]
