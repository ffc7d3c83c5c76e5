"""Branches of periodic orbits, against published numbers, closed forms, high-order shooting and simulations."""

from __future__ import annotations

import gc
import re
import weakref
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.algebra.brackets import bracketed_root
from pfaff.algebra.gauss import gauss
from pfaff.bifurcation.orbits import collocation
from pfaff.bifurcation.orbits.cycles import Mesh
from pfaff.bifurcation.orbits.floquet import multipliers
from pfaff.bifurcation.orbits.following import Orbits
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.flow.integrator import Integrator, program
from pfaff.kernels.chain import solve_chain
from pfaff.statement import TIME, coordinates
from variational import varied

x, y, z = sm.symbols("x y z")
CRITICAL = 76.3379703896335


@pytest.fixture(scope="module")
def skate_hopf(skate):
    return skate.at(**XI_HAT, c_i="3/2").hopf()


@pytest.fixture(scope="module")
def skate_branch(skate_hopf):
    return skate_hopf.orbits(to=100)


@pytest.fixture(scope="module")
def bow_branch(bow):
    return bow.at(**XI_HAT, c_i="3/2").hopf().orbits(to=86)


@pytest.fixture(scope="module")
def asymmetric(bow_branch):
    return bow_branch.of_kind("symmetry breaking")[0].switch(to=86)


@pytest.fixture(scope="module")
def control():
    alpha, beta = sm.symbols("alpha beta")
    return pfaff.ode({x: y, y: z, z: -alpha * z - beta * y - x + x**2}, {alpha: 2, beta: 1}, load=alpha)


@cache
def lorenz():
    rho, sigma, b = sm.symbols("rho sigma b")
    equations = {x: sigma * (y - x), y: x * (rho - z) - y, z: x * y - b * z}
    return pfaff.ode(equations, {sigma: 10, b: "8/3", rho: 28}, load=rho, name="Lorenz")


class Sampled(dict):
    """Times and states by name."""

    def __init__(self, t, **states):
        super().__init__(states)
        self.t = t


def integrated(ode, values, start, duration):
    """The last part of a motion of a plain ODE, by Taylor's method."""
    numbers = ode.at(**values).numbers
    equations = list(zip(ode.flow.variables, ode.flow.expressions, strict=True))
    integrator = Integrator(program(equations, 1e-12))
    integrator.put(0.0, np.array(start, dtype=float), numbers)
    t = np.linspace(0, duration, 20001)
    states = integrator.advance(duration, 10**6, grid=t).samples.T
    return Sampled(t[-6000:], **{name: row[-6000:] for name, row in zip(ode.state_names, states, strict=True)})


def shooting(orbit):
    """The state after a period and the monodromy matrix, by Taylor's method at 1e-18 with variational equations."""
    flow = orbit.problem.flow
    start = orbit.orbit.x[:, 0]
    end, monodromy = varied(flow, start, orbit.case.numbers, orbit.period, 1e-18)
    return end - start, monodromy


# The cycles of the double pendulum of Cazzolli et al. (2020); converged values by multiple shooting at 1e-15.


@pytest.mark.parametrize(("load", "period"), [(80, 6.1374931640620), (90, 8.1622207239541), (100, 9.6940951673150)])
def test_periods_of_the_skate(skate_branch, load, period):
    (orbit,) = skate_branch.at(load)
    assert orbit.period == pytest.approx(period, abs=5e-13)
    assert orbit.value == load
    assert orbit.stable
    assert orbit.symmetric
    assert orbit.mesh_error < 1e-11
    assert orbit.residual < 1e-11


def test_two_folds_close_together_are_located(skate_branch):
    folds = skate_branch.of_kind("fold")
    assert [fold.value for fold in folds] == pytest.approx([88.37288, 88.27770], abs=5e-6)
    assert len(skate_branch.special) == 2
    assert [len(skate_branch.at(load)) for load in (88.2, 88.3, 88.4)] == [1, 3, 1]
    assert [orbit.stable for orbit in skate_branch.at(88.3)] == [True, False, True]
    for fold in folds:
        assert fold.point.tangent.scalars[1] == pytest.approx(0, abs=1e-8)
        assert np.sort(np.abs(fold.multipliers - 1))[1] < 1e-4  # a double multiplier, the root of its error


@pytest.mark.parametrize("step", [0.05, 1.0])
def test_no_step_jumps_over_the_folds(skate_hopf, skate_branch, step):
    folds = skate_hopf.orbits(to=92, step=step).of_kind("fold")
    expected = [fold.value for fold in skate_branch.of_kind("fold")]
    assert [fold.value for fold in folds] == pytest.approx(expected, abs=1e-8)


def test_the_trivial_multiplier_is_one(skate_branch):
    away = [point for point in skate_branch if np.sort(np.abs(point.multipliers - 1))[1] > 0.05]
    assert len(away) > 30
    assert max(np.abs(point.multipliers - 1).min() for point in away) < 1e-9


@pytest.mark.parametrize("load", [80, 90])
def test_high_order_shooting_closes_and_has_the_same_multipliers(skate_branch, load):
    (orbit,) = skate_branch.at(load)
    gap, monodromy = shooting(orbit)
    assert np.abs(gap).max() < 1e-12
    values = np.linalg.eigvals(monodromy)
    expected = values[np.lexsort((-values.imag, -np.abs(values)))]
    assert orbit.multipliers == pytest.approx(expected, abs=1e-10)


def test_locomotion_of_the_skate(skate_branch):
    (orbit,) = skate_branch.at(1.1 * CRITICAL)
    assert orbit.period == pytest.approx(6.2503299589458, abs=1e-12)
    assert orbit.mean_velocity["X"] == pytest.approx(0.00972446606235, abs=1e-13)
    assert orbit.advance["X"] == pytest.approx(orbit.period * orbit.mean_velocity["X"], rel=1e-14)
    (last,) = skate_branch.at(90)
    mean = np.trapezoid(last.orbit["X_dot"], last.orbit.t) / last.period
    assert mean == pytest.approx(last.mean_velocity["X"], rel=1e-3)
    assert repr(last.orbit).endswith(f"theta1, theta2, theta1_dot, theta2_dot at {len(last.orbit.t)} times>")


def test_where_rounding_hides_multipliers_stability_is_not_claimed():
    """A canard: the contraction along its slow part is beyond what rounding leaves of the multiplier 1."""
    v, w, current, eps = sm.symbols("v w I epsilon")
    fast = {v: v - v**3 / 3 - w + current, w: eps * (v + sm.Rational(7, 10) - sm.Rational(4, 5) * w)}
    nagumo = pfaff.ode(fast, parameters={eps: "0.02", current: 0}, load=current).at()
    branch = nagumo.hopf(to=2, v=-1.2, w=-0.6).orbits(to=0.6, points=150)
    hidden = [orbit for orbit in branch if not orbit.resolved]
    assert hidden
    for orbit in branch:
        off = np.abs(orbit.multipliers - 1).min()
        assert orbit.resolved == (off < 1e-3)
        assert orbit.resolved or (not orbit.stable and orbit.status.endswith("stability not resolved"))


def test_half_the_period_gives_what_the_whole_gives(skate_hopf, skate_branch):
    """The same branch from an asymmetric start: an orbit taken from a motion, its symmetry not used."""
    from pfaff.bifurcation.orbits.cycles import doubled
    from pfaff.bifurcation.orbits.orbit_switching import orbit_at

    (half,) = skate_branch.at(90)
    whole = orbit_at(half.problem, doubled(half.point.cycle, half.problem.rows), 90.0)
    assert not whole.symmetric
    assert whole.period == pytest.approx(half.period, rel=1e-13)
    assert whole.multipliers == pytest.approx(half.multipliers, abs=1e-11)
    assert whole.advance["X"] == pytest.approx(half.advance["X"], rel=1e-11)


