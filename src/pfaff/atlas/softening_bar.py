"""A rigid bar on a softening spring: buckling that an imperfection brings forward, and a sudden load even more.

Mazzilli, Non-Linear Dynamics and Stability (lecture notes PEF-5737, University of São Paulo), example 5.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.particles import Particle


def softening_bar() -> System:
    """An upright bar, imperfect by ε, on a softening spring K(Q − ε)[1 − (Q − ε)²] under a load.

    It bears its weight mg and a force P. With λ = (mg + P)L/K the perfect bar buckles at λ = 1, unstably: λ = 1 − 5Q²/6
    beyond. For a small imperfection the limit load is λ = 1 − (45/8)^⅓ ε^⅔ (Koiter's two-thirds power). Of a load that
    comes suddenly the bar without weight bears less: 1 − λ is larger by the factor 2^⅓ (Budiansky and Hutchinson 1964).
    """
    (Q,) = coordinates("Q")
    m, L, K = sm.symbols("m L K", positive=True)
    g = sm.Symbol("g", nonnegative=True)
    P, epsilon = sm.symbols("P epsilon", real=True)
    bend = Q - epsilon
    moment = K * bend * (1 - bend**2)
    top = sm.Matrix([L * sm.sin(Q), L * sm.cos(Q)])
    across = sm.Matrix([sm.cos(Q), -sm.sin(Q)])
    return System(
        coordinates=[Q],
        kinetic=m * L**2 * Q.diff(t) ** 2 / 2,
        potential=K * (bend**2 / 2 - bend**4 / 4) - m * g * L * (sm.cos(epsilon) - sm.cos(Q)),
        forces={Q: P * L * sm.sin(Q)},
        particles=[Particle(m, top, -moment / L * across - sm.Matrix([0, m * g + P]))],
        parameters={m: 1, L: 1, K: 1, g: sm.Rational(1, 5), epsilon: sm.Rational(1, 100), P: 0},
        load=P,
        drawing=Drawing(
            points={"foot": (0, 0), "top": top},
            links=[("foot", "top")],
            marks={"foot": "ground", "top": "mass"},
            arrows={"top": (0, -P)},
        ),
        name="bar on a softening spring",
        meanings={
            m: "mass at the top [kg]",
            L: "length [m]",
            K: "stiffness of the spring at first [N m]",
            g: "gravity [m/s²]",
            epsilon: "imperfection: the angle without load [rad]",
            P: "load [N]",
            Q: "angle from the vertical [rad]",
        },
    )
