"""Appell's equations by the Gibbs function: Gauss's principle, the sum over all masses, and dissipation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sympy as sm

from pfaff import System
from pfaff.atlas import ball_in_cavity, nonholonomic_particle, oscillator, pendulum
from pfaff.papers.naprstek2018.equations_counted import STATES, SYSTEMS, at_random, derived, same, stated
from pfaff.system import TIME as t


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
    return float(not same(power, -2 * sm.sympify(system.dissipation).subs(known), system))


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
