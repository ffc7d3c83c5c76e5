"""Mazzilli's lecture: five examples by Newton, d'Alembert, Hamilton and Lagrange, and what its statements come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.atlas import moving_support_pendulum, oscillator, pendulum, softening_bar, two_bar_frame
from pfaff.papers import PAPERS
from pfaff.papers.reproduction import Claim, Paper, Picture, Section
from pfaff.principles.comparison import random_states
from pfaff.statement import TIME as t
from pfaff.statement import System, coordinates
from pfaff.statement.particles import Particle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case

EXAMPLES: dict[int, Callable[[], System]] = {
    1: oscillator,
    2: two_bar_frame,
    3: pendulum,
    4: moving_support_pendulum,
    5: softening_bar,
}
STATES = 16
(Q,) = coordinates("Q")


def symbols(system: System) -> dict[str, Any]:
    return {symbol.name: symbol for symbol in system.parameters}


def printed(number: int) -> sm.Expr:
    """The equation of motion of an example as printed, its right-hand side brought to the left."""
    s = symbols(EXAMPLES[number]())
    if number == 1:
        p = s["p0"] * sm.cos(s["Omega"] * t)  # the p(t) of the atlas
        return s["m"] * Q.diff(t, 2) + s["c"] * Q.diff(t) + s["k"] * Q - p
    if number == 2:
        mass, damping, stiffness, weight, load = printed_quantities()
        return mass * Q.diff(t, 2) + damping * Q.diff(t) + stiffness * Q - weight - load
    if number == 5:
        bend = Q - s["epsilon"]
        force = s["m"] * s["g"] + s["P"]
        spring = s["K"] * bend * (1 - bend**2)
        return s["m"] * s["L"] ** 2 * Q.diff(t, 2) + spring - force * s["L"] * sm.sin(Q)
    f = s["f0"] * sm.cos(s["Omega"] * t) if number == 4 else sm.S.Zero
    return s["m"] * s["L"] ** 2 * Q.diff(t, 2) + s["m"] * s["L"] * (s["g"] + f.diff(t, 2)) * sm.sin(Q)


def printed_quantities() -> tuple[sm.Expr, ...]:
    """m*, c*, k*, p0* and p*(t) of example 2."""
    s = symbols(two_bar_frame())
    return (
        4 * s["m2"] / 9 + 4 * s["mbar"] * s["a"] / 3,
        s["c1"] / 16 + s["c2"],
        9 * s["k1"] / 16 + s["k2"] / 9,
        -(2 * s["mbar"] * s["a"] + 2 * s["m2"] / 3) * s["g"],
        16 * s["pbar"] * s["a"] * s["zeta"] / 3,
    )


def by_principle(system: System, principle: str) -> sm.Expr:
    """The equation of motion; Newton's with the reactions N = m R̈ − F put into the condition that they be ideal."""
    equations: Any = system.equations(principle)
    if principle == "hamilton":
        return equations.euler_lagrange[0]
    if principle != "newton":
        return equations.motion[0]
    without = equations.motion.xreplace({N: sm.S.Zero for each in equations.reactions for N in each})
    reactions = [N for each in equations.reactions for N in each]
    return equations.ideality[0].xreplace(dict(zip(reactions, without, strict=True)))


def equation_of_motion(number: int, principle: str) -> float:
    """Whether a principle gives something else than what is printed."""
    return float(_differ(by_principle(EXAMPLES[number](), principle), printed(number)))


def _differ(one: sm.Expr, other: sm.Expr) -> bool:
    """Polynomials in sin Q, cos Q and the rest, with sin² = 1 − cos²: a normal form."""
    return sm.expand(sm.expand(one - other).subs(sm.sin(Q) ** 2, 1 - sm.cos(Q) ** 2)) != 0


def generalised_quantities() -> float:
    """m*, c*, k*, p0* + p* read off the equation that the two bars give."""
    motion = sm.expand(by_principle(two_bar_frame(), "lagrange"))
    found = [motion.coeff(Q.diff(t, 2)), motion.coeff(Q.diff(t)), motion.coeff(Q), -motion.subs(Q, 0).doit()]
    *quantities, weight, load = printed_quantities()
    return float(sum(sm.expand(a - b) != 0 for a, b in zip(found, [*quantities, weight + load], strict=True)))


