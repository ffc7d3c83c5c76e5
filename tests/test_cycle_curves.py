"""Curves of special orbits in two parameters, against closed forms, Mathieu's functions and branches of their own."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from scipy.special import mathieu_a, mathieu_b

import pfaff
from conftest import XI_HAT
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.errors import NoBifurcationError, ParameterError

x, y, z, u, v = sm.symbols("x y z u v")
mu, a, c, kappa = sm.symbols("mu a c kappa")
rho = x**2 + y**2


def rotating(growth, values, others=None):
    """ṙ = r growth(r²), θ̇ = 1, with other equations beside it; the period is 2π."""
    return pfaff.ode({x: growth * x - y, y: growth * y + x, **(others or {})}, values, load=mu)


@pytest.fixture(scope="module")
def quintic_fold():
    """ṙ = r (μ + a r² − r⁴): folds of cycles at μ = −a²/4, r² = a/2, down to the generalised Hopf point μ = a = 0."""
    ode = rotating(mu + a * rho - rho**2, {mu: -1, a: 1})
    (fold,) = ode.at().hopf(to=1).orbits(to=-0.5).of_kind("fold")
    return fold


@pytest.fixture(scope="module")
def island():
    """A fold of the closed branch 0 = a − (ρ − 1)² − μ²."""
    ode = rotating(a - (rho - 1) ** 2 - mu**2, {mu: 2, a: 2})
    (fold,) = ode.at().hopf(to=0.5).orbits(to=1.45).of_kind("fold")
    return fold


@pytest.fixture(scope="module")
def skate_folds(skate):
    return skate.at(**XI_HAT, c_i="3/2").hopf().orbits(to=90).of_kind("fold")


@pytest.fixture(scope="module")
def control():
    alpha, beta = sm.symbols("alpha beta")
    return pfaff.ode({x: y, y: z, z: -alpha * z - beta * y - x + x**2}, {alpha: 2, beta: 1}, load=alpha)


@pytest.fixture(scope="module")
def doubling(control):
    (doubling,) = control.at().hopf(to=0.5).orbits(to=0.55).special
    return doubling


def parametric(damping, growth, values):
    """An oscillator u'' + (κ + x/10) u = damping u' that the cycle x = r cos t drives: Mathieu's equation."""
    return rotating(growth, values, {u: v, v: -(kappa + x / 10) * u + damping * v - u**2 * v})


# Folds.


def test_folds_of_the_quintic_normal_form(quintic_fold):
    curve = quintic_fold.curve("a", to=0.2)
    assert curve.parameters == ("mu", "a")
    assert curve.values[[0, -1]].tolist() == [1.0, 0.2]
    assert curve.ended == "reached 0.2"
    for point in curve:
        assert point["mu"] == pytest.approx(-(point["a"] ** 2) / 4, abs=1e-14)
        assert point.orbit["x"].max() == pytest.approx(np.sqrt(point["a"] / 2), rel=1e-6)
        assert point.period == pytest.approx(2 * np.pi, abs=1e-11)
        assert np.sort(np.abs(point.multipliers - 1))[1] < 1e-4
        assert point.residual < 1e-10


def test_folds_end_at_the_generalised_hopf_point(quintic_fold):
    curve = quintic_fold.curve("a", to=-1)
    (end,) = curve.special
    assert curve.ended == "ends at a generalised hopf point"
    assert end.kind == "generalised hopf"
    assert [end["mu"], end["a"]] == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize("slow", [False, True])
def test_folds_that_only_get_small_or_slow_go_on(slow):
    """Folds at μ = 0 for every a, of radius e^−a or of period 2π e^a."""
    square, rate = (rho, sm.exp(-a)) if slow else (rho * sm.exp(2 * a), 1)
    growth = -mu - (square - 1) ** 2
    ode = pfaff.ode({x: rate * (growth * x - y), y: rate * (growth * y + x)}, {mu: "-1/2", a: 0}, load=mu)
    (fold,) = ode.at().orbit(ode.at().simulate(60, x=1.3)).orbits(to=0.5).of_kind("fold")
    curve = fold.curve("a", to=5)
    assert (curve.ended, curve.special) == ("reached 5", ())
    assert max(abs(point["mu"]) for point in curve) < 1e-12


def test_folds_meet_in_a_cusp_of_cycles():
    """μ = −aρ − 3ρ² + ρ³ with ρ = r²: folds where a = 3ρ² − 6ρ, the cusp at ρ = 1, a = −3, μ = 1."""
    ode = rotating(mu + a * rho + 3 * rho**2 - rho**3, {mu: -1, a: -2})
    first, second = ode.at().hopf(to=4).orbits(to=2).of_kind("fold")
    for fold in (first, second):
        curve = fold.curve("a", to=-3.5)
        (cusp,) = curve.special
        assert cusp.kind == "cusp"
        assert [cusp["mu"], cusp["a"]] == pytest.approx([1, -3], abs=1e-8)
        assert (curve.ended.reason, curve.ended.bound) == (pfaff.Reason.OTHER_SIDE, -0.5)
        for point in curve:
            r2 = (point.special.amplitude["x"]) ** 2
            assert point["a"] == pytest.approx(3 * r2**2 - 6 * r2, abs=1e-4)
            assert point["mu"] == pytest.approx(-point["a"] * r2 - 3 * r2**2 + r2**3, abs=1e-8)


def test_a_curve_turns_where_the_branch_breaks_off(island):
    """Folds at a = μ², where the closed branch shrinks to a point at a = 0: no cusp."""
    curve = island.curve("a", to=-1)
    assert (curve.ended.reason, curve.ended.bound) == (pfaff.Reason.OTHER_SIDE, 5)
    assert not curve.special
    assert max(abs(point["a"] - point["mu"] ** 2) for point in curve) < 1e-13
    assert curve[-1]["mu"] == pytest.approx(-np.sqrt(5), abs=1e-13)
    assert curve.values.min() < 1e-2


def test_a_curve_whose_parameters_have_changed_their_roles_is_extended(island):
    """Beyond a slope of 3 folds are followed along the other parameter."""
    part = island.curve("a", to=-1, points=24)
    assert part[-1].special.load == "a"
    more = part.extend(-1, points=5)
    assert len(more) == 28
    assert more[-1]["mu"] < part[-1]["mu"] - 0.1
    assert max(abs(point["a"] - point["mu"] ** 2) for point in more) < 1e-13


def test_a_curve_that_turns_just_beyond_its_end_ends_there(island):
    """Folds at a = μ²: one step passes a = 1e-6, turns at a = 0 and passes it again."""
    curve = island.curve("a", to=1e-6)
    assert curve.ended == "reached 1e-06"
    assert (curve[-1]["a"], curve[-1]["mu"]) == (1e-6, pytest.approx(1e-3, abs=1e-12))


def test_a_fold_and_a_torus_meet():
    """The oscillator's growth is ρ − c: tori at μ = c² − ac, on the folds μ = −a²/4 where a = 2c."""
    ode = parametric(rho - c, mu + a * rho - rho**2, {mu: -1, a: 1, c: "2/5", kappa: "1/10"})
    branch = ode.at().hopf(to=1).orbits(to=-0.5)
    ((fold,), (torus,)) = (branch.of_kind(kind) for kind in ("fold", "torus"))
    for special in (fold, torus):
        curve = special.curve("a", to=0.6)
        (meeting,) = curve.of_kind("fold-torus")
        assert [meeting["mu"], meeting["a"]] == pytest.approx([-0.16, 0.8], abs=1e-8)
    assert max(abs(point["mu"] - (0.16 - 0.4 * point["a"])) for point in curve) < 1e-11


