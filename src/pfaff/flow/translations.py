"""Which coordinates of a system with rods are ignorable: those whose change moves rods, and all points, as a whole."""

from __future__ import annotations

import sympy as sm

from pfaff.flow.rod_mechanics import base_of
from pfaff.flow.shape import appearance
from pfaff.statement.system import System


def kept(system: System) -> dict[str, str]:
    """For every coordinate why it is kept, in words; nothing for those that may be dropped."""
    assert system.frame is not None
    own = len(system.coordinates) - sum(rod.basis.size for rod in system.rods)
    found = {name: _reason(system, name) for name in system.coordinate_names[:own]}
    return found | {name: f"{name} bends a rod" for name in system.coordinate_names[own:]}


def _reason(system: System, name: str) -> str:
    assert system.frame is not None
    moved = _moved(system, name)
    if moved is None:
        return f"{name} turns a rod"
    s = system.frame.statement
    along = [q for q in s.q if q.name in moved]

    def changes(expression: sm.Expr) -> bool:
        return sm.expand(sm.Add(*(sm.diff(expression, q) for q in along))) != 0

    places = {
        "the kinetic energy": [s.kinetic],
        "the dissipation": [s.dissipation],
        "the forces": s.forces,
        "the constraints": [*s.constraints, *s.positions],
        "the potential, not linearly": [sm.diff(s.potential, q) for q in s.q],
    }
    appears = [place for place, expressions in places.items() if any(map(changes, expressions))]
    return appearance(name, appears)


def _moved(system: System, name: str) -> set[str] | None:
    """Coordinates of the frame that change by as much as this one; None if it turns a rod."""
    moved = {name}
    for k, rod in enumerate(system.rods):
        x, y, angle = base_of(rod).names
        if angle in moved:
            return None
        for kind, base in ((0, x), (1, y)):
            if base in moved:
                moved |= {station.names[kind] for station in system.stations if station.rod == k}
    return moved
