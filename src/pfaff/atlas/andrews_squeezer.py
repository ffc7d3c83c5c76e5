"""Andrews' squeezer: seven bodies in three closed loops, driven by a constant torque."""

from __future__ import annotations

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates

START = {
    "beta": -0.0617138900142764496,
    "theta": 0.0,
    "gamma": 0.455279819163070380,
    "phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "Omega": -0.222668390165885885,
    "epsilon": 1.23054744454982119,
}  # the rest position of the source
LENGTHS = {
    "d": "28/1000", "da": "115/10000", "e": "2/100", "ea": "1421/100000", "rr": "7/1000", "ra": "92/100000",
    "ss": "35/1000", "sa": "1874/100000", "sb": "1043/100000", "sc": "18/1000", "sd": "2/100", "ta": "2308/100000",
    "tb": "916/100000", "u": "4/100", "ua": "1228/100000", "ub": "449/100000", "zf": "2/100", "zt": "4/100",
    "fa": "1421/100000", "l0": "7785/100000",
}  # fmt: skip
MASSES = ("0.04325", "0.00365", "0.02373", "0.00706", "0.07050", "0.00706", "0.05498")
INERTIAS = ("2.194e-6", "4.410e-7", "5.255e-6", "5.667e-7", "1.169e-5", "5.667e-7", "1.912e-5")
FIXED = {"xa": "-0.06934", "ya": "-0.00227", "xb": "-0.03635", "yb": "0.03273", "xc": "0.014", "yc": "0.072"}


def andrews_squeezer() -> System:
    """Seven bodies, six loop equations; the motor reaches 15.81077119629904 rad in 0.03 s from ``START``.

    Schiehlen (ed., 1990), Multibody Systems Handbook; Hairer and Wanner (1996), Solving Ordinary Differential Equations
    II, Section VII.7; test set for IVP solvers (Mazzia and Magherini 2008), problem "Andrews". Names are theirs.
    """
    beta, theta, gamma, phi, delta, Omega, epsilon = q = coordinates(" ".join(START))
    length = {name: sm.Symbol(name, positive=True) for name in LENGTHS}
    fixed = {name: sm.Symbol(name, real=True) for name in FIXED}
    m, inertia = sm.symbols("m1:8", positive=True), sm.symbols("I1:8", positive=True)
    c0, mom = sm.Symbol("c0", positive=True), sm.Symbol("mom", real=True)
    d, da, e, ea, rr, ra, ss, sa, sb, sc, sd, ta, tb, u, ua, ub, zf, zt, fa, l0 = length.values()
    xa, ya, xb, yb, xc, yc = fixed.values()

    def arm(angle: sm.Expr, along: sm.Expr, across: sm.Expr = 0) -> sm.Matrix:
        """A vector of a body that has turned by the angle."""
        return sm.Matrix(
            [along * sm.cos(angle) - across * sm.sin(angle), along * sm.sin(angle) + across * sm.cos(angle)]
        )

    A, B, C = sm.Matrix([xa, ya]), sm.Matrix([xb, yb]), sm.Matrix([xc, yc])
    crank = arm(beta, rr)
    joint = crank - arm(beta + theta, d)  # where bodies 2, 3, 4 and 6 meet
    D = B + arm(gamma, sd, -sc)
    H, G = A + arm(delta, zt), A + arm(epsilon, 0, -u)
    centres = [
        arm(beta, ra),
        crank - arm(beta + theta, da),
        B + arm(gamma, sa, sb),
        H + arm(phi + delta, 0, -(e - ea)),
        A + arm(delta, ta, -tb),
        G + arm(Omega + epsilon, zf - fa),
        A + arm(epsilon, ua, -ub),
    ]
    angles = [beta, beta + theta, gamma, phi + delta, delta, Omega + epsilon, epsilon]
    kinetic = sum(
        mass * centre.diff(t).dot(centre.diff(t)) / 2 + moment * angle.diff(t) ** 2 / 2
        for mass, moment, centre, angle in zip(m, inertia, centres, angles, strict=True)
    )
    loops = [joint - B - arm(gamma, 0, -ss), joint - H - arm(phi + delta, 0, -e), joint - G - arm(Omega + epsilon, zf)]
    spring = sm.sqrt((D - C).dot(D - C))
    return System(
        coordinates=q,
        kinetic=kinetic,
        potential=c0 * (spring - l0) ** 2 / 2,
        forces={beta: mom},
        holonomic_constraints=[row for loop in loops for row in loop],
        parameters={
            **{length[name]: value for name, value in LENGTHS.items()},
            **{fixed[name]: value for name, value in FIXED.items()},
            **dict(zip(m, MASSES, strict=True)),
            **dict(zip(inertia, INERTIAS, strict=True)),
            c0: 4530,
            mom: "33/1000",
        },
        drawing=Drawing(
            points={
                "O": (0, 0), "A": tuple(A), "B": tuple(B), "C": tuple(C), "crank": tuple(crank), "joint": tuple(joint),
                "D": tuple(D), "H": tuple(H), "G": tuple(G),
            },
            links=[("O", "crank"), ("crank", "joint"), ("joint", "B"), ("B", "D"), ("joint", "H"), ("H", "A"),
                   ("joint", "G"), ("G", "A")],
            springs=[("C", "D")],
            marks=dict.fromkeys("OABC", "ground") | dict.fromkeys(("crank", "joint", "H", "G", "D"), "hinge"),
            traced=("joint",),
        ),
        name="Andrews' squeezer",
        meanings={
            **dict.fromkeys(LENGTHS, "length [m]"),
            "l0": "length of the spring without force [m]",
            **dict.fromkeys(FIXED, "fixed point [m]"),
            **{f"m{k}": f"mass of body {k} [kg]" for k in range(1, 8)},
            **{f"I{k}": f"moment of inertia of body {k} [kg m²]" for k in range(1, 8)},
            "c0": "stiffness of the spring [N/m]",
            "mom": "torque of the motor [N m]",
            **dict.fromkeys(START, "angle [rad]"),
        },
    )  # fmt: skip
