"""Two-wheeled bodies towed at constant speed: the suitcase that rocks and the trailer that snakes.

That they are analogues says a title, Horváth and Takács, Analogue models of rocking suitcases and snaking trailers
(Nonlinear Dynamics of Structures, Systems and Devices, NODYCON 2019, vol. I, p. 117); rocking is the subject of Plaut
(1996), Rocking instability of a pulled suitcase with two wheels, Acta Mech. 117, snaking that of Darling, Tilley and
Gao (2009), An experimental investigation of car–trailer high-speed stability, Proc. IMechE D 223. The model here and
all its numbers are our own and reproduce none of theirs: a rigid body on an axle that does not slip sideways, with yaw,
roll about the line from the hitch to the middle of the axle, elastic wheels, and a hitch that yields sideways.
"""

from __future__ import annotations

from typing import Any

import sympy as sm

from pfaff.atlas.space import kinetic_energy, rotation
from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates

MEANINGS = {
    "m": "mass [kg]",
    "I1": "moment of inertia about the line to the hitch [kg m²]",
    "I2": "moment of inertia about the axis aside [kg m²]",
    "I3": "moment of inertia about the axis upwards [kg m²]",
    "l": "distance from hitch to axle [m]",
    "H": "height of the hitch above the axle [m]",
    "a": "centre of mass ahead of the axle [m]",
    "h": "centre of mass above the line to the hitch [m]",
    "b": "half of the track [m]",
    "k_w": "stiffness of a wheel [N/m]",
    "c_w": "viscosity of a wheel [N s/m]",
    "k": "stiffness of the hitch, sideways [N/m]",
    "c": "viscosity of the hitch, sideways [N s/m]",
    "g": "gravity [m/s²]",
    "v": "towing speed [m/s]",
    "q": "hitch, sideways [m]",
    "psi": "yaw [rad]",
    "phi": "roll [rad]",
}


def rocking_suitcase() -> System:
    """A suitcase pulled by its handle: short, inclined by 45°, on wheels close together.

    Its numbers are chosen so that it begins to rock at a walking speed: the oscillation that grows is mostly roll.
    """
    values = {
        "m": 15, "I1": "0.6", "I2": "1.2", "I3": "0.9", "l": "0.8", "H": "0.8", "a": "0.2", "h": "0.2", "b": "0.2",
        "k_w": 2000, "c_w": 10, "k": 500, "c": 5, "g": "9.81",
    }  # fmt: skip
    return _towed("rocking suitcase", values, box=("-1/20", "4/5"))


def snaking_trailer() -> System:
    """A caravan: long, its hitch a tenth of the length above the axle, on soft suspensions; it snakes on the road."""
    values = {
        "m": 1200, "I1": 600, "I2": 2500, "I3": 2500, "l": "4", "H": "0.4", "a": "0.3", "h": "0.8", "b": "0.9",
        "k_w": 40000, "c_w": 1500, "k": 60000, "c": 500, "g": "9.81",
    }  # fmt: skip
    return _towed("snaking trailer", values, box=("-2/5", "1/2"))


def _towed(name: str, values: dict[str, Any], box: tuple[str, str]) -> System:
    """Coordinates are the displacement q of the hitch, yaw psi and roll phi; the hitch is at (v t, q, H).

    The body has its centre of mass a ahead of the axle along the line to the hitch and h above it, its moments of
    inertia I1 about that line, I2 aside and I3 upwards. It rests on the wheels, at ±b on the axle, through
    vertical springs k_w and dampers c_w: as the line of the roll is inclined by atan(H/l), they yield by
    ±b sin φ l/√(l² + H²). It is drawn as a box, from where to where along the line in lengths l.
    """
    q, psi, phi = coordinates("q psi phi")
    p = {each: sm.Symbol(each, **_promise(each)) for each in values}
    v = sm.Symbol("v", real=True)
    l, H, a, h, b = (p[each] for each in ("l", "H", "a", "h", "b"))
    sideways, yaw, roll = q.diff(t), psi.diff(t), phi.diff(t)
    length = sm.sqrt(l**2 + H**2)
    sine, cosine = H / length, l / length
    tilting = sm.Matrix([[cosine, 0, -sine], [0, 1, 0], [sine, 0, cosine]])  # the line rises towards the hitch
    rolling = rotation((1, 0, 0), phi)
    centre = sm.Matrix([a, 0, h])
    up = rolling.T * (tilting.T * sm.Matrix([0, 0, 1]))
    spin = yaw * up + sm.Matrix([roll, 0, 0])
    # The middle of the axle, ahead and to the left; the hitch moves by (v, q̇).
    ahead, left = v * sm.cos(psi) + sideways * sm.sin(psi), sideways * sm.cos(psi) - v * sm.sin(psi) - l * yaw
    velocity = rolling.T * (tilting.T * sm.Matrix([ahead, left, 0])) + spin.cross(centre)
    height = up.dot(centre)
    lift = up.dot(sm.Matrix([0, b, 0]))
    return System(
        coordinates=[q, psi, phi],
        kinetic=kinetic_energy(p["m"], sm.diag(p["I1"], p["I2"], p["I3"]), velocity, spin),
        potential=p["m"] * p["g"] * height + p["k"] * q**2 / 2 + p["k_w"] * lift**2,
        dissipation=p["c"] * sideways**2 / 2 + p["c_w"] * lift.diff(t) ** 2,
        nonholonomic_constraints=[left],
        parameters={**{p[each]: sm.Rational(value) for each, value in values.items()}, v: 0},
        load=v,
        drawing=_drawing(q, psi, v, tilting * rolling, p, box),
        name=name,
        meanings=MEANINGS,
    )


def _promise(name: str) -> dict[str, bool]:
    if name in ("a", "h"):
        return {"real": True}
    return {"nonnegative": True} if name in ("c", "c_w", "H") else {"positive": True}


def _drawing(q: Any, psi: Any, v: Any, rolled: sm.Matrix, p: dict[str, sm.Symbol], box: tuple[str, str]) -> Drawing:
    """The box of the body over its axle, the drawbar to the hitch, and two wheels, turned as if they ran straight."""
    l, H, h, b = (p[each] for each in ("l", "H", "h", "b"))
    radius = l / 12
    turning = rotation((0, 0, 1), psi)
    left, up = turning * sm.Matrix([0, 1, 0]), sm.Matrix([0, 0, 1])
    hitch = sm.Matrix([v * t, q, H + radius])
    axle = hitch - turning * sm.Matrix([l, 0, H])
    angle = v * t / radius
    spoke = turning * sm.Matrix([sm.sin(angle), 0, sm.cos(angle)])
    back, front = (l * sm.Rational(share) for share in box)
    low, high = h / 4, 7 * h / 4
    floor, roof = ([(back, -b, z), (front, -b, z), (front, b, z), (back, b, z), (back, -b, z)] for z in (low, high))
    posts = [[below, above] for below, above in zip(floor[:4], roof[:4], strict=True)]
    return Drawing(
        points={
            "hitch": hitch,
            "left": axle + b * left,
            "right": axle - b * left,
            "axle": axle,
            "track": axle - radius * up,
        },
        links=[("hitch", "axle"), ("left", "right")],
        marks={"hitch": "hinge"},
        wheels=dict.fromkeys(("left", "right"), (radius, left, spoke)),
        bodies={"axle": (turning * rolled, [floor, roof, *posts])},
        traced=["track"],
        ground=True,
    )
