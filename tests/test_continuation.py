"""Branches of equilibria and curves in two parameters, against normal forms, closed forms and published numbers."""

from __future__ import annotations

import json
import pickle
from functools import cache

import mpmath
import numpy as np
import pytest
import sympy as sm
from click.testing import CliRunner

import pfaff
from conftest import XI_HAT
from pfaff.bifurcation.curves.hopfs import critical_plane
from pfaff.cli import app
from pfaff.continuation.engine import Engine
from pfaff.continuation.problem import Problem
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.statement import TIME, coordinates

x, y, z = sm.symbols("x y z")
mu, nu = sm.symbols("mu nu", real=True)


def ode(equations, load=mu, **parameters):
    return pfaff.ode(equations, {sm.Symbol(name, real=True): v for name, v in parameters.items()}, load=load)


def kinds(followed):
    return [special.kind for special in followed.special]


def test_kinds_are_the_strings_that_special_points_have():
    """Equal, printed, ordered in tables, and stored as such."""
    kind = pfaff.Kind.BRANCH_POINT
    assert (kind, {kind: 1}["branch point"], {"branch point": 1}[kind]) == ("branch point", 1, 1)
    assert (str(kind), f"{kind:>13}", repr(kind), json.dumps([kind])) == (
        "branch point",
        " branch point",
        "'branch point'",
        '["branch point"]',
    )
    assert pickle.loads(pickle.dumps(kind)) is kind is pfaff.Kind("branch point")
    assert np.array([kind, "hopf"]).dtype == np.array(["branch point", "hopf"]).dtype
    assert {each.codimension for each in pfaff.Kind} == {1, 2}


def test_special_points_are_asked_for_by_kind():
    branch = ode({x: mu + x - x**3 / 3}, mu=-1).at().branch(to=1)
    assert branch.of_kind(pfaff.Kind.FOLD) == branch.of_kind("fold") == branch.special
    assert all(special.kind == pfaff.Kind.FOLD and not special.several for special in branch.special)
    assert [type(special.kind) for special in branch.special] == [str, str]
    pair = ode({x: mu * x - x**3, y: mu * y - y**3}, mu=-1).at().branch(to=1).special[0]
    assert (pair.kind, pair.several) == ("multiple branch point", True)


@pytest.mark.parametrize(("load", "place"), [(-1, -2.1038034), (1, 2.1038034)])
def test_a_start_leads_past_a_singular_jacobian(load, place):
    """Newton's method from zero reaches x = ±1, where the Jacobian 1 − x² is zero, exactly, and the rate is not."""
    case = ode({x: mu + x - x**3 / 3, y: x - y}, mu=load).at()
    assert case.branch(to=3)[0].x == pytest.approx([place, place], rel=1e-7)
    with pytest.raises(ConvergenceError, match="no equilibrium"):
        ode({x: mu + x**2}, mu=1).at().branch(to=2)


def both(special, to):
    """The branch that crosses, one way and the other."""
    return special.switch(to), special.switch(to, way=-1)


@cache
def lorenz(rho0="1/2"):
    rho, sigma, b = sm.symbols("rho sigma b")
    equations = {x: sigma * (y - x), y: x * (rho - z) - y, z: x * y - b * z}
    return pfaff.ode(equations, {sigma: 10, b: "8/3", rho: rho0}, load=rho, name="Lorenz")


# Normal forms


def test_a_fold_with_its_coefficient():
    branch = ode({x: mu - 3 * x**2}, mu=1).at().branch(to=-1, start={"x": 1})
    (fold,) = branch.special
    assert fold.kind == "fold"
    assert fold.value == pytest.approx(0, abs=1e-12)
    assert fold.coefficient == pytest.approx(-3, rel=1e-9)
    assert branch[0].stable
    assert not branch[-1].stable
    assert "came to" in branch.ended


def test_a_pitchfork_and_both_of_its_arms():
    branch = ode({x: mu * x - x**3}, mu=-1).at().branch(to=1)
    assert kinds(branch) == ["branch point"]
    assert branch.special[0].value == pytest.approx(0, abs=1e-10)
    arms = both(branch.special[0], 1)
    assert sorted(np.sign(arm[-1]["x"]) for arm in arms) == [-1, 1]
    for arm in arms:
        assert arm[-1].value == pytest.approx(1, abs=1e-12)
        assert abs(arm[-1]["x"]) == pytest.approx(1, abs=1e-10)
        assert all(point.stable for point in arm)


def test_the_pitchfork_is_a_branch_point_on_its_arms_too():
    branch = ode({x: mu * x - x**3}, mu=1).at().branch(to=-1, start={"x": 1})
    assert kinds(branch) == ["branch point"]
    assert branch[-1]["x"] < 0


def test_a_transcritical_bifurcation_switches_to_the_other_line():
    branch = ode({x: mu * x - x**2}, mu=-1).at().branch(to=1)
    assert kinds(branch) == ["branch point"]
    for other in both(branch.special[0], 1):
        assert [point["x"] for point in other] == pytest.approx(list(other.values), abs=1e-10)


@pytest.mark.parametrize("equations", [{x: mu - x**2}, {x: mu - x**2, y: -y}, {y: -1000 * y, x: mu - x**2}])
def test_a_branch_that_starts_at_a_fold_consists_of_equilibria(equations):
    """The zero of a fold is not one of a family, whose unfolding would take up the equation itself."""
    branch = ode(equations, mu=0).at().branch(to=1)
    assert branch.ended == "reached 1"
    assert abs(branch[-1]["x"]) == pytest.approx(1, abs=1e-12)
    for point in branch:
        assert point["x"] ** 2 == pytest.approx(point.value, abs=1e-14)
        assert point.residual < 1e-14


def test_a_branch_that_starts_where_two_cross_follows_the_parameter():
    branch = ode({x: mu * x - x**3, y: -y}, mu=0).at().branch(to=1)
    assert branch.ended == "reached 1"
    assert branch[-1]["x"] == 0


@pytest.mark.parametrize(
    ("equations", "kind"),
    [
        ({x: mu - x**2, y: -y}, "fold"),
        ({x: mu * x - x**3, y: -y}, "branch point"),
        ({x: mu * x - x**2, y: x - y}, "branch point"),
        ({x: y, y: mu * y - x - x**2 * y}, "hopf"),
        ({x: y, y: mu * y - x - x**2 * y, z: x - z}, "hopf"),
    ],
)
def test_what_happens_at_the_first_point_happens_once(equations, kind):
    branch = ode(equations, mu=0).at().branch(to=1)
    assert kinds(branch) == [kind]
    assert branch.special[0].value == pytest.approx(0, abs=1e-12)
    assert kinds(branch.extend(2)) == [kind]
    # Followed in two parts, what lies between them happens once as well.
    if kind != "fold":
        assert kinds(ode(equations, mu=-1).at().branch(to=0).extend(1)) == [kind]


