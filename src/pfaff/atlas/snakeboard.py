"""The snakeboard: a board on two steered axles that a rider propels by turning a rotor.

Ostrowski, Lewis, Murray and Burdick (1994), Nonholonomic mechanics and locomotion: the snakeboard example, Proc. IEEE
Int. Conf. Robotics and Automation; Bloch, Krishnaprasad, Marsden and Murray (1996), Nonholonomic mechanical systems
with symmetry, Arch. Ration. Mech. Anal. 136, Sec. 8.4.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates


def snakeboard() -> System:
    """A board on two steered axles that a rotor propels, by swinging in time with the steering.

    The board is at (x, y) with heading theta, the rotor psi on it, the axles phi_f and phi_b a distance l from it.
    Prescribe the shape and it moves, ``simulate(…, prescribed={"psi": …, "phi_f": …, "phi_b": …})``: forwards when
    rotor and steering swing at one frequency, turning on the spot when the rotor swings twice as fast. With
    phi_f = −phi_b = φ the momentum along the motions that the wheels allow, P = m v l cos φ + (I θ̇ + J_r ψ̇) sin φ with
    I = J + J_r + 2 J_w, obeys Ṗ = φ̇ (−m v l sin φ + (I θ̇ + J_r ψ̇) cos φ): it is driven where φ̇ ψ̇ ≠ 0.
    """
    x, y, theta, psi, phi_f, phi_b = coordinates("x y theta psi phi_f phi_b")
    m, J, J_r, J_w, l = sm.symbols("m J J_r J_w l", positive=True)
    vx, vy, turn, rotor, front, back = (q.diff(t) for q in (x, y, theta, psi, phi_f, phi_b))
    inertia = J * turn**2 + J_r * (turn + rotor) ** 2 + J_w * ((turn + front) ** 2 + (turn + back) ** 2)

    def skid(steer: sm.Expr, ahead: sm.Expr) -> sm.Expr:
        """The velocity of an axle sideways to its wheels."""
        return vy * sm.cos(theta + steer) - vx * sm.sin(theta + steer) + ahead * turn * sm.cos(steer)

    heading = sm.Matrix([sm.cos(theta), sm.sin(theta)])
    centre = sm.Matrix([x, y])
    return System(
        coordinates=[x, y, theta, psi, phi_f, phi_b],
        kinetic=m * (vx**2 + vy**2) / 2 + inertia / 2,
        nonholonomic_constraints=[skid(phi_f, l), skid(phi_b, -l)],
        quasi_velocities={"v": vx * sm.cos(theta) + vy * sm.sin(theta)},
        parameters={m: 6, J: "0.016", J_r: "0.072", J_w: "0.0013", l: "0.2"},
        drawing=Drawing(
            points={
                "back": centre - l * heading,
                "front": centre + l * heading,
                "rotor": centre + l / 2 * sm.Matrix([sm.cos(theta + psi), sm.sin(theta + psi)]),
                "centre": centre,
            },
            links=[("back", "front"), ("centre", "rotor")],
            marks={"back": "wheel", "front": "wheel", "rotor": "mass"},
            angles={"back": theta + phi_b, "front": theta + phi_f},
        ),
        name="snakeboard",
        meanings={
            m: "mass of all [kg]",
            J: "moment of inertia of the board [kg m²]",
            J_r: "moment of inertia of the rotor [kg m²]",
            J_w: "moment of inertia of an axle [kg m²]",
            l: "distance of an axle from the middle [m]",
            x: "middle [m]",
            y: "middle [m]",
            theta: "heading [rad]",
            psi: "rotor on the board [rad]",
            phi_f: "steering in front [rad]",
            phi_b: "steering at the back [rad]",
            "v": "forward speed [m/s]",
        },
    )
