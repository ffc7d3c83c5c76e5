"""Critical loads: published digits, completeness of the search, and what is said where there is none."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.algebra.roots import all_roots
from pfaff.errors import ConvergenceError, ParameterError, PfaffError
from pfaff.rest.path import LoadPath

t = dynamicsymbols._t


@pytest.mark.parametrize("constraint", ["skate", "bow"])
@pytest.mark.parametrize("load", ["dead", "spring"])
@pytest.mark.parametrize(
    ("damping", "flutter", "divergence"),
    [
        # Cazzolli et al. (2020), Eq. (71), Fig. 9, Eqs. (80) and (81); converged digits
        ({}, 76.2073258262292, 95.4109314351816),
        ({"c_i": 1.5}, 76.3379703896335, 108.915743348559),
        ({"c_t": 0.7}, 51.9874739039666, None),
        ({"c_r": 0.7}, 51.3927125506073, None),
    ],
)
def test_published_loads(constraint, load, damping, flutter, divergence):
    values = {"K": 40} if load == "spring" else {}
    found = pfaff.atlas.column(2, constraint, load).at(**XI_HAT, **damping, **values).critical()
    scale = 40 if load == "spring" else 1  # p = K Δ at X = 0
    assert scale * found.flutter.value == pytest.approx(flutter, rel=1e-12)
    if divergence is not None:
        assert scale * found.divergence.value == pytest.approx(divergence, rel=1e-12)
    assert not found.buckling
    assert found.buckling.value is None


def test_frequency_mode_and_crossing_speed(skate):
    """Sec. 6.1: ω0 = 1.01923; the crossing speed converges to 0.0744746679653 (0.0744935 is printed)."""
    found = skate.at(**XI_HAT, c_i=1.5).flutter()
    assert found.frequency == pytest.approx(1.01922949893, rel=1e-10)
    assert found.crossing_speed == pytest.approx(0.0744746679653, rel=1e-10)
    lin = skate.at(**XI_HAT, c_i=1.5, F=found.value).linearise()
    mode = np.array(list(found.mode.values()))
    residual = lin.M @ mode * found.eigenvalue**2 + lin.C @ mode * found.eigenvalue + lin.stiffness @ mode
    np.testing.assert_allclose(lin.kernel.T @ residual, 0, atol=1e-10)
    assert np.abs(mode).max() == pytest.approx(1)


def test_misaligned_bow_flutters_on_its_bent_path(bow):
    """Sec. 6.2 prints 78.276; the converged value on the equilibrium path is 78.2992872849."""
    found = bow.at(**XI_HAT, c_i=1.5, beta0=float(np.pi / 100)).critical(to=120)
    assert found.flutter.value == pytest.approx(78.2992872849, rel=1e-11)
    assert not found.buckling


def test_ziegler_pendulum_of_the_textbook():
    """Masses 2m and m at the ends of equal bars: 7/2 − √2 (k/l) undamped (Ziegler 1952)."""
    case = _ziegler()
    assert case.flutter().value == pytest.approx(3.5 - np.sqrt(2), rel=1e-13)
    assert sm.simplify(case.flutter(exact=True).value - (sm.Rational(7, 2) - sm.sqrt(2))) == 0
    assert case.paradox({"c_i": 1}).limit == pytest.approx(41 / 28, rel=1e-12)  # equal vanishing damping


def _ziegler() -> pfaff.Case:
    return pfaff.atlas.ziegler(2, individual=True).at(l1=1, l2=1, d1=1, d2=1, m1=2, m2=1, k1=1, k2=1)


@pytest.mark.parametrize("c", [0.3, 2.0, 30.0])
def test_external_damping_formula(skate, c):
    """The closed form of Sec. 5.2.1 for c_e with ξ̂."""
    printed = (
        11566752096 + 25235 * c**2 - 721 * np.sqrt(245 * (5 * c**2 + 1465344) * c**2 + 40956144431616)
    ) / 169589580
    assert skate.at(**XI_HAT, c_e=c).flutter().value == pytest.approx(printed, rel=1e-11)


def coupled(width: float, damping: float = 0.0) -> pfaff.Case:
    """Two oscillators, antisymmetrically coupled, whose frequencies cross at F = 1: flutter for |F − 1| < 2 width."""
    x, y = dynamicsymbols("x y")
    F, e, c = sm.symbols("F e c", real=True)
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    return pfaff.System(
        [x, y],
        kinetic,
        ((1 + F) * x**2 + 2 * y**2) / 2,
        c * kinetic,
        forces={x: e * y, y: -e * x},
        parameters={F: 0, e: width, c: damping},
        load=F,
    ).at()


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_no_narrow_window_is_skipped(width):
    found = coupled(width).critical(to=50)
    assert found.flutter.value == pytest.approx(1 - 2 * width, rel=1e-9)
    assert [cell.kind for cell in found.cells] == ["stable", "flutter", "stable"]
    assert found.cells[1].high - found.cells[1].low == pytest.approx(4 * width, rel=1e-3)


def test_no_narrow_window_is_skipped_with_damping():
    """Damping c narrows the window to |F − 1| < 2√(e² − 2c²·(mean ω²)/…): found by bisection of the growth rate."""
    case = coupled(1e-3, damping=1e-3 / 2)
    found = case.critical(to=50)

    def growth(F: float) -> float:
        return case.spectrum(F=F).values.real.max()

    inside, outside = 1.0, 1 - 3e-3
    assert growth(inside) > 0 > growth(outside)
    for _ in range(80):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if growth(middle) > 0 else (inside, middle)
    assert found.flutter.value == pytest.approx(inside, rel=1e-10)


def test_buckling_of_an_euler_column():
    """One bar under a load that keeps its direction buckles at k/l; two bars at (3 − √5)/2 k/l."""
    theta, psi = dynamicsymbols("theta psi")
    F, m = sm.symbols("F m", real=True)
    one = pfaff.System(
        [theta], m * theta.diff(t) ** 2 / 2, theta**2 / 2 + F * sm.cos(theta), parameters={F: 0, m: 1}, load=F
    )
    assert one.at().buckling().value == pytest.approx(1, rel=1e-12)
    assert one.at().divergence().value == pytest.approx(1, rel=1e-12)
    assert not one.at().flutter()
    two = pfaff.System(
        [theta, psi],
        m * (theta.diff(t) ** 2 + psi.diff(t) ** 2) / 2,
        theta**2 / 2 + (psi - theta) ** 2 / 2 + F * (sm.cos(theta) + sm.cos(psi)),
        parameters={F: 0, m: 1},
        load=F,
    )
    assert two.at().buckling().value == pytest.approx((3 - np.sqrt(5)) / 2, rel=1e-12)
    exact = two.at().buckling(exact=True).value
    assert sm.simplify(exact - (3 - sm.sqrt(5)) / 2) == 0


def test_a_path_that_folds_ends_in_buckling():
    """V = x³/3 − x + F x loses its equilibria at F = 1, from x = √(1 − F)."""
    x = dynamicsymbols("x")
    F, m = sm.symbols("F m", real=True)
    system = pfaff.System([x], m * x.diff(t) ** 2 / 2, (x + 1) ** 3 / 3 - x + F * x, parameters={F: 0, m: 1}, load=F)
    found = system.at().critical(to=5)
    assert found.buckling.value == pytest.approx(1, rel=1e-12)
    assert "folds back" in found.buckling.how
    assert found.flutter.searched[1] == pytest.approx(1, rel=1e-6)


def test_a_load_that_nothing_resists_is_told():
    """A cart on a rail that is pushed along it rests without load alone."""
    x, y = dynamicsymbols("x y")
    F, m = sm.symbols("F m", real=True)
    kinetic = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    cart = pfaff.System([x, y], kinetic, y**2 / 2 - F * x, parameters={F: 0, m: 1}, load=F)
    found = cart.at().critical()
    assert found.cells == ()
    assert found.buckling.value == 0
    assert "has no continuation" in found.buckling.how
    assert "has no continuation from F = 0" in found.flutter.how
    with pytest.raises(PfaffError, match="nothing to draw"):
        found.plot()
    with pytest.raises(ConvergenceError, match=r"case\.equilibria\(\)"):
        cart.at(F=1).equilibrium()


def test_the_picture_is_of_the_member_that_was_asked_for():
    """A stiffness 2 + cos x that depends on where a cart stands: it buckles at F = 2 + cos x."""
    x, theta = dynamicsymbols("x theta")
    F, m = sm.symbols("F m", real=True)
    kinetic = m * (x.diff(t) ** 2 + theta.diff(t) ** 2) / 2
    potential = ((2 + sm.cos(x)) * theta**2 - F * sm.sin(theta) ** 2) / 2
    found = pfaff.System([x, theta], kinetic, potential, parameters={F: 0, m: 1}, load=F).at().critical(x=2)
    assert found.divergence.value == pytest.approx(2 + np.cos(2), rel=1e-12)
    marks = [line.get_xdata()[0] for line in found.plot().axes[0].lines if line.get_linestyle() == "--"]
    assert marks == pytest.approx([2 + np.cos(2)], rel=1e-12)


@pytest.mark.parametrize("width", [1.0, 0.1, 0.01])
def test_a_snap_through_is_not_leapt_over(width):
    """V = u⁴/4 − u³ + u² − F u folds at F = 2/(3√3), whatever the unit of x = u · width."""
    x = dynamicsymbols("x")
    F, m = sm.symbols("F m", real=True)
    u = x / width
    system = pfaff.System([x], m * x.diff(t) ** 2 / 2, u**4 / 4 - u**3 + u**2 - F * u, parameters={F: 0, m: 1}, load=F)
    found = system.at().critical(to=1)
    assert found.buckling.value == pytest.approx(2 / (3 * np.sqrt(3)), rel=1e-7)
    assert "folds back at" in found.flutter.how


@pytest.mark.parametrize("k", [1e-6, 1e6, 1e8])
def test_units_of_steel_and_of_rubber(skate, k):
    found = skate.at(k=k, k1=50 * k, M_L=15, I_L=15).critical()
    assert found.flutter.value == pytest.approx(76.2073258262292 * k, rel=1e-11)
    assert not found.buckling


def test_a_stiff_neighbour_does_not_hide_flutter():
    """The same window beside an oscillator a million times as fast, coupled to nothing."""
    x, y, z = dynamicsymbols("x y z")
    F = sm.Symbol("F", real=True)
    e = sm.Rational(1, 100)
    system = pfaff.System(
        [x, y, z],
        (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2,
        ((1 + F) * x**2 + 2 * y**2) / 2 + 10**12 * z**2 / 2,
        forces={x: e * y, y: -e * x},
        parameters={F: 0},
        load=F,
    )
    assert system.at().flutter(to=5).value == pytest.approx(0.98, rel=1e-9)


def test_a_rotor_without_damping():
    """m(ẍ − 2Wẏ) + (k1 − mW²)x = 0, … : unstable between the two natural frequencies, nowhere else."""
    x, y = dynamicsymbols("x y")
    W, c = sm.symbols("W c", real=True)
    kinetic = ((x.diff(t) - W * y) ** 2 + (y.diff(t) + W * x) ** 2) / 2
    rotor = pfaff.System(
        [x, y],
        kinetic,
        (x**2 + 2 * y**2) / 2,
        c * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        parameters={W: 0, c: 0},
        load=W,
    )
    found = rotor.at().critical()
    assert [cell.kind for cell in found.cells] == ["stable", "divergence", "stable"]
    np.testing.assert_allclose([cell.low for cell in found.cells], [0, 1, np.sqrt(2)], atol=1e-12)
    assert found.divergence.how == "an eigenvalue passes through zero"
    assert found.buckling.value == pytest.approx(1, abs=1e-12)


def test_holding_what_the_load_pushes():
    """The misaligned column on its spring: the block is held, so that the spring presses."""
    case = pfaff.atlas.column(4, load="spring").at(c_e=0.1, K=10, beta0=0.2)
    found = case.flutter().value
    assert found == pytest.approx(case.flutter(X=0).value, rel=1e-12)
    assert found == pytest.approx(0.39702193, rel=1e-7)


def test_any_parameter_may_be_the_load(skate):
    """A stiffness declared positive grows from zero all the same."""
    x, y = dynamicsymbols("x y")
    k, e = sm.symbols("k e", positive=True)
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    system = pfaff.System(
        [x, y], kinetic, ((1 + k) * x**2 + 2 * y**2) / 2, forces={x: e * y, y: -e * x}, parameters={k: 1, e: 0.01}
    )
    assert system.at().flutter(load="k", to=5).value == pytest.approx(0.98, rel=1e-9)


def test_parametric_excitation_is_refused():
    x = dynamicsymbols("x")
    m, a = sm.symbols("m a", positive=True)
    system = pfaff.System([x], m * x.diff(t) ** 2 / 2, (1 + a * sm.cos(2 * t)) * x**2 / 2, parameters={m: 1, a: 0.5})
    with pytest.raises(ConvergenceError, match="explicitly"):
        system.at().spectrum()
    with pytest.raises(ConvergenceError, match="explicitly"):
        system.at().equilibria(starts=5)


@pytest.mark.parametrize("n", [2, 4, 7])
@pytest.mark.parametrize("damping", [{}, {"c_i": 1.5}, {"c_e": 0.1}])
def test_how_far_is_searched_changes_no_digit(n, damping):
    """All candidates come at once, so that a longer interval neither costs more nor skips the first load."""
    case = pfaff.atlas.column(n).at(**XI_HAT, **damping)
    found = case.critical()
    for to in (1.5 * found.divergence.value, 1e4, 1e30):
        assert case.flutter(to=to).value == pytest.approx(found.flutter.value, rel=1e-13)
        assert case.divergence(to=to).value == pytest.approx(found.divergence.value, rel=1e-13)


def test_loads_beyond_which_stiffness_outweighs_heavy_damping():
    """1804274.16183898 in fifty digits: combinations that suit the damping at small loads cost four digits there."""
    case = pfaff.atlas.column(2).at(d=0.9654914742974081, M_L=14.495798815470673, I_L=10.82912484239321,
                                    k1=1.2810462697300464, c_i=4064.717542353586)  # fmt: skip
    for to in (None, 1.01 * 1804274, 1e7, 1e9):
        assert case.flutter(to=to).value == pytest.approx(1804274.1618389823, rel=1e-13)


@pytest.mark.parametrize(
    ("bars", "c_i", "c_e", "load"),
    [(6, 6653.007054575124, 0, 449.2122241294162), (8, 2860.432278629209, 0.0001811952813376687, 127.24331883192453)],
)
def test_rounding_does_not_hide_a_load_near_the_end(bars, c_i, c_e, load):
    """Growth that rounding hides at first is seen far beyond the load: the end of a search must not cut it off."""
    case = pfaff.atlas.column(bars, "bow").at(**XI_HAT, c_i=c_i, c_e=c_e)
    found = case.flutter()
    assert abs(found.value - load) < found.rounding < 1e-5 * load  # in sixty digits
    assert {case.flutter(to=share * load).value for share in (1.001, 1.01, 1.1, 1e3)} == {found.value}


def test_a_search_without_end_is_refused(skate):
    with pytest.raises(ParameterError, match="positive finite"):
        skate.at(**XI_HAT).flutter(to=float("inf"))


@pytest.mark.parametrize("n", [1, 3, 5, 8, 12])
def test_skate_and_bow_have_the_same_loads(n):
    """Their stiffness matrices are transposes of each other (Cazzolli et al. 2020, Sec. 4.2)."""
    loads = [pfaff.atlas.column(n, constraint).at(**XI_HAT, c_i=1.5).flutter().value for constraint in ("skate", "bow")]
    assert loads == [None, None] if n == 1 else loads[0] == pytest.approx(loads[1], rel=1e-12)


def test_the_default_range_goes_as_far_as_damping_moves_the_load(skate):
    """P_d(c_i) = 64 c_i²/723 + 4410529058/57927483, without a limit."""
    for c in (10, 100, 1000):
        found = skate.at(**XI_HAT, c_i=c).flutter()
        assert found.value == pytest.approx(64 * c**2 / 723 + 4410529058 / 57927483, rel=1e-11)
        assert found.searched[1] >= found.value
    with pytest.raises(ParameterError, match="no flutter load up to"):
        float(skate.at(**XI_HAT, c_i=1000).flutter(to=500))


@pytest.mark.parametrize("exponent", [-10, -6, -2, 2, 4, 6, 7, 8, 9, 10, 12])
def test_damping_of_any_size(skate, exponent):
    """The closed form of Sec. 5.2.1 for c_e in many digits; Eqs. (80) and (81) do not depend on c_t and c_r."""
    c = 10.0**exponent
    with mpmath.workdps(60):
        m = mpmath.mpf(c)
        root = mpmath.sqrt(245 * (5 * m**2 + 1465344) * m**2 + 40956144431616)
        external = float((11566752096 + 25235 * m**2 - 721 * root) / 169589580)
    for name, value in (("c_e", external), ("c_t", 24902 / 479), ("c_r", 12694 / 247)):
        case = skate.at(**XI_HAT, **{name: c})
        assert case.flutter().value == pytest.approx(value, rel=1e-12)
        if -4 < exponent < 10:
            assert case.spectrum(F=0.999 * value).stable
            assert "1 growing oscillation" in case.spectrum(F=1.001 * value).status


def in_many_digits(lin, bars):
    """The eigenvalues of a straight column: its block X is at rest."""
    with mpmath.workdps(60):
        M, C, K = (mpmath.matrix(matrix[:bars, :bars].tolist()) for matrix in (lin.M, lin.C, lin.stiffness))
        J = mpmath.zeros(2 * bars)
        J[:bars, bars:] = mpmath.eye(bars)
        J[bars:, :bars], J[bars:, bars:] = -mpmath.inverse(M) * K, -mpmath.inverse(M) * C
        return np.array([complex(value) for value in mpmath.eig(J, left=False, right=False)])


@pytest.mark.parametrize("values", [{"c_e": 1e9}, {"c_t": 1e9, "c_i": 1}, {"c_r": 1e7, "c_e": 1e-5}, {"c_i": 1e8}])
def test_spectra_of_heavily_damped_columns(values):
    """Against eigenvalues in fifty digits: none is wrong by more than is told, and what is told is little."""
    spectrum = pfaff.atlas.column(3).at(**XI_HAT, **values).spectrum(F=5)
    expected = in_many_digits(spectrum.linearisation, 3)
    error = np.array([np.abs(expected - value).min() for value in spectrum.values])
    assert (error <= spectrum.rounding).all()
    assert (spectrum.rounding <= 1e-5 * np.abs(spectrum.values)).all()
    assert sorted(np.sign(spectrum.values.real)) == sorted(np.sign(expected.real))


def test_divergence_where_an_oscillation_turns_real(skate):
    """c_e = 1/10: the eigenvalues are complex just below the load and real just above."""
    case = skate.at(**XI_HAT, c_e="1/10")
    load = case.divergence().value
    assert load == pytest.approx(95.4113086195, rel=1e-11)
    below, above = (case.spectrum(F=load * (1 + share)).values for share in (-1e-9, 1e-9))
    assert np.abs(below[below.real > 0].imag).min() > 1e-6
    assert np.abs(above[above.real > 0].imag).max() == 0


def test_a_far_search_along_a_bent_equilibrium_skips_nothing(bow):
    case = bow.at(**XI_HAT, c_i=1.5, beta0=float(np.pi / 100))
    expected = case.flutter(to=100).value
    for to in (80, 1e3, 1e5):
        assert case.flutter(to=to).value == pytest.approx(expected, rel=1e-11)
        assert case.hopf(to=to).value == pytest.approx(expected, rel=1e-11)


def test_none_is_an_answer(skate):
    found = pfaff.atlas.column(1).at(c_i=0.1).flutter(to=200)
    assert not found
    assert found.value is None
    assert "no flutter up to F = 200" in found.status
    with pytest.raises(ParameterError, match="no flutter load up to"):
        float(found)


def test_loads_by_name(skate):
    case = skate.at(**XI_HAT, F=60)
    assert case.flutter(load="F").value == pytest.approx(76.2073258262292)
    with pytest.raises(ParameterError, match="'Fx'"):
        case.flutter(load="Fx")
    with pytest.raises(ParameterError, match="positive finite"):
        case.flutter(to=-1)
    x = dynamicsymbols("x")
    m = sm.Symbol("m", positive=True)
    with pytest.raises(ParameterError, match="declares no load"):
        pfaff.System([x], m * x.diff(t) ** 2, x**2, parameters={m: 1}).at().flutter()


def test_independent_route_through_the_flow(skate):
    """The flutter load once more, from eigenvalues of the shape flow's Jacobian and bisection."""
    case = skate.at(**XI_HAT, c_i=0.4, c_e=0.3, c_t=0.2, c_r=0.1)
    low, high = 0.0, 120.0
    for _ in range(100):
        middle = (low + high) / 2
        growth = np.linalg.eigvals(skate.shape.jacobian(np.zeros(4), case.at(F=middle))).real.max()
        low, high = (middle, high) if growth < 0 else (low, middle)
    assert case.flutter().value == pytest.approx(low, rel=1e-11)


