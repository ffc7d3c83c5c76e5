"""The frame of a system with rods, and the contribution of the rods to it.

A system with rods is stated in a *frame*: the coordinates of everything else and those of the points of rods that are
used, as if these moved freely. The rods then say where their points are, and add their own inertia and elasticity, node
by node: their energies are never written out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.coordinates import TIME
from pfaff.statement.drawing import Drawing
from pfaff.statement.plain_symbols import RodStatement, Statement
from pfaff.statement.rods import KINDS, PLACE, Rod
from pfaff.statement.system import System
from pfaff.statement.values import listed, shown
from pfaff.threads import once

DRAWN = 24  # pieces of the curve of a rod


class Frame(System):
    """The statement of a system beside its rods, in its own coordinates and those of points of rods."""

    needs_inertia = False


@dataclass(frozen=True)
class Base:
    """Where a rod begins: for x, y and θ the name of a coordinate of the frame, if any, and a number to add."""

    names: tuple[str | None, str | None, str | None]
    numbers: tuple[float, float, float]


def base_of(rod: Rod) -> Base:
    names: list[str | None] = []
    numbers: list[float] = []
    for kind, given in zip(KINDS, rod.base, strict=True):
        functions = given.atoms(sm.core.function.AppliedUndef)
        number = given.xreplace(dict.fromkeys(functions, sm.S.Zero))
        rest = sm.expand(given - number)
        if len(functions) > 1 or not number.is_number or (rest != 0 and rest not in functions):
            raise StatementError(
                f"{kind} at the base of {rod.name} is {given}: give a number, a coordinate, or a coordinate plus a "
                "number; for more, give the base coordinates of its own and hold them by holonomic constraints"
            )
        names.append(next(iter(functions)).func.__name__ if functions else None)
        numbers.append(float(number))
    return Base((names[0], names[1], names[2]), (numbers[0], numbers[1], numbers[2]))


@dataclass(frozen=True)
class Station:
    """A point of a rod that the frame knows by the names of its coordinates."""

    rod: int
    place: float
    names: tuple[str, str, str]


def stations_of(system: System) -> list[Station]:
    """The points of rods that a statement uses, in its formulas or at bases of rods; ends always."""
    stated = [
        *(system.kinetic, system.potential, system.dissipation, system.forces),
        *(system.nonholonomic_constraints, system.holonomic_constraints),
        *(rod.base for rod in system.rods),
        *(rod.end.x for rod in system.rods),
    ]
    return _stations(system, stated)


def _stations(system: System, stated: list[Any]) -> list[Station]:
    """The points whose names appear, be it in SymPy or in text."""
    words = chain.from_iterable(re.findall(r"[^\W\d]\w*", str(each)) for each in stated)
    found = {}
    for name in dict.fromkeys(words):
        for k, rod in enumerate(system.rods):
            place = rod.place_of(name)
            if place is not None:
                names = tuple(q.func.__name__ for q in vars(rod.at(place[0])).values())
                found[k, place[0]] = Station(k, place[0], names)
    return [found[key] for key in sorted(found)]


def drawn_stations(system: System) -> list[Station]:
    """The points of rods that its drawing or its bases name."""
    drawing = system.drawing
    groups = (drawing.points, drawing.angles, drawing.circles, drawing.arrows) if drawing is not None else ()
    return _stations(system, [*(list(group.values()) for group in groups), *(rod.base for rod in system.rods)])


def _drawn(system: System, known: dict[str, sm.Expr]) -> Any:
    points = [q for each in drawn_stations(system) for q in vars(system.rods[each.rod].at(each.place)).values()]
    assert system.drawing is not None
    return system.drawing.read(known | {q.func.__name__: q for q in points})


def _curved(rods: Sequence[Rod]) -> Drawing:
    """The default drawing: every rod as a curve, and the paths of their ends."""
    points: dict[str, Any] = {}
    curves = []
    for rod in rods:
        places = [rod.at(sm.Rational(k, DRAWN)) for k in range(1, DRAWN + 1)]
        names = [f"{part} of {rod.name}" for part in ("base", *range(1, DRAWN), "end")]
        points |= dict(zip(names, [rod.base[:2], *((each.x, each.y) for each in places)], strict=True))
        curves.append(names)
    return Drawing(points=points, curves=curves, traced=[names[-1] for names in curves])


def check_rods(system: System, own: list[str]) -> None:
    """Raise unless rods have different names, and each begins at coordinates or at points of rods before it."""
    for rod in system.rods:
        if not isinstance(rod, Rod):
            raise StatementError(f"rods contains {shown(rod)}: give pfaff.Rod(…)")
    names = [rod.name for rod in system.rods]
    known = set(own)
    for k, rod in enumerate(system.rods):
        if names.count(rod.name) > 1:
            raise StatementError(f"two rods are called {rod.name!r}: give each its own name")
        for name in filter(None, base_of(rod).names):
            placed = any(earlier.place_of(name) for earlier in system.rods[:k])
            if name not in known and not placed:
                raise StatementError(
                    f"{rod.name} begins at {name}, which is neither a coordinate nor at a point of a rod before it"
                )
        missing = rod.symbols - set(system.parameters)
        if missing:
            absent = ", ".join(sorted(map(str, missing)))
            raise StatementError(f"{rod.name} contains {absent}: add it to parameters, with a value or None")


def held_bases(system: System) -> list[str]:
    """The names of rods whose base cannot move, nor the rod it stands on."""
    held: list[str] = []
    for rod in system.rods:
        names = [name for name in base_of(rod).names[:2] if name]
        if all(any(other.name in held and other.place_of(name) for other in system.rods) for name in names):
            held.append(rod.name)
    return held


def point_values(
    system: System, stations: Sequence[Station], q: np.ndarray, numbers: Sequence[Any]
) -> dict[str, np.ndarray]:
    """The coordinates of points of rods, for columns of coordinates of the system, at values of its parameters."""
    known = dict(zip(system.coordinate_names, q, strict=True))
    for k, rod in enumerate(system.rods):
        length = sm.lambdify(list(system.parameters), rod.length, "numpy", dummify=True)(*numbers)
        base = base_of(rod)
        x, y, angle = (
            (0.0 if name is None else known[name]) + number
            for name, number in zip(base.names, base.numbers, strict=True)
        )
        a = np.array([known[name] for name in rod.coordinate_names])
        turned = angle + rod.basis.angles @ a
        for station in stations:
            if station.rod == k:
                here, along = rod.basis.at(station.place)
                values = x + length * (along @ np.cos(turned)), y + length * (along @ np.sin(turned)), angle + here @ a
                known |= dict(zip(station.names, values, strict=True))
    return known


def on_rods(system: System, frame: Statement) -> RodStatement:
    """The frame's statement with the coordinates of the system; energies of the rods appear by name."""
    q = tuple(sm.Symbol(name, real=True) for name in system.coordinate_names)
    v = tuple(sm.Symbol(f"{name}_dot", real=True) for name in system.coordinate_names)
    velocities = {sm.Derivative(c, frame.time): x for c, x in zip(system.coordinates, v, strict=True)}
    kinetic, potential, dissipation = zip(*(_by_name(rod) for rod in system.rods), strict=True)
    stated = {each.name: getattr(frame, each.name) for each in fields(frame)}
    changed = {
        "q": q,
        "v": v,
        "kinetic": frame.kinetic + sm.Add(*kinetic),
        "potential": frame.potential + sm.Add(*potential),
        "dissipation": frame.dissipation + sm.Add(*dissipation),
        "to_plain": {**frame.to_plain, **velocities, **dict(zip(system.coordinates, q, strict=True))},
    }
    return RodStatement(**{**stated, **changed}, frame=frame)


