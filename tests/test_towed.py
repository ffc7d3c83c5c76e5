"""What is towed, spun or propelled by its own shape, against closed forms and independent formulations."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
import sympy as sm
from scipy.spatial.transform import Rotation

import pfaff
from pfaff.errors import ConvergenceError
from pfaff.statement import TIME as t
from pfaff.statement import coordinates


def shimmy_speeds(m, J, l, a, k, c) -> np.ndarray:
    """Roots of (m (l − a) v + c l²)(c v + k l) = J_W k v, Routh's boundary of the cubic."""
    inertia = J + m * (l - a) ** 2
    return np.sort(np.roots([m * (l - a) * c, m * (l - a) * k * l + c**2 * l**2 - inertia * k, c * k * l**3]))


@pytest.mark.parametrize(
    "values", [{}, {"m": 2.5, "J": 1.1, "l": 0.8, "a": 0.3, "k": 40.0, "c": 0.7}, {"a": 0.2, "c": 0.02}]
)
def test_shimmy_starts_and_ends_at_the_closed_form(values):
    case = pfaff.atlas.towed_wheel().at(**values)
    names = ("m", "J", "l", "a", "k", "c")
    low, high = shimmy_speeds(*(float(case.values[name]) for name in names))
    assert case.flutter(to=1.5 * high).value == pytest.approx(low, rel=1e-9)
    branch = case.at(v=low / 2).branch(to=1.2 * high)
    assert [special.kind for special in branch.special] == ["hopf", "hopf"]
    assert [special.value for special in branch.special] == pytest.approx([low, high], rel=1e-9)


def test_a_wheel_that_stands_does_not_buckle():
    found = pfaff.atlas.towed_wheel().at().critical(to=10)
    assert not found.buckling
    assert not found.divergence


