"""Whipple's bicycle: rear and front frame and two wheels on knife edges, riding hands-free.

Meijaard, Papadopoulos, Ruina and Schwab (2007), Linearized dynamics equations for the balance and steer of a bicycle:
a benchmark and review, Proc. R. Soc. A 463, with its axes (x ahead, y to the right, z down) and the parameters of its
Table 1. The model here is the full nonlinear one.
"""

from __future__ import annotations

from typing import Any

import sympy as sm

from pfaff.atlas.space import kinetic_energy, rotation
from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates

TABLE_1 = {
    "w": "1.02", "c": "0.08", "tilt": sm.pi / 10, "g": "9.81",
    "r_R": "0.3", "m_R": 2, "I_Rxx": "0.0603", "I_Ryy": "0.12",
    "x_B": "0.3", "z_B": "-0.9", "m_B": 85, "I_Bxx": "9.2", "I_Bxz": "2.4", "I_Byy": 11, "I_Bzz": "2.8",
    "x_H": "0.9", "z_H": "-0.7", "m_H": 4, "I_Hxx": "0.05892", "I_Hxz": "-0.00756", "I_Hyy": "0.06", "I_Hzz": "0.00708",
    "r_F": "0.35", "m_F": 3, "I_Fxx": "0.1405", "I_Fyy": "0.28",
}  # fmt: skip
SIGNED = ("c", "tilt", "x_B", "z_B", "I_Bxz", "x_H", "z_H", "I_Hxz")  # may have either sign

BODIES = {"R": "rear wheel", "B": "rear frame with rider", "H": "front frame", "F": "front wheel"}
MEANINGS = {
    "w": "wheel base [m]", "c": "trail [m]", "tilt": "tilt of the steering axis [rad]", "g": "gravity [m/s²]",
    "r_R": "radius of the rear wheel [m]", "r_F": "radius of the front wheel [m]",
    "x": "rear contact [m]", "y": "rear contact [m]", "psi": "yaw [rad]", "phi": "lean [rad]", "chi": "pitch [rad]",
    "delta": "steer [rad]", "s": "distance rolled by the rear wheel [m]", "f": "the same by the front wheel [m]",
    **{f"m_{body}": f"mass of the {what} [kg]" for body, what in BODIES.items()},
    **{f"{axis}_{body}": f"centre of mass of the {BODIES[body]} [m]" for body in "BH" for axis in "xz"},
    **{name: f"moment of inertia of the {BODIES[name[2]]} [kg m²]" for name in TABLE_1 if name.startswith("I_")},
}  # fmt: skip


def whipple_bicycle() -> System:
    """Whipple's bicycle without a rider's hands: upright it weaves below 4.29 m/s and capsizes above 6.02 m/s.

    Coordinates are the rear contact (x, y), yaw psi, lean phi, pitch chi and steer delta; s and f are the distances
    that the rear wheel has rolled relative to the ground and the front wheel relative to its fork. The pitch obeys the
    holonomic constraint that the front wheel touches the ground; four rolling constraints are nonholonomic.
    """
    q = coordinates("x y psi phi chi delta s f")
    p = {name: sm.Symbol(name, real=True, positive=None if name in SIGNED else True) for name in TABLE_1}
    psi, phi, chi, delta = q[2:6]
    vx, vy, yaw, lean, pitch, steer, rear, front = (each.diff(t) for each in q)
    aside, axis = sm.Matrix([0, 1, 0]), sm.Matrix([sm.sin(p["tilt"]), 0, sm.cos(p["tilt"])])
    leaning, pitching, steering = rotation((1, 0, 0), phi), rotation((0, 1, 0), chi), rotation(axis, delta)

    # Vectors have their components in the frame that leans (A), in the rear frame (B) or in the front frame (H).
    ahead, right = vx * sm.cos(psi) + vy * sm.sin(psi), vy * sm.cos(psi) - vx * sm.sin(psi)
    down_A = leaning.T * sm.Matrix([0, 0, 1])
    spin_A = sm.Matrix([lean, 0, 0]) + yaw * down_A
    hub_A = leaning.T * sm.Matrix([ahead, right, 0]) + spin_A.cross(sm.Matrix([0, 0, -p["r_R"]]))
    down_B, hub_B = pitching.T * down_A, pitching.T * hub_A
    spin_B = pitching.T * spin_A + pitch * aside
    centre_B = sm.Matrix([p["x_B"], 0, p["z_B"] + p["r_R"]])  # from the rear hub
    foot_B = sm.Matrix([p["w"] + p["c"], 0, p["r_R"]])  # where the steering axis meets the ground, if upright
    down_H, spin_H = steering.T * down_B, steering.T * spin_B + steer * axis
    foot_H = steering.T * (hub_B + spin_B.cross(foot_B))
    centre_H = sm.Matrix([p["x_H"] - p["w"] - p["c"], 0, p["z_H"]])  # from the foot of the steering axis
    hub_H = sm.Matrix([-p["c"], 0, -p["r_F"]])
    wheel_H = foot_H + spin_H.cross(hub_H)

    rolling_R, rolling_F = spin_A - rear / p["r_R"] * aside, spin_H - front / p["r_F"] * aside
    kinetic = (
        kinetic_energy(p["m_R"], _axial(p, "R"), hub_A, rolling_R)
        + kinetic_energy(p["m_B"], _inertia(p, "B"), hub_B + spin_B.cross(centre_B), spin_B)
        + kinetic_energy(p["m_H"], _inertia(p, "H"), foot_H + spin_H.cross(centre_H), spin_H)
        + kinetic_energy(p["m_F"], _axial(p, "F"), wheel_H, rolling_F)
    )
    depth_R = -p["r_R"] * sm.cos(phi)
    depth_foot = depth_R + down_B.dot(foot_B)
    depth_F = depth_foot + down_H.dot(hub_H)
    depths = {
        "m_R": depth_R,
        "m_B": depth_R + down_B.dot(centre_B),
        "m_H": depth_foot + down_H.dot(centre_H),
        "m_F": depth_F,
    }
    # The front contact lies below the hub, in the plane of the wheel: down without its part along the axle.
    steepness = sm.sqrt(down_H[0] ** 2 + down_H[2] ** 2)
    below_H = p["r_F"] / steepness * sm.Matrix([down_H[0], 0, down_H[2]])
    slip_H = wheel_H + rolling_F.cross(below_H)
    track_H = sm.Matrix([down_H[2], 0, -down_H[0]])  # where the front wheel points on the ground, but for its length
    return System(
        coordinates=q,
        kinetic=kinetic,
        potential=-p["g"] * sum(p[mass] * depth for mass, depth in depths.items()),
        nonholonomic_constraints=[vx - rear * sm.cos(psi), vy - rear * sm.sin(psi), slip_H.dot(track_H), slip_H[1]],
        holonomic_constraints=[depth_F + p["r_F"] * steepness],
        parameters={symbol: TABLE_1[name] for name, symbol in p.items()},
        drawing=_drawing(q, p, rotation((0, 0, 1), psi) * leaning, pitching, steering),
        name="Whipple's bicycle",
        meanings=MEANINGS,
    )


