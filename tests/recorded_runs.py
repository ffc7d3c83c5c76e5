"""Runs that the flight recorder writes down: mechanical systems and plain ODEs, every kind of branch and curve.

A system is a function of ``run``, which is called with a name and what to compute; it gives back the result, or None
where that failed. ``around`` asks for everything that follows from one branch of equilibria.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff

Run = Callable[[str, Callable[[], Any]], Any]
SYSTEMS: dict[str, Callable[[Run], None]] = {}
x, y, z, w, u, v = sm.symbols("x y z w u v", real=True)
a, b, c, d, mu, nu = sm.symbols("a b c d mu nu", real=True)
XI = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50}
CYCLES, SPECIAL = 60, 2  # orbits on a branch, and special points of a kind from which curves are followed


def system(describe: Callable[[Run], None]) -> Callable[[Run], None]:
    SYSTEMS[describe.__name__.replace("_", " ")] = describe
    return describe


def around(
    run: Run, case: Any, to: float, second: tuple[str, float] | None = None, start: Any = None,
    cycles: float | None = None, bounds: Any = None, step: float | None = None,
) -> Any:  # fmt: skip
    """A branch of equilibria to a value of the load; from its special points the branches that cross there, curves in
    the ``second`` parameter to a value of that, and ``cycles`` to a value of the load."""
    options = {"start": start, "bounds": bounds, **({} if step is None else {"step": step})}
    branch = run("equilibria", lambda: case.branch(to=to, **options))
    if branch is None:
        return None
    for k, special in enumerate(branch.of_kind("branch point")[:SPECIAL]):
        run(f"across branch point {k}", lambda special=special: special.switch(to, points=100))
    if second:
        name, end = second
        for kind in ("fold", "hopf"):
            for k, special in enumerate(branch.of_kind(kind)[:SPECIAL]):
                run(f"curve of {kind} {k}", lambda special=special: special.curve(name, to=end, points=100))
    for hopf in branch.of_kind("hopf")[:1]:
        if cycles is not None:
            born(run, hopf.hopf, cycles, second)
    return branch


def born(run: Run, hopf: Any, to: float, second: tuple[str, float] | None = None, points: int = CYCLES) -> Any:
    """Cycles from a Hopf point, and the curve of the first special one."""
    orbits = run("cycles", lambda: hopf.orbits(to=to, points=points))
    if orbits and second and orbits.special:
        special = orbits.special[0]
        name, end = second
        run(f"curve of cycles, {special.kind}", lambda: special.curve(name, to=end, points=6))
        if special.kind in ("period doubling", "branch point", "symmetry breaking"):
            run(f"cycles across {special.kind}", lambda: special.switch(to, points=10))
    return orbits


# Columns and rods


def column(run: Run, case: Any, to: float, second: tuple[str, float], cycles: float) -> None:
    """Everything that is asked of a column."""
    first = case.system.coordinate_names[1]
    run("critical loads", case.critical)
    hopf = run("hopf", case.hopf)
    around(run, case, to, second)
    if hopf:
        run("curve of its hopf", lambda: hopf.curve(second[0], to=second[1], points=60))
        born(run, hopf, cycles, second)
    run("motion", lambda: case.at(**{case.system.load.name: to / 2}).simulate(5, samples=11, **{first: 0.1}))


@system
def two_bars_with_skate(run: Run) -> None:
    case = pfaff.atlas.column(2, "skate", "dead").at(**XI, c_i="3/2")
    column(run, case, 120, ("c_i", 5), 90)
    run("paradox", lambda: pfaff.atlas.column(2).at(**XI).paradox({"c_i": 3.7}))
    run("rest", lambda: case.at(F=10).equilibria(starts=40))


@system
def two_bars_with_bow(run: Run) -> None:
    column(run, pfaff.atlas.column(2, "bow", "dead").at(**XI, c_i="3/2"), 120, ("c_i", 5), 90)


@system
def three_bars_with_skate(run: Run) -> None:
    column(run, pfaff.atlas.column(3).at(**XI, c_i="3/2"), 120, ("c_i", 4), 85)


@system
def four_bars_with_skate(run: Run) -> None:
    case = pfaff.atlas.column(4).at(**XI, c_i="3/2")
    run("critical loads", case.critical)
    around(run, case, 120, ("c_i", 3))
    hopf = run("hopf", case.hopf)
    run("cycles", lambda: hopf.orbits(to=1.1 * hopf.value, points=10))


@system
def two_bars_leaning(run: Run) -> None:
    case = pfaff.atlas.column(2).at(**XI, c_i="3/2", beta0="0.1")
    around(run, case, 120, ("beta0", 0.3), cycles=85)
    run("hopf", case.hopf)


@system
def two_bars_with_spring(run: Run) -> None:
    case = pfaff.atlas.column(2, "skate", "spring").at(**XI, c_i="3/2", K=100)
    run("critical loads", case.critical)
    around(run, case, 2, ("c_i", 4), cycles=0.9)


@system
def zieglers_column(run: Run) -> None:
    case = pfaff.atlas.ziegler(2).at(c_i=0.3)
    run("critical loads", case.critical)
    hopf = run("hopf", case.hopf)
    around(run, case, 8, ("c_i", 2))
    if hopf:
        born(run, hopf, 1.3 * hopf.value, ("c_i", 1))


@system
def reuts_column(run: Run) -> None:
    case = pfaff.atlas.reut(2).at(c_i=0.3)
    run("critical loads", case.critical)
    around(run, case, 8, ("c_i", 2), cycles=5)


@system
def rod(run: Run) -> None:
    case = pfaff.atlas.rod("skate", modes=3).at(M_L=2, eta=0.002, c_e=8)
    run("critical loads", case.critical)
    hopf = run("hopf", case.hopf)
    around(run, case, 40, ("c_e", 12))
    if hopf:
        run("cycles", lambda: hopf.orbits(to=1.1 * hopf.value, points=8))


@system
def column_of_parts(run: Run) -> None:
    case = pfaff.atlas.column_assembly(2, k1=50.0, M_L=15.0, I_L=15.0, c_i=1.5)
    run("equilibria", lambda: case.branch(to=90))


@system
def bottemas_system(run: Run) -> None:
    case = pfaff.atlas.bottema().at(b11=1, b22=2, b12=1)
    run("critical loads", lambda: case.critical(to=10))
    around(run, case, 10)


@system
def softening_bar(run: Run) -> None:
    case = pfaff.atlas.softening_bar().at()
    run("critical loads", lambda: case.critical(to=5))
    around(run, case, 5)


@system
def two_bar_frame(run: Run) -> None:
    case = pfaff.atlas.two_bar_frame().at()
    run("critical loads", lambda: case.critical("mbar", to=2))
    run("equilibria", lambda: case.branch("mbar", 2))


# What rolls


@system
def towed_wheel(run: Run) -> None:
    case = pfaff.atlas.towed_wheel().at(v=0.1)
    run("critical loads", lambda: case.critical(to=10))
    around(run, case, 8, ("c", 0.3), cycles=3)
    run("motion", lambda: case.at(v=1).simulate(10, samples=11, **{case.system.coordinate_names[0]: 0.1}))


@system
def rocking_suitcase(run: Run) -> None:
    case = pfaff.atlas.rocking_suitcase().at(v=0.5)
    run("critical loads", lambda: case.critical(to=10))
    around(run, case, 10, cycles=4)


@system
def snaking_trailer(run: Run) -> None:
    case = pfaff.atlas.snaking_trailer().at(v=5)
    run("critical loads", lambda: case.critical(to=60))
    around(run, case, 60, cycles=40)


@system
def rolling_disc(run: Run) -> None:
    case = pfaff.atlas.rolling_disc().at()
    steady = run("steady", lambda: case.steady(phi_dot=6))
    run("rolling slower", lambda: steady.branch("phi_dot", to=1))
    run("leaning", lambda: case.steady(phi_dot=2, theta=0.3).branch("phi_dot", to=4))
    run("motion", lambda: case.simulate(2, samples=5, phi_dot=6, theta=0.1))


@system
def rolling_hoop(run: Run) -> None:
    run("rolling slower", lambda: pfaff.atlas.rolling_hoop().at().steady(phi_dot=6).branch("phi_dot", to=1))


@system
def bicycle(run: Run) -> None:
    run("riding faster", lambda: pfaff.atlas.whipple_bicycle().at().steady(s_dot=1).branch("s_dot", to=10))


@system
def sleigh_on_a_slope(run: Run) -> None:
    run("motion", lambda: pfaff.atlas.chaplygin_sleigh(slope=True).at().simulate(5, samples=11, v=1))


@system
def oscillators(run: Run) -> None:
    t = dynamicsymbols._t
    q, r = dynamicsymbols("q r")
    F, Omega, k = sm.symbols("F Omega k", real=True)
    both = (q.diff(t) ** 2 + r.diff(t) ** 2) / 2, (q**2 + r**2 + (q - r) ** 2) / 2 + (q**4 + r**4) / 4
    case = pfaff.System([q, r], *both).at()
    for number in (1, 2):
        run(f"normal mode {number}", lambda number=number: case.normal_mode(number, energy=5))
    forced = pfaff.System(
        [q], q.diff(t) ** 2 / 2, q**2 / 2 + k * q**4 / 4, q.diff(t) ** 2 / 20, {q: F * sm.cos(Omega * t)},
        parameters={F: 0.3, Omega: 0.5, k: 1},
    ).at()  # fmt: skip
    response = run("response", lambda: forced.response("Omega", from_=0.5, to=3.0))
    if response and response.special:
        run("curve of responses", lambda: response.special[0].curve("F", to=0.2, points=6))


# Plain ODEs


def plain(
    name: str, rates: Callable[[], dict[Any, Any]], values: dict[Any, Any], to: float, *,
    second: tuple[str, float] | None = None, start: Any = None, cycles: float | None = None, bounds: Any = None,
    step: float | None = None,
) -> None:  # fmt: skip
    """State an ODE, of which the first parameter is the load."""

    def ask(run: Run) -> None:
        case = pfaff.ode(rates(), values, load=next(iter(values))).at()
        around(run, case, to, second, start, cycles, bounds, step)

    SYSTEMS[name] = ask


def reactor(cells: int) -> dict[Any, Any]:
    """A tube in cells with an exothermic reaction, flow and dispersion."""
    us, vs = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")
    D, beta = sm.symbols("D beta", real=True)

    def carried(of: Any, k: int) -> Any:
        mixed = (of[k - 1] - of[k] if k else 0) + (of[k + 1] - of[k] if k < cells - 1 else 0)
        return cells * ((of[k - 1] if k else 0) - of[k]) + 2 * cells**2 * mixed

    reaction = [D * (1 - each) * sm.exp(hot) for each, hot in zip(us, vs, strict=True)]
    rates = {us[k]: carried(us, k) + reaction[k] for k in range(cells)}
    return rates | {vs[k]: carried(vs, k) + 14 * reaction[k] - beta * vs[k] for k in range(cells)}


for cells in (1, 2, 4, 9, 20):
    plain(
        f"reactor of {cells} cells", lambda cells=cells: reactor(cells),
        dict(zip(sm.symbols("D beta", real=True), (0, 2), strict=True)), 0.3, second=("beta", 3),
        cycles=0.3 if cells < 9 else None,
    )  # fmt: skip


def brusselator(cells: int) -> dict[Any, Any]:
    us, vs = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")

    def spread(of: Any, k: int) -> Any:
        return (of[k - 1] - of[k] if k else 0) + (of[k + 1] - of[k] if k < cells - 1 else 0)

    rates = {us[k]: 1 - (mu + 1) * us[k] + us[k] ** 2 * vs[k] + spread(us, k) / 10 for k in range(cells)}
    return rates | {vs[k]: mu * us[k] - us[k] ** 2 * vs[k] + nu * spread(vs, k) for k in range(cells)}


growth = mu + nu * (x**2 + y**2) - (x**2 + y**2) ** 2
eaten = x * y / (1 + a * x)
free = 1 - x - y - z
origin = dict.fromkeys("xyz", 0)

plain("brusselator", lambda: brusselator(1), {mu: 1, nu: 0.2}, 3, cycles=3)
plain("three brusselators", lambda: brusselator(3), {mu: 1, nu: 0.2}, 3, second=("nu", 0.6), cycles=2.5)
plain(
    "lorenz", lambda: {x: b * (y - x), y: mu * x - y - x * z, z: x * y - c * z}, {mu: "1/2", b: 10, c: "8/3"}, 30,
    second=("b", 12),
)  # fmt: skip
plain(
    "lorenz on an arm", lambda: {x: b * (y - x), y: mu * x - y - x * z, z: x * y - c * z}, {mu: 2, b: 10, c: "8/3"}, 30,
    second=("b", 14), start={"x": 1.6, "y": 1.6, "z": 1}, cycles=15,
)  # fmt: skip
plain("van der pol", lambda: {x: y, y: mu * (1 - x**2) * y - x + sm.exp(x) / 10}, {mu: -0.5}, 2, cycles=2)
plain(
    "fitzhugh and nagumo", lambda: {v: v - v**3 / 3 - w + mu, w: a * (v + sm.Rational(7, 10) - sm.Rational(4, 5) * w)},
    {mu: 0, a: 0.08}, 2, second=("a", 0.3), start={"v": -1.2, "w": -0.6}, cycles=2,
)  # fmt: skip
plain(
    "bazykin", lambda: {x: x - eaten - b * x**2, y: -y + eaten - d * y**2}, {a: "1/10", d: "1/10", b: "1/100"}, 1.2,
    second=("d", 0.3), start={"x": 1.5, "y": 1}, cycles=0.6,
)  # fmt: skip
plain(
    "lorenz 1984", lambda: {
        x: mu / 4 - x / 4 - y**2 - z**2 - 0.987 * w**2, y: x * y - x * z - y + 0.25, z: x * y + x * z - z,
        w: 0.987 * w * x - 1.04 * w + nu,
    },
    {mu: 3, nu: 0.04}, -1.5, second=("nu", -0.1), start={"x": 2.9787, "y": -0.0387, "z": 0.0582, "w": -0.0211},
    bounds=(-1.5, 3), cycles=2,
)  # fmt: skip
plain(
    "catalytic oscillator",
    lambda: {x: 5 * free**2 - 2 * x**2 - 10 * x * y, y: mu * free - y / 10 - 10 * x * y, z: 0.0675 * (free - a * z)},
    {mu: 2.204678, a: 0.4}, 0.8, second=("a", 1), start={"x": 0.001137, "y": 0.891483, "z": 0.062345},
    bounds=(0.8, 2.3), cycles=1.3,
)  # fmt: skip
plain("bogdanov and takens", lambda: {x: y, y: nu + mu * x + x**2 - x * y}, {nu: -1, mu: -0.5}, 1, second=("mu", 1),
      start={"x": -1})  # fmt: skip
plain("bautin", lambda: {x: growth * x - y, y: x + growth * y}, {mu: -0.5, nu: 0.7}, 0.5, second=("nu", -0.5),
      cycles=0.5)  # fmt: skip
plain("cusp", lambda: {x: mu + nu * x - x**3, y: x**2 - y}, {mu: -1, nu: 1}, 1, second=("nu", -1), start={"x": -1.3})
plain("pitchfork", lambda: {x: mu * x - x**3, y: nu * x - y}, {mu: -1, nu: 1}, 1, second=("nu", 2))
plain("two pitchforks", lambda: {x: mu * x - x**3, y: (mu - nu) * y - y**3}, {mu: -1, nu: 0.3}, 1)
plain("imperfect pitchfork", lambda: {x: nu + mu * x - x**3}, {mu: 1, nu: "1/100"}, -1, second=("nu", 0.1),
      start={"x": -1})  # fmt: skip
plain("closed curve", lambda: {x: x**2 + mu**2 - 1}, {mu: 0}, 2, start={"x": 1})
plain("back within a step", lambda: {x: mu + 1e-5 - x**2}, {mu: 1}, 0, start={"x": 1}, step=0.4)
plain(
    "rössler", lambda: {x: -y - z, y: x + a * y, z: b + z * (x - c)}, {c: 6, a: "1/5", b: "1/5"}, 0, second=("a", 0.1),
    start={"x": 0, "y": 0, "z": 0}, bounds=(0, 6),
)  # fmt: skip
plain("feedback control", lambda: {x: y, y: z, z: -mu * z - nu * y - x + x**2}, {mu: 2, nu: 1}, 0.5, second=("nu", 2),
      cycles=0.55)  # fmt: skip
plain(
    "predators and prey", lambda: {x: 3 * x * (1 - x) - x * y - mu * (1 - sm.exp(-5 * x)), y: -y + a * x * y},
    {mu: 0, a: 3}, 1, second=("a", 4), start={"x": 0.3, "y": 2}, cycles=1,
)  # fmt: skip
plain(
    "langford", lambda: {x: (z - b) * x - d * y, y: d * x + (z - b) * y, z: mu + a * z - z**3 / 3 - (x**2 + y**2)},
    {mu: -1, a: 1, b: 0.7, d: 3.5}, 2, second=("b", 1), start={"x": 0, "y": 0, "z": -2}, cycles=2,
)  # fmt: skip
plain(
    "hindmarsh and rose",
    lambda: {x: y - x**3 + 3 * x**2 + mu - z, y: 1 - 5 * x**2 - y, z: a * (4 * (x + sm.Rational(8, 5)) - z)},
    {mu: 0, a: 0.01}, 4, second=("a", 0.02), start={"x": -1.6, "y": -12, "z": 0},
)  # fmt: skip
plain("two frequencies", lambda: {
    x: (mu - x**2 - y**2 - u**2 / 2) * x - y, y: x + (mu - x**2 - y**2 - u**2 / 2) * y,
    u: (mu - nu - u**2 - v**2 - x**2) * u - 2.3 * v, v: 2.3 * u + (mu - nu - u**2 - v**2 - x**2) * v,
}, {mu: -0.5, nu: 0.2}, 1, second=("nu", -0.4), cycles=1)  # fmt: skip
plain("stiff circle", lambda: {x: y, y: mu * y - x - x**2 * y, z: 1e4 * (x**2 - z)}, {mu: -1}, 1, cycles=0.5)
plain("a line of equilibria", lambda: {x: mu * x - y - x**3, y: x + mu * y, z: x**2 - x * y}, {mu: -1}, 1)
plain("negative growth", lambda: {x: (mu + x**2 + y**2) * x - y, y: x + (mu + x**2 + y**2) * y, z: x * y - z},
      {mu: -1}, 0.5, cycles=-1)  # fmt: skip
plain("bratu", lambda: bratu(8), {mu: "1/10"}, 5, bounds=(0.05, 5))
plain("steep branch", lambda: {x: mu - (x - 0.123) ** 3 + 0.012 * (x - 0.123)}, {mu: -1}, 1, start={"x": -1})
plain("exponential", lambda: {x: mu * sm.exp(x) - x, y: x - y}, {mu: 0}, 1)


def bratu(cells: int) -> dict[Any, Any]:
    us = (0, *sm.symbols(f"u1:{cells + 1}", real=True), 0)
    return {
        us[k]: (cells + 1) ** 2 * (us[k - 1] - 2 * us[k] + us[k + 1]) + mu * sm.exp(us[k]) for k in range(1, cells + 1)
    }


@system
def ring_of_cells(run: Run) -> None:
    """Sparse: excitable cells with a controller of their mean."""
    n = 40
    us, ws = (sm.symbols(f"{name}1:{n + 1}", real=True) for name in "uw")
    ring = [4 * (us[k - 1] - 2 * us[k] + us[(k + 1) % n]) + us[k - 1] - us[k] for k in range(n)]
    rates = {us[k]: us[k] - us[k] ** 3 / 3 - ws[k] + mu + ring[k] - nu * z for k in range(n)}
    rates |= {ws[k]: 0.3 * (us[k] + 0.7 - 0.8 * ws[k]) for k in range(n)} | {z: sum(us) / n - 2 * z}
    case = pfaff.ode(rates, {mu: 0, nu: 0.3}, load=mu).at()
    branch = run("equilibria", lambda: case.branch(to=0.7))
    run("curve of hopf", lambda: branch.of_kind("hopf")[0].curve("nu", to=0.5, points=20))


@system
def watched_branches(run: Run) -> None:
    """With events of the user's."""
    case = pfaff.ode({x: mu - x**3 + x / 2, y: x * mu - y}, {mu: -1}, load=mu).at()
    run("equilibria", lambda: case.branch(to=1, events={"half": "x = 0.5", "level": "y = 0.2"}))
    circle = pfaff.ode({x: growth * x - y, y: x + growth * y}, {mu: -0.5, nu: 0.7}, load=mu).at()
    hopf = run("hopf", lambda: circle.hopf(to=0.5))
    run("cycles", lambda: hopf.orbits(to=0.5, points=CYCLES, events={"wide": "amplitude_x = 0.5"}))


