"""The free particle under the simplest nonholonomic constraint."""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.particles import Particle


def nonholonomic_particle() -> System:
    """A free particle bound by ż = y ẋ: it keeps ẏ and ẋ√(1 + y²).

    Rosenberg (1977), Analytical Dynamics of Discrete Systems; Bates and Śniatycki (1993), Rep. Math. Phys. 32.
    """
    x, y, z = coordinates("x y z")
    m = sm.Symbol("m", positive=True)
    return System(
        coordinates=[x, y, z],
        kinetic=m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2,
        nonholonomic_constraints=[z.diff(t) - y * x.diff(t)],
        particles=[Particle(m, (x, y, z))],
        parameters={m: 1},
        drawing=Drawing(
            points={"foot": (x, y, 0), "particle": (x, y, z)},
            outlines=[("foot", "particle")],
            marks={"particle": "mass"},
            ground=True,
        ),
        name="nonholonomic particle",
        meanings={m: "mass"},
    )
