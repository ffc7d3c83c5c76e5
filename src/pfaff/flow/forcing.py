"""Explicit periodic forcing, carried by an oscillator beside the states: forced equations become autonomous.

ċ = −ωs + ωc(1 − c² − s²), ṡ = ωc + ωs(1 − c² − s²) attracts to c = cos ωt, s = sin ωt, as users of AUTO-07p write it
by hand. Its states take the place of time in sines and cosines; only orbits know of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, StatementError
from pfaff.flow.conversion import convert
from pfaff.flow.flow import Flow, lowered_again
from pfaff.flow.forced_rods import ForcedRods, steady_rods
from pfaff.flow.graph import CLOCK, Expression, cos, depends_on_time, expression, par, sin, subs
from pfaff.flow.relative import relative_flow
from pfaff.flow.structured import StructuredFlow
from pfaff.statement.odes import Ode
from pfaff.statement.system import System
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Bound

COSINE, SINE = CARRIED = ("cos of the forcing", "sin of the forcing")
STATED = ("a kinetic energy", "a potential", "a dissipation")


@dataclass(frozen=True)
class Forcing:
    """The frequency ω, an expression in the parameters, of which all forcing frequencies are multiples; ``angles`` maps
    every stated angle kωt + φ to its multiple k and its phase φ."""

    frequency: sm.Expr
    angles: tuple[tuple[sm.Expr, int, sm.Expr], ...]

    def value(self, case: Bound) -> float:
        """ω at the parameters of a case."""
        numbers = dict(zip(case.system.parameters, case.numbers.tolist(), strict=True))
        omega = float(self.frequency.xreplace(numbers))
        if not (np.isfinite(omega) and omega > 0):
            raise ParameterError(
                f"the forcing of {case.system.name} has the frequency {self.frequency} = {omega:g} here: choose "
                "parameters at which it is positive"
            )
        return omega


@once(most=1)
def forcing_of(system: System | Ode) -> Forcing:
    """How time appears in a system that depends on it explicitly."""
    angles: dict[sm.Expr, tuple[sm.Expr, sm.Expr]] = {}
    for where, stated in _stated(system):
        angles |= _angles(stated, system, where)
    if not angles:
        raise ParameterError(
            f"nothing forces {system.name}: state an excitation with its frequency, such as "
            "forces={x: F*cos(Omega*t)}, or ask for hopf and its orbits"
        )
    rates = [rate for rate, _ in angles.values()]
    ratios = [sm.nsimplify(sm.simplify(rate / rates[0])) for rate in rates]
    for rate, ratio in zip(rates, ratios, strict=True):
        if not ratio.is_Rational:
            raise ParameterError(
                f"{system.name} is forced at the frequencies {rates[0]} and {rate}, and their ratio is no rational "
                "number: such a response is not periodic; write both as multiples of one frequency"
            )
    shared = sm.Rational(gcd(*(int(abs(r.p)) for r in ratios)), lcm(*(int(r.q) for r in ratios)))
    base = rates[0] * shared
    multiples = ((a, int(r / shared), phase) for (a, (_, phase)), r in zip(angles.items(), ratios, strict=True))
    return Forcing(base, tuple(multiples))


def _stated(system: System | Ode) -> Iterator[tuple[str, sm.Expr]]:
    if isinstance(system, Ode):
        yield from zip((f"the equation of {name}" for name in system.state_names), system.right_hand_sides, strict=True)
        return
    system = system.frame or system  # nothing depends on time in rods
    s = system.statement
    yield from zip(STATED, (s.kinetic, s.potential, s.dissipation), strict=True)
    yield from zip((f"the force on {name}" for name in system.coordinate_names), s.forces, strict=True)
    yield from ((f"constraint {k + 1}", c) for k, c in enumerate((*s.constraints, *s.positions)))


def _angles(expression: sm.Expr, system: System | Ode, where: str) -> dict[sm.Expr, tuple[sm.Expr, sm.Expr]]:
    """Rate and phase of every angle in time with a sine or cosine; time may appear nowhere else."""
    t, known = system.time, set(system.parameters)
    found, left = {}, expression
    for wave in sorted(expression.atoms(sm.sin, sm.cos), key=str):
        angle = sm.expand(wave.args[0])
        rate, phase = angle.coeff(t), angle.coeff(t, 0)
        if t in angle.free_symbols and angle == sm.expand(rate * t + phase) and {t} | known >= angle.free_symbols:
            found[wave.args[0]] = (rate, phase)
            left = left.xreplace({wave: sm.Dummy()})
    if t in left.free_symbols:
        raise StatementError(
            f"{where} of {system.name} depends on time by more than sines and cosines of angles that grow steadily, "
            f"in {left.subs({d: sm.Symbol('…') for d in left.atoms(sm.Dummy)})}: write what forces it periodically "
            "with cos(Omega*t) and sin(Omega*t)"
        )
    return found


def forced_flow(case: Bound) -> Flow:
    """The flow without coordinates of a symmetry, its forcing carried by two more states."""
    system = case.system
    assert isinstance(system, System | Ode)
    if isinstance(system, System) and system.rods:
        return carried_rods(system)
    flow = system.flow if isinstance(system, Ode) else relative_flow(system, (), case.numbers)
    return carried(flow)


@lowered_again
@once(most=1)
def carried_rods(system: System) -> Flow:
    """The flow of a system with rods on shape space, with an oscillator for the time in it."""
    forcing = forcing_of(system)
    steady = steady_rods(system, forcing.angles).shape
    assert isinstance(steady, StructuredFlow)
    stated = {each.name: getattr(steady, each.name) for each in fields(steady) if each.init}
    kept = {**steady.kept, **_kept()}
    changed = {"system": system, "states": (*steady.states, *CARRIED), "kept": kept, "carried": CARRIED}
    return ForcedRods(**{**stated, **changed}, steady=steady, omega=forcing.frequency)


def _kept() -> dict[str, str]:
    return dict.fromkeys(CARRIED, "kept: it carries the phase of the forcing")


@lowered_again
@once(most=1)
def carried(flow: Flow) -> Flow:
    """The flow with an oscillator in place of time."""
    system, (c, s) = flow.system, (expression(name) for name in CARRIED)
    forcing = forcing_of(system)
    parameters = {p: par[i] for i, p in enumerate(system.parameters)}
    waves: dict[Expression, Expression] = {}
    for angle, multiple, phase in forcing.angles:
        lowered = convert(angle, {**parameters, system.time: CLOCK})
        cosine, sine = _multiple(abs(multiple), c, s)
        sine = sine if multiple > 0 else -sine
        if phase != 0:
            shift = convert(phase, parameters)
            cosine, sine = (
                cosine * cos(shift) - sine * sin(shift),
                sine * cos(shift) + cosine * sin(shift),
            )
        waves |= {cos(lowered): cosine, sin(lowered): sine}

    def steady(expressions: Sequence[Expression]) -> list[Expression]:
        out = subs(list(expressions), waves)
        if depends_on_time(out):
            raise StatementError(
                f"the time in the equations of {system.name} could not be replaced by its forcing: state the "
                "excitation more plainly, as sums and products of cos(Omega*t) and sin(Omega*t)"
            )
        return out

    omega = convert(forcing.frequency, parameters)
    pull = omega * (1.0 - c * c - s * s)
    return replace(
        flow,
        states=(*flow.states, *CARRIED),
        kept={**flow.kept, **_kept()},
        expressions=[*steady(flow.expressions), c * pull - omega * s, s * pull + omega * c],
        velocity_expressions=steady(flow.velocity_expressions),
        reaction_expressions=steady(flow.reaction_expressions),
        pivots=steady(flow.pivots),
        accelerations=None,  # the last expressions are now those of the oscillator
        carried=CARRIED,
        bonds=steady(flow.bonds),
    )


def _multiple(k: int, c: Expression, s: Expression) -> tuple[Expression, Expression]:
    """cos kτ and sin kτ by those of τ: polynomials of one parity, so that odd systems stay odd."""
    cosine, sine = c, s
    for _ in range(k - 1):
        cosine, sine = cosine * c - sine * s, sine * c + cosine * s
    return cosine, sine