@system
def rössler_cycles(run: Run) -> None:
    case = pfaff.ode({x: -y - z, y: x + a * y, z: b + z * (x - c)}, {c: 2, a: "1/5", b: "1/5"}, load=c).at()
    orbit = run("orbit", lambda: case.orbit(case.simulate(200, x=1.0)))
    if orbit is None:
        return
    branch = run("cycles", lambda: orbit.orbits(to=5, points=CYCLES))
    doubling = branch.of_kind("period doubling")[0]
    run("doubled", lambda: doubling.switch(5, points=15))
    run("curve of period doublings", lambda: doubling.curve("a", to=0.25, points=6))


@system
def homoclinic_orbit(run: Run) -> None:
    case = pfaff.ode({x: y, y: mu + nu * x + x**2 - x * y}, {mu: -0.3, nu: -1}, load=mu).at()
    hopf = run("hopf", lambda: case.hopf(to=0.3, x=-0.25))
    branch = run("cycles", lambda: hopf.orbits(to=-0.5))
    loop = run("homoclinic", lambda: branch.homoclinic(1e-6))
    run("curve of homoclinic orbits", lambda: loop.curve("nu", to=-2, points=6))


@system
def orbit_of_van_der_pol(run: Run) -> None:
    case = pfaff.ode({x: y, y: mu * (1 - x**2) * y - x}, {mu: 1}, load=mu).at()
    motion = run("motion", lambda: case.simulate(60, x=1.0, samples=601))
    orbit = run("orbit", lambda: case.orbit(motion))
    run("cycles", lambda: orbit.orbits(to=6, points=CYCLES))
    t = np.linspace(0, 2 * np.pi, 200)
    run("orbit near data", lambda: case.at(mu=0.3).orbit(t=t, x=2 * np.cos(t), y=-2 * np.sin(t)))
