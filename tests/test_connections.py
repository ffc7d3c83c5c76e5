"""Homoclinic and heteroclinic orbits against closed forms, AUTO's demos for HomCont, direct integration, and in other
units."""

from __future__ import annotations

import pickle
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.bifurcation.connections.first_arcs import from_cycle
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from test_homoclinic import on_levels, saddle_connection
from test_orbits import lorenz

x, y, z, w = sm.symbols("x y z w", real=True)
mu, b1, b2, p = sm.symbols("mu b1 b2 p", real=True)
R = sm.Rational


class Samples(dict):
    """States by name, at times t."""

    def __init__(self, t, **states):
        super().__init__(states)
        self.t = t


# Closed forms


def loop():
    """Cycles about the centre of ẍ = x − x², up to the loop of its saddle at μ = 0."""
    return on_levels(y**2 / 2 - x**2 / 2 + x**3 / 3, x - x**2).at().hopf(to=0.1, x=1, y=0).orbits(to=0.5)


@pytest.mark.parametrize("period", [12, 20, 1000])
def test_the_loop_of_a_saddle_from_cycles_of_any_long_period(period):
    """x = (3/2) sech²(t/2)."""
    found = min(loop(), key=lambda orbit: abs(orbit.period - period)).homoclinic()
    assert found.homoclinic
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.rest == pytest.approx({"x": 0, "y": 0}, abs=1e-12)
    assert found.saddle_quantity == pytest.approx(0, abs=1e-9)
    orbit = found.orbit
    centre = orbit.t[orbit["x"].argmax()]
    assert orbit["x"] == pytest.approx(1.5 / np.cosh((orbit.t - centre) / 2) ** 2, abs=2e-3)  # phase to its samples
    at, rate = found.join.arc.x.T  # at mesh points errors are of order h^12
    assert np.abs(rate**2 / 2 - at**2 / 2 + at**3 / 3).max() < 1e-11


def test_both_parts_of_a_heteroclinic_cycle():
    """ẍ = −x + x³: the saddles at ±1 are on the level H = 1/4."""
    branch = on_levels(y**2 / 2 + x**2 / 2 - x**4 / 4, x**3 - x).at(mu=-0.1).hopf(to=0.1).orbits(to=0.5)
    there, back = branch.connections()
    assert not there.homoclinic
    assert [there.rest["x"], there.end["x"], back.rest["x"], back.end["x"]] == pytest.approx([-1, 1, 1, -1])
    assert [there.value, back.value] == pytest.approx([0.25, 0.25], abs=1e-11)
    at, rate = there.join.arc.x.T
    assert rate == pytest.approx((1 - at**2) / np.sqrt(2), abs=1e-9)  # the square of what its ends are off
    with pytest.raises(NoBifurcationError, match="heteroclinic cycle of 2 parts"):
        branch.homoclinic()
    later = from_cycle(half_a_period_later(max(branch, key=lambda point: point.period)), 1e-6)
    assert [each.rest["x"] for each in later] == pytest.approx([-1, 1])


def half_a_period_later(point):
    """The same orbit with its samples from another instant on."""
    orbit, half = point.orbit, len(point.orbit.t) // 2
    x = np.hstack([orbit.x[:, half:-1], orbit.x[:, : half + 1]])
    return SimpleNamespace(
        problem=point.problem, case=point.case, load=point.load, value=point.value, period=point.period,
        orbit=SimpleNamespace(t=orbit.t, x=x, numbers=orbit.numbers),
    )  # fmt: skip


# Bogdanov and Takens: what is left out, and how the curve ends


@pytest.fixture(scope="module")
def takens():
    system = pfaff.ode({x: y, y: b1 + b2 * x + x**2 - x * y}, {b1: -0.3, b2: -1}, load=b1)
    branch = system.at().hopf(to=0.3, x=-0.25).orbits(to=-0.5)
    return branch.homoclinic()


def test_the_saddle_connection_of_a_direct_integration(takens):
    assert takens.value == pytest.approx(saddle_connection(), abs=1e-8)
    assert takens.saddle_quantity < 0
    assert "a stable cycle is born of it" in takens.status


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
def test_the_estimate_of_the_truncation_is_its_error(takens, accuracy):
    exact = takens.lengthened(1e-12)
    cut = takens.lengthened(accuracy)
    assert cut.duration < exact.duration
    assert abs(cut.value - exact.value) == pytest.approx(cut.truncation["b1"], rel=0.1)


