"""Cazzolli, Dal Corso and Bigoni (2020), Sections 2, 6 and 7: motions, limit cycles and locomotion."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import column
from pfaff.bifurcation.orbits import OrbitPoint
from pfaff.case import Case
from pfaff.draw.body import draw_body, draw_path
from pfaff.draw.configuration import draw_together
from pfaff.draw.scene import scene_of_motion
from pfaff.draw.style import BLUE, GREEN, GREY, SKY, VERMILION, figure, label
from pfaff.draw.view import view_of
from pfaff.motion.result import Motion
from pfaff.papers.reproduction import Claim

XI_HAT = {"d": sm.Rational(1, 2), "M_L": 15, "I_L": 15, "k1": 50}
PUSH: dict[str, Any] = {"theta1_dot": 0.01, "theta2_dot": 0.01}
BETA = float(np.pi) / 100
CONSTRAINTS = ("skate", "bow")


def damped(constraint: str) -> Case:
    return column(2, constraint).at(**XI_HAT, c_i=sm.Rational(3, 2))


@cache
def cycle(constraint: str) -> Motion:
    """Fig. 12: F = 1.1 F_cr, from the straight column with a small push."""
    case = damped(constraint)
    return case.at(F=1.1 * float(case.flutter())).simulate(600, samples=6001, **PUSH)


@cache
def undamped() -> Motion:
    """Fig. 4: the elastic double pendulum beyond its flutter load, with no viscosity at all."""
    case = column(2).at(**XI_HAT)
    return case.at(F=1.1 * float(case.flutter())).simulate(300, **PUSH)


@cache
def triple() -> Motion:
    """Fig. 11: three bars pushed by a spring beyond flutter."""
    case = column(3, "skate", "spring").at(
        d=sm.Rational(1, 2), M_L=1, k1=10, K=40, Delta=sm.Rational(1, 5), c_i=sm.Rational(1, 5)
    )
    return case.simulate(100, theta1=1e-7, theta2=1e-7, theta3=1e-7, samples=4001)


@cache
def misaligned() -> Motion:
    """Fig. 14, green: from the bent equilibrium of the misaligned bow at F = 80."""
    case = damped("bow").at(beta0=BETA, F=80)
    rest = case.equilibrium()
    return case.simulate(600, samples=6001, theta1=rest["theta1"], theta2=rest["theta2"], **PUSH)


@cache
def aligned() -> Motion:
    """Fig. 14, blue: the perfect system at the same load."""
    return damped("bow").at(F=80).simulate(600, samples=6001, **PUSH)


def energy_is_constant() -> float:
    return undamped().energy.drift


def reaction_never_works() -> float:
    """The work that p·a does on the three velocities, relative to the work of the load."""
    motion = undamped()
    one, two, _, v1, _, vX = motion.y
    power = motion.p[0] * (-np.sin(one - two) / 2 * v1 + np.cos(two) * vX)  # a of Eq. (53)
    load = float(motion.values["F"]) * np.abs(vX)
    return float(np.abs(np.trapezoid(power, motion.t)) / np.trapezoid(load, motion.t))


def returns_after_a_period(constraint: str) -> float:
    """The largest difference of angles and velocities a period apart, at the end of the motion."""
    motion = cycle(constraint)
    end = motion.t[-1]
    shape = [0, 1, 3, 4, 5]
    return float(np.abs(motion(end)[shape] - motion(end - motion.period())[shape]).max())


def steady_mean_velocity(constraint: str) -> float:
    """How much the mean velocity still changes from one cycle to the next, relative to itself."""
    motion = cycle(constraint)
    period, end = motion.period(), motion.t[-1]
    now, before, earlier = (motion(end - k * period)[2] for k in (0, 1, 2))
    return float(abs((now - before) / (before - earlier) - 1))


@cache
def orbit(constraint: str) -> OrbitPoint:
    """The limit cycle itself, by collocation from the end of the motion."""
    motion = cycle(constraint)
    assert motion.case is not None
    return motion.case.orbit(motion)


def cycle_is_stable(constraint: str) -> float:
    """The largest Floquet multiplier but the one that is 1, in magnitude."""
    sizes = np.sort(np.abs(orbit(constraint).multipliers))[::-1]
    return float(np.delete(sizes, np.abs(sizes - 1).argmin())[0])


def period_of_the_cycle(constraint: str) -> float:
    """The relative difference of its period by collocation and as seen in time."""
    return abs(orbit(constraint).period / cycle(constraint).period() - 1)


def symmetry_is_lost_before() -> float:
    """The load at which the bow's symmetric cycle loses its stability, relative to 1.1 F_cr."""
    hopf = damped("bow").hopf()
    (breaking,) = hopf.orbits(to=1.1 * hopf.value).of_kind("symmetry breaking")
    return float(breaking.value / (1.1 * hopf.value))


