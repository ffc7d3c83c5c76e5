"""Orbits of undamped systems: multipliers lie on the unit circle in pairs, and leave it on the real axis.

Rounding puts them inside or outside; neither tori nor losses of stability follow from that.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.kernels.periodic_schur import test_functions
from pfaff.kernels.step_rules import TRUSTED

OUTSIDE = 1e-5  # distance of multipliers from the unit circle that is rounding
PRESERVED = 1e-8  # relative change of a volume of states in a period that is rounding


class Neutral(Continuation):
    """The branch through an orbit on which only real multipliers count as unstable."""

    def _tests(
        self, cycle: Cycle, tangent: Cycle, values: np.ndarray, determinant: float
    ) -> tuple[int, dict[str, float]]:
        _, tests = super()._tests(cycle, tangent, values, determinant)
        far, *_ = test_functions(values, self.ones)
        real = values[np.abs(values.imag) < OUTSIDE]
        unstable = int((np.abs(real) > 1 + max(OUTSIDE, 2 * far)).sum())
        return unstable, tests | {"torus": 1.0 if far < TRUSTED else np.nan}


class NeutralProblem(OrbitProblem):
    """The problem of orbits without damping."""

    @property
    def kind(self) -> type[Continuation]:
        return Neutral


def neutral(point: OrbitPoint, to: float) -> OrbitPoint:
    """The orbit, marked as undamped if volumes of its states are preserved, here and up to another load."""
    p, cycle = point.problem, point.point.cycle
    for value in (point.value, (point.value + to) / 2, to):
        if not np.abs(p.divergence(cycle, value)).max() * point.period < PRESERVED:
            return point
    problem = NeutralProblem(p.case, p.flow, p.load, p.accuracy, p.unfolding, p.held, p.mirror)
    return OrbitPoint(problem, problem.continuation(1.0).adopted(point.point))
