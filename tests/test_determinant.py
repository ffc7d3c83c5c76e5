"""Bottema's bordered determinant: its degree, its zero roots, its symmetry, exact and in numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.papers.bottema1949 import _random_values
from pfaff.stability.determinant import p

t = dynamicsymbols._t
x, y, phi = dynamicsymbols("x y phi")
XI_HAT = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50}


def bordered(lin, value):
    """The determinant itself, without polynomials."""
    m = len(lin.A)
    top = lin.M * value**2 + lin.C * value + lin.stiffness
    return np.linalg.det(np.block([[top, lin.A.T], [lin.A, np.zeros((m, m))]]))


@cache
def sleigh():
    """A knife edge held by springs and pushed against its blade; the mass lies ahead of it."""
    m, inertia, a, b, k, kappa = sm.symbols("m I a b k kappa", positive=True)
    F = sm.Symbol("F", real=True)
    c = sm.Symbol("c", nonnegative=True)
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * centre.diff(t).dot(centre.diff(t)) / 2 + inertia * phi.diff(t) ** 2 / 2,
        potential=k * (x + b * sm.sin(phi)) ** 2 / 2 + kappa * phi**2 / 2 - F * y,
        dissipation=c * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        parameters={m: 1, inertia: "1/4", a: "1/2", b: "1/2", k: 1, kappa: "1/2", c: 0, F: 0},
        load=F,
        name="sleigh",
    )


CASES = {
    "Bottema (3, 1)": lambda: pfaff.atlas.bottema_general(3, 1).at(**_random_values(3, 1)),
    "Bottema (4, 2)": lambda: pfaff.atlas.bottema_general(4, 2).at(**_random_values(4, 2)),
    "Bottema (5, 3)": lambda: pfaff.atlas.bottema_general(5, 3).at(**_random_values(5, 3)),
    "column": lambda: pfaff.atlas.column(2).at(**XI_HAT, c_i="3/2", F=80),
    "sleigh": lambda: sleigh().at(F="3/4", c="1/10"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_polynomial_is_the_bordered_determinant(name):
    """Bottema (1949), general case: degree 2(n − m), and m zero roots before it."""
    lin = CASES[name]().linearise()
    found = lin.determinant()
    n, m = len(lin.M), len(lin.A)
    assert found.zeros == m
    assert len(found.roots) == len(found.coefficients) - 1 == 2 * (n - m)
    assert not found.frequency_equation[-m:].any()
    assert len(found.frequency_equation) == 2 * (n - m) + m + 1
    for value in (0.0, 0.7, 1.3 - 0.4j):
        assert found(value) == pytest.approx(bordered(lin, value), rel=1e-10)
        numbers = lin.pencil(value)
        assert np.linalg.det(numbers) == pytest.approx(np.polyval(found.frequency_equation, value), rel=1e-9, abs=1e-12)


def test_the_roots_are_those_of_the_spectrum():
    case = CASES["column"]()
    ours, theirs = case.determinant().roots, case.spectrum().values
    # X and its speed are ignorable: the spectrum sets further zeros apart, the determinant keeps them
    assert all(np.abs(ours - value).min() < 1e-9 for value in theirs)


ROUNDED = {name: round(value, 1) for name, value in _random_values(4, 2).items()}


@pytest.mark.parametrize("name", ["rounded", "column", "sleigh"])
def test_exact_and_numeric_agree(name):
    case = pfaff.atlas.bottema_general(4, 2).at(**ROUNDED) if name == "rounded" else CASES[name]()
    exact, found = case.determinant(exact=True), case.determinant()
    coefficients = [float(c) for c in exact.polynomial.all_coeffs()]
    assert coefficients == pytest.approx(found.coefficients, rel=1e-8, abs=1e-9 * np.abs(found.coefficients).max())
    assert exact.zeros == found.zeros
    assert exact.symmetrisable == found.symmetrisable


def test_bottemas_example_in_symbols():
    """Bottema (1949), Eq. (8) for c x1 ẋ2 + a ẋ3 = 0: the printed frequency equation, with p = 0 before it."""
    system = pfaff.atlas.bottema()
    s = {symbol.name: symbol for symbol in system.parameters}
    exact = system.at(**s).determinant(exact=True)
    printed = p**4 + (s["b11"] + s["b22"]) * p**2 + s["b11"] * s["b22"] - s["b12"] * (s["b12"] - s["c"])
    assert sm.expand(exact.polynomial.as_expr() + s["a"] ** 2 * printed) == 0
    assert sm.expand(exact.matrix.det() - exact.polynomial.as_expr()) == 0
    assert sm.expand(exact.frequency_equation - p * exact.polynomial.as_expr()) == 0
    assert not exact.symmetrisable
    assert system.at(**{**s, "c": 0}).determinant(exact=True).symmetrisable


def test_an_integrating_factor_makes_it_symmetric():
    """Bottema (1949), p. 850: for ω = f dφ the last column times −p ∂(ln f)/∂q, added to the others, does it."""
    f = 1 + x / 3 + sm.Rational(2, 5) * y * phi - phi / 2 + 2 * y
    g = x + 2 * y - phi + x * y + phi**2
    system = pfaff.System(
        coordinates=[x, y, phi],
        kinetic=(x.diff(t) ** 2 + 2 * y.diff(t) ** 2 + phi.diff(t) ** 2) / 2,
        potential=3 * (x + 2 * y - phi) + x**2 + y**2 + 2 * phi**2 + x * phi,
        nonholonomic_constraints=[f * g.diff(t)],
        accept_integrable=True,
    )
    found = system.at().determinant()
    lin = found.linearisation
    assert found.symmetrisable
    assert np.abs(lin.stiffness - lin.stiffness.T).max() > 0.1
    K = found.symmetric_stiffness
    assert np.abs(K - K.T).max() < 1e-13
    slope = np.array([1 / 3, 2.0, -0.5])  # ∂(ln f)/∂q at the origin
    assert (found.columns[0] + lin.p[0] * slope) @ lin.kernel == pytest.approx([0, 0], abs=1e-12)
    # elementary transformations leave the determinant as it is
    symmetric = np.block([[K + lin.M * 0.49, lin.A.T], [lin.A, np.zeros((1, 1))]])
    assert np.linalg.det(symmetric) == pytest.approx(found(0.7), rel=1e-12)


def test_the_sleigh_is_essentially_unsymmetric():
    found = CASES["sleigh"]().determinant()
    assert not found.symmetrisable
    assert found.columns is None
    assert found.symmetric_stiffness is None
    assert "essentially unsymmetric" in found.status
    assert "1 zero root and 4 others" in found.status


def test_holonomic_constraints_bring_no_zero_roots():
    """Routh takes them in integrated form (Bottema 1949, last footnote): a pendulum in x and y."""
    pendulum = pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=sm.Rational(981, 100) * y,
        holonomic_constraints=[(x**2 + (y - 2) ** 2 - 4) / 4],
    )
    found = pendulum.at().determinant()
    assert found.zeros == 0
    assert found.symmetrisable
    assert np.sort(found.roots.imag) == pytest.approx([-np.sqrt(9.81 / 2), np.sqrt(9.81 / 2)], rel=1e-12)


def test_a_term_beside_the_velocities_is_refused():
    moving = pfaff.System(
        [x, y, phi],
        (x.diff(t) ** 2 + y.diff(t) ** 2 + phi.diff(t) ** 2) / 2,
        potential=(x**2 + y**2 + phi**2) / 2,
        nonholonomic_constraints=[y.diff(t) - phi * x.diff(t) + x],
    )
    for exact in (False, True):
        with pytest.raises(pfaff.errors.PfaffError, match="term b\\(q\\)"):
            moving.at().determinant(exact=exact)


@pytest.mark.parametrize("stiff", [1, 1e10, 1e12])
def test_a_stiff_direction_makes_nothing_symmetric(stiff):
    assert not pfaff.atlas.bottema().at(c=3, b11=stiff).determinant().symmetrisable
    assert pfaff.atlas.bottema().at(c=0, b11=stiff).determinant().symmetrisable


def test_roots_are_drawn_apart_from_the_zeros_of_constraints():
    found = sleigh().at(F=0.1).linearise().determinant()
    (axes,) = found.plot().axes
    drawn = [complex(*xy) for line in axes.lines[1:-1] for xy in zip(*line.get_data(), strict=True)]
    assert sorted(drawn, key=str) == sorted(found.roots.astype(complex).tolist(), key=str)
    assert axes.lines[-1].get_label() == "1 zero root of the constraints"
