"""Equations of motion, by the principles of mechanics.

Read ``principle`` (what all have in common) and ``lagrange``, then ``appell``, ``hamilton``, ``dalembert`` and
``newton``; ``kinematics`` gives the velocities that constraints allow, ``appell_flow``, ``hamilton_flow`` and
``particle_flows`` derive the same equations in their own states (``formulation``). ``comparison`` sets them side by
side at ``random_states``, relative to their ``sizes``; ``typeset`` prints them. Nothing here solves for a motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pfaff.errors import StatementError
from pfaff.principles.appell import AppellEquations
from pfaff.principles.dalembert import DAlembertEquations
from pfaff.principles.hamilton import HamiltonEquations
from pfaff.principles.lagrange import LagrangeEquations
from pfaff.principles.newton import NewtonEquations
from pfaff.principles.principle import Principle
from pfaff.statement.values import one_of

if TYPE_CHECKING:
    from pfaff.statement import System

PRINCIPLES: dict[str, type[Principle]] = {
    each.name: each
    for each in (LagrangeEquations, AppellEquations, HamiltonEquations, DAlembertEquations, NewtonEquations)
}


QUASI = "the same equations are Appell's in quasi-velocities, equations('appell', quasi_velocities={'u1': …})"
ALIKE = {  # other names of principles, without signs between their words
    **dict.fromkeys(("kane", "jourdain", "boltzmannhamel", "hamel", "maggi", "voronets", "chaplygin"), QUASI),
    **dict.fromkeys(
        ("gibbsappell", "gauss", "gibbs"), "write 'appell': Appell's equations minimise Gauss's constraint"
    ),
    **dict.fromkeys(("eulerlagrange", "lagrangian", "lagrangedalembert"), "write 'lagrange'"),
    **dict.fromkeys(("hamiltonian", "canonical"), "write 'hamilton'"),
    **dict.fromkeys(("virtualwork", "virtualpower"), "write 'dalembert', for particles, or 'lagrange', for energies"),
    **dict.fromkeys(
        ("newtoneuler", "euler", "newtonian"),
        "'newton' is for particles; of rigid bodies state the energies, for 'lagrange' or 'appell'",
    ),
}


def check_principle(principle: Any) -> None:
    """Refuse an unknown principle; one that goes by another name here is answered with that."""
    word = "".join(each for each in principle.lower() if each.isalpha()) if isinstance(principle, str) else ""
    if word in ALIKE or (word in PRINCIPLES and principle != word):
        raise StatementError(f"unknown principle {principle!r}: {ALIKE.get(word, f'write {word!r}')}")
    one_of(PRINCIPLES, principle, "unknown principle", StatementError)


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
