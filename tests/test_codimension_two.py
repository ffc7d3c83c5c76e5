"""Normal forms of cycles at cusps and resonances: closed forms in several coordinates and units, and motions."""

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
