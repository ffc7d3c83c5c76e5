"""Soft motions beside stiff springs: their stiffness is what is left of terms that cancel, and no structural zero.

The reference is the same pencil with fifty digits in mpmath.
"""

from __future__ import annotations

from time import process_time

import mpmath
import numpy as np
import pytest
import sympy as sm
from scipy.optimize import linear_sum_assignment
from sympy.core.function import AppliedUndef

import pfaff
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

x, y, z, w = coordinates("x y z w")
k, soft = sm.symbols("k soft", positive=True)
STIFF = [1e8, 1e11, 1e13, 1e15]


def inertia(*masses: object) -> sm.Expr:
    return sum(sm.Rational(m) * q.diff(t) ** 2 / 2 for m, q in zip(masses, (x, y, z, w), strict=False))


def fifty_digits(kinetic, potential, dissipation, values, rows=()) -> list[complex]:
    """The eigenvalues, without those of neutral directions; ``rows`` are constraints, linear in the coordinates."""
    mp = mpmath.MPContext()
    mp.dps = 50
    q = sorted((kinetic + potential).atoms(AppliedUndef) & {x, y, z, w}, key=str)
    at = dict.fromkeys(q, 0) | {name: sm.Rational(value) for name, value in values.items()}
    free = sm.Matrix.hstack(*sm.Matrix(rows).jacobian(q).nullspace()) if rows else sm.eye(len(q))
    forms = (kinetic, [each.diff(t) for each in q]), (dissipation, [each.diff(t) for each in q]), (potential, q)
    exact = ((free.T * sm.hessian(form, by).subs(at) * free).tolist() if form else None for form, by in forms)
    M, C, K = (
        mp.matrix([[mp.mpf(e.p) / e.q for e in row] for row in each]) if each else mp.zeros(free.cols) for each in exact
    )
    n = free.cols
    J, inverse = mp.zeros(2 * n), mp.inverse(M)
    J[:n, n:], J[n:, :n], J[n:, n:] = mp.eye(n), -inverse * K, -inverse * C
    found = mp.eig(J, left=False, right=False)
    largest = max(abs(each) for each in found)
    return [complex(each) for each in found if abs(each) > 1e-20 * largest]


def distance(found: np.ndarray, truth: list[complex]) -> float:
    """The largest relative difference of eigenvalues."""
    assert len(found) == len(truth)
    apart = np.abs(np.subtract.outer(truth, found)) / np.abs(truth)[:, None]
    return float(apart[linear_sum_assignment(np.minimum(apart, 1.0))].max())


CASES = {
    "a coupled pair": (inertia(1, 1), k * (x - y) ** 2 / 2 + sm.cos(y), 0, ()),
    "a lever": (inertia(1, 2), sm.expand(k * (x - y / 3) ** 2 / 2) + sm.cos(y), 0, ()),
    "a chain": (inertia(1, 1, 1, 1), k * ((x - y) ** 2 + (y - z) ** 2 + (z - w) ** 2) / 2 + sm.cos(w), 0, ()),
    "three levels": (inertia(1, 1, 1), k * (x - y) ** 2 / 2 + 1000 * (y - z) ** 2 - sm.cos(z) / 10**6, 0, ()),
    "a free chain": (inertia(1, 1, 1), k * (x - y) ** 2 / 2 + (y - z) ** 2, 0, ()),
    "damped": (
        inertia(1, 1, 1),
        k * (x - y) ** 2 / 2 + (y - z) ** 2,
        k * (x.diff(t) - y.diff(t)) ** 2 / 2 + (y.diff(t) - z.diff(t)) ** 2 / 8,
        (),
    ),
    "masses far apart": (inertia(10**8, 1, "1e-8"), k * (x - y) ** 2 / 2 + (y - z) ** 2 / 2 + sm.cos(z), 0, ()),
    "constrained": (
        inertia(1, 2, 3, 5),
        k * ((x - y) ** 2 + (z + w) ** 2) / 2 + sm.cos(z) - y**2 / 5,
        0,
        (3 * y - 7 * z + w,),
    ),
}


@pytest.mark.parametrize("stiffness", STIFF)
@pytest.mark.parametrize("name", CASES)
def test_soft_motions_beside_stiff_springs(name, stiffness):
    kinetic, potential, dissipation, rows = CASES[name]
    q = sorted((kinetic + potential).atoms(AppliedUndef) & {x, y, z, w}, key=str)
    system = pfaff.System(q, kinetic, potential, dissipation, holonomic_constraints=rows, parameters={k: stiffness})
    found, truth = system.at().spectrum(), fifty_digits(kinetic, potential, dissipation, {k: stiffness}, rows)
    assert distance(found.values, truth) < 1e-6
    assert found.stable == all(value.real <= 1e-12 * abs(value) for value in truth)
    assert "NOT" not in found.status
    assert system.at().equilibrium().family_dimension == (1 if "free" in name or name == "damped" else 0)


