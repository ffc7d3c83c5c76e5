"""Systems as people state them, and other natural ways to state the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sm

import pfaff
from cross.dae import Equations
from cross.mechanics import Change, Mechanics, mechanics_of, t, units, velocity

half, third = sm.Rational(1, 2), sm.Rational(1, 3)


def symbols(names: str) -> Any:
    return sm.symbols(names, real=True)


def rate(expression: Any, q: Sequence[sm.Symbol]) -> Any:
    """The total derivative by time of an expression in plain coordinates."""
    return sum((expression.diff(each) * velocity(each) for each in q), start=sm.diff(expression, t))


@dataclass(frozen=True, eq=False)
class Restated:
    """A system stated otherwise: its time, load and coordinates by those of the first statement."""

    change: Change
    mechanics: Mechanics
    extra: tuple[sm.Expr, ...] = ()  # further coordinates, by the old ones

    @cached_property
    def system(self) -> pfaff.System:
        return self.mechanics.system

    @property
    def old(self) -> Mechanics:
        return self.change.old

    def at(self, **values: float) -> pfaff.Case:
        """The case, with the load in units of the first statement."""
        load = self.old.load
        if load is not None and load.name in values:
            values[load.name] /= self.change.load
        return self.system.at(**values)

    def forth(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """A state in the new words."""
        Q, V = self.change.forth(q, v)
        more = sm.Matrix([*self.extra]) if self.extra else sm.zeros(0, 1)
        words = dict(zip(self.old.q, q.tolist(), strict=True)) | dict(self.old.parameters)
        places = np.array(more.subs(words), dtype=float).ravel()
        J = np.array(more.jacobian(self.old.q).subs(words), dtype=float) if self.extra else np.zeros((0, len(q)))
        return np.concatenate([Q, places, V, J @ v * self.change.time])


def as_it_is(old: Mechanics) -> Restated:
    change = Change(old, old.q, {q: q for q in old.q})
    return Restated(change, change.mechanics)


def reworded(old: Mechanics, **parts: Any) -> Restated:
    return Restated(Change(old, old.q, {q: q for q in old.q}), replace(old, **parts))


def everywhere(old: Mechanics, change: Callable[[Any], Any]) -> Restated:
    return reworded(
        old,
        kinetic=change(old.kinetic),
        potential=change(sm.sympify(old.potential)),
        dissipation=change(sm.sympify(old.dissipation)),
        forces={q: change(force) for q, force in old.forces.items()},
        rolling=tuple(change(row) for row in old.rolling),
        held=tuple(change(row) for row in old.held),
    )


def expanded(old: Mechanics) -> Restated:
    return everywhere(old, sm.expand)


def sines_as_cosines(old: Mechanics) -> Restated:
    return everywhere(old, lambda each: each.replace(sm.sin, lambda a: sm.cos(a - sm.pi / 2, evaluate=False)))


def by_identities(old: Mechanics) -> Restated:
    """Every term times sin² + cos² of a coordinate, as energies made from frames are before they are simplified."""
    ones = [sm.Add(sm.sin(q) ** 2, sm.cos(q) ** 2, evaluate=False) for q in old.q]
    return reworded(
        old,
        kinetic=sum(term * ones[k % len(ones)] for k, term in enumerate(sm.Add.make_args(sm.expand(old.kinetic)))),
        potential=sum(term * ones[k % len(ones)] for k, term in enumerate(sm.Add.make_args(sm.sympify(old.potential)))),
        rolling=tuple(row * ones[-1] for row in old.rolling),
    )


def gauged(old: Mechanics) -> Restated:
    """T with the total derivative of a function of the coordinates, which no motion feels."""
    return reworded(old, kinetic=old.kinetic + rate(old.q[-1] * sm.sin(old.q[0]) + old.q[0] ** 2, old.q))


def rows_times_functions(old: Mechanics) -> Restated:
    factors = [sm.exp(old.q[-1] / 3), 2 + sm.cos(old.q[0]), 1 + old.q[0] ** 2]
    return reworded(old, rolling=tuple(row * factors[k % 3] for k, row in enumerate(old.rolling)))


def rows_mixed(old: Mechanics) -> Restated:
    m = len(old.rolling)
    mix = sm.eye(m) + sm.Matrix(m, m, lambda i, j: (sm.cos(old.q[0]) if i < j else half) * int(i != j) / 3)
    return reworded(old, rolling=tuple(mix * sm.Matrix(m, 1, old.rolling)))


def a_row_too_many(old: Mechanics) -> Restated:
    """A row that follows from the others, but only by cos² + sin² = 1."""
    q, row = old.q[0], sum(old.rolling)
    again = sm.expand(sm.cos(q) * (sm.cos(q) * row) + sm.sin(q) * (sm.sin(q) * row))
    return reworded(old, rolling=(*old.rolling, again))


def in_floats(old: Mechanics) -> Restated:
    new = everywhere(
        old, lambda each: each.replace(lambda n: n.is_Rational and not n.is_Integer, lambda n: sm.Float(n))
    )
    return replace(new, mechanics=replace(new.mechanics, parameters={p: float(v) for p, v in old.parameters.items()}))


def reordered(old: Mechanics) -> Restated:
    new = tuple(reversed(old.q))
    change = Change(old, new, {q: q for q in old.q})
    return Restated(change, change.mechanics)


def shifted(old: Mechanics) -> Restated:
    """Every coordinate counted from elsewhere; equilibria are looked for near the origin, so not by much."""
    change = Change(old, old.q, {q: q + sm.Rational(k + 1, 20) for k, q in enumerate(old.q)})
    return Restated(change, change.mechanics)


def mixed_linearly(old: Mechanics) -> Restated:
    n = len(old.q)
    mix = sm.eye(n) + sm.Matrix(n, n, lambda i, j: sm.Rational((-1) ** i * (1 + i + 2 * j), 9) * int(i != j) / n)
    change = Change(old, old.q, dict(zip(old.q, mix * sm.Matrix(old.q), strict=True)))
    return Restated(change, change.mechanics)


def turned(old: Mechanics) -> Restated:
    """The last two coordinates in a frame turned by 0.3 rad."""
    (x, y), c, s = old.q[-2:], sm.cos(sm.Float("0.3")), sm.sin(sm.Float("0.3"))
    change = Change(old, old.q, {q: q for q in old.q} | {x: c * x - s * y, y: s * x + c * y})
    return Restated(change, change.mechanics)


def in_other_units(old: Mechanics) -> Restated:
    scales = [1e3 if k % 2 else 1e-2 for k in range(len(old.q))]
    change = units(old, scales, time=0.1, energy=1e4, load=10.0 if old.load is not None else 1.0)
    return Restated(change, change.mechanics)


def with_a_coordinate_more(old: Mechanics) -> Restated:
    """A place with a name of its own, z = g(q), held by a holonomic constraint and used in the potential."""
    z, last = symbols("z_more"), old.q[-1]
    bend = last + old.q[0] ** 2 / 3
    potential = sm.sympify(old.potential).xreplace({last: z - old.q[0] ** 2 / 3})
    change = Change(old, old.q, {q: q for q in old.q})
    new = replace(old, q=(*old.q, z), potential=potential, held=(*old.held, z - bend))
    return Restated(change, new, (bend,))


RESTATEMENTS: Mapping[str, Callable[[Mechanics], Restated]] = {
    each.__name__: each
    for each in (
        expanded, sines_as_cosines, by_identities, gauged, rows_times_functions, rows_mixed, a_row_too_many, in_floats,
        reordered, shifted, mixed_linearly, turned, in_other_units, with_a_coordinate_more,
    )
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Example:
    """A system, what is asked about it, and restatements that do not apply to it."""

    of: Mechanics
    asked: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()


def column() -> Example:
    stated = pfaff.atlas.column(2)
    given = {"d": 0.5, "M_L": 15, "I_L": 15, "k1": 50, "c_i": 1.5}
    of = mechanics_of(stated)
    of = replace(of, parameters={p: given.get(p.name, v) for p, v in of.parameters.items()})
    return Example(
        of,
        ("accelerations", "classification", "equilibrium", "spectrum", "critical", "hopf", "cycle"),
        {"load": 60.0, "cycle": 80.0, "determined": [0, 1]},
    )


def sleigh() -> Example:
    """The README's, pushed sideways against its blade, with some damping."""
    x, y, phi = q = symbols("x y phi")
    m, I, a, k, F, c = sm.symbols("m I a k F c", positive=True)
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    speed = sm.Matrix([rate(each, q) for each in centre])
    return Example(
        Mechanics(
            q,
            m * speed.dot(speed) / 2 + I * velocity(phi) ** 2 / 2,
            k * (x + a * sm.sin(phi)) ** 2 / 2 + k * phi**2 / 4 - F * y,
            c * (velocity(phi) ** 2 + velocity(x) ** 2) / 2,
            rolling=(velocity(y) * sm.cos(phi) - velocity(x) * sm.sin(phi),),
            parameters={m: 1, I: sm.Rational(1, 4), a: half, k: 1, F: sm.Rational(1, 10), c: sm.Rational(1, 10)},
            load=F,
            name="sleigh",
        ),
        ("accelerations", "classification", "equilibrium", "spectrum", "critical", "hopf", "cycle"),
        {"load": 0.3, "cycle": 0.55, "determined": [0, 2]},
    )