def test_small_orbits_are_those_of_the_normal_form(skate_hopf, skate_branch):
    first = skate_branch[0]
    predicted = skate_hopf.amplitude(first.value)["theta1"]
    assert first.amplitude["theta1"] == pytest.approx(predicted, rel=2e-3)
    assert first.period == pytest.approx(skate_hopf.period(first.value), rel=1e-5)


def test_the_bow_loses_its_symmetry(bow_branch, asymmetric):
    """Simulations at 1.1 F_cr settle on an asymmetric cycle: T = 6.4109796719, mean velocity 0.00571881428."""
    (broken,) = bow_branch.of_kind("symmetry breaking")
    assert CRITICAL < broken.value < 1.1 * CRITICAL
    assert np.sort(np.abs(broken.multipliers - 1))[1] < 1e-7
    (symmetric,) = bow_branch.at(1.1 * CRITICAL)
    assert (symmetric.symmetric, symmetric.stable) == (True, False)
    (orbit,) = asymmetric.at(1.1 * CRITICAL)
    assert (orbit.symmetric, orbit.stable) == (False, True)
    assert orbit.period == pytest.approx(6.4109796719, abs=1e-10)
    assert orbit.mean_velocity["X"] == pytest.approx(0.00571881428, abs=1e-11)
    assert [special.kind for special in asymmetric.special] == ["period doubling"]


def test_an_orbit_from_a_motion(bow, asymmetric):
    case = bow.at(**XI_HAT, c_i="3/2", F=1.1 * CRITICAL)
    orbit = case.orbit(case.simulate(600, samples=20001, theta1=0.4, theta2=0.1))
    (expected,) = asymmetric.at(1.1 * CRITICAL)
    assert orbit.period == pytest.approx(expected.period, abs=1e-11)
    assert not orbit.symmetric
    back = orbit.orbits(to=83.5, points=30)
    assert back.of_kind("branch point")[0].value == pytest.approx(83.761941, abs=1e-5)


def test_a_symmetric_orbit_from_a_motion_is_halved(skate, skate_branch):
    case = skate.at(**XI_HAT, c_i="3/2", F=80)
    orbit = case.orbit(case.simulate(400, samples=20001, theta1=0.3))
    (expected,) = skate_branch.at(80)
    assert orbit.symmetric
    assert orbit.period == pytest.approx(expected.period, abs=1e-12)
    damped = orbit.orbits(to=2.5, load="c_i")
    assert damped[-1].value == 2.5
    assert damped[-1].case.values["F"] == 80


# Textbook systems.


def test_period_doubling_of_the_adaptive_control_system(control):
    """MatCont's tutorial prints α = 0.630302 and T = 6.36407."""
    branch = control.at().hopf(to=0.5).orbits(to=0.55)
    (doubling,) = branch.special
    assert doubling.kind == "period doubling"
    assert doubling.value == pytest.approx(0.630302, abs=5e-7)
    assert doubling.period == pytest.approx(6.36407, abs=5e-6)
    assert np.abs(doubling.multipliers + 1).min() < 1e-8
    twice = doubling.switch(to=0.6)
    assert twice[0].period == pytest.approx(2 * doubling.period, rel=1e-3)
    assert twice[0].stable
    assert twice[0].value < doubling.value


def test_folds_of_autos_plp():
    """AUTO-07p's demo plp, a one-cell two-substrate enzyme model: 2.75969 (T 10.0064) and 5.00784 (T 5.67658)."""
    s, a, rho = sm.symbols("s a rho")
    R = s * a / (1 + s + s**2 / 10)
    enzyme = pfaff.ode({s: 110 - s - rho * R, a: (500 - a) / 5 - rho * R}, {rho: 2}, load=rho)
    branch = enzyme.at().hopf(to=8, near=3.5, s=45, a=177).orbits(to=6)
    assert [special.kind for special in branch.special] == ["fold", "fold"]
    assert [special.value for special in branch.special] == pytest.approx([2.75969, 5.00784], abs=5e-6)
    assert [special.period for special in branch.special] == pytest.approx([10.0064, 5.67658], abs=5e-5)
    assert "Hopf point" in branch.ended
    assert branch[-1].value == pytest.approx(4.65046, abs=1e-5)  # the other Hopf point that AUTO prints


def test_period_doubling_cascade_of_lorenz():
    """Window 99.524 … 100.795 (Sparrow 1982); doublings at 99.98, 99.629, 99.547, 99.529 (Franceschini 1980)."""
    ode = lorenz()
    orbit = ode.at(rho=100.5).orbit(integrated(ode, {"rho": 100.5}, (1, 2, 100), 60))
    (fold,) = orbit.orbits(to=101, points=30).of_kind("fold")
    assert fold.value == pytest.approx(100.795, abs=5e-4)
    branch, values = orbit.orbits(to=99.5), []
    for _ in range(4):
        values.append(branch.of_kind("period doubling")[0].value)
        branch = branch.of_kind("period doubling")[0].switch(to=99.5)
    assert values == pytest.approx([99.98, 99.629, 99.547, 99.529], abs=6e-4)
    ratios = -np.diff(values)[:-1] / -np.diff(values)[1:]
    assert ratios[-1] == pytest.approx(4.669, rel=0.03)


def test_the_symmetric_orbit_of_lorenz_loses_its_symmetry():
    """Near r = 313 and, on the branch without symmetry, a period doubling near 229 (Sparrow 1982, ch. 4)."""
    case = lorenz().at(rho=350)
    branch = case.orbit(case.simulate(100, x=1, y=2, z=300, samples=20001)).orbits(to=200)
    (pitchfork,) = branch.special
    assert pitchfork.kind == "branch point"
    assert pitchfork.value == pytest.approx(313, abs=0.5)
    off = pitchfork.switch(to=200)
    assert abs(off[-1].orbit["x"].max() + off[-1].orbit["x"].min()) > 1
    (doubling,) = off.of_kind("period doubling")
    assert doubling.value == pytest.approx(229.4, abs=0.1)


def test_homoclinic_orbit_of_lorenz():
    """Cycles from the Hopf point at 24.7368 end in a homoclinic orbit at 13.926 (Sparrow 1982), with no label."""
    branch = lorenz().at(rho=14).hopf(to=30, x=6, y=6, z=13).orbits(to=10)
    assert "homoclinic" in branch.ended
    assert branch[-1].value == pytest.approx(13.926557, abs=1e-6)
    assert branch.special == ()


def circles(growth, start, load, value, factor=1):
    """The orbit of ṙ = r growth(r²), θ̇ = 1 near a radius, in a time scaled by a factor."""
    ode = pfaff.ode({x: factor * (growth * x - y), y: factor * (x + growth * y)}, {load: value}, load=load)
    return ode.at().orbit(ode.at().simulate(60, x=start))


@pytest.mark.parametrize("unit", [1, 10**5])
def test_a_closed_branch_comes_back_to_its_start(unit):
    """(r² − 2)² + μ² = 1/4, once around: two folds; also if it is followed in two parts."""
    mu = sm.Symbol("mu", real=True)
    orbit = circles(sm.Rational(1, 4) - mu**2 - ((x**2 + y**2) / unit**2 - 2) ** 2, 1.6 * unit, mu, 0)
    branch = orbit.orbits(to=1)
    assert branch.ended == "closes: it is back at its first point"
    assert [each.kind for each in branch.special] == ["fold", "fold"]
    assert [each.value for each in branch.special] == pytest.approx([0.5, -0.5], abs=1e-10)
    assert branch[-1].value == pytest.approx(0, abs=1e-6)
    assert branch[-1].amplitude["x"] / unit == pytest.approx(np.sqrt(2.5), abs=1e-6)
    parts = orbit.orbits(to=1, points=20).extend(to=3)
    assert (parts.ended, len(parts.special)) == (branch.ended, 2)
    from_fold = branch.special[0].orbits(to=-1)
    assert from_fold.ended == branch.ended


