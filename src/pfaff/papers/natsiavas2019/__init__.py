"""Potosakis, Paraskevopoulos and Natsiavas: equations with multipliers of second order, and the augmented Lagrangian."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.atlas import (
    ball_on_turntable,
    chaplygin_sleigh,
    double_four_bar,
    rocking_suitcase,
    rolling_disc,
    slider_crank,
    snaking_trailer,
)
from pfaff.motion.three_fields import ThreeFields
from pfaff.papers import PAPERS
from pfaff.papers.reproduction import Claim, Paper, Picture, Section
from pfaff.principles.comparison import random_states
from pfaff.statement import TIME as t
from pfaff.statement import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.motion.result import Motion

STATES = 8
UPRIGHT: dict[str, Any] = {"x0": 0, "y0": 1, "x1": 1, "y1": 1, "x2": 2, "y2": 1, "x0_dot": 1}
CRANKED: dict[str, Any] = {"x1": 0.5, "y1": 0.5, "x2": 1, "x2_dot": -4}
STEPS = (0.01, 0.005, 0.0025)
FLAT, DEAD = 1.6, 1.2  # by then the linkage has been flat twice, the slider-crank in two dead points


def constraints_of_rolling() -> float:
    """Pfaffian constraints a(q) q̇ = 0 are scleronomic, and those of a sleigh and a disc cannot be integrated."""
    kinds = [make().classification for make in (chaplygin_sleigh, rolling_disc)]
    return float(sum(not each.scleronomic or not each.catastatic or each.holonomic for each in kinds))


def constraints_of_linkages() -> float:
    """Those of the mechanisms are holonomic, φ(q) = 0, with the integrals stated."""
    kinds = [make().classification for make in (double_four_bar, slider_crank)]
    return float(sum(not each.scleronomic or not each.catastatic or not each.holonomic for each in kinds))


def geometric_equations() -> float:
    """Eq. (4) with Christoffel's symbols of the inertia g as Λ against h of Lagrange's equations, M q̈ + h + Aᵀp = 0."""
    worst = 0.0
    for make in (chaplygin_sleigh, rolling_disc):
        system = make()
        s, at = system.statement, random_states(system, STATES, seed=4)
        g = sm.hessian(s.kinetic, s.v)
        force = [-sm.diff(s.potential, q) for q in s.q]
        entries = [g, [g.diff(q) for q in s.q], force]
        evaluate = sm.lambdify([*s.q, *s.v, *system.parameters], entries, "numpy")
        for k in range(STATES):
            v, state = at.v[:, k], (at.q[:, k], at.v[:, k], at.numbers[:, k])
            metric, slopes, pull = (np.array(each, dtype=float) for each in evaluate(*np.concatenate(state)))
            # slopes[k, i, j] = ∂g_ij/∂q^k; first[r, l, i] = ½(∂_i g_rl + ∂_l g_ri − ∂_r g_li)
            first = (np.einsum("irl->rli", slopes) + np.einsum("lri->rli", slopes) - slopes) / 2
            second = np.einsum("mr,rli->mli", np.linalg.inv(metric), first)  # Λ^m_{ℓi}
            rate = np.einsum("kij,k,j->i", slopes, v, v)  # of (g_ij v^j)', without accelerations
            found = rate - np.einsum("mli,mj,j,l->i", second, metric, v, v) - pull
            worst = max(worst, float(np.abs(found - _matrices(system, *state)[1]).max()))
    return worst


def second_order_equations() -> float:
    """Eqs. (3)–(6), solved for q̈ and λ̈ with any positive m̄, c̄, k̄ and any λ, λ̇, against Lagrange's accelerations."""
    worst = 0.0
    for make in (chaplygin_sleigh, ball_on_turntable, slider_crank):
        system = make()
        at = random_states(system, STATES, seed=6)
        expected, _ = system.equations().solve(at.q, at.v, at.numbers, at.time)
        for k in range(STATES):
            M, h, A, gamma, residual = _matrices(system, at.q[:, k], at.v[:, k], at.numbers[:, k])
            found = _accelerations(M, h, A, gamma, residual, seed=k)
            worst = max(worst, float(np.abs(found - expected[:, k]).max() / (1 + np.abs(expected[:, k]).max())))
    return worst


