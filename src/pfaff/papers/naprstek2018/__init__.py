"""Náprstek and Fischer: Lagrange's and Appell's equations side by side, in size, in agreement and in simplicity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.atlas import (
    ball_absorber,
    ball_in_cavity,
    chaplygin_sleigh,
    nonholonomic_particle,
    oscillator,
    pendulum,
    rolling_disc,
    slider_crank,
)
from pfaff.papers import PAPERS
from pfaff.papers.reproduction import Claim, Erratum, Paper, Picture, Section
from pfaff.principles.comparison import Comparison, States, random_states
from pfaff.statement import TIME as t
from pfaff.statement import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYSTEMS: tuple[Callable[[], System], ...] = (
    ball_in_cavity,
    ball_absorber,
    chaplygin_sleigh,
    nonholonomic_particle,
    rolling_disc,
    slider_crank,
)
STATES = 8


@cache
def stated(make: Callable[[], System]) -> System:
    return make()


@cache
def derived(make: Callable[[], System], principle: str) -> Any:
    """Derived and compiled once for all claims."""
    return stated(make).equations(principle)


def size(system: System) -> tuple[int, int, int]:
    """Coordinates n, links l, and what is left, k = n − l."""
    n, links = len(system.coordinates), len(system.statement.constraints)
    return n, links, n - links


def at_random(system: System) -> States:
    return random_states(system, STATES, seed=2018)


def lagrange_equations() -> float:
    """Eq. (1) written out from the energies, with the damping forces −∂D/∂q̇, against the equations derived."""
    off = 0
    for make in (ball_in_cavity, ball_absorber):
        system, equations = stated(make), derived(make, "lagrange")
        s = system.statement
        for k, (q, v) in enumerate(zip(s.q, s.v, strict=True)):
            momentum = sm.diff(system.kinetic, system.coordinates[k].diff(t))
            left = momentum.diff(t) - sm.diff(system.kinetic, system.coordinates[k])
            plain = sm.diff(s.potential, q) - s.forces[k] + sm.diff(s.dissipation, v)
            back = {b: a for a, b in s.to_plain.items()}
            links = equations.constraint_matrix.T * equations.multipliers
            off += not _same(left + plain.xreplace(back) + links[k], equations.motion[k], system)
    return float(off)


def _same(one: sm.Expr, other: sm.Expr, system: System) -> bool:
    """Equal to twenty digits at a random value of every function, derivative and parameter."""
    generator = np.random.default_rng(1)
    functions = sorted((one + other).atoms(sm.core.function.AppliedUndef), key=str)
    orders = [[f.diff(t, 2) for f in functions], [f.diff(t) for f in functions], functions, [*system.parameters, t]]
    values = []
    for each in (one, other):
        for group in orders:
            each = each.xreplace({x: sm.Float(generator.uniform(0.5, 1.5), 30) for x in group})
        generator = np.random.default_rng(1)
        values.append(each)
    return bool(abs(values[0] - values[1]) < 1e-20 * (1 + abs(values[0])))


def numbers_of_equations() -> float:
    """n + l equations with n + l unknowns, q and λ."""
    off = 0
    for make in SYSTEMS:
        n, links, _ = size(stated(make))
        equations = derived(make, "lagrange")
        off += abs(len(equations.equations) - n - links) + abs(len(equations.unknowns) - n - links)
    return float(off)


def normal_form() -> float:
    """u ∈ ℝ²ⁿ with l multipliers besides: the multipliers are no states, but 2n + l is the number of unknowns."""
    off = 0
    for make in SYSTEMS:
        system = stated(make)
        n, links, _ = size(system)
        flow = derived(make, "lagrange").flow
        off += abs(len(flow.states) - 2 * n) + abs(len(flow.states) + len(system.reaction_names) - 2 * n - links)
    return float(off)


def holonomic_reduction() -> float:
    """The slider-crank as a crank alone: 2k states, and the acceleration of the pin is that with its links."""
    system = slider_crank()
    reduced = crank()
    off = abs(len(reduced.flow.states) - 2 * size(system)[2])
    angle, rate = np.array([0.3, 0.9, 1.3, -0.6]), np.array([1.0, -2.0, 0.5, 3.0])
    l = float(system.at().values["l"])
    sine, cosine = l * np.sin(angle), l * np.cos(angle)
    q, v = np.array([cosine, sine, 2 * cosine]), np.array([-sine * rate, cosine * rate, -2 * sine * rate])
    full = np.array([system.equations().solve(q[:, k], v[:, k], system.at())[0] for k in range(len(angle))]).T
    turn = np.array([reduced.equations().solve([a], [w], reduced.at())[0][0] for a, w in zip(angle, rate, strict=True)])
    return off + float(np.abs(full[1] - (cosine * turn - sine * rate**2)).max())


def crank() -> System:
    """The slider-crank with its links solved: x1 = l cos θ, y1 = l sin θ, x2 = 2 l cos θ."""
    theta = sm.Function("theta")(t)
    system = slider_crank()
    l = next(symbol for symbol in system.parameters if symbol.name == "l")
    solved = (l * sm.cos(theta), l * sm.sin(theta), 2 * l * sm.cos(theta))
    place = dict(zip(system.coordinates, solved, strict=True))
    kinetic, potential = (sm.sympify(e).subs(place).doit() for e in (system.kinetic, system.potential))
    return System([theta], kinetic, potential, parameters=system.parameters, name="slider-crank, its links solved")


def live_degrees() -> float:
    """k = n − l dynamical equations by Appell, and k + l = n unknowns with the links."""
    off = 0
    for make in SYSTEMS:
        n, links, k = size(stated(make))
        equations = derived(make, "appell")
        off += abs(equations.dynamical - k) + abs(len(equations.flow.states) - n - k)
        off += abs(equations.dynamical + links - n)
    return float(off)


def fewer_states() -> float:
    """Systems for which Appell's equations have more states, or more dynamical equations, than Lagrange's."""
    off = 0
    for make in SYSTEMS:
        appell, lagrange = (derived(make, principle) for principle in ("appell", "lagrange"))
        off += len(appell.flow.states) > len(lagrange.flow.states) or appell.dynamical > lagrange.dynamical
    return float(off)


def links_added() -> float:
    """A body on a plane, free and on its blade: how many equations more or fewer, by each."""
    free = System(
        chaplygin_sleigh().coordinates,
        chaplygin_sleigh().kinetic,
        parameters=chaplygin_sleigh().parameters,
    )
    linked = chaplygin_sleigh()
    appell = linked.equations("appell").dynamical - free.equations("appell").dynamical
    lagrange = len(linked.equations().equations) - len(free.equations().equations)
    return float(abs(appell + 1) + abs(lagrange - 1))


def gauss() -> float:
    """H at accelerations that the links allow, less its value at the computed ones and ½ δᵀM δ; relative.

    𝓗 = ½ q̈ᵀM q̈ + q̈ᵀh: that this difference vanishes for every δ with A δ = 0 says that 𝓗 is least.
    """
    worst = 0.0
    for make in SYSTEMS:
        for M, h, A, acceleration in _balances(make):
            excess = _excess(M, h, acceleration)
            for delta in _allowed(A):
                rise = delta @ M @ delta / 2
                scale = abs(h).max() * abs(delta).max() + rise
                worst = max(worst, abs(excess(delta) - rise) / scale if rise > 0 else 1.0)
    return worst


def unlinked() -> float:
    """By how much 𝓗 can fall below that value, relative, if the links are disregarded: they matter."""
    M, h, _, acceleration = _balances(ball_in_cavity)[0]
    free = np.linalg.solve(M, -h) - acceleration
    return -float(_excess(M, h, acceleration)(free)) / float(abs(h).max() * abs(free).max())


def _excess(M: np.ndarray, h: np.ndarray, acceleration: np.ndarray) -> Callable[[np.ndarray], float]:
    def function(a: np.ndarray) -> float:
        return float(a @ M @ a / 2 + a @ h)

    return lambda delta: function(acceleration + delta) - function(acceleration)


def _allowed(A: np.ndarray) -> np.ndarray:
    """Random changes of the accelerations with A δ = 0."""
    directions = np.linalg.svd(A)[2][len(A) :]
    return np.random.default_rng(5).normal(size=(10, len(directions))) @ directions


@cache
def _balances(make: Callable[[], System]) -> list[tuple[np.ndarray, ...]]:
    """M, h and A of random states, and the accelerations by Appell's equations."""
    system, equations = stated(make), derived(make, "lagrange")
    at = at_random(system)
    accelerations, _ = derived(make, "appell").solve(at.q, at.v, at.numbers, at.time)
    s = system.statement
    matrices = [equations.mass_matrix, equations.forcing, equations.constraint_matrix]
    plain = [matrix.xreplace(dict(s.to_plain)) for matrix in matrices]
    evaluate = sm.lambdify([*s.q, *s.v, *system.parameters, s.time], plain, "numpy")
    found: list[tuple[np.ndarray, ...]] = []
    for k in range(STATES):
        M, h, A = evaluate(*at.q[:, k], *at.v[:, k], *at.numbers[:, k], at.time[k])
        found.append((M, h[:, 0], A, accelerations[:, k]))
    return found