def test_a_branch_starts_in_small_units_of_states_and_large_ones_of_the_load():
    """The determinant at the first orbit, which is pinned by the load, is then far from that of the next."""
    mu = sm.Symbol("mu", real=True)
    square = (x**2 + y**2) * 10**12
    growth = sm.Rational(1, 4) - (mu / 10**6) ** 2 - (square - 2) ** 2 + 5 * 10**4 * x
    orbit = circles(growth, 1.5e-6, mu, 2 * 10**5)
    branch = orbit.orbits(to=-3e6, step=0.1)
    assert branch.ended.startswith("closes")
    assert [each.kind for each in branch.special] == ["fold", "fold"]


def test_orbits_that_only_get_small_or_slow_go_on():
    """r = e^−μ, T = 2π e^μ, and T of van der Pol's equation: (3 − 2 ln 2) μ + 7.01432 μ^−1/3 − …"""
    mu = sm.Symbol("mu", real=True)
    square = x**2 + y**2
    small = circles(1 - square * sm.exp(2 * mu), 0.5, mu, 0).orbits(to=10)
    assert small.ended == "reached 10"
    assert small[-1].amplitude["x"] == pytest.approx(np.exp(-10), rel=1e-6)
    slow = circles(1 - square, 0.5, mu, 0, sm.exp(-mu)).orbits(to=10)
    assert slow.ended == "reached 10"
    assert slow[-1].period == pytest.approx(2 * np.pi * np.exp(10))
    ode = pfaff.ode({x: y, y: mu * (1 - x**2) * y - x}, {mu: 1}, load=mu)
    relaxed = ode.at().orbit(ode.at().simulate(60, x=0.5)).orbits(to=1000)
    assert relaxed.ended == "reached 1000"
    late = (3 - 2 * np.log(2)) * 1000 + 0.701432
    assert relaxed[-1].period == pytest.approx(late, abs=0.02)


def test_rounding_near_a_homoclinic_orbit_makes_no_folds(monkeypatch):
    """The unfolding of Bogdanov and Takens at μ1 = −1: cycles between the Hopf point at −1 and the homoclinic orbit."""
    kappa = sm.Symbol("kappa", real=True)
    ode = pfaff.ode({x: y, y: -1 + kappa * y + x**2 - x * y}, {kappa: -0.01}, load=kappa)
    hopf = ode.at().hopf(to=-2, x=-1, y=0)
    for step in (0.3, 0.1):
        branch = hopf.orbits(to=0.5, step=step)
        assert "homoclinic" in branch.ended
        assert branch.special == ()
        assert branch[-1].value == pytest.approx(-0.7434442663177, abs=1e-10)
    monkeypatch.setattr("pfaff.bifurcation.orbits.following.lengthens", lambda *of: False)
    for step in (0.3, 0.1):
        beyond = hopf.orbits(to=0.5, step=step)
        assert beyond[-1].period > 200
        assert beyond.special == ()


def test_rounding_on_canards_makes_no_branch_points():
    """εẋ = y − x³/3 + x, ẏ = k − x: the multiplier besides 1 is never near it between k = 1 and the explosion."""
    kappa = sm.Symbol("kappa", real=True)
    ode = pfaff.ode({x: 1000 * (y - x**3 / 3 + x), y: kappa - x}, {kappa: 1.1}, load=kappa)
    branch = ode.at().hopf(to=0.9).orbits(to=0.9, points=110)
    assert branch.of_kind("branch point") == ()


def langford(**values):
    """Langford's axisymmetric system: a cycle of radius r at z = β, and its multipliers in closed form."""
    alpha, beta, rho, omega, level = sm.symbols("alpha beta rho omega level")
    square = x**2 + y**2
    equations = {
        x: (z - beta) * x - omega * y,
        y: omega * x + (z - beta) * y,
        z: level + alpha * z - z**3 / 3 - square * (1 + rho * z),
    }
    numbers = {alpha: 0.95, beta: 0.7, rho: 0.25, omega: 3.5, level: -1}
    return pfaff.ode(equations, numbers, load=level, name="Langford").at(**values)


def test_torus_bifurcation_in_closed_form():
    """ṙ = (z − β) r with ż linearised: trace α − β² − ρ r² = 0 at r² = (α − β²)/ρ."""
    branch = langford(level=-0.3).hopf(to=-0.6, z=0.33).orbits(to=2)
    square = (0.95 - 0.49) / 0.25
    (torus,) = branch.special
    assert torus.kind == "torus"
    assert torus.value == pytest.approx(square * (1 + 0.25 * 0.7) - 0.95 * 0.7 + 0.7**3 / 3, abs=1e-9)
    r = np.sqrt(square)
    angle = r * np.sqrt(2 * (1 + 0.25 * 0.7)) * 2 * np.pi / 3.5
    assert torus.multipliers[np.abs(torus.multipliers - np.exp(1j * angle)).argmin()] == pytest.approx(
        np.exp(1j * angle), abs=1e-9
    )
    assert torus.amplitude["x"] == pytest.approx(r, rel=1e-6)


def test_orbits_on_level_sets_of_a_conserved_quantity():
    """A line of equilibria along s, which stays: one family of cycles for each s, with two structural multipliers 1."""
    s, mu = sm.symbols("s mu")
    square = x**2 + y**2
    ode = pfaff.ode(
        {x: (mu - square) * x - (1 + s) * y, y: (1 + s) * x + (mu - square) * y, s: 0 * s}, {mu: -1}, load=mu
    )
    branch = ode.at().hopf(to=1, s=0.5).orbits(to=1)
    assert branch.special == ()
    last = branch[-1]
    assert last.period == pytest.approx(2 * np.pi / 1.5, rel=1e-10)
    assert last.stable
    assert sorted(np.abs(last.multipliers)) == pytest.approx([np.exp(-2 * last.period), 1, 1], rel=1e-8)


def test_a_branch_keeps_the_level_of_a_conserved_quantity_that_is_not_linear():
    """w = u − x² is conserved: on w = 0 cycles are circles r² − r⁴ + m = 0, with their fold at m = −1/4."""
    load, z = sm.symbols("m u", real=True)
    growth = load + x**2 + y**2 - (x**2 + y**2) ** 2 + (z - x**2)
    f = growth * x - y
    branch = pfaff.ode({x: f, y: x + growth * y, z: 2 * x * f}, {load: -1}, load=load).at().hopf().orbits(to=-1)
    assert [special.kind for special in branch.special] == ["fold"]
    assert branch.special[0].value == pytest.approx(-0.25, abs=1e-9)
    for point in branch:
        X, _, U = point.point.cycle.x.T
        assert pytest.approx(0, abs=1e-8) == (U - X**2)
        assert point.value == pytest.approx(point.amplitude["x"] ** 4 - point.amplitude["x"] ** 2, abs=1e-6)
        assert np.sort(np.abs(point.multipliers - 1))[:2] == pytest.approx([0, 0], abs=1e-9)


@cache
def rotor():
    """An oscillator that turns: the momentum L = (1 + q²) ψ̇ is conserved."""
    q, psi = coordinates("q psi")
    drive = sm.Symbol("d", real=True)
    v, spin = q.diff(TIME), psi.diff(TIME)
    return pfaff.System(
        name="rotor",
        coordinates=[q, psi],
        kinetic=(v**2 + (1 + q**2) * spin**2) / 2,
        potential=2 * q**2 + q**4 / 8,
        forces={q: (drive - q**2) * v},
        parameters={drive: -0.5},
        load="d",
    )


def test_cycles_of_a_rotor_are_those_of_its_reduction_by_the_momentum():
    """L = (1 + q²) ψ̇ is conserved, and the frequency alone depends on it: the reduced equation has L = 1."""
    drive = sm.Symbol("d", real=True)
    hopf = rotor().at().branch(to=0.5, start={"psi_dot": 1.0}).of_kind("hopf")[0].hopf
    spring = 4 * x + x**3 / 2 - x / (1 + x**2) ** 2
    reduced = pfaff.ode({x: y, y: (drive - x**2) * y - spring}, {drive: -0.5}, load=drive).at().hopf()
    assert hopf.c1 == pytest.approx(reduced.c1, rel=1e-9)  # ⟨q, q⟩ = 1 in both, as ψ̇ does not take part
    branch, expected = hopf.orbits(to=0.1), reduced.orbits(to=0.1)[-1]
    assert branch[-1].period == pytest.approx(expected.period, rel=1e-8)
    assert branch[-1].multipliers[-1] == pytest.approx(expected.multipliers[-1], rel=1e-6)
    Q, _, rate = branch[-1].point.cycle.x.T
    assert (1 + Q**2) * rate == pytest.approx(1, abs=2e-8)