def test_all_roots_are_found_where_they_nearly_meet():
    """Σ of roots known in advance, two of them 1e-5 apart, and a near miss that must not be taken for a root."""
    wanted = np.array([0.1, 0.37, 0.37001, 0.9])

    def function(x: float):
        factors = np.append(x - wanted, (x - 0.6) ** 2 + 1e-10)
        return (
            np.array([np.sign(factors).prod()]),
            np.array([np.log(np.abs(factors) + 1e-300).sum()]),
            np.array([-40.0]),
        )

    (found,) = all_roots(function, 0.0, 1.0)
    for root in wanted:
        assert np.abs(found - root).min() < 1e-9
    assert np.abs(found - 0.6).min() > 1e-3


@pytest.mark.parametrize("c", [421.7, 1e3, 1e5, 1e6])
def test_heavy_damping_and_large_loads_together(c):
    """The slow, the usual and the fast eigenvalues are of three scales, and K is of full size but nearly singular."""
    lin = pfaff.atlas.column(2).at(d="1/2", M_L=1, I_L=0, k1=1, c_i=c, F=3.3684 * c**2).linearise()
    expected = in_many_digits(lin, 2)
    found = lin.spectrum()
    for value, allowed in zip(found.values, found.rounding, strict=True):
        assert np.abs(expected - value).min() <= allowed
        assert c > 1e3 or allowed < 1e-6 * abs(value)  # beyond, the digits of K itself decide


