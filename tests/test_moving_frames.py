"""Symmetries that no coordinate measures: motions that they carry along are seen from a frame that moves with them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.checks.symmetries import alike
from pfaff.errors import ConvergenceError, NoBifurcationError
from pfaff.flow.alike import broken_along
from pfaff.statement import TIME, coordinates


@cache
def ball(turntable: bool, unit: int | sm.Rational = 1) -> pfaff.System:
    """A solid ball by quaternions that rolls on a plane, which may turn; its diameter is the unit of length."""
    x, y, *e = coordinates("x y e0 e1 e2 e3")
    Omega, r = sm.Symbol("Omega", real=True), sm.Rational(1, 2) * unit
    E = sm.Matrix([[-e[1], e[0], -e[3], e[2]], [-e[2], e[3], e[0], -e[1]], [-e[3], -e[2], e[1], e[0]]])
    w = 2 * E * sm.Matrix(e).diff(TIME)
    X, Y = (-Omega * y, Omega * x) if turntable else (0, 0)
    return pfaff.System(
        [x, y, *e],
        (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2 + unit**2 * w.dot(w) / 20,
        holonomic_constraints=[sum(each**2 for each in e) - 1],
        nonholonomic_constraints=[x.diff(TIME) - r * w[1] - X, y.diff(TIME) + r * w[0] - Y],
        parameters={Omega: sm.Rational(7, 10)} if turntable else {},
    )


@pytest.mark.parametrize("e", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0.7, 0.1, 0.5, -0.5)])
def test_a_ball_by_quaternions_rolls_straight(e):
    """In any attitude and with any spin; speed and spin select the motion, and nothing else does."""
    start = dict(zip(("e0", "e1", "e2", "e3"), e, strict=True)) | {"e3_dot": 0.4}
    motion = ball(False).at().steady(x_dot=1, start=start)
    assert all(check.passed for check in motion.checks)
    assert (motion.family_dimension, len(motion.eigenvalues), motion.stable) == (2, 0, True)
    assert motion.carried_along == ("e0", "e1", "e2", "e3")
    moved = ball(False).at().simulate(3, **motion.initial)
    assert moved["x"][-1] == pytest.approx(3, rel=1e-11)
    assert moved["y"][-1] == pytest.approx(3 * motion["y_dot"], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("e", [(1, 0, 0, 0), (0.7, 0.1, 0.5, -0.5)])
def test_a_ball_by_quaternions_runs_in_circles_on_a_turntable(e):
    """At 2/7 of its angular velocity, whatever the circle: about the table's centre, others oscillate at that rate."""
    start = dict(zip(("e0", "e1", "e2", "e3"), e, strict=True)) | {"y_dot": 0.3}
    motion = ball(True).at().steady(x=1, start=start)
    assert all(check.passed for check in motion.checks)
    assert np.hypot(motion["x_dot"], motion["y_dot"]) == pytest.approx(0.2 * np.hypot(1, motion["y"]), rel=1e-11)
    assert motion.eigenvalues == pytest.approx([-0.2j, 0.2j], abs=1e-10)
    assert motion.stable


@pytest.mark.parametrize("unit", [1, 100, 1000, 10**6, sm.Rational(1, 100), sm.Rational(1, 1000)])
@pytest.mark.parametrize("e", [(1, 0, 0, 0), (0.7, 0.1, 0.5, -0.5), (0.5, 0.5, 0.5, 0.5)])
def test_a_free_ball_rolls_straight_in_any_unit(unit, e):
    start = dict(zip(("e0", "e1", "e2", "e3"), e, strict=True)) | {"e3_dot": 0.4}
    motion = ball(False, unit).at().steady(x_dot=float(unit), start=start)
    assert all(check.passed for check in motion.checks)
    assert (motion.family_dimension, len(motion.eigenvalues), motion.stable) == (2, 0, True)


