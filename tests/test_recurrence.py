"""Motions that are on no orbit: quasi-periodic ones, those that have not settled, and those of families."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.errors import ConvergenceError
from test_orbits import Sampled, langford

x, y, u, v, m = sm.symbols("x y u v m", real=True)
ROTATION = sm.Symbol("w", real=True)


@pytest.fixture(scope="module")
def torus():
    """Circles x² + y² = 1, at the angular velocity 1, times circles u² + v² = m at another: a torus that attracts."""
    r2, s2 = x**2 + y**2, u**2 + v**2
    first = {x: (1 - r2) * x - y, y: x + (1 - r2) * y}
    second = {u: (m - s2) * u - ROTATION * v, v: ROTATION * u + (m - s2) * v}
    return pfaff.ode(first | second, {m: 0.25, ROTATION: sm.sqrt(2)}, load=m)


@pytest.mark.parametrize(("radius", "rotation"), [(0.5, np.sqrt(2)), (0.05, np.sqrt(2)), (0.7, (1 + np.sqrt(5)) / 2)])
@pytest.mark.parametrize("duration", [60, 150])
def test_a_quasi_periodic_motion_is_refused_as_such(torus, radius, rotation, duration):
    t = np.linspace(0, duration, 40 * duration + 1)
    second = {"u": radius * np.cos(rotation * t), "v": radius * np.sin(rotation * t)}
    case = torus.at(m=radius**2, w=rotation)
    with pytest.raises(ConvergenceError, match=r"the motion is quasi-periodic at m = .*: it stays on a torus"):
        case.orbit(Sampled(t, x=np.cos(t), y=np.sin(t), **second))


def test_a_motion_on_a_torus_that_has_grown_from_a_cycle_is_refused_as_such():
    """The cycle of Langford's system is unstable beside the torus, whose motion may lead Newton's method to it."""
    case = langford(level=1.5)
    with pytest.raises(ConvergenceError, match="the motion is quasi-periodic"):
        case.orbit(case.simulate(300, samples=3001, x=1.3, z=0.7))


def test_a_motion_on_a_torus_that_closes_is_an_orbit(torus):
    """At the ratio 3/2 every motion of the torus closes after two rounds of the first angle: a family."""
    t = np.linspace(0, 60, 3001)
    closed = Sampled(t, x=np.cos(t), y=np.sin(t), u=np.cos(1.5 * t) / 2, v=np.sin(1.5 * t) / 2)
    with pytest.raises(ConvergenceError, match="the motion is one of a family of orbits at m = 0.25"):
        torus.at(w="3/2").orbit(closed)


@pytest.mark.parametrize(("mu", "duration"), [(0.001, 200), (0.01, 60), (0.1, 20)])
def test_a_motion_that_has_not_settled_is_told_as_such(mu, duration):
    strength = sm.Symbol("k", real=True)
    case = pfaff.ode({x: y, y: strength * (1 - x**2) * y - x}, {strength: mu}, load=strength).at()
    with pytest.raises(ConvergenceError, match=r"has not settled at k = .*: its loops still change"):
        case.orbit(case.simulate(duration, x=0.3))
    if mu > 0.005:
        assert case.orbit(case.simulate(20 / mu, samples=4001, x=0.3)).stable


def test_a_settled_motion_on_which_a_state_is_still_is_found_from_coarse_samples():
    """Three samples of a period; the cycle of Langford's system has z = β, and its period is 2π/ω."""
    case = langford(level=2.0)
    assert case.orbit(case.simulate(600, x=1.3, z=0.7)).period == pytest.approx(2 * np.pi / 3.5, rel=1e-9)


def test_a_driven_system_settles_on_an_orbit_of_its_drive():
    """q̈ + q̇/5 + q = cos 2t: amplitude 1/|1 − 4 + 0.4i|."""
    position, time = dynamicsymbols("q"), dynamicsymbols._t
    stiffness = sm.Symbol("k", positive=True)
    driven = pfaff.System(
        [position],
        position.diff(time) ** 2 / 2,
        stiffness * position**2 / 2,
        position.diff(time) ** 2 / 10,
        forces={position: sm.cos(2 * time)},
        parameters={stiffness: 1},
    ).at()
    orbit = driven.orbit(driven.simulate(200, q=1.0, samples=8001), load="k")
    assert orbit.period == pytest.approx(np.pi, rel=1e-10)
    assert orbit.amplitude["q"] == pytest.approx(1 / abs(-3 + 0.4j), rel=1e-6)


@cache
def pendulum(rotation: int) -> pfaff.Bound:
    """Driven at its pivot, with the angle p + rotation·t for its coordinate p."""
    angle, time = dynamicsymbols("p"), dynamicsymbols._t
    damping, speed = sm.Symbol("c", positive=True), angle.diff(time) + rotation
    cosine = sm.cos(angle) * sm.cos(rotation * time) - sm.sin(angle) * sm.sin(rotation * time)
    height = cosine * (1 + sm.cos(2 * time))
    return pfaff.System([angle], speed**2 / 2, -height, damping * speed**2 / 2, parameters={damping: "1/10"}).at()


def test_a_driven_pendulum_that_rotates():
    """The orbit closes but for a turn; stated in what is left of the rotation it is the same, and closes."""
    case, relative = pendulum(0), pendulum(2)
    turning = case.orbit(case.simulate(150, samples=6001, p=3.0, p_dot=2.0), load="c")
    orbit = relative.orbit(relative.simulate(150, samples=6001, p=3.0), load="c")
    assert turning.advance == {"p": 2 * np.pi}
    assert orbit.advance == {}
    for each in (turning, orbit):
        assert (each.stable, each.period) == (True, pytest.approx(np.pi, rel=1e-12))
    assert turning.multipliers == pytest.approx(orbit.multipliers, abs=1e-9)
