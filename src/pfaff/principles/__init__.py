"""Equations of motion, by the principles of mechanics.

Read ``principle`` (what all have in common) and ``lagrange``, then ``appell``, ``hamilton``, ``dalembert`` and
``newton``; ``kinematics`` gives the velocities that constraints allow, ``appell_flow``, ``hamilton_flow`` and
``particle_flows`` compile the same equations in their own states (``formulation``). ``comparison`` sets them side by
side at ``random_states``, relative to their ``sizes``; ``typeset`` prints them. Nothing here solves for a motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pfaff.principles.appell import AppellEquations
from pfaff.principles.dalembert import DAlembertEquations
from pfaff.principles.hamilton import HamiltonEquations
from pfaff.principles.lagrange import LagrangeEquations
from pfaff.principles.newton import NewtonEquations
from pfaff.principles.principle import Principle

if TYPE_CHECKING:
    from pfaff.statement import System

PRINCIPLES: dict[str, type[Principle]] = {
    each.name: each
    for each in (LagrangeEquations, AppellEquations, HamiltonEquations, DAlembertEquations, NewtonEquations)
}


def derive(system: System, principle: str, **choices: Any) -> Principle:
    return PRINCIPLES[principle](system, **choices)


__all__ = [
    "PRINCIPLES",
    "AppellEquations",
    "DAlembertEquations",
    "HamiltonEquations",
    "LagrangeEquations",
    "NewtonEquations",
    "Principle",
    "derive",
]