@pytest.mark.parametrize("unit", [1, 100])
@pytest.mark.parametrize("e", [(1, 0, 0, 0), (0.7, 0.1, 0.5, -0.5), (0.5, 0.5, 0.5, 0.5)])
@pytest.mark.parametrize("x", [1, 30])
def test_a_ball_on_a_turntable_runs_in_circles_in_centimetres_too(unit, e, x):
    start = dict(zip(("e0", "e1", "e2", "e3"), e, strict=True)) | {"y_dot": 0.3 * unit * x}
    motion = ball(True, unit).at().steady(x=x * unit, start=start)
    assert all(check.passed for check in motion.checks)
    assert np.hypot(motion["x_dot"], motion["y_dot"]) == pytest.approx(0.2 * np.hypot(x * unit, motion["y"]), rel=1e-11)
    assert motion.stable
    assert np.abs(motion.eigenvalues - 0.2j).min() < 1e-10


@pytest.mark.parametrize("time", [1, 1e3, 1e-3])
@pytest.mark.parametrize("length", [1, 1e-6, 1e-4, 1e-2, 1e3])
def test_a_conical_pendulum_in_any_unit(length, time):
    x, y, z = q = coordinates("x y z")
    L, g = sm.symbols("L g", positive=True)
    kinetic, bond = sum(s.diff(TIME) ** 2 for s in q) / 2, x**2 + y**2 + z**2 - L**2
    system = pfaff.System(list(q), kinetic, g * z, holonomic_constraints=[bond], parameters={L: 1, g: 10})
    case = system.at(L=length, g=10 * length / time**2)
    for angle in np.linspace(0.1, 1.4, 7):
        r, omega, turn = length * np.sin(angle), np.sqrt(10 / np.cos(angle)) / time, 7 * angle
        where = {"x": r * np.cos(turn), "y": r * np.sin(turn)}
        speeds = {"x_dot": -omega * where["y"], "y_dot": omega * where["x"]}
        motion = case.steady(z=-length * np.cos(angle), start=where | speeds)
        kappa = omega * np.sqrt(1 + 3 * np.cos(angle) ** 2)
        assert (motion.family_dimension, motion.stable) == (1, True)
        assert motion.eigenvalues / kappa == pytest.approx([-1j, 1j], abs=1e-9)
        assert all(check.passed for check in motion.checks)


def test_a_conical_pendulum_in_cartesian_coordinates():
    """ω² = g/(l cos θ), and small oscillations about it with κ² = ω²(1 + 3 cos² θ)."""
    x, y, z = q = coordinates("x y z")
    kinetic = sum(s.diff(TIME) ** 2 for s in q) / 2
    case = pfaff.System(list(q), kinetic, 10 * z, holonomic_constraints=[x**2 + y**2 + z**2 - 1]).at()
    for angle in (0.2, np.arccos(0.8), 1.2):
        motion = case.steady(z=-np.cos(angle), start={"x": np.sin(angle), "y_dot": 1})
        omega = np.sqrt(10 / np.cos(angle))
        assert abs(motion["y_dot"]) == pytest.approx(omega * np.sin(angle), rel=1e-10)
        kappa = omega * np.sqrt(1 + 3 * np.cos(angle) ** 2)
        assert motion.eigenvalues == pytest.approx([-1j * kappa, 1j * kappa], abs=1e-9)
        assert all(check.passed for check in motion.checks)
        assert motion.stable
        assert "carried along by a rotation of x, y" in motion.status


