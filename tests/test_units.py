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
