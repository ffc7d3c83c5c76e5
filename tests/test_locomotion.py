"""Locomotion and friction: Cazzolli et al. (2020), Sec. 7."""

from __future__ import annotations

import numpy as np
import pytest

import pfaff
from conftest import XI_HAT
from pfaff.errors import ConvergenceError, ParameterError


@pytest.fixture(scope="module", params=["skate", "bow"])
def cycle(request):
    case = pfaff.atlas.column(2, request.param).at(**XI_HAT, c_i=1.5)
    return case.at(F=1.1 * case.flutter().value).simulate(400, theta1_dot=0.01, theta2_dot=0.01)


def test_imposing_the_rotations_returns_the_motion(cycle):
    """On the same column no couple is needed, χ(τ) and the reaction come back."""
    walk = cycle.case.impose(cycle, since=350, duration=20)
    then = 350 + walk.motion.t
    np.testing.assert_allclose(walk.motion["X"], cycle(then)[2], atol=1e-11)
    np.testing.assert_allclose(walk.reaction, cycle.reactions(then)[0], atol=1e-5)
    assert all(np.abs(couple).max() < 1e-4 for couple in walk.drive.values())


def test_any_column_moves_alike_and_any_load_is_moved(cycle):
    """The constraint knows no masses; p a₃ = F − R(τ), Eq. (96a) with the sign that Eq. (52c) demands."""
    period = cycle.period("theta1")
    other = cycle.case.at(M_L=3, I_L=2, k1=20, c_i=0.3, F=25)
    walk = other.impose(cycle, "theta1", "theta2", since=350, duration=3 * period)
    then = 350 + walk.motion.t
    np.testing.assert_allclose(walk.motion["X"], cycle(then)[2], atol=1e-11)
    advance = cycle(350 + 3 * period)[2] - cycle(350)[2]
    assert walk.mean_velocity["X"] == pytest.approx(advance / (3 * period), rel=1e-9)
    heavier = other.at(F=35).impose(cycle, "theta1", "theta2", since=350, duration=3 * period)
    bow = "bow" in cycle.system
    lever = np.ones_like(then) if bow else np.cos(walk.motion["theta2"])
    np.testing.assert_allclose((heavier.reaction - walk.reaction) * lever, 10, rtol=1e-9)


def test_loads_within_a_limit_of_the_reaction(cycle):
    period = cycle.period("theta1")
    walk = cycle.case.at(M_L=3, I_L=2, c_i=0.3, F=0).impose(cycle, since=350, duration=period)
    low, high = walk.loads(limit=10.0)
    assert low < 0 < high
    for load, holds in [(high * 0.999, True), (high * 1.001, False), (low * 0.999, True), (low * 1.001, False)]:
        again = cycle.case.at(M_L=3, I_L=2, c_i=0.3, F=load).impose(cycle, since=350, duration=period)
        assert (np.abs(again.reaction).max() < 10) == holds


def test_the_period_is_seen_in_every_coordinate(cycle):
    assert cycle.period("theta1") == pytest.approx(cycle.period("theta2"), rel=1e-7)


@pytest.mark.parametrize(("load", "duration"), [(84, 10), (75, 200)], ids=["too short", "decaying"])
def test_what_is_not_periodic_has_no_period(skate, load, duration):
    motion = skate.at(**XI_HAT, c_i=1.5, F=load).simulate(duration, theta1_dot=0.01, theta2_dot=0.01)
    with pytest.raises(ConvergenceError, match="simulate longer"):
        motion.period()


@pytest.mark.parametrize("duration", np.linspace(3.1, 4.7, 9))
def test_any_duration_can_be_imposed(cycle, duration):
    walk = cycle.case.impose(cycle, since=20, duration=float(duration), samples=5)
    assert walk.motion.t[-1] == duration
    assert np.isfinite(walk.mean_velocity["X"])


def test_locomotion_under_the_spring_device(skate):
    """X matters there: the free coordinate starts where it was, and its reaction comes back."""
    case = pfaff.atlas.column(2, "skate", "spring").at(**XI_HAT, c_i=1.5, K=40, Delta=2.1)
    source = case.simulate(30, theta1_dot=0.1, theta2_dot=0.1)
    with pytest.raises(ParameterError, match="name those to impose"):
        case.impose(source, since=10)
    walk = case.impose(source, "theta1", "theta2", since=10)
    np.testing.assert_allclose(walk.motion["X"], source(10 + walk.motion.t)[2], atol=1e-10)
    np.testing.assert_allclose(walk.reaction, source.reactions(10 + walk.motion.t)[0], atol=1e-5)


def test_loads_need_a_motion_that_the_load_cannot_change(cycle):
    walk = cycle.case.impose(cycle, "theta2", since=350, duration=5)
    with pytest.raises(ParameterError, match="the load alters this motion"):
        walk.loads(limit=100)


def test_friction_cone(cycle):
    """The coefficient needed is |p|/N; a smaller one slips where the event says."""
    need = cycle.friction(normal=100)
    assert need.largest == pytest.approx(np.abs(cycle.reaction).max() / 100, rel=1e-2)
    assert need.largest >= np.abs(cycle.reaction).max() / 100
    just = cycle.friction(100, coefficient=need.largest * (1 - 1e-9))
    assert len(just.slips) >= 1
    assert not len(cycle.friction(100, coefficient=need.largest * 1.01).slips)
    mu = 0.5 * (need.largest + np.abs(cycle.reaction[0]) / 100)
    slips = cycle.friction(100, coefficient=mu)
    assert "slips first" in slips.status
    np.testing.assert_allclose(np.abs(cycle.reactions(slips.slips)[0]), 100 * mu, rtol=1e-12)
    initial = {"theta1_dot": 0.01, "theta2_dot": 0.01}
    stopped = cycle.case.simulate(400, events={"slip": pfaff.Event(f"p**2 - {100 * mu}**2", stop=True)}, **initial)
    assert stopped.t[-1] == pytest.approx(slips.slips[0], rel=1e-11)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"normal": 0}, "normal=0"), ({"normal": 1, "reaction": "p7"}, "no reaction 'p7'")],
)
def test_bad_friction(cycle, arguments, words):
    with pytest.raises(ParameterError, match=words):
        cycle.friction(**arguments)


def test_bad_impositions(cycle):
    with pytest.raises(ParameterError, match="ends at"):
        cycle.case.impose(cycle, since=500)
    with pytest.raises(ParameterError, match="not a coordinate of both"):
        cycle.case.impose(cycle, "theta3")