def follower() -> Example:
    """Two bars under a follower force, with damping."""
    a, b = q = symbols("a b")
    P, c = sm.symbols("P c", nonnegative=True)
    first = sm.Matrix([sm.cos(a), sm.sin(a)])
    second = first + sm.Matrix([sm.cos(b), sm.sin(b)])
    speeds = [sm.Matrix([rate(each, q) for each in point]) for point in (first, second)]
    push = -P * sm.Matrix([sm.cos(b), sm.sin(b)])
    return Example(
        Mechanics(
            q,
            speeds[0].dot(speeds[0]) + speeds[1].dot(speeds[1]) / 2,
            a**2 / 2 + (b - a) ** 2 / 2,
            c * (velocity(a) ** 2 + (velocity(b) - velocity(a)) ** 2) / 2,
            {each: push.dot(second.diff(each)) for each in q},
            parameters={P: 0, c: sm.Rational(1, 5)},
            load=P,
            name="follower",
        ),
        ("accelerations", "equilibrium", "spectrum", "critical", "hopf"),
        {"load": 0.5},
    )


def wheel_at_the_tip() -> Example:
    """Three bars with a wheel at the tip: mirror-symmetric, with cycles that are unstable from birth."""
    a, b, c = q = symbols("a b c")
    F, d = sm.symbols("F d", nonnegative=True)
    points, at = [], sm.zeros(2, 1)
    for each in q:
        at = at + sm.Matrix([sm.cos(each), sm.sin(each)])
        points.append(at)
    speeds = [sm.Matrix([rate(each, q) for each in point]) for point in points]
    along = sm.Matrix([sm.cos(b), sm.sin(b)])
    return Example(
        Mechanics(
            q,
            sum(each.dot(each) for each in speeds) / 2,
            (a**2 + (b - a) ** 2 + (c - b) ** 2) / 2,
            d * (velocity(c) - velocity(b)) ** 2 / 2,
            {y: -F * along.dot(points[1].diff(y)) for y in q},
            (speeds[2].dot(sm.Matrix([-sm.sin(c), sm.cos(c)])),),
            parameters={F: 0, d: sm.Rational(1, 10)},
            load=F,
            name="wheel",
        ),
        ("accelerations", "equilibrium", "spectrum", "critical", "hopf"),
        {"load": 0.2},
        ("shifted",),  # the origin must be the member of the family that the load leaves at rest
    )