def test_the_curve_comes_to_its_bogdanov_takens_point(takens):
    """β1 = −(6/25) β2² + …, the orbit shrinking to an equilibrium (Kuznetsov 2004, Sec. 8.4)."""
    curve = takens.curve("b2", to=0)
    assert curve.ended.reason is pfaff.Reason.EQUILIBRIUM
    ratios = [point["b1"] / point["b2"] ** 2 for point in curve]
    first, last = ratios[-6] + 6 / 25, ratios[-1] + 6 / 25
    assert last == pytest.approx(0, abs=2e-4)
    assert first / last == pytest.approx(curve[-6]["b2"] / curve[-1]["b2"], rel=0.1)  # the next term is β2³


# Published values


def test_lorenz_in_any_units():
    """ρ = 13.926557407…, of the saddle at the origin."""
    branch = lorenz().at(rho=14).hopf(to=30, x=6, y=6, z=13).orbits(to=13)
    found = branch.homoclinic()
    assert found.value == pytest.approx(13.926557407, abs=1e-8)
    rho, X, Y, Z = sm.symbols("rho X Y Z", real=True)
    metres, other, hour = 1000, R(1, 50), 3600
    rates = {X: 10 * (Y * other / metres - X), Y: (X * metres * (rho - Z) - Y * other) / other}
    rates |= {Z: X * Y * metres * other - R(8, 3) * Z}
    scaled = pfaff.ode({s: f / hour for s, f in rates.items()}, {rho: 14}, load=rho)
    orbit = branch[-1].orbit
    motion = Samples(orbit.t * hour, X=orbit["x"] / metres, Y=orbit["y"] / float(other), Z=orbit["z"])
    k = int(np.argmin(np.abs(orbit["x"]) + np.abs(orbit["z"])))  # from its saddle on
    period, times = float(orbit.t[-1]) * hour, motion.t
    turned = Samples(
        np.concatenate([times[k:-1], times[: k + 1] + period]),
        **{name: np.concatenate([row[k:-1], row[: k + 1]]) for name, row in motion.items()},
    )
    again = scaled.at(rho=branch[-1].value).connection(turned)
    assert again.value == pytest.approx(found.value, abs=1e-9)
    assert again.saddle_quantity * hour == pytest.approx(found.saddle_quantity, rel=1e-9)
    assert max(each.truncation["rho"] for each in (found, again)) < 1e-9


@pytest.fixture(scope="module")
def sandstede():
    """Sandstede (1995), AUTO's demo san, from its closed form at a = 0."""
    a, b, c, alpha, beta, m, mt = sm.symbols("a b c alpha beta mu mut", real=True)
    u = mt - alpha * z
    rates = {
        x: a * x + b * y - a * x**2 + u * x * (2 - 3 * x),
        y: b * x + a * y - R(3, 2) * x * (b * x + a * y) - 2 * u * y,
        z: c * z + m * x + alpha * beta * (x**2 * (1 - x) - y**2),
    }
    case = pfaff.ode(rates, {a: 0, b: 1, c: -2, alpha: 0, beta: 1, m: 0, mt: 0}, load=mt).at()
    return case, case.connection(planar())


def planar():
    t = np.linspace(-12, 12, 801)
    e = np.exp(t)
    return Samples(t, x=1 - ((1 - e) / (1 + e)) ** 2, y=4 * e * (1 - e) / (1 + e) ** 3, z=0 * t)


def test_inclination_flips_of_sandstedes_model(sandstede):
    """AUTO's manual prints α = 1.23086 at a = 0.25; a resonance at a = 0. The next flip by the adjoint equation."""
    _, first = sandstede
    at = first.curve("a", to=0.25)[-1]
    curve = at.curve("alpha", to=2)
    flips = [special["alpha"] for special in curve.of_kind("inclination flip")]
    assert flips[0] == pytest.approx(1.23086, abs=5e-6)
    for flip in flips:
        before, after = (manifold_along(at, flip + off) for off in (-0.02, 0.02))
        assert before * after < 0
    assert len(flips) == 2
    (resonance,) = at.curve("a", to=-0.3).of_kind("neutral saddle")
    assert resonance["a"] == pytest.approx(0, abs=1e-12)


def manifold_along(connection, alpha):
    """The component along the leading stable eigenvector, far back, of ψ with ψ̇ = −Aᵀψ and ⟨ψ, ẋ⟩ = 0."""
    from scipy.interpolate import CubicSpline

    case, flow, orbit = connection.case.at(alpha=alpha), connection.flow, connection.orbit
    times = np.linspace(orbit.t[-1], orbit.t[0], 2001)
    states = CubicSpline(orbit.t, orbit.x.T)
    at = np.ascontiguousarray(states(np.linspace(times[0], times[-1], 4001)).T)
    A, f = flow.jacobian(at, case.numbers), flow.rhs(at, case.numbers)
    saddle, h = flow.jacobian(np.zeros(3), case.numbers), times[1] - times[0]
    values, left = np.linalg.eig(saddle.T)
    psi = left[:, values.real.argmax()].real
    psi = psi * np.sign(psi[0])
    for k in range(0, 4000, 2):  # Runge and Kutta's method, backward in time
        k1 = -A[..., k].T @ psi
        k2 = -A[..., k + 1].T @ (psi + h / 2 * k1)
        k3 = -A[..., k + 1].T @ (psi + h / 2 * k2)
        k4 = -A[..., k + 2].T @ (psi + h * k3)
        psi = psi + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        rate = f[:, k + 2]
        psi = psi - (psi @ rate) / (rate @ rate) * rate
        psi = psi / np.linalg.norm(psi)
    values, right = np.linalg.eig(saddle)
    leading = right[:, np.argsort(values.real)[-2]].real
    return float(leading @ psi) * np.sign(leading[0])