@pytest.mark.parametrize("unit", [1, 1e-3, 1e4])
def test_an_equilibrium_that_runs_to_infinity_does_not_buckle(unit):
    """V = √(1 + x²) − F x: x/√(1 + x²) = F has no solution from F = 1 on, and none turns back there."""
    x, F = dynamicsymbols("x"), sm.Symbol("F", real=True)
    far = x * unit
    system = pfaff.System([x], far.diff(t) ** 2 / 2, sm.sqrt(1 + far**2) - F * far, parameters={F: 0}, load=F)
    for found in (system.at().critical(to=3), system.at().critical()):
        assert not any((found.flutter, found.divergence, found.buckling))
        assert "runs to infinity near F = 1" in found.buckling.status
    with pytest.raises(ConvergenceError, match="runs to infinity near F = 1"):
        system.at(F=2).spectrum()


@pytest.mark.parametrize("k1", [1e5, 1e8, 1e10])
@pytest.mark.parametrize("bars", [3, 5, 13])
def test_a_stiff_spring_hides_nothing_that_is_soft(bars, k1):
    """Stability at zero load is looked at, and loads from those of the softest spring on: as with a near end."""
    case = pfaff.atlas.column(bars).at(d="1/2", M_L=15, I_L=15, k1=k1, c_i=1.5)
    for kind in ("flutter", "divergence"):
        far, near = getattr(case, kind)(), getattr(case, kind)(to=20)
        assert 0 < far.value < 20
        assert far.value == pytest.approx(near.value, rel=1e-12)
    assert case.spectrum(F=0.99 * case.flutter().value).stable
    assert not case.spectrum(F=1.01 * case.flutter().value).stable