@pytest.mark.parametrize("stiff", [1e3, 1e7, 1e9, 1e11])
def test_a_stiff_mode_hides_no_hopf_point(stiff):
    branch = ode({x: y, y: mu * y - x - x**2 * y, z: stiff * (x**2 - z)}, mu=-1).at().branch(to=1)
    assert kinds(branch) == ["hopf"]
    assert branch.special[0].value == pytest.approx(0, abs=1e-9)
    assert branch.special[0].omega == pytest.approx(1, rel=1e-9)
    assert [branch[0].unstable, branch[-1].unstable] == [0, 2]


@pytest.mark.parametrize("omegas", [(1, 1), (1, 2, 2)])
def test_pairs_that_cross_together_are_one_multiple_hopf_point(omegas, tmp_path):
    """Their factors of Π(λ_i + λ_j) are a square where their number is even, and l1 has no meaning."""
    equations = {}
    for k, omega in enumerate(omegas):
        a, b = sm.symbols(f"a{k} b{k}")
        equations |= {a: mu * a - omega * b - a**3, b: omega * a + mu * b}
    case = ode(equations, mu=-1).at()
    branch = case.branch(to=1)
    (special,) = branch.special
    assert (special.kind, special.multiplicity) == ("multiple hopf", len(omegas))
    assert special.value == pytest.approx(0, abs=1e-14)
    assert f"{len(omegas)} pairs cross together" in special.status
    assert np.isnan(special.coefficient)
    assert [branch[0].unstable, branch[-1].unstable] == [0, 2 * len(omegas)]
    assert kinds(ode(equations, mu=0).at().branch(to=1)) == ["multiple hopf"]
    half = case.branch(to=0)
    assert kinds(half) == kinds(half.extend(1)) == ["multiple hopf"]
    again = pfaff.load_equilibria(branch.save(tmp_path / "branch.nc"), case)
    assert again.special[0].status == special.status


def test_eigenvalues_that_pass_zero_together_are_one_multiple_branch_point():
    (special,) = ode({x: mu * x - x**3, y: mu * y - y**3}, mu=-1).at().branch(to=1).special
    assert (special.kind, special.multiplicity) == ("multiple branch point", 2)
    with pytest.raises(NoBifurcationError, match="more than two branches meet at mu"):
        special.switch(1)


def test_a_zero_hopf_point_on_a_branch_says_why_it_has_no_l1():
    branch = ode({x: mu * x - y - x**3, y: x + mu * y, z: mu * z - z**3}, mu=-1).at().branch(to=1)
    assert sorted(kinds(branch)) == ["branch point", "zero-hopf"]
    assert "so that there is no l1" in branch.of_kind("zero-hopf")[0].status


@pytest.mark.parametrize("more", [{}, {y: -y}, {y: -1e6 * y, z: y - 1e-3 * z}])
def test_a_transcritical_point_switches_whatever_other_states_there_are(more):
    """The row that is singular there is rounding only, and not one of size one."""
    branch = ode({x: mu * x - x**2, **more}, mu=-1).at().branch(to=1)
    down, up = sorted(both(branch.special[0], 1), key=lambda arm: arm[-1].value)
    assert up[-1].state == pytest.approx({str(each): 0.0 for each in more} | {"x": 1.0}, abs=1e-12)
    assert down[-1]["x"] == pytest.approx(down[-1].value, rel=1e-12)


def test_an_imperfection_leaves_a_fold_beside_a_smooth_branch():
    imperfect = ode({x: mu * x - x**3 + nu}, mu=-1, nu=0.01)
    assert kinds(imperfect.at().branch(to=1)) == []
    (fold,) = imperfect.at(mu=1).branch(to=-1, start={"x": -1}).special
    # 4 μ³ = 27 ν²
    assert fold.value == pytest.approx((27 * 0.01**2 / 4) ** (1 / 3), rel=1e-12)


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9])
def test_two_close_folds_are_not_jumped(apart):
    """λ = x³ − εx has folds at ∓2(ε/3)^{3/2}."""
    epsilon = 3 * (apart / 4) ** (2 / 3)
    branch = ode({x: mu - x**3 + epsilon * x}, mu=-1).at().branch(to=1, start={"x": -1})
    assert kinds(branch) == ["fold", "fold"]
    assert [fold.value for fold in branch.special] == pytest.approx([apart / 2, -apart / 2], abs=1e-10 * apart + 1e-16)
    assert len(branch) < 120


@pytest.mark.parametrize("step", [0.01, 0.037, 0.05, 0.11, 0.3])
def test_two_close_folds_are_found_whatever_the_step(step):
    branch = ode({x: mu - (x - 0.123) ** 3 + 0.012 * (x - 0.123)}, mu=-1).at().branch(to=1, step=step, start={"x": -1})
    assert kinds(branch) == ["fold", "fold"]


def test_a_growth_rate_that_comes_and_goes_within_a_step_is_seen():
    """Re λ = 1e-4 − (μ − 0.5031)²: two Hopf points 0.02 apart."""
    rate = sm.Rational(1, 10000) - (mu - sm.Rational(5031, 10000)) ** 2
    system = ode({x: rate * x - y - x * (x**2 + y**2), y: x + rate * y - y * (x**2 + y**2)}, mu=0)
    branch = system.at().branch(to=10)
    assert kinds(branch) == ["hopf", "hopf"]
    assert [hopf.value for hopf in branch.special] == pytest.approx([0.4931, 0.5131], abs=1e-10)


def test_a_neutral_saddle_is_no_hopf_point():
    system = ode({x: x * (mu + 1), y: -y}, mu=-0.5)
    assert kinds(system.at().branch(to=0.5)) == []


def test_a_closed_branch_ends_where_it_began():
    branch = ode({x: x**2 + mu**2 - 1}, mu=0).at().branch(to=2, start={"x": 1})
    assert branch.ended == "closes: it is back at its first point"
    assert kinds(branch) == ["fold", "fold"]
    assert (branch[-1].value, branch[-1]["x"]) == (branch[0].value, branch[0]["x"])
    with pytest.raises(ParameterError, match="closed line, which is complete"):
        branch.extend(3)
    assert [fold.value for fold in branch.special] == pytest.approx([1, -1], rel=1e-12)


def test_an_isola_that_is_followed_on_closes_where_it_first_began():
    """The angle about the circle says how far round the branch went."""
    case = ode({x: x**2 + mu**2 - 1}, mu="3/5").at()
    part = case.branch(to=-0.5, start={"x": 0.8})
    assert "reached" in part.ended or "came to" in part.ended
    whole = part.extend(-3)
    assert whole.ended == "closes: it is back at its first point"
    angles = np.unwrap([np.arctan2(point["x"], point.value) for point in whole])
    assert abs(angles[-1] - angles[0]) == pytest.approx(2 * np.pi, rel=1e-9)
    assert sorted(kinds(whole)) == ["fold", "fold"]


# Published systems


def test_lorenz_pitchfork_and_hopf_points():
    branch = lorenz().at().branch(to=30)
    assert kinds(branch) == ["branch point"]
    assert branch.special[0].value == pytest.approx(1, rel=1e-10)
    exact = 10 * (10 + 8 / 3 + 3) / (10 - 8 / 3 - 1)  # 24.7368…
    for arm in both(branch.special[0], 30):
        (hopf,) = arm.special
        assert hopf.kind == "hopf"
        assert hopf.value == pytest.approx(exact, rel=1e-12)
        assert hopf.coefficient > 0
        assert hopf.hopf.omega == pytest.approx(np.sqrt(8 / 3 * (exact + 10)), rel=1e-10)
        assert abs(hopf["x"]) == pytest.approx(np.sqrt(8 / 3 * (exact - 1)), rel=1e-10)


