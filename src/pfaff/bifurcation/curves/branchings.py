"""Branch points of equilibria in two parameters: where symmetry, or a state that is always at rest, preserves them.

At a branch point the left null vector w of the Jacobian F_y is orthogonal to F_λ as well, so that F = 0 leaves one
equation too many. It is replaced: F must vanish except along w, and ⟨w, F_λ⟩ must vanish instead. The remaining
component of F along w unfolds the branch point (Moore 1980; Govaerts 2000, Sec. 6.6). It stays zero where the symmetry
is preserved; elsewhere branches separate and there is no curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pfaff.bifurcation.curves.singular import FoldFacts, Folds
from pfaff.bifurcation.equilibria.rest_equations import PROBE
from pfaff.bifurcation.equilibria.zero_forms import cusp_coefficient, fold_coefficient
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import Asked, Event
from pfaff.threads import known_property

APART = 1e-7  # remaining component of F, relative to its terms, where branches have separated
AHEAD = 1e-3  # distance, relative to the range, at which it is checked whether branch points persist
PITCHFORK = 1e-7  # quadratic coefficient, relative to its terms, that vanishes


@dataclass(frozen=True, eq=False)
class BranchFacts(FoldFacts):
    """What is known about a branch point; for a ``pitchfork`` the coefficient is that of third order."""

    pitchfork: bool = False

    @known_property
    def coefficient(self) -> float:
        s = self.problem.equations
        if not self.pitchfork:
            return super().coefficient
        return cusp_coefficient(self.null, s.form(self.z)) if not s.k else np.nan


class BranchPoints(Folds):
    """F = 0 except along the border b, ⟨w, F_λ⟩ = 0, and the bordered Jacobian singular."""

    kind = None
    words = "branch point", "a", "branch points"

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (F, J), b = self.equations.evaluated(z), self._along
        g, singular = self.singularity(z, J)
        touching = np.array([change / size for change, size in zip(self._differences(z), self.units(z), strict=True)])
        whole = F - b * (b @ F) + b * self._touching(z)
        return np.append(whole, g), np.vstack([J - np.outer(b, b @ J) + np.outer(b, touching), singular])

    @property
    def _along(self) -> np.ndarray:
        return self.b / np.linalg.norm(self.b)

    def _touching(self, z: np.ndarray) -> float:
        """⟨w, F_λ⟩ for the first parameter, over its range."""
        s, J = self.equations, self.equations.jacobian(z)
        return float(self._bordered(J[:, : len(J)])[1] @ J[:, s.n + s.k]) * s.sizes[-2]

    def _differences(self, z: np.ndarray) -> Iterator[float]:
        for direction in np.diag(self.equations.sizes):
            ahead, behind = self._touching(z + PROBE * direction), self._touching(z - PROBE * direction)
            yield (ahead - behind) / (2 * PROBE)

    def persists(self, at: Spot) -> bool:
        """Whether there is a branch point a little way ahead as well."""
        try:
            self.point(self.corrected(self.moved(at, AHEAD), at), at)
        except Refused:
            return False
        return True

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> BranchFacts:
        left = abs(float(self._along @ self.equations.residual(z)))
        if left > APART * float(self.equations.row_sizes(z).max()):
            raise Refused("the branches come apart: no symmetry keeps their branch point")
        null, form = self.null(z), self.equations.form(z)
        quadratic = fold_coefficient(null, form)
        size = float(np.linalg.norm(form(null.q, null.q)) / abs(null.p @ null.q or 1.0))
        return BranchFacts(self, z, abs(quadratic) <= PITCHFORK * size)

    def tests(self, point: Spot) -> Asked:
        facts, of_folds = point.facts, super().tests(point)
        others: dict[str, Any] = {name: partial(of_folds.get, name) for name in of_folds if name != Kind.CUSP}
        name = "degenerate pitchfork" if facts.pitchfork else "pitchfork"
        return Asked(others | ({name: lambda: facts.coefficient} if np.isfinite(facts.coefficient) else {}))

    def event(self, name: str, point: Spot) -> Event | None:
        if name in (Kind.PITCHFORK, Kind.DEGENERATE_PITCHFORK):
            return Event(name, point, detail={})
        return super().event(name, point)
