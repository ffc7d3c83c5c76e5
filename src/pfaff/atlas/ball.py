"""Balls that roll without slipping: on a turntable, in a spherical cavity, and as a vibration absorber.

The spin ω of a ball is no derivative of coordinates. But its inertia is the same about all axes, so that Euler's
equations read J ω̇ = torque, as if the components of ω along fixed axes were velocities: theta_x, theta_y and theta_z
are their integrals over time. These do not tell the attitude, on which nothing here depends; in return the equations
are regular in every attitude, where Euler angles are not, and all three may be ignored, where Euler parameters may not.
"""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates

turns = coordinates("theta_x theta_y theta_z")
m, r, j, rho = sm.symbols("m r j rho", positive=True)
g, c = sm.symbols("g c", nonnegative=True)
Omega = sm.Symbol("Omega", real=True)
AROUND, LATITUDES, MERIDIANS = 32, 4, 4  # points of a line, and lines, by which the cavity is drawn
BALL = {m: 1, r: sm.Rational(1, 10), j: sm.Rational(2, 5)}  # j = J/(m r²): 2/5 for a solid ball, 2/3 for a shell
LIFTED = sm.Matrix([0, 0, r])  # the lowest point of a cavity is on the ground, the ball's centre that much above it
MEANINGS = {
    "m": "mass of the ball [kg]",
    "r": "radius of the ball [m]",
    "j": "moment of inertia of the ball by m r²",
    "rho": "radius of the sphere on which its centre moves [m]",
    "g": "gravity [m/s²]",
    "c": "drag on the ball [N s/m]",
    "alpha": "tilt of the table [rad]",
    "M": "mass that is calmed [kg]",
    "K": "stiffness of its spring [N/m]",
    "C": "viscosity of its damper [N s/m]",
    "p0": "amplitude of the force [N]",
    "x": "ball [m]",
    "y": "ball [m]",
    "u": "ball, projected from the top [m]",
    "v": "ball, projected from the top [m]",
    "X": "displacement of the mass [m]",
    **{f"theta_{axis}": f"integral of the spin about {axis} [rad]" for axis in "xyz"},
}


def ball_on_turntable() -> System:
    """A ball on a table that turns at Ω: it runs in circles at 2Ω/7.

    Earnshaw (1844), Dynamics; Weltner (1979), Am. J. Phys. 47. At jΩ/(1 + j) if it is not solid. Tilted by α, down
    along x, the table lets the circles drift sideways, at the speed g sin α/(jΩ), and not down.
    """
    x, y = coordinates("x y")
    alpha = sm.Symbol("alpha", real=True)
    table = Omega * sm.Matrix([-y, x])
    contact = sm.Matrix([x.diff(t) - r * _spin()[1], y.diff(t) + r * _spin()[0]])
    return System(
        coordinates=[x, y, *turns],
        kinetic=m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + _rotation(),
        potential=-m * g * sm.sin(alpha) * x,
        nonholonomic_constraints=list(contact - table),
        parameters={**BALL, g: 1, alpha: 0, Omega: 1},
        drawing=Drawing(
            points={"axis": (0, 0, 0), "ball": (x, y, r)},
            discs={"axis": (1, (0, 0, 1), (sm.cos(Omega * t), sm.sin(Omega * t), 0))},
            circles={"ball": r},
            ground=True,
        ),
        name="ball on a turntable",
        meanings=_meanings("m r j g alpha x y", Omega="angular speed of the table [rad/s]"),
    )


def ball_in_cavity() -> System:
    """A ball that rolls inside a spherical cavity.

    Náprstek and Fischer (2017), Procedia Engineering 199. Its centre stays on a sphere of radius ρ, and its spin about
    the normal, s = ω·n, is constant. Small oscillations have ρ(1 + j)λ² − jrsλ − g = 0, that is λ² = 5g/(7ρ) without
    spin; steady circles at the rate λ and the angle β from the vertical the same with ρ cos β instead of ρ.

    u and v are stereographic coordinates from the top: near the bottom the horizontal displacements of the ball, and
    regular everywhere but in the top itself. No chart of a sphere has fewer singular points.
    """
    u, v = coordinates("u v")
    place, rolling, speed = _in_cavity(u, v)
    return System(
        coordinates=[u, v, *turns],
        kinetic=m * speed / 2 + _rotation(),
        potential=m * g * place[2],
        dissipation=c * speed / 2,
        nonholonomic_constraints=rolling,
        parameters={**BALL, rho: 1, g: 1, c: 0},
        drawing=Drawing(
            points={"bottom": (0, 0, 0), "ball": place + LIFTED},
            bodies={"bottom": _bowl()},
            circles={"ball": r},
            ground=True,
        ),
        name="ball in a spherical cavity",
        meanings=_meanings("m r j rho g c u v"),
    )


