"""The characteristic function of a uniform rod: critical loads to any precision, without modes or meshes.

About the straight rod under the thrust P, EI(1 + ηλ)W'''' + (P − rλ²)W'' + (mλ² + cλ)W = 0 with W(0) = W'(0) = 0 and
D = Mλ² + Cλ + K of what is attached to the end: EI(1 + ηλ)W'' + D_θy W + D_θθ W' = 0 and
−EI(1 + ηλ)W''' − (P − rλ²)W' + D_yy W + D_yθ W' = 0. With a skate D_yθ = P, and this is Beck's and Pflüger's column;
with a bow D_θy = P, and it is Reut's. f = (cosh k₁s − cosh k₂s)/(k₁² − k₂²) and g with g' = f satisfy the clamp; their
boundary determinant is symmetric in k₁ and k₂, hence entire in λ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.errors import ConvergenceError, ParameterError, PfaffError
from pfaff.stability.critical import critical_load
from pfaff.stability.exact import ExactLoad, exact_value
from pfaff.statement.rod_frame import refined
from pfaff.statement.rods import PLACE, SECTIONS
from pfaff.statement.told import answering
from pfaff.statement.values import by_name, number_from, one_of, whole_number
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.stability.critical_load import CriticalLoad

USUAL, MOST = 30, 1000  # digits
GUARD = 15  # digits beyond those asked for
STARTS = (10, 16, 24)  # numbers of modes from whose loads a root is looked for, if their number is left open
MODES = 6  # modes of the rod that are tried for the one that loses its stability
AGREEMENT = 1e-3  # relative agreement between the root and the search that it starts from
STILL = 1e-6  # eigenvalues below this part of the lowest frequency of the unloaded rod are zero


@answering
@dataclass(frozen=True, eq=False)
class RodCharacteristic(Travels):
    """D(λ; load) of a case: one uniform rod, clamped to a block or a wall, with anything attached to its end."""

    case: Case

    def __post_init__(self) -> None:
        system = self.case.system
        if len(system.rods) != 1:
            raise ParameterError(f"{system.name} has {len(system.rods)} rods: a characteristic function is for one")
        rod = system.rods[0]
        varying = [name for name in SECTIONS if not _uniform(getattr(rod, name))]
        if varying:
            raise ParameterError(f"the {varying[0]} of {rod.name} varies along it: only uniform rods have closed forms")
        if any(station.place != 1 for station in system.stations):
            raise ParameterError(f"something is attached between the ends of {rod.name}: ask for the number")
        _ = self._expressions  # which refuses rods that do not rest straight

    @property
    def load(self) -> str:
        load = self.case.system.load
        return load.name if load is not None else ""

    @cached_property
    def _expressions(self) -> dict[str, sm.Expr]:
        """Sections, length, thrust, and what is attached to the end, in the parameters."""
        rod = self.case.system.rods[0]
        return {**{name: getattr(rod, name) for name in SECTIONS}, "length": rod.length, **_attached(self.case)}

    @cached_property
    def _fractions(self) -> list[sm.Rational]:
        """Arguments, too: a context of mpmath divides them in its own digits."""
        found = {r for e in self._expressions.values() for r in e.atoms(sm.Rational) if r.q != 1}
        return sorted(found, key=str)

    @cached_property
    def _formulas(self) -> Callable[..., list[Any]]:
        stand = {r: sm.Dummy() for r in self._fractions}
        arguments = [*self.case.system.parameters, *stand.values()]
        stated = [e.xreplace(stand) for e in self._expressions.values()]
        return sm.lambdify(arguments, stated, "math", dummify=True)

    def _values(self, mp: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        fractions = [mp.mpf(r.p) / r.q for r in self._fractions]
        found = self._formulas(*(values[name] for name in self.case.system.parameter_names), *fractions)
        return dict(zip(self._expressions, map(mp.mpf, found), strict=True))

    def numbers(self, mp: Any) -> dict[str, Any]:
        """The values of the case, as exactly as they were given."""
        given = self.case.values
        symbols = {symbol.name: symbol for symbol in self.case.system.parameters}
        return {name: mp.mpf(sm.N(exact_value(given[name], symbols[name]), mp.dps + GUARD)) for name in symbols}

    def determinant(self, mp: Any, eigenvalue: Any, values: Mapping[str, Any]) -> Any:
        """The boundary determinant at an eigenvalue λ, with these values of the parameters."""
        v, lam = self._values(mp, values), mp.mpc(eigenvalue)
        bending = v["bending"] * (1 + v["retardation"] * lam)
        thrust, L = v["thrust"] - v["rotary"] * lam**2, v["length"]
        centre = -thrust / (2 * bending)
        spread = mp.sqrt(centre**2 - (v["mass"] * lam**2 + v["drag"] * lam) / bending)
        k1, k2 = mp.sqrt(centre + spread), mp.sqrt(centre - spread)
        f, g = _clamped(mp, k1, k2, L)
        end = {name: v[f"M{name}"] * lam**2 + v[f"C{name}"] * lam + v[f"K{name}"] for name in ("yy", "yt", "ty", "tt")}
        rows = [
            (bending * w[2] + end["ty"] * w[0] + end["tt"] * w[1],
             -bending * w[3] - thrust * w[1] + end["yy"] * w[0] + end["yt"] * w[1])
            for w in (f, g)
        ]  # fmt: skip
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]

    def root(self, found: CriticalLoad, digits: int) -> tuple[Any, Any]:
        """The load and the eigenvalue where the search found them, as a root of the determinant."""
        mp = mpmath.MPContext()
        mp.dps = digits + GUARD
        values = self.numbers(mp)
        damped = self._damped(values)
        lam = complex(found.eigenvalue or 0)

        def at(eigenvalue: Any, load: Any) -> Any:
            return self.determinant(mp, eigenvalue, {**values, self.load: load})

        start = mp.mpf(float(found))
        if abs(lam) <= STILL * self._unit:
            load = _newton(mp, lambda load: [mp.re(at(0, load))], [start])[0]
            return load, mp.mpf(0)
        if not damped:  # D is real in Λ = λ², and a double root of it: D = 0 = ∂D/∂Λ
            square = mp.mpf((lam**2).real)

            def meeting(Lambda: Any, load: Any) -> list[Any]:
                def real(each: Any) -> Any:
                    return mp.re(at(mp.sqrt(mp.mpc(each)), load))

                return [real(Lambda), mp.diff(real, Lambda)]

            Lambda, load = _newton(mp, meeting, [square, start])
            return load, mp.sqrt(mp.mpc(Lambda))
        if abs(lam.real) > abs(lam.imag):  # two real eigenvalues meet

            def merging(growth: Any, load: Any) -> list[Any]:
                return [mp.re(at(growth, load)), mp.re(mp.diff(lambda each: at(each, load), growth))]

            growth, load = _newton(mp, merging, [mp.mpf(lam.real), start])
            return load, growth

        def crossing(omega: Any, load: Any) -> list[Any]:
            value = at(mp.mpc(0, omega), load)
            return [mp.re(value), mp.im(value)]

        omega, load = _newton(mp, crossing, [mp.mpf(abs(lam.imag)), start])
        return load, mp.mpc(0, omega)

    def limit(self, direction: Mapping[str, float], digits: int = USUAL) -> Any:
        """The flutter load as damping vanishes along a direction: D = Σ d_j g_j = 0 with g_j = ∂D/∂d_j / λ.

        Where that is not below the load without damping, the limit is that load.
        """
        direction = by_name("direction", direction, "{'eta': 1}")
        digits = whole_number("digits", digits, 5, MOST, "ask for fewer")
        undamped = self.case.at(**dict.fromkeys(self.dampings, 0))
        for name in direction:
            one_of(self.dampings, name, f"{{}} is not a damping of {self.case.system.name}")
        found = undamped.paradox(direction)
        if found.recovered or found.limit is None:
            return RodCharacteristic(undamped).root(undamped.flutter(), digits)[0]
        frequencies = np.abs(undamped.at(**{self.load: found.limit}).spectrum().values.imag)
        mp = mpmath.MPContext()
        mp.dps = digits + GUARD
        values = RodCharacteristic(undamped).numbers(mp)
        shares = {name: mp.mpf(number_from(name, share)) for name, share in direction.items()}

        def balanced(omega: Any, load: Any) -> list[Any]:
            lam = mp.mpc(0, omega)

            def along(step: Any) -> Any:
                damped = {name: step * share for name, share in shares.items()}
                return self.determinant(mp, lam, {**values, self.load: load, **damped})

            return [mp.re(along(mp.mpf(0))), mp.re(mp.diff(along, mp.mpf(0)) / lam)]

        for frequency in np.unique(frequencies.round(9))[:MODES]:
            try:
                _, load = _newton(mp, balanced, [mp.mpf(frequency), mp.mpf(found.limit)])
            except PfaffError:
                continue
            if abs(float(load) - found.limit) <= AGREEMENT * found.limit:
                return load
        raise PfaffError(f"the limit near {found.limit:.12g} was not confirmed by the characteristic function")

    @cached_property
    def dampings(self) -> tuple[str, ...]:
        return doors.dampings.damping_sources(self.case, self.load, None)

    def _damped(self, values: Mapping[str, Any]) -> bool:
        return any(values[name] != 0 for name in self.dampings)

    @property
    def _unit(self) -> float:
        spectrum = self.case.at(**{self.load: 0.0}).spectrum()
        return float(np.abs(spectrum.values).min())


@answering
@dataclass(frozen=True, repr=False)
class RodLoad(ExactLoad):
    """A critical load as a root of the characteristic function; ``digits`` computes it to any precision."""

    found: CriticalLoad | None = None

    def digits(self, digits: int) -> sm.Float:
        """The load to this many digits."""
        digits = whole_number("digits", digits, 5, MOST, "ask for fewer")
        assert self.found is not None
        load, _ = RodCharacteristic(self.case).root(self.found, digits)
        return sm.Float(str(load), digits)

    @property
    def status(self) -> str:
        if self.value is None:
            return super(ExactLoad, self).status
        return f"{self.kind} at {self.load} = {self.value}: a root of the characteristic function"


def rod_load(case: Case, load: str, kind: str, to: float | None) -> RodLoad:
    """The first load of a kind by the numerical search, then as a root of the characteristic function."""
    from dataclasses import fields

    characteristic = RodCharacteristic(case)
    if load != characteristic.load:
        raise ParameterError(f"exact loads of rods are for {characteristic.load}, not for {load}")
    rod = case.system.rods[0]
    for modes in STARTS if rod.refines else (None,):
        found = critical_load(case if modes is None else case.of(refined(case.system, modes)), load, kind, to, {})
        known = {each.name: getattr(found, each.name) for each in fields(found)} | {"case": case}
        if not found:
            return RodLoad(**known)
        try:
            value, eigenvalue = characteristic.root(found, USUAL)
        except ConvergenceError:
            continue
        if abs(float(value) - float(found)) <= AGREEMENT * abs(float(found)):
            root = complex(eigenvalue)
            exact = {"value": sm.Float(str(value), USUAL), "eigenvalue": root, "frequency": abs(root.imag)}
            return RodLoad(**{**known, **exact}, found=found)
    raise ConvergenceError(
        f"the {kind} load {float(found):.12g} of {modes or rod.basis.size} modes is near no root of the characteristic "
        f"function of {case.system.name}: so few modes do not tell it; give more of them, or less damping"
    )


def _uniform(section: Any) -> bool:
    return isinstance(section, sm.Expr) and PLACE not in section.free_symbols


def _attached(case: Case) -> dict[str, sm.Expr]:
    """The thrust, and M, C and K of what is attached to the end, in y and θ; the rod straight and at rest."""
    system = case.system
    assert system.frame is not None
    s, rod = system.frame.statement, system.rods[0]
    names = {q.name: k for k, q in enumerate(s.q)}
    x, y, angle = (names[each] for each in system.stations[0].names)
    straight = {**dict.fromkeys((*s.q, *s.v), sm.S.Zero), s.q[x]: rod.length}
    misaligned = {symbol: exact_value(case.values[symbol.name], symbol) for symbol in system.parameters}
    misaligned = {symbol: value for symbol, value in misaligned.items() if value == 0 and symbol != system.load}
    kept = {symbol: value for symbol, value in misaligned.items() if symbol in _turning(s)}
    reactions = [sm.Dummy() for _ in s.constraints]
    A = [[sm.diff(c, v) for v in s.v] for c in s.constraints]
    balance = [
        -sm.diff(s.kinetic - s.potential, q) + sm.diff(s.dissipation, v) - force
        + sm.Add(*(p * row[k] for p, row in zip(reactions, A, strict=True)))
        for k, (q, v, force) in enumerate(zip(s.q, s.v, s.forces, strict=True))
    ]  # fmt: skip

    def at(expression: sm.Expr) -> sm.Expr:
        return sm.simplify(expression.xreplace(kept).xreplace(straight))

    base = rod.base[0]
    held = [at(each) for k, each in enumerate(balance) if k not in (x, y, angle)]
    if base.atoms(sm.core.function.AppliedUndef):
        held[0] = held[0] + at(balance[x])
    solved = sm.solve(held, reactions, dict=True) if reactions else [{}]
    turns = any(at(balance[k]).subs(solved[0]) != 0 for k in (y, angle)) if len(solved) == 1 else True
    if turns or len(solved[0]) != len(reactions):
        raise ParameterError(
            f"{system.name} does not rest with its rod straight and its reactions unique, which the characteristic "
            "function supposes: ask for the number"
        )
    known = solved[0]
    found = {"thrust": sm.simplify(at(balance[x]).subs(known))}
    for row, i in (("y", y), ("t", angle)):
        for column, j in (("y", y), ("t", angle)):
            found[f"K{row}{column}"] = at(sm.diff(balance[i], s.q[j])).subs(known)
            found[f"C{row}{column}"] = at(sm.diff(balance[i], s.v[j]))
            found[f"M{row}{column}"] = at(sm.diff(s.kinetic, s.v[i], s.v[j]))
    return found


def _turning(s: Any) -> set[sm.Symbol]:
    """Parameters within sines and cosines: a misalignment that vanishes must be substituted, others may stay
    symbols."""
    stated = (s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints)
    return {symbol for each in stated for f in each.atoms(sm.sin, sm.cos) for symbol in f.free_symbols}


def _clamped(mp: Any, k1: Any, k2: Any, L: Any) -> tuple[list[Any], list[Any]]:
    """f and g with three derivatives at the end, from divided differences of even functions of k."""
    gap = k1**2 - k2**2
    if abs(gap) < mp.mpf(10) ** (-mp.dps // 3) * (1 + abs(k1) ** 2):
        k1, gap = k1 * (1 + mp.mpf(10) ** (-mp.dps // 4)), 0
        gap = k1**2 - k2**2

    def difference(function: Any) -> Any:
        return (function(k1) - function(k2)) / gap

    def sinhc(k: Any) -> Any:
        return mp.sinh(k * L) / k if k else L

    g0 = difference(sinhc)
    f0 = difference(lambda k: mp.cosh(k * L))
    f1 = difference(lambda k: k * mp.sinh(k * L))
    f2 = difference(lambda k: k**2 * mp.cosh(k * L))
    f3 = difference(lambda k: k**3 * mp.sinh(k * L))
    return [f0, f1, f2, f3], [g0, f0, f1, f2]


def _newton(mp: Any, functions: Any, start: list[Any]) -> list[Any]:
    """Newton's method with differences, in many digits."""
    x = [mp.mpf(each) for each in start]

    def step(x: list[Any]) -> tuple[list[Any], Any]:
        values = functions(*x)
        apart = [mp.mpf(10) ** (-mp.dps // 3) * (abs(each) or 1) for each in x]
        columns = []
        for k in range(len(x)):
            moved = [each + (apart[k] if j == k else 0) for j, each in enumerate(x)]
            back = [each - (apart[k] if j == k else 0) for j, each in enumerate(x)]
            ahead, behind = functions(*moved), functions(*back)
            columns.append([(a - b) / (2 * apart[k]) for a, b in zip(ahead, behind, strict=True)])
        try:
            change = mp.lu_solve(mp.matrix(columns).T, -mp.matrix(values))
        except ZeroDivisionError as problem:
            raise ConvergenceError("the characteristic function has no isolated root here: add modes") from problem
        x = [each + change[k] for k, each in enumerate(x)]
        return x, max(abs(change[k]) / (abs(each) or 1) for k, each in enumerate(x))

    found = newton(step, x, Stopping(exact=mp.mpf(10) ** (-(mp.dps - GUARD) - 2), settled=0.0))
    if found.ceased:
        return found.at
    raise ConvergenceError("Newton's method did not converge on the characteristic function: add modes")
