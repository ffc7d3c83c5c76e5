"""Small motions: structural zeros, invariances, identities of the paper, Bottema's determinant."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.algebra.bordering import balanced, bordering
from pfaff.errors import RankError
from pfaff.rest.small_motions import hurwitz_matrix

t = dynamicsymbols._t
positive = st.floats(0.1, 5)


def small(most):
    return st.floats(-most, most, allow_subnormal=False)


DAMPINGS = ("c_i", "c_e", "c_t", "c_r")


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """The largest gap between two spectra, relative to their size."""
    first, second = np.asarray(first), list(second)
    worst = 0.0
    for value in first:
        nearest = min(range(len(second)), key=lambda k: abs(second[k] - value))
        worst = max(worst, abs(second.pop(nearest) - value))
    return worst / np.abs(first).max()


# invariances


@given(st.integers(1, 4), st.sampled_from(["skate", "bow"]), st.lists(positive, min_size=8, max_size=8))
def test_twins_have_one_spectrum(bars, constraint, values):
    """Cazzolli et al. (2020), Sec. 4.2: skate ≡ Ziegler and bow ≡ Reut for β0 = 0, any damping."""
    names = ("M_L", "I_L", "k1", *DAMPINGS, "F")
    given_values = dict(zip(names, values, strict=True))
    twin = pfaff.atlas.ziegler if constraint == "skate" else pfaff.atlas.reut
    ours = pfaff.atlas.column(bars, constraint).at(**given_values).spectrum()
    theirs = twin(bars).at(**given_values).spectrum()
    assert ours.structural_zeros == 1
    assert theirs.structural_zeros == 0
    assert distance(ours.values, theirs.values) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("bars", [5, 6, 7, 8])
def test_twins_have_one_spectrum_for_many_bars(bars):
    values = dict(
        zip(("M_L", "I_L", "k1", *DAMPINGS, "F"), np.random.default_rng(bars).uniform(0.1, 3, 8), strict=True)
    )
    skate = pfaff.atlas.column(bars, "skate").at(**values).spectrum().values
    for other in (pfaff.atlas.column(bars, "bow"), pfaff.atlas.ziegler(bars), pfaff.atlas.reut(bars)):
        assert distance(skate, other.at(**values).spectrum().values) < 1e-10


def test_the_order_of_coordinates_does_not_matter(skate):
    shuffled = pfaff.System(
        coordinates=[skate.coordinates[k] for k in (2, 0, 1)],
        kinetic=skate.kinetic,
        potential=skate.potential,
        dissipation=skate.dissipation,
        nonholonomic_constraints=skate.nonholonomic_constraints,
        parameters=skate.parameters,
        load="F",
    )
    values = XI_HAT | {"c_i": 1.5, "beta0": 0.03, "F": 30}
    assert distance(skate.at(**values).spectrum().values, shuffled.at(**values).spectrum().values) < 1e-12
    assert float(shuffled.at(**XI_HAT, c_i=1.5).flutter()) == pytest.approx(76.3379703896335, rel=1e-12)


def test_units_scale_out(skate):
    """L, M, k in other units: loads scale with k/L, frequencies with √(k/M)/L (Eq. 50)."""
    L, M, k = 3.0, 7.0, 11.0
    scaled = skate.at(
        d="1/2", L=L, M=M, k=k, k1=50 * k, M_L=15 * M, I_L=15 * M * L**2, c_i=1.5 * L * np.sqrt(k * M)
    ).flutter()
    assert scaled.value == pytest.approx(76.3379703896335 * k / L, rel=1e-12)
    assert scaled.frequency == pytest.approx(1.01922949893 * np.sqrt(k / M) / L, rel=1e-11)


def test_individual_bars_contain_the_uniform_column(skate):
    own = pfaff.atlas.column(2, individual=True).at(k1=50, k2=1, M_L=15, I_L=15, c_i=1.5, F=60)
    assert distance(own.spectrum().values, skate.at(**XI_HAT, c_i=1.5, F=60).spectrum().values) < 1e-13


# structure


def test_matrices_of_equation_32_by_name(skate):
    """Cazzolli et al. (2020), Eqs. (55)–(58) with ξ̂ and c_i = 3/2."""
    lin = skate.at(**XI_HAT, c_i=1.5, c_e=0.48, M_X=2, F=7).linearise()
    np.testing.assert_allclose(lin.M, [[3.90625, 3.8125, 0], [3.8125, 18.78125, 0], [0, 0, 18]], atol=1e-14)
    np.testing.assert_allclose(lin.C, [[3.08, -1.47, 0], [-1.47, 1.52, 0], [0, 0, 0.48]], atol=1e-14)
    np.testing.assert_allclose(lin.K, [[51, -1, 0], [-1, 1, 0], [0, 0, 0]], atol=1e-14)
    np.testing.assert_allclose(lin.G, [[-0.5, 0.5, 0], [0, 0, 0], [0, 0, 0]], atol=1e-14)
    np.testing.assert_allclose(lin.w, [0, 0, 1], atol=1e-15)
    assert lin.p == pytest.approx([7])


@pytest.mark.parametrize("constraint", ["skate", "bow"])
@given(st.integers(2, 5), small(0.25), small(0.2), st.lists(positive, min_size=10, max_size=10))
def test_determinants_of_the_stiffness(constraint, bars, beta, load, values):
    """Eqs. (28), (37), (111): det(K + pG) over the rotations is the product of the stiffnesses, bent or not."""
    stiffness, lengths = values[:bars], values[5 : 5 + bars]
    case = pfaff.atlas.column(bars, constraint, individual=True).at(
        **{f"k{i + 1}": k for i, k in enumerate(stiffness)},
        **{f"l{i + 1}": l for i, l in enumerate(lengths)},
        **{f"d{i + 1}": l / 2 for i, l in enumerate(lengths)},
        beta0=beta,
        F=load * min(stiffness) / max(lengths),
    )
    lin = case.linearise()
    expected = np.prod(stiffness)
    assert np.linalg.det(lin.K[:bars, :bars]) == pytest.approx(expected, rel=1e-9)
    assert np.linalg.det(lin.stiffness[:bars, :bars]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("bars", range(1, 9))
def test_geometric_stiffnesses_are_transposed(bars):
    """Eq. (48)."""
    skate, bow = (pfaff.atlas.column(bars, c).at(F=1).linearise().G for c in ("skate", "bow"))
    np.testing.assert_allclose(skate, bow.T, atol=1e-15)


def test_the_pencil_is_singular_at_every_eigenvalue_and_at_zero(bow):
    lin = bow.at(**XI_HAT, c_i=1.5, beta0=0.05, F=70).linearise()
    for value in (*lin.spectrum().values, 0):
        sizes = np.linalg.svd(lin.pencil(value))[1]
        assert sizes[-1] < 1e-12 * sizes[0]


def test_modes_and_their_reactions_satisfy_the_pencil(skate):
    lin = skate.at(**XI_HAT, c_i=1.5, beta0=0.05, F=30).linearise()
    spectrum = lin.spectrum()
    for value, mode, reaction in zip(spectrum.values, spectrum.vectors.T, spectrum.reactions.T, strict=True):
        np.testing.assert_allclose(lin.pencil(value) @ np.concatenate([mode, reaction]), 0, atol=1e-11)


def test_characteristic_polynomial_and_hurwitz(skate):
    case = skate.at(**XI_HAT, c_i="3/2", F=60)
    rho = case.characteristic()
    exact = case.characteristic(exact=True)
    np.testing.assert_allclose(rho, [float(c) for c in exact.all_coeffs()], rtol=1e-12)
    assert rho[0] == pytest.approx(58.8291015625)  # det M of Eq. (61)
    H = hurwitz_matrix(np.array([1.0, 2, 3, 4, 5]))
    np.testing.assert_array_equal(H, [[2, 1, 0, 0], [4, 3, 2, 1], [0, 5, 4, 3], [0, 0, 0, 5]])  # Eq. (63)
    assert (case.linearise().hurwitz() > 0).all()
    assert not (case.at(F=80).linearise().hurwitz() > 0).all()


def test_a_velocity_term_makes_the_zero_root_move():
    """A relation ż + κ z − y ẋ = 0 with κ > 0 conserves nothing: no structural zero, but the root −κ."""
    x, y, z = dynamicsymbols("x y z")
    m, k, kappa = sm.symbols("m k kappa", positive=True)
    system = pfaff.System(
        [x, y, z],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2,
        k * (x**2 + 2 * y**2) / 2,
        nonholonomic_constraints=[z.diff(t) + kappa * z - y * x.diff(t)],
        parameters={m: 1, k: 4, kappa: 0.7},
    )
    spectrum = system.at().spectrum()
    assert spectrum.structural_zeros == 0
    expected = [-0.7, 2j, -2j, np.sqrt(8) * 1j, -np.sqrt(8) * 1j]
    assert distance(expected, spectrum.values) < 1e-12


def test_holonomic_constraint_gives_the_spectrum_of_the_minimal_coordinates():
    x, y = dynamicsymbols("x y")
    m, g, L = sm.symbols("m g L", positive=True)
    system = pfaff.System(
        [x, y],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        m * g * y,
        holonomic_constraints=[x**2 + y**2 - L**2],
        parameters={m: 2, g: 9.81, L: 1.7},
    )
    case = system.at()
    bottom = next(at for at in case.equilibria(starts=50) if at["y"] < 0)
    spectrum = case.spectrum(about=bottom)
    assert spectrum.structural_zeros == 0
    assert distance([1j * np.sqrt(9.81 / 1.7), -1j * np.sqrt(9.81 / 1.7)], spectrum.values) < 1e-12
    assert case.linearise(about=bottom).symmetrisable


def test_ignorable_coordinates_add_structural_zeros(sleigh):
    """A free sleigh: one zero from the constraint, and its ignorable motions, none taken for a bifurcation."""
    x, y = dynamicsymbols("x y")
    m, k, c = sm.symbols("m k c", nonnegative=True)
    kinetic = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    free = pfaff.System([x, y], kinetic, k * y**2 / 2, c * x.diff(t) ** 2 / 2, parameters={m: 1, k: 1, c: 0})
    undamped, damped = free.at().spectrum(), free.at(c=0.3).spectrum()
    assert undamped.zeros == {"ignorable coordinates": 1, "undamped ignorable speeds": 1}
    assert damped.zeros == {"ignorable coordinates": 1}
    assert distance([1j, -1j], undamped.values) < 1e-14
    assert distance([1j, -1j, -0.3], damped.values) < 1e-14
    resting = sleigh.at().spectrum()
    assert resting.structural_zeros == 5  # it may rest anywhere and coast: nothing is left to be unstable
    assert not len(resting.values)


def test_a_ring_of_equilibria_is_divided_out_and_a_bifurcation_is_not():
    """V = (r² − 1)² rests on a circle: one zero along it. Euler's bar at its critical load has one by accident."""
    x, y = dynamicsymbols("x y")
    c, F = sm.symbols("c F", nonnegative=True)
    rates = x.diff(t) ** 2 + y.diff(t) ** 2
    ring = pfaff.System([x, y], rates / 2, (x**2 + y**2 - 1) ** 2, c * rates / 2, parameters={c: 0.1}).at()
    spectrum = ring.spectrum(about=ring.equilibrium(y=0, x=1))
    assert spectrum.zeros == {"families of equilibria": 1}
    assert len(spectrum.values) == 3
    bar = pfaff.System(
        [x], x.diff(t) ** 2 / 2, x**2 / 2 + F * sm.cos(x), c * x.diff(t) ** 2 / 2, parameters={c: 0.1, F: 0}
    )
    assert not bar.at(F=1).spectrum().zeros