def ball_absorber() -> System:
    """A mass on a spring, shaken by p0 cos Ωt, with a ball in a spherical cavity that calms it.

    Pirner (2002), J. Wind Eng. Ind. Aerodyn. 90; Náprstek, Fischer, Pirner and Fischer (2011), COMPDYN. Small motions
    in the plane obey (M + m)Ẍ + mü + CẊ + KX = p0 cos Ωt and m(1 + j)ü + mẌ + cu̇ + mgu/ρ = 0: the ball is tuned to the
    mass where g/((1 + j)ρ) = K/M, as by default. Large ones leave the plane.
    """
    X, u, v = coordinates("X u v")
    M, K = sm.symbols("M K", positive=True)
    C = sm.Symbol("C", nonnegative=True)
    p0 = sm.Symbol("p0", real=True)
    place, rolling, speed = _in_cavity(u, v)
    moving = X.diff(t) ** 2 + 2 * X.diff(t) * place[0].diff(t) + speed
    force = p0 * sm.cos(Omega * t)
    tuned = {m: sm.Rational(1, 20), rho: sm.Rational(5, 7), g: 1, c: sm.Rational(1, 100)}
    return System(
        coordinates=[X, u, v, *turns],
        kinetic=M * X.diff(t) ** 2 / 2 + m * moving / 2 + _rotation(),
        potential=K * X**2 / 2 + m * g * place[2],
        dissipation=C * X.diff(t) ** 2 / 2 + c * speed / 2,
        forces={X: force},
        nonholonomic_constraints=rolling,
        parameters={**BALL, **tuned, M: 1, K: 1, C: sm.Rational(1, 100), p0: sm.Rational(1, 100), Omega: 1},
        drawing=Drawing(
            points={
                "wall": (-2 * (rho + r), 0, rho + r),
                "side": (X - rho - r, 0, rho + r),
                "bottom": (X, 0, 0),
                "pushed": (X + rho + r, 0, rho + r),
                "ball": (X + place[0], place[1], place[2] + r),
            },
            bodies={"bottom": _bowl()},
            circles={"ball": r},
            springs=[("wall", "side")],
            marks={"wall": "hinge", "side": "contact"},
            arrows={"pushed": (force, 0, 0)},
            traced=["side", "ball"],
            ground=True,
        ),
        name="ball vibration absorber",
        meanings=_meanings("m r j rho g c M K C p0 X u v", Omega="angular frequency of the force [rad/s]"),
    )


def _meanings(names: str, **others: str) -> dict[str, str]:
    """Meanings of the parameters and coordinates that a ball has; turns are always among them."""
    return {name: MEANINGS[name] for name in (*names.split(), "theta_x", "theta_y", "theta_z")} | others


def _spin() -> sm.Matrix:
    return sm.Matrix(turns).diff(t)


def _rotation() -> sm.Expr:
    return j * m * r**2 * _spin().dot(_spin()) / 2


def _bowl() -> tuple[sm.Matrix, list[list[tuple[sm.Expr, ...]]]]:
    """The lower half of the cavity in lines, from its lowest point: circles of latitude, and meridians."""
    R = rho + r
    turn = [2 * sm.pi * k / AROUND for k in range(AROUND + 1)]
    heights = [sm.pi * k / (2 * LATITUDES) for k in range(1, LATITUDES + 1)]
    circles = [
        [(R * sm.sin(b) * sm.cos(s), R * sm.sin(b) * sm.sin(s), R - R * sm.cos(b)) for s in turn] for b in heights
    ]
    arc = [sm.pi * k / AROUND - sm.pi / 2 for k in range(AROUND + 1)]
    meridians = [
        [(R * sm.sin(b) * sm.cos(s), R * sm.sin(b) * sm.sin(s), R - R * sm.cos(b)) for b in arc]
        for s in (sm.pi * k / MERIDIANS for k in range(MERIDIANS))
    ]
    return sm.eye(3), [*circles, *meridians]


def _in_cavity(u: sm.Expr, v: sm.Expr) -> tuple[sm.Matrix, list[sm.Expr], sm.Expr]:
    """The ball's place above the bottom, the two rolling constraints, and its speed in the cavity, squared.

    Along the orthonormal tangents e_u, e_v and the normal n = e_v × e_u towards the wall, ẋ + rω × n = 0 reads
    u̇/σ = rω·e_v and v̇/σ = −rω·e_u.
    """
    stretch = 1 + (u**2 + v**2) / (4 * rho**2)  # σ: the projection is conformal
    place = sm.Matrix([u, v, (u**2 + v**2) / (2 * rho)]) / stretch
    from_top = place - sm.Matrix([0, 0, 2 * rho])
    horizontal = {u: sm.Matrix([1, 0, 0]), v: sm.Matrix([0, 1, 0])}
    along_u, along_v = (axis - q * from_top / (2 * rho**2) for q, axis in horizontal.items())
    spin = _spin()
    rolling = [u.diff(t) / stretch - r * spin.dot(along_v), v.diff(t) / stretch + r * spin.dot(along_u)]
    return place, rolling, (u.diff(t) ** 2 + v.diff(t) ** 2) / stretch**2