def test_predator_and_prey_of_auto():
    """AUTO's pp2: u' = 3u(1 − u) − uv − p(1 − e^{−5u}), v' = −v + 3uv."""
    p = sm.Symbol("p")
    system = pfaff.ode({x: 3 * x * (1 - x) - x * y - p * (1 - sm.exp(-5 * x)), y: -y + 3 * x * y}, {p: 0}, load=p)
    trivial = system.at().branch(to=1)
    assert kinds(trivial) == ["branch point"]
    assert trivial.special[0].value == pytest.approx(3 / 5, rel=1e-10)
    prey = system.at().branch(to=1, start={"x": 1}, points=120)
    assert kinds(prey) == ["fold", "branch point", "branch point"]
    fold, meeting, trivial = prey.special

    def load(u):
        return 3 * u * (1 - u) / (1 - np.exp(-5 * u))

    turn = float(mpmath.findroot(lambda u: mpmath.diff(lambda v: v * (1 - v) / (1 - mpmath.exp(-5 * v)), u), 0.4))
    assert fold["x"] == pytest.approx(turn, rel=1e-8)
    assert fold.value == pytest.approx(load(turn), rel=1e-12)
    assert (meeting["x"], meeting.value) == pytest.approx((1 / 3, load(1 / 3)), rel=1e-10)
    assert (trivial["x"], trivial.value) == pytest.approx((0, 3 / 5), abs=1e-10)
    meet = next(branch for branch in both(meeting, 0) if branch[-1]["y"] > 0)
    (hopf,) = meet.of_kind("hopf")
    # At u = 1/3 the trace 1 − v − 5p e^{−5/3} vanishes, with v = 2 − 3p(1 − e^{−5/3}).
    assert hopf.value == pytest.approx(1 / (3 - 8 * np.exp(-5 / 3)), rel=1e-12)


def bazykin():
    """Predators that compete: x' = x − xy/(1 + αx) − εx², y' = −y + xy/(1 + αx) − δy² (Bazykin 1985)."""
    alpha, delta, epsilon = sm.symbols("alpha delta epsilon")
    eaten = x * y / (1 + alpha * x)
    equations = {x: x - eaten - epsilon * x**2, y: -y + eaten - delta * y**2}
    return pfaff.ode(equations, {alpha: "1/10", delta: "1/10", epsilon: "1/100"}, load=alpha, name="Bazykin")


def bazykin_root(conditions, start):
    """x, α, δ that satisfy three conditions, by mpmath: with y = (1 + αx)(1 − εx) one equation h(x) = 0 remains."""
    a, d = sm.symbols("alpha delta")
    Y = (1 + a * x) * (1 - x / 100)
    h = -1 + x / (1 + a * x) - d * Y
    f, g = x - x * y / (1 + a * x) - x**2 / 100, -y + x * y / (1 + a * x) - d * y**2
    known = {"h": h, "h'": h.diff(x), "h''": h.diff(x, 2), "trace": (f.diff(x) + g.diff(y)).subs(y, Y)}
    values = sm.lambdify((x, a, d), [known[name] for name in conditions], "mpmath")
    with mpmath.workdps(30):
        return [float(v) for v in mpmath.findroot(lambda *v: values(*v), start)]


def test_bazykin_cusp_and_bogdanov_takens_points():
    branch = bazykin().at().branch(to=1.2, start={"x": 1.5, "y": 1})
    assert kinds(branch) == ["hopf", "fold", "fold", "branch point"]
    hopf, fold, _, _ = branch.special
    hopfs, folds, back = hopf.curve("delta", to=0.5), fold.curve("delta", to=0.5), fold.curve("delta", to=0.001)
    assert [kinds(each) for each in (hopfs, folds, back)] == [
        ["bogdanov-takens"],
        ["bogdanov-takens"],
        ["cusp", "bogdanov-takens"],
    ]
    for point in (*hopfs.special, *folds.special, *back.special):
        conditions = ("h", "h'", "h''" if point.kind == "cusp" else "trace")
        exact = bazykin_root(conditions, [point["x"], point["alpha"], point["delta"]])
        assert [point["x"], point["alpha"], point["delta"]] == pytest.approx(exact, rel=1e-9)
    assert hopfs.special[0].coefficients == pytest.approx(folds.special[0].coefficients, rel=1e-8)


# Two parameters


def test_the_cusp_and_the_curve_of_folds_through_it():
    system = ode({x: nu + mu * x - x**3}, load=nu, mu=1, nu=-2)
    fold = system.at().branch(to=2, start={"x": -1.5}).of_kind("fold")[0]
    curve = fold.curve("mu", to=-1)
    assert max(abs(4 * p["mu"] ** 3 - 27 * p["nu"] ** 2) for p in curve) < 1e-12
    (cusp,) = curve.special
    assert cusp.kind == "cusp"
    assert list(cusp.values.values()) == pytest.approx([0, 0], abs=1e-10)
    assert cusp.coefficients["c"] == pytest.approx(-1, rel=1e-8)


def test_bogdanov_takens_normal_form():
    """x' = y, y' = ν + μx + x² − xy: folds ν = μ²/4, Hopf points ν = 0, μ < 0, a = 1, b = −1 (Kuznetsov, Sec. 8.4)."""
    branch = ode({x: y, y: nu + mu * x + x**2 - x * y}, load=nu, mu=-0.5, nu=-1).at().branch(to=1, start={"x": -1})
    assert kinds(branch) == ["hopf", "fold"]
    hopfs, folds = (special.curve("mu", to=1) for special in branch.special)
    assert max(abs(p["nu"]) for p in hopfs) < 1e-12
    assert max(abs(p["nu"] - p["mu"] ** 2 / 4) for p in folds) < 1e-12
    assert max(abs(p.omega**2 + p["mu"]) for p in hopfs) < 1e-12
    assert hopfs.ended == "ends at a bogdanov-takens point"
    for curve in (hopfs, folds):
        (point,) = curve.special
        assert point.kind == "bogdanov-takens"
        assert list(point.values.values()) == pytest.approx([0, 0], abs=1e-10)
        assert point.coefficients == pytest.approx({"a": 1, "b": -1}, rel=1e-8)


def test_generalised_hopf_normal_form():
    """ż = (μ + i) z + ν z|z|² − 2 z|z|⁴ with z = x + iy: l1 = 2ν, l2 = −8 (|z|² = 2|w|²)."""
    r2 = x**2 + y**2
    system = ode(
        {x: mu * x - y + nu * x * r2 - 2 * x * r2**2, y: x + mu * y + nu * y * r2 - 2 * y * r2**2}, mu=-1, nu=-1
    )
    hopf = system.at().branch(to=1).special[0]
    curve = hopf.curve("nu", to=1)
    (point,) = curve.special
    assert point.kind == "generalised hopf"
    assert point.values == pytest.approx({"mu": 0, "nu": 0}, abs=1e-10)
    assert point.coefficients["l2"] == pytest.approx(-8, rel=1e-9)
    assert [p.coefficient for p in curve] == pytest.approx([2 * p.value for p in curve], abs=1e-10)


