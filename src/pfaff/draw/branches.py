"""Branches of equilibria as bifurcation diagrams, and curves of folds and Hopf points in two parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.diagram import draw_stretches, name_styles
from pfaff.draw.labels import formula
from pfaff.draw.special import mark_special
from pfaff.draw.style import BLUE, CYCLE, figure, label, title

if TYPE_CHECKING:
    from pfaff.bifurcation.curves.curves import Curve
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleCurve

CRITICAL = "supercritical", "subcritical"
SHOWN = 12  # most states, taken evenly from all that change
MOVING = 1e-9  # changes of a state below this, relative to its size, are rounding


def draw_equilibria_branch(branch: EquilibriumBranch, state: str | None) -> Figure:
    """States against the parameter: solid where equilibria are stable, dashed elsewhere, special points marked.

    Where nothing changes but the parameter, growth rates are shown instead.
    """
    fig = figure(6.5, 4.2)
    axes = fig.add_subplot()
    moving = [state] if state else _moving(branch)
    names = [moving[k] for k in np.unique(np.linspace(0, len(moving) - 1, min(len(moving), SHOWN)).round().astype(int))]
    if not names:
        _draw_growth(axes, branch)
    for k, name in enumerate(names):
        _draw_runs(axes, branch, name, [point.stable for point in branch], CYCLE[k % len(CYCLE)], name)
        mark_special(axes, branch, itemgetter(name), named=k == 0)
    what = f"state ({len(names)} of {len(moving)})" if len(names) < len(moving) else "state" if names else "growth rate"
    label(axes, formula(branch.parameter), formula(names[0]) if len(names) == 1 else what)
    name_styles(axes, [point.stable for point in branch] if names else [])
    title(fig, f"{branch[0].case.system.name}: {branch.status}")
    return fig


def _moving(branch: EquilibriumBranch) -> list[str]:
    """The states that change along a branch, beyond rounding, without one that is itself the parameter."""
    x = np.array([point.x for point in branch])
    sizes = branch[0].equations.sizes[: x.shape[1]]
    spans = zip(branch[0].equations.flow.states, np.ptp(x, axis=0) / sizes, strict=True)
    return [name for name, span in spans if span > MOVING and name != branch.parameter]


def _draw_growth(axes: Any, branch: EquilibriumBranch) -> None:
    """Real parts of the eigenvalues, and where they vanish; they leave like square roots where two meet."""
    loads, values = branch.spectra()
    for k in range(values.shape[1]):
        axes.plot(loads, values[:, k].real, "-", color=BLUE, lw=1.1)
    axes.axhline(0.0, color="black", lw=0.8)
    mark_special(axes, branch, lambda special: 0.0)


def draw_curve(curve: Curve) -> Figure:
    """The curve in the plane of its parameters; of Hopf points solid where the cycles born there attract, other modes
    left aside (l1 < 0 but for families of equilibria), dashed where they do not."""
    soft = [point.attracts for point in curve]
    told = soft if curve.of == "Hopf points" else []
    repelled = any(point.criticality.family for point in curve)
    words = ("cycles attract", "cycles repel") if repelled else CRITICAL
    return _in_plane(curve, lambda axes, first: _draw_runs(axes, curve, first, soft, BLUE, curve.of), told, words)


def draw_cycle_curve(curve: CycleCurve) -> Figure:
    """The curve in the plane of its parameters, with the points of codimension two."""

    def line(axes: Any, first: str) -> None:
        points, special = ([(each.value, each[first]) for each in group] for group in (curve, curve.special))
        draw_stretches(axes, points, [True] * len(points), special, color=BLUE, lw=1.3, label=curve.of)

    return _in_plane(curve, line)


def _in_plane(
    curve: Curve | CycleCurve,
    line: Callable[[Any, str], Any],
    solid: Sequence[bool] = (),
    words: tuple[str, str] = CRITICAL,
) -> Figure:
    """A line drawn over the second parameter, and the special points on it."""
    fig = figure(6.5, 4.2)
    axes = fig.add_subplot()
    first, second = curve.parameters
    line(axes, first)
    mark_special(axes, curve, itemgetter(first))
    label(axes, formula(second), formula(first))
    name_styles(axes, solid, words)
    title(fig, f"{curve[0].case.system.name}: {curve.status}")
    return fig


def _draw_runs(axes: Any, followed: Any, height: str, solid: list[bool], colour: str, name: str) -> None:
    """A smooth line that changes its style at special points, where there are some."""
    points, special = ([(each.value, each[height]) for each in group] for group in (followed, followed.special))
    draw_stretches(axes, points, solid, special, followed.places, color=colour, lw=1.3, label=formula(name))