def towed() -> Example:
    of = mechanics_of(pfaff.atlas.towed_wheel())
    return Example(of, ("accelerations", "equilibrium", "spectrum", "critical", "hopf"), {"load": 1.0})


def disc() -> Example:
    """A disc that rolls upright; every speed but the spin is zero."""
    of = mechanics_of(pfaff.atlas.rolling_disc())
    speeds = {"spin": velocity(of.q[-1]), "turn": velocity(of.q[2])}
    asked = ("accelerations", "classification", "steady")
    return Example(replace(of, quasi=speeds), asked, {"speeds": {"spin": 3.0, "turn": 0.0}})


def drive() -> Example:
    """A robot on two driven wheels, with their angles: every row as one reads it off the contact points."""
    x, y, psi, left, right = q = symbols("x y psi left right")
    m, J, C, r, w, a = sm.symbols("m J C r w a", positive=True)
    ahead, aside = sm.Matrix([sm.cos(psi), sm.sin(psi)]), sm.Matrix([-sm.sin(psi), sm.cos(psi)])
    centre = sm.Matrix([x, y]) + a * ahead
    speed = sm.Matrix([rate(each, q) for each in centre])
    hubs = [sm.Matrix([x, y]) + side * w * aside for side in (1, -1)]
    moving = [sm.Matrix([rate(each, q) for each in hub]) for hub in hubs]
    rolls = [moving[k].dot(ahead) - r * velocity((left, right)[k]) for k in (0, 1)]
    return Example(
        Mechanics(
            q,
            m * speed.dot(speed) / 2
            + J * velocity(psi) ** 2 / 2
            + C * (velocity(left) ** 2 + velocity(right) ** 2) / 2,
            sm.S.Zero,
            sm.Rational(1, 20) * (velocity(left) ** 2 + velocity(right) ** 2),
            rolling=(*rolls, moving[0].dot(aside)),
            parameters={m: 3, J: half, C: sm.Rational(1, 10), r: third, w: sm.Rational(2, 5), a: sm.Rational(1, 7)},
            name="drive",
            quasi={"v": velocity(x) * sm.cos(psi) + velocity(y) * sm.sin(psi), "turn": velocity(psi)},
        ),
        ("accelerations", "classification"),
    )


