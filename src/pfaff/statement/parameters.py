"""Parameters of statements: symbols with defaults, found by name, one of them the load."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

import sympy as sm
from sympy.concrete.expr_with_limits import ExprWithLimits

from pfaff.errors import NoSuchNameError, ParameterError, StatementError, nearest
from pfaff.statement.called import name_of, written
from pfaff.statement.expressions import FUNCTIONS, expressed
from pfaff.statement.names import checked_name
from pfaff.statement.told import answering
from pfaff.statement.values import checked_value, one_of, shown
from pfaff.threads import cached_property
from pfaff.travel import Travels

SMOOTH = (*(each for each in FUNCTIONS.values() if isinstance(each, type)), sm.erfc)  # sqrt is a power
CORNERED = (
    *(
        sm.Abs,
        sm.sign,
        sm.Max,
        sm.Min,
        sm.Heaviside,
        sm.Piecewise,
        sm.floor,
        sm.ceiling,
        sm.frac,
        sm.Mod,
        sm.DiracDelta,
    ),
    *(sm.re, sm.im, sm.arg),
)


@answering
class Parametrised(Travels):
    """What a mechanical system and a plain ODE share: a name, parameters with defaults, and a load."""

    name: str
    parameters: Mapping[sm.Symbol, Any]
    load: Any
    acting: frozenset[sm.Symbol]  # symbols it depends on

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of coordinates and velocities, or of states; no parameter may have one of them."""
        raise NotImplementedError

    @property
    def moving_names(self) -> tuple[str, ...]:
        """Names by which motions are started and selected."""
        return self.state_names

    @property
    def defaults(self) -> dict[str, Any]:
        """Default values by name; ``None`` where the user must give one."""
        return {p.name: value for p, value in self.parameters.items()}

    def parameter(self, name: Any) -> sm.Symbol:
        """The parameter of this name or symbol, or an error that suggests the nearest one."""
        name = name_of(name)
        if isinstance(name, str) and name in self._symbols:
            return self._symbols[name]
        if isinstance(name, str) and name not in self.parameter_names and name in self.moving_names:
            raise ParameterError(
                f"{name} is no parameter of {self.name} but a state: say where it starts, simulate(10, {written(name)})"
            )
        self.named(name, self.parameter_names, f"{self.name} has no parameter")
        return self._symbols[name]

    @cached_property
    def _symbols(self) -> dict[str, sm.Symbol]:
        return {symbol.name: symbol for symbol in self.parameters}

    def named(self, name: Any, known: Collection[str], wrong: str) -> str:
        """A name among the known ones, given as text or symbol; else an error that says what is ``wrong`` and, of a
        name of this statement, where it is used."""
        found = name_of(name)
        use = self.use_of(found) if isinstance(found, str) and found not in known else ""
        if use:
            before, placed, after = wrong.partition("{}")
            raise ParameterError(f"{before}{'' if placed else ' '}{shown(name)}{after}: {use}")
        return one_of(known, name, wrong)

    def use_of(self, name: str) -> str:
        """What a name of this statement is and where it is used, in words; empty for any other name."""
        if name in self.parameter_names:
            return f"it is a parameter, whose value is given before, case.at({written(name)})"
        if name in self.state_names:
            return f"it is a state, from which motions start, simulate(10, {written(name)})"
        return ""

    def _unbound(self, name: str, case: type) -> NoSuchNameError:
        """The error for a name that only a case has, whose parameters have values."""
        remedy = ""
        if not name.startswith("_") and callable(getattr(case, name, None)):
            free = [p.name for p, value in self.__dict__.get("parameters", {}).items() if value is None]
            values = ", ".join(f"{each}=1" for each in free)
            remedy = f"bind its parameters first, system.at({values}).{name}(…)"
        return NoSuchNameError(type(self), name, like=case, remedy=remedy)

    def check_no_parameter(self, name: str) -> None:
        """Raise for a parameter given where a motion starts."""
        if isinstance(name, str) and name in self.parameter_names:
            raise ParameterError(
                f"{name} is a parameter of {self.name}: give its value before, case.at({written(name)})"
            )


def with_symbols(parameters: Any, *stated: Any) -> Any:
    """Parameters with symbols in place of names in text: those of this name in what is stated, or new ones."""
    if not isinstance(parameters, Mapping) or not any(isinstance(key, str) for key in parameters):
        return parameters
    used = {symbol.name: symbol for symbol in _symbols_in(stated)}
    found: dict[Any, Any] = {}
    for key, value in parameters.items():
        symbol = used.get(key) or sm.Symbol(checked_name(key, "parameter")) if isinstance(key, str) else key
        if symbol in found:
            raise StatementError(f"parameter {symbol} is given twice, as text and as a symbol: leave one out")
        found[symbol] = value
    return found


def _symbols_in(stated: Any) -> set[sm.Symbol]:
    """All symbols of expressions, within lists and mappings."""
    if isinstance(stated, sm.Basic | sm.MatrixBase):
        return {each for each in stated.free_symbols if isinstance(each, sm.Symbol)}
    if is_dataclass(stated) and not isinstance(stated, type):
        stated = [getattr(stated, each.name, None) for each in fields(stated) if each.init]
    if isinstance(stated, Mapping):
        stated = [*stated.values(), *stated]
    inside = stated if isinstance(stated, list | tuple) else ()
    return set().union(*(_symbols_in(each) for each in inside))


