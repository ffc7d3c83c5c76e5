"""Measures of a study at a point: numbers of the ``catalogue`` by name, or a function of the case.

A measure gives numbers by name. NaN in place of a number is an answer if words say why, such as no flutter up to the
last load; without words it is a failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import NoBifurcationError, ParameterError
from pfaff.statement.called import name_of, renamed, unfolded
from pfaff.statement.names import checked_title
from pfaff.statement.values import named, number_from, one_of, shown
from pfaff.studies.beside_axes import beside_axes
from pfaff.studies.catalogue import QUANTITIES, Asked, Search, searches
from pfaff.studies.named_files import function_from, function_origin
from pfaff.threads import part_of_a_whole

if TYPE_CHECKING:
    from pfaff.case import Bound

FUNCTION = "function"  # the kind of a measure that is computed by a function of the user's
RESERVED = ("state", "point", "sample")  # what became of a point, and dimensions of lists and samples


@dataclass(frozen=True)
class Found:
    """Numbers by name, and in words why some are missing."""

    values: Mapping[str, float]
    absent: str = ""


@dataclass(frozen=True)
class Measure:
    """Names of numbers, and how to compute them for a case. ``about`` is JSON.

    A function goes to other processes by its file, if a caller has given the function or trusts the file; one that only
    a store names is not ``known``.
    """

    names: tuple[str, ...]
    about: Mapping[str, Any]
    function: Callable[[Any], Any] | None = None
    trusted: bool = False

    @property
    def search(self) -> Search | None:
        """The search that finds its numbers; None for a function of the user's."""
        return None if self.about["kind"] == FUNCTION else searches()[self.about["kind"]]

    @property
    def known(self) -> bool:
        return self.about["kind"] != FUNCTION or self.function is not None or self.trusted

    def __call__(self, case: Bound, asked: Asked) -> Found:
        if labelled := self.about.get("beside"):  # names beside axes of the same name
            about = {key: value for key, value in self.about.items() if key != "beside"}
            own = {name: labelled.get(name, name) for name in self.names}
            found = replace(self, names=tuple(own.values()), about=about)(case, asked)
            return Found({name: found.values[each] for name, each in own.items()}, found.absent)
        return self._called(case) if self.search is None else self._searched(self.search, case, asked)

    def _searched(self, search: Search, case: Bound, asked: Asked) -> Found:
        try:
            found = search.find(case, asked, self.about if search.moves else self.names)
        except NoBifurcationError as answer:
            return Found(dict.fromkeys(self.names, math.nan), str(answer))
        if search.moves:
            read = QUANTITIES[search.name].of
            numbers = {name: read(found, of) for name, of in zip(self.names, self.about["of"], strict=True)}
        else:
            numbers = {name: QUANTITIES[name].of(found) for name in self.names}
        values = {name: math.nan if value is None else float(value) for name, value in numbers.items()}
        missing = [name for name, value in values.items() if math.isnan(value)]
        return Found(values, search.absence(found, missing) if missing else "")

    def _called(self, case: Bound) -> Found:
        if not self.known:
            raise ParameterError(f"what measures {', '.join(self.names)} is not known here: give the function")
        function = function_from(self.about) if self.function is None else self.function
        given = function(case)
        numbers = given if isinstance(given, Mapping) else {self.names[0]: given}
        values = {name: _number(name, numbers.get(name)) for name in self.names}
        missing = [name for name, value in values.items() if math.isnan(value)]
        return Found(values, f"no {', '.join(missing)}" if missing else "")

    def __getstate__(self) -> dict[str, Any]:
        function = None if "file" in self.about else self.function
        return {"names": self.names, "about": dict(self.about), "function": function, "trusted": self.known}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


def _number(name: str, value: Any) -> float:
    """A number from the user; None and NaN are answers, text is not."""
    if value is None:
        return math.nan
    if isinstance(value, bool | np.bool_):
        return float(value)
    if isinstance(value, float | np.floating) and math.isnan(value):
        return math.nan
    return number_from(name, value)


