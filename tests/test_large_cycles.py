"""Cycles of plain ODEs with hundreds of states, against closed forms, few states, SciPy and dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp

import pfaff
from pfaff.bifurcation.orbits import orbit_problem
from pfaff.bifurcation.orbits.many_states import sparse_chain
from pfaff.bifurcation.orbits.many_states.sparse_chain import minimal_residual
from pfaff.errors import ParameterError

A, D1, D2 = 1.0, 0.01, 0.02  # of the Brusselator
C1, C3 = 2.0, -1.2  # of Ginzburg and Landau's equation
x, y, z = sm.symbols("x y z", real=True)


def differences(w, k):
    """To both neighbours; nothing flows through the ends."""
    return (w[k - 1] - w[k] if k else 0) + (w[k + 1] - w[k] if k < len(w) - 1 else 0)


def waves(cells, length, k):
    """Of −w″ on the same cells, the k-th."""
    return (2 * cells / length * np.sin(k * np.pi / (2 * cells))) ** 2


def brusselator(cells, clock=1.0):
    """On a line of unit length: the cells may oscillate together, as one does."""
    u, v = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")
    B, h = sm.Symbol("B", positive=True), 1 / cells
    rates = {u[k]: A - (B + 1) * u[k] + u[k] ** 2 * v[k] + D1 / h**2 * differences(u, k) for k in range(cells)}
    rates |= {v[k]: B * u[k] - u[k] ** 2 * v[k] + D2 / h**2 * differences(v, k) for k in range(cells)}
    return pfaff.ode({each: clock * rate for each, rate in rates.items()}, {B: 2.3}, B).at()


def ginzburg_landau(cells, length):
    """ẇ = (μ + i) w − (1 + i c₃)|w|² w + (1 + i c₁) w″ in real and imaginary parts."""
    p, q = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "pq")
    mu, h = sm.Symbol("mu", real=True), length / cells
    rates = {}
    for k in range(cells):
        square, by_p, by_q = p[k] ** 2 + q[k] ** 2, differences(p, k) / h**2, differences(q, k) / h**2
        rates[p[k]] = mu * p[k] - q[k] - square * (p[k] - C3 * q[k]) + by_p - C1 * by_q
        rates[q[k]] = mu * q[k] + p[k] - square * (q[k] + C3 * p[k]) + by_q + C1 * by_p
    return pfaff.ode(rates, {mu: -0.5}, mu)


@pytest.fixture(scope="module")
def one_cell():
    """The orbit of two states at B = 2.3."""
    case = brusselator(1)
    return case.orbit(case.simulate(200, u1=1.5, v1=2.0))


def together(orbit, cells, clock=1.0):
    """That of all cells, as data near it."""
    names = {f"{name}{k + 1}": orbit.orbit[f"{name}1"] for name in "uv" for k in range(cells)}
    return brusselator(cells, clock).orbit(t=orbit.orbit.t / clock, **names)


def by_waves(orbit, cells, count):
    """Multipliers of disturbances with the first waves, by integration of two states and their variations."""
    found, B = [], 2.3
    for k in range(count):
        wave = waves(cells, 1.0, k)

        def rates(_, s, wave=wave):
            u, v, V = s[0], s[1], s[2:].reshape(2, 2)
            J = np.array([[2 * u * v - B - 1 - D1 * wave, u * u], [B - 2 * u * v, -u * u - D2 * wave]])
            return np.r_[A - (B + 1) * u + u * u * v, B * u - u * u * v, (J @ V).ravel()]

        start = np.r_[orbit.orbit["u1"][0], orbit.orbit["v1"][0], np.eye(2).ravel()]
        end = solve_ivp(rates, (0, orbit.period), start, "DOP853", rtol=1e-12, atol=1e-13).y[2:, -1]
        found += list(np.linalg.eigvals(end.reshape(2, 2)).astype(complex))
    return np.array(found)


def test_many_states_oscillate_as_two_do_in_any_unit_of_time(one_cell):
    cells, clock = 75, 1e3
    found = together(one_cell, cells, clock)
    assert len(found.case.system.state_names) == 150
    assert found.period == pytest.approx(one_cell.period / clock, rel=1e-11)
    assert found.amplitude["u37"] == pytest.approx(one_cell.amplitude["u1"], rel=1e-6)  # by samples
    assert found.stable
    expected = by_waves(one_cell, cells, 4)
    apart = [np.abs(expected - each).min() for each in found.multipliers if abs(each) > 1e-3]
    assert len(apart) >= 4
    assert max(apart) < 1e-9


def test_cycles_are_born_at_a_hopf_point_of_many_states():
    """|w|² = μ and ω = 1 − c₃ μ, whatever the cells; disturbances with a wave κ grow at the roots of a quadratic."""
    cells, length = 56, 3.0
    branch = ginzburg_landau(cells, length).at().hopf(to=0.5).orbits(to=0.02, step=0.3)
    assert branch.special == ()
    for point in branch:
        assert point.period == pytest.approx(2 * np.pi / (1 - C3 * point.value), rel=1e-11)
    mu, wave = branch[-1].value, waves(cells, length, 1)
    constant = wave**2 * (1 + C1**2) + 2 * mu * wave * (1 + C1 * C3)
    growth = np.roots([1, 2 * (mu + wave), constant])
    slowest = np.exp(growth[growth.real.argmax()] * branch[-1].period)
    assert np.abs(branch[-1].multipliers - slowest).min() < 1e-10


@pytest.fixture
def sparse_algebra(monkeypatch):
    """Few states by the algebra of many."""
    monkeypatch.setattr(orbit_problem, "is_sparse", lambda flow: True)


def test_a_wave_branches_off_where_benjamin_and_feir_have_it(sparse_algebra, monkeypatch):
    """Where 1 + c₁c₃ < 0, at μ = −κ(1 + c₁²)/(2(1 + c₁c₃)); by Arnoldi's method, as of many states."""
    monkeypatch.setattr(sparse_chain, "SMALL", 4)
    monkeypatch.setattr(sparse_chain, "FEWEST", 2)
    cells, length = 6, 3.0
    hopf = ginzburg_landau(cells, length).at().hopf(to=0.5)
    branch = hopf.orbits(to=2.2, step=0.3)
    (point,) = branch.special
    assert point.kind == "branch point"
    assert point.value == pytest.approx(-waves(cells, length, 1) * (1 + C1**2) / (2 * (1 + C1 * C3)), rel=1e-9)
    known = [len(each.multipliers) for each in branch]
    assert min(known) < max(known) == branch.to_xarray().sizes["multiplier"]
    wavy = point.switch(to=2.1)[-1]
    assert np.ptp([wavy.amplitude[f"p{k + 1}"] for k in range(cells)]) > 0.1
    assert wavy.value == 2.1


