"""Knife edges and the simplest nonholonomic particle, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pfaff

SLEIGH = pfaff.atlas.chaplygin_sleigh()
ON_SLOPE = pfaff.atlas.chaplygin_sleigh(slope=True)


@pytest.mark.parametrize(("values", "speed"), [({}, 1.0), ({"m": 3, "I": 0.7, "a": 0.2}, 0.4)])
def test_the_sleigh_turns_by_its_total_angle(values, speed):
    """Chaplygin (1911): ω = ω0 sech kt and φ from −½ to +½ of π√((I + ma²)/(ma²)), with k = aω0√(m/(I + ma²))."""
    case = SLEIGH.at(**values)
    m, I, a = (float(case.values[name]) for name in ("m", "I", "a"))
    k = a * speed * np.sqrt(m / (I + m * a**2))
    there, back = (case.simulate(sign * 30 / k, phi_dot=speed) for sign in (1, -1))
    total = there["phi"][-1] - back["phi"][-1]
    assert total == pytest.approx(np.pi * np.sqrt((I + m * a**2) / (m * a**2)), abs=1e-11)
    np.testing.assert_allclose(there["phi_dot"], speed / np.cosh(k * there.t), atol=1e-12)
    assert max(there.energy.drift, back.energy.drift) < 1e-12


def test_running_forwards_is_stable_and_backwards_not():
    """ω decays or grows at the rate mau/(I + ma²) of the straight motion at speed u."""
    flow = SLEIGH.shape
    assert set(flow.dropped) == {"x", "y"}
    rate = 0.4 / (0.25 + 0.16)
    for speed in (2.0, -2.0):
        case = SLEIGH.at()
        motion = case.simulate(1.0, x_dot=speed, phi_dot=1e-7, samples=2)
        assert motion["phi_dot"][-1] == pytest.approx(1e-7 * np.exp(-rate * speed), rel=1e-6)


def test_the_sleigh_on_a_slope_obeys_its_reduced_equations():
    """m(u̇ − aω²) = mg sin α cos φ, (I + ma²)ω̇ + mauω = −mga sin α sin φ along and about the blade."""
    case = ON_SLOPE.at(m=2, I=0.3, a=0.4, g=9.81, alpha=0.2)
    pull = 9.81 * np.sin(0.2)

    def reduced(_, y):
        u, w, phi = y
        turning = -2 * 0.4 * u * w - 2 * pull * 0.4 * np.sin(phi)
        return [0.4 * w**2 + pull * np.cos(phi), turning / (0.3 + 2 * 0.16), w]

    motion = case.simulate(10, phi=0.5, phi_dot=3.0, x_dot=0.0, y_dot=0.0, samples=51)
    other = solve_ivp(reduced, (0, 10), [0, 3.0, 0.5], "DOP853", motion.t, rtol=1e-13, atol=1e-13)
    along = motion["x_dot"] * np.cos(motion["phi"]) + motion["y_dot"] * np.sin(motion["phi"])
    np.testing.assert_allclose([along, motion["phi_dot"], motion["phi"]], other.y, atol=1e-9)
    assert motion.energy.drift < 1e-12


def test_the_knife_edge_draws_a_cycloid():
    """Neimark and Fufaev (1972): x = c sin²Ωt, y = c(Ωt − ½ sin 2Ωt) with c = g sin α/(2Ω²)."""
    case = pfaff.atlas.knife_edge().at(m=3, I=0.2, g=9.81, alpha=0.3)
    motion = case.simulate(20, phi_dot=1.7)
    phase, c = 1.7 * motion.t, 9.81 * np.sin(0.3) / (2 * 1.7**2)
    np.testing.assert_allclose(motion["x"], c * np.sin(phase) ** 2, atol=1e-11)
    np.testing.assert_allclose(motion["y"], c * (phase - np.sin(2 * phase) / 2), atol=1e-11)
    np.testing.assert_allclose(motion["phi"], phase, atol=1e-12)
    reaction = 2 * 3 * 9.81 * np.sin(0.3) * np.sin(phase)  # weight and centripetal force, half each
    np.testing.assert_allclose(np.abs(motion.reaction), np.abs(reaction), atol=1e-10)


def test_invariants_of_the_nonholonomic_particle():
    """Rosenberg (1977): ẏ and ẋ√(1 + y²) are constant, hence x = ẋ0√(1 + y0²) (arsinh y − arsinh y0)/ẏ."""
    case = pfaff.atlas.nonholonomic_particle().at(m=2)
    motion = case.simulate(20, y=-3, x_dot=0.8, y_dot=0.5)
    np.testing.assert_allclose(motion["y"], -3 + 0.5 * motion.t, atol=1e-12)
    kept = motion["x_dot"] * np.sqrt(1 + motion["y"] ** 2)
    np.testing.assert_allclose(kept, kept[0], rtol=1e-13)
    np.testing.assert_allclose(motion["x"], kept[0] * (np.arcsinh(motion["y"]) - np.arcsinh(-3)) / 0.5, atol=1e-12)
    assert motion.energy.drift < 1e-13
