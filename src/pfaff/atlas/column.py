"""The column of rigid bars that flutters under a dead load, and its two non-conservative twins.

Cazzolli, Dal Corso and Bigoni (2020), Non-holonomic constraints inducing flutter instability in
structures under conservative loadings, J. Mech. Phys. Solids; equation numbers below are theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement import TIME as t
from pfaff.statement import Drawing, System, coordinates
from pfaff.statement.values import one_of, truth, whole_number

MANY = 100  # bars that are stated in seconds
MEANINGS = {
    "L": "length of the column",
    "M": "mass of all bars",
    "k": "stiffness of a hinge, moment by angle",
    "k1": "stiffness of the hinge at the block",
    "d": "centre of mass of a bar, as a share of its length",
    "M_L": "mass at the end",
    "I_L": "moment of inertia at the end",
    "c_i": "viscosity of the hinges",
    "c_e": "external drag of the bars",
    "c_t": "drag at the end, against translation",
    "c_r": "drag at the end, against rotation",
    "M_X": "mass of the block",
    "beta0": "misalignment of the constraint [rad]",
    "F": "dead load",
    "K": "stiffness of the spring that pushes",
    "Delta": "by how much that spring is compressed",
    "X": "displacement of the block",
}
CONSTRAINTS = ("skate", "bow")
LOADS = ("dead", "spring")
CONTACTS = ("printed", "exact")


@dataclass(frozen=True)
class Chain:
    """The bars without their supports: symbols, kinematics, and the energies that all three columns share."""

    theta: list[sm.Expr]
    base: sm.Expr  # X of the block, or 0
    l: list[sm.Expr]
    m: list[sm.Expr]
    d: list[sm.Expr]
    k: list[sm.Expr]
    parameters: dict[sm.Symbol, object]

    def along(self, i: int, distance: sm.Expr) -> tuple[sm.Expr, sm.Expr]:
        """The point of bar i (from zero) at a distance from its left hinge, Eq. (6)."""
        bars = [(distance, self.theta[i]), *zip(self.l[:i], self.theta[:i], strict=True)]
        x = sm.Add(*(length * sm.cos(angle) for length, angle in bars))
        return self.base + x, sm.Add(*(length * sm.sin(angle) for length, angle in bars))

    def velocity(self, i: int, distance: sm.Expr) -> tuple[sm.Expr, sm.Expr]:
        """Velocity of the same point, written out since SymPy takes long to differentiate."""
        bars = [(distance, self.theta[i]), *zip(self.l[:i], self.theta[:i], strict=True)]
        x = sm.Add(*(-length * angle.diff(t) * sm.sin(angle) for length, angle in bars))
        return self.base.diff(t) + x, sm.Add(*(length * angle.diff(t) * sm.cos(angle) for length, angle in bars))

    def joints(self) -> list[tuple[sm.Expr, sm.Expr]]:
        """The left end, all hinges and the right end of the column, Eq. (7)."""
        return [(self.base, sm.Integer(0)), *(self.along(i, l) for i, l in enumerate(self.l))]

    def bend(self, i: int) -> sm.Expr:
        return self.theta[i] - (self.theta[i - 1] if i else 0)


M_L, I_L, M_X, c_i, c_e, c_t, c_r = sm.symbols("M_L I_L M_X c_i c_e c_t c_r", nonnegative=True)
beta0, F, Delta = sm.symbols("beta0 F Delta", real=True)
K = sm.Symbol("K", positive=True)


def column(
    bars: int = 2,
    constraint: str = "skate",
    load: str = "dead",
    *,
    individual: bool = False,
    contact: str = "printed",
) -> System:
    """N rigid bars on visco-elastic hinges behind a sliding block, ended by a skate or a violin bow.

    constraint
        ``"skate"``, Eq. (10), or ``"bow"``, Eq. (15), misaligned by ``beta0``.
    load
        ``"dead"``: the force F on the block. ``"spring"``: a spring K compressed by Delta.
    individual
        False: all bars are alike, of length L/N, mass M/N at d·L/N, stiffness k (k1 at the block);
        with the defaults L = M = k = 1 everything is dimensionless as in Eq. (50).
        True: l1…, m1…, d1…, k1… are parameters of their own.
    contact
        Of the bow: ``"printed"`` leaves out the term −X sin β0 θ̇_N that Eqs. (11)–(13) imply but
        Eq. (14) does not show; ``"exact"`` keeps it. They agree for β0 = 0.
    """
    _choose("constraint", constraint, CONSTRAINTS)
    _choose("load", load, LOADS)
    _choose("contact", contact, CONTACTS)
    (X,) = coordinates("X")
    chain = _chain(bars, X, individual)
    row = skate(chain) if constraint == "skate" else bow(chain, exact=contact == "exact")
    rates = [*(a.diff(t) for a in chain.theta), X.diff(t)]
    loading = {F: 0} if load == "dead" else {K: 1, Delta: 0}
    push = -F * X if load == "dead" else K * (X - Delta) ** 2 / 2
    picture = (
        _bars(chain, "block", "skate") if constraint == "skate" else _on_cylinder(_with_bow(chain, "block"), chain)
    )
    return System(
        coordinates=[*chain.theta, X],
        kinetic=_kinetic(chain) + M_X * X.diff(t) ** 2 / 2,
        potential=_elastic(chain) + push,
        dissipation=_dissipation(chain),
        nonholonomic_constraints=[sm.Add(*(a * rate for a, rate in zip(row, rates, strict=True)))],
        parameters={**chain.parameters, M_X: 0, beta0: 0, **loading},
        load=F if load == "dead" else Delta,
        drawing=replace(picture, arrows={"joint0": (F, 0)}) if load == "dead" else _behind_spring(picture, chain),
        name=f"column of {bars} bars with {constraint} under {load} load",
        meanings=_known(MEANINGS, chain.parameters, [M_X, beta0, *loading, *chain.theta, X]),
        accept_integrable=bars == 1,  # two coordinates and one relation: always integrable
    )


def ziegler(bars: int = 2, *, individual: bool = False) -> System:
    """The same bars on a fixed hinge, pushed by a force F that follows the last bar (Ziegler 1952)."""
    chain = _chain(bars, sm.Integer(0), individual)
    last = chain.theta[-1] + beta0
    follower = {f"joint{bars}": (-F * sm.cos(last), -F * sm.sin(last))}
    return _pushed(chain, "ziegler", skate(chain), replace(_bars(chain, "ground", "mass"), arrows=follower))


def reut(bars: int = 2, *, individual: bool = False) -> System:
    """The same bars on a fixed hinge, pushed by a force F on the fixed line of the straight column (Reut 1939)."""
    chain = _chain(bars, sm.Integer(0), individual)
    fixed_line = {"contact": (-F * sm.cos(beta0), -F * sm.sin(beta0))}
    return _pushed(chain, "reut", bow(chain), replace(_with_bow(chain, "ground"), arrows=fixed_line))


def _known(meanings: dict[str, str], *groups: Iterable[Any]) -> dict[str, str]:
    """The meanings of those symbols and coordinates that there are."""
    names = list(
        dict.fromkeys(getattr(each, "name", None) or type(each).__name__ for group in groups for each in group)
    )
    bars = {name: f"rotation of bar {name[5:]} [rad]" for name in names if name.startswith("theta")}
    return {name: text for name, text in meanings.items() if name in names} | bars


def _pushed(chain: Chain, name: str, row: list[sm.Expr], drawing: Drawing) -> System:
    return System(
        coordinates=chain.theta,
        kinetic=_kinetic(chain),
        potential=_elastic(chain),
        dissipation=_dissipation(chain),
        forces={angle: -F * a for angle, a in zip(chain.theta, row[:-1], strict=True)},
        parameters={**chain.parameters, beta0: 0, F: 0},
        load=F,
        meanings=_known(MEANINGS, chain.parameters, [beta0, F, *chain.theta]),
        drawing=drawing,
        name=f"{name} column of {len(chain.theta)} bars",
    )


def skate(chain: Chain) -> list[sm.Expr]:
    """Eq. (10): the velocity of the end has no component along the last bar turned by β0."""
    last = chain.theta[-1] + beta0
    arms = [l * sm.sin(last - a) for l, a in zip(chain.l[:-1], chain.theta[:-1], strict=True)]
    return [*arms, chain.l[-1] * sm.sin(beta0), sm.cos(last)]


def bow(chain: Chain, exact: bool = False) -> list[sm.Expr]:
    """Eq. (15), without its spurious factor l_N; ``exact`` adds the term −X sin β0 of Eqs. (11)–(13)."""
    arms = [l * sm.sin(beta0 - a) for l, a in zip(chain.l[:-1], chain.theta[:-1], strict=True)]
    lever = sm.Add(*chain.l) - (chain.base if exact else 0)
    return [*arms, lever * sm.sin(beta0) - sm.Add(*arms), sm.cos(beta0)]


def _chain(bars: int, base: sm.Expr, individual: bool) -> Chain:
    remedy = "pfaff.atlas.column_assembly is the column of very many bars, on a skate or bow"
    whole_number("bars", bars, 1, MANY, remedy, StatementError)
    theta = coordinates(" ".join(f"theta{i + 1}" for i in range(bars)))
    shared: dict[sm.Symbol, object] = {M_L: 0, I_L: 0, c_i: 0, c_e: 0, c_t: 0, c_r: 0}
    if truth("individual", individual):
        l, k = ([sm.Symbol(f"{x}{i + 1}", positive=True) for i in range(bars)] for x in "lk")
        m, d = ([sm.Symbol(f"{x}{i + 1}", nonnegative=True) for i in range(bars)] for x in "md")
        share = sm.Rational(1, bars)
        own = {
            **dict.fromkeys(l, share),
            **dict.fromkeys(m, share),
            **dict.fromkeys(d, share / 2),
            **dict.fromkeys(k, 1),
        }
        return Chain(theta, base, l, m, d, k, {**own, **shared})
    L, M, k1, kk = sm.symbols("L M k1 k", positive=True)
    dd = sm.Symbol("d", nonnegative=True)
    own = {dd: sm.Rational(1, 2), k1: 1, L: 1, M: 1, kk: 1}
    alike = [L / bars] * bars, [M / bars] * bars, [dd * L / bars] * bars, [k1] + [kk] * (bars - 1)
    return Chain(theta, base, *alike, {**own, **shared})


def _kinetic(chain: Chain) -> sm.Expr:
    """Eq. (18) but for the block."""
    masses = sm.Add(*(m * _dot(chain.velocity(i, d)) for i, (m, d) in enumerate(zip(chain.m, chain.d, strict=True))))
    end = M_L * _dot(chain.velocity(-1, chain.l[-1])) + I_L * chain.theta[-1].diff(t) ** 2
    return (masses + end) / 2


def _elastic(chain: Chain) -> sm.Expr:
    """Eq. (16) but for the load."""
    return sm.Add(*(k * chain.bend(i) ** 2 for i, k in enumerate(chain.k))) / 2


def _dissipation(chain: Chain) -> sm.Expr:
    """Eq. (19); the drag c_e on a bar that moves with velocities u and w at its ends is l(u² + u·w + w²)/3."""
    ends = [(chain.base.diff(t), sm.Integer(0)), *(chain.velocity(i, l) for i, l in enumerate(chain.l))]
    drag = sm.Add(
        *(l * (_dot(u) + _dot(u, w) + _dot(w)) / 3 for l, (u, w) in zip(chain.l, pairwise(ends), strict=True))
    )
    hinges = sm.Add(*(chain.bend(i).diff(t) ** 2 for i in range(len(chain.theta))))
    end = c_t * _dot(ends[-1]) + c_r * chain.theta[-1].diff(t) ** 2
    return (c_e * drag + c_i * hinges + end) / 2


def _dot(u: tuple[sm.Expr, sm.Expr], w: tuple[sm.Expr, sm.Expr] | None = None) -> sm.Expr:
    w = u if w is None else w
    return u[0] * w[0] + u[1] * w[1]


def _bars(chain: Chain, start: str, end: str) -> Drawing:
    last = len(chain.theta)
    points = {f"joint{i}": point for i, point in enumerate(chain.joints())}
    return Drawing(
        points=points,
        links=[(f"joint{i}", f"joint{i + 1}") for i in range(last)],
        marks={**dict.fromkeys(points, "hinge"), "joint0": start, f"joint{last}": end},
        angles={f"joint{last}": chain.theta[-1] + (beta0 + sm.pi / 2 if end == "skate" else 0)},
        traced=[f"joint{last}"],
    )


def _with_bow(chain: Chain, start: str) -> Drawing:
    """The end is T-shaped and touches the line through (L, 0) that is inclined by β0, Eq. (11)."""
    bars = _bars(chain, start, "bow")
    last, (x, y) = chain.theta[-1], chain.joints()[-1]
    below = (y * sm.cos(beta0) + (sm.Add(*chain.l) - x) * sm.sin(beta0)) / sm.cos(last - beta0)
    contact = (x + below * sm.sin(last), y - below * sm.cos(last))
    return replace(bars, points={**bars.points, "contact": contact}, marks={**bars.marks, "contact": "contact"})


def _on_cylinder(drawing: Drawing, chain: Chain) -> Drawing:
    return replace(
        drawing,
        points={**drawing.points, "cylinder": (sm.Add(*chain.l), sm.Integer(0))},
        marks={**drawing.marks, "cylinder": "cylinder"},
        angles={**drawing.angles, "cylinder": beta0},
    )


def _behind_spring(drawing: Drawing, chain: Chain) -> Drawing:
    """The wall stands where the imposed displacement has brought it; half a column away is as good as anywhere."""
    return replace(
        drawing,
        points={**drawing.points, "wall": (-sm.Add(*chain.l) / 2, sm.Integer(0))},
        marks={**drawing.marks, "wall": "wall"},
        springs=[("wall", "joint0")],
    )


def _choose(what: str, given: str, known: tuple[str, ...]) -> None:
    one_of(known, given, f"unknown {what}", StatementError)
