"""Eigenvalues that meet in a step and part as a pair, or the reverse: what their sum and product tell is so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

import pfaff
from pfaff.bifurcation.equilibria.branch_rules import rules
from pfaff.bifurcation.equilibria.eigenvalues import Rates, unstable
from pfaff.kernels.spectra import CONDUCT, conduct_of

QUIET, HIDING, CROSSING = CONDUCT
number = st.floats(-3, 3)
mu, m, w, d, u, v = sm.symbols("mu m w d u v", real=True)
OSCILLATOR = pfaff.ode(
    {u: v, v: -v / 5 - d * (((mu - m) / w) ** 2 - 1) * u - u**3}, {mu: 0, m: 0.5, w: 0.1, d: 0.1}, load=mu
)
quadratic = st.lists(number, min_size=3, max_size=3).map(Polynomial)


def pair(total, product, s):
    """The two eigenvalues with a sum and a product that are polynomials, and their slopes, at a place."""
    half, square = total(s) / 2, total(s) ** 2 / 4 - product(s)
    root = np.sqrt(complex(square))
    change = (total.deriv()(s) * total(s) / 4 - product.deriv()(s) / 2) / root
    slope = total.deriv()(s) / 2
    return np.array([half + root, half - root]), np.array([slope + change, slope - change])


def apart(total, product):
    """Whether the two are different at both ends of a step: a double eigenvalue has no slope."""
    return min(abs(total(s) ** 2 / 4 - product(s)) for s in (0.0, 1.0)) > 1e-6


def growing(total, product):
    """How many grow at many places of a step."""
    roots = [np.roots([1.0, -total(s), product(s)]) for s in np.linspace(0, 1, 401)]
    return [unstable(each) for each in roots]


@given(total=quadratic, product=quadratic)
def test_nothing_is_hidden_where_nothing_is_told(total, product):
    assume(apart(total, product))
    (a, da), (b, db) = (pair(total, product, s) for s in (0.0, 1.0))
    assume(min(np.abs(a.real).min(), np.abs(b.real).min()) > 1e-3)  # one that begins on the axis was told before
    rates = Rates.between(a, da, b, db, 1.0)
    if rates.hide() or rates.crossed(beyond=False).any():
        return
    assert min(growing(total, product)) == max(growing(total, product))


def test_two_that_meet_far_from_the_axis_hide_nothing():
    """λ² + 2λ + p with p from 0.99 to 2: like roots at their meeting, which one by one cannot be trusted."""
    total, product = Polynomial([-2.0]), Polynomial([0.99, 1.01])
    (a, da), (b, db) = (pair(total, product, s) for s in (0.0, 1.0))
    rates = Rates.between(a, da, b, db, 1.0)
    assert rates.doubtful().any()
    assert not rates.hide()


def test_a_pair_that_visits_the_axis_is_hiding():
    """The sum of two that meet grows beyond zero and falls again."""
    total, product = Polynomial([-0.4, 2.4, -2.4]), Polynomial([-0.05, 2.0]) + 0.06
    assert growing(total, product)[0] == growing(total, product)[-1] == 0
    assert max(growing(total, product)) == 2
    (a, da), (b, db) = (pair(total, product, s) for s in (0.0, 1.0))
    assert Rates.between(a, da, b, db, 1.0).hide()


def conducted(a, da, b, db, step, floor):
    return conduct_of(a, da, b, db, step, floor, rules())


@given(total=quadratic, product=quadratic, other=st.floats(-3, -0.1))
def test_kernels_judge_alike(total, product, other):
    assume(apart(total, product))
    ends = (pair(total, product, s) for s in (0.0, 1.0))
    (a, da), (b, db) = ((np.append(values, other), np.append(slopes, 0.0)) for values, slopes in ends)
    rates = Rates.between(a, da, b, db, 1.0)
    how, crossed = conducted(a, da, b, db, 1.0, 0.0)
    if rates.hide():
        assert how == HIDING
    assert crossed == rates.crossed(beyond=False).sum()


def test_steps_stay_long_where_eigenvalues_meet():
    """The stirred tank of AUTO's demo ab: a pair becomes two real eigenvalues just before the first fold."""
    D, B, beta = sm.symbols("D B beta", real=True)
    reaction = D * (1 - u) * sm.exp(v)
    tank = pfaff.ode({u: -u + reaction, v: -v + B * reaction - beta * v}, {D: 0, B: 14, beta: 2}, load=D)
    branch = tank.at().branch(to=0.3)
    assert [each.kind for each in branch.special] == ["fold", "fold", "hopf"]
    spots = [point.spot for point in branch]
    lengths = [float(np.linalg.norm((b.z - a.z) / a.units)) for a, b in pairwise(spots)]
    assert min(lengths[3:-1]) > 0.02


def test_slopes_that_are_no_numbers_are_an_event_and_no_endless_loop():
    """Sums that a compiler reorders would take them for finite."""
    values, slopes = np.array([7 + 0j]), np.array([np.nan + 0j])
    assert conducted(values, slopes, values + 2, slopes, 1e-5, 0.0) == (CROSSING, 0)


def test_a_branch_ends_where_its_equations_do():
    x, r = sm.symbols("x r", real=True)
    branch = pfaff.ode({x: sm.sqrt(x) - r}, {r: 1}, load=r).at().branch(to=-1, start={"x": 1})
    assert 0 < branch[-1].value < 1e-8  # x = r²
    assert "not finite" in str(branch.ended)


@given(st.floats(0.3, 0.7), st.floats(0.02, 0.2), st.floats(0.1, 10))
@settings(max_examples=25)
def test_a_pair_that_becomes_real_for_a_moment_is_seen(middle, width, depth):
    """λ² + λ/5 + p with p < 0 within a width of a place: at both ends of a step the real part is the same."""
    branch = OSCILLATOR.at(m=middle, w=width, d=depth).branch(to=1.0)
    assert [each.kind for each in branch.special] == ["branch point"] * 2
    assert [each.value for each in branch.special] == pytest.approx([middle - width, middle + width], abs=1e-9)


@pytest.mark.parametrize(("width", "above"), [(0.02, 0.3), (0.04, 0.3), (0.06, 0.3), (0.1, 3), (0.15, 0.3)])
def test_an_eigenvalue_that_nobody_watches_is_seen_where_it_grows(width, above):
    """Of 18 states one that decays at the rate −30, but for a peak that is above zero."""
    x = sm.symbols("x1:19", real=True)
    rates = {x[0]: -x[0] / 2 + x[1] - x[0] ** 3, x[1]: -x[0] - x[1] / 2 - x[1] ** 3}
    rates |= {x[k]: -(5 + k) * x[k] - x[k] ** 3 for k in range(2, 17)}
    rates[x[17]] = (-30 + (30 + above) / (1 + ((mu - 0.5) / width) ** 2)) * x[17] - x[17] ** 3
    branch = pfaff.ode(rates, {mu: 0}, load=mu).at().branch(to=1.0)
    half = width * np.sqrt(above / 30)
    assert [each.value for each in branch.special] == pytest.approx([0.5 - half, 0.5 + half], abs=1e-8)
