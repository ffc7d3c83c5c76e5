"""Nonlinear normal modes: the families of periodic orbits that start at the small vibrations of a conservative system.

Lyapunov's centre theorem gives one for every frequency of which no other is a multiple. Each is followed by arclength,
in energy and frequency at once, through turning points of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pfaff import doors
from pfaff.bifurcation.modes.family import Vibrations
from pfaff.bifurcation.modes.first_vibrations import first_vibration
from pfaff.bifurcation.modes.undamped import Vibration, check_conserved, vibration
from pfaff.bifurcation.modes.vibrations import MODE_POINTS, FreeVibration, Reach, SpecialVibration
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.following import AT_EDGE, LEFT
from pfaff.bifurcation.orbits.orbit_checks import some_of
from pfaff.bifurcation.orbits.orbit_switching import accurate, switched
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.bifurcation.orbits.passage import Passage, leads_out
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.checks import Check, Checked, doubted
from pfaff.continuation.course import STEP
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.engine import Engine
from pfaff.continuation.gathering import interrupted
from pfaff.continuation.kinds import Kind, kind_of
from pfaff.continuation.measuring import warn_of_unknown, watches
from pfaff.continuation.problem import Event
from pfaff.continuation.trail import Branch
from pfaff.errors import ParameterError, number_of
from pfaff.statement.told import answering
from pfaff.statement.values import one_of, whole_number
from pfaff.threads import cached_property, part_of_a_whole

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Case

DROPPED = {"torus"}  # kinds that are meaningless where every orbit has neighbours
FAR = 0.1  # relative change of the frequency, away from the one asked for, at which a mode is given up
NOWHERE = re.compile(r" (near|beyond) -?[\d.]+(e[+-]\d+)?")  # values of the unfolding parameter, which is zero


@answering
@dataclass(frozen=True, eq=False, repr=False)
class NormalMode(Branch[FreeVibration, SpecialVibration], Checked):
    """Free vibrations of a system without damping and forcing, from the small ones of its n-th frequency on.

    ``frequencies``, ``energies`` and ``amplitudes`` (by state) run along it; ``special`` are the branch points,
    symmetry breakings and period doublings, at which other vibrations branch off, and folds, where the energy turns.
    """

    _elsewhere: ClassVar = {
        "save": "write its numbers by mode.to_xarray().to_netcdf(path), or its vibrations by pickle.dump(mode, file)",
        "extend": "ask again with another limit, case.normal_mode(number, energy=…)",
    }
    vibration: Vibration
    number: int
    points: tuple[FreeVibration, ...]
    special: tuple[SpecialVibration, ...]
    ended: Ending

    @property
    def of(self) -> str:
        return "vibrations"

    @property
    def values(self) -> np.ndarray:
        return self.frequencies

    @cached_property
    def frequencies(self) -> np.ndarray:
        return np.array([point.frequency for point in self.points])

    @cached_property
    def energies(self) -> np.ndarray:
        """Energies above that of the equilibrium."""
        return np.array([point.energy for point in self.points])

    @cached_property
    def amplitudes(self) -> dict[str, np.ndarray]:
        """Half of the range of each state."""
        rows = [point.amplitude for point in self.points]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _verify(self) -> Iterator[Check]:
        """What some of its vibrations verify, by the worst of them."""
        found = [check for each in some_of(self.points) for check in each.checks]
        for claim in dict.fromkeys(check.claim for check in found):
            same = [check for check in found if check.claim == claim]
            yield next((check for check in same if not check.passed), max(same, key=lambda check: check.measured))

    @property
    def status(self) -> str:
        return doubted(self._told, self.checks)

    @property
    def _told(self) -> str:
        first, last = self.frequencies[[0, -1]]
        return (
            f"normal mode {self.number} of {self.vibration.case.system.name}: {number_of(len(self), 'vibration')}, "
            f"frequency {first:.8g} … {last:.8g}, energy up to {self.energies.max():.6g}; {self.counted}; {self.ended}"
        )

    def __repr__(self) -> str:
        return f"<{self.status}>"

    def switch(
        self,
        special: SpecialVibration,
        *,
        energy: float | None = None,
        frequency: float | None = None,
        amplitude: float | None = None,
        points: int = MODE_POINTS,
        step: float = STEP,
        progress: Callable[[FreeVibration], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> NormalMode:
        """The vibrations that branch off at one of the special points, which ``special.switch`` follows as well."""
        if not any(special is each for each in self.special) or kind_of(special.kind)[0] is Kind.EVENT:
            raise ParameterError("special: give one of mode.special at which others branch off")
        limits = {"energy": energy, "frequency": frequency, "amplitude": amplitude}
        return branched_off(special, Reach.asked(limits, points, step, progress, events))

    def to_xarray(self) -> xarray.Dataset:
        """Frequency, energy and amplitudes by name along the dimension ``point``."""
        import xarray

        columns: dict[str, Any] = {
            "frequency": ("point", self.frequencies),
            "energy": ("point", self.energies),
            "stable": ("point", np.array([self.stable(point) for point in self], dtype=np.int8)),
            "resolved": ("point", np.array([point.resolved for point in self], dtype=np.int8)),
        }
        columns |= {f"amplitude_{name}": ("point", row) for name, row in self.amplitudes.items()}
        columns["special_frequency"] = ("special", np.array([2 * np.pi / each.period for each in self.special]))
        columns["special_kind"] = ("special", np.array([each.kind for each in self.special], dtype=str))
        return xarray.Dataset(columns, attrs={"status": self.status})

    @staticmethod
    def stable(point: OrbitPoint) -> bool:
        """Whether all multipliers of a vibration lie on the unit circle, and that is resolved."""
        return point.stable

    def plot(self, state: str | None = None) -> Figure:
        """Frequency against energy, and the amplitude of a state against frequency."""
        if state is not None:
            state = one_of(self.amplitudes, state, "no state")
        return doors.draw.draw_mode(self, state or next(iter(self.amplitudes)))


def normal_mode(case: Case, number: int, reach: Reach, accuracy: float, fixed: Mapping[str, float]) -> NormalMode:
    """The n-th mode, by growing frequency of its small vibrations, until a measure of it reaches a limit."""
    small = vibration(case, fixed)
    whole_number("number", number, 1, len(small.frequencies), "ask for a lower mode")
    return _followed(small, number, reach, accurate(accuracy))


@part_of_a_whole()
def backbones(case: Case, between: tuple[float, float], amplitude: float) -> tuple[NormalMode, ...]:
    """Modes whose small vibrations have frequencies in or near a range, up to an amplitude."""
    small, found = vibration(case, {}), []
    for k, omega in enumerate(small.frequencies):
        if 0.5 * between[0] <= omega <= 1.5 * between[1]:
            reach = Reach({"amplitude": amplitude, "frequency": 1.5 * between[1]}, points=200)
            found.append(_followed(small, k + 1, reach, 1e-7))
    return tuple(found)


def branched_off(special: SpecialVibration, reach: Reach) -> NormalMode:
    """The vibrations that cross a mode at one of its special points."""
    first = FreeVibration(special.problem, switched(special, 1.0, 1).point, special.small)
    return _along(first, special.number, reach)


def _followed(small: Vibration, number: int, reach: Reach, accuracy: float) -> NormalMode:
    return _along(first_vibration(small, number, accuracy, reach), number, reach)


def _along(start: FreeVibration, number: int, reach: Reach) -> NormalMode:
    """The mode from a vibration along its tangent, also out of its chart; Ctrl-C keeps it."""
    leaves = leads_out(start.problem.flow)
    mode = NormalMode(start.small, number, *_gathered(start, number, reach, LEFT if leaves else AT_EDGE))
    return _out_of_its_chart(mode, reach) if leaves and mode.ended.reason is Reason.EDGE else mode


def _out_of_its_chart(mode: NormalMode, reach: Reach) -> NormalMode:
    """The mode continued in all velocities; in its chart up to its end, where that is not possible."""
    small, last, omega = mode.vibration, mode.points[-1], mode.vibration.frequencies[mode.number - 1]
    points, special = mode.points, mode.special
    try:
        passage = Passage(last.problem, last.point.cycle)
        x, shapes = passage.state(small.x, small.shapes)
        small = replace(small, flow=passage.flow, x=x, shapes=shapes)
        points = tuple(replace(passage.orbit(each, omega), small=small) for each in mode.points)
        special = tuple(replace(passage.orbit(each, omega), small=small) for each in mode.special)
    except Refused:
        small, points, special = mode.vibration, mode.points, mode.special
    except KeyboardInterrupt:
        return replace(mode, ended=_interrupted(last))
    left = replace(reach, points=reach.points - len(points) + 1)
    more, new, ended = _gathered(points[-1], mode.number, left, AT_EDGE)
    if ended.reason is Reason.POINTS:
        ended = _enough(reach)
    return NormalMode(small, mode.number, (*points, *more[1:]), (*special, *new), ended)


def _gathered(
    start: FreeVibration, number: int, reach: Reach, edge: float
) -> tuple[tuple[FreeVibration, ...], tuple[SpecialVibration, ...], Ending]:
    """Vibrations from one along its tangent, until a measure reaches its limit or the chart is left with a margin."""
    small, problem = start.small, start.problem
    omega = small.frequencies[number - 1]
    family = problem.continuation(omega)
    first = family.adopted(start.point)
    found, special, ended, before = [first], [], _enough(reach), 0

    def vibrating(point: Point) -> FreeVibration:
        return FreeVibration(problem, point, small)

    engine: Engine[Point] = Engine(Vibrations(family, first, first, edge))
    watched = watches(reach.events, vibrating(first), vibrating)
    engine.watched = watched
    wanted = {name: (_measure(name, vibrating), limit) for name, limit in reach.limits.items()}
    try:
        for each in engine.follow(first, reach.step, (np.inf, -np.inf)):
            if isinstance(each, Ending):
                ended = Ending(each.reason, NOWHERE.sub("", each))
            elif isinstance(each, Event):
                if each.kind not in DROPPED:
                    special.append(_special(start, number, family, found[-1], each))
            else:
                check_conserved(each.value, omega)
                crossed = next(_crossed(family, found[-1], each, wanted), None)
                found.append(crossed[0] if crossed else each)
                if crossed:
                    ended = Ending(Reason.REACHED, f"reached {crossed[1]}")
                    last = [s for s in special[before:] if _before(s.point, found[-2], found[-1], each)]
                    special = special[:before] + last
                    break
                before = len(special)
                if reach.progress is not None:
                    reach.progress(vibrating(each))
                away = _away(omega, [point.cycle.period for point in found], reach)
                if away is not None or len(found) >= reach.points:
                    ended = away or ended
                    break
    except KeyboardInterrupt:
        ended = _interrupted(vibrating(found[-1]))
    warn_of_unknown(watched)
    return tuple(vibrating(point) for point in found), tuple(special), ended


def _enough(reach: Reach) -> Ending:
    return Ending(Reason.POINTS, f"stopped after {reach.points} vibrations: ask for more points")


def _away(omega: float, periods: list[float], reach: Reach) -> Ending | None:
    """The end of a mode that is followed by its frequency alone, which has moved far the other way from the start."""
    if set(reach.limits) != {"frequency"}:
        return None
    wanted, now = reach.limits["frequency"], 2 * np.pi / periods[-1]
    ways = np.diff(periods) * (wanted - omega)  # periods grow as frequencies fall
    enough = len(periods) >= reach.points or abs(now - omega) > max(abs(wanted - omega), FAR * omega)
    if not (enough and len(ways) and (ways > 0).all() and (now - omega) * (wanted - omega) < 0):
        return None
    how, side = ("rises", "above") if now > omega else ("falls", "below")
    return Ending(
        Reason.OTHER_SIDE,
        f"the frequency {how} from {omega:.8g} on, away from {wanted:g}: give one {side} it, energy=… or amplitude=…",
    )


def _interrupted(last: FreeVibration) -> Ending:
    return interrupted(f"frequency {last.frequency:.10g}")


def _measure(name: str, vibrating: Callable[[Point], FreeVibration]) -> Callable[[Point], float]:
    """A vibration's energy, frequency, or largest amplitude of a coordinate."""
    if name == "amplitude":
        return lambda point: vibrating(point).largest
    return lambda point: float(getattr(vibrating(point), name))


