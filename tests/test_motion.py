"""Motion in time: energy, constraints, reversal, closed forms, and initial values that disobey."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.errors import ConstraintError, ParameterError
from pfaff.flow.initial import initial_state
from pfaff.motion.dense_output import Leg

t = dynamicsymbols._t


@pytest.mark.slow
@pytest.mark.parametrize("constraint", ["skate", "bow"])
@pytest.mark.parametrize("load", ["dead", "spring"])
def test_energy_and_constraint_over_a_long_undamped_motion(constraint, load):
    values = {"F": 60} if load == "dead" else {"K": 40, "Delta": 1.5}
    case = pfaff.atlas.column(2, constraint, load).at(**XI_HAT, **values)
    motion = case.simulate(1000, theta1=0.2, theta2=-0.1, theta1_dot=0.1)
    assert motion.finished
    assert motion.energy.drift < 1e-12
    assert np.abs(motion.residual).max() < 1e-14
    assert not motion.energy.dissipated.any()


def test_damped_motion_balances_its_energy(skate):
    """The limit cycle of Fig. 12: what the load gives, the hinges take."""
    motion = skate.at(**XI_HAT, c_i=1.5, F=1.1 * 76.3379703896).simulate(200, theta1_dot=0.01, theta2_dot=0.01)
    assert motion.energy.drift < 1e-12
    assert motion.energy.dissipated[-1] > 1
    assert np.all(np.diff(motion.energy.dissipated) >= 0)
    assert np.ptp(motion["theta1"][-200:]) > 0.1


def test_undamped_motion_runs_back(skate):
    case = skate.at(**XI_HAT, F=60)
    there = case.simulate(20, theta1=0.2, theta2=-0.1)
    back = case.simulate(-20, **dict(zip(there.states, there.y[:, -1], strict=True)))
    np.testing.assert_allclose(back.y[:, -1], there.y[:, 0], atol=1e-13)


def test_the_skate_may_turn_past_ninety_degrees(skate):
    """cos θ_2 = 0 on the way: an ordinary moment for the full equations."""
    motion = skate.at(k1=0.1, M_L=1, I_L=1, F=0.2).simulate(30, theta2_dot=1.5, theta1_dot=0.3, samples=3001)
    assert motion.finished
    assert motion["theta2"].max() > 2
    assert motion.energy.drift < 1e-12


def test_same_motion_from_scipy_on_the_shape_flow(skate):
    from scipy.integrate import solve_ivp

    case = skate.at(**XI_HAT, c_i=1.5, F=80)
    motion = case.simulate(30, theta1_dot=0.1, theta2_dot=0.1, samples=31)
    other = solve_ivp(
        lambda _, x: skate.shape.rhs(x, case), (0, 30), [0, 0, 0.1, 0.1], "DOP853", motion.t, rtol=1e-13, atol=1e-15
    )
    np.testing.assert_allclose(motion.y[[0, 1, 3, 4]], other.y, atol=1e-11)
    np.testing.assert_allclose(motion.reaction, skate.shape.reactions(other.y, case)[0], rtol=1e-9)


def test_nonholonomic_particle():
    """ż = y ẋ: ẋ √(1 + y²) is constant."""
    x, y, z = dynamicsymbols("x y z")
    m = sm.Symbol("m", positive=True)
    kinetic = m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2
    system = pfaff.System([x, y, z], kinetic, nonholonomic_constraints=[z.diff(t) - y * x.diff(t)], parameters={m: 1})
    motion = system.at().simulate(10, x_dot=1.0, y_dot=0.7, y=-2.0)
    kept = motion["x_dot"] * np.sqrt(1 + motion["y"] ** 2)
    np.testing.assert_allclose(kept, kept[0], rtol=1e-13)
    np.testing.assert_allclose(motion["y"], -2 + 0.7 * motion.t, rtol=1e-13, atol=1e-14)


def test_knife_edge_on_a_slope():
    """x = c sin²Ωt, y = c (Ωt − ½ sin 2Ωt) with c = g sin α/(2Ω²): it does not slide down."""
    x, y, phi = dynamicsymbols("x y phi")
    m, I, w = sm.symbols("m I w", positive=True)  # w = g sin α
    kinetic = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + I * phi.diff(t) ** 2 / 2
    row = x.diff(t) * sm.sin(phi) - y.diff(t) * sm.cos(phi)
    system = pfaff.System(
        [x, y, phi], kinetic, -m * w * x, nonholonomic_constraints=[row], parameters={m: 1, I: 0.3, w: 2}
    )
    spin = 0.8
    motion = system.at().simulate(12, phi_dot=spin)
    c = 2 / (2 * spin**2)
    np.testing.assert_allclose(motion["x"], c * np.sin(spin * motion.t) ** 2, atol=1e-12)
    np.testing.assert_allclose(motion["y"], c * (spin * motion.t - np.sin(2 * spin * motion.t) / 2), atol=1e-12)


def test_chaplygins_sleigh_turns_by_a_fixed_angle(sleigh):
    """π √((I + m a²)/(m a²)) in all, from running backwards to running forwards, whatever its speed."""
    forth = sleigh.at().simulate(400, phi_dot=0.9)["phi"][-1]
    back = sleigh.at().simulate(-400, phi_dot=0.9)["phi"][-1]
    assert abs(forth - back) == pytest.approx(np.pi * np.sqrt((0.25 + 0.16) / 0.16), rel=1e-9)


def test_holonomic_constraint_is_kept(mass_on_a_circle):
    motion = mass_on_a_circle.at().simulate(100, x=0.6, y=-0.8)
    assert np.abs(motion.residual).max() < 1e-13
    assert motion.energy.drift < 1e-12


def test_a_driven_oscillator_accounts_for_what_it_is_given():
    x = dynamicsymbols("x")
    m, k, c, a = sm.symbols("m k c a", positive=True)
    system = pfaff.System(
        [x],
        m * x.diff(t) ** 2 / 2,
        k * x**2 / 2,
        c * x.diff(t) ** 2 / 2,
        forces={x: a * sm.cos(2 * t)},
        parameters={m: 1, k: 1, c: 0.1, a: 1},
    )
    motion = system.at().simulate(200, samples=4001)
    assert motion.energy.drift < 1e-12
    amplitude = 1 / np.hypot(1 - 4, 0.2)
    assert np.abs(motion["x"][-800:]).max() == pytest.approx(amplitude, rel=1e-3)


def test_dense_output_saving_and_loading(skate, tmp_path):
    motion = skate.at(**XI_HAT, F=60).simulate(10, theta1=0.1, samples=201)
    np.testing.assert_allclose(motion(motion.t[37]), motion.y[:, 37], atol=1e-15)
    assert motion([0.1, 0.2]).shape == (6, 2)
    with pytest.raises(ParameterError, match="outside"):
        motion(11)
    again = pfaff.load_motion(motion.save(tmp_path / "run.nc"))
    np.testing.assert_array_equal(again.y, motion.y)
    np.testing.assert_array_equal(again.energy.balance, motion.energy.balance)
    assert again.status == motion.status
    assert again.values["k1"] == "50"
    np.testing.assert_allclose(again(3.333), motion(3.333), atol=1e-6)
    with pytest.raises(ParameterError, match="cannot read"):
        pfaff.load_motion(tmp_path / "nothing.nc")
    assert set(motion.to_xarray().data_vars) >= {"theta1", "X_dot", "p", "energy_kinetic"}
    with pytest.raises(ParameterError, match="'theta3'"):
        motion["theta3"]


def test_velocities_follow_from_the_constraint_or_are_refused(skate):
    case = skate.at(F=1)
    motion = case.simulate(1, theta1=0.3, theta2=0.1, theta1_dot=1)
    assert motion["X_dot"][0] == pytest.approx(np.sin(0.2) / 2 / np.cos(0.1))
    with pytest.raises(ConstraintError, match="violate constraint 1.*project=True"):
        case.simulate(1, theta1=0.3, theta2=0.1, theta1_dot=1, theta2_dot=0, X_dot=1)
    projected = case.simulate(1, theta1=0.3, theta2=0.1, theta1_dot=1, X_dot=1, project=True)
    assert set(projected.changes) == {"theta1_dot", "X_dot"}
    assert np.abs(projected.residual[:, 0]).max() < 1e-15


@cache
def rolling_wheel(m: float = 1, c: float = 0.5, r: float = 1) -> pfaff.System:
    """An upright wheel at (x, y) with heading a, rolling by b."""
    x, y, a, b = dynamicsymbols("x y a b")
    mass, inertia, radius = sm.symbols("m c r", positive=True)
    rates = x.diff(t), y.diff(t), b.diff(t)
    return pfaff.System(
        [x, y, a, b],
        mass * (rates[0] ** 2 + rates[1] ** 2) / 2 + a.diff(t) ** 2 / 2 + inertia * rates[2] ** 2 / 2,
        nonholonomic_constraints=[rates[0] - radius * rates[2] * sm.cos(a), rates[1] - radius * rates[2] * sm.sin(a)],
        parameters={mass: m, inertia: c, radius: r},
    )


@cache
def two_pendulums() -> pfaff.System:
    names = x, y, u, w = dynamicsymbols("x y u w")
    m, l = sm.symbols("m l", positive=True)
    return pfaff.System(
        list(names),
        m * sum(q.diff(t) ** 2 for q in names) / 2,
        potential=m * (y + w),
        holonomic_constraints=[x**2 + y**2 - l**2, u**2 + w**2 - l**2],
        parameters={m: 1, l: 1},
    )


@pytest.mark.parametrize("project", [False, True])
def test_given_velocities_stay_while_the_others_can_follow(project):
    start = initial_state(rolling_wheel().at(), {"a": 0.3, "b_dot": 1}, project)
    assert start.changes == {}
    np.testing.assert_allclose(start.v, [np.cos(0.3), np.sin(0.3), 0, 1], rtol=1e-14)
    start = initial_state(pfaff.atlas.whipple_bicycle().at(), {"s_dot": 2.67}, project)
    assert start.changes == {}
    np.testing.assert_allclose(start.v[[0, 6, 7]], 2.67, rtol=1e-14)  # x_dot, s_dot, f_dot: straight ahead


def test_projected_members_keep_what_they_are_given():
    members = rolling_wheel().at().ensemble(1, samples=3, project=True, b_dot=np.array([1.0, 2.0]), a_dot=0.5)
    np.testing.assert_allclose(members["b_dot"][0], [1, 2], rtol=1e-14)
    np.testing.assert_allclose(members["a_dot"][-1], 0.5, rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
def test_given_velocities_that_disagree_change_by_the_least_kinetic_energy(scale):
    """With lengths and masses in any unit; x_dot and b_dot disagree, y_dot follows and a_dot stays as given."""
    case = rolling_wheel(m=2 * scale, c=0.5 * scale**3, r=scale).at()
    start = initial_state(case, {"a": 0.3, "a_dot": 0.7, "x_dot": 2 * scale, "b_dot": 1}, project=True)
    assert set(start.changes) == {"x_dot", "b_dot"}
    # minimum of m δx² + c δb² over 2 + δx = (1 + δb) cos a, all in units of the scale
    weights, row = np.array([2.0, 0.5]), np.array([1.0, -np.cos(0.3)])
    expected = -(2 - np.cos(0.3)) * (row / weights) / (row @ (row / weights))
    np.testing.assert_allclose([start.changes["x_dot"] / scale, start.changes["b_dot"]], expected, rtol=1e-12)
    np.testing.assert_allclose(start.v[1] / scale, np.sin(0.3) * (1 + expected[1]), rtol=1e-12)


def test_given_coordinates_stay_while_the_others_can_follow():
    """y = 0, where Newton's method cannot tell up from down: it hangs down. Only the other pendulum must yield."""
    for project in (False, True):
        start = initial_state(two_pendulums().at(l=1e-4), {"x": 0.6e-4, "u": 0.28e-4}, project)
        assert start.changes == {}
        np.testing.assert_allclose(start.q, [0.6e-4, -0.8e-4, 0.28e-4, -0.96e-4], rtol=1e-12)
    given = {"x": 0.6, "u": 0.6, "w": -0.7}
    start = initial_state(two_pendulums().at(), given, project=True)
    assert set(start.changes) == {"u", "w"}
    np.testing.assert_allclose(start.q[2:], np.array([0.6, -0.7]) / np.hypot(0.6, 0.7), rtol=1e-12)