# Methods.


def test_multipliers_of_any_size():
    """exp(±60), 1 and a rotation, from a product of random factors that hides them from plain multiplication."""
    generator = np.random.default_rng(1)
    N, n = 40, 5
    bases = [np.linalg.qr(generator.normal(size=(n, n)))[0] for _ in range(N)]
    core = np.diag([np.exp(60 / N), 1.0, 1.0, 1.0, np.exp(-60 / N)])
    angle = 0.3 / N
    core[2:4, 2:4] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    G = np.array([bases[(j + 1) % N] @ core @ bases[j].T for j in range(N)])
    values, _ = multipliers(G, np.ones(n))
    expected = [np.exp(60), np.exp(0.3j), np.exp(-0.3j), 1, np.exp(-60)]
    for each in expected:
        assert np.abs(values / each - 1).min() < 1e-11


def test_lanes_and_pivoting_give_the_same(skate_branch):
    """Intervals in which elimination without exchange grows are done again with it, large ones at once: force both."""
    (orbit,) = skate_branch.at(90)
    cycle, results = orbit.point.cycle, []
    w = replace(orbit.problem).collocation.workspace(cycle)
    for w.grown, w.large in ((30.0, 80), (0.0, 80), (30.0, 0)):
        results.append(np.empty((cycle.intervals, len(cycle.signs), len(cycle.signs))))
        w.condense(cycle, cycle.mesh.h, results[-1])
    assert results[0] == pytest.approx(results[1], rel=1e-11, abs=1e-12)
    assert (results[1] == results[2]).all()


def test_a_mesh_does_not_grow_for_an_error_that_no_mesh_removes():
    """Cells that follow van der Pol's oscillator by fast diffusion: rounding in their velocities looks like an error,
    near the accuracy that is asked for, and took 34 times as many intervals. The error between mesh points is of lower
    order, and takes some more."""
    mu, cells = sm.Symbol("mu", real=True), sm.symbols("w1:4", real=True)
    oscillator = {x: y, y: mu * (1 - x**2) * y - x}
    sides = zip(cells, (x, *cells[:-1]), (*cells[1:], 0), strict=True)
    followed = {cell: 300 * (left - 2 * cell + right) for cell, left, right in sides}
    found = []
    for equations in (oscillator, oscillator | followed):
        case = pfaff.ode(equations, {mu: 0.5}, load=mu).at()
        found.append(case.orbit(case.simulate(80, x=1.0)).orbits(to=2)[-1])
    alone, together = found
    intervals = [each.point.cycle.intervals * (2 if each.symmetric else 1) for each in found]
    assert intervals[1] < 6 * intervals[0]
    assert together.period == pytest.approx(alone.period, rel=1e-11)