def gibbs_of_particles(live_only: bool) -> float:
    """∂𝓖/∂u̇ of 𝓖 = ½ Σ m R̈² for the particle with ż = yẋ, against that of the Gibbs function; 1 if they differ.

    ``live_only`` sums over the k independent coordinates only, as Eq. (4) reads to the letter.
    """
    system = nonholonomic_particle()
    equations: Any = system.equations("appell")
    (m,) = system.parameters
    u = [sm.Function(name)(t) for name in equations.names]
    velocities = equations.basis * sm.Matrix(u) + equations.offset
    known = {q.diff(t): v for q, v in zip(system.coordinates, velocities, strict=True)}
    accelerations = [v.diff(t).subs(known) for v in velocities]
    summed = accelerations[: equations.dynamical] if live_only else accelerations
    gibbs = m * sum(each**2 for each in summed) / 2
    differences = [sm.diff(gibbs - equations.gibbs_function, each.diff(t)) for each in u]
    return float(any(sm.simplify(each) != 0 for each in differences))


def gibbs_without_coupling() -> float:
    """Eq. (4) to the letter for a pendulum, whose only coordinate is live: 𝓖 = ½ m L² Q̈²; 1 if it differs."""
    system = pendulum()
    equations: Any = system.equations("appell")
    u = sm.Function(equations.names[0])(t)
    inertia = sm.diff(system.equations().motion[0], system.coordinates[0].diff(t, 2))
    return float(sm.simplify(sm.diff(equations.gibbs_function - inertia * u.diff(t) ** 2 / 2, u.diff(t))) != 0)


