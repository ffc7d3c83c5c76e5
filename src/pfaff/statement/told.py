"""How a result shows itself: in one line by its status, and in a notebook as a table where it is one; and how it and
its makers answer names and arguments that they do not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from pfaff import doors
from pfaff.errors import NoSuchNameError, ParameterError, nearest, number_of
from pfaff.statement.called import warn_of_clash

Result = TypeVar("Result", bound=type)
Called = TypeVar("Called", bound=Callable[..., Any])
UNNAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ASKED = "_asked_rightly"  # marks functions that answer wrong arguments already
ROUNDING = 1e-12  # values below this, relative to the largest of their kind, are shown as zero


def without_rounding(values: Any) -> np.ndarray:
    """Numbers of one kind for a table that people read."""
    numbers = np.asarray(values, dtype=float)
    return np.where(np.abs(numbers) < ROUNDING * np.abs(numbers).max(initial=0.0), 0.0, numbers)


def told(result: Result) -> Result:
    """A class whose ``repr`` is its status, and whose display in a notebook is made in the room ``draw``."""
    result.__repr__ = _in_words  # type: ignore[assignment]
    return shown_in_notebooks(result)


def shown_in_notebooks(result: Result) -> Result:
    """A class that notebooks show as the room ``draw`` makes it; its ``repr`` stays."""
    result._repr_html_ = _as_html  # type: ignore[attr-defined]
    return answering(result)


def spelt(kind: Result) -> Result:
    """A class that users construct: it answers unknown arguments and names with those it has."""
    _ask_rightly(kind, made=True)
    return answering(kind)


def _ask_rightly(kind: type, made: bool) -> None:
    for name, function in list(vars(kind).items()):
        if isinstance(function, FunctionType) and not hasattr(function, ASKED):
            if not name.startswith("_"):
                setattr(kind, name, rightly_asked(function, name, method=True))
            elif name == "__init__" and made:
                setattr(kind, name, rightly_asked(function, kind.__name__, method=True))


def rightly_asked(function: Called, called: str = "", method: bool = False) -> Called:
    """A function or method that answers wrong arguments in words; right ones cost nothing more."""
    code = inspect.unwrap(function).__code__
    free = code.co_flags & inspect.CO_VARKEYWORDS
    count = code.co_argcount + code.co_kwonlyargcount
    known = frozenset(code.co_varnames[method:count])
    further = code.co_varnames[count + bool(code.co_flags & inspect.CO_VARARGS)] if free else ""

    @wraps(function)
    def asked(*values: Any, **words: Any) -> Any:
        if not free and not known.issuperset(words):
            raise ParameterError(_unknown(called or function.__name__, next(w for w in words if w not in known), known))
        if free and words and method and not known.isdisjoint(words):
            _warn_of_clashes(called or function.__name__, values[0], known.intersection(words), further, words)
        try:
            return function(*values, **words)
        except TypeError:
            wrong = _unfit(function, called or function.__name__, method, values, words)
            if not wrong:
                raise
        raise ParameterError(wrong)

    setattr(asked, ASKED, True)
    return asked  # type: ignore[return-value]


def _warn_of_clashes(called: str, asked: Any, clashes: frozenset[str], further: str, words: dict[str, Any]) -> None:
    """Warn where a keyword may be an argument or a name of the system; a mapping of the latter leaves no doubt."""
    known = getattr(type(asked), "_names_for", None)
    clashes = clashes.intersection(known(asked, further)) if known is not None else frozenset()
    if clashes and not isinstance(words.get(further), Mapping):
        warn_of_clash(called, clashes, further, asked.system.name)


def _unknown(called: str, name: str, known: frozenset[str]) -> str:
    alike = sorted(each for each in known if name in each)
    if len(alike) > 1:
        return f"{called} has no argument {name!r}: did you mean {' or '.join(map(repr, alike))}?"
    return f"{called} has no argument {name!r}: {nearest(name, known) if known else 'nothing is given to it by name'}"


def _unfit(function: Callable[..., Any], called: str, method: bool, values: Any, words: dict[str, Any]) -> str:
    """What is wrong with the arguments; empty if they fit."""
    signature = inspect.signature(function)
    try:
        signature.bind(*values, **words)
        return ""
    except TypeError:
        pass
    parameters = list(signature.parameters.values())[method:]
    optional = [p for p in parameters if p.default is not p.empty or p.kind in ANY]
    required = [p for p in parameters if p not in optional]
    unnamed = [p for p in parameters if p.kind in UNNAMED]
    given = [p.name for p in unnamed[: len(values) - method]]
    usage = f"write {called}({', '.join([*(p.name for p in required), *(['…'] if optional else [])])})"
    twice = [name for name in given if name in words]
    missing = [p.name for p in required if p.name not in (*given, *words)]
    if twice:
        further = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), "")
        other = f", or, if {twice[0]} is a name of the system, write {further}={{{twice[0]!r}: …}}" if further else ""
        return f"{called} is given {twice[0]!r} twice, by its place and by its name: leave one out{other}"
    if missing:
        return f"{called} needs {' and '.join(map(repr, missing))}: {usage}"
    if len(values) - method > len(unnamed):
        most = f"at most {number_of(len(unnamed), 'value')}" if unnamed else "nothing"
        named = [p.name for p in parameters if p.name not in given and p.kind not in ANY]
        further = next(
            (f", and values by name, {p.name}={{'x': …}}" for p in parameters if p.kind is p.VAR_KEYWORD), ""
        )
        others = (f", the others by name, {named[0]}=…" if named else "") + further
        return f"{called} takes {most} without a name and was given {len(values) - method}: {usage}{others}"
    return f"{called} cannot be called so: {usage}"


def answering(kind: Result) -> Result:
    """A class that answers an unknown name with the nearest one, and whose methods answer wrong arguments in words;
    right ones cost nothing more."""
    _ask_rightly(kind, made=False)
    if not hasattr(kind, "__getattr__"):
        kind.__getattr__ = no_such_name  # type: ignore[attr-defined]
    return kind


def no_such_name(self: Any, name: str) -> Any:
    """Python calls this where all else has failed."""
    if not name.startswith("_") and hasattr(type(self), name):
        return object.__getattribute__(self, name)  # a property of that name has failed: raise its own error
    remedy = getattr(type(self), "_elsewhere", {}).get(name, "") or _in_brackets(self, name)
    raise NoSuchNameError(type(self), name, remedy=remedy)


def _in_brackets(result: Any, name: str) -> str:
    """The remedy for a name of the system asked of a result that has it under this name."""
    system: Any = getattr(result.__dict__.get("case"), "system", None)
    known = hasattr(type(result), "__getitem__") and not name.startswith("_") and hasattr(system, "use_of")
    return f"write it in brackets, …[{name!r}]" if known and system.use_of(name) else ""


def _in_words(self: Any) -> str:
    return f"<{self.status}>"


def _as_html(self: Any) -> str:
    return doors.draw.html_of(self)