def test_status_counts_growing_modes(skate):
    assert skate.at(**XI_HAT, F=80).spectrum().status.startswith("unstable: 1 growing oscillation")
    assert "2 divergent" in skate.at(**XI_HAT, F=120).spectrum().status
    assert skate.at(**XI_HAT, F=70).spectrum().status.startswith("stable")


# Bottema


@given(st.lists(st.floats(0.3, 3), min_size=2, max_size=2), st.floats(-0.2, 0.2), st.floats(-3, 3), st.floats(0.5, 2))
def test_bottemas_frequency_equation(diagonal, b12, c, a):
    """Bottema (1949): p⁴ + (b11 + b22) p² + b11 b22 − b12 (b12 − c) = 0, whatever a is."""
    b11, b22 = diagonal
    lin = pfaff.atlas.bottema().at(b11=b11, b22=b22, b12=b12, c=c, a=a).linearise()
    expected = np.array([1, 0, b11 + b22, 0, b11 * b22 - b12 * (b12 - c)])
    np.testing.assert_allclose(lin.polynomial() / lin.polynomial()[0], expected, atol=1e-9)
    assert lin.p == pytest.approx([-1])  # Bottema's λ0 = 1 has the opposite sign


def test_bottemas_determinant_and_its_symmetry():
    p = sm.Symbol("p")
    system = pfaff.atlas.bottema()
    nonholonomic, holonomic = (system.at(c=c).linearise() for c in (0.5, 0))
    assert not nonholonomic.symmetrisable
    assert holonomic.symmetrisable
    D = nonholonomic.bottema(p)
    assert D.shape == (4, 4)
    expected = p**4 + 3 * p**2 + 2 - (1 - sm.Rational(1, 2))
    assert sm.expand(sm.nsimplify(-D.det()) - expected) == 0


