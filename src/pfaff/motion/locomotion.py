"""Locomotion and friction: rotations imposed on another body, the load it moves, the grip its skate needs.

Cazzolli, Dal Corso and Bigoni (2020), Sec. 7: since the constraint knows no masses, imposed rotations move every
column alike; its reaction adjusts to the load. Eq. (96a) is used with −F̃, the sign that their Eqs. (17), (52c) demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import BPoly
from scipy.optimize import brentq

from pfaff.errors import ConvergenceError, ParameterError, nearest
from pfaff.lowering import graph_of
from pfaff.reduction import ignorable_coordinates

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.motion.result import Motion

FINER = 8  # knots of an imposed function in each step of the integrator
STEADY = 0.01  # relative scatter of the last cycles that still counts as periodic


@dataclass(frozen=True, eq=False)
class Locomotion:
    """A motion with imposed coordinates, and what it takes: reactions, drives, and the load that could be moved.

    ``mean_velocity`` is that of every coordinate that was left free, over the whole cycles of the imposed ones if
    they are periodic, else over the motion.
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
        own = self.motion.p[: len(self.case.system.nonholonomic_constraints)]
        return own[0] if len(own) == 1 else own

    @property
    def drive(self) -> dict[str, np.ndarray]:
        """The force or couple that acts on each imposed coordinate, positive along it."""
        return {name: -row for name, row in zip(self.imposed, self.motion.p[-len(self.imposed) :], strict=True)}

    @cached_property
    def mean_velocity(self) -> dict[str, float]:
        start, end = self.motion.t[0], self.motion.t[-1]
        if self.period:
            start = end - self.period * np.floor((end - start) / self.period + 1e-9)
        first, last = self.motion(start), self.motion(end)
        index = [self.motion.names.index(name) for name in self.free]
        return {self.motion.names[k]: float((last[k] - first[k]) / (end - start)) for k in index}

    def loads(self, limit: float, load: str | None = None) -> tuple[float, float]:
        """The loads that can be moved while every |reaction| stays below a limit, such as friction times weight.

        The reaction of an imposed motion is affine in the load. Empty ranges come out with the larger bound first.
        """
        name = self.case.load_name(load)
        none, unit = (self._reactions(name, value) for value in (0.0, 1.0))
        slope = unit - none
        if not np.abs(slope).min() > 0:
            raise ParameterError(f"the reaction does not feel the load {name}: name another with load=…")
        bounds = np.sort([(-limit - none) / slope, (limit - none) / slope], axis=0)
        return float(bounds[0].max()), float(bounds[1].min())

    def _reactions(self, load: str, value: float) -> np.ndarray:
        driven = self.motion.case
        assert driven is not None
        own = len(self.case.system.nonholonomic_constraints)
        table = self.motion.numbers_at(self.motion.t).copy()
        table[driven.system.parameter_names.index(load)] = value
        return driven.system.flow.reactions(self.motion.y, table, self.motion.t)[:own]

    def plot(self) -> Any:
        return self.motion.plot()


def impose(
    case: Case, motion: Motion, names: Sequence[str], since: float, duration: float | None, samples: int
) -> Locomotion:
    """Some coordinates of a motion, from a time on, imposed on a case; by default all that are not ignorable."""
    system = case.system
    if not names:
        ignorable = ignorable_coordinates(graph_of(system))
        names = [name for name in system.coordinate_names if name in motion.names and name not in ignorable]
    for name in names:
        if name not in motion.names or name not in system.coordinate_names:
            raise ParameterError(f"{name!r} is not a coordinate of both: {nearest(name, motion.names)}")
    if not names:
        raise ParameterError(f"{system.name} and the motion of {motion.system} share no coordinate to impose")
    length = float(motion.t[-1] - since)
    if not 0 < (duration or length) <= length:
        raise ParameterError(f"since={since}, duration={duration}: the motion ends at t = {motion.t[-1]:g}")
    functions = {name: imposed_function(motion, name, since, since + (duration or length)) for name in names}
    driven = case.simulate(duration or length, samples=samples, prescribed=functions, method="taylor")
    try:
        cycle = period(motion, names[0])
    except ConvergenceError:
        cycle = None
    return Locomotion(driven, tuple(names), cycle, case)


