"""Centres: Hopf points at which nothing but conservation makes the Lyapunov coefficients vanish, all of them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import NoBifurcationError, ParameterError

x, y, z = sm.symbols("x y z", real=True)
d, k = sm.symbols("d k", real=True)
CONSERVATIVE = {
    "Duffing": {x: y, y: -d * y - x - x**3},
    "Duffing in small units": {x: y, y: -d * y - x - 10**12 * x**3},
    "pendulum": {x: y, y: -d * y - sm.sin(x)},
    "asymmetric": {x: y, y: -d * y - x - x**2},
    "linear": {x: y, y: -d * y - x},
    "isochronous": {x: y, y: -d * y - x - 3 * x * y - x**3},
    "Volterra and Lotka": {x: x * (1 - y) - d * x * (x - 1), y: y * (x - 1)},
    "beside a state that decays": {x: y, y: -d * y - x - x**3, z: -z + x**2 / 2},
}


def hopf_of(rates, **parameters):
    start = {"x": 1, "y": 1} if rates is CONSERVATIVE["Volterra and Lotka"] else {}
    return pfaff.ode(rates, {d: -0.1, **parameters}, load=d).at().hopf(to=0.1, **start)


@pytest.mark.parametrize("name", CONSERVATIVE)
def test_a_centre_is_not_called_a_generalised_hopf_point(name):
    hopf = hopf_of(CONSERVATIVE[name])
    assert hopf.centre
    assert not hopf.generalised
    assert hopf.stable_cycles is False
    assert "l1 = l2 = 0, a centre, as where energy is conserved" in hopf.status
    with pytest.raises(ParameterError, match="predicts no cycle here: degenerate: l1 = l2 = 0, a centre"):
        hopf.amplitude(0.01)


@pytest.mark.parametrize("power", [2, 3, 4])
def test_coefficients_that_vanish_do_not_make_a_centre(power):
    """ṙ = r (d − r⁴), r (d − r⁶), r (d − r⁸): l1 = 0, and beyond the fifth order l2 = 0 as well."""
    growth, turn = d - (x**2 + y**2) ** power, 1 + x**2 + y**2
    hopf = hopf_of({x: growth * x - turn * y, y: turn * x + growth * y})
    assert hopf.generalised
    assert "centre" not in hopf.status


def test_curves_and_branches_of_centres_have_no_generalised_hopf_points():
    duffing = pfaff.ode({x: y, y: -d * y - k * x - x**3}, {d: -0.1, k: 1}, load=d)
    hopf = duffing.at().hopf(to=0.1)
    assert hopf.curve("k", to=3).special == ()
    with pytest.raises(NoBifurcationError, match="l1 vanishes at k = 1 and 3 alike, and so does l2: centres"):
        hopf.vanishing("k", between=(1, 3))
    (found,) = duffing.at().branch(to=0.1).special
    assert "a centre" in found.note


def test_orbits_about_a_centre_are_a_family_at_one_load():
    """Duffing's equation: T = 4 K(m)/√(1 + A²) with m = A²/(2 + 2A²), and nothing happens on the way."""
    from scipy.special import ellipk

    branch = hopf_of(CONSERVATIVE["Duffing"]).orbits(to=0.1, points=60)
    assert branch.special == ()
    assert branch.ended.endswith("the orbits about a centre are a family, along which d does not change")
    assert branch.values == pytest.approx(0, abs=1e-12)
    A = np.array([orbit.amplitude["x"] for orbit in branch])
    assert A[-1] > 10
    assert branch.periods == pytest.approx(4 * ellipk(A**2 / (2 + 2 * A**2)) / np.sqrt(1 + A**2), rel=1e-5)


def test_circles_that_obey_linear_equations_are_a_family_though_the_system_is_not_linear():
    """A ball in a paraboloid, dragged round by a force across its position: circles of all sizes, at F = c √(5g/7R)."""
    from sympy.physics.mechanics import dynamicsymbols

    u, v = dynamicsymbols("u v")
    rate, F = [each.diff(dynamicsymbols._t) for each in (u, v)], sm.Symbol("F")
    height = (u**2 + v**2) / 2
    bowl = pfaff.System(
        coordinates=[u, v],
        kinetic=sm.Rational(7, 10) * (rate[0] ** 2 + rate[1] ** 2 + height.diff(dynamicsymbols._t) ** 2),
        potential=9.81 * height,
        dissipation=0.1 * (rate[0] ** 2 + rate[1] ** 2),
        forces={u: -F * v, v: F * u},
        parameters={F: 0.1},
        load=F,
    )
    hopf = bowl.at().hopf()
    assert hopf.value == pytest.approx(0.2 * np.sqrt(5 * 9.81 / 7), rel=1e-12)
    assert (hopf.l1, hopf.l2, hopf.centre) == (0, 0, True)
    branch = hopf.orbits(to=1, points=30)
    assert branch.special == ()
    assert branch.values == pytest.approx(hopf.value, rel=1e-10)
