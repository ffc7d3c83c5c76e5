"""Shimmy: a wheel on a caster, towed at constant speed by a king pin that yields sideways.

The rigid wheel of Stépán (1991), Chaotic motion of wheels, Veh. Syst. Dyn. 20, and of Takács, Stépán and Hogan (2008),
Isolated large amplitude periodic motions of towed rigid wheels, Nonlinear Dyn. 52; here with the centre of mass
anywhere along the caster, and with damping.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates


def towed_wheel() -> System:
    """A wheel that does not slip sideways, −v sin ψ + q̇ cos ψ − l ψ̇ = 0, under a king pin with spring k and damper c.

    The king pin is at (v t, q), the wheel l behind it at the angle psi, the centre of mass a behind it. With
    J_W = J + m (l − a)², straight running is stable where

        (m (l − a) v + c l²) (c v + k l) > J_W k v,

    which is quadratic in v: shimmy starts at the lower root and ends at the upper one. Undamped, it is stable at all
    speeds if m a (l − a) > J, and at none otherwise.
    """
    q, psi = coordinates("q psi")
    m, J, l, k = sm.symbols("m J l k", positive=True)
    a, v = sm.symbols("a v", real=True)
    c, c_psi = sm.symbols("c c_psi", nonnegative=True)
    sideways, turn = q.diff(t), psi.diff(t)
    centre = (v + a * turn * sm.sin(psi), sideways - a * turn * sm.cos(psi))
    along, across = sm.cos(psi), sm.sin(psi)
    return System(
        coordinates=[q, psi],
        kinetic=m * (centre[0] ** 2 + centre[1] ** 2) / 2 + J * turn**2 / 2,
        potential=k * q**2 / 2,
        dissipation=(c * sideways**2 + c_psi * turn**2) / 2,
        nonholonomic_constraints=[sideways * along - v * across - l * turn],
        parameters={m: 1, J: "1/2", l: 1, a: "1/2", k: 1, c: "1/10", c_psi: 0, v: 0},
        load=v,
        drawing=Drawing(
            points={
                "left": (0, -l / 2),
                "right": (0, l / 2),
                "king pin": (0, q),
                "wheel": (-l * along, q - l * across),
            },
            links=[("king pin", "wheel")],
            springs=[("left", "king pin"), ("king pin", "right")],
            marks={"left": "ground", "right": "ground", "king pin": "hinge", "wheel": "wheel"},
            angles={"wheel": psi},
        ),
        name="towed wheel",
        meanings={
            m: "mass of caster and wheel [kg]",
            J: "moment of inertia about the centre of mass [kg m²]",
            l: "length of the caster [m]",
            a: "centre of mass behind the king pin [m]",
            k: "stiffness of the king pin, sideways [N/m]",
            c: "viscosity of the king pin, sideways [N s/m]",
            c_psi: "viscosity against turning [N m s]",
            v: "towing speed [m/s]",
            q: "king pin, sideways [m]",
            psi: "angle of the caster [rad]",
        },
    )
