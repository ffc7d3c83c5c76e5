"""The first orbit at a Hopf point, and what lies close beside it, against normal forms in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.bifurcation.hopf.births import Birth
from pfaff.continuation.endings import Refused

x, y, z = sm.symbols("x y z")
mu, third, fifth, seventh = sm.symbols("mu third fifth seventh", real=True)
RANGES = (1e3, 1.0, 1e-3, -1e-3, -1.0, -1e3)


def growing(growth, X, Y):
    """ẋ, ẏ of ṙ = r growth(r²) and θ̇ = 1 + r²/3."""
    turn = 1 + (X**2 + Y**2) / 3
    return growth * X - turn * Y, turn * X + growth * Y


@pytest.fixture(scope="module")
def bent():
    """ṙ = r (μ + c1 r² + c2 r⁴ + c3 r⁶) in coordinates X = x, Y = y + 2x²/5 + 3x³/10."""
    Y = y + sm.Rational(2, 5) * x**2 + sm.Rational(3, 10) * x**3
    r2 = x**2 + Y**2
    f, g = growing(mu + third * r2 + fifth * r2**2 + seventh * r2**3, x, Y)
    rates = {x: f, y: g - sm.diff(Y, x) * f}
    return pfaff.ode(rates, {mu: -0.1, third: 0.1, fifth: -1, seventh: 0}, load=mu)


@pytest.fixture(scope="module")
def with_a_third_state():
    """The same growth beside w = z − x², which decays."""
    r2 = x**2 + y**2
    f, g = growing(mu + third * r2 + fifth * r2**2 + z - x**2, x, y)
    return pfaff.ode({x: f, y: g, z: 2 * x * f - (z - x**2)}, {mu: -0.1, third: 0.1, fifth: -1}, load=mu)


@pytest.mark.parametrize("name", ["bent", "with_a_third_state"])
@pytest.mark.parametrize("size", [1e-1, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_fold_of_cycles_beside_a_hopf_point_is_found_for_every_range(name, size, sign, request):
    """At μ = c1²/(4 c2), r² = −c1/(2 c2); the point is subcritical for c1 > 0, and cycles are first on that side."""
    hopf = request.getfixturevalue(name).at(third=sign * size, fifth=-sign).hopf(to=0.1)
    fold = -sign * size**2 / 4
    for to in (each for each in RANGES if abs(each) > abs(fold)):
        branch = hopf.orbits(to=to)
        assert branch[0].value * fold > 0
        assert branch[0].stable == (sign < 0)
        (found,) = branch.special
        assert found.kind == "fold"
        assert found.value == pytest.approx(fold, rel=1e-7, abs=1e-15)


def test_a_fold_that_the_seventh_order_makes_is_found(bent):
    """c1 r² + c3 r⁶ at r⁴ = −c1/(3 c3): c2 = 0 says nothing about it."""
    case = bent.at(third=1e-3, fifth=0, seventh=-1)
    r2 = np.sqrt(1e-3 / 3)
    for to in RANGES:
        (found,) = case.hopf(to=0.1).orbits(to=to).special
        assert found.value == pytest.approx(-1e-3 * r2 + r2**3, rel=1e-7)


def test_the_fold_is_found_along_another_parameter_than_the_load(bent):
    """A second parameter moves the pair by −1/2 of what the load does."""
    shift = sm.Symbol("shift", real=True)
    r2 = x**2 + y**2
    f, g = growing(mu - shift / 2 + third * r2 - r2**2, x, y)
    hopf = pfaff.ode({x: f, y: g}, {mu: -0.1, third: 1e-3, shift: 0}, load=mu).at().hopf(to=0.1)
    assert hopf.crossing_by("shift") == pytest.approx(-0.5)
    for to in (10.0, 1e-2, -10.0):
        (found,) = hopf.orbits(to=to, load="shift").special
        assert found.value == pytest.approx(2 * 1e-6 / 4, rel=1e-7)


@pytest.mark.parametrize("second", [1e-4, 1.0, 3e5])
def test_the_fold_is_all_that_is_found_whatever_the_unit_of_time(second):
    """q̈ + ω²q = (F + a q² − b q⁴) q̇: by averaging, the fold is at F = −a²/(8b)."""
    q = dynamicsymbols("q")
    drive, a, b, k = sm.symbols("F a b k", real=True)
    push = {q: (drive + a * q**2 - b * q**4) * q.diff()}
    numbers = {drive: 0, a: 1, b: 1, k: 1}
    system = pfaff.System([q], q.diff() ** 2 / 2, k * q**2 / 2, forces=push, parameters=numbers, load=drive)
    hopf = system.at(a=1e-5 * second, b=second, k=second**2).hopf(to=second / 10)
    for to in (0.3, 1e-3):
        branch = hopf.orbits(to=to * second)
        (found,) = branch.special
        assert found.kind == "fold"
        assert found.value == pytest.approx(-1e-10 / 8 * second, rel=1e-4)
        assert len(branch) < 80


@pytest.mark.parametrize("damping", [22.0, 22.1, 22.114])
def test_folds_near_the_generalised_hopf_point_of_the_column(skate, damping):
    """At c_i = 22.11404 the first Lyapunov coefficient vanishes: folds are Re c1²/(4 Re c2 Re λ') away."""
    hopf = skate.at(**XI_HAT, c_i=damping).hopf()
    away = hopf.c1.real**2 / (4 * hopf.c2.real * hopf.crossing.real)
    found = [hopf.orbits(to=to, points=25).of_kind("fold") for to in (1e4, 130, 119.6, 100)]
    assert [len(each) for each in found] == [1] * 4
    values = np.array([each.value for (each,) in found])
    assert np.ptp(values) < 1e-12 * hopf.value
    assert values - hopf.value == pytest.approx(away, rel=1e-3 + 4 * abs(hopf.l1 / hopf.l2))


@pytest.mark.parametrize("delay", [1e-2, 1e-4, 1e-7])
def test_other_modes_that_lose_their_stability_beside_a_hopf_point_do_so_after_the_first_orbit(delay):
    """A pair, or a real mode, that grows at the rate r² − δ beside circles r² = μ: at μ = δ."""
    u, v, late = sm.symbols("u v late", real=True)
    r2, s2 = x**2 + y**2, u**2 + v**2
    circle = {x: (mu - r2) * x - y, y: x + (mu - r2) * y}
    pair = {u: (r2 - late - s2) * u - sm.sqrt(2) * v, v: sm.sqrt(2) * u + (r2 - late - s2) * v}
    modes = {"torus": pair, "symmetry breaking": {u: (r2 - late) * u - u**3}}
    for kind, mode in modes.items():
        hopf = pfaff.ode(circle | mode, {mu: -0.5, late: delay}, load=mu).at().hopf(to=1)
        for to in (1e3, 1, 0.011):
            (found,) = hopf.orbits(to=to).special
            assert found.kind == kind
            assert found.value == pytest.approx(delay, rel=1e-6)


def test_an_orbit_beyond_the_fold_contradicts_the_normal_form(bent):
    hopf = bent.at(third=1e-2).hopf(to=0.1)
    birth = Birth(hopf, "mu", 0.0)
    branch = hopf.orbits(to=1)
    near, far = branch[0], branch[-1]
    radius = near.amplitude["x"] / (2 * abs(hopf.q[0]))
    birth.check(near.point, radius, branch.problem)
    with pytest.raises(Refused, match="which its normal form puts at"):
        birth.check(far.point, radius, branch.problem)


# Special points do not depend on how far a branch is to go.


@pytest.mark.parametrize("half", [0.3, 0.03, 0.01])
def test_two_folds_close_together_are_found_for_every_range(half):
    """μ = u³/3 − w²u + 2 with u = r² − 2: folds at u = ±w."""
    w, r2 = sm.Symbol("w", real=True), x**2 + y**2
    f, g = growing(mu - ((r2 - 2) ** 3 / 3 - w**2 * (r2 - 2) + 2), x, y)
    hopf = pfaff.ode({x: f, y: g}, {mu: -3, w: half}, load=mu).at().hopf(to=1)
    for to in (2.5, 5, 20, 1e3, 1e7):
        branch = hopf.orbits(to=to, step=0.3)
        assert [each.kind for each in branch.special] == ["fold", "fold"]
        away = 2 * half**3 / 3
        assert [each.value - 2 for each in branch.special] == pytest.approx([away, -away], rel=1e-6)
        assert len(branch) < 80


@pytest.mark.parametrize("apart", [1e-1, 1e-2])
def test_two_tori_close_together_are_found_for_every_range(apart):
    """A pair grows at the rate δ²/4 − (μ − 1/2)²."""
    u, v, width = sm.symbols("u v width", real=True)
    r2, rate = x**2 + y**2, width**2 / 4 - (mu - sm.Rational(1, 2)) ** 2
    mode = {u: rate * u - sm.sqrt(2) * v, v: sm.sqrt(2) * u + rate * v - v**3}
    circle = {x: (mu - r2) * x - y, y: x + (mu - r2) * y}
    hopf = pfaff.ode(circle | mode, {mu: -0.5, width: apart}, load=mu).at().hopf(to=1)
    for to in (0.6, 1, 3, 10, 1e4):
        found = hopf.orbits(to=to).special
        assert [each.kind for each in found] == ["torus", "torus"]
        assert [each.value for each in found] == pytest.approx([0.5 - apart / 2, 0.5 + apart / 2], abs=1e-8)


@pytest.mark.parametrize("to", [0.02, 3, 100])
@pytest.mark.parametrize(("p", "q"), [(1e-3, 2e-3), (1e-4, 3e-3), (1e-5, 1e-4)])
@pytest.mark.parametrize("kind", ["symmetry breaking", "torus"])
def test_two_special_orbits_next_to_the_hopf_point_are_not_stepped_over(kind, p, q, to):
    """Cycles r² = μ, about which a slow mode grows by (μ − p)(q − μ): at both ends it decays as at the equilibrium."""
    mu = sm.Symbol("mu")
    x, y, u, v = sm.symbols("x y u v")
    square = x**2 + y**2
    growth = (square - p) * (q - square)
    equations = {x: (mu - square) * x - y, y: (mu - square) * y + x}
    if kind == "torus":
        growth -= u**2 + v**2
        equations |= {u: growth * u - 1.7 * v, v: growth * v + 1.7 * u}
    else:
        equations |= {u: (growth - u**2) * u}
    branch = pfaff.ode(equations, {mu: -0.1}, load=mu).at().hopf(to=0.5).orbits(to=to)
    assert [each.kind for each in branch.special] == [kind, kind]
    assert [each.value for each in branch.special] == pytest.approx([p, q], rel=1e-6)
