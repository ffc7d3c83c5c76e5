"""Small motions and equilibria have the same digits in whatever units coordinates, energies and constraints are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.algebra.units import inertial_units, row_units, stiffness_units
from pfaff.errors import SingularMassError
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

x, y, z = coordinates("x y z")
F = sm.Symbol("F", real=True)


@cache
def eigenvalues(unit, drift):
    """Of a system whose coordinates x and y are measured in units that far apart; a drift adds b(q) to its row."""
    X, Y, Z = x * unit, y / unit, z
    u, v, w = (q.diff(t) for q in (X, Y, Z))
    row = (1 + sm.sin(Y) / 5) * u + (sm.Rational(1, 3) + Z / 2) * v + (sm.Rational(1, 4) - X / 3) * w
    system = pfaff.System(
        [x, y, z],
        (u**2 + 2 * v**2 + 3 * w**2 + u * v * sm.cos(Z)) / 2,
        (2 * X**2 + 3 * Y**2 + Z**2 + X * Y - Y * Z) / 2 + F * (X / 5 + Y * Z / 3),
        (u**2 + v**2 / 3 + w**2 / 5) / 10,
        nonholonomic_constraints=[row + drift * (X - Y**2) / 2],
        parameters={F: sm.Rational(3, 10)},
        load=F,
    )
    at = system.at()
    return np.sort_complex(at.spectrum(at.equilibrium(**({} if drift else {"x": 0.1 / unit}))).values)


@pytest.mark.parametrize("drift", [0, 1])
@pytest.mark.parametrize("unit", [1e2, 1e3, 1e4, 1e5])
def test_units_of_coordinates_change_no_digit_of_a_spectrum(unit, drift):
    np.testing.assert_allclose(eigenvalues(unit, drift), eigenvalues(1.0, drift), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("energy", "factor"), [(1, 1), (1, 100), ("1/1000", 100), ("1/1000000", 1000)])
def test_units_of_energy_and_of_a_constraint_make_no_fold(energy, factor):
    energy, (u, v, w) = sm.Rational(energy), (q.diff(t) for q in (x, y, z))
    system = pfaff.System(
        [x, y, z],
        energy * (u**2 + v**2 + w**2) / 2,
        energy * (x**2 + 2 * y**2 + 3 * z**2 + x * z + y**4 - F * (x + y / 3 - z / 4)),
        energy * (u**2 + v**2 + w**2) / 10,
        holonomic_constraints=[factor * (y - sm.sin(x) * sm.Rational(3, 7) + x * z / 5)],
        parameters={F: 0},
        load=F,
    )
    found = system.at().critical(to=3)
    assert not any((found.flutter, found.divergence, found.buckling))
    assert found.buckling.searched == (0.0, 3.0)


def test_inertia_that_is_none_is_told_in_any_unit():
    """A mass matrix of rank one is singular, small inertias are not."""
    u, v = x.diff(t), y.diff(t)
    small = pfaff.System([x, y], (u**2 + 1e-20 * v**2) / 2, (x**2 + 1e-20 * y**2) / 2)
    assert np.abs(small.at().spectrum().values.imag) == pytest.approx([1, 1, 1, 1], rel=1e-12)
    singular = pfaff.System([x, y], (u + 1e-6 * v) ** 2 / 2, (x**2 + y**2) / 2)
    with pytest.raises(SingularMassError):
        singular.at().spectrum()


def test_members_of_a_batch_have_units_of_their_own():
    generator = np.random.default_rng(3)
    K = generator.normal(size=(3, 3, 5)) * 10.0 ** generator.integers(-8, 8, 5)
    M = np.einsum("ik,jk->ijk", *[generator.uniform(1, 2, (3, 5)) * 10.0 ** generator.integers(-3, 3, (3, 5))] * 2)
    together = stiffness_units(K, inertial_units(M))
    for k in range(5):
        np.testing.assert_array_equal(together[:, k], stiffness_units(K[..., k], inertial_units(M[..., k])))
        np.testing.assert_array_equal(inertial_units(M)[:, k], inertial_units(M[..., k]))
        np.testing.assert_array_equal(row_units(K)[:, k], row_units(K[..., k]))


@pytest.mark.parametrize("factor", [1e-200, 1e-170, 1e170, 1e200])
def test_a_constraint_may_be_multiplied_by_any_number(factor):
    """Its reaction is divided by it: squares of both are beyond all numbers."""
    x, y, phi = coordinates("x y phi")
    load, scale = sm.symbols("F scale", positive=True)
    centre = sm.Matrix([x + sm.cos(phi) / 2, y + sm.sin(phi) / 2]).diff(t)
    sleigh = pfaff.System(
        [x, y, phi], centre.dot(centre) / 2 + phi.diff(t) ** 2 / 8,
        (x + sm.sin(phi) / 2) ** 2 / 2 + phi**2 / 4 - load * y,
        nonholonomic_constraints=[scale * (y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi))],
        parameters={load: 1, scale: 1}, load=load,
    )  # fmt: skip
    plain, scaled = sleigh.at(), sleigh.at(scale=factor)
    assert scaled.flutter().value == pytest.approx(plain.flutter().value, rel=1e-14) == pytest.approx(9 / 16)
    reactions = [np.sort(np.abs(each.spectrum(F=0.3).reactions)) for each in (plain, scaled)]
    assert factor * reactions[1] == pytest.approx(reactions[0], rel=1e-13)


u, v, w = sm.symbols("u v w", real=True)
units = sm.symbols("units_u units_v units_w units_P units_time", positive=True)
P, B = sm.symbols("P B")


def in_units(rates, parameters):
    """An ODE whose states, load P and time are stated in other units, which are its parameters."""
    states = dict(zip((u, v, w), units, strict=False))
    plain = {state: state / states[state] for state in rates} | {P: P / units[3]}
    rates = {state: states[state] / units[4] * rate.subs(plain, simultaneous=True) for state, rate in rates.items()}
    return pfaff.ode(rates, {P: 0, **parameters, **dict.fromkeys(units, 1)}, load=P)


@cache
def tank():
    """A stirred tank that is cooled (Uppal, Ray and Poore 1974). At P = 0 no state acts on the other. It rests where
    v = B u/3 and P = u/(1 − u) e^(−v), with folds where u(1 − u) = 3/B and no trace where Bu = 3 + 1/(1 − u)."""
    made = P * (1 - u) * sm.exp(v)
    return in_units({u: made - u, v: B * made - 3 * v}, {B: 14})


@cache
def cascade():
    """u turns at P = ±2 and drives v, which drives w by its square alone: nothing acts back."""
    return in_units({u: P - 3 * u + u**3, v: u - v, w: v**2 - 2 * w}, {})


def stated(system, exponents, start, to):
    """The branch in units 10**exponents, and its points and special points in plain ones."""
    scale = dict(zip([each.name for each in units], 10.0 ** np.asarray(exponents), strict=True))
    branch = system.at(**scale, P=start * scale["units_P"]).branch("P", to * scale["units_P"])
    sizes = [scale[f"units_{name}"] for name in (*branch[0].state, "P")]
    points, special = (np.array([each.spot.z / sizes for each in kind]) for kind in (branch, branch.special))
    return branch, points, special


EXPONENTS = [tuple(row) for row in np.random.default_rng(8).uniform(-12, 12, (12, 5))]


@pytest.mark.parametrize(("system", "start", "to"), [(tank, 0, 0.3), (tank, 0.1, 0.2), (cascade, 0, 3)])
def test_branches_have_the_same_points_in_any_unit_of_states_parameter_and_time(system, start, to):
    plain, points, special = stated(system(), np.zeros(5), start, to)
    told = [(each.kind, each.note) for each in plain.special]
    for exponents in EXPONENTS:
        other, its_points, its_special = stated(system(), exponents, start, to)
        assert [(each.kind, each.note) for each in other.special] == told
        np.testing.assert_allclose(its_special, special, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(its_points, points, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("exponents", EXPONENTS[:4])
def test_cusps_and_bogdanov_takens_points_are_told_in_any_unit(exponents):
    branch, _, _ = stated(tank(), exponents, 0, 0.11)
    special = {each.kind: each for each in branch.special[0].curve("B", 11, bounds=(11, 14)).special}
    assert {kind: each["B"] for kind, each in special.items()} == pytest.approx({"bogdanov-takens": 27 / 2, "cusp": 12})
    places = [special[kind]["P"] / 10.0 ** exponents[3] for kind in ("cusp", "bogdanov-takens")]
    assert places == pytest.approx([np.exp(-2), np.exp(-3 / 2) / 2], rel=1e-9)
    assert np.sign([special["cusp"].coefficients["c"], special["bogdanov-takens"].coefficients["b"]]).tolist() == [1, 1]


@pytest.mark.parametrize("states", [3, 10])
def test_states_that_others_hardly_drive_do_not_shorten_steps(states):
    """Each acts on the next by a product that vanishes at the start; the branch turns once."""
    D, X = sm.Symbol("D", real=True), sm.symbols(f"X0:{states}", real=True)
    rates = {X[0]: D - X[0] + X[0] ** 2 * X[1], X[1]: 3 * X[0] / 2 - X[1] - X[0] ** 2 * X[1] / 2 + X[2] / 5}
    rates |= {X[k]: -(5 + k) * X[k] + X[k - 1] * X[0] / 3 + X[k] ** 2 / 7 for k in range(2, states)}
    branch = pfaff.ode(rates, {D: 0}, load=D).at().branch(to=3)
    assert [each.kind for each in branch.special] == ["fold"]
    assert (np.diff(np.sign(np.diff(branch.values))) != 0).sum() == 1
    assert len(branch) < 100
