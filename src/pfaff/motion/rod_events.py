"""Events along motions of rods: zeros of expressions on the polynomials of the integrator's steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.algebra.brackets import bracketed_root
from pfaff.flow.placed import NodesAt
from pfaff.flow.sign_changes import Crossing
from pfaff.motion.events import Crossings, Event, parsed_event, together
from pfaff.motion.large.simulation import Record
from pfaff.motion.large.steps import State, Step
from pfaff.motion.outcomes import Outcome, Status
from pfaff.statement.expressions import LONGEST, warn_of_no_number
from pfaff.statement.names import checked_title

if TYPE_CHECKING:
    from pfaff.algebra.factors import Solve
    from pfaff.case import Case

LOOKS = 16  # places in a step between which a sign may change once


class EndedByEvent(Exception):
    """Carries the status of the motion out of the loop over its steps."""

    def __init__(self, status: Status) -> None:
        self.status = status


class RodWatch:
    """The events of one run. Expressions may contain the coordinates of points of rods, and their velocities."""

    def __init__(self, case: Case, events: Mapping[str, Any]) -> None:
        for name in events:
            checked_title(name, "name of an event", LONGEST)
        self.events = {name: each if isinstance(each, Event) else Event(each) for name, each in events.items()}
        self._found: dict[str, list[Crossing]] = {name: [] for name in self.events}
        self._known = dict.fromkeys(self.events, False)  # whether they were numbers anywhere
        self._at = NodesAt(case.system, case.numbers)
        self._functions = {name: self._lowered(case, name, each.expression) for name, each in self.events.items()}

    def _lowered(self, case: Case, name: str, expression: Any) -> Callable[..., np.ndarray]:
        system, frame = case.system, case.system.frame
        assert frame is not None
        s, inner = system.statement, frame.statement
        points = [*inner.q, *inner.v]  # coordinates of the frame: its own, and the points of rods
        reactions = [sm.Symbol(each) for each in system.reaction_names]
        known = {symbol.name: symbol for symbol in (*points, *s.q, *s.v, s.time, *system.parameters, *reactions)}
        parsed = parsed_event(name, expression, known, dict(s.to_plain), system.parameters)
        numbers = {symbol: sm.Float(value) for symbol, value in zip(system.parameters, case.numbers, strict=True)}
        arguments = [known[each.name] for each in (*points, *s.q, *s.v, *reactions, s.time)]
        return sm.lambdify(arguments, parsed.xreplace(numbers), "numpy", dummify=True)

    def values(self, name: str, step: Step, t: np.ndarray) -> np.ndarray:
        q, v = step.path(t)
        placed = self._at.placed(q)
        placed.move(v)
        arguments = [*placed.w[0], *placed.w[1], *q, *v, *step.yields(t)[0], t]
        with np.errstate(all="ignore"):
            return np.broadcast_to(self._functions[name](*arguments), t.shape)

    def look(self, step: Step, end: float) -> tuple[float, str] | None:
        """Record the events in a step; returns when and by which event the motion stops, if it does."""
        times = np.linspace(step.start.t, end, LOOKS + 1)
        found = []
        for name, event in self.events.items():
            values = np.sign(self.values(name, step, times))
            self._known[name] |= bool(np.isfinite(values).any())
            turns = np.flatnonzero((values[:-1] * values[1:] < 0) | ((values[1:] == 0) & (values[:-1] != 0)))
            for k in turns:
                if event.direction and values[k] == event.direction:
                    continue

                def one(t: float, name: str = name) -> float:
                    return float(self.values(name, step, np.array([t]))[0])

                at = times[k + 1] if values[k + 1] == 0 else bracketed_root(one, times[k], times[k + 1], 0.0)
                found.append((float(at), name, event.stop))
        backwards = end < step.start.t
        for at, name, stops in sorted(found, reverse=backwards):
            state = np.concatenate(step.path(np.array([at])))[:, 0]
            self._found[name].append(Crossing(list(self.events).index(name), at, state))
            if stops:
                return at, name
        return None

    def crossings(self, size: int) -> dict[str, Crossings]:
        for name, known in self._known.items():
            if not known:
                warn_of_no_number(name)
        return {name: together(found, size) for name, found in self._found.items()}


@dataclass
class WatchedRecord(Record):
    """Looks for events in every step that it records, and ends the motion at the first that stops it."""

    watch: RodWatch | None = field(default=None)

    def add(self, step: Step, solve: Solve, end: float) -> State:
        stop = self.watch.look(step, end) if self.watch is not None else None
        state = super().add(step, solve, end if stop is None else stop[0])
        if stop is not None:
            raise EndedByEvent(Status(Outcome.EVENT, f" event {stop[1]!r} at t = {stop[0]:.12g}"))
        return state
