"""General statements: degrees of freedom, kinds of constraints, virtual work, and the principles beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sm

from pfaff import Particle, System
from pfaff.atlas import oscillator, softening_bar, two_bar_frame
from pfaff.papers.mazzilli.examples import EXAMPLES, Q
from pfaff.system import TIME as t
from pfaff.system import coordinates

STATES = 16


def on_a_thread(moving: bool = False) -> System:
    """The pendulum in x and y, its thread a constraint: scleronomic, or rheonomic where the support moves."""
    x, y = coordinates("x y")
    m, L = sm.symbols("m L", positive=True)
    g, f0, Omega = sm.symbols("g f0 Omega", real=True)
    parameters = {m: 1, L: 1, g: 1, **({f0: "1/2", Omega: 2} if moving else {})}
    support = f0 * sm.sin(Omega * t) if moving else sm.S.Zero
    return System(
        coordinates=[x, y],
        particles=[Particle(m, (x, y), (0, -m * g))],
        holonomic_constraints=[(x**2 + (y - support) ** 2 - L**2) / 2],
        parameters=parameters,
        name="pendulum in x and y",
    )


def on_a_curve(constraints: Callable[..., Sequence[sm.Expr]], shape: str) -> System:
    """A material point in space under its weight, with constraints between its coordinates."""
    x1, x2, x3 = coordinates("x1 x2 x3")
    beta = sm.Symbol("beta", positive=True)
    return System(
        coordinates=[x1, x2, x3],
        particles=[Particle(1, (x1, x2, x3), (0, -1, -1))],
        holonomic_constraints=constraints(x1, x2, x3, beta),
        parameters={beta: "1/2"},
        name=f"material point on a {shape}",
    )


def paraboloid() -> System:
    return on_a_curve(lambda x1, x2, x3, beta: [x3 - beta * (x1**2 + x2**2)], "paraboloid")


def parabola() -> System:
    return on_a_curve(lambda x1, x2, x3, beta: [x2 - beta * x1**2, x3], "parabola")


def degrees_of_freedom() -> float:
    """n = 3N − c of the point on a paraboloid, on a parabola, and free."""
    free = on_a_curve(lambda *_: [], "leash that is never taut")
    found = [each.classification.freedom for each in (paraboloid(), parabola(), free)]
    return float(sum(abs(a - b) for a, b in zip(found, (2, 1, 3), strict=True)))


def generalised_coordinate() -> float:
    """The acceleration on the parabola in x¹, x², x³ with reactions, against that in Q alone."""
    (beta,) = parabola().parameters
    place = (Q, beta * Q**2, sm.S.Zero)
    chosen = System([Q], particles=[Particle(1, place, (0, -1, -1))], parameters=parabola().parameters)
    at = chosen.random_states(STATES, seed=2)
    expected, _ = chosen.equations().solve(at.q, at.v, at.numbers)
    q, v, b = at.q[0], at.v[0], at.numbers[0]
    inside, _ = parabola().equations().solve([q, b * q**2, 0 * q], [v, 2 * b * q * v, 0 * v], at.numbers)
    return float(np.abs(inside[0] - expected[0]).max())


def kinds() -> float:
    """Where the constraints are scleronomic, real displacements are virtual ones; where they move, not."""
    still, moving = on_a_thread().classification, on_a_thread(True).classification
    expected = [still.scleronomic, still.catastatic, not moving.scleronomic, not moving.catastatic]
    return float(sum(not each for each in expected))


def reaction_work(displacement: str) -> float:
    """Newton's reaction of the thread times a virtual displacement of the bob, or its real one, |N·δR|/|N||δR|."""
    system = on_a_thread(True)
    at = system.random_states(STATES, seed=1)
    newton: Any = system.equations("newton")
    N = newton.particle_reactions(at.q, at.v, at.numbers, at.time)
    names = system.parameter_names
    f0, Omega = (at.numbers[names.index(name)] for name in ("f0", "Omega"))
    thread = at.q - np.array([0 * at.time, f0 * np.sin(Omega * at.time)])
    virtual = np.array([-thread[1], thread[0]])  # tangent to the circle as it stands at that time
    along = virtual if displacement == "virtual" else at.v
    share = (N * along).sum(axis=0) / (np.linalg.norm(N, axis=0) * np.linalg.norm(along, axis=0))
    return float(np.abs(share).max())


def principles_agree() -> float:
    """Newton ⇔ d'Alembert ⇔ Hamilton ⇔ Lagrange: the largest relative difference in accelerations and reactions."""
    worst = 0.0
    for make in (*EXAMPLES.values(), on_a_thread, paraboloid, parabola):
        system = make()
        at = system.random_states(STATES, seed=3)
        expected, force = system.equations().solve(at.q, at.v, at.numbers, at.time)
        size = 1 + np.abs(expected).max(axis=0)
        for principle in ("newton", "dalembert", "hamilton"):
            found, p = system.equations(principle).solve(at.q, at.v, at.numbers, at.time)
            worst = max(worst, float((np.abs(found - expected) / size).max()))
            worst = max(worst, float((np.abs(p - force) / size).max(initial=0.0)))
    return worst


def varied_action(off: float = 0.0) -> float:
    """∫(δT − δV + δW) dt of the driven oscillator along its motion for five δQ, relative to ∫|δT − δV + δW| dt.

    With ``off`` along another path, Q + off sin πt/t₂, on which it must not vanish.
    """
    system, end = oscillator(), 3.0
    case = system.at(c=0.3)
    motion = case.simulate(end, Q=0.4, Q_dot=-0.7)
    equations: Any = system.equations("hamilton")
    along, across = equations.variations
    s = system.statement
    rates = [along[0] + equations.virtual_work[0], across[0]]
    evaluate = sm.lambdify([*s.q, *s.v, *system.parameters, s.time], rates, "numpy")
    nodes, weights = np.polynomial.legendre.leggauss(60)
    times = end * (1 + nodes) / 2
    q, v = motion(times)
    q, v = q + off * np.sin(np.pi * times / end), v + off * np.pi / end * np.cos(np.pi * times / end)
    by_position, by_velocity = evaluate(q, v, *case.numbers, times)
    worst = 0.0
    for k in range(1, 6):
        wave = k * np.pi / end
        parts = by_position * np.sin(wave * times), by_velocity * wave * np.cos(wave * times)
        worst = max(worst, abs(weights @ sum(parts)) / float(weights @ (np.abs(parts[0]) + np.abs(parts[1]))))
    return worst


def virtual_work_at_rest(away: float = 0.0) -> float:
    """|Σ F·∂R/∂Q| of the active forces on the softening bar and the frame, at or away from equilibria found."""
    least, largest = np.inf, 0.0
    loaded: list[tuple[System, dict[str, Any]]] = [
        (softening_bar(), {"P": 0.3}),
        (two_bar_frame(), {"g": 1, "zeta": 2}),
    ]
    for system, values in loaded:
        case = system.at(**values)
        rest = case.equilibrium()["Q"] + away
        forces = [F for each in system.particles for F in each.force or ()]
        moves = [x.diff(Q) for each in system.particles for x in each.position]
        work = sm.Matrix(forces).dot(sm.Matrix(moves))
        known = {symbol: float(case.values[symbol.name]) for symbol in system.parameters}
        here = abs(float(work.subs(Q.diff(t), 0).xreplace(known).subs(Q, rest)))
        least, largest = min(least, here), max(largest, here)
    return least if away else largest
