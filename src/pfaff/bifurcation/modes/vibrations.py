"""One free vibration of a normal mode, and how far a mode is to be followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pfaff import doors
from pfaff.bifurcation.modes.undamped import UNFOLDING, Vibration
from pfaff.bifurcation.orbits.neutral import OUTSIDE
from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.checks.check import Check, doubted
from pfaff.checks.multipliers import energy, pairs
from pfaff.continuation.course import STEP
from pfaff.continuation.measuring import checked_events
from pfaff.errors import NoBifurcationError, ParameterError
from pfaff.statement.called import beside
from pfaff.statement.told import answering
from pfaff.statement.values import MOST, heard, number_within, one_of, spelt, whole_number

if TYPE_CHECKING:
    from pfaff.bifurcation.modes.families import NormalMode

OWN = ("energy", "frequency")  # what expressions of a vibration may contain beside what those of an orbit may
MODE_POINTS = 300  # of a mode, at most, unless more are asked for


@answering
class Vibrating(OrbitPoint):
    """What vibrations and special points of a mode have in common; no parameter of the system varies along it."""

    small: Vibration

    @property
    def frequency(self) -> float:
        return 2 * np.pi / self.period

    @property
    def energy(self) -> float:
        both = np.column_stack([self.point.cycle.x[0], self.small.x])
        here, rest = self.small.energy(np.ascontiguousarray(both))
        return float(here - rest)

    @property
    def stable(self) -> bool:
        """Whether all multipliers lie on the unit circle; where one may be at 1 or −1 that is not resolved."""
        values = self.point.multipliers
        return super().stable and bool(np.abs(values[np.abs(values.imag) > OUTSIDE]).max(initial=0.0) < 1 + OUTSIDE)

    def _verify(self) -> Iterator[Check]:
        """The energy along the vibration, the volumes that it preserves, and multipliers in pairs."""
        along = self.small.energy(np.ascontiguousarray(self.point.cycle.x.T))
        yield energy(along, float(self.small.energy(self.small.x)))
        yield from super()._verify()
        system = self.small.case.system
        if self.resolved and not (system.nonholonomic_constraints or system.forces):
            yield pairs(self.multipliers)

    @property
    def _told(self) -> str:
        quality = "stable" if self.stable else "unstable" if self.resolved else "stability not resolved"
        return f"vibration of frequency {self.frequency:.10g}, energy {self.energy:.8g}: {quality}"

    @property
    def largest(self) -> float:
        """The largest amplitude of a coordinate."""
        names = self.small.case.system.coordinate_names
        return max(amplitude for name, amplitude in self.amplitude.items() if name in names)

    @property
    def measurable(self) -> tuple[str, ...]:
        """Names as for orbits, with ``energy`` and ``frequency``."""
        others = tuple(name for name in super().measurable if name != UNFOLDING)
        return (*beside(OWN, others), *others)

    def measured(self, name: str) -> float:
        """The value that a name stands for in expressions."""
        one_of(self.measurable, name, "no expression contains")
        own = dict(zip(self.measurable, OWN, strict=False))  # they come first
        return float(getattr(self, own[name])) if name in own else super().measured(name)

    def orbits(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: free vibrations are a family at one value of every parameter."""
        raise ParameterError(
            "free vibrations are no branch in a parameter: follow them by case.normal_mode(number, energy=…), and "
            "damped or forced ones by case.response(…)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class FreeVibration(Vibrating):
    """A vibration of a mode; its ``energy`` is above that of the equilibrium."""

    small: Vibration


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class SpecialVibration(Vibrating, Special):
    """A special point of the mode with this ``number``: where others branch off, or an event."""

    small: Vibration = field(kw_only=True)
    number: int = field(kw_only=True)

    @property
    def frequency(self) -> float:
        return self._vibration.frequency

    @property
    def energy(self) -> float:
        """Above that of the equilibrium."""
        return self._vibration.energy

    @property
    def _vibration(self) -> FreeVibration:
        return FreeVibration(self.problem, self.point, self.small)

    @property
    def _where(self) -> str:
        return f"{self.kind} at frequency {self.frequency:.10g}, energy {self.energy:.8g}"

    @property
    def _told(self) -> str:
        return self._where

    @property
    def status(self) -> str:
        return doubted(self._told, self.checks)

    def switch(  # type: ignore[override]
        self,
        *,
        energy: float | None = None,
        frequency: float | None = None,
        amplitude: float | None = None,
        points: int = MODE_POINTS,
        step: float = STEP,
        progress: Callable[[FreeVibration], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> NormalMode:
        """The vibrations that branch off here, until a measure reaches its limit, as in ``case.normal_mode``."""
        limits = {"energy": energy, "frequency": frequency, "amplitude": amplitude}
        return doors.families.branched_off(self, Reach.asked(limits, points, step, progress, events))

    def curve(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: at other values of a parameter the mode has to be followed anew."""
        raise NoBifurcationError(
            f"the {self.kind} of a normal mode has no curve in parameters: follow the mode at other values of them by "
            "case.at(…).normal_mode(…)"
        )


@dataclass(frozen=True)
class Reach:
    """How a mode is followed: until a measure of it reaches its limit, or there are enough points."""

    limits: dict[str, float]
    points: int = MODE_POINTS
    step: float = STEP
    progress: Callable[[FreeVibration], Any] | None = None
    events: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def asked(
        cls, limits: Mapping[str, Any], points: Any, step: Any, progress: Any = None, events: Any = None
    ) -> Reach:
        positive = "give a positive number, at which the mode ends"
        given = {
            name: number_within(name, value, lambda x: x > 0, positive)
            for name, value in limits.items()
            if value is not None
        }
        if not given:
            raise ParameterError("how far? Give energy=…, frequency=… or amplitude=…, at which the mode ends")
        return cls(
            given,
            whole_number("points", points, 2, MOST, "ask for fewer"),
            number_within("step", step, lambda x: x > 0, "give a positive number"),
            heard("progress", progress, "print", None),
            checked_events(events),
        )
