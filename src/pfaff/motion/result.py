"""A motion: what was computed, with its reactions, its energies and how well they balance."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pfaff import doors
from pfaff.archive.stored import labels, write
from pfaff.checks import Check, Checked
from pfaff.errors import ParameterError
from pfaff.flow.in_quasi_velocities import quasi_values
from pfaff.motion.events import Crossings
from pfaff.motion.measures import Energy, Measured, Stored
from pfaff.motion.outcomes import Status
from pfaff.motion.sampled import interpolated
from pfaff.statement.values import numbers_from, one_of, spelt

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Case
    from pfaff.motion.locomotion import Friction

TOLD = 8  # most initial values that are told one by one
ENERGIES = ("kinetic", "potential", "total", "dissipated", "supplied")


@spelt
@dataclass(frozen=True, eq=False)
class Motion(Checked):
    """Times ``t``, states ``y`` (coordinates, then velocities, one column for each time), reactions ``p``.

    ``motion["theta1"]`` is a coordinate, ``motion["theta1_dot"]`` its velocity, ``motion["p"]`` a reaction, and a
    quasi-velocity goes by the name that the system gives it;
    ``motion(t)`` evaluates the state at any time. ``energy`` holds the energies and their balance, ``residual`` what
    is left of every constraint, ``events`` where each event happened. ``method`` says how it was computed and why so,
    ``checks`` what was verified of it, and ``status`` how it ended and which check failed.
    """

    _elsewhere: ClassVar = {"orbit": "ask the case for the periodic orbit near a motion, case.orbit(motion)"}
    t: np.ndarray
    y: np.ndarray
    measures: Measured | Stored = field(repr=False)
    names: tuple[str, ...]
    reaction_names: tuple[str, ...]
    ended: Status
    method: str
    changes: Mapping[str, float]
    system: str
    values: Mapping[str, str]
    events: Mapping[str, Crossings] = field(default_factory=dict, repr=False)
    case: Case | None = field(default=None, repr=False)
    dense: Callable[[Any], np.ndarray] | None = field(default=None, repr=False)
    stored_aliases: Mapping[str, str] = field(default_factory=dict, repr=False)
    tolerance: float | None = field(
        default=None, repr=False
    )  # None for a motion from a file, verified when it was made

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} … {self.t[-1]:g}, {len(self.t)} samples"
        return f"<Motion of {self.system}, {span}: {self.status}{self._demanded}>"

    @property
    def _demanded(self) -> str:
        """Initial values that the constraints demand, in words."""
        told = [
            f"{name} = {self[name][0]:g}" for name in self.changes if name in (*self.states, *self.quasi_velocities)
        ]
        more = [f"and {len(told) - TOLD} more"] if len(told) > TOLD else []
        if not told:
            return ""
        return f"; as what is given and the constraints demand, it starts with {', '.join(told[:TOLD] + more)}"

    @property
    def states(self) -> tuple[str, ...]:
        return states_of(self.names)

    @property
    def p(self) -> np.ndarray:
        """The reactions, one row for each constraint; p multiplies +A on the left-hand side."""
        return self.measures.p

    @property
    def energy(self) -> Energy:
        return self.measures.energy

    @property
    def residual(self) -> np.ndarray:
        """Residual of every constraint: of the positions first, then of the velocities."""
        return self.measures.residual

    @property
    def reaction(self) -> np.ndarray:
        """The reaction of a single constraint, or one row for each of several."""
        return self.p[0] if len(self.p) == 1 else self.p

    @property
    def finished(self) -> bool:
        return self.ended.finished

    @property
    def status(self) -> Status:
        """How the motion ended, and what of it could not be verified."""
        return self.ended.doubted(self.checks)

    def _verify(self) -> Iterable[Check]:
        return doors.verification.verified_motion(self) if self.tolerance is not None else ()

    def __getitem__(self, name: str) -> np.ndarray:
        known = dict(zip((*self.states, *self.reaction_names), (*self.y, *self.p), strict=True))
        known |= {alias: known[name] for alias, name in self.aliases.items()}
        name = one_of([*known, *self.quasi_velocities], name, "no coordinate, velocity or reaction")
        return self.quasi_rows(self.t, self.y)[name] if name in self.quasi_velocities else known[name]

    @property
    def aliases(self) -> dict[str, str]:
        """Other names of reactions, after constraints that have names: ``p_blade`` for ``p1``."""
        named = self.case.system.reaction_aliases if self.case is not None else self.stored_aliases
        return {alias: name for alias, name in named.items() if name in self.reaction_names}

    @property
    def quasi_velocities(self) -> tuple[str, ...]:
        """Names of the quasi-velocities that the system states, such as a forward speed."""
        return tuple(getattr(self.case.system, "quasi_velocities", ())) if self.case is not None else ()

    def quasi_rows(self, t: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        """The quasi-velocities by name, at given times and states."""
        return quasi_values(self._case.system, y, self.numbers_at(t), t) if self.quasi_velocities else {}

    def __call__(self, t: Any) -> np.ndarray:
        """The state at a time, or one column for each of several: the integrator's own polynomials."""
        times = numbers_from("times", t)
        low, high = sorted((self.t[0], self.t[-1]))
        outside = ~((times >= low) & (times <= high))
        if np.any(outside):
            worst = np.atleast_1d(times)[np.atleast_1d(outside)][0]
            raise ParameterError(f"t={worst:g} lies outside the motion, which runs from {low:g} to {high:g}")
        if self.dense is not None:
            return self.dense(times) if times.ndim else self.dense(times[None])[:, 0]
        return interpolated(self.t, self.y, times)

    @property
    def knots(self) -> np.ndarray:
        """The ends of the integrator's steps where they are known, else the samples."""
        return self.t if self.measures.steps is None else self.measures.steps

    def numbers_at(self, t: np.ndarray) -> np.ndarray:
        """The parameters at some times: a single column, or one for each where sampled functions drive the motion."""
        if isinstance(self.measures, Measured):
            return self.measures.driven.numbers(t)
        return self._case.numbers

    @property
    def _case(self) -> Case:
        if self.case is None:
            raise ParameterError(
                "this motion knows no case: it belongs to an assembly, or give one with load_motion(path, case)"
            )
        return self.case

    def rates(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Velocities and accelerations at given times and states."""
        return self._case.system.flow.rhs(y, self.numbers_at(t), t)

    def reactions(self, t: np.ndarray) -> np.ndarray:
        """The reactions at any times, one row for each constraint."""
        t = np.ravel(numbers_from("times", t))
        return self._case.system.flow.reactions(self(t), self.numbers_at(t), t)

    def period(self, name: str | None = None) -> float:
        """The period of a motion that has become periodic, seen in a coordinate (the first by default), a velocity
        or a reaction."""
        return doors.locomotion.period(self, name)

    def friction(self, normal: float, coefficient: float | None = None, reaction: str | None = None) -> Friction:
        """The friction coefficient that a constraint needs in time, and where a given one would slip.

        ``normal`` is the force that presses wheel and ground together. The reaction is a force if its constraint
        is stated as a velocity.
        """
        return doors.locomotion.friction(self, normal, coefficient, reaction)

    def to_xarray(self) -> xarray.Dataset:
        """Everything by name along the dimension ``t``; a coordinate that is itself called t becomes ``t_``."""
        import xarray

        residuals = [f"residual{k + 1}" for k in range(len(self.residual))]
        named = file_labels((*self.states, *self.reaction_names), residuals)
        columns = {label: ("t", self[name]) for name, label in named.items()}
        columns |= {f"energy_{part}": ("t", getattr(self.energy, part)) for part in ENERGIES}
        columns |= {name: ("t", row) for name, row in zip(residuals, self.residual, strict=True)}
        about: dict[str, Any] = {"names": self.names, "reactions": self.reaction_names, "changes": dict(self.changes)}
        about["residuals"] = residuals
        about["driven"] = isinstance(self.measures, Measured) and bool(self.measures.driven.prescribed)
        about["events"] = {name: [found.t.tolist(), found.y.tolist()] for name, found in self.events.items()}
        notes = {**self.status.notes, "method": self.method, "system": self.system}
        notes |= {"aliases": json.dumps(self.aliases)} if self.aliases else {}
        return xarray.Dataset(
            columns, {"t": self.t}, notes | {"values": json.dumps(dict(self.values)), "about": json.dumps(about)}
        )

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_motion`` reads it again."""
        return write(doors.motion_archive.MOTION, self.to_xarray(), path)

    def plot(self, *names: str) -> Figure:
        """Time histories, phase portraits, reactions, energies and, if the system has a drawing, paths in the plane.

        With names, only these of the coordinates (each with its velocity), quasi-velocities and reactions.
        """
        known = (*self.states, *self.reaction_names, *self.aliases, *self.quasi_velocities)
        asked = [one_of(known, name, "no coordinate, velocity, quasi-velocity or reaction") for name in names]
        shown = self.aliases | dict(zip(self.states[len(self.names) :], self.names, strict=True))
        return doors.draw.draw_motion(self, [shown.get(name, name) for name in asked])

    def film(self, frames: int = 8, *, times: Sequence[float] | None = None) -> Figure:
        """Successive configurations, evenly spaced or at the given times, with the path of the traced points so far."""
        return doors.draw.draw_film(self, frames, times)

    def animate(
        self,
        path: str | Path,
        *,
        seconds: float = 10.0,
        fps: float = 25.0,
        span: tuple[float, float] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Write a moving picture: ``.html`` (one file that plays in any browser), ``.gif`` or ``.mp4`` (by ffmpeg).

        The motion, or the part of it from ``span[0]`` to ``span[1]``, takes ``seconds`` to watch, in ``fps`` pictures a
        second; ``progress(done, all)`` is called after each.
        """
        return doors.draw.animate(self, path, seconds=seconds, fps=fps, span=span, progress=progress)

    def _repr_html_(self) -> str:
        """In a notebook a motion plays, if its system has a drawing; else its histories are shown."""
        return doors.draw.motion_html(self)


def states_of(names: Iterable[str]) -> tuple[str, ...]:
    return (*names, *(f"{name}_dot" for name in names))


def file_labels(names: Iterable[str], residuals: Iterable[str]) -> dict[str, str]:
    """Labels of states and reactions in a file, beside time, energies and residuals."""
    return labels(names, ["t", *(f"energy_{part}" for part in ENERGIES), *residuals])
