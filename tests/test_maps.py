"""Flutter maps against single searches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.errors import ParameterError

t = dynamicsymbols._t


def test_two_bars_in_closed_form(skate):
    case = skate.at(**XI_HAT)
    axes = {"c_i": np.array([0.1, 1.5, 30]), "c_e": np.array([0.0, 0.4, 8]), "c_r": np.array([0.0, 2])}
    found = case.flutter_map(**axes)
    assert found.values.shape == (3, 3, 2)
    for i, ci in enumerate(axes["c_i"]):
        for j, ce in enumerate(axes["c_e"]):
            for k, cr in enumerate(axes["c_r"]):
                expected = case.at(c_i=ci, c_e=ce, c_r=cr).flutter(to=1000).value
                assert found.values[i, j, k] == pytest.approx(expected, rel=1e-10)


def test_no_damping_gives_the_undamped_load(skate):
    assert skate.at(**XI_HAT).flutter_map(c_i=[0.0]).values[0] == pytest.approx(76.2073258262292)


def test_three_bars_by_eigenvalues():
    case = pfaff.atlas.column(3).at(M_L=1, k1=10)
    found = case.flutter_map(c_i=[0.05, 0.3], c_e=[0.1])
    expected = [case.at(c_i=c, c_e=0.1).flutter().value for c in (0.05, 0.3)]
    np.testing.assert_allclose(found.values[:, 0], expected, rtol=1e-9)
    assert found.how.startswith("2 points in batches")


def test_any_parameters_are_mapped_and_light_damping_is_left_to_single_searches(skate):
    case = skate.at(**XI_HAT, c_i=1.5)
    axes = {"M_L": np.array([5.0, 15.0]), "k1": np.array([40.0, 50.0]), "c_i": np.array([0.0, 1e-9, 1.5])}
    found = case.flutter_map(**axes)
    for place in np.ndindex(found.values.shape):
        values = {name: each[k] for (name, each), k in zip(axes.items(), place, strict=True)}
        assert found.values[place] == pytest.approx(case.at(**values).flutter().value, rel=1e-10)
    assert found.how.startswith("4 points in batches")


def test_an_equilibrium_that_moves_is_followed_at_every_point(bow):
    case = bow.at(**XI_HAT, beta0=float(np.pi / 100))
    assert case.flutter_map(c_i=[1.5], to=100).values[0] == pytest.approx(78.2992872849, rel=1e-11)


def test_a_load_outside_the_stiffness_is_searched_for():
    """The load takes damping away: growth begins where it equals c."""
    system = two_oscillators(lambda x, y, c, F: (0, (c - F) * x.diff(t) ** 2 / 2 + y.diff(t) ** 2 / 20, {}))
    np.testing.assert_allclose(system.at().flutter_map(c=[0.2, 0.5], to=5).values, [0.2, 0.5], rtol=1e-9)


def test_growth_without_load_is_reported_as_such():
    """Already fluttering at F = 0: the load at which it stops is not the flutter load."""
    half = sm.Rational(1, 2)
    system = two_oscillators(
        lambda x, y, c, F: (
            F * x**2 - sm.Rational(2, 5) * y**2,
            c * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
            {x: half * y, y: -half * x},
        )
    )
    values = system.at().flutter_map(c=[0, 0.01, 0.1, 0.3, 0.8], to=20).values
    np.testing.assert_array_equal(values, [0, 0, 0, 0, np.nan])


def two_oscillators(more):
    """x² + 2y² and what else is asked for: potential, dissipation and forces."""
    x, y = dynamicsymbols("x y")
    c, F = sm.symbols("c F", nonnegative=True)
    potential, dissipation, forces = more(x, y, c, F)
    return pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        (x**2 + 2 * y**2) / 2 + potential,
        dissipation,
        forces=forces,
        parameters={c: 0, F: 0},
        load=F,
    )


def test_maps_refuse_what_they_cannot_do(skate, bow):
    with pytest.raises(ParameterError, match="at least one"):
        skate.at(**XI_HAT).flutter_map()
    with pytest.raises(ParameterError, match="no parameter 'k2'"):
        skate.at(**XI_HAT).flutter_map(k2=[1])
    with pytest.raises(ParameterError, match="F is what is searched"):
        skate.at(**XI_HAT).flutter_map(F=[1])
    with pytest.raises(ParameterError, match="nonnegative"):
        skate.at(**XI_HAT).flutter_map(c_i=[-1])


def test_maps_of_values_that_overflow_are_searched_point_by_point():
    """Squares of the damping are beyond double precision, and would say that nothing flutters."""
    case = pfaff.atlas.column(2).at(k1=50, M_L=15, I_L=15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = case.flutter_map(c_i=[1e100]).values
    assert np.isnan(found)
    assert case.at(c_i=1e100).flutter().value is None
