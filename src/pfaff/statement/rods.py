"""Rods as parts of a system: planar, without stretch or shear, at any angle, with points to attach other things to.

A system with rods is stated in a *frame*: the coordinates of everything else and those of the points of rods that are
used, as if these moved freely. The rods then say where their points are, and add their own inertia and elasticity, node
by node: their energies are never written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.coordinates import TIME
from pfaff.statement.names import checked_name
from pfaff.statement.parameters import scalar
from pfaff.statement.plain_symbols import RodStatement, Statement
from pfaff.statement.rod_basis import Basis, chain_of_bars, legendre_modes
from pfaff.statement.values import listed, shown, whole_number
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.statement.system import System

PLACE = sm.Symbol("s", nonnegative=True)
USUAL = 10  # modes: ten digits of most loads
MANY = 60  # modes: more have nothing to add in double precision
MANY_BARS = 400
SECTIONS = ("bending", "mass", "rotary", "retardation", "drag")
KINDS = ("x", "y", "theta")


@dataclass(frozen=True)
class Point:
    """A point of a rod: functions of time to write in energies, forces and constraints."""

    x: sm.Expr
    y: sm.Expr
    theta: sm.Expr


@dataclass(frozen=True, eq=False)
class Rod:
    """An elastic rod in the plane that neither stretches nor shears, as large as its deflections may be.

    length
        A number or an expression in parameters.
    bending, mass
        The bending stiffness EI and the mass per unit of length: numbers, expressions in parameters, or functions of
        the arc length s from the base, ``lambda s: 1 - s/2``.
    rotary, retardation, drag
        Rotary inertia per unit of length; Kelvin's and Voigt's time η, by which the bending moment is
        EI (κ + η κ̇); the drag per unit of length and velocity. As ``bending``; zero by default.
    modes, bars
        Legendre modes of the angle, or that many rigid bars instead: the same formula with other matrices. With
        ``modes="auto"`` critical loads and Hopf points are computed with more and more modes until they settle; other
        analyses take ten.
    base
        (x, y, θ) where the rod begins: each a number, a coordinate, a coordinate of a point of another rod, or one
        of these plus a number. ``(X, 0, 0)`` is a clamp on a sliding block.
    name
        Its amplitudes are the coordinates ``name1, name2, …``.

    ``rod.end`` and ``rod.at(1/2)``, a fraction of the length, have ``x``, ``y`` and ``theta``. The rod is clamped to
    its base; hinge it by giving θ a coordinate of its own.
    """

    length: Any = 1
    bending: Any = 1
    mass: Any = 1
    rotary: Any = 0
    retardation: Any = 0
    drag: Any = 0
    modes: Any = USUAL
    base: Any = (0, 0, 0)
    name: str = "rod"
    bars: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name, "rod"))
        if self.bars is None and self.modes != "auto":
            whole_number("modes", self.modes, 1, MANY, "more cannot be told apart in double precision", StatementError)
        elif self.bars is not None:
            whole_number("bars", self.bars, 1, MANY_BARS, "use modes instead", StatementError)
        object.__setattr__(self, "length", scalar(self.length, f"the length of {self.name}"))
        if self.length.is_number and not self.length > 0:
            raise StatementError(f"{self.name} has length {self.length}: give a positive one")
        for name in SECTIONS:
            object.__setattr__(self, name, _section(self, name))
        base = listed("base", self.base, "(X, 0, 0)", StatementError)
        if len(base) != 3:
            raise StatementError(f"base={shown(self.base)} of {self.name}: give x, y and θ, such as base=(X, 0, 0)")
        kinds = zip(KINDS, base, strict=True)
        object.__setattr__(
            self, "base", tuple(scalar(each, f"{kind} at the base of {self.name}") for kind, each in kinds)
        )

    @cached_property
    def basis(self) -> Basis:
        if self.bars is not None:
            return chain_of_bars(self.bars)
        return legendre_modes(USUAL if self.modes == "auto" else self.modes)

    @property
    def refines(self) -> bool:
        """Whether the number of modes is left to the analysis."""
        return self.modes == "auto" and self.bars is None

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}{k + 1}" for k in range(self.basis.size))

    @property
    def end(self) -> Point:
        return self.at(1)

    def at(self, fraction: Any) -> Point:
        """The point at a fraction of the length, 0 at the base and 1 at the end."""
        place = float(scalar(fraction, f"the place on {self.name}"))
        if not 0 <= place <= 1:
            raise StatementError(f"{self.name}.at({fraction}): give a fraction of the length, from 0 to 1")
        word = "end" if place == 1 else f"{place:.17f}".rstrip("0").replace(".", "_")
        return Point(*(sm.Function(f"{self.name}_{kind}_{word}")(TIME) for kind in KINDS))

    def place_of(self, name: str) -> tuple[float, str] | None:
        """The fraction of the length and the kind of the coordinate that a name stands for, if it is a point's."""
        found = re.fullmatch(rf"{re.escape(self.name)}_(x|y|theta)_(end|[01]_\d*)", name)
        if not found:
            return None
        return (1.0 if found[2] == "end" else float(found[2].replace("_", "."))), found[1]

    @property
    def symbols(self) -> set[sm.Symbol]:
        """Parameters that its length and section contain."""
        stated = [self.length, *(getattr(self, name) for name in SECTIONS)]
        return {symbol for each in stated if isinstance(each, sm.Expr) for symbol in each.free_symbols} - {PLACE}


