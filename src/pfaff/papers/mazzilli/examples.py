"""The five examples: equations of motion and energies as printed, against those that each principle gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sm

from pfaff import System
from pfaff.atlas import moving_support_pendulum, oscillator, pendulum, softening_bar, two_bar_frame
from pfaff.system import TIME as t
from pfaff.system import coordinates

EXAMPLES: dict[int, Callable[[], System]] = {
    1: oscillator,
    2: two_bar_frame,
    3: pendulum,
    4: moving_support_pendulum,
    5: softening_bar,
}
(Q,) = coordinates("Q")


def symbols(system: System) -> dict[str, Any]:
    return {symbol.name: symbol for symbol in system.parameters}


def printed(number: int) -> sm.Expr:
    """The equation of motion of an example as printed, its right-hand side brought to the left."""
    s = symbols(EXAMPLES[number]())
    if number == 1:
        p = s["p0"] * sm.cos(s["Omega"] * t)  # the p(t) of the atlas
        return s["m"] * Q.diff(t, 2) + s["c"] * Q.diff(t) + s["k"] * Q - p
    if number == 2:
        mass, damping, stiffness, weight, load = printed_quantities()
        return mass * Q.diff(t, 2) + damping * Q.diff(t) + stiffness * Q - weight - load
    if number == 5:
        bend = Q - s["epsilon"]
        force = s["m"] * s["g"] + s["P"]
        spring = s["K"] * bend * (1 - bend**2)
        return s["m"] * s["L"] ** 2 * Q.diff(t, 2) + spring - force * s["L"] * sm.sin(Q)
    f = s["f0"] * sm.cos(s["Omega"] * t) if number == 4 else sm.S.Zero
    return s["m"] * s["L"] ** 2 * Q.diff(t, 2) + s["m"] * s["L"] * (s["g"] + f.diff(t, 2)) * sm.sin(Q)


def printed_quantities() -> tuple[sm.Expr, ...]:
    """m*, c*, k*, p0* and p*(t) of example 2."""
    s = symbols(two_bar_frame())
    return (
        4 * s["m2"] / 9 + 4 * s["mbar"] * s["a"] / 3,
        s["c1"] / 16 + s["c2"],
        9 * s["k1"] / 16 + s["k2"] / 9,
        -(2 * s["mbar"] * s["a"] + 2 * s["m2"] / 3) * s["g"],
        16 * s["pbar"] * s["a"] * s["zeta"] / 3,
    )


def by_principle(system: System, principle: str) -> sm.Expr:
    """The equation of motion; Newton's with the reactions N = m R̈ − F put into the condition that they be ideal."""
    equations: Any = system.equations(principle)
    if principle == "hamilton":
        return equations.euler_lagrange[0]
    if principle != "newton":
        return equations.motion[0]
    without = equations.motion.xreplace({N: sm.S.Zero for each in equations.reactions for N in each})
    reactions = [N for each in equations.reactions for N in each]
    return equations.ideality[0].xreplace(dict(zip(reactions, without, strict=True)))


def equation_of_motion(number: int, principle: str) -> float:
    """Whether a principle gives something else than what is printed."""
    return float(_differ(by_principle(EXAMPLES[number](), principle), printed(number)))


def _differ(one: sm.Expr, other: sm.Expr) -> bool:
    """Polynomials in sin Q, cos Q and the rest, with sin² = 1 − cos²: a normal form."""
    return sm.expand(sm.expand(one - other).subs(sm.sin(Q) ** 2, 1 - sm.cos(Q) ** 2)) != 0


def generalised_quantities() -> float:
    """m*, c*, k*, p0* + p* read off the equation that the two bars give."""
    motion = sm.expand(by_principle(two_bar_frame(), "lagrange"))
    found = [motion.coeff(Q.diff(t, 2)), motion.coeff(Q.diff(t)), motion.coeff(Q), -motion.subs(Q, 0).doit()]
    *quantities, weight, load = printed_quantities()
    return float(sum(sm.expand(a - b) != 0 for a, b in zip(found, [*quantities, weight + load], strict=True)))


def frame_energies() -> float:
    """T = ½ m* Q̇² and V = ½ k* Q² − p0* Q by the printed integrals."""
    mass, _, stiffness, weight, _ = printed_quantities()
    system = two_bar_frame()
    differences = [system.kinetic - mass * Q.diff(t) ** 2 / 2, system.potential - stiffness * Q**2 / 2 + weight * Q]
    return float(sum(sm.expand(each) != 0 for each in differences))


def support_energies() -> float:
    """T and V of example 4 against those of the moving bob."""
    system = moving_support_pendulum()
    s = symbols(system)
    m, L, g = s["m"], s["L"], s["g"]
    f = s["f0"] * sm.cos(s["Omega"] * t)
    rate = f.diff(t)
    kinetic = m * L**2 * Q.diff(t) ** 2 / 2 + m * rate**2 / 2 + m * L * rate * Q.diff(t) * sm.sin(Q)
    potential = m * g * (f + L * (1 - sm.cos(Q)))
    differences = (system.kinetic - kinetic, system.potential - potential)
    return float(sum(_differ(each, sm.S.Zero) for each in differences))


def spring_energy() -> float:
    """V of example 5 by integration of K θ (1 − θ²), with −mgL (cos ε − cos Q)."""
    system = softening_bar()
    s = symbols(system)
    theta = sm.Symbol("theta")
    stored = sm.integrate(s["K"] * theta * (1 - theta**2), (theta, 0, Q - s["epsilon"]))
    fallen = s["m"] * s["g"] * s["L"] * (sm.cos(s["epsilon"]) - sm.cos(Q))
    return float(sm.simplify(system.potential - stored + fallen) != 0)


def linear_form(number: int) -> float:
    """The derivative of the equation of motion by Q at Q = 0 against the printed linear equation."""
    system = EXAMPLES[number]()
    motion = system.equations("lagrange").motion[0]
    s = symbols(system)
    small = sm.diff(motion, Q).xreplace({Q: sm.S.Zero}).doit() / (s["m"] * s["L"] ** 2)
    f = s["f0"] * sm.cos(s["Omega"] * t) if number == 4 else sm.S.Zero
    return float(sm.simplify(small - (s["g"] + f.diff(t, 2)) / s["L"]) != 0)