def test_a_torus_in_closed_form(sparse_algebra):
    """Langford's system: a cycle of radius r at z = β, and its multipliers leave the unit circle at r² = (α − β²)/ρ."""
    alpha, beta, rho = 0.95, 0.7, 0.25
    level, square = sm.Symbol("level", real=True), x**2 + y**2
    rates = {
        x: (z - beta) * x - 3.5 * y,
        y: 3.5 * x + (z - beta) * y,
        z: level + alpha * z - z**3 / 3 - square * (1 + rho * z),
    }
    branch = pfaff.ode(rates, {level: -0.3}, level).at().hopf(to=-0.6, z=0.33).orbits(to=2)
    (torus,) = branch.special
    assert torus.kind == "torus"
    r2 = (alpha - beta**2) / rho
    assert torus.value == pytest.approx(r2 * (1 + rho * beta) - alpha * beta + beta**3 / 3, abs=1e-9)


def test_a_fold_of_cycles_in_closed_form(sparse_algebra, tmp_path):
    """ṙ = μ r + r³ − r⁵ turns at μ = −1/4."""
    mu, square = sm.Symbol("mu", real=True), x**2 + y**2
    growth = mu + square - square**2
    case = pfaff.ode({x: growth * x - y, y: x + growth * y}, {mu: -0.5}, mu).at()
    branch = case.hopf(to=0.5).orbits(to=0.5, bounds=(-1, 0.5))
    (fold,) = branch.special
    assert (fold.kind, fold.value) == ("fold", pytest.approx(-0.25, abs=1e-9))
    assert [branch[0].stable, branch[-1].stable] == [False, True]
    again = pfaff.load(branch.save(tmp_path / "branch.nc"), case)
    assert again.status == branch.status
    assert again[-1].multipliers == pytest.approx(branch[-1].multipliers, abs=1e-8)
    for ask in (lambda: fold.normal_form, lambda: fold.curve("mu", to=1)):
        with pytest.raises(ParameterError):
            ask()


def test_period_doublings_are_those_of_dense_matrices(monkeypatch):
    """Rössler's, and the second one on the branch of twice the period."""
    c = sm.Symbol("c", real=True)
    case = pfaff.ode({x: -y - z, y: x + y / 5, z: sm.Rational(1, 5) + z * (x - c)}, {c: 2}, c).at()
    motion = case.simulate(300, x=1.0, y=0.0, z=0.0)
    found = []
    for sparse in (False, True):
        monkeypatch.setattr(orbit_problem, "is_sparse", lambda flow, sparse=sparse: sparse)
        (first,) = case.orbit(motion).orbits(to=4.5).special
        (second,) = first.switch(to=3.9).special
        found.append([first.value, first.period, second.value, second.period])
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_gmres_solves_to_rounding_and_ends_where_no_more_is_to_be_had():
    generator = np.random.default_rng(3)
    matrix = np.eye(30) - generator.normal(size=(30, 3)) @ generator.normal(size=(3, 30))
    right = generator.normal(size=30)
    solution, left = minimal_residual(lambda v: matrix @ v, right)
    assert solution == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9)
    assert left < 1e-11 * np.linalg.norm(right)
    null = np.eye(30) - np.outer(right, right) / (right @ right)
    _, left = minimal_residual(lambda v: null @ v, right)
    assert left == pytest.approx(np.linalg.norm(right))