def frame_energies() -> float:
    """T = ½ m* Q̇² and V = ½ k* Q² − p0* Q by the printed integrals."""
    mass, _, stiffness, weight, _ = printed_quantities()
    system = two_bar_frame()
    differences = [system.kinetic - mass * Q.diff(t) ** 2 / 2, system.potential - stiffness * Q**2 / 2 + weight * Q]
    return float(sum(sm.expand(each) != 0 for each in differences))


def support_energies() -> float:
    """T and V of example 4 against those of the moving bob."""
    system = moving_support_pendulum()
    s = symbols(system)
    m, L, g = s["m"], s["L"], s["g"]
    f = s["f0"] * sm.cos(s["Omega"] * t)
    rate = f.diff(t)
    kinetic = m * L**2 * Q.diff(t) ** 2 / 2 + m * rate**2 / 2 + m * L * rate * Q.diff(t) * sm.sin(Q)
    potential = m * g * (f + L * (1 - sm.cos(Q)))
    differences = (system.kinetic - kinetic, system.potential - potential)
    return float(sum(_differ(each, sm.S.Zero) for each in differences))


def spring_energy() -> float:
    """V of example 5 by integration of K θ (1 − θ²), with −mgL (cos ε − cos Q)."""
    system = softening_bar()
    s = symbols(system)
    theta = sm.Symbol("theta")
    stored = sm.integrate(s["K"] * theta * (1 - theta**2), (theta, 0, Q - s["epsilon"]))
    fallen = s["m"] * s["g"] * s["L"] * (sm.cos(s["epsilon"]) - sm.cos(Q))
    return float(sm.simplify(system.potential - stored + fallen) != 0)


def linear_form(number: int) -> float:
    """The derivative of the equation of motion by Q at Q = 0 against the printed linear equation."""
    system = EXAMPLES[number]()
    motion = system.equations("lagrange").motion[0]
    s = symbols(system)
    small = sm.diff(motion, Q).xreplace({Q: sm.S.Zero}).doit() / (s["m"] * s["L"] ** 2)
    f = s["f0"] * sm.cos(s["Omega"] * t) if number == 4 else sm.S.Zero
    return float(sm.simplify(small - (s["g"] + f.diff(t, 2)) / s["L"]) != 0)


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
    at = random_states(chosen, STATES, seed=2)
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
    at = random_states(system, STATES, seed=1)
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
        at = random_states(system, STATES, seed=3)
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


def monodromy(case: Case) -> np.ndarray:
    """Motions so close to rest that they are small ones, over a period of the support."""
    period, small = 2 * np.pi / float(case.values["Omega"]), 1e-6
    starts: list[dict[str, Any]] = [{"Q": small}, {"Q_dot": small}]
    ends = [case.simulate(period, samples=2, **start).y[:, -1] for start in starts]
    return np.transpose(ends) / small


def tongue_edge(tongue: int) -> float:
    """Of the n-th tongue at f0 = L/10: |tr − (±2)| of the monodromy matrix where Mathieu's values put its edges."""
    from scipy.special import mathieu_a, mathieu_b

    worst = 0.0
    for characteristic in (mathieu_a, mathieu_b):
        Omega = 2 / np.sqrt(characteristic(tongue, 0.2))
        case = moving_support_pendulum().at(f0=0.1, Omega=float(Omega))
        worst = max(worst, abs(abs(np.trace(monodromy(case))) - 2))
    return worst


def growth_inside() -> float:
    """The largest multiplier at Ω = 2√(g/L), f0 = L/10, less one."""
    return float(np.abs(np.linalg.eigvals(monodromy(moving_support_pendulum().at(f0=0.1, Omega=2)))).max() - 1)


WEIGHT = 0.2  # mgL/K of the bar in the atlas


def static_load(angle: Any, epsilon: float) -> Any:
    """(mg + P)L/K that the printed equation asks for at rest."""
    return (angle - epsilon) * (1 - (angle - epsilon) ** 2) / np.sin(angle)


@cache
def static_path(epsilon: float) -> Any:
    return softening_bar().at(epsilon=epsilon).branch(to=1, points=150)


def path_of_rest(epsilon: float) -> float:
    """The branch that was followed against the printed equation with Q̈ = 0."""
    branch = static_path(epsilon)
    return max(abs(point.value + WEIGHT - static_load(point["Q"], epsilon)) for point in branch)


def limit_load(epsilon: float) -> float:
    """The fold of the branch against the largest load on the printed curve."""
    from scipy.optimize import minimize_scalar

    within = (epsilon, epsilon + 2 * epsilon ** (1 / 3))
    found = minimize_scalar(lambda angle: -static_load(angle, epsilon), bounds=within, method="bounded")
    return abs(static_path(epsilon).special[0].value + WEIGHT + float(found.fun))


