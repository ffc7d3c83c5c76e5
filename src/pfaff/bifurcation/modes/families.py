"""Nonlinear normal modes: the families of periodic orbits that start at the small vibrations of a conservative system.

Lyapunov's centre theorem gives one for every frequency of which no other is a multiple. Each is followed by arclength,
by its energy and frequency at once, through turning points of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.modes.undamped import UNFOLDING, Vibration, check_conserved, vibration
from pfaff.bifurcation.modes.vibrations import FreeVibration, Reach, SpecialVibration, energy_of
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.following import Orbits
from pfaff.bifurcation.orbits.neutral import OUTSIDE, Neutral
from pfaff.bifurcation.orbits.orbit_problem import INTERVALS, OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.bifurcation.orbits.ways import accurate, switched
from pfaff.continuation.course import STEP
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.engine import Engine
from pfaff.continuation.kinds import EVENT
from pfaff.continuation.measuring import warn_of_unknown, watches
from pfaff.continuation.problem import Event
from pfaff.continuation.trail import Branch
from pfaff.errors import ConvergenceError, ParameterError, number_of
from pfaff.statement.values import one_of, whole_number
from pfaff.threads import cached_property, part_of_a_whole

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Case

LINEAR = 1e-4  # of the rates on the first orbit, what is not linear
DROPPED = {"fold", "torus"}  # kinds that mean nothing where every orbit has neighbours
NOWHERE = re.compile(r" (near|beyond) -?[\d.]+(e[+-]\d+)?")  # values of the parameter that unfolds, which is zero


class Family(Neutral):
    """Along a family of conservative orbits, on which no parameter changes."""

    def _tests(
        self, cycle: Cycle, tangent: Cycle, values: np.ndarray, determinant: float
    ) -> tuple[int, dict[str, float]]:
        unstable, tests = super()._tests(cycle, tangent, values, determinant)
        return unstable, tests | {"fold": 1.0}


@dataclass(frozen=True, eq=False, repr=False)
class NormalMode(Branch[FreeVibration, Special]):
    """Free vibrations of a system without damping and forcing, from the small ones of its n-th frequency on.

    ``frequencies``, ``energies`` and ``amplitudes`` (by state) run along it; ``special`` are the branch points,
    symmetry breakings and period doublings, at which other vibrations branch off.
    """

    vibration: Vibration
    number: int
    points: tuple[FreeVibration, ...]
    special: tuple[Special, ...]
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
        """Above that of the equilibrium."""
        return np.array([point.energy for point in self.points])

    @cached_property
    def amplitudes(self) -> dict[str, np.ndarray]:
        """Half of what each state covers."""
        rows = [point.amplitude for point in self.points]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    @property
    def status(self) -> str:
        first, last = self.frequencies[[0, -1]]
        return (
            f"normal mode {self.number} of {self.vibration.case.system.name}: {number_of(len(self), 'vibration')}, "
            f"frequency {first:.8g} … {last:.8g}, energy up to {self.energies.max():.6g}; {self.counted}; {self.ended}"
        )

    def __repr__(self) -> str:
        return f"<{self.status}>"

    def switch(
        self,
        special: Special,
        *,
        energy: float | None = None,
        frequency: float | None = None,
        amplitude: float | None = None,
        points: int = 300,
        step: float = STEP,
        progress: Callable[[FreeVibration], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> NormalMode:
        """The vibrations that branch off at one of the special points, as far as for ``case.normal_mode``."""
        if not any(special is each for each in self.special) or special.kind.startswith(EVENT):
            raise ParameterError("special: give one of mode.special at which others branch off")
        limits = {"energy": energy, "frequency": frequency, "amplitude": amplitude}
        reach = Reach.asked(limits, points, step, progress, events)
        return _along(self.vibration, self.number, special.problem, switched(special, 1.0, 1).point, reach)

    def to_xarray(self) -> xarray.Dataset:
        """Frequency, energy and amplitudes by name along the dimension ``point``."""
        import xarray

        columns: dict[str, Any] = {
            "frequency": ("point", self.frequencies),
            "energy": ("point", self.energies),
            "stable": ("point", np.array([self.stable(point) for point in self], dtype=np.int8)),
        }
        columns |= {f"amplitude_{name}": ("point", row) for name, row in self.amplitudes.items()}
        columns["special_frequency"] = ("special", np.array([2 * np.pi / each.period for each in self.special]))
        columns["special_kind"] = ("special", np.array([each.kind for each in self.special], dtype=str))
        return xarray.Dataset(columns, attrs={"status": self.status})

    @staticmethod
    def stable(point: OrbitPoint) -> bool:
        """Whether all multipliers lie on the unit circle, as far as pairs of them at 1 are resolved."""
        values = point.point.multipliers
        far = np.sort(np.abs(values - 1))[1]
        return bool(np.abs(values).max() < 1 + max(OUTSIDE, 2 * far))

    def plot(self, state: str | None = None) -> Figure:
        """Frequency against energy, and the amplitude of a state against frequency."""
        from pfaff.draw.response import draw_mode

        if state is not None:
            one_of(self.amplitudes, state, "no state")
        return draw_mode(self, state or next(iter(self.amplitudes)))


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


def _followed(small: Vibration, number: int, reach: Reach, accuracy: float) -> NormalMode:
    n = len(small.x)
    problem = OrbitProblem(small.case, small.flow, UNFOLDING, accuracy, np.zeros((n, 0)), np.zeros((0, n)))
    family = _family(problem, small.frequencies[number - 1])
    return _along(small, number, problem, _first(problem, family, small, number), reach)


def _family(problem: OrbitProblem, omega: float) -> Family:
    return Family(problem.collocation, omega, problem.held, problem.accuracy, omega, 0.0, True)


def _along(small: Vibration, number: int, problem: OrbitProblem, first: Point, reach: Reach) -> NormalMode:
    """The family from a vibration along its tangent, until a measure of it reaches a limit; Ctrl-C keeps it."""
    omega = small.frequencies[number - 1]
    family = _family(problem, omega)
    first = family.adopted(first)
    measures: dict[str, Callable[[Point], float]] = {
        "energy": lambda point: energy_of(small, point.cycle),
        "frequency": lambda point: 2 * np.pi / point.cycle.period,
        "amplitude": lambda point: max(_amplitudes(small, point.cycle).values()),
    }
    wanted = {name: (measures[name], limit) for name, limit in reach.limits.items()}
    found, special = [first], []
    ended = Ending(Reason.POINTS, f"stopped after {reach.points} vibrations: ask for more points")

    def vibrating(point: Point) -> FreeVibration:
        return FreeVibration(problem, point, small)

    engine: Engine[Point] = Engine(Orbits(family, first, first))
    watched = watches(reach.events, vibrating(first), vibrating)
    engine.watched = watched
    try:
        for each in engine.follow(first, reach.step, (np.inf, -np.inf)):
            if isinstance(each, Ending):
                ended = Ending(each.reason, NOWHERE.sub("", each))
            elif isinstance(each, Event):
                if each.kind not in DROPPED:
                    special.append(_special(small, problem, family, found[-1], each))
            else:
                check_conserved(each.value, omega)
                crossed = next(_crossed(family, found[-1], each, wanted), None)
                found.append(crossed[0] if crossed else each)
                if crossed:
                    ended = Ending(Reason.REACHED, f"reached {crossed[1]}")
                    special = [s for s in special if _before(s.point, found[-2], found[-1], each)]
                    break
                if reach.progress is not None:
                    reach.progress(vibrating(each))
                if len(found) >= reach.points:
                    break
    except KeyboardInterrupt:
        ended = Ending(Reason.INTERRUPTED, f"interrupted at frequency {vibrating(found[-1]).frequency:.10g}")
    warn_of_unknown(watched)
    return NormalMode(small, number, tuple(vibrating(point) for point in found), tuple(special), ended)


def _special(
    small: Vibration, problem: OrbitProblem, family: Family, last: Point, event: Event[Point]
) -> SpecialVibration:
    """At the point itself the tangent may be any combination with the way off: that of the last vibration is not."""
    _, tangent = family.moved_to(last, event.point.cycle.mesh)
    point = replace(event.point, tangent=tangent)
    return SpecialVibration(problem, point, event.kind, event.detail or "", small=small)


def _before(special: Point, a: Point, last: Point, b: Point) -> bool:
    """Whether a special point of the last step is not beyond where it was cut: in doubt by its period."""
    low, high = sorted((a.cycle.period, b.cycle.period))
    if not low < special.cycle.period < high:
        return True
    return abs(special.cycle.period - a.cycle.period) <= abs(last.cycle.period - a.cycle.period)


def _crossed(
    family: Family, a: Point, b: Point, wanted: Mapping[str, tuple[Callable[[Point], float], float]]
) -> Iterator[tuple[Point, str]]:
    """The vibration between two at which a measure has its limit."""
    for name, (measure, limit) in wanted.items():
        if (measure(a) - limit) * (measure(b) - limit) <= 0:
            located = family.special.locate(a, b, _beyond(measure, limit))
            yield (located[1] if located else b), f"{name} {limit:g}"


def _beyond(measure: Callable[[Point], float], limit: float) -> Callable[[Point], float]:
    return lambda point: measure(point) - limit


def _amplitudes(small: Vibration, cycle: Cycle) -> dict[str, float]:
    """Of the coordinates among the states."""
    names = small.case.system.coordinate_names
    pairs = zip(small.flow.states, cycle.amplitude.tolist(), strict=True)
    return {name: amplitude for name, amplitude in pairs if name in names}


def _first(problem: OrbitProblem, family: Family, small: Vibration, number: int) -> Point:
    """x0 + r Re(q e^{iωt}) with r at which little is not linear, corrected."""
    omega, q = small.frequencies[number - 1], small.shapes[:, number - 1]
    q = q / np.abs(q).max()
    why = "no radius is small enough"
    size = np.abs(small.x) + np.abs(q)
    symmetric = bool((np.abs(small.x) <= 1e-12 * np.abs(q).max()).all()) and problem.odd(size)
    for radius in _radii(problem, small, omega, q):
        for halved in [True, False] if symmetric else [False]:
            try:
                found = _born(problem, family, small.x, omega, radius * q, halved)
            except Refused as refused:
                why = str(refused)
                continue
            check_conserved(found.value, omega)
            return found
    raise ConvergenceError(
        f"no vibration was found near the frequency {omega:.8g} of {small.case.system.name}: {why}; another frequency "
        "may be a multiple of it, or nearly so"
    )


def _radii(problem: OrbitProblem, small: Vibration, omega: float, q: np.ndarray) -> Iterator[float]:
    phases = np.exp(1j * np.linspace(0, 2 * np.pi, 16, endpoint=False))
    for radius in 2.0 ** -np.arange(0, 60):
        x = small.x + radius * (phases[:, None] * q).real
        linear = radius * (phases[:, None] * (1j * omega * q)).real
        rates = problem.collocation.equations.rates(x, 0.0).T
        if np.isfinite(rates).all() and np.abs(rates - linear).max() <= LINEAR * np.abs(linear).max():
            yield from (radius, radius / 4, radius / 16, radius / 64)
            return


def _born(problem: OrbitProblem, family: Family, x: np.ndarray, omega: float, q: np.ndarray, halved: bool) -> Point:
    c, turn = problem.collocation, np.pi if halved else 2 * np.pi
    intervals = INTERVALS // 2 if halved else INTERVALS
    mesh = Mesh(np.linspace(0.0, 1.0, intervals + 1))
    circle = np.exp(1j * turn * mesh.at[:, None])
    inner = np.exp(1j * turn * mesh.points(c.gauss.c).reshape(intervals, -1, 1))
    wave, slopes = (circle * q).real.copy(), (1j * turn * inner * q).real
    signs = np.full(len(x), -1.0 if halved else 1.0)
    guess = Cycle(mesh, x + wave, slopes.take(c.equations.rows, axis=2), np.array([turn / omega, 0.0]), signs)
    change = guess._replace(x=wave, scalars=np.zeros(2))
    solution = family.born(guess, guess._replace(x=x + 0 * wave), change, family.measure(guess))
    return family.refined(family.point(solution, change))