def test_small_coordinates_that_violate_a_constraint_are_refused():
    """A pendulum of a micrometre: what it violates is small beside one, not beside its terms."""
    with pytest.raises(ConstraintError, match=r"\(row 2\)"):
        initial_state(two_pendulums().at(l=1e-6), {"x": 0.6e-6, "y": 0.8e-6, "u": 0.6e-6, "w": -0.3e-6})


def test_the_augmented_method_takes_systems_without_constraints():
    motion = pfaff.atlas.pendulum().at().simulate(0.1, Q=0.5, method="augmented")
    assert motion["Q"][-1] == pytest.approx(0.5 - np.sin(0.5) * 0.1**2 / 2 + np.sin(1) * 0.1**4 / 48, abs=1e-7)


def test_a_collapsed_step_keeps_what_was_computed(skate):
    motion = skate.at(F=1).simulate(100, theta1_dot=1, max_steps=5)
    assert not motion.finished
    assert "limit" in motion.status
    assert 0 < motion.t[-1] < 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"duration": float("nan")}, "not finite"),
        ({"duration": 1, "samples": 1}, "samples=1: give a whole number from 2 up"),
        ({"duration": 1, "tolerance": 2}, "from 1e-18 to 1"),
        ({"duration": 1, "theta9": 1}, "'theta9'"),
        ({"duration": 1, "theta1": float("inf")}, "not finite"),
    ],
)
def test_bad_requests(skate, arguments, words):
    with pytest.raises(ParameterError, match=words):
        skate.at(F=1).simulate(**arguments)


