"""A plain first-order ODE ẋ = f(x, t; parameters), stated in SymPy, for the same bifurcation analyses as a system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import sympy as sm

from pfaff import doors
from pfaff.errors import StatementError, nearest
from pfaff.statement.called import name_of
from pfaff.statement.names import checked_name, checked_title
from pfaff.statement.parameters import (
    Parametrised,
    check_no_delay,
    check_smooth,
    check_symbols,
    checked_load,
    checked_parameters,
    scalar,
    with_symbols,
)
from pfaff.statement.told import rightly_asked, spelt
from pfaff.statement.values import shown
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import OdeCase
    from pfaff.flow.flow import Flow


@spelt
@dataclass(frozen=True, eq=False)
class Ode(Parametrised):
    """ẋ = f(x, t; parameters): one right-hand side for each state. Make it with ``pfaff.ode``."""

    equations: Mapping[sm.Expr, Any]
    parameters: Mapping[sm.Symbol, Any] = field(default_factory=dict)
    load: Any = None
    name: str = "ode"
    time: ClassVar[sm.Symbol] = sm.Symbol("t")
    symbols: tuple[sm.Symbol, ...] = field(init=False, repr=False)
    right_hand_sides: tuple[sm.Expr, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        normalise = object.__setattr__
        normalise(self, "equations", with_symbols(self.equations, self.equations))
        _check_states(self.equations)
        names = self.state_names
        normalise(self, "name", checked_title(self.name, "name of an ODE"))
        stated = with_symbols(self.parameters, self.equations)
        normalise(self, "parameters", checked_parameters(stated, names, "a state"))
        normalise(self, "load", checked_load(self.load, self.parameters))
        normalise(self, "symbols", tuple(sm.Symbol(name, real=True) for name in names))
        written = _Written(self)
        normalise(self, "right_hand_sides", tuple(written.plain(x) for x in self.equations))

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        return tuple(_name(x) for x in self.equations)

    @cached_property
    def autonomous(self) -> bool:
        """Whether time appears in the states only."""
        return self.time in self.parameters or self.time not in self.acting

    @cached_property
    def acting(self) -> frozenset[sm.Symbol]:
        """The symbols that right-hand sides depend on."""
        return frozenset().union(*(f.free_symbols for f in self.right_hand_sides))

    def __getattr__(self, name: str) -> Any:
        """Answer names of analyses, which need numbers: they are methods of a case."""
        raise self._unbound(name, doors.case.OdeCase)

    def at(self, /, *unnamed: Any, **values: Any) -> OdeCase:
        """This ODE with numbers for its parameters: an immutable case, ready for analysis."""
        return doors.case.OdeCase(self, self.defaults).at(*unnamed, **values)

    @cached_property
    def flow(self) -> Flow:
        """The right-hand side with derivatives of any order."""
        return doors.lowering.ode_flow(self)

    @property
    def shape(self) -> Flow:
        """The same as ``flow``: no state of a plain ODE is known to be ignorable."""
        return self.flow

    def _repr_markdown_(self) -> str:
        """In a notebook: the right-hand sides as formulas."""
        return doors.draw.ode_markdown(self)

    def __repr__(self) -> str:
        return (
            f"<Ode {self.name!r}: states {', '.join(self.state_names)}; parameters {', '.join(self.parameter_names)}>"
        )


@rightly_asked
def ode(
    equations: Mapping[sm.Expr, Any],
    parameters: Mapping[sm.Symbol, Any] | None = None,
    load: sm.Symbol | str | None = None,
    name: str = "ode",
) -> Ode:
    """State a plain ODE: ``pfaff.ode({x: y, y: mu*y - x - x**2*y}, parameters={mu: 0}, load=mu)``.

    Keys are the states, functions of time (``dynamicsymbols``) or plain symbols, and values their rates of change, in
    SymPy or as text. The time t itself may force them, ``F*cos(Omega*t)``: ask such equations for their ``response``.
    ``load`` is the parameter that bifurcation analyses vary, unless they are told another.
    """
    return Ode(equations, {} if parameters is None else parameters, load, name)


def _name(state: sm.Expr) -> str:
    return state.name if isinstance(state, sm.Symbol) else state.func.__name__


def _check_states(equations: Any) -> None:
    if not isinstance(equations, Mapping):
        raise StatementError("an ODE takes the rate of each state by the state's name: {x: right-hand side, …}")
    if not equations:
        raise StatementError("an ODE needs at least one equation: {x: right-hand side, …}")
    for state in equations:
        function = isinstance(state, sm.core.function.AppliedUndef) and len(state.args) == 1
        if not (function or isinstance(state, sm.Symbol)):
            rate = isinstance(state, sm.Derivative) and isinstance(name_of(state), str)
            remedy = f"write {{{name_of(state)[:-4]}: …}} for this rate" if rate else "make it with symbols"
            raise StatementError(
                f"state {shown(state)} is neither a symbol nor a function of time: {remedy}, and give higher "
                "derivatives a state of their own, {x: v, v: -x}"
            )
    names = [checked_name(_name(state), "state") for state in equations]
    for name, times in Counter(names).items():
        if times > 1:
            raise StatementError(f"two states are called {name!r}: give each its own name")


class _Written:
    """The right-hand sides as written, with the symbols that they may contain."""

    def __init__(self, system: Ode) -> None:
        self.system, names = system, (_name(x) for x in system.equations)
        self.states: dict[sm.Expr, sm.Symbol] = dict(zip(system.equations, system.symbols, strict=True))
        self.words = {"t": sm.Symbol("t"), **dict(zip(names, self.states, strict=True))}
        self.words |= {p.name: p for p in system.parameters}
        times = {x.args[0] for x in self.states if not isinstance(x, sm.Symbol)} | {sm.Symbol("t")}
        self.time = dict.fromkeys(times - set(system.parameters), system.time)
        self.known = {*self.states.values(), *system.parameters, *self.time.values()}

    def plain(self, state: sm.Expr) -> sm.Expr:
        """The right-hand side of one state in plain symbols, checked."""
        where = f"the equation of {_name(state)}"
        expression = scalar(self.system.equations[state], where, self.words).xreplace(self.states)
        check_no_delay(expression, dict(zip(self.system.state_names, self.states, strict=True)), where)
        for leftover in sorted(expression.atoms(sm.Derivative), key=str):
            raise StatementError(f"{where} contains {leftover}: give derivatives a state of their own")
        for leftover in sorted(expression.atoms(sm.core.function.AppliedUndef), key=str):
            close = nearest(_name(leftover), self.system.state_names)
            raise StatementError(f"{where} contains {leftover}, which is no state ({close}): add its equation")
        expression = expression.xreplace(self.time)
        check_symbols(expression, self.known, self.known, where)
        check_smooth(expression, where, "give real and imaginary part a real state each")
        return expression
