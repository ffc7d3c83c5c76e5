"""Flows of statements: of an ODE, of a system in all its coordinates, or on shape space.

The velocities that constraints determine are solved for in the graph of expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pfaff import doors
from pfaff.errors import ParameterError, RankError, nearest
from pfaff.flow.accelerations import Accelerations
from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.graph import ZERO, Expression, subs, variables_in
from pfaff.flow.lagrangian import Graph, dot, graph_of, lower_ode
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates, kept_coordinates
from pfaff.flow.slice import Slice
from pfaff.flow.uniform_motion import comoving_graph, symmetric_graph
from pfaff.statement.characteristic import characteristic, unit_velocities
from pfaff.statement.odes import Ode
from pfaff.statement.system import System
from pfaff.threads import once

if TYPE_CHECKING:
    pass


def ode_flow(ode: Ode) -> Flow:
    """A plain ODE as it stands; it has no reactions, and its velocities are the rates of its states."""
    expressions = lower_ode(ode)
    return Flow(
        system=ode,
        states=ode.state_names,
        dropped={},
        kept=dict.fromkeys(ode.state_names, "kept: a state of a plain ODE"),
        dependent=(),
        expressions=expressions,
        velocity_expressions=expressions,
        reaction_expressions=[],
    )


def full_flow(system: System) -> Flow:
    """The flow in all coordinates and velocities."""
    if system.rods:
        return doors.structured_states.full_structured(system)
    graph = graph_of(system)
    accelerations, reactions = graph.solve()
    names = system.coordinate_names
    return Flow(
        system=system,
        states=(*names, *(f"{name}_dot" for name in names)),
        dropped={},
        kept=dict.fromkeys(names, "kept: all coordinates are states of the full flow"),
        dependent=(),
        expressions=[*graph.v, *accelerations],
        velocity_expressions=graph.v,
        reaction_expressions=graph.shared(reactions),
        accelerations=Accelerations(graph, range(len(names)), {}),
    )


def shape_flow(
    system: System,
    dependent: Sequence[str] | None = None,
    settle: float = 0.0,
    part: Slice | None = None,
    order: Sequence[int] | None = None,
) -> Flow:
    """The flow in relevant coordinates and independent velocities; ``dependent`` chooses the velocities to solve for.

    By default those whose coefficients dominate the constraints at the origin, ignorable coordinates first; ``order``
    is that in which the constraints are solved. With a rate ``settle`` holonomic constraints obey φ̇ = −settle φ: the
    same motions on φ = 0, but an equilibrium there has no zero eigenvalue for leaving it. Without a slice, ``part``,
    only coordinates that appear nowhere are dropped.
    """
    if system.rods:
        names, m = system.coordinate_names, len(system.statement.constraints)
        return doors.structured_states.shape_structured(
            system, None if dependent is None else _chosen(names, dependent, m), settle
        )
    dropped, kept, graph = ignorable_coordinates(system), kept_coordinates(system), comoving_graph(system)
    if part is not None:
        dropped, kept, graph = part.dropped, part.kept({**kept, **dropped}), part.reduced(symmetric_graph(system))
    names = system.coordinate_names
    if dependent is None:
        columns = dependent_velocities(reference_matrix(graph), [names.index(n) for n in dropped])
    else:
        columns = _chosen(names, dependent, len(graph.A))
    if order is None:
        order = elimination_order(reference_matrix(graph, columns=columns)[:, columns])
    solved, pivots = _solve_velocities(graph, columns, order, settle)
    replace = {graph.v[j]: expression for j, expression in zip(columns, solved, strict=True)}
    free = [j for j in range(len(names)) if j not in columns]
    shape = [j for j, name in enumerate(names) if name not in dropped]
    accelerations, reactions = graph.solve()
    velocities = [replace.get(graph.v[j], graph.v[j]) for j in range(len(names))]

    def on_shape(expressions: list[Expression]) -> list[Expression]:
        return subs(expressions, replace) if replace and expressions else expressions

    return Flow(
        system=system,
        states=(*(names[j] for j in shape), *(f"{names[j]}_dot" for j in free)),
        dropped=dropped,
        kept=kept,
        dependent=tuple(f"{names[j]}_dot" for j in columns),
        expressions=on_shape([graph.rates[j] for j in shape]) + on_shape([accelerations[j] for j in free]),
        velocity_expressions=velocities,
        reaction_expressions=on_shape(graph.shared(reactions)),
        settle=settle,
        pivots=[pivot for pivot in pivots if variables_in([pivot])],
        accelerations=Accelerations(graph, free, dict(zip(columns, solved, strict=True))),
        unsolved=graph,
        bonds=list(graph.positions) if settle else [],
        slice=part,
    )


def _chosen(names: tuple[str, ...], dependent: Sequence[str], m: int) -> list[int]:
    if len(dependent) != m:
        raise ParameterError(f"{m} constraints determine {m} velocities, not {len(dependent)}")
    for name in dependent:
        if name not in names:
            raise ParameterError(f"no coordinate {name!r} to solve the constraints for: {nearest(name, names)}")
    return [names.index(name) for name in dependent]


def reference_matrix(
    graph: Graph, near: Sequence[float] = (), numbers: np.ndarray | None = None, columns: Sequence[int] = ()
) -> np.ndarray:
    """A at the origin, or near a configuration, with the parameters of a case; nearby if it is degenerate there, or has
    ``columns`` that are.

    Without numbers, and where A is degenerate everywhere near with these, the default parameters are taken (1 if there
    is none), then random ones.
    """
    if not graph.A:
        return np.zeros((0, len(graph.q)))
    function = _rows(graph)
    defaults = np.array([1.0 if value is None else float(value) for value in graph.system.parameters.values()])
    others = (defaults + (defaults == 0)) * np.random.default_rng(1).uniform(0.5, 1.5, len(defaults))
    given = [np.array(near, dtype=float)] if len(near) else []
    for parameters in (*([] if numbers is None else [np.asarray(numbers)]), defaults, others):
        for q in chain(given, _near_the_origin(graph.system, parameters)):
            A = function(q, parameters).reshape(len(graph.A), -1)
            solved = A[:, list(columns)] if len(columns) else A
            if np.isfinite(A).all() and np.linalg.matrix_rank(solved) == len(A):
                return A
    raise RankError(
        f"the constraints of {graph.system.name} are dependent near the origin: choose dependent velocities"
    )


@once(most=1)
def _rows(graph: Graph) -> Compiled:
    return Compiled([e for row in graph.A for e in row], graph.q)


def pivots_of(A: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """The sizes of the pivots by which Gauss's elimination in this order solves a square matrix."""
    values, pivots = A.copy(), np.zeros(len(A))
    for k, pivot in enumerate(order):
        values[[k, pivot]] = values[[pivot, k]]
        pivots[k] = abs(values[k, k])
        values[k + 1 :] -= np.outer(values[k + 1 :, k] / (values[k, k] or 1.0), values[k])
    return pivots


