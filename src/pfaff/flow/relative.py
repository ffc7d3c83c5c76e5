"""The equations of motion without the coordinates of a symmetry: where steady motions are equilibria.

The heading of a wheel appears in its rolling constraints, but nothing that happens depends on it. Such cyclic
coordinates are found by trial at random states, parameters and times, where an identity fails with probability one if
it fails at all; they are then set to zero, and only their velocities remain. The trials are in extended precision where
the machine has it, so that a weak dependence is distinguished from rounding.

A heading may turn the velocities of two ignorable coordinates with it, as those of a sleigh on a plane: then these are
resolved along axes that turn as well, and are the velocities at the instant when the heading is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations, product

import heyoka as hy
import numpy as np

from pfaff.errors import ParameterError, nearest
from pfaff.flow.flow import COMPACT_FROM, Flow, lowered_again
from pfaff.flow.graph import Expression, Graph, dot
from pfaff.flow.in_quasi_velocities import in_quasi_velocities, not_free, quasi_rows
from pfaff.flow.initial import Constraints
from pfaff.flow.lowering import elimination_order, reference_matrix, shape_flow
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates
from pfaff.flow.uniform_motion import comoving_graph
from pfaff.statement.characteristic import characteristic, unit_velocities
from pfaff.statement.system import System
from pfaff.threads import once

TRIALS = 3
ROUNDING = 1e4 * float(np.finfo(np.longdouble).eps)  # relative difference below which rates are the same
ALIKE = 1e-9  # relative difference of matrices that are equal up to rounding
SETTLE = 1.0  # the rate at which holonomic constraints attract; it leaves no trace in any result

Rates = Callable[[np.ndarray, np.ndarray, float], np.ndarray]
Draw = Callable[[np.random.Generator], np.ndarray]


@lowered_again
def relative_flow(
    system: System, independent: Iterable[str] = (), numbers: np.ndarray | None = None, near: tuple[float, ...] = ()
) -> Flow:
    """The flow in which steady motions rest, with these velocities and quasi-velocities among its states.

    A symmetry holds for every value of the parameters, and is confirmed at these numbers. The other velocities are
    solved for as is best ``near`` a configuration, or near the origin.
    """
    names = tuple(independent)
    speeds = frozenset(name for name in names if name not in system.quasi_velocities)
    shape, rates, cyclic = _symmetric(system, speeds, *_solved_for(system, speeds, numbers, near))
    if numbers is not None:
        cyclic = _unfelt(rates, shape, cyclic, [lambda _: numbers])
    quasi = tuple(name for name in names if name in system.quasi_velocities)
    return in_quasi_velocities(without(shape, cyclic), quasi, speeds, numbers)


def independent(system: System, first: Iterable[str], others: Iterable[str], numbers: np.ndarray) -> list[str]:
    """The other velocities that the constraints leave free beside the first ones, as many as there are."""
    first = list(first)
    found: list[str] = []
    rows = reference_matrix(comoving_graph(system), numbers=numbers)
    for name in others:
        if _free_together(system, rows, [*first, *found, name], numbers):
            found.append(name)
    return found


def _free_together(system: System, A: np.ndarray, speeds: list[str], numbers: np.ndarray) -> bool:
    """Whether the constraints leave these velocities and quasi-velocities free."""
    names = system.coordinate_names
    quasi = [name for name in speeds if name in system.quasi_velocities]
    left = [j for j, each in enumerate(names) if f"{each}_dot" not in speeds]
    if quasi:
        A = np.vstack([A, quasi_rows(system, quasi, np.zeros(2 * len(names)), numbers, 0.0)[:, 1:]])
    return bool(np.linalg.matrix_rank(A[:, left]) == len(A))


@once(most=16)
def _symmetric(
    system: System, independent: frozenset[str], dependent: tuple[str, ...], order: tuple[int, ...]
) -> tuple[Flow, Rates, tuple[str, ...]]:
    shape = _chart(system, dependent, order, comoving_graph(system))
    rates = _extended(shape)
    cyclic = cyclic_coordinates(shape, rates)
    felt = [name for name in shape.states if name in system.coordinate_names and name not in cyclic]
    for heading, graph in _turning(system, felt):
        turning = _chart(system, dependent, order, graph)
        turning_rates = _extended(turning)
        found = cyclic_coordinates(turning, turning_rates)
        if heading in found:
            return turning, turning_rates, found
    return shape, rates, cyclic


@once(most=16)
def without(shape: Flow, cyclic: tuple[str, ...]) -> Flow:
    """The flow without coordinates that no rate depends on."""
    if not cyclic:
        return shape
    gone = {hy.expression(name): hy.expression(0.0) for name in cyclic}
    left = [k for k, name in enumerate(shape.states) if name not in cyclic]
    why = dict.fromkeys(cyclic, "dropped: by symmetry only its velocity matters")
    return replace(
        shape,
        states=tuple(shape.states[k] for k in left),
        dropped={**shape.dropped, **why},
        kept={name: reason for name, reason in shape.kept.items() if name not in cyclic},
        expressions=hy.subs([shape.expressions[k] for k in left], gone),
        velocity_expressions=hy.subs(list(shape.velocity_expressions), gone),
        reaction_expressions=hy.subs(list(shape.reaction_expressions), gone) if shape.reaction_expressions else [],
        pivots=hy.subs(list(shape.pivots), gone) if shape.pivots else [],
        bonds=hy.subs(list(shape.bonds), gone) if shape.bonds else [],
        accelerations=replace(shape.accelerations, fixed=gone) if shape.accelerations else None,
        unsolved=shape.unsolved._replace(fixed=gone) if shape.unsolved else None,
    )


def cyclic_coordinates(flow: Flow, rates: Rates | None = None) -> tuple[str, ...]:
    """Coordinates of a flow that no rate depends on, for any parameters."""
    names = tuple(name for name in flow.states if name in flow.system.coordinate_names)
    defaults = [None if value is None else float(value) for value in flow.system.parameters.values()]

    def generic(generator: np.random.Generator) -> np.ndarray:
        signs = [-1.0 if value is not None and value < 0 else 1.0 for value in defaults]
        return generator.uniform(0.5, 1.5, len(defaults)) * signs

    def usual(generator: np.random.Generator) -> np.ndarray:
        return np.array([value or 1.0 for value in defaults]) * generator.uniform(0.8, 1.2, len(defaults))

    return _unfelt(rates or _extended(flow), flow, names, [generic, usual])


def accidental(flow: Flow, numbers: np.ndarray) -> tuple[str, ...]:
    """Coordinates among the states that no rate depends on at these numbers, though at others some do."""
    names = tuple(name for name in flow.states if name in flow.system.coordinate_names)
    return _unfelt(_extended(flow), flow, names, [lambda _: numbers])


def _unfelt(rates: Rates, flow: Flow, names: tuple[str, ...], draws: list[Draw]) -> tuple[str, ...]:
    """The coordinates whose change leaves all rates unchanged, at states of order one and of their sizes."""
    generator = np.random.default_rng(1897)
    found = set(names)
    for k in range(2 * TRIALS if names else 0):
        if k % TRIALS == 0:
            scales = _sizes(flow, draws[-1](generator)) if k else np.ones(len(flow.states))
        x, numbers, time, there = _trial(rates, flow, draws, scales, generator)
        for name in sorted(found):
            turned, j = x.copy(), flow.states.index(name)
            turned[j] += scales[j] * generator.uniform(0.3, 0.9)
            change = (np.abs(rates(turned, numbers, time) - there) / scales).max()
            if not change <= ROUNDING * (1 + (np.abs(there) / scales).max()):
                found.discard(name)
    return tuple(name for name in names if name in found)


def _sizes(flow: Flow, numbers: np.ndarray) -> np.ndarray:
    """Characteristic sizes of the coordinates among the states, and the same for their velocities."""
    system: System = flow.system  # type: ignore[assignment]
    s = system.statement
    stated = [s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions]
    values = {**dict(zip(system.parameters, numbers.tolist(), strict=True)), **unit_velocities(s), s.time: 1.0}
    sizes = dict(zip(system.coordinate_names, characteristic(stated, s.q, values).usual, strict=True))
    known = sizes | {f"{name}_dot": size for name, size in sizes.items()}
    return np.array([known.get(name, 1.0) for name in flow.states])  # quasi-velocities in their own units


def _trial(
    rates: Rates, flow: Flow, draws: list[Draw], scales: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """A random state, parameters and time where the rates are finite, and the rates."""
    for draw in draws:
        for size in (1.0, 0.3, 0.1, 0.03):
            x, numbers = scales * generator.uniform(0.2 * size, size, len(flow.states)), draw(generator)
            time = float(generator.uniform(0.0, 3.0))
            there = rates(x, numbers, time)
            if np.isfinite(there).all():
                return x, numbers, time, there
    raise ParameterError(f"the rates of {flow.system.name} are not finite at any state tried: check its parameters")


def _extended(flow: Flow) -> Rates:
    """f(x; parameters, time) in extended precision."""
    wide = np.longdouble
    compact = len(flow.states) > COMPACT_FROM // 3
    function = hy.cfunc(list(flow.expressions), list(flow.variables), fp_type=wide, compact_mode=compact, opt_level=0)
    # heyoka requires exactly the parameters up to the last one that occurs.
    many = 1 + max((int(str(p)[1:]) for p in hy.get_params(list(flow.expressions))), default=-1)

    def rates(x: np.ndarray, numbers: np.ndarray, time: float) -> np.ndarray:
        return function(x.astype(wide), pars=numbers[:many].astype(wide), time=wide(time))

    return rates


def _turning(system: System, felt: Iterable[str]) -> Iterator[tuple[str, Graph]]:
    """Headings with which two ignorable coordinates may turn, and the equations along turning axes."""
    names, graph = system.coordinate_names, comoving_graph(system)
    pairs = combinations([names.index(name) for name in ignorable_coordinates(system)], 2)
    for (i, j), heading, sense in product(pairs, felt, (1.0, -1.0)):
        h = names.index(heading)
        if _turns(system, h, (i, j), sense):
            yield heading, _turned(graph, h, (i, j), sense)


def _turns(system: System, heading: int, pair: tuple[int, int], sense: float) -> bool:
    """Whether the inertia and what the constraints allow turn with a heading, at random configurations."""
    generator, n = np.random.default_rng(1897), len(system.coordinates)
    numbers = generator.uniform(0.5, 1.5, len(system.parameters))
    constraints = Constraints(system.at().unchecked(**dict(zip(system.parameter_names, numbers.tolist(), strict=True))))
    angle, q = generator.uniform(0.3, 0.9), generator.uniform(0.1, 0.5, n)
    turn = np.eye(n)
    cosine, sine = np.cos(angle), sense * np.sin(angle)
    turn[np.ix_(pair, pair)] = [[cosine, -sine], [sine, cosine]]
    (_, _, A, M), (_, _, there, inertia) = (constraints(x, 0 * q) for x in (q, q + angle * np.eye(n)[heading]))
    if not all(np.isfinite(each).all() for each in (A, M, there, inertia)):
        return False
    allowed = np.linalg.svd(A)[2][len(A) :].T
    differences = np.append(np.ravel(inertia - turn @ M @ turn.T), there @ turn @ allowed)
    return bool(np.abs(differences).max() <= ALIKE * (np.abs(M).max() + np.abs(A).max(initial=0.0)))


def _turned(graph: Graph, heading: int, pair: tuple[int, int], sense: float) -> Graph:
    """Lagrange's equations in velocities w of q̇ = T w, where T turns a pair of them by the heading: q̈ = T ẇ + Ṫ w."""
    (i, j), v = pair, graph.v
    cosine, sine = hy.cos(graph.q[heading]), sense * hy.sin(graph.q[heading])
    stated = list(v)
    stated[i], stated[j] = cosine * v[i] - sine * v[j], sine * v[i] + cosine * v[j]
    drift = [hy.expression(0.0)] * len(v)
    drift[i], drift[j] = -sense * v[heading] * stated[j], sense * v[heading] * stated[i]

    def moved(expressions: list[Expression]) -> list[Expression]:
        return list(hy.subs(expressions, {v[i]: stated[i], v[j]: stated[j]})) if expressions else []

    def turned(row: list[Expression]) -> list[Expression]:
        """The row times T."""
        found = list(row)
        found[i], found[j] = cosine * row[i] + sine * row[j], cosine * row[j] - sine * row[i]
        return found

    half = [turned(row) for row in graph.M]
    M = [list(row) for row in zip(*(turned(list(column)) for column in zip(*half, strict=True)), strict=True)]
    forces = [h + dot(row, drift) for h, row in zip(moved(graph.h), graph.M, strict=True)]
    return replace(
        graph,
        M=M,
        h=turned(forces),
        A=[turned(row) for row in graph.A],
        gamma=[g + dot(row, drift) for g, row in zip(moved(graph.gamma), graph.A, strict=True)],
        constraints=moved(graph.constraints),
    )