def perfect_bar() -> float:
    """(mg + P)L/K at which the perfect bar buckles, less one, exactly."""
    found = softening_bar().at(epsilon=0).buckling(exact=True).value
    return float(abs(found + sm.Rational(1, 5) - 1))


def energy_barrier(epsilon: float) -> float:
    """The largest sudden λ that a bar without weight, at rest at ε, bears by the printed V: it stops below a hilltop."""
    from scipy.optimize import minimize_scalar

    def ratio(angle: float) -> float:
        bend = angle - epsilon
        return (bend**2 / 2 - bend**4 / 4) / (np.cos(epsilon) - np.cos(angle))

    within = (1.01 * epsilon, epsilon + 3 * epsilon ** (1 / 3))
    return -float(minimize_scalar(lambda a: -ratio(a), bounds=within, method="bounded", options={"xatol": 1e-10}).fun)


def falls_over(load: float, epsilon: float) -> bool:
    from pfaff import Event

    case = softening_bar().at(epsilon=epsilon, g=0, P=load)
    return case.simulate(300, Q=epsilon, events={"over": Event("Q - 3/2", stop=True)}).status != "finished"


def sudden_load(epsilon: float) -> float:
    """Motions just below and above the barrier: how many of the two end otherwise than they must."""
    limit = energy_barrier(epsilon)
    return float(falls_over((1 - 1e-6) * limit, epsilon) + (not falls_over((1 + 1e-6) * limit, epsilon)))


def sudden_below_static(epsilon: float) -> float:
    """By how much the sudden limit lies below the static one."""
    return static_path(epsilon).special[0].value + WEIGHT - energy_barrier(epsilon)


def draw_paths() -> Figure:
    """Static paths of the bar for several imperfections, stable parts full, with static and sudden limits."""
    from pfaff.draw.style import CYCLE, GREY, figure, label

    fig = figure(7, 4.2)
    axes = fig.add_subplot()
    angles = np.linspace(1e-6, 0.8, 200)
    axes.plot(angles, static_load(angles, 0.0), "--", color="black", lw=1.1, label="perfect")
    axes.plot([0, 0], [WEIGHT, 1], "-", color="black", lw=1.6)
    for colour, epsilon in zip(CYCLE, (0.001, 0.01, 0.05, 0.1), strict=False):
        branch = static_path(epsilon)
        path = np.array([[point["Q"], point.value + WEIGHT] for point in branch])
        fold = branch.special[0]
        top, rising = (fold["Q"], fold.value + WEIGHT), path[:, 0] <= fold["Q"]
        axes.plot(*np.vstack([path[rising], top]).T, "-", color=colour, lw=1.6, label=f"ε = {epsilon:g}")
        axes.plot(*np.vstack([top, path[~rising]]).T, "--", color=colour, lw=1.1)
        axes.plot(*top, "o", color=colour, ms=5)
        axes.axhline(energy_barrier(epsilon), xmin=0.9, color=colour, lw=1.6)
    axes.plot([], [], "o", color=GREY, label="limit load, static")
    axes.plot([], [], "-", color=GREY, lw=1.6, label="limit load, sudden (at the right)")
    axes.set(xlim=(-0.02, 0.85), ylim=(0.15, 1.05))
    axes.legend(frameon=False, fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0.22, 0))
    label(axes, "Q", "(mg + P) L/K", "Bar on a softening spring")
    return fig


def draw_tongues() -> Figure:
    """Where the pendulum on the moving support is set swinging, over frequency and amplitude of the support."""
    from scipy.special import mathieu_a, mathieu_b

    from pfaff.draw.style import BLUE, figure, label

    ratios, amplitudes, small = np.linspace(0.6, 2.8, 133), np.linspace(0.0, 0.3, 37), 1e-6
    # Fast and slow pendulums under one support are one pendulum under slow and fast ones.
    grid: dict[str, Any] = {"g": 4 / ratios[None, :] ** 2, "f0": amplitudes[:, None]}
    case = moving_support_pendulum().at(Omega=2)
    starts: list[dict[str, Any]] = [{"Q": small}, {"Q_dot": small}]
    at_end = [case.ensemble(np.pi, samples=2, **grid, **start) for start in starts]
    trace = (at_end[0]["Q"][-1] + at_end[1]["Q_dot"][-1]) / small
    growth = np.arccosh(np.maximum(np.abs(trace) / 2, 1))
    fig = figure(7, 4.2)
    axes = fig.add_subplot()
    shown = axes.pcolormesh(ratios, amplitudes, growth, cmap="Oranges", shading="nearest", rasterized=True)
    fig.colorbar(shown, label="growth per period of the support")
    for order in (1, 2, 3):
        for characteristic in (mathieu_a, mathieu_b):
            edge = 2 / np.sqrt(np.array([characteristic(order, 2 * f) for f in amplitudes]))
            axes.plot(edge, amplitudes, "-", color=BLUE, lw=1.0, label="Mathieu's values" if order == 1 else None)
    axes.legend(*[each[:1] for each in axes.get_legend_handles_labels()], frameon=False, loc="lower right")
    axes.set(xlim=(0.6, 2.8), ylim=(0, 0.3))
    label(axes, r"$\Omega\,/\sqrt{g/L}$", "$f_0/L$", "Pendulum on a moving support")
    return fig