@pytest.mark.parametrize("growth", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("N", [4, 5])
def test_the_determinant_of_a_chain_does_not_depend_on_exchanges_of_rows(growth, N):
    """It is that of all equations at once: of intervals, the last of which ends where the first begins, and rows."""
    random, n, nb = np.random.default_rng(3), 3, 2
    G, g = random.normal(size=(N, n, n)) * growth, random.normal(size=(N, n, nb + 1))
    rows, scalars = random.normal(size=(nb, N + 1, n)), random.normal(size=(nb, nb))
    whole = np.zeros((N * n + nb, N * n + nb))
    for j in range(N):
        here, following = (slice(k % N * n, k % N * n + n) for k in (j, j + 1))
        whole[here, here], whole[here, following] = G[j], -np.eye(n)
        whole[here, N * n :], whole[N * n :, here] = g[j, :, :nb], rows[:, j]
    whole[N * n :, :n] += rows[:, N]
    whole[N * n :, N * n :] = scalars
    room = np.empty((2, N + 1, n)), np.empty((2, nb))
    zero = np.zeros(nb), np.zeros((N + 1, n)), np.zeros(nb)
    found = solve_chain(G, g, rows, scalars, *zero, np.ones(n), *room)
    assert abs(found) == pytest.approx(abs(np.linalg.det(whole)), rel=1e-9)
    mirrored = solve_chain(G, g, rows[::-1].copy(), scalars[::-1].copy(), *zero, np.ones(n), *room)
    assert mirrored == pytest.approx(-found, rel=1e-9)


def test_determinants_vary_as_smoothly_as_orbits(skate_branch):
    """So that a step onto another branch is seen: none jumps, along two folds and many meshes."""
    determinants = np.array([orbit.point.determinant for orbit in skate_branch])[1:]
    assert np.abs(np.diff(np.log(np.abs(determinants)))).max() < 1.5


def test_orbits_are_carried_to_finer_meshes_without_error(skate_branch):
    """Velocities, whose polynomials are the unknowns; positions follow to the order of the mesh."""
    (orbit,) = skate_branch.at(90)
    c, cycle, s = orbit.problem.collocation, orbit.point.cycle, np.linspace(0, 1, 200)
    finer = Mesh(np.sort(np.concatenate([cycle.mesh.at, cycle.mesh.points(np.array([0.3, 0.8]))])))
    carried = c.carried(cycle, c.slopes(cycle), finer)
    before, after = (c.interpolate(each, c.slopes(each), s) for each in (cycle, carried))
    rows = c.equations.rows
    assert np.abs(after - before)[:, rows].max() < 1e-13 * np.abs(before).max()
    assert np.abs(after - before).max() < 1e-8 * np.abs(before).max()


def test_meshes_are_as_fine_as_the_accuracy_needs(skate_hopf, skate_branch):
    """An adapted mesh needs few intervals; errors that Newton's method leaves do not make it finer."""
    rough = skate_hopf.orbits(to=100, accuracy=1e-4)
    assert max(orbit.point.cycle.intervals for orbit in rough) < 25
    assert max(orbit.mesh_error for orbit in rough) <= 1e-4
    assert rough[-1].period == pytest.approx(skate_branch[-1].period, rel=1e-7)
    assert max(orbit.point.cycle.intervals for orbit in skate_branch) < 75


def test_gauss_points_integrate_polynomials():
    rule = gauss(6)
    assert rule.A @ rule.c**4 == pytest.approx(rule.c**5 / 5, abs=1e-15)
    assert rule.b @ rule.c**11 == pytest.approx(1 / 12, abs=1e-15)
    assert rule.highest @ rule.c**5 == pytest.approx(120, rel=1e-10)


def test_errors_shrink_with_the_accuracy_asked_for(skate_hopf):
    periods = [skate_hopf.orbits(to=80, accuracy=each)[-1].period for each in (1e-5, 1e-12)]
    assert abs(periods[0] - 6.1374931640620) < 1e-4
    assert abs(periods[1] - 6.1374931640620) < 1e-12


def test_results_do_not_depend_on_units(control, skate_hopf, skate_branch):
    """The same branch with one state and the load in other units."""
    alpha, k = sm.symbols("alpha"), 1000
    scaled = pfaff.ode({x: y * k, y: z, z: -alpha * z / k - y - x / k + x**2 / k}, {alpha: 2000}, load=alpha)
    branch = scaled.at().hopf(to=500).orbits(to=550)
    original = control.at().hopf(to=0.5).orbits(to=0.55)
    assert len(branch) == len(original)
    assert branch.special[0].value == pytest.approx(1000 * original.special[0].value, rel=1e-8)


def test_save_load_and_extend(tmp_path, skate_hopf, skate_branch):
    short = skate_hopf.orbits(to=85)
    loaded = pfaff.load_branch(short.save(tmp_path / "branch.nc"), skate_hopf.case)
    assert loaded.periods == pytest.approx(short.periods, rel=1e-12)
    assert loaded[-1].multipliers == pytest.approx(short[-1].multipliers, abs=1e-10)
    longer = loaded.extend(to=90)
    assert longer[-1].period == pytest.approx(8.1622207239541, abs=1e-12)
    assert [s.kind for s in longer.special] == ["fold", "fold"]
    assert longer.values[: len(short)] == pytest.approx(short.values)
    again = pfaff.load_branch(longer.save(tmp_path / "longer.nc"), skate_hopf.case)
    assert [s.value for s in again.special] == pytest.approx([s.value for s in longer.special], abs=1e-8)
    data = longer.to_xarray()
    assert data.sizes["point"] == len(longer)
    assert float(data["amplitude_theta1"][-1]) == longer[-1].amplitude["theta1"]
    with pytest.raises(ParameterError, match="not of"):
        pfaff.load_branch(tmp_path / "branch.nc", lorenz().at())
    with pytest.raises(ParameterError, match="cannot read"):
        pfaff.load_branch(tmp_path / "none.nc", skate_hopf.case)


def test_interruption_keeps_the_branch(skate_hopf):
    seen = []

    def impatient(point):
        seen.append(point)
        if len(seen) == 5:
            raise KeyboardInterrupt

    branch = skate_hopf.orbits(to=100, progress=impatient)
    assert len(branch) == 6
    assert "interrupted" in branch.status
    assert branch[-1] is seen[-1]


def test_a_branch_says_why_it_ends(skate_hopf):
    assert "after 10 points" in skate_hopf.orbits(to=100, points=10).status
    mu = sm.Symbol("mu", real=True)
    ode = pfaff.ode({x: y, y: -x * sm.sqrt(1 - x**2) + (mu - x**2) * y}, {mu: -1}, load=mu)
    branch = ode.at().hopf(to=1).orbits(to=1, accuracy=1e-5)
    assert branch.ended.startswith(("no orbit beyond", "stopped at"))
    assert "not finite" in branch.ended
    assert branch[-1].amplitude["x"] == pytest.approx(1, abs=1e-3)  # where the root ends


def turning_sleigh():
    """A blade whose heading is held by a spring and swings beyond a right angle, where the rate of y is no longer
    determined by that of x."""
    X, Y, heading = coordinates("x y theta")
    drive = sm.Symbol("mu", real=True)
    v, w, turn = X.diff(TIME), Y.diff(TIME), heading.diff(TIME)
    return pfaff.System(
        name="turning sleigh",
        coordinates=[X, Y, heading],
        kinetic=(v**2 + w**2 + turn**2) / 2,
        potential=heading**2 / 2,
        forces={
            X: turn * sm.cos(heading) - heading**2 - v,
            Y: turn * sm.sin(heading) - w,
            heading: (drive - sm.Rational(1, 20) - heading**2 / 10) * turn,
        },
        nonholonomic_constraints=[w * sm.cos(heading) - v * sm.sin(heading)],
        parameters={drive: 0},
        load="mu",
    )


def heading_alone(drive):
    """Period and amplitude of θ̈ + θ = (μ − 1/20 − θ²/10) θ̇, by integration from one maximum to the next."""
    from scipy.integrate import solve_ivp

    def rate(t, u):
        return [u[1], (drive - 0.05 - u[0] ** 2 / 10) * u[1] - u[0]]

    def top(t, u):
        return u[1]

    top.direction = -1
    settled = solve_ivp(rate, (0, 400), [1.5, 0.0], method="DOP853", events=top, rtol=1e-12, atol=1e-13)
    return np.diff(settled.t_events[0])[-1], settled.y_events[0][-1][0]


def test_plots(skate_branch):
    assert len(skate_branch.plot().axes) == 2
    assert len(skate_branch.plot("theta2").axes) == 2
    assert len(skate_branch[3].plot().axes) == 3
    with pytest.raises(ParameterError, match="theta2"):
        skate_branch.plot("theta")
    with pytest.raises(ParameterError, match="no state"):
        skate_branch[3].orbit["foo"]


def test_orbits_close_and_obey_the_equations(skate_branch):
    orbit = skate_branch.at(90)[0]
    times, states = orbit.orbit.t, orbit.orbit.x
    assert times[-1] == pytest.approx(orbit.period)
    assert states[:, -1] == pytest.approx(states[:, 0], abs=1e-14)
    assert orbit.orbit["theta1"].max() == pytest.approx(orbit.amplitude["theta1"], rel=1e-4)


def test_questions_without_an_answer(skate_hopf, skate_branch, control):
    with pytest.raises(ParameterError, match="is where the branch starts"):
        skate_hopf.orbits(to=skate_hopf.value)
    with pytest.raises(ParameterError, match="finite"):
        skate_hopf.orbits(to=np.inf)
    with pytest.raises(ParameterError, match="accuracy"):
        skate_hopf.orbits(to=80, accuracy=0)
    with pytest.raises(ParameterError, match="step"):
        skate_hopf.orbits(to=80, step=0)
    with pytest.raises(ParameterError, match="no orbit at F = 70"):
        skate_branch.at(70)
    with pytest.raises(ParameterError, match="no branch of orbits crosses at a fold"):
        skate_branch.special[0].switch(to=90)
    t = np.linspace(0, 10, 101)
    with pytest.raises(ParameterError, match="at rest"):
        control.at().orbit(Sampled(t, x=0 * t, y=0 * t, z=0 * t))
    with pytest.raises(ConvergenceError, match="does not come back"):
        control.at().orbit(Sampled(t, x=t, y=t, z=t))


def test_no_branch_where_the_oscillation_moves_along_a_line_of_equilibria():
    s = sm.Symbol("s")
    mu = sm.Symbol("mu", real=True)
    square = x**2 + y**2
    ode = pfaff.ode({x: (mu + s) * x - y, y: x + (mu + s) * y, s: -square}, {mu: -1}, load=mu)
    hopf = ode.at().hopf(to=1)
    with pytest.raises(NoBifurcationError, match="line of equilibria"):
        hopf.orbits(to=1)


def test_an_orbit_from_a_coarsely_sampled_motion_has_its_least_period(skate):
    """Samples may make two rounds look nearer than one."""
    case = skate.at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5, F=1.1 * 76.3379703896335)
    for samples in (6001, 4001, 3001):
        motion = case.simulate(600, samples=samples, theta1_dot=0.01, theta2_dot=0.01)
        assert case.orbit(motion).period == pytest.approx(6.2503299589458, rel=1e-11)


@cache
def van_der_pol(eps=0):
    mu, forced = sm.symbols("mu eps", real=True)
    return pfaff.ode({x: y, y: mu * y - x - x**2 * y + forced * x**2}, {mu: -1, forced: eps}, load=mu)


def test_symmetry_is_not_imposed_where_the_load_breaks_it():
    """The field is odd at the Hopf point only; the periods are those of a Runge-Kutta integration of order 8."""
    mu = sm.Symbol("mu", real=True)
    r2 = x**2 + y**2
    field = {x: mu * x - y - x * r2 + mu * x**2, y: x + mu * y - y * r2 + 2 * mu * x * y + mu * x**2}
    (orbit,) = pfaff.ode(field, {mu: -1}, load=mu).at().hopf(to=1).orbits(to=0.5).at(0.4)
    assert not orbit.symmetric
    assert orbit.period == pytest.approx(6.326729026, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-8, 1e12])
