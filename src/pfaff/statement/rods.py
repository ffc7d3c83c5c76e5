"""Rods as parts of a system: planar, without stretch or shear, at any angle, with points to attach other things to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, PfaffError, StatementError
from pfaff.statement.coordinates import TIME
from pfaff.statement.expressions import converted
from pfaff.statement.names import checked_name
from pfaff.statement.parameters import scalar
from pfaff.statement.rod_basis import Basis, chain_of_bars, legendre_modes
from pfaff.statement.values import listed, number_within, shown, spelt, whole_number
from pfaff.threads import cached_property
from pfaff.travel import Travels

PLACE = sm.Symbol("s", nonnegative=True)
USUAL = 10  # modes: ten digits of most loads
MANY = 60  # modes: more have nothing to add in double precision
MANY_BARS = 400
SECTIONS = ("bending", "mass", "rotary", "retardation", "drag")
POSITIVE = ("length", "bending", "mass")
KINDS = ("x", "y", "theta")


@dataclass(frozen=True)
class Point:
    """A point of a rod: functions of time to write in energies, forces and constraints."""

    x: sm.Expr
    y: sm.Expr
    theta: sm.Expr


@spelt
@dataclass(frozen=True, eq=False)
class Rod(Travels):
    """An elastic rod in the plane that neither stretches nor shears; deflections may be of any size.

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
        ``modes="auto"``, the default, critical loads and Hopf points are computed with more and more modes until they
        settle; other analyses take ten. A critical load prints the digits that the last two modes do not change.
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
    modes: Any = "auto"
    base: Any = (0, 0, 0)
    name: str = "rod"
    bars: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name, "rod"))
        if self.bars is None and not (isinstance(self.modes, str) and self.modes == "auto"):
            whole_number("modes", self.modes, 1, MANY, "more cannot be told apart in double precision", StatementError)
        elif self.bars is not None:
            whole_number("bars", self.bars, 1, MANY_BARS, "use modes instead", StatementError)
        object.__setattr__(self, "length", scalar(self.length, f"the length of {self.name}"))
        if self.length.is_number and not (self.length.is_finite and self.length.is_positive):
            raise StatementError(f"{self.name} has length {self.length}: give a positive one that is finite")
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
        try:
            place = number_within(self.name, fraction, lambda x: 0 <= x <= 1, "from 0 to 1")
        except ParameterError:
            remedy = "give a fraction of the length, from 0 to 1"
            raise StatementError(f"{self.name}.at({shown(fraction)}): {remedy}") from None
        word = "end" if place == 1 else f"{place:.17f}".rstrip("0").replace(".", "_")
        return Point(*(sm.Function(f"{self.name}_{kind}_{word}")(TIME) for kind in KINDS))

    def place_of(self, name: str) -> tuple[float, str] | None:
        """The fraction of the length and the kind of coordinate that a name stands for, if it is that of a point."""
        found = re.fullmatch(rf"{re.escape(self.name)}_(x|y|theta)_(end|[01]_\d*)", name)
        if not found:
            return None
        return (1.0 if found[2] == "end" else float(found[2].replace("_", "."))), found[1]

    @property
    def symbols(self) -> set[sm.Symbol]:
        """Parameters that its length and section contain."""
        stated = [self.length, *(getattr(self, name) for name in SECTIONS)]
        return {symbol for each in stated if isinstance(each, sm.Expr) for symbol in each.free_symbols} - {PLACE}

    @cached_property
    def _undeclared(self) -> dict[str, sm.Expr]:
        """Properties whose sign depends on the values of parameters, not on their declarations."""
        stated = {"length": self.length} | {name: getattr(self, name) for name in SECTIONS}
        formulas = {name: each for name, each in stated.items() if isinstance(each, sm.Expr) and each.free_symbols}
        return {
            name: each
            for name, each in formulas.items()
            if not (each.free_symbols == {PLACE} and self.length.is_number)
            and not (each.is_positive if name in POSITIVE else each.is_nonnegative)
        }

    def check_values(self, values: Mapping[str, Any], load: str | None) -> None:
        """Raise unless values of parameters leave it long, stiff and heavy all along; properties that change with the
        load, or are not known yet, are not checked."""
        if not self._undeclared:
            return
        numbers = {each: values.get(each.name) for each in self.symbols}
        given = {each: converted(value) for each, value in numbers.items() if value is not None and each.name != load}
        length = self.length.xreplace(given)
        for name, stated in self._undeclared.items() if length.is_number else ():
            found, symbols = stated.xreplace(given), sorted(stated.free_symbols & set(given), key=str)
            if found.free_symbols <= {PLACE}:
                told = " and ".join(f"{each} = {given[each]}" for each in symbols)
                _check_along(found, float(length), self, name, f", with {told}" if told else "", ParameterError)

    def described(self) -> str:
        """Its whole statement as text: equal for equal rods. Functions of numbers are represented by their values."""
        sections = [getattr(self, name) for name in SECTIONS]
        told = [each if isinstance(each, sm.Expr) else self._values(each).tolist() for each in sections]
        return f"{self.name}: {[self.length, *told, self.modes, self.bars, *self.base]}"

    def _values(self, section: Callable[[float], Any]) -> np.ndarray:
        return np.array([section(float(self.length) * place) for place in self.basis.nodes], float)


def _section(rod: Rod, name: str) -> Any:
    """A section's property as an expression in s and parameters, or as a function of numbers."""
    given = getattr(rod, name)
    where = f"the {name} of {rod.name}"
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
    _check_along(found, float(rod.length) if rod.length.is_number else 1.0, rod, name)
    return found


def _check_along(
    section: Any, length: float, rod: Rod, name: str, given: str = "", error: type[PfaffError] = StatementError
) -> None:
    """Raise unless a property without parameters, or its length, has the required sign all along."""
    where, least = f"the {name} of {rod.name}", "positive" if name in POSITIVE else "nonnegative"
    varies = not isinstance(section, sm.Expr) or PLACE in section.free_symbols
    for place in np.union1d(np.linspace(0, 1, 101), rod.basis.nodes) if varies else (0.0,):
        value = section_value(section, length * place, where)
        if value < 0 or (least == "positive" and value == 0):
            raise error(f"{where} is {value:g} at s = {length * place:g}{given}: it must be {least} all along")


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