def test_same_motion_from_equation_52_typed_by_hand(skate):
    """Cazzolli et al. (2020), Eq. (52) with the inertia of the end that (52b) lacks, Eq. (53); independent of pfaff."""
    from scipy.integrate import solve_ivp

    d, M_L, I_L, k1, c, F = 0.5, 15.0, 15.0, 50.0, 1.5, 80.0
    m12, m1, m2 = d / 8 + M_L / 4, (d + 1) / 4 + M_L / 2, d / 4 + M_L / 2

    def rhs(_, x):
        one, two, _, v1, v2, vX = x
        s1, c1, s2, c2, s, cos = (
            np.sin(one),
            np.cos(one),
            np.sin(two),
            np.cos(two),
            np.sin(one - two),
            np.cos(one - two),
        )
        saddle = np.array(
            [
                [(d**2 + 1) / 8 + M_L / 4, m12 * cos, -m1 * s1, -s / 2],
                [m12 * cos, d**2 / 8 + M_L / 4 + I_L, -m2 * s2, 0],
                [-m1 * s1, -m2 * s2, 1 + M_L, c2],
                [-s / 2, 0, c2, 0],
            ]
        )
        force = [
            -(k1 + 1) * one + two - c * (2 * v1 - v2) - m12 * v2**2 * s,
            one - two + c * (v1 - v2) + m12 * v1**2 * s,
            F + m1 * v1**2 * c1 + m2 * v2**2 * c2,
            (v1 - v2) * cos * v1 / 2 + vX * v2 * s2,
        ]
        return [v1, v2, vX, *np.linalg.solve(saddle, force)[:3]]

    motion = skate.at(**XI_HAT, c_i=c, F=F).simulate(40, theta1_dot=0.1, theta2_dot=0.1, samples=41)
    other = solve_ivp(rhs, (0, 40), motion.y[:, 0], "DOP853", motion.t, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(motion.y, other.y, atol=1e-10)


def test_the_error_follows_the_tolerance(skate):
    """Taylor's order grows with the digits asked for: the error is about proportional to the tolerance."""
    case = skate.at(**XI_HAT, c_i=1.5, F=84)

    def final(tolerance):
        return case.simulate(60, tolerance=tolerance, samples=2, theta1_dot=0.1, theta2_dot=0.1).y[:, -1]

    exact = final(1e-17)
    errors = [np.abs(final(tolerance) - exact).max() for tolerance in (1e-4, 1e-7, 1e-10)]
    orders = np.diff(np.log10(errors)) / -3
    assert np.all((orders > 0.7) & (orders < 1.4))
    assert np.abs(final(1e-15) - exact).max() < 1e-13


def test_a_negative_kinetic_energy_is_refused():
    x, y = dynamicsymbols("x y")
    system = pfaff.System([x, y], kinetic=(x.diff(t) ** 2 - y.diff(t) ** 2) / 2, potential=x**2 + y**2)
    with pytest.raises(pfaff.PfaffError, match="kinetic energy is negative for motions along y"):
        system.at().simulate(1, x=0.1)


def test_dense_output_made_later_repeats_the_steps(skate):
    """Samples are taken on the way; the polynomials come from the same steps, flown again when they are asked for."""
    motion = skate.at(**XI_HAT, c_i=1.5, F=84).simulate(200, theta1_dot=0.01, samples=301)
    assert all(isinstance(piece, Leg) and "dense" not in vars(piece) for piece in motion.dense.pieces)
    assert np.array_equal(motion(motion.t), motion.y)
    assert len(motion.knots) == 1 + int(re.search(r"(\d+) steps", motion.method)[1])
    assert motion.knots[-1] == 200


def test_a_motion_within_the_progress_of_another_does_not_disturb_it(skate):
    """Integrators are lent to one run at a time."""
    case = skate.at(**XI_HAT, c_i=1.5, F=84)
    alone = case.simulate(200, theta1_dot=0.01)
    within = []
    motion = case.simulate(200, theta1_dot=0.01, progress=lambda _: within.append(case.simulate(1, theta1_dot=0.02)))
    assert len(within) > 1
    assert np.array_equal(motion.y, alone.y)
    assert np.array_equal(motion(motion.t), alone.y)


@pytest.mark.parametrize("angle", [0.1, 0.5, 1.0, 1.1, 1.25])
def test_a_velocity_whose_coefficient_is_rounding_cannot_follow(angle):
    """The row is ẋ cos θ + ẏ sin θ, written so that the coefficient of θ̇ cancels to rounding only."""
    x, y, theta = dynamicsymbols("x y theta")
    u, v = (x + sm.cos(theta)).diff(t), (y + sm.sin(theta)).diff(t)
    system = pfaff.System(
        [x, y, theta],
        (x.diff(t) ** 2 + y.diff(t) ** 2 + theta.diff(t) ** 2) / 2,
        nonholonomic_constraints=[u * sm.cos(theta) + v * sm.sin(theta)],
    )
    with pytest.raises(ConstraintError, match="violate constraint 1"):
        system.at().simulate(1, x_dot=1, y_dot=1, theta=angle)
    motion = system.at().simulate(1, x_dot=1, y_dot=1, theta=angle, project=True)
    assert motion["theta_dot"][0] == 0
    along = motion["x_dot"][0] * np.cos(angle) + motion["y_dot"][0] * np.sin(angle)
    assert along == pytest.approx(0, abs=1e-15)


def test_a_motion_does_not_wait_for_scipy():
    script = (
        "import sys, pfaff\n"
        "motion = pfaff.atlas.pendulum().at().simulate(0.1, Q=0.3)\n"
        "print(motion.status.finished, 'scipy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
