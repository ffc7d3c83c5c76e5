"""Locomotion and friction: rotations imposed on another body, the load it moves, the grip its skate needs.

Cazzolli, Dal Corso and Bigoni (2020), Sec. 7: since the constraint contains no masses, imposed rotations move every
column alike; its reaction adjusts to the load. Eq. (96a) is used with −F̃, the sign that their Eqs. (17), (52c) demand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import BPoly
from scipy.optimize import minimize_scalar

from pfaff import doors
from pfaff.algebra.brackets import bracketed_root
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.flow.freezing import slice_of, translated
from pfaff.flow.shape import ignorable_coordinates
from pfaff.statement.told import told
from pfaff.statement.values import number_from, number_within, one_of, shown
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case
    from pfaff.motion.result import Motion
    from pfaff.statement import System

PEAKS = 500  # maxima of the needed friction that are located, the largest first
FINER = 8  # knots of an imposed function in each step of the integrator
STEADY = 0.01  # relative scatter of the last cycles that still counts as periodic


@told
@dataclass(frozen=True, eq=False)
class Locomotion:
    """A motion with imposed coordinates, and what it requires: reactions, drives, and the load that could be moved.

    ``mean_velocity`` is that of every free coordinate, over the whole cycles that fit into the motion if the imposed
    coordinates are periodic, else over the motion.
    """

    motion: Motion
    imposed: tuple[str, ...]
    period: float | None
    case: Case

    @property
    def status(self) -> str:
        return self.motion.status

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(name for name in self.motion.names if name not in self.imposed)

    @property
    def reaction(self) -> np.ndarray:
        """The reactions of the system's own constraints."""
        own = self.motion.p[: self._own]
        return own[0] if len(own) == 1 else own

    @property
    def _own(self) -> int:
        return len(self.case.system.statement.constraints)

    @property
    def drive(self) -> dict[str, np.ndarray]:
        """The force or couple that acts on each imposed coordinate, positive along it."""
        return {name: -row for name, row in zip(self.imposed, self.motion.p[-len(self.imposed) :], strict=True)}

    @cached_property
    def mean_velocity(self) -> dict[str, float]:
        start, end = self.motion.t[0], self.motion.t[-1]
        if self.period and self.period <= (end - start) * (1 + 1e-9):
            start = max(start, end - self.period * np.floor((end - start) / self.period + 1e-9))
        first, last = self.motion(start), self.motion(end)
        index = [self.motion.names.index(name) for name in self.free]
        return {self.motion.names[k]: float((last[k] - first[k]) / (end - start)) for k in index}

    def loads(self, limit: float, load: str | None = None) -> tuple[float, float]:
        """The loads that can be moved while every ``|reaction|`` stays below a limit, such as friction times weight.

        The reaction is affine in the load where constraints and drives determine the motion. Empty ranges come out
        with the larger bound first.
        """
        name = self.case.load_name(load)
        if len(self.free) != self._own:
            raise ParameterError(
                f"{len(self.free)} coordinates are free and {self._own} constraints hold: the load alters this motion; "
                f"impose {len(self.motion.names) - self._own} coordinates"
            )
        t = np.union1d(self.motion.knots, self.motion.t)
        none, unit = (self._reactions(name, value, t) for value in (0.0, 1.0))
        slope = unit - none
        if not np.abs(slope).min() > 0:
            raise ParameterError(f"a reaction does not feel the load {name}: name another with load=…")
        limit = number_within(
            "limit", limit, lambda x: x > 0, "give the largest reaction that holds, a positive number"
        )
        bounds = np.sort([(-limit - none) / slope, (limit - none) / slope], axis=0)
        return float(bounds[0].max()), float(bounds[1].min())

    def _reactions(self, load: str, value: float, t: np.ndarray) -> np.ndarray:
        driven = self.motion.case
        assert driven is not None
        table = self.motion.numbers_at(t).copy()
        table[driven.system.parameter_names.index(load)] = value
        return driven.system.flow.reactions(self.motion(t), table, t)[: self._own]

    def plot(self) -> Figure:
        return self.motion.plot()