@pytest.mark.parametrize("c", [1e-2, 1e-5, 1e-6, 1e-8])
def test_weak_damping_has_its_hopf_point(skate, c):
    case = skate.at(**XI_HAT, c_i=c)
    assert case.hopf().value == pytest.approx(case.flutter().value, rel=1e-11)


def test_uncertain_loads_say_so(skate):
    """Equal dashpots make equal slow modes of as many bars: 16601.7039117 in fifty digits for four."""
    found = pfaff.atlas.column(4).at(**XI_HAT, c_i=1e5).flutter()
    assert abs(found.value - 16601.7039117) < found.rounding < 0.1 * found.value
    assert "because of rounding" in found.status
    sure = skate.at(**XI_HAT, c_i=1.5).flutter()
    assert sure.rounding < 1e-12 * sure.value
    assert "rounding" not in sure.status


def test_a_load_smaller_than_its_rounding_is_found_but_not_where(skate):
    found = replace(skate.at(**XI_HAT, c_i=1.5).flutter(), value=2e-9, rounding=1e-7)
    assert found
    assert found.status.startswith("flutter begins before F = 1e-07, rounding hides where")


def test_a_far_end_given_is_searched(skate):
    """Stiffnesses beside which a load of one is rounding."""
    s = 1e13
    case = skate.at(d="1/2", M_L=15, I_L=15, k1=50 * s, k=s, c_i=1.5 * s**0.5)
    assert case.flutter(to=500 * s).value == pytest.approx(76.3379703896 * s, rel=1e-11)


