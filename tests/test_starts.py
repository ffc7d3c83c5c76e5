"""Initial values that nobody gave: the same physics starts in the same way, however it is asked for."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.flow.completion import Demand
from pfaff.flow.initial import initial_state
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

x, y, theta, phi, left, right = coordinates("x y theta phi left right")
b, R, inertia, spin = sm.symbols("b R I I_w", positive=True)


def first(motion: pfaff.Motion) -> dict[str, float]:
    """The initial values that are not zero."""
    values = zip(motion.states, motion.y[:, 0].tolist(), strict=True)
    return {name: pytest.approx(value, rel=1e-12) for name, value in values if value}


@cache
def cart() -> pfaff.System:
    bob = sm.Matrix([x + sm.sin(theta), -sm.cos(theta)]).diff(t)
    kinetic = x.diff(t) ** 2 / 2 + bob.dot(bob) / 2
    return pfaff.System([x, theta], kinetic, -10 * sm.cos(theta), quasi_velocities={"v": x.diff(t)})


@cache
def robot(order: tuple[int, ...] = (0, 1, 2, 3, 4), wheel: float = 0.1) -> pfaff.System:
    """Two wheels on an axle, with their angles of rotation; no offset of the centre of mass."""
    forward = x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi)
    rows = [
        y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi),
        forward - b * phi.diff(t) - R * left.diff(t),
        forward + b * phi.diff(t) - R * right.diff(t),
    ]
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + inertia * phi.diff(t) ** 2 / 2
    return pfaff.System(
        [[x, y, phi, left, right][k] for k in order],
        kinetic + spin * (left.diff(t) ** 2 + right.diff(t) ** 2) / 2,
        nonholonomic_constraints=rows[:: 1 if order[0] == 0 else -1],
        parameters={b: "1/4", R: wheel, inertia: 1, spin: "1/100"},
        quasi_velocities={"v": forward},
        accept_integrable=True,
    )


@pytest.mark.parametrize("given", [{"x_dot": 1}, {"v": 1}, {"prescribed": {"x": "t"}}])
def test_a_pendulum_on_a_cart_is_not_pushed_by_asking_for_the_speed_of_the_cart(given):
    assert first(cart().at().simulate(0.1, **given)) == {"x_dot": 1}


def test_a_prescribed_coordinate_is_simply_set():
    motion = cart().at().simulate(0.1, prescribed={"x": "1 + t"})
    assert first(motion) == {"x": 1, "x_dot": 1}
    assert motion.changes == {}  # nothing that was not asked for


def test_passive_joints_of_a_driven_chain_start_at_rest():
    """A chain of three bars hangs from a slide; its first joint is driven, the others are passive."""
    angles = coordinates("a1 a2 a3")
    tips = [sm.Matrix([x, 0])]
    for angle in angles:
        tips.append(tips[-1] + sm.Matrix([sm.sin(angle), -sm.cos(angle)]))
    kinetic = sum(tip.diff(t).dot(tip.diff(t)) for tip in tips) / 2
    chain = pfaff.System([x, *angles], kinetic, 10 * sum(tip[1] for tip in tips[1:]))
    motion = chain.at().simulate(0.1, prescribed={"a1": "0.3 + sin(2*t)/5"})
    assert first(motion) == {"a1": 0.3, "a1_dot": 0.4}


def test_a_driven_snake_slides_as_its_wheels_demand_and_its_passive_joint_stays():
    """Three links with wheels: the base follows the driven joint, the passive joint has no part in it."""
    heading, driven, passive = coordinates("heading driven passive")
    along, turns = [], [heading, heading + driven, heading + driven + passive]
    place = sm.Matrix([x, y])
    for k, angle in enumerate(turns):
        axis = sm.Matrix([sm.cos(angle), sm.sin(angle)])
        along.append((place + axis, angle))
        place = place + 2 * axis if k < 2 else place
    kinetic = sum((p.diff(t).dot(p.diff(t)) + angle.diff(t) ** 2 / 3) / 2 for p, angle in along)
    rows = [p.diff(t).dot(sm.Matrix([-sm.sin(angle), sm.cos(angle)])) for p, angle in along[:2]]
    snake = pfaff.System([x, y, heading, driven, passive], kinetic, nonholonomic_constraints=rows)
    motion = snake.at().simulate(0.1, prescribed={"driven": "0.5 + t/2"}, heading=0.2, passive=0.3)
    assert motion["passive"][0] == pytest.approx(0.3)
    assert motion["passive_dot"][0] == 0
    assert np.abs(motion.residual[:, 0]).max() < 1e-13
    assert "passive" not in str(motion.changes)


@pytest.mark.parametrize("given", [{"x_dot": 1}, {"v": 1}])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 4, 0, 3, 1)])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_wheels_turn_as_a_robot_runs_straight_in_any_order_and_unit(given, order, unit):
    case = robot(order, 0.1 * unit).at(b=0.25 * unit)
    scale = {name: unit * value for name, value in given.items()}
    motion = case.simulate(0.1, **scale)
    assert first(motion) == {"x_dot": unit, "left_dot": 10, "right_dot": 10}
    assert set(motion.changes) == {"x_dot", "left_dot", "right_dot"} - set(given)
    assert "left_dot = 10" in repr(motion)


def test_one_wheel_alone_moves_straight_and_a_turn_turns_the_wheels_alone():
    case = robot().at()
    assert first(case.simulate(0.1, left_dot=10)) == {"x_dot": 1, "left_dot": 10, "right_dot": 10}
    assert first(case.simulate(0.1, phi_dot=1)) == {"phi_dot": 1, "left_dot": -2.5, "right_dot": 2.5}


def test_a_steady_motion_runs_straight_as_simulate_starts():
    motion = robot().at().steady(v=1)
    assert motion["phi_dot"] == 0
    assert motion["left_dot"] == pytest.approx(10)
    assert first(robot().at().simulate(0.1, v=1)) == {name: value for name, value in motion.initial.items() if value}
    for name in ("v = 1", "x_dot = 1", "left_dot = 10", "right_dot = 10"):
        assert name in motion.status
    assert "phi_dot" not in motion.status


def test_turning_is_named_where_it_is_asked_for():
    motion = robot().at().steady(v=1, phi_dot=2)
    assert motion["right_dot"] == pytest.approx(15)
    assert "phi_dot = 2" in motion.status


def test_equal_choices_are_made_by_name_whatever_their_order():
    """x + y + z = 1 with equal masses: any one of them does, and the first name is taken."""
    for names in permutations(["x", "y", "z"]):
        found = Demand(np.eye(3), np.ones((1, 3)), np.ones(1), np.ones(3, bool)).fewest(
            np.array([True]), names, np.zeros(3)
        )
        assert found is not None
        assert [name for name, changes in zip(names, found, strict=True) if changes] == ["x"]


def test_the_lighter_of_two_choices_is_taken():
    masses = np.diag([4.0, 1.0])
    found = Demand(masses, np.array([[1.0, 1.0]]), np.ones(1), np.ones(2, bool)).fewest(
        np.array([True]), ["x", "y"], np.zeros(2)
    )
    assert found is not None
    assert found.tolist() == [False, True]


@pytest.mark.parametrize("wanted", [1e-300, 1.0, 100.0, 1e300])
def test_no_component_changes_a_stationary_row(wanted):
    """Whatever it wants: in units of nothing 100 was infinite, and no choice at all looked like a solution."""
    found = Demand(np.eye(2), np.zeros((1, 2)), np.array([wanted]), np.ones(2, bool))
    assert np.isfinite(found.wanted).all()
    assert found.fewest(np.array([True]), ["x", "y"], np.zeros(2)) is None


def test_constraints_that_are_obeyed_ask_for_nothing():
    """Two carts that know nothing of each other: the speed of one leaves the other at rest."""
    u, w = coordinates("u w")
    pairs = pfaff.System(
        [x, y, u, w],
        sum(q.diff(t) ** 2 for q in (x, y, u, w)) / 2 + x.diff(t) * u.diff(t) / 2,
        nonholonomic_constraints=[x.diff(t) - 2 * y.diff(t), u.diff(t) - 3 * w.diff(t)],
        accept_integrable=True,
    )
    start = initial_state(pairs.at(), {"x_dot": 1})
    assert start.v.tolist() == [1, 0.5, 0, 0]
    assert start.filled == {"y_dot": 0.5}


def test_a_robot_on_four_wheels_starts_and_runs_straight():
    """Pivoting about two wheels would change fewer values, and take more energy."""
    x, y, phi, *wheels = coordinates("x y phi fl fr rl rr")
    ahead = x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi)
    rolling = [ahead + s * phi.diff(t) / 4 - q.diff(t) / 10 for q, s in zip(wheels, (-1, 1, -1, 1), strict=True)]
    robot = pfaff.System(
        [x, y, phi, *wheels],
        5 * (x.diff(t) ** 2 + y.diff(t) ** 2) + phi.diff(t) ** 2 / 20 + sum(q.diff(t) ** 2 for q in wheels) / 2000,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi), *rolling],
        quasi_velocities={"v": ahead},
        accept_integrable=True,
    ).at()
    assert robot.simulate(1, v=1)["phi_dot"][0] == 0
    assert robot.simulate(1, x_dot=1)["fl_dot"][0] == pytest.approx(10)
    assert robot.steady(v=1)["phi_dot"] == 0


(psi,) = coordinates("psi")
quaternion = coordinates("e0 e1 e2 e3")
e0, e1, e2, e3 = quaternion


@cache
def body_by_euler_angles() -> pfaff.System:
    """A body by its angles ψ, θ, φ about z, x and z, and its rates about its own axes."""
    turning = sm.Matrix([theta.diff(t), 0, phi.diff(t)])
    sine = sm.sin(theta) * psi.diff(t)
    w = sm.Matrix([sine * sm.sin(phi), sine * sm.cos(phi), sm.cos(theta) * psi.diff(t)])
    w += sm.Matrix([sm.cos(phi) * turning[0], -sm.sin(phi) * turning[0], turning[2]])
    kinetic = (w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2
    return pfaff.System([psi, theta, phi], kinetic, quasi_velocities=dict(zip(("wx", "wy", "wz"), w, strict=True)))


@cache
def body_by_a_quaternion() -> pfaff.System:
    axes = sm.Matrix([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])
    w = 2 * axes * sm.Matrix(quaternion).diff(t)
    return pfaff.System(
        quaternion,
        (w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2,
        e0**2 - e1**2,
        holonomic_constraints=[sum(e**2 for e in quaternion) - 1],
        quasi_velocities=dict(zip(("wx", "wy", "wz"), w, strict=True)),
    )


@pytest.mark.parametrize("given", [{"wx": 1}, {"wy": -2}, {"wx": 1, "wz": 3}])
def test_rates_about_axes_that_nobody_gave_are_zero(given):
    placed = [(body_by_euler_angles(), {"psi": 0.2, "theta": 0.5, "phi": 0.3})]
    placed.append((body_by_a_quaternion(), {"e0": 0.7, "e1": 0.1, "e2": 0.5, "e3": -0.5}))
    for body, place in placed:
        motion = body.at().simulate(0.01, **place, **given)
        for name in ("wx", "wy", "wz"):
            assert motion[name][0] == pytest.approx(given.get(name, 0), abs=1e-14)
        assert set(motion.changes) <= set(motion.states)


def test_a_rate_about_an_axis_that_cannot_be_zero_is_named():
    """Beside ψ̇ = 2 and ω_x = 1 one more rate is free: the one that is zero takes least from what is asked."""
    motion = body_by_euler_angles().at().simulate(0.01, theta=0.5, phi=0.3, psi_dot=2, wx=1)
    assert [motion[name][0] for name in ("psi_dot", "wx", "wz")] == pytest.approx([2, 1, 0], abs=1e-14)
    wy = (2 * np.sin(0.5) - np.sin(0.3)) / np.cos(0.3)  # from both rates in terms of θ̇
    assert motion["wy"][0] == pytest.approx(wy, rel=1e-13)
    assert set(motion.changes) == {"theta_dot", "phi_dot", "wy"}
    assert f"wy = {wy:g}" in repr(motion)


def test_given_velocities_that_yield_leave_no_rate_that_must_be_zero_wrong():
    start = {"theta": 0.5, "phi": 0.3, "psi_dot": 0, "theta_dot": 0, "phi_dot": 0}
    motion = body_by_euler_angles().at().simulate(0.01, **start, wx=1, project=True)
    assert motion["wx"][0] == pytest.approx(1, rel=1e-12)
