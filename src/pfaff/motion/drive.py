"""Prescribed motions q(t) and loads F(t): the same system, driven.

A load that varies replaces its parameter. A prescribed coordinate becomes a holonomic constraint q − f(t) = 0, whose
reaction is the force or couple that the drive takes. Sampled functions become splines of fifth degree: between two
knots polynomials, whose coefficients are parameters that change from knot to knot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.compiled import Compiled
from pfaff.errors import ParameterError, nearest
from pfaff.lowering import graph_of

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.system import Drawing, System

DEGREE = 5
SINCE = "spline knot"
INERTIA = sm.Symbol("inertia carried by the drives", positive=True)


@dataclass(frozen=True)
class Driven:
    """A case in which time drives some coordinates or parameters; polynomials change at the knots."""

    case: Case
    knots: np.ndarray = field(default_factory=lambda: np.zeros(0))
    changing: Mapping[str, np.ndarray] = field(default_factory=dict)

    def numbers(self, t: np.ndarray) -> np.ndarray:
        """The parameters at each time, one column each; a single column if none changes."""
        if not self.changing:
            return self.case.numbers
        interval = np.searchsorted(self.knots, np.abs(t), side="right")
        table = np.repeat(self.case.numbers[:, None], len(t), axis=1)
        for name, values in self.changing.items():
            table[self.case.system.parameter_names.index(name)] = values[interval]
        return table

    def on(self, k: int) -> np.ndarray:
        """The parameters on interval k."""
        numbers = self.case.numbers.copy()
        for name, values in self.changing.items():
            numbers[self.case.system.parameter_names.index(name)] = values[k]
        return numbers


def prescribe(case: Case, prescribed: Mapping[str, Any], duration: float) -> Driven:
    """The case with functions of time for some coordinates and parameters.

    Each function is a SymPy expression in time, a pair (times, values) of samples, or a ``scipy.interpolate``
    object that can be called; samples must cover the motion.
    """
    if not prescribed:
        return Driven(case)
    splines = {name: value for name, value in prescribed.items() if not _is_expression(value)}
    if splines and duration < 0:
        raise ParameterError("sampled functions drive forward motions only: give an expression in time instead")
    knots = _common_knots(splines, duration)
    expressions = {name: sm.sympify(value) for name, value in prescribed.items() if name not in splines}
    parameters: dict[sm.Symbol, Any] = {}
    if any(name in case.system.coordinate_names for name in prescribed):
        parameters[INERTIA] = inertia_scale(case)
    changing: dict[str, np.ndarray] = {}
    time = case.system.time
    for name, samples in splines.items():
        rows = _polynomials(name, samples, knots)
        symbols = [sm.Symbol(f"{name} spline {power}") for power in range(DEGREE + 1)]
        since = sm.Symbol(SINCE)
        expressions[name] = _horner(symbols, time - since)
        parameters |= {since: float(knots[0]), **{a: float(row[0]) for a, row in zip(symbols, rows, strict=True)}}
        changing |= {SINCE: knots[:-1], **{a.name: row for a, row in zip(symbols, rows, strict=True)}}
    system = _driven_system(case.system, expressions, parameters)
    values = {name: value for name, value in case.values.items() if name in system.parameter_names}
    return Driven(system.at(**values), knots[1:-1], changing)


def _driven_system(system: System, functions: Mapping[str, sm.Expr], parameters: Mapping[sm.Symbol, Any]) -> System:
    known = [*system.coordinate_names, *system.parameter_names]
    loads, motions = {}, []
    carried = sm.S.Zero
    for name, function in functions.items():
        if name not in known:
            raise ParameterError(f"{system.name} has no coordinate or parameter {name!r}: {nearest(name, known)}")
        foreign = function.free_symbols - {system.time} - set(parameters)
        if foreign:
            raise ParameterError(
                f"the function for {name} contains {', '.join(sorted(map(str, foreign)))}: it may contain the time "
                f"{system.time} only"
            )
        if name in system.coordinate_names:
            deviation = system.coordinates[system.coordinate_names.index(name)] - function
            motions.append(deviation)
            carried += INERTIA * deviation.diff(system.time) ** 2 / 2
        else:
            loads[system.parameter(name)] = function

    def driven(expression: Any) -> Any:
        return sm.sympify(expression).xreplace(loads)

    return replace(
        system,
        kinetic=driven(system.kinetic) + carried,
        potential=driven(system.potential),
        dissipation=driven(system.dissipation),
        forces={q: driven(force) for q, force in system.forces.items()},
        nonholonomic_constraints=[driven(c) for c in system.nonholonomic_constraints],
        holonomic_constraints=[*(driven(c) for c in system.holonomic_constraints), *motions],
        parameters={**{p: v for p, v in system.parameters.items() if p not in loads}, **parameters},
        load=None if system.load in loads else system.load,
        drawing=_driven_drawing(system.drawing, loads),
    )


def _driven_drawing(drawing: Drawing | None, loads: Mapping[sm.Symbol, sm.Expr]) -> Drawing | None:
    if drawing is None:
        return None

    def driven(pair: Any) -> tuple[Any, ...]:
        return tuple(sm.sympify(e).xreplace(loads) for e in pair)

    return replace(
        drawing,
        points={name: driven(point) for name, point in drawing.points.items()},
        angles={name: sm.sympify(angle).xreplace(loads) for name, angle in drawing.angles.items()},
        arrows={name: driven(arrow) for name, arrow in drawing.arrows.items()},
    )


def _horner(coefficients: Sequence[sm.Expr], x: sm.Expr) -> sm.Expr:
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + x * value
    return value


def inertia_scale(case: Case) -> float:
    """An inertia for driven coordinates that may have none: it moves with the drive, so that it never acts."""
    graph = graph_of(case.system)
    diagonal = Compiled([graph.M[k][k] for k in range(len(graph.q))], graph.q, quick=True)
    return float(diagonal(np.zeros(len(graph.q)), case.numbers).max()) or 1.0


def _is_expression(value: Any) -> bool:
    return isinstance(value, sm.Basic | int | float | str)


def _common_knots(splines: Mapping[str, Any], duration: float) -> np.ndarray:
    """The knots of all samples together, from the start to the end of the motion."""
    inner = [times[(times > 0) & (times < duration)] for times in map(_times, splines.values())]
    return np.unique(np.concatenate([[0.0], *inner, [duration]]))


def _times(samples: Any) -> np.ndarray:
    return np.asarray(samples.x if hasattr(samples, "x") else samples[0], dtype=float)


def _polynomials(name: str, samples: Any, knots: np.ndarray) -> np.ndarray:
    """Coefficients in powers of (t − knot), one row for each power and one column for each interval."""
    from scipy.interpolate import make_interp_spline

    times = _times(samples)
    if len(times) < DEGREE + 1 or not (np.diff(times) > 0).all() or not np.isfinite(times).all():
        raise ParameterError(f"the samples of {name} need at least {DEGREE + 1} increasing times")
    if times[0] > 0 or times[-1] < knots[-1]:
        raise ParameterError(
            f"the samples of {name} cover the times {times[0]:g} to {times[-1]:g}, the motion 0 to {knots[-1]:g}: "
            "give samples for all of it"
        )
    if hasattr(samples, "x"):
        function = samples
    else:
        values = np.asarray(samples[1], dtype=float)
        if values.shape != times.shape or not np.isfinite(values).all():
            raise ParameterError(f"the samples of {name} have {values.shape} values for {times.shape} times")
        function = make_interp_spline(times, values, k=DEGREE)
    factorial = np.cumprod([1.0, *range(1, DEGREE + 1)])
    # just inside each interval: at a knot the highest derivative jumps
    middle = (knots[:-1] + knots[1:]) / 2
    top = [_derivative(function, middle, k) for k in range(DEGREE + 1)]
    return _shift(top, knots[:-1] - middle) / factorial[:, None]


def _derivative(function: Any, t: np.ndarray, order: int) -> np.ndarray:
    return np.asarray(function(t, nu=order) if order else function(t), dtype=float)


def _shift(derivatives: Sequence[np.ndarray], by: np.ndarray) -> np.ndarray:
    """All derivatives of a polynomial at another point, by its own Taylor expansion."""
    size = len(derivatives)
    shifted = np.zeros((size, len(by)))
    for k in range(size):
        term = np.ones_like(by)
        for j in range(k, size):
            shifted[k] += derivatives[j] * term
            term = term * by / (j - k + 1)
    return shifted
