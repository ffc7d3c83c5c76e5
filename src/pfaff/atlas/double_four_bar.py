"""Two four-bar linkages side by side: a mechanism that passes through singular configurations."""

from __future__ import annotations

from itertools import pairwise

import sympy as sm

from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.values import truth


def double_four_bar(rigid_coupler: bool = False) -> System:
    """Five equal rods; where they lie flat its one degree of freedom becomes three. Start: y_i = l, x0_dot = v.

    Proposed by Bayo and Avello (1994), Nonlinear Dynamics 5, 209–231. The numbers are those of problem A02, N four-bars
    in a row, of the benchmark of González et al. (2006): uniform rods of 1 m and 1 kg, gravity 9.81, B0 starting at
    1 m/s, from upright. There N = 40; here N = 2, as in the double four-bar mechanism of the IFToMM library. B0, B1, B2
    are the upper joints, the lower ones are 0, l, 2l on the x-axis. The rigid coupler B0 B1 B2 in place of two rods is
    our own variant: it leaves the motion as it is and makes the middle crank redundant.
    """
    names = [f"{axis}{i}" for i in range(3) for axis in "xy"]
    q = coordinates(" ".join(names))
    l, m, g = sm.symbols("l m g", positive=True)
    ground = [sm.Matrix([i * l, 0]) for i in range(3)]
    joints = [sm.Matrix(q[2 * i : 2 * i + 2]) for i in range(3)]
    rods = [*zip(ground, joints, strict=True), *pairwise(joints)]

    def kinetic(a: sm.Matrix, b: sm.Matrix) -> sm.Expr:
        """Kinetic energy of a uniform rod, from the velocities of its ends."""
        u, w = a.diff(t), b.diff(t)
        return m * (u.dot(u) + u.dot(w) + w.dot(w)) / 6

    lengths = [(b - a).dot(b - a) - l**2 for a, b in rods]
    held = [length / (2 * l) for length in lengths]
    if truth("rigid_coupler", rigid_coupler):
        coupler = joints[2] - joints[0]
        straight = [(coupler.dot(coupler) - 4 * l**2) / (4 * l), *(joints[1] - (joints[0] + joints[2]) / 2)]
        held = [held[0], held[2], *straight, held[1]]
    return System(
        coordinates=q,
        kinetic=sum(kinetic(a, b) for a, b in rods),
        potential=m * g * sum(a[1] + b[1] for a, b in rods) / 2,
        holonomic_constraints=held,
        parameters={l: 1, m: 1, g: "981/100"},
        drawing=Drawing(
            points={
                **{f"A{i}": tuple(p) for i, p in enumerate(ground)},
                **{f"B{i}": tuple(p) for i, p in enumerate(joints)},
            },
            links=[("A0", "B0"), ("A1", "B1"), ("A2", "B2"), ("B0", "B1"), ("B1", "B2")],
            marks={**{f"A{i}": "ground" for i in range(3)}, **{f"B{i}": "hinge" for i in range(3)}},
            traced=("B0", "B2"),
        ),
        name="double four-bar linkage" + (" with a rigid coupler" if rigid_coupler else ""),
        meanings={
            l: "length of a rod [m]",
            m: "mass of a rod [kg]",
            g: "gravity [m/s²]",
            **dict.fromkeys(q, "place [m]"),
        },
    )
