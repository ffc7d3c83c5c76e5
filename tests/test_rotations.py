"""Rotations: orbits that close but for whole turns of an angle, alone, beside a skate, and with what travels."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from scipy.special import ellipk

import pfaff
from pfaff.continuation.endings import Reason
from pfaff.errors import ConvergenceError
from pfaff.statement import TIME, coordinates


@pytest.fixture(scope="module")
def overturned():
    """A pendulum with damping, under a torque."""
    (angle,) = coordinates("theta")
    damping, torque = sm.symbols("c tau", positive=True)
    speed = angle.diff(TIME)
    return pfaff.System(
        name="overturned pendulum",
        coordinates=[angle],
        kinetic=speed**2 / 2,
        potential=1 - sm.cos(angle),
        dissipation=damping * speed**2 / 2,
        forces={angle: torque},
        parameters={damping: "1/2", torque: 2},
        load="tau",
    ).at()


@pytest.fixture(scope="module")
def rotation(overturned):
    return overturned.orbit(overturned.simulate(60, samples=3001))


def closed(orbit):
    """What a motion from an orbit's first state misses after a period, but for a turn."""
    start = {name: float(orbit.orbit[name][0]) for name in ("theta", "theta_dot")}
    motion = orbit.case.simulate(orbit.period, **start)
    return motion["theta"][-1] - start["theta"] - 2 * np.pi, motion["theta_dot"][-1] - start["theta_dot"]


def test_a_rotation_is_an_orbit(rotation):
    """Liouville: the product of the multipliers is e^−cT. What the torque puts in, damping takes: c∫θ̇² dt = 2πτ."""
    assert rotation.advance == {"theta": 2 * np.pi}
    assert rotation.mean_velocity["theta"] == pytest.approx(2 * np.pi / rotation.period)
    assert rotation.multipliers == pytest.approx([1.0, np.exp(-rotation.period / 2)], abs=1e-11)
    c, cycle = rotation.problem.collocation, rotation.point.cycle
    square = (c.stages(cycle)[1] ** 2 @ c.weights(cycle)) * rotation.period
    assert square / 2 == pytest.approx(2 * np.pi * 2, rel=1e-10)
    assert closed(rotation) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_rotations_are_followed_to_where_they_stop(rotation, tmp_path):
    """To a homoclinic orbit of the cylinder: on the plane a connection of the saddle with its image, computed alone."""
    branch = rotation.orbits(to=0.1)
    assert branch.special == ()
    assert branch.ended.reason is Reason.HOMOCLINIC
    assert "homoclinic" in branch.ended
    (connection,) = branch.connections()
    assert branch[-1].value == pytest.approx(connection.value, rel=1e-8)
    again = pfaff.load(branch.save(tmp_path / "rotations.nc"), rotation.case)
    assert again[5].advance == branch[5].advance == {"theta": 2 * np.pi}
    assert again[5].multipliers == pytest.approx(branch[5].multipliers, abs=1e-9)


def test_fast_rotations_hardly_change_their_speed(rotation):
    """θ̇ → τ/c; steps are as long as the speed allows, not as its ripple does. In another parameter too."""
    branch = rotation.orbits(to=20)
    assert branch.ended.reason is Reason.REACHED
    assert len(branch) < 60
    assert branch[-1].mean_velocity["theta"] == pytest.approx(40, rel=1e-6)
    assert closed(branch[-1]) == pytest.approx((0.0, 0.0), abs=1e-9)
    damped = rotation.orbits(to=0.8, load="c")[-1]
    assert damped.multipliers[1] == pytest.approx(np.exp(-0.8 * damped.period), rel=1e-8)


def test_a_motion_that_turns_and_does_not_repeat_itself_is_refused(overturned):
    with pytest.raises(ConvergenceError, match="turns over and over at tau = 2, in theta, and does not repeat itself"):
        overturned.orbit(overturned.simulate(6, theta_dot=20.0, samples=600))


