"""The equations of motion without the coordinates of symmetries: where steady motions are equilibria.

The heading of a wheel appears in its rolling constraints, but nothing that happens depends on it. ``symmetries`` finds
such coordinates, ``slice`` leaves them out, and their velocities, with those of coordinates that turn with them, are
the velocities at the instant when they are zero.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

import numpy as np

from pfaff.errors import ParameterError, nearest
from pfaff.flow.flow import Flow, lowered_again
from pfaff.flow.freezing import slice_of
from pfaff.flow.in_quasi_velocities import in_quasi_velocities, not_free, quasi_rows
from pfaff.flow.lowering import elimination_order, pivots_of, reference_matrix, shape_flow
from pfaff.flow.motion_sizes import natural_rate
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates
from pfaff.flow.slice import Slice
from pfaff.flow.symmetries import symmetries
from pfaff.flow.uniform_motion import comoving_graph
from pfaff.statement.system import System
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Bound

SMALL = 1e-2  # pivots of constraints below this, relatively, are exchanged
EVEN = 64.0  # rates are rounded to powers of this, so that a flow serves many values of the parameters


@lowered_again
def relative_flow(
    system: System,
    independent: Iterable[str] = (),
    numbers: np.ndarray | None = None,
    near: tuple[float, ...] = (),
    keep: Iterable[str] = (),
) -> Flow:
    """The flow in which steady motions rest, with these velocities and quasi-velocities among its states.

    Symmetries hold for every value of the parameters, and are confirmed at these numbers. The other velocities are
    solved for as is best ``near`` a configuration, or near the origin. The coordinates in ``keep`` are states as well,
    if symmetries leave a choice.
    """
    names = tuple(independent)
    speeds = frozenset(name for name in names if name not in system.quasi_velocities)
    quasi = tuple(name for name in names if name in system.quasi_velocities)
    part = slice_of(system, frozenset(name for name in keep if name in system.coordinate_names), numbers)
    chosen, order = _solved_for(system, speeds, numbers, near, ignorable_coordinates(system))
    settle = _settling(system, numbers) if system.statement.positions else 0.0
    flow = sliced(system, chosen, settle, part, order)
    return in_quasi_velocities(flow, quasi, speeds, numbers, near)


def _settling(system: System, numbers: np.ndarray | None) -> float:
    """The rate at which holonomic constraints attract: about as fast as the system moves, lest either be rounding
    beside the other; it leaves no other trace in any result."""
    rate = natural_rate(system, numbers) if numbers is not None else 0.0
    return float(EVEN ** round(np.log(rate) / np.log(EVEN))) if rate else 1.0


def independent(
    system: System, first: Iterable[str], others: Iterable[str], numbers: np.ndarray, near: tuple[float, ...] = ()
) -> list[str]:
    """The other velocities that the constraints leave free beside the first ones, as many as there are; ``near`` a
    configuration if one is given."""
    first = list(first)
    found: list[str] = []
    rows = reference_matrix(comoving_graph(system), near, numbers)
    for name in others:
        if _free_together(system, rows, [*first, *found, name], numbers, near):
            found.append(name)
    return found


def accidental(system: System, numbers: np.ndarray) -> tuple[str, ...]:
    """Coordinates at every value of which a system is alike at these numbers, though not at others."""
    here, always = symmetries(system, tuple(numbers.tolist())), symmetries(system)
    if len(here.generators) <= len(always.generators):
        return ()
    pairs = zip(system.coordinate_names, here.moved, always.moved, strict=True)
    return tuple(name for name, now, ever in pairs if now and not ever)


def _free_together(
    system: System, A: np.ndarray, speeds: list[str], numbers: np.ndarray, near: tuple[float, ...]
) -> bool:
    """Whether the constraints leave these velocities and quasi-velocities free."""
    names = system.coordinate_names
    quasi = [name for name in speeds if name in system.quasi_velocities]
    left = [j for j, each in enumerate(names) if f"{each}_dot" not in speeds]
    if quasi:
        state = np.zeros(2 * len(names))
        state[: len(near)] = near
        A = np.vstack([A, quasi_rows(system, quasi, state, numbers, 0.0)[:, 1:]])
    return not len(A) or bool(left and np.linalg.matrix_rank(A[:, left]) == len(A))


@once(most=16)
def _solved_for(
    system: System,
    independent: frozenset[str],
    numbers: np.ndarray | None,
    near: tuple[float, ...],
    preferred: Container[str],
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
    if len(A) and not (open_ and np.linalg.matrix_rank(A[:, open_]) == len(A)):
        raise not_free(system.name, independent)
    first = [k for k, j in enumerate(open_) if names[j] in preferred]
    columns = [open_[k] for k in dependent_velocities(A[:, open_], first)] if len(A) else []
    return tuple(names[j] for j in columns), elimination_order(A[:, columns])


def shape_at(case: Bound) -> Flow:
    """The flow on shape space, with the velocities solved for that the constraints determine best at the case's
    numbers; that of a plain ODE as it is."""
    system = case.system
    if not isinstance(system, System) or system.rods or not system.statement.constraints:
        return system.shape  # type: ignore[attr-defined]
    chosen, order = _solved_for(system, frozenset(), case.numbers, (), ignorable_coordinates(system))
    return sliced(system, chosen, 0.0, None, order)


def without_symmetries(case: Bound) -> Flow:
    """The flow in the usual chart, without the coordinates of symmetries; that of a plain ODE as it is."""
    system = case.system
    part = slice_of(system, numbers=case.numbers) if isinstance(system, System) else None
    if part is None or not isinstance(system, System):
        return shape_at(case)
    chosen, order = _solved_for(system, frozenset(), case.numbers, (), part.names)
    return sliced(system, chosen, 0.0, part, order)


@lowered_again
@once(most=16)
def sliced(
    system: System,
    dependent: tuple[str, ...] | None,
    settle: float,
    part: Slice | None,
    order: tuple[int, ...] | None = None,
) -> Flow:
    """The flow on a slice, with dependent velocities as for the shape flow."""
    usual = tuple(name.removesuffix("_dot") for name in system.shape.dependent)
    if part is None and not settle and dependent in (None, usual) and (order is None or order == _usual_order(system)):
        return system.shape
    return shape_flow(system, dependent, settle, part, order)


def order_at(system: System, rows: np.ndarray) -> tuple[int, ...] | None:
    """The order in which the constraints are solved for the usual velocities, with these coefficients in some state;
    None where the usual one serves, and where rods are solved for in numbers."""
    if system.rods or not len(rows):
        return None
    usual = _usual_order(system)
    pivots = pivots_of(rows, usual)
    return None if (pivots >= SMALL * np.abs(rows).max(initial=0.0)).all() else elimination_order(rows)


@once(most=1)
def _usual_order(system: System) -> tuple[int, ...]:
    """The order in which the shape flow solves the constraints."""
    columns = [system.coordinate_names.index(name.removesuffix("_dot")) for name in system.shape.dependent]
    return elimination_order(reference_matrix(comoving_graph(system), columns=columns)[:, columns])