@cache
def seen_from_the_road() -> pfaff.System:
    """The towed wheel with the place x of its king pin as a coordinate: the speed v stands in a constraint alone."""
    x, q, psi = coordinates("x q psi")
    m, J, l, k = sm.symbols("m J l k", positive=True)
    a, v = sm.symbols("a v", real=True)
    c = sm.Symbol("c", nonnegative=True)
    centre = sm.Matrix([x - a * sm.cos(psi), q - a * sm.sin(psi)]).diff(t)
    sideways = q.diff(t) * sm.cos(psi) - x.diff(t) * sm.sin(psi) - l * psi.diff(t)
    return pfaff.System(
        [x, q, psi],
        m * centre.dot(centre) / 2 + J * psi.diff(t) ** 2 / 2,
        potential=k * q**2 / 2,
        dissipation=c * q.diff(t) ** 2 / 2,
        nonholonomic_constraints=[sideways, x.diff(t) - v],
        parameters={m: 1, J: "1/2", l: 1, a: "1/2", k: 1, c: "1/10", v: 0},
        load=v,
        accept_integrable=True,
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ask", ["flutter", "divergence", "buckling", "hopf"])
def test_loads_that_make_a_system_travel_are_those_of_coordinates_that_move_along(ask):
    found, expected = (getattr(each.at(), ask)() for each in (seen_from_the_road(), pfaff.atlas.towed_wheel()))
    assert found.value == (expected.value and pytest.approx(expected.value, rel=1e-9))


def test_the_spectrum_seen_from_the_road_has_one_zero_more():
    found, expected = (each.at(v=1).spectrum() for each in (seen_from_the_road(), pfaff.atlas.towed_wheel()))
    assert found.values == pytest.approx(expected.values, rel=1e-9)
    assert found.structural_zeros == expected.structural_zeros + 1  # where it is along the road


@pytest.mark.parametrize("ask", ["critical", "flutter", "buckling", "hopf", "spectrum"])
def test_loads_that_make_a_system_travel_past_springs_are_sent_to_its_steady_motions(ask):
    """A spring to a place on the road: in no coordinates does it rest."""
    wheel = seen_from_the_road()
    tied = dataclasses.replace(wheel, potential=wheel.potential + wheel.coordinates[0] ** 2)
    with pytest.raises(ConvergenceError, match=r"demands a velocity.* case.steady\(\)"):
        getattr(tied.at(v=1), ask)()


def test_there_the_shimmy_is_that_of_the_towed_wheel():
    branch = seen_from_the_road().at(v=0.1).steady().branch("v", to=6)
    assert [special.kind for special in branch.special] == ["hopf", "hopf"]
    expected = shimmy_speeds(1, 0.5, 1, 0.5, 1, 0.1)
    assert [special.value for special in branch.special] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("v", [0.5, 3.0, 20.0])
def test_undamped_wheel_is_stable_at_all_speeds_or_none(v):
    wheel = pfaff.atlas.towed_wheel().at(c=0, v=v, a="1/2", l=1, m=1)
    assert wheel.at(J=0.24).spectrum().stable
    assert not wheel.at(J=0.26).spectrum().stable


@pytest.mark.parametrize("make", [pfaff.atlas.rocking_suitcase, pfaff.atlas.snaking_trailer])
def test_on_wheels_that_do_not_yield_it_is_a_towed_wheel(make):
    """k_w → ∞ leaves the hitch and the yaw: the towed wheel with the distances along the ground."""
    system = make()
    stiff = system.at(k_w=1e12, h=0, c=5, H=0)
    p = {name: float(value) for name, value in stiff.values.items()}
    wheel = pfaff.atlas.towed_wheel().at(m=p["m"], J=p["I3"], l=p["l"], a=p["l"] - p["a"], k=p["k"], c=p["c"])
    for v in (0.7, 5.0):
        slow = sorted(stiff.spectrum(v=v).values, key=abs)[:3]
        assert sorted(slow, key=lambda x: x.imag) == pytest.approx(
            sorted(wheel.spectrum(v=v).values, key=lambda x: x.imag), rel=1e-6
        )


@pytest.mark.parametrize("make", [pfaff.atlas.rocking_suitcase, pfaff.atlas.snaking_trailer])
def test_springs_and_dampers_yield_as_the_wheels_are_lifted(make):
    """Heights of the wheels from SciPy's rotations: yaw, the inclination of the line to the hitch, roll."""
    system = make()
    p = {name: float(value) for name, value in system.at().values.items()}
    inclination = np.arctan2(p["H"], p["l"])

    def lift(psi, phi):
        turned = Rotation.from_euler("ZYX", [psi, -inclination, phi])
        return turned.apply([[0, p["b"], 0], [0, -p["b"], 0], [p["a"], 0, p["h"]]])[:, 2]

    q, psi, phi, rate, h = 0.1, 0.3, -0.2, 0.7, 1e-5
    left, right, centre = lift(psi, phi)
    potential = p["k"] * q**2 / 2 + p["k_w"] * (left**2 + right**2) / 2 + p["m"] * p["g"] * centre
    wheels = ((lift(psi, phi + h * rate) - lift(psi, phi - h * rate)) / (2 * h))[:2]
    stated = system.statement
    at = {each: p[each.name] for each in system.parameters}
    at |= dict(zip((*stated.q, *stated.v), (q, psi, phi, 0, 0.4, rate), strict=True))
    assert float(stated.potential.subs(at)) == pytest.approx(potential, rel=1e-12)
    assert float(stated.dissipation.subs(at)) == pytest.approx(p["c_w"] * wheels @ wheels / 2, rel=1e-8)


def small_motions() -> sm.Poly:
    """The characteristic polynomial by hand, from Newton's law aside and moments about the axle, in s.

    The centre of mass lies e = a cos τ − h sin τ ahead of the axle, τ = atan(H/l), and is displaced sideways by
    y = q − (l − e) ψ − h φ; about the line of the roll the body turns by φ + ψ sin τ, across it by ψ cos τ. The axle
    does not slip along itself: q̇ = v ψ + l ψ̇. Its reaction has no moment about the axle; the force −kq − cq̇ has arm l.
    """
    m, I1, I3, l, H, a, h, b, k_w, c_w, k, c, g, v, s = sm.symbols("m I1 I3 l H a h b k_w c_w k c g v s")
    sine, cosine = H / sm.sqrt(l**2 + H**2), l / sm.sqrt(l**2 + H**2)
    e = a * cosine - h * sine
    y, turn = sm.Matrix([[1, e - l, -h]]), sm.Matrix([[0, sine, 1]])
    hitch, psi, phi = (sm.Matrix([row]) for row in sm.eye(3).tolist())
    yawing = s**2 * (m * e * y + I1 * sine * turn + I3 * cosine**2 * psi) + l * (k + c * s) * hitch
    rolling = s**2 * (I1 * turn - m * h * y) + (2 * b**2 * cosine**2 * (k_w + c_w * s) - m * g * h * cosine) * phi
    axle = s * hitch - (v + l * s) * psi
    return sm.Poly(sm.Matrix.vstack(yawing, rolling, axle).det(), s)


@pytest.mark.parametrize("make", [pfaff.atlas.rocking_suitcase, pfaff.atlas.snaking_trailer])
def test_small_motions_of_what_is_towed_by_hand(make):
    """Eigenvalues at several speeds, and flutter where the last but one of Hurwitz's determinants vanishes."""
    case = make().at()
    given = {sm.Symbol(name): sm.Rational(value) for name, value in case.values.items() if name != "v"}
    poly = sm.Poly(small_motions().as_expr().subs(given), sm.Symbol("s"))
    assert poly.degree() == 5
    for v in (0.5, 3.0, 30.0):
        roots = np.roots([float(x.subs(sm.Symbol("v"), v)) for x in poly.all_coeffs()])
        ours = case.spectrum(v=v).values
        assert np.sort_complex(ours) == pytest.approx(np.sort_complex(roots), rel=1e-8)
    x = poly.all_coeffs()
    hurwitz = sm.Matrix(4, 4, lambda i, j: x[2 * j - i + 1] if 0 <= 2 * j - i + 1 <= 5 else 0).det("berkowitz")
    speeds = np.roots([float(each) for each in sm.Poly(hurwitz, sm.Symbol("v")).all_coeffs()])
    first = min(each.real for each in speeds if abs(each.imag) < 1e-9 and each.real > 1e-6)
    assert case.flutter(to=40).value == pytest.approx(first, rel=1e-7)


def test_the_suitcase_rocks_and_the_trailer_snakes():
    """The same model, two modes: roll at a walking speed, yaw and hitch on the road."""
    for make, roll, (low, high) in (
        (pfaff.atlas.rocking_suitcase, True, (1, 3)),
        (pfaff.atlas.snaking_trailer, False, (10, 30)),
    ):
        flutter = make().at().flutter(to=40)
        assert low < flutter.value < high
        assert (abs(flutter.mode["phi"]) > 0.9 * max(map(abs, flutter.mode.values()))) == roll


def test_a_load_that_stiffens_nothing_has_a_bounded_search():
    stable = pfaff.atlas.rocking_suitcase().at(a=0.4, h=0.1, k_w=10000)
    found = stable.flutter()
    assert not found
    assert found.searched[1] < 1e4


# The rattleback


def newton_euler(u: np.ndarray, omega: np.ndarray, p: dict[str, float]) -> np.ndarray:
    """ω̇ in the frame of the body from moments about its centre of mass, with forces at the contact; u is up."""
    half = np.array([p["a"], p["b"], p["c"]]) ** 2
    inertia = np.array([[p["A"], p["D"], 0], [p["D"], p["B"], 0], [0, 0, p["C"]]])

    def contact(u):
        return -half * u / np.sqrt(half @ u**2) + np.array([0, 0, p["h"]])

    h = 1e-6
    rising = -np.cross(omega, u)
    r = contact(u)
    r_dot = (contact(u + h * rising) - contact(u - h * rising)) / (2 * h)
    velocity = -np.cross(omega, r)

    def moment(acceleration):  # residual of I ω̇ + ω × Iω = r × F, F = m (v̇ + g u)
        v_dot = -np.cross(acceleration, r) - np.cross(omega, r_dot) + np.cross(omega, velocity)
        force = p["m"] * (v_dot + p["g"] * u)
        return inertia @ acceleration + np.cross(omega, inertia @ omega) - np.cross(r, force)

    at_zero = moment(np.zeros(3))
    matrix = np.column_stack([moment(e) - at_zero for e in np.eye(3)])
    return np.linalg.solve(matrix, -at_zero)


def test_rattleback_against_newton_and_euler():
    system = pfaff.atlas.rattleback()
    case = system.at()
    p = {name: float(value) for name, value in case.values.items()}
    alpha, beta, spin, alpha_dot, beta_dot = 0.05, -0.04, 3.0, 0.6, -0.4
    motion = case.simulate(
        1e-6, samples=2, alpha=alpha, beta=beta, psi_dot=spin, alpha_dot=alpha_dot, beta_dot=beta_dot
    )
    rates = system.flow.rhs(motion.y[:, 0], case)
    accelerations = dict(zip(system.coordinate_names, rates[5:], strict=True))

    def body(a, b, s, da, db):
        up = np.array([-np.cos(a) * np.sin(b), np.sin(a), np.cos(a) * np.cos(b)])
        return up, s * up + np.array([da * np.cos(b), db, da * np.sin(b)])

    up, omega = body(alpha, beta, spin, alpha_dot, beta_dot)
    h = 1e-5
    sides = []
    for sign in (1, -1):
        x = sign * h
        angles = (alpha + x * alpha_dot, beta + x * beta_dot)
        speeds = (spin + x * accelerations["psi"], alpha_dot + x * accelerations["alpha"])
        sides.append(body(*angles, *speeds, beta_dot + x * accelerations["beta"])[1])
    assert (sides[0] - sides[1]) / (2 * h) == pytest.approx(newton_euler(up, omega, p), rel=1e-5)


def test_rattleback_prefers_one_sense_of_spin():
    """Each oscillation is driven for one sense and damped for the other (Garcia and Hubbard 1988)."""
    case = pfaff.atlas.rattleback().at()
    forth, back = case.steady(psi_dot=5).eigenvalues, case.steady(psi_dot=-5).eigenvalues
    assert sorted(-back, key=lambda x: (x.real, x.imag)) == pytest.approx(sorted(forth, key=lambda x: (x.real, x.imag)))
    assert back.real.max() > 5 * forth.real.max() > 0
    symmetric = case.at(D=0).steady(psi_dot=5)
    assert np.abs(symmetric.eigenvalues.real).max() < 1e-7
    mirrored = case.at(D=0.00002).steady(psi_dot=-5)
    assert mirrored.eigenvalues == pytest.approx(forth, rel=1e-8)


@pytest.mark.slow
def test_rattleback_reverses():
    """Spun the wrong way it begins to rattle and turns round; energy is kept."""
    motion = pfaff.atlas.rattleback().at().simulate(8, samples=401, psi_dot=-5, alpha=0.01, beta=0.01)
    assert motion.finished
    assert motion.energy.drift < 1e-11
    assert motion["psi_dot"][0] == -5
    assert motion["psi_dot"].max() > 1


# The snakeboard


def test_snakeboard_moves_by_its_gait_and_obeys_the_momentum_equation():
    system = pfaff.atlas.snakeboard()
    case = system.at()
    steer, swing = sm.Rational(3, 10) * sm.sin(2 * t), sm.Rational(7, 10) * sm.sin(2 * t)
    gait = {"psi": swing, "phi_f": steer, "phi_b": -steer}
    motion = case.simulate(10, samples=4001, prescribed=gait)
    p = {name: float(value) for name, value in case.values.items()}
    phi, phi_dot, rotor = motion["phi_f"], motion["phi_f_dot"], motion["psi_dot"]
    theta, turn = motion["theta"], motion["theta_dot"]
    v = motion["x_dot"] * np.cos(theta) + motion["y_dot"] * np.sin(theta)
    spin = (p["J"] + p["J_r"] + 2 * p["J_w"]) * turn + p["J_r"] * rotor
    momentum = p["m"] * v * p["l"] * np.cos(phi) + spin * np.sin(phi)
    drive = phi_dot * (-p["m"] * v * p["l"] * np.sin(phi) + spin * np.cos(phi))
    rate = np.gradient(momentum, motion.t, edge_order=2)
    assert rate[2:-2] == pytest.approx(drive[2:-2], abs=2e-5 * np.abs(drive).max())
    assert turn * p["l"] * np.cos(phi) == pytest.approx(v * np.sin(phi), abs=1e-12)
    assert abs(motion["x"][-1]) > 10 * abs(motion["y"][-1]) > 0  # a drive gait goes ahead


@pytest.mark.parametrize("c", [1e-4, 1e-8, 1e-10])
def test_shimmy_at_very_low_speed(c):
    """The speed of shimmy is proportional to light damping: it is found at any, and not at zero."""
    reference = pfaff.atlas.towed_wheel().at(c=1e-3).flutter().value / 1e-3
    found = pfaff.atlas.towed_wheel().at(c=c).flutter()
    assert found.value == pytest.approx(reference * c, rel=1e-3)