def cycles_differ() -> float:
    """The ratio of the smaller to the larger amplitude of θ2 with the two constraints: one if they were alike."""
    skate, bow = (np.ptp(cycle(constraint)["theta2"][-1000:]) for constraint in CONSTRAINTS)
    return float(min(skate, bow) / max(skate, bow))


def decays() -> float:
    """What is left of the largest rotation at the end."""
    angles = np.abs(triple().y[:3])
    return float(angles[:, -400:].max() / angles.max())


def first_grows() -> float:
    """The initial rotation relative to the largest: small if the motion was unstable."""
    angles = np.abs(triple().y[:3])
    return float(angles[:, 0].max() / angles.max())


def symmetry(motion: Motion, name: str) -> float:
    """The mean of the extremes relative to the amplitude over the last cycles: zero for a symmetric cycle."""
    last = motion[name][-1500:]
    return float(abs(last.max() + last.min()) / np.ptp(last))


def amplitude_ratio(name: str) -> float:
    """Of the imperfect to the perfect system."""
    imperfect, perfect = (np.ptp(motion[name][-1500:]) for motion in (misaligned(), aligned()))
    return float(imperfect / perfect)


@cache
def walk(constraint: str, **other: Any) -> Any:
    """Sec. 7: the rotations of the limit cycle imposed on a column with other properties."""
    source = cycle(constraint)
    assert source.case is not None
    return source.case.at(**other).impose(source, since=500.0, duration=3 * source.period())


def imposed_displacement(constraint: str, **other: Any) -> float:
    """The largest difference between χ(τ) of the imposed motion and of the original."""
    source, imposed = cycle(constraint), walk(constraint, **other)
    then = 500.0 + imposed.motion.t
    return float(np.abs(imposed.motion["X"] - source(then)[2]).max())


def equation_96a(sign: float) -> float:
    """The residual of Eq. (96a) along an imposed motion, relative to the load, with ``sign`` times F̃ in it."""
    load, d, M_L, c_e, c_t, M_X = 25.0, 0.5, 3.0, 0.4, 0.7, 0.2
    imposed = walk("skate", M_L=3, I_L=2, c_i=0.3, c_e=0.4, c_t=0.7, M_X=0.2, F=25)
    motion = imposed.motion
    one, two, _, v1, v2, vX = motion.y
    a1, a2, aX = motion.rates(motion.t, motion.y)[3:]
    s1, c1, s2, c2 = np.sin(one), np.cos(one), np.sin(two), np.cos(two)
    residual = (
        c_e / 8 * (8 * vX - 3 * v1 * s1 - v2 * s2)
        + c_t / 2 * (2 * vX - v1 * s1 - v2 * s2)
        + M_X * aX
        + (4 * aX - (d + 1) * (a1 * s1 + v1**2 * c1) - d * (a2 * s2 + v2**2 * c2)) / 4
        + M_L / 2 * (2 * aX - a1 * s1 - v1**2 * c1 - a2 * s2 - v2**2 * c2)
        + imposed.reaction * c2
        + sign * load
    )
    return float(np.abs(residual).max() / load)


MOTION_ITEMS = [
    Claim("Sec. 2, Fig. 4", "without viscosity the energy stays constant", energy_is_constant, within=1e-12,
          method="Taylor's method over τ = 300 beyond flutter"),
    Claim("Sec. 2, Fig. 4", "the reaction never works", reaction_never_works, within=1e-12),
    Claim("Fig. 11", "N = 3 under the elastic device: the straight column is left", first_grows, within=1e-5),
    Claim("Fig. 11", "N = 3 under the elastic device: the motion decays", decays, within=1e-3,
          method="rotations left at τ = 90 … 100"),
    *(Claim("Fig. 12", f"{c}: a limit cycle is reached", partial(returns_after_a_period, c), within=1e-6) for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: constant mean velocity with hinge damping alone", partial(steady_mean_velocity, c), within=1e-6)
      for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: the cycle is an orbit of this period", partial(period_of_the_cycle, c), within=1e-9,
            method="collocation against Taylor's method") for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: the cycle is stable", partial(cycle_is_stable, c), within=1.0, method="largest Floquet multiplier")
      for c in CONSTRAINTS),
    Claim("Fig. 12", "bow: the symmetric cycle is lost before 1.1 F_cr", symmetry_is_lost_before, within=1.0,
          method="symmetry breaking on the branch from the Hopf point, relative to that load"),
    Claim("Fig. 12", "skate and bow move differently after the same flutter load", cycles_differ, within=0.5,
          method="ratio of the amplitudes of θ2"),
    Claim("Fig. 14", "perfect bow at F = 80: a symmetric cycle", lambda: symmetry(aligned(), "theta2"), within=1e-3),
    Claim("Fig. 14", "misaligned bow: the symmetry is lost", lambda: 1 / symmetry(misaligned(), "theta2"), within=10,
          method="amplitude relative to the offset of the cycle"),
    *(Claim("Fig. 14", f"misaligned bow: smaller amplitude of {text}", partial(amplitude_ratio, name), within=1.0)
      for name, text in (("theta1", "θ1"), ("theta2", "θ2"))),
    *(Claim("Sec. 7", f"{c}: imposed rotations return χ(τ)", partial(imposed_displacement, c), within=1e-10) for c in CONSTRAINTS),
    *(Claim("Sec. 7", f"{c}: so they do for other masses and any load", partial(imposed_displacement, c, M_L=3, I_L=2, F=25),
            within=1e-10) for c in CONSTRAINTS),
    Claim("Eq. (96a)", "balance of the block, with −F̃ (erratum: printed +F̃)", lambda: equation_96a(-1), within=1e-7),
    Claim("Eq. (96a)", "with the printed +F̃ it is off by 2F̃", lambda: abs(equation_96a(1) - 2), within=1e-7),
]  # fmt: skip


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


