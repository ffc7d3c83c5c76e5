"""A few eigenvalues by the frame of a matrix near: those that all of them have farthest to the right, or none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st

import pfaff
from pfaff.bifurcation.equilibria.branch_rules import rules
from pfaff.bifurcation.equilibria.regular import EQUILIBRIA, Regular
from pfaff.kernels.corrector import Curve
from pfaff.kernels.eigenframes import divided, few_of, turned_to


def room_for(n):
    """A problem without equations, in which matrices have units 1."""
    none, reader = np.zeros((0, n)), SimpleNamespace(room=np.zeros(2))
    return Curve(EQUILIBRIA, reader, np.zeros(1), np.zeros(1), none, none, np.ones(n + 1), rules())


def rightmost(A, change, apart):
    """How many a frame of A gives of A + apart·change, with their slopes."""
    values, slopes = few_of(room_for(len(A)), A, [A + apart * change], [change], 0.0)
    return values[0], slopes[0]


@given(st.integers(0, 2**32), st.sampled_from([16, 23, 40]), st.sampled_from([1e-3, 0.03, 0.3]))
def test_those_that_are_watched_are_the_rightmost_and_the_others_decay(seed, n, apart):
    random = np.random.default_rng(seed)
    A = random.normal(size=(n, n)) - np.diag(np.linspace(0, 40, n) ** 1.5)
    change = random.normal(size=(n, n))
    values, slopes = rightmost(A, change, apart)
    every, vectors = np.linalg.eig(A + apart * change)
    by_vectors = np.diag(np.linalg.solve(vectors, change @ vectors))
    order = np.argsort(-every.real)
    for value, slope in zip(values, slopes, strict=True):
        k = np.abs(every - value).argmin()
        assert abs(every[k] - value) < 1e-9 * np.abs(every).max()
        assert abs(by_vectors[k] - slope) < 1e-5 * np.abs(by_vectors).max()
    if len(values):
        assert sorted(np.abs(every - each).argmin() for each in values) == sorted(order[: len(values)])
        assert every[order[len(values) :]].real.max() < 0


def test_a_frame_serves_near_its_matrix_and_not_far_from_it():
    random = np.random.default_rng(1)
    A = random.normal(size=(20, 20)) / 5 - np.diag([0.1, 0.2, *range(20, 38)])
    change = random.normal(size=(20, 20))
    assert len(rightmost(A, change, 0.01)[0]) == 2
    assert not len(rightmost(A, change, 30.0)[0])


def test_nothing_is_watched_where_there_is_no_gap_before_the_axis():
    """Growth rates 1, 2, … of more than half of all eigenvalues."""
    assert not len(rightmost(np.diag(np.arange(-4.0, 16.0)), np.eye(20), 0.1)[0])


def test_a_branch_of_many_states_is_the_same_by_all_eigenvalues(monkeypatch):
    """A ring of oscillators of which one is driven past its Hopf point; and rates that cross and do not matter."""
    D = sm.Symbol("D", real=True)
    x, y = (sm.symbols(f"{name}1:13", real=True) for name in "xy")
    rates = {}
    for k in range(12):
        push, around = D if k == 0 else -sm.Integer(k), sm.Rational(1, 10)
        rates[x[k]] = push * x[k] - y[k] - x[k] ** 3 + around * (x[k - 1] - x[k])
        rates[y[k]] = x[k] + push * y[k] - y[k] ** 3 + around * (y[k - 1] - y[k])
    case = pfaff.ode(rates, {D: -3}, load=D).at()
    few = case.branch(to=1)
    monkeypatch.setattr(Regular, "kernel", None)
    every = case.branch(to=1)
    assert [each.kind for each in few.special] == [each.kind for each in every.special] == ["hopf"]
    assert few.special[0].value == pytest.approx(every.special[0].value, rel=1e-10)
    assert few.special[0].coefficient == pytest.approx(every.special[0].coefficient, rel=1e-8)
    np.testing.assert_allclose(few.values, every.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("centre", "width"), [(0.63, 0.1), (0.5, 0.05)])
def test_a_rate_that_grows_for_a_moment_is_seen_though_nobody_watches_it(centre, width):
    """−25 + 30 exp(−((D − c)/w)²) is zero at D = c ± w √ln(6/5)."""
    D, x = sm.Symbol("D", real=True), sm.symbols("x0:16", real=True)
    rates = {x[0]: -x[0] / 10 + D / 10 - x[0] ** 3} | {each: -(11 + k) * each for k, each in enumerate(x[1:-1])}
    rates[x[-1]] = (-25 + 30 * sm.exp(-(((D - centre) / width) ** 2))) * x[-1] - x[-1] ** 3
    branch = pfaff.ode(rates, {D: 0}, load=D).at().branch(to=2)
    apart = width * np.sqrt(np.log(6 / 5))
    assert [each.kind for each in branch.special] == ["branch point"] * 2
    assert [each.value for each in branch.special] == pytest.approx([centre - apart, centre + apart], abs=1e-8)


@pytest.mark.parametrize("pairs", [2, 3])
def test_equal_pairs_stay_pairs(pairs):
    """Of blocks [[−1/2, −2], [2, −1/2]], the same several times, beside rates that decay."""
    n = 2 * pairs + 14
    A = np.diag([-0.5] * 2 * pairs + [-24.0 - k for k in range(14)])
    for k in range(pairs):
        A[2 * k, 2 * k + 1], A[2 * k + 1, 2 * k] = -2.0, 2.0
    random = np.random.default_rng(pairs)
    for _ in range(20):
        change = random.normal(size=(n, n))
        values, _ = rightmost(A, change, 1e-3)
        every = np.linalg.eigvals(A + 1e-3 * change)
        assert len(values) in (0, 2 * pairs)
        assert all(np.abs(every - each).min() < 1e-6 for each in values)


def covered(ends, changes, step, frame_of):
    """How many eigenvalues a frame of a matrix watches at both ends of a step, if all others stay aside in it."""
    return few_of(room_for(len(frame_of)), frame_of, ends, changes, step)[0].shape[1]


@given(st.integers(0, 2**32), st.sampled_from([16, 21, 32]), st.floats(0.1, 3), st.booleans())
def test_what_is_not_watched_stays_left_of_the_axis_along_a_whole_cubic(seed, n, size, meeting):
    """Matrices A(s) that are cubics of s, with pairs about to meet: so many eigenvalues at most are on the right."""
    random = np.random.default_rng(seed)
    A0 = np.diag(np.concatenate([random.uniform(-2, 2, 2), -np.sort(random.uniform(10, 80, n - 2))]))
    if meeting:  # Jordan's blocks, but for a little
        for k in range(2, n - 1, 2):
            A0[k + 1, k + 1], A0[k, k + 1] = A0[k, k] - 1e-6, 5.0
    terms = [A0, *(size * random.normal(size=(3, n, n)) / np.arange(1, 4)[:, None, None])]
    at = [sum(term * s**k for k, term in enumerate(terms)) for s in (0.0, 1.0)]
    rates = [sum(k * term * s ** (k - 1) for k, term in enumerate(terms) if k) for s in (0.0, 1.0)]
    many = covered(np.array(at), np.array(rates), 1.0, at[1])
    for s in np.linspace(0, 1, 41 if many else 0):
        every = np.linalg.eigvals(sum(term * s**k for k, term in enumerate(terms)))
        assert np.sum(every.real >= 0) <= many


def test_a_frame_serves_while_pairs_meet():
    """[[−a, 1], [ε, −a]]: two real eigenvalues as long as ε > 0, then a pair."""
    blocks = [np.array([[-a, 1.0], [0.0, -a]]) for a in (20.0, 21.0, 30.0, 35.0, 41.0, 60.0, 77.0, 90.0)]
    A = np.zeros((18, 18))
    A[0, 0], A[1, 1] = -0.1, -0.3
    for k, block in enumerate(blocks):
        A[2 + 2 * k : 4 + 2 * k, 2 + 2 * k : 4 + 2 * k] = block
    change = np.zeros((18, 18))
    change[range(3, 18, 2), range(2, 18, 2)] = 1.0
    before, after = A + 1e-3 * change, A - 1e-3 * change
    assert np.isreal(np.linalg.eigvals(before)).all()
    assert not np.isreal(np.linalg.eigvals(after)).all()
    assert covered(np.array([before, after]), np.array([-change, -change]), 2e-3, before) == 2
    assert covered(np.array([before, after]), np.array([-change, -change]), 2e-3, after) == 2


@given(st.integers(0, 2**32), st.sampled_from([1, -1]))
def test_blocks_of_one_and_two_rows_are_divided_by(seed, turn):
    """X Λ_I − Λ_R X = F for blocks of all sizes."""
    random = np.random.default_rng(seed)
    blocks = np.array([1, 2, 0, 1, 2, 0, 1, 2, 0])
    own, whole, p = random.normal(size=(9, 2)), np.zeros((9, 9)), 3
    own[p:] -= 10 * np.array([1.0, 0.0]) * (blocks[p:] > 0)[:, None]
    own[[5, 8], 1] -= 10
    for k, size in enumerate(blocks):
        whole[k : k + size, k : k + size] = own[k : k + size, :size]
    whole = whole if turn > 0 else whole.T
    X = random.normal(size=(6, 3))
    F = X @ whole[:p, :p] - whole[p:, p:] @ X
    divided(blocks, own, p, turn, F)
    np.testing.assert_allclose(F, X, atol=1e-9)


def test_equal_eigenvalues_on_both_sides_of_a_gap_are_no_invariant_subspace():
    """0/0 in the first change is none that is small."""
    own, Z = np.array([[-1.0, 0.0], [-1.0, 0.0], [-5.0, 0.0]]), np.array([[1.0], [0.0], [0.0]])
    assert not turned_to(np.ones(3, dtype=np.int64), own, np.zeros((3, 3)), 1, Z)
