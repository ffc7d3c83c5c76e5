"""Figures 3, 4 and 7 to 14, and films of what Figures 3, 11 and 12 show, in the paper's layout."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm
from scipy.interpolate import PchipInterpolator

from pfaff.atlas import column
from pfaff.draw.body import draw_body, draw_path
from pfaff.draw.configuration import draw_together
from pfaff.draw.scene import scene_of_motion
from pfaff.draw.spectrum import draw_spectrum_path
from pfaff.draw.style import BLUE, CYCLE, GREEN, GREY, SKY, VERMILION, figure, label
from pfaff.draw.view import view_of
from pfaff.papers.cazzolli2020.bifurcations import lyapunov_over
from pfaff.papers.cazzolli2020.cases import BETA, CONSTRAINTS, DAMPED, DAMPINGS, XI_HAT, XI_TILDE, pendulum
from pfaff.papers.cazzolli2020.critical_loads import IE, TR, best_angle, coefficients, vanishing_damping
from pfaff.papers.cazzolli2020.motions import aligned, cycle, damped, misaligned, orbit, triple, undamped
from pfaff.papers.reproduction import Picture

if TYPE_CHECKING:
    from pfaff import Motion
    from pfaff.bifurcation.orbits.orbits import OrbitPoint


def figure_3() -> Any:
    """Six instants of the motion to the limit cycle, and the trajectory of the skate with its sharp corners."""
    motion = cycle("skate")
    fig = figure(9, 9)
    grid = fig.add_gridspec(4, 2, height_ratios=[1, 1, 1, 1.6])
    instants = np.linspace(0, 60, 2001)
    scene = scene_of_motion(motion, instants)
    view = view_of(scene)
    for k, at in enumerate(range(0, 2001, 400)):
        axes = fig.add_subplot(grid[k // 2, k % 2])
        draw_path(axes, scene, at)
        draw_body(axes, scene, at, BLUE)
        view.frame(axes, at)
        axes.set_title(f"({'abcdef'[k]})  τ = {instants[at]:g}", fontsize="medium", loc="left")
    path = fig.add_subplot(grid[3, :])
    end = scene.points["joint2"]
    path.plot(*end.T, color=BLUE, lw=1)
    label(path, "x", "y", "trajectory of the end, τ = 0 … 60")
    return fig


def figure_4() -> Any:
    """The elastic double pendulum at rest and in motion."""
    motion = undamped()
    times = np.array([0.0, motion.t[np.abs(motion["theta1"]).argmax()]])
    scene = scene_of_motion(motion, times)
    view = view_of(scene)
    fig = figure(7, 5)
    for k, (axes, text) in enumerate(zip(fig.subplots(2, 1), ("equilibrium", "in motion"), strict=True)):
        draw_body(axes, scene, k, BLUE)
        view.frame(axes, k)
        p, energy = motion.reactions(times)[0, k], motion.energy.drift
        axes.set_title(f"{text}, τ = {times[k]:.3g}: p = {p:.5g}; energy constant to {energy:.0e}", fontsize="medium")
    return fig


def figure_7() -> Any:
    """Two of the equilibria of seven bars with a misaligned skate, for each of the two loads."""
    fig = figure(7, 7)
    for axes, load, beta, text in zip(
        fig.subplots(2, 1), (0.1, 1.5), (np.pi / 4, np.pi / 2), (r"\pi/4", r"\pi/2"), strict=True
    ):
        case = column(7, "skate", "spring").at(K=1, Delta=load, beta0=float(beta))
        draw_together(axes, case.equilibria(X=0)[:2])
        axes.set_title(rf"$KL\Delta/k = {load}$, $\beta_0 = {text}$", fontsize="medium")
    return fig


def figure_8() -> Any:
    return draw_spectrum_path(pendulum(), "F", 120, low=60)


def figure_9() -> Any:
    return draw_spectrum_path(pendulum(**DAMPED), "F", 120, low=60)


def figure_10() -> Any:
    """The flutter load over magnitude and direction of two dampings, the limit r → 0 included."""
    fig = figure(11, 5.4)
    for k, (pair, name) in enumerate(((IE, r"\varphi_3"), (TR, r"\varphi_1"))):
        axes = fig.add_subplot(1, 2, k + 1, projection="3d", computed_zorder=False)
        _surface(axes, pair)
        best, peak = best_angle(pair), float(pendulum().flutter())
        mark = rf"$P_0 = {peak:.4f}$ at ${name} = {best:.4f}$"
        axes.plot([0], [best], [peak], "o", color="black", zorder=11, label=mark)
        axes.set(xlabel="$r$", ylabel=f"${name}$", zlabel="flutter load")
        axes.set_yticks([0, np.pi / 4, np.pi / 2], ["0", "π/4", "π/2"])
        axes.set_title(rf"${pair[0]} = r\,\cos\,{name}$,  ${pair[1]} = r\,\sin\,{name}$", fontsize="medium")
        axes.legend(frameon=False, fontsize="small", loc="upper left")
        axes.view_init(24, -130)
        axes.set_box_aspect(None, zoom=0.86)
    return fig


def _surface(axes: Any, pair: tuple[str, str]) -> None:
    """The surface with its edges: vanishing damping in blue, loads that no viscosity changes in vermilion."""
    # Towards the edges, where the surface falls off a cliff, lines are as close as the cliff is steep.
    across = np.pi / 4 * (1 - np.cos(np.linspace(0, np.pi, 161)))
    r, phi = np.meshgrid(1e-3 + 10 * np.linspace(0, 1, 80) ** 2, across, indexing="ij")
    loads = flutter_over(pair, r * np.cos(phi), r * np.sin(phi))
    style = {"cmap": "cividis", "rstride": 2, "cstride": 2, "linewidth": 0.1, "edgecolor": GREY, "alpha": 0.9}
    axes.plot_surface(r, phi, loads, rasterized=True, **style)
    angles = np.linspace(0, np.pi / 2, 61)
    limits = [vanishing_damping(pair).limit(np.array([np.cos(a), np.sin(a)])) for a in angles]
    axes.plot(np.zeros_like(angles), angles, limits, color=BLUE, lw=2.2, label="limit r → 0", zorder=10)
    if pair == TR:
        for edge in (0.0, np.pi / 2):
            line = flutter_over(pair, r[:, 0] * np.cos(edge), r[:, 0] * np.sin(edge))
            label_ = "independent of the viscosity" if edge else None
            axes.plot(r[:, 0], np.full(len(r), edge), line, color=VERMILION, lw=2.2, zorder=10, label=label_)


def flutter_over(pair: tuple[str, str], first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The flutter load at scattered values of two dampings: the first root of D_3, Eq. (64), where ρ_3 > 0."""
    numbers = XI_HAT | {name: 0 for name in DAMPINGS if name not in pair}
    known = {sm.Symbol(name, positive=True): value for name, value in numbers.items()}
    *c, F = (sm.Symbol(name, positive=True) for name in (*pair, "F"))
    r0, r1, r2, r3, r4 = (each.subs(known) for each in coefficients()[0])
    quadratic = sm.Poly((r1 * r2 - r0 * r3) * r3 - r1**2 * r4, F)
    a, b, e = (sm.lambdify(c, each)(first, second) for each in quadratic.all_coeffs())
    q = -(b + np.copysign(np.sqrt(b * b - 4 * a * e), b)) / 2  # no digits lost by cancellation
    roots = np.array([np.divide(q, a, out=np.full_like(q, np.inf), where=a != 0), e / q])
    crosses = (roots > 0) & (sm.lambdify([*c, F], r3)(first, second, np.where(np.isfinite(roots), roots, 0)) > 0)
    return np.where(crosses, roots, np.inf).min(axis=0)


