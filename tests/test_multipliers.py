"""Floquet multipliers are those of the physical motions alone, however a system is stated, and verify themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp

import pfaff
from pfaff.checks.multipliers import energy, pairs, volumes
from pfaff.statement import TIME, coordinates

R = sm.Rational
x, y = coordinates("x y")
xd, yd = x.diff(TIME), y.diff(TIME)
TURN = R(1, 2)
WELL = R(3, 2) * x**2 + 2 * y**2 + x**4 / 4 + x**2 * y**2 / 3
GAUGES = {"none": sm.S.Zero, "cubic": x**2 * y, "mixed": x * y + sm.sin(x) * y**2, "of one": x**3}


def in_a_rotating_frame(gauge):
    """A particle in a well that turns; the total time derivative of a function changes nothing."""
    kinetic = ((xd - TURN * y) ** 2 + (yd + TURN * x) ** 2) / 2 + gauge.diff(TIME)
    return pfaff.System([x, y], kinetic=kinetic, potential=WELL).at()


def own_monodromy(state, period):
    """Multipliers by the variational equations of ẍ − 2Ωẏ − Ω²x + V_x = 0, ÿ + 2Ωẋ − Ω²y + V_y = 0."""
    turn = float(TURN)

    def rates(_, z):
        u, w, p, q = z[:4]
        pull = np.array([3 * u + u**3 + 2 * u * w**2 / 3, 4 * w + 2 * u**2 * w / 3])
        hessian = np.array([[3 + 3 * u**2 + 2 * w**2 / 3, 4 * u * w / 3], [4 * u * w / 3, 4 + 2 * u**2 / 3]])
        a = turn**2 * np.array([u, w]) - pull + 2 * turn * np.array([q, -p])
        J = np.zeros((4, 4))
        J[:2, 2:], J[2:, :2] = np.eye(2), turn**2 * np.eye(2) - hessian
        J[2:, 2:] = [[0, 2 * turn], [-2 * turn, 0]]
        return np.concatenate([[p, q], a, (J @ z[4:].reshape(4, 4)).ravel()])

    start = np.concatenate([state, np.eye(4).ravel()])
    found = solve_ivp(rates, (0, period), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    assert found[:4] == pytest.approx(state, abs=1e-9)
    return np.linalg.eigvals(found[4:].reshape(4, 4))


@pytest.mark.parametrize("name", GAUGES)
def test_multipliers_of_a_mode_in_a_rotating_frame_are_those_of_the_variational_equations(name):
    mode = in_a_rotating_frame(GAUGES[name]).normal_mode(1, energy=1.0)
    last = mode[-1]
    expected = own_monodromy(last.orbit.x[:, 0], last.period)
    complex_ = expected[np.abs(expected.imag) > 1e-3]
    assert np.sort_complex(last.multipliers[np.abs(last.multipliers.imag) > 1e-3]) == pytest.approx(
        np.sort_complex(complex_), abs=1e-8
    )
    assert np.abs(last.multipliers) == pytest.approx(np.ones(4), abs=1e-8)
    assert last.stable
    assert last.frequency == pytest.approx(1.4230410709578, rel=1e-10)  # in every gauge
    assert all(check.passed for check in last.checks)
    assert "multipliers come in pairs μ, 1/μ" in [check.claim for check in last.checks]
    assert last.status.startswith("vibration of frequency 1.423")


def test_the_energy_of_a_mode_is_what_is_conserved():
    """Jacobi's integral T₂ − T₀ + V; T + V is not constant in a rotating frame."""
    (found,) = in_a_rotating_frame(GAUGES["none"]).normal_mode(1, frequency=1.40673603)[-1:]
    u, w, p, q = found.orbit.x
    jacobi = (p**2 + q**2 - (u**2 + w**2) / 4) / 2 + 1.5 * u**2 + 2 * w**2 + u**4 / 4 + u**2 * w**2 / 3
    assert jacobi == pytest.approx(found.energy, rel=1e-7)
    upper = found.multipliers[found.multipliers.imag > 0.1]
    assert upper == pytest.approx([0.03317064 + 0.99944970j], abs=1e-7)


def pendulums():
    """A double pendulum by its angles and by Cartesian coordinates."""
    a, b = coordinates("a b")
    first = sm.Matrix([sm.sin(a), -sm.cos(a)])
    second = first + sm.Matrix([sm.sin(b), -sm.cos(b)])
    rates = first.diff(TIME), second.diff(TIME)
    angles = pfaff.System([a, b], sum(rate.dot(rate) for rate in rates) / 2, first[1] + second[1]).at()
    x1, y1, x2, y2 = u = coordinates("x1 y1 x2 y2")
    lengths = [x1**2 + y1**2 - 1, (x2 - x1) ** 2 + (y2 - y1) ** 2 - 1]
    speeds = sum(each.diff(TIME) ** 2 for each in u)
    return angles, pfaff.System(list(u), speeds / 2, y1 + y2, holonomic_constraints=lengths).at()


@pytest.mark.parametrize("number", [1, 2])
def test_modes_of_a_double_pendulum_are_one_by_angles_and_by_cartesian_coordinates(number):
    angles, cartesian = pendulums()
    one = angles.normal_mode(number, energy=0.5)[-1]
    two = cartesian.normal_mode(number, energy=0.5, x1=0, y1=-1, x2=0, y2=-2)[-1]
    assert two.period == pytest.approx(one.period, rel=1e-10)
    assert len(two.multipliers) == 4
    assert np.sort_complex(two.multipliers) == pytest.approx(np.sort_complex(one.multipliers), abs=1e-7)
    assert all(check.passed for check in (*one.checks, *two.checks))