def imposed_function(motion: Motion, name: str, since: float, until: float) -> BPoly:
    """A coordinate of a motion against the time since a moment, with its first two derivatives exact at knots."""
    inside = (motion.knots > since) & (motion.knots < until)
    ends = np.unique(np.concatenate([[since], motion.knots[inside], [until]]))
    t = np.interp(np.arange(0, len(ends) - 1 + 0.5 / FINER, 1 / FINER), np.arange(len(ends)), ends)
    y = motion(t)
    k = motion.names.index(name)
    n = len(motion.names)
    acceleration = motion.rates(t, y)[n + k]
    return BPoly.from_derivatives(t - since, np.stack([y[k], y[n + k], acceleration], axis=1))


def period(motion: Motion, name: str | None = None) -> float:
    """The period of a motion that has become periodic, from the last rising passages through the mean."""
    name = name or motion.names[0]
    if name not in motion.names:
        raise ParameterError(f"no coordinate {name!r}: {nearest(name, motion.names)}")
    k = motion.names.index(name)
    t = motion.knots
    t = np.linspace(t[len(t) // 2], t[-1], 4 * len(t))
    values = motion(t)[k]
    level = (values.max() + values.min()) / 2
    rising = np.flatnonzero((values[:-1] < level) & (values[1:] >= level))
    passages = [brentq(lambda s: motion(s)[k] - level, t[i], t[i + 1], xtol=1e-15, rtol=1e-14) for i in rising[-4:]]
    lengths = np.diff(passages)
    if len(lengths) < 2 or np.ptp(lengths) > STEADY * lengths.mean():
        raise ConvergenceError(f"{name} has not become periodic by t = {motion.t[-1]:g}: simulate longer")
    return float(lengths[-1])


@dataclass(frozen=True, eq=False)
class Friction:
    """The friction coefficient |p|/N that a constraint needs along a motion, and where a given one would slip."""

    t: np.ndarray
    needed: np.ndarray
    slips: np.ndarray
    coefficient: float | None

    @property
    def largest(self) -> float:
        return float(self.needed.max())

    @property
    def status(self) -> str:
        if self.coefficient is None:
            return f"needs a coefficient of {self.largest:.4g}"
        if not len(self.slips):
            return f"holds: needs {self.largest:.4g} of {self.coefficient:g}"
        return f"slips first at t = {self.slips[0]:.12g}"


def friction(motion: Motion, normal: float, coefficient: float | None, reaction: str | None) -> Friction:
    """The needed coefficient under a constant normal force, and the times at which a given coefficient is exceeded."""
    if not (np.isfinite(normal) and normal > 0):
        raise ParameterError(f"normal={normal}: give the force that presses the bodies together, a positive number")
    if not motion.reaction_names:
        raise ParameterError(f"{motion.system} has no constraint that could slip")
    name = reaction or motion.reaction_names[0]
    if name not in motion.reaction_names:
        raise ParameterError(f"no reaction {name!r}: {nearest(name, motion.reaction_names)}")
    row = motion.reaction_names.index(name)
    needed = np.abs(motion.p[row]) / normal
    if coefficient is None:
        return Friction(motion.t, needed, np.zeros(0), None)

    def excess(t: float) -> float:
        return abs(motion.reactions(np.array([t]))[row, 0]) / normal - coefficient

    t = motion.knots
    above = np.abs(motion.reactions(t)[row]) / normal > coefficient
    up = np.flatnonzero(~above[:-1] & above[1:])
    slips = [brentq(excess, t[i], t[i + 1], xtol=1e-15, rtol=1e-15 * 4) for i in up]
    return Friction(motion.t, needed, np.array([t[0], *slips] if above[0] else slips), coefficient)
