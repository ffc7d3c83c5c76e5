"""What follows from example 5: paths of equilibria of the imperfect bar, and the loads that it bears, static or sudden."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff import Event
from pfaff.atlas import softening_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    case = softening_bar().at(epsilon=epsilon, g=0, P=load)
    return not case.simulate(300, Q=epsilon, events={"over": Event("Q - 3/2", stop=True)}).finished


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
