"""A disc or a hoop that rolls on a plane: two rolling constraints, upright, leaning, straight or in circles.

Vierkandt (1892); Neimark and Fufaev, Dynamics of Nonholonomic Systems (1972), Ch. III; O'Reilly (1996), The dynamics of
rolling disks and sliding disks, Nonlinear Dyn. 10.
"""

from __future__ import annotations

from typing import Any

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates

ANGLES = {"psi": "heading [rad]", "theta": "lean [rad]", "phi": "rotation about the axle [rad]"}


def rolling_disc() -> System:
    """A thin homogeneous disc that rolls on a plane: upright it rolls stably where φ̇² > g/(3r)."""
    return _rolling(sm.Rational(1, 4), sm.Rational(1, 2), "rolling disc", "disc")


def rolling_hoop() -> System:
    """A thin hoop that rolls on a plane: upright it rolls stably where φ̇² > g/(4r)."""
    return _rolling(sm.Rational(1, 2), sm.Integer(1), "rolling hoop", "wheel")


def _rolling(across: sm.Expr, axial: sm.Expr, name: str, drawn: str) -> System:
    """Moments of inertia are in units of m r²; (x, y) is the contact, psi the heading, theta the lean, phi the spin.

    Steady circles obey m g r sin θ + ψ̇ cos θ ((C + m r²)(φ̇ + ψ̇ sin θ) − A ψ̇ sin θ) = 0, with A and C these moments.
    """
    x, y, psi, theta, phi = coordinates("x y psi theta phi")
    m, r, g = sm.symbols("m r g", positive=True)
    vx, vy, yaw, lean, spin = (q.diff(t) for q in (x, y, psi, theta, phi))
    forward, left = vx * sm.cos(psi) + vy * sm.sin(psi), vy * sm.cos(psi) - vx * sm.sin(psi)
    # The centre stands r b over the contact, b = (0, −sin θ, cos θ) ahead, to the left and upwards.
    velocity = (
        forward + r * yaw * sm.sin(theta),
        left - r * lean * sm.cos(theta),
        -r * lean * sm.sin(theta),
    )
    inertia = across * (lean**2 + (yaw * sm.cos(theta)) ** 2) + axial * (spin + yaw * sm.sin(theta)) ** 2
    return System(
        coordinates=[x, y, psi, theta, phi],
        kinetic=m * (sum(v**2 for v in velocity) + r**2 * inertia) / 2,
        potential=m * g * r * sm.cos(theta),
        nonholonomic_constraints=[vx - r * spin * sm.cos(psi), vy - r * spin * sm.sin(psi)],
        parameters={m: 1, r: 1, g: 1},
        drawing=_drawing(x, y, psi, theta, phi, r, drawn),
        name=name,
        meanings={m: "mass [kg]", r: "radius [m]", g: "gravity [m/s²]", x: "contact [m]", y: "contact [m]", **ANGLES},
    )


def _drawing(x: Any, y: Any, psi: Any, theta: Any, phi: Any, r: Any, drawn: str) -> Drawing:
    """The disc or hoop with a spoke, and the path of the contact."""
    ahead, left = sm.Matrix([sm.cos(psi), sm.sin(psi), 0]), sm.Matrix([-sm.sin(psi), sm.cos(psi), 0])
    up = sm.Matrix([0, 0, 1])
    upright, axle = sm.cos(theta) * up - sm.sin(theta) * left, sm.cos(theta) * left + sm.sin(theta) * up
    contact = sm.Matrix([x, y, 0])
    spoke = sm.sin(phi) * ahead + sm.cos(phi) * upright
    round_body = {"centre": (r, axle, spoke)}
    return Drawing(
        points={"centre": contact + r * upright, "contact": contact},
        discs=round_body if drawn == "disc" else {},
        wheels=round_body if drawn == "wheel" else {},
        traced=["contact"],
        ground=True,
    )
