"""Bodies on a knife edge, which glides along itself and does not slip sideways."""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.values import truth

x, y, phi = coordinates("x y phi")
m, I, a = sm.symbols("m I a", positive=True)
g = sm.Symbol("g", nonnegative=True)
alpha = sm.Symbol("alpha", real=True)
MEANINGS = {
    "m": "mass [kg]",
    "I": "moment of inertia about the centre of mass [kg m²]",
    "a": "centre of mass ahead of the blade [m]",
    "g": "gravity [m/s²]",
    "alpha": "slope of the plane [rad]",
}
PLACE = {"x": "blade [m]", "y": "blade [m]", "phi": "heading [rad]", "v": "speed along the blade [m/s]"}


def chaplygin_sleigh(slope: bool = False) -> System:
    """Chaplygin's sleigh: a rigid body on a plane with a knife edge behind its centre of mass.

    Chaplygin (1911). With the blade a distance a behind the centre, on a level plane, it turns by π√((I + ma²)/(ma²))
    in all, whatever its energy, from running backwards to running forwards. ``slope=True`` tilts the plane by α, down
    along x.
    """
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    values = {m: 1, I: sm.Rational(1, 4), a: sm.Rational(2, 5)}
    name = "Chaplygin's sleigh on a slope" if truth("slope", slope) else "Chaplygin's sleigh"
    return _on_knife_edge(centre, 2 * a, values, slope, name)


def knife_edge() -> System:
    """A knife edge on a slope, under its centre of mass: while it turns, it does not slide down.

    Neimark and Fufaev (1972), Dynamics of Nonholonomic Systems. Released pointing down the slope and turning at Ω, it
    draws a cycloid: x = c sin²Ωt, y = c(Ωt − ½ sin 2Ωt) with c = g sin α/(2Ω²); x is down the slope of angle α.
    """
    return _on_knife_edge(sm.Matrix([x, y]), sm.S.Half, {m: 1, I: sm.Rational(1, 4)}, True, "knife edge on a slope")


def _on_knife_edge(
    centre: sm.Matrix, length: sm.Expr, values: dict[sm.Symbol, object], slope: bool, name: str
) -> System:
    """A body on a blade at (x, y), drawn with a length ahead of it."""
    velocity = centre.diff(t)
    nose = (x + length * sm.cos(phi), y + length * sm.sin(phi))
    return System(
        coordinates=[x, y, phi],
        kinetic=m * velocity.dot(velocity) / 2 + I * phi.diff(t) ** 2 / 2,
        potential=-m * g * sm.sin(alpha) * centre[0] if slope else 0,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        quasi_velocities={"v": x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi)},
        parameters={**values, **({g: 1, alpha: sm.Rational(1, 2)} if slope else {})},
        drawing=Drawing(
            points={"blade": (x, y), "centre": centre, "nose": nose},
            links=[("blade", "nose")],
            marks={"centre": "mass", "blade": "skate"},
            angles={"blade": phi},
            traced=["blade"],
        ),
        name=name,
        meanings={p.name: MEANINGS[p.name] for p in (*values, *((g, alpha) if slope else ()))} | PLACE,
    )