def figure_11() -> Any:
    """Rotations, displacement and the path of the skate: growth, then decay."""
    motion = triple()
    fig = figure(10, 5)
    grid = fig.add_gridspec(2, 2, width_ratios=[1.6, 1])
    angles, block, path = fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[1, 0]), fig.add_subplot(grid[:, 1])
    for k, colour in enumerate((BLUE, VERMILION, GREEN)):
        angles.plot(motion.t, motion.y[k], color=colour, lw=1, label=rf"$\theta_{k + 1}$")
    angles.legend(frameon=False, fontsize="small")
    block.plot(motion.t, motion["X"], color=BLUE, lw=1.2)
    _path(path, motion)
    label(angles, "", "rotation")
    label(block, "τ", "χ")
    label(path, "x", "y", "trajectory of the skate")
    return fig


SMALL: dict[str, Any] = {"frameon": False, "fontsize": "small"}
SHOWN = 120.0  # of the motions in Fig. 12: until the mean velocity is steady


def figure_12() -> Any:
    """Displacement and phase portraits for both constraints, the limit cycle dark."""
    fig = figure(11, 6.5)
    for row, constraint in zip(fig.subplots(2, 3), CONSTRAINTS, strict=True):
        motion = cycle(constraint)
        early = motion.t <= SHOWN
        row[0].plot(motion.t[early], motion["X"][early], color=BLUE, lw=1)
        label(row[0], "τ", "χ")
        row[0].set_title(rf"{constraint}, $F = 1.1\,F_{{cr}}$", fontsize="medium")
        for k, axes in enumerate(row[1:]):
            _portrait(axes, motion, k, SKY, BLUE, orbit(constraint))
    fig.legend(*row[1].get_legend_handles_labels(), loc="outside lower center", ncols=2, **SMALL)
    return fig