def figure_11() -> Any:
    """Rotations, displacement and the path of the skate: growth, then decay."""
    motion = triple()
    fig = figure(9, 6)
    grid = fig.add_gridspec(2, 2)
    angles, block, path = fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[0, 1]), fig.add_subplot(grid[1, :])
    for k, colour in enumerate((BLUE, VERMILION, GREEN)):
        angles.plot(motion.t, motion.y[k], color=colour, lw=1, label=f"θ{k + 1}")
    angles.legend(frameon=False, fontsize="small")
    block.plot(motion.t, motion["X"], color=BLUE, lw=1)
    _path(path, motion)
    label(angles, "τ", "rotation")
    label(block, "τ", "χ")
    label(path, "x", "y", "trajectory of the skate")
    return fig


def figure_12() -> Any:
    """Displacement and phase portraits for both constraints, the limit cycle dark."""
    fig = figure(11, 6.5)
    for row, constraint in zip(fig.subplots(2, 3), CONSTRAINTS, strict=True):
        motion = cycle(constraint)
        row[0].plot(motion.t, motion["X"], color=BLUE, lw=1)
        label(row[0], "τ", "χ", f"{constraint}, F = 1.1 F_cr")
        for k, axes in enumerate(row[1:]):
            _portrait(axes, motion, k, SKY, BLUE, orbit(constraint))
    return fig


def figure_14() -> Any:
    """The bent equilibrium and the phase portraits of the misaligned bow (green) beside the perfect one (blue)."""
    fig = figure(11, 4)
    shape, *portraits = fig.subplots(1, 3)
    case = damped("bow").at(beta0=BETA, F=80)
    draw_together(shape, [case.equilibrium()])
    shape.set_title("equilibrium at F = 80, β0 = π/100", fontsize="medium")
    for k, axes in enumerate(portraits):
        for motion, pale, dark in ((aligned(), SKY, BLUE), (misaligned(), "#9AD8C3", GREEN)):
            assert motion.case is not None
            _portrait(axes, motion, k, pale, dark, motion.case.orbit(motion))
    return fig


def _portrait(axes: Any, motion: Motion, k: int, pale: str, dark: str, found: OrbitPoint) -> None:
    """The motion pale, the limit cycle by collocation dark."""
    name = motion.names[k]
    axes.plot(motion[name], motion[f"{name}_dot"], color=pale, lw=0.4)
    axes.plot(found.orbit[name], found.orbit[f"{name}_dot"], color=dark, lw=1.8)
    label(axes, f"θ{k + 1}", f"dθ{k + 1}/dτ")


def _path(axes: Any, motion: Motion) -> None:
    """The trajectory of the end of the column, with the corners that the constraint makes."""
    bars = len(motion.names) - 1
    angles = motion.y[:bars]
    x, y = motion["X"] + np.cos(angles).sum(axis=0) / bars, np.sin(angles).sum(axis=0) / bars
    axes.plot(x, y, color=BLUE, lw=0.8)
    axes.plot(x[0], y[0], "o", color=GREY, ms=4)
    axes.set_aspect("equal", adjustable="datalim")


MOTION_FIGURES = {
    "figure_3": figure_3,
    "figure_4": figure_4,
    "figure_11": figure_11,
    "figure_12": figure_12,
    "figure_14": figure_14,
}