def _special(
    start: FreeVibration, number: int, family: Continuation, last: Point, event: Event[Point]
) -> SpecialVibration:
    """A special vibration. At the point itself the tangent may be any combination with that of the crossing branch: the
    tangent of the last vibration is used."""
    _, tangent = family.moved_to(last, event.point.cycle.mesh)
    point = replace(event.point, tangent=tangent)
    return SpecialVibration(start.problem, point, str(event.kind), event.detail or "", small=start.small, number=number)


def _before(special: Point, a: Point, last: Point, b: Point) -> bool:
    """Whether a special point of the last step lies before the place where it was cut; in doubt by its period."""
    low, high = sorted((a.cycle.period, b.cycle.period))
    if not low < special.cycle.period < high:
        return True
    return abs(special.cycle.period - a.cycle.period) <= abs(last.cycle.period - a.cycle.period)


def _crossed(
    family: Continuation, a: Point, b: Point, wanted: Mapping[str, tuple[Callable[[Point], float], float]]
) -> Iterator[tuple[Point, str]]:
    """The vibration between two at which a measure reaches its limit."""
    for name, (measure, limit) in wanted.items():
        if (measure(a) - limit) * (measure(b) - limit) <= 0:
            located = family.special.locate(a, b, _beyond(measure, limit))
            yield (located[1] if located else b), f"{name} {limit:g}"


def _beyond(measure: Callable[[Point], float], limit: float) -> Callable[[Point], float]:
    return lambda point: measure(point) - limit
