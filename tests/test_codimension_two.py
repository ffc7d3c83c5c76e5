"""Normal forms of equilibria and cycles at points of codimension two: closed forms in several coordinates and units,
published numbers, and motions."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import NoBifurcationError, ParameterError

x, y, z, w = sm.symbols("x y z w", real=True)
mu, nu = sm.symbols("mu nu", real=True)
E, Z, S = x + sm.I * y, z + sm.I * w, z**2 + w**2
back = sm.conjugate(Z)
# In a frame that makes half a turn: ζ = Re(Z e^{−iθ/2}), η the other component, as ALONG and ACROSS; SQUARE is ζ².
ALONG, ACROSS = (Z + E * back) / 2, (Z - E * back) / (2 * sm.I)
SQUARE = (sm.re(sm.expand(Z**2 * sm.conjugate(E))) + S) / 2


SHEARS = [(x, y**2 / 3 - y * w / 2), (y, x**2 / 5), (w, x * y / 2 - x**2 / 3)]


def sheared(rates):
    """The same flow in coordinates that differ by higher terms: one after the other a state becomes itself and more."""
    for state, added in SHEARS:
        there = {state: state - added}
        new = {each: value.subs(there, simultaneous=True) for each, value in rates.items()}
        new[state] += sum(added.diff(other) * new[other] for other in rates if other != state)
        rates = new
    return rates


def special_equilibrium(rates, kind, of, start=-0.5, **states):
    """The point of codimension two on the curve in μ and ν of special equilibria that is met along μ from a start, at
    which states are about those that are given."""
    at = {x: 0, y: 0, w: 0} | {each: states[each.name] for each in (x, y, w) if each.name in states}
    for state, added in SHEARS:
        at[state] += added.subs(at)
    case = pfaff.ode(sheared(rates), {mu: start, nu: -0.5}, load=mu).at()
    branch = case.branch(to=-start, start={each.name: float(value) for each, value in at.items()})
    (found,) = branch.of_kind(of)[0].curve("nu", to=0.5).of_kind(kind)
    assert list(found.values.values()) == pytest.approx([0, 0], abs=1e-9)
    return found.coefficients


@pytest.mark.parametrize("of", ["fold", "hopf"])
@pytest.mark.parametrize(("a", "b"), [(1.0, -0.5), (0.7, 0.3)])
def test_bogdanov_takens_point_in_other_coordinates(a, b, of):
    """ẋ = y, ẏ = μ + νx + ax² + bxy beside a state that decays: a and b are those of every smooth coordinate."""
    rates = {x: y, y: mu + nu * x + a * x**2 + b * x * y, w: x**2 - w}
    low = min(np.roots([a, -0.5, -0.2]), key=abs)
    found = special_equilibrium(rates, "bogdanov-takens", of, -0.2, x=low)
    assert found == pytest.approx({"a": a, "b": b}, rel=1e-7)


@pytest.mark.parametrize("c", [1.0, -0.4])
def test_cusp_of_equilibria_in_other_coordinates(c):
    """ẋ = μ ± νx + cx³."""
    rates = {x: mu + np.sign(c) * nu * x + c * x**3, y: x**2 - y, w: x * y - 2 * w}
    far = next(root.real for root in np.roots([c, 0, -np.sign(c) / 2, -0.5]) if abs(root.imag) < 1e-9)
    found = special_equilibrium(rates, "cusp", "fold", x=far, y=far**2, w=far**3 / 2)
    assert found["c"] == pytest.approx(c, rel=1e-6)


@pytest.mark.parametrize("c", [-2.0, 0.5])
def test_generalised_hopf_point_in_other_coordinates(c):
    """ż = (μ + i) z + ν z|z|² + c z|z|⁴ with z = x + iy: l2 = 4c, since |z|² = 2|w|²."""
    growth = mu + nu * (x**2 + y**2) + c * (x**2 + y**2) ** 2
    rates = {x: growth * x - y, y: x + growth * y, w: x**2 - w}
    found = special_equilibrium(rates, "generalised hopf", "hopf")
    assert found == pytest.approx({"l2": 4 * c, "omega": 1}, rel=1e-6)


def test_a_catalytic_oscillator_has_the_published_coefficients():
    """Bykov, Yablonskii and Kim (1978); Govaerts, Kuznetsov et al., MatCont manual (2019), fold continuation: at two
    Bogdanov–Takens points (a, b) = ∓(0.04822563, 1.937632) and (0.08378442, 2.136280), up to the sense of q0."""
    k, q2 = sm.symbols("k q2", positive=True)
    free = 1 - x - y - z
    rates = {x: 5 * free**2 - 2 * x**2 - 10 * x * y, y: q2 * free - y / 10 - 10 * x * y, z: (free - k * z) * 0.0675}
    case = pfaff.ode(rates, {q2: 2.204678, k: 0.4}, load=q2).at()
    branch = case.branch(to=0.8, start={"x": 0.001137, "y": 0.891483, "z": 0.062345}, bounds=(0.8, 2.3))
    assert [fold.value for fold in branch.of_kind("fold")] == pytest.approx([1.042049, 1.052200], abs=1e-6)
    published = [([1.161199, 0.722339], [0.04822563, 1.937632]), ([1.417628, 0.971398], [0.08378442, 2.136280])]
    for hopf, (place, both) in zip(branch.of_kind("hopf"), published, strict=True):
        (takens,) = hopf.curve("k", to=1).of_kind("bogdanov-takens")
        assert [takens["q2"], takens["k"]] == pytest.approx(place, abs=1e-6)
        assert np.abs(list(takens.coefficients.values())) == pytest.approx(both, rel=1e-6)
        assert takens.coefficients["a"] * takens.coefficients["b"] > 0


def test_an_extended_lorenz_model_has_all_points_where_they_are_published():
    """Lorenz (1984) with a fourth state, which has all kinds of points of codimension two in one plane: numbers of
    BifurcationKit's test of it (test/hopf_codim_2/lorenz84.jl), each to the digits that are asked for there. It is the
    same with −T and −w."""
    F, T = sm.symbols("F T", real=True)
    growth = sm.Rational(987, 1000)
    rates = {x: F / 4 - x / 4 - y**2 - z**2 - growth * w**2, y: x * y - x * z - y + sm.Rational(1, 4)}
    rates |= {z: x * y + x * z - z, w: growth * w * x - sm.Rational(104, 100) * w + T}
    case = pfaff.ode(rates, {F: 3, T: 0.04}, load=F).at()
    branch = case.branch(to=-1.5, start={"x": 2.9787, "y": -0.0387, "z": 0.0582, "w": -0.0211}, bounds=(-1.5, 3))
    (fold,) = branch.of_kind("fold")
    assert fold.value == pytest.approx(1.54664837, abs=1e-8)
    assert [hopf.value for hopf in branch.of_kind("hopf")] == pytest.approx([1.61966, 2.46723, 2.85988], abs=2e-5)
    folds = fold.curve("T", to=-0.1)
    assert [point.kind for point in folds.special] == [
        "bogdanov-takens", "zero-hopf", "cusp", "zero-hopf", "bogdanov-takens"
    ]  # fmt: skip
    loads, second = (np.array([point[name] for point in folds.special]) for name in "FT")
    assert second == pytest.approx(-second[::-1], abs=1e-10)
    assert loads == pytest.approx(loads[::-1], abs=1e-10)
    takens = {"a": 0.2144233509273467, "b": 0.6065145518280868}
    assert folds.special[0].coefficients == pytest.approx(takens, rel=1e-10)
    hopfs = branch.of_kind("hopf")[1].curve("T", to=-0.1), branch.of_kind("hopf")[1].curve("T", to=0.1)
    (double,), (generalised, again) = (curve.special for curve in hopfs)
    assert (double.kind, generalised.kind) == ("double hopf", "generalised hopf")
    assert double["T"] == pytest.approx(0.02627393, rel=1e-5)
    assert generalised.omega == pytest.approx(0.69036367, abs=1e-5)
    assert generalised.coefficients["l2"] * generalised.omega == pytest.approx(0.1556, abs=1e-3)
    assert [again[name] for name in "FT"] == pytest.approx([loads[0], second[0]], rel=1e-10)
    assert again.coefficients == pytest.approx(takens, rel=1e-10)


def test_bazykins_predators_and_prey():
    """Bazykin's model, as in Kuznetsov's book, with γ = 1 and ε = 0.01. Hopf points at δ = 0 as J. Sieber's run of AUTO
    prints them (Imperial College, 2005), a Bogdanov–Takens point as AUTO 0.9.2 finds it, and a generalised Hopf point
    where l1, in forty digits, vanishes; AUTO, which has l1 by differences, prints 0.956613 and 0.000950885."""
    alpha, delta = sm.symbols("alpha delta", real=True)
    eaten = x * y / (1 + alpha * x)
    case = pfaff.ode({x: x - eaten - x**2 / 100, y: eaten - y - delta * y**2}, {alpha: 0, delta: 0}, load=alpha).at()
    first, last = case.branch(to=0.985, start={"x": 1, "y": 0.99}).of_kind("hopf")
    assert [first.value, last.value] == pytest.approx([0.01020625, 0.9797938], abs=5e-8)
    assert last.hopf.l1 == pytest.approx(-0.00193989064251, rel=1e-9)
    generalised, takens = last.curve("delta", to=1).special
    assert (generalised.kind, takens.kind) == ("generalised hopf", "bogdanov-takens")
    assert generalised["alpha"] == pytest.approx(0.956623198035283, rel=1e-11)
    assert generalised["delta"] == pytest.approx(0.00095044824775325, rel=1e-9)
    assert [takens["alpha"], takens["delta"]] == pytest.approx([0.860704, 0.00605879], rel=1e-6)


def beside_the_circle(turns, rate, bent):
    """Z = W e^{iθ/turns} beside the circle r = 1, where W has a rate; ``bent`` by phases that run faster beside it,
    and in coordinates that mix all of them and leave small Z as they are."""
    faster = 1 + bent * S
    radial = E * (1 - x**2 - y**2) + sm.I * faster * E
    across = sm.I * faster * Z / turns + rate
    X, Y, P, Q = (part(sm.expand(each)) for each in (radial, across) for part in (sm.re, sm.im))
    rates = {x: X, y: Y, z: P, w: Q}
    for state, added in ((x, bent * z**2), (z, bent * x * y)) if bent else ():
        there = {state: state - added}  # state + added is the new state
        new = {each: value.subs(there, simultaneous=True) for each, value in rates.items()}
        new[state] += sum(added.diff(other) * new[other] for other in rates if other != state)
        rates = new
    return rates


def located(rates, kind, nu_at, of, bent=0.0):
    """The point of codimension two on the curve of special orbits from ν to −ν that is met from μ = −0.2 to 0.2."""
    t = np.linspace(0, 2 * np.pi, 200)
    circle = {"x": np.cos(t), "y": np.sin(t), "z": bent * np.sin(2 * t) / 2, "w": 0 * t}
    case = pfaff.ode(rates, {mu: -0.2, nu: nu_at}, load=mu).at()
    branch = case.orbit(t=t, **circle).orbits(to=0.2, points=60)
    (found,) = branch.of_kind(of)[0].curve("nu", to=-nu_at).of_kind(kind)
    return found


@pytest.mark.parametrize(("bent", "b", "c"), [(0, 0.5, -1.0), (0.2, 0.3 + 0.2j, 0.4 + 1j)])
def test_resonance_1_3_in_closed_form(bent, b, c):
    """Ẇ = (μ + iν) W + b W̄² + c W|W|², W = √2 ξ."""
    rates = beside_the_circle(3, (mu + sm.I * nu) * Z + b * E * back**2 + c * Z * S, bent)
    found = located(rates, "1:3 resonance", 0.05, "torus", bent)
    form = found.normal_form
    assert abs(form.coefficients["b"]) == pytest.approx(np.sqrt(2) * abs(b), rel=1e-6)
    assert form.coefficients["c"].real == pytest.approx(2 * np.real(c), rel=1e-5)
    assert form.stable == (np.real(c) < 0)
    assert "a saddle orbit of three times the period shrinks to it here" in found.status


@pytest.mark.parametrize(("bent", "c", "d"), [(0, -1 + 0.5j, 0.3), (0.2, -0.2 + 0.1j, 0.7j)])
def test_resonance_1_4_in_closed_form(bent, c, d):
    """Ẇ = (μ + iν) W + c W|W|² + d W̄³."""
    rates = beside_the_circle(4, (mu + sm.I * nu) * Z + c * Z * S + d * E * back**3, bent)
    found = located(rates, "1:4 resonance", 0.03, "torus", bent)
    coefficients = found.normal_form.coefficients
    assert coefficients["c"].real == pytest.approx(2 * c.real, rel=1e-5)
    assert abs(coefficients["d"]) == pytest.approx(2 * abs(d), rel=1e-5)
    words = "born at folds" if abs(c) > abs(d) else "a saddle orbit of four times the period shrinks to it here"
    assert words in found.status


@pytest.mark.parametrize(("bent", "a", "b"), [(0, -1.0, -0.5), (0.2, 0.7, 0.3)])
def test_resonance_1_2_in_closed_form(bent, a, b):
    """ζ̇ = η, η̇ = νζ + μη + aζ³ + bζ²η, on the curves of tori and of period doublings."""
    rates = beside_the_circle(2, ACROSS + sm.I * (nu * ALONG + mu * ACROSS + SQUARE * (a * ALONG + b * ACROSS)), bent)
    found = located(rates, "1:2 resonance", -0.02, "torus", bent)
    coefficients = found.normal_form.coefficients
    assert [coefficients["a"], coefficients["b"]] == pytest.approx([a, b], rel=1e-5)
    assert ("heteroclinic" in found.status, found.normal_form.stable) == (a > 0, b < 0)


@pytest.mark.parametrize(("bent", "e"), [(0, 0.6), (0.2, -1.0)])
def test_generalised_period_doubling_in_closed_form(bent, e):
    """ζ̇ = μζ + νζ³ + eζ⁵, η̇ = −η."""
    rates = beside_the_circle(2, (mu + nu * SQUARE + e * SQUARE**2) * ALONG - sm.I * ACROSS, bent)
    found = located(rates, "generalised period doubling", 0.1, "period doubling", bent)
    assert [found["mu"], found["nu"]] == pytest.approx([0, 0], abs=1e-8)
    assert found.normal_form.coefficients["e"] == pytest.approx(e, rel=1e-4)
    assert f"the {'larger' if e < 0 else 'smaller'} of two is stable" in found.status


def test_chenciner_points_are_located():
    """Ẇ = (μ + 0.3i) W + (ν + 0.4i) W|W|²."""
    rates = beside_the_circle(sm.oo, (mu + 0.3 * sm.I) * Z + (nu + 0.4 * sm.I) * Z * S, bent=0.2)
    found = located(rates, "chenciner", 0.1, "torus", bent=0.2)
    assert [found["mu"], found["nu"]] == pytest.approx([0, 0], abs=1e-8)
    assert found.status.endswith("folds of tori start here")


def radial(a, b, bent):
    """r = 1 + s with ṡ = v, v̇ = μ + νs + as² + bsv, in the coordinate z = v + bent s²; the phase runs as 1 + s/3."""
    r = sm.sqrt(x**2 + y**2)
    s = r - 1
    v, turn = z - bent * s**2, 1 + s / 3
    rates = {x: v * x / r - y * turn, y: v * y / r + x * turn, z: mu + nu * s + a * s**2 + b * s * v + 2 * bent * s * v}
    return pfaff.ode(rates, {mu: -0.04, nu: 0.2}, load=mu)


@pytest.mark.parametrize(("a", "b", "bent"), [(1.0, -0.5, 0), (0.7, 0.3, 0)])
def test_resonance_1_1_in_closed_form(a, b, bent):
    s = min(np.roots([a, 0.2, -0.04]), key=abs)
    t = np.linspace(0, 2 * np.pi, 200)
    loop = {"x": (1 + s) * np.cos(t), "y": (1 + s) * np.sin(t), "z": bent * s**2 + 0 * t}
    branch = radial(a, b, bent).at().orbit(t=t / (1 + s / 3), **loop).orbits(to=0.1, points=70)
    (found,) = branch.of_kind("fold")[0].curve("nu", to=-0.2).of_kind("1:1 resonance")
    coefficients = found.normal_form.coefficients
    assert abs(coefficients["a"]) == pytest.approx(a, rel=1e-6)
    assert coefficients["b"] / coefficients["a"] == pytest.approx(b / a, rel=1e-5)
    assert found.normal_form.stable == (a * b < 0)


@pytest.mark.parametrize(("slope", "size"), [(0, 1), (0.3, 1000)])
def test_cusp_in_closed_form(slope, size):
    """ṙ = −r(r² − 1)³ at the cusp: c = −8 of r − 1, also where periods have a slope, and in other units of length."""
    rho = (x**2 + y**2) / size**2
    growth, turn = mu + nu * rho + 3 * rho**2 - rho**3, 1 + slope * (rho - 1)
    ode = pfaff.ode({x: growth * x - turn * y, y: growth * y + turn * x}, {mu: -1, nu: -2}, load=mu)
    (cusp,) = ode.at().hopf(to=4).orbits(to=2).of_kind("fold")[0].curve("nu", to=-3.5).of_kind("cusp")
    assert cusp.normal_form.coefficients["c"] * size**2 == pytest.approx(-8, rel=1e-3)
    assert cusp.status.endswith("of three orbits between the folds two are stable")
    motions = [ode.at(mu=0.97, nu=-2.97).simulate(3000, samples=2, x=size * r) for r in (0.9, 1.1)]
    radii = [np.hypot(motion["x"][-1], motion["y"][-1]) / size for motion in motions]
    assert radii[1] - radii[0] > 0.05


def test_what_has_no_normal_form_says_so():
    rates = beside_the_circle(4, (mu + sm.I * nu) * Z - Z * S + E * back**3, 0)
    found = located(rates, "1:4 resonance", 0.03, "torus")
    from dataclasses import replace

    with pytest.raises(ParameterError, match="a fold-flip has no normal form here: ask at a cusp"):
        _ = replace(found, kind="fold-flip").normal_form


# Other curves that meet there.


@pytest.fixture(scope="module")
def doubled():
    """ζ̇ = μζ + νζ³ − ζ⁵: the doubled orbits fold at μ = −ν²/4."""
    rates = beside_the_circle(2, (mu + nu * SQUARE - SQUARE**2) * ALONG - sm.I * ACROSS, 0)
    return located(rates, "generalised period doubling", 0.1, "period doubling")


def test_folds_of_doubled_orbits_start_at_a_generalised_period_doubling(doubled):
    curve = doubled.switch("fold", to=0.3)
    assert curve[0].period == pytest.approx(4 * np.pi, rel=1e-8)
    assert max(abs(point["mu"] + point["nu"] ** 2 / 4) for point in curve) < 1e-12
    with pytest.raises(ParameterError, match="folds of cycles are above nu = .* give to above it"):
        doubled.switch("fold", to=-0.3)
    with pytest.raises(NoBifurcationError, match="one curve of kind fold starts at a generalised period doubling"):
        doubled.switch("fold", to=0.3, way=-1)
    with pytest.raises(ParameterError, match="way"):
        doubled.switch("fold", to=0.3, way=2)


def test_tori_and_period_doublings_meet_at_a_1_2_resonance():
    """ζ̈ = νζ + μζ̇ + …: period doublings at ν = 0, tori at μ = 0 < −ν, the angle of their pair being 2π(1/2 − √−ν)."""
    rates = beside_the_circle(2, ACROSS + sm.I * (nu * ALONG + mu * ACROSS - SQUARE * (ALONG + ACROSS)), 0)
    found = located(rates, "1:2 resonance", -0.02, "torus")
    flips = found.switch("period doubling", to=-1, points=4)
    assert max(abs(point["nu"]) for point in flips) < 1e-9
    assert np.ptp([point["mu"] for point in flips]) > 0.03
    tori = found.switch("torus", to=-0.02)
    assert max(abs(point["mu"]) for point in tori) < 1e-9
    assert tori[-1].angle == pytest.approx(2 * np.pi * (0.5 - np.sqrt(0.02)), abs=1e-8)
    with pytest.raises(ParameterError, match="tori are below nu = .*, and to=0.05 is not"):
        found.switch("torus", to=0.05)
    assert "stable tori, about the orbit" in found.status
    before, beyond = (
        found.case.at(nu=-0.02, mu=there).simulate(3000, samples=3001, x=1, z=0.02) for there in (-0.01, 0.01)
    )
    sizes = [np.hypot(motion["z"], motion["w"])[-300:].max() for motion in (before, beyond)]
    assert sizes[0] < 1e-4
    assert sizes[1] == pytest.approx(2 * np.sqrt(0.01), rel=0.1)  # of ζ̈ = −ω²ζ + (μ − ζ²) ζ̇


def test_what_starts_nowhere_is_said(doubled):
    from dataclasses import replace

    with pytest.raises(ParameterError, match="there starts no curve of kind 'torus'"):
        doubled.switch("torus", to=1)
    with pytest.raises(NoBifurcationError, match="no curve of another kind starts at a cusp"):
        replace(doubled, kind="cusp").switch("fold", to=1)
