"""Problems of continuation whose points are found by compiled loops, where their equations have nothing structural."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.continuation.dense import Implicit, Spot
from pfaff.continuation.problem import TURNING, Event, Stretch
from pfaff.threads import known_property

EQUILIBRIA, FOLDS, HOPFS = range(3)  # what compiled loops know
BOUND, TURN = -1, -2  # what is located by number beside tests: a value of the parameter, and where it turns
FOLD, BRANCHING, HOPF = range(3)  # tests on branches of equilibria
STRETCH = 32  # points that are walked at once: Ctrl-C is heard between them


class Regular(Implicit):
    """Equilibria, with or without one more equation; of no ``kind`` are those that compiled loops do not know."""

    equations: RestEquations
    kind: int | None
    walks = True  # whether nothing but its tests says what happens
    numbers: ClassVar[Mapping[str, int]] = {}  # of tests in compiled loops
    located_by_number: ClassVar[Sequence[str]] = ()  # those that are as sharp there

    @property
    def borders(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows b and c of what is bordered."""
        none = np.zeros((0, self.equations.n))
        return none, none

    @known_property
    def loops(self) -> tuple[Any, ...] | None:
        """The equations as compiled loops take them; none where they have a structure or no pointer, or where the loops
        were not compiled ahead."""
        s = self.equations
        pointer = None if self.kind is None or s.structural else s.pointer
        if pointer is None:
            return None
        from pfaff.bifurcation.equilibria.addresses import lapack
        from pfaff.bifurcation.equilibria.branch_loops import ready

        if not ready():
            return None
        return self.kind, pointer.address, lapack(), pointer.tape, s.case.numbers, s.free_places, *self.borders, s.sizes

    def __getstate__(self) -> dict[str, Any]:
        """Without addresses, which are this process's own."""
        return {name: value for name, value in vars(self).items() if name != "loops"}

    def solved(self, guess: np.ndarray, row: np.ndarray) -> np.ndarray:
        if self.loops is not None:
            from pfaff.bifurcation.equilibria.branch_loops import placed

            z, _, _, ended, _ = placed(*self.loops, guess, row, row, True)
            if not ended:
                return z
        return super().solved(guess, row)  # which says why there is none

    def spot(self, z: np.ndarray, towards: np.ndarray) -> Spot:
        if self.loops is not None:
            from pfaff.bifurcation.equilibria.branch_loops import placed

            _, tangent, J, ended, _ = placed(*self.loops, z, towards, towards, False)
            if not ended:
                facts = self.inspect(z, tangent)
                facts.tell(jacobian=J)
                return Spot(z, tangent, self.equations.sizes, facts)
        return super().spot(z, towards)  # which says why there is none

    def at_step(self, units: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
        """The problem with other units and borders."""
        raise NotImplementedError

    def walked(
        self, at: Spot, length: float, longest: float, bounds: tuple[float, float], home: Spot
    ) -> Stretch[Spot] | None:
        if self.loops is None or not self.walks:
            return None
        from pfaff.bifurcation.equilibria.branch_loops import walk

        s, bend = self.equations, np.zeros(len(at.z)) if at.bend is None else at.bend
        origin = s.origin if isfinite(s.reach) else np.nan
        rows = len(self.borders[0])
        found = np.empty((STRETCH, 4 + 2 * rows, len(at.z)))
        spectra = np.empty((2, 2, s.n), dtype=complex)
        many, length, turn, changed = walk(
            *self.loops, np.array([at.z, at.tangent, at.units, bend]), length, longest, np.array(bounds),
            np.array([home.z, home.units]), origin, found, *spectra,
        )  # fmt: skip
        points, problem, event = [], self, turn == turn
        for row in found[: many + event]:
            z, tangent, units, bend = row[:4]
            problem = problem.at_step(units, row[4 : 4 + rows, : s.n], row[4 + rows :, : s.n])
            points.append((problem, Spot(z, tangent, units, problem.inspect(z, tangent), bend)))
        if not event:
            return Stretch(points, length, many == STRETCH)
        (_, ahead), before = points.pop(), points[-1][1] if many else at
        for spot, values, slopes in zip((before, ahead), *spectra, strict=True):
            spot.facts.tell(eigenvalues=values, slopes=slopes)
        if changed >= 0:
            ahead.facts.tell(suspects=[name for name, k in self.numbers.items() if changed >> k & 1])
        return Stretch(points, length, False, (ahead, turn))

    def events(self, engine: Any, a: Spot, b: Spot, length: float, last: bool) -> list[Event]:
        names = b.facts.suspects
        found: list[Event] = [] if names is None and self.is_quiet(a, b) else engine.events(a, b, names)
        return found

    def is_quiet(self, a: Spot, b: Spot) -> bool:
        if self.loops is None or not self.walks:
            return False
        from pfaff.bifurcation.equilibria.branch_loops import quiet

        return bool(quiet(*self.loops, *(np.array([each.z, each.tangent, each.units]) for each in (a, b))))

    def zero(self, name: str, a: Spot, b: Spot) -> tuple[float, Spot] | None:
        if name in ("fold", TURNING):
            return self._located(TURN, 0.0, a, b)
        return self._located(self.numbers[name], 0.0, a, b) if name in self.located_by_number else None

    def landed(self, a: Spot, b: Spot, bound: float) -> Spot | None:
        found = self._located(BOUND, bound, a, b)
        return None if found is None else self.on_bound(found[1], bound)

    def _located(self, which: int, bound: float, a: Spot, b: Spot) -> tuple[float, Spot] | None:
        """Where on the chord of two points a test of a number vanishes."""
        if self.loops is None:
            return None
        from pfaff.bifurcation.equilibria.branch_loops import locate

        found, ends = np.empty((2, len(a.z))), (np.array([each.z, each.tangent, each.units]) for each in (a, b))
        place = locate(*self.loops, which, bound, *ends, found, self.place)
        if place != place:
            return None
        return place, Spot(found[0], found[1], self.equations.sizes, self.inspect(*found))
