"""Balls that roll on a turntable, in a cavity and on a shaken mass, against closed forms and another statement."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp

import pfaff
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

TABLE = pfaff.atlas.ball_on_turntable()
CAVITY = pfaff.atlas.ball_in_cavity()
ABSORBER = pfaff.atlas.ball_absorber()


@pytest.mark.parametrize(("j", "share"), [("2/5", 2 / 7), ("2/3", 2 / 5)])
def test_the_ball_on_a_turntable_runs_in_circles(j, share):
    """Earnshaw (1844): ẍ = Ω j/(1 + j) (−ẏ, ẋ), at 2Ω/7 for a solid ball and 2Ω/5 for a shell."""
    case = TABLE.at(j=j, Omega=1.3, m=2, r=0.2)
    motion = case.simulate(30, x=0.5, x_dot=0.3, y_dot=-0.2)
    rate, v0 = 1.3 * share, 0.3 - 0.2j
    place = 0.5 + v0 * (np.exp(1j * rate * motion.t) - 1) / (1j * rate)
    np.testing.assert_allclose(motion["x"] + 1j * motion["y"], place, atol=1e-12)
    assert np.abs(motion.residual).max() < 1e-13


def test_on_a_tilted_turntable_the_circles_drift_sideways():
    """At the speed g sin α/(jΩ) across the slope: 5g sin α/(2Ω) for a solid ball."""
    case = TABLE.at(Omega=2, g=9.81, alpha=0.01)
    motion = case.simulate(7 * np.pi / 2, x=0.1, samples=1001)  # one turn at 2Ω/7
    moved = motion["x"][-1] - 0.1, motion["y"][-1]
    drift = 5 * 9.81 * np.sin(0.01) / (2 * 2) * 7 * np.pi / 2
    np.testing.assert_allclose(moved, [0, drift], atol=1e-11)


def with_euler_parameters() -> pfaff.System:
    """The turntable's ball with its attitude: e0 = 1 + d, e1, e2, e3 on the unit sphere, T = 2J ė·ė."""
    x, y, d, e1, e2, e3 = coordinates("x y d e1 e2 e3")
    m, r, Omega = sm.symbols("m r Omega", positive=True)
    e0 = 1 + d
    e, rate = sm.Matrix([e1, e2, e3]), sm.Matrix([e1, e2, e3]).diff(t)
    spin = 2 * (e0 * rate - e * e0.diff(t) + e.cross(rate))
    return pfaff.System(
        coordinates=[x, y, d, e1, e2, e3],
        kinetic=m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
        + 2 * sm.Rational(2, 5) * m * r**2 * (d.diff(t) ** 2 + rate.dot(rate)),
        nonholonomic_constraints=[
            x.diff(t) - r * spin[1] + Omega * y,
            y.diff(t) + r * spin[0] - Omega * x,
        ],
        holonomic_constraints=[e0**2 + e.dot(e) - 1],
        parameters={m: 1, r: sm.Rational(1, 10), Omega: 1},
        name="ball with its attitude",
    )


def test_the_attitude_of_the_ball_changes_nothing():
    """The same motion and reactions from Euler parameters, whatever the attitude at the start."""
    start = {"x": 0.5, "x_dot": 0.03, "y_dot": -0.2}
    motion = TABLE.at().simulate(8, **start, theta_z_dot=0.7, samples=41)
    system = with_euler_parameters()
    spin = motion.y[-3:, 0]
    for attitude in (np.array([1.0, 0, 0, 0]), np.array([0.5, -0.5, 0.1, 0.7])):
        e = attitude / np.linalg.norm(attitude)
        rates = [-e[1:] @ spin / 2, *((e[0] * spin + np.cross(spin, e[1:])) / 2)]
        given = dict(zip(["d", "e1", "e2", "e3"], [e[0] - 1, *e[1:]], strict=True))
        given |= dict(zip(["d_dot", "e1_dot", "e2_dot", "e3_dot"], rates, strict=True))
        other = system.at().simulate(8, **start, **given, samples=41)
        for name in ("x", "y", "x_dot", "y_dot", "p1", "p2"):
            np.testing.assert_allclose(other[name], motion[name], atol=1e-10)