@pytest.mark.parametrize(
    ("masses", "stiffness", "softer"),
    [
        (("1e9", "1e-9"), 1e12, x**2 / 2),
        (("1e9", "1e-9"), 1e15, 10**9 * x**2 / 2),
        ((1, "1e-15"), 1e15, x**2 / 2),
        ((1, "1e-12"), 1e15, x**2 / 2),
        (("1e6", 1, "1e-6"), 1e12, (x - y) ** 2 + x**2 / 2),
    ],
)
def test_soft_motions_whatever_other_masses_are(masses, stiffness, softer):
    """A stiffness is judged beside the terms in its own direction, and not beside the largest."""
    q = (x, y, z)[: len(masses)]
    kinetic, potential = inertia(*masses), k * (q[-2] - q[-1]) ** 2 / 2 + softer
    found = pfaff.System(q, kinetic, potential, parameters={k: stiffness}).at().spectrum()
    assert distance(found.values, fifty_digits(kinetic, potential, 0, {k: stiffness})) < 1e-9
    assert found.structural_zeros == 0


def test_many_stiff_springs_each_with_a_number_of_its_own():
    """Every number is judged by first order: no elimination anew."""
    many = coordinates(" ".join(f"x{i}" for i in range(24)))
    springs = sm.symbols(f"c0:{len(many)}", positive=True)
    potential = (
        sum(c * (a - b) ** 2 for c, a, b in zip(springs, many, many[1:], strict=False)) / 2 + 1 - sm.cos(many[-1])
    )
    kinetic = sum(each.diff(t) ** 2 for each in many) / 2
    numbers = {c: 1e12 * (1 + i / 8) for i, c in enumerate(springs)}
    system = pfaff.System(many, kinetic, potential, parameters=numbers)
    system.at().spectrum()
    begun = process_time()
    found = system.at(c0=2e12).spectrum()
    assert process_time() - begun < 2
    assert found.structural_zeros == 0
    assert np.abs(found.values).min() == pytest.approx(24**-0.5, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("held", [True, False])
def test_soft_motions_in_units_of_every_second_coordinate(unit, held):
    """Spectra do not depend on units, and no more do families."""
    a = sm.Rational(unit)
    kinetic = (x.diff(t) ** 2 + (a * y.diff(t)) ** 2 + z.diff(t) ** 2 + (a * w.diff(t)) ** 2) / 2
    potential = k * ((x - a * y) ** 2 + (a * y - z) ** 2 + (z - a * w) ** 2) / 2 + (sm.cos(a * w) if held else 0)
    found = pfaff.System([x, y, z, w], kinetic, potential, parameters={k: 1e13}).at().spectrum()
    assert distance(found.values, fifty_digits(kinetic, potential, 0, {k: 1e13})) < 1e-12
    assert found.structural_zeros == (0 if held else 2)


@pytest.mark.parametrize("stiffness", STIFF)
def test_an_equilibrium_is_not_taken_for_a_family_beside_a_stiff_spring(stiffness):
    potential = k * (x - y) ** 2 / 2 + y**2 / 2 - sm.sin(y)
    found = pfaff.System([x, y], inertia(1, 1), potential, parameters={k: stiffness}).at().equilibrium()
    assert found.family_dimension == 0
    assert found["x"] == pytest.approx(0.7390851332151607, rel=1e-12)


def test_what_balances_by_its_numbers_is_neutral_as_far_as_they_are_known():
    """A bar held by a spring without length, k a h = m g l: neutral at every angle, by no symmetry."""
    m, g, l, a, h = sm.symbols("m g l a h", positive=True)
    values = {m: 0.3, g: 9.81, l: 0.7, a: 0.11, h: 0.37}
    stiffness = values[m] * values[g] * values[l] / (values[a] * values[h])
    squared = a**2 + h**2 - 2 * a * h * sm.cos(x)
    system = pfaff.System(
        [x, y],
        m * l**2 * x.diff(t) ** 2 / 2 + y.diff(t) ** 2 / 2,
        m * g * l * sm.cos(x) + k * squared / 2 + y**2 / 2,
        parameters={**values, k: stiffness},
    )
    found = system.at().spectrum()
    assert found.zeros == {"families of equilibria": 1, "steady motions along them": 1}
    assert not system.at(k=stiffness * (1 + 1e-12)).spectrum().zeros


def test_a_soft_mode_beside_a_stiff_spring_loses_stability_where_it_does():
    """cos y − F cos y pushes until F = 1, whatever couples x to y."""
    F = sm.Symbol("F")
    potential = k * (x - y) ** 2 / 2 + (F - 1) * sm.cos(y)
    for stiffness in STIFF:
        system = pfaff.System([x, y], inertia(1, 1), potential, parameters={k: stiffness, F: 0}, load=F)
        assert system.at().divergence().value == pytest.approx(1, rel=1e-9)