FRAME = sm.Matrix([[1, 2, "1/2"], ["1/3", 1, -1], ["1/2", "1/5", 1]])


def framed(rates, load=mu, **parameters):
    """The rates of x, y and z in the oblique coordinates FRAME (x, y, z), in which nothing is exactly zero."""
    old = dict(zip((x, y, z), FRAME.inv() * sm.Matrix([x, y, z]), strict=True))
    new = FRAME * sm.Matrix(rates).subs(old, simultaneous=True)
    return ode(dict(zip((x, y, z), new.expand(), strict=True)), load, **parameters)


def test_a_bogdanov_takens_point_in_oblique_coordinates():
    """a = 1 and b = −1 in x are 1/n and −1/n along q0, the first column of the frame, of length n.

    Folds have ν = 0 up to rounding, which is no scale of ν; z is damped and takes no part to second order.
    """
    system = framed([y, nu + mu * y + x**2 - x * y, x**2 - 2 * z], load=nu, mu=-0.5, nu=-1)
    start = dict(zip("xyz", map(float, FRAME * sm.Matrix([-1, 0, 0.5])), strict=True))
    branch = system.at().branch(to=0.2, start=start)
    assert kinds(branch) == ["hopf", "fold"]
    hopfs, folds = (special.curve("mu", to=1) for special in branch.special)
    assert max(abs(p["nu"]) for p in folds) < 1e-12
    assert max(abs(p["nu"] + p["mu"] ** 2) for p in hopfs) < 1e-12
    n = float(FRAME[:, 0].norm())
    for curve in (hopfs, folds):
        (point,) = curve.special
        assert point.kind == "bogdanov-takens"
        assert point.coefficients == pytest.approx({"a": 1 / n, "b": -1 / n}, rel=1e-8)


@pytest.mark.parametrize(("first", "unit"), [(-1, 1), (0, 1e-6)])
def test_a_curve_starts_where_the_load_is_rounding(first, unit):
    """The curve of Hopf points μ = 0, found from afar and from itself, with μ in other units."""
    r2, rate = x**2 + y**2, mu / unit
    rates = [rate * x - y + (nu - r2) * r2 * x, x + rate * y + (nu - r2) * r2 * y, -2 * z]
    hopf = framed(rates, mu=first * unit, nu=-1).at().hopf(to=2 * unit)
    curve = hopf.curve("nu", to=1)
    assert (kinds(curve), curve.ended) == (["generalised hopf"], "reached 1")
    assert curve.special[0].value == pytest.approx(0, abs=1e-10)
    assert len(curve) < 40


def test_zero_hopf_and_double_hopf_points():
    u, v = sm.symbols("u v")
    zero_hopf = ode({x: mu * x - y - x**3, y: x + mu * y, z: nu * z + z**2 + x**2}, mu=-1, nu=-1)
    curve = zero_hopf.at().branch(to=1).of_kind("hopf")[0].curve("nu", to=1)
    (point,) = curve.special
    assert (point.kind, point.value) == ("zero-hopf", pytest.approx(0, abs=1e-10))
    double = ode({x: mu * x - y - x**3, y: x + mu * y, u: nu * u - 2 * v - u**3, v: 2 * u + nu * v}, mu=-1, nu=-1)
    curve = double.at().branch(to=1).of_kind("hopf")[0].curve("nu", to=1)
    (point,) = curve.special
    assert (point.kind, point.value) == ("double hopf", pytest.approx(0, abs=1e-10))
    assert sorted(point.coefficients.values()) == pytest.approx([1, 2], rel=1e-9)


def test_l1_that_changes_its_sign_through_infinity_is_no_generalised_hopf_point():
    """A fast mode z of rate ν feeds back on the oscillation: h11 = −B/ν has a pole at ν = 0."""
    fed = ode({x: mu * x - y + x * z, y: x + mu * y + y * z, z: nu * z + x**2 + y**2 + z**2}, mu=-1, nu=-1)
    curve = fed.at().branch(to=1).of_kind("hopf")[0].curve("nu", to=1)
    assert kinds(curve) == ["zero-hopf"]
    assert curve[0].coefficient * curve[-1].coefficient < 0


def test_two_points_of_codimension_two_within_a_step_are_two():
    """l1 and ⟨p, q⟩ have the sign of e = ν² − 10⁻⁴ and of ν² − 10⁻⁶, and no step ends between their zeros."""
    r2, e = x**2 + y**2, nu**2 - sm.Rational(1, 10**4)
    bautin = ode({x: mu * x - y + (e - r2) * r2 * x, y: x + mu * y + (e - r2) * r2 * y}, mu=-1, nu=-1)
    curve = bautin.at().hopf().curve("nu", to=1.1)
    assert kinds(curve) == ["generalised hopf"] * 2
    assert [point.value for point in curve.special] == pytest.approx([-1e-2, 1e-2], rel=1e-9)
    takens = ode({x: y, y: mu + (nu**2 - sm.Rational(1, 10**6)) * y + x**2 - x * y}, mu=-1, nu=-1)
    curve = takens.at().branch(to=1, start={"x": -1}).of_kind("fold")[0].curve("nu", to=1.1)
    assert kinds(curve) == ["bogdanov-takens"] * 2
    assert [point.value for point in curve.special] == pytest.approx([-1e-3, 1e-3], rel=1e-6)


@pytest.mark.parametrize("pair", [[[0.1, 2], [-2, 0.1]], [[0, 1], [0, 0]], [[0.3, 1], [0, -0.3]]])
def test_the_critical_plane_is_found_from_one_nearby(pair):
    """A focus, a Bogdanov–Takens point and a saddle, each beside three other eigenvalues."""
    random = np.random.default_rng(3)
    Q, A = random.normal(size=(5, 5)), np.diag([0.0, 0.0, -1.0, 2.0, -3.0])
    A[:2, :2] = pair
    V, W = Q[:, :2], np.linalg.inv(Q).T[:, :2]
    near = [np.linalg.qr(each + 0.05 * random.normal(size=(5, 2)))[0] for each in (V, W)]
    found, _, T = critical_plane(Q @ A @ np.linalg.inv(Q), *near)
    assert np.linalg.lstsq(found, V)[1] == pytest.approx([0, 0], abs=1e-16)  # squares
    assert [np.trace(T), np.linalg.det(T)] == pytest.approx([np.trace(pair), np.linalg.det(pair)], abs=1e-12)


# The column of Cazzolli et al. (2020)


@pytest.fixture(scope="module")
def skate_branch(skate):
    return skate.at(**XI_HAT, c_i="3/2").branch(to=120)


def test_the_straight_column_has_one_hopf_point(skate_branch):
    (hopf,) = skate_branch.special
    assert hopf.kind == "hopf"
    assert hopf.value == pytest.approx(76.3379703896335, rel=1e-12)
    assert hopf.coefficient == pytest.approx(-2.20853769246, rel=1e-10)
    assert hopf.hopf.crossing_speed == pytest.approx(0.0744746679653, rel=1e-10)