@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 2), (5, 2), (5, 4)])
def test_bottemas_general_case_counts_its_zero_roots(n, m):
    spectrum = pfaff.atlas.bottema_general(n, m).at(c211=0.3).spectrum()
    assert spectrum.structural_zeros == m
    assert len(spectrum.values) == 2 * (n - m)


def test_an_integrating_factor_does_not_make_it_unsymmetric():
    """Bottema: multiplying a holonomic relation by 1 + q·x changes c_ij by a_i q_j, which can be undone."""
    a, q = np.array([0.3, -0.2, 0.9]), np.array([0.5, -0.7, 0.4])
    values = {f"a{i + 1}1": a[i] for i in range(3)}
    values |= {f"c{i + 1}{j + 1}1": a[i] * q[j] for i in range(3) for j in range(3)}
    lin = pfaff.atlas.bottema_general(3, 1).at(**values).linearise()
    assert np.abs(lin.stiffness - lin.stiffness.T).max() > 0.1
    assert lin.symmetrisable


@pytest.mark.parametrize("unit", [1, 1e-3, 1e6])
def test_lost_rank_of_the_constraints_is_named(unit):
    """A constraint that vanishes at the equilibrium leaves no linear theory there, whatever its units."""
    x, y, z = dynamicsymbols("x y z")
    system = pfaff.System(
        coordinates=[x, y, z],
        kinetic=sum(q.diff(t) ** 2 for q in (x, y, z)) / 2,
        potential=(x**2 + 2 * y**2 + 3 * z**2) / 2,
        nonholonomic_constraints=[unit * (x * z.diff(t) - y * x.diff(t))],
    )
    case = system.at()
    for analysis in (case.spectrum, case.determinant, case.steady):
        with pytest.raises(RankError, match=r"lose rank \(rows 1.*x = 0, y = 0, z = 0"):
            analysis()
    assert case.linearise().B.shape == (1, 3)


