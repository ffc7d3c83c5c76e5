"""Closed forms against the printed formulas, symbolically."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.errors import ParameterError, PfaffError
from pfaff.papers.cazzolli2020 import critical_loads as paper
from pfaff.stability.exact import closed_roots, limit_condition

XI = {"d": sm.Rational(1, 2), "M_L": 15, "I_L": 15, "k1": 50}
c = sm.Symbol("c", positive=True)


def test_undamped_loads_are_exact(skate):
    """Cazzolli et al. (2020), Eq. (71)."""
    case = skate.at(**XI)
    assert sm.simplify(case.flutter(exact=True).value - sm.Rational(20, 723) * (3102 - sm.sqrt(120482))) == 0
    assert sm.simplify(case.divergence(exact=True).value - sm.Rational(20, 723) * (3102 + sm.sqrt(120482))) == 0
    assert not case.buckling(exact=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("c_i", sm.Rational(64, 723) * c**2 + sm.Rational(4410529058, 57927483)),
        ("c_t", sm.Rational(24902, 479)),
        ("c_r", sm.Rational(12694, 247)),
    ],
)
def test_single_dampings(skate, name, expected):
    """Sec. 5.2.1: P_d(c_i), and the two loads that do not depend on viscosity."""
    found = skate.at(**XI, **{name: c}).flutter(exact=True)
    assert sm.simplify(found.value - expected) == 0
    assert found.near == {"c": 1.0}
    assert "branch that holds near" in found.status


@pytest.mark.slow
@pytest.mark.parametrize(
    "formula", [paper.formula_70, paper.formula_79, paper.formula_81, lambda: paper.formula_80("first")]
)
def test_general_formulas(formula):
    """Eqs. (70), (79), (80) and (81), with ξ as symbols."""
    assert formula() == 0


def test_limit_condition_of_vanishing_damping(skate):
    """Eq. (84) at φ1 = π/4: the root of the lowest order of D_3."""
    F = sm.Symbol("F", real=True)
    condition = limit_condition(skate.at(**XI), "F", {"c_t": 1, "c_r": 1})
    numbers = [complex(root.evalf()).real for root in closed_roots(condition, F)]
    limit = skate.at(**XI).paradox({"c_t": 1, "c_r": 1}).limit
    assert min(abs(x / limit - 1) for x in numbers) < 1e-12


def test_a_load_without_radicals_is_an_algebraic_number(skate):
    """The damped divergence load is a root of a quartic: exact all the same."""
    found = skate.at(**XI, c_i=sm.Rational(3, 2)).divergence(exact=True)
    assert found.value.has(sm.CRootOf)
    assert float(found.value) == pytest.approx(108.915743348559, rel=1e-13)


def test_divergence_through_zero_and_the_interval(skate):
    import sympy.physics.mechanics as me

    theta = me.dynamicsymbols("theta")
    F = sm.Symbol("F", real=True)
    rate = theta.diff(me.dynamicsymbols._t)
    bar = pfaff.System([theta], rate**2 / 2, theta**2 / 2 + F * sm.cos(theta), parameters={F: 0}, load=F)
    assert bar.at().divergence(exact=True).value == 1
    assert not skate.at(**XI).flutter(exact=True, to=10)
    with pytest.raises(PfaffError, match="about the origin"):
        skate.at(**XI).flutter(exact=True, X=1)


def test_sympify_takes_the_value(skate):
    found = skate.at(**XI).flutter(exact=True)
    assert sm.sympify(found) == found.value


def test_closed_forms_are_about_the_origin():
    case = pfaff.atlas.column(2, "bow").at(**XI, beta0=sm.Rational(1, 10))
    with pytest.raises(PfaffError, match="origin is no equilibrium"):
        case.flutter(exact=True)


def test_exact_matrices_are_about_the_origin(skate):
    """Their pencil has the eigenvalues that the numbers give."""
    case = skate.at(**XI_HAT, c_i=1, F=20)
    exact, omega = case.linearise(exact=True), sm.Symbol("omega")
    roots = np.roots([float(c) for c in exact.polynomial(omega).all_coeffs()])
    np.testing.assert_allclose(np.sort_complex(roots), np.sort_complex(case.spectrum().values), rtol=1e-9)
    with pytest.raises(ParameterError, match="about the origin"):
        case.linearise(case.equilibrium(), exact=True)
