"""Seeded random mechanical systems of two to five coordinates, all numbers of order one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sm

from cross.mechanics import Change, Mechanics, t

F, c = sm.Symbol("F", real=True), sm.Symbol("c", nonnegative=True)


@dataclass(frozen=True)
class Draw:
    """Random numbers with three digits, and random functions of the coordinates."""

    rng: np.random.Generator

    def number(self, low: float, high: float) -> sm.Rational:
        return sm.Rational(int(self.rng.integers(round(1000 * low), round(1000 * high) + 1)), 1000)

    def either(self, low: float, high: float) -> sm.Rational:
        """Of either sign."""
        return self.number(low, high) * int(self.rng.choice([-1, 1]))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, among: Sequence[sm.Symbol]) -> sm.Symbol:
        return among[int(self.rng.integers(len(among)))]

    def function(self, q: Sequence[sm.Symbol]) -> sm.Expr:
        """Of order one, smooth, of one or two coordinates."""
        a, b = self.one(q), self.one(q)
        kinds = (
            lambda: sm.sin(a + self.either(0, 1)),
            lambda: sm.cos(a - b / 2),
            lambda: a + self.either(0.1, 0.5) * b**2,
            lambda: a * b - self.either(0.1, 0.5),
            lambda: sm.exp(-(a**2) / 4) * sm.cos(b),
            lambda: 1 / (2 + sm.sin(a)),
        )
        return kinds[int(self.rng.integers(len(kinds)))]()


def symbols(n: int) -> tuple[sm.Symbol, ...]:
    return tuple(sm.Symbol(f"x{i + 1}", real=True) for i in range(n))


def kinetic(draw: Draw, q: Sequence[sm.Symbol], v: Sequence[sm.Symbol], seen: Sequence[sm.Symbol]) -> sm.Expr:
    """Squares of independent combinations of velocities whose coefficients depend on the configuration ``seen``."""
    total = sm.S.Zero
    for i, rate in enumerate(v):
        row = rate
        if draw.chance(0.5):
            row *= 1 + draw.number(0.1, 0.4) * sm.sin(draw.one(seen) + draw.either(0, 1))
        row += sum(draw.either(0.1, 0.6) * draw.function(seen) * v[j] for j in range(i) if draw.chance(0.5))
        total += draw.number(0.4, 2.5) * row**2 / 2
    return total


def elastic(draw: Draw, q: Sequence[sm.Symbol]) -> sm.Expr:
    """Springs between the coordinates, with cubic, quartic and trigonometric terms, without force at the origin."""
    total = sum(
        draw.number(0.5, 3) * (q[i] - sum(draw.either(0.1, 0.8) * q[j] for j in range(i) if draw.chance(0.6))) ** 2 / 2
        for i in range(len(q))
    )
    total += draw.either(0.1, 0.5) * draw.one(q) ** 2 * draw.one(q)
    total += draw.number(0.1, 0.5) * draw.one(q) ** 4
    if draw.chance(0.5):
        total += draw.either(0.1, 0.5) * (1 - sm.cos(draw.one(q) + draw.either(0.5, 1) * draw.one(q)))
    return total


def dissipation(draw: Draw, q: Sequence[sm.Symbol], v: Sequence[sm.Symbol]) -> sm.Expr:
    """Rayleigh's function times c, complete (every velocity is damped) and, now and then, not quadratic."""
    total = sum(draw.number(0.2, 1) * rate**2 / 2 for rate in v)
    if draw.chance(0.5):
        total += draw.number(0.1, 0.5) * (draw.function(q) * draw.one(v) - draw.one(v)) ** 2 / 2
    if draw.chance(0.3):
        total += draw.number(0.1, 0.5) * draw.one(v) ** 4 / 4
    return c * total


def rolling(
    draw: Draw, v: Sequence[sm.Symbol], pivots: Sequence[int], seen: Sequence[sm.Symbol], drift: bool
) -> tuple[sm.Expr, ...]:
    """Rows A(q) v + b(q), each with a velocity of its own that it can be solved for."""
    rows = []
    for k in pivots:
        others = [j for j in range(len(v)) if j not in pivots]
        row = (1 + draw.number(0.1, 0.3) * sm.sin(draw.one(seen))) * v[k]
        for j in others:
            if draw.chance(0.8) or j == others[0]:
                row += (draw.either(0.1, 0.8) + draw.either(0.2, 0.6) * draw.function(seen)) * v[j]
        if drift:
            row += draw.either(0.2, 0.7) * (seen[k] + draw.either(0.1, 0.5) * draw.one(seen) ** 2)
        rows.append(row)
    return tuple(rows)


def held(draw: Draw, q: Sequence[sm.Symbol], pivot: int) -> sm.Expr:
    """φ(q) with φ(0) = 0 that can be solved for one coordinate."""
    others = [x for i, x in enumerate(q) if i != pivot]
    a, b = draw.one(others), draw.one(others)
    return q[pivot] - draw.either(0.2, 0.8) * sm.sin(a) + draw.either(0.1, 0.4) * a * b


def loading(draw: Draw, q: Sequence[sm.Symbol]) -> tuple[sm.Expr, dict[sm.Symbol, sm.Expr]]:
    """A potential and forces by the load F: dead, geometric and circulatory parts."""
    dead = sum(draw.either(0.02, 0.3) * x for x in q if draw.chance(0.5))
    geometric = sum(draw.either(0.05, 0.5) * draw.one(q) * draw.one(q) for _ in range(2))
    forces: dict[sm.Symbol, sm.Expr] = {}
    if draw.chance(0.7):
        i, j = draw.rng.choice(len(q), 2, replace=False)
        follow = draw.number(0.3, 1.2)
        forces = {q[i]: F * follow * sm.sin(q[j]), q[j]: -F * follow * draw.number(0.5, 1.5) * q[i]}
    return F * (dead + geometric), forces