def test_rows_that_become_dependent_are_named_and_others_are_not():
    x, y, z, w, v = dynamicsymbols("x y z w v")
    system = pfaff.System(
        coordinates=[x, y, z, w, v],
        kinetic=sum(q.diff(t) ** 2 for q in (x, y, z, w, v)) / 2,
        potential=(x**2 + y**2 + z**2 + w**2 + v**2) / 2,
        nonholonomic_constraints=[
            v.diff(t) - w * y.diff(t),
            z.diff(t) - y * x.diff(t),
            z.diff(t) + x * w.diff(t),
        ],
    )
    with pytest.raises(RankError, match=r"\(rows 2, 3\)"):
        system.at().spectrum()


@pytest.mark.parametrize("stiff", [1e6, 1e10, 1e12])
def test_a_stiff_spring_deletes_no_mode(stiff):
    """ÿ = ẏ/100 − y beside a stiff spring: λ = 0.005 ± √(0.005² − 1), and no family."""
    x, y = dynamicsymbols("x y")
    case = pfaff.System(
        coordinates=[x, y],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=stiff * x**2 / 2 + (y - 1) ** 2 / 2,
        forces={y: y.diff(t) / 100},
        dissipation=x.diff(t) ** 2 / 2,
    ).at()
    rest = case.equilibrium()
    assert rest.family_dimension == 0
    assert rest["y"] == pytest.approx(1)
    assert case.equilibria(starts=20)[0]["y"] == pytest.approx(1)
    spectrum = case.spectrum()
    assert spectrum.values[0] == pytest.approx(0.005 - 1j * np.sqrt(1 - 0.005**2), rel=1e-9)
    assert spectrum.status == "unstable: 1 growing oscillation"
    assert not case.steady().stable


def test_a_stiff_spring_leaves_families_as_they_are():
    """Only z − y is held by the weak spring: y and z may shift together, at any stiffness of x."""
    x, y, z = dynamicsymbols("x y z")
    case = pfaff.System(
        coordinates=[x, y, z],
        kinetic=sum(q.diff(t) ** 2 for q in (x, y, z)) / 2,
        potential=1e11 * x**2 / 2 + (y - z) ** 2 / 2,
    ).at()
    assert case.equilibrium().family_dimension == 1
    spectrum = case.spectrum()
    assert spectrum.zeros == {"families of equilibria": 1, "steady motions along them": 1}
    assert sorted(spectrum.values.imag)[2:] == pytest.approx([np.sqrt(2), np.sqrt(1e11)])