def test_the_orbit_flip_of_sandstedes_model(sandstede):
    """At μ = 0 the orbit is in the plane z = 0, across the leading eigenvector."""
    case, _ = sandstede
    at = case.at(alpha=1, beta=0).connection(planar())
    for name, value in (("a", 0.5), ("b", 3), ("mu", 0.25)):
        at = at.curve(name, to=value)[-1]
    curve = at.curve("mu", to=-0.5)
    (flip,) = curve.special
    assert (flip.kind, flip.side) == ("orbit flip", "coming")
    assert flip["mu"] == pytest.approx(0, abs=1e-10)
    assert "orbit flip (coming) of a homoclinic orbit at mut" in flip.status


def test_kopers_model():
    """Koper (1995), AUTO's demo kpr: λ = −1.85119 at k = −0.15, inclination flips at (λ, k) as its manual prints."""
    k, lam = sm.symbols("k lambda_", real=True)
    rates = {x: 10 * (k * y - x**3 + 3 * x - lam), y: x - 2 * y + z, z: y - z}
    case = pfaff.ode(rates, {lam: -1.851185124, k: -0.15}, load=lam).at()
    rest = case.equilibrium(x=0, y=0, z=0)
    values, vectors = np.linalg.eig(case.system.flow.jacobian(rest.x, case.numbers))
    start = rest.x + 1e-4 * vectors[:, values.real.argmax()].real * np.sign(vectors[0, values.real.argmax()])
    ways = [case.simulate(20, **dict(zip("xyz", rest.x + way * (start - rest.x), strict=True))) for way in (1, -1)]
    found = case.connection(min(ways, key=lambda motion: np.ptp(motion["x"])))
    assert found.value == pytest.approx(-1.85119, abs=5e-6)
    flips = found.curve("k", to=-0.6).of_kind("inclination flip")
    assert [flip["lambda_"] for flip in flips] == pytest.approx([-1.80166, -1.56876], abs=5e-6)
    assert [flip["k"] for flip in flips] == pytest.approx([-0.200266, -0.439547], abs=1e-6)


def test_leading_eigenvalues_meet():
    """z and w decay by themselves, with eigenvalues −1/2 ± √p."""
    energy = y**2 / 2 - x**2 / 2 + x**3 / 3
    rates = {x: y, y: x - x**2 + y * (mu - energy), z: -z / 2 + w, w: p * z - w / 2}
    t = np.linspace(-15, 15, 601)
    loop = 1.5 / np.cosh(t / 2) ** 2
    motion = Samples(t, x=loop, y=-loop * np.tanh(t / 2), z=0 * t, w=0 * t)
    found = pfaff.ode(rates, {mu: 0, p: 0.1}, load=mu).at().connection(motion)
    assert "of a saddle at" in found.status
    curve = found.curve("p", to=-0.1)
    (meeting,) = curve.special
    assert (meeting.kind, meeting.side) == ("saddle-focus", "coming")
    assert meeting["p"] == pytest.approx(0, abs=1e-9)
    assert "of a saddle-focus at" in curve[-1].status
    assert "infinitely many cycles" in curve[-1].status


# A mechanical system


@cache
def pendulum(m, g, l, c, tau):
    theta = dynamicsymbols("theta")
    M, G, L, C, T = sm.symbols("m g l c tau", positive=True)
    rate = theta.diff()
    return pfaff.System(
        coordinates=[theta],
        kinetic=M * L**2 * rate**2 / 2,
        potential=-M * G * L * sm.cos(theta),
        dissipation=C * rate**2 / 2,
        forces={theta: T},
        parameters={M: m, G: g, L: l, C: c, T: tau},
        load=T,
    ).at()


def turning(case, seconds, tau):
    """A pendulum that leaves its upper rest and comes to it again a turn later."""
    upper = -np.pi - np.arcsin(tau)
    return case.connection(case.simulate(seconds, theta=upper + 1e-3, theta_dot=1e-3, samples=2001))