def impose(
    case: Case, motion: Motion, names: Sequence[str], since: float, duration: float | None, samples: int
) -> Locomotion:
    """Some coordinates of a motion, from a time on, imposed on a case; by default all that are not ignorable.

    The others start where they were in that motion.
    """
    system = case.system
    if not isinstance(motion, doors.result.Motion):
        raise ParameterError(f"{shown(motion)} is no motion: impose what case.simulate gives, case.impose(motion, …)")
    since = number_from("since", since)
    names = _shared(system, motion, names)
    length = float(motion.t[-1] - since) if duration is None else number_from("duration", duration)
    if not (length > 0 and motion.t[0] <= since and since + length <= motion.t[-1] * (1 + 1e-12)):
        raise ParameterError(f"since={since:g}, duration={shown(duration)}: the motion ends at t = {motion.t[-1]:g}")
    functions = {name: imposed_function(motion, name, since, length) for name in names}
    there = dict(zip(motion.names, motion(since), strict=False))
    start: dict[str, Any] = {n: there[n] for n in system.coordinate_names if n in there and n not in names}
    driven = case.simulate(length, samples=samples, prescribed=functions, method="taylor", initial=start)
    try:
        cycle = period(motion, names[0])
    except ConvergenceError:
        cycle = None
    return Locomotion(driven, tuple(names), cycle, case)


def _shared(system: System, motion: Motion, names: Sequence[str]) -> list[str]:
    if not names:
        carried = translated(system)
        names = [name for name in system.coordinate_names if name in motion.names and name not in carried]
    both = [name for name in motion.names if name in system.coordinate_names]
    names = [one_of(both, name, "{} is not a coordinate of both") for name in names]
    held = len(system.statement.constraints)
    if not names or len(names) + held > len(system.coordinates):
        raise ParameterError(
            f"{len(names)} imposed coordinates and {held} constraints for the {len(system.coordinates)} coordinates of "
            f"{system.name}: name those to impose"
        )
    return list(names)


def imposed_function(motion: Motion, name: str, since: float, length: float) -> BPoly:
    """A coordinate of a motion against the time since a moment, with its first two derivatives exact at knots."""
    local = motion.knots - since
    ends = np.concatenate([[0.0], local[(local > 0) & (local < length)], [length]])
    t = _finer(ends)
    t = np.unique(np.append(t[t < length], length))
    then = np.clip(since + t, motion.t[0], motion.t[-1])
    y = motion(then)
    k, n = motion.names.index(name), len(motion.names)
    acceleration = motion.rates(then, y)[n + k]
    return BPoly.from_derivatives(t, np.stack([y[k], y[n + k], acceleration], axis=1))


