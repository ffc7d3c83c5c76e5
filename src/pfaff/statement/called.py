"""What users call things by: text, or the symbols of the statement, and values by such names.

Every analysis takes values as keywords, ``simulate(10, theta=1)``, and in a mapping under the name that it gives to
them, ``simulate(10, initial={theta: 1})``: there names may be symbols, and may be those of arguments, such as a
coordinate ``step``.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from keyword import iskeyword
from typing import Any

import sympy as sm

from pfaff.errors import ParameterError, PfaffError, closest

ELSEWHERE = {  # how other programs call arguments, and how they are called here
    **dict.fromkeys(("tol", "rtol", "atol"), "tolerance"),
    **dict.fromkeys(("n", "num", "npoints", "t_eval", "dt"), "samples"),
    **dict.fromkeys(("tend", "t_end", "tmax", "tf", "t_span", "tspan", "until"), "duration"),
    **dict.fromkeys(("y0", "x0", "q0", "ic"), "initial"),
}
NAMED = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


def name_of(key: Any) -> Any:
    """The name of a symbol, a coordinate x(t) or a velocity ẋ, which is ``x_dot``; anything else as it is."""
    if isinstance(key, str):
        return key
    if isinstance(key, sm.Symbol):
        return key.name
    if isinstance(key, sm.core.function.AppliedUndef) and len(key.args) == 1:
        return key.func.__name__
    if isinstance(key, sm.core.function.UndefinedFunction):
        return key.__name__
    if isinstance(key, sm.Derivative) and key.derivative_count == 1 and isinstance(name_of(key.expr), str):
        return f"{name_of(key.expr)}_dot"
    return key


def in_symbols(expression: sm.Expr) -> sm.Expr:
    """An expression with symbols of the same names in place of coordinates and velocities."""
    found = {each: name_of(each) for each in expression.atoms(sm.Derivative, sm.core.function.AppliedUndef)}
    plain = {each: sm.Symbol(name) for each, name in found.items() if isinstance(name, str)}
    return expression.xreplace(plain) if plain else expression


def renamed(values: Mapping[Any, Any], refuse: type[PfaffError] = ParameterError) -> dict[Any, Any]:
    """A mapping with names for its keys; none may come twice, as text and as a symbol."""
    found: dict[Any, Any] = {}
    for key, value in values.items():
        name = name_of(key)
        if name in found:
            raise refuse(f"{name} is given twice, as text and as a symbol: leave one out")
        found[name] = value
    return found


def beside(words: Iterable[str], taken: Collection[str]) -> tuple[str, ...]:
    """Words of ours, each with an underscore where a name of the system is the same: ``period_``."""
    return tuple(f"{word}_" if word in taken else word for word in words)


@cache
def _described(function: Callable[..., Any]) -> tuple[str, frozenset[str]]:
    """What a function calls its further keywords, and its other arguments."""
    parameters = inspect.signature(function).parameters.values()
    words = next((each.name for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD), "")
    return words, frozenset(each.name for each in parameters if each.kind in NAMED) - {"self"}


def words_of(function: Callable[..., Any]) -> str:
    """What a function calls its further keywords: ``initial`` for ``simulate(duration, **initial)``."""
    return _described(getattr(function, "__func__", function))[0]


def unfolded(words: str, given: Mapping[str, Any], *mappings: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by name from keywords, from a mapping that is given under the name of these words, and from others."""
    inside = given.get(words)
    if isinstance(inside, Mapping):
        return unfolded(words, {name: value for name, value in given.items() if name != words}, inside, *mappings)
    if inside is not None and isinstance(inside, list | tuple):
        raise ParameterError(f"{words}={inside!s:.40}: give values by name, {words}={{'x': 1}}")
    found = dict(given)
    for each in mappings:
        for name, value in renamed(each).items():
            if not isinstance(name, str):
                raise ParameterError(f"{words} has {name!s:.40} for a name: give names or symbols, {words}={{'x': 1}}")
            if name in found:
                raise ParameterError(f"{name} is given twice, by itself and within {words}: leave one out")
            found[name] = value
    return found


def check_keywords(function: Callable[..., Any], given: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that is none of the known ones and nearest to an argument of the function: it was misspelt."""
    words, arguments = _described(function)
    for name in given:
        near = "" if name in known else ELSEWHERE.get(name) or closest(name, {*known, *arguments})
        if near in {*arguments, words} - set(known):
            raise ParameterError(f"{function.__name__} has no argument {name!r}: did you mean {near!r}?")


def written(name: str, value: str = "…") -> str:
    """How a value is given by this name, for a message: as a keyword unless Python keeps the word for itself."""
    return f"{{{name!r}: {value}}}" if iskeyword(name) else f"{name}={value}"


def warn_of_clash(called: str, clashes: Collection[str], words: str, whose: str) -> None:
    """Warn of keywords that are arguments of an analysis and names of the system as well: the argument is meant."""
    for name in sorted(clashes):
        warnings.warn(
            f"{name}= is an argument of {called} and {name} a name of {whose} as well: taken for the argument; give "
            f"the other in {words}={{{name!r}: …}} (with {words}={{}} this is not said)",
            stacklevel=4,
        )