def blade() -> Example:
    """Chaplygin's sleigh: straight ahead with the centre of mass in front."""
    x, y, phi = q = symbols("x y phi")
    centre = sm.Matrix([x + sm.cos(phi) / 3, y + sm.sin(phi) / 3])
    speed = sm.Matrix([rate(each, q) for each in centre])
    return Example(
        Mechanics(
            q,
            speed.dot(speed) / 2 + velocity(phi) ** 2 / 8,
            sm.S.Zero,
            rolling=(velocity(y) * sm.cos(phi) - velocity(x) * sm.sin(phi),),
            name="blade",
            quasi={"v": velocity(x) * sm.cos(phi) + velocity(y) * sm.sin(phi)},
        ),
        ("accelerations", "classification", "steady"),
        {"speeds": {"v": 2.0}},
    )


def rotating() -> Example:
    """Two springs in a rotating frame: T has terms linear in the velocities."""
    x, y = q = symbols("x y")
    T = ((velocity(x) - half * y) ** 2 + (velocity(y) + half * x) ** 2) / 2
    V = sm.Rational(3, 2) * x**2 + 2 * y**2 + x**4 / 4 + x**2 * y**2 / 3
    return Example(Mechanics(q, T, V, name="rotating"), ("accelerations", "spectrum", "mode"), {"energy": 1.0})


def pendulum() -> Example:
    """A double pendulum in Cartesian coordinates."""
    x1, y1, x2, y2 = q = symbols("x1 y1 x2 y2")
    held = (x1**2 + (y1 - 1) ** 2 - 1, (x2 - x1) ** 2 + (y2 - 1 - y1) ** 2 - 1)
    return Example(
        Mechanics(q, sum(velocity(z) ** 2 for z in q) / 2, y1 + y2, held=held, name="pendulum"),
        ("accelerations", "spectrum", "mode"),
        {"energy": 0.5},
    )


def shaken() -> Example:
    """A pendulum on a cart that is driven along a rail without springs: the cart's place does not matter."""
    x, theta = q = symbols("x theta")
    Omega, F = sm.symbols("Omega F", positive=True)
    bob = sm.Matrix([x + sm.sin(theta), -sm.cos(theta)])
    speed = sm.Matrix([rate(each, q) for each in bob])
    return Example(
        Mechanics(
            q,
            velocity(x) ** 2 + speed.dot(speed) / 2,
            -sm.cos(theta),
            (velocity(x) ** 2 + velocity(theta) ** 2) / 10,
            {x: F * sm.cos(Omega * t)},
            parameters={Omega: sm.Rational(3, 5), F: sm.Rational(1, 20)},
            name="shaken",
        ),
        ("accelerations", "response"),
        {"parameter": "Omega", "to": 0.8},
        ("in_other_units", "shifted"),
    )


EXAMPLES: Mapping[str, Callable[[], Example]] = {
    each.__name__: each
    for each in (column, sleigh, follower, wheel_at_the_tip, towed, disc, drive, blade, rotating, pendulum, shaken)
}


def states(of: Mechanics, count: int = 3) -> list[tuple[np.ndarray, np.ndarray]]:
    """Seeded random states that obey the rows, by least squares."""
    rng, equations = np.random.default_rng(1877), Equations(of)
    rows = sm.Matrix(len(equations.rows), 1, equations.rows)
    A = sm.Matrix(len(equations.rows), len(of.q), lambda i, j: rows[i].diff(of.v[j]))
    b = rows.xreplace(dict.fromkeys(of.v, sm.S.Zero))
    phi = sm.Matrix(len(of.held), 1, list(of.held))
    D = phi.jacobian(of.q) if of.held else sm.zeros(0, len(of.q))
    given = [of.q, list(of.parameters), t]
    measure = sm.lambdify(given, [A.tolist(), list(b), list(phi), D.tolist()], "numpy")
    found = []
    for _ in range(count):
        q, v = rng.uniform(-0.4, 0.4, len(of.q)), rng.uniform(-1, 1, len(of.q))
        for _ in range(30 if of.held else 0):
            held, slopes = (np.array(each, dtype=float) for each in measure(q, of.values, 0.0)[2:])
            q = q - np.linalg.lstsq(slopes, held, rcond=None)[0]
        rates, drift = (np.array(each, dtype=float) for each in measure(q, of.values, 0.0)[:2])
        if len(rates):
            v = v - np.linalg.lstsq(rates, rates @ v + drift, rcond=None)[0]
        found.append((q, v))
    return found