def test_symmetry_is_seen_in_any_units(unit):
    """The product of the states is not odd; at states much larger or smaller than the orbits other terms hide it."""
    load = sm.Symbol("m", real=True)

    def last(unit, product):
        X, Y = x / unit, y / unit
        growth = load - (X**2 + Y**2) ** 2 - (X**2 + Y**2)
        field = {x: unit * (growth * X - Y + product * X * Y), y: unit * (X + growth * Y)}
        return pfaff.ode(field, {load: -1}, load=load).at().hopf().orbits(to=0.5)[-1]

    even, odd = last(unit, 1), last(unit, 0)
    assert odd.symmetric
    assert odd.amplitude["x"] / unit == pytest.approx(np.sqrt((np.sqrt(3) - 1) / 2), rel=1e-6)
    assert not even.symmetric
    assert even.amplitude["x"] / unit == pytest.approx(last(1, 1).amplitude["x"], rel=1e-9)


def test_symmetry_ends_with_a_parameter_that_breaks_it():
    (orbit,) = van_der_pol().at().hopf(to=1).orbits(to=1).at(0.9)
    assert orbit.symmetric
    (other,) = orbit.orbits(to=0.2, load="eps").at(0.15)
    assert not other.symmetric
    assert other.period == pytest.approx(6.889232, abs=1e-6)
    assert np.abs(shooting(other)[0]).max() < 1e-9


def test_a_symmetric_branch_ends_where_the_field_is_odd_no_longer():
    """Values of the load at random do not see a narrow bump."""
    mu = sm.Symbol("mu", real=True)
    r2 = x**2 + y**2
    bump = sm.exp(-((100 * (mu - sm.Rational(2, 5))) ** 2))
    ode = pfaff.ode({x: mu * x - y - x * r2 + bump * x**2, y: x + mu * y - y * r2}, {mu: -1}, load=mu)
    branch = ode.at().hopf(to=1).orbits(to=0.5, step=0.02)
    assert branch[0].symmetric
    assert branch.values[-1] < 0.4
    assert "not odd" in branch.ended


def test_an_odd_field_is_odd_to_the_last_bit_along_an_orbit(skate_hopf, monkeypatch):
    """Rounding must not look like a broken symmetry: a state and its image are evaluated by the same instructions."""
    defects = []
    measured = collocation.defect_of_oddness
    monkeypatch.setattr(
        collocation, "defect_of_oddness", lambda *given: defects.append(measured(*given)) or defects[-1]
    )
    skate_hopf.orbits(to=80)
    assert len(defects) > 5
    assert max(defects) == 0


def test_a_branch_is_loaded_with_the_case_it_was_computed_for(tmp_path):
    path = van_der_pol(eps=0.5).at().hopf(to=1).orbits(to=0.5).save(tmp_path / "branch.nc")
    assert pfaff.load_branch(path, van_der_pol(eps=0).at(eps="1/2", mu=7))[-1].value == pytest.approx(0.5)
    with pytest.raises(ParameterError, match=r"computed with eps = 0.5, not 0.51: give that case"):
        pfaff.load_branch(path, van_der_pol().at(eps=0.51))


def test_stored_orbits_of_other_equations_are_refused(tmp_path):
    path = van_der_pol().at().hopf(to=1).orbits(to=0.5).save(tmp_path / "branch.nc")
    mu, eps = sm.symbols("mu eps", real=True)
    other = pfaff.ode({x: y, y: mu * y - 1.02 * x - x**2 * y + eps * x**2}, {mu: -1, eps: 0}, load=mu)
    with pytest.raises(ParameterError, match="does not belong to this case"):
        pfaff.load_branch(path, other.at())


def bent_branch_point(power):
    """The circle r² = μ with a line u = −bent x² that it loses at μ = 1."""
    mu, u = sm.symbols("mu u", real=True)
    w = u + sm.Rational(3, 10) * x**2
    radial = mu + w / 5 - x**2 - y**2
    rates = {x: radial * x - y, y: x + radial * y}
    ode = pfaff.ode(rates | {u: (mu - 1) * w - w**power - sm.Rational(3, 5) * x * rates[x]}, {mu: -1}, load=mu)
    return ode.at().hopf(to=1).orbits(to=2)


@pytest.mark.parametrize("step", [0.1, 0.3, 1.0])
def test_a_branch_point_whose_equation_is_apart_is_located(step):
    """The equation for u has no part in the others."""
    mu, u = sm.symbols("mu u", real=True)
    r2 = x**2 + y**2
    ode = pfaff.ode({x: mu * x - y - x * r2, y: x + mu * y - y * r2, u: (mu - 1) * u - u**2}, {mu: -1}, load=mu)
    (found,) = ode.at().hopf(to=1).orbits(to=2, step=step).special
    assert (found.kind, found.note) == ("branch point", "")
    assert found.value == pytest.approx(1, abs=1e-9)
    assert np.sort(np.abs(found.multipliers - 1))[1] < 1e-8


@pytest.mark.parametrize("power", [2, 3])
def test_branch_points_near_which_newtons_method_fails_are_located(power, tmp_path):
    branch = bent_branch_point(power)
    (found,) = branch.special
    assert (found.kind, found.note) == ("branch point", "")
    assert found.value == pytest.approx(1, abs=1e-10)
    assert found.period == pytest.approx(2 * np.pi, abs=1e-10)
    assert np.sort(np.abs(found.multipliers - 1))[1] < 1e-6
    (again,) = pfaff.load_branch(branch.save(tmp_path / "branch.nc"), branch.problem.case).special
    assert again.value == pytest.approx(found.value, abs=1e-7)


@pytest.mark.parametrize(("start", "to"), [(-0.5, 0.5), (-0.3, 5)])
def test_cycles_that_exchange_their_stability_do_so_where_they_meet(start, to):
    """r² = 1 and r² = 1 + μ meet at μ = 0, where Newton's method is singular along both."""
    mu = sm.Symbol("mu", real=True)
    excess = x**2 + y**2 - 1
    (found,) = circles(-excess * (excess - mu), 1.05, mu, start).orbits(to=to).special
    assert (found.kind, found.note) == ("branch point", "")
    assert found.value == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("to", [0.5, -0.5])
def test_the_arm_at_a_branch_point_is_the_one_towards_the_value_asked_for(to):
    """r = 1 beside ż = (μ + x) z − z²: orbits with a mean of z equal to μ cross z = 0 at μ = 0."""
    mu = sm.Symbol("mu", real=True)
    growth = 1 - x**2 - y**2
    ode = pfaff.ode({x: growth * x - y, y: growth * y + x, z: (mu + x) * z - z**2}, {mu: -0.3}, load=mu)
    (crossing,) = ode.at().orbit(ode.at().simulate(80, x=1.02)).orbits(to=0.5).special
    arm = crossing.switch(to=to)
    assert arm.ended == f"reached {to:g}"
    orbit = arm[-1].orbit
    assert np.trapezoid(orbit["z"], orbit.t) / arm[-1].period == pytest.approx(to, rel=1e-3)


def test_a_multiple_branch_point_outranks_others_of_its_kind():
    """Three oscillators in a ring, in phase: two multipliers, equal by symmetry, are 1 at μ = 3/8."""
    mu = sm.Symbol("mu", real=True)
    rows = [sm.symbols(f"a{i} b{i}", real=True) for i in range(3)]
    equations = {}
    for i, (a, b) in enumerate(rows):
        next_a, next_b = (rows[i - 1][k] + rows[i - 2][k] for k in range(2))
        growth = mu - a**2 - b**2
        equations |= {a: growth * a - b + (2 * a - next_a) / 4, b: growth * b + a + (2 * b - next_b) / 4}
    (found,) = pfaff.ode(equations, {mu: -2}, load=mu).at().hopf(to=1, near=0.0).orbits(to=1).special
    assert found.kind == "multiple branch point"
    assert found.value == pytest.approx(0.375, abs=1e-9)


def test_a_branch_point_without_its_multiplier_is_not_called_located(monkeypatch):
    monkeypatch.setattr("pfaff.bifurcation.orbits.special_orbits.AT_ONE", 0.0)
    branch = bent_branch_point(2)
    assert branch.special[0].note.startswith("not located")
    assert "not located" in branch.status


