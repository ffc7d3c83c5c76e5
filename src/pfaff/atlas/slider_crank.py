"""A slider-crank with equal rods, which passes through its dead point."""

from __future__ import annotations

import sympy as sm

from pfaff.system import TIME as t
from pfaff.system import Drawing, System, coordinates


def slider_crank() -> System:
    """Crank and rod of one length; where both stand upright the slider may stay while they turn together.

    A problem of the IFToMM library of multibody benchmarks (González et al. 2006): uniform rods of 1 kg, a massless
    slider, gravity 9.81; the crank starts at 45°, the slider with −4 m/s. The crank pin is (x1, y1), the slider
    (x2, 0).
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
    )
