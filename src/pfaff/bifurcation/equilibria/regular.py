"""Problems of continuation whose points kernels find, unless there are structural zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import copysign
from typing import Any, ClassVar

import numpy as np

from pfaff.algebra.structural_zeros import Deflation
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.continuation.dense import Implicit, Spot
from pfaff.continuation.kinds import Kind
from pfaff.continuation.problem import TURNING, Event, Stretch
from pfaff.continuation.walked_points import Walked
from pfaff.kernels.branch_steps import LOCATED, locate, walk
from pfaff.kernels.branch_tests import quiet, quiet_about
from pfaff.kernels.corrector import KINDS, Curve, placed
from pfaff.kernels.spectra import first_spectrum
from pfaff.threads import known_property

EQUILIBRIA, FOLDS, HOPFS = KINDS
BOUND, TURN, FOLD, BRANCHING, HOPF = LOCATED
STEEP = 0.1  # change of the parameter along a unit tangent, in its units, beyond which a single branch starts
TANGENTIAL = 1e-10  # residual of J t, relative to its terms
STRETCH, SPECIALS = 128, 8  # points, and special points, walked at once: Ctrl-C is heard between them


class Regular(Implicit):
    """Equilibria, with or without one more equation; ``kind`` is None if kernels do not know it."""

    equations: RestEquations
    kind: int | None
    place = 1e-12  # closer than this, tests are rounding
    walks = True  # whether its tests alone decide what happens
    numbers: ClassVar[Mapping[str, int]] = {}  # numbers of tests in kernels
    located_by_number: ClassVar[Sequence[str]] = ()  # tests that are as sharp in kernels
    passable: ClassVar[Sequence[str]] = ()  # tests beyond whose zeros kernels may go on

    @property
    def borders(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows b and c of the border."""
        none = np.zeros((0, self.equations.n))
        return none, none

    @known_property
    def kernel(self) -> Curve | None:
        """The problem as kernels take it; None if there are structural zeros, or equations are no single tape."""
        s = self.equations
        reader = None if self.kind is None or s.structural else s.reader
        if reader is None:
            return None
        from pfaff.bifurcation.equilibria.branch_rules import rules

        return Curve(self.kind, reader, s.case.numbers, s.free_places, *self.borders, s.sizes, rules())

    def __getstate__(self) -> dict[str, Any]:
        """The state without the kernel's room."""
        return {name: value for name, value in vars(self).items() if name != "kernel"}

    def solved(self, guess: np.ndarray, row: np.ndarray) -> np.ndarray:
        if self.kernel is not None:
            z, _, _, ended, _ = placed(self.kernel, guess, row, row, True)
            if not ended:
                return z
        return super().solved(guess, row)  # which raises with the reason

    def spot(self, z: np.ndarray, towards: np.ndarray) -> Spot:
        if self.kernel is not None:
            _, tangent, J, ended, _ = placed(self.kernel, z, towards, towards, False)
            if not ended:
                facts = self.inspect(z, tangent)
                facts.tell(jacobian=J)
                return Spot(z, tangent, self.equations.sizes, facts)
        return super().spot(z, towards)  # which raises with the reason

    def start(self, z: np.ndarray, ahead: float) -> Spot:
        if self.kernel is not None:
            forward, units = np.zeros(len(z)), self.equations.sizes
            forward[-1] = copysign(units[-1], ahead)
            _, t, J, ended, _ = placed(self.kernel, z, forward, forward, False)
            tangential = not ended and (np.abs(J @ t) <= TANGENTIAL * (np.abs(J) @ np.abs(t))).all()
            if tangential and abs(t[-1]) > STEEP * units[-1]:
                facts = self.inspect(z, t)
                facts.tell(jacobian=J)
                return Spot(z, t, units, facts)
        return super().start(z, ahead)  # where the parameter hardly changes, branches may cross

    def spectrum_at(self, z: np.ndarray) -> np.ndarray:
        """All eigenvalues without structural zeros, where nothing else is known yet."""
        if self.kernel is not None:
            values: np.ndarray = first_spectrum(self.kernel, z)
            return values
        J, zeros = self.equations.state_jacobian(z), self.equations.zeros
        return np.linalg.eigvals(Deflation.about(J, zeros)(J) if zeros else J)

    @property
    def passed(self) -> int:
        """Bit mask of the tests beyond whose zeros kernels may go on."""
        return sum(1 << self.numbers[name] for name in self.passable)

    def at_step(self, units: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
        """The problem with other units and borders."""
        raise NotImplementedError

    def walked(
        self, at: Spot, length: float, longest: float, bounds: tuple[float, float], home: Spot
    ) -> Stretch[Spot] | None:
        if self.kernel is None or not self.walks:
            return None
        s, bend = self.equations, np.zeros(len(at.z)) if at.bend is None else at.bend
        found = np.empty((STRETCH, 4 + 2 * len(self.borders[0]), len(at.z)))
        special, marks = np.empty((SPECIALS, 2, len(at.z))), np.empty((SPECIALS, 3), dtype=np.int64)
        spectra = np.empty((2, 2 + SPECIALS, s.n), dtype=complex)
        many, marked, length, turn, changed, side = walk(
            self.kernel, np.array([at.z, at.tangent, at.units, bend]), longest, bounds, np.array([home.z, home.units]),
            s.origins, self.passed, self.place, found, special, marks, spectra, length,
        )  # fmt: skip
        points = Walked(many, partial(self._made, found))
        events = []
        for k, (test, before, some) in enumerate(marks[:marked].tolist()):
            problem = points.made(before - 1)[0] if before else self
            event = problem._vanishing(test, *special[k], *spectra[:, 2 + k, :some])
            events += [(before, problem, event)] if event else []
        if side >= 0:
            return Stretch(points, length, False, events, reached=side)
        if turn != turn:
            return Stretch(points, length, many == STRETCH, events)
        before, ahead = points.made(many - 1)[1] if many else at, self._made(found, many)[1]
        for spot, values, slopes in zip((before, ahead), *spectra[:, :2], strict=True):
            spot.facts.tell(eigenvalues=values, slopes=slopes)
        if changed >= 0:
            ahead.facts.tell(suspects=[name for name, k in self.numbers.items() if changed >> k & 1])
        return Stretch(points, length, False, events, (ahead, turn))

    def _made(self, found: np.ndarray, k: int) -> tuple[Any, Spot]:
        """A point from the rows that a kernel filled, with its problem."""
        (z, tangent, units, bend), borders, n = found[k, :4], found[k, 4:], self.equations.n
        rows = len(borders) // 2
        problem = self.at_step(units, borders[:rows, :n], borders[rows:, :n])
        return problem, Spot(z, tangent, units, problem.inspect(z, tangent), bend)

    def _vanishing(
        self, test: int, z: np.ndarray, tangent: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> Event | None:
        """The special point that a kernel found where a test vanishes."""
        spot = Spot(z, tangent, self.equations.sizes, self.inspect(z, tangent))
        name = next(name for name, number in self.numbers.items() if number == test)
        if name == Kind.HOPF:
            spot.facts.tell(watched=(values, slopes))
        spot.facts.tell(turns=name == Kind.FOLD)
        return self.event(name, spot)

    def events(self, engine: Any, a: Spot, b: Spot, length: float, last: bool) -> list[Event]:
        names = b.facts.suspects
        found: list[Event] = [] if names is None and self.is_quiet(a, b) else engine.events(a, b, names)
        return found

    def is_quiet(self, a: Spot, b: Spot) -> bool:
        if self.kernel is None or not self.walks:
            return False
        return bool(quiet(self.kernel, *(np.array([each.z, each.tangent, each.units]) for each in (a, b))))

    def is_quiet_about(self, at: Spot, length: float) -> bool:
        if self.kernel is None or not self.walks or at.bend is not None:
            return False
        return bool(quiet_about(self.kernel, np.array([at.z, at.tangent, at.units]), length))

    def zero(self, name: str, a: Spot, b: Spot) -> tuple[float, Spot] | None:
        if name in (Kind.FOLD, TURNING):
            return self._located(TURN, 0.0, a, b)
        return self._located(self.numbers[name], 0.0, a, b) if name in self.located_by_number else None

    def landed(self, a: Spot, b: Spot, bound: float) -> Spot | None:
        found = self._located(BOUND, bound, a, b)
        return None if found is None else self.on_bound(found[1], bound)

    def _located(self, which: int, bound: float, a: Spot, b: Spot) -> tuple[float, Spot] | None:
        """Where on the chord of two points the test with this number vanishes."""
        if self.kernel is None:
            return None
        first, last = (np.array([each.z, each.tangent, each.units]) for each in (a, b))
        found = np.empty_like(first[:2])
        place = locate(self.kernel, which, bound, first, last, found, self.place)
        if place != place:
            return None
        return place, Spot(found[0], found[1], self.equations.sizes, self.inspect(*found))