def test_without_damping_modes_meet_and_there_is_no_hopf_point(skate):
    """Flutter begins where two pairs meet on the imaginary axis, which the critical load tells by another route."""
    branch = skate.at(**XI_HAT).branch(to=90)
    assert kinds(branch) == ["coalescence"]
    assert branch.special[0].value == pytest.approx(skate.at(**XI_HAT).flutter().value, rel=1e-10)


@pytest.mark.parametrize(
    ("damping", "start", "to", "expected"), [("c_i", 1.5, 40, 22.1140411752), ("c_e", 1, 600, 479.584601139)]
)
def test_thresholds_of_the_column_are_generalised_hopf_points(skate, damping, start, to, expected):
    curve = skate.at(**XI_HAT, **{damping: start}).hopf().curve(damping, to=to)
    (point,) = curve.special
    assert point.kind == "generalised hopf"
    assert point.value == pytest.approx(expected, rel=2e-12 if damping == "c_i" else 1e-11)
    if damping == "c_i":  # P_d(c_i) = 64 c_i²/723 + 4410529058/57927483
        exact = [64 * p.value**2 / 723 + 4410529058 / 57927483 for p in curve]
        assert [p["F"] for p in curve] == pytest.approx(exact, rel=1e-12)


def test_the_misaligned_bow(bow):
    case = bow.at(**XI_HAT, c_i="3/2", beta0=np.pi / 100)
    branch = case.branch(to=100)
    (at,) = branch.at(80)
    assert [at["theta1"], at["theta2"]] == pytest.approx([-0.0502820256694, 0.701512197653], rel=1e-11)
    assert at["p"] == pytest.approx(80 / np.cos(np.pi / 100), rel=1e-12)
    assert branch.of_kind("hopf")[0].value == pytest.approx(78.2992872849, rel=1e-11)
    assert max(point.residual for point in branch) < 1e-12


def test_a_point_leads_to_a_branch_in_another_parameter(skate_branch):
    branch = skate_branch.at(100)[0].branch("c_i", to=40)
    # P_d(c_i) = 64 c_i²/723 + 4410529058/57927483 = 100
    (hopf,) = branch.special
    assert hopf.value == pytest.approx(np.sqrt((100 - 4410529058 / 57927483) * 723 / 64), rel=1e-11)
    assert hopf.case.values["F"] == pytest.approx(100, rel=1e-12)


# Families of equilibria


@cache
def line_of_equilibria():
    """(x, y) rotate and grow at the rate z, which only they change: every (0, 0, z) is an equilibrium."""
    return pfaff.ode({x: z * x - y, y: x + z * y, z: x**2 + y**2}, {mu: 0}, load=mu)


@pytest.mark.parametrize("start", [-0.5, -0.531, -2])
def test_a_line_of_equilibria_with_one_hopf_point_has_one_label(start):
    branch = line_of_equilibria().at().branch("z", to=1, start={"z": start})
    (hopf,) = branch.special
    assert hopf.kind == "hopf"
    assert hopf.value == pytest.approx(0, abs=1e-10)
    assert hopf.omega == pytest.approx(1, rel=1e-10)
    assert "hyperbolic" in hopf.note


def test_a_family_is_followed_where_there_are_no_parameters():
    bare = pfaff.ode({x: z * x - y, y: x + z * y, z: -(x**2) - y**2})
    (hopf,) = bare.at().branch("z", to=1, start={"z": -1}).special
    assert (hopf.kind, hopf.value) == ("hopf", pytest.approx(0, abs=1e-10))
    assert "elliptic" in hopf.note


def test_a_parameter_along_which_nothing_changes_gives_no_label():
    assert kinds(line_of_equilibria().at().branch(to=1, start={"z": -0.5})) == []


def test_family_coordinates_are_held_or_followed_by_name():
    """The spring's force K(Δ − X) plays the load: both ways lead to the same Hopf point."""
    spring = pfaff.atlas.column(2, "skate", "spring").at(**XI_HAT, c_i="3/2", K=100)
    held, followed = spring.branch("Delta", to=2, X=0.1), spring.at(Delta=0.5).branch("X", to=-1)
    assert {point["X"] for point in held} == {0.1}
    assert kinds(held) == kinds(followed) == ["hopf"]
    assert 100 * (held.special[0].value - 0.1) == pytest.approx(76.3379703896335, rel=1e-10)
    assert 100 * (0.5 - followed.special[0].value) == pytest.approx(76.3379703896335, rel=1e-10)


def test_a_curve_of_hopf_points_on_a_family_agrees_with_the_branch_at_its_end():
    spring = pfaff.atlas.column(2, "skate", "spring").at(**XI_HAT, c_i="3/2", K=100, beta0=0.05)
    first, last = (spring.at(c_i=c).branch("Delta", to=2, points=90, X=0.1).of_kind("hopf")[0] for c in ("3/2", 5))
    curve = first.curve("c_i", to=5)
    assert curve[-1].values == pytest.approx({"Delta": last.value, "c_i": 5}, rel=1e-10)
    assert curve[-1]["X"] == pytest.approx(0.1, rel=1e-14)


u = sm.symbols("u")


@pytest.mark.parametrize("bent", [0, 1])
def test_folds_on_a_family_lead_to_a_bogdanov_takens_point(bent):
    """u moves with x and y, along leaves that are flat (u − x is conserved) or not even surfaces.

    q0 = (1, 0, 1 + u²) of length n then: on folds x² = −ν = 0, where ẋ = −x²/μ slowly, a = −1/(μ n).
    """
    force = nu + mu * y + x**2 - x * y
    equations = {x: y, y: force, u: y * (1 + bent * u**2) + bent * u * force}
    branch = ode(equations, load=nu, mu=-0.5, nu=-1).at().branch(to=0.2, start={"x": -1, "u": "-3/10"})
    hopfs, folds = (branch.of_kind(kind)[0].curve("mu", to=1) for kind in ("hopf", "fold"))
    for curve in (hopfs, folds):
        (point,) = curve.special
        n = np.hypot(1, 1 + bent * point["u"] ** 2)
        assert point.kind == "bogdanov-takens"
        assert list(point.values.values()) == pytest.approx([0, 0], abs=1e-10)
        assert point.coefficients == pytest.approx({"a": 1 / n, "b": -1 / n}, rel=1e-7)
    for point, rate in ((branch.of_kind("fold")[0], -0.5), (folds[-1], 1)):
        n = np.hypot(1, 1 + bent * point["u"] ** 2)
        assert point.coefficient == pytest.approx(-1 / (rate * n), rel=1e-8)


def test_folds_on_a_family_pass_a_zero_hopf_point():
    fold = mu + x**2
    system = ode({x: fold, y: nu * y - z + x * y, z: y + nu * z + x * z, u: fold * (1 + u)}, mu=-1, nu=-0.5)
    curve = system.at().branch(to=0.2, start={"x": -1}).of_kind("fold")[0].curve("nu", to=1)
    assert (kinds(curve), curve.ended) == (["zero-hopf"], "reached 1")
    assert curve.special[0].value == pytest.approx(0, abs=1e-10)
    assert curve.special[0].coefficients["omega"] == pytest.approx(1, rel=1e-10)


