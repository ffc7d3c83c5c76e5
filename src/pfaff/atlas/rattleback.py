"""The rattleback: an ellipsoid that rolls on a plane and prefers one direction of spin.

Kane and Levinson (1982), Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. 17, with the
parameters of their example; Garcia and Hubbard (1988), Spin reversal of the rattleback, Proc. R. Soc. A 418.
"""

from __future__ import annotations

from typing import Any

import sympy as sm

from pfaff.atlas.space import rotation
from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates

OUTLINE = 32  # points by which a line on the ellipsoid is drawn
RIBS = 4  # lines from end to end, and lines around


def rattleback() -> System:
    """An ellipsoid with half-axes a, b, c, its centre of mass h below the middle, and a skewed inertia.

    Coordinates are the centre of mass (x, y), the spin psi about the vertical, then alpha about the long axis and
    beta about the short one. The moments of inertia are A, B, C with the product D about the axes of the ellipsoid:
    D ≠ 0 couples the spin to the oscillations, damps one of them for either sense of spin, and drives the other.
    """
    x, y, psi, alpha, beta = coordinates("x y psi alpha beta")
    m, a, b, c, A, B, C, g = sm.symbols("m a b c A B C g", positive=True)
    h, D = sm.symbols("h D", real=True)
    vx, vy, spin = x.diff(t), y.diff(t), psi.diff(t)
    pitching = rotation((0, 1, 0), beta)
    tilting = rotation((1, 0, 0), alpha) * pitching  # from the axes of the body to level ones that spin along
    up = tilting.T * sm.Matrix([0, 0, 1])
    omega = spin * up + pitching.T * sm.Matrix([alpha.diff(t), 0, 0]) + sm.Matrix([0, beta.diff(t), 0])
    support = sm.sqrt(sum(half**2 * n**2 for half, n in zip((a, b, c), up, strict=True)))
    contact = sm.Matrix([-(half**2) * n / support for half, n in zip((a, b, c), up, strict=True)]) + sm.Matrix(
        [0, 0, h]
    )
    height = support - h * up[2]  # of the centre of mass
    ahead, left = vx * sm.cos(psi) + vy * sm.sin(psi), vy * sm.cos(psi) - vx * sm.sin(psi)
    slip = tilting * omega.cross(contact)
    inertia = sm.Matrix([[A, D, 0], [D, B, 0], [0, 0, C]])
    return System(
        coordinates=[x, y, psi, alpha, beta],
        kinetic=m * (vx**2 + vy**2 + height.diff(t) ** 2) / 2 + omega.dot(inertia * omega) / 2,
        potential=m * g * height,
        nonholonomic_constraints=[ahead + slip[0], left + slip[1]],
        parameters={
            m: 1, a: "0.2", b: "0.03", c: "0.02", h: "0.01", A: "0.0002", B: "0.0016", C: "0.0017", D: "-0.00002",
            g: "9.81",
        },
        drawing=_drawing(x, y, psi, tilting, height, (a, b, c), h),
        name="rattleback",
        meanings={
            m: "mass [kg]",
            a: "half-axis along the body [m]",
            b: "half-axis across the body [m]",
            c: "half-axis downwards [m]",
            h: "centre of mass below the middle [m]",
            A: "moment of inertia about the long axis [kg m²]",
            B: "moment of inertia about the short axis [kg m²]",
            C: "moment of inertia about the third axis [kg m²]",
            D: "entry of the inertia that skews it [kg m²]",
            g: "gravity [m/s²]",
            x: "centre of mass [m]",
            y: "centre of mass [m]",
            psi: "spin [rad]",
            alpha: "roll about the long axis [rad]",
            beta: "pitch about the short axis [rad]",
        },
    )  # fmt: skip


def _drawing(x: Any, y: Any, psi: Any, tilting: sm.Matrix, height: Any, half: Any, h: Any) -> Drawing:
    """The lower half of the ellipsoid, cut off at its middle, and the path of one end."""
    a, b, c = half
    turning = rotation((0, 0, 1), psi) * tilting
    centre = sm.Matrix([x, y, height])
    around = [2 * sm.pi * k / OUTLINE for k in range(OUTLINE + 1)]
    below = [sm.pi * k / OUTLINE for k in range(OUTLINE + 1)]
    rim = [(a * sm.cos(s), b * sm.sin(s), h) for s in around]
    ribs = [
        [(a * sm.cos(s), -b * sm.sin(s) * sm.cos(side), h - c * sm.sin(s) * sm.sin(side)) for s in below]
        for side in (sm.pi * k / RIBS for k in range(1, RIBS))
    ]
    hoops = [
        [(share * a, -width * b * sm.cos(s), h - width * c * sm.sin(s)) for s in below]
        for share in (sm.Rational(2 * k, RIBS) - 1 for k in range(1, RIBS))
        for width in (sm.sqrt(1 - share**2),)
    ]
    end = centre + turning * sm.Matrix([a, 0, h])
    return Drawing(
        points={"centre": centre, "end": end},
        bodies={"centre": (turning, [rim, *ribs, *hoops])},
        traced=["end"],
        ground=True,
    )
