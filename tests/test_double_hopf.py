"""Double Hopf points of systems with two known frequencies: both are told, to rounding."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import NoBifurcationError

mu, p, first, second = sm.symbols("mu p first second", real=True)
STATES = sm.symbols("a b c d", real=True)


def rates(a, b, c, d):
    """Two oscillators in normal form: both neutral at μ = 0, p = 1/5, with frequencies that vary about it."""
    off = p - sm.Rational(1, 5)
    growth, other = mu - 3 * off / 10 - a**2 - b**2 - (c**2 + d**2) / 2, mu / 2 + off - c**2 - d**2 - (a**2 + b**2) / 3
    turn, turn2 = first + off / 10 + mu / 7, second - off / 8
    return sm.Matrix(
        [growth * a - turn * b, turn * a + growth * b, other * c - turn2 * d, turn2 * c + other * d]
    )  # fmt: skip


@pytest.fixture(scope="module")
def mixed():
    """In coordinates that mix both, linearly and by squares."""
    mixing = sm.Matrix([[10, 3, -2, 1], [-1, 10, 4, 2], [2, -3, 10, 1], [1, 2, -4, 10]]) / 10
    bent = sm.Matrix([0, 0, STATES[0] ** 2, STATES[0] * STATES[1]]) / 5
    old = mixing * (sm.Matrix(STATES) + bent)
    f = (sm.eye(4) - bent.jacobian(STATES)) * mixing.inv() * rates(*old)  # the squares' own change is nilpotent
    return pfaff.ode(dict(zip(STATES, f, strict=True)), {mu: -0.5, p: -0.5, first: 1, second: 2}, load=mu)


@pytest.mark.parametrize(
    ("omega", "other"), [(np.sqrt(2), 1), (1, np.sqrt(2)), (1, 1.001), (1.00001, 1), (1, 500), (0.2, 0.5)]
)
def test_both_frequencies_of_a_double_hopf_point(mixed, omega, other):
    """The curve of the first oscillator meets that of the second at p = 1/5."""
    curve = mixed.at(first=omega, second=other).hopf(to=0.5).curve("p", to=1)
    (found,) = curve.special
    assert found.kind == "double hopf"
    assert [found["mu"], found["p"]] == pytest.approx([0, 0.2], abs=1e-12)
    assert found.coefficients == pytest.approx({"omega": omega, "omega2": other}, rel=1e-11)
    assert found.omega == pytest.approx(omega, rel=1e-11)
    at = np.array([point["p"] for point in curve])
    expected = omega + (at - 0.2) / 10 + 0.3 * (at - 0.2) / 7
    assert [point.omega for point in curve] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("stiffness", [1e4, 1e9])
def test_both_frequencies_beside_a_stiff_state(stiffness):
    """A fifth state that decays much faster than the others oscillate, and is driven by them."""
    e, rate = sm.symbols("e rate", real=True)
    equations = dict(zip(STATES, rates(*STATES), strict=True))
    equations[STATES[0]] += e**2 / 10
    equations[e] = -rate * (e - STATES[0] / 2 + STATES[2] ** 2)
    numbers = {mu: -0.5, p: -0.5, first: sm.sqrt(2), second: 1, rate: stiffness}
    (found,) = pfaff.ode(equations, numbers, load=mu).at().hopf(to=0.5).curve("p", to=1).special
    assert found.kind == "double hopf"
    assert found.coefficients == pytest.approx({"omega": np.sqrt(2), "omega2": 1}, rel=1e-10)


def test_pairs_that_cross_together_are_told_with_their_frequencies():
    """A damping that acts on two oscillators: both are neutral where it vanishes."""
    x, y, u, v, d = sm.symbols("x y u v d", real=True)
    equations = {x: y, y: -d * y - x - x**3 + u * x / 2, u: v, v: -3 * u + x**2 / 4 - d * v}
    case = pfaff.ode(equations, {d: -0.1}, load=d).at()
    with pytest.raises(NoBifurcationError, match=r"with the frequencies 1, 1\.7320508:"):
        case.hopf(to=0.1)
