"""Measures of a study at a point: loads, frequencies, normal forms, cycles and motions by name, or a function of the
case.

A measure gives numbers by name. ``NONE`` in place of a number is an answer, such as no flutter up to the last load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import NoBifurcationError, ParameterError
from pfaff.statement.called import name_of, renamed, unfolded
from pfaff.statement.names import checked_title
from pfaff.statement.values import named, number_from, one_of, shown
from pfaff.studies.beside_axes import beside_axes
from pfaff.studies.named_files import function_from, function_origin
from pfaff.threads import part_of_a_whole

if TYPE_CHECKING:
    from pfaff.case import Bound

HOPF = ("hopf", "omega", "crossing_speed", "l1", "criticality")
CRITICAL = ("flutter", "divergence", "buckling")
REST = ("stable", "growth")
FARTHER = 20  # distance, relative to that of the load asked for, within which cycles must have turned back
CYCLE = ("period", "amplitude", "multiplier")
MOTION = ("end", "mean_velocity")
RESERVED = ("state", "point", "sample")  # what became of a point, and dimensions of lists and samples
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True)
class Asked:
    """How loads are searched: which one, how far, and on which equilibrium."""

    load: str | None = None
    to: float | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)


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
    def known(self) -> bool:
        return self.about["kind"] != "function" or self.function is not None or self.trusted

    def __call__(self, case: Bound, asked: Asked) -> Found:
        if labelled := self.about.get("beside"):  # names beside axes of the same name
            about = {key: value for key, value in self.about.items() if key != "beside"}
            own = {name: labelled.get(name, name) for name in self.names}
            found = replace(self, names=tuple(own.values()), about=about)(case, asked)
            return Found({name: found.values[each] for name, each in own.items()}, found.absent)
        kind = self.about["kind"]
        if kind == "function":
            return self._called(case)
        return KINDS[kind](case, asked, self)

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
        if GROUPS.get(name) == "critical" and not hasattr(case, "flutter"):
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
        return Measure((name,), {"kind": "function", "of": name, **function_origin(value)}, value)
    one_of([*GROUPS, *MOTION], name, "no measure")
    if name in MOTION:
        return _of_motion(name, value, case)
    if value is not None:
        raise ParameterError(f"{name} takes no options, not {shown(value)}: leave them out")
    return Measure((name,), {"kind": GROUPS[name]})


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
    return Measure(names, {"kind": "function", "of": list(names), **function_origin(function)}, function)


def _joined(measures: list[Measure]) -> list[Measure]:
    """Measures with those of one search merged."""
    found: dict[str, Measure] = {}
    for k, each in enumerate(measures):
        kind = each.about["kind"]
        key = kind if kind in ("hopf", "critical", "rest", "cycle") else f"{kind} {k}"
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


def _hopf(case: Bound, asked: Asked, measure: Measure) -> Found:
    if speeds(case, asked):
        return _hopf_of_steady(case, asked, measure)
    try:
        hopf = case.hopf(asked.load, asked.to, fixed=asked.fixed)
    except NoBifurcationError as answer:
        return Found(dict.fromkeys(measure.names, math.nan), str(answer))
    numbers = {name: hopf_number(hopf, name) for name in measure.names}
    return Found(numbers, hopf.status if any(map(math.isnan, numbers.values())) else "")


def hopf_number(hopf: Any, name: str) -> float:
    if name == "criticality":
        known = hopf.criticality.startswith(("supercritical", "subcritical"))
        return (-1.0 if hopf.normal_form.attracts else 1.0) if known else 0.0
    return float({"hopf": hopf.value, "omega": hopf.omega, "crossing_speed": hopf.crossing_speed, "l1": hopf.l1}[name])


def _hopf_of_steady(case: Any, asked: Asked, measure: Measure) -> Found:
    """The first Hopf point on a branch of steady motions, in a parameter, a speed or a coordinate."""
    if asked.load is None or asked.to is None:
        raise ParameterError("a branch of steady motions needs what varies and how far: load='s_dot', to=8")
    branch = case.steady(fixed=asked.fixed).branch(asked.load, asked.to)
    first = next(iter(branch.of_kind("hopf")), None)
    if first is None:
        return Found(dict.fromkeys(measure.names, math.nan), f"no Hopf point: {branch.status}")
    return Found({name: _steady_number(first, name) for name in measure.names})


def _steady_number(special: Any, name: str) -> float:
    if name in ("hopf", "omega"):
        return float({"hopf": special.value, "omega": special.omega}[name])
    if special.hopf is not None:
        return hopf_number(special.hopf, name)
    known = {"l1": special.coefficient, "criticality": float(np.sign(special.coefficient))}
    if name not in known:
        raise ParameterError(f"{name} is not known where a speed is followed: leave it out, or let a parameter vary")
    return float(known[name])


def _critical(case: Any, asked: Asked, measure: Measure) -> Found:
    if set(measure.names) <= {"flutter", "flutter_frequency"}:
        found = {"flutter": case.flutter(asked.load, asked.to, fixed=asked.fixed)}
    elif len(measure.names) == 1:
        found = {measure.names[0]: getattr(case, measure.names[0])(asked.load, asked.to, fixed=asked.fixed)}
    else:
        loads = case.critical(asked.load, asked.to, fixed=asked.fixed)
        found = {name: getattr(loads, name) for name in CRITICAL}
    values = {name: each.value for name, each in found.items()}
    values["flutter_frequency"] = found["flutter"].frequency if "flutter" in found else None
    numbers = {name: math.nan if values[name] is None else float(values[name]) for name in measure.names}
    return Found(numbers, "; ".join(found[name].status for name in measure.names if name in found and not found[name]))


def _rest(case: Any, asked: Asked, measure: Measure) -> Found:
    about = case.steady(fixed=asked.fixed) if speeds(case, asked) else None
    spectrum = case.spectrum(values=asked.fixed) if about is None else about.spectrum()
    values = {"stable": float(spectrum.stable), "growth": float(spectrum.values.real.max(initial=-np.inf))}
    return Found({name: values[name] for name in measure.names})


def speeds(case: Bound, asked: Asked) -> list[str]:
    """Velocities among the fixed values, by which steady motions are selected."""
    system = case.system
    coordinates = getattr(system, "coordinate_names", system.state_names)
    return [name for name in asked.fixed if name in system.moving_names and name not in coordinates]


def _cycle(case: Bound, asked: Asked, measure: Measure) -> Found:
    """Numbers of the cycle born at the first Hopf point, at the load of the case."""
    load = case.load_name(asked.load)
    to = float(case.numbers[case.system.parameter_names.index(load)])
    try:
        hopf = case.hopf(load, asked.to, fixed=asked.fixed)
        branch = hopf.orbits(to=to, bounds=_both_ways(hopf.value, to))
    except NoBifurcationError as answer:
        return Found(dict.fromkeys(measure.names, math.nan), str(answer))
    last = branch[-1]
    if abs(last.value - to) > 1e-9 * (1 + abs(to)):
        return Found(dict.fromkeys(measure.names, math.nan), f"no cycle is reached at {load} = {to:g}: {branch.status}")
    coordinates = getattr(case.system, "coordinate_names", case.system.state_names)
    trivial = int(np.abs(last.multipliers - 1).argmin())
    values = {
        "period": last.period,
        "amplitude": max(size for name, size in last.amplitude.items() if name in coordinates),
        "multiplier": np.delete(np.abs(last.multipliers), trivial).max(initial=0.0),
    }
    return Found({name: float(values[name]) for name in measure.names})


def _both_ways(born: float, to: float) -> tuple[float, float]:
    """Bounds that let subcritical cycles, which lead away from ``to``, turn back at a fold far behind."""
    behind = born - math.copysign(abs(born) + FARTHER * abs(to - born), to - born)
    return min(behind, to), max(behind, to)


def _end(case: Any, asked: Asked, measure: Measure) -> Found:
    motion, which = _moved(case, measure, samples=2)
    return Found({f"end_{name}": float(np.asarray(motion[name])[-1]) for name in which})


def _mean_velocity(case: Any, asked: Asked, measure: Measure) -> Found:
    motion, which = _moved(case, measure, samples=2)
    return Found({f"mean_velocity_{name}": _mean(motion, name) for name in which})


def _mean(motion: Any, name: str) -> float:
    """The mean velocity of a coordinate, or the mean of what is a velocity itself."""
    one_of([*motion.states, *getattr(motion, "quasi_velocities", ())], name, "{} has no mean velocity")
    start, end = (float(each) for each in np.asarray(motion.t)[[0, -1]])
    position = name.removesuffix("_dot") if name.removesuffix("_dot") in getattr(motion, "names", ()) else name
    if name not in getattr(motion, "quasi_velocities", ()):
        return float(np.diff(np.asarray(motion[position])[[0, -1]])[0] / (end - start))
    knots = np.asarray(motion.knots)
    half = np.diff(knots)[:, None] / 2
    t = (knots[:-1, None] + half * (1 + NODES)).ravel()
    rows = motion.quasi_rows(t, motion(t))[name].reshape(len(half), -1)
    return float((half * rows * WEIGHTS).sum() / (end - start))


def _moved(case: Any, measure: Measure, samples: int) -> tuple[Any, list[str]]:
    options = dict(measure.about["options"])
    duration = options.pop("duration")
    motion = case.simulate(duration, samples=samples, initial=options | measure.about.get("initial", {}))
    if motion.t[-1] < measure.about["options"]["duration"] * (1 - 1e-12):
        raise ParameterError(f"the motion ended at t = {motion.t[-1]:g}: {motion.status}")
    return motion, measure.about["of"]


GROUPS = {
    **dict.fromkeys(HOPF, "hopf"),
    **dict.fromkeys((*CRITICAL, "flutter_frequency"), "critical"),
    **dict.fromkeys(REST, "rest"),
    **dict.fromkeys(CYCLE, "cycle"),
}
KINDS: dict[str, Callable[[Any, Asked, Measure], Found]] = {
    "hopf": _hopf,
    "critical": _critical,
    "rest": _rest,
    "cycle": _cycle,
    "end": _end,
    "mean_velocity": _mean_velocity,
}
