"""Events along a motion: where an expression in state, reactions and time vanishes, to the last digits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import heyoka as hy
import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, nearest
from pfaff.flow.compiled import Compiled
from pfaff.flow.conversion import convert
from pfaff.flow.expressions import expression
from pfaff.motion.drive import Driven
from pfaff.motion.outcomes import Outcome, Status
from pfaff.motion.taylor import Equations
from pfaff.statement.called import in_symbols
from pfaff.statement.expressions import LONGEST, shortened, vanishing, warn_of_no_number
from pfaff.statement.names import checked_title
from pfaff.statement.told import spelt, told
from pfaff.statement.values import shown, truth

if TYPE_CHECKING:
    from pfaff.case import Bound

DIRECTIONS = {0: hy.event_direction.any, 1: hy.event_direction.positive, -1: hy.event_direction.negative}


@spelt
@dataclass(frozen=True)
class Event:
    """An expression that vanishes, or an equation: a section, an end stop, a reaction that changes sign.

    The expression is SymPy or text, in coordinates, velocities (``theta1_dot``), quasi-velocities, reactions (``p``,
    ``p_blade``), parameters and time ``t``; ``pfaff.statement.expressions`` lists the functions that text may contain.
    ``direction`` is +1 or −1 for crossings one way only; ``stop`` ends the motion at the first.
    """

    expression: Any
    direction: int = 0
    stop: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.direction, int) or self.direction not in DIRECTIONS:
            raise ParameterError(f"direction={shown(self.direction)}: give 1 for rising, -1 for falling, 0 for both")
        truth("stop", self.stop)


@told
@dataclass(frozen=True)
class Crossings:
    """The times at which an event happened and the states there, one column each."""

    t: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.t)

    @property
    def status(self) -> str:
        if not len(self):
            return "never"
        return (
            f"once, t = {self.t[0]:.6g}"
            if len(self) == 1
            else f"{len(self)} times, t = {self.t[0]:.6g} … {self.t[-1]:.6g}"
        )


class Recorder:
    """Records time and state whenever its event happens; heyoka copies callbacks, but a copy of this one is
    itself."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.states: list[np.ndarray] = []

    def __deepcopy__(self, memo: Any) -> Recorder:
        return self

    def __call__(self, integrator: Any, time: float, sign: int) -> None:
        integrator.update_d_output(time)
        self.add(time, integrator.d_output)

    def add(self, time: float, state: np.ndarray) -> None:
        self.times.append(float(time))
        self.states.append(np.array(state))

    def withdraw(self, t: float) -> None:
        kept = [k for k, time in enumerate(self.times) if abs(time) <= abs(t)]
        self.times, self.states = [self.times[k] for k in kept], [self.states[k] for k in kept]

    def crossings(self, size: int) -> Crossings:
        """All crossings but one at the very start."""
        kept = [k for k, time in enumerate(self.times) if time != 0.0]
        states = np.array([self.states[k] for k in kept]).reshape(len(kept), size)
        return Crossings(np.array([self.times[k] for k in kept]), states.T.copy())