def period(motion: Motion, name: str | None = None) -> float:
    """The period of a motion that has become periodic: up to symmetries, coordinates and velocities return.

    It is seen in a coordinate or, if symmetries move that one along, in its velocity; or in what else is named.
    """
    at, frozen = _up_to_symmetries(motion)
    name, seen = _seen(motion, name, at, frozen)
    t = motion.knots
    t = np.linspace(t[len(t) // 2], t[-1], 4 * len(t))
    states, row = at(t), seen(t)
    level = (row.max() + row.min()) / 2
    rising = np.flatnonzero((row[:-1] < level) & (row[1:] >= level))[-4:]
    passages = [bracketed_root(lambda s: float(seen(np.array([s]))[0]) - level, t[i], t[i + 1], 0.0) for i in rising]
    steady = f"{name} has not become periodic by t = {motion.t[-1]:g}: simulate longer"
    if len(passages) < 3:
        raise ConvergenceError(steady)
    last, before = at(passages[-1]), at(passages[-2])
    n = len(motion.names)
    rows = [j for j in range(2 * n) if j >= n or motion.names[j] not in frozen]
    size = np.ptp(states[rows], axis=1)
    groups = [np.array([row < n for row in rows]), np.array([row >= n for row in rows])]
    off = max(np.abs(last - before)[rows][g].max() / (size[g].max() or 1.0) for g in groups if g.any())
    lengths = np.abs(np.diff(passages))
    if off > STEADY or np.ptp(lengths) > STEADY * lengths.mean():
        raise ConvergenceError(steady)
    return float(lengths[-1])


def _seen(
    motion: Motion, name: Any, at: Callable[[Any], np.ndarray], frozen: Collection[str]
) -> tuple[str, Callable[[np.ndarray], np.ndarray]]:
    """A coordinate (by default the first that symmetries do not move along), velocity, quasi-velocity or reaction of a
    motion as a function of times."""
    states, quasi, reactions = motion.states, motion.quasi_velocities, motion.reaction_names
    known = (*states, *quasi, *reactions, *motion.aliases)
    first = next((each for each in motion.names if each not in frozen), states[0])
    name = first if name is None else one_of(known, name, "no coordinate, velocity or reaction")
    if name in states:
        row = states.index(f"{name}_dot" if name in frozen else name)
        return name, lambda t: at(t)[row]
    if name in quasi:
        return name, lambda t: motion.quasi_rows(t, motion(t))[name]
    return name, lambda t: motion.reactions(t)[reactions.index(motion.aliases.get(name, name))]


def _up_to_symmetries(motion: Motion) -> tuple[Callable[[Any], np.ndarray], Collection[str]]:
    """The states of a motion as symmetries carry them to where some coordinates are zero, and these coordinates."""
    if motion.case is None:
        return motion, ()
    system, numbers, n = motion.case.system, motion.case.numbers, len(motion.names)
    part = slice_of(system, numbers=numbers)
    if part is None:
        return motion, ignorable_coordinates(system)

    def at(t: Any) -> np.ndarray:
        y = motion(t)
        return np.concatenate(part.carried(y[:n], y[n : 2 * n], numbers))

    return at, (*part.names, *(system.coordinate_names[j] for j in part.dependent))


@told
@dataclass(frozen=True, eq=False)
class Friction:
    """The friction coefficient ``|p|/N`` that a constraint needs along a motion, and where a given one would slip."""

    t: np.ndarray
    needed: np.ndarray
    largest: float
    slips: np.ndarray
    coefficient: float | None
    reaction: str

    @property
    def status(self) -> str:
        if self.coefficient is None:
            return f"{self.reaction} needs a coefficient of {self.largest:.4g}"
        if not len(self.slips):
            return f"{self.reaction} holds: it needs {self.largest:.4g} of {self.coefficient:g}"
        return f"{self.reaction} slips first at t = {self.slips[0]:.12g}"

    def plot(self) -> Figure:
        return doors.draw.draw_friction(self)


def friction(motion: Motion, normal: float, coefficient: float | None, reaction: str | None) -> Friction:
    """The needed coefficient under a constant normal force, and the times at which a given coefficient is exceeded."""
    presses = "give the force that presses the bodies together, a positive number"
    normal = number_within("normal", normal, lambda x: x > 0, presses)
    if coefficient is not None:
        coefficient = number_within("coefficient", coefficient, lambda x: x >= 0, "give a number from 0 up")
    if not motion.reaction_names:
        raise ParameterError(f"{motion.system} has no constraint that could slip")
    known = {**dict.fromkeys(motion.reaction_names, ""), **motion.aliases}
    name = motion.reaction_names[0] if reaction is None else one_of(known, reaction, "no reaction")
    name = motion.aliases.get(name, name)
    row = motion.reaction_names.index(name)

    def needed(t: np.ndarray | float) -> np.ndarray:
        return np.abs(motion.reactions(np.atleast_1d(t))[row]) / normal

    t = _with_peaks(needed, motion.knots)
    values = needed(t)
    slips: list[float] = []
    if coefficient is not None:
        above = values > coefficient
        up = np.flatnonzero(~above[:-1] & above[1:])
        slips = [bracketed_root(lambda s: float(needed(s)[0]) - coefficient, t[i], t[i + 1], 0.0) for i in up]
        slips = [float(t[0]), *slips] if above[0] else slips
    return Friction(motion.t, np.abs(motion.p[row]) / normal, float(values.max()), np.array(slips), coefficient, name)


def _with_peaks(function: Callable[[np.ndarray], np.ndarray], knots: np.ndarray) -> np.ndarray:
    """A fine grid on the steps of a motion, with the maxima of a function found between its points."""
    t = _finer(knots)
    values = function(t)
    tops = 1 + np.flatnonzero((values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:]))
    peaks = [
        minimize_scalar(
            lambda s: -function(s)[0], bounds=sorted((t[i - 1], t[i + 1])), method="bounded", options={"xatol": 1e-10}
        ).x
        for i in tops[np.argsort(-values[tops])[:PEAKS]]
    ]
    found = np.unique(np.concatenate([t, peaks]))
    return found if t[-1] > t[0] else found[::-1]


def _finer(knots: np.ndarray) -> np.ndarray:
    """Every interval between knots in equal parts."""
    return np.interp(np.arange(0, len(knots) - 1 + 0.5 / FINER, 1 / FINER), np.arange(len(knots)), knots)