def _by_name(rod: Rod) -> tuple[sm.Expr, sm.Expr, sm.Expr]:
    """Kinetic energy, potential and dissipation of a rod as names, with the parameters that they contain."""
    a = [sm.Symbol(name, real=True) for name in rod.coordinate_names]
    rates = [sm.Symbol(f"{name}_dot", real=True) for name in rod.coordinate_names]

    def named(energy: str, *sections: Any, moving: bool) -> sm.Expr:
        symbols = {x for each in sections if isinstance(each, sm.Expr) for x in each.free_symbols} - {PLACE}
        return sm.Function(f"{energy}_{rod.name}")(*a, *(rates if moving else ()), *sorted(symbols, key=str))

    def damped(energy: str, factor: Any, *sections: Any) -> sm.Expr:
        linear = factor if isinstance(factor, sm.Expr) and PLACE not in factor.free_symbols else sm.S.One
        inside = sections if linear is factor else (factor, *sections)
        return linear * named(energy, *inside, moving=True)

    return (
        named("T", rod.length, rod.mass, rod.rotary, moving=True),
        named("V", rod.length, rod.bending, moving=False),
        damped("D_bending", rod.retardation, rod.length, rod.bending) + damped("D_drag", rod.drag, rod.length),
    )


@once(most=64)
def refined(system: System, modes: int) -> System:
    """The system with this many modes of every rod that leaves their number open."""
    return with_rods(system, [replace(rod, modes=modes) if rod.refines else rod for rod in system.rods])


