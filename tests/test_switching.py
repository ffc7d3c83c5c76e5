"""Curves that start at points of codimension two, against closed forms of normal forms."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.errors import NoBifurcationError, ParameterError

x, y, z, w = sm.symbols("x y z w", real=True)
mu, nu, b1, b2 = sm.symbols("mu nu b1 b2", real=True)
R = sm.Rational


@pytest.fixture(scope="module")
def takens():
    """ẍ = b1 + b2 x + x² − x ẋ in three units of x: folds b1 = b2²/4, Hopf points b1 = 0, b2 < 0."""
    system = pfaff.ode({x: y / 2, y: 2 * (b1 + b2 * 3 * x + 9 * x**2 - 9 * x * y / 2) / 3}, {b1: -0.3, b2: -1}, load=b1)
    (fold,) = system.at().branch(to=1, start={"x": -0.5 / 3}).of_kind("fold")
    (point,) = fold.curve("b2", to=1).of_kind("bogdanov-takens")
    return point


def test_three_curves_meet_at_a_bogdanov_takens_point(takens):
    """The homoclinic one is b1 = −(6/25) b2² + …, at b2 = −1 where a direct integration has it."""
    folds = takens.switch("fold", to=-1)
    assert [p["b1"] - p["b2"] ** 2 / 4 for p in folds] == pytest.approx([0] * len(folds), abs=1e-12)
    assert folds.special == ()
    hopfs = takens.switch("hopf", to=-1)
    assert [p["b1"] for p in hopfs] == pytest.approx([0] * len(hopfs), abs=1e-12)
    assert hopfs[-1].omega == pytest.approx(1)
    loops = takens.switch("homoclinic", to=-1)
    assert loops.of == "homoclinic orbits"
    assert loops[0]["b1"] / loops[0]["b2"] ** 2 == pytest.approx(-6 / 25, abs=2e-3)
    assert loops[-1]["b1"] == pytest.approx(-0.2136021984, abs=1e-9)
    for of in ("fold", "hopf", "homoclinic"):
        (half,) = takens.switch(of, to=-1, events={"half": "b2 = -1/2"}).of_kind("event: half")
        assert half["b2"] == pytest.approx(-0.5, abs=1e-9)
    for of in ("hopf", "homoclinic"):
        with pytest.raises(ParameterError, match="are below b2 = .*, and to=1 is not: give to below it"):
            takens.switch(of, to=1)


def test_what_does_not_start_there_is_refused(takens):
    with pytest.raises(ParameterError, match="hopf"):
        takens.switch("hops", to=-1)
    bent = pfaff.ode({x: nu + mu * x - x**3}, {mu: 1, nu: -2}, load=nu).at()
    (cusp,) = bent.branch(to=2, start={"x": -1.5}).special[0].curve("mu", to=-1).special
    with pytest.raises(NoBifurcationError, match="no curve of another kind starts at a cusp"):
        cusp.switch("fold", to=1)


def test_folds_of_cycles_start_at_a_generalised_hopf_point():
    """ṙ = r (μ + ν r² − r⁴): folds μ = −ν²/4 for ν > 0, with r² = ν/2."""
    square = x**2 + y**2
    grows = mu + nu * square - square**2
    case = pfaff.ode({x: grows * x - y, y: x + grows * y}, {mu: -0.5, nu: -0.5}, load=mu).at()
    curve = case.hopf(to=1).curve("nu", to=1)
    (point,) = curve.of_kind("generalised hopf")
    folds = point.switch("fold of cycles", to=1)
    assert folds.kind == "fold"
    assert [p["mu"] + p["nu"] ** 2 / 4 for p in folds] == pytest.approx([0] * len(folds), abs=1e-9)
    assert folds[-1].special.amplitude["x"] == pytest.approx(np.sqrt(0.5), rel=1e-8)
    with pytest.raises(ParameterError, match="folds of cycles are above nu"):
        point.switch("fold of cycles", to=-1)
    (hopf,) = {round(p.hopf.value, 9) for p in curve}
    assert hopf == 0


def test_folds_of_cycles_of_the_column():
    """From its generalised Hopf point at c_i = 22.114041175 down to the fold that is met on the cycles at c_i = 15."""
    case = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5)
    (point,) = case.hopf().curve("c_i", to=30).of_kind("generalised hopf")
    folds = point.switch("fold of cycles", to=15)
    hopf = case.at(c_i=15).hopf()
    (fold,) = hopf.orbits(to=hopf.value + 2 * (folds[-1]["F"] - hopf.value)).of_kind("fold")
    assert folds[-1]["F"] == pytest.approx(fold.value, rel=1e-8)


def test_tori_start_at_a_double_hopf_point():
    """ṙ1 = r1 (μ − r1² − 2 r2²), ṙ2 = r2 (ν + r1²/2 − r2²): tori off the first cycles where μ = −2ν > 0."""
    first, second = mu - x**2 - y**2 - 2 * (z**2 + w**2), nu + (x**2 + y**2) / 2 - z**2 - w**2
    turn = sm.sqrt(2)
    rates = {x: first * x - y, y: x + first * y, z: second * z - turn * w, w: turn * z + second * w}
    (point,) = pfaff.ode(rates, {mu: -0.5, nu: -0.5}, load=mu).at().hopf(to=1).curve("nu", to=1).special
    assert point.kind == "double hopf"
    tori = point.switch("torus", to=-0.5)
    assert tori.of == "tori"
    assert [p["mu"] + 2 * p["nu"] for p in tori] == pytest.approx([0] * len(tori), abs=1e-9)
    hopfs = point.switch("hopf", to=1, points=5)  # of the other pair, for every μ
    assert [p["nu"] for p in hopfs] == pytest.approx([0] * len(hopfs), abs=1e-12)
    assert [p.omega for p in hopfs] == pytest.approx([np.sqrt(2)] * len(hopfs))


@pytest.mark.parametrize("k", [0, sm.Rational(1, 10), sm.Rational(-1, 5)])
def test_both_curves_of_tori_start_at_a_double_hopf_point(k):
    """ṙ1 = r1 (μ − r1² − r2²/2), ṙ2 = r2 (ν + kμ − r1²/3 − r2²): tori off the first cycles where ν = (1/3 − k)μ, off
    the second ones where (2 − k)μ = ν, both at ν > 0; without k the first parameter does not move the second pair."""
    first, second = mu - x**2 - y**2 - (z**2 + w**2) / 2, nu + k * mu - (x**2 + y**2) / 3 - z**2 - w**2
    turn = sm.sqrt(3)
    rates = {x: first * x - y, y: x + first * y, z: second * z - turn * w, w: turn * z + second * w}
    (point,) = pfaff.ode(rates, {mu: -0.5, nu: -0.5}, load=mu).at().hopf(to=1).curve("nu", to=1).special
    one, other = (point.switch("torus", to=0.3, way=way) for way in (1, -1))
    assert [p["nu"] - (1 / 3 - k) * p["mu"] for p in one] == pytest.approx([0] * len(one), abs=1e-9)
    assert [p["mu"] - p["nu"] / (2 - k) for p in other] == pytest.approx([0] * len(other), abs=1e-9)
    assert (one.ended, other.ended) == ("reached 0.3", "reached 0.3")
    with pytest.raises(NoBifurcationError, match="one curve of kind hopf starts at a double hopf point"):
        point.switch("hopf", to=0.3, way=-1)
    with pytest.raises(ParameterError, match="way"):
        point.switch("torus", to=0.3, way=2)


def test_tori_start_at_a_zero_hopf_point():
    """ẇ = ν − w² − r², ṙ = r (μ + w − (w² + r²)/2): tori where μ = ν/2 − 1 + √(1 + ν)."""
    grows = mu + w - (w**2 + x**2 + y**2) / 2
    rates = {w: nu - w**2 - x**2 - y**2, x: grows * x - y, y: x + grows * y}
    hopf = pfaff.ode(rates, {mu: -1, nu: 1}, load=mu).at().hopf(to=1, w=1)
    (point,) = hopf.curve("nu", to=-1).of_kind("zero-hopf")
    tori = point.switch("torus", to=0.5)
    expected = [p["nu"] / 2 - 1 + np.sqrt(1 + p["nu"]) for p in tori]
    assert [p["mu"] for p in tori] == pytest.approx(expected, abs=1e-9)
    folds = point.switch("fold", to=0.5, points=4)
    assert [p["nu"] for p in folds] == pytest.approx([0] * 4, abs=1e-12)


# Branch points of equilibria


@pytest.mark.parametrize("g", [0.5, 5.0, -0.5])
@pytest.mark.parametrize("to", [0.1, 0.3])
def test_tori_far_from_their_hopf_points_start_at_a_zero_hopf_point(g, to):
    """ẋ = a + x² − r² + g x r², ṙ = r (b + x): on the cycles x = −b the trace 2x + g r² vanishes at r² = 2b/g, where
    a = (2b/g)(1 + g b) − b², of first order in b, while Hopf points at a = −b² are of second order."""
    a, b, x, z, w = sm.symbols("a b x z w", real=True)
    square = z**2 + w**2
    rates = {x: a + x**2 - square + g * x * square, z: z * (b + x) - w, w: w * (b + x) + z}
    branch = pfaff.ode(rates, {a: -1, b: 0.3}, load=a).at().branch(to=1, start={"x": -1})
    (point,) = branch.of_kind("fold")[0].curve("b", to=-1).of_kind("zero-hopf")
    side = np.sign(g)
    tori = point.switch("torus", to=side * to)
    assert tori[-1]["b"] == side * to
    for each in tori:
        radius = 2 * each["b"] / g
        assert each["a"] == pytest.approx(radius * (1 + g * each["b"]) - each["b"] ** 2, abs=1e-9)
    with pytest.raises(ParameterError, match="tori are"):
        point.switch("torus", to=-side * to)


def test_a_curve_along_which_its_parameter_stays_says_so():
    """The other Hopf points of r1' = r1 (a − …), r2' = r2 (b − …) are at b = 0, whatever a is."""
    a, b = sm.symbols("a b", real=True)
    x, y, z, w = sm.symbols("x y z w", real=True)
    one, two = x**2 + y**2, z**2 + w**2
    first, second = a - one - 2 * two, b - 2 * one - two
    omega = sm.sqrt(2)
    rates = {x: x * first - y, y: y * first + x, z: z * second - omega * w, w: w * second + omega * z}
    hopf = pfaff.ode(rates, {a: -1, b: -0.5}, load=a).at().branch(to=1).of_kind("hopf")[0]
    (point,) = hopf.curve("b", to=1).of_kind("double hopf")
    curve = point.switch("hopf", to=1, points=60)
    assert "b does not change along it, and to=1 is not reached" in curve.ended


def branching(rates, **options):
    case = pfaff.ode(rates, {mu: -1, nu: 0}, load=mu).at()
    (point,) = case.branch(to=1).of_kind("branch point")
    return point.curve("nu", to=1, **options)


def test_pitchforks_in_two_parameters(tmp_path):
    """At μ = ν², with ẇ = (ν − 1/2) w³ (and −w y with y = w²/4 in another curve): subcritical beyond ν = 1/2."""
    curve = branching({x: (mu - nu**2) * x + (nu - R(1, 2)) * x**3 - x**5, y: -y + x**2})
    assert curve.of == "pitchforks"
    assert [p["mu"] - p["nu"] ** 2 for p in curve] == pytest.approx([0] * len(curve), abs=1e-12)
    assert [p.coefficient - p["nu"] + 0.5 for p in curve] == pytest.approx([0] * len(curve), abs=1e-9)
    (point,) = curve.special
    assert (point.kind, point["nu"]) == ("degenerate pitchfork", pytest.approx(0.5, abs=1e-10))
    again = pfaff.load(curve.save(tmp_path / "curve.nc"), curve[0].case)
    assert again.status == curve.status
    assert curve.plot().axes[0].get_legend_handles_labels()[1]


def test_transcritical_points_in_two_parameters():
    """At μ = sin ν, with ẇ = (2ν − 1) w²/√2 for a unit vector: a pitchfork at ν = 1/2."""
    curve = branching({x: x * (mu - sm.sin(nu) - x + 2 * nu * x), y: -y + x})
    assert curve.of == "branch points"
    assert [p["mu"] - np.sin(p["nu"]) for p in curve] == pytest.approx([0] * len(curve), abs=1e-12)
    assert curve[-1].coefficient == pytest.approx(1 / np.sqrt(2), rel=1e-6)
    (point,) = curve.special
    assert (point.kind, point["nu"]) == ("pitchfork", pytest.approx(0.5, abs=1e-10))


def test_branches_that_come_apart_have_no_curve():
    with pytest.raises(NoBifurcationError, match="come apart as nu changes"):
        branching({x: mu * x - x**3 + nu, y: -y})


def test_buckling_of_a_column_is_a_pitchfork_for_every_stiffness():
    """A bar on a spring under a dead load P: P l = k, w³ with (P l)/6 = k/6 beside no quadratic spring."""
    from sympy.physics.mechanics import dynamicsymbols

    theta = dynamicsymbols("theta")
    k, l, c, P = sm.symbols("k l c P", positive=True)
    bar = pfaff.System(
        coordinates=[theta],
        kinetic=theta.diff() ** 2 / 2,
        potential=k * theta**2 / 2 + P * l * (sm.cos(theta) - 1),
        dissipation=c * theta.diff() ** 2 / 2,
        parameters={k: 1, l: 2, c: 0.3, P: 0.1},
        load=P,
    )
    (point,) = bar.at().branch("P", to=1).of_kind("branch point")
    curve = point.curve("k", to=3)
    assert curve.of == "pitchforks"
    assert [p["P"] - p["k"] / 2 for p in curve] == pytest.approx([0] * len(curve), abs=1e-10)
    assert all(p.coefficient < 0 for p in curve)


def test_small_homoclinic_orbits_beside_fast_oscillations():
    """The Lorenz-84 model with temperature (Kuznetsov, Meijer and van Veen, Int. J. Bifurcation Chaos 14, 2004), where
    finer meshes do not lower the error of loops of size 0.004: they begin 49/25 times as far from the folds as Hopf
    points do."""
    X, Y, Z, U = sm.symbols("X Y Z U", real=True)
    F, T = sm.symbols("F T", real=True)
    gamma, delta = 0.987, 1.04
    rates = {
        X: -(Y**2) - Z**2 - X / 4 + F / 4 - gamma * U**2,
        Y: X * Y - X * Z - Y + sm.Rational(1, 4),
        Z: X * Y + X * Z - Z,
        U: -delta * U + gamma * U * X + T,
    }
    branch = pfaff.ode(rates, {F: 3, T: 0.04}, load=F).at().branch("F", to=0)
    (takens,) = branch.of_kind("hopf")[0].curve("T", to=-0.05).of_kind("bogdanov-takens")
    loops = takens.switch("homoclinic", to=0.04, points=2)
    at = loops[-1]["T"]
    fold, hopf = (takens.switch(of, to=at)[-1]["F"] for of in ("fold", "hopf"))
    assert (loops[-1]["F"] - fold) / (hopf - fold) == pytest.approx(49 / 25, rel=0.03)


def test_two_cells_leave_their_common_state():
    """Brusselators side by side: at the branch point the tangent of the Jacobian alone is that of neither branch."""
    u0, v0, u1, v1, p = sm.symbols("u0 v0 u1 v1 p")
    rates = {}
    for (u, v), (other_u, other_v) in (((u0, v0), (u1, v1)), ((u1, v1), (u0, v0))):
        rates[u] = 2 - (p + 1) * u + u**2 * v + (other_u - u) / 10
        rates[v] = p * u - u**2 * v + 2 * (other_v - v)
    uniform = pfaff.ode(rates, {p: 1}, load=p).at().branch(to=7, start={"u0": 2, "u1": 2, "v0": 0.5, "v1": 0.5})
    last = uniform.of_kind("branch point")[0].switch(to=7)[-1]
    assert abs(last.state["u0"] - last.state["u1"]) > 3
    assert last.state["u0"] + last.state["u1"] == pytest.approx(4, abs=1e-9)  # as summing all rates demands


def morris_lecar(**changed):
    """Morris and Lecar, Biophys. J. 35 (1981)."""
    V, u, I, phi, half, slope, calcium = sm.symbols("V u I phi V3 V4 gCa", real=True)
    given = {I: 0, phi: "1/25", half: 2, slope: 30, calcium: "22/5"}
    given |= {symbol: changed[symbol.name] for symbol in given if symbol.name in changed}
    opened, steady = (1 + sm.tanh((V + 1.2) / 18)) / 2, (1 + sm.tanh((V - half) / slope)) / 2
    current = I - 2 * (V + 60) - calcium * opened * (V - 120) - 8 * u * (V + 84)
    rates = {V: current / 20, u: phi * (steady - u) * sm.cosh((V - half) / (2 * slope))}
    return pfaff.ode(rates, given, load=I).at()


def test_homoclinic_orbits_where_hopf_points_turn_back_beside_a_bogdanov_takens_point():
    """Hopf points rise in φ by 4e-5 and then fall: the loops of the normal form are too far off, cycles are not."""
    case = morris_lecar(gCa=4, V3=12, V4=17.4, phi="1/15")
    point = case.hopf(to=150).curve("phi", to=1).special[-1]
    curve = point.switch("homoclinic", to=0.3)
    assert curve[-1]["phi"] == 0.3
    loop = case.at(phi=0.3).hopf(to=150).orbits(to=-60).homoclinic()
    assert curve[-1]["I"] == pytest.approx(loop["I"], abs=1e-6)
    with pytest.raises(ParameterError, match="homoclinic orbits are below phi = 0.39"):
        point.switch("homoclinic", to=0.5)


def test_a_degenerate_bogdanov_takens_point_leads_nowhere():
    """At φ = 0 the second state does not move at all, and equilibria form a line."""
    point = morris_lecar().hopf(to=300).curve("phi", to=-0.5).special[-1]
    assert point["phi"] == pytest.approx(0, abs=1e-8)
    assert point.coefficients["a"] == 0
    for kind in ("fold", "hopf", "homoclinic"):
        with pytest.raises(NoBifurcationError, match="degenerate, a = 0"):
            point.switch(kind, to=0.1)
    with pytest.raises(ParameterError, match="nothing follows, ends at a bogdanov-takens point"):
        morris_lecar().hopf(to=300).curve("phi", to=-0.5).extend(to=-1)


@pytest.mark.parametrize("unit", [1, 1e-4, 1e-6, 1e-8])
def test_tori_of_the_other_pair_in_any_units(unit):
    """r1' = r1 (μ/k − r1² − r2²/2), r2' = r2 (ν − r1²/3 − r2²): tori on the cycles r2² = ν where μ/k = ν/2."""
    x, y, z, w, mu, nu = sm.symbols("x y z w mu nu", real=True)
    one, two = x**2 + y**2, z**2 + w**2
    f, s, omega = mu / unit - one - two / 2, nu - one / 3 - two, sm.sqrt(3)
    rates = {x: f * x - y, y: x + f * y, z: s * z - omega * w, w: omega * z + s * w}
    hopf = pfaff.ode(rates, {mu: -0.5 * unit, nu: -0.5}, load=mu).at().hopf(to=unit)
    (point,) = hopf.curve("nu", to=1).special
    tori = point.switch("torus", to=0.3, way=-1)
    assert tori[-1]["mu"] / unit == pytest.approx(0.15, rel=1e-7)
