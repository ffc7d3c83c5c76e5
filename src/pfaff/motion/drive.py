"""Prescribed motions q(t) and loads F(t): the same system, driven.

A load that varies replaces its parameter. A prescribed coordinate becomes a holonomic constraint q − f(t) = 0, whose
reaction is the force or couple that the drive takes. Sampled functions become polynomials between knots (``sampled``),
whose coefficients are parameters that change from knot to knot; the integration begins anew at every knot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError
from pfaff.flow.compiled import Compiled
from pfaff.flow.lagrangian import graph_of
from pfaff.motion.sampled import (
    DEGREE,
    LINEAR,
    SMOOTH,
    check_smooth,
    check_span,
    coefficients,
    common_knots,
    piecewise,
)
from pfaff.statement.drawing import replaced
from pfaff.statement.expressions import expressed
from pfaff.statement.values import number_from, shown
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.statement import System
    from pfaff.statement.reading import Relations

SINCE = "spline·knot"  # a name that nobody types


@dataclass(frozen=True)
class Driven:
    """A case in which time drives some coordinates or parameters; polynomials change at the knots."""

    case: Case
    knots: np.ndarray = field(default_factory=lambda: np.zeros(0))
    changing: Mapping[str, np.ndarray] = field(default_factory=dict)
    loads: Mapping[str, sm.Expr] = field(default_factory=dict)
    prescribed: tuple[str, ...] = ()
    said: tuple[str, ...] = ()  # how samples are interpolated

    @cached_property
    def _places(self) -> dict[int, np.ndarray]:
        """The changing parameters by their index."""
        return {self.case.system.parameter_names.index(name): values for name, values in self.changing.items()}

    def numbers(self, t: np.ndarray) -> np.ndarray:
        """The parameters at each time, one column each; a single column if none changes."""
        if not self.changing:
            return self.case.numbers
        interval = np.searchsorted(self.knots, np.abs(t), side="right")
        table = np.repeat(self.case.numbers[:, None], len(t), axis=1)
        for place, values in self._places.items():
            table[place] = values[interval]
        return table

    def on(self, k: int) -> np.ndarray:
        """The parameters on interval k."""
        numbers = self.case.numbers.copy()
        for place, values in self._places.items():
            numbers[place] = values[k]
        return numbers


def prescribe(case: Case, prescribed: Mapping[str, Any], initial: Mapping[str, float], duration: float) -> Driven:
    """The case with functions of time for some coordinates and parameters.

    Each function is a SymPy expression in time, samples (times, values) or (times, values, how), or a piecewise
    polynomial of SciPy's; samples must cover the motion.
    """
    if not prescribed:
        return Driven(case)
    known = [*case.system.coordinate_names, *case.system.parameter_names]
    for name in prescribed:
        if name in case.system.velocity_names:
            own = name.removesuffix("_dot")
            raise ParameterError(f"{name} is a velocity: prescribe its integral, the coordinate, {{{own!r}: 't'}}")
        if name in case.system.quasi_velocities:
            raise ParameterError(
                f"{name} is a quasi-velocity, and coordinates and parameters are prescribed: state a constraint, "
                f"nonholonomic_constraints={{'drive': '{name} - sin(t)'}}"
            )
        case.system.named(name, known, f"{case.system.name} has no coordinate or parameter {{}} to prescribe")
    time = case.system.time
    prescribed = {name: _unboxed(name, value) for name, value in prescribed.items()}
    expressions = {name: expression_in_time(name, v, time) for name, v in prescribed.items() if _is_expression(v)}
    sampled = {
        name: piecewise(name, value, SMOOTH if _moves(case.system, name) else LINEAR, duration)
        for name, value in prescribed.items()
        if name not in expressions
    }
    splines = {name: function for name, (function, _) in sampled.items()}
    if splines and duration < 0:
        raise ParameterError("sampled functions drive forward motions only: give an expression in time instead")
    parameters: dict[sm.Symbol, Any] = {}
    changing: dict[str, np.ndarray] = {}
    knots = common_knots(list(splines.values()), duration)
    for name, function in splines.items():
        check_span(name, function, duration)
        if _moves(case.system, name):
            check_smooth(name, function)
        elif any(p.name == name for c in case.system.statement.constraints for p in c.free_symbols):
            check_smooth(name, function, corners=True)
        rows = coefficients(function, knots)
        symbols = [sm.Symbol(f"{name}·spline·{power}") for power in range(DEGREE + 1)]
        since = sm.Symbol(SINCE)
        expressions[name] = _horner(symbols, time - since)
        parameters |= {since: float(knots[0]), **{a: float(row[0]) for a, row in zip(symbols, rows, strict=True)}}
        changing |= {SINCE: knots[:-1], **{a.name: row for a, row in zip(symbols, rows, strict=True)}}
    parameters |= _carried_inertias(case, expressions, parameters, initial)
    system = _driven_system(case.system, expressions, parameters)
    values = {name: value for name, value in case.values.items() if name in system.parameter_names}
    loads = {name: e for name, e in expressions.items() if name in case.system.parameter_names}
    said = tuple(how for _, how in sampled.values() if how)
    return Driven(system.at(**values), knots[1:-1], changing, loads, tuple(prescribed), said)


def _moves(system: System, name: str) -> bool:
    """Whether a coordinate follows a function, itself or by a holonomic constraint: then it must be smooth."""
    held = any(p.name == name for phi in system.statement.positions for p in phi.free_symbols)
    return name in system.coordinate_names or held


def _driven_system(system: System, functions: Mapping[str, sm.Expr], parameters: Mapping[sm.Symbol, Any]) -> System:
    system = system.by_energies()
    loads, motions = {}, []
    carried = sm.S.Zero
    for name, function in functions.items():
        if name in system.coordinate_names:
            deviation = system.coordinates[system.coordinate_names.index(name)] - function
            motions.append(deviation)
            carried += inertia_of(name) * deviation.diff(system.time) ** 2 / 2
        else:
            loads[system.parameter(name)] = function

    def driven(expression: sm.Expr) -> sm.Expr:
        return expression.xreplace(loads)

    return replace(
        system,
        kinetic=driven(system.kinetic) + carried,
        potential=driven(system.potential),
        dissipation=driven(system.dissipation),
        forces={q: driven(force) for q, force in system.forces.items()},
        nonholonomic_constraints=cast("Relations", system.nonholonomic_constraints).changed(driven),
        holonomic_constraints=cast("Relations", system.holonomic_constraints).changed(driven, motions),
        quasi_velocities={name: driven(e) for name, e in system.quasi_velocities.items()},
        parameters={**{p: v for p, v in system.parameters.items() if p not in loads}, **parameters},
        load=None if system.load in loads else system.load,
        meanings={name: text for name, text in system.meanings.items() if name not in {p.name for p in loads}},
        drawing=replaced(system.drawing, loads),
    )


def _horner(coefficients: Sequence[sm.Expr], x: sm.Expr) -> sm.Expr:
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + x * value
    return value


def inertia_of(name: str) -> sm.Symbol:
    """An inertia for a driven coordinate, which may have none: it moves with the drive, so that its inertia never
    acts."""
    return sm.Symbol(f"inertia·carried·by·the·drive·of·{name}", positive=True)


def _carried_inertias(
    case: Case, functions: Mapping[str, sm.Expr], parameters: Mapping[sm.Symbol, Any], initial: Mapping[str, float]
) -> dict[sm.Symbol, float]:
    """For each driven coordinate its own inertia at the start, or that of any other if it has none."""
    names = case.system.coordinate_names
    driven = [name for name in functions if name in names]
    if not driven:
        return {}
    first = {**parameters, case.system.time: 0.0}
    q = np.array([float(initial.get(name, 0.0)) for name in names])
    for name in driven:
        q[names.index(name)] = _at_the_start(name, functions[name].subs(first))
    graph = graph_of(case.system)
    own = Compiled([graph.M[k][k] for k in range(len(names))], graph.q)(q, case.numbers)
    own = np.where(np.isfinite(own) & (own > 0), own, 0.0)
    anyone = own.max() or 1.0
    return {inertia_of(name): float(own[names.index(name)]) or float(anyone) for name in driven}


def _at_the_start(name: str, value: sm.Expr) -> float:
    try:
        number = complex(value)
    except (TypeError, OverflowError):
        number = complex("nan")
    if not np.isfinite(number.real) or number.imag:
        raise ParameterError(
            f"the function for {name} is {shown(value)} at t = 0, not a finite real number: check its roots, "
            "logarithms and divisors"
        )
    return number.real


def expression_in_time(name: str, value: Any, time: sm.Symbol) -> sm.Expr:
    """A function of time from SymPy or text; a symbol with the name of the time is taken for it."""
    found = expressed(value, {time.name: time}, f"the function for {name}", ParameterError)
    if not isinstance(found, sm.Expr) or found.has(sm.nan, sm.oo, -sm.oo, sm.zoo):
        raise ParameterError(
            f"the function for {name} is {shown(found)}, not an expression in time: write 80 + sin(2*t)"
        )
    found = found.xreplace({symbol: time for symbol in found.free_symbols if symbol.name == time.name})
    foreign = (found.free_symbols - {time}) | found.atoms(sm.core.function.AppliedUndef)
    if foreign:
        names = ", ".join(sorted(map(str, foreign)))
        raise ParameterError(f"the function for {name} contains {names}: it may contain the time {time} only")
    if found.has(sm.I):
        raise ParameterError(
            f"the function for {name} is {shown(found)}, which is not real: give a real function of time"
        )
    return found


def _unboxed(name: str, value: Any) -> Any:
    """A number out of an array without dimensions; anything else as it is."""
    return number_from(name, value) if isinstance(value, np.ndarray) and not value.ndim else value


def _is_expression(value: Any) -> bool:
    return isinstance(value, sm.Basic | int | float | str | np.number)
