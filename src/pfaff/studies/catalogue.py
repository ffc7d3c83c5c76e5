"""The catalogue of numbers that studies measure by name: what each means, and how it is found.

A ``Quantity`` is read from what a ``Search`` finds, so that several need one search. This table is the only place that
names them: studies compute, store and draw what stands in it, and the shell and the studio offer it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.continuation.kinds import Kind
from pfaff.errors import NoBifurcationError, ParameterError

if TYPE_CHECKING:
    from pfaff.case import Bound

FARTHER = 20  # distance, relative to that of the load asked for, within which cycles must have turned back
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True)
class Asked:
    """How loads are searched: which one, how far, and on which equilibrium."""

    load: str | None = None
    to: float | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Search:
    """An analysis of a case that gives several numbers at once.

    ``find`` takes the case, what was asked, and the names of the numbers (of a motion, its options);
    ``NoBifurcationError`` is an answer. ``absence`` says why what was found has no number for some names: where it
    gives no words, that is a failure. Studies in stores know a search by its ``name``.
    """

    name: str
    find: Callable[[Any, Asked, Any], Any]
    absence: Callable[[Any, Sequence[str]], str] = lambda found, missing: ""
    seeks: bool = False  # whether a load is sought, which then cannot be an axis
    follows: bool = False  # whether a load is followed from its value in the case
    grows: bool = False  # whether a load grows from zero, at rest: for mechanical systems only
    moves: bool = False  # whether it is a motion, with options; a number is that of a state or reaction


@dataclass(frozen=True)
class Batch:
    """How a number is found at many points at once.

    ``of`` reads it from what is found along the test function ``frame``; ``form`` if that needs the normal form, and
    ``flutter`` if the first crossing counts only where all is stable before it.
    """

    frame: str
    of: Callable[[Any], np.ndarray]
    form: bool = False
    flutter: bool = False


@dataclass(frozen=True)
class Quantity:
    """One number: the search that finds it, its meaning, and how it is read from what is found.

    ``values`` are words for the few values that it can have, by which it is drawn.
    """

    search: Search
    meaning: str
    of: Callable[..., float | None]
    batch: Batch | None = None
    values: Mapping[int, str] = field(default_factory=dict)

    @property
    def attributes(self) -> dict[str, Any]:
        """The description in a stored array, by the conventions of netCDF (CF, Sec. 3.5)."""
        few = {"flag_values": list(self.values), "flag_meanings": " ".join(self.values.values())}
        return {"long_name": self.meaning} | (few if self.values else {})


def speeds(case: Bound, asked: Asked) -> list[str]:
    """Velocities among the fixed values, by which steady motions are selected."""
    system = case.system
    coordinates = getattr(system, "coordinate_names", system.state_names)
    return [name for name in asked.fixed if name in system.moving_names and name not in coordinates]


def _hopf(case: Any, asked: Asked, names: Sequence[str]) -> Any:
    """The first Hopf point of an equilibrium, or on a branch of steady motions."""
    if speeds(case, asked):
        return _hopf_of_steady(case, asked)
    return case.hopf(asked.load, asked.to, fixed=asked.fixed)


@dataclass(frozen=True)
class AlongSpeeds:
    """A Hopf point on a branch of steady motions, whose normal form is known to third order only."""

    value: float
    omega: float
    l1: float

    @property
    def crossing_speed(self) -> float:
        raise ParameterError(
            "crossing_speed is not known where a speed is followed: leave it out, or let a parameter vary"
        )


def _hopf_of_steady(case: Any, asked: Asked) -> Any:
    """The first Hopf point on a branch of steady motions, in a parameter, a speed or a coordinate."""
    if asked.load is None or asked.to is None:
        raise ParameterError("a branch of steady motions needs what varies and how far: load='s_dot', to=8")
    branch = case.steady(fixed=asked.fixed).branch(asked.load, asked.to)
    first = next(iter(branch.of_kind(Kind.HOPF)), None)
    if first is None:
        raise NoBifurcationError(f"no Hopf point: {branch.status}")
    return first.hopf or AlongSpeeds(first.value, first.omega, first.coefficient)


def _criticality(hopf: Any) -> float:
    if isinstance(hopf, AlongSpeeds):
        return float(np.sign(hopf.l1))
    return (-1.0 if hopf.normal_form.attracts else 1.0) if hopf.criticality.l1_tells else 0.0


def _loads(case: Any, asked: Asked, names: Sequence[str]) -> dict[str, Any]:
    """Critical loads by kind: all of them in one search if several are asked for."""
    kinds = sorted({LOADS[name] for name in names})
    if len(kinds) == 1:
        return {kind: getattr(case, kind)(asked.load, asked.to, fixed=asked.fixed) for kind in kinds}
    loads = case.critical(asked.load, asked.to, fixed=asked.fixed)
    return {kind: getattr(loads, kind) for kind in kinds}


def _no_load(found: Mapping[str, Any], missing: Sequence[str]) -> str:
    return "; ".join(found[kind].status for kind in dict.fromkeys(LOADS[name] for name in missing))


def _rest(case: Any, asked: Asked, names: Sequence[str]) -> Any:
    about = case.steady(fixed=asked.fixed) if speeds(case, asked) else None
    return case.spectrum(values=asked.fixed) if about is None else about.spectrum()


def _cycle(case: Bound, asked: Asked, names: Sequence[str]) -> Any:
    """The cycle born at the first Hopf point, at the load of the case."""
    load = case.load_name(asked.load)
    to = float(case.numbers[case.system.parameter_names.index(load)])
    hopf = case.hopf(load, asked.to, fixed=asked.fixed)
    branch = hopf.orbits(to=to, bounds=_both_ways(hopf.value, to))
    last = branch[-1]
    if abs(last.value - to) > 1e-9 * (1 + abs(to)):
        raise NoBifurcationError(f"no cycle is reached at {load} = {to:g}: {branch.status}")
    return last


def _both_ways(born: float, to: float) -> tuple[float, float]:
    """Bounds that let subcritical cycles, which lead away from ``to``, turn back at a fold far behind."""
    behind = born - math.copysign(abs(born) + FARTHER * abs(to - born), to - born)
    return min(behind, to), max(behind, to)


def _amplitude(orbit: Any) -> float:
    system = orbit.case.system
    coordinates = getattr(system, "coordinate_names", system.state_names)
    return float(max(size for name, size in orbit.amplitude.items() if name in coordinates))


def _multiplier(orbit: Any) -> float:
    trivial = int(np.abs(orbit.multipliers - 1).argmin())
    return float(np.delete(np.abs(orbit.multipliers), trivial).max(initial=0.0))


def _motion(case: Any, asked: Asked, about: Mapping[str, Any]) -> Any:
    """A motion with the options of a measure."""
    options = dict(about["options"])
    duration = options.pop("duration")
    motion = case.simulate(duration, samples=2, initial=options | about.get("initial", {}))
    if motion.t[-1] < about["options"]["duration"] * (1 - 1e-12):
        raise ParameterError(f"the motion ended at t = {motion.t[-1]:g}: {motion.status}")
    return motion


def _end(motion: Any, name: str) -> float:
    return float(np.asarray(motion[name])[-1])


def _mean_velocity(motion: Any, name: str) -> float:
    """The mean velocity of a coordinate, or the mean of what is a velocity itself."""
    doors.values.one_of([*motion.states, *getattr(motion, "quasi_velocities", ())], name, "{} has no mean velocity")
    start, end = (float(each) for each in np.asarray(motion.t)[[0, -1]])
    position = name.removesuffix("_dot") if name.removesuffix("_dot") in getattr(motion, "names", ()) else name
    if name not in getattr(motion, "quasi_velocities", ()):
        return float(np.diff(np.asarray(motion[position])[[0, -1]])[0] / (end - start))
    knots = np.asarray(motion.knots)
    half = np.diff(knots)[:, None] / 2
    t = (knots[:-1, None] + half * (1 + NODES)).ravel()
    rows = motion.quasi_rows(t, motion(t))[name].reshape(len(half), -1)
    return float((half * rows * WEIGHTS).sum() / (end - start))


HOPF = Search("hopf", _hopf, lambda hopf, missing: hopf.status, seeks=True, follows=True)
CRITICAL = Search("critical", _loads, _no_load, seeks=True, grows=True)
REST = Search("rest", _rest)
CYCLE = Search("cycle", _cycle, follows=True)
END = Search("end", _motion, moves=True)
MEAN = Search("mean_velocity", _motion, moves=True)

LOADS = {"flutter": "flutter", "flutter_frequency": "flutter", "divergence": "divergence", "buckling": "buckling"}
QUANTITIES: dict[str, Quantity] = {
    "flutter": Quantity(
        CRITICAL, "flutter load", lambda loads: loads["flutter"].value, Batch("hopf", lambda at: at.load, flutter=True)
    ),
    "divergence": Quantity(
        CRITICAL, "divergence load", lambda loads: loads["divergence"].value, Batch("divergence", lambda at: at.load)
    ),
    "buckling": Quantity(
        CRITICAL, "buckling load", lambda loads: loads["buckling"].value, Batch("buckling", lambda at: at.load)
    ),
    "flutter_frequency": Quantity(
        CRITICAL,
        "angular frequency at the flutter load",
        lambda loads: loads["flutter"].frequency,
        Batch("hopf", lambda at: at.omega, flutter=True),
    ),
    "hopf": Quantity(HOPF, "load of the first Hopf point", lambda hopf: hopf.value, Batch("hopf", lambda at: at.load)),
    "omega": Quantity(
        HOPF, "angular frequency at the Hopf point", lambda hopf: hopf.omega, Batch("hopf", lambda at: at.omega)
    ),
    "crossing_speed": Quantity(
        HOPF,
        "d Re λ/d load at the Hopf point",
        lambda hopf: hopf.crossing_speed,
        Batch("hopf", lambda at: at.crossing_speed),
    ),
    "l1": Quantity(
        HOPF, "first Lyapunov coefficient", lambda hopf: hopf.l1, Batch("hopf", lambda at: at.l1, form=True)
    ),
    "criticality": Quantity(
        HOPF,
        "−1 supercritical, +1 subcritical or repelled along a family of equilibria, 0 degenerate",
        _criticality,
        Batch("hopf", lambda at: np.sign(at.l1), form=True),
        {-1: "supercritical", 0: "degenerate", 1: "subcritical"},
    ),
    "stable": Quantity(
        REST,
        "1 where the equilibrium is stable, 0 elsewhere",
        lambda spectrum: float(spectrum.stable),
        Batch("rest", lambda growth: (growth < 0).astype(float)),
        {0: "unstable", 1: "stable"},
    ),
    "growth": Quantity(
        REST,
        "largest growth rate of small motions",
        lambda spectrum: spectrum.values.real.max(initial=-np.inf),
        Batch("rest", lambda growth: growth),
    ),
    "period": Quantity(CYCLE, "period of the cycle", lambda orbit: orbit.period),
    "amplitude": Quantity(CYCLE, "largest amplitude of a coordinate on the cycle", _amplitude),
    "multiplier": Quantity(CYCLE, "largest Floquet multiplier but the trivial one", _multiplier),
    "end": Quantity(END, "value at the end of a motion", _end),
    "mean_velocity": Quantity(MEAN, "mean velocity of a motion", _mean_velocity),
}


def searches() -> dict[str, Search]:
    """All searches by name."""
    return {each.search.name: each.search for each in QUANTITIES.values()}


def offered(mechanical: bool = True, at_once: bool = False) -> tuple[str, ...]:
    """Names of the numbers that need no options, of mechanical systems or of ODEs.

    With ``at_once`` only those that batches can find.
    """
    known = {
        name: each
        for name, each in QUANTITIES.items()
        if not each.search.moves and (mechanical or not each.search.grows)
    }
    return tuple(name for name, each in known.items() if each.batch or not at_once)
