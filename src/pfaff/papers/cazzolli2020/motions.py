"""Sections 2, 6 and 7: motions, limit cycles and locomotion."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.atlas import column
from pfaff.papers.cazzolli2020.cases import BETA, CONSTRAINTS, DAMPED, XI_BAR, XI_HAT, pendulum
from pfaff.papers.reproduction import Claim

if TYPE_CHECKING:
    from pfaff import Case, Motion
    from pfaff.bifurcation.orbits.orbits import OrbitPoint

PUSH: dict[str, Any] = {"theta1_dot": 0.01, "theta2_dot": 0.01}


def damped(constraint: str) -> Case:
    return pendulum(constraint, **DAMPED)


@cache
def cycle(constraint: str) -> Motion:
    """Fig. 12: F = 1.1 F_cr, from the straight column with a small push."""
    case = damped(constraint)
    return case.at(F=1.1 * float(case.flutter())).simulate(600, samples=6001, **PUSH)


@cache
def undamped() -> Motion:
    """Fig. 4: the elastic double pendulum beyond its flutter load, with no viscosity at all."""
    case = pendulum()
    return case.at(F=1.1 * float(case.flutter())).simulate(300, **PUSH)


def triple_case() -> Case:
    """Fig. 11: three bars pushed by a spring beyond flutter."""
    spring = {"K": 40, "Delta": sm.Rational(1, 5)}
    return column(3, "skate", "spring").at(**XI_BAR, **spring, c_i=sm.Rational(1, 5))


def triple_at_rest() -> Any:
    return triple_case().equilibrium(X=0)


@cache
def triple() -> Motion:
    return triple_case().simulate(100, theta1=1e-7, theta2=1e-7, theta3=1e-7, samples=4001)


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
    """Ratio of the amplitudes of the imperfect and the perfect system."""
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


def equation_96b(constraint: str) -> float:
    """The residual of Eq. (96b) along an imposed motion, relative to the largest velocity of the block."""
    motion = walk(constraint, M_L=3, I_L=2, F=25).motion
    one, two, _, v1, v2, vX = motion.y
    if constraint == "skate":
        residual = -np.sin(one - two) / 2 * v1 + np.cos(two) * vX
    else:
        residual = -np.sin(one) / 2 * (v1 - v2) + vX
    return float(np.abs(residual).max() / np.abs(vX).max())


def travel_without_viscosity(factor: float) -> float:
    """The mean displacement in the last third of 32 undamped motions over that in the first, beyond flutter.

    Five if the velocity were constant, more if it increased. Single motions are chaotic; their mean is not.
    """
    case = pendulum()
    beyond = case.at(F=factor * float(case.flutter()))
    motions = beyond.ensemble(900, samples=901, theta1_dot=np.linspace(0.01, 0.04, 32), theta2_dot=0.01)
    moved = motions.to_xarray()["X"].values
    return float(moved[600:].mean() / moved[:300].mean())


@cache
def on_a_spring(constraint: str) -> Motion:
    """The double pendulum pushed 10 % beyond flutter by the elastic device instead of the dead load."""
    case = column(2, constraint, "spring").at(**XI_HAT, K=40, c_i=sm.Rational(3, 2))
    return case.at(Delta=1.1 * float(case.flutter())).simulate(3000, samples=6001, **PUSH)


def decays_on_a_spring(constraint: str) -> float:
    """What is left of the largest rotation at the end."""
    angles = np.abs(on_a_spring(constraint).y[:2])
    return float(angles[:, -200:].max() / angles.max())


def any_load_is_moved() -> float:
    """Whether the imposed rotations move loads of −100 … 1000 by the same way: the largest relative difference."""
    ways = [np.ptp(walk("skate", M_L=3, I_L=2, F=F).motion["X"]) for F in (-100, 25, 1000)]
    return float(max(ways) / min(ways) - 1)


BALANCE = r"\dots+\tilde p\,\tilde a_3-\tilde F=0"
SKATE, BOW = "cycle of the skate", "cycle of the bow"
SHARED = {"skate": SKATE, "bow": BOW}

MOTIONS = [
    Claim("Sec. 2, Fig. 4", "without viscosity the energy stays constant", energy_is_constant, within=1e-12,
          method="Taylor's method over τ = 300 beyond flutter", formula=r"\mathcal T+\mathcal V=\text{const}", shares="undamped"),
    Claim("Sec. 2, Fig. 4", "the reaction never works", reaction_never_works, within=1e-12, method="relative to the work of the load",
          formula=r"\int p\,\mathbf a\cdot\dot{\mathbf q}\,\mathrm d\tau=0", shares="undamped"),
    Claim("Sec. 6.1", "without viscosity the velocity increases", partial(travel_without_viscosity, 1.1), beyond=5.0,
          method="mean displacement of 32 motions with ξ̂, last third of τ = 900 over the first third: 5 if the velocity were constant; later times were not looked at"),
    Claim("Fig. 11", "initial load K Δ of the triple pendulum", lambda: triple_at_rest()["p"], "8", method="equilibrium of the case", formula=r"p=K(\Delta-X)", shares="triple"),
    Claim("Fig. 11", "N = 3 under the elastic device: the straight column is left", first_grows, within=1e-5,
          method="initial rotation relative to the largest", shares="triple"),
    Claim("Fig. 11", "N = 3 under the elastic device: the motion decays", decays, within=1e-3,
          method="rotations left at τ = 90 … 100, relative to the largest", shares="triple"),
    *(Claim("Sec. 6", f"limit cycles only under dead load: N = 2, {c} on the elastic device, decays", partial(decays_on_a_spring, c), within=1e-3,
            method="rotations left at τ = 2900 … 3000, relative to the largest", shares=f"{c} on a spring") for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: a limit cycle is reached under dead load", partial(returns_after_a_period, c), within=1e-6,
            method="states a period apart at the end of the motion", formula=r"\mathbf x(\tau+T)=\mathbf x(\tau)", shares=SHARED[c]) for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: constant mean velocity with hinge damping alone", partial(steady_mean_velocity, c), within=1e-6,
            method="change of the advance from one cycle to the next", formula=r"\chi(\tau+T)-\chi(\tau)=\text{const}", shares=SHARED[c])
      for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: the cycle is an orbit of this period", partial(period_of_the_cycle, c), within=1e-9,
            method="collocation against Taylor's method", shares=SHARED[c]) for c in CONSTRAINTS),
    *(Claim("Fig. 12", f"{c}: the cycle is stable", partial(cycle_is_stable, c), within=1.0, method="largest Floquet multiplier but the one that is 1",
            formula=r"|\mu_k|<1", shares=SHARED[c]) for c in CONSTRAINTS),
    Claim("Fig. 12", "skate and bow move differently after the same flutter load", cycles_differ, within=0.5,
          method="ratio of the amplitudes of θ2", shares=BOW),
    Claim("Fig. 14", "perfect bow at F = 80: a symmetric cycle", lambda: symmetry(aligned(), "theta2"), within=1e-3,
          method="mean of the extremes relative to the amplitude", shares="Fig. 14"),
    Claim("Fig. 14", "misaligned bow: the symmetry is lost", lambda: symmetry(misaligned(), "theta2"), beyond=0.1,
          method="offset of the cycle relative to its amplitude", shares="Fig. 14"),
    *(Claim("Fig. 14", f"misaligned bow: smaller amplitude of {text}", partial(amplitude_ratio, name), within=1.0,
            method="relative to the perfect system", shares="Fig. 14") for name, text in (("theta1", "θ1"), ("theta2", "θ2"))),
    *(Claim("Sec. 7", f"{c}: imposed rotations return χ(τ)", partial(imposed_displacement, c), within=1e-10,
            method="the free motion against the imposed one", shares=SHARED[c]) for c in CONSTRAINTS),
    *(Claim("Sec. 7", f"{c}: so they do for other masses and any load", partial(imposed_displacement, c, M_L=3, I_L=2, F=25),
            within=1e-10, method="the free motion against the imposed one", shares=SHARED[c]) for c in CONSTRAINTS),
    Claim("Sec. 7", "any dead load is moved, by the same way", any_load_is_moved, within=1e-9, method="loads −100, 25 and 1000", shares=SKATE),
    Claim("Eq. (96a)", "balance of the block along an imposed motion (with −F̃)", partial(equation_96a, -1.0), within=1e-7,
          method="residual relative to the load", formula=BALANCE, shares=SKATE),
    *(Claim("Eq. (96b)", f"{c}: the constraint along an imposed motion", partial(equation_96b, c), within=1e-12,
            method="residual relative to the velocity of the block", formula=r"\tilde a_1\dot\theta_1+\tilde a_2\dot\theta_2+\tilde a_3\dot\chi=0", shares=SHARED[c])
      for c in CONSTRAINTS),
]  # fmt: skip
