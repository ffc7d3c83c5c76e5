"""Quasi-velocities among the states of a flow, their values along motions, and the rows by which a start prescribes
them.

A flow is linear in its independent velocities, and so is u = W q̇ + w: one velocity is solved for and replaced by u,
whose rate is the derivative of u along the flow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from pfaff.algebra.tolerances import IDENTITY
from pfaff.errors import ParameterError
from pfaff.flow.compiled import Compiled
from pfaff.flow.conversion import convert
from pfaff.flow.differentiation import gradient
from pfaff.flow.flow import Flow
from pfaff.flow.graph import CLOCK, ZERO, Expression, expression, subs, sum_of, variables_in
from pfaff.flow.lagrangian import dot, graph_of
from pfaff.statement.system import System
from pfaff.threads import once


@once(most=1)
def compiled_forms(system: System) -> Compiled:
    """u, then the rows W, as functions of coordinates and velocities."""
    graph = graph_of(system)
    forms = [convert(form, graph.symbols) for form in system.quasi_forms.values()]
    return Compiled([*forms, *(e for form in forms for e in gradient(form, graph.v))], [*graph.q, *graph.v])


def quasi_values(
    system: System, y: np.ndarray, numbers: np.ndarray, time: float | np.ndarray = 0.0
) -> dict[str, np.ndarray]:
    """The quasi-velocities by name, at one state or along columns of them."""
    if not system.quasi_forms:
        return {}
    values = compiled_forms(system)(y, numbers, time)
    return dict(zip(system.quasi_forms, values, strict=False))


def quasi_rows(system: System, names: Sequence[str], y: np.ndarray, numbers: np.ndarray, time: float) -> np.ndarray:
    """For each name the value u, then its row of W."""
    count, n = len(system.quasi_forms), len(system.coordinates)
    values = compiled_forms(system)(y, numbers, time)
    rows = np.column_stack([values[:count], values[count:].reshape(count, n)])
    every = list(system.quasi_forms)
    return rows[[every.index(name) for name in names]]


def in_quasi_velocities(
    flow: Flow,
    names: tuple[str, ...],
    kept: frozenset[str],
    numbers: np.ndarray | None = None,
    near: Sequence[float] = (),
) -> Flow:
    """The flow with these quasi-velocities in place of as many of its velocities, other than those in ``kept``; they
    are those that determine them best at these numbers, ``near`` a configuration if one is given."""
    for name in names:
        flow = _with(flow, name, _replaced(flow, name, kept | set(names), numbers, near))
    return flow


@once(most=16)
def _form(flow: Flow, name: str) -> tuple[Expression, list[Expression], Compiled]:
    """A quasi-velocity in the states of a flow and the clock, and its slopes."""
    system: System = flow.system  # type: ignore[assignment]
    graph = graph_of(system)
    clock = ZERO if system.uniform_motion else CLOCK  # in coordinates that move along nothing depends on time
    form = convert(system.quasi_forms[name], {**graph.symbols, system.time: clock})
    lost = _lost(flow, form)
    if lost:
        raise ParameterError(
            f"{name} changes with {lost[0]}, on which nothing else depends: no motion with a constant {name} is steady"
        )
    gone = {expression(each): ZERO for each in flow.dropped}
    velocities = dict(zip(graph.v, flow.velocity_expressions, strict=True))
    (form,) = subs(subs([form], gone), velocities)
    slopes = gradient(form, [*flow.variables, CLOCK])
    return form, slopes, Compiled(slopes[:-1], flow.variables)


@once(most=16)
def _with(flow: Flow, name: str, place: int) -> Flow:
    form, slopes, _ = _form(flow, name)
    rate = sum_of([dot(slopes[:-1], list(flow.expressions)), slopes[-1]])
    old, new, (form, slope) = flow.variables[place], expression(name), (form, slopes[place])
    (rest,) = subs([form], {old: ZERO})
    solved = {old: (new - rest) / slope}

    def moved(expressions: Sequence[Expression]) -> list[Expression]:
        return subs(list(expressions), solved)

    rates = list(flow.expressions)
    rates[place] = rate
    return replace(
        flow,
        states=tuple(name if k == place else each for k, each in enumerate(flow.states)),
        expressions=moved(rates),
        velocity_expressions=moved(flow.velocity_expressions),
        reaction_expressions=moved(flow.reaction_expressions),
        pivots=moved([*flow.pivots, *([slope] if variables_in([slope]) else [])]),
        accelerations=None,
    )


def _lost(flow: Flow, form: Expression) -> list[str]:
    """Dropped coordinates with whose translation a quasi-velocity changes, so that it is no function of the states.

    A heading is zero at the instant at which a steady motion is looked at; an ignorable position is not."""
    graph, names = graph_of(flow.system), flow.system.coordinate_names  # type: ignore[arg-type]
    part = flow.slice
    moved = {*flow.dropped, *(part.moved if part else ())} & set(variables_in([form]))
    if not moved:
        return []
    if part is None:
        along = {name: np.eye(len(names))[names.index(name)] for name in flow.dropped}
    else:
        pairs = zip(part.names, part.generators, strict=True)
        along = {name: each.c for name, each in pairs if each.translates}
    states = np.random.default_rng(1788).uniform(0.2, 0.8, 2 * len(names))
    defaults = np.array([float(each or 1.0) for each in flow.system.parameters.values()])
    slopes = Compiled(gradient(form, graph.q), [*graph.q, *graph.v])(states, defaults, 0.4)
    return [name for name, c in along.items() if abs(slopes @ c) > IDENTITY * (np.abs(slopes) @ np.abs(c))]


def _replaced(
    flow: Flow, name: str, kept: frozenset[str], numbers: np.ndarray | None, near: Sequence[float] = ()
) -> int:
    """The index of the velocity to be replaced: one whose coefficient is constant, else that with the largest."""
    coordinates = flow.system.coordinate_names
    _, slopes, compiled = _form(flow, name)
    states = np.random.default_rng(1788).uniform(-0.5, 0.5, len(flow.states))
    for place, value in zip(coordinates, near, strict=False):
        if place in flow.states:
            states[flow.states.index(place)] = value
    if numbers is None:
        numbers = np.array([1.0 if each is None else float(each) for each in flow.system.parameters.values()])
    sizes = np.abs(compiled(states, numbers))
    open_ = [k for k, each in enumerate(flow.states) if each not in kept and each not in coordinates and sizes[k] > 0]
    if not open_:
        raise not_free(flow.system.name, kept)
    return min(open_, key=lambda k: (bool(variables_in([slopes[k]])), -sizes[k]))


def not_free(name: str, speeds: Collection[str]) -> ParameterError:
    """The error for speeds that were to be fixed but that the constraints of a system do not leave free."""
    if len(speeds) == 1:
        return ParameterError(f"the constraints of {name} do not leave {next(iter(speeds))} free: fix another speed")
    together = ", ".join(sorted(speeds))
    return ParameterError(f"the constraints of {name} do not leave {together} free together: fix fewer of them")
