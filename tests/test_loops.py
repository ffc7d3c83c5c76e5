"""Orbits from data: a rough loop is enough, and its orbit may be unstable."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.errors import ConvergenceError, ParameterError
from test_orbits import lorenz

x, y = sm.symbols("x y", real=True)
mu = sm.symbols("mu", real=True)
square = x**2 + y**2
grows = mu + square - square**2
bautin = pfaff.ode({x: grows * x - y, y: x + grows * y}, {mu: -0.1}, load=mu).at()
t = np.linspace(0, 6.5, 60)


@pytest.mark.parametrize("sign", [-1, 1])
def test_both_cycles_from_rough_loops(sign):
    """r² = (1 ± √(1 + 4μ))/2: the smaller one is unstable."""
    radius = np.sqrt((1 + sign * np.sqrt(0.6)) / 2)
    found = bautin.orbit(t=t, x=1.1 * radius * np.cos(t) + 0.02, y=0.95 * radius * np.sin(t))
    assert found.amplitude["x"] == pytest.approx(radius, abs=1e-8)
    assert found.period == pytest.approx(2 * np.pi, abs=1e-9)
    assert found.stable == (sign > 0)


def test_the_shortest_orbit_of_lorenz_attractor():
    """Viswanath, Nonlinearity 16 (2003): period 1.55865221 at ρ = 28, with the multiplier 4.714."""
    case = lorenz().at(rho=28)
    motion = case.simulate(1.5586, x=-13.76, y=-19.58, z=27, samples=120)
    found = case.orbit(t=motion.t, **{name: motion[name] for name in "xyz"})
    assert found.period == pytest.approx(1.5586522107, abs=1e-9)
    assert abs(found.multipliers[0]) == pytest.approx(4.714, abs=1e-2)


def test_velocities_are_those_of_the_data():
    """Rayleigh's oscillator by its positions alone, in any order of samples that increases."""
    q, c = dynamicsymbols("q"), sm.symbols("c", positive=True)
    rate = q.diff()
    system = pfaff.System(
        coordinates=[q], kinetic=rate**2 / 2, potential=q**2 / 2, forces={q: c * (rate - rate**3)}, parameters={c: 0.1},
        load=c,
    )  # fmt: skip
    case = system.at()
    found = case.orbit(t=t, q=1.2 * np.cos(t))
    settled = case.orbit(case.simulate(200, q=1, samples=4001))
    assert found.period == pytest.approx(settled.period, abs=1e-9)
    assert found.amplitude["q"] == pytest.approx(2 / np.sqrt(3), abs=5e-3)  # of 2/√3 + O(c²)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"x": t, "y": t}, ConvergenceError, "does not come back"),
        ({"x": 30 + np.cos(t), "y": 30 + np.sin(t)}, ConvergenceError, "no orbit at mu"),
        ({"x": np.cos(t)}, ParameterError, "no state y"),
        ({"x": np.cos(t), "y": np.sin(t)[:-1]}, ParameterError, "y has 59 values"),
        ({"x": np.cos(t), "z": np.sin(t)}, ParameterError, "z"),
        ({"x": np.cos(t), "y": np.full(60, np.nan)}, ParameterError, "y is not a row"),
    ],
)
def test_data_that_are_no_loop_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        bautin.orbit(t=t, **given)
    with pytest.raises(ParameterError, match="at which times"):
        bautin.orbit(x=np.cos(t), y=np.sin(t))
    with pytest.raises(ParameterError, match="not both"):
        bautin.orbit(bautin, t=t, x=np.cos(t), y=np.sin(t))