def test_what_grows_under_any_load_is_critical_at_once():
    """ẍ + x = F y, ÿ + y = −F x with a gyroscopic term: unstable for every F, and stable without."""
    x, y = dynamicsymbols("x y")
    F = sm.Symbol("F", real=True)
    system = pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        (x**2 + y**2) / 2,
        forces={x: F * y, y: -F * x},
        parameters={F: 0},
        load=F,
    )
    for to in (None, 1e-3, 1.0, 7.3, 1e3):
        found = system.at().flutter(to=to)
        assert found.value == 0
        assert found.status == "flutter at F = 0: as soon as there is a load"
    assert system.at().spectrum().stable


@pytest.mark.parametrize("c_i", [1e-4, 1e-8, 1e-12, 1e-20])
def test_however_light_the_damping_is(skate, c_i):
    """Against the closed form 64 c²/723 + 4410529058/57927483 of two bars: all digits, also of the crossing speed."""
    found, rates = skate.at(**XI_HAT, c_i=c_i).flutter(), skate.at(**XI_HAT, c_i=1e-6).flutter()
    assert found.value == pytest.approx(64 * c_i**2 / 723 + 4410529058 / 57927483, rel=1e-14)
    assert found.rounding < 1e-12
    assert found.crossing_speed / c_i == pytest.approx(rates.crossing_speed / 1e-6, rel=1e-6)