@pytest.mark.slow
def test_folds_of_the_skate_and_their_cusp(skate, skate_folds):
    """F = 88.3728784 and 88.2777045 at c_i = 1.5, followed to 1.4 and past the cusp in which they meet."""
    assert [fold.value for fold in skate_folds] == pytest.approx([88.3728784, 88.2777045], abs=1e-7)
    curves = [fold.curve("c_i", to=1.4) for fold in skate_folds]
    for place in (1, len(curves[0]) // 2, -1):
        damping = curves[0][place].value
        fresh = skate.at(**XI_HAT, c_i=damping).hopf().orbits(to=90).of_kind("fold")
        assert curves[0][place]["F"] == pytest.approx(fresh[0].value, abs=1e-8)
        assert curves[0][place].period == pytest.approx(fresh[0].period, abs=1e-5)
    assert curves[1][-1]["F"] == pytest.approx(fresh[1].value, abs=1e-8)
    cusps = [fold.curve("c_i", to=1.7).of_kind("cusp")[0] for fold in skate_folds]
    assert [cusps[0]["F"], cusps[0]["c_i"]] == pytest.approx([cusps[1]["F"], cusps[1]["c_i"]], abs=1e-8)
    beyond, before = (
        skate.at(**XI_HAT, c_i=cusps[0]["c_i"] + shift).hopf().orbits(to=90, step=0.02).of_kind("fold")
        for shift in (3e-3, -3e-3)
    )
    assert (len(beyond), len(before)) == (0, 2)


@pytest.mark.slow
def test_folds_of_the_skate_end_where_its_lyapunov_coefficient_vanishes(skate):
    hopf = skate.at(**XI_HAT, c_i=21).hopf()
    (fold,) = hopf.orbits(to=1.02 * hopf.value).of_kind("fold")
    (end,) = fold.curve("c_i", to=24).special
    turning = hopf.vanishing("c_i", between=(10, 40))
    assert end.kind == "generalised hopf"
    assert [end["F"], end["c_i"]] == pytest.approx([turning.value, float(turning.case.values["c_i"])], abs=1e-6)


# Period doublings and tori.


def test_period_doublings_of_the_adaptive_control_system(control, doubling):
    """MatCont's tutorial prints α = 0.630302 at β = 1; another β by a branch of its own."""
    curve = doubling.curve("beta", to=1.4)
    assert curve[0]["alpha"] == pytest.approx(0.630302, abs=5e-7)
    (fresh,) = control.at(beta=1.4).hopf(to=0.3).orbits(to=0.3).of_kind("period doubling")
    assert curve[-1].value == 1.4
    assert curve[-1]["alpha"] == pytest.approx(fresh.value, abs=1e-9)
    assert curve[-1].period == pytest.approx(fresh.period, abs=1e-8)
    assert max(np.abs(point.multipliers + 1).min() for point in curve) < 1e-9
    twice = curve[-1].special.switch(to=0.3)
    assert twice[0].period == pytest.approx(2 * fresh.period, rel=1e-3)


@pytest.mark.slow
def test_a_closed_curve_of_period_doublings(doubling):
    """The product of the multipliers is exp(−αT): two are −1 on the axis α = 0 and nowhere else."""
    curve = doubling.curve("beta", to=0.1)
    assert curve.ended == "closes: it is back at its first point"
    assert curve[-1].values == curve[0].values
    assert [special.kind for special in curve.special] == ["1:2 resonance"] * 2
    assert [special["alpha"] for special in curve.special] == pytest.approx([0, 0], abs=1e-8)


@pytest.fixture(scope="module")
def driven():
    """Growth μ − c: tori at μ = c while Mathieu's equation, q = r/5, a = 4κ, is between its tongues."""
    return parametric(mu - c, mu - rho, {mu: -1, c: 1, kappa: "1/10"})


def test_tori_end_at_strong_resonances(driven):
    (torus,) = driven.at().hopf(to=2).orbits(to=1.5).of_kind("torus")
    up, down = torus.curve("kappa", to=0.3), torus.curve("kappa", to=-0.1)
    assert [special.kind for special in up.special] == ["1:3 resonance", "1:2 resonance"]
    assert [special.kind for special in down.special] == ["1:4 resonance", "1:1 resonance"]
    assert up.special[-1]["kappa"] == pytest.approx(mathieu_b(1, 0.2) / 4, abs=1e-9)
    assert down.special[-1]["kappa"] == pytest.approx(mathieu_a(0, 0.2) / 4, abs=1e-9)
    for curve in (up, down):
        assert max(abs(point["mu"] - 1) for point in curve) < 1e-11
        assert curve.ended == f"ends at a {curve.special[-1].kind} point"
    assert np.cos(up[0].angle) == pytest.approx(up[0].multipliers[1].real, abs=1e-9)
    assert up.special[0].angle == pytest.approx(2 * np.pi / 3, abs=1e-8)


def test_period_doublings_around_a_tongue(driven):
    """The tongue of Mathieu's equation: closed, with 1:2 resonances on both its edges, a1 and b1."""
    branch = driven.at(kappa=0.22).hopf(to=2).orbits(to=1.5)
    curve = branch.of_kind("period doubling")[0].curve("kappa", to=0.1)
    assert curve.ended == "closes: it is back at its first point"
    edges = [mathieu_b(1, 0.2) / 4, mathieu_a(1, 0.2) / 4]
    assert [special["kappa"] for special in curve.of_kind("1:2 resonance")] == pytest.approx(edges, abs=1e-9)
    assert [special["mu"] for special in curve.special] == pytest.approx([1, 1], abs=1e-9)
    assert curve.special[0].status.endswith(f"period {2 * np.pi:.10g}")  # damping alone is cubic: a vanishes


def test_a_fold_and_a_flip_meet():
    """Followed as a fold and as a period doubling, in the tongue at κ = 1/4."""
    ode = parametric(rho - c, mu + a * rho - rho**2, {mu: -1, a: 1, c: "2/5", kappa: "1/4"})
    branch = ode.at().hopf(to=1).orbits(to=-0.5)
    (fold,) = branch.of_kind("fold")
    met = fold.curve("a", to=0.5).of_kind("fold-flip")
    assert len(met) == 2
    for flip in branch.of_kind("period doubling"):
        points = flip.curve("a", to=0.5).of_kind("fold-flip")
        assert len(points) == 1
        assert min(abs(points[0]["a"] - each["a"]) + abs(points[0]["mu"] - each["mu"]) for each in met) < 1e-8


def test_a_flip_and_a_torus_meet():
    """A third oscillator grows like μ − 9/10; in the tongue flips lie at equal distances from μ = a."""
    p, q = sm.symbols("p q")
    ninth, turn = mu - sm.Rational(9, 10), sm.Rational(3, 10)
    tongue = {u: v, v: -(sm.Rational(1, 4) + x / 10) * u + (mu - a) * v - u**2 * v}
    ode = rotating(mu - rho, {mu: -1, a: "6/5"}, tongue | {p: ninth * p - turn * q, q: ninth * q + turn * p})
    branch = ode.at().hopf(to=2).orbits(to=1.5, step=0.05)
    assert [special.kind for special in branch.special] == ["torus", "period doubling", "period doubling"]
    on_torus, *on_flips = (special.curve("a", to=0.8).of_kind("flip-torus") for special in branch.special)
    assert sum(point["a"] for point in on_torus) / 2 == pytest.approx(0.9, abs=1e-9)
    for met, (point,) in zip(on_torus, on_flips, strict=True):
        assert [point["mu"], point["a"]] == pytest.approx([met["mu"], met["a"]], abs=1e-8)
        assert point["mu"] == pytest.approx(0.9, abs=1e-8)


@pytest.fixture(scope="module")
def rossler():
    b = sm.Symbol("b")
    case = pfaff.ode({x: -y - z, y: x + a * y, z: b + z * (x - c)}, {a: 0.2, b: 0.2, c: 2}, load=c).at()
    return case.orbit(case.simulate(300, x=1, y=1, samples=6001)).orbits(to=5).special[0]


def test_period_doublings_are_the_same_curve_whatever_the_end(rossler):
    """Where a = 1, as located on curves that end there or very much farther on."""
    found = {}
    for to in (1, 2, 100, 1e4, 1e6):
        curve = rossler.curve("a", to=to, points=50, events={"one": "a = 1"})
        found[to] = curve[-1] if to == 1 else curve.of_kind("event: one")[0]
    assert found[1]["c"] == pytest.approx(4.1579025485, abs=1e-9)
    for point in found.values():
        assert [point["c"], point.period] == pytest.approx([found[1]["c"], found[1].period], abs=1e-8)


def test_folds_are_the_same_curve_whatever_the_end(quintic_fold):
    """μ = −a²/4, by steps that grow with the way."""
    for to in (10, 100, 1e3):
        curve = quintic_fold.curve("a", to=to, points=200)
        assert curve.ended == f"reached {to:g}"
        assert [point["mu"] for point in curve] == pytest.approx([-(point["a"] ** 2) / 4 for point in curve], rel=1e-9)


# What is asked and what is given.


def test_results_by_name_and_in_pictures(quintic_fold):
    curve = quintic_fold.curve("a", to=0.5)
    data = curve.to_xarray()
    assert data.sizes["point"] == len(curve)
    assert data["mu"].to_numpy() == pytest.approx(-(data["a"].to_numpy() ** 2) / 4, abs=1e-14)
    assert curve.status == f"{len(curve)} folds of cycles in (mu, a), no special points; reached 0.5"
    assert repr(curve) == (
        f"<{len(curve)} folds of cycles of ode, mu = -0.25 … -0.0625, a = 0.5 … 1: no special points; reached 0.5>"
    )
    axes = curve.plot().axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$a$", r"$\mu$")
    assert curve[-1].status.startswith("fold at mu = -0.0625, a = 0.5, period 6.28318530")


def test_an_interruption_keeps_what_there_is(quintic_fold):
    def stop(point):
        if point["a"] < 0.8:
            raise KeyboardInterrupt

    curve = quintic_fold.curve("a", to=0.2, progress=stop)
    assert curve.ended.startswith("interrupted at mu = ")
    assert 0.6 < curve.values[-1] < 0.8
    assert len(quintic_fold.curve("a", to=0.2, points=3)) == 3


def test_a_failure_names_the_last_good_point():
    """Folds at μ = −b²/4, b = 1 + √(a − 1/2), as far as the root is real."""
    ode = rotating(mu + (1 + sm.sqrt(a - sm.Rational(1, 2))) * rho - rho**2, {mu: -1, a: 1})
    (fold,) = ode.at().hopf(to=1).orbits(to=-0.9).of_kind("fold")
    curve = fold.curve("a", to=0)
    assert curve.ended.startswith("no special orbit was found beyond mu = -0.25")
    assert curve.ended.endswith("the equations are singular or not finite on the orbit")
    last = curve[-1]
    assert f"a = {last['a']:.10g}" in curve.ended
    assert last["a"] == pytest.approx(0.5, abs=1e-3)
    assert last["a"] == pytest.approx(0.5 + (2 * np.sqrt(-last["mu"]) - 1) ** 2, abs=1e-13)  # μ(a) is steep there


def test_broken_symmetries_of_the_bow(bow):
    """F = 83.76194104 at c_i = 1.5, and at c_i = 2 by a branch of its own."""
    branch, fresh = (bow.at(**XI_HAT, c_i=damping).hopf().orbits(to=87) for damping in ("3/2", 2))
    curve = branch.of_kind("symmetry breaking")[0].curve("c_i", to=2)
    assert curve[0]["F"] == pytest.approx(83.76194104, abs=5e-9)
    assert curve[-1]["F"] == pytest.approx(fresh.of_kind("symmetry breaking")[0].value, abs=1e-8)
    assert curve.of == "symmetry breakings"


def test_what_cannot_be_followed_says_so(quintic_fold):
    with pytest.raises(ParameterError, match="mu is the parameter that places the point"):
        quintic_fold.curve("mu", to=0)
    with pytest.raises(ParameterError, match="no parameter 'b'|did you mean"):
        quintic_fold.curve("b", to=0)
    with pytest.raises(ParameterError, match="is where it starts"):
        quintic_fold.curve("a", to=1)
    with pytest.raises(NoBifurcationError, match="no curve starts from a branch point"):
        Special(quintic_fold.problem, quintic_fold.point, "branch point").curve("a", to=0)


def test_a_curve_is_saved_loaded_and_extended(quintic_fold, tmp_path):
    """Part of the curve, saved and read again, leads on to the folds μ = −a²/4 and the point at which they end."""
    part = quintic_fold.curve("a", to=0.6)
    path = part.save(tmp_path / "folds.nc")
    again = pfaff.load_curve(path, quintic_fold.case)
    assert again.status == part.status
    assert [point.values for point in again] == [point.values for point in part]
    assert [p.period for p in again] == pytest.approx([p.period for p in part], rel=1e-12)
    whole = again.extend(-1)
    assert len(whole) > len(part)
    for point in whole:
        assert point["mu"] == pytest.approx(-(point["a"] ** 2) / 4, abs=1e-12)
    assert whole.ended == "ends at a generalised hopf point"
    ended = pfaff.load_curve(whole.save(tmp_path / "whole.nc"), quintic_fold.case)
    assert [(s.kind, s.values) for s in ended.special] == [(s.kind, s.values) for s in whole.special]
    with pytest.raises(ParameterError, match="use the other reader|holds"):
        pfaff.load_equilibria(path, quintic_fold.case)


def test_a_stored_curve_belongs_to_its_case(driven, tmp_path):
    (torus,) = driven.at().hopf(to=2).orbits(to=1.5).of_kind("torus")
    part = torus.curve("kappa", to=0.3, points=2)
    path = part.save(tmp_path / "tori.nc")
    assert pfaff.load_curve(path, driven.at())[-1].angle == part[-1].angle
    with pytest.raises(ParameterError, match="was computed with c = 1, not 2: give that case"):
        pfaff.load_curve(path, driven.at(c=2))


def test_folds_near_a_canard_explosion_start_their_curves():
    """FitzHugh and Nagumo's equations: multipliers so large that Newton's steps settle at their rounding only."""
    v, w, current, eps = sm.symbols("v w I eps")
    rates = {v: v - v**3 / 3 - w + current, w: eps * (v + sm.Rational(7, 10) - sm.Rational(4, 5) * w)}
    axon = pfaff.ode(rates, parameters={current: 0, eps: 0.08}, load=current)
    branch = axon.at().hopf(to=2, v=-1.2, w=-0.6).orbits(to=2)
    low, high = branch.of_kind("fold")
    assert low.value + high.value == pytest.approx(1.75, abs=1e-9)  # mirror images of each other
    ends = [fold.curve("eps", to=0.2)[-1]["I"] for fold in (low, high)]
    assert sum(ends) == pytest.approx(1.75, abs=1e-7)