def test_a_driven_pendulum_that_just_turns():
    """τ = (4/π) c + O(c³) (Melnikov); at τ = 1 the rest states meet, c = 1.193 (Levi, Hoppensteadt, Miranker 1978)."""
    found = turning(pendulum(1, 1, 1, 0.1, 0.1273), 25, 0.1273)
    assert found.of == "heteroclinic orbit"
    assert found.end["theta"] - found.rest["theta"] == pytest.approx(2 * np.pi, abs=1e-9)
    curve = found.curve("c", to=1e-3)
    assert curve[-1]["tau"] / 1e-3 == pytest.approx(4 / np.pi, abs=1e-6)
    departures = [4 / np.pi - point["tau"] / point["c"] for point in (curve[0], curve[-1])]
    assert departures[0] / departures[1] == pytest.approx((0.1 / 1e-3) ** 2, rel=0.01)
    ended = found.curve("c", to=2)
    assert "comes to the imaginary axis" in ended.ended
    assert (ended[-1]["tau"], ended[-1]["c"]) == pytest.approx((1, 1.193), abs=5e-4)
    m, g, l = 3.0, 9.81, 0.25
    torque, damping = m * g * l, m * l**2 * np.sqrt(g / l)
    other = turning(pendulum(m, g, l, 0.1 * damping, 0.1273 * torque), 25 * np.sqrt(l / g), 0.1273)
    assert other.value / torque == pytest.approx(found.value, rel=1e-9)


# What it is refused


def test_what_is_no_connection_of_codimension_one_says_so():
    node = pfaff.ode({x: x - x**3, y: -y + p * x}, {p: 0.0}, load=p).at()
    t = np.linspace(0, 20, 400)
    with pytest.raises(ConvergenceError, match="at all values of the parameters"):
        node.connection(node.simulate(30, x=1e-4, samples=1001))
    with pytest.raises(ConvergenceError, match="no equilibrium is near"):
        loop()[0].case.connection(Samples(t, x=1 + np.exp(-((t - 10) ** 2)), y=0.3 + 0 * t))
    with pytest.raises(ParameterError, match="the motion has no state y"):
        loop()[0].case.connection(Samples(t, x=t))
    with pytest.raises(ParameterError, match="leads from no rest to another"):
        node.connection(Samples(t, x=1 + 0 * t, y=0 * t))
    with pytest.raises(ParameterError, match="^3 is no motion"):
        node.connection(3)
    with pytest.raises(ConvergenceError, match="comes nowhere near to rest"):
        loop()[1].homoclinic()


def test_orbits_of_conservative_and_forced_systems_say_why_there_is_none():
    undamped = pfaff.ode({x: y, y: x - x**2, z: (mu - 1) * z}, {mu: 0.0}, load=mu).at()
    family = SimpleNamespace(problem=SimpleNamespace(held=np.ones((1, 2))))
    from pfaff.bifurcation.connections.first_arcs import from_cycle

    with pytest.raises(NoBifurcationError, match="something is conserved"):
        from_cycle(family, 1e-9)
    t = np.linspace(-15, 15, 601)
    form = 1.5 / np.cosh(t / 2) ** 2
    with pytest.raises(ParameterError, match="mu changes nothing"):
        undamped.connection(Samples(t, x=form, y=-form * np.tanh(t / 2), z=0 * t))


def test_curves_need_another_parameter(takens):
    with pytest.raises(ParameterError, match="name another one"):
        takens.curve("b1", to=1)
    with pytest.raises(ParameterError, match="b9"):
        takens.curve("b9", to=1)
    with pytest.raises(ParameterError, match="accuracy"):
        takens.lengthened(2)


# Kept


def test_curves_are_stored_extended_and_sent(takens, tmp_path):
    curve = takens.curve("b2", to=-1.5)
    path = curve.save(tmp_path / "curve.nc")
    again = pfaff.load(path, takens.case)
    assert again.status == curve.status
    assert again[-1].values == curve[-1].values
    assert again[-1].mesh_error == pytest.approx(curve[-1].mesh_error, rel=1e-2)
    whole = takens.curve("b2", to=-2)
    for part in (again, pickle.loads(pickle.dumps(curve))):
        longer = part.extend(to=-2)
        assert longer[-1]["b1"] == pytest.approx(whole[-1]["b1"], abs=1e-9)
        assert longer.ended == "reached -2"
    other = pfaff.ode({x: y, y: b1 + b2 * x + x**2 - 2 * x * y}, {b1: -0.3, b2: -1}, load=b1).at()
    with pytest.raises(ParameterError, match="does not belong"):
        pfaff.load(path, other)
    data = curve.to_xarray()
    assert data["saddle_quantity"].to_numpy() == pytest.approx(curve.saddle_quantities)
    assert curve.plot().axes[0].get_xlabel()
    assert len(takens.plot().axes) == 3