def _matrices(system: System, q: np.ndarray, v: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
    """M, h, A, γ and the constraints themselves at a state."""
    M, h, A, gamma, residual = _evaluated(system)(*q, *v, *numbers)
    return M, h[:, 0], A, gamma[:, 0], residual[:, 0]


@cache
def _evaluated(system: System) -> Callable[..., Any]:
    equations, s = system.equations(), system.statement
    matrices = [
        equations.mass_matrix,
        equations.forcing,
        equations.constraint_matrix,
        equations.constraint_forcing,
        equations.constraints,
    ]
    plain = [matrix.xreplace(dict(s.to_plain)) for matrix in matrices]
    return sm.lambdify([*s.q, *s.v, *system.parameters], plain, "numpy")


def _accelerations(
    M: np.ndarray, h: np.ndarray, A: np.ndarray, gamma: np.ndarray, residual: np.ndarray, seed: int
) -> np.ndarray:
    """q̈ from M q̈ + h = Σ h_R a_R and m̄ (a_R q̈ + γ) + c̄ ψ̇ = 0 with h_R = m̄ λ̈ + c̄ λ̇ + k̄ λ."""
    generator, (l, n) = np.random.default_rng(seed), A.shape
    m, c, k = generator.uniform(0.5, 2, (3, l))
    multiplier, rate = generator.normal(size=(2, l))
    whole = np.block([[M, -A.T * m], [m[:, None] * A, np.zeros((l, l))]])
    right = np.concatenate([-h + A.T @ (c * rate + k * multiplier), -m * gamma - c * residual])
    return np.linalg.solve(whole, right)[:n]


def unknowns() -> float:
    """n + k equations of second order for n + k unknowns q and λ: the matrix of q̈ and λ̈ is regular, off singularities."""
    system = slider_crank()
    at = random_states(system, 1, seed=6)
    M, _, A, *_ = _matrices(system, at.q[:, 0], at.v[:, 0], at.numbers[:, 0])
    whole = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    return float(abs(np.linalg.matrix_rank(whole) - len(system.coordinates) - len(A)))


def singular_matrix() -> float:
    """The least singular value of the same matrix, relative, where the linkage lies flat."""
    system = double_four_bar()
    case = system.at()
    M, _, A, *_ = _matrices(system, np.array([1.0, 0, 2, 0, 3, 0]), np.zeros(6), case.numbers)
    sizes = np.linalg.svd(np.block([[M, -A.T], [A, np.zeros((5, 5))]]), compute_uv=False)
    return float(sizes[-1] / sizes[0])


def constraint_decay() -> float:
    """φ of (m̄φ̇)˙ + c̄φ̇ + k̄φ = 0: it stays zero where it starts at zero, and decays where it does not; 1 if not."""
    time, m, c, k = sm.symbols("time m c k", positive=True)
    phi = sm.Function("phi")
    equation = (m * phi(time).diff(time)).diff(time) + c * phi(time).diff(time) + k * phi(time)
    rest = sm.dsolve(equation, ics={phi(0): 0, phi(time).diff(time).subs(time, 0): 0}).rhs
    random = np.random.default_rng(6).uniform(0.1, 3, (100, 3))
    return float(rest != 0 or max(np.roots(each).real.max() for each in random) >= 0)


def weak_form() -> float:
    """Eq. (12): the integrand of (11) less that of (12) is the derivative of m̄ φ̇ δλ; symbolically."""
    m, phi, delta = (sm.Function(name)(t) for name in ("m", "phi", "delta"))
    c, k = sm.symbols("c k")
    g = (m * phi.diff(t)).diff(t) + c * phi.diff(t) + k * phi
    printed = m * phi.diff(t) * delta.diff(t) - (c * phi.diff(t) + k * phi) * delta
    return float(sm.expand((m * phi.diff(t) * delta).diff(t) - printed - g * delta) != 0)


def march(end: float, step: float, alpha: float | None = None) -> Any:
    """Equal steps of the linkage from upright, with a penalty α of one's own if given: the last node."""
    case = _linkage()
    fields = ThreeFields(case.system, case.numbers, alpha=alpha)
    node, guess = fields.start(np.array([0.0, 1, 1, 1, 2, 1]), np.array([1.0, 0, 1, 0, 1, 0])), None
    for _ in range(round(end / step)):
        found = fields.step(node, step, node.v if guess is None else guess, 3.0)
        if found is None:
            raise ArithmeticError(f"no step of {step} from t = {node.t:g}")
        node, middle = found
        guess = 2 * node.v - middle.v
    return node


@cache
def _linkage() -> Any:
    return double_four_bar().at()


def penalties_leave_the_motion() -> float:
    """Eq. (14): the multipliers move by ξφ, and φ = 0: penalties a hundred times apart give one motion."""
    soft, hard = (march(0.4, 0.01, alpha) for alpha in (1e5, 1e7))
    return float(max(np.abs(soft.q - hard.q).max(), np.abs(soft.v - hard.v).max()))


def pendulum(end: float) -> np.ndarray:
    """The linkage as a pendulum of three rods that turn and two that translate, by SciPy: θ and θ̇."""
    from scipy.integrate import solve_ivp

    def rates(_: float, s: np.ndarray) -> list[float]:
        return [s[1], -3.5 / 3 * 9.81 * np.cos(s[0])]

    return solve_ivp(rates, [0, end], [np.pi / 2, -1.0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]


def crank(end: float) -> np.ndarray:
    """The slider-crank in its crank angle, by SciPy: J(θ) = l²(2 + 6 sin²θ)/3 per unit of mass."""
    from scipy.integrate import solve_ivp

    l = np.sqrt(0.5)

    def rates(_: float, s: np.ndarray) -> list[float]:
        sine, cosine = np.sin(s[0]), np.cos(s[0])
        inertia, slope = l**2 * (2 + 6 * sine**2) / 3, 4 * l**2 * sine * cosine
        return [s[1], -(slope * s[1] ** 2 / 2 + 9.81 * l * cosine) / inertia]

    return solve_ivp(rates, [0, end], [np.pi / 4, 4.0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]


@cache
def ends(mechanism: str) -> tuple[np.ndarray, ...]:
    """The last states of motions through two singular configurations, for halved steps."""
    if mechanism == "slider-crank":
        case, end, start = slider_crank().at(), DEAD, CRANKED
    else:
        case, end, start = double_four_bar(mechanism == "rigid coupler").at(), FLAT, UPRIGHT
    return tuple(case.simulate(end, method="augmented", step=h, samples=2, **start).y[:, -1] for h in STEPS)


@cache
def errors(mechanism: str) -> tuple[float, ...]:
    """The largest errors of two coordinates and a velocity among them."""
    if mechanism == "slider-crank":
        (angle, speed), l = crank(DEAD), np.sqrt(0.5)
        expected, rows = [l * np.cos(angle), 2 * l * np.cos(angle), -2 * l * speed * np.sin(angle)], [0, 2, 5]
    else:
        angle, speed = pendulum(FLAT)
        expected, rows = [np.cos(angle), np.sin(angle), -speed * np.sin(angle)], [0, 1, 6]
    return tuple(float(np.abs(each[rows] - expected).max()) for each in ends(mechanism))


def order(mechanism: str) -> float:
    """How far the order seen in the last halving is from two."""
    found = errors(mechanism)
    return abs(float(np.log2(found[-2] / found[-1])) - 2)


def redundant_rows() -> float:
    """Of the linkage with a rigid coupler: the crank in the middle follows from the rest; 1 if that is not found."""
    system = double_four_bar(True)
    return float(len(system.classification.redundant) != 1 or system.classification.freedom != 1)


def same_motion_with_redundancy() -> float:
    """The rigid coupler against five rods at the end: positions and velocities."""
    return float(np.abs(ends("rigid coupler")[-1] - ends("linkage")[-1]).max())


@cache
def long_motion() -> Motion:
    return _linkage().simulate(10, method="augmented", step=0.01, samples=201, **UPRIGHT)


def energy_drift() -> float:
    """The largest change of the energy in ten seconds, relative to the energy between lowest and first position."""
    motion = long_motion()
    if not motion.finished:
        return np.inf
    first = motion.energy.total[0]
    return float(np.abs(motion.energy.balance).max() / (first + 3.5 * 9.81))


def passes_flat() -> float:
    """How often the rods lie flat in these ten seconds."""
    return float(np.abs(np.diff(np.sign(long_motion()["y0"]))).sum() / 2)


def positions_kept() -> float:
    """The largest residual of the constraints on positions."""
    return float(np.abs(long_motion().residual[:5]).max())


def index_reduced_stops() -> float:
    """Where Taylor's method on the index-reduced equations ends, against the first flat configuration."""
    stopped = _linkage().simulate(2, samples=11, **UPRIGHT)
    named = not stopped.finished and "lose rank" in stopped.status
    return abs(stopped.t[-1] - first_flat()) if named else np.inf


def first_flat() -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda end: pendulum(end)[0], 0.1, 1.0, xtol=1e-12))


def fixed_penalty() -> float:
    """With ξ fixed at 10⁴ halving the step does not reduce the error: the logarithm of the ratio, base 2."""
    found = [_error(march(1.0, h, 1e4 * h**2 / 4), 1.0) for h in (0.02, 0.01)]
    return -float(np.log2(found[0] / found[1]))


def growing_penalty() -> float:
    """With ξ ~ 1/h², α the same for all steps, the order is two: how far from it."""
    found = [_error(march(1.0, h, 1e5), 1.0) for h in (0.01, 0.005)]
    return abs(float(np.log2(found[0] / found[1])) - 2)


def _error(node: Any, end: float) -> float:
    angle = pendulum(end)[0]
    return float(max(abs(node.q[0] - np.cos(angle)), abs(node.q[5] - np.sin(angle))))


def analogues() -> float:
    """Suitcase and trailer have the same equations and other numbers."""
    one, other = rocking_suitcase(), snaking_trailer()
    same = one.equations().motion - other.equations().motion == sm.zeros(3, 1)
    return float(not same or one.defaults == other.defaults)


def towed_nonholonomically() -> float:
    kinds = [make().classification for make in (rocking_suitcase, snaking_trailer)]
    return float(sum(each.holonomic for each in kinds))


def lost_stability(make: Callable[[], System]) -> float:
    """The speed at which straight running begins to oscillate."""
    return float(make().at().flutter(to=100))


def draw_strip() -> Figure:
    """The linkage from upright through flat configurations."""
    return long_motion().film(times=[0.0, 0.3, 0.5, first_flat(), 0.75, 1.0, 1.2, FLAT])


def draw_convergence() -> Figure:
    """Errors over steps through singular configurations, and with a penalty that stays fixed."""
    from pfaff.draw.style import BLUE, GREEN, GREY, ORANGE, VERMILION, figure, label

    fig = figure(7, 4.2)
    axes = fig.add_subplot()
    curves = (
        ("five rods, flat twice", "linkage", "o", BLUE),
        ("rigid coupler, flat twice, redundant", "rigid coupler", ".", ORANGE),
        ("slider-crank, two dead points", "slider-crank", "^", GREEN),
    )
    for words, mechanism, mark, colour in curves:
        axes.loglog(STEPS, errors(mechanism), mark + "-", color=colour, label=words, ms=9, fillstyle="none")
    steps = (0.02, *STEPS)
    fixed = [_error(march(1.0, h, 1e4 * h**2 / 4), 1.0) for h in steps[:3]]
    axes.loglog(steps[:3], fixed, "x--", color=VERMILION, label="five rods, flat once, fixed penalty")
    axes.loglog(STEPS, [5 * h**2 for h in STEPS], ":", color=GREY, label="second order")
    axes.set_xticks(steps, [f"{h:g}" for h in steps])
    axes.set_xticks([], minor=True)
    axes.legend(frameon=False, fontsize="small")
    label(axes, "step h", "error at the end", "Three-field augmented Lagrangian through singular configurations")
    return fig


LINKAGE = "linkage"
PAPER = Paper(
    key="natsiavas2019",
    title=PAPERS["natsiavas2019"],
    about="The first chapter of the proceedings of NODYCON 2019, as far as Eq. (14): equations of motion with multipliers as ordinary "
    "differential equations of second order, their weak form in three fields, and its augmentation by penalties. Its discretisation and "
    "its two examples are not in the text at hand, so that the scheme is this package's own and the mechanisms are those of the benchmark "
    "library for singular configurations and redundant constraints; no number of the chapter is compared.",
    sections=[
        Section("Equations of motion", [
            Claim("Eq. (1)", "constraints of rolling are scleronomic and cannot be integrated", constraints_of_rolling, method="Chaplygin's sleigh, rolling disc",
                  formula=r"\dot{\psi}^R\equiv a_i^R(q)\dot{q}^i=0"),
            Claim("Eq. (2)", "constraints of mechanisms can", constraints_of_linkages, method="double four-bar, slider-crank", formula=r"\phi^R(q)=0"),
            Claim("Eq. (4)", "Newton's law on the manifold is Lagrange's equation", geometric_equations, within=1e-12, method="Λ as Christoffel's symbols of the inertia, at random states",
                  formula=r"h_i=\left(g_{ij}v^j\right)'-\Lambda_{\ell i}^{m}g_{mj}v^jv^\ell-f_i"),
            Claim("Eqs. (3)–(6)", "n + k equations of second order for q and λ", unknowns, method="rank of the matrix of q̈ and λ̈, slider-crank off its dead points"),
            Claim("Eqs. (3)–(6)", "they have Lagrange's accelerations, whatever the coefficients, λ and λ̇", second_order_equations, within=1e-10, method=f"three systems, {STATES} states each",
                  formula=r"h_R=\left(\bar{m}_{RR}\dot{\lambda}^R\right)'+\bar{c}_{RR}\dot{\lambda}^R+\bar{k}_{RR}\lambda^R-\bar{f}_R"),
            Claim("Eq. (6)", "constraints that hold at first hold ever after, and errors decay", constraint_decay, method="solution of the equation; roots for 100 random coefficients",
                  formula=r"\left(\bar{m}_{RR}\dot{\phi}^R\right)'+\bar{c}_{RR}\dot{\phi}^R+\bar{k}_{RR}\phi^R=0"),
            Claim("A limit of these equations", "in a singular configuration q̈ and λ̈ are not determined by Eqs. (3)–(6) alone", singular_matrix, shares=LINKAGE, within=1e-12,
                  method="least singular value of their matrix, linkage lying flat: the penalties must help"),
        ]),
        Section("Augmented Lagrangian", [
            Claim("Eq. (12)", "weak form of a constraint, by parts", weak_form, method="symbolically",
                  formula=r"\left(\bar{m}_{RR}\dot{\phi}^R\delta\lambda^R\right)\Big|_{t_1}^{t_2}-\int_{t_1}^{t_2}\left[\bar{m}_{RR}\dot{\phi}^R(\delta\lambda^R)'-(\bar{c}_{RR}\dot{\phi}^R+\bar{k}_{RR}\phi^R)\delta\lambda^R\right]dt=0"),
            Claim("Eq. (14)", "penalties leave the equations, and the motion, as they are", penalties_leave_the_motion, shares=LINKAGE, within=1e-8, method="linkage before it is flat, penalties a hundred times apart",
                  formula=r"\bar{\mu}^R=\mu^R-\xi_R\dot{\phi}^R,\quad\bar{\lambda}^R=\lambda^R-\xi_R\phi^R"),
            Claim("This package's scheme", "a penalty that stays fixed does not converge through the singularity", fixed_penalty, shares=LINKAGE, beyond=0.5, method="linkage at t = 1: growth of the error on halving the step, as a power of two"),
            Claim("This package's scheme", "one that grows as 1/h² has second order", growing_penalty, shares=LINKAGE, within=0.15, method="the same, distance of the order from two"),
        ]),
        Section("Redundant constraints", [
            Claim("Abstract", "a redundant constraint is recognised", redundant_rows, shares=LINKAGE, method="double four-bar with a rigid coupler"),
            Claim("Abstract, by this package's scheme", "the motion is that without it", same_motion_with_redundancy, shares=LINKAGE, within=1e-6, method="against five rods at t = 1.6, flat twice"),
            Claim("Abstract, by this package's scheme", "second order with it", partial(order, "rigid coupler"), within=0.15, method="distance of the order from two, h = 0.005 to 0.0025, against a pendulum", shares=LINKAGE),
        ]),
        Section("Singular configurations", [
            Claim("Beside it", "an index-reduced method stops there, and says so", index_reduced_stops, shares=LINKAGE, within=1e-3, method="Taylor's method: its last time against that of the first flat configuration"),
            Claim("Abstract, by this package's scheme", "second order through two flat configurations", partial(order, "linkage"), within=0.15, method="distance of the order from two, h = 0.005 to 0.0025, against a pendulum", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "second order through two dead points", partial(order, "slider-crank"), within=0.2, method="slider-crank, against its crank angle by SciPy", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "passes through flat configurations over and over", passes_flat, beyond=9, method="ten seconds of the linkage, h = 0.01", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "and keeps its energy", energy_drift, within=1e-3, method="ten seconds, relative", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "and its constraints", positions_kept, within=1e-12, method="residual of the positions", shares=LINKAGE),
        ], [
            Picture("figure_1", "The double four-bar linkage from upright through flat configurations, where one degree of freedom becomes three.", draw_strip, shares=LINKAGE),
            Picture("figure_2", "Errors over the step: second order through singular configurations, lost with a penalty that stays fixed.", draw_convergence, shares=LINKAGE),
        ]),
        Section("Another chapter that the preface names", [
            Claim("Preface, on Horváth and Takács", "suitcases and trailers are subject to nonholonomic constraints", towed_nonholonomically, method="classification"),
            Claim("Contents, title of Horváth and Takács", "they are analogues: one model of ours, two sets of our numbers", analogues, method="equations of motion, symbolically"),
            *(Claim("Preface, on Horváth and Takács", f"stability of the {words}: our model loses it at some speed", partial(lost_stability, make), beyond=0.1, method="flutter speed of our model with our numbers")
              for make, words in ((rocking_suitcase, "suitcase"), (snaking_trailer, "trailer"))),
        ]),
    ],
)  # fmt: skip