def wrong_acceleration() -> float:
    """ẍ of the same particle at y = 1, ẋ = ẏ = 1 by the shorter sum, zero, against that of all principles."""
    system = nonholonomic_particle()
    found, _ = system.equations().solve([0.0, 1.0, 0.0], [1.0, 1.0, 1.0], system.at())
    return float(abs(found[0]))


def virtual_power() -> float:
    """Power of the damping forces in Q* against −2R: what the rolling ball loses, R = ½ c ẋ² of its centre."""
    system, equations = stated(ball_in_cavity), derived(ball_in_cavity, "appell")
    c = next(symbol for symbol in system.parameters if symbol.name == "c")
    u = sm.Matrix([sm.Function(name)(t) for name in equations.names])
    velocities = equations.basis * u
    known = {q.diff(t): v for q, v in zip(system.coordinates, velocities, strict=True)}
    forces = equations.generalised_forces
    power = ((forces - forces.subs(c, 0)).T * u)[0]
    return float(not _same(power, -2 * sm.sympify(system.dissipation).subs(known), system))


def power_with_printed_sign() -> float:
    """Power of +∂R/∂q̇ on the right-hand side, R = ½ c ẋ² ≥ 0, at random states of the damped ball: the smallest."""
    system = ball_in_cavity()
    s, at = system.statement, at_random(system)
    rates = sum(sm.diff(s.dissipation, v) * v for v in s.v)
    evaluate = sm.lambdify([*s.q, *s.v, *system.parameters], rates, "numpy")
    return float(np.min(evaluate(*at.q, *at.v, *at.numbers)))


def damping_loses_energy() -> float:
    """The share of its energy that a free damped oscillator loses by t = 10: with −∂R/∂q̇ it falls."""
    motion = oscillator().at(p0=0, c=0.2).simulate(10, Q=1, samples=11)
    total = motion.energy.total
    return float((total[0] - total[-1]) / total[0])


def same_accelerations(make: Callable[[], System]) -> float:
    """Appell's accelerations and reactions against Lagrange's at random states, relative to the largest."""
    at, worst = at_random(stated(make)), 0.0
    found, expected = (derived(make, name).solve(at.q, at.v, at.numbers, at.time) for name in ("appell", "lagrange"))
    for one, other in zip(found, expected, strict=True):
        worst = max(worst, float((np.abs(one - other) / np.abs(other).max(initial=1e-2)).max()))
    return worst