def measures_from(given: Any, case: Bound, axes: Collection[str] = ()) -> tuple[Measure, ...]:
    """Measures from names, from a function, or from a mapping from names to functions or options; one that is called
    as an axis is given an underscore."""
    if isinstance(given, str) or callable(given):
        given = [given]
    if isinstance(given, Mapping):
        found = [_named(name, value, case) for name, value in renamed(given).items()]
    elif isinstance(given, Sequence):
        found = [_of_function(each, case) if callable(each) else _named(name_of(each), None, case) for each in given]
    else:
        raise ParameterError(f"measure={shown(given)}: give names, ['flutter', 'l1'], or a function of a case")
    if not found:
        raise ParameterError("what is to be measured? Give measure=['flutter'], or a function of a case")
    measures = tuple(_joined(found))
    for name in (name for each in measures for name in each.names):
        if name in QUANTITIES and QUANTITIES[name].search.grows and not hasattr(case, "flutter"):
            raise ParameterError(f"{name} is of mechanical systems: of an ODE, measure 'hopf', 'stable' or 'growth'")
    taken: set[str] = set()
    if not all(each.names for each in measures):
        raise ParameterError(
            "a measure gives no numbers at the values of this case: return them by name, {'speed': 1.0}"
        )
    for name in (name for each in measures for name in each.names):
        checked_title(name, "name of a measure")
        if name in taken:
            raise ParameterError(f"{name} is measured twice: leave one out")
        taken.add(name)
    return beside_axes(measures, (*axes, *RESERVED))


def _named(name: Any, value: Any, case: Bound) -> Measure:
    if callable(value):
        (name,) = named("the names of measures", [name], "['speed']")
        return Measure((name,), {"kind": FUNCTION, "of": name, **function_origin(value)}, value)
    search = QUANTITIES[one_of(QUANTITIES, name, "no measure")].search
    if search.moves:
        return _of_motion(name, value, case)
    if value is not None:
        raise ParameterError(f"{name} takes no options, not {shown(value)}: leave them out")
    return Measure((name,), {"kind": search.name})


def _of_motion(name: str, options: Any, case: Bound) -> Measure:
    example = f"measure={{'{name}': {{'duration': 100, 'of': ['X'], 'theta1_dot': 0.01}}}}"
    if not isinstance(options, Mapping) or "duration" not in options or "of" not in options:
        raise ParameterError(f"{name} needs a duration and the names of what is measured: {example}")
    of, system = options["of"], case.system
    reactions = (*getattr(system, "reaction_names", ()), *getattr(system, "reaction_aliases", ()))
    which = (of,) if isinstance(name_of(of), str) else named("of", of, "['X']")
    which = tuple(system.named(each, (*system.moving_names, *reactions), "a motion has no") for each in which)
    beside = {key: value for key, value in options.items() if key not in ("of", "duration")}
    starts = unfolded("initial", renamed(beside))
    for key in starts:
        system.named(key, system.moving_names, "a motion does not start from")
    numbers = {key: number_from(key, value) for key, value in starts.items()}
    about: dict[str, Any] = (
        {"initial": {"duration": numbers.pop("duration")}} if "duration" in numbers else {}
    )  # a state of that name
    about |= {"of": list(which), "options": {"duration": number_from("duration", options["duration"]), **numbers}}
    return Measure(tuple(f"{name}_{each}" for each in which), {"kind": name, **about})


@part_of_a_whole()
def _of_function(function: Callable[[Any], Any], case: Bound) -> Measure:
    """A function that names its numbers itself: they are learnt by calling it with the case."""
    title = getattr(function, "__name__", "measure")
    try:
        given = function(case)
    except Exception as problem:
        raise ParameterError(
            f"{title} fails at the values of this case ({problem}), so that what it measures is not known: say it, "
            f"measure={{'{title}': {title}}}, or give a case where it does not"
        ) from problem
    names = tuple(given) if isinstance(given, Mapping) else (title if title.isidentifier() else "measure",)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(f"{title} gives {shown(given)}: return a number, or numbers by name, {{'speed': 1.0}}")
    return Measure(names, {"kind": FUNCTION, "of": list(names), **function_origin(function)}, function)


def _joined(measures: list[Measure]) -> list[Measure]:
    """Measures with those of one search merged."""
    found: dict[str, Measure] = {}
    for k, each in enumerate(measures):
        kind, search = each.about["kind"], each.search
        key = f"{kind} {k}" if search is None or search.moves else kind
        names = (*found[key].names, *each.names) if key in found else each.names
        found[key] = Measure(names, each.about, each.function)
    return list(found.values())


def restored_measures(about: Sequence[Mapping[str, Any]], trust: bool = False) -> tuple[Measure, ...]:
    """The measures of a recipe; functions that it names are taken from their files, by executing these, if they are
    trusted."""
    found = [Measure(tuple(each["names"]), {k: v for k, v in each.items() if k != "names"}) for each in about]
    return tuple(
        replace(each, function=function_from(each.about)) if trust and "file" in each.about else each for each in found
    )