FORMULAS = {
    1: r"m\ddot{Q}+c\dot{Q}+kQ=p(t)",
    2: r"m^{*}\ddot{Q}+c^{*}\dot{Q}+k^{*}Q=p_0^{*}+p^{*}(t)",
    3: r"\ddot{Q}+\frac{g}{L}\sin Q=0",
    4: r"\ddot{Q}+\frac{1}{L}(g+\ddot{f})\sin Q=0",
    5: r"mL^2\ddot{Q}+K(Q-\varepsilon)\left[1-(Q-\varepsilon)^2\right]=[mg+P(t)]L\sin Q",
}
WAYS = {"newton": "Newton's law", "dalembert": "d'Alembert's principle", "hamilton": "Hamilton's principle", "lagrange": "Lagrange's equation"}  # fmt: skip


def equations_of(number: int) -> list[Claim]:
    return [
        Claim(f"Example {number}", f"equation of motion by {words}", partial(equation_of_motion, number, principle),
              method="symbolically", formula=FORMULAS[number])
        for principle, words in WAYS.items()
    ]  # fmt: skip


PAPER = Paper(
    key="mazzilli",
    title=PAPERS["mazzilli"],
    about="Lecture notes: the equations of motion of material points by Newton's law and by the principles of d'Alembert, Hamilton "
    "and Lagrange, in five examples of one degree of freedom. The notes print formulas and no numbers; what follows from the "
    "formulas of examples 4 and 5 is computed as well, and says so.",
    sections=[
        Section("General statements", [
            Claim("Configuration space", "n = 3N − c degrees of freedom", degrees_of_freedom, formula="n=3N-c",
                  method="a point that is free, on a paraboloid, on a parabola"),
            Claim("Scleronomic constraint, example", "one coordinate Q describes the motion on a parabola", generalised_coordinate, within=1e-12,
                  method=f"{STATES} random states, against three coordinates with reactions", formula=r"x^1=Q,\quad x^2=\beta Q^2,\quad x^3=0"),
            Claim("Virtual displacements", "real displacements are virtual ones for scleronomic constraints, not for rheonomic ones", kinds,
                  method="classification of the pendulum in x and y, support at rest and moving"),
            Claim("Virtual displacements", "ideal reactions do no virtual work", partial(reaction_work, "virtual"), within=1e-12,
                  formula=r"\delta W=\vec{F}_\alpha^{vi}\cdot\delta\vec{R}_\alpha=0", method="Newton's reaction of the thread, support moving"),
            Claim("Virtual displacements", "but they do work in real displacements where the support moves", partial(reaction_work, "real"), beyond=0.1,
                  method="the same reaction, |N·dR|/|N||dR|"),
            Claim("Remark 3", "in equilibrium the active forces do no virtual work", virtual_work_at_rest, within=1e-12,
                  formula=r"\sum_\alpha\vec{F}_\alpha^{a}\cdot\delta\vec{R}_\alpha=0\iff\text{equilibrium}", method="equilibria of examples 2 and 5"),
            Claim("Remark 3", "away from equilibrium they do", partial(virtual_work_at_rest, 0.1), beyond=1e-3, method="0.1 from the same equilibria"),
            Claim("Hamilton's principle", "the motion makes the varied action vanish", varied_action, within=1e-12,
                  formula=r"\int_{t_1}^{t_2}(\delta T-\delta V+\delta W^{nc})\,dt=0", method="quadrature along a simulated motion, five δQ"),
            Claim("Hamilton's principle", "other paths do not", partial(varied_action, 0.1), beyond=1e-3, method="the motion and 0.1 sin πt/t₂"),
            Claim("Newton ⇔ d'Alembert ⇔ Hamilton ⇔ Lagrange", "one motion by all principles", principles_agree, within=1e-12,
                  method=f"accelerations and reactions of eight systems at {STATES} random states"),
        ]),
        Section("Example 1: linear oscillator", equations_of(1)),
        Section("Example 2: two rigid bars", [
            *equations_of(2),
            Claim("Example 2", "generalised mass, damping, stiffness and loads", generalised_quantities, method="coefficients of the equation of motion",
                  formula=r"m^{*}=\tfrac{4}{9}m_2+\tfrac{4}{3}\bar{m}a,\ c^{*}=\tfrac{c_1}{16}+c_2,\ k^{*}=\tfrac{9}{16}k_1+\tfrac{1}{9}k_2,\ p_0^{*}=-\left(2\bar{m}a+\tfrac{2}{3}m_2\right)g,\ p^{*}=\tfrac{16}{3}\bar{p}a\zeta(t)"),
            Claim("Example 2", "energies", frame_energies, method="integrals along the bar",
                  formula=r"T=\tfrac{1}{2}m^{*}\dot{Q}^2,\quad V=\tfrac{1}{2}k^{*}Q^2-p_0^{*}Q"),
        ]),
        Section("Example 3: pendulum", [
            *equations_of(3),
            Claim("Example 3", "linear equation", partial(linear_form, 3), method="symbolically", formula=r"\ddot{Q}+\frac{g}{L}Q=0"),
        ]),
        Section("Example 4: pendulum on a moving support", [
            *equations_of(4),
            Claim("Example 4", "energies", support_energies, method="symbolically",
                  formula=r"T=\tfrac{1}{2}mL^2\dot{Q}^2+\tfrac{1}{2}m\dot{f}^2+mL\dot{f}\dot{Q}\sin Q,\quad V=mg[f+L(1-\cos Q)]"),
            Claim("Example 4", "linear equation", partial(linear_form, 4), method="symbolically", formula=r"\ddot{Q}+\frac{1}{L}(g+\ddot{f})Q=0"),
            *(Claim("Follows from the linear equation", f"edges of resonance tongue {n}, f = f0 cos Ωt", partial(tongue_edge, n), within=1e-8,
                    method="|tr| = 2 of simulated small motions where Mathieu's characteristic values say", formula=r"\frac{4g}{L\Omega^2}\in\{a_n,b_n\}\left(\frac{2f_0}{L}\right)") for n in (1, 2)),
            Claim("Follows from the linear equation", "at Ω = 2√(g/L) the support sets the pendulum swinging", growth_inside, beyond=0.1,
                  method="largest multiplier less one, f0 = L/10"),
        ], [Picture("figure_1", "Growth of small motions per period of the support, simulated; the lines are Mathieu's characteristic values.", draw_tongues)]),
        Section("Example 5: bar on a softening spring", [
            *equations_of(5),
            Claim("Example 5", "potential energy", spring_energy, method="integration of the printed M(Q)",
                  formula=r"V=K\left[\frac{(Q-\varepsilon)^2}{2}-\frac{(Q-\varepsilon)^4}{4}\right]-mgL(\cos\varepsilon-\cos Q)"),
            Claim("Follows from the equation", "the perfect bar buckles at (mg + P)L = K", perfect_bar, method="closed form"),
            Claim("Follows from the equation", "path of equilibria, ε = 0.01", partial(path_of_rest, 0.01), within=1e-10, method="every point of the branch",
                  formula=r"\frac{(mg+P)L}{K}=\frac{(Q-\varepsilon)\left[1-(Q-\varepsilon)^2\right]}{\sin Q}"),
            *(Claim("Follows from the equation", f"limit load, ε = {e:g}", partial(limit_load, e), within=1e-9, method="fold of the branch against the maximum of the curve") for e in (0.01, 0.1)),
            *(Claim("Follows from the potential", f"limit of a sudden load, ε = {e:g}, g = 0", partial(sudden_load, e), method="motions 1e-6 below and above the barrier of energy") for e in (0.01, 0.1)),
            Claim("Follows from the potential", "a sudden load buckles the bar earlier", partial(sudden_below_static, 0.01), beyond=0.01, method="difference of the limits of (mg + P)L/K, ε = 0.01"),
        ], [Picture("figure_2", "Paths of equilibria of the imperfect bar, unstable where dashed, with their limit loads; at the right what it bears if the load comes suddenly and g = 0.", draw_paths)]),
    ],
)  # fmt: skip