def checked_parameters(given: Mapping[sm.Symbol, Any], taken: Collection[str], whose: str) -> dict[sm.Symbol, Any]:
    """Symbols with checked defaults; none may have a name that is ``taken`` by ``whose``, such as a coordinate."""
    if not isinstance(given, Mapping):
        raise StatementError(f"parameters={shown(given)}: give symbols with values, parameters={{m: 1, k: None}}")
    for symbol in given:
        if not isinstance(symbol, sm.Symbol):
            raise StatementError(
                f"parameter {shown(symbol)} is not a SymPy symbol: use the symbol the expressions use, "
                f"parameters={{sympy.Symbol({str(name_of(symbol))!r:.40}): 1}}"
            )
        if checked_name(symbol.name, "parameter") in taken:
            raise StatementError(
                f"parameter {symbol.name!r} has the name of {whose}: rename it, or, if it stands for that in the "
                f"expressions, {AS_COORDINATE.format(symbol.name)}"
            )
    names = [symbol.name for symbol in given]
    for name in names:
        if names.count(name) > 1:
            raise StatementError(f"two parameters are called {name!r}: rename one")
    return {symbol: None if value is None else checked_value(symbol, value) for symbol, value in given.items()}


def checked_load(load: sm.Symbol | str | None, parameters: Mapping[sm.Symbol, Any]) -> sm.Symbol | None:
    if load is None:
        return None
    known, name = {symbol.name: symbol for symbol in parameters}, name_of(load)
    if not isinstance(name, str) or name not in known:
        wrong = shown(name).strip("'")
        raise StatementError(f"the load {wrong} is not a parameter of the system: {nearest(name, known)}")
    return known[name]


def scalar(given: Any, where: str, known: Mapping[str, sm.Expr] = MappingProxyType({})) -> sm.Expr:
    """A scalar SymPy expression, or text in known names; matrices count as expressions for SymPy, but not here."""
    found = expressed(given, known, where)
    if not isinstance(found, sm.Expr) or found.is_Matrix:
        raise StatementError(f"{where} is {shown(found)}, not a scalar expression: give one in SymPy or as text")
    return found


AS_COORDINATE = "write it as in coordinates, {0} = dynamicsymbols('{0}'): a plain Symbol('{0}') is another thing"


def check_symbols(
    expression: sm.Expr,
    known: Collection[sm.Symbol],
    declared: Collection[sm.Symbol],
    where: str,
    moving: Collection[str] = (),
) -> None:
    """Raise for an unknown symbol; a declared name with other assumptions is a common mistake, and so is a plain symbol
    for something that is ``moving``, a coordinate or a velocity."""
    for symbol in sorted(expression.free_symbols.difference(known), key=str):
        if symbol.name in moving:
            name, dot = symbol.name.removesuffix("_dot"), symbol.name.endswith("_dot")
            velocity = f", and its velocity as {name}.diff(t)" if dot else ""
            raise StatementError(
                f"{where} contains the plain symbol {symbol}, which is not the function of time {name}(t) among the "
                f"coordinates: {AS_COORDINATE.format(name)}{velocity}"
            )
        if any(symbol.name == other.name for other in (*declared, *known)):
            raise StatementError(
                f"{where} contains the symbol {symbol} with other assumptions than the {symbol} that is declared: "
                "use one and the same SymPy symbol, for the time dynamicsymbols._t"
            )
        raise StatementError(
            f"{where} contains the symbol {symbol}, which is no parameter: add it to parameters, with a value or None"
        )


def check_no_delay(expression: sm.Expr, moving: Mapping[str, sm.Expr], where: str) -> None:
    """Raise for a coordinate or state at another time than the present."""
    for term in sorted(expression.atoms(sm.core.function.AppliedUndef, sm.Subs), key=str):
        inside = (
            term
            if isinstance(term, sm.core.function.AppliedUndef)
            else next(iter(term.expr.atoms(sm.core.function.AppliedUndef)), None)
        )
        name = "" if inside is None else inside.func.__name__
        if name in moving and term != moving[name]:
            raise StatementError(
                f"{where} contains {shown(term)}, {name} at another time: delays are not supported; for a short one, "
                f"tau, {name} - tau*{name}.diff(t) may take the place of {name}(t - tau)"
            )


def check_smooth(expression: sm.Expr, where: str, real: str) -> None:
    """Raise unless an expression can be differentiated to any order, in ``real`` numbers."""
    if expression.has(sm.I):
        raise StatementError(f"{where} contains I: {real}")
    for number in expression.atoms(sm.zoo, sm.nan, sm.oo, -sm.oo):
        raise StatementError(f"{where} contains {number}: look for a division by zero, or a number that is not finite")
    for term in sorted(expression.atoms(sm.core.function.Application, ExprWithLimits), key=str):
        if isinstance(term, CORNERED):
            raise StatementError(
                f"{where} contains {shown(term)}: smooth functions alone can be followed ({', '.join(FUNCTIONS)}); "
                "a jump may be replaced by tanh(x/w) and a corner by sqrt(x**2 + w**2), with a width w that is small "
                "beside what x covers: a hundredth of it, say, is followed in some twenty steps"
            )
        if not isinstance(term, SMOOTH):
            remedy = "call its .doit() first" if isinstance(term, ExprWithLimits) else "write it by these"
            raise StatementError(
                f"{where} contains {shown(term)}: the functions that can be followed are {', '.join(FUNCTIONS)}; "
                f"{remedy}, or make what does not move a parameter"
            )
