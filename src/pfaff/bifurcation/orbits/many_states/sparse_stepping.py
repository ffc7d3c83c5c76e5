"""Branches of orbits in very many states, by their leading multipliers.

All multipliers that are not well inside the unit circle are known, and tell what happens on a branch: where another one
crosses, one of them passes 1 and the parameter does not turn.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.many_states.sparse_chain import leading_multipliers
from pfaff.bifurcation.orbits.solutions import Solution
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.kernels.step_rules import TRUSTED


class SparseContinuation(Continuation):
    """The branch through an orbit in very many states, by its leading multipliers."""

    def point(self, solution: Solution, towards: Cycle | None = None, basis: np.ndarray | None = None) -> Point:
        cycle, tangent = solution.cycle, solution.tangent
        metric = self.measure(cycle, self.scale(cycle.value))
        metric.normalise(tangent, tangent if towards is None else towards)
        values, basis = leading_multipliers(solution.G, cycle, metric, basis)  # type: ignore[arg-type]
        error = self.collocation.error(solution, metric)
        determinant = self._determinant(cycle, tangent, values)
        unstable, tests = self._tests(cycle, tangent, values, determinant)
        return Point(
            cycle, tangent, values, determinant, error, solution.residual, solution.steps, solution.margin, metric,
            basis, unstable, tests,
        )  # fmt: skip

    def _determinant(self, cycle: Cycle, tangent: Cycle, values: np.ndarray) -> float:
        """Π(1 − μ) without the multiplier of the phase, over the slope of the parameter: like the determinant of all
        equations, it keeps its sign where the branch turns, and changes it where another one crosses."""
        slope = float(tangent.scalars[1]) / self.scale(cycle.value)
        others = values[np.argsort(np.abs(values - 1))[1:]]
        return float(np.prod((1 - others) / (1 + np.abs(others))).real) / (slope or np.finfo(float).tiny)

    def _tests(
        self, cycle: Cycle, tangent: Cycle, values: np.ndarray, determinant: float
    ) -> tuple[int, dict[str, float]]:
        """The tests as for few states; products do not depend on how many multipliers are known."""
        order = np.argsort(np.abs(values - 1))
        far, others = abs(values[order[0]] - 1), values[order[1:]]
        i, j = np.triu_indices(len(others), 1)
        pairs = others[i] * others[j]
        flip = float(np.prod((1 + others) / (1 + np.abs(others))).real)
        torus = float(np.prod((1 - pairs) / (1 + np.abs(pairs))).real)
        if not far < TRUSTED:
            flip = torus = np.nan
        turned = "symmetry breaking" if cycle.halved else "period doubling"
        slope = float(tangent.scalars[1]) / self.scale(cycle.value)
        unstable = int((np.abs(others) > 1).sum())
        return unstable, {"fold": slope, "branch point": determinant, turned: flip, "torus": torus}