def _drawing(q: Any, p: dict[str, sm.Symbol], leaning: sm.Matrix, pitching: sm.Matrix, steering: sm.Matrix) -> Drawing:
    """Both wheels, the frame, the fork and the tracks of both wheels; in the picture y is to the left and z upwards."""
    flip = sm.diag(1, -1, -1)
    contact = sm.Matrix([q[0], -q[1], 0])

    def shown(along: sm.Matrix) -> sm.Matrix:
        return flip * leaning * along

    rear = contact + shown(sm.Matrix([0, 0, -p["r_R"]]))
    front_frame = pitching * steering
    foot = rear + shown(pitching * sm.Matrix([p["w"] + p["c"], 0, p["r_R"]]))
    front = foot + shown(front_frame * sm.Matrix([-p["c"], 0, -p["r_F"]]))
    up = sm.Matrix([-sm.sin(p["tilt"]), 0, -sm.cos(p["tilt"])])
    aside = sm.Matrix([0, 1, 0])
    head = foot + shown(pitching * (p["w"] * up))
    points = {
        "rear": rear,
        "front": front,
        "seat": rear + shown(pitching * sm.Matrix([p["x_B"], 0, p["z_B"] + p["r_R"]])),
        "head": head,
        "left grip": head + shown(front_frame * sm.Matrix([0, -p["r_F"] * 2 / 3, 0])),
        "right grip": head + shown(front_frame * sm.Matrix([0, p["r_F"] * 2 / 3, 0])),
        "rear track": contact,
        "front track": sm.Matrix([front[0], front[1], 0]) + _below(shown(front_frame * aside), p["r_F"]),
    }
    wheels = {
        "rear": (p["r_R"], shown(aside), shown(_spoke(q[6] / p["r_R"]))),
        "front": (p["r_F"], shown(front_frame * aside), shown(front_frame * _spoke(q[7] / p["r_F"]))),
    }
    links = [
        ("rear", "seat"), ("seat", "head"), ("rear", "head"), ("head", "front"), ("left grip", "right grip"),
    ]  # fmt: skip
    return Drawing(points=points, links=links, wheels=wheels, traced=["rear track", "front track"], ground=True)


def _spoke(rolled: Any) -> sm.Matrix:
    """The direction of a spoke of a wheel that has rolled forwards: ahead, right, down."""
    return sm.Matrix([sm.sin(rolled), 0, -sm.cos(rolled)])


def _below(axle: sm.Matrix, radius: Any) -> sm.Matrix:
    """From below the hub to the contact: the wheel leans sideways, along the level part of its axle."""
    level = sm.sqrt(axle[0] ** 2 + axle[1] ** 2)
    return sm.Matrix([axle[0], axle[1], 0]) * radius * axle[2] / level


def _inertia(p: dict[str, sm.Symbol], body: str) -> sm.Matrix:
    xx, xz, yy, zz = (p[f"I_{body}{axes}"] for axes in ("xx", "xz", "yy", "zz"))
    return sm.Matrix([[xx, 0, xz], [0, yy, 0], [xz, 0, zz]])


def _axial(p: dict[str, sm.Symbol], wheel: str) -> sm.Matrix:
    across = p[f"I_{wheel}xx"]
    return sm.diag(across, p[f"I_{wheel}yy"], across)
