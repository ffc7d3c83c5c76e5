"""The simple pendulum, at rest or shaken at its support.

Mazzilli, Non-Linear Dynamics and Stability (lecture notes PEF-5737, University of São Paulo), examples 3 and 4.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.particles import Particle

(Q,) = coordinates("Q")
m, L = sm.symbols("m L", positive=True)
g = sm.Symbol("g", nonnegative=True)
MEANINGS = {
    "m": "mass [kg]",
    "L": "length [m]",
    "g": "gravity [m/s²]",
    "f0": "amplitude of the support [m]",
    "Omega": "angular frequency of the support [rad/s]",
    "Q": "angle from the vertical [rad]",
}


def pendulum() -> System:
    """A mass on a massless rod: Q̈ + (g/L) sin Q = 0.

    Its period is 4√(L/g) K(sin² ½Q0) for the amplitude Q0, with the complete elliptic integral K of that parameter.
    """
    return _hanging(sm.S.Zero, {m: 1, L: 1, g: 1}, "pendulum")


def moving_support_pendulum() -> System:
    """The pendulum whose support moves up and down by f = f0 cos Ωt: Q̈ + (g + f̈) sin Q/L = 0.

    Near Q = 0 this is Mathieu's equation y″ + (a − 2q cos 2τ) y = 0 in τ = Ωt/2, with a = 4g/(LΩ²) and q = 2f0/L;
    upside down it has −a, and stands where that lies between the characteristic values a₀(q) and b₁(q) (Stephenson 1908
    for small q, where a₀ ≈ −q²/2 alone matters). From q = 0.908 on b₁ is negative too: beyond it oscillations
    of two periods of the support grow.
    """
    f0, Omega = sm.symbols("f0 Omega", real=True)
    parameters = {m: 1, L: 1, g: 1, f0: sm.Rational(1, 10), Omega: 2}
    return _hanging(f0 * sm.cos(Omega * t), parameters, "pendulum on a moving support")


def _hanging(f: sm.Expr, parameters: dict[sm.Symbol, object], name: str) -> System:
    """A pendulum that hangs from (0, f)."""
    bob = sm.Matrix([L * sm.sin(Q), f - L * sm.cos(Q)])
    velocity = bob.diff(t)
    return System(
        coordinates=[Q],
        kinetic=m * velocity.dot(velocity) / 2,
        potential=m * g * (bob[1] + L),
        particles=[Particle(m, bob, (0, -m * g))],
        parameters=parameters,
        drawing=Drawing(
            points={"support": (0, f), "bob": bob},
            links=[("support", "bob")],
            marks={"support": "ground", "bob": "mass"},
        ),
        name=name,
        meanings={p.name: MEANINGS[p.name] for p in (*parameters, sm.Symbol("Q"))},
    )
