"""Two rigid bars that move together: one degree of freedom with generalised mass, damping, stiffness and load.

Mazzilli, Non-Linear Dynamics and Stability (lecture notes PEF-5737, University of São Paulo), example 2; a frame of
this kind opens Clough and Penzien, Dynamics of Structures, chapter 8.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.particles import Particle


def two_bar_frame() -> System:
    """Two hinged bars on springs and dampers, a heavy and a massless one, under a distributed load.

    Q is the upward displacement of the hinge B, small against the span: the heavy bar AB of length 4a turns about A,
    BC of length 3a slides at C. The load on AB grows from A as ζ p̄ x/a; let ζ follow time by
    ``simulate(…, prescribed={"zeta": …})``. Then m* Q̈ + c* Q̇ + k* Q = p0* + p*(t) with m* = 4m2/9 + 4m̄a/3,
    c* = c1/16 + c2, k* = 9k1/16 + k2/9, p0* = −(2m̄a + 2m2/3)g and p* = 16 p̄aζ/3.
    """
    (Q,) = coordinates("Q")
    mbar, m2, k1, k2, a = sm.symbols("mbar m2 k1 k2 a", positive=True)
    c1, c2, g = sm.symbols("c1 c2 g", nonnegative=True)
    pbar, zeta = sm.symbols("pbar zeta", real=True)
    x = sm.Symbol("x", positive=True)
    left, right = Q * x / (4 * a), Q * (7 * a - x) / (3 * a)  # deflections of AB and BC at a distance x from A
    at = {share: (left if share <= 4 else right).subs(x, share * a) for share in range(8)}
    load = zeta * pbar * x / a

    def over_AB(density: sm.Expr) -> sm.Expr:
        return sm.integrate(density, (x, 0, 4 * a))

    def point(share: int, force: sm.Expr, mass: sm.Expr = sm.S.Zero) -> Particle:
        return Particle(mass, (share * a, at[share]), (0, force))

    bar = 4 * mbar * a  # a uniform bar moves as a sixth of its mass at each end and the rest in the middle
    return System(
        coordinates=[Q],
        kinetic=over_AB(mbar * left.diff(t) ** 2 / 2) + m2 * at[5].diff(t) ** 2 / 2,
        potential=k1 * at[3] ** 2 / 2 + k2 * at[6] ** 2 / 2 + over_AB(mbar * g * left) + m2 * g * at[5],
        dissipation=c1 * at[1].diff(t) ** 2 / 2 + c2 * at[4].diff(t) ** 2 / 2,
        forces={Q: over_AB(load * left.diff(Q))},
        particles=[
            point(1, -c1 * at[1].diff(t)),
            point(2, -2 * bar * g / 3, 2 * bar / 3),
            point(3, -k1 * at[3]),
            point(4, over_AB(load * x) / (4 * a) - bar * g / 6 - c2 * at[4].diff(t), bar / 6),
            point(5, -m2 * g, m2),
            point(6, -k2 * at[6]),
        ],
        parameters={mbar: 1, m2: 3, a: 1, k1: 16, k2: 9, c1: 0, c2: sm.Rational(1, 4), g: 0, pbar: 1, zeta: 0},
        drawing=_drawing(a, at, zeta * pbar),
        name="frame of two bars",
        meanings={
            mbar: "mass of AB by length [kg/m]",
            m2: "mass on BC [kg]",
            a: "a quarter of AB, a third of BC [m]",
            k1: "stiffness of the spring under AB [N/m]",
            k2: "stiffness of the spring under BC [N/m]",
            c1: "viscosity of the first damper [N s/m]",
            c2: "viscosity of the damper at B [N s/m]",
            g: "gravity [m/s²]",
            pbar: "load by length, at a distance a from A [N/m]",
            zeta: "share of the load that acts",
            Q: "displacement of B, upwards [m]",
        },
    )


def _drawing(a: sm.Symbol, at: dict[int, sm.Expr], load: sm.Expr) -> Drawing:
    on = {name: (share * a, at[share]) for name, share in {"A": 0, "spring1": 3, "B": 4, "m2": 5, "spring2": 6}.items()}
    feet = {"foot1": (3 * a, -a), "foot2": (6 * a, -a)}
    return Drawing(
        points={**on, "C": (7 * a, at[7]), **feet},
        links=[("A", "B"), ("B", "C")],
        springs=[("foot1", "spring1"), ("foot2", "spring2")],
        marks={"A": "ground", "B": "hinge", "m2": "mass", "C": "block"},
        arrows={"B": (0, load)},
        traced=["B"],
    )