def test_a_carried_motion_is_verified_as_such():
    x, y = coordinates("x y")
    kinetic = (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2
    motion = pfaff.System([x, y], kinetic, (x**2 + y**2 - 1) ** 2 / 4).at().steady(y_dot=1, start={"x": 1})
    assert motion["x"] ** 2 == pytest.approx((1 + 5**0.5) / 2, rel=1e-11)
    assert all(check.passed for check in motion.checks)
    wrong = replace(motion, x=motion.x + np.array([0.01, 0, 0, 0]))
    assert "NOT verified: shape and speeds stay" in wrong.status


def test_symmetries_are_verified_along_the_motion():
    """Where something breaks them that the search for symmetries has not seen, the motion itself says so."""
    x, y, theta = coordinates("x y theta")
    mu = sm.Symbol("mu", real=True)

    def blade(far):
        P = x.diff(TIME) * sm.cos(theta) + y.diff(TIME) * sm.sin(theta)
        return pfaff.System(
            [x, y, theta],
            (x.diff(TIME) ** 2 + y.diff(TIME) ** 2 + theta.diff(TIME) ** 2) / 2,
            far,
            dissipation=(P - 1) ** 2 / 2,
            nonholonomic_constraints=[y.diff(TIME) * sm.cos(theta) - x.diff(TIME) * sm.sin(theta)],
            parameters={mu: 1},
        )

    motion = blade(0).at().steady(theta_dot=0.5)
    assert [check.passed for check in motion.checks] == [True] * len(motion.checks)
    assert any("symmetries" in check.claim for check in motion.checks)
    other = blade(sm.exp(-(x**2) - (y - 1) ** 2) / 10)
    wrong = replace(motion, flow=replace(motion.flow, system=other))
    assert "NOT verified: the symmetries that were divided out hold along it" in wrong.status


@cache
def pair(drag):
    """Two particles in the plane on a spring that feeds itself, at any place and in any direction."""
    x1, y1, x2, y2 = q = coordinates("x1 y1 x2 y2")
    mu, apart = sm.Symbol("mu", real=True), sm.Matrix([x2 - x1, y2 - y1])
    length = sm.sqrt(apart.dot(apart))
    rate = apart.dot(apart.diff(TIME)) / length
    push = (mu * rate - rate**3) * apart / length
    kinetic = sum(s.diff(TIME) ** 2 for s in q) / 2
    return pfaff.System(
        list(q),
        kinetic,
        (length - 1) ** 2,
        dissipation=drag * kinetic,
        forces={x1: -push[0], y1: -push[1], x2: push[0], y2: push[1]},
        parameters={mu: 0},
        load=mu,
    )


def test_cycles_that_a_symmetry_turns_into_others_are_no_less_stable():
    """One multiplier is 1 by the rotation, which rounding puts inside or outside the unit circle: with s for the change
    of length s'' + (1/5 − 2μ) s' + 2 s'³ + 4 s = 0, without it."""
    s, u, mu = sm.symbols("s u mu", real=True)
    alone = pfaff.ode({s: u, u: -4 * s - u / 5 + 2 * mu * u - 2 * u**3}, {mu: 0}, load=mu).at(mu=0.4)
    straight = alone.orbit(alone.simulate(200, s=0.1, samples=8001))
    case = pair(sm.Rational(1, 5)).at(mu=0.4)
    for start in ({"x2": 1.1}, {"x2": 1.1, "y2": 0.3}, {"x1": 3, "y2": -1.2}):
        orbit = case.orbit(case.simulate(200, **start, samples=8001))
        assert orbit.period == pytest.approx(straight.period, rel=1e-10)
        assert orbit.stable
        assert np.sort(np.abs(orbit.multipliers))[0] == pytest.approx(abs(straight.multipliers[-1]), rel=1e-8)


def test_a_motion_that_only_turns_says_so():
    case = pair(0).at(mu=0.4)
    motion = case.simulate(100, x2=1.1, y2_dot=0.3, samples=4001)
    with pytest.raises(ConvergenceError, match="rotation of x1, y1, x2, y2, which changes nothing"):
        case.orbit(motion)


def test_a_motion_of_no_states_tells_nothing_of_symmetries():
    """Nor is it verified: no state of it can be put on the constraints."""
    motion = ball(False).at().steady(x_dot=1, start={"e0": 1, "e3_dot": 0.4})
    lost = np.full((len(motion.x), 1), np.nan)
    broken = broken_along(motion.flow, lost, motion.case.numbers)
    assert broken
    assert alike(broken).unmade
    assert not alike([np.nan, 1.0]).passed  # what one symmetry breaks is told whatever another does
    assert alike([0.0, 1e-12]).passed
    assert not alike([0.0, 1e-12]).unmade
    assert "over 20 sizes" in alike([0.0]).claim


# Branches of motions that are carried along


@cache
def cone(scale):
    """A spherical pendulum in Cartesian coordinates, of this length."""
    x, y, z = q = coordinates("x y z")
    g = sm.Symbol("g", positive=True)
    kinetic = sum(s.diff(TIME) ** 2 for s in q) / 2
    lengths = [x**2 + y**2 + z**2 - scale**2]
    return pfaff.System(list(q), kinetic, g * z, holonomic_constraints=lengths, parameters={g: 10 * scale}, load=g)


@pytest.mark.parametrize("turn", [0, 0.7, 2.5])
@pytest.mark.parametrize("scale", [1, 1000])
def test_a_branch_of_cones_has_no_special_points(turn, scale):
    """ω² = g/|z| on all of them, wherever the pendulum is on its circle, and nothing happens down to the axis."""
    c, s = np.cos(turn), np.sin(turn)
    start = {"x": 0.6 * scale * c, "y": 0.6 * scale * s, "x_dot": -scale * s, "y_dot": scale * c}
    motion = cone(scale).at().steady(z=-0.8 * scale, start=start)
    for name, to in (("z", -0.5 * scale), ("z", -0.999 * scale), ("g", 12 * scale)):
        branch = motion.branch(name, to=to)
        assert not branch.special
        assert branch[-1].value == pytest.approx(to, rel=1e-12)
        assert all(check.passed for check in branch.checks)
        for point in branch:
            z, g = point["z"] / scale, point.value / scale if name == "g" else 10
            speed = np.hypot(point["x_dot"], point["y_dot"]) / scale
            assert speed == pytest.approx(np.sqrt(-g / z * (1 - z**2)), rel=1e-8)
            kappa = np.sqrt(-g / z * (1 + 3 * z**2))
            assert point.eigenvalues == pytest.approx([-1j * kappa, 1j * kappa], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("regular", [False, True])
def test_a_sleeping_top_by_quaternions_falls_asleep_once(regular):
    """C ω = 2 √(A m g l), where ω = 2 e3_dot; with inertia of the quaternion's length or without."""
    top = spinning(regular)
    fast = np.sqrt(2 * 981) * 2 / 1.5
    branch = top.at().steady(start={"e0": 1}, e3_dot=0.6 * fast).branch("e3_dot", to=0.45 * fast)
    assert [each.kind for each in branch.special] == ["coalescence"]
    assert branch.special[0].value == pytest.approx(fast / 2, rel=1e-9)
    assert (branch[0].stable, branch[-1].stable) == (True, False)
    assert branch[-1].value == pytest.approx(0.45 * fast)


def spinning(regular):
    e = coordinates("e0 e1 e2 e3")
    A = sm.Symbol("A", positive=True)
    E = sm.Matrix([[-e[1], e[0], e[3], -e[2]], [-e[2], -e[3], e[0], e[1]], [-e[3], e[2], -e[1], e[0]]])
    w = 2 * E * sm.Matrix(e).diff(TIME)
    length = sum(a * a.diff(TIME) for a in e)
    kinetic = (A * (w[0] ** 2 + w[1] ** 2) + sm.Rational(3, 2) * w[2] ** 2) / 2 + (length**2 if regular else 0)
    height = e[0] ** 2 - e[1] ** 2 - e[2] ** 2 + e[3] ** 2
    hold = [sum(a**2 for a in e) - 1]
    return pfaff.System(
        list(e),
        kinetic,
        981 * height,
        holonomic_constraints=hold,
        parameters={A: 2},
        quasi_velocities={"spin": w[2]},
        name="top",
    )


def test_a_whirl_is_followed_as_the_speed_changes():
    """A shaft with internal and external damping whirls at ω = Ω ci/(ci + ce) with ω² = 1 + r²."""
    x, y = coordinates("x y")
    xd, yd, r = x.diff(TIME), y.diff(TIME), x**2 + y**2
    Omega = sm.Symbol("Omega", positive=True)
    shaft = pfaff.System(
        [x, y],
        (xd**2 + yd**2) / 2,
        r / 2 + r**2 / 4,
        (xd**2 + yd**2) / 20,
        {x: -(xd + Omega * y) / 5, y: -(yd - Omega * x) / 5},
        parameters={Omega: 2},
        load=Omega,
    )
    branch = shaft.at().steady(start={"x": 0.88, "y_dot": 1.17}).branch("Omega", to=1.6)
    assert not branch.special
    assert branch[-1].value == pytest.approx(1.6)
    for point in branch:
        assert np.hypot(point["x"], point["y"]) == pytest.approx(np.sqrt((point.value / 1.5) ** 2 - 1), rel=1e-9)
        assert point.stable


def test_where_a_frequency_passes_zero_in_a_frame_nothing_else_does():
    """What is divided out of neighbours stays: no Hopf point is before the top's coalescence at A = 2.874."""
    held = {"e0": 1, "e1": 0, "e2": 0, "e3": 0}
    with pytest.raises(NoBifurcationError, match="no Hopf point of top"):
        spinning(False).at().hopf("A", to=2.5, e3_dot=35.4, **held)


def test_a_quasi_velocity_is_solved_for_where_the_motion_is():
    """The velocity that it replaces is one that it determines there, and a start is a guess even if it contradicts."""
    x, y, z = q = coordinates("x y z")
    kinetic = sum(s.diff(TIME) ** 2 for s in q) / 2
    moment = {"L": x * y.diff(TIME) - y * x.diff(TIME)}
    hold = [x**2 + y**2 + z**2 - 1]
    case = pfaff.System(list(q), kinetic, 10 * z, holonomic_constraints=hold, quasi_velocities=moment).at()
    L = 0.36 * np.sqrt(12.5)
    for start in ({"y_dot": 2}, {}, {"y_dot": 0.6 * np.sqrt(12.5)}):
        motion = case.steady(L=L, start={"x": 0.6, "z": -0.8, **start})
        assert motion["z"] == pytest.approx(-0.8, abs=1e-9)
        assert motion["L"] == pytest.approx(L, rel=1e-12)
        assert all(check.passed for check in motion.checks)


@pytest.mark.parametrize("start", [{}, {"e0": 1}, {"e0": 1, "e3_dot": 0.5}, {"e0": 1, "e3_dot": 0.4}])
def test_a_free_body_by_quaternions_spins(start):
    e = coordinates("e0 e1 e2 e3")
    E = sm.Matrix([[-e[1], e[0], e[3], -e[2]], [-e[2], -e[3], e[0], e[1]], [-e[3], e[2], -e[1], e[0]]])
    w = 2 * E * sm.Matrix(e).diff(TIME)
    kinetic = w[0] ** 2 + w[1] ** 2 + 3 * w[2] ** 2 / 2
    hold = [sum(a**2 for a in e) - 1]
    body = pfaff.System(list(e), kinetic, holonomic_constraints=hold, quasi_velocities={"spin": w[2]})
    motion = body.at().steady(spin=1, start=start)
    assert motion["spin"] == pytest.approx(1, rel=1e-12)
    assert all(check.passed for check in motion.checks)


def test_many_starts_find_a_top_at_rest_only_where_its_quaternion_has_length_one():
    """Hanging tops resist no turn, what forces move has no bound, and residuals beside it do not count."""
    found = spinning(False).at().equilibria()
    assert len(found) > 1
    for each in found:
        assert sum(each[name] ** 2 for name in ("e0", "e1", "e2", "e3")) == pytest.approx(1, abs=1e-6)
        assert all(check.passed for check in each.checks)