def _chart(system: System, dependent: tuple[str, ...], order: tuple[int, ...], graph: Graph) -> Flow:
    """The shape flow with these velocities solved for; holonomic constraints attract."""
    return shape_flow(system, dependent, SETTLE if system.statement.positions else 0.0, graph, order)


def _solved_for(
    system: System, independent: frozenset[str], numbers: np.ndarray | None, near: tuple[float, ...]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Coordinates whose velocities are solved for, none of those asked for: those that the constraints determine best
    at these numbers, near a configuration; and the order in which the rows are taken."""
    names = system.coordinate_names
    wanted = {name.removesuffix("_dot") for name in independent}
    for name in wanted:
        if name not in names:
            raise ParameterError(f"{system.name} has no velocity {name}_dot: {nearest(name, names)}")
    A = reference_matrix(comoving_graph(system), near, numbers)
    open_ = [j for j, name in enumerate(names) if name not in wanted]
    if len(A) and np.linalg.matrix_rank(A[:, open_]) < len(A):
        raise not_free(system.name, independent)
    first = [k for k, j in enumerate(open_) if names[j] in ignorable_coordinates(system)]
    columns = [open_[k] for k in dependent_velocities(A[:, open_], first)] if len(A) else []
    return tuple(names[j] for j in columns), elimination_order(A[:, columns])