@pytest.mark.parametrize("constraint", ["skate", "bow"])
def test_light_damping_of_many_bars_does_not_depend_on_the_interval(constraint):
    """As the load tends to that of vanishing damping, 0.918827385535 (of six bars, computed with c_i = 1e-5)."""
    column = pfaff.atlas.column(6, constraint)
    expected = column.at(**XI_HAT, c_i=1e-5).flutter().value
    case = column.at(**XI_HAT, c_i=1e-12)
    for to in (None, 1, 5, 1e8):
        assert case.flutter(to=to).value == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("bars", "values", "expected", "digits"),
    [(7, {**XI_HAT, "c_i": 5e4}, 582.2134243559, 1e-6), (6, {"M_L": 1, "I_L": 1, "c_i": 5e4}, 664.8893018977, 3e-4)],
)
def test_growth_that_heavy_damping_hides_is_followed_back_to_where_it_begins(bars, values, expected, digits):
    """The determinant of the column in sixty digits; growth is seen only 1e-4 and 1e-2 beyond."""
    case = pfaff.atlas.column(bars).at(**{"d": 0.5, "k1": 1, **values})
    found = case.flutter()
    assert found.value == pytest.approx(expected, rel=digits)
    assert found.value == case.flutter(to=2 * expected).value


def test_stiffness_near_the_least_number_leaks_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pfaff.atlas.column(2).at(k=1e-300, k1=1e-300).flutter().value == pytest.approx(6e-300, rel=1e-9)


@pytest.mark.parametrize("to", [300, 1000, 1e5, None])
def test_divergence_in_a_window_between_oscillations(to):
    """An oscillation turns into exponentials and back: eigenvalues in sixty digits are complex, real, complex."""
    case = pfaff.atlas.column(7).at(**XI_HAT, c_i=1680)
    found = case.divergence(to=to)
    path = LoadPath(case, "F", {})
    kinds = []
    for share in (1 - 1e-4, 1 + 1e-4, 1.7):
        values = in_many_digits(path.linearise(found.value * share), 7)
        kinds.append(bool(np.abs(values[values.real > 1e-12].imag).max() > 1e-12))
    assert kinds == [True, False, True]
    assert found.value == pytest.approx(222.1787523508, abs=found.rounding)
    assert 1e-5 < found.rounding < 0.01
    assert "because of rounding" in found.status


def test_rounding_is_not_told_as_stability():
    """Without buckling exponentials grow and decay in pairs; far beyond, one of them is slower than rounding."""
    found = pfaff.atlas.column(13).at(**XI_HAT, c_i=1.5).critical()
    assert not found.buckling
    assert all(cell.divergent % 2 == 0 for cell in found.cells)
    assert all(a.high == b.low for a, b in pairwise(found.cells))


def two_masses(K, change, C, gyroscopic=0.0):
    """q̈ + (C + F·gyroscopic·J) q̇ + (K + F·change) q = 0, J a quarter turn."""
    q, F = sm.Matrix(dynamicsymbols("x y")), sm.Symbol("F", real=True)
    forces = -(sm.Matrix(K) + F * sm.Matrix(change)) * q
    forces -= (sm.Matrix(C) + F * gyroscopic * sm.Matrix([[0, 1], [-1, 0]])) * q.diff(t)
    kinetic = (q.diff(t).T * q.diff(t))[0] / 2
    return pfaff.System(list(q), kinetic, forces=dict(zip(q, forces, strict=True)), parameters={F: 0}, load=F).at()