def contact(motion: pfaff.Motion, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """The outward normal at each instant, and the spin about it."""
    u, v = motion["u"], motion["v"]
    stretch = 1 + (u**2 + v**2) / (4 * rho**2)
    normal = np.array([u, v, (u**2 + v**2) / (2 * rho)]) / stretch / rho - [[0], [0], [1]]
    spin = np.array([motion[f"theta_{axis}_dot"] for axis in "xyz"])
    return normal, (normal * spin).sum(axis=0)


def test_invariants_in_the_cavity():
    """A large motion, past the height of the centre: energy and the spin about the normal stay."""
    case = CAVITY.at(m=2, r=0.2, rho=0.7, g=9.81)
    motion = case.simulate(20, u=0.9, u_dot=-3, v_dot=14, theta_z_dot=20)
    normal, spin = contact(motion, 0.7)
    assert normal[2].max() > 0.3
    np.testing.assert_allclose(np.linalg.norm(normal, axis=0), 1, atol=1e-13)
    np.testing.assert_allclose(spin, spin[0], rtol=1e-10)
    assert abs(spin[0]) > 0.1
    assert motion.energy.drift < 1e-12


def test_appells_equations_keep_the_spin_by_themselves():
    """Náprstek and Fischer: with the spin ω·n as a quasi-velocity three equations are left, and the third is ṡ = 0."""
    u, v, *turns = CAVITY.coordinates
    rho = CAVITY.parameter("rho")
    stretch = 1 + (u**2 + v**2) / (4 * rho**2)
    normal = sm.Matrix([u, v, (u**2 + v**2) / (2 * rho)]) / stretch / rho - sm.Matrix([0, 0, 1])
    chosen = {"a": u.diff(t) / stretch, "b": v.diff(t) / stretch, "s": sm.Matrix(turns).diff(t).dot(normal)}
    equations = CAVITY.equations("appell", quasi_velocities=chosen)
    case = CAVITY.at()
    motion = case.simulate(3, u=0.7, v_dot=0.5, theta_z_dot=4)
    state = equations.formulation.state(*np.split(motion.y[:, -1], 2), case)
    rates = dict(zip(equations.flow.states, equations.flow.rhs(state, case), strict=True))
    assert equations.dynamical == 3
    assert abs(rates["s"]) < 1e-12
    assert abs(rates["a"]) > 0.1
    found, _ = equations.solve(*np.split(motion.y[:, -1], 2), case)
    np.testing.assert_allclose(found, CAVITY.flow.rhs(motion.y[:, -1], case)[5:], atol=1e-11)


def test_small_oscillations_in_the_cavity():
    """λ² = g/((1 + j)(R − r)) = 5g/(7(R − r)), in both directions."""
    spectrum = CAVITY.at(rho=0.7, g=9.81, r=0.3).spectrum()
    np.testing.assert_allclose(np.abs(spectrum.values), np.sqrt(5 * 9.81 / (7 * 0.7)), rtol=1e-12)
    assert len(spectrum.values) == 4


@pytest.mark.parametrize("spin", [0.0, 40.0, -25.0])
@pytest.mark.parametrize("angle", [0.3, 1.2])
def test_steady_circles_of_a_spinning_ball(spin, angle):
    """ρ(1 + j)λ² cos β − jrsλ − g = 0 by the moment of momentum about the contact."""
    rho, r, g = 0.7, 0.2, 9.81
    case = CAVITY.at(rho=rho, r=r, g=g)
    rate = max(np.roots([rho * 1.4 * np.cos(angle), -0.4 * r * spin, -g]))
    normal = np.array([np.sin(angle), 0, -np.cos(angle)])
    velocity = np.array([0, rho * np.sin(angle) * rate, 0])
    omega = spin * normal - np.cross(normal, velocity) / r
    u = 2 * rho * np.tan(angle / 2)
    stretch = 1 + np.tan(angle / 2) ** 2
    start = dict(zip(["theta_x_dot", "theta_y_dot", "theta_z_dot"], omega, strict=True))
    motion = case.simulate(3 * 2 * np.pi / rate, u=u, v_dot=velocity[1] * stretch, **start)
    np.testing.assert_allclose(motion["u"], u * np.cos(rate * motion.t), atol=1e-9)
    np.testing.assert_allclose(motion["v"], u * np.sin(rate * motion.t), atol=1e-9)
    np.testing.assert_allclose(contact(motion, rho)[1], spin, atol=1e-9)


def test_spin_splits_the_frequency_in_the_cavity():
    """The small motions of a spinning ball have both roots of ρ(1 + j)λ² − jrsλ − g = 0."""
    rho, r, g, spin = 0.7, 0.2, 9.81, 30.0
    flow, case = CAVITY.shape, CAVITY.at(rho=rho, r=r, g=g)
    x = np.array([-spin if name == "theta_z_dot" else 0.0 for name in flow.states])  # the normal points down
    values = np.linalg.eigvals(flow.jacobian(x, case))
    found = np.sort(values.imag[values.imag > 1e-6])
    np.testing.assert_allclose(found, np.sort(np.abs(np.roots([rho * 1.4, -0.4 * r * spin, -g]))), rtol=1e-10)


def receptance(case: pfaff.Case, Omega: float) -> np.ndarray:
    """Amplitudes of X and u under a unit force in the linear absorber."""
    n = {name: float(value) for name, value in case.values.items()}
    mass = np.array([[n["M"] + n["m"], n["m"]], [n["m"], n["m"] * (1 + n["j"])]])
    matrix = np.diag([n["K"], n["m"] * n["g"] / n["rho"]]) + 1j * Omega * np.diag([n["C"], n["c"]]) - Omega**2 * mass
    return np.linalg.solve(matrix, [1, 0])


@pytest.mark.parametrize("Omega", [0.7, 0.95, 1.0, 1.1])
def test_the_frequency_response_of_the_absorber(Omega):
    """Small motions follow the linear absorber with the ball's inertia m(1 + j)."""
    force = 1e-7
    case = ABSORBER.at(p0=force, Omega=Omega)
    X, u = force * receptance(case, Omega)
    start = {"X": X.real, "u": u.real, "X_dot": (1j * Omega * X).real, "u_dot": (1j * Omega * u).real}
    motion = case.simulate(100, **start)
    turning = np.exp(1j * Omega * motion.t)
    np.testing.assert_allclose(motion["X"], (X * turning).real, atol=1e-9 * abs(X))
    np.testing.assert_allclose(motion["u"], (u * turning).real, atol=1e-9 * abs(u))


def test_large_motions_of_the_absorber_in_the_plane():
    """In a plane the ball is a pendulum with the inertia m(1 + j): with its angle φ, u = 2ρ tan ½φ,

    (M + m)Ẍ + mρ(φ̈ cos φ − φ̇² sin φ) + CẊ + KX = p0 cos Ωt,  mρ(1 + j)φ̈ + mẌ cos φ + mg sin φ + cρφ̇ = 0.
    """
    case = ABSORBER.at(p0=0.1, Omega=0.9)
    n = {name: float(value) for name, value in case.values.items()}

    def rates(time: float, y: np.ndarray) -> np.ndarray:
        _, phi, speed, turning = y
        mass = np.array([
            [n["M"] + n["m"], n["m"] * n["rho"] * np.cos(phi)],
            [n["m"] * np.cos(phi), n["m"] * n["rho"] * (1 + n["j"])],
        ])  # fmt: skip
        force = [
            n["p0"] * np.cos(0.9 * time) - n["C"] * speed - n["K"] * y[0]
            + n["m"] * n["rho"] * turning**2 * np.sin(phi),
            -n["m"] * n["g"] * np.sin(phi) - n["c"] * n["rho"] * turning,
        ]  # fmt: skip
        return np.array([speed, turning, *np.linalg.solve(mass, force)])

    motion = case.simulate(30, samples=61)
    other = solve_ivp(rates, (0, 30), np.zeros(4), "DOP853", motion.t, rtol=1e-12, atol=1e-12).y
    assert np.abs(other[1]).max() > 1
    np.testing.assert_allclose(motion["X"], other[0], atol=1e-8)
    np.testing.assert_allclose(2 * np.arctan(motion["u"] / (2 * n["rho"])), other[1], atol=1e-8)
    np.testing.assert_array_equal(motion["v"], 0)


def test_the_absorber_calms_the_resonance():
    """At the frequency of the mass alone less than a quarter of its amplitude p0/(CΩ) is left."""
    amplitude = abs(receptance(ABSORBER.at(), 1.0)[0])
    assert amplitude < 0.25 / 0.01
    case = ABSORBER.at(p0=1e-3)
    motion = case.simulate(2000, samples=20001)
    settled = np.abs(motion["X"][-2000:]).max()
    assert settled == pytest.approx(1e-3 * amplitude, rel=0.02)
    assert motion.energy.drift < 1e-12


def test_the_absorber_without_drive_has_the_spectrum_of_its_linear_equations():
    case = ABSORBER.at(p0=0)
    found = case.spectrum().values
    for value in found:
        n = {name: float(v) for name, v in case.values.items()}
        mass = np.array([[n["M"] + n["m"], n["m"]], [n["m"], n["m"] * 1.4]])
        rigid = np.diag([n["K"], n["m"] * n["g"] / n["rho"]])
        plane = np.linalg.det(mass * value**2 + np.diag([n["C"], n["c"]]) * value + rigid)
        across = n["m"] * (1.4 * value**2 + n["g"] / n["rho"]) + n["c"] * value
        assert min(abs(plane), abs(across)) < 1e-12


def test_the_ball_leaves_the_plane_between_two_branch_points():
    """Its spin about the normal is constant, so that a multiplier is 1 on all responses: that is no branch point. Where
    one more is, the ball leaves the plane, as motions do that begin beside it."""
    case = ABSORBER.at(p0=0.02)
    response = case.response("Omega", from_=1, to=1.09, accuracy=1e-6)
    assert [special.kind for special in response.special] == ["branch point", "branch point"]
    low, high = (special.value for special in response.special)
    assert [point.stable for point in response] == [not low < point.value < high for point in response]
    for Omega, leaves in ((low - 0.01, False), (low + 0.01, True)):
        v = np.abs(case.at(Omega=Omega).simulate(1500, v=1e-12, samples=15001)["v"])
        assert (v[10000:].max() > v[5000:10000].max()) == leaves
