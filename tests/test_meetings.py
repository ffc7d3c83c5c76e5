"""Eigenvalues that meet in a step and part as a pair, or the reverse: what their sum and product tell is so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy as sm
from hypothesis import assume, given
from hypothesis import strategies as st
from numba import njit
from numpy.polynomial import Polynomial

import pfaff
from pfaff.bifurcation.equilibria.eigenvalues import Rates, unstable
from pfaff.bifurcation.equilibria.spectra import HIDING, conduct

number = st.floats(-3, 3)
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


@njit
def conducted(a, da, b, db, step, floor):
    return conduct(a, da, b, db, step, floor)


@given(total=quadratic, product=quadratic, other=st.floats(-3, -0.1))
def test_compiled_loops_judge_alike(total, product, other):
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
    u, v = sm.symbols("u v", real=True)
    D, B, beta = sm.symbols("D B beta", real=True)
    reaction = D * (1 - u) * sm.exp(v)
    tank = pfaff.ode({u: -u + reaction, v: -v + B * reaction - beta * v}, {D: 0, B: 14, beta: 2}, load=D)
    branch = tank.at().branch(to=0.3)
    assert [each.kind for each in branch.special] == ["fold", "fold", "hopf"]
    spots = [point.spot for point in branch]
    lengths = [float(np.linalg.norm((b.z - a.z) / a.units)) for a, b in pairwise(spots)]
    assert min(lengths[3:-1]) > 0.02