def test_modes_on_a_turning_hoop_are_one_however_its_turning_is_stated():
    """By an angle φ = Ωt, by its velocity, and with φ eliminated: Jacobi's integral is conserved, T + V is not."""
    theta, phi = coordinates("theta phi")
    Omega = sm.Symbol("Omega", positive=True)
    spin = phi.diff(TIME)
    kinetic = (theta.diff(TIME) ** 2 + sm.sin(theta) ** 2 * spin**2 + spin**2) / 2
    given = {"potential": -R(981, 100) * sm.cos(theta), "parameters": {Omega: 2}}
    systems = (
        pfaff.System([theta], kinetic.subs(spin, Omega), **given),
        pfaff.System([theta, phi], kinetic, holonomic_constraints=[phi - Omega * TIME], **given),
        pfaff.System([theta, phi], kinetic, nonholonomic_constraints=[spin - Omega], accept_integrable=True, **given),
    )
    first, *others = (system.at().normal_mode(1, energy=2.0)[-1] for system in systems)
    for other in others:
        assert other.period == pytest.approx(first.period, rel=1e-10)
        assert other.multipliers == pytest.approx(first.multipliers, abs=1e-8)
        assert all(check.passed for check in other.checks)


def driven():
    """A self-excited pendulum by its angle, and on the circle x² + (y − 1)² = 1."""
    (theta,) = coordinates("theta")
    F = sm.Symbol("F", real=True)

    def push(sine, speed):
        return F * speed - 3 * speed**3 - 2 * sine**2 * speed

    words = {"parameters": {F: 0}, "load": F}
    rate = theta.diff(TIME)
    angle = pfaff.System([theta], rate**2 / 2, -sm.cos(theta), forces={theta: push(sm.sin(theta), rate)}, **words)
    force = push(x, xd * (1 - y) + yd * x)
    circle = pfaff.System(
        [x, y], (xd**2 + yd**2) / 2, y, forces={x: force * (1 - y), y: force * x},
        holonomic_constraints=[x**2 + (y - 1) ** 2 - 1], **words,
    )  # fmt: skip
    return angle.at(), circle.at()


def test_multipliers_of_cycles_do_not_contain_the_rate_at_which_constraints_attract():
    angle, circle = (case.hopf(to=1).orbits(to=0.3) for case in driven())
    (one,), (two,) = angle.at(0.2), circle.at(0.2)
    assert len(one.multipliers) == len(two.multipliers) == 2
    assert two.multipliers == pytest.approx(one.multipliers, rel=1e-8)
    assert two.stable
    (product,) = (check for check in two.checks if "product of the multipliers" in check.claim)
    assert product.measured < 1e-8


def test_multipliers_of_responses_do_not_contain_it_either():
    """A mass on a spring whose foot moves by cos Ωt, alone and with the foot as a coordinate on a moving constraint."""
    Omega, u = sm.symbols("Omega u", positive=True)
    foot, s = u * sm.cos(Omega * TIME), coordinates("s")[0]
    values = {u: 0.2, Omega: 1.3}
    alone = pfaff.System([x], xd**2 / 2, (x - foot) ** 2 / 2 + x**4, dissipation=xd**2 / 10, parameters=values)
    held = pfaff.System(
        [x, s], xd**2 / 2 + s.diff(TIME) ** 2, (x - s) ** 2 / 2 + x**4, dissipation=xd**2 / 10,
        holonomic_constraints=[s - foot], parameters=values,
    )  # fmt: skip
    one, two = (case.at().response("Omega", to=1.4)[0].orbit for case in (alone, held))
    assert len(one.multipliers) == len(two.multipliers) == 2
    assert np.sort_complex(two.multipliers) == pytest.approx(np.sort_complex(one.multipliers), rel=1e-7)


# Corrupted multipliers


def test_a_corrupted_multiplier_is_caught():
    angle, _ = driven()
    (orbit,) = angle.hopf(to=1).orbits(to=0.3).at(0.2)
    assert "NOT" not in orbit.status
    wrong = replace(orbit, point=replace(orbit.point, multipliers=orbit.point.multipliers * [1, 1.01]))
    assert "NOT verified: volumes change" in wrong.status


def test_a_corrupted_pair_is_caught():
    last = pendulums()[0].normal_mode(1, energy=0.1)[-1]
    values = last.point.multipliers.copy()
    k = int(np.abs(values.imag).argmax())
    values[k] *= 1.002  # as the wrong energy made it
    assert (
        "NOT verified: multipliers come in pairs" in replace(last, point=replace(last.point, multipliers=values)).status
    )


def test_an_energy_that_is_none_is_caught():
    time = np.linspace(0, 6, 50)
    assert energy(1 + 1e-14 * np.sin(time), 0.5).passed
    assert not energy(1 + 0.04 * np.sin(time), 0.5).passed


def test_products_and_pairs_of_plain_numbers():
    turn = np.exp(1j)
    assert pairs(np.array([turn, 1 / turn, 1, 1, 5, 0.2])).passed
    assert not pairs(np.array([turn, 1.01 / turn])).passed
    assert not pairs(np.array([1.0])).passed
    good, bad = volumes(np.array([1.0, 0.1]), np.log(0.1)), volumes(np.array([1.0, 0.1]), np.log(0.2))
    assert good.passed
    assert not bad.passed
    assert volumes(np.array([1.0, 1e-14]), -30).unmade == "multipliers below 1e-12 are known roughly"
