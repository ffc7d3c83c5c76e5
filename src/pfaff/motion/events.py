"""Events along a motion: where an expression in state, reactions and time vanishes, to the last digits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, nearest
from pfaff.flow.conversion import convert
from pfaff.flow.graph import Expression, expression
from pfaff.flow.integrator import Integrator
from pfaff.flow.sign_changes import Crossing, Function
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

DIRECTIONS = (0, 1, -1)


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


class Watch:
    """The events of one run: lowered, handed to the integrator, recorded."""

    def __init__(self, lower: Callable[[str, Any], Any], events: Mapping[str, Any]) -> None:
        for name in events:
            checked_title(name, "name of an event", LONGEST)
        self.events = {name: e if isinstance(e, Event) else Event(e) for name, e in events.items()}
        self._lowered = {name: lower(name, e.expression) for name, e in self.events.items()}

    @property
    def functions(self) -> list[tuple[Expression, Function]]:
        """What an integrator looks out for."""
        return [(self._lowered[name], Function(e.direction, e.stop)) for name, e in self.events.items()]

    def stopped(self, index: int, time: float) -> Status:
        """The status of a motion that an event ended."""
        return Status(Outcome.EVENT, f" event {list(self.events)[index]!r} at t = {time:.12g}")

    def crossings(self, t: np.ndarray, y: np.ndarray, integrator: Integrator) -> dict[str, Crossings]:
        """The crossings along the motion of an integrator, with states y at times t."""
        found: dict[str, list[Crossing]] = {name: [] for name in self.events}
        for each in integrator.happened:
            found[list(self.events)[each.function]].append(each)
        for name in found:
            if not found[name] and not np.isfinite(self._values(name, t, y, integrator)).any():
                warn_of_no_number(name)
        return {name: together(each, len(y)) for name, each in found.items()}

    def _values(self, name: str, t: np.ndarray, y: np.ndarray, integrator: Integrator) -> np.ndarray:
        row = len(y) + list(self.events).index(name)
        return integrator.values(y, t)[row]


def together(found: list[Crossing], size: int) -> Crossings:
    """All crossings of one event but one at the very start."""
    found = [each for each in found if each.time != 0.0]
    states = np.array([each.state for each in found]).reshape(len(found), size)
    return Crossings(np.array([each.time for each in found]), states.T.copy())


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
    """The parameters as numbers: SymPy would raise its own to powers in all their digits."""
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