def elimination_order(A: np.ndarray) -> tuple[int, ...]:
    """For each column of a square matrix the row that is exchanged for its own in Gauss's elimination."""
    values, order = A.copy(), []
    for k in range(len(values)):
        pivot = k + int(np.abs(values[k:, k]).argmax())
        values[[k, pivot]] = values[[pivot, k]]
        values[k + 1 :] -= np.outer(values[k + 1 :, k] / (values[k, k] or 1.0), values[k])
        order.append(pivot)
    return tuple(order)


def _near_the_origin(system: System, parameters: np.ndarray) -> Iterator[np.ndarray]:
    """The origin, points of order one, and points in the characteristic sizes of the constraints."""
    s, generator = system.statement, np.random.default_rng(0)
    yield np.zeros(len(s.q))
    yield from generator.uniform(-0.5, 0.5, (3, len(s.q)))
    values = {**dict(zip(system.parameters, parameters.tolist(), strict=True)), **unit_velocities(s), s.time: 0.0}
    yield from characteristic(s.constraints, s.q, values).usual * generator.uniform(-0.5, 0.5, (3, len(s.q)))


def _solve_velocities(
    graph: Graph, columns: list[int], order: Sequence[int], settle: float
) -> tuple[list[Expression], list[Expression]]:
    """v_d of A_d v_d = −(A_f v_f + b) − settle φ, eliminated in the graph in this order; and the pivots."""
    size = len(columns)
    free = [j for j in range(len(graph.v)) if j not in columns]
    still = subs(graph.constraints, dict.fromkeys(graph.v, ZERO))
    rows = [[row[j] for j in columns] for row in graph.A]
    right = [
        -dot([row[j] for j in free], [graph.v[j] for j in free]) - b for row, b in zip(graph.A, still, strict=True)
    ]
    for k, phi in enumerate(graph.positions, start=graph.nonholonomic):
        right[k] = right[k] - settle * phi
    for k, pivot in enumerate(order):
        rows[k], rows[pivot] = rows[pivot], rows[k]
        right[k], right[pivot] = right[pivot], right[k]
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
            right[i] = right[i] - factor * right[k]
    solved: list[Expression] = [ZERO] * size
    for k in reversed(range(size)):
        known = dot(rows[k][k + 1 :], solved[k + 1 :])
        solved[k] = (right[k] - known) / rows[k][k]
    return solved, [rows[k][k] for k in range(size)]
