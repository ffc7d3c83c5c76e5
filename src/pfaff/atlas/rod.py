"""An elastic rod behind a sliding block, ended by a skate or a violin bow: it flutters under a dead load.

Cazzolli, Dal Corso and Bigoni (2021), Flutter instability and Ziegler destabilization paradox for elastic rods subject
to non-holonomic constraints, J. Appl. Mech. 88(3), 031003: Beck's, Pflüger's and Reut's columns realised with
conservative loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.values import one_of

if TYPE_CHECKING:
    from pfaff.statement.rods import Rod

CONSTRAINTS = ("skate", "bow")
LOADS = ("dead", "spring")
DRAWN = 24  # pieces of the curve

EI, m, L, K = sm.symbols("EI m L K", positive=True)
M_L, I_L, M_X, r, eta, c_e, c_t, c_r = sm.symbols("M_L I_L M_X r eta c_e c_t c_r", nonnegative=True)
beta0, F, Delta = sm.symbols("beta0 F Delta", real=True)
MEANINGS = {
    "EI": "bending stiffness",
    "m": "mass by length",
    "L": "length of the rod",
    "M_L": "mass at the end",
    "I_L": "moment of inertia at the end",
    "r": "rotary inertia by length",
    "eta": "retardation time of the material",
    "c_e": "external drag by length",
    "c_t": "drag at the end, against translation",
    "c_r": "drag at the end, against rotation",
    "M_X": "mass of the block",
    "beta0": "misalignment of the constraint [rad]",
    "X": "displacement of the block",
}
DEAD = {"F": "dead load"}
SPRING = {"K": "stiffness of the loading spring", "Delta": "displacement of its far end"}


def rod(constraint: str = "skate", load: str = "dead", modes: Any = "auto", *, bars: int | None = None) -> System:
    """An elastic rod behind a sliding block, ended by a skate or a violin bow."""
    if isinstance(load, str) and load == "fixed":
        raise StatementError(
            "a block that cannot slide takes the skate's and the bow's constraint their rank: on the straight rod "
            "nothing that moves enters them, and the reaction is undetermined; use load='spring' with a large K"
        )
    for what, given, known in (("constraint", constraint, CONSTRAINTS), ("load", load, LOADS)):
        one_of(known, given, f"unknown {what}", StatementError)
    from pfaff.statement.rods import Rod

    (X,) = coordinates("X")
    part = Rod(L, EI, m, rotary=r, retardation=eta, drag=c_e, modes=modes, base=(X, 0, 0), name="a", bars=bars)
    end = part.end
    vx, vy, turn = (each.diff(t) for each in (end.x, end.y, end.theta))
    if constraint == "skate":
        row = vx * sm.cos(end.theta + beta0) + vy * sm.sin(end.theta + beta0)
    else:  # the printed form of the bars' paper, in its limit of infinitely many bars
        lever = (L - end.x + X) * sm.sin(beta0) + end.y * sm.cos(beta0)
        row = vx * sm.cos(beta0) + vy * sm.sin(beta0) + lever * turn
    push = -F * X if load == "dead" else K * (X - Delta) ** 2 / 2
    return System(
        coordinates=[X],
        rods=[part],
        kinetic=(M_L * (vx**2 + vy**2) + I_L * turn**2 + M_X * X.diff(t) ** 2) / 2,
        potential=push,
        dissipation=(c_t * (vx**2 + vy**2) + c_r * turn**2) / 2,
        nonholonomic_constraints=[row],
        parameters={
            **{EI: 1, m: 1, L: 1, M_L: 0, I_L: 0, r: 0, eta: 0, c_e: 0, c_t: 0, c_r: 0, M_X: 0, beta0: 0},
            **({F: 0} if load == "dead" else {K: 1, Delta: 0}),
        },
        load=F if load == "dead" else Delta,
        drawing=_drawing(part, X, constraint, load),
        name=f"rod with {constraint} under {load} load",
        meanings=MEANINGS | (DEAD if load == "dead" else SPRING),
        accept_integrable=part.basis.size == 1,
    )


def _drawing(part: Rod, X: sm.Expr, constraint: str, load: str) -> Drawing:
    marks = [part.at(sm.Rational(k, DRAWN)) for k in range(1, DRAWN)] + [part.end]
    names = [f"s{k}" for k in range(1, DRAWN)] + ["end"]
    points: dict[str, Any] = {"block": (X, 0), **{name: (p.x, p.y) for name, p in zip(names, marks, strict=True)}}
    order = ["block", *names]
    kind = {"block": "block", "end": "skate" if constraint == "skate" else "bow"}
    angles = {"end": part.end.theta + (beta0 + sm.pi / 2 if constraint == "skate" else 0)}
    springs: list[tuple[str, str]] = []
    if load == "spring":
        points["wall"], kind["wall"] = (-L / 2, 0), "wall"
        springs = [("wall", "block")]
    return Drawing(
        points=points,
        curves=[order],
        marks=kind,
        angles=angles,
        springs=springs,
        arrows={"block": (F, 0)} if load == "dead" else {},
        traced=["end"],
    )