def test_a_stiff_hinge_of_the_column_is_a_rigid_one():
    """With k1 → ∞ the first bar is clamped: the slow pair tends to a limit and does not disappear."""
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, c_i="3/2")
    slow = [case.at(k1=k1).spectrum(F=10).values[:2] for k1 in (5e6, 5e9, 5e11)]
    assert slow[1] == pytest.approx(slow[0], rel=1e-5)
    assert slow[2] == pytest.approx(slow[1], rel=1e-7)


def test_a_weak_direction_between_the_coordinates_is_no_family():
    """Beside 10¹⁰ along (3, 4)/5 the stiffness across it, 1, is seen by a finite move; both modes grow at 0.005."""
    x, y = dynamicsymbols("x y")
    system = pfaff.System(
        coordinates=[x, y],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=sm.Integer(10) ** 10 * (3 * x + 4 * y) ** 2 / 50 + (4 * x - 3 * y) ** 2 / 50,
        forces={q: q.diff(t) / 100 for q in (x, y)},
    )
    assert system.at().spectrum().values.real == pytest.approx(np.full(4, 0.005), rel=1e-2)


@pytest.mark.parametrize("stiff", [1, 1e5])
def test_a_curved_family_is_confirmed(stiff):
    """Two springs hold two functions of three coordinates: a curve of equilibria, whatever their stiffness."""
    x, y, z = dynamicsymbols("x y z")
    first = sm.sin(x + 2 * y) + sm.exp(x / 3) * sm.cos(y) - 1 - z * sm.cosh(x)
    second = sm.sinh(x * y) + y - 2 * z
    case = pfaff.System(
        coordinates=[x, y, z],
        kinetic=sum(q.diff(t) ** 2 for q in (x, y, z)) / 2,
        potential=stiff * first**2 / 2 + second**2 / 2,
    ).at()
    assert case.spectrum(x=0.05).zeros == {"families of equilibria": 1, "steady motions along them": 1}


def test_a_soft_direction_beside_stiff_ones_is_no_family():
    """Its stiffness of 3e-14 beside the others' is far above what rounding leaves in its rows; mpmath has −7e-14."""
    values = {"d": 1.0447, "M_L": 1.16234, "I_L": 32.97473, "k1": 3.0145e-4, "c_i": 1571.33}
    case = pfaff.atlas.column(7).at(**values)
    found = case.spectrum(F=case.flutter().value)
    assert found.zeros == {"the nonholonomic constraints": 1}
    assert abs(found.values.real.max()) < 1e-11


# units


@pytest.mark.parametrize("n", [1, 2, 7])
def test_units_of_a_matrix_are_those_of_lapack_whatever_it_came_in(n):
    from scipy.linalg import matrix_balance

    rng = np.random.default_rng(n)
    A, D = rng.normal(size=(n, n)) + n * np.eye(n), 2.0 ** rng.integers(-12, 12, n)
    J = A * D / D[:, None]
    matrix, scale = balanced(J)
    _, (usual, _) = matrix_balance(J, permute=False, separate=True)
    np.testing.assert_allclose(scale / scale[0], usual / usual[0], rtol=1e-15)
    np.testing.assert_array_equal(matrix, J * scale / scale[:, None])
    right, border = rng.normal(size=n), bordering(J)
    assert border.regular
    np.testing.assert_allclose(border.solve(J, right / D) * D, np.linalg.solve(A, right), rtol=1e-9)


def test_a_matrix_without_units_is_refused_and_one_without_rows_is_not():
    with pytest.raises(ValueError, match="not finite"):
        balanced(np.array([[1.0, np.nan], [0.0, 1.0]]))
    assert balanced(np.zeros((0, 0)))[1].shape == (0,)


@pytest.mark.parametrize("damping", [0, 1])
def test_stiffness_that_cancels_on_the_constraints_is_none(damping):
    """What is left of 1 − 1 is rounding, and no divergence."""
    x, y = pfaff.statement.coordinates("x y")
    t = pfaff.statement.TIME
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    dissipation = damping * x.diff(t) ** 2 / 2
    held = pfaff.System([x, y], kinetic, (x**2 - y**2) / 2, dissipation=dissipation, holonomic_constraints=[x - y])
    found = held.at().spectrum()
    assert found.stable
    assert min(abs(found.values)) == 0