def test_stiff_modes_are_not_taken_for_structural_zeros():
    """Eight bars with internal damping have eigenvalues from 0.09 to 2e5, and none is zero."""
    case = pfaff.atlas.column(8).at(**XI_HAT, c_i="3/2")
    branch = case.branch(to=1)
    assert kinds(branch) == ["hopf"]
    assert branch.special[0].value == pytest.approx(case.hopf(to=1).value, rel=1e-8)


def test_bodies_that_drift_together_lose_stability_where_their_distance_does():
    """The momentum of free bodies is conserved: its zero eigenvalue has no sign to change."""
    a, b, c = coordinates("a b c")
    d = sm.Symbol("d", real=True)
    r, v = b - a / 3, (b - a / 3).diff(TIME)
    pair = pfaff.System(
        [a, b], kinetic=(a.diff(TIME) ** 2 / 9 + b.diff(TIME) ** 2) / 2, potential=r**2 / 2,
        forces={a: (1 - d) * v / 3, b: (d - 1) * v}, parameters={d: 0}, load=d,
    )  # fmt: skip
    (hopf,) = pair.at().branch(to=2).special
    assert (hopf.kind, hopf.value, hopf.omega) == ("hopf", pytest.approx(1), pytest.approx(np.sqrt(2)))
    assert pair.at().spectrum().structural_zeros == 2
    rates = [(p - q).diff(TIME) for p, q in ((a, b), (b, c))]
    train = pfaff.System(
        [a, b, c], kinetic=sum(q.diff(TIME) ** 2 for q in (a, b, c)) / 2, dissipation=sum(r**2 for r in rates) / 4,
        potential=(1 + d) * ((a - b) ** 2 + (b - c) ** 2) / 2, parameters={d: 0}, load=d,
    )  # fmt: skip
    assert kinds(train.at().branch(to=2)) == []


def test_steady_motions_of_the_sleigh(sleigh):
    """Straight motion of Chaplygin's sleigh is stable with its centre of mass ahead of the blade, v a > 0."""
    states = sleigh.shape.states
    speed = next(name for name in states if name in ("x_dot", "y_dot"))
    branch = sleigh.at().branch(speed, to=-1, start={speed: 1.0})
    rate = [point.eigenvalues.real.max() for point in branch]
    # λ = −m a v/(I + m a²)
    expected = [-0.4 * point[speed] / (0.25 + 0.16) for point in branch]
    assert rate == pytest.approx(expected, abs=1e-9)


def test_relative_equilibria_of_a_bead_on_a_free_hoop():
    """A bead on a hoop that spins at Ω leaves the bottom at Ω² = g/r, and then cos θ = g/(r Ω²)."""
    theta, psi = coordinates("theta psi")
    spin = psi.diff(TIME)
    hoop = pfaff.System(
        coordinates=[theta, psi],
        kinetic=(theta.diff(TIME) ** 2 + (1 + sm.sin(theta) ** 2) * spin**2) / 2,
        potential=-sm.cos(theta),
        dissipation=theta.diff(TIME) ** 2 / 20,
        name="bead on a hoop",
    )
    branch = hoop.at().branch("psi_dot", to=2, start={"psi_dot": 0.5})
    assert kinds(branch) == ["branch point"]
    assert branch.special[0].value == pytest.approx(1, rel=1e-10)
    for arm in both(branch.special[0], 2):
        assert [p["psi_dot"] ** 2 * np.cos(p["theta"]) for p in arm] == pytest.approx([1] * len(arm), rel=1e-12)
        assert arm[-1].stable


# Invariance