class Watch:
    """The events of one run: lowered, handed to the integrator, recorded."""

    def __init__(self, lower: Callable[[str, Any], Any], events: Mapping[str, Any]) -> None:
        for name in events:
            checked_title(name, "name of an event", LONGEST)
        self.events = {name: e if isinstance(e, Event) else Event(e) for name, e in events.items()}
        self.recorders = {name: Recorder() for name in self.events}
        lowered = self._lowered = {name: lower(name, e.expression) for name, e in self.events.items()}
        self.stops = [name for name, e in self.events.items() if e.stop]
        passing = [name for name in self.events if name not in self.stops]
        self.options: dict[str, Any] = {}
        if passing:
            self.options["nt_events"] = [
                hy.nt_event(lowered[name], self.recorders[name], direction=DIRECTIONS[self.events[name].direction])
                for name in passing
            ]
        if self.stops:
            self.options["t_events"] = [
                hy.t_event(lowered[name], direction=DIRECTIONS[self.events[name].direction]) for name in self.stops
            ]

    def withdraw(self, t: float) -> None:
        """Forget what happened after a time, in a step that is taken again."""
        for recorder in self.recorders.values():
            recorder.withdraw(t)

    def forget(self) -> None:
        for recorder in self.recorders.values():
            recorder.times.clear()
            recorder.states.clear()

    def stopped(self, index: int, time: float, state: np.ndarray) -> Status:
        """Record the event that ended the motion; returns the status."""
        name = self.stops[index]
        if float(time) not in self.recorders[name].times[-1:]:
            self.recorders[name].add(time, state)
        return Status(Outcome.EVENT, f" event {name!r} at t = {time:.12g}")

    def crossings(self, t: np.ndarray, y: np.ndarray, integrator: Any) -> dict[str, Crossings]:
        """The crossings recorded along the motion of an integrator, with states y at times t."""
        for name, recorder in self.recorders.items():
            if not recorder.times and not np.isfinite(self._values(name, t, y, integrator)).any():
                warn_of_no_number(name)
        return {name: recorder.crossings(len(y)) for name, recorder in self.recorders.items()}

    def _values(self, name: str, t: np.ndarray, y: np.ndarray, integrator: Any) -> np.ndarray:
        states = [state for state, _ in integrator.sys]
        return Compiled([self._lowered[name]], states)(y, integrator.pars, t)


def lower_event(driven: Driven, eqs: Equations, name: str, expression: Any) -> Any:
    """The expression in the integrator's graph: parameters as numbers or functions, reactions as expressions of the
    graph."""
    case, system = driven.case, driven.case.system
    s = system.statement
    plain = {symbol.name: symbol for symbol in (*s.q, *s.v, s.time, *system.parameters)}
    reactions = {sm.Symbol(p): e for p, e in zip(system.reaction_names, eqs.reactions, strict=False)}
    aliases = system.reaction_aliases.items()
    reactions |= {sm.Symbol(own): reactions[sm.Symbol(p)] for own, p in aliases if sm.Symbol(p) in reactions}
    moving = {sm.Symbol(load): function for load, function in driven.loads.items()}
    known = {**plain, **{symbol.name: symbol for symbol in (*reactions, *moving)}}
    parsed = parsed_event(name, expression, known | dict(system.quasi_forms), dict(s.to_plain), system.parameters)
    return convert(parsed.xreplace(moving), {**eqs.graph.symbols, **numbers_of(case), **reactions})


def numbers_of(case: Bound) -> dict[sm.Symbol, Any]:
    """The parameters as heyoka's numbers: SymPy would raise its own to powers in all their digits."""
    return {p: expression(float(v)) for p, v in zip(case.system.parameters, case.numbers, strict=True)}


def parsed_event(
    name: str,
    expression: Any,
    known: Mapping[str, sm.Symbol],
    plain: Mapping[sm.Expr, sm.Symbol],
    fixed: Collection[sm.Symbol],
) -> sm.Expr:
    """An expression in known symbols from SymPy or text, not of ``fixed`` ones alone; functions of time are replaced by
    their ``plain`` symbols."""
    parsed = vanishing(expression, known, f"event {shortened(name)}", ParameterError)
    if not isinstance(parsed, sm.Expr) or not parsed.free_symbols | parsed.atoms(sm.core.function.AppliedUndef):
        raise ParameterError(
            f"event {name!r} is {shown(parsed)}: give an expression that vanishes, such as 'theta1 - 1/2'"
        )
    parsed = in_symbols(parsed.xreplace(dict(plain)))
    for symbol in sorted(parsed.free_symbols - set(known.values()), key=str):
        if symbol.name not in known:
            raise ParameterError(f"event {name!r} contains the unknown {symbol}: {nearest(symbol.name, known)}")
        parsed = parsed.xreplace({symbol: known[symbol.name]})
    if set(fixed).issuperset(parsed.free_symbols):
        raise ParameterError(f"event {name!r} is {shown(parsed)}, the same at all times: name a state, a reaction or t")
    return parsed
