"""What follows from example 4: where a moving support sets the pendulum swinging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.atlas import moving_support_pendulum

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff import Case


def monodromy(case: Case) -> np.ndarray:
    """Motions so close to rest that they are small ones, over a period of the support."""
    period, small = 2 * np.pi / float(case.values["Omega"]), 1e-6
    starts: list[dict[str, Any]] = [{"Q": small}, {"Q_dot": small}]
    ends = [case.simulate(period, samples=2, **start).y[:, -1] for start in starts]
    return np.transpose(ends) / small


def tongue_edge(tongue: int) -> float:
    """|tr − (±2)| of the monodromy matrix at the edges of the n-th tongue by Mathieu's values, at f0 = L/10."""
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