@pytest.mark.parametrize("size", [1e-9, 1e9])
@pytest.mark.parametrize("power", [1, 2])
def test_ways_off_a_branch_point_do_not_depend_on_the_units_of_states(size, power):
    """Of the equilibrium zero nothing tells how large states are: |x| = S |μ − 1|^(1/p) on the branch that crosses."""
    equations = {x: (mu - 1) * x - x * (x / sm.Float(size)) ** power, y: -y + x}
    (point,) = ode(equations, mu=0).at().branch(to=2).special
    for arm in both(point, 2):
        assert abs(arm[0].value - 1) < 0.1
        assert arm[-1].value == pytest.approx(2) if power == 2 or arm[-1]["x"] > 0 else arm[-1].value < 0
        for each in arm.points[:: max(len(arm) // 8, 1)]:
            assert abs(each["x"]) == pytest.approx(size * abs(each.value - 1) ** (1 / power), rel=1e-6, abs=1e-7 * size)


def test_a_thin_beam_buckles_in_metres():
    q = coordinates("q")[0]
    P, h = sm.Symbol("P", real=True), sm.Rational(1, 10**6)
    beam = pfaff.System(
        [q], kinetic=q.diff(TIME) ** 2 / 2, dissipation=q.diff(TIME) ** 2 / 2, parameters={P: 0}, load=P,
        potential=(1 - P) * q**2 / 2 + q**4 / (4 * h**2),
    )  # fmt: skip
    (point,) = beam.at().branch(to=2).special
    for arm in both(point, 2):
        assert arm[-1].value == pytest.approx(2)
        assert abs(arm[-1]["q"]) == pytest.approx(1e-6)


def test_special_points_do_not_depend_on_units_or_order():
    rho, sigma, b = sm.symbols("rho sigma b")
    k = 1000
    scaled = pfaff.ode(
        {z: k * (x / k * y - b * z / k), y: x / k * (rho - z / k) - y, x: k * sigma * (y - x / k)},
        {rho: 14, sigma: 10, b: "8/3"},
        load=rho,
    )
    first = lorenz(14).at().branch(to=30, start={"x": 6, "y": 6, "z": 13})
    second = scaled.at().branch(to=30, start={"x": 6000, "y": 6, "z": 13000})
    assert kinds(first) == kinds(second) == ["hopf"]
    assert second.special[0].value == pytest.approx(first.special[0].value, rel=1e-11)


# Results


def test_a_branch_is_extended_saved_and_loaded(tmp_path):
    system = ode({x: mu - x**3 + 0.012 * x}, mu=-1)
    short = system.at().branch(to=-0.5, start={"x": -1})
    whole = short.extend(1)
    assert kinds(whole) == ["fold", "fold"]
    again = pfaff.load_equilibria(whole.save(tmp_path / "branch.nc"), system.at())
    assert kinds(again) == kinds(whole)
    assert again.values == pytest.approx(whole.values, rel=1e-14)
    assert again.places == whole.places
    assert all(0 < place < len(whole) for place in whole.places)
    assert [s.value for s in again.special] == pytest.approx([s.value for s in whole.special], rel=1e-12)
    assert again.extend(2)[-1].value == pytest.approx(2, rel=1e-12)
    data = whole.to_xarray()
    assert data["x"].dims == ("point",)
    assert data["mu"].to_numpy() == pytest.approx(data["x"].to_numpy() ** 3 - 0.012 * data["x"].to_numpy(), abs=1e-12)
    with pytest.raises(ParameterError, match="other reader"):
        pfaff.load_curve(tmp_path / "branch.nc", system.at())


def test_a_curve_is_extended_saved_and_loaded(tmp_path):
    system = ode({x: y, y: nu + mu * x + x**2 - x * y}, load=nu, mu=-0.5, nu=-1)
    fold = system.at().branch(to=1, start={"x": -1}).of_kind("fold")[0]
    curve = fold.curve("mu", to=-0.1).extend(1)
    assert kinds(curve) == ["bogdanov-takens"]
    again = pfaff.load_curve(curve.save(tmp_path / "curve.nc"), fold.case)
    assert kinds(again) == kinds(curve)
    assert again.special[0].coefficients == pytest.approx(curve.special[0].coefficients, rel=1e-8)
    assert again.extend(2)[-1].value == pytest.approx(2, rel=1e-12)


def test_an_interrupted_branch_keeps_its_points():
    def stop(point):
        if point.value > 0:
            raise KeyboardInterrupt

    branch = ode({x: mu * x - x**3}, mu=-1).at().branch(to=1, progress=stop)
    assert branch.ended == f"interrupted at mu = {branch[-1].value:.10g}"
    assert branch.ended.reason is pfaff.Reason.INTERRUPTED
    assert kinds(branch) == ["branch point"]
    assert branch[-1].value > 0


def test_a_branch_that_cannot_go_on_names_its_last_point():
    branch = ode({x: sm.sqrt(1 - mu) - x}, mu=0).at().branch(to=2, start={"x": 1})
    assert "no point was found beyond" in branch.ended
    assert branch[-1].value == pytest.approx(1, abs=1e-2)


def test_pictures_show_stability_and_labels(skate_branch, skate):
    axes = skate_branch.plot("theta1").axes[0]
    stable, unstable = axes.lines[:2]
    assert (stable.get_linestyle(), unstable.get_linestyle()) == ("-", "--")
    assert stable.get_xdata()[-1] == unstable.get_xdata()[0] == skate_branch.special[0].value
    assert "hopf" in [text.get_text() for text in axes.get_legend().get_texts()]
    curve = skate.at(**XI_HAT, c_i=20).hopf().curve("c_i", to=24)
    legend = [text.get_text() for text in curve.plot().axes[0].get_legend().get_texts()]
    assert legend == ["Hopf points", "generalised hopf", "supercritical", "subcritical"]


def test_errors_name_culprit_and_remedy(skate_branch, skate):
    case = skate.at(**XI_HAT, c_i="3/2")
    with pytest.raises(ParameterError, match="How far|how far"):
        case.branch()
    with pytest.raises(ParameterError, match="no parameter 'k_1'"):
        case.branch("k_1", to=3)
    with pytest.raises(ParameterError, match="is where it starts"):
        case.branch(to=0)
    with pytest.raises(ParameterError, match="share of the range"):
        case.branch(to=10, step=2)
    with pytest.raises(ParameterError, match="places the point"):
        skate_branch.special[0].curve("F", to=100)
    with pytest.raises(NoBifurcationError, match="switch at a branch point"):
        skate_branch.special[0].switch(100)
    with pytest.raises(ParameterError, match="no equilibrium at F = 500"):
        skate_branch.at(500)
    with pytest.raises(ParameterError, match="no coordinate of a family"):
        case.branch("theta1", to=1)
    with pytest.raises(ParameterError, match="give an equilibrium"):
        case.branch(to=10, start=3)


@pytest.mark.parametrize("wrong", ["abc", None, float("nan"), [1, 2, 3]])
def test_what_is_no_number_or_name_is_refused_in_our_words(wrong, tmp_path):
    case = ode({x: y, y: mu * y - x - nu * x**2 * y}, mu=-1, nu=1).at()
    branch = case.branch(to=1)
    hopf = branch.special[0]
    curve = hopf.curve("nu", to=2, points=3)
    asked = [
        lambda: case.branch(to=wrong), lambda: case.branch(to=1, step=wrong), lambda: case.branch(to=1, points=wrong),
        lambda: case.branch(to=1, start={"x": wrong}), lambda: case.branch(to=1, x=wrong), lambda: branch.at(wrong),
        lambda: branch.extend(wrong), lambda: curve.extend(wrong), lambda: hopf.curve("nu", to=wrong),
        lambda: hopf.curve(wrong, to=2), lambda: hopf.hopf.curve("nu", to=wrong), lambda: branch[0][wrong],
        lambda: branch[0].branch("nu", to=wrong), lambda: hopf.hopf.amplitude(wrong), lambda: hopf.hopf.period(wrong),
        lambda: hopf.hopf.vanishing("nu", between=wrong), lambda: hopf.hopf.vanishing("nu", between=(wrong, 2)),
        lambda: case.equilibrium(x=wrong), lambda: case.hopf(x=wrong),
    ]  # fmt: skip
    for question in asked:
        with pytest.raises(ParameterError):
            question()


def test_text_is_a_number_where_it_says_one():
    case = ode({x: mu - x**2}, mu=1).at()
    branch = case.branch(to="1/4", start={"x": "1"})
    assert branch[-1].value == pytest.approx(0.25, abs=1e-12)
    assert branch.at("1/2")[0]["x"] == pytest.approx(np.sqrt(0.5), rel=1e-12)


def test_what_is_extended_far_takes_steps_of_the_longer_range():
    case = ode({x: mu - x**2}, mu=1).at()
    branch = case.branch(to=2, start={"x": 1})
    far = branch.extend(to=100)
    assert far[-1].value == pytest.approx(100, abs=1e-12)
    assert len(far) - len(branch) < 1.2 * len(case.branch(to=100, start={"x": 1}))
    hopf = ode({x: mu * x - y - nu * x**3, y: x + mu * y - nu * y**3}, mu=-1, nu=1).at().hopf(to=1)
    curve = hopf.curve("nu", to=2)
    assert len(curve.extend(to=500)) - len(curve) < 1.2 * len(hopf.curve("nu", to=500))


def test_a_zero_eigenvalue_that_meets_a_pair_leaves_no_lyapunov_coefficient():
    """Rössler's equilibria: at c = 2a with a = b the eigenvalues are 0 and ±i√(2 − a²)."""
    a, b, c = sm.symbols("a b c")
    rossler = pfaff.ode({x: -y - z, y: x + a * y, z: b + z * (x - c)}, {a: "1/5", b: "1/5", c: 6}, load=c)
    (found,) = rossler.at().branch(to=0.3, start={"x": 0, "y": 0, "z": 0}).special
    assert found.kind == "zero-hopf"
    assert found.value == pytest.approx(0.4, abs=1e-12)
    assert found.omega == pytest.approx(np.sqrt(1.96), rel=1e-9)
    assert np.isnan(found.coefficient)


def test_results_say_in_one_line_what_they_are():
    branch = lorenz().at().branch(to=2)
    assert repr(branch) == (
        f"<{len(branch)} equilibria of Lorenz, rho = 0.5 … 2: branch point; reached 2>"
    )  # fmt: skip
    assert repr(branch[0]) == "<equilibrium at rho = 0.5: stable>"
    assert repr(branch.special[0]).startswith("<branch point at rho = 1")
    hopf = ode({x: y, y: mu * y - x - nu * x**2 * y}, mu=-1, nu=1).at().hopf(to=1)
    assert repr(hopf) == "<Hopf point at mu = 0, ω = 1: supercritical (l1 = -0.25), stable cycles above>"
    curve = hopf.curve("nu", to=2)
    assert repr(curve) == (
        f"<{len(curve)} Hopf points of ode, mu = 0 … 0, nu = 1 … 2: no special points; reached 2>"
    )  # fmt: skip
    with pytest.raises(ParameterError, match="did you mean 'generalised hopf'"):
        branch.of_kind("generalized hopf")
    with pytest.raises(ParameterError, match="to_xarray"):
        branch["x"]


@pytest.mark.parametrize(
    ("equations", "dimension"),
    [({x: mu - x**2}, 0), ({x: mu - x**2, y: -y}, 0), ({x: mu * x - x**3, y: -y}, 0), ({x: -x, y: mu * y}, 1),
     ({x: mu * x - x**3, y: 0 * x}, 1), ({x: y, y: -y + mu}, 1)],
)  # fmt: skip
def test_a_singular_equilibrium_is_on_a_family_where_its_neighbours_rest(equations, dimension):
    assert ode(equations, mu=0).at().equilibrium().family_dimension == dimension


def test_on_the_shell(tmp_path):
    given = [word for pair in ("M_L=15", "I_L=15", "k1=50", "c_i=20") for word in ("--set", pair)]
    picture = tmp_path / "curve.png"
    arguments = ["curve", "column", *given, "--in", "c_i", "--to", "24", "--plot", str(picture)]
    table = CliRunner().invoke(app, arguments)
    assert "22.11404117" in table.output
    assert picture.exists()
    result = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert result["special"][0]["kind"] == "generalised hopf"
    assert result["special"][0]["value"] == pytest.approx(22.1140411752, rel=1e-11)
    result = json.loads(CliRunner().invoke(app, ["branch", "column", *given, "--to", "120", "--json"]).stdout)
    assert [special["kind"] for special in result["special"]] == ["hopf"]


def test_the_shell_names_the_flag_that_is_wrong():
    given = ["column", "--set", "M_L=15", "--to", "10"]
    for arguments, culprit in (
        (["branch", *given, "--fix", "X"], "--fix 'X': write NAME=VALUE"),
        (["branch", *given, "--fix", "X=a"], "--fix X=a: 'a' is not a number"),
        (["hopf", *given, "--fix", "X=1/0"], "--fix X=1/0"),
        (["curve", *given, "--in", "c_i", "--of", "fold"], "--of and --orbits-to go together"),
    ):
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, ParameterError)
        assert culprit in str(result.exception)


# Eigenvalues that cross together, hardly, or often


def two_pairs(first, second):
    u, v = sm.symbols("u v")
    return {x: first * x - y - x**3, y: x + first * y, u: second * u - 2 * v - u**3, v: 2 * u + second * v}


@pytest.mark.parametrize("pairs", [True, False])
def test_eigenvalues_that_change_sides_are_seen(pairs):
    """One goes up where the other comes down, so that as many are unstable before as behind."""
    rate = mu - sm.Rational(1, 7)
    equations = two_pairs(rate, -rate) if pairs else {x: rate * x - x**3, y: -rate * y - y**3}
    branch = ode(equations, mu=-1).at().branch(to=1)
    assert kinds(branch) == ["multiple hopf" if pairs else "multiple branch point"]
    assert branch.special[0].value == pytest.approx(1 / 7, abs=1e-9)


@pytest.mark.parametrize("apart", [1e-5, 7e-6])
def test_two_pairs_that_cross_close_together_are_two_points(apart):
    branch = ode(two_pairs(mu, mu - apart), mu=-1).at().branch(to=1)
    assert kinds(branch) == ["hopf", "hopf"]
    assert [each.value for each in branch.special] == pytest.approx([0, apart], abs=1e-12)


@pytest.mark.parametrize("size", [1e-3, 1e-4])
def test_a_pair_that_is_unstable_for_a_moment_is_seen(size):
    """The growth rate is ε² − (μ − 3/10)²; where it only touches zero, nothing happens."""
    rate = sm.Float(size) ** 2 - (mu - 0.3) ** 2
    branch = ode({x: rate * x - y - x**3, y: x + rate * y}, mu=-1).at().branch(to=1)
    assert [each.value for each in branch.special] == pytest.approx([0.3 - size, 0.3 + size], abs=1e-10)
    touching = -((mu - 0.3) ** 2)
    assert not ode({x: touching * x - y - x**3, y: x + touching * y}, mu=-1).at().branch(to=1).special


def test_growth_rates_that_oscillate_shorten_the_steps():
    """sin 200μ = 9/10 has 20 roots up to 3/10, more than the branch, a straight line, has steps of its own."""
    rate = sm.sin(200 * mu) - 0.9
    branch = ode({x: rate * x - x**3, y: -y}, mu=0).at().branch(to=0.3)
    first, second = np.arcsin(0.9), np.pi - np.arcsin(0.9)
    expected = sorted(k * 2 * np.pi + each for k in range(10) for each in (first, second))
    assert [each.value * 200 for each in branch.special] == pytest.approx([e for e in expected if e < 60], abs=1e-7)
    assert set(kinds(branch)) == {"branch point"}


@pytest.mark.parametrize("apart", [1e-2, 1e-4])
def test_branch_points_of_one_step_are_told_apart(apart):
    a, b = sm.symbols("a b")
    ode = pfaff.ode({a: (mu - 1) * a - a**3, b: (mu - 1 - apart) * b - b**3}, {mu: 0}, load=mu)
    branch = ode.at().branch(to=5, start={"a": 0, "b": 0})
    assert [each.value for each in branch.of_kind("branch point")] == pytest.approx([1, 1 + apart], abs=1e-9)
    assert len(branch.special) == 2


def test_a_hopf_point_among_neutral_saddles_is_found():
    """Three sums of two eigenvalues vanish near it, so that the sign of their product changes at another one."""
    a, b, c, d, u, v = sm.symbols("a b c d u v")
    rates = {u: (mu - 1) * u - v - u * (u**2 + v**2), v: (mu - 1) * v + u - v * (u**2 + v**2)}
    rates |= {w: (shift + mu) * w - w**3 for w, shift in ((a, 2.02), (b, -3.98), (c, 5.99), (d, -8.01))}
    branch = pfaff.ode(rates, {mu: 0}, load=mu).at().branch(to=3, start=dict.fromkeys("abcduv", 0))
    (hopf,) = branch.special
    assert (hopf.kind, hopf.value) == ("hopf", pytest.approx(1, abs=1e-10))


def test_a_test_that_fails_at_a_trial_is_not_asked_there_again():
    """As where Arnoldi's method finds no eigenvalues: nothing is located, and nothing raised."""

    class Line(Problem):
        def chord(self, a, b):
            return lambda at: a + at * (b - a)

    def value(point):
        if abs(point - 0.5) < 0.1:
            raise ConvergenceError("nothing is known here")
        return point - 0.5

    assert Engine(Line()).located(0.0, 1.0, value) is None