def at_rest(seed: int, damped: bool | None = None, rolls: bool = True, drift: bool = True) -> Mechanics:
    """A system with an equilibrium near the origin and a load F, for equilibria, spectra and critical loads.

    ``drift`` lets rows that roll have a b(q) now and then.
    """
    draw = Draw(np.random.default_rng([seed, 1]))
    n = int(draw.rng.integers(2, 6))
    m = int(draw.rng.integers(0, min(2, n - 1) + 1)) if rolls else 0
    h = int(draw.rng.integers(0, 2)) if n - m > 1 else 0
    q = symbols(n)
    model = Mechanics(q, sm.S.Zero, sm.S.Zero)
    places = [int(i) for i in draw.rng.permutation(n)]
    push, forces = loading(draw, q)
    damped = draw.chance(0.6) if damped is None else damped
    return Mechanics(
        q,
        kinetic=kinetic(draw, q, model.v, q),
        potential=elastic(draw, q) + push,
        dissipation=dissipation(draw, q, model.v) if damped else sm.S.Zero,
        forces=forces,
        rolling=rolling(draw, model.v, places[:m], q, drift and draw.chance(0.2)),
        held=(held(draw, q, places[m]),) if h else (),
        parameters={F: 0, c: float(draw.number(0.05, 0.4))} if damped else {F: 0},
        load=F,
        name=f"random system {seed}",
    )


def moving(seed: int) -> Mechanics:
    """A system for motions: gyroscopic terms and explicit time may join."""
    draw, rest = Draw(np.random.default_rng([seed, 2])), at_rest(seed)
    kinetic_, forces = rest.kinetic, dict(rest.forces)
    if draw.chance(0.3):
        kinetic_ += draw.either(0.1, 0.5) * draw.function(rest.q) * draw.one(rest.v)
    if draw.chance(0.3):
        pushed = draw.one(rest.q)
        forces[pushed] = forces.get(pushed, sm.S.Zero) + draw.either(0.1, 0.4) * sm.cos(draw.number(0.5, 2) * t)
    return Mechanics(
        rest.q,
        kinetic_,
        rest.potential,
        rest.dissipation,
        forces,
        rest.rolling,
        rest.held,
        {**rest.parameters, F: float(draw.number(0.05, 0.5))},
        rest.load,
        name=rest.name,
    )


def carriage(seed: int, damped: bool = True) -> Mechanics:
    """Bodies on a carriage X that a dead load pushes against a skate, as in the column: A(q) q̇ + a(q) Ẋ = 0."""
    draw = Draw(np.random.default_rng([seed, 3]))
    n = int(draw.rng.integers(2, 4))
    q, X = symbols(n), sm.Symbol("X", real=True)
    model = Mechanics((*q, X), sm.S.Zero, sm.S.Zero)
    v = model.v
    arms = sum(
        (draw.number(0.5, 1.5) * sm.sin(q[-1] - x) + draw.either(0, 0.3) * draw.one(q)) * rate
        for x, rate in zip(q[:-1], v, strict=False)
    )
    bent = draw.either(0.02, 0.15) if draw.chance(0.5) else 0
    skate = sm.cos(q[-1]) * v[-1] + arms + (bent + draw.either(0, 0.2) * draw.one(q)) * v[-2]
    return Mechanics(
        (*q, X),
        kinetic=kinetic(draw, (*q, X), v, q),
        potential=elastic(draw, q) - F * X,
        dissipation=dissipation(draw, q, v) if damped else sm.S.Zero,
        rolling=(skate,),
        parameters={F: 0, c: float(draw.number(0.05, 0.3))} if damped else {F: 0},
        load=F,
        name=f"random carriage {seed}",
    )


def other_words(old: Mechanics, seed: int, decades: float = 3.0, bent: bool = True) -> Change:
    """The same system otherwise: units over decades, order, signs, origins, bent coordinates, mixed rows, names."""
    draw = Draw(np.random.default_rng([seed, 4]))
    rng, m, h = draw.rng, len(old.rolling), len(old.held)
    new = tuple(sm.Symbol(f"y{i + 1}", real=True) for i in rng.permutation(len(old.q)))
    shape = {}
    for k, q in enumerate(old.q):
        scale = sm.Float(rng.choice([-1, 1]) * 10 ** rng.uniform(-decades, decades))
        Q = scale * sm.Symbol(f"y{k + 1}", real=True)
        ignorable = not bent or not any(e.has(q) for e in (old.kinetic, old.dissipation, *old.rolling, *old.held))
        shape[q] = Q if ignorable else [Q, Q - draw.either(0.1, 0.4), Q + Q**3 / 5, sm.asinh(Q)][rng.integers(4)]
    mix = sm.Matrix(m, m, lambda i, j: draw.either(0.5, 2) if i == j else draw.either(0, 0.4)) if m else None
    if mix is not None and draw.chance(0.5):
        mix = mix * (2 + sm.sin(old.q[0])) * sm.Float(10 ** rng.uniform(-decades, decades))
    return Change(
        old,
        new,
        shape,
        time=float(10 ** rng.uniform(-decades, decades)),
        energy=float(10 ** rng.uniform(-2 * decades, 2 * decades)),
        load=float(10 ** rng.uniform(-decades, decades)),
        mix=mix,
        add=sm.Matrix(m, h, lambda i, j: draw.either(0, 1)) if m and h else None,
        factor=sm.Float(10 ** rng.uniform(-decades, decades)) * (2 + sm.cos(old.q[-1])) if h else sm.S.One,
        renamed={old.load: sm.Symbol("load", real=True), c: sm.Symbol("a_damping", nonnegative=True)},
    )
