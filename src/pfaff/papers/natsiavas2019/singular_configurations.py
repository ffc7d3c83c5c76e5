"""Mechanisms through singular configurations and with redundant constraints, by the augmented Lagrangian of Eq. (14)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import Outcome
from pfaff.atlas import double_four_bar, slider_crank
from pfaff.motion.three_fields import ThreeFields

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff import Motion


UPRIGHT: dict[str, Any] = {"x0": 0, "y0": 1, "x1": 1, "y1": 1, "x2": 2, "y2": 1, "x0_dot": 1}
CRANKED: dict[str, Any] = {"x1": 0.5, "y1": 0.5, "x2": 1, "x2_dot": -4}
STEPS = (0.01, 0.005, 0.0025)
FLAT, DEAD = 1.6, 1.2  # by then the linkage has been flat twice, the slider-crank in two dead points


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
    """0 if one row of the linkage with a rigid coupler is found redundant, as the middle crank follows from the rest; else 1."""
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
    named = stopped.status.outcome is Outcome.LOST_RANK
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
