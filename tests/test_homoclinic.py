"""Branches of cycles whose period grows without bound: towards homoclinic orbits and heteroclinic cycles, at loads
that are known."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import NoBifurcationError
from test_orbits import lorenz

x, y, z = sm.symbols("x y z", real=True)
mu, b1, b2 = sm.symbols("mu b1 b2", real=True)
RANGES = (0.5, 3.0, 1e3, -1e3)


def limit(branch, towards="homoclinic orbit"):
    """The value of the load that a branch says it ends at."""
    found = re.search(rf"the period grows without bound near ([-+\d.e]+): towards a {towards}", branch.ended)
    assert found, branch.ended
    return float(found[1])


def on_levels(energy, force, factor=1):
    """ẍ = force with a damping that keeps cycles on the level μ of an energy, whose saddle is at another."""
    return pfaff.ode({x: y, y: force + factor * y * (mu - energy)}, {mu: -0.3}, load=mu)


@pytest.mark.parametrize("factor", [1, 5])
@pytest.mark.parametrize("step", [0.3, 0.1])
def test_a_saddle_loop_is_where_the_energy_says(factor, step):
    """ẍ = x − x²: cycles H = μ from the Hopf point at −1/6 to the loop of the saddle, H = 0."""
    energy = y**2 / 2 - x**2 / 2 + x**3 / 3
    hopf = on_levels(energy, x - x**2, factor).at().hopf(to=0.1, x=1, y=0)
    for to in RANGES:
        branch = hopf.orbits(to=to, step=step)
        assert limit(branch) == pytest.approx(0, abs=1e-11)
        assert branch.special == ()


@pytest.mark.parametrize("accuracy", [1e-11, 1e-6])
def test_cycles_between_two_saddles_end_in_a_heteroclinic_cycle(accuracy):
    """ẍ = −x + x³: the saddles at ±1 are on the level H = 1/4."""
    hopf = on_levels(y**2 / 2 + x**2 / 2 - x**4 / 4, x**3 - x).at(mu=-0.1).hopf(to=0.1)
    for to in RANGES[:3]:
        branch = hopf.orbits(to=to, accuracy=accuracy)
        assert limit(branch, "heteroclinic cycle") == pytest.approx(0.25, abs=30 * accuracy)
        assert branch.special == ()


@pytest.mark.parametrize("step", [0.3, 0.1])
def test_the_homoclinic_orbit_of_the_bogdanov_takens_normal_form(step):
    """ẍ = b1 + b2 x + x² − x ẋ at b2 = −1; by an integration along the manifolds of its saddle, to 1e-8."""
    hopf = pfaff.ode({x: y, y: b1 + b2 * x + x**2 - x * y}, {b1: -0.3, b2: -1}, load=b1).at().hopf(to=0.3, x=-0.25)
    expected = saddle_connection()
    for to in (-0.5, *RANGES):
        branch = hopf.orbits(to=to, step=step)
        assert limit(branch) == pytest.approx(expected, abs=1e-8)
        assert branch.special == ()


def saddle_connection():
    """b1 at which the manifolds of the saddle of ẍ = b1 − x + x² − x ẋ meet on y = 0."""
    from scipy.integrate import solve_ivp
    from scipy.optimize import brentq

    def gap(load):
        saddle = (1 + np.sqrt(1 - 4 * load)) / 2
        trace, det = -saddle, 1 - 2 * saddle
        out, into = (trace + sign * np.sqrt(trace**2 - 4 * det) for sign in (1, -1))
        ends = []
        for slope, way in ((out / 2, 1.0), (into / 2, -1.0)):

            def rate(_, u, way=way):
                return [way * u[1], way * (load - u[0] + u[0] ** 2 - u[0] * u[1])]

            def crossing(_, u):
                return u[1]

            crossing.terminal = True
            start = [saddle - 1e-7, -1e-7 * slope]
            done = solve_ivp(rate, (0, 200), start, "DOP853", events=crossing, rtol=1e-12, atol=1e-14)
            ends.append(done.y[0, -1])
        return ends[0] - ends[1]

    return brentq(gap, -0.22, -0.2, xtol=1e-10)


@pytest.mark.parametrize("to", [13, 10, -1e3])
def test_the_homoclinic_orbit_of_lorenz_is_where_it_is_known_to_be(to):
    """ρ = 13.926557407…, of the saddle at the origin (Sparrow 1982 has 13.926)."""
    branch = lorenz().at(rho=14).hopf(to=30, x=6, y=6, z=13).orbits(to=to)
    assert limit(branch) == pytest.approx(13.926557407, abs=1e-8)
    assert branch.special == ()


def test_a_saddle_node_on_the_orbit_is_where_the_equilibria_are():
    """θ̇ = μ − cos θ on the unit circle: T = 2π/√(μ² − 1)."""
    growth, turn = 1 - x**2 - y**2, mu - x
    case = pfaff.ode({x: growth * x - turn * y, y: growth * y + turn * x}, {mu: 2}, load=mu).at()
    branch = case.orbit(case.simulate(80, x=0.9, samples=4001)).orbits(to=-3)
    assert limit(branch, "saddle-node of equilibria on the orbit") == pytest.approx(1, abs=1e-12)


def test_a_branch_that_starts_near_a_homoclinic_orbit_ends_there():
    energy = y**2 / 2 - x**2 / 2 + x**3 / 3
    branch = on_levels(energy, x - x**2).at().hopf(to=0.1, x=1, y=0).orbits(to=0.5)
    start = min(branch, key=lambda orbit: abs(orbit.period - 30))
    assert limit(start.orbits(to=0.5)) == pytest.approx(0, abs=1e-11)


@pytest.mark.parametrize("to", [0.3, 1.0, 1e3, -0.3])
def test_a_wave_that_stops_to_rotate_ends_in_a_circle_of_equilibria(to):
    """Circles r² with μ = r⁴ − 3r²/100 turn at the speed 1 − 2r², which vanishes at μ = 1/4 − 3/200."""
    growth, turn = mu + 3 * (x**2 + y**2) / 100 - (x**2 + y**2) ** 2, 1 - 2 * (x**2 + y**2)
    case = pfaff.ode({x: growth * x - turn * y, y: turn * x + growth * y}, {mu: -0.1}, load=mu).at()
    branch = case.hopf(to=0.1).orbits(to=to)
    assert limit(branch, "curve of equilibria") == pytest.approx(0.235, rel=1e-6)
    assert [each.kind for each in branch.special] == ["fold"]


@pytest.mark.parametrize("bend", [0, 0.1, -0.3])
@pytest.mark.parametrize("unit", [1, 1e-6, 1e5])
def test_a_saddle_node_on_the_orbit_is_told_with_its_load(bend, unit):
    """On r = 1 the angle has the rate 1 + μ − y: equilibria appear on the cycle at y = 1, where μ = 0, and its period
    is 2π/√((1 + μ)² − 1). The term with x² leaves that place as it is."""
    square = x**2 + y**2
    equations = {x: x * (1 - square) - y * (1 + mu / unit - y), y: y * (1 - square) + x * (1 + mu / unit - y)}
    equations[y] += bend * x**2
    case = pfaff.ode(equations, {mu: 0.5 * unit}, load=mu).at()
    orbit = case.orbit(case.simulate(100, x=1.0))
    if not bend:
        assert orbit.period == pytest.approx(2 * np.pi / np.sqrt(1.25), rel=1e-9)
    for to in (-0.5 * unit, -50 * unit):
        branch = orbit.orbits(to=to)
        assert limit(branch, "saddle-node of equilibria on the orbit") == pytest.approx(0, abs=1e-12 * unit)
    with pytest.raises(NoBifurcationError, match="saddle-node on the orbit") as refused:
        branch.homoclinic()
    assert "curve(" in str(refused.value)


def test_a_saddle_loop_beside_a_fold_is_no_saddle_node():
    """ẍ = x² − ε with the saddle at √ε, a little above the fold at ε = 0, and cycles up to its loop."""
    small = 1e-2
    energy = y**2 / 2 - x**3 / 3 + small * x
    system = pfaff.ode({x: y, y: x**2 - small + y * (mu - energy)}, {mu: -0.001}, load=mu)
    branch = system.at().hopf(to=0.01, x=-np.sqrt(small), y=0).orbits(to=0.5)
    assert limit(branch) == pytest.approx(2 / 3 * small**1.5, rel=1e-9)


@pytest.mark.parametrize(("bend", "radius"), [("s**2/(1+s)**2 + 1e-7*s", 3162.3), ("s/(1+s) + 1e-10*s", 1e5)])
def test_orbits_that_grow_very_large_go_on(bend, radius):
    """ṙ = r (μ − g(r²)) with a g that nearly stays for decades of r: the branch is not at its end."""
    s = x**2 + y**2
    growth = mu - sm.sympify(bend, locals={"s": s})
    branch = pfaff.ode({x: growth * x - y, y: x + growth * y}, {mu: -0.5}, load=mu).at().hopf(to=0.5).orbits(to=2)
    assert branch.ended.reason is pfaff.Reason.REACHED
    assert branch[-1].amplitude["x"] == pytest.approx(radius, rel=1e-3)