NAMES = {
    "c_i": "internal $c_i$",
    "c_e": "external $c_e$",
    "c_t": "end, translation $c_t$",
    "c_r": "end, rotation $c_r$",
}


def figure_13() -> Any:
    """The sign of l1 over the magnitude of each damping alone: both constraints, ξ̂ and ξ̃."""
    fig = figure(10, 6.6)
    magnitudes = np.geomspace(0.1, 1000, 33)
    panels = fig.subplots(2, 2, sharex=True, sharey=True)
    sets = {"ξ̂ = [1/2, 15, 15, 50]": XI_HAT, "ξ̃ = [1/2, 1, 0, 1]": XI_TILDE}
    for axes, (constraint, (name, xi)) in zip(panels.flat, product(CONSTRAINTS, sets.items()), strict=True):
        axes.axhspan(0, 1.1, color=GREY, alpha=0.12, lw=0)
        axes.axhline(0, color=GREY, lw=0.8)
        for damping, colour in zip(DAMPINGS, CYCLE, strict=False):
            l1 = lyapunov_over(constraint, xi, damping, magnitudes)
            # Only the sign matters: the cube root keeps small values apart from zero, of the smooth l1 between points.
            fine = np.geomspace(magnitudes[0], magnitudes[-1], 2001)
            between = PchipInterpolator(np.log(magnitudes), l1 / np.abs(l1).max())(np.log(fine))
            axes.semilogx(fine, np.cbrt(between), color=colour, label=NAMES[damping])
            for change in np.flatnonzero(np.diff(np.sign(l1))):
                x, y = np.log(magnitudes[change : change + 2]), l1[change : change + 2]
                axes.axvline(np.exp(x[0] - y[0] * np.diff(x)[0] / np.diff(y)[0]), color=colour, ls="--", lw=1)
        axes.set(ylim=(-1.1, 1.1), yticks=[])
        label(axes, "magnitude $r$" if constraint == "bow" else "", "sign of $l_1$", f"{constraint}, {name}")
        for height, side, text in ((0.98, "top", "subcritical"), (0.02, "bottom", "supercritical")):
            axes.text(0.01, height, text, va=side, transform=axes.transAxes, fontsize="x-small", color="#555555")
    handles, names = panels[0, 0].get_legend_handles_labels()
    fig.legend(handles, names, frameon=False, fontsize="small", ncols=4, loc="outside lower center")
    return fig