@pytest.mark.parametrize("c", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("to", [None, 50])
def test_a_rotor_with_light_internal_damping(c, to):
    """Two equal frequencies, c (1 + F J) inside and c outside: whirl from F = 2 on, as exactly as is told."""
    found = two_masses(np.eye(2), [[0, c], [-c, 0]], 2 * c * np.eye(2)).flutter(to=to)
    assert found.value == pytest.approx(2, abs=found.rounding)
    assert found.rounding < 1e-12 / c


@pytest.mark.parametrize("e", [1e-6, 1e-9, 1e-11])
def test_small_loads_are_not_zero(e):
    """q̈ + e J q + F … with a rotor's gyroscopic load: found at F = 2e, not as soon as there is a load."""
    found = two_masses(4 * np.eye(2), [[0, 1], [-1, 0]], e * np.eye(2)).flutter()
    assert found.value == pytest.approx(2 * e, abs=max(found.rounding, 1e-12))
    assert 0 < found.rounding < 1e-12


@pytest.mark.parametrize("damping", [0, 0.1])
@pytest.mark.parametrize("to", [None, 3])
def test_modes_that_buckle_together(damping, to):
    """A strut on a ball joint: V = (x² + y²)/2 + F √(1 − x² − y²)."""
    (x, y), F, c = dynamicsymbols("x y"), sm.Symbol("F", real=True), sm.Symbol("c", nonnegative=True)
    speeds = x.diff(t) ** 2 + y.diff(t) ** 2
    potential = (x**2 + y**2) / 2 + F * sm.sqrt(1 - x**2 - y**2)
    strut = pfaff.System([x, y], speeds / 2, potential, dissipation=c * speeds / 2, parameters={F: 0, c: 0}, load=F)
    found = strut.at(c=damping).critical(to=to)
    assert found.buckling.value == pytest.approx(1, rel=1e-14)
    assert found.divergence.value == pytest.approx(1, rel=1e-14)


def test_divergence_just_before_an_eigenvalue_passes_zero():
    """q̈ − 1e-4 q̇ + (1 − F) q: the oscillation turns real where 1 − F = 1e-8/4."""
    found = two_masses(np.diag([1, 4]), np.diag([-1, 0]), np.diag([-1e-4, 0.1])).divergence()
    assert 1 - found.value == pytest.approx(0.25e-8, rel=1e-6)


def test_an_interval_that_ends_just_beyond_a_load(skate):
    case = skate.at(**XI_HAT, c_i=1.5)
    for kind in ("flutter", "divergence"):
        expected = getattr(case, kind)().value
        for beyond in (1e-9, 1e-7, 1e-4, 1e-2):
            assert getattr(case, kind)(to=expected * (1 + beyond)).value == pytest.approx(expected, rel=1e-12)
        assert not getattr(case, kind)(to=expected * (1 - 1e-9))


@pytest.mark.parametrize("far", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_loads_far_beyond_the_natural_range(far, damping):
    """q̈ + (1/3 − F/far) q beside a stiffening mode: the change of the stiffness on a usual load is all but rounding."""
    found = two_masses(np.diag([2, sm.Rational(1, 3)]), np.diag([1, -1 / far]), damping * np.eye(2)).critical()
    for load in (found.buckling, found.divergence):
        assert load.value == pytest.approx(far / 3, abs=load.rounding)
        assert load.rounding < 1e-13 * far


@pytest.mark.parametrize("c", [0, 1e-2, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("C", [[[1, -1], [-1, 1]], np.eye(2)])
def test_a_rigid_motion_that_stays_free_takes_no_part(c, C):
    """Two masses on a spring float; r = x − y obeys r̈ + 2c ṙ + (2 − F/3) r = 0, or with c for 2c."""
    found = two_masses([[1, -1], [-1, 1]], [[-0.5, 0.5], [-1 / 6, 1 / 6]], c * np.array(C)).critical()
    assert not found.flutter
    for load in (found.divergence, found.buckling):
        assert load.value == pytest.approx(6, rel=1e-13)
        assert load.rounding < 1e-12


@pytest.mark.parametrize("c", [0, 1e-2, 1e-6, 1e-12])
def test_of_two_rigid_motions_one_stays_free(c):
    """The same pair beside a mass that floats at first and is held by the load."""
    q, F = sm.Matrix(dynamicsymbols("x y z")), sm.Symbol("F", real=True)
    K = sm.Matrix([[1, -1, 0], [-1, 1, 0], [0, 0, 0]])
    K += F * sm.Matrix(
        [[-sm.Rational(1, 2), sm.Rational(1, 2), 0], [-sm.Rational(1, 6), sm.Rational(1, 6), 0], [0, 0, 1]]
    )
    forces = -K * q - c * q.diff(t)
    kinetic = (q.diff(t).T * q.diff(t))[0] / 2
    stated = dict(zip(q, forces, strict=True))
    found = pfaff.System(list(q), kinetic, forces=stated, parameters={F: 0}, load=F).at().critical()
    assert not found.flutter
    assert found.divergence.value == pytest.approx(6, rel=1e-12)
    assert found.divergence.rounding < 1e-11


def test_a_floating_structure_that_is_never_unstable():
    for c in (0, 1e-2, 1e-12):
        found = two_masses([[1, -1], [-1, 1]], [[-1 / 3, 1 / 3], [-1 / 3, 1 / 3]], c * np.eye(2)).critical()
        assert not any((found.flutter, found.divergence, found.buckling))


def test_a_soft_spring_is_no_rigid_motion():
    found = two_masses([[1 + 1e-10, -1], [-1, 1]], [[-1e-10, 0], [0, 0]], np.zeros((2, 2))).critical()
    assert found.buckling.value == pytest.approx(1, abs=found.buckling.rounding)


def test_where_a_search_ends_does_not_change_what_a_bent_path_shows_before():
    column = pfaff.atlas.column(4, "bow").at(d=0.5, M_L=15, I_L=15.03, k1=50, c_i=1.5, beta0=np.pi / 100)
    found = column.flutter().value
    assert all(column.flutter(to=to).value == found for to in (1.86, 12, 13.7, 50))


@pytest.mark.parametrize("exponent", [-20, -8, 0, 8, 20])
def test_the_default_range_follows_the_units_of_the_load(exponent):
    """A load that bends the equilibrium, and a speed that only turns: 10^−k of it for every unit."""
    unit, t = sm.Integer(10) ** exponent, sm.Symbol("t")
    (q, r), F = sm.symbols("q r", cls=sm.Function), sm.Symbol("F")
    q, r = q(t), r(t)
    kinetic, bent = q.diff(t) ** 2 / 2 + r.diff(t) ** 2, q**2 / 2 + r**2 + q**4 / 4 + q**2 * r
    bending = pfaff.System([q, r], kinetic, bent - F * unit * (sm.cos(q) + q / 10), load=F, parameters={F: 0})
    rates = {q: (F * unit - 1) * q.diff(t), r: -r.diff(t) / 2}
    turning = pfaff.System([q, r], kinetic, q**2 + 2 * r**2, forces=rates, load=F, parameters={F: 0}).at().critical()
    assert bending.at().critical().flutter.searched[1] * float(unit) == pytest.approx(100, rel=1e-12)
    assert turning.flutter.searched[1] * float(unit) == pytest.approx(20, rel=1e-12)
    assert turning.flutter.value * float(unit) == pytest.approx(1, rel=1e-12)


def test_heavy_damping_hides_no_digits_that_it_leaves(skate):
    """What rounding makes of slow eigenvalues here is frequency; the load is that of sixty digits (mpmath)."""
    case = skate.at(d=0.9616571936637868, M_L=62.852061413557564, I_L=2.137050792348008, k1=0.01641079545189267,
                    c_i=4356171.392132183, c_t=303.30325174436126)  # fmt: skip
    found = case.flutter()
    assert found.value == pytest.approx(58396.52759341057, rel=2e-11)
    assert abs(found.value - 58396.52759341057) < found.rounding < 1e-6 * found.value


@pytest.mark.parametrize(("apart", "drag", "load"), [(0, 0, 0), (4e-13, 0, 2e-13), (0, 2e-13, 2e-13)])
def test_loads_that_are_nearly_none_are_told_from_none(apart, drag, load):
    """Two frequencies that differ by δ/2 meet under a circulatory force δ/2; equal ones flutter where it beats drag."""
    q, w = dynamicsymbols("q w")
    force, stiffer, damping = sm.symbols("F d c", real=True)
    system = pfaff.System(
        [q, w], (q.diff() ** 2 + w.diff() ** 2) / 2, ((1 + stiffer) * q**2 + w**2) / 2,
        damping * (q.diff() ** 2 + w.diff() ** 2) / 2, {q: force * w, w: -force * q},
        parameters={force: 0, stiffer: 0, damping: 0}, load=force,
    )  # fmt: skip
    assert system.at(d=apart, c=drag).flutter().value == pytest.approx(load, abs=1e-14)


def test_a_platform_on_three_cranks_in_metres_and_in_millimetres():
    """Springs of 0.5 N m at cranks of 0.1 m that are upright carry P l = 3 k; near there rounding moves far."""
    x, y, phi, *cranks = pfaff.statement.coordinates("x y phi a1 a2 a3")
    t, P = pfaff.statement.TIME, sm.Symbol("P", real=True)
    for length, mass in ((1, sm.Integer(1)), (1000, sm.Rational(1, 1000))):
        radius, l = sm.Rational(3 * length, 10), sm.Rational(length, 10)
        kinetic = mass * (x.diff(t) ** 2 + y.diff(t) ** 2 + length**2 * phi.diff(t) ** 2 / 100)
        kinetic += mass * length**2 * sum(a.diff(t) ** 2 for a in cranks) / 2000
        rows: list[sm.Expr] = []
        for k, a in enumerate(cranks):
            c, s = radius * sm.cos(2 * sm.pi * k / 3), radius * sm.sin(2 * sm.pi * k / 3)
            rows.append(x + c * sm.cos(phi) - s * sm.sin(phi) - c - l * sm.sin(a))
            rows.append(y + c * sm.sin(phi) + s * sm.cos(phi) - s - l * sm.cos(a) + l)
        potential = mass * length**2 * sum(a**2 for a in cranks) / 4 + P * y
        system = pfaff.System(
            [x, y, phi, *cranks], kinetic, potential, holonomic_constraints=rows, parameters={P: 0}, load=P
        )
        assert system.at().divergence().value == pytest.approx(15, rel=1e-9)


@pytest.mark.parametrize("unit", [1, sm.Integer(10) ** 155, sm.Integer(10) ** -155])
def test_forces_that_are_not_finite_are_no_foreign_errors(unit):
    x, y, z = pfaff.statement.coordinates("x y z")
    t, P = pfaff.statement.TIME, sm.Symbol("P", real=True)
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2
    steep = x**2 / unit**2 + y**2 / unit**2 + z**2 - P * sm.sqrt(1 - x / unit) + P * y / unit
    system = pfaff.System([x, y, z], kinetic, steep, parameters={P: 0}, load=P)
    for ask in ("equilibrium", "spectrum", "critical", "equilibria"):
        with contextlib.suppress(pfaff.errors.PfaffError):
            assert getattr(system.at(), ask)().status


def test_rows_that_are_nearly_dependent_are_named():
    x, y, z = pfaff.statement.coordinates("x y z")
    t = pfaff.statement.TIME
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2
    rows = [x + y - z, x + y - z + y / 10**9]
    system = pfaff.System([x, y, z], kinetic, x**2 + y**2, holonomic_constraints=rows)
    for ask in (lambda: system.at().spectrum(), lambda: system.at().simulate(1, x=0.1)):
        with pytest.raises(pfaff.errors.RankError, match="rows 1, 2"):
            ask()


def test_constraints_are_solved_in_an_order_that_suits_the_state():
    """Rows that turn with s have pivots cos s: in the order of the origin none at s = π/2."""
    from pfaff.flow.lowering import pivots_of
    from pfaff.flow.relative import order_at

    x, y, s = pfaff.statement.coordinates("x y s")
    t = pfaff.statement.TIME
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2 + s.diff(t) ** 2) / 2
    rows = [
        sm.cos(s) * x.diff(t) - sm.sin(s) * y.diff(t) + s.diff(t) / 10,
        sm.sin(s) * x.diff(t) + sm.cos(s) * y.diff(t) + s * s.diff(t) / 10,
    ]
    system = pfaff.System([x, y, s], kinetic, nonholonomic_constraints=rows, accept_integrable=True)
    assert order_at(system, np.eye(2)) is None
    turned = np.array([[6e-17, -1.0], [1.0, 6e-17]])
    order = order_at(system, turned)
    assert order is not None
    assert pivots_of(turned, order).min() > 0.99
