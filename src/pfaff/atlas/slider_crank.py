"""A slider-crank with equal rods, which passes through its dead point."""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates


def slider_crank() -> System:
    """Crank and rod of one length; where both stand upright the slider may stay while they turn together.

    After the mechanisms with which formulations are tested at singular configurations (Bayo and Avello 1994). The
    statement and its numbers are our own and those of no benchmark: uniform rods of √½ m and 1 kg, a massless slider,
    gravity 9.81. Our start has the crank at 45° and the slider moving with −4 m/s: x1 = y1 = ½, x2 = 1, x2_dot = −4.
    The crank pin is (x1, y1), the slider (x2, 0).
    """
    x1, y1, x2 = q = coordinates("x1 y1 x2")
    l, m, g = sm.symbols("l m g", positive=True)
    pin, slider = sm.Matrix([x1, y1]), sm.Matrix([x2, 0])
    u, w = pin.diff(t), slider.diff(t)
    rod = pin - slider
    return System(
        coordinates=q,
        kinetic=m * u.dot(u) / 6 + m * (u.dot(u) + u.dot(w) + w.dot(w)) / 6,
        potential=m * g * y1,
        holonomic_constraints=[(pin.dot(pin) - l**2) / (2 * l), (rod.dot(rod) - l**2) / (2 * l)],
        parameters={l: sm.sqrt(2) / 2, m: 1, g: "981/100"},
        drawing=Drawing(
            points={"bearing": (0, 0), "pin": tuple(pin), "slider": tuple(slider)},
            links=[("bearing", "pin"), ("pin", "slider")],
            marks={"bearing": "ground", "pin": "hinge", "slider": "block"},
        ),
        name="slider-crank",
        meanings={
            l: "length of either rod [m]",
            m: "mass of either rod [kg]",
            g: "gravity [m/s²]",
            **dict.fromkeys(q, "place [m]"),
        },
    )