def test_cycles_on_the_other_side_are_not_said_to_be_reached(skate_hopf):
    kept = skate_hopf.orbits(to=70)
    assert re.search(r"cycles exist above F = 76\.33.*, away from to=70", kept.ended)
    assert len(kept) > 3
    mu = sm.Symbol("mu", real=True)
    r2 = x**2 + y**2
    radial = mu + 2 * r2 - r2**2  # subcritical at 0, a fold at −1
    ode = pfaff.ode({x: radial * x - y, y: x + radial * y}, {mu: -2}, load=mu)
    hopf = ode.at().hopf(to=1)
    assert hopf.orbits(to=1.5).ended == "reached 1.5"
    assert re.search(r"cycles exist below mu = .*, away from to=0.5", hopf.orbits(to=0.5).ended)
    (large,) = hopf.orbits(to=1.5).at(-0.9)[-1:]
    back = large.orbits(to=-1.5)
    assert "away from to=-1.5" in back.ended
    assert back.of_kind("fold")[0].value == pytest.approx(-1, abs=1e-9)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"to": 1, "points": 0}, "points=0: give a whole number"),
        ({"to": 1, "points": 2.5}, "points=2.5 is no whole number"),
        ({"to": 1, "accuracy": 1e-20}, "accuracy=1e-20: give a number between 1e-14"),
        ({"to": 1, "accuracy": "high"}, "accuracy='high' is not a number: give a number between 1e-14"),
        ({"to": 1, "step": None}, "step=None: give the largest step as a share"),
        ({"to": "abc"}, "mu: to='abc' is not a number"),
        ({"to": None}, "how far\\? Give the last value of mu"),
        ({"to": np.nan}, "to=nan is not finite"),
    ],
)
def test_what_cannot_be_asked_of_a_branch(asked, words):
    with pytest.raises(ParameterError, match=words):
        van_der_pol().at().hopf(to=1).orbits(**asked)


def test_what_cannot_be_asked_of_orbits():
    branch = van_der_pol().at().hopf(to=1).orbits(to=0.2)
    for value in ("x", None, np.nan):
        with pytest.raises(ParameterError, match="give a finite value of mu"):
            branch.at(value)
    with pytest.raises(ParameterError, match="to='abc' is not a number"):
        branch[-1].orbits(to="abc", load="eps")
    with pytest.raises(ParameterError, match="how far"):
        branch.extend(to=None)


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ({"x": np.ones(50)}, "no state y: give all of x, y"),
        ({"x": np.ones(50), "y": np.ones(49)}, "y of the motion has 49 values, t has 50"),
        ({"x": np.ones(50), "y": np.full(50, np.nan)}, "y of the motion is not a row of finite numbers"),
        ({"x": np.ones(50), "y": "abc"}, "y of the motion must be numbers, not text"),
    ],
)
def test_what_is_no_motion(states, words):
    case = van_der_pol().at(mu=0.5)
    with pytest.raises(ParameterError, match=words):
        case.orbit(Sampled(np.linspace(0, 10, 50), **states))
    with pytest.raises(ParameterError, match=r"\[1.0, 2.0\] is no motion"):
        case.orbit([1.0, 2.0])
    with pytest.raises(ParameterError, match="times that increase"):
        case.orbit(Sampled(np.zeros(50), x=np.ones(50), y=np.ones(50)))


def test_a_state_that_is_still_on_the_orbit_does_not_shorten_the_steps():
    """z = μ on the circle r² = 1 − μ: z moves along the branch alone."""
    mu = sm.Symbol("mu", real=True)
    ode = pfaff.ode({x: (z - mu) * x - y, y: x + (z - mu) * y, z: 1 - z - x**2 - y**2}, {mu: 2}, load=mu)
    branch = ode.at().hopf(to=0.5).orbits(to=0.5)
    assert branch.ended == "reached 0.5"
    assert len(branch) < 40
    assert branch[-1].amplitude["x"] == pytest.approx(np.sqrt(0.5), rel=1e-6)
    assert branch[-1].orbit["z"] == pytest.approx(0.5, abs=1e-10)


@pytest.mark.parametrize("kind", ["torus", "period doubling"])
@pytest.mark.parametrize("apart", [0.1, 0.2])
def test_two_special_points_in_one_step_are_found(kind, apart):
    """About the unit circle u, v grow at the rate a = (μ − 1)² − δ²/4, as a pair or along the half angle."""
    mu, u, v = sm.symbols("mu u v", real=True)
    a, r2, s2 = (mu - 1) ** 2 - sm.Float(apart) ** 2 / 4, x**2 + y**2, u**2 + v**2
    pair = {u: a * u - sm.sqrt(2) * v - u * s2, v: sm.sqrt(2) * u + a * v - v * s2}
    turning = {u: (a - 0.5) * u + (x * u + y * v - v) / 2 - u**3, v: (a - 0.5) * v + (y * u - x * v + u) / 2 - v**3}
    equations = {x: x * (1 - r2) - y, y: x + y * (1 - r2)} | (pair if kind == "torus" else turning)
    t = np.linspace(0, 20, 2000)
    motion = Sampled(t, x=np.cos(t), y=np.sin(t), u=0 * t, v=0 * t)
    branch = pfaff.ode(equations, {mu: 0}, load=mu).at().orbit(motion).orbits(to=2, step=0.3)
    values = np.array([point.value for point in branch])
    assert np.diff(values)[np.searchsorted(values, 1.0) - 1] > 2 * apart  # both in one step
    assert [each.kind for each in branch.special] == [kind, kind]
    assert [each.value for each in branch.special] == pytest.approx([1 - apart / 2, 1 + apart / 2], abs=1e-8)


def beside_circles(**others):
    """Circles r² = μ + 1, with what happens beside them."""
    mu = sm.Symbol("mu", real=True)
    r2 = x**2 + y**2
    rates = {sm.Symbol(name, real=True): rate for name, rate in others.items()}
    ode = pfaff.ode({x: (mu + 1 - r2) * x - y, y: x + (mu + 1 - r2) * y} | rates, {mu: "-3/2"}, load=mu)
    return ode.at().hopf(to=0)


@pytest.mark.parametrize("to", [0.55, 0.8])
def test_two_special_points_in_the_last_step_are_found(to):
    """A pair grows at the rate 1e-4 − (μ − 1/2)²."""
    mu, u, v = sm.symbols("mu u v", real=True)
    a, w = 1e-4 - (mu - 0.5) ** 2, 1.4142135
    branch = beside_circles(u=a * u - w * v, v=w * u + a * v - v**3).orbits(to=to)
    assert [each.kind for each in branch.special] == ["torus", "torus"]
    assert [each.value for each in branch.special] == pytest.approx([0.49, 0.51], abs=1e-8)


def test_multipliers_that_cross_together_are_one_multiple_point():
    """Two real ones or two pairs at μ = 3/10; two real ones at 3/10 and 7/20 are two branch points."""
    mu, u, v, p, q = sm.symbols("mu u v p q", real=True)
    a = mu - sm.Rational(3, 10)
    real = beside_circles(u=a * u - u**2, v=a * v - v**2).orbits(to=1)
    assert [each.kind for each in real.special] == ["multiple branch point"]
    assert real.special[0].value == pytest.approx(0.3, abs=1e-8)
    pairs = {"u": a * u - 1.41 * v - u**3, "v": 1.41 * u + a * v, "p": a * p - 2.23 * q - p**3, "q": 2.23 * p + a * q}
    tori = beside_circles(**pairs).orbits(to=1)
    assert [each.kind for each in tori.special] == ["multiple torus"]
    assert tori.special[0].value == pytest.approx(0.3, abs=1e-8)
    assert tori.ended == "reached 1"
    apart = beside_circles(u=a * u - u**2, v=(a - sm.Rational(1, 20)) * v - v**2).orbits(to=1)
    assert [each.kind for each in apart.special] == ["branch point", "branch point"]
    assert [each.value for each in apart.special] == pytest.approx([0.3, 0.35], abs=1e-8)


