"""The linear oscillator, driven and damped: the first example of every course.

Mazzilli, Non-Linear Dynamics and Stability (lecture notes PEF-5737, University of São Paulo), example 1.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.particles import Particle


def oscillator() -> System:
    """A mass on a spring and a damper under a harmonic force: m Q̈ + c Q̇ + k Q = p0 cos Ωt.

    In the long run its amplitude is p0/√((k − mΩ²)² + (cΩ)²).
    """
    (Q,) = coordinates("Q")
    m, k = sm.symbols("m k", positive=True)
    c = sm.Symbol("c", nonnegative=True)
    p0, Omega = sm.symbols("p0 Omega", real=True)
    drive = p0 * sm.cos(Omega * t)
    return System(
        coordinates=[Q],
        kinetic=m * Q.diff(t) ** 2 / 2,
        potential=k * Q**2 / 2,
        dissipation=c * Q.diff(t) ** 2 / 2,
        forces={Q: drive},
        particles=[Particle(m, (Q, 0), (drive - k * Q - c * Q.diff(t), 0))],
        parameters={m: 1, c: sm.Rational(1, 10), k: 1, p0: 1, Omega: sm.Rational(1, 2)},
        drawing=Drawing(
            points={"wall": (-2, 0), "mass": (Q, 0)},
            springs=[("wall", "mass")],
            marks={"wall": "wall", "mass": "block"},
            arrows={"mass": (drive, 0)},
        ),
        name="driven oscillator",
        meanings={
            m: "mass [kg]",
            c: "viscosity of the damper [N s/m]",
            k: "stiffness of the spring [N/m]",
            p0: "amplitude of the force [N]",
            Omega: "angular frequency of the force [rad/s]",
            Q: "displacement [m]",
        },
    )