def figure_14() -> Any:
    """The bent equilibrium and the phase portraits of the misaligned bow (green) beside the perfect one (blue)."""
    fig = figure(11, 4)
    shape, *portraits = fig.subplots(1, 3)
    case = damped("bow").at(beta0=BETA, F=80)
    draw_together(shape, [case.equilibrium()])
    shape.set_title(r"equilibrium at $F = 80$, $\beta_0 = \pi/100$", fontsize="medium")
    for k, axes in enumerate(portraits):
        both = ((aligned(), SKY, BLUE, "perfect"), (misaligned(), "#9AD8C3", GREEN, "misaligned"))
        for motion, pale, dark, told in both:
            assert motion.case is not None
            _portrait(axes, motion, k, pale, dark, motion.case.orbit(motion), told)
    fig.legend(*portraits[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, **SMALL)
    return fig


def _portrait(axes: Any, motion: Motion, k: int, pale: str, dark: str, found: OrbitPoint, told: str = "") -> None:
    """The motion pale, the limit cycle by collocation dark."""
    name = motion.names[k]
    whose = f", {told}" if told else ""
    axes.plot(motion[name], motion[f"{name}_dot"], color=pale, lw=0.4, label=f"motion{whose}")
    axes.plot(found.orbit[name], found.orbit[f"{name}_dot"], color=dark, lw=1.8, label=f"limit cycle{whose}")
    label(axes, rf"$\theta_{k + 1}$", rf"$\mathrm{{d}}\theta_{k + 1}/\mathrm{{d}}\tau$")


def _path(axes: Any, motion: Motion) -> None:
    """The trajectory of the end of the column, with the corners that the constraint makes."""
    bars = len(motion.names) - 1
    angles = motion.y[:bars]
    x, y = motion["X"] + np.cos(angles).sum(axis=0) / bars, np.sin(angles).sum(axis=0) / bars
    axes.plot(x, y, color=BLUE, lw=0.8)
    axes.plot(x[0], y[0], "o", color=GREY, ms=4)
    axes.set_aspect("equal", adjustable="datalim")


def film_3(path: Path) -> None:
    cycle("skate").animate(path, seconds=8, fps=15, span=(0.0, 60.0))


def film_11(path: Path) -> None:
    triple().animate(path, seconds=8, fps=15)


def film_12(path: Path) -> None:
    motion = cycle("bow")
    motion.animate(path, seconds=8, fps=15, span=(500.0, 500.0 + 4 * motion.period()))


EQUILIBRIUM_PICTURES = [
    Picture("figure_4", "The elastic double pendulum at rest and in motion beyond flutter, without viscosity.", figure_4, shares="undamped"),
    Picture("figure_7", "Two of the equilibria of seven bars with a misaligned skate, for each of two loads.", figure_7),
]  # fmt: skip
LOAD_PICTURES = [
    Picture("figure_8", "Eigenvalues against the load without damping, growing ones in vermilion.", figure_8),
    Picture("figure_9", "The same with internal damping, c_i = 1.5.", figure_9),
    Picture("figure_10", "Flutter load over magnitude and direction of two dampings: internal and external (left), translational and "
            "rotational at the end (right). Blue: the limit of vanishing damping; vermilion: loads that do not depend on the viscosity.", figure_10),
]  # fmt: skip
HOPF_PICTURES = [
    Picture("figure_13", "Sign of the first Lyapunov coefficient over the magnitude of one damping alone, scaled to its largest value; "
            "dashed where it changes sign.", figure_13),
    Picture("figure_14", "The bent equilibrium of the misaligned bow and phase portraits with their limit cycles: misaligned (green), perfect (blue).",
            figure_14, shares="Fig. 14"),
]  # fmt: skip
MOTION_PICTURES = [
    Picture("figure_3", "Six instants of the motion of the skate to its limit cycle, and the trajectory of its end with its corners.", figure_3,
            shares="cycle of the skate"),
    Picture("film_3", "The motion of Figure 3, τ = 0 … 60.", film_3, moving=True, shares="cycle of the skate"),
    Picture("figure_11", "Three bars pushed by a spring: rotations, displacement of the block, and the trajectory of the skate.", figure_11, shares="triple"),
    Picture("film_11", "The motion of Figure 11, τ = 0 … 100.", film_11, moving=True, shares="triple"),
    Picture("figure_12", "Displacement and phase portraits at F = 1.1 F_cr, with the limit cycles dark: skate (above) and bow (below).", figure_12,
            shares="cycle of the bow"),
    Picture("film_12", "The bow on its limit cycle, four periods.", film_12, moving=True, shares="cycle of the bow"),
]  # fmt: skip
