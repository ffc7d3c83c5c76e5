"""The states of a system with rods: all coordinates and velocities, or those of shape space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pfaff.errors import RankError
from pfaff.flow.graph import ONE, ZERO
from pfaff.flow.placed import NodesAt
from pfaff.flow.rod_mechanics import mechanics_of
from pfaff.flow.rod_series import Chart
from pfaff.flow.shape import dependent_velocities, ignorable_coordinates, kept_coordinates
from pfaff.flow.structured import StructuredFlow
from pfaff.statement.system import System

NEAR = 0.3  # amplitudes at which constraints that lose rank on straight rods are examined


def full_structured(system: System) -> StructuredFlow:
    """The flow in all coordinates and velocities."""
    names = system.coordinate_names
    every = tuple(range(len(names)))
    return StructuredFlow(
        system=system,
        states=(*names, *(f"{name}_dot" for name in names)),
        dropped={},
        kept=dict.fromkeys(names, "kept: all coordinates are states of the full flow"),
        dependent=(),
        expressions=(),
        velocity_expressions=(),
        reaction_expressions=(),
        chart=Chart(every, every, (), 0.0),
    )


def shape_structured(system: System, chosen: Sequence[int] | None, settle: float) -> StructuredFlow:
    """The flow in relevant coordinates and independent velocities."""
    names, dropped = system.coordinate_names, ignorable_coordinates(system)
    first = [names.index(name) for name in dropped]
    columns = list(chosen) if chosen is not None else dependent_velocities(reference_rows(system), first)
    shaped = tuple(j for j, name in enumerate(names) if name not in dropped)
    free = tuple(j for j in range(len(names)) if j not in columns)
    return StructuredFlow(
        system=system,
        states=(*(names[j] for j in shaped), *(f"{names[j]}_dot" for j in free)),
        dropped=dropped,
        kept=kept_coordinates(system),
        dependent=tuple(f"{names[j]}_dot" for j in columns),
        expressions=(),
        velocity_expressions=(),
        reaction_expressions=(),
        settle=settle,
        pivots=(ONE,) if columns else (),  # the determinant, which has no expression
        chart=Chart(shaped, free, tuple(columns), settle),
        bonds=(ZERO,) * len(system.statement.positions) if settle else (),  # as many as there are
    )


def reference_rows(system: System) -> np.ndarray:
    """A on straight rods with the default parameters (1 if there is none), or nearby if it is degenerate there."""
    m, generator = mechanics_of(system), np.random.default_rng(0)
    if not m.m:
        return np.zeros((0, m.n))
    at = NodesAt(system, np.array([1.0 if each is None else float(each) for each in system.parameters.values()]))
    for size in (0.0, NEAR, NEAR, NEAR):
        rows = at.placed(generator.uniform(-size, size, (m.n, 1))).A[0]
        if np.isfinite(rows).all() and np.linalg.matrix_rank(rows) == m.m:
            return rows
    raise RankError(f"the constraints of {system.name} are dependent near the origin: choose dependent velocities")