@cache
def compared(make: Callable[[], System]) -> Comparison:
    return stated(make).compare(states=4)


def operations(make: Callable[[], System]) -> float:
    """Operations of Lagrange's symbolic equations over those of Appell's."""
    lagrange, appell = (compared(make)[principle].operations for principle in ("lagrange", "appell"))
    assert lagrange is not None
    assert appell is not None  # these systems are small
    return lagrange / appell


def compiled_operations(make: Callable[[], System]) -> float:
    """The same of the compiled right-hand sides, with all that is needed for the accelerations."""
    found = compared(make)
    return found["lagrange"].steps / found["appell"].steps


COUNTED = (ball_in_cavity, chaplygin_sleigh, nonholonomic_particle, rolling_disc, slider_crank)


def longer_by_appell() -> float:
    """Systems of which Appell's symbolic equations have more operations than Lagrange's."""
    return float(sum(operations(make) < 1 for make in COUNTED))


def draw_comparison() -> Figure:
    return compared(ball_in_cavity).plot()


ALL = "derived once"
PAPER = Paper(
    key="naprstek2018",
    title=PAPERS["naprstek2018"],
    about="An extended abstract that sets Lagrange's equations with multipliers beside Appell's with the Gibbs function, for systems with "
    "nonholonomic links, such as a ball that rolls in a spherical cavity. It prints no numbers; its counts and its identities are "
    f"checked on {len(SYSTEMS)} systems: the ball in the cavity, the ball absorber, Chaplygin's sleigh, the particle with ż = yẋ, the "
    "rolling disc, and the slider-crank as a holonomic one. Simplicity is counted in operations, common subexpressions once.",
    sections=[
        Section("Lagrange's equations", [
            Claim("Eq. (1)", "equations with multipliers, R the potential of the damping forces", lagrange_equations, shares=ALL, method="ball in cavity and absorber, at a random point; R the negative of Rayleigh's function, λ = −p",
                  formula=r"\frac{d}{dt}\frac{\partial\mathcal{T}}{\partial\dot{q}_s}-\frac{\partial\mathcal{T}}{\partial q_s}+\frac{\partial\mathcal{V}}{\partial q_s}=Q_s+\frac{\partial\mathcal{R}}{\partial\dot{q}_s}+\sum_{r=1}^{l}\lambda_rC_{rs}"),
            Claim("Eqs. (1), (2)", "n + l equations with n + l unknowns", numbers_of_equations, shares=ALL, method=f"{len(SYSTEMS)} systems"),
            Claim("Eq. (3)", "normal form in 2n states; with l multipliers 2n + l unknowns", normal_form, shares=ALL, method=f"{len(SYSTEMS)} systems",
                  formula=r"\dot{\mathbf{u}}=\mathbf{f}(\mathbf{u},t),\quad\mathbf{u}\in\mathbb{R}^{2n}"),
            Claim("after Eq. (3)", "integrable links leave 2k unknowns", holonomic_reduction, within=1e-10, formula="k=n-l",
                  method="slider-crank with its links and as a crank alone: the same accelerations"),
        ]),
        Section("Appell's equations", [
            Claim("Eq. (5)", "k = n − l dynamical equations; with the links k + l unknowns", live_degrees, shares=ALL, method=f"{len(SYSTEMS)} systems"),
            Claim("Eq. (4)", "Gibbs function of a system all of whose coordinates are live", gibbs_without_coupling, method="pendulum, symbolically",
                  formula=r"\mathcal{G}=\frac{1}{2}\sum_{r=1}^{k}m_r\ddot{q}_r^2"),
            Claim("Eq. (4)", "Gibbs function as the sum over live degrees of freedom only", partial(gibbs_of_particles, True), method="particle with ż = yẋ, symbolically",
                  formula=r"\mathcal{G}=\frac{1}{2}\sum_{r=1}^{k}m_r\ddot{q}_r^2"),
            Claim("Eqs. (4), (5)", "the accelerations minimise H among those that the links allow", gauss, shares=ALL, within=1e-10, method=f"{len(SYSTEMS)} systems, {STATES} states, ten variations each",
                  formula=r"\mathcal{H}=\mathcal{G}-\sum_rQ_r\ddot{q}_r\to\min"),
            Claim("Eqs. (4), (5)", "without the links H would be less elsewhere", unlinked, shares=ALL, beyond=1e-3, method="ball in the cavity"),
            Claim("after Eq. (5)", "dissipation enters by virtual power", virtual_power, shares=ALL, method="ball in the cavity: power of the damping part of Q* is −2R"),
            Claim("after Eq. (5)", "a link takes an equation from Appell's and adds one to Lagrange's", links_added, method="body on a plane, with and without its blade"),
            Claim("last paragraph", "unknowns and equations are as many or fewer", fewer_states, shares=ALL, method=f"states and dynamical equations of {len(SYSTEMS)} systems with simple quasi-velocities; where only a carried basis is regular everywhere, as for the column, its entries are unknowns, too"),
        ]),
        Section("Both together", [
            *(Claim("Lagrange and Appell", f"the same accelerations and reactions, {words}", partial(same_accelerations, make), within=1e-12, method=f"{STATES} random states", shares=ALL)
              for make, words in ((ball_in_cavity, "ball in a cavity"), (ball_absorber, "ball absorber"), (chaplygin_sleigh, "Chaplygin's sleigh"), (slider_crank, "slider-crank (holonomic)"))),
            Claim("last paragraph", "incomparably simpler: fewer operations by Appell's in every system", longer_by_appell, method=f"symbolic equations of {len(COUNTED)} systems, the absorber left out", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, Chaplygin's sleigh", partial(operations, chaplygin_sleigh), beyond=1.0, method="symbolic equations, Lagrange's over Appell's", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, rolling disc", partial(operations, rolling_disc), beyond=1.0, method="symbolic equations, Lagrange's over Appell's", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, ball in a cavity", partial(operations, ball_in_cavity), beyond=1.0, method="symbolic equations, Lagrange's over Appell's", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, ball in a cavity, once compiled", partial(compiled_operations, ball_in_cavity), beyond=1.0, method="elementary steps for all accelerations, Lagrange's over Appell's", shares=ALL),
        ], [Picture("figure_1", "The principles side by side for the ball in a spherical cavity.", draw_comparison, shares=ALL)]),
    ],
    errata=[
        Erratum("Eq. (1), sign of the dissipation", r"+\frac{\partial\mathcal{R}}{\partial\dot{q}_s}", r"-\frac{\partial\mathcal{R}}{\partial\dot{q}_s}",
                "With Rayleigh's function, which is not negative, the printed sign feeds energy in. It is right if R is understood as the negative of that function.",
                [Claim("", "power of the printed term is positive", power_with_printed_sign, beyond=1e-12, method="ball in a cavity, least of the random states"),
                 Claim("", "with the other sign energy is lost", damping_loses_energy, beyond=0.1, method="share lost by a damped oscillator up to t = 10")]),
        Erratum("Eq. (4), range of the sum", r"\mathcal{G}=\frac{1}{2}\sum_{r=1}^{k}m_r\ddot{q}_r^2", r"\mathcal{G}=\frac{1}{2}\sum_{\alpha}m_\alpha\ddot{R}_\alpha^2,\quad\ddot{R}_\alpha=\ddot{R}_\alpha(\ddot{q}_1\dots\ddot{q}_k)",
                "The sum runs over all masses, dependent ones included, expressed by the k independent accelerations; over the live coordinates alone it loses what the links make the others do.",
                [Claim("", "the sum over all coordinates is the Gibbs function", partial(gibbs_of_particles, False), method="particle with ż = yẋ"),
                 Claim("", "the shorter sum gives ẍ = 0, which is wrong", wrong_acceleration, beyond=0.1, method="|ẍ| by Lagrange's equations at y = ẋ = ẏ = 1")]),
        Erratum("Last paragraph, simplicity", r"\text{incomparably simpler}", r"\text{fewer equations; simpler where quasi-velocities suit the system}",
                "Appell's equations are always fewer, but their expressions are shorter only where quasi-velocities simplify the kinetic energy. For the ball in stereographic coordinates the multipliers keep the symbolic equations shorter, and once compiled both cost about the same.",
                [Claim("", "symbolic operations, Appell's over Lagrange's, of the ball in the cavity", lambda: 1 / operations(ball_in_cavity), beyond=1.2, method="compare()", shares=ALL),
                 Claim("", "compiled operations differ by less than a fifth", lambda: abs(compiled_operations(ball_in_cavity) - 1), within=0.2, method="compare()", shares=ALL)]),
    ],
)  # fmt: skip
