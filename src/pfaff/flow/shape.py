"""Which coordinates are ignorable, and which velocities the constraints determine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pfaff import doors
from pfaff.flow.differentiation import gradient
from pfaff.flow.graph import Expression, variables_in
from pfaff.flow.uniform_motion import comoving_graph
from pfaff.statement.system import System
from pfaff.threads import once

DROPPED = "dropped: only the velocity of {} matters, and the potential is at most linear in it"


def ignorable_coordinates(system: System) -> dict[str, str]:
    """Coordinates that may be dropped, each with the reason: only their velocities matter."""
    return {name: DROPPED.format(name) for name, why in _kept(system).items() if not why}


def kept_coordinates(system: System) -> dict[str, str]:
    """The other coordinates, each with where it appears."""
    return {name: f"kept: {why}" for name, why in _kept(system).items() if why}


@once(most=1)
def _kept(system: System) -> dict[str, str]:
    """Why each coordinate is kept; nothing for those that may be dropped."""
    if system.rods:
        return doors.translations.kept(system)
    graph, names = comoving_graph(system), system.coordinate_names
    potential = gradient(graph.potential, graph.q)
    places = {
        "the kinetic energy": [graph.kinetic],
        "the dissipation": [graph.dissipation],
        "the forces": graph.forces,
        "the constraints": graph.constraints + graph.positions,
        "the potential, not linearly": potential,
    }
    return {name: appearance(name, _places(name, places)) for name in names}


def _places(name: str, places: dict[str, list[Expression]]) -> list[str]:
    return [place for place, expressions in places.items() if expressions and name in variables_in(expressions)]


def appearance(name: str, places: Sequence[str]) -> str:
    """Where a coordinate appears, in words; nothing if nowhere."""
    return f"{name} appears in {' and in '.join(places)}" if places else ""


def dependent_velocities(A: np.ndarray, first_choice: list[int]) -> list[int]:
    """Columns of A that are well solved for: Gauss–Jordan pivots, ignorable coordinates preferred."""
    rows = A / np.abs(A).max(axis=1, keepdims=True)
    chosen: list[int] = []
    for _ in range(len(rows)):
        sizes = np.abs(rows).max(axis=0)
        sizes[chosen] = 0.0
        preferred = [j for j in first_choice if j not in chosen and sizes[j] > 0.1 * sizes.max()]
        column = max(preferred or range(len(sizes)), key=lambda j: sizes[j])
        chosen.append(column)
        pivot = rows[:, column]
        k = int(np.abs(pivot).argmax())
        rows = rows - np.outer(pivot, rows[k]) / pivot[k]
    return chosen