def test_a_sleigh_turns_over_and_over_and_travels():
    """Its heading is turned as the pendulum is; the blade determines neither ẋ nor ẏ all the way round."""
    X, Y, angle = coordinates("x y theta")
    torque = sm.Symbol("tau", positive=True)
    v, w, turn = X.diff(TIME), Y.diff(TIME), angle.diff(TIME)
    sleigh = pfaff.System(
        name="turned sleigh",
        coordinates=[X, Y, angle],
        kinetic=(v**2 + w**2 + turn**2) / 2,
        potential=-sm.cos(angle),
        dissipation=(v**2 + w**2 + turn**2 / 2) / 2,
        forces={X: 1, angle: torque},
        nonholonomic_constraints=[w * sm.cos(angle) - v * sm.sin(angle)],
        parameters={torque: 2},
        load="tau",
    ).at()
    orbit = sleigh.orbit(sleigh.simulate(60, samples=3001))
    assert orbit.problem.flow.dependent == ()
    assert orbit.advance["theta"] == 2 * np.pi
    assert orbit.period == pytest.approx(1.573833808, rel=1e-8)  # the pendulum's
    expected = [1.0, np.exp(-orbit.period / 2), np.exp(-orbit.period)]
    assert orbit.multipliers == pytest.approx(expected, abs=1e-9)
    last = orbit.orbits(to=3)[-1]
    start = {name: float(last.orbit[name][0]) for name in ("theta", "theta_dot", "x_dot", "y_dot")}
    motion = last.case.simulate(last.period, **start)
    travelled = {name: motion[name][-1] - motion[name][0] for name in ("x", "y", "theta")}
    assert last.advance == pytest.approx(travelled, abs=1e-9)
    assert abs(last.advance["x"]) > 0.01


@pytest.mark.parametrize("turns", [2, 3, 12])
def test_an_angle_may_make_several_turns_in_a_period(turns):
    """θ is geared to the phase φ of a circle, θ̇ = n + 1/10 − sin(θ/n − φ)/2: locked where that sine is 1/5, with the
    multiplier e^(−2π cos/(2n)). The equations are the same after n turns of θ, and no sooner."""
    x, y, theta = sm.symbols("x y theta", real=True)
    rate = sm.Symbol("omega", positive=True)
    round_ = 1 - x**2 - y**2
    slip = sm.sin(theta / turns) * x - sm.cos(theta / turns) * y
    rates = {x: round_ * x - y, y: round_ * y + x, theta: rate - slip / 2}
    case = pfaff.ode(rates, {rate: turns + 0.1}, load=rate).at()
    orbit = case.orbit(case.simulate(50 * turns, samples=1500 * turns, x=1))
    assert orbit.period == pytest.approx(2 * np.pi, rel=1e-9)
    assert orbit.advance == {"theta": 2 * np.pi * turns}
    expected = [1.0, np.exp(-np.pi * np.sqrt(0.96) / turns), np.exp(-4 * np.pi)]
    assert orbit.multipliers == pytest.approx(expected, abs=1e-8)
    last = orbit.orbits(to=turns + 1)  # the locking ends in a fold, where the sine is 1
    assert last.of_kind("fold")[0].value == pytest.approx(turns + 0.5, abs=1e-8)


@pytest.mark.parametrize("speed", [2.5, 10.0])
def test_rotations_of_a_free_pendulum_are_a_family(speed):
    """Of the energy E they take T = 4 K(m)/√(2(E + g)) for a turn, with m = 2g/(E + g), here and along g."""
    (angle,) = coordinates("theta")
    g = sm.Symbol("g", positive=True)
    rate = angle.diff(TIME)
    case = pfaff.System([angle], rate**2 / 2, -g * sm.cos(angle), parameters={g: 1}, load="g").at()
    orbit = case.orbit(case.simulate(60, theta_dot=speed, samples=3001))
    assert orbit.period == pytest.approx(4 / speed * ellipk(4 / speed**2), rel=1e-7)
    branch = orbit.orbits(to=2)
    assert branch.special == ()
    assert branch.ended == "reached 2"
    for point in branch:
        energy = point.orbit["theta_dot"] ** 2 / 2 - point.value * np.cos(point.orbit["theta"])
        assert np.ptp(energy) < 1e-9 * energy.mean()
        total = energy.mean() + point.value
        assert point.period == pytest.approx(4 * ellipk(2 * point.value / total) / np.sqrt(2 * total), rel=1e-9)
        assert point.advance == {"theta": 2 * np.pi}
        assert point.multipliers == pytest.approx([1, 1], abs=1e-8)