def with_rods(system: System, rods: Sequence[Rod]) -> System:
    """The system with these rods in place of its own."""
    own = len(system.coordinates) - sum(rod.basis.size for rod in system.rods)
    return replace(system, coordinates=system.coordinates[:own], rods=list(rods))


def state_rods(system: System) -> None:
    """Complete a system with rods: its frame, stated and checked as any other system, and what follows from both."""
    normalise = object.__setattr__
    normalise(system, "rods", listed("rods", system.rods, "[pfaff.Rod(…)]", StatementError))
    if system.particles:
        raise StatementError("particles and rods do not go together: state the masses of other parts as kinetic energy")
    amplitudes = [name for rod in system.rods for name in getattr(rod, "coordinate_names", ())]
    own = [q for q in listed("coordinates", system.coordinates, "[X]", StatementError) if _name(q) not in amplitudes]
    check_rods(system, [_name(q) for q in own])
    normalise(system, "stations", tuple(stations_of(system)))
    points = [sm.Function(name)(TIME) for station in system.stations for name in station.names]
    stated = {name: getattr(system, name) for name in FRAMED}
    frame = Frame(coordinates=[*own, *points], kinetic=0 if system.kinetic is None else system.kinetic, **stated)
    frame = frame.independent
    normalise(system, "frame", frame)
    for name in (*FRAMED, "kinetic"):
        normalise(system, name, getattr(frame, name))
    normalise(system, "coordinates", (*own, *(sm.Function(name)(TIME) for name in amplitudes)))
    names = [*system.coordinate_names, *frame.coordinate_names, *system.parameter_names]
    for name in system.coordinate_names[len(own) :]:
        if names.count(name) > 1:
            raise StatementError(f"{name!r} is an amplitude of a rod and something else: rename the rod or the other")
    if system.drawing is None:
        normalise(system, "drawing", _curved(system.rods))
    normalise(system, "drawing", _drawn(system, frame.words))
    normalise(system, "statement", on_rods(system, frame.statement))
    normalise(system, "stated", system.statement)
    normalise(system, "redundant", ())
    normalise(system, "empty", ())


FRAMED = (
    *("potential", "dissipation", "forces", "nonholonomic_constraints", "holonomic_constraints", "parameters", "load"),
    *("name", "accept_integrable", "accept_redundant"),
)


def _name(coordinate: Any) -> str:
    return coordinate.func.__name__ if isinstance(coordinate, sm.Expr) else str(coordinate)