def test_a_motion_that_conserves_a_momentum_is_refused_by_name():
    case = rotor().at(d=0.5)
    with pytest.raises(ConvergenceError, match="one of a family of orbits at d = 0.5, as where energy or a momentum"):
        case.orbit(case.simulate(60, q=0.3, psi_dot=1.0))


@pytest.mark.parametrize("stiffness", [10, 20])
def test_an_orbit_from_the_motion_of_a_relaxation_oscillator(stiffness):
    """Van der Pol's equation, sampled more coarsely than it jumps; its period by SciPy, between two crossings."""
    from scipy.integrate import solve_ivp

    def rate(t, u):
        return [u[1], stiffness * (1 - u[0] ** 2) * u[1] - u[0]]

    def crossing(t, u):
        return u[0]

    crossing.direction = 1
    crossings = solve_ivp(rate, (0, 150), [2.0, 0.0], "LSODA", events=crossing, rtol=1e-11, atol=1e-12).t_events[0]
    strength = sm.Symbol("k", real=True)
    case = pfaff.ode({x: y, y: strength * (1 - x**2) * y - x}, {strength: stiffness}, load=strength).at()
    for duration in (150, 163, 169.2):
        orbit = case.orbit(case.simulate(duration, x=0.9))
        assert orbit.period == pytest.approx(np.diff(crossings)[-1], rel=1e-7)
        assert orbit.symmetric
        assert orbit.stable


@pytest.mark.parametrize("nonlinear", [lambda x: sm.sin(x), lambda x: x - x**2])
def test_a_motion_that_conserves_energy_is_refused_by_name(nonlinear):
    """Its orbits are a family: every energy has one."""
    g = sm.Symbol("g")
    ode = pfaff.ode({x: y, y: -g * nonlinear(x)}, {g: 1}, load=g)
    with pytest.raises(ConvergenceError, match="one of a family of orbits at g = 1"):
        ode.at().orbit(integrated(ode, {}, [0.4, 0], 40))


def test_arrays_of_a_branch_that_nobody_holds_are_freed_at_once(skate_hopf, monkeypatch):
    """They take megabytes, and many continuations are made on a curve: none may wait until garbage is looked for."""
    made, begin = [], Orbits.__init__

    def noted(self, continuation, *more):
        made.append(weakref.ref(continuation))
        begin(self, continuation, *more)

    monkeypatch.setattr(Orbits, "__init__", noted)
    gc.collect()
    gc.disable()
    try:
        branch = skate_hopf.orbits(to=CRITICAL + 2, points=4)
        assert made
        del branch
        assert not any(each() for each in made)
    finally:
        gc.enable()


# Roots of costly functions


def test_a_root_is_where_a_function_vanishes():
    rng = np.random.default_rng(1)
    shapes = [np.sinh, np.tanh, np.expm1, np.arctan, lambda t: t / np.sqrt(1 + abs(t))]
    for shape, power, _ in product(shapes, (1, 1 / 3, 3), range(20)):
        root, steep, sign = rng.uniform(0.01, 0.99), 10 ** rng.uniform(-1, 2.4), rng.choice([-1, 1])

        def function(at, shape=shape, power=power, root=root, steep=steep, sign=sign):
            value = shape(steep * (at - root))
            return sign * np.sign(value) * abs(value) ** power

        assert bracketed_root(function, 0.0, 1.0, 1e-11) == pytest.approx(root, abs=1.1e-11)
    assert bracketed_root(lambda at: np.exp(500 * at) - np.exp(150), 0.0, 1.0, 1e-11) == pytest.approx(0.3, abs=1e-11)
    assert bracketed_root(lambda at: (at - 0.3) ** 3, 0.0, 1.0, 1e-11) == pytest.approx(0.3, abs=1e-11)


def test_a_smooth_function_is_evaluated_a_few_times_only():
    places = []

    def function(at):
        places.append(at)
        return np.cos(at) - at

    assert bracketed_root(function, 0.0, 1.0, 1e-11) == pytest.approx(0.7390851332151607, abs=1e-11)
    assert len(places) <= 7
    assert bracketed_root(function, 0.0, 1.0, 1e-11) in places


def test_unresolved_orbits_are_counted_and_a_branch_needs_an_end_elsewhere():
    """Canards of FitzHugh and Nagumo's neuron, whose multipliers rounding hides."""
    v, w, I = sm.symbols("v w I", real=True)
    neuron = pfaff.ode(
        {v: v - v**3 / 3 - w + I, w: sm.Rational(6, 100) * (v + sm.Rational(7, 10) - sm.Rational(8, 10) * w)},
        {I: 0},
        load=I,
    )
    hopf = neuron.at().hopf(to=2)
    branch = hopf.orbits(to=1)
    hidden = sum(not each.resolved for each in branch)
    assert hidden > 0
    assert f"the stability of {hidden} not resolved" in branch.status
    with pytest.raises(ParameterError, match="where the branch starts"):
        hopf.orbits(to=hopf.value * (1 + 1e-14))


@pytest.mark.parametrize("to", [2, 1.5])
def test_folds_on_canard_explosions_are_told_from_both_sides(to):
    """FitzHugh and Nagumo's equations, ε = 0.06: the load turns where 15 digits do not tell its orbits apart. The
    symmetry v, w, I → −v, 7/4 − w, 7/4 − I carries one fold into the other."""
    v, w, I = sm.symbols("v w I")
    equations = {v: v - v**3 / 3 - w + I, w: sm.Rational(6, 100) * (v + sm.Rational(7, 10) - sm.Rational(8, 10) * w)}
    branch = pfaff.ode(equations, {I: 0}, load=I).at().hopf(to=2).orbits(to=to)
    folds = branch.of_kind("fold")
    assert [each.kind for each in branch.special] == ["fold", "fold"]
    assert folds[0].value == pytest.approx(branch.values.min(), abs=1e-15)
    assert folds[1].value == pytest.approx(branch.values.max(), abs=1e-15)
    assert folds[0].value + folds[1].value == pytest.approx(1.75, abs=1e-14)
    assert all("rounding hides" in each.note for each in folds)
    first, second = (next(k for k, each in enumerate(branch) if each.point is fold.point) for fold in folds)
    for k, each in enumerate(branch):
        assert not each.resolved or each.stable == (first < k < second)


def test_folds_on_canards_are_told_where_a_branch_is_cut():
    v, w, I = sm.symbols("v w I")
    equations = {v: v - v**3 / 3 - w + I, w: sm.Rational(1, 25) * (v + sm.Rational(7, 10) - sm.Rational(8, 10) * w)}
    hopf = pfaff.ode(equations, {I: 0}, load=I).at().hopf(to=2)
    whole = hopf.orbits(to=2)
    cut = next(k for k, each in enumerate(whole) if not each.resolved) + 3
    parts = hopf.orbits(to=2, points=cut).extend(to=2)
    assert [each.kind for each in parts.special] == [each.kind for each in whole.special] == ["fold", "fold"]
    assert [each.value for each in parts.special] == pytest.approx([each.value for each in whole.special], abs=1e-13)


def test_an_error_that_is_no_number_stays_so_and_an_end_that_was_reached_is_on_the_branch():
    x, y, mu = sm.symbols("x y mu", real=True)
    case = pfaff.ode({x: y, y: mu * (1 - x**2) * y - x}, {mu: 0.5}, load=mu).at()
    branch = case.orbit(case.simulate(80, x=1.0)).orbits(to=0.6)
    assert branch.at(0.6)[0].period == pytest.approx(branch[-1].period, rel=1e-12)
    point = branch[1].point
    collocation, K = branch[1].problem.collocation, point.cycle.K.copy()
    assert collocation.error_by(1.0, point.cycle, point.metric) < 1e-9
    for interval in (0, len(K) // 2, len(K) - 1):
        K[:] = point.cycle.K
        K[interval] = np.nan
        assert collocation.error_by(1.0, point.cycle._replace(K=K), point.metric) == 1.0