def _section(rod: Rod, name: str) -> Any:
    """A section's property as an expression in s and parameters, or as a function of numbers."""
    given = getattr(rod, name)
    where = f"the {name} of {rod.name}"
    least = "positive" if name in ("bending", "mass") else "nonnegative"
    if not callable(given) or isinstance(given, sm.Basic):
        found = scalar(given, where)
    else:
        try:
            found = scalar(given(PLACE), where)
        except Exception:
            found = _of_numbers(rod, given, where)
    if isinstance(found, sm.Expr) and found.free_symbols - {PLACE}:
        return found
    if isinstance(found, sm.Expr) and PLACE in found.free_symbols and not rod.length.is_number:
        return found
    length = float(rod.length) if rod.length.is_number else 1.0
    for place in np.union1d(np.linspace(0, 1, 101), rod.basis.nodes):
        value = section_value(found, length * place, where)
        if value < 0 or (least == "positive" and value == 0):
            raise StatementError(f"{where} is {value:g} at s = {length * place:g}: it must be {least} all along")
    return found


def _of_numbers(rod: Rod, function: Callable[[float], Any], where: str) -> Callable[[float], Any]:
    if not rod.length.is_number:
        raise StatementError(
            f"{where} is a function of numbers only, and the length is {rod.length}: give the length as a number, or "
            "write the function so that it takes a SymPy symbol"
        )
    return function


def section_value(section: Any, place: float, where: str) -> float:
    """A property without parameters at one place, which must be a finite number."""
    try:
        value = float(section.subs(PLACE, place) if isinstance(section, sm.Expr) else section(place))
    except Exception as problem:
        raise StatementError(f"{where} cannot be computed at s = {place:g}: {problem}") from problem
    if not np.isfinite(value):
        raise StatementError(f"{where} is {value} at s = {place:g}: give a section that is finite all along")
    return value


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


def check_rods(system: System, own: list[str]) -> None:
    """Rods have different names, and each begins at coordinates or at points of rods before it."""
    names = [rod.name for rod in system.rods]
    known = set(own)
    for k, rod in enumerate(system.rods):
        if not isinstance(rod, Rod):
            raise StatementError(f"rods contains {shown(rod)}: give pfaff.Rod(…)")
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
    """The frame's statement beside the coordinates of the system; energies of the rods stand there by name."""
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
    """The same system with so many modes of every rod that leaves their number open."""
    rods = [replace(rod, modes=modes) if rod.refines else rod for rod in system.rods]
    own = len(system.coordinates) - sum(rod.basis.size for rod in system.rods)
    return replace(system, coordinates=system.coordinates[:own], rods=rods)


def state_rods(system: System) -> None:
    """Complete a system with rods: its frame, stated and checked as any other system, and what follows from both."""
    from pfaff.statement.system import Frame

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
    normalise(system, "frame", frame)
    for name in (*FRAMED, "kinetic"):
        normalise(system, name, getattr(frame, name))
    normalise(system, "coordinates", (*own, *(sm.Function(name)(TIME) for name in amplitudes)))
    names = [*system.coordinate_names, *frame.coordinate_names, *system.parameter_names]
    for name in system.coordinate_names[len(own) :]:
        if names.count(name) > 1:
            raise StatementError(f"{name!r} is an amplitude of a rod and something else: rename the rod or the other")
    if system.drawing is not None:
        normalise(system, "drawing", _drawn(system, frame.words))
    normalise(system, "statement", on_rods(system, frame.statement))
    normalise(system, "redundant", frame.redundant)


FRAMED = (
    *("potential", "dissipation", "forces", "nonholonomic_constraints", "holonomic_constraints", "parameters", "load"),
    *("name", "accept_integrable", "accept_redundant"),
)


def _name(coordinate: Any) -> str:
    return coordinate.func.__name__ if isinstance(coordinate, sm.Expr) else str(coordinate)
